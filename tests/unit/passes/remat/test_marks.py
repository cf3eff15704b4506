"""The user's marks of values: `adc.save`, `adc.recompute`, `adc.checkpoint`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import Function
from adc.ir.errors import RecomputeError
from adc.ir.walk import marked
from adc.passes.remat.plan import KEPT, RECOMPUTED, RELOADED, Plan
from adc.passes.remat.remat import rematerialize
from tests.corpus.language.containers.kept_programs import KEPT_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import differentiable
from tests.oracle import chain as chains

POLICIES = ("auto", "store", "recompute", "random:1", "revolve:2:1", "revolve:2:2:all")


def without_marks(fn: Function) -> Function:
    def plain(each: Function) -> Function:
        return replace(each, body=marked(each.body, lambda value: None))

    derived = tuple(replace(each, of=without_marks(each.of)) for each in fn.derived)
    return replace(plain(fn), callees=tuple(map(plain, fn.callees)), derived=derived)


def bits(results: Sequence[Any]) -> list[bytes]:
    return [np.asarray(each).tobytes() for each in results]


KEEPING = [program for program in KEPT_PROGRAMS if "keep" in program.tags]


@pytest.mark.sampled(120)
@pytest.mark.parametrize("program", [*differentiable(), *KEEPING], ids=str)
def test_marks_change_no_bit(program: Program) -> None:
    """Of any program of the corpus, as it is and as the inside of a checkpointed call."""
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    plain = replace(chain.lowered, fn=without_marks(chain.lowered.fn))
    other = replace(chain, lowered=plain, _planned={}, _results=[])
    want = bits(chain.run(other.planned("auto")[-1][1]))
    number = program.number(len(POLICIES))
    policies = POLICIES if "keep" in program.tags else POLICIES[number : number + 1]
    inside = chains.Chain.of(adc.checkpoint(program.fn), program.make_args(), program.argnums)
    for policy in policies:
        assert bits(inside.run(inside.planned(policy)[-1][1])) == want, policy
        if "keep" in program.tags:
            assert bits(chain.run(chain.planned(policy)[-1][1])) == want, policy


# --- plans ----------------------------------------------------------------------------------------


def plan_of(fn: Any, args: tuple[Any, ...], policy: str = "auto") -> Plan:
    chain = chains.Chain.of(fn, args, (0,))
    return rematerialize(chain.joined, policy).plan


def made(plan: Plan, reason: str) -> set[str]:
    return {entry.decision for entry in plan.entries if entry.reason == reason}


def saved(x: Any) -> Any:
    s = 0.3
    for v in x:
        s = s * adc.save(v * v + 1.0)
    return s


def recomputed(x: Any) -> Any:
    s = 0.3
    for v in x:
        s = math.sin(s) * adc.recompute(math.tanh(v * s))
    return s


@pytest.mark.parametrize("policy", ["auto", "store", "recompute", "random:3"])
def test_what_is_said_holds_under_every_policy(policy: str) -> None:
    x = np.linspace(0.1, 0.5, 4)
    assert made(plan_of(saved, (x,), policy), "adc.save") == {KEPT}
    assert made(plan_of(recomputed, (x,), policy), "adc.recompute") == {RECOMPUTED}


def saved_by_name(x: Any) -> Any:
    s = 0.3
    for v in x:
        factor = adc.save(v * v + 1.0)
        s = s * factor
    return s


def saved_in_a_dict(x: Any, n: Any) -> Any:
    d = {"a": x, "b": x}
    for _ in range(n):
        d["b"] = np.exp(-x)
        adc.save(d)
        x = np.sin(x) * d["b"]
    return np.sum(x)


def test_marks_of_variables_and_containers() -> None:
    x = np.linspace(0.1, 0.5, 4)
    assert made(plan_of(saved_by_name, (x,)), "adc.save") == {KEPT}
    assert KEPT in made(plan_of(saved_in_a_dict, (x, 3)), "adc.save")


def layers(x: Any, n: Any) -> Any:
    for _ in range(n):
        z = np.tanh(x)
        y = np.cumsum(z)
        x = z * np.exp(-y) + y
    return np.sum(x)


def _block(x: Any) -> Any:
    z = np.tanh(x)
    y = np.cumsum(z)
    return z * np.exp(-y) + y


def checkpointed_layers(x: Any, n: Any) -> Any:
    block = adc.checkpoint(_block)
    for _ in range(n):
        x = block(x)
    return np.sum(x)


def test_a_checkpointed_call_keeps_its_arguments_only() -> None:
    x = np.linspace(0.1, 0.5, 50)
    plain, marked_ = adc.grad(layers), adc.grad(checkpointed_layers)
    assert np.array_equal(plain(x, 30), marked_(x, 30))
    kept = [e for e in marked_.plan(x, 30).entries if e.decision == KEPT]
    assert [e.function for e in kept] == ["checkpointed_layers"]
    one = 30 * x.nbytes
    assert (marked_.plan(x, 30).peak_bytes or 0) < one + 6 * x.nbytes
    assert (plain.plan(x, 30).peak_bytes or 0) > 2 * one


@pytest.mark.full
def test_checkpoints_and_budgets() -> None:
    x = np.linspace(0.1, 0.5, 50)
    want = adc.grad(layers)(x, 30)
    found = adc.grad(checkpointed_layers, memory=20 * x.nbytes)
    assert np.array_equal(found(x, 30), want)
    assert (found.plan(x, 30).peak_bytes or 0) <= 20 * x.nbytes


def saved_steps(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = np.sin(x) * adc.save(np.exp(-x))
    return np.sum(x)


def test_saved_arrays_are_kept() -> None:
    plan = plan_of(saved_steps, (np.linspace(0.1, 0.5, 4), 3))
    assert made(plan, "adc.save") <= {KEPT, RELOADED}
    assert KEPT in made(plan, "adc.save")


@pytest.mark.full
def test_no_ops_elsewhere() -> None:
    a = np.arange(3.0)
    assert adc.save(a) is a
    assert adc.recompute(a) is a
    assert adc.save([1, a])[1] is a
    assert adc.checkpoint(_block)(a) == pytest.approx(_block(a))
    assert adc.jit(checkpointed_layers)(a, 2) == pytest.approx(layers(a, 2))
    assert adc.jvp(saved, (a,), (a,))[1] == pytest.approx(float(adc.grad(saved)(a) @ a))


def noise(x: Any, rng: Any) -> Any:
    return np.where(rng.random(len(x)) < 0.5, x * x, 0.3 * x) * rng.normal(size=len(x))


def noisy(x: Any, rng: Any, n: Any) -> Any:
    for _ in range(n):
        x = np.sin(noise(x, rng))
    return np.sum(x)


def checkpointed_noise(x: Any, rng: Any, n: Any) -> Any:
    for _ in range(n):
        x = np.sin(adc.checkpoint(noise)(x, rng))
    return np.sum(x)


@pytest.mark.full
@pytest.mark.parametrize("policy", ["auto", "store", "recompute"])
def test_draws_are_the_same(policy: str) -> None:
    x = np.linspace(0.1, 0.9, 7)
    left, right = np.random.default_rng(3), np.random.default_rng(3)
    want = adc.grad(noisy)(x, left, 4)
    assert np.array_equal(adc.grad(checkpointed_noise, remat=policy)(x, right, 4), want)
    assert left.random() == right.random()


def speaking(x: Any, n: Any) -> Any:
    for k in range(n):
        print("step", k)
        x = math.sin(x) * x
    return x


def test_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    df = adc.grad(lambda x: adc.checkpoint(speaking)(x, 3) * x)
    assert df(0.4) == adc.grad(lambda x: speaking(x, 3) * x)(0.4)
    assert capsys.readouterr().out.count("step 2") == 2


def speaking_at_depth(x: Any, n: Any) -> Any:
    if n == 0:
        return math.sin(x)
    print("step", n)
    return speaking_at_depth(math.sin(x) * x, n - 1) + x


def test_recursion_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = adc.grad(adc.checkpoint(speaking_at_depth), target="python")(0.4, 2)
    assert capsys.readouterr().out == "step 2\nstep 1\n"
    values = [speaking_at_depth(0.4 + step, 2) for step in (-1e-6, 1e-6)]
    assert found == pytest.approx((values[1] - values[0]) / 2e-6)


def through_another(x: Any, n: Any) -> Any:
    if n == 0:
        return speaking_at_depth(x, 2)
    return through_another(math.sin(x), n - 1) * x


def test_a_call_of_what_prints_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = adc.grad(adc.checkpoint(through_another), target="python")(0.4, 1)
    assert capsys.readouterr().out == "step 2\nstep 1\n"
    values = [through_another(0.4 + step, 1) for step in (-1e-6, 1e-6)]
    assert found == pytest.approx((values[1] - values[0]) / 2e-6)


def carried(x: Any) -> Any:
    for _ in range(3):
        x = math.sin(adc.recompute(x))
    return x


def drawn(x: Any, rng: Any) -> Any:
    for _ in range(3):
        x = x * adc.recompute(rng.random())
    return x


def saved_carried(x: Any) -> Any:
    for _ in range(3):
        x = math.sin(adc.save(x))
    return x


def test_what_cannot_be_recomputed_is_kept_as_the_user_says() -> None:
    assert made(plan_of(saved_carried, (0.3,)), "adc.save") == {KEPT}


def test_words_that_are_drawn_are_kept() -> None:
    df = adc.grad(drawn)
    want = np.prod(np.random.default_rng(0).random(3))
    assert df(0.3, np.random.default_rng(0)) == pytest.approx(want)
    assert [e.bytes for e in df.plan().entries if e.decision == KEPT] == ["24"]


def test_what_cannot_be_computed_again() -> None:
    with pytest.raises(RecomputeError, match="carried from iteration to iteration") as found:
        adc.grad(carried)(0.3)
    assert "adc.recompute(x)" in str(found.value)
    assert "^^^" in str(found.value)
    assert found.value.hint


@pytest.mark.full
def test_code_on_disk_is_that_of_the_marks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path))
    x = np.linspace(0.1, 0.5, 4)
    for _ in range(2):
        plans = [adc.grad(f) for f in (_whole, adc.checkpoint(_whole))]
        assert plans[0](x) is not None
        assert plans[1](x) is not None
        reasons = [{e.reason for e in p.plan().entries} for p in plans]
        assert "adc.checkpoint" not in reasons[0]
        assert "adc.checkpoint" in reasons[1]


def _whole(x: Any) -> Any:
    s = 0.3
    for v in x:
        s = s * math.exp(v) * math.tanh(v * s)
    return s
