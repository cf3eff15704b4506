"""NumPy's functions that create arrays: from Python objects, ranges, diagonals; conversions."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Axis,
    Binding,
    Lazy,
    Num,
    ObjectRef,
    Static,
    TupleOf,
    Window,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import products, reductions
from adc.frontend.numpy.ufuncs import common_type, strong
from adc.frontend.values import arguments, arrays, constants, elementwise, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import lazy, lift
from adc.frontend.values.views import dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, F64, FLOAT, I64, INT, Scalar
from adc.library import functions

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


def _dtype(lo: Lowerer, given: Given, default: str, node: ast.AST) -> Scalar:
    return Scalar(arrays.dtype_argument(lo, given.get("dtype"), node) or default)


_NAN = Num(Literal(math.nan, FLOAT))


def _as_array(lo: Lowerer, given: Given, node: ast.Call, name: str) -> Binding:
    """`np.array`, `np.asarray` and others, by the name of NumPy's function."""
    source = _from_object(lo, given, node, name)
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    wanted = given.get("copy", lo.num(True) if name == "array" else NONE)
    never = not (arguments.is_none(wanted) or arguments.flag(lo, wanted, node, "`copy`"))
    if name == "ascontiguousarray":  # which has an axis
        if isinstance(source, ArrayRef) and not dims_of(lo, source):
            source = views.with_new_axes(lo, source, [0])
        source = elementwise.value_of(lo, source, node)
    if isinstance(source, ArrayRef | Lazy):
        same = dtype is None or dtype == elementwise.element_type(source).dtype
        copying = arguments.flag(lo, wanted, node, "`copy`")
        if same and isinstance(source, ArrayRef) and not copying:
            if name == "ascontiguousarray" and not views.is_contiguous(lo, source):
                return reshaped_copy(lo, source, node)
            return source
        if never and not same:
            _refuse_copy(lo, node)
        if same:
            return elementwise.copy(lo, source, node)
        if dims_of(lo, source):
            return reductions.converted(lo, lazy(lo, source, node), Scalar(dtype or ""), node)
        source = elementwise.value_of(lo, source, node)
    if never:
        _refuse_copy(lo, node)
    if dtype is None and (nones := constants.of_nones(lo, source)) is not None:
        return nones
    items = arguments.sequence(lo, source)
    if dtype is not None and Scalar(dtype).kind in "fc":
        # Of None, NumPy makes the float that is no number.
        source = _NAN if arguments.is_none(source) else source
        items = items and tuple(_NAN if arguments.is_none(item) else item for item in items)
    if name == "ascontiguousarray" and isinstance(source, Num):
        items = (source,)
    if items is None and isinstance(source, Num):
        wide = Scalar(dtype or numbers.scalar_type(source.operand).dtype)
        with lo.at(node):
            stored = numbers.stored(lo, source.operand, wide, node)
            return elementwise.boxed(lo, lo.exact(stored, wide), wide.dtype)
    if items is not None and not items:
        version = arrays.created(lo, dtype or "f64", [integer(0)], None)
        return lo.new_array(version, (integer(0),), "a")
    if items is not None:
        return arrays.from_items(lo, items, node, dtype or "")
    found = arrays.as_array(lo, source, node)
    if dtype is not None:
        return reductions.converted(lo, lazy(lo, found, node), Scalar(dtype), node)
    return found


def _from_object(lo: Lowerer, given: Given, node: ast.Call, name: str) -> Binding:
    """Return the source of an array, or what `__array__` of an object returns."""
    source = given["a"]
    fn = classes.find(lo, source, "__array__") if isinstance(source, ObjectRef) else None
    if not isinstance(fn, types.FunctionType):
        return source
    dtype, copying = given.get("dtype", NONE), given.get("copy", lo.num(name == "array"))
    kwargs: dict[str, Binding] = {}
    if arguments.flag(lo, copying, node, "`copy`") and "copy" in inspect.signature(fn).parameters:
        # NumPy relies on it.
        kwargs["copy"], given["copy"] = lo.num(True), NONE
    args = [source] if arguments.is_none(dtype) else [source, dtype]
    made = dispatch.apply(lo, Static(fn), args, kwargs, node)
    if not isinstance(made, ArrayRef | Lazy):
        text = "object __array__ method not producing an array"
        raise TypeMismatchError(text, lo.span(node), "return an array from `__array__`")
    return made


