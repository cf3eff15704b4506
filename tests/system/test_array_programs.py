"""The corpus of array programs through the whole chain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.core.state import ConstantNeededError
from adc.ir.core import Function
from adc.ir.errors import AdcError
from tests.corpus.arrays.array_programs import ARRAY_PROGRAMS, SHARP
from tests.corpus.arrays.complex_programs import COMPLEX_PROGRAMS
from tests.corpus.arrays.composed_programs import COMPOSED_PROGRAMS
from tests.corpus.arrays.fourier_programs import FOURIER_PROGRAMS
from tests.corpus.arrays.function_programs import FUNCTION_PROGRAMS
from tests.corpus.arrays.matmul_programs import MATMUL_PROGRAMS
from tests.corpus.arrays.meaning_programs import MEANING_PROGRAMS
from tests.corpus.arrays.random_programs import RANDOM_PROGRAMS
from tests.corpus.arrays.random_programs import REFUSED as REFUSED_DRAWS
from tests.corpus.arrays.scipy_programs import SCIPY_PROGRAMS
from tests.corpus.arrays.size_programs import SIZE_PROGRAMS
from tests.corpus.arrays.stack_programs import STACK_PROGRAMS
from tests.corpus.arrays.vector_programs import VECTOR_PROGRAMS
from tests.corpus.arrays.view_programs import REFUSED as REFUSED_VIEWS
from tests.corpus.arrays.view_programs import VIEW_PROGRAMS
from tests.corpus.language.class_programs import CLASS_PROGRAMS
from tests.corpus.language.containers.filled_programs import FILLED_PROGRAMS
from tests.corpus.language.containers.history_programs import HISTORY_PROGRAMS
from tests.corpus.language.containers.kept_programs import KEPT_PROGRAMS
from tests.corpus.language.containers.keyed_programs import KEYED_PROGRAMS
from tests.corpus.language.containers.language_programs import LANGUAGE_PROGRAMS
from tests.corpus.language.containers.language_programs import REFUSED as REFUSED_LANGUAGE
from tests.corpus.language.containers.list_programs import LIST_PROGRAMS
from tests.corpus.language.containers.list_programs import REFUSED as REFUSED_LISTS
from tests.corpus.language.containers.mapping_programs import MAPPING_PROGRAMS
from tests.corpus.language.containers.pool_programs import POOL_PROGRAMS
from tests.corpus.language.containers.zip_programs import ZIP_PROGRAMS
from tests.corpus.language.functions.framework_programs import FRAMEWORK_PROGRAMS
from tests.corpus.language.functions.generator_programs import GENERATOR_PROGRAMS
from tests.corpus.language.functions.generator_programs import REFUSED as REFUSED_GENERATORS
from tests.corpus.language.functions.layer_programs import LAYER_PROGRAMS
from tests.corpus.language.functions.standard_programs import STANDARD_PROGRAMS
from tests.corpus.language.object_programs import OBJECT_PROGRAMS
from tests.corpus.language.object_programs import REFUSED as REFUSED_OBJECTS
from tests.corpus.language.paths.choice_programs import CHOICE_PROGRAMS
from tests.corpus.language.paths.exception_programs import EXCEPTION_PROGRAMS
from tests.corpus.language.paths.exception_programs import REFUSED as REFUSED_EXCEPTIONS
from tests.corpus.language.paths.optional_programs import OPTIONAL_PROGRAMS
from tests.corpus.language.paths.optional_programs import REFUSED as REFUSED_OPTIONAL
from tests.corpus.language.paths.varied_programs import VARIED_PROGRAMS
from tests.corpus.loops.carried_programs import CARRIED_PROGRAMS
from tests.corpus.loops.invert_programs import INVERT_PROGRAMS
from tests.corpus.loops.kernel_programs import KERNEL_PROGRAMS
from tests.corpus.loops.product_programs import PRODUCT_PROGRAMS
from tests.corpus.loops.stencil_programs import STENCIL_PROGRAMS
from tests.corpus.loops.thread_programs import THREAD_PROGRAMS
from tests.corpus.loops.undo_programs import UNDO_PROGRAMS
from tests.corpus.program import Program
from tests.oracle import array_oracle
from tests.oracle import chain as chains

ALL: list[Program] = [
    *ARRAY_PROGRAMS,
    *FUNCTION_PROGRAMS,
    *MATMUL_PROGRAMS,
    *COMPOSED_PROGRAMS,
    *LANGUAGE_PROGRAMS,
    *KEPT_PROGRAMS,
    *LIST_PROGRAMS,
    *OPTIONAL_PROGRAMS,
    *VARIED_PROGRAMS,
    *FRAMEWORK_PROGRAMS,
    *LAYER_PROGRAMS,
    *OBJECT_PROGRAMS,
    *CLASS_PROGRAMS,
    *KERNEL_PROGRAMS,
    *CARRIED_PROGRAMS,
    *PRODUCT_PROGRAMS,
    *STENCIL_PROGRAMS,
    *STACK_PROGRAMS,
    *THREAD_PROGRAMS,
    *RANDOM_PROGRAMS,
    *UNDO_PROGRAMS,
    *INVERT_PROGRAMS,
    *MEANING_PROGRAMS,
    *ZIP_PROGRAMS,
    *VIEW_PROGRAMS,
    *SIZE_PROGRAMS,
    *VECTOR_PROGRAMS,
    *CHOICE_PROGRAMS,
    *COMPLEX_PROGRAMS,
    *EXCEPTION_PROGRAMS,
    *GENERATOR_PROGRAMS,
    *STANDARD_PROGRAMS,
    *KEYED_PROGRAMS,
    *POOL_PROGRAMS,
    *FILLED_PROGRAMS,
    *HISTORY_PROGRAMS,
    *MAPPING_PROGRAMS,
    *FOURIER_PROGRAMS,
    *SCIPY_PROGRAMS,
]
REFUSED = [
    *REFUSED_LANGUAGE,
    *REFUSED_LISTS,
    *REFUSED_OPTIONAL,
    *REFUSED_OBJECTS,
    *REFUSED_DRAWS,
    *REFUSED_VIEWS,
    *REFUSED_EXCEPTIONS,
    *REFUSED_GENERATORS,
]
BY_NAME = {p.name: p for p in ALL}
DIFFERENTIABLE = [p for p in ALL if p.argnums]


def _chain(program: Program) -> chains.Chain:
    return chains.Chain.of(program.fn, program.make_args(), program.argnums)


def _gradient(program: Program) -> tuple[tuple[Any, ...], dict[str, float]]:
    found, tolerances = array_oracle.gradient(program)
    return chains.flat_gradient(found), tolerances


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


def _check_value(program: Program, chain: chains.Chain, *made: Function) -> None:
    want = program.fn(*program.make_args())
    for fn in (chain.lowered.fn, *made):
        got = chains.rebuild(chain.lowered.result, iter(chain.run(fn)))
        _same(got, want, "float32" in program.tags)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("program", ALL, ids=str)
def test_lowered(program: Program) -> None:
    """What every program means, in every run: what is made of it is sampled in the short one."""
    _check_value(program, _chain(program))


def always_if_sharp(program: Program) -> Any:
    """Return a parameter: some programs are in the short run because they notice what none does."""
    return pytest.param(program, marks=[pytest.mark.sampled(1)] if program.name in SHARP else [])


@pytest.mark.sampled(400)
@pytest.mark.parametrize("program", [always_if_sharp(p) for p in ALL], ids=str)
def test_interpreted(program: Program) -> None:
    """Value, gradient, every pass, plans, both modes: in one test, to make stages once.

    Under all plans for a third of the programs.
    """
    chain = _chain(program)
    _check_value(program, chain, chain.primal)
    if not program.argnums:
        return
    want, tolerances = _gradient(program)
    policies = ("auto", "random:1") if program.number(3) else chains.POLICIES
    found = chains.check_stages(chain, want, tolerances=tolerances, policies=policies)
    found += chains.check_passes(chain, policies[program.number(len(policies))])
    found += chains.check_tangent(chain, np.random.default_rng(0))
    assert not found


@pytest.mark.sampled(200)
@pytest.mark.parametrize("program", [p for p in DIFFERENTIABLE if p.number(3)], ids=str)
def test_stages_under_all_policies(program: Program) -> None:
    want, tolerances = _gradient(program)
    assert not chains.check_stages(_chain(program), want, tolerances=tolerances)


@pytest.mark.sampled(150)
@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=str)
def test_sizes_as_constants(program: Program) -> None:
    """Where a program needs it, it is lowered for the sizes and integers of its arguments."""
    want, tolerances = _gradient(program)
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums, fixed=True)
    assert not chains.check_stages(chain, want, tolerances=tolerances, policies=("auto",))


@pytest.mark.parametrize(("program", "text"), REFUSED, ids=str)
def test_refused(program: Program, text: str) -> None:
    program.fn(*program.make_args())  # it is legal
    with pytest.raises(AdcError) as caught:
        _lower(program)
    assert text in str(caught.value)


def _lower(program: Program) -> None:
    try:
        chains.Chain.of(program.fn, program.make_args(), program.argnums)
    except ConstantNeededError:  # a size becomes one
        adc.jit(program.fn)(*program.make_args())


COMPILED = ("auto", "store", "recompute")


@pytest.mark.sampled(200)
@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=str)
def test_compiled(program: Program) -> None:
    """What is emitted, under all plans; the memory that calls hold."""
    want, tolerances = _gradient(program)
    # The gradient is without its value under the last of them.
    number = program.number(3)
    policies = (*COMPILED[number:], *COMPILED[:number])
    found = chains.check_compiled(
        _chain(program), want, tolerances=tolerances, policies=policies, metered=True
    )
    assert not found
