"""Fourier, cosine and sine transforms by the library of arrays: what `adc.library.fourier` says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_Found = tuple[Sequence[Any], int]


def results(name: str, given: Sequence[Any]) -> list[tuple[Any, tuple[int, ...]]]:
    """Return dtypes and shapes of what a transform returns."""
    x = given[0]
    dtype, shape = x.dtype.type, tuple(x.shape)
    first = {"rfft": 7, "irfft": 8, "rfft2": 9, "irfft2": 10}.get(name)
    if first is not None:
        shape = tuple(int(size) for size in given[first : first + len(shape)])
    return [(dtype, shape)] * (2 if name in ("fft", "rfft", "fft2", "rfft2") else 1)


def _lines(x: Any, outer: Any, n: Any, inner: Any) -> Any:
    return x.reshape((int(outer), int(n), int(inner)))


def _fft(
    library: Any, re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, forward: Any,
    factor: Any, *_: Any,
) -> _Found:  # fmt: skip
    z = _lines(re, outer, n, inner) + 1j * _lines(im, outer, n, inner)
    transform = library.arrays.fft.fft if forward else library.arrays.fft.ifft
    norm = "backward" if forward else "forward"
    found = (transform(z, axis=1, norm=norm) * float(factor)).reshape(re.shape)
    return (found.real, found.imag), 0


def _inside(n: int) -> slice:
    """Return where elements of half of a spectrum occur twice in the whole."""
    return slice(1, (n + 1) // 2)


def _rfft(
    library: Any, x: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any, factor: Any,
    *shape: Any,
) -> _Found:  # fmt: skip
    found = library.arrays.fft.rfft(_lines(x, outer, n, inner), axis=1) * float(factor)
    found[:, _inside(int(n))] *= float(weight)
    found = found.reshape(tuple(int(size) for size in shape[: x.ndim]))
    return (found.real, found.imag), 0


def _irfft(
    library: Any, re: Any, im: Any, outer: Any, n: Any, inner: Any, block: Any, weight: Any,
    factor: Any, *shape: Any,
) -> _Found:  # fmt: skip
    half = int(n) // 2 + 1
    z = _lines(re, outer, half, inner) + 1j * _lines(im, outer, half, inner)
    z[:, _inside(int(n))] *= float(weight)
    # Not all libraries ignore the imaginary parts of what is real.
    z[:, 0] = z[:, 0].real
    if n % 2 == 0:
        z[:, half - 1] = z[:, half - 1].real
    found = library.arrays.fft.irfft(z, int(n), axis=1, norm="forward") * float(factor)
    return (found.reshape(tuple(int(size) for size in shape[: re.ndim])),), 0


def _fft2(
    library: Any, re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any,
    room: Any, forward: Any, factor: Any, *_: Any,
) -> _Found:  # fmt: skip
    found, _flag = _fft(library, re, im, outer * n * middle, k, inner, room, forward, factor)
    return _fft(library, *found, outer, n, middle * k * inner, room, forward, 1.0)


def _rfft2(
    library: Any, x: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any, room: Any,
    weight: Any, factor: Any, *shape: Any,
) -> _Found:  # fmt: skip
    found, _flag = _rfft(
        library, x, outer * n * middle, k, inner, room, weight, factor, *shape
    )  # fmt: skip
    half = int(k) // 2 + 1
    return _fft(library, *found, outer, n, middle * half * inner, room, True, 1.0)


def _irfft2(
    library: Any, re: Any, im: Any, outer: Any, n: Any, middle: Any, k: Any, inner: Any,
    room: Any, weight: Any, factor: Any, *shape: Any,
) -> _Found:  # fmt: skip
    half = int(k) // 2 + 1
    found, _flag = _fft(library, re, im, outer, n, middle * half * inner, room, False, factor)
    return _irfft(library, *found, outer * n * middle, k, inner, room, weight, 1.0, *shape)


def _dct(
    library: Any, x: Any, outer: Any, n: Any, inner: Any, kind: Any, factor: Any, *_: Any
) -> _Found:
    """Transform as part of a longer Fourier transform."""
    kind, n = int(kind), int(n)
    which, shift = (kind - 1) % 4, int(kind > 4)
    period = 4 * n if which in (1, 2) else 8 * n if which == 3 else 2 * (n - 1) + 4 * shift
    index = np.arange(n)
    column = 2 * index + 1 if which in (1, 3) else index + shift
    row = 2 * index + 1 if which in (2, 3) else index + shift
    weights = library.arrays.ones((2, n), x.dtype)
    for k, first, last in ((0, (1, 3), (1, 7)), (1, (1, 2), (1, 6))):
        if kind in first:
            weights[k, 0] = np.sqrt(0.5)
        if kind in last:
            weights[k, n - 1] = np.sqrt(0.5)
    long = library.arrays.zeros((int(outer), period, int(inner)), x.dtype)
    long[:, column] = _lines(x, outer, n, inner) * weights[0, :, None]
    z = library.arrays.fft.fft(long, axis=1)[:, row]
    found = (-z.imag if kind > 4 else z.real) * weights[1, :, None] * (2.0 * float(factor))
    return (found.reshape(x.shape),), 0


ROUTINES: dict[str, Callable[..., _Found]] = {
    "fft": _fft,
    "rfft": _rfft,
    "irfft": _irfft,
    "fft2": _fft2,
    "rfft2": _rfft2,
    "irfft2": _irfft2,
    "dct": _dct,
}

__all__ = ["ROUTINES", "results"]
