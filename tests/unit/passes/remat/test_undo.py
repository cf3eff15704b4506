"""Undo logs: what they store, and that they restore the right values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.core import For, Function, If, Literal, Load, Pop, Stmt, Store
from adc.ir.errors import IRError
from adc.ir.types import Array
from adc.ir.walk import map_blocks
from adc.passes.remat import remat as remat_pass
from adc.passes.remat import undo as undo_pass
from adc.passes.remat.facts import Decisions
from adc.passes.remat.plan import KEPT, RELOADED
from adc.passes.remat.proof.availability import check_availability
from adc.passes.remat.remat import Rematerialized, rematerialize
from adc.passes.remat.undo import restore
from adc.passes.remat.undo.slots import similar_slots
from adc.passes.remat.undo.wanted import Wanted
from tests.corpus.arrays.array_programs import weighted
from tests.corpus.loops.undo_programs import UNDO_PROGRAMS, X7
from tests.corpus.program import Program
from tests.fuzz.families import fuzz_arrays
from tests.oracle import array_oracle
from tests.oracle import chain as chains

BY_NAME = {program.name: program for program in UNDO_PROGRAMS}


def restore_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore every array whose elements are overwritten, whether plans gain from it or not."""
    every = property(lambda wanted: wanted.plan.d.forwarding.overwritten)
    monkeypatch.setattr(Wanted, "overwritten", every)
    monkeypatch.setattr(undo_pass, "_better", lambda *_: True)


def chain_of(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


def planned(name: str, policy: str = "auto") -> Rematerialized:
    return rematerialize(chain_of(BY_NAME[name]).joined, policy)


def kept(name: str, policy: str = "auto") -> list[str]:
    """Return the expressions that are kept."""
    found = planned(name, policy).plan.entries
    return [entry.expression for entry in found if entry.decision == KEPT]


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("undo_sweep", ["u[i]"]),
        ("undo_sweep_dear", ["u[i]"]),
        ("undo_five_points", ["u[i, j]"]),
        ("undo_an_argument", ["x[i]"]),
        ("undo_loops_in_turn", ["u[i]", "u[i]"]),
        ("undo_two_at_once", ["u[i]", "v[i]"]),
        ("undo_in_a_call", ["u[i]"]),
        ("undo_in_every_row", ["u[i]"]),
    ],
)
def test_one_value_for_each_store(name: str, stored: list[str]) -> None:
    assert kept(name) == stored
    assert len(kept(name, "store")) > len(stored)


def test_bytes_count_where_all_is_recomputed() -> None:
    for name, values in (("undo_red_and_black", 1), ("undo_leapfrog", 2)):
        assert len(kept(name, "recompute")) == values


def test_plans_say_what_is_restored() -> None:
    entries = planned("undo_sweep").plan.entries
    assert {e.reason for e in entries if e.decision == KEPT} == {"restores an overwritten element"}
    assert {e.reason for e in entries if e.decision == RELOADED} == {"the array is restored"}


@pytest.mark.parametrize("name", ["undo_swapped", "undo_in_arms_of_one_loop"])
def test_what_cannot_be_undone_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    restore_all(monkeypatch)
    assert "back" not in str(planned(name).fn)


