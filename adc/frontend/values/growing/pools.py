"""Pools: the objects and dicts of which the run decides how many there are.

A list of any length holds numbers. Objects are in a pool, and the list has their rows::

    swarm = [Particle(x[k], v[k]) for k in range(n)]
    for particle in swarm:
        particle.x += dt * particle.v

All objects of a class are in one pool from when they are made, in a program that needs one: names
of the same object have the same row, wherever they come from. A pool is a list of tuples of any
length (`core.lowering.rows`) that only grows. It is there from the start of the program, so that
loops carry it as they do any list.
"""

from __future__ import annotations

import ast

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Growing,
    ListRef,
    Num,
    ObjectRef,
    Pooled,
    RecordOf,
    Ref,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import OnePool, Pool, PoolError
from adc.frontend.core.structure import cells_of, pieces
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.types import BOOL

# How long lists may be that are rows of a pool.
_MOST = 8


def start(lo: Lowerer) -> None:
    """Make the pools of this attempt to lower a program, which are empty."""
    for pool in lo.shared.pools.values():
        lo.initial[pool.slot] = lo.initial[items_of(pool.slot)] = TupleOf(())


def items_of(slot: str) -> str:
    """Return the slot of the elements of the lists in a pool."""
    return f"{slot}.items"


@dispatch.finishes
def enter(lo: Lowerer, ref: Binding, node: ast.AST) -> None:
    """Put a new list, dict or object into the pool of its kind, if there is one.

    What may be one of several stays as it is: not all names of it would be names of a row.
    """
    if not lo.shared.pools or not isinstance(ref, Ref) or lo.frame.env.get(ref.slot) is None:
        return
    if lo.kin.get(ref.slot):
        return
    pool = lo.shared.pools.get(lo.kind_of_pool(ref))
    if pool is None or isinstance(lo.contents_of(ref), Pooled):
        return
    slot = pool.slot
    if slot not in lo.initial:
        raise PoolError(
            f"making {kind_of(ref)} here, where the run decides how many there are, is not "
            "supported", lo.span(node), "make it in a function that is neither recursive nor a rule"
        )  # fmt: skip
    held = lo.held(ref)
    if isinstance(ref, ListRef) and not is_row(pool, held):
        if lo.pool_keys.setdefault(slot, ()):
            raise open_pool(lo, slot)
        at = _appended(lo, ListRef(slot), TupleOf((Num(integer(0)),) * 3), node)
        lo.put_in_pool(ref.slot, Pooled(slot, (), at, is_list=True))
        if held != TupleOf(()):
            lo.hold(ref, held)
        return
    record = _row_of(held) if isinstance(ref, ListRef) else lo.record(ref)
    keys = lo.pool_keys.setdefault(slot, record.keys)
    if set(keys) != set(record.keys):
        if isinstance(ref, ListRef):
            raise open_pool(lo, slot)
        raise PoolError(
            f"{kind_of(ref)} with other attributes than others, of which the run decides how many "
            "there are, is not supported", lo.span(node), "set the same attributes in all of them",
        )  # fmt: skip
    items = tuple(outside.opened(lo, record.items[record.keys.index(key)]) for key in keys)
    for key, item in zip(keys, items, strict=True):
        _require(lo, ref, key, item, None, node)
        _note_names(lo, ref, key, item)
    row = _appended(lo, ListRef(slot), TupleOf(items), node)
    lo.put_in_pool(ref.slot, Pooled(slot, keys, row, isinstance(ref, ListRef)))


def is_row(pool: Pool, held: Binding) -> bool:
    """Whether a list in a pool is a row, with a column for each of its elements.

    Those are that all have the same length, which does not change; their elements may be of several
    kinds. Others lie in one list (`pooled_lists`).
    """
    return not pool.open and isinstance(held, TupleOf) and 0 < len(held.items) <= _MOST


def open_pool(lo: Lowerer, slot: str) -> PoolError:
    """Note that the lists in a pool are of any length; return the error that ends this attempt."""
    lo.shared.wanted.add(OnePool((slot,), open=True))
    return PoolError(
        "a list of another length than others, of which the run decides how many there are, is not "
        "supported", lo.builder.loc, "make all of them as long, or begin with empty ones",
    )  # fmt: skip


def _row_of(held: Binding) -> RecordOf:
    """Return the elements of a list that is a row, by their places."""
    assert isinstance(held, TupleOf)
    return RecordOf(tuple(range(len(held.items))), held.items)


