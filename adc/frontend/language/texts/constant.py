"""Methods of constant strings and sets: Python calls them when the program is compiled."""

from __future__ import annotations

import ast
import types
from typing import Any

from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import Binding, ListRef, Num, Static, TupleOf, static
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import PickedError
from adc.frontend.values import sequences
from adc.ir.core import Literal
from adc.ir.types import BOOL

# What methods of strings and sets return that arguments and results may be made of.
_KINDS = (str, bool, int, type(None), frozenset)


class _NotConstant(Exception):
    """Something is known only at run time, or is no part of a string's arguments."""


def method(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of a string or a set, or return None if it is none."""
    if not isinstance(callee, types.BuiltinMethodType):
        return None
    kind = next((each for each in (str, frozenset) if isinstance(callee.__self__, each)), None)
    if kind is None:
        return None
    if callee.__name__ == "encode":
        raise lo.unsupported("`str.encode`", node, "make bytes outside the function")
    for arg in (*args, *kwargs.values()):
        dispatch.require_one(sequences.static_items(lo, arg) or (), node)
    try:
        given = [_constant(lo, arg) for arg in args]
        named = {name: _constant(lo, arg) for name, arg in kwargs.items()}
    except _NotConstant:
        name, kinds = ("str", "strings") if kind is str else ("set", "sets")
        what = f"`{name}.{callee.__name__}` with these arguments is not supported"
        hint = f"{kinds} must be known when the program is compiled"
        raise PickedError(what, lo.span(node), hint) from None
    try:
        found = callee(*given, **named)
    except (ValueError, TypeError, IndexError, KeyError) as error:
        return failing(lo, error)
    if isinstance(found, list):
        return lo.new_ref(ListRef, TupleOf(tuple(map(static, found))))
    return static(found)


def failing(lo: Lowerer, error: Exception) -> Binding:
    """Raise what Python raises when the program gets here."""
    numbers.check(lo, Literal(False, BOOL), type(error).__name__, numbers.escaped(str(error)))
    return Static(None)


def _constant(lo: Lowerer, binding: Binding) -> Any:
    """Return an argument as Python's object."""
    match binding:
        case Static(value=value) if type(value) in _KINDS:
            return value
        case Num(operand=Literal(value=value, type=ty)) if ty.kind in "ib":
            return bool(value) if ty.kind == "b" else int(value)
    items = None if isinstance(binding, Num) else sequences.static_items(lo, binding)
    if items is None:
        items = sequences.static_range(binding)
    if items is None:
        raise _NotConstant
    found = [_constant(lo, item) for item in items]
    return tuple(found) if isinstance(binding, TupleOf) else found


__all__ = ["failing", "method"]
