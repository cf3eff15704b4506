"""NumPy's functions that arrange elements: views where NumPy gives views, expressions elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adc.frontend import (
    arguments,
    arrays,
    elementwise,
    growing,
    indexing,
    numbers,
    operators,
    products,
    reductions,
    views,
)
from adc.frontend.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Growing,
    Lazy,
    ListRef,
    Num,
    Static,
    TupleOf,
    Window,
    shares,
)
from adc.frontend.elementwise import lazy, lift
from adc.frontend.lower import Lowerer
from adc.frontend.views import Arraylike, dims_of, is_one
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import B1, BOOL, F64, FLOAT, I64, INT, Scalar

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]
Given = dict[str, Binding]
_HANDLERS: dict[str, Handler] = {}


def numpy_function(spec: str, *names: str) -> Callable[[Any], Any]:
    """Enter a handler of matched arguments under the names of NumPy's functions."""

    def enter(handler: Callable[[Lowerer, Given, ast.Call], Binding]) -> Any:
        def run(
            lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
        ) -> Binding:
            return handler(lo, arguments.match(lo, spec, args, kwargs, node), node)

        for name in names or (handler.__name__.strip("_"),):
            _HANDLERS[name] = run
        return handler

    return enter


def _array(lo: Lowerer, binding: Binding, node: ast.AST) -> Arraylike:
    return arrays.as_array(lo, binding, node)


