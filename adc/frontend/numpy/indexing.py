"""NumPy's basic and advanced indexing, read and written.

Integers, slices, ``...`` and ``None`` make views. Integer arrays and masks make copies; a store
through them runs over their elements in order.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.frontend.control import evaluation
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    Range,
    Static,
    TupleOf,
    Window,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import arguments, arrays, elementwise, operators, sequences, views
from adc.frontend.values.elementwise import common_dims, is_array, lazy, nest
from adc.frontend.values.views import Arraylike, dims_of, times
from adc.ir.builder import integer
from adc.ir.core import Apply, Block, If, Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import INT


@dataclass(frozen=True)
class Slice:
    """``start:stop:step``; None where an end is left out."""

    start: Operand | None
    stop: Operand | None
    step: Operand | None
    node: ast.AST


@dataclass(frozen=True)
class Item:
    """One part of an index, and where it stands; `proven` if no index in it is out of range."""

    value: Binding | Slice
    node: ast.AST
    proven: bool = False


def items_of(lo: Lowerer, node: ast.expr) -> list[Item]:
    """Lower the index between the brackets."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    found: list[Item] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            found.append(Item(lower_slice(lo, part), part))
            continue
        if isinstance(part, ast.Starred):
            inner = evaluation.lower_expr(lo, part.value)
            found += [Item(b, part) for b in sequences.static_sequence(lo, inner, part)]
            continue
        binding = dispatch.filled(lo, part)
        inner_items = _index_tuple(binding)
        if inner_items is not None and not isinstance(node, ast.Tuple):
            found += [Item(item, part) for item in inner_items]
        else:
            found.append(Item(binding, part))
    return found


def _index_tuple(binding: Binding) -> tuple[Binding, ...] | None:
    return binding.items if isinstance(binding, TupleOf) else None


def lower_slice(lo: Lowerer, node: ast.Slice) -> Slice:
    """Lower a slice whose ends are integers or None."""
    ends: list[Operand | None] = []
    for part in (node.lower, node.upper, node.step):
        binding = None if part is None else evaluation.lower_filled(lo, part)
        ends.append(None if binding is None else slice_end(lo, binding, node))
    start, stop, step = ends
    return Slice(start, stop, step, node)


