"""Buffers: the elements of lists whose length is known only at run time.

A buffer is an array with capacity for more rows than the list has; a list of tuples has one buffer
for each position. The common structure of all elements is a binding made of `Cell`. Lists that join
are converted to one structure here; operations on lists are in `dynamic_lists`.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    BY_LIST,
    Among,
    ArrayRef,
    Binding,
    Bound,
    Cell,
    DictRef,
    Growing,
    Handle,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Nested,
    Num,
    ObjectRef,
    OneOf,
    Perhaps,
    Pooled,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    Window,
    Words,
    is_unset,
    may_be_unset,
    one_type,
    shares,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import cells_of, children, leaves, shape_of, with_cells
from adc.frontend.values import elementwise, optional, views
from adc.frontend.values.growing import wordings
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import AssumptionError, LimitError, TypeUnstableError, UnsupportedError
from adc.ir.types import BOOL, INT, Scalar, join
from adc.library.standard import pooled

FIRST = 16
# A buffer, its cell, and the part of an element that is for it.
Column = tuple[ArrayRef, Cell, Num | ArrayRef]
# How many texts and objects may be among the elements of a list.
MOST = 24


def kept_in(lo: Lowerer, binding: Binding) -> Binding | None:
    """Return the structure of the elements of a list whose length is known only at run time."""
    held = lo.held(binding) if isinstance(binding, ListRef) else None
    return held.element if isinstance(held, Growing) else None


def element_of(lo: Lowerer, value: Binding) -> Binding | None:
    """Return the structure of elements like `value`, or None if a growing list cannot hold them."""
    match value:
        case Num(operand=operand) if isinstance(operand.type, Scalar):
            return Cell(operand.type)
        case ArrayRef():
            dims = views.dims_of(lo, value)
            ty = Scalar(value.element.dtype)
            sizes = tuple(int(d.value) if isinstance(d, Literal) else None for d in dims)
            return Cell(ty, sizes if dims else None)
        case TupleOf(items=items):
            found = [element_of(lo, item) for item in items]
            known = [item for item in found if item is not None]
            return TupleOf(tuple(known)) if len(known) == len(items) else None
        case Maybe(inner=something) if not may_be_unset(value):
            return _perhaps(element_of(lo, something), None)
        case ObjectRef() | DictRef() | ListRef() if (handle := lo.handle_of(value)) is not None:
            return handle
        case OneOf(items=items) if all(isinstance(x, Handle) for x in _in_pools(lo, items)):
            several: Binding | None = None
            for item in _in_pools(lo, items):
                several = joined(several or item, item)
            return several
        case Words() | OneOf() if (several := wordings.element_of(value)) is not None:
            return several
        case Words(items=items):
            inner = element_of(lo, TupleOf(items))
            return replace(value, items=inner.items) if isinstance(inner, TupleOf) else None
        case NamedTuple(cls=cls, record=RecordOf(keys=keys, items=items)):
            inner = element_of(lo, TupleOf(items))
            assert inner is None or isinstance(inner, TupleOf)
            return None if inner is None else NamedTuple(cls, RecordOf(keys, inner.items))
        case Maybe(inner=inner) if not may_be_unset(value):
            found_inner = element_of(lo, inner)
            if found_inner is None or has_arrays(found_inner):
                return None  # where it is None, the sizes are not known
            return Perhaps(found_inner, Cell(BOOL))
        case OneOf(items=items) if lo.shared.picks and all(map(_may_be_among, items)):
            return Among(items, Cell(INT))
        case _ if lo.shared.picks and _may_be_among(value):
            return Among((value,), Cell(INT))
        case Static():
            return value
    return None


def _may_be_among(value: Binding) -> bool:
    """Whether elements of a list may be this and others.

    That is a text, a member of an enumeration, a function, a list, dict or object, or a method of
    one.
    """
    match value:
        case Static(value=str() | enum.Enum() | types.FunctionType()):
            return True
        case Bound(owner=owner, after=None):
            return isinstance(owner, ObjectRef)
    return isinstance(value, Ref)


def _places(items: Sequence[Binding], others: Sequence[Binding]) -> list[int]:
    """Return which of `items` each of `others` is; those that are none of them come after them."""
    known = {shape_of(item): k for k, item in enumerate(items)}
    return [known.setdefault(shape_of(other), len(known)) for other in others]


def _in_pools(lo: Lowerer, values: Sequence[Binding]) -> list[Binding]:
    """Return values, with what elements of lists have in the place of those in pools."""
    return [(lo.handle_of(value) if isinstance(value, Ref) else None) or value for value in values]


def _row_in(lo: Lowerer, pool: str, value: Binding) -> Operand | None:
    """Return the row in a pool of what is, or may be, in it; None of anything else."""
    if not isinstance(value, OneOf):
        held = lo.frame.env.get(value.slot) if isinstance(value, Ref) else value
        return held.row.operand if isinstance(held, Pooled) and held.pool == pool else None
    found: Operand | None = None
    for k, item in enumerate(value.items):
        row = _row_in(lo, pool, item)
        if row is not None:
            here = numbers.apply(lo, "eq", value.which, integer(k))
            found = row if found is None else numbers.apply(lo, "select", here, row, found)
    return found


def _among(lo: Lowerer, items: Sequence[Binding], value: Binding) -> Iterator[Num]:
    """Yield which of some items a value is, and where those are that are in pools."""

    def kind(item: Binding) -> object:
        if isinstance(item, Handle):
            return item.like.slot
        held = lo.frame.env.get(item.slot) if isinstance(item, Ref) else item
        return held.pool if isinstance(held, Pooled) else shape_of(item)

    known = {kind(item): k for k, item in enumerate(items)}
    for item in items:
        if isinstance(item, Handle):  # where it is none of these, nothing reads the row
            yield Num(_row_in(lo, item.like.slot, value) or integer(0))
    if isinstance(value, OneOf):
        places = [known[kind(each)] for each in value.items]
        yield Num(optional.renumbered(lo, value.which, places))
    else:
        yield Num(integer(known[kind(value)]))


def _alone(element: Binding) -> Among:
    """Return an element that is one of one."""
    return element if isinstance(element, Among) else Among((element,), Cell(INT))


def _joined_items(a: Among, b: Among) -> Among | None:
    """Return what is one of the items of either; None if these are too many."""
    numbered = zip(b.items, _places(a.items, b.items), strict=True)
    items = a.items + tuple(other for other, k in numbered if k >= len(a.items))
    return Among(items, a.which) if len(items) <= MOST else None


def joined(a: Binding | None, b: Binding | None) -> Binding | None:
    """Return the common structure of two kinds of elements in one list, or None."""
    match a, b:
        case Cell(sizes=None), Cell(sizes=None):
            ty = join(a.type, b.type)
            return Cell(ty) if one_type(a.type, ty) and one_type(b.type, ty) else None
        case Cell(sizes=tuple(p)), Cell(sizes=tuple(q)) if a.type == b.type and len(p) == len(q):
            sizes = tuple(x if x == y else None for x, y in zip(p, q, strict=True))
            return Cell(a.type, sizes)
        case TupleOf(items=p), TupleOf(items=q) if len(p) == len(q):
            found = [joined(x, y) for x, y in zip(p, q, strict=True)]
            known = [item for item in found if item is not None]
            return TupleOf(tuple(known)) if len(known) == len(p) else None
        case (Words(), Words()) | (Handle(), Handle()) if a == b:
            return a
        case NamedTuple(cls=cls, record=first), NamedTuple(record=second) if cls is b.cls:
            inner = joined(TupleOf(first.items), TupleOf(second.items))
            assert inner is None or isinstance(inner, TupleOf)
            return None if inner is None else NamedTuple(cls, RecordOf(first.keys, inner.items))
        case (Handle() | Among(), Handle() | Among()):
            return _joined_items(_alone(a), _alone(b))
        case Static(value=x, place=p), Static(value=y, place=q) if p == q and (
            x is y or (type(x) is type(y) and x == y)
        ):
            return a
    if a is None or b is None:
        return None
    if isinstance(a, Perhaps) or isinstance(b, Perhaps) or _is_none(a) or _is_none(b):
        return _perhaps(_something(a), _something(b))
    return wordings.joined(a, b)


def _something(element: Binding) -> Binding | None:
    """Return what an element is where it is not None; None if it always is None."""
    if isinstance(element, Perhaps):
        return element.inner
    return None if _is_none(element) else element


def _is_none(value: Binding) -> bool:
    return isinstance(value, Static) and value.value is None


def _perhaps(a: Binding | None, b: Binding | None) -> Binding | None:
    """Return the common structure of elements that may be None; None if there is none."""
    inner = joined(a, b) if a is not None and b is not None else a or b
    if inner is None or has_arrays(inner):
        return None  # where it is None, the sizes of an array are not known
    return Perhaps(inner, Cell(BOOL))


def note_appended(lo: Lowerer, slot: str, element: Binding | None) -> None:
    """Record an element that is added to a list, for enclosing loops; None: of another kind."""
    known = slot in lo.appended
    whole = lo.appended[slot] = joined(lo.appended[slot], element) if known else element
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
            if not isinstance(there, Literal) and has_arrays_in(item):
                return None  # where it is not there, its sizes are not known
            one = element_of(lo, item)
            if one is None:
                return None
            found.append(one)
    whole: Binding | None = found[0] if found else None
    for one in found[1:]:
        whole = joined(whole, one)
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


def has_choices(element: Binding) -> bool:
    """Whether elements hold texts or objects known only at run time."""
    if isinstance(element, Among | Perhaps):
        return True
    if isinstance(element, Words):
        return wordings.are_several(element)
    return any(map(has_choices, children(element)))


def has_none(element: Binding) -> bool:
    """Whether something in the elements may be None."""
    return isinstance(element, Perhaps) or any(map(has_none, children(element)))


def has_arrays_in(value: Binding) -> bool:
    return any(isinstance(leaf, ArrayRef) for leaf in leaves(value))


def has_arrays(element: Binding) -> bool:
    return any(cell.sizes is not None for cell in cells_of(element))


def parts(lo: Lowerer, element: Binding, value: Binding) -> Iterator[Num | ArrayRef]:
    """Yield the numbers and arrays of a value with the structure of `element`."""
    match element, value:
        case Cell(), Num() | ArrayRef():
            yield value
        case Handle(like=like), _:
            row = _row_in(lo, like.slot, value)
            assert row is not None
            yield Num(row)
        case Perhaps(inner=inner), _:
            if _is_none(value):
                for cell in cells_of(inner):
                    zero = {"b": False, "f": 0.0, "c": 0j}.get(cell.type.kind, 0)
                    yield Num(Literal(zero, cell.type))
                yield Num(Literal(False, BOOL))
            elif isinstance(value, Maybe):
                yield from parts(lo, inner, value.inner)
                yield Num(value.some)
            else:
                yield from parts(lo, inner, value)
                yield Num(Literal(True, BOOL))
        case Words(), _ if wordings.are_several(element):
            yield from wordings.parts(lo, element, value)
        case Among(items=items), _:
            yield from _among(lo, items, value)
        case (TupleOf(items=items), TupleOf(items=values)) | (
            Words(items=items),
            Words(items=values),
        ):
            for item, inner in zip(items, values, strict=True):
                yield from parts(lo, item, inner)
        case NamedTuple(record=record), NamedTuple(record=held):
            for item, inner in zip(record.items, held.items, strict=True):
                yield from parts(lo, item, inner)


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
    lo: Lowerer, buffer: ArrayRef, cell: Cell, at: Operand, part: Num | ArrayRef,
    node: ast.AST | None,
) -> None:  # fmt: skip
    """Store a number or array as an element that only the list can see."""
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
    rows = [list(parts(lo, element, item)) for item in items]
    # The first array that is appended tells the sizes: until then there is no room.
    capacity = max(FIRST, 2 * len(items)) if items or not has_arrays(element) else 0
    buffers: list[ArrayRef] = []
    places: list[Operand] = [integer(0)]
    with _at(lo, node):
        for k in range(len(items)):
            # What is not there is overwritten by the next element, or lies behind the last one.
            more = numbers.to_int(lo, there[k]) if there else integer(1)
            places.append(numbers.plus(lo, places[k], more))
        for j, cell in enumerate(cells_of(element)):
            dims: list[Operand] = [integer(size or 0) for size in cell.sizes or ()]
            for row in rows[:1]:
                dims = list(part_dims(lo, row[j]))
            for row in rows[1:]:
                check_sizes(lo, dims, part_dims(lo, row[j]))
            dims = [integer(capacity), *dims]
            version = lo.builder.apply("empty", *dims, params=(cell.type.dtype,), hint="list")
            buffers.append(_buffer(lo, version, dims, cell))
            for k, row in enumerate(rows):
                put(lo, buffers[-1], cell, places[k], row[j], node)
    count = places[-1]
    if not isinstance(count, Literal):
        count = lo.sizes.counts(count)
    return Growing(tuple(buffers), Num(count), element)


def part_dims(lo: Lowerer, part: Num | ArrayRef) -> tuple[Operand, ...]:
    return views.dims_of(lo, part) if isinstance(part, ArrayRef) else ()


def check_sizes(
    lo: Lowerer, dims: Sequence[Operand], own: Sequence[Operand], empty: Operand | None = None
) -> Operand:
    """Check that an array has the sizes of those in the list; return whether it has.

    `empty` says that there are none: then it may have any.
    """
    result: Operand = Literal(True, BOOL)
    for a, b in zip(dims, own, strict=True):
        if not lo.sizes.same_size(a, b):
            result = numbers.apply(lo, "and", result, numbers.apply(lo, "eq", a, b))
    if isinstance(result, Literal) and result.value:
        return result
    ok = result if empty is None else numbers.apply(lo, "or", result, empty)
    shapes = ["({})".format(", ".join(["{}"] * len(dims)))] * 2
    numbers.check(
        lo, ok, limit(lo, ok),
        "adc: the arrays in a list whose length is known only at run time must have one shape; "
        "found {} and {}".format(*shapes),
        *dims, *own,
    )  # fmt: skip
    return result


def limit(lo: Lowerer, ok: Operand) -> str:
    """Return the error of a list whose arrays are not as a buffer needs them.

    Where the buffer is for the sake of shorter code only, it is an assumption; code that makes none
    is refused, and so is code that would never hold.
    """
    if not (lo.shared.rolls or lo.shared.pooled):
        return LimitError.__name__
    if lo.shared.general or isinstance(ok, Literal):
        raise UnsupportedError("the shapes of the arrays in this list are not known", None)
    return AssumptionError.__name__


def columns(lo: Lowerer, held: Growing, value: Binding) -> list[Column]:
    """Return every buffer, its cell, and the part of a new element for it."""
    found = parts(lo, held.element, value)
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
    whole = joined(held.element, element)
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
    element = element_of(lo, value)
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
            dims = lo.row_dims(buffer, cell, node)
            with lo.at(node):
                check_sizes(lo, dims, part_dims(lo, part))
            made = recopied(lo, buffer, node)
        put(lo, made, cell, at, part, node)
        buffers[buffer.object] = made
    return replace(held, buffers=tuple(buffers[buffer.object] for buffer in held.buffers))


def widened(lo: Lowerer, held: Growing, element: Binding, node: ast.AST | None) -> Growing:
    """Return a list that can hold elements like `element`."""
    left = iter(held.buffers)
    buffers: list[ArrayRef] = []
    for old, new in _pairs(held.element, element):
        own = [next(left) for _ in cells_of(old)]
        if isinstance(old, Cell) and isinstance(new, Cell) and old.type.dtype == new.type.dtype:
            buffers += own
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

        def convert(at: Sequence[Operand], k: int = k, ty: Scalar = ty) -> Operand:
            found = (
                Num(lo.exact(source.element(at), each.type))
                for source, each in zip(sources, cells_of(old), strict=True)
            )
            value = with_cells(old, found)
            part = list(parts(lo, new, value))[k]
            assert isinstance(part, Num)
            return lo.convert(part.operand, ty)

        lazy = Lazy((room,), ty, convert, tuple(read for each in sources for read in each.reads))
        made.append(elementwise.stored_new(lo, lazy, ty.dtype, node, "list"))
    return made


def _pairs(old: Binding, new: Binding) -> Iterator[tuple[Binding, Binding]]:
    """Yield the numbers, arrays and texts of two elements, and what is one of several."""
    if isinstance(old, TupleOf | RecordOf | NamedTuple | Nested):
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


def element_copy(lo: Lowerer, element: ArrayRef) -> ArrayRef:
    """Return a copy that stands for an array in a list."""
    made = elementwise.copy(lo, element, None)
    shares(made.object, element.object)
    made.object.kept = BY_LIST
    return made
