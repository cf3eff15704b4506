"""Polynomials given by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.linear.complexes import joined
from adc.library.linear.factors import complex_eigvals
from adc.library.rules import exact


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`: by Horner's rule."""
    c = np.asarray(p.coeffs if hasattr(p, "coeffs") else p)  # of a `poly1d`
    at = np.asarray(x)
    if len(c) == 0:
        raise Unsupported("`np.polyval` of no coefficients", "check how many there are")
    y = np.zeros(at.shape, np.result_type(c, at))
    for k in range(len(c)):
        y = y * at + c[k]
    return y


def trimmed(p: Any) -> Any:
    """Return coefficients without leading zeros, at least one."""
    c = np.atleast_1d(np.asarray(p))
    if c.ndim != 1:
        raise ValueError("Polynomial must be 1d only.")
    if len(c) == 0:
        return np.zeros(1, c.dtype)
    found = 0
    while found < len(c) - 1 and c[found] == 0:
        found += 1
    return c[found:]


def polyadd(a1: Any, a2: Any) -> Any:
    """`np.polyadd`."""
    a, b = np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2))
    n = max(len(a), len(b))
    found = np.zeros(n, np.result_type(a, b))
    found[n - len(a) :] += a
    found[n - len(b) :] += b
    return found


def polysub(a1: Any, a2: Any) -> Any:
    """`np.polysub`."""
    a, b = np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2))
    n = max(len(a), len(b))
    found = np.zeros(n, np.result_type(a, b))
    found[n - len(a) :] += a
    found[n - len(b) :] -= b
    return found


def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    return np.convolve(trimmed(a1), trimmed(a2))


def polydiv(u: Any, v: Any) -> Any:
    """`np.polydiv`: quotient and remainder."""
    a, b = np.atleast_1d(np.asarray(u)) + 0.0, np.atleast_1d(np.asarray(v)) + 0.0
    kind = np.result_type(a, b)
    m, n = len(a) - 1, len(b) - 1
    scale = 1.0 / b[0]
    q = np.zeros(max(m - n + 1, 1), kind)
    r = a.astype(kind)
    for k in range(m - n + 1):
        d = scale * r[k]
        q[k] = d
        r[k : k + n + 1] -= d * b
    first = 0
    while first < len(r) - 1 and np.allclose(r[first], 0, rtol=1e-14):
        first += 1
    return q, r[first:]


def polyder(p: Any, m: int = 1) -> Any:
    """`np.polyder`."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = np.asarray(p)
    if m == 0:
        return c
    n = len(c)
    if n <= m:
        return np.zeros(0, np.result_type(c, np.int64))
    factor = np.ones(n - m, np.int64)
    for k in range(m):
        factor *= np.arange(n - 1 - k, m - 1 - k, -1)
    return c[: n - m] * factor


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """`np.polyint`."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    c = np.asarray(p)
    if m == 0:
        return c
    constants = np.zeros(m) if k is None else np.atleast_1d(np.asarray(k)) + 0.0
    if len(constants) == 1 and m > 1:
        constants = constants[0] * np.ones(m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    n = len(c)
    found = np.zeros(n + m, np.result_type(c, np.float64))
    found[:n] = c
    for step in range(m):
        # So far `n + step` coefficients; each is divided by the power that it gets.
        size = n + step
        found[:size] = found[:size] / np.arange(size, 0, -1)
        found[size] = constants[step]
    return found


def poly(seq_of_zeros: Any) -> Any:
    """`np.poly` of the roots of a polynomial."""
    roots = np.atleast_1d(np.asarray(seq_of_zeros))
    if roots.ndim != 1:
        raise Unsupported(
            "`np.poly` of a matrix",
            "of a symmetric one, pass the eigenvalues `np.linalg.eigvalsh(a)`",
        )
    if roots.dtype.kind == "c":
        raise Unsupported("`np.poly` of complex roots", "multiply the factors with `np.polymul`")
    n = len(roots)
    if n == 0:
        raise Unsupported("`np.poly` of no roots, which is a number", "check how many there are")
    single = roots.dtype == np.float32
    found = np.zeros(n + 1, np.float32 if single else np.float64)
    found[0] = 1.0
    for k in range(n):
        for j in range(k, -1, -1):
            found[j + 1] -= roots[k] * found[j]
    return found


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None,
    cov: Any = False,
) -> Any:  # fmt: skip
    """`np.polyfit`, by QR of the scaled powers: of columns that are independent."""
    if full or cov:
        raise Unsupported("`np.polyfit` with `full` or `cov`", "use `np.linalg.lstsq`")
    at, values = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if at.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if at.size == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(at) != len(values):
        raise TypeError("expected x and y to have same length")
    powers = np.empty((len(at), deg + 1), at.dtype)
    powers[:, deg] = 1.0
    for k in range(deg - 1, -1, -1):
        powers[:, k] = powers[:, k + 1] * at
    if w is not None:
        weights = np.asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(weights) != len(values):
            raise TypeError("expected w and y to have the same length")
        powers = powers * weights[:, None]
        values = values * (weights if values.ndim == 1 else weights[:, None])
    if len(at) <= deg:
        raise Unsupported("`np.polyfit` of fewer points than coefficients", "use a lower degree")
    if at.dtype.kind == "c":
        scale = np.sqrt(np.sum(np.square(powers.real) + np.square(powers.imag), axis=0))
    else:
        scale = np.sqrt(np.sum(powers * powers, axis=0))
    q, r = np.linalg.qr(powers / scale)
    least = len(at) * np.finfo(scale.dtype).eps if rcond is None else rcond
    diagonal = np.abs(np.diagonal(r))
    if np.min(diagonal) <= least * np.max(diagonal):
        raise Unsupported("`np.polyfit` of poorly conditioned powers", "use a lower degree")
    right = (np.conj(q.T) if at.dtype.kind == "c" else q.T) @ values
    found = np.empty(right.shape, right.dtype)
    for k in range(deg, -1, -1):
        rest = right[k] - r[k, k + 1 :] @ found[k + 1 :]
        found[k] = rest / r[k, k]
    return found / (scale if values.ndim == 1 else scale[:, None])


