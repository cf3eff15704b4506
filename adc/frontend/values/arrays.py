"""Arrays from numbers, lists and ranges; new, copied and filled arrays."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Cell,
    FlatRef,
    Growing,
    Handle,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    Range,
    RecordOf,
    Static,
    TupleOf,
    Window,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import cells_of
from adc.frontend.values import arguments, elementwise, views
from adc.frontend.values.elementwise import is_array
from adc.frontend.values.growing import list_buffers
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.types import FLOAT, I64, NAMES, Scalar

MAX_RANK = 8


def fill(lo: Lowerer, target: ArrayRef, value: Binding, node: ast.AST) -> None:
    if target.view:
        elementwise.assign_to(lo, target, value, node)
        return
    if not elementwise.is_writable(lo, target, node):
        return
    obj = target.object
    operand = elementwise.number(lo, value, node, "storing into an array")
    operand = numbers.stored(lo, operand, obj.type.element, node)
    lo.version(obj, node)
    lo.update(obj, created(lo, obj.type.dtype, list(lo.dims[obj]), operand, obj.name))


def as_array(lo: Lowerer, binding: Binding, node: ast.AST) -> Arraylike:
    """Return an array for array-like values: numbers, tuples and lists of them."""
    if isinstance(binding, FlatRef):
        return elementwise.lazy(lo, binding, node)  # arrays that are made of it are copies
    if isinstance(binding, ArrayRef | Lazy):
        return binding
    if isinstance(binding, ListRef):
        held = lo.held(binding)
        if isinstance(held, Growing):
            return arrays_of(lo, held, node)
    items = arguments.sequence(lo, binding)
    if isinstance(binding, Range):
        start, stop, step = (end.operand for end in (binding.start, binding.stop, binding.step))
        return counted(lo, start, stop, step, node)
    if items is not None:
        return from_items(lo, items, node)
    operand = elementwise.number(lo, binding, node, "an array")
    element = lo.exact(operand, Scalar(numbers.scalar_type(operand).dtype))
    return Lazy((), Scalar(element.type.dtype), lambda index: element)


def counted(lo: Lowerer, start: Operand, stop: Operand, step: Operand, node: ast.AST) -> Lazy:
    """Return the integers of a range, of which the step is not zero."""
    if all(isinstance(end, Literal) for end in (start, stop, step)):
        values = range(*(int(end.value) for end in (start, stop, step)))  # type: ignore[union-attr]
        size: Operand = integer(len(values))
    elif numbers.is_int(step, 1) and numbers.is_int(start, 0):
        size = lo.sizes.counts(lo.builder.apply("maximum", stop, integer(0), hint="n"))
    else:
        size = lo.sizes.counts(lo.builder.apply("trips", start, stop, step, hint="n"))

    def element(index: Sequence[Operand]) -> Operand:
        with lo.at(node):
            return lo.exact(numbers.plus(lo, start, views.times(lo, index[0], step)), I64)

    return Lazy((size,), I64, element, (), 1)


def arrays_of(lo: Lowerer, held: Growing, node: ast.AST) -> ArrayRef:
    """Return the array that `np.array` makes of a list of run-time length."""
    held = list_buffers.without_none(lo, held, node)
    if isinstance(held.element, Cell | Handle):
        return elementwise.copy(lo, list_buffers.array_of(lo, held, node), node)
    return _rows_of(lo, held, node)


def _rows_of(lo: Lowerer, held: Growing, node: ast.AST) -> ArrayRef:
    """Return an array of the tuples in a list, which hold numbers, equal tuples, or arrays."""
    cells = list(cells_of(held.element))
    shape = _nesting(held.element)
    alike = len({None if cell.sizes is None else len(cell.sizes) for cell in cells}) == 1
    if shape is None or not alike or math.prod(shape) != len(cells):
        raise lo.unsupported(
            f"an array of a list that is {kind_of(held)}", node, "make a list of each of them"
        )
    with lo.at(node):
        some = numbers.apply(lo, "gt", held.length.operand, integer(0))
        text = "adc: this list of tuples is empty, so the shape of their array is not known"
        numbers.check(lo, some, LimitError.__name__, text)
        columns = [list_buffers.view(lo, held, k) for k in range(len(cells))]
        size, *inner = dims_of(lo, columns[0])
        for column in columns[1:]:
            for a, b in zip(inner, dims_of(lo, column)[1:], strict=True):
                elementwise.require_same(lo, a, b, "inhomogeneous shape: {} and {}", [a, b], node)
        dims = (size, *map(integer, shape), *inner)
        found = numbers.array_type([cell.type for cell in cells]).dtype
        version = lo.builder.apply("empty", *dims, params=(found,), hint="a")
        made = lo.new_array(version, dims, "a")
        for place, column in zip(itertools.product(*map(range, shape)), columns, strict=True):
            first, *rest = views.whole(dims_of(lo, column))
            axes = (first, *(Axis(integer(k), ()) for k in place), *rest)
            target = views.through(lo, made, Window(dims_of(lo, column), axes))
            assert isinstance(target, ArrayRef)
            elementwise.assign_to(lo, target, column, node)
    return made


def _nesting(element: Binding) -> tuple[int, ...] | None:
    """Return the lengths of tuples in tuples, or None if they differ or hold anything else."""
    match element:
        case Cell():
            return ()
        case TupleOf(items=items) | NamedTuple(record=RecordOf(items=items)):
            inner = {_nesting(item) for item in items}
            found = inner.pop() if len(inner) == 1 else None
            return None if found is None else (len(items), *found)
    return None


def as_operand(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return an array for a tuple, list or range that meets an array; anything else unchanged."""
    dispatch.require_one([binding], node)
    if isinstance(binding, TupleOf | ListRef | Range):
        return as_array(lo, binding, node)
    return binding


