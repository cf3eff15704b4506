"""Values of polynomials in several bases, given by coefficients from the lowest degree.

The recurrences are NumPy's (Clenshaw, 1955).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _prepared(x: Any, c: Any, tensor: bool) -> Any:
    """Return points, coefficients with axes for them, and zeros in the shape of the result."""
    a = np.asarray(c)
    if a.dtype.kind != "f":
        a = a + 0.0
    if a.ndim == 0:
        a = a.reshape(1)
    if len(a) == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    at = np.asarray(x) if isinstance(x, (list, tuple)) else x
    if np.ndim(at) > 0 and tensor:
        a = a.reshape(a.shape + (1,) * at.ndim)
    shape = np.broadcast_shapes(a.shape[1:], np.shape(at))
    return at, a, np.zeros(shape, np.result_type(a, at))


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.polynomial.polyval`."""
    at, a, zero = _prepared(x, c, tensor)
    found = a[len(a) - 1] + at * 0 + zero
    for k in range(len(a) - 2, -1, -1):
        found = a[k] + found * at
    return found


def _clenshaw(x: Any, c: Any, tensor: bool, first: Any, step: Any) -> Any:
    """Return the values of a series by Clenshaw's recurrence.

    `first` is the polynomial of degree 1. `step` takes one degree off: of the degree, the points,
    the coefficient two below, and the two terms so far.
    """
    at, a, zero = _prepared(x, c, tensor)
    n = len(a)
    low, high = zero + a[max(n - 2, 0)], zero + a[n - 1]
    if n == 1:
        return low + 0 * first(at)
    for k in range(n - 1, 1, -1):
        low, high = step(k, at, a[k - 2], low, high)
    return low + high * first(at)


def chebval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.chebyshev.chebval`."""

    def step(k: Any, at: Any, c: Any, low: Any, high: Any) -> Any:
        return c - high, low + high * (2 * at)

    return _clenshaw(x, c, tensor, lambda at: at, step)


def legval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.legendre.legval`."""

    def step(k: Any, at: Any, c: Any, low: Any, high: Any) -> Any:
        return c - high * ((k - 1) / k), low + high * at * ((2 * k - 1) / k)

    return _clenshaw(x, c, tensor, lambda at: at, step)


def hermval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.hermite.hermval`."""

    def step(k: Any, at: Any, c: Any, low: Any, high: Any) -> Any:
        return c - high * (2 * (k - 1)), low + high * (at * 2)

    return _clenshaw(x, c, tensor, lambda at: at * 2, step)


def hermeval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.hermite_e.hermeval`."""

    def step(k: Any, at: Any, c: Any, low: Any, high: Any) -> Any:
        return c - high * (k - 1), low + high * at

    return _clenshaw(x, c, tensor, lambda at: at, step)


def lagval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`np.polynomial.laguerre.lagval`."""

    def step(k: Any, at: Any, c: Any, low: Any, high: Any) -> Any:
        return c - (high * (k - 1)) / k, low + (high * ((2 * k - 1) - at)) / k

    return _clenshaw(x, c, tensor, lambda at: 1 - at, step)


def _at_points(fn: Any, x: Any, y: Any, c: Any) -> Any:
    """Return the values of a series in two variables at points."""
    if np.shape(x) != np.shape(y):
        raise ValueError("x, y are incompatible")
    return fn(y, fn(x, c), False)


def polyval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.polynomial.polyval2d`."""
    return _at_points(polyval, x, y, c)


def chebval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.chebyshev.chebval2d`."""
    return _at_points(chebval, x, y, c)


def legval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.legendre.legval2d`."""
    return _at_points(legval, x, y, c)


def hermval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.hermite.hermval2d`."""
    return _at_points(hermval, x, y, c)


def hermeval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.hermite_e.hermeval2d`."""
    return _at_points(hermeval, x, y, c)


def lagval2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.laguerre.lagval2d`."""
    return _at_points(lagval, x, y, c)


def polygrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.polynomial.polygrid2d`."""
    return polyval(y, polyval(x, c))


def chebgrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.chebyshev.chebgrid2d`."""
    return chebval(y, chebval(x, c))


def leggrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.legendre.leggrid2d`."""
    return legval(y, legval(x, c))


def hermgrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.hermite.hermgrid2d`."""
    return hermval(y, hermval(x, c))


def hermegrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.hermite_e.hermegrid2d`."""
    return hermeval(y, hermeval(x, c))


def laggrid2d(x: Any, y: Any, c: Any) -> Any:
    """`np.polynomial.laguerre.laggrid2d`."""
    return lagval(y, lagval(x, c))


__all__ = [
    "chebgrid2d", "chebval", "chebval2d", "hermegrid2d", "hermeval", "hermeval2d", "hermgrid2d",
    "hermval", "hermval2d", "laggrid2d", "lagval", "lagval2d", "leggrid2d", "legval", "legval2d",
    "polygrid2d", "polyval", "polyval2d",
]  # fmt: skip
