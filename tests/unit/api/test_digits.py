"""`adc.check_nans` with `digits`: which line loses them."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import special

import adc
from adc.ir.errors import ArgumentError, DigitsError, NotFiniteError


def slope(x: Any) -> Any:
    return (1.0 - np.cos(x)) / x**2


def stable_slope(x: Any) -> Any:
    return 2.0 * np.sin(x / 2.0) ** 2 / x**2


def roots(a: Any, b: Any, c: Any) -> Any:
    d = np.sqrt(b * b - 4.0 * a * c)
    return (
        (-b + d) / (2.0 * a),
        (-b - d) / (2.0 * a),
    )


def stable_roots(a: Any, b: Any, c: Any) -> Any:
    d = np.sqrt(b * b - 4.0 * a * c)
    q = -0.5 * (b + np.copysign(d, b))
    return q / a, c / q


def variance(x: Any) -> Any:
    m = np.mean(x)
    return np.mean(x**2) - m**2


def stable_variance(x: Any) -> Any:
    m = np.mean(x)
    return np.mean((x - m) ** 2)


def exponential(x: Any) -> Any:
    total = term = 1.0
    for k in range(1, 120):
        term *= x / k
        total += term
    return total


def newton(a: Any) -> Any:
    x = a
    for _ in range(20):
        x -= (x * x - a) / (2.0 * x)  # the numerator has no correct digit at the end
    return x


def blocks(x: Any) -> Any:
    out = np.zeros(2)
    for k in range(3):
        out[1] += x[k]
    return out


def branches(x: Any) -> Any:
    y = x * 1.1
    while y > 1e-3:
        y *= 0.5 if np.floor(y * 10.0) > 3.0 else 0.25
    return y


DATA = 1e8 + np.random.default_rng(0).normal(size=50)
NEAR = np.array([1.0, 1e-9, 2.0])
LARGE = np.array([1e16, 1.0, -1e16])
MATRIX = np.random.default_rng(1).normal(size=(5, 5))
HILBERT = 1.0 / (np.arange(12.0)[:, None] + np.arange(12.0) + 1.0)
CANCELS = "cancellation in this line: "
# A function, its arguments, the message, and the text of the line.
LOSE: list[tuple[Callable[..., Any], tuple[Any, ...], str, str]] = [
    (slope, (1e-8,), CANCELS + "1 - 1 is 0, which leaves 0 of 16 correct digits", "(1.0 - np.cos"),
    (slope, (1e-10,), CANCELS + "1 - 1 is 0", "(1.0 - np.cos"),  # where long doubles see nothing
    (adc.vmap(slope), (NEAR,), "correct digits, in element 1", "(1.0 - np.cos"),
    (adc.jacfwd(lambda x: slope(x)), (1e-6,), CANCELS, "(1.0 - np.cos"),
    (adc.grad(slope), (1e-3,), "cancellation in the derivative of this line: ", "(1.0 - np.cos"),
    (adc.jacrev(lambda x: slope(x)), (NEAR,), "", "(1.0 - np.cos"),
    (adc.hvp(lambda x: np.sum(slope(x))), (NEAR, NEAR), "", "(1.0 - np.cos"),
    (adc.vjp(slope, 1e-8)[1], (1.0,), CANCELS + "1 - 1 is 0", "(1.0 - np.cos"),
    (partial(adc.jvp, slope), ((1e-8,), (1.0,)), CANCELS + "1 - 1 is 0", "(1.0 - np.cos"),
    (roots, (1.0, 1e9, 1.0), CANCELS + "-1000000000 + 1000000000 is 0", "(-b + d)"),
    (variance, (DATA,), CANCELS + "1", "np.mean(x**2) - m**2"),
    (exponential, (-20.0,), "of the loop in line 52, and more of them in others", "total += term"),
    (lambda x: (1.0 + x) - 1.0, (1e-15,), "- 1 is 1.1102230246251565e-15, which leaves 1 of", ""),
    (lambda x: (np.float32(1.0) + x) - np.float32(1.0), (np.float32(1e-5),), "2 of 7 correct", ""),
    (lambda x: sum([(k + x) - k for k in range(3)]), (1e-17,), CANCELS + "2 - 2 is 0", ""),
    (lambda x: np.log(1.0 + x), (1e-14,), "digits are lost in this line: log(1.00000", ""),
    (lambda x: np.sin(1.1 * x), (1e15,), "digits are lost in this line: sin(", ""),
    (lambda x: 1.0 - special.erf(x), (6.0,), CANCELS + "1 - 1 is 0", ""),  # whole, and rounded
    (lambda x: np.sum(x), (np.array([2.0**53, 1.0, -(2.0**53)]),), CANCELS + "a sum is 0", ""),
    (blocks, (LARGE,), CANCELS, "out[1] += x[k]"),
    (lambda x, y: x @ y, (LARGE * 1.1, np.ones(3)), CANCELS + "a sum is", ""),
    (lambda a, b: a @ b, (np.array([LARGE * 1.1] * 2), np.ones((3, 2))), "a product(", ""),
    (lambda a, b: np.linalg.solve(a, b), (HILBERT, np.ones(12)), "digits are lost in this", ""),
    (lambda z: (1.0 + z) - 1.0, (1e-15j + 1e-15,), CANCELS, ""),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(len(LOSE)))
def test_the_line_is_found(number: int) -> None:
    fn, args, message, text = LOSE[number]
    with pytest.raises(DigitsError) as caught:
        adc.check_nans(fn, digits=3)(*args)
    error = caught.value
    assert message in error.message
    assert error.span is not None
    assert error.span.file == __file__
    assert text in linecache.getline(__file__, error.span.line)
    assert error.hint[:6] == "about "
    assert isinstance(error, ArithmeticError)


KEEP: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = [
    (slope, (1e-4,), 7),
    (stable_slope, (1e-8,), 14),
    (adc.grad(stable_slope), (0.5,), 12),
    (stable_roots, (1.0, 1e9, 1.0), 14),
    (stable_variance, (DATA,), 5),
    (adc.grad(stable_variance), (DATA,), 5),
    (exponential, (20.0,), 13),
    (newton, (2.0,), 14),
    (adc.grad(newton), (2.0,), 14),
    (branches, (3.0,), 13),
    (adc.hessian(lambda x: np.sum((x - 1.0) ** 4)), (np.array([0.5, 2.0, -3.0]),), 13),
    (adc.jacfwd(lambda x: np.cumsum(x) ** 2), (np.arange(1.0, 30.0),), 13),
    (adc.jacrev(lambda x: np.cumsum(x) ** 2), (np.arange(1.0, 30.0),), 13),
    (lambda x: np.sum(x), (np.random.default_rng(2).normal(size=1000),), 11),
    (lambda x: np.sum(x) - 100.0, (np.ones(100),), 15),  # exact all along
    (lambda x, y: x - y, (1.0, 1.0 - 1e-16), 15),  # Sterbenz
    (lambda x, y: np.hypot(x, y) - 5.0, (3.0, 4.0), 15),
    (lambda x: x * 1.1 - x * 1.1, (0.3,), 15),  # rounded in the same way
    (lambda x: np.expm1(x) / x, (1e-12,), 14),
    (lambda x: np.exp(x) - 1.0, (0.0,), 15),
    (lambda x: np.sqrt(x), (2.0,), 15),
    (lambda a, b: a @ b, (MATRIX, MATRIX), 12),
    (lambda a, b: np.linalg.solve(a, b), (MATRIX, np.ones(5)), 11),
    (adc.grad(lambda a: np.linalg.slogdet(a)[1]), (MATRIX,), 11),
    (lambda x: {"sum": np.sum(x), "name": "x", "n": 3}, (DATA,), 13),
    (lambda z: z * z + 1.0, (1.0 + 2.0j,), 15),
    (lambda x: np.sum(x), (np.linspace(0.0, 1.0, 50, dtype=np.float32),), 5),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", range(len(KEEP)))
def test_stable_programs(number: int) -> None:
    fn, args, digits = KEEP[number]
    checked = adc.check_nans(fn, digits=digits)(*args)
    made = fn if not getattr(fn, "__name__", "") or hasattr(fn, "ir") else adc.jit(fn)
    np.testing.assert_equal(checked, made(*args))


def test_nans_come_first() -> None:
    with pytest.raises(NotFiniteError, match=r"exp\(800\) is inf"):
        adc.check_nans(lambda x: np.log(np.exp(x)), digits=3)(800.0)


@pytest.mark.full
def test_random_numbers_are_drawn_once() -> None:
    def noisy(x: Any, generator: Any) -> Any:
        return x * generator.normal()

    for made in (adc.jit(noisy), adc.grad(noisy), adc.jacfwd(lambda x, g: noisy(x, g))):
        mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
        assert adc.check_nans(made, digits=3)(2.0, mine) == made(2.0, theirs)
        assert mine.normal() == theirs.normal()


def test_what_is_refused() -> None:
    for digits in (0, 16, True, "3"):
        with pytest.raises(ArgumentError, match="is not a number from 1 to 15"):
            adc.check_nans(slope, digits=digits)  # type: ignore[arg-type]  # as users may
    sparse = adc.jacfwd(lambda x: x**2, sparsity="detect")
    with pytest.raises(ArgumentError, match="of a sparse Jacobian"):
        adc.check_nans(sparse, digits=3)
