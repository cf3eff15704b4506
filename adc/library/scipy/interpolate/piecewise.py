"""`scipy.interpolate`: polynomials between breakpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported


def inexact(x: Any) -> Any:
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
        whole = inexact(c)
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
        refuse_roots("a piecewise polynomial")

    def roots(self, discontinuity: Any = True, extrapolate: Any = None) -> Any:
        """`scipy.interpolate.PPoly.roots`."""
        return self.solve(0.0)

    def extend(self, c: Any, x: Any) -> None:
        """`scipy.interpolate.PPoly.extend`."""
        raise Unsupported(
            "`extend` of a piecewise polynomial of `scipy.interpolate`",
            "concatenate the coefficients and the breakpoints",
        )


def refuse_roots(of: Any) -> None:
    """Refuse to find roots."""
    raise Unsupported(
        f"finding roots of {of} of `scipy.interpolate`",
        "find them outside the differentiated function, and refine them by a step of Newton's "
        "method inside",
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


__all__ = ["PPoly", "inexact", "interval", "placed", "refuse_roots"]
