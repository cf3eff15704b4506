"""Those functions of `scipy.fftpack` that differ from `scipy.fft`.

An inverse cosine or sine transform is not divided by the number of elements.
"""

from __future__ import annotations

from typing import Any

from adc.library import cosines, fft

# The type of the transform that undoes one of a type, up to a factor.
_INVERSE = (0, 1, 3, 2, 4)


def fft2(x: Any, shape: Any = None, axes: Any = (-2, -1)) -> Any:
    """`scipy.fftpack.fft2`."""
    return fft.fft2(x, shape, axes)


def ifft2(x: Any, shape: Any = None, axes: Any = (-2, -1)) -> Any:
    """`scipy.fftpack.ifft2`."""
    return fft.ifft2(x, shape, axes)


def fftn(x: Any, shape: Any = None, axes: Any = None) -> Any:
    """`scipy.fftpack.fftn`."""
    return fft.fftn(x, shape, axes)


def ifftn(x: Any, shape: Any = None, axes: Any = None) -> Any:
    """`scipy.fftpack.ifftn`."""
    return fft.ifftn(x, shape, axes)


def _undoes(type: Any) -> Any:
    if type < 1 or type > 4:
        raise ValueError("Invalid DCT type")
    return _INVERSE[type]


def dct(x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`scipy.fftpack.dct`."""
    return cosines.dct(x, type, n, axis, norm)


def idct(x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`scipy.fftpack.idct`."""
    return cosines.dct(x, _undoes(type), n, axis, norm)


def dst(x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`scipy.fftpack.dst`."""
    return cosines.dst(x, type, n, axis, norm)


def idst(x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`scipy.fftpack.idst`."""
    return cosines.dst(x, _undoes(type), n, axis, norm)
