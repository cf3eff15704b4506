"""The rematerialization pass: what each policy keeps, what the plan says of it, and its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.core import For, Function, If, Push, While, walk
from adc.ir.errors import IRError
from adc.ir.interp import Interpreter
from adc.ir.text.parser import parse
from adc.passes import pipeline
from adc.passes.remat.plan import KEPT, RECOMPUTED, RELOADED, Plan
from adc.passes.remat.proof.tape import check_tape
from adc.passes.remat.remat import Rematerialized, rematerialize
from adc.passes.stages import Trace, run
from tests.bench.kernels import KERNELS
from tests.corpus.loops.numeric_programs import attention_in_every_step
from tests.oracle import chain as chains


def plan_of(fn: Any, args: tuple[Any, ...], policy: str = "auto") -> Rematerialized:
    chain = chains.Chain.of(fn, args, (0,))
    return rematerialize(chain.adjoint, policy)


def decisions(plan: Plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in plan.entries:
        found.setdefault(entry.decision, set()).add(entry.value)
    return found


def frames(fn: Function) -> int:
    return sum(isinstance(stmt, Push) for stmt in walk(fn.body))


def test_linear_sweeps_keep_nothing() -> None:
    kernel = KERNELS["seidel"]
    done = plan_of(kernel.loss, kernel.arguments((5, 6)))
    assert KEPT not in decisions(done.plan)
    assert frames(done.fn) == 0


def test_cholesky_keeps_nothing_but_the_factor() -> None:
    kernel = KERNELS["cholesky"]
    done = plan_of(kernel.loss, kernel.arguments((6, 6)))
    assert frames(done.fn) == 0
    assert RELOADED in decisions(done.plan)


def test_gram_schmidt_keeps_the_columns_it_overwrites() -> None:
    kernel = KERNELS["gramschmidt"]
    done = plan_of(kernel.loss, kernel.arguments((6, 4)))
    kept = [entry for entry in done.plan.entries if entry.decision == KEPT]
    assert {entry.line for entry in kept} <= {67, 72}  # and `dot`, of all columns at once


@pytest.mark.full
def test_an_element_is_not_kept_beside_the_array_that_has_it() -> None:
    """Each iteration keeps the probabilities as a matrix, for a product."""
    x, w = np.linspace(0.1, 1.0, 15).reshape(5, 3), np.array([0.4, 0.9, 1.3])
    plan = adc.grad(attention_in_every_step).plan(x, w)
    of_division = {e.decision for e in plan.entries if e.expression.startswith("e / np.sum(e")}
    assert KEPT not in of_division
    assert RELOADED in of_division


def nonlinear(x: Any) -> Any:
    s = 0.3
    for i in range(len(x)):
        t = np.sin(x[i] * s)
        s = s * 0.5 + t * t
    return s


def test_store_keeps_and_recompute_recomputes() -> None:
    args = (np.array([0.3, -0.7, 1.1]),)
    stored = decisions(plan_of(nonlinear, args, "store").plan)
    again = decisions(plan_of(nonlinear, args, "recompute").plan)
    assert len(stored[KEPT]) > 2
    assert again[RECOMPUTED] | again[RELOADED] >= stored[KEPT] - again[KEPT]
    # The carried value cannot be recomputed without running the loop.
    assert len(again[KEPT]) == 1


@pytest.mark.full
def test_random_plans_differ_and_are_repeatable() -> None:
    args = (np.array([0.3, -0.7, 1.1]),)
    plans = [plan_of(nonlinear, args, f"random:{seed}").plan.entries for seed in range(8)]
    assert plans == [plan_of(nonlinear, args, f"random:{seed}").plan.entries for seed in range(8)]
    assert len(set(plans)) > 2


def test_plan_counts_the_bytes_on_the_tape() -> None:
    args = (np.array([0.3, -0.7, 1.1, 0.2]),)
    done = plan_of(nonlinear, args, "store")
    interpreter = Interpreter(done.fn)
    most = 0

    class Tape(list[Any]):
        def append(self, frame: Any) -> None:
            nonlocal most
            super().append(frame)
            most = max(most, sum(np.asarray(v).nbytes for f in self for v in f))

    interpreter.tape = Tape()
    interpreter.run(args)
    sizes = {"x.dim0": 4}
    predicted = 0
    for entry in done.plan.entries:
        product = 1
        for factor in entry.bytes.split("*"):
            product *= sizes.get(factor) or int(factor)
        predicted += product
    assert predicted == most


def test_plan_survives_json() -> None:
    plan = plan_of(nonlinear, (np.array([0.3, -0.7]),), "store").plan
    assert Plan.from_json(plan.to_json()) == plan
    assert "plan (store)" in str(plan)


def test_unknown_policy() -> None:
    with pytest.raises(ValueError, match="remat='keep'"):
        plan_of(nonlinear, (np.array([0.3]),), "keep")


def early(x: Any) -> Any:
    s = 1.0
    n = 0
    while s < 40.0:
        s = s * x + 1.0
        n += 1
        if n > 50:
            break
    return s


def test_a_while_counts_its_iterations() -> None:
    done = plan_of(early, (1.7,))
    loops = [stmt for stmt in walk(done.fn.body) if isinstance(stmt, While)]
    reverse = [s for s in walk(done.fn.body) if isinstance(s, For) and s.down]
    assert len(loops) == len(reverse) == 1
    assert reverse[0].trips in loops[0].results


def kept_under_ifs(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            s += np.sin(x[i]) * np.cos(x[i])
        else:
            s += np.tanh(x[i]) * np.exp(x[i])
    return s


def test_arms_share_their_places_on_the_tape() -> None:
    done = plan_of(kept_under_ifs, (np.array([0.3, -0.7]),), "store")
    (push,) = [stmt for stmt in walk(done.fn.body) if isinstance(stmt, Push)]
    kept = [entry for entry in done.plan.entries if entry.decision == KEPT]
    assert len(push.values) < len(kept)
    assert any(isinstance(stmt, If) for stmt in walk(done.fn.body))


# -- the check of the tape ---------------------------------------------------------------------

BALANCED = """
fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  for L %i in 0 to %n {
    %v = load %x[%i]
    push %v %i
  }
  %s = for R %j down from %n carrying (%t = 0.0:f64) {
    %w: f64, %k: int = pop
    %u = add %t %w
    yield %u
  }
  return %s
}
"""


def test_a_balanced_tape_passes() -> None:
    check_tape(parse(BALANCED), {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%w: f64, %k: int = pop", "%w: f64 = pop"),
        ("push %v %i", "push %i %v"),
        ("push %v %i", "push %v %i\n    push %v"),
        ("    push %v %i\n", ""),
        ("down from %n", "down from 7"),
    ],
)
def test_an_unbalanced_tape_does_not(old: str, new: str) -> None:
    broken = parse(BALANCED.replace(old, new))
    with pytest.raises(IRError):
        check_tape(broken, {})


def test_pipeline_times_every_pass() -> None:
    trace = Trace()
    chain = chains.Chain.of(nonlinear, (np.array([0.3]),), (0,))
    run(chain.lowered.fn, pipeline.PRIMAL, trace)
    assert [row.stage for row in trace.rows if not row.depth] == list(pipeline.PRIMAL)
    skipped = {row.stage.name for row in trace.rows if row.seconds is None and not row.depth}
    assert skipped == {"expand", "privatize_reductions", "settle"}
    names = [stage.name for stage in pipeline.PRIMAL if stage.name not in skipped]
    assert [name for name, _ in trace.seconds] == names
