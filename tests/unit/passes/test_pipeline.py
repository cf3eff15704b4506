"""The tables of `adc.passes.pipeline`: every stage that runs, in order, each with its reason."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.compiler.driver import Budget, Plans, transform
from adc.ir.analysis.costs import SHIPPED
from adc.ir.analysis.target import CPU, KINDS, Target
from adc.ir.core import Function
from adc.ir.errors import IRError
from adc.passes.pipeline import TABLES
from adc.passes.stages import ALWAYS, Context, Stage, Trace, When, run
from tests.corpus.loops.pass_programs import PASS_PROGRAMS
from tests.oracle.chain import Chain
from tests.project import test_layers

GRADIENT = (("adjoint", (0,)),)
X = np.linspace(0.1, 0.9, 6)


def energy(x: Any, n: int) -> Any:
    s = 0.0
    for _ in range(n):
        for i in range(len(x)):
            s = s + np.tanh(x[i] * s)
    return s


def chain_of(fn: Any = energy, *args: Any) -> Chain:
    return Chain.of(fn, args or (X, 3), (0,))


def names(trace: Trace) -> list[tuple[str, int]]:
    return [(row.stage.name, row.depth) for row in trace.rows]


def ran(trace: Trace) -> set[str]:
    return {name for name, _ in trace.stages}


# -- the tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_a_reason_and_says_what_it_does(kind: str) -> None:
    for stage, _ in TABLES[kind].rows():
        assert stage.why, stage.name
        assert "\n" not in stage.why
        assert stage.about.endswith("."), stage.name
        assert bool(stage.when.text) == (stage.when is not ALWAYS)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_stand_where_their_reasons_say(kind: str) -> None:
    """What a row is said to come before comes later, and what it is said to come after, earlier."""
    rows = [stage for stage, _ in TABLES[kind].rows()]
    found = 0
    for at, stage in enumerate(rows):
        for word, listed in re.findall(r"(before|after) ((?:`\w+`(?:, )?)+)", stage.why):
            there = rows[at + 1 :] if word == "before" else rows[:at]
            for name in re.findall(r"`(\w+)`", listed):
                if name not in {row.name for row in rows}:
                    assert kind == "cuda", f"{stage.name}: there is no {name}"
                    continue
                assert any(row.name == name for row in there), f"{stage.name} {word} {name}"
                found += 1
    assert found > 40


@pytest.mark.full
def test_nothing_runs_that_is_not_listed() -> None:
    """The driver imports the pipeline, and none of the passes that are in it."""
    listed = {
        (stage.of or stage.apply).__module__
        for kind in KINDS
        for stage, _ in TABLES[kind].rows()
        if stage.name != "frontend"
    }
    assert len(listed) > 40
    for module, path in test_layers.MODULES.items():
        # `adc selftest` checks operations alone, without the pipeline.
        if module.startswith(("adc.ir", "adc.passes", "adc.testing")):
            continue
        package = test_layers.package_of(module, Path(path))
        for _, name in test_layers.imports(path.read_text(), package):
            assert name not in listed, f"{module} imports {name}"
            assert name.rpartition(".")[0] not in listed, f"{module} imports {name}"


# -- what runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_runs_the_table(kind: str) -> None:
    chain = chain_of()
    lowered = chain.on_device if kind == "cuda" else chain.lowered
    made = transform(lowered, GRADIENT, target=Target(kind))
    expected = [(stage.name, depth) for stage, depth in TABLES[kind].rows()]
    assert names(made.trace) == expected
    assert made.trace.rows[-1].fn == made.fn
    skipped = {row.stage.when.text for row in made.trace.rows if row.seconds is None}
    optional = {"memory=, if calls are recomputed"} | ({"parallel="} if kind == "cpu" else set())
    assert skipped == optional | {
        "", "on a CPU, without derivatives", "code that calls derivatives", "Jacobians",
        "forward mode", "without derivatives", "reverse mode of any results",
        "the pattern of a Jacobian",
    }  # fmt: skip


def test_the_table_goes_on_for_each_transformation() -> None:
    trace = transform(chain_of().lowered, (*GRADIENT, ("tangent", (0,)))).trace
    table = TABLES["cpu"]
    count = len(table.derivative)
    at = [name for name, _ in names(trace)].index("adjoint")
    first, second = trace.rows[at : at + count], trace.rows[at + count : at + 2 * count]
    assert [row.stage for row in first] == [row.stage for row in second] == list(table.derivative)
    relaxed = [row.seconds is not None for row in (*first, *second) if row.stage.name == "relax"]
    assert relaxed == [False, True]  # after the last one only
    assert len(trace.rows) == len(list(table.rows())) + count


def test_code_without_reverse_part_has_no_plan() -> None:
    for steps in ((), (("tangent", (0,)),)):
        made = transform(chain_of().lowered, steps)
        assert made.plan is None
        assert not ran(made.trace) & {"adjoint", "rerun", "remat", "link"}
        assert {"storage", "schedules"} <= ran(made.trace)


def test_conditions() -> None:
    chain = chain_of()
    sizes = (("x", (6,)), ("n", 3))
    plain = ran(transform(chain.lowered, GRADIENT).trace)
    shared = ran(transform(chain.lowered, GRADIENT, target=Target(parallel=True)).trace)
    assert shared - plain == {"privatize_reductions", "parallel"}
    enough = transform(chain.lowered, GRADIENT, budget=Budget(10**6, sizes))
    assert ran(enough.trace) == plain
    assert enough.plan is not None
    less = Budget((enough.plan.peak_bytes or 0) - 1, sizes)
    small = ran(transform(chain.lowered, GRADIENT, budget=less).trace)
    assert plain - small == {"calls", "coalesce", "math_in_blocks", "strip_mine"}
    assert small < plain
    wide = (("tangent", (0,)), ("directions", (4,)))
    assert "directions" in ran(transform(chain.lowered, wide).trace)


def test_the_parts_of_exchange_run_only_where_loops_move() -> None:
    def parts(fn: Any, *args: Any) -> list[bool]:
        trace = transform(chain_of(fn, *args).lowered, ()).trace
        return [row.seconds is not None for row in trace.rows if row.depth]

    assert parts(energy, X, 3) == [True] * 5 + [False] * 4
    (moved,) = [each for each in PASS_PROGRAMS if each.fn.__name__ == "exchange"]
    assert parts(moved.fn, *moved.args) == [True] * 9


def test_derivatives_that_code_calls() -> None:
    def curvature(x: float) -> Any:
        slope = adc.grad(lambda v: np.sin(v) * v)(x)
        return slope * slope

    made = transform(chain_of(curvature, 0.3).lowered, ())
    assert {"remat", "link"} <= ran(made.trace)
    assert made.trace.after("remat").derived
    assert not made.trace.after("link").derived


def test_remarks_of_one_run_are_its_own() -> None:
    plans = Plans(chain_of().lowered, GRADIENT, "store", SHIPPED, CPU, ())
    first, second = (transform(chain_of().lowered, GRADIENT, "store", plans=plans) for _ in "ab")
    assert first.plan == second.plan
    assert first.plan is not None
    assert first.plan.entries


# -- how stages run --------------------------------------------------------------------------------


def test_a_condition_is_asked_about_the_function_at_hand() -> None:
    grown = When("a body", lambda context, fn: bool(fn.body))
    emptied = Stage("empty", lambda fn: replace(fn, body=(), results=()))
    again = Stage("again", lambda fn: fn, when=grown)
    trace = Trace()
    run(chain_of().lowered.fn, (again, emptied, again), trace)
    assert [row.seconds is None for row in trace.rows] == [False, False, True]


def test_the_context_makes_the_arguments() -> None:
    def keep(fn: Function, policy: str) -> Function:
        seen.append(policy)
        return fn

    seen: list[str] = []
    stage = Stage("keep", keep, given=lambda context: {"policy": context.policy})
    run(chain_of().lowered.fn, (stage,), context=Context(policy="store"))
    assert seen == ["store"]


def test_a_part_that_breaks_the_ir_is_named() -> None:
    def outer(fn: Function, *, inner: Any) -> Function:
        done: Function = inner(fn)
        return done

    broken = Stage("forget", lambda fn: replace(fn, body=()))
    stage = Stage("outer", outer, parts=(("inner", (broken,)),))
    with pytest.raises(IRError, match="pass 'forget' broke energy"):
        run(chain_of().lowered.fn, (stage,))

    def failing(fn: Function) -> Function:
        raise ZeroDivisionError

    stage = replace(stage, parts=(("inner", (replace(broken, apply=failing),)),))
    with pytest.raises(IRError, match="pass 'forget' failed on energy: ZeroDivisionError"):
        run(chain_of().lowered.fn, (stage,))


def test_the_driver_names_no_stage() -> None:
    """The driver only plans; the table has all stages."""
    source = Path(transform.__code__.co_filename).read_text()
    stages = {stage.name for kind in KINDS for stage, _ in TABLES[kind].rows()}
    literals = {
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    }
    assert literals & stages == {"directions"}  # the step of this name
