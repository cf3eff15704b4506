"""Views: the map from the indices of a view to the indices of the array whose memory it shares.

A view is data, not code: sizes, offsets and strides are operands, so names bound to views join at
branches and are carried by loops like numbers. A view is a tuple of *stages*, outermost first; each
maps indices into its own axes to indices of the space of the next stage. Adjacent windows are
merged into one.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Axis, Lazy, Reshape, Stage, Window
from adc.frontend.core.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.types import INT

Arraylike = ArrayRef | Lazy


def dims_of(lo: Lowerer, x: Arraylike) -> tuple[Operand, ...]:
    """Return the sizes of an array or array expression."""
    if isinstance(x, Lazy):
        return x.dims
    return x.view[0].dims if x.view else lo.dims[x.object]


def rank_of(lo: Lowerer, x: Arraylike) -> int:
    return len(dims_of(lo, x))


def length(lo: Lowerer, x: Arraylike, node: ast.AST) -> Operand:
    """Return what `len` gives of an array."""
    dims = dims_of(lo, x)
    if not dims:
        text = "len() of unsized object"
        numbers.refuse(lo, text, node, "TypeError", text)
    return dims[0]


def times(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    """Return a product of indices, sizes and strides."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return integer(int(a.value) * int(b.value))
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Literal) and x.value in (0, 1):
            return y if x.value == 1 else x
        if isinstance(x, Literal) and x.value == -1:
            return lo.sizes.counts(lo.builder.apply("neg", y, hint="i"))
    return lo.sizes.counts(lo.builder.apply("mul", a, b, hint="i"))


def size_of(lo: Lowerer, dims: Sequence[Operand]) -> Operand:
    """Return the number of elements of an array with these sizes."""
    size: Operand = integer(1)
    for dim in dims:
        make = functools.partial(times, lo, size, dim)
        size = lo.sizes.known_size("mul", size, dim, make)
    return size


# -- indices ---------------------------------------------------------------------------------------


def mapped(lo: Lowerer, stage: Stage, index: Sequence[Operand]) -> list[Operand]:
    """Return where `index` points in the space behind a stage."""
    if isinstance(stage, Window):
        return [_at(lo, axis, index) for axis in stage.axes]
    if stage.dims == stage.inner:
        return list(index)
    linear: Operand = integer(0)
    for size, k in zip(stage.dims, index, strict=True):
        linear = numbers.plus(lo, times(lo, linear, size), k)
    found: list[Operand] = []
    for size in reversed(stage.inner[1:]):
        if isinstance(size, Literal) and size.value == 1:
            found.append(integer(0))
            continue
        found.append(_divided(lo, "mod", linear, size))
        linear = _divided(lo, "floordiv", linear, size)
    return [linear, *reversed(found)] if stage.inner else []


