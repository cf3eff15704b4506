"""What a derivative is of: the function as it is at the call, whatever became of it since.

A function is its code, its defaults and what its closure holds; its file is read once it is needed,
and may have changed by then.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from tests.unit.api.identity.replaced import X, cube, kept, over_a_closure, square, swap

# -- code and defaults that are replaced -----------------------------------------------------------


def _again(fn: Callable[..., Any]) -> types.FunctionType:
    """Return a function of its own that does the same."""
    assert isinstance(fn, types.FunctionType)
    return types.FunctionType(fn.__code__, globals(), fn.__name__, fn.__defaults__)


HELPER = _again(square)


def calls_a_global(x: Any) -> Any:
    return 2.0 * HELPER(x)


def over_a_default(helper: Any) -> Any:
    def inner(x: Any, *, fn: Any = helper) -> Any:
        return 2.0 * fn(x)

    return inner


def over_a_tuple(helper: Any) -> Any:
    table = (cube, helper)

    def inner(x: Any) -> Any:
        return 2.0 * table[1](x)

    return inner


def over_a_dict(helper: Any) -> Any:
    table = {"f": helper}

    def inner(x: Any) -> Any:
        return 2.0 * table["f"](x)

    return inner


def over_an_object(helper: Any) -> Any:
    class Model:
        pass

    model: Any = Model()
    model.fn = helper

    def inner(x: Any) -> Any:
        return 2.0 * model.fn(x)

    return inner


def over_a_method(helper: Any) -> Any:
    class Model:
        step = helper

    def inner(x: Any) -> Any:
        return 2.0 * Model.step(x)

    return inner


def over_a_property(helper: Any) -> Any:
    class Model:
        def __init__(self, x: Any) -> None:
            self.x = x

        value = property(lambda self: helper(self.x))

    def inner(x: Any) -> Any:
        return 2.0 * Model(x).value

    return inner


def over_a_derivative(helper: Any) -> Any:
    def inner(x: Any) -> Any:
        return adc.grad(helper)(x)

    return inner


def over_a_compiled_function(helper: Any) -> Any:
    compiled = adc.jit(helper)

    def inner(x: Any) -> Any:
        return 2.0 * compiled(x)

    return inner


def over_a_checkpoint(helper: Any) -> Any:
    kept = adc.checkpoint(helper)

    def inner(x: Any) -> Any:
        return 2.0 * kept(x)

    return inner


def over_helpers(helper: Any) -> Any:
    return over_a_closure(over_a_tuple(over_a_closure(helper)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "around",
    [over_a_closure, over_a_default, over_a_tuple, over_a_dict, over_an_object, over_a_method,
     over_a_property, over_a_derivative, over_a_compiled_function, over_a_checkpoint,
     over_helpers],
)  # fmt: skip
def test_replaced_code_of_a_helper(around: Any) -> None:
    helper = _again(square)
    fn = around(helper)
    slope = adc.grad(fn)
    before = adc.grad(around(square))(3.0)
    assert slope(3.0) == before
    swap(helper, _again(cube))
    assert slope(3.0) == adc.grad(around(cube))(3.0) != before
    swap(helper, _again(square))
    assert slope(3.0) == before


def test_replaced_code_of_the_function() -> None:
    fn = _again(square)
    slope, hessian, value = adc.grad(fn), adc.hessian(fn), adc.jit(fn)
    assert (slope(3.0), hessian(3.0), value(3.0)) == (6.0, 2.0, 9.0)
    swap(fn, _again(cube))
    assert (slope(3.0), hessian(3.0), value(3.0)) == (27.0, 18.0, 27.0)
    assert adc.jvp(fn, (3.0,), (1.0,)) == (27.0, 27.0)
    assert adc.vjp(fn, 3.0)[1](1.0) == (27.0,)


def test_replaced_code_before_pulling_back() -> None:
    fn = _again(square)
    _, pull = adc.vjp(fn, 3.0)
    assert pull(1.0) == (6.0,)
    swap(fn, _again(cube))
    with pytest.raises(adc.AdcError, match="has changed since its value was computed"):
        pull(1.0)


def test_replaced_code_of_a_global_helper() -> None:
    slope = adc.grad(calls_a_global)
    assert slope(3.0) == 12.0
    swap(HELPER, _again(cube))
    try:
        assert slope(3.0) == 54.0
    finally:
        swap(HELPER, _again(square))
    assert slope(3.0) == 12.0


def test_replaced_code_of_a_rule() -> None:
    def forward(x: Any) -> Any:
        return x * x, x

    def reverse(x: Any, ct: Any) -> Any:
        return (2.0 * x * ct,)

    def halved(x: Any, ct: Any) -> Any:
        return (x * ct,)

    own = adc.custom_vjp(square)
    own.defvjp(forward, reverse)
    direct, within = adc.grad(own), adc.grad(over_a_closure(own))
    assert (direct(3.0), within(3.0)) == (6.0, 12.0)
    swap(reverse, halved)
    assert (direct(3.0), within(3.0)) == (3.0, 6.0)


def test_replaced_code_of_a_tangent_rule() -> None:
    def rule(primals: Any, tangents: Any) -> Any:
        return square(primals[0]), 2.0 * primals[0] * tangents[0]

    def halved(primals: Any, tangents: Any) -> Any:
        return square(primals[0]), primals[0] * tangents[0]

    own = adc.custom_jvp(square)
    own.defjvp(rule)
    slope = adc.grad(over_a_closure(own))
    assert slope(3.0) == 12.0
    swap(rule, halved)
    assert slope(3.0) == 6.0


def test_replaced_code_with_other_parameters() -> None:
    def before(x: Any, w: Any) -> Any:
        return x * w * w

    def after(w: Any, x: Any, scale: Any = 10.0) -> Any:
        return scale * x * w * w

    fn = _again(before)
    slope = adc.grad(fn, argnames="w")
    jacobian = adc.jacrev(fn, argnames=("w",))
    applied = adc.grad(over_two_arguments(slope))
    assert slope(2.0, 3.0) == 12.0
    assert jacobian(2.0, 3.0) == (12.0,)
    assert applied(3.0) == 4.0
    swap(fn, after)
    # By name it is the first now.
    assert slope(2.0, 3.0) == 120.0
    assert jacobian(2.0, 3.0) == (120.0,)
    assert slope(2.0, 3.0, 1.0) == 12.0
    assert applied(3.0) == 40.0


def over_two_arguments(slope: Any) -> Any:
    def inner(w: Any) -> Any:
        return slope(2.0, w)

    return inner


def test_replaced_defaults_of_the_function() -> None:
    def fn(x: Any, scale: Any = 2.0, *, power: Any = 2) -> Any:
        return scale * x**power

    slope = adc.grad(fn)
    assert slope(3.0) == 12.0
    fn.__defaults__ = (5.0,)
    assert slope(3.0) == 30.0
    fn.__kwdefaults__ = {"power": 3}
    assert slope(3.0) == 135.0
    fn.__kwdefaults__["power"] = 1
    assert slope(3.0) == 5.0


def test_replaced_defaults_of_a_helper() -> None:
    def helper(x: Any, scale: Any = 2.0, *, power: Any = 2) -> Any:
        return scale * x**power

    slope = adc.grad(over_a_closure(helper))
    assert slope(3.0) == 24.0
    helper.__defaults__ = (5.0,)
    assert slope(3.0) == 60.0
    helper.__kwdefaults__ = {"power": 3}
    assert slope(3.0) == 270.0
    helper.__kwdefaults__["power"] = 1
    assert slope(3.0) == 10.0
    helper.__defaults__ = (-0.0,)
    assert np.signbit(slope(3.0))


def test_a_default_that_is_given_does_not_matter(lowered: list[str]) -> None:
    def helper(x: Any, scale: Any = 2.0) -> Any:
        return scale * x

    def fn(x: Any) -> Any:
        return helper(x, 3.0)

    slope = adc.grad(fn)
    assert slope(1.0) == 3.0
    helper.__defaults__ = (7.0,)
    assert slope(1.0) == 3.0
    assert len(lowered) == 1


def scaled(factor: float) -> Callable[..., Any]:
    def inner(x: Any) -> Any:
        return factor * x

    return inner


TWICE, THRICE = scaled(2.0), scaled(3.0)


def test_a_function_that_is_a_global_and_an_argument() -> None:
    def fn(x: Any, other: Any) -> Any:
        return TWICE(x) + x * other(x)

    slope = adc.grad(fn, target="python")
    assert [slope(1.5, other) for other in (TWICE, THRICE, TWICE)] == [8.0, 11.0, 8.0]


# -- captured values -------------------------------------------------------------------------------

SETTING: Any = [{"a": 1}]


@pytest.mark.parametrize("other", [(1, 2), None, "low", {0: [1]}, [{}]])
def test_a_captured_value_of_another_kind(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(x: Any) -> Any:
        return f"{SETTING}"

    text = adc.jit(shown, target="python")
    before = shown(1.0)
    assert text(1.0) == before
    monkeypatch.setitem(globals(), "SETTING", other)
    assert text(1.0) == shown(1.0)
    monkeypatch.undo()
    assert text(1.0) == before


# -- classes ---------------------------------------------------------------------------------------


def _classes() -> tuple[Any, Callable[..., Any]]:
    class Spring:
        stiffness = 2.0

        def __init__(self, x: Any) -> None:
            self.x = x

        def energy(self) -> Any:
            return self.stiffness * self.x * self.x

    def fn(x: Any) -> Any:
        return Spring(x).energy()

    return Spring, fn


def test_replaced_method() -> None:
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0
    cls.energy = lambda self: self.x
    assert slope(3.0) == 1.0


def test_replaced_constructor() -> None:
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0

    def doubled(self: Any, x: Any) -> None:
        self.x = 2.0 * x

    cls.__init__ = doubled
    assert slope(3.0) == 48.0


def test_replaced_code_of_methods() -> None:
    cls: Any
    cls, fn = _classes()
    slope = adc.grad(fn)
    assert slope(3.0) == 12.0

    def doubled(self: Any, x: Any) -> None:
        self.x = 2.0 * x

    def energy(self: Any) -> Any:
        return self.x

    swap(cls.__init__, doubled)
    assert slope(3.0) == 48.0
    swap(cls.energy, energy)
    assert slope(3.0) == 2.0


def test_replaced_attribute_of_a_class_with_another_name() -> None:
    class Settings:
        scale = 2.0

    def fn(x: Any) -> Any:
        chosen = Settings
        return chosen.scale * x

    slope = adc.grad(fn)
    assert slope(3.0) == 2.0
    Settings.scale = 5.0
    assert slope(3.0) == 5.0


def test_replaced_post_init() -> None:
    module: Any = kept(
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Point:\n    x: float\n    scale: float = 2.0\n"
        "@dataclass\nclass Doubled(Point):\n"
        "    def __post_init__(self):\n        self.x = 2.0 * self.x\n"
        "def fn(x):\n    return Point(x).x * Point(x).scale\n"
        "def doubled(x):\n    return Doubled(x).x * Doubled(x).scale\n"
        "def trebled(self):\n    self.x = 3.0 * self.x\n"
    )
    slope, doubled = adc.grad(module.fn), adc.grad(module.doubled)
    assert (slope(3.0), doubled(3.0)) == (2.0, 4.0)
    module.Point.__post_init__ = module.Doubled.__post_init__ = module.trebled
    # A constructor that was made without it does not call it.
    assert (module.fn(3.0), module.doubled(3.0)) == (6.0, 18.0)
    assert (slope(3.0), doubled(3.0)) == (2.0, 6.0)
    assert adc.grad(module.fn, cache=False)(3.0) == 2.0


# -- what is checked at every call -----------------------------------------------------------------


def test_functions_of_numpy_are_compared_as_such() -> None:
    """By what they are: their attributes are nobody's concern, and take long to look through."""

    def fn(x: Any) -> Any:
        return np.sum(x) + np.mean(x) + np.max(x) + np.dot(x, x) + np.linalg.norm(x)

    slope = adc.grad(fn)
    slope(X)
    guards = slope.compiled_for().lowered.guards
    assert len(guards) >= 6
    assert [guard.place for guard in guards if guard.key is not None] == []


def test_replaced_function_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: Any) -> Any:
        return np.sum(x * x)

    slope = adc.grad(fn)
    assert slope(X).tolist() == [2.0, 4.0, 6.0]
    monkeypatch.setattr(np, "sum", np.max)
    assert slope(X).tolist() == [0.0, 0.0, 6.0]


def _twice(t: Any, x: Any) -> Any:
    # fmt: off
    return (lambda s: adc.grad(lambda x: x * x * s)(x) + adc.grad(lambda x: adc.grad(lambda y: y**3)(x))(x))(t)  # noqa: E501


def test_a_lambda_within_another_in_one_line() -> None:
    assert _twice(2.0, 3.0) == 30.0
    assert adc.jit(_twice)(2.0, 3.0) == 30.0
