"""The functions that kernels call for the rows of the op table, with NumPy's semantics.

In the simulator a kernel is Python, and these are NumPy's own functions; on a device they are those
of CUDA's library, in double precision.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from adc.backend.cuda.api import adding, cuda, function, simulated
from adc.ir.opdef import OPS

inf, nan = math.inf, math.nan
float64, float32 = np.float64, np.float32
int64, int32, int16, int8 = np.int64, np.int32, np.int16, np.int8
uint64, uint32, uint16, uint8 = np.uint64, np.uint32, np.uint16, np.uint8
bool_ = bool

# By name in the op table, the function of CUDA's library.
_LIBRARY = {name: op.libm.name for name, op in OPS.items() if op.libm is not None}
_LIBRARY |= {
    name: op.ufunc.device
    for name, op in OPS.items()
    if op.ufunc is not None and isinstance(op.ufunc.device, str) and op.ufunc.device
}


def _of_library() -> dict[str, Any]:
    if simulated:
        return {name: OPS[name].evaluate for name in _LIBRARY}
    library = importlib.import_module("numba.cuda.libdevice")
    return {name: getattr(library, theirs) for name, theirs in _LIBRARY.items()}


globals().update(_of_library())
copysign, floor, exp, exp2, log1p = (
    _of_library()[name] for name in ("copysign", "floor", "exp", "exp2", "log1p")
)


@function
def absolute(x: Any) -> Any:
    return abs(x)


@function
def select(c: Any, a: Any, b: Any) -> Any:
    return a if c else b


@function
def minimum(a: Any, b: Any) -> Any:
    return a if a < b or a != a else b


@function
def maximum(a: Any, b: Any) -> Any:
    return a if a > b or a != a else b


@function
def fmin(a: Any, b: Any) -> Any:
    return a if a <= b or b != b else b


@function
def fmax(a: Any, b: Any) -> Any:
    return a if a >= b or b != b else b


@function
def isnan(x: Any) -> Any:
    return x != x


@function
def isinf(x: Any) -> Any:
    return x == math.inf or x == -math.inf


@function
def isfinite(x: Any) -> Any:
    return x - x == 0.0


@function
def sign(x: Any) -> Any:
    return x if x != x else x * 0 + (1 if x > 0 else (-1 if x < 0 else 0))


@function
def heaviside(x: Any, at_zero: Any) -> Any:
    return x if x != x else (0.0 if x < 0.0 else (1.0 if x > 0.0 else at_zero))


@function
def xmuly(a: Any, b: Any) -> Any:
    return a * b if a != 0.0 else a * 0.0


@function
def xdivy(a: Any, b: Any) -> Any:
    return a / b if a != 0.0 else a * 0.0


@function
def mulzeros(a: Any, b: Any) -> Any:
    return a * b if a != 0.0 and b != 0.0 else a * 0.0


@function
def floordiv_int(a: Any, b: Any) -> Any:
    return a // b if b != 0 else a * 0


@function
def remainder_int(a: Any, b: Any) -> Any:
    return a % b if b != 0 else a * 0


@function
def remainder(a: Any, b: Any) -> Any:
    rest = math.fmod(a, b) if b != 0.0 and abs(a) != math.inf else math.nan
    if rest == 0.0:
        return copysign(0.0, b)
    return rest + b if (rest < 0.0) != (b < 0.0) else rest


@function
def floordiv(a: Any, b: Any) -> Any:
    rest = math.fmod(a, b) if b != 0.0 and abs(a) != math.inf else math.nan
    if rest != rest:
        return a / b if b == 0.0 else rest
    quotient = (a - rest) / b
    if rest != 0.0 and (rest < 0.0) != (b < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return copysign(0.0, a / b)
    whole = floor(quotient)
    return whole + 1.0 if quotient - whole > 0.5 else whole


@function
def lshift(a: Any, b: Any, bits: Any) -> Any:
    return a << b if 0 <= b < bits else a * 0


@function
def rshift(a: Any, b: Any, bits: Any) -> Any:
    return a >> b if 0 <= b < bits else (a * 0 - 1 if a < 0 else a * 0)


@function
def invert(a: Any) -> Any:
    return ~a


@function
def ipow(a: Any, b: Any) -> Any:
    found = a * 0 + 1
    while b > 0:
        if b & 1:
            found = found * a
        a = a * a
        b = b >> 1
    return found


@function
def logaddexp(a: Any, b: Any) -> Any:
    if a == b:
        return a + math.log(2.0)
    apart = abs(a - b)
    return (a if a > b else b) + log1p(exp(-apart)) if apart == apart else apart


@function
def logaddexp2(a: Any, b: Any) -> Any:
    if a == b:
        return a + 1.0
    apart = abs(a - b)
    more = log1p(exp2(-apart)) / math.log(2.0)
    return (a if a > b else b) + more if apart == apart else apart


@function
def gcd(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return abs(a)


@function
def lcm(a: Any, b: Any) -> Any:
    first, other = a, b
    while other != 0:
        first, other = other, first % other
    return abs(a * 0 if first == 0 else (a // first) * b)


@function
def trips(start: Any, stop: Any, step: Any) -> Any:
    if step > 0:
        return (stop - start + step - 1) // step if start < stop else 0
    return (start - stop - step - 1) // -step if start > stop else 0


@function
def nth(i: Any) -> Any:
    return uint64(i)


@function
def divided(a: Any, b: Any) -> Any:
    return int64(uint64(a) // uint64(b))


_ALL = 0xFFFFFFFF


@function
def add_together(array: Any, place: Any, key: Any, value: Any) -> None:
    """Add to an element; threads of a warp that add to the same one do so at once.

    The key is the same for the same element.
    """
    mask = cuda.activemask()
    if mask == _ALL and cuda.all_sync(mask, cuda.shfl_sync(mask, key, 0) == key):
        step = 16
        while step > 0:
            value += cuda.shfl_down_sync(mask, value, step)
            step //= 2
        if cuda.laneid == 0:
            cuda.atomic.add(array, place, value)
    else:
        cuda.atomic.add(array, place, value)


def _simulate() -> dict[str, Any]:
    """Return what the simulator has no words for, or Python does faster."""

    def add(array: Any, place: Any, key: Any, value: Any) -> None:
        with adding:
            array[place] += value

    return {"nth": lambda i: i, "divided": lambda a, b: a // b, "add_together": add}


if simulated:
    globals().update(_simulate())


@function
def wrap(i: Any, n: Any) -> Any:
    return i + n if i < 0 else i


# How two parts of a number are combined.
COMBINED = {
    "sum": "{0} + {1}", "add": "{0} + {1}", "mul": "{0} * {1}",
    "minimum": "minimum({0}, {1})", "maximum": "maximum({0}, {1})",
}  # fmt: skip

NAMES = frozenset(
    {
        *_LIBRARY, "absolute", "select", "minimum", "maximum", "fmin", "fmax", "isnan", "isinf",
        "isfinite", "sign", "heaviside", "xmuly", "xdivy", "mulzeros", "floordiv_int",
        "remainder_int", "floordiv",
        "remainder", "lshift", "rshift", "invert", "ipow", "logaddexp", "logaddexp2", "gcd",
        "lcm", "trips", "wrap", "nth", "divided", "add_together",
        "inf", "nan", "float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32",
        "uint16", "uint8", "bool_",
    }
)  # fmt: skip
