"""Results: flattened to operands, and rebuilt as Python objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Cell,
    DefaultRef,
    DequeRef,
    DictRef,
    Given,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    OrderedRef,
    Perhaps,
    Pooled,
    RecordOf,
    Ref,
    SetRef,
    Static,
    TupleOf,
    VarsRef,
    Words,
    may_be_unset,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import NEITHER, PoolError
from adc.frontend.core.structure import (
    cells_of,
    children,
    has_handles,
    refs,
    with_cells,
    with_children,
)
from adc.frontend.inputs import complexes, flatten, instances, trees, unflatten
from adc.frontend.values import (
    constants,
    elementwise,
    keyed,
    structures,
    views,
)
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir import foreign
from adc.ir.core import Literal
from adc.ir.errors import ArgumentError, UnsupportedError
from adc.ir.text import effects
from adc.ir.types import INT, Scalar
from adc.library.standard import iteration

Heap = dict[str, Binding]


def _from_outside(lo: Lowerer, slot: str) -> Static | None:
    """Return a set that an object outside, or an argument, has, if it is as it was."""
    places = lo.places.get(slot, frozenset())
    if len(places) != 1 or lo.frame.env.get(slot, lo.initial[slot]) is not lo.initial[slot]:
        return None
    (place,) = places
    value = lo.shared.values.get(place)
    return Static(value, place) if isinstance(value, set) else None


def finished(lo: Lowerer, result: Binding, heap: Heap, *, varied: bool | None = None) -> Binding:
    """Return a result without views and lowering state: contents of containers are in `heap`.

    `varied` says whether it may be absent, or one of several values, which derivatives may not.
    """
    node = lo.frame.source.node
    if varied is None:
        varied = lo.shared.modes == NEITHER
    inside = partial(finished, lo, heap=heap, varied=varied)
    match result:
        case Static() if constants.is_of_nones(result):
            pass  # of which every call has its own
        case Static():
            outside.pin(lo, result)
            return result
        case Num(operand=operand) if operand.type.kind == "c":
            return structures.in_parts(lo, result, node)
        case ArrayRef() if result.element.kind == "c" and views.dims_of(lo, result):
            return structures.in_parts(lo, result, node)
        case Num() | ArrayRef(view=()):
            return result
        case ArrayRef():
            if not views.dims_of(lo, result):
                found = elementwise.value_of(lo, result, node)
                assert isinstance(found, Num)
                return inside(Num(found.operand, array=True))
            return elementwise.copy(lo, result, node)
        case NamedTuple(cls=cls) if cls is slice or instances.is_stateful_class(cls):
            pass
        case NamedTuple(cls=cls) if instances.is_record(cls):
            pass
        case TupleOf() | RecordOf() | NamedTuple():
            return with_children(result, inside)
        case Words() | OneOf() if varied:
            return with_children(result, inside)
        case Maybe(inner=inner) if varied and not may_be_unset(result):
            return replace(result, inner=inside(inner))
        case Growing(element=element) if any(True for _ in refs(result)):
            pass
        case Growing(element=Perhaps(blank=True)):
            return inside(list_buffers.without_none(lo, result, node))
        case Growing(element=element) if not varied and list_elements.has_none(element):
            pass
        case Growing(length=length, element=element, buffers=()):
            # As many numbers as it has elements, which are one and the same.
            kind = Scalar("i64")
            zeros = Lazy((length.operand,), kind, lambda index: Literal(0, kind))
            numbers = elementwise.stored_new(lo, zeros, kind.dtype, node)
            return Growing((numbers,), length, Among((element,), Cell(INT)))
        case Growing(buffers=buffers):
            copies = [
                elementwise.copy(lo, list_buffers.view(lo, result, k), node)
                for k in range(len(buffers))
            ]
            return _grown_in_parts(lo, replace(result, buffers=tuple(copies)))
        case Given(place=place, value=value):
            return inside(outside.reach(lo, place, value))
        case DequeRef() | DefaultRef() | OrderedRef() | VarsRef():
            raise UnsupportedError(
                f"returning {kind_of(result)} is not supported", lo.span(node),
                f"return a {'list' if isinstance(result, ListRef) else 'dict'} of it",
            )  # fmt: skip
        case ObjectRef(cls=cls) if cls in iteration.ITERATORS:
            raise UnsupportedError(
                "returning an iterator is not supported", lo.span(node), "return a list of it"
            )
        case SetRef(slot=slot) if (itself := _from_outside(lo, slot)) is not None:
            return inside(itself)
        case SetRef() if keyed.members_of(lo, result) is not None:
            raise UnsupportedError(
                "returning a set of objects is not supported", lo.span(node),
                "return a list of them",
            )  # fmt: skip
        case SetRef() if not varied:
            raise UnsupportedError(
                "returning a set from a function that is differentiated is not supported",
                lo.span(node), "return a list of it",
            )  # fmt: skip
        case DictRef() if isinstance(lo.held(result), Growing) and not varied:
            lo.entries(result)  # which refuses
        case ListRef() | DictRef() | ObjectRef():
            held = lo.contents_of(result)
            if isinstance(held, Pooled) or (
                isinstance(held, Growing) and has_handles(held.element)
            ):
                raise PoolError(
                    f"returning {kind_of(result)} is not supported where the run decides how many "
                    "objects there are", lo.span(node), "return what they hold: numbers and arrays",
                )  # fmt: skip
            if not isinstance(result, ListRef) and isinstance(lo.held(result), RecordOf):
                lo.record(result)  # some paths may not have set all of it: that is refused
            if result.slot not in heap:
                heap[result.slot] = result  # for what holds itself
                heap[result.slot] = inside(lo.held(result))
            elif heap[result.slot] is result:
                raise UnsupportedError(
                    f"returning {kind_of(result)} that contains itself is not supported",
                    lo.span(node),
                )
            return result
    raise UnsupportedError(
        f"returning {kind_of(result)} is not supported",
        lo.span(node),
        "return numbers, arrays, and tuples, lists, dicts or objects of them",
    )


def _grown_in_parts(lo: Lowerer, held: Growing) -> Growing:
    """Return what a list holds with the parts of complex numbers, each in a buffer of its own."""
    buffers: list[ArrayRef] = []
    cells: list[Binding] = []
    for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
        if cell.type.kind == "c":
            whole = structures.in_parts(lo, buffer, lo.frame.source.node)
            buffers += [part for part in whole.record.items if isinstance(part, ArrayRef)]
            part = replace(cell, type=cell.type.part)
            cells.append(NamedTuple(whole.cls, RecordOf(whole.record.keys, (part, part))))
        else:
            buffers.append(buffer)
            cells.append(cell)
    return Growing(tuple(buffers), held.length, with_cells(held.element, iter(cells)))


def leaves_of(result: Binding, heap: Heap) -> Iterator[Num | ArrayRef]:
    """Yield the numbers and arrays in a finished result, each container's once."""
    seen: set[str] = set()

    def visit(binding: Binding) -> Iterator[Num | ArrayRef]:
        match binding:
            case Num() | ArrayRef():
                yield binding
            case Growing(buffers=buffers):
                yield from buffers
            case ListRef(slot=slot) | DictRef(slot=slot) | ObjectRef(slot=slot):
                if slot not in seen:
                    seen.add(slot)
                    yield from visit(heap[slot])
            case _:
                for part in children(binding):
                    yield from visit(part)

    return visit(result)


