"""What a function changes outside of itself: objects, dicts, lists, arrays and variables."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import GlobalStateError, OverlapError
from tests.unit.frontend import module_state

X = np.array([1.0, 2.0])
Y = np.array([3.0, 4.0])
# A function, and what shows the state that it changes.
Program = tuple[Callable[..., Any], Callable[[], Any]]


# --- programs -------------------------------------------------------------------------------------


class Dense:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.x: Any = None
        self.y: Any = None

    def forward(self, x: Any) -> Any:
        self.x = x
        self.y = np.tanh(self.w @ x)
        return self.y


class Network:
    """Layers that keep what they have seen, as those with a backward pass by hand do."""

    def __init__(self) -> None:
        self.layers = [Dense(np.eye(2) * (k + 1.0)) for k in range(3)]
        self.calls = 0
        self.cache: Any = ()

    def loss(self, x: Any) -> Any:
        self.calls += 1
        z = x
        for layer in self.layers:
            z = layer.forward(z)
        self.cache = (x, z)
        return np.sum(z**2)


def layers() -> Program:
    net = Network()

    def state() -> Any:
        return net.calls, net.cache, [(each.x, each.y) for each in net.layers]

    return net.loss, state


def history() -> Program:
    seen: list[Any] = []
    kept: dict[str, Any] = {"loss": [], "calls": 0, "marks": []}
    marks: list[str] = ["first"]
    counts = collections.Counter({"large": 0, "all": 0})

    def fn(x: Any) -> Any:
        loss = np.sum(x**2)
        for k in range(3):
            if k != 1:
                seen.append(loss * k)
            marks.append("large" if x[0] > 2.0 else "small")
            kept["marks"].append(None)
        kept["loss"].append((loss, x.copy()))
        kept["loss"].extend([1.0, "end"])
        kept["calls"] += 1
        counts["large"] += int(x[0] > 2.0)
        counts["all"] += 1
        return loss

    return fn, lambda: (seen, kept, marks, dict(counts))


def default_dicts() -> Program:
    """Keys that a function asks for are there after it."""
    seen = collections.defaultdict[str, Any](list, {"first": [0.5]})
    counts = collections.defaultdict[str, int](int)
    sums = collections.defaultdict(float, {"x": 0.5})
    model = types.SimpleNamespace(kept=collections.defaultdict(list))

    def fn(x: Any) -> Any:
        counts["all"] += 1
        counts["large"] += int(x[0] > 2.0)
        sums["x"] += x[0]
        sums["y"] += x[1]
        seen["loss"].append(sums["x"])
        model.kept["x"].append(x.copy())
        return np.sum(x) * sums["y"] + sums["none"] + sums.get("absent", 2.0) + len(counts)

    def state() -> Any:
        held: list[Any] = [seen, counts, sums, model.kept]
        return [dict(each) for each in held], [each.default_factory for each in held]

    return fn, state


def best() -> Program:
    found = {"loss": np.inf, "x": None}

    def fn(x: Any) -> Any:
        loss = np.sum((x - 1.5) ** 2)
        if loss < found["loss"]:
            found["loss"] = loss
            found["x"] = x.copy()
        return loss

    return fn, lambda: found


class Mean:
    def __init__(self) -> None:
        self.mean = np.zeros(2)
        self.buffer = np.zeros(2)
        self.t = 0

    def update(self, x: Any) -> None:
        self.t += 1
        self.mean = 0.9 * self.mean + 0.1 * x
        self.buffer[:] = x
        self.buffer[0] *= self.t

    def loss(self, x: Any) -> Any:
        for _ in range(3):
            self.update(x)
        return np.sum((x - self.mean) ** 2) / self.t + np.sum(self.buffer * x)


def running_mean() -> Program:
    model = Mean()
    return model.loss, lambda: (model.mean, model.buffer, model.t)


def other_attributes() -> Program:
    model = types.SimpleNamespace(mode="a", flag=False, inner=types.SimpleNamespace(n=1))

    def fn(x: Any) -> Any:
        model.mode, model.flag = "b", True
        model.inner.n += 2
        model.made = {"x": x * 2.0, "list": [np.sum(x), None]}
        return np.sum(x**2)

    return fn, lambda: (model.mode, model.flag, model.inner.n, getattr(model, "made", None))


def items_of_lists() -> Program:
    state: list[Any] = [0, [1.0, 2.0], {"a": 1}]

    def fn(x: Any) -> Any:
        state[0] += 1
        state[1][0] += np.sum(x)
        state[2]["a"] += 1
        state[2]["b"] = x.copy()
        return np.sum(x**2) * state[1][0]

    return fn, lambda: state


def sets() -> Program:
    seen, model = {"start"}, types.SimpleNamespace(names=set[Any]())

    def fn(x: Any) -> Any:
        found = 0.0
        for name in ("a", "b", "a"):
            if name not in seen or x[0] > 2.0:
                seen.add(name)
                found = found + x[0] * len(seen)
        if x[1] > 3.0:
            model.names |= {1, 2.5}
        return found + len(model.names) * np.sum(x)

    return fn, lambda: (seen, model.names)


def exits() -> Program:
    """Every way out of a loop and a function keeps what was changed before it."""
    model = types.SimpleNamespace(k=0, a=None)

    def fn(x: Any) -> Any:
        for k in range(4):
            if x[0] * k > 5.0:
                break
            model.k += 1
            model.a = x * k
        else:
            model.k = -1
        try:
            model.k += 100
            if x[1] > 3.0:
                raise ValueError("large")
        except ValueError:
            model.k += 1000
            return np.sum(x) * model.k
        finally:
            model.k += 10_000
        model.a = None
        return np.sum(x**2)

    return fn, lambda: (model.k, model.a)


def variable_around() -> Program:
    calls, last = 0, None

    def fn(x: Any) -> Any:
        nonlocal calls, last
        calls += 1
        if x[0] > 2.0:
            return np.sum(x) * calls
        last = x * calls
        return np.sum(x**2)

    return fn, lambda: (calls, last)


def variables_of_a_module() -> Program:
    module = types.ModuleType("state")
    with open(module_state.__file__ or "") as file:  # once for each: it is changed
        exec(compile(file.read(), module_state.__file__ or "", "exec"), vars(module))
    return module.loss, lambda: (module.calls, module.total, module.weights)


@dataclass
class Stats:
    count: int = 0
    items: dict[str, Any] = field(default_factory=dict)

    def note(self, name: str, value: Any) -> None:
        self.count += 1
        self.items[name] = value


def statistics() -> Program:
    stats = Stats()

    def fn(x: Any) -> Any:
        y = np.exp(x)
        stats.note("y", y)
        for k in range(2):
            stats.note("z", y[k])
        return np.sum(y)

    return fn, lambda: stats


class Inverse:
    def __init__(self) -> None:
        self.a = 2.0 * np.eye(2)

    @functools.cached_property
    def inverse(self) -> Any:
        return np.linalg.inv(self.a)

    @property
    def scale(self) -> Any:
        return self.a[0, 0]

    @scale.setter
    def scale(self, value: Any) -> None:
        self.a[0, 0] = value

    def loss(self, x: Any) -> Any:
        found = np.sum((self.inverse @ x) ** 2)
        self.scale = found
        return found


def properties() -> Program:
    model = Inverse()
    return model.loss, lambda: vars(model)


def complex_arrays() -> Program:
    held = types.SimpleNamespace(z=np.zeros(2, complex), w=1j)

    def fn(x: Any) -> Any:
        held.z[0] += x[0] * 1j
        held.w = held.w * 2.0 + x[1]
        return np.sum(np.abs(held.z) ** 2) + np.sum(x)

    return fn, lambda: (held.z, held.w)


def on_some_paths() -> Program:
    model, table = types.SimpleNamespace(), dict[str, Any](a=1.0)

    def fn(x: Any) -> Any:
        if x[0] > 2.0:
            model.large = x * 2.0
            table["large"] = model.large[0]
        for k in range(3):
            if x[1] > 1.5 + k:
                model.last = k
                table["last"] = None
        return np.sum(x)

    return fn, lambda: (vars(model), table)


def one_array_at_two_places() -> Program:
    model, kept = types.SimpleNamespace(first=np.zeros(2), last=None, table={}), list[Any]()

    def fn(x: Any) -> Any:
        y = 2.0 * x
        model.first, model.last = y, {"y": y, "list": [y]}
        model.table["first"] = y
        kept.append(y)
        y[1] = x[0]
        return np.sum(y)

    def state() -> Any:
        last = model.last or {"y": None, "list": [None]}
        others = (last["y"], last["list"][0], model.table.get("first"), *kept[-1:])
        return model.first, [model.first is each for each in others]

    return fn, state


def draws() -> Program:
    model = types.SimpleNamespace(rng=np.random.default_rng(0), mask=None)

    def fn(x: Any) -> Any:
        model.mask = model.rng.random(2) < 0.5
        return np.sum(np.where(model.mask, x, 0.0) ** 2)

    return fn, lambda: (model.mask, model.rng.bit_generator.state["state"]["state"])


PROGRAMS = (
    layers, history, default_dicts, best, sets, running_mean, other_attributes, items_of_lists,
    exits, variable_around,
    variables_of_a_module, statistics, properties, complex_arrays, on_some_paths,
    one_array_at_two_places, draws,
)  # fmt: skip


def assert_same(a: Any, b: Any) -> None:
    """Assert that two states are equal, with types, dtypes and shapes."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-14)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key, value in a.items():
            assert_same(value, b[key])
    elif isinstance(a, Stats):
        assert_same(vars(a), vars(b))
    elif isinstance(a, float | complex | np.inexact):
        assert a == pytest.approx(b, rel=1e-14)
    else:
        assert a == b


