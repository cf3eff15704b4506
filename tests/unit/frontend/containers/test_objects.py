"""Objects with methods that Python calls by itself, as arguments and outside; what is not changed.

As local state they are in the corpus: `tests.corpus.language.object_programs`.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.special

import adc
from adc.frontend.syntax.mangling import private_name
from adc.ir.errors import AdcError, ArgumentError, GlobalStateError, UnsupportedError
from adc.supported import page
from tests.unit.frontend.test_frontend import load, lowered_for


class Model:
    """Has of everything something: a property, a descriptor's data, private names, operators."""

    factor = 2.0
    table = np.array([1.0, 2.0])

    def __init__(self, w: Any, level: float) -> None:
        self._w = w
        self.level = level
        self.__hidden = 3.0

    @property
    def w(self) -> Any:
        return self._w * self.factor

    @w.setter
    def w(self, value: Any) -> None:
        self._w = value / 4.0

    def __bool__(self) -> bool:
        return self.level > 0.5

    def __len__(self) -> int:
        return len(self._w)

    def __mul__(self, other: Any) -> Any:
        return self.w * other + self.__hidden

    def __getitem__(self, k: Any) -> Any:
        return self._w[k] * self.level

    @functools.cached_property
    def total(self) -> Any:
        return np.sum(self._w) * self.factor


class Wide(Model):
    factor = 5.0

    @property  # type: ignore[misc]  # it has no setter
    def w(self) -> Any:
        return self._w * 10.0


def used(model: Any, x: Any) -> Any:
    s = np.sum(model * x) * (2.0 if model else x) + len(model) * model[0]
    for k in range(2):
        if model:
            s += model[k] * x
            model.level -= 0.75
        else:
            model.w = model.w * x
            s += model.w[1]
    return s


def changed(model: Any, x: Any) -> Any:
    model.w = model.w * x
    return np.sum(model.w) * x


def _numeric(fn: Callable[[float], Any]) -> Any:
    h = 1e-6
    return pytest.approx((fn(h) - fn(-h)) / (2.0 * h), rel=1e-7)


@pytest.mark.full
@pytest.mark.parametrize("level", [0.25, 1.0])
def test_arguments(level: float) -> None:
    def fresh(at: float = 0.0) -> Model:
        return Model(np.array([1.5 + at, 0.5]), level)

    of_model, of_x = adc.grad(used, (0, 1))(fresh(), 0.7)
    assert of_x == _numeric(lambda h: used(fresh(), 0.7 + h))
    assert of_model._w[0] == _numeric(lambda h: used(fresh(h), 0.7))
    assert of_model.level == _numeric(lambda h: used(Model(np.array([1.5, 0.5]), level + h), 0.7))


def test_classes_along_the_order_of_inheritance() -> None:
    slope = adc.grad(lambda model, x: np.sum(model.w) * x, 1)
    assert slope(Model(np.ones(2), 1.0), 1.0) == 4.0
    assert slope(Wide(np.ones(2), 1.0), 1.0) == 20.0
    with pytest.raises(AdcError, match="property 'w' of 'Wide' object has no setter"):
        adc.grad(changed, 1)(Wide(np.ones(2), 1.0), 1.0)


CAPTURED = Model(np.array([1.5, 0.5]), 1.0)


def outside(x: Any) -> Any:
    s = np.sum(CAPTURED * x) * len(CAPTURED)
    for k in range(2):
        s += CAPTURED[k] * x if CAPTURED else 10.0 * x
    return s + CAPTURED.table[1] * type(CAPTURED).factor * x


def test_objects_outside_are_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = adc.grad(outside)

    def check() -> None:
        assert slope(0.7) == pytest.approx(outside(1.0) - outside(0.0))

    check()
    monkeypatch.setattr(CAPTURED, "level", 0.25)
    check()
    monkeypatch.setattr(CAPTURED, "_w", np.array([3.0, 4.0, 5.0]))
    check()
    monkeypatch.setattr(Model, "factor", 7.0)
    check()
    monkeypatch.setattr(Model, "w", property(lambda self: self._w * 100.0))
    check()
    monkeypatch.setattr(Model, "__bool__", lambda self: True)
    check()


