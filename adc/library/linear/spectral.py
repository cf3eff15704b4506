"""Orthogonal factors of matrices: routines of LAPACK, with derivative rules (see `routines`).

Sources: M. B. Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008; S. F. Walter, L. Lehmann, Algorithmic differentiation of linear algebra
functions, 2010, for QR; J. Townsend, Differentiating the singular value decomposition, 2016;
G. H. Golub, V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems
whose variables separate, SIAM J. Numer. Anal. 10, 1973.

Vectors that belong to one repeated value are not unique, and have no derivative: it is NaN. Even of
a function like ``(x * h(w)) @ x.T``, which has one, it does not follow from the derivatives with
respect to ``w`` and ``x``. Values and vectors are results of two functions, so that what uses only
values has derivatives. Vectors of a repeated value that do not count are no trouble, unless the
value does: `marks` tell the rule of values that vectors are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.linear.routines import flag, mirrored, solve_lower
from adc.library.rules import exact


def precision(x: Any) -> float:
    """Return the distance from 1 to the next number of the dtype of an array."""
    return 1.1920929e-07 if x.dtype == np.float32 else 2.220446049250313e-16


def is_nothing(ct: Any, i: Any, j: Any) -> Any:
    """Whether two columns are zero."""
    others = 0
    for row in range(ct.shape[0]):
        if ct[row, i] != 0 or ct[row, j] != 0:
            others = 1
    return others == 0


def unless_marked(found: Any, ct: Any, marks: Any) -> Any:
    """Return a derivative, or NaN if a value counts whose vectors are not unique, but used."""
    unclear = 0
    for i in range(ct.shape[0]):
        if marks[i] != 0 and ct[i] != 0:
            unclear = 1
    return found * found.dtype.type(np.nan) if unclear != 0 else found


def spread_of(values: Any) -> Any:
    """Return by how much values differ that rounding may have made different."""
    size = values.dtype.type(0)
    for value in np.abs(values):
        size = max(size, value)
    return size * values.dtype.type(45 * precision(values))


def _angle(cot: Any) -> Any:
    """Return cosine and sine of half the angle that has this cotangent."""
    t = 1 / (abs(cot) + np.sqrt(1 + cot * cot))
    if cot < 0:
        t = -t
    c = 1 / np.sqrt(1 + t * t)
    return c, t * c


def _turn(rows: Any, p: Any, q: Any, c: Any, s: Any) -> None:
    """Turn two rows of an array into each other, by the angle with this cosine and sine."""
    for k in range(rows.shape[1]):
        x, y = rows[p, k], rows[q, k]
        rows[p, k] = c * x - s * y
        rows[q, k] = s * x + c * y


# --- eigenvalues and eigenvectors -----------------------------------------------------------------


def _eigen_arrays(a: Any, upper: Any) -> Any:
    return np.empty(a.shape[0], a.dtype), np.empty(a.shape, a.dtype), flag()


@exact("eigh", _eigen_arrays)
def symmetric(a: Any, upper: Any) -> Any:
    """Return eigenvalues in order, and eigenvectors, of a symmetric matrix, and 1 if it failed.

    `upper` is the triangle that LAPACK reads. In Python, by Jacobi's rotations.
    """
    n = a.shape[0]
    work = a.copy()
    turned = np.eye(n, dtype=a.dtype)
    for _sweep in range(60):
        off = 0.0
        size = 0.0
        for p in range(n):
            size += work[p, p] * work[p, p]
            for q in range(p + 1, n):
                off += work[p, q] * work[p, q]
        if not off > 1e-34 * size:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if work[p, q] == 0:
                    continue
                c, s = _angle((work[q, q] - work[p, p]) / (2 * work[p, q]))
                _turn(work.T, p, q, c, s)
                _turn(work, p, q, c, s)
                _turn(turned.T, p, q, c, s)
    at = np.argsort(np.diagonal(work))
    values = np.empty(n, a.dtype)
    vectors = np.empty((n, n), a.dtype)
    for j in range(n):
        values[j] = work[at[j], at[j]]
        for i in range(n):
            vectors[i, j] = turned[i, at[j]]
    return values, vectors, 0


def _symmetric_record(a: Any, upper: Any) -> Any:
    return symmetric(a, upper), None


def _symmetric_reverse(kept: Any, cts: Any) -> Any:
    return None, None


def _symmetric_tangent(primals: Any, tangents: Any) -> Any:
    found = symmetric(primals[0], primals[1])
    return found, (np.zeros_like(found[0]), np.zeros_like(found[1]), None)


# Derivatives are those of the two functions that follow.
symmetric.define(_symmetric_record, _symmetric_reverse, _symmetric_tangent)


@exact()
def eigenvalues(a: Any, w: Any, x: Any) -> Any:
    """Return the eigenvalues, and zeros: marks of those whose vectors are used."""
    return w.copy(), np.zeros(w.shape, w.dtype)


def _eigenvalues_record(a: Any, w: Any, x: Any) -> Any:
    return eigenvalues(a, w, x), (a, w, x)


def _eigenvalues_reverse(kept: Any, cts: Any) -> Any:
    a, w, x = kept
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    return unless_marked((v * cts[0]) @ v.T, cts[0], cts[1]), None, None


def _eigenvalues_tangent(primals: Any, tangents: Any) -> Any:
    a, w, x = primals
    found = eigenvalues(a, w, x)
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    return found, (np.sum(v * (tangents[0] @ v), axis=0), np.zeros(w.shape, w.dtype))


eigenvalues.define(_eigenvalues_record, _eigenvalues_reverse, _eigenvalues_tangent)


def vectors_reverse(moved: Any, w: Any, values: Any, ct: Any) -> Any:
    """Return the cotangent of a matrix in the basis of its eigenvectors, and `marks`.

    `moved` is the cotangent `ct` of the vectors in that basis. Complex ones, too.
    """
    n = w.shape[0]
    inner = np.zeros((n, n), moved.dtype)
    marks = np.zeros(n, w.dtype)
    spread = spread_of(w)
    for i in range(n):
        for j in range(n):
            if i != j:
                if abs(w[j] - w[i]) > spread:
                    turned = moved[i, j] - np.conj(moved[j, i])
                    inner[i, j] = turned / (2 * (values[j] - values[i]))
                elif is_nothing(ct, i, j):
                    marks[i] = 1
                else:
                    inner[i, j] = np.nan
    return inner, marks


def vectors_tangent(moved: Any, w: Any, values: Any) -> Any:
    """Return the tangents of eigenvectors in their basis; `moved` is that of the matrix."""
    n = w.shape[0]
    inner = np.zeros((n, n), moved.dtype)
    spread = spread_of(w)
    for i in range(n):
        for j in range(n):
            if i != j:
                if abs(w[j] - w[i]) > spread:
                    inner[i, j] = moved[i, j] / (values[j] - values[i])
                else:
                    inner[i, j] = np.nan
    return inner


@exact()
def eigenvectors(a: Any, w: Any, x: Any, marks: Any) -> Any:
    """Return the eigenvectors."""
    return x.copy()


def _eigenvectors_record(a: Any, w: Any, x: Any, marks: Any) -> Any:
    return eigenvectors(a, w, x, marks), (a, w, x)


def _eigenvectors_reverse(kept: Any, ct: Any) -> Any:
    a, w, x = kept
    values = eigenvalues(a, w, x)[0]
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    inner, marks = vectors_reverse(v.T @ ct, w, values, ct)
    return v @ inner @ v.T, None, None, marks


def _eigenvectors_tangent(primals: Any, tangents: Any) -> Any:
    a, w, x, _ = primals
    values = eigenvalues(a, w, x)[0]
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    return v, v @ vectors_tangent(v.T @ tangents[0] @ v, w, values)


eigenvectors.define(_eigenvectors_record, _eigenvectors_reverse, _eigenvectors_tangent)


def _values_array(a: Any, upper: Any) -> Any:
    return np.empty(a.shape[0], a.dtype), flag()


@exact("eigvalsh", _values_array)
def symmetric_values(a: Any, upper: Any) -> Any:
    """Return the eigenvalues of a symmetric matrix, and 1 if it failed, else 0."""
    found = symmetric(a, upper)
    return found[0], found[2]


def _values_record(a: Any, upper: Any) -> Any:
    w, x, failed = symmetric(a, upper)
    return (eigenvalues(a, w, x)[0], failed), (a, w, x)


def _values_reverse(kept: Any, cts: Any) -> Any:
    a, w, x = kept
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    return (v * cts[0]) @ v.T, None


def _values_tangent(primals: Any, tangents: Any) -> Any:
    a, upper = primals
    w, x, failed = symmetric(a, upper)
    v = eigenvectors(a, w, x, np.zeros(w.shape, w.dtype))
    values = eigenvalues(a, w, x)[0]
    return (values, failed), (np.sum(v * (tangents[0] @ v), axis=0), None)


symmetric_values.define(_values_record, _values_reverse, _values_tangent)


# --- QR -------------------------------------------------------------------------------------------


def _qr_arrays(a: Any) -> Any:
    m, n = a.shape
    return np.empty((m, n), a.dtype), np.empty((n, n), a.dtype)


@exact("qr", _qr_arrays)
def orthonormal(a: Any) -> Any:
    """Return the factors Q and R of a matrix that has no more columns than rows."""
    return householder(a, a.shape[1])


def householder(a: Any, wide: Any) -> Any:
    """Return Q, with so many columns, and R, by reflections with LAPACK's signs."""
    m, n = a.shape
    k = min(m, n)
    r = a.copy()
    v = np.zeros((k, m), r.dtype)
    tau = np.zeros(k, r.dtype)
    for j in range(k):
        alpha = r[j, j]
        rest = 0.0
        for i in range(j + 1, m):
            rest += r[i, j] * r[i, j]
        v[j, j] = 1.0
        if rest > 0:
            norm = np.sqrt(alpha * alpha + rest)
            beta = -norm if alpha >= 0 else norm
            tau[j] = (beta - alpha) / beta
            for i in range(j + 1, m):
                v[j, i] = r[i, j] / (alpha - beta)
            for c in range(j, n):
                s = r[j, c]
                for i in range(j + 1, m):
                    s += v[j, i] * r[i, c]
                s *= tau[j]
                r[j, c] -= s
                for i in range(j + 1, m):
                    r[i, c] -= s * v[j, i]
    q = np.eye(m, wide, dtype=r.dtype)
    for step in range(k):
        j = k - 1 - step
        for c in range(wide):
            s = 0.0
            for i in range(j, m):
                s += v[j, i] * q[i, c]
            s *= tau[j]
            for i in range(j, m):
                q[i, c] -= s * v[j, i]
    return q, np.triu(r[:wide])


