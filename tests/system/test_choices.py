"""Tests of the tests: defects planted in the passes on small arrays and running choices."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adc.passes.loops.chosen import chosen
from adc.passes.scalar.once import once
from adc.passes.scalar.recalled import recalled
from tests.corpus.arrays.vector_programs import VECTOR_PROGRAMS
from tests.corpus.language.paths.choice_programs import CHOICE_PROGRAMS
from tests.corpus.program import Program
from tests.system.test_planted import complaints


def caught(programs: Sequence[Program]) -> bool:
    return any(complaints(program) for program in programs if program.argnums)


@pytest.mark.full
def test_the_checks_are_silent_without_a_defect() -> None:
    programs = [p for p in (*VECTOR_PROGRAMS, *CHOICE_PROGRAMS) if "float32" not in p.tags]
    assert not caught(programs)


def test_other_elements_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adc.passes.loops.scalars._Replacer.place", lambda self, stmt: 0)
    assert caught(VECTOR_PROGRAMS)


@pytest.mark.full
def test_indices_believed_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adc.passes.loops.scalars._Webs.is_named", lambda self, index: True)
    assert caught(VECTOR_PROGRAMS)


@pytest.mark.full
def test_the_other_choice_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = chosen.__globals__["_Choice"]
    monkeypatch.setitem(
        chosen.__globals__, "_Choice", lambda cond, holds: original(cond, not holds)
    )
    assert caught(CHOICE_PROGRAMS)


@pytest.mark.full
def test_iterations_believed_to_be_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(once.__globals__, "_is_idle", lambda loop, hit: True)
    assert caught(CHOICE_PROGRAMS)


@pytest.mark.full
def test_what_other_branches_compute_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recalled.__globals__, "_key", lambda stmt, args: (stmt.op.name,))
    assert caught(VECTOR_PROGRAMS)
