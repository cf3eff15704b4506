"""Linear algebra of matrices and of stacks of them, in terms of LAPACK's routines.

A stack is a loop over its matrices, which are broadcast first. Errors are those of NumPy.
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
from adc.library.linear.general import general, general_values, general_vectors, scaled
from adc.library.linear.routines import (
    cholesky_factor,
    determinant,
    log_determinant,
    lu_factor,
    lu_solve,
    mirrored,
)
from adc.library.linear.spectral import (
    beside,
    directions,
    eigenvalues,
    eigenvectors,
    full_singular,
    householder,
    least,
    orthonormal,
    precision,
    singular,
    singular_values,
    sizes,
    symmetric,
    symmetric_values,
)
from adc.library.linear.unitary import (
    complex_directions,
    complex_householder,
    complex_orthonormal,
    complex_singular,
    complex_sizes,
    hermitian,
    hermitian_values,
    hermitian_vectors,
    in_phase,
    opposed,
    phases,
)

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))
EigResult = type(np.linalg.eig(np.eye(1)))
EighResult = type(np.linalg.eigh(np.eye(1)))
QRResult = type(np.linalg.qr(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))


def _wide(a: Any) -> None:
    if a.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")


def _floating(a: Any) -> Any:
    _wide(a)
    if np.iscomplexobj(a):
        raise Unsupported(
            "the determinant of a complex matrix on a GPU", "compute it with `target='cpu'`"
        )
    return a if a.dtype == np.float32 else a.astype(np.float64)


def _real_of(a: Any) -> Any:
    """Return the dtype of the parts of numbers."""
    return np.real(a).dtype


def _inexact(a: Any) -> Any:
    """Return an array of floats or complex numbers that LAPACK knows."""
    _wide(a)
    return a if a.dtype == np.float32 or np.iscomplexobj(a) else a.astype(np.float64)


def _square(a: Any) -> None:
    if a.shape[-2] != a.shape[-1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _count(a: Any) -> Any:
    """Return how many matrices there are in a stack."""
    count = 1
    for size in a.shape[:-2]:
        count *= size
    return count


def _flat(a: Any) -> Any:
    """Return a stack with one axis before those of the matrices."""
    if a.ndim == 3:
        return a
    return a.reshape((_count(a), a.shape[-2], a.shape[-1]))


def _together(left: Any, right: Any) -> Any:
    """Return the shape that two shapes are broadcast to."""
    if len(left) < len(right):
        left, right = right, left
    rest = len(left) - len(right)
    shape = left[:rest]
    for one, other in zip(left[rest:], right, strict=True):
        shape = (*shape, other if one == 1 else one)
    return shape


def _unflat(found: Any, outer: Any) -> Any:
    """Return an array with the axes of a stack in place of the first one."""
    if len(outer) == 1:
        return found
    return found.reshape((*outer, *found.shape[1:]))


# --- LU -------------------------------------------------------------------------------------------


def _solve(a: Any, b: Any) -> Any:
    lu, pivots, is_singular = lu_factor(stop_gradient(a))
    if is_singular != 0:
        raise np.linalg.LinAlgError("Singular matrix")
    return lu_solve(a, lu, pivots, b, False)


def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve`."""
    _square(a)
    a = _inexact(a)
    b = _inexact(b)
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
    outer = _together(a.shape[:-2], b.shape[:-2])
    left = _flat(np.broadcast_to(a, outer + a.shape[-2:]))
    right = _flat(np.broadcast_to(b, outer + b.shape[-2:]))
    found = np.empty(right.shape, right.dtype)
    for k in range(right.shape[0]):
        found[k] = _solve(left[k], right[k])
    return _unflat(found, outer)


def _inv(a: Any) -> Any:
    return _solve(a, np.eye(a.shape[0], dtype=a.dtype))


def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    _square(a)
    a = _inexact(a)
    if np.iscomplexobj(a):
        return halves(_real_inv(real_form(a))[..., : a.shape[-1]])
    return _real_inv(a)