def check(make: Callable[[], Program], transform: Callable[..., Any]) -> None:
    """Compare state and values after each of several calls with those in Python."""
    fn, state = make()
    other, found = make()
    compiled = transform(other)
    for x in (X, X, Y, X):
        expected, value = fn(x), compiled(x)
        assert_same(state(), found())
        np.testing.assert_allclose(value[0] if isinstance(value, tuple) else value, expected)


@pytest.mark.parametrize("make", PROGRAMS)
def test_calls_change_what_lies_outside(make: Callable[[], Program]) -> None:
    check(make, functools.partial(adc.jit, target="python"))


@pytest.mark.full
@pytest.mark.parametrize("make", PROGRAMS)
def test_so_do_derivatives(make: Callable[[], Program]) -> None:
    check(make, adc.value_and_grad)


def test_derivatives_are_those_of_the_state_before() -> None:
    model = Mean()
    slope = adc.grad(model.loss)
    for x in (X, Y):
        was = Mean()
        was.mean, was.buffer, was.t = model.mean.copy(), model.buffer.copy(), model.t

        def at(x: Any, was: Mean = was) -> Any:
            now = Mean()
            now.mean, now.buffer, now.t = was.mean.copy(), was.buffer.copy(), was.t
            return now.loss(x)

        h = 1e-6
        differences = [(at(x + h * e) - at(x - h * e)) / (2.0 * h) for e in np.eye(2)]
        np.testing.assert_allclose(slope(x), differences, rtol=1e-7)
    assert model.t == 6


