"""Vectors as sets of their elements, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib._arraysetops_impl import (
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
)

from adc.library import Unsupported


def _firsts(s: Any, equal_nan: Any) -> Any:
    """Return which elements of a sorted vector differ from the one before."""
    found = np.ones(len(s), np.bool_)
    if len(s) > 1:
        found[1:] = s[1:] != s[:-1]
        if equal_nan and s.dtype.kind in "fc":
            found[1:] &= ~(np.isnan(s[1:]) & np.isnan(s[:-1]))
    return found


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: Any = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """`np.unique` of all elements."""
    x = np.asarray(ar)
    if axis is not None and x.ndim != 1:
        raise Unsupported(
            "`np.unique` of rows (`axis`)", "sort them with `np.lexsort`, and compare neighbours"
        )
    flat = np.ravel(x)
    order = np.argsort(flat, kind="stable")
    s = flat[order]
    first = _firsts(s, equal_nan)
    found = [s[first]]
    if return_index:
        found.append(order[first])
    if return_inverse:
        inverse = np.empty(len(flat), np.int64)
        inverse[order] = np.cumsum(first) - 1
        found.append(inverse.reshape(x.shape))
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(first), len(flat))))
    return found[0] if len(found) == 1 else tuple(found)


def unique_values(x: Any) -> Any:
    """`np.unique_values`, in order."""
    return unique(x, equal_nan=False)


def unique_counts(x: Any) -> Any:
    """`np.unique_counts`."""
    values, counts = unique(x, return_counts=True, equal_nan=False)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Any) -> Any:
    """`np.unique_inverse`."""
    values, inverse = unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverseResult(values, inverse)


def unique_all(x: Any) -> Any:
    """`np.unique_all`."""
    values, index, inverse, counts = unique(x, True, True, True, equal_nan=False)
    return UniqueAllResult(values, index, inverse, counts)


def union1d(ar1: Any, ar2: Any) -> Any:
    """`np.union1d`."""
    return unique(np.concatenate((np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2)))))


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """`np.intersect1d`."""
    a, b = np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2))
    if assume_unique:
        i, j = np.arange(len(a)), np.arange(len(b))
    else:
        a, i = unique(a, return_index=True)
        b, j = unique(b, return_index=True)
    both = np.concatenate((a, b))
    order = np.argsort(both, kind="stable")
    s = both[order]
    same = s[1:] == s[:-1]
    found = s[:-1][same]
    if not return_indices:
        return found
    return found, i[order[:-1][same]], j[order[1:][same] - len(a)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`np.setxor1d`."""
    a, b = np.ravel(np.asarray(ar1)), np.ravel(np.asarray(ar2))
    if not assume_unique:
        a, b = unique(a), unique(b)
    s = np.sort(np.concatenate((a, b)))
    if len(s) == 0:
        return s
    differs = np.ones(len(s) + 1, np.bool_)
    differs[1:-1] = s[1:] != s[:-1]
    return s[differs[1:] & differs[:-1]]


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: Any = None,
) -> Any:  # fmt: skip
    """`np.isin`: by bisection."""
    x, of = np.asarray(element), np.sort(np.ravel(np.asarray(test_elements)))
    n = len(of)
    if n == 0:
        return np.full(x.shape, invert)
    at = np.minimum(np.searchsorted(of, x), n - 1)
    found = of[at] == x
    return ~found if invert else found


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`np.setdiff1d`."""
    a = np.ravel(np.asarray(ar1)) if assume_unique else unique(ar1)
    return a[isin(a, ar2, invert=True)]


__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip
