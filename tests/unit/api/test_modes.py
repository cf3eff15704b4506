"""`jit`, `vjp`, `jvp`, Jacobians, Hessians, and the marks on functions: right, and like results."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from scipy.optimize import minimize

import adc
from adc.cli import check
from adc.ir.errors import ArgumentError
from adc.testing import check_grads

X = np.array([0.3, -1.2, 0.7])
A = np.arange(6.0).reshape(2, 3) * 0.25


class Pair(NamedTuple):
    total: Any
    rest: Any


def mixed(x: Any, a: Any, k: int) -> Any:
    """Returns everything: arrays, numbers, integers, containers; changes an argument."""
    x *= 1.5
    y = a @ np.sin(x)
    return y, {"sum": np.sum(y * y) * k, "k": k}, [x[0] * x[1], Pair(x, (a[0], True))]


def energy(x: Any, b: Any = 0.7) -> Any:
    return np.sum(np.tanh(x * b)) ** 2 + x[0] * b


def numeric_jacobian(fn: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    x = np.asarray(x, dtype=np.float64)
    first = np.asarray(fn(x))
    found = np.zeros(first.shape + x.shape)
    for index in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[index] = step
        found[(..., *index)] = (np.asarray(fn(x + moved)) - np.asarray(fn(x - moved))) / (2 * step)
    return found


# -- jit -------------------------------------------------------------------------------------------


def test_jit_returns_what_the_function_does() -> None:
    fast = adc.jit(mixed)
    x = X.copy()
    y, named, (product, pair) = fast(x, A, 3)
    want, names, (wanted_product, wanted_pair) = mixed(X.copy(), A, 3)
    np.testing.assert_allclose(y, want, rtol=1e-14)
    assert named["k"] == 3
    assert type(named["k"]) is int
    assert type(named["sum"]) is type(names["sum"])
    np.testing.assert_allclose(named["sum"], names["sum"], rtol=1e-14)
    np.testing.assert_allclose(product, wanted_product, rtol=1e-15)
    assert type(pair) is Pair
    np.testing.assert_array_equal(pair.total, wanted_pair.total)
    assert pair.rest[1] is True
    np.testing.assert_array_equal(x, X)
    assert repr(fast) == "<adc jit(mixed)>"


@pytest.mark.full
def test_jit_of_functions_without_floats() -> None:
    assert adc.jit(lambda n: [k * k for k in range(n)])(4) == [0, 1, 4, 9]
    assert adc.jit(lambda x: None)(1.0) is None
    assert adc.jit(lambda x: x > 1.0)(2.0) is True


def test_jit_is_seen_through() -> None:
    @adc.jit
    def square(x: Any) -> Any:
        return x * x

    assert adc.grad(square)(3.0) == 6.0
    assert adc.grad(lambda x: square(x) * x)(3.0) == 27.0
    assert adc.jit(square)(3.0) == 9.0
    assert adc.jit(adc.grad(square))(3.0) == 6.0


def test_jit_decorates_methods() -> None:
    class Scaled:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @adc.jit
        def apply(self, x: Any) -> Any:
            return self.factor * x

    np.testing.assert_array_equal(Scaled(2.0).apply(X), 2.0 * X)


# -- vjp and jvp -----------------------------------------------------------------------------------


def test_pulling_back() -> None:
    x, a = X.copy(), A.copy()
    value, pull = adc.vjp(mixed, x, a, 2)
    x[:] = 0.0  # what happens to the arguments later does not matter
    rng = np.random.default_rng(0)
    ct: Any = (
        rng.standard_normal(2),
        {"sum": 0.3, "k": 0},
        [0.7, Pair(rng.standard_normal(3), (rng.standard_normal(3), False))],
    )

    def weighted(x: Any, a: Any) -> Any:
        y, named, (product, pair) = mixed(x.copy(), a, 2)
        found = np.sum(ct[0] * y) + 0.3 * named["sum"] + 0.7 * product
        return found + np.sum(ct[2][1].total * pair.total) + np.sum(ct[2][1].rest[0] * pair.rest[0])

    of_x, of_a, of_k = pull(ct)
    assert of_k is None
    np.testing.assert_allclose(of_x, numeric_jacobian(lambda x: weighted(x, A), X), rtol=1e-7)
    np.testing.assert_allclose(
        of_a, numeric_jacobian(lambda a: weighted(X, a), A), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(value[2][1].total, 1.5 * X)
    for got, again in zip(pull(ct)[:2], (of_x, of_a), strict=True):
        np.testing.assert_array_equal(got, again)


@pytest.mark.full
def test_pulling_back_through_a_gradient() -> None:
    value, pull = adc.vjp(adc.grad(energy), X, 0.7)
    np.testing.assert_array_equal(value, adc.grad(energy)(X, 0.7))
    ct = np.array([1.0, -2.0, 0.5])
    of_x, of_b = pull(ct)
    hessian = adc.hessian(energy, (0, 1))(X, 0.7)
    np.testing.assert_allclose(of_x, hessian[0][0] @ ct, rtol=1e-13)
    np.testing.assert_allclose(of_b, hessian[0][1] @ ct, rtol=1e-13)


@pytest.mark.full
def test_tangents_are_like_results() -> None:
    dx = np.array([1.0, 2.0, -1.0])
    value, moved = adc.jvp(mixed, (X, A, 2), (dx, None, None))
    np.testing.assert_array_equal(value[2][1].total, 1.5 * X)
    np.testing.assert_array_equal(moved[2][1].total, 1.5 * dx)
    np.testing.assert_array_equal(moved[2][1].rest[0], np.zeros(3))
    assert moved[1]["k"] == 0
    assert moved[2][1].rest[1] is False
    np.testing.assert_allclose(moved[0], 1.5 * A @ (np.cos(1.5 * X) * dx), rtol=1e-14)


@pytest.mark.parametrize(
    ("ct", "message"),
    [
        (3.0, "the cotangent must have a tuple of 2 where results have"),
        ((1.0, 2.0, 3.0), "the cotangent must have a tuple of 2 where results have"),
        ((np.zeros(2), 1.0), r"the cotangent has shape \(2,\), but the value has shape \(3,\)"),
        ((np.zeros(3), "a"), "the cotangent is a str whose elements are not real numbers"),
    ],
)
def test_cotangents_are_checked(ct: Any, message: str) -> None:
    _, pull = adc.vjp(lambda x: (x * 2.0, x[0]), X)
    with pytest.raises(adc.AdcError, match=message):
        pull(ct)


# -- Jacobians -------------------------------------------------------------------------------------


def test_jacobians() -> None:
    def fn(x: Any, a: Any) -> Any:
        return a @ np.exp(x), (x[0] * x[1], 4)

    forward = adc.jacfwd(fn, argnums=(0, 1))(X, A)
    reverse = adc.jacrev(fn, argnames=("x", "a"))(X, A)
    of_x = numeric_jacobian(lambda x: fn(x, A)[0], X)
    of_a = numeric_jacobian(lambda a: fn(X, a)[0], A)
    for whole, (number, four) in (forward, reverse):
        np.testing.assert_allclose(whole[0], of_x, rtol=1e-8)
        np.testing.assert_allclose(whole[1], of_a, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(number[0], [X[1], X[0], 0.0])
        np.testing.assert_array_equal(number[1], np.zeros((2, 3)))
        assert four is None


def test_jacobians_of_containers() -> None:
    p = {"w": X, "b": 0.5}
    found = adc.jacrev(lambda p: p["w"] * p["b"])(p)
    np.testing.assert_array_equal(found["w"], np.diag([0.5] * 3))
    np.testing.assert_array_equal(found["b"], X)


@pytest.mark.full
def test_numbers_by_numbers_are_numbers() -> None:
    for jacobian in (adc.jacfwd, adc.jacrev):
        found = jacobian(lambda x: (x * x, [x]))(3.0)
        assert found == (6.0, [1.0])
        assert type(found[0]) is float
    single = adc.jacrev(lambda x: x * x)(np.float32(3.0))
    assert type(single) is np.float32


def test_hessians() -> None:
    want = numeric_jacobian(lambda x: adc.grad(energy)(x), X, 1e-5)
    found = adc.hessian(energy)(X)
    np.testing.assert_allclose(found, want, rtol=1e-8)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
    for other in (adc.jacfwd(adc.grad(energy)), adc.jacrev(adc.grad(energy))):
        np.testing.assert_array_equal(other(X), found)
    (xx, xb), (bx, bb) = adc.hessian(energy, argnames=("x", "b"))(X, 0.7)
    np.testing.assert_allclose(xx, found, rtol=1e-13)
    np.testing.assert_allclose(xb, bx, rtol=1e-12)
    assert bb == pytest.approx(adc.grad(adc.grad(lambda b: energy(X, b)))(0.7))


def test_jacobians_are_functions() -> None:
    assert repr(adc.hessian(energy)) == "<adc hessian(energy)>"
    assert repr(adc.jacrev(energy)) == "<adc jacrev(energy)>"
    again = pickle.loads(pickle.dumps(adc.hessian(energy)))
    np.testing.assert_array_equal(again(X), adc.hessian(energy)(X))
    assert again.__name__ == "energy"
    assert "reverse" in again.ir(after="adjoint")
    assert pickle.loads(pickle.dumps(adc.jit(energy)))(X) == adc.jit(energy)(X)


def test_what_has_no_jacobian() -> None:
    with pytest.raises(adc.AdcError, match="there is no float in it"):
        adc.jacrev(lambda x: 3)(1.0)
    with pytest.raises(adc.AdcError, match=r"`hessian` of energy\(\) returns an array") as error:
        adc.grad(adc.hessian(energy))(X)
    assert "a function that reduces it to a number" in str(error.value)


# -- gradients alone -------------------------------------------------------------------------------


def blurred(x: Any, w: Any, steps: int) -> Any:
    for _ in range(steps):
        x[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return np.sum(w * x)


def cube(x: Any) -> Any:
    return x * x * x


@pytest.mark.full
def test_a_gradient_alone_computes_no_value() -> None:
    alone, both = adc.grad(blurred), adc.value_and_grad(blurred)
    x, w = np.random.default_rng(0).standard_normal((2, 9))
    value, gradient = both(x, w, 3)
    assert value == pytest.approx(blurred(x.copy(), w, 3))
    np.testing.assert_array_equal(alone(x, w, 3), gradient)
    # All that the reverse code of linear steps needs is their number.
    assert "copy %x" in both.ir(x, w, 3)
    assert "copy %x" not in alone.ir(x, w, 3)
    assert " %x[" not in alone.ir(x, w, 3)
    assert adc.grad(adc.grad(cube))(2.0) == 12.0
    assert adc.hvp(cube, (2.0,), (1.0,)) == 12.0


def test_a_gradient_alone_does_what_the_function_does(capsys: pytest.CaptureFixture[str]) -> None:
    def loss(x: Any, y: Any, k: Any) -> Any:
        print("x is", x)
        total = x * y[k]
        assert total < 50.0, "too much"
        return total + math.log(y[0])

    gradient = adc.grad(loss)
    y = np.array([1.0, 2.0])
    assert gradient(3.0, y, 1) == 2.0
    assert capsys.readouterr().out == "x is 3.0\n"
    with pytest.raises(IndexError, match="2"):
        gradient(3.0, y, 2)
    with pytest.raises(AssertionError, match="too much"):
        gradient(30.0, y, 1)
    with pytest.raises(ValueError, match="math domain error"):
        gradient(3.0, -y, 1)


def test_a_gradient_alone_has_auxiliary_results() -> None:
    def loss(x: Any) -> Any:
        y = np.sum(x * x)
        return y, {"loss": y, "twice": 2.0 * y}

    gradient, aux = adc.grad(loss, has_aux=True)(X)
    np.testing.assert_allclose(gradient, 2.0 * X)
    assert aux["loss"] == pytest.approx(float(np.sum(X * X)))
    assert aux["twice"] == 2.0 * aux["loss"]


def test_auxiliary_results_of_a_gradient_are_of_all_kinds() -> None:
    def loss(x: Any, limit: float) -> Any:
        total, log, best = 0.0, [], None
        for k, v in enumerate(x):
            total += v * v
            log.append(f"{k}: {total:.2f}")
            if v > limit:
                best = v
        kind = "far" if total > limit else "near"
        text = f"loss {total:.3f}"
        return total, {"log": log, "text": text, "best": best, "kind": kind, "s": {1}}

    for limit in (-1.0, 0.0, 100.0):
        (value, aux), gradient = adc.value_and_grad(loss, has_aux=True)(X, limit)
        assert (value, aux) == loss(X, limit)
        np.testing.assert_allclose(gradient, 2.0 * X)


# -- choosing arguments ----------------------------------------------------------------------------


def test_arguments_by_name() -> None:
    by_name = adc.grad(energy, argnames="b")
    assert by_name(X, 0.7) == adc.grad(energy, 1)(X, 0.7)
    of_b, of_x = adc.grad(energy, argnames=("b", "x"))(X, 0.7)
    assert of_b == by_name(X, 0.7)
    np.testing.assert_array_equal(of_x, adc.grad(energy)(X, 0.7))

    class Model:
        def loss(self, x: Any, y: Any) -> Any:
            return x * y * y

    assert adc.grad(Model().loss, argnames="y")(2.0, 3.0) == 12.0
    with pytest.raises(adc.AdcError, match=r"energy\(\) has no parameter 'c'") as error:
        adc.grad(energy, argnames="c")
    assert "it has x, b" in str(error.value)
    with pytest.raises(adc.AdcError, match="argnums and argnames are both given"):
        adc.grad(energy, 0, argnames="x")


def by_name(x: Any, *rest: float, k: float = 3.0, n: int = 2) -> Any:
    return np.sum(x * x) * k**n + sum(rest) * k


@pytest.mark.full
def test_arguments_given_by_name_alone() -> None:
    square = float(np.sum(X * X))
    of_k, of_x = adc.grad(by_name, argnames=("k", "x"))(X, 1.0, 2.0, k=5.0)
    assert of_k == pytest.approx(10.0 * square + 3.0)
    np.testing.assert_allclose(of_x, 50.0 * X)
    second = adc.hessian(by_name, argnames=("k", "x"))(X, k=5.0)
    np.testing.assert_allclose(second[0][0], 2.0 * square)
    np.testing.assert_allclose(second[0][1], 20.0 * X)
    for make in (adc.jacfwd, adc.jacrev):
        np.testing.assert_allclose(make(by_name, argnames="k")(X), 6.0 * square)
    inside = adc.jit(lambda x: adc.grad(by_name, argnames="k")(x, k=5.0))
    np.testing.assert_allclose(inside(X), 10.0 * square)
    rows, _ = check.compare(adc.grad(by_name, argnames=("k", "x")), (X,))
    assert all(row.outcome is rows[0].outcome for row in rows)
    assert {row.name: row.found for row in rows}["k"] == pytest.approx(6.0 * square)
    with pytest.raises(adc.AdcError, match=r"argument 'n' of by_name.* is an int"):
        adc.grad(by_name, argnames="n")(X)


def test_a_result_that_is_no_float_cannot_be_compared() -> None:
    gradient = adc.grad(lambda x: sum([v for v in x if v > 9.0]))  # Python's sum of nothing is 0
    with pytest.raises(ArgumentError, match="there is nothing to compare"):
        check.compare(gradient, (X,))


# -- marks -----------------------------------------------------------------------------------------


@pytest.mark.full
def test_stopped_gradients() -> None:
    assert adc.stop_gradient(2.0) == 2.0
    assert adc.grad(lambda x: adc.stop_gradient(x * x) * x)(3.0) == 9.0
    found = adc.grad(lambda x: np.sum(adc.stop_gradient(np.sin(x)) * x))(X)
    np.testing.assert_allclose(found, np.sin(X), rtol=1e-14)


@pytest.mark.full
def test_checkpoints() -> None:
    @adc.checkpoint
    def layer(x: Any, w: float = 0.5) -> Any:
        return np.tanh(x * w)

    assert layer(2.0) == math.tanh(1.0)
    slope = adc.grad(lambda x: np.sum(layer(layer(x, w=0.8))))
    check_grads(lambda x: np.sum(layer(layer(x, w=0.8))), (X,))
    assert slope(X).shape == (3,)
    assert repr(layer).startswith("<adc checkpoint(")
    with pytest.raises(adc.AdcError, match="is not a function"):
        adc.checkpoint(3)  # type: ignore[arg-type]  # refused


# -- checks for users ------------------------------------------------------------------------------


@pytest.mark.full
def test_checks_pass() -> None:
    check_grads(mixed, (X, A, 2))
    check_grads(energy, (X, 0.7), order=2)
    check_grads(lambda p: np.sum(np.sin(p["a"]) * p["b"]), ({"a": X, "b": 2.0},), order=2)
    check_grads(lambda x: np.sum(np.sin(x)), (X.astype(np.float32),), modes="rev")


@pytest.mark.full
@pytest.mark.parametrize(("modes", "words"), [("fwd", "forward"), ("rev", "reverse")])
def test_checks_fail(modes: str, words: str) -> None:
    def wrong(x: Any) -> Any:
        return np.sum(adc.stop_gradient(x) * x)

    with pytest.raises(AssertionError, match=f"{words} mode: result 0 has the derivative"):
        check_grads(wrong, (X,), modes=modes)


@pytest.mark.full
def test_checks_of_second_order_fail() -> None:
    def wrong(x: Any) -> Any:
        # The slope is right, its derivative is not.
        return np.sum(adc.stop_gradient(2.0 * x) * x - adc.stop_gradient(x * x))

    check_grads(wrong, (X,))
    with pytest.raises(AssertionError, match="second order"):
        check_grads(wrong, (X,), order=2)


def test_what_cannot_be_checked() -> None:
    with pytest.raises(adc.AdcError, match="order=3"):
        check_grads(energy, (X,), order=3)
    with pytest.raises(adc.AdcError, match="modes='back'"):
        check_grads(energy, (X,), modes="back")


# -- called from a user's own compiled code --------------------------------------------------------

SLOPE = adc.value_and_grad(lambda x, s: np.sum(np.sin(x) * s))
IN_A_DICT = adc.jit(lambda x: {"a": x})


@pytest.mark.full
def test_called_from_numba() -> None:
    numba = pytest.importorskip("numba")

    def descend(x: Any, rounds: int) -> Any:
        total = 0.0
        for _ in range(rounds):
            value, slope = SLOPE(x, 0.5)
            x = x - 0.1 * slope
            total += value
        return x, total

    x, total = np.ones(3), 0.0
    for _ in range(4):
        total += np.sum(np.sin(x) * 0.5)
        x = x - 0.1 * np.cos(x) * 0.5
    found, sum_ = numba.njit(descend)(np.ones(3), 4)
    np.testing.assert_allclose(found, x, rtol=1e-14)
    assert abs(sum_ - total) < 1e-13


def test_what_numba_cannot_hold_is_refused() -> None:
    numba = pytest.importorskip("numba")

    def program(x: Any) -> Any:
        return IN_A_DICT(x)

    with pytest.raises(numba.core.errors.TypingError, match="adc: the result of"):
        numba.njit(program)(1.0)


# -- auxiliary results -----------------------------------------------------------------------------


def _with_aux(x: Any, b: Any) -> Any:
    return (np.sin(x) * b, x[0] * b), {"norm": np.sum(x * x), "n": len(x)}


def test_auxiliary_results() -> None:
    value, slope, aux = adc.jvp(_with_aux, (X, 2.0), (X, None), has_aux=True)
    np.testing.assert_allclose(slope[0], np.cos(X) * 2.0 * X)
    assert (slope[1], aux["n"]) == (X[0] * 2.0, 3)
    again, pull, rest = adc.vjp(_with_aux, X, 2.0, has_aux=True)
    np.testing.assert_array_equal(again[0], value[0])
    assert rest == aux
    dx, db = pull((np.ones(3), 0.0))
    np.testing.assert_allclose(dx, np.cos(X) * 2.0)
    assert abs(db - np.sum(np.sin(X))) < 1e-15
    for made in (adc.jacrev(_with_aux, has_aux=True), adc.jacfwd(_with_aux, has_aux=True)):
        jacobian, found = made(X, 2.0)
        assert found == aux
        np.testing.assert_allclose(jacobian[0], np.diag(np.cos(X) * 2.0))
        np.testing.assert_array_equal(jacobian[1], [2.0, 0.0, 0.0])


def test_auxiliary_results_need_a_pair() -> None:
    def single(x: Any) -> Any:
        return np.sum(x)

    calls: tuple[Callable[[], Any], ...] = (
        lambda: adc.vjp(single, X, has_aux=True),
        lambda: adc.jvp(single, (X,), (X,), has_aux=True),
        lambda: adc.jacrev(single, has_aux=True)(X),
        lambda: adc.jacfwd(single, has_aux=True)(X),
    )
    for call in calls:
        with pytest.raises(adc.AdcError, match="`has_aux`"):
            call()
    with pytest.raises(adc.AdcError, match=r"`grad` of single\(\) .*`has_aux`"):
        adc.jacfwd(adc.grad(single), has_aux=True)(X)


class Weights:
    def __init__(self, w: Any, layers: list[Any]) -> None:
        self.w = w
        self.layers = layers
        self.name = "weights"


def of_weights(x: Any, model: Any, *rest: Any) -> Any:
    y = np.sin(x * model.w)
    for layer in model.layers:
        y = y * layer.w
    return y, sum(np.sum(each.w) for each in rest)


@pytest.mark.full
def test_cotangents_of_objects() -> None:
    model = Weights(np.array([0.5, 2.0]), [Weights(3.0, []), Weights(-1.0, [])])
    other = Weights(np.ones(2), [])
    x = np.array([1.0, 2.0])
    _, pull = adc.vjp(of_weights, x, model, other, other)
    found_x, found, *rest = pull((np.ones(2), 1.0))
    np.testing.assert_allclose(found_x, -3.0 * np.cos(x * model.w) * model.w)
    np.testing.assert_allclose(found.w, -3.0 * np.cos(x * model.w) * x)
    assert [layer.w for layer in found.layers] == pytest.approx(
        [-np.sum(np.sin(x * model.w)), 3.0 * np.sum(np.sin(x * model.w))]
    )
    assert [each.w.tolist() for each in rest] == [[1.0, 1.0], [1.0, 1.0]]
    assert found.name is None


class Scaled:
    def __init__(self, w: Any) -> None:
        self.w = w

    def of(self, x: Any) -> Any:
        return np.sum(x * self.w)


@pytest.mark.full
def test_arguments_left_to_their_defaults_have_no_cotangents() -> None:
    def energy(x: Any, scale: float = 2.0, steps: int = 3) -> Any:
        return scale * np.sum(x**2) * steps

    def of_pull(x: Any) -> Any:
        _, pull = adc.vjp(energy, x)
        return np.sum(pull(1.0)[0]) + len(pull(1.0))

    x = np.array([0.5, 1.5])
    (ct,) = adc.vjp(energy, x)[1](1.0)
    np.testing.assert_allclose(ct, 12.0 * x)
    ct, of_scale = adc.vjp(energy, x, 4.0)[1](1.0)
    np.testing.assert_allclose(ct, 24.0 * x)
    assert of_scale == pytest.approx(3.0 * np.sum(x**2))
    assert adc.jit(of_pull)(x) == pytest.approx(12.0 * np.sum(x) + 1.0)
    check_grads(energy, (x,), order=2)
    check_grads(energy, (x, 4.0))


def test_cotangents_of_a_methods_arguments() -> None:
    """The object that it is bound to is no argument."""
    _, pull = adc.vjp(Scaled(np.array([2.0, 3.0])).of, np.ones(2))
    (found,) = pull(1.0)
    assert found.tolist() == [2.0, 3.0]


@pytest.mark.full
def test_products_with_hessians_as_scipy_takes_them() -> None:
    def loss(p: Any, scale: Any = 100.0) -> Any:
        return np.sum(scale * (p["w"][1:] - p["w"][:-1] ** 2) ** 2 + (1.0 - p["w"][:-1]) ** 2)

    start = {"w": np.array([0.3, 0.7, 1.2])}
    flat, back = adc.ravel_pytree(start)
    fit = minimize(
        lambda x: loss(back(x)), flat, method="trust-ncg",
        jac=lambda x: adc.ravel_pytree(adc.grad(loss)(back(x)))[0],
        hessp=adc.hvp(lambda x: loss({"w": x})),
    )  # fmt: skip
    np.testing.assert_allclose(fit.x, 1.0, rtol=1e-4)
    along = {"w": np.array([1.0, -2.0, 0.5])}
    product = adc.hvp(loss)
    for scale in (100.0, 10.0):
        found = product(start, along, scale=scale)
        wanted, _ = adc.jvp(adc.grad(loss, (0, 1)), (start, scale), (along, None))[1]
        np.testing.assert_allclose(found["w"], wanted["w"], rtol=1e-13)
    assert adc.tree_map(np.sum, start) == {"w": start["w"].sum()}
    assert product.__name__ == "hvp(loss)"
    with pytest.raises(ArgumentError, match=r"has shape \(2,\)"):
        product(start, {"w": np.ones(2)})
    with pytest.raises(ArgumentError, match="tangents is a NoneType"):
        adc.hvp(loss, (start,))


# -- linear maps, values with Jacobians ------------------------------------------------------------


@pytest.mark.full
def test_linearized_functions() -> None:
    value, push = adc.linearize(lambda x, a: mixed(x, a, 2), X, A)
    dx, da = np.array([1.0, -0.5, 2.0]), np.cos(A)
    for tangents in ((dx, da), (dx, None), (None, da)):
        wanted, slope = adc.jvp(lambda x, a: mixed(x, a, 2), (X, A), tangents)
        found = push(*tangents)
        np.testing.assert_array_equal(found[0], slope[0])
        assert found[1]["sum"] == slope[1]["sum"]
        np.testing.assert_array_equal(found[2][1].rest[0], slope[2][1].rest[0])
    np.testing.assert_array_equal(value[0], wanted[0])


@pytest.mark.full
def test_a_linearized_function_keeps_its_arguments() -> None:
    x, rng = X.copy(), np.random.default_rng(3)
    value, push = adc.linearize(lambda x, rng: np.sum(x * x) * rng.normal(), x, rng)
    state = rng.bit_generator.state
    x[:] = 0.0
    assert push(X, None) == pytest.approx(2.0 * value)
    assert push(X, None) == pytest.approx(2.0 * value)
    assert rng.bit_generator.state == state


def test_a_linearized_gradient() -> None:
    value, push = adc.linearize(adc.grad(energy), X)
    np.testing.assert_allclose(value, adc.grad(energy)(X), rtol=1e-14)
    np.testing.assert_allclose(push(A[0]), adc.hessian(energy)(X) @ A[0], rtol=1e-13)


def test_what_cannot_be_pushed_forward() -> None:
    _, push = adc.linearize(energy, X)
    with pytest.raises(ArgumentError, match="2 tangents, but 1 arguments"):
        push(X, X)
    with pytest.raises(ArgumentError, match="no tangent is given"):
        push(None)
    with pytest.raises(ArgumentError, match="shape"):
        push(X[:2])


@pytest.mark.full
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_values_with_jacobians(mode: Any) -> None:
    def f(x: Any, a: Any) -> Any:
        return a @ x, {"sum": np.sum(x * x)}

    value, jacobian = adc.value_and_jac(f, argnums=(0, 1), mode=mode)(X, A)
    adc.tree_map(np.testing.assert_array_equal, value, adc.jit(f)(X, A))
    adc.tree_map(np.testing.assert_array_equal, jacobian, adc.jacfwd(f, argnums=(0, 1))(X, A))
    (value, aux), jacobian = adc.value_and_jac(f, mode=mode, has_aux=True)(X, A)
    np.testing.assert_allclose(value, A @ X, rtol=1e-15)
    assert aux["sum"] == pytest.approx(np.sum(X * X))
    np.testing.assert_array_equal(jacobian, A)
    value, matrix = adc.value_and_jac(lambda x: x**3, mode=mode, sparsity="detect")(X)
    np.testing.assert_allclose(value, X**3, rtol=1e-15)
    np.testing.assert_array_equal(matrix.toarray(), np.diag(3.0 * X**2))
    found = pickle.loads(pickle.dumps(adc.value_and_jac(mixed, mode=mode)))
    assert len(found(X, A, 2)) == 2


@pytest.mark.full
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_values_with_jacobians_of_derivatives(mode: Any) -> None:
    wanted = adc.grad(energy)(X), adc.hessian(energy)(X)
    for found in (
        adc.value_and_jac(adc.grad(energy), mode=mode)(X),
        adc.jit(lambda x: adc.value_and_jac(adc.grad(energy), mode=mode)(x))(X),
    ):
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-13, atol=1e-15)
    value, matrix = adc.value_and_jac(adc.grad(energy), mode=mode, sparsity="detect")(X)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(matrix.toarray(), wanted[1], rtol=1e-13, atol=1e-15)
    both = adc.value_and_grad(energy)
    (value, slope), (by_value, by_slope) = adc.value_and_jac(both, mode=mode)(X)
    assert value == pytest.approx(energy(X))
    np.testing.assert_allclose(slope, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(by_value, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(by_slope, wanted[1], rtol=1e-13, atol=1e-15)
    inner = adc.value_and_jac(energy, mode=mode)
    twice = adc.grad(lambda x: inner(x)[0] + np.sum(inner(x)[1] ** 2))(X)
    np.testing.assert_allclose(twice, wanted[0] + 2.0 * wanted[1] @ wanted[0], rtol=1e-12)
    with pytest.raises(ArgumentError, match="neither"):
        adc.value_and_jac(energy, mode=cast(Any, "backward"))
