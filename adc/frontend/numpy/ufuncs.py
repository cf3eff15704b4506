"""NumPy's ufuncs: promotion on numbers, elementwise on arrays, and their methods."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Sequence

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Lazy,
    Num,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import indexing, reductions
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OpDef, find
from adc.ir.ops.math import nextafter
from adc.ir.types import F16, F32, F64, INT, Scalar, promote
from adc.library.arrays import reducing


def strong(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number with a NumPy type, as NumPy's functions return it."""
    ty = numbers.scalar_type(operand)
    if not ty.weak:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, Scalar(ty.dtype))
    return lo.builder.apply("cast", operand, params=(ty.dtype,))


def _numbers(lo: Lowerer, row: OpDef, args: list[Binding], node: ast.Call) -> Binding:
    """Lower a NumPy ufunc on scalars: operands promoted, the result NumPy's."""
    if len(args) != row.arity:
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)
    what = _name(row, node)
    operands = [elementwise.number(lo, arg, node, what) for arg in args]
    ty = common_type(operands)
    if ty.kind == "c":
        return Num(_complex_numbers(lo, row, operands, ty, what, node))
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
        ty = F64 if row.least == "f64" else floating_type(operands)
    if ty == F16 and all(isinstance(each, str) for each in row.spellings):
        ty = F64  # as SciPy does
    if ty == F16 and row is nextafter:
        raise lo.unsupported(
            f"{what} of float16", node, "convert the operands with `.astype(np.float32)`"
        )
    converted = [strong(lo, numbers.fit(lo, operand, ty, node)) for operand in operands]
    return Num(strong(lo, numbers.apply(lo, row, *converted)))


def _complex_numbers(
    lo: Lowerer, row: OpDef, operands: list[Operand], ty: Scalar, what: str, node: ast.AST
) -> Operand:
    """Lower a ufunc of which an operand is complex."""
    if row.name == "abs":
        return numbers.apply(lo, "modulus", strong(lo, operands[0]))
    if row.parts is None:
        raise TypeMismatchError(
            f"{what} is not defined for complex numbers", lo.span(node),
            "apply it to the real and imaginary part",
        )  # fmt: skip
    if row.name in numbers.SIGNS:
        if ty.weak:  # of Python's numbers NumPy makes its own, which overflow
            operands = [strong(lo, operand) for operand in operands]
        a, b = operands
        return strong(lo, numbers.arithmetic(lo, row.name, a, b, node))
    operands = [strong(lo, operand) for operand in operands]
    converted = [numbers.fit(lo, operand, ty, node) for operand in operands]
    return strong(lo, numbers.apply(lo, row, *converted))


def _name(row: OpDef, node: ast.Call) -> str:
    """Return what a program calls a ufunc that it may have under another name."""
    found = next((each for each in row.spellings if isinstance(each, np.ufunc)), None)
    if isinstance(node.func, ast.Name) and found is not None:
        return f"`np.{found.__name__}`"
    return f"`{ast.unparse(node.func)}`"


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def floating_type(operands: Sequence[Operand]) -> Scalar:
    """Return the smallest floating-point type that holds all integer operands, as NumPy picks."""
    types = [numbers.scalar_type(operand) for operand in operands]
    strong = {ty.dtype for ty in types if not ty.weak or ty.kind == "b"}
    if not strong or (strong == {"b1"} and any(ty.kind != "b" for ty in types)):
        return F64  # Python's integers beside truth values are int64
    if strong <= {"b1", "i8", "u8"}:
        return F16
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
    if len(args) > row.arity + 1 or (len(args) > row.arity and "out" in kwargs):
        takes = f"{row.arity} operand{'s' * (row.arity > 1)} and `out`"
        what = f"{_name(row, node)} takes {takes}, not {len(args)}"
        raise TypeMismatchError(what, lo.span(node))
    if len(args) > row.arity:
        kwargs = {**kwargs, "out": args[-1]}
    low, high = row.domain[0]
    return applied(
        lo, lambda items: _numbers(lo, row, list(items), node), args[: row.arity], kwargs, node,
        (low + high) / 2,
    )  # fmt: skip


# What ufuncs take that decides neither values nor types.
_IGNORED = ("order", "subok", "casting")


def applied(
    lo: Lowerer, compute: elementwise.Scalars, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call, harmless: float = 1.0,
) -> Binding:  # fmt: skip
    """Apply a function of numbers to all elements, or to those that ``where=`` selects.

    The operands of the others are `harmless`, so no derivative there is infinite.
    """
    out, mask = kwargs.get("out"), kwargs.get("where")
    dtype = arrays.dtype_argument(lo, kwargs.get("dtype"), node)
    rest = set(kwargs) - {"out", "where", "dtype", *_IGNORED}
    if rest or arguments.text(lo, kwargs.get("casting"), "same_kind", node, "`casting`") not in (
        "same_kind", "safe",
    ):  # fmt: skip
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)
    if isinstance(out, TupleOf) and len(out.items) == 1:
        (out,) = out.items
    if isinstance(out, Lazy):
        out = elementwise.materialised(lo, out, node)
    if dtype is not None:
        compute = _in_type(lo, compute, Scalar(dtype), node)
    if mask is None or reductions.is_true(mask):
        result = elementwise.lift(lo, args, compute, node)
        return reductions.finish_out(lo, result, out, node, broadcasts=True)
    if not isinstance(out, ArrayRef):
        raise lo.unsupported(
            f"`{ast.unparse(node.func)}` with `where` and without `out`, whose other elements are "
            "arbitrary,", node, "give `out=`, or use `np.where`",
        )  # fmt: skip

    def chosen(items: list[Binding]) -> Binding:
        truth = operators.truth(lo, items[0], node)
        parts: list[Binding] = []
        for item in items[1:]:
            x = elementwise.number(lo, item, node)
            ty = numbers.scalar_type(x)
            other = Literal({"f": harmless, "c": complex(harmless), "b": True}.get(ty.kind, 1), ty)
            parts.append(Num(lo.builder.apply("select", truth, x, other)))
        return compute(parts)

    mask = elementwise.materialised(lo, arrays.as_operand(lo, mask, node), node)
    result = elementwise.lift(lo, [mask, *args], chosen, node)
    operators.check_cast(lo, result, out, node)
    ty = out.object.type.element

    def stored(items: list[Binding]) -> Binding:
        truth = operators.truth(lo, items[0], node)
        x = numbers.stored(lo, elementwise.number(lo, items[1], node), ty, node)
        old = elementwise.number(lo, items[2], node)
        return Num(lo.builder.apply("select", truth, lo.exact(x, ty), lo.exact(old, ty)))

    elementwise.assign_to(
        lo, out, elementwise.lift(lo, [mask, result, out], stored, node), node, "output array"
    )
    return out


