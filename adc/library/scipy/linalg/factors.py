"""Eigenvectors, QR, singular values and polar factors of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear import linalg
from adc.library.linear.complexes import halves, joined, real_form
from adc.library.linear.factors import complex_eig, complex_eigvals
from adc.library.linear.routines import flag, mirrored
from adc.library.linear.spectral import (
    eigenvalues,
    eigenvectors,
    singular,
    symmetric,
    symmetric_values,
)
from adc.library.linear.unitary import hermitian_values, hermitian_vectors, in_phase, opposed
from adc.library.rules import exact
from adc.library.scipy.linalg.checks import adjoint, alike, square, validated
from adc.library.scipy.linalg.equations import sylvester
from adc.library.scipy.linalg.solves import of_triangle
from adc.library.scipy.linalg.triangles import solved

# --- eigenvalues of symmetric matrices ------------------------------------------------------------


def _arrays(a: Any, upper: Any, first: Any, last: Any) -> Any:
    return np.empty(a.shape[0], a.dtype), np.empty(a.shape, a.dtype), flag()


@exact("eigh_robust", _arrays)
def symmetric_robust(a: Any, upper: Any, first: Any, last: Any) -> Any:
    """Return what `spectral.symmetric` does, by the method that SciPy chooses: signs may differ.

    Of the values from number `first` to `last`, counted from one: they and their vectors come
    first. Threads of a GPU have no such routine: in Python it fails.
    """
    return np.zeros(a.shape[0], a.dtype), np.zeros(a.shape, a.dtype), 1


def _robust_record(a: Any, upper: Any, first: Any, last: Any) -> Any:
    return symmetric_robust(a, upper, first, last), None


def _robust_reverse(kept: Any, cts: Any) -> Any:
    return None, None, None, None


def _robust_tangent(primals: Any, tangents: Any) -> Any:
    found = symmetric_robust(primals[0], primals[1], primals[2], primals[3])
    return found, (np.zeros_like(found[0]), np.zeros_like(found[1]), None)


symmetric_robust.define(_robust_record, _robust_reverse, _robust_tangent)


def _complex_arrays(re: Any, im: Any, upper: Any, first: Any, last: Any) -> Any:
    n = re.shape[0]
    return np.empty(n, re.dtype), np.empty((n, n), re.dtype), np.empty((n, n), re.dtype), flag()


@exact("hermitian_robust", _complex_arrays)
def hermitian_robust(re: Any, im: Any, upper: Any, first: Any, last: Any) -> Any:
    """Return what `unitary.hermitian` does, by that method."""
    x = np.zeros(re.shape, re.dtype)
    return np.zeros(re.shape[0], re.dtype), x, x.copy(), 1


def _hermitian_record(re: Any, im: Any, upper: Any, first: Any, last: Any) -> Any:
    return hermitian_robust(re, im, upper, first, last), None


def _hermitian_reverse(kept: Any, cts: Any) -> Any:
    return None, None, None, None, None


def _hermitian_tangent(primals: Any, tangents: Any) -> Any:
    found = hermitian_robust(primals[0], primals[1], primals[2], primals[3], primals[4])
    w, x = np.zeros_like(found[0]), np.zeros_like(found[1])
    return found, (w, x, x.copy(), None)


hermitian_robust.define(_hermitian_record, _hermitian_reverse, _hermitian_tangent)


def _converged(failed: Any) -> None:
    if failed != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")


def _turn(vectors: Any, others: Any, first: Any, last: Any) -> None:
    """Give vectors the signs that they have where only some of them are computed."""
    for j in range(first, last + 1):
        s = vectors.dtype.type(0)
        for i in range(vectors.shape[0]):
            s += vectors[i, j] * others[i, j - first]
        if s < 0:
            for i in range(vectors.shape[0]):
                vectors[i, j] = -vectors[i, j]


def _standard(a: Any, lower: Any, first: Any, last: Any) -> Any:
    n = a.shape[0]
    if np.iscomplexobj(a):
        re = mirrored(a.real if lower else a.real.T)
        im = opposed(a.imag if lower else -a.imag.T)
        p, q = stop_gradient(re), stop_gradient(im)
        w, x, y, failed = hermitian_robust(p, q, not lower, 1, n)
        _converged(failed)
        if first is not None:
            _, u, v, failed = hermitian_robust(p, q, not lower, first + 1, last + 1)
            _converged(failed)
            both = np.concatenate((x, y))
            _turn(both, np.concatenate((u, v)), first, last)
            x, y = both[:n].copy(), both[n:].copy()
        values, marks = hermitian_values(re, im, w, x, y)
        found = hermitian_vectors(re, im, w, x, y, marks)
        vectors = joined(found[0], found[1])
        if n > 0:
            vectors = in_phase(vectors, vectors[0 if lower else n - 1])
        return values, vectors
    a = mirrored(a if lower else a.T)
    p = stop_gradient(a)
    w, x, failed = symmetric_robust(p, not lower, 1, n)
    _converged(failed)
    if first is not None:
        _, u, failed = symmetric_robust(p, not lower, first + 1, last + 1)
        _converged(failed)
        _turn(x, u, first, last)
    values, marks = eigenvalues(a, w, x)
    return values, eigenvectors(a, w, x, marks)


def _by_division(a: Any, lower: Any) -> Any:
    found = linalg.eigh(a, "L" if lower else "U")
    return found[0], found[1]


def _values(a: Any, lower: Any) -> Any:
    if np.iscomplexobj(a):
        return _standard(a, lower, None, None)[0]
    values, failed = symmetric_values(mirrored(a if lower else a.T), not lower)
    _converged(failed)
    return values


def _generalized(a: Any, b: Any, lower: Any, type: int, vectors: Any, first: Any, last: Any) -> Any:
    """Return values and vectors for two matrices, by the Cholesky factor of the second one."""
    a, b = alike(a, b)
    a = of_triangle(a, lower, True)
    low = linalg.cholesky(of_triangle(b, lower, True))
    if type == 1:
        half = adjoint(solved(low, a, False))
        reduced = adjoint(solved(low, half, False))
    else:
        reduced = adjoint(low) @ a @ low
    if not vectors:
        return _values(reduced, lower), low
    if first is None:
        w, y = _by_division(reduced, lower)
    else:
        w, y = _standard(reduced, lower, first, last)
    if type == 3:
        return w, low @ y
    return w, solved(np.conj(low) if np.iscomplexobj(low) else low, y, True)


def eigh(
    a: Any, b: Any = None, lower: Any = True, eigvals_only: Any = False, type: int = 1,
    check_finite: Any = True, first: Any = None, last: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """`scipy.linalg.eigh`, of the values from number `first` to `last`."""
    a = validated(a, check_finite)
    square(a)
    if first is not None and not (0 <= first and first <= last and last < a.shape[0]):
        raise ValueError("Requested eigenvalue indices are not valid.")
    if b is not None:
        b = validated(b, check_finite)
        if b.shape[0] != a.shape[0] or b.shape[1] != a.shape[1]:
            raise ValueError("wrong b dimensions")
        values, vectors = _generalized(a, b, lower, type, not eigvals_only, first, last)
    elif eigvals_only:
        values, vectors = _values(a, lower), a
    elif driver == "evd":
        values, vectors = _by_division(a, lower)
    else:
        values, vectors = _standard(a, lower, first, last)
    if first is not None:
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return values if eigvals_only else (values, vectors)


def eigvalsh(
    a: Any, b: Any = None, lower: Any = True, type: int = 1, check_finite: Any = True,
    first: Any = None, last: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """`scipy.linalg.eigvalsh`."""
    return eigh(a, b, lower, True, type, check_finite, first, last, driver)


# --- eigenvalues of any matrices ------------------------------------------------------------------


def eig(a: Any, right: Any = True, check_finite: Any = True) -> Any:
    """`scipy.linalg.eig`: only the vectors of a real matrix may be real."""
    a = validated(a, check_finite)
    square(a)
    if not right:
        return eigvals(a, False)
    values, x = complex_eig(a)
    if not np.iscomplexobj(a) and np.all(values.imag == 0.0):
        return values, x.real
    return values, x


def eigvals(a: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.eigvals`."""
    a = validated(a, check_finite)
    square(a)
    return complex_eigvals(a)


