"""Rewrites a program into another that computes the same: no oracle is needed to compare them.

Each relation is a function from the syntax tree of a module to that of another one, or None where
it does not apply.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.fuzz.program import Generated, load

# Loops of at most so many iterations are unrolled.
_UNROLLED = 4


@dataclass(frozen=True)
class Rewritten:
    """A program that computes the same, and where the arguments of the original are in it."""

    generated: Generated
    order: tuple[int, ...]

    def original_order(self, gradient: Sequence[Any]) -> tuple[Any, ...]:
        """Return a gradient of the rewritten program in the order of the original arguments."""
        return tuple(gradient[k] for k in self.order)


Rewriter = Callable[[ast.Module, Generated, random.Random], "ast.Module | None"]


def rewritten(generated: Generated, names: Sequence[str], rng: random.Random) -> Rewritten | None:
    """Return the program as the relations of these names rewrite it; None if none applies.

    Those that call the program come last.
    """
    tree: ast.Module | None = None
    inner = [name for name in names if name not in CALLING]
    for name in (*inner, *[name for name in names if name in CALLING][:1]):
        found = RELATIONS[name](tree or ast.parse(generated.source), generated, rng)
        tree = tree if found is None else found
    if tree is None:
        return None
    source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    made = replace(generated, source=source, fn=load(source, generated.seed))
    order = tuple(range(len(generated.argnums)))
    if "permuted" in [name for name in names if name in CALLING][:1]:
        count = len(generated.args)
        last = [count - 1 - n for n in generated.argnums]
        made = replace(made, args=generated.args[::-1], argnums=tuple(sorted(last)))
        order = tuple(sorted(last).index(k) for k in last)
    return Rewritten(made, order)


# -- calls -----------------------------------------------------------------------------------------


def _program(tree: ast.Module) -> ast.FunctionDef:
    found = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "program"]
    return found[-1]


def _calling(body: str, parameters: Callable[[list[str]], list[str]] = list) -> Rewriter:
    """Return a rewriter that calls the program, as `once`; ``{}`` is its arguments."""

    def rewrite(tree: ast.Module, generated: Generated, rng: random.Random) -> ast.Module:
        program = _program(tree)
        names = [each.arg for each in program.args.args]
        program.name = "once"
        copies = [
            f"{name}.copy()" if isinstance(arg, np.ndarray) else name
            for name, arg in zip(names, generated.args, strict=True)
        ]
        first = [names[n] for n in generated.argnums]
        text = body.format(", ".join(names), copies=", ".join(copies), first=first[0],
                           number=generated.argnums[0])  # fmt: skip
        lines = [f"def program({', '.join(parameters(names))}):"]
        lines += ["    " + line for line in text.split("\n")]
        imports = ast.parse("import adc\nimport functools").body
        return ast.Module([*imports, *tree.body, *ast.parse("\n".join(lines)).body], [])

    return rewrite


# -- arguments -------------------------------------------------------------------------------------


def _arguments(forms: Sequence[str], least: int = 0) -> Rewriter:
    """Return a rewriter that begins with other names for the arrays among the arguments."""

    def rewrite(tree: ast.Module, generated: Generated, rng: random.Random) -> ast.Module | None:
        program = _program(tree)
        lines = []
        for parameter, arg in zip(program.args.args, generated.args, strict=True):
            if isinstance(arg, np.ndarray) and arg.ndim and len(arg) > least:
                name, form = parameter.arg, rng.choice(forms)
                lines.append(f"{name} = " + form.format(name, at=rng.randint(0, len(arg))))
        if not lines:
            return None
        program.body[:0] = ast.parse("\n".join(lines)).body
        return tree

    return rewrite


# -- statements ------------------------------------------------------------------------------------


class _Blocks(ast.NodeTransformer):
    """Rewrites statements of `program`, and of the blocks in it."""

    def __init__(self, rng: random.Random, share: float) -> None:
        self.rng = rng
        self.share = share
        self.count = 0
        self.names = 0

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        """Return what takes the place of a statement, or None."""
        raise NotImplementedError

    def fresh(self) -> str:
        self.names += 1
        return f"r_{self.names}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node  # inner functions stay

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            node = self.generic_visit(node) if not isinstance(node, ast.FunctionDef) else node
            made = self.one(node) if self.rng.random() < self.share else None  # type: ignore[arg-type]
            if made is not None:
                self.count += 1
                return made
            return node
        return self.generic_visit(node)


def _statements(kind: type[_Blocks], share: float = 0.5) -> Rewriter:
    def rewrite(tree: ast.Module, generated: Generated, rng: random.Random) -> ast.Module | None:
        program = _program(tree)
        blocks = kind(rng, share)
        body: list[ast.stmt] = []
        for stmt in program.body:
            made = blocks.visit(stmt)
            body += made if isinstance(made, list) else [made]
        program.body = body
        return tree if blocks.count else None

    return rewrite


def _leaves(stmt: ast.AST) -> bool:
    """Whether a statement jumps out of itself, or has what must stay where it is."""
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Nonlocal, ast.Yield, ast.Raise)
    return any(isinstance(each, kinds) for each in ast.walk(stmt))


class _StoredAndRead(_Blocks):
    """``x = e`` becomes ``x = [e][0]``, or through a dict or a tuple."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(stmt, ast.Assign) or not isinstance(stmt.targets[0], ast.Name):
            return None
        if isinstance(stmt.value, ast.List | ast.Dict | ast.Tuple | ast.Lambda):
            return None
        form = self.rng.choice(["[{}][0]", "({},)[0]", '{{"k": {}}}["k"]', "(1, {})[-1]"])
        text = form.format(ast.unparse(stmt.value))
        return [ast.Assign(stmt.targets, ast.parse(text, mode="eval").body, lineno=0)]


