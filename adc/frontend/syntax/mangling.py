"""Private names: within a class, ``__x`` means ``_Class__x``, as in Python."""

from __future__ import annotations

import ast
import functools

# Where a node has an identifier that is a variable, a parameter or an attribute. (The keywords of
# calls, and what a function is called itself, are not mangled.)
_FIELDS: dict[type[ast.AST], str] = {
    ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.FunctionDef: "name",
    ast.MatchAs: "name", ast.MatchStar: "name", ast.MatchMapping: "rest",
}  # fmt: skip


def private_name(name: str, cls: str) -> str:
    """Return the mangled form of an identifier within a class.

    Examples
    --------
    >>> private_name("__x", "_Cell"), private_name("__x__", "Cell"), private_name("_x", "Cell")
    ('_Cell__x', '__x__', '_x')
    """
    owner = cls.lstrip("_")
    if not owner or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{owner}{name}"


@functools.lru_cache(maxsize=64)
def _classes(tree: ast.Module) -> tuple[ast.ClassDef, ...]:
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def class_around(tree: ast.Module, node: ast.AST) -> str:
    """Return the name of the innermost class that a function is written in; "" if there is none."""
    here = _start(node)
    around = [
        cls
        for cls in _classes(tree)
        if _start(cls.body[0]) <= here and here[0] <= (cls.end_lineno or 0)
    ]
    return max(around, key=_start).name if around else ""


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]  # of a statement or lambda


def mangle(node: ast.AST, cls: str) -> None:
    """Mangle the private names in a function of a class; this is idempotent."""
    for inner in ast.walk(node):
        field = _FIELDS.get(type(inner))
        name = getattr(inner, field) if field is not None and inner is not node else None
        if name is not None:
            assert field is not None
            setattr(inner, field, private_name(name, cls))


__all__ = ["class_around", "mangle", "private_name"]
