"""Calls like the last one are read by generated code: it takes nothing for what it is not.

Every test warms a derivative up, until it has such code, then changes something. The outcome is
that of a derivative that is called for the first time.
"""

import types
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.runtime import layouts
from adc.compiler.compiled import _near
from adc.ir.types import Array

Layer = namedtuple("Layer", "w b")  # as programs have it
Other = namedtuple("Other", "w b")


@dataclass
class Block:
    w: Any
    b: Any


class Free:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


class Narrow:
    __slots__ = ("b", "w")

    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


class Mine(np.ndarray[Any, Any]):
    pass


SCALE: Any = 2.0
SHIFT: Any = np.array([0.5, -1.0, 2.0])


def _helper(x: Any) -> Any:
    return x * x


def by_attribute(p: Any, x: Any) -> Any:
    total = 0.0
    for layer in p:
        total = total + np.sum(_helper(layer.w * x) + layer.b * SHIFT) * SCALE
    return total


def by_key(p: Any, x: Any) -> Any:
    total = 0.0
    for layer in p:
        total = total + np.sum(np.tanh(layer["w"] * x)) * layer["b"]
    return total


def plain(a: Any, x: Any) -> Any:
    return np.sum(a * a) * x


def number(a: Any) -> Any:
    return a * a / 2


def optional(a: Any, x: Any) -> Any:
    return a * x if x is not None else a * a * a


def array() -> Any:
    return np.array([1.0, 2.0, -0.5])


def outcome(derivative: Callable[..., Any], *args: Any) -> str:
    """Return a text of what a call returns or raises, types included."""
    try:
        return described(derivative(*args))
    except Exception as error:  # whatever it is: both ways must raise the same
        return f"{type(error).__name__}: {error}"


def described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__} {value.dtype} {value.shape} {value.tolist()}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} {[described(item) for item in value]}"
    if isinstance(value, dict):
        return f"{type(value).__name__} {[(key, described(value[key])) for key in value]}"
    if hasattr(value, "__dict__"):
        return f"{type(value).__name__} {described(vars(value))}"
    if isinstance(value, Narrow):
        return f"Narrow {described((value.w, value.b))}"
    return f"{type(value).__name__} {value!r}"


def warmed(derivative: Any, *args: Any) -> Any:
    """Return a derivative that has been called so often that it reads such arguments faster."""
    first = outcome(derivative, *args)
    for _ in range(3):
        assert outcome(derivative, *args) == first
    assert derivative._code.last._read is not None
    assert derivative._code.last.again(derivative._code.match(args, {})) is not None
    return derivative


def agrees(transform: Any, fn: Any, usual: tuple[Any, ...], others: list[tuple[Any, ...]]) -> None:
    """Check that a warm derivative does with other arguments what a new one does, in any order."""
    warm = warmed(transform(fn), *usual)
    for args in (*others, usual, *reversed(others)):
        assert outcome(warm, *args) == outcome(transform(fn), *args)


MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "named tuple": Layer, "dataclass": Block, "object": Free, "slots": Narrow,
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("transform", [adc.value_and_grad, adc.jit])
def test_containers_with_attributes(make: Any, transform: Any) -> None:
    def model(*pairs: Any, made: Any = make) -> list[Any]:
        return [made(w, b) for w, b in pairs]

    usual = model((array(), 2.0), (array(), 3.0))
    agrees(transform, by_attribute, (usual, array()), [
        (model((array(), 2.0)), array()),
        (model((array(), 2), (array(), 3.0)), array()),
        (model((array().astype("f4"), 2.0), (array(), 3.0)), array()),
        (model((array(), 2.0), (array(), None)), array()),
        ([usual[0], Other(array(), 1.0)], array()),
        (tuple(usual), array()),
    ])  # fmt: skip


@pytest.mark.full
def test_an_attribute_more_or_less() -> None:
    model = [Free(array(), 2.0)]
    warm = warmed(adc.grad(by_attribute), model, array())
    model[0].more = 3.0  # type: ignore[attr-defined]  # not declared: that is the point
    assert outcome(warm, model, array()) == outcome(adc.grad(by_attribute), model, array())
    assert "more" in outcome(warm, model, array())
    del model[0].more, model[0].b  # type: ignore[attr-defined]  # see above
    assert outcome(warm, model, array()) == outcome(adc.grad(by_attribute), model, array())


