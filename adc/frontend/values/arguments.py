"""The arguments of library functions: matched to names, read as constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.core import numbers, outside
from adc.frontend.core.bindings import NONE, Binding, ListRef, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import elementwise
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import INT

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]
Given = dict[str, Binding]


def entering(table: dict[str, Handler]) -> Callable[..., Callable[[Any], Any]]:
    """Return a decorator that enters handlers of matched arguments in a table."""

    def numpy_function(spec: str, *names: str) -> Callable[[Any], Any]:
        """Enter a handler of matched arguments under the names of NumPy's functions."""

        def enter(handler: Callable[[Lowerer, Given, ast.Call], Binding]) -> Any:
            def run(
                lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
            ) -> Binding:
                return handler(lo, match(lo, spec, args, kwargs, node), node)

            for name in names or (handler.__name__.strip("_"),):
                table[name] = run
            return handler

        return enter

    return numpy_function


def match(
    lo: Lowerer,
    spec: str,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> dict[str, Binding]:
    """Match arguments to the names in `spec`; names after ``*`` by keyword only.

    A name with ``?`` may be missing: it is then not in the result.
    """
    words = spec.split()
    by_position = words[: words.index("*")] if "*" in words else words
    names = [word.rstrip("?") for word in words if word != "*"]
    what = ast.unparse(node.func)
    if len(args) > len(by_position):
        raise TypeMismatchError(
            f"{what}() takes {len(by_position)} arguments but {len(args)} were given", lo.span(node)
        )
    found = {word.rstrip("?"): arg for word, arg in zip(by_position, args, strict=False)}
    for name, value in kwargs.items():
        if name not in names or name in found:
            raise lo.unsupported(f"the argument {name!r} of `{what}`", node)
        found[name] = value
    for word in words:
        if word != "*" and not word.endswith("?") and word not in found:
            raise TypeMismatchError(f"{what}() is missing the argument {word!r}", lo.span(node))
    return found


def by_name(
    lo: Lowerer,
    what: str,
    names: Sequence[str],
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.AST,
) -> dict[str, Binding]:
    """Return the arguments of `what` by name; the keywords may have others than `names`."""
    if len(args) > len(names):
        raise TypeMismatchError(
            f"{what}() takes {len(names)} arguments but {len(args)} were given", lo.span(node)
        )
    found = dict(zip(names, args, strict=False))
    for name in found.keys() & kwargs.keys():
        raise TypeMismatchError(
            f"{what}() got multiple values for argument {name!r}", lo.span(node)
        )
    return found | kwargs


def refuse(
    lo: Lowerer, given: Given, names: Sequence[str], what: str, node: ast.Call,
    hint: str = "leave it out",
) -> None:  # fmt: skip
    """Refuse arguments, and take those out that are None, False or zero, as defaults are."""
    for name in names:
        value = given.pop(name, NONE)
        if not is_none(value) and value not in (lo.num(False), lo.num(0)):
            raise lo.unsupported(f"the argument {name!r} of {what}", node, hint)


def arity(
    lo: Lowerer,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
    low: int,
    high: int | None = None,
) -> None:
    """Refuse calls with keywords, or with fewer than `low` or more than `high` arguments."""
    if kwargs or not low <= len(args) <= (low if high is None else high):
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)


def is_none(binding: Binding | None) -> bool:
    return binding is None or (isinstance(binding, Static) and binding.value is None)


def integer(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return an integer argument as a Python integer."""
    operand = elementwise.number(lo, binding, node)
    if operand.type.kind == "f":
        raise TypeMismatchError("an integer is needed here", lo.span(node))
    return lo.convert(numbers.to_int(lo, operand), INT)


def constant_int(lo: Lowerer, binding: Binding, node: ast.AST, what: str) -> int:
    """Return an integer that must be part of the program."""
    binding = outside.number_in(lo, binding)
    if isinstance(binding, Num) and isinstance(binding.operand, Literal):
        if binding.operand.type.kind in "iub":
            return int(binding.operand.value)
    raise lo.constant_needed(binding, what, node)


def flag(lo: Lowerer, binding: Binding | None, node: ast.AST, what: str) -> bool:
    """Return a boolean that must be part of the program; False if left out."""
    if is_none(binding):
        return False
    if isinstance(binding, Num) and isinstance(binding.operand, Literal):
        return bool(binding.operand.value)
    raise lo.constant_needed(binding, what, node)


def sequence(lo: Lowerer, binding: Binding) -> tuple[Binding, ...] | None:
    """Return the elements of a tuple or list, or None for anything else."""
    if isinstance(binding, TupleOf):
        return binding.items
    if isinstance(binding, ListRef):
        held = lo.held(binding)
        return held.items if isinstance(held, TupleOf) else None
    return None


def axes(
    lo: Lowerer, binding: Binding | None, rank: int, node: ast.AST, what: str = "an axis"
) -> list[int]:
    """Return axes given as a number or tuple, counted from 0; all of them for None."""
    if is_none(binding):
        return list(range(rank))
    assert binding is not None
    items = sequence(lo, binding)
    found = [
        axis(lo, item, rank, node, what) for item in (items if items is not None else [binding])
    ]
    if len(set(found)) != len(found):
        raise TypeMismatchError("an axis is given twice", lo.span(node))
    return found


def axis(lo: Lowerer, binding: Binding, rank: int, node: ast.AST, what: str = "an axis") -> int:
    value = constant_int(lo, binding, node, what)
    if not -rank <= value < rank:
        raise TypeMismatchError(
            f"axis {value} is out of bounds for array of dimension {rank}", lo.span(node)
        )
    return value % rank


def text(lo: Lowerer, binding: Binding | None, default: str, node: ast.AST, what: str) -> str:
    if is_none(binding):
        return default
    if isinstance(binding, Static) and isinstance(binding.value, str):
        return binding.value
    assert binding is not None
    raise TypeMismatchError(f"{what} must be a string, not {kind_of(binding)}", lo.span(node))


__all__ = ["axes", "axis", "constant_int", "flag", "is_none", "match", "text"]
