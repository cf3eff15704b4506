"""Containers in the places where they are easily forgotten: `zip`, `stop_gradient`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adc
from adc.frontend.entry import lower
from adc.frontend.inputs import trees
from adc.ir.errors import AdcError
from tests.oracle.chain import Chain, run
from tests.unit.frontend.test_frontend import lowered_for

X = np.array([0.3, -0.7, 1.1])


# -- zip: programs that work are in `zip_programs` -------------------------------------------------


def _short(x: Any) -> Any:
    return sum(a * b for a, b in zip(x, [1.0, 2.0], strict=True))


def _long(x: Any) -> Any:
    return sum(a * b for a, b in zip([x[0], x[1]], [1.0, 2.0, 3.0], strict=True))


def _third(x: Any) -> Any:
    s = 0.0
    for a, b, c in zip(x, x, [1.0], strict=True):
        s += a * b * c
    return s


def _arrays(x: Any) -> Any:
    s = 0.0
    for a, b in zip(range(2), x, strict=True):
        s += a * b
    return s


@pytest.mark.parametrize("fn", [_short, _long, _third, _arrays])
def test_lengths_that_differ(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="zip") as wanted:
        fn(X)
    with pytest.raises(ValueError, match="zip") as found:
        adc.grad(fn, cache=False)(X)
    assert str(found.value) == str(wanted.value)


# -- stop_gradient ---------------------------------------------------------------------------------


@dataclass
class Pair:
    first: Any
    second: Any


class Both(NamedTuple):
    first: Any
    second: Any


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value

    def doubled(self) -> Any:
        return self.value * 2.0


def _of_a_list(x: Any) -> Any:
    kept = adc.stop_gradient([x, x * 2.0])
    return np.sum(kept[0] * kept[1] * x)


def _of_a_dict(x: Any) -> Any:
    kept = adc.stop_gradient({"a": x, "b": [x[0], (1, None, "text", True)]})
    return np.sum(kept["a"] * x) * kept["b"][0] * kept["b"][1][0]


def _of_a_dataclass(x: Any) -> Any:
    kept = adc.stop_gradient(Pair(x[0], [x]))
    kept.first *= 2.0
    kept.second[0][1] = 3.0  # a copy
    return kept.first * np.sum(kept.second[0] * x) + x[1]


def _of_a_named_tuple(x: Any) -> Any:
    kept = adc.stop_gradient(Both(x, 2))
    return np.sum(kept.first * x) * kept.second


def _of_an_object(x: Any) -> Any:
    return np.sum(adc.stop_gradient(Plain(x)).doubled() * x)


def _of_an_array(x: Any) -> Any:
    y = adc.stop_gradient(x)
    y[0] = 3.0
    return x[0] * x[1] + y[0] * x[2]


def _of_views_and_integers(x: Any) -> Any:
    return np.sum(adc.stop_gradient(x[1:]) * x[:2]) * adc.stop_gradient(3) * x[0]


def _of_nothing(x: Any) -> Any:
    nothing, empty = adc.stop_gradient(None), adc.stop_gradient(())
    return x[0] if nothing is None and len(empty) == 0 else x[1]


def _of_a_list_that_changes(x: Any) -> Any:
    items = [x[0]]
    kept = adc.stop_gradient(items)
    kept.append(x[1])
    items[0] = x[2]
    return kept[0] * kept[1] * items[0] * len(items)


STOPPED: dict[Callable[[Any], Any], Any] = {
    _of_a_list: 2.0 * X * X,
    _of_a_dict: X[0] * X,
    _of_a_dataclass: 2.0 * X[0] * np.array([X[0], 3.0, X[2]]) + np.array([0.0, 1.0, 0.0]),
    _of_a_named_tuple: 2.0 * X,
    _of_an_object: 2.0 * X,
    _of_an_array: np.array([X[1], X[0], 3.0]),
    _of_views_and_integers: np.array(
        [3.0 * X[1] * X[0] + 3.0 * (X[1] * X[0] + X[2] * X[1]), 3.0 * X[2] * X[0], 0.0]
    ),
    _of_nothing: np.array([1.0, 0.0, 0.0]),
    _of_a_list_that_changes: np.array([0.0, X[0] * X[2], X[0] * X[1]]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", STOPPED, ids=lambda fn: str(fn.__name__)[1:])
def test_stop_gradient(fn: Callable[[Any], Any]) -> None:
    value, gradient = adc.value_and_grad(fn)(X)
    assert value == pytest.approx(fn(X.copy()), rel=1e-14)
    np.testing.assert_allclose(gradient, STOPPED[fn], rtol=1e-12)


def test_stop_gradient_of_an_argument() -> None:
    def loss(tree: Any) -> Any:
        kept = adc.stop_gradient(tree)
        return np.sum(kept["w"] * tree["w"]) + kept["n"] * tree["b"][0]

    found = adc.grad(loss)({"w": X, "n": 2, "b": [1.5]})
    np.testing.assert_array_equal(found["w"], X)
    assert (found["n"], found["b"]) == (None, [2.0])


def test_stop_gradient_copies_once_what_is_held_twice() -> None:
    def twice(x: Any) -> Any:
        first, second, (third,) = adc.stop_gradient([x, x, [x]])
        first *= 2.0
        return np.sum(second * third * x)

    value, gradient = adc.value_and_grad(twice)(X)
    assert value == pytest.approx(twice(X.copy()), rel=1e-14)
    np.testing.assert_allclose(gradient, 4.0 * X * X, rtol=1e-14)


def test_stop_gradient_of_what_cannot_be_copied() -> None:
    def random(x: Any, rng: Any) -> Any:
        return np.sum(adc.stop_gradient(rng).random(3) * x)

    with pytest.raises(AdcError, match="`stop_gradient` of"):
        adc.grad(random)(X, np.random.default_rng(0))


# -- what Python draws from once: read a second time, it is empty there ----------------------------


def _inner(pairs: Any) -> Any:
    return sum(a * b for a, b in pairs)


def _zip_with_a_name(x: Any) -> Any:
    pairs = zip(x, x, strict=True)
    return sum(a for a, _ in pairs) + sum(b for _, b in pairs)


def _reversed_with_a_name(x: Any) -> Any:
    found, s = reversed(x), 0.0
    for v in found:
        s += v
    for v in found:
        s += v
    return s


def _generator_that_sees_a_change(x: Any) -> Any:
    a = x.copy()
    scaled = (v * a[0] for v in x) if len(x) else (v for v in x)
    a[0] = 10.0
    return sum(scaled)


def _zip_as_an_argument(x: Any) -> Any:
    return _inner(zip(x, x, strict=True))


def _zip_in_a_list(x: Any) -> Any:
    held = [zip(x, x, strict=True)]
    return sum(a for a, _ in held[0]) + sum(a for a, _ in held[0])


def _zip_by_a_walrus(x: Any) -> Any:
    s = 0.0
    for a, _ in (pairs := zip(x, x, strict=True)):
        s += a
    return s + sum(a for a, _ in pairs)


@pytest.mark.parametrize(
    "fn",
    [
        _zip_with_a_name, _reversed_with_a_name,
        _generator_that_sees_a_change, _zip_as_an_argument, _zip_in_a_list, _zip_by_a_walrus,
    ],
)  # fmt: skip
def test_what_is_drawn_from_once_is_not_kept(fn: Callable[..., Any]) -> None:
    with pytest.raises(AdcError, match=r"storing (a generator|the iterator of `\w+`)") as caught:
        lowered_for(fn, (X,))
    assert caught.value.code == "ADC010"
    assert "list(" in (caught.value.hint or "")


def _used_where_it_is_made(x: Any) -> Any:
    pairs = list(zip(x, x, strict=True))
    s = sum(v * v for v in x) + max(v for v in x) + _inner([(v, v) for v in x])
    for k, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        s += k * a * b
    return s + pairs[0][0] + _inner(pairs) + sum(v for v in list(w * w for w in x))


def test_what_is_drawn_from_where_it_is_made() -> None:
    chain = Chain.of(_used_where_it_is_made, (X,), (0,))
    (value,) = run(chain.primal, [X])
    assert value == pytest.approx(_used_where_it_is_made(X), rel=1e-14)


# -- names of parameters ---------------------------------------------------------------------------


def _under_keys(p: Any) -> Any:
    return p["in_weight"] * p["1"] * p[1] * p["a b"] * p["²"] * p["λ"]


def test_parameters_are_named_after_keys_where_names_may_have_them() -> None:
    given = {"in_weight": 1.0, "1": 2.0, 1: 3.0, "a b": 4.0, "²": 5.0, "λ": 6.0}
    lowered = lower(_under_keys, {"p": trees.tree_of(given)})
    names = [param.name for param in lowered.fn.params]
    assert names == ["p_in_weight", "p_1", "p_1.1", "p_3", "p_4", "p_λ"]
