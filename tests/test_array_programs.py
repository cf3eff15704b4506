"""The corpus of array programs through the whole chain."""

from __future__ import annotations

import functools
import zlib
from typing import Any

import numpy as np
import pytest

from adc.ir.errors import AdcError
from tests import array_oracle
from tests import chain as chains
from tests.array_programs import ARRAY_PROGRAMS
from tests.function_programs import FUNCTION_PROGRAMS
from tests.kernel_programs import KERNEL_PROGRAMS
from tests.language_programs import LANGUAGE_PROGRAMS
from tests.language_programs import REFUSED as REFUSED_LANGUAGE
from tests.list_programs import LIST_PROGRAMS
from tests.list_programs import REFUSED as REFUSED_LISTS
from tests.programs import Program
from tests.stencil_programs import STENCIL_PROGRAMS

ALL: list[Program] = [
    *ARRAY_PROGRAMS,
    *FUNCTION_PROGRAMS,
    *LANGUAGE_PROGRAMS,
    *LIST_PROGRAMS,
    *KERNEL_PROGRAMS,
    *STENCIL_PROGRAMS,
]
REFUSED = [*REFUSED_LANGUAGE, *REFUSED_LISTS]
BY_NAME = {p.name: p for p in ALL}
DIFFERENTIABLE = [p for p in ALL if p.argnums]


@functools.cache
def _chain_of(name: str) -> chains.Chain:
    program = BY_NAME[name]
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


@functools.cache
def _gradient_of(name: str) -> tuple[tuple[Any, ...], dict[str, float]]:
    found, tolerances = array_oracle.gradient(BY_NAME[name])
    return chains.flat_gradient(found), tolerances


def _chain(program: Program) -> chains.Chain:
    return _chain_of(program.name)


def _gradient(program: Program) -> tuple[tuple[Any, ...], dict[str, float]]:
    return _gradient_of(program.name)


def _same(got: Any, want: Any, single: bool) -> None:
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            _same(a, b, single)
        return
    if isinstance(want, np.ndarray | np.generic):
        assert np.asarray(got).dtype == want.dtype
    assert np.shape(got) == np.shape(want)
    if want is not None:
        rtol = 1e-5 if single else 1e-11
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-6 if single else 1e-13)


def test_names_are_unique() -> None:
    names = [p.name for p in ALL]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("program", ALL, ids=str)
def test_value(program: Program) -> None:
    chain = _chain(program)
    want = program.fn(*program.make_args())
    for fn in (chain.lowered.fn, chain.primal):
        results = iter(chains.run(fn, chains.fresh(chain.inputs)))
        got = chains.rebuild(chain.lowered.result, results)
        _same(got, want, "float32" in program.tags)


def _among(program: Program, every: int) -> bool:
    """Whether a program is in the part of the corpus that the costly checks run on by default."""
    return zlib.crc32(program.name.encode()) % every == 0


@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=str)
def test_stages(program: Program) -> None:
    """Every stage; under all policies for a third of the programs."""
    want, tolerances = _gradient(program)
    policies = chains.POLICIES if _among(program, 3) else ("auto", "random:1")
    found = chains.check_stages(_chain(program), want, tolerances=tolerances, policies=policies)
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in DIFFERENTIABLE if not _among(p, 3)], ids=str)
def test_stages_under_all_policies(program: Program) -> None:
    want, tolerances = _gradient(program)
    assert not chains.check_stages(_chain(program), want, tolerances=tolerances)


@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=str)
def test_forward_and_reverse_agree(program: Program) -> None:
    assert not chains.check_tangent(_chain(program), np.random.default_rng(0))


@pytest.mark.parametrize(("program", "text"), REFUSED, ids=str)
def test_refused(program: Program, text: str) -> None:
    program.fn(*program.make_args())  # it is legal
    with pytest.raises(AdcError) as caught:
        chains.Chain.of(program.fn, program.make_args(), program.argnums)
    assert text in str(caught.value)


COMPILED = [p for p in DIFFERENTIABLE if p.tags & {"kernel", "stencil"} or _among(p, 8)]


def _check_compiled(program: Program, policies: tuple[str, ...]) -> None:
    want, tolerances = _gradient(program)
    found = chains.check_compiled(_chain(program), want, tolerances=tolerances, policies=policies)
    assert not found


@pytest.mark.parametrize("program", COMPILED, ids=str)
def test_compiled(program: Program) -> None:
    _check_compiled(program, ("auto",))


@pytest.mark.slow
@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=str)
def test_compiled_under_all_policies(program: Program) -> None:
    _check_compiled(program, ("auto", "store", "recompute"))
