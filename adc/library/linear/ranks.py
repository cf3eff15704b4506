"""What singular values say: pseudo-inverses, least squares, ranks and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear.complexes import halves, real_form, stacked
from adc.library.linear.factors import svd, svdvals, svdvals_of_one
from adc.library.linear.norms import norm
from adc.library.linear.routines import lu_factor, lu_solve
from adc.library.linear.solves import inv
from adc.library.linear.spectral import least, precision, singular
from adc.library.linear.stacks import flattened, inexact, number_of, real_of, square, unflattened


def _of_lower_triangle(a: Any) -> Any:
    """Return the symmetric or Hermitian matrix with a lower triangle, as `eigh` takes one."""
    square(a)
    below = np.tril(a, -1)
    if np.iscomplexobj(a):
        diagonal = np.where(np.eye(a.shape[-1], dtype=np.bool_), a.real, 0)
        return below + np.conj(np.swapaxes(below, -1, -2)) + diagonal
    return np.tril(a) + np.swapaxes(below, -1, -2)


def _inverted(a: Any, rcond: Any) -> Any:
    """Return the pseudo-inverse as a number, the rank, and the singular values."""
    u, s, vt, failed = singular(stop_gradient(a))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    rank = 0
    scaled = np.zeros(vt.shape, vt.dtype)
    if s.shape[0] > 0:
        cut = rcond * s[0]
        for i in range(s.shape[0]):
            if s[i] > cut:
                rank += 1
                scaled[i] = vt[i] / s[i]
    return scaled.T @ u.T, rank, s


def _pinv(a: Any, rcond: Any) -> Any:
    inverse, rank, _ = _inverted(a, rcond)
    full = rank == min(a.shape[0], a.shape[1])
    return least(a, inverse, full, np.eye(a.shape[0], dtype=a.dtype))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`np.linalg.pinv`; where the rank is not full it jumps, and the derivative is NaN."""
    a = inexact(a)
    if hermitian:
        a = _of_lower_triangle(a)
    if rcond is None:
        rcond = 1e-15 if rtol is None else rtol
    if np.iscomplexobj(a):
        return halves(_real_pinv(real_form(a), rcond)[..., : a.shape[-2]])
    return _real_pinv(a, rcond)


def _real_pinv(a: Any, rcond: Any) -> Any:
    if a.ndim == 2:
        return _pinv(a, rcond)
    flat = flattened(a)
    found = np.empty((flat.shape[0], a.shape[-1], a.shape[-2]), a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _pinv(flat[k], rcond)
    return unflattened(found, a.shape[:-2])


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`; where the rank is not full the solution jumps, its derivative is NaN."""
    m, n = a.shape
    if m != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    a = inexact(a)
    b = inexact(b)
    if a.dtype != b.dtype:
        both = np.result_type(a, b)
        a, b = a.astype(both), b.astype(both)
    right = b[:, None] if b.ndim == 1 else b
    eps = precision(a.real)
    cut = eps * max(m, n) if rcond is None else (eps if rcond < 0 else rcond)
    if np.iscomplexobj(a):
        # Of a real form values and the rank are twice those of the matrix.
        found = _real_lstsq(real_form(a), stacked(right), m, n, cut)
        x = halves(found[0])
        return (x[:, 0] if b.ndim == 1 else x), found[1], np.int32(found[2] // 2), svdvals_of_one(a)
    found = _real_lstsq(a, right, m, n, cut)
    x = found[0]
    return (x[:, 0] if b.ndim == 1 else x), found[1], np.int32(found[2]), svdvals_of_one(a)


def _real_lstsq(a: Any, right: Any, m: Any, n: Any, cut: Any) -> Any:
    """Return the solution, residuals of more equations `m` than unknowns `n`, and the rank."""
    inverse, rank, _ = _inverted(a, cut)
    x = least(a, inverse, rank == min(a.shape[0], a.shape[1]), right)
    rest = right - a @ x
    squares = np.sum(rest * rest, axis=0)
    residuals = squares[: (squares.shape[0] if rank == a.shape[1] and m > n else 0)]
    return x, residuals, rank


def _matrix_rank(s: Any, tol: Any) -> Any:
    rank = 0
    for value in s:
        if value > tol:
            rank += 1
    return rank


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`np.linalg.matrix_rank`."""
    if A.ndim < 2:
        return np.int64(1) if np.any(A != 0) else np.int64(0)
    a = inexact(A)
    s = svd(a, True, False, True) if hermitian else svdvals(a)
    if rtol is None:
        rtol = max(a.shape[-2], a.shape[-1]) * precision(s)
    if a.ndim == 2:
        tol = np.max(s, initial=0.0) * rtol if tol is None else tol
        return np.int64(_matrix_rank(s, tol))
    rows = s.reshape((number_of(a), s.shape[-1]))
    found = np.empty(rows.shape[0], np.int64)
    for k in range(rows.shape[0]):
        found[k] = _matrix_rank(
            rows[k], np.max(rows[k], initial=0.0) * rtol if tol is None else tol
        )
    return unflattened(found, a.shape[:-2])


def _cond(a: Any, p: Any) -> Any:
    if p is None or p == 2 or p == -2:
        s = svdvals_of_one(a)
        found = s[-1] / s[0] if p == -2 else s[0] / s[-1]
    else:
        square(a)
        whole = real_form(a) if np.iscomplexobj(a) else a
        lu, pivots, is_singular = lu_factor(stop_gradient(whole))
        if is_singular != 0:
            return whole.dtype.type(np.inf)
        if np.iscomplexobj(a):
            return norm(a, p) * norm(inv(a), p)
        unit = np.eye(a.shape[0], dtype=a.dtype)
        found = norm(a, p) * norm(lu_solve(a, lu, pivots, unit, False), p)
    if np.isnan(found) and not np.any(np.isnan(a)):
        return real_of(a).type(np.inf)
    return found


def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`."""
    a = inexact(x)
    if a.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if a.ndim == 2:
        return _cond(a, p)
    flat = flattened(a)
    found = np.empty(flat.shape[0], real_of(a))
    for k in range(flat.shape[0]):
        found[k] = _cond(flat[k], p)
    return unflattened(found, a.shape[:-2])
