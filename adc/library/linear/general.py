"""Eigenvectors of matrices of any kind: LAPACK's routine, with derivative rules.

Sources: M. B. Giles, Collected matrix derivative results for forward and reverse mode algorithmic
differentiation, 2008; C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann, R. Haeb-Umbach, On the
computation of complex-valued gradients with application to statistically optimum beamforming, 2017.

LAPACK's vectors have length 1 and a real largest component. The rules leave open how a vector is
scaled; `scaled` adds this to the derivatives. A matrix may have fewer vectors than rows, or almost:
then an eigenvalue changes by more than the root of a change of the matrix. There is no derivative
there: it is NaN. So are the derivatives of the vectors of repeated values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.linear.complexes import halves, joined, real_form
from adc.library.linear.routines import flag, lu_factor, lu_solve
from adc.library.linear.spectral import is_nothing, precision
from adc.library.rules import exact


def scaled(x: Any) -> Any:
    """Return columns of length 1, with the largest component of each one real."""
    found = x.copy()
    for j in range(x.shape[1]):
        best = 0
        for i in range(1, x.shape[0]):
            if abs(stop_gradient(x[i, j])) > abs(stop_gradient(x[best, j])):
                best = i
        turned = np.conj(x[best, j]) / abs(x[best, j])
        if stop_gradient(x[best, j]).real < 0:
            turned = -turned
        length = np.sqrt(np.sum(x[:, j].real ** 2 + x[:, j].imag ** 2))
        # LAPACK's columns have length 1 up to rounding, which the value keeps.
        found[:, j] = x[:, j] * turned * (stop_gradient(length) / length)
    return found


def _inverse(v: Any) -> Any:
    """Return the left vectors as rows; NaN for a value that has almost no derivative."""
    n = v.shape[0]
    form = real_form(v)
    lu, pivots, singular = lu_factor(stop_gradient(form))
    unit = np.eye(2 * n, dtype=form.dtype)[:, :n].copy()
    found = halves(lu_solve(form, lu, pivots, unit, False))
    least = 0.05 / np.sqrt(precision(form))
    for i in range(n):
        length = np.sqrt(np.sum(found[i].real ** 2 + found[i].imag ** 2))
        if singular != 0 or not length < least:
            for j in range(n):
                found[i, j] = np.nan
    return found


def _spread(wx: Any, wy: Any) -> Any:
    """Return by how much eigenvalues differ that rounding may have made different."""
    size = wx.dtype.type(0)
    for i in range(wx.shape[0]):
        size = max(size, abs(wx[i]) + abs(wy[i]))
    return size * wx.dtype.type(45 * precision(wx))


def _arrays(re: Any, im: Any) -> Any:
    n = re.shape[0]
    w, x = np.empty(n, re.dtype), np.empty((n, n), re.dtype)
    return w, np.empty(n, re.dtype), x, np.empty((n, n), re.dtype), flag()


@exact("eig", _arrays)
def general(re: Any, im: Any) -> Any:
    """Return both parts of the eigenvalues and the eigenvectors, and 1 if it failed, else 0.

    Threads of a GPU have no such routine: in Python it fails.
    """
    n = re.shape[0]
    w, x = np.zeros(n, re.dtype), np.zeros((n, n), re.dtype)
    return w, w.copy(), x, x.copy(), 1


def _general_record(re: Any, im: Any) -> Any:
    return general(re, im), None


def _general_reverse(kept: Any, cts: Any) -> Any:
    return None, None


def _general_tangent(primals: Any, tangents: Any) -> Any:
    found = general(primals[0], primals[1])
    w, x = np.zeros_like(found[0]), np.zeros_like(found[2])
    return found, (w, w.copy(), x, x.copy(), None)


# Derivatives are those of the two functions that follow.
general.define(_general_record, _general_reverse, _general_tangent)


def _real_arrays(a: Any) -> Any:
    n = a.shape[0]
    return np.empty(n, a.dtype), np.empty(n, a.dtype), np.empty((n, n), a.dtype), flag()


@exact("real_eig", _real_arrays)
def real_general(a: Any) -> Any:
    """Return the same of a real matrix, with its eigenvectors as LAPACK packs them (`unpacked`)."""
    n = a.shape[0]
    w = np.zeros(n, a.dtype)
    return w, w.copy(), np.zeros((n, n), a.dtype), 1


def _real_record(a: Any) -> Any:
    return real_general(a), None


def _real_reverse(kept: Any, cts: Any) -> Any:
    return (None,)


def _real_tangent(primals: Any, tangents: Any) -> Any:
    found = real_general(primals[0])
    w = np.zeros_like(found[0])
    return found, (w, w.copy(), np.zeros_like(found[2]), None)


real_general.define(_real_record, _real_reverse, _real_tangent)


def unpacked(wy: Any, packed: Any) -> Any:
    """Return both parts of the eigenvectors of a real matrix.

    Where a value has an imaginary part, its conjugate follows: two columns have both parts of the
    vector of the first of them.
    """
    n = wy.shape[0]
    x, y = packed.copy(), np.zeros_like(packed)
    for j in range(n):
        if wy[j] > 0:
            y[:, j] = packed[:, j + 1]
        elif wy[j] < 0:
            x[:, j] = packed[:, j - 1]
            y[:, j] = -packed[:, j]
    return x, y


@exact()
def general_values(re: Any, im: Any, wx: Any, wy: Any, x: Any, y: Any) -> Any:
    """Return both parts of the eigenvalues, and zeros: marks of those whose vectors are used."""
    return wx.copy(), wy.copy(), np.zeros(wx.shape, wx.dtype)


def _values_record(re: Any, im: Any, wx: Any, wy: Any, x: Any, y: Any) -> Any:
    return general_values(re, im, wx, wy, x, y), (re, im, wx, wy, x, y)


def _values_reverse(kept: Any, cts: Any) -> Any:
    re, im, wx, wy, x, y = kept
    vx, vy = general_vectors(re, im, wx, wy, x, y, np.zeros(wx.shape, wx.dtype))
    v = joined(vx, vy)
    ct = joined(cts[0], cts[1])
    left = np.zeros(v.shape, v.dtype)
    if np.any(ct != 0):
        inverse = _inverse(v)
        for i in range(wx.shape[0]):
            if ct[i] != 0:
                left[i] = inverse[i] * (np.conj(ct[i]) if cts[2][i] == 0 else np.nan)
    found = left.conj().T @ v.conj().T
    return found.real.copy(), found.imag.copy(), None, None, None, None


def _values_tangent(primals: Any, tangents: Any) -> Any:
    re, im, wx, wy, x, y = primals
    vx, vy = general_vectors(re, im, wx, wy, x, y, np.zeros(wx.shape, wx.dtype))
    v = joined(vx, vy)
    moved = joined(tangents[0], tangents[1]) @ v
    dw = np.sum(_inverse(v) * moved.T, axis=1)
    found = general_values(re, im, wx, wy, x, y)
    return found, (dw.real.copy(), dw.imag.copy(), np.zeros(wx.shape, wx.dtype))


general_values.define(_values_record, _values_reverse, _values_tangent)


@exact()
def general_vectors(re: Any, im: Any, wx: Any, wy: Any, x: Any, y: Any, marks: Any) -> Any:
    """Return both parts of the eigenvectors."""
    return x.copy(), y.copy()


def _vectors_record(re: Any, im: Any, wx: Any, wy: Any, x: Any, y: Any, marks: Any) -> Any:
    return general_vectors(re, im, wx, wy, x, y, marks), (re, im, wx, wy, x, y)


def _vectors_reverse(kept: Any, cts: Any) -> Any:
    re, im, wx, wy, x, y = kept
    n = wx.shape[0]
    found_values = general_values(re, im, wx, wy, x, y)
    values = joined(found_values[0], found_values[1])
    vx, vy = general_vectors(re, im, wx, wy, x, y, np.zeros(n, wx.dtype))
    v = joined(vx, vy)
    ct = joined(cts[0], cts[1])
    moved = v.conj().T @ ct
    inner = np.zeros((n, n), v.dtype)
    marks = np.zeros(n, wx.dtype)
    spread = _spread(wx, wy)
    for i in range(n):
        for j in range(n):
            if i != j:
                if abs(wx[j] - wx[i]) + abs(wy[j] - wy[i]) > spread:
                    inner[i, j] = moved[i, j] / np.conj(values[j] - values[i])
                elif is_nothing(ct, i, j):
                    marks[i] = 1
                else:
                    inner[i, j] = np.nan
    found = _inverse(v).conj().T @ inner @ v.conj().T
    return found.real.copy(), found.imag.copy(), None, None, None, None, marks


def _vectors_tangent(primals: Any, tangents: Any) -> Any:
    re, im, wx, wy, x, y, _ = primals
    n = wx.shape[0]
    found_values = general_values(re, im, wx, wy, x, y)
    values = joined(found_values[0], found_values[1])
    vx, vy = general_vectors(re, im, wx, wy, x, y, np.zeros(n, wx.dtype))
    v = joined(vx, vy)
    moved = _inverse(v) @ joined(tangents[0], tangents[1]) @ v
    inner = np.zeros((n, n), v.dtype)
    spread = _spread(wx, wy)
    for i in range(n):
        for j in range(n):
            if i != j:
                if abs(wx[j] - wx[i]) + abs(wy[j] - wy[i]) > spread:
                    inner[i, j] = moved[i, j] / (values[j] - values[i])
                else:
                    inner[i, j] = np.nan
    found = v @ inner
    return (vx, vy), (found.real.copy(), found.imag.copy())


general_vectors.define(_vectors_record, _vectors_reverse, _vectors_tangent)
