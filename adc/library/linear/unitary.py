"""Unitary factors of complex matrices: routines of LAPACK, with derivative rules (see `spectral`).

A complex matrix is two real ones, its parts. Sources: C. Boeddeker, P. Hanebrink, L. Drude, J.
Heymann, R. Haeb-Umbach, On the computation of complex-valued gradients with application to
statistically optimum beamforming, 2017; J. Townsend, Differentiating the singular value
decomposition, 2016.

Vectors are unique up to a phase. LAPACK makes one component of each real: `in_phase` says so to
derivatives, so that they are also those of functions that depend on the phase. Rules turn no
vector in its own direction. Where that component is zero, they are those of functions that do not
depend on the phase.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear.complexes import joined, real_form_of_triangle
from adc.library.linear.routines import flag, solve_lower
from adc.library.linear.spectral import (
    directions_reverse,
    directions_tangent,
    over,
    place_rows,
    precision,
    spread_of,
    unless_marked,
    vectors_reverse,
    vectors_tangent,
)
from adc.library.rules import exact


def in_phase(x: Any, pivots: Any) -> Any:
    """Return columns in the phase in which these components, one of each column, are real."""
    found = x.copy()
    factors = phases(x, pivots)
    for j in range(x.shape[1]):
        found[:, j] = x[:, j] * factors[j]
    return found


def phases(x: Any, pivots: Any) -> Any:
    """Return the factors of modulus 1 that make real numbers of `pivots`, without their signs."""
    found = np.ones(pivots.shape, x.dtype)
    least = np.sqrt(precision(x.real))
    for j in range(pivots.shape[0]):
        size = abs(pivots[j])
        if size > least:
            turned = np.conj(pivots[j]) / size
            found[j] = turned if stop_gradient(pivots[j]).real > 0 else -turned
    return found


def opposed(a: Any) -> Any:
    """Return the matrix that equals minus its transpose, with a lower triangle."""
    low = np.tril(a, -1)
    return low - low.T


# --- eigenvalues and eigenvectors -----------------------------------------------------------------


def _eigen_arrays(re: Any, im: Any, upper: Any) -> Any:
    n = re.shape[0]
    return np.empty(n, re.dtype), np.empty((n, n), re.dtype), np.empty((n, n), re.dtype), flag()


@exact("hermitian", _eigen_arrays)
def hermitian(re: Any, im: Any, upper: Any) -> Any:
    """Return eigenvalues in order, both parts of the eigenvectors, and 1 if it failed, else 0.

    `upper` is the triangle that LAPACK reads. In Python, by Jacobi's rotations.
    """
    n = re.shape[0]
    work = joined(re, im)
    turned = np.eye(n) + np.zeros((n, n), work.dtype)
    for _sweep in range(60):
        off, size = 0.0, 0.0
        for p in range(n):
            size += work[p, p].real ** 2
            for q in range(p + 1, n):
                off += abs(work[p, q]) ** 2
        if not off > 1e-34 * size:
            break
        for p in range(n):
            for q in range(p + 1, n):
                length = abs(work[p, q])
                if length == 0:
                    continue
                phase = work[p, q] / length
                tau = (work[q, q].real - work[p, p].real) / (2 * length)
                t = 1 / (abs(tau) + np.sqrt(1 + tau * tau))
                if tau < 0:
                    t = -t
                c = 1 / np.sqrt(1 + t * t)
                s = t * c
                for k in range(n):
                    x, y = work[k, p], work[k, q] * np.conj(phase)
                    work[k, p] = c * x - s * y
                    work[k, q] = s * x + c * y
                for k in range(n):
                    x, y = work[p, k], work[q, k] * phase
                    work[p, k] = c * x - s * y
                    work[q, k] = s * x + c * y
                for k in range(n):
                    x, y = turned[k, p], turned[k, q] * np.conj(phase)
                    turned[k, p] = c * x - s * y
                    turned[k, q] = s * x + c * y
    at = np.argsort(np.diagonal(work).real)
    values = np.empty(n, re.dtype)
    vectors = np.empty((n, n), work.dtype)
    for j in range(n):
        values[j] = work[at[j], at[j]].real
        for i in range(n):
            vectors[i, j] = turned[i, at[j]]
    if n > 0:
        vectors = in_phase(vectors, vectors[n - 1 if upper else 0])
    return values, vectors.real.copy(), vectors.imag.copy(), 0


def _hermitian_record(re: Any, im: Any, upper: Any) -> Any:
    return hermitian(re, im, upper), None


def _hermitian_reverse(kept: Any, cts: Any) -> Any:
    return None, None, None


def _hermitian_tangent(primals: Any, tangents: Any) -> Any:
    found = hermitian(primals[0], primals[1], primals[2])
    w, x, y = np.zeros_like(found[0]), np.zeros_like(found[1]), np.zeros_like(found[2])
    return found, (w, x, y, None)


# Derivatives are those of the two functions that follow.
hermitian.define(_hermitian_record, _hermitian_reverse, _hermitian_tangent)


@exact()
def hermitian_values(re: Any, im: Any, w: Any, x: Any, y: Any) -> Any:
    """Return the eigenvalues, and zeros: marks of those whose vectors are used."""
    return w.copy(), np.zeros(w.shape, w.dtype)


def _values_record(re: Any, im: Any, w: Any, x: Any, y: Any) -> Any:
    return hermitian_values(re, im, w, x, y), (re, im, w, x, y)


def _values_reverse(kept: Any, cts: Any) -> Any:
    re, im, w, x, y = kept
    v = joined(*hermitian_vectors(re, im, w, x, y, np.zeros(w.shape, w.dtype)))
    found = (v * cts[0]) @ v.conj().T
    return (
        unless_marked(found.real.copy(), cts[0], cts[1]),
        unless_marked(found.imag.copy(), cts[0], cts[1]),
        None, None, None,
    )  # fmt: skip


def _values_tangent(primals: Any, tangents: Any) -> Any:
    re, im, w, x, y = primals
    v = joined(*hermitian_vectors(re, im, w, x, y, np.zeros(w.shape, w.dtype)))
    moved = np.sum((np.conj(v) * (joined(tangents[0], tangents[1]) @ v)).real, axis=0)
    return hermitian_values(re, im, w, x, y), (moved, np.zeros(w.shape, w.dtype))


hermitian_values.define(_values_record, _values_reverse, _values_tangent)


@exact()
def hermitian_vectors(re: Any, im: Any, w: Any, x: Any, y: Any, marks: Any) -> Any:
    """Return both parts of the eigenvectors."""
    return x.copy(), y.copy()


def _vectors_record(re: Any, im: Any, w: Any, x: Any, y: Any, marks: Any) -> Any:
    return hermitian_vectors(re, im, w, x, y, marks), (re, im, w, x, y)


def _vectors_reverse(kept: Any, cts: Any) -> Any:
    re, im, w, x, y = kept
    values = hermitian_values(re, im, w, x, y)[0]
    v = joined(*hermitian_vectors(re, im, w, x, y, np.zeros(w.shape, w.dtype)))
    ct = joined(cts[0], cts[1])
    inner, marks = vectors_reverse(v.conj().T @ ct, w, values, ct)
    found = v @ inner @ v.conj().T
    return found.real.copy(), found.imag.copy(), None, None, None, marks


def _vectors_tangent(primals: Any, tangents: Any) -> Any:
    re, im, w, x, y, _ = primals
    values = hermitian_values(re, im, w, x, y)[0]
    v = joined(*hermitian_vectors(re, im, w, x, y, np.zeros(w.shape, w.dtype)))
    moved = v.conj().T @ joined(tangents[0], tangents[1]) @ v
    found = v @ vectors_tangent(moved, w, values)
    return (v.real.copy(), v.imag.copy()), (found.real.copy(), found.imag.copy())


hermitian_vectors.define(_vectors_record, _vectors_reverse, _vectors_tangent)


# --- singular values ------------------------------------------------------------------------------


def _singular_arrays(re: Any, im: Any) -> Any:
    m, n = re.shape
    k = min(m, n)
    return (
        np.empty((m, k), re.dtype), np.empty((m, k), re.dtype), np.empty(k, re.dtype),
        np.empty((k, n), re.dtype), np.empty((k, n), re.dtype), flag(),
    )  # fmt: skip


@exact("complex_svd", _singular_arrays)
def complex_singular(re: Any, im: Any) -> Any:
    """Return U, singular values in descending order, V conjugated and transposed, and a failure.

    Of U and V there are both parts. In Python, by rotations of columns (Hestenes, 1958).
    """
    m, n = re.shape
    k = min(m, n)
    a = joined(re, im)
    u = np.empty((m, k), a.dtype)
    s = np.empty(k, re.dtype)
    vt = np.empty((k, n), a.dtype)
    # Rows of `x` become orthogonal: those of the matrix, or of its adjoint.
    flat = m < n
    x = a.copy() if flat else a.conj().T.copy()
    long = n if flat else m
    turned = np.eye(k) + np.zeros((k, k), a.dtype)
    for _sweep in range(60):
        moved = 0
        for p in range(k):
            for q in range(p + 1, k):
                alpha = np.sum(x[p].real ** 2 + x[p].imag ** 2)
                beta = np.sum(x[q].real ** 2 + x[q].imag ** 2)
                product = np.sum(x[p] * np.conj(x[q]))
                gamma = abs(product)
                if gamma > 1e-17 * np.sqrt(alpha * beta):
                    moved = 1
                    phase = product / gamma
                    zeta = (beta - alpha) / (2 * gamma)
                    t = 1 / (abs(zeta) + np.sqrt(1 + zeta * zeta))
                    if zeta < 0:
                        t = -t
                    c = 1 / np.sqrt(1 + t * t)
                    d = t * c
                    for i in range(long):
                        y, z = x[p, i], x[q, i] * phase
                        x[p, i] = c * y - d * z
                        x[q, i] = d * y + c * z
                    for i in range(k):
                        y, z = turned[p, i], turned[q, i] * phase
                        turned[p, i] = c * y - d * z
                        turned[q, i] = d * y + c * z
        if moved == 0:
            break
    sizes = np.sqrt(np.sum(x.real**2 + x.imag**2, axis=1))
    place_rows(x, turned, sizes, flat, u, s, vt)
    factors = phases(u, u[0] if flat else np.conj(vt[:, 0]))
    for r in range(k):
        u[:, r] = u[:, r] * factors[r]
        vt[r, :] = vt[r, :] * np.conj(factors[r])
    return u.real.copy(), u.imag.copy(), s, vt.real.copy(), vt.imag.copy(), 0


def _singular_record(re: Any, im: Any) -> Any:
    return complex_singular(re, im), None


def _singular_reverse(kept: Any, cts: Any) -> Any:
    return None, None


def _singular_tangent(primals: Any, tangents: Any) -> Any:
    found = complex_singular(primals[0], primals[1])
    ux, uy, s = np.zeros_like(found[0]), np.zeros_like(found[1]), np.zeros_like(found[2])
    return found, (ux, uy, s, np.zeros_like(found[3]), np.zeros_like(found[4]), None)


complex_singular.define(_singular_record, _singular_reverse, _singular_tangent)


@exact()
def complex_sizes(re: Any, im: Any, ux: Any, uy: Any, s: Any, vx: Any, vy: Any) -> Any:
    """Return the singular values, and zeros: marks of those whose vectors are used."""
    return s.copy(), np.zeros(s.shape, s.dtype)


def _sizes_record(re: Any, im: Any, ux: Any, uy: Any, s: Any, vx: Any, vy: Any) -> Any:
    return complex_sizes(re, im, ux, uy, s, vx, vy), (re, im, ux, uy, s, vx, vy)


def _sizes_reverse(kept: Any, cts: Any) -> Any:
    re, im, ux, uy, s, vx, vy = kept
    ux, uy, vx, vy = complex_directions(re, im, ux, uy, s, vx, vy, np.zeros(s.shape, s.dtype))
    found = (joined(ux, uy) * cts[0]) @ joined(vx, vy)
    return (
        unless_marked(found.real.copy(), cts[0], cts[1]),
        unless_marked(found.imag.copy(), cts[0], cts[1]),
        None, None, None, None, None,
    )  # fmt: skip


def _sizes_tangent(primals: Any, tangents: Any) -> Any:
    re, im, ux, uy, s, vx, vy = primals
    found = complex_sizes(re, im, ux, uy, s, vx, vy)
    ux, uy, vx, vy = complex_directions(re, im, ux, uy, s, vx, vy, np.zeros(s.shape, s.dtype))
    x, y = joined(ux, uy), joined(vx, vy)
    da = joined(tangents[0], tangents[1])
    moved = np.sum((np.conj(x) * (da @ y.conj().T)).real, axis=0)
    return found, (moved, np.zeros(s.shape, s.dtype))


complex_sizes.define(_sizes_record, _sizes_reverse, _sizes_tangent)


@exact()
def complex_directions(
    re: Any, im: Any, ux: Any, uy: Any, s: Any, vx: Any, vy: Any, marks: Any
) -> Any:
    """Return both parts of the singular vectors."""
    return ux.copy(), uy.copy(), vx.copy(), vy.copy()


def _directions_record(
    re: Any, im: Any, ux: Any, uy: Any, s: Any, vx: Any, vy: Any, marks: Any
) -> Any:
    found = complex_directions(re, im, ux, uy, s, vx, vy, marks)
    return found, (re, im, ux, uy, s, vx, vy)


def _turns(inner: Any, s: Any, values: Any) -> Any:
    """Return by how much left vectors turn in their own directions; right vectors do not turn.

    Where the singular value is zero, nothing says by how much: it is NaN if it counts, which what
    only rounding has left does not.
    """
    found = np.zeros(inner.shape, inner.dtype)
    spread = spread_of(s)
    for i in range(s.shape[0]):
        angle = inner[i, i].imag
        if s[i] > spread:
            found[i, i] = 1j * angle / values[i]
        elif abs(angle) > 45 * precision(s) * np.sum(np.abs(inner[:, i])):
            found[i, i] = np.nan
    return found


def _directions_reverse(kept: Any, cts: Any) -> Any:
    re, im, ux, uy, s, vx, vy = kept
    k = s.shape[0]
    values = complex_sizes(re, im, ux, uy, s, vx, vy)[0]
    ux, uy, vx, vy = complex_directions(re, im, ux, uy, s, vx, vy, np.zeros(k, s.dtype))
    x, y = joined(ux, uy), joined(vx, vy)
    one, two = joined(cts[0], cts[1]), joined(cts[2], cts[3]).conj().T
    left, right = x.conj().T @ one, y @ two
    inner, marks = directions_reverse(left, right, s, values, one, two)
    found = x @ (inner + _turns(left, s, values)) @ y
    if x.shape[0] > k:
        found = found + over(one - x @ left, s, values) @ y
    if y.shape[1] > k:
        found = found + x @ over(two - y.conj().T @ right, s, values).conj().T
    return found.real.copy(), found.imag.copy(), None, None, None, None, None, marks


def _directions_tangent(primals: Any, tangents: Any) -> Any:
    re, im, ux, uy, s, vx, vy, _ = primals
    k = s.shape[0]
    values = complex_sizes(re, im, ux, uy, s, vx, vy)[0]
    ux, uy, vx, vy = complex_directions(re, im, ux, uy, s, vx, vy, np.zeros(k, s.dtype))
    x, y = joined(ux, uy), joined(vx, vy)
    v = y.conj().T
    da = joined(tangents[0], tangents[1])
    inner = x.conj().T @ da @ v
    one, two = directions_tangent(inner, s, values)
    du = x @ (one + _turns(inner, s, values))
    dv = v @ two
    if x.shape[0] > k:
        moved = da @ v
        du = du + over(moved - x @ (x.conj().T @ moved), s, values)
    if y.shape[1] > k:
        moved = da.conj().T @ x
        dv = dv + over(moved - v @ (y @ moved), s, values)
    dy = dv.conj().T
    return (
        (x.real.copy(), x.imag.copy(), y.real.copy(), y.imag.copy()),
        (du.real.copy(), du.imag.copy(), dy.real.copy(), dy.imag.copy()),
    )


complex_directions.define(_directions_record, _directions_reverse, _directions_tangent)


# --- QR -------------------------------------------------------------------------------------------


def _qr_arrays(re: Any, im: Any) -> Any:
    m, n = re.shape
    return (
        np.empty((m, n), re.dtype), np.empty((m, n), re.dtype),
        np.empty((n, n), re.dtype), np.empty((n, n), re.dtype),
    )  # fmt: skip


@exact("complex_qr", _qr_arrays)
def complex_orthonormal(re: Any, im: Any) -> Any:
    """Return both parts of Q and R of a matrix that has no more columns than rows."""
    q, r = complex_householder(joined(re, im), re.shape[1])
    return q.real.copy(), q.imag.copy(), r.real.copy(), r.imag.copy()


def complex_householder(a: Any, wide: Any) -> Any:
    """Return Q, with so many columns, and R, by reflections as LAPACK's: R has a real diagonal."""
    m, n = a.shape
    k = min(m, n)
    r = a.copy()
    v = np.zeros((k, m), a.dtype)
    tau = np.zeros(k, a.dtype)
    for j in range(k):
        alpha = r[j, j]
        rest = 0.0
        for i in range(j + 1, m):
            rest += r[i, j].real ** 2 + r[i, j].imag ** 2
        v[j, j] = 1.0
        if rest > 0 or alpha.imag != 0:
            norm = np.sqrt(alpha.real**2 + alpha.imag**2 + rest)
            beta = -norm if alpha.real >= 0 else norm
            tau[j] = (beta - alpha) / beta
            for i in range(j + 1, m):
                v[j, i] = r[i, j] / (alpha - beta)
            for c in range(j, n):
                s = r[j, c]
                for i in range(j + 1, m):
                    s += np.conj(v[j, i]) * r[i, c]
                s *= np.conj(tau[j])
                r[j, c] -= s
                for i in range(j + 1, m):
                    r[i, c] -= s * v[j, i]
    q = np.eye(m, wide) + np.zeros((m, wide), a.dtype)
    for step in range(k):
        j = k - 1 - step
        for c in range(wide):
            s = a.dtype.type(0)
            for i in range(j, m):
                s += np.conj(v[j, i]) * q[i, c]
            s *= tau[j]
            for i in range(j, m):
                q[i, c] -= s * v[j, i]
    for j in range(k):
        r[j, j] = r[j, j].real
    return q, np.triu(r[:wide])


