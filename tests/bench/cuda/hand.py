"""Gradients of stencils as CUDA kernels written by hand, which those of adc are timed beside.

One thread computes one place, in as many dimensions as the grid has: neighbours in a row are
neighbours in a warp. Both stencils are linear and keep nothing. The way back gathers: each place
reads what its neighbours' adjoints hand it, so that nothing is added atomically, and an array that
was overwritten is not set to zero first, but written. Arrays are on the device, results too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adc.backend.cuda.api import cuda, simulated

# Threads of a block along each axis, and those of a block that adds up. The simulator starts a
# thread of Python's for each.
_PLANE = (2, 2) if simulated else (32, 8)
_SPACE = (2, 2, 1) if simulated else (32, 4, 2)
_ROW = 4 if simulated else 256
_BLOCKS = 2 if simulated else 1024


@cuda.jit
def _weigh(w: Any, a: Any, out: Any, parts: Any) -> None:
    """Add up the products of `w` and `a`, a part for every block, and copy `w`."""
    part = cuda.shared.array(_ROW, np.float64)
    at = cuda.grid(1)
    own = 0.0
    while at < w.size:
        own += w[at] * a[at]
        out[at] = w[at]
        at += cuda.gridsize(1)
    i = cuda.threadIdx.x
    part[i] = own
    step = _ROW // 2
    while step > 0:
        cuda.syncthreads()
        if i < step:
            part[i] += part[i + step]
        step //= 2
    if i == 0:
        parts[cuda.blockIdx.x] = part[0]


def _weighed(w: Any, a: Any) -> tuple[float, Any]:
    """Return the sum of `w * a`, and a copy of `w`."""
    out = cuda.device_array_like(w)
    blocks = min(-(-w.size // _ROW), _BLOCKS)
    parts = cuda.device_array(blocks, np.float64)
    _weigh[blocks, _ROW](w.reshape(w.size), a.reshape(w.size), out.reshape(w.size), parts)
    return float(parts.copy_to_host().sum()), out


def _copy(array: Any) -> Any:
    out = cuda.device_array_like(array)
    out.copy_to_device(array)
    return out


@cuda.jit
def _clear(out: Any) -> None:
    at = cuda.grid(1)
    if at < out.size:
        out[at] = 0.0


def _zeros(array: Any) -> Any:
    out = cuda.device_array_like(array)
    _clear[-(-out.size // _ROW), _ROW](out.reshape(out.size))
    return out


def _grid(shape: tuple[int, ...], block: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many blocks cover an array, the last axis first."""
    return tuple(-(-n // threads) for n, threads in zip(reversed(shape), block, strict=True))


# --- five points, two dimensions ------------------------------------------------------------------


@cuda.jit
def _five(source: Any, out: Any) -> None:
    j, i = cuda.grid(2)
    n, m = out.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        out[i, j] = 0.2 * (
            source[i, j] + source[i, j - 1] + source[i, j + 1] + source[i + 1, j] + source[i - 1, j]
        )


@cuda.jit
def _five_back(source: Any, out: Any) -> None:
    j, i = cuda.grid(2)
    n, m = out.shape
    if i >= n or j >= m:
        return
    down, across = 0 < i < n - 1, 0 < j < m - 1
    total = 0.0
    if down:
        if across:
            total += source[i, j]
        if j > 1:
            total += source[i, j - 1]
        if j < m - 2:
            total += source[i, j + 1]
    if across:
        if i < n - 2:
            total += source[i + 1, j]
        if i > 1:
            total += source[i - 1, j]
    if down and across:
        out[i, j] = 0.2 * total
    else:
        out[i, j] += 0.2 * total


@cuda.jit
def _forget_plane(out: Any) -> None:
    j, i = cuda.grid(2)
    if 0 < i < out.shape[0] - 1 and 0 < j < out.shape[1] - 1:
        out[i, j] = 0.0


def jacobi(steps: int, A: Any, B: Any, w: Any) -> tuple[float, tuple[Any, Any]]:
    """Return the value and the gradients of `array_kernels.jacobi`."""
    return _steps(steps, A, B, w, (_five, _five_back, _forget_plane), _PLANE)


# --- seven points, three dimensions ---------------------------------------------------------------


@cuda.jit
def _seven(source: Any, out: Any) -> None:
    k, j, i = cuda.grid(3)
    n, m, o = out.shape
    if 0 < i < n - 1 and 0 < j < m - 1 and 0 < k < o - 1:
        out[i, j, k] = 0.25 * source[i, j, k] + 0.125 * (
            source[i + 1, j, k]
            + source[i - 1, j, k]
            + source[i, j + 1, k]
            + source[i, j - 1, k]
            + source[i, j, k + 1]
            + source[i, j, k - 1]
        )


@cuda.jit
def _seven_back(source: Any, out: Any) -> None:
    k, j, i = cuda.grid(3)
    n, m, o = out.shape
    if i >= n or j >= m or k >= o:
        return
    first, second, third = 0 < i < n - 1, 0 < j < m - 1, 0 < k < o - 1
    total = 0.0
    if second and third:
        if i < n - 2:
            total += source[i + 1, j, k]
        if i > 1:
            total += source[i - 1, j, k]
    if first and third:
        if j < m - 2:
            total += source[i, j + 1, k]
        if j > 1:
            total += source[i, j - 1, k]
    if first and second:
        if k < o - 2:
            total += source[i, j, k + 1]
        if k > 1:
            total += source[i, j, k - 1]
    if first and second and third:
        out[i, j, k] = 0.25 * source[i, j, k] + 0.125 * total
    else:
        out[i, j, k] += 0.125 * total


@cuda.jit
def _forget_space(out: Any) -> None:
    k, j, i = cuda.grid(3)
    n, m, o = out.shape
    if 0 < i < n - 1 and 0 < j < m - 1 and 0 < k < o - 1:
        out[i, j, k] = 0.0


def heat(steps: int, A: Any, B: Any, w: Any) -> tuple[float, tuple[Any, Any]]:
    """Return the value and the gradients of `array_kernels.heat`."""
    return _steps(steps, A, B, w, (_seven, _seven_back, _forget_space), _SPACE)


def _steps(
    steps: int, A: Any, B: Any, w: Any, kernels: tuple[Any, Any, Any], block: tuple[int, ...]
) -> tuple[float, tuple[Any, Any]]:
    forth, back, forget = (kernel[_grid(A.shape, block), block] for kernel in kernels)
    a, b = _copy(A), _copy(B)
    for _ in range(steps):
        forth(a, b)
        forth(b, a)
    value, a_ct = _weighed(w, a)
    b_ct = _zeros(b)
    for _ in range(steps):
        back(a_ct, b_ct)
        back(b_ct, a_ct)
    if steps:
        forget(b_ct)
    return value, (a_ct, b_ct)


HAND: dict[str, Callable[..., tuple[float, tuple[Any, ...]]]] = {"jacobi": jacobi, "heat": heat}
