"""Tests of the tests: a defect planted anywhere in the chain must be noticed on the corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc.passes.memory.hoist_allocations as lift_pass
from adc.ir.analysis.dependence.accesses import Visit
from adc.ir.analysis.dependence.dependence_test import DependenceTest
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.memory import lifetimes as lifetimes_pass
from adc.ir.analysis.memory.liveness import Mentions
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.builder import integer, zero
from adc.ir.core import (
    Apply,
    For,
    Function,
    If,
    Load,
    Pop,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.errors import UnsupportedError
from adc.ir.functions import without_prints
from adc.ir.interp import ProgramError
from adc.ir.opdef import OPS
from adc.ir.rules import vjp_rule
from adc.ir.text.parser import parse
from adc.ir.types import Scalar
from adc.ir.walk import clone, map_blocks
from adc.passes import pipeline, stages
from adc.passes.ad.shared_states import _Handing
from adc.passes.loops import distribute as distribute_pass
from adc.passes.loops import fuse_reverse as local_pass
from adc.passes.loops import interchange as interchange_pass
from adc.passes.loops.contract import _Contractor
from adc.passes.loops.gather.find import Finder
from adc.passes.loops.gather.rewrite import Gathering
from adc.passes.loops.overwrite import Overwriting
from adc.passes.memory import coalesce as coalesce_pass
from adc.passes.memory import storage as storage_pass
from adc.passes.memory.coalesce import _Coalescer
from adc.passes.remat import rerun as rerun_pass
from adc.passes.remat.remat import Rematerialized
from adc.passes.scalar import cse as cse_pass
from adc.passes.scalar import hoist_checks as guard_pass
from adc.passes.scalar import predicates as predicates_pass
from adc.passes.scalar.inline import _Inliner
from adc.passes.stages import Stage
from adc.passes.target import scalar_replacement as registers_pass
from adc.passes.target import vectorizable as apart_pass
from tests.corpus.arrays.array_programs import ARRAY_PROGRAMS, SHARP
from tests.corpus.language.containers.kept_programs import KEPT_PROGRAMS
from tests.corpus.loops.carried_programs import CARRIED_PROGRAMS
from tests.corpus.loops.kernel_programs import KERNEL_PROGRAMS
from tests.corpus.loops.stencil_programs import STENCIL_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import NOTICING, PROGRAMS, differentiable
from tests.oracle import chain as chains
from tests.oracle import oracle

Rewrite = Callable[[Stmt], "Stmt | list[Stmt]"]


def rewritten(fn: Function, rewrite: Rewrite) -> Function:
    """Apply `rewrite` to every statement, nested ones first."""

    def many(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            stmt = map_blocks(stmt, lambda block: replace(block, stmts=many(block.stmts)))
            new = rewrite(stmt)
            done.extend(new if isinstance(new, list) else [new])
        return tuple(done)

    callees = tuple(replace(callee, body=many(callee.body)) for callee in fn.callees)
    return replace(fn, body=many(fn.body), callees=callees)


def complaints(program: Program) -> list[str]:
    """Run every check that does not compile; an error of the compiler is a complaint, too."""
    want = chains.flat_gradient(oracle.oracle_gradient(program))
    try:
        chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
        return chains.check_stages(chain, want, policies=("store", "recompute", "auto"))
    except ProgramError as error:
        return [str(error)]
    except UnsupportedError:
        raise  # a refused program notices nothing
    except Exception as error:
        return [repr(error)]


def assert_caught(tags: tuple[str, ...] = ("numeric", "mutates", "exit", "while", "alias")) -> None:
    programs = [
        p for p in differentiable() if (not tags or p.tags & set(tags)) and "float32" not in p.tags
    ]
    # First those that notice what few do.
    programs.sort(key=lambda p: p.name not in NOTICING)
    assert any(complaints(program) for program in programs)


@pytest.mark.full
def test_the_checks_are_silent_without_a_defect() -> None:
    for program in differentiable():
        if program.tags & {"mutates", "exit"} and "float32" not in program.tags:
            assert not complaints(program)


# -- derivative rules --------------------------------------------------------------------------


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Any:
    def plant(name: str, vjp: Callable[..., Any]) -> None:
        original = OPS[name].vjp
        object.__setattr__(OPS[name], "vjp", vjp)
        vjp_rule.cache_clear()
        undo.append((name, original))

    undo: list[tuple[str, Any]] = []
    yield plant
    for name, original in undo:
        object.__setattr__(OPS[name], "vjp", original)
    vjp_rule.cache_clear()


def test_wrong_sign_in_a_rule(rule: Any) -> None:
    rule("cos", lambda ct, y, x: (ct * OPS["sin"](x),))
    assert_caught(())


def test_swapped_contributions(rule: Any) -> None:
    rule("mul", lambda ct, y, a, b: (ct * a, ct * b))
    assert_caught()


@pytest.mark.full
def test_slightly_wrong_factor(rule: Any) -> None:
    rule("tanh", lambda ct, y, x: (1.0005 * ct * (1.0 - y * y),))
    assert_caught(())


# -- adjoint -----------------------------------------------------------------------------------


def plant_in(monkeypatch: pytest.MonkeyPatch, name: str, rewrite: Rewrite) -> None:
    """Rewrite what a pass returns."""
    module: Any = pipeline if name == "rematerialize" else chains
    original = getattr(module, name)

    def planted(*args: Any, **kwargs: Any) -> Any:
        done = original(*args, **kwargs)
        if isinstance(done, Rematerialized):
            return replace(done, fn=rewritten(done.fn, rewrite))
        return rewritten(done, rewrite)

    monkeypatch.setattr(module, name, planted)


@pytest.mark.full
def test_dropped_accumulate(monkeypatch: pytest.MonkeyPatch) -> None:
    def overwrite(stmt: Stmt) -> Stmt:
        return replace(stmt, accumulate=False) if isinstance(stmt, Store) else stmt

    plant_in(monkeypatch, "adjoint", overwrite)
    assert_caught()


def test_cotangent_not_cleared_by_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store) and not stmt.accumulate and ".ct" in stmt.result.name:
            return replace(stmt, accumulate=True)
        return stmt

    plant_in(monkeypatch, "adjoint", keep)
    assert_caught()


def test_arms_of_reverse_branches_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(stmt: Stmt) -> Stmt:
        reverse = isinstance(stmt, If) and any(".ct" in v.name for v in stmt.results)
        if isinstance(stmt, If) and reverse:
            return replace(stmt, then=stmt.orelse, orelse=stmt.then)
        return stmt

    plant_in(monkeypatch, "adjoint", swap)
    assert_caught()


@pytest.mark.full
def test_wrong_value_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    original = chains.adjoint

    def planted(fn: Function, positions: Any) -> Function:
        done = original(fn, positions)
        recalls = [s for s in walk(done.body) if isinstance(s, Recall)]
        for a in recalls:
            for b in recalls:
                if a.value != b.value and a.value.type == b.value.type and a.value.type.kind == "f":

                    def swap(stmt: Stmt, a: Recall = a, b: Recall = b) -> Stmt:
                        if isinstance(stmt, Recall) and stmt.value == a.value:
                            return replace(stmt, value=b.value)
                        return stmt

                    return rewritten(done, swap)
        return done

    monkeypatch.setattr(chains, "adjoint", planted)
    assert_caught()


# -- overwritten elements ----------------------------------------------------------------------


def test_every_array_taken_for_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Overwriting, "covers", lambda *_: True)
    assert_caught()


@pytest.mark.full
def test_stores_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Visit, "is_of", lambda self, other: True)
    assert_caught()


@pytest.mark.full
def test_iterations_taken_for_distinct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Overwriting, "axes", lambda self, loop, access: list(access.path))
    assert_caught()


# -- merged loops ------------------------------------------------------------------------------


@pytest.mark.full
def test_loops_merged_that_look_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adc.passes.loops.fuse.common_axis", lambda *_: 0)
    assert_caught()


@pytest.mark.full
def test_other_element_taken_for_the_stored_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def stored(self: _Contractor, load: Load) -> object:
        stmt = self.defs.get(load.array)
        return stmt.value if isinstance(stmt, Store) else None

    monkeypatch.setattr(_Contractor, "stored", stored)
    assert_caught()


def test_dependent_iterations_reversed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_pass, "_is_reorderable", lambda *_: True)
    assert_caught()


def test_a_state_that_no_iteration_hands_on(monkeypatch: pytest.MonkeyPatch) -> None:
    handing = _Handing.of

    def stale(self: _Handing, stmt: Reverse) -> Reverse | None:
        made = handing(self, stmt)
        if made is None:
            return None
        *others, _ = made.body.yields
        return replace(made, body=replace(made.body, yields=(*others, made.body.params[-1])))

    monkeypatch.setattr(_Handing, "of", stale)
    assert_caught()


# -- gathered additions ------------------------------------------------------------------------


def test_changed_elements_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Finder, "own", lambda *_: True)
    assert any(complaints(p) for p in STENCIL_PROGRAMS if "changed" in p.tags)


@pytest.mark.full
def test_rows_that_lack_iterations_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gathering, "lacking", lambda self, array, at: array)
    assert any(complaints(p) for p in STENCIL_PROGRAMS[:30])


# -- temporary arrays --------------------------------------------------------------------------


@pytest.mark.full
def test_elements_recomputed_from_another_index(monkeypatch: pytest.MonkeyPatch) -> None:
    recomputed = _Inliner.recomputed

    def first(self: _Inliner, load: Load) -> list[Stmt]:
        return recomputed(self, replace(load, index=tuple(integer(0) for _ in load.index)))

    monkeypatch.setattr(_Inliner, "recomputed", first)
    assert any(complaints(p) for p in STENCIL_PROGRAMS)


def _handed_on(x: Any) -> Any:
    total = 0.0
    for i in range(2):
        y = x * (i + 1.0)
        for _ in range(3):
            z = np.empty(x.shape[0])
            for j in range(x.shape[0]):
                z[j] = np.sin(y[-1 - j]) * x[j]
            y = z
        total += np.sum(y * y)
    return total


@pytest.mark.full
def test_arrays_that_iterations_hand_on_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.3, -0.8, 1.1])

    def found() -> list[str]:
        chain = chains.Chain.of(_handed_on, (x.copy(),), (0,))
        return chains.check_stages(chain, chain.gradient(chain.run(chain.joined)))

    assert not found()
    monkeypatch.setattr(lift_pass, "escaping", lambda fn: frozenset())
    assert found()


# -- rematerialization -------------------------------------------------------------------------


def test_stale_version_reloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Forwarding, "independent", lambda self, load, store: True)
    assert_caught()


def test_wrong_trip_count_of_a_reversed_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt, For) and stmt.down and isinstance(stmt.trips, Value):
            trips = Value(f"{stmt.label}.short", stmt.trips.type)
            less = Apply((trips,), OPS["sub"], (stmt.trips, integer(1)))
            return [less, replace(stmt, trips=trips)]
        return [stmt]

    plant_in(monkeypatch, "rematerialize", shorter)
    assert_caught()


def test_reversed_loop_running_forwards(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_in(
        monkeypatch,
        "rematerialize",
        lambda stmt: replace(stmt, down=False) if isinstance(stmt, For) else stmt,
    )
    assert_caught()


@pytest.mark.full
def test_frame_popped_in_the_wrong_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def turn(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Pop):
            kinds = [v.type for v in stmt.results]
            for k in range(len(kinds) - 1):
                if kinds[k] == kinds[k + 1] and kinds[k].kind == "f":
                    values = list(stmt.results)
                    values[k], values[k + 1] = values[k + 1], values[k]
                    return replace(stmt, results=tuple(values))
        return stmt

    plant_in(monkeypatch, "rematerialize", turn)
    assert_caught()


def test_lost_push(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_in(monkeypatch, "rematerialize", lambda stmt: [] if isinstance(stmt, Push) else [stmt])
    assert_caught()


def test_other_predicates_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = predicates_pass._Mover.moved

    def planted(self: Any, stmt: Apply) -> Value | None:
        other = {"gt": "lt", "lt": "gt", "ge": "lt", "le": "gt"}.get(stmt.op.name)
        return moved(self, replace(stmt, op=OPS[other]) if other else stmt)

    monkeypatch.setattr(predicates_pass._Mover, "moved", planted)
    assert_caught(())


@pytest.mark.full
def test_run_again_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function that runs a checkpointed loop again multiplies where the loop does not."""

    def other(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Apply) and stmt.op.name == "add" and stmt.result.type.kind == "f":
            return replace(stmt, op=OPS["mul"])
        return stmt

    original = without_prints
    monkeypatch.setattr(rerun_pass, "without_prints", lambda fn: rewritten(original(fn), other))
    assert any(complaints(p) for p in KEPT_PROGRAMS if "keep" in p.tags)


