"""The classes of `scipy.sparse`: compressed rows and columns, coordinates, diagonals.

A class whose name ends in `matrix` multiplies matrices with ``*``, as `np.matrix` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns


class Sparse:
    """What all formats have. Each has `data`, its pattern and `shape`."""

    __array_priority__ = 10.1
    ndim = 2
    _is_matrix = False
    # Whether the compressed form of results is that of columns.
    _by_columns = False

    data: Any
    shape: Any

    # Methods of each format: `_with(data)` returns an array with the same pattern, `_compressed`
    # `data`, `indices` and `indptr` of compressed rows, or columns.
    _with: Any
    _compressed: Any
    tocoo: Any
    transpose: Any

    def tocsr(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocsr`."""
        if self._is_matrix:
            return csr_matrix(self._compressed(False), self.shape)
        return csr_array(self._compressed(False), self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocsc`."""
        if self._is_matrix:
            return csc_matrix(self._compressed(True), self.shape)
        return csc_array(self._compressed(True), self.shape)

    # --- what it is -------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The type of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> Any:
        """The number of entries."""
        return len(self.data)

    @property
    def size(self) -> Any:
        """The number of entries."""
        return self.nnz

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.transpose()

    def get_shape(self) -> Any:
        """`scipy.sparse.csr_matrix.get_shape`."""
        return self.shape

    def getnnz(self) -> Any:
        """`scipy.sparse.csr_matrix.getnnz`."""
        return self.nnz

    def asformat(self, format: Any, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.asformat`."""
        return in_format(self, format)

    def copy(self) -> Any:
        """`scipy.sparse.csr_array.copy`."""
        return self._with(self.data.copy())

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.csr_array.toarray`."""
        if order is not None or out is not None:
            raise Unsupported("`toarray` with `order` or `out`", "leave them out")
        found = self.tocoo(False)
        dense = np.zeros(self.shape, self.data.dtype)
        for k in range(len(found.data)):
            dense[found.row[k], found.col[k]] += found.data[k]
        return dense

    def todense(self) -> Any:
        """`scipy.sparse.csr_array.todense`."""
        if self._is_matrix:
            raise Unsupported("`todense`, which returns an `np.matrix`,", "use `toarray`")
        return self.toarray()

    # --- products ---------------------------------------------------------------------------------

    def dot(self, other: Any) -> Any:
        """`scipy.sparse.csr_array.dot`."""
        if not isinstance(other, Sparse) and np.ndim(other) == 0:
            return self.multiply(other)
        return self @ other

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _product(self, other)
        x = np.asarray(other)
        if x.ndim == 0:
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if x.ndim > 2:
            raise Unsupported("a product with a stack of matrices", "loop over the stack")
        if x.shape[0] != self.shape[1]:
            raise ValueError("matmul: dimension mismatch with signature (n,k),(k)->(n)")
        return self._times(x)

    def __rmatmul__(self, other: Any) -> Any:
        x = np.asarray(other)
        if x.ndim == 0:
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if x.ndim > 2:
            raise Unsupported("a product with a stack of matrices", "loop over the stack")
        if x.shape[-1] != self.shape[0]:
            raise ValueError("matmul: dimension mismatch with signature (k),(k,m)->(m)")
        return self._from_left(x)

    def _from_left(self, x: Any) -> Any:
        if x.ndim == 1:
            return self.transpose()._times(x)
        return np.transpose(self.transpose()._times(np.transpose(x)))

    def _times(self, x: Any) -> Any:
        return self.tocsr()._times(x)

    # --- elements ---------------------------------------------------------------------------------

    def __imul__(self, other: Any) -> Any:
        raise Unsupported("a change of a sparse array in place", "write `A = A * x`")

    def __itruediv__(self, other: Any) -> Any:
        raise Unsupported("a change of a sparse array in place", "write `A = A / x`")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Unsupported(
            "assignment to elements of a sparse array", "make it of `data`, or write to `A.data`"
        )

    def __neg__(self) -> Any:
        return self._with(-self.data)

    def __abs__(self) -> Any:
        return self._with(np.abs(self.data))

    def __mul__(self, other: Any) -> Any:
        if self._is_matrix:
            return self.dot(other)
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self._is_matrix and np.ndim(other) > 0:
            return self.__rmatmul__(other)
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            raise Unsupported(
                "a quotient of sparse arrays, which is dense,", "divide `A.toarray()`"
            )
        if np.ndim(other) == 0:
            return self._with(self.data / other)
        return self.multiply(1.0 / np.asarray(other))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _sum(self, other, other.data)
        return _dense(self, other) + other

    def __radd__(self, other: Any) -> Any:
        return other + _dense(self, other)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _sum(self, other, -other.data)
        return _dense(self, other) - other

    def __rsub__(self, other: Any) -> Any:
        return other - _dense(self, other)

    def __pow__(self, other: Any) -> Any:
        if self._is_matrix:
            raise Unsupported("a power of a sparse matrix", "multiply: `A @ A`")
        return self.power(other)

    def power(self, n: Any) -> Any:
        """`scipy.sparse.csr_array.power`."""
        if np.ndim(n) != 0:
            raise Unsupported("`power` of several exponents", "compute `A.data`")
        if n == 0:
            raise Unsupported("the zero power of a sparse array, which is dense,", "use `np.ones`")
        return self._with(self.data**n)

    def multiply(self, other: Any) -> Any:
        """`scipy.sparse.csr_array.multiply`."""
        if isinstance(other, Sparse):
            return _common(self, other)
        if np.ndim(other) == 0:
            return self._with(self.data * other)
        found = self.tocoo(False)
        x = np.broadcast_to(np.asarray(other), self.shape)
        scales = np.empty(len(found.data), x.dtype)
        for k in range(len(found.data)):
            scales[k] = x[found.row[k], found.col[k]]
        return found._with(found.data * scales)

    def conjugate(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conjugate`."""
        return self._with(np.conjugate(self.data))

    def conj(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conj`."""
        return self.conjugate()

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._with(self.data.real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._with(self.data.imag)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.astype`."""
        return self._with(self.data.astype(dtype))

    def sqrt(self) -> Any:
        """`scipy.sparse.csr_array.sqrt`."""
        return self._with(np.sqrt(self.data))

    def sin(self) -> Any:
        """`scipy.sparse.csr_array.sin`."""
        return self._with(np.sin(self.data))

    def tan(self) -> Any:
        """`scipy.sparse.csr_array.tan`."""
        return self._with(np.tan(self.data))

    def arcsin(self) -> Any:
        """`scipy.sparse.csr_array.arcsin`."""
        return self._with(np.arcsin(self.data))

    def arctan(self) -> Any:
        """`scipy.sparse.csr_array.arctan`."""
        return self._with(np.arctan(self.data))

    def sinh(self) -> Any:
        """`scipy.sparse.csr_array.sinh`."""
        return self._with(np.sinh(self.data))

    def tanh(self) -> Any:
        """`scipy.sparse.csr_array.tanh`."""
        return self._with(np.tanh(self.data))

    def expm1(self) -> Any:
        """`scipy.sparse.csr_array.expm1`."""
        return self._with(np.expm1(self.data))

    def log1p(self) -> Any:
        """`scipy.sparse.csr_array.log1p`."""
        return self._with(np.log1p(self.data))

    # --- sums and parts ---------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.csr_array.sum`."""
        if dtype is not None or out is not None:
            raise Unsupported("`sum` of a sparse array with `dtype` or `out`", "leave them out")
        if axis is None:
            return np.sum(self.data)
        if self._is_matrix:
            raise Unsupported(
                "`sum` along an axis of a sparse matrix, which returns an `np.matrix`,",
                "use `csr_array`, or multiply by `np.ones`",
            )
        if not -2 <= axis < 2:
            raise ValueError("axis out of range")
        found = self.tocoo(False)
        data = _summable(found.data)
        if axis % 2 == 0:
            return patterns.summed_at(data, found.col, self.shape[1])
        return patterns.summed_at(data, found.row, self.shape[0])

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.csr_array.mean`."""
        total = self.sum(axis, dtype, out)
        if axis is None:
            return total / (self.shape[0] * self.shape[1])
        return total / self.shape[axis]

    def diagonal(self, k: Any = 0) -> Any:
        """`scipy.sparse.csr_array.diagonal`."""
        m, n = self.shape
        if k <= -m or k >= n:
            return np.empty(0, self.data.dtype)
        found = self.tocoo(False)
        out = np.zeros(min(m + min(k, 0), n - max(k, 0)), self.data.dtype)
        for q in range(len(found.data)):
            if found.col[q] - found.row[q] == k:
                out[found.row[q] + min(k, 0)] += found.data[q]
        return out

    def trace(self, offset: Any = 0) -> Any:
        """`scipy.sparse.csr_array.trace`."""
        return np.sum(self.diagonal(offset))

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return self._part(key, None)
        rows, columns = key
        return self._part(rows, columns)

    def _part(self, rows: Any, columns: Any) -> Any:
        if columns is not None and not isinstance(rows, slice) and not isinstance(columns, slice):
            if np.ndim(rows) == 0 and np.ndim(columns) == 0:
                return _element(self, rows, columns)
            raise Unsupported(
                "elements of a sparse array by two lists of indices", "select rows, then columns"
            )
        if not isinstance(rows, slice) and np.ndim(rows) == 0:
            if not self._is_matrix:
                raise Unsupported(
                    "a row of a sparse array, which has one axis,", "select `A[[i]]` or `A[i:j]`"
                )
        elif columns is not None and not isinstance(columns, slice) and np.ndim(columns) == 0:
            if not self._is_matrix:
                raise Unsupported(
                    "a column of a sparse array, which has one axis,",
                    "select `A[:, [j]]`, or multiply by a unit vector",
                )
        return self._selected(rows, columns)

    def _selected(self, rows: Any, columns: Any) -> Any:
        if self._by_columns:
            return self.tocsr()._selected(rows, columns).tocsc()
        return self.tocsr()._selected(rows, columns)


def _summable(data: Any) -> Any:
    """Return entries in the type of their sums: integers and booleans add as long integers."""
    if data.dtype.kind in "bi":
        return data.astype(np.int64)
    return data.astype(np.uint64) if data.dtype.kind == "u" else data


def _dense(a: Any, other: Any) -> Any:
    """Return the dense array that a sum with a dense one is made of."""
    if np.ndim(other) == 0:
        raise Unsupported("a sparse array plus a number, which is dense,", "add it to `A.data`")
    if a._is_matrix:
        raise Unsupported(
            "a sparse matrix plus a dense one, which is an `np.matrix`,", "use `A.toarray()`"
        )
    return a.toarray()


def _compressed(a: Any, by_columns: Any) -> Any:
    return a.tocsc() if by_columns else a.tocsr()


def _like(a: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """Return compressed rows, or columns, of the kind that results of an array have."""
    if a._by_columns:
        if a._is_matrix:
            return csc_matrix((data, indices, indptr), shape)
        return csc_array((data, indices, indptr), shape)
    if a._is_matrix:
        return csr_matrix((data, indices, indptr), shape)
    return csr_array((data, indices, indptr), shape)


def _product(a: Any, b: Any) -> Any:
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: dimension mismatch with signature (n,k),(k,m)->(n,m)")
    x, y = _compressed(a, a._by_columns), _compressed(b, a._by_columns)
    shape = (a.shape[0], b.shape[1])
    if a._by_columns:  # of the transposes, the product in the other order
        x, y = y, x
    n = shape[0] if a._by_columns else shape[1]
    indices, indptr = patterns.product_pattern(x.indices, x.indptr, y.indices, y.indptr, n)
    data = patterns.product_data(
        x.data, x.indices, x.indptr, y.data, y.indices, y.indptr, indices, indptr, n
    )
    return _like(a, data, indices, indptr, shape)


def _require_same_shape(a: Any, b: Any) -> None:
    if a.shape[0] != b.shape[0] or a.shape[1] != b.shape[1]:
        raise ValueError("inconsistent shapes")


def _sum(a: Any, b: Any, data: Any) -> Any:
    _require_same_shape(a, b)
    x, y = a.tocoo(False), b._with(data).tocoo(False)
    found = coo_array(
        (
            np.concatenate((x.data, y.data)),
            (np.concatenate((x.row, y.row)), np.concatenate((x.col, y.col))),
        ),
        a.shape,
    )
    made = _compressed(found, a._by_columns)
    return _like(a, made.data, made.indices, made.indptr, a.shape)


def _common(a: Any, b: Any) -> Any:
    _require_same_shape(a, b)
    x, y = _canonical(a, a._by_columns), _canonical(b, a._by_columns)
    indices, indptr, first, second = patterns.common(x.indices, x.indptr, y.indices, y.indptr)
    data = patterns.taken(x.data, first) * patterns.taken(y.data, second)
    return _like(a, data, indices, indptr, a.shape)


def _canonical(a: Any, by_columns: Any) -> Any:
    """Return a compressed array without equal entries, in which indices increase."""
    return _compressed(a.tocoo(False), by_columns)


def _element(a: Any, i: Any, j: Any) -> Any:
    m, n = a.shape
    if not (-m <= i < m and -n <= j < n):
        raise IndexError("index out of range")
    row, column = i % m, j % n
    found = a.tocsr()
    total = found.dtype.type(0)
    for k in range(found.indptr[row], found.indptr[row + 1]):
        if found.indices[k] == column:
            total += found.data[k]
    return total


def in_format(a: Any, format: Any) -> Any:
    """Return an array in a format of this name; None for any."""
    if format is None:
        return a
    if format == "csr":
        return a.tocsr()
    if format == "csc":
        return a.tocsc()
    if format == "coo":
        return a.tocoo()
    raise Unsupported("this `format` of a sparse array", "use 'csr', 'csc' or 'coo'")


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

    def _with(self, data: Any) -> Any:
        return _like(self, data, self.indices, self.indptr, self.shape)

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
        if self._is_matrix:
            return coo_matrix(found, self.shape)
        return coo_array(found, self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.transpose`."""
        turned = (self.shape[1], self.shape[0])
        if self._is_matrix:
            return csc_matrix((self.data, self.indices, self.indptr), turned, None, copy)
        return csc_array((self.data, self.indices, self.indptr), turned, None, copy)

    def _times(self, x: Any) -> Any:
        if x.ndim == 1:
            return patterns.gathered(self.data, self.indices, self.indptr, x)
        return patterns.gathered_rows(self.data, self.indices, self.indptr, x)

    def _selected(self, rows: Any, columns: Any) -> Any:
        at = _positions(rows, self.shape[0])
        data, indices, indptr = _rows_at(self.data, self.indices, self.indptr, at)
        found = _like(self, data, indices, indptr, (len(at), self.shape[1]))
        if columns is None:
            return found
        across = found.tocsc()
        place = _positions(columns, self.shape[1])
        data, indices, indptr = _rows_at(across.data, across.indices, across.indptr, place)
        shape = (len(at), len(place))
        if self._is_matrix:
            return csc_matrix((data, indices, indptr), shape).tocsr()
        return csc_array((data, indices, indptr), shape).tocsr()


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
        if self._is_matrix:
            return coo_matrix(found, self.shape)
        return coo_array(found, self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.csc_array.transpose`."""
        turned = (self.shape[1], self.shape[0])
        if self._is_matrix:
            return csr_matrix((self.data, self.indices, self.indptr), turned, None, copy)
        return csr_array((self.data, self.indices, self.indptr), turned, None, copy)

    def _times(self, x: Any) -> Any:
        if x.ndim == 1:
            return patterns.scattered(self.data, self.indices, self.indptr, x, self.shape[0])
        return patterns.scattered_rows(self.data, self.indices, self.indptr, x, self.shape[0])


class csr_array(_Rows):
    """`scipy.sparse.csr_array`."""


class csc_array(_Columns):
    """`scipy.sparse.csc_array`."""


class csr_matrix(_Rows):
    """`scipy.sparse.csr_matrix`."""

    _is_matrix = True


class csc_matrix(_Columns):
    """`scipy.sparse.csc_matrix`."""

    _is_matrix = True


# --- coordinates ----------------------------------------------------------------------------------


class _Coordinates(Sparse):
    """A row and a column for each entry."""

    format = "coo"
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

    def _with(self, data: Any) -> Any:
        if self._is_matrix:
            return coo_matrix((data, (self.row, self.col)), self.shape)
        return coo_array((data, (self.row, self.col)), self.shape)

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
        if self._is_matrix:
            return coo_matrix((self.data, (self.col, self.row)), turned, None, copy)
        return coo_array((self.data, (self.col, self.row)), turned, None, copy)

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


def _require_within(found: Any, n: Any) -> None:
    for k in range(len(found)):
        if not 0 <= found[k] < n:
            raise ValueError("axis index exceeds matrix dimension")


class coo_array(_Coordinates):
    """`scipy.sparse.coo_array`."""


class coo_matrix(_Coordinates):
    """`scipy.sparse.coo_matrix`."""

    _is_matrix = True


# --- diagonals ------------------------------------------------------------------------------------


class _Diagonals(Sparse):
    """Diagonals: a row of `data` for each of the `offsets`, with the columns of the array."""

    format = "dia"
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

    def _with(self, data: Any) -> Any:
        if self._is_matrix:
            return dia_matrix((data, self.offsets), self.shape)
        return dia_array((data, self.offsets), self.shape)

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
        if self._is_matrix:
            return coo_matrix((data, (row, col)), self.shape)
        return coo_array((data, (row, col)), self.shape)

    def _compressed(self, by_columns: Any) -> Any:
        return self.tocoo(False)._compressed(by_columns)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.dia_array.sum`."""
        return self.tocsr().sum(axis, dtype, out)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.dia_array.transpose`."""
        return self.tocoo(False).transpose()


class dia_array(_Diagonals):
    """`scipy.sparse.dia_array`."""


class dia_matrix(_Diagonals):
    """`scipy.sparse.dia_matrix`."""

    _is_matrix = True


__all__ = [
    "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix", "dia_array",
    "dia_matrix",
]  # fmt: skip
