"""The operations of random draws: NumPy's generators PCG64 and MT19937, and tables.

The state of a generator is a value like any other (`adc.frontend.numpy.random`), and a draw is
ordinary code on it (`adc.library.random`). Only what plain code cannot express is a row: a product
of 128 bits, the word that a state gives, the bits of a float, the tables of the ziggurat method,
and the C library's own functions, as elementary functions of other implementations differ in the
last bit.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from adc.ir.errors import IRError
from adc.ir.opdef import CFunction, OpDef, Static
from adc.ir.ops.arith import eq, select
from adc.ir.ops.integer import INTEGER
from adc.ir.ops.math import log, pow_
from adc.ir.ops.ziggurat import DTYPE_OF, table
from adc.ir.types import Scalar, Type

# The multiplier of the linear congruential generator behind PCG64.
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = 2**64 - 1


def _words(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if any(ty.dtype != "u64" for ty in types):
        raise IRError(f"not words of 64 bits: {' '.join(map(str, types))}")
    return (Scalar("u64"),)


def _high(high: Any, low: Any, step_high: Any, step_low: Any) -> Any:
    state = (int(high) << 64) | int(low)
    return np.uint64(((state * MULTIPLIER + int(step_low)) >> 64) + int(step_high) & _MASK)


def _word(high: Any, low: Any) -> Any:
    mixed, turn = int(high) ^ int(low), int(high) >> 58
    return np.uint64((mixed >> turn | mixed << (64 - turn)) & _MASK)


pcg64_high = OpDef(
    "pcg64_high", 4, _high, "pcg64_high({0}, {1}, {2}, {3})", (), _words, why=INTEGER, kinds="u",
    cost=6, random=True,
    doc="The high word of the next state; the state and its increment are two words each.",
)  # fmt: skip
pcg64_word = OpDef(
    "pcg64_word", 2, _word, "pcg64_word({0}, {1})", (), _words, why=INTEGER, kinds="u", cost=4,
    draw=True, random=True, doc="The random word that a state gives.",
)  # fmt: skip


def _tempered(word: Any) -> Any:
    y = int(word)
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return np.uint64(y ^ (y >> 18))


mt19937_word = OpDef(
    "mt19937_word", 1, _tempered, "mt19937_word({0})", (), _words, why=INTEGER, kinds="u", cost=8,
    draw=True, random=True, doc="The random word of 32 bits that a word of the state gives.",
)  # fmt: skip


def _bits(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    if any(ty.dtype != "f64" for ty in types):
        raise IRError(f"not floats of double precision: {' '.join(map(str, types))}")
    return (Scalar("u64"),)


bits_of_float = OpDef(
    "bits_of_float", 1, lambda x: np.float64(x).view(np.uint64), "bits_of_float({0})", (), _bits,
    why="of random draws only", refuse=True, kinds="f", cost=1, random=True,
    doc="The bits of a float.",
)  # fmt: skip


def _looked_up(
    dtype: str, types: Sequence[Type], params: tuple[Static, ...]
) -> tuple[Type, ...]:  # fmt: skip
    _words(types, params)
    return (Scalar(dtype),)


# What a generator keeps is drawn as well.
float_of_bits = OpDef(
    "float_of_bits", 1, lambda word: np.uint64(word).view(np.float64), "float_of_bits({0})", (),
    partial(_looked_up, "f64"), why=INTEGER, kinds="u", cost=1, draw=True, random=True,
    doc="The float that has these bits.",
)  # fmt: skip
# The layer is the low byte of the operand.
TABLES = {
    name: OpDef(
        name, 1, partial(lambda name, k: table(name)[int(k) & 255], name), f"{name}({{0}})", (),
        partial(_looked_up, dtype), why=INTEGER, kinds="u", cost=2, random=True,
        doc="A table, see `ziggurat`.",
    )
    for name, dtype in DTYPE_OF.items()
}  # fmt: skip


@cache
def _single(name: str) -> Callable[[float], float] | None:
    """Return the C library's function in single precision, or None if it is not found."""
    for library in ("libm.so.6", None):
        try:
            found = getattr(ctypes.CDLL(library), f"{name}f")
        except (OSError, TypeError, AttributeError):
            continue
        found.restype, found.argtypes = ctypes.c_float, [ctypes.c_float]
        return found  # type: ignore[no-any-return]  # what ctypes makes has no type
    return None


def _of_c_library(name: str) -> Callable[[Any], Any]:
    double: Callable[[float], float] = getattr(math, name)

    def evaluate(x: Any) -> Any:
        single = _single(name) if x.dtype == np.float32 else None
        try:
            return x.dtype.type((single or double)(float(x)))
        except OverflowError:
            return x.dtype.type(np.inf)
        except ValueError:
            return x.dtype.type(-np.inf if x == _SINGULAR.get(name) else np.nan)

    return evaluate


def _powered(x: Any, y: Any) -> Any:
    """Return `pow` of C."""
    try:
        return x.dtype.type(math.pow(float(x), float(y)))
    except OverflowError:
        return x.dtype.type(np.inf)
    except ValueError:
        return x.dtype.type(np.inf if x == 0.0 else np.nan)


_SINGULAR = {"log1p": -1.0, "log": 0.0}

# They cost more than an addition, but draws are never recomputed.
libm_exp = OpDef(
    "libm_exp", 1, _of_c_library("exp"), "libm_exp({0})", (), vjp=lambda ct, y, x: (ct * y,),
    kinds="f",
    libm=CFunction("exp", vectorized=False), doc="Exponential function.",
)  # fmt: skip
libm_log1p = OpDef(
    "libm_log1p", 1, _of_c_library("log1p"), "libm_log1p({0})", (), why="of random draws only",
    refuse=True, kinds="f", domain=((-0.9, 9.0),),
    libm=CFunction("log1p", vectorized=False), doc="log(1 + x).",
)  # fmt: skip
libm_expm1 = OpDef(
    "libm_expm1", 1, _of_c_library("expm1"), "libm_expm1({0})", (),
    vjp=lambda ct, y, x: (ct * (y + 1.0),), kinds="f",
    libm=CFunction("expm1", vectorized=False), doc="exp(x) - 1.",
)  # fmt: skip
libm_log = OpDef(
    "libm_log", 1, _of_c_library("log"), "libm_log({0})", (), vjp=lambda ct, y, x: (ct / x,),
    kinds="f", domain=((0.1, 9.0),),
    libm=CFunction("log", vectorized=False), doc="Natural logarithm.",
)  # fmt: skip
libm_pow = OpDef(
    "libm_pow", 2, _powered, "libm_pow({0}, {1})", (),
    vjp=lambda ct, y, a, b: (
        select(eq(b, 0.0), 0.0, ct * (b * pow_(a, b - 1.0))),
        select(eq(a, 0.0), 0.0, ct * (y * log(a))),
    ),
    kinds="f", domain=((0.2, 3.0), (-2.0, 3.0)),
    libm=CFunction("pow", vectorized=False), doc="x to the power of y.",
)  # fmt: skip
by_rejection = OpDef(
    "by_rejection", 1, lambda x: x, "{0}", (), refuse=True, kinds="f",
    why="what is drawn by rejection jumps where this parameter changes which numbers are rejected "
    "(Figurnov et al. 2018); apply `adc.stop_gradient` to the parameter if its derivative is not "
    "wanted",
    doc="The operand: a parameter of a draw by rejection.",
)  # fmt: skip
