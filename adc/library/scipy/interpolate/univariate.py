"""`scipy.interpolate`: FITPACK's splines of one variable, as tuples and as objects.

A spline is a tuple of knots, coefficients and degree; behind the coefficients, FITPACK leaves room
for as many as there are knots. Beyond its knots it goes on as the polynomial at that end, unless
`ext` says otherwise [1]_. Splines that smooth are made outside of programs: which knots they have
is found by search.

References
----------
.. [1] P. Dierckx. Curve and Surface Fitting with Splines. Oxford University Press, 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.interpolate import bsplines
from adc.library.scipy.interpolate.piecewise import refuse_roots

_MODES = {
    0: 0, "extrapolate": 0, 1: 1, "zeros": 1, 2: 2, "raise": 2, 3: 3, "const": 3,
}  # fmt: skip


def doubles(x: Any) -> Any:
    """Return an array in double precision."""
    found = np.asarray(x)
    if np.iscomplexobj(found):
        raise Unsupported(
            "a complex argument of a spline of FITPACK's, which leaves the imaginary part out,",
            "pass the real part, or both in two calls",
        )
    return found.astype(np.float64)


def line(x: Any) -> Any:
    """Return a vector in double precision, of what has one axis that counts."""
    found = doubles(x)
    rank = sum([1 for size in found.shape if size > 1])
    if rank > 1:
        raise ValueError(f"too many axes: {found.ndim} (effrank={rank}), expected rank=1")
    return np.ravel(found)


def clamped(at: Any, low: Any, high: Any) -> Any:
    """Return a number, or the end of an interval that it is beyond."""
    if at < low:
        return low
    if at > high:
        return high
    return at


def require_knots(t: Any, k: Any) -> None:
    """Refuse knots that FITPACK does not make: it returns anything for them."""
    if k < 0 or len(t) < 2 * k + 2:
        raise Unsupported(
            "a spline of FITPACK's with fewer than 2k + 2 knots",
            "take knots, coefficients and degree from one call of `splrep` or `bisplrep`",
        )
    n = len(t) - k - 1
    if not (t[k] < t[k + 1] and t[n - 1] < t[n]):
        raise Unsupported(
            "a spline of FITPACK's whose first or last interval is empty",
            "repeat the knots at the ends k + 1 times",
        )


def checked(t: Any, c: Any, k: Any) -> Any:
    """Return knots, coefficients and degree as numbers of FITPACK's."""
    knots, found, degree = line(t), line(c), int(k)
    require_knots(knots, degree)
    if len(found) < len(knots) - degree - 1:
        raise Unsupported(
            "a spline of FITPACK's with fewer coefficients than B-splines",
            "take knots, coefficients and degree from one call of `splrep`",
        )
    return knots, found, degree


def _is_parametric(c: Any) -> Any:
    """Whether coefficients are those of several functions."""
    if isinstance(c, list | tuple):
        return len(c) > 0 and np.ndim(c[0]) > 0
    return np.ndim(c) > 1


def _evaluated(x: Any, t: Any, c: Any, k: Any, der: Any, ext: Any) -> Any:
    """Return a derivative of one spline at points."""
    if not (0 <= der <= k):
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    points = doubles(x)
    knots, found, degree = checked(t, c, k)
    at = np.ravel(points)
    if len(at) == 0:
        raise ValueError("Invalid input data")
    nu = int(der)
    low, high = knots[degree], knots[len(knots) - degree - 1]
    out = np.zeros(len(at))
    h = np.empty(degree + 1)
    for p in range(len(at)):
        v = at[p]
        outside = v < low or v > high
        if outside and ext == 2:
            raise ValueError("Found x value not in the domain")
        if outside and ext == 3 and nu == 0:  # derivatives go on
            v = clamped(v, low, high)
        if not (outside and ext == 1):
            i = bsplines.knot_before(knots, degree, v)
            bsplines.basis(h, knots, degree, i, v, nu)
            for j in range(degree + 1):
                out[p] += found[i - degree + j] * h[j]
    return out.reshape(points.shape)


