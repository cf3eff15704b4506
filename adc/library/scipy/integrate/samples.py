"""`scipy.integrate`: integrals of samples.

The formulas are SciPy's: the composite rule of Simpson, with Cartwright's correction for an odd
number of intervals [1]_.

References
----------
.. [1] K. V. Cartwright. Simpson's rule cumulative integration with MS Excel and
   irregularly-spaced data. Journal of Mathematical Sciences and Mathematics Education 12, 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported

_SAME_LENGTH = "If given, length of x along axis must be the same as y."
_SAME_SHAPE = "If given, shape of x must be 1-D or the same as y."


def _last(x: Any, axis: Any) -> Any:
    """Return an array with an axis at the end; a vector of positions as it is."""
    return x if x.ndim == 1 else np.moveaxis(x, axis, -1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.trapezoid`."""
    whole = np.asarray(y)
    values = np.moveaxis(whole, axis, -1)
    d = dx
    if x is not None:
        at = np.asarray(x)
        d = np.diff(at if at.ndim == 1 else np.moveaxis(np.broadcast_to(at, whole.shape), axis, -1))
    found = d * (values[..., 1:] + values[..., :-1]) / 2.0
    return np.sum(found, axis=-1, dtype=values.dtype if values.dtype.kind in "fc" else np.float64)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None
) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    values = np.moveaxis(np.asarray(y), axis, -1)
    if values.shape[-1] == 0:
        raise ValueError("At least one point is required along `axis`.")
    d = dx
    if x is not None:
        at = np.asarray(x)
        if at.ndim != 1 and at.ndim != values.ndim:
            raise ValueError(_SAME_SHAPE)
        d = np.diff(_last(at, axis))
        if d.shape[-1] != values.shape[-1] - 1:
            raise ValueError(_SAME_LENGTH)
    parts = d * (values[..., 1:] + values[..., :-1]) / 2.0
    if initial is None:
        return np.moveaxis(np.cumsum(parts, axis=-1), -1, axis)
    if np.ndim(initial) > 0 or initial != 0:
        raise ValueError("`initial` must be `None` or `0`.")
    found = np.zeros((*parts.shape[:-1], parts.shape[-1] + 1), parts.dtype)
    found[..., 1:] = np.cumsum(parts, axis=-1)
    return np.moveaxis(found, -1, axis)


def _ratio(a: Any, b: Any) -> Any:
    """Return ``a / b``, and zero where `b` is zero."""
    return np.where(b != 0, a / np.where(b != 0, b, 1.0), 0.0)


def _pairs(y: Any, count: Any, h: Any, dx: Any) -> Any:
    """Return the integral over the first `count` intervals, two by two."""
    y0, y1, y2 = y[..., 0:count:2], y[..., 1 : count + 1 : 2], y[..., 2 : count + 2 : 2]
    if h is None:
        return np.sum(y0 + 4.0 * y1 + y2, axis=-1) * (dx / 3.0)
    h0, h1 = h[..., 0:count:2].astype(float), h[..., 1 : count + 1 : 2].astype(float)
    total, product, ratio = h0 + h1, h0 * h1, _ratio(h0, h1)
    terms = y0 * (2.0 - _ratio(1.0, ratio)) + y1 * (total * _ratio(total, product))
    return np.sum(total / 6.0 * (terms + y2 * (2.0 - ratio)), axis=-1)


