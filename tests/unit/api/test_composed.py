"""Derivatives of what derivatives return, in any order: values, shapes, structures and errors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.testing import check_grads

X = np.array([0.3, -0.7, 1.1])
C = np.array([0.5, -1.0, 2.0])
M = np.arange(6.0).reshape(2, 3) * 0.25
N = range(3)


def quartic(x: Any) -> Any:
    return 0.5 * x[0] ** 4 - x[1] ** 4 + 2.0 * x[2] ** 4 + x[0] * x[1] * x[2]


def derivative(order: int, x: Any = X) -> Any:
    """Return all derivatives of `quartic` of an order."""
    found = np.zeros((3,) * order)
    found[(N,) * order] = C * np.prod(range(5 - order, 5)) * x ** (4 - order)
    for index in itertools.product(N, repeat=order):
        if len(set(index)) == order <= 3:
            found[index] += np.prod([x[k] for k in N if k not in index])
    return found


ORDERS: dict[str, tuple[Any, int]] = {
    "grad": (adc.grad, 1), "jacfwd": (adc.jacfwd, 1), "jacrev": (adc.jacrev, 1),
    "hessian": (adc.hessian, 2),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("outer", ["jacfwd", "jacrev", "hessian"])
@pytest.mark.parametrize("inner", ORDERS)
def test_of_functions_of_vectors(outer: str, inner: str) -> None:
    (second, more), (first, order) = ORDERS[outer], ORDERS[inner]
    made = second(first(quartic))
    np.testing.assert_allclose(made(X), derivative(order + more), rtol=1e-12, atol=1e-12)
    assert repr(made) == f"<adc {outer}({inner}(quartic))>"
    single = made(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, derivative(order + more), rtol=1e-5, atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("kind", ORDERS)
def test_in_a_direction_and_at_once(kind: str) -> None:
    make, order = ORDERS[kind]
    made = make(quartic)
    value, slope = adc.jvp(made, (X,), (C,))
    np.testing.assert_allclose(value, derivative(order), rtol=1e-12)
    np.testing.assert_allclose(slope, derivative(order + 1) @ C, rtol=1e-12, atol=1e-14)
    value, pull = adc.vjp(made, X)
    (found,) = pull(value)
    want = np.tensordot(derivative(order), derivative(order + 1), order)
    np.testing.assert_allclose(found, want, rtol=1e-12)
    np.testing.assert_allclose(adc.jit(made)(X), derivative(order), rtol=1e-12)
    weighted = adc.grad(lambda x: np.sum(make(quartic)(x) * C))(X)
    want = np.tensordot(np.broadcast_to(C, (3,) * order), derivative(order + 1), order)
    np.testing.assert_allclose(weighted, want, rtol=1e-12)


@pytest.mark.full
def test_hessians_of_linear_forms_of_gradients() -> None:
    found = adc.hessian(lambda x: adc.grad(quartic)(x) @ C)(X)
    np.testing.assert_allclose(found, derivative(3) @ C, rtol=1e-12, atol=1e-14)
    fourth = adc.hessian(adc.hessian(quartic))
    np.testing.assert_allclose(fourth(X), derivative(4), rtol=1e-12, atol=1e-12)


@pytest.mark.full
def test_of_several_results_and_arguments() -> None:
    def f(x: Any, m: Any) -> Any:
        return {"y": m @ x * x[0], "n": 3, "s": (np.sum(x**2),)}

    found = adc.hessian(f, argnums=(0, 1))(X, M)
    assert found["n"] is None
    for k, size in enumerate(((3,), (2, 3))):
        for j, other in enumerate(((3,), (2, 3))):
            assert found["y"][k][j].shape == (2, *size, *other)
            assert found["s"][0][k][j].shape == (*size, *other)
    want = np.einsum("i,aj->aij", np.eye(3)[0], M) + np.einsum("ai,j->aij", M, np.eye(3)[0])
    np.testing.assert_allclose(found["y"][0][0], want, rtol=1e-13)
    np.testing.assert_array_equal(found["s"][0][0][0], 2.0 * np.eye(3))
    mixed = adc.jacrev(adc.jacfwd(f, argnums=1), argnums=0)(X, M)
    np.testing.assert_allclose(mixed["y"], np.moveaxis(found["y"][0][1], 1, -1), rtol=1e-13)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("single", [False, True])
def test_hessians_within_code_are_like_those_outside(single: bool) -> None:
    def f(x: Any, t: Any) -> Any:
        return {"y": x * t * t, "n": t**3, "s": (np.sum(x * x) * t,)}

    kind = np.float32 if single else float
    x, t = (X.astype(np.float32) if single else X), kind(0.5)
    outside = adc.hessian(f, argnums=(0, 1))(x, t)
    within = adc.jit(adc.hessian(f, argnums=(0, 1)))(x, t)
    for i, j in itertools.product(range(2), repeat=2):
        for found, want in (
            (within["y"][i][j], outside["y"][i][j]), (within["n"][i][j], outside["n"][i][j]),
            (within["s"][0][i][j], outside["s"][0][i][j]),
        ):  # fmt: skip
            assert np.shape(found) == np.shape(want)
            assert np.asarray(found).dtype == np.asarray(want).dtype
            np.testing.assert_allclose(found, want, rtol=1e-6)
    assert type(within["n"][1][1]) is type(outside["n"][1][1]) is kind


@pytest.mark.full
def test_of_values_and_gradients() -> None:
    both = adc.value_and_grad(quartic)
    for jacobian in (adc.jacfwd, adc.jacrev):
        first, second = jacobian(both)(X)
        np.testing.assert_allclose(first, derivative(1), rtol=1e-12)
        np.testing.assert_allclose(second, derivative(2), rtol=1e-12)
        first, aux = jacobian(both, has_aux=True)(X)
        np.testing.assert_allclose(first, aux, rtol=1e-12)
    first, aux = adc.grad(both, has_aux=True)(X)
    np.testing.assert_allclose(first, aux, rtol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("n", [0, 1])
def test_of_few_elements(n: int) -> None:
    def cubes(x: Any) -> Any:
        return np.sum(x**3)

    x = X[:n]
    np.testing.assert_allclose(adc.hessian(cubes)(x), np.diag(6.0 * x).reshape(n, n))
    for jacobian in (adc.jacfwd, adc.jacrev):
        np.testing.assert_allclose(jacobian(adc.hessian(cubes))(x), np.full((n, n, n), 6.0))
        np.testing.assert_array_equal(jacobian(lambda x: x * 2.0)(x), np.diag([2.0] * n))
        np.testing.assert_array_equal(adc.jit(jacobian(lambda x: x * 2.0))(x), np.eye(n) * 2.0)
    np.testing.assert_allclose(adc.grad(lambda x: np.sum(adc.hessian(cubes)(x)))(x), [6.0] * n)


@pytest.mark.full
def test_of_matrices_and_views() -> None:
    def f(m: Any) -> Any:
        return np.sum((m @ m.T) ** 2)

    want = adc.hessian(f)(M)
    assert want.shape == M.shape * 2
    np.testing.assert_allclose(adc.jacrev(adc.jacfwd(f))(np.asfortranarray(M)), want, rtol=1e-12)
    np.testing.assert_allclose(adc.jacfwd(adc.jacrev(f))(M[:, ::-1][:, ::-1]), want, rtol=1e-12)


@pytest.mark.full
def test_numbers() -> None:
    def f(t: Any) -> Any:
        return t**4

    thirds = [adc.jacfwd(adc.hessian(f)), adc.grad(adc.hessian(f)), adc.hessian(adc.grad(f)),
              adc.jacrev(adc.hessian(f)), adc.grad(adc.jacfwd(adc.jacrev(f)))]  # fmt: skip
    for third in thirds:
        assert third(2.0) == pytest.approx(48.0)
        assert isinstance(third(2.0), float)


# -- within a budget, at kinks ---------------------------------------------------------------------


def steps(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x - 0.01 * np.sin(x)
    return np.sum(x * x)


@pytest.mark.full
def test_within_a_budget() -> None:
    want = adc.jacrev(adc.hessian(steps))(X, 200)
    for jacobian in (adc.jacrev, adc.jacfwd):
        made = jacobian(adc.hessian(steps), memory="25 kB")
        np.testing.assert_allclose(made(X, 200), want, rtol=1e-12)
        assert made.plan(X, 200).peak_bytes <= 25_000
    weighted = adc.grad(lambda x: np.sum(adc.hessian(steps)(x, 50)), memory="25 kB")(X)
    np.testing.assert_allclose(weighted, adc.jacrev(adc.hessian(steps))(X, 50).sum((0, 1)))


@pytest.mark.full
def test_calls_that_stay_within_a_budget() -> None:
    # What a function without arrays among its parameters calls was taken to return nothing new:
    # ADC900, `in_place`.
    def quartic(x: Any) -> Any:
        return np.sum(x**4) + x[0] * x[1] * x[2]

    def f(x: Any) -> Any:
        slope, value = adc.jacfwd(adc.value_and_grad(quartic), has_aux=True)(x)
        return np.sum(slope * value)

    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_array_equal(adc.grad(f, memory="1 MB")(x), adc.grad(f)(x))


@pytest.mark.full
def test_plans_of_rows_are_shown() -> None:
    # The sizes of cotangents were looked for among the arguments: IndexError.
    assert "plan" in str(adc.jacrev(lambda x: np.sin(x) * x).plan(X))


@pytest.mark.full
def test_roots_that_do_not_count() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))

    x = np.array([0.0, -1.0, 4.0])
    want = np.zeros((3, 3, 3))
    want[2, 2, 2] = 0.375 * 4.0**-2.5
    for made in (adc.jacrev(adc.hessian(f)), adc.jacfwd(adc.hessian(f)), adc.hessian(adc.grad(f))):
        np.testing.assert_allclose(made(x), want, rtol=1e-12)


# -- functions -------------------------------------------------------------------------------------


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def loss(self, x: Any, power: Any = 2.0) -> Any:
        return self.scale * quartic(x) * power

    @adc.jacrev(argnums=1)  # type: ignore[untyped-decorator]  # what Jacobians return is any
    def slope(self, x: Any) -> Any:
        return self.scale * quartic(x)


@pytest.mark.full
def test_of_methods() -> None:
    model = Model(3.0)
    third = 3.0 * derivative(3)
    np.testing.assert_allclose(adc.jacrev(adc.hessian(model.loss))(X), 2 * third, atol=1e-12)
    np.testing.assert_allclose(adc.hessian(adc.grad(model.loss))(X, 1.0), third, atol=1e-12)
    np.testing.assert_allclose(adc.hessian(model.slope)(X), third, atol=1e-12)
    found = adc.grad(lambda x: np.sum(adc.jacfwd(model.slope)(x)))(X)
    np.testing.assert_allclose(found, third.sum((0, 1)), rtol=1e-12)


@pytest.mark.full
def test_of_functions_with_all_kinds_of_parameters() -> None:
    def f(x: Any, *rest: Any, scale: Any, **more: Any) -> Any:
        return np.sum(x * rest[0] ** 2) * scale * more["factor"]

    made = adc.jacfwd(adc.hessian(f, argnums=(0, -1)), argnums=1)
    (_, xy), (_, yy) = made(X, C, scale=2.0, factor=3.0)
    np.testing.assert_allclose(xy[(N,) * 3], [12.0] * 3)
    np.testing.assert_array_equal(yy, np.zeros((3, 3, 3)))
    named = adc.jacrev(adc.hessian(lambda x, y: np.sum(x * y**2), argnames="y"), argnames="x")
    np.testing.assert_allclose(named(X, C)[(N,) * 3], [2.0] * 3)


@pytest.mark.full
def test_closures_have_their_own_values() -> None:
    def make(k: float) -> Callable[[Any], Any]:
        return lambda x: k * np.sum(x**3)

    for k in (1.0, 5.0):
        assert adc.jacrev(adc.hessian(make(k)))(X)[0, 0, 0] == pytest.approx(6.0 * k)


@adc.jacrev
@adc.hessian
def decorated(x: Any) -> Any:
    return quartic(x)


@pytest.mark.full
def test_are_functions() -> None:
    np.testing.assert_allclose(decorated(X), derivative(3), atol=1e-12)
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    again = pickle.loads(pickle.dumps(adc.jacfwd(adc.jacrev(quartic))))
    np.testing.assert_allclose(again(X), derivative(2), rtol=1e-12)
    assert "call" in adc.jacrev(adc.jacfwd(quartic)).ir(X, after="frontend")


def test_of_checkpointed_derivatives() -> None:
    found = adc.jacfwd(adc.checkpoint(adc.hessian(quartic)))(X)
    np.testing.assert_allclose(found, derivative(3), atol=1e-12)


def test_what_a_hessian_prints(capfd: pytest.CaptureFixture[str]) -> None:
    def noisy(x: Any) -> Any:
        print("here")
        return np.sum(x**3)

    adc.jit(adc.hessian(noisy))(X)
    assert capfd.readouterr().out == "here\n"


@pytest.mark.full
def test_lists_that_grow() -> None:
    def rows(t: Any, n: int) -> Any:
        return [(t * k, k) for k in range(n)]

    # An error of Python's within adc.
    assert adc.jacfwd(rows)(2.0, 3) == [(0.0, None), (1.0, None), (2.0, None)]
    assert adc.jit(lambda t, n: adc.jacrev(rows)(t, n))(2.0, 3) == adc.jacrev(rows)(2.0, 3)


@pytest.mark.full
def test_called_from_numba() -> None:
    numba = pytest.importorskip("numba")
    hessian, third = adc.hessian(quartic), adc.jacrev(adc.hessian(quartic))

    def both(x: Any) -> Any:
        return hessian(x), third(x)

    # The process crashed: the result was taken for a tuple.
    found, other = numba.njit(both)(X)
    np.testing.assert_allclose(found, derivative(2), rtol=1e-12)
    np.testing.assert_allclose(other, derivative(3), atol=1e-12)


@pytest.mark.full
def test_checks_of_derivatives() -> None:
    check_grads(adc.hessian(quartic), (X,))
    check_grads(lambda x: np.sum(adc.jacrev(adc.jacfwd(quartic))(x) * C), (X,), order=2)


# -- errors ----------------------------------------------------------------------------------------

soft = adc.custom_jvp(lambda x: np.log(np.sum(np.exp(x))))
soft.defjvp(
    lambda p, t: (np.log(np.sum(np.exp(p[0]))), np.sum(np.exp(p[0]) * t[0]) / np.sum(np.exp(p[0])))
)


@pytest.mark.full
def test_rules_of_users_are_taken_in_any_order() -> None:
    def plain(x: Any) -> Any:
        return np.log(np.sum(np.exp(x)))

    for pair in (
        (adc.jacfwd, adc.hessian), (adc.jacrev, adc.jacfwd), (adc.jacfwd, adc.jacrev),
        (adc.jacrev, adc.jacrev), (adc.jacrev, adc.hessian), (adc.hessian, adc.grad),
    ):  # fmt: skip
        outer, inner = pair
        np.testing.assert_allclose(outer(inner(soft))(X), outer(inner(plain))(X), atol=1e-13)


def writes(x: Any, y: Any) -> Any:
    y[0] = x[0] ** 3
    return np.sum(x**3) * y[0]


ERRORS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "an array": (
        lambda: adc.grad(adc.hessian(quartic))(X), "ADC023",
        "`hessian` of quartic() returns an array (f64[:, :]); only one float can be differentiated",
    ),
    "an array within": (
        lambda: adc.jit(lambda x: adc.grad(adc.hessian(quartic))(x))(X), "ADC023",
        "`hessian` of quartic() returns an array (f64[:, :]); only one float can be differentiated",
    ),
    "no pair": (
        lambda: adc.jacfwd(adc.hessian(quartic), has_aux=True)(X), "ADC023",
        "`hessian` of quartic() returns an array (f64[:, :]); `has_aux` needs a pair",
    ),
    "integers": (
        lambda: adc.jacfwd(adc.hessian(quartic))(np.arange(3)), "ADC021",
        "argument 'x' of quartic() is an array of int64; only floating-point arguments can be "
        "differentiated",
    ),
    "no such argument": (
        lambda: adc.jacfwd(adc.hessian(quartic, argnums=2))(X), "ADC020",
        "argnums=2, but quartic() was called with 1 positional argument",
    ),
    "no float": (
        lambda: adc.hessian(lambda x: 3)(X), "ADC023",
        "lambda() returns a number (int); there is no float in it",
    ),
    "writes": (
        lambda: adc.jacfwd(adc.hessian(writes))(X, X), "ADC010",
        "a derivative of writes(), which changes 'y', is not supported",
    ),
    "structures": (
        lambda: adc.jacrev(lambda p, n: [p["a"] * k for k in range(n)])({"a": 2.0}, 3), "ADC020",
        "the derivatives of the elements of a list whose length is known only at run time "
        "are structures",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    call, code, message = ERRORS[case]
    with pytest.raises(adc.AdcError) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.code == code
    assert case == "structures" or caught.value.span is not None
