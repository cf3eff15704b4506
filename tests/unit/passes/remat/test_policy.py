"""What plans keep of typical programs: what their authors would keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import walk
from adc.passes.remat.plan import KEPT, PlanEntry
from adc.passes.remat.remat import rematerialize
from tests.oracle import chain as chains

RNG = np.random.default_rng(0)
X8, W8 = RNG.normal(size=8), RNG.normal(size=(8, 8))


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


@pytest.mark.full
@pytest.mark.parametrize("fn", [relu, leaky, clipped])
def test_masks_are_bytes(fn: Any) -> None:
    """With frozen weights, masks are all that is kept of every element."""
    found = [e for e in kept(fn, (X8, W8)) if "dim" not in e.value]
    assert [e.bytes for e in found] == ["3*w.dim0"]


def bounded(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = np.clip(w @ x, -0.5, 0.7)
    return np.sum(x * x)


def in_pieces(x: Any, w: Any) -> Any:
    for _ in range(3):
        z = w @ x
        x = np.where(z > 0.0, np.where(z > 1.0, 1.0 + 0.1 * z, z), 0.1 * z)
    return np.sum(x * x)


@pytest.mark.full
@pytest.mark.parametrize("fn", [bounded, in_pieces])
def test_two_masks_are_better_than_what_they_compare(fn: Any) -> None:
    found = [e for e in kept(fn, (X8, W8)) if "dim" not in e.value]
    assert [e.bytes for e in found] == ["3*w.dim0", "3*w.dim0"]


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


def pooled_by_parts(x: Any, w: Any) -> Any:
    y = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            y[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] * w[:2, :2])
    s = np.sum(y)
    return s * s


def sorted_(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(np.sort(x[0] * w[0, 0])) * x[0])


def best(x: Any, w: Any) -> Any:
    y = x[0] * w[0, 0]
    return y[np.argmax(y)] ** 2 + np.max(y) * np.min(y)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", [pooled, pooled_by_parts, pooled_by_shape, sorted_, best])
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


@pytest.mark.full
def test_normalisations_keep_the_scale_and_what_is_normalised() -> None:
    found = kept(normalised, (X8, W8))
    assert sum("dim" not in e.value for e in found) <= 3
    assert any("sqrt" in e.expression for e in found)


def layer_norm(x: Any, w: Any) -> Any:
    for _ in range(3):
        z = x @ w
        m = np.mean(z, axis=1, keepdims=True)
        s = np.sqrt(np.var(z, axis=1, keepdims=True) + 1e-5)
        x = x + np.tanh((z - m) / s)
    return np.sum(x)


def softmax_in_layers(x: Any, w: Any) -> Any:
    for _ in range(3):
        z = x @ w
        e = np.exp(z - np.max(z, axis=1, keepdims=True))
        x = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(x * x)


@pytest.mark.full
def test_layers_keep_products_and_outputs_and_numbers_of_each_row() -> None:
    """Of a normalisation mean and scale, of a softmax what it is made of."""
    for fn, most in ((layer_norm, 2), (softmax_in_layers, 2)):
        found = [e for e in kept(fn, (W8, W8)) if "dim" not in e.value]
        whole = [e for e in found if "*w.dim1*x.dim0" in e.bytes or "*x.dim0*x.dim1" in e.bytes]
        assert len(whole) <= most
        rows = [e.bytes for e in found if e not in whole]
        assert set(rows) == {"24*x.dim0"}
        assert len(rows) <= 3


def two_weights(x: Any, u: Any, w: Any) -> Any:
    for _ in range(3):
        x = u @ x + w @ (x * x)
    return np.sum(x)


@pytest.mark.full
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


# --- products of matrices -------------------------------------------------------------------------


def matrices(a: Any, b: Any) -> Any:
    s = 0.0
    for _ in range(2):
        c = a @ b
        a = np.sin(c + np.sin(a.T @ b))
        s = s + np.sum(a * c)
    return s


def test_products_of_matrices_are_recomputed() -> None:
    chain = chains.Chain.of(matrices, (W8[:3, :3], W8[3:6, :3]), (0,))
    entries = rematerialize(chain.joined, "recompute").plan.entries
    assert any(entry.decision != KEPT for entry in entries)
