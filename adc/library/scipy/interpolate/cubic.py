"""`scipy.interpolate`: cubic interpolants.

Cubic splines solve a tridiagonal system for the derivatives at the breakpoints [1]_. Those of
`PchipInterpolator` are weighted harmonic means of the slopes at both sides [2]_, and those of
`Akima1DInterpolator` weighted means [3]_.

References
----------
.. [1] C. de Boor. A Practical Guide to Splines. Springer, 1978.
.. [2] F. N. Fritsch, J. Butland. A method for constructing local monotone piecewise cubic
   interpolants. SIAM Journal on Scientific and Statistical Computing 5, 1984.
.. [3] H. Akima. A new method of interpolation and smooth curve fitting based on local procedures.
   Journal of the ACM 17, 1970.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.interpolate.piecewise import PPoly, inexact


def _prepared(x: Any, y: Any, axis: Any) -> Any:
    """Return breakpoints, values with their axis in front, and the axis."""
    at = np.asarray(x)
    if np.iscomplexobj(at):
        raise ValueError("`x` must contain real values.")
    at = at.astype(np.float64)
    values = inexact(y)
    along = axis % values.ndim
    if at.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if len(at) < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if len(at) != values.shape[along]:
        raise ValueError(f"The length of `y` along `axis`={along} doesn't match the length of `x`")
    if not np.all(np.isfinite(at)):
        raise ValueError("`x` must contain only finite values.")
    if not np.all(np.isfinite(values)):
        raise ValueError("`y` must contain only finite values.")
    if np.any(np.diff(at) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return at, np.moveaxis(values, along, 0), along


def flat_of(y: Any) -> Any:
    """Return values with one axis for all that are interpolated at once."""
    count = 1
    for size in y.shape[1:]:
        count *= size
    return y.reshape((y.shape[0], count))


def _hermite(x: Any, y: Any, d: Any) -> Any:
    """Return the coefficients of the cubic polynomials with these values and derivatives."""
    h = np.diff(x).reshape((len(x) - 1,) + (1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / h
    t = (d[:-1] + d[1:] - 2 * slope) / h
    return np.stack((t / h, (slope - d[:-1]) / h - t, d[:-1], y[:-1]))


class CubicHermiteSpline(PPoly):
    """`scipy.interpolate.CubicHermiteSpline`."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> None:
        given = inexact(dydx)
        if np.shape(y) != given.shape:
            raise ValueError("The shapes of `y` and `dydx` must be identical.")
        at, values, along = _prepared(x, y, axis)
        if not np.all(np.isfinite(given)):
            raise ValueError("`dydx` must contain only finite values.")
        self.x = at
        self.c = _hermite(at, values, np.moveaxis(given, along, 0))
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = along


