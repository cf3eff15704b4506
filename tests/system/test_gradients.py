"""The corpus through the whole chain: front end, adjoint, every plan, both forms, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.corpus.program import Program
from tests.corpus.programs import NOTICING, PROGRAMS, differentiable
from tests.oracle import chain as chains
from tests.oracle import oracle

# Programs that are refused for now; the front end's tests show the messages.
REFUSED: frozenset[str] = frozenset()


def _tolerances(program: Program) -> dict[str, float]:
    return {"rtol": 1e-4, "atol": 1e-5} if "float32" in program.tags else {}


def _chain(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


def _check_value(chain: chains.Chain, program: Program) -> None:
    want = program.fn(*program.make_args())
    for fn in (chain.lowered.fn, chain.primal):
        got = chains.rebuild(chain.lowered.result, iter(chain.run(fn)))
        for a, b in zip(chains.flat_gradient(got), chains.flat_gradient(want), strict=True):
            if a is None and b is None:
                continue
            rtol = 1e-5 if "float32" in program.tags else 1e-11
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


def always_if_noticing(program: Program) -> Any:
    """Return a parameter: some programs are in the short run because they notice what none does."""
    marks = [pytest.mark.sampled(1)] if program.name in NOTICING else []
    return pytest.param(program, marks=marks)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("program", [always_if_noticing(p) for p in PROGRAMS], ids=str)
def test_interpreted(program: Program) -> None:
    """Value, gradient, every pass, every plan, both modes: in one test, to make stages once."""
    chain = _chain(program)
    _check_value(chain, program)
    if not program.argnums:
        return
    want = chains.flat_gradient(oracle.oracle_gradient(program))
    found = chains.check_stages(chain, want, tolerances=_tolerances(program))
    found += chains.check_passes(chain, chains.POLICIES[program.number(len(chains.POLICIES))])
    found += chains.check_tangent(chain, np.random.default_rng(0))
    assert not found


COMPILED = ("auto", "store", "recompute")


@pytest.mark.sampled(100)
@pytest.mark.parametrize("program", differentiable(), ids=str)
def test_compiled(program: Program) -> None:
    """What is emitted, under all plans; the memory that calls hold."""
    want = chains.flat_gradient(oracle.oracle_gradient(program))
    # The gradient is without its value under the last of them.
    number = program.number(3)
    policies = (*COMPILED[number:], *COMPILED[:number])
    found = chains.check_compiled(
        _chain(program),
        want,
        tolerances=_tolerances(program),
        policies=policies,
        metered=True,
    )
    assert not found