def is_element_wise(left: Binding, right: Binding) -> bool:
    """Whether an operator on these is NumPy's: on an array, or on a sequence and NumPy's number."""
    return any(
        elementwise.is_array(one)
        or (isinstance(one, TupleOf | ListRef | Range) and _is_numpys_number(other))
        for one, other in ((left, right), (right, left))
    )


def _is_numpys_number(binding: Binding) -> bool:
    if not isinstance(binding, Num):
        return False
    return binding.array or not numbers.scalar_type(binding.operand).weak


def from_items(lo: Lowerer, items: Sequence[Binding], node: ast.AST, dtype: str = "") -> ArrayRef:
    """Return the array of these elements, numbers or nested sequences and arrays."""
    with lo.at(node):
        parts = [as_array(lo, item, node) for item in items]
        types = [elementwise.element_type(part) for part in parts]
        weak = [
            numbers.scalar_type(item.operand) if isinstance(item, Num) else ty
            for item, ty in zip(items, types, strict=True)
        ]
        found = dtype or (numbers.array_type(weak).dtype if parts else "f64")
        inner = dims_of(lo, parts[0]) if parts else ()
        for part in parts[1:]:
            own = dims_of(lo, part)
            text = "setting an array element with a sequence. The requested array has an "
            text += "inhomogeneous shape"
            if len(own) != len(inner):
                raise TypeMismatchError(text, lo.span(node))
            for a, b in zip(own, inner, strict=True):
                elementwise.require_same(lo, a, b, text, [], node)
        dims = (integer(len(parts)), *inner)
        check_rank(lo, len(dims), node)
        version = lo.builder.apply("empty", *dims, params=(found,), hint="a")
        ref = lo.new_array(version, dims, "a")
        for k, (item, part) in enumerate(zip(items, parts, strict=True)):
            row = elementwise.load(lo, ref, [integer(k)], node) if inner else views.through(
                lo, ref, Window((), (Axis(integer(k), ()),))
            )  # fmt: skip
            assert isinstance(row, ArrayRef)
            # Python's numbers have to fit where those of NumPy are converted.
            elementwise.assign_to(lo, row, item if isinstance(item, Num) else part, node)
    return ref


def check_rank(lo: Lowerer, rank: int, node: ast.AST) -> None:
    if rank > MAX_RANK:
        raise lo.unsupported(f"an array of rank {rank}", node, f"use rank 1 to {MAX_RANK}")


def created(
    lo: Lowerer, dtype: str, dims: list[Operand], value: Operand | None, name: str = "a"
) -> Value:
    if value is None:
        return lo.builder.apply("empty", *dims, params=(dtype,), hint=name)
    return lo.builder.apply("full", value, *dims, params=(dtype,), hint=name)


