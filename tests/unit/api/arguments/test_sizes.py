"""Code for axes that turn out to have size 1, and for sizes that decide what variables are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.entry import lower
from adc.ir.errors import AdcError
from tests.oracle import chain as chains

X = np.array([1.0, 2.0, 3.0])
SCALE = np.array([2.0, 5.0])


def shortened(x: Any, n: Any) -> Any:
    return np.sum(x[:n] * x)


def scaled(x: Any, n: Any) -> Any:
    return x[:n] * x * SCALE[1]


def test_code_for_both_is_made_once_it_is_needed() -> None:
    f = adc.value_and_grad(shortened)
    for n, want in ((3, [2.0, 4.0, 6.0]), (1, [7.0, 1.0, 1.0]), (3, [2.0, 4.0, 6.0])):
        value, gradient = f(X, n)
        assert value == shortened(X, n)
        np.testing.assert_array_equal(gradient, want)
    with pytest.raises(ValueError, match=r"could not be broadcast .* \(2,\) \(3,\)") as caught:
        f(X, 2)
    assert caught.traceback[-1].lineno == shortened.__code__.co_firstlineno
    assert f.cache_info()["compiled"] + f.cache_info()["loaded"] == 1


def test_sizes_that_are_known_need_no_other_code() -> None:
    def known(x: Any) -> Any:
        w = x[1:] * x[:-1]
        return np.sum(w * 2.0 + x[1:]) + np.sum(x * np.zeros_like(x))

    types = {"x": chains.type_tree(X)}
    assert lower(known, types, general=True).fn == lower(known, types).fn


@pytest.mark.full
def test_every_derivative() -> None:
    jacobian = np.array([[10.0, 0.0, 0.0], [10.0, 5.0, 0.0], [15.0, 0.0, 5.0]])
    np.testing.assert_array_equal(adc.jacrev(scaled)(X, 1), jacobian)
    np.testing.assert_array_equal(adc.jacfwd(scaled)(X, 1), jacobian)
    value, pull = adc.vjp(lambda x: scaled(x, 1), X)
    np.testing.assert_array_equal(value, scaled(X, 1))
    np.testing.assert_array_equal(pull(np.ones(3))[0], jacobian.sum(axis=0))
    _, slope = adc.jvp(lambda x: scaled(x, 1), (X,), (np.ones(3),))
    np.testing.assert_array_equal(slope, jacobian.sum(axis=1))
    hessian = adc.hessian(lambda x: shortened(x, 1))(X)
    np.testing.assert_array_equal(hessian, [[2.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


def test_within_a_budget() -> None:
    f = adc.grad(shortened, memory="1 MB")
    for size in (3, 1000):
        x = np.arange(1.0, 1.0 + size)
        np.testing.assert_array_equal(f(x, 1)[1:], np.ones(size - 1))


def test_what_is_printed_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def talking(x: Any, n: Any) -> Any:
        print("n is", n)
        return np.sum(x[:n] * x)

    np.testing.assert_array_equal(adc.grad(talking)(X, 1), [7.0, 1.0, 1.0])
    assert capsys.readouterr().out == "n is 1\n"


@pytest.mark.full
def test_random_numbers_are_drawn_once() -> None:
    def noisy(x: Any, n: Any, rng: Any) -> Any:
        z = rng.random(3)
        return np.sum(x[:n] * z * x)

    rng, own = np.random.default_rng(0), np.random.default_rng(0)
    value, _ = adc.value_and_grad(noisy)(X, 1, rng)
    assert value == pytest.approx(noisy(X, 1, own))
    assert rng.random() == own.random()


@pytest.mark.parametrize(
    ("fn", "n"),
    [(lambda x, n: np.sum(x[n : n + 1] * x), 3), (lambda x, n: np.sum(x[n:] * x), 1),
     (lambda x, n: np.sum(np.broadcast_to(x[:n], (3,))), 2)],
)  # fmt: skip
def test_sizes_that_do_not_fit(fn: Callable[..., Any], n: int) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        fn(X, n)
    with pytest.raises(ValueError, match="broadcast"):
        adc.jit(fn)(X, n)


def test_an_argument_of_size_one_is_stretched_to_no_target() -> None:
    def fixed(x: Any, n: Any) -> Any:
        y = np.zeros(n)
        y[:] = x
        return np.sum(y)

    with pytest.raises(ValueError, match=r"from shape \(3,\) into shape \(1,\)"):
        adc.grad(fixed)(X, 1)


def flattened(x: Any, n: Any) -> Any:
    rows = np.atleast_2d(x)
    if min(rows.shape) == 1:
        rows = rows.ravel()
    return np.sum(rows**n) if rows.ndim == 1 else np.sum(rows) ** n


def test_sizes_that_decide_how_many_axes_there_are() -> None:
    slope = adc.grad(flattened)
    row, column, table = X[None], X[:, None], np.outer(X, X)
    for _ in range(2):
        for x in (X, row, column):
            np.testing.assert_array_equal(slope(x, 2), 2.0 * x)
        for n in (2, 3, 2):
            np.testing.assert_allclose(slope(table, n), n * np.sum(table) ** (n - 1))
    # One for each rank and shape, and none for each exponent.
    assert slope.cache_info()["compiled"] + slope.cache_info()["loaded"] == 4
    np.testing.assert_array_equal(adc.hessian(lambda x: flattened(x, 2))(X), 2.0 * np.eye(3))


def written(x: Any) -> Any:
    rows = np.atleast_2d(x)
    if min(rows.shape) == 1:
        rows = rows.ravel()
    rows[0] = 2.0 * rows[-1]
    return np.sum(x * np.arange(1.0, x.size + 1.0).reshape(x.shape))


def test_sizes_that_decide_what_is_a_view_of_what() -> None:
    slope = adc.grad(written)
    np.testing.assert_array_equal(slope(X), [0.0, 2.0, 5.0])
    np.testing.assert_array_equal(slope(X[:, None]), [[0.0], [2.0], [5.0]])
    np.testing.assert_array_equal(slope(np.ones((2, 2))), [[0.0, 0.0], [5.0, 8.0]])


def test_integers_are_constants_only_if_sizes_do_not_do() -> None:
    def weighted(x: Any, k: Any, order: Any) -> Any:
        y = x if order == 1 else (x, x**2)
        return np.sum(y[1] * k)

    slope = adc.grad(weighted)
    np.testing.assert_array_equal(slope(X, 5, 2), 10.0 * X)
    np.testing.assert_array_equal(slope(X, 7, 1), [0.0, 7.0, 0.0])
    np.testing.assert_array_equal(slope(X, 5, 2), 10.0 * X)


WEIGHTS = np.ones((3, 1))


def captured(x: Any) -> Any:
    w = WEIGHTS
    if w.shape[1] == 1:
        w = w[:, 0]
    return np.sum(x @ w)


def test_sizes_of_captured_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = adc.grad(captured)
    np.testing.assert_array_equal(slope(X), np.ones(3))
    monkeypatch.setitem(captured.__globals__, "WEIGHTS", np.ones((3, 2)))
    np.testing.assert_array_equal(slope(X), 2.0 * np.ones(3))


def test_what_sizes_do_not_decide_is_refused_as_ever() -> None:
    def by_value(x: Any, n: Any) -> Any:
        y = x if x[0] > 0.0 else (x, n)
        return y[0]

    with pytest.raises(AdcError) as caught:
        adc.grad(by_value)(X, 3)
    assert caught.value.code == "ADC012"
    assert "f64[:]" in caught.value.message
