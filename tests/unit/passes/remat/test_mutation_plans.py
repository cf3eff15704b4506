"""What plans keep of arrays that are updated in place, of kernels as people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adc
from adc.passes.remat.plan import HELD, KEPT, RECOMPUTED, Plan
from adc.passes.remat.remat import rematerialize
from tests.oracle import chain as chains

Args = Sequence[Any]
RNG = np.random.default_rng(0)
W6 = RNG.normal(size=(6, 6))
SPD = W6 @ W6.T + 6.0 * np.eye(6)
GRID = RNG.uniform(0.2, 1.0, size=(7, 9))
TALL = RNG.normal(size=(40, 6))
F8 = 8


def plan_of(fn: Callable[..., Any], args: Args, argnums: Sequence[int] = (0,)) -> Plan:
    """Return the plan for these arguments, after checking that plans differ in no bit."""
    chain = chains.Chain.of(fn, tuple(args), argnums)
    want, *others = [chain.run(chain.planned(policy)[-1][1]) for policy in chains.POLICIES]
    for found in others:
        assert chains.bits(found) == chains.bits(want)
    return adc.grad(fn, tuple(argnums)).plan(*args)


def kept(plan: Plan) -> list[str]:
    """Return the expressions whose values are kept."""
    return [entry.expression for entry in plan.entries if entry.decision == KEPT]


# --- factorizations -------------------------------------------------------------------------------


def cholesky(given: Any) -> Any:
    """By columns, element by element."""
    a = given.copy()
    n = len(a)
    for j in range(n):
        for k in range(j):
            a[j, j] = a[j, j] - a[j, k] * a[j, k]
        a[j, j] = np.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] = a[i, j] - a[i, k] * a[j, k]
            a[i, j] = a[i, j] / a[j, j]
    s = 0.0
    for k in range(n):
        s = s + np.log(a[k, k])
    return s


def cholesky_by_rows(given: Any) -> Any:
    """With products of parts of rows."""
    a = given.copy()
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, len(a)):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a * a)


def cholesky_of_numpy(a: Any) -> Any:
    return np.sum(np.log(np.diag(np.linalg.cholesky(a))))


def lu(given: Any) -> Any:
    a = given.copy()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
    s = 0.0
    for k in range(n):
        s = s + np.log(np.abs(a[k, k]))
    return s


def lu_by_rows(given: Any) -> Any:
    a = given.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * a)


def lu_by_outer_products(given: Any) -> Any:
    a = given.copy()
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(a * a)


FACTORIZATIONS = [cholesky, cholesky_by_rows, cholesky_of_numpy, lu, lu_by_rows]


@pytest.mark.full
@pytest.mark.parametrize("fn", [*FACTORIZATIONS, lu_by_outer_products])
def test_factorizations_keep_nothing_beyond_the_factor(fn: Callable[..., Any]) -> None:
    plan = plan_of(fn, (SPD,))
    assert kept(plan) == []
    assert [entry.decision for entry in plan.entries if entry.bytes != "0"] == [HELD]
    assert plan.held_bytes == SPD.nbytes


# --- linear sweeps --------------------------------------------------------------------------------


def gauss_seidel(u: Any, n: Any) -> Any:
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def gauss_seidel_by_rows(u: Any, n: Any) -> Any:
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            u[i, 1:-1] += u[i - 1, :-2] + u[i - 1, 1:-1] + u[i - 1, 2:]
            u[i, 1:-1] += u[i, 2:] + u[i + 1, :-2] + u[i + 1, 1:-1] + u[i + 1, 2:]
            for j in range(1, u.shape[1] - 1):
                u[i, j] += u[i, j - 1]
                u[i, j] /= 9.0
    return np.sum(u * u)


def jacobi(u: Any, n: Any) -> Any:
    for _ in range(n):
        v = u.copy()
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u = v
    return np.sum(u * u)


def jacobi_in_two_arrays(u: Any, n: Any) -> Any:
    v = u.copy()
    for _ in range(n):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return np.sum(u * u)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", [gauss_seidel, gauss_seidel_by_rows, jacobi, jacobi_in_two_arrays])
def test_linear_sweeps_keep_nothing(fn: Callable[..., Any]) -> None:
    plan = plan_of(fn, (GRID, 3))
    assert kept(plan) == []
    assert (plan.held_bytes or 0) <= GRID.nbytes


# --- nonlinear sweeps -----------------------------------------------------------------------------


def products(u: Any, n: Any) -> Any:
    """Reads the elements that it overwrites."""
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                across = u[i - 1, j] * u[i + 1, j] + u[i, j - 1] * u[i, j + 1]
                u[i, j] = 0.25 * across + 0.1 * u[i, j] * u[i + 1, j]
    return np.sum(u * u)


def products_of_others(u: Any, n: Any) -> Any:
    """Does not: the log has loads of its own."""
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] * u[i + 1, j] + u[i, j - 1] * u[i, j + 1])
    return np.sum(u * u)


def diffusion(u: Any, n: Any) -> Any:
    """The conductivity depends on the gradient (Perona and Malik)."""
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                gx, gy = u[i + 1, j] - u[i - 1, j], u[i, j + 1] - u[i, j - 1]
                c = 1.0 / (1.0 + gx * gx + gy * gy)
                s = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = u[i, j] + 0.1 * c * (s - 4.0 * u[i, j])
    return np.sum(u * u)


def reaction(u: Any, n: Any) -> Any:
    """Only one number of each iteration is needed, which is better than what is overwritten."""
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                s = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.25 * (s - 0.1 * np.exp(u[i, j]))
    return np.sum(u * u)


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (products, "u[i, j]"),
        (products_of_others, "u[i, j]"),
        (diffusion, "u[i, j]"),
        (reaction, "np.exp(u[i, j])"),
    ],
)
def test_nonlinear_sweeps_keep_one_value_for_each_store(fn: Callable[..., Any], what: str) -> None:
    plan = plan_of(fn, (GRID, 3))
    assert kept(plan) == [what]
    n, m = GRID.shape
    stores = 3 * (n - 2) * (m - 2)
    assert sum(e.decision == HELD for e in plan.entries) <= 1
    assert (plan.held_bytes or 0) <= F8 * stores + GRID.nbytes


# --- Gram-Schmidt ---------------------------------------------------------------------------------


def gram_schmidt(given: Any) -> Any:
    """Modified: every column is taken out of those that follow."""
    q = given.copy()
    n = q.shape[1]
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.sum(q[:, k] * q[:, k]))
        q[:, k] = q[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.sum(q[:, k] * q[:, j])
            q[:, j] = q[:, j] - r[k, j] * q[:, k]
    return np.sum(q**3) + np.sum(r)


def gram_schmidt_with_norms(given: Any) -> Any:
    q = given.copy()
    n = q.shape[1]
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.linalg.norm(q[:, k])
        q[:, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ q[:, j]
            q[:, j] -= q[:, k] * r[k, j]
    return np.sum(q**3) + np.sum(r * r)


def gram_schmidt_in_two_arrays(given: Any) -> Any:
    a = given.copy()
    q = np.zeros_like(a)
    n = a.shape[1]
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(q**3) + np.sum(r)


@pytest.mark.full
@pytest.mark.parametrize("fn", [gram_schmidt, gram_schmidt_with_norms, gram_schmidt_in_two_arrays])
def test_gram_schmidt_keeps_its_factors_and_what_it_overwrites(fn: Callable[..., Any]) -> None:
    plan = plan_of(fn, (TALL,))
    rows, n = TALL.shape
    # Every column is overwritten once for each before it, and once by itself.
    log = F8 * rows * n * (n + 1) // 2
    # R twice: as it is needed in the end, and its numbers where they are computed.
    factors = TALL.nbytes + 2 * F8 * n * n
    assert plan.held_bytes is not None
    assert plan.held_bytes <= factors + log


# --- recurrent networks ---------------------------------------------------------------------------


def lstm(xs: Any, w: Any, u: Any, b: Any) -> Any:
    n = len(b) // 4
    h, c = np.zeros(n), np.zeros(n)
    for t in range(len(xs)):
        z = w @ xs[t] + u @ h + b
        i = 1 / (1 + np.exp(-z[:n]))
        f = 1 / (1 + np.exp(-z[n : 2 * n]))
        o = 1 / (1 + np.exp(-z[2 * n : 3 * n]))
        g = np.tanh(z[3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return np.sum(h * h)


LSTM = (
    RNG.normal(size=(200, 3)), RNG.normal(size=(32, 3)), RNG.normal(size=(32, 8)),
    RNG.normal(size=32),
)  # fmt: skip
# The expensive ones of those.
GATES = ("i", "1 / (1 + np.exp(-z[n : 2 * n]))", "g", "np.tanh(c)")


@pytest.mark.full
def test_an_lstm_keeps_its_gates_and_recomputes_them_within_a_budget() -> None:
    free = adc.grad(lstm, argnums=(1, 2, 3))
    want, plan = free(*LSTM), free.plan(*LSTM)
    assert {entry.label for entry in plan.entries if entry.decision == KEPT} >= set(GATES)
    assert not any("u.dim0*u.dim1" in entry.bytes for entry in plan.entries), "of vectors"
    assert plan.peak_bytes is not None
    budget = plan.peak_bytes // 2
    tight = adc.grad(lstm, argnums=(1, 2, 3), memory=budget)
    assert chains.bits(tight(*LSTM)) == chains.bits(want)
    within = tight.plan(*LSTM)
    assert (within.peak_bytes or 0) <= budget
    (loop,) = within.loops
    assert (loop.again or 0) > 0
    gates = [entry for entry in within.entries if entry.label in GATES]
    assert gates
    assert all("start" in e.bytes for e in gates if e.decision == KEPT), "of a few iterations"
    assert any(e.decision == RECOMPUTED for e in within.entries if "1 + np.exp(" in e.expression)
    assert within.extra > 0.0


# --- what a plan reports --------------------------------------------------------------------------


def test_logs_have_an_entry() -> None:
    chain = chains.Chain.of(products_of_others, (GRID, 3), (0,))
    for policy in ("auto", "recompute"):
        entries = rematerialize(chain.joined, policy).plan.entries
        (log,) = (entry for entry in entries if entry.value.endswith(".old"))
        assert log.reason == "restores an overwritten element"
        assert log.expression == "u[i, j]"
        assert log.bytes == "8*n*(u.dim0 - 2)*(u.dim1 - 2)"


@pytest.mark.full
def test_triangles_are_added_up() -> None:
    """How often an inner loop runs may depend on the counter of an outer one."""
    plan = plan_of(gram_schmidt_in_two_arrays, (TALL,))
    rows, n = TALL.shape
    (log,) = (e.bytes for e in plan.entries if e.decision == KEPT and "given.dim0" in e.bytes)
    assert log == "8*given.dim0*total(given.dim1 - k - 1)"
    above = n * (n - 1) // 2
    # With the diagonal, the factor, and the columns as they are in the end.
    assert plan.held_bytes == F8 * (rows * above + above + n) + 2 * TALL.nbytes