def _int(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return an integer argument as a Python integer."""
    operand = numbers.number(lo, binding, node)
    if operand.type.kind == "f":
        raise TypeMismatchError("an integer is needed here", lo.span(node))
    return lo.convert(numbers.to_int(lo, operand), INT)


# -- views -----------------------------------------------------------------------------------------


@numpy_function("a axes?", "transpose", "permute_dims")
def _transpose(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    if arguments.is_none(given.get("axes")):
        order = list(range(rank))[::-1]
    else:
        order = arguments.axes(lo, given["axes"], rank, node)
        if len(order) != rank:
            raise TypeMismatchError("axes don't match array", lo.span(node))
    return views.permuted(lo, x, order)


@numpy_function("a axis1 axis2")
def _swapaxes(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    order = list(range(len(dims_of(lo, x))))
    i = arguments.axis(lo, given["axis1"], len(order), node)
    j = arguments.axis(lo, given["axis2"], len(order), node)
    order[i], order[j] = order[j], order[i]
    return views.permuted(lo, x, order)


@numpy_function("a source destination")
def _moveaxis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    source = arguments.axes(lo, given["source"], rank, node)
    target = arguments.axes(lo, given["destination"], rank, node)
    if len(source) != len(target):
        raise TypeMismatchError(
            "`source` and `destination` arguments must have the same number of elements",
            lo.span(node),
        )
    order = [k for k in range(rank) if k not in source]
    for to, axis in sorted(zip(target, source, strict=True)):
        order.insert(to, axis)
    return views.permuted(lo, x, order)


@numpy_function("a axis start?")
def _rollaxis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    axis = arguments.axis(lo, given["axis"], rank, node)
    start = arguments.constant_int(lo, given.get("start", lo.num(0)), node, "`start`")
    start = start + rank if start < 0 else start
    order = [k for k in range(rank) if k != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return views.permuted(lo, x, order)


@numpy_function("a axis")
def _expand_dims(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    items = arguments.sequence(lo, given["axis"])
    rank = len(dims_of(lo, x)) + (len(items) if items is not None else 1)
    return views.with_new_axes(lo, x, arguments.axes(lo, given["axis"], rank, node))


@numpy_function("a axis?")
def _squeeze(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    dims = dims_of(lo, x)
    if arguments.is_none(given.get("axis")):
        if not all(isinstance(size, Literal) for size in dims):
            for size in dims:
                if lo.may_be_empty(size):
                    elementwise.require_same(
                        lo, size, integer(1), "adc: an empty slice is squeezed", [], node
                    )
            unknown = [
                size for size in dims if not isinstance(size, Literal) and not lo.is_one(size)
            ]
            # An axis whose size adc does not know at compile time is kept, which must be right.
            for size in unknown:
                numbers.check(
                    lo, numbers.apply(lo, "ne", size, integer(1)), "ValueError",
                    "adc: an axis of size 1 is squeezed, which is known only at run time; name it "
                    "with `axis`",
                )  # fmt: skip
        dropped = [k for k, size in enumerate(dims) if lo.is_one(size)]
    else:
        dropped = arguments.axes(lo, given["axis"], len(dims), node)
        for k in dropped:
            text = "cannot select an axis to squeeze out which has size not equal to one"
            elementwise.require_same(lo, dims[k], integer(1), text, [], node)
    return views.without_axes(lo, x, dropped)


@numpy_function("a shape subok?")
def _broadcast_to(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    own, dims = dims_of(lo, x), arrays.shape_argument(lo, given["shape"], node)
    if len(own) > len(dims):
        raise TypeMismatchError(
            "input operand has more dimensions than allowed by the axis remapping", lo.span(node)
        )
    text = "operands could not be broadcast together with remapped shapes"
    for size, wanted in zip(own, dims[len(dims) - len(own) :], strict=True):
        if lo.is_single(size, wanted):
            elementwise.require_one(lo, size, text, [], node)
        elif not lo.is_one(size):
            elementwise.require_equal(lo, size, wanted, text, [], node)
    # A view: what is later written to the array is seen.
    return views.broadcast(lo, x, dims)


@numpy_function("a", "atleast_1d")
def _atleast_1d(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    return views.with_new_axes(lo, x, [0]) if not dims_of(lo, x) else x


@numpy_function("a", "atleast_2d")
def _atleast_2d(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    return views.with_new_axes(lo, x, range(2 - min(2, len(dims_of(lo, x)))))


def reshape(lo: Lowerer, x: Arraylike, shape: Binding, node: ast.AST) -> Arraylike:
    """Lower a reshape: a view where NumPy surely gives one."""
    items = arguments.sequence(lo, shape)
    wanted = [_int(lo, item, node) for item in (items if items is not None else [shape])]
    dims = dims_of(lo, x)
    size = views.size_of(lo, dims)
    open_ = [k for k, w in enumerate(wanted) if isinstance(w, Literal) and w.value == -1]
    if len(open_) > 1:
        raise TypeMismatchError("can only specify one unknown dimension", lo.span(node))
    texts = ",".join(["{}"] * len(wanted)) + ("," if len(wanted) == 1 else "")
    message = f"cannot reshape array of size {{}} into shape ({texts})"
    with lo.at(node):
        if open_:
            rest = views.size_of(lo, [w for k, w in enumerate(wanted) if k not in open_])
            wanted[open_[0]] = _shared(lo, size, rest, dims, message, [size, *wanted], node)
        else:
            _check_same_count(lo, dims, wanted, size, message, node)
    arrays.check_rank(lo, len(wanted), node)
    return reshaped(lo, x, wanted, node)


def _shared(
    lo: Lowerer, size: Operand, rest: Operand, dims: Sequence[Operand], message: str,
    args: list[Operand], node: ast.AST,
) -> Operand:  # fmt: skip
    """Return ``size / rest``, which must be whole."""
    if isinstance(rest, Literal) and rest.value == 1:
        return size
    if len(dims) > 1 and lo.same_size(dims[-1], rest):
        return views.size_of(lo, dims[:-1])
    if isinstance(size, Literal) and isinstance(rest, Literal) and rest.value:
        if int(size.value) % int(rest.value) == 0:
            return integer(int(size.value) // int(rest.value))
    safe = lo.builder.apply("maximum", rest, integer(1))
    whole = numbers.apply(lo, "eq", lo.builder.apply("mod", size, safe), integer(0))
    positive = numbers.apply(lo, "gt", rest, integer(0))
    numbers.check(lo, numbers.apply(lo, "and", whole, positive), "ValueError", message, *args)
    return lo.counts(lo.builder.apply("floordiv", size, safe, hint="n"))


def _check_same_count(
    lo: Lowerer, dims: Sequence[Operand], wanted: list[Operand], size: Operand, message: str,
    node: ast.AST,
) -> None:  # fmt: skip
    for w in wanted:
        if not any(lo.same_size(w, d) for d in dims):
            at_least = numbers.apply(lo, "ge", w, integer(0))
            numbers.check(lo, at_least, "ValueError", message, size, *wanted)
    count = views.size_of(lo, wanted)
    if not lo.same_size(count, size):
        same = numbers.apply(lo, "eq", count, size)
        numbers.check(lo, same, "ValueError", message, size, *wanted)
        lo.unify_sizes(count, size)


def reshaped(lo: Lowerer, x: Arraylike, dims: Sequence[Operand], node: ast.AST) -> Arraylike:
    """Return `x` under other sizes; a copy where NumPy may have to copy."""
    own = dims_of(lo, x)
    if len(own) == len(dims) and all(lo.same_size(a, b) for a, b in zip(own, dims, strict=True)):
        return x
    if isinstance(x, Lazy) or views.is_contiguous(lo, x):
        return views.reshaped(lo, x, dims)
    copied = arrays.copy(lo, x, node)
    if not _surely_copied(lo, x):
        # NumPy shares memory if the strides allow it: who writes to one may not read the other.
        shares(copied.object, x.object)
    return views.reshaped(lo, copied, dims)


def _surely_copied(lo: Lowerer, x: ArrayRef) -> bool:
    return False


@numpy_function("a shape order?")
def _reshape(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    _only_c(lo, given, node)
    return reshape(lo, _array(lo, given["a"], node), given["shape"], node)


def _only_c(lo: Lowerer, given: Given, node: ast.AST) -> None:
    order = arguments.text(lo, given.get("order"), "C", node, "`order`")
    if order not in ("C", "A", "K"):
        raise lo.unsupported(f"order={order!r}", node, "transpose instead")


@numpy_function("a order?")
def _ravel(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    _only_c(lo, given, node)
    x = _array(lo, given["a"], node)
    return reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)


@numpy_function("a order?")
def _flatten(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    _only_c(lo, given, node)
    x = lazy(lo, _array(lo, given["a"], node), node)
    return views.reshaped(lo, x, [views.size_of(lo, x.dims)])


@numpy_function("a offset? axis1? axis2?")
def _diagonal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return products.diagonal(lo, _array(lo, given["a"], node), given, node)


@numpy_function("a axis?")
def _flip(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    chosen = arguments.axes(lo, given.get("axis"), len(dims_of(lo, x)), node)
    return views.flipped(lo, x, chosen)


@numpy_function("a")
def _flipud(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return views.flipped(lo, _array(lo, given["a"], node), [0])


@numpy_function("a")
def _fliplr(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return views.flipped(lo, _array(lo, given["a"], node), [1])


@numpy_function("a k? axes?")
def _rot90(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    turns = arguments.constant_int(lo, given.get("k", lo.num(1)), node, "`k`") % 4
    pair = given.get("axes", TupleOf((lo.num(0), lo.num(1))))
    i, j = arguments.axes(lo, pair, rank, node)
    order = list(range(rank))
    order[i], order[j] = order[j], order[i]
    if turns == 0:
        return x
    if turns == 2:
        return views.flipped(lo, x, [i, j])
    if turns == 1:
        return views.permuted(lo, views.flipped(lo, x, [j]), order)
    return views.flipped(lo, views.permuted(lo, x, order), [j])


# -- joining and splitting -------------------------------------------------------------------------


def _parts(
    lo: Lowerer, binding: Binding, node: ast.AST, verb: str = "concatenate"
) -> list[Arraylike] | Arraylike:
    """Return the arrays to join; if their number is known only at run time, one array of them."""
    items = arguments.sequence(lo, binding)
    if items is not None:
        return [_array(lo, item, node) for item in items]
    held = lo.held(binding) if isinstance(binding, ListRef) else None
    if isinstance(held, Growing):
        return growing.array_of(lo, held, node, f"need at least one array to {verb}")
    x = _array(lo, binding, node)
    size = dims_of(lo, x)[0]
    if not isinstance(size, Literal):
        with lo.at(node):
            some = numbers.apply(lo, "gt", size, integer(0))
            numbers.check(lo, some, "ValueError", f"need at least one array to {verb}")
        return x
    return [
        arrays.load(lo, x, [integer(k)], node)  # type: ignore[misc]
        for k in range(int(size.value))
    ]


def _joined(
    lo: Lowerer, binding: Binding, node: ast.AST, axis: Callable[[int], int],
    new: Callable[[int], Sequence[int]] = lambda rank: (), dtype: str | None = None,
    verb: str = "concatenate",
) -> ArrayRef:  # fmt: skip
    """Join arrays along `axis` of their rank, after they got the axes that `new` says."""
    parts = _parts(lo, binding, node, verb)
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
        size = lo.counts(views.times(lo, own[axis], own[axis + 1]))
        dims = (*own[:axis], size, *own[axis + 2 :])
        found = dtype or arrays.element_type(x).dtype
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
    lo.counts(total)
    found = dtype or numbers.array_type([arrays.element_type(p) for p in parts]).dtype
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
        parts = _parts(lo, given["arrays"], node)
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
    shapes = [dims_of(lo, _array(lo, part, node)) for part in parts or ()]
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
    """Return the axes that arrays of a lower rank get in front."""
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
        x = elementwise.base_of(lo, _array(lo, given["a"], node), node)
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
        cuts: list[Operand | None] = [_int(lo, item, node) for item in items]
        for start, stop in zip([None, *cuts], [*cuts, None], strict=True):
            pieces.append(_piece(lo, x, along, start, stop, node))
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
            quotient = lo.counts(lo.builder.apply("floordiv", size, integer(count), hint="n"))
            rest = lo.counts(lo.builder.apply("mod", size, integer(count), hint="n"))
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
                    lengths.append(lo.counts(lo.builder.apply("add", quotient, more, hint="n")))
        offset: Operand = integer(0)
        for length in lengths:
            axes = views.whole(dims)
            axes[along] = Axis(offset, ((along, integer(1)),))
            shape = tuple(length if k == along else d for k, d in enumerate(dims))
            pieces.append(views.through(lo, x, Window(shape, tuple(axes))))
            offset = numbers.plus(lo, offset, length)
    return lo.new_ref(ListRef, TupleOf(tuple(pieces)))


def _piece(
    lo: Lowerer, x: ArrayRef, axis: int, start: Operand | None, stop: Operand | None, node: ast.AST
) -> Binding:
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    items.append(indexing.Item(indexing.Slice(start, stop, None, node), node))
    return indexing.window(lo, x, items, node)


numpy_function("a sections axis?", "split")(_split_into(True))
numpy_function("a sections axis?", "array_split")(_split_into(False))


@numpy_function("a sections")
def _vsplit(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = elementwise.base_of(lo, _array(lo, given["a"], node), node)
    return split(lo, x, given["sections"], lo.num(0), True, node)


@numpy_function("a sections")
def _hsplit(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = elementwise.base_of(lo, _array(lo, given["a"], node), node)
    axis = lo.num(1 if len(dims_of(lo, x)) > 1 else 0)
    return split(lo, x, given["sections"], axis, True, node)


# -- repeating and moving --------------------------------------------------------------------------


def _reindexed(
    lo: Lowerer, x: Lazy, dims: Sequence[Operand],
    where: Callable[[Sequence[Operand]], list[Operand]], node: ast.AST,
) -> Lazy:  # fmt: skip
    """Return the expression whose elements are those of `x` at computed indices."""
    if x.cost > elementwise.CHEAP:
        x = lazy(lo, elementwise.base_of(lo, x, node), node)

    def element(index: Sequence[Operand]) -> Operand:
        return x.element(where(index))

    reads = tuple((obj, (*view, Window((), ())), version) for obj, view, version in x.reads)
    return replace(x, dims=tuple(dims), element=element, reads=reads, cost=x.cost + 2)


def _mod(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return lo.counts(lo.builder.apply("mod", a, b, hint="i"))


def _div(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return lo.counts(lo.builder.apply("floordiv", a, b, hint="i"))


@numpy_function("a reps")
def _tile(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, _array(lo, given["a"], node), node)
    items = arguments.sequence(lo, given["reps"])
    reps = [_int(lo, r, node) for r in (items if items is not None else [given["reps"]])]
    rank = max(len(reps), len(x.dims))
    reps = [*([integer(1)] * (rank - len(reps))), *reps]
    full = views.with_new_axes(lo, x, range(rank - len(x.dims)))
    assert isinstance(full, Lazy)
    dims = [views.times(lo, size, r) for size, r in zip(full.dims, reps, strict=True)]

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [
            integer(0) if is_one(size) else k if is_one(r) else _mod(lo, k, size)
            for k, size, r in zip(index, full.dims, reps, strict=True)
        ]

    return _reindexed(lo, full, dims, where, node)


@numpy_function("a repeats axis?")
def _repeat(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, _array(lo, given["a"], node), node)
    if arguments.is_none(given.get("axis")):
        flat = views.reshaped(lo, x, [views.size_of(lo, x.dims)])
        assert isinstance(flat, Lazy)
        x, axis = (flat if len(x.dims) != 1 else x), 0
    else:
        axis = arguments.axis(lo, given["axis"], len(x.dims), node)
    repeats = given["repeats"]
    if elementwise.is_array(repeats) or arguments.sequence(lo, repeats) is not None:
        index = _repeated(lo, lazy(lo, _array(lo, repeats, node), node), x.dims[axis], node)
        full = indexing.Item(indexing.Slice(None, None, None, node), node)
        return indexing.read(lo, x, [full] * axis + [indexing.Item(index, node)], node)
    count = _int(lo, repeats, node)
    dims = [views.times(lo, d, count) if k == axis else d for k, d in enumerate(x.dims)]

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [_div(lo, i, count) if k == axis else i for k, i in enumerate(index)]

    return _reindexed(lo, x, dims, where, node)


def _repeated(lo: Lowerer, counts: Lazy, size: Operand, node: ast.AST) -> ArrayRef:
    """Return every index as often as `counts` says."""
    if len(counts.dims) != 1 or counts.type.kind not in "iub":
        raise TypeMismatchError("the counts must be integers, one for each element", lo.span(node))
    counts = lazy(lo, elementwise.base_of(lo, counts, node), node)
    elementwise.require_same(
        lo, counts.dims[0], size, "operands could not be broadcast together", [], node
    )
    with lo.at(node):
        total = reductions.total(lo, counts, [0], False, node)
        assert isinstance(total, Num)
        length = lo.counts(lo.convert(total.operand, INT))
        empty = lo.builder.apply("empty", length, params=("i64",), hint="where")

        def each(index: list[Operand], carried: list[Value]) -> list[Operand]:
            count = lo.counts(lo.convert(counts.element(index), INT))
            numbers.check(
                lo, numbers.apply(lo, "ge", count, integer(0)), "ValueError",
                "repeats may not contain negative values.",
            )  # fmt: skip

            def one(_: list[Operand], now: list[Value]) -> list[Operand]:
                stored = lo.builder.store(now[0], [now[1]], lo.exact(index[0], I64), hint="where")
                return [stored, lo.counts(lo.builder.apply("add", now[1], integer(1), hint="n"))]

            return elementwise.nest(lo, [count], carried, ["where", "n"], one)

        found = elementwise.nest(lo, counts.dims, [empty, integer(0)], ["where", "n"], each)
    assert isinstance(found[0], Value)
    return lo.new_array(found[0], (length,), "where")


@numpy_function("a shift axis?")
def _roll(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, _array(lo, given["a"], node), node)
    if arguments.is_none(given.get("axis")):
        shape = x.dims
        flat = views.reshaped(lo, x, [views.size_of(lo, shape)])
        assert isinstance(flat, Lazy)
        rolled = _rolled(
            lo, flat if len(shape) != 1 else x, {0: _int(lo, given["shift"], node)}, node
        )
        back = views.reshaped(lo, rolled, shape)
        return rolled if len(shape) == 1 else back
    axes = arguments.axes(lo, given["axis"], len(x.dims), node)
    items = arguments.sequence(lo, given["shift"])
    shifts = [_int(lo, i, node) for i in (items if items is not None else [given["shift"]])]
    if len(shifts) == 1:
        shifts *= len(axes)
    return _rolled(lo, x, dict(zip(axes, shifts, strict=True)), node)


def _rolled(lo: Lowerer, x: Lazy, shifts: dict[int, Operand], node: ast.AST) -> Lazy:
    starts: dict[int, Operand] = {}
    with lo.at(node):
        for k, shift in shifts.items():
            # Where the first element of the result comes from, within the axis.
            size = lo.builder.apply("maximum", x.dims[k], integer(1), hint="n")
            back = lo.builder.apply("neg", shift) if not isinstance(shift, Literal) else integer(
                -int(shift.value)
            )  # fmt: skip
            starts[k] = lo.counts(lo.builder.apply("mod", back, size, hint="i"))

    def where(index: Sequence[Operand]) -> list[Operand]:
        found: list[Operand] = []
        for k, i in enumerate(index):
            if k in starts:
                moved = lo.builder.apply("add", i, starts[k], hint="i")
                beyond = lo.builder.apply("ge", moved, x.dims[k])
                less = lo.builder.apply("sub", moved, x.dims[k], hint="i")
                i = lo.counts(lo.builder.apply("select", beyond, less, moved, hint="i"))
            found.append(i)
        return found

    return _reindexed(lo, x, x.dims, where, node)


@numpy_function("a n? axis?")
def _diff(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    times = arguments.constant_int(lo, given.get("n", lo.num(1)), node, "`n`")
    axis = arguments.axis(lo, given.get("axis", lo.num(-1)), len(dims_of(lo, x)), node)
    for _ in range(times):
        x = elementwise.base_of(lo, x, node)
        after = _piece(lo, x, axis, integer(1), None, node)
        before = _piece(lo, x, axis, None, integer(-1), node)
        op = ast.BitXor if arrays.element_type(x).kind == "b" else ast.Sub
        result = operators.binary(lo, op, after, before, node)
        assert isinstance(result, ArrayRef | Lazy)
        x = result
    return x


@numpy_function("a pad_width mode? * constant_values?")
def _pad(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, _array(lo, given["a"], node), node)
    mode = arguments.text(lo, given.get("mode"), "constant", node, "`mode`")
    widths = _pairs(lo, given["pad_width"], len(x.dims), node)
    known = ("constant", "edge", "reflect", "symmetric", "wrap")
    if mode not in known:
        raise lo.unsupported(f"`np.pad` with mode={mode!r}", node, f"use one of {known}")
    dims = [
        numbers.plus(lo, numbers.plus(lo, size, before), after)
        for size, (before, after) in zip(x.dims, widths, strict=True)
    ]
    if x.cost > elementwise.CHEAP:
        x = lazy(lo, elementwise.base_of(lo, x, node), node)
    if mode == "constant":
        return _padded(lo, x, dims, widths, given, node)

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [
            i if _is_int(before, 0) and _is_int(after, 0)
            else _reflected(lo, mode, numbers.minus(lo, i, before), size)
            for i, size, (before, after) in zip(index, x.dims, widths, strict=True)
        ]  # fmt: skip

    with lo.at(node):
        for size, (before, after) in zip(x.dims, widths, strict=True):
            most = numbers.plus(lo, size, integer(-1)) if mode == "reflect" else size
            if mode != "edge":
                for width in (before, after):
                    if not _is_int(width, 0):
                        numbers.check(
                            lo, numbers.apply(lo, "le", width, most), "ValueError",
                            f"adc: `np.pad` with mode={mode!r} wider than the array",
                        )  # fmt: skip
            elif not (_is_int(before, 0) and _is_int(after, 0)):
                numbers.check(
                    lo, numbers.apply(lo, "gt", size, integer(0)), "ValueError",
                    "can't extend empty axis 0 using modes other than 'constant' or 'empty'",
                )  # fmt: skip
    return _reindexed(lo, x, dims, where, node)


def _is_int(operand: Operand, value: int) -> bool:
    return isinstance(operand, Literal) and operand.value == value


def _reflected(lo: Lowerer, mode: str, i: Operand, size: Operand) -> Operand:
    """Return the index in the array that an index outside it stands for."""
    last = numbers.minus(lo, size, integer(1))
    if mode == "edge":
        low = lo.builder.apply("maximum", i, integer(0), hint="i")
        return lo.counts(lo.builder.apply("minimum", low, last, hint="i"))
    if mode == "wrap":
        return lo.counts(lo.builder.apply("mod", i, size, hint="i"))
    extra = integer(0 if mode == "reflect" else 1)
    below = lo.builder.apply("lt", i, integer(0))
    mirrored = numbers.minus(lo, lo.builder.apply("neg", i, hint="i"), extra)
    i = lo.builder.apply("select", below, mirrored, i, hint="i")
    above = lo.builder.apply("gt", i, last)
    twice = numbers.plus(lo, lo.builder.apply("mul", last, integer(2), hint="i"), extra)
    folded = lo.builder.apply("sub", twice, i, hint="i")
    return lo.counts(lo.builder.apply("select", above, folded, i, hint="i"))


def _pairs(
    lo: Lowerer, binding: Binding, rank: int, node: ast.AST
) -> list[tuple[Operand, Operand]]:
    """Return the widths before and after each axis, as `np.pad` reads them."""
    items = arguments.sequence(lo, binding)
    if items is None:
        width = _int(lo, binding, node)
        return [(width, width)] * rank
    nested = [arguments.sequence(lo, item) for item in items]
    found: list[tuple[Operand, Operand]] = []
    if all(inner is None for inner in nested):
        flat = [_int(lo, item, node) for item in items]
        pair = (flat[0], flat[-1])
        found = [pair] * rank
    else:
        for inner in nested:
            values = [_int(lo, item, node) for item in inner or ()]
            found.append((values[0], values[-1]))
        if len(found) == 1:
            found *= rank
    if len(found) != rank:
        raise TypeMismatchError("`pad_width` does not fit the array", lo.span(node))
    return found


def _padded(
    lo: Lowerer, x: Lazy, dims: Sequence[Operand],
    widths: Sequence[tuple[Operand, Operand]], given: Given, node: ast.AST,
) -> Binding:  # fmt: skip
    filler = given.get("constant_values", lo.num(0))
    value = numbers.number(lo, filler, node, "`constant_values`")
    with lo.at(node):
        value = numbers.stored(lo, value, x.type, node)
        version = arrays.created(lo, x.type.dtype, list(dims), value)
        ref = lo.new_array(version, tuple(dims), "a")
        axes = tuple(Axis(before, ((k, integer(1)),)) for k, (before, _) in enumerate(widths))
        target = views.through(lo, ref, Window(x.dims, axes))
        assert isinstance(target, ArrayRef)
        elementwise.assign_to(lo, target, x, node)
    return ref


# -- making arrays ---------------------------------------------------------------------------------


def _dtype(lo: Lowerer, given: Given, default: str, node: ast.AST) -> Scalar:
    return Scalar(arrays.dtype_argument(lo, given.get("dtype"), node) or default)


@numpy_function("a dtype? * copy? order?", "array", "asarray", "ascontiguousarray", "asanyarray")
def _as_array(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    name = getattr(node.func, "attr", "array")
    source = given["a"]
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    if isinstance(source, ArrayRef | Lazy):
        same = dtype is None or dtype == arrays.element_type(source).dtype
        copying = name == "array" and not (
            isinstance(given.get("copy"), Num | Static)
            and not arguments.flag(lo, given.get("copy"), node, "`copy`")
        )
        if same and isinstance(source, ArrayRef) and not copying:
            if name == "ascontiguousarray" and not views.is_contiguous(lo, source):
                return reshaped_copy(lo, source, node)
            return source
        if same:
            return arrays.copy(lo, source, node)
        return reductions.converted(lo, lazy(lo, source, node), Scalar(dtype or ""), node)
    items = arguments.sequence(lo, source)
    if items is None and isinstance(source, Num):
        ty = numbers.scalar_type(source.operand)
        return Num(lo.exact(numbers.stored(lo, source.operand, Scalar(dtype or ty.dtype), node),
                            Scalar(dtype or ty.dtype)))  # fmt: skip
    if items is not None and not items:
        version = arrays.created(lo, dtype or "f64", [integer(0)], None)
        return lo.new_array(version, (integer(0),), "a")
    found = _array(lo, source, node)
    if dtype is not None:
        return reductions.converted(lo, lazy(lo, found, node), Scalar(dtype), node)
    return found


def reshaped_copy(lo: Lowerer, x: ArrayRef, node: ast.AST) -> ArrayRef:
    """Return a copy that may or may not share memory in NumPy."""
    copied = arrays.copy(lo, x, node)
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
    operands = [numbers.number(lo, end, node) for end in ends if end is not None]
    ty = numbers.array_type([numbers.scalar_type(o) for o in operands])
    ty = I64 if ty.kind == "b" else ty
    wanted = _dtype(lo, given, ty.dtype, node)
    with lo.at(node):
        if ty.kind != "f":
            start, stop, step = (numbers.to_int(lo, o) for o in operands)
            if all(isinstance(o, Literal) for o in (start, stop, step)):
                values = range(*(int(o.value) for o in (start, stop, step)))  # type: ignore[union-attr]
                size: Operand = integer(len(values))
            elif _is_int(step, 1) and _is_int(start, 0):
                size = lo.counts(lo.builder.apply("maximum", stop, integer(0), hint="n"))
            else:
                nonzero = numbers.apply(lo, "ne", step, integer(0))
                numbers.check(lo, nonzero, "ValueError", "Maximum allowed size exceeded")
                size = lo.counts(lo.builder.apply("trips", start, stop, step, hint="n"))

            def element(index: Sequence[Operand]) -> Operand:
                k = numbers.plus(lo, start, views.times(lo, index[0], step))
                return numbers.stored(lo, lo.exact(k, I64), wanted, node)

            return Lazy((size,), wanted, element, (), 1)
        start, stop, step = (lo.convert(o, F64) for o in operands)
        span = numbers.apply(lo, "truediv", numbers.apply(lo, "sub", stop, start), step)
        count = numbers.apply(lo, "ceil", span)
        ok = numbers.apply(lo, "lt", numbers.apply(lo, "abs", count), Literal(2.0**40, F64))
        numbers.check(lo, ok, "ValueError", "Maximum allowed size exceeded")
        whole = lo.exact(lo.convert(count, I64), INT)
        size = (
            lo.counts(lo.builder.apply("maximum", whole, integer(0), hint="n"))
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
    count = _int(lo, given.get("num", lo.num(50)), node)
    endpoint = given.get("endpoint")
    closed = endpoint is None or arguments.flag(lo, endpoint, node, "`endpoint`")
    if arguments.flag(lo, given.get("retstep"), node, "`retstep`"):
        raise lo.unsupported("`retstep`", node)
    start, stop = (
        lo.exact(lo.convert(numbers.number(lo, given[name], node), F64), F64)
        for name in ("start", "stop")
    )
    wanted = _dtype(lo, given, "f64", node)
    with lo.at(node):
        ok = numbers.apply(lo, "ge", count, integer(0))
        text = "Number of samples, {}, must be non-negative."
        numbers.check(lo, ok, "ValueError", text, count)
        parts = numbers.plus(lo, count, integer(-1)) if closed else count
        many = lo.convert(lo.exact(parts, I64), F64)
        span = numbers.apply(lo, "sub", stop, start)
        positive = numbers.apply(lo, "gt", many, Literal(0.0, F64))
        safe = numbers.apply(lo, "maximum", many, Literal(1.0, F64))
        step = numbers.apply(lo, "truediv", span, safe)
        zero_step = numbers.apply(lo, "eq", step, Literal(0.0, F64))
        last = numbers.plus(lo, count, integer(-1))

        def element(index: Sequence[Operand]) -> Operand:
            k = lo.convert(lo.exact(index[0], I64), F64)
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
            return numbers.stored(lo, found, wanted, node)

        return Lazy((lo.counts(count),), wanted, element, (), 6)


@numpy_function("N M? k? dtype?", "eye")
def _eye(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    rows = _int(lo, given["N"], node)
    columns = rows if arguments.is_none(given.get("M")) else _int(lo, given["M"], node)
    k = _int(lo, given.get("k", lo.num(0)), node)
    ty = _dtype(lo, given, "f64", node)
    one, zero = (Literal({"f": float(v), "b": bool(v)}.get(ty.kind, v), ty) for v in (1, 0))

    def element(index: Sequence[Operand]) -> Operand:
        shifted = numbers.plus(lo, index[0], k)
        here = lo.builder.apply("eq", shifted, index[1])
        return lo.builder.apply("select", here, one, zero)

    return Lazy((lo.counts(rows), lo.counts(columns)), ty, element, (), 2)


@numpy_function("n dtype?")
def _identity(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    given = {"N": given["n"], **({"dtype": given["dtype"]} if "dtype" in given else {})}
    return _eye(lo, given, node)  # type: ignore[no-any-return]


def _triangle(lower: bool) -> Any:
    def handler(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
        x = lazy(lo, _array(lo, given["a"], node), node)
        k = _int(lo, given.get("k", lo.num(0)), node)
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
    rows = _int(lo, given["N"], node)
    columns = rows if arguments.is_none(given.get("M")) else _int(lo, given["M"], node)
    ty = _dtype(lo, given, "f64", node)
    one = Literal({"f": 1.0, "b": True}.get(ty.kind, 1), ty)
    ones = Lazy((lo.counts(rows), lo.counts(columns)), ty, lambda index: one)
    return _triangle(True)(lo, {"a": ones, "k": given.get("k", lo.num(0))}, node)  # type: ignore[no-any-return]


@numpy_function("v k?", "diag")
def _diag(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["v"], node)
    if len(dims_of(lo, x)) == 2:
        rest = {"offset": given["k"]} if "k" in given else {}
        found = products.diagonal(lo, x, rest, node)
        return arrays.copy(lo, found, node) if isinstance(found, ArrayRef) and False else found
    if len(dims_of(lo, x)) != 1:
        raise TypeMismatchError("Input must be 1- or 2-d.", lo.span(node))
    k = arguments.constant_int(lo, given.get("k", lo.num(0)), node, "`k`")
    source = lazy(lo, x, node)
    size = numbers.plus(lo, source.dims[0], integer(abs(k)))
    lo.counts(size)
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


@numpy_function("a b? c? d? * indexing?", "meshgrid")
def _meshgrid(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    order = arguments.text(lo, given.get("indexing"), "xy", node, "`indexing`")
    parts = [lazy(lo, _array(lo, given[n], node), node) for n in "abcd" if n in given]
    parts = [p if p.dims else views.with_new_axes(lo, p, [0]) for p in parts]  # type: ignore[misc]
    position = list(range(len(parts)))
    if order == "xy" and len(parts) > 1:
        position[0], position[1] = 1, 0
    dims: list[Operand] = [integer(1)] * len(parts)
    for part, at in zip(parts, position, strict=True):
        dims[at] = part.dims[0]
    made: list[Binding] = []
    for part, at in zip(parts, position, strict=True):
        axes = (Axis(integer(0), ((at, integer(1)),)),)
        found = views.through(lo, part, Window(tuple(dims), axes))
        made.append(elementwise.base_of(lo, lazy(lo, found, node), node))
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


@numpy_function("N increasing?", "vander")
def _vander(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    raise lo.unsupported("`np.vander`", node, "write `x[:, None] ** np.arange(n)`")


# -- searching and choosing ------------------------------------------------------------------------


@numpy_function("a")
def _nonzero(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = reductions.truths(lo, lazy(lo, _array(lo, given["a"], node), node), node)
    return TupleOf(tuple(indexing.nonzero(lo, source, node)))


@numpy_function("a")
def _flatnonzero(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, _array(lo, given["a"], node), node)
    flat = views.reshaped(lo, x, [views.size_of(lo, x.dims)]) if len(x.dims) != 1 else x
    assert isinstance(flat, Lazy)
    return indexing.nonzero(lo, reductions.truths(lo, flat, node), node)[0]


@numpy_function("a")
def _argwhere(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = reductions.truths(lo, lazy(lo, _array(lo, given["a"], node), node), node)
    found = indexing.nonzero(lo, source, node)
    columns = [views.with_new_axes(lo, part, [1]) for part in found]
    return concatenated(lo, columns, 1, node)


def _ix(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `np.ix_`: indices that broadcast to a grid."""
    found: list[Binding] = []
    for k, arg in enumerate(args):
        x = _array(lo, arg, node)
        if len(dims_of(lo, x)) != 1 or kwargs:
            raise TypeMismatchError("Cross index must be 1 dimensional", lo.span(node))
        if arrays.element_type(x).kind == "b":
            x = indexing.nonzero(lo, lazy(lo, x, node), node)[0]
        others = [j for j in range(len(args)) if j != k]
        found.append(elementwise.base_of(lo, views.with_new_axes(lo, x, others), node))
    return TupleOf(tuple(found))


_HANDLERS["ix_"] = _ix


@numpy_function("cond x? y?", "where")
def _where(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if "x" not in given:
        return _nonzero(lo, {"a": given["cond"]}, node)  # type: ignore[no-any-return]
    parts = [arrays.as_operand(lo, given[n], node) for n in ("cond", "x", "y")]

    def compute(items: list[Binding]) -> Binding:
        from adc.frontend import library

        return library.choose(lo, items, node)

    return lift(lo, parts, compute, node)


@numpy_function("condlist choicelist default?", "select")
def _select(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    found = _parts(lo, given["condlist"], node)
    conditions = found if isinstance(found, list) else []
    choices = arguments.sequence(lo, given["choicelist"])
    if choices is None or len(choices) != len(conditions):
        raise TypeMismatchError(
            "list of cases must be same length as list of conditions", lo.span(node)
        )
    result: Binding = given.get("default", lo.num(0))
    for cond, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = _where(lo, {"cond": cond, "x": choice, "y": result}, node)
    return result


@numpy_function("a indices axis? * mode?", "take")
def _take(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    mode = arguments.text(lo, given.get("mode"), "raise", node, "`mode`")
    if mode not in ("raise", "wrap", "clip"):
        raise TypeMismatchError(f"mode {mode!r}", lo.span(node))
    if arguments.is_none(given.get("axis")):
        x = reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)
        axis = 0
    else:
        axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    index = arrays.as_operand(lo, given["indices"], node)
    if mode != "raise":
        size = dims_of(lo, x)[axis]

        def inside(parts: list[Binding]) -> Binding:
            k = _int(lo, parts[0], node)
            if mode == "wrap":
                return Num(lo.exact(_mod(lo, k, size), I64))
            last = numbers.plus(lo, size, integer(-1))
            k = lo.builder.apply("maximum", k, integer(0))
            return Num(lo.exact(lo.builder.apply("minimum", k, last), I64))

        index = lift(lo, [index], inside, node)
    return indexing.read(lo, x, [*items, indexing.Item(index, node)], node)


@numpy_function("condition a axis?", "compress")
def _compress(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    if arguments.is_none(given.get("axis")):
        x = reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)
        axis = 0
    else:
        axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    cond = reductions.truths(lo, lazy(lo, _array(lo, given["condition"], node), node), node)
    index = indexing.nonzero(lo, cond, node)[0]
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    return indexing.read(lo, x, [*items, indexing.Item(index, node)], node)


@numpy_function("condition a", "extract")
def _extract(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    condition = _array(lo, given["condition"], node)
    flat = reshaped(lo, condition, [views.size_of(lo, dims_of(lo, condition))], node)
    return _compress(lo, {"condition": flat, "a": given["a"]}, node)  # type: ignore[no-any-return]


def _along(
    lo: Lowerer, x: Arraylike, index: Arraylike, axis: int, node: ast.AST
) -> list[indexing.Item]:
    """Return the index that `np.take_along_axis` and `np.put_along_axis` mean."""
    dims = dims_of(lo, index)
    items: list[indexing.Item] = []
    for k, size in enumerate(dims):
        if k == axis:
            items.append(indexing.Item(index, node))
            continue
        elementwise.require_same(
            lo, size, dims_of(lo, x)[k], "indices do not fit the array", [], node
        )
        shape: list[Operand] = [integer(1)] * len(dims)
        shape[k] = size
        grid = Lazy(tuple(shape), I64, lambda i, k=k: lo.exact(i[k], I64))  # type: ignore[misc]
        items.append(indexing.Item(grid, node, True))
    return items


@numpy_function("arr indices axis?", "take_along_axis")
def _take_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["arr"], node)
    index = elementwise.base_of(lo, _array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given.get("axis", lo.num(-1)), len(dims_of(lo, x)), node)
    return indexing.read(lo, x, _along(lo, x, index, axis, node), node)


@numpy_function("arr indices values axis", "put_along_axis")
def _put_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["arr"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.put_along_axis` needs an array", lo.span(node))
    index = elementwise.base_of(lo, _array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    value = arrays.as_operand(lo, given["values"], node)
    indexing.write(lo, x, _along(lo, x, index, axis, node), value, node)
    return Static(None)


@numpy_function("a ind v * mode?", "put")
def _put(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["a"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.put` needs an array", lo.span(node))
    if not views.is_contiguous(lo, x):
        raise lo.unsupported("`np.put` into a view", node, "index it")
    flat = views.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))])
    index = elementwise.base_of(lo, _array(lo, given["ind"], node), node)
    if len(dims_of(lo, index)) == 0:
        index = views.with_new_axes(lo, index, [0])  # type: ignore[assignment]
    value = arrays.as_operand(lo, given["v"], node)
    assert isinstance(flat, ArrayRef)
    indexing.write(lo, flat, [indexing.Item(index, node)], value, node)
    return Static(None)