@pytest.mark.full
@pytest.mark.parametrize("program", UNDO_PROGRAMS, ids=str)
def test_no_bit_changes(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that can be undone is: the bits of other plans, and checkpointed loops around it."""
    chain = chain_of(program)
    want, tolerances = array_oracle.gradient(program)
    expected = chains.flat_gradient(want)
    policies = ("store", "auto", "recompute", "random:1", "random:2")
    assert not chains.check_stages(chain, expected, tolerances=tolerances, policies=policies)
    results = chains.bits(chain.run(chain.joined))
    restore_all(monkeypatch)
    again = chain_of(program)
    for policy in ("auto", "recompute", "revolve:1:1", "revolve:2:2", "revolve:2:1:all"):
        for _, fn in again.planned(policy)[1:]:
            assert chains.bits(again.run(fn)) == results, policy


@pytest.mark.full
def test_copies_nothing() -> None:
    for name in ("undo_sweep", "undo_five_points", "undo_leapfrog", "undo_loops_in_turn"):
        program = BY_NAME[name]
        gradient = adc.grad(program.fn, argnums=program.argnums, cache=False)
        gradient(*program.make_args())
        assert not gradient.plan().copies


def sweep(u: Any, steps: Any) -> Any:
    n, m = u.shape
    u = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.2 * (
                    u[i, j] * u[i - 1, j] + u[i + 1, j] * u[i, j - 1] + u[i, j + 1] * u[i, j]
                )
    return np.sum(u * u)


@pytest.mark.full
def test_within_a_budget() -> None:
    """An iteration of a leaf keeps one value for each store, too."""
    u = np.random.default_rng(0).uniform(0.2, 1.0, (60, 70))
    stored = adc.grad(sweep, remat="store", cache=False)
    want = stored(u, 30)
    plans = {}
    for memory in (1_500_000, 400_000):
        gradient = adc.grad(sweep, memory=memory, cache=False)
        assert np.array_equal(gradient(u, 30), want)
        plans[memory] = gradient.plan()
        assert 0 < (plans[memory].peak_bytes or 0) <= memory
    assert (stored.plan().peak_bytes or 0) > 4_500_000
    assert not any(loop.again for loop in plans[1_500_000].loops)
    assert any(loop.again for loop in plans[400_000].loops)


@pytest.mark.full
def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    restore_all(monkeypatch)
    for seed in range(12):
        generated = fuzz_arrays.generate(seed, 14, "stencils")
        chain = chains.Chain.of(generated.fn, generated.args, generated.argnums)
        wanted = chains.bits(chain.run(chain.joined))
        for policy in ("auto", "recompute"):
            assert chains.bits(chain.run(chain.planned(policy)[1][1])) == wanted


# --- arrays that are written once -----------------------------------------------------------------


def written_once(x: Any, n: Any) -> Any:
    out = np.zeros(n + 1)
    out[0] = x[0]
    for t in range(n):
        out[t + 1] = np.sin(out[t] * x[1]) * out[t] + x[2]
    total = 0.0
    for t in range(n + 1):
        total += out[t] * out[t] * x[3]
    return total


def written_once_in_rows(x: Any, n: Any) -> Any:
    out = np.zeros((n + 1, len(x)))
    out[0] = x
    for t in range(n):
        for i in range(1, len(x) - 1):
            out[t + 1, i] = out[t, i] * out[t, i - 1] + 0.3 * out[t, i + 1] * out[t + 1, i - 1]
    return weighted(out)


@pytest.mark.parametrize("fn", [written_once, written_once_in_rows])
def test_what_is_written_once_is_its_own_log(fn: Callable[..., Any]) -> None:
    chain = chains.Chain.of(fn, (X7, 4), (0,))
    done = rematerialize(chain.joined)
    dear = [e.expression for e in done.plan.entries if e.decision == KEPT]
    assert [each for each in dear if "out" in each and "sin" not in each] == []
    assert "back" not in str(done.fn)


# --- defects that the proof finds -----------------------------------------------------------------


def restoring(stmt: Stmt) -> bool:
    return isinstance(stmt, Store) and ".back" in stmt.result.name


def rewritten(stmts: tuple[Stmt, ...], rewrite: Callable[[Stmt], list[Stmt]]) -> tuple[Stmt, ...]:
    done: list[Stmt] = []
    for stmt in stmts:
        inner = map_blocks(stmt, lambda b: replace(b, stmts=rewritten(b.stmts, rewrite)))
        done += rewrite(inner)
    return tuple(done)


def proof_finds(
    defect: Callable[[Stmt], list[Stmt]],
    plan: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Make a plan with everything restored, and the same with a defect, which is detected."""
    restore_all(monkeypatch)
    checked: list[tuple[Function, Function]] = []

    def planted(before: Function, after: Function, recalled: Any) -> None:
        check_availability(before, after, recalled)
        broken = replace(after, body=rewritten(after.body, defect))
        assert broken != after
        checked.append((before, after))
        with pytest.raises(IRError, match="need not have its value"):
            check_availability(before, broken, recalled)

    monkeypatch.setattr(remat_pass, "check_availability", planted)
    plan()
    assert checked


def wrong_index(stmt: Stmt) -> list[Stmt]:
    if restoring(stmt):
        assert isinstance(stmt, Store)
        return [replace(stmt, index=(Literal(1, stmt.index[0].type), *stmt.index[1:]))]
    return [stmt]


def wrong_value(stmt: Stmt) -> list[Stmt]:
    if restoring(stmt):
        assert isinstance(stmt, Store)
        return [replace(stmt, value=Literal(0.25, stmt.value.type))]
    return [stmt]


def added(stmt: Stmt) -> list[Stmt]:
    return (
        [replace(stmt, accumulate=True)] if isinstance(stmt, Store) and restoring(stmt) else [stmt]
    )


def not_taken_back(stmt: Stmt) -> list[Stmt]:
    """Loops carry the array that they began with."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        yields = tuple(
            param if isinstance(param.type, Array) and ".back" in param.name else operand
            for param, operand in zip(stmt.body.params, stmt.body.yields, strict=True)
        )
        return [replace(stmt, body=replace(stmt.body, yields=yields))]
    return [stmt]


def begun_elsewhere(stmt: Stmt) -> list[Stmt]:
    """One iteration too few is undone."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        return [replace(stmt, trips=Literal(3, stmt.trips.type))]
    return [stmt]


def arms_swapped(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, If) and any(".back" in result.name for result in stmt.results):
        return [replace(stmt, then=stmt.orelse, orelse=stmt.then)]
    return [stmt]


def always(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, If) and any(".back" in result.name for result in stmt.results):
        return [replace(stmt, cond=Literal(True, stmt.cond.type))]
    return [stmt]


def popped_in_another_order(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, Pop) and len(stmt.results) > 1:
        first, *rest = stmt.results
        return [replace(stmt, results=(*rest, first))]
    return [stmt]


DEFECTS = [
    ("undo_sweep", wrong_index),
    ("undo_five_points_twice", wrong_index),
    ("undo_sweep", wrong_value),
    ("undo_sweep", added),
    ("undo_sweep", not_taken_back),
    ("undo_five_points", not_taken_back),
    ("undo_sweep", begun_elsewhere),
    ("undo_under_branches", arms_swapped),
    ("undo_under_branches", always),
    ("undo_twice_an_iteration", popped_in_another_order),
]


@pytest.mark.parametrize(("name", "defect"), DEFECTS)
def test_the_proof_finds_defects(
    name: str, defect: Callable[[Stmt], list[Stmt]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proof_finds(defect, lambda: planned(name), monkeypatch)


def restores_swapped(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Stores of an iteration are undone in the wrong order."""
    places = [k for k, stmt in enumerate(stmts) if restoring(stmt)]
    done = list(stmts)
    if len(places) > 1:
        a, b = stmts[places[0]], stmts[places[1]]
        assert isinstance(a, Store)
        assert isinstance(b, Store)
        done[places[0]] = replace(a, index=b.index, value=b.value)
        done[places[1]] = replace(b, index=a.index, value=a.value)
    return tuple(
        map_blocks(stmt, lambda b: replace(b, stmts=restores_swapped(b.stmts))) for stmt in done
    )


def test_the_proof_finds_a_wrong_order(monkeypatch: pytest.MonkeyPatch) -> None:
    restore_all(monkeypatch)
    original = restore.Undoing.run

    def planted(self: Any, wanted: Any) -> Any:
        found = original(self, wanted)
        if found is None:
            return None
        fn, restored = found
        return replace(fn, body=restores_swapped(fn.body)), restored

    monkeypatch.setattr(restore.Undoing, "run", planted)
    with pytest.raises(IRError, match="need not have its value"):
        planned("undo_twice_an_iteration")


def test_the_proof_finds_elements_that_were_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads that an earlier store of the iteration may have changed."""
    restore_all(monkeypatch)

    def agrees(self: Any, load: Load, version: Any) -> bool:
        families = self.forwarding.families
        related: bool = families.find(load.array) == families.find(version)
        return related and load.result not in self.logged

    monkeypatch.setattr(restore.Undoing, "agrees", agrees)
    with pytest.raises(IRError, match="need not have its value"):
        planned("undo_scattered_reads")


@pytest.mark.full
def test_the_log_changes_no_bit() -> None:
    """With Recalls, before anything is decided, the function computes the same."""
    chain = chain_of(BY_NAME["undo_five_points_twice"])
    made: list[Function] = []
    decide = undo_pass.undone

    def spied(fn: Function, plan: Any, **options: Any) -> Any:
        done = decide(fn, plan, **options)
        made.append(done[0])
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remat_pass, "undone", spied)
        rematerialize(chain.joined)
    (log,) = made
    assert log != chain.joined
    assert not chains.well_formed(log)
    assert chains.bits(chain.run(log)) == chains.bits(chain.run(chain.joined))


@pytest.mark.full
@pytest.mark.parametrize("name", BY_NAME)
def test_the_analysis_of_an_attempt_is_that_of_its_code(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is extended by the loads that an undo log inserts, not made again."""
    decide = remat_pass._Remat.chooser

    def compared(self: Any, decisions: Decisions, *rest: Any) -> Any:
        known, fresh = decisions.forwarding, Forwarding(decisions.fn)
        assert known.by_result.keys() == fresh.by_result.keys()
        assert known.stale == fresh.stale
        for result, access in fresh.by_result.items():
            assert isinstance(access.stmt, Load)
            assert known.by_result[result].forms == access.forms
            assert known.source(access.stmt) == fresh.source(access.stmt)
            assert known.within(access.stmt) == fresh.within(access.stmt)
        return decide(self, decisions, *rest)

    monkeypatch.setattr(remat_pass._Remat, "chooser", compared)
    for policy in ("auto", "recompute", "random:1"):
        planned(name, policy)


def one_loop_twice(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = np.sin(x[i] * x[i - 1])
    for i in range(1, len(x)):
        x[i] = np.sin(x[i] * x[i - 1])
    for i in range(1, len(x)):
        x[i] = np.cos(x[i] * x[i - 1])
    return np.sum(x)


def test_loops_that_differ_in_names_are_planned_together() -> None:
    joined = chains.Chain.of(one_loop_twice, (np.linspace(0.1, 0.9, 5),), (0,)).joined
    assert sorted(map(len, similar_slots(joined))) == [1, 2]


def accumulated(x: Any) -> Any:
    total, scale = np.zeros(x.size), np.ones(x.size)
    for k in range(x.size):
        for j in range(x.size):
            total[j] += x[k] * x[j]
    for k in range(1, x.size):
        scale[k] = scale[k] * scale[k - 1] * x[k]
        scale[k - 1] = 2.0 * x[k]
    return np.sum(np.sin(total) + scale)


def test_sums_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No old element of a sum is needed; elements of products are."""
    tried: list[str] = []
    original = restore.Undoing.run

    def noted(self: Any, wanted: Any, **kwargs: Any) -> Any:
        tried.extend(each.result.name for each in wanted)
        return original(self, wanted, **kwargs)

    monkeypatch.setattr(restore.Undoing, "run", noted)
    joined = chains.Chain.of(accumulated, (np.linspace(0.4, 0.9, 5),), (0,)).joined
    rematerialize(joined, "auto")
    assert len(tried) == 1
    tried.clear()
    restore_all(monkeypatch)
    rematerialize(joined, "auto")
    assert len(tried) == 2
