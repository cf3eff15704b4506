"""The functions of `np.fft` and `scipy.fft`, in terms of transforms along one axis (`fourier`).

An array is transformed along several axes two by two. Of a real array half of the spectrum is
computed; the other half mirrors it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, fourier
from adc.library.fourier import parts, whole


def _inexact(x: Any) -> Any:
    """Return floats and complex numbers as they are, anything else as float64."""
    if x.dtype == np.float16:
        raise Unsupported(
            "a Fourier transform of float16, of which NumPy rounds some factors to 16 bits,",
            "convert it with `.astype(np.float32)`",
        )
    if x.dtype == np.float32 or x.dtype == np.float64 or np.iscomplexobj(x):
        return x
    return x.astype(np.float64)


def _position(x: Any, axis: Any) -> Any:
    """Return an axis of an array, counted from the first one."""
    if axis < -x.ndim or axis >= x.ndim:
        raise ValueError("axes exceeds dimensionality of input")
    return axis % x.ndim


def _lines(x: Any, axis: Any) -> Any:
    """Return how many elements there are before, along and behind an axis, and the block."""
    outer, inner = 1, 1
    for size in x.shape[:axis]:
        outer *= size
    for size in x.shape[axis + 1 :]:
        inner *= size
    n = x.shape[axis]
    # Eight lines are transformed at once, and more of short ones: half a megabyte.
    return outer, n, inner, min(outer * inner, 8 + 32768 // max(n, 1))


def _resized(x: Any, n: Any, axis: Any) -> Any:
    """Return an array cut or filled with zeros, so that it has `n` elements along an axis."""
    if n is None:
        _require_points(x.shape[axis])
        return np.ascontiguousarray(x)
    _require_points(n)
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
    found = np.zeros(shape, x.dtype)
    kept = min(n, x.shape[axis])
    np.moveaxis(found, axis, 0)[:kept] = np.moveaxis(x, axis, 0)[:kept]
    return found


def _require_points(n: Any) -> None:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")


def _factor(n: Any, norm: Any, forward: Any) -> Any:
    """Return what a transform of `n` points is multiplied by."""
    if norm is None or norm == "backward":
        return 1.0 if forward else 1.0 / n
    if norm == "forward":
        return 1.0 / n if forward else 1.0
    if norm == "ortho":
        return 1.0 / np.sqrt(n)
    raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')


# --- along one axis -------------------------------------------------------------------------------


def _half(x: Any, n: Any, axis: Any, factor: Any) -> Any:
    """Return the parts of half of a spectrum."""
    outer, n, inner, block = _lines(x, axis)
    shape = (*x.shape[:axis], n // 2 + 1, *x.shape[axis + 1 :])
    return fourier.rfft(x, outer, n, inner, block, 1.0, factor, shape)


def _part(x: Any, axis: Any, start: Any, stop: Any) -> Any:
    """Return a view of the elements from `start` on and before `stop` along an axis."""
    return np.moveaxis(np.moveaxis(x, axis, 0)[start:stop], 0, axis)


def _mirrored(half: Any, n: Any, axis: Any, others: Any, sign: Any) -> Any:
    """Return a spectrum of which `half` is given, along an axis and `others` of a real array.

    The rest is that half at the frequencies with the opposite signs: along each other axis the
    first one stays where it is, and those behind it are reversed.
    """
    found = np.empty((*half.shape[:axis], n, *half.shape[axis + 1 :]), half.dtype)
    count = half.shape[axis]
    rest = np.flip(_part(half, axis, 1, (n + 1) // 2), axis)
    blocks = [(_part(found, axis, count, n), rest)]
    for other in others:
        blocks = [
            each
            for out, x in blocks
            for each in (
                (_part(out, other, 0, 1), _part(x, other, 0, 1)),
                (
                    _part(out, other, 1, out.shape[other]),
                    np.flip(_part(x, other, 1, x.shape[other]), other),
                ),
            )
        ]
    for out, x in blocks:
        out[...] = x if sign > 0 else -x
    # Last: reverse code then begins with a whole array, and need not fill it with zeros.
    _part(found, axis, 0, count)[...] = half
    return found


def _along(x: Any, n: Any, axis: Any, norm: Any, forward: Any) -> Any:
    x = _inexact(x)
    axis = _position(x, axis)
    x = _resized(x, n, axis)
    n = x.shape[axis]
    factor = _factor(n, norm, forward)
    if np.iscomplexobj(x):
        re, im = parts(x)
        outer, n, inner, block = _lines(x, axis)
        re, im = fourier.fft(re, im, outer, n, inner, block, forward, factor)
        return whole(re, im)
    re, im = _half(x, n, axis, factor)
    if not forward:
        im = -im
    return whole(_mirrored(re, n, axis, (), 1), _mirrored(im, n, axis, (), -1))


def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.fft`."""
    return _along(a, n, axis, norm, True)


