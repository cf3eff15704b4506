"""Matrices of diagonals, of blocks, Kronecker products, triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.sparse import patterns
from adc.library.scipy.sparse.base import Sparse
from adc.library.scipy.sparse.families import Arrays, Matrices, in_format


def _in_format(a: Any, format: Any) -> Any:
    if format == "dia" and a.format == "dia":
        return a
    return in_format(a, format)


# --- diagonals ------------------------------------------------------------------------------------


def _is_one(diagonals: Any) -> Any:
    """Whether this is one diagonal, not a sequence of them."""
    if isinstance(diagonals, (list, tuple)):
        return len(diagonals) == 0 or np.ndim(diagonals[0]) == 0
    return np.ndim(diagonals) < 2


def _diagonals(diagonals: Any, offsets: Any, shape: Any, dtype: Any, family: Any) -> Any:
    if np.ndim(offsets) == 0:
        if not _is_one(diagonals):
            raise ValueError("Different number of diagonals and offsets.")
        given, places = [np.atleast_1d(np.asarray(diagonals))], [offsets]
    else:
        given = [np.atleast_1d(np.asarray(each)) for each in diagonals]
        places = list(offsets)
    if len(given) != len(places):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        m = n = given[0].shape[0] + abs(places[0])
    else:
        m, n = shape
    width = max(max(min(m + k, n - k) + max(0, k) for k in places), 0)
    kind = np.result_type(*given) if dtype is None else dtype
    data = np.zeros((len(given), width), kind)
    for q, (each, k) in enumerate(zip(given, places, strict=True)):
        first = max(0, k)
        length = min(m + k, n - k, width)
        if length < 0:
            raise ValueError(f"Offset {k} (index {q}) out of bounds")
        if each.shape[0] != length and each.shape[0] != 1:
            raise ValueError(
                f"Diagonal length (index {q}: {each.shape[0]} at offset {k}) does not agree with "
                f"array size ({m}, {n})."
            )
        for j in range(length):
            data[q, first + j] = each[j if each.shape[0] == length else 0]
    return family.dia((data, np.array(places, np.int32)), (m, n))


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """`scipy.sparse.diags`."""
    return _in_format(_diagonals(diagonals, offsets, shape, dtype, Matrices), format)


def diags_array(
    diagonals: Any, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """`scipy.sparse.diags_array`."""
    return _in_format(_diagonals(diagonals, offsets, shape, dtype, Arrays), format)


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    """`scipy.sparse.spdiags`."""
    if m is None and n is None:
        shape = (len(data[0]), len(data[0]))
    elif n is None:
        shape = (m[0], m[1])
    else:
        shape = (m, n)
    places = np.atleast_1d(np.array(diags))
    return _in_format(Matrices.dia((np.asarray(data), places), shape), format)


def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """`scipy.sparse.eye`."""
    shape = (m, m if n is None else n)
    return _in_format(_diagonals([np.ones(1, dtype)], [k], shape, None, Matrices), format)


def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """`scipy.sparse.eye_array`."""
    shape = (m, m if n is None else n)
    return _in_format(_diagonals([np.ones(1, dtype)], [k], shape, None, Arrays), format)


def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    """`scipy.sparse.identity`."""
    return eye(n, n, 0, np.dtype(dtype), format)


# --- products and blocks --------------------------------------------------------------------------


def kron(A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kron`."""
    _require_sparse(A)
    _require_sparse(B)
    a, b = A.tocoo(False), B.tocoo(False)
    m, n = b.shape
    data = np.ravel(a.data[:, None] * b.data)
    row = np.ravel(a.row[:, None].astype(np.int64) * m + b.row)
    col = np.ravel(a.col[:, None].astype(np.int64) * n + b.col)
    family = Matrices if A._is_matrix and B._is_matrix else Arrays
    found = family.coo((data, (row, col)), (A.shape[0] * m, A.shape[1] * n))
    return in_format(found, format)


def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kronsum`."""
    m, n = A.shape[0], B.shape[0]
    if A._is_matrix and B._is_matrix:
        found = kron(identity(n), A) + kron(B, identity(m))
    else:
        found = kron(eye_array(n), A) + kron(B, eye_array(m))
    return in_format(found, format)


def _require_sparse(a: Any) -> None:
    if not isinstance(a, Sparse):
        raise Unsupported(
            "a sparse array of a dense one, whose pattern depends on the values,",
            "make it of `data`, `indices` and `indptr`, or outside the differentiated function",
        )


def _stacked(blocks: Any, down: Any, across: Any, format: Any, dtype: Any) -> Any:
    """Return blocks one after the other, each `down` by its rows and `across` by its columns."""
    for block in blocks:
        _require_sparse(block)
    parts = [block.tocoo(False) for block in blocks]
    row, col = [], []
    m = n = 0
    for part in parts:
        row.append(part.row + m)
        col.append(part.col + n)
        if down:
            m += part.shape[0]
        if across:
            n += part.shape[1]
    shape = (m if down else parts[0].shape[0], n if across else parts[0].shape[1])
    for part in parts:
        if not across and part.shape[1] != shape[1]:
            raise ValueError("blocks have incompatible column dimensions")
        if not down and part.shape[0] != shape[0]:
            raise ValueError("blocks have incompatible row dimensions")
    data = np.concatenate([part.data for part in parts])
    if dtype is not None:
        data = data.astype(dtype)
    family = Matrices if all(block._is_matrix for block in blocks) else Arrays
    found = family.coo((data, (np.concatenate(row), np.concatenate(col))), shape)
    if format is None and down != across and all(block.format == "csr" for block in blocks):
        return found.tocsr()
    if format is None and down != across and all(block.format == "csc" for block in blocks):
        return found.tocsc()
    return in_format(found, format)


def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.vstack`."""
    return _stacked(blocks, True, False, format, dtype)


def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.hstack`."""
    return _stacked(blocks, False, True, format, dtype)


def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.block_diag`."""
    return _stacked(mats, True, True, format, dtype)


# --- triangles ------------------------------------------------------------------------------------


def _chosen(a: Any, at: Any, format: Any) -> Any:
    data = patterns.taken(a.data, at)
    return in_format(a._family.coo((data, (a.row[at], a.col[at])), a.shape), format)


def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    """`scipy.sparse.tril`."""
    found = A.tocoo(False)
    return _chosen(found, np.nonzero(found.row + k >= found.col)[0], format)


def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    """`scipy.sparse.triu`."""
    found = A.tocoo(False)
    return _chosen(found, np.nonzero(found.row + k <= found.col)[0], format)


__all__ = [
    "block_diag", "diags", "diags_array", "eye", "eye_array", "hstack", "identity", "kron",
    "kronsum", "spdiags", "tril", "triu", "vstack",
]  # fmt: skip
