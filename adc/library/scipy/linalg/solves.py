"""Solves, inverses, determinants, least squares and norms of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.linear import linalg
from adc.library.linear.complexes import halves, real_form, stacked
from adc.library.linear.routines import mirrored
from adc.library.linear.spectral import least, precision, singular
from adc.library.scipy.linalg.banded import solve_banded
from adc.library.scipy.linalg.checks import adjoint, alike, columns, like, validated
from adc.library.scipy.linalg.triangles import cho_solve, triangle


def of_triangle(a: Any, lower: Any, conjugated: Any) -> Any:
    """Return the symmetric or Hermitian matrix of which one triangle is given."""
    if not np.iscomplexobj(a):
        return mirrored(a if lower else a.T)
    unit = np.eye(a.shape[0], dtype=np.bool_)
    if conjugated:
        below = np.tril(a if lower else adjoint(a), -1)
        return below + adjoint(below) + np.where(unit, a.real, 0)
    below = np.tril(a if lower else a.T, -1)
    return below + below.T + np.where(unit, a, 0)


def _structured(a: Any, b: Any, lower: Any, assume_a: str, turned: Any) -> Any:
    """Solve with the elements of a matrix that its structure leaves."""
    if a.ndim > 2 or b.ndim > 2:
        raise Unsupported(
            "`scipy.linalg.solve` with this `assume_a` for a stack of matrices",
            "loop over the stack, or leave out `assume_a`",
        )
    a, given = alike(a, columns(b))
    if assume_a == "diagonal":
        scales = np.diagonal(a)
        if np.any(scales == 0):
            raise np.linalg.LinAlgError("A singular matrix detected.")
        return like(given / scales[:, None], b)
    if assume_a == "tridiagonal":
        ab = np.zeros((3, a.shape[0]), a.dtype)
        inner = a.T if turned else a
        ab[0, 1:] = np.diagonal(inner, 1)
        ab[1] = np.diagonal(inner)
        ab[2, :-1] = np.diagonal(inner, -1)
        return like(solve_banded(1, 1, ab, given, False), b)
    if assume_a in ("lower triangular", "upper triangular"):
        below = assume_a == "lower triangular"
        return like(triangle(a, given, 1 if turned else 0, below), b)
    if assume_a in ("pos", "positive definite"):
        factor = linalg.cholesky(a, upper=not lower)
        return like(cho_solve(factor, lower, given, False), b)
    return like(linalg.solve(of_triangle(a, lower, assume_a in ("her", "hermitian")), given), b)


def solve(
    a: Any, b: Any, lower: Any = False, check_finite: Any = True, assume_a: Any = None,
    transposed: Any = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve`."""
    a, b = validated(a, check_finite), validated(b, check_finite)
    if a.shape[-1] != a.shape[-2]:
        raise ValueError("Expected square matrix")
    if a.shape[-1] != (b.shape[0] if b.ndim == 1 else b.shape[-2]):
        raise ValueError("incompatible shapes of the matrix and of the right-hand sides")
    if transposed and np.iscomplexobj(a):
        raise Unsupported(
            "`scipy.linalg.solve` with `transposed=True` for a complex matrix (nor by SciPy)",
            "pass the transpose: `solve(a.T, b)`",
        )
    # A banded matrix is any matrix, which SciPy looks at.
    if assume_a is None or assume_a in ("gen", "general", "banded"):
        return linalg.solve(np.swapaxes(a, -1, -2) if transposed else a, b)
    return _structured(a, b, lower, assume_a, transposed)


def inv(a: Any, check_finite: Any = True, assume_a: Any = None, lower: Any = False) -> Any:
    """`scipy.linalg.inv`."""
    a = validated(a, check_finite)
    if a.shape[-1] != a.shape[-2]:
        raise ValueError("Expected square matrix")
    if assume_a is None or assume_a in ("gen", "general", "banded"):
        return linalg.inv(a)
    return _structured(a, np.eye(a.shape[-1], dtype=a.dtype), lower, assume_a, False)


