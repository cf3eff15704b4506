"""Transcendental functions: the same bits wherever they stand, accurate, and exact where special.

The heart is the gate: a vectorised loop, its remainder, serial code, and constants known to the
compiler all give the same bits. It is repeated under the settings that make other machines of this
one.
"""

from __future__ import annotations

import functools
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import mpmath
import numba
import numpy as np
import numpy.typing as npt
import pytest

import adc
from adc.backend.common import vector_math

Array: TypeAlias = npt.NDArray[Any]

#: Number of arguments by function.
ARITIES = {
    name: 2 if name in ("pow", "libm_pow", "atan2", "hypot") else 1
    for name in vector_math.FUNCTIONS
}
DTYPES: tuple[vector_math.DType, ...] = ("float64", "float32")

inf, nan = math.inf, math.nan


# --- arguments ------------------------------------------------------------------------------------


def strata(dtype: vector_math.DType, seed: int, size: int) -> Array:
    """Return `size` numbers or a few more, from the whole range of a type, in random order."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    bits = rng.integers(0, 2 ** (info.bits - 1), size, dtype=np.uint64, endpoint=True)
    any_bits = bits.astype(f"u{info.bits // 8}").view(dtype)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        any_bits = np.where(np.isnan(any_bits), np.asarray(nan, dtype), any_bits)
    limit = math.log(float(info.max))
    uniform = rng.uniform(-1.0, 1.0, (8, size))
    parts = [
        any_bits * rng.choice([-1.0, 1.0], size).astype(dtype),
        uniform[0],
        uniform[1] * 20.0,
        uniform[2] * 1.1 * limit,
        # Near multiples of a half (kinks, zeros, the ends of domains) and of pi/2.
        rng.integers(-8, 9, size) * 0.5 + np.ldexp(uniform[3], -rng.integers(0, info.nmant, size)),
        rng.integers(-99, 99, size) * (math.pi / 2) + np.ldexp(uniform[4], -rng.integers(0, 40)),
        np.ldexp(uniform[5], rng.integers(-64, 65, size)),
        uniform[6] * 1.1 * limit / math.log(2.0),
        np.ldexp(uniform[7], np.full(size, info.minexp)),  # subnormal
    ]
    count = -(-size // len(parts))
    chosen = np.concatenate([np.asarray(part[:count], dtype) for part in parts])
    return rng.permutation(chosen)


def specials(dtype: vector_math.DType) -> list[float]:
    """Return numbers of a type that have rules of their own."""
    info = np.finfo(dtype)
    positive = [0.0, 0.5, 1.0, 2.0, 3.0, 5.5, inf]
    positive += [float(info.smallest_subnormal), float(info.smallest_normal), float(info.max)]
    return [nan, *positive, *(-x for x in positive)]


def mixed(dtype: vector_math.DType, seed: int, size: int) -> Array:
    """Return `size` numbers, ordinary and special ones mixed."""
    special = np.tile(np.asarray(specials(dtype), dtype), 1 + size // 30)
    pool = np.concatenate([strata(dtype, seed, size), special])
    return np.random.default_rng(seed).permutation(pool)[:size]


def same_bits(left: Array, right: Array) -> Any:
    """Compare elementwise, every bit. Any two NaNs are the same: arithmetic may flip their sign."""
    bits = f"u{left.dtype.itemsize}"
    return (left.view(bits) == right.view(bits)) | (np.isnan(left) & np.isnan(right))


# --- the gate -------------------------------------------------------------------------------------

#: Equal to no result, which the compiler cannot know: single precision has this number.
NEVER = "0.1234130859375"

HEAD = "def form(x, y, out):\n    n = len(x)"

#: Ways to call the functions: the head of a function with all of them, and what it contains for
#: each. There ``CALL<a, b>`` is the call, with ``a`` alone or with both, and K numbers functions.
FORMS = {
    "scalar": (
        "def form(x, y, out):",
        "    out[K] = CALL<x, y>",
    ),
    "vectorised": (
        HEAD,
        "    for i in range(n):\n"
        "        out[K, i] = CALL<x[i], y[i]>",
    ),
    "guarded": (
        HEAD,
        "    for i in range(n):\n"
        f"        if x[i] != {NEVER}:\n"
        "            out[K, i] = CALL<x[i], y[i]>",
    ),
    "carried": (
        HEAD,
        "    last = y[0]\n"
        "    for i in range(n):\n"
        f"        argument = y[i] if last == {NEVER} else x[i]\n"
        "        last = CALL<argument, y[i]>\n"
        "        out[K, i] = last",
    ),
    "exit": (
        HEAD,
        "    for i in range(n):\n"
        "        value = CALL<x[i], y[i]>\n"
        "        out[K, i] = value\n"
        f"        if value == {NEVER}:\n"
        "            break",
    ),
    "unrolled": (
        HEAD,
        "    for i in range(0, n - 3, 4):\n"
        + "\n".join(f"        out[K, i + {j}] = CALL<x[i + {j}], y[i + {j}]>" for j in range(4))
        + "\n    for i in range(n - n % 4, n):\n"
        "        out[K, i] = CALL<x[i], y[i]>",
    ),
}  # fmt: skip


def compile_form(head: str, body: str, **names: Any) -> Any:
    """Compile one function that contains `body` for every function of `vector_math`."""
    lines = [head]
    for k, (function, arity) in enumerate(ARITIES.items()):
        call = rf"{function}(\1)" if arity == 1 else rf"{function}(\1, \2)"
        lines.append(re.sub("CALL<(.*?), (.*?)>", call, body).replace("K", str(k)))
    namespace = {**vector_math.FUNCTIONS, **names}
    exec("\n".join(lines), namespace)
    return numba.njit(namespace["form"], error_model="numpy")


@functools.cache
def compiled_form(name: str) -> Any:
    return compile_form(*FORMS[name])


def by_scalar_calls(x: Array, y: Array) -> Array:
    """Return the results of all functions (rows), each computed in a call of its own."""
    out = np.empty((len(x), len(ARITIES)), x.dtype)
    for x_i, y_i, out_i in zip(x, y, out, strict=True):
        compiled_form("scalar")(x_i, y_i, out_i)
    return np.ascontiguousarray(out.T)


def assert_same_bits(result: Array, expected: Array, *arguments: Array) -> None:
    """Fail with the first few differences; rows are functions, columns are arguments."""
    wrong = [
        f"{list(ARITIES)[k]}({', '.join(repr(a[i]) for a in arguments)}):"
        f" {result[k, i]!r}, not {expected[k, i]!r}"
        for k, i in np.argwhere(~same_bits(result, expected))
    ]
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:10])


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "scalar"])
def test_gate(form: str, dtype: vector_math.DType) -> None:
    x, y = mixed(dtype, 1, 64), mixed(dtype, 2, 64)
    scalar = by_scalar_calls(x, y)
    for n in range(1, 65):
        result = np.full((len(ARITIES), n), NEVER, dtype)
        compiled_form(form)(x[:n], y[:n], result)
        assert_same_bits(result, scalar[:, :n], x, y)


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_in_a_vector_do_not_matter(dtype: vector_math.DType) -> None:
    x, y = mixed(dtype, 3, 5000), mixed(dtype, 4, 5000)
    vectors = np.empty((len(ARITIES), 5000), dtype)
    compiled_form("vectorised")(x, y, vectors)
    assert_same_bits(vectors, by_scalar_calls(x, y), x, y)


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_are_not_folded_in_another_way(dtype: vector_math.DType) -> None:
    pairs = [(0.7, 2.0), (3.0, 0.5), (-0.0, 1.0), (10.0, -1.0), (0.1, 3.0), (inf, 0.0), (2.0, 10.5)]
    # A type as a global name makes its calls constants of the compiled code.
    body = "\n".join(
        f"    out[K, {i}] = CALL<T({a!r}), T({b!r})>" for i, (a, b) in enumerate(pairs)
    )
    form = compile_form("def form(out):", body, T=getattr(np, dtype), inf=inf)
    result = np.empty((len(ARITIES), len(pairs)), dtype)
    form(result)
    x, y = np.array(pairs, dtype).T.copy()
    assert_same_bits(result, by_scalar_calls(x, y), x, y)


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_are_not_expanded(dtype: vector_math.DType) -> None:
    pow = vector_math.pow
    T = getattr(np, dtype)
    zero, half, one, two, three = T(0.0), T(0.5), T(1.0), T(2.0), T(3.0)

    @numba.njit(error_model="numpy")
    def constant_exponents(x: Array, out: Array) -> None:
        for i in range(len(x)):
            out[0, i] = pow(x[i], zero)
            out[1, i] = pow(x[i], half)
            out[2, i] = pow(x[i], -half)
            out[3, i] = pow(x[i], one)
            out[4, i] = pow(x[i], -one)
            out[5, i] = pow(x[i], two)
            out[6, i] = pow(x[i], three)
            out[7, i] = pow(two, x[i])

    x = mixed(dtype, 6, 200)
    result = np.empty((8, len(x)), dtype)
    constant_exponents(x, result)
    k = list(ARITIES).index("pow")
    for row, exponent in enumerate([zero, half, -half, one, -one, two, three]):
        expected = by_scalar_calls(x, np.full_like(x, exponent))[k]
        assert same_bits(result[row], expected).all()
    assert same_bits(result[7], by_scalar_calls(np.full_like(x, two), x)[k]).all()


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
def test_python_calls_the_same(dtype: vector_math.DType) -> None:
    x, y = mixed(dtype, 7, 20), mixed(dtype, 8, 20)
    result = np.empty((len(ARITIES), len(x)), dtype)
    for k, (name, arity) in enumerate(ARITIES.items()):
        function: Any = getattr(vector_math, name)
        for i in range(len(x)):
            value = function(*(x[i], y[i])[:arity])
            assert type(value) is (np.float32 if dtype == "float32" else float)
            result[k, i] = value
    assert_same_bits(result, by_scalar_calls(x, y), x, y)


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["vectorised", "carried"])
def test_code_calls_the_vector_functions(form: str, dtype: vector_math.DType) -> None:
    found = {name: vector_math.implementation(name, dtype) for name in ARITIES}
    expected = {f.symbol for f in found.values() if f.lanes > 1}
    function = compiled_form(form)
    x = np.ones(4, dtype)
    function(x, x, np.empty((len(ARITIES), 4), dtype))
    (code,) = (function.inspect_llvm(s) for s in function.signatures if s[0].dtype.name == dtype)
    calls = Counter(re.findall(r"call .*@(_ZGV\w+)\(", code))
    assert set(calls) == expected
    # One call is the wrapper's.
    in_loops = {symbol for symbol in expected if calls[symbol] > 1}
    assert in_loops == (set() if form == "carried" else expected)


def test_types_of_arguments() -> None:
    sin, atan2 = vector_math.sin, vector_math.atan2

    @numba.njit
    def f(a: Any, b: Any) -> Any:
        return sin(a), sin(b), atan2(a, b), atan2(b, a), sin(True), sin(2)

    f(np.float32(1.0), np.float64(1.0))
    f(np.float32(1.0), np.float32(1.0))
    f(3, np.float32(1.0))
    kinds = [
        "".join(str(t)[-2:] + " " for t in f.overloads[s].signature.return_type)
        for s in f.signatures
    ]
    assert kinds == ["32 64 64 64 64 64 ", "32 32 32 32 64 64 ", "64 32 64 64 64 64 "]
    assert f(3, np.float32(1.0))[0] == vector_math.sin(3.0)

    @numba.njit
    def g(a: Any) -> Any:
        return sin(a)

    with pytest.raises(numba.TypingError):
        g(1j)


# --- accuracy -------------------------------------------------------------------------------------

EXACT: dict[str, Callable[..., Any]] = {
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "pow": mpmath.power,
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "libm_exp": mpmath.exp,
    "libm_expm1": mpmath.expm1,
    "libm_log": mpmath.log,
    "libm_pow": mpmath.power,
    "libm_log1p": mpmath.log1p,
    "gamma": mpmath.gamma,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e3 else mpmath.loggamma(x),
}

#: Where the functions are real and finite. Everything else is special.
DOMAINS: dict[str, Callable[..., bool]] = {
    "asin": lambda x: abs(x) <= 1,
    "acos": lambda x: abs(x) <= 1,
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
    "log": lambda x: x > 0,
    "log2": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "log1p": lambda x: x > -1,
    "libm_log1p": lambda x: x > -1,
    "libm_log": lambda x: x > 0,
    "pow": lambda x, y: x > 0 or (x < 0 and y == int(y)),
    "libm_pow": lambda x, y: x > 0 or (x < 0 and y == int(y)),
    "atan2": lambda y, x: x != 0 or y != 0,
    "gamma": lambda x: x > 0 or x != int(x),
    # Huge negative arguments are left out: between their poles they take mpmath an age.
    "lgamma": lambda x: x > 0 or (x != int(x) and x > -1e3),
}


def too_large(name: str, *arguments: float) -> bool:
    """Tell whether the exact result is so far outside of the range that mpmath better not try."""
    x = abs(arguments[0])
    if name in (
        "exp",
        "libm_exp",
        "libm_expm1",
        "exp2",
        "expm1",
        "sinh",
        "cosh",
        "tanh",
        "erf",
        "erfc",
    ):
        return x > 2000.0
    if name in ("pow", "libm_pow"):
        return abs(arguments[1] * math.log2(x)) > 2000.0
    return name == "gamma" and x > 500.0


def ulps(value: float, exact: Any, dtype: vector_math.DType) -> float:
    """Return the error of a result in units of the last place of the exact one."""
    info = np.finfo(dtype)
    if exact == 0:
        return 0.0 if value == 0 else inf
    exponent = max(int(mpmath.frexp(exact)[1]) - 1, int(info.minexp))
    if exponent >= int(info.maxexp):  # infinity counts as the number that follows the largest
        exponent = int(info.maxexp) - 1
        limit = mpmath.ldexp(1, int(info.maxexp)) * mpmath.sign(exact)
        exact = limit if abs(exact) > abs(limit) else exact
    if math.isinf(value):
        value = mpmath.ldexp(math.copysign(1.0, value), int(info.maxexp))
    return float(abs(mpmath.mpf(value) - exact) / mpmath.ldexp(1, exponent - int(info.nmant)))


def arguments_of(name: str, dtype: vector_math.DType, size: int) -> Iterable[tuple[float, ...]]:
    """Yield arguments in the function's domain, over its whole range."""
    seed = 100 + list(ARITIES).index(name)
    x, y = strata(dtype, seed, size), strata(dtype, seed + 50, size)
    rng = np.random.default_rng(seed)
    if name in ("pow", "libm_pow"):
        # Results that are neither 0 nor infinite nor 1 are rare for independent arguments.
        with np.errstate(all="ignore"):
            bounded = (
                rng.uniform(-1.0, 1.0, x.size) * 1.1 * np.finfo(dtype).maxexp / np.log2(abs(x))
            )
        y = np.where(rng.random(x.size) < 0.7, bounded, np.rint(y)).astype(dtype)
    elif name in ("atan2", "hypot"):
        with np.errstate(all="ignore"):
            near = x * np.ldexp(rng.uniform(-1.0, 1.0, x.size), rng.integers(-6, 6, x.size))
            y = np.where(rng.random(x.size) < 0.7, near, y).astype(dtype)
    domain: Callable[..., bool] = DOMAINS.get(name, lambda *_: True)
    for pair in zip(x.tolist(), y.tolist(), strict=True):
        arguments = pair[: ARITIES[name]]
        if all(map(math.isfinite, arguments)) and domain(*arguments):
            yield arguments


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ARITIES)
def test_accuracy(name: str, dtype: vector_math.DType) -> None:
    function: Any = getattr(vector_math, name)
    bound = 8.0 if name in ("gamma", "lgamma") and dtype == "float64" else 4.0
    worst: tuple[float, tuple[float, ...]] = (0.0, ())
    count = 0
    for arguments in arguments_of(name, dtype, 400):
        if too_large(name, *arguments):
            continue
        with mpmath.workprec(200):
            exact = EXACT[name](*map(mpmath.mpf, arguments))
            value = float(function(*map(getattr(np, dtype), arguments)))
            worst = max(worst, (ulps(value, exact, dtype), arguments))
        count += 1
    assert count > 80
    assert worst[0] <= bound, f"{name}{worst[1]} is wrong by {worst[0]:.3g} ulp"


