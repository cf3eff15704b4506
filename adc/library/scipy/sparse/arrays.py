"""The classes of `scipy.sparse`: compressed rows and columns, coordinates, diagonals.

A class whose name ends in `matrix` multiplies matrices with ``*``, as `np.matrix` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.tables import COUNTED, PUT, REMOVED, Table


class Sparse:
    """What all formats have. Each has entries, its pattern and `shape`."""

    __array_priority__ = 10.1
    ndim = 2
    _is_matrix = False
    # Whether the compressed form of results is that of columns.
    _by_columns = False

    format: Any
    shape: Any

    # Methods of each format: `_entries()` returns the values of the entries, `_with(data)` an array
    # with the same pattern, `_compressed` `data`, `indices` and `indptr` of compressed rows, or
    # columns.
    _entries: Any
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

    def tolil(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tolil`."""
        return lil_matrix(self) if self._is_matrix else lil_array(self)

    def todok(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.todok`."""
        return dok_matrix(self) if self._is_matrix else dok_array(self)

    # --- what it is -------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The type of the entries."""
        return self._entries().dtype

    @property
    def nnz(self) -> Any:
        """The number of entries."""
        return len(self._entries())

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
        return self._with(self._entries().copy())

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.csr_array.toarray`."""
        if order is not None or out is not None:
            raise Unsupported("`toarray` with `order` or `out`", "leave them out")
        found = self.tocoo(False)
        dense = np.zeros(self.shape, found.data.dtype)
        for k in range(len(found.data)):
            dense[found.row[k], found.col[k]] += found.data[k]
        return dense

    def todense(self) -> Any:
        """`scipy.sparse.csr_array.todense`."""
        if self._is_matrix:
            raise Unsupported("`todense`, which returns an `np.matrix`,", "use `toarray`")
        return self.toarray()

    def __bool__(self) -> Any:
        if self.shape[0] == 1 and self.shape[1] == 1:
            return self.nnz != 0
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or "
            "a.all()."
        )

    def __eq__(self, other: Any) -> Any:
        if other is None:
            return False
        raise Unsupported("a comparison of sparse arrays", "compare `A.toarray()`, or their `data`")

    def __ne__(self, other: Any) -> Any:
        return not self == other

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
            "assignment to elements of a sparse array in this format",
            "assign to those of a `lil_array`, such as `A.tolil()`, or write to `A.data`",
        )

    def __neg__(self) -> Any:
        return self._with(-self._entries())

    def __abs__(self) -> Any:
        return self._with(np.abs(self._entries()))

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
            return self._with(self._entries() / other)
        return self.multiply(1.0 / np.asarray(other))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _sum(self, other, other._entries())
        return _dense(self, other) + other

    def __radd__(self, other: Any) -> Any:
        return other + _dense(self, other)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _sum(self, other, -other._entries())
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
        return self._with(self._entries() ** n)

    def multiply(self, other: Any) -> Any:
        """`scipy.sparse.csr_array.multiply`."""
        if isinstance(other, Sparse):
            return _common(self, other)
        if np.ndim(other) == 0:
            return self._with(self._entries() * other)
        found = self.tocoo(False)
        x = np.broadcast_to(np.asarray(other), self.shape)
        scales = np.empty(len(found.data), x.dtype)
        for k in range(len(found.data)):
            scales[k] = x[found.row[k], found.col[k]]
        return found._with(found.data * scales)

    def conjugate(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conjugate`."""
        return self._with(np.conjugate(self._entries()))

    def conj(self, copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.conj`."""
        return self.conjugate()

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._with(self._entries().real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._with(self._entries().imag)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """`scipy.sparse.csr_array.astype`."""
        return self._with(self._entries().astype(dtype))

    def sqrt(self) -> Any:
        """`scipy.sparse.csr_array.sqrt`."""
        return self._with(np.sqrt(self._entries()))

    def sin(self) -> Any:
        """`scipy.sparse.csr_array.sin`."""
        return self._with(np.sin(self._entries()))

    def tan(self) -> Any:
        """`scipy.sparse.csr_array.tan`."""
        return self._with(np.tan(self._entries()))

    def arcsin(self) -> Any:
        """`scipy.sparse.csr_array.arcsin`."""
        return self._with(np.arcsin(self._entries()))

    def arctan(self) -> Any:
        """`scipy.sparse.csr_array.arctan`."""
        return self._with(np.arctan(self._entries()))

    def sinh(self) -> Any:
        """`scipy.sparse.csr_array.sinh`."""
        return self._with(np.sinh(self._entries()))

    def tanh(self) -> Any:
        """`scipy.sparse.csr_array.tanh`."""
        return self._with(np.tanh(self._entries()))

    def expm1(self) -> Any:
        """`scipy.sparse.csr_array.expm1`."""
        return self._with(np.expm1(self._entries()))

    def log1p(self) -> Any:
        """`scipy.sparse.csr_array.log1p`."""
        return self._with(np.log1p(self._entries()))

    # --- sums and parts ---------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """`scipy.sparse.csr_array.sum`."""
        if dtype is not None or out is not None:
            raise Unsupported("`sum` of a sparse array with `dtype` or `out`", "leave them out")
        if axis is None:
            return np.sum(self._entries())
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
            return np.empty(0, self.dtype)
        found = self.tocoo(False)
        out = np.zeros(min(m + min(k, 0), n - max(k, 0)), self.dtype)
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
    if format == "lil":
        return a.tolil()
    if format == "dok":
        return a.todok()
    raise Unsupported("this `format` of a sparse array", "use 'csr', 'csc', 'coo', 'lil' or 'dok'")


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


# --- arrays that elements are assigned to ---------------------------------------------------------


def is_zero(x: Any) -> bool:
    """Whether a value is known to be zero for any input: code asks for it while it is compiled."""
    return False


class _Assembled(Sparse):
    """Entries that are put at their positions one by one (`tables`).

    Reading or writing an element costs a step for each entry of its row; all else, what the
    compressed rows cost, which are made for it. Memory is that of the entries.
    """

    _by_insertion = False
    _table: Any

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> None:
        if isinstance(arg1, Sparse):
            if arg1.format == self.format and not copy:
                raise Unsupported(
                    f"a {self.format} array that shares the entries of another one",
                    "use `A.copy()`",
                )
            m, n = arg1.shape
            kind = arg1.dtype if dtype is None else np.dtype(dtype)
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            if shape is not None:
                raise Unsupported("`shape` of an empty array that has one", "leave it out")
            m, n = arg1
            if np.asarray(m).dtype.kind not in "iu" or np.asarray(n).dtype.kind not in "iu":
                raise ValueError("Inexact indices into sparse matrices are not allowed")
            if m < 0 or n < 0:
                raise ValueError("'shape' elements cannot be negative")
            kind = np.dtype(float) if dtype is None else np.dtype(dtype)
        else:
            raise Unsupported(
                "a sparse array of a dense one, whose pattern depends on the values,",
                "make an empty one, and assign to its elements",
            )
        self.shape = (int(m), int(n))
        self._table = Table(self.shape[0], kind.type(0))
        if isinstance(arg1, _Assembled):
            at = arg1._table.present() if arg1._by_insertion else arg1._order(False)[1]
            self._take(arg1, at, arg1._table.values(at, kind))
        elif isinstance(arg1, Sparse):
            found = _canonical(arg1, False)
            data = found.data.astype(kind)
            for i in range(self.shape[0]):
                for k in range(found.indptr[i], found.indptr[i + 1]):
                    self._table.add(i, found.indices[k], data[k], COUNTED)

    def _take(self, other: Any, at: Any, data: Any) -> Any:
        """Add entries at the places of others, and return this."""
        for q in range(len(at)):
            k = at[q]
            self._table.add(
                other._table.row[k], other._table.col[k], data[q], other._table.state[k]
            )
        return self

    # --- what it is -------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The type of the entries."""
        return np.asarray(self._table.data[0]).dtype

    @property
    def nnz(self) -> Any:
        """The number of entries."""
        return self._table.count()

    @property
    def data(self) -> Any:
        """`scipy.sparse.lil_array.data`."""
        raise Unsupported(
            f"`data` of a {self.format} array, which is no array of numbers,",
            "use `A.tocsr().data`",
        )

    def copy(self) -> Any:
        """`scipy.sparse.lil_array.copy`."""
        return self._same(self._table.values(self._table.present(), self.dtype))

    def _same(self, data: Any) -> Any:
        """Return an array of the same class with other values, given as they were added."""
        found = self._empty(self.shape[0], self.shape[1], data.dtype)
        return found._take(self, self._table.present(), data)

    def _empty(self, m: Any, n: Any, dtype: Any) -> Any:
        """Return an empty array of the same class."""
        if self._by_insertion:
            return (
                dok_matrix((m, n), None, dtype)
                if self._is_matrix
                else dok_array((m, n), None, dtype)
            )
        return (
            lil_matrix((m, n), None, dtype) if self._is_matrix else lil_array((m, n), None, dtype)
        )

    # --- conversions ------------------------------------------------------------------------------

    def _order(self, by_columns: Any) -> Any:
        """Return `indptr`, and the numbers of the entries of compressed rows, or columns."""
        at = self._table.present()
        row, col = self._table.places(at)
        m, n = self.shape
        if by_columns:
            row, col, m, n = col, row, n, m
        if not self._by_insertion:
            _, across = patterns.by_row(col, n)
            at, row = at[across], row[across]
        indptr, down = patterns.by_row(row, m)
        return indptr, at[down]

    def _compressed(self, by_columns: Any) -> Any:
        indptr, at = self._order(by_columns)
        row, col = self._table.places(at)
        return self._table.values(at, self.dtype), row if by_columns else col, indptr

    def _entries(self) -> Any:
        _, at = self._order(False)
        return self._table.values(at, self.dtype)

    def _with(self, data: Any) -> Any:
        indptr, at = self._order(False)
        _, col = self._table.places(at)
        return _like(self, data, col, indptr, self.shape)

    def tocoo(self, copy: Any = False) -> Any:
        """`scipy.sparse.lil_array.tocoo`."""
        at = self._table.present()
        if not self._by_insertion:
            _, at = self._order(False)
        found = self._table.values(at, self.dtype), self._table.places(at)
        if self._is_matrix:
            return coo_matrix(found, self.shape)
        return coo_array(found, self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """`scipy.sparse.lil_array.transpose`."""
        m, n = self.shape
        found = self._empty(n, m, self.dtype)
        at = self._table.present()
        for q in range(len(at)):
            k = at[q]
            x, state = self._table.data[k], self._table.state[k]
            found._table.add(self._table.col[k], self._table.row[k], x, state)
        return found

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: Any = True) -> Any:
        """`scipy.sparse.lil_array.astype`."""
        return self._same(self._table.values(self._table.present(), self.dtype).astype(dtype))

    # --- elements ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        rows, columns = _two(key)
        m, n = self.shape
        if _is_one(rows) and _is_one(columns):
            i, j = self._one(rows, m, "row "), self._one(columns, n, "column ")
            return self._table.get(i, j)
        if not self._is_matrix and _has_one_axis(rows, columns):
            raise Unsupported(
                "elements of a sparse array that have one axis,",
                "select `A[[i]]` or `A[i:j]`, or read single elements",
            )
        row, col = self._grid(rows, columns)
        p, q = _met(row, col)
        found = self._empty(p, q, self.dtype)
        by_row, by_col = _steps(row, p, q), _steps(col, p, q)
        for a in range(p):
            for b in range(q):
                k = self._table.at(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]]
                )
                if k != 0:
                    found._table.add(a, b, self._table.data[k], self._table.state[k])
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, columns = _two(key)
        m, n = self.shape
        given = value.toarray() if isinstance(value, Sparse) else np.asarray(value)
        if _is_one(rows) and _is_one(columns):
            i, j = self._one(rows, m, "row "), self._one(columns, n, "column ")
            self._put_one(i, j, given, is_zero(value))
            return
        row, col = self._grid(rows, columns)
        if isinstance(value, Sparse):
            self._put_sparse(row, col, value)
        else:
            self._put(row, col, given, is_zero(value))

    def _read(self, key: Any) -> Any:
        """Return positions and a dense array of the elements there: ``a[key] += x`` begins so."""
        rows, columns = _two(key)
        m, n = self.shape
        if _is_one(rows) and _is_one(columns):
            i, j = self._one(rows, m, "row "), self._one(columns, n, "column ")
            return i, j, self._table.get(i, j)
        row, col = self._grid(rows, columns)
        p, q = _met(row, col)
        found = np.empty((p, q), self.dtype)
        by_row, by_col = _steps(row, p, q), _steps(col, p, q)
        for a in range(p):
            for b in range(q):
                found[a, b] = self._table.get(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]]
                )
        return row, col, found

    def _increase(self, key: Any, old: Any, x: Any, subtracts: Any) -> None:
        """Put sums, or differences, where elements were read: ``a[key] += x`` ends so."""
        i, j, part = old
        if isinstance(x, Sparse):
            self[key] = part - x.toarray() if subtracts else part + x.toarray()
        elif np.ndim(part) == 0:
            new = part - np.asarray(x) if subtracts else part + np.asarray(x)
            self._put_one(i, j, np.asarray(new), False)
        elif isinstance(x, (list, tuple)):
            raise TypeError(f"unsupported operand type(s) for +: '{self.format}' and 'list'")
        elif np.ndim(x) == 0:
            raise Unsupported(
                "a sparse array plus a number, which is dense,", "add `x * np.ones(shape)`"
            )
        elif not self._is_matrix and _has_one_axis(*_two(key)):
            # SciPy's part has one axis, and so has the sum.
            if np.ndim(x) > 1:
                raise ValueError(
                    "input operand has more dimensions than allowed by the axis remapping"
                )
            flat = np.ravel(part)
            self._put(i, j, flat - x if subtracts else flat + x, False)
        else:
            self._put(i, j, part - x if subtracts else part + x, False)

    def _typed(self, given: Any) -> Any:
        if given.dtype.kind == "c" and self.dtype.kind != "c":
            raise Unsupported(
                f"a complex value in a {self.format} array of real numbers", "make it with `dtype`"
            )
        x = given.astype(self.dtype)
        return x + x.dtype.type(0) if x.dtype.kind in "fc" else x  # no entry is -0

    def _put_one(self, i: Any, j: Any, given: Any, known: Any) -> None:
        if given.size != 1:
            raise ValueError("Trying to assign a sequence to an item")
        x = np.ravel(self._typed(given))[0]
        self._table.put(i, j, x, _state(given, x, known))

    def _put(self, row: Any, col: Any, given: Any, known: Any) -> None:
        p, q = _met(row, col)
        by_row, by_col = _steps(row, p, q), _steps(col, p, q)
        by_x = _broadcast(given.shape, p, q)
        values = np.ravel(self._typed(given))
        for a in range(p):
            for b in range(q):
                x = values[a * by_x[0] + b * by_x[1]]
                self._table.put(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]],
                    x, _state(given, x, known),
                )  # fmt: skip

    def _put_sparse(self, row: Any, col: Any, value: Any) -> None:
        """Put entries of another array; what has none there removes those that are here."""
        p, q = _met(row, col)
        r, s = value.shape
        if r == 0 or s == 0:
            return
        if (r != 1 and r != p) or (s != 1 and s != q):
            raise ValueError("shape mismatch in assignment")
        there = np.zeros((r, s), np.bool_)
        found = value.tocoo()
        for k in range(len(found.row)):
            there[found.row[k], found.col[k]] = True
        given = self._typed(value.toarray())
        by_row, by_col = _steps(row, p, q), _steps(col, p, q)
        for a in range(p):
            for b in range(q):
                x, is_there = given[a % r, b % s], there[a % r, b % s]
                self._table.put(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]],
                    x, _state(given, x, False) if is_there else REMOVED,
                )  # fmt: skip

    def _one(self, i: Any, n: Any, axis: Any) -> Any:
        """Return an index, counted from the start; `axis` is what errors say of `lil` arrays."""
        _require_integer(i)
        if not -n <= i < n:
            if self._by_insertion or axis == "":
                raise IndexError(f"index ({i}) out of range")
            raise IndexError(f"{axis}index ({i}) out of bounds")
        return i + n if i < 0 else i

    def _several(self, key: Any, n: Any, axis: Any) -> Any:
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
        if self._by_insertion and found.size > 0:
            self._one(np.max(found), n, axis)
            self._one(np.min(found), n, axis)
        each = np.ravel(found)
        for k in range(len(each)):
            self._one(each[k], n, "" if np.ndim(key) == 0 else axis)
        return np.where(found < 0, found + n, found)

    def _grid(self, rows: Any, columns: Any) -> Any:
        """Return the rows and columns of the elements that an index selects, to be broadcast."""
        m, n = self.shape
        if isinstance(rows, slice):
            row = np.arange(m)[rows][:, None]
        else:
            row = self._several(rows, m, "row ")
        if isinstance(columns, slice):
            col = np.arange(n)[columns][None, :]
        else:
            col = self._several(columns, n, "column ")
        if (
            row.ndim == 1
            and col.ndim == 1
            and len(row) != len(col)
            and 1 not in (len(row), len(col))
        ):
            _no_broadcast(row.shape, col.shape)
        if row.ndim == 1:
            row = row[:, None] if isinstance(columns, slice) else row[None, :]
        return row, (col[None, :] if col.ndim == 1 else col)

    def setdiag(self, values: Any, k: Any = 0) -> None:
        """`scipy.sparse.lil_array.setdiag`."""
        m, n = self.shape
        if (k > 0 and k >= n) or (k < 0 and -k >= m):
            raise ValueError("k exceeds array dimensions")
        given = np.asarray(values)
        count = min(m + min(k, 0), n - max(k, 0))
        if given.ndim > 0:
            count = min(count, len(given))
        for i in range(count):
            self[i - min(k, 0), i + max(k, 0)] = given if given.ndim == 0 else given[i]

    # --- arithmetic -------------------------------------------------------------------------------

    def _scaled(self, other: Any, divides: Any) -> Any:
        at = self._table.present()
        data = self._table.values(at, self.dtype)
        return self._same(data / other if divides else data * other)

    def multiply(self, other: Any) -> Any:
        """`scipy.sparse.lil_array.multiply`."""
        if not isinstance(other, Sparse) and np.ndim(other) == 0:
            return self._scaled(other, False)
        return self.tocsr().multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) != 0:
            return self.tocsr() / other
        if self.dtype.kind not in "fc":
            raise Unsupported(f"a quotient of a {self.format} array of integers", "use `A.tocsr()`")
        return self._scaled(other, True)

    def __imul__(self, other: Any) -> Any:
        return self._rescaled(other, False)

    def __itruediv__(self, other: Any) -> Any:
        return self._rescaled(other, True)

    def _rescaled(self, other: Any, divides: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) != 0:
            raise Unsupported(
                f"a change of a {self.format} array in place by an array", "write `A = A * x`"
            )
        at = self._table.present()
        data = self._table.values(at, self.dtype)
        changed = data / other if divides else data * other
        if changed.dtype != data.dtype:
            raise Unsupported(
                f"a change of a {self.format} array in place to another type", "write `A = A * x`"
            )
        for q in range(len(at)):
            self._table.data[at[q]] = changed[q]
        return self

    def _changed(self, found: Any) -> Any:
        self[:, :] = found
        return self


def _two(key: Any) -> Any:
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


def _is_one(index: Any) -> Any:
    if index is None or isinstance(index, Sparse):
        raise Unsupported("this index of a sparse array", "use a row and a column")
    return not isinstance(index, slice) and np.ndim(index) == 0


def _has_one_axis(rows: Any, columns: Any) -> Any:
    if isinstance(rows, slice) or isinstance(columns, slice):
        return _is_one(rows) or _is_one(columns)
    return np.ndim(rows) < 2 and np.ndim(columns) < 2


def _require_integer(index: Any) -> None:
    if np.asarray(index).dtype.kind not in "iu":
        raise Unsupported("an index of a sparse array that is no integer", "convert it with `int`")


def _met(row: Any, col: Any) -> Any:
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


def _steps(index: Any, p: Any, q: Any) -> Any:
    return (1 if index.shape[0] == p else 0), (1 if index.shape[1] == q else 0)


def _broadcast(shape: Any, p: Any, q: Any) -> Any:
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


def _state(given: Any, x: Any, known: Any) -> Any:
    """Return the state of an entry for a value: without one where zero has no derivative."""
    if known:
        return REMOVED
    if given.dtype.kind in "fc" and x.dtype.kind in "fc":
        return PUT
    return PUT if x != 0 else REMOVED


class _Lists(_Assembled):
    """Rows with their columns in order."""

    format = "lil"

    def tolil(self, copy: Any = False) -> Any:
        """`scipy.sparse.lil_array.tolil`."""
        return self.copy() if copy else self

    def __iadd__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return self._changed(self + other)
        if np.ndim(other) == 0:
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
        return self._changed(self.toarray() + other)

    def __isub__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return self._changed(self - other)
        if np.ndim(other) == 0:
            raise NotImplementedError(
                "subtracting a nonzero scalar from a sparse array is not supported"
            )
        return self._changed(self.toarray() - other)


class _Keys(_Assembled):
    """Entries in the order in which they were put."""

    format = "dok"
    _by_insertion = True

    def todok(self, copy: Any = False) -> Any:
        """`scipy.sparse.dok_array.todok`."""
        return self.copy() if copy else self

    def __len__(self) -> Any:
        return self.nnz

    def __contains__(self, key: Any) -> Any:
        i, j = key
        m, n = self.shape
        if not (0 <= i < m and 0 <= j < n):
            return False
        k = self._table.at(i, j)
        return k != 0 and self._table.counts(k)

    def __neg__(self) -> Any:
        return self._scaled(-1, False)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            raise Unsupported("a sum of a dok array and a sparse one", "add `A.tocsr()`")
        return _dense(self, other) + other


class lil_array(_Lists):
    """`scipy.sparse.lil_array`."""


class lil_matrix(_Lists):
    """`scipy.sparse.lil_matrix`."""

    _is_matrix = True


class dok_array(_Keys):
    """`scipy.sparse.dok_array`."""


class dok_matrix(_Keys):
    """`scipy.sparse.dok_matrix`."""

    _is_matrix = True


__all__ = [
    "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix", "dia_array",
    "dia_matrix", "dok_array", "dok_matrix", "lil_array", "lil_matrix",
]  # fmt: skip