def slice_end(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand | None:
    if isinstance(binding, Static) and binding.value is None:
        return None
    binding = elementwise.value_of(lo, binding, node)
    if not isinstance(binding, Num) or binding.operand.type.kind not in "iu":
        raise TypeMismatchError(
            f"slice indices must be integers or None, not {kind_of(binding)}", lo.span(node)
        )
    return numbers.to_int(lo, binding.operand)


# Elements of a slice that is taken to be as long as its ends say.
_SHORT = 16


# -- one axis --------------------------------------------------------------------------------------


def _wrapped_end(lo: Lowerer, end: Operand, size: Operand, low: int, high: Operand) -> Operand:
    """Return a run-time end of a slice within ``low .. high``, as Python clips it."""
    if isinstance(end, Literal):
        value = int(end.value)
        if value >= 0:
            if value <= low:
                return integer(low)
            return lo.builder.apply("minimum", end, high, hint="i")
        shifted = numbers.plus(lo, size, end)
        return lo.builder.apply("maximum", shifted, integer(low), hint="i")
    found = lo.builder.apply("wrap", end, size, hint="i")
    found = lo.builder.apply("maximum", found, integer(low), hint="i")
    return lo.sizes.counts(lo.builder.apply("minimum", found, high, hint="i"))


def _at_least_zero(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    """Return ``max(a - b, 0)``, a size."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return integer(max(int(a.value) - int(b.value), 0))
    if isinstance(b, Literal) and b.value == 0:
        return a

    def make() -> Operand:
        difference = numbers.minus(lo, a, b)
        return lo.sizes.counts(lo.builder.apply("maximum", difference, integer(0), hint="n"))

    return lo.sizes.known_size("less", a, b, make)


def resolve_slice(lo: Lowerer, part: Slice, size: Operand) -> tuple[Operand, Operand, Operand]:
    """Return offset, step and length of a slice of an axis."""
    found = _resolved(lo, part, size)
    if _selects_one(lo, part) and not isinstance(found[2], Literal):
        lo.sizes.at_most_one(found[2])
    return found


def _selects_one(lo: Lowerer, part: Slice) -> bool:
    """Whether a slice has at most one element, like ``a[:1]``, ``a[-1:]``, ``a[i : i + 1]``."""
    if part.step is not None and part.step != integer(1):
        return False
    start = part.start if part.start is not None else integer(0)
    if not isinstance(start, Literal):
        return part.stop is not None and _is_next(lo, start, part.stop)
    if part.stop is None:
        return bool(start.value == -1)
    if not isinstance(part.stop, Literal) or (start.value < 0) != (part.stop.value < 0):
        return False
    return bool(part.stop.value - start.value == 1)


def _is_next(lo: Lowerer, start: Operand, stop: Operand) -> bool:
    """Whether the stop of a slice was computed as its start plus 1."""
    made = next((s for s in reversed(lo.builder.stmts) if stop in s.results), None)
    if not (isinstance(made, Apply) and made.op.name == "add"):
        return False
    return set(made.args) == {start, integer(1)}


def _resolved(lo: Lowerer, part: Slice, size: Operand) -> tuple[Operand, Operand, Operand]:
    step = part.step if part.step is not None else integer(1)
    if isinstance(step, Literal) and step.value == 0:
        raise TypeMismatchError("slice step cannot be zero", lo.span(part.node))
    start, stop = part.start, part.stop
    if isinstance(step, Literal) and step.value == 1:
        return _unit_slice(lo, start, stop, size)
    if not isinstance(step, Literal):
        numbers.check(
            lo, numbers.apply(lo, "ne", step, integer(0)), "ValueError",
            "slice step cannot be zero",
        )  # fmt: skip
        positive = numbers.apply(lo, "gt", step, integer(0))
        last = numbers.plus(lo, size, integer(-1))
        # An end that is left out is one of the array, by the direction.
        up = [
            left_out if end is None else _wrapped_end(lo, end, size, 0, size)
            for end, left_out in ((start, integer(0)), (stop, size))
        ]
        down = [
            left_out if end is None else _wrapped_end(lo, end, size, -1, last)
            for end, left_out in ((start, last), (stop, integer(-1)))
        ]
        first, end = (
            lo.sizes.counts(lo.builder.apply("select", positive, a, b, hint="i"))
            for a, b in zip(up, down, strict=True)
        )
    elif step.value > 0:
        first = integer(0) if start is None else _wrapped_end(lo, start, size, 0, size)
        end = size if stop is None else _wrapped_end(lo, stop, size, 0, size)
    else:
        last = numbers.plus(lo, size, integer(-1))
        first = last if start is None else _wrapped_end(lo, start, size, -1, last)
        end = integer(-1) if stop is None else _wrapped_end(lo, stop, size, -1, last)
    if isinstance(step, Literal) and step.value == -1:
        return first, step, _at_least_zero(lo, first, end)
    if all(isinstance(x, Literal) for x in (first, end, step)):
        length: Operand = integer(len(range(*(int(x.value) for x in (first, end, step)))))  # type: ignore[union-attr]
    else:
        length = lo.sizes.counts(lo.builder.apply("trips", first, end, step, hint="n"))
    return first, step, length


def _whole_slice(
    lo: Lowerer, start: Operand | None, stop: Operand | None, size: Operand
) -> tuple[Operand, Operand, Operand] | None:
    """Return offset, step and length of a short slice like ``a[:3]``, ``a[3:6]``, ``a[-2:]``.

    Its length is a number unless the array ends before it does, which other code is for.
    """
    ends = (start or integer(0), stop or integer(0))
    if lo.shared.general or isinstance(size, Literal):
        return None
    first, last = (int(end.value) if isinstance(end, Literal) else None for end in ends)
    if first is None or last is None or not 0 < last - first <= _SHORT:
        return None
    # Both ends are counted from the front of the array, or both from its back.
    if first < 0 < last or (stop is None) != (last == 0):
        return None
    needed = max(last, -first)
    holds = numbers.apply(lo, "inside", integer(needed - 1), size)
    numbers.check(lo, holds, "AssumptionError", "", integer(needed), size)
    offset = integer(first) if first >= 0 else numbers.plus(lo, size, integer(first))
    return offset, integer(1), integer(last - first)


def _unit_slice(
    lo: Lowerer, start: Operand | None, stop: Operand | None, size: Operand
) -> tuple[Operand, Operand, Operand]:
    whole = _whole_slice(lo, start, stop, size)
    if whole is not None:
        return whole
    one = integer(1)
    first: Operand
    if start is None:
        first = integer(0)
    elif isinstance(start, Literal) and start.value >= 0:
        # Beyond the end the slice is empty, and its offset is never used.
        first = start
    else:
        first = _wrapped_end(lo, start, size, 0, size)
    if stop is None:
        return first, one, _at_least_zero(lo, size, first)
    if isinstance(stop, Literal) and stop.value < 0:
        left = integer(-int(stop.value))
        if isinstance(first, Literal):
            return first, one, _at_least_zero(lo, size, integer(int(first.value) - int(stop.value)))
        end = _at_least_zero(lo, size, left)
    elif isinstance(stop, Literal) and isinstance(size, Literal):
        end = integer(min(int(stop.value), int(size.value)))
    else:
        end = lo.sizes.known_size("end", stop, size, lambda: _wrapped_end(lo, stop, size, 0, size))
    return first, one, _at_least_zero(lo, end, first)


def checked_index(lo: Lowerer, index: Operand, size: Operand, axis: int, node: ast.AST) -> Operand:
    """Return an index that is in range and not negative, checked at run time."""
    with lo.at(node):
        index = numbers.to_int(lo, index, "IndexError", "an index is out of bounds")
        if isinstance(index, Literal):
            wrapped: Operand = index if index.value >= 0 else numbers.plus(lo, size, index)
        else:
            wrapped = lo.builder.apply("wrap", index, size, hint="i")
        inside = numbers.apply(lo, "inside", wrapped, size)
        message = f"index {{}} is out of bounds for axis {axis} with size {{}}"
        numbers.check(lo, inside, "IndexError", message, index, size)
    return wrapped


# -- the whole index -------------------------------------------------------------------------------


def masked(
    lo: Lowerer, x: Arraylike, items: Sequence[Item], node: ast.AST
) -> tuple[Arraylike, Sequence[Item]]:
    """Replace a boolean as an index: it is a mask of one element, of a new first axis."""
    flags = [item for item in items if _is_flag(lo, item.value)]
    if not flags or any(not _is(item, Ellipsis) for item in items if item not in flags):
        return x, items
    flag = elementwise.number(lo, flags[0].value, node)  # type: ignore[arg-type]  # no slice
    version = arrays.created(lo, "b1", [integer(1)], flag)
    mask = lo.new_array(version, (integer(1),), "mask")
    return window(lo, x, [Item(Static(None), node)], node), [Item(mask, node)]


def takes_no_axis(lo: Lowerer, item: Item) -> bool:
    """Whether a part of an index stands for no axis of the array: ``...``, None, a boolean."""
    return _is(item, None) or _is(item, Ellipsis) or _is_flag(lo, item.value)


def _is_flag(lo: Lowerer, value: Binding | Slice) -> bool:
    if isinstance(value, Num):
        return value.operand.type.kind == "b"
    return isinstance(value, Lazy | ArrayRef) and _kind(value) == "b" and not dims_of(lo, value)


def is_advanced(lo: Lowerer, items: Sequence[Item]) -> bool:
    return any(is_array(item.value) and dims_of(lo, item.value) for item in items)  # type: ignore[arg-type]


def prepared(lo: Lowerer, x: Arraylike, items: Sequence[Item], node: ast.AST) -> list[Item]:
    """Replace ``...``, expand short indices with full slices, turn lists into arrays."""
    found: list[Item] = []
    for item in items:
        value = item.value
        if isinstance(value, NamedTuple) and value.cls is slice:
            start, stop, step = (slice_end(lo, end, item.node) for end in value.record.items)
            value = Slice(start, stop, step, item.node)
        if not isinstance(value, Slice):
            value = as_index_array(lo, value, item.node)
            value = elementwise.value_of(lo, value, item.node)
        found.append(Item(value, item.node))
    rank = len(dims_of(lo, x))
    used = sum(_consumes(lo, item) for item in found)
    if used > rank:
        name = repr(x.object.name) if isinstance(x, ArrayRef) else "the array"
        shown = f"is {rank}-dimensional, but {used} were indexed"
        own = f"too many indices for array: array {shown}"
        numbers.refuse(lo, f"too many indices: {name} {shown}", node, "IndexError", own)
    full = Slice(None, None, None, node)
    dots = [k for k, item in enumerate(found) if _is(item, Ellipsis)]
    if len(dots) > 1:
        raise TypeMismatchError("an index can only have a single `...`", lo.span(node))
    at = dots[0] if dots else len(found)
    fill = [Item(full, node)] * (rank - used)
    return [*found[:at], *fill, *found[at + 1 :]]


def _is(item: Item, value: object) -> bool:
    return isinstance(item.value, Static) and item.value.value is value


def _consumes(lo: Lowerer, item: Item) -> int:
    """Return how many axes a part of an index uses up."""
    if _is(item, None) or _is(item, Ellipsis):
        return 0
    if isinstance(item.value, Lazy | ArrayRef) and _kind(item.value) == "b":
        return len(dims_of(lo, item.value))
    return 1


def _kind(x: Arraylike) -> str:
    return elementwise.element_type(x).kind


def window(lo: Lowerer, x: Arraylike, items: Sequence[Item], node: ast.AST) -> Arraylike:
    """Return the view that a basic index denotes."""
    return basic(lo, x, prepared(lo, x, items, node))


def basic(lo: Lowerer, x: Arraylike, items: Sequence[Item]) -> Arraylike:
    """Return the view that a prepared basic index denotes."""
    dims: list[Operand] = []
    axes: list[Axis] = []
    sizes = iter(enumerate(dims_of(lo, x)))
    trivial = True
    for item in items:
        if _is(item, None):
            dims.append(integer(1))
            trivial = False
            continue
        axis, size = next(sizes)
        value = item.value
        with lo.at(item.node):
            if isinstance(value, Slice):
                offset, step, length = resolve_slice(lo, value, size)
                trivial &= length == size and step == integer(1) and offset == integer(0)
                axes.append(Axis(offset, ((len(dims), step),)))
                dims.append(length)
                continue
        if not isinstance(value, Num) or value.operand.type.kind not in "iu":
            raise TypeMismatchError(
                f"an index must be an integer, not {kind_of(value)}", lo.span(item.node)
            )
        axes.append(Axis(checked_index(lo, value.operand, size, axis, item.node), ()))
        trivial = False
    return views.anew(x) if trivial else views.through(lo, x, Window(tuple(dims), tuple(axes)))


def read(lo: Lowerer, x: Arraylike, items: Sequence[Item], node: ast.AST) -> Binding:
    """Lower ``x[items]``: a number, a view, or for advanced indexing an expression."""
    x, items = masked(lo, x, items, node)
    whole = any(_is(item, Ellipsis) for item in items)
    items = prepared(lo, x, items, node)
    if is_advanced(lo, items):
        return Advanced(lo, x, items, node).read()
    found = basic(lo, x, items)
    # With `...` even one element is a view.
    return found if dims_of(lo, found) or whole else elementwise.value_of(lo, found, node)


def write(lo: Lowerer, x: ArrayRef, items: Sequence[Item], value: Binding, node: ast.AST) -> None:
    """Lower ``x[items] = value``."""
    x, items = masked(lo, x, items, node)  # type: ignore[assignment]  # of an array, a view of it
    items = prepared(lo, x, items, node)
    if is_advanced(lo, items):
        Advanced(lo, x, items, node).write(value)
        return
    target = basic(lo, x, items)
    assert isinstance(target, ArrayRef)
    elementwise.assign_to(lo, target, value, node)


class Advanced:
    """An index with integer arrays or a mask.

    The integer arrays, broadcast together, give the *gathered* axes; they stand where the arrays
    stand, or first if a slice or None separates them.
    """

    def __init__(self, lo: Lowerer, x: Arraylike, items: Sequence[Item], node: ast.AST) -> None:
        self.lo, self.x, self.node = lo, x, node
        items = self._without_masks(items)
        # Integers next to arrays take part in broadcasting; without arrays they would be windows.
        advanced = [
            k for k, item in enumerate(items) if isinstance(item.value, Num | Lazy | ArrayRef)
        ]
        arrays = [lazy(lo, i.value, node) for i in items if isinstance(i.value, Lazy | ArrayRef)]
        self.gathered = common_dims(lo, [a.dims for a in arrays], node)
        together = advanced == list(range(advanced[0], advanced[-1] + 1))
        sizes = dims_of(lo, x)
        basic: list[Operand] = []
        # For every axis of x: an index array, a fixed index, or (position, offset, step).
        self.sources: list[Lazy | Operand | tuple[int, Operand, Operand]] = []
        before = 0
        axis = 0
        for k, item in enumerate(items):
            value = item.value
            if _is(item, None):
                basic.append(integer(1))
            elif isinstance(value, Slice):
                offset, step, length = resolve_slice(lo, value, sizes[axis])
                self.sources.append((len(basic), offset, step))
                basic.append(length)
                axis += 1
            elif isinstance(value, Lazy | ArrayRef):
                self.sources.append(self._index(value, item, axis, sizes[axis]))
                axis += 1
            elif isinstance(value, Num):
                self.sources.append(checked_index(lo, value.operand, sizes[axis], axis, item.node))
                axis += 1
            else:
                raise TypeMismatchError(
                    f"an index must be an integer, not {kind_of(value)}", lo.span(item.node)
                )
            if k < advanced[0]:
                before = len(basic)
        self.at = before if together else 0
        self.dims = (*basic[: self.at], *self.gathered, *basic[self.at :])

    def _without_masks(self, items: Sequence[Item]) -> list[Item]:
        """Replace masks by the index arrays that they stand for."""
        lo = self.lo
        found: list[Item] = []
        sizes = list(dims_of(lo, self.x))
        axis = 0
        for item in items:
            value = item.value
            if isinstance(value, Lazy | ArrayRef) and _kind(value) == "b":
                mask = lazy(lo, value, self.node)
                for k, (size, wanted) in enumerate(
                    zip(mask.dims, sizes[axis:], strict=False), axis
                ):
                    if lo.sizes.same_size(size, wanted):
                        continue
                    text = (
                        f"boolean index did not match indexed array along axis {k}; size of axis "
                        "is {} but size of corresponding boolean axis is {}"
                    )
                    with lo.at(item.node):
                        fits = numbers.apply(lo, "eq", size, wanted)
                        numbers.check(lo, fits, "IndexError", text, wanted, size)
                    lo.sizes.unify_sizes(size, wanted)
                found += [Item(a, item.node, True) for a in nonzero(lo, mask, item.node)]
                axis += len(mask.dims)
            else:
                found.append(item)
                axis += _consumes(lo, item)
        return found

    def _index(self, value: Arraylike, item: Item, axis: int, size: Operand) -> Lazy:
        lo = self.lo
        source = lazy(lo, value, item.node)
        if source.type.kind not in "iu":
            raise TypeMismatchError(
                f"an array used as an index must have an integer dtype, not {source.type.numpy}",
                lo.span(item.node),
            )
        if source.cost > elementwise.CHEAP:
            source = lazy(lo, elementwise.base_of(lo, source, item.node), item.node)
        result = views.broadcast(lo, source, self.gathered)
        assert isinstance(result, Lazy)
        if item.proven:
            return result

        def element(index: Sequence[Operand]) -> Operand:
            return checked_index(lo, result.element(index), size, axis, item.node)

        return replace(result, element=element)

    def base_index(self, index: Sequence[Operand]) -> list[Operand]:
        """Return the element of `x` that an index of the result means."""
        lo = self.lo
        many = len(self.gathered)
        gathered = list(index[self.at : self.at + many])
        basic = [*index[: self.at], *index[self.at + many :]]
        found: list[Operand] = []
        for source in self.sources:
            if isinstance(source, Lazy):
                found.append(source.element(gathered))
            elif isinstance(source, tuple):
                k, offset, step = source
                found.append(numbers.plus(lo, offset, times(lo, basic[k], step)))
            else:
                found.append(source)
        return found

    def read(self) -> Lazy:
        """Return the copy that an advanced index gives."""
        lo = self.lo
        whole = lazy(lo, self.x, self.node)

        def element(index: Sequence[Operand]) -> Operand:
            with lo.at(self.node):
                return whole.element(self.base_index(index))

        reads = tuple((obj, (*view, Window((), ())), v) for obj, view, v in whole.reads)
        for source in self.sources:
            if isinstance(source, Lazy):
                reads += tuple((obj, (*view, Window((), ())), v) for obj, view, v in source.reads)
        result = Lazy(self.dims, whole.type, element, reads, whole.cost + 4)
        # NumPy copies, and checks every index, here.
        return lazy(lo, elementwise.base_of(lo, result, self.node), self.node)

    def write(self, value: Binding) -> None:
        lo, node = self.lo, self.node
        x = self.x
        assert isinstance(x, ArrayRef)
        if not elementwise.is_writable(lo, x, node):
            return
        obj = x.object
        target = x.element
        value = elementwise.value_of(lo, value, node)
        if isinstance(value, ArrayRef | Lazy):
            source = elementwise.fitted(lo, lazy(lo, value, node), self.dims, node)
            if any(o is obj for o, _, _ in source.reads) or source.cost > elementwise.CHEAP:
                source = lazy(lo, elementwise.base_of(lo, source, node), node)
        else:
            operand = elementwise.number(lo, value, node, "storing into an array")
            with lo.at(node):
                operand = numbers.stored(lo, operand, target, node)
            source = Lazy(self.dims, target, lambda index: operand)
        current = lo.version(obj, node)
        with lo.at(node):

            def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
                item = numbers.stored(lo, source.element(index), target, node)
                at = views.base_index(lo, x, self.base_index(index))
                item = elementwise.placed(lo, x, lambda: lo.builder.load(carried[0], at), item)
                return [lo.builder.store(carried[0], at, item, hint=obj.name)]

            (version,) = nest(lo, self.dims, [current], [obj.name], body)
        if version is not current:
            assert isinstance(version, Value)
            lo.update(obj, version)


def nonzero(lo: Lowerer, mask: Lazy, node: ast.AST) -> list[ArrayRef]:
    """Return the indices, one array for each axis, at which a mask is true."""
    if mask.cost > 1:
        mask = lazy(lo, elementwise.base_of(lo, mask, node), node)
    count = count_true(lo, mask, node)
    rank = len(mask.dims)
    with lo.at(node):
        empties = [
            lo.builder.apply("empty", count, params=("i64",), hint="where") for _ in range(rank)
        ]

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            position, arrays = carried[0], carried[1:]
            cond = operators.truth(lo, Num(mask.element(index)), node)
            with lo.builder.block() as stmts:
                stored = [
                    lo.builder.store(a, [position], lo.convert(k, a.type.element), hint="where")  # type: ignore[union-attr]
                    for a, k in zip(arrays, index, strict=True)
                ]
                following = lo.builder.apply("add", position, integer(1), hint="position")
            results = [lo.builder.value(h, v.type) for h, v in zip(hints, carried, strict=True)]
            lo.builder.emit(
                If(tuple(results), cond, Block((), tuple(stmts), (following, *stored)),
                   Block((), (), tuple(carried)), lo.builder.loc)
            )  # fmt: skip
            lo.sizes.counts(results[0])
            return list(results)

        hints = ["position", *["where"] * rank]
        found = nest(lo, mask.dims, [integer(0), *empties], hints, body)
    made: list[ArrayRef] = []
    for version in found[1:]:
        assert isinstance(version, Value)
        made.append(lo.new_array(version, (count,), "where"))
    return made


def count_true(lo: Lowerer, mask: Lazy, node: ast.AST) -> Operand:
    """Return how many elements of a mask are true, a Python integer."""
    with lo.at(node):

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            true = operators.truth(lo, Num(mask.element(index)), node)
            step = lo.convert(true, INT)
            return [lo.sizes.counts(lo.builder.apply("add", carried[0], step, hint="count"))]

        (count,) = nest(lo, mask.dims, [integer(0)], ["count"], body)
    return lo.sizes.counts(count)


def index_of(lo: Lowerer, x: Arraylike, indices: Sequence[Binding], node: ast.AST) -> list[Operand]:
    """Return checked, non-negative indices of one element of the array behind `x`."""
    dims = dims_of(lo, x)
    if len(indices) != len(dims):
        raise TypeMismatchError(
            f"{len(indices)} indices of one element of an array with {len(dims)} axes",
            lo.span(node),
        )
    found: list[Operand] = []
    for axis, (binding, size) in enumerate(zip(indices, dims, strict=True)):
        operand = elementwise.number(lo, binding, node, "an index")
        if operand.type.kind not in "iu":
            kind = kind_of(binding)
            raise TypeMismatchError(f"an index must be an integer, not {kind}", lo.span(node))
        found.append(checked_index(lo, operand, size, axis, node))
    return found


def as_index_array(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return an array for a list, tuple or range used as an index."""
    items = arguments.sequence(lo, binding)
    if items is not None and not items:
        return arrays.from_items(lo, (), node, "i64")  # an array of them would be one of floats
    if isinstance(binding, ListRef | TupleOf | Range):
        return arrays.as_array(lo, binding, node)
    if isinstance(binding, Num) and binding.operand.type.kind == "b":
        raise lo.unsupported("a boolean as an index", node, "use a boolean array")
    return binding
