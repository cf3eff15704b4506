"""`adc.vmap`: beside a loop over the elements in Python."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import adc
from adc.ir.errors import AdcError, ArgumentError

RNG = np.random.default_rng(7)
X = RNG.standard_normal((5, 3))
LAYERS = [{"w": RNG.standard_normal((3, 3)), "b": RNG.standard_normal(3)} for _ in range(3)]


def model(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = np.tanh(layer["w"] @ x + layer["b"])
    return np.sum(x**2)


def newton(a: Any) -> Any:
    x, count = 1.0, 0
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
        count += 1
    return x, count


def branching(x: Any) -> Any:
    if x[0] > 0.0:
        return {"sum": np.sum(x), "sign": 1}
    for k in range(len(x)):
        x = x * x[k]
    return {"sum": x[1], "sign": -1}


def in_place(x: Any) -> Any:
    y = x.copy()
    y[1:] += y[:-1]
    y[0] = 7.0
    return y, y[2]


def vector(x: Any) -> Any:
    return np.sin(x) * x[0]


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def norm(self, x: Any) -> Any:
        return self.factor * np.sum(x**2)

    def __call__(self, x: Any) -> Any:
        return self.norm(x) + 1.0


@dataclasses.dataclass
class Line:
    slope: Any
    start: Any


def at(line: Line, x: Any) -> Any:
    return Line(line.slope * x, line.start + x)


def _element(tree: Any, axes: Any, k: int) -> Any:
    if axes is None:
        return tree
    if isinstance(axes, tuple | list):
        return type(axes)(_element(part, own, k) for part, own in zip(tree, axes, strict=True))
    if isinstance(axes, dict):
        return {key: _element(tree[key], own, k) for key, own in axes.items()}
    if isinstance(tree, Line):
        return Line(_element(tree.slope, axes, k), _element(tree.start, axes, k))
    return optree.tree_map(lambda leaf: np.moveaxis(leaf, axes, 0)[k], tree)


def by_loop(fn: Callable[..., Any], axes: Any, args: Any, count: int, out: int = 0) -> Any:
    own = axes if isinstance(axes, tuple) else (axes,) * len(args)
    found = [fn(*_element(args, own, k)) for k in range(count)]
    return optree.tree_map(lambda *leaves: np.stack(leaves, out), *found)


def _alike(found: Any, wanted: Any) -> None:
    if isinstance(wanted, Line):
        found, wanted = dataclasses.astuple(found), dataclasses.astuple(wanted)
    assert optree.tree_structure(found) == optree.tree_structure(wanted)
    for a, b in zip(optree.tree_leaves(found), optree.tree_leaves(wanted), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


CASES: list[tuple[Callable[..., Any], Any, tuple[Any, ...]]] = [
    (model, (None, 0), (LAYERS, X)),
    (adc.grad(model), (None, 0), (LAYERS, X)),
    (adc.value_and_grad(model, 1), (None, 0), (LAYERS, X)),
    (adc.hessian(model, 1), (None, 0), (LAYERS, X)),
    (adc.jacrev(vector), 0, (X,)),
    (adc.jacfwd(vector), 0, (X,)),
    (lambda x, v: adc.jvp(vector, (x,), (v,)), 0, (X, X + 1.0)),
    (lambda x, v: adc.hvp(Scaled(2.0).norm, (x,), (v,)), 0, (X, X + 1.0)),
    (newton, 0, (np.array([2.0, 9.0, 5.0]),)),
    (branching, 0, (X,)),
    (in_place, 1, (X,)),
    (in_place, -1, (X[::-1].T,)),
    (lambda p: p["a"] * p["b"][1], ({"a": 0, "b": (None, 1)},), ({"a": X, "b": (2.0, X.T)},)),
    (lambda p: p[0] + p[1], ([0, None],), ([X, X[0]],)),
    (Scaled(2.0).norm, 0, (X,)),
    (Scaled(2.0), 0, (X,)),
    (functools.partial(model, LAYERS), 0, (X,)),
    (lambda k, x: (k * 2, x > 0.0, x), 0, (np.arange(5), X.astype(np.float32))),
    (lambda z: z * z.conj(), 0, (X + 1j,)),
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("fn", "axes", "args"), CASES, ids=lambda each: getattr(each, "__name__", "")
)
def test_values(fn: Callable[..., Any], axes: Any, args: tuple[Any, ...]) -> None:
    count = 3 if fn in (newton, in_place) else len(X)
    if fn is in_place and axes == -1:
        count = args[0].shape[-1]
    _alike(adc.vmap(fn, axes)(*args), by_loop(fn, axes, args, count))


def test_axes_of_objects_and_of_results() -> None:
    found = adc.vmap(at)(Line(X, X[:, 0]), X[:, 1])
    np.testing.assert_array_equal(found.slope, X * X[:, 1:2])
    np.testing.assert_array_equal(found.start, X[:, 0] + X[:, 1])
    rows, norm, same = adc.vmap(
        lambda x: (2.0 * x, {"norm": np.sum(x)}, 3.0), 1, (-1, {"norm": 0}, None)
    )(X)
    np.testing.assert_array_equal(rows, 2.0 * X)
    np.testing.assert_allclose(norm["norm"], X.sum(axis=0), rtol=1e-14)
    assert same == 3.0
    by_name = adc.vmap(lambda x, *, y: np.sum(x) * y)(X, y=np.arange(5.0))
    np.testing.assert_allclose(by_name, X.sum(axis=1) * np.arange(5.0), rtol=1e-14)


@pytest.mark.full
def test_derivatives_of_batches() -> None:
    batch = adc.vmap(model, (None, 0))

    def total(layers: Any, x: Any) -> Any:
        return np.sum(batch(layers, x) ** 2)

    def by_hand(layers: Any, x: Any) -> Any:
        s = 0.0
        for k in range(len(x)):
            s += model(layers, x[k]) ** 2
        return s

    for argnums in (0, 1):
        wanted = adc.grad(by_hand, argnums)(LAYERS, X)
        _alike(adc.grad(total, argnums)(LAYERS, X), wanted)
        _alike(adc.grad(total, argnums, memory="4 kB")(LAYERS, X), wanted)
    moved = adc.jvp(total, (LAYERS, X), (LAYERS, X))[1]
    assert moved == pytest.approx(adc.jvp(by_hand, (LAYERS, X), (LAYERS, X))[1], rel=1e-12)
    twice = adc.hvp(total, (LAYERS, X), (LAYERS, X))
    _alike(twice, adc.hvp(by_hand, (LAYERS, X), (LAYERS, X)))
    rows = adc.jacrev(batch, 1)(LAYERS, X)
    assert rows.shape == (5, 5, 3)
    np.testing.assert_allclose(
        rows[range(5), range(5)], [adc.grad(model, 1)(LAYERS, x) for x in X], rtol=1e-12
    )


def test_gradients_of_batches() -> None:
    batch = adc.vmap(vector)
    slope = adc.grad(lambda x: np.sum(batch(x) ** 2))(X)
    np.testing.assert_allclose(slope, [adc.grad(lambda y: np.sum(vector(y) ** 2))(x) for x in X])


@pytest.mark.full
def test_batches_of_batches_and_inside_code() -> None:
    def products(a: Any, b: Any) -> Any:
        return adc.vmap(adc.vmap(lambda u, v: u @ v, (None, 0)), (0, None))(a, b)

    np.testing.assert_allclose(adc.jit(products)(X, X + 1.0), X @ (X + 1.0).T, rtol=1e-13)
    outer = adc.vmap(adc.vmap(lambda u, v: u @ v, (None, 0)), (0, None))
    np.testing.assert_allclose(outer(X, X + 1.0), X @ (X + 1.0).T, rtol=1e-13)
    slope = adc.grad(lambda a: np.sum(products(a, X) ** 2))(X)
    np.testing.assert_allclose(slope, 2.0 * X @ X.T @ X, rtol=1e-12)
    each = adc.vmap(adc.vmap(adc.grad(lambda x: x**3)))(X)
    np.testing.assert_allclose(each, 3.0 * X**2, rtol=1e-14)


@pytest.mark.parametrize(
    "options", [pytest.param({"parallel": 2}, marks=pytest.mark.full), {"target": "python"}]
)
def test_options(options: Any) -> None:
    found = adc.vmap(adc.grad(model, 1), (None, 0), **options)(LAYERS, X)
    _alike(found, by_loop(adc.grad(model, 1), (None, 0), (LAYERS, X), len(X)))


@adc.vmap
def squares(x: Any) -> Any:
    return x * x


@adc.vmap(in_axes=(0, None))
def scaled(x: Any, factor: Any) -> Any:
    return x * factor


@pytest.mark.full
def test_names() -> None:
    assert repr(adc.vmap(adc.grad(model), (None, 0))) == "<adc vmap(grad(model))>"
    assert repr(adc.grad(adc.vmap(model))) == "<adc grad(vmap(model))>"
    assert squares.__name__ == "squares"
    np.testing.assert_array_equal(squares(X[0]), X[0] ** 2)
    np.testing.assert_array_equal(scaled(X[0], 2.0), 2.0 * X[0])
    again = pickle.loads(pickle.dumps(adc.vmap(model, (None, 0))))
    assert pickle.loads(pickle.dumps(squares)) is squares
    np.testing.assert_array_equal(again(LAYERS, X), adc.vmap(model, (None, 0))(LAYERS, X))


@pytest.mark.full
def test_random_numbers_are_drawn_one_after_the_other() -> None:
    def noisy(x: Any, generator: Any) -> Any:
        return x + generator.normal()

    mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
    found = adc.vmap(noisy, (0, None))(X[:, 0], mine)
    np.testing.assert_array_equal(found, X[:, 0] + theirs.normal(size=5))
    assert mine.normal() == theirs.normal()


REFUSED: list[tuple[Callable[..., Any], Any, Any, tuple[Any, ...], type, str]] = [
    (at, 0, 0, (X, 2.0), ArgumentError, "the axis 0 for a number"),
    (scaled, (0,), 0, (X, 2.0), ArgumentError, "1 parts for 2 arguments"),
    (np.dot, (None, None), 0, (X, X), ArgumentError, "no array with an axis"),
    (np.dot, (2, None), 0, (X, X), ArgumentError, "the axis 2 for an array"),
    (np.sum, ({"a": 0},), 0, (X,), ArgumentError, "a dict of axes for an array"),
    (
        lambda p: p["a"],
        ({"b": 0},),
        0,
        ({"a": X},),
        ArgumentError,
        "axes of a dict of 1 for a dict",
    ),
    (np.sum, 0, 1, (X,), ArgumentError, "`out_axes` of vmap has the axis 1"),
    (np.dot, 0, 0, (X, X[:2]), ValueError, "different sizes, 5 and 2"),
    (np.sum, 0, 0, (X[:0],), ValueError, "an axis of size 0"),
    (np.sum, 0, None, (X,), ValueError, "not the same for all elements"),
    (lambda n: np.ones(n), 0, 0, (np.arange(3),), ValueError, "different shapes"),
]


@pytest.mark.parametrize(
    ("fn", "axes", "outs", "args", "kind", "text"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_refused(
    fn: Any, axes: Any, outs: Any, args: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        adc.vmap(fn, axes, outs, target="python", cache=False)(*args)
    error = caught.value
    if isinstance(error, AdcError) and fn in (at, scaled):
        assert error.span is not None
        assert error.span.file == __file__


def test_arguments_of_vmap_are_checked() -> None:
    with pytest.raises(ArgumentError, match="in_axes='a' is not a number"):
        adc.vmap(model, "a")
    with pytest.raises(ArgumentError, match="out_axes='a' is not a number"):
        adc.vmap(model, 0, "a")
    with pytest.raises(ArgumentError, match="is not a function"):
        adc.vmap(3)  # type: ignore[call-overload]  # what it must refuse
    sums = adc.jit(lambda x, k: adc.vmap(np.sum, k)(x), cache=False)
    for axis in (0, 1):  # part of the program
        np.testing.assert_allclose(sums(X, axis), np.sum(X, axis=1 - axis))
    with pytest.raises(AdcError, match="an axis that is not a constant"):
        adc.jit(lambda x: adc.vmap(np.sum, int(x[0, 0] > 0.0))(x), cache=False)(X)