def _divided(lo: Lowerer, row: str, a: Operand, b: Operand) -> Operand:
    if isinstance(a, Literal) and isinstance(b, Literal) and b.value:
        a_, b_ = int(a.value), int(b.value)
        return integer(a_ % b_ if row == "mod" else a_ // b_)
    return lo.sizes.counts(lo.builder.apply(row, a, b, hint="i"))


def _at(lo: Lowerer, axis: Axis, index: Sequence[Operand]) -> Operand:
    found = axis.offset
    for k, stride in axis.terms:
        if isinstance(stride, Literal) and stride.value == -1:
            found = numbers.minus(lo, found, index[k])
        else:
            found = numbers.plus(lo, found, times(lo, index[k], stride))
    return found


def base_index(lo: Lowerer, ref: ArrayRef, index: Sequence[Operand]) -> list[Operand]:
    """Return where `index` of a view points in its base."""
    found = list(index)
    for stage in ref.view:
        found = mapped(lo, stage, found)
    return found


# -- making views ----------------------------------------------------------------------------------


def through(lo: Lowerer, x: Arraylike, stage: Stage) -> Arraylike:
    """Return `x` seen through one more stage."""
    if isinstance(x, ArrayRef):
        return replace(x, view=composed(lo, (stage, *x.view)))

    def element(index: Sequence[Operand]) -> Operand:
        return x.element(mapped(lo, stage, index))

    reads = tuple((obj, composed(lo, (stage, *view)), version) for obj, view, version in x.reads)
    return replace(x, dims=stage.dims, element=element, reads=reads)


def composed(lo: Lowerer, view: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Merge the two outermost stages if both are windows."""
    if len(view) < 2:
        return view
    outer, inner = view[0], view[1]
    if isinstance(outer, Window) and isinstance(inner, Window):
        axes: list[Axis] = []
        for axis in inner.axes:
            offset = axis.offset
            terms: list[tuple[int, Operand]] = []
            for k, stride in axis.terms:
                behind = outer.axes[k]
                offset = numbers.plus(lo, offset, times(lo, behind.offset, stride))
                terms += [(j, times(lo, s, stride)) for j, s in behind.terms]
            axes.append(Axis(offset, tuple(terms)))
        return (Window(outer.dims, tuple(axes)), *view[2:])
    if isinstance(outer, Reshape) and isinstance(inner, Reshape):
        return (Reshape(outer.dims, inner.inner), *view[2:])
    return view


def whole(dims: Sequence[Operand]) -> list[Axis]:
    """Return the axes of a window that shows everything."""
    return [Axis(integer(0), ((k, integer(1)),)) for k in range(len(dims))]


def anew(x: Arraylike) -> Arraylike:
    """Return a view of all of `x`: another array, as `is` sees it (`comparisons`)."""
    return replace(x) if isinstance(x, ArrayRef) else x


def permuted(lo: Lowerer, x: Arraylike, order: Sequence[int]) -> Arraylike:
    """Return `x` with its axes in another order, as `np.transpose` gives it."""
    if list(order) == list(range(len(order))):
        return anew(x)
    dims = dims_of(lo, x)
    position = {axis: k for k, axis in enumerate(order)}
    axes = tuple(Axis(integer(0), ((position[k], integer(1)),)) for k in range(len(dims)))
    return through(lo, x, Window(tuple(dims[k] for k in order), axes))


def with_new_axes(lo: Lowerer, x: Arraylike, at: Sequence[int]) -> Arraylike:
    """Return `x` with axes of size 1 at these positions of the result."""
    if not at:
        return anew(x)
    old = iter(enumerate(dims_of(lo, x)))
    dims: list[Operand] = []
    axes: list[Axis] = []
    for position in range(rank_of(lo, x) + len(at)):
        if position in at:
            dims.append(integer(1))
            continue
        _, size = next(old)
        axes.append(Axis(integer(0), ((position, integer(1)),)))
        dims.append(size)
    return through(lo, x, Window(tuple(dims), tuple(axes)))


def without_axes(lo: Lowerer, x: Arraylike, dropped: Sequence[int]) -> Arraylike:
    """Return `x` without axes, all of size 1."""
    if not dropped:
        return anew(x)
    dims: list[Operand] = []
    axes: list[Axis] = []
    for k, size in enumerate(dims_of(lo, x)):
        if k in dropped:
            axes.append(Axis(integer(0), ()))
        else:
            axes.append(Axis(integer(0), ((len(dims), integer(1)),)))
            dims.append(size)
    return through(lo, x, Window(tuple(dims), tuple(axes)))


def broadcast(lo: Lowerer, x: Arraylike, dims: Sequence[Operand]) -> Arraylike:
    """Return `x` repeated to `dims`, which were found compatible."""
    own = dims_of(lo, x)
    skip = len(dims) - len(own)
    strides = [repetition(lo, a, b) for a, b in zip(own, dims[skip:], strict=True)]
    one = integer(1)
    if skip == 0 and all(
        s == one or lo.sizes.is_one(b) for s, b in zip(strides, dims, strict=True)
    ):
        return anew(x)
    axes = tuple(
        Axis(integer(0), () if lo.sizes.is_one(size) else ((skip + k, strides[k]),))
        for k, size in enumerate(own)
    )
    return through(lo, x, Window(tuple(dims), axes))


def repetition(lo: Lowerer, size: Operand, dim: Operand) -> Operand:
    """Return the stride with which an axis is read that is broadcast from `size` to `dim`."""
    if lo.sizes.is_one(size):
        return integer(0)
    if not lo.shared.general or lo.sizes.is_plural(size) or lo.sizes.same_size(size, dim):
        return integer(1)

    def make() -> Operand:
        many = lo.builder.apply("ne", size, integer(1))
        return lo.sizes.counts(lo.convert(many, INT))

    return lo.sizes.known_size("repetition", size, size, make)


def flipped(lo: Lowerer, x: Arraylike, chosen: Sequence[int]) -> Arraylike:
    """Return `x` with the order of some axes reversed."""
    dims = dims_of(lo, x)
    axes = whole(dims)
    for k in chosen:
        axes[k] = Axis(numbers.plus(lo, dims[k], integer(-1)), ((k, integer(-1)),))
    return through(lo, x, Window(dims, tuple(axes)))


def reshaped(lo: Lowerer, x: Arraylike, dims: Sequence[Operand]) -> Arraylike:
    """Return `x` with its elements, in C order, under other sizes; the caller checked the count."""
    return through(lo, x, Reshape(tuple(dims), dims_of(lo, x)))


def is_one(size: Operand) -> bool:
    return isinstance(size, Literal) and size.value == 1


def is_contiguous(lo: Lowerer, ref: ArrayRef) -> bool:
    """Whether the elements surely lie in memory as in a new array: a reshape then is a view."""
    if ref.object.type.layout != "C":
        return False
    inner = lo.dims[ref.object]
    for stage in reversed(ref.view):
        if isinstance(stage, Window) and not _is_block(lo, stage, inner):
            return False
        inner = stage.dims
    return True


def is_last_axis_contiguous(lo: Lowerer, ref: ArrayRef) -> bool | None:
    """Whether elements along the last axis are neighbours in memory; None if it is not known."""
    if is_contiguous(lo, ref):
        return not ref.part
    if ref.object.type.layout != "C" or len(ref.view) > 1:
        return None
    (window,) = ref.view
    if not isinstance(window, Window):
        return None
    last = len(window.dims) - 1
    strides = [
        dict(axis.terms).get(last, integer(0))
        for axis, size in zip(window.axes, lo.dims[ref.object], strict=True)
        if not lo.sizes.is_one(size)
    ]
    if not all(isinstance(stride, Literal) for stride in strides):
        return None
    return not ref.part and strides == [*(integer(0) for _ in strides[1:]), integer(1)]


def _is_block(lo: Lowerer, window: Window, inner: Sequence[Operand]) -> bool:
    """Whether a window shows one block of memory in order: fixed, then cut, then whole axes."""
    seen: list[int] = []
    for axis, size in zip(window.axes, inner, strict=True):
        if not axis.terms:
            if seen and not is_one(size):
                return False
            continue
        if len(axis.terms) > 1:
            return False
        ((k, stride),) = axis.terms
        if not (isinstance(stride, Literal) and stride.value == 1) or (seen and k <= seen[-1]):
            return False
        if seen and not (lo.sizes.same_size(window.dims[k], size) and _is_zero(axis.offset)):
            return False
        seen.append(k)
    return all(k in seen or is_one(size) for k, size in enumerate(window.dims))


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value == 0


def part(lo: Lowerer, ref: ArrayRef, name: str) -> ArrayRef:
    """Return the "real" or "imag" parts of an array of complex numbers, as a view."""
    return replace(ref if ref.view else as_window(lo, ref), part=name)


def as_window(lo: Lowerer, ref: ArrayRef) -> ArrayRef:
    """Return a whole array as a window that shows all of it, to join with one that does not."""
    dims = lo.dims[ref.object]
    return replace(ref, view=(Window(dims, tuple(whole(dims))),))
