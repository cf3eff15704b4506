"""Lists in pools: those of which the run decides how many there are.

Those of one length are rows of the pool, like objects, with a column for each of their elements
(`pools.is_row`). Others that are made at one place of the program have their elements in one list
(`library.standard.pooled`)::

    neighbours = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)

What reads such a list gets a copy of its part of that list, and what changes it stores all of it
again, but for an element that is appended or set.
"""

from __future__ import annotations

import ast
from typing import Any

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Growing,
    ListRef,
    Num,
    Pooled,
    Static,
    TupleOf,
    Window,
    shares,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.lowering import rows
from adc.frontend.core.structure import cells_of
from adc.frontend.values import elementwise
from adc.frontend.values.growing import list_buffers, list_elements, pools
from adc.ir.builder import integer
from adc.ir.core import Operand
from adc.ir.errors import LimitError
from adc.library.standard import pooled


def place_of(lo: Lowerer, ref: Binding) -> Pooled | None:
    """Return where a list of any length is in a pool; None for anything else."""
    held = lo.frame.env.get(ref.slot) if isinstance(ref, ListRef) else None
    return held if isinstance(held, Pooled) and not held.keys else None


def row(lo: Lowerer, place: Pooled) -> tuple[Operand, Operand]:
    """Return where the elements of a list begin, and how many it has."""
    held = lo.held(ListRef(place.pool))
    assert isinstance(held, Growing)
    found = lo.element(held, place.row.operand, None)
    assert isinstance(found, TupleOf)
    start, count, _ = found.items
    assert isinstance(start, Num)
    assert isinstance(count, Num)
    return lo.sizes.counts(start.operand), lo.sizes.counts(count.operand)


def item(lo: Lowerer, place: Pooled, k: Operand, count: Operand, node: ast.AST) -> Binding:
    """Read an element of a list that has `count` elements still, and this one."""
    start, now = row(lo, place)
    require_length(lo, count, now)
    held = lo.held(ListRef(pools.items_of(place.pool)))
    assert isinstance(held, Growing)
    return lo.element(held, numbers.plus(lo, start, k), node)


def require_length(lo: Lowerer, count: Operand, now: Operand) -> None:
    """Check that a list that a loop is over is as long as at its start."""
    text = "adc: the length of a list changes while a loop iterates over it; loop over a copy of it"
    numbers.check(lo, numbers.apply(lo, "eq", count, now), LimitError.__name__, text)


def append(lo: Lowerer, ref: ListRef, value: Binding, node: ast.AST) -> bool:
    """Lower ``list.append(value)`` of a list in a pool; return whether it is."""
    place = lo.frame.env.get(ref.slot)
    if not isinstance(place, Pooled):
        return False
    if place.keys:
        raise pools.open_pool(lo, place.pool)
    element = list_elements.element_of(lo, value)
    pools.grown(lo, ListRef(pools.items_of(place.pool)), element, value, node)
    _apply(lo, pooled.append, place, [value], node)
    return True


def set_item(lo: Lowerer, ref: ListRef, key: Binding, value: Binding, node: ast.AST) -> bool:
    """Lower ``list[key] = value`` of a list in a pool; return whether it is."""
    place = place_of(lo, ref)
    if place is None:
        return False
    _apply(lo, pooled.set_item, place, [key, value], node)
    return True


def _apply(lo: Lowerer, fn: Any, place: Pooled, more: list[Binding], node: ast.AST) -> None:
    given: list[Binding] = [ListRef(pools.items_of(place.pool)), ListRef(place.pool), place.row]
    dispatch.apply(lo, Static(fn), [*given, *more], {}, classes.call_at(node))


class _Lists:
    """Reads and stores what lists in pools hold, for those who do not mind where it is."""

    def read(self, lo: Lowerer, place: Pooled) -> Binding:
        held = lo.held(ListRef(pools.items_of(place.pool)))
        if isinstance(held, TupleOf):
            return held  # nothing is in any list
        assert isinstance(held, Growing)
        start, count = row(lo, place)
        buffers = []
        for buffer, cell in zip(held.buffers, cells_of(held.element), strict=True):
            dims = (count, *lo.row_dims(buffer, cell, None))
            first = Axis(start, ((0, integer(1)),))
            rest = (Axis(integer(0), ((k, integer(1)),)) for k in range(1, len(dims)))
            view = ArrayRef(buffer.object, (Window(dims, (first, *rest)),))
            part = elementwise.copy(lo, view, None)
            part.object.kept = buffer.object.kept
            shares(part.object, buffer.object)
            buffers.append(part)
        return Growing(tuple(buffers), Num(count), held.element)

    def store(self, lo: Lowerer, ref: ListRef, place: Pooled, held: Binding) -> None:
        if place.keys:
            if not (isinstance(held, TupleOf) and len(held.items) == len(place.keys)):
                raise pools.open_pool(lo, place.pool)
            for key, value in zip(place.keys, held.items, strict=True):
                pools.set_item(lo, ref, key, value, lo.frame.source.node)
            return
        made, node = lo.new_ref(ListRef, held), lo.frame.source.node
        element = list_buffers.common(lo, [held])
        if held != TupleOf(()):
            pools.grown(lo, ListRef(pools.items_of(place.pool)), element, held, node)
        if isinstance(held, TupleOf) and element is not None:
            lo.hold(made, list_buffers.grown(lo, held, element, node))
        _apply(lo, pooled.store, place, [made], node)


rows.register(_Lists())