def _qr_record(a: Any) -> Any:
    found = orthonormal(a)
    return found, found


def _qr_reverse(kept: Any, cts: Any) -> Any:
    q, r = kept
    inner = r @ np.triu(cts[1]).T - cts[0].T @ q
    return (solve_lower(r.T, (cts[0] + q @ mirrored(inner)).T, True).T,)


def _qr_tangent(primals: Any, tangents: Any) -> Any:
    q, r = orthonormal(primals[0])
    moved = solve_lower(r.T, tangents[0].T, False).T
    inner = q.T @ moved
    upper = np.triu(inner + np.tril(inner, -1).T)
    return (q, r), (moved - q @ upper, upper @ r)


orthonormal.define(_qr_record, _qr_reverse, _qr_tangent)


# --- singular values ------------------------------------------------------------------------------


def _svd_arrays(a: Any) -> Any:
    m, n = a.shape
    k = min(m, n)
    return np.empty((m, k), a.dtype), np.empty(k, a.dtype), np.empty((k, n), a.dtype), flag()


@exact("svd", _svd_arrays)
def singular(a: Any) -> Any:
    """Return U, singular values in descending order, V transposed, and 1 if it failed, else 0.

    In Python, by rotations of columns (Hestenes, 1958).
    """
    m, n = a.shape
    k = min(m, n)
    u = np.empty((m, k), a.dtype)
    s = np.empty(k, a.dtype)
    vt = np.empty((k, n), a.dtype)
    # Rows of `x` become orthogonal: those of the matrix, or its columns.
    flat = m < n
    x = a.copy() if flat else a.T.copy()
    turned = np.eye(k, dtype=a.dtype)
    for _sweep in range(60):
        moved = 0
        for p in range(k):
            for q in range(p + 1, k):
                alpha = np.sum(x[p] * x[p])
                beta = np.sum(x[q] * x[q])
                gamma = np.sum(x[p] * x[q])
                if abs(gamma) > 1e-17 * np.sqrt(alpha * beta):
                    moved = 1
                    c, d = _angle((beta - alpha) / (2 * gamma))
                    _turn(x, p, q, c, d)
                    _turn(turned, p, q, c, d)
        if moved == 0:
            break
    place_rows(x, turned, np.sqrt(np.sum(x * x, axis=1)), flat, u, s, vt)
    return u, s, vt, 0


