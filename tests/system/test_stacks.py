"""Lists of elements that are alike: passed as arrays, whatever a loop over them would take."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree
import pytest

import adc
from adc.frontend.core import lower
from tests.corpus.language.stack_programs import ONE_BY_ONE, STACK_PROGRAMS
from tests.corpus.program import Program


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pass lists as stacks that loops take, however short their bodies are."""
    monkeypatch.setattr(lower, "REPEATED", 0)


def flat(tree: Any) -> list[Any]:
    leaves = optree.tree_leaves(tree, none_is_leaf=True)
    return [inner for leaf in leaves for inner in parts(leaf)]


def parts(leaf: Any) -> list[Any]:
    found = vars(leaf) if hasattr(leaf, "__dict__") else None
    return [leaf] if found is None else flat(list(found.values()))


def same(a: Any, b: Any, exactly: bool = True) -> None:
    first, second = flat(a), flat(b)
    assert len(first) == len(second)
    for x, y in zip(first, second, strict=True):
        assert type(x) is type(y)
        if x is None:
            continue
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        if exactly:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-5 if np.asarray(x).dtype == np.float32 else 1e-12)


def one_by_one(program: Program, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """Return value and gradient without stacks."""
    with monkeypatch.context() as patch:
        patch.setattr(lower, "REPEATED", 10**9)
        return adc.value_and_grad(program.fn, program.argnums, **options)(*program.make_args())


def stacks_of(derivative: Any) -> Any:
    return derivative._code._shared.stacks


@pytest.mark.parametrize("program", STACK_PROGRAMS, ids=str)
def test_stacks(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    want = one_by_one(program, monkeypatch, deterministic=True)
    # Options of its own: code is shared by derivatives with equal options.
    derivative = adc.value_and_grad(program.fn, program.argnums, cache=False)
    for _ in range(3):  # the third call reads its arguments in another way
        found = derivative(*program.make_args())
        same(found, want, exactly=False)
    assert stacks_of(derivative)


@pytest.mark.parametrize("program", ONE_BY_ONE, ids=str)
def test_elements_one_by_one(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    want = one_by_one(program, monkeypatch)
    derivative = adc.value_and_grad(program.fn, program.argnums, cache=False)
    same(derivative(*program.make_args()), want)
    assert not stacks_of(derivative)
