"""`adc.check_nans`: where the first NaN or infinity arises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import NotFiniteError


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
     "an infinity arises before, in line 17: 0.5 / 0 is inf"),
    (energy, (np.array([4.5, 3.5]),),
     "a NaN arises in this line: log(-0.5) is nan, in iteration 4 of the loop in line 22, at index "
     "1", ""),
    (softmax, (np.array([1.0, 800.0]),), "a NaN arises in this line: inf / inf is nan, at index 1",
     "in line 28: exp(800) is inf"),
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


@pytest.mark.full
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


def columns(x: Any) -> Any:
    return np.sqrt(x) * np.sum(x**2)


def twice(x: Any) -> Any:
    out = np.zeros(2)
    for _ in range(2):
        out[1] += x * 1e308
    return out


ONES = np.ones(3)
ZERO = np.array([1.0, 0.0, 2.0])
MANY = np.append(np.ones(39), 0.0)
# Each derivative, and what it is called with.
DERIVATIVES: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    ("jacfwd", adc.jacfwd(columns), (ZERO,)),
    ("jacrev", adc.jacrev(columns), (ZERO,)),
    ("jacfwd in several runs", adc.jacfwd(columns), (MANY,)),
    ("jacrev in several runs", adc.jacrev(columns), (MANY,)),
    ("sparse", adc.jacfwd(lambda x: np.sqrt(x), sparsity="detect"), (MANY,)),
    ("value_and_jac", adc.value_and_jac(columns), (ZERO,)),
    ("hessian", adc.hessian(distance), (ONES,)),
    ("third order", adc.jacfwd(adc.hessian(distance)), (ONES,)),
    ("hvp", adc.hvp, (distance, (ONES,), (ONES,))),
    ("hvp as a function", adc.hvp(distance), (ONES, ONES)),
    ("jvp", partial(adc.jvp, columns), ((ZERO,), (ONES,))),
    ("vjp", adc.vjp(columns, ZERO)[1], (ONES,)),
    ("linearize", adc.linearize(columns, ZERO)[1], (ONES,)),
    ("vmap of grad", adc.vmap(adc.grad(distance)), (np.ones((2, 3)),)),
    ("vmap of jacfwd", adc.vmap(adc.jacfwd(columns)), (np.stack([ONES, ZERO]),)),
    ("jacfwd of vmap", adc.jacfwd(adc.vmap(columns)), (np.stack([ONES, ZERO]),)),
    ("grad of grad", adc.grad(adc.grad(lambda x: x**1.5)), (0.0,)),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("derivative", "args"), [row[1:] for row in DERIVATIVES], ids=[row[0] for row in DERIVATIVES]
)
def test_every_derivative(derivative: Callable[..., Any], args: tuple[Any, ...]) -> None:
    with pytest.raises(
        NotFiniteError, match=r"arises in (the derivative of )?this line: "
    ) as caught:
        adc.check_nans(derivative)(*args)
    span = caught.value.span
    assert span is not None
    assert span.file == __file__


@pytest.mark.full
def test_derivatives_that_are_finite() -> None:
    for derivative in (adc.jacfwd(columns), adc.jacrev(columns), adc.hessian(energy)):
        x = np.array([4.5, 5.5])
        np.testing.assert_array_equal(adc.check_nans(derivative)(x), derivative(x))
    value, pull = adc.check_nans(adc.vjp)(columns, ZERO)  # the value is finite, and the pullback is
    assert np.all(np.isfinite(value))  # not looked at
    assert callable(pull)


def test_tangents() -> None:
    with pytest.raises(NotFiniteError, match="a NaN is in a tangent or a cotangent of columns"):
        adc.check_nans(adc.jvp)(columns, (ONES,), (ONES * np.nan,))


def test_additions_without_a_statement() -> None:
    with pytest.raises(NotFiniteError, match=r"1e\+308 \+ 1e\+308 is inf, in iteration 1 of"):
        adc.check_nans(twice)(1.0)
    with pytest.raises(NotFiniteError, match="a sum is inf"):
        adc.check_nans(lambda x: np.sum(x))(np.array([1e308, 1e308]))
