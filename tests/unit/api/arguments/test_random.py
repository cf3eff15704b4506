"""Random draws are NumPy's to the last bit, and generators advance as they do in Python."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend import cpu
from adc.compiler.driver import transform
from adc.frontend.entry import lower
from adc.frontend.inputs import flatten, trees
from adc.ir import interp
from adc.ir.core import Apply, Function, Value
from adc.ir.errors import AdcError, IRError
from adc.ir.opdef import OPS
from adc.ir.ops.random import TABLES
from adc.ir.ops.ziggurat import table
from adc.ir.types import Scalar
from adc.library import random as library
from adc.passes.memory.storage import storage
from adc.passes.remat import choose as remat_choose
from adc.testing import check_grads
from tests.corpus.arrays.random_programs import RANDOM_PROGRAMS
from tests.unit.api.arguments.draws import A, Generators, W, X, assert_same

SEEDS = (0, 7)


def generator(seed: int = 0, half: bool = False) -> np.random.Generator:
    made = np.random.default_rng(seed)
    if half:  # a word of 64 bits is half used
        made.random(dtype=np.float32)
    return made


def state(rng: np.random.Generator) -> Any:
    return rng.bit_generator.state


OURS = Generators(generator, state)


# -- draws -----------------------------------------------------------------------------------------

DRAWS: dict[str, Callable[..., Any]] = {
    "random": lambda r: (r.random(), r.random(5), r.random((2, 3)), r.random(size=0), r.random()),
    "random32": lambda r: (
        r.random(dtype=np.float32), r.random(5, dtype="float32"), r.random(dtype=float),
    ),
    "standard_normal": lambda r: (
        r.standard_normal(), r.standard_normal(20000), r.standard_normal((2, 3, 4)),
    ),
    "standard_normal32": lambda r: (
        r.standard_normal(20001, dtype=np.float32), r.standard_normal(dtype=np.float32),
    ),
    "standard_exponential": lambda r: (
        r.standard_exponential(), r.standard_exponential(20000),
        r.standard_exponential((2, 1, 3), method="zig"),
    ),
    "standard_exponential32": lambda r: r.standard_exponential(20001, dtype=np.float32),
    "normal": lambda r: (
        r.normal(), r.normal(2.0, 0.5), r.normal(loc=1, scale=2, size=3), r.normal(size=(2, 2)),
        r.normal(X, 0.1), r.normal(A[0, 0], A[:, 0], size=(3, 4, 2)), r.normal([1.0, 2.0], 3),
        r.normal(np.float32(1.0), 2), r.normal(0.0, 0.0), r.normal(0.0, np.nan),
    ),
    "exponential": lambda r: (
        r.exponential(), r.exponential(2.5), r.exponential(0.5, 4), r.exponential(X),
        r.exponential(scale=X[:2], size=(3, 2)),
    ),
    "uniform": lambda r: (
        r.uniform(), r.uniform(-2.0), r.uniform(-1, 1, 4), r.uniform(X, X + 1.0),
        r.uniform(high=X, low=0.0, size=(2, 6)), r.uniform(1.0, 1.0),
    ),
    "integers": lambda r: (
        r.integers(10), r.integers(3, 10), r.integers(0, 10, size=7), r.integers(-5, 5, (2, 3)),
        r.integers(0, 6, endpoint=True), r.integers(1), r.integers(0, 2**40, size=5),
        r.integers(0, 2**32, size=3), r.integers(0, 2**32 - 1, size=3), r.integers(0, 2**31 + 1, 9),
        r.integers(-0x4000000000000000, 0x4000000000000000, 5), r.integers(5, dtype=int),
        r.integers(0, 0, size=0),
        r.integers(-0x7FFFFFFFFFFFFFFF - 1, 0x7FFFFFFFFFFFFFFF, endpoint=True, size=2),
        r.integers(0, 0x6000000000000000, size=5), r.integers(np.int32(4), np.uint8(9)),
    ),
    "integers of other types": lambda r: (
        r.integers(10, dtype=np.int32), r.integers(-7, 7, 5, dtype=np.int32),
        r.integers(0, 2**32, 5, dtype=np.uint32), r.integers(0, 9, 3, dtype=np.uint64),
        r.integers(0, 2**33, 3, dtype="uint64"), r.random(),
    ),
    "choice": lambda r: (
        r.choice(5), r.choice(5, 4), r.choice(5, size=(2, 2)), r.choice(X), r.choice(X, 3),
        r.choice(A, 2), r.choice(A, 2, axis=1), r.choice(3, size=0), r.choice([1.5, 2.5], 3),
    ),
    "choice without replacement": lambda r: (
        r.choice(5, replace=False), r.choice(9, 4, replace=False), r.choice(6, 6, False),
        r.choice(X, (2, 2), replace=False), r.choice(9, 4, replace=False, shuffle=False),
        r.choice(20000, 3, replace=False), r.choice(20000, 900, replace=False),
        r.choice(20000, 900, replace=False, shuffle=False), r.choice(5, 0, replace=False),
    ),
    "choice with probabilities": lambda r: (
        r.choice(3, p=[0.2, 0.5, 0.3]), r.choice(3, 9, p=np.array([0.2, 0.5, 0.3])),
        r.choice(X[:3], (2, 2), p=np.array([0.0, 0.75, 0.25])),
        r.choice(2, 5, p=np.array([0.1, 0.9], np.float32)),
        r.choice(6, 4, replace=False, p=[0.05, 0.5, 0.05, 0.1, 0.2, 0.1]),
        r.choice(X, (2, 3), replace=False, p=[0.05, 0.5, 0.05, 0.1, 0.2, 0.1]),
    ),
    "permutation": lambda r: (
        r.permutation(10), r.permutation(0), r.permutation(-2), r.permutation(1),
        r.permutation(X), r.permutation(A), r.permutation(A, axis=1), r.permutation(70000),
    ),
    "inverse distribution functions": lambda r: (
        r.laplace(0.5, 2.0, 300), r.logistic(size=300), r.gumbel(1.0, 0.5, 300), r.laplace(),
        r.lognormal(0.5, [0.7, 1.5, 0.0]), r.rayleigh(1.7, 300), r.pareto(2.3, 300),
        r.weibull([1.3, 0.0, 2.0]), r.weibull(0.7, 300), r.power(1.3, 300), r.standard_cauchy(300),
        r.triangular(-1.0, 0.3, 2.0, 300), r.triangular([0.0, 1.0], 1.5, 2.0), r.lognormal(),
    ),
    "gamma": lambda r: (
        r.gamma(2.5, 1.5, 3000), r.gamma(0.3, size=3000), r.standard_gamma(1.0, 9), r.gamma(2.0),
        r.gamma([0.5, 1.0, 3.0, 0.0], 2.0), r.chisquare(3.3, 300), r.standard_t(4.5, 300),
    ),
    "beta": lambda r: (
        r.beta(0.4, 0.6, 3000), r.beta(2.0, 3.5, 300), r.beta(0.01, 0.01, 300), r.f(4.5, 3.0, 300),
        r.beta(1.0, [0.5, 2.0]),
    ),
    "counts": lambda r: (
        r.poisson(0.7, 300), r.poisson(10.0, 3000), r.poisson(300.0, (30, 20)), r.poisson(),
        r.poisson([0.0, 20.0]), r.geometric(0.5, 300), r.geometric(0.05, 300), r.geometric(1.0),
        r.binomial(10, 0.3, 300), r.binomial(10, 0.8, 300), r.binomial(1000, 0.3, 3000),
        r.binomial(100000, 0.6, 300), r.binomial([0, 3, 500], 0.5), r.binomial(5, 0.0),
    ),
    "vectors": lambda r: (
        r.dirichlet([0.5, 2.0, 1.0], 30), r.dirichlet([0.05, 0.02, 0.01], (5, 6)),
        r.dirichlet([1.0, 2.0]),
    ),
    "interleaved": lambda r: (
        r.random(dtype=np.float32), r.random(), r.integers(9), r.normal(), r.integers(9, size=2),
        r.standard_normal(dtype=np.float32), r.permutation(3), r.exponential(),
    ),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys(name: str, half: bool) -> None:
    drawn = adc.jit(DRAWS[name])
    for seed in SEEDS:
        OURS.assert_drawn(DRAWS[name], compiled=drawn, times=2, seed=seed, half=half)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["normal", "exponential"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rare_draws(kind: str, dtype: str) -> None:
    """Those from the tail, and those between a layer and the curve, are among a million."""

    def draw(r: Any) -> Any:
        if kind == "normal":
            return r.standard_normal(1_000_000, dtype=dtype)
        return r.standard_exponential(1_000_000, dtype=dtype)

    OURS.assert_drawn(draw, seed=5)


@pytest.mark.full
def test_shuffle() -> None:
    def shuffled(x: Any, rng: Any) -> Any:
        y, z, none = x.copy(), x[:, 0, 0].copy(), x[:, :0, 0].copy()
        rng.shuffle(y)
        rng.shuffle(none)
        rng.shuffle(z)
        rng.shuffle(y, axis=1)
        rng.shuffle(y[0])
        return y, z

    OURS.assert_drawn(shuffled, A)


@pytest.mark.full
def test_sizes_and_bounds_that_are_passed() -> None:
    def drawn(n: Any, high: Any, rng: Any) -> Any:
        return (
            rng.normal(size=n), rng.integers(high, size=(n, 2)), rng.choice(high, n),
            rng.choice(high, n, replace=False), rng.permutation(n),
        )  # fmt: skip

    ours, numpys = generator(), generator()
    f = adc.jit(drawn)
    for n, high in ((3, 5), (0, 1), (6, 2**40), (400, 20000), (401, 20000)):
        if high < 2**30:
            assert_same(f(n, high, ours), drawn(n, high, numpys))
    assert state(ours) == state(numpys)
    assert len(f.signatures()) == 1


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31, 2**32 + 7, 2**63 - 1, np.uint64(2**64 - 1)])
def test_seeds_that_are_passed(seed: Any) -> None:
    def drawn(seed: Any) -> Any:
        rng = np.random.default_rng(seed)
        return rng.random(), rng.integers(9), np.random.default_rng(rng).random()

    assert_same(_DRAWN_BY_SEED(seed), drawn(int(seed)))


def _by_seed(seed: Any) -> Any:
    rng = np.random.default_rng(seed)
    return rng.random(), rng.integers(9), np.random.default_rng(rng).random()


_DRAWN_BY_SEED = adc.jit(_by_seed)


def test_a_seed_that_is_written() -> None:
    found = adc.jit(lambda: np.random.default_rng(2**60 + 3).random(3))()
    assert_same(found, np.random.default_rng(2**60 + 3).random(3))


# -- errors ----------------------------------------------------------------------------------------

RAISED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda s, r: r.normal(0.0, s), (-1.0,)),
    (lambda s, r: r.normal(0.0, s), (-0.0,)),
    (lambda s, r: r.normal(0.0, s, 3), (np.array([1.0, -1.0, 2.0]),)),
    (lambda s, r: r.normal(0.0, -2.0), (1.0,)),
    (lambda s, r: r.exponential(s), (-1.0,)),
    (lambda a, b, r: r.uniform(a, b), (1.0, 0.0)),
    (lambda a, b, r: r.uniform(a, b), (0.0, np.inf)),
    (lambda a, b, r: r.uniform(a, b), (np.array([0.0, 1.0]), 0.5)),
    (lambda n, r: r.integers(n), (0,)),
    (lambda n, r: r.integers(n, n), (4,)),
    (lambda n, r: r.integers(n, 3, endpoint=True), (4,)),
    (lambda n, r: r.integers(-1, endpoint=True), (4,)),
    (lambda n, r: r.integers(0, n, dtype=np.int32), (2**31 + 1,)),
    (lambda n, r: r.integers(-n, 5, dtype=np.uint32), (1,)),
    (lambda n, r: r.choice(n), (0,)),
    (lambda n, r: r.choice(n, 3), (-1,)),
    (lambda n, r: r.choice(3, n, replace=False), (4,)),
    (lambda x, r: r.choice(x), (np.zeros(0),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.5, 0.6]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([-0.5, 1.5]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.5, np.nan]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.2, 0.3, 0.5]),)),
    (lambda p, r: r.choice(3, 2, False, p), (np.array([1.0, 0.0, 0.0]),)),
    (lambda n, r: r.random(n), (-1,)),
    (lambda s, r: r.laplace(0.0, s), (-1.0,)),
    (lambda s, r: r.lognormal(0.0, s), (-1.0,)),
    (lambda a, r: r.weibull(a, 3), (-1.0,)),
    (lambda a, r: r.pareto(a), (0.0,)),
    (lambda a, r: r.gamma(a), (-1.0,)),
    (lambda a, r: r.beta(a, 1.0), (np.array([1.0, 0.0]),)),
    (lambda a, r: r.standard_t(a), (0.0,)),
    (lambda a, r: r.triangular(a, 0.0, 1.0), (0.5,)),
    (lambda a, r: r.triangular(0.0, 0.0, a), (0.0,)),
    (lambda lam, r: r.poisson(lam), (-1.0,)),
    (lambda lam, r: r.poisson(lam), (np.nan,)),
    (lambda lam, r: r.poisson(lam), (1e20,)),
    (lambda p, r: r.geometric(p), (0.0,)),
    (lambda p, r: r.binomial(3, p), (1.5,)),
    (lambda n, r: r.binomial(n, 0.5), (-1,)),
    (lambda n, r: np.random.default_rng(n).random(), (-1,)),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("fn", "args"), RAISED)
def test_errors_are_numpys(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found = OURS.assert_raised(fn, args)
    assert found.traceback[-1].lineno == fn.__code__.co_firstlineno - 1


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda r: r.random(out=np.zeros(3)), "the argument 'out'"),
    (lambda r: r.standard_exponential(method="inv"), "a method other than"),
    (lambda r: r.integers(9, dtype=np.int8), "integers of dtype int8"),
    (lambda r: r.shuffle([1, 2]), "shuffling a list"),
    (lambda r: r, "returning a Generator"),
    (lambda r: r.spawn(2), "`.spawn` of a random generator"),
    (
        lambda r: np.random.default_rng(1.5).random(),  # type: ignore[arg-type]  # as it is told
        "a seed must be an integer",
    ),
    (lambda r: r.random(2.0), "a size must be an integer"),
    (lambda r: r.standard_normal(dtype=np.int64), "no random numbers of dtype i64"),
    (lambda r: r.normal(np.zeros((2, 2)), 1.0, size=2), "parameters of rank 2"),
    (lambda r: r.normal("a"), "'loc' is str 'a', not a number"),
    (lambda r: r.vonmises(0.0, 1.0), "`.vonmises` of a random generator"),
    (lambda r: r.standard_gamma(2.0, dtype=np.float32), "in single precision"),
    (lambda r: r.multivariate_normal([0.0], [[1.0]]), "by a method other than 'cholesky'"),
]


@pytest.mark.parametrize(("fn", "text"), REFUSED)
def test_refused(fn: Callable[..., Any], text: str) -> None:
    OURS.assert_refused(fn, text)


@pytest.mark.parametrize("bits", [np.random.Philox, np.random.MT19937, np.random.PCG64DXSM])
def test_other_generators_are_refused(bits: Any) -> None:
    rng = np.random.Generator(bits(1))
    with pytest.raises(AdcError, match=f"argument 'r'.*{bits.__name__}"):
        adc.jit(lambda r: r.random())(rng)
    with pytest.raises(AdcError, match=f"`rng`.*{bits.__name__}"):
        adc.jit(lambda: rng.random())()


@pytest.mark.full
@pytest.mark.parametrize("draw", ["gamma", "chisquare", "standard_t"])
def test_parameters_of_draws_by_rejection_have_no_derivative(draw: str) -> None:
    def drawn(a: Any, r: Any) -> Any:
        return getattr(r, draw)(a)

    with pytest.raises(AdcError, match="drawn by rejection") as caught:
        adc.grad(drawn)(2.0, generator())
    assert "adc.stop_gradient" in str(caught.value)

    def stopped(a: Any, r: Any) -> Any:
        return a * getattr(r, draw)(adc.stop_gradient(a))

    assert adc.grad(stopped)(2.0, generator()) == getattr(generator(), draw)(2.0)


# -- generators ------------------------------------------------------------------------------------


def loss(w: Any, x: Any, rng: Any) -> Any:
    keep = rng.random(x.shape) < 0.7
    return np.sum(np.tanh(w * x) * keep) + np.sum(rng.normal(w, 0.1) ** 2)


@pytest.mark.full
@pytest.mark.parametrize("remat", ["auto", "store", "recompute", "random:1"])
def test_a_gradient_draws_what_one_call_draws(remat: str) -> None:
    OURS.assert_gradient(loss, remat)


@pytest.mark.full
def test_every_transformation_draws_what_one_call_draws() -> None:
    def vector(w: Any, rng: Any) -> Any:
        return np.sin(w * rng.normal(size=w.shape)) * rng.random()

    def scalar(w: Any, rng: Any) -> Any:
        return np.sum(vector(w, rng) ** 2)

    direction = np.ones(6)
    transformations: list[Callable[..., Any]] = [
        lambda r: adc.jacrev(vector)(W, r) @ direction,
        lambda r: adc.jacfwd(vector)(W, r) @ direction,
        lambda r: adc.jvp(vector, (W, r), (direction, None))[1],
        lambda r: adc.vjp(vector, W, r)[1](direction)[0],
        lambda r: adc.hessian(scalar)(W, r) @ direction,
        lambda r: adc.hvp(scalar, (W, r), (direction, None))[0],
        lambda r: adc.jacrev(adc.grad(scalar))(W, r) @ direction,
    ]
    made = OURS.drawn_once(transformations, lambda r: vector(W, r))
    for found in made[1:4]:
        np.testing.assert_allclose(found, made[0], rtol=1e-12)
    for found in made[5:]:
        np.testing.assert_allclose(found, made[4], rtol=1e-12)


@pytest.mark.full
def test_higher_orders_and_auxiliary_results() -> None:
    z = generator().normal()

    def cubed(x: Any, rng: Any) -> Any:
        return x**3 * rng.normal()

    ours = generator()
    assert adc.grad(adc.grad(cubed))(2.0, ours) == pytest.approx(12.0 * z)
    assert state(ours) != state(generator())

    def with_aux(x: Any, rng: Any) -> Any:
        return x * x * rng.normal(), {"n": rng.integers(5), "z": rng.random(2)}

    ours, numpys = generator(), generator()
    (value, aux), slope = adc.value_and_grad(with_aux, has_aux=True)(2.0, ours)
    wanted = with_aux(2.0, numpys)
    assert (value, slope) == (pytest.approx(wanted[0]), pytest.approx(4.0 * z))
    assert_same((aux["n"], aux["z"]), (wanted[1]["n"], wanted[1]["z"]))
    assert state(ours) == state(numpys)


@pytest.mark.full
def test_a_pullback_draws_the_same_again() -> None:
    captured = generator(4)

    def drawn(w: Any, rng: Any) -> Any:
        return w * rng.normal(size=3) * captured.random(3)

    ours = generator()
    _, pull = adc.vjp(drawn, np.ones(3), ours)
    wanted = generator().normal(size=3) * generator(4).random(3)
    before = state(ours), state(captured)
    for _ in range(2):
        np.testing.assert_array_equal(pull(np.ones(3))[0], wanted)
        assert (state(ours), state(captured)) == before
        ours.random()
        captured.random()
        before = state(ours), state(captured)


@pytest.mark.full
def test_captured_generators() -> None:
    captured = generator(4)

    class Model:
        def __init__(self) -> None:
            self.rng = generator(5)

        def loss(self, x: Any) -> Any:
            return x * self.rng.normal() * captured.random()

    model = Model()
    gradient = adc.grad(model.loss)
    one, two = generator(4), generator(5)
    for _ in range(3):
        assert gradient(2.0) == two.normal() * one.random()
        assert state(captured) == state(one)
        assert state(model.rng) == state(two)


def test_one_generator_in_two_arguments() -> None:
    rng = generator()
    same = np.random.Generator(rng.bit_generator)
    for other in (rng, same):
        with pytest.raises(AdcError, match="under two names"):
            adc.jit(lambda a, b: a.random() + b.random())(rng, other)
    assert adc.jit(lambda a, b, x: x + 1.0)(rng, rng, 1.0) == 2.0  # nothing is drawn


def test_a_generator_that_nothing_is_drawn_from_stays() -> None:
    rng = generator()
    assert adc.grad(lambda x, r, n: x * x if n == 0 else x * r.random())(2.0, rng, 0) == 4.0
    assert state(rng) == state(generator())


def test_a_generator_is_not_differentiated() -> None:
    with pytest.raises(AdcError, match=r"argument 'r' of .* is a random generator"):
        adc.grad(lambda r, x: x * r.random())(generator(), 2.0)
    assert adc.grad(lambda x, r: x * r["r"].random())({"x": 1.0}["x"], {"r": generator()}) > 0.0


def test_other_generators_find_compiled_code() -> None:
    f = adc.grad(lambda x, r: x * r.random())
    for seed in range(5):
        assert f(2.0, generator(seed)) == generator(seed).random()
    assert len(f.signatures()) == 1
    assert "Generator" in f.signatures()[0]


def test_isinstance() -> None:
    f = adc.jit(lambda r: r.random() if isinstance(r, np.random.Generator) else 2.0)
    assert f(generator()) == generator().random()


@pytest.mark.full
def test_threads_share_a_generator() -> None:
    """Each call draws numbers of its own: none twice, none lost."""
    rng = generator()
    f = adc.jit(lambda r: r.integers(2**60, size=1000))
    f(generator())
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.extend(f(rng) for _ in range(20))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = generator()
    expected = np.sort(np.concatenate([wanted.integers(2**60, size=1000) for _ in range(80)]))
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), expected)
    assert state(rng) == state(wanted)


@pytest.mark.full
def test_check_grads_leaves_the_generator() -> None:
    rng = generator()
    check_grads(loss, (W, X, rng), order=2)
    assert state(rng) == state(generator())


# -- derivatives within code -----------------------------------------------------------------------

_OUTSIDE = generator(9)


def _trained(w: Any, x: Any, rng: Any) -> Any:
    for _ in range(4):
        w = w - 0.1 * adc.grad(loss)(w, x, rng)
        v, g = adc.value_and_grad(lambda u: loss(u, x, rng))(w)
        w = w - 0.1 * g + 0.01 * v * _OUTSIDE.normal()
        w = w + 0.01 * adc.jvp(lambda u: u * np.sum(u * _OUTSIDE.normal()), (w,), (x,))[1]
        w = w + 0.01 * adc.hvp(loss, (w, x, rng), (x, None, None))[0]
        v, pull = adc.vjp(lambda u: u * rng.normal(), w)
        w = w + 0.01 * pull(v)[0] + 0.001 * pull(v)[0]
        w = w + adc.jit(lambda u, r: 0.01 * u * r.normal())(w, rng)
    return w


@pytest.mark.full
def test_derivatives_within_code_advance_generators() -> None:
    ours, numpys = generator(), generator()
    before = state(_OUTSIDE)
    compiled = adc.jit(_trained)(W, X, ours)
    after = state(_OUTSIDE)
    _OUTSIDE.bit_generator.state = before
    np.testing.assert_allclose(compiled, _trained(W, X, numpys), rtol=1e-12)
    assert state(ours) == state(numpys)
    assert state(_OUTSIDE) == after != before


@pytest.mark.full
def test_derivative_of_training() -> None:
    def trained(w: Any, x: Any, rng: Any) -> Any:
        for _ in range(3):
            w = w - 0.1 * adc.grad(loss)(w, x, rng)
        return np.sum(w * w)

    check_grads(trained, (W, X, generator()), modes="rev")


@pytest.mark.full
def test_jacobians_within_code_draw_once() -> None:
    for jacobian in (adc.jacfwd, adc.jacrev):
        ours, numpys = generator(), generator()
        drawn = numpys.normal(size=6)
        found = adc.jit(lambda w, r, j=jacobian: j(lambda u: u * r.normal(size=6))(w))(W, ours)
        np.testing.assert_array_equal(found, np.diag(drawn))
        assert state(ours) == state(numpys)


@pytest.mark.full
def test_derivatives_of_hessians_draw_once() -> None:
    def cubes(w: Any, r: Any) -> Any:
        return np.sum((w * r.normal(size=6)) ** 3)

    want = np.zeros((6, 6, 6))
    for made in (adc.jacrev(adc.hessian(cubes)), adc.jacfwd(adc.hessian(cubes))):
        ours, numpys = generator(), generator()
        want[(range(6),) * 3] = 6.0 * numpys.normal(size=6) ** 3
        np.testing.assert_allclose(made(W, ours), want, rtol=1e-14)
        assert state(ours) == state(numpys)


def test_draws_that_derivatives_within_code_refuse() -> None:
    @adc.custom_vjp
    def custom(x: Any, r: Any) -> Any:
        return x * r.normal()

    custom.defvjp(lambda x, r: (x, None), lambda kept, ct: (ct, None))
    with pytest.raises(AdcError, match="random draws in custom"):
        adc.grad(lambda x, r: custom(x, r))(1.0, generator())


# -- the compiler ----------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("program", [p for p in RANDOM_PROGRAMS if p.number(3) == 0], ids=str)
def test_interpreter_and_compiled_code_draw_the_same(program: Any) -> None:
    """All results to the last bit, the states of generators among them."""
    args = program.make_args()
    names = program.fn.__code__.co_varnames[: len(args)]
    types = [trees.tree_of(arg) for arg in args]
    lowered = lower(program.fn, dict(zip(names, types, strict=True)))
    made = transform(lowered, ())
    flat = [leaf for arg, ty in zip(args, types, strict=True) for leaf in flatten.leaves(arg, ty)]
    captured = [each for each in lowered.generators if not isinstance(each.place.root, int)]
    flat += [flatten.words(each.place.read()) for each in captured]
    interpreted = interp.run(made.fn, copy.deepcopy(flat))
    drawn = [k for k, result in enumerate(made.fn.results) if result.type.dtype == "u64"]
    compiled = cpu.compile(made.fn)(*flat)
    assert drawn or any(how in program.name for how in ("own", "passed", "seed"))
    for k in drawn:
        assert_same(compiled[k], interpreted[k])
    np.testing.assert_allclose(compiled[0], interpreted[0], rtol=1e-12)


@pytest.mark.full
def test_draws_are_kept_under_every_policy() -> None:
    def simulated(w: Any, rng: Any) -> Any:
        x = 1.0
        for _ in range(5):
            x = x * np.sin(w * rng.random())
        return x

    for policy in ("auto", "store", "recompute", "random:1", "random:2"):
        f = adc.grad(simulated, remat=policy)
        f(0.7, generator())
        reverse = f.ir(after="remat").partition("down from")[2]
        assert reverse
        assert "pcg64" not in reverse
    reasons = [e.reason for e in adc.grad(simulated, remat="recompute").plan(
        0.7, generator()).entries]  # fmt: skip
    assert "a random draw" in reasons


def test_a_draw_that_is_made_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    original = remat_choose.Chooser.repeatable

    def careless(self: Any, stmt: Any) -> bool:
        if isinstance(stmt, Apply) and stmt.op.draw:
            return True
        return original(self, stmt)

    monkeypatch.setattr(remat_choose.Chooser, "repeatable", careless)

    def simulated(w: Any, rng: Any) -> Any:
        x = 1.0
        for _ in range(5):
            x = x * np.sin(w * rng.random())
        return x

    with pytest.raises(IRError, match="need not have its value"):
        adc.grad(simulated, remat="recompute", cache=False)(0.7, generator())


def test_rows() -> None:
    """The rows of words and tables, compiled, are what they are in the interpreter."""
    u64 = Scalar("u64")
    params = tuple(Value(name, u64) for name in "abcd")
    body = tuple(
        Apply((Value(f"r{k}", op.types([u64] * op.arity, ())[0]),), op, params[: op.arity])
        for k, op in enumerate(
            (OPS["pcg64_high"], OPS["pcg64_word"], OPS["mt19937_word"], *TABLES.values())
        )
    )
    fn = Function("rows", params, body, tuple(stmt.result for stmt in body))
    kernel = cpu.compile(storage(fn))
    words = np.random.default_rng(0).integers(0, 2**64, size=(300, 4), dtype=np.uint64)
    words[0], words[1] = 0, 2**64 - 1
    for args in words:
        assert_same(kernel(*args), interp.run(fn, args))


def test_tables() -> None:
    """The ziggurat tables agree with the curves, and with each other."""
    curves: dict[str, Callable[..., Any]] = {
        "normal": lambda x: np.exp(-0.5 * x * x),
        "exponential": lambda x: np.exp(-x),
    }
    for name, curve in curves.items():
        for bits, unit in ((64, 52 if name == "normal" else 53), (32, 23)):
            width, inside, height = (
                table(f"{name}_{part}{bits}").astype(float)
                for part in ("width", "inside", "height")
            )
            edge = width * 2.0**unit
            np.testing.assert_allclose(curve(edge[1:]), height[1:], rtol=1e-5)
            np.testing.assert_allclose(inside[2:] / 2.0**unit, edge[1:-1] / edge[2:], rtol=1e-5)
            area = edge[1:] * (height[:-1] - height[1:])
            np.testing.assert_allclose(area, area[0], rtol=1e-4)


def test_rows_are_no_functions() -> None:
    words = ("pcg64_high", "pcg64_word", "mt19937_word", "bits_of_float", "float_of_bits")
    for name in (*words, "libm_exp", "libm_log1p", *TABLES):
        fn = getattr(library, name)
        with pytest.raises(NotImplementedError):
            fn(*[0] * fn.__code__.co_argcount)


def test_a_verifier_knows_words() -> None:
    with pytest.raises(IRError, match="not words of 64 bits"):
        OPS["pcg64_word"].types([Scalar("i64"), Scalar("u64")], ())