class _Tried(_Blocks):
    """A statement stands in a ``try`` whose handler raises it again, or in a ``finally``."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        if isinstance(stmt, ast.FunctionDef | ast.Nonlocal | ast.Import):
            return None
        text = self.rng.choice(
            ["try:\n    pass\nexcept ZeroDivisionError:\n    raise",
             "try:\n    pass\nfinally:\n    pass"]
        )  # fmt: skip
        made = ast.parse(text).body[0]
        assert isinstance(made, ast.Try)
        made.body = [stmt]
        return [made]


class _Turned(_Blocks):
    """``if c: A else: B`` becomes ``if not c: B else: A``."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(stmt, ast.If):
            return None
        test = ast.UnaryOp(ast.Not(), stmt.test)
        return [ast.If(test, stmt.orelse or [ast.Pass()], stmt.body)]


class _Unrolled(_Blocks):
    """A loop of few iterations, without jumps, is written out."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        match stmt:
            case ast.For(
                target=ast.Name() as target,
                iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]),
                body=body,
                orelse=[],
            ) if count <= _UNROLLED and not _leaves(stmt):
                made: list[ast.stmt] = []
                for k in range(count):
                    made.append(ast.Assign([copy.deepcopy(target)], ast.Constant(k), lineno=0))
                    made += copy.deepcopy(body)
                return made or [ast.Pass()]
        return None


class _While(_Blocks):
    """``for i in range(n)`` becomes a ``while`` loop with a counter."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        match stmt:
            case ast.For(
                target=ast.Name() as target,
                iter=ast.Call(func=ast.Name(id="range"), args=[bound]),
                body=body,
                orelse=orelse,
            ):
                at, end = self.fresh(), self.fresh()
                text = (
                    f"{at} = 0\n{end} = {ast.unparse(bound)}\n"
                    f"while {at} < {end}:\n    {target.id} = {at}\n    {at} += 1"
                )
                made = ast.parse(text).body
                loop = made[-1]
                assert isinstance(loop, ast.While)
                loop.body += body
                loop.orelse = orelse
                return made
        return None


class _Once(_Blocks):
    """A statement becomes a loop of one iteration."""

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        if not isinstance(stmt, ast.AugAssign | ast.Expr) or _leaves(stmt):
            return None
        made = ast.parse(f"for {self.fresh()} in range(1):\n    pass").body[0]
        assert isinstance(made, ast.For)
        made.body = [stmt]
        return [made]


