"""`scipy.interpolate`: FITPACK's splines of two variables, as tuples and as objects.

A spline is a sum of products of B-splines. Beyond its knots it is what it is at the nearest point
of its rectangle [1]_.

References
----------
.. [1] P. Dierckx. Curve and Surface Fitting with Splines. Oxford University Press, 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.interpolate import bsplines
from adc.library.scipy.interpolate.univariate import (
    clamped,
    doubles,
    integral,
    interpolated,
    line,
    require_knots,
    require_no_smoothing,
)

_ENTRY = """
Error on entry, no approximation returned. The following conditions
must hold:
xb<=x[i]<=xe, yb<=y[i]<=ye, w[i]>0, i=0..m-1
If iopt==-1, then
  xb<tx[kx+1]<tx[kx+2]<...<tx[nx-kx-2]<xe
  yb<ty[ky+1]<ty[ky+2]<...<ty[ny-ky-2]<ye"""


def _checked(tck: Any, kx: Any, ky: Any) -> Any:
    """Return knots along both axes and the coefficients as a matrix."""
    tx, ty, c = tck
    x, y, found = line(tx), line(ty), line(c)
    require_knots(x, kx)
    require_knots(y, ky)
    rows, columns = len(x) - kx - 1, len(y) - ky - 1
    if len(found) != rows * columns:
        raise ValueError(
            "the 3rd argument `c` -- 0-th dimension must be fixed to "
            f"{rows * columns} but got {len(found)}"
        )
    return x, y, found.reshape((rows, columns))


def _factors(t: Any, k: Any, at: Any, nu: Any) -> Any:
    """Return which B-splines do not vanish at points, and their derivatives there."""
    first = np.empty(len(at), np.int64)
    h = np.empty((len(at), k + 1))
    for p in range(len(at)):
        v = clamped(at[p], t[k], t[len(t) - k - 1])
        i = bsplines.knot_before(t, k, v)
        bsplines.basis(h[p], t, k, i, v, nu)
        first[p] = i - k
    return first, h


def _product(c: Any, i: Any, j: Any, left: Any, right: Any) -> Any:
    """Return the sum of the products of B-splines that do not vanish at a point."""
    total = 0.0
    for a in range(len(left)):
        for b in range(len(right)):
            total += c[i + a, j + b] * left[a] * right[b]
    return total


def _on_grid(
    tx: Any, ty: Any, c: Any, kx: Any, ky: Any, x: Any, y: Any, dx: Any, dy: Any
) -> Any:  # fmt: skip
    """Return the derivatives of a spline at each of `x` with each of `y`."""
    i, left = _factors(tx, kx, x, dx)
    j, right = _factors(ty, ky, y, dy)
    out = np.empty((len(x), len(y)))
    for p in range(len(x)):
        for q in range(len(y)):
            out[p, q] = _product(c, i[p], j[q], left[p], right[q])
    return out


def bisplev(x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> Any:
    """`scipy.interpolate.bisplev`."""
    tx, ty, c, kx, ky = tck
    if not (0 <= dx < kx):
        raise ValueError(f"0 <= dx = {dx} < kx = {kx} must hold")
    if not (0 <= dy < ky):
        raise ValueError(f"0 <= dy = {dy} < ky = {ky} must hold")
    if np.ndim(x) > 1 or np.ndim(y) > 1:
        raise ValueError("First two entries should be rank-1 arrays.")
    a, b = np.atleast_1d(doubles(x)), np.atleast_1d(doubles(y))
    knots, others, found = _checked((tx, ty, c), kx, ky)
    if len(a) == 0 or len(b) == 0 or np.any(a[1:] < a[:-1]) or np.any(b[1:] < b[:-1]):
        raise ValueError("Invalid input data")
    out = _on_grid(knots, others, found, kx, ky, a, b, int(dx), int(dy))
    # SciPy drops the axes that have one point, those of the front first.
    if np.ndim(x) == 0 and np.ndim(y) == 0:
        return out[0, 0]
    if (np.ndim(x) > 0 and len(a) == 1) or (np.ndim(x) == 0 and len(b) == 1):
        raise Unsupported(
            "`scipy.interpolate.bisplev` of a vector with one point, whose axis it drops,",
            "pass the point as a number",
        )
    return out[0] if np.ndim(x) == 0 else out


class _Surface:
    """What the classes of SciPy's have in common."""

    def __init__(self, tck: Any, degrees: Any) -> None:
        self.tck = tck
        self.degrees = degrees

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        a, b = doubles(x), doubles(y)
        nx, ny = int(dx), int(dy)
        kx, ky = self.degrees
        if grid:
            return self._on_grid(a, b, nx, ny)
        a, b = np.broadcast_arrays(a, b)
        shape = a.shape
        _require_orders("pardeu", nx, ny, kx, ky)
        tx, ty, c = _checked(self.tck, kx, ky)
        i, left = _factors(tx, kx, np.ravel(a), nx)
        j, right = _factors(ty, ky, np.ravel(b), ny)
        out = np.empty(len(i))
        for p in range(len(i)):
            out[p] = _product(c, i[p], j[p], left[p], right[p])
        return out.reshape(shape)

    def _on_grid(self, x: Any, y: Any, dx: Any, dy: Any) -> Any:
        if x.ndim > 1 or y.ndim > 1:
            raise Unsupported(
                "a grid of points of a spline of `scipy.interpolate` with several axes",
                "pass `x` and `y` as vectors, or `grid=False`",
            )
        a, b = np.atleast_1d(x), np.atleast_1d(y)
        kx, ky = self.degrees
        if len(a) > 0 and len(b) > 0:
            if len(a) > 1 and not np.all(np.diff(a) >= 0.0):
                raise ValueError("x must be strictly increasing when `grid` is True")
            if len(b) > 1 and not np.all(np.diff(b) >= 0.0):
                raise ValueError("y must be strictly increasing when `grid` is True")
            _require_orders("parder", dx, dy, kx, ky)
        tx, ty, c = _checked(self.tck, kx, ky)
        return _on_grid(tx, ty, c, kx, ky, a, b, dx, dy)

    def get_knots(self) -> Any:
        """`scipy.interpolate.BivariateSpline.get_knots`."""
        return self.tck[:2]

    def get_coeffs(self) -> Any:
        """`scipy.interpolate.BivariateSpline.get_coeffs`."""
        return self.tck[2]

    def get_residual(self) -> Any:
        """`scipy.interpolate.BivariateSpline.get_residual`."""
        raise Unsupported(
            "`get_residual` of a spline of `scipy.interpolate`",
            "sum the squares of `spline(x, y) - z`",
        )

    def partial_derivative(self, dx: Any, dy: Any) -> Any:
        """`scipy.interpolate.BivariateSpline.partial_derivative`."""
        if dx == 0 and dy == 0:
            return self
        kx, ky = self.degrees
        if not (dx >= 0 and dy >= 0):
            raise ValueError("order of derivative must be positive or zero")
        if not (dx < kx and dy < ky):
            raise ValueError("order of derivative must be less than degree of spline")
        tx, ty, c = _checked(self.tck, kx, ky)
        left, found, kx = bsplines.derivative_of(tx, bsplines.padded(c, tx), kx, dx)
        across = found[: len(left) - kx - 1].T
        right, found, ky = bsplines.derivative_of(ty, bsplines.padded(across, ty), ky, dy)
        whole = np.ravel(found[: len(right) - ky - 1].T)
        return DerivedBivariateSpline((left, right, whole), (kx, ky))