# --- special values -------------------------------------------------------------------------------

#: Arguments and results that are exact.
SPECIAL_UNARY = {
    "sin": "0:0 -0:-0 inf:nan -inf:nan",
    "cos": "0:1 -0:1 inf:nan -inf:nan",
    "tan": "0:0 -0:-0 inf:nan -inf:nan",
    "asin": "0:0 -0:-0 1.5:nan -1.5:nan inf:nan -inf:nan",
    "acos": "1:0 1.5:nan -1.5:nan inf:nan -inf:nan",
    "atan": "0:0 -0:-0",
    "sinh": "0:0 -0:-0 1e5:inf -1e5:-inf 1e38:inf inf:inf -inf:-inf",
    "cosh": "0:1 -0:1 1e5:inf -1e5:inf 1e38:inf inf:inf -inf:inf",
    "tanh": "0:0 -0:-0 1e5:1 -1e5:-1 1e38:1 inf:1 -inf:-1",
    "asinh": "0:0 -0:-0 inf:inf -inf:-inf",
    "acosh": "1:0 0.5:nan 0:nan -0:nan -1:nan -1e38:nan inf:inf -inf:nan",
    "atanh": "0:0 -0:-0 1:inf -1:-inf 1.5:nan -1.5:nan inf:nan -inf:nan",
    "exp": "0:1 -0:1 1e5:inf -1e5:0 1e38:inf -1e38:0 inf:inf -inf:0",
    "libm_exp": "0:1 -0:1 1e5:inf -1e5:0 1e38:inf -1e38:0 inf:inf -inf:0",
    "libm_expm1": "0:0 -0:-0 1e5:inf -1e5:-1 1e38:inf inf:inf -inf:-1",
    "libm_log": "1:0 0:-inf -0:-inf -1:nan -1e-38:nan -1e38:nan inf:inf -inf:nan",
    "libm_log1p": "0:0 -0:-0 -1:-inf -1.5:nan -1e38:nan inf:inf -inf:nan",
    "exp2": "0:1 -0:1 1:2 -1:0.5 10:1024 1e5:inf -1e5:0 1e38:inf -1e38:0 inf:inf -inf:0",
    "expm1": "0:0 -0:-0 1e5:inf -1e5:-1 1e38:inf inf:inf -inf:-1",
    "log": "1:0 0:-inf -0:-inf -1:nan -1e-38:nan -1e38:nan inf:inf -inf:nan",
    "log2": "1:0 0:-inf -0:-inf -1:nan inf:inf -inf:nan",
    "log10": "1:0 0:-inf -0:-inf -1:nan inf:inf -inf:nan",
    "log1p": "0:0 -0:-0 -1:-inf -1.5:nan -1e38:nan inf:inf -inf:nan",
    "cbrt": "0:0 -0:-0 inf:inf -inf:-inf",
    "erf": "0:0 -0:-0 1e5:1 -1e5:-1 inf:1 -inf:-1",
    "erfc": "0:1 -0:1 1e5:0 -1e5:2 inf:0 -inf:2",
    "gamma": "1:1 2:1 5:24 0:inf -0:-inf -1:nan -2:nan 1e5:inf inf:inf -inf:nan",
    "lgamma": "1:0 2:0 0:inf -0:inf -1:inf -2:inf inf:inf -inf:inf",
}

