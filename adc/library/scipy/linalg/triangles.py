"""Systems with triangular matrices, and factors of Cholesky and LU with which systems are solved.

Derivatives are those of what SciPy returns. Factors are read in one triangle: no derivative flows
to the other. `cho_factor` leaves there what was in the matrix, and so do derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear import linalg
from adc.library.linear.complexes import joined, real_form_of_triangle
from adc.library.linear.routines import flag, solve_lower
from adc.library.rules import exact
from adc.library.scipy.linalg.checks import adjoint, alike, columns, like, square, validated


def _interleaved(b: Any) -> Any:
    """Return right-hand sides for `real_form_of_triangle`."""
    found = np.empty((2 * b.shape[0], b.shape[1]), b.real.dtype)
    found[::2] = b.real
    found[1::2] = b.imag
    return found


def solved(low: Any, b: Any, turned: Any) -> Any:
    """Solve for the columns of `b`, with a lower triangle or, where it is `turned`, its transpose.

    A complex triangle is a diagonal times one with ones there, whose real form is a triangle.
    """
    low, b = alike(low, b)
    if not np.iscomplexobj(low):
        # LAPACK reads it as it lies in memory, which may be by columns.
        return solve_lower(np.ascontiguousarray(low), b, turned)
    scales = np.diagonal(low).copy()[:, None]
    inner = low / scales
    if not turned:
        b = b / scales
    form = real_form_of_triangle(np.conj(inner) if turned else inner)
    found = solve_lower(form, _interleaved(b), turned)
    x = joined(found[::2], found[1::2])
    return x / scales if turned else x


def _fitting(a: Any, b: Any) -> None:
    if a.shape[0] != b.shape[0]:
        raise ValueError("the shapes of the matrix and of the right-hand sides are incompatible")


def triangle(a: Any, b: Any, trans: int, lower: Any, unit_diagonal: Any = False) -> Any:
    """Solve with one triangle of a matrix: with its transpose if `trans` is 1, adjoint if 2."""
    low = a if lower else a.T
    turned = lower == (trans != 0)
    if trans == 2 and np.iscomplexobj(a):
        low = np.conj(low)
    if unit_diagonal:
        low = np.tril(low, -1) + np.eye(low.shape[0], dtype=low.dtype)
    for i in range(low.shape[0]):
        if low[i, i] == 0:
            raise np.linalg.LinAlgError(f"singular matrix: resolution failed at diagonal {i}")
    return solved(low, b, turned)


def solve_triangular(
    a: Any, b: Any, trans: int = 0, lower: Any = False, unit_diagonal: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve_triangular`."""
    a, b = validated(a, check_finite), validated(b, check_finite)
    square(a)
    _fitting(a, b)
    return like(triangle(a, columns(b), trans, lower, unit_diagonal), b)


# --- Cholesky -------------------------------------------------------------------------------------


