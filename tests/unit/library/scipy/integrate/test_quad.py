"""`scipy.integrate.quad`: values, derivatives by limits and parameters, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

import adc
from adc.ir.errors import UnsupportedError

V = np.array([1.5, 0.8, 0.7])


def captured(v: Any) -> Any:
    return quad(lambda t: np.exp(-v[0] * t * t) * np.cos(v[1] * t), 0.1, 2.0)[0]


def arguments(v: Any) -> Any:
    value, _ = quad(lambda t, c: np.exp(-c * t * t) * np.cos(v[1] * t), v[2], v[0] ** 2, args=v[0])
    return value


def backwards(v: Any) -> Any:
    return quad(lambda t: np.sin(v[1] * t), v[0], v[2] - 1.0, epsabs=1e-12, limit=80)[0]


def half_line(v: Any) -> Any:
    return quad(lambda t: np.exp(-v[0] * t) * t ** v[1], 0, np.inf)[0]


def other_half(v: Any) -> Any:
    return quad(lambda t: np.exp(v[0] * t), -np.inf, v[1])[0]


def whole_line(v: Any) -> Any:
    return quad(lambda t: np.exp(-((t - v[0]) ** 2) * v[1]), -np.inf, np.inf)[0]


def singular(v: Any) -> Any:
    return quad(lambda t: t ** (v[1] - 1.0) * (1.0 - t) ** (v[0] - 1.3), 0, 1)[0]


def with_points(v: Any) -> Any:
    return quad(lambda t: abs(t - 0.4) * v[1] + (t > 0.3) * v[2], v[0], -1.0, points=[0.3, 0.4])[0]


def step(v: Any) -> Any:
    return quad(lambda t: v[1] if t > 0.25 else v[2] * t, 0.0, v[0], points=[0.25])[0]


def nested(v: Any) -> Any:
    def inner(x: Any) -> Any:
        return quad(lambda t: np.exp(-v[0] * t * x), 0.0, x)[0]

    return quad(inner, 0.0, v[1])[0]


PROGRAMS = [
    captured, arguments, backwards, half_line, other_half, whole_line, singular, with_points, step,
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program: Callable[..., Any]) -> None:
    np.testing.assert_allclose(adc.jit(program)(V), program(V), rtol=1e-14)
    gradient = adc.grad(program)
    h = 1e-4
    wanted = [(program(V + h * e) - program(V - h * e)) / (2.0 * h) for e in np.eye(3)]
    got = gradient(V)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)
    along = np.array([0.3, -0.4, 0.5])
    tangent = adc.jvp(program, (V,), (along,))[1]
    np.testing.assert_allclose(tangent, got @ along, rtol=1e-9, atol=1e-12)
    second = (gradient(V + h * along) - gradient(V - h * along)) / (2.0 * h)
    np.testing.assert_allclose(adc.hvp(program, (V,), (along,)), second, rtol=1e-6, atol=1e-7)


@pytest.mark.full
def test_derivatives_beside_mpmath() -> None:
    with mpmath.workdps(30):
        gamma = mpmath.diff(lambda p: mpmath.gamma(p + 1) / mpmath.mpf(1.5) ** (p + 1), 0.8)
        beta = mpmath.diff(lambda p: mpmath.beta(p, 1.2), 0.8)
        curved = mpmath.diff(lambda p: mpmath.beta(p, 1.2), 0.8, 2)
    assert adc.grad(half_line)(V)[1] == pytest.approx(float(gamma), rel=1e-10)
    assert adc.grad(singular)(V)[1] == pytest.approx(float(beta), rel=1e-9)
    unit = np.array([0.0, 1.0, 0.0])
    assert adc.hvp(singular, (V,), (unit,))[1] == pytest.approx(float(curved), rel=1e-8)


def test_limits() -> None:
    def square(t: Any) -> Any:
        return t * t

    assert adc.grad(lambda b: quad(square, 0.0, b)[0])(2.0) == 4.0
    assert adc.grad(lambda a: quad(square, a, 3)[0])(2.0) == -4.0


@pytest.mark.full
def test_of_numbers() -> None:
    found = adc.grad(lambda a: quad(np.sin, 0.0, a)[0])(2.0)
    assert found == pytest.approx(np.sin(2.0), rel=1e-15)
    assert adc.jit(lambda n: quad(np.sin, 0, n)[0])(2) == quad(np.sin, 0, 2)[0]
    # At a limit that is a constant the function is not called.
    assert adc.grad(lambda a: quad(lambda t: a * np.log(t), 0.0, a)[0])(1.0) == pytest.approx(-1.0)
    single = adc.grad(lambda a: quad(lambda t: np.exp(t * a), 0.0, 1.0)[0])(np.float32(1.0))
    assert type(single) is np.float32
    assert single == pytest.approx(1.0, rel=1e-6)
    assert adc.jit(lambda a: quad(np.sin, a, a))(1.0) == (0.0, 0.0)


@pytest.mark.full
def test_within_an_integral() -> None:
    assert adc.jit(nested)(V) == pytest.approx(nested(V), rel=1e-13)


@pytest.mark.full
def test_errors_are_those_of_scipy() -> None:
    with pytest.raises(ValueError, match="Invalid 'limit' argument"):
        adc.jit(lambda a: quad(np.sin, 0.0, a, limit=0)[0])(1.0)
    with pytest.raises(RuntimeError, match="does not converge"):
        adc.grad(_divergent)(1.0)


def _divergent(a: Any) -> Any:
    """The value is cut off, its derivative diverges."""
    return quad(lambda t: np.where(a > 0.0, 1.0, 0.0) + (a - 1.0) / t, 0, 1)[0]


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda a: quad(np.sin, 0.0, a, weight="cos", wvar=1.0)[0], "`weight`"),
    (lambda a: quad(np.sin, 0.0, a, full_output=1)[0], "`full_output`"),
    (lambda a: quad(np.sin, 0.0, a, complex_func=True)[0], "`complex_func`"),
    (lambda a: quad(np.sin, 0.0, a, other=1)[0], "'other'"),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("program", "text"), REFUSED)
def test_refused(program: Callable[..., Any], text: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        adc.jit(program)(0.3)
    assert text in str(caught.value)
