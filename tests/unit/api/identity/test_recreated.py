"""Derivatives and functions that are recreated at every call share code, which is released."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import adc
from tests.unit.api.identity.replaced import X, cube, over_a_closure, square


def test_derivatives_made_anew_share_code(lowered: list[str]) -> None:
    for _ in range(3):
        assert adc.grad(square)(3.0) == 6.0
        assert adc.value_and_grad(square)(3.0) == (9.0, 6.0)
        assert adc.jit(square)(3.0) == 9.0
        assert adc.jvp(square, (3.0,), (1.0,)) == (9.0, 6.0)
        assert adc.vjp(square, 3.0)[1](1.0) == (6.0,)
        assert adc.jacrev(square)(X).tolist() == np.diag(2.0 * X).tolist()
    assert len(lowered) == 7  # `vjp` and `jacrev` take two


def test_functions_made_anew_share_code(lowered: list[str]) -> None:
    for k in range(1, 4):
        assert adc.jvp(lambda x: k * x, (3.0,), (1.0,)) == (3.0 * k, k)  # noqa: B023
        assert adc.grad(over_a_closure(lambda x: k * x))(3.0) == 2.0 * k  # noqa: B023
    assert lowered == ["<lambda>", "inner"]


def test_other_functions_do_not(lowered: list[str]) -> None:
    for helper, wanted in ((square, 12.0), (cube, 54.0), (square, 12.0), (cube, 54.0)):
        assert adc.grad(over_a_closure(helper))(3.0) == wanted
    assert len(lowered) == 2


def test_flags_in_closures(lowered: list[str]) -> None:
    def made(kind: Any, shape: Any, start: Any) -> Any:
        def fn(x: Any) -> Any:
            y = x * 2.0 if kind == "double" else x
            return np.sum(np.ones(shape) * y) + start

        return fn

    for kind, wanted in (("double", 12.0), ("single", 6.0), ("double", 12.0)):
        assert adc.grad(made(kind, (2, 3), 0.5))(1.0) == wanted
    assert len(lowered) == 2
    assert adc.grad(made("single", (2, 2), 0.5))(1.0) == 4.0


def test_recursive_functions_made_anew(lowered: list[str]) -> None:
    def made(k: Any) -> Any:
        def power(x: Any, n: Any) -> Any:
            return k if n == 0 else x * power(x, n - 1)

        return power

    assert [adc.grad(made(k))(2.0, 3) for k in (1.0, 2.0, 3.0)] == [12.0, 24.0, 36.0]
    assert len(lowered) == 1


def test_functions_as_arguments(lowered: list[str]) -> None:
    def twice(fn: Any, x: Any) -> Any:
        return fn(fn(x))

    slope = adc.grad(twice, argnums=1)
    for k in (1.0, 2.0, 3.0):
        assert slope(lambda x: k * x, 3.0) == k * k  # noqa: B023
    assert slope(square, 3.0) == 108.0
    assert len(lowered) == 2


def test_one_function_under_two_names(lowered: list[str]) -> None:
    """Code for one object is not taken for two, nor the other way round."""

    def made(first: Any, second: Any) -> Any:
        def same(x: Any) -> Any:
            return 2.0 * x if first is second else 3.0 * first(x) * second(x)

        def table(x: Any) -> Any:
            return {first: 1.0, second: 5.0}[first] * x

        def chosen(x: Any) -> Any:
            fn = first if x > 2.0 else second
            return fn(x)

        return same, table, chosen

    def scaled(k: Any) -> Any:
        return lambda x: k * x

    for _ in range(2):
        one, other = scaled(2.0), scaled(2.0)
        for first, second in ((one, one), (one, other), (other, one), (other, other)):
            same, table, _chosen = made(first, second)
            assert adc.grad(same)(3.0) == (2.0 if first is second else 72.0)
            assert adc.grad(table)(3.0) == (5.0 if first is second else 1.0)
    one = scaled(2.0)
    assert adc.grad(made(one, one)[2])(3.0) == 2.0
    assert adc.grad(made(one, scaled(7.0))[0])(3.0) == 3.0 * 2.0 * 7.0 * 2.0 * 3.0


def test_a_function_that_is_found_in_two_ways() -> None:
    """In a closure, which may hold another one next time, and in a table that stays."""

    def scaled(k: Any) -> Any:
        return lambda x: k * x

    def made(fn: Any, table: Any) -> Any:
        def program(x: Any) -> Any:
            return 10.0 * table[0](x) + fn(x)

        def joined(x: Any, n: Any) -> Any:
            chosen = fn
            for _ in range(n):
                chosen = table[0]
            return chosen(x)

        return program, joined

    first, second = scaled(2.0), scaled(3.0)
    table = (first,)
    program, joined = made(first, table)
    assert (adc.grad(program)(1.0), adc.grad(joined)(1.0, 2)) == (22.0, 2.0)
    program, _ = made(second, table)
    assert adc.grad(program)(1.0) == 23.0
    program, joined = made(first, (first,))
    assert (adc.grad(program)(1.0), adc.grad(joined)(1.0, 0)) == (22.0, 2.0)


def test_returned_function_is_that_of_the_call() -> None:
    def made(k: Any) -> Any:
        def helper(x: Any) -> Any:
            return k * x

        return lambda x: (helper(x), helper), helper

    for k in (2.0, 3.0):
        fn, helper = made(k)
        value, (slope, found) = adc.value_and_grad(fn, has_aux=True)(1.0), (k, helper)
        assert (value[0][0], value[0][1], value[1]) == (k, found, slope)


def test_methods_share_code(lowered: list[str]) -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w

        def loss(self, x: Any) -> Any:
            return self.w * x

    for w in (2.0, 3.0):
        assert adc.grad(Model(w).loss)(1.0) == w
        assert adc.grad(Model.loss, argnums=1)(Model(w), 1.0) == w
    assert len(lowered) == 2


def test_derivatives_of_derivatives_that_are_methods() -> None:
    class Model:
        def __init__(self, w: Any) -> None:
            self.w = w

        @adc.grad(argnums=1)
        def by_number(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        @adc.grad(argnames="x")
        def by_name(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        @adc.grad(argnums=-1)
        def by_last(self, x: Any, y: Any) -> Any:
            return self.w * y * x * x

        @adc.grad
        def by_object(self, x: Any, y: Any) -> Any:
            return self.w * x * x * y

        rows = adc.jacrev(lambda self, x: self.w * x * x, argnums=1)

    model = Model(2.0)
    for derivative in (model.by_number, model.by_name):
        assert derivative(3.0, 5.0) == 60.0
        assert adc.jvp(derivative, (3.0, 5.0), (1.0, None)) == (60.0, 20.0)
        assert adc.grad(derivative)(3.0, 5.0) == 20.0
    assert adc.grad(model.by_last)(3.0, 5.0) == 12.0
    with pytest.raises(adc.AdcError, match="with respect to the object that it is bound to"):
        adc.jvp(model.by_object, (3.0, 5.0), (1.0, None))
    assert adc.grad(model.rows)(3.0) == 4.0


@pytest.mark.full
def test_nothing_that_functions_hold_is_kept() -> None:
    def made(data: Any) -> Any:
        def helper(u: Any) -> Any:
            return np.sum(u * data)

        return lambda x: helper(x) * data[0]

    class Held:
        def __init__(self, w: Any) -> None:
            self.w = w

        def loss(self, x: Any) -> Any:
            return np.sum(self.w * x)

    def of_object(held: Any, x: Any) -> Any:
        return np.sum(held.w * x)

    def of_function(fn: Any, x: Any) -> Any:
        return fn(x)

    arrays = [np.ones(3) for _ in range(4)]
    fn = made(arrays[0])
    held, other = Held(arrays[1]), Held(arrays[2])
    adc.grad(fn)(X)
    adc.jvp(fn, (X,), (X,))
    adc.vjp(fn, X)[1](1.0)
    adc.grad(held.loss)(X)
    adc.grad(of_object, argnums=1)(other, X)
    adc.grad(of_function, argnums=1)(made(arrays[3]), X)
    watched = [weakref.ref(each) for each in (*arrays, fn, held, other)]
    del arrays, fn, held, other
    gc.collect()
    assert [k for k, each in enumerate(watched) if each() is not None] == []


def test_large_workspaces_are_given_back() -> None:
    def fn(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = np.sin(x)
        return np.sum(x)

    slope = adc.grad(fn)
    slope(np.ones(1000), 500)
    kernel = slope.compiled_for().entry.kernel
    assert kernel.nbytes > 2**20
    other = adc.grad(fn)
    assert other(np.ones(1000), 500).shape == (1000,)
    del slope
    assert kernel.nbytes > 2**20
    del other
    assert kernel.nbytes == 0
    adc.grad(fn)(np.ones(3), 1)
    assert kernel.nbytes > 0


def test_code_is_forgotten(lowered: list[str]) -> None:
    adc.grad(square)(3.0)
    adc.release_memory()
    adc.grad(square)(3.0)
    assert len(lowered) == 2


def test_recursive_functions_with_one_code() -> None:
    """They are not one function: each has what its own closure holds."""

    def made(k: Any, inner: Any = None) -> Any:
        def power(x: Any, n: Any) -> Any:
            return k * x if n == 0 else x * power(x, n - 1)

        def around(x: Any) -> Any:
            return k * x * x if inner is None else k * inner(x)

        return power, around

    (first, _), (second, _) = made(2.0), made(3.0)

    def both(x: Any) -> Any:
        return first(x, 2) + second(x, 3)

    assert adc.jit(both)(1.5) == both(1.5)
    _, inside = made(2.0)
    _, outside = made(3.0, inside)
    assert adc.grad(outside)(1.5) == 18.0
