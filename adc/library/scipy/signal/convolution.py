"""`scipy.signal`: convolutions and correlations.

SciPy chooses between sums of products and Fourier transforms by the time that they take, and so
does adc, by its own times. Both agree to rounding, relative to the largest result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, fft

_BAD_MODE = "acceptable mode flags are 'valid', 'same', or 'full'"
_BAD_METHOD = "Acceptable method flags are 'auto', 'direct', or 'fft'."
_BAD_RANKS = "in1 and in2 should have the same dimensionality"
_BAD_SIZES = "For 'valid' mode, one must be at least as large as the other in every dimension"


def _middle(x: Any, sizes: Any) -> Any:
    """Return the elements around the middle: so many along each axis."""
    first = [(n - size) // 2 for n, size in zip(x.shape, sizes, strict=True)]
    place = tuple([slice(k, k + size) for k, size in zip(first, sizes, strict=True)])
    return x[place]


def _cut(full: Any, s1: Any, s2: Any, mode: Any, axes: Any) -> Any:
    """Return the part of a convolution that a mode asks for."""
    if mode == "full":
        return full
    if mode == "same":
        return _middle(full, s1)
    if mode != "valid":
        raise ValueError(_BAD_MODE)
    larger, smaller = 0, 0
    for k in axes:
        larger += 1 if s1[k] >= s2[k] else 0
        smaller += 1 if s2[k] >= s1[k] else 0
    if larger < len(axes) and smaller < len(axes):
        raise ValueError(_BAD_SIZES)
    shape = tuple([
        abs(s1[k] - s2[k]) + 1 if k in axes else full.shape[k] for k in range(full.ndim)
    ])  # fmt: skip
    return _middle(full, shape)


def _products(x: Any, kernel: Any) -> Any:
    """Return the whole convolution, by sums of products."""
    if x.ndim == 1:
        return np.convolve(x, kernel)
    shape = tuple([n + m - 1 for n, m in zip(x.shape, kernel.shape, strict=True)])
    full = np.zeros(shape, np.result_type(x, kernel))
    for index in np.ndindex(*kernel.shape):
        place = tuple([slice(k, k + n) for k, n in zip(index, x.shape, strict=True)])
        full[place] += x * kernel[index]
    return full


def _transformed(x: Any, y: Any, axes: Any) -> Any:
    """Return the whole convolution along some axes, by Fourier transforms."""
    is_complex = np.iscomplexobj(x) or np.iscomplexobj(y)
    sizes = tuple([x.shape[k] + y.shape[k] - 1 for k in axes])
    fast = tuple([fft.next_fast_len(n, not is_complex) for n in sizes])
    if is_complex:
        found = fft.ifftn(fft.fftn(x, fast, axes) * fft.fftn(y, fast, axes), fast, axes)
    else:
        found = fft.irfftn(fft.rfftn(x, fast, axes) * fft.rfftn(y, fast, axes), fast, axes)
    shape = tuple([
        x.shape[k] + y.shape[k] - 1 if k in axes else found.shape[k] for k in range(x.ndim)
    ])  # fmt: skip
    return found[tuple([slice(0, n) for n in shape])]


def _require(x: Any, y: Any, what: Any) -> None:
    if x.ndim != y.ndim:
        raise ValueError(_BAD_RANKS)
    if x.size == 0 or y.size == 0:
        raise ValueError(f"{what}: an array is empty")


def fftconvolve(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> Any:
    """`scipy.signal.fftconvolve`."""
    x, y = np.asarray(in1), np.asarray(in2)
    _require(x, y, "fftconvolve")
    if x.ndim == 0:
        return x * y
    if axes is None:
        along = tuple([k for k in range(x.ndim)])
    elif np.ndim(axes) == 0:
        along = (axes % x.ndim,)
    else:
        along = tuple([k % x.ndim for k in axes])
    if len(along) == 0:
        raise ValueError("when provided, axes cannot be empty")
    return _cut(_transformed(x, y, along), x.shape, y.shape, mode, along)


def oaconvolve(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> Any:
    """`scipy.signal.oaconvolve`: with one block."""
    return fftconvolve(in1, in2, mode, axes)


def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """`scipy.signal.convolve`."""
    x, y = np.asarray(in1), np.asarray(in2)
    if x.ndim != y.ndim:
        raise ValueError("volume and kernel should have the same dimensionality")
    _require(x, y, "convolve")
    if x.ndim == 0:
        return x * y
    return _cut(_convolved(x, y, method), x.shape, y.shape, mode, tuple(range(x.ndim)))


def _convolved(x: Any, y: Any, method: Any) -> Any:
    along = tuple(range(x.ndim))
    kind = np.result_type(x, y)
    if method == "direct" or (method == "auto" and kind.kind not in "fc"):
        return _products(x, y)
    if method == "fft":
        if kind.kind not in "fc":
            return np.round(_transformed(x, y, along)).astype(kind)
        return _transformed(x, y, along)
    if method != "auto":
        raise ValueError(_BAD_METHOD)
    # Sums take 3 nanoseconds for a product, transforms 40 and more for a number.
    if min(x.size, y.size) <= 16:
        full = _products(x, y)
    else:
        full = _transformed(x, y, along)
    return full


def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """`scipy.signal.correlate`."""
    x, y = np.asarray(in1), np.asarray(in2)
    _require(x, y, "correlate")
    if np.iscomplexobj(y):
        y = np.conj(y)
    if x.ndim == 0:
        return x * y
    return convolve(x, np.flip(y), mode, method)


def correlation_lags(in1_len: Any, in2_len: Any, mode: Any = "full") -> Any:
    """`scipy.signal.correlation_lags`."""
    if mode == "full":
        return np.arange(1 - in2_len, in1_len)
    if mode == "same":
        middle = (in1_len + in2_len - 1) // 2 - in2_len + 1
        return np.arange(middle - in1_len // 2, middle - in1_len // 2 + in1_len)
    if mode != "valid":
        raise ValueError(f"Mode {mode} is invalid")
    return np.arange(min(in1_len - in2_len, 0), max(in1_len - in2_len, 0) + 1)


def convolve2d(
    in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0
) -> Any:
    """`scipy.signal.convolve2d`."""
    x, y = _matrices(in1, in2, boundary, fillvalue)
    return _cut(_products(x, y), x.shape, y.shape, mode, (0, 1))


def correlate2d(
    in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0
) -> Any:
    """`scipy.signal.correlate2d`."""
    x, y = _matrices(in1, in2, boundary, fillvalue)
    if np.iscomplexobj(y):
        y = np.conj(y)
    return _cut(_products(x, np.flip(y)), x.shape, y.shape, mode, (0, 1))


def _matrices(in1: Any, in2: Any, boundary: Any, fillvalue: Any) -> Any:
    if boundary != "fill" or fillvalue != 0:
        raise Unsupported(
            "`convolve2d` or `correlate2d` of `scipy.signal` with another boundary than zeros",
            "use `scipy.ndimage.convolve` with its `mode`",
        )
    x, y = np.asarray(in1), np.asarray(in2)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    return x, y


__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "correlation_lags", "fftconvolve",
    "oaconvolve",
]  # fmt: skip
