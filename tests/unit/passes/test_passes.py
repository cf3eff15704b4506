"""What each pass on loops does to a program, before and after, as text under `golden/passes`."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adc.compiler.driver import transform
from adc.frontend.entry import lower
from adc.ir.analysis.target import CPU, Target
from adc.ir.core import Function
from adc.passes import pipeline
from tests.corpus.loops.pass_programs import PASS_PROGRAMS, PassProgram
from tests.oracle import chain

each = pytest.mark.parametrize("program", PASS_PROGRAMS, ids=lambda p: p.fn.__name__)


def before_and_after(program: PassProgram) -> tuple[Function, Function]:
    """Return the function around the first run of its pass that changes it."""
    names = inspect.signature(program.fn).parameters
    types = {n: chain.type_tree(arg) for n, arg in zip(names, program.args, strict=True)}
    steps = (("adjoint", program.wrt),) if program.wrt else ()
    target = Target("cuda") if program.cuda else CPU
    stages = transform(lower(program.fn, types), steps, target=target).trace.stages
    for (_, before), (name, after) in itertools.pairwise(stages):
        if name == program.fn.__name__ and before != after:
            return before, after
    raise AssertionError(f"{program.fn.__name__} changes nothing")


def test_every_pass_on_loops_is_shown() -> None:
    shown = {program.fn.__name__ for program in PASS_PROGRAMS}
    derived = (*pipeline.DERIVATIVE, *pipeline.JOINED, *pipeline.BEFORE_REMAT)
    run = {stage.name for stage in (*pipeline.PRIMAL, *derived, *pipeline.CLEANUP)}
    # These have tests of their own, on IR.
    assert run - shown == {
        "simplify", "cse", "bounds", "dce", "accumulate", "overwrite",
        "expand", "settle", "privatize_reductions", "directions", "rerun", "reverse_arguments",
        "rerun_calls", "signatures",
    }  # fmt: skip
    buffers = {stage.name for stage in (*pipeline.BUFFERS, *pipeline.DEVICE)}
    assert shown - run == buffers - {"storage", "parallel"}


@each
def test_text(program: PassProgram, golden: Callable[[str, str], None]) -> None:
    name = program.fn.__name__
    before, after = before_and_after(program)
    golden(
        f"passes/{name}.md",
        f"# {name}\n\n```python\n{inspect.getsource(program.fn)}```\n\nBefore:\n\n"
        f"```text\n{before}```\n\nAfter:\n\n```text\n{after}```\n",
    )


@pytest.mark.sampled(4)
@each
def test_results(program: PassProgram) -> None:
    before, after = (chain.run(fn, chain.fresh(program.args)) for fn in before_and_after(program))
    value = program.fn(*chain.fresh(program.args))
    assert before[0] == pytest.approx(value, rel=1e-14)
    for a, b in zip(before, after, strict=True):
        if program.fn.__name__ in chain.CHANGE_ORDERS:
            np.testing.assert_allclose(b, a, rtol=1e-14)
        else:
            assert chain.bits([a]) == chain.bits([b])


def _up_to(x: Any, m: Any) -> Any:
    y = np.zeros((60, 40))
    for i in range(60):
        for j in range(40 if i < m else 2):
            y[i, j] += np.sin(x[j] * i)
        y[i, 1] += x[3]
    return np.sum(y * y)


def _from_there(x: Any, m: Any) -> Any:
    y = np.zeros((60, 40))
    for i in range(60):
        for j in range(40 if m <= i else 2):
            y[i, j] += np.sin(x[j] * i)
        y[i, 1] += x[3]
    return np.sum(y * y)


@pytest.mark.parametrize("fn", [_up_to, _from_there])
def test_fission_splits_a_loop_where_a_comparison_flips(fn: Callable[..., Any]) -> None:
    x = np.linspace(0.3, 1.2, 40)
    types = {name: chain.type_tree(arg) for name, arg in zip("xm", (x, 3), strict=True)}
    stages = transform(lower(fn, types), (), target=Target("cuda")).trace.stages
    (after,) = (
        made
        for (_, before), (name, made) in itertools.pairwise(stages)
        if name == "fission" and before != made
    )
    for m in (-1, 0, 1, 3, 59, 60, 100):
        assert chain.run(after, (x, m))[0] == pytest.approx(fn(x, m), rel=1e-14)


@pytest.mark.full
@pytest.mark.parametrize(
    "program", [p for p in PASS_PROGRAMS if p.wrt], ids=lambda p: p.fn.__name__
)
def test_every_pass(program: PassProgram) -> None:
    assert not chain.check_passes(chain.Chain.of(program.fn, program.args, program.wrt))
