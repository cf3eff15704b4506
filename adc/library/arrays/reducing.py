"""The methods of NumPy's functions of two operands, as loops along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported

_ONE_BY_ONE = "reduce along one axis after the other"


def reduce(
    ufunc: Any, identity: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
    keepdims: Any = False, initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """``ufunc.reduce``: ``f(f(a[0], a[1]), a[2])`` and so on along one axis."""
    x = np.asarray(array)
    if dtype is not None:
        x = x.astype(dtype)
    if where is not None:
        if identity is None and initial is None:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a "
                "where mask one has to specify 'initial'"
            )
        if identity is None:
            raise Unsupported(
                "`where` in a reduction without an identity",
                "reduce `np.where(where, a, x)` with a number `x` that changes nothing",
            )
        x = np.where(where, x, np.asarray([identity]).astype(x.dtype)[0])
    along = _only_axis(x, axis)
    rows = np.moveaxis(x, along, 0) if x.ndim > 0 else x.reshape(1)
    n = rows.shape[0]
    kind = ufunc(rows[:1], rows[:1]).dtype
    if initial is not None:
        found = np.full(rows.shape[1:], initial, kind)
        for k in range(n):
            found = ufunc(found, rows[k])
    elif identity is not None:
        neutral = np.asarray([identity]).astype(kind)[0]
        found = np.full(rows.shape[1:], neutral, kind)
        for k in range(n):
            found = ufunc(found, rows[k])
    else:
        if n == 0:
            raise ValueError(
                f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
        found = rows[0].astype(kind)
        for k in range(1, n):
            found = ufunc(found, rows[k])
    if keepdims:
        found = np.expand_dims(found, along)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def _only_axis(x: Any, axis: Any) -> Any:
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise Unsupported("this reduction along several axes", _ONE_BY_ONE)
        return axis[0]
    if axis is None:
        if x.ndim > 1:
            raise Unsupported("this reduction along several axes", _ONE_BY_ONE)
        return 0
    return axis


def accumulate(ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: all results on the way of ``ufunc.reduce``."""
    x = np.asarray(array)
    if dtype is not None:
        x = x.astype(dtype)
    rows = np.moveaxis(x, axis, 0)
    found = np.empty(rows.shape, ufunc(rows[:1], rows[:1]).dtype)
    n = rows.shape[0]
    if n > 0:
        found[0] = rows[0]
        for k in range(1, n):
            found[k] = ufunc(found[k - 1], rows[k])
    moved = np.moveaxis(found, 0, axis)
    if out is None:
        return moved
    np.copyto(out, moved)
    return out


def reduceat(
    ufunc: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """``ufunc.reduceat``: reductions of the parts between indices."""
    x = np.asarray(array)
    if dtype is not None:
        x = x.astype(dtype)
    rows = np.moveaxis(x, axis, 0)
    at = np.asarray(indices)
    n, count = rows.shape[0], len(at)
    for k in range(count):
        if at[k] < 0 or at[k] >= n:
            raise IndexError(f"index {at[k]} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})")
    kind = ufunc.reduce(rows[:1]).dtype
    found = np.empty((count, *rows.shape[1:]), kind)
    for k in range(count):
        first = at[k]
        last = at[k + 1] if k + 1 < count else n
        found[k] = rows[first]
        for j in range(first + 1, last):
            found[k] = ufunc(found[k], rows[j])
    moved = np.moveaxis(found, 0, axis)
    if out is None:
        return moved
    np.copyto(out, moved)
    return out


__all__ = ["accumulate", "reduce", "reduceat"]
