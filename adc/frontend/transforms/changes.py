"""What a call changes outside of the function: found when it is lowered, done after the call.

``self.calls += 1``, ``history.append(loss)`` and ``best["x"] = x`` last beyond a call in Python.
Code has no objects: it computes what becomes of them as further results, and its caller puts these
where they belong (`put`). An array that was not made by the function is put there itself, not as a
copy. A call that raises changes nothing.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Given,
    Growing,
    Late,
    ListRef,
    Maybe,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    SetRef,
    TupleOf,
    Unbound,
    Unstable,
    may_be_unset,
    related,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.core.state import Change, Changes
from adc.frontend.core.structure import cells_of, leaves, pieces, refs, shape_of
from adc.frontend.inputs import bases
from adc.frontend.inputs.places import Item, Place, Step, Variable, assign, to_attribute
from adc.frontend.transforms import results
from adc.ir.core import Operand
from adc.ir.errors import GlobalStateError


def found(lo: Lowerer) -> tuple[Changes | None, tuple[Operand, ...]]:
    """Return what the lowered function changes outside, and the operands that become results.

    Raises
    ------
    GlobalStateError
        If that cannot be told the caller of the code.
    """
    logs, lo.logs = lo.logs, set()  # nothing is appended any more
    arrays = {
        obj: lo.homes[obj]
        for obj in lo.outside
        if obj in lo.homes and lo.version(obj, None) is not lo.origin[obj]
    }
    heap: results.Heap = {}
    made: list[tuple[Change, Binding]] = [
        (Change(place, None), results.finished(lo, ArrayRef(obj), heap, varied=True))
        for obj, place in arrays.items()
    ]
    values_put: list[tuple[Place, Binding]] = []
    written = sum(1 for _, value in made for _ in results.leaves_of(value, heap))
    for ref in (lo.lasting or {}).values():
        (place,) = lo.places[ref.slot]
        for step, value in _changed(lo, ref, place, logs):
            _require_own(lo, lo.held(ref) if step is None else value, place, kind_of(ref))
            values_put.append((place if step is None else place.to(step), value))
            some = may_be_unset(value)
            if isinstance(value, Maybe) and some:
                value = TupleOf((value.inner, Num(value.some)))
            change = Change(place, step, some)
            made.append((change, results.finished(lo, value, heap, varied=True)))
    for slot, place in lo.assigned.items():
        value = lo.frame.env.get(slot, lo.initial[slot])
        if isinstance(value, Unbound | Unstable | Late):
            if value is not lo.initial[slot]:
                how = "would be assigned on some paths only"
                raise lo.changes_outside("a variable", place, how)
        elif not _is_same(lo, lo.initial[slot], value):
            _require_own(lo, value, place, "a variable")
            values_put.append((place, value))
            (*path, step) = place.path
            change = Change(Place(place.root, tuple(path)), step)
            made.append((change, results.finished(lo, value, heap, varied=True)))
    if not made:
        return None, ()
    _require_apart(lo, values_put)
    values = TupleOf(tuple(value for _, value in made))
    homes: list[Place | int | None] = []
    operands: list[Operand] = []
    first: dict[ArrayObject, int] = {}
    for k, leaf in enumerate(results.leaves_of(values, heap)):
        home: Place | int | None = None
        if isinstance(leaf, ArrayRef) and k >= written:
            home = _home(lo, leaf.object)
            if home is None and first.setdefault(leaf.object, k) < k:
                home = first[leaf.object]
        homes.append(home)
        if home is None:
            operands.append(leaf_operand(lo, leaf))
    for change, _ in made[len(arrays) :]:
        _require_known(lo, change)
    where = tuple(change for change, _ in made)
    return Changes(where, values, heap, tuple(homes), frozenset(lo.opened)), tuple(operands)


def _changed(
    lo: Lowerer, ref: Ref, place: Place, logs: Collection[str]
) -> Iterator[tuple[Step | None, Binding]]:
    """Yield what of a list, dict or object is changed, and what becomes of it."""
    old, new = lo.initial[ref.slot], lo.held(ref)
    if ref.slot in logs:
        if new is not old:
            yield None, ref
        return
    if isinstance(ref, ListRef):
        if not (isinstance(old, TupleOf) and isinstance(new, TupleOf)) or (
            len(old.items) != len(new.items)
        ):
            raise lo.changes_outside("a list", place, "would have another length")
        for k, (before, after) in enumerate(zip(old.items, new.items, strict=True)):
            if not _is_same(lo, before, after):
                yield Item(k), after
        return
    assert isinstance(old, RecordOf)
    entries = lo.entries(ref)
    now = dict(zip(entries.keys, entries.items, strict=True))
    if any(key not in now or may_be_unset(now[key]) for key in old.keys):
        raise lo.changes_outside(kind_of(ref), place, "would hold less")
    in_order = [*old.keys, *(key for key in now if key not in old.keys)]
    if list(now) != in_order and not isinstance(ref, SetRef):
        what = "attributes" if isinstance(ref, ObjectRef) else "keys"
        raise lo.changes_outside(kind_of(ref), place, f"would have its {what} in another order")
    for key, after in now.items():
        known = old.get(key)
        if known is None or not _is_same(lo, known, after):
            yield to_attribute(key) if isinstance(ref, ObjectRef) else Item(key), after


def _require_known(lo: Lowerer, change: Change) -> None:
    """Refuse what functions read that are lowered apart: they have it as it was before the call."""
    place = change.place if change.step is None else change.place.to(change.step)
    for other in lo.shared.apart:
        if place.holds(other) or other.holds(place):
            how = "would be changed, and recursive or differentiated functions read it"
            raise lo.changes_outside("what lies", place, how)


def _is_same(lo: Lowerer, old: Binding, new: Binding) -> bool:
    """Whether an attribute or item is what it was, whatever was changed in it."""
    if new is old:
        return True
    if isinstance(old, Given):
        reached = lo.reached.get(old.place)
        if reached is None:
            return False
        old = reached
    if type(old) is not type(new) or shape_of(old) != shape_of(new):
        return False
    pairs = zip(leaves(old), leaves(new), strict=True)
    return all(
        a.object is b.object
        if isinstance(a, ArrayRef) and isinstance(b, ArrayRef)
        else not isinstance(a, ArrayRef) and not isinstance(b, ArrayRef) and a.operand == b.operand
        for a, b in pairs
    )


def _require_own(lo: Lowerer, value: Binding, place: Place, what: str) -> None:
    """Refuse to put something there for which there are other names that a copy would not have."""
    for ref in refs(value):
        if ref.slot in lo.places:
            how = f"would hold {kind_of(ref)} that others refer to"
            raise lo.changes_outside(what, place, how)
        _require_own(lo, lo.held(ref), place, what)
    for piece in pieces(value):
        if isinstance(piece, ArrayRef) and piece.view and _home(lo, piece.object) is not None:
            raise lo.changes_outside(what, place, "would hold a view of what others refer to")


def _require_apart(lo: Lowerer, put_there: Sequence[tuple[Place, Binding]]) -> None:
    """Refuse what is or may be one object in Python, and would be two where it is put.

    A later change of one would not be seen by the other.
    """
    arrays: list[tuple[Place, ArrayRef]] = []
    slots: dict[str, Place] = {}

    def visit(place: Place, value: Binding) -> None:
        parts = [value]
        if isinstance(value, Growing):  # numbers in it are no objects
            cells = zip(value.buffers, cells_of(value.element), strict=True)
            parts = [buffer for buffer, cell in cells if cell.sizes is not None]
        for part in parts:
            found = (each for each in pieces(part) if isinstance(each, ArrayRef))
            arrays.extend((place, each) for each in found)
        for ref in refs(value):
            if ref.slot not in slots:
                slots[ref.slot] = place
                visit(place, lo.held(ref))

    for place, value in put_there:
        visit(place, value)
    replaced = {place for place, _ in put_there}
    for k, (place, ref) in enumerate(arrays):
        held = {home for obj in ref.object.alias if (home := lo.homes.get(obj)) is not None}
        if held - replaced or any(_are_torn(ref, other) for _, other in arrays[:k]):
            raise _other_names(lo, place)
    for slot, place in slots.items():
        if slots.keys() & lo.kin.get(slot, frozenset()):
            raise _other_names(lo, place)


def _other_names(lo: Lowerer, place: Place) -> GlobalStateError:
    how = "would hold what may have other names outside"
    error = lo.changes_outside("what lies", place, how)
    error.hint = "put a copy there"
    return error


def _are_torn(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether copies of two arrays do not share memory that these share, or may share."""
    if a.object is not b.object:
        return related(a.object, b.object)
    return bool(a.view or b.view) or a.element.kind == "c"  # which is put together from its parts