def _real_inv(a: Any) -> Any:
    if a.ndim == 2:
        return _inv(a)
    flat = _flat(a)
    found = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _inv(flat[k])
    return _unflat(found, a.shape[:-2])


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
    _square(a)
    a = _inexact(a)
    if a.ndim == 2:
        return _det(a)
    flat = _flat(a)
    found = np.empty(flat.shape[0], a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _det(flat[k])
    return _unflat(found, a.shape[:-2])


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
    _square(a)
    a = _inexact(a)
    if a.ndim == 2:
        sign, value = _slogdet(a)
        return SlogdetResult(sign, value)
    flat = _flat(a)
    signs = np.empty(flat.shape[0], a.dtype)
    values = np.empty(flat.shape[0], np.real(a).dtype)
    for k in range(flat.shape[0]):
        signs[k], values[k] = _slogdet(flat[k])
    return SlogdetResult(_unflat(signs, a.shape[:-2]), _unflat(values, a.shape[:-2]))


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
    _square(a)
    a = _floating(a)
    lu, pivots = _regular(a)
    return determinant(a, lu, pivots)


def regular_slogdet(a: Any) -> Any:
    """`np.linalg.slogdet` on a GPU, like `regular_det`."""
    _square(a)
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
    _square(a)
    a = _inexact(a)
    if upper:
        return _adjoint(_lower(_adjoint(a))).copy()
    return _lower(a)


def _adjoint(a: Any) -> Any:
    found = np.swapaxes(a, -1, -2)
    return np.conj(found) if np.iscomplexobj(a) else found


def _lower(a: Any) -> Any:
    if np.iscomplexobj(a):
        found = _real_lower(real_form_of_triangle(a))
        return joined(found[..., ::2, ::2], found[..., 1::2, ::2])
    return _real_lower(a)


def _real_lower(a: Any) -> Any:
    if a.ndim == 2:
        return _cholesky(a)
    flat = _flat(a)
    found = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _cholesky(flat[k])
    return _unflat(found, a.shape[:-2])


# --- eigenvalues ----------------------------------------------------------------------------------


def _complex_eigh(a: Any, UPLO: str) -> Any:
    upper = UPLO == "U"
    re = mirrored(a.real.T if upper else a.real)
    im = opposed(-a.imag.T if upper else a.imag)
    w, x, y, failed = hermitian(stop_gradient(re), stop_gradient(im), upper)
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    values, marks = hermitian_values(re, im, w, x, y)
    found = hermitian_vectors(re, im, w, x, y, marks)
    vectors = joined(found[0], found[1])
    if a.shape[0] > 0:
        vectors = in_phase(vectors, vectors[a.shape[0] - 1 if upper else 0])
    return values, vectors


def _eigh(a: Any, UPLO: str) -> Any:
    if np.iscomplexobj(a):
        return _complex_eigh(a, UPLO)
    a = mirrored(a if UPLO == "L" else a.T)
    w, x, failed = symmetric(stop_gradient(a), UPLO == "U")
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    values, marks = eigenvalues(a, w, x)
    return values, eigenvectors(a, w, x, marks)


def _triangle(UPLO: str) -> str:
    if UPLO in ("L", "l"):
        return "L"
    if UPLO in ("U", "u"):
        return "U"
    raise ValueError("UPLO argument must be 'L' or 'U'")


def eigh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`."""
    _square(a)
    a = _inexact(a)
    UPLO = _triangle(UPLO)
    if a.ndim == 2:
        values, x = _eigh(a, UPLO)
        return EighResult(values, x)
    flat = _flat(a)
    found = np.empty(flat.shape[:2], _real_of(a))
    vectors = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        values, x = _eigh(flat[k], UPLO)
        found[k] = values
        vectors[k] = x
    return EighResult(_unflat(found, a.shape[:-2]), _unflat(vectors, a.shape[:-2]))


def _eigvalsh(a: Any, UPLO: str) -> Any:
    if np.iscomplexobj(a):
        return _complex_eigh(a, UPLO)[0]
    values, failed = symmetric_values(mirrored(a if UPLO == "L" else a.T), UPLO == "U")
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`."""
    _square(a)
    a = _inexact(a)
    UPLO = _triangle(UPLO)
    if a.ndim == 2:
        return _eigvalsh(a, UPLO)
    flat = _flat(a)
    found = np.empty(flat.shape[:2], _real_of(a))
    for k in range(flat.shape[0]):
        found[k] = _eigvalsh(flat[k], UPLO)
    return _unflat(found, a.shape[:-2])


def _eig(a: Any) -> Any:
    re, im = a.real.copy(), a.imag.copy()
    wx, wy, x, y, failed = general(stop_gradient(re), stop_gradient(im))
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    ux, uy, marks = general_values(re, im, wx, wy, x, y)
    vx, vy = general_vectors(re, im, wx, wy, x, y, marks)
    return joined(ux, uy), scaled(joined(vx, vy))


def _of_eig(a: Any) -> Any:
    if not np.iscomplexobj(a):
        raise Unsupported(
            "`np.linalg.eig` or `eigvals` of a real matrix (values decide whether it is complex)",
            "pass `a.astype(complex)`, or use `eigh` if it is symmetric",
        )  # fmt: skip
    _square(a)
    if not np.all(np.isfinite(a)):
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return a


def eig(a: Any) -> Any:
    """`np.linalg.eig` of complex matrices."""
    a = _of_eig(a)
    if a.ndim == 2:
        values, x = _eig(a)
        return EigResult(values, x)
    flat = _flat(a)
    found = np.empty(flat.shape[:2], a.dtype)
    vectors = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        values, x = _eig(flat[k])
        found[k] = values
        vectors[k] = x
    return EigResult(_unflat(found, a.shape[:-2]), _unflat(vectors, a.shape[:-2]))


def eigvals(a: Any) -> Any:
    """`np.linalg.eigvals` of complex matrices."""
    a = _of_eig(a)
    if a.ndim == 2:
        return _eig(a)[0]
    flat = _flat(a)
    found = np.empty(flat.shape[:2], a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _eig(flat[k])[0]
    return _unflat(found, a.shape[:-2])


def missing_eig(a: Any) -> Any:
    """`np.linalg.eig` and `eigvals` on a GPU."""
    raise Unsupported("this function on a GPU", "compute it with `target='cpu'`")


# --- QR -------------------------------------------------------------------------------------------


def _qr(a: Any) -> Any:
    count = min(a.shape[0], a.shape[1])
    if np.iscomplexobj(a):
        first = a[:, :count]
        qx, qy, rx, ry = complex_orthonormal(first.real.copy(), first.imag.copy())
        q, r = joined(qx, qy), joined(rx, ry)
    else:
        q, r = orthonormal(a[:, :count])
    if count < a.shape[1]:
        r = np.concatenate((r, _adjoint(q) @ a[:, count:]), axis=1)
    return q, r


def qr(a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr`."""
    a = _inexact(a)
    if mode == "raw":
        raise Unsupported("`mode='raw'`", "use `mode='reduced'`")
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    if mode == "complete":
        if a.ndim > 2:
            raise Unsupported("`mode='complete'` for a stack of matrices", "loop over the stack")
        rows = a.shape[0]
        q, r = complex_householder(a, rows) if np.iscomplexobj(a) else householder(a, rows)
        return QRResult(q, r)
    if a.ndim == 2:
        q, r = _qr(a)
        return r if mode == "r" else QRResult(q, r)
    flat = _flat(a)
    m, n = a.shape[-2], a.shape[-1]
    size = min(m, n)
    left = np.empty((flat.shape[0], m, size), a.dtype)
    right = np.empty((flat.shape[0], size, n), a.dtype)
    for k in range(flat.shape[0]):
        q, r = _qr(flat[k])
        left[k] = q
        right[k] = r
    outer = a.shape[:-2]
    r = _unflat(right, outer)
    return r if mode == "r" else QRResult(_unflat(left, outer), r)


# --- singular values ------------------------------------------------------------------------------


def _complex_svd(a: Any) -> Any:
    re, im = a.real.copy(), a.imag.copy()
    ux, uy, s, vx, vy, failed = complex_singular(stop_gradient(re), stop_gradient(im))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    values, marks = complex_sizes(re, im, ux, uy, s, vx, vy)
    found = complex_directions(re, im, ux, uy, s, vx, vy, marks)
    x, y = joined(found[0], found[1]), joined(found[2], found[3])
    if s.shape[0] > 0:
        factors = phases(x, x[0] if a.shape[0] < a.shape[1] else np.conj(y[:, 0]))
        x = x * factors
        y = y * np.conj(factors)[:, None]
    return x, values, y


def _svd(a: Any) -> Any:
    if np.iscomplexobj(a):
        return _complex_svd(a)
    u, s, vt, failed = singular(stop_gradient(a))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    values, marks = sizes(a, u, s, vt)
    x, y = directions(a, u, s, vt, marks)
    return x, values, y


def _full_svd(a: Any) -> Any:
    if np.iscomplexobj(a):
        if a.shape[0] != a.shape[1]:
            raise Unsupported(
                "`full_matrices=True` for a complex matrix that is not square",
                "pass `full_matrices=False`",
            )
        return _complex_svd(a)
    if a.shape[0] == 0 or a.shape[1] == 0:
        u, vt = np.eye(a.shape[0], dtype=a.dtype), np.eye(a.shape[1], dtype=a.dtype)
        return u, np.empty(0, a.dtype), vt
    left, s, right, failed = full_singular(stop_gradient(a))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    k = s.shape[0]
    u, vt = left[:, :k].copy(), right[:k].copy()
    values, marks = sizes(a, u, s, vt)
    x, y = directions(a, u, s, vt, marks)
    # Two calls, so that what nobody uses is not computed.
    if a.shape[0] > a.shape[1]:
        rest = beside(a.T.copy(), vt.T.copy(), s, u.T.copy(), left[:, k:].copy())
        return np.concatenate((x, rest), axis=1), values, y
    rest = beside(a, u, s, vt, right[k:].T.copy())
    return x, values, np.concatenate((y, rest.T))


def regular_svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """`np.linalg.svd` on a GPU."""
    if full_matrices and compute_uv and not hermitian and a.shape[-2] != a.shape[-1]:
        raise Unsupported(
            "`full_matrices=True` for a matrix that is not square, on a GPU,",
            "pass `full_matrices=False`, or compute it with `target='cpu'`",
        )
    return svd(a, full_matrices, compute_uv, hermitian)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """`np.linalg.svd`."""
    a = _inexact(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if not compute_uv:
        return svdvals(a)
    m, n = a.shape[-2], a.shape[-1]
    if a.ndim == 2:
        u, s, vt = _full_svd(a) if full_matrices else _svd(a)
        return SVDResult(u, s, vt)
    flat = _flat(a)
    count, size, outer = flat.shape[0], min(m, n), a.shape[:-2]
    us = np.empty((count, m, m if full_matrices else size), a.dtype)
    found = np.empty((count, size), _real_of(a))
    vts = np.empty((count, n if full_matrices else size, n), a.dtype)
    for k in range(count):
        u, s, vt = _full_svd(flat[k]) if full_matrices else _svd(flat[k])
        us[k] = u
        found[k] = s
        vts[k] = vt
    return SVDResult(_unflat(us, outer), _unflat(found, outer), _unflat(vts, outer))


def _hermitian_svd(a: Any, compute_uv: bool) -> Any:
    """Return the singular values, and vectors, of matrices that are their lower triangles'."""
    if not compute_uv:
        return np.sort(np.abs(eigvalsh(a)), axis=-1)[..., ::-1]
    values, vectors = eigh(a)
    order = np.argsort(np.abs(values), axis=-1)[..., ::-1]
    values = np.take_along_axis(values, order, axis=-1)
    u = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    v = np.swapaxes(u * np.sign(values)[..., None, :], -1, -2)
    return SVDResult(u, np.abs(values), np.conj(v) if np.iscomplexobj(a) else v)


def _of_lower_triangle(a: Any) -> Any:
    """Return the symmetric or Hermitian matrix with a lower triangle, as `eigh` takes one."""
    _square(a)
    below = np.tril(a, -1)
    if np.iscomplexobj(a):
        diagonal = np.where(np.eye(a.shape[-1], dtype=np.bool_), a.real, 0)
        return below + np.conj(np.swapaxes(below, -1, -2)) + diagonal
    return np.tril(a) + np.swapaxes(below, -1, -2)


def _svdvals(a: Any) -> Any:
    if np.iscomplexobj(a):
        return _complex_svd(a)[1]
    s, failed = singular_values(a)
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    return s


def svdvals(x: Any) -> Any:
    """`np.linalg.svdvals`."""
    a = _inexact(x)
    if a.ndim == 2:
        return _svdvals(a)
    flat = _flat(a)
    size = min(a.shape[-2], a.shape[-1])
    found = np.empty((flat.shape[0], size), _real_of(a))
    for k in range(flat.shape[0]):
        found[k] = _svdvals(flat[k])
    return _unflat(found, a.shape[:-2])


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
    a = _inexact(a)
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
    flat = _flat(a)
    found = np.empty((flat.shape[0], a.shape[-1], a.shape[-2]), a.dtype)
    for k in range(flat.shape[0]):
        found[k] = _pinv(flat[k], rcond)
    return _unflat(found, a.shape[:-2])


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`; where the rank is not full the solution jumps, its derivative is NaN."""
    m, n = a.shape
    if m != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    a = _inexact(a)
    b = _inexact(b)
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
        return (x[:, 0] if b.ndim == 1 else x), found[1], np.int32(found[2] // 2), _svdvals(a)
    found = _real_lstsq(a, right, m, n, cut)
    x = found[0]
    return (x[:, 0] if b.ndim == 1 else x), found[1], np.int32(found[2]), _svdvals(a)


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
    a = _inexact(A)
    s = svd(a, True, False, True) if hermitian else svdvals(a)
    if rtol is None:
        rtol = max(a.shape[-2], a.shape[-1]) * precision(s)
    if a.ndim == 2:
        tol = np.max(s, initial=0.0) * rtol if tol is None else tol
        return np.int64(_matrix_rank(s, tol))
    rows = s.reshape((_count(a), s.shape[-1]))
    found = np.empty(rows.shape[0], np.int64)
    for k in range(rows.shape[0]):
        found[k] = _matrix_rank(
            rows[k], np.max(rows[k], initial=0.0) * rtol if tol is None else tol
        )
    return _unflat(found, a.shape[:-2])


def _cond(a: Any, p: Any) -> Any:
    if p is None or p == 2 or p == -2:
        s = _svdvals(a)
        found = s[-1] / s[0] if p == -2 else s[0] / s[-1]
    else:
        _square(a)
        whole = real_form(a) if np.iscomplexobj(a) else a
        lu, pivots, is_singular = lu_factor(stop_gradient(whole))
        if is_singular != 0:
            return whole.dtype.type(np.inf)
        if np.iscomplexobj(a):
            return norm(a, p) * norm(inv(a), p)
        unit = np.eye(a.shape[0], dtype=a.dtype)
        found = norm(a, p) * norm(lu_solve(a, lu, pivots, unit, False), p)
    if np.isnan(found) and not np.any(np.isnan(a)):
        return _real_of(a).type(np.inf)
    return found


def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`."""
    a = _inexact(x)
    if a.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if a.ndim == 2:
        return _cond(a, p)
    flat = _flat(a)
    found = np.empty(flat.shape[0], _real_of(a))
    for k in range(flat.shape[0]):
        found[k] = _cond(flat[k], p)
    return _unflat(found, a.shape[:-2])


# --- tensors and products -------------------------------------------------------------------------


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


def _dots(arrays: Any) -> Any:
    found = arrays[0]
    for each in arrays[1:]:
        found = found @ each
    return found


def _dots_from_the_right(arrays: Any) -> Any:
    found = arrays[-1]
    for each in arrays[-2::-1]:
        found = each @ found
    return found


def _columns(a: Any) -> Any:
    return a.shape[1] if a.ndim == 2 else 1


def multi_dot(arrays: Any) -> Any:
    """`np.linalg.multi_dot`, from the left or from the right, whichever multiplies less."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return arrays[0] @ arrays[1]
    rows = arrays[0].shape[0] if arrays[0].ndim == 2 else 1
    columns = _columns(arrays[-1])
    left, right = 0, 0
    for each in arrays[1:]:
        left += rows * each.shape[0] * _columns(each)
    for each in arrays[:-1]:
        right += each.size * columns
    if right < left:
        return _dots_from_the_right(arrays)
    return _dots(arrays)


# --- norms ----------------------------------------------------------------------------------------


def _summable(x: Any) -> Any:
    """Return an array of floats or complex numbers."""
    return x if x.dtype.kind == "f" or np.iscomplexobj(x) else x.astype(np.float64)


def _root(x: Any) -> Any:
    return np.sqrt(x)


def _squares(x: Any) -> Any:
    return x.real * x.real + x.imag * x.imag if np.iscomplexobj(x) else x * x


def _of_vectors(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return _root(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0.0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.real(x).dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors")
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _of_matrices(x: Any, ord: Any) -> Any:
    """Return the norms of a matrix, or of those of a stack."""
    if ord is None or ord == "fro":
        return _root(np.sum(_squares(x), axis=(-2, -1)))
    if ord == "nuc":
        return np.sum(svdvals(x), axis=-1)
    if ord == 2:
        return np.max(svdvals(x), axis=-1, initial=0.0)
    if ord == -2:
        return np.min(svdvals(x), axis=-1)
    if ord == 1:
        return np.max(np.sum(np.abs(x), axis=-2), axis=-1, initial=0.0)
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=-2), axis=-1)
    if ord == np.inf:
        return np.max(np.sum(np.abs(x), axis=-1), axis=-1, initial=0.0)
    if ord == -np.inf:
        return np.min(np.sum(np.abs(x), axis=-1), axis=-1)
    raise ValueError("Invalid norm order for matrices.")


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`."""
    x = _summable(x)
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        if x.dtype == np.float16:  # the squares are not rounded
            found = _root(np.dot(x.ravel(), x.ravel()))
            return np.reshape(found, (1,) * x.ndim) if keepdims else found
        return _root(np.sum(_squares(x), keepdims=keepdims))
    if axis is None:
        if x.ndim == 1:
            return _of_vectors(x, ord, axis, keepdims)
        if x.ndim > 2:
            raise ValueError("Improper number of dimensions to norm.")
        found = _of_matrices(x, ord)
        return np.reshape(found, (1, 1)) if keepdims else found
    if isinstance(axis, tuple):
        if len(axis) == 1:
            return _of_vectors(x, ord, axis, keepdims)
        if len(axis) != 2:
            raise ValueError("Improper number of dimensions to norm.")
        if ord is None:
            return _root(np.sum(_squares(x), axis=axis, keepdims=keepdims))
        found = _of_matrices(np.moveaxis(x, axis, (-2, -1)), ord)
        return np.expand_dims(found, axis) if keepdims else found
    return _of_vectors(x, ord, axis, keepdims)


def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`."""
    x = _summable(x)
    if axis is None:
        found = _of_vectors(x.ravel(), ord, None, False)
        return np.reshape(found, (1,) * x.ndim) if keepdims else found
    return _of_vectors(x, ord, axis, keepdims)


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    x = _summable(x)
    found = _of_matrices(x, ord)
    return np.expand_dims(found, (-2, -1)) if keepdims else found