@pytest.mark.full
def test_a_loop_without_known_end_started_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    original = clone

    def planted(stmts: Any, *args: Any) -> list[Stmt]:
        def elsewhere(stmt: Stmt) -> Stmt:
            if not isinstance(stmt, While):
                return stmt
            scalars = [isinstance(each.type, Scalar) for each in stmt.init]
            init = [zero(v.type) if s else v for v, s in zip(stmt.init, scalars, strict=True)]
            return replace(stmt, init=tuple(init))

        return original([elsewhere(stmt) for stmt in stmts], *args)

    monkeypatch.setattr(rerun_pass, "clone", planted)
    assert any(complaints(p) for p in KEPT_PROGRAMS if "keep" in p.tags)


# -- other passes ------------------------------------------------------------------------------


@pytest.mark.full
def test_missing_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    original = storage_pass.plan

    def planted(fn: Function) -> storage_pass.Storage:
        done = original(fn)
        env = {
            s.results[0]: s.args[0]
            for s in walk(done.function.body)
            if isinstance(s, Apply) and s.op.name == "copy"
        }

        def forget(stmt: Stmt) -> list[Stmt]:
            from adc.ir.walk import substitute_stmt

            if isinstance(stmt, Apply) and stmt.op.name == "copy":
                return []
            return [substitute_stmt(stmt, env)]

        return replace(done, function=rewritten(done.function, forget))

    monkeypatch.setattr(storage_pass, "plan", planted)
    assert_caught()