def _in_type(
    lo: Lowerer, compute: elementwise.Scalars, ty: Scalar, node: ast.Call
) -> elementwise.Scalars:
    """Return the same function of operands converted to a type, which its result has as well."""

    def run(items: list[Binding]) -> Binding:
        parts: list[Binding] = []
        for item in items:
            x = elementwise.number(lo, item, node)
            own = numbers.scalar_type(x)
            if not own.weak and not np.can_cast(own.numpy, ty.numpy, "same_kind"):
                raise TypeMismatchError(
                    f"`{ast.unparse(node.func)}` cannot convert {own.numpy} to {ty.numpy}",
                    lo.span(node), "convert it with `.astype`",
                )  # fmt: skip
            parts.append(Num(lo.exact(numbers.stored(lo, x, ty, node), ty)))
        found = compute(parts)
        assert isinstance(found, Num)
        if numbers.scalar_type(found.operand).dtype != ty.dtype:
            raise lo.unsupported(
                f"`{ast.unparse(node.func)}` with this `dtype`", node, "use `.astype`"
            )
        return found

    return run


# Methods that NumPy's functions of arrays are.
_SAME = {
    ("add", "reduce"): "sum", ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max", ("minimum", "reduce"): "min",
    ("logical_and", "reduce"): "all", ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod",
}  # fmt: skip
_GENERAL = {"reduce": reducing.reduce, "accumulate": reducing.accumulate,
            "reduceat": reducing.reduceat}  # fmt: skip


def outer(
    lo: Lowerer, ufunc: np.ufunc, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``ufunc.outer(a, b)``: the function of each element of one with each of the other."""
    a, b = (arrays.as_array(lo, arg, node) for arg in args)
    rank, more = len(views.dims_of(lo, a)), len(views.dims_of(lo, b))
    first = views.with_new_axes(lo, a, range(rank, rank + more))
    return dispatch.apply(lo, Static(ufunc), [first, b], kwargs, node)


def method(
    lo: Lowerer, ufunc: np.ufunc, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower ``np.add.at`` and similar functions."""
    what = f"`{ast.unparse(node.func)}`"
    if name == "at" and find(ufunc) is not None:
        return _at(lo, ufunc, args, kwargs, node)
    if name == "at" and ufunc.nin < 3:
        raise lo.unsupported(what, node, "write a loop")
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        raise TypeMismatchError(f"{what} of a function of {ufunc.nin} operands", lo.span(node))
    if name == "outer" and len(args) == 2:
        return outer(lo, ufunc, args, kwargs, node)
    found = _SAME.get((ufunc.__name__, name))
    if found is not None:
        if len(args) == 1 and "axis" not in kwargs:
            kwargs = {**kwargs, "axis": lo.num(0)}  # the methods reduce along the first axis
        return reductions.HANDLERS[found](lo, args, kwargs, node)
    compares = any(loop.endswith("?") and loop[0] != "?" for loop in ufunc.types)
    if name not in _GENERAL or (compares and not ufunc.__name__.startswith("logical")):
        raise lo.unsupported(what, node, "write a loop")
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    first: list[Binding] = [Static(ufunc)]
    if name == "reduce":
        first.append(static(ufunc.identity))
    fn = _GENERAL[name]
    assert isinstance(fn, types.FunctionType)
    return elementwise.value_of(
        lo, program.call_function(lo, fn, [*first, *args], kwargs, node), node
    )


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
    element = x.element
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
            old = lo.builder.load(carried[0], places)
            held = numbers.apply(lo, x.part, old) if x.part else old
            operands: list[Binding] = [Num(held)]
            if second is not None:
                operands.append(Num(second.element(index)))
            elif row.arity == 2:
                operands.append(scalar)
            new = _numbers(lo, row, operands, node)
            assert isinstance(new, Num)
            ty = numbers.scalar_type(new.operand)
            if not np.can_cast(ty.numpy, element.numpy, "same_kind"):
                raise TypeMismatchError(
                    f"cannot store a result of {ty.numpy} in an array of {element.numpy}",
                    lo.span(node),
                )
            stored = numbers.stored(lo, new.operand, element, node)
            stored = elementwise.placed(lo, x, lambda: old, stored)
            return [lo.builder.store(carried[0], places, stored, hint=obj.name)]

        (version,) = elementwise.nest(lo, dims, [current], [obj.name], body)
    if version is not current:
        assert isinstance(version, Value)
        lo.update(obj, version)
    return NONE
