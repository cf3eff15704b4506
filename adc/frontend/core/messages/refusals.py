"""The table of unsupported syntax: names, hints and error codes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from adc.frontend.core.bindings import Binding, Enumerate, Reversed, Zip
from adc.frontend.core.lower import Lowerer
from adc.ir.errors import (
    AsyncError,
    ExceptionHandlingError,
    GeneratorError,
    UnsupportedError,
)


@dataclass(frozen=True)
class Refusal:
    """The name of a construct, the hint, and the error."""

    what: str
    hint: str
    error: type[UnsupportedError] = UnsupportedError


_CATCH = Refusal("`except*`", "use `except`", ExceptionHandlingError)
_YIELD = "return the values instead"
REFUSED: dict[type[ast.AST], Refusal] = {
    ast.AsyncFor: Refusal("`async for`", "use a plain loop", AsyncError),
    ast.AsyncWith: Refusal("`async with`", "do this outside the function", AsyncError),
    ast.AsyncFunctionDef: Refusal("`async def`", "use a plain function", AsyncError),
    ast.Await: Refusal("`await`", "use a plain function", AsyncError),
    ast.Yield: Refusal("the value of `yield` (`send`)", _YIELD, GeneratorError),
    ast.YieldFrom: Refusal("the value of `yield from`", _YIELD, GeneratorError),
    ast.Starred: Refusal("starred unpacking here", "name every element"),
    ast.Slice: Refusal("a slice here", "index an array with it"),
}
if hasattr(ast, "TryStar"):
    REFUSED[ast.TryStar] = _CATCH


def refusal(lo: Lowerer, node: ast.AST) -> UnsupportedError:
    """Return the error for a construct that is in the table, or in neither table."""
    found = REFUSED.get(type(node))
    if found is None:
        found = Refusal(f"`{type(node).__name__}`", "")
    return found.error(f"{found.what} is not supported", lo.span(node), found.hint)


def require_lasting(lo: Lowerer, node: ast.AST, value: Binding | None = None) -> None:
    """Refuse to store iterators that can be consumed only once: a second use would be empty.

    A generator would also see what has changed since.
    """
    one_shot = isinstance(value, Zip | Enumerate | Reversed)
    if isinstance(node, ast.IfExp):
        require_lasting(lo, node.body)
        require_lasting(lo, node.orelse)
    if one_shot or isinstance(node, ast.GeneratorExp):
        kind = type(value).__name__.lower() if one_shot else "generator"
        what = "a generator" if kind == "generator" else f"the iterator of `{kind}`"
        raise lo.unsupported(
            f"storing {what}",
            node,
            "iterate over it where it is created, or store a list: `list(…)`",
        )