def place_rows(x: Any, turned: Any, sizes: Any, flat: Any, u: Any, s: Any, vt: Any) -> None:
    """Fill `u`, `s` and `vt` with orthogonal rows and their sizes, the largest one first."""
    at = np.argsort(-sizes)
    for r in range(len(s)):
        j = at[r]
        s[r] = sizes[j]
        row = x[j].copy()
        if s[r] > 1e-300:
            row /= s[r]
        else:  # any unit vector that is orthogonal to those before
            for start in range(len(row)):
                row[:] = 0
                row[start] = 1
                for q in range(r):
                    other = vt[q] if flat else np.conj(u[:, q])
                    row -= np.sum(row * np.conj(other)) * other
                if np.sum(abs(row) ** 2) > 1 / (2.0 * len(row)):
                    break
            row /= np.sqrt(np.sum(abs(row) ** 2))
        if flat:
            vt[r, :] = row
            u[:, r] = np.conj(turned[j])
        else:
            u[:, r] = np.conj(row)
            vt[r, :] = turned[j]


def _singular_record(a: Any) -> Any:
    return singular(a), None


def _singular_reverse(kept: Any, cts: Any) -> Any:
    return (None,)


def _singular_tangent(primals: Any, tangents: Any) -> Any:
    found = singular(primals[0])
    u, s, vt = np.zeros_like(found[0]), np.zeros_like(found[1]), np.zeros_like(found[2])
    return found, (u, s, vt, None)


