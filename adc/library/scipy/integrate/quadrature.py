"""`scipy.integrate.quad`.

QUADPACK computes the value (`sessions`). The derivative with respect to a limit is the function
there (Leibniz). That with respect to what the function has captured, and to its further arguments,
is the integral of the derivative, which is computed here: after a substitution that makes
singularities at the ends harmless (H. Takahasi, M. Mori, Double exponential formulas for numerical
integration, 1974), parts of the range are halved until Gauss's and Kronrod's rules agree there.
Reverse and forward mode take the derivative of the same sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.implicit import grad, jvp
from adc.library.rules import exact
from adc.library.scipy import sessions
from adc.library.scipy.captures import captured, floats_in, moves, with_captured

# Kronrod's rule of 21 points, and that of Gauss of 10 points among them.
_HALF = (
    0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845,
    0.7808177265864169, 0.6794095682990244, 0.5627571346686047, 0.4333953941292472,
    0.2943928627014602, 0.14887433898163122,
)  # fmt: skip
_KRONROD = (
    0.011694638867371874, 0.032558162307964725, 0.054755896574351995, 0.07503967481091996,
    0.0931254545836976, 0.10938715880229764, 0.12349197626206584, 0.13470921731147334,
    0.14277593857706009, 0.1477391049013385,
)  # fmt: skip
_GAUSS = (
    0.0, 0.06667134430868814, 0.0, 0.14945134915058059, 0.0, 0.21908636251598204, 0.0,
    0.26926671930999635, 0.0, 0.29552422471475287,
)  # fmt: skip
NODES = np.array((*(-x for x in _HALF), 0.0, *reversed(_HALF)))
KRONROD = np.array((*_KRONROD, 0.1494455540029169, *reversed(_KRONROD)))
GAUSS = np.array((*_GAUSS, 0.0, *reversed(_GAUSS)))
MIDDLE = np.array((*(0.0,) * 10, 1.0, *(0.0,) * 10))
# The range after the substitution, the parts at first, and the most parts.
_END, _FIRST, _MOST = 5.5, 12, 300


@exact(fixed=(0,))
def integral_of(fn: Any, y: Any, a: Any, b: Any, edges: Any, ends: Any, params: Any) -> Any:
    """Return `y`, the integral of `fn` from `a` to `b`; `ends` say which of these are variables."""
    return y


def _at(fn: Any, t: Any, params: Any) -> Any:
    captives, args = params
    return with_captured(fn, captives)(t, *args) * 1.0


def _record(fn: Any, y: Any, a: Any, b: Any, edges: Any, ends: Any, params: Any) -> Any:
    z = integral_of(fn, y, a, b, edges, ends, params)
    return z, (a, b, stop_gradient(edges), ends, params)


def _reverse(fn: Any, kept: Any, ct: Any) -> Any:
    a, b, edges, ends, params = kept
    dp = _by_params(fn, ct, a, b, edges, ends, params)
    da = -ct * _at_end(fn, a, ends[0], params)
    return None, da, ct * _at_end(fn, b, ends[1], params), None, None, dp


def _by_params(fn: Any, ct: Any, a: Any, b: Any, edges: Any, ends: Any, params: Any) -> Any:
    if not moves(params):
        return None
    parts = _parts(fn, edges, params)
    return grad(lambda p: ct * _sum(fn, p, parts, a, b, ends))(params)


def _tangent(fn: Any, primals: Any, tangents: Any) -> Any:
    y, a, b, edges, ends, params = primals
    z = integral_of(fn, y, a, b, edges, ends, params)
    moved = _along(fn, a, b, stop_gradient(edges), ends, params, tangents[5])
    moved += _at_end(fn, b, ends[1], params) * tangents[2]
    return z, moved - _at_end(fn, a, ends[0], params) * tangents[1]


def _along(fn: Any, a: Any, b: Any, edges: Any, ends: Any, params: Any, dots: Any) -> Any:
    if not moves(params):
        return 0.0
    parts = _parts(fn, edges, params)
    return jvp(lambda p: _sum(fn, p, parts, a, b, ends), (params,), (dots,))[1]


integral_of.define(_record, _reverse, _tangent)


def _at_end(fn: Any, t: Any, variable: Any, params: Any) -> Any:
    return _at(fn, t, params) if variable and not math.isinf(t) else 0.0


def _place(u: Any, a: Any, b: Any) -> Any:
    """Return where `u` is between two ends, which may be infinite, and the derivative."""
    if math.isinf(a) and math.isinf(b):
        v = 0.5 * math.pi * math.sinh(u)
        t, slope = math.sinh(v), math.cosh(v) * 0.5 * math.pi * math.cosh(u)
    elif math.isinf(b):
        v = math.exp(0.5 * math.pi * math.sinh(u))
        t, slope = a + v, v * 0.5 * math.pi * math.cosh(u)
    elif math.isinf(a):
        v = math.exp(-0.5 * math.pi * math.sinh(u))
        t, slope = b - v, v * 0.5 * math.pi * math.cosh(u)
    else:
        v = math.exp(-math.pi * math.sinh(u))
        near, far = v / (1.0 + v), 1.0 / (1.0 + v)
        t = b - (b - a) * near if u > 0.0 else a + (b - a) * far
        slope = (b - a) * math.pi * math.cosh(u) * near * far
    if t == a or t == b:  # as rounded: it may be singular there
        return (b - 1.0 if math.isinf(a) else a + 1.0 if math.isinf(b) else 0.5 * (a + b)), 0.0
    return t, slope


def _part(fn: Any, params: Any, low: Any, high: Any, a: Any, b: Any, weights: Any) -> Any:
    total = 0.0
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    for k in range(21):
        t, slope = _place(middle + half * NODES[k], a, b)
        if slope != 0.0:
            total += weights[k] * slope * half * _at(fn, t, params)
    return total


def _size(values: Any) -> Any:
    total = 0.0
    for each in floats_in(values):
        total += np.sum(np.abs(each))
    return total


def _parts(fn: Any, edges: Any, params: Any) -> Any:
    """Return parts of the range, a row each: from, to, and between which edges."""
    params = stop_gradient(params)

    def size(row: Any, weights: Any) -> Any:
        found = grad(lambda p: _part(fn, p, row[0], row[1], row[2], row[3], weights))(params)
        return _size(found)

    rows = np.zeros((_MOST, 4))
    sizes, errors = np.zeros(_MOST), np.zeros(_MOST)
    count = 0
    for k in range(len(edges) - 1):
        for i in range(_FIRST):
            rows[count, 0] = _END * (2.0 * i / _FIRST - 1.0)
            rows[count, 1] = _END * (2.0 * (i + 1) / _FIRST - 1.0)
            rows[count, 2], rows[count, 3] = edges[k], edges[k + 1]
            count += 1
    new = np.arange(_MOST)
    many = count
    while many > 0:
        for i in range(many):
            k = new[i]
            sizes[k] = size(rows[k], KRONROD)
            errors[k] = size(rows[k], KRONROD - GAUSS)
        many = 0
        k = int(np.argmax(errors))
        middle = 0.5 * (rows[k, 0] + rows[k, 1])
        wide = rows[k, 0] < middle < rows[k, 1] and errors[k] >= 1e-15 * np.sum(sizes)
        if count < _MOST and wide and np.sum(errors) > 1e-11 * np.sum(sizes):
            rows[count] = rows[k]
            rows[count, 0] = rows[k, 1] = middle
            new[0], new[1] = k, count
            count += 1
            many = 2
    tails = 0.0
    for k in range(len(edges) - 1):
        for side in range(2):
            u = _last(2.0 * side - 1.0, edges[k], edges[k + 1])
            row = np.array([u - 1e-3, u + 1e-3, edges[k], edges[k + 1]])
            tails = max(tails, 1e3 * size(row, MIDDLE))
    # Where the function does not fall towards the ends, a part of the integral is beyond them.
    least = np.sum(sizes)
    if not (np.sum(errors) <= 1e-6 * least and tails <= 1e-5 * least):
        raise RuntimeError("the integral of the derivative of a function does not converge")
    return rows[:count]


def _last(side: Any, a: Any, b: Any) -> Any:
    """Return the last place before an end that is not rounded to it."""
    u = side * _END
    while _place(u, a, b)[1] == 0.0 and a < b and u * side > 0.0:
        u -= side * 0.05
    return u


def _sum(fn: Any, params: Any, parts: Any, a: Any, b: Any, ends: Any) -> Any:
    """Return the integral, which moves with the limits: to any order that matters."""
    total = 0.0
    sign = 1.0 if a < b else -1.0
    for k in range(len(parts)):
        low, high, start, stop = parts[k, 0], parts[k, 1], parts[k, 2], parts[k, 3]
        total += sign * _part(fn, params, low, high, start, stop, KRONROD)
    if ends[1] and not math.isinf(b):
        total += _tip(fn, b, params)
    if ends[0] and not math.isinf(a):
        total -= _tip(fn, a, params)
    return total


def _tip(fn: Any, b: Any, params: Any) -> Any:
    """Return the integral from the value of `b` to `b`: zero, and its derivatives.

    Gauss's rule of three points has those up to the sixth.
    """
    start = stop_gradient(b)
    step = b - start
    total = 0.0
    for x, weight in ((0.1127016653792583, 5.0), (0.5, 8.0), (0.8872983346207417, 5.0)):
        value = _at(fn, start + x * step, params)
        if math.isfinite(value):
            total += step * (weight / 18.0) * value
    return total


def quad(
    func: Any, a: Any, b: Any, args: Any, epsabs: Any, epsrel: Any, limit: Any, points: Any,
    ends: Any,
) -> Any:  # fmt: skip
    given = args if isinstance(args, tuple) else (args,)
    a, b = a * 1.0, b * 1.0
    low, high = stop_gradient(a), stop_gradient(b)
    handle = sessions.start("quad", low, high, epsabs, epsrel, limit, points)
    start = np.zeros(2)
    kind, x = sessions.asked(handle, start)
    while kind != sessions.DONE:
        value = stop_gradient(float(func(x[0], *given) * 1.0))
        kind, x = sessions.told(handle, start, np.full(1, value))
    sessions.ended(handle)
    y, error = x[0], x[1]
    edges = np.array([min(low, high), max(low, high)])
    if points is not None:
        inner = np.sort(np.ravel(np.asarray(points)) * 1.0)
        edges = np.concatenate((edges[:1], inner, edges[1:]))
    captives = captured(func)
    if moves((a, b, captives, given)):
        still = with_captured(func, stop_gradient(captives))
        y = integral_of(still, y, a, b, edges, ends, (captives, given))
    return y, error


__all__ = ["quad"]
