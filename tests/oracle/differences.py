"""Derivatives by central differences of fourth order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def along(fn: Callable[..., Any], args: Sequence[Any], way: Sequence[Any], h: float = 1e-4) -> Any:
    """Return the derivative of `fn` at `args` along a direction, which has the shapes of these."""
    ends = [fn(*[a + k * h * d for a, d in zip(args, way, strict=True)]) for k in (1, -1, 2, -2)]
    return (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)


def gradient(fn: Callable[..., Any], args: Sequence[Any], k: int, h: float = 1e-3) -> Any:
    """Return the gradient of `fn` with respect to the array `args[k]`, one element at a time."""
    found = np.zeros_like(args[k])
    for at in np.ndindex(found.shape):
        way = np.zeros_like(found)
        way[at] = 1.0

        def moved(x: Any) -> float:
            return float(fn(*[a.copy() for a in args[:k]], x, *[a.copy() for a in args[k + 1 :]]))

        found[at] = along(moved, (args[k],), (way,), h)
    return found


__all__ = ["along", "gradient"]
