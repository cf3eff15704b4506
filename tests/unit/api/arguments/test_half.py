"""Numbers of 16 bits: values like NumPy's, derivatives like those of float64, in every plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import ArgumentError, DeviceError, NonScalarError, UnsupportedError
from adc.testing import check_grads
from tests.corpus.program import uniform

pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid", "ignore:divide")

EVERY = np.arange(2**16, dtype=np.uint16).view(np.float16)
X = np.linspace(0.1, 2.0, 8).astype(np.float16)


def bits(found: Any) -> Any:
    """Return the bytes of numbers, of which those that are not numbers are alike."""
    array = np.asarray(found)
    alike = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.dtype, array.shape, alike.tobytes()


def near_halves() -> Any:
    """Return numbers of 64 bits beside, between and among those of 16 bits."""
    finite = np.sort(EVERY[np.isfinite(EVERY)].astype(np.float64))
    middles = (finite[1:] + finite[:-1]) / 2
    beside = [np.nextafter(middles, way) for way in (-np.inf, np.inf)]
    rest = [65519.0, 65520.0, 1e9, -1e300, 2.0**-25, 2.0**-26, 5e-324, np.inf, np.nan, -0.0]
    return np.concatenate([finite, middles, *beside, rest])


def narrow(x: Any) -> Any:
    return x.astype(np.float16)


def widen(x: Any) -> Any:
    return x.astype(np.float32), x.astype(np.float64), x.astype(bool), -x


@pytest.mark.full
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_conversions(target: str) -> None:
    step = 1 if target == "cpu" else 499
    wide = near_halves()[::step]
    for x in (wide, wide.astype(np.float32), np.array([0, -1, 2049, 65519, 65520, 2**40])):
        assert bits(adc.jit(narrow, target=target)(x)) == bits(narrow(x))
    found, want = adc.jit(widen, target=target)(EVERY[::step]), widen(EVERY[::step])
    assert list(map(bits, found)) == list(map(bits, want))


def arithmetic(x: Any, y: Any) -> Any:
    return (
        x + y, x - y, x * y, x / y, x // y, x % y, np.fmod(x, y), abs(x), np.sqrt(x), x * 0.1,
        1 / x, x + 3, x**2, np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.copysign(x, y),
        np.floor(x), np.rint(x), np.sign(x), x < y, x == y, np.isfinite(x), np.deg2rad(x),
        np.square(x), np.reciprocal(x), np.where(x < y, x, 0.3), np.clip(x, -1, 0.3),
    )  # fmt: skip


@pytest.mark.full
def test_arithmetic_is_numpys() -> None:
    rng = np.random.default_rng(1)
    x, y = (EVERY[rng.integers(0, 2**16, 20_000)] for _ in range(2))
    found, want = adc.jit(arithmetic)(x, y), arithmetic(x, y)
    assert [bits(a) == bits(b) for a, b in zip(found, want, strict=True)] == [True] * len(want)


def reductions(x: Any, m: Any) -> Any:
    return (
        np.sum(x), np.prod(x), np.mean(x), np.var(x), np.std(m, axis=1), np.cumsum(x), np.max(x),
        np.mean(m, axis=1), np.sum(m, axis=1), x @ x, m @ x[:4], m @ m.T, np.dot(x, x),
        np.einsum("ij,ij->i", m, m), np.linalg.norm(x), np.median(x), np.trace(m), np.outer(x, x),
    )  # fmt: skip


@pytest.mark.full
def test_reductions_are_rounded_as_numpys() -> None:
    x, m = narrow(3.0 * uniform(1, 9)), narrow(uniform(2, 5, 4))
    found, want = adc.jit(reductions)(x, m), reductions(x, m)
    assert [bits(a) == bits(b) for a, b in zip(found, want, strict=True)] == [True] * len(want)


def test_the_mean_of_many_does_not_overflow() -> None:
    x = np.full(100_000, 2.0, np.float16)
    assert adc.jit(lambda x: np.mean(x))(x) == np.mean(x) == 2.0
    assert adc.jit(lambda x: np.std(x))(x) == np.std(x)


# -- derivatives -----------------------------------------------------------------------------------


def programs(half: Any) -> dict[str, Callable[..., Any]]:
    """Return programs that compute in a dtype."""

    def expressions(x: Any) -> Any:
        y = np.tanh(x * x) + np.exp(-x) / (half(2) + x)
        return np.sum((y * np.sort(x)[::-1]).astype(np.float64))

    def in_place(x: Any) -> Any:
        y = np.zeros(len(x), half)
        for i in range(len(x)):
            y[i] = x[i] * y[i - 1] + x[i]
            y[i] += half(0.25)
            if y[i] > 1.5:
                y[i:] *= half(0.5)
        z = y[::2]
        z[...] = z * z
        return np.mean(y.astype(np.float64))

    def products(x: Any) -> Any:
        m = np.outer(x, np.cos(x))
        return np.float64(np.sum(np.tanh(m @ x) * (x @ x)))

    def simulation(x: Any) -> Any:
        for _ in range(12):
            x = x + half(0.1) * (np.roll(x, 1) - x) * np.sin(x)
        return np.float64(np.sum(x * x))

    def lists(x: Any) -> Any:
        parts = [x, x * half(2), np.concatenate((x[:4], x[:4]))]
        grown = []
        for k in range(len(x)):
            grown.append(x[k] * parts[2][k])
        return np.sum(np.array(grown).astype(np.float64)) + np.float64(parts[1][3])

    def nested(x: Any) -> Any:
        return np.sum(adc.grad(lambda y: np.sum((y * y * x).astype(np.float64)))(x) ** 2)

    def numbers(x: Any) -> Any:
        a, b = half(x[0]), half(x[1])
        while a < 50:
            a = a * a + b
        return np.float64(a * b)

    found = (expressions, in_place, products, simulation, lists, nested, numbers)
    return {each.__name__: each for each in found}


PROGRAMS = programs(np.float16)


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    fn = PROGRAMS[name]
    exact = adc.grad(programs(np.float64)[name])(X.astype(np.float64))
    value, found = adc.value_and_grad(fn)(X)
    assert bits(value) == bits(fn(X))
    assert found.dtype == np.float16
    size = np.max(np.abs(exact))
    assert np.max(np.abs(found - exact)) < 2e-2 * size
    direction = uniform(3, 8).astype(np.float32)
    slope = adc.jvp(fn, (X,), (direction,))[1]
    assert abs(slope - direction @ exact) < 2e-2 * size


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_plan_has_the_same_bits(name: str) -> None:
    fn = PROGRAMS[name]
    want = adc.value_and_grad(fn)(X)
    ways: list[dict[str, Any]] = [
        {"remat": "store"}, {"remat": "recompute"}, {"memory": 2000}, {"target": "python"},
    ]  # fmt: skip
    for options in ways:
        found = adc.value_and_grad(fn, **options)(X)
        assert list(map(bits, found)) == list(map(bits, want)), options


def test_mixed_precision() -> None:
    def loss(layers: Any, x: Any, y: Any, scale: Any) -> Any:
        for layer in layers:
            x = np.tanh(x @ layer["w"].astype(np.float16) + layer["b"])
        error = (x[:, 0] - y).astype(np.float32)
        return scale * np.mean(error * error)

    def step(size: int, seed: int) -> Any:
        w, b = uniform(seed, size, size).astype(np.float32), narrow(uniform(seed + 9, size))
        return {"w": w, "b": b}

    layers = [step(6, seed) for seed in range(2)]
    x, y = narrow(uniform(20, 30, 6)), narrow(uniform(21, 30))
    scale = np.float32(1024)
    value, found = adc.value_and_grad(loss, target="python")(layers, x, y, scale)
    assert value == pytest.approx(loss(layers, x, y, scale), rel=1e-3)
    wide = [{k: v.astype(np.float64) for k, v in layer.items()} for layer in layers]
    exact = adc.grad(loss, target="python")(
        wide, x.astype(np.float64), y.astype(np.float64), 1024.0
    )
    for got, want, own in zip(found, exact, layers, strict=True):
        for k in ("w", "b"):
            assert got[k].dtype == own[k].dtype
            assert np.max(np.abs(got[k] - want[k])) < 2e-2 * np.max(np.abs(want[k]))


@pytest.mark.full
def test_results_have_the_types_of_what_they_belong_to() -> None:
    def squares(x: Any) -> Any:
        return x * x

    half = np.float16
    value, pull = adc.vjp(squares, X)
    (pulled,) = pull(np.ones(8, np.float32))
    assert value.dtype == pulled.dtype == adc.jvp(squares, (X,), (X,))[1].dtype == half
    assert adc.jacfwd(squares)(X).dtype == adc.jacrev(squares)(X).dtype == half
    assert type(adc.grad(squares)(half(3))) is half
    assert type(adc.grad(adc.grad(lambda x: x * x * x))(half(3))) is half
    assert adc.hessian(lambda x: np.sum(x * x))(X).dtype == half
    assert adc.grad(lambda x: np.float32(1e6) * np.float32(np.sum(x)))(X)[0] == np.inf


def test_memory_counts_two_bytes() -> None:
    def held(dtype: Any) -> int:
        def program(x: Any, n: Any) -> Any:
            y = np.zeros((n, len(x)), dtype)
            for k in range(n):
                y[k] = x
                x = x + x[::-1]
            return np.sum((y[::-1] * y).astype(np.float64))

        compiled = adc.grad(program)
        compiled(np.ones(1000, dtype), 100)
        return int(compiled.plan().peak_bytes or 0)

    assert held(np.float16) < 0.8 * held(np.float32)


# -- what is refused -------------------------------------------------------------------------------


def printed(x: Any) -> Any:
    print(x[0])
    return x[0]


@pytest.mark.parametrize(
    ("fn", "error", "hint"),
    [
        (printed, UnsupportedError, "`float`"),
        (lambda x: np.nextafter(x[0], x[1]), UnsupportedError, "float32"),
        (lambda x: np.spacing(x), UnsupportedError, "float32"),
        (lambda x: np.fft.fft(x).real, UnsupportedError, "float32"),
        (lambda x: check_grads(lambda x: np.sum(x), (x,)), ArgumentError, "float32"),
        (lambda x: adc.jit(lambda x: x + x, target="cuda")(x), DeviceError, "float32"),
        (lambda x: adc.grad(lambda x: x)(x), NonScalarError, "sum"),
    ],
)
def test_refused(fn: Any, error: Any, hint: str) -> None:
    run = fn if error in (ArgumentError, DeviceError, NonScalarError) else adc.jit(fn)
    with pytest.raises(error) as caught:
        run(X)
    assert hint in caught.value.hint


def test_linear_algebra_raises_as_numpy() -> None:
    with pytest.raises(TypeError, match="array type float16 is unsupported in linalg"):
        adc.jit(lambda m: np.linalg.inv(m))(np.eye(2, dtype=np.float16))
