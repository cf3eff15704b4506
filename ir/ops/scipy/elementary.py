"""What is elementary arithmetic: logistic functions, entropies, losses, powers.

SciPy takes care of zeros and infinities there, and so do the derivatives.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import absolute, eq, le, lt, select, sign, xdivy
from adc.ir.ops.math import exp, hypot, log, log1p, pow_, sin
from adc.ir.ops.scipy import kernels
from adc.ir.ops.special import expit
from adc.ir.ops.ufuncs import ufunc

_DEGREE = math.pi / 180.0

# --- logistic functions ---------------------------------------------------------------------------

logit: OpDef = ufunc("logit", lambda y, x: 1.0 / (x * (1.0 - x)), device=kernels.logit, cost=30)
log_expit: OpDef = ufunc(
    "log_expit", lambda y, x: expit(-x), device=kernels.log_expit, cost=30, image=(-math.inf, 0.0)
)

# --- entropies ------------------------------------------------------------------------------------

xlogy: OpDef = ufunc(
    "xlogy", lambda f, x, y: log(y), lambda f, x, y: xdivy(x, y), device=kernels.xlogy, cost=25
)
xlog1py: OpDef = ufunc(
    "xlog1py",
    lambda f, x, y: log1p(y),
    lambda f, x, y: xdivy(x, 1.0 + y),
    device=kernels.xlog1py,
    cost=25,
)


def _log_ratio(x: Any, y: Any) -> Any:
    """Return the logarithm of x / y, which may overflow; at 0 it is minus infinity."""
    return select(eq(x, 0.0), -math.inf, rel_entr(x, y) / x)


entr: OpDef = ufunc("entr", lambda f, x: -log(x) - 1.0, device=kernels.entr, cost=25)
rel_entr: OpDef = ufunc(
    "rel_entr",
    lambda f, x, y: _log_ratio(x, y) + 1.0,
    lambda f, x, y: -xdivy(x, y),
    device=kernels.rel_entr,
    cost=30,
)
kl_div: OpDef = ufunc(
    "kl_div",
    lambda f, x, y: _log_ratio(x, y),
    lambda f, x, y: 1.0 - xdivy(x, y),
    device=kernels.kl_div,
    cost=30,
)

# --- losses ---------------------------------------------------------------------------------------

huber: OpDef = ufunc(
    "huber",
    lambda f, delta, r: select(le(absolute(r), delta), 0.0, absolute(r) - delta),
    lambda f, delta, r: select(le(absolute(r), delta), r, delta * sign(r)),
    device=kernels.huber, cost=10,
)  # fmt: skip


def _by_delta(f: Any, delta: Any, r: Any) -> Any:
    h = hypot(delta, r)
    ratio = xdivy(r, h + delta)
    return ratio * ratio * xdivy(r, h) * r


pseudo_huber: OpDef = ufunc(
    "pseudo_huber",
    _by_delta,
    lambda f, delta, r: delta * xdivy(r, hypot(delta, r)),
    device=kernels.pseudo_huber,
    cost=20,
)

# --- powers ---------------------------------------------------------------------------------------


def _slope_of_exprel(t: Any, y: Any) -> Any:
    """Return the derivative of ``y = (exp(t) - 1) / t``; near 0 it is a series."""
    series: Any = 0.0
    for k in range(17, -1, -1):
        series = (k + 1.0) / math.factorial(k + 2) + t * series
    return select(lt(absolute(t), 1.0), series, (exp(t) - y) / t)


def _slope_of_log1prel(s: Any) -> Any:
    """Return the derivative of ``log1p(s) / s``; near 0 it is a series."""
    series: Any = 0.0
    for k in range(15, -1, -1):
        series = (-1.0) ** (k + 1) * (k + 1.0) / (k + 2.0) + s * series
    direct = (1.0 / (1.0 + s) - log1p(s) / s) / s
    return select(lt(absolute(s), 0.1), series, direct)


exprel: OpDef = ufunc("exprel", lambda y, x: _slope_of_exprel(x, y), cost=25)


def _by_power(f: Any, base: Any, logarithm: Any, power: Any) -> Any:
    """Return the derivative of ``(base ** power - 1) / power`` by the power."""
    t = power * logarithm
    near = logarithm * logarithm * _slope_of_exprel(t, exprel(t))
    far = (xlogy(pow_(base, power), base) - f) / power
    return select(lt(absolute(t), 1.0), near, far)


boxcox: OpDef = ufunc(
    "boxcox",
    lambda f, x, power: pow_(x, power - 1.0),
    lambda f, x, power: _by_power(f, x, log(x), power),
    cost=40,
)
boxcox1p: OpDef = ufunc(
    "boxcox1p",
    lambda f, x, power: pow_(1.0 + x, power - 1.0),
    lambda f, x, power: _by_power(f, 1.0 + x, log1p(x), power),
    cost=40,
)
inv_boxcox: OpDef = ufunc(
    "inv_boxcox",
    lambda f, y, power: pow_(f, 1.0 - power),
    lambda f, y, power: f * (y * y) * _slope_of_log1prel(power * y),
    cost=40,
)
inv_boxcox1p: OpDef = ufunc(
    "inv_boxcox1p",
    lambda f, y, power: pow_(f + 1.0, 1.0 - power),
    lambda f, y, power: (f + 1.0) * (y * y) * _slope_of_log1prel(power * y),
    cost=40,
)
powm1: OpDef = ufunc(
    "powm1",
    lambda f, x, y: y * pow_(x, y - 1.0),
    lambda f, x, y: xlogy(f + 1.0, x),
    cost=40,
)

# --- what NumPy has as well -----------------------------------------------------------------------

cbrt: OpDef = ufunc("cbrt", lambda y, x: 1.0 / (3.0 * (y * y)), cost=20, device="cbrt")
exp2: OpDef = ufunc("exp2", lambda y, x: math.log(2.0) * y, cost=15, device="exp2")
exp10: OpDef = ufunc("exp10", lambda y, x: math.log(10.0) * y, cost=15, device="exp10")
expm1: OpDef = ufunc("expm1", lambda y, x: exp(x), cost=15, device="expm1")
sp_log1p: OpDef = ufunc("log1p", lambda y, x: 1.0 / (1.0 + x), cost=15, device="log1p")
cosm1: OpDef = ufunc("cosm1", lambda y, x: -sin(x), cost=20)
sindg: OpDef = ufunc("sindg", lambda y, x: _DEGREE * cosdg(x), cost=20)
cosdg: OpDef = ufunc("cosdg", lambda y, x: -_DEGREE * sindg(x), cost=20)
tandg: OpDef = ufunc("tandg", lambda y, x: _DEGREE * (1.0 + y * y), cost=20)
cotdg: OpDef = ufunc("cotdg", lambda y, x: -_DEGREE * (1.0 + y * y), cost=20)
round_: OpDef = ufunc("round", None, jumps=True, cost=10)
radian: OpDef = ufunc(
    "radian",
    lambda f, d, m, s: _DEGREE,
    lambda f, d, m, s: _DEGREE / 60.0,
    lambda f, d, m, s: _DEGREE / 3600.0,
    cost=10,
)

__all__ = ["exprel", "rel_entr", "xlogy"]
