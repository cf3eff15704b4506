"""Norms of vectors and matrices, and products of several matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.linear.factors import svdvals

# --- products -------------------------------------------------------------------------------------


def _dots(arrays: Any) -> Any:
    found = arrays[0]
    for each in arrays[1:]:
        found = found @ each
    return found


def _dots_from_the_right(arrays: Any) -> Any:
    found = arrays[-1]
    for each in arrays[-2::-1]:
        found = each @ found
    return found


def _columns(a: Any) -> Any:
    return a.shape[1] if a.ndim == 2 else 1


def multi_dot(arrays: Any) -> Any:
    """`np.linalg.multi_dot`, from the left or from the right, whichever multiplies less."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return arrays[0] @ arrays[1]
    rows = arrays[0].shape[0] if arrays[0].ndim == 2 else 1
    columns = _columns(arrays[-1])
    left, right = 0, 0
    for each in arrays[1:]:
        left += rows * each.shape[0] * _columns(each)
    for each in arrays[:-1]:
        right += each.size * columns
    if right < left:
        return _dots_from_the_right(arrays)
    return _dots(arrays)


# --- norms ----------------------------------------------------------------------------------------


def _summable(x: Any) -> Any:
    """Return an array of floats or complex numbers."""
    return x if x.dtype.kind == "f" or np.iscomplexobj(x) else x.astype(np.float64)


def _root(x: Any) -> Any:
    return np.sqrt(x)


def _squares(x: Any) -> Any:
    return x.real * x.real + x.imag * x.imag if np.iscomplexobj(x) else x * x


def _of_vectors(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return _root(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0.0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.real(x).dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors")
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _of_matrices(x: Any, ord: Any) -> Any:
    """Return the norms of a matrix, or of those of a stack."""
    if ord is None or ord == "fro":
        return _root(np.sum(_squares(x), axis=(-2, -1)))
    if ord == "nuc":
        return np.sum(svdvals(x), axis=-1)
    if ord == 2:
        return np.max(svdvals(x), axis=-1, initial=0.0)
    if ord == -2:
        return np.min(svdvals(x), axis=-1)
    if ord == 1:
        return np.max(np.sum(np.abs(x), axis=-2), axis=-1, initial=0.0)
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=-2), axis=-1)
    if ord == np.inf:
        return np.max(np.sum(np.abs(x), axis=-1), axis=-1, initial=0.0)
    if ord == -np.inf:
        return np.min(np.sum(np.abs(x), axis=-1), axis=-1)
    raise ValueError("Invalid norm order for matrices.")


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`."""
    x = _summable(x)
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        if x.dtype == np.float16:  # the squares are not rounded
            found = _root(np.dot(x.ravel(), x.ravel()))
            return np.reshape(found, (1,) * x.ndim) if keepdims else found
        return _root(np.sum(_squares(x), keepdims=keepdims))
    if axis is None:
        if x.ndim == 1:
            return _of_vectors(x, ord, axis, keepdims)
        if x.ndim > 2:
            raise ValueError("Improper number of dimensions to norm.")
        found = _of_matrices(x, ord)
        return np.reshape(found, (1, 1)) if keepdims else found
    if isinstance(axis, tuple):
        if len(axis) == 1:
            return _of_vectors(x, ord, axis, keepdims)
        if len(axis) != 2:
            raise ValueError("Improper number of dimensions to norm.")
        if ord is None:
            return _root(np.sum(_squares(x), axis=axis, keepdims=keepdims))
        found = _of_matrices(np.moveaxis(x, axis, (-2, -1)), ord)
        return np.expand_dims(found, axis) if keepdims else found
    return _of_vectors(x, ord, axis, keepdims)


def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`."""
    x = _summable(x)
    if axis is None:
        found = _of_vectors(x.ravel(), ord, None, False)
        return np.reshape(found, (1,) * x.ndim) if keepdims else found
    return _of_vectors(x, ord, axis, keepdims)


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    x = _summable(x)
    found = _of_matrices(x, ord)
    return np.expand_dims(found, (-2, -1)) if keepdims else found