def det(a: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.det`: in double precision."""
    a = validated(a, check_finite)
    if a.shape[-1] != a.shape[-2]:
        raise ValueError("Last 2 dimensions of the array must be square")
    found = linalg.det(a)
    return np.asarray(found).astype(np.complex128 if np.iscomplexobj(a) else np.float64)[()]


def regular_det(a: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.det` on a GPU."""
    return np.float64(linalg.regular_det(validated(a, check_finite)))


def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True
) -> Any:
    """`scipy.linalg.norm`; squares of elements of vectors do not overflow."""
    if check_finite and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    if axis is not None or keepdims or a.ndim > 2:
        return linalg.norm(a, ord, axis, keepdims)
    if a.ndim == 2:
        found = linalg.norm(a, ord)
        # These are LAPACK's, and numbers of Python.
        return float(found) if ord is not None and (ord == 1 or ord == np.inf) else found
    if ord is None or ord == 2:
        return float(_length(validated(a, False)))
    return linalg.norm(a, ord)


def _length(a: Any) -> Any:
    found = linalg.norm(a)
    if 1e-15 < found and found < 1e15:
        return found
    size = np.max(np.abs(stop_gradient(a)), initial=0.0)
    if not (size > 0 and np.isfinite(size)):
        return found
    return size * linalg.norm(a / size)


def _inverted(a: Any, atol: Any, rtol: Any) -> Any:
    """Return the pseudo-inverse as a number, the rank, and the singular values."""
    u, s, vt, failed = singular(stop_gradient(a))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    rank = 0
    scaled = np.zeros(vt.shape, vt.dtype)
    for i in range(s.shape[0]):
        if s[i] > atol + s[0] * rtol:
            rank += 1
            scaled[i] = vt[i] / s[i]
    return scaled.T @ u.T, rank, s


def _real_pinv(a: Any, atol: Any, rtol: Any) -> Any:
    inverse, rank, _ = _inverted(a, atol, rtol)
    full = rank == min(a.shape[0], a.shape[1])
    return least(a, inverse, full, np.eye(a.shape[0], dtype=a.dtype)), rank


def pinv(
    a: Any, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True
) -> Any:
    """`scipy.linalg.pinv`; where the rank is not full it jumps, and the derivative is NaN."""
    a = validated(a, check_finite)
    atol = 0.0 if atol is None else atol
    rtol = max(a.shape[0], a.shape[1]) * precision(a.real) if rtol is None else rtol
    if atol < 0.0 or rtol < 0.0:
        raise ValueError("atol and rtol values must be positive.")
    if np.iscomplexobj(a):
        # Of a real form the rank is twice that of the matrix.
        found, rank = _real_pinv(real_form(a), atol, rtol)
        found, rank = halves(found[:, : a.shape[0]]), rank // 2
    else:
        found, rank = _real_pinv(a, atol, rtol)
    return (found, rank) if return_rank else found


def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.pinvh`."""
    whole = of_triangle(validated(a, check_finite), lower, True)
    return pinv(whole, atol, rtol, return_rank, False)


def lstsq(a: Any, b: Any, cond: Any = None, check_finite: Any = True) -> Any:
    """`scipy.linalg.lstsq`; where the rank is not full the derivative is NaN."""
    a, b = validated(a, check_finite), validated(b, check_finite)
    m, n = a.shape
    if m != b.shape[0]:
        raise ValueError("Shape mismatch: a and b should have the same number of rows")
    a, given = alike(a, columns(b))
    cut = precision(a.real) if cond is None else cond
    if np.iscomplexobj(a):
        x, rank, rest = _least(real_form(a), stacked(given), cut)
        x, rank = halves(x), rank // 2
        squares = np.sum(rest * rest, axis=0)
    else:
        x, rank, rest = _least(a, given, cut)
        squares = np.sum(rest * rest, axis=0)
    # Of one right-hand side it is a number or an empty vector: values decide its type.
    residues = squares[: (squares.shape[0] if rank == n and m > n else 0)] if b.ndim > 1 else None
    return like(x, b), residues, np.int32(rank), linalg.svdvals(a)


def _least(a: Any, given: Any, cut: Any) -> Any:
    inverse, rank, _ = _inverted(a, 0.0, cut)
    x = least(a, inverse, rank == min(a.shape[0], a.shape[1]), given)
    return x, rank, given - a @ x
