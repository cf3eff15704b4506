"""Values from outside: arrays, containers and objects that functions capture and change."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import GlobalStateError, OverlapError, UnsupportedError
from tests.unit.api.arguments.test_arguments import Layer, Model, check

pytestmark = pytest.mark.usefixtures("own_cache")


# --- what lies outside ----------------------------------------------------------------------------

PARAMS: dict[str, Any] = {"w": np.array([1.0, 2.0]), "b": 0.5, "mode": "sum", "deep": [[1.0], 2]}

SETTINGS = Model(np.array([1.0, 2.0]), 3.0, inner={"rate": 0.5})

SIZES = (2, 3.0)

LAYER = Layer(2.0, 3.0)

TABLE = [0.5, 0.25]


def outside(x: Any) -> Any:
    y = (PARAMS["w"] * x).sum() + PARAMS["b"]
    y = y if PARAMS["mode"] == "sum" else -y
    y = y * SETTINGS.scale * SETTINGS.inner["rate"] + PARAMS["deep"][0][0] * x
    for k in range(len(TABLE)):
        y += TABLE[k] * x
    return y * SIZES[1] * LAYER.w


def test_captured_containers_are_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = adc.grad(outside)

    def numeric() -> Any:
        return pytest.approx(outside(2.0) - outside(1.0))

    assert slope(1.0) == numeric()
    PARAMS["w"][0] = 5.0
    assert slope(1.0) == numeric()
    monkeypatch.setitem(PARAMS, "w", np.array([3.0, 4.0, 5.0]))
    monkeypatch.setitem(PARAMS, "b", 7.0)
    monkeypatch.setitem(PARAMS, "deep", [[4.0], 9])
    assert slope(1.0) == numeric()
    monkeypatch.setattr(SETTINGS, "scale", -3.0)
    monkeypatch.setitem(SETTINGS.inner, "rate", 4.0)
    SETTINGS.history.append(1.0)
    assert slope(1.0) == numeric()
    TABLE[1] = 8.0
    assert slope(1.0) == numeric()
    assert slope.cache_info()["hits"] == 4
    # Other strings, lengths and types need other code.
    monkeypatch.setitem(PARAMS, "mode", "difference")
    assert slope(1.0) == numeric()
    TABLE.append(3.0)
    assert slope(1.0) == numeric()
    TABLE.pop()
    monkeypatch.setitem(PARAMS, "b", np.float32(2.0))
    assert slope(1.0) == numeric()
    assert slope.cache_info()["hits"] == 4
    monkeypatch.setattr("tests.unit.api.arguments.test_captured.SIZES", (2, 5.0))
    monkeypatch.setattr("tests.unit.api.arguments.test_captured.LAYER", Layer(1.0, 1.0))
    assert slope(1.0) == numeric()


def test_captured_containers_go_anywhere() -> None:
    def total(items: Any) -> Any:
        s = 0.0
        for item in items:
            s += item.sum()
        return s

    weights = [np.array([1.0, 2.0]), np.array([3.0])]

    def fn(x: Any, deep: Any) -> Any:
        chosen = weights if deep else [np.ones(1)]
        both = [*weights, *chosen]
        return total(both) * x

    assert adc.grad(fn)(1.0, True) == 12.0
    assert adc.grad(fn)(1.0, False) == 7.0
    weights[0][0] = 2.0
    assert adc.grad(fn)(1.0, True) == 14.0


def recursive(x: Any, n: Any, p: Any) -> Any:
    if n == 0:
        return x * p["a"][0]
    return recursive(x * PARAMS["b"], n - 1, p) + p["b"] * x


def test_recursion() -> None:
    check(recursive, 1.5, 3, {"a": [2.0, np.ones(2)], "b": 0.5})
    check(recursive, 1.5, 3, {"a": [2.0, np.ones(2)], "b": 0.5}, argnum=2)

    assert adc.grad(power_of, 1)(Model(1.0, 3.0), 2.0, 3) == 36.0
    with pytest.raises(UnsupportedError, match="passed to a recursive function"):
        adc.grad(changing)(1.0, 2, [0.0])


def power_of(model: Any, x: Any, n: Any) -> Any:
    return model.scale if n == 0 else x * power_of(model, x, n - 1)


def changing(x: Any, n: Any, seen: Any) -> Any:
    seen[0] = x
    return x if n == 0 else changing(2.0 * x, n - 1, seen)


@pytest.mark.parametrize("kind", ["list", "dict", "object", "attribute", "alias"])
def test_what_lies_outside_is_not_changed_by_other_derivatives(kind: str) -> None:
    def fn(x: Any) -> Any:
        if kind == "list":
            TABLE.append(x)
        elif kind == "dict":
            PARAMS["b"] = x
        elif kind == "object":
            SETTINGS.scale = x
        elif kind == "attribute":
            SETTINGS.inner["rate"] = x
        else:
            table = TABLE
            table[0] += x
        return x

    with pytest.raises(GlobalStateError, match="outside the function"):
        adc.jacfwd(fn)(1.0)


def test_a_name_for_one_of_two_lists() -> None:
    def fn(x: Any, n: Any) -> Any:
        table = TABLE if n > 1 else [x, x]
        table.append(x)
        return table[0]

    with pytest.raises(GlobalStateError, match="outside the function"):
        adc.grad(fn)(1.0, 2)


# --- changed in control flow ----------------------------------------------------------------------


def in_branches(x: Any, p: Any, model: Any) -> Any:
    if x > 0.0:
        p["a"] = p["a"] * x
        model.inner["rate"] = x
        model.scale = 3.0
    else:
        p["list"][0] = x * x
    return p["a"] + p["list"][0] * model.inner["rate"] + model.scale * x


def in_a_loop(x: Any, model: Any) -> Any:
    for i in range(4):
        if i % 2 == 0:
            model.inner["rate"] = model.inner["rate"] * x + model.w[0]
        model.history[0] = model.history[0] + i
    return model.inner["rate"] * model.history[0]


@pytest.mark.full
@pytest.mark.parametrize("x", [1.5, -0.5])
def test_arguments_that_are_changed(x: float) -> None:
    model = Model(np.array([0.5]), 1.5, {"rate": 0.25})
    model.history.append(1.0)
    check(in_branches, x, {"a": 2.0, "list": [1.0]}, model)
    check(in_branches, x, {"a": 2.0, "list": [1.0]}, model, argnum=1)
    check(in_a_loop, x, model)
    del model.tags
    check(in_branches, x, {"a": 2.0, "list": [1.0]}, model, argnum=2)
    check(in_a_loop, x, model, argnum=1)


class Buffers:
    def __init__(self, n: int) -> None:
        self.weights = np.linspace(0.5, 1.5, n)
        self.buffer = np.zeros(n)

    def loss(self, x: Any) -> Any:
        for i in range(len(self.buffer)):
            if x > 0.0:
                self.buffer[i] = x * self.weights[i]
            else:
                self.buffer[i] += x
        return (self.buffer**2).sum()


def test_arrays_of_objects_that_are_written() -> None:
    objects = Buffers(3)
    slope = adc.grad(Buffers.loss, 1)
    for x in (0.5, -0.5):
        expected = copy.deepcopy(objects).loss(x) * 2.0 / x
        assert slope(objects, x) == pytest.approx(expected)
    np.testing.assert_array_equal(objects.buffer, 0.0)
    objects.weights = objects.buffer
    with pytest.raises(OverlapError, match="'buffer' and 'weights'"):
        slope(objects, 0.5)
    with pytest.raises(OverlapError, match="'buffer' and 'weights'"):
        adc.grad(objects.loss)(0.5)
    # Nobody passed what a method is bound to: the next call finds it changed.
    objects.weights = np.ones(3)
    assert adc.grad(objects.loss)(0.5) == 3.0
    np.testing.assert_array_equal(objects.buffer, 0.5)


OFFSETS = np.array([1.0, 2.0])


def with_defaults(x: Any, k: Any = OFFSETS, *, table: Any = {"a": [3.0]}) -> Any:  # noqa: B006
    return x * k[1] * table["a"][0]


def test_defaults_that_are_containers() -> None:
    slope = adc.grad(lambda x: with_defaults(x) + with_defaults(x, k=OFFSETS, table={"a": [1.0]}))
    assert slope(1.0) == 8.0
    assert adc.grad(with_defaults)(1.0) == 6.0
    OFFSETS[1] = 3.0
    assert slope(1.0) == 12.0
    assert adc.grad(with_defaults)(1.0) == 9.0
    OFFSETS[1] = 2.0


def _scaled(scale: float) -> Any:
    return lambda v: scale * v


THRICE = _scaled(3.0)


def test_one_function_at_two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it is one function at both places is part of what the code is for."""
    held = THRICE

    def program(x: Any) -> Any:
        f = held
        for v in x:
            if v < 0.0:
                f = THRICE
        return f(x[0])

    x = np.array([1.5, -0.5])
    compiled = adc.jit(program, target="python")
    assert compiled(x) == 4.5
    held = _scaled(7.0)
    for argument in (x, -x, np.abs(x)):
        assert compiled(argument) == program(argument)
    monkeypatch.setitem(globals(), "THRICE", held)
    assert compiled(x) == 10.5


