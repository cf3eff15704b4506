"""Determine the state that an iteration needs in order to be recomputed for reverse code.

Reverse code may need none of the values that a loop carries: not those of a sum, nor of an array of
which each iteration writes only its own elements. A loop that carries needed values is sequential:
its iterations cannot be recomputed one by one, and its state is what a checkpoint stores.
"""

from __future__ import annotations

from collections.abc import Iterable

from adc.ir.analysis.dependence.accesses import Access, accesses, own_axis
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import For, Function, Operand, Recall, Reverse, Value, While, walk
from adc.ir.types import Array
from adc.ir.walk import block_reads, loop_values
from adc.passes.scalar.dce import dce


def needed(loop: For | While, reverse: Reverse) -> tuple[For | While, Reverse]:
    """Return a loop reduced to the values that its reverse code needs, and this code."""
    given, around = outside(loop, reverse)
    trips = (loop.trips,) if isinstance(loop, For) else ()
    params = _values((*given, *around, *trips, *loop.init, *reverse.init))
    *_, forward, backward = dce(Function("", params, (loop, reverse), reverse.results)).body
    assert isinstance(forward, For | While)
    assert isinstance(backward, Reverse)
    return forward, backward


def outside(loop: For | While, reverse: Reverse) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Return the forward and the reverse values from outside that iterations of both need."""
    inner = loop_values(loop)
    recalled = {s.value for s in walk(reverse.body.stmts) if isinstance(s, Recall)}
    given = block_reads(loop.body) | recalled
    return _ordered(given - inner), _ordered(block_reads(reverse.body) - {reverse.index})


def is_sequential(loop: For | While, reverse: Reverse, facts: Facts) -> bool:
    """Whether values that the reverse code needs are carried between iterations."""
    if not loop.body.params:
        return False
    reduced, _ = needed(loop, reverse)
    if isinstance(reduced, While):
        return bool(reduced.body.params)
    for k, param in enumerate(reduced.body.params):
        found: list[Access] = []
        if not isinstance(param.type, Array) or not accesses(reduced.body, param, k, found):
            return True
        if found and own_axis(found, reduced.index, facts) is None:
            return True
    return False


def _values(found: Iterable[Operand]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(value for value in found if isinstance(value, Value)))


def _ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(sorted(values, key=lambda value: value.name))


__all__ = ["is_sequential", "needed", "outside"]
