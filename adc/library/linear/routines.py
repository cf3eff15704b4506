"""Triangular factors of matrices, and what they solve: routines of LAPACK, with derivative rules.

A routine has two implementations: a library's, and equivalent plain Python, for threads of a GPU,
one for each of many small matrices. For the library there is a function that makes the arrays of
results (`adc.ir.analysis.routines`). Derivatives are those of results as functions of matrices
(M. B. Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008). They use the same routines, so they can be differentiated again. A matrix is
factorized once: functions of the factors also take the matrix, for its derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.rules import exact


def flag() -> Any:
    """Return a number that a routine sets."""
    return np.empty(1, np.int64)[0]


# --- LU -------------------------------------------------------------------------------------------


def _lu_arrays(a: Any) -> Any:
    n = a.shape[0]
    return np.empty((n, n), a.dtype), np.empty(n, np.int64), flag()


@exact("lu_factor", _lu_arrays)
def lu_factor(a: Any) -> Any:
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


def _solved_array(a: Any, lu: Any, pivots: Any, b: Any, transposed: Any) -> Any:
    return np.empty(b.shape, b.dtype)


@exact("lu_solve", _solved_array)
def lu_solve(a: Any, lu: Any, pivots: Any, b: Any, transposed: Any) -> Any:
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
    return lu_factor(a), None


def _no_reverse(kept: Any, ct: Any) -> Any:
    return (None,)


def _no_tangent(primals: Any, tangents: Any) -> Any:
    found = lu_factor(primals[0])
    return found, (np.zeros_like(found[0]), None, None)


# The factors are only used by what has derivatives with respect to the matrix.
lu_factor.define(_no_record, _no_reverse, _no_tangent)


def _solve_record(a: Any, lu: Any, pivots: Any, b: Any, transposed: Any) -> Any:
    x = lu_solve(a, lu, pivots, b, transposed)
    return x, (a, lu, pivots, x, transposed)


def _solve_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots, x, transposed = kept
    w = lu_solve(a, lu, pivots, ct, not transposed)
    if transposed:
        return -x @ w.T, None, None, w, None
    return -w @ x.T, None, None, w, None


def _solve_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots, b, transposed = primals
    da, _, _, db, _ = tangents
    x = lu_solve(a, lu, pivots, b, transposed)
    if transposed:
        return x, lu_solve(a, lu, pivots, db - da.T @ x, transposed)
    return x, lu_solve(a, lu, pivots, db - da @ x, transposed)


lu_solve.define(_solve_record, _solve_reverse, _solve_tangent)


@exact()
def determinant(a: Any, lu: Any, pivots: Any) -> Any:
    found = a.dtype.type(1)
    for i in range(a.shape[0]):
        found *= lu[i, i] if pivots[i] == i else -lu[i, i]
    return found


def _det_record(a: Any, lu: Any, pivots: Any) -> Any:
    found = determinant(a, lu, pivots)
    return found, (a, lu, pivots, found)


def _det_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots, found = kept
    unit = np.eye(a.shape[0], dtype=a.dtype)
    return ct * found * lu_solve(a, lu, pivots, unit, True), None, None


def _det_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots = primals
    found = determinant(a, lu, pivots)
    return found, found * np.trace(lu_solve(a, lu, pivots, tangents[0], False))


determinant.define(_det_record, _det_reverse, _det_tangent)


@exact()
def log_determinant(a: Any, lu: Any, pivots: Any) -> Any:
    return np.sum(np.log(np.abs(np.diagonal(lu))))


def _logdet_record(a: Any, lu: Any, pivots: Any) -> Any:
    return log_determinant(a, lu, pivots), (a, lu, pivots)


def _logdet_reverse(kept: Any, ct: Any) -> Any:
    a, lu, pivots = kept
    unit = np.eye(a.shape[0], dtype=a.dtype)
    return ct * lu_solve(a, lu, pivots, unit, True), None, None


def _logdet_tangent(primals: Any, tangents: Any) -> Any:
    a, lu, pivots = primals
    return log_determinant(a, lu, pivots), np.trace(lu_solve(a, lu, pivots, tangents[0], False))


log_determinant.define(_logdet_record, _logdet_reverse, _logdet_tangent)


# --- Cholesky -------------------------------------------------------------------------------------


def _factor_array(a: Any) -> Any:
    return np.empty(a.shape, a.dtype), flag()


@exact("cholesky", _factor_array)
def cholesky_factor(a: Any) -> Any:
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


def _lower_array(low: Any, b: Any, transposed: Any) -> Any:
    return np.empty(b.shape, b.dtype)


@exact("solve_lower", _lower_array)
def solve_lower(low: Any, b: Any, transposed: Any) -> Any:
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


def _lower_record(low: Any, b: Any, transposed: Any) -> Any:
    x = solve_lower(low, b, transposed)
    return x, (low, x, transposed)


def _lower_reverse(kept: Any, ct: Any) -> Any:
    low, x, transposed = kept
    w = solve_lower(low, ct, not transposed)
    if transposed:
        return -np.tril(x @ w.T), w, None
    return -np.tril(w @ x.T), w, None


def _lower_tangent(primals: Any, tangents: Any) -> Any:
    low, b, transposed = primals
    x = solve_lower(low, b, transposed)
    moved = np.tril(tangents[0])
    if transposed:
        return x, solve_lower(low, tangents[1] - moved.T @ x, transposed)
    return x, solve_lower(low, tangents[1] - moved @ x, transposed)


solve_lower.define(_lower_record, _lower_reverse, _lower_tangent)


def halved(a: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    found = np.tril(a)
    for i in range(found.shape[0]):
        found[i, i] /= 2
    return found


def mirrored(a: Any) -> Any:
    """Return the symmetric matrix with a lower triangle."""
    found = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i, j] = a[i, j] if j <= i else a[j, i]
    return found


def _cholesky_record(a: Any) -> Any:
    found = cholesky_factor(a)
    return found, found


def _cholesky_reverse(kept: Any, cts: Any) -> Any:
    factor, failed = kept
    if failed != 0:  # the program caught the error, and no result depends on the matrix
        return (np.zeros_like(factor),)
    inner = halved(factor.T @ np.tril(cts[0]))
    left = solve_lower(factor, inner, True)
    both = solve_lower(factor, left.T, True).T
    return (halved(both + both.T),)


def _cholesky_tangent(primals: Any, tangents: Any) -> Any:
    found = cholesky_factor(primals[0])
    factor, failed = found
    if failed != 0:
        return found, (np.zeros_like(factor), None)
    left = solve_lower(factor, mirrored(tangents[0]), False)
    both = solve_lower(factor, left.T, False).T
    return found, (factor @ halved(both), None)


cholesky_factor.define(_cholesky_record, _cholesky_reverse, _cholesky_tangent)