#: Arguments and result, after C99, Annex F. Triples, for in a dict 0.0 and -0.0 are the same key.
SPECIAL_POW = [
    (0.0, -3.0, inf),
    (-0.0, -3.0, -inf),
    (0.0, -2.5, inf),
    (-0.0, -2.5, inf),
    (-0.0, -2.0, inf),
    (0.0, -inf, inf),
    (-0.0, -inf, inf),
    (0.0, 3.0, 0.0),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0),
    (-0.0, 2.5, 0.0),
    (-0.0, inf, 0.0),
    (-1.0, inf, 1.0),
    (-1.0, -inf, 1.0),
    (-2.5, 0.5, nan),
    (-1e30, -0.5, nan),
    (0.5, -inf, inf),
    (-0.5, -inf, inf),
    (2.0, -inf, 0.0),
    (-2.0, -inf, 0.0),
    (0.5, inf, 0.0),
    (-0.5, inf, 0.0),
    (2.0, inf, inf),
    (-2.0, inf, inf),
    (-inf, -3.0, -0.0),
    (-inf, -2.0, 0.0),
    (-inf, -2.5, 0.0),
    (-inf, 3.0, -inf),
    (-inf, 2.0, inf),
    (-inf, 2.5, inf),
    (inf, -1.5, 0.0),
    (inf, 1.5, inf),
    (nan, 1.0, nan),
    (2.0, nan, nan),
    (-2.0, 3.0, -8.0),
    (-2.0, 2.0, 4.0),
]


