"""What arguments may not be, and numbers that must be constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    IntegerArgumentError,
    OverlapError,
    UnsupportedError,
)
from tests.unit.api.arguments.test_arguments import Model, State, of_list, of_model

pytestmark = pytest.mark.usefixtures("own_cache")


# --- errors ---------------------------------------------------------------------------------------


def test_one_object_in_two_places() -> None:
    def reads(a: Any, b: Any) -> Any:
        return a[0] * b[0]

    def writes(a: Any, b: Any) -> Any:
        a[0] = a[0] * 2.0
        return a[0] * b[0]

    p = [3.0]
    assert adc.grad(reads, (0, 1))(p, p) == ([3.0], [3.0])
    assert adc.grad(writes)(p, [4.0]) == [8.0]
    with pytest.raises(OverlapError, match=r"'a' of .* contains a list that is changed"):
        adc.grad(writes)(p, p)
    with pytest.raises(OverlapError):
        adc.grad(lambda t: writes(t["a"], t["b"]))({"a": p, "b": p})
    # Arrays, as ever.
    x = np.ones(2)
    with pytest.raises(OverlapError, match="overlap in memory"):
        adc.grad(lambda t: add_first(t["a"], t["b"]))({"a": x, "b": x})
    state = State(1.0, 1)
    model = Model(state, 1.0, state)

    def by_attributes(model: Any, x: Any) -> Any:
        model.w.x = x
        return model.inner.x * x

    with pytest.raises(OverlapError):
        adc.grad(by_attributes, 1)(model, 2.0)
    model.inner = State(3.0, 1)
    assert adc.grad(by_attributes, 1)(model, 2.0) == 3.0


def add_first(a: Any, b: Any) -> Any:
    a[0] += 1.0
    return (a * b).sum()


def test_a_container_that_holds_itself() -> None:
    p: list[Any] = [1.0]
    p.append(p)
    with pytest.raises(ArgumentError, match=r"'xs' of of_list\(\): a list contains itself"):
        adc.grad(of_list)(p)
    model = Model(np.ones(2), 1.0)
    model.inner = model
    assert adc.grad(of_model, 1)(model, 0.5) != 0.0
    with pytest.raises(ArgumentError, match="contains itself"):
        adc.grad(of_model)(model, 0.5)


@pytest.mark.parametrize("value", [[1, 2], {"a": "text"}, [], {}, (), State(1, 2), [True]])
def test_nothing_to_differentiate(value: Any) -> None:
    def fn(p: Any, x: Any) -> Any:
        return x

    with pytest.raises(IntegerArgumentError, match="only floating-point"):
        adc.grad(fn)(value, 1.0)
    assert adc.grad(fn, 1)(value, 1.0) == 1.0


def test_what_cannot_be_read_is_refused_where_it_is_used() -> None:
    def fn(p: Any) -> Any:
        return p["x"] * p["other"]

    for other in (np.ones(2, np.longdouble), {1, 2}, object()):
        with pytest.raises(AdcError):
            adc.grad(fn)({"x": 1.0, "other": other})
        assert adc.grad(lambda p: p["x"])({"x": 1.0, "other": other}) == {"x": 1.0, "other": None}


# -- integers that must be constants ---------------------------------------------------------------

AXIS = 1


class Along:
    def __init__(self, axis: int) -> None:
        self.axis = axis


def _summed(x: Any, axis: Any, keep: Any = False) -> Any:
    return np.sum(np.sum(x, axis=axis, keepdims=keep) ** 2)


def _slope(x: Any, axis: int) -> Any:
    return 2.0 * np.broadcast_to(np.sum(x, axis=axis, keepdims=True), x.shape)


@pytest.mark.full
def test_arguments_where_a_constant_is_needed() -> None:
    x = np.arange(6.0).reshape(2, 3)
    slope = adc.grad(_summed, cache=False)
    for axis in (0, 1, -1, 0, 1):
        np.testing.assert_array_equal(slope(x, axis), _slope(x, axis))
        np.testing.assert_array_equal(slope(x, axis, True), _slope(x, axis))
    # One piece of code for each value, and for each of another argument that decides.
    assert slope.cache_info()["compiled"] == 6
    assert slope.cache_info()["hits"] == 4
    turned = adc.grad(lambda y, k: np.sum(np.rot90(y, k)[0] ** 2))
    np.testing.assert_array_equal(turned(x, 2), [[0, 0, 0], [6, 8, 10]])
    np.testing.assert_array_equal(turned(x, 0), [[0, 2, 4], [0, 0, 0]])


@pytest.mark.full
def test_captured_numbers_where_a_constant_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6.0).reshape(2, 3)
    slope = adc.grad(lambda y: _summed(y, AXIS), cache=False)
    np.testing.assert_array_equal(slope(x), _slope(x, 1))
    monkeypatch.setitem(globals(), "AXIS", 0)
    np.testing.assert_array_equal(slope(x), _slope(x, 0))
    layer = Along(1)
    of_layer = adc.grad(lambda y: _summed(y, layer.axis), cache=False)
    np.testing.assert_array_equal(of_layer(x), _slope(x, 1))
    layer.axis = 0
    np.testing.assert_array_equal(of_layer(x), _slope(x, 0))


def test_a_number_that_was_computed_of_constants() -> None:
    slope = adc.grad(lambda x, k: np.sum(np.sum(x, axis=k - 1) ** 2))
    for k in (1, 2):
        found = np.broadcast_to(2.0 * np.sum(np.ones((2, 3)), axis=k - 1, keepdims=True), (2, 3))
        np.testing.assert_array_equal(slope(np.ones((2, 3)), k), found)
    with pytest.raises(UnsupportedError, match="known only at run time"):
        adc.grad(lambda x: np.sum(np.sum(x, axis=int(x[0, 0]))))(np.ones((2, 3)))
