"""Arrays with elements deleted, inserted, repeated or put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """`np.asarray_chkfinite`."""
    x = np.asarray(a, dtype)
    if x.dtype.kind == "f" and not np.all(np.isfinite(x)):
        raise ValueError("array must not contain infs or NaNs")
    return x


def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.row_stack`: `np.vstack`."""
    return np.vstack(tup)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d`."""
    x = np.ravel(np.asarray(ary))
    found = x[1:] - x[:-1]
    if to_begin is not None:
        found = np.concatenate((np.ravel(np.asarray(to_begin)).astype(x.dtype), found))
    if to_end is not None:
        found = np.concatenate((found, np.ravel(np.asarray(to_end)).astype(x.dtype)))
    return found


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """`np.trim_zeros` of a vector."""
    if isinstance(filt, (list, tuple)):
        raise Unsupported("`np.trim_zeros` of a list", "pass an array")
    x = np.asarray(filt)
    if x.ndim != 1:
        raise Unsupported("`np.trim_zeros` of anything but a vector", "slice the array")
    first, last = 0, len(x)
    while first < last and x[first] == 0:
        first += 1
    while last > first and x[last - 1] == 0:
        last -= 1
    if trim == "b" or trim == "B":
        first = 0 if last > first else last
    if trim == "f" or trim == "F":
        last = len(x)
    return x[first:last]


def resize(a: Any, new_shape: Any) -> Any:
    """`np.resize`: the elements again and again."""
    x = np.ravel(np.asarray(a))
    shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    size = 1
    for extent in shape:
        size *= extent
        if extent < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    if len(x) == 0 or size == 0:
        return np.zeros(shape, x.dtype)
    return x[np.arange(size) % len(x)].reshape(shape)


def _kept(n: Any, obj: Any) -> Any:
    """Return which of `n` elements stay when those at `obj` are deleted."""
    keep = np.ones(n, np.bool_)
    at = np.asarray(obj)
    if at.dtype == np.bool_:
        if at.shape != (n,):
            raise ValueError("boolean array argument obj to delete must be one dimensional")
        return ~at
    if at.size > 0:
        keep[at.astype(np.int64)] = False
    return keep


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete`."""
    x = np.asarray(arr)
    if axis is None:
        x = np.ravel(x)
        along = 0
    else:
        along = axis
    n = x.shape[along]
    if isinstance(obj, slice):
        keep = np.ones(n, np.bool_)
        keep[obj] = False
    else:
        keep = _kept(n, obj)
    return np.compress(keep, x, along)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`."""
    x = np.asarray(arr)
    if axis is None:
        x = np.ravel(x)
        along = 0
    else:
        along = axis % x.ndim
    n = x.shape[along]
    if isinstance(obj, slice):
        at = np.arange(n)[obj]
    else:
        at = np.asarray(obj)
    if at.dtype == np.bool_:
        at = np.nonzero(at)[0]
    first = np.moveaxis(x, along, 0)
    if at.size == 1:
        where = int(np.ravel(at)[0])
        if where < -n or where > n:
            raise IndexError(f"index {where} is out of bounds for axis {along} with size {n}")
        if where < 0:
            where += n
        new = np.asarray(values, x.dtype)
        if at.ndim == 0 and new.ndim > 0 and x.ndim > 1:
            # Of one place the values are a part of the array without the axis.
            padded = new.reshape((1,) * (x.ndim - new.ndim) + new.shape)
            new = np.moveaxis(padded, 0, along)
        if new.ndim == 0 or x.ndim == 1:
            spread = np.ravel(new) if x.ndim == 1 else new
            if x.ndim == 1:
                return np.concatenate((x[:where], spread, x[where:]))
        else:
            spread = np.moveaxis(new.reshape((1,) * (x.ndim - new.ndim) + new.shape), along, 0)
        count = 1 if new.ndim == 0 else spread.shape[0]
        middle = np.empty((count, *first.shape[1:]), x.dtype)
        middle[...] = spread
        return np.moveaxis(np.concatenate((first[:where], middle, first[where:])), 0, along)
    count = at.size
    places = np.ravel(at).astype(np.int64)
    places = np.where(places < 0, places + n, places)
    if np.any(places < 0) or np.any(places > n):
        raise IndexError(f"index is out of bounds for axis {along} with size {n}")
    order = np.argsort(places, kind="stable")
    found_at = np.empty(count, np.int64)
    for k in range(count):
        found_at[order[k]] = places[order[k]] + k
    old = np.ones(n + count, np.bool_)
    old[found_at] = False
    found = np.empty((n + count, *first.shape[1:]), x.dtype)
    new = np.asarray(values, x.dtype)
    if new.ndim > 0 and x.ndim > 1:
        new = np.moveaxis(new.reshape((1,) * (x.ndim - new.ndim) + new.shape), along, 0)
    found[found_at] = new
    found[old] = first
    return np.moveaxis(found, 0, along)


def diagflat(v: Any, k: int = 0) -> Any:
    """`np.diagflat`."""
    return np.diag(np.ravel(np.asarray(v)), k)


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """`np.broadcast_arrays`."""
    shape = np.broadcast_shapes(*[np.shape(each) for each in args])
    return tuple([np.broadcast_to(np.asarray(each), shape) for each in args])


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """`np.choose`."""
    which = np.asarray(a)
    # Numbers of Python's take the type of the other choices.
    parts = choices
    if not isinstance(choices, np.ndarray):
        parts = [each if np.ndim(each) == 0 else np.asarray(each) for each in choices]
    count = len(parts)
    if mode == "raise":
        if np.any(which < 0) or np.any(which >= count):
            raise ValueError("invalid entry in choice array")
    elif mode == "wrap":
        which = which % count
    else:
        which = np.clip(which, 0, count - 1)
    if isinstance(choices, np.ndarray):
        found = np.where(which == 0, choices[0], choices[count - 1])
        for k in range(1, count):
            found = np.where(which == k, choices[k], found)
    else:
        found = np.select([which == k for k in range(count)], parts, parts[0])
    if out is None:
        return found
    out[...] = found
    return out


def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place`: the values again and again."""
    at = np.flatnonzero(np.asarray(mask))
    new = np.ravel(np.asarray(vals)).astype(arr.dtype)
    if len(at) > 0:
        if len(new) == 0:
            raise ValueError("Cannot insert from an empty array!")
        for k in range(len(at)):
            arr.flat[at[k]] = new[k % len(new)]


def partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """`np.partition`: all elements are sorted."""
    x = np.asarray(a)
    _check_places(x, kth, axis)
    return np.sort(x, axis)


def partition_in_place(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> None:
    """The method `partition` of an array."""
    a[...] = partition(a, kth, axis)


def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    """`np.argpartition`: the order of all elements."""
    x = np.asarray(a)
    _check_places(x, kth, axis)
    return np.argsort(x, axis)


def _check_places(x: Any, kth: Any, axis: Any) -> None:
    n = x.size if axis is None else x.shape[axis]
    if x.size == 0:
        return
    for k in np.ravel(np.asarray(kth)):
        if k < -n or k >= n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")


__all__ = [
    "argpartition", "asarray_chkfinite", "broadcast_arrays", "choose", "delete", "diagflat",
    "ediff1d", "insert", "partition", "place", "resize", "row_stack", "trim_zeros",
]  # fmt: skip
