"""Linear algebra of complex matrices by that of real ones twice as large.

In the real form of a matrix the block [[re, -im], [im, re]] stands for each element, or is made of
the whole matrix. Forms add, multiply and invert like the matrices (Day and Heroux, Solving
complex-valued linear systems via equivalent real formulations, SIAM J. Sci. Comput. 23, 2001).
They take twice the time of LAPACK's complex routines, and have the rules of the real ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient


def joined(re: Any, im: Any) -> Any:
    """Return the complex numbers with these parts."""
    return re + 1j * im


def real_form(a: Any) -> Any:
    """Return the matrices [[re, -im], [im, re]]."""
    upper = np.concatenate((a.real, -a.imag), axis=-1)
    lower = np.concatenate((a.imag, a.real), axis=-1)
    return np.concatenate((upper, lower), axis=-2)


def real_form_of_triangle(a: Any) -> Any:
    """Return lower triangles of matrices with real diagonals, with a block for each element.

    The Cholesky factor of a Hermitian matrix has a real diagonal, so its form is a triangle too:
    it is the factor of the form.
    """
    n = a.shape[-1]
    found = np.zeros((*a.shape[:-2], 2 * n, 2 * n), np.real(a).dtype)
    found[..., ::2, ::2] = np.tril(a.real)
    found[..., 1::2, 1::2] = np.tril(a.real)
    found[..., ::2, 1::2] = -np.tril(a.imag, -1)
    found[..., 1::2, ::2] = np.tril(a.imag, -1)
    return found


def stacked(b: Any) -> Any:
    """Return right-hand sides for `real_form`."""
    return np.concatenate((b.real, b.imag), axis=-2)


def halves(x: Any) -> Any:
    """Return the complex matrices whose parts lie below each other."""
    n = x.shape[-2] // 2
    return joined(x[..., :n, :], x[..., n:, :])


# --- elimination ----------------------------------------------------------------------------------


def complete_order(a: Any) -> Any:
    """Return the orders of rows and columns that complete pivoting chooses, sign and rank."""
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


def eliminated(a: Any) -> Any:
    """Return the determinant of a matrix, which may be singular and complex.

    Derivatives of any order are right at singular matrices: nothing is divided by a pivot that is
    zero. What such pivots leave, a matrix of zeros, has a determinant without divisions.
    """
    n = a.shape[0]
    lu, sign, rank = factors(a)
    found = without_divisions(lu[rank:, rank:]) if rank < n - 1 else a.dtype.type(1)
    for k in range(min(n if rank == n - 1 else rank, n)):
        found = found * lu[k, k]
    return found * sign


def phase(a: Any) -> Any:
    """Return the determinant of a matrix divided by its modulus, or 0."""
    lu, sign, rank = factors(a)
    found = a.dtype.type(sign if rank == a.shape[0] else 0.0)
    for k in range(rank):
        found = found * (lu[k, k] / abs(lu[k, k]))
    return found


def factors(a: Any) -> Any:
    """Return triangular factors of a matrix with its rows and columns in another order.

    Also the sign of that order, and the rank: where it is less than the size, the last rows and
    columns are not eliminated further.
    """
    n = a.shape[0]
    rows, columns, sign, rank = complete_order(a)
    lu = np.empty((n, n), a.dtype)
    for i in range(n):
        for j in range(n):
            s = a[rows[i], columns[j]]
            for k in range(min(i, j, rank)):
                s -= lu[i, k] * lu[k, j]
            lu[i, j] = s / lu[j, j] if j < min(i, rank) else s
    return lu, sign, rank


def without_divisions(a: Any) -> Any:
    """Return the determinant of a matrix by products and sums.

    Bird, A simple division-free algorithm for computing determinants, Information Processing
    Letters 111, 2011.
    """
    n = a.shape[0]
    x = a.copy()
    for _ in range(n - 1):
        upper = np.triu(x, 1)
        total = a.dtype.type(0)
        for i in range(n - 1, -1, -1):
            upper[i, i] = -total
            total = total + x[i, i]
        x = upper @ a
    return x[0, 0] if n % 2 == 1 else -x[0, 0]