@numpy_function("a mask values", "putmask")
def _putmask(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["a"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.putmask` needs an array", lo.span(node))
    values = elementwise.value_of(lo, arrays.as_operand(lo, given["values"], node), node)
    if isinstance(values, ArrayRef | Lazy):
        # Values of the same shape stand at their own places; NumPy would repeat fewer.
        own, dims = dims_of(lo, values), dims_of(lo, x)
        if len(own) != len(dims):
            raise lo.unsupported(
                "`np.putmask` with values of another shape", node, "use `np.where`"
            )
        text = "adc: `np.putmask` needs values of the shape of the array"
        for a, b in zip(own, dims, strict=True):
            elementwise.require_same(lo, a, b, text, [], node)
        chosen = _where(lo, {"cond": given["mask"], "x": values, "y": x}, node)
        elementwise.assign_to(lo, x, chosen, node)
        return Static(None)
    index = indexing.Item(_array(lo, given["mask"], node), node)
    indexing.write(lo, x, [index], values, node)
    return Static(None)


@numpy_function("dst src * where?", "copyto")
def _copyto(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["dst"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.copyto` needs an array", lo.span(node))
    source = arrays.as_operand(lo, given["src"], node)
    if "where" in given:
        source = _where(lo, {"cond": given["where"], "x": source, "y": x}, node)
    elementwise.assign_to(lo, x, source, node)
    return Static(None)


# -- conversions -----------------------------------------------------------------------------------


@numpy_function("a dtype * copy?", "astype")
def _astype(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _array(lo, given["a"], node)
    dtype = arrays.dtype_argument(lo, given["dtype"], node)
    assert dtype is not None
    if arrays.element_type(x).dtype == dtype:
        copying = "copy" not in given or arguments.flag(lo, given["copy"], node, "`copy`")
        return arrays.copy(lo, x, node) if copying or isinstance(x, Lazy) else x
    return reductions.converted(lo, lazy(lo, x, node), Scalar(dtype), node)


@numpy_function("a", "tolist")
def _tolist(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    raise lo.unsupported("`.tolist()`", node, "work with the array")


@numpy_function("a * nan? posinf? neginf? copy?", "nan_to_num")
def _nan_to_num(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = arrays.as_operand(lo, given["a"], node)

    def compute(items: list[Binding]) -> Binding:
        x = numbers.number(lo, items[0], node)
        ty = numbers.scalar_type(x)
        if ty.kind != "f":
            return Num(x)
        info = np.finfo(str(ty.numpy))
        limits = {"nan": 0.0, "posinf": float(info.max), "neginf": float(info.min)}
        values: dict[str, Operand] = {}
        for name, default in limits.items():
            values[name] = Literal(default, ty)
            if not arguments.is_none(given.get(name)):
                values[name] = lo.convert(numbers.number(lo, given[name], node), ty)
        strong = Scalar(ty.dtype)
        result: Operand = x
        infinite = numbers.apply(lo, "isinf", x)
        positive = numbers.apply(lo, "gt", x, Literal(0.0, ty))
        for cond, name in (
            (numbers.apply(lo, "and", infinite, positive), "posinf"),
            (numbers.apply(lo, "and", infinite, numbers.apply(lo, "not", positive)), "neginf"),
            (numbers.apply(lo, "isnan", x), "nan"),
        ):
            result = lo.builder.apply("select", cond, lo.exact(values[name], ty), result)
        return Num(lo.exact(result, strong))

    return lift(lo, [source], compute, node)


@numpy_function("x weights? minlength?", "bincount")
def _bincount(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    index = elementwise.base_of(lo, _array(lo, given["x"], node), node)
    if arrays.element_type(index).kind not in "iu" or len(dims_of(lo, index)) != 1:
        raise TypeMismatchError("`np.bincount` needs a vector of integers", lo.span(node))
    least = _int(lo, given.get("minlength", lo.num(0)), node)
    source = lazy(lo, index, node)
    with lo.at(node):
        (size, low) = elementwise.nest(
            lo, source.dims, [least, integer(0)], ["n", "low"],
            lambda i, carried: _extent(lo, source.element(i), carried),
        )  # fmt: skip
        numbers.check(
            lo, numbers.apply(lo, "ge", low, integer(0)), "ValueError",
            "'list' argument must have no negative elements",
        )  # fmt: skip
        lo.counts(size)
        weights = given.get("weights")
        if arguments.is_none(weights):
            amount: Lazy | None = None
            ty = I64
        else:
            assert weights is not None
            amount = lazy(lo, _array(lo, weights, node), node)
            text = "The weights and list don't have the same length."
            elementwise.require_same(lo, amount.dims[0], source.dims[0], text, [], node)
            ty = F64
        version = arrays.created(lo, ty.dtype, [size], numbers.zero_of(ty))

        def step(i: list[Operand], carried: list[Any]) -> list[Operand]:
            k = numbers.to_int(lo, source.element(i))
            old = lo.builder.load(carried[0], [k])
            more: Operand = Literal(1, I64) if amount is None else lo.convert(
                amount.element(i), F64
            )  # fmt: skip
            new = lo.builder.apply("add", old, lo.exact(more, ty))
            return [lo.builder.store(carried[0], [k], new, hint="a")]

        (filled,) = elementwise.nest(lo, source.dims, [version], ["a"], step)
    return lo.new_array(filled, (size,), "a")  # type: ignore[arg-type]


def _extent(lo: Lowerer, k: Operand, carried: Sequence[Operand]) -> list[Operand]:
    k = numbers.to_int(lo, k)
    beyond = lo.builder.apply("add", k, integer(1), hint="n")
    size = lo.builder.apply("maximum", carried[0], beyond, hint="n")
    return [size, lo.builder.apply("minimum", carried[1], k, hint="low")]


@numpy_function("a v side?", "searchsorted")
def _searchsorted(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    side = arguments.text(lo, given.get("side"), "left", node, "`side`")
    held = elementwise.base_of(lo, _array(lo, given["a"], node), node)
    row = "searchsorted_left" if side == "left" else "searchsorted_right"
    source = lazy(lo, held, node)
    value = arrays.as_operand(lo, given["v"], node)

    def compute(items: list[Binding]) -> Binding:
        v = numbers.number(lo, items[0], node)
        return Num(_bisect(lo, source, v, row.endswith("left"), node))

    if not elementwise.is_array(value):
        return compute([value])
    inner = lazy(lo, value, node)  # type: ignore[arg-type]

    def element(index: Sequence[Operand]) -> Operand:
        return _bisect(lo, source, inner.element(index), side == "left", node)

    return Lazy(inner.dims, I64, element, inner.reads + source.reads, 20)


def _bisect(lo: Lowerer, source: Lazy, v: Operand, left: bool, node: ast.AST) -> Operand:
    """Return the position of `v` by halving; 42 halvings are enough for any array."""

    def body(_: list[Operand], carried: list[Any]) -> list[Operand]:
        low, high = carried
        both = lo.builder.apply("add", low, high)
        middle = lo.counts(lo.builder.apply("floordiv", both, integer(2), hint="i"))
        open_ = lo.builder.apply("lt", low, high)
        last = lo.builder.apply("sub", source.dims[0], integer(1))
        safe = lo.builder.apply("minimum", middle, lo.builder.apply("maximum", last, integer(0)))
        x = source.element([lo.counts(safe)])
        less = numbers.compare_numbers(lo, "lt" if left else "le", x, v, node)
        right = lo.builder.apply("and", open_, lo.exact(less, BOOL))
        keep = lo.builder.apply("and", open_, lo.builder.apply("not", lo.exact(less, BOOL)))
        after = lo.builder.apply("add", middle, integer(1))
        return [
            lo.builder.apply("select", right, after, low, hint="low"),
            lo.builder.apply("select", keep, middle, high, hint="high"),
        ]

    empty = numbers.apply(lo, "eq", source.dims[0], integer(0))
    trips: Operand = integer(42)
    if not isinstance(empty, Literal):
        trips = lo.builder.apply("select", empty, integer(0), trips)
    low, _ = elementwise.nest(lo, [trips], [integer(0), source.dims[0]], ["low", "high"], body)
    return lo.exact(low, I64)


HANDLERS = _HANDLERS

__all__ = ["B1", "FLOAT", "HANDLERS"]
