"""Functions of `math` that `adc.library.standard` has, on many numbers: CPython's bits."""

from __future__ import annotations

import cmath
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc

RNG = np.random.default_rng(17)
SPECIAL = [
    0.0, -0.0, 1.0, -0.5, 1.5, -2.5, 3.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    -1.7976931348623157e308, math.inf, -math.inf, math.nan, 2.0**53, 1.0 - 2.0**-53, 0.1, 1.0 / 3.0,
]  # fmt: skip
ANY = [struct.unpack("d", RNG.bytes(8))[0] for _ in range(100)]
PAIRS = [(a, b) for a in SPECIAL for b in SPECIAL] + list(zip(ANY, reversed(ANY), strict=True))
HALVES = [(float(a), float(b)) for a, b in RNG.integers(-20, 20, (80, 2)) / 2.0]
# Numbers near halves of a decimal place, and halves themselves.
DECIMALS = [x for x in SPECIAL + ANY if not 1e16 < abs(x) < 1e21] + [
    math.nextafter((i + 0.5) / 10.0**k, float(toward))
    for k in range(-3, 15)
    for i, toward in zip(RNG.integers(-1000, 1000, 12), RNG.integers(-2, 2, 12), strict=True)
] + [i / 8.0 for i in range(-40, 40)]  # fmt: skip
INTEGERS = [*(RNG.integers(-(2**60), 2**60, 200) >> RNG.integers(0, 60, 200)), *range(-30, 30)]

FUNCTIONS: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda x: math.modf(x), [(x,) for x in SPECIAL + ANY]),
    (lambda x: math.frexp(x), [(x,) for x in SPECIAL + ANY]),
    (lambda x: math.ulp(x), [(x,) for x in SPECIAL + ANY]),
    (lambda x, y: math.remainder(x, y), PAIRS + HALVES),
    (lambda x, y: math.isclose(x, y), PAIRS + [(a, a * (1.0 + 1e-9)) for a in ANY]),
    (lambda x, y: math.isclose(1.0, 1.1, rel_tol=x, abs_tol=y), PAIRS),
    (lambda x, y: cmath.isclose(complex(x, y), complex(y, x), rel_tol=0.5), PAIRS),
    (lambda x, n: round(x, n), [(x, k % 19 - 4) for k, x in enumerate(DECIMALS)]),
    (lambda i, n: round(i, n), [(int(i), k % 21 - 19) for k, i in enumerate(INTEGERS)]),
    (lambda i, j: math.lcm(i, j, 6), RNG.integers(-40, 40, (50, 2)).tolist()),
    (lambda i, j: math.gcd(i, j, 6), RNG.integers(-40, 40, (50, 2)).tolist()),
]


def _outcome(fn: Callable[..., Any], args: Any) -> Any:
    try:
        found = fn(*args)
    except Exception as error:
        return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [(type(v), v.hex() if isinstance(v, float) else v) for v in parts]


@pytest.mark.parametrize(("fn", "samples"), FUNCTIONS)
def test_bits(fn: Callable[..., Any], samples: list[Any]) -> None:
    compiled = adc.jit(fn, target="python", cache=False)
    for args in samples:
        assert _outcome(compiled, args) == _outcome(fn, args), args


def _sums() -> list[Any]:
    """Return numbers of all sizes, some of which cancel, or overflow."""
    found = []
    for k in range(120):
        n = int(RNG.integers(0, 12))
        if k % 4 == 0:
            x = RNG.standard_normal(n) * 10.0 ** RNG.integers(-300, 300, n)
        elif k % 4 == 1:
            x = RNG.choice(ANY, n)
        elif k % 4 == 2:
            x = RNG.choice([1.0, 2.0**-53, -(2.0**-53), 2.0**-54, 1e100, -1e100, 2.0**53], n)
        else:
            x = RNG.choice(SPECIAL, n)
        found += [(x,), (RNG.permutation(np.concatenate((x, -x))),)]
    return found


def test_sums_are_rounded_once() -> None:
    def total(x: Any) -> Any:
        return math.fsum(x)

    for compiled in (adc.jit(total, target="python", cache=False), adc.jit(total)):
        for args in _sums():
            assert _outcome(compiled, args) == _outcome(total, args), args


def test_a_rounded_number_is_constant() -> None:
    def price(x: Any) -> Any:
        return x * round(x, 1) + round(x, 20) + round(1e17 * x, 1)

    assert adc.grad(price)(0.26) == 0.3


def test_derivatives_where_values_are_zero() -> None:
    """Signs are no kinks."""

    def rest(x: float, y: float) -> float:
        return math.remainder(x, y)

    def part(x: float) -> float:
        return math.modf(x)[0]

    assert adc.grad(rest, target="python")(0.0, 2.0) == 1.0
    assert adc.grad(rest, argnums=1, target="python")(5.5, 2.0) == -3.0
    assert adc.grad(part, target="python")(-2.0) == 1.0