def test_classes_known_as_values() -> None:
    class Config:
        scale = 2.0

        @classmethod
        def scaled(cls, x: Any) -> Any:
            return x * cls.scale

    slope = adc.grad(lambda x: Config.scaled(x))
    assert slope(1.0) == 2.0
    Config.scale = 3.0
    assert slope(1.0) == 3.0


def test_a_cached_property_outside_is_kept() -> None:
    model = Model(np.ones(2), 1.0)
    with pytest.raises(GlobalStateError) as caught:
        adc.jacfwd(lambda x: model.total * x)(1.0)
    assert "read `.total` once before the call" in str(caught.value)
    assert "total" not in vars(model)
    assert adc.grad(lambda x: model.total * x)(1.0) == 4.0
    assert vars(model)["total"] == 4.0
    assert adc.jacfwd(lambda x: model.total * x)(1.0) == 4.0


@dataclass(frozen=True)
class Frozen:
    x: Any

    def __bool__(self) -> bool:
        return bool(self.x > 1.0)


def test_frozen_dataclasses() -> None:
    slope = adc.grad(lambda f: f.x * f.x if f else f.x * 5.0)
    assert slope(Frozen(2.0)).x == 4.0
    assert slope(Frozen(0.5)).x == 5.0


# --- objects whose behaviour is not known ---------------------------------------------------------


class Items(list[float]):
    pass


class Pair(tuple[float, ...]):
    __slots__ = ()

    def __len__(self) -> int:
        return 7


class Loose:
    def __init__(self) -> None:
        self.known = {"a": 2.0}

    def __getattr__(self, name: str) -> Any:
        return self.known[name]


UNKNOWN = Items([1.0, 2.0])


@pytest.mark.parametrize(
    "text", ["UNKNOWN[0]", "len(UNKNOWN)", "sum(UNKNOWN)", "(1.0 if UNKNOWN else 2.0)"]
)
@pytest.mark.parametrize("place", ["global", "argument"])
def test_contents_without_guards(text: str, place: str) -> None:
    parameter = ", UNKNOWN" if place == "argument" else ""
    fn = load(f"def program(x{parameter}):\n    return x * {text}\n", UNKNOWN=UNKNOWN)
    if parameter:
        with pytest.raises(ArgumentError, match=r"argument 'UNKNOWN' of .* is a Items"):
            adc.grad(fn)(1.0, UNKNOWN)
        return
    with pytest.raises(UnsupportedError, match="object of class `Items`, a subclass of `list`"):
        adc.grad(fn)(1.0)


def test_attributes_that_a_method_finds() -> None:
    fn = load("def program(x, thing):\n    return x * thing.a\n")
    thing, slope = Loose(), adc.grad(fn, target="python")
    assert slope(1.0, thing) == 2.0
    thing.known["a"] = 3.0
    assert slope(1.0, thing) == 3.0


def test_subclasses_of_tuples() -> None:
    with pytest.raises(ArgumentError, match="is a Pair"):
        adc.grad(lambda x, p: x * len(p))(1.0, Pair((1.0, 2.0)))


# --- private names --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", ["Cell", "_Cell", "__Cell", "___", "_"])
@pytest.mark.parametrize("name", ["x", "_x", "__x", "__x__", "__x_", "___x", "__"])
def test_private_names(cls: str, name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"class {cls}:\n def f(self): self.{name} = 1", namespace)
    assert namespace[cls].f.__code__.co_names == (private_name(name, cls),)


# --- what lies outside is not changed -------------------------------------------------------------

VECTOR = np.array([1.0, 2.0, 3.0])
MATRIX = np.ones((2, 3))
MIXED: list[Any] = [np.ones(2), 1.0]
TABLE: dict[str, Any] = {"a": np.ones(2), "n": 1}
LONG = [1.0] * 50


def first_set(a: Any, x: Any) -> Any:
    a[0] = x
    return a[0]


def set_by_itself(a: Any, x: Any, n: Any) -> Any:
    a[0] = x
    return x if n == 0 else set_by_itself(a, x, n - 1)


