"""Objects of subclasses of `dict` as arguments, captured values and results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import OverlapError
from adc.testing import check_grads


class Config(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    __setattr__ = dict.__setitem__  # a recipe that many use


class Shared(dict[str, Any]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Counting(dict[str, Any]):
    def __init__(self, **items: Any) -> None:
        super().__init__(**items)
        self.calls = 0


def test_a_gradient_is_an_object_of_the_class() -> None:
    def loss(p: Any) -> Any:
        return np.sum(p.w**2) * p.inner.b + p.get("c", 2.0) * p["w"][0]

    given = Config(w=np.array([0.7, 1.2]), inner=Config(b=0.4))
    found = adc.grad(loss)(given)
    assert type(found) is Config
    assert type(found.inner) is Config
    np.testing.assert_allclose(found["w"], [2 * 0.7 * 0.4 + 2.0, 2 * 1.2 * 0.4])
    np.testing.assert_allclose(found.inner.b, 0.7**2 + 1.2**2)
    check_grads(loss, (given,))


def test_items_that_are_attributes() -> None:
    def loss(p: Any) -> Any:
        return np.sum(p.w**2) * p["b"] + p.b**3

    given = Shared(w=np.array([0.7, 1.2]), b=0.4)
    found = adc.grad(loss)(given)
    assert type(found) is Shared
    assert vars(found) is found
    np.testing.assert_allclose(vars(found)["b"], 0.7**2 + 1.2**2 + 3 * 0.4**2)


def test_results() -> None:
    def made(x: Any, cls: Any) -> Any:
        found = cls(a=x)
        found.b = 2.0 * x
        return found

    classes: list[Any] = [Config, Shared]
    for cls in classes:
        made_by: Any = adc.jit(lambda x, cls=cls: made(x, cls))
        found: Any = made_by(1.5)
        assert type(found) is cls
        assert dict(found) == {"a": 1.5, "b": 3.0}
        assert found.b == 3.0


def test_captured_objects_that_change() -> None:
    options: Any = Config(rate=2.0, w=np.array([1.0, 2.0]))
    counted = Counting(total=0.0)

    @adc.jit
    def step(x: Any) -> Any:
        counted.calls += 1
        counted["total"] += x
        counted["last"] = x
        options.seen = x
        return x * options.rate * options.w[1] + len(counted)

    assert step(1.5) == 1.5 * 2.0 * 2.0 + 2
    options.rate = 3.0
    options["w"] = np.array([0.0, 1.0])
    assert step(2.0) == 2.0 * 3.0 + 2
    assert (counted.calls, dict(counted)) == (2, {"total": 3.5, "last": 2.0})
    assert vars(counted) == {"calls": 2}
    assert options["seen"] == 2.0


def test_one_object_twice() -> None:
    def changed(p: Any, q: Any) -> Any:
        p["a"] = 2.0 * q.a
        return p.a * q.a

    f = adc.jit(changed)
    given = Config(a=1.5)
    assert f(given, Config(a=3.0)) == 18.0
    with pytest.raises(OverlapError):
        f(given, given)
