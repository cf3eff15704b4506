"""The cosine and sine transforms of `scipy.fft`, in terms of those along one axis (`fourier`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import fourier
from adc.library.fft import _chosen, _factor, _inexact, _lines, _position, _resized
from adc.library.fourier import parts, whole


def _ends_scaled(x: Any, axis: Any, first: Any, last: Any, scale: Any) -> Any:
    """Return an array with other elements at the ends of an axis."""
    n = x.shape[axis]
    weights = np.ones(n, x.dtype)
    if first:
        weights[0] = scale
    if last:
        weights[n - 1] = scale
    return x * weights.reshape((n,) + (1,) * (x.ndim - 1 - axis))


def _along(
    x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, forward: Any, sine: Any
) -> Any:
    if type not in (1, 2, 3, 4):
        raise ValueError(f"invalid type {type}: it must be 1, 2, 3 or 4")
    x = _inexact(x)
    if np.iscomplexobj(x):
        re, im = parts(x)
        return whole(
            _of_real(re, type, n, axis, norm, orthogonalize, forward, sine),
            _of_real(im, type, n, axis, norm, orthogonalize, forward, sine),
        )
    return _of_real(x, type, n, axis, norm, orthogonalize, forward, sine)


def _of_real(
    x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, forward: Any, sine: Any
) -> Any:
    axis = _position(x, axis)
    x = _resized(x, n, axis)
    n = x.shape[axis]
    if type == 1 and not sine and n < 2:
        raise ValueError("DCT type 1 needs at least two data points")
    kind = type + 4 if sine else type
    if not forward:
        kind = fourier.transposed(kind)
    period = 2 * n
    if type == 1:
        period = 2 * (n + 1) if sine else 2 * (n - 1)
    whole_ends = orthogonalize
    if orthogonalize is None:
        whole_ends = norm == "ortho"
    if not whole_ends and kind in (1, 3, 7):
        x = _ends_scaled(x, axis, kind in (1, 3), kind in (1, 7), np.sqrt(0.5))
    outer, n, inner = _lines(x, axis)[:3]
    found = fourier.dct(x, outer, n, inner, kind, _factor(period, norm, forward))
    if not whole_ends and kind in (1, 2, 6):
        found = _ends_scaled(found, axis, kind in (1, 2), kind in (1, 6), np.sqrt(2.0))
    return found


def dct(
    x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.dct`."""
    return _along(x, type, n, axis, norm, orthogonalize, True, False)


def idct(
    x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.idct`."""
    return _along(x, type, n, axis, norm, orthogonalize, False, False)


def dst(
    x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.dst`."""
    return _along(x, type, n, axis, norm, orthogonalize, True, True)


def idst(
    x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.idst`."""
    return _along(x, type, n, axis, norm, orthogonalize, False, True)


def _all(
    x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any, forward: Any, sine: Any
) -> Any:
    axes, s = _chosen(x, s, axes)
    for n, axis in zip(s, axes, strict=True):
        x = _along(x, type, n, axis, norm, orthogonalize, forward, sine)
    return x


def dctn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.dctn`."""
    return _all(x, type, s, axes, norm, orthogonalize, True, False)


def idctn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.idctn`."""
    return _all(x, type, s, axes, norm, orthogonalize, False, False)


def dstn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.dstn`."""
    return _all(x, type, s, axes, norm, orthogonalize, True, True)


def idstn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None,
    orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """`scipy.fft.idstn`."""
    return _all(x, type, s, axes, norm, orthogonalize, False, True)