@pytest.mark.full
def test_arrays_believed_to_be_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mentions, "by", lambda self, stmt: frozenset())
    assert_caught(("array", "numeric"))


def assert_caught_in_arrays() -> None:
    # First those that notice much.
    programs = sorted(ARRAY_PROGRAMS, key=lambda program: program.name not in SHARP)
    assert any(complaints(program) for program in programs if program.argnums)


@pytest.mark.full
@pytest.mark.parametrize("user", [lifetimes_pass, coalesce_pass])
def test_arrays_believed_to_be_in_step(user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "in_step", lambda mentions, nest, old, new: True)
    assert_caught_in_arrays()


@pytest.mark.full
@pytest.mark.parametrize("part", ["_is_temporary", "_is_alike"])
def test_arrays_believed_to_belong_to_a_loop(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Coalescer, part, lambda self, *args: True)
    assert_caught_in_arrays()


@pytest.mark.full
def test_arrays_believed_to_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesce_pass, "_follows", lambda body, old, new, made: True)
    assert_caught_in_arrays()


@pytest.mark.full
def test_loads_of_two_versions_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    original = cse_pass._Cse.key

    def key(self: Any, stmt: Stmt) -> Any:
        found = original(self, stmt)
        if isinstance(found, tuple) and found[0] == "load":
            return ("load", found[1].type, found[2])
        return found

    monkeypatch.setattr(cse_pass._Cse, "key", key)
    assert_caught()