def _last_interval(y: Any, h0: Any, h1: Any) -> Any:
    """Return the integral over the last interval, of the parabola through the last three points."""
    alpha = _ratio(2 * h1**2 + 3 * h0 * h1, 6 * (h1 + h0))
    beta = _ratio(h1**2 + 3.0 * h0 * h1, 6 * h0)
    eta = _ratio(h1**3, 6 * h0 * (h0 + h1))
    return alpha * y[..., -1] + beta * y[..., -2] - eta * y[..., -3]


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.simpson`."""
    values = np.moveaxis(np.asarray(y), axis, -1)
    n = values.shape[-1]
    h = None
    if x is not None:
        at = np.asarray(x)
        if at.ndim != 1 and at.ndim != values.ndim:
            raise ValueError(_SAME_SHAPE)
        at = _last(at, axis)
        if at.shape[-1] != n:
            raise ValueError(_SAME_LENGTH)
        h = np.diff(at)
    if n == 0:
        raise IndexError(f"simpson: no points along axis {axis}")
    found = _simpson(values, n, h, dx)
    # With an even distance, SciPy's sums have the type of the samples, if their number is odd.
    return found.astype(values.dtype) if h is None and values.dtype.kind in "fc" else found


def _simpson(y: Any, n: Any, h: Any, dx: Any) -> Any:
    if n % 2 == 1:
        return _pairs(y, n - 2, h, dx) * np.float64(1.0)
    last = dx if h is None else h[..., -1]
    if n == 2:
        return 0.5 * last * (y[..., -1] + y[..., -2]) * np.float64(1.0)
    before = np.float64(dx) if h is None else h[..., -2] * np.float64(1.0)
    found = _pairs(y, n - 3, h, dx) * np.float64(1.0)
    return found + _last_interval(y, before, last * np.float64(1.0))


def _by_parabolas(y: Any, d: Any, even: Any) -> Any:
    """Return the integral over the first of each two intervals that are neighbours."""
    f1, f2, f3 = y[..., :-2], y[..., 1:-1], y[..., 2:]
    if even:
        return d / 3 * (5 * f1 / 4 + 2 * f2 - f3 / 4)
    h, g = d[..., :-1], d[..., 1:]
    of_both, of_next = h / (h + g), h / g
    product = of_both * of_next
    return h / 6 * ((3 - of_both) * f1 + (3 + product + of_both) * f2 - product * f3)


def _cumulative(y: Any, d: Any, even: Any) -> Any:
    """Return sums of integrals over intervals, each from a parabola through three points."""
    first = _by_parabolas(y, d, even)
    backward = d if even else np.flip(d, axis=-1)
    second = np.flip(_by_parabolas(np.flip(y, axis=-1), backward, even), axis=-1)
    parts = np.zeros((*first.shape[:-1], first.shape[-1] + 1), first.dtype)
    parts[..., :-1:2] = first[..., ::2]
    parts[..., 1::2] = second[..., ::2]
    parts[..., -1] = second[..., -1]
    return np.cumsum(parts, axis=-1)


def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None
) -> Any:
    """`scipy.integrate.cumulative_simpson`."""
    given = np.asarray(y)
    values = np.moveaxis(given if given.dtype.kind in "fc" else given * 1.0, axis, -1)
    n = values.shape[-1]
    if np.ndim(dx) > 0 or (initial is not None and np.ndim(initial) > 0):
        raise Unsupported(
            "`scipy.integrate.cumulative_simpson` with an array as `dx` or `initial`",
            "pass numbers, or loop over the rows",
        )
    if x is None:
        dx = np.float64(dx)
        if n < 3:
            found = np.cumsum(dx * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
        else:
            found = _cumulative(values, dx, True)
    else:
        at = np.asarray(x) * 1.0
        if at.ndim != 1 and at.ndim != values.ndim:
            raise ValueError(_SHAPE_OF_X)
        d = np.diff(_last(at, axis))
        if d.shape[-1] != n - 1:
            raise ValueError(_SHAPE_OF_X)
        if n < 3:
            found = np.cumsum(d * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
        else:
            if np.any(d <= 0):
                raise ValueError("Input x must be strictly increasing.")
            found = _cumulative(values, d, False)
    if initial is None:
        return np.moveaxis(found, -1, axis)
    whole = np.zeros((*found.shape[:-1], found.shape[-1] + 1), found.dtype)
    whole[..., 1:] = found
    return np.moveaxis(whole + initial, -1, axis)


_SHAPE_OF_X = (
    "If given, shape of `x` must be the same as `y` or 1-D with the same length as `y` along "
    "`axis`."
)


def romb(y: Any, dx: Any = 1.0, axis: Any = -1, show: Any = False) -> Any:
    """`scipy.integrate.romb`."""
    if show:
        raise Unsupported("`scipy.integrate.romb` with `show`", "leave it out")
    values = np.moveaxis(np.asarray(y), axis, -1)
    count = values.shape[-1] - 1
    depth, n = 0, 1
    while n < count:
        n *= 2
        depth += 1
    if n != count:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    h = count * np.float64(dx)
    # The row of the table for a step; what is behind its end is not read.
    first = (values[..., 0] + values[..., -1]) / 2.0 * h
    row = np.zeros((depth + 1, *values.shape[:-1]), first.dtype)
    row[0] = first
    step = count
    for i in range(1, depth + 1):
        before = row.copy()
        row[0] = 0.5 * (before[0] + h * np.sum(values[..., step // 2 : count : step], axis=-1))
        factor = 1.0
        for j in range(1, i + 1):
            factor *= 4.0
            row[j] = row[j - 1] + (row[j - 1] - before[j - 1]) / (factor - 1.0)
        h /= 2.0
        step //= 2
    return row[depth]


__all__ = ["cumulative_simpson", "cumulative_trapezoid", "romb", "simpson", "trapezoid"]
