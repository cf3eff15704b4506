"""The formats that are assembled: `lil` and `dok` arrays, whose elements are assigned to."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.base import Sparse
from adc.library.scipy.sparse.families import Matrix, canonical, entered, like
from adc.library.scipy.sparse.positions import (
    broadcast,
    grid,
    has_one_axis,
    is_one,
    met,
    one,
    steps,
    two,
)
from adc.library.scipy.sparse.tables import COUNTED, PUT, REMOVED, Table


def is_zero(x: Any) -> bool:
    """Whether a value is known to be zero for any input: code asks for it while it is compiled."""
    return False


class _Assembled(Sparse):
    """Entries that are put at their positions one by one (`tables`).

    Reading or writing an element costs a step for each entry of its row; all else, what the
    compressed rows cost, which are made for it. Memory is that of the entries.
    """

    _by_insertion = False
    # What errors call the axes.
    _axes = ("row ", "column ")
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
            found = canonical(arg1, False)
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
        family = self._family
        return (family.dok if self._by_insertion else family.lil)((m, n), None, dtype)

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
        return like(self, data, col, indptr, self.shape)

    def tocoo(self, copy: Any = False) -> Any:
        """`scipy.sparse.lil_array.tocoo`."""
        at = self._table.present()
        if not self._by_insertion:
            _, at = self._order(False)
        found = self._table.values(at, self.dtype), self._table.places(at)
        return self._family.coo(found, self.shape)

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
        rows, columns = two(key)
        m, n = self.shape
        if is_one(rows) and is_one(columns):
            i, j = one(rows, m, self._axes[0]), one(columns, n, self._axes[1])
            return self._table.get(i, j)
        if not self._is_matrix and has_one_axis(rows, columns):
            raise Unsupported(
                "elements of a sparse array that have one axis,",
                "select `A[[i]]` or `A[i:j]`, or read single elements",
            )
        row, col = grid(rows, columns, self.shape, self._axes)
        p, q = met(row, col)
        found = self._empty(p, q, self.dtype)
        by_row, by_col = steps(row, p, q), steps(col, p, q)
        for a in range(p):
            for b in range(q):
                k = self._table.at(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]]
                )
                if k != 0:
                    found._table.add(a, b, self._table.data[k], self._table.state[k])
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, columns = two(key)
        m, n = self.shape
        given = value.toarray() if isinstance(value, Sparse) else np.asarray(value)
        if is_one(rows) and is_one(columns):
            i, j = one(rows, m, self._axes[0]), one(columns, n, self._axes[1])
            self._put_one(i, j, given, is_zero(value))
            return
        row, col = grid(rows, columns, self.shape, self._axes)
        if isinstance(value, Sparse):
            self._put_sparse(row, col, value)
        else:
            self._put(row, col, given, is_zero(value))

    def _read(self, key: Any) -> Any:
        """Return positions and a dense array of the elements there: ``a[key] += x`` begins so."""
        rows, columns = two(key)
        m, n = self.shape
        if is_one(rows) and is_one(columns):
            i, j = one(rows, m, self._axes[0]), one(columns, n, self._axes[1])
            return i, j, self._table.get(i, j)
        row, col = grid(rows, columns, self.shape, self._axes)
        p, q = met(row, col)
        found = np.empty((p, q), self.dtype)
        by_row, by_col = steps(row, p, q), steps(col, p, q)
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
        elif not self._is_matrix and has_one_axis(*two(key)):
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
        p, q = met(row, col)
        by_row, by_col = steps(row, p, q), steps(col, p, q)
        by_x = broadcast(given.shape, p, q)
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
        p, q = met(row, col)
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
        by_row, by_col = steps(row, p, q), steps(col, p, q)
        for a in range(p):
            for b in range(q):
                x, is_there = given[a % r, b % s], there[a % r, b % s]
                self._table.put(
                    row[a * by_row[0], b * by_row[1]], col[a * by_col[0], b * by_col[1]],
                    x, _state(given, x, False) if is_there else REMOVED,
                )  # fmt: skip

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
    _axes = ("", "")

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
        return self._dense(other) + other


@entered
class lil_array(_Lists):
    """`scipy.sparse.lil_array`."""


@entered
class lil_matrix(Matrix, _Lists):
    """`scipy.sparse.lil_matrix`."""


@entered
class dok_array(_Keys):
    """`scipy.sparse.dok_array`."""


@entered
class dok_matrix(Matrix, _Keys):
    """`scipy.sparse.dok_matrix`."""


__all__ = ["dok_array", "dok_matrix", "lil_array", "lil_matrix"]