def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.ifft`."""
    return _along(a, n, axis, norm, False)


def _of_real(x: Any, n: Any, axis: Any, norm: Any, forward: Any) -> Any:
    """Return half of the spectrum of a real array; its conjugate if it is not `forward`."""
    if np.iscomplexobj(x):
        raise TypeError("x must be a real sequence")
    x = _inexact(x)
    axis = _position(x, axis)
    x = _resized(x, n, axis)
    n = x.shape[axis]
    re, im = _half(x, n, axis, _factor(n, norm, forward))
    return whole(re, im if forward else -im)


def _half_given(x: Any, n: Any, axis: Any) -> Any:
    """Return half of a spectrum, of as many elements as it needs, and the size of the whole."""
    x = _inexact(x)
    if not np.iscomplexobj(x):
        x = x.astype(np.complex64 if x.dtype == np.float32 else np.complex128)
    if n is None:
        n = 2 * (x.shape[axis] - 1)
        _require_points(n)
        return _resized(x, None, axis), n
    _require_points(n)
    return _resized(x, n // 2 + 1, axis), n


def _to_real(x: Any, n: Any, axis: Any, norm: Any, forward: Any) -> Any:
    """Return the real array of which half of a spectrum is given."""
    axis = _position(x, axis)
    x, n = _half_given(x, n, axis)
    outer, _half_size, inner, block = _lines(x, axis)
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
    re, im = parts(x)
    if forward:
        im = -im
    factor = _factor(n, norm, forward)
    return fourier.irfft(re, im, outer, n, inner, block, 1.0, factor, shape)


def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.rfft`."""
    return _of_real(a, n, axis, norm, True)


def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.irfft`."""
    return _to_real(a, n, axis, norm, False)


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.hfft`."""
    return _to_real(a, n, axis, norm, True)


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.ihfft`."""
    return _of_real(a, n, axis, norm, False)


# --- along several axes ---------------------------------------------------------------------------


def _chosen(x: Any, s: Any, axes: Any) -> Any:
    """Return axes, and the sizes along them; None for those that the array has."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = tuple([k - count for k in range(count)])
    if s is None:
        return axes, tuple([None for _ in axes])
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return axes, tuple([
        x.shape[axis] if n == -1 else n for n, axis in zip(s, axes, strict=True)
    ])  # fmt: skip


