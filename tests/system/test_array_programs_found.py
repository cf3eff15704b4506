"""Programs on which adc was wrong, and a few random ones of every kind."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from tests.corpus.arrays.array_programs_found import FOUND, arrays_that_rotate_through_names
from tests.fuzz.families import fuzz_arrays, fuzz_nests
from tests.fuzz.program import Generated, forget
from tests.fuzz.writers import expressions


@pytest.mark.full
@pytest.mark.parametrize(("fn", "args"), FOUND, ids=lambda x: getattr(x, "__name__", ""))
def test_found(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    floats = [k for k, x in enumerate(args) if np.asarray(x).dtype.kind == "f"]
    generated = Generated(inspect.getsource(fn), fn, args, tuple(floats), 0, "arrays")
    assert fuzz_arrays.check(generated, compiled=False) == []


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["arrays", "stencils", "containers", "mixed"])
def test_random_programs(kind: str, seed: int) -> None:
    generated = fuzz_arrays.generate(seed, size=6, kind=kind)
    assert fuzz_arrays.check(generated, compiled=False) == []
    forget(generated)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_random_nests(seed: int) -> None:
    generated = fuzz_nests.generate(seed, size=2)
    assert fuzz_arrays.check(generated, compiled=seed < 2) == []
    forget(generated)


def test_the_same_program_for_the_same_seed() -> None:
    first, second = (fuzz_arrays.generate(7, kind="mixed") for _ in range(2))
    assert first.source == second.source


def test_random_comprehensions_iterate_over_what_python_lets_them() -> None:
    """No `:=` in what a comprehension iterates over, however deep; nothing else changes."""
    generated = fuzz_arrays.generate(5001381, kind="mixed")
    loops = [node for node in ast.walk(ast.parse(generated.source)) if hasattr(node, "generators")]
    assert loops
    forget(generated)
    a = np.array([0.5, 1.5, 4.0])  # noqa: F841
    text = "((w := np.tanh(((u := a * a)[1:] - u[:-1])))[1:] - w[:-1])"
    plain = expressions.nameless(text)
    assert ":=" not in plain
    assert eval(plain).tolist() == eval(text).tolist()
    assert expressions.nameless("a + 1") == "a + 1"


@pytest.mark.full
def test_ambiguous_names_are_refused() -> None:
    refused = [g for seed in range(150) if (g := fuzz_arrays.generate(seed)).refused]
    assert refused
    for generated in refused:
        assert fuzz_arrays.check(generated, compiled=False) == []


def test_lists_appended_on_one_path() -> None:
    def program(x: Any, n: int) -> Any:
        ys = []
        for i in range(int(x[0]) * n):
            if i % 2 == 0:
                ys.append([x * i])
        return len(ys) + np.sum(x)

    value, gradient = adc.value_and_grad(program)(np.ones(2), 4)
    assert value == 4.0
    np.testing.assert_array_equal(gradient, 1.0)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_strided_arrays_rotate(steps: int) -> None:
    rotate = arrays_that_rotate_through_names
    x = np.array([0.2, 0.9, 0.7, 0.8, -0.3, 0.4])
    for strided in (x[::2], x[::-2]):
        want = adc.value_and_grad(rotate)(strided.copy(), steps)
        value, gradient = adc.value_and_grad(rotate)(strided, steps)
        assert value == want[0] == pytest.approx(rotate(strided, steps))
        np.testing.assert_array_equal(gradient, want[1])