class _Chosen(_Blocks):
    """A statement stands in both arms of a branch on what is known at run time."""

    test = "1.0 > 0.0"

    def one(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        if isinstance(stmt, ast.FunctionDef | ast.Nonlocal | ast.Import):
            return None
        if any(isinstance(each, ast.Lambda | ast.FunctionDef) for each in ast.walk(stmt)):
            return None
        made = ast.parse(f"if {self.test}:\n    pass\nelse:\n    pass").body[0]
        assert isinstance(made, ast.If)
        made.body, made.orelse = [stmt], [copy.deepcopy(stmt)]
        return [made]


def _chosen(tree: ast.Module, generated: Generated, rng: random.Random) -> ast.Module | None:
    names = [
        parameter.arg
        for parameter, arg in zip(_program(tree).args.args, generated.args, strict=True)
        if isinstance(arg, float)
    ]
    kept = "r_kept"
    if not names:
        return None
    kind = type("_Chosen", (_Chosen,), {"test": f"{kept} {rng.choice('<>')} 0.0"})
    made = _statements(kind, 0.2)(tree, generated, rng)
    if made is not None:
        _program(made).body[:0] = ast.parse(f"{kept} = {names[0]}").body
    return made


def _names(node: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and type(each.ctx) is kind
    }


def _is_plain(stmt: ast.stmt) -> bool:
    """Whether a statement assigns to one name what no call changes."""
    if not isinstance(stmt, ast.Assign) or not isinstance(stmt.targets[0], ast.Name):
        return False
    for node in ast.walk(stmt.value):
        if isinstance(node, ast.NamedExpr | ast.Lambda | ast.Yield):
            return False
        if isinstance(node, ast.Call):
            of = node.func
            if not (isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name)):
                return False
            if of.value.id not in ("np", "math"):
                return False
    return True


def _reordered(tree: ast.Module, generated: Generated, rng: random.Random) -> ast.Module | None:
    count = 0
    for node in ast.walk(_program(tree)):
        for part in ("body", "orelse"):
            block = getattr(node, part, [])
            if not isinstance(block, list):
                continue
            for k in range(len(block) - 1):
                a, b = block[k], block[k + 1]
                if not (_is_plain(a) and _is_plain(b)):
                    continue
                stored = _names(a, ast.Store), _names(b, ast.Store)
                read = _names(a, ast.Load), _names(b, ast.Load)
                if stored[0] & (stored[1] | read[1]) or stored[1] & read[0]:
                    continue
                block[k], block[k + 1] = b, a
                count += 1
    return tree if count else None


RELATIONS: dict[str, Rewriter] = {
    "twice": _calling("return 0.5 * once({copies}) + 0.5 * once({copies})"),
    "called": _calling("return once({})"),
    "permuted": _calling("return once({})", lambda names: names[::-1]),
    "captured": _calling("def inner():\n    return once({copies})\nreturn inner()"),
    "lambda": _calling("f = lambda r: r * once({copies})\nreturn f(1.0)"),
    "looped": _calling("t = 0.0\nfor r in range(2):\n    t += 0.5 * once({copies})\nreturn t"),
    "summed": _calling("return sum([0.25 * once({copies}) for r in range(4)])"),
    "checkpointed": _calling("return adc.checkpoint(once)({copies})"),
    "saved": _calling("return adc.save(once({copies}))"),
    "recomputed": _calling("return adc.recompute(once({copies}))"),
    "with its gradient": _calling("return adc.value_and_grad(once, {number})({copies})[0]"),
    "linear": _calling("return once({copies}) * 3.0 - 2.0 * once({copies})"),
    "views": _arguments(
        (
            "{0}[:]",
            "{0}[...]",
            "{0}[::-1][::-1]",
            "{0}.T.T",
            "{0}.reshape({0}.shape)",
            "{0}[None][0]",
            "np.asarray({0})",
        )
    ),
    "copies": _arguments(
        (
            "{0}.copy()",
            "{0} + 0.0",
            "np.stack([{0}, {0}])[1]",
            "1.0 * {0}",
            "np.where({0} > 0, {0}, {0})",
            "np.flip(np.flip({0}))",
            "np.array([e for e in {0}])",
        )
    ),
    "joined": _arguments(
        (
            "np.concatenate([{0}[:{at}], {0}[{at}:]])",
            "np.concatenate(np.split({0}, [{at}]))",
            "np.roll(np.roll({0}, {at}), -{at})",
        )
    ),
    "stored": _statements(_StoredAndRead),
    "tried": _statements(_Tried, 0.3),
    "turned": _statements(_Turned, 1.0),
    "unrolled": _statements(_Unrolled, 1.0),
    "while": _statements(_While, 0.8),
    "once": _statements(_Once, 0.4),
    "chosen": _chosen,
    "reordered": _reordered,
}
# Those that call the program.
CALLING = tuple(RELATIONS)[: list(RELATIONS).index("views")]


__all__ = ["CALLING", "RELATIONS", "Rewritten", "rewritten"]