class Tracker:
    """What it counts and sums is in the class."""

    count = 0
    total = 0.0

    def __init__(self, value: Any) -> None:
        self.value = value
        Tracker.count += 1
        type(self).total += value


class Inherits(Tracker):
    pass


def test_attributes_of_a_class_that_are_assigned() -> None:
    def loss(x: Any) -> Any:
        total = 0.0
        for k in range(len(x)):
            each = Tracker(x[k] * x[k])
            total += each.value * Tracker.count + np.sin(each.total)
        return total * Tracker.total

    def at(x: Any) -> Any:
        Tracker.count, Tracker.total = 0, 0.0
        return loss(x)

    x = np.array([0.4, 0.7])
    wanted = at(x)
    after = Tracker.count, Tracker.total
    both = adc.value_and_grad(loss)
    Tracker.count, Tracker.total = 0, 0.0
    value, gradient = both(x)
    np.testing.assert_allclose(value, wanted)
    assert (Tracker.count, Tracker.total) == after
    steps = 1e-6 * np.eye(2)
    slopes = [(at(x + step) - at(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
    Tracker.count, Tracker.total = 5, 0.0
    both(x)
    assert Tracker.count == 7


def test_attributes_of_a_class_that_cannot_be_assigned() -> None:
    with pytest.raises(GlobalStateError, match="`total` of type 'Inherits'"):
        adc.grad(lambda x: Inherits(x).value)(1.0)  # it has none of its own yet
    with pytest.raises(GlobalStateError, match="`count` of type 'Tracker'"):
        adc.jvp(lambda x: Tracker(x).value, (1.0,), (1.0,))