def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    """`scipy.interpolate.splev`."""
    if isinstance(tck, bsplines.BSpline):
        _require_one(tck, "splev", "BSpline.__call__(x)")
        if ext != 0:
            raise ValueError(f"Extrapolation mode {ext} is not supported by BSpline.")
        return tck(x, der, True)
    t, c, k = tck
    if _is_parametric(c):
        return [_evaluated(x, t, each, k, der, ext) for each in c]
    return _evaluated(x, t, c, k, der, ext)


def _require_one(spline: Any, name: Any, instead: Any) -> None:
    if spline.c.ndim > 1:
        raise ValueError(
            f"Calling {name}() with BSpline objects with c.ndim > 1 is not allowed. Use {instead} "
            "instead."
        )


def integral(a: Any, b: Any, t: Any, c: Any, k: Any) -> Any:
    """Return the integrals of splines, one for each column; beyond their knots, they are 0."""
    if np.ndim(a) > 0 or np.ndim(b) > 0:
        raise Unsupported("an array as a limit of an integral of a spline", "pass numbers")
    low, high = t[k], t[len(t) - k - 1]
    knots, whole, degree = bsplines.antiderivative_of(t, bsplines.padded(c, t), k, 1)
    out = np.zeros(c.shape[1])
    h = np.empty(degree + 1)
    for limit, sign in ((float(b), 1.0), (float(a), -1.0)):
        at = clamped(limit, low, high)
        i = bsplines.knot_before(knots, degree, at)
        bsplines.basis(h, knots, degree, i, at, 0)
        for j in range(degree + 1):
            for column in range(c.shape[1]):
                out[column] += sign * whole[i - degree + j, column] * h[j]
    return out


def _integral(a: Any, b: Any, t: Any, c: Any, k: Any) -> Any:
    """Return the integral of one spline."""
    knots, found, degree = checked(t, c, k)
    return float(integral(a, b, knots, found.reshape((-1, 1)), degree)[0])


def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """`scipy.interpolate.splint`."""
    if isinstance(tck, bsplines.BSpline):
        _require_one(tck, "splint", "BSpline.integrate()")
        return tck.integrate(a, b, False)
    t, c, k = tck
    if _is_parametric(c):
        return [_integral(a, b, t, each, k) for each in c]
    if full_output:
        raise Unsupported("`scipy.interpolate.splint` with `full_output`", "leave it out")
    return _integral(a, b, t, c, k)


def _pointwise(x: Any, t: Any, c: Any, k: Any) -> Any:
    """Return all derivatives of a spline at a point."""
    if np.ndim(x) > 0:
        raise Unsupported("all derivatives of a spline at several points", "loop over the points")
    knots, found, degree = checked(t, c, k)
    at = float(x)
    if at < knots[degree] or at > knots[len(knots) - degree - 1]:
        raise TypeError("Invalid input data. t(k)<=x<=t(n-k+1) must hold.")
    out = np.zeros(degree + 1)
    h = np.empty(degree + 1)
    i = bsplines.knot_before(knots, degree, at)
    for nu in range(degree + 1):
        bsplines.basis(h, knots, degree, i, at, nu)
        for j in range(degree + 1):
            out[nu] += found[i - degree + j] * h[j]
    return out


def spalde(x: Any, tck: Any) -> Any:
    """`scipy.interpolate.spalde`."""
    if isinstance(tck, bsplines.BSpline):
        raise TypeError("spalde does not accept BSpline instances.")
    t, c, k = tck
    if _is_parametric(c):
        return [_pointwise(x, t, each, k) for each in c]
    return _pointwise(x, t, c, k)


# --- derivatives and antiderivatives --------------------------------------------------------------


def splder(tck: Any, n: Any = 1) -> Any:
    """`scipy.interpolate.splder`."""
    if isinstance(tck, bsplines.BSpline):
        return tck.derivative(n)
    t, c, k = tck
    if n < 0:
        return bsplines.antiderivative_of(t, c, k, -n)
    return bsplines.derivative_of(t, c, k, n)


def splantider(tck: Any, n: Any = 1) -> Any:
    """`scipy.interpolate.splantider`."""
    if isinstance(tck, bsplines.BSpline):
        return tck.antiderivative(n)
    t, c, k = tck
    if n < 0:
        return bsplines.derivative_of(t, c, k, -n)
    return bsplines.antiderivative_of(t, c, k, n)


# --- interpolation --------------------------------------------------------------------------------


