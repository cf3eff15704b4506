"""`linalg` for back ends that have a library of linear algebra, in terms of its routines.

A routine has two implementations: the library's, and equivalent plain Python, which is used in code
for many small matrices, one for each thread. Derivatives are those of results as functions of
matrices (M. B. Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008; for QR: S. F. Walter, L. Lehmann, Algorithmic differentiation of linear
algebra functions, 2010). They use the same routines, so they can be differentiated again. A matrix
is factorized once: functions of the factors also take the matrix, for its derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import linalg, stop_gradient
from adc.library.linalg import EighResult, QRResult, SlogdetResult, _floating, _square
from adc.library.rules import exact

# --- LU -------------------------------------------------------------------------------------------


@exact(routine="lu_factor")
def _lu_factor(a: Any) -> Any:
    """Return L (below the diagonal, which is 1) and U in one matrix, and LAPACK's pivots.

    Then 1 if the matrix is singular, else 0.
    """
    n = a.shape[0]
    lu = a.copy()
    pivots = np.empty(n, np.int64)
    singular = 0
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(lu[i, j]) > abs(lu[best, j]):
                best = i
        pivots[j] = best
        for k in range(n):
            held = lu[j, k]
            lu[j, k] = lu[best, k]
            lu[best, k] = held
        if lu[j, j] == 0:
            singular = 1
        else:
            for i in range(j + 1, n):
                lu[i, j] /= lu[j, j]
                for k in range(j + 1, n):
                    lu[i, k] -= lu[i, j] * lu[j, k]
    return lu, pivots, singular


@exact(routine="lu_solve")
def _lu_solve(a: Any, lu: Any, pivots: Any, b: Any, transposed: Any) -> Any:
    """Solve for the columns of `b`, with a matrix of which `lu` has the factors."""
    n, m = b.shape
    x = b.copy()
    if not transposed:
        for i in range(n):
            for j in range(m):
                held = x[i, j]
                x[i, j] = x[pivots[i], j]
                x[pivots[i], j] = held
    for i in range(n):
        for j in range(m):
            s = x[i, j]
            for k in range(i):
                s -= (lu[k, i] if transposed else lu[i, k]) * x[k, j]
            x[i, j] = s / lu[i, i] if transposed else s
    for r in range(n):
        i = n - 1 - r
        for j in range(m):
            s = x[i, j]
            for k in range(i + 1, n):
                s -= (lu[k, i] if transposed else lu[i, k]) * x[k, j]
            x[i, j] = s if transposed else s / lu[i, i]
    if transposed:
        for r in range(n):
            i = n - 1 - r
            for j in range(m):
                held = x[i, j]
                x[i, j] = x[pivots[i], j]
                x[pivots[i], j] = held
    return x


def _no_record(a: Any) -> Any:
    return _lu_factor(a), None


def _no_reverse(kept: Any, ct: Any) -> Any:
    return (None,)


def _no_tangent(primals: Any, tangents: Any) -> Any:
    found = _lu_factor(primals[0])
    return found, (np.zeros_like(found[0]), None, None)


# The factors are only used by what has derivatives with respect to the matrix.
_lu_factor.define(_no_record, _no_reverse, _no_tangent)


def _lu_solve_record(a: Any, lu: Any, pivots: Any, b: Any, transposed: Any) -> Any:
    x = _lu_solve(a, lu, pivots, b, transposed)
    return x, (a, lu, pivots, x, transposed)


def _lu_solve_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots, x, transposed = kept
    w = _lu_solve(a, lu, pivots, ct, not transposed)
    if transposed:
        return -(x @ w.T), None, None, w, None
    return -(w @ x.T), None, None, w, None


def _lu_solve_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots, b, transposed = primals
    da, _, _, db, _ = tangents
    x = _lu_solve(a, lu, pivots, b, transposed)
    if transposed:
        return x, _lu_solve(a, lu, pivots, db - da.T @ x, transposed)
    return x, _lu_solve(a, lu, pivots, db - da @ x, transposed)


_lu_solve.define(_lu_solve_record, _lu_solve_reverse, _lu_solve_tangent)


@exact()
def _det(a: Any, lu: Any, pivots: Any) -> Any:
    found = a.dtype.type(1)
    for i in range(a.shape[0]):
        found *= lu[i, i] if pivots[i] == i else -lu[i, i]
    return found


def _det_record(a: Any, lu: Any, pivots: Any) -> Any:
    found = _det(a, lu, pivots)
    return found, (a, lu, pivots, found)


def _det_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots, found = kept
    unit = np.eye(a.shape[0], dtype=a.dtype)
    return ct * found * _lu_solve(a, lu, pivots, unit, True), None, None


def _det_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots = primals
    found = _det(a, lu, pivots)
    return found, found * np.trace(_lu_solve(a, lu, pivots, tangents[0], False))


_det.define(_det_record, _det_reverse, _det_tangent)


@exact()
def _logdet(a: Any, lu: Any, pivots: Any) -> Any:
    return np.sum(np.log(np.abs(np.diagonal(lu))))


def _logdet_record(a: Any, lu: Any, pivots: Any) -> Any:
    return _logdet(a, lu, pivots), (a, lu, pivots)


def _logdet_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots = kept
    unit = np.eye(a.shape[0], dtype=a.dtype)
    return ct * _lu_solve(a, lu, pivots, unit, True), None, None


def _logdet_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots = primals
    return _logdet(a, lu, pivots), np.trace(_lu_solve(a, lu, pivots, tangents[0], False))


_logdet.define(_logdet_record, _logdet_reverse, _logdet_tangent)


def _factorized(a: Any, message: str) -> Any:
    """Return the factors of a matrix that is not singular."""
    _square(a)
    lu, pivots, singular = _lu_factor(stop_gradient(a))
    if singular != 0:
        raise np.linalg.LinAlgError(message)
    return lu, pivots


def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve` of a matrix and a vector or matrix."""
    a = _floating(a)
    b = _floating(b)
    _square(a)
    if a.shape[0] != b.shape[0]:
        raise ValueError("solve: the matrix and the right-hand side have different lengths")
    if a.dtype != b.dtype:
        a = a.astype(np.float64)
        b = b.astype(np.float64)
    lu, pivots = _factorized(a, "Singular matrix")
    if b.ndim == 1:
        return _lu_solve(a, lu, pivots, b[:, None], False)[:, 0]
    return _lu_solve(a, lu, pivots, b, False)