def _harmonic(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """Return the derivative between two intervals: zero at an extremum."""
    if np.sign(m0) != np.sign(m1) or m0 == 0 or m1 == 0:
        return 0.0
    w0, w1 = 2 * h1 + h0, h1 + 2 * h0
    return 1.0 / ((w0 / m0 + w1 / m1) / (w0 + w1))


def _at_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """Return the derivative at an end, of three points, limited to keep the shape."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(d) != np.sign(m0):
        return 0.0
    if np.sign(m0) != np.sign(m1) and np.abs(d) > 3.0 * np.abs(m0):
        return 3.0 * m0
    return d


class PchipInterpolator(CubicHermiteSpline):
    """`scipy.interpolate.PchipInterpolator`."""

    def __init__(self, x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> None:
        at, values, along = _prepared(x, y, axis)
        if np.iscomplexobj(values):
            raise ValueError("`PchipInterpolator` only works with real values for `y`.")
        n, flat = len(at), flat_of(values)
        h = np.diff(at)
        d = np.empty(flat.shape)
        for column in range(flat.shape[1]):
            m = np.diff(flat[:, column]) / h
            if n == 2:
                d[0, column] = m[0]
                d[1, column] = m[0]
            else:
                for k in range(1, n - 1):
                    d[k, column] = _harmonic(h[k - 1], h[k], m[k - 1], m[k])
                d[0, column] = _at_end(h[0], h[1], m[0], m[1])
                d[n - 1, column] = _at_end(h[n - 2], h[n - 3], m[n - 2], m[n - 3])
        self.x = at
        self.c = _hermite(at, values, d.reshape(values.shape))
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = along


class Akima1DInterpolator(CubicHermiteSpline):
    """`scipy.interpolate.Akima1DInterpolator`."""

    def __init__(
        self, x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None
    ) -> None:
        if method not in ("akima", "makima"):
            raise Unsupported(
                "this `method` of `scipy.interpolate.Akima1DInterpolator`",
                "use 'akima' or 'makima'",
            )
        at, values, along = _prepared(x, y, axis)
        if np.iscomplexobj(values):
            raise ValueError("`Akima1DInterpolator` only works with real values for `y`.")
        n, flat = len(at), flat_of(values)
        # Slopes, with two more at each end.
        m = np.empty((n + 3, flat.shape[1]))
        m[2 : n + 1] = np.diff(flat, axis=0) / np.diff(at)[:, None]
        if n == 2:
            d = np.zeros(flat.shape) + m[2]
        else:
            m[1] = 2.0 * m[2] - m[3]
            m[0] = 2.0 * m[1] - m[2]
            m[n + 1] = 2.0 * m[n] - m[n - 1]
            m[n + 2] = 2.0 * m[n + 1] - m[n]
            change = np.abs(np.diff(m, axis=0))
            f1, f2 = change[2:], change[:n]
            if method == "makima":
                mean = np.abs(m[1:] + m[:-1])
                f1, f2 = f1 + 0.5 * mean[2:], f2 + 0.5 * mean[:n]
            total = f1 + f2
            smooth = total > 1.0e-9 * np.max(total)
            part = f2 / np.where(smooth, total, 1.0)
            weighted = m[1 : n + 1] + part * (m[2 : n + 2] - m[1 : n + 1])
            d = np.where(smooth, weighted, 0.5 * (m[3 : n + 3] + m[:n]))
        self.x = at
        self.c = _hermite(at, values, d.reshape(values.shape))
        self.extrapolate = False if extrapolate is None else extrapolate
        self.axis = along


def _tridiagonal(lower: Any, diagonal: Any, upper: Any, b: Any) -> Any:
    """Solve a tridiagonal system whose pivots do not vanish; `lower[0]` is not read."""
    n = len(diagonal)
    d = diagonal.copy()
    s = b.copy()
    for i in range(1, n):
        w = lower[i] / d[i - 1]
        d[i] -= w * upper[i - 1]
        for column in range(b.shape[1]):
            s[i, column] -= w * s[i - 1, column]
    for column in range(b.shape[1]):
        s[n - 1, column] /= d[n - 1]
    for i in range(n - 2, -1, -1):
        for column in range(b.shape[1]):
            s[i, column] = (s[i, column] - upper[i] * s[i + 1, column]) / d[i]
    return s


def _condition(bc: Any, y: Any) -> Any:
    """Return the order of a derivative at an end, and its values; 0 for "not-a-knot"."""
    count = y.shape[1:]
    if isinstance(bc, str):
        if bc == "not-a-knot":
            return 0, np.zeros(count)
        if bc == "clamped":
            return 1, np.zeros(count)
        if bc == "natural":
            return 2, np.zeros(count)
        raise ValueError(f"bc_type={bc} is not allowed.")
    order, value = bc
    if order != 1 and order != 2:
        raise ValueError("The specified derivative order must be 1 or 2.")
    if np.shape(value) != count:
        raise ValueError(f"`deriv_value` shape is not the expected one {count}.")
    return order, np.asarray(value)


def _slopes(x: Any, y: Any, start: Any, end: Any) -> Any:
    """Return the derivatives of a spline at the breakpoints, given its conditions at the ends."""
    n = len(x)
    h = np.diff(x)
    flat = flat_of(y)
    slope = np.diff(flat, axis=0) / h[:, None]
    left, of_left = start[0], start[1].reshape(-1)
    right, of_right = end[0], end[1].reshape(-1)
    if n == 3 and left == 0 and right == 0:
        # A parabola.
        middle = (h[0] * slope[1] + h[1] * slope[0]) / (h[0] + h[1])
        return np.stack((2 * slope[0] - middle, middle, 2 * slope[1] - middle)).reshape(y.shape)
    lower, diagonal, upper = np.zeros(n), np.empty(n), np.zeros(n)
    b = np.empty(flat.shape, flat.dtype)
    for i in range(1, n - 1):
        lower[i] = h[i]
        diagonal[i] = 2 * (h[i - 1] + h[i])
        upper[i] = h[i - 1]
        b[i] = 3 * (h[i] * slope[i - 1] + h[i - 1] * slope[i])
    if left == 1 or (left == 0 and n == 2):
        diagonal[0] = 1.0
        b[0] = of_left if left == 1 else slope[0]
    elif left == 2:
        diagonal[0] = 2 * h[0]
        upper[0] = h[0]
        b[0] = -0.5 * of_left * h[0] ** 2 + 3 * (flat[1] - flat[0])
    else:
        d = x[2] - x[0]
        diagonal[0] = h[1]
        upper[0] = d
        b[0] = ((h[0] + 2 * d) * h[1] * slope[0] + h[0] ** 2 * slope[1]) / d
    if right == 1 or (right == 0 and n == 2):
        diagonal[n - 1] = 1.0
        b[n - 1] = of_right if right == 1 else slope[0]
    elif right == 2:
        diagonal[n - 1] = 2 * h[n - 2]
        lower[n - 1] = h[n - 2]
        b[n - 1] = 0.5 * of_right * h[n - 2] ** 2 + 3 * (flat[n - 1] - flat[n - 2])
    else:
        d = x[n - 1] - x[n - 3]
        diagonal[n - 1] = h[n - 3]
        lower[n - 1] = d
        last = h[n - 2]
        b[n - 1] = (last**2 * slope[n - 3] + (2 * d + last) * h[n - 3] * slope[n - 2]) / d
    return _tridiagonal(lower, diagonal, upper, b).reshape(y.shape)


def _periodic_slopes(x: Any, y: Any) -> Any:
    """Return the derivatives of a periodic spline at the breakpoints.

    The system is tridiagonal but for two corners. Without its last equation and the last unknown it
    is tridiagonal; that unknown follows from the equation.
    """
    n = len(x)
    h = np.diff(x)
    flat = flat_of(y)
    slope = np.diff(flat, axis=0) / h[:, None]
    s = np.empty(flat.shape, flat.dtype)
    if n == 2:
        s[...] = slope[0]
    elif n == 3:
        s[...] = np.sum(slope / h[:, None], axis=0) / np.sum(1.0 / h)
    else:
        m = n - 2
        lower, diagonal, upper = np.zeros(m), np.empty(m), np.zeros(m)
        b = np.empty((m, flat.shape[1]), flat.dtype)
        corners = np.zeros((m, 1))
        for i in range(m):
            before = h[i - 1] if i > 0 else h[n - 2]
            slope_before = slope[i - 1] if i > 0 else slope[n - 2]
            lower[i] = h[i]
            diagonal[i] = 2 * (before + h[i])
            upper[i] = before
            b[i] = 3 * (h[i] * slope_before + before * slope[i])
        corners[0, 0] = -h[0]
        corners[m - 1, 0] -= h[n - 4]
        first = _tridiagonal(lower, diagonal, upper, b)
        second = _tridiagonal(lower, diagonal, upper, corners)
        # The last equation.
        rest = 3 * (h[n - 2] * slope[n - 3] + h[n - 3] * slope[n - 2])
        rest = rest - h[n - 3] * first[0] - h[n - 2] * first[m - 1]
        pivot = 2 * (h[n - 2] + h[n - 3])
        pivot = pivot + h[n - 3] * second[0, 0] + h[n - 2] * second[m - 1, 0]
        last = rest / pivot
        s[:m] = first + second * last
        s[m] = last
        s[n - 1] = s[0]
    return s.reshape(y.shape)


class CubicSpline(CubicHermiteSpline):
    """`scipy.interpolate.CubicSpline`."""

    def __init__(
        self, x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ) -> None:
        at, values, along = _prepared(x, y, axis)
        if isinstance(bc_type, str) and bc_type == "periodic":
            if not np.allclose(values[0], values[-1], rtol=1e-15, atol=1e-15):
                raise ValueError(
                    f"The first and last `y` point along axis {along} must be identical (within "
                    "machine precision) when bc_type='periodic'."
                )
            d = _periodic_slopes(at, values)
            beyond: Any = "periodic"
        else:
            start, end = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
            first, last = _condition(start, values), _condition(end, values)
            d = _slopes(at, values, first, last)
            beyond = True
        self.x = at
        self.c = _hermite(at, values, d)
        self.extrapolate = beyond if extrapolate is None else extrapolate
        self.axis = along


__all__ = ["Akima1DInterpolator", "CubicHermiteSpline", "CubicSpline", "PchipInterpolator"]