def pairs(result: Binding, heap: Heap) -> list[int]:
    """Return which leaves of a finished result are real parts; the next one is imaginary."""
    found: list[int] = []
    at = itertools.count()
    seen: set[str] = set()

    def visit(binding: Binding) -> None:
        match binding:
            case NamedTuple(cls=complexes.Whole):
                found.append(next(at))
                next(at)
            case Num() | ArrayRef() | Cell() | Among():
                next(at)
            case Growing(element=element):
                visit(element)
            case ListRef(slot=slot) | DictRef(slot=slot) | ObjectRef(slot=slot):
                if slot not in seen:
                    seen.add(slot)
                    visit(heap[slot])
            case _:
                for part in children(binding):
                    visit(part)

    visit(result)
    return found


def of_patterns(result: Binding, heap: Heap) -> set[int]:
    """Return which leaves of a finished result derivatives have as well (`foreign.kept_of`)."""
    kept: set[int] = set()
    seen: set[str] = set()

    def visit(binding: Binding) -> None:
        match binding:
            case TupleOf() | RecordOf() | NamedTuple():
                for item in children(binding):
                    visit(item)
            case ListRef(slot=slot) | DictRef(slot=slot) | ObjectRef(slot=slot):
                if slot not in seen:
                    seen.add(slot)
                    held = heap[slot]
                    if isinstance(binding, ObjectRef) and isinstance(held, RecordOf):
                        for name in foreign.kept_of(binding.cls):
                            part = held.get(name)
                            kept.update(
                                id(leaf) for leaf in ([] if part is None else leaves_of(part, heap))
                            )
                    visit(held)

    visit(result)
    return {k for k, leaf in enumerate(leaves_of(result, heap)) if id(leaf) in kept}


def in_lists(result: Binding, heap: Heap) -> list[bool]:
    """Return for each number and array of a finished result whether a list of any length has it."""
    kept = [each for held in heap.values() if isinstance(held, Growing) for each in held.buffers]
    return [any(leaf is each for each in kept) for leaf in leaves_of(result, heap)]


def rebuilt(result: Binding, heap: Heap, flat: Iterator[Any]) -> Any:
    """Arrange flat results as the Python function returns them."""
    return _Arrangement(heap, flat).of(result)


