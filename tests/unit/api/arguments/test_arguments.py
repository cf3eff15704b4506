"""Lists, dicts, named tuples, dataclasses and objects: as arguments, captured, and as results."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import adc
from adc.ir.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("own_cache")


class Layer(NamedTuple):
    w: Any
    b: Any
    kind: str = "relu"


@dataclasses.dataclass
class State:
    x: Any
    steps: int
    name: str = "state"


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


@dataclasses.dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = 2.0


class Model:
    """An object with methods, properties, and things that adc cannot read."""

    power = 2.0

    def __init__(self, w: Any, scale: float, inner: Any = None) -> None:
        self.w = w
        self.scale = scale
        self.inner = inner
        self.calls = 3
        self.label = "model"
        self.history: list[Any] = []
        self.tags = {"a", "b"}

    def predict(self, x: Any) -> Any:
        return np.tanh(self.w * x) * self.scale

    @property
    def size(self) -> Any:
        return len(self.w)

    @staticmethod
    def square(x: Any) -> Any:
        return x * x

    @classmethod
    def twice(cls, x: Any) -> Any:
        return 2.0 * x

    def loss(self, x: Any) -> Any:
        return np.sum(self.square(self.predict(x))) / self.size + self.twice(self.scale)

    def __call__(self, x: Any) -> Any:
        return self.predict(x).sum()


class Kind(enum.Enum):
    SUM = 1
    PRODUCT = 2


# --- finite differences ---------------------------------------------------------------------------


def parts(value: Any) -> list[tuple[Any, Any]] | None:
    """Return what a container holds, with its keys, independently of adc."""
    if isinstance(value, tuple | list):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, Slotted):
        return [("a", value.a), ("b", value.b)]
    if isinstance(value, State | Frozen | Model):
        return list(vars(value).items())
    return None


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all floats, single ones and elements of arrays."""
    found = parts(value)
    if found is not None:
        for key, item in found:
            yield from paths(item, (*path, key))
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        for index in np.ndindex(value.shape):
            yield (*path, index)
    elif isinstance(value, float | np.floating):
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        if parts(value) is not None:
            value = dict(parts(value) or ())[key]
        else:
            value = value[key]
    return value


def moved(value: Any, path: tuple[Any, ...], by: float) -> Any:
    """Return a container in which one float is another."""
    if not path:
        return value + by
    key, rest = path[0], path[1:]
    if isinstance(value, np.ndarray):
        value = value.copy()
        value[key] += by
        return value
    if isinstance(value, tuple):
        items = [moved(x, rest, by) if k == key else x for k, x in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    value = copy.copy(value)
    if isinstance(value, list | dict):
        value[key] = moved(value[key], rest, by)
    else:
        object.__setattr__(value, key, moved(getattr(value, key), rest, by))
    return value


def frozen(value: Any) -> Any:
    """Return a description of a value, down to the bits."""
    found = parts(value)
    if found is not None:
        return type(value), [(key, frozen(item)) for key, item in found]
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value)


def check(fn: Callable[..., Any], *args: Any, argnum: int = 0) -> Any:
    """Compare a gradient with finite differences; return it."""
    before = frozen(args)
    value, gradient = adc.value_and_grad(fn, argnum)(*args)
    assert value == pytest.approx(fn(*copy.deepcopy(args)), rel=1e-12)
    assert frozen(args) == before
    step, count = 1e-6, 0
    for path in paths(args[argnum]):
        ends = []
        for by in (step, -step):
            changed = [
                moved(arg, path, by) if k == argnum else arg
                for k, arg in enumerate(copy.deepcopy(args))
            ]
            ends.append(fn(*changed))
        slope = (ends[0] - ends[1]) / (2 * step)
        assert at(gradient, path) == pytest.approx(slope, rel=1e-5, abs=1e-7), path
        count += 1
    assert count
    same_structure(gradient, args[argnum])
    return gradient