def _plane(x: Any, axis: Any, other: Any, size: Any) -> Any:
    """Return how many elements there are before, along, between and behind two axes, and the room.

    Along the first axis there are blocks of eight lines, and more of short ones: see `_lines`.
    Along the second one are `size` elements.
    """
    outer, middle, inner = 1, 1, 1
    for each in x.shape[:axis]:
        outer *= each
    for each in x.shape[axis + 1 : other]:
        middle *= each
    for each in x.shape[other + 1 :]:
        inner *= each
    n, half = x.shape[axis], x.shape[other]
    columns = min(outer * middle * half * inner, 8 + 32768 // max(n, 1))
    rows = min(outer * n * middle * inner, 8 + 32768 // max(half, 1))
    return outer, n, middle, size, inner, max(n * columns, half * rows)


def _both(
    x: Any, n: Any, axis: Any, size: Any, other: Any, norm: Any, forward: Any
) -> Any:  # fmt: skip
    """Transform complex numbers along two axes."""
    x = _resized(_resized(x, n, axis), size, other)
    n, size = x.shape[axis], x.shape[other]
    factor = _factor(n, norm, forward) * _factor(size, norm, forward)
    re, im = parts(x)
    first, second = (axis, other) if axis < other else (other, axis)
    outer, n, middle, k, inner, room = _plane(x, first, second, x.shape[second])
    re, im = fourier.fft2(re, im, outer, n, middle, k, inner, room, forward, factor)
    return whole(re, im)


def _all(x: Any, s: Any, axes: Any, norm: Any, forward: Any) -> Any:
    axes, s = _chosen(x, s, axes)
    if len(axes) < 2 or np.iscomplexobj(x) or _is_repeated(x.ndim, axes):
        return _one_by_one(x, s, axes, norm, forward)
    # Half of the spectrum is transformed along the other axes.
    z = _all_of_real(x, s, axes, norm, forward)
    last = len(axes) - 1
    axis = _position(x, axes[last])
    n = x.shape[axis] if s[last] is None else s[last]
    re, im = parts(z)
    others = tuple([_position(x, each) for each in axes[:last]])
    return whole(_mirrored(re, n, axis, others, 1), _mirrored(im, n, axis, others, -1))


def _one_by_one(x: Any, s: Any, axes: Any, norm: Any, forward: Any) -> Any:
    """Transform along the last axis first, complex numbers along two axes at once."""
    if len(axes) > 0 and not np.iscomplexobj(x):
        x = _along(x, s[-1], axes[-1], norm, forward)
        s, axes = s[:-1], axes[:-1]
    for n, axis, size, other in zip(s[-2::-2], axes[-2::-2], s[-1::-2], axes[-1::-2], strict=False):
        if (axis - other) % x.ndim == 0:
            x = _along(x, size, other, norm, forward)
            x = _along(x, n, axis, norm, forward)
        else:
            x = _both(x, n, _position(x, axis), size, _position(x, other), norm, forward)
    if len(axes) % 2 == 1:
        x = _along(x, s[0], axes[0], norm, forward)
    return x


def _is_repeated(count: Any, axes: Any) -> Any:
    """Whether one of the axes occurs twice."""
    pairs = 0
    for axis in axes:
        for other in axes:
            if (axis - other) % count == 0:
                pairs += 1
    return pairs > len(axes)


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.fftn`."""
    return _all(a, s, axes, norm, True)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.ifftn`."""
    return _all(a, s, axes, norm, False)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.fft2`."""
    return _all(a, s, axes, norm, True)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.ifft2`."""
    return _all(a, s, axes, norm, False)


def _is_pair(x: Any, axes: Any) -> Any:
    """Whether the last axis lies behind the one that is transformed next."""
    last = len(axes) - 1
    return last > 0 and _position(x, axes[last - 1]) < _position(x, axes[last])


def _all_of_real(x: Any, s: Any, axes: Any, norm: Any, forward: Any) -> Any:
    axes, s = _chosen(x, s, axes)
    last = len(axes) - 1
    if not _is_pair(x, axes):
        z = _of_real(x, s[last], axes[last], norm, forward)
        return _one_by_one(z, s[:last], axes[:last], norm, forward)
    if np.iscomplexobj(x):
        raise TypeError("x must be a real sequence")
    axis, other = _position(x, axes[last - 1]), _position(x, axes[last])
    x = _resized(_resized(_inexact(x), s[last], other), s[last - 1], axis)
    outer, n, middle, k, inner, room = _plane(x, axis, other, x.shape[other])
    factor = _factor(n, norm, forward) * _factor(k, norm, forward)
    shape = (*x.shape[:other], k // 2 + 1, *x.shape[other + 1 :])
    re, im = fourier.rfft2(x, outer, n, middle, k, inner, room, 1.0, factor, shape)
    z = whole(re, im if forward else -im)
    return _one_by_one(z, s[: last - 1], axes[: last - 1], norm, forward)


def _all_to_real(z: Any, s: Any, axes: Any, norm: Any, forward: Any) -> Any:
    given = s is not None
    axes, s = _chosen(z, s, axes)
    last = len(axes) - 1
    size = s[last] if given else None
    if not _is_pair(z, axes):
        for n, axis in zip(s[:last], axes[:last], strict=True):
            z = _along(z, n, axis, norm, forward)
        return _to_real(z, size, axes[last], norm, forward)
    z = _one_by_one(z, s[: last - 1], axes[: last - 1], norm, forward)
    axis, other = _position(z, axes[last - 1]), _position(z, axes[last])
    z, k = _half_given(z, size, other)
    z = _resized(z, s[last - 1], axis)
    outer, n, middle, k, inner, room = _plane(z, axis, other, k)
    factor = _factor(n, norm, forward) * _factor(k, norm, forward)
    shape = (*z.shape[:other], k, *z.shape[other + 1 :])
    re, im = parts(z)
    if forward:
        im = -im
    return fourier.irfft2(re, im, outer, n, middle, k, inner, room, 1.0, factor, shape)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.rfftn`."""
    return _all_of_real(a, s, axes, norm, True)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.irfftn`."""
    return _all_to_real(a, s, axes, norm, False)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.rfft2`."""
    return _all_of_real(a, s, axes, norm, True)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.irfft2`."""
    return _all_to_real(a, s, axes, norm, False)


def hfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`scipy.fft.hfftn`."""
    return _all_to_real(a, s, axes, norm, True)


def ihfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`scipy.fft.ihfftn`."""
    return _all_of_real(a, s, axes, norm, False)


def hfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`scipy.fft.hfft2`."""
    return _all_to_real(a, s, axes, norm, True)


def ihfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`scipy.fft.ihfft2`."""
    return _all_of_real(a, s, axes, norm, False)


# --- real parts -----------------------------------------------------------------------------------


def _folded(x: Any, axis: Any, others: Any, sign: Any) -> Any:
    """Return half of the mean of a spectrum and its mirror image, along an axis and `others`.

    That mean has the real part of the transform as its transform: the inverse of `_mirrored`.
    """
    n = x.shape[axis]
    count = n // 2 + 1
    found = np.empty((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    first, last = _part(x, axis, 0, 1), np.flip(_part(x, axis, n - count + 1, n), axis)
    blocks = [
        (_part(found, axis, 0, 1), first, first),
        (_part(found, axis, 1, count), _part(x, axis, 1, count), last),
    ]
    for other in others:
        size = x.shape[other]
        blocks = [
            each
            for out, near, far in blocks
            for each in (
                (_part(out, other, 0, 1), _part(near, other, 0, 1), _part(far, other, 0, 1)),
                (
                    _part(out, other, 1, size),
                    _part(near, other, 1, size),
                    np.flip(_part(far, other, 1, size), other),
                ),
            )
        ]
    for out, near, far in blocks:
        out[...] = 0.5 * (near + far if sign > 0 else near - far)
    return found


def real_ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """Return the real part of `np.fft.ifft`, in half of the time."""
    if not np.iscomplexobj(a):
        return ifft(a, n, axis, norm).real
    axis = _position(a, axis)
    x = _resized(a, n, axis)
    outer, n, inner, block = _lines(x, axis)
    re, im = parts(x)
    re, im = _folded(re, axis, (), 1), _folded(im, axis, (), -1)
    factor = _factor(n, norm, False)
    return fourier.irfft(re, im, outer, n, inner, block, 1.0, factor, x.shape)


def real_ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """Return the real part of `np.fft.ifftn`, along two axes in half of the time."""
    axes, s = _chosen(a, s, axes)
    if len(axes) == 1:
        return real_ifft(a, s[0], axes[0], norm)
    if len(axes) != 2 or not np.iscomplexobj(a) or _is_repeated(a.ndim, axes):
        return ifftn(a, s, axes, norm).real
    axis, other = _position(a, axes[0]), _position(a, axes[1])
    x = _resized(_resized(a, s[0], axis), s[1], other)
    factor = _factor(x.shape[axis], norm, False) * _factor(x.shape[other], norm, False)
    first, second = (axis, other) if axis < other else (other, axis)
    re, im = parts(x)
    re, im = _folded(re, second, (first,), 1), _folded(im, second, (first,), -1)
    outer, n, middle, k, inner, room = _plane(re, first, second, x.shape[second])
    return fourier.irfft2(re, im, outer, n, middle, k, inner, room, 1.0, factor, x.shape)


def real_ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """Return the real part of `np.fft.ifft2`, in half of the time."""
    return real_ifftn(a, s, axes, norm)


# --- frequencies and sizes ------------------------------------------------------------------------


def fftfreq(n: Any, d: Any = 1.0) -> Any:
    """`np.fft.fftfreq`."""
    k = np.arange(n)
    return np.where(k < (n - 1) // 2 + 1, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    """`np.fft.rfftfreq`."""
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


def _shifted(x: Any, axes: Any, sign: Any) -> Any:
    if axes is None:
        axes = tuple(range(x.ndim))
    elif np.ndim(axes) == 0:
        axes = (axes,)
    for axis in axes:
        x = np.roll(x, sign * (x.shape[axis] // 2), axis)
    return x


def fftshift(x: Any, axes: Any = None) -> Any:
    """`np.fft.fftshift`."""
    return _shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """`np.fft.ifftshift`."""
    return _shifted(x, axes, -1)


def _is_fast(n: Any, real: Any) -> Any:
    """Whether a number has small factors only."""
    for p in (2, 3, 5) if real else (2, 3, 5, 7, 11):
        while n % p == 0:
            n //= p
    return n == 1


def next_fast_len(target: Any, real: Any = False) -> Any:
    """`scipy.fft.next_fast_len`."""
    if target < 0:
        raise ValueError("Target length must be positive")
    n = max(target, 1)
    while not _is_fast(n, real):
        n += 1
    return n if target > 0 else 0


def prev_fast_len(target: Any, real: Any = False) -> Any:
    """`scipy.fft.prev_fast_len`."""
    if target < 1:
        raise ValueError("Target length must be positive")
    n = target
    while not _is_fast(n, real):
        n -= 1
    return n