singular.define(_singular_record, _singular_reverse, _singular_tangent)


@exact()
def sizes(a: Any, u: Any, s: Any, vt: Any) -> Any:
    """Return the singular values, and zeros: marks of those whose vectors are used."""
    return s.copy(), np.zeros(s.shape, s.dtype)


def _sizes_record(a: Any, u: Any, s: Any, vt: Any) -> Any:
    return sizes(a, u, s, vt), (a, u, s, vt)


def _sizes_reverse(kept: Any, cts: Any) -> Any:
    a, u, s, vt = kept
    left, right = directions(a, u, s, vt, np.zeros(s.shape, s.dtype))
    return unless_marked((left * cts[0]) @ right, cts[0], cts[1]), None, None, None


def _sizes_tangent(primals: Any, tangents: Any) -> Any:
    a, u, s, vt = primals
    left, right = directions(a, u, s, vt, np.zeros(s.shape, s.dtype))
    moved = np.sum(left * (tangents[0] @ right.T), axis=0)
    return sizes(a, u, s, vt), (moved, np.zeros(s.shape, s.dtype))


sizes.define(_sizes_record, _sizes_reverse, _sizes_tangent)


@exact()
def directions(a: Any, u: Any, s: Any, vt: Any, marks: Any) -> Any:
    """Return the singular vectors."""
    return u.copy(), vt.copy()


def _directions_record(a: Any, u: Any, s: Any, vt: Any, marks: Any) -> Any:
    return directions(a, u, s, vt, marks), (a, u, s, vt)


def over(x: Any, s: Any, values: Any) -> Any:
    """Return columns divided by singular values; of those that are zero, NaN if they count."""
    found = np.zeros(x.shape, x.dtype)
    spread = spread_of(s)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if s[j] > spread:
                found[i, j] = x[i, j] / values[j]
            elif x[i, j] != 0:
                found[i, j] = np.nan
    return found


def directions_reverse(left: Any, right: Any, s: Any, values: Any, one: Any, other: Any) -> Any:
    """Return the cotangent of a matrix between its singular vectors, and `marks`.

    `left` and `right` are the cotangents `one` and `other` of the vectors in their bases. Complex
    ones, too, but without what vectors turn in their own directions.
    """
    k = s.shape[0]
    inner = np.zeros((k, k), left.dtype)
    marks = np.zeros(k, s.dtype)
    spread = spread_of(s)
    for i in range(k):
        if s[i] <= spread:
            marks[i] = 1
        for j in range(k):
            if i != j:
                if abs(s[j] - s[i]) > spread:
                    p = left[i, j] - np.conj(left[j, i])
                    q = right[i, j] - np.conj(right[j, i])
                    near = (p + q) / (values[j] - values[i])
                    far = (p - q) / (values[j] + values[i])
                    inner[i, j] = (near + far) / 2
                elif is_nothing(one, i, j) and is_nothing(other, i, j):
                    marks[i] = 1
                else:
                    inner[i, j] = np.nan
    return inner, marks


