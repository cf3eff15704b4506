"""Matrices made of vectors and of other matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.functions import kron as kron


def block_diag(*arrs: Any) -> Any:
    """`scipy.linalg.block_diag`."""
    blocks = [np.atleast_2d(np.asarray(each)) for each in arrs]
    rows, columns = 0, 0
    for each in blocks:
        rows += each.shape[0]
        columns += each.shape[1]
    found = np.zeros((rows, columns), np.result_type(*blocks))
    row, column = 0, 0
    for each in blocks:
        found[row : row + each.shape[0], column : column + each.shape[1]] = each
        row += each.shape[0]
        column += each.shape[1]
    return found


def toeplitz(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.toeplitz`."""
    c = np.atleast_1d(c)
    r = np.conj(c) if r is None else np.atleast_1d(r)
    rows, columns = c.shape[0], r.shape[0]
    places = np.arange(rows)[:, None] - np.arange(columns)[None, :] + columns - 1
    return np.concatenate((r[:0:-1], c))[places]


def circulant(c: Any) -> Any:
    """`scipy.linalg.circulant`."""
    c = np.atleast_1d(c)
    n = c.shape[0]
    return c[(np.arange(n)[:, None] - np.arange(n)[None, :]) % n]


def hankel(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.hankel`."""
    r = np.zeros_like(c) if r is None else r
    places = np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])[None, :]
    return np.concatenate((c, r[1:]))[places]


def companion(a: Any) -> Any:
    """`scipy.linalg.companion`."""
    n = a.shape[0]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if a[0] == 0:
        raise ValueError("The first coefficient in `a` must not be zero.")
    first = -a[1:] / (1.0 * a[0])
    found = np.zeros((n - 1, n - 1), first.dtype)
    found[0] = first
    for i in range(n - 2):
        found[i + 1, i] = 1
    return found


def khatri_rao(a: Any, b: Any) -> Any:
    """`scipy.linalg.khatri_rao`."""
    if a.shape[1] != b.shape[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    found = a[:, None, :] * b[None, :, :]
    return found.reshape((a.shape[0] * b.shape[0], a.shape[1]))
