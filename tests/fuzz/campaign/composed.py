"""Programs made of the programs of other kinds: what one computes is used by another.

`composed` calls two programs, one after the other, in loops, in `try`, through views and
containers; `nested` uses the derivatives of a program inside another.
"""

from __future__ import annotations

import ast
import inspect
import math
import random
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.fuzz.program import Generated, forget, in_python, load

Make = Callable[[int, int], Generated]
_ATTEMPTS = 40


class _Renamed(ast.NodeTransformer):
    """Renames what a module defines, so that another module can stand beside it."""

    def __init__(self, names: set[str], suffix: str) -> None:
        self.names = names
        self.suffix = suffix

    def _new(self, name: str) -> str:
        return name + self.suffix if name in self.names else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new(node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._new(node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._new(node.name)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new(node.arg)
        return self.generic_visit(node)


def _module(generated: Generated, suffix: str) -> list[ast.stmt]:
    """Return the statements of a program's module, with names of its own."""
    tree = ast.parse(generated.source)
    names = {s.name for s in tree.body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
    methods = {
        s.name for cls in tree.body if isinstance(cls, ast.ClassDef) for s in cls.body
        if isinstance(s, ast.FunctionDef)
    }  # fmt: skip
    return _Renamed(names - methods, suffix).visit(tree).body  # type: ignore[no-any-return]


def _passed(names: Sequence[str], generated: Generated, moved: str = "") -> list[str]:
    """Return what a program is called with: arrays are copied, and may be moved by a number."""
    found = []
    for number, (name, arg) in enumerate(zip(names, generated.args, strict=True)):
        if number in generated.argnums and moved and getattr(arg, "dtype", None) != "float32":
            found.append(f"{name} + 0.01 * math.tanh({moved})")
        else:
            found.append(f"{name}.copy()" if isinstance(arg, np.ndarray) else name)
    return found


_FORMS = (
    "t = a\nt += b(t)",
    "t = 0.0\nfor i in range(2):\n    t = 0.5 * t + a\n    t += 0.3 * b(t)",
    "t = a\ntry:\n    t += b(t)\n    if t > 1e3:\n        raise ValueError('large')\n"
    "except (ValueError, IndexError, KeyError, ZeroDivisionError):\n    t = 0.5 * t",
    "d = {'a': a, 'b': [0.0, 1.0]}\nd['b'][1] = b(d['a'])\nt = d['a'] + d['b'][-1]",
    "h = np.zeros(4)\nh[0] = a\nv = h[::-1]\nv[0] = b(h[0])\nh[1:3] = v[:2]\nt = np.sum(h * h)",
    "t = a\nif t > 0.3:\n    t = t * b(t)\nelse:\n    t = b(0.5 * t) - t",
    "f = lambda r: b(r) * 0.5\nt = a\nt = f(t) + f(0.3 * t)",
    "t = 0.0\nk = 0\nwhile k < 2 and abs(t) < 1e3:\n    k += 1\n    t += a * 0.4\n"
    "    if t > 2.0:\n        break\n    t -= b(t)",
    "h = [a]\nfor i in range(2):\n    h.append(math.tanh(h[-1]) + 0.2 * b(h[-1]))\nt = sum(h)",
    "m = np.outer(np.array([a, 1.0]), np.ones(2))\nfor r in m:\n    r[1] += 0.1 * b(r[0])\n"
    "t = np.sum(m * m.T)",
)
_NESTED = (
    "v, g = adc.value_and_grad(once, N)(A)\nt = v + np.sum(np.sin(G))",
    "g = adc.grad(once, N)(A)\nt = np.sum(np.tanh(G)) * 0.5",
    "t = 0.0\nfor i in range(2):\n    g = adc.grad(once, N)(A)\n    t = 0.5 * t + np.sum(G * 0.1)",
    "f = lambda X: once(A) * 0.5\ng = adc.grad(f, 0)(P)\nt = np.sum(np.sin(G))",
    "v, s = adc.jvp(lambda X: once(A), (P,), (D,))\nt = v + 0.3 * s",
    "s = adc.jvp(lambda X: once(A), (P,), (D,))[1]\nt = math.tanh(s)",
    "v, pull = adc.vjp(lambda X: once(A), P)\nt = v + np.sum(pull(0.7)[0] * 0.1)",
    "g = adc.hvp(lambda X: once(A), (P,), (D,))\nt = np.sum(np.tanh(G))",
)


def _runs(generated: Generated) -> bool:
    fn = in_python(generated)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = float(fn(*generated.make_args()))
        except Exception:
            return False
    return math.isfinite(value) and abs(value) < 1e4


def composed(makers: Sequence[Make], seed: int, size: int) -> Generated:
    """Return a program that calls two others: the first of the seed's sequence that runs."""
    for attempt in range(_ATTEMPTS):
        made = _composed(makers, random.Random(f"composed/{seed}/{attempt}"), seed, size)
        if _runs(made):
            return made
        forget(made)
    return makers[0](seed, size)


def _composed(makers: Sequence[Make], rng: random.Random, seed: int, size: int) -> Generated:
    parts = [rng.choice(makers)(rng.randrange(10**9), max(size // 2, 1)) for _ in range(2)]
    body: list[ast.stmt] = []
    args: list[Any] = []
    argnums: list[int] = []
    parameters: list[list[str]] = []
    for k, part in enumerate(parts):
        body += _module(part, f"_{k + 1}")
        argnums += [len(args) + n for n in part.argnums]
        args += part.args
        parameters.append([f"x{k + 1}_{j}" for j in range(len(part.args))])
        forget(part)
    first = f"program_1({', '.join(_passed(parameters[0], parts[0]))})"
    lines = [f"def b(r):\n    return program_2({', '.join(_passed(parameters[1], parts[1], 'r'))})"]
    lines += [f"def a():\n    return {first}"] if rng.random() < 0.5 else [f"a = {first}"]
    form = rng.choice(_FORMS)
    if lines[-1].startswith("def"):
        form = _called(form)
    lines += [form, "return t"]
    return _finished(body, [*parameters[0], *parameters[1]], lines, args, argnums, seed, "composed")


def _called(form: str) -> str:
    """Return a form in which ``a`` is a function."""
    tree = ast.parse(form)

    class Calls(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.Call(node, [], []) if node.id == "a" else node

    return ast.unparse(ast.fix_missing_locations(Calls().visit(tree)))


def nested(makers: Sequence[Make], seed: int, size: int) -> Generated:
    """Return a program that uses derivatives of another: the first of the sequence that runs."""
    for attempt in range(_ATTEMPTS):
        made = _nested(makers, random.Random(f"nested/{seed}/{attempt}"), seed, size)
        if made is None:
            continue
        if _runs(made):
            return made
        forget(made)
    return makers[0](seed, size)


def _nested(makers: Sequence[Make], rng: random.Random, seed: int, size: int) -> Generated | None:
    part = rng.choice(makers)(rng.randrange(10**9), max(size // 2, 1))
    names = list(inspect.signature(part.fn).parameters)
    forget(part)
    number = rng.choice(part.argnums)
    arg = part.args[number]
    if getattr(arg, "dtype", None) == "float32":
        return None
    tree = ast.parse(part.source)
    tree.body[-1].name = "once"  # type: ignore[attr-defined]
    passed = _passed(names, part)
    texts = {
        "N": str(number), "A": ", ".join(passed), "P": names[number], "X": names[number],
        "D": f"np.cos({names[number]})", "G": "g",
    }  # fmt: skip
    form = rng.choice(_NESTED)
    for letter, text in texts.items():
        form = _letter(form, letter, text)
    lines = [form, "return t"]
    return _finished(tree.body, names, lines, part.args, part.argnums, seed, "nested")


def _letter(form: str, letter: str, text: str) -> str:
    return re.sub(rf"\b{letter}\b", text, form)


def _finished(
    body: list[ast.stmt], names: Sequence[str], lines: Sequence[str], args: Sequence[Any],
    argnums: Sequence[int], seed: int, kind: str,
) -> Generated:  # fmt: skip
    text = "\n".join(lines).replace("\n", "\n    ")
    program = ast.parse(f"def program({', '.join(names)}):\n    {text}").body
    imports = ast.parse("import math\nimport numpy as np\nimport adc").body
    source = ast.unparse(ast.Module([*imports, *body, *program], [])) + "\n"
    return Generated(source, load(source, seed), tuple(args), tuple(argnums), seed, kind)


__all__ = ["composed", "nested"]