def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    a = _floating(a)
    lu, pivots = _factorized(a, "Singular matrix")
    return _lu_solve(a, lu, pivots, np.eye(a.shape[0], dtype=a.dtype), False)


def det(a: Any) -> Any:
    """`np.linalg.det`; a matrix that elimination finds singular is an error.

    `linalg.singular_det` would take each thread memory that it hardly ever needs.
    """
    a = _floating(a)
    lu, pivots = _factorized(a, "adc: the determinant of a singular matrix")
    return _det(a, lu, pivots)


def slogdet(a: Any) -> Any:
    """`np.linalg.slogdet`; a matrix that elimination finds singular is an error."""
    a = _floating(a)
    lu, pivots = _factorized(a, "adc: the determinant of a singular matrix")
    sign = a.dtype.type(1)
    for i in range(a.shape[0]):
        if (pivots[i] == i) == (lu[i, i] < 0):
            sign = -sign
    return SlogdetResult(sign, _logdet(a, lu, pivots))


# --- Cholesky -------------------------------------------------------------------------------------


@exact(routine="cholesky")
def _cholesky(a: Any) -> Any:
    """Return the factor, by the lower triangle, and 1 if there is none, else 0.

    `linalg.cholesky` raises where it finds that out. Calls share this function: an error raised
    here would name the line of the first one.
    """
    n = a.shape[0]
    factor = np.zeros((n, n), a.dtype)
    failed = 0
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            factor[i, j] = s / factor[j, j]
        s = a[i, i]
        for k in range(i):
            s -= factor[i, k] * factor[i, k]
        if not s > 0:
            failed = 1
        factor[i, i] = np.sqrt(abs(s))
    return factor, failed


@exact(routine="solve_lower")
def _solve_lower(low: Any, b: Any, transposed: Any) -> Any:
    """Solve for the columns of `b`, with a lower triangle or its transpose."""
    n, m = b.shape
    x = b.copy()
    for r in range(n):
        i = n - 1 - r if transposed else r
        for j in range(m):
            s = x[i, j]
            for q in range(r):
                k = n - 1 - q if transposed else q
                s -= (low[k, i] if transposed else low[i, k]) * x[k, j]
            x[i, j] = s / low[i, i]
    return x


def _solve_lower_record(low: Any, b: Any, transposed: Any) -> Any:
    x = _solve_lower(low, b, transposed)
    return x, (low, x, transposed)


def _solve_lower_reverse(kept: Any, ct: Any) -> Any:
    low, x, transposed = kept
    w = _solve_lower(low, ct, not transposed)
    if transposed:
        return -np.tril(x @ w.T), w, None
    return -np.tril(w @ x.T), w, None


def _solve_lower_tangent(primals: Any, tangents: Any) -> Any:
    low, b, transposed = primals
    x = _solve_lower(low, b, transposed)
    moved = np.tril(tangents[0])
    if transposed:
        return x, _solve_lower(low, tangents[1] - moved.T @ x, transposed)
    return x, _solve_lower(low, tangents[1] - moved @ x, transposed)


