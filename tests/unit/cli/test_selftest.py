"""``adc selftest``: what it finds, and how it says so."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from adc import cli
from adc.ir.opdef import OPS
from adc.testing import programs, rows, selftest
from adc.testing.selftest import Check, Found


def test_every_row_of_numbers_is_checked() -> None:
    found = {op.name for batch in rows.batches("f64") for op in batch}
    assert {"add", "tanh", "hypot", "scipy_zeta", "expit"} <= found
    assert len(found) > 300
    assert sum(map(len, rows.batches("f32"))) == len(rows.rows("f32")) > 60


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_rows(dtype: str) -> None:
    ops = [OPS[name] for name in ("sin", "pow", "floor", "lgamma")]
    rng = np.random.default_rng(1)
    assert rows.wrong_values(ops, dtype, rng) == []
    assert rows.wrong_slopes(ops, dtype, rng) == []


def test_a_row_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the vector function had another result: the reference is changed instead."""
    ops = [OPS["add"], OPS["sin"]]
    evaluate = OPS["sin"].evaluate
    try:
        object.__setattr__(OPS["sin"], "evaluate", lambda x: evaluate(x) * (1.0 + 1e-14))
        wrong = rows.wrong_values(ops, "f64", np.random.default_rng(1))
    finally:
        object.__setattr__(OPS["sin"], "evaluate", evaluate)
    assert len(wrong) == 1
    assert wrong[0].startswith("sin(")


@pytest.mark.full
def test_programs_are_those_of_their_seed() -> None:
    assert programs.program(4).source == programs.program(4).source != programs.program(5).source
    assert selftest.random_programs(range(2)) == Found(2)


def test_a_program_with_a_wrong_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    given = programs.program(0)

    def wrong(fn: Any, *args: Any, **options: Any) -> Any:
        return lambda *values: (fn(*values), tuple(np.ones(np.shape(x)) for x in values))

    monkeypatch.setattr("adc.api.value_and_grad", wrong)
    found = selftest.random_programs([0])
    assert "by differences" in found.wrong[0]
    assert given.source in found.wrong[0]


@pytest.mark.full
@pytest.mark.parametrize("name", ["recurrence", "relaxation", "elements"])
def test_plans(name: str) -> None:
    assert selftest.plans(name).wrong == ()


@pytest.mark.full
def test_threads_and_cache() -> None:
    assert selftest.shared_loops().wrong == ()
    assert selftest.calling_threads() == Found(64)
    assert selftest.on_disk() == Found(3)


@pytest.mark.full
def test_a_process_that_dies_is_reported() -> None:
    check = Check("dies", "{count} tasks", [(os.abort, ()), (Found, (1,)), (divmod, (1, 0))])
    (done,) = selftest.run([check], workers=1)
    assert done.count == 1
    died, raised = done.wrong
    assert died.endswith("the process died")
    assert "ZeroDivisionError" in raised
    assert done.line(1.0).startswith("dies       FAILED (2)  1 tasks, ")


def test_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found: list[Check] = []
    monkeypatch.setattr(selftest, "checks", lambda seed, count: found)
    assert cli.main(["selftest"]) == 0
    assert capsys.readouterr().out == "all is well\n"
    found.append(Check("sums", "{count} sums", [(Found, (1, ("1 + 1 is 3",)))]))
    assert cli.main(["selftest", "--workers", "1", "--seed", "7"]) == 1
    out = capsys.readouterr().out
    for part in (
        "sums       FAILED (1)  1 sums",
        "sums: 1 + 1 is 3",
        "numba",
        "processor",
        "--seed 7",
    ):
        assert part in out
