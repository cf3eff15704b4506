"""NumPy's functions of shapes and the order of axes: views where NumPy returns views."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Axis, Binding, Lazy, Num, TupleOf, Window, shares
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import products
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import lazy
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import LimitError, TypeMismatchError

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


@numpy_function("a axes?", "transpose", "permute_dims")
def _transpose(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if arguments.is_none(given.get("axes")):
        return _boxed(lo, given["a"], transposed(lo, x), node)
    rank = len(dims_of(lo, x))
    order = arguments.axes(lo, given["axes"], rank, node)
    if len(order) != rank:
        raise TypeMismatchError("axes don't match array", lo.span(node))
    return _boxed(lo, given["a"], views.permuted(lo, x, order), node)


@numpy_function("a axis1 axis2")
def _swapaxes(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    order = list(range(len(dims_of(lo, x))))
    i = arguments.axis(lo, given["axis1"], len(order), node)
    j = arguments.axis(lo, given["axis2"], len(order), node)
    order[i], order[j] = order[j], order[i]
    return views.permuted(lo, x, order)


@numpy_function("a source destination")
def _moveaxis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
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
    x = arrays.as_array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    axis = arguments.axis(lo, given["axis"], rank, node)
    start = arguments.constant_int(lo, given.get("start", lo.num(0)), node, "`start`")
    start = start + rank if start < 0 else start
    order = [k for k in range(rank) if k != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return views.permuted(lo, x, order)


@numpy_function("a axis")
def _expand_dims(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    items = arguments.sequence(lo, given["axis"])
    rank = len(dims_of(lo, x)) + (len(items) if items is not None else 1)
    return views.with_new_axes(lo, x, arguments.axes(lo, given["axis"], rank, node))


@numpy_function("a axis?")
def _squeeze(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    dims = dims_of(lo, x)
    if arguments.is_none(given.get("axis")):
        if not all(isinstance(size, Literal) for size in dims):
            for size in dims:
                if lo.sizes.may_be_empty(size):
                    elementwise.require_same(
                        lo, size, integer(1), "adc: an empty slice is squeezed", [], node
                    )
            unknown = [
                size for size in dims if not isinstance(size, Literal) and not lo.sizes.is_one(size)
            ]
            # An axis whose size adc does not know at compile time is kept, which must be right.
            for size in unknown:
                numbers.check(
                    lo, numbers.apply(lo, "ne", size, integer(1)), LimitError.__name__,
                    "adc: an axis of size 1 is squeezed, which is known only at run time; name it "
                    "with `axis`",
                )  # fmt: skip
        dropped = [k for k, size in enumerate(dims) if lo.sizes.is_one(size)]
    else:
        dropped = arguments.axes(lo, given["axis"], len(dims), node)
        for k in dropped:
            text = "cannot select an axis to squeeze out which has size not equal to one"
            elementwise.require_same(lo, dims[k], integer(1), text, [], node)
    return _boxed(lo, given["a"], views.without_axes(lo, x, dropped), node)


def _boxed(
    lo: Lowerer, source: Binding, found: Arraylike, node: ast.AST, always: bool = False
) -> Binding:
    """Return the result for a number: a 0-d array, unless it was a NumPy scalar."""
    if not isinstance(source, Num) or dims_of(lo, found):
        return found
    number = elementwise.value_of(lo, found, node)
    assert isinstance(number, Num)
    of_python = numbers.scalar_type(source.operand).weak
    return Num(number.operand, source.array or of_python or always)


@numpy_function("a shape subok?")
def _broadcast_to(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    own, dims = dims_of(lo, x), arrays.shape_argument(lo, given["shape"], node)
    if len(own) > len(dims):
        raise TypeMismatchError(
            "input operand has more dimensions than allowed by the axis remapping", lo.span(node)
        )
    text = "operands could not be broadcast together with remapped shapes"
    for size, wanted in zip(own, dims[len(dims) - len(own) :], strict=True):
        elementwise.require_fitting(lo, size, wanted, text, [], node)
    # A view: what is later written to the array is seen.
    found = replace(views.broadcast(lo, x, dims), readonly=True)
    return _boxed(lo, given["a"], found, node, always=True)


def _with_axes(*added: Sequence[int]) -> Handler:
    """Return a handler of arrays that get new axes: where, for each number of their axes."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1, max(1, len(args)))
        found: list[Binding] = []
        for arg in args:
            x = arrays.as_array(lo, arg, node)
            rank = len(dims_of(lo, x))
            found.append(views.with_new_axes(lo, x, added[rank]) if rank < len(added) else x)
        if len(found) == 1:
            return found[0]
        return TupleOf(tuple(elementwise.materialised(lo, x, node) for x in found))

    return handler


