"""`scipy.interpolate`: polynomials between breakpoints.

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


def _inexact(x: Any) -> Any:
    """Return an array in double precision."""
    found = np.asarray(x)
    return found.astype(np.complex128) if np.iscomplexobj(found) else found.astype(np.float64)


def interval(x: Any, at: Any, extrapolate: Any) -> Any:
    """Return which interval between breakpoints a point is in; -1 for none."""
    last = len(x) - 2
    if not (x[0] <= at <= x[last + 1]):
        if extrapolate and at < x[0]:
            return 0
        if extrapolate and at > x[last + 1]:
            return last
        return -1
    low, high = 0, last + 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= at:
            low = middle
        else:
            high = middle
    return low


def placed(out: Any, shape: Any, rest: Any, axis: Any) -> Any:
    """Return values, a row for each point, as an array: the axes of the points replace `axis`."""
    whole = out.reshape((out.shape[0], *rest))
    if len(rest) == 0 or len(shape) == 0:
        return whole.reshape(shape + rest)
    return np.moveaxis(whole, 0, axis).reshape(rest[:axis] + shape + rest[axis:])


def _value(c: Any, i: Any, column: Any, s: Any, nu: Any) -> Any:
    """Return a derivative of one polynomial, a sum from the lowest power."""
    k = c.shape[0]
    found, power = c.dtype.type(0.0), 1.0
    for q in range(nu, k):
        factor = 1.0
        for j in range(nu):
            factor *= q - j
        found = found + c[k - 1 - q, i, column] * power * factor
        power = power * s
    return found


def _area(c: Any, i: Any, column: Any, s: Any) -> Any:
    """Return the integral of one polynomial from 0 to `s`."""
    k = c.shape[0]
    found, power = c.dtype.type(0.0), s
    for q in range(k):
        found = found + c[k - 1 - q, i, column] * power * (1.0 / (q + 1))
        power = power * s
    return found


def _columns(c: Any) -> Any:
    """Return coefficients with one axis for all that are interpolated at once."""
    count = 1
    for size in c.shape[2:]:
        count *= size
    return c.reshape((c.shape[0], c.shape[1], count))


class PPoly:
    """`scipy.interpolate.PPoly`."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> None:
        whole = _inexact(c)
        if whole.ndim < 2:
            raise ValueError("Coefficients array must be at least 2-dimensional.")
        if axis < 0 or axis >= whole.ndim - 1:
            raise ValueError(f"axis={axis} must be between 0 and {whole.ndim - 1}")
        self.c = np.moveaxis(whole, (axis, axis + 1), (0, 1))
        self.x = np.asarray(x).astype(np.float64)
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = axis
        if self.x.ndim != 1:
            raise ValueError("x must be 1-dimensional")
        if len(self.x) < 2:
            raise ValueError("at least 2 breakpoints are needed")
        if self.c.shape[0] == 0:
            raise ValueError("polynomial must be at least of order 0")
        if self.c.shape[1] != len(self.x) - 1:
            raise ValueError("number of coefficients != len(x)-1")
        if np.any(np.diff(self.x) < 0):
            raise Unsupported(
                "`scipy.interpolate.PPoly` of breakpoints that do not increase", "sort them"
            )

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        points = np.asarray(x)
        beyond = self.extrapolate if extrapolate is None else extrapolate
        at = np.ravel(points).astype(np.float64)
        knots = self.x
        if beyond == "periodic":
            at = knots[0] + (at - knots[0]) % (knots[-1] - knots[0])
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        c = _columns(self.c)
        out = np.empty((len(at), c.shape[2]), c.dtype)
        for p in range(len(at)):
            i = interval(knots, at[p], beyond != "periodic" and beyond)
            if i < 0:
                out[p] = np.nan
            else:
                s = at[p] - knots[i]
                for column in range(c.shape[2]):
                    out[p, column] = _value(c, i, column, s, nu)
        return placed(out, points.shape, self.c.shape[2:], self.axis)

    def derivative(self, nu: Any = 1) -> Any:
        """`scipy.interpolate.PPoly.derivative`."""
        if nu < 0:
            return self.antiderivative(-nu)
        k = self.c.shape[0]
        if nu >= k:
            return self._like(np.zeros((1, *self.c.shape[1:]), self.c.dtype), self.extrapolate)
        c = self.c[: k - nu].copy()
        for row in range(k - nu):
            for j in range(nu):
                c[row] *= k - 1 - row - j
        return self._like(c, self.extrapolate)

    def antiderivative(self, nu: Any = 1) -> Any:
        """`scipy.interpolate.PPoly.antiderivative`."""
        if nu <= 0:
            return self.derivative(-nu)
        k, m = self.c.shape[0], self.c.shape[1]
        c = np.zeros((k + nu, *self.c.shape[1:]), self.c.dtype)
        c[:k] = self.c
        for row in range(k):
            for j in range(nu):
                c[row] /= k - row + j
        flat = _columns(c)
        # It goes on at each breakpoint where it was, and so do its derivatives.
        for i in range(1, m):
            s = self.x[i] - self.x[i - 1]
            for column in range(flat.shape[2]):
                factor = 1.0
                for order in range(nu):
                    factor *= max(order, 1)
                    value = _value(flat, i - 1, column, s, order)
                    flat[k + nu - 1 - order, i, column] = value / factor
        beyond = False if self.extrapolate == "periodic" else self.extrapolate
        return self._like(flat.reshape(c.shape), beyond)

    def _like(self, c: Any, extrapolate: Any) -> Any:
        found = PPoly(c, self.x, extrapolate)
        found.axis = self.axis
        return found

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """`scipy.interpolate.PPoly.integrate`."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        c, x = _columns(self.c), self.x
        low, high, sign = float(a), float(b), 1.0
        if high < low:
            low, high, sign = high, low, -1.0
        if beyond == "periodic":
            first, last = x[0], x[-1]
            count, rest = divmod(high - low, last - first)
            found = _between(c, x, first, last, False) * count
            low = first + (low - first) % (last - first)
            high = low + rest
            found = found + _between(c, x, low, min(high, last), False)
            if high > last:
                found = found + _between(c, x, first, first + (high - last), False)
        else:
            found = _between(c, x, low, high, beyond)
        found *= sign
        return found.reshape(self.c.shape[2:])

    def solve(self, y: Any = 0.0, discontinuity: Any = True, extrapolate: Any = None) -> Any:
        """`scipy.interpolate.PPoly.solve`."""
        raise Unsupported(
            "the roots of a piecewise polynomial of `scipy.interpolate`",
            "find them outside the differentiated function, and refine them by a step of Newton's "
            "method inside",
        )

    def roots(self, discontinuity: Any = True, extrapolate: Any = None) -> Any:
        """`scipy.interpolate.PPoly.roots`."""
        return self.solve(0.0)

    def extend(self, c: Any, x: Any) -> None:
        """`scipy.interpolate.PPoly.extend`."""
        raise Unsupported(
            "`extend` of a piecewise polynomial of `scipy.interpolate`",
            "concatenate the coefficients and the breakpoints",
        )


def _between(c: Any, x: Any, a: Any, b: Any, extrapolate: Any) -> Any:
    """Return the integrals from `a` to `b`, which is not less."""
    first, last = interval(x, a, extrapolate), interval(x, b, extrapolate)
    found = np.full(c.shape[2], np.nan, c.dtype)
    if first >= 0 and last >= 0:
        for column in range(c.shape[2]):
            total = _area(c, last, column, b - x[last]) - _area(c, first, column, a - x[first])
            for i in range(first, last):
                total = total + _area(c, i, column, x[i + 1] - x[i])
            found[column] = total
    return found


# --- cubic interpolants ---------------------------------------------------------------------------


def _prepared(x: Any, y: Any, axis: Any) -> Any:
    """Return breakpoints, values with their axis in front, and the axis."""
    at = np.asarray(x)
    if np.iscomplexobj(at):
        raise ValueError("`x` must contain real values.")
    at = at.astype(np.float64)
    values = _inexact(y)
    along = axis % values.ndim
    if at.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if len(at) < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if len(at) != values.shape[along]:
        raise ValueError(
            f"The length of `y` along `axis`={along} doesn't match the length of `x`"
        )
    if not np.all(np.isfinite(at)):
        raise ValueError("`x` must contain only finite values.")
    if not np.all(np.isfinite(values)):
        raise ValueError("`y` must contain only finite values.")
    if np.any(np.diff(at) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return at, np.moveaxis(values, along, 0), along


def _flat(y: Any) -> Any:
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

    def __init__(
        self, x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None
    ) -> None:
        given = _inexact(dydx)
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


class PchipInterpolator(PPoly):
    """`scipy.interpolate.PchipInterpolator`."""

    def __init__(self, x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> None:
        at, values, along = _prepared(x, y, axis)
        if np.iscomplexobj(values):
            raise ValueError("`PchipInterpolator` only works with real values for `y`.")
        n, flat = len(at), _flat(values)
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


class Akima1DInterpolator(PPoly):
    """`scipy.interpolate.Akima1DInterpolator`."""

    def __init__(
        self, x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None
    ) -> None:
        if method not in ("akima", "makima"):
            raise NotImplementedError("this `method` is unsupported.")
        at, values, along = _prepared(x, y, axis)
        if np.iscomplexobj(values):
            raise ValueError("`Akima1DInterpolator` only works with real values for `y`.")
        n, flat = len(at), _flat(values)
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
            f1, f2 = change[2:], change[: n]
            if method == "makima":
                mean = np.abs(m[1:] + m[:-1])
                f1, f2 = f1 + 0.5 * mean[2:], f2 + 0.5 * mean[: n]
            total = f1 + f2
            smooth = total > 1.0e-9 * np.max(total)
            part = f2 / np.where(smooth, total, 1.0)
            weighted = m[1 : n + 1] + part * (m[2 : n + 2] - m[1 : n + 1])
            d = np.where(smooth, weighted, 0.5 * (m[3 : n + 3] + m[: n]))
        self.x = at
        self.c = _hermite(at, values, d.reshape(values.shape))
        self.extrapolate = False if extrapolate is None else extrapolate
        self.axis = along


def _tridiagonal(lower: Any, diagonal: Any, upper: Any, b: Any) -> Any:
    """Solve a tridiagonal system whose pivots do not vanish: `lower[i]` is left of ``diagonal[i]``."""
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
    flat = _flat(y)
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
    flat = _flat(y)
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


class CubicSpline(PPoly):
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


__all__ = [
    "Akima1DInterpolator", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
]  # fmt: skip
