"""Loops over the entries of compressed rows: `data`, with their columns `indices`; row `i` is
``indptr[i]:indptr[i + 1]``. Compressed columns are the compressed rows of the transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def gathered(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
    """Return the product of a matrix and a vector."""
    m = len(indptr) - 1
    out = np.zeros(m, np.result_type(data, x))
    for i in range(m):
        total = out.dtype.type(0)
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        out[i] = total
    return out


def scattered(data: Any, indices: Any, indptr: Any, x: Any, n: Any) -> Any:
    """Return the product of the transpose and a vector."""
    out = np.zeros(n, np.result_type(data, x))
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += data[k] * x[i]
    return out


def gathered_rows(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
    """Return the product of a matrix and a dense one."""
    m = len(indptr) - 1
    out = np.zeros((m, x.shape[1]), np.result_type(data, x))
    for i in range(m):
        for k in range(indptr[i], indptr[i + 1]):
            for j in range(x.shape[1]):
                out[i, j] += data[k] * x[indices[k], j]
    return out


def scattered_rows(data: Any, indices: Any, indptr: Any, x: Any, n: Any) -> Any:
    """Return the product of the transpose and a dense matrix."""
    out = np.zeros((n, x.shape[1]), np.result_type(data, x))
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for j in range(x.shape[1]):
                out[indices[k], j] += data[k] * x[i, j]
    return out


def rows_of(indptr: Any) -> Any:
    """Return the row of each entry."""
    out = np.empty(indptr[-1], indptr.dtype)
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            out[k] = i
    return out


def summed_at(data: Any, at: Any, n: Any) -> Any:
    """Return `n` sums of entries; `at` says to which each is added."""
    out = np.zeros(n, data.dtype)
    for k in range(len(at)):
        out[at[k]] += data[k]
    return out


def taken(data: Any, at: Any) -> Any:
    """Return the entries at some positions."""
    out = np.empty(len(at), data.dtype)
    for k in range(len(at)):
        out[k] = data[at[k]]
    return out


def by_row(row: Any, m: Any) -> Any:
    """Return `indptr`, and an order of entries by their rows that is stable."""
    indptr = np.zeros(m + 1, row.dtype)
    for k in range(len(row)):
        indptr[row[k] + 1] += 1
    for i in range(m):
        indptr[i + 1] += indptr[i]
    order = np.empty(len(row), row.dtype)
    start = indptr[:-1].copy()
    for k in range(len(row)):
        order[start[row[k]]] = k
        start[row[k]] += 1
    return indptr, order


def merged(row: Any, col: Any, m: Any, n: Any) -> Any:
    """Return `indices`, `indptr`, and the positions of entries once equal ones are added.

    Columns increase in each row.
    """
    _, across = by_row(col, n)
    indptr, down = by_row(row[across], m)
    order = across[down]
    at = np.empty(len(row), row.dtype)
    indices = np.empty(len(row), row.dtype)
    starts = np.zeros(m + 1, row.dtype)
    count = 0
    for i in range(m):
        for k in range(indptr[i], indptr[i + 1]):
            j = col[order[k]]
            if k == indptr[i] or j != indices[count - 1]:
                indices[count] = j
                count += 1
            at[order[k]] = count - 1
        starts[i + 1] = count
    return indices[:count].copy(), starts, at


def product_pattern(ia: Any, pa: Any, ib: Any, pb: Any, n: Any) -> Any:
    """Return `indices` and `indptr` of a product of matrices; columns increase in each row."""
    m = len(pa) - 1
    seen = np.full(n, -1)
    indptr = np.zeros(m + 1, pa.dtype)
    total = 0
    for i in range(m):
        for k in range(pa[i], pa[i + 1]):
            for q in range(pb[ia[k]], pb[ia[k] + 1]):
                if seen[ib[q]] != i:
                    seen[ib[q]] = i
                    total += 1
        indptr[i + 1] = total
    row, col = np.empty(total, ia.dtype), np.empty(total, ia.dtype)
    seen[:] = -1
    count = 0
    for i in range(m):
        for k in range(pa[i], pa[i + 1]):
            for q in range(pb[ia[k]], pb[ia[k] + 1]):
                if seen[ib[q]] != i:
                    seen[ib[q]] = i
                    row[count], col[count] = i, ib[q]
                    count += 1
    _, across = by_row(col, n)
    _, down = by_row(row[across], m)
    return col[across[down]], indptr


def product_data(
    a: Any, ia: Any, pa: Any, b: Any, ib: Any, pb: Any, indices: Any, indptr: Any, n: Any
) -> Any:
    """Return the entries of a product of matrices on its pattern."""
    out = np.zeros(len(indices), np.result_type(a, b))
    place = np.zeros(n, np.int64)
    for i in range(len(pa) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            place[indices[k]] = k
        for k in range(pa[i], pa[i + 1]):
            for q in range(pb[ia[k]], pb[ia[k] + 1]):
                out[place[ib[q]]] += a[k] * b[q]
    return out


def common(ia: Any, pa: Any, ib: Any, pb: Any) -> Any:
    """Return where both of two matrices, whose columns increase, have entries.

    These are `indices` and `indptr`, and the positions of the entries of both.
    """
    most = min(len(ia), len(ib))
    first, second = np.empty(most, np.int64), np.empty(most, np.int64)
    indptr = np.zeros(len(pa), pa.dtype)
    count = 0
    for i in range(len(pa) - 1):
        k, q = pa[i], pb[i]
        while k < pa[i + 1] and q < pb[i + 1]:
            if ia[k] == ib[q]:
                first[count], second[count] = k, q
                count += 1
                k += 1
                q += 1
            elif ia[k] < ib[q]:
                k += 1
            else:
                q += 1
        indptr[i + 1] = count
    return ia[first[:count]], indptr, first[:count].copy(), second[:count].copy()


__all__ = [
    "by_row", "common", "gathered", "gathered_rows", "merged", "product_data", "product_pattern",
    "rows_of", "scattered", "scattered_rows", "summed_at", "taken",
]  # fmt: skip
