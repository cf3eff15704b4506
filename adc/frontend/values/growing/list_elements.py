"""What all elements of a list have in common whose length is known only at run time.

The common structure is a binding made of `Cell`: ``[(1.0, x), (2.0, y)]`` has a number and an array
in each element. An element that is stored has a part for each cell.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace

from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Bound,
    Cell,
    DictRef,
    Handle,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Perhaps,
    Pooled,
    RecordOf,
    Ref,
    Static,
    TupleOf,
    Words,
    may_be_unset,
    one_type,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import cells_of, children, leaves, shape_of, with_cells
from adc.frontend.values import optional, views
from adc.frontend.values.growing import wordings
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.types import BOOL, INT, Scalar, join

# What an element has for a cell: None where it has no array.
Part = Num | ArrayRef | None
NOT_KNOWN = "the shapes of the arrays in this list are not known"
# How many texts and objects may be among the elements of a list.
MOST = 24


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
            return Cell(a.type, sizes, a.late or b.late)
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
        case (Cell(blank=True) | Perhaps(blank=True), _) | (
            _,
            Cell(blank=True) | Perhaps(blank=True),
        ):
            return _in_place_of_blanks(a, b)
        case Static(value=x, place=p), Static(value=y, place=q) if p == q and (
            x is y or (type(x) is type(y) and x == y)
        ):
            return a
    if a is None or b is None:
        return None
    if isinstance(a, Perhaps) or isinstance(b, Perhaps) or is_none(a) or is_none(b):
        return _perhaps(_something(a), _something(b))
    return wordings.joined(a, b)


def _in_place_of_blanks(a: Binding | None, b: Binding | None) -> Binding | None:
    """Return the structure of elements that were numbers, and become arrays or tuples of them."""
    inner: Binding | None = None
    for each in (a, b):
        match each:
            case Cell(sizes=None):
                continue
            case Perhaps(inner=found, blank=True):
                pass
            case _ if each is not None and has_arrays(each) and not isinstance(each, Perhaps):
                found = each
            case _:
                return None
        inner = found if inner is None else joined(inner, found)
        if inner is None:
            return None
    return None if inner is None else Perhaps(with_late(inner, True), Cell(BOOL), True)


def _something(element: Binding) -> Binding | None:
    """Return what an element is where it is not None; None if it always is None."""
    if isinstance(element, Perhaps):
        return element.inner
    return None if is_none(element) else element


def is_none(value: Binding) -> bool:
    return isinstance(value, Static) and value.value is None


def _perhaps(a: Binding | None, b: Binding | None) -> Binding | None:
    """Return the common structure of elements that may be None; None if there is none."""
    inner = joined(a, b) if a is not None and b is not None else a or b
    return None if inner is None else Perhaps(with_late(inner, True), Cell(BOOL))


def with_late(element: Binding, late: bool) -> Binding:
    """Return an element of which not all in the list have the arrays, or all have."""
    cells = (replace(cell, late=late and cell.sizes is not None) for cell in cells_of(element))
    return with_cells(element, cells)


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


def parts(lo: Lowerer, element: Binding, value: Binding) -> Iterator[Part]:
    """Yield the numbers and arrays of a value with the structure of `element`.

    None: there is no array where the value is None.
    """
    match element, value:
        case Cell(), Num() | ArrayRef():
            yield value
        case Handle(like=like), _:
            row = _row_in(lo, like.slot, value)
            assert row is not None
            yield Num(row)
        case Perhaps(inner=inner, blank=blank), _:
            if is_none(value) or (blank and isinstance(value, Num)):
                for cell in cells_of(inner):
                    yield None if cell.sizes is not None else Num(zero(cell.type))
                yield Num(Literal(False, BOOL))
            elif isinstance(value, Maybe) and has_arrays(inner):
                assume(lo, value.some)
                yield from parts(lo, inner, value.inner)
                yield Num(Literal(True, BOOL))
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


def zero(ty: Scalar) -> Literal:
    return Literal({"b": False, "f": 0.0, "c": 0j}.get(ty.kind, 0), ty)


def assume(lo: Lowerer, ok: Operand) -> None:
    """Check what holds for most lists whose arrays come one by one; others are no buffers."""
    lo.assume(ok, NOT_KNOWN)