def _appended(lo: Lowerer, rows: ListRef, row: TupleOf, node: ast.AST) -> Num:
    """Append a row to a pool; return where it is."""
    before = grown(lo, rows, list_elements.element_of(lo, row), row, node)
    dispatch.apply(lo, Bound(rows, "append"), [row], {}, classes.call_at(node))
    return before.length


def grown(
    lo: Lowerer, rows: ListRef, element: Binding | None, row: Binding, node: ast.AST
) -> Growing:
    """Return what a pool holds, as a list of any length of elements like that of a row."""
    before = lo.held(rows)
    if isinstance(before, TupleOf):
        if element is None:
            raise PoolError(
                f"{kind_of(row)} in lists of which the run decides how many there are is not "
                "supported", lo.span(node), "append numbers, arrays of one shape, or tuples",
            )  # fmt: skip
        before = list_buffers.grown(lo, before, element, node)
        lo.hold(rows, before)
    assert isinstance(before, Growing)
    return before


def _require(
    lo: Lowerer, ref: Ref, key: object, value: Binding, before: Binding | None, node: ast.AST
) -> None:
    """Refuse what a pool cannot hold, or not after what it holds `before`."""
    element = list_elements.element_of(lo, value)
    place = f"`.{key}`" if isinstance(ref, ObjectRef) else repr(key)
    if element is None:
        raise PoolError(
            f"{kind_of(value)} as {place} of {kind_of(ref)}, of which the run decides how many "
            "there are, is not supported", lo.span(node),
            "keep numbers, arrays of one shape, and such objects in them",
        )  # fmt: skip
    if before is not None and list_elements.joined(before, element) is None:
        raise PoolError(
            f"{kind_of(value)} as {place} of {kind_of(ref)}, where others have {kind_of(before)}, "
            "is not supported", lo.span(node),
            "where the run decides how many there are, it is of one kind in all of them",
        )  # fmt: skip


def set_item(lo: Lowerer, ref: Ref, key: object, value: Binding, node: ast.AST) -> bool:
    """Set an attribute, or the value of a key, of what is in a pool; return whether it is."""
    place = lo.frame.env.get(ref.slot)
    if not isinstance(place, Pooled) or key not in place.keys:
        return False
    rows, held = ListRef(place.pool), lo.held(ref)
    record = held if isinstance(held, RecordOf) else _row_of(held)
    before = lo.held(rows)
    assert isinstance(before, Growing)
    assert isinstance(before.element, TupleOf)
    at = place.keys.index(key)
    if _is_itself(value, record.items[at]):
        return True  # changed in place
    _require(lo, ref, key, value, before.element.items[at], node)
    _note_names(lo, ref, key, value)
    row = TupleOf(record.with_item(key, value).items)
    whole = list_buffers.accepting(lo, rows, row, node)
    assert isinstance(whole.element, TupleOf)
    counts = [len(list(cells_of(item))) for item in whole.element.items]
    first = sum(counts[:at])
    own = Growing(whole.buffers[first : first + counts[at]], whole.length, whole.element.items[at])
    columns = list_buffers.columns(lo, own, value)
    lo.hold(rows, list_buffers.replaced(lo, whole, place.row.operand, columns, node))
    return True


def _note_names(lo: Lowerer, ref: Ref, key: object, value: Binding) -> None:
    """Note which arrays may have other names than an attribute that is set to them.

    Those do not that were made in the same run of the innermost loop or branch, if nothing keeps
    them yet: reading what is then another name of it is refused after a change (`Heap.update`).
    """
    for piece in pieces(value):
        if isinstance(piece, ArrayRef):
            own = not piece.view and piece.object.path is lo.path and not piece.object.alias
            if not own:
                lo.note_use(lo.keeper_of(ref, key), "shared")


def _is_itself(value: Binding, held: Binding) -> bool:
    """Whether an attribute is set to the array that it is, as ``p.x += 1.0`` does."""
    return isinstance(value, ArrayRef) and value == held


def same(lo: Lowerer, left: Ref, right: Ref) -> Operand | None:
    """Return whether two names are of one object in a pool; None if neither is in one."""
    one, other = (lo.frame.env.get(ref.slot) for ref in (left, right))
    if isinstance(one, Pooled) and isinstance(other, Pooled) and one.pool == other.pool:
        return numbers.apply(lo, "eq", one.row.operand, other.row.operand)
    return Literal(False, BOOL) if isinstance(one, Pooled) or isinstance(other, Pooled) else None