@pytest.mark.full
def test_dicts() -> None:
    def layer(**more: Any) -> dict[Any, Any]:
        return {"w": array(), "b": 2.0, **more}

    turned = {"b": 2.0, "w": array()}
    agrees(adc.grad, by_key, ([layer(), layer()], array()), [
        ([layer(), turned], array()),
        ([layer(), layer(more=1.0)], array()),
        ([layer(), OrderedDict(layer())], array()),
        ([layer(), {"w": array()}], array()),
        ([layer(), {np.str_("w"): array(), "b": 2.0}], array()),
        ([layer(), {"".join(["", "w"]): array(), "b": np.float64(2.0)}], array()),
        ([layer(), layer(b=np.array(2.0))], array()),
    ])  # fmt: skip


def _misaligned() -> Any:
    found = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float64)
    found[:] = array()
    assert not found.flags.aligned
    return found


def _read_only() -> Any:
    found = array()
    found.flags.writeable = False
    return found


ARRAYS: dict[str, Callable[[], Any]] = {
    "float32": lambda: array().astype(np.float32),
    "int64": lambda: array().astype(np.int64),
    "byte order": lambda: array().astype(array().dtype.newbyteorder()),
    "misaligned": _misaligned,
    "read-only": _read_only,
    "stepped": lambda: np.repeat(array(), 2)[::2],
    "reversed": lambda: array()[::-1],
    "size 1": lambda: array()[:1],
    "empty": lambda: array()[:0],
    "rank 2": lambda: np.outer(array(), array()),
    "by columns": lambda: np.outer(array(), array())[:, :2].T,
    "rank 0": lambda: np.array(3.0),
    "subclass": lambda: array().view(Mine),
    "masked": lambda: np.ma.masked_array(array(), [True, False, False]),
    "list": lambda: array().tolist(),
    "none": lambda: None,
    "float": lambda: 3.0,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_arrays(make: Any) -> None:
    agrees(adc.grad, plain, (array(), 2.0), [(make(), 2.0)])


@pytest.mark.full
def test_arrays_that_are_not_contiguous() -> None:
    usual = np.outer(array(), array()).T[:, 1:]
    others = [ARRAYS["rank 2"](), usual.copy(), usual[:1], usual.astype("f4").T]
    agrees(adc.grad, plain, (usual, 2.0), [(each, 2.0) for each in others])


@pytest.mark.full
def test_numbers() -> None:
    values = [3, True, np.float32(3.0), np.float64(3.0), np.int8(3), 2**63, -(2**63), 3.0, None]
    agrees(adc.jit, number, (3.0,), [(value,) for value in values])
    agrees(adc.jit, number, (3,), [(value,) for value in values])


@pytest.mark.full
def test_long_lists_of_numbers() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.array(a) * a[0])

    usual = [float(k) for k in range(40)]
    others: list[list[Any]] = [usual[:36], usual[:3], [*usual, 1], list(range(40)), [*usual, None]]
    agrees(adc.jit, f, (usual,), [(each,) for each in others])


@pytest.mark.full
def test_none() -> None:
    agrees(adc.grad, optional, (2.0, None), [(2.0, 3.0), (2.0, 0), (2.0, False)])
    agrees(adc.grad, optional, (2.0, 3.0), [(2.0, None), (2.0, True)])


@pytest.fixture
def captured() -> Iterator[None]:
    """Put back what tests replace in this module."""
    kept = (SCALE, SHIFT, _helper, _helper.__code__)
    yield
    globals().update(SCALE=kept[0], SHIFT=kept[1], _helper=kept[2])
    _helper.__code__ = kept[3]


@pytest.mark.full
@pytest.mark.usefixtures("captured")
@pytest.mark.parametrize("transform", [adc.grad, adc.jit])
def test_what_is_captured(transform: Any) -> None:
    args = ([Free(array(), 2.0)], array())
    warm = warmed(transform(by_attribute), *args)
    changes: list[dict[str, Any]] = [
        {"SCALE": 3.0},
        {"SCALE": 3},
        {"SHIFT": 2.0 * SHIFT},
        {"SHIFT": SHIFT[::-1]},
        {"SHIFT": SHIFT.astype(np.float32)},
        {"SHIFT": 1.5},
        {"_helper": lambda x: x * x * x},
    ]
    for change in changes:
        globals().update(change)
        changed = outcome(warm, *args)
        assert changed == outcome(transform(by_attribute), *args)
        assert outcome(warm, *args) == changed


