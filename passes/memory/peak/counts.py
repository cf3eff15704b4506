"""Numbers that a loop counts: how many elements a mask selects, how long a list is.

They are at most what they begin with and what each iteration adds. ::

    for L %i in 0 to %n carrying (%k.1 = 0) {       # %k is at most n, and so is %k.1
      %k.2 = if %chosen { yield %k.1 + 1 } else { yield %k.1 }
      yield %k.2
    }
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adc.ir.analysis.sizes.formulas import ZERO, Function, Sum


@dataclass(frozen=True)
class Growth:
    """What an iteration makes of a number: at most `each` more, or at most `anew`."""

    each: Sum
    anew: Sum

    def limit(self, init: Sum, trips: Sum) -> Sum:
        """Return what the number is at most in so many iterations."""
        return init.max(self.anew) + trips.count() * self.each


def growth(after: Sum, before: Sum, name: str, most: Callable[[Sum], Sum | None]) -> Growth | None:
    """Return what an iteration makes of a number; None if it may become negative, or anything.

    Parameters
    ----------
    after, before : Sum
        The number after an iteration, and before it, which has a `name` and is not negative.
    name : str
    most : callable
        Returns what a formula is at most in any iteration, or None.
    """
    rest = after - before
    for whole, each in ((after, False), (rest, True)):
        if name not in whole.names:
            limit = most(whole) if whole.is_size() else None
            if limit is None:
                return None
            return Growth(limit, ZERO) if each else Growth(ZERO, limit)
    match after.terms:
        case ((((Function(kind="if" | "max" as kind) as made),), 1),):
            arms = [growth(arm, before, name, most) for arm in made.args[kind == "if" :]]
            found = [arm for arm in arms if arm is not None]
            if len(found) == len(arms):
                first, *others = found
                return Growth(
                    first.each.max(*(other.each for other in others)),
                    first.anew.max(*(other.anew for other in others)),
                )
    return None


__all__ = ["Growth", "growth"]
