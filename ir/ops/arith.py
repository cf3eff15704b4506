"""Arithmetic, comparison, selection and conversion, on every dtype.

`code` is the expression that the emitter prints; names in it are functions of
`prelude`. Ties of `minimum` and `maximum` give the derivative to the first operand, NaN
in either gives it to the second; `abs` has the derivative 0 at 0, `copysign` too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.ir.errors import IRError
from adc.ir.opdef import OPS, CFunction, OpDef, Static, predicate
from adc.ir.ops import parts
from adc.ir.rules import Traced
from adc.ir.types import Array, Scalar, Type, parse_type

STEP = "piecewise constant: the derivative is zero wherever it exists"
TRUTH = "a truth value has no derivative"


def _shielded(fn: Callable[[Any, Any], Any], both: bool = False) -> Callable[[Any, Any], Any]:
    """Return `fn` with the value 0 where the first operand is 0, or either of both."""

    def evaluate(a: Any, b: Any) -> Any:
        zero = (a == 0) | (b == 0) if both else a == 0
        return np.where(zero, np.zeros_like(a), fn(a, b))[()]

    return evaluate


add = OpDef(
    "add", 2, np.add, "({0} + {1})", (operator.add, np.add),
    vjp=lambda ct, y, a, b: (ct, ct), linear=True,
    neutral=-0.0, inverse=("sub", "sub"), parts=parts.add,
)  # fmt: skip
# The first operand is a partial sum (`adc.ir.sums`).
sum_ = OpDef(
    "sum", 2, np.add, "({0} + {1})", vjp=lambda ct, y, a, b: (ct, ct), kinds="f", reorders=True,
    neutral=-0.0,
    doc="Addition to a sum whose order is adc's: in lanes where a loop carries it.",
    parts=parts.sums,
)  # fmt: skip
sub = OpDef(
    "sub", 2, np.subtract, "({0} - {1})", (operator.sub, np.subtract),
    vjp=lambda ct, y, a, b: (ct, -ct), linear=True,
    inverse=("add", "sub"), parts=parts.sub,
)  # fmt: skip
mul = OpDef(
    "mul", 2, np.multiply, "({0} * {1})", (operator.mul, np.multiply),
    vjp=lambda ct, y, a, b: (ct * b, ct * a), linear=True,
    neutral=1.0, inverse=("truediv", "truediv"), shielded="xmuly", parts=parts.mul,
)  # fmt: skip
truediv = OpDef(
    "truediv", 2, np.true_divide, "({0} / {1})", (operator.truediv, np.true_divide),
    least="f64",  # NumPy's has loops of its own for integers
    vjp=lambda ct, y, a, b: (ct / b, -((ct / b) * y)),
    kinds="f", cost=4,
    nanoseconds=0.49, linear=True,
    inverse=("mul", None), shielded="xdivy", parts=parts.divide,
)  # fmt: skip
# Products of derivatives: a cotangent or tangent that is exactly zero contributes nothing, whatever
# the local derivative. Rules contain `ct * d` and `ct / d`, which tracing turns into these rows
# (`adc.ir.opdef`); `relax` uses `mul` and `truediv` where that is the same.
xmuly: OpDef = OpDef(
    "xmuly", 2, _shielded(np.multiply), "xmuly({0}, {1})",
    vjp=lambda ct, y, a, b: (ct * b, mulzeros(a, ct)), kinds="f", cost=2, linear=True, plain="mul",
    doc="The product, and 0 where the first operand is 0: even if the second is infinite or NaN.",
    nanoseconds=0.07,
)  # fmt: skip
xdivy = OpDef(
    "xdivy", 2, _shielded(np.true_divide), "xdivy({0}, {1})",
    vjp=lambda ct, y, a, b: (ct / b, -mulzeros(y, ct / b)), kinds="f", cost=15,
    linear=True, plain="truediv",
    doc="The quotient, and 0 where the dividend is 0: even if the divisor is 0 or NaN.",
    nanoseconds=0.5,
)  # fmt: skip
mulzeros: OpDef = OpDef(
    "mulzeros", 2, _shielded(np.multiply, both=True), "mulzeros({0}, {1})",
    vjp=lambda ct, y, a, b: (mulzeros(b, ct), mulzeros(a, ct)), kinds="f", cost=3,
    linear=True, plain="mul",
    doc="The product, and 0 where either operand is 0: the derivative of `xmuly`.",
    nanoseconds=0.1,
)  # fmt: skip
neg = OpDef(
    "neg", 1, np.negative, "(-{0})", (operator.neg, np.negative), vjp=lambda ct, y, x: (-ct,),
    linear=True,
    inverse=("neg",), parts=parts.neg, exact=True,
)  # fmt: skip
floordiv = OpDef(
    "floordiv", 2, np.floor_divide, "floordiv({0}, {1})", (operator.floordiv, np.floor_divide),
    why=STEP, jumps=True, cost=8, domain=((-9.0, 9.0), (-3.0, 3.0)),
    nanoseconds=9,
)  # fmt: skip
floor = OpDef(
    "floor",
    1,
    np.floor,
    "floor({0})",
    (np.floor,),
    why=STEP,
    jumps=True,
    kinds="f",
    total=True,
    libm=CFunction("floor", exact=True),
    exact=True,
)
ceil = OpDef(
    "ceil",
    1,
    np.ceil,
    "ceil({0})",
    (np.ceil,),
    why=STEP,
    jumps=True,
    kinds="f",
    total=True,
    libm=CFunction("ceil", exact=True),
    exact=True,
)
trunc = OpDef(
    "trunc",
    1,
    np.trunc,
    "trunc({0})",
    (np.trunc, np.fix),
    why=STEP,
    jumps=True,
    kinds="f",
    total=True,
    libm=CFunction("trunc", exact=True),
    exact=True,
)
rint = OpDef(
    "rint",
    1,
    np.rint,
    "rint({0})",
    (np.rint,),
    why=STEP,
    jumps=True,
    kinds="f",
    total=True,
    libm=CFunction("rint", exact=True),
    parts=parts.each("rint"),
    exact=True,
)
stop = OpDef(
    "stop", 1, lambda x: x, "{0}", (), why="`stop_gradient`", kinds="f",
    doc="The operand; derivatives do not flow through it.", parts=parts.each("stop"), exact=True,
)  # fmt: skip
sign = OpDef(
    "sign",
    1,
    np.sign,
    "sign({0})",
    (np.sign,),
    why=STEP,
    jumps=True,
    total=True,
    image=(-1.0, 1.0),
    parts=parts.sign,
    exact=True,
)
# The quotient is taken from the result: rounding may carry `a / b` to the next integer (1.0 % 0.1).
mod = OpDef(
    "mod", 2, np.remainder, "remainder({0}, {1})", (operator.mod, np.remainder),
    vjp=lambda ct, y, a, b: (ct, -(ct * rint((a - y) / b))), jumps=True,
    cost=10, domain=((-9.0, 9.0), (-3.0, 3.0)),
    nanoseconds=9,
)  # fmt: skip
fmod = OpDef(
    "fmod", 2, np.fmod, "fmod({0}, {1})", (np.fmod,),
    vjp=lambda ct, y, a, b: (ct, -(ct * rint((a - y) / b))), jumps=True,
    cost=10, domain=((-9.0, 9.0), (-3.0, 3.0)),
    nanoseconds=8.9, libm=CFunction("fmod", exact=True), exact=True,
)  # fmt: skip
# `abs` of the smallest integer wraps, as NumPy's does.
absolute = OpDef(
    "abs", 1, np.absolute, "absolute({0})", (abs, np.absolute),
    vjp=lambda ct, y, x: (ct * sign(x),), kinks=(0.0,),
    image=(0.0, math.inf), exact=True,
)  # fmt: skip
# A row of its own: unlike `abs`, it makes integers floating-point numbers.
fabs = OpDef(
    "fabs", 1, np.fabs, "absolute({0})", (np.fabs,),
    vjp=lambda ct, y, x: (ct * sign(x),), kinds="f", kinks=(0.0,),
    image=(0.0, math.inf), exact=True,
)  # fmt: skip
square = OpDef(
    "square", 1, np.square, "({0} * {0})", (np.square,), vjp=lambda ct, y, x: (ct * (2.0 * x),),
    image=(0.0, math.inf), parts=parts.square,
)  # fmt: skip
reciprocal = OpDef(
    "reciprocal", 1, np.reciprocal, "(1.0 / {0})", (),
    vjp=lambda ct, y, x: (-(ct * y) * y,), kinds="f", cost=4,
    nanoseconds=0.49, parts=parts.reciprocal,
)  # fmt: skip
copysign: OpDef = OpDef(
    "copysign", 2, np.copysign, "copysign({0}, {1})", (np.copysign,),
    vjp=lambda ct, y, a, b: (ct * (sign(a) * copysign(1.0, b)), None), jumps=True,
    kinds="f", kinks=(0.0,), total=True,
    libm=CFunction("copysign", exact=True), exact=True,
)  # fmt: skip

lt = OpDef("lt", 2, np.less, "({0} < {1})", (operator.lt, np.less), predicate,
           why=TRUTH, orders=(True, False), parts=parts.lt,
)  # fmt: skip
le = OpDef("le", 2, np.less_equal, "({0} <= {1})", (operator.le, np.less_equal), predicate,
           why=TRUTH, orders=(True, True), parts=parts.le,
)  # fmt: skip
gt = OpDef("gt", 2, np.greater, "({0} > {1})", (operator.gt, np.greater), predicate,
           why=TRUTH, orders=(False, False), parts=parts.gt,
)  # fmt: skip
ge = OpDef("ge", 2, np.greater_equal, "({0} >= {1})", (operator.ge, np.greater_equal), predicate,
           why=TRUTH, orders=(False, True), parts=parts.ge,
)  # fmt: skip
eq = OpDef("eq", 2, np.equal, "({0} == {1})", (operator.eq, np.equal), predicate, why=TRUTH,
           kinds="biuf", parts=parts.eq,
)  # fmt: skip
ne = OpDef("ne", 2, np.not_equal, "({0} != {1})", (operator.ne, np.not_equal), predicate,
           why=TRUTH, kinds="biuf", parts=parts.ne,
)  # fmt: skip
isnan = OpDef(
    "isnan",
    1,
    np.isnan,
    "isnan({0})",
    (np.isnan,),
    predicate,
    why=TRUTH,
    kinds="f",
    least="f64",
    parts=parts.isnan,
)
isinf = OpDef(
    "isinf",
    1,
    np.isinf,
    "isinf({0})",
    (np.isinf,),
    predicate,
    why=TRUTH,
    kinds="f",
    least="f64",
    parts=parts.isinf,
)
isfinite = OpDef(
    "isfinite",
    1,
    np.isfinite,
    "isfinite({0})",
    (np.isfinite,),
    predicate,
    why=TRUTH,
    kinds="f",
    least="f64",
    parts=parts.isfinite,
)
signbit = OpDef(
    "signbit", 1, np.signbit, "signbit({0})", (np.signbit,), predicate, why=TRUTH, kinds="f"
)


def _choice_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    cond, a, b = types
    if cond.kind != "b" or a.dtype != b.dtype:
        raise IRError(f"select {cond} {a} {b}")
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return (Scalar(a.dtype, a.weak and b.weak),)
    return (a,)


select: OpDef = OpDef(
    "select", 3, lambda c, a, b: a if c else b, "({1} if {0} else {2})", (), _choice_types,
    vjp=lambda ct, y, c, a, b: (None, select(c, ct, 0.0), select(c, 0.0, ct)),
    kinds="biuf", linear=True, parts=parts.select, exact=True,
)  # fmt: skip

# The value at 0 is the second operand's; the step itself has the derivative 0, at 0 too.
heaviside = OpDef(
    "heaviside", 2, np.heaviside, "heaviside({0}, {1})", (np.heaviside,),
    vjp=lambda ct, y, x, h: (None, select(eq(x, 0.0), ct, 0.0)),
    jumps=True, kinds="f", kinks=(0.0,), exact=True,
)  # fmt: skip

# NaN in either operand wins in `minimum` and `maximum` and loses in `fmin` and `fmax`.
minimum = OpDef(
    "minimum", 2, np.minimum, "minimum({0}, {1})", (np.minimum,),
    vjp=lambda ct, y, a, b: (select(le(a, b), ct, 0.0), select(le(a, b), 0.0, ct)),
    kinks=(0.0,),
    neutral=math.inf, parts=parts.minimum, exact=True,
)  # fmt: skip
maximum = OpDef(
    "maximum", 2, np.maximum, "maximum({0}, {1})", (np.maximum,),
    vjp=lambda ct, y, a, b: (select(ge(a, b), ct, 0.0), select(ge(a, b), 0.0, ct)),
    kinks=(0.0,),
    neutral=-math.inf, parts=parts.maximum, exact=True,
)  # fmt: skip
fmin = OpDef(
    "fmin", 2, np.fmin, "fmin({0}, {1})", (np.fmin,),
    vjp=lambda ct, y, a, b: (select(eq(y, a), ct, 0.0), select(eq(y, a), 0.0, ct)),
    kinks=(0.0,), total=True, exact=True, parts=parts.fmin,
)  # fmt: skip
fmax = OpDef(
    "fmax", 2, np.fmax, "fmax({0}, {1})", (np.fmax,),
    vjp=lambda ct, y, a, b: (select(eq(y, a), ct, 0.0), select(eq(y, a), 0.0, ct)),
    kinks=(0.0,), total=True, exact=True, parts=parts.fmax,
)  # fmt: skip


def _half(x: Any) -> Any:
    return np.asarray(x).astype(np.float16).astype(np.asarray(x).dtype)[()]


half = OpDef(
    "half", 1, _half, "half({0})", (), vjp=lambda ct, y, x: (ct,), kinds="f", cost=10,
    nanoseconds=0.35, jumps=True,
    doc="The nearest number of 16 bits, in the type of the operand. It has the derivative 1.",
)  # fmt: skip


def _cast_types(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    target = parse_type(str(params[0]))
    source = types[0]
    if isinstance(source, Array) and isinstance(target, Scalar):
        return (Array(target.dtype, source.rank),)
    return (target,)


def _cast(dtype: str, x: Any) -> Any:
    return np.asarray(x).astype(parse_type(dtype).numpy)[()]


def _cast_vjp(ct: Traced, y: Traced, x: Traced, dtype: str) -> tuple[Traced | None]:
    source = x.operand.type
    if source.kind != "f" or y.operand.type.kind != "f":
        return (None,)
    return (Traced(ct.trace.apply(OPS["cast"], [ct.operand], (source.dtype,)), ct.trace),)


cast = OpDef(
    "cast", 1, _cast, "cast({0})", (), _cast_types, vjp=_cast_vjp, kinds="biuf", converts=True,
    linear=True,
    inverse=("cast",),
    doc="C conversion; from float to integer it truncates.",
)  # fmt: skip
