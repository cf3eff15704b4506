"""Functions of samples: phases, correlations, histograms, products along axes, sums along one."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, functions, statistics


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """`np.unwrap`."""
    x = np.moveaxis(np.asarray(p), axis, -1)
    kind = np.result_type(x.dtype, period)
    if kind.kind != "f":
        raise Unsupported(
            "`np.unwrap` of anything but floats", "pass floats, or a period that is one"
        )
    limit = period / 2 if discont is None else discont
    high = period / 2
    steps = np.diff(x)
    inside = (steps + high) % period - high
    inside = np.where((inside == -high) & (steps > 0), high, inside)
    correction = np.where(np.abs(steps) < limit, 0.0, inside - steps)
    found = x.astype(kind)
    found[..., 1:] = x[..., 1:] + np.cumsum(correction, axis=-1)
    return np.moveaxis(found, -1, axis)


def _conjugate(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """`np.correlate`."""
    x, y = np.atleast_1d(np.asarray(a)), _conjugate(np.atleast_1d(np.asarray(v)))
    if len(x) == 0 or len(y) == 0:
        raise ValueError("first and second arguments cannot be empty")
    n, m = len(x), len(y)
    if mode not in ("full", "same", "valid"):
        raise ValueError(functions.BAD_MODE)
    if mode == "full":
        return np.convolve(x, y[::-1])
    if mode == "same":
        # NumPy slides the shorter one over the longer one.
        left = (min(n, m) - 1) // 2
        start = left if n >= m else min(n, m) - 1 - left
        return np.convolve(x, y[::-1])[start : start + max(n, m)]
    return np.convolve(x, y[::-1])[min(n, m) - 1 : max(n, m)]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """`np.histogram_bin_edges` of a number of bins, or of edges."""
    statistics.no_rule(bins)
    if np.ndim(bins) == 0:
        return statistics._edges(np.ravel(np.asarray(a)), bins, range)
    edges = np.asarray(bins)
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram2d`: counts have no derivative, weights do."""
    a, b = np.ravel(np.asarray(x)), np.ravel(np.asarray(y))
    if len(a) != len(b):
        raise ValueError("x and y must have the same length.")
    if isinstance(bins, (list, tuple)) and len(bins) == 2:
        first, second = bins
    else:
        first, second = bins, bins
    low, high = (None, None) if range is None else range
    across, down = histogram_bin_edges(a, first, low), histogram_bin_edges(b, second, high)
    found = np.zeros((len(across) - 1, len(down) - 1))
    amount = np.ones(len(a)) if weights is None else np.ravel(np.asarray(weights))
    for k in np.arange(len(a)):
        i, j = statistics._bin(a[k], across), statistics._bin(b[k], down)
        if i >= 0 and j >= 0:
            found[i, j] += amount[k]
    if density:
        area = np.diff(across)[:, None] * np.diff(down)[None, :]
        found = found / area / np.sum(found)
    return found, across, down


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """`np.geomspace` between numbers of one sign."""
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(start, stop, float(num), np.zeros(0, dtype))
    sign = -1.0 if start < 0 else 1.0
    first = np.asarray(start).astype(kind) * sign
    last = np.asarray(stop).astype(kind) * sign
    low, high = np.log10(first), np.log10(last)
    found = np.power(10.0, np.linspace(low, high, num, endpoint))
    if num > 0:
        found[0] = first
        if num > 1 and endpoint:
            found[-1] = last
    found = found * sign
    return found.astype(kind if dtype is None else dtype)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> Any:  # fmt: skip
    """`np.cumulative_sum`."""
    return _cumulative(np.atleast_1d(np.asarray(x)), axis, dtype, out, include_initial, True)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> Any:  # fmt: skip
    """`np.cumulative_prod`."""
    return _cumulative(np.atleast_1d(np.asarray(x)), axis, dtype, out, include_initial, False)


def _cumulative(x: Any, axis: Any, dtype: Any, out: Any, initial: bool, add: bool) -> Any:
    if axis is None and x.ndim >= 2:
        raise ValueError(
            "For arrays which have more than one dimension ``axis`` argument is required."
        )
    along = 0 if axis is None else axis
    found = np.cumsum(x, along, dtype) if add else np.cumprod(x, along, dtype)
    if initial:
        start = np.zeros if add else np.ones
        shape = tuple([1 if k == along % x.ndim else x.shape[k] for k in range(x.ndim)])
        found = np.concatenate((start(shape, found.dtype), found), axis=along)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.vecdot`."""
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("vecdot: Input operand does not have enough dimensions")
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(
            f"vecdot: the sizes of the axes differ: {a.shape[axis]} and {b.shape[axis]}"
        )
    products = np.moveaxis(_conjugate(a), axis, -1) * np.moveaxis(b, axis, -1)
    return np.sum(products, axis=-1, dtype=products.dtype)


def matvec(x1: Any, x2: Any, /) -> Any:
    """`np.matvec`."""
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim < 2 or b.ndim < 1:
        raise ValueError("matvec: Input operand does not have enough dimensions")
    if a.ndim == 2 and b.ndim == 1:
        return a @ b
    return (a @ b[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """`np.vecmat`."""
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError("vecmat: Input operand does not have enough dimensions")
    a = _conjugate(a)
    if a.ndim == 1 and b.ndim == 2:
        return a @ b
    return (a[..., None, :] @ b)[..., 0, :]


def array_equiv(a1: Any, a2: Any) -> Any:
    """`np.array_equiv`."""
    a, b = np.asarray(a1), np.asarray(a2)
    rank = max(a.ndim, b.ndim)
    x = a.reshape((1,) * (rank - a.ndim) + a.shape)
    y = b.reshape((1,) * (rank - b.ndim) + b.shape)
    for k in range(rank):
        if x.shape[k] != y.shape[k] and x.shape[k] != 1 and y.shape[k] != 1:
            return False
    return bool(np.all(x == y))


__all__ = [
    "array_equiv", "correlate", "cumulative_prod", "cumulative_sum", "geomspace",
    "histogram2d", "histogram_bin_edges", "matvec", "unwrap", "vecdot", "vecmat",
]  # fmt: skip