def _with_axes(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    """`np.array`, with as many axes in front as `ndmin` asks for."""
    least = given.pop("ndmin", None)
    given.pop("subok", None)  # arrays of other classes compute as others do
    found = _as_array(lo, given, node, "array")
    if least is None:
        return found
    wanted = arguments.constant_int(lo, least, node, "`ndmin`")
    whole = arrays.as_array(lo, found, node)
    missing = wanted - len(dims_of(lo, whole))
    return views.with_new_axes(lo, whole, list(range(missing))) if missing > 0 else found


numpy_function("a dtype? * copy? order? subok? ndmin?", "array")(_with_axes)
for _name in ("asarray", "ascontiguousarray", "asanyarray"):
    numpy_function("a dtype? * copy? order?", _name)(functools.partial(_as_array, name=_name))


_CONTIGUOUS = ("C", "C_CONTIGUOUS", "CONTIGUOUS")
_ALIGNED = ("A", "ALIGNED")


@numpy_function("a dtype? requirements? * like?", "require")
def _require(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    arguments.refuse(lo, given, ("like",), "`np.require`", node)
    wanted = given.pop("requirements", NONE)
    flags = (wanted,) if isinstance(wanted, Static) else arguments.sequence(lo, wanted) or ()
    names: list[str] = []
    for flag in () if arguments.is_none(wanted) else flags:
        text = arguments.text(lo, flag, "", node, "`requirements`").upper()
        names += list(text) if isinstance(wanted, Static) else [text]
    if others := set(names) - {*_CONTIGUOUS, *_ALIGNED}:
        raise lo.unsupported(
            f"`np.require` with {min(others)!r}", node, "make a copy with `np.array`"
        )
    found: Binding = _as_array(lo, given, node, "asarray")
    if isinstance(found, ArrayRef) and set(names) & {*_CONTIGUOUS}:
        if not views.is_contiguous(lo, found):
            return reshaped_copy(lo, found, node)
    return found


def _refuse_copy(lo: Lowerer, node: ast.AST) -> None:
    """Raise as NumPy does for ``copy=False`` if there is no array to share."""
    with lo.at(node):
        text = "Unable to avoid copy while creating an array as requested."
        numbers.check(lo, Literal(False, BOOL), "ValueError", text)


def reshaped_copy(lo: Lowerer, x: ArrayRef, node: ast.AST) -> ArrayRef:
    """Return a copy that may or may not share memory in NumPy."""
    copied = elementwise.copy(lo, x, node)
    shares(copied.object, x.object)
    return copied


@numpy_function("start stop? step? dtype?")
def _arange(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    names = ["start", "stop", "step"]
    ends = [given.get(name) for name in names]
    if arguments.is_none(ends[1]):
        ends[0], ends[1] = lo.num(0), ends[0]
    if arguments.is_none(ends[2]):
        ends[2] = lo.num(1)
    operands = [elementwise.number(lo, end, node) for end in ends if end is not None]
    ty = numbers.array_type([numbers.scalar_type(o) for o in operands])
    ty = I64 if ty.kind == "b" else ty
    wanted = _dtype(lo, given, ty.dtype, node)
    with lo.at(node):
        if ty.kind != "f":
            start, stop, step = (numbers.to_int(lo, o) for o in operands)
            if not isinstance(step, Literal) or step.value == 0:
                nonzero = numbers.apply(lo, "ne", step, integer(0))
                numbers.check(lo, nonzero, "ZeroDivisionError", numbers.BY_ZERO["truediv", "i"])
            found = arrays.counted(lo, start, stop, step, node)

            def element(index: Sequence[Operand]) -> Operand:
                return numbers.stored(lo, found.element(index), wanted, node)

            return Lazy(found.dims, wanted, element, (), 1)
        start, stop, step = (lo.convert(o, F64) for o in operands)
        numbers.nonzero(lo, step, "ZeroDivisionError", numbers.BY_ZERO["truediv", "f"])
        span = numbers.apply(lo, "truediv", numbers.apply(lo, "sub", stop, start), step)
        count = numbers.apply(lo, "ceil", span)
        ok = numbers.apply(lo, "lt", numbers.apply(lo, "abs", count), Literal(2.0**40, F64))
        numbers.check(lo, ok, "ValueError", "Maximum allowed size exceeded")
        whole = lo.exact(lo.convert(count, I64), INT)
        size: Operand = (
            lo.sizes.counts(lo.builder.apply("maximum", whole, integer(0), hint="n"))
            if not isinstance(whole, Literal)
            else integer(max(int(whole.value), 0))
        )
        # NumPy adds multiples of the difference of the first two elements.
        delta = numbers.apply(lo, "sub", numbers.apply(lo, "add", start, step), start)

        def float_element(index: Sequence[Operand]) -> Operand:
            k = lo.convert(lo.exact(index[0], I64), F64)
            moved = numbers.apply(lo, "mul", k, delta)
            return numbers.stored(lo, numbers.apply(lo, "add", start, moved), wanted, node)

        return Lazy((size,), wanted, float_element, (), 2)


@numpy_function("start stop num? endpoint? retstep? dtype?")
def _linspace(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    count = arguments.integer(lo, given.get("num", lo.num(50)), node)
    endpoint = given.get("endpoint")
    closed = endpoint is None or arguments.flag(lo, endpoint, node, "`endpoint`")
    if arguments.flag(lo, given.get("retstep"), node, "`retstep`"):
        raise lo.unsupported("`retstep`", node)
    ends = [elementwise.number(lo, given[name], node) for name in ("start", "stop")]
    # Of float32 and Python's numbers, float32.
    ty = Scalar(common_type([*ends, Literal(1.0, FLOAT)]).dtype)
    start, stop = (lo.exact(lo.convert(end, ty), ty) for end in ends)
    wanted = _dtype(lo, given, ty.dtype, node)
    zero, one = Literal(0.0, ty), Literal(1.0, ty)
    with lo.at(node):
        ok = numbers.apply(lo, "ge", count, integer(0))
        text = "Number of samples, {}, must be non-negative."
        numbers.check(lo, ok, "ValueError", text, count)
        lo.sizes.exists(count)
        parts = numbers.plus(lo, count, integer(-1)) if closed else count
        many = lo.convert(lo.exact(parts, I64), ty)
        span = numbers.apply(lo, "sub", stop, start)
        positive = numbers.apply(lo, "gt", many, zero)
        safe = numbers.apply(lo, "maximum", many, one)
        step = numbers.apply(lo, "truediv", span, safe)
        zero_step = numbers.apply(lo, "eq", step, zero)
        last = numbers.plus(lo, count, integer(-1))

        def element(index: Sequence[Operand]) -> Operand:
            k = lo.convert(lo.exact(index[0], I64), ty)
            plain = numbers.apply(lo, "mul", k, step)
            # Where the step underflows NumPy divides last.
            scaled = numbers.apply(lo, "mul", numbers.apply(lo, "truediv", k, safe), span)
            found: Operand = plain
            if not isinstance(zero_step, Literal):
                found = lo.builder.apply("select", zero_step, scaled, plain)
            found = numbers.apply(lo, "add", found, start)
            if closed:
                at_end = numbers.apply(lo, "and", numbers.apply(lo, "eq", index[0], last), positive)
                if not isinstance(at_end, Literal):
                    found = lo.builder.apply("select", at_end, stop, found)
            if wanted.kind in "iu":
                found = numbers.apply(lo, "floor", found)
            return numbers.stored(lo, found, wanted, node)

        return Lazy((count,), wanted, element, (), 6)


@numpy_function("N M? k? dtype?", "eye")
def _eye(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    rows, columns = _rows_and_columns(lo, given, node)
    with lo.at(node):
        rows, columns = (arrays.checked_size(lo, size) for size in (rows, columns))
    k = arguments.integer(lo, given.get("k", lo.num(0)), node)
    ty = _dtype(lo, given, "f64", node)
    kind = {"f": float, "c": complex, "b": bool}.get(ty.kind, int)
    one, zero = (Literal(kind(v), ty) for v in (1, 0))

    def element(index: Sequence[Operand]) -> Operand:
        shifted = numbers.plus(lo, index[0], k)
        here = lo.builder.apply("eq", shifted, index[1])
        return lo.builder.apply("select", here, one, zero)

    return Lazy((rows, columns), ty, element, (), 2)


def _rows_and_columns(lo: Lowerer, given: Given, node: ast.Call) -> tuple[Operand, Operand]:
    rows = arguments.integer(lo, given["N"], node)
    if arguments.is_none(given.get("M")):
        return rows, rows
    return rows, arguments.integer(lo, given["M"], node)


@numpy_function("n dtype?")
def _identity(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    given = {"N": given["n"], **({"dtype": given["dtype"]} if "dtype" in given else {})}
    return _eye(lo, given, node)  # type: ignore[no-any-return]


def _triangle(lower: bool) -> Any:
    def handler(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
        x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
        k = arguments.integer(lo, given.get("k", lo.num(0)), node)
        if not x.dims:
            raise TypeMismatchError("a number has no triangle", lo.span(node))
        if len(x.dims) == 1:
            x = views.broadcast(lo, x, (x.dims[0], x.dims[0]))  # type: ignore[assignment]
        zero = numbers.zero_of(x.type)

        def element(index: Sequence[Operand]) -> Operand:
            edge = numbers.plus(lo, index[-2], k)
            inside = lo.builder.apply("le" if lower else "ge", index[-1], edge)
            return lo.builder.apply("select", inside, x.element(index), zero)

        return replace(x, element=element, cost=x.cost + 2)

    return handler


numpy_function("a k?", "tril")(_triangle(True))
numpy_function("a k?", "triu")(_triangle(False))


@numpy_function("N M? k? dtype?", "tri")
def _tri(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    dims = [
        lo.sizes.counts(numbers.apply(lo, "maximum", size, integer(0)))
        for size in _rows_and_columns(lo, given, node)
    ]
    ty = _dtype(lo, given, "f64", node)
    one = Literal({"f": 1.0, "b": True}.get(ty.kind, 1), ty)
    ones = Lazy(tuple(dims), ty, lambda index: one)
    return _triangle(True)(lo, {"a": ones, "k": given.get("k", lo.num(0))}, node)  # type: ignore[no-any-return]


@numpy_function("v k?", "diag")
def _diag(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["v"], node)
    if len(dims_of(lo, x)) == 2:
        rest = {"offset": given["k"]} if "k" in given else {}
        return products.diagonal(lo, x, rest, node)
    if len(dims_of(lo, x)) != 1:
        raise TypeMismatchError("Input must be 1- or 2-d.", lo.span(node))
    k = arguments.constant_int(lo, given.get("k", lo.num(0)), node, "`k`")
    source = lazy(lo, x, node)
    size = numbers.plus(lo, source.dims[0], integer(abs(k)))
    lo.sizes.counts(size)
    with lo.at(node):
        zero = numbers.zero_of(source.type)
        version = arrays.created(lo, source.type.dtype, [size, size], zero)
        ref = lo.new_array(version, (size, size), "a")
        axes = (
            Axis(integer(max(-k, 0)), ((0, integer(1)),)),
            Axis(integer(max(k, 0)), ((0, integer(1)),)),
        )
        target = views.through(lo, ref, Window(source.dims, axes))
        assert isinstance(target, ArrayRef)
        elementwise.assign_to(lo, target, source, node)
    return ref


@numpy_function("a b? c? d? * indexing? sparse? copy?", "meshgrid")
def _meshgrid(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    order = arguments.text(lo, given.get("indexing"), "xy", node, "`indexing`")
    sparse = arguments.flag(lo, given.get("sparse"), node, "`sparse`")
    copying = arguments.flag(lo, given.get("copy", lo.num(True)), node, "`copy`")
    parts = [arrays.as_array(lo, given[n], node) for n in "abcd" if n in given]
    if not copying:
        if not sparse and len(parts) > 1:
            raise lo.unsupported("a grid whose elements share memory", node, "leave out `copy`")
        parts = [elementwise.base_of(lo, p, node) for p in parts]
    parts = [p if dims_of(lo, p) else views.with_new_axes(lo, p, [0]) for p in parts]
    position = list(range(len(parts)))
    if order == "xy" and len(parts) > 1:
        position[0], position[1] = 1, 0
    sizes: list[Operand] = [integer(1)] * len(parts)
    for part, at in zip(parts, position, strict=True):
        sizes[at] = dims_of(lo, part)[0]
    made: list[Binding] = []
    for part, at in zip(parts, position, strict=True):
        dims = [size if k == at or not sparse else integer(1) for k, size in enumerate(sizes)]
        axes = (Axis(integer(0), ((at, integer(1)),)),)
        found = views.through(lo, part, Window(tuple(dims), axes))
        made.append(elementwise.base_of(lo, lazy(lo, found, node), node) if copying else found)
    return TupleOf(tuple(made))


@numpy_function("dimensions dtype?")
def _indices(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    dims = arrays.shape_argument(lo, given["dimensions"], node)
    ty = _dtype(lo, given, "i64", node)

    def element(index: Sequence[Operand]) -> Operand:
        which, places = index[0], index[1:]
        found: Operand = lo.exact(places[-1], I64)
        for k in reversed(range(len(places) - 1)):
            here = numbers.apply(lo, "eq", which, integer(k))
            place = lo.exact(places[k], I64)
            if isinstance(here, Literal):
                found = place if here.value else found
            else:
                found = lo.builder.apply("select", here, place, found)
        return numbers.stored(lo, found, ty, node)

    return Lazy((integer(len(dims)), *dims), ty, element, (), 3)


@numpy_function("a dtype * copy?", "astype")
def _astype(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    dtype = arrays.dtype_argument(lo, given["dtype"], node) or FLOAT.dtype  # None is float64
    if elementwise.element_type(x).dtype == dtype:
        copying = "copy" not in given or arguments.flag(lo, given["copy"], node, "`copy`")
        return elementwise.copy(lo, x, node) if copying or isinstance(x, Lazy) else x
    return reductions.converted(lo, lazy(lo, x, node), Scalar(dtype), node)


@numpy_function("a", "tolist")
def _tolist(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if not dims_of(lo, x):
        return Num(numbers.weak(lo, lazy(lo, x, node).element(())))
    a = elementwise.base_of(lo, x, node)
    if len(dims_of(lo, a)) != 1:
        return dispatch.apply(lo, Static(functions.listed_rows), [a], {}, node)
    return dispatch.apply(lo, Static(_LISTED[elementwise.element_type(a).kind]), [a], {}, node)


_LISTED = {
    "f": functions.listed_floats, "i": functions.listed_integers, "u": functions.listed_integers,
    "b": functions.listed_flags, "c": functions.listed_complex,
}  # fmt: skip


@numpy_function("a * nan? posinf? neginf? copy?", "nan_to_num")
def _nan_to_num(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = arrays.as_operand(lo, given["a"], node)

    def finite(x: Operand) -> Operand:
        ty = numbers.scalar_type(x)
        info = np.finfo(str(ty.numpy))
        limits = {"nan": 0.0, "posinf": float(info.max), "neginf": float(info.min)}
        values: dict[str, Operand] = {}
        for name, default in limits.items():
            values[name] = Literal(default, ty)
            if not arguments.is_none(given.get(name)):
                values[name] = lo.convert(elementwise.number(lo, given[name], node), ty)
        result: Operand = x
        infinite = numbers.apply(lo, "isinf", x)
        positive = numbers.apply(lo, "gt", x, Literal(0.0, ty))
        for cond, name in (
            (numbers.apply(lo, "and", infinite, positive), "posinf"),
            (numbers.apply(lo, "and", infinite, numbers.apply(lo, "not", positive)), "neginf"),
            (numbers.apply(lo, "isnan", x), "nan"),
        ):
            result = lo.builder.apply("select", cond, lo.exact(values[name], ty), result)
        return result

    def compute(items: list[Binding]) -> Binding:
        x = elementwise.number(lo, items[0], node)
        kind = numbers.scalar_type(x).kind
        if kind == "c":
            re, im = (finite(numbers.apply(lo, part, x)) for part in ("real", "imag"))
            x = numbers.joined(lo, re, im)
        elif kind == "f":
            x = finite(x)
        return Num(strong(lo, x))

    found = lift(lo, [source], compute, node)
    copying = "copy" not in given or arguments.flag(lo, given["copy"], node, "`copy`")
    if copying or not isinstance(source, ArrayRef):
        return found
    elementwise.assign_to(lo, source, found, node)
    return source if dims_of(lo, source) else elementwise.value_of(lo, source, node)
