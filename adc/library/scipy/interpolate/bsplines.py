"""`scipy.interpolate`: splines as sums of B-splines.

The values of the B-splines at a point are found by de Boor's recurrence [1]_. The matrix of an
interpolation problem has a band of them. Its rows are ordered so that it is eliminated without
exchanges: at each end, the derivatives come behind the value, seen from that end.

References
----------
.. [1] C. de Boor. A Practical Guide to Splines. Springer, 1978.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.interpolate.cubic import flat_of
from adc.library.scipy.interpolate.piecewise import inexact, placed


def knot_before(t: Any, k: Any, at: Any) -> Any:
    """Return the knot that begins the interval of a point: the nearest one for a point outside.

    That of NaN is the last.
    """
    low, high = k, len(t) - k - 1
    while high - low > 1:
        middle = (low + high) // 2
        if at < t[middle]:
            high = middle
        else:
            low = middle
    return low


def _interval(t: Any, k: Any, at: Any, extrapolate: Any) -> Any:
    """Return the knot that begins the interval of a point; -1 for none."""
    low, high = t[k], t[len(t) - k - 1]
    if not (low <= at <= high) and not (extrapolate and (at < low or at > high)):
        return -1
    return knot_before(t, k, at)


def basis(h: Any, t: Any, k: Any, i: Any, at: Any, nu: Any) -> None:
    """Write the derivatives of the B-splines that do not vanish in an interval at a point."""
    h[0] = 1.0
    for j in range(1, k + 1):
        left = 0.0
        for n in range(1, j + 1):
            above, below = t[i + n], t[i + n - j]
            part = h[n - 1] / (above - below) if above != below else 0.0
            if j <= k - nu:
                h[n - 1] = left + part * (above - at)
                left = part * (at - below)
            else:
                h[n - 1] = left - j * part
                left = j * part
        h[j] = left


class BSpline:
    """`scipy.interpolate.BSpline`."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> None:
        self.k = k
        self.t = np.asarray(t).astype(np.float64)
        whole = inexact(c)
        self.axis = axis % whole.ndim
        self.c = np.moveaxis(whole, axis, 0)
        self.extrapolate = extrapolate
        n = len(self.t) - k - 1
        if k < 0:
            raise ValueError("Spline order cannot be negative.")
        if self.t.ndim != 1:
            raise ValueError("Knot vector must be one-dimensional.")
        if n < k + 1:
            raise ValueError(f"Need at least {2 * k + 2} knots for degree {k}")
        if np.any(np.diff(self.t) < 0):
            raise ValueError("Knots must be in a non-decreasing order.")
        if not self.t[k] < self.t[n]:
            raise ValueError("Need at least two internal knots.")
        if not np.all(np.isfinite(self.t)):
            raise ValueError("Knots should not have nans or infs.")
        if self.c.shape[0] < n:
            raise ValueError("Knots, coefficients and degree are inconsistent.")

    @property
    def tck(self) -> Any:
        """`scipy.interpolate.BSpline.tck`."""
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        points = np.asarray(x)
        beyond = self.extrapolate if extrapolate is None else extrapolate
        at = np.ravel(points).astype(np.float64)
        t, k = self.t, self.k
        n = len(t) - k - 1
        if isinstance(beyond, str):
            at = t[k] + (at - t[k]) % (t[n] - t[k])
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        c = flat_of(self.c)
        out = np.zeros((len(at), c.shape[1]), c.dtype)
        h = np.empty(k + 1)
        for p in range(len(at)):
            i = _interval(t, k, at[p], not isinstance(beyond, str) and beyond)
            if i < 0:
                out[p] = np.nan
            elif nu <= k:
                basis(h, t, k, i, at[p], nu)
                for j in range(k + 1):
                    for column in range(c.shape[1]):
                        out[p, column] += c[i - k + j, column] * h[j]
        return placed(out, points.shape, self.c.shape[1:], self.axis)

    def derivative(self, nu: Any = 1) -> Any:
        """`scipy.interpolate.BSpline.derivative`."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = derivative_of(self.t, padded(self.c, self.t), self.k, nu)
        return self._like(t, c, k, self.extrapolate)

    def antiderivative(self, nu: Any = 1) -> Any:
        """`scipy.interpolate.BSpline.antiderivative`."""
        if nu <= 0:
            return self.derivative(-nu)
        beyond = False if isinstance(self.extrapolate, str) else self.extrapolate
        t, c, k = antiderivative_of(self.t, padded(self.c, self.t), self.k, nu)
        return self._like(t, c, k, beyond)

    def _like(self, t: Any, c: Any, k: Any, extrapolate: Any) -> Any:
        found = BSpline(t, c, k, extrapolate)
        found.axis = self.axis
        return found

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """`scipy.interpolate.BSpline.integrate`."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            raise Unsupported(
                "the integral of a periodic `scipy.interpolate.BSpline`",
                "add the integrals of its parts, or use `CubicSpline`",
            )
        n = len(self.t) - self.k - 1
        low, high, sign = float(a), float(b), 1.0
        if high < low:
            low, high, sign = high, low, -1.0
        if not beyond:
            low, high = max(low, self.t[self.k]), min(high, self.t[n])
        found = self.antiderivative()
        total = np.ravel(found(high, 0, True) - found(low, 0, True)) * 1.0
        total *= sign
        return total.reshape(self.c.shape[1:])


