"""What NumPy says about types, shapes and memory: known when the program is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import arguments, arrays, elementwise, sequences, views
from adc.frontend.values.arguments import Handler
from adc.ir.builder import integer
from adc.ir.core import Literal
from adc.ir.errors import TypeMismatchError

HANDLERS: dict[Any, Handler] = {}
# Python's numbers of these kinds, where only the kind counts.
_SAMPLES: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}


def _described(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    """Return what has the type of an argument: its dtype, or a number of Python."""
    items = arguments.sequence(lo, binding)
    if items and all(isinstance(item, Static) for item in items):
        return tuple(item.value for item in items if isinstance(item, Static))
    if items is not None:
        made = arrays.as_array(lo, binding, node)
        return elementwise.element_type(made).numpy
    if isinstance(binding, ArrayRef | Lazy):
        return elementwise.element_type(binding).numpy
    if isinstance(binding, Num):
        ty = numbers.scalar_type(binding.operand)
        return _SAMPLES[ty.kind] if ty.weak else ty.numpy
    if isinstance(binding, Static):
        return binding.value
    raise TypeMismatchError(f"{kind_of(binding)} has no dtype", lo.span(node))


def _answer(lo: Lowerer, value: Any) -> Binding:
    return Num(lo.num(value).operand) if isinstance(value, bool) else Static(value)


def _asked(fn: Callable[..., Any]) -> Handler:
    """Return the handler of a function of types: what it says is part of the program."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = [_described(lo, arg, node) for arg in args]
        named = {name: _described(lo, arg, node) for name, arg in kwargs.items()}
        try:
            return _answer(lo, fn(*given, **named))
        except (TypeError, ValueError, KeyError) as error:
            raise TypeMismatchError(str(error), lo.span(node)) from None

    return handler


def _common_type(*given: Any) -> Any:
    return np.common_type(*[np.zeros(0, each) for each in given])


def _minimal(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.min_scalar_type`: of a number its value counts."""
    arguments.arity(lo, args, kwargs, node, 1)
    (arg,) = args
    if isinstance(arg, ArrayRef | Lazy) and views.dims_of(lo, arg):
        return Static(elementwise.element_type(arg).numpy)
    if isinstance(arg, Num) and isinstance(arg.operand, Literal):
        return Static(np.min_scalar_type(arg.operand.value))
    raise lo.constant_needed(arg, "the number", node)


def _is_scalar(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    (arg,) = args
    if isinstance(arg, Num):
        return lo.num(not arg.array)
    return lo.num(isinstance(arg, Static) and bool(np.isscalar(arg.value)))


def _iterable(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    (arg,) = args
    if isinstance(arg, ArrayRef | Lazy):
        return lo.num(bool(views.dims_of(lo, arg)))
    return lo.num(sequences.static_items(lo, arg) is not None)


def _shares_memory(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.shares_memory`: two views of one array may or may not overlap."""
    given = arguments.match(lo, "a b max_work?", args, kwargs, node)
    a, b = given["a"], given["b"]
    if not isinstance(a, ArrayRef) or not isinstance(b, ArrayRef) or a.object is not b.object:
        return lo.num(False)
    if a.view != b.view:
        raise lo.unsupported(
            f"`{ast.unparse(node.func)}` of two parts of an array", node, "compare their indices"
        )
    some = numbers.apply(lo, "gt", views.size_of(lo, views.dims_of(lo, a)), integer(0))
    return Num(some)


def _broadcast_shapes(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    shapes = []
    for arg in args:
        items = sequences.static_items(lo, arg)
        sizes = [arg] if items is None else items
        shapes.append(tuple(arguments.integer(lo, size, node) for size in sizes))
    if kwargs or not shapes:
        return TupleOf(())
    return TupleOf(tuple(Num(size) for size in elementwise.common_dims(lo, shapes, node)))


HANDLERS |= {
    fn: _asked(fn)
    for fn in (np.result_type, np.promote_types, np.can_cast, np.issubdtype, np.finfo, np.iinfo,
               np.isdtype, np.typename, np.dtype)
}  # fmt: skip
HANDLERS |= {
    np.common_type: _asked(_common_type),
    np.min_scalar_type: _minimal,
    np.isscalar: _is_scalar,
    np.iterable: _iterable,
    np.shares_memory: _shares_memory,
    np.may_share_memory: _shares_memory,
    np.broadcast_shapes: _broadcast_shapes,
}
__all__ = ["HANDLERS"]
