"""What users call: every way to make a derivative, to call it, and to look inside."""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
import adc.api
import adc.testing
from adc.compiler import dispatch
from adc.ir.errors import (
    AdcError,
    ArgumentError,
    IntegerArgumentError,
    NonScalarError,
    OverlapError,
    UnsupportedError,
)
from tests.corpus.loops.element_programs import tuple_argument_with_an_array

pytestmark = pytest.mark.usefixtures("own_cache")


def cube(x: Any) -> Any:
    return x * x * x


def product(x: Any, y: Any) -> Any:
    return x * x * y


def squares(a: Any) -> Any:
    s = 0.0
    for v in a:
        s += v * v
    return s


def weighted(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(len(w)):
        s += x * x * x * w[i] * w[i]
    return s


@adc.grad
def decorated(x: Any) -> Any:
    """Return the square."""
    return x * x


# --- ways to make one -----------------------------------------------------------------------------


def test_decorator_forms() -> None:
    @adc.grad
    def plain(x: Any) -> Any:
        return x * x

    @adc.grad(argnums=1)
    def second(x: Any, y: Any) -> Any:
        return x * y * y

    @adc.value_and_grad
    def both(x: Any) -> Any:
        return x * x

    @adc.value_and_grad(argnums=(0, 1), remat="store")
    def pair(x: Any, y: Any) -> Any:
        return x * y

    assert plain(3.0) == 6.0
    assert second(2.0, 3.0) == 12.0
    assert both(3.0) == (9.0, 6.0)
    assert pair(2.0, 3.0) == (6.0, (3.0, 2.0))
    assert adc.grad(cube)(2.0) == 12.0
    assert adc.grad(lambda x: x * x)(4.0) == 8.0


def test_it_looks_like_the_function() -> None:
    assert decorated.__name__ == "decorated"
    assert decorated.__doc__ == "Return the square."
    assert decorated.__module__ == __name__
    assert decorated.__wrapped__(3.0) == 9.0
    assert list(inspect.signature(decorated).parameters) == ["x"]
    assert repr(adc.value_and_grad(adc.grad(cube))) == "<adc value_and_grad(grad(cube))>"


class Model:
    power = adc.grad(cube)

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def loss(self, x: Any) -> Any:
        return self.scale * x * x

    @adc.grad(argnums=1)
    def slope(self, x: Any) -> Any:
        return self.scale * x * x

    @staticmethod
    @adc.grad
    def static(x: Any) -> Any:
        return x * x

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return 3.0 * x * x


def test_methods() -> None:
    model = Model(3.0)
    assert model.slope(2.0) == 12.0
    assert Model.slope(model, 2.0) == 12.0
    assert Model.static(2.0) == 4.0
    assert adc.grad(model.loss)(2.0) == 12.0
    assert adc.grad(Model.of_class)(2.0) == 12.0
    assert adc.grad(adc.grad(model.loss))(2.0) == 6.0
    assert adc.jvp(model.loss, (2.0,), (1.0,)) == (12.0, 12.0)
    assert "slope" in model.slope.signatures()[0]
    slope = adc.grad(Model.loss)(model, 2.0)
    assert (type(slope), slope.scale) == (Model, 4.0)
    assert model.scale == 3.0


def test_attributes_of_an_argument_are_read_again() -> None:
    model = Model(3.0)
    assert model.slope(2.0) == 12.0
    model.scale = 5.0
    assert model.slope(2.0) == 20.0
    # One at the place in memory of another that is gone.
    assert [Model(k).slope(1.0) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("derivative", [adc.grad(cube), decorated, adc.value_and_grad(cube)])
@pytest.mark.parametrize(
    "make",
    [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies(derivative: Any, make: Callable[[Any], Any]) -> None:
    assert make(derivative)(2.0) == derivative(2.0)


def test_functions_of_the_api_can_be_pickled() -> None:
    for function in (adc.grad, adc.jvp, adc.hvp):
        assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(functools.partial(adc.hvp, cube)))((2.0,), (1.0,)) == 12.0


def test_what_cannot_be_differentiated_is_refused_at_once() -> None:
    with pytest.raises(ArgumentError, match="3 is not a function"):
        adc.grad(3)  # type: ignore[call-overload]  # refused
    with pytest.raises(UnsupportedError, match="'cos' is not a Python function"):
        adc.grad(np.cos)
    with pytest.raises(ArgumentError, match="argnums='x'"):
        adc.grad(cube, "x")  # type: ignore[arg-type]  # refused
    with pytest.raises(ArgumentError, match=r"argnums=0\.5"):
        adc.grad(cube, 0.5)  # type: ignore[call-overload]  # refused
    with pytest.raises(AdcError, match="remat='magic' is not a policy"):
        adc.grad(cube, remat="magic")
    with pytest.raises(ArgumentError, match="remat='revolve:2' is not a policy"):
        adc.grad(cube, remat="revolve:2")
    with pytest.raises(AdcError, match="remat='magic' is not a policy"):
        adc.hvp(cube, (1.0,), (1.0,), remat="magic")


# --- arguments ------------------------------------------------------------------------------------


def test_argnums() -> None:
    assert adc.grad(product)(2.0, 3.0) == 12.0
    assert adc.grad(product, 1)(2.0, 3.0) == 4.0
    assert adc.grad(product, (0, 1))(2.0, 3.0) == (12.0, 4.0)
    assert adc.grad(product, (1, 0))(2.0, 3.0) == (4.0, 12.0)
    assert adc.grad(product, [1])(2.0, 3.0) == (4.0,)
    assert adc.grad(product, -1)(2.0, 3.0) == 4.0
    assert adc.grad(product, (-1, -2))(2.0, 3.0) == (4.0, 12.0)
    assert adc.grad(product, (0, 0))(2.0, 3.0) == (12.0, 12.0)
    assert adc.grad(product, np.int64(1))(2.0, 3.0) == 4.0  # type: ignore[call-overload]  # what loops over arrays have
    for wrong in (2, -3, (0, 2)):
        with pytest.raises(ArgumentError, match=r"argnums=.*called with 2 positional arguments"):
            adc.grad(product, wrong)(2.0, 3.0)


def options(x: Any, y: Any = 3.0, /, *rest: Any, scale: Any = 2.0, mode: Any = "sum") -> Any:
    s = x * y * scale
    for v in rest:
        s += v * v
    return s if mode == "sum" else -s


def test_parameters_of_every_kind() -> None:
    slope = adc.grad(options)
    assert slope(2.0) == 6.0
    assert slope(2.0, 5.0) == 10.0
    assert slope(2.0, scale=4.0) == 12.0
    assert slope(2.0, 5.0, scale=1.0, mode="difference") == -5.0
    assert adc.grad(options, 1)(2.0) == 4.0
    assert adc.grad(options, (0, 2, -1))(2.0, 3.0, 5.0, 7.0) == (6.0, 10.0, 14.0)


def test_arguments_by_name() -> None:
    assert adc.grad(product)(y=3.0, x=2.0) == 12.0
    assert adc.grad(product, 1)(2.0, y=3.0) == 4.0


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1.0,), {}), ((1.0, 2.0, 3.0), {}), ((1.0,), {"z": 2.0}), ((1.0, 2.0), {"x": 3.0})],
)
def test_wrong_arguments_raise_what_python_raises(args: Any, kwargs: Any) -> None:
    with pytest.raises(TypeError) as expected:
        product(*args, **kwargs)
    with pytest.raises(TypeError) as found:
        adc.grad(product)(*args, **kwargs)
    assert str(found.value) == str(expected.value)