def test_code_is_made_once() -> None:
    fn, state = history()
    value = adc.jit(fn, target="python")
    for _ in range(5):
        value(X)
    assert value.cache_info()["compiled"] == 1
    assert len(state()[0]) == 10


def test_members_of_sets_are_part_of_the_program() -> None:
    held: set[Any] = {"a"}

    def fn(p: Any) -> Any:
        return sum((v for name, v in p["w"].items() if name not in p["frozen"] | held), start=0.0)

    slope = adc.grad(fn, target="python")
    weights = {"a": 1.0, "b": 2.0, 1: 3.0}
    for frozen in ({"b"}, set(), {True}, {"a", 1.5}):
        free = [float(name not in frozen | held) for name in weights]
        found = slope({"w": weights, "frozen": frozen})
        assert found == {"w": dict(zip(weights, free, strict=True)), "frozen": None}
    held.add("b")
    assert slope({"w": weights, "frozen": set()})["w"] == {"a": 0.0, "b": 0.0, 1: 1.0}


def test_default_dicts_are_arguments() -> None:
    def fn(x: Any, p: Any) -> Any:
        return p["w"] @ x + p["b"] * p["none"] + 3.0 * p["b"]

    slope = adc.grad(fn, 1, target="python")
    for factory, value in ((float, 0.0), (int, 0), (None, None)):
        given = collections.defaultdict(factory, {"w": Y, "b": 0.5})
        if value is None:
            with pytest.raises(KeyError, match="none"):
                slope(X, given)
            given["none"] = 2.0
        found = slope(X, given)
        assert found.default_factory is factory
        np.testing.assert_array_equal(found.pop("w"), X)
        assert dict(found) == ({"b": 3.0} if value is not None else {"b": 5.0, "none": 0.5})
        assert len(given) == (2 if value is not None else 3)
    with pytest.raises(adc.AdcError, match="is a defaultdict"):
        slope(X, collections.defaultdict(lambda: 1.0, {"w": Y, "b": 0.5}))
    tangent = collections.defaultdict(int, {"w": X, "b": 1.0})
    given = collections.defaultdict(int, {"w": Y, "b": 0.5})
    assert adc.jvp(fn, (X, given), (Y, tangent), target="python")[1] == Y @ Y + X @ X + 3.0


