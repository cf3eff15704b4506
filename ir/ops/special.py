"""Special functions, which no machine has as instructions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.ir.opdef import OPS, CFunction, OpDef
from adc.ir.ops.algorithms import evaluated
from adc.ir.ops.arith import absolute, floor, rint
from adc.ir.ops.math import WIDE, cos, exp, sin, sqrt


def _elementwise(fn: Callable[..., float]) -> Callable[..., Any]:
    """Return `fn` of Python floats as a function of NumPy scalars that keeps their dtype."""

    def evaluate(*args: Any) -> Any:
        dtype = np.result_type(*args)
        try:
            return dtype.type(fn(*(float(arg) for arg in args)))
        except OverflowError:
            return dtype.type(np.inf)
        except ValueError:
            return dtype.type(np.nan)

    return evaluate


erf = OpDef(
    "erf", 1, _elementwise(math.erf), "erf({0})", (math.erf,),
    vjp=lambda ct, y, x: (ct * (2.0 / math.sqrt(math.pi) * exp(-(x * x))),),
    kinds="f", cost=20, domain=WIDE,
    total=True, image=(-1.0, 1.0),
    nanoseconds=1.4, libm=CFunction("erf"), raises="", doc="Error function.",
)  # fmt: skip
erfc = OpDef(
    "erfc", 1, _elementwise(math.erfc), "erfc({0})", (math.erfc,),
    vjp=lambda ct, y, x: (-ct * (2.0 / math.sqrt(math.pi) * exp(-(x * x))),),
    kinds="f", cost=20, domain=WIDE,
    total=True, image=(0.0, 2.0),
    nanoseconds=1.8, libm=CFunction("erfc"), raises="", doc="1 - erf(x) without cancellation.",
)  # fmt: skip
gamma = OpDef(
    "gamma", 1, _elementwise(math.gamma), "gamma({0})", (),
    vjp=lambda ct, y, x: (ct * (y * OPS["scipy_psi"](x)),),
    kinds="f", cost=50, domain=((0.2, 5.0),),
    # glibc's tgammaf and lgammaf err by more than 5 units in the last place.
    nanoseconds=29, libm=CFunction("tgamma", vectorized=False, single=False), raises="pole",
    doc="Gamma function.",
)  # fmt: skip
lgamma = OpDef(
    "lgamma", 1, _elementwise(math.lgamma), "lgamma({0})", (),
    vjp=lambda ct, y, x: (ct * OPS["scipy_psi"](x),),
    kinds="f", cost=50, domain=((0.2, 5.0),),
    nanoseconds=8.6, libm=CFunction("lgamma", vectorized=False, single=False), raises="poles",
    doc="Logarithm of the absolute value of gamma(x).",
)  # fmt: skip


def _sinc(order: int, x: float) -> Any:
    a = absolute(x)
    z = 3.141592653589793 * a
    if z * z < 10.0 * order:  # where the recurrence would lose digits
        term = 1.0
        for k in range(order):
            term /= 2.0 * k + 3.0
        series = term
        for k in range(1, 60):
            term *= -(z * z) / (2.0 * k * (2.0 * order + 2.0 * k + 1.0))
            series += term
            if absolute(term) <= 1e-17 * absolute(series):
                break
        return series
    if a == 0.0:
        return 1.0
    # The remainder modulo whole turns is exact, and so are the zeros.
    whole = rint(a)
    flip = 1.0 - 2.0 * (whole - 2.0 * floor(0.5 * whole))
    rest = 3.141592653589793 * (a - whole)
    before = flip * cos(rest)
    value = flip * sin(rest) / z
    for k in range(order):
        after = ((2.0 * k + 1.0) * value - before) / z / z
        before = value
        value = after
    return value


# Of order n, with z = pi * x: the spherical Bessel function of z divided by z**n, which is smooth,
# and its derivative by z is that of order n + 1 times -z.
sinc: OpDef = OpDef(
    "sinc", 1, evaluated(_sinc), "sinc({order}, {0})", (np.sinc,), algorithm=_sinc, least="f64",
    vjp=lambda ct, y, x, n=0: (ct * (-(math.pi**2) * x * sinc(x, params=(n + 1,))),),
    kinds="f", cost=25, nanoseconds=1.5, domain=WIDE, total=True, image=(-0.3, 1.0),
    doc="sin(pi * x) / (pi * x); of higher order, what its derivatives are made of.",
)  # fmt: skip


def _i0(order: int, x: float) -> Any:
    a = absolute(x)
    term = 1.0
    if a < 20.0 + order * order:
        for k in range(1, order + 1):
            term /= 2.0 * k
        series = term
        for k in range(1, 1000):
            term *= 0.25 * a * a / (k * (k + order))
            series += term
            if term <= 1e-17 * series:
                break
        return series
    series = 1.0
    for k in range(1, 40):
        odd = 2.0 * k - 1.0
        term *= (odd * odd - 4.0 * order * order) / (8.0 * k * a)
        series += term
        if absolute(term) <= 1e-17:
            break
    half = exp(0.5 * a)  # exp(a) may overflow where the result does not
    if half > 1e300:
        return half
    series *= half / sqrt(6.283185307179586 * a)
    for _ in range(order):
        series /= a
    return series * half


# Of order n: the modified Bessel function I_n of x divided by x**n, which is smooth, and its
# derivative is that of order n + 1 times x.
i0: OpDef = OpDef(
    "i0", 1, evaluated(_i0), "bessel_i0({order}, {0})", (np.i0,), algorithm=_i0, least="f64",
    vjp=lambda ct, y, x, n=0: (ct * (x * i0(x, params=(n + 1,))),),
    kinds="f", cost=100, nanoseconds=13, domain=((-9.0, 9.0),), image=(0.0, math.inf),
    doc="The modified Bessel function of order 0; or what its derivatives are made of.",
)  # fmt: skip


def _expit(x: float) -> Any:
    return 1.0 / (1.0 + exp(-x))


# The derivative is no difference from 1: that would be 0 from 37 on.
expit: OpDef = OpDef(
    "expit", 1, evaluated(_expit), "expit({0})", ("scipy.special.expit",), algorithm=_expit,
    least="f64", vjp=lambda ct, y, x: (ct * (y * expit(-x)),),
    kinds="f", cost=25, nanoseconds=1.0, domain=((-9.0, 9.0),), total=True, image=(0.0, 1.0),
    doc="The logistic function, 1 / (1 + exp(-x)).",
)  # fmt: skip