@pytest.mark.usefixtures("captured")
def test_code_of_a_helper() -> None:
    args = ([Free(array(), 2.0)], array())
    warm = warmed(adc.grad(by_attribute), *args)
    before = outcome(warm, *args)
    _helper.__code__ = (lambda x: x + x).__code__
    assert outcome(warm, *args) == outcome(adc.grad(by_attribute), *args) != before


@pytest.mark.full
def test_code_defaults_and_closure_of_the_function() -> None:
    def made(k: Any) -> Any:
        def f(x: Any, scale: Any = 2.0) -> Any:
            return x * x * k * scale

        return f

    f = made(3.0)
    warm = warmed(adc.grad(f), 2.0)
    assert warm(2.0) == 24.0
    f.__defaults__ = (5.0,)
    assert warm(2.0) == 60.0
    f.__defaults__ = (5,)
    assert warm(2.0) == 60.0
    cell = f.__closure__[0]
    for value, wanted in ((4.0, 80.0), (4, 80.0), (np.float32(4), 80.0), (3.0, 60.0)):
        cell.cell_contents = value
        assert warm(2.0) == wanted
    assert warmed(adc.grad(made(1.0)), 2.0)(2.0) == 8.0
    assert warm(2.0) == 60.0  # which has the same code

    def g(x: Any, scale: Any = 2.0) -> Any:
        return x * k

    k = 7.0
    f.__code__ = types.FunctionType(g.__code__, {}, "f", None, g.__closure__).__code__
    assert warm(2.0) == outcome_of_new(f)


def outcome_of_new(f: Any) -> Any:
    return adc.grad(f)(2.0)


def test_slots_that_a_class_gets_later() -> None:
    """Attributes may be anywhere once a class has descriptors of slots."""

    class Base:
        pass

    class Model(Base):
        def __init__(self) -> None:
            self.w = array()

    def f(m: Any) -> Any:
        return np.sum(m.w * m.w)

    model = Model()
    warm = warmed(adc.grad(f), model)
    Base.found = Narrow.__dict__["b"]  # type: ignore[attr-defined]  # a slot, added late
    assert outcome(warm, model) == outcome(adc.grad(f), model)


def changing(a: Any, b: Any, c: Any) -> Any:
    a[0] = b[0] * 2.0
    c[1] = a[0] * b[1]
    return np.sum(a * c)


@pytest.mark.full
def test_arguments_that_share_memory() -> None:
    x = np.arange(12.0)
    usual = (x[:3].copy(), x[3:6].copy(), x[6:9].copy())
    locked = x[:3].copy()
    locked.flags.writeable = False
    agrees(adc.grad, changing, usual, [
        (x[:3], x[2:5], x[6:9]),
        (x[:3], x[3:6], x[:3]),
        (x[:3], x[3:6], x[5:8]),
        (x[:3], x[3:6], x[6:9]),
        (x[0:6:2], x[6:9], x[1:7:2]),
        (locked, usual[1], usual[2]),
        (usual[0], locked, usual[2]),
    ])  # fmt: skip


def test_ranges_that_meet() -> None:
    x = np.arange(24.0)
    arrays = [x[4:8], x[:4], x[7:9], x[5:5], x[::-2], np.zeros(3), x[20:], x[3:5][:0]]
    wanted = [
        [j for j, b in enumerate(arrays) if j != k and np.may_share_memory(a, b)]
        for k, a in enumerate(arrays)
    ]
    assert _near(arrays) == wanted
    assert _near([]) == []


def test_an_axis_that_may_have_size_one() -> None:
    def f(a: Any, n: int) -> Any:
        return np.sum(np.ones(n) * a)

    agrees(adc.grad, f, (array(), 3), [(array(), 1), (array(), 3), (array(), 2)])


