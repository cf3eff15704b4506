"""`adc.scipy`: SciPy's solvers of functions of structures, beside SciPy's of vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate, optimize, sparse

import adc
import adc.scipy
from adc.ir.errors import ArgumentError

X = np.linspace(-1.0, 1.0, 12)
Y = 0.7 * X**2 - 0.4 * X + 0.3


class Line(NamedTuple):
    slope: Any
    start: Any


START = {"square": 0.1, "line": Line(np.array([0.2]), 0.5)}


def model(p: Any, x: Any) -> Any:
    return p["square"] * x**2 + p["line"].slope[0] * x + p["line"].start


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.sum((model(p, x) - y) ** 2) + 0.1 * np.sum(p["line"].slope ** 4)


def _flat(x: Any) -> Any:
    return {"square": x[2], "line": Line(x[:1], x[1])}


METHODS = [
    "BFGS", "L-BFGS-B", "CG", "Newton-CG", "trust-ncg", "trust-exact", "dogleg", "trust-krylov",
    "trust-constr", "SLSQP", "TNC", "Nelder-Mead",
]  # fmt: skip


# trust-krylov of SciPy's multiplies memory that it has not set.
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", METHODS)
def test_minimize(method: str) -> None:
    found = adc.scipy.minimize(loss, START, (X, Y), method, tol=1e-9)
    wanted = optimize.minimize(
        lambda x: loss(_flat(x), X, Y), np.array([0.2, 0.5, 0.1]), method="BFGS", tol=1e-9
    )
    assert type(found.x["line"]) is Line
    assert type(found.x["square"]) is float
    at = [found.x["line"].slope[0], found.x["line"].start, found.x["square"]]
    np.testing.assert_allclose(at, wanted.x, atol=2e-4 if method == "CG" else 2e-5)
    if method in ("BFGS", "SLSQP"):
        assert found.jac["line"].slope.shape == (1,)


def test_minimize_a_vector_within_bounds() -> None:
    start = np.array([0.3, 0.7, 1.2])

    def bowl(x: Any) -> Any:
        return np.sum((x - 2.0) ** 2)

    low, high = np.zeros(3), np.array([1.0, 3.0, np.inf])
    for bounds in ((low, high), optimize.Bounds(low, high), list(zip(low, high, strict=True))):
        found = adc.scipy.minimize(bowl, start, bounds=bounds)
        np.testing.assert_allclose(found.x, [1.0, 2.0, 2.0], atol=1e-6)
    as_scipy = adc.scipy.minimize(
        lambda p: (p[0] - 3.0) ** 2 + (p[1] + 3.0) ** 2, (0.5, 1.0), bounds=((0.0, 1.0), (0.5, 2.0))
    )
    np.testing.assert_allclose(as_scipy.x, [1.0, 0.5])
    np.testing.assert_allclose(adc.scipy.minimize(bowl, [0, 1]).x, 2.0)
    np.testing.assert_allclose(adc.scipy.minimize(bowl, np.arange(3)).x, 2.0)
    with pytest.raises(ArgumentError, match="in two ways"):
        adc.scipy.minimize(bowl, np.ones(2), bounds=(np.zeros(2), np.ones(2)))
    least, most = {"a": -np.inf, "b": 0.5}, {"a": 0.25, "b": np.inf}
    tree = adc.scipy.minimize(
        lambda p: (p["a"] - 1.0) ** 2 + np.sum(p["b"] ** 2), {"a": 0.0, "b": np.ones(2)},
        bounds=(least, most),
    )  # fmt: skip
    assert tree.x["a"] == pytest.approx(0.25)
    np.testing.assert_allclose(tree.x["b"], 0.5)


def test_constraints() -> None:
    def circle(p: Any) -> Any:
        return p["u"] ** 2 + p["v"] ** 2

    def sum_of_both(p: Any) -> Any:
        return p["u"] + p["v"]

    start = {"u": 0.4, "v": 0.6}
    on_it = {"type": "eq", "fun": lambda p: circle(p) - 1.0}
    found = adc.scipy.minimize(sum_of_both, start, method="SLSQP", constraints=on_it)
    assert found.x["u"] == pytest.approx(-np.sqrt(0.5), abs=1e-5)
    within = optimize.NonlinearConstraint(circle, -np.inf, 1.0)
    found = adc.scipy.minimize(sum_of_both, start, method="trust-constr", constraints=[within])
    assert found.x["v"] == pytest.approx(-np.sqrt(0.5), abs=1e-3)


def test_least_squares_and_roots() -> None:
    def residuals(p: Any, x: Any, y: Any) -> Any:
        return {"fit": model(p, x) - y, "prior": 0.01 * p["square"]}

    found = adc.scipy.least_squares(residuals, START, args=(X,), kwargs={"y": Y})
    design = np.stack([X, np.ones_like(X), X**2], axis=1)
    design = np.concatenate((design, [[0.0, 0.0, 0.01]]))
    wanted = np.linalg.lstsq(design, np.append(Y, 0.0), rcond=None)[0]
    np.testing.assert_allclose(found.x["square"], wanted[2], rtol=1e-7)
    np.testing.assert_allclose(found.x["line"].start, wanted[1], rtol=1e-7)
    bounded = adc.scipy.least_squares(
        lambda p, x, y: model(p, x) - y, START, args=(X, Y),
        bounds=({"square": 0.0, "line": Line(-1.0, 0.0)}, {"square": 0.5, "line": Line(1.0, 1.0)}),
    )  # fmt: skip
    assert bounded.x["square"] == pytest.approx(0.5, abs=1e-6)

    def equations(p: Any, c: Any) -> Any:
        return {"a": p["a"] ** 2 - c, "b": p["b"] * p["a"] - np.array([1.0, 2.0])}

    solved = adc.scipy.root(equations, {"a": 1.0, "b": np.ones(2)}, (2.0,))
    assert solved.x["a"] == pytest.approx(np.sqrt(2.0))
    np.testing.assert_allclose(solved.x["b"], np.array([1.0, 2.0]) / np.sqrt(2.0))
    vector = adc.scipy.root(lambda x: x**3 - np.array([8.0, 27.0]), np.ones(2), method="lm")
    np.testing.assert_allclose(vector.x, [2.0, 3.0])


@pytest.mark.full
def test_curve_fit_and_stiff_equations() -> None:
    def decay(x: Any, a: Any, k: Any) -> Any:
        return a * np.exp(-k * x)

    y = decay(X, 2.0, 0.7) + 0.01 * np.cos(9.0 * X)
    found, covariance = adc.scipy.curve_fit(decay, X, y, (1.0, 1.0))
    wanted, expected = optimize.curve_fit(decay, X, y, (1.0, 1.0))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(covariance, expected, rtol=1e-4)

    def kinetics(t: Any, y: Any, k: Any) -> Any:
        return np.array([-k * y[0] + 100.0 * y[1] * y[1], k * y[0] - 100.0 * y[1] * y[1]])

    asked: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10, "t_eval": [0.5, 1.0]}
    for method in ("BDF", "Radau", "LSODA", "RK45"):
        mine = adc.scipy.solve_ivp(kinetics, (0, 1), [1.0, 0.0], method, args=(30.0,), **asked)
        theirs = integrate.solve_ivp(kinetics, (0, 1), [1.0, 0.0], method, args=(30.0,), **asked)
        np.testing.assert_allclose(mine.y, theirs.y, rtol=1e-6)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ({"a": 1}, "x0 has a int in it"),
        ({"a": np.arange(3)}, "x0 has an array of int64 in it"),
        ([1.0, "a"], "x0 has a str in it"),
    ],
)
def test_refused(start: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        adc.scipy.minimize(lambda p: 0.0, start)


# -- sparse derivatives ----------------------------------------------------------------------------


@pytest.mark.full
def test_sparse_least_squares() -> None:
    def residuals(p: Any, data: Any) -> Any:
        smooth = 10.0 * (p["level"][1:] - p["level"][:-1])
        return {"fit": p["level"] + p["shift"] - data, "smooth": smooth, "shift": p["shift"]}

    data = np.sin(np.linspace(0.0, 6.0, 200)) + np.random.default_rng(0).normal(size=200)
    start = {"level": np.zeros(200), "shift": 0.0}
    wanted = adc.scipy.least_squares(residuals, start, args=(data,))
    found = adc.scipy.least_squares(
        residuals, start, args=(data,), sparsity="detect", gtol=1e-12, xtol=1e-12, ftol=1e-14,
        tr_options={"atol": 1e-14, "btol": 1e-14},
    )  # fmt: skip
    assert sparse.issparse(found.jac)
    assert found.jac.shape == (400, 201)
    np.testing.assert_allclose(found.x["level"], wanted.x["level"], atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("method", ["BDF", "Radau"])
def test_sparse_stiff_equations(method: str) -> None:
    def slopes(t: Any, u: Any, rate: Any) -> Any:
        du = np.zeros(len(u))
        du[1:-1] = 1e4 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - rate * u[1:-1] ** 2
        return du

    u = np.linspace(0.0, 1.0, 60)
    wanted = adc.scipy.solve_ivp(slopes, (0.0, 1.0), u, method, args=(2.0,))
    found = adc.scipy.solve_ivp(slopes, (0.0, 1.0), u, method, args=(2.0,), sparsity="detect")
    assert found.nfev == wanted.nfev
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_sparse_hessians_and_constraints() -> None:
    def rosenbrock(p: Any) -> Any:
        x = p["x"]
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2) + p["c"] ** 2

    start = {"x": np.zeros(8), "c": 1.0}
    limit = optimize.NonlinearConstraint(lambda p: p["x"][:2] ** 2, -np.inf, 0.5)
    found, wanted = (
        adc.scipy.minimize(
            rosenbrock, start, method="trust-constr", constraints=limit,
            options={"gtol": 1e-9, "maxiter": 500}, sparsity=sparsity,
        )
        for sparsity in ("detect", None)
    )  # fmt: skip
    np.testing.assert_allclose(found.x["x"], wanted.x["x"], atol=1e-5)


def test_what_takes_no_sparse_derivatives() -> None:
    with pytest.raises(ArgumentError, match="method='bfgs'"):
        adc.scipy.minimize(lambda x: np.sum(x**2), np.ones(2), method="bfgs", sparsity="detect")
    with pytest.raises(ArgumentError, match="Radau and BDF"):
        adc.scipy.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.ones(2), sparsity="detect")
