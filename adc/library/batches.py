"""`adc.vmap`: a function of one element, over an axis of its arguments, as a loop.

What takes elements out of arguments and puts results together is lowered by
`frontend.transforms.batches`, which knows the structures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def over(fn: Callable[..., Any], axes: Any, outs: Any) -> Callable[..., Any]:
    """Return a function of batches, for `fn` of their elements.

    `axes` and `outs` are numbers, None, or structures of them as `encoded` tuples.
    """

    def batched(*args: Any, **kwargs: Any) -> Any:
        count = count_of(axes, args, kwargs)
        if count == 0:
            raise ValueError("vmap of a function over an axis of size 0")
        results = started(outs, _called(fn, axes, args, kwargs, 0), count)
        for k in range(1, count):
            put(outs, results, k, _called(fn, axes, args, kwargs, k))
        return finished(outs, results)

    return batched


def _called(fn: Any, axes: Any, args: Any, kwargs: Any, k: Any) -> Any:
    some, named = element(axes, args, kwargs, k)
    return fn(*some, **named)


def count_of(axes: Any, args: Any, kwargs: Any) -> Any:
    """Return the common size of the axes."""
    raise NotImplementedError


def element(axes: Any, args: Any, kwargs: Any, k: Any) -> Any:
    """Return the arguments for one element."""
    raise NotImplementedError


def started(outs: Any, first: Any, count: Any) -> Any:
    """Return room for the results, with that of the first element in it."""
    raise NotImplementedError


def put(outs: Any, results: Any, k: Any, found: Any) -> None:
    """Write the result of one element to its place."""
    raise NotImplementedError


def finished(outs: Any, results: Any) -> Any:
    """Return the results, with the axis of the elements where it is asked for."""
    raise NotImplementedError


def part(x: Any, axis: Any, k: Any) -> Any:
    """Return one element of an array, along an axis."""
    return np.moveaxis(x, axis, 0)[k]


def rows(first: Any, count: Any) -> Any:
    """Return an array of a row for each element, with the first one in it."""
    row = np.asarray(first)
    found = np.empty((count, *row.shape), row.dtype)
    found[0] = row
    return found


def put_row(found: Any, k: Any, value: Any) -> None:
    """Write the row of an element."""
    row = np.asarray(value)
    if row.shape != found.shape[1:]:
        raise ValueError("the results of two elements in vmap have different shapes")
    found[k] = row


def same(first: Any, value: Any) -> None:
    """Raise unless two results, which have no axis, are equal."""
    if not np.all((first == value) | ((first != first) & (value != value))):
        raise ValueError("a result in vmap with None in out_axes is not the same for all elements")


def encoded(axes: Any) -> Any:
    """Return the axes of a structure as tuples, which are constants; raise TypeError for another.

    >>> encoded((0, {"a": None}))
    ('tuple', ('axis', 0), ('dict', ('a', ('axis', None))))
    """
    if axes is None or type(axes) is int:
        return ("axis", axes)
    if isinstance(axes, (tuple, list)):
        return (type(axes).__name__, *(encoded(each) for each in axes))
    if isinstance(axes, dict):
        return ("dict", *((key, encoded(each)) for key, each in axes.items()))
    raise TypeError(f"{axes!r} is no axis")


__all__ = ["encoded", "over"]
