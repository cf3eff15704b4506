"""Backward differentiation formulas of variable order (Shampine and Reichelt 1997, section 2).

The state is interpolated by backward differences, the rows of a matrix. A step solves

    c f(t, predicted + d) - psi - d = 0

for the next difference `d`, by a simplified Newton iteration on numbers without derivatives. Two
more steps with the exact Jacobian have the derivatives, by the implicit function theorem: the
first one those of first order, the second one those of second order. They do not change `d`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.implicit import jacfwd
from adc.library.scipy.odes import steps

_EPS = 2.220446049250313e-16
_ITERATIONS = 4
_GAMMA = (0.0, 1.0, 1.5, 11 / 6, 25 / 12, 137 / 60)
_KAPPA = (0.0, -0.1850, -1 / 9, -0.0823, -0.0415, 0.0)


def gammas() -> Any:
    """Return the sums of the first terms of the harmonic series."""
    return np.array(_GAMMA)


def alpha(order: Any) -> Any:
    """Return the leading coefficient of the formula of an order."""
    return (1.0 - np.array(_KAPPA)[order]) * np.array(_GAMMA)[order]


def error_constant(order: Any) -> Any:
    """Return the error of the formula of an order, in units of the next difference."""
    return np.array(_KAPPA)[order] * np.array(_GAMMA)[order] + 1.0 / (order + 1.0)


def _scaling(factor: Any) -> Any:
    found = np.ones((6, 6))
    for i in range(1, 6):
        found[i, 0] = 0.0
        for j in range(1, 6):
            found[i, j] = found[i - 1, j] * (i - 1 - factor * j) / i
    return found


def changed(differences: Any, order: Any, factor: Any) -> Any:
    """Return the differences for steps that are `factor` times as large."""
    change = (_scaling(factor) @ _scaling(1.0))[: order + 1, : order + 1].copy()
    found = differences.copy()
    found[: order + 1] = change.T.copy() @ differences[: order + 1]
    return found


def numerical_jacobian(fun: Any, t: Any, y: Any, threshold: Any, factor: Any) -> Any:
    """Return a Jacobian by differences with SciPy's choice of their sizes, and their factors."""
    n = len(y)
    f = steps.slope(fun, t, y)
    factor = factor.copy()
    jacobian = np.zeros((n, n))
    least = np.zeros(n) + threshold
    for j in range(n):
        unit = max(least[j], np.abs(y[j])) * (1.0 if f[j] >= 0 else -1.0)
        h = (y[j] + factor[j] * unit) - y[j]
        while h == 0:
            factor[j] *= 10.0
            h = (y[j] + factor[j] * unit) - y[j]
        moved = y.copy()
        moved[j] += h
        there = steps.slope(fun, t, moved)
        diff = there - f
        k = np.argmax(np.abs(diff))
        most, scale = np.abs(diff[k]), max(np.abs(f[k]), np.abs(there[k]))
        if most < _EPS**0.875 * scale:
            other = 10.0 * factor[j]
            h_other = (y[j] + other * unit) - y[j]
            moved = y.copy()
            moved[j] += h_other
            there = steps.slope(fun, t, moved)
            diff_other = there - f
            k = np.argmax(np.abs(diff_other))
            most_other = np.abs(diff_other[k])
            scale_other = max(np.abs(f[k]), np.abs(there[k]))
            if most * scale_other < most_other * scale:
                factor[j], h, diff = other, h_other, diff_other
                most, scale = most_other, scale_other
        jacobian[:, j] = diff / h
        if most < _EPS**0.75 * scale:
            factor[j] *= 10.0
        if most > _EPS**0.25 * scale:
            factor[j] *= 0.1
        factor[j] = max(factor[j], 1e3 * _EPS)
    return jacobian, factor


def iterated(
    fun: Any, t: Any, predicted: Any, c: Any, psi: Any, matrix: Any, scale: Any, tol: Any
) -> Any:
    """Return whether Newton's iteration converged, how many steps it took, and the difference."""
    y = predicted.copy()
    d = np.zeros_like(predicted)
    before = -1.0
    converged = False
    count = 0
    for k in range(_ITERATIONS):
        count = k + 1
        f = steps.slope(fun, t, y)
        if not np.all(np.isfinite(f)):
            break
        dy = np.linalg.solve(matrix, c * f - psi - d)
        size = steps.root_mean_square(dy / scale)
        rate = 0.0
        if before >= 0.0:
            rate = size / before
            if rate >= 1 or rate ** (_ITERATIONS - k) / (1 - rate) * size > tol:
                break
        y = y + dy
        d = d + dy
        if size == 0 or (before >= 0.0 and rate / (1 - rate) * size < tol):
            converged = True
            break
        before = size
    return converged, count, d


def with_derivatives(fun: Any, t: Any, predicted: Any, c: Any, psi: Any, d: Any) -> Any:
    """Return `d` with the derivatives of the solution of the step's equation."""
    now = stop_gradient(t)
    jacobian = jacfwd(lambda z: steps.slope(fun, now, z))(stop_gradient(predicted) + d)
    matrix = stop_gradient(np.identity(len(d)) - stop_gradient(c) * jacobian)
    for _ in range(2):
        f = steps.slope(fun, t, predicted + d)
        step = np.linalg.solve(matrix, c * f - psi - d)
        d = d + (step - stop_gradient(step))
    return d


def updated(differences: Any, order: Any, d: Any) -> Any:
    """Return the differences after a step."""
    found = differences.copy()
    found[order + 2] = d - differences[order + 1]
    found[order + 1] = d
    for k in range(order + 1):
        i = order - k
        found[i] = found[i] + found[i + 1]
    return found


def _gain(norm: Any, order: Any) -> Any:
    return np.inf if norm == 0 else norm ** (-1.0 / order)


def next_order(differences: Any, order: Any, off: Any, scale: Any) -> Any:
    """Return the order for the next steps, and the factor by which it changes their size."""
    lower, higher = 0.0, 0.0
    if order > 1:
        error = error_constant(order - 1) * differences[order]
        lower = _gain(steps.root_mean_square(error / scale), order)
    same = _gain(off, order + 1.0)
    if order < 5:
        error = error_constant(order + 1) * differences[order + 2]
        higher = _gain(steps.root_mean_square(error / scale), order + 2.0)
    if lower >= same and lower >= higher:
        return order - 1, lower
    if same >= higher:
        return order, same
    return order + 1, higher