# --- QR and singular values -----------------------------------------------------------------------


def qr(a: Any, mode: str = "full", check_finite: Any = True) -> Any:
    """`scipy.linalg.qr`."""
    a = validated(a, check_finite)
    found = linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return (found[1],) if mode == "r" else (found[0], found[1])


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, check_finite: Any = True) -> Any:
    """`scipy.linalg.svd`."""
    a = validated(a, check_finite)
    if not compute_uv:
        return linalg.svdvals(a)
    u, s, vh = linalg.svd(a, full_matrices)
    return u, s, vh


def regular_svd(
    a: Any, full_matrices: Any = True, compute_uv: Any = True, check_finite: Any = True
) -> Any:
    """`scipy.linalg.svd` on a GPU."""
    a = validated(a, check_finite)
    if not compute_uv:
        return linalg.svdvals(a)
    u, s, vh = linalg.regular_svd(a, full_matrices)
    return u, s, vh


def svdvals(a: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.svdvals`."""
    return linalg.svdvals(validated(a, check_finite))


# --- polar decomposition --------------------------------------------------------------------------


@exact()
def nearest(a: Any, x: Any) -> Any:
    """Return the orthogonal polar factor `x` of a matrix that has no fewer rows than columns.

    Repeated singular values are no trouble (N. J. Higham, Functions of matrices, 2008, chapter 8).
    """
    return x.copy()


def _nearest_record(a: Any, x: Any) -> Any:
    return nearest(a, x), (a, x)


def _turned(a: Any, u: Any, moved: Any) -> Any:
    """Return how the factor moves with the matrix; the map is its own transpose."""
    p = u.T @ a
    p = (p + p.T) / 2
    values, x, failed = symmetric(stop_gradient(p), False)
    _converged(failed)
    # The triangle of a symmetric matrix is a diagonal, and its vectors are real.
    t, zero = np.diag(values), np.zeros(p.shape, p.dtype)
    inner = u.T @ moved
    w = sylvester(p, p, t, zero, x, zero, t, zero, x, zero, inner - inner.T, False)
    found = u @ w
    if a.shape[0] > a.shape[1]:
        found = found + linalg.solve(p, (moved - u @ inner).T).T
    return found


def _nearest_reverse(kept: Any, ct: Any) -> Any:
    a, x = kept
    return _turned(a, nearest(a, x), ct), None


def _nearest_tangent(primals: Any, tangents: Any) -> Any:
    a, x = primals
    u = nearest(a, x)
    return u, _turned(a, u, tangents[0])


nearest.define(_nearest_record, _nearest_reverse, _nearest_tangent)


def _orthogonal(a: Any) -> Any:
    u, _, vt, failed = singular(stop_gradient(a))
    if failed != 0:
        raise np.linalg.LinAlgError("SVD did not converge")
    if a.shape[0] < a.shape[1]:
        return nearest(a.T.copy(), (u @ vt).T.copy()).T.copy()
    return nearest(a, u @ vt)


def polar(a: Any, side: str = "right") -> Any:
    """`scipy.linalg.polar`."""
    a = validated(a)
    if np.iscomplexobj(a):
        u = halves(_orthogonal(real_form(a))[:, : a.shape[1]])
    else:
        u = _orthogonal(a)
    return u, (adjoint(u) @ a if side == "right" else a @ adjoint(u))
