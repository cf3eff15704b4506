"""Elementary functions. Each has one implementation per machine, whatever loop it sits in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.ir.opdef import CFunction, OpDef
from adc.ir.ops import parts
from adc.ir.ops.arith import eq, select
from adc.ir.rules import Traced

LN2 = math.log(2.0)
LN10 = math.log(10.0)
WIDE = ((-3.0, 3.0),)
POSITIVE = ((0.1, 9.0),)


sqrt = OpDef(
    "sqrt", 1, np.sqrt, "sqrt({0})", (np.sqrt,), vjp=lambda ct, y, x: ((0.5 * ct) / y,),
    kinds="f", cost=5, domain=POSITIVE,
    nanoseconds=0.78, libm=CFunction("sqrt", exact=True), raises="negative",
    image=(0.0, math.inf), parts=parts.sqrt,
)  # fmt: skip
cbrt = OpDef(
    "cbrt", 1, np.cbrt, "cbrt({0})", (math.cbrt, np.cbrt),
    vjp=lambda ct, y, x: (ct / (3.0 * (y * y)),), kinds="f", cost=20, domain=((-9.0, 9.0),),
    total=True,
    nanoseconds=1.8, libm=CFunction("cbrt"), raises="", doc="Cube root.",
)  # fmt: skip
exp = OpDef(
    "exp", 1, np.exp, "exp({0})", (np.exp,), vjp=lambda ct, y, x: (ct * y,),
    kinds="f", cost=12, domain=WIDE,
    nanoseconds=0.89, libm=CFunction("exp"), raises="overflow", doc="Exponential function.",
    image=(0.0, math.inf), parts=parts.exp,
)  # fmt: skip
exp2 = OpDef(
    "exp2", 1, np.exp2, "exp2({0})", (np.exp2,), vjp=lambda ct, y, x: (ct * (y * LN2),),
    kinds="f", cost=12, domain=WIDE,
    image=(0.0, math.inf),
    nanoseconds=0.83, libm=CFunction("exp2"), raises="overflow", doc="2 to the power of x.",
    parts=parts.exp2,
)  # fmt: skip
expm1 = OpDef(
    "expm1", 1, np.expm1, "expm1({0})", (np.expm1,), vjp=lambda ct, y, x: (ct * (y + 1.0),),
    kinds="f", cost=15, domain=WIDE,
    image=(-1.0, math.inf),
    nanoseconds=1.3, libm=CFunction("expm1"), raises="overflow",
    doc="exp(x) - 1 without cancellation.", parts=parts.expm1,
)  # fmt: skip
log = OpDef(
    "log", 1, np.log, "log({0})", (np.log,), vjp=lambda ct, y, x: (ct / x,),
    kinds="f", cost=12, domain=POSITIVE,
    nanoseconds=1.2, libm=CFunction("log"), raises="not positive", doc="Natural logarithm.",
    parts=parts.log,
)  # fmt: skip
log2 = OpDef(
    "log2", 1, np.log2, "log2({0})", (np.log2,), vjp=lambda ct, y, x: (ct / (x * LN2),),
    kinds="f", cost=12, domain=POSITIVE,
    nanoseconds=1.5, libm=CFunction("log2"), raises="not positive", doc="Logarithm to the base 2.",
    parts=parts.log2,
)  # fmt: skip
log10 = OpDef(
    "log10", 1, np.log10, "log10({0})", (np.log10,), vjp=lambda ct, y, x: (ct / (x * LN10),),
    kinds="f", cost=14, domain=POSITIVE,
    nanoseconds=1.5, libm=CFunction("log10"), raises="not positive",
    doc="Logarithm to the base 10.", parts=parts.log10,
)  # fmt: skip
log1p = OpDef(
    "log1p", 1, np.log1p, "log1p({0})", (np.log1p,), vjp=lambda ct, y, x: (ct / (1.0 + x),),
    kinds="f", cost=15, domain=((-0.9, 9.0),),
    nanoseconds=1.9, libm=CFunction("log1p"), raises="below -1",
    doc="log(1 + x) without cancellation.", parts=parts.log1p,
)  # fmt: skip
sin = OpDef(
    "sin", 1, np.sin, "sin({0})", (np.sin,), vjp=lambda ct, y, x: (ct * cos(x),),
    kinds="f", cost=14, domain=WIDE,
    total=True, image=(-1.0, 1.0),
    nanoseconds=0.94, libm=CFunction("sin"), raises="infinite", doc="Sine of an angle in radians.",
    parts=parts.sin,
)  # fmt: skip
cos: OpDef = OpDef(
    "cos", 1, np.cos, "cos({0})", (np.cos,), vjp=lambda ct, y, x: (-(ct * sin(x)),),
    kinds="f", cost=14, domain=WIDE,
    total=True, image=(-1.0, 1.0),
    nanoseconds=0.98, libm=CFunction("cos"), raises="infinite",
    doc="Cosine of an angle in radians.", parts=parts.cos,
)  # fmt: skip
tan = OpDef(
    "tan", 1, np.tan, "tan({0})", (np.tan,), vjp=lambda ct, y, x: (ct * (1.0 + y * y),),
    kinds="f", cost=20, domain=((-1.4, 1.4),),
    nanoseconds=1.1, libm=CFunction("tan"), raises="infinite",
    doc="Tangent of an angle in radians.", parts=parts.tan,
)  # fmt: skip
asin = OpDef(
    "asin", 1, np.arcsin, "asin({0})", (np.arcsin,),
    vjp=lambda ct, y, x: (ct / sqrt((1.0 - x) * (1.0 + x)),),
    kinds="f", cost=16, domain=((-0.95, 0.95),),
    image=(-1.6, 1.6),
    nanoseconds=1.5, libm=CFunction("asin"), raises="beyond 1", doc="Arc sine, in [-pi/2, pi/2].",
    parts=parts.arcsin,
)  # fmt: skip
acos = OpDef(
    "acos", 1, np.arccos, "acos({0})", (np.arccos,),
    vjp=lambda ct, y, x: (-ct / sqrt((1.0 - x) * (1.0 + x)),),
    kinds="f", cost=16, domain=((-0.95, 0.95),),
    image=(0.0, 3.2),
    nanoseconds=1.6, libm=CFunction("acos"), raises="beyond 1", doc="Arc cosine, in [0, pi].",
    parts=parts.arccos,
)  # fmt: skip
atan = OpDef(
    "atan", 1, np.arctan, "atan({0})", (np.arctan, math.atan),
    vjp=lambda ct, y, x: (ct / (1.0 + x * x),), kinds="f", cost=16, domain=WIDE,
    total=True, image=(-1.6, 1.6),
    nanoseconds=1.5, libm=CFunction("atan"), raises="", doc="Arc tangent, in [-pi/2, pi/2].",
    parts=parts.arctan,
)  # fmt: skip
sinh = OpDef(
    "sinh", 1, np.sinh, "sinh({0})", (np.sinh,), vjp=lambda ct, y, x: (ct * cosh(x),),
    kinds="f", cost=18, domain=WIDE,
    nanoseconds=1.4, libm=CFunction("sinh"), raises="overflow", doc="Hyperbolic sine.",
    parts=parts.sinh,
)  # fmt: skip
cosh: OpDef = OpDef(
    "cosh", 1, np.cosh, "cosh({0})", (np.cosh,), vjp=lambda ct, y, x: (ct * sinh(x),),
    kinds="f", cost=18, domain=WIDE,
    image=(1.0, math.inf),
    nanoseconds=1.6, libm=CFunction("cosh"), raises="overflow", doc="Hyperbolic cosine.",
    parts=parts.cosh,
)  # fmt: skip
tanh = OpDef(
    "tanh", 1, np.tanh, "tanh({0})", (np.tanh, math.tanh),
    vjp=lambda ct, y, x: (ct * (1.0 - y * y),), kinds="f", cost=18, domain=WIDE,
    total=True, image=(-1.0, 1.0),
    nanoseconds=2.4, libm=CFunction("tanh"), raises="", doc="Hyperbolic tangent.", parts=parts.tanh,
)  # fmt: skip
# The square of a huge operand overflows; its square root then makes the derivative 0, as it is.
asinh = OpDef(
    "asinh", 1, np.arcsinh, "asinh({0})", (np.arcsinh, math.asinh),
    vjp=lambda ct, y, x: (ct / sqrt(x * x + 1.0),), kinds="f", cost=20, domain=WIDE,
    total=True,
    nanoseconds=5.2, libm=CFunction("asinh"), raises="", doc="Inverse hyperbolic sine.",
    parts=parts.arcsinh,
)  # fmt: skip
acosh = OpDef(
    "acosh", 1, np.arccosh, "acosh({0})", (np.arccosh,),
    vjp=lambda ct, y, x: (ct / (sqrt(x - 1.0) * sqrt(x + 1.0)),),
    kinds="f", cost=20, domain=((1.1, 9.0),),
    image=(0.0, math.inf),
    nanoseconds=4.9, libm=CFunction("acosh"), raises="below 1",
    doc="Inverse hyperbolic cosine, at least 0.", parts=parts.arccosh,
)  # fmt: skip
atanh = OpDef(
    "atanh", 1, np.arctanh, "atanh({0})", (np.arctanh,),
    vjp=lambda ct, y, x: (ct / ((1.0 - x) * (1.0 + x)),),
    kinds="f", cost=20, domain=((-0.95, 0.95),),
    nanoseconds=4.3, libm=CFunction("atanh"), raises="not inside 1",
    doc="Inverse hyperbolic tangent.", parts=parts.arctanh,
)  # fmt: skip
# At the origin the derivative of `hypot` is taken as 0, in both operands.
hypot = OpDef(
    "hypot", 2, np.hypot, "hypot({0}, {1})", (np.hypot,),
    vjp=lambda ct, y, a, b: (
        select(eq(y, 0.0), 0.0, (ct * a) / y),
        select(eq(y, 0.0), 0.0, (ct * b) / y),
    ),
    kinds="f", cost=20, domain=WIDE,
    total=True, image=(0.0, math.inf),
    nanoseconds=0.84, libm=CFunction("hypot"),
    doc="Length of the vector (x, y), without overflow on the way.",
)  # fmt: skip


def _atan2_vjp(ct: Traced, y: Traced, a: Traced, b: Traced) -> tuple[Traced, Traced]:
    # Squares of tiny or huge operands would leave the range of the type.
    d = hypot(a, b)
    return (ct * (b / d)) / d, -(ct * (a / d)) / d


# At the origin the derivatives of `atan2` are NaN.
atan2 = OpDef(
    "atan2", 2, np.arctan2, "atan2({0}, {1})", (np.arctan2, math.atan2), vjp=_atan2_vjp,
    jumps=True, kinds="f", cost=25, domain=WIDE,
    total=True, image=(-3.2, 3.2),
    nanoseconds=1.9, libm=CFunction("atan2"),
    doc="Angle of the point (y, x), the first argument being y.",
)  # fmt: skip


def _c_power(a: Any, b: Any) -> Any:
    """Return `pow` of C; for a scalar exponent of 1/2 NumPy takes the root: NaN at -inf."""
    return np.power(np.array([a, a]), np.array([b, b]))[0]


# x**0 has the derivative 0 in x, at x = 0 too; 0**y has the derivative 0 in y.
pow_: OpDef = OpDef(
    "pow", 2, _c_power, "pow({0}, {1})", (),
    vjp=lambda ct, y, a, b: (
        select(eq(b, 0.0), 0.0, ct * (b * pow_(a, b - 1.0))),
        select(eq(a, 0.0), 0.0, ct * (y * log(a))),
    ),
    kinds="f", cost=30, domain=((0.2, 3.0), (-2.0, 3.0)),
    nanoseconds=4.4, libm=CFunction("pow"), doc="x to the power of y.", parts=parts.power,
)  # fmt: skip


def _share(ct: Traced, y: Traced, x: Traced, other: Traced, power: OpDef) -> Traced:
    """Return the part of a cotangent that an operand of `logaddexp` has.

    One that is the result has all of it, infinite ones, too; of two equal infinities it is NaN.
    """
    part: Traced = power(x - y)
    weight: Traced = select(eq(other, y), part, select(eq(x, y), 1.0, part))
    return ct * weight


logaddexp = OpDef(
    "logaddexp", 2, np.logaddexp, "logaddexp({0}, {1})", (np.logaddexp,),
    vjp=lambda ct, y, a, b: (_share(ct, y, a, b, exp), _share(ct, y, b, a, exp)),
    kinds="f", cost=30, domain=WIDE,
    total=True,
    nanoseconds=17,
)  # fmt: skip
logaddexp2 = OpDef(
    "logaddexp2", 2, np.logaddexp2, "logaddexp2({0}, {1})", (np.logaddexp2,),
    vjp=lambda ct, y, a, b: (_share(ct, y, a, b, exp2), _share(ct, y, b, a, exp2)),
    kinds="f", cost=30, domain=WIDE,
    total=True,
    nanoseconds=16,
)  # fmt: skip
nextafter = OpDef(
    "nextafter", 2, np.nextafter, "nextafter({0}, {1})", (np.nextafter,), why="a step of one unit",
    refuse=True, jumps=True, kinds="f", cost=10,
    nanoseconds=6.1, libm=CFunction("nextafter", exact=True),
)  # fmt: skip
