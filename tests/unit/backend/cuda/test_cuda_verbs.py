"""All derivatives with `target="cuda"`, against those of the CPU, in Numba's simulator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import adc
from adc.backend.cuda import api
from adc.ir import foreign
from adc.ir.errors import ArgumentError, DeviceError

cuda = api.cuda


def on_device(x: Any) -> Any:
    return cuda.to_device(x)


def back(tree: Any) -> list[Any]:
    """Return the leaves of a result, on the host."""
    found = optree.tree_leaves(tree)
    return [leaf.copy_to_host() if foreign.is_foreign(leaf) else leaf for leaf in found]


def where(tree: Any) -> list[bool]:
    return [foreign.is_foreign(leaf) for leaf in optree.tree_leaves(tree)]


def close(got: Any, want: Any) -> None:
    assert len(back(got)) == len(back(want))
    for one, other in zip(back(got), back(want), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def mixed(x: Any, s: Any) -> Any:
    y = np.sin(x) * s
    for i in range(1, x.shape[0]):
        y[i] += y[i - 1] * x[i]
    return {"y": y, "n": np.sum(y) * s, "k": x > 0.0}


def scalar(x: Any, s: Any) -> Any:
    return np.sum(np.exp(x * s) * x[::-1])


def plain(x: Any) -> Any:
    return np.sum(x**3 * x[0])


def squares(x: Any) -> Any:
    return x * x[::-1]


X, DX, S, DS = np.array([0.3, -0.2, 0.9]), np.array([1.0, 0.5, -2.0]), 1.5, 0.25

# Calls, and which of their results are on the device if `x` is, in the order of leaves.
CALLS: list[tuple[Callable[[str, Any, Any], Any], list[bool]]] = [
    (lambda t, x, d: adc.jvp(mixed, (x, S), (d, DS), target=t), [True, False, True] * 2),
    (lambda t, x, d: adc.jvp(mixed, (x, S), (None, DS), target=t), [True, False, True] * 2),
    (lambda t, x, d: adc.jvp(adc.grad(scalar), (x, S), (d, DS), target=t), [True] * 2),
    (lambda t, x, d: adc.jvp(adc.value_and_grad(scalar, (0, 1)), (x, S), (d, None), target=t),
     [False, True, False] * 2),
    (lambda t, x, d: adc.hvp(scalar, (x, S), (d, None), target=t)[0], [True]),
    (lambda t, x, d: adc.hvp(scalar, (x, S), (d, DS), target=t), [True, False]),
    (lambda t, x, d: adc.vjp(mixed, x, S, target=t)[0], [True, False, True]),
    (lambda t, x, d: adc.vjp(mixed, x, S, target=t)[1]({"y": d, "n": 2.0, "k": x}), [True, False]),
    (lambda t, x, d: adc.vjp(adc.grad(scalar), x, S, target=t)[1](d), [True, False]),
    (lambda t, x, d: adc.vjp(lambda x: (squares(x), x), x, has_aux=True, target=t)[1](d), [True]),
    (lambda t, x, d: adc.jacrev(squares, target=t)(x), [True]),
    (lambda t, x, d: adc.jacfwd(squares, target=t)(x), [True]),
    (lambda t, x, d: adc.jacrev(mixed, (0, 1), target=t)(x, S), [True, False] * 2),
    (lambda t, x, d: adc.jacfwd(mixed, (0, 1), target=t)(x, S), [True, False] * 2),
    (lambda t, x, d: adc.jacfwd(lambda x: (squares(x), x), has_aux=True, target=t)(x), [True] * 2),
    (lambda t, x, d: adc.jacrev(lambda x: (squares(x), x), has_aux=True, target=t)(x), [True] * 2),
    (lambda t, x, d: adc.hessian(plain, target=t)(x), [True]),
    (lambda t, x, d: adc.hessian(scalar, (0, 1), target=t)(x, S), [True, False] * 2),
    (lambda t, x, d: adc.grad(adc.grad(lambda s, x: scalar(x, s)), target=t)(S, x), [False]),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("k", range(len(CALLS)))
def test_derivatives(k: int) -> None:
    call, there = CALLS[k]
    want = call("cpu", X, DX)
    got = call("cuda", X, DX)
    close(got, want)
    assert not any(where(got))
    got = call("cuda", on_device(X), on_device(DX))
    close(got, want)
    assert where(got) == there


def test_a_pullback_has_arguments_of_its_own() -> None:
    @dataclasses.dataclass
    class Point:
        x: Any
        s: Any

    def fn(p: Any, parts: Any) -> Any:
        return p.x * p.s * np.sin(parts[0])

    x, y, s = on_device(X), on_device(DX), on_device(np.array(2.0))
    value, pull = adc.vjp(fn, Point(x, s), [y], target="cuda")
    want, expected = adc.vjp(fn, Point(X, 2.0), [DX])
    for array in (x, y):
        array.copy_to_device(np.zeros(3))
    np.testing.assert_allclose(value.copy_to_host(), want, rtol=1e-14)
    for cotangent in (on_device(X), X):
        point, found = pull(cotangent)
        close([point.x, point.s], [expected(X)[0].x, expected(X)[0].s])
        close(found, expected(X)[1])


def test_directions_and_cotangents() -> None:
    x = on_device(X)
    single = on_device(DX.astype(np.float32))
    with pytest.raises(ArgumentError, match=r"the tangent of 'x' is a .* of dtype float32"):
        adc.jvp(squares, (x,), (single,), target="cuda")
    with pytest.raises(ArgumentError, match=r"the cotangent is a .* of dtype float32"):
        adc.vjp(squares, x, target="cuda")[1](single)
    with pytest.raises(ArgumentError, match="has shape"):
        adc.jvp(squares, (x,), (on_device(DX[:2]),), target="cuda")
    # In any order of elements, and from anywhere.
    turned = type(x)(np.repeat(DX, 2)[::2])
    want = adc.jvp(squares, (X,), (DX,))
    close(adc.jvp(squares, (x,), (turned,), target="cuda"), want)
    close(adc.jvp(squares, (x,), (list(DX),), target="cuda"), want)
    with pytest.raises(ArgumentError, match=r"a tangent or cotangent is a .* on a GPU"):
        adc.jvp(squares, (X,), (on_device(DX),))
    with pytest.raises(ArgumentError, match=r"a tangent or cotangent is a .* on a GPU"):
        adc.vjp(squares, X)[1](on_device(DX))


def listed(x: Any) -> Any:
    found = []
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            found.append(x[i] * 2.0)
    return found, x * 3.0


@pytest.mark.full
def test_lists_are_on_the_host() -> None:
    want = adc.jit(listed)(X)
    found, rest = adc.jit(listed, target="cuda")(on_device(X))
    assert (found, [type(each) for each in found]) == (want[0], [type(each) for each in want[0]])
    np.testing.assert_array_equal(rest.copy_to_host(), want[1])


def test_options() -> None:
    makers: list[Callable[..., Any]] = [
        lambda **how: adc.jvp(squares, (X,), (DX,), **how),
        lambda **how: adc.hvp(plain, (X,), (DX,), **how),
        lambda **how: adc.vjp(squares, X, **how),
        lambda **how: adc.jacrev(squares, **how),
        lambda **how: adc.jacfwd(squares, **how),
        lambda **how: adc.hessian(plain, **how),
    ]
    for make in makers:
        with pytest.raises(ArgumentError, match="parallel is not supported with target"):
            make(target="cuda", parallel=2)
        with pytest.raises(ArgumentError, match="'tpu' is not a target"):
            make(target="tpu")


def test_what_is_refused() -> None:
    def noisy(x: Any, rng: Any) -> Any:
        return x * rng.normal(size=3)

    rng = np.random.default_rng(0)
    with pytest.raises(DeviceError, match="random draws"):
        adc.jacfwd(noisy, target="cuda")(X, rng)
    with pytest.raises(DeviceError, match="random draws"):
        adc.vjp(noisy, X, rng, target="cuda")
