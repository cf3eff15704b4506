"""`scipy.optimize.curve_fit`: parameters and covariances, and their derivatives by the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import curve_fit

import adc
from adc.ir.errors import AdcError

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 3.0, 30)
Y = 2.0 * np.exp(-1.3 * X) + 0.5 + 0.05 * RNG.normal(size=30)
SIGMA = RNG.uniform(0.5, 2.0, 30)
D = RNG.normal(size=30)
WEIGHTS = np.array([1.0, 2.0, 3.0])
TIGHT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


def model(x: Any, a: Any, b: Any, c: Any) -> Any:
    return a * np.exp(-b * x) + c


class Decay:
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, x: Any, a: Any, b: Any) -> Any:
        return self.scale * a * np.exp(-b * x)

    def jac(self, x: Any, a: Any, b: Any) -> Any:
        e = self.scale * np.exp(-b * x)
        return np.stack((e, -a * x * e), axis=1)


def plain(y: Any) -> Any:
    p, _ = curve_fit(model, X, y, xtol=1e-14, ftol=1e-14)
    return np.sum(p * WEIGHTS)


def weighted(y: Any) -> Any:
    _, cov = curve_fit(model, X, y, p0=[1.0, 1.0, 0.0], sigma=SIGMA, xtol=1e-14, ftol=1e-14)
    return np.sum(np.sqrt(np.diag(cov)))


def active_errors(y: Any) -> Any:
    p, cov = curve_fit(
        model, X, Y, (1.0, 1.0, 0.0), SIGMA * np.exp(y), absolute_sigma=True, xtol=1e-14, ftol=1e-14
    )
    return np.sum(p) + cov[0, 1]


def correlated(y: Any) -> Any:
    sigma = 0.1 * np.eye(30) + 0.05 * np.exp(y[3])
    p, cov = curve_fit(model, X, y, sigma=sigma, method="trf", **TIGHT)
    return np.sum(p) + np.sum(cov)


def bounded(y: Any) -> Any:
    p, _ = curve_fit(model, X, y, bounds=([0, 0, 0.6], [10, 10, 3]), **TIGHT)
    return np.sum(p * WEIGHTS)


def active_bound(y: Any) -> Any:
    lower = [0.0, 0.0, 0.6 + 0.01 * y[0]]
    p, _ = curve_fit(model, X, y, bounds=(lower, np.inf), **TIGHT)
    return np.sum(p * WEIGHTS)


def of_an_object(y: Any) -> Any:
    decay = Decay(y[3])
    p, cov = curve_fit(decay, X * np.exp(0.1 * y), y, jac=decay.jac, xtol=1e-14, ftol=1e-14)
    return p[0] * p[1] + cov[1, 1]


def any_number(y: Any) -> Any:
    p, cov = curve_fit(lambda x, *q: q[0] + q[1] * x[0] + q[2] * x[1], (X, X**2), y, np.ones(3))
    return p[0] * p[1] + 10.0 * cov[0, 2]


PROGRAMS = [
    plain, weighted, active_errors, correlated, bounded, active_bound, of_an_object, any_number
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program: Callable[..., Any]) -> None:
    np.testing.assert_allclose(adc.jit(program)(Y), program(Y), rtol=1e-6)
    gradient = adc.grad(program)(Y)
    h = 0.003
    ones, twos = (program(Y + k * h * D) - program(Y - k * h * D) for k in (1, 2))
    np.testing.assert_allclose(gradient @ D, (8.0 * ones - twos) / (12.0 * h), rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(adc.jvp(program, (Y,), (D,))[1], gradient @ D, rtol=1e-9)


@pytest.mark.full
def test_a_line_as_by_hand() -> None:
    def line(y: Any) -> Any:
        return curve_fit(lambda x, a, b: a + b * x, X, y)[0]

    found = adc.jacrev(line)(Y)
    a = np.stack((np.ones(30), X), axis=1)
    np.testing.assert_allclose(found, np.linalg.solve(a.T @ a, a.T), rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_data_may_be_unchecked() -> None:
    def line(y: Any, check: Any) -> Any:
        return curve_fit(lambda x, a, b: a + b * x, X, y, [1.0, 2.0], check_finite=check)[0]

    run = adc.jit(line)
    bad = np.where(X > 1.0, np.inf, Y)
    np.testing.assert_allclose(adc.jit(lambda y: line(y, True))(Y), line(Y, True), rtol=1e-6)
    with pytest.warns(optimize.OptimizeWarning):
        np.testing.assert_array_equal(run(bad, False), line(bad, False))


@pytest.mark.full
def test_what_has_no_derivative() -> None:
    as_many = adc.grad(lambda y: curve_fit(lambda x, a, b: a + b * x, X[:2], y[:2])[0][0])
    with pytest.warns(optimize.OptimizeWarning, match="could not be estimated"):
        found = as_many(Y)
    np.testing.assert_allclose(found[:2], [1.0, 0.0], atol=1e-9)


def unknown_number(y: Any) -> Any:
    n = 2 if y[0] > 0.0 else 3
    return curve_fit(lambda x, *q: q[0] * x, X, y, np.ones(n))[0][0]


@pytest.mark.parametrize(
    ("program", "argument", "text"),
    [
        (unknown_number, Y, "the number of parameters is not known"),
        (lambda y: curve_fit(model, X, y, full_output=True)[0], Y, "'full_output'"),
        (lambda y: curve_fit(model, X, y, nan_policy="omit")[0], Y, "'nan_policy'"),
        (lambda y: curve_fit(model, X, y, jac="3-point")[0], Y, "`jac` that is a name"),
        (lambda y: curve_fit(model, X, y, loss="huber")[0], Y, "'loss'"),
    ],
    ids=["number", "full_output", "nan_policy", "jac", "loss"],
)
def test_refused(program: Callable[..., Any], argument: Any, text: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.jit(program)(argument)
    assert text in str(caught.value)


@pytest.mark.full
@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (lambda y: curve_fit(model, X, y, maxfev=2)[0][0], RuntimeError, "Optimal parameters not"),
        (lambda y: curve_fit(model, X[:2], y[:2])[0][0], TypeError, "must not exceed"),
        (lambda y: curve_fit(model, X, y * np.nan)[0][0], ValueError, "must not contain"),
        (
            lambda y: curve_fit(model, np.where(X > 1, np.nan, X), y)[0][0],
            ValueError,
            "must not contain",
        ),
        (lambda y: curve_fit(model, X, y, bounds=(2, 1))[0][0], ValueError, "lower bound"),
    ],
    ids=["maxfev", "few", "nan", "nan in x", "bounds"],
)
def test_errors_are_scipys(
    program: Callable[..., Any], error: type[Exception], text: str
) -> None:  # fmt: skip
    with pytest.raises(error, match=text):
        program(Y)
    with pytest.raises(error, match=text):
        adc.grad(program)(Y)
