"""NumPy functions that count and compare samples, in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def _variables(m: Any, rowvar: Any) -> Any:
    """Return samples with one variable a row."""
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if m.ndim < 2:
        return m.reshape(1, -1)
    return m if rowvar else m.T


def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """`np.cov` without weights."""
    x = _variables(m, rowvar).astype(np.result_type(m, np.float64))
    if y is not None:
        x = np.concatenate((x, _variables(y, rowvar).astype(np.result_type(y, np.float64))))
    if ddof is None:
        ddof = 0 if bias else 1
    count = x.shape[1] - ddof
    x = x - np.mean(x, axis=1)[:, None]
    other = np.conj(x.T) if np.iscomplexobj(x) else x.T
    return np.squeeze((x @ other) / max(count, 0.0))


def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    """`np.corrcoef`."""
    c = cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    deviation = np.sqrt(np.diagonal(c).real)
    found = c / deviation[:, None] / deviation[None, :]
    if np.iscomplexobj(c):
        return np.clip(found.real, -1.0, 1.0) + 1j * np.clip(found.imag, -1.0, 1.0)
    return np.clip(found, -1.0, 1.0)


def _edges(a: Any, bins: Any, limits: Any) -> Any:
    """Return the edges of bins of one width."""
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = 0.0, 1.0
    if limits is not None:
        low, high = 1.0 * limits[0], 1.0 * limits[1]
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    elif len(a) > 0:
        low, high = 1.0 * np.min(a), 1.0 * np.max(a)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the samples is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1).astype((a[:0] / 1).dtype)


def no_rule(bins: Any) -> None:
    """Refuse the name of a rule for the number of bins."""
    if isinstance(bins, str):
        raise Unsupported("a rule for the number of bins", "pass a number, or the edges")


def _bin_of_many(v: Any, edges: Any, bins: Any) -> Any:
    """Return the bin of a number among bins of one width, as NumPy finds it; -1 for none."""
    low, high = edges[0], edges[bins]
    if not (v >= low and v <= high):
        return -1
    k = int((v - low) / (high - low) * bins)
    if k == bins:
        k -= 1
    if v < edges[k]:
        k -= 1
    elif v >= edges[k + 1] and k != bins - 1:
        k += 1
    return k


def _bin(v: Any, edges: Any) -> Any:
    """Return the bin of a number; -1 for none."""
    last = len(edges) - 1
    if last < 1 or not (v >= edges[0] and v <= edges[last]):
        return -1
    return min(int(np.searchsorted(edges, v, "right")), last) - 1


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram`: counts have no derivative, edges and weights do."""
    no_rule(bins)
    a = np.ravel(a)
    even = np.ndim(bins) == 0
    if even:
        edges = _edges(a, bins, range)
    else:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
    if weights is None:
        found = np.zeros(len(edges) - 1, np.int64)
        for v in a:
            k = _bin_of_many(v, edges, bins) if even else _bin(v, edges)
            if k >= 0:
                found[k] += 1
    else:
        weights = np.ravel(weights)
        if len(weights) != len(a):
            raise ValueError("weights should have the same shape as a.")
        found = np.zeros(len(edges) - 1, weights.dtype)
        for i, v in enumerate(a):
            k = _bin_of_many(v, edges, bins) if even else _bin(v, edges)
            if k >= 0:
                found[k] += weights[i]
    if density:
        return found / np.diff(edges) / np.sum(found), edges
    return found, edges


def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """`np.digitize`."""
    if np.iscomplexobj(x):
        raise TypeError("x may not be complex")
    if np.all(bins[:-1] <= bins[1:]):
        return np.searchsorted(bins, x, "left" if right else "right")
    if not np.all(bins[:-1] >= bins[1:]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return len(bins) - np.searchsorted(bins[::-1], x, "left" if right else "right")
