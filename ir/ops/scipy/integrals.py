"""Integrals that belong to no family of functions: exponential, sine, Fresnel integrals, others.

Si and Shi have spherical Bessel functions of order 0 as derivatives, which hold at zero.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import absolute, gt, lt, select
from adc.ir.ops.math import cos, cosh, exp, log, pow_, sin
from adc.ir.ops.scipy.bessel import spherical_in, spherical_jn
from adc.ir.ops.scipy.error import density
from adc.ir.ops.scipy.error import erf as error_function
from adc.ir.ops.ufuncs import ufunc

exp1: OpDef = ufunc("exp1", lambda y, x: -exp(-x) / x, cost=60)
expi: OpDef = ufunc("expi", lambda y, x: exp(x) / x, cost=60)


def _slope_of_expn(y: Any, n: Any, x: Any) -> Any:
    return select(gt(n, 0.0), -expn(n - 1.0, x), -exp(-x) * (1.0 + x) / (x * x))


expn: OpDef = ufunc(
    "expn",
    "its order: the derivative has no closed form",
    _slope_of_expn,
    loop="ld->d",
    cost=100,
)

_TWO = "d->dd"
ufunc("sici", lambda y, x: spherical_jn(0.0, absolute(x)), loop=_TWO, suffix="_0", cost=100)
ufunc("sici", lambda y, x: cos(x) / x, loop=_TWO, output=1, suffix="_1", cost=100)
ufunc("shichi", lambda y, x: spherical_in(0.0, absolute(x)), loop=_TWO, suffix="_0", cost=100)
ufunc("shichi", lambda y, x: cosh(x) / x, loop=_TWO, output=1, suffix="_1", cost=100)
_QUARTER = 0.5 * math.pi
ufunc("fresnel", lambda y, x: sin(_QUARTER * (x * x)), loop=_TWO, suffix="_0", cost=60)
ufunc("fresnel", lambda y, x: cos(_QUARTER * (x * x)), loop=_TWO, output=1, suffix="_1", cost=60)


def _slope_of_spence(y: Any, z: Any) -> Any:
    """Return log(z) / (1 - z), near 1 by a series."""
    u = z - 1.0
    series: Any = 0.0
    for k in range(15, -1, -1):
        series = (-1.0) ** (k + 1) / (k + 1.0) + u * series
    return select(lt(absolute(u), 0.1), series, -log(z) / u)


spence: OpDef = ufunc("spence", _slope_of_spence, cost=60)
owens_t: OpDef = ufunc(
    "owens_t",
    lambda y, h, a: -0.5 * density(h) * error_function(math.sqrt(0.5) * (a * h)),
    lambda y, h, a: exp(-0.5 * (h * h) * (1.0 + a * a)) * (0.5 / math.pi) / (1.0 + a * a),
    cost=150,
)
wrightomega: OpDef = ufunc("wrightomega", lambda y, x: y / (1.0 + y), cost=60)

# --- Tukey's and Kolmogorov's distributions -------------------------------------------------------

ufunc(
    "tklmbda",
    lambda y, x, shape: 1.0 / (pow_(y, shape - 1.0) + pow_(1.0 - y, shape - 1.0)),
    "its shape: there is no rule",
    cost=300,
)  # fmt: skip
_TWICE = "its argument: there is no rule for second derivatives of Kolmogorov's distribution"
_kolmogorov_slope: OpDef = ufunc("_kolmogp", _TWICE, cost=100)
ufunc("kolmogorov", lambda y, x: _kolmogorov_slope(x), cost=100)
ufunc("kolmogi", lambda y, p: 1.0 / _kolmogorov_slope(y), cost=300)
_NUMBER = "its number of samples"
_smirnov_slope: OpDef = ufunc("_smirnovp", _NUMBER, _TWICE, loop="ld->d", cost=300)
ufunc("smirnov", _NUMBER, lambda y, n, d: _smirnov_slope(n, d), loop="ld->d", cost=300)
ufunc("smirnovi", _NUMBER, lambda y, n, p: 1.0 / _smirnov_slope(n, y), loop="ld->d", cost=900)
