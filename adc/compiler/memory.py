"""Amounts of memory as users write and read them, and the errors where a budget is too small."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adc.functions import name_of, span_of
from adc.ir.errors import ArgumentError, MemoryBudgetError
from adc.ir.errors import bytes_text as text

if TYPE_CHECKING:
    from adc.passes.memory.peak.formula import Peak

_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")


def parse(amount: object) -> int | None:
    """Return the bytes of an amount of memory; None for None.

    Parameters
    ----------
    amount : int, str or None
        Bytes, or a number and a unit: B, kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of
        1024.

    Raises
    ------
    ArgumentError
        If `amount` is not an amount of memory.

    Examples
    --------
    >>> parse("64 MB"), parse("1.5 KiB"), parse(4096), parse(None)
    (64000000, 1536, 4096, None)
    """
    if amount is None:
        return None
    found: int | None = None
    if isinstance(amount, int) and not isinstance(amount, bool):
        found = amount
    elif isinstance(amount, str) and (match := _AMOUNT.fullmatch(amount)):
        unit = _UNITS.get(match[2].lower())
        found = None if unit is None else int(float(match[1]) * unit)
    if found is None or found < 0:
        raise ArgumentError(
            f"memory={amount!r} is not an amount of memory",
            None,
            'use a number of bytes, or a text such as "64 MB"',
        )
    return found


@contextmanager
def over_budget(fn: Callable[..., Any]) -> Iterator[None]:
    """Turn the planner's exceptions about a budget into the user's errors."""
    from adc.compiler.driver import UnknownPeak
    from adc.passes.remat.budget.orders import OverBudget

    try:
        yield
    except OverBudget as error:
        least = error.least or 0
        refused = MemoryBudgetError(
            f"the derivative of {name_of(fn)}() needs at least {text(least)}, but memory is "
            f"{text(error.budget)}",
            span_of(fn),
            f"memory={least} is the smallest budget found for these sizes",
        )
        refused.least = error.least
        raise refused from None
    except UnknownPeak as error:
        raise MemoryBudgetError(
            f"the memory that the derivative of {name_of(fn)}() needs is known only at run time"
            f"{_deciding(error.peak)}",
            span_of(fn),
            "limit the number of iterations, for instance with `range`, create arrays in their "
            "final sizes before a loop, or leave out `memory`",
        ) from None


def _deciding(peak: Peak) -> str:
    """Return which lines decide how much memory is needed."""
    loops = {line for name, line in peak.lines if name.endswith(".n")}
    others = {line for _, line in peak.lines} - loops
    found = [f"how often the loop in line {line} runs" for line in sorted(loops)]
    found += [f"a size in line {line}" for line in sorted(others)]
    return f": it depends on {', '.join(found)}" if found else ""


__all__ = ["over_budget", "parse", "text"]