#: y, x and the angle.
SPECIAL_ATAN2 = [
    (0.0, 0.0, 0.0),
    (-0.0, 0.0, -0.0),
    (0.0, -0.0, math.pi),
    (-0.0, -0.0, -math.pi),
    (0.0, 2.0, 0.0),
    (-0.0, 2.0, -0.0),
    (0.0, -2.0, math.pi),
    (-0.0, -2.0, -math.pi),
    (2.0, 0.0, math.pi / 2),
    (2.0, -0.0, math.pi / 2),
    (-2.0, 0.0, -math.pi / 2),
    (-2.0, -0.0, -math.pi / 2),
    (2.0, inf, 0.0),
    (-2.0, inf, -0.0),
    (2.0, -inf, math.pi),
    (-2.0, -inf, -math.pi),
    (inf, 2.0, math.pi / 2),
    (-inf, 2.0, -math.pi / 2),
    (inf, inf, math.pi / 4),
    (-inf, inf, -math.pi / 4),
    (inf, -inf, 3 * math.pi / 4),
    (-inf, -inf, -3 * math.pi / 4),
    (nan, 1.0, nan),
    (1.0, nan, nan),
    (nan, 0.0, nan),
    (inf, nan, nan),
]


def is_exactly(value: Any, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(value)
    return float(value) == expected and math.copysign(1.0, value) == math.copysign(1.0, expected)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SPECIAL_UNARY)
