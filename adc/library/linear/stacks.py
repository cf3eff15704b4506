"""Stacks of matrices as loops over them, and the numbers that LAPACK knows."""

from __future__ import annotations

from typing import Any

import numpy as np


def wide(a: Any) -> None:
    if a.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")


def real_of(a: Any) -> Any:
    """Return the dtype of the parts of numbers."""
    return np.real(a).dtype


def inexact(a: Any) -> Any:
    """Return an array of floats or complex numbers that LAPACK knows."""
    wide(a)
    return a if a.dtype.kind == "f" or np.iscomplexobj(a) else a.astype(np.float64)


def square(a: Any) -> None:
    if a.shape[-2] != a.shape[-1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def number_of(a: Any) -> Any:
    """Return how many matrices there are in a stack."""
    count = 1
    for size in a.shape[:-2]:
        count *= size
    return count


def flattened(a: Any) -> Any:
    """Return a stack with one axis before those of the matrices."""
    if a.ndim == 3:
        return a
    return a.reshape((number_of(a), a.shape[-2], a.shape[-1]))


def together(left: Any, right: Any) -> Any:
    """Return the shape that two shapes are broadcast to."""
    if len(left) < len(right):
        left, right = right, left
    rest = len(left) - len(right)
    shape = left[:rest]
    for one, other in zip(left[rest:], right, strict=True):
        shape = (*shape, other if one == 1 else one)
    return shape


def unflattened(found: Any, outer: Any) -> Any:
    """Return an array with the axes of a stack in place of the first one."""
    if len(outer) == 1:
        return found
    return found.reshape((*outer, *found.shape[1:]))


def of_each(fn: Any, a: Any) -> Any:
    """Return a function, which keeps shapes, of each matrix of a stack."""
    if a.ndim == 2:
        return fn(a)
    flat = flattened(a)
    found = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        found[k] = fn(flat[k])
    return unflattened(found, a.shape[:-2])


def adjoint(a: Any) -> Any:
    found = np.swapaxes(a, -1, -2)
    return np.conj(found) if np.iscomplexobj(a) else found
