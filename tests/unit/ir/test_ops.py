"""Every row of the op table: value, types, derivative, and what its rule needs.

The reference is the row's meaning in 40-digit arithmetic. Derivatives are differences of that, so
that they are exact for our purposes close to the ends of a domain and in every sign quadrant.
"""

from __future__ import annotations

import importlib
import itertools
import math
import operator
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from adc.ir.core import Function, Literal, Value
from adc.ir.errors import IRError
from adc.ir.interp import run
from adc.ir.opdef import OPS, OpDef, find, predicate, same
from adc.ir.ops.random import TABLES
from adc.ir.rules import Traced, TracedRule, vjp_rule
from adc.ir.text.parser import parse
from adc.ir.types import B1, BOOL, DTYPES, F32, F64, FLOAT, INT, Array, Scalar, Type
from adc.ir.verifier import problems
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent

NAN, INF = math.nan, math.inf
DIGITS = 40

# --- what the rows mean ---------------------------------------------------------------------------


def _quotient(round_: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a division of numbers or integers that rounds as `round_` does."""

    def divide(a: Any, b: Any) -> Any:
        if isinstance(a, int):
            return a // b if round_ is mpmath.floor else abs(a) // abs(b) * _sign(a) * _sign(b)
        return round_(a / b)

    return divide


def _sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


def _truncate(x: Any) -> Any:
    return mpmath.floor(x) if x > 0 else mpmath.ceil(x)


_floordiv, _truncdiv = _quotient(mpmath.floor), _quotient(_truncate)

# Row -> its meaning on integers of Python and numbers of mpmath.
MEANING: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sum": operator.add, "sub": operator.sub, "mul": operator.mul,
    "truediv": operator.truediv,
    "xmuly": operator.mul, "xdivy": operator.truediv, "mulzeros": operator.mul,
    "neg": operator.neg, "floordiv": _floordiv, "floor": mpmath.floor, "ceil": mpmath.ceil,
    "trunc": _truncate, "rint": mpmath.nint, "sign": _sign,
    "mod": lambda a, b: a - b * _floordiv(a, b), "fmod": lambda a, b: a - b * _truncdiv(a, b),
    "abs": abs, "fabs": abs, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "copysign": lambda a, b: abs(a) if b > 0 else -abs(a),
    "heaviside": lambda x, h: h if x == 0 else mp.mpf(x > 0),
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne, "isnan": mpmath.isnan, "isinf": mpmath.isinf,
    "isfinite": mpmath.isfinite, "signbit": lambda x: x < 0,
    "minimum": min, "maximum": max, "fmin": min, "fmax": max,
    "select": lambda c, a, b: a if c else b,
    "bitand": operator.and_, "bitor": operator.or_, "bitxor": operator.xor,
    "invert": lambda x: not x if isinstance(x, bool) else ~x,
    "lshift": operator.lshift, "rshift": operator.rshift, "ipow": operator.pow,
    "gcd": math.gcd, "lcm": math.lcm,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "not": operator.not_,
    "wrap": lambda i, n: i + n if i < 0 else i, "inside": lambda i, n: i in range(n),
    "trips": lambda start, stop, step: len(range(start, stop, step)),
    "room": lambda n: max(16, n + n),
    "sqrt": mpmath.sqrt, "cbrt": lambda x: _sign(x) * mpmath.cbrt(abs(x)),
    "exp": mpmath.exp, "exp2": lambda x: mp.mpf(2) ** x, "expm1": mpmath.expm1,
    "log": mpmath.log, "log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10,
    "log1p": mpmath.log1p, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "libm_exp": mpmath.exp, "libm_log1p": mpmath.log1p, "libm_log": mpmath.log,
    "libm_expm1": mpmath.expm1, "libm_pow": operator.pow,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asinh": mpmath.asinh, "acosh": mpmath.acosh,
    "atanh": mpmath.atanh, "erf": mpmath.erf, "erfc": mpmath.erfc, "gamma": mpmath.gamma,
    "lgamma": mpmath.loggamma, "hypot": mpmath.hypot, "atan2": mpmath.atan2,
    "pow": operator.pow,
    "sinc": mpmath.sincpi,
    "i0": lambda x: mpmath.besseli(0, x),
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "logaddexp": lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)),
    "logaddexp2": lambda a, b: mpmath.log(mp.mpf(2) ** a + mp.mpf(2) ** b, 2),
}  # fmt: skip

# Rows on arrays, conversions and neighbours in the number format have tests of their own.
ARRAYS = ("dim", "empty", "full", "copy", "over", "part", "row", "slot", "total", "undef")
# Random draws are compared with NumPy's (test_random).
DRAWS = (
    "pcg64_high", "pcg64_word", "mt19937_word", "bits_of_float", "float_of_bits", *TABLES
)  # fmt: skip
# `stop` is no step function: that its derivative is zero is its meaning (test_library).
# `test_complex` tests what rows do to complex numbers.
COMPLEX = ("complex", "real", "imag", "conj", "modulus")
SPECIAL = (*ARRAYS, *DRAWS, *COMPLEX, "by_rejection", "cast", "half", "nextafter", "stop")
CHOICES = ("select",)
INDICES = ("wrap", "inside", "trips", "room")
LOGIC = ("and", "or", "not")
NUMBERS = [op for op in OPS.values() if op.name in MEANING]
# Those that SciPy computes have tests of their own (`test_ufuncs`).
OWN = [op for op in OPS.values() if op.ufunc is None]
DIFFERENTIABLE = [op for op in OWN if op.vjp is not None]
SMOOTH = [op for op in NUMBERS if op.vjp is not None]

# Where a derivative jumps or does not exist: operands, and the contributions that the rule chooses
# for the cotangent 1. None stands for "no contribution".
CHOSEN: dict[str, list[tuple[tuple[float, ...], tuple[float | None, ...]]]] = {
    "minimum": [((1.0, 1.0), (1.0, 0.0)), ((-2.0, -2.0), (1.0, 0.0)), ((0.0, -0.0), (1.0, 0.0)),
                ((1.0, NAN), (0.0, 1.0))],
    "maximum": [((1.0, 1.0), (1.0, 0.0)), ((-2.0, -2.0), (1.0, 0.0)), ((0.0, -0.0), (1.0, 0.0)),
                ((1.0, NAN), (0.0, 1.0))],
    "fmin": [((1.0, 1.0), (1.0, 0.0)), ((1.0, NAN), (1.0, 0.0)), ((NAN, 1.0), (0.0, 1.0))],
    "fmax": [((1.0, 1.0), (1.0, 0.0)), ((1.0, NAN), (1.0, 0.0)), ((NAN, 1.0), (0.0, 1.0))],
    "abs": [((0.0,), (0.0,)), ((-0.0,), (0.0,)), ((NAN,), (NAN,)), ((-INF,), (-1.0,))],
    "fabs": [((0.0,), (0.0,)), ((-0.0,), (0.0,)), ((NAN,), (NAN,)), ((-INF,), (-1.0,))],
    "copysign": [((0.0, 1.0), (0.0, None)), ((0.0, -1.0), (0.0, None)),
                 ((2.0, -0.0), (-1.0, None))],
    "heaviside": [((0.0, 0.5), (None, 1.0)), ((-0.0, 0.5), (None, 1.0)),
                  ((1.0, 0.5), (None, 0.0))],
    "hypot": [((0.0, 0.0), (0.0, 0.0)), ((3.0, 0.0), (1.0, 0.0))],
    "pow": [((0.0, 0.0), (0.0, 0.0)), ((0.0, 2.0), (0.0, 0.0)), ((0.0, 1.0), (1.0, 0.0)),
            ((-2.0, 2.0), (-4.0, NAN)), ((2.0, 0.0), (0.0, math.log(2.0)))],
    "mod": [((1.0, 0.1), (1.0, -9.0)), ((-1.0, 0.1), (1.0, 10.0)), ((1.0, INF), (1.0, 0.0))],
    "fmod": [((1.0, 0.1), (1.0, -9.0)), ((-1.0, 0.1), (1.0, 9.0)), ((1.0, INF), (1.0, 0.0))],
    "atan2": [((0.0, 0.0), (NAN, NAN)), ((0.0, -1.0), (-1.0, 0.0)),
              ((1e-200, 1e-200), (5e199, -5e199)), ((1e200, -1e200), (-5e-201, -5e-201))],
    "sqrt": [((0.0,), (INF,))],
    "cbrt": [((0.0,), (INF,))],
    "log": [((0.0,), (INF,))],
    "asinh": [((1e200,), (0.0,))],
    "tanh": [((INF,), (0.0,)), ((-INF,), (0.0,))],
    "exp": [((-INF,), (0.0,)), ((INF,), (INF,))],
    "logaddexp": [((-INF, 1.0), (0.0, 1.0)), ((1.0, -INF), (1.0, 0.0)), ((-INF, -INF), (NAN, NAN)),
                  ((INF, 1.0), (1.0, 0.0)), ((-INF, INF), (0.0, 1.0))],
    "logaddexp2": [((-INF, 1.0), (0.0, 1.0)), ((1.0, -INF), (1.0, 0.0)), ((INF, 1.0), (1.0, 0.0))],
}  # fmt: skip

# Values at points where NumPy and Python leave room for doubt; signs of zeros count.
CONVENTIONS: list[tuple[str, tuple[float, ...], float]] = [
    ("minimum", (NAN, 1.0), NAN), ("minimum", (1.0, NAN), NAN),
    ("maximum", (NAN, 1.0), NAN), ("maximum", (1.0, NAN), NAN),
    ("fmin", (NAN, 1.0), 1.0), ("fmin", (1.0, NAN), 1.0), ("fmin", (NAN, NAN), NAN),
    ("fmax", (NAN, 1.0), 1.0), ("fmax", (1.0, NAN), 1.0), ("fmax", (NAN, NAN), NAN),
    ("sign", (NAN,), NAN), ("sign", (0.0,), 0.0), ("sign", (-INF,), -1.0),
    ("neg", (0.0,), -0.0), ("abs", (-0.0,), 0.0), ("fabs", (-0.0,), 0.0),
    ("copysign", (1.0, -0.0), -1.0), ("copysign", (0.0, -1.0), -0.0), ("sub", (1.0, 1.0), 0.0),
    ("add", (-0.0, 0.0), 0.0), ("add", (-0.0, -0.0), -0.0), ("sub", (INF, INF), NAN),
    ("mul", (0.0, INF), NAN), ("mul", (-0.0, 1.0), -0.0),
    ("truediv", (1.0, 0.0), INF), ("truediv", (1.0, -0.0), -INF), ("truediv", (0.0, 0.0), NAN),
    ("reciprocal", (-0.0,), -INF), ("floor", (-0.0,), -0.0), ("trunc", (-0.5,), -0.0),
    ("ceil", (-0.5,), -0.0), ("rint", (0.5,), 0.0), ("rint", (-0.5,), -0.0), ("rint", (2.5,), 2.0),
    ("floordiv", (1.0, 0.0), INF), ("floordiv", (0.0, 0.0), NAN), ("floordiv", (-1.0, INF), -1.0),
    ("mod", (1.0, 0.0), NAN), ("mod", (1.0, INF), 1.0), ("mod", (-1.0, INF), INF),
    ("mod", (-2.0, 1.0), 0.0), ("mod", (2.0, -1.0), -0.0), ("fmod", (-2.0, 1.0), -0.0),
    ("fmod", (-1.0, INF), -1.0), ("fmod", (1.0, 0.0), NAN), ("fmod", (INF, 1.0), NAN),
    ("heaviside", (-0.0, 0.5), 0.5), ("heaviside", (NAN, 0.5), NAN),
    ("sqrt", (-0.0,), -0.0), ("sqrt", (-1.0,), NAN), ("cbrt", (-8.0,), -2.0),
    ("log", (0.0,), -INF), ("log", (-1.0,), NAN), ("log1p", (-1.0,), -INF),
    ("exp", (-INF,), 0.0), ("exp", (1e4,), INF), ("gamma", (400.0,), INF), ("gamma", (-1.0,), NAN),
    ("asin", (2.0,), NAN), ("acosh", (0.5,), NAN), ("atanh", (1.0,), INF), ("erf", (INF,), 1.0),
    ("hypot", (INF, NAN), INF), ("hypot", (1e200, 1e200), math.sqrt(2.0) * 1e200),
    ("atan2", (0.0, -0.0), math.pi), ("atan2", (-0.0, -1.0), -math.pi),
    ("atan2", (-0.0, 0.0), -0.0),
    ("pow", (0.0, 0.0), 1.0), ("pow", (NAN, 0.0), 1.0), ("pow", (1.0, NAN), 1.0),
    ("pow", (0.0, -1.0), INF), ("pow", (-8.0, 1.0 / 3.0), NAN), ("pow", (-2.0, 3.0), -8.0),
    ("logaddexp", (-INF, -INF), -INF), ("logaddexp", (INF, 1.0), INF),
    ("logaddexp", (1000.0, 1000.0), 1000.0 + math.log(2.0)),
    ("logaddexp2", (-INF, -INF), -INF), ("logaddexp2", (1e4, 1e4), 1e4 + 1.0),
]  # fmt: skip

# --- samples --------------------------------------------------------------------------------------


def domains(op: OpDef) -> list[tuple[float, float]]:
    """Return the range of each operand; the last one given serves for the rest."""
    return [op.domain[min(k, len(op.domain) - 1)] for k in range(op.arity)]


def points(low: float, high: float, kind: str, place: int) -> list[float]:
    """Return points in both halves and close to the ends; ties of two operands are avoided."""
    shift = 0.013 * place
    if low < 0.0 < high:
        if kind in "iu":
            return [low, -2.0, -1.0, 1.0, 2.0, high]
        shares = [0.11 + shift, 0.47 - shift, 0.9999 - shift]
        return [end * share for share in shares for end in (low, high)]
    if kind in "iu":
        return sorted({math.ceil(low), math.ceil(low) + 1, math.floor(high)})
    return [low + (high - low) * share for share in (0.0001, 0.12 + shift, 0.51 - shift, 0.9999)]


def samples(op: OpDef, dtype: str) -> Iterator[tuple[Any, ...]]:
    """Yield operands of one dtype in every sign quadrant of the row's domain."""
    make = DTYPES[dtype].type
    axes: list[list[Any]] = []
    for place, (low, high) in enumerate(domains(op)):
        if dtype == "b1":
            axes.append([np.False_, np.True_])
            continue
        found = points(low, high, dtype[0], place)
        if dtype[0] in "iu" and low <= 0.0 <= high and op.name not in DIVISIONS:
            found.append(0.0)
        axes.append([make(x) for x in found if x >= 0 or dtype[0] != "u"])
    if op.name in CHOICES:
        axes[0] = [np.False_, np.True_]
    yield from itertools.product(*axes)


CANCELLING = ("mod", "fmod", "lgamma", "logaddexp")
DIVISIONS = ("floordiv", "mod", "fmod")


def exact(x: Any) -> Any:
    """Return a NumPy scalar as the number that MEANING takes."""
    return mp.mpf(float(x)) if isinstance(x, np.floating) else x.item()


def label(param: object) -> str:
    return param.name if isinstance(param, OpDef) else str(param)


def wrapped(value: int, dtype: str) -> int:
    """Return an integer as it is left in a dtype, which keeps the low bits."""
    of_dtype: Any = DTYPES[dtype]
    bits = np.iinfo(of_dtype)
    return (value - int(bits.min)) % (1 << bits.bits) + int(bits.min)


def operand_types(op: OpDef, dtype: str) -> tuple[Type, ...]:
    types: list[Type] = [Scalar(dtype)] * op.arity
    if op.name in CHOICES:
        types[0] = B1
    return tuple(types)


def dtypes(op: OpDef) -> list[str]:
    if op.name in INDICES:
        return ["i64"]
    return [dtype for dtype in DTYPES if dtype[0] in op.kinds]


each_dtype = pytest.mark.parametrize(
    ("op", "dtype"), [(op, dtype) for op in NUMBERS for dtype in dtypes(op)], ids=label
)
each_rule = pytest.mark.parametrize("op", DIFFERENTIABLE, ids=label)
each_smooth = pytest.mark.parametrize("op", SMOOTH, ids=label)


# --- the table itself -----------------------------------------------------------------------------


def test_every_row_is_tested() -> None:
    # Schedules are no operations of a program (`test_schedule`).
    assert {*MEANING, *SPECIAL, "split", "sweeps", "rest", "offset"} == {op.name for op in OWN}
    assert not {*MEANING} & {*SPECIAL}


@pytest.mark.parametrize("op", OPS.values(), ids=label)
def test_row_is_complete(op: OpDef) -> None:
    assert OPS[op.name] is op
    assert (op.vjp is None) == bool(op.why), "either a derivative or a reason"
    assert not (op.refuse and op.vjp)
    assert set(op.kinds) <= set("biuf")
    assert op.vjp is None or "f" in op.kinds
    assert len(op.domain) in (1, op.arity)
    assert op.cost >= 1
    for k in range(op.arity):
        if op.kinds and op.name not in ARRAYS:
            assert f"{{{k}}}" in op.code
    assert f"{{{max(op.arity, 0)}}}" not in op.code
    if op.kinks:
        assert op.name in CHOSEN


def callable_of(spelling: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return what a row names, by itself or by its name in a module."""
    if not isinstance(spelling, str):
        return spelling
    module, _, name = spelling.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def test_a_callable_stands_for_one_row() -> None:
    spellings = [spelling for op in OPS.values() for spelling in op.spellings]
    assert len(set(spellings)) == len(spellings)
    for op in OPS.values():
        for spelling in op.spellings:
            assert find(callable_of(spelling)) is op
    assert find(print) is None


def test_two_rows_may_not_share_a_name() -> None:
    with pytest.raises(IRError, match="two rows named add"):
        OpDef("add", 2, np.add, "({0} + {1})")


# --- values and types -----------------------------------------------------------------------------


EPS = {"f32": 2.0**-23, "f64": 2.0**-52}


def close(found: Any, expected: Any, dtype: str) -> bool:
    """Whether a floating-point result is within a few units of the last place of the exact one."""
    eps = EPS[dtype]
    return bool(abs(mp.mpf(float(found)) - expected) <= 6 * eps * max(abs(expected), eps))


@each_dtype
def test_value(op: OpDef, dtype: str) -> None:
    (result,) = op.types(operand_types(op, dtype), ())
    count = 0
    with np.errstate(all="ignore"), mp.workdps(DIGITS):
        for args in samples(op, dtype):
            found = op.evaluate(*args)
            expected = MEANING[op.name](*map(exact, args))
            count += 1
            if result.kind == "f":
                # Near zeros of the function the error is that of its operands.
                error = abs(exact(found) - expected)
                assert close(found, expected, dtype) or (
                    op.name in CANCELLING
                    and error <= 4 * EPS[dtype] * max(abs(n) for n in map(exact, args))
                ), args
            elif result.kind == "b":
                assert bool(found) is bool(expected), args
            else:
                assert int(found) == wrapped(int(expected), result.dtype), args
            if op.name not in INDICES + CHOICES:
                assert np.asarray(found).dtype == result.numpy, args
    assert count >= 2


@each_dtype
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_callables_agree(op: OpDef, dtype: str) -> None:
    # Python's operators and NumPy's functions, on NumPy's scalars. Those of `math` round once, from
    # double precision.
    rel = 4 * EPS.get(dtype, 0.0)
    with np.errstate(all="ignore"):
        for args in samples(op, dtype):
            found = op.evaluate(*args)
            for spelling in op.spellings:
                value = callable_of(spelling)(*args)
                if isinstance(value, np.generic):
                    assert value.dtype == found.dtype, spelling
                # Near a zero of an algorithm the library's may have no digits.
                least = rel if op.algorithm is not None else 0.0
                assert value == pytest.approx(found, rel=rel, abs=least), spelling


@pytest.mark.parametrize(("name", "args", "expected"), CONVENTIONS)
def test_conventions(name: str, args: tuple[float, ...], expected: float) -> None:
    makes: tuple[Callable[[float], Any], ...] = (np.float64, np.float32)
    for make in makes:
        with np.errstate(all="ignore"):
            found = OPS[name].evaluate(*map(make, args))
            wanted = make(expected)
        assert found.dtype == wanted.dtype
        if abs(expected) < 1e30 and abs(args[0]) < 1e30:
            np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(found).eps)
            assert np.isnan(wanted) or np.signbit(found) == np.signbit(wanted)


@pytest.mark.parametrize("op", NUMBERS, ids=label)
def test_types(op: OpDef) -> None:
    if op.types not in (same, predicate):
        return
    weak = {"b1": BOOL, "i64": INT, "f64": FLOAT}
    for dtype in dtypes(op):
        strong: Type = Scalar(dtype)
        expected: Type = B1 if op.types is predicate else strong
        assert op.types([strong] * op.arity, ()) == (expected,)
        if dtype in weak:
            # One operand of NumPy's makes the result NumPy's.
            for mask in itertools.product((False, True), repeat=op.arity):
                types = [weak[dtype] if each else strong for each in mask]
                mark = BOOL if op.types is predicate else weak[dtype]
                assert op.types(types, ()) == ((mark if all(mask) else expected),)
        if op.arity > 1:
            for other in DTYPES:
                if other != dtype:
                    with pytest.raises(IRError, match="different types"):
                        op.types([strong, Scalar(other)], ())


@pytest.mark.parametrize(
    ("name", "params", "types", "expected"),
    [
        ("select", (), (BOOL, FLOAT, FLOAT), FLOAT),
        ("select", (), (B1, FLOAT, F64), F64),
        ("select", (), (B1, Scalar("i8"), Scalar("i8")), Scalar("i8")),
        ("select", (), (B1, Array("f64", 1), Array("f64", 1)), Array("f64", 1)),
        ("and", (), (B1, BOOL), BOOL),
        ("not", (), (B1,), BOOL),
        ("wrap", (), (Scalar("i8"), INT), INT),
        ("inside", (), (Scalar("u32"), INT), BOOL),
        ("trips", (), (INT, INT, INT), INT),
        ("cast", ("f32",), (F64,), F32),
        ("cast", ("int",), (FLOAT,), INT),
        ("cast", ("float",), (F32,), FLOAT),
        ("cast", ("f32",), (Array("f64", 2, "A"),), Array("f32", 2)),
        ("dim", (0,), (Array("f64", 1),), INT),
        ("empty", ("f32",), (INT, INT), Array("f32", 2)),
        ("full", ("f32",), (F32, INT), Array("f32", 1)),
        ("slot", ("f32", 2), (INT, INT, INT, INT), Array("f32", 1)),
        ("copy", (), (Array("f64", 2, "A"),), Array("f64", 2)),
        ("total", (), (Array("f32", 2),), F32),
        ("undef", ("f64[:]",), (), Array("f64", 1)),
        ("undef", ("int",), (), INT),
    ],
)
def test_types_of_rows_with_a_rule_of_their_own(
    name: str, params: tuple[int | str, ...], types: tuple[Type, ...], expected: Type
) -> None:
    assert OPS[name].types(types, params) == (expected,)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("select", (F64, F64, F64)),
        ("select", (B1, F64, F32)),
        ("and", (B1, INT)),
        ("not", (INT,)),
        ("wrap", (F64, INT)),
        ("inside", (INT, F64)),
        ("dim", (F64,)),
        ("copy", (F64,)),
        ("total", (F64,)),
        ("add", (F64, Array("f64", 1))),
    ],
)
def test_types_that_are_refused(name: str, types: tuple[Type, ...]) -> None:
    with pytest.raises(IRError):
        OPS[name].types(types, (0,))


@pytest.mark.parametrize(
    ("name", "types", "params", "message"),
    [
        ("empty", (INT, Array("f32", 1)), ("f64",), "an array of f64 in the memory of f32[:]"),
        ("full", (F64, INT, Array("f64", 1, "A")), ("f64",), "an array of f64 in the memory of"),
        ("over", (Array("f64", 1, "A"),), (), "cannot be written over"),
        ("slot", (INT,), ("f64", 2), "1 sizes of arrays of 2 axes"),
        ("slot", (), ("f64", 2), "0 sizes of arrays of 2 axes"),
        ("row", (Array("f64", 1), INT), (), "has no rows of 1 indices"),
        ("row", (Array("f64", 2),), (), "has no rows of 0 indices"),
        ("part", (Array("f64", 2), INT), (1,), "of rank 1 is given other sizes"),
        ("complex", (F64, F32), (), "a complex number of f64 and f32"),
        ("complex", (INT, INT), (), "a complex number of"),
        ("complex", (F64, Array("f64", 1)), (), "complex numbers of f64 and f64[:]"),
        ("real", (F64,), (), "a part of f64"),
    ],
)
def test_operations_of_arrays_that_do_not_fit(
    name: str, types: tuple[Type, ...], params: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(IRError, match=re.escape(message)):
        OPS[name].types(types, params)


def test_conversions() -> None:
    cast = OPS["cast"].evaluate
    for source, target in itertools.product(DTYPES, DTYPES):
        for number in (0, 1, 2, 100):
            value = DTYPES[source].type(number)
            found = cast(target, value)
            assert found == DTYPES[target].type(value)
            assert found.dtype == DTYPES[target]
    assert cast("i64", np.float64(-2.7)) == -2
    assert cast("i8", np.int64(200)) == -56
    assert cast("f32", np.float64(0.1)) == np.float32(0.1)
    assert cast("b1", np.float64(NAN)) == np.True_
    assert cast("float", np.float32(0.5)).dtype == np.float64
    found = cast("f32", np.array([[0.1, 2.0]]))
    assert found.dtype == np.float32
    assert found.shape == (1, 2)


@pytest.mark.parametrize("make", [np.float32, np.float64])
def test_neighbours(make: Callable[[float], Any]) -> None:
    nextafter = OPS["nextafter"].evaluate
    for x in (-3.0, -0.5, 0.7, 2.0):
        up, down = nextafter(make(x), make(9.0)), nextafter(make(x), make(-9.0))
        assert down < make(x) < up
        assert up.dtype == down.dtype == make(x).dtype
        # Nothing lies between.
        assert (make(x) + up) / make(2.0) in (make(x), up)
    assert nextafter(make(1.0), make(1.0)) == 1.0


def test_trips_of_ranges() -> None:
    trips = OPS["trips"].evaluate
    for start, stop, step in itertools.product(range(-4, 5), range(-4, 5), (-3, -2, -1, 1, 2, 3)):
        assert trips(np.int64(start), np.int64(stop), np.int64(step)) == len(
            range(start, stop, step)
        )
    # A step of 0 is an error of the program, which is checked for before.
    assert trips(np.int64(0), np.int64(4), np.int64(0)) == 0


def test_rows_on_arrays() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert OPS["dim"].evaluate(1, a) == 3
    assert OPS["empty"].evaluate("f32", np.int64(2), np.int64(0)).shape == (2, 0)
    filled = OPS["full"].evaluate("i8", np.int8(7), np.int64(2))
    assert filled.dtype == np.int8
    assert filled.tolist() == [7, 7]
    copied = OPS["copy"].evaluate(a.T)
    assert copied.flags.c_contiguous
    assert not np.shares_memory(copied, a)
    assert np.array_equal(copied, a.T)
    assert OPS["total"].evaluate(a) == 15.0
    assert OPS["total"].evaluate(np.zeros(0, np.float32)).dtype == np.float32
    assert OPS["undef"].evaluate("f64[:, :]").shape == (0, 0)
    assert OPS["undef"].evaluate("int").dtype == np.int64


# --- rules ----------------------------------------------------------------------------------------


def rule_function(op: OpDef, rule: TracedRule) -> Function:
    """Return a traced rule as a function of the IR."""
    outputs = tuple(out for out in rule.outputs if out is not None)
    return Function(f"{op.name}.vjp", rule.params, rule.stmts, outputs)


def contributions(op: OpDef, args: Sequence[Any], types: tuple[Type, ...]) -> list[float | None]:
    """Evaluate the rule for the cotangent 1; None for "no contribution"."""
    rule = vjp_rule(op, types)
    with np.errstate(all="ignore"):
        y = op.evaluate(*args)
        values = iter(run(rule_function(op, rule), (1.0, y, *args)))
    return [None if out is None else float(next(values)) for out in rule.outputs]


def check_rule(op: OpDef, dtype: str = "f64") -> None:
    """Compare a row's rule with differences, and with its documented choices.

    Raises
    ------
    AssertionError
        If it is wrong.
    """
    types = operand_types(op, dtype)
    tolerance = {"f64": 1e-11, "f32": 1e-4}[dtype]
    meaning = MEANING[op.name]
    for args in samples(op, dtype):
        found = contributions(op, args, types)
        numbers = [exact(arg) for arg in args]
        for k, out in enumerate(found):
            if types[k].kind != "f":
                assert out is None, (op.name, args)
                continue
            with mp.workdps(DIGITS):
                expected = mp.diff(
                    lambda x, k=k, n=numbers: meaning(*n[:k], x, *n[k + 1 :]), numbers[k]
                )
                error = abs((out or 0.0) - expected)
                assert error <= tolerance * max(abs(expected), 1e-2), (op.name, args, k)
    if dtype == "f64":
        for point, chosen in CHOSEN.get(op.name, ()):
            found = contributions(op, [np.float64(x) for x in point], types)
            for value, wanted in zip(found, chosen, strict=True):
                assert (value is None) == (wanted is None), (op.name, point, found)
                if value is not None and wanted is not None:
                    assert value == pytest.approx(wanted, rel=1e-14, abs=1e-300, nan_ok=True), (
                        op.name, point, found,
                    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@each_smooth
def test_rule_agrees_with_differences(op: OpDef, dtype: str) -> None:
    check_rule(op, dtype)


def one_op(op: OpDef) -> tuple[Function, tuple[int, ...]]:
    """Return a function that applies a row once, and the positions of its float operands."""
    types = operand_types(op, "f64")
    params = ", ".join(f"%x{k}: {ty}" for k, ty in enumerate(types))
    args = " ".join(f"%x{k}" for k in range(op.arity))
    text = f"fn f({params}) -> f64 {{\n  %y = {op.name} {args}\n  return %y\n}}\n"
    return parse(text), tuple(k for k, ty in enumerate(types) if ty.kind == "f")


@each_smooth
def test_forward_mode_agrees(op: OpDef) -> None:
    fn, wrt = one_op(op)
    jvp, vjp = tangent(fn, wrt), adjoint(fn, wrt)
    rng = np.random.default_rng(7)
    for args in samples(op, "f64"):
        along = rng.uniform(-1, 1, len(wrt))
        dot = run(jvp, (*args, *along))[1]
        gradient = run(vjp, args)[1:]
        assert dot == pytest.approx(float(np.dot(gradient, along)), rel=1e-13, abs=1e-13)


@each_smooth
def test_second_derivatives(op: OpDef) -> None:
    fn, wrt = one_op(op)
    product = tangent(adjoint(fn, wrt), wrt)
    for args in itertools.islice(samples(op, "f64"), 0, None, 5):
        numbers = [exact(arg) for arg in args]
        hessian = np.array(
            [run(product, (*args, *row))[-len(wrt) :] for row in np.eye(len(wrt))], float
        )
        for (i, a), (j, b) in itertools.product(enumerate(wrt), repeat=2):
            orders = [0] * op.arity
            orders[a] += 1
            orders[b] += 1

            def restricted(*free: Any, numbers: list[Any] = numbers) -> Any:
                full = list(numbers)
                for k, value in zip(wrt, free, strict=True):
                    full[k] = value
                return MEANING[op.name](*full)

            with mp.workdps(2 * DIGITS):
                at = tuple(numbers[k] for k in wrt)
                order = tuple(orders[k] for k in wrt)
                # mpmath takes a number for one variable, tuples for several.
                expected = (
                    mp.diff(restricted, at[0], order[0])
                    if len(wrt) == 1
                    else mp.diff(restricted, at, order)
                )
                error = abs(hessian[i, j] - expected)
                assert error <= 1e-9 * max(abs(expected), 1), (args, i, j)


EXAMPLES: dict[str, list[tuple[tuple[Type, ...], tuple[int | str, ...]]]] = {
    "cast": [((F64,), ("f32",)), ((F32,), ("f64",)), ((F64,), ("i64",)), ((INT,), ("f64",))],
    "full": [((F64, INT, INT), ("f64",)), ((F32, INT), ("f32",))],
    "copy": [((Array("f64", 1),), ()), ((Array("f32", 2),), ())],
    "total": [((Array("f64", 2),), ()), ((Array("f32", 1),), ())],
}


def traced(op: OpDef) -> list[tuple[tuple[Type, ...], tuple[int | str, ...], TracedRule]]:
    """Return the rule of a row for f64 and f32."""
    examples: list[tuple[tuple[Type, ...], tuple[int | str, ...]]] = [
        (operand_types(op, dtype), ()) for dtype in ("f64", "f32") if op.arity > 0
    ]
    return [
        (types, params, vjp_rule(op, types, params))
        for types, params in EXAMPLES.get(op.name, examples)
    ]


@each_rule
def test_rule_is_well_formed_and_keeps_the_dtype(op: OpDef) -> None:
    for types, params, rule in traced(op):
        fn = rule_function(op, rule)
        assert problems(fn) == []
        assert parse(str(fn)) == fn
        assert len(rule.outputs) == len(types)
        for out, ty in zip(rule.outputs, types, strict=True):
            if out is not None:
                assert out.type == ty
        if op.name != "cast":
            kept = {ty.dtype for ty in types if ty.kind == "f"}
            for stmt in rule.stmts:
                dtypes_ = {value.type.dtype for value in (*stmt.results, *stmt.args)
                           if value.type.kind == "f"}  # fmt: skip
                assert dtypes_ <= kept, (stmt, params)


@each_rule
def test_rules_are_made_of_differentiable_rows(op: OpDef) -> None:
    # Every order of derivative exists: a row without a rule is one whose derivative is zero.
    for _, _, rule in traced(op):
        for stmt in rule.stmts:
            assert stmt.op.vjp is not None or not stmt.op.refuse, stmt.op.name


@each_rule
def test_needs_are_what_the_rule_reads(op: OpDef) -> None:
    for types, _, rule in traced(op):
        for k in range(len(types)):
            wanted = [j == k for j in range(len(types))]
            alone = rule.only(wanted)
            assert alone.needs() == rule.needs(wanted)
            read = {arg for stmt in alone.stmts for arg in stmt.args} | set(alone.outputs)
            assert alone.needs() == {i for i, param in enumerate(rule.params) if param in read}
            assert set(alone.stmts) <= set(rule.stmts)
            assert alone.outputs[k] == rule.outputs[k]
        everything = [rule.needs([j == k for j in range(len(types))]) for k in range(len(types))]
        assert rule.needs() == frozenset().union(*everything)


def test_rules_as_text(golden: Callable[[str, str], None]) -> None:
    parts = []
    for op in DIFFERENTIABLE:
        types, params, rule = traced(op)[0]
        names = [param.name for param in rule.params]
        lines = []
        for k, out in enumerate(rule.outputs):
            if out is not None:
                needs = rule.needs([j == k for j in range(len(types))])
                lines.append(f"# to x{k} from {' '.join(names[i] for i in sorted(needs))}\n")
        static = f"[{', '.join(map(str, params))}]" if params else ""
        parts.append(
            f"# {op.name}{static} {' '.join(map(str, types))}\n"
            f"{''.join(lines)}{rule_function(op, rule)}"
        )
    text = "\n".join(parts)
    golden("rules.txt", text)
    parse(text)


def test_golden_files_are_not_rewritten_where_they_are_checked() -> None:
    command = [sys.executable, "-m", "pytest", "--update-golden", "--collect-only", __file__]
    result = subprocess.run(
        command, env={**os.environ, "CI": "1"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "refused" in result.stderr


def test_rules_of_weak_operands_are_those_of_strong_ones() -> None:
    assert vjp_rule(OPS["mul"], (FLOAT, FLOAT)) == vjp_rule(OPS["mul"], (F64, F64))


# --- rows on arrays -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "fn f(%a: f64[:, :]) -> f64 {\n  %y = total %a\n  return %y\n}",
        "fn f(%a: f64[:, :]) -> f64 {\n  %b = copy %a\n  %y = total %b\n  return %y\n}",
        "fn f(%a: f64[:, :]) -> f64 {\n  %v = load %a[1, 2]\n  %n = dim[1] %a\n"
        "  %b = full[f64] %v %n\n  %y = total %b\n  return %y\n}",
        "fn f(%a: f64[:, :]) -> f64 {\n  %b = cast[f32] %a\n  %v = load %b[1, 2]\n"
        "  %y = cast[f64] %v\n  return %y\n}",
    ],
)
def test_derivatives_of_rows_on_arrays(text: str) -> None:
    fn = parse(text)
    a = np.array([[0.5, -1.25, 2.0], [0.75, 3.5, -0.25]])
    value, ct = run(adjoint(fn, (0,)), (a,))
    assert ct.shape == a.shape
    # They are linear, so that their tangent is their value along the direction.
    for k in np.ndindex(a.shape):
        e = np.zeros(a.shape)
        e[k] = 1.0
        _, dot = run(tangent(fn, (0,)), (a, e))
        assert dot == run(fn, (e,))[0] == ct[k]
    assert value == run(fn, (a,))[0]


# --- the tests' own tests -------------------------------------------------------------------------


def planted(op: OpDef, wrong: Callable[..., Any]) -> OpDef:
    """Return a copy of a row with another rule, without entering it in the table."""
    copy = object.__new__(OpDef)
    for each in fields(OpDef):
        object.__setattr__(copy, each.name, getattr(op, each.name))
    object.__setattr__(copy, "vjp", wrong)
    return copy


def each_output(op: OpDef, change: Callable[[Any], Any], which: int) -> OpDef:
    def wrong(*args: Any) -> tuple[Any, ...]:
        assert op.vjp is not None
        return tuple(
            change(out) if k == which and isinstance(out, Traced) else out
            for k, out in enumerate(op.vjp(*args))
        )

    return planted(op, wrong)


def outputs_of(op: OpDef) -> list[int]:
    rule = vjp_rule(op, operand_types(op, "f64"))
    return [k for k, out in enumerate(rule.outputs) if out is not None]


WRONG: dict[str, Callable[[Any], Any]] = {
    "sign": lambda out: -out,
    "factor": lambda out: out * 1.0005,
    "dropped": lambda out: None,
}


@pytest.mark.parametrize(
    ("op", "which"), [(op, k) for op in SMOOTH for k in outputs_of(op)], ids=label
)
@pytest.mark.parametrize("change", WRONG)
def test_wrong_rules_are_found(op: OpDef, which: int, change: str) -> None:
    with pytest.raises(AssertionError):
        check_rule(each_output(op, WRONG[change], which))


# Both operands of these have the same contribution.
ALIKE = ("add", "sum")


@pytest.mark.parametrize(
    "op", [op for op in SMOOTH if op.arity == 2 and op.name not in ALIKE], ids=label
)
def test_swapped_contributions_are_found(op: OpDef) -> None:
    def swapped(*args: Any) -> tuple[Any, ...]:
        assert op.vjp is not None
        return op.vjp(*args)[::-1]

    with pytest.raises(AssertionError):
        check_rule(planted(op, swapped))


def test_rules_with_the_wrong_number_of_results_are_refused() -> None:
    with pytest.raises(IRError, match="1 results for 2 operands"):
        vjp_rule(planted(OPS["mul"], lambda ct, y, a, b: (ct,)), (F64, F64))


def test_constant_contributions_become_literals() -> None:
    rule = vjp_rule(planted(OPS["neg"], lambda ct, y, x: (2,)), (F32,))
    assert rule.outputs == (Literal(2.0, F32),)
    assert rule.params[0] == Value("ct", F32)
    assert rule.needs() == frozenset()