# --- identity -------------------------------------------------------------------------------------


def test_what_was_not_made_by_the_function_is_put_there_itself() -> None:
    model = types.SimpleNamespace(x=None, buffer=np.zeros(2), pair=None)

    def fn(x: Any) -> Any:
        model.buffer += x
        model.x = x
        model.pair = (x, model.buffer)
        return np.sum(model.buffer * x)

    buffer, x = model.buffer, X.copy()
    adc.grad(fn)(x)
    assert model.buffer is buffer
    assert model.x is x
    assert model.pair[0] is x
    assert model.pair[1] is buffer
    np.testing.assert_array_equal(buffer, x)


def test_a_call_that_raises_changes_nothing() -> None:
    model = types.SimpleNamespace(calls=0, seen=[])

    def fn(x: Any) -> Any:
        model.calls += 1
        model.seen.append(x[0])
        if x[0] > 2.0:
            raise ValueError("too large")
        return np.sum(x)

    slope = adc.jit(fn, target="python")
    slope(X)
    with pytest.raises(ValueError, match="too large"):
        slope(Y)
    assert (model.calls, len(model.seen)) == (1, 1)


@pytest.mark.full
def test_views_of_calls_change_nothing() -> None:
    model = Mean()
    slope = adc.grad(model.loss)
    slope.view(X)
    slope.profile(X, seconds=0.01)
    assert model.t == 0
    slope(X)
    assert model.t == 3


# --- refused --------------------------------------------------------------------------------------


