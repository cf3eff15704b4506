"""Exceptions, generators, early exits: random programs, and errors that the caller sees."""

from __future__ import annotations

import contextlib
import functools
import math
from typing import Any

import numpy as np
import pytest

import adc
from tests.fuzz.families import fuzz_functions, fuzz_jumps


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    found = fuzz_jumps.check(seed, gradients=seed % 3 == 0)
    assert found.startswith(("ok", "refused")), fuzz_jumps.generate(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 300))
def test_more_random_programs(seed: int) -> None:
    found = fuzz_jumps.check(seed)
    assert found.startswith(("ok", "refused")), fuzz_jumps.generate(seed)


def _guarded(x: Any) -> Any:
    total = 0.0
    try:
        for k in range(4):
            try:
                total += math.log(x[k])
            finally:
                print("finally", k)
    except ValueError as error:
        print("caught", error)
        raise RuntimeError(f"at {total > 0.0}") from error
    return total


@pytest.mark.full
def test_errors_and_what_is_printed_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    gradient = adc.grad(_guarded)
    for x in (np.array([0.5, 2.0, -1.0, 3.0]), np.array([0.5, 2.0])):
        with pytest.raises((RuntimeError, IndexError)) as wanted:
            _guarded(x)
        shown = capsys.readouterr().out
        with pytest.raises(type(wanted.value)) as found:
            gradient(x)
        assert str(found.value) == str(wanted.value)
        assert capsys.readouterr().out == shown
    np.testing.assert_allclose(gradient(np.array([0.5, 2.0, 1.0, 4.0])), [2.0, 0.5, 1.0, 0.25])


# -- callable objects ------------------------------------------------------------------------------


def _model(w: Any, x: Any, y: Any, reg: float = 0.1, *, power: int = 2) -> Any:
    return np.sum((w * x - y) ** power) + reg * np.sum(w * w)


class _Loss:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self, w: Any, k: int = 2) -> Any:
        return np.sum(w * self.x) ** k


W, X, Y = np.array([1.0, 2.0, 0.5]), np.array([0.3, -0.2, 1.0]), np.array([1.0, 0.0, 2.0])


def test_derivatives_of_partials() -> None:
    want = adc.grad(_model, argnums=(0, 2))(W, X, Y)
    by_name = functools.partial(_model, x=X, y=Y)
    np.testing.assert_array_equal(adc.grad(by_name)(W), want[0])
    np.testing.assert_array_equal(adc.grad(by_name, argnames="w")(W), want[0])
    by_position = functools.partial(_model, W, X, reg=0.1)
    np.testing.assert_array_equal(adc.grad(by_position)(Y), want[1])
    fourth = functools.partial(_model, W, power=4)
    assert adc.jit(fourth)(X, Y, 0.5) == pytest.approx(_model(W, X, Y, 0.5, power=4))
    with pytest.raises(adc.AdcError, match="is not a Python function"):
        adc.grad(functools.partial(max, 1.0))


def test_derivatives_of_callable_objects_and_cached_functions() -> None:
    loss = _Loss(X)
    gradient = adc.grad(loss)
    np.testing.assert_allclose(gradient(W), 2.0 * np.sum(W * X) * X)
    loss.x = 2.0 * X
    np.testing.assert_allclose(gradient(W, k=3), 3.0 * np.sum(2.0 * W * X) ** 2 * 2.0 * X)

    @functools.lru_cache
    def cube(x: float) -> float:
        return x**3

    assert adc.grad(cube)(2.0) == 12.0


@pytest.mark.full
def test_a_context_manager_of_the_caller() -> None:
    with contextlib.suppress(ValueError):
        adc.grad(lambda x: math.log(x))(-1.0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_random_functions(seed: int) -> None:
    found = fuzz_jumps.check(seed, generate=fuzz_functions.generate)
    assert found.startswith(("ok", "refused")), fuzz_functions.generate(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_more_random_functions(seed: int) -> None:
    found = fuzz_jumps.check(seed, generate=fuzz_functions.generate)
    assert found.startswith(("ok", "refused")), fuzz_functions.generate(seed)