def _home(lo: Lowerer, obj: ArrayObject) -> Place | None:
    """Return where an array is that was not made here, if it is as the program leaves it there."""
    place = lo.homes.get(obj)
    unchanged = obj in lo.outside or lo.version(obj, None) is lo.origin.get(obj)
    return place if unchanged else None


def put(changes: Changes, made: Iterable[Any], values: Sequence[Any]) -> None:
    """Do what a call has to change, given the results of the code for it, and the arguments."""
    new = iter(made)
    flat: list[Any] = []
    for found in changes.leaves:
        match found:
            case Place():
                flat.append(found.read(values))
            case int():
                flat.append(flat[found])
            case None:
                flat.append(next(new))
    objects = results.rebuilt(changes.values, changes.heap, iter(flat))
    owners = [change.place.owner(values) for change in changes.where]
    for owner, change, value in zip(owners, changes.where, objects, strict=True):
        if change.some:
            value, there = value
            if not there:
                continue
        match change.step:
            case None if isinstance(owner, list):
                owner.extend(value)
            case None:
                np.copyto(owner, value)
            case Variable(name):
                assign(owner, name, value)
            case Item(key) if isinstance(owner, set):
                owner.add(key)
            case Item(key) if bases.has_contents(type(owner)):
                bases.put(owner, key, value)
            case Item(key):
                owner[key] = value
            case str() as name if isinstance(type(owner).__setattr__, types.FunctionType) or (
                bases.has_contents(type(owner))
            ):
                object.__setattr__(owner, name, value)  # what its own method has done
            case str() as name:
                setattr(owner, name, value)