HANDLERS["atleast_1d"] = _with_axes([0])
HANDLERS["atleast_2d"] = _with_axes([0, 1], [0])
HANDLERS["atleast_3d"] = _with_axes([0, 1, 2], [0, 2], [2])


@numpy_function("a")
def _matrix_transpose(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return transposed_matrices(lo, arrays.as_array(lo, given["a"], node), node)


def transposed(lo: Lowerer, x: Arraylike) -> Arraylike:
    """Return the view that `.T` gives: all axes reversed."""
    return views.permuted(lo, x, list(range(len(dims_of(lo, x))))[::-1])


def transposed_matrices(lo: Lowerer, x: Arraylike, node: ast.AST) -> Arraylike:
    """Return the view that `.mT` gives: the last two axes exchanged."""
    order = list(range(len(dims_of(lo, x))))
    if len(order) < 2:
        raise TypeMismatchError(
            f"Input array must be at least 2-dimensional, but it is {len(order)}", lo.span(node)
        )
    order[-2:] = order[:-3:-1]
    return views.permuted(lo, x, order)


@numpy_function("x window_shape axis? * subok? writeable?", "sliding_window_view")
def _sliding_window_view(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["x"], node)
    dims = list(dims_of(lo, x))
    sizes = arrays.shape_argument(lo, given["window_shape"], node)
    along = arguments.axes(lo, given.get("axis"), len(dims), node)
    if len(along) != len(sizes):
        raise TypeMismatchError(
            f"{len(sizes)} sizes of a window for {len(along)} axes", lo.span(node)
        )
    arrays.check_rank(lo, len(dims) + len(sizes), node)
    axes = views.whole(dims)
    with lo.at(node):
        for k, (axis, size) in enumerate(zip(along, sizes, strict=True)):
            left = numbers.minus(lo, dims[axis], size)
            text = "window shape cannot be larger than input array shape"
            enough = numbers.apply(lo, "ge", left, integer(0))
            numbers.check(lo, enough, "ValueError", text)
            terms = (*axes[axis].terms, (len(dims) + k, integer(1)))
            axes[axis] = Axis(integer(0), terms)
            dims[axis] = lo.sizes.counts(numbers.plus(lo, left, integer(1)))
    found = views.through(lo, x, Window((*dims, *sizes), tuple(axes)))
    if arguments.flag(lo, given.get("writeable"), node, "`writeable`"):
        raise lo.unsupported("writing to elements that share memory", node, "write to the array")
    return replace(found, readonly=True)


def reshape(lo: Lowerer, x: Arraylike, shape: Binding, node: ast.AST) -> Arraylike:
    """Lower a reshape: a view where NumPy surely gives one."""
    items = arguments.sequence(lo, shape)
    wanted = [
        arguments.integer(lo, item, node) for item in (items if items is not None else [shape])
    ]
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
            wanted[open_[0]] = _shared(lo, size, rest, dims, message, [size, *wanted])
        else:
            _check_same_count(lo, dims, wanted, size, message)
    arrays.check_rank(lo, len(wanted), node)
    return reshaped(lo, x, wanted, node)


def _shared(
    lo: Lowerer, size: Operand, rest: Operand, dims: Sequence[Operand], message: str,
    args: list[Operand],
) -> Operand:  # fmt: skip
    """Return ``size / rest``, which must be whole."""
    if isinstance(rest, Literal) and rest.value == 1:
        return size
    if len(dims) > 1 and lo.sizes.same_size(dims[-1], rest):
        return views.size_of(lo, dims[:-1])
    if isinstance(size, Literal) and isinstance(rest, Literal) and rest.value:
        if int(size.value) % int(rest.value) == 0:
            return integer(int(size.value) // int(rest.value))
    safe = lo.builder.apply("maximum", rest, integer(1))
    whole = numbers.apply(lo, "eq", lo.builder.apply("mod", size, safe), integer(0))
    positive = numbers.apply(lo, "gt", rest, integer(0))
    numbers.check(lo, numbers.apply(lo, "and", whole, positive), "ValueError", message, *args)
    return lo.sizes.counts(lo.builder.apply("floordiv", size, safe, hint="n"))


def _check_same_count(
    lo: Lowerer, dims: Sequence[Operand], wanted: list[Operand], size: Operand, message: str
) -> None:
    for w in wanted:
        if not any(lo.sizes.same_size(w, d) for d in dims):
            at_least = numbers.apply(lo, "ge", w, integer(0))
            numbers.check(lo, at_least, "ValueError", message, size, *wanted)
    count = views.size_of(lo, wanted)
    if not lo.sizes.same_size(count, size):
        same = numbers.apply(lo, "eq", count, size)
        numbers.check(lo, same, "ValueError", message, size, *wanted)
        lo.sizes.unify_sizes(count, size)


def reshaped(lo: Lowerer, x: Arraylike, dims: Sequence[Operand], node: ast.AST) -> Arraylike:
    """Return `x` under other sizes; a copy where NumPy may have to copy."""
    own = dims_of(lo, x)
    if len(own) == len(dims) and all(
        lo.sizes.same_size(a, b) for a, b in zip(own, dims, strict=True)
    ):
        return views.anew(x)
    if isinstance(x, Lazy) or views.is_contiguous(lo, x):
        return views.reshaped(lo, x, dims)
    return views.reshaped(lo, _copied(lo, x, node), dims)


def _copied(lo: Lowerer, x: ArrayRef, node: ast.AST) -> ArrayRef:
    """Return a copy where NumPy shares memory if the strides allow it.

    Who writes to one may not read the other.
    """
    copied = elementwise.copy(lo, x, node)
    shares(copied.object, x.object)
    return replace(copied, readonly=None if x.readonly else False)


@numpy_function("a shape order?")
def _reshape(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if not _first_axis_first(lo, given, x, node):
        return reshape(lo, x, given["shape"], node)
    items = arguments.sequence(lo, given["shape"])
    shape = TupleOf(items[::-1]) if items is not None else given["shape"]
    return transposed(lo, reshape(lo, transposed(lo, x), shape, node))


def _first_axis_first(lo: Lowerer, given: Given, x: Arraylike, node: ast.AST) -> bool:
    """Return whether elements are counted in Fortran's order, which is that of the transpose."""
    order = arguments.text(lo, given.get("order"), "C", node, "`order`")
    if order not in ("C", "F") and len(dims_of(lo, x)) > 1:
        hint = 'write order="C" or order="F": results of adc may lie in memory in another order'
        raise lo.unsupported(f"order={order!r}", node, hint)
    return order == "F"


@numpy_function("a order?")
def _ravel(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if _first_axis_first(lo, given, x, node):
        x = transposed(lo, x)
    dims = dims_of(lo, x)
    if isinstance(x, ArrayRef) and len(dims) == 1 and not views.is_contiguous(lo, x):
        return _copied(lo, x, node)
    return reshaped(lo, x, [views.size_of(lo, dims)], node)


@numpy_function("a order?")
def _flatten(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    found = arrays.as_array(lo, given["a"], node)
    x = lazy(
        lo, transposed(lo, found) if _first_axis_first(lo, given, found, node) else found, node
    )
    return views.reshaped(lo, x, [views.size_of(lo, x.dims)])


@numpy_function("a offset? axis1? axis2?")
def _diagonal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return products.diagonal(lo, arrays.as_array(lo, given["a"], node), given, node)


@numpy_function("a * offset?", "last_diagonal")
def _last_diagonal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    ends = {"axis1": lo.num(-2), "axis2": lo.num(-1)}
    return products.diagonal(lo, arrays.as_array(lo, given["a"], node), given | ends, node)


@numpy_function("a axis?")
def _flip(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    chosen = arguments.axes(lo, given.get("axis"), len(dims_of(lo, x)), node)
    if not dims_of(lo, x):
        return elementwise.value_of(lo, x, node)  # a number, as in NumPy
    return views.flipped(lo, x, chosen)


@numpy_function("a")
def _flipud(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if not dims_of(lo, x):
        raise TypeMismatchError("Input must be >= 1-d.", lo.span(node))
    return views.flipped(lo, x, [0])


@numpy_function("a")
def _fliplr(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if len(dims_of(lo, x)) < 2:
        raise TypeMismatchError("Input must be >= 2-d.", lo.span(node))
    return views.flipped(lo, x, [1])


@numpy_function("a k? axes?")
def _rot90(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    rank = len(dims_of(lo, x))
    turns = arguments.constant_int(lo, given.get("k", lo.num(1)), node, "`k`") % 4
    pair = given.get("axes", TupleOf((lo.num(0), lo.num(1))))
    i, j = arguments.axes(lo, pair, rank, node)
    order = list(range(rank))
    order[i], order[j] = order[j], order[i]
    if turns == 0:
        return views.anew(x)
    if turns == 2:
        return views.flipped(lo, x, [i, j])
    if turns == 1:
        return views.permuted(lo, views.flipped(lo, x, [j]), order)
    return views.flipped(lo, views.permuted(lo, x, order), [j])