def padded(c: Any, t: Any) -> Any:
    """Return coefficients with zeros behind them: FITPACK leaves room for as many as knots."""
    missing = len(t) - len(c)
    return np.concatenate((c, np.zeros((missing, *c.shape[1:])))) if missing > 0 else c


def derivative_of(t: Any, c: Any, k: Any, n: Any) -> Any:
    """Return knots, coefficients and degree of a derivative, with as many coefficients as knots."""
    if n > k:
        raise ValueError(f"Order of derivative (n = {n}) must be <= order of spline (k = {k})")
    # After the first step, coefficients are those of double precision.
    if n > 0:
        t, c, k = _once_less(t, c, k, n)
    for _ in range(1, n):
        t, c, k = _once_less(t, c, k, n)
    return t, c, k


def antiderivative_of(t: Any, c: Any, k: Any, n: Any) -> Any:
    """Return the same of an antiderivative, which is 0 at the first knot."""
    if n > 0:
        t, c, k = _once_more(t, c, k)
    for _ in range(1, n):
        t, c, k = _once_more(t, c, k)
    return t, c, k


def _once_less(t: Any, c: Any, k: Any, n: Any) -> Any:
    h = (t[k + 1 : -1] - t[1 : -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
    if np.any(h == 0):
        raise ValueError(
            f"The spline has internal repeated knots and is not differentiable {n} times"
        )
    found = (c[1 : -1 - k] - c[: -2 - k]) * k / h
    return t[1:-1], np.concatenate((found, np.zeros((k, *c.shape[1:])))), k - 1


def _once_more(t: Any, c: Any, k: Any) -> Any:
    h = (t[k + 1 :] - t[: -k - 1]).reshape((-1,) + (1,) * (c.ndim - 1))
    found = np.cumsum(c[: -k - 1] * h, axis=0) / (k + 1)
    begin = np.zeros((1, *c.shape[1:]))
    whole = np.concatenate((begin, found, np.stack([found[-1]] * (k + 2))))
    return np.concatenate((t[:1], t, t[-1:])), whole, k + 1


# --- interpolation --------------------------------------------------------------------------------


def interpolation_knots(x: Any, k: Any, free: Any) -> Any:
    """Return knots for an interpolation problem, at points but for those next to the ends."""
    if not free:
        return np.concatenate((np.full(k, x[0]), x, np.full(k, x[-1])))
    inner = x if k % 2 == 1 else (x[1:] + x[:-1]) / 2
    half = (k + 1) // 2
    inner = inner[half : len(inner) - half]
    return np.concatenate((np.full(k + 1, x[0]), inner, np.full(k + 1, x[-1])))


def _solved(band: Any, b: Any, k: Any) -> Any:
    """Solve a system with `k` elements at each side of the diagonal, by elimination."""
    n = len(b)
    a = band.copy()
    c = b.copy()
    for i in range(n):
        if a[i, k] == 0:
            raise np.linalg.LinAlgError("Colocation matrix is singular.")
        for row in range(i + 1, min(i + k + 1, n)):
            # The element of the row in column i.
            w = a[row, i - row + k] / a[i, k]
            for j in range(1, k + 1):
                a[row, i - row + k + j] -= w * a[i, k + j]
            for column in range(b.shape[1]):
                c[row, column] -= w * c[i, column]
    for i in range(n - 1, -1, -1):
        for j in range(1, min(k + 1, n - i)):
            for column in range(b.shape[1]):
                c[i, column] -= a[i, k + j] * c[i + j, column]
        for column in range(b.shape[1]):
            c[i, column] /= a[i, k]
    return c


def _conditions(bc: Any, y: Any) -> Any:
    """Return orders of derivatives at an end, and the values of each."""
    if bc is None:
        return []
    zero = np.zeros(y.shape[1:])
    if isinstance(bc, str):
        if bc == "clamped":
            return [(1, zero)]
        if bc == "natural":
            return [(2, zero)]
        raise ValueError(f"Unknown boundary condition : {bc}")
    return [(order, zero + np.asarray(value)) for order, value in bc]


def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_interp_spline`."""
    at = np.asarray(x).astype(np.float64)
    whole = inexact(y)
    along = axis % whole.ndim
    values = np.moveaxis(whole, along, 0)
    if check_finite and not (np.all(np.isfinite(at)) and np.all(np.isfinite(values))):
        raise ValueError("Array must not contain infs or nans.")
    if at.ndim != 1:
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    if len(at) != values.shape[0]:
        raise ValueError("Shapes of x and y are incompatible")
    if np.any(at[1:] == at[:-1]):
        raise ValueError("Expect x to not have duplicates")
    if np.any(at[1:] < at[:-1]):
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    left, right = None, None
    if isinstance(bc_type, str):
        if bc_type == "periodic":
            raise Unsupported(
                "`scipy.interpolate.make_interp_spline` with `bc_type='periodic'`",
                "use `CubicSpline(x, y, bc_type='periodic')`",
            )
        if bc_type != "not-a-knot":
            left, right = bc_type, bc_type
    elif bc_type is not None:
        left, right = bc_type
    found = coefficients(at, values, k, t, left, right)
    spline = BSpline(found[0], found[1], k)
    spline.axis = along
    return spline


def coefficients(x: Any, y: Any, k: Any, t: Any, left: Any, right: Any) -> Any:
    """Return the knots and the coefficients of an interpolating spline."""
    free = left is None and right is None
    if k == 0:
        if t is not None or not free:
            raise ValueError("Too much info for k=0: t and bc_type can only be None.")
        return np.concatenate((x, x[-1:])), y.copy()
    if k == 1 and t is None:
        if not free:
            raise ValueError("Too much info for k=1: bc_type can only be None.")
        return np.concatenate((x[:1], x, x[-1:])), y.copy()
    if k < 0:
        raise ValueError("Expect non-negative k.")
    knots = interpolation_knots(x, k, free) if t is None else np.asarray(t).astype(np.float64)
    n = len(x)
    if knots.ndim != 1 or np.any(knots[1:] < knots[:-1]):
        raise ValueError("Expect t to be a 1-D sorted array_like.")
    if len(knots) < n + k + 1:
        raise ValueError(f"Got {len(knots)} knots, need at least {n + k + 1}.")
    if x[0] < knots[k] or x[n - 1] > knots[len(knots) - k]:
        raise ValueError("Out of bounds w/ x")
    before, behind = _conditions(left, y), _conditions(right, y)
    count = len(knots) - k - 1
    if count - n != len(before) + len(behind):
        raise ValueError(
            f"The number of derivatives at boundaries does not match: expected {count - n}, got "
            f"{len(before)}+{len(behind)}"
        )
    flat = flat_of(y)
    band = np.zeros((count, 2 * k + 1))
    b = np.empty((count, flat.shape[1]), flat.dtype)
    h = np.empty(k + 1)
    for p in range(n):
        row = 0 if p == 0 else (count - 1 if p == n - 1 else p + len(before))
        _put_row(band, h, knots, k, row, x[p], 0)
        b[row] = flat[p]
    for order, value in before:
        row = 1 + sum([1 for other, _ in before if other < order])
        _put_row(band, h, knots, k, row, x[0], order)
        b[row] = value.reshape(-1)
    for order, value in behind:
        row = count - 2 - sum([1 for other, _ in behind if other < order])
        _put_row(band, h, knots, k, row, x[n - 1], order)
        b[row] = value.reshape(-1)
    return knots, _solved(band, b, k).reshape((count, *y.shape[1:]))


def _put_row(band: Any, h: Any, t: Any, k: Any, row: Any, at: Any, nu: Any) -> None:
    i = _interval(t, k, at, True)
    basis(h, t, k, i, at, nu)
    for j in range(k + 1):
        place = i - k + j - row + k
        if 0 <= place <= 2 * k:
            band[row, place] = h[j]


__all__ = [
    "BSpline", "antiderivative_of", "basis", "coefficients", "derivative_of",
    "interpolation_knots", "knot_before", "make_interp_spline", "padded",
]  # fmt: skip