def same_structure(gradient: Any, value: Any) -> None:
    """Floats have gradients of their type, anything else has None."""
    found = parts(value)
    if found is not None:
        assert type(gradient) is type(value)
        inner = parts(gradient)
        assert inner is not None
        assert [key for key, _ in inner] == [key for key, _ in found]
        for (_, a), (_, b) in zip(inner, found, strict=True):
            same_structure(a, b)
    elif isinstance(value, np.ndarray) and value.ndim and value.dtype.kind == "f":
        assert (gradient.shape, gradient.dtype) == (value.shape, value.dtype)
    elif isinstance(value, float | np.floating):
        assert type(gradient) is type(value)
    else:
        assert gradient is None


# --- every kind of container ----------------------------------------------------------------------


def of_list(xs: Any) -> Any:
    s = 0.0
    for x in xs:
        s += x * x
    xs.append(s)
    xs[0] = xs[0] * 3.0
    return xs[0] * xs[-1] + len(xs)


def of_dict(p: Any) -> Any:
    h = np.tanh(p["w"] * p["b"])
    total = 0.0
    for key, value in p.items():
        if key != "w":
            total += value * 2.0
    p["extra"] = total
    return h.sum() * p["extra"]


def of_constant_keys(p: Any) -> Any:
    return p[0] * p[(1, "a")] + p[None] ** 2 + p[True if False else 0]


def of_named_tuple(layer: Any) -> Any:
    w, b, kind = layer
    y = w * 2.0 + b if kind == "relu" else w
    return (y * layer.w).sum() * layer._replace(b=3.0).b


def of_state(state: Any) -> Any:
    for _ in range(3):
        state.x = state.x * 1.5
        state.steps += 1
    return state.x * state.x + state.steps


def of_frozen(p: Any) -> Any:
    return p.a * p.a * p.b[0] + p.b[1]


def of_slotted(p: Any) -> Any:
    p.a = p.a * p.b
    return p.a * p.b


def of_model(model: Any, x: Any) -> Any:
    return model.loss(x) * model.power + model(x)


