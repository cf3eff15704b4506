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
    GlobalStateError,
    UnsupportedError,
    WithError,
)


@dataclass(frozen=True)
class Refusal:
    """The name of a construct, the hint, and the error."""

    what: str
    hint: str
    error: type[UnsupportedError] = UnsupportedError


_CATCH = Refusal(
    "`try`", "test the condition instead of catching the exception", ExceptionHandlingError
)
_YIELD = "return the values instead"
REFUSED: dict[type[ast.AST], Refusal] = {
    ast.Try: _CATCH,
    ast.With: Refusal("`with`", "enter the context outside the differentiated function", WithError),
    ast.AsyncFor: Refusal("`async for`", "use a plain loop", AsyncError),
    ast.AsyncWith: Refusal("`async with`", "do this outside the function", AsyncError),
    ast.AsyncFunctionDef: Refusal("`async def`", "use a plain function", AsyncError),
    ast.Await: Refusal("`await`", "use a plain function", AsyncError),
    ast.Yield: Refusal("`yield`", _YIELD, GeneratorError),
    ast.YieldFrom: Refusal("`yield from`", _YIELD, GeneratorError),
    ast.Global: Refusal("`global`", "return the value instead", GlobalStateError),
    ast.Nonlocal: Refusal("`nonlocal`", "return the value instead", GlobalStateError),
    ast.ClassDef: Refusal("`class` inside a function", "define it at module level"),
    ast.Import: Refusal("`import` inside a function", "import at module level"),
    ast.ImportFrom: Refusal("`import` inside a function", "import at module level"),
    ast.Set: Refusal("a set", "use a tuple"),
    ast.SetComp: Refusal("a set comprehension", "use a list"),
    ast.Starred: Refusal("starred unpacking here", "name every element"),
    ast.Slice: Refusal("a slice here", "index an array with it"),
}
if hasattr(ast, "TryStar"):
    REFUSED[ast.TryStar] = _CATCH
GENERATOR = Refusal("a generator", _YIELD, GeneratorError)


def refusal(lo: Lowerer, node: ast.AST, found: Refusal | None = None) -> UnsupportedError:
    """Return the error for a construct that is in the table, or in neither table."""
    found = found or REFUSED.get(type(node))
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