def _divided(b: Any, r: Any, turned: bool) -> Any:
    """Return a matrix times the inverse of `r`, or of its adjoint if that is `turned`."""
    rows = b.conj().T
    inter = np.empty((2 * rows.shape[0], rows.shape[1]), rows.real.dtype)
    inter[::2] = rows.real
    inter[1::2] = rows.imag
    x = solve_lower(real_form_of_triangle(r.conj().T), inter, turned)
    return joined(x[::2], x[1::2]).conj().T


def _qr_record(re: Any, im: Any) -> Any:
    found = complex_orthonormal(re, im)
    return found, found


def _qr_reverse(kept: Any, cts: Any) -> Any:
    q, r = joined(kept[0], kept[1]), joined(kept[2], kept[3])
    one, two = joined(cts[0], cts[1]), np.triu(joined(cts[2], cts[3]))
    inner = r @ two.conj().T - one.conj().T @ q
    low = np.tril(inner, -1)
    whole = low + low.conj().T + np.diag(np.diagonal(inner).real)
    found = _divided(one + q @ whole, r, True)
    return found.real.copy(), found.imag.copy()


def _qr_tangent(primals: Any, tangents: Any) -> Any:
    qx, qy, rx, ry = complex_orthonormal(primals[0], primals[1])
    q, r = joined(qx, qy), joined(rx, ry)
    moved = _divided(joined(tangents[0], tangents[1]), r, False)
    inner = q.conj().T @ moved
    low = np.tril(inner, -1)
    upper = np.triu(inner, 1) + low.conj().T + np.diag(np.diagonal(inner).real)
    dq, dr = moved - q @ upper, upper @ r
    return (qx, qy, rx, ry), (dq.real.copy(), dq.imag.copy(), dr.real.copy(), dr.imag.copy())


complex_orthonormal.define(_qr_record, _qr_reverse, _qr_tangent)
