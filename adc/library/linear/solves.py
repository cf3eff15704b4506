"""Solves, inverses, determinants and Cholesky factors, of matrices and of stacks of them.

Errors are those of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.linear.complexes import (
    eliminated,
    halves,
    joined,
    phase,
    real_form,
    real_form_of_triangle,
    stacked,
)
from adc.library.linear.routines import (
    cholesky_factor,
    determinant,
    log_determinant,
    lu_factor,
    lu_solve,
)
from adc.library.linear.stacks import (
    adjoint,
    flattened,
    inexact,
    of_each,
    square,
    together,
    unflattened,
    wide,
)

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def _floating(a: Any) -> Any:
    wide(a)
    if np.iscomplexobj(a):
        raise Unsupported(
            "the determinant of a complex matrix on a GPU", "compute it with `target='cpu'`"
        )
    return a if a.dtype == np.float32 else a.astype(np.float64)


# --- LU -------------------------------------------------------------------------------------------


def _solve(a: Any, b: Any) -> Any:
    lu, pivots, is_singular = lu_factor(stop_gradient(a))
    if is_singular != 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return lu_solve(a, lu, pivots, b, False)


def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve`."""
    square(a)
    a = inexact(a)
    b = inexact(b)
    if a.shape[-1] != (b.shape[0] if b.ndim == 1 else b.shape[-2]):
        raise ValueError("solve: the matrix and the right-hand side have different lengths")
    if b.ndim == 1:
        return _solved(a, b[:, None])[..., 0]
    return _solved(a, b)


def _solved(a: Any, b: Any) -> Any:
    if np.iscomplexobj(a):
        return halves(_real_solved(real_form(a), stacked(b)))
    if np.iscomplexobj(b):
        found = _real_solved(a, np.concatenate((b.real, b.imag), axis=-1))
        return joined(found[..., : b.shape[-1]], found[..., b.shape[-1] :])
    return _real_solved(a, b)


def _real_solved(a: Any, b: Any) -> Any:
    if a.dtype != b.dtype:
        a = a.astype(np.float64)
        b = b.astype(np.float64)
    if a.ndim == 2 and b.ndim == 2:
        return _solve(a, b)
    outer = together(a.shape[:-2], b.shape[:-2])
    left = flattened(np.broadcast_to(a, outer + a.shape[-2:]))
    right = flattened(np.broadcast_to(b, outer + b.shape[-2:]))
    found = np.empty(right.shape, right.dtype)
    for k in range(right.shape[0]):
        found[k] = _solve(left[k], right[k])
    return unflattened(found, outer)


def _inv(a: Any) -> Any:
    return _solve(a, np.eye(a.shape[0], dtype=a.dtype))


def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    square(a)
    a = inexact(a)
    if np.iscomplexobj(a):
        return halves(of_each(_inv, real_form(a))[..., : a.shape[-1]])
    return of_each(_inv, a)


# --- determinants ---------------------------------------------------------------------------------


def singular_det(a: Any) -> Any:
    """Return 0, with the derivatives that the determinant has at a singular matrix."""
    found = eliminated(a)
    return found - stop_gradient(found)


def _det(a: Any) -> Any:
    if np.iscomplexobj(a):
        return eliminated(a)
    lu, pivots, is_singular = lu_factor(stop_gradient(a))
    if is_singular != 0:
        return singular_det(a)
    return determinant(a, lu, pivots)


def det(a: Any) -> Any:
    """`np.linalg.det`."""
    square(a)
    a = inexact(a)
    if a.ndim == 2:
        return _det(a)
    flat = flattened(a)
    found = np.empty(flat.shape[0], a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _det(flat[k])
    return unflattened(found, a.shape[:-2])


def _sign(lu: Any, pivots: Any) -> Any:
    sign = lu.dtype.type(1)
    for i in range(lu.shape[0]):
        # Of NaN NumPy has the sign 1.
        if (pivots[i] == i) == (lu[i, i] < 0):
            sign = -sign
    return sign


def _slogdet(a: Any) -> Any:
    if np.iscomplexobj(a):
        return phase(a), 0.5 * _real_slogdet(real_form(a))[1]
    return _real_slogdet(a)


def _real_slogdet(a: Any) -> Any:
    lu, pivots, is_singular = lu_factor(stop_gradient(a))
    if is_singular != 0:
        return a.dtype.type(0), np.log(np.abs(singular_det(a)))
    return _sign(lu, pivots), log_determinant(a, lu, pivots)


def slogdet(a: Any) -> Any:
    """`np.linalg.slogdet`."""
    square(a)
    a = inexact(a)
    if a.ndim == 2:
        sign, value = _slogdet(a)
        return SlogdetResult(sign, value)
    flat = flattened(a)
    signs = np.empty(flat.shape[0], a.dtype)
    values = np.empty(flat.shape[0], np.real(a).dtype)
    for k in range(flat.shape[0]):
        signs[k], values[k] = _slogdet(flat[k])
    return SlogdetResult(unflattened(signs, a.shape[:-2]), unflattened(values, a.shape[:-2]))


def _regular(a: Any) -> Any:
    """Return the factors of a matrix that is not singular."""
    lu, pivots, is_singular = lu_factor(stop_gradient(a))
    if is_singular != 0:
        raise Unsupported(
            "the determinant of a singular matrix on a GPU", "compute it with `target='cpu'`"
        )
    return lu, pivots


def regular_det(a: Any) -> Any:
    """`np.linalg.det` on a GPU; a matrix that elimination finds singular is an error.

    `singular_det` would take each thread memory that it hardly ever needs.
    """
    square(a)
    a = _floating(a)
    lu, pivots = _regular(a)
    return determinant(a, lu, pivots)


def regular_slogdet(a: Any) -> Any:
    """`np.linalg.slogdet` on a GPU, like `regular_det`."""
    square(a)
    a = _floating(a)
    lu, pivots = _regular(a)
    return SlogdetResult(_sign(lu, pivots), log_determinant(a, lu, pivots))


# --- Cholesky -------------------------------------------------------------------------------------


def _cholesky(a: Any) -> Any:
    factor, failed = cholesky_factor(a)
    # Libraries differ in what they say of NaN.
    if failed != 0 or not np.all(np.diagonal(factor) > 0):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return factor


def cholesky(a: Any, *, upper: bool = False) -> Any:
    """`np.linalg.cholesky`: reads one triangle."""
    square(a)
    a = inexact(a)
    if upper:
        return adjoint(_lower(adjoint(a))).copy()
    return _lower(a)


def _lower(a: Any) -> Any:
    if np.iscomplexobj(a):
        found = of_each(_cholesky, real_form_of_triangle(a))
        return joined(found[..., ::2, ::2], found[..., 1::2, ::2])
    return of_each(_cholesky, a)


# --- tensors --------------------------------------------------------------------------------------


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    if axes is not None:
        raise Unsupported("`np.linalg.tensorsolve` with `axes`", "transpose the array before")
    shape = a.shape[b.ndim :]
    size = 1
    for each in shape:
        size *= each
    if a.size != size * size:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement             "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return solve(a.reshape((size, size)), b.ravel()).reshape(shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    """`np.linalg.tensorinv`."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = 1
    for each in a.shape[:ind]:
        rows *= each
    columns = 1
    for each in a.shape[ind:]:
        columns *= each
    return inv(a.reshape((rows, columns))).reshape(a.shape[ind:] + a.shape[:ind])
