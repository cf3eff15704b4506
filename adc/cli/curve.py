"""``adc plan --curve``: plans from the smallest peak to the fastest plan, and their times."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from adc.cli import output
from adc.cli.target import Subject
from adc.compiler.memory import text
from adc.inspect.curve import Point
from adc.inspect.plan import seconds_text

DRAWINGS = (".svg", ".png", ".pdf")
# A call is timed for about so long, and so many times at least.
_SECONDS, _CALLS = 0.2, 3


def curve(found: Subject, count: int) -> list[Point]:
    """Return the plans of a number of budgets; the function is compiled and run for each."""
    plans = found.plans()
    points: list[Point] = []
    with output.progress(sys.stderr) as progress:
        progress("least peak", 0, count)
        least, most = plans.range
        fastest = plans.seconds
        if fastest is None:  # the model does not know all sizes: predicted is what plans add
            fastest = measured(found.within(most, plans), found.args)
        # Two budgets with the same plan take the same time.
        times: dict[tuple[int, float], float] = {}
        for k, budget in enumerate(budgets(least, most, count)):
            progress(f"{text(budget)}", k, count)
            plan = plans.alternative(budget)
            assert plan.peak is not None
            extra, bound = plan.extra or 0.0, plan.bound or 0.0
            key = plan.peak, extra
            if key not in times:
                times[key] = measured(found.within(budget, plans), found.args)
            points.append(Point(budget, plan.peak, fastest + extra, fastest + bound, times[key]))
    return points


def budgets(least: int, most: int, count: int) -> Iterator[int]:
    """Yield budgets that are evenly spaced on a scale of ratios.

    >>> list(budgets(100, 10_000, 3))
    [100, 1000, 10000]
    """
    for k in range(count):
        share = k / (count - 1)
        found = round(math.exp((1.0 - share) * math.log(least or 1) + share * math.log(most or 1)))
        yield min(max(found, least), most)


def measured(derivative: Callable[..., Any], args: Sequence[Any]) -> float:
    """Return the least seconds of some calls, after one that compiles."""
    derivative(*args)
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    while len(times) < _CALLS or time.perf_counter() < end:
        start = time.perf_counter()
        derivative(*args)
        times.append(time.perf_counter() - start)
    return min(times)


def rows(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """Return the table."""
    return [
        (
            text(point.budget),
            text(point.peak),
            *map(seconds_text, (point.predicted, point.bound, point.measured)),
        )
        for point in points
    ]


def to_data(points: Sequence[Point]) -> list[dict[str, Any]]:
    return [asdict(point) for point in points]


__all__ = ["curve"]
