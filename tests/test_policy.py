"""What plans keep of programs that people write: what their authors would keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import walk
from adc.passes.plan import KEPT, PlanEntry
from adc.passes.remat import rematerialize
from tests import chain as chains

RNG = np.random.default_rng(0)
X8, W8 = RNG.normal(size=8), RNG.normal(size=(8, 8))
X3, W4 = RNG.normal(size=(20, 3)), RNG.normal(size=(16, 4))


def kept(fn: Any, args: Sequence[Any], argnums: Sequence[int] = (0,)) -> list[PlanEntry]:
    """Return what is kept, after checking that plans differ in no bit."""
    chain = chains.Chain.of(fn, tuple(args), argnums)
    results = [chain.run(chain.planned(policy)[-1][1]) for policy in chains.POLICIES]
    for found in results[1:]:
        assert [np.asarray(r).tobytes() for r in found] == [
            np.asarray(r).tobytes() for r in results[0]
        ]
    plan = rematerialize(chain.joined, "auto").plan
    return [entry for entry in plan.entries if entry.decision == KEPT]


# --- decisions and masks --------------------------------------------------------------------------


def branches(x: Any) -> Any:
    s = 1.0
    for v in x:
        if math.sin(s) > 0.1:
            s = s * 1.5 + v
        else:
            s = s - 0.5 * v
    return s


def test_decisions_are_bytes() -> None:
    (entry,) = kept(branches, (X8,))
    assert entry.bytes == "x.dim0"


def relu(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = np.maximum(w @ x, 0.0)
    return np.sum(x * x)


def leaky(x: Any, w: Any) -> Any:
    for _ in range(3):
        z = w @ x
        x = np.where(z > 0.0, z, 0.1 * z)
    return np.sum(x * x)


def clipped(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = np.minimum(w @ x, 0.7)
    return np.sum(x * x)


@pytest.mark.parametrize("fn", [relu, leaky, clipped])
def test_masks_are_bytes(fn: Any) -> None:
    """With frozen weights, masks are all that is kept of every element."""
    found = [e for e in kept(fn, (X8, W8)) if "dim" not in e.value]
    assert [e.bytes for e in found] == ["3*w.dim0"]


def pooled(x: Any, w: Any) -> Any:
    best = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            m = -math.inf
            for k in range(2):
                for l in range(2):  # noqa: E741
                    v = x[2 * i + k, 2 * j + l] * w[k, l]
                    if v > m:
                        m = v
            best[i, j] = m
    s = np.sum(best)
    return s * s


def pooled_by_shape(x: Any, w: Any) -> Any:
    a = x * w[0, 0]
    b = a.reshape(4, 2, 4, 2).max(axis=(1, 3))
    s = np.sum(b * b)
    return s * s


def sorted_(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(np.sort(x[0] * w[0, 0])) * x[0])


def best(x: Any, w: Any) -> Any:
    y = x[0] * w[0, 0]
    return y[np.argmax(y)] ** 2 + np.max(y) * np.min(y)


@pytest.mark.parametrize("fn", [pooled, pooled_by_shape, sorted_, best])
def test_routes_are_no_floats(fn: Any) -> None:
    chain = chains.Chain.of(fn, (W8, W8), (0, 1))
    values = {v.name: v.type for s in walk(chain.joined.body) for v in s.results}
    for entry in kept(fn, (W8, W8), (0, 1)):
        assert values[entry.value].kind in "bi", entry


# --- layers ---------------------------------------------------------------------------------------


def softmax(x: Any, w: Any, y: Any) -> Any:
    z = w @ x
    e = np.exp(z - np.max(z))
    return -np.sum(y * np.log(e / np.sum(e)))


def test_softmax_keeps_nothing_but_its_terms() -> None:
    assert not kept(softmax, (X8, W8, X8), (0, 1))


def normalised(x: Any, w: Any) -> Any:
    for _ in range(3):
        z = w @ x
        x = (z - np.mean(z)) / np.sqrt(np.var(z) + 1e-5)
    return np.sum(x**3)


def test_normalisations_keep_the_scale_and_what_is_normalised() -> None:
    found = kept(normalised, (X8, W8))
    assert sum("dim" not in e.value for e in found) <= 3
    assert any("sqrt" in e.expression for e in found)


def two_weights(x: Any, u: Any, w: Any) -> Any:
    for _ in range(3):
        x = u @ x + w @ (x * x)
    return np.sum(x)


def test_frozen_arguments_keep_nothing_for_their_sake() -> None:
    both = len(kept(two_weights, (X8, W8, W8), (1, 2)))
    one = len(kept(two_weights, (X8, W8, W8), (1,)))
    assert one <= both

    def stopped(x: Any, w: Any) -> Any:
        s = 0.0
        for v in x:
            s = s + adc.stop_gradient(math.tanh(v * w)) * v
        return s

    assert not kept(stopped, (X8, 0.3))


def test_products_in_loops_keep_vectors_not_matrices() -> None:
    """Every row of a product loads the vector: it is kept once."""
    found = kept(relu, (X8, W8), (0, 1))
    assert [e.bytes for e in found if "dim" not in e.value] == ["24*x.dim0", "3*w.dim0"]


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


def test_lstm_keeps_gates_and_recomputes_them_under_a_budget() -> None:
    args = (RNG.normal(size=(60, 3)), RNG.normal(size=(16, 3)), W4, RNG.normal(size=16))
    plain = adc.grad(lstm, argnums=(1, 2, 3))
    want = plain(*args)
    gates = [e for e in plain.plan(*args).entries if e.decision == KEPT]
    assert any("np.tanh" in e.expression for e in gates)
    assert not any("u.dim0*u.dim1" in e.bytes for e in gates), "vectors, not matrices"
    peak = plain.plan(*args).peak_bytes or 0
    tight = adc.grad(lstm, argnums=(1, 2, 3), memory=peak // 2)
    for a, b in zip(tight(*args), want, strict=True):
        assert np.array_equal(a, b)
    assert (tight.plan(*args).peak_bytes or 0) <= peak // 2


# --- linear algebra -------------------------------------------------------------------------------

SPD = W8[:4, :4] @ W8[:4, :4].T + 4.0 * np.eye(4)


def cholesky(a: Any) -> Any:
    return np.sum(np.log(np.diag(np.linalg.cholesky(a))))


def cholesky_in_place(given: Any) -> Any:
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


def lu_in_place(given: Any) -> Any:
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


def gauss_seidel(u: Any, n: Any = 3) -> Any:
    for _ in range(n):
        for i in range(1, len(u) - 1):
            for j in range(1, len(u) - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def jacobi(u: Any, n: Any = 3) -> Any:
    for _ in range(n):
        v = u.copy()
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u = v
    return np.sum(u * u)


@pytest.mark.parametrize("fn", [cholesky, cholesky_in_place, lu_in_place, gauss_seidel, jacobi])
def test_factorizations_and_linear_sweeps_keep_nothing_more(fn: Any) -> None:
    assert not kept(fn, (SPD,))


def gram_schmidt(given: Any) -> Any:
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


def test_gram_schmidt_keeps_what_it_overwrites() -> None:
    df = adc.grad(gram_schmidt)
    a = RNG.normal(size=(40, 6))
    df(a)
    # Every column is overwritten once for each before it, and once by itself.
    log = a.shape[0] * sum(range(7)) * 8
    assert (df.plan(a).peak_bytes or 0) < log + 4 * a.nbytes
