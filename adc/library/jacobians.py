"""Jacobians within differentiated code: one derivative after the other, as plain Python.

`before` and `after` are the arguments around `x`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adc.library.transforms import transform

Arguments = tuple[Any, ...]


# Names that the front end knows: it lowers their calls, and nothing ever runs them.


@transform
def jvp(fn: Any, primals: Any, tangents: Any) -> Any: ...


@transform
def vjp(fn: Any, *primals: Any) -> Any: ...


@transform
def hvp(fn: Any, primals: Any, tangents: Any) -> Any: ...


def slope(fn: Callable[..., Any], before: Arguments, after: Arguments, x: Any) -> Any:
    """Return the derivative of a function of a number."""
    return jvp(lambda y: fn(*before, y, *after), (x,), (1.0,))[1]


def second(fn: Callable[..., Any], before: Arguments, after: Arguments, x: Any) -> Any:
    """Return the second derivative of a function of a number."""
    return hvp(lambda y: fn(*before, y, *after), (x,), (1.0,))


def columns(fn: Callable[..., Any], before: Arguments, after: Arguments, x: Any) -> Any:
    """Return the Jacobian of a function of an array, in forward mode."""
    value = np.asarray(fn(*before, x, *after))
    found = np.zeros((value.size, x.size))
    for k in range(x.size):
        unit = np.zeros(x.size)
        unit[k] = 1.0
        _, dot = jvp(lambda y: fn(*before, y, *after), (x,), (unit.reshape(x.shape),))
        found[:, k] = np.asarray(dot).reshape(-1)
    return found.reshape(value.shape + x.shape)


def rows(fn: Callable[..., Any], before: Arguments, after: Arguments, x: Any) -> Any:
    """Return the Jacobian of a function of an array, in reverse mode."""
    value, pull = vjp(lambda y: np.asarray(fn(*before, y, *after)).reshape(-1), x)
    shape = np.asarray(fn(*before, x, *after)).shape
    found = np.zeros((value.size, x.size))
    for k in range(value.size):
        unit = np.zeros(value.size)
        unit[k] = 1.0
        found[k] = pull(unit)[0].reshape(-1)
    return found.reshape(shape + x.shape)


def hessian(fn: Callable[..., Any], before: Arguments, after: Arguments, x: Any) -> Any:
    """Return the matrix of second derivatives of a function of an array."""
    found = np.zeros((x.size, x.size))
    for k in range(x.size):
        unit = np.zeros(x.size)
        unit[k] = 1.0
        product = hvp(lambda y: fn(*before, y, *after), (x,), (unit.reshape(x.shape),))
        found[:, k] = product.reshape(-1)
    return found.reshape(x.shape + x.shape)
