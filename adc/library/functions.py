"""Functions of NumPy that are a few lines of others."""

from __future__ import annotations

from typing import Any

import numpy as np


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """`np.average`."""
    if weights is None:
        return np.mean(a, axis=axis)
    if axis is None or weights.ndim == a.ndim:
        return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)
    moved = np.moveaxis(a, axis, -1)
    return np.sum(moved * weights, axis=-1) / np.sum(weights)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`np.append`."""
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis=axis)


def cross(a: Any, b: Any) -> Any:
    """`np.cross` of vectors of three along the last axis."""
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("adc: np.cross needs vectors of three")
    return np.stack(
        (
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ),
        axis=-1,
    )


def kron(a: Any, b: Any) -> Any:
    """`np.kron` of two vectors or two matrices."""
    if a.ndim == 1:
        return np.outer(a, b).reshape(-1)
    product = a[:, None, :, None] * b[None, :, None, :]
    return product.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


def gradient(f: Any, spacing: Any = 1.0, axis: int = 0) -> Any:
    """`np.gradient` along one axis with even spacing."""
    x = np.moveaxis(f, axis, 0)
    if x.shape[0] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    out = np.empty(x.shape, (x[:1] / 1).dtype)
    out[1:-1] = (x[2:] - x[:-2]) / (2.0 * spacing)
    out[0] = (x[1] - x[0]) / spacing
    out[-1] = (x[-1] - x[-2]) / spacing
    return np.moveaxis(out, 0, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`np.trapezoid`."""
    z = np.moveaxis(y, axis, -1)
    if x is None:
        return np.sum(dx * (z[..., 1:] + z[..., :-1]) / 2.0, axis=-1)
    return np.sum((x[1:] - x[:-1]) * (z[..., 1:] + z[..., :-1]) / 2.0, axis=-1)


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """`np.interp` of a vector of points."""
    n = len(xp)
    out = np.empty(len(x), np.float64)
    at = np.searchsorted(xp, x, "right")
    for i in range(len(x)):
        k = at[i]
        if k == 0:
            out[i] = fp[0]
        elif k == n:
            out[i] = fp[n - 1]
        else:
            slope = (fp[k] - fp[k - 1]) / (xp[k] - xp[k - 1])
            out[i] = slope * (x[i] - xp[k - 1]) + fp[k - 1]
    return out


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`np.isclose`."""
    near = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)
    if equal_nan:
        return near | (np.isnan(a) & np.isnan(b))
    return near


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`np.allclose`."""
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`."""
    if len(a) < len(v):
        return convolve(v, a, mode)
    n, m = len(a), len(v)
    if m == 0:
        raise ValueError("v cannot be empty")
    full = np.zeros(n + m - 1, (a[:1] * v[:1]).dtype)
    for j in range(m):
        full[j : j + n] += a * v[j]
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n]
    return full[m - 1 : n]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`: an array of values is repeated."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    count = a.shape[0]
    if a.ndim == 2:
        columns = a.shape[1]
        # With `wrap`, of a tall matrix: every so many elements, whatever the row.
        count = (a.size + columns) // (columns + 1) if wrap else min(count, columns)
    else:
        for axis in range(1, a.ndim):
            if a.shape[axis] != count:
                raise ValueError("All dimensions of input must be of equal length")
    repeated = isinstance(val, np.ndarray)
    values = np.ravel(val) if repeated else val
    for k in range(count):
        value = values[k % values.size] if repeated else values
        if a.ndim == 2 and wrap:
            a[k * (columns + 1) // columns, k * (columns + 1) % columns] = value
        else:
            a[(k,) * a.ndim] = value


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0) -> Any:
    """`np.logspace`."""
    return base ** np.linspace(start, stop, num, endpoint)


def array_equal(a: Any, b: Any) -> Any:
    """`np.array_equal`."""
    if a.ndim != b.ndim:
        return False
    same = True
    for k in range(a.ndim):
        if a.shape[k] != b.shape[k]:
            same = False
    if same:
        same = bool(np.all(a.reshape(-1) == b.reshape(-1)))
    return same


def quantile(a: Any, q: Any, axis: Any = None) -> Any:
    """`np.quantile` at one point, by linear interpolation."""
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    s = np.sort(a, axis=axis)
    rows = s if axis is None else np.moveaxis(s, axis, 0)
    place = q * (rows.shape[0] - 1)
    low = int(np.floor(place))
    high = min(low + 1, rows.shape[0] - 1)
    t = place - low
    return rows[low] + (rows[high] - rows[low]) * t


def percentile(a: Any, q: Any, axis: Any = None) -> Any:
    """`np.percentile` at one point, by linear interpolation."""
    return quantile(a, q / 100.0, axis)


def matrix_power(a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`."""
    if n < 0:
        return matrix_power(np.linalg.inv(a), -n)
    if n == 1:
        return a  # NumPy: the very array
    result = np.eye(a.shape[0], dtype=a.dtype)
    for _k in range(n):
        result = result @ a
    return result


def pinv(a: Any) -> Any:
    """`np.linalg.pinv` of a matrix of full rank."""
    if a.shape[0] >= a.shape[1]:
        return np.linalg.solve(a.T @ a, a.T)
    return np.linalg.solve(a @ a.T, a).T
