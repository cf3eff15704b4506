"""The corpus through the whole chain: front end, adjoint, every plan, both forms, compiled."""

from __future__ import annotations

import numpy as np
import pytest

from tests import chain as chains
from tests import oracle
from tests.programs import PROGRAMS, Program, differentiable

# Programs that are refused for now; the front end's tests show the messages.
REFUSED: frozenset[str] = frozenset()


def _tolerances(program: Program) -> dict[str, float]:
    return {"rtol": 1e-4, "atol": 1e-5} if "float32" in program.tags else {}


def _chain(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_value(program: Program) -> None:
    chain = _chain(program)
    want = program.fn(*program.make_args())
    for fn in (chain.lowered.fn, chain.primal):
        got = chains.rebuild(chain.lowered.result, iter(chains.run(fn, chains.fresh(chain.inputs))))
        for a, b in zip(chains.flat_gradient(got), chains.flat_gradient(want), strict=True):
            if a is None and b is None:
                continue
            rtol = 1e-5 if "float32" in program.tags else 1e-11
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("program", differentiable(), ids=str)
def test_stages(program: Program) -> None:
    want = chains.flat_gradient(oracle.oracle_gradient(program))
    found = chains.check_stages(_chain(program), want, tolerances=_tolerances(program))
    assert not found


@pytest.mark.parametrize("program", differentiable(), ids=str)
def test_forward_and_reverse_agree(program: Program) -> None:
    assert not chains.check_tangent(_chain(program), np.random.default_rng(0))


@pytest.mark.parametrize("program", differentiable(), ids=str)
def test_compiled(program: Program) -> None:
    want = chains.flat_gradient(oracle.oracle_gradient(program))
    # Compiling is slow: every program under one policy, every third under three.
    number = [p.name for p in PROGRAMS].index(program.name)
    policies = ("auto", "store", "recompute") if number % 8 == 0 else ("auto",)
    found = chains.check_compiled(
        _chain(program), want, tolerances=_tolerances(program), policies=policies
    )
    assert not found
