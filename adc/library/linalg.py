"""Linear algebra of matrices.

``solve``, ``inv``, ``det`` and ``slogdet`` share an LU factorization. A first elimination, on
numbers that carry no derivative, finds the order of the rows; the second one is Doolittle's in the
order of dot products. ``eigh`` refines eigenvectors that carry no derivative by two steps of Ogita
and Aishima's iteration (Japan J. Indust. Appl. Math. 35, 2018). Each step doubles the order to
which the result, as a function of the matrix, is correct. ``qr`` is Householder's, with LAPACK's
signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))
EighResult = type(np.linalg.eigh(np.eye(1)))
QRResult = type(np.linalg.qr(np.eye(1)))


def _floating(a: Any) -> Any:
    return a if a.dtype == np.float32 else a.astype(np.float64)


def _square(a: Any) -> None:
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _row_order(a: Any) -> Any:
    """Return the order of rows that partial pivoting chooses, and the sign of the permutation."""
    n = a.shape[0]
    work = stop_gradient(a)
    rows = np.arange(n)
    sign = 1.0
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(work[rows[i], j]) > abs(work[rows[best], j]):
                best = i
        if best != j:
            held = rows[j]
            rows[j] = rows[best]
            rows[best] = held
            sign = -sign
        if work[rows[j], j] == 0:
            sign = 0.0
            break
        for i in range(j + 1, n):
            factor = work[rows[i], j] / work[rows[j], j]
            for k in range(j + 1, n):
                work[rows[i], k] -= factor * work[rows[j], k]
    return rows, sign


def _factors(a: Any, rows: Any) -> Any:
    """Return L (below the diagonal, which is 1) and U in one matrix."""
    n = a.shape[0]
    lu = np.empty((n, n), a.dtype)
    for i in range(n):
        for j in range(n):
            s = a[rows[i], j]
            for k in range(min(i, j)):
                s -= lu[i, k] * lu[k, j]
            lu[i, j] = s if j >= i else s / lu[j, j]
    return lu


def _solved(lu: Any, rows: Any, b: Any) -> Any:
    """Solve for the columns of `b`."""
    n, m = b.shape
    y = np.empty((n, m), lu.dtype)
    x = np.empty((n, m), lu.dtype)
    for i in range(n):
        for j in range(m):
            s = b[rows[i], j]
            for k in range(i):
                s -= lu[i, k] * y[k, j]
            y[i, j] = s
    for r in range(n):
        i = n - 1 - r
        for j in range(m):
            s = y[i, j]
            for k in range(i + 1, n):
                s -= lu[i, k] * x[k, j]
            x[i, j] = s / lu[i, i]
    return x


def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve` of a matrix and a vector or matrix."""
    _square(a)
    a = _floating(a)
    b = _floating(b)
    if a.shape[0] != b.shape[0]:
        raise ValueError("solve: the matrix and the right-hand side have different lengths")
    if a.dtype != b.dtype:
        a = a.astype(np.float64)
        b = b.astype(np.float64)
    rows, sign = _row_order(a)
    if sign == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    lu = _factors(a, rows)
    if b.ndim == 1:
        return _solved(lu, rows, b[:, None])[:, 0]
    return _solved(lu, rows, b)


def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    _square(a)
    a = _floating(a)
    rows, sign = _row_order(a)
    if sign == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    return _solved(_factors(a, rows), rows, np.eye(a.shape[0], dtype=a.dtype))


def _complete_order(a: Any) -> Any:
    """Return the orders of rows and columns that complete pivoting chooses, sign and rank.

    Pivots that are zero come last: that of a matrix with one linear dependence in the corner, by
    which nothing is divided.
    """
    n = a.shape[0]
    work = stop_gradient(a)
    rows = np.arange(n)
    columns = np.arange(n)
    sign = 1.0
    rank = 0
    for j in range(n):
        row, column = j, j
        for i in range(j, n):
            for k in range(j, n):
                if abs(work[rows[i], columns[k]]) > abs(work[rows[row], columns[column]]):
                    row, column = i, k
        if row != j:
            held = rows[j]
            rows[j] = rows[row]
            rows[row] = held
            sign = -sign
        if column != j:
            held = columns[j]
            columns[j] = columns[column]
            columns[column] = held
            sign = -sign
        if work[rows[j], columns[j]] == 0:
            break
        rank = j + 1
        for i in range(j + 1, n):
            factor = work[rows[i], columns[j]] / work[rows[j], columns[j]]
            for k in range(j + 1, n):
                work[rows[i], columns[k]] -= factor * work[rows[j], columns[k]]
    return rows, columns, sign, rank


def singular_det(a: Any) -> Any:
    """Return 0, with the derivative that the determinant has at a singular matrix."""
    n = a.shape[0]
    rows, columns, sign, rank = _complete_order(a)
    lu = np.empty((n, n), a.dtype)
    for i in range(n):
        for j in range(n):
            s = a[rows[i], columns[j]]
            for k in range(min(i, j)):
                s -= lu[i, k] * lu[k, j]
            if j >= i:
                lu[i, j] = s
            elif j < rank:
                lu[i, j] = s / lu[j, j]
            else:
                lu[i, j] = 0.0
    found = np.prod(np.diagonal(lu)) * a.dtype.type(sign)
    return found - stop_gradient(found)


