"""Roots of functions of one number: values as SciPy's, derivatives of every order, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import brentq

import adc
from adc.ir.errors import AdcError, LimitError, UnsupportedError
from adc.testing import check_grads


def cubic(x: Any, a: Any, k: Any) -> Any:
    return x * x * x + k * x - a


def slope(x: Any, a: Any, k: Any) -> Any:
    return 3.0 * x * x + k


def by_brentq(a: Any, k: Any) -> Any:
    return brentq(cubic, -10.0, 12.0, args=(a, k))


def by_brentq_loosely(a: Any, k: Any) -> Any:
    return brentq(lambda x: cubic(x, a, k), -4, 9, xtol=1e-3, rtol=1e-5, maxiter=50)


def by_bisect(a: Any, k: Any) -> Any:
    return optimize.bisect(cubic, -10.0, 12.0, (a, k))


def by_secant(a: Any, k: Any) -> Any:
    return optimize.newton(cubic, 1.5, args=(a, k))


def by_secant_from_two(a: Any, k: Any) -> Any:
    return optimize.newton(cubic, 1.5, args=(a, k), x1=2.0, tol=1e-12)


def by_newton(a: Any, k: Any) -> Any:
    return optimize.newton(cubic, 1.5, fprime=slope, args=(a, k), rtol=1e-10)


def by_halley(a: Any, k: Any) -> Any:
    return optimize.newton(
        lambda x: cubic(x, a, k), 3, lambda x: slope(x, a, k), fprime2=lambda x: 6.0 * x
    )


WAYS = [
    by_brentq, by_brentq_loosely, by_bisect, by_secant, by_secant_from_two, by_newton, by_halley,
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("program", WAYS)
def test_values_are_those_of_scipy(program: Callable[..., Any]) -> None:
    code = adc.jit(program)
    for a in np.linspace(-3.0, 40.0, 60):
        assert code(a, 1.5) == program(float(a), 1.5)
    assert code(0.0, 1.0) == program(0.0, 1.0)


@pytest.mark.full
@pytest.mark.parametrize("program", [by_brentq, by_bisect, by_newton])
def test_derivatives(program: Callable[..., Any]) -> None:
    def loss(a: Any, k: Any) -> Any:
        return program(a, k) ** 2 * a

    check_grads(loss, (2.0, 1.5))


@pytest.mark.full
def test_derivatives_of_every_order() -> None:
    found: Any = by_brentq
    x = by_brentq(2.0, 1.5)
    d = 3.0 * x * x + 1.5
    first, second = 1.0 / d, -6.0 * x / d**3
    third = -6.0 / d**4 + 108.0 * x * x / d**5
    fourth = 360.0 * x / d**6 - 3240.0 * x**3 / d**7
    for wanted in (first, second, third, fourth):
        found = adc.grad(found)
        assert found(2.0, 1.5) == pytest.approx(wanted, rel=1e-9)
    assert adc.hvp(by_brentq, (2.0, 1.5), (1.0, 0.0))[0] == pytest.approx(second, rel=1e-12)


@pytest.mark.full
def test_derivatives_by_what_a_function_captures() -> None:
    def program(v: Any) -> Any:
        total = 0.0
        for k in range(3):
            total += brentq(lambda x, k=k: x**3 + v[k] * x - v[0], -9.0, 9.0)
        return total

    v = np.array([1.0, 2.0, 0.5])
    got = adc.grad(program)(v)
    h = 1e-6
    wanted = [(program(v + h * e) - program(v - h * e)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(got, wanted, rtol=1e-7)


def opposite(a: Any) -> Any:
    return brentq(lambda x: x * x + a, -1.0, 1.0)


def tolerance(a: Any) -> Any:
    return brentq(lambda x: x - a, -1.0, 1.0, xtol=-1.0)


def not_a_number(a: Any) -> Any:
    return brentq(lambda x: np.log(x) - a, -1.0, 1.0)


def too_few(a: Any) -> Any:
    return optimize.bisect(lambda x: x**3 - a, -90.0, 1.0, maxiter=3)


def flat(a: Any) -> Any:
    return optimize.newton(lambda x: x * x + a, 0.0, lambda x: 2.0 * x)


def never(a: Any) -> Any:
    return optimize.newton(lambda x: x * x + a, 0.3, maxiter=5)


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("program", [opposite, tolerance, not_a_number, too_few, flat, never])
def test_errors_are_those_of_scipy(program: Callable[..., Any]) -> None:
    with pytest.raises((ValueError, RuntimeError)) as wanted:
        program(0.1)
    with pytest.raises(type(wanted.value)) as found:
        adc.jit(program)(0.1)
    assert str(found.value) == str(wanted.value)


ARRAYS: list[dict[str, Any]] = [
    {}, {"fprime": slope, "fprime2": lambda x, a, k: 6.0 * x}, {"fprime": slope, "rtol": 1e-3},
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", ARRAYS)
def test_newton_of_arrays(options: dict[str, Any]) -> None:
    def program(a: Any, start: Any) -> Any:
        return optimize.newton(cubic, start, args=[a, 1.5], **options)

    code = adc.jit(program)
    one = [np.array([5.0])] if "fprime" in options else []
    for a in (np.linspace(1.0, 40.0, 7), np.array([[3.0, 4.0]]), *one):
        start = np.sqrt(a)
        np.testing.assert_allclose(code(a, start), program(a, start), rtol=1e-14)
    check_grads(lambda a: np.sum(program(a, a) * a), (np.array([3.0, 4.0]),), rtol=1e-4)


def test_newton_of_arrays_refuses_what_has_no_derivative_here() -> None:
    def coupled(a: Any) -> Any:
        return optimize.newton(lambda x: x + 0.1 * x[::-1] - a, a, lambda x: np.ones(2), tol=1e-9)

    def some(a: Any) -> Any:
        return optimize.newton(lambda x: x * x + a, np.ones(2), lambda x: 2.0 * x)

    np.testing.assert_allclose(coupled(np.ones(2)), np.ones(2) / 1.1)
    with pytest.raises(LimitError, match="depend on several"):
        adc.jit(coupled)(np.ones(2))
    with pytest.raises(LimitError, match="do not converge"):
        adc.jit(some)(np.array([-2.0, 2.0]))
    with pytest.raises(AdcError, match="one element"):
        adc.jit(lambda a: optimize.newton(lambda x: x - a, a))(np.ones(1))


def test_refused() -> None:
    with pytest.raises(UnsupportedError, match="full_output"):
        adc.jit(lambda a: brentq(lambda x: x - a, -1.0, 1.0, full_output=True)[0])(0.1)
    with pytest.raises(UnsupportedError, match=r"scipy\.optimize\.broyden1") as error:
        adc.jit(lambda a: optimize.broyden1(lambda x: x - a, 1.0))(0.1)
    assert "adc.implicit" in error.value.hint
