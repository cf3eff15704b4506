"""Where elements lie that an index of an assembled array selects, and how they are broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse.base import Sparse


def two(key: Any) -> Any:
    """Return the index of the rows and that of the columns."""
    if key is Ellipsis:
        return slice(None), slice(None)
    if not isinstance(key, tuple):
        return key, slice(None)
    if len(key) == 1:
        return key[0], slice(None)
    if len(key) != 2:
        raise Unsupported("this index of a sparse array", "use a row and a column")
    if key[0] is Ellipsis:
        return slice(None), key[1]
    if key[1] is Ellipsis:
        return key[0], slice(None)
    return key


def is_one(index: Any) -> Any:
    """Whether an index selects one row, or one column."""
    if index is None or isinstance(index, Sparse):
        raise Unsupported("this index of a sparse array", "use a row and a column")
    return not isinstance(index, slice) and np.ndim(index) == 0


def has_one_axis(rows: Any, columns: Any) -> Any:
    """Whether what SciPy's arrays have there is an array with one axis."""
    if isinstance(rows, slice) or isinstance(columns, slice):
        return is_one(rows) or is_one(columns)
    return np.ndim(rows) < 2 and np.ndim(columns) < 2


def _require_integer(index: Any) -> None:
    if np.asarray(index).dtype.kind not in "iu":
        raise Unsupported("an index of a sparse array that is no integer", "convert it with `int`")


def one(i: Any, n: Any, axis: Any) -> Any:
    """Return an index, counted from the start; `axis` is what errors call the axis."""
    _require_integer(i)
    if not -n <= i < n:
        if axis == "":
            raise IndexError(f"index ({i}) out of range")
        raise IndexError(f"{axis}index ({i}) out of bounds")
    return i + n if i < 0 else i


def _several(key: Any, n: Any, axis: Any) -> Any:
    """Return indices, counted from the start."""
    found = np.atleast_1d(np.asarray(key))
    if found.ndim > 2:
        raise IndexError(f"Index dimension must be 1 or 2. Got {found.ndim}")
    if found.dtype.kind == "b":
        if found.ndim == 2:
            raise Unsupported(
                "a choice of elements of a sparse array by booleans", "assign in a loop"
            )
        if len(found) != n:
            raise IndexError(f"bool index has shape ({n},) instead of ({len(found)},)")
        return np.nonzero(found)[0]
    _require_integer(found)
    if axis == "" and found.size > 0:
        one(np.max(found), n, axis)
        one(np.min(found), n, axis)
    each = np.ravel(found)
    for k in range(len(each)):
        one(each[k], n, "" if np.ndim(key) == 0 else axis)
    return np.where(found < 0, found + n, found)


def grid(rows: Any, columns: Any, shape: Any, axes: Any) -> Any:
    """Return the rows and columns of the elements that an index selects, to be broadcast."""
    m, n = shape
    if isinstance(rows, slice):
        row = np.arange(m)[rows][:, None]
    else:
        row = _several(rows, m, axes[0])
    if isinstance(columns, slice):
        col = np.arange(n)[columns][None, :]
    else:
        col = _several(columns, n, axes[1])
    one_axis = row.ndim == 1 and col.ndim == 1
    if one_axis and len(row) != len(col) and 1 not in (len(row), len(col)):
        _no_broadcast(row.shape, col.shape)
    if row.ndim == 1:
        row = row[:, None] if isinstance(columns, slice) else row[None, :]
    return row, (col[None, :] if col.ndim == 1 else col)


def met(row: Any, col: Any) -> Any:
    """Return the shape of indices that are broadcast."""
    p = row.shape[0] if row.shape[0] != 1 else col.shape[0]
    q = row.shape[1] if row.shape[1] != 1 else col.shape[1]
    if (col.shape[0] != 1 and col.shape[0] != p) or (col.shape[1] != 1 and col.shape[1] != q):
        _no_broadcast(row.shape, col.shape)
    return p, q


def _no_broadcast(first: Any, second: Any) -> None:
    raise IndexError(
        "shape mismatch: indexing arrays could not be broadcast together with shapes "
        f"{first} {second}"
    )


def steps(index: Any, p: Any, q: Any) -> Any:
    """Return the steps in an index to the next row and column: 0 where it is repeated."""
    return (1 if index.shape[0] == p else 0), (1 if index.shape[1] == q else 0)


def broadcast(shape: Any, p: Any, q: Any) -> Any:
    """Return what to add to the position of a value for the next row, and for the next column.

    As in SciPy, a row is also assigned to a column, and the other way round.
    """
    if len(shape) > 2:
        raise Unsupported("a value with three axes at elements of a sparse array", "assign a part")
    r, s = (1, 1) if len(shape) == 0 else ((1, shape[0]) if len(shape) == 1 else shape)
    if r * s == p * q and (r == p or ((r == 1 or s == 1) and (p == 1 or q == 1))):
        return q, 1
    if (r != 1 and r != p) or (s != 1 and s != q):
        raise ValueError(
            "operands could not be broadcast together with remapped shapes "
            f"[original->remapped]: {shape}  and requested shape {(p, q)}"
        )
    return (0 if r == 1 else s), (0 if s == 1 else 1)
