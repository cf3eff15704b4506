"""Loops that are unrolled: the lists whose elements they take, and how much code they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adc.frontend.core.bindings import Binding
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import LongError, StackError
from adc.frontend.core.structure import refs
from adc.frontend.inputs.places import Place

# Statements that copies of code repeat before an array is made of what they work on.
REPEATED = 300
# Before buffers are made of the lists of the program: they have one shape, and are copies.
LONG = 2000


def take(lo: Lowerer, binding: Binding) -> None:
    """Note that a loop that is unrolled takes elements of lists."""
    if lo.shared.taken:
        lo.shared.taken[-1].update(stackable_in(lo, binding))


def stackable_in(lo: Lowerer, binding: Binding) -> frozenset[Place]:
    """Return the places of lists that can be passed as stacks."""
    found = [lo.places.get(ref.slot, frozenset()) for ref in refs(binding)]
    return frozenset().union(*found) & lo.shared.stackable


@contextmanager
def unrolling(lo: Lowerer, copies: int) -> Iterator[Callable[[], None]]:
    """Lower copies of code, one for each element; after the first one, call what is yielded.

    It raises a `StackError` or a `LongError` if the others would be much code.
    """
    taken = lo.shared.taken
    taken.append(set())
    start = lo.builder.emitted

    def first() -> None:
        size = (lo.builder.emitted - start) * (copies - 1)
        if taken[-1] and taken[-1] >= lo.shared.taken_first() and size >= REPEATED:
            raise StackError(frozenset(taken[-1]))
        if size >= LONG and lo.shared.rolls is None:
            raise LongError

    try:
        yield first
    finally:
        inner = taken.pop()
        if taken:
            taken[-1].update(inner)
