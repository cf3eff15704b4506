"""Functions of `np.linalg` in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.arrays import signals


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.linalg.vecdot`."""
    return signals.vecdot(x1, x2, axis=axis)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.linalg.cross`."""
    return np.cross(np.asarray(x1), np.asarray(x2), axis=axis)


__all__ = ["cross", "vecdot"]
