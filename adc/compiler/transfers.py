"""Arrays on a GPU and their copies, for derivatives outside of compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.ir.foreign import described, is_foreign


def to_host(value: Any) -> np.ndarray[Any, Any]:
    """Return a copy on the host of an array by rows; it is waited for."""
    from adc.backend.cuda.arrays import to_host

    return to_host(value)


def copied(value: Any) -> Any:
    """Return a copy on the GPU, of the same library."""
    from adc.backend.cuda.program import copied

    return copied(value)


def sent(array: np.ndarray[Any, Any], source: Any) -> Any:
    """Return a copy on the GPU, of the library that another array is from."""
    from adc.backend.cuda.arrays import sent

    return sent(array, source)


def zeros_like(value: Any) -> Any:
    """Return zeros like a number or an array, where that is."""
    if not is_foreign(value):
        return np.zeros_like(value)
    found = described(value)
    return sent(np.zeros(found.shape, found.dtype), value)
