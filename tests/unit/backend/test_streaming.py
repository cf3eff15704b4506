"""Rows of large results are written past the cache, where that is possible, with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.cpu import streaming

Made = Callable[..., Any]


def rows(x: Any, y: Any) -> Any:
    out = np.zeros((len(x), len(y), x.shape[1]), x.dtype)
    for j in range(len(x)):
        for k in range(len(y)):
            for i in range(x.shape[1]):
                out[j, k, i] = x[j, i] * y[k]
    return out


def two_results(x: Any, y: Any) -> Any:
    out = np.zeros((len(x), len(y), x.shape[1]))
    other = np.zeros((len(x), len(y), x.shape[1]))
    for j in range(len(x)):
        for k in range(len(y)):
            for i in range(x.shape[1]):
                out[j, k, i] = x[j, i] * y[k]
                other[j, k, i] = x[j, i] + y[k]
    return out, other


def from_the_second(x: Any, y: Any) -> Any:
    out = np.ones((len(x), len(y), x.shape[1]))
    for j in range(len(x)):
        for k in range(len(y)):
            for i in range(8, x.shape[1]):
                out[j, k, i] = x[j, i] * y[k]
    return out


def in_one_arm(x: Any, y: Any) -> Any:
    out = np.ones((len(x), len(y), x.shape[1]))
    for j in range(len(x)):
        for k in range(len(y)):
            for i in range(x.shape[1]):
                if x[j, i] > 0.5:
                    out[j, k, i] = x[j, i] * y[k]
    return out


def read_again(x: Any, y: Any) -> Any:
    out = np.ones((len(x), len(y), x.shape[1]))
    for j in range(len(x)):
        for k in range(1, len(y)):
            for i in range(x.shape[1]):
                out[j, k, i] = x[j, i] * y[k]
            for i in range(x.shape[1]):
                out[j, k, i] = out[j, k, i] + out[j, k - 1, i]
    return out


def scattered(x: Any, y: Any) -> Any:
    out = np.ones((len(x), len(y), 2 * x.shape[1]))
    for j in range(len(x)):
        for k in range(len(y)):
            for i in range(x.shape[1]):
                out[j, k, 2 * i] = x[j, i] * y[k]
    return out


def network(p: Any, x: Any) -> Any:
    return np.sum(np.tanh(p @ x) ** 2)


def _llvm(function: Any) -> str:
    return "".join(function._code.last.entry.kernel.code.inspect_llvm().values())


def _found(result: Any) -> list[Any]:
    return [*result] if isinstance(result, tuple) else [result]


def _arguments(width: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    drawn = np.random.default_rng(0)
    x, y = drawn.uniform(size=(1024, width)), drawn.uniform(size=33)
    if dtype is np.int64:
        x, y = 100 * x, 100 * y
    return x.astype(dtype), y.astype(dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("program", "past"),
    [
        (rows, True), (two_results, True), (from_the_second, False),
        (in_one_arm, False), (scattered, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", [0, 8, 17, 32])
def test_results_are_those_of_python(
    program: Made, past: bool, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "LEAST", 0)
    function = adc.jit(program, cache=False)
    args = _arguments(width)
    found, expected = function(*args), program(*args)
    for a, b in zip(_found(found), _found(expected), strict=True):
        np.testing.assert_array_equal(a, b)
    assert ("nontemporal" in _llvm(function)) == past


def test_a_row_that_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST", 0)
    args = _arguments(16)
    np.testing.assert_array_equal(adc.jit(read_again, cache=False)(*args), read_again(*args))


@pytest.mark.parametrize("width", [1024, 1032])
def test_long_rows_are_written_where_they_lie(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST", 0)
    x, y = _arguments(width)
    np.testing.assert_array_equal(adc.jit(rows, cache=False)(x[:9], y), rows(x[:9], y))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_types(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST", 0)
    args = _arguments(16, dtype)
    found = adc.jit(rows, cache=False)(*args)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, rows(*args))


@pytest.mark.parametrize("threads", [{}, pytest.param({"parallel": 2}, marks=pytest.mark.full)])
def test_gradients_of_every_example(threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(0)
    p, x = drawn.standard_normal((32, 16)), drawn.standard_normal((400, 16))
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(streaming, "LEAST", least)
        function = adc.vmap(adc.grad(network), (None, 0), cache=False, **threads)
        for _ in range(3):
            found.append(function(p, x))
        assert "nontemporal" in _llvm(function)  # which of both is decided while it runs
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_recursive_functions_keep_their_stack_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def halves(x: Any, n: int, depth: int) -> Any:
        out = np.zeros((n, n, n))
        for j in range(n):
            for k in range(n):
                for i in range(n):
                    out[j, k, i] = x * i
        if depth > 0:
            out[0, 0, 0] += halves(0.5 * x, n, depth - 1)[0, 0, 0]
        return out

    monkeypatch.setattr(streaming, "LEAST", 0)
    function = adc.jit(halves, cache=False)
    np.testing.assert_array_equal(function(1.5, 8, 900), halves(1.5, 8, 900))
    assert "nontemporal" not in _llvm(function)
