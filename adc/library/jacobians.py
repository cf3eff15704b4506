"""Jacobians inside code: one direction after the other, as plain Python.

`derivative` takes a direction for each number and array that varies, and returns the derivative of
each dependent value, which has the shape of its `like`. All directions are zero except that of `x`:
the ones `before` and `after` it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Derivative = Callable[..., Any]
Some = tuple[Any, ...]


# How far parts of a derivative may be from those of a holomorphic function, relative to its size.
_TOLERANCE = 1e-4


def joined(re: Any, im: Any) -> Any:
    """Return the derivative of a complex number, from those of its parts."""
    return re + 1j * im


def conjugated(x: Any, y: Any) -> Any:
    """Return the derivative by a complex number, from those by its parts.

    Of a real number that is ∂f/∂x - i ∂f/∂y; of a complex one half of that, its derivative, if the
    equations of Cauchy and Riemann hold.
    """
    if not np.iscomplexobj(x):
        return x - 1j * y
    found, other = 0.5 * (x - 1j * y), 0.5 * (x + 1j * y)
    largest = np.max(np.abs(found), initial=1e-30)
    if np.max(np.abs(other), initial=0.0) > _TOLERANCE * largest:
        raise ValueError("the function is not holomorphic: it has no complex derivative here")
    return found


def alone(derivative: Derivative, like: Some, before: Some, x: Any, after: Some) -> Any:
    """Return derivatives along a number."""
    return derivative(*before, 1.0, *after)


def columns(derivative: Derivative, like: Some, before: Some, x: Any, after: Some) -> Any:
    """Return derivatives along all elements of an array: their last axes are those of `x`."""
    arrays = [np.asarray(each) for each in like]
    blocks = [np.zeros((each.size, x.size), each.dtype) for each in arrays]
    for k in range(x.size):
        unit = np.zeros(x.shape, x.dtype)
        unit.reshape(x.size)[k] = 1.0
        found = derivative(*before, unit, *after)
        for block, part, each in zip(blocks, found, arrays, strict=True):
            block[:, k] = np.reshape(part, each.size)
    return [block.reshape(each.shape + x.shape) for block, each in zip(blocks, arrays, strict=True)]


def rows(derivative: Derivative, like: Some, before: Some, x: Any, after: Some) -> Any:
    """Return derivatives along all elements of an array: their first axes are those of `x`."""
    arrays = [np.asarray(each) for each in like]
    blocks = [np.zeros((x.size, each.size), x.dtype) for each in arrays]
    for k in range(x.size):
        unit = np.zeros(x.shape, x.dtype)
        unit.reshape(x.size)[k] = 1.0
        found = derivative(*before, unit, *after)
        for block, part, each in zip(blocks, found, arrays, strict=True):
            block[k] = np.reshape(part, each.size)
    return [block.reshape(x.shape + each.shape) for block, each in zip(blocks, arrays, strict=True)]


def layers(
    along: Callable[..., Any], derivative: Derivative, like: Some, before: Some, x: Any,
    after: Some, first: Some, y: Any, last: Some,
) -> Any:  # fmt: skip
    """Return derivatives along `x` for weights `y` that are each one in turn: their first axes.

    `derivative` takes weights, all but those of `y` zeros (`first` and `last`), and then
    directions; `along` is `alone` or `columns`.
    """
    arrays = [np.asarray(each) for each in like]
    shape, size = np.shape(x), np.size(x)
    blocks = [np.zeros((y.size, each.size * size), y.dtype) for each in arrays]
    for k in range(y.size):
        unit = np.zeros(y.shape, y.dtype)
        unit.reshape(y.size)[k] = 1.0
        weights = (*first, unit, *last)
        found = _weighted(along, derivative, like, before, x, after, weights)
        for block, part, each in zip(blocks, found, arrays, strict=True):
            block[k] = np.reshape(part, each.size * size)
    return [
        block.reshape(y.shape + e.shape + shape) for block, e in zip(blocks, arrays, strict=True)
    ]


def _weighted(
    along: Callable[..., Any], derivative: Derivative, like: Some, before: Some, x: Any,
    after: Some, weights: Some,
) -> Any:  # fmt: skip
    return along(lambda *directions: derivative(*weights, *directions), like, before, x, after)


__all__ = ["alone", "columns", "conjugated", "joined", "layers", "rows"]
