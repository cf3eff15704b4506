"""Eigenvectors, QR and singular values, of matrices and of stacks of them.

Errors are those of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.linear.complexes import joined
from adc.library.linear.general import (
    general,
    general_values,
    general_vectors,
    real_general,
    scaled,
    unpacked,
)
from adc.library.linear.routines import mirrored
from adc.library.linear.spectral import (
    beside,
    directions,
    eigenvalues,
    eigenvectors,
    full_singular,
    householder,
    orthonormal,
    singular,
    singular_values,
    sizes,
    symmetric,
    symmetric_values,
)
from adc.library.linear.stacks import adjoint, flattened, inexact, real_of, square, unflattened
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

EigResult = type(np.linalg.eig(np.eye(1)))
EighResult = type(np.linalg.eigh(np.eye(1)))
QRResult = type(np.linalg.qr(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))

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
    square(a)
    a = inexact(a)
    UPLO = _triangle(UPLO)
    if a.ndim == 2:
        values, x = _eigh(a, UPLO)
        return EighResult(values, x)
    flat = flattened(a)
    found = np.empty(flat.shape[:2], real_of(a))
    vectors = np.empty(flat.shape, a.dtype)
    for k in range(flat.shape[0]):
        values, x = _eigh(flat[k], UPLO)
        found[k] = values
        vectors[k] = x
    return EighResult(unflattened(found, a.shape[:-2]), unflattened(vectors, a.shape[:-2]))


def _eigvalsh(a: Any, UPLO: str) -> Any:
    if np.iscomplexobj(a):
        return _complex_eigh(a, UPLO)[0]
    values, failed = symmetric_values(mirrored(a if UPLO == "L" else a.T), UPLO == "U")
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`."""
    square(a)
    a = inexact(a)
    UPLO = _triangle(UPLO)
    if a.ndim == 2:
        return _eigvalsh(a, UPLO)
    flat = flattened(a)
    found = np.empty(flat.shape[:2], real_of(a))
    for k in range(flat.shape[0]):
        found[k] = _eigvalsh(flat[k], UPLO)
    return unflattened(found, a.shape[:-2])


def _eig(a: Any) -> Any:
    if np.iscomplexobj(a):
        re, im = a.real.copy(), a.imag.copy()
        wx, wy, x, y, failed = general(stop_gradient(re), stop_gradient(im))
    else:
        re, im = a.copy(), np.zeros_like(a)
        wx, wy, packed, failed = real_general(stop_gradient(re))
        x, y = unpacked(wy, packed)
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    ux, uy, marks = general_values(re, im, wx, wy, x, y)
    vx, vy = general_vectors(re, im, wx, wy, x, y, marks)
    return joined(ux, uy), scaled(joined(vx, vy))


def _of_eig(a: Any) -> Any:
    square(a)
    a = inexact(a)
    if not np.all(np.isfinite(a)):
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")
    return a


def complex_eig(a: Any) -> Any:
    """Return eigenvalues and eigenvectors, as complex numbers whatever they are."""
    a = _of_eig(a)
    if a.ndim == 2:
        return _eig(a)
    flat = flattened(a)
    found = np.empty(flat.shape[:2], a.dtype) + 0j
    vectors = np.empty(flat.shape, a.dtype) + 0j
    for k in range(flat.shape[0]):
        values, x = _eig(flat[k])
        found[k] = values
        vectors[k] = x
    return unflattened(found, a.shape[:-2]), unflattened(vectors, a.shape[:-2])


def complex_eigvals(a: Any) -> Any:
    """Return eigenvalues, as complex numbers whatever they are."""
    a = _of_eig(a)
    if a.ndim == 2:
        return _eig(a)[0]
    flat = flattened(a)
    found = np.empty(flat.shape[:2], a.dtype) + 0j
    for k in range(flat.shape[0]):
        found[k] = _eig(flat[k])[0]
    return unflattened(found, a.shape[:-2])


def eig(a: Any) -> Any:
    """`np.linalg.eig`: the values of a real matrix decide whether the result is complex."""
    values, x = complex_eig(a)
    if not np.iscomplexobj(a) and np.all(values.imag == 0.0):
        return EigResult(values.real, x.real)
    return EigResult(values, x)


def eigvals(a: Any) -> Any:
    """`np.linalg.eigvals`: those of a real matrix are complex if any of them is."""
    values = complex_eigvals(a)
    if not np.iscomplexobj(a) and np.all(values.imag == 0.0):
        return values.real
    return values


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
        r = np.concatenate((r, adjoint(q) @ a[:, count:]), axis=1)
    return q, r


def qr(a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr`."""
    a = inexact(a)
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
    flat = flattened(a)
    m, n = a.shape[-2], a.shape[-1]
    size = min(m, n)
    left = np.empty((flat.shape[0], m, size), a.dtype)
    right = np.empty((flat.shape[0], size, n), a.dtype)
    for k in range(flat.shape[0]):
        q, r = _qr(flat[k])
        left[k] = q
        right[k] = r
    outer = a.shape[:-2]
    r = unflattened(right, outer)
    return r if mode == "r" else QRResult(unflattened(left, outer), r)


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
    a = inexact(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if not compute_uv:
        return svdvals(a)
    m, n = a.shape[-2], a.shape[-1]
    if a.ndim == 2:
        u, s, vt = _full_svd(a) if full_matrices else _svd(a)
        return SVDResult(u, s, vt)
    flat = flattened(a)
    count, size, outer = flat.shape[0], min(m, n), a.shape[:-2]
    us = np.empty((count, m, m if full_matrices else size), a.dtype)
    found = np.empty((count, size), real_of(a))
    vts = np.empty((count, n if full_matrices else size, n), a.dtype)
    for k in range(count):
        u, s, vt = _full_svd(flat[k]) if full_matrices else _svd(flat[k])
        us[k] = u
        found[k] = s
        vts[k] = vt
    return SVDResult(unflattened(us, outer), unflattened(found, outer), unflattened(vts, outer))


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


def svdvals_of_one(a: Any) -> Any:
    if np.iscomplexobj(a):
        return _complex_svd(a)[1]
    s, failed = singular_values(a)
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    return s


def svdvals(x: Any) -> Any:
    """`np.linalg.svdvals`."""
    a = inexact(x)
    if a.ndim == 2:
        return svdvals_of_one(a)
    flat = flattened(a)
    size = min(a.shape[-2], a.shape[-1])
    found = np.empty((flat.shape[0], size), real_of(a))
    for k in range(flat.shape[0]):
        found[k] = svdvals_of_one(flat[k])
    return unflattened(found, a.shape[:-2])
