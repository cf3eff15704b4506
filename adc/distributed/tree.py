"""Sums over shards in a fixed order: the bits do not depend on who computes what, or when.

Shards 0 to n - 1 are the leaves of a binary tree, in which 2k and 2k + 1 are added, then pairs of
these, and so on; what has no partner moves up. The error of a sum grows with the logarithm of their
number (N. J. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import optree


def add(first: Any, second: Any) -> Any:
    """Return the sum of two structures of numbers and arrays."""
    return optree.tree_map(operator.add, first, second)


def scaled(tree: Any, factor: float) -> Any:
    """Return a structure with all numbers multiplied."""
    if factor == 1.0:
        return tree
    return optree.tree_map(lambda leaf: leaf * factor, tree)


def zeros(tree: Any) -> Any:
    """Return a structure like another one, of zeros."""
    return optree.tree_map(lambda leaf: np.zeros_like(leaf)[()], tree)


T = TypeVar("T")


class Reduction(Generic[T]):
    """The sum of `count` structures that come in any order; `both` adds two.

    Examples
    --------
    >>> total = Reduction[float](3)
    >>> for shard in (2, 0, 1):
    ...     total.put(shard, 1.0 + shard)
    >>> float(total.result())
    6.0
    """

    def __init__(self, count: int, both: Callable[[T, T], T] = add) -> None:
        self.count, self.both = count, both
        # By level and place: sums that wait for their partner.
        self.waiting: dict[tuple[int, int], T] = {}

    def put(self, shard: int, value: T) -> None:
        """Take the value of a shard."""
        level, place, width = 0, shard, self.count
        while width > 1:
            partner = place ^ 1
            if partner < width:
                if (level, partner) not in self.waiting:
                    break
                other = self.waiting.pop((level, partner))
                value = self.both(value, other) if partner > place else self.both(other, value)
            level, place, width = level + 1, place // 2, (width + 1) // 2
        self.waiting[level, place] = value

    def result(self) -> T:
        """Return the sum, once all shards are there."""
        (total,) = self.waiting.values()
        return total


__all__ = ["Reduction", "add", "scaled", "zeros"]
