"""What sparse arrays of all formats have: conversions, products, sums, elements, parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.entrywise import Entrywise
from adc.library.scipy.sparse.families import (
    Arrays,
    Family,
    canonical,
    compressed,
    in_format,
    like,
)


class Sparse(Entrywise):
    """What all formats have. Each has entries, its pattern and `shape`."""

    __array_priority__ = 10.1
    ndim = 2
    _is_matrix = False
    _family: type[Family] = Arrays
    # Whether the compressed form of results is that of columns.
    _by_columns = False

    format: Any
    shape: Any

    # Methods of each format: those of `Entrywise`, and `_compressed`, which returns `data`,
    # `indices` and `indptr` of compressed rows, or columns.
    _compressed: Any
    tocoo: Any
    transpose: Any

    def tocsr(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocsr`."""
        return self._family.csr(self._compressed(False), self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tocsc`."""
        return self._family.csc(self._compressed(True), self.shape)

    def tolil(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.tolil`."""
        return self._family.lil(self)

    def todok(self, copy: Any = False) -> Any:
        """`scipy.sparse.csr_array.todok`."""
        return self._family.dok(self)

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
        return self._dense(other) + other

    def __radd__(self, other: Any) -> Any:
        return other + self._dense(other)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _sum(self, other, -other._entries())
        return self._dense(other) - other

    def __rsub__(self, other: Any) -> Any:
        return other - self._dense(other)

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

    def _dense(self, other: Any) -> Any:
        """Return the dense array that a sum with a dense one is made of."""
        if np.ndim(other) == 0:
            raise Unsupported("a sparse array plus a number, which is dense,", "add it to `A.data`")
        if self._is_matrix:
            raise Unsupported(
                "a sparse matrix plus a dense one, which is an `np.matrix`,", "use `A.toarray()`"
            )
        return self.toarray()

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


def _product(a: Any, b: Any) -> Any:
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: dimension mismatch with signature (n,k),(k,m)->(n,m)")
    x, y = compressed(a, a._by_columns), compressed(b, a._by_columns)
    shape = (a.shape[0], b.shape[1])
    if a._by_columns:  # of the transposes, the product in the other order
        x, y = y, x
    n = shape[0] if a._by_columns else shape[1]
    indices, indptr = patterns.product_pattern(x.indices, x.indptr, y.indices, y.indptr, n)
    data = patterns.product_data(
        x.data, x.indices, x.indptr, y.data, y.indices, y.indptr, indices, indptr, n
    )
    return like(a, data, indices, indptr, shape)


def _require_same_shape(a: Any, b: Any) -> None:
    if a.shape[0] != b.shape[0] or a.shape[1] != b.shape[1]:
        raise ValueError("inconsistent shapes")


def _sum(a: Any, b: Any, data: Any) -> Any:
    _require_same_shape(a, b)
    x, y = a.tocoo(False), b._with(data).tocoo(False)
    found = a._family.coo(
        (
            np.concatenate((x.data, y.data)),
            (np.concatenate((x.row, y.row)), np.concatenate((x.col, y.col))),
        ),
        a.shape,
    )
    made = compressed(found, a._by_columns)
    return like(a, made.data, made.indices, made.indptr, a.shape)


def _common(a: Any, b: Any) -> Any:
    _require_same_shape(a, b)
    x, y = canonical(a, a._by_columns), canonical(b, a._by_columns)
    indices, indptr, first, second = patterns.common(x.indices, x.indptr, y.indices, y.indptr)
    data = patterns.taken(x.data, first) * patterns.taken(y.data, second)
    return like(a, data, indices, indptr, a.shape)


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
