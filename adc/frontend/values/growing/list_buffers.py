"""Buffers: the elements of lists whose length is known only at run time.

A buffer is an array with capacity for more rows than the list has; a list of tuples has one buffer
for each position (`list_elements`). Lists that join are converted to one structure here; operations
on lists are in `dynamic_lists`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    BY_LIST,
    NONE,
    ArrayRef,
    Binding,
    Cell,
    Growing,
    Handle,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Nested,
    Num,
    Perhaps,
    RecordOf,
    Static,
    TupleOf,
    Window,
    is_unset,
    may_be_unset,
    shares,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import cells_of, children, shape_of, with_cells
from adc.frontend.values import elementwise, views
from adc.frontend.values.growing import list_elements
from adc.ir.builder import integer
from adc.ir.core import Block, If, Literal, Operand, Value
from adc.ir.errors import AssumptionError, LimitError, TypeUnstableError, UnsupportedError
from adc.ir.types import BOOL, Scalar
from adc.library.standard import pooled

FIRST = 16
# A buffer, its cell, and the part of an element that is for it.
Column = tuple[ArrayRef, Cell, list_elements.Part]


def kept_in(lo: Lowerer, binding: Binding) -> Binding | None:
    """Return the structure of the elements of a list whose length is known only at run time."""
    held = lo.held(binding) if isinstance(binding, ListRef) else None
    return held.element if isinstance(held, Growing) else None


def note_appended(lo: Lowerer, slot: str, element: Binding | None) -> None:
    """Record an element that is added to a list, for enclosing loops; None: of another kind."""
    known = slot in lo.appended
    whole = lo.appended[slot] = (
        list_elements.joined(lo.appended[slot], element) if known else element
    )
    _want_one_pool(lo, whole)


def _want_one_pool(lo: Lowerer, element: Binding | None) -> None:
    """Note that lists that are made at several places are of one kind, rather than of several."""
    lo.want_one_pool(
        *(each.like.slot for each in _handles(element) if isinstance(each.like, ListRef))
    )


def _handles(element: Binding | None) -> Iterator[Handle]:
    """Yield what elements of lists have of objects and lists that are in pools."""
    if isinstance(element, Handle):
        yield element
    for part in children(element) if element is not None else ():
        yield from _handles(part)


def inherit_appended(lo: Lowerer, slot: str, *others: str) -> None:
    """Record that a list holds what was added to others, and that a set shrinks as others do."""
    for other in others:
        if other in lo.shrunk:
            lo.note_removal(slot)
        if other in lo.ordered:
            lo.ordered.add(slot)
        if other in lo.appended:
            note_appended(lo, slot, lo.appended[other])


def common(lo: Lowerer, lists: Sequence[Binding], element: Binding | None = None) -> Binding | None:
    """Return the common structure of the elements of lists (and of `element`)."""
    found = [] if element is None else [element]
    for held in lists:
        if isinstance(held, Growing):
            found.append(held.element)
            continue
        rows = rows_of(held)
        if rows is None:
            return None
        for item, there in rows:
            if not isinstance(there, Literal) and list_elements.has_arrays_in(item):
                return None  # where it is not there, its sizes are not known
            one = list_elements.element_of(lo, item)
            if one is None:
                return None
            found.append(one)
    whole: Binding | None = found[0] if found else None
    for one in found[1:]:
        whole = list_elements.joined(whole, one)
    _want_one_pool(lo, whole)
    return whole


def rows_of(held: Binding) -> list[tuple[Binding, Operand]] | None:
    """Return the elements of a list, or the items of a dict, and whether each is there.

    None if a dict has keys that no table has: they are integers, and tuples of integers.
    """
    if isinstance(held, TupleOf):
        return [(item, Literal(True, BOOL)) for item in held.items]
    assert isinstance(held, RecordOf)
    rows: list[tuple[Binding, Operand]] = []
    for key, item in zip(held.keys, held.items, strict=True):
        if not _is_key(key):
            return None
        if is_unset(item):
            continue
        there: Operand = Literal(True, BOOL)
        value = item
        if may_be_unset(item):
            assert isinstance(item, Maybe)
            value, there = item.inner, item.some
        rows.append((TupleOf((static(key), value)), there))
    return rows


def _is_key(key: object) -> bool:
    if isinstance(key, tuple):
        return bool(key) and all(map(_is_key, key))
    return isinstance(key, int) and not isinstance(key, bool)


def _at(lo: Lowerer, node: ast.AST | None) -> AbstractContextManager[None]:
    return lo.at(node) if node is not None else nullcontext()


def _buffer(lo: Lowerer, version: Value, dims: Sequence[Operand], cell: Cell) -> ArrayRef:
    made = lo.new_array(version, tuple(dims), "list")
    made.object.kept = BY_LIST if cell.sizes is not None else frozenset()
    return made


def recopied(lo: Lowerer, buffer: ArrayRef, node: ast.AST | None) -> ArrayRef:
    """Return a buffer with the same elements, for a list that may overwrite them.

    What was read from the old one, and whoever still reads it, keeps its version.
    """
    old = buffer.object
    made = lo.new_array(lo.version(old, node), lo.dims[old], old.name)
    made.object.kept = old.kept
    shares(made.object, old)
    return made


def put(
    lo: Lowerer, buffer: ArrayRef, cell: Cell, at: Operand, part: list_elements.Part,
    node: ast.AST | None,
) -> None:  # fmt: skip
    """Store a number or array as an element that only the list can see."""
    if part is None:
        return
    obj = buffer.object
    version = lo.version(obj, node)
    if isinstance(part, Num):
        operand = lo.exact(lo.convert(part.operand, cell.type), Scalar(cell.type.dtype))
        lo.versions[obj] = lo.builder.store(version, [at], operand, hint="list")
        return
    source = elementwise.lazy(lo, part, node)
    if any(read is version for _, _, read in source.reads):
        copied = elementwise.stored_new(lo, source, source.type.dtype, node)
        source = elementwise.lazy(lo, copied, node)

    def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
        item = lo.exact(lo.convert(source.element(index), cell.type), Scalar(cell.type.dtype))
        return [lo.builder.store(carried[0], [at, *index], item, hint="list")]

    (found,) = elementwise.nest(lo, source.dims, [version], ["list"], body)
    assert isinstance(found, Value)
    lo.versions[obj] = found
    obj.kept = obj.kept or BY_LIST
    shares(obj, part.object)


def moved_on(
    lo: Lowerer, buffer: ArrayRef, cell: Cell, part: list_elements.Part, count: Operand,
    size: Operand, node: ast.AST | None,
) -> ArrayRef:  # fmt: skip
    """Return a buffer of `size` rows: a new element, and behind it the `count` that there are."""
    old, now = lo.version(buffer.object, node), lo.row_dims(buffer, cell, node)
    dims = (size, *(now if part is None else part_dims(lo, part)))

    def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
        at = [numbers.plus(lo, index[0], integer(1)), *index[1:]]
        return [lo.builder.store(carried[0], at, lo.builder.load(old, index), hint="list")]

    (version,) = elementwise.nest(lo, [count, *now], [made_buffer(lo, cell, dims)], ["list"], body)
    assert isinstance(version, Value)
    made = _buffer(lo, version, dims, cell)
    shares(made.object, buffer.object)
    put(lo, made, cell, integer(0), part, node)
    return made


def grown(lo: Lowerer, held: Binding, element: Binding, node: ast.AST | None) -> Binding:
    """Return the contents of a list as a growing list of elements like `element`.

    Unchanged if it has others by now: what is known of a list may be from an earlier attempt.
    """
    whole = common(lo, [held], element)
    if whole is None:
        return held
    if isinstance(held, Growing):
        return widened(lo, held, whole, node)
    rows = rows_of(held) or []
    return converted(lo, [row for row, _ in rows], whole, node, [there for _, there in rows])


def converted(
    lo: Lowerer, items: Sequence[Binding], element: Binding, node: ast.AST | None,
    there: Sequence[Operand] = (),
) -> Growing:  # fmt: skip
    """Return a growing list that starts with `items`, or with those of them that are `there`."""
    rows = [list(list_elements.parts(lo, element, item)) for item in items]
    # The first array that is appended tells the sizes: until then there is no room.
    capacity = max(FIRST, 2 * len(items)) if items or not list_elements.has_arrays(element) else 0
    buffers: list[ArrayRef] = []
    places: list[Operand] = [integer(0)]
    with _at(lo, node):
        for k in range(len(items)):
            # What is not there is overwritten by the next element, or lies behind the last one.
            more = numbers.to_int(lo, there[k]) if there else integer(1)
            places.append(numbers.plus(lo, places[k], more))
        for j, cell in enumerate(cells_of(element)):
            dims: list[Operand] = [integer(size or 0) for size in cell.sizes or ()]
            known = [part for row in rows if (part := row[j]) is not None]
            for part in known[:1]:
                dims = list(part_dims(lo, part))
                require_room(lo, cell, dims)
            for part in known[1:]:
                check_sizes(lo, dims, part_dims(lo, part), late=cell.late)
            dims = [integer(capacity), *dims]
            buffers.append(_buffer(lo, made_buffer(lo, cell, dims), dims, cell))
            for k, row in enumerate(rows):
                put(lo, buffers[-1], cell, places[k], row[j], node)
    count = places[-1]
    if not isinstance(count, Literal):
        count = lo.sizes.counts(count)
    return Growing(tuple(buffers), Num(count), element)


def made_buffer(lo: Lowerer, cell: Cell, dims: Sequence[Operand]) -> Value:
    """Return a new buffer; where elements may have no array, there are zeros."""
    if not cell.late:
        return lo.builder.apply("empty", *dims, params=(cell.type.dtype,), hint="list")
    zero = list_elements.zero(Scalar(cell.type.dtype))
    return lo.builder.apply("full", zero, *dims, params=(cell.type.dtype,), hint="list")


def part_dims(lo: Lowerer, part: list_elements.Part) -> tuple[Operand, ...]:
    return views.dims_of(lo, part) if isinstance(part, ArrayRef) else ()


def has_none_yet(lo: Lowerer, cell: Cell, dims: Sequence[Operand]) -> Operand:
    """Return whether no array was stored in a buffer: one has a size that is known only then."""
    assert cell.sizes is not None
    return numbers.apply(lo, "eq", dims[cell.sizes.index(None)], integer(0))


def require_room(lo: Lowerer, cell: Cell, own: Sequence[Operand]) -> None:
    """Require that an array is none that would look as if there was no array (`has_none_yet`)."""
    for size in own if cell.late else ():
        list_elements.assume(lo, numbers.apply(lo, "gt", size, integer(0)))


def check_sizes(
    lo: Lowerer, dims: Sequence[Operand], own: Sequence[Operand], empty: Operand | None = None,
    *, late: bool = False,
) -> Operand:  # fmt: skip
    """Check that an array has the sizes of those in the list; return whether it has.

    `empty` says that there are none: then it may have any. Where they come `late` (`Cell`), the
    list may be one of known length as well.
    """
    result: Operand = Literal(True, BOOL)
    for a, b in zip(dims, own, strict=True):
        if not lo.sizes.same_size(a, b):
            result = numbers.apply(lo, "and", result, numbers.apply(lo, "eq", a, b))
    if isinstance(result, Literal) and result.value:
        return result
    ok = result if empty is None else numbers.apply(lo, "or", result, empty)
    if late:
        list_elements.assume(lo, ok)
        return result
    shapes = ["({})".format(", ".join(["{}"] * len(dims)))] * 2
    numbers.check(
        lo, ok, limit(lo, ok),
        "adc: the arrays in a list whose length is known only at run time must have one shape; "
        "found {} and {}".format(*shapes),
        *dims, *own,
    )  # fmt: skip
    return result


def differ(lo: Lowerer, items: Sequence[Binding], element: Binding) -> bool:
    """Whether arrays in a list are known to have several shapes."""
    columns = zip(*(list_elements.parts(lo, element, item) for item in items), strict=True)
    for parts in columns:
        dims = [part_dims(lo, part) for part in parts if part is not None]
        for sizes in zip(*dims, strict=True):
            if len({size.value for size in sizes if isinstance(size, Literal)}) > 1:
                return True
    return False


def limit(lo: Lowerer, ok: Operand) -> str:
    """Return the error of a list whose arrays are not as a buffer needs them.

    Where the buffer is for the sake of shorter code only, it is an assumption; code that makes none
    is refused, and so is code that would never hold.
    """
    if not (lo.shared.rolls or lo.shared.pooled):
        return LimitError.__name__
    if lo.shared.general or isinstance(ok, Literal):
        raise UnsupportedError(list_elements.NOT_KNOWN, lo.builder.loc)
    return AssumptionError.__name__


def columns(lo: Lowerer, held: Growing, value: Binding) -> list[Column]:
    """Return every buffer, its cell, and the part of a new element for it."""
    found = list_elements.parts(lo, held.element, value)
    return list(zip(held.buffers, cells_of(held.element), found, strict=True))


def accepting(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> Growing:
    """Return the contents of a list, in a form that can hold `value`."""
    held = lo.held(ref)
    assert isinstance(held, Growing)
    element = note(lo, ref, value)
    if element is None:
        raise lo.unsupported(
            f"{kind_of(value)} in a list whose length is known only at run time",
            node,
            "append numbers, arrays, or tuples of them",
        )
    whole = list_elements.joined(held.element, element)
    if whole is None:
        raise TypeUnstableError(
            f"{kind_of(value)} in a list that is {kind_of(held)}", lo.span(node),
            "a list whose length is known only at run time has elements of one kind",
        )  # fmt: skip
    held = widened(lo, held, whole, node)
    # An argument's own array is not written to.
    buffers = tuple(
        recopied(lo, buffer, node) if buffer.object in lo.origin else buffer
        for buffer in held.buffers
    )
    return replace(held, buffers=buffers)


def note(lo: Lowerer, ref: ListRef, value: Binding) -> Binding | None:
    """Record an element that is added to a list, for enclosing loops."""
    element = list_elements.element_of(lo, value)
    note_appended(lo, ref.slot, element)
    return element


def replaced(
    lo: Lowerer, held: Growing, at: Operand, columns: Sequence[Column], node: ast.AST
) -> Growing:
    """Return the contents of a list with other parts of the element at an index."""
    buffers = {buffer.object: buffer for buffer in held.buffers}
    for buffer, cell, part in columns:
        made = buffer
        if cell.sizes is not None:
            if part is None:
                continue
            own = part_dims(lo, part)
            with lo.at(node):
                require_room(lo, cell, own)
                if cell.late and None in cell.sizes:
                    _make_room(lo, buffer, cell, own, node)
                check_sizes(lo, lo.row_dims(buffer, cell, node), own, late=cell.late)
            made = recopied(lo, buffer, node)
        put(lo, made, cell, at, part, node)
        buffers[buffer.object] = made
    return replace(held, buffers=tuple(buffers[buffer.object] for buffer in held.buffers))


def _make_room(
    lo: Lowerer, buffer: ArrayRef, cell: Cell, own: Sequence[Operand], node: ast.AST | None
) -> None:
    """Replace a buffer without room for arrays, if it is one, before the first one is stored."""
    none_yet = has_none_yet(lo, cell, lo.row_dims(buffer, cell, node))
    if isinstance(none_yet, Literal) and not none_yet.value:
        return
    old, rows = lo.version(buffer.object, node), lo.size_of(buffer, 0, node)
    with lo.builder.block() as stmts:
        made = made_buffer(lo, cell, (rows, *own))
    result = lo.builder.value("list", old.type)
    then, orelse = Block((), tuple(stmts), (made,)), Block((), (), (old,))
    lo.builder.emit(If((result,), none_yet, then, orelse, loc=lo.builder.loc))
    lo.versions[buffer.object] = result


def widened(lo: Lowerer, held: Growing, element: Binding, node: ast.AST | None) -> Growing:
    """Return a list that can hold elements like `element`."""
    if isinstance(element, Perhaps) and element.blank and isinstance(held.element, Cell):
        if held.element.sizes is None:  # the numbers in it go
            held = Growing((), held.length, NONE)
    left = iter(held.buffers)
    buffers: list[ArrayRef] = []
    for old, new in _pairs(held.element, element):
        own = [next(left) for _ in cells_of(old)]
        if isinstance(old, Cell) and isinstance(new, Cell) and old.type.dtype == new.type.dtype:
            buffers += own
            if new.late and not old.late:
                none = numbers.apply(lo, "eq", held.length.operand, integer(0))
                for size in lo.row_dims(own[0], old, node):
                    some = numbers.apply(lo, "gt", size, integer(0))
                    list_elements.assume(lo, numbers.apply(lo, "or", none, some))
        elif shape_of(old) == shape_of(new):
            buffers += own
        else:
            buffers += _widened(lo, held, own, old, new, node)
    return Growing(tuple(buffers), held.length, element)


def _widened(
    lo: Lowerer, held: Growing, own: Sequence[ArrayRef], old: Binding, new: Binding,
    node: ast.AST | None,
) -> list[ArrayRef]:  # fmt: skip
    """Return buffers for numbers, or for what is one of several, as they are in `own`."""
    sources = [elementwise.lazy(lo, buffer, node) for buffer in own]
    # A list without buffers has room for what it holds.
    room = lo.size_of(held.buffers[0], 0, node) if held.buffers else held.length.operand
    made: list[ArrayRef] = []
    for k, cell in enumerate(cells_of(new)):
        ty = Scalar(cell.type.dtype)
        if cell.sizes is not None:  # that no element has
            dims = [room, *(integer(size or 0) for size in cell.sizes)]
            made.append(_buffer(lo, made_buffer(lo, cell, dims), dims, cell))
            continue

        def convert(at: Sequence[Operand], k: int = k, ty: Scalar = ty) -> Operand:
            found = (
                Num(lo.exact(source.element(at), each.type))
                for source, each in zip(sources, cells_of(old), strict=True)
            )
            value = with_cells(old, found)
            part = list(list_elements.parts(lo, new, value))[k]
            assert isinstance(part, Num)
            return lo.convert(part.operand, ty)

        lazy = Lazy((room,), ty, convert, tuple(read for each in sources for read in each.reads))
        made.append(elementwise.stored_new(lo, lazy, ty.dtype, node, "list"))
    return made


def _pairs(old: Binding, new: Binding) -> Iterator[tuple[Binding, Binding]]:
    """Yield the numbers, arrays and texts of two elements, and what is one of several."""
    if isinstance(new, Perhaps) and list_elements.has_arrays(new):
        if isinstance(old, Perhaps):
            yield from _pairs(old.inner, new.inner)
            yield old.some, new.some
        elif list_elements.is_none(old):
            yield from ((old, cell) for cell in cells_of(new.inner))
            yield Num(Literal(False, BOOL)), new.some
        else:
            yield from _pairs(old, new.inner)
            yield Num(Literal(True, BOOL)), new.some
    elif isinstance(old, TupleOf | RecordOf | NamedTuple | Nested):
        for x, y in zip(children(old), children(new), strict=True):
            yield from _pairs(x, y)
    else:
        yield old, new


def view(lo: Lowerer, held: Growing, k: int = 0) -> ArrayRef:
    """Return the filled part of a buffer."""
    cell = list(cells_of(held.element))[k]
    dims = (lo.sizes.counts(held.length.operand), *lo.row_dims(held.buffers[k], cell, None))
    return ArrayRef(held.buffers[k].object, (Window(dims, tuple(views.whole(dims))),))


def array_of(lo: Lowerer, held: Growing, node: ast.AST, empty: str | None = None) -> ArrayRef:
    """Return the numbers or arrays in a list as a view of one array.

    An array of no arrays has no known rank: that is an error, Python's with the text `empty`.
    """
    if isinstance(held.element, Handle) and isinstance(held.element.like, ListRef):
        made = dispatch.apply(
            lo, Static(pooled.arrays), [lo.new_ref(ListRef, held)], {}, classes.call_at(node)
        )
        assert isinstance(made, ListRef)
        arrays = lo.held(made)
        assert isinstance(arrays, Growing)
        held = arrays
    held = without_none(lo, held, node)
    if not isinstance(held.element, Cell):
        raise lo.unsupported(
            f"an array of a list that is {kind_of(held)}", node, "make a list of each of them"
        )
    if held.element.sizes is not None:
        with lo.at(node):
            some = numbers.apply(lo, "gt", held.length.operand, integer(0))
            text = "adc: this list of arrays is empty, so the shape of its elements is not known"
            numbers.check(lo, some, "ValueError" if empty else limit(lo, some), empty or text)
    return view(lo, held)


def without_none(lo: Lowerer, held: Growing, node: ast.AST) -> Growing:
    """Return the contents of a list of which no element may be None, which is checked."""
    if not isinstance(held.element, Perhaps):
        return held
    *buffers, flags = held.buffers
    size = lo.sizes.counts(held.length.operand)
    there = ArrayRef(flags.object, (Window((size,), tuple(views.whole((size,)))),))
    found = dispatch.apply(lo, Static(np.all), [there], {}, classes.call_at(node))
    text = "adc: an array of a list in which an element is None"
    with lo.at(node):
        ok = elementwise.number(lo, found, node, text)
        if held.element.blank:
            list_elements.assume(lo, ok)
        numbers.check(lo, ok, LimitError.__name__, text)
    return Growing(tuple(buffers), held.length, list_elements.with_late(held.element.inner, False))


def element_copy(lo: Lowerer, element: ArrayRef) -> ArrayRef:
    """Return a copy that stands for an array in a list."""
    made = elementwise.copy(lo, element, None)
    shares(made.object, element.object)
    made.object.kept = BY_LIST
    return made