class Celsius(np.ndarray[Any, Any]):
    def __mul__(self, other: Any) -> Any:
        return self


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(1, np.clongdouble), "a ndarray of dtype c"),
        (np.zeros(3).view(Celsius), "a Celsius of dtype float64 and rank 1"),
        ({frozenset({1.0})}, "a set"),
        (collections.defaultdict(lambda: 1.0, a=1.0), "a defaultdict"),
        (np.longdouble(1.0), "dtype float128"),
        (np.ones(3, ">f8"), "dtype >f8"),
        (np.array(["a"]), "dtype <U1"),
        (2**63, "does not fit in 64 bits"),
    ],
)
def test_arguments_that_are_refused(value: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        adc.grad(product)(1.0, value)


@pytest.mark.parametrize("value", [1, True, np.int32(1), np.ones(2, int), "a", None, ()])
def test_only_floats_are_differentiated(value: Any) -> None:
    with pytest.raises(IntegerArgumentError, match="argument 'y' of product"):
        adc.grad(product, 1)(1.0, value)


def test_tuples() -> None:
    (a, c), s = adc.grad(tuple_argument_with_an_array, (0, 1))(
        (np.array([1.0, 2.0, 3.0]), 0.5), 2.0
    )
    np.testing.assert_array_equal(a, [1.0, 0.5, 2.0])
    assert (c, s) == (2.0, 3.0)
    assert type(c) is float


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [float, np.float64, np.float32])
def test_gradients_of_numbers_have_the_type_of_the_argument(cls: Any) -> None:
    assert type(adc.grad(cube)(cls(2.0))) is cls
    assert adc.grad(cube)(cls(2.0)) == 12.0
    value, second = adc.value_and_grad(adc.grad(cube))(cls(2.0))
    assert (type(value), type(second)) == (cls, cls)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_arrays_have_the_dtype_of_the_argument(dtype: Any) -> None:
    x = np.array([1.0, 2.0, 3.0], dtype)
    value, gradient = adc.value_and_grad(squares)(x)
    assert type(value) is type(squares(x))
    assert value == 14.0
    assert type(gradient) is np.ndarray
    assert gradient.dtype == dtype
    assert gradient.flags.writeable
    np.testing.assert_array_equal(gradient, 2.0 * x)