def directions_tangent(inner: Any, s: Any, values: Any) -> Any:
    """Return the tangents of left and right singular vectors in their bases.

    `inner` is the tangent of the matrix between them.
    """
    k = s.shape[0]
    one = np.zeros((k, k), inner.dtype)
    two = np.zeros((k, k), inner.dtype)
    spread = spread_of(s)
    for i in range(k):
        for j in range(k):
            if i != j:
                if abs(s[j] - s[i]) > spread:
                    near = (inner[i, j] + np.conj(inner[j, i])) / (values[j] - values[i])
                    far = (inner[i, j] - np.conj(inner[j, i])) / (values[j] + values[i])
                    one[i, j] = (near + far) / 2
                    two[i, j] = (near - far) / 2
                else:
                    one[i, j] = np.nan
                    two[i, j] = np.nan
    return one, two


def _directions_reverse(kept: Any, cts: Any) -> Any:
    a, u, s, vt = kept
    nothing = np.zeros(s.shape, s.dtype)
    values = sizes(a, u, s, vt)[0]
    x, y = directions(a, u, s, vt, nothing)
    other = cts[1].T
    left = x.T @ cts[0]
    right = y @ other
    inner, marks = directions_reverse(left, right, s, values, cts[0], other)
    found = x @ inner @ y
    if u.shape[0] > u.shape[1]:
        found = found + over(cts[0] - x @ left, s, values) @ y
    if vt.shape[1] > vt.shape[0]:
        found = found + x @ over(other - y.T @ right, s, values).T
    return found, None, None, None, marks


def _directions_tangent(primals: Any, tangents: Any) -> Any:
    a, u, s, vt, _ = primals
    nothing = np.zeros(s.shape, s.dtype)
    values = sizes(a, u, s, vt)[0]
    x, y = directions(a, u, s, vt, nothing)
    da = tangents[0]
    one, two = directions_tangent(x.T @ da @ y.T, s, values)
    du = x @ one
    dv = y.T @ two
    if u.shape[0] > u.shape[1]:
        moved = da @ y.T
        du = du + over(moved - x @ (x.T @ moved), s, values)
    if vt.shape[1] > vt.shape[0]:
        moved = da.T @ x
        dv = dv + over(moved - y.T @ (y @ moved), s, values)
    return (x, y), (du, dv.T)


directions.define(_directions_record, _directions_reverse, _directions_tangent)


# --- singular vectors beside the range ------------------------------------------------------------


def _full_arrays(a: Any) -> Any:
    m, n = a.shape
    return (
        np.empty((m, m), a.dtype),
        np.empty(min(m, n), a.dtype),
        np.empty((n, n), a.dtype),
        flag(),
    )


@exact("full_svd", _full_arrays)
def full_singular(a: Any) -> Any:
    """Return what `singular` does, with square matrices of vectors."""
    m, n = a.shape
    k = min(m, n)
    u, s, vt, failed = singular.py_func(a)
    left, right = np.zeros((m, m), a.dtype), np.zeros((n, n), a.dtype)
    left[:, :k], right[:k] = u, vt
    rows = right if m < n else left.T
    for r in range(k, rows.shape[0]):
        for start in range(rows.shape[0]):
            row = np.zeros(rows.shape[0], a.dtype)
            row[start] = 1
            for q in range(r):
                row -= np.sum(row * rows[q]) * rows[q]
            if np.sum(row * row) > 1 / (2.0 * rows.shape[0]):
                break
        rows[r] = row / np.sqrt(np.sum(row * row))
    return left, s, right, failed


full_singular.define(_singular_record, _singular_reverse, _singular_tangent)


@exact()
def beside(a: Any, u: Any, s: Any, vt: Any, rest: Any) -> Any:
    """Return the vectors that a wide matrix maps to zero, as columns.

    They are unique but for an orthogonal transformation. What depends on which ones they are has no
    derivative: it is NaN. One vector alone has a tangent, and second derivatives.
    """
    return rest.copy()


def _beside_record(a: Any, u: Any, s: Any, vt: Any, rest: Any) -> Any:
    return beside(a, u, s, vt, rest), (a, u, s, vt, rest)


