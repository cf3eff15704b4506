"""Rows with an algorithm (`adc.ir.ops.algorithms`): values and derivatives, on every machine.

mpmath says what they ought to be, at zero, between the parts of an algorithm and far away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
from scipy.special import expit

import adc
from adc.ir.errors import UnsupportedError
from adc.ir.opdef import OPS
from adc.ir.ops.scipy import kernels


def test_zeta_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    # A row of the same name is a function of the machine, there.
    monkeypatch.setattr(kernels, "floor", np.floor)
    for s in (1.001, 1.5, 2.0, 3.0, 30.0):
        for q in (1e-3, 0.4, 1.0, 2.5, 10.0, 40.0, 1e6, -1.5, -20.25):
            want = scipy.special.zeta(s, q)
            assert kernels.zeta(s, q) == pytest.approx(want, rel=1e-14, nan_ok=True)
    for s, q in ((1.0, 2.0), (0.5, 2.0), (2.0, 0.0), (2.5, -3.0), (np.nan, 2.0), (2.0, np.nan)):
        np.testing.assert_equal(kernels.zeta(s, q), scipy.special.zeta(s, q))


MEANING: dict[str, Callable[[Any], Any]] = {
    "sinc": mpmath.sincpi,
    "i0": lambda x: mpmath.besseli(0, x),
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
}
FUNCTIONS = {"sinc": np.sinc, "i0": np.i0, "expit": expit}
PLACES: dict[str, list[float]] = {
    "sinc": [0.0, -0.0, 1e-300, 1e-9, -0.01, 0.3, 1.0, 1.006, 1.007, -2.5, 3.0, 77.25, 1e6 + 0.5],
    "i0": [0.0, 1e-300, 1e-9, -0.01, 0.3, 7.9, -8.1, 19.99, 20.0, 20.01, 24.1, 50.0, -700.0],
    "expit": [0.0, 1e-300, -0.01, 0.3, -5.0, 20.0, 40.0, -40.0, 500.0, -500.0],
}


def sinc(x: Any) -> Any:
    y = np.empty(len(x), x.dtype)
    for k in range(len(x)):
        y[k] = np.sinc(x[k])
    return y


def i0(x: Any) -> Any:
    y = np.empty(len(x), x.dtype)
    for k in range(len(x)):
        y[k] = np.i0(x[k])
    return y


def logistic(x: Any) -> Any:
    y = np.empty(len(x), x.dtype)
    for k in range(len(x)):
        y[k] = scipy.special.expit(x[k])
    return y


LOOPS = {"sinc": sinc, "i0": i0, "expit": logistic}


def total(fn: Callable[..., Any]) -> Callable[..., Any]:
    def summed(x: Any) -> Any:
        return np.sum(fn(x))

    return summed


def derivatives(name: str, order: int, places: Any) -> Any:
    """Return what mpmath says, exact to double precision."""
    found = []
    for x in places:
        # Differences: their steps are small where the function is smooth on the scale of one.
        with mpmath.workdps(120):
            value = mpmath.diff(MEANING[name], mpmath.mpf(float(x)), order, h=mpmath.mpf(10) ** -25)
            found.append(float(value))
    return np.array(found)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MEANING)
def test_values_and_first_derivatives(name: str) -> None:
    fn, x = LOOPS[name], np.array(PLACES[name])
    want = [derivatives(name, order, x) for order in (0, 1)]
    np.testing.assert_allclose(adc.jit(fn)(x), want[0], rtol=3e-15, atol=1e-22)
    gradient = adc.grad(total(fn))(x)
    np.testing.assert_allclose(gradient, want[1], rtol=3e-15, atol=1e-22)
    tangents = adc.jvp(fn, (x,), (np.ones(len(x)),))[1]
    np.testing.assert_allclose(tangents, gradient, rtol=1e-15)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MEANING)
def test_second_derivatives_in_both_modes(name: str) -> None:
    fn, x = total(LOOPS[name]), np.array(PLACES[name])
    want = derivatives(name, 2, x)
    forward = adc.hvp(fn, (x,), (np.ones(len(x)),))
    np.testing.assert_allclose(forward, want, rtol=1e-13, atol=1e-20)
    inner = adc.grad(fn)

    def slopes(x: Any) -> Any:
        return np.sum(inner(x))

    np.testing.assert_allclose(adc.grad(slopes)(x), want, rtol=1e-13, atol=1e-20)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "fourth"), [("sinc", np.pi**4 / 5), ("i0", 3 / 8), ("expit", 0.0)]
)
def test_fourth_derivative_at_zero(name: str, fourth: float) -> None:
    # A rule with a case for zero of its own would be right up to the second one.
    function = FUNCTIONS[name]

    def value(x: Any) -> Any:
        return function(x) * 1.0

    found = adc.grad(adc.grad(adc.grad(adc.grad(value))))(0.0)
    assert found == pytest.approx(fourth, rel=1e-14, abs=1e-14)


def test_bessel_functions_of_higher_order() -> None:
    for order in range(5):
        for x in (0.5, 8.0, 12.0, 19.9, 22.0, 40.0):
            want = float(mpmath.besseli(order, x) / mpmath.mpf(x) ** order)
            found = OPS["i0"].evaluate(order, np.float64(x))
            assert found == pytest.approx(want, rel=1e-13)


@pytest.mark.full
@pytest.mark.parametrize("name", MEANING)
def test_single_precision(name: str) -> None:
    x = np.array(PLACES[name], np.float32)
    x = x[np.abs(x) < 80.0]
    for order, found in enumerate((adc.jit(LOOPS[name])(x), adc.grad(total(LOOPS[name]))(x))):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, derivatives(name, order, x), rtol=2e-6, atol=1e-37)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MEANING)
@pytest.mark.parametrize("x", [3, True, np.int8(3), np.uint16(2), np.float32(0.3), 0.3,
                               np.arange(3), np.array([[True, False]]), np.ones((2, 0))],
                         ids=repr)  # fmt: skip
def test_dtypes_are_those_of_the_library(name: str, x: Any) -> None:
    function = FUNCTIONS[name]

    def value(x: Any) -> Any:
        return function(x)

    found, want = adc.jit(value)(x), np.asarray(function(x))
    assert np.asarray(found).dtype == want.dtype
    assert np.shape(found) == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-6 if want.dtype == np.float32 else 1e-14,
                               atol=1e-16)  # fmt: skip


@pytest.mark.parametrize("name", MEANING)
def test_special_values(name: str) -> None:
    x = np.array([np.inf, -np.inf, np.nan])
    want = {"sinc": [np.nan] * 3, "i0": [np.inf, np.inf, np.nan], "expit": [1.0, 0.0, np.nan]}
    np.testing.assert_array_equal(adc.jit(LOOPS[name])(x), want[name])


@pytest.mark.parametrize("name", MEANING)
def test_in_the_simulator_of_a_gpu(name: str) -> None:
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 2e-6)):
        x = np.array(PLACES[name], dtype)
        x = x[np.abs(x) < 80.0]
        value, gradient = adc.value_and_grad(total(LOOPS[name]), target="cuda")(x)
        want = derivatives(name, 1, x)
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, want, rtol=tolerance, atol=1e-37)
        assert value == pytest.approx(np.sum(derivatives(name, 0, x)), rel=tolerance)


def test_in_branches_loops_and_under_other_names() -> None:
    def fn(i0: Any, sinc: Any, expit: Any) -> Any:
        bessel_i0 = 0.5 * i0
        for k in range(3):
            if sinc[k] > 0.2:
                bessel_i0 += np.i0(sinc[::2][k]) * np.sinc(expit)
            else:
                expit = scipy.special.expit(sinc[k] - bessel_i0)
        return bessel_i0 + expit

    args: tuple[Any, ...] = (0.3, np.array([0.4, -0.6, 0.9, 0.0, 1.25]), 0.7)
    want, eps = fn(*args), 1e-6
    value, slopes = adc.value_and_grad(fn, (0, 1, 2))(*args)
    assert value == pytest.approx(want, rel=1e-14)
    for k in (0, 2):
        moved = [[*args[:k], args[k] + h, *args[k + 1 :]] for h in (eps, -eps)]
        up, down = (fn(*each) for each in moved)
        assert slopes[k] == pytest.approx((up - down) / (2 * eps), rel=1e-7)
    for j, step in enumerate(np.eye(5) * eps):
        up, down = (fn(args[0], args[1] + h, args[2]) for h in (step, -step))
        assert slopes[1][j] == pytest.approx((up - down) / (2 * eps), rel=1e-7, abs=1e-9)


def test_emitted_code_shows_the_algorithm() -> None:
    def fn(x: Any) -> Any:
        return np.i0(x)

    f = adc.grad(fn)
    f(0.5)
    text = f.source()
    assert text.count("def bessel_i0(order, x):") == 1
    assert "t * bessel_i0(1, t)" in text
    assert "def sinc" not in text


def test_other_arguments_are_refused() -> None:
    def of_function(x: Any) -> Any:
        return np.sum(np.sinc(x, x))  # type: ignore[call-overload]  # refused

    def with_out(x: Any) -> Any:
        return np.sum(np.i0(x, out=x))  # type: ignore[call-overload]  # refused

    def with_where(x: Any) -> Any:
        return np.sum(scipy.special.expit(x, where=x > 0))

    for fn in (of_function, with_out, with_where):
        with pytest.raises(UnsupportedError, match="ADC010"):
            adc.grad(fn)(np.ones(3))


def test_out_of_a_ufunc_of_another_library() -> None:
    def fn(x: Any) -> Any:
        y = np.empty(3)
        scipy.special.expit(x, out=y)
        return np.sum(y * x)

    x = np.array([0.2, -1.0, 3.0])
    want = expit(x) + x * expit(x) * expit(-x)
    np.testing.assert_allclose(adc.grad(fn)(x), want, rtol=1e-14)
