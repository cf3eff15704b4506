"""Inverse operations: what they spare the tape, and that they restore what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adc.ir.core import Apply, For, Function, If, Literal, Load, Stmt
from adc.ir.errors import IRError
from adc.ir.opdef import OPS
from adc.passes import remat as remat_pass
from adc.passes import undo as undo_pass
from adc.passes.availability import check_availability
from adc.passes.plan import KEPT
from adc.passes.remat import Rematerialized, rematerialize
from tests import array_oracle
from tests import chain as chains
from tests.invert_programs import INVERT_PROGRAMS
from tests.programs import Program
from tests.test_undo import rewritten

BY_NAME = {program.name: program for program in INVERT_PROGRAMS}


def chain_of(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


def planned(name: str, policy: str = "auto") -> Rematerialized:
    return rematerialize(chain_of(BY_NAME[name]).joined, policy)


@pytest.mark.parametrize("program", INVERT_PROGRAMS, ids=str)
def test_no_bit_changes(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that can be restored is: the bits of other plans, and checkpointed loops around it."""
    chain = chain_of(program)
    want, tolerances = array_oracle.gradient(program)
    expected = chains.flat_gradient(want)
    policies = ("store", "auto", "recompute", "random:1", "random:2")
    assert not chains.check_stages(chain, expected, tolerances=tolerances, policies=policies)
    results = chains.bits(chain.run(chain.joined))
    monkeypatch.setattr(undo_pass, "_better", lambda *_: True)
    monkeypatch.setattr(undo_pass, "_kept", lambda *_: True)
    again = chain_of(program)
    for policy in ("auto", "recompute", "revolve:1:1", "revolve:2:2", "revolve:2:1:all"):
        for _, fn in again.planned(policy)[1:]:
            assert chains.bits(again.run(fn)) == results, policy


@pytest.mark.parametrize(
    "name",
    [
        "invert_widths",
        "invert_before_and_after",
        "invert_bits",
        "invert_narrow",
        "invert_each_other",
    ],
)
@pytest.mark.parametrize("policy", ["auto", "recompute"])
def test_integers_are_not_kept(name: str, policy: str) -> None:
    for entry in planned(name, policy).plan.entries:
        if entry.decision == KEPT:
            assert entry.value == "s" or entry.expression == "math.sin(s)"


def test_decisions_are_kept_for_integers_that_they_change() -> None:
    found = planned("invert_under_branches", "recompute").plan.entries
    kept = {entry.expression for entry in found if entry.decision == KEPT}
    assert kept == {"", "s > 0.7", "x[at] * s > 0.2"}


# --- defects that the proof finds -----------------------------------------------------------------


def inverting(stmt: Stmt) -> bool:
    return isinstance(stmt, Apply) and ".back" in stmt.result.name


def wrong_sign(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, Apply) and inverting(stmt) and stmt.op.name in ("sub", "add"):
        return [replace(stmt, op=OPS["add" if stmt.op.name == "sub" else "sub"])]
    return [stmt]


def turned_around(stmt: Stmt) -> list[Stmt]:
    """The change less the number, not the number less the change."""
    if isinstance(stmt, Apply) and inverting(stmt) and stmt.op.name == "sub":
        return [replace(stmt, args=stmt.args[::-1])]
    return [stmt]


def of_another_iteration(stmt: Stmt) -> list[Stmt]:
    """Changes are read with the number of trips in the place of the iteration."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        inner = tuple(
            replace(s, index=(stmt.trips,)) if isinstance(s, Load) and len(s.index) == 1 else s
            for s in stmt.body.stmts
        )
        return [replace(stmt, body=replace(stmt.body, stmts=inner))]
    return [stmt]


def too_few(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, For) and ".rev" in stmt.label:
        return [replace(stmt, trips=Literal(3, stmt.trips.type))]
    return [stmt]


def not_taken_back(stmt: Stmt) -> list[Stmt]:
    """Loops hand on the number that they began with."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        yields = tuple(
            param if ".back" in param.name else operand
            for param, operand in zip(stmt.body.params, stmt.body.yields, strict=True)
        )
        return [replace(stmt, body=replace(stmt.body, yields=yields))]
    return [stmt]


def arms_swapped(stmt: Stmt) -> list[Stmt]:
    if isinstance(stmt, If) and any(".back" in result.name for result in stmt.results):
        return [replace(stmt, then=stmt.orelse, orelse=stmt.then)]
    return [stmt]


def in_another_order(stmt: Stmt) -> list[Stmt]:
    """The first change is taken back before the last one."""
    if isinstance(stmt, For) and ".rev" in stmt.label:
        stmts = list(stmt.body.stmts)
        places = [k for k, s in enumerate(stmts) if inverting(s)]
        for k, m in zip(places, places[::-1], strict=True):
            one, other = stmt.body.stmts[k], stmt.body.stmts[m]
            assert isinstance(one, Apply)
            assert isinstance(other, Apply)
            stmts[k] = replace(one, op=other.op, args=(one.args[0], *other.args[1:]))
        return [replace(stmt, body=replace(stmt.body, stmts=tuple(stmts)))]
    return [stmt]


DEFECTS = [
    ("invert_widths", wrong_sign),
    ("invert_each_other", wrong_sign),
    ("invert_widths", turned_around),
    ("invert_widths", of_another_iteration),
    ("invert_widths", too_few),
    ("invert_widths", not_taken_back),
    ("invert_around_a_loop", not_taken_back),
    ("invert_under_branches", arms_swapped),
    ("invert_bits", in_another_order),
]


@pytest.mark.parametrize(("name", "defect"), DEFECTS)
def test_the_proof_finds_defects(
    name: str, defect: Callable[[Stmt], list[Stmt]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_pass, "_better", lambda *_: True)
    monkeypatch.setattr(undo_pass, "_kept", lambda *_: True)
    checked: list[tuple[Function, Function]] = []

    def planted(before: Function, after: Function, recalled: Any) -> None:
        check_availability(before, after, recalled)
        broken = replace(after, body=rewritten(after.body, defect))
        assert broken != after
        checked.append((before, after))
        with pytest.raises(IRError, match="need not have its value"):
            check_availability(before, broken, recalled)

    monkeypatch.setattr(remat_pass, "check_availability", planted)
    planned(name)
    assert checked