def cholesky(a: Any, lower: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.cholesky`."""
    a = validated(a, check_finite)
    square(a)
    return linalg.cholesky(a, upper=not lower)


def cho_factor(a: Any, lower: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.cho_factor`: in the other triangle is what was there."""
    a = validated(a, check_finite)
    square(a)
    factor = linalg.cholesky(a, upper=not lower)
    return (factor + np.triu(a, 1) if lower else factor + np.tril(a, -1)), lower


def cho_solve(c: Any, lower: Any, b: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.cho_solve` with the factor `c` and whether it is the lower one."""
    c, b = validated(c, check_finite), validated(b, check_finite)
    if c.shape[0] != c.shape[1]:
        raise ValueError("The factored matrix c is not square.")
    _fitting(c, b)
    low = c if lower else adjoint(c)
    inner = solved(low, columns(b), False)
    return like(solved(np.conj(low) if np.iscomplexobj(low) else low, inner, True), b)


# --- LU -------------------------------------------------------------------------------------------


def _lu_arrays(a: Any) -> Any:
    n = a.shape[0]
    return np.empty((n, n), a.dtype), np.empty(n, np.int64), flag()


@exact("lu_rows", _lu_arrays)
def lu_rows(a: Any) -> Any:
    """Return L (below the diagonal, which is 1) and U in one matrix, LAPACK's pivots, and a flag.

    Unlike those of `lu_factor`, programs see these factors, so they have derivatives (Giles 2008).
    """
    lu, pivots = eliminated(a)
    return lu, pivots, 0


def _parts(lu: Any) -> Any:
    return np.tril(lu, -1) + np.eye(lu.shape[0], dtype=lu.dtype), np.triu(lu)


def order(pivots: Any, rows: Any) -> Any:
    """Return which row of a matrix becomes which, where rows are exchanged by LAPACK's pivots."""
    found = np.arange(rows)
    for i in range(pivots.shape[0]):
        held = found[i]
        found[i] = found[pivots[i]]
        found[pivots[i]] = held
    return found


def _lu_record(a: Any) -> Any:
    found = lu_rows(a)
    return found, found


def _lu_reverse(kept: Any, cts: Any) -> Any:
    lu, pivots, _ = kept
    low, up = _parts(lu)
    inner = np.tril(low.T @ np.tril(cts[0], -1), -1) + np.triu(np.triu(cts[0]) @ up.T)
    moved = solve_lower(up.T, solve_lower(low, inner, True).T, True).T
    found = np.empty(lu.shape, lu.dtype)
    rows = order(pivots, lu.shape[0])
    for i in range(lu.shape[0]):
        found[rows[i]] = moved[i]
    return (found,)


def _lu_tangent(primals: Any, tangents: Any) -> Any:
    found = lu_rows(primals[0])
    lu, pivots, _ = found
    low, up = _parts(lu)
    moved = np.empty(lu.shape, lu.dtype)
    rows = order(pivots, lu.shape[0])
    for i in range(lu.shape[0]):
        moved[i] = tangents[0][rows[i]]
    inner = solve_lower(up.T, solve_lower(low, moved, False).T, False).T
    return found, (low @ np.tril(inner, -1) + np.triu(inner) @ up, None, None)


lu_rows.define(_lu_record, _lu_reverse, _lu_tangent)


def _size(z: Any) -> Any:
    """Return by what LAPACK compares pivots."""
    return abs(z.real) + abs(z.imag) if np.iscomplexobj(z) else abs(z)


def _pivots(a: Any) -> Any:
    work = stop_gradient(a)
    count = min(a.shape[0], a.shape[1])
    pivots = np.empty(count, np.int64)
    for j in range(count):
        best = j
        for i in range(j + 1, a.shape[0]):
            if _size(work[i, j]) > _size(work[best, j]):
                best = i
        pivots[j] = best
        for k in range(a.shape[1]):
            held = work[j, k]
            work[j, k] = work[best, k]
            work[best, k] = held
        if work[j, j] != 0:
            for i in range(j + 1, a.shape[0]):
                work[i, j] /= work[j, j]
                for k in range(j + 1, a.shape[1]):
                    work[i, k] -= work[i, j] * work[j, k]
    return pivots


def eliminated(a: Any) -> Any:
    """Return the factors in one matrix, and LAPACK's pivots, of any matrix."""
    pivots = _pivots(a)
    rows = order(pivots, a.shape[0])
    lu = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = a[rows[i], j]
            for k in range(min(i, j)):
                s -= lu[i, k] * lu[k, j]
            # Below a pivot of zero nothing is left to eliminate.
            lu[i, j] = s / lu[j, j] if j < i and lu[j, j] != 0 else s
    return lu, pivots


def _factors(a: Any) -> Any:
    if np.iscomplexobj(a) or a.shape[0] != a.shape[1]:
        return eliminated(a)
    lu, pivots, _ = lu_rows(a)
    return lu, pivots


def lu_factor(a: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.lu_factor`."""
    lu, pivots = _factors(validated(a, check_finite))
    return lu, pivots.astype(np.int32)


def lu_solve(lu: Any, piv: Any, b: Any, trans: int = 0, check_finite: Any = True) -> Any:
    """`scipy.linalg.lu_solve` with the factors `lu` and the pivots `piv`."""
    lu, b = validated(lu, False), validated(b, check_finite)
    _fitting(lu, b)
    low, up = _parts(lu)
    if trans == 2 and np.iscomplexobj(lu):
        low, up = np.conj(low), np.conj(up)
    rows = order(piv, lu.shape[0])
    given = columns(b)
    if trans == 0:
        x = solved(up.T, solved(low, given[rows], False), True)
    else:
        inner = solved(low, solved(up.T, given, False), True)
        x = inner[np.argsort(rows)]
    return like(x, b)


def lu(a: Any, permute_l: Any = False, check_finite: Any = True, p_indices: Any = False) -> Any:
    """`scipy.linalg.lu`."""
    a = validated(a, check_finite)
    m, n = a.shape
    count = min(m, n)
    both, pivots = _factors(a)
    low = np.tril(both[:, :count], -1) + np.eye(m, count, dtype=a.dtype)
    up = np.triu(both[:count])
    rows = order(pivots, m)
    back = np.argsort(rows)
    if permute_l:
        return low[back], up
    if p_indices:
        return back.astype(np.int32), low, up
    p = np.zeros((m, m), np.real(a).dtype)
    for i in range(m):
        p[rows[i], i] = 1
    return p, low, up