# --- roots ----------------------------------------------------------------------------------------


@exact()
def _simple_roots(re: Any, im: Any, x: Any, y: Any) -> Any:
    """Return both parts of the roots of the polynomial with these parts, which `x` and `y` are."""
    return x.copy(), y.copy()


def _moves(re: Any, im: Any, x: Any, y: Any) -> Any:
    """Return the derivative of each root by each coefficient.

    Where ``p(r) = 0`` for all coefficients ``c[k]`` of the powers ``r**(n - k)``,
    ``dr/dc[k] = -r**(n - k) / p'(r)``.
    """
    ux, uy = _simple_roots(re, im, x, y)
    r = joined(ux, uy)
    n = len(re) - 1
    powers = np.empty((n + 1, len(r)), r.dtype)
    powers[n] = 1.0
    for k in range(n - 1, -1, -1):
        powers[k] = powers[k + 1] * r
    slope = np.zeros(len(r), r.dtype)
    for k in range(n):
        slope = slope + (n - k) * joined(re[k], im[k]) * powers[k + 1]
    return -powers / slope


def _roots_record(re: Any, im: Any, x: Any, y: Any) -> Any:
    return _simple_roots(re, im, x, y), (re, im, x, y)


def _roots_reverse(kept: Any, cts: Any) -> Any:
    re, im, x, y = kept
    ct = joined(cts[0], cts[1])
    moves = np.conj(_moves(re, im, x, y))
    found = np.zeros(len(re), ct.dtype)
    for i in range(len(ct)):
        if ct[i] != 0:
            found = found + ct[i] * moves[:, i]
    return found.real.copy(), found.imag.copy(), None, None


def _roots_tangent(primals: Any, tangents: Any) -> Any:
    re, im, x, y = primals
    moved = joined(tangents[0], tangents[1]) @ _moves(re, im, x, y)
    return _simple_roots(re, im, x, y), (moved.real.copy(), moved.imag.copy())


_simple_roots.define(_roots_record, _roots_reverse, _roots_tangent)


def roots(p: Any) -> Any:
    """`np.roots`: the eigenvalues of the companion matrix."""
    c = np.asarray(p.coeffs if hasattr(p, "coeffs") else p)
    if c.ndim == 0:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    if c.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    first, last = 0, len(c)
    while first < last and c[first] == 0:
        first += 1
    while last > first and c[last - 1] == 0:
        last -= 1
    zeros = len(c) - last if last > first else 0
    if last - first < 2:
        return np.zeros(zeros)
    c = c[first:last]
    if c.dtype.kind not in "fc":
        c = c.astype(np.float64)
    n = len(c) - 1
    matrix = np.zeros((n, n), c.dtype)
    matrix[0] = -c[1:] / c[0]
    for k in range(1, n):
        matrix[k, k - 1] = 1.0
    found = complex_eigvals(stop_gradient(matrix))
    if c.dtype.kind == "c":
        re, im = c.real.copy(), c.imag.copy()
    else:
        re, im = c.copy(), np.zeros_like(c)
    x, y = _simple_roots(re, im, found.real.copy(), found.imag.copy())
    if c.dtype.kind == "f" and np.all(y == 0.0):
        return np.concatenate((x, np.zeros(zeros, x.dtype)))
    values = joined(x, y)
    return np.concatenate((values, np.zeros(zeros, values.dtype)))


__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval",
    "roots",
]  # fmt: skip
