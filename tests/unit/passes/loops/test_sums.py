"""Sums in lanes: the same bits compiled and interpreted, at every length; merged loops are safe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from tests.oracle import chain as chains

POLICIES = ("store", "recompute", "auto", "random:3")
LENGTHS = (0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000)


def total(x: Any, w: Any) -> Any:
    return np.sum(np.sin(x) * w)


def rows(x: Any, w: Any) -> Any:
    return np.sum(np.sum(np.tanh(x), axis=1) ** 2) * w


def in_a_loop(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sum(np.exp(x[i]) * w) ** 2
    return s


def scalar_of_a_loop(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            s = s * 0.5 + np.sin(w * x[i])
        else:
            s += w * w
    return s


def columns(x: Any, w: Any) -> Any:
    return np.sum(np.sum(x * w, axis=0) ** 3)


def deep(x: Any, w: Any) -> Any:
    """Sum rows inside two loops: sums of many terms are functions of their own there."""
    s = 0.0
    for i in range(x.shape[0]):
        for k in range(2):
            y = x[i] * w + k
            s = np.sin(s) + np.sum(y * x[i]) * np.sum(y * y)
    return s


CASES = [
    (total, 1), (rows, 2), (in_a_loop, 2), (scalar_of_a_loop, 1), (columns, 2), (deep, 2)
]  # fmt: skip


@pytest.mark.full
def test_sums_deep_in_a_nest_are_functions() -> None:
    x = np.linspace(0.1, 0.9, 300).reshape(3, 100)
    source = adc.grad(deep).source(x, 0.7)
    assert source.count("_long(state, ") == 2 * source.count("\ndef deep_adjoint_") > 0, source
    assert "_long" not in adc.grad(rows).source(x, 0.7)


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.full)])
@pytest.mark.parametrize("case", CASES, ids=[fn.__name__ for fn, _ in CASES])
def test_bits(case: tuple[Any, int], dtype: Any) -> None:
    fn, rank = case
    rng = np.random.default_rng(5)
    compiled = {
        policy: adc.value_and_grad(fn, (0, 1), remat=policy, cache=False) for policy in POLICIES
    }
    for n in LENGTHS:
        shape = (3, n) if rank == 2 else (n,)
        x = (rng.random(shape) * 10.0 ** rng.integers(-3, 1, shape)).astype(dtype)
        w: Any = dtype(0.7)
        if fn is total:
            w = rng.random(n).astype(dtype)
        first = compiled["store"](x, w)
        want = chains.bits([first[0], *first[1]])
        for policy in POLICIES[1:]:
            value, grads = compiled[policy](x, w)
            assert chains.bits([value, *grads]) == want, (policy, n)
        chain = chains.Chain.of(fn, (x, w), (0, 1))
        interpreted = chains.run(chain.joined, [x.copy(), w])
        tolerance = 1e-4 if dtype is np.float32 else 1e-12
        for got, right in zip([first[0], *first[1]], interpreted, strict=True):
            size = float(np.max(np.abs(right), initial=0.0))
            np.testing.assert_allclose(got, right, rtol=tolerance, atol=tolerance * size)


def test_order_of_long_and_short_sums() -> None:
    rng = np.random.default_rng(6)
    compiled = adc.jit(lambda x: np.sum(x), cache=False)
    for n in LENGTHS:
        x = rng.random(n) * 10.0 ** rng.integers(-8, 8, n)
        chain = chains.Chain.of(lambda x: np.sum(x), (x,), (0,))
        (want,) = chains.run(chain.primal, [x])
        found = compiled(x)
        assert np.float64(found).tobytes() == np.float64(want).tobytes(), n
        assert found == pytest.approx(float(np.sum(x)), rel=1e-12)


# -- merged loops raise what the program raises ----------------------------------------------------


def two_sums(x: Any, w: Any) -> Any:
    return np.sum(np.sin(w) * 2.0) + np.sum(x * w)


def picked(x: Any, labels: Any) -> Any:
    e = np.exp(x)
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(np.log(p)[np.arange(x.shape[0]), labels])


def element_of_no_iteration(a: Any, x: Any, n: Any, k: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(n):
            s += x[i] * a[k] * a[j]
    return s


def checks_in_loops(a: Any, b: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s += a[i] * 2.0
    for i in range(n):
        s += b[i + 1] * a[i]
    return s


def test_sizes_that_differ() -> None:
    g = adc.grad(two_sums, (0, 1))
    g(np.ones(4), np.ones(4))
    for n in (3, 5, 4000):
        with pytest.raises(ValueError, match="broadcast"):
            g(np.ones(4), np.ones(n))


def test_indices_that_do_not_exist() -> None:
    g = adc.value_and_grad(picked)
    x = np.random.default_rng(0).random((40, 3))
    labels = np.zeros(40, np.int64)
    g(x, labels)
    for bad in (3, -4, 10**12):
        labels[17] = bad
        with pytest.raises(IndexError):
            g(x, labels)


def test_no_iteration_touches_nothing() -> None:
    g = adc.grad(element_of_no_iteration, (0, 1))
    a, x = np.arange(1.0, 4.0), np.ones(3)
    for k in (7, 10**9, -5):
        found = g(a, x, 0, k)
        assert all(not np.any(each) for each in found)
    assert g(a, x, 2, 1)[0].tolist() == [6.0, 15.0, 0.0]


def test_the_first_of_several_checks() -> None:
    g = adc.grad(checks_in_loops, (0, 1))
    a, b = np.ones(5), np.ones(6)
    g(a, b, 5)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        g(a, b, 7)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        g(a, np.ones(3), 4)
