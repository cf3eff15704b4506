"""Systems with banded matrices, and Toeplitz systems, in time proportional to what is given.

A banded matrix with `lower` and `upper` diagonals beside the main one is stored by diagonals:
``ab[upper + i - j, j] == a[i, j]``. What is stored outside of the matrix is not read, and has no
derivative. The factors are those of LAPACK's `gbtrf`, with exchanges of rows, and of `pbtrf`.

A complex band is a real one, twice as wide, of a matrix that has the block [[re, -im], [im, re]]
in place of each element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear import linalg
from adc.library.linear.complexes import joined
from adc.library.rules import exact
from adc.library.scipy.linalg.checks import alike, columns, like, validated


@exact()
def band_factor(ab: Any, lower: Any, upper: Any) -> Any:
    """Return the factors, the rows that are exchanged, and 1 if the matrix is singular, else 0."""
    n = ab.shape[1]
    wide = lower + upper  # diagonals above the main one, after exchanges
    w = np.zeros((wide + lower + 1, n), ab.dtype)
    w[lower:] = ab
    # What is outside of the matrix may be anything.
    for j in range(min(upper, n)):
        for i in range(lower, wide - j):
            w[i, j] = 0
    pivots = np.empty(n, np.int64)
    singular = 0
    for j in range(n):
        below = min(lower, n - 1 - j)
        best = 0
        for i in range(1, below + 1):
            if abs(w[wide + i, j]) > abs(w[wide + best, j]):
                best = i
        pivots[j] = j + best
        if w[wide + best, j] == 0:
            singular = 1
            continue
        stop = min(n, j + wide + 1)
        for c in range(j, stop):
            held = w[wide + j - c, c]
            w[wide + j - c, c] = w[wide + best + j - c, c]
            w[wide + best + j - c, c] = held
        for i in range(1, below + 1):
            w[wide + i, j] /= w[wide, j]
        for c in range(j + 1, stop):
            factor = w[wide + j - c, c]
            for i in range(1, below + 1):
                w[wide + i + j - c, c] -= w[wide + i, j] * factor
    return w, pivots, singular


def _factor_record(ab: Any, lower: Any, upper: Any) -> Any:
    return band_factor(ab, lower, upper), None


def _factor_reverse(kept: Any, ct: Any) -> Any:
    return None, None, None


def _factor_tangent(primals: Any, tangents: Any) -> Any:
    found = band_factor(primals[0], primals[1], primals[2])
    return found, (np.zeros_like(found[0]), None, None)


# The factors are only used by what has derivatives with respect to the matrix.
band_factor.define(_factor_record, _factor_reverse, _factor_tangent)


@exact()
def band_solve(
    ab: Any, lower: Any, upper: Any, w: Any, pivots: Any, b: Any, transposed: Any
) -> Any:
    """Solve for the columns of `b`, with a matrix of which `w` has the factors."""
    n, count = b.shape
    wide = lower + upper
    x = b.copy()
    if transposed:
        for j in range(n):
            for i in range(max(0, j - wide), j):
                factor = w[wide + i - j, j]
                for k in range(count):
                    x[j, k] -= factor * x[i, k]
            for k in range(count):
                x[j, k] /= w[wide, j]
        for r in range(n):
            j = n - 1 - r
            for i in range(1, min(lower, n - 1 - j) + 1):
                for k in range(count):
                    x[j, k] -= w[wide + i, j] * x[j + i, k]
            for k in range(count):
                held = x[j, k]
                x[j, k] = x[pivots[j], k]
                x[pivots[j], k] = held
    else:
        for j in range(n):
            for k in range(count):
                held = x[j, k]
                x[j, k] = x[pivots[j], k]
                x[pivots[j], k] = held
            for i in range(1, min(lower, n - 1 - j) + 1):
                for k in range(count):
                    x[j + i, k] -= w[wide + i, j] * x[j, k]
        for r in range(n):
            j = n - 1 - r
            for k in range(count):
                x[j, k] /= w[wide, j]
            for i in range(max(0, j - wide), j):
                for k in range(count):
                    x[i, k] -= w[wide + i - j, j] * x[j, k]
    return x


def _band_of_products(left: Any, right: Any, lower: Any, upper: Any) -> Any:
    """Return the band of ``left @ right.T``."""
    n = left.shape[0]
    found = np.zeros((lower + upper + 1, n), left.dtype)
    for j in range(n):
        for i in range(max(0, j - upper), min(n, j + lower + 1)):
            found[upper + i - j, j] = np.sum(left[i] * right[j])
    return found


def _product(ab: Any, lower: Any, upper: Any, x: Any, transposed: Any) -> Any:
    """Return the product of a banded matrix, or its transpose, and another matrix."""
    n = x.shape[0]
    found = np.zeros(x.shape, x.dtype)
    for j in range(n):
        for i in range(max(0, j - upper), min(n, j + lower + 1)):
            if transposed:
                found[j] += ab[upper + i - j, j] * x[i]
            else:
                found[i] += ab[upper + i - j, j] * x[j]
    return found


def _solve_record(
    ab: Any, lower: Any, upper: Any, w: Any, pivots: Any, b: Any, transposed: Any
) -> Any:
    x = band_solve(ab, lower, upper, w, pivots, b, transposed)
    return x, (ab, lower, upper, w, pivots, x, transposed)


def _solve_reverse(kept: Any, ct: Any) -> Any:
    ab, lower, upper, w, pivots, x, transposed = kept
    moved = band_solve(ab, lower, upper, w, pivots, ct, not transposed)
    if transposed:
        found = _band_of_products(x, moved, lower, upper)
    else:
        found = _band_of_products(moved, x, lower, upper)
    return -found, None, None, None, None, moved, None


def _solve_tangent(primals: Any, tangents: Any) -> Any:
    ab, lower, upper, w, pivots, b, transposed = primals
    x = band_solve(ab, lower, upper, w, pivots, b, transposed)
    moved = tangents[5] - _product(tangents[0], lower, upper, x, transposed)
    return x, band_solve(ab, lower, upper, w, pivots, moved, transposed)


band_solve.define(_solve_record, _solve_reverse, _solve_tangent)


def _real_band(ab: Any) -> Any:
    rows, n = ab.shape
    found = np.zeros((2 * rows + 1, 2 * n), np.real(ab).dtype)
    found[1::2, ::2] = ab.real
    found[1::2, 1::2] = ab.real
    found[2::2, ::2] = ab.imag
    found[: 2 * rows : 2, 1::2] = -ab.imag
    return found


def _interleaved(b: Any) -> Any:
    found = np.empty((2 * b.shape[0], b.shape[1]), np.real(b).dtype)
    found[::2] = b.real
    found[1::2] = b.imag
    return found


def _banded(ab: Any, lower: Any, upper: Any, b: Any) -> Any:
    w, pivots, singular = band_factor(stop_gradient(ab), lower, upper)
    if singular != 0:
        raise np.linalg.LinAlgError("singular matrix")
    return band_solve(ab, lower, upper, w, pivots, b, False)


def solve_banded(below: Any, above: Any, ab: Any, b: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.solve_banded` with so many diagonals `below` and `above` the main one."""
    ab, b = validated(ab, check_finite), validated(b, check_finite)
    if ab.shape[1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    if below + above + 1 != ab.shape[0]:
        raise ValueError("invalid values for the number of lower and upper diagonals")
    ab, given = alike(ab, columns(b))
    if np.iscomplexobj(ab):
        x = _banded(_real_band(ab), 2 * below + 1, 2 * above + 1, _interleaved(given))
        return like(joined(x[::2], x[1::2]), b)
    return like(_banded(ab, below, above, given), b)


# --- positive definite ----------------------------------------------------------------------------


@exact()
def band_cholesky(low: Any) -> Any:
    """Return the factor of a matrix of which the lower diagonals are given, and where it fails."""
    rows, n = low.shape
    f = low.copy()
    failed = 0
    for j in range(n):
        if failed == 0 and not f[0, j] > 0:
            failed = j + 1
        f[0, j] = np.sqrt(abs(f[0, j]))
        below = min(rows - 1, n - 1 - j)
        for k in range(1, below + 1):
            f[k, j] /= f[0, j]
        for k in range(1, below + 1):
            for i in range(k, below + 1):
                f[i - k, j + k] -= f[i, j] * f[k, j]
    return f, failed


def _band_cholesky_record(low: Any) -> Any:
    return band_cholesky(low), None


def _band_cholesky_reverse(kept: Any, ct: Any) -> Any:
    return (None,)


def _band_cholesky_tangent(primals: Any, tangents: Any) -> Any:
    found = band_cholesky(primals[0])
    return found, (np.zeros_like(found[0]), None)


band_cholesky.define(_band_cholesky_record, _band_cholesky_reverse, _band_cholesky_tangent)


@exact()
def band_cholesky_solve(low: Any, f: Any, b: Any) -> Any:
    """Solve for the columns of `b`, with a matrix of which `f` is the factor."""
    n, count = b.shape
    rows = f.shape[0]
    x = b.copy()
    for j in range(n):
        for k in range(count):
            x[j, k] /= f[0, j]
        for i in range(1, min(rows - 1, n - 1 - j) + 1):
            for k in range(count):
                x[j + i, k] -= f[i, j] * x[j, k]
    for r in range(n):
        j = n - 1 - r
        for i in range(1, min(rows - 1, n - 1 - j) + 1):
            for k in range(count):
                x[j, k] -= f[i, j] * x[j + i, k]
        for k in range(count):
            x[j, k] /= f[0, j]
    return x


def _definite_record(low: Any, f: Any, b: Any) -> Any:
    x = band_cholesky_solve(low, f, b)
    return x, (low, f, x)


def _definite_reverse(kept: Any, ct: Any) -> Any:
    low, f, x = kept
    moved = band_cholesky_solve(low, f, ct)
    # Each element below the diagonal stands for two.
    found = _band_of_products(moved, x, low.shape[0] - 1, 0)
    other = _band_of_products(x, moved, low.shape[0] - 1, 0)
    other[0] = 0
    return -found - other, None, moved


def _definite_tangent(primals: Any, tangents: Any) -> Any:
    low, f, b = primals
    x = band_cholesky_solve(low, f, b)
    rest = tangents[0].copy()
    rest[0] = 0
    moved = _product(tangents[0], low.shape[0] - 1, 0, x, False)
    moved = moved + _product(rest, low.shape[0] - 1, 0, x, True)
    return x, band_cholesky_solve(low, f, tangents[2] - moved)


band_cholesky_solve.define(_definite_record, _definite_reverse, _definite_tangent)


def _lower_band(ab: Any) -> Any:
    """Return the lower diagonals of a Hermitian matrix of which the upper ones are given."""
    rows, n = ab.shape
    found = np.zeros(ab.shape, ab.dtype)
    for k in range(min(rows, n)):
        found[k, : n - k] = ab[rows - 1 - k, k:]
    return np.conj(found) if np.iscomplexobj(ab) else found


def _definite(low: Any, b: Any) -> Any:
    f, failed = band_cholesky(stop_gradient(low))
    if failed != 0:
        raise np.linalg.LinAlgError(f"{failed}th leading minor not positive definite")
    return band_cholesky_solve(low, f, b)


def solveh_banded(ab: Any, b: Any, lower: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.solveh_banded`."""
    ab, b = validated(ab, check_finite), validated(b, check_finite)
    if ab.shape[1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    ab, given = alike(ab, columns(b))
    low = ab if lower else _lower_band(ab)
    if np.iscomplexobj(ab):
        rows, n = ab.shape
        form = np.zeros((2 * rows, 2 * n), np.real(ab).dtype)
        form[::2, ::2] = low.real
        form[::2, 1::2] = low.real
        form[3::2, ::2] = low.imag[1:]
        form[1 : 2 * rows - 1 : 2, 1::2] = -low.imag[1:]
        x = _definite(form, _interleaved(given))
        return like(joined(x[::2], x[1::2]), b)
    return like(_definite(low, given), b)


# --- Toeplitz -------------------------------------------------------------------------------------


@exact()
def levinson(c: Any, r: Any, b: Any) -> Any:
    """Solve for the columns of `b`, with the first column and row of a matrix, and 1 if it fails.

    Both begin with the same number.

    Levinson, The Wiener RMS error criterion in filter design and prediction, 1947.
    """
    n, count = b.shape
    found = np.zeros((n, count), b.dtype)
    failed = 0
    a = np.concatenate((r[:0:-1], c))
    x, g, h = np.zeros(n), np.zeros(n), np.zeros(n)
    for column in range(count):
        if a[n - 1] == 0:
            failed = 1
            break
        x[0] = b[0, column] / a[n - 1]
        if n > 1:
            g[0] = a[n - 2] / a[n - 1]
            h[0] = a[n] / a[n - 1]
        for m in range(1, n):
            top, below = -b[m, column], -a[n - 1]
            for j in range(m):
                top += a[n + m - j - 1] * x[j]
                below += a[n + m - j - 1] * g[m - j - 1]
            if below == 0:
                failed = 1
                break
            x[m] = top / below
            for j in range(m):
                x[j] -= x[m] * g[m - j - 1]
            if m == n - 1:
                break
            left, right, under = -a[n - m - 2], -a[n + m], -a[n - 1]
            for j in range(m):
                left += a[n + j - m - 1] * g[j]
                right += a[n + m - j - 1] * h[j]
                under += a[n + j - m - 1] * h[m - j - 1]
            if under == 0:
                failed = 1
                break
            g[m], h[m] = left / under, right / below
            for j in range((m + 1) // 2):
                k = m - 1 - j
                gj, gk, hj, hk = g[j], g[k], h[j], h[k]
                g[j] = gj - g[m] * hk
                g[k] = gk - g[m] * hj
                h[j] = hj - h[m] * gk
                h[k] = hk - h[m] * gj
        for j in range(n):
            found[j, column] = x[j]
    return found, failed


def _levinson_record(c: Any, r: Any, b: Any) -> Any:
    found = levinson(c, r, b)
    return found, (c, r, found[0])


def _levinson_reverse(kept: Any, cts: Any) -> Any:
    c, r, x = kept
    moved = levinson(r, c, cts[0])[0]
    dc, dr = np.zeros(c.shape, c.dtype), np.zeros(r.shape, r.dtype)
    for k in range(c.shape[0]):
        dc[k] = -np.sum(moved[k:] * x[: x.shape[0] - k])
        if k > 0:
            dr[k] = -np.sum(moved[: x.shape[0] - k] * x[k:])
    return dc, dr, moved


def _levinson_tangent(primals: Any, tangents: Any) -> Any:
    c, r, b = primals
    found = levinson(c, r, b)
    x = found[0]
    moved = tangents[2].copy()
    for k in range(c.shape[0]):
        moved[k:] -= tangents[0][k] * x[: x.shape[0] - k]
        if k > 0:
            moved[: x.shape[0] - k] -= tangents[1][k] * x[k:]
    return found, (levinson(c, r, moved)[0], None)


levinson.define(_levinson_record, _levinson_reverse, _levinson_tangent)


def _toeplitz(c: Any, r: Any) -> Any:
    n = c.shape[0]
    places = np.arange(n)[:, None] - np.arange(n)[None, :] + n - 1
    return np.concatenate((r[:0:-1], c))[places]


def solve_toeplitz(c: Any, b: Any, r: Any = None, check_finite: Any = True) -> Any:
    """`scipy.linalg.solve_toeplitz`; `r` is None where it is the conjugate of `c`."""
    c, b = validated(c, check_finite), validated(b, check_finite)
    r = np.conj(c) if r is None else validated(r, check_finite)
    if c.shape[0] != r.shape[0] or c.shape[0] != b.shape[0]:
        raise ValueError("Incompatible dimensions.")
    given = columns(b)
    if np.iscomplexobj(c) or np.iscomplexobj(r) or np.iscomplexobj(b):
        found = linalg.solve(_toeplitz(c, r).astype(np.complex128), given.astype(np.complex128))
        return like(found, b)
    # The first element of the row is that of the column.
    c, row = c.astype(np.float64), r.astype(np.float64)
    row = np.concatenate((c[:1], row[1:]))
    x, failed = levinson(c, row, given.astype(np.float64))
    if failed != 0:
        raise np.linalg.LinAlgError("Singular principal minor")
    return like(x, b)
