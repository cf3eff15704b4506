"""Functions of SciPy for a GPU, whose library does not have them (`adc.ir.ops.algorithms`).

They are compositions of others, or recurrences to where an asymptotic series is exact. On a CPU
SciPy computes all of them.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.ops.arith import absolute, floor
from adc.ir.ops.math import cos, exp, log, log1p, sin, sqrt

nan = math.nan
inf = math.inf
# Rows, by the names that emitted code has for them.
scipy_erfc: Any = None
scipy_erfcx: Any = None


# The digamma function.
def psi(x: float) -> Any:
    found = 0.0
    if x <= 0.0:
        rest = x - floor(x)
        if rest == 0.0:
            return nan
        found = -3.141592653589793 * cos(3.141592653589793 * rest)
        found /= sin(3.141592653589793 * rest)
        x = 1.0 - x
    for _ in range(10):
        if x < 10.0:
            found -= 1.0 / x
            x += 1.0
    z = 1.0 / (x * x)
    series = 1.0 / 132.0 - z * 691.0 / 32760.0
    series = 1.0 / 240.0 - z * series
    series = 1.0 / 252.0 - z * series
    series = 1.0 / 120.0 - z * series
    series = 1.0 / 12.0 - z * series
    return found + log(x) - 0.5 / x - z * series


# Hurwitz's zeta function, by the formula of Euler and Maclaurin.
def zeta(s: float, q: float) -> Any:
    if s == 1.0:
        return inf
    if not s > 1.0:
        return nan
    if q <= 0.0:
        if floor(q) == q:
            return inf
        if floor(s) != s:
            return nan
    total = 0.0
    w = q
    for _ in range(2000000000):
        if not w <= 10.0:
            break
        total += pow(w, -s)
        w += 1.0
    last = pow(w, -s)
    total += last * w / (s - 1.0) + 0.5 * last
    term = last * s / w
    total += term / 12.0
    term *= (s + 1.0) * (s + 2.0) / (w * w)
    total -= term / 720.0
    term *= (s + 3.0) * (s + 4.0) / (w * w)
    total += term / 30240.0
    term *= (s + 5.0) * (s + 6.0) / (w * w)
    total -= term / 1209600.0
    term *= (s + 7.0) * (s + 8.0) / (w * w)
    return total + term / 47900160.0


# The logarithm of the normal distribution.
def log_ndtr(x: float) -> Any:
    if x > 0.0:
        return log1p(-0.5 * scipy_erfc(0.7071067811865476 * x))
    return log(0.5 * scipy_erfcx(-0.7071067811865476 * x)) - 0.5 * (x * x)


# The inverse of the logistic function.
def logit(x: float) -> Any:
    if absolute(x - 0.5) < 0.2:  # as SciPy does it
        s = 2.0 * (x - 0.5)
        return log1p(s) - log1p(-s)
    return log(x / (1.0 - x))


# The logarithm of the logistic function.
def log_expit(x: float) -> Any:
    if x < 0.0:
        return x - log1p(exp(x))
    return -log1p(exp(-x))


# The product of x and log(y).
def xlogy(x: float, y: float) -> Any:
    if x == 0.0:
        if y == y:
            return 0.0
    return x * log(y)


# The product of x and log(1 + y).
def xlog1py(x: float, y: float) -> Any:
    if x == 0.0:
        if y == y:
            return 0.0
    return x * log1p(y)


# Minus x log(x).
def entr(x: float) -> Any:
    if x == 0.0:
        return 0.0
    if x < 0.0:
        return -inf
    return -x * log(x)


# The product of x and log(x / y).
def rel_entr(x: float, y: float) -> Any:
    if x > 0.0:
        if y > 0.0:
            if absolute(x - y) < 0.5 * y:
                return x * log1p((x - y) / y)
            return x * (log(x) - log(y))
    if x == 0.0:
        if y >= 0.0:
            return 0.0
    if x != x:
        return x
    if y != y:
        return y
    return inf


# The product of x and log(x / y), less x, plus y.
def kl_div(x: float, y: float) -> Any:
    if x > 0.0:
        if y > 0.0:
            return x * log(x / y) - x + y
    if x == 0.0:
        if y >= 0.0:
            return y
    if x != x:
        return x
    if y != y:
        return y
    return inf


# Huber's loss.
def huber(delta: float, r: float) -> Any:
    if delta < 0.0:
        return inf
    size = absolute(r)
    if size <= delta:
        return 0.5 * (r * r)
    return delta * (size - 0.5 * delta)


# A smooth loss like Huber's.
def pseudo_huber(delta: float, r: float) -> Any:
    if delta < 0.0:
        return inf
    if delta == 0.0:
        return 0.0
    t = r / delta
    return delta * delta * (t * t) / (1.0 + sqrt(1.0 + t * t))