def shape_argument(lo: Lowerer, binding: Binding, node: ast.AST) -> list[Operand]:
    """Return the sizes that a shape argument asks for, checked not to be negative."""
    found = arguments.sequence(lo, binding)
    items = found if found is not None else (binding,)
    dims: list[Operand] = []
    for item in items:
        item = elementwise.value_of(lo, item, node)
        if not isinstance(item, Num) or item.operand.type.kind not in "iu":
            raise TypeMismatchError(f"a size must be an integer, not {kind_of(item)}",
                                    lo.span(node))  # fmt: skip
        dims.append(checked_size(lo, numbers.to_int(lo, item.operand)))
    check_rank(lo, len(dims), node)
    return dims


def checked_size(lo: Lowerer, size: Operand) -> Operand:
    """Return a size, checked not to be negative."""
    if not lo.sizes.is_size(size):
        ok = numbers.apply(lo, "ge", size, integer(0))
        numbers.check(lo, ok, "ValueError", "negative dimensions are not allowed")
        lo.sizes.exists(size)
    return size


def dtype_argument(lo: Lowerer, binding: Binding | None, node: ast.AST) -> str | None:
    """Return the dtype that an argument names, or None if there is none."""
    if binding is None or (isinstance(binding, Static) and binding.value is None):
        return None
    value: Any = binding.value if isinstance(binding, Static) else object()
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise TypeMismatchError(f"{kind_of(binding)} is not a dtype", lo.span(node)) from None
    if dtype not in NAMES:
        raise lo.unsupported(f"dtype {dtype}", node, f"use one of {', '.join(map(str, NAMES))}")
    return NAMES[dtype]


def create(
    lo: Lowerer, kind: str, args: Sequence[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.zeros`` and similar functions, ``…_like`` included."""
    like = kind.endswith("_like")
    names = {
        "zeros": ["shape", "dtype", "order"], "ones": ["shape", "dtype", "order"],
        "empty": ["shape", "dtype", "order"], "full": ["shape", "fill_value", "dtype", "order"],
        "zeros_like": ["a", "dtype", "order", "subok", "shape"],
        "ones_like": ["a", "dtype", "order", "subok", "shape"],
        "empty_like": ["prototype", "dtype", "order", "subok", "shape"],
        "full_like": ["a", "fill_value", "dtype", "order", "subok", "shape"],
    }[kind]  # fmt: skip
    given = arguments.by_name(lo, f"np.{kind}", names, args, kwargs, node)
    given.pop("order", None)
    given.pop("subok", None)
    if set(given) - set(names):
        raise lo.unsupported(f"`np.{kind}` with these arguments", node)
    optional = ("dtype", "order", "subok", *(("shape",) if like else ()))
    missing = [name for name in names if name not in given and name not in optional]
    if missing:
        raise TypeMismatchError(f"`np.{kind}` needs {missing[0]!r}", lo.span(node))
    dtype = dtype_argument(lo, given.get("dtype"), node)
    with lo.at(node):
        if like:
            source = as_array(lo, given[names[0]], node)
            dims = list(dims_of(lo, source))
            dtype = dtype or elementwise.element_type(source).dtype
            if not arguments.is_none(given.get("shape")):
                dims = shape_argument(lo, given["shape"], node)
        else:
            dims = shape_argument(lo, given["shape"], node)
        value: Operand | None = None
        if kind.startswith("full"):
            filler = elementwise.value_of(lo, given["fill_value"], node)
            if is_array(filler):
                assert isinstance(filler, ArrayRef | Lazy)
                empty = created(lo, dtype or elementwise.element_type(filler).dtype, dims, None)
                ref = lo.new_array(empty, tuple(dims), "a")
                elementwise.assign_to(lo, ref, filler, node)
                return ref
            value = elementwise.number(lo, filler, node, f"`np.{kind}`")
            if dtype is None:
                ty = numbers.scalar_type(value)
                dtype = ty.dtype
        dtype = dtype or "f64"
        element = Scalar(dtype)
        if kind.startswith("full"):
            assert value is not None
            value = numbers.stored(lo, value, element, node)
        elif not kind.startswith("empty"):
            one = kind.startswith("ones")
            value = (
                lo.convert(Literal(1.0 if one else 0.0, FLOAT), element)
                if element.kind in "fc"
                else Literal(bool(one) if element.kind == "b" else int(one), element)
            )
        if not dims:
            first = value if value is not None else numbers.zero_of(element)
            return elementwise.boxed(lo, lo.exact(first, element), dtype)
        return lo.new_array(created(lo, dtype, dims, value), tuple(dims), "a")