def interpolated(x: Any, y: Any, low: Any, high: Any, k: Any) -> Any:
    """Return the knots and the coefficients of splines through points, one for each column."""
    if len(x) <= k:
        raise Unsupported(
            "interpolation of at most as many points as the degree", "pass more points"
        )
    begin = x[0] if low is None else float(low)
    end = x[-1] if high is None else float(high)
    if not (begin <= x[0] and x[-1] <= end):
        raise Unsupported(
            "interpolation of points outside of its interval", "pass a wider interval"
        )
    inner = bsplines.interpolation_knots(x, k, True)[k + 1 : len(x)]
    t = np.concatenate((np.full(k + 1, begin), inner, np.full(k + 1, end)))
    return t, bsplines.coefficients(x, y, k, t, None, None)[1]


def _made(x: Any, y: Any, w: Any, low: Any, high: Any, k: Any) -> Any:
    """Return the tuple of a spline through points; weights do not count."""
    if w is not None and np.any(np.asarray(w) == 0):
        raise Unsupported("interpolation of points without weight", "leave them out")
    at, values = line(x), line(y)
    t, c = interpolated(at, values.reshape((-1, 1)), low, high, k)
    return t, np.concatenate((np.ravel(c), np.zeros(k + 1))), k


def require_no_smoothing(name: Any, smooths: Any) -> None:
    """Refuse a spline that does not go through its points."""
    if smooths:
        raise Unsupported(
            f"`scipy.interpolate.{name}` that smooths inside code",
            "pass `s=0` to interpolate, or make the spline outside the differentiated function",
        )


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, task: Any = 0,
    s: Any = None, t: Any = None, full_output: Any = 0, per: Any = 0, quiet: Any = 1,
) -> Any:  # fmt: skip
    """`scipy.interpolate.splrep`."""
    at, values = np.atleast_1d(x), np.atleast_1d(y)
    if w is not None and len(np.atleast_1d(w)) != len(at):
        raise TypeError(f"len(w)={len(np.atleast_1d(w))} is not equal to m={len(at)}")
    if len(at) != len(values):
        raise TypeError("Lengths of the first three arguments (x,y,w) must be equal")
    if not (1 <= k <= 5):
        raise TypeError(f"Given degree of the spline (k={k}) is not supported. (1<=k<=5)")
    if len(at) <= k:
        raise TypeError("m > k must hold")
    if task != 0 or t is not None:
        raise Unsupported(
            "`scipy.interpolate.splrep` with given knots",
            "fit the spline outside the differentiated function",
        )
    if per:
        raise Unsupported(
            "`scipy.interpolate.splrep` with `per`",
            "use `CubicSpline(x, y, bc_type='periodic')`",
        )
    if full_output or not quiet:
        raise Unsupported(
            "`scipy.interpolate.splrep` with `full_output` or `quiet=0`", "leave it out"
        )
    require_no_smoothing("splrep", (w is not None) if s is None else s != 0)
    if np.any(at[1:] < at[:-1]):
        raise ValueError("Error on input data")
    if not np.all(at[1:] > at[:-1]):
        raise Unsupported("interpolation of points that are equal, or NaN,", "leave them out")
    return _made(at, values, w, xb, xe, k)


def _mode(ext: Any) -> Any:
    if ext not in _MODES:
        raise ValueError(f"Unknown extrapolation mode {ext}.")
    return _MODES[ext]


