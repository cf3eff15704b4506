"""Mutants of a module: its syntax tree with one small change.

The operators are the usual ones of mutation testing (DeMillo, Lipton and Sayward, 1978; Offutt et
al., 1996): comparisons, arithmetic and logic are replaced by their neighbours, numbers are off by
one, conditions are negated, statements are dropped, operands exchanged.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

# Functions whose first two arguments may change places.
_SYMMETRIC = {"and_", "or_", "xor", "logical_and", "logical_or", "minimum", "maximum", "min", "max"}
# Arguments that change no result: what `zip` checks, what is shown.
_SHOWN = {"strict", "repr", "hint"}


@dataclass(frozen=True)
class Mutant:
    """One change of a module.

    Attributes
    ----------
    path : str
        The file, relative to the repository.
    position : int
        The node, in the order of `ast.walk`.
    variant : int
        Which of the changes of this node.
    line : int
    function : str
        The outermost function or method around it, as ``Class.method``; or ``<lambda>``.
    start, end : int
        The lines in which that begins and ends.
    what : str
        The change, in words.
    """

    path: str
    position: int
    variant: int
    line: int
    function: str
    start: int
    end: int
    what: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.position}:{self.variant}"


def changes(node: ast.AST) -> list[str]:
    """Return the changes that a node allows, in words."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            return [_swap(op)]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _OTHER:
            return [_swap(op)] + ["statement dropped"] * isinstance(node, ast.AugAssign)
        case ast.BoolOp(op=op):
            return [_swap(op), "last operand dropped"]
        case ast.UnaryOp(op=ast.Not()):
            return ["not dropped"]
        case ast.Constant(value=bool(value)):
            return [f"{value} -> {not value}"]
        case ast.Constant(value=int(value)):
            return [f"{value} -> {value + 1}"]
        case ast.If() | ast.IfExp() | ast.While():
            return ["condition negated"]
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            return ["statement dropped"]
        case ast.Call(func=ast.Name(id="isinstance" | "getattr" | "hasattr" | "range")):
            return []  # they would fail at once
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _SYMMETRIC:
            return []
        case ast.Call(args=[first, second, *_]) if not (_starred(first) or _starred(second)):
            alike = ast.dump(first) == ast.dump(second)
            return [] if alike else ["first two arguments exchanged"]
    return []


def _starred(node: ast.AST) -> bool:
    return isinstance(node, ast.Starred)


def _swap(op: ast.AST) -> str:
    return f"{type(op).__name__} -> {_OTHER[type(op)].__name__}"


def applied(tree: ast.Module, position: int, variant: int) -> ast.Module:
    """Return a copy of a module with one change."""
    made = copy.deepcopy(tree)
    node = list(ast.walk(made))[position]
    what = changes(node)[variant]
    match node:
        case _ if what == "statement dropped":
            _replace(made, node, ast.Pass())
        case ast.Compare(ops=[op]):
            node.ops = [_OTHER[type(op)]()]  # type: ignore[list-item]  # a comparison by the table
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            node.op = _OTHER[type(op)]()  # type: ignore[assignment]  # as above
        case ast.BoolOp(values=[first, _]) if what == "last operand dropped":
            _replace(made, node, first)
        case ast.BoolOp(values=values) if what == "last operand dropped":
            values.pop()
        case ast.BoolOp(op=op):
            node.op = _OTHER[type(op)]()  # type: ignore[assignment]  # as above
        case ast.UnaryOp(operand=operand):
            _replace(made, node, operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            node.test = ast.UnaryOp(ast.Not(), test)
        case ast.Call(args=args):
            args[0], args[1] = args[1], args[0]
    return ast.fix_missing_locations(made)


def _replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    ast.copy_location(new, old)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(each is old for each in value):
                setattr(parent, name, [new if each is old else each for each in value])


def mutants(root: Path, path: Path) -> Iterator[Mutant]:
    """Yield all mutants of the functions in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owner = _owners(tree)
    words = {
        id(each)
        for node in ast.walk(tree)
        for part in _without_effect(node)
        for each in ast.walk(part)
    }
    for position, node in enumerate(ast.walk(tree)):
        if id(node) in owner and id(node) not in words:
            function, start, end = owner[id(node)]
            for variant, what in enumerate(changes(node)):
                yield Mutant(
                    path.relative_to(root).as_posix(), position, variant,
                    getattr(node, "lineno", start), function, start, end, what,
                )  # fmt: skip


def _without_effect(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that change no result: words, and annotations."""
    match node:
        case ast.Raise():
            return [node]
        case ast.keyword(arg=name) if name in _SHOWN:
            return [node]
        case ast.FunctionDef(returns=ast.expr() as annotation):
            return [annotation]
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            return [annotation]
    return []


def _owners(tree: ast.Module) -> dict[int, tuple[str, int, int]]:
    """Return the function that each node is in, and where that begins and ends."""
    owner: dict[int, tuple[str, int, int]] = {}

    def own(node: ast.AST, within: str, found: tuple[str, int, int] | None) -> None:
        for child in ast.iter_child_nodes(node):
            inner, mine = within, found
            if found is not None:
                owner[id(child)] = found
            elif isinstance(child, ast.ClassDef):
                inner = f"{within}{child.name}."
            elif isinstance(child, ast.FunctionDef):
                # What stands in the signature is evaluated when the module is.
                start = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                for each in child.body:
                    owner[id(each)] = within + child.name, start, child.end_lineno or start
                    own(each, within, owner[id(each)])
                continue
            elif isinstance(child, ast.Lambda):
                mine = "<lambda>", child.lineno, child.end_lineno or child.lineno
            own(child, inner, mine)

    own(tree, "", None)
    return owner


__all__ = ["Mutant", "applied", "changes", "mutants"]