@pytest.mark.full
def test_budgets() -> None:
    def f(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = np.sin(x) * x
        return np.sum(x)

    def limited(fn: Any) -> Any:
        return adc.grad(fn, memory="20 kB")

    agrees(limited, f, (np.ones(100), 8), [(np.ones(100), 200), (np.ones(200), 8), (np.ones(1), 8)])
    assert limited(f).plan(np.ones(100), 8).peak_bytes <= 20_000


def test_calls_are_counted() -> None:
    derivative = adc.grad(lambda x: x * x * 1.25)
    for _ in range(5):
        derivative(2.0)
    assert derivative.cache_info()["hits"] == 4


# -- Jacobians -------------------------------------------------------------------------------------


def many(a: Any, x: Any) -> Any:
    return np.cumsum(_helper(a)) * x * SCALE


def of_any_size(a: Any, n: int) -> Any:
    return np.ones(n) * a


def scalar_of(a: Any, x: Any) -> Any:
    return np.sum(np.sin(a) ** 3) * x


def warmed_jacobian(jacobian: Any, *args: Any) -> Any:
    """Return a Jacobian that has been called so often that it reads such arguments faster."""
    first = outcome(jacobian, *args)
    for _ in range(3):
        assert outcome(jacobian, *args) == first
    values = jacobian._code.match(args, {})
    assert jacobian._code.last.again_along(values) is not None
    return jacobian


@pytest.mark.full
@pytest.mark.usefixtures("captured")
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_jacobians(transform: Any) -> None:
    usual = np.linspace(-1.0, 1.0, 9)
    warm = warmed_jacobian(transform(many), usual, 2.0)
    others = [usual[::-2], np.ones(30), np.ones(3), np.ones(0), usual.astype(np.float32), 3.0]
    for each in (*others, usual, np.arange(9), [1.0, 2.0]):
        assert outcome(warm, each, 2.0) == outcome(transform(many), each, 2.0)
    for x in (2, np.float32(2.0), None, usual, 2.0):
        assert outcome(warm, usual, x) == outcome(transform(many), usual, x)
    changes: list[dict[str, Any]] = [{"SCALE": 3.0}, {"SCALE": usual}, {"_helper": np.sin}]
    for change in changes:
        globals().update(change)
        assert outcome(warm, usual, 2.0) == outcome(transform(many), usual, 2.0)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_jacobians_with_an_axis_that_may_have_size_one(transform: Any) -> None:
    usual = np.linspace(-1.0, 1.0, 9)
    warm = warmed_jacobian(transform(of_any_size), usual, 9)
    for n in (1, 9, 2, 1):
        assert outcome(warm, usual, n) == outcome(transform(of_any_size), usual, n)


@pytest.mark.full
def test_hessians() -> None:
    usual = np.linspace(-1.0, 1.0, 9)
    warm = warmed_jacobian(adc.hessian(scalar_of), usual, 2.0)
    for each in (usual[:4], np.ones(20), usual.astype(np.float32), usual):
        assert outcome(warm, each, 2.0) == outcome(adc.hessian(scalar_of), each, 2.0)


def test_jacobians_of_changed_and_shared_arguments() -> None:
    def fn(a: Any, b: Any) -> Any:
        a[0] = b[1] * a[1]
        return a * b

    usual = np.linspace(-1.0, 1.0, 9), np.linspace(1.0, 2.0, 9)
    warm = warmed_jacobian(adc.jacfwd(fn), *usual)
    both = np.linspace(0.0, 1.0, 14)
    locked = usual[0].copy()
    locked.flags.writeable = False
    for args in ((both[:9], both[5:]), (locked, usual[1]), (usual[0], usual[0]), usual):
        assert outcome(warm, *args) == outcome(adc.jacfwd(fn), *args)


def test_runs_of_jacobians_are_counted() -> None:
    jacobian = adc.jacfwd(lambda x: x * x[0] * 1.75)
    for _ in range(5):
        jacobian(np.ones(9))
    assert jacobian.cache_info()["hits"] == 4


# -- arrays, asked natively ------------------------------------------------------------------------


def test_native_and_python_agree() -> None:
    asked = [Array(name, rank, layout, ones)
             for name in ("f64", "f32", "i64", "b1") for layout in "CA"
             for rank, ones in ((1, ()), (1, (0,)), (2, ()), (2, (1,)))]  # fmt: skip
    found = [make() for make in ARRAYS.values()]
    found += [array(), array()[:, None], np.zeros((2, 2), bool), np.zeros(1, bool), object(), np]
    found += [np.zeros(3, "m8[s]"), np.zeros(3, "V8"), np.zeros(3, object), np.zeros(3, ">f4")]
    agreed = 0
    for ty in asked:
        native, asking = layouts.laid_out([ty]), layouts._asked([ty])
        assert native is not asking
        for value in found:
            assert native(value) == asking(value), (ty, value)
            agreed += native(value)
    assert agreed > 8
    both = layouts.laid_out([Array("f64", 1), Array("f32", 1)])
    assert both(array(), ARRAYS["float32"]())
    assert not both(array(), array())


def test_native_is_used() -> None:
    assert layouts._native() is not None
