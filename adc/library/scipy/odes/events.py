"""Events: when a function of time and state changes its sign within a step."""

from __future__ import annotations

from typing import Any

from adc.library.scipy.optimize.roots import brentq

_EPS = 2.220446049250313e-16


def happened(before: Any, after: Any, direction: Any) -> Any:
    """Whether an event function changed its sign from one step to the next as is asked for."""
    up = before <= 0.0 and after >= 0.0
    down = before >= 0.0 and after <= 0.0
    if direction > 0:
        return up
    if direction < 0:
        return down
    return up or down


def found(fn: Any, start: Any, end: Any) -> Any:
    """Return where `fn` is zero between two points at which its signs differ, with derivatives."""
    return brentq(fn, start, end, xtol=4.0 * _EPS, rtol=4.0 * _EPS)
