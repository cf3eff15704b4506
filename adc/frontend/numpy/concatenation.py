"""NumPy's functions that concatenate arrays, and that split one into views."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Cell,
    Growing,
    ListRef,
    TupleOf,
    Window,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import indexing, reductions
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import lazy
from adc.frontend.values.growing import list_buffers
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, INT

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


def parts_of(
    lo: Lowerer, binding: Binding, node: ast.AST, verb: str = "concatenate"
) -> list[Arraylike] | Arraylike:
    """Return the arrays to join; if their number is known only at run time, one array of them."""
    items = arguments.sequence(lo, binding)
    if items is not None:
        return [arrays.as_array(lo, item, node) for item in items]
    held = lo.held(binding) if isinstance(binding, ListRef) else None
    if isinstance(held, Growing) and isinstance(held.element, Cell):
        return list_buffers.array_of(lo, held, node, f"need at least one array to {verb}")
    x = arrays.as_array(lo, binding, node)
    if not dims_of(lo, x):
        raise TypeMismatchError(f"{kind_of(binding)} is no sequence of arrays", lo.span(node))
    size = dims_of(lo, x)[0]
    if not isinstance(size, Literal):
        with lo.at(node):
            some = numbers.apply(lo, "gt", size, integer(0))
            numbers.check(lo, some, "ValueError", f"need at least one array to {verb}")
        return x
    loads = (elementwise.load(lo, x, [integer(k)], node) for k in range(int(size.value)))
    return [arrays.as_array(lo, part, node) for part in loads]


def _joined(
    lo: Lowerer, binding: Binding, node: ast.AST, axis: Callable[[int], int],
    new: Callable[[int], Sequence[int]] = lambda rank: (), dtype: str | None = None,
    verb: str = "concatenate",
) -> ArrayRef:  # fmt: skip
    """Join arrays along `axis` of their rank, after they got the axes that `new` says."""
    parts = parts_of(lo, binding, node, verb)
    if isinstance(parts, list):
        if not parts:
            raise TypeMismatchError(f"need at least one array to {verb}", lo.span(node))
        parts = [views.with_new_axes(lo, p, new(len(dims_of(lo, p)))) for p in parts]
        return concatenated(lo, parts, axis(len(dims_of(lo, parts[0]))), node, dtype)
    rank = len(dims_of(lo, parts)) - 1
    x = views.with_new_axes(lo, parts, [k + 1 for k in new(rank)])
    return _run_together(lo, x, axis(len(dims_of(lo, x)) - 1), node, dtype)


def _run_together(
    lo: Lowerer, x: Arraylike, axis: int, node: ast.AST, dtype: str | None
) -> ArrayRef:
    """Join the arrays along the first axis of `x`."""
    rank = len(dims_of(lo, x))
    with lo.at(node):
        x = views.permuted(lo, x, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
        own = dims_of(lo, x)
        size = lo.sizes.counts(views.times(lo, own[axis], own[axis + 1]))
        dims = (*own[:axis], size, *own[axis + 2 :])
        found = dtype or elementwise.element_type(x).dtype
        version = lo.builder.apply("empty", *dims, params=(found,), hint="a")
        ref = lo.new_array(version, dims, "a")
        one = integer(1)
        axes = tuple(
            Axis(integer(0), ((k, own[axis + 1]), (k + 1, one)) if k == axis else ((at, one),))
            for k, at in ((k, k if k <= axis else k + 1) for k in range(rank - 1))
        )
        target = views.through(lo, ref, Window(tuple(own), axes))
        assert isinstance(target, ArrayRef)
        elementwise.assign_to(lo, target, x, node)
    return ref


def concatenated(
    lo: Lowerer, parts: Sequence[Arraylike], axis: int, node: ast.AST, dtype: str | None = None
) -> ArrayRef:
    """Lower `np.concatenate`: one new array, filled part by part."""
    if not parts:
        raise TypeMismatchError("need at least one array to concatenate", lo.span(node))
    rank = len(dims_of(lo, parts[0]))
    text = "all the input array dimensions except for the concatenation axis must match exactly"
    total: Operand = integer(0)
    offsets: list[Operand] = []
    inner = list(dims_of(lo, parts[0]))
    for part in parts:
        dims = dims_of(lo, part)
        if len(dims) != rank:
            raise TypeMismatchError(
                "all the input arrays must have same number of dimensions", lo.span(node)
            )
        for k, (a, b) in enumerate(zip(inner, dims, strict=True)):
            if k != axis:
                elementwise.require_same(lo, a, b, text, [], node)
        offsets.append(total)
        total = numbers.plus(lo, total, dims[axis])
    lo.sizes.counts(total)
    found = dtype or numbers.array_type([elementwise.element_type(p) for p in parts]).dtype
    dims = tuple(total if k == axis else size for k, size in enumerate(inner))
    with lo.at(node):
        version = lo.builder.apply("empty", *dims, params=(found,), hint="a")
        ref = lo.new_array(version, dims, "a")
        for part, offset in zip(parts, offsets, strict=True):
            axes = views.whole(dims)
            axes[axis] = Axis(offset, ((axis, integer(1)),))
            target = views.through(lo, ref, Window(dims_of(lo, part), tuple(axes)))
            assert isinstance(target, ArrayRef)
            elementwise.assign_to(lo, target, part, node)
    return ref


@numpy_function("arrays axis? out? dtype? * casting?", "concatenate", "concat")
def _concatenate(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    axis = given.get("axis", lo.num(0))
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)

    def along(rank: int) -> int:
        if not rank:
            raise TypeMismatchError("zero-dimensional arrays cannot be concatenated", lo.span(node))
        return arguments.axis(lo, axis, rank, node)

    if arguments.is_none(axis):
        parts = parts_of(lo, given["arrays"], node)
        parts = parts if isinstance(parts, list) else [parts]
        flat = [
            views.reshaped(lo, lazy(lo, p, node), [views.size_of(lo, dims_of(lo, p))])
            for p in parts
        ]
        result = concatenated(lo, flat, 0, node, dtype)
    else:
        result = _joined(lo, given["arrays"], node, along, dtype=dtype)
    return reductions.finish_out(lo, result, given.get("out"), node)


@numpy_function("arrays axis? out? * dtype? casting?", "stack")
def _stack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    parts = arguments.sequence(lo, given["arrays"])
    shapes = [dims_of(lo, arrays.as_array(lo, part, node)) for part in parts or ()]
    for dims in shapes[1:]:
        for a, b in zip(dims, shapes[0], strict=False):
            elementwise.require_same(
                lo, a, b, "all input arrays must have the same shape", [], node
            )
        if len(dims) != len(shapes[0]):
            raise TypeMismatchError("all input arrays must have the same shape", lo.span(node))

    def new(rank: int) -> list[int]:
        return [arguments.axis(lo, given.get("axis", lo.num(0)), rank + 1, node)]

    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    result = _joined(lo, given["arrays"], node, lambda rank: new(rank - 1)[0], new, dtype, "stack")
    return reductions.finish_out(lo, result, given.get("out"), node)


def _missing(rank: int) -> Callable[[int], range]:
    """Return the leading axes that arrays of a lower rank get."""
    return lambda own: range(max(rank - own, 0))


@numpy_function("arrays")
def _vstack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _joined(lo, given["arrays"], node, lambda rank: 0, _missing(2))


@numpy_function("arrays")
def _hstack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _joined(lo, given["arrays"], node, lambda rank: int(rank > 1), _missing(1))


@numpy_function("arrays")
def _dstack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    added = {0: [0, 1, 2], 1: [0, 2], 2: [2]}
    return _joined(lo, given["arrays"], node, lambda rank: 2, lambda own: added.get(own, []))


@numpy_function("arrays")
def _column_stack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    added = {0: [0, 1], 1: [1]}
    return _joined(lo, given["arrays"], node, lambda rank: 1, lambda own: added.get(own, []))


def _split_into(equal: bool) -> Any:
    def handler(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
        x = elementwise.base_of(lo, arrays.as_array(lo, given["a"], node), node)
        return split(lo, x, given["sections"], given.get("axis", lo.num(0)), equal, node)

    return handler


def split(
    lo: Lowerer, x: ArrayRef, sections: Binding, axis: Binding, equal: bool, node: ast.AST
) -> Binding:
    """Lower `np.split` and `np.array_split`: a list of views."""
    dims = dims_of(lo, x)
    along = arguments.axis(lo, axis, len(dims), node)
    size = dims[along]
    items = arguments.sequence(lo, sections)
    pieces: list[Binding] = []
    if items is not None:
        cuts: list[Operand | None] = [arguments.integer(lo, item, node) for item in items]
        for start, stop in zip([None, *cuts], [*cuts, None], strict=True):
            pieces.append(piece(lo, x, along, start, stop, node))
        return lo.new_ref(ListRef, TupleOf(tuple(pieces)))
    count = arguments.constant_int(lo, sections, node, "the number of sections")
    if count <= 0:
        raise TypeMismatchError("number sections must be larger than 0.", lo.span(node))
    with lo.at(node):
        if isinstance(size, Literal):
            each, extra = divmod(int(size.value), count)
            if equal and extra:
                numbers.check(
                    lo, Literal(False, BOOL), "ValueError",
                    "array split does not result in an equal division",
                )  # fmt: skip
            lengths: list[Operand] = [integer(each + (k < extra)) for k in range(count)]
        else:
            quotient = lo.sizes.counts(lo.builder.apply("floordiv", size, integer(count), hint="n"))
            rest = lo.sizes.counts(lo.builder.apply("mod", size, integer(count), hint="n"))
            if equal:
                ok = numbers.apply(lo, "eq", rest, integer(0))
                numbers.check(
                    lo, ok, "ValueError", "array split does not result in an equal division"
                )
                lengths = [quotient] * count
            else:
                lengths = []
                for k in range(count):
                    more = lo.convert(numbers.apply(lo, "lt", integer(k), rest), INT)
                    lengths.append(
                        lo.sizes.counts(lo.builder.apply("add", quotient, more, hint="n"))
                    )
        offset: Operand = integer(0)
        for length in lengths:
            axes = views.whole(dims)
            axes[along] = Axis(offset, ((along, integer(1)),))
            shape = tuple(length if k == along else d for k, d in enumerate(dims))
            pieces.append(views.through(lo, x, Window(shape, tuple(axes))))
            offset = numbers.plus(lo, offset, length)
    return lo.new_ref(ListRef, TupleOf(tuple(pieces)))


def piece(
    lo: Lowerer, x: ArrayRef, axis: int, start: Operand | None, stop: Operand | None, node: ast.AST
) -> Binding:
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    items.append(indexing.Item(indexing.Slice(start, stop, None, node), node))
    return indexing.window(lo, x, items, node)


numpy_function("a sections axis?", "split")(_split_into(True))
numpy_function("a sections axis?", "array_split")(_split_into(False))


def _split_along(name: str, axis: int, least: int) -> Any:
    def handler(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
        x = elementwise.base_of(lo, arrays.as_array(lo, given["a"], node), node)
        if len(dims_of(lo, x)) < least:
            what = f"{name} only works on arrays of {least} or more dimensions"
            raise TypeMismatchError(what, lo.span(node))
        return split(lo, x, given["sections"], lo.num(axis), True, node)

    return handler


numpy_function("a sections", "vsplit")(_split_along("vsplit", 0, 2))
numpy_function("a sections", "dsplit")(_split_along("dsplit", 2, 3))


@numpy_function("a * axis?")
def _unstack(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = elementwise.base_of(lo, arrays.as_array(lo, given["a"], node), node)
    rank = len(dims_of(lo, x))
    axis = arguments.axis(lo, given.get("axis", lo.num(0)), rank, node)
    found = views.permuted(lo, x, [axis, *(k for k in range(rank) if k != axis)])
    size = dims_of(lo, found)[0]
    if not isinstance(size, Literal):
        raise lo.unsupported(
            "`np.unstack` along an axis whose size is known only at run time", node,
            "loop over the array",
        )  # fmt: skip
    with lo.at(node):
        parts = [elementwise.load(lo, found, [integer(k)], node) for k in range(int(size.value))]
    return TupleOf(tuple(parts))


@numpy_function("a sections")
def _hsplit(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = elementwise.base_of(lo, arrays.as_array(lo, given["a"], node), node)
    axis = lo.num(1 if len(dims_of(lo, x)) > 1 else 0)
    return split(lo, x, given["sections"], axis, True, node)