NESTS = [
    program
    for program in (*KERNEL_PROGRAMS, *CARRIED_PROGRAMS)
    if program.name.startswith(("recurrence_", "levels_", "steps_", "columns_", "gates_"))
    and "float32" not in str(program.args)
]


@pytest.mark.full
def test_nests_are_silent_without_a_defect() -> None:
    assert not any(map(complaints, NESTS))


def _taken(place: Any, loop: For) -> Any:
    """Return the place itself, as if the iteration before had called it like this one."""
    return tuple(form + 0 for form in place)


@pytest.mark.full
@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (registers_pass, "_shifted", _taken),
        (registers_pass, "_differ", lambda a, b: a != b),
        # (this is noticed by few programs)
        pytest.param(
            interchange_pass, "same_axis", lambda *args: 0, marks=pytest.mark.sampled(100)
        ),
        (guard_pass, "computed", lambda form, names, into: integer(1)),
    ],
)
def test_elements_and_sizes_mistaken(
    module: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert any(map(complaints, NESTS))


@pytest.mark.full
@pytest.mark.parametrize("module", [apart_pass, distribute_pass])
def test_dependent_iterations_taken_for_separate(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blind(DependenceTest):
        def differ(self, pairs: Any) -> bool:
            return True

    monkeypatch.setattr(module, "DependenceTest", Blind)
    assert any(map(complaints, NESTS))


def test_every_index_believed_to_be_in_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Facts, "proves", lambda self, goal: True)
    program = next(p for p in PROGRAMS if "negative_ind" in p.name and p.argnums)
    assert complaints(program)


@pytest.mark.parametrize("each", [True, False])
def test_a_pass_that_breaks_the_ir_is_named(each: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "VERIFY_EACH", each)
    chain = chains.Chain.of(lambda x: x * x, (2.0,), (0,))
    broken = Stage("forget", lambda fn: replace(fn, body=()))
    with pytest.raises(Exception, match="pass 'forget' broke"):
        stages.run(chain.lowered.fn, (broken, *pipeline.PRIMAL))


@pytest.mark.parametrize("passes", ["PRIMAL", "DERIVATIVE", "FINISH"])
def test_a_pass_that_changes_results_is_named(passes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: float, y: float) -> float:
        return x * y * y

    def sloppy(fn: Function) -> Function:
        return parse(str(fn).replace(" = mul ", " = add "))

    def complaints() -> list[str]:
        return chains.check_passes(chains.Chain.of(program, (0.7, 1.3), (0, 1)))

    assert complaints() == []
    owner: Any = chains if passes == "FINISH" else pipeline
    monkeypatch.setattr(owner, passes, (*getattr(owner, passes), Stage("sloppy", sloppy)))
    assert any(text.startswith("pass sloppy") for text in complaints())
