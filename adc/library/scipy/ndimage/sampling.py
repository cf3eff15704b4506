"""`scipy.ndimage`: splines through the elements of an array, at any coordinates.

The coefficients are found by filters that run forward and backward along each axis [1]_.

References
----------
.. [1] M. Unser. Splines: a perfect fit for signal and image processing. IEEE Signal Processing
   Magazine 16, 1999.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.scipy.ndimage.filters import _at, _double, _each, _put, _type_of

# So many elements are appended where no filter is exact at the boundary.
_PADDED = 12
_POLES = {2: (math.sqrt(8.0) - 3.0,), 3: (math.sqrt(3.0) - 2.0,)}


def _require_order(order: Any) -> None:
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")
    if order > 3:
        raise Unsupported("a spline of `scipy.ndimage` of order 4 or 5", "use `order=3`")


# --- coefficients ---------------------------------------------------------------------------------


def _first(line: Any, z: Any, mode: Any) -> Any:
    """Return the first number of a filter that runs forward, as if it came from far before."""
    n = len(line)
    found = line[0]
    power = z
    if mode == "mirror":
        last = z ** (n - 1)
        found = found + last * line[n - 1]
        for i in range(1, n - 1):
            found = found + power * (line[i] + last * line[n - 1 - i])
            power *= z
        return found / (1 - last * last)
    if mode == "wrap":
        for i in range(1, n):
            found = found + power * line[n - i]
            power *= z
        return found / (1 - power)
    last = z**n
    total = line[0] + last * line[n - 1]
    for i in range(1, n):
        # SciPy adds up in the first number: the last term has the sum so far in its place.
        other = line[n - 1 - i] if i < n - 1 else total
        total = total + power * (line[i] + last * other)
        power *= z
    return total * (z / (1 - last * last)) + found


def _last(line: Any, z: Any, mode: Any) -> Any:
    """Return the first number of a filter that runs backward."""
    n = len(line)
    if mode == "mirror":
        return (z * line[n - 2] + line[n - 1]) * z / (z * z - 1)
    if mode == "wrap":
        found = line[n - 1]
        power = z
        for i in range(n - 1):
            found = found + power * line[i]
            power *= z
        return found * (z / (power - 1))
    return line[n - 1] * (z / (z - 1))


def _filtered(lines: Any, order: Any, mode: Any) -> Any:
    """Return the coefficients of splines along rows."""
    n = lines.shape[1]
    gain = 1.0
    for z in _POLES[order]:
        gain *= (1.0 - z) * (1.0 - 1.0 / z)
    found = lines * gain
    for row in range(lines.shape[0]):
        for z in _POLES[order]:
            found[row, 0] = _first(found[row], z, mode)
            for i in range(1, n):
                found[row, i] += z * found[row, i - 1]
            found[row, n - 1] = _last(found[row], z, mode)
            for i in range(n - 2, -1, -1):
                found[row, i] = z * (found[row, i + 1] - found[row, i])
    return found


def _boundary(mode: Any) -> Any:
    """Return the boundary of the filter for a boundary mode."""
    if mode in ("mirror", "constant", "grid-constant", "wrap"):
        return "mirror"
    if mode == "grid-wrap":
        return "wrap"
    if mode in ("reflect", "grid-mirror", "nearest"):
        return "reflect"
    raise RuntimeError("boundary mode not supported")


def _coefficients(x: Any, order: Any, mode: Any, axis: Any) -> Any:
    if order < 2 or x.shape[axis] < 2:
        return x
    lines = np.moveaxis(x, axis, -1)
    count = 1
    for size in lines.shape[:-1]:
        count *= size
    rows = _filtered(lines.reshape((count, lines.shape[-1])), order, _boundary(mode))
    return np.moveaxis(rows.reshape(lines.shape), -1, axis)


def spline_filter1d(
    input: Any, order: Any = 3, axis: Any = -1, output: Any = np.float64, mode: Any = "mirror"
) -> Any:
    """`scipy.ndimage.spline_filter1d`."""
    _require_order(order)
    x = np.asarray(input)
    kind = np.complex128 if np.iscomplexobj(x) and output is np.float64 else output
    found = _coefficients(_double(x), order, mode, axis % x.ndim)
    return _put(found.astype(_type_of(kind, x, np.iscomplexobj(x))), output)


def spline_filter(
    input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror"
) -> Any:
    """`scipy.ndimage.spline_filter`."""
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    _require_order(order)
    x = np.asarray(input)
    kind = np.complex128 if np.iscomplexobj(x) and output is np.float64 else output
    found = _double(x)
    for axis in range(x.ndim):
        found = _coefficients(found, order, mode, axis)
    return _put(found.astype(_type_of(kind, x, np.iscomplexobj(x))), output)


def _prepared(x: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> Any:
    """Return coefficients, and how many elements are appended at each end."""
    found = _double(x)
    if not prefilter or order < 2:
        return found, 0
    appended = 0
    if mode == "nearest":
        appended = _PADDED
        found = np.pad(found, _PADDED, mode="edge")
    elif mode == "grid-constant":
        appended = _PADDED
        found = np.pad(found, _PADDED, mode="constant", constant_values=cval)
    for axis in range(x.ndim):
        found = _coefficients(found, order, mode, axis)
    return found, appended


# --- coordinates ----------------------------------------------------------------------------------


def _folded(at: Any, n: Any, mode: Any) -> Any:
    """Return a coordinate between the first and the last element; less than -1 for none."""
    if mode in ("nearest", "grid-constant") or (at >= 0 and at <= n - 1):
        return at
    if mode == "constant":
        return -2.0
    if n <= 1:
        return 0.0 * at
    if mode == "mirror":
        period = 2 * n - 2
        if at < 0:
            at = period * int(-at / period) + at
            return at + period if at <= 1 - n else -at
        at = at - period * int(at / period)
        return period - at if at >= n else at
    if mode == "wrap":
        period = n - 1
        if at < 0:
            return at + period * (int(-at / period) + 1)
        return at - period * int(at / period)
    if mode == "grid-wrap":
        if at < 0:
            return at + n * (int((-1 - at) / n) + 1)
        return at - n * int(at / n)
    period = 2 * n
    if at < 0:
        if at < -period:
            at = period * int(-at / period) + at
        if at < -n:
            return at + period
        return (1e-15 if at > -1e-15 else -at) - 1
    at = at - period * int(at / period)
    return period - at - 1 if at >= n else at


def _place(k: Any, n: Any, mode: Any) -> Any:
    """Return which coefficient is at an index, that may lie outside."""
    if 0 <= k < n:
        return k
    if mode == "grid-constant":
        return -1
    if n <= 1:
        return 0
    if mode == "nearest":
        return 0 if k < 0 else n - 1
    if mode in ("reflect", "grid-mirror"):
        at = k % (2 * n)
        return at if at < n else 2 * n - 1 - at
    if mode == "grid-wrap":
        return k % n
    at = k % (2 * n - 2)
    return at if at < n else 2 * n - 2 - at


def _weights(t: Any, order: Any) -> Any:
    """Return the values of the B-splines around a point, `t` behind an element."""
    if order == 0:
        return (1.0,)
    if order == 1:
        return 1.0 - t, t
    if order == 2:
        first = 0.5 * (0.5 - t) * (0.5 - t)
        middle = 0.75 - t * t
        return first, middle, 1.0 - first - middle
    z = 1.0 - t
    first = z * z * z / 6.0
    second = (t * t * (t - 2.0) * 3.0 + 4.0) / 6.0
    third = (z * z * (z - 2.0) * 3.0 + 4.0) / 6.0
    return first, second, third, 1.0 - first - second - third


def _taps(at: Any, n: Any, order: Any, mode: Any) -> Any:
    """Return the coefficients around coordinates along an axis, their weights, and who is inside.

    The place of a coefficient that is outside is -1.
    """
    count = order + 1
    places = np.zeros((len(at), count), np.int64)
    weights = np.zeros((len(at), count))
    inside = np.ones(len(at), np.bool_)
    for p in range(len(at)):
        t = _folded(at[p], n, mode)
        if t > -1.0 or mode in ("nearest", "grid-constant"):
            start = math.floor(t if order % 2 == 1 else t + 0.5)
            found = _weights(t - start, order)
            for j in range(count):
                places[p, j] = _place(int(start) - order // 2 + j, n, mode)
                weights[p, j] = found[j]
        else:
            inside[p] = False
    return places, weights, inside


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant",
    cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.map_coordinates`."""
    _require_order(order)
    x, at = np.asarray(input), np.asarray(coordinates)
    if np.iscomplexobj(at):
        raise TypeError("Complex type not supported")
    if x.ndim < 1 or at.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if at.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    kind = _type_of(output, x, np.iscomplexobj(x))
    c, appended = _prepared(x, order, mode, cval, prefilter)
    number, size = 1, 1
    for each in at.shape[1:]:
        number *= each
    for each in c.shape:
        size *= each
    flat = c.reshape(size)
    lines = at.reshape((x.ndim, number)).astype(np.float64) + appended
    taps = [_taps(lines[k], c.shape[k], order, mode) for k in range(x.ndim)]
    out = np.zeros(number, c.dtype)
    count = order + 1
    for p in range(number):
        known = True
        for along in taps:
            known = known and along[2][p]
        if known:
            total = out.dtype.type(0.0)
            for tap in range(count**x.ndim):
                weight, place, rest = 1.0, 0, count**x.ndim
                filled = False
                for along, n in zip(taps, c.shape, strict=True):
                    rest = rest // count
                    j = (tap // rest) % count
                    weight = weight * along[1][p, j]
                    filled = filled or along[0][p, j] < 0
                    place = place * n + along[0][p, j]
                total = total + weight * (cval if filled else flat[max(place, 0)])
            out[p] = total
        else:
            out[p] = cval
    return _put(out.reshape(at.shape[1:]).astype(kind), output)


def _resampled(c: Any, axis: Any, at: Any, order: Any, mode: Any, cval: Any) -> Any:
    """Return splines along one axis at coordinates, and which of these are inside."""
    places, weights, inside = _taps(at, c.shape[axis], order, mode)
    shape = (*c.shape[:axis], len(at), *c.shape[axis + 1 :])
    found = np.zeros(shape, c.dtype)
    for p in range(len(at)):
        for j in range(order + 1):
            if places[p, j] < 0:
                found[_at(c.ndim, axis, p)] += weights[p, j] * cval
            else:
                found[_at(c.ndim, axis, p)] += weights[p, j] * c[_at(c.ndim, axis, places[p, j])]
    return found, inside


def _separable(
    x: Any, coordinates: Any, kind: Any, order: Any, mode: Any, cval: Any, prefilter: Any
) -> Any:
    """Return splines at the points of a grid, given by coordinates along each axis."""
    c, appended = _prepared(x, order, mode, cval, prefilter)
    outside = []
    for axis, at in enumerate(coordinates):
        c, inside = _resampled(c, axis, at + appended, order, mode, cval)
        outside.append(inside)
    if mode == "constant":
        for axis, inside in enumerate(outside):
            for p in range(len(inside)):
                if not inside[p]:
                    c[_at(x.ndim, axis, p)] = cval
    return c.astype(kind)


def shift(
    input: Any, shift: Any, output: Any = None, order: Any = 3, mode: Any = "constant",
    cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.shift`."""
    _require_order(order)
    x = np.asarray(input)
    kind = _type_of(output, x, np.iscomplexobj(x))
    steps = _each(shift, x.ndim)
    at = [np.arange(n) - s for n, s in zip(x.shape, steps, strict=True)]
    return _put(_separable(x, at, kind, order, mode, cval, prefilter), output)


def zoom(
    input: Any, zoom: Any, output: Any = None, order: Any = 3, mode: Any = "constant",
    cval: Any = 0.0, prefilter: Any = True, *, grid_mode: Any = False,
) -> Any:  # fmt: skip
    """`scipy.ndimage.zoom`."""
    _require_order(order)
    x = np.asarray(input)
    kind = _type_of(output, x, np.iscomplexobj(x))
    factors = _each(zoom, x.ndim)
    sizes = [round(n * f) for n, f in zip(x.shape, factors, strict=True)]
    at = [_grid(n, size, grid_mode) for n, size in zip(x.shape, sizes, strict=True)]
    return _put(_separable(x, at, kind, order, mode, cval, prefilter), output)


def _grid(n: Any, size: Any, of_cells: Any) -> Any:
    """Return the coordinates of as many points as an axis is zoomed to."""
    if of_cells:
        step = n / size if size > 0 else 1.0
        return (np.arange(size) + 0.5) * step - 0.5
    step = (n - 1) / (size - 1) if size != 1 else 1.0
    return np.arange(size) * step


__all__ = ["map_coordinates", "shift", "spline_filter", "spline_filter1d", "zoom"]
