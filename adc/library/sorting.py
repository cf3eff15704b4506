"""Sorting: the order is found on integers, and only the rearrangement is differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np


def order(a: Any) -> Any:
    """Return the indices that sort a vector, equal elements in their order, NaN last."""
    n = len(a)
    found = np.arange(n)
    other = np.arange(n)
    width = 1
    while width < n:
        first = 0
        while first < n:
            middle = min(first + width, n)
            end = min(first + 2 * width, n)
            i, j = first, middle
            for k in range(first, end):
                # Take from the left unless the right is less; NaN is more than any number.
                right = i >= middle
                if not right and j < end:
                    x, y = a[found[i]], a[found[j]]
                    if np.iscomplexobj(a):
                        right = is_before(y, x)
                    else:
                        right = y < x or (x != x and y == y)
                if right:
                    other[k] = found[j]
                    j += 1
                else:
                    other[k] = found[i]
                    i += 1
            first += 2 * width
        found, other = other, found
        width *= 2
    return found


def is_before(x: Any, y: Any) -> Any:
    """Whether a complex number is sorted before another; those with a NaN last, as NumPy's."""
    number = x.imag == x.imag
    other = y.imag == y.imag
    if x.real < y.real:
        return number or not other
    if x.real > y.real:
        return number and not other
    if x.real == y.real or (x.real != x.real and y.real != y.real):
        return x.imag < y.imag or (number and not other)
    return y.real != y.real


def _rows(a: Any) -> Any:
    """Return a matrix that has the last axis of an array, of any size, as rows."""
    count = 1
    for k in range(a.ndim - 1):
        count *= a.shape[k]
    return a.reshape(count, a.shape[-1])


def argsort(a: Any, axis: Any = -1) -> Any:
    """`np.argsort`; equal elements keep their order."""
    if axis is None:
        return order(a.ravel())
    if a.ndim == 1:
        return order(a)
    moved = np.moveaxis(a, axis, -1)
    rows = _rows(moved)
    result = np.empty(rows.shape, np.int64)
    for k in range(rows.shape[0]):
        result[k] = order(rows[k])
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


def sort(a: Any, axis: Any = -1) -> Any:
    """`np.sort`."""
    if axis is None:
        flat = a.ravel()
        return flat[order(flat)]
    if a.ndim == 1:
        return a[order(a)]
    moved = np.moveaxis(a, axis, -1)
    rows = _rows(moved)
    result = np.empty_like(rows)
    for k in range(rows.shape[0]):
        result[k] = rows[k][order(rows[k])]
    return np.moveaxis(result.reshape(moved.shape), -1, axis)


def sort_in_place(a: Any, axis: int = -1) -> None:
    """The method `sort` of an array."""
    a[...] = sort(a, axis)


def median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.median` of all elements or along one axis."""
    if axis is None:
        rows = a.reshape(1, -1)
    else:
        moved = np.moveaxis(a, axis, -1)
        rows = _rows(moved)
    n = rows.shape[1]
    result = np.empty(rows.shape[0], (rows[:1] / 1).dtype)
    kind = result.dtype.type
    for k in range(rows.shape[0]):
        if n == 0:
            result[k] = np.nan
            continue
        at = order(rows[k])
        if n % 2:
            result[k] = rows[k, at[n // 2]]
        else:
            # Sums of integers would wrap around.
            result[k] = (kind(rows[k, at[n // 2 - 1]]) + kind(rows[k, at[n // 2]])) / 2
        if rows[k, at[n - 1]] != rows[k, at[n - 1]]:
            result[k] = rows[k, at[n - 1]] if np.iscomplexobj(a) else np.nan
    if axis is None:
        if keepdims:
            return result.reshape((1,) * a.ndim)
        return result[0]
    shaped = result.reshape(moved.shape[:-1])
    if keepdims:
        return np.expand_dims(shaped, axis)
    return shaped
