"""Steps of explicit Runge-Kutta methods (Hairer, Nørsett, Wanner 1993, sections II.4 to II.6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.scipy.odes import tableaus


def slope(fun: Any, t: Any, y: Any) -> Any:
    """Return ``fun(t, y)`` as an array of its own, of the shape and the dtype of `y`."""
    found = np.empty_like(y)
    found[:] = fun(t, y)
    return found


def combined(weights: Any, stages: Any) -> Any:
    """Return the weighted sum of some arrays, without those of weight zero."""
    total = weights[0] * stages[0]
    for weight, stage in zip(weights[1:], stages[1:]):  # noqa: B905  # there may be more stages
        if weight != 0.0:
            total = total + weight * stage
    return total


def root_mean_square(x: Any) -> Any:
    """Return the norm in which errors are measured."""
    return np.linalg.norm(x) / x.size**0.5


def taken(method: Any, fun: Any, t: Any, y: Any, f: Any, h: Any) -> Any:
    """Return the state after a step of size `h`, and the slopes: there the last one."""
    nodes, rows, weights, _, _ = tableaus.pair(method)
    stages = [f]
    for node, row in zip(nodes, rows, strict=True):
        stages.append(slope(fun, t + node * h, y + combined(row, stages) * h))
    end = y + h * combined(weights, stages)
    stages.append(slope(fun, t + h, end))
    return end, tuple(stages)


def error(method: Any, stages: Any, h: Any, scale: Any) -> Any:
    """Return the norm of the estimated error of a step, in units of what is allowed."""
    _, _, _, weights, _ = tableaus.pair(method)
    if method != "DOP853":
        return root_mean_square(combined(weights, stages) * h / scale)
    fifth = np.linalg.norm(combined(weights, stages) / scale) ** 2
    third = np.linalg.norm(combined(tableaus.error_of_third_order(), stages) / scale) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return np.abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * len(scale))


def first_size(
    fun: Any, t: Any, y: Any, f: Any, end: Any, most: Any, direction: Any, order: Any, rtol: Any,
    atol: Any,
) -> Any:  # fmt: skip
    """Return the size of the first step (Hairer, Nørsett, Wanner 1993, section II.4)."""
    length = abs(end - t)
    if y.size == 0:
        return np.inf
    if length == 0.0:
        return 0.0
    scale = atol + np.abs(y) * rtol
    d0 = root_mean_square(y / scale)
    d1 = root_mean_square(f / scale)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, length)
    ahead = slope(fun, t + h0 * direction, y + h0 * direction * f)
    d2 = root_mean_square((ahead - f) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / (order + 1.0))
    return min(100.0 * h0, h1, length, most)


def more_slopes(method: Any) -> Any:
    """Return how often the slope is computed for the interpolant."""
    return len(tableaus.more_stages()[0]) if method == "DOP853" else 0


def interpolant(method: Any, fun: Any, t: Any, y: Any, end: Any, stages: Any, h: Any) -> Any:
    """Return the coefficients of the polynomial that interpolates a step, for `between`."""
    if method != "DOP853":
        polynomials = tableaus.interpolant(method)
        return [
            combined([polynomial[power] for polynomial in polynomials], stages)
            for power in range(len(polynomials[0]))
        ]
    slopes = list(stages)
    nodes, weights = tableaus.more_stages()
    for node, row in zip(nodes, weights, strict=True):
        slopes.append(slope(fun, t + node * h, y + combined(row, slopes) * h))
    change = end - y
    first, last = stages[0], stages[-1]
    rest = [h * combined(row, slopes) for row in tableaus.interpolant_of_seventh_order()]
    return [change, h * first - change, 2.0 * change - h * (last + first), *rest]


def between(method: Any, rows: Any, y: Any, x: Any, h: Any) -> Any:
    """Return the state at the fraction `x` of a step from `y` on."""
    if method == "BDF":
        return _between_differences(rows, x, h)
    if method != "DOP853":
        total = rows[0] * x
        power = x
        for row in rows[1:]:
            power = power * x
            total = total + row * power
        return h * total + y
    total = rows[-1] * x
    for k in range(1, len(rows)):
        total = (total + rows[-1 - k]) * (x if k % 2 == 0 else 1.0 - x)
    return total + y


def _between_differences(rows: Any, x: Any, h: Any) -> Any:
    """Return the state at the fraction `x` of a step: the last row is the size of the next one."""
    back = (x - 1.0) * h / rows[6]
    total = rows[0]
    power = np.ones_like(rows[0])
    for k in range(5):
        power = power * (back + k) / (k + 1.0)
        total = total + rows[k + 1] * power
    return total