def det(a: Any) -> Any:
    """`np.linalg.det`."""
    _square(a)
    a = _floating(a)
    rows, sign = _row_order(a)
    if sign == 0.0:
        return singular_det(a)
    return np.prod(np.diagonal(_factors(a, rows))) * a.dtype.type(sign)


def slogdet(a: Any) -> Any:
    """`np.linalg.slogdet`."""
    _square(a)
    a = _floating(a)
    rows, sign = _row_order(a)
    if sign == 0.0:
        return SlogdetResult(a.dtype.type(0), np.log(np.abs(singular_det(a))))
    diagonal = np.diagonal(_factors(a, rows))
    # Of NaN NumPy has the sign 1.
    signs = np.where(diagonal < 0, a.dtype.type(-1), a.dtype.type(1))
    return SlogdetResult(np.prod(signs) * a.dtype.type(sign), np.sum(np.log(np.abs(diagonal))))


def cholesky(a: Any) -> Any:
    """`np.linalg.cholesky`: reads the lower triangle."""
    _square(a)
    a = _floating(a)
    n = a.shape[0]
    factor = np.zeros((n, n), a.dtype)
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            factor[i, j] = s / factor[j, j]
        s = a[i, i]
        for k in range(i):
            s -= factor[i, k] * factor[i, k]
        if not s > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        factor[i, i] = np.sqrt(s)
    return factor


def _eigenvectors(a: Any) -> Any:
    """Return eigenvectors in the order of eigenvalues, by Jacobi's rotations; no derivative."""
    n = a.shape[0]
    work = stop_gradient(a)
    vectors = np.eye(n, dtype=a.dtype)
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
                tau = (work[q, q] - work[p, p]) / (2 * work[p, q])
                t = 1 / (abs(tau) + np.sqrt(1 + tau * tau))
                if tau < 0:
                    t = -t
                c = 1 / np.sqrt(1 + t * t)
                s = t * c
                for k in range(n):
                    x, y = work[k, p], work[k, q]
                    work[k, p] = c * x - s * y
                    work[k, q] = s * x + c * y
                for k in range(n):
                    x, y = work[p, k], work[q, k]
                    work[p, k] = c * x - s * y
                    work[q, k] = s * x + c * y
                for k in range(n):
                    x, y = vectors[k, p], vectors[k, q]
                    vectors[k, p] = c * x - s * y
                    vectors[k, q] = s * x + c * y
    at = np.argsort(np.diagonal(work))
    return stop_gradient(vectors[:, at])


def _refined(a: Any, x: Any, spread: float) -> Any:
    """Return eigenvalues and better eigenvectors (Ogita and Aishima, algorithm 1)."""
    n = a.shape[0]
    r = np.eye(n, dtype=a.dtype) - x.T @ x
    s = x.T @ (a @ x)
    values = np.diagonal(s) / (1 - np.diagonal(r))
    e = np.empty((n, n), a.dtype)
    for i in range(n):
        for j in range(n):
            gap = values[j] - values[i]
            if i == j or abs(gap) <= spread:
                e[i, j] = r[i, j] / 2
            else:
                e[i, j] = (s[i, j] + values[j] * r[i, j]) / gap
    return values, x + x @ e


def eigh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`; the signs of eigenvectors are not NumPy's."""
    _square(a)
    a = _floating(a)
    if UPLO == "L":
        half = np.tril(a, -1)
    else:
        half = np.triu(a, 1).T
    a = half + half.T + np.diag(np.diagonal(a))
    x = _eigenvectors(a)
    size = 0.0
    for value in np.abs(stop_gradient(a)).sum(axis=0):
        size = max(size, value)
    spread = 1e-14 * size
    values, x = _refined(a, x, spread)
    values, x = _refined(a, x, spread)
    values, _unused = _refined(a, x, spread)
    return EighResult(values, x)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`."""
    return eigh(a, UPLO).eigenvalues


def qr(a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr`."""
    m, n = a.shape
    k = min(m, n)
    r = _floating(a).copy()
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
    if mode == "r":
        return np.triu(r[:k])
    wide = m if mode == "complete" else k
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
    return QRResult(q, np.triu(r[:wide]))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`, without the spectral and nuclear norms."""
    x = _floating(x)
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        return _root(np.sum(x * x, keepdims=keepdims))
    if ord is None:
        return _root(np.sum(x * x, axis=axis, keepdims=keepdims))
    if axis is None and x.ndim == 2:
        if ord == 1:
            return np.max(np.sum(np.abs(x), axis=0), keepdims=keepdims, initial=0.0)
        if ord == np.inf:
            return np.max(np.sum(np.abs(x), axis=1), keepdims=keepdims, initial=0.0)
        raise NotImplementedError("adc: this norm of a matrix")
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0.0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 2:
        return _root(np.sum(x * x, axis=axis, keepdims=keepdims))
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _root(x: Any) -> Any:
    return np.sqrt(x)
