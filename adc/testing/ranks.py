"""Derivatives of functions that communicate, compared with differences on all ranks together.

All ranks evaluate the function at the same points along a direction, of which each has its part.
What is compared are sums over ranks: so all of them decide alike, and none waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

Line = Callable[[float], Any]
# Directions in which all ranks move; ranks that move alone.
_ALL, _ALONE = 3, 8


class Ranks:
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()

    def any(self, found: Iterable[bool]) -> bool:
        """Return whether something holds on any rank."""
        return any(self.comm.allgather(any(found)))

    def directions(self) -> Iterator[tuple[str, bool]]:
        """Yield the names of directions, and whether this rank moves."""
        for _ in range(_ALL):
            yield "a random direction", True
        for rank in range(min(self.size, _ALONE)) if self.size > 1 else ():
            yield f"a random direction of rank {rank} alone", rank == self.rank

    def total(self, part: Any) -> Any:
        """Return the sum of what all ranks have, the same bits on all of them."""
        return np.sum(self.comm.allgather(part), axis=0)

    def weighted(self, weights: Any, found: Any) -> Any:
        """Return the sum of weighted numbers of all ranks, as a vector of one element."""
        counts = weights != 0  # others may be NaN
        return np.asarray(self.total(float(np.dot(weights[counts], found[counts]))))[None]

    def real(self, line: Line) -> Line:
        """Return a function of real numbers alone: a complex step may fail on some ranks only."""

        def found(t: Any) -> Any:
            if isinstance(t, complex):
                raise TypeError("no complex step where ranks communicate")
            return line(t)

        return found


__all__ = ["Ranks"]