def _refused() -> dict[str, tuple[Callable[..., Any], str]]:
    seen: list[Any] = []
    inner, table = types.SimpleNamespace(b=1.0), {"k": 1.0, "l": 2.0}
    model = types.SimpleNamespace(a=1.0, inner=inner, table=table, array=np.ones(2), other=X + 1.0)
    new = 0.0
    del new

    def reads_a_list(x: Any) -> Any:
        seen.append(x)
        return x * len(seen)

    def takes_out(x: Any) -> Any:
        del model.table["k"]
        return x

    def shares(x: Any) -> Any:
        model.other = model.inner
        return x

    def appends_what_is_shared(x: Any) -> Any:
        seen.append(model.inner)
        return x

    def keeps_a_view(x: Any, v: Any = X) -> Any:
        model.other = v[1:]
        return x

    def may_be_one(x: Any) -> Any:
        y = x * X
        model.a, model.other = y, y if x > 1.0 else x + X
        return x

    def may_be_what_is_there(x: Any) -> Any:
        if x > 1.0:
            model.other = model.array
        return x

    def may_be_one_list(x: Any) -> Any:
        first, second = [x, 1.0], [x, 2.0]
        model.a, model.other = first, first if x > 1.0 else second
        return x

    def views_of_one(x: Any) -> Any:
        y = x * X
        seen.append(y[0:1])
        model.a = y
        return x

    def complex_at_two_places(x: Any) -> Any:
        model.a = model.other = x * 1j * X
        return x

    def another_order(x: Any) -> Any:
        model.table["k"] = model.table.pop("k") + x
        return x

    def on_some_paths(x: Any) -> Any:
        nonlocal new
        if x > 1.0:
            new = x
        return x

    def recursive(k: int) -> Any:
        return model.a if k == 0 else 0.5 * recursive(k - 1)

    def read_by_recursion(x: Any) -> Any:
        model.a = x
        return x * recursive(3)

    def in_a_derivative(x: Any) -> Any:
        def inner(y: Any) -> Any:
            model.a = y
            return y * y

        return adc.grad(inner)(x)

    return {
        name: (fn, message)
        for fn, name, message in (
            (reads_a_list, "list", "a list outside the function, `seen`, is appended to, and read"),
            (takes_out, "key", "`model.table`, would hold less"),
            (shares, "shared", "a SimpleNamespace that others refer to"),
            (appends_what_is_shared, "appended", "would hold a SimpleNamespace that others refer"),
            (keeps_a_view, "view", "would hold a view of what others refer to"),
            (may_be_one, "one", "`model.other`, would hold what may have other names outside"),
            (may_be_what_is_there, "there", "`model.other`, would hold what may have other names"),
            (may_be_one_list, "one list", "would hold what may have other names outside"),
            (views_of_one, "views", "would hold what may have other names outside"),
            (complex_at_two_places, "complex", "would hold what may have other names outside"),
            (another_order, "order", "`model.table`, would have its keys in another order"),
            (on_some_paths, "paths", "`new`, would be assigned on some paths only"),
            (read_by_recursion, "recursion", "and recursive or differentiated functions read it"),
            (in_a_derivative, "derivative", "would be changed"),
        )
    }


@pytest.mark.parametrize("name", _refused())
def test_refused(name: str) -> None:
    fn, message = _refused()[name]
    with pytest.raises(adc.AdcError, match=message):
        adc.jit(fn, target="python")(1.5)


@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "hessian", "vmap"])
def test_only_what_runs_the_function_once_changes_anything(transform: str) -> None:
    model = types.SimpleNamespace(calls=0)

    def fn(x: Any) -> Any:
        model.calls += 1
        return np.sum(x**2)

    with pytest.raises(GlobalStateError, match="would be changed"):
        getattr(adc, transform)(fn)(X)
    with pytest.raises(GlobalStateError, match="would be changed"):
        adc.jvp(fn, (X,), (Y,))
    assert model.calls == 0


def test_two_names_for_what_is_changed() -> None:
    model = types.SimpleNamespace(a=1.0)
    same = model
    count = 0

    def by_two_names(x: Any) -> Any:
        model.a = np.sum(x)
        return same.a * np.sum(x)

    def reads(x: Any) -> Any:
        return x * count

    def in_two_functions(x: Any) -> Any:
        nonlocal count
        count += 1
        return np.sum(reads(x))

    with pytest.raises(OverlapError, match="which it reads under another name"):
        adc.jit(by_two_names, target="python")(X)
    assert model.a == 1.0
    assert adc.jit(in_two_functions, target="python")(X) == 3.0
    assert count == 1
