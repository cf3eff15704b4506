"""Indices: of triangles and diagonals, of elements in order, from flat to several and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def _length(i: Any, m: Any, k: Any, upper: Any) -> Any:
    """Return how many of `m` columns of row `i` lie from a diagonal on, or before it."""
    return max(m - max(i + k, 0), 0) if upper else max(min(i + k, m), 0)


def _places(n: Any, m: Any, k: Any, upper: Any) -> Any:
    """Return the places of a matrix from a diagonal on, or of those before it: by rows."""
    count = 0
    for i in range(n):
        count += _length(i, m, k, upper)
    rows, columns = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for i in range(n):
        length = _length(i, m, k, upper)
        for j in range(length):
            rows[at], columns[at] = i, m - length + j if upper else j
            at += 1
    return rows, columns


def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """`np.tril_indices`."""
    if isinstance(k, int | np.integer):
        return _places(n, n if m is None else m, k + 1, False)
    return np.nonzero(np.tri(n, n if m is None else m, k, np.bool_))


def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """`np.triu_indices`."""
    if isinstance(k, int | np.integer):
        return _places(n, n if m is None else m, k, True)
    return np.nonzero(~np.tri(n, n if m is None else m, k - 1, np.bool_))


def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    """`np.tril_indices_from`."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    """`np.triu_indices_from`."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def diag_indices(n: Any, ndim: int = 2) -> Any:
    """`np.diag_indices`."""
    at = np.arange(n)
    return (at,) * ndim


def diag_indices_from(arr: Any) -> Any:
    """`np.diag_indices_from`."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for size in arr.shape[1:]:
        if size != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> Any:
    """`np.mask_indices`."""
    return np.nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """`np.unravel_index`."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    at = np.asarray(indices).astype(np.int64)
    total = 1
    for size in sizes:
        total *= size
    if np.any(at < 0) or np.any(at >= total):
        raise ValueError(f"index is out of bounds for array with size {total}")
    found = []
    steps = sizes[::-1] if order == "C" else sizes
    for size in steps:
        found.append(at % size)
        at = at // size
    return tuple(found[::-1] if order == "C" else found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """`np.ravel_multi_index`."""
    sizes = (dims,) if isinstance(dims, int) else tuple(dims)
    rank = len(sizes)
    modes = (mode,) * rank if isinstance(mode, str) else tuple(mode)
    if len(multi_index) != rank:
        raise ValueError(f"parameter multi_index must be a sequence of length {rank}")
    axes = range(rank) if order == "C" else range(rank - 1, -1, -1)
    found = np.asarray(0)
    for k in axes:
        at = np.asarray(multi_index[k])
        if modes[k] == "raise":
            if np.any(at < 0) or np.any(at >= sizes[k]):
                raise ValueError("invalid entry in coordinates array")
        elif modes[k] == "wrap":
            at = at % sizes[k]
        else:
            at = np.clip(at, 0, sizes[k] - 1)
        found = found * sizes[k] + at
    return found


def lexsort(keys: Any, axis: int = -1) -> Any:
    """`np.lexsort` of vectors."""
    parts = [np.asarray(keys[k]) for k in range(len(keys))]
    if parts[0].ndim != 1:
        raise Unsupported("`np.lexsort` of anything but vectors", "loop over the other axes")
    found = np.arange(len(parts[0]))
    for key in parts:
        if len(key) != len(found):
            raise ValueError("all keys need to be the same shape")
        found = found[np.argsort(key[found], kind="stable")]
    return found


def ndindex(*shape: Any) -> Any:
    """`np.ndindex`: all indices, as a list."""
    sizes = shape
    if len(shape) == 1 and isinstance(shape[0], tuple):
        sizes = shape[0]
    count = 1
    for size in sizes:
        if size < 0:
            raise ValueError("negative dimensions are not allowed")
        count *= size
    found = []
    for k in range(count):
        found.append(_index(k, sizes))
    return found


def _index(k: Any, sizes: Any) -> Any:
    at: Any = ()
    for size in sizes[::-1]:
        at = (k % size, *at)
        k //= size
    return at


__all__ = [
    "diag_indices", "diag_indices_from", "lexsort", "mask_indices", "ndindex", "ravel_multi_index",
    "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index",
]  # fmt: skip