def rows(a: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += (i + 1.0) * a[i, j] * a[i, j]
    return s


def test_arrays_of_every_layout() -> None:
    slope = adc.grad(rows)
    base = np.arange(24.0).reshape(4, 6)
    frozen = base.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 6)
    arrays = [base, base.T, base[::2, ::-1], np.asfortranarray(base), frozen, unaligned]
    arrays += [np.broadcast_to(np.arange(3.0), (2, 3)), np.zeros((0, 3)), np.zeros((3, 0))]
    for array in arrays:
        before = array.copy()
        gradient = slope(array)
        np.testing.assert_array_equal(gradient, 2.0 * (np.arange(len(array)) + 1)[:, None] * array)
        assert gradient.shape == array.shape
        assert gradient.flags.writeable
        np.testing.assert_array_equal(array, before)
    # Whatever the layout, it is one of two programs.
    assert len(slope.signatures()) == 2


def test_results_are_new_at_every_call() -> None:
    slope, x = adc.grad(squares), np.ones(4)
    first, second = slope(x), slope(x)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, x)
    first[:] = 7.0
    np.testing.assert_array_equal(slope(x), 2.0 * x)


def through(a: Any) -> Any:
    return a[0] * a[0], a


def test_an_argument_is_returned_as_a_copy() -> None:
    x = np.ones(3)
    _, aux = adc.grad(through, has_aux=True)(x)
    aux[0] = 9.0
    assert x[0] == 1.0