class UnivariateSpline:
    """`scipy.interpolate.UnivariateSpline`, however it was made."""

    def __init__(self, tck: Any, ext: Any = 0) -> None:
        self._eval_args = tck
        self.ext = ext

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        points = np.asarray(x)
        mode = self.ext if ext is None else _mode(ext)
        t, c, k = self._eval_args
        if points.ndim > 0 and points.size == 0:
            if points.ndim > 1:
                raise Unsupported(
                    "a spline of FITPACK's at no points, with several axes,", "pass a vector"
                )
            return np.zeros(points.shape)
        return _evaluated(x, t, c, k, nu, mode)

    def get_knots(self) -> Any:
        """`scipy.interpolate.UnivariateSpline.get_knots`."""
        t, _, k = self._eval_args
        return t[k : len(t) - k]

    def get_coeffs(self) -> Any:
        """`scipy.interpolate.UnivariateSpline.get_coeffs`."""
        t, c, k = self._eval_args
        return c[: len(t) - k - 1]

    def get_residual(self) -> Any:
        """`scipy.interpolate.UnivariateSpline.get_residual`."""
        raise Unsupported(
            "`get_residual` of a spline of `scipy.interpolate`",
            "sum the squares of `spline(x) - y`",
        )

    def set_smoothing_factor(self, s: Any) -> None:
        """`scipy.interpolate.UnivariateSpline.set_smoothing_factor`."""
        require_no_smoothing("UnivariateSpline", True)

    def integral(self, a: Any, b: Any) -> Any:
        """`scipy.interpolate.UnivariateSpline.integral`."""
        t, c, k = self._eval_args
        return _integral(a, b, t, c, k)

    def derivatives(self, x: Any) -> Any:
        """`scipy.interpolate.UnivariateSpline.derivatives`."""
        t, c, k = self._eval_args
        return _pointwise(x, t, c, k)

    def roots(self) -> Any:
        """`scipy.interpolate.UnivariateSpline.roots`."""
        refuse_roots("a spline")

    def derivative(self, n: Any = 1) -> Any:
        """`scipy.interpolate.UnivariateSpline.derivative`."""
        return UnivariateSpline(splder(self._eval_args, n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: Any = 1) -> Any:
        """`scipy.interpolate.UnivariateSpline.antiderivative`."""
        return UnivariateSpline(splantider(self._eval_args, n), self.ext)


def _check(
    x: Any, y: Any, w: Any, bbox: Any, k: Any, strict: Any, check_finite: Any
) -> None:  # fmt: skip
    """Raise what SciPy's classes raise of these arguments."""
    at, values = np.asarray(x), np.asarray(y)
    weights = at if w is None else np.asarray(w)
    if check_finite and not (
        np.all(np.isfinite(at)) and np.all(np.isfinite(values)) and np.all(np.isfinite(weights))
    ):
        raise ValueError("x and y array must not contain NaNs or infs.")
    if strict and not np.all(np.diff(at) > 0.0):
        raise ValueError("x must be strictly increasing if s = 0")
    if not np.all(np.diff(at) >= 0.0):
        raise ValueError("x must be increasing if s > 0")
    if at.size != values.size:
        raise ValueError("x and y should have a same length")
    if at.size != weights.size:
        raise ValueError("x, y, and w should have a same length")
    if len(bbox) != 2:
        raise ValueError("bbox shape should be (2,)")
    if not (1 <= k <= 5):
        raise ValueError("k should be 1 <= k <= 5")


class InterpolatedUnivariateSpline(UnivariateSpline):
    """`scipy.interpolate.InterpolatedUnivariateSpline`."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, ext: Any = 0,
        check_finite: Any = False,
    ) -> None:  # fmt: skip
        _check(x, y, w, bbox, k, False, check_finite)
        self.ext = _mode(ext)
        if not np.all(np.diff(x) > 0.0):
            raise ValueError("x must be strictly increasing")
        self._eval_args = _made(x, y, w, bbox[0], bbox[1], k)


class LSQUnivariateSpline(UnivariateSpline):
    """`scipy.interpolate.LSQUnivariateSpline`, which only other code makes."""


def smoothing_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, s: Any = None,
    ext: Any = 0, check_finite: Any = False,
) -> Any:  # fmt: skip
    """`scipy.interpolate.UnivariateSpline` of points: one that interpolates is of its class."""
    _check(x, y, w, bbox, k, s is not None and not s > 0, check_finite)
    if s is not None and not s >= 0.0:
        raise ValueError("s should be s >= 0.0")
    mode = _mode(ext)
    require_no_smoothing("UnivariateSpline", s is None or s != 0)
    return InterpolatedUnivariateSpline(x, y, w, bbox, k, mode, check_finite)


__all__ = [
    "InterpolatedUnivariateSpline", "LSQUnivariateSpline", "UnivariateSpline", "checked", "clamped",
    "doubles", "integral", "interpolated", "line", "require_knots", "require_no_smoothing",
    "smoothing_spline", "spalde", "splantider", "splder", "splev", "splint", "splrep",
]  # fmt: skip