def of_nested(tree: Any) -> Any:
    s = 0.0
    for layer in tree["layers"]:
        s += (layer.w * tree["scale"]).sum() + layer.b
    first, (second, third) = tree["pair"]
    return s * first + second["deep"][0] * third


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (of_list, ([1.5, -0.5, 2.0],)),
    (of_list, ([np.float64(1.5), 2, 0.5],)),
    (of_dict, ({"w": np.array([0.5, -0.25]), "b": 1.5, "n": 2},)),
    (of_dict, (collections.OrderedDict(w=np.array([0.5]), b=1.5),)),
    (of_constant_keys, ({0: 2.0, (1, "a"): 3.0, None: 0.5},)),
    (of_named_tuple, (Layer(np.array([1.0, 2.0]), 0.5),)),
    (of_named_tuple, (Layer(np.array([1.0, 2.0]), 0.5, "linear"),)),
    (of_state, (State(1.5, 2),)),
    (of_frozen, (Frozen(1.5, [2.0, 3.0]),)),
    (of_slotted, (Slotted(1.5),)),
    (of_model, (Model(np.array([0.5, -1.0, 2.0]), 1.5), 0.75)),
    (
        of_nested,
        (
            {
                "layers": [Layer(np.array([1.0, 2.0]), 0.5), Layer(np.ones((1, 2)), 1.5)],
                "scale": 2.0,
                "pair": (1.5, ({"deep": [3.0]}, 0.5)),
            },
        ),
    ),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_gradients(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(fn, *args)


def test_an_object_that_is_not_differentiated() -> None:
    model = Model(np.array([0.5, -1.0]), 1.5)
    check(of_model, model, 0.75, argnum=1)
    slope = adc.grad(of_model, 1)
    slope(model, 0.5)
    # What is not read may change in any way.
    model.history.append([1.0])
    model.label = "other"
    model.tags = {"c"}
    model.calls = -1
    model.scale, model.w = 2.5, np.array([1.0, 2.0, 3.0])
    assert slope(model, 0.5) == pytest.approx(2.0 * (
        (of_model(model, 0.5 + 1e-6) - of_model(model, 0.5 - 1e-6)) / 4e-6
    ))  # fmt: skip
    assert len(slope.signatures()) == 1
    # What is read must have the same type: other code is made if not, and kept beside the first.
    model.scale = np.float32(2.5)  # type: ignore[assignment]  # another type: the point
    for scale in (np.float32(1.0), 1.0, np.float32(2.0), 2.0):
        model.scale = scale  # type: ignore[assignment]  # as above
        slope(model, 0.5)
    assert len(slope.signatures()) == 2


def test_methods() -> None:
    model = Model(np.array([0.5, -1.0]), 1.5, inner=State(2.0, 1))
    x = np.array([0.25, 0.5])
    step = 1e-6 * np.array([1.0, 0.0])
    numeric = (model.loss(x + step) - model.loss(x - step)) / 2e-6
    assert adc.grad(model.loss)(x)[0] == pytest.approx(numeric)
    gradient = adc.grad(Model.loss)(model, x)
    assert type(gradient) is Model
    assert gradient.inner.x == 0.0
    assert gradient.calls is None
    assert gradient.label is None

    def apply(fn: Any, x: Any) -> Any:
        return fn(x)

    slope = adc.grad(apply, 1)
    assert slope(model.loss, x)[0] == pytest.approx(numeric)
    model.scale = 3.0
    assert slope(model.loss, x)[0] == pytest.approx(adc.grad(model.loss)(x)[0])
    assert slope.cache_info()["hits"] == 1
    of_method = adc.grad(apply)(model.loss, x)
    assert of_method.scale == adc.grad(Model.loss)(model, x).scale


def test_keyword_arguments() -> None:
    def fn(x: Any, *rest: Any, **options: Any) -> Any:
        s = x * options["scale"]
        for item in rest:
            s += item["a"] * x
        return s if options["mode"] == "sum" else -s

    assert adc.grad(fn)(2.0, {"a": 3.0}, scale=4.0, mode="sum") == 7.0
    assert adc.grad(fn)(2.0, {"a": 3.0}, scale=5, mode="difference") == -8.0
    assert adc.grad(fn, -1)(2.0, {"a": 3}, {"a": 3.0}, scale=5, mode="x") == {"a": -2.0}
    assert adc.grad(fn, (0, 1))(2.0, {"a": 3.0}, scale=4.0, mode="sum") == (7.0, {"a": 2.0})


def of_long_list(xs: Any, by: Any) -> Any:
    s = 0.0
    for i in range(1, len(xs)):
        xs[i] = xs[i] * by + xs[i - 1]
        s += xs[i] * xs[i - 1]
    for x in xs:
        s += x
    xs.append(s)
    return xs[-1] * xs[0] + np.array(xs)[-2]


def test_long_lists_of_numbers() -> None:
    xs = [0.01 * k for k in range(40)]
    check(of_long_list, xs, 0.5)
    check(of_long_list, xs, 0.5, argnum=1)
    slope = adc.grad(of_long_list)
    slope(xs, 0.5)
    slope(xs * 2, 0.5)
    assert slope.signatures() == ["of_long_list(xs: list[float], by: float)"]
    value, along = adc.jvp(of_long_list, (xs, 0.5), ([1.0] * 40, None))
    assert value == pytest.approx(of_long_list(list(xs), 0.5))
    assert along == pytest.approx(sum(slope(xs, 0.5)))
    with pytest.raises(ArgumentError, match="must be a list"):
        adc.jvp(of_long_list, (xs, 0.5), (np.ones(40), None))
    with pytest.raises(ArgumentError, match=r"shape \(3,\), but the argument has shape \(40,\)"):
        adc.jvp(of_long_list, (xs, 0.5), ([1.0] * 3, None))

    def gathered(x: Any, p: Any) -> Any:
        s = 0.0
        for k in p["index"]:
            s += x[k] * xs[k]
        p["index"][0] = 0.5
        return s, (p, xs)

    index = list(range(39, -1, -1))
    gradient, (p, again) = adc.grad(gathered, has_aux=True)(np.ones(40), {"index": index})
    np.testing.assert_allclose(gradient, xs)
    assert again == xs
    assert p["index"] == [0.5, *index[1:]]
    assert index[0] == 39
    xs[3] = 7.0
    assert adc.grad(gathered, has_aux=True)(np.ones(40), {"index": index})[0][3] == 7.0


# --- what is static -------------------------------------------------------------------------------


def by_flag(x: Any, flag: bool) -> Any:
    y: Any
    if flag:
        y = [x, 2.0 * x]
    else:
        y = x
    return y[1] if flag else y * y


def test_flags_are_part_of_the_program() -> None:
    slope = adc.grad(by_flag)
    assert slope(3.0, True) == 2.0
    assert slope(3.0, False) == 6.0
    assert len(slope.signatures()) == 2
    assert slope.signatures()[0] == "by_flag(x: float, flag: True)"
    # NumPy's are numbers, which become part of it where they decide between kinds of values.
    for flag in (np.True_, np.False_):
        assert slope(3.0, flag) == slope(3.0, bool(flag))
    assert len(slope.signatures()) == 4


def by_kind(p: Any) -> Any:
    y = p["x"] if p["kind"] == Kind.SUM else p["x"] * p["x"]
    if p["mask"] is None:
        y = 2.0 * y
    return p["fn"](y) if p["on"] else y


@pytest.mark.full
def test_what_decides_is_part_of_the_key() -> None:
    slope = adc.grad(by_kind)
    for kind in Kind:
        for mask in (None, 0.0):
            for fn in (np.sin, np.cos):
                for on in (True, False):
                    p = {"x": 0.5, "kind": kind, "mask": mask, "fn": fn, "on": on}
                    ends = [by_kind(p | {"x": 0.5 + h}) for h in (1e-6, -1e-6)]
                    found = slope(p)
                    assert found["x"] == pytest.approx((ends[0] - ends[1]) / 2e-6)
                    assert found["fn"] is found["on"] is found["kind"] is None
    assert len(slope.signatures()) == 16


def test_lengths_and_keys_are_part_of_the_key() -> None:
    slope = adc.grad(of_list)
    assert len(slope([1.0])) == 1
    assert len(slope([1.0, 2.0])) == 2
    assert len(slope([3.0, 4.0])) == 2
    assert len(slope.signatures()) == 2
    with pytest.raises(KeyError):
        adc.grad(of_dict)({"w": np.ones(2)})


def test_numbers_in_containers_are_no_part_of_the_key() -> None:
    slope = adc.grad(of_state)
    assert [slope(State(x, n)).x for x, n in ((1.0, 1), (2.0, 5))] == [
        pytest.approx(2 * 1.5**6), pytest.approx(4 * 1.5**6),
    ]  # fmt: skip
    assert slope.cache_info()["hits"] == len(slope.signatures()) == 1


def test_signatures_are_readable() -> None:
    def fn(a: Any, b: Any, c: Any, x: Any) -> Any:
        return x

    slope = adc.grad(fn, 3)
    slope({"w": np.ones((1, 3))}, [1.0, (2,)], Frozen(1.0, None), 1.0)
    slope(Layer(1, 2.0), Model(1.0, 2.0), np.float32(1), 1.0)
    assert slope.signatures() == [
        "fn(a: {'w': f64[1, :]}, b: [float, (int,)], c: Frozen(a=float, b=None), x: float)",
        "fn(a: Layer(w=int, b=float, kind='relu'), b: Model, c: f32, x: float)",
    ]


# --- tangents -------------------------------------------------------------------------------------


@pytest.mark.full
def test_directions() -> None:
    p: dict[str, Any] = {"w": np.array([0.5, -0.25]), "b": 1.5, "n": 2}
    v: dict[str, Any] = {"n": None, "b": -0.5, "w": np.array([1.0, 2.0])}
    _, slope = adc.jvp(of_dict, (p,), (v,))
    gradient = adc.grad(of_dict)(p)
    assert slope == pytest.approx(gradient["b"] * -0.5 + gradient["w"] @ v["w"])
    found = adc.hvp(of_dict, (p,), (v,))
    step = 1e-6
    ends = [
        adc.grad(of_dict)({"w": p["w"] + h * v["w"], "b": p["b"] + h * v["b"], "n": 2})
        for h in (step, -step)
    ]
    np.testing.assert_allclose(found["w"], (ends[0]["w"] - ends[1]["w"]) / (2 * step), rtol=1e-6)
    assert found["n"] is None
    state = State(1.5, 2)
    _, slope = adc.jvp(of_state, (state,), (State(2.0, 0),))
    assert slope == pytest.approx(2.0 * adc.grad(of_state)(state).x)
    model = Model(np.ones(2), 1.5)
    _, slope = adc.jvp(of_model, (model, 0.5), (adc.grad(of_model)(model, 0.5), None))
    assert slope > 0.0


@pytest.mark.parametrize(
    ("argument", "tangent", "message"),
    [
        ([1.0, 2.0], [1.0], "must be a list of 2"),
        ([1.0, 2.0], (1.0, 2.0), "must be a list of 2"),
        ({"a": 1.0}, {"b": 1.0}, "must be a dict with 'a'"),
        (State(1.0, 2), 1.0, "must be a State with 'x', 'steps', 'name'"),
        ([1.0, 2.0], [1.0, None], "not real numbers"),
    ],
)
def test_tangents_are_checked(argument: Any, tangent: Any, message: str) -> None:
    def fn(p: Any) -> Any:
        return 1.0

    with pytest.raises(ArgumentError, match=message):
        adc.jvp(fn, (argument,), (tangent,))


# --- results --------------------------------------------------------------------------------------


def test_results() -> None:
    def fn(x: Any, p: Any) -> Any:
        rows = np.outer(x, x)
        p["new"] = x[0]
        shared = [1, x[1]]
        grown = []
        for i in range(len(x)):
            grown.append(x[i] * 2.0)
        aux = {
            "row": rows[0],
            "transposed": rows.T,
            "every": x[::2],
            "list": [x.sum(), "text", None],
            "state": State(x[0], 3),
            "frozen": Frozen(x, x[1:]),
            "layer": Layer(x * 2.0, 1.0),
            "given": p,
            "twice": (shared, shared),
            "grown": grown,
            "flag": True,
        }
        return x @ x, aux

    x = np.array([1.0, 2.0, 4.0])
    p: Any = {"k": 3, "nested": [1.0, np.ones(2)]}
    expected = fn(x.copy(), copy.deepcopy(p))
    gradient, aux = adc.grad(fn, has_aux=True)(x, p)
    np.testing.assert_allclose(gradient, 2 * x)
    assert repr(aux) == repr(expected[1])
    assert aux["twice"][0] is aux["twice"][1]
    assert "new" not in p
    for key in ("row", "transposed", "every"):
        assert not np.shares_memory(aux[key], x)
    aux["given"]["nested"][1][0] = 7.0
    np.testing.assert_array_equal(p["nested"][1], 1.0)


def test_an_object_can_be_returned() -> None:
    def fn(model: Any, x: Any) -> Any:
        model.scale = model.scale * x
        return model.scale, model

    slope = adc.grad(fn, 1, has_aux=True)
    state = Model(np.ones(2), 2.0)
    gradient, aux = slope(state, 3.0)
    assert gradient == 2.0
    assert type(aux) is Model
    assert (aux.scale, aux.label, state.scale) == (6.0, "model", 2.0)
    # Returned, all of it is part of the program.
    state.label = "other"
    assert slope(state, 3.0)[1].label == "other"
    assert slope(state, 3.0)[1].tags is state.tags


# --- arrays ---------------------------------------------------------------------------------------


def test_arrays_without_axes_are_numbers() -> None:
    def fn(x: Any, p: Any) -> Any:
        return x * p["a"] ** 2

    for dtype in (np.float64, np.float32):
        x, a = np.array(2.0, dtype), np.array(3.0)
        gradient, of_p = adc.grad(fn, (0, 1))(x, {"a": a})
        assert (type(gradient), gradient) == (dtype, 9.0)
        assert (type(of_p["a"]), of_p["a"]) == (np.float64, 12.0)
    shift = np.array(2.0)
    slope = adc.grad(lambda x: x * shift)
    assert slope(1.0) == 2.0
    shift[()] = 3.0
    assert slope(1.0) == 3.0
    assert slope.cache_info()["hits"] == 1


@pytest.mark.full
def test_axes_of_size_one() -> None:
    def fn(a: Any, b: Any) -> Any:
        return (a * b).sum()

    slope = adc.grad(fn, (0, 1))
    shapes = [((3, 1), (3, 4)), ((3, 4), (3, 4)), ((2, 5), (2, 5)), ((1, 4), (3, 1)), ((1,), (5,))]
    rng = np.random.default_rng(0)
    for first, second in shapes:
        a, b = rng.random(first), rng.random(second)
        of_a, of_b = slope(a, b)
        whole = np.broadcast_shapes(first, second)
        wide_a, wide_b = np.broadcast_to(a, whole), np.broadcast_to(b, whole)
        for gradient, other, shape in ((of_a, wide_b, first), (of_b, wide_a, second)):
            axes = tuple(k for k, n in enumerate(shape) if n == 1 and whole[k] != 1)
            np.testing.assert_allclose(gradient, other.sum(axis=axes, keepdims=True).reshape(shape))
    assert slope.signatures() == [
        "fn(a: f64[:, 1], b: f64[:, :])",
        "fn(a: f64[:, :], b: f64[:, :])",
        "fn(a: f64[1, :], b: f64[:, 1])",
        "fn(a: f64[1], b: f64[:])",
    ]


@pytest.mark.full
def test_captured_axes_of_size_one() -> None:
    w = np.ones((3, 1))
    slope = adc.grad(lambda x: (x * w).sum())
    np.testing.assert_array_equal(slope(np.ones((3, 2))), np.ones((3, 2)))
    w = np.full((3, 2), 2.0)
    np.testing.assert_array_equal(slope(np.ones((3, 2))), w)
    w = np.full((1, 2), 3.0)
    np.testing.assert_array_equal(slope(np.ones((3, 2))), np.full((3, 2), 3.0))


class _Fresh:
    """Has any attribute, which is a new function each time that it is read."""

    def __getattr__(self, name: str) -> Callable[[float], float]:
        def double(v: float) -> float:
            return v * 2.0

        return double


def test_objects_that_are_made_anew_when_they_are_read() -> None:
    # A bound method of a ufunc is equal to the one that the code was made with.
    slope = adc.grad(lambda x: np.add.reduce(x * x))
    for _ in range(2):
        np.testing.assert_array_equal(slope(np.arange(3.0)), 2.0 * np.arange(3.0))
    assert slope.cache_info()["compiled"] == 1

    # So is what a method of the program makes: it is made where it is read.
    made = _Fresh()
    assert adc.grad(lambda x: made.twice(x), target="python")(1.0) == 2.0
