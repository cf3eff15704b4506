"""Programs that take derivatives of derivatives: of Jacobians, Hessians, and what they return."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import adc
from tests.corpus.program import Program, recorder

COMPOSED_PROGRAMS: list[Program] = []
program = recorder(COMPOSED_PROGRAMS)

X = np.array([0.3, -0.7, 1.1])
C = np.array([0.5, -1.0, 2.0])
M = np.array([[0.4, -0.2, 0.9], [1.1, 0.3, -0.5]])


def quartic(x: Any) -> Any:
    return np.sum(x**4) + x[0] * x[1] * x[2]


def bent(x: Any, m: Any) -> Any:
    return np.sum(np.tanh(m @ x) ** 2) * x[0]


def pair(x: Any) -> Any:
    return np.stack([x[0] * x[1], np.sin(x[2]) * x[0]])


@program(X)
def gradient_of_a_weighted_hessian(x: Any) -> Any:
    return np.sum(adc.grad(lambda v: np.sum(adc.hessian(quartic)(v) * C))(x) * x)


@program(X)
def jacobians_of_jacobians(x: Any) -> Any:
    a = adc.jacrev(adc.jacfwd(pair))(x)
    b = adc.jacfwd(adc.jacrev(pair))(x)
    c = adc.jacfwd(adc.jacfwd(pair))(x)
    d = adc.jacrev(adc.jacrev(pair))(x)
    return np.sum(a * b * x) + np.sum(c * d) + np.sum(adc.hessian(pair)(x) * x)


@program(X)
def third_derivatives(x: Any) -> Any:
    a = adc.jacrev(adc.hessian(quartic))(x)
    b = adc.jacfwd(adc.hessian(quartic))(x)
    c = adc.hessian(adc.grad(quartic))(x)
    return np.sum(a * b * x) + np.sum(c * c)


@program(X)
def hessian_of_a_gradient_along_a_vector(x: Any) -> Any:
    return np.sum(adc.hessian(lambda v: adc.grad(quartic)(v) @ C)(x) * np.outer(x, C))


@program(0.7)
def numbers_in_all_orders(t: Any) -> Any:
    def f(u: Any) -> Any:
        return np.sin(u) * u * u

    return (
        adc.jacfwd(adc.hessian(f))(t) * adc.grad(adc.jacrev(f))(t)
        + adc.hessian(adc.grad(f))(t) * adc.jacrev(adc.jacfwd(f))(t)
    )  # fmt: skip


@program(X)
def newton_until_it_stops(x: Any) -> Any:
    def cost(y: Any) -> Any:
        return np.sum(np.cosh(y)) + 0.1 * y[0] * y[1] - np.sum(y * x) * 0.2

    y = x * 1.0
    rounds = 0
    while rounds < 3 and np.sum(adc.grad(cost)(y) ** 2) > 1e-12:
        y = y - np.linalg.solve(adc.hessian(cost)(y), adc.grad(cost)(y))
        rounds += 1
    return np.sum(y * C)


@program(X, M, argnums=(0, 1))
def several_arguments_of_jacobians(x: Any, m: Any) -> Any:
    (_, xm), (mx, _) = adc.hessian(bent, argnums=(0, 1))(x, m)
    rows = adc.jacrev(bent, argnums=1)(x, m)
    last = adc.jacfwd(lambda s, y, n: bent(y, n) * s, argnums=-1)(2.0, x, m)
    named = adc.jacfwd(bent, argnames=("m", "x"))(x, m=m)
    return (
        np.sum(xm * xm) + np.sum(np.sin(mx)) + np.sum(rows * last)
        + np.sum(named[0] ** 2) * named[1][0]
    )  # fmt: skip


class Both(NamedTuple):
    first: Any
    second: Any


@program(X, 0.7, argnums=(0, 1))
def structures_of_jacobians(x: Any, s: Any) -> Any:
    def f(p: Any) -> Any:
        y = np.sin(p["w"]) * p["b"]
        return {"y": y, "n": 3, "rest": [Both(np.sum(y) * p["b"], p["w"][0])]}

    p = {"w": x, "b": s}
    rows, columns, twice = adc.jacrev(f)(p), adc.jacfwd(f)(p), adc.hessian(f)(p)
    return (
        np.sum(rows["y"]["w"] * columns["y"]["w"]) + rows["rest"][0].first["b"]
        + np.sum(twice["y"]["w"]["b"] ** 2) + np.sum(twice["rest"][0].first["w"]["w"])
        + np.sum(columns["rest"][0].second["w"] * x)
    )  # fmt: skip


@program(X)
def auxiliary_results_of_jacobians(x: Any) -> Any:
    def f(y: Any) -> Any:
        return y * y[0], {"sum": np.sum(y), "n": 2}

    rows, aux = adc.jacrev(f, has_aux=True)(x)
    columns, again = adc.jacfwd(f, has_aux=True)(x * 2.0)
    slope, value = adc.jacfwd(adc.value_and_grad(quartic), has_aux=True)(x)
    return np.sum(rows * columns) * aux["sum"] * again["n"] + np.sum(slope * value)


@program(X, 3)
def jacobians_on_paths(x: Any, n: Any) -> Any:
    total = 0.0
    for k in range(n):
        if x[k] > 0.0:
            total += np.sum(adc.jacrev(lambda y, k=k: y * y[k])(x) ** 2)
        else:
            total -= np.sum(adc.jacfwd(adc.jacrev(lambda y, k=k: np.sum(y**3) * y[k]))(x))
        x = x - 0.1 * adc.hessian(quartic)(x) @ C
    return total


@program(X, 0)
def jacobians_in_a_loop_that_does_not_run(x: Any, n: Any) -> Any:
    total = np.sum(x)
    for k in range(n):
        total += np.sum(adc.hessian(quartic)(x * k) * C)
    return total


@program(M)
def jacobians_by_matrices(m: Any) -> Any:
    def f(a: Any) -> Any:
        return np.sum(np.sin(a @ a.T))

    return np.sum(adc.hessian(f)(m)[0, 1] ** 2) + np.sum(adc.jacrev(lambda a: a.T @ a)(m) ** 2)


@program(X)
def jacobians_of_arrays_as_they_are(x: Any) -> Any:
    """Of a view, with another name, and one that is written before and afterwards."""
    y = x * 1.0
    z = y
    a = adc.hessian(lambda v: np.sum(v**3) * y[0])(y)
    z *= 2.0
    b = adc.hessian(lambda v: np.sum(v**3) * y[0])(z[::-1])
    a[0] = b[1]
    return np.sum(a * C) + np.sum(b)


@program(X, 3)
def jacobians_of_lists_that_grow(x: Any, n: Any) -> Any:
    rows = adc.jacfwd(lambda y: [y * y[0] * k for k in range(n)])(x)
    slopes = adc.jacrev(lambda t: [t * t * k for k in range(n)])(x[1])
    return np.sum(rows[1] * rows[2]) + slopes[2]


@program(X)
def jacobians_in_single_precision(x: Any) -> Any:
    y = x.astype(np.float32)
    return np.sum(adc.hessian(lambda v: np.sum(v * v * v))(y) * np.outer(y, y))


@program(np.array([0.0, -1.0, 4.0]), smooth=False)
def hessians_at_roots_that_are_not_taken(x: Any) -> Any:
    """The last derivative is taken where a root has none, which a branch leaves out."""
    found = adc.hessian(lambda v: np.sum(np.where(v > 0.0, np.sqrt(np.abs(v)) * v, 0.0)))(x)
    return np.sum(found[1:, 1:])