def with_a_default(x: Any, kept: Any = np.zeros(3)) -> Any:  # noqa: B008
    kept[0] += x
    return kept[0]


NAMES = {
    name: value
    for name, value in globals().items()
    if name.isupper() or name in ("Model", "first_set", "set_by_itself", "with_a_default")
}
CHANGES = """
VECTOR[0] += x
VECTOR[1:] = x
VECTOR[VECTOR > 1.0] = x
VECTOR[np.array([0, 1])] += x
VECTOR.fill(x)
VECTOR.sort()
VECTOR.put([0], x)
VECTOR.flat[0] = x
np.copyto(VECTOR, x)
np.put(VECTOR, [0], x)
np.putmask(VECTOR, VECTOR > 1.0, x)
np.add(VECTOR, x, out=VECTOR)
np.add.at(VECTOR, [0], x)
np.cumsum(VECTOR, out=VECTOR)
np.fill_diagonal(MATRIX, x)
np.random.default_rng(0).shuffle(VECTOR)
VECTOR.reshape(3)[0] = x
np.asarray(VECTOR)[0] = x
v = MATRIX.T[0]; v += x
for row in MATRIX: row[0] = x
first_set(VECTOR, x)
set_by_itself(VECTOR, x, 2)
with_a_default(x)
(lambda: first_set(VECTOR, x))()
adc.grad(lambda y: first_set(VECTOR, y))(x)
MIXED[0][0] = x
MIXED.pop()
LONG[0] = x
TABLE['a'][0] = x
TABLE['n'] = 2
del TABLE['n']
CAPTURED._w[0] = x
CAPTURED.level = x
CAPTURED.w = x
setattr(CAPTURED, 'level', x)
Model.table[0] = x
CAPTURED.table[0] = x
a = VECTOR if x > 0.0 else np.zeros(3); a[0] = x
if x > 100.0: VECTOR[0] = x
d = dict(v=VECTOR); d['v'] *= x
m = Model(np.ones(2), x); m._w = VECTOR; m._w[0] = x
"""


@pytest.mark.parametrize("text", [line for line in CHANGES.splitlines() if line])
def test_changes_of_what_lies_outside_are_refused(text: str) -> None:
    lines = "\n    ".join(text.split("; "))
    fn = load(f"def program(x):\n    {lines}\n    return x\n", **NAMES, adc=adc)
    with pytest.raises(GlobalStateError) as caught:
        lowered_for(fn, (1.5,))
    error = caught.value
    assert re.search("outside the function, `.*`, would be changed", error.message)
    assert error.code == "ADC034"
    assert "pass it as an argument and return it" in error.hint
    assert error.span is not None


@pytest.mark.parametrize("before", ["np.zeros(3)", "VECTOR"])
def test_changes_in_a_later_iteration_are_refused(before: str) -> None:
    after = "VECTOR" if before == "np.zeros(3)" else "np.zeros(3)"
    text = f"    a = {before}\n    for _ in range(3):\n        a[0] += x\n        a = {after}\n"
    fn = load(f"def program(x):\n{text}    return x\n", **NAMES)
    with pytest.raises(GlobalStateError, match="`VECTOR`, would be changed"):
        lowered_for(fn, (1.5,))


@pytest.mark.parametrize("text", ["Model.factor = x", "Model.factor += x", "m = Model; m.n = x"])
def test_attributes_of_classes_are_not_changed(text: str) -> None:
    lines = "\n    ".join(text.split("; "))
    fn = load(f"def program(x):\n    {lines}\n    return x\n", **NAMES)
    with pytest.raises(GlobalStateError, match="of type 'Model', outside the function"):
        lowered_for(fn, (1.5,))


def _derivative_that_changes(x: Any) -> Any:
    a, b = np.ones(1), np.ones(1)

    def changing(u: Any) -> Any:
        c = a if x > 0.0 else b
        c[0] = 3.0 * u
        return u * u

    return adc.grad(changing)(x) * a[0]


def test_derivatives_change_nothing_else() -> None:
    with pytest.raises(UnsupportedError, match="which changes 'a'"):
        adc.grad(_derivative_that_changes)(2.0)
    with pytest.raises(GlobalStateError, match="`a`, would be changed"):
        _derivative_that_changes(2.0)


