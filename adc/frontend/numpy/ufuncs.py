"""NumPy's ufuncs: promotion on numbers, elementwise on arrays, and their methods."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

import numpy as np

from adc.frontend.core import numbers
from adc.frontend.core.bindings import NONE, ArrayRef, Binding, Lazy, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import indexing, reductions
from adc.frontend.values import arrays, elementwise, views
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OpDef, find
from adc.ir.types import F32, F64, INT, Scalar, promote


def strong(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number with a NumPy type, as NumPy's functions return it."""
    ty = numbers.scalar_type(operand)
    if not ty.weak:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, Scalar(ty.dtype))
    return lo.builder.apply("cast", operand, params=(ty.dtype,))


def _numbers(
    lo: Lowerer, row: OpDef, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a NumPy ufunc on scalars: operands promoted, the result NumPy's."""
    if kwargs or len(args) != row.arity:
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)
    what = f"`{ast.unparse(node.func)}`"
    operands = [elementwise.number(lo, arg, node, what) for arg in args]
    ty = common_type(operands)
    if row.name in _COMPARISONS and ty.kind != "f":
        a, b = operands
        if ty.kind == "b" and row.name not in ("eq", "ne"):
            a, b = lo.convert(a, INT), lo.convert(b, INT)
        return Num(strong(lo, numbers.compare_numbers(lo, row.name, a, b, node)))
    if ty.kind == "b" and "b" not in row.kinds and row.least != "f64":
        raise lo.unsupported(f"{what} on booleans", node, "convert them with `int()` first")
    if ty.kind not in row.kinds:
        if row.name in ("floor", "ceil", "trunc", "rint") and ty.kind in "iu":
            if row.name != "rint":
                return Num(strong(lo, operands[0]))
        if "f" not in row.kinds:
            raise TypeMismatchError(f"{what} on {ty}", lo.span(node))
        ty = F64 if row.least == "f64" else _floating(lo, operands, what, node)
    converted = [strong(lo, numbers.fit(lo, operand, ty, node)) for operand in operands]
    return Num(strong(lo, numbers.apply(lo, row, *converted)))


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _floating(lo: Lowerer, operands: Sequence[Operand], what: str, node: ast.AST) -> Scalar:
    """Return the smallest floating-point type that holds all integer operands, as NumPy picks."""
    types = [numbers.scalar_type(operand) for operand in operands]
    strong = {ty.dtype for ty in types if not ty.weak or ty.kind == "b"}
    if not strong:
        return F64
    if strong <= {"b1", "i8", "u8"}:
        raise lo.unsupported(
            f"{what} on small integers, which is float16 in NumPy,", node, "convert them first"
        )
    return F32 if strong <= {"b1", "i8", "u8", "i16", "u16"} else F64


def common_type(operands: Sequence[Operand]) -> Scalar:
    """Return the type that NumPy computes in: Python's booleans count as NumPy's."""
    types = [numbers.scalar_type(operand) for operand in operands]
    types = [Scalar(ty.dtype) if ty.kind == "b" else ty for ty in types]
    types.sort(key=lambda ty: ty.weak)
    return functools.reduce(promote, types)


def call(
    lo: Lowerer, row: OpDef, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a ufunc."""
    args = [arrays.as_operand(lo, arg, node) for arg in args]
    out = kwargs.get("out")
    if len(args) == row.arity + 1:
        *args, out = args
    rest = {name: value for name, value in kwargs.items() if name not in ("out", "where", "dtype")}
    if "where" in kwargs or "dtype" in kwargs:
        raise lo.unsupported(
            f"`{ast.unparse(node.func)}` with `where` or `dtype`", node, "use `np.where`"
        )
    result = elementwise.lift(
        lo, args, lambda items: _numbers(lo, row, list(items), rest, node), node
    )
    return reductions.finish_out(lo, result, out, node)


def method(
    lo: Lowerer, ufunc: np.ufunc, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower ``np.add.at`` and similar functions."""
    row = find(ufunc)
    if name == "at" and row is not None:
        return _at(lo, ufunc, args, kwargs, node)
    if name == "outer" and row is not None and len(args) == 2:
        a, b = (arrays.as_array(lo, arg, node) for arg in args)
        first = views.with_new_axes(
            lo,
            a,
            range(len(views.dims_of(lo, a)), len(views.dims_of(lo, a)) + len(views.dims_of(lo, b))),
        )
        return call(lo, row, [first, b], kwargs, node)
    table = {("add", "reduce"): "sum", ("multiply", "reduce"): "prod",
             ("maximum", "reduce"): "max", ("minimum", "reduce"): "min",
             ("logical_and", "reduce"): "all", ("logical_or", "reduce"): "any",
             ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod"}  # fmt: skip
    found = table.get((ufunc.__name__, name))
    if found is None:
        raise lo.unsupported(f"`{ast.unparse(node.func)}`", node, "write a loop")
    if len(args) == 1 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": lo.num(0)}  # the methods reduce along the first axis
    return reductions.HANDLERS[found](lo, args, kwargs, node)


def _at(
    lo: Lowerer, ufunc: np.ufunc, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``ufunc.at(a, indices, b)``: every occurrence of an index counts."""
    row = find(ufunc)
    assert row is not None
    if len(args) != row.arity + 1 or kwargs or not isinstance(args[0], ArrayRef):
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)
    x = args[0]
    # A tuple indexes several axes; a list is one array of indices.
    parts = args[1].items if isinstance(args[1], TupleOf) else (args[1],)
    items = [indexing.Item(part, node) for part in parts]
    items = indexing.prepared(lo, x, items, node)
    obj = x.object
    element = obj.type.element
    current = lo.version(obj, node)
    within: Callable[[Sequence[Operand]], list[Operand]]
    if indexing.is_advanced(lo, items):
        place = indexing.Advanced(lo, x, items, node)
        dims, within = place.dims, place.base_index
    else:
        window = indexing.basic(lo, x, items)
        assert isinstance(window, ArrayRef)
        dims, within = views.dims_of(lo, window), list
        x = window
    second: Lazy | None = None
    scalar: Binding = NONE
    if row.arity == 2:
        value = elementwise.value_of(lo, arrays.as_operand(lo, args[2], node), node)
        if isinstance(value, ArrayRef | Lazy):
            second = elementwise.fitted(lo, elementwise.lazy(lo, value, node), dims, node)
            if any(o is obj for o, _, _ in second.reads) or second.cost > elementwise.CHEAP:
                second = elementwise.lazy(lo, elementwise.base_of(lo, second, node), node)
        else:
            scalar = value
    with lo.at(node):

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            places = views.base_index(lo, x, within(index))
            operands: list[Binding] = [Num(lo.builder.load(carried[0], places))]
            if second is not None:
                operands.append(Num(second.element(index)))
            elif row.arity == 2:
                operands.append(scalar)
            new = _numbers(lo, row, operands, {}, node)
            assert isinstance(new, Num)
            ty = numbers.scalar_type(new.operand)
            if not np.can_cast(ty.numpy, element.numpy, "same_kind"):
                raise TypeMismatchError(
                    f"cannot store a result of {ty.numpy} in an array of {element.numpy}",
                    lo.span(node),
                )
            stored = numbers.stored(lo, new.operand, element, node)
            return [lo.builder.store(carried[0], places, stored, hint=obj.name)]

        (version,) = elementwise.nest(lo, dims, [current], [obj.name], body)
    if version is not current:
        assert isinstance(version, Value)
        lo.update(obj, version)
    return NONE
