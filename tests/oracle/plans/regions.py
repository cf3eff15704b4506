"""A second way to choose plans for regions of code that run one after the other.

The integer program of `passes/budget.py` has a row of bytes for every position, where what regions
hold adds up. A dynamic program over the regions, as the outer one of Rockmate (X. Zhao et al.,
"Rockmate: an efficient, fast, automatic and generic tool for re-materialization in PyTorch", ICML
2023), comes to the same by other means: an oracle for problems too large to try all plans of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Plan(NamedTuple):
    """A way to run a region of forward code and its reverse code.

    Attributes
    ----------
    held : int
        Bytes from its forward code to its reverse code.
    forward, reverse : int
        What its forward code holds while it runs, and what its reverse code holds besides `held`.
    seconds : float
        What it costs.
    """

    held: int
    forward: int
    reverse: int
    seconds: float

    @property
    def top(self) -> int:
        """The most that it holds."""
        return max(self.forward, self.held + self.reverse)


@dataclass(frozen=True, slots=True)
class Choice:
    """Plans for regions: the number of each among those of its region, their cost and peak."""

    plans: tuple[int, ...]
    seconds: float
    peak: int


class TooMuch(Exception):
    """No plan stays within the budget; `choice` is the fastest with the `least` peak."""

    def __init__(self, least: int, choice: Choice) -> None:
        super().__init__(f"no plan within the budget: the least peak is {least} bytes")
        self.least = least
        self.choice = choice


def sequence(regions: Sequence[Sequence[Plan]], budget: int, resolution: int = 1024) -> Choice:
    """Return a plan for each of some regions that run one after the other, the fastest together.

    What regions hold adds up until reverse code comes back to them, so the peak is the largest of
    ``held[0] + ... + held[j-1] + max(forward[j], held[j] + reverse[j])``.

    Parameters
    ----------
    regions : sequence of sequence of Plan
        The plans there are for each region.
    budget : int
        Bytes that may be held at any time.
    resolution : int
        How many sums of what is held are told apart after a region. The choice is the fastest one
        if there are no more, as where all that is held are multiples of ``budget / resolution``.
        Otherwise it is at least as fast as the fastest one in a budget that is smaller by
        ``budget / resolution`` for every region.

    Returns
    -------
    Choice
        One within the budget.

    Raises
    ------
    TooMuch
        If there is none.

    Examples
    --------
    >>> loop = [Plan(held=100, forward=100, reverse=0, seconds=1.0), Plan(10, 10, 60, 1.5)]
    >>> sequence([loop, loop], budget=170)
    Choice(plans=(1, 0), seconds=2.5, peak=110)
    >>> sequence([loop, loop], budget=50)
    Traceback (most recent call last):
    tests.oracle.plans.regions.TooMuch: no plan within the budget: the least peak is 80 bytes
    """
    if not all(regions):
        raise ValueError("a region without a plan")
    known: dict[tuple[Plan, ...], list[int]] = {}
    held, seconds = np.zeros(1, np.int64), np.zeros(1)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for region in map(tuple, regions):
        if region not in known:
            known[region] = _undominated(region)
        plans = [region[k] for k in known[region]]
        inside = held[:, None] + [plan.top for plan in plans] <= budget
        before, plan = np.nonzero(inside)
        if not len(plan):
            least = _least_peak(regions)
            raise TooMuch(least, sequence(regions, least, resolution))
        sums = held[before] + np.array([plan.held for plan in plans])[plan]
        costs = seconds[before] + np.array([plan.seconds for plan in plans])[plan]
        order = np.lexsort((costs, sums))
        fastest = np.minimum.accumulate(costs[order])
        order = order[np.append(True, costs[order][1:] < fastest[:-1])]
        if len(order) > resolution + 1:
            # The last of each interval is the fastest. The first of all keeps the rest feasible.
            interval = sums[order] * resolution // (budget + 1)
            order = order[np.append(True, np.append(np.diff(interval)[1:] > 0, True))]
        held, seconds = sums[order], costs[order]
        steps.append((before[order], np.array(known[region])[plan[order]]))
    state = len(held) - 1
    chosen: list[int] = []
    for before, plan in reversed(steps):
        chosen.append(int(plan[state]))
        state = int(before[state])
    chosen.reverse()
    taken = [region[k] for region, k in zip(regions, chosen, strict=True)]
    before_each = itertools.accumulate((plan.held for plan in taken), initial=0)
    peak = max((a + plan.top for a, plan in zip(before_each, taken, strict=False)), default=0)
    return Choice(tuple(chosen), math.fsum(plan.seconds for plan in taken), peak)


def _undominated(region: Sequence[Plan]) -> list[int]:
    """Return which plans no other one beats in all that counts, the first among equal ones."""
    found: list[int] = []
    order = sorted(
        range(len(region)), key=lambda k: (region[k].seconds, region[k].held, region[k].top)
    )
    for k in order:
        if not any(
            region[j].held <= region[k].held and region[j].top <= region[k].top for j in found
        ):
            found.append(k)
    return sorted(found)


def _least_peak(regions: Sequence[Sequence[Plan]]) -> int:
    """Return the least peak by bisection: within a budget, what holds least leaves most."""
    low, high = 0, sum(max(plan.top for plan in region) for region in regions)
    while low < high:
        middle = (low + high) // 2
        held = 0
        for region in regions:
            fitting = [plan.held for plan in region if held + plan.top <= middle]
            if not fitting:
                low = middle + 1
                break
            held += min(fitting)
        else:
            high = middle
    return low
