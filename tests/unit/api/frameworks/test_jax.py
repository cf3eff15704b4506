"""`adc.jax`: NumPy functions as functions of JAX's arrays, beside the same functions in JAX."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adc
import adc.jax
from adc.api import bridge
from adc.ir.errors import ArgumentError, UnsupportedError


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def sample(*shape: int, seed: int = 0) -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def close(found: Any, expected: Any) -> None:
    found, expected = jax.tree.flatten(found), jax.tree.flatten(expected)
    assert found[1] == expected[1]
    for ours, theirs in zip(found[0], expected[0], strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def layer(x: Any, w: Any) -> Any:
    return np.tanh(w @ x) * np.sum(x)


def layer_in_jax(x: Any, w: Any) -> Any:
    return jnp.tanh(w @ x) * jnp.sum(x)


def loss(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(w @ x) ** 2)


def loss_in_jax(x: Any, w: Any) -> Any:
    return jnp.sum(jnp.tanh(w @ x) ** 2)


def decay(u: Any, rate: Any, steps: int) -> Any:
    for _ in range(steps):
        for i in range(1, len(u)):
            u[i] -= rate * (u[i] - u[i - 1])
    return u


def decay_in_jax(u: Any, rate: Any, steps: int) -> Any:
    for _ in range(steps):
        for i in range(1, len(u)):
            u = u.at[i].add(-rate * (u[i] - u[i - 1]))
    return u


PAIRS = [(layer, layer_in_jax), (loss, loss_in_jax)]


def _tangents(f: Any) -> Any:
    """Return a function of tangents, for a batch of which it is linear."""
    return lambda x, w: jax.vmap(lambda t: jax.jvp(lambda x: f(x, w), (x,), (t,))[1])


def _scanned(f: Any) -> Any:
    def total(x: Any, w: Any) -> Any:
        found, _ = jax.lax.scan(lambda c, _: (c + jnp.sum(f(c, w)), None), x, None, length=3)
        return found.sum()

    return jax.grad(total, (0, 1))


TRANSFORMED: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "jit": jax.jit,
    "jacrev": lambda f: jax.jacrev(f, (0, 1)),
    "jacfwd": lambda f: jax.jacfwd(f, (0, 1)),
    "hessian": jax.hessian,
    "jit of hessian": lambda f: jax.jit(jax.hessian(f)),
    "reverse over reverse": lambda f: jax.jacrev(jax.jacrev(f, 1)),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f), 1),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f)),
    "third derivatives": lambda f: jax.jacrev(jax.hessian(f)),
    "vmap": lambda f: lambda x, w: jax.vmap(f, (0, None))(jnp.stack([x, 2.0 * x]), w),
    "vmap of vmap": lambda f: (
        lambda x, w: jax.vmap(jax.vmap(f, (0, None)), (None, 0))(
            jnp.stack([x, 2.0 * x]), jnp.stack([w, w + 1.0])
        )
    ),
    "jit of vmap of hessian, another axis": lambda f: (
        lambda x, w: jax.jit(jax.vmap(jax.hessian(f), (1, 2)))(
            jnp.stack([x, 2.0 * x], 1), jnp.stack([w, w * w], 2)
        )
    ),
    "grad of vmap": lambda f: jax.grad(
        lambda x, w: jnp.sum(jax.vmap(f, (0, None))(jnp.stack([x, x * x]), w) ** 2), (0, 1)
    ),
    "transposed batch of tangents": lambda f: (
        lambda x, w: jax.linear_transpose(_tangents(f)(x, w), jnp.ones((2, 3)))(
            _tangents(f)(x, w)(jnp.ones((2, 3)))
        )
    ),
    "linearize": lambda f: lambda x, w: jax.linearize(lambda x: f(x, w), x)[1](x),
    "scan": _scanned,
    "checkpoint": lambda f: jax.grad(lambda x, w: jnp.sum(jax.checkpoint(f)(x, w) ** 2)),
    "jit of value_and_grad": lambda f: jax.jit(
        jax.value_and_grad(lambda x, w: jnp.sum(f(x, w) ** 2), (0, 1))
    ),
    "jvp of grad": lambda f: (
        lambda x, w: jax.jvp(
            jax.grad(lambda x, w: jnp.sum(f(x, w)), (0, 1)), (x, w), (x * x, w + 1.0)
        )
    ),
}


@pytest.mark.full
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations(name: str, ours: Any, theirs: Any) -> None:
    x, w = sample(3), sample(4, 3, seed=1)
    close(TRANSFORMED[name](adc.jax.wrap(ours))(x, w), TRANSFORMED[name](theirs)(x, w))


@pytest.mark.full
def test_in_place_loops() -> None:
    # The function changes its own argument, which JAX's memory is not.
    u, rate, wrapped = sample(5), jnp.float64(0.4), adc.jax.wrap(decay)
    before = np.array(u)
    close(wrapped(u, rate, 3), decay_in_jax(u, rate, 3))
    for mode in (jax.jacrev, jax.jacfwd):
        ours = jax.jit(mode(lambda u, rate: wrapped(u, rate, steps=3), (0, 1)))(u, rate)
        close(ours, mode(lambda u, rate: decay_in_jax(u, rate, 3), (0, 1))(u, rate))
    np.testing.assert_array_equal(u, before)


@pytest.mark.full
def test_complex_gradients() -> None:
    def ours(z: Any, x: Any) -> Any:
        return np.sum(np.abs(z * x) ** 2 * x), z * z * x

    def theirs(z: Any, x: Any) -> Any:
        return jnp.sum(jnp.abs(z * x) ** 2 * x), z * z * x

    z, x = sample(3) + 1j * sample(3, seed=1), sample(3, seed=2)
    wrapped = adc.jax.wrap(ours)
    parts: list[Any] = [
        lambda f: lambda z, x: f(z, x)[0], lambda f: lambda z, x: jnp.abs(f(z, x)[1]).sum(),
    ]  # fmt: skip
    for f in parts:
        close(jax.grad(f(wrapped), (0, 1))(z, x), jax.grad(f(theirs), (0, 1))(z, x))
        close(
            jax.jvp(jax.grad(f(wrapped)), (z, x), (1j * z, x)),
            jax.jvp(jax.grad(f(theirs)), (z, x), (1j * z, x)),
        )
    number = adc.jax.wrap(lambda z, x: np.sum(np.abs(z * x) ** 2 * x))
    close(jax.grad(number, (0, 1))(z, x), jax.grad(lambda z, x: theirs(z, x)[0], (0, 1))(z, x))
    close(jax.jvp(number, (z, x), (1j * z, x)), jax.jvp(lambda z, x: theirs(z, x)[0], (z, x),
                                                       (1j * z, x)))  # fmt: skip


@pytest.mark.full
def test_value_and_gradient_of_a_number_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    run = bridge.Program.run

    def noted(self: bridge.Program, args: Any) -> Any:
        runs.append(repr(self.fn))
        return run(self, args)

    monkeypatch.setattr(bridge.Program, "run", noted)
    x, w = sample(3), sample(4, 3)
    wrapped = adc.jax.wrap(loss)
    close(jax.jit(jax.value_and_grad(lambda x: 3.0 * wrapped(x, w)))(x),
          jax.value_and_grad(lambda x: 3.0 * loss_in_jax(x, w))(x))  # fmt: skip
    assert runs == ["<adc value_and_grad(loss)>"]


class Scale(NamedTuple):
    factor: Any
    shift: Any


def network(x: Any, layers: Any, scale: Any, *, how: str = "tanh", power: int = 1) -> Any:
    for parameters in layers:
        x = parameters["w"] @ x + parameters["b"]
        if how == "tanh":
            x = np.tanh(x)
    return {"y": scale.factor * x**power + scale.shift, "n": len(layers), "large": x > 0.5}, "done"


@pytest.mark.full
def test_structures() -> None:
    x, layers = sample(3), [{"w": sample(3, 3, seed=k), "b": sample(3)} for k in range(4)]
    wrapped = adc.jax.wrap(network)

    def ours(x: Any, layers: Any, factor: Any) -> Any:
        found, text = wrapped(x, layers, power=2, scale=Scale(factor, 0.5))
        assert text == "done"
        return jnp.sum(found["y"]) + found["n"] + jnp.sum(found["large"])

    def theirs(x: Any, layers: Any, factor: Any) -> Any:
        for each in layers:
            x = jnp.tanh(each["w"] @ x + each["b"])
        return jnp.sum(factor * x**2 + 0.5) + len(layers) + jnp.sum(x > 0.5)

    args = (x, layers, jnp.float64(2.0))
    close(jax.jit(ours)(*args), theirs(*args))
    close(jax.grad(ours, (0, 1, 2))(*args), jax.grad(theirs, (0, 1, 2))(*args))


@pytest.mark.full
def test_dicts_in_another_order() -> None:
    def model(p: Any) -> Any:
        return p["b"] * 2.0 + p["a"] * p["deep"]["c"] * p["deep"]["n"]

    inputs = (sample(3), sample(3, seed=1), sample(3, seed=2))

    def of(b: Any, a: Any, c: Any, fn: Any) -> Any:
        return fn(OrderedDict(deep=OrderedDict(n=3, c=c), b=b, a=a))

    wrapped, number = adc.jax.wrap(model), adc.jax.wrap(lambda p: np.sum(model(p)))
    for mode in (jax.jacfwd, jax.jacrev):
        expected = mode(of, (0, 1, 2))(*inputs, model)
        close(mode(of, (0, 1, 2))(*inputs, wrapped), expected)
        found = mode(of, (0, 1, 2))(*inputs, number)
        close(found, jax.tree.map(lambda rows: jnp.sum(rows, 0), expected))


def test_arrays_of_32_bits() -> None:
    jax.config.update("jax_enable_x64", False)
    x = jnp.arange(3.0)
    assert x.dtype == np.float32
    seen: list[Any] = []
    wrapped = adc.jax.wrap(lambda x, y: np.sum(x * y))
    for f in (wrapped, jax.jit(wrapped), jax.grad(wrapped), jax.jit(jax.hessian(wrapped))):
        seen.append(f(x, 2.0).dtype)
    assert seen == [np.float32] * 4
    # Of NumPy's 64 bits JAX takes 32.
    assert jax.jit(adc.jax.wrap(lambda x: np.sum(x.astype(float))))(x).dtype == np.float32
    assert jax.jit(adc.jax.wrap(lambda x: (1.5, len(x))))(x)[1].dtype == np.int32


def test_integers_have_no_gradient() -> None:
    def scaled(x: Any, k: Any, mask: Any) -> Any:
        return np.where(mask, x * k, x), k + 1

    wrapped = adc.jax.wrap(scaled)
    x, k, mask = sample(3), jnp.arange(3), jnp.array([True, False, True])
    close(jax.grad(lambda x: wrapped(x, k, mask)[0].sum())(x), jnp.array([0.0, 1.0, 2.0]))
    found, tangent = jax.jvp(lambda x: wrapped(x, k, mask), (x,), (x,))
    assert tangent[1].dtype == jax.dtypes.float0
    close(found[1], k + 1)


@pytest.mark.full
def test_shapes_that_follow() -> None:
    def shapes(x: Any, n: int, pairs: Any) -> Any:
        return (
            np.zeros((n, len(x) + 1)) + x[0], {"a": x[1:], "b": np.concatenate([x, x])},
            np.fft.fft(x), x[::2], pairs[0][1] * 2.0, np.outer(x, x).T.reshape(-1), n,
        )  # fmt: skip

    x, pairs = sample(5), [(sample(2), sample(3, 3))]
    wrapped = adc.jax.wrap(shapes)
    found = jax.jit(lambda x, pairs: wrapped(x, 4, pairs))(x, pairs)
    close(found, jax.tree.map(jnp.asarray, shapes(np.asarray(x), 4, pairs)))


def test_shapes_that_are_declared() -> None:
    x = jnp.array([1.0, -2.0, 3.0])

    def positive(x: Any) -> Any:
        return x[x > 0.0]

    with pytest.raises(ArgumentError, match="depends on more") as info:
        jax.jit(adc.jax.wrap(positive))(x)
    assert "result=jax.ShapeDtypeStruct" in info.value.hint
    close(adc.jax.wrap(positive)(x), jnp.array([1.0, 3.0]))  # nothing asks for its shape
    given = jax.ShapeDtypeStruct((2,), np.float64)
    for result in (given, lambda x: given, np.zeros(2)):
        wrapped = adc.jax.wrap(positive, result=result)
        close(jax.jit(wrapped)(x), jnp.array([1.0, 3.0]))
        close(jax.grad(lambda x, f=wrapped: jnp.sum(f(x) ** 2))(x), jnp.array([2.0, 0.0, 6.0]))
    wrapped = adc.jax.wrap(positive, result=jax.ShapeDtypeStruct((3,), np.float64))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"shape \(2,\), not \(3,\)"):
        jax.jit(wrapped)(x).block_until_ready()
    with pytest.raises(ArgumentError, match=r"shape \(2,\), not \(3,\)"):
        jax.grad(lambda x: jnp.sum(wrapped(x * 2.0)))(x)
    with pytest.raises(jax.errors.JaxRuntimeError, match="does not have the shape"):
        jax.jit(jax.grad(lambda x: jnp.sum(wrapped(x * 2.0))))(x).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="structure"):
        jax.jit(adc.jax.wrap(positive, result=(given, given)))(x)[0].block_until_ready()


def test_an_integer_that_is_traced_decides_no_shape() -> None:
    wrapped = adc.jax.wrap(lambda x, n: np.zeros(n) + x)
    with pytest.raises(ArgumentError, match="depends on more"):
        jax.jit(wrapped)(1.0, 3)
    assert jax.jit(lambda x: wrapped(x, 3))(1.0).shape == (3,)
    power = adc.jax.wrap(lambda x, n: x**n)
    close(jax.jit(power)(2.0, 3), jnp.asarray(8.0))


@pytest.mark.full
@pytest.mark.parametrize("how", [{"memory": "6 kB"}, {"remat": "recompute"}])
def test_plans(how: dict[str, Any]) -> None:
    u, rate = sample(50), jnp.float64(0.3)

    def total(u: Any, rate: Any) -> Any:
        return np.sum(decay(u, rate, 40) ** 2)

    for fn in (lambda u, rate: decay(u, rate, 40), total):
        free, frugal = adc.jax.wrap(fn), adc.jax.wrap(**how)(fn)

        def slopes(f: Any) -> Any:
            return jax.grad(lambda u, rate: jnp.sum(f(u, rate)), (0, 1))(u, rate)

        for ours, theirs in zip(slopes(frugal), slopes(free), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_random_generators() -> None:
    noisy = adc.jax.wrap(lambda x, rng: x * rng.normal(size=len(x)))
    expected = np.random.default_rng(1).normal(size=3)
    close(noisy(jnp.ones(3), np.random.default_rng(1)), jnp.asarray(expected))
    with pytest.raises(ArgumentError, match="random generator"):
        jax.jit(lambda x: noisy(x, np.random.default_rng(1)))(jnp.ones(3))


def test_errors() -> None:
    def bad(x: Any) -> Any:
        return np.sum(x) + open("file")

    with pytest.raises(UnsupportedError) as info:
        jax.jit(adc.jax.wrap(bad))(sample(3))
    assert info.value.span is not None
    assert info.value.span.file == __file__
    with pytest.raises(ArgumentError, match="bfloat16"):
        adc.jax.wrap(loss)(jnp.ones(3, jnp.bfloat16), jnp.ones((4, 3)))
    with pytest.raises(ArgumentError, match="not a function"):
        adc.jax.wrap(3)  # type: ignore[call-overload]  # what is tested
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['jax'] = None\nimport adc\n"
         "try: adc.jax\nexcept adc.AdcError as error: print(error)\n"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "[ADC002]" in done.stdout
    assert "pip install jax" in done.stdout


@adc.jax.wrap
def doubled(x: Any) -> Any:
    return 2.0 * x


def test_copies() -> None:
    assert copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    x, w = sample(3), sample(4, 3)
    close(pickle.loads(pickle.dumps(adc.jax.wrap(loss)))(x, w), loss_in_jax(x, w))


def test_an_optimiser_of_jax() -> None:
    """A simulation within a compiled step of gradient descent."""
    true = jnp.float64(0.3)
    start = sample(6)
    simulate = adc.jax.wrap(lambda u, rate: decay(u, rate, 5))
    wanted = simulate(start, true)

    def error(rate: Any) -> Any:
        return jnp.sum((simulate(start, jax.nn.sigmoid(rate)) - wanted) ** 2)

    @jax.jit  # type: ignore[untyped-decorator]  # of an untyped module
    def step(rate: Any) -> Any:
        value, slope = jax.value_and_grad(error)(rate)
        return rate - 3.0 * slope, value

    rate = jnp.float64(0.5)
    for _ in range(200):
        rate, value = step(rate)
    assert value < 1e-12
    np.testing.assert_allclose(jax.nn.sigmoid(rate), true, rtol=1e-5)


@pytest.mark.full
def test_derivatives_are_functions_too() -> None:
    x, w = sample(3), sample(4, 3)
    slope = adc.jax.wrap(adc.grad(loss), result=lambda x, w: x)
    close(slope(x, w), jax.grad(loss_in_jax)(x, w))
    close(jax.jit(jax.jacrev(slope))(x, w), jax.hessian(loss_in_jax)(x, w))
    close(jax.jit(jax.grad(lambda x: jnp.sum(slope(x, w))))(x),
          jnp.sum(jax.hessian(loss_in_jax)(x, w), 0))  # fmt: skip


@pytest.mark.full
def test_examples_run() -> None:
    jax.config.update("jax_enable_x64", False)
    found = doctest.testmod(adc.jax)
    assert found.attempted
    assert found.failed == 0


def test_the_transpose_of_what_is_not_linear() -> None:
    wrapped = adc.jax.wrap(lambda x: x * x)
    transposed = jax.linear_transpose(wrapped, jnp.ones(3))
    with pytest.raises(ArgumentError, match="not linear"):
        transposed(jnp.ones(3))
