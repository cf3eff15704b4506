"""Derivatives by differences: right ones pass at every scale, wrong ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.testing import check_grads
from adc.testing.differences import Comparison, Outcome, compare, scales

Function = Callable[[Any], Any]
EPSILON = 2.0**-52


def _compared(fn: Function, at: Any, gradient: Any, tolerance: float = 1e-6) -> list[Comparison]:
    found = []
    for k, (size, slope) in enumerate(zip(scales(at), gradient, strict=True)):
        direction = np.zeros(len(at))
        direction[k] = size

        def line(t: Any, direction: Any = direction) -> Any:
            return np.atleast_1d(fn(at + t * direction))

        slopes = np.array([slope * size])
        with np.errstate(all="ignore"):
            found += compare(line, slopes, tolerance=tolerance, epsilon=EPSILON)
    return found


def _outcomes(*given: Any) -> list[Outcome]:
    return [each.outcome for each in _compared(*given)]


# Functions, their gradients, and places: each number counts in the sum that it is part of.
SMOOTH: dict[str, tuple[Function, Function, list[list[float]]]] = {
    "another scale": (
        lambda x: np.sin(x[0]) + 1e-5 * x[1], lambda x: np.array([np.cos(x[0]), 1e-5]),
        [[0.1, 1e5]],
    ),
    "log": (
        lambda x: np.sum(np.log(x)), lambda x: 1.0 / x,
        [[1e-300, 1e-4, 2.0], [1e-12, 1.0, 1e12], [1e300, 1e300, 1.0]],
    ),
    "square root": (
        lambda x: np.sum(np.sqrt(x)), lambda x: 0.5 / np.sqrt(x),
        [[1e-12, 1e-11], [1e12, 1e10], [1.0, 2.0]],
    ),
    "sine": (
        lambda x: np.sum(np.sin(x)), np.cos, [[1e-12, 3e-12], [0.3, 1.2], [1e5, 3e6], [1e12, 2e12]],
    ),
    "fast sine": (
        lambda x: np.sum(np.sin(1e6 * x)), lambda x: 1e6 * np.cos(1e6 * x), [[0.3, 1.0, 2e-7]],
    ),
    "square": (lambda x: np.sum(x * x), lambda x: 2.0 * x, [[1e12], [1e-12], [-3.0, 2.0], [0.0]]),
    "cube": (lambda x: np.sum(x**3), lambda x: 3.0 * x * x, [[0.0], [0.0, 1.0], [1e-12]]),
    "power": (lambda x: np.sum(x**7.5), lambda x: 7.5 * x**6.5, [[1e-5], [2.0, 3.0], [1e5]]),
    "exponential": (lambda x: np.sum(np.exp(x)), np.exp, [[700.0], [-300.0], [1e-12, 1.0]]),
    "Python's functions": (
        lambda x: math.sin(x[0]) * math.exp(x[1]),
        lambda x: np.array([math.cos(x[0]), math.sin(x[0])]) * math.exp(x[1]), [[0.3, -20.0]],
    ),
    "a large constant": (lambda x: 1e6 + np.sum(x * x), lambda x: 2.0 * x, [[1.0, 30.0]]),
    "norm": (np.linalg.norm, lambda x: x / np.linalg.norm(x), [[3e-12, 4e-12], [1e12, 2e12]]),
}  # fmt: skip
PIECEWISE: dict[str, tuple[Function, Function, list[list[float]]]] = {
    "absolute value": (
        lambda x: np.sum(np.abs(x)), np.sign, [[1e-12, -2e-12], [3.0, -1.0], [-1e12]],
    ),
    "Huber's loss": (
        lambda x: np.sum(np.where(np.abs(x) < 1.0, 0.5 * x * x, np.abs(x) - 0.5)),
        lambda x: np.clip(x, -1.0, 1.0), [[0.5, -3.0, 0.9, 5.0, -0.3], [1.1, 1e-3], [1e6, 3e5]],
    ),
    "rectifier": (lambda x: np.sum(np.maximum(x, 0.0)), lambda x: (x > 0.0) * 1.0, [[1e-9, 2.0]]),
    "floor": (lambda x: np.sum(x * np.floor(x)), np.floor, [[1.7, 100.2, -3.5]]),
    "a loop that ends early": (
        lambda x: next(x[0] ** k for k in range(2, 60) if x[0] ** k > 50.0),
        lambda x: np.array([6.0 * x[0] ** 5]), [[2.0]],
    ),
}  # fmt: skip
ALL = [(*case[:2], at) for case in [*SMOOTH.values(), *PIECEWISE.values()] for at in case[2]]
NAMES = [name for name, case in [*SMOOTH.items(), *PIECEWISE.items()] for _ in case[2]]


@pytest.mark.parametrize(("fn", "gradient", "at"), ALL, ids=NAMES)
def test_right_derivatives(fn: Function, gradient: Function, at: list[float]) -> None:
    x = np.array(at)
    assert _outcomes(fn, x, gradient(x)) == [Outcome.AGREES] * len(at)


WRONG: dict[str, Function] = {
    "one in ten thousand": lambda g: g * (1.0 + 1e-4),
    "sign": lambda g: -g,
    "factor": lambda g: 0.5 * g,
    "zero": lambda g: 0.0 * g,
    "nan": lambda g: np.nan * g,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("fn", "gradient", "at"), ALL, ids=NAMES)
def test_wrong_derivatives(fn: Function, gradient: Function, at: list[float], wrong: Any) -> None:
    x = np.array(at)
    right = gradient(x)
    # Where the function changes by less than its rounding, nothing can be seen.
    seen = np.abs(right * x) > 1e-9 * abs(fn(x))
    found = _outcomes(fn, x, wrong(right))
    for outcome, visible in zip(found, seen, strict=True):
        assert not visible or outcome is Outcome.DIFFERS


@pytest.mark.parametrize("claimed", [0.0, 1.0, -1.0])
@pytest.mark.parametrize(
    ("fn", "at"),
    [
        (lambda x: np.sum(np.abs(x)), 0.0),
        (lambda x: np.sum(np.maximum(x, 0.0)), 0.0),
        (lambda x: np.sum(np.where(x < 2.0, x, 3.0 * x - 4.0)), 2.0),
        (lambda x: np.sum(np.floor(x)) * 1.0, 3.0),
        (lambda x: np.sum(np.sqrt(np.abs(x))), 0.0),
        (lambda x: np.sum(np.cbrt(x)), 0.0),
        (lambda x: np.sum(np.sqrt(x)), 0.0),
        (lambda x: np.log(x[0]), -1.0),
        (lambda x: math.sqrt(x[0].real), 0.0),
    ],
    ids=["abs", "max", "kink", "jump", "cusp", "vertical", "edge", "nan", "raises"],
)
def test_what_cannot_be_decided(fn: Function, at: float, claimed: float) -> None:
    (found,) = _compared(fn, np.array([at]), [claimed])
    assert found.outcome is Outcome.UNDECIDED or (claimed == 0.0 and found.expected == 0.0)
    assert found.reason or found.outcome is not Outcome.UNDECIDED


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e-2])
def test_noise(size: float) -> None:
    rng = np.random.default_rng(0)

    def fn(x: Any) -> Any:
        return np.sin(x[0]) * (1.0 + size * rng.standard_normal())

    for _ in range(20):
        x = rng.uniform(0.2, 1.2, 1)
        right, wrong = (_compared(fn, x, [c * np.cos(x[0])])[0].outcome for c in (1.0, -1.0))
        assert right is not Outcome.DIFFERS
        assert wrong is not Outcome.AGREES


def test_a_complex_step_counts_where_a_difference_confirms_it() -> None:
    # The imaginary part of the modulus is zero.
    x = np.array([0.3, -0.7])
    assert (
        _outcomes(lambda v: np.sqrt(np.sum(np.abs(v) ** 2)), x, x / np.linalg.norm(x))
        == [Outcome.AGREES] * 2
    )
    # Noise that hides the sixth digit; the complex step knows it.
    (found,) = _compared(
        lambda v: np.sin(v[0]) + 1e-8 * np.round(1e4 * v[0].real), np.array([0.5]),
        [math.cos(0.5) * (1.0 + 1e-5)],
    )  # fmt: skip
    assert found.outcome is not Outcome.AGREES


def test_several_results_at_once() -> None:
    def line(t: Any) -> Any:
        return np.array([np.sin(0.5 + t), abs(t), 3.0, 1.0 / 0.0 if t.real > 0.1 else t])

    found = compare(line, np.array([math.cos(0.5), 0.0, 0.0, 2.0]), tolerance=1e-6, epsilon=EPSILON)
    assert [each.outcome for each in found] == [
        Outcome.AGREES, Outcome.UNDECIDED, Outcome.AGREES, Outcome.DIFFERS,
    ]  # fmt: skip


# -- check_grads -----------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1.0, 1e6, 1e12])
def test_scales(scale: float) -> None:
    x = scale * np.array([0.3, 1.1, 2.7])
    check_grads(lambda v: np.sum(np.log(v)), (x,))
    check_grads(lambda v: {"a": v * v, "b": np.sqrt(v[0])}, (x,))


@pytest.mark.full
def test_two_scales_and_second_order() -> None:
    check_grads(
        lambda v, n, s: np.sin(v[0]) * n + 1e-5 * v[1] * s, (np.array([0.1, 1e5]), 3, 2.0), order=2
    )
    check_grads(lambda x: np.sin(x) * 2.0, (np.float32(0.3),))


def _planted(factor: Any) -> Any:
    fn = adc.custom_vjp(lambda x: np.sum(x * x))
    fn.defvjp(lambda x: (np.sum(x * x), x), lambda x, ct: (2.0 * factor * x * ct,))
    return lambda x: fn(x)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [-1.0, 0.5, 0.0, 1.0001, np.nan])
def test_a_wrong_entry_of_many(factor: float, dtype: Any) -> None:
    x = np.array([1.0, 1e-3, 5.0], dtype)
    factors = np.array([1.0, factor, 1.0], dtype)
    if dtype == np.float32:  # of which less is known
        x[1], factors[1] = 0.5, 1.01 if factor == 1.0001 else factor
    with pytest.raises(AssertionError, match="reverse mode: result 0 has the derivative"):
        check_grads(_planted(factors), (x,), modes="rev")
    check_grads(_planted(np.ones(3, dtype)), (x,), modes="rev")


def test_nothing_to_decide() -> None:
    with pytest.raises(AssertionError, match=r"cannot decide any derivative .* kink"):
        check_grads(lambda x: np.sum(np.abs(x)), (np.zeros(2),))
    # Some are enough.
    check_grads(lambda x: np.abs(x), (np.array([0.0, 1.0]),), modes="fwd")


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def fn(x: Any) -> Any:
        print("value", x)
        return x * x

    check_grads(fn, (2.0,), modes="fwd")
    assert capsys.readouterr().out.count("value") <= 3
