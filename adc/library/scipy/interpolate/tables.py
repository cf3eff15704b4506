"""`scipy.interpolate`: interpolation along one axis, and on grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.interpolate import bsplines
from adc.library.scipy.interpolate.piecewise import interval, placed

_ORDERS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


def _count(x: Any, at: Any, equal: Any) -> Any:
    """Return how many of the sorted `x` are less than a number, or `equal` to it."""
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < at or (equal and x[middle] == at):
            low = middle + 1
        else:
            high = middle
    return low


class interp1d:
    """`scipy.interpolate.interp1d`."""

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: Any = -1, copy: Any = True,
        bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: Any = False,
    ) -> None:  # fmt: skip
        at, values = np.asarray(x), np.asarray(y)
        if at.ndim != 1:
            raise ValueError("the x array must have exactly one dimension.")
        if values.ndim == 0:
            raise ValueError("the y array must have at least one dimension.")
        if len(at) != values.shape[axis]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        if values.dtype.kind not in "fc":
            values = values.astype(np.float64)
        lines = np.moveaxis(values, axis, 0)
        if not assume_sorted:
            order = np.argsort(at, kind="stable")
            at, lines = at[order], lines[order]
        self.axis = axis % values.ndim
        self.x = at
        self.y = np.moveaxis(lines, 0, axis)
        self._kind = "spline" if isinstance(kind, int) or kind in _ORDERS else kind
        least = 1
        if self._kind == "spline":
            degree = kind if isinstance(kind, int) else _ORDERS[kind]
            least = degree + 1
            self._spline = bsplines.make_interp_spline(at, lines, degree, check_finite=False)
        elif kind not in ("linear", "nearest", "nearest-up", "previous", "next"):
            raise Unsupported(
                "this `kind` of `scipy.interpolate.interp1d`",
                "use 'linear', 'nearest', 'nearest-up', 'previous', 'next' or an order",
            )
        if len(at) < least:
            raise ValueError(f"x and y arrays must have at least {least} entries")
        beyond = isinstance(fill_value, str) and fill_value == "extrapolate"
        if beyond and bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        self._extrapolate = beyond
        if beyond and kind in ("previous", "next"):
            beyond = self._extrapolate = False
            bounds_error = False
            nothing = np.full(lines.shape[1:], np.nan)
            low, high = (nothing, lines[-1]) if kind == "previous" else (lines[0], nothing)
        elif beyond:
            low, high = np.nan, np.nan
        elif isinstance(fill_value, tuple) and len(fill_value) == 2:
            low, high = fill_value
        else:
            low, high = fill_value, fill_value
        self.bounds_error = not self._extrapolate if bounds_error is None else bounds_error
        self._fill_value_below = np.asarray(low)
        self._fill_value_above = np.asarray(high)

    def __call__(self, x: Any) -> Any:
        points = np.asarray(x)
        if points.dtype.kind != "f":
            points = points.astype(np.float64)
        at = np.ravel(points)
        knots = self.x
        lines = np.moveaxis(self.y, self.axis, 0)
        rest = lines.shape[1:]
        count = 1
        for size in rest:
            count *= size
        y = lines.reshape((len(knots), count))
        if self._kind == "spline":
            out = self._spline(at).reshape((len(at), count))
        elif self._kind == "linear":
            out = np.empty((len(at), count), np.result_type(knots, y, at))
        else:
            out = np.empty((len(at), count), y.dtype)
        below = np.zeros(count, out.dtype)
        above = np.zeros(count, out.dtype)
        if not self._extrapolate:
            below[:] = _filling(self._fill_value_below, rest, count)
            above[:] = _filling(self._fill_value_above, rest, count)
        for p in range(len(at)):
            v = at[p]
            if not self._extrapolate and v < knots[0]:
                if self.bounds_error:
                    raise ValueError(
                        f"A value ({v}) in x_new is below the interpolation range's minimum value "
                        f"({knots[0]})."
                    )
                out[p] = below
            elif not self._extrapolate and v > knots[-1]:
                if self.bounds_error:
                    raise ValueError(
                        f"A value ({v}) in x_new is above the interpolation range's maximum value "
                        f"({knots[-1]})."
                    )
                out[p] = above
            elif self._kind != "spline":
                self._write(out, p, knots, y, v)
        return placed(out, points.shape, rest, self.axis)

    def _write(self, out: Any, p: Any, x: Any, y: Any, v: Any) -> None:
        """Write the values at a point."""
        n = len(x)
        if self._kind == "linear":
            # NumPy's interpolation of a vector ends an interval before a breakpoint.
            whole = y.shape[1] == 1 and self.y.ndim == 1 and not self._extrapolate
            i = min(max(_count(x, v, whole), 1), n - 1)
            if whole and v == x[n - 1]:
                out[p] = y[n - 1]
            else:
                for column in range(y.shape[1]):
                    slope = (y[i, column] - y[i - 1, column]) / (x[i] - x[i - 1])
                    out[p, column] = slope * (v - x[i - 1]) + y[i - 1, column]
        elif np.isnan(v):
            out[p] = y[n - 1]
        elif self._kind == "previous":
            out[p] = y[max(_count(x, v, True) - 1, 0)]
        elif self._kind == "next":
            out[p] = y[min(_count(x, v, False), n - 1)]
        else:
            # Halfway between two, "nearest" rounds down and "nearest-up" up.
            i = min(max(_count(x, v, False), 1), n - 1)
            middle = x[i - 1] / 2.0 + x[i] / 2.0
            up = middle < v or (middle == v and self._kind == "nearest-up")
            out[p] = y[i] if up else y[i - 1]


def _filling(value: Any, rest: Any, count: Any) -> Any:
    return np.broadcast_to(value, rest).reshape(count) if len(rest) > 0 else value


class RegularGridInterpolator:
    """`scipy.interpolate.RegularGridInterpolator`."""

    def __init__(
        self, points: Any, values: Any, method: Any = "linear", bounds_error: Any = True,
        fill_value: Any = np.nan, *, solver: Any = None, solver_args: Any = None,
    ) -> None:  # fmt: skip
        _require_method(method)
        if solver is not None or solver_args is not None:
            raise ValueError("this method does not accept the 'solver' argument.")
        found = np.asarray(values)
        if found.dtype.kind not in "fc":
            found = found.astype(np.float64)
        if len(points) > found.ndim:
            raise ValueError(
                f"There are {len(points)} point arrays, but values has {found.ndim} dimensions"
            )
        grid = [np.asarray(p).astype(np.float64) for p in points]
        for k, p in enumerate(grid):
            if p.ndim != 1:
                raise ValueError(f"The points in dimension {k} must be 1-dimensional")
            if found.shape[k] != len(p):
                raise ValueError(
                    f"There are {len(p)} points and {found.shape[k]} values in dimension {k}"
                )
            if len(p) > 1 and p[0] > p[1]:
                raise Unsupported(
                    "`scipy.interpolate.RegularGridInterpolator` of points that decrease",
                    "reverse them, and the values along that axis",
                )
            if np.any(p[1:] <= p[:-1]):
                raise ValueError(
                    f"The points in dimension {k} must be strictly ascending or descending"
                )
        self.grid = tuple(grid)
        self.values = found
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        how = self.method if method is None else method
        _require_method(how)
        if nu is not None:
            raise Unsupported(
                "`scipy.interpolate.RegularGridInterpolator` with `nu`",
                "differentiate the call: its derivative along the point is that of the interpolant",
            )
        rank = len(self.grid)
        points = _coordinates(xi, rank)
        if points.shape[-1] != rank:
            raise ValueError(
                f"The requested sample points xi have dimension {points.shape[-1]} but this "
                f"RegularGridInterpolator has dimension {rank}"
            )
        number = 1
        for size in points.shape[:-1]:
            number *= size
        at = points.reshape((number, rank)).astype(np.float64)
        rest = self.values.shape[rank:]
        count, cells = 1, 1
        for size in rest:
            count *= size
        for size in self.values.shape[:rank]:
            cells *= size
        y = self.values.reshape((cells, count))
        out = np.zeros((number, count), np.result_type(y, at) if how != "nearest" else y.dtype)
        for p in range(number):
            inside, known = True, True
            for k, x in enumerate(self.grid):
                if self.bounds_error and not (x[0] <= at[p, k] <= x[-1]):
                    raise ValueError(f"One of the requested xi is out of bounds in dimension {k}")
                known = known and not np.isnan(at[p, k])
                inside = inside and not (at[p, k] < x[0] or at[p, k] > x[-1])
            if not known:
                out[p] = np.nan
            elif self.fill_value is not None and not inside:
                out[p] = self.fill_value
            else:
                self._write(out, p, y, at[p], how == "nearest")
        return out.reshape(points.shape[:-1] + rest)

    def _write(self, out: Any, p: Any, y: Any, at: Any, nearest: Any) -> None:
        """Write the values at a point: the mean of those at the corners of its cell."""
        found = [_cell(x, at[k], nearest) for k, x in enumerate(self.grid)]
        for corner in range(2 ** len(self.grid)):
            weight, place, bit = 1.0, 0, 2 ** len(self.grid)
            for x, (i, part) in zip(self.grid, found, strict=True):
                bit = bit // 2
                upper = (corner // bit) % 2
                weight = weight * (part if upper == 1 else 1.0 - part)
                place = place * len(x) + min(i + upper, len(x) - 1)
            if not nearest:
                for column in range(y.shape[1]):
                    out[p, column] += y[place, column] * weight
            elif weight == 1.0:
                out[p] = y[place]


def _cell(x: Any, at: Any, nearest: Any) -> Any:
    """Return the cell along an axis that a point is in, and where in it."""
    if len(x) == 1:
        return 0, 0.0
    i = interval(x, at, True)
    part = (at - x[i]) / (x[i + 1] - x[i])
    if nearest:
        return i, (0.0 if part <= 0.5 else 1.0)
    return i, part


def _require_method(method: Any) -> None:
    if method in ("cubic", "quintic", "pchip"):
        raise Unsupported(
            "`scipy.interpolate.RegularGridInterpolator` with this method",
            "use `scipy.ndimage.map_coordinates` with `order=3`, or `make_interp_spline` along one "
            "axis after the other",
        )
    if method not in ("linear", "nearest", "slinear"):
        raise ValueError("Method is not defined")


def _coordinates(xi: Any, rank: Any) -> Any:
    """Return points as an array whose last axis has the coordinates."""
    if isinstance(xi, tuple) and len(xi) == 1:
        xi = xi[0]
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(each) for each in xi]), axis=-1)
    points = np.asarray(xi)
    return points.reshape((-1, rank)) if points.ndim == 1 else points


def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:  # fmt: skip
    """`scipy.interpolate.interpn`."""
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


__all__ = ["RegularGridInterpolator", "interp1d", "interpn"]