def test_closures_are_changed_by_what_runs_a_function_once() -> None:
    kept = np.zeros(3)

    def fn(x: Any) -> Any:
        kept[0] += x
        return kept[0]

    with pytest.raises(GlobalStateError, match="`kept`, would be changed"):
        adc.jacfwd(fn)(1.0)
    assert adc.grad(fn)(2.0) == 1.0
    assert kept[0] == 2.0


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def loss(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


def test_what_a_method_is_bound_to_is_changed() -> None:
    counter = Counter()
    assert adc.grad(Counter.loss, 1)(counter, 1.0) == 1.0  # an argument
    assert adc.grad(lambda x: Counter().loss(x))(1.0) == 1.0
    with pytest.raises(GlobalStateError, match="a Counter that the method belongs to would be"):
        adc.jacfwd(counter.loss)(1.0)
    assert counter.calls == 0
    assert [adc.grad(counter.loss)(1.0) for _ in range(2)] == [1.0, 2.0]
    assert adc.grad(lambda x: counter.loss(x))(1.0) == 3.0
    assert counter.calls == 3


def test_defaults_are_not_changed() -> None:
    slope = adc.grad(with_a_default)
    with pytest.raises(GlobalStateError, match="the default value of 'kept' of with_a_default"):
        slope(1.0)
    assert slope(1.0, np.ones(3)) == 1.0
    with pytest.raises(GlobalStateError):
        slope(1.0)


def _own(x: Any) -> Any:
    a = VECTOR
    a = a * x
    a[0] = x
    b, inner = VECTOR.copy(), np.zeros(3)

    def write(v: Any) -> Any:
        inner[1] = v  # an array of this call
        return inner[1]

    b[1] *= x
    for _ in range(2):
        b = b + VECTOR
        b[0] = write(x)
    table = dict(TABLE)
    table["n"] = x
    return np.sum(a * b) + table["n"] * inner[1]


def test_what_belongs_to_the_call_is_changed() -> None:
    before = VECTOR.copy()
    assert adc.grad(_own)(0.7) == _numeric(lambda h: _own(0.7 + h))
    assert adc.grad(first_set, 1)(VECTOR, 2.0) == 1.0  # an argument
    np.testing.assert_array_equal(VECTOR, before)


# --- super ----------------------------------------------------------------------------------------


class Grown(Model):
    def __init__(self, w: Any, level: float, rate: Any) -> None:
        super().__init__(w, level)
        self.rate = rate

    @property  # type: ignore[misc]  # without a setter
    def w(self) -> Any:
        return super().w * self.rate

    def loss(self, x: Any) -> Any:
        return np.sum(self * x) + super().__getitem__(0) * super().factor

    def other(self) -> Any:
        return super().nothing  # type: ignore[misc]  # refused


def test_super_of_an_argument() -> None:
    model = Grown(np.array([0.5, 1.5]), 0.7, 1.3)
    value, slope = adc.value_and_grad(Grown.loss)(model, 3.0)
    assert value == pytest.approx(model.loss(3.0))
    np.testing.assert_allclose(slope._w, [2 * 1.3 * 3.0 + 0.7 * 2.0, 2 * 1.3 * 3.0])
    assert slope.rate == pytest.approx(2.0 * 3.0 * 2.0)
    assert slope.level == pytest.approx(0.5 * 2.0)


def test_a_base_class_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Grown(np.array([0.5, 1.5]), 0.7, 1.3)
    gradient = adc.grad(lambda x: model.loss(x))
    assert gradient(3.0) == pytest.approx(2.0 * 2.0 * 1.3)
    monkeypatch.setattr(Model, "w", property(lambda self: self._w**2))
    assert gradient(3.0) == pytest.approx((0.25 + 2.25) * 1.3)


def test_what_super_does_not_have() -> None:
    model = Grown(np.array([0.5, 1.5]), 0.7, 1.3)
    with pytest.raises(AdcError, match="'super' object has no attribute 'nothing'"):
        adc.jit(lambda x: model.other() * x)(1.0)
    with pytest.raises(UnsupportedError, match="outside a method"):
        adc.jit(lambda x: super().w * x)(1.0)  # type: ignore[misc]  # refused
    with pytest.raises(AdcError, match="obj must be an instance"):
        adc.jit(lambda x: super(Grown, Model(x, 1.0)).w)(1.0)  # type: ignore[misc]  # refused


# --- the list for users ---------------------------------------------------------------------------

# The special methods of "Data model" in Python's language reference.
SPECIAL = """
__new__ __init__ __del__ __repr__ __str__ __bytes__ __format__ __lt__ __le__ __eq__ __ne__ __gt__
__ge__ __hash__ __bool__ __getattr__ __getattribute__ __setattr__ __delattr__ __dir__ __get__
__set__ __delete__ __set_name__ __slots__ __init_subclass__ __instancecheck__ __subclasscheck__
__class_getitem__ __call__ __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __missing__
__iter__ __next__ __reversed__ __contains__ __add__ __sub__ __mul__ __matmul__ __truediv__
__floordiv__ __mod__ __divmod__ __pow__ __lshift__ __rshift__ __and__ __xor__ __or__ __radd__
__iadd__ __neg__ __pos__ __abs__ __invert__ __complex__ __int__ __float__ __index__ __round__
__trunc__ __floor__ __ceil__ __enter__ __exit__ __match_args__ __buffer__ __await__ __aiter__
__anext__ __aenter__ __aexit__ __array__ __array_ufunc__ __array_priority__ __dict__ __class__
""".split()


def test_the_list_names_every_special_method() -> None:
    section = page().split("## Objects")[1].split("##")[0]
    assert set(SPECIAL) <= set(re.findall(r"__[a-z_]+__", section))


# -- whether a module, a class or a function has an attribute --------------------------------------

NAMESPACE: Any = types.ModuleType("namespace")
NAMESPACE.scale = 3.0


def _plain(x: Any) -> Any:
    return x * 2.0


def by_version(x: Any) -> Any:
    if hasattr(scipy.special, "no_such_function"):
        x = scipy.special.no_such_function(x)
    if hasattr(scipy.special, "softplus"):
        return scipy.special.softplus(x)
    return np.logaddexp(0.0, x)


def by_attributes(x: Any) -> Any:
    y = x * getattr(NAMESPACE, "scale", 1.0) + getattr(NAMESPACE, "shift", x * x)
    if hasattr(Model, "factor") and not hasattr(Model, "no_such_attribute"):
        y = y * 2.0
    return y * (5.0 if hasattr(_plain, "fast") else 1.0)


def test_attributes_of_modules_classes_and_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    x = 0.7
    assert adc.grad(by_version)(x) == pytest.approx(1.0 / (1.0 + np.exp(-x)), rel=1e-14)
    slope = adc.value_and_grad(by_attributes)
    assert slope(x) == (by_attributes(x), 2.0 * (3.0 + 2.0 * x))
    # What has been asked for is looked at in every call.
    monkeypatch.setattr(NAMESPACE, "shift", 4.0, raising=False)
    assert slope(x) == (by_attributes(x), 6.0)
    monkeypatch.setattr(_plain, "fast", True, raising=False)
    assert slope(x) == (by_attributes(x), 30.0)
    monkeypatch.delattr(NAMESPACE, "scale")
    assert slope(x) == (by_attributes(x), 10.0)
    assert adc.grad(by_attributes, target="python")(x) == 10.0


def test_the_gradient_of_a_namespace_is_one() -> None:
    def loss(p: Any) -> Any:
        return p.a * np.sum(p.inner.b**2) * p.n

    p = types.SimpleNamespace(a=2.0, inner=types.SimpleNamespace(b=np.array([1.0, 2.0])), n=3)
    found = adc.grad(loss, cache=False)(p)
    assert type(found) is type(found.inner) is types.SimpleNamespace
    assert (found.a, found.n) == (15.0, None)
    np.testing.assert_allclose(found.inner.b, [12.0, 24.0])
    value, moved = adc.jvp(loss, (p,), (found,))
    assert (value, moved) == (30.0, 15.0**2 + 12.0**2 + 24.0**2)
