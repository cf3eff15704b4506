"""The formats of a fixed pattern: compressed rows and columns, coordinates, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.base import Sparse
from adc.library.scipy.sparse.families import Matrix, entered, like

# --- compressed rows and columns ------------------------------------------------------------------


def _from_dense() -> Any:
    raise Unsupported(
        "a sparse array of a dense one, whose pattern depends on the values,",
        "make it of `data`, `indices` and `indptr`, or outside the differentiated function",
    )


def _positions(key: Any, n: Any) -> Any:
    """Return the rows that an index selects."""
    if isinstance(key, slice):
        return np.arange(n)[key]
    found = np.atleast_1d(np.asarray(key))
    if found.dtype.kind == "b":
        return np.nonzero(found)[0]
    return np.where(found < 0, found + n, found)


def _rows_at(data: Any, indices: Any, indptr: Any, rows: Any) -> Any:
    """Return some rows of compressed ones."""
    starts = np.zeros(len(rows) + 1, indptr.dtype)
    for i in range(len(rows)):
        if not 0 <= rows[i] < len(indptr) - 1:
            raise IndexError("index out of range")
        starts[i + 1] = starts[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    at = np.empty(starts[-1], np.int64)
    for i in range(len(rows)):
        for k in range(starts[i + 1] - starts[i]):
            at[starts[i] + k] = indptr[rows[i]] + k
    return patterns.taken(data, at), indices[at], starts


class Compressed(Sparse):
    """Rows or columns that are compressed."""

    data: Any
    indices: Any
    indptr: Any

    @property
    def nnz(self) -> Any:
        """The number of entries."""
        return int(self.indptr[-1])

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        if isinstance(arg1, Sparse):
            data, self.indices, self.indptr = arg1._compressed(self._by_columns)
            self.shape = arg1.shape
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            values, indices, indptr = arg1
            data = np.asarray(values)
            self.indices, self.indptr = np.asarray(indices), np.asarray(indptr)
            if shape is None:
                across = np.max(self.indices) + 1
                down = len(self.indptr) - 1
                self.shape = (across, down) if self._by_columns else (down, across)
            else:
                self.shape = (shape[0], shape[1])
            if len(self.indptr) != self.shape[1 if self._by_columns else 0] + 1:
                raise ValueError("index pointer size does not match the shape of the sparse array")
            if len(self.indices) != len(data):
                raise ValueError("indices and data should have the same size")
        elif isinstance(arg1, tuple) and isinstance(arg1[1], tuple):
            found = coo_array(arg1, shape)
            data, self.indices, self.indptr = found._compressed(self._by_columns)
            self.shape = found.shape
        elif isinstance(arg1, tuple):
            self.shape = (arg1[0], arg1[1])
            data = np.zeros(0)
            self.indices = np.zeros(0, np.int32)
            self.indptr = np.zeros(self.shape[1 if self._by_columns else 0] + 1, np.int32)
        else:
            data = _from_dense()
        if dtype is not None:
            data = data.astype(dtype)
        self.data = data.copy() if copy else data

    def _entries(self) -> Any:
        return self.data

    def _with(self, data: Any) -> Any:
        return like(self, data, self.indices, self.indptr, self.shape)

    def _compressed(self, by_columns: Any) -> Any:
        if by_columns == self._by_columns:
            return self.data, self.indices, self.indptr
        n = self.shape[0] if self._by_columns else self.shape[1]
        indptr, order = patterns.by_row(self.indices, n)
        indices = patterns.rows_of(self.indptr)[order]
        return patterns.taken(self.data, order), indices, indptr


class _Rows(Compressed):
    """Compressed rows."""

    format = "csr"

    def tocsr(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocsr`."""
        return self.copy() if copy else self

    def tocoo(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocoo`."""
        data = self.data.copy() if copy else self.data
        found = data, (patterns.rows_of(self.indptr), self.indices)
        return self._family.coo(found, self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.transpose`."""
        turned = (self.shape[1], self.shape[0])
        return self._family.csc((self.data, self.indices, self.indptr), turned, None, copy)

    def _times(self, x: Any) -> Any:
        if x.ndim == 1:
            return patterns.gathered(self.data, self.indices, self.indptr, x)
        return patterns.gathered_rows(self.data, self.indices, self.indptr, x)

    def _selected(self, rows: Any, columns: Any) -> Any:
        at = _positions(rows, self.shape[0])
        data, indices, indptr = _rows_at(self.data, self.indices, self.indptr, at)
        found = like(self, data, indices, indptr, (len(at), self.shape[1]))
        if columns is None:
            return found
        across = found.tocsc()
        place = _positions(columns, self.shape[1])
        data, indices, indptr = _rows_at(across.data, across.indices, across.indptr, place)
        shape = (len(at), len(place))
        return self._family.csc((data, indices, indptr), shape).tocsr()


class _Columns(Compressed):
    """Compressed columns."""

    format = "csc"
    _by_columns = True

    def tocsc(self, copy: Any = False) -> Any:
        """`scipy.sparse.csc_array.tocsc`."""
        return self.copy() if copy else self

    def tocoo(self, copy: Any = True) -> Any:
        """`scipy.sparse.csc_array.tocoo`."""
        data = self.data.copy() if copy else self.data
        found = data, (self.indices, patterns.rows_of(self.indptr))
        return self._family.coo(found, self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.csc_array.transpose`."""
        turned = (self.shape[1], self.shape[0])
        return self._family.csr((self.data, self.indices, self.indptr), turned, None, copy)

    def _times(self, x: Any) -> Any:
        if x.ndim == 1:
            return patterns.scattered(self.data, self.indices, self.indptr, x, self.shape[0])
        return patterns.scattered_rows(self.data, self.indices, self.indptr, x, self.shape[0])


@entered
class csr_array(_Rows):
    """`scipy.sparse.csr_array`."""


@entered
class csc_array(_Columns):
    """`scipy.sparse.csc_array`."""


@entered
class csr_matrix(Matrix, _Rows):
    """`scipy.sparse.csr_matrix`."""


@entered
class csc_matrix(Matrix, _Columns):
    """`scipy.sparse.csc_matrix`."""


# --- coordinates ----------------------------------------------------------------------------------


class _Coordinates(Sparse):
    """A row and a column for each entry."""

    format = "coo"
    data: Any
    row: Any
    col: Any

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        if isinstance(arg1, Sparse):
            found = arg1.tocoo(False)
            data, self.row, self.col, self.shape = found.data, found.row, found.col, arg1.shape
        elif isinstance(arg1, tuple) and isinstance(arg1[1], (tuple, list)):
            data = np.asarray(arg1[0])
            self.row, self.col = np.asarray(arg1[1][0]), np.asarray(arg1[1][1])
            if shape is None:
                self.shape = (np.max(self.row) + 1, np.max(self.col) + 1)
            else:
                self.shape = (shape[0], shape[1])
                self.row, self.col = _integers(self.row), _integers(self.col)
                _require_within(self.row, self.shape[0])
                _require_within(self.col, self.shape[1])
            if not len(self.row) == len(self.col) == len(data):
                raise ValueError("all index and data arrays must have the same length")
        elif isinstance(arg1, tuple):
            self.shape = (arg1[0], arg1[1])
            data, self.row, self.col = np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int32)
        else:
            data = _from_dense()
        if dtype is not None:
            data = data.astype(dtype)
        self.data = data.copy() if copy else data

    @property
    def coords(self) -> Any:
        """The rows and the columns of the entries."""
        return self.row, self.col

    def _entries(self) -> Any:
        return self.data

    def _with(self, data: Any) -> Any:
        return self._family.coo((data, (self.row, self.col)), self.shape)

    def tocoo(self, copy: Any = False) -> Any:
        """`scipy.sparse.coo_array.tocoo`."""
        return self.copy() if copy else self

    def _compressed(self, by_columns: Any) -> Any:
        m, n = self.shape
        if by_columns:
            indices, indptr, at = patterns.merged(self.col, self.row, n, m)
        else:
            indices, indptr, at = patterns.merged(self.row, self.col, m, n)
        return patterns.summed_at(self.data, at, len(indices)), indices, indptr

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.coo_array.transpose`."""
        turned = (self.shape[1], self.shape[0])
        return self._family.coo((self.data, (self.col, self.row)), turned, None, copy)

    def _times(self, x: Any) -> Any:
        m = self.shape[0]
        if x.ndim == 1:
            out = np.zeros(m, np.result_type(self.data, x))
            for k in range(len(self.data)):
                out[self.row[k]] += self.data[k] * x[self.col[k]]
            return out
        sums = np.zeros((m, x.shape[1]), np.result_type(self.data, x))
        for k in range(len(self.data)):
            for j in range(x.shape[1]):
                sums[self.row[k], j] += self.data[k] * x[self.col[k], j]
        return sums


def _integers(index: Any) -> Any:
    """Return rows or columns, which SciPy converts, as those of a table of floats."""
    return index if index.dtype.kind in "iu" else index.astype(np.int32)


def _require_within(found: Any, n: Any) -> None:
    for k in range(len(found)):
        if not 0 <= found[k] < n:
            raise ValueError("axis index exceeds matrix dimension")


@entered
class coo_array(_Coordinates):
    """`scipy.sparse.coo_array`."""


@entered
class coo_matrix(Matrix, _Coordinates):
    """`scipy.sparse.coo_matrix`."""


# --- diagonals ------------------------------------------------------------------------------------


class _Diagonals(Sparse):
    """Diagonals: a row of `data` for each of the `offsets`, with the columns of the array."""

    format = "dia"
    data: Any
    offsets: Any

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        if not isinstance(arg1, tuple):
            raise Unsupported("diagonals of another array", "pass `(data, offsets)`")
        data = np.atleast_2d(arg1[0])
        self.offsets = np.atleast_1d(arg1[1])
        self.shape = (shape[0], shape[1])
        if len(self.offsets) != data.shape[0]:
            raise ValueError("number of diagonals does not match the number of offsets")
        if dtype is not None:
            data = data.astype(dtype)
        self.data = data.copy() if copy else data

    @property
    def nnz(self) -> Any:
        """The number of entries within the array."""
        m, n = self.shape
        count = 0
        for k in range(len(self.offsets)):
            first, last = max(self.offsets[k], 0), min(m + self.offsets[k], n, self.data.shape[1])
            count += max(last - first, 0)
        return count

    def _entries(self) -> Any:
        return self.data

    def _with(self, data: Any) -> Any:
        return self._family.dia((data, self.offsets), self.shape)

    def tocoo(self, copy: Any = False) -> Any:
        """`scipy.sparse.dia_array.tocoo`."""
        m, n = self.shape
        count, width = self.nnz, self.data.shape[1]
        row, col = np.empty(count, np.int32), np.empty(count, np.int32)
        at = np.empty(count, np.int64)
        q = 0
        for k in range(len(self.offsets)):
            offset = self.offsets[k]
            for j in range(max(offset, 0), min(m + offset, n, width)):
                row[q], col[q], at[q] = j - offset, j, k * width + j
                q += 1
        data = patterns.taken(np.ravel(self.data), at)
        return self._family.coo((data, (row, col)), self.shape)

    def _compressed(self, by_columns: Any) -> Any:
        return self.tocoo(False)._compressed(by_columns)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.dia_array.sum`."""
        return self.tocsr().sum(axis, dtype, out)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.dia_array.transpose`."""
        return self.tocoo(False).transpose()


@entered
class dia_array(_Diagonals):
    """`scipy.sparse.dia_array`."""


@entered
class dia_matrix(Matrix, _Diagonals):
    """`scipy.sparse.dia_matrix`."""


__all__ = [
    "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix", "dia_array",
    "dia_matrix",
]  # fmt: skip