def test_special_values(name: str, dtype: vector_math.DType) -> None:
    function: Any = getattr(vector_math, name)
    for item in ["nan:nan", *SPECIAL_UNARY[name].split()]:
        x, expected = map(float, item.split(":"))
        value = function(getattr(np, dtype)(x))
        assert is_exactly(value, expected), f"{name}({x}) = {value}, not {expected}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_powers(dtype: vector_math.DType) -> None:
    T = getattr(np, dtype)
    ones = [(x, zero, 1.0) for x in specials(dtype) for zero in (0.0, -0.0)]
    ones += [(1.0, y, 1.0) for y in specials(dtype)]
    for x, y, expected in SPECIAL_POW + ones:
        value = vector_math.pow(T(x), T(y))
        assert is_exactly(value, expected), f"pow({x}, {y}) = {value}, not {expected}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_angles(dtype: vector_math.DType) -> None:
    T = getattr(np, dtype)
    for y, x, expected in SPECIAL_ATAN2:
        value = vector_math.atan2(T(y), T(x))
        if expected == 0.0 or math.isnan(expected):
            assert is_exactly(value, expected), f"atan2({y}, {x}) = {value}"
        else:
            assert ulps(float(value), mpmath.mpf(expected), dtype) <= 4.0, f"atan2({y}, {x})"


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_lengths(dtype: vector_math.DType) -> None:
    T = getattr(np, dtype)
    largest = float(np.finfo(dtype).max)
    cases = [(sign * inf, y, inf) for sign in (1.0, -1.0) for y in specials(dtype)]
    cases += [(0.0, y, abs(y)) for y in specials(dtype)]
    cases += [(nan, 1.0, nan), (largest, largest, inf), (largest, 1.0, largest), (-3.0, 4.0, 5.0)]
    for x, y, expected in cases:
        for pair in ((x, y), (y, x), (-x, y)):
            value = vector_math.hypot(*map(T, pair))
            assert is_exactly(value, expected), f"hypot{pair} = {value}, not {expected}"


