"""`adc.check_nans`: where the first NaN or infinity arises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import ArgumentError, NotFiniteError


def distance(x: Any) -> Any:
    return np.sqrt(np.sum((x - 1.0) ** 2))


def energy(x: Any) -> Any:
    total = 0.0
    for k in range(5):
        total += np.sum(np.log(x - k))
    return total


def softmax(x: Any) -> Any:
    e = np.exp(x)
    return np.sum(e / np.sum(e))


def power(x: Any) -> Any:
    return np.sum(x**0.5)


def recursive(x: Any, n: Any) -> Any:
    if n == 0:
        return np.sum(x / (x - 2.0))
    return recursive(x + 1.0, n - 1)


def descent(x: Any) -> Any:
    steps = 0
    while steps < 4:
        x = x - np.sqrt(x - 1.0)
        steps += 1
    return np.sum(x)


def product(z: Any) -> Any:
    return z * z * 1e200


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], str, str]] = [
    (adc.grad(distance), (np.ones(2),), "a NaN arises in the derivative of this line: inf * 0 is",
     "an infinity arises before, in line 16: 0.5 / 0 is inf"),
    (energy, (np.array([4.5, 3.5]),),
     "a NaN arises in this line: log(-0.5) is nan, in iteration 4 of the loop in line 21, at index "
     "1", ""),
    (softmax, (np.array([1.0, 800.0]),), "a NaN arises in this line: inf / inf is nan, at index 1",
     "in line 27: exp(800) is inf"),
    (adc.value_and_grad(power), (np.array([1.0, 0.0]),),
     "an infinity arises in the derivative of this line: 0 ** -0.5 is inf, at index 1", ""),
    (recursive, (np.array([0.0]), 2), "an infinity arises in this line: 2 / 0 is inf", ""),
    (descent, (np.array([1.5]),), "a NaN arises in this line: sqrt(", ""),
    (power, (np.array([1.0, np.nan]),), "a NaN is in the argument 'x' of power()", ""),
    (product, (1e100 + 1e100j,), "an infinity arises in this line: ", ""),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "args", "message", "hint"), CASES, ids=[row[2] for row in CASES])
def test_the_first_one_is_found(
    fn: Callable[..., Any], args: tuple[Any, ...], message: str, hint: str
) -> None:
    with pytest.raises(NotFiniteError) as caught:
        adc.check_nans(fn)(*args)
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint
    assert isinstance(caught.value, FloatingPointError)
    span = caught.value.span
    assert span is not None
    assert span.file == __file__


def test_finite_results_are_returned() -> None:
    checked = adc.check_nans(adc.value_and_grad(distance))
    value, slope = checked(np.array([1.0, 3.0]))
    assert value == 2.0
    np.testing.assert_array_equal(slope, [0.0, 1.0])

    def masked(x: Any) -> Any:
        return {"total": np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)), "name": "roots"}

    assert adc.check_nans(masked)(np.array([4.0, -1.0])) == {"total": 2.0, "name": "roots"}
    drawn = adc.check_nans(lambda g: g.normal())
    assert drawn(np.random.default_rng(3)) == np.random.default_rng(3).normal()


def test_random_numbers_are_those_of_the_call() -> None:
    def noisy(x: Any, generator: Any) -> Any:
        return np.log(x + generator.normal())

    mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
    drawn = theirs.normal()
    with pytest.raises(NotFiniteError, match="log") as caught:
        adc.check_nans(noisy)(-9.0, mine)
    assert f"{drawn - 9.0:.6g}" in caught.value.message
    assert mine.normal() == theirs.normal()


def test_jacobians_are_refused() -> None:
    with pytest.raises(ArgumentError, match="of a Jacobian"):
        adc.check_nans(adc.jacfwd(distance))
