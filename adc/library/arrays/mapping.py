"""Functions that are applied along axes, to elements, or where conditions hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adc.library import Unsupported


class broadcast:
    """`np.broadcast`: the shape that arrays have together; loops over their elements."""

    def __init__(self, *args: Any) -> None:
        self._parts = [np.asarray(each) for each in args]
        self.shape: Any = np.broadcast_shapes(*[each.shape for each in self._parts])
        self.numiter = len(args)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        shown = [np.broadcast_to(each, self.shape) for each in self._parts]
        for place in np.ndindex(self.shape):
            yield tuple([each[place] for each in shown])

    @property
    def ndim(self) -> Any:
        return len(self.shape)

    @property
    def nd(self) -> Any:
        return len(self.shape)

    @property
    def size(self) -> Any:
        count = 1
        for each in self.shape:
            count *= each
        return count


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`."""
    x = np.asarray(arr)
    moved = np.moveaxis(x, axis, -1)
    count = 1
    for size in moved.shape[:-1]:
        count *= size
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = moved.reshape(count, moved.shape[-1])
    first = np.asarray(func1d(rows[0], *args, **kwargs))
    found = np.empty((count, *first.shape), first.dtype)
    found[0] = first
    for k in range(1, count):
        found[k] = func1d(rows[k], *args, **kwargs)
    shaped = found.reshape(moved.shape[:-1] + first.shape)
    at = axis % x.ndim
    others = x.ndim - 1
    order = [k for k in range(at)] + [others + k for k in range(first.ndim)]
    return np.transpose(shaped, tuple(order + [k for k in range(at, others)]))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    found = np.asarray(a)
    rank = found.ndim
    those = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in those:
        along = axis % rank
        made = func(found, along)
        found = made if np.ndim(made) == rank else np.expand_dims(made, along)
    return found


def vectorize(
    pyfunc: Any, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: bool = False,
    signature: Any = None,
) -> Any:  # fmt: skip
    """`np.vectorize` of a function of numbers with one result."""
    if signature is not None or excluded is not None:
        raise Unsupported("`np.vectorize` with `signature` or `excluded`", "loop over the elements")

    def run(*args: Any) -> Any:
        return vectorized(pyfunc, otypes, *args)

    return run


def vectorized(fn: Any, otypes: Any, *args: Any) -> Any:
    """Return an array of what a function gives for each of the elements of some arrays.

    Without `otypes` the type is one for everything that the function can return.
    """
    parts = np.broadcast_arrays(*args)
    shape = parts[0].shape
    flat = [part.reshape(-1) for part in parts]
    n = len(flat[0])
    if otypes is not None:
        kind = np.dtype(otypes[0])
    else:
        if n == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = fn(*[part[0] for part in flat])
        if isinstance(first, tuple):
            raise Unsupported(
                "`np.vectorize` of a function with several results",
                "make a function for each result",
            )
        kind = np.asarray(first).dtype
    made = np.empty(n, kind)
    for k in range(n):
        # NumPy passes the elements of arrays as Python's numbers, and numbers as they are.
        made[k] = fn(*[
            part[k].item() if isinstance(arg, np.ndarray) else arg
            for arg, part in zip(args, flat, strict=True)
        ])  # fmt: skip
    return made.reshape(shape)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`: every function gets the elements that its condition selects."""
    at = np.asarray(x)
    if (isinstance(condlist, list) and np.ndim(condlist[0]) > 0) or at.ndim == 0:
        conditions = [np.asarray(each).astype(np.bool_) for each in condlist]
    else:
        conditions = [np.asarray(condlist).astype(np.bool_)]
    count = len(conditions)
    if len(funclist) == count + 1:
        rest = ~conditions[0]
        for each in conditions[1:]:
            rest = rest & ~each
        conditions = [*conditions, rest]
    elif len(funclist) != count:
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    flat = np.ravel(at)
    found = np.zeros(flat.shape, at.dtype)
    for k in range(len(funclist)):
        here = np.flatnonzero(np.broadcast_to(conditions[k], at.shape))
        fn = funclist[k]
        if isinstance(fn, (int, float, complex, np.generic)):
            found[here] = fn
        elif len(here) > 0:
            found[here] = fn(flat[here], *args, **kw)
    return found.reshape(at.shape)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """`np.fromfunction`."""
    grid = np.indices(shape, dtype)
    return function(*[grid[k] for k in range(len(shape))], **kwargs)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """`np.fromiter` of a list or a vector."""
    found = np.asarray(iter).astype(dtype)
    if count < 0:
        return found
    if len(found) < count:
        raise ValueError("iterator too short")
    return found[:count]


__all__ = [
    "apply_along_axis", "apply_over_axes", "broadcast", "fromfunction", "fromiter", "piecewise",
    "vectorize",
]  # fmt: skip