# --- processes ------------------------------------------------------------------------------------


def run_python(*arguments: str, **environment: str) -> str:
    """Run Python in a process of its own, return what it prints."""
    found_at = os.pathsep.join([str(Path(adc.__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": found_at, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CACHED = """
import numba
import numpy as np

from adc.backend.common.vector_math import gamma as _gamma, pow as _pow, sin as _sin


@numba.njit(cache=True)
def vectorised(x, y):
    for i in range(len(x)):
        y[i] = _pow(_sin(x[i]), 2.0)


@numba.njit(cache=True, parallel=True)
def parallel(x, y):
    for i in numba.prange(len(x)):
        y[i] = _pow(_sin(x[i]), 2.0)


@numba.njit(cache=True)
def calling(x):
    y = np.empty_like(x)
    vectorised(x, y)
    return y + (_gamma(5.0) - 24.0)


x = np.arange(101) * 0.37
y, z = np.empty_like(x), np.empty_like(x)
vectorised(x, y)
parallel(x, z)
print(y.tobytes().hex(), z.tobytes().hex(), calling(x).tobytes().hex())
print(*(sum(f.stats.cache_hits.values()) for f in (vectorised, parallel, calling)))
"""


@pytest.mark.full
def test_cached_code(tmp_path: Path) -> None:
    program = tmp_path / "cached.py"
    program.write_text(CACHED)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_NUM_THREADS": "1"}
    results, hits = run_python(str(program), **cache).splitlines()
    assert hits == "0 0 0"
    assert len(set(results.split())) == 1
    assert run_python(str(program), **cache).splitlines() == [results, "1 1 1"]


@pytest.mark.full
@pytest.mark.sampled(4)
@pytest.mark.skipif(
    "not vector_math.vector_library().startswith('libmvec')", reason="needs libmvec"
)
@pytest.mark.parametrize(
    ("environment", "library"),
    [
        ({"ADC_VECTOR_LIBRARY": "none"}, "libm-"),
        pytest.param({"NUMBA_CPU_NAME": "generic"}, "libmvec-N2-", marks=pytest.mark.full),
    ],
)
def test_other_machines(environment: dict[str, str], library: str) -> None:
    """Run the tests above where there is no vector library, or none of this width."""
    name = "from adc.backend.common import vector_math; print(vector_math.vector_library())"
    assert run_python("-c", name, **environment).startswith(library)
    chosen = "not cached and not machines and not unrolled"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen]
    root = Path(adc.__file__).parents[1]
    assert "passed" in run_python(
        "-m", "pytest", *options, __file__, f"--rootdir={root}", **environment
    )


@pytest.mark.full
def test_setting_is_checked() -> None:
    code = """if True:
        from adc.backend.common import vector_math
        try:
            vector_math.vector_library()
        except ValueError as error:
            print(error)
    """
    printed = run_python("-c", code, ADC_VECTOR_LIBRARY="svml")
    assert printed == "ADC_VECTOR_LIBRARY must be 'auto' or 'none', not 'svml'\n"


def test_symbols() -> None:
    symbols = vector_math.required_symbols(["sin", "gamma"])
    assert "adc_libm_tgamma" in symbols
    assert 2 <= len(symbols) <= 4
    assert vector_math.symbols_available(symbols)
    assert vector_math.symbols_available(vector_math.required_symbols(ARITIES))
    assert not vector_math.symbols_available([*symbols, "_ZGVzN99v_sin"])
    assert vector_math.required_symbols([]) == ()
    with pytest.raises(KeyError):
        vector_math.required_symbols(["sine"])