def scaled(a: Any, b: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        a[i] *= 2.0
        s += a[i] * b[i]
    return s


def test_arguments_are_never_written() -> None:
    a, b = np.ones(3), np.full(3, 2.0)
    for x in (a, a[::-1]):
        np.testing.assert_array_equal(adc.grad(scaled)(x, b), [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(a, np.ones(3))


def dot(a: Any, b: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


POINTS = np.array([1.0, 2.0])


def test_arguments_that_may_be_one() -> None:
    def kernel(a: Any, b: Any) -> Any:
        return a @ b if a is b else 2.0 * (a @ b)

    def with_captured(a: Any) -> Any:
        return a @ POINTS if a is POINTS else 2.0 * (a @ POINTS)

    x, y = np.array([3.0, 4.0]), np.array([5.0, 6.0])
    gradient = adc.grad(kernel)
    for _ in range(3):
        assert gradient(x, y).tolist() == [10.0, 12.0]
        with pytest.raises(OverlapError, match=r"'a' and 'b' of kernel.*`is`"):
            gradient(x, x)
        with pytest.raises(OverlapError):
            gradient(x, x[:])
    assert adc.grad(with_captured)(x).tolist() == [2.0, 4.0]
    with pytest.raises(OverlapError, match="'a' and 'POINTS'"):
        adc.grad(with_captured)(POINTS)
    # Lists of arrays that are passed without a copy of each.
    many = [x.copy() for _ in range(200)]
    total = adc.grad(lambda items, b: sum([kernel(item, b) for item in items]), 1)
    assert total(many, y).tolist() == [1200.0, 1600.0]
    with pytest.raises(OverlapError):
        total(many, many[3])


def test_arguments_that_overlap() -> None:
    x = np.arange(1.0, 7.0)
    first, second = adc.grad(dot, (0, 1))(x, x)
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(second, x)
    with pytest.raises(OverlapError, match="'a' and 'b' of scaled"):
        adc.grad(scaled)(x, x)
    with pytest.raises(OverlapError, match="'a' and 'b' of scaled"):
        adc.grad(scaled)(x[:4], x[2:])
    # Interleaved, so they share nothing.
    np.testing.assert_array_equal(adc.grad(scaled)(x[::2], x[1::2]), 2.0 * x[1::2])


def auxiliary(a: Any, kind: Any) -> Any:
    value = a[0] * a[1]
    if kind == "scalars":
        return value, (value, 2, True)
    if kind == "arrays":
        copied = a.copy()
        copied[0] = 5.0
        return value, (copied, (a[1], None))
    if kind == "none":
        return value, None
    if kind == "number":
        return value, value + 1.0
    return value, ("text", a[0])


def test_auxiliary_results_are_those_of_python() -> None:
    a = np.array([3.0, 4.0])
    for kind in ("scalars", "arrays", "none", "number", "text"):
        value, expected = auxiliary(a, kind)
        gradient, aux = adc.grad(auxiliary, has_aux=True)(a, kind)
        (again, other), same = adc.value_and_grad(auxiliary, has_aux=True)(a, kind)
        assert repr(aux) == repr(expected)
        assert repr(other) == repr(expected)
        assert repr(again) == repr(value)
        np.testing.assert_array_equal(gradient, [4.0, 3.0])
        np.testing.assert_array_equal(same, [4.0, 3.0])


def test_results_that_cannot_be_differentiated() -> None:
    with pytest.raises(NonScalarError, match="only one float"):
        adc.grad(auxiliary)(np.ones(2), "none")
    with pytest.raises(NonScalarError, match="needs a pair"):
        adc.grad(cube, has_aux=True)(1.0)
    with pytest.raises(NonScalarError, match=r"`grad` of cube.*needs a pair"):
        adc.grad(adc.grad(cube), has_aux=True)(1.0)
    with pytest.raises(NonScalarError, match=r"`grad` of squares.*only one float"):
        adc.grad(adc.grad(squares))(np.ones(2))
    with pytest.raises(NonScalarError, match=r"`value_and_grad` of cube.*only one float"):
        adc.grad(adc.value_and_grad(cube))(1.0)


# --- higher order and directions ------------------------------------------------------------------


def test_higher_order() -> None:
    def quartic(x: Any) -> Any:
        return x * x * x * x

    second = adc.grad(adc.grad(quartic))
    third = adc.grad(second)
    assert second(2.0) == 48.0
    assert third(2.0) == 48.0
    assert adc.grad(third)(2.0) == 24.0
    assert adc.value_and_grad(second)(2.0) == (48.0, 48.0)
    assert adc.value_and_grad(adc.grad(quartic))(2.0) == (32.0, 48.0)


def test_mixed_derivatives() -> None:
    w = np.array([1.0, 2.0])
    np.testing.assert_allclose(adc.grad(adc.grad(weighted, 0), 1)(2.0, w), 24.0 * w)
    value, mixed = adc.value_and_grad(adc.grad(weighted), (0, 1))(2.0, w)
    assert value == 60.0
    assert mixed[0] == 60.0
    np.testing.assert_allclose(mixed[1], 24.0 * w)
    assert adc.grad(adc.grad(product, 1))(3.0, 2.0) == 6.0
    # The value of a derivative has the type of what it was taken with respect to.
    value, _ = adc.value_and_grad(adc.grad(weighted), 1)(np.float32(2.0), w)
    assert type(value) is np.float32


def test_jvp() -> None:
    assert adc.jvp(product, (2.0, 3.0), (1.0, 0.0)) == (12.0, 12.0)
    assert adc.jvp(product, [2.0, 3.0], [1, 1]) == (12.0, 16.0)
    assert adc.jvp(product, (2.0, 3), (1.0, None)) == (12.0, 12.0)
    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert adc.jvp(squares, (x,), (v,)) == (5.0, 22.0)
    value, slope = adc.jvp(squares, (x.astype("f4"),), (v,))
    assert (type(value), type(slope)) == (type(squares(x.astype("f4"))),) * 2


def _with_sum(x: Any) -> Any:
    return np.sum(x * x), np.sum(x)


def test_jvp_of_a_gradient() -> None:
    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    gradient, product = adc.jvp(adc.grad(squares), (x,), (v,))
    np.testing.assert_array_equal(gradient, 2.0 * x)
    np.testing.assert_array_equal(product, 2.0 * v)
    (value, _), (slope, along) = adc.jvp(adc.value_and_grad(squares), (x,), (v,))
    assert (value, slope) == (5.0, 22.0)
    np.testing.assert_array_equal(along, 2.0 * v)
    assert adc.jvp(adc.grad(adc.grad(cube)), (2.0,), (1.0,)) == (12.0, 6.0)
    (gradient, aux), (moved, tangent) = adc.jvp(adc.grad(_with_sum, has_aux=True), (x,), (v,))
    np.testing.assert_array_equal(gradient, 2.0 * x)
    np.testing.assert_array_equal(moved, 2.0 * v)
    assert (aux, tangent) == (3.0, 7.0)


def test_hvp() -> None:
    w, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    assert adc.hvp(cube, (2.0,), (1.0,)) == 12.0
    along_x, along_w = adc.hvp(weighted, (2.0, w), (1.0, v))
    np.testing.assert_allclose(along_x, 12.0 * 5.0 + 24.0)
    np.testing.assert_allclose(along_w, 24.0 * w + 16.0 * v)
    nothing, only_w = adc.hvp(weighted, (2.0, w), (None, v))
    assert nothing is None
    np.testing.assert_allclose(only_w, 16.0 * v)
    pair = adc.hvp(tuple_argument_with_an_array, ((np.ones(3), 0.5), 2.0), ((np.ones(3), 1.0), 0.0))
    assert type(pair[0]) is tuple


def test_tangents_are_checked() -> None:
    x = np.ones(3)
    tangents: Any
    for tangents, message in [
        ((np.ones(4),), r"shape \(4,\), but the argument has shape \(3,\)"),
        ((1.0,), r"shape \(\), but the argument has shape \(3,\)"),
        ((np.ones(3) * 1j,), "not real numbers"),
        ((x, x), "1 primals but 2 tangents"),
        ((None,), "no tangent"),
        (x, "tangents is a ndarray"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            adc.hvp(squares, (x,), tangents)
    with pytest.raises(ArgumentError, match="not real numbers"):
        adc.jvp(cube, (1.0,), ("a",))
    with pytest.raises(ArgumentError, match="must be a tuple of 2"):
        adc.jvp(tuple_argument_with_an_array, ((x, 1.0), 2.0), (x, 1.0))
    with pytest.raises(IntegerArgumentError, match="is an int"):
        adc.jvp(product, (1, 2.0), (1.0, 1.0))


# --- what the code depends on ---------------------------------------------------------------------

FACTOR: Any = 2.0

TABLE: Any = np.array([1.0, 2.0])


def helper(x: Any) -> Any:
    return x * x


def depends(x: Any) -> Any:
    return FACTOR * TABLE[1] * helper(x)


def test_captured_variables_are_read_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = adc.grad(depends)
    assert slope(1.0) == 8.0
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    assert slope(1.0) == 12.0
    monkeypatch.setattr(sys.modules[__name__], "TABLE", np.array([1.0, 4.0]))
    assert slope(1.0) == 24.0
    TABLE[1] = 5.0
    assert slope(1.0) == 30.0
    assert slope.cache_info()["hits"] == 3
    # Of another type: another program.
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", np.float32(3.0))
    monkeypatch.setattr(sys.modules[__name__], "TABLE", np.array([1, 4]))
    assert slope(1.0) == 24.0
    assert slope.cache_info()["hits"] == 3
    monkeypatch.delattr(sys.modules[__name__], "FACTOR")
    with pytest.raises(AdcError, match="name 'FACTOR' is not defined"):
        slope(1.0)


def test_functions_that_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = adc.grad(depends)
    assert slope(1.0) == 8.0
    monkeypatch.setattr(sys.modules[__name__], "helper", cube)
    assert slope(1.0) == 12.0
    monkeypatch.undo()
    assert slope(1.0) == 8.0


def test_closures_are_followed() -> None:
    scale, inner = 2.0, helper

    def scaled_helper(x: Any) -> Any:
        return scale * inner(x)

    slope = adc.grad(scaled_helper)
    assert slope(1.0) == 4.0
    scale, inner = 3.0, cube
    assert slope(1.0) == 9.0


class Config:
    base = 2.0

    def __init__(self) -> None:
        self.scale = 1.0


CONFIG = Config()


def configured(config: Any, x: Any) -> Any:
    return config.base * config.scale * x


def by_helper(x: Any) -> Any:
    return configured(CONFIG, x)


def by_name(x: Any) -> Any:
    config = CONFIG
    return config.base * config.scale * x


@pytest.mark.parametrize("fn", [by_helper, by_name])
def test_attributes_of_captured_objects_are_read_again(
    fn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slope = adc.grad(fn)
    assert slope(1.0) == 2.0
    monkeypatch.setattr(CONFIG, "scale", 3.0)
    assert slope(1.0) == 6.0
    monkeypatch.setattr(Config, "base", 5.0)
    assert slope(1.0) == 15.0
    assert slope(1.0) == 15.0
    assert slope.cache_info()["hits"] == 3


def apply(fn: Any, x: Any) -> Any:
    return fn(x)


def test_functions_as_arguments() -> None:
    slope = adc.grad(apply, 1)
    assert slope(helper, 3.0) == 6.0
    assert slope(cube, 3.0) == 27.0
    assert slope(helper, 3.0) == 6.0
    assert slope.cache_info()["hits"] == 1


def test_code_for_objects_that_are_gone_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MOST_ENTRIES", 3)
    slope = adc.grad(apply, 1)
    # Functions with one definition would share code.
    squares = [
        lambda x: x * x,
        lambda x: x**2,
        lambda x: 1.0 * x * x,
        lambda x: x * x * 1.0,
        lambda x: x * (1.0 * x),
        lambda x: x * x + 0.0,
    ]
    for k, square in enumerate(squares):
        assert slope(square, float(k)) == 2.0 * k
    assert len(slope.signatures()) == 3
