"""`scipy.signal`: smoothing by polynomials that are fitted to a moving window [1]_.

SciPy solves for the weights. They are sums of products of polynomials that are orthogonal on the
points of the window [2]_, which lose no digits where the window is long or the degree is high.

References
----------
.. [1] A. Savitzky, M. J. E. Golay. Smoothing and differentiation of data by simplified least
   squares procedures. Analytical Chemistry 36(8), 1964.
.. [2] P. A. Gorry. General least-squares smoothing and differentiation by the convolution
   (Savitzky-Golay) method. Analytical Chemistry 62(6), 1990.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.ndimage.filters import convolve1d


def _weights(length: Any, polyorder: Any, deriv: Any, pos: Any) -> Any:
    """Return by what the points of a window enter a derivative of their polynomial at `pos`."""
    found = np.zeros(length)
    if deriv > polyorder:
        return found
    centre = (length - 1) / 2
    points, at = np.arange(length) - centre, pos - centre
    # The last two polynomials at the points, and they and their derivatives at `pos`.
    before, now = np.zeros(length), np.ones(length)
    before_at, now_at = np.zeros(deriv + 1), np.zeros(deriv + 1)
    now_at[0] = 1.0
    factor, square = 0.0, 1.0 * length
    for k in range(polyorder + 1):
        found += now * (now_at[deriv] / square)
        following = points * now - factor * before
        following_at = at * now_at - factor * before_at
        for s in range(1, deriv + 1):
            following_at[s] += s * now_at[s - 1]
        before, now, before_at, now_at = now, following, now_at, following_at
        n = (k + 1.0) ** 2
        factor = n * (1.0 * length * length - n) / (4.0 * (4.0 * n - 1.0))
        square *= factor
    return found


def _require_orders(window_length: Any, polyorder: Any, deriv: Any, delta: Any) -> None:
    if polyorder >= window_length:
        raise ValueError("polyorder must be less than window_length.")
    if polyorder < 0:
        raise ValueError("expected deg >= 0")
    if deriv < 0:
        raise ValueError("factorial() not defined for negative values")
    if np.ndim(delta) != 0:
        raise Unsupported("a spacing `delta` that is an array", "pass a number")


def savgol_coeffs(
    window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, pos: Any = None,
    use: Any = "conv",
) -> Any:  # fmt: skip
    """`scipy.signal.savgol_coeffs`."""
    _require_orders(window_length, polyorder, deriv, delta)
    at = (window_length // 2 if window_length % 2 else window_length // 2 - 0.5) * 1.0
    if pos is not None:
        at = pos * 1.0
    if not 0 <= at < window_length:
        raise ValueError("pos must be nonnegative and less than window_length.")
    if use not in ("conv", "dot"):
        raise ValueError("`use` must be 'conv' or 'dot'")
    if deriv > polyorder:
        return np.zeros(window_length)
    found = _weights(window_length, polyorder, deriv, at) / delta**deriv
    return found[::-1].copy() if use == "conv" else found


def savgol_filter(
    x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1,
    mode: Any = "interp", cval: Any = 0.0,
) -> Any:  # fmt: skip
    """`scipy.signal.savgol_filter`."""
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    signal = np.asarray(x)
    if signal.ndim == 0:
        raise IndexError("tuple index out of range")
    if np.iscomplexobj(signal):
        raise Unsupported(
            "`scipy.signal.savgol_filter` of complex numbers, of which SciPy drops a part,",
            "filter the real and the imaginary part",
        )
    if signal.dtype != np.float32:
        signal = signal.astype(np.float64)
    weights = savgol_coeffs(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return convolve1d(signal, weights, axis, None, mode, cval)
    n = signal.shape[axis]
    if window_length > n:
        raise ValueError(
            "If mode is 'interp', window_length must be less than or equal to the size of x."
        )
    found = np.moveaxis(convolve1d(signal, weights, axis, None, "constant"), axis, 0)
    lines = np.moveaxis(signal, axis, 0)
    half = window_length // 2
    first = lines[:window_length].reshape((window_length, -1)).astype(np.float64)
    last = lines[n - window_length :].reshape((window_length, -1)).astype(np.float64)
    shape = (half, *lines.shape[1:])
    ends = np.empty((2 * half, window_length))
    for k in range(half):
        ends[k] = _weights(window_length, polyorder, deriv, 1.0 * k)
        ends[half + k] = _weights(window_length, polyorder, deriv, 1.0 * (window_length - half + k))
    ends /= delta**deriv
    found[:half] = (ends[:half] @ first).reshape(shape)
    found[n - half :] = (ends[half:] @ last).reshape(shape)
    return np.moveaxis(found, 0, axis)


__all__ = ["savgol_coeffs", "savgol_filter"]