def _beside_reverse(kept: Any, ct: Any) -> Any:
    a, u, s, vt, rest = kept
    nothing = np.zeros(s.shape, s.dtype)
    values = sizes(a, u, s, vt)[0]
    x, y = directions(a, u, s, vt, nothing)
    z = beside(a, u, s, vt, rest)
    moved = over((y @ ct).T, s, values)
    found = -(x @ moved.T) @ z.T
    turned = z.T @ ct
    size = np.sum(np.abs(ct))
    for i in range(turned.shape[0]):
        for j in range(i):
            if abs(turned[i, j] - turned[j, i]) > 1e3 * precision(s) * size:
                found = found * found.dtype.type(np.nan)
    return found, None, None, None, None


def _beside_tangent(primals: Any, tangents: Any) -> Any:
    a, u, s, vt, rest = primals
    nothing = np.zeros(s.shape, s.dtype)
    values = sizes(a, u, s, vt)[0]
    x, y = directions(a, u, s, vt, nothing)
    z = beside(a, u, s, vt, rest)
    moved = -y.T @ over((x.T @ (tangents[0] @ z)).T, s, values).T
    # Of several vectors a tangent cannot tell how they are used.
    return z, moved if rest.shape[1] == 1 else moved * moved.dtype.type(np.nan)


beside.define(_beside_record, _beside_reverse, _beside_tangent)


def _svdvals_array(a: Any) -> Any:
    return np.empty(min(a.shape[0], a.shape[1]), a.dtype), flag()


@exact("svdvals", _svdvals_array)
def singular_values(a: Any) -> Any:
    """Return the singular values, and 1 if it failed, else 0."""
    found = singular(a)
    return found[1], found[3]


def _singular_values_record(a: Any) -> Any:
    u, s, vt, failed = singular(a)
    return (sizes(a, u, s, vt)[0], failed), (a, u, s, vt)


def _singular_values_reverse(kept: Any, cts: Any) -> Any:
    a, u, s, vt = kept
    x, y = directions(a, u, s, vt, np.zeros(s.shape, s.dtype))
    return ((x * cts[0]) @ y,)


def _singular_values_tangent(primals: Any, tangents: Any) -> Any:
    a = primals[0]
    u, s, vt, failed = singular(a)
    x, y = directions(a, u, s, vt, np.zeros(s.shape, s.dtype))
    values = sizes(a, u, s, vt)[0]
    return (values, failed), (np.sum(x * (tangents[0] @ y.T), axis=0), None)


singular_values.define(_singular_values_record, _singular_values_reverse, _singular_values_tangent)


# --- pseudo-inverses ------------------------------------------------------------------------------


@exact()
def least(a: Any, inverse: Any, full: Any, b: Any) -> Any:
    """Return the pseudo-inverse of `a`, which is known, times `b`.

    It has a derivative if the rank is `full`; else it jumps, and the derivative is NaN.
    """
    return inverse @ b


def _least_record(a: Any, inverse: Any, full: Any, b: Any) -> Any:
    x = least(a, inverse, full, b)
    return x, (a, inverse, full, b, x)


def _least_reverse(kept: Any, ct: Any) -> Any:
    a, inverse, full, b, x = kept
    w = least(a.T, inverse.T, full, ct)
    found = -(w @ x.T)
    # One of these is zero, as the rank is full.
    if a.shape[0] > a.shape[1]:
        found = found + (b - a @ x) @ least(a, inverse, full, w).T
    if a.shape[1] > a.shape[0]:
        found = found + least(a.T, inverse.T, full, x) @ (ct - a.T @ w).T
    if not full:
        found = found * a.dtype.type(np.nan)
    return found, None, None, w


def _least_tangent(primals: Any, tangents: Any) -> Any:
    a, inverse, full, b = primals
    da, _, _, db = tangents
    x = least(a, inverse, full, b)
    found = least(a, inverse, full, db - da @ x)
    if a.shape[0] > a.shape[1]:
        rest = da.T @ (b - a @ x)
        found = found + least(a, inverse, full, least(a.T, inverse.T, full, rest))
    if a.shape[1] > a.shape[0]:
        w = da.T @ least(a.T, inverse.T, full, x)
        found = found + w - least(a, inverse, full, a @ w)
    if not full:
        found = found * a.dtype.type(np.nan)
    return x, found


least.define(_least_record, _least_reverse, _least_tangent)