@dataclass
class _Arrangement:
    """The arrangement of flat results as Python objects.

    Methods rather than functions that refer to themselves: those would be a cycle of references,
    and all results would be held until the garbage collector finds it.
    """

    heap: Heap
    flat: Iterator[Any]
    made: dict[str, Any] = field(default_factory=dict)

    def of(self, binding: Binding) -> Any:
        match binding:
            case Num(array=True):
                return np.asarray(next(self.flat))
            case Num() | ArrayRef():
                return next(self.flat)
            case TupleOf(items=items):
                return tuple(self.all(items))
            case NamedTuple(cls=cls, record=record):
                return unflatten.build(cls, record.keys, self.all(record.items))
            case Words(items=items):
                return effects.told(binding.template, binding.forms, self.all(items))
            case Static(value=value):
                return value
            case Maybe(inner=inner):
                found = self.of(inner)
                return found if next(self.flat) else None
            case OneOf(items=items):
                made = self.all(items)
                return made[int(next(self.flat))]
            case ListRef() | DictRef() | ObjectRef():
                if binding.slot not in self.made:
                    self.made[binding.slot] = self.container(binding, self.heap[binding.slot])
                return self.made[binding.slot]
        raise AssertionError(binding)

    def all(self, items: Sequence[Binding]) -> list[Any]:
        return [self.of(item) for item in items]

    def container(self, ref: Ref, held: Binding) -> Any:
        if isinstance(held, Growing):
            columns = [_column(next(self.flat), cell) for cell in cells_of(held.element)]
            count = max(map(len, columns), default=0)
            filled = [column or [None] * count for column in columns]
            rows = [_element(held.element, iter(row)) for row in zip(*filled, strict=True)]
            if isinstance(ref, SetRef):
                return {key for key, _ in rows}
            return dict(rows) if isinstance(ref, DictRef) else rows
        if isinstance(held, TupleOf):
            return self.all(held.items)
        assert isinstance(held, RecordOf)
        if isinstance(ref, SetRef):
            return set(held.keys)
        cls = ref.cls if isinstance(ref, ObjectRef) else dict
        return unflatten.build(cls, held.keys, self.all(held.items))


def _element(like: Binding, row: Iterator[Any]) -> Any:
    """Arrange one element of a list that has grown."""
    match like:
        case Cell():
            return next(row)
        case Among(items=items):
            which = next(row)
            return None if which is None else _element(items[which], row)
        case Perhaps(inner=inner):
            found = _element(inner, row)
            return found if next(row) else None
        case TupleOf(items=items):
            return tuple([_element(item, row) for item in items])
        case NamedTuple(cls=cls, record=record):
            return unflatten.build(cls, record.keys, [_element(item, row) for item in record.items])
        case Words(items=items):
            return effects.told(like.template, like.forms, [_element(item, row) for item in items])
        case Static(value=value):
            return value
    raise AssertionError(like)


def _column(found: Any, cell: Cell) -> list[Any]:
    """Return the numbers or arrays in the elements of a list, nothing where they have none."""
    if found is None:
        return []
    if not hasattr(found, "shape"):
        raise ArgumentError(
            "the derivatives of the elements of a list whose length is known only at run time "
            "are structures", None, "return an array",
        )  # fmt: skip
    return found.tolist() if cell.type.weak and found.ndim == 1 else list(found)


def flat_like(result: Binding, heap: Heap, value: Any) -> Iterator[Any]:
    """Yield the leaves of a cotangent, which has the structure of a finished result.

    Raises
    ------
    ArgumentError
        If it has another structure.
    """
    seen: set[str] = set()

    def inside(cls: type, keys: tuple[Any, ...], items: tuple[Binding, ...], value: Any) -> Any:
        mine = issubclass(instances.class_of(type(value)), cls)
        found = trees.parts_of(value) if mine else None
        if found is None or len(found[1]) != len(items) or set(found[0]) != set(keys):
            content = f"with {', '.join(map(repr, keys))}" if keys else f"of {len(items)}"
            raise ArgumentError(
                f"the cotangent must have a {cls.__name__} {content} where results have"
            )
        by_key = dict(zip(found[0], found[1], strict=True)) if keys else {}
        kept = foreign.kept_of(cls)
        for k, item in enumerate(items):
            inner = visit(item, by_key[keys[k]] if keys else found[1][k])
            yield from map(flatten.Same, inner) if keys and keys[k] in kept else inner

    def visit(binding: Binding, value: Any) -> Iterator[Any]:
        match binding:
            case NamedTuple(cls=complexes.Whole):
                number = np.asarray(value)
                yield from (number.real, -number.imag)
            case Num() | ArrayRef() | Cell():
                yield value
            case Among():
                yield 0
            case TupleOf(items=items):
                yield from inside(tuple, (), items, value)
            case NamedTuple(cls=cls, record=record):
                yield from inside(cls, record.keys, record.items, value)
            case ListRef() | DictRef() | ObjectRef() if binding.slot not in seen:
                seen.add(binding.slot)
                held = heap[binding.slot]
                if isinstance(held, Growing):
                    rows = [list(visit(held.element, item)) for item in value]
                    for k, cell in enumerate(cells_of(held.element)):
                        empty = np.zeros((0, *(size or 0 for size in cell.sizes or ())))
                        yield np.array([row[k] for row in rows] or empty, cell.type.numpy)
                elif isinstance(held, TupleOf):
                    yield from inside(list, (), held.items, value)
                elif isinstance(held, RecordOf):
                    cls = binding.cls if isinstance(binding, ObjectRef) else dict
                    yield from inside(cls, held.keys, held.items, value)

    return visit(result, value)
