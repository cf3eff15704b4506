"""Solvers of SciPy's that run outside: values, derivatives by closures and arguments, errors."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import adc
from adc.ir.errors import AdcError, UnsupportedError

V = np.array([1.5, 0.8, 0.7])
T = np.linspace(0.0, 1.0, 12)
DATA = 2.0 * np.exp(-1.3 * T) + 0.1 * np.cos(9.0 * T)
TIGHT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


def system(y: Any, a: Any, b: Any) -> Any:
    return np.array([a * y[0] + np.cos(y[1]) - b[0], y[0] * y[1] + y[1] ** 3 - b[1]])


def matrix(y: Any, a: Any, b: Any) -> Any:
    return np.array([[a, -np.sin(y[1])], [y[1], y[0] + 3.0 * y[1] ** 2]])


def energy(x: Any, a: Any, b: Any) -> Any:
    well = (x[0] - a) ** 4 + (x[0] - a * b[0]) ** 2
    return well + np.exp(x[1] * b[1]) - a * x[1] + 0.1 * x[0] * x[1]


def slope(x: Any, a: Any, b: Any) -> Any:
    first = 4.0 * (x[0] - a) ** 3 + 2.0 * (x[0] - a * b[0]) + 0.1 * x[1]
    return np.array([first, b[1] * np.exp(x[1] * b[1]) - a + 0.1 * x[0]])


def root_by_arguments(v: Any) -> Any:
    found = optimize.root(system, np.ones(2), args=(v[0], v[1:]), tol=1e-13)
    return 2.0 * found.x[0] + np.sin(found.x[1])


def root_by_captures(v: Any) -> Any:
    a, b = v[0], v[1:] * v[0]
    found = optimize.root(lambda y: system(y, a, b), [1, 1], method="lm", tol=1e-13)
    return np.sum(found.x**2) + found.fun[0]


def root_by_fsolve(v: Any) -> Any:
    def pair(y: Any, a: Any) -> Any:
        p, q = y
        return [a * p + np.cos(q) - v[1], p * q + q**3 - v[2]]

    p, q = optimize.fsolve(pair, (1, 1), args=(v[0],), xtol=1e-13)
    third = optimize.fsolve(
        func=lambda y: y**3 - v[1], x0=1.0, fprime=lambda y: 3.0 * y**2, factor=10.0, xtol=1e-13
    )
    return 2.0 * p + np.sin(q) * third[0]


def root_with_matrix(v: Any) -> Any:
    found = optimize.root(system, np.ones(2), (v[0], v[1:]), jac=matrix, tol=1e-13)
    return np.sum(found.x**2)


def root_with_both(v: Any) -> Any:
    def both(y: Any) -> Any:
        return system(y, v[0], v[1:]), matrix(y, v[0], v[1:])

    return np.sum(optimize.root(both, np.ones(2), jac=True, tol=1e-13).x ** 2)


def root_in_a_loop(v: Any) -> Any:
    w, total = v.copy(), 0.0
    for k in range(3):
        w[0] += v[1] * k
        found = optimize.root(lambda y, k=k: y**3 + w[0] * y - v[1] * (k + 1), 1.0, tol=1e-11)
        total += found.x[0] * w[1]
        w[1] *= 1.5
    return total


def root_of_views(v: Any) -> Any:
    found = optimize.root(lambda y: y**3 + v[1:] * y - v[::2], np.ones(2), tol=1e-13)
    return np.sum(found.x)


def minimum_by_arguments(v: Any) -> Any:
    found = optimize.minimize(energy, np.zeros(2), (v[0], v[1:]), "BFGS", slope, tol=1e-5)
    return 2.0 * found.x[0] + np.sin(found.x[1]) + found.fun


def minimum_with_both(v: Any) -> Any:
    def both(x: Any) -> Any:
        return energy(x, v[0], v[1:]), slope(x, v[0], v[1:])

    found = optimize.minimize(both, np.zeros(2), method="L-BFGS-B", jac=True, tol=1e-14)
    return 2.0 * found.x[0] + np.sin(found.x[1])


def minimum_within_bounds(v: Any) -> Any:
    found = optimize.minimize(
        lambda x: energy(x, v[0], v[1:]), np.array([0.1, 0.9]), jac=lambda x: slope(x, v[0], v[1:]),
        bounds=[(None, v[1]), (0.0, None)], tol=1e-14,
    )  # fmt: skip
    return 2.0 * found.x[0] + np.sin(found.x[1])


def minimum_scalar(v: Any) -> Any:
    found = optimize.minimize_scalar(lambda x: (x - v[0]) ** 4 + (x - v[1]) ** 2 + v[2] * x)
    return found.x**2 + found.fun


def minimum_scalar_bounded(v: Any) -> Any:
    return optimize.minimize_scalar(
        lambda x, c: (x - c) ** 4 + (x - v[1]) ** 2 + v[2] * x, bounds=(-5, 5), args=(v[0],),
        options={"xatol": 1e-10},
    ).x  # fmt: skip


def squares(v: Any) -> Any:
    found = optimize.least_squares(
        lambda x: x[0] * np.exp(-x[1] * T) - DATA * v[1] - v[0] * T, np.ones(2), **TIGHT
    )
    return found.x[0] * found.x[1] + found.cost


def squares_with_matrix(v: Any) -> Any:
    def residual(x: Any, c: Any) -> Any:
        return x[0] * np.exp(-x[1] * T) - DATA * v[1] - c * T

    def by_x(x: Any, c: Any) -> Any:
        e = np.exp(-x[1] * T)
        return np.stack((e, -x[0] * T * e), axis=1)

    found = optimize.least_squares(
        residual, np.ones(2), by_x, method="lm", args=(v[0],), ftol=1e-14, xtol=1e-14, gtol=1e-14
    )
    return found.x[0] * found.x[1]


def squares_within_bounds(v: Any) -> Any:
    found = optimize.least_squares(
        lambda y: np.exp(y[0] * T) + y[1] * T - 2.0 * v[0] * np.exp(T), np.array([0.2, 0.45]),
        bounds=([0.0, -4.0], [v[2], v[1]]), **TIGHT,
    )  # fmt: skip
    return np.sum(np.sin(found.x))


def minimum_in_a_root(v: Any) -> Any:
    def inner(a: Any) -> Any:
        return optimize.minimize_scalar(lambda x: (x - a) ** 4 + (x - v[2] * a) ** 2).x

    return optimize.root_scalar(lambda a: inner(a) - v[1], bracket=(0.0, 3.0)).root


def fixed(v: Any) -> Any:
    return optimize.fixed_point(lambda x: v[0] * np.cos(x * v[1]) * v[2], 0.5, xtol=1e-10)


def fixed_iterated(v: Any) -> Any:
    return optimize.fixed_point(lambda x: 0.3 * np.cos(x * v[1]) * v[2], 0.5, method="iteration")


def fixed_vector(v: Any) -> Any:
    return np.sum(
        optimize.fixed_point(
            lambda x, c: v[0] * np.cos(x * c) * 0.5, np.array([0.5, 0.2]), (v[1:],), 1e-12
        )
    )


def cubic(x: Any, a: Any, b: Any) -> Any:
    return x**3 + b[0] * x - a * b[1]


def scalar_brentq(v: Any) -> Any:
    return optimize.root_scalar(lambda x: cubic(x, v[0], v[1:]), bracket=[-3, 4]).root


def scalar_bisect(v: Any) -> Any:
    return optimize.root_scalar(cubic, (v[0], v[1:]), "bisect", (-1.0, 2.0)).root


def scalar_differences(v: Any) -> Any:
    return optimize.root_scalar(cubic, args=(v[0], v[1:]), x0=1.0).root


def scalar_secant(v: Any) -> Any:
    return optimize.root_scalar(cubic, args=(v[0], v[1:]), x0=1.0, x1=1.4, xtol=1e-12).root


def scalar_halley(v: Any) -> Any:
    return optimize.root_scalar(
        cubic, args=(v[0], v[1:]), x0=1.0, fprime=lambda x, a, b: 3.0 * x**2 + b[0],
        fprime2=lambda x, a, b: 6.0 * x,
    ).root  # fmt: skip


class Model:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.parts = a, {"b": [b, 1.0]}

    def slopes(self, y: Any) -> Any:
        return system(y, self.a, self.parts["b"][0]) * self.parts["b"][1]

    def loss(self, x: Any) -> Any:
        return energy(x, self.a, self.parts["b"][0])

    def root(self) -> Any:
        return optimize.root(self.slopes, np.ones(2), tol=1e-13).x


@dataclass(frozen=True)
class Frozen:
    v: Any

    def slopes(self, y: Any) -> Any:
        return system(y, self.v[0], self.v[1:])


def root_of_a_method(v: Any) -> Any:
    return np.sum(Model(v[0], v[1:]).root() ** 2)


def root_of_a_method_of_a_tuple(v: Any) -> Any:
    return np.sum(optimize.root(Frozen(v * v).slopes, np.ones(2), tol=1e-13).x ** 2)


def minimum_of_a_method(v: Any) -> Any:
    found = optimize.minimize(Model(v[0], v[1:]).loss, np.ones(2), method="BFGS", tol=1e-12)
    return np.sum(found.x * v[1:])


def root_with_a_list(v: Any) -> Any:
    held = [v[0], {"b": v[1:]}]
    grown = []
    for k in range(len(v)):
        if k > 0:
            grown.append(v[k] ** 2)

    def both(y: Any) -> Any:
        return system(y, held[0] + grown[0], held[1]["b"] * grown[1])

    return np.sum(optimize.root(both, np.ones(2), tol=1e-13).x ** 2)


PROGRAMS = [
    root_of_a_method, root_of_a_method_of_a_tuple, minimum_of_a_method, root_with_a_list,
    root_by_arguments, root_by_captures, root_by_fsolve, root_with_matrix, root_with_both,
    root_in_a_loop,
    root_of_views, minimum_by_arguments, minimum_with_both, minimum_within_bounds, minimum_scalar,
    minimum_scalar_bounded, squares, squares_with_matrix, squares_within_bounds, minimum_in_a_root,
    fixed, fixed_iterated, fixed_vector, scalar_brentq, scalar_bisect, scalar_differences,
    scalar_secant, scalar_halley,
]  # fmt: skip
# What differs in the last digit from what NumPy's functions return: so do the steps of a solver.
TOLERANCE = {
    root_in_a_loop: 1e-11,
    minimum_in_a_root: 1e-9,
    minimum_by_arguments: 1e-7,
    minimum_of_a_method: 1e-7,
}


def differences(fn: Callable[..., Any], along: Any) -> Any:
    """Return the derivative of fourth order: steps are large beside what a solver is off by."""
    h = 0.006
    ones, twos = (fn(V + k * h * along) - fn(V - k * h * along) for k in (1, 2))
    return (8.0 * ones - twos) / (12.0 * h)


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program: Callable[..., Any]) -> None:
    rtol = TOLERANCE.get(program, 1e-7 if "squares" in program.__name__ else 1e-10)
    np.testing.assert_allclose(adc.jit(program)(V), program(V), rtol=rtol)
    gradient = adc.grad(program)
    got = gradient(V)
    wanted = [differences(program, e) for e in np.eye(3)]
    # BFGS stops where it is close.
    close = 2e-4 if program in (minimum_by_arguments, minimum_of_a_method) else 2e-5
    np.testing.assert_allclose(got, wanted, rtol=close, atol=0.1 * close)
    along = np.array([0.3, -0.4, 0.5])
    tangent = adc.jvp(program, (V,), (along,))[1]
    np.testing.assert_allclose(tangent, got @ along, rtol=1e-9, atol=1e-12)
    found = adc.hvp(program, (V,), (along,))
    np.testing.assert_allclose(found, differences(gradient, along), rtol=3 * close, atol=close)


@pytest.mark.full
def test_fsolve_warns_as_scipy_does() -> None:
    def steps(v: Any, most: int) -> Any:
        return optimize.fsolve(lambda y: np.exp(y) - v, 0.0, maxfev=most)[0]

    def flat(v: Any) -> Any:
        return optimize.fsolve(lambda y: y**2 + v, 1.0)[0]

    def found(call: Callable[..., Any], *args: Any) -> tuple[Any, str]:
        with pytest.warns(RuntimeWarning) as caught:
            value = call(*args)
        return value, str(caught[-1].message)

    assert found(adc.jit(steps), 1.5, 2) == found(steps, 1.5, 2)
    assert found(adc.jit(flat), 1.5) == found(flat, 1.5)
    with pytest.warns(RuntimeWarning), pytest.raises(RuntimeError, match="has no derivative"):
        adc.grad(flat)(1.5)


@pytest.mark.full
def test_fsolve_in_full() -> None:
    def ellipse(v: Any) -> Any:
        x, info, ier, message = optimize.fsolve(
            lambda y: [y[0] ** 2 - v, y[1] * y[0] - 1.0], [1.0, 1.0], full_output=True
        )
        if ier != 1:
            raise RuntimeError(f"no root after {info['nfev']} calls: {message}")
        return x[0] + 2.0 * x[1] + np.sum(info["fvec"]), info["nfev"], ier, message

    def steps(x0: Any, most: int) -> Any:
        x, info, ier, message = optimize.fsolve(
            lambda y: np.exp(y) - 1.5, x0, fprime=lambda y: np.diag(np.exp(y)), full_output=1,
            maxfev=most,
        )  # fmt: skip
        return x, info["nfev"], info["fvec"], ier, message

    def settings(v: Any) -> Any:
        flat = optimize.fsolve(lambda y: y**2 + v, 1.0, full_output=True)
        small = optimize.fsolve(lambda y: y**2 - v, 1.0, full_output=True, xtol=1e-30)
        none = optimize.fsolve(lambda y: y**2 - v, 1.0, full_output=True, xtol=-1.0)
        return flat[2:], small[2:], none[2:]

    assert adc.jit(ellipse)(2.0) == ellipse(2.0)
    gradient = adc.grad(lambda v: ellipse(v)[0])(2.0)
    assert abs(gradient) <= 1e-12  # of root(v) + 2 / root(v)
    for x0, most in ((np.zeros(2), 0), (np.zeros(3), 2)):
        got, want = adc.jit(steps)(x0, most), steps(x0, most)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-14)
        np.testing.assert_allclose(got[2], want[2], atol=1e-14)
        assert got[1::2] == want[1::2]
        assert got[4] == want[4]
    assert adc.jit(settings)(1.5) == settings(1.5)


@pytest.mark.full
def test_what_fsolve_in_full_leaves_out() -> None:
    def matrix(v: Any) -> Any:
        info = optimize.fsolve(lambda y: y - v, 1.0, full_output=True)[1]
        return info["fjac"][0, 0]

    def each(v: Any) -> Any:
        info = optimize.fsolve(lambda y: y - v, 1.0, full_output=True)[1]
        return [np.sum(part) for part in info.values()]

    def tolerance(v: Any, xtol: float) -> Any:
        return optimize.fsolve(lambda y: y - v, 1.0, full_output=True, xtol=xtol)[0]

    def missing(v: Any) -> Any:
        return optimize.fsolve(lambda y: y - v, 1.0, full_output=True)[1]["njev"]

    with pytest.raises(UnsupportedError, match="'fjac'\\]\", which adc does not compute"):
        adc.jit(matrix)(0.1)
    with pytest.raises(UnsupportedError, match="'part', which adc does not compute"):
        adc.jit(each)(0.1)
    with pytest.raises(UnsupportedError, match="`xtol` of `fsolve`"):
        adc.jit(tolerance)(0.1, 1e-9)
    with pytest.raises(KeyError, match="njev"):
        adc.jit(missing)(0.1)


@pytest.mark.full
def test_a_root_as_by_hand() -> None:
    def by_hand(y: Any, v: Any) -> Any:
        return system(y, v[0], v[1:])

    solve = adc.implicit(
        lambda v: optimize.root(system, np.ones(2), args=(v[0], v[1:]), tol=1e-13).x, by_hand,
        result=lambda v: v[1:],
    )  # fmt: skip

    def program(v: Any) -> Any:
        found = solve(v)
        return 2.0 * found[0] + np.sin(found[1])

    value, gradient = adc.value_and_grad(root_by_arguments)(V)
    assert value == root_by_arguments(V)
    np.testing.assert_allclose(gradient, adc.grad(program)(V), rtol=1e-12)


@pytest.mark.full
def test_what_a_solver_counts() -> None:
    def program(a: Any) -> Any:
        found = optimize.root(lambda y: y * y - a, np.ones(1))
        least = optimize.minimize(lambda y: (y[0] - a) ** 4, np.ones(1))
        return found.nfev, found.status, found.success, least.nfev, least.nit, least.success

    assert adc.jit(program)(2.0) == (*_counts(2.0),)


def _counts(a: float) -> Any:
    found = optimize.root(lambda y: y * y - a, np.ones(1))
    least = optimize.minimize(lambda y: (y[0] - a) ** 4, np.ones(1))
    return found.nfev, found.status, found.success, least.nfev, least.nit, least.success


@pytest.mark.full
def test_plans_modes_and_targets() -> None:
    wanted = adc.grad(root_in_a_loop)(V)
    assert np.array_equal(adc.grad(root_in_a_loop, memory="100 kB")(V), wanted)
    assert np.array_equal(adc.grad(root_in_a_loop, target="python")(V), wanted)

    def several(v: Any) -> Any:
        return optimize.root(lambda y: y**3 + v * y - 1.0, np.ones(3)).x

    forward, reverse = adc.jacfwd(several)(V), adc.jacrev(several)(V)
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)
    single = adc.grad(lambda a: optimize.root(lambda y: y * y - a, np.ones(1)).x[0])
    found = single(np.float32(2.0))
    assert type(found) is np.float32
    assert found == pytest.approx(1.0 / math.sqrt(8.0), rel=1e-6)


@pytest.mark.full
def test_threads() -> None:
    gradient = adc.grad(root_of_views)
    wanted = [gradient(V * (1.0 + k / 10.0)) for k in range(8)]
    found: list[list[Any]] = [[] for _ in range(8)]

    def work(k: int) -> None:
        for _ in range(10):
            found[k].append(gradient(V * (1.0 + k / 10.0)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for rows, want in zip(found, wanted, strict=True):
        assert all(np.array_equal(row, want) for row in rows)


def stops(a: Any) -> Any:
    return optimize.root(lambda y: y**3 - a, np.full(1, 9.0), options={"maxfev": 3}).x[0]


def fails(a: Any) -> Any:
    return optimize.root(lambda y: y * y + a, np.ones(1)).x[0]


def singular(a: Any) -> Any:
    return optimize.root(lambda y: 0.0 * y * a, np.ones(1)).x[0]


def at_the_end(a: Any) -> Any:
    return optimize.minimize_scalar(lambda y: (y - a) ** 2, bounds=(2, 3)).x


def raises(a: Any) -> Any:
    return optimize.root(lambda y: y + math.sqrt(-a), np.ones(1)).x[0]


def unknown(a: Any) -> Any:
    return optimize.minimize(lambda y: y[0] ** 2 * a, np.ones(1), method="none").x[0]


def never(a: Any) -> Any:
    return optimize.fixed_point(lambda x: 2.0 * x + a, 1.0, maxiter=5, method="iteration")


@pytest.mark.full
@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (stops, RuntimeError, "not converged"),
        (fails, np.linalg.LinAlgError, "Singular"),
        (singular, np.linalg.LinAlgError, "Singular"),
        (at_the_end, RuntimeError, "away from a solution"),
        (raises, ValueError, "math domain"),
        (unknown, ValueError, "Unknown solver none"),
        (never, RuntimeError, "Failed to converge after 5 iterations"),
    ],
)
def test_errors(program: Callable[..., Any], error: type[Exception], text: str) -> None:
    for found in (adc.grad(program), lambda a: adc.jvp(program, (a,), (1.0,))):
        with pytest.raises(error, match=text) as caught:
            found(1.0)
        names = [entry.name for entry in caught.traceback]
        assert program.__name__ in names or "SystemError" not in str(caught.value)


@pytest.mark.full
def test_solvers_that_are_left_behind_end() -> None:
    code = adc.jit(raises)
    before = threading.active_count()
    for _ in range(100):
        with pytest.raises(ValueError, match="math domain"):
            code(1.0)
    assert threading.active_count() - before <= 70


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda a: optimize.minimize(np.sum, [a], hess=np.sum).x, "'hess'"),
    (lambda a: optimize.minimize(np.sum, [a], constraints=[1]).x, "constraints"),
    (lambda a: optimize.minimize(np.sum, [a], method=np.sum).x, "that is no name"),
    (lambda a: optimize.minimize(np.sum, [a], bounds=3).x, "pairs"),
    (lambda a: optimize.least_squares(np.sin, [a], loss="huber").x, "loss"),
    (lambda a: optimize.least_squares(np.sin, [a], f_scale=2.0).x, "'f_scale'"),
    (lambda a: optimize.root(np.sin, [a], callback=np.sin).x, "'callback'"),
    (lambda a: optimize.root(np.sin, [a], other=1).x, "'other'"),
    (lambda a: optimize.root_scalar(np.sin, x0=a, method="toms748").root, "toms748"),
    (lambda a: optimize.root_scalar(np.sin, x0=a, fprime=True).root, "`fprime`"),
    (lambda a: optimize.root_scalar(np.sin).root, "Unable to select a solver"),
    (lambda a: optimize.root_scalar(np.sin, method="brentq").root, "`bracket` is needed"),
    (lambda a: optimize.fixed_point(np.sin, np.ones((2, 2)) * a), "of a matrix"),
]


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("program", "text"), REFUSED)
def test_refused(program: Callable[..., Any], text: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.jit(program)(0.3)
    assert text in str(caught.value)


@pytest.mark.full
def test_refused_where_code_runs_twice() -> None:
    def program(a: Any) -> Any:
        return adc.value_and_grad(lambda c: fails(-c))(a)

    with pytest.raises(UnsupportedError, match="a second call"):
        adc.jit(program)(2.0)