_solve_lower.define(_solve_lower_record, _solve_lower_reverse, _solve_lower_tangent)


def _halved(a: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    found = np.tril(a)
    for i in range(found.shape[0]):
        found[i, i] /= 2
    return found


def _mirrored(a: Any) -> Any:
    """Return the symmetric matrix with a lower triangle."""
    found = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i, j] = a[i, j] if j <= i else a[j, i]
    return found


def _cholesky_record(a: Any) -> Any:
    found = _cholesky(a)
    return found, found[0]


def _cholesky_reverse(factor: Any, cts: Any) -> Any:
    inner = _halved(factor.T @ np.tril(cts[0]))
    left = _solve_lower(factor, inner, True)
    both = _solve_lower(factor, left.T, True).T
    return (_halved(both + both.T),)


def _cholesky_tangent(primals: Any, tangents: Any) -> Any:
    found = _cholesky(primals[0])
    factor = found[0]
    left = _solve_lower(factor, _mirrored(tangents[0]), False)
    both = _solve_lower(factor, left.T, False).T
    return found, (factor @ _halved(both), None)


_cholesky.define(_cholesky_record, _cholesky_reverse, _cholesky_tangent)


def cholesky(a: Any) -> Any:
    """`np.linalg.cholesky`: reads the lower triangle."""
    _square(a)
    factor, failed = _cholesky(_floating(a))
    # Libraries differ in what they say of NaN.
    if failed != 0 or not np.all(np.diagonal(factor) > 0):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return factor


# --- eigenvectors ---------------------------------------------------------------------------------


@exact(routine="eigh")
def _eigh(a: Any) -> Any:
    """Return eigenvalues in order, and eigenvectors, of a symmetric matrix."""
    x = linalg._eigenvectors(a.copy())
    return np.diagonal(x.T @ (a @ x)).copy(), x


def _slopes(values: Any) -> Any:
    """Return the inverse differences of eigenvalues, of those that are different."""
    n = values.shape[0]
    spread = 1e-14 * max(np.max(np.abs(values)), 0.0)
    found = np.zeros((n, n), values.dtype)
    for i in range(n):
        for j in range(n):
            gap = values[j] - values[i]
            if abs(gap) > spread:
                found[i, j] = 1 / gap
    return found


def _eigh_record(a: Any) -> Any:
    found = _eigh(a)
    return found, found


def _eigh_reverse(kept: Any, cts: Any) -> Any:
    values, x = kept
    inner = _slopes(values) * (x.T @ cts[1])
    for i in range(values.shape[0]):
        inner[i, i] += cts[0][i]
    return (x @ inner @ x.T,)


def _eigh_tangent(primals: Any, tangents: Any) -> Any:
    values, x = _eigh(primals[0])
    inner = x.T @ tangents[0] @ x
    return (values, x), (np.diagonal(inner).copy(), x @ (_slopes(values) * inner))


_eigh.define(_eigh_record, _eigh_reverse, _eigh_tangent)


def eigh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`; the signs of eigenvectors are not NumPy's."""
    _square(a)
    a = _floating(a)
    values, x = _eigh(_mirrored(a if UPLO == "L" else a.T))
    return EighResult(values, x)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`."""
    return eigh(a, UPLO).eigenvalues


# --- QR -------------------------------------------------------------------------------------------


@exact(routine="qr")
def _qr(a: Any) -> Any:
    """Return the factors of a matrix that has no more columns than rows."""
    found = linalg.qr(a)
    return found.Q, found.R


def _qr_record(a: Any) -> Any:
    found = _qr(a)
    return found, found


def _qr_reverse(kept: Any, cts: Any) -> Any:
    q, r = kept
    inner = r @ np.triu(cts[1]).T - cts[0].T @ q
    return (_solve_lower(r.T, (cts[0] + q @ _mirrored(inner)).T, True).T,)


def _qr_tangent(primals: Any, tangents: Any) -> Any:
    q, r = _qr(primals[0])
    moved = _solve_lower(r.T, tangents[0].T, False).T
    inner = q.T @ moved
    upper = np.triu(inner + np.tril(inner, -1).T)
    return (q, r), (moved - q @ upper, upper @ r)


_qr.define(_qr_record, _qr_reverse, _qr_tangent)


def qr(a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr`."""
    if mode == "complete":
        return linalg.qr(a, mode)
    a = _floating(a)
    count = min(a.shape[0], a.shape[1])
    q, r = _qr(a[:, :count])
    if count < a.shape[1]:
        r = np.concatenate((r, q.T @ a[:, count:]), axis=1)
    if mode == "r":
        return r
    return QRResult(q, r)
