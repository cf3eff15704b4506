"""Fourier, cosine and sine transforms of real arrays, with derivative rules.

A complex array is two real ones. A transform is that of the lines along one axis of an array in C
order: of `n` elements each, for `outer` indices before and `inner` ones behind. So it depends on
no number of axes, and nothing is moved. `block` lines are transformed at once. Along two axes a
library copies the parts of complex numbers once, not once for each axis.

Each has two implementations: a library's, and equivalent plain Python, in which a line is
transformed by Stockham's algorithm for any factors (P. N. Swarztrauber, FFT algorithms for vector
computers, 1984). Derivatives are transforms: the adjoint of a transform is the one with the other
sign. That of the half of a spectrum which a real array has is weighted: all of it but the first
and, for even `n`, the last element counts twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.rules import exact


def parts(z: Any) -> Any:
    """Return the real and the imaginary part of an array, without copying them."""
    return z.real, z.imag


def whole(re: Any, im: Any) -> Any:
    """Return the complex array with these parts, without copying them."""
    found = np.empty(re.shape, np.complex64 if re.dtype == np.float32 else np.complex128)
    found.real, found.imag = re, im
    return found


def _transformed(re: Any, im: Any, forward: Any, factor: Any) -> None:
    """Transform arrays of three axes along the second one, in place."""
    outer, n, inner = re.shape
    angle = (-2.0 if forward else 2.0) * np.pi / max(n, 1)
    cos, sin = np.empty(n), np.empty(n)
    for k in range(n):
        cos[k] = np.cos(angle * k)
        sin[k] = np.sin(angle * k)
    x, y = np.empty(n, re.dtype), np.empty(n, re.dtype)
    for o in range(outer):
        for i in range(inner):
            done = 1
            while done < n:
                rest = n // done
                p = 2
                while rest % p != 0:
                    p = p + 1 if p * p < rest else rest
                size = done * p
                step = n // size
                for j in range(n // p):
                    first = j % done
                    at = (j // done) * size + first
                    for q in range(p):
                        a, b = 0.0, 0.0
                        for r in range(p):
                            k = (r * (first + q * done)) % size * step
                            u, v = re[o, j + r * (n // p), i], im[o, j + r * (n // p), i]
                            a += u * cos[k] - v * sin[k]
                            b += u * sin[k] + v * cos[k]
                        x[at + q * done] = a
                        y[at + q * done] = b
                for k in range(n):
                    re[o, k, i] = x[k]
                    im[o, k, i] = y[k]
                done = size
            for k in range(n):
                re[o, k, i] *= factor
                im[o, k, i] *= factor


# --- complex --------------------------------------------------------------------------------------


def _pair(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, forward: Any, factor: Any
) -> Any:
    return np.empty(re.shape, re.dtype), np.empty(re.shape, re.dtype)


@exact("fft", _pair)
def fft(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, forward: Any, factor: Any
) -> Any:
    """Return the transform, with ``exp(-2 pi i j k / n)`` if it is `forward`, times a factor."""
    x, y = re.reshape((outer, n, inner)).copy(), im.reshape((outer, n, inner)).copy()
    _transformed(x, y, forward, factor)
    return x.reshape(re.shape), y.reshape(re.shape)


def _fft_record(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, forward: Any, factor: Any
) -> Any:
    found = fft(re, im, outer, n, inner, block, forward, factor)
    return found, (outer, n, inner, block, forward, factor)


def _fft_reverse(kept: Any, cts: Any) -> Any:
    outer, n, inner, block, forward, factor = kept
    re, im = fft(cts[0], cts[1], outer, n, inner, block, not forward, factor)
    return re, im, None, None, None, None, None, None


def _fft_tangent(primals: Any, tangents: Any) -> Any:
    re, im, outer, n, inner, block, forward, factor = primals
    found = fft(re, im, outer, n, inner, block, forward, factor)
    return found, fft(tangents[0], tangents[1], outer, n, inner, block, forward, factor)


fft.define(_fft_record, _fft_reverse, _fft_tangent)


# --- real to half of a spectrum, and back ---------------------------------------------------------


def _half(
    x: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any, shape: Any
) -> Any:
    return np.empty(shape, x.dtype), np.empty(shape, x.dtype)


@exact("rfft", _half)
def rfft(
    x: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any, shape: Any
) -> Any:
    """Return the first half of the forward transform, with a weight of what counts twice."""
    re = x.reshape((outer, n, inner)).copy()
    im = np.zeros((outer, n, inner), x.dtype)
    _transformed(re, im, True, factor)
    half = n // 2 + 1
    re, im = re[:, :half].copy(), im[:, :half].copy()
    im[:, 0] = 0.0
    if n % 2 == 0:
        im[:, half - 1] = 0.0
    for k in range(1, (n + 1) // 2):
        re[:, k] *= weight
        im[:, k] *= weight
    return re.reshape(shape), im.reshape(shape)


def _full(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any,
    shape: Any,
) -> Any:  # fmt: skip
    return np.empty(shape, re.dtype)


@exact("irfft", _full)
def irfft(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any,
    shape: Any,
) -> Any:  # fmt: skip
    """Return the backward transform of the spectrum with this half, where a weight is applied."""
    a, b = re.reshape((outer, n // 2 + 1, inner)), im.reshape((outer, n // 2 + 1, inner))
    x, y = np.zeros((outer, n, inner), re.dtype), np.zeros((outer, n, inner), re.dtype)
    for o in range(outer):
        for i in range(inner):
            x[o, 0, i] = a[o, 0, i]
            if n % 2 == 0:
                x[o, n // 2, i] = a[o, n // 2, i]
            for k in range(1, (n + 1) // 2):
                x[o, k, i] = a[o, k, i] * weight
                y[o, k, i] = b[o, k, i] * weight
                x[o, n - k, i] = a[o, k, i] * weight
                y[o, n - k, i] = -b[o, k, i] * weight
    _transformed(x, y, False, factor)
    return x.reshape(shape)


def _rfft_record(
    x: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any, shape: Any
) -> Any:
    found = rfft(x, outer, n, inner, block, weight, factor, shape)
    return found, (outer, n, inner, block, weight, factor, x.shape)


def _rfft_reverse(kept: Any, cts: Any) -> Any:
    outer, n, inner, block, weight, factor, shape = kept
    x = irfft(cts[0], cts[1], outer, n, inner, block, 0.5 * weight, factor, shape)
    return x, None, None, None, None, None, None, None


def _rfft_tangent(primals: Any, tangents: Any) -> Any:
    x, outer, n, inner, block, weight, factor, shape = primals
    found = rfft(x, outer, n, inner, block, weight, factor, shape)
    return found, rfft(tangents[0], outer, n, inner, block, weight, factor, shape)


def _irfft_record(
    re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any,
    shape: Any,
) -> Any:  # fmt: skip
    found = irfft(re, im, outer, n, inner, block, weight, factor, shape)
    return found, (outer, n, inner, block, weight, factor, re.shape)


def _irfft_reverse(kept: Any, ct: Any) -> Any:
    outer, n, inner, block, weight, factor, shape = kept
    re, im = rfft(ct, outer, n, inner, block, 2.0 * weight, factor, shape)
    return re, im, None, None, None, None, None, None, None


def _irfft_tangent(primals: Any, tangents: Any) -> Any:
    re, im, outer, n, inner, block, weight, factor, shape = primals
    found = irfft(re, im, outer, n, inner, block, weight, factor, shape)
    moved = irfft(tangents[0], tangents[1], outer, n, inner, block, weight, factor, shape)
    return found, moved


rfft.define(_rfft_record, _rfft_reverse, _rfft_tangent)
irfft.define(_irfft_record, _irfft_reverse, _irfft_tangent)


# --- along two axes -------------------------------------------------------------------------------

# An array has axes of `outer`, `n`, `middle`, `k` and `inner` elements. It is transformed along
# that of `k`, of which real arrays have half a spectrum, and along that of `n`. A library has
# `room` for a block of lines.


def _pair_of_two(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, forward: Any,
    factor: Any,
) -> Any:  # fmt: skip
    return np.empty(re.shape, re.dtype), np.empty(re.shape, re.dtype)


def _halves_of_two(
    x: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    return np.empty(shape, x.dtype), np.empty(shape, x.dtype)


def _full_of_two(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    return np.empty(shape, re.dtype)


@exact("fft2", _pair_of_two)
def fft2(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, forward: Any,
    factor: Any,
) -> Any:  # fmt: skip
    """Return the transform along two axes, times a factor."""
    near, far = (outer * n * middle, k, inner), (outer, n, middle * k * inner)
    x, y = re.reshape(near).copy(), im.reshape(near).copy()
    _transformed(x, y, forward, factor)
    x, y = x.reshape(far), y.reshape(far)
    _transformed(x, y, forward, 1.0)
    return x.reshape(re.shape), y.reshape(re.shape)


def _fft2_record(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, forward: Any,
    factor: Any,
) -> Any:  # fmt: skip
    found = fft2(re, im, outer, n, middle, k, inner, room, forward, factor)
    return found, (outer, n, middle, k, inner, room, forward, factor)


def _fft2_reverse(kept: Any, cts: Any) -> Any:
    outer, n, middle, k, inner, room, forward, factor = kept
    re, im = fft2(cts[0], cts[1], outer, n, middle, k, inner, room, not forward, factor)
    return re, im, None, None, None, None, None, None, None, None


def _fft2_tangent(primals: Any, tangents: Any) -> Any:
    re, im, outer, n, middle, k, inner, room, forward, factor = primals
    found = fft2(re, im, outer, n, middle, k, inner, room, forward, factor)
    moved = fft2(
        tangents[0], tangents[1], outer, n, middle, k, inner, room, forward, factor
    )  # fmt: skip
    return found, moved


fft2.define(_fft2_record, _fft2_reverse, _fft2_tangent)


@exact("rfft2", _halves_of_two)
def rfft2(
    x: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    """Return half of the forward transform, with a weight of what counts twice."""
    half = k // 2 + 1
    re, im = rfft.py_func(
        x, outer * n * middle, k, inner, room, weight, factor, (outer, n, middle * half * inner)
    )
    _transformed(re, im, True, 1.0)
    return re.reshape(shape), im.reshape(shape)


@exact("irfft2", _full_of_two)
def irfft2(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    """Return the backward transform of the spectrum with this half, where a weight is applied."""
    far = (outer, n, middle * (k // 2 + 1) * inner)
    a, b = re.reshape(far).copy(), im.reshape(far).copy()
    _transformed(a, b, False, factor)
    return irfft.py_func(a, b, outer * n * middle, k, inner, room, weight, 1.0, shape)


def _rfft2_record(
    x: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    found = rfft2(x, outer, n, middle, k, inner, room, weight, factor, shape)
    return found, (outer, n, middle, k, inner, room, weight, factor, x.shape)


def _rfft2_reverse(kept: Any, cts: Any) -> Any:
    outer, n, middle, k, inner, room, weight, factor, shape = kept
    x = irfft2(
        cts[0], cts[1], outer, n, middle, k, inner, room, 0.5 * weight, factor, shape
    )  # fmt: skip
    return x, None, None, None, None, None, None, None, None, None


def _rfft2_tangent(primals: Any, tangents: Any) -> Any:
    x, outer, n, middle, k, inner, room, weight, factor, shape = primals
    found = rfft2(x, outer, n, middle, k, inner, room, weight, factor, shape)
    return found, rfft2(tangents[0], outer, n, middle, k, inner, room, weight, factor, shape)


def _irfft2_record(
    re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any, weight: Any,
    factor: Any, shape: Any,
) -> Any:  # fmt: skip
    found = irfft2(re, im, outer, n, middle, k, inner, room, weight, factor, shape)
    return found, (outer, n, middle, k, inner, room, weight, factor, re.shape)


def _irfft2_reverse(kept: Any, ct: Any) -> Any:
    outer, n, middle, k, inner, room, weight, factor, shape = kept
    re, im = rfft2(ct, outer, n, middle, k, inner, room, 2.0 * weight, factor, shape)
    return re, im, None, None, None, None, None, None, None, None, None


def _irfft2_tangent(primals: Any, tangents: Any) -> Any:
    re, im, outer, n, middle, k, inner, room, weight, factor, shape = primals
    found = irfft2(re, im, outer, n, middle, k, inner, room, weight, factor, shape)
    moved = irfft2(
        tangents[0], tangents[1], outer, n, middle, k, inner, room, weight, factor, shape
    )  # fmt: skip
    return found, moved


rfft2.define(_rfft2_record, _rfft2_reverse, _rfft2_tangent)
irfft2.define(_irfft2_record, _irfft2_reverse, _irfft2_tangent)


# --- cosine and sine ------------------------------------------------------------------------------


def _alike(x: Any, outer: Any, n: Any, inner: Any, kind: Any, factor: Any) -> Any:
    return np.empty(x.shape, x.dtype)


@exact("dct", _alike)
def dct(x: Any, outer: Any, n: Any, inner: Any, kind: Any, factor: Any) -> Any:
    """Return a cosine transform of `kind` 1 to 4, or a sine transform of 5 to 8.

    Kinds 2 and 3 are each the other's transpose, and so are 6 and 7; all others are symmetric: the
    ends that occur once where others occur twice have the weight of a square root of 2.
    """
    a, b = x.reshape((outer, n, inner)), np.empty((outer, n, inner), x.dtype)
    which = (kind - 1) % 4
    steps = 4 * n if which in (1, 2) else 8 * n if which == 3 else 2 * (n - 1)
    if kind == 5:
        steps = 2 * (n + 1)
    shift = 1 if kind > 4 else 0
    for o in range(outer):
        for i in range(inner):
            for k in range(n):
                row = 2 * k + 1 if which in (2, 3) else k + shift
                total = 0.0
                for j in range(n):
                    column = 2 * j + 1 if which in (1, 3) else j + shift
                    angle = 2.0 * np.pi / max(steps, 1) * (row * column % max(steps, 1))
                    weight = 1.0
                    if (kind in (1, 3) and j == 0) or (kind in (1, 7) and j == n - 1):
                        weight = np.sqrt(0.5)
                    wave = np.sin(angle) if kind > 4 else np.cos(angle)
                    total += weight * a[o, j, i] * wave
                if (kind in (1, 2) and k == 0) or (kind in (1, 6) and k == n - 1):
                    total *= np.sqrt(0.5)
                b[o, k, i] = 2.0 * factor * total
    return b.reshape(x.shape)


def transposed(kind: Any) -> Any:
    """Return the kind that has the transposed matrix."""
    return kind + 1 if kind in (2, 6) else kind - 1 if kind in (3, 7) else kind


def _dct_record(x: Any, outer: Any, n: Any, inner: Any, kind: Any, factor: Any) -> Any:
    return dct(x, outer, n, inner, kind, factor), (outer, n, inner, kind, factor)


def _dct_reverse(kept: Any, ct: Any) -> Any:
    outer, n, inner, kind, factor = kept
    x = dct(ct, outer, n, inner, transposed(kind), factor)
    return x, None, None, None, None, None


def _dct_tangent(primals: Any, tangents: Any) -> Any:
    x, outer, n, inner, kind, factor = primals
    found = dct(x, outer, n, inner, kind, factor)
    return found, dct(tangents[0], outer, n, inner, kind, factor)


dct.define(_dct_record, _dct_reverse, _dct_tangent)