def _require_orders(name: Any, dx: Any, dy: Any, kx: Any, ky: Any) -> None:
    if (dx != 0 or dy != 0) and not (0 <= dx < kx and 0 <= dy < ky):
        raise ValueError(f"Error code returned by {name}: 10")


class DerivedBivariateSpline(_Surface):
    """The class of the partial derivatives of SciPy's splines."""


class BivariateSpline(_Surface):
    """`scipy.interpolate.BivariateSpline`, however it was made."""

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        """`scipy.interpolate.BivariateSpline.ev`."""
        return self(xi, yi, dx, dy, False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """`scipy.interpolate.BivariateSpline.integral`."""
        kx, ky = self.degrees
        tx, ty, c = _checked(self.tck, kx, ky)
        along = integral(xa, xb, tx, c, kx)
        return float(integral(ya, yb, ty, along.reshape((-1, 1)), ky)[0])


class RectBivariateSpline(BivariateSpline):
    """`scipy.interpolate.RectBivariateSpline`."""

    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = (None, None, None, None), kx: Any = 3,
        ky: Any = 3, s: Any = 0, maxit: Any = 20,
    ) -> None:  # fmt: skip
        a, b, values = np.ravel(doubles(x)), np.ravel(doubles(y)), doubles(z)
        if not np.all(np.diff(a) > 0.0):
            raise ValueError("x must be strictly increasing")
        if not np.all(np.diff(b) > 0.0):
            raise ValueError("y must be strictly increasing")
        if len(a) != values.shape[0]:
            raise ValueError("x dimension of z must have same number of elements as x")
        if len(b) != values.shape[1]:
            raise ValueError("y dimension of z must have same number of elements as y")
        if len(bbox) != 4:
            raise ValueError("bbox shape should be (4,)")
        if s is not None and not s >= 0.0:
            raise ValueError("s should be s >= 0.0")
        require_no_smoothing("RectBivariateSpline", s is not None and s > 0)
        if not (1 <= kx <= 5 and 1 <= ky <= 5):
            raise Unsupported("a spline of FITPACK's of this degree", "use 1 to 5")
        low, high = a[0] if bbox[0] is None else bbox[0], a[-1] if bbox[1] is None else bbox[1]
        if len(a) > kx and len(b) > ky:
            left = b[0] if bbox[2] is None else bbox[2]
            right = b[-1] if bbox[3] is None else bbox[3]
            if not (low <= a[0] and a[-1] <= high and left <= b[0] and b[-1] <= right):
                raise ValueError(_ENTRY)
        tx, found = interpolated(a, values.reshape((len(a), len(b))), bbox[0], bbox[1], kx)
        ty, found = interpolated(b, found.T.copy(), bbox[2], bbox[3], ky)
        self.tck = (tx, ty, np.ravel(found.T))
        self.degrees = (kx, ky)


class SmoothBivariateSpline(BivariateSpline):
    """`scipy.interpolate.SmoothBivariateSpline`, which only other code makes."""


class LSQBivariateSpline(BivariateSpline):
    """`scipy.interpolate.LSQBivariateSpline`, which only other code makes."""


__all__ = [
    "BivariateSpline", "DerivedBivariateSpline", "LSQBivariateSpline", "RectBivariateSpline",
    "SmoothBivariateSpline", "bisplev",
]  # fmt: skip
