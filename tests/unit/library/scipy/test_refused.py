"""What is not supported of SciPy: refused at the program's line, with a hint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.signal

import adc
from adc.ir.errors import UnsupportedError
from tests.unit.library.scipy.calls import Call

X = np.linspace(0.0, 2.0, 9)
M = np.ones((3, 3))
CURVE = scipy.interpolate.UnivariateSpline(X, X**2)
SPLINE = scipy.interpolate.CubicSpline(X, X**2)

# A program, its argument, what the message says, and the hint.
REFUSED: list[tuple[Call, Any, str, str]] = [
    (lambda y: scipy.integrate.dblquad(np.cos, 0, y, 0, 1)[0], 0.3, "dblquad`", "leggauss"),
    (lambda y: scipy.integrate.romb(y, show=True), X, "with `show`", "leave it out"),
    (lambda y: scipy.integrate.cumulative_simpson(y, dx=y[:1]), X, "an array as `dx`", "numbers"),
    (lambda w: scipy.signal.butter(2, w)[0], 0.3, "signal.butter`", "call the function outside"),
    (lambda x: scipy.signal.get_window("taylor", 11) * x, 0.4, "this window", "outside"),
    (lambda x: scipy.signal.filtfilt([1], [1], x, method="gust"), X, "'gust'", "leave it out"),
    (lambda x: scipy.signal.detrend(x, overwrite_data=True), X, "overwrite_data", "data[:] ="),
    (lambda x: scipy.signal.csd(x, x[1:])[1], X, "different lengths", "append zeros"),
    (lambda x: scipy.signal.convolve2d(x, x, boundary="wrap"), M, "boundary", "ndimage.convolve"),
    (lambda x: scipy.signal.lfilter([1, 2], [1, 2], x), np.arange(3), "of integers", ".astype"),
    (lambda x: scipy.ndimage.median_filter(x, 3), X, "ndimage.median_filter`", "`adc supported`"),
    (lambda x: scipy.ndimage.sobel(x), np.arange(9), "has integers", "output=float"),
    (lambda x: scipy.ndimage.correlate(x, x, axes=(1, 0)), M, "not in order", "transpose"),
    (lambda x: scipy.ndimage.map_coordinates(x, [x], order=5), X, "order 4 or 5", "`order=3`"),
    (lambda y: scipy.interpolate.UnivariateSpline(X, y)(0.3), X, "that smooths", "`s=0`"),
    (lambda y: scipy.interpolate.splrep(X, y, s=0.1)[1], X, "that smooths", "make the spline"),
    (lambda y: scipy.interpolate.splrep(X, y, w=X)[1], X, "that smooths", "make the spline"),
    (lambda y: scipy.interpolate.splrep(X, y, t=[1.0])[1], X, "given knots", "fit the spline"),
    (lambda y: scipy.interpolate.splrep(X, y, per=1)[1], X, "`per`", "bc_type='periodic'"),
    (lambda y: scipy.interpolate.splrep(X, y, full_output=1)[1], X, "full_output", "leave it out"),
    (lambda y: scipy.interpolate.splrep(X.round(), y)[1], X, "that are equal", "leave them out"),
    (lambda y: scipy.interpolate.splrep(X, y, xb=1.0)[1], X, "its interval", "a wider interval"),
    (lambda y: scipy.interpolate.splrep(X, y + 1j)[1], X, "complex argument", "the real part"),
    (lambda y: scipy.interpolate.splev(0.3, (X, y[:4], 3)), X, "fewer coefficients", "one call"),
    (lambda y: scipy.interpolate.splev(0.3, (X[:7], y, 3)), X, "fewer than 2k + 2", "one call"),
    (lambda y: scipy.interpolate.splev(0.3, ([0, 0, 0, 0, 1, 1], y, 1)), X, "is empty", "k + 1"),
    (lambda y: scipy.interpolate.splint(y, 0.3, (X, X, 3)), X, "as a limit", "pass numbers"),
    (lambda y: scipy.interpolate.splint(y, 1, (X, X, 3), 1), 0.3, "full_output", "leave it out"),
    (lambda y: scipy.interpolate.spalde(y, (X, X, 3)), X, "several points", "loop over"),
    (lambda y: scipy.interpolate.splprep([X, y])[1], X, "interpolate.splprep`", "`CubicSpline`"),
    (lambda y: scipy.interpolate.LSQUnivariateSpline(X, y, [1.0])(0.3), X, "LSQUnivariateSpline`",
     "CubicSpline"),
    (lambda y: scipy.interpolate.RectBivariateSpline(X, X, y[:, None] * X, s=1)(1, 1), X,
     "that smooths", "make the spline"),
    (lambda y: scipy.interpolate.RectBivariateSpline(X, X, y[:, None] * X, kx=7)(1, 1), X,
     "this degree", "1 to 5"),
    (lambda y: scipy.interpolate.SmoothBivariateSpline(X, X, y)(1, 1), X,
     "SmoothBivariateSpline`", "CubicSpline"),
    (lambda y: scipy.interpolate.BivariateSpline()(y, 1), 1.0, "BivariateSpline`", "CubicSpline"),
    (lambda y: scipy.interpolate.bisplev([y], 0.3, (X, X, np.ones(25), 3, 3)), 1.0, "one point",
     "as a number"),
    (lambda y: CURVE.roots()[0] * y, 0.3, "finding roots of a spline", "Newton's"),
    (lambda y: CURVE.get_residual() * y, 0.3, "get_residual", "spline(x) - y"),
    (lambda y: scipy.interpolate.CubicSpline(X, y).roots(), X, "finding roots", "Newton's"),
    (lambda y: scipy.interpolate.PPoly(M, -X[:4])(y), X, "do not increase", "sort them"),
    (lambda y: scipy.interpolate.Akima1DInterpolator(X, y, method="b")(0.3), X, "method", "akima"),
    (lambda y: scipy.interpolate.interp1d(X, y, "magic")(0.3), X, "`kind`", "'linear'"),
    (lambda y: scipy.interpolate.make_interp_spline(X, y, bc_type="periodic")(0.3), X,
     "bc_type='periodic'", "CubicSpline(x, y, bc_type='periodic')"),
    (lambda y: scipy.interpolate.RegularGridInterpolator((X,), y, "cubic")([0.3]), X, "method",
     "map_coordinates"),
    (lambda y: scipy.interpolate.RegularGridInterpolator((-X,), y)([0.3]), X, "that decrease",
     "reverse them"),
    (lambda y: 1.0 * (type(SPLINE) is scipy.interpolate.CubicSpline) * y, 0.3, "`type` of",
     "`isinstance`"),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("fn", "x", "what", "hint"), REFUSED, ids=[row[2] for row in REFUSED])
def test_calls_are_refused(fn: Call, x: Any, what: str, hint: str) -> None:
    with pytest.raises((UnsupportedError, NotImplementedError)) as caught:
        adc.jit(fn, target="python", cache=False)(x)
    error = caught.value
    assert what in str(error)
    assert hint in str(error)
    if isinstance(error, UnsupportedError):
        assert error.span is not None
        assert error.span.file == __file__
        assert "^" in str(error)
