"""The functions that emitted code calls for the rows of the op table, with NumPy's semantics.

Most are a few instructions that Numba inserts where they are called, of exactly the type of their
operands (Numba's own operators turn ``int32 + int32`` into ``int64``). What NumPy defines and C
does not is defined here as in NumPy: division of integers by zero is 0, as is a shift by more bits
than there are; the smallest integer divided by -1 is itself; a float out of range becomes what the
conversion instructions of x86 make of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from adc.backend.common import vector_math
from adc.backend.numba_api import Intrinsic, intrinsic, signature, types
from adc.ir.ops.random import MULTIPLIER
from adc.ir.ops.ziggurat import DTYPE_OF, table
from adc.ir.types import ELEMENTS

Build = Callable[[ir.IRBuilder, Any, "list[Any]"], Any]

_I1 = ir.IntType(1)
_I64 = ir.IntType(64)
_I128 = ir.IntType(128)


def _const(ty: ir.Type, value: object) -> ir.Constant:
    return ir.Constant(ty, value)


def _llvm(name: str) -> Build:
    """Return code that calls LLVM's intrinsic `name`, which works on any float type."""

    def build(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
        float_type = args[0].type
        form = ir.FunctionType(float_type, [float_type] * len(args))
        return b.call(b.module.declare_intrinsic(name, [float_type], form), args)

    return build


def _op(arity: int, build: Build, result: Any = None) -> Any:
    """Return an intrinsic on operands of one type; its result has this type, or `result`."""

    def typed(args: tuple[Any, ...]) -> Any:
        # A literal operand takes the other's type only if it is the same: the emitter types it.
        kinds = [types.unliteral(arg) for arg in args]
        ty = kinds[0]

        def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            return build(builder, ty, list(values))

        return signature(result or ty, *[ty] * arity), codegen

    return Intrinsic(lambda typingctx, *args: typed(args))


def _is_float(ty: Any) -> bool:
    return isinstance(ty, types.Float)


def _signed(ty: Any) -> bool:
    return isinstance(ty, types.Integer) and bool(ty.signed)


def _less(b: ir.IRBuilder, ty: Any, x: Any, y: Any) -> Any:
    if _is_float(ty):
        return b.fcmp_ordered("<", x, y)
    return b.icmp_signed("<", x, y) if _signed(ty) else b.icmp_unsigned("<", x, y)


# --- floats ---------------------------------------------------------------------------------------

sqrt = _op(1, _llvm("llvm.sqrt"))
floor = _op(1, _llvm("llvm.floor"))
ceil = _op(1, _llvm("llvm.ceil"))
trunc = _op(1, _llvm("llvm.trunc"))
rint = _op(1, _llvm("llvm.rint"))  # half to even
copysign = _op(2, _llvm("llvm.copysign"))


def _nan(b: ir.IRBuilder, x: Any) -> Any:
    return b.fcmp_unordered("uno", x, x)


def _magnitude(b: ir.IRBuilder, x: Any) -> Any:
    return b.call(b.module.declare_intrinsic("llvm.fabs", [x.type]), [x])


def _signbit(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    word = ir.IntType(ty.bitwidth)
    return b.icmp_signed("<", b.bitcast(args[0], word), _const(word, 0))


isnan = _op(1, lambda b, ty, a: _nan(b, a[0]), types.boolean)
isinf = _op(
    1,
    lambda b, ty, a: b.fcmp_ordered("==", _magnitude(b, a[0]), _const(a[0].type, math.inf)),
    types.boolean,
)
isfinite = _op(
    1,
    lambda b, ty, a: b.fcmp_ordered("<", _magnitude(b, a[0]), _const(a[0].type, math.inf)),
    types.boolean,
)
signbit = _op(1, _signbit, types.boolean)


def _sign(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    (x,) = args
    zero, one = _const(x.type, 0), _const(x.type, 1)
    up = b.select(_less(b, ty, zero, x), one, zero)
    if not (_is_float(ty) or _signed(ty)):
        return up
    signed = b.select(_less(b, ty, x, zero), _const(x.type, -1), up)
    return b.select(_nan(b, x), x, signed) if _is_float(ty) else signed


def _absolute(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    (x,) = args
    if _is_float(ty):
        return _magnitude(b, x)
    return b.select(_less(b, ty, x, _const(x.type, 0)), b.neg(x), x) if _signed(ty) else x


def _choose(smaller: bool, nan_wins: bool) -> Build:
    def build(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
        x, y = args
        if nan_wins and _is_float(ty):
            # Loops that carry these become vectors, which those that carry choices do not.
            name = f"llvm.{'minimum' if smaller else 'maximum'}"
            kind = ir.FunctionType(x.type, [x.type, x.type])
            return b.call(b.module.declare_intrinsic(name, [x.type], kind), [x, y])
        first = _less(b, ty, x, y) if smaller else _less(b, ty, y, x)
        best = b.select(first, x, y)
        if not _is_float(ty):
            return best
        # A comparison with NaN is false: `best` is y then.
        return b.select(_nan(b, x), x, best) if nan_wins else b.select(_nan(b, y), x, best)

    return build


def _heaviside(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    x, middle = args
    zero, one = _const(x.type, 0.0), _const(x.type, 1.0)
    side = b.select(_less(b, ty, x, zero), zero, one)
    step = b.select(b.fcmp_ordered("==", x, zero), middle, side)
    return b.select(_nan(b, x), x, step)


def _shielded(build: Build, both: bool = False) -> Any:
    """Return an intrinsic that gives 0 where the first operand (or either of both) is 0."""

    def shielded(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
        zero = _const(args[0].type, 0.0)
        found = build(b, ty, args)
        for arg in args if both else args[:1]:
            # Not `select(arg == 0, 0, found)`: a comparison that NaN passes is one instruction.
            found = b.select(b.fcmp_unordered("!=", arg, zero), found, zero)
        return found

    return _op(2, shielded)


xmuly = _shielded(lambda b, ty, args: b.fmul(*args))
xdivy = _shielded(lambda b, ty, args: b.fdiv(*args))
mulzeros = _shielded(lambda b, ty, args: b.fmul(*args), both=True)
heaviside = _op(2, _heaviside)
sign = _op(1, _sign)
absolute = _op(1, _absolute)
minimum = _op(2, _choose(True, True))
maximum = _op(2, _choose(False, True))
fmin = _op(2, _choose(True, False))
fmax = _op(2, _choose(False, False))


# --- division -------------------------------------------------------------------------------------


def _divide(b: ir.IRBuilder, ty: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return quotient and remainder as in C, 0 and 0 if `y` is 0."""
    zero = b.icmp_unsigned("==", y, _const(y.type, 0))
    safe = b.select(zero, _const(y.type, 1), y)
    if not _signed(ty):
        quotient, rest = b.udiv(x, safe), b.urem(x, safe)
    else:
        minus = b.icmp_unsigned("==", y, _const(y.type, -1))
        # The machine traps at the smallest integer over -1: divide by 1 and negate instead.
        safe = b.select(minus, _const(y.type, 1), safe)
        quotient, rest = b.sdiv(x, safe), b.srem(x, safe)
        quotient = b.select(minus, b.neg(x), quotient)
    nothing = _const(x.type, 0)
    return b.select(zero, nothing, quotient), b.select(zero, nothing, rest)


def _rounds_down(b: ir.IRBuilder, y: Any, rest: Any) -> Any:
    """Whether the quotient is not whole and negative, so that C rounds it up."""
    zero = _const(y.type, 0)
    differ = b.icmp_signed("<", b.xor(rest, y), zero)
    return b.and_(b.icmp_unsigned("!=", rest, zero), differ)


def _adjusted(b: ir.IRBuilder, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return ``fmod(x, y)``, whether it is not 0, and whether its sign is not that of `y`."""
    zero = _const(x.type, 0.0)
    rest = b.frem(x, y)
    some = b.fcmp_unordered("!=", rest, zero)
    wrong = b.xor(b.fcmp_ordered("<", y, zero), b.fcmp_ordered("<", rest, zero))
    return rest, some, b.and_(some, wrong)


def _floordiv(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    x, y = args
    if not _is_float(ty):
        quotient, rest = _divide(b, ty, x, y)
        if not _signed(ty):
            return quotient
        return b.select(_rounds_down(b, y, rest), b.sub(quotient, _const(x.type, 1)), quotient)
    zero, one = _const(x.type, 0.0), _const(x.type, 1.0)
    rest, _, wrong = _adjusted(b, x, y)
    quotient = b.fdiv(b.fsub(x, rest), y)
    quotient = b.select(wrong, b.fsub(quotient, one), quotient)
    whole = _llvm("llvm.floor")(b, ty, [quotient])
    late = b.fcmp_ordered(">", b.fsub(quotient, whole), _const(x.type, 0.5))
    whole = b.select(late, b.fadd(whole, one), whole)
    signed_zero = _llvm("llvm.copysign")(b, ty, [zero, b.fdiv(x, y)])
    whole = b.select(b.fcmp_unordered("!=", quotient, zero), whole, signed_zero)
    return b.select(b.fcmp_ordered("==", y, zero), b.fdiv(x, y), whole)


def _remainder(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    x, y = args
    if not _is_float(ty):
        rest = _divide(b, ty, x, y)[1]
        if not _signed(ty):
            return rest
        return b.select(_rounds_down(b, y, rest), b.add(rest, y), rest)
    rest, some, wrong = _adjusted(b, x, y)
    nothing = _llvm("llvm.copysign")(b, ty, [_const(x.type, 0.0), y])
    found = b.select(some, b.select(wrong, b.fadd(rest, y), rest), nothing)
    return b.select(b.fcmp_ordered("==", y, _const(x.type, 0.0)), rest, found)


def _fmod(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    return b.frem(*args) if _is_float(ty) else _divide(b, ty, *args)[1]


floordiv = _op(2, _floordiv)
remainder = _op(2, _remainder)
fmod = _op(2, _fmod)


# --- integers -------------------------------------------------------------------------------------


def _shift(left: bool) -> Build:
    def build(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
        x, y = args
        small = b.icmp_unsigned("<", y, _const(y.type, ty.bitwidth))
        by = b.select(small, y, _const(y.type, 0))
        if left:
            return b.select(small, b.shl(x, by), _const(x.type, 0))
        if _signed(ty):
            return b.ashr(x, b.select(small, y, _const(y.type, ty.bitwidth - 1)))
        return b.select(small, b.lshr(x, by), _const(x.type, 0))

    return build


lshift = _op(2, _shift(True))
rshift = _op(2, _shift(False))
invert = _op(1, lambda b, ty, a: b.not_(a[0]))


def _repeat(
    b: ir.IRBuilder,
    values: list[Any],
    again: Callable[[list[Any]], Any],
    step: Callable[[list[Any]], list[Any]],
) -> list[Any]:
    """Write ``while again(values): values = step(values)``; return the values after it."""
    before = b.block
    test, body, done = (b.function.append_basic_block() for _ in range(3))
    b.branch(test)
    b.position_at_end(test)
    now = [b.phi(value.type) for value in values]
    b.cbranch(again(now), body, done)
    b.position_at_end(body)
    for phi, first, following in zip(now, values, step(now), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(following, body)
    b.branch(test)
    b.position_at_end(done)
    return now


def _ipow(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    """`x` to the power of `n`, which is not negative, modulo the size of the type."""
    x, n = args
    zero, one = _const(x.type, 0), _const(x.type, 1)

    def step(values: list[Any]) -> list[Any]:
        result, x, n = values
        odd = b.trunc(n, _I1)
        return [b.select(odd, b.mul(result, x), result), b.mul(x, x), b.lshr(n, one)]

    return _repeat(b, [one, x, n], lambda values: _less(b, ty, zero, values[2]), step)[0]


def _gcd(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    # The absolute value of the smallest integer is right if it is taken as unsigned.
    values = [_absolute(b, ty, [arg]) for arg in args]
    zero = _const(values[0].type, 0)
    return _repeat(
        b,
        values,
        lambda now: b.icmp_unsigned("!=", now[1], zero),
        lambda now: [now[1], b.urem(now[0], now[1])],
    )[0]


def _lcm(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    divisor = _gcd(b, ty, args)
    none = b.icmp_unsigned("==", divisor, _const(divisor.type, 0))
    safe = b.select(none, _const(divisor.type, 1), divisor)
    x, y = (_absolute(b, ty, [arg]) for arg in args)
    return b.mul(b.udiv(x, safe), y)  # 0 if one of them is


ipow = _op(2, _ipow)
gcd = _op(2, _gcd)
lcm = _op(2, _lcm)


# --- indices --------------------------------------------------------------------------------------


def _wrap(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    # A jump, not a selection: few indices are negative, and what is loaded need not wait for it.
    i, n = args
    before = b.block
    with b.if_then(b.icmp_signed("<", i, _const(_I64, 0)), likely=False):
        wrapped, behind = b.add(i, n), b.block
    found = b.phi(i.type)
    found.add_incoming(i, before)
    found.add_incoming(wrapped, behind)
    return found


def _trips(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    start, stop, step = args
    zero, one = _const(_I64, 0), _const(_I64, 1)
    up = b.icmp_signed(">", step, zero)
    some = b.select(up, b.icmp_signed("<", start, stop), b.icmp_signed(">", start, stop))
    some = b.and_(some, b.icmp_signed("!=", step, zero))
    span = b.select(up, b.sub(stop, start), b.sub(start, stop))
    size = b.select(up, step, b.neg(step))
    size = b.select(b.icmp_unsigned("==", size, zero), one, size)
    return b.select(some, b.add(b.udiv(b.sub(span, one), size), one), zero)


wrap = _op(2, _wrap)
trips = _op(3, _trips)


@intrinsic
def select(typingctx: Any, cond: Any, a: Any, b: Any) -> Any:
    """`a` if `cond` else `b`; both are computed before."""
    ty = types.unliteral(a)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)

    return signature(ty, types.boolean, ty, ty), codegen


@intrinsic
def unsigned(typingctx: Any, index: Any) -> Any:
    """An index that is not negative: without Numba's test for one that counts from the end."""
    ty = types.unliteral(index)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if ty.bitwidth == 64:
            return args[0]
        return (builder.sext if ty.signed else builder.zext)(args[0], _I64)

    return signature(types.uint64, ty), codegen


# --- conversions ----------------------------------------------------------------------------------


def _float_to_int(b: ir.IRBuilder, x: Any, bits: int) -> Any:
    """Convert as x86 does: truncate; out of range and NaN give the smallest integer."""
    ty = ir.IntType(bits)
    low, high = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)
    if bits == 64 or x.type == ir.FloatType():  # which has no number next to the lowest
        above = b.fcmp_ordered(">=", x, _const(x.type, low))
    else:
        above = b.fcmp_ordered(">", x, _const(x.type, low - 1.0))
    fits = b.and_(above, b.fcmp_ordered("<", x, _const(x.type, high)))
    safe = b.select(fits, x, _const(x.type, 0.0))
    return b.select(fits, b.fptosi(safe, ty), _const(ty, -(2 ** (bits - 1))))


def _float_to_unsigned(b: ir.IRBuilder, x: Any) -> Any:
    half = _const(x.type, 2.0**63)
    large = b.fcmp_ordered(">=", x, half)
    low = _float_to_int(b, b.select(large, b.fsub(x, half), x), 64)
    return b.select(large, b.xor(low, _const(_I64, -(2**63))), low)


def _convert(b: ir.IRBuilder, source: Any, target: Any, x: Any) -> Any:
    to_float = {32: ir.FloatType(), 64: ir.DoubleType()}
    if target == types.boolean:
        if _is_float(source):
            return b.fcmp_unordered("!=", x, _const(x.type, 0.0))
        return x if source == types.boolean else b.icmp_unsigned("!=", x, _const(x.type, 0))
    if isinstance(target, types.Float):
        ty = to_float[target.bitwidth]
        if not _is_float(source):
            return (b.sitofp if _signed(source) else b.uitofp)(x, ty)
        if source == target:
            return x
        return (b.fpext if target.bitwidth == 64 else b.fptrunc)(x, ty)
    ty = ir.IntType(target.bitwidth)
    if _is_float(source):
        if target == types.uint64:
            return _float_to_unsigned(b, x)
        wide = 64 if target.bitwidth == 64 or target == types.uint32 else 32
        x = _float_to_int(b, x, wide)
        return x if target.bitwidth == wide else b.trunc(x, ty)
    bits = 1 if source == types.boolean else source.bitwidth
    if bits == target.bitwidth:
        return x
    if bits > target.bitwidth:
        return b.trunc(x, ty)
    return (b.sext if _signed(source) else b.zext)(x, ty)


def _caster(target: Any) -> Any:
    def cast(typingctx: Any, x: Any) -> Any:
        source = types.unliteral(x)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _convert(builder, source, target, args[0])

        return signature(target, source), codegen

    return intrinsic(cast)


bool_ = _caster(types.boolean)
int8 = _caster(types.int8)
int16 = _caster(types.int16)
int32 = _caster(types.int32)
int64 = _caster(types.int64)
uint8 = _caster(types.uint8)
uint16 = _caster(types.uint16)
uint32 = _caster(types.uint32)
uint64 = _caster(types.uint64)
float32 = _caster(types.float32)
float64 = _caster(types.float64)

# The function above that converts to each dtype.
CASTS = {name: "bool_" if name == "b1" else dtype.name for name, dtype in ELEMENTS.items()}


# --- numbers of 16 bits ---------------------------------------------------------------------------

# Numba passes arrays of them as integers of 16 bits. LLVM converts by calls of functions that need
# not be there, unless the processor has instructions for it: here they are done by arithmetic.
_I16, _I32 = ir.IntType(16), ir.IntType(32)
_DIGITS = {ir.FloatType(): 23, ir.DoubleType(): 52}


def _half(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    """Round to the nearest number of 16 bits, to an even one of two."""
    (x,) = args
    digits, word = _DIGITS[x.type], ir.IntType(ty.bitwidth)
    size = _magnitude(b, x)
    bits, dropped = b.bitcast(size, word), digits - 10
    odd = b.and_(b.lshr(bits, _const(word, dropped)), _const(word, 1))
    up = b.add(b.add(bits, _const(word, (1 << (dropped - 1)) - 1)), odd)
    normal = b.bitcast(b.and_(up, _const(word, -(1 << dropped))), x.type)
    large = b.fcmp_ordered(">", normal, _const(x.type, 65504.0))
    normal = b.select(large, _const(x.type, math.inf), normal)
    # Beside this number, others are as far apart as the smallest of 16 bits.
    coarse = _const(x.type, 2.0 ** (digits - 24))
    small = b.fsub(b.fadd(size, coarse), coarse)
    below = b.fcmp_ordered("<", size, _const(x.type, 2.0**-14))
    found = _llvm("llvm.copysign")(b, ty, [b.select(below, small, normal), x])
    return b.select(_nan(b, x), x, found)


def _widened(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    """Convert the 16 bits of a number to one of 32 bits."""
    word = b.zext(args[0], _I32)
    sign = b.shl(b.and_(word, _const(_I32, 0x8000)), _const(_I32, 16))
    bits = b.shl(b.and_(word, _const(_I32, 0x7FFF)), _const(_I32, 13))
    # The exponent is 112 less than that of 32 bits; a product knows numbers without leading one.
    size = b.fmul(b.bitcast(bits, ir.FloatType()), _const(ir.FloatType(), 2.0**112))
    found = b.bitcast(size, _I32)
    special = b.icmp_unsigned(">=", bits, _const(_I32, 0x7C00 << 13))
    found = b.select(special, b.or_(bits, _const(_I32, 0x7F800000)), found)
    return b.bitcast(b.or_(found, sign), ir.FloatType())


def _narrowed(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    """Return the 16 bits of the number of 16 bits that is nearest to one of 32 bits."""
    x = _half(b, ty, args)
    word = b.bitcast(x, _I32)
    sign = b.and_(b.lshr(word, _const(_I32, 16)), _const(_I32, 0x8000))
    size = b.fmul(_magnitude(b, x), _const(x.type, 2.0**-112))
    found = b.lshr(b.bitcast(size, _I32), _const(_I32, 13))
    infinite = b.fcmp_ordered("==", _magnitude(b, x), _const(x.type, math.inf))
    found = b.select(infinite, _const(_I32, 0x7C00), found)
    found = b.select(_nan(b, x), _const(_I32, 0x7E00), found)
    return b.trunc(b.or_(found, sign), _I16)


half = _op(1, _half)


@intrinsic
def widened(typingctx: Any, x: Any) -> Any:
    """The number of which an array has 16 bits, as a float32."""
    return signature(types.float32, types.uint16), lambda context, b, sig, args: _widened(
        b, types.uint16, list(args)
    )


@intrinsic
def narrowed(typingctx: Any, x: Any) -> Any:
    """The 16 bits of the nearest number, for an array."""
    return signature(types.uint16, types.float32), lambda context, b, sig, args: _narrowed(
        b, types.float32, list(args)
    )


# --- the rest -------------------------------------------------------------------------------------

inf = math.inf
nan = math.nan


def _logaddexp(exp: str, scale: float) -> Any:
    """Return the logarithm of the sum of powers; that of the base is ``1 / scale``."""

    def define(typingctx: Any, x: Any, y: Any) -> Any:
        ty = types.unliteral(x)
        one, two = signature(ty, ty), signature(ty, ty, ty)

        def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
            x, y = args

            def call(name: str, value: Any) -> Any:
                return vector_math.lowering(name, ty.name)(context, b, one, [value])

            distance = b.fsub(x, y)
            above = b.fcmp_ordered(">", distance, _const(x.type, 0.0))
            power = call(exp, b.select(above, b.fneg(distance), distance))
            more = call("log1p", power)
            if scale != 1.0:
                more = b.fmul(_const(x.type, scale), more)
            found = b.fadd(b.select(above, x, y), more)
            found = b.select(_nan(b, distance), distance, found)
            # Of two equal infinities the distance is not a number.
            twice = _const(x.type, 1.0 if scale != 1.0 else math.log(2.0))
            return b.select(b.fcmp_ordered("==", x, y), b.fadd(x, twice), found)

        return two, codegen

    return Intrinsic(define)


logaddexp = _logaddexp("exp", 1.0)
logaddexp2 = _logaddexp("exp2", 1.442695040888963407359924681001892137)


def _nextafter(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    x, y = args
    word = ir.IntType(ty.bitwidth)
    bits = b.bitcast(x, word)
    zero, one = _const(x.type, 0.0), _const(word, 1)
    # Words of floats grow with their distance from 0.
    away = b.xor(b.fcmp_ordered("<", x, y), b.fcmp_ordered("<", x, zero))
    moved = b.bitcast(b.select(away, b.add(bits, one), b.sub(bits, one)), x.type)
    least = _llvm("llvm.copysign")(b, ty, [b.bitcast(one, x.type), y])
    moved = b.select(b.fcmp_ordered("==", x, zero), least, moved)
    moved = b.select(b.fcmp_ordered("==", x, y), y, moved)
    return b.select(b.fcmp_unordered("uno", x, y), b.fadd(x, y), moved)


nextafter = _op(2, _nextafter)


# --- random numbers -------------------------------------------------------------------------------


def _wide(b: ir.IRBuilder, high: Any, low: Any) -> Any:
    """Write the integer of 128 bits that two words are."""
    wide = [b.zext(word, _I128) for word in (high, low)]
    return b.or_(b.shl(wide[0], _const(_I128, 64)), wide[1])


def _pcg64_high(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    product = b.mul(_wide(b, *args[:2]), _const(_I128, MULTIPLIER))
    return b.trunc(b.lshr(b.add(product, _wide(b, *args[2:])), _const(_I128, 64)), _I64)


def _pcg64_word(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    mixed, turn = b.xor(*args), b.lshr(args[0], _const(_I64, 58))
    form = ir.FunctionType(_I64, [_I64] * 3)
    return b.call(b.module.declare_intrinsic("llvm.fshr", [_I64], form), [mixed, mixed, turn])


pcg64_high = _op(4, _pcg64_high)
pcg64_word = _op(2, _pcg64_word)


def _mt19937_word(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
    y = args[0]
    y = b.xor(y, b.lshr(y, _const(_I64, 11)))
    for turn, mask in ((7, 0x9D2C5680), (15, 0xEFC60000)):
        y = b.xor(y, b.and_(b.shl(y, _const(_I64, turn)), _const(_I64, mask)))
    return b.xor(y, b.lshr(y, _const(_I64, 18)))


mt19937_word = _op(1, _mt19937_word)
bits_of_float = _op(1, lambda b, ty, args: b.bitcast(args[0], _I64), types.uint64)
float_of_bits = _op(1, lambda b, ty, args: b.bitcast(args[0], ir.DoubleType()), types.float64)


def _looked_up(name: str) -> Any:
    """Return an intrinsic that looks the low byte of a word up in a table."""
    dtype = DTYPE_OF[name]
    kind = {"f64": ir.DoubleType(), "f32": ir.FloatType(), "u64": _I64}.get(dtype, ir.IntType(32))

    def build(b: ir.IRBuilder, ty: Any, args: list[Any]) -> Any:
        symbol = f"adc_{name}"
        found = b.module.globals.get(symbol)
        if found is None:
            content = ir.Constant(ir.ArrayType(kind, 256), table(name).tolist())
            found = ir.GlobalVariable(b.module, content.type, symbol)
            found.initializer, found.global_constant = content, True
            found.linkage = "internal"
        layer = b.and_(args[0], _const(_I64, 255))
        return b.load(b.gep(found, [_const(_I64, 0), layer], inbounds=True))

    return _op(1, build, getattr(types, ELEMENTS[dtype].name))


LAYERS = {name: _looked_up(name) for name in DTYPE_OF}
globals().update(LAYERS)

NAMES = frozenset(
    """sqrt floor ceil trunc rint copysign isnan isinf isfinite signbit sign absolute minimum
    maximum fmin fmax floordiv remainder fmod lshift rshift invert ipow gcd lcm wrap trips select
    unsigned half widened narrowed
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 inf nan logaddexp
    logaddexp2 heaviside xmuly xdivy mulzeros nextafter pcg64_high pcg64_word
    mt19937_word bits_of_float float_of_bits""".split()
) | frozenset(LAYERS)
