"""`root_scalar` and `fixed_point` of `scipy.optimize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.scipy.captures import captured, moves, still
from adc.library.scipy.optimize.roots import differentiable
from adc.library.scipy.optimize.solvers import root_of


class Root:
    """What `root_scalar` returns: it raises where SciPy's says that it has not converged."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.converged = True


def differences(f: Any) -> Any:
    """Return the derivative of a function as SciPy's `approx_derivative` computes it."""

    def slope(x: Any, *args: Any) -> Any:
        step = 1.4901161193847656e-08 * max(1.0, abs(x))
        moved = x + step if x >= 0.0 else x - step
        return (f(moved, *args) - f(x, *args)) / (moved - x)

    return slope


def _next(p: Any, p1: Any, p2: Any) -> Any:
    """Return what Aitken's process makes of three iterates (J. F. Steffensen, 1933)."""
    d = p2 - 2.0 * p1 + p
    return np.where(d != 0.0, p - (p1 - p) ** 2 / np.where(d != 0.0, d, 1.0), p2)


def _iterated(func: Any, x0: Any, args: Any, xtol: Any, maxiter: Any, accelerated: Any) -> Any:
    before = x0
    for _ in range(maxiter):
        p = func(before, *args)
        if accelerated:
            p = _next(before, p, func(p, *args))
        divisor = np.where(before != 0.0, before, 1.0)
        error = np.where(before != 0.0, (p - before) / divisor, p)
        if np.all(np.abs(error) < xtol):
            return p
        before = p
    if np.ndim(x0) > 0:
        raise RuntimeError(f"Failed to converge after {maxiter} iterations")
    raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {before}")


def fixed_point(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-8, maxiter: Any = 500, method: Any = "del2"
) -> Any:
    if np.ndim(x0) > 1:
        raise Unsupported(
            "`scipy.optimize.fixed_point` of a matrix", "let the function take a vector"
        )
    if method != "del2" and method != "iteration":
        raise KeyError(method)
    given = args if isinstance(args, tuple) else (args,)
    start = stop_gradient(np.asarray(x0) * 1.0)
    accelerated = method == "del2"
    fixed = still(func)
    if np.ndim(x0) == 0:
        number = _iterated(fixed, start[()], stop_gradient(given), xtol, maxiter, accelerated)
        return differentiable(lambda t, *more: t - func(t, *more), number, given)
    x = _iterated(fixed, start, stop_gradient(given), xtol, maxiter, accelerated)

    def function(t: Any, *more: Any) -> Any:
        return t - func(t, *more)

    if moves((captured(function), given)):
        x = root_of(still(function), x, True, (captured(function), given))
    return x


__all__ = ["Root", "differences", "fixed_point"]
