"""Windows of signal processing."""

from __future__ import annotations

from typing import Any

import numpy as np


def _window(m: Any, of: Any) -> Any:
    """Return `m` points of a window: `of` takes ``1 - m, 3 - m, …, m - 1``, and ``m - 1``."""
    if m < 1:
        return np.zeros(0)
    if m == 1:
        return np.ones(1)
    if isinstance(m, int | np.integer):  # a plan knows how many these are
        return of(2.0 * np.arange(m) + (1.0 - m), m - 1.0)
    return of(np.arange(1.0 - m, m, 2.0), m - 1.0)


def hanning(M: Any) -> Any:
    """`np.hanning`."""
    return _window(M, lambda n, width: 0.5 + 0.5 * np.cos(np.pi * n / width))


def hamming(M: Any) -> Any:
    """`np.hamming`."""
    return _window(M, lambda n, width: 0.54 + 0.46 * np.cos(np.pi * n / width))


def _blackman(n: Any, width: Any) -> Any:
    return 0.42 + 0.5 * np.cos(np.pi * n / width) + 0.08 * np.cos(2.0 * np.pi * n / width)


def blackman(M: Any) -> Any:
    """`np.blackman`."""
    return _window(M, _blackman)


def bartlett(M: Any) -> Any:
    """`np.bartlett`."""
    return _window(M, lambda n, width: np.where(n <= 0.0, 1.0 + n / width, 1.0 - n / width))


def kaiser(M: Any, beta: Any) -> Any:
    """`np.kaiser`."""
    if M == 1:
        return np.ones(1)
    half = (M - 1.0) / 2.0
    n = 1.0 * np.arange(M) if isinstance(M, int | np.integer) else np.arange(0.0, M)
    return np.i0(beta * np.sqrt(1.0 - ((n - half) / half) ** 2.0)) / np.i0(np.float64(beta))


__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]
