"""Programs whose functions are lowered once and called, wherever that is possible."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.control import program as calls_of_program
from adc.frontend.inputs import stacks
from adc.ir.core import Call, walk
from adc.passes.remat.plan import KEPT
from adc.passes.remat.remat import rematerialize
from tests.corpus.language.functions.layer_programs import LAYER_PROGRAMS
from tests.corpus.program import Program
from tests.oracle import array_oracle
from tests.oracle import chain as chains
from tests.system.test_array_programs import DIFFERENTIABLE

# What changes a list, or holds the state of a generator, is part of its caller.
INLINED = {"layers_append", "layers_that_draw", "layers_trained_by_hand"}


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all calls be shared, and none be inlined again."""
    monkeypatch.setattr(stacks, "places", lambda *_: ())
    monkeypatch.setattr(calls_of_program, "LEAST", 0)
    monkeypatch.setattr(calls_of_program, "SAVED", 0)
    inlining: Any = importlib.import_module("adc.passes.scalar.calls")
    monkeypatch.setattr(inlining, "SMALL", -1)
    monkeypatch.setattr(inlining, "LARGE", -1)


def check(program: Program, policies: tuple[str, ...]) -> chains.Chain:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    gradient, tolerances = array_oracle.gradient(program)
    want = chains.flat_gradient(gradient)
    found = chains.check_stages(chain, want, tolerances=tolerances, policies=policies)
    found += chains.check_tangent(chain, np.random.default_rng(0))
    assert not found
    return chain


@pytest.mark.sampled(60)
@pytest.mark.parametrize("program", LAYER_PROGRAMS, ids=str)
def test_layers(program: Program) -> None:
    chain = check(program, ("auto", "store", "recompute"))
    called = {stmt.callee for stmt in walk(chain.lowered.fn.body) if isinstance(stmt, Call)}
    own = [name for name in called if not name.startswith("weighted")]
    assert bool(own) == (program.name not in INLINED)


@pytest.mark.sampled(400)
@pytest.mark.parametrize("program", [p for p in DIFFERENTIABLE if not p.number(3)], ids=str)
def test_corpus(program: Program) -> None:
    check(program, ("auto",))


def layer(x: Any, w: Any) -> Any:
    y = np.tanh(x @ w)
    return np.exp(y - np.max(y)) * x


def network(x: Any, ws: list[Any]) -> Any:
    for w in ws:
        x = layer(x, w)
    return np.sum(x)


def arguments() -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(1)
    return rng.standard_normal((32, 16)), [rng.standard_normal((16, 16)) / 4 for _ in range(12)]


@pytest.mark.parametrize("share", [0.6, pytest.param(0.8, marks=pytest.mark.full)])
def test_a_budget_recomputes_calls(share: float) -> None:
    x, ws = arguments()
    free = adc.value_and_grad(network, argnums=(0, 1), target="python")
    want = free(x, ws)
    most = free.plan(x, ws).peak_bytes
    assert most is not None
    memory = int(share * most)
    tight = adc.value_and_grad(network, argnums=(0, 1), memory=memory, target="python")
    value, (dx, dws) = tight(x, ws)
    assert value == want[0]
    np.testing.assert_array_equal(dx, want[1][0])
    np.testing.assert_array_equal(dws, want[1][1])
    assert tight.source(x, ws).count("_again(") >= 2
    used = tight.plan().peak_bytes
    assert used is not None
    assert used <= share * most


def least(function: Any, *args: Any) -> int:
    """Return the smallest budget that an error names."""
    with pytest.raises(adc.AdcError, match="smallest budget") as caught:
        adc.grad(function, memory=1)(*args)
    found = re.search(r"memory=(\d+)", caught.value.hint)
    assert found
    return int(found[1])


@pytest.mark.full
def test_a_budget_that_inlined_code_meets_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    x, ws = arguments()
    want = adc.grad(network)(x, ws[:4])
    with monkeypatch.context() as patch:
        patch.setattr(calls_of_program, "SAVED", 10**9)
        patch.setattr(calls_of_program, "TOTAL", 10**9)
        adc.release_memory()
        budget = least(network, x, ws[:4])
    adc.release_memory()
    np.testing.assert_allclose(adc.grad(network, memory=budget)(x, ws[:4]), want, rtol=1e-12)


@pytest.mark.full
def test_a_layer_more_adds_calls_only() -> None:
    sizes = []
    for count in (4, 6):
        x, ws = arguments()
        source = adc.grad(network, argnums=(0, 1)).source(x, ws[:count])
        sizes.append(len(source.splitlines()))
        assert source.count("\ndef layer") == 2  # forward, and reverse
    assert sizes[1] - sizes[0] < 2 * 40


def test_plans_count_what_every_call_keeps() -> None:
    def twice(x: Any, w: Any) -> Any:
        return np.sum(layer(layer(x, w), w))

    x, ws = arguments()
    chain = chains.Chain.of(twice, (x, ws[0]), (0, 1))
    plan = rematerialize(chain.joined, "store").plan
    kept = [entry.bytes for entry in plan.entries if entry.decision == KEPT]
    assert kept
    assert all(size.startswith("8*calls") for size in kept), kept


def test_rows_are_passed_to_one_function() -> None:
    """Where a row begins is an argument."""

    def rows(x: Any, w: Any) -> Any:
        return np.sum(layer(x[0], w) * layer(x[2], w)) + np.sum(layer(x[-1], w))

    x, ws = arguments()
    chain = chains.Chain.of(rows, (x, ws[0]), (0, 1))
    calls = [stmt for stmt in walk(chain.lowered.fn.body) if isinstance(stmt, Call)]
    assert len(calls) == 3
    assert len({call.callee for call in calls}) == 1


@pytest.mark.full
def test_errors_name_the_line_of_the_function() -> None:
    x, ws = arguments()
    gradient = adc.grad(network)
    gradient(x, ws)
    with pytest.raises(ValueError, match="matmul") as caught:
        gradient(x, [*ws[:-1], ws[0][:5]])
    assert "y = np.tanh(x @ w)" in str(caught.traceback[-1].statement)


@pytest.mark.full
@pytest.mark.parametrize("make", [adc.jacfwd, adc.jacrev, adc.hessian])
def test_other_derivatives(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, ws = arguments()
    got = make(network)(x[:2, :3], [w[:3, :3] for w in ws])
    adc.release_memory()
    monkeypatch.setattr(calls_of_program, "SAVED", 10**9)
    want = make(network)(x[:2, :3], [w[:3, :3] for w in ws])
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)
