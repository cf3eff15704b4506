"""`np.random.RandomState` and the functions of `np.random`: NumPy's numbers to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.random import randn

import adc
from adc.ir.errors import AdcError
from adc.testing import check_grads
from tests.unit.api.arguments.draws import A, Generators, W, X, assert_same

RandomState = np.random.RandomState


def state(rng: Any) -> Any:
    _, key, *rest = rng.get_state()
    return key.tolist(), *rest


def generator(seed: int = 3, half: bool = False) -> Any:
    made = RandomState(seed)
    if half:  # the second of a pair of normal numbers is left
        made.randn()
    return made


OURS = Generators(generator, state)


@pytest.fixture(autouse=True)
def _global_state() -> Iterator[None]:
    """Leave NumPy's generator as it was."""
    before = np.random.get_state()
    yield
    np.random.set_state(before)


# -- draws -----------------------------------------------------------------------------------------

DRAWS: dict[str, Callable[..., Any]] = {
    "uniform": lambda r: (
        r.rand(), r.rand(2, 3), r.rand(0), r.random_sample(), r.random(5), r.random_sample((2, 2)),
        r.uniform(), r.uniform(2.0, 1.0), r.uniform(-1, 1, 4), r.uniform(X, X + 1.0),
        r.uniform(high=X, low=0.0, size=(2, 6)),
    ),
    "normal": lambda r: (
        r.randn(), r.randn(3), r.standard_normal(), r.standard_normal((2, 3)), r.normal(),
        r.normal(1.0, 0.5, 5), r.normal(X, 0.1), r.randn(20001), r.randn(), r.normal(0.0, np.nan),
    ),
    "exponential": lambda r: (
        r.standard_exponential(), r.exponential(2.0, 3), r.exponential(X),
        r.standard_exponential(1000), r.exponential(),
    ),
    "integers": lambda r: (
        r.randint(10), r.randint(3, 10), r.randint(0, 10, 7), r.randint(-5, 5, (2, 3)),
        r.randint(1), r.randint(0, 2**40, 5), r.randint(0, 2**32, 3), r.randint(0, 2**32 - 1, 3),
        r.randint(5, dtype=np.int64), r.randint(7, size=3, dtype=np.int32), r.randint(5, dtype=int),
        r.randint(0, 0, size=0), r.randint(low=2, high=9), r.randint(0, 2**32, 3, dtype=np.uint32),
        r.randint(-0x7FFFFFFFFFFFFFFF - 1, 0x7FFFFFFFFFFFFFFF, size=3), r.randint(4, None),
    ),
    "permutation": lambda r: (
        r.permutation(10), r.permutation(0), r.permutation(X), r.permutation(A),
        r.permutation(70000), r.permutation([1.0, 2.0]), r.permutation(-2),
    ),
    "choice": lambda r: (
        r.choice(5), r.choice(5, 4), r.choice(5, (2, 2)), r.choice(X), r.choice(X, 3),
        r.choice(3, size=0), r.choice(5, replace=False), r.choice(9, 4, replace=False),
        r.choice(X, (2, 2), False), r.choice(20000, 900, replace=False),
    ),
    "choice with probabilities": lambda r: (
        r.choice(3, p=[0.2, 0.5, 0.3]), r.choice(3, 9, p=np.array([0.2, 0.5, 0.3])),
        r.choice(X[:3], (2, 2), p=np.array([0.0, 0.75, 0.25])),
        r.choice(6, 4, replace=False, p=[0.05, 0.5, 0.05, 0.1, 0.2, 0.1]),
        r.choice(X, 6, replace=False, p=[0.05, 0.5, 0.05, 0.1, 0.2, 0.1]),
        r.choice(5, replace=False, p=[0.2, 0.2, 0.2, 0.2, 0.2]),
        r.choice(2, 5, p=np.array([0.334, 0.666], np.float16)),
    ),
    "inverse distribution functions": lambda r: (
        r.laplace(0.5, 2.0, 300), r.logistic(size=300), r.gumbel(1.0, 0.5, 300), r.laplace(),
        r.lognormal(0.5, [0.7, 1.5, 0.0]), r.rayleigh(1.7, 300), r.pareto(2.3, 300),
        r.weibull([1.3, 0.0, 2.0]), r.weibull(0.7, 300), r.power(1.3, 300), r.standard_cauchy(300),
        r.triangular(-1.0, 0.3, 2.0, 300), r.lognormal(),
    ),
    "gamma": lambda r: (
        r.gamma(2.5, 1.5, 3000), r.gamma(0.3, size=3000), r.standard_gamma(1.0, 9), r.gamma(2.0),
        r.gamma([0.5, 1.0, 3.0, 0.0], 2.0), r.chisquare(3.3, 300), r.standard_t(4.5, 300),
        r.f(4.5, 3.0, 300),
    ),
    "beta": lambda r: (
        r.beta(0.4, 0.6, 3000), r.beta(2.0, 3.5, 300), r.beta(0.01, 0.01, 300),
        r.beta(1.0, [0.5, 2.0]), r.beta(0.001, 0.002, 50),
    ),
    "counts": lambda r: (
        r.poisson(0.7, 300), r.poisson(10.0, 3000), r.poisson(300.0, (30, 20)), r.poisson(),
        r.poisson([0.0, 20.0]), r.geometric(0.5, 300), r.geometric(0.05, 300), r.geometric(1.0),
        r.binomial(10, 0.3, 300), r.binomial(10, 0.8, 300), r.binomial(1000, 0.3, 3000),
        r.binomial([0, 3, 500], 0.5), r.binomial(5, 0.0), r.rand(),
    ),
    "vectors": lambda r: (
        r.dirichlet([0.5, 2.0, 1.0], 30), r.dirichlet([0.05, 0.02, 0.01], (5, 6)),
        r.dirichlet([1.0, 2.0]),
    ),
    "seeds": lambda r: (
        r.seed(7), r.randn(), r.seed(8), r.rand(), r.randn(), r.seed(seed=2**32 - 1), r.rand(2),
        RandomState(5).rand(3), RandomState(r.randint(100)).randn(3),
    ),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys(name: str) -> None:
    drawn = adc.jit(DRAWS[name])
    for half in (False, True):
        OURS.assert_drawn(DRAWS[name], compiled=drawn, times=2, half=half)


@pytest.mark.full
def test_many_draws() -> None:
    def drawn(r: Any) -> Any:
        return r.rand(100_000), r.randn(100_001), r.randint(0, 1000, 100_000), r.permutation(10_000)

    OURS.assert_drawn(drawn)


@pytest.mark.full
def test_shuffle() -> None:
    def shuffled(x: Any, rng: Any) -> Any:
        y, z, none = x.copy(), x[:, 0, 0].copy(), x[:, :0, 0].copy()
        rng.shuffle(y)
        rng.shuffle(none)
        rng.shuffle(z)
        rng.shuffle(y[0])
        return y, z

    OURS.assert_drawn(shuffled, A)


def test_sizes_and_bounds_that_are_passed() -> None:
    def drawn(n: Any, high: Any, rng: Any) -> Any:
        return rng.rand(n, 2), rng.randint(high, size=n), rng.choice(high, n, replace=False)

    ours, numpys = generator(), generator()
    f = adc.jit(drawn)
    for n, high in ((3, 5), (0, 1), (400, 20000)):
        assert_same(f(n, high, ours), drawn(n, high, numpys))
    assert state(ours) == state(numpys)


def _by_seed(seed: Any) -> Any:
    rng = RandomState(seed)
    first = rng.rand()
    rng.seed(seed)
    return first, rng.randn(2), rng.randint(9)


_DRAWN_BY_SEED = adc.jit(_by_seed)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31, 2**32 - 1, np.uint32(7)])
def test_seeds_that_are_passed(seed: Any) -> None:
    assert_same(_DRAWN_BY_SEED(seed), _by_seed(seed))


@pytest.mark.parametrize("seed", [-1, 2**32, np.int32(-3)])
def test_seeds_that_do_not_fit(seed: Any) -> None:
    with pytest.raises(ValueError, match="Seed must be between"):
        _by_seed(seed)
    with pytest.raises(ValueError, match="Seed must be between"):
        _DRAWN_BY_SEED(seed)


# -- errors ----------------------------------------------------------------------------------------

RAISED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda s, r: r.normal(0.0, s), (-1.0,)),
    (lambda s, r: r.normal(0.0, s), (-0.0,)),
    (lambda a, b, r: r.uniform(a, b), (0.0, np.inf)),
    (lambda a, b, r: r.uniform(a, b), (np.array([0.0, np.nan]), 0.5)),
    (lambda n, r: r.randint(n), (0,)),
    (lambda n, r: r.randint(n, n), (4,)),
    (lambda n, r: r.randint(0, n, dtype=np.int32), (2**31 + 1,)),
    (lambda n, r: r.choice(n), (0,)),
    (lambda n, r: r.choice(n, 3), (-1,)),
    (lambda n, r: r.choice(3, n, replace=False), (4,)),
    (lambda x, r: r.choice(x), (np.zeros(0),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.5, 0.6]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([-0.5, 1.5]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.5, np.nan]),)),
    (lambda p, r: r.choice(2, p=p), (np.array([0.2, 0.3, 0.5]),)),
    (lambda p, r: r.choice(3, 2, False, p), (np.array([1.0, 0.0, 0.0]),)),
    (lambda n, r: r.rand(n), (-1,)),
    (lambda s, r: r.laplace(0.0, s), (-1.0,)),
    (lambda a, r: r.pareto(a), (0.0,)),
    (lambda a, r: r.gamma(a), (-1.0,)),
    (lambda lam, r: r.poisson(lam), (1e20,)),
    (lambda p, r: r.geometric(p), (0.0,)),
    (lambda p, r: r.binomial(3, p), (1.5,)),
    (lambda n, r: r.seed(n), (-1,)),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("fn", "args"), RAISED)
def test_errors_are_numpys(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    OURS.assert_raised(fn, args)


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda r: np.random.multinomial(3, [0.5, 0.5]), "`.multinomial` of a `RandomState`"),
    (lambda r: r.multivariate_normal([0.0], [[1.0]]), "`.multivariate_normal` of a `RandomState`"),
    (lambda r: r.get_state(), "`.get_state` of a `RandomState`"),
    (lambda r: np.random.set_state(r), "`.set_state` of a `RandomState`"),
    (lambda r: r.random_integers(3), "`.random_integers` of a `RandomState`"),
    (lambda r: r.integers(3), "`.integers` of a `RandomState`"),
    (lambda r: np.random.default_rng(3).rand(), "`.rand` of a random"),  # type: ignore[attr-defined]
    (lambda r: RandomState().rand(), "without a seed"),
    (lambda r: np.random.seed(), "without a seed"),
    (lambda r: r.seed(None), "without a seed"),
    (lambda r: RandomState(1.5).rand(), "a seed must be an integer"),  # type: ignore[arg-type]
    (lambda r: RandomState([1, 2]).rand(), "a seed is not defined for a list"),
    (lambda r: r.rand((2, 3)), "cannot be interpreted as an integer"),
    (lambda r: r.rand(2.0), "a size must be an integer"),
    (lambda r: r.randn(size=2), "takes no keyword arguments"),
    (lambda r: r.choice(np.ones((2, 2))), "a must be 1-dimensional"),
    (lambda r: r.randint([2, 3]), "an array of bounds"),
    (lambda r: r.randint(3, dtype=np.int8), "integers of dtype int8"),
    (lambda r: np.random.default_rng(r).random(), "with the bits of a `RandomState`"),
    (lambda r: r, "returning a RandomState"),
]


@pytest.mark.parametrize(("fn", "text"), REFUSED)
def test_refused(fn: Callable[..., Any], text: str) -> None:
    OURS.assert_refused(fn, text)


def test_other_bits_are_refused() -> None:
    rng = RandomState(np.random.PCG64(1))
    with pytest.raises(AdcError, match=r"argument 'r'.*PCG64"):
        adc.jit(lambda r: r.rand())(rng)


# -- where generators are --------------------------------------------------------------------------


def loss(w: Any, x: Any, rng: Any) -> Any:
    keep = rng.rand(*x.shape) < 0.7
    return np.sum(np.tanh(w * x) * keep) + np.sum(rng.normal(w, 0.1) ** 2)


@pytest.mark.full
@pytest.mark.parametrize("remat", ["auto", "store", "recompute", "random:1"])
def test_a_gradient_draws_what_one_call_draws(remat: str) -> None:
    OURS.assert_gradient(loss, remat)


@pytest.mark.full
def test_every_transformation_draws_what_one_call_draws() -> None:
    direction = np.ones(6)
    transformations: list[Callable[..., Any]] = [
        lambda r: adc.grad(loss)(W, X, r) @ direction,
        lambda r: adc.jvp(loss, (W, X, r), (direction, None, None))[1],
        lambda r: adc.vjp(loss, W, X, r)[1](1.0)[0] @ direction,
        lambda r: np.sum(adc.hvp(loss, (W, X, r), (direction, None, None))[0]),
        lambda r: np.sum(adc.hessian(loss)(W, X, r)),
    ]
    made = OURS.drawn_once(transformations, lambda r: loss(W, X, r))
    np.testing.assert_allclose(made[1:3], [made[0]] * 2, rtol=1e-12)
    np.testing.assert_allclose(made[4], made[3], rtol=1e-12)


@pytest.mark.full
def test_gradients_are_those_of_differences() -> None:
    def drawn(w: Any, r: Any) -> Any:
        found = r.randn(3) @ r.normal(w, w[0]) + np.sum(r.uniform(w, 2.0 * w) * r.exponential(w))
        found = found + np.sum(r.rayleigh(w) + r.gamma(2.0, w) + r.pareto(w + 2.0) + r.power(w))
        return found + np.sum(r.lognormal(w, w) * r.triangular(0.0, w, 3.0) + r.weibull(w + 1.0))

    check_grads(drawn, (np.array([0.6, 0.9, 1.2]), generator()))


@pytest.mark.full
def test_a_budget_changes_no_bit() -> None:
    def simulated(x: Any, r: Any, n: Any) -> Any:
        for _ in range(n):
            x = x + 0.001 * np.sin(x) * r.randn() + 0.001 * np.tanh(x)
        return x * x

    found = []
    for memory in (None, "100 kB"):
        ours, numpys = generator(), generator()
        found.append(adc.value_and_grad(simulated, memory=memory)(1.0, ours, 30_000))
        simulated(1.0, numpys, 30_000)
        assert state(ours) == state(numpys)
    assert found[0] == found[1]


def _helper(w: Any) -> Any:
    return np.random.uniform(0.0, w)


def _drawn_globally(w: Any) -> Any:
    np.random.seed(4)
    draw = np.random.standard_normal
    x = np.arange(5.0) * w
    np.random.shuffle(x)
    t = x[0] + 2.0 * x[1]
    for _ in range(4):
        if np.random.rand() < 0.5:
            t += w * randn() * draw()
        else:
            t *= _helper(w) + np.random.ranf() + np.random.sample(2)[1] + np.random.random_sample()
    return t + np.random.choice(5) * np.random.normal(w, 2.0) * np.random.randint(1, 9)


def _drawn_on(w: Any) -> Any:
    return w * np.random.randn(3) + _helper(w) * randn()


@pytest.mark.full
@pytest.mark.parametrize("fn", [_drawn_globally, _drawn_on])
def test_the_generator_of_numpy(fn: Callable[..., Any]) -> None:
    np.random.seed(7)
    wanted = fn(1.5), fn(0.5)
    after = state(np.random)
    np.random.seed(7)
    compiled = adc.jit(fn)
    assert_same((compiled(1.5), compiled(0.5)), wanted)
    assert state(np.random) == after
    np.random.seed(7)
    pushed = adc.jvp(fn, (1.5,), (1.0,))[0], adc.jvp(fn, (0.5,), (1.0,))[0]
    np.testing.assert_allclose(pushed[0], wanted[0], rtol=1e-15)
    np.testing.assert_allclose(pushed[1], wanted[1], rtol=1e-15)
    assert state(np.random) == after


@pytest.mark.full
def test_check_grads_draws_the_same_again() -> None:
    before = state(np.random)
    check_grads(lambda w: w * w * np.random.rand() + np.sum(np.sin(w * randn(3))), (1.5,), order=2)
    assert state(np.random) == before


def test_a_call_that_raises_draws_nothing() -> None:
    def raising(w: Any) -> Any:
        if np.random.rand() < 2.0:
            raise ValueError("no")
        return w

    before = state(np.random)
    with pytest.raises(ValueError, match="no"):
        adc.jit(raising)(1.0)
    assert state(np.random) == before


class Network:
    """Dropout with a generator of its own."""

    def __init__(self, n: int, seed: int) -> None:
        self.rng = RandomState(seed)
        self.w = self.rng.randn(n)

    def __call__(self, x: Any) -> Any:
        mask = self.rng.rand(*self.w.shape) < 0.5
        return np.sum(self.w * x * mask)


def test_generators_of_objects() -> None:
    def made(x: Any) -> Any:
        network = Network(4, 3)
        return network(x) + network(x)

    assert adc.jit(made)(1.5) == made(1.5)
    ours, numpys = Network(4, 2), Network(4, 2)
    call = adc.jit(ours)
    assert [call(2.0) for _ in range(3)] == [numpys(2.0) for _ in range(3)]
    assert state(ours.rng) == state(numpys.rng)


def _check_random_state(seed: Any) -> Any:
    """Scikit-learn's function."""
    if seed is None or seed is np.random:
        return np.random.mtrand._rand
    if isinstance(seed, RandomState):
        return seed
    return RandomState(seed)


@pytest.mark.full
def test_generators_of_any_kind() -> None:
    def drawn(w: Any, rng: Any) -> Any:
        rng = _check_random_state(rng)
        return w * rng.randn() + np.random.rand()

    for seed in (None, 3, generator()):
        np.random.seed(1)
        wanted = drawn(2.0, generator() if isinstance(seed, RandomState) else seed)
        np.random.seed(1)
        assert adc.jit(drawn)(2.0, seed) == wanted


@pytest.mark.full
def test_methods_that_are_captured_and_passed() -> None:
    rng = generator(5)
    draw = rng.normal
    numpys = generator(5)
    f = adc.jit(lambda x: x * draw())
    assert [f(2.0) for _ in range(3)] == [2.0 * numpys.normal() for _ in range(3)]
    assert state(rng) == state(numpys)
    assert adc.jit(lambda x, d: x * d(2).sum())(2.0, rng.rand) == 2.0 * numpys.rand(2).sum()
    draw = RandomState(8).uniform  # the code is made anew
    assert f(2.0) == 2.0 * RandomState(8).uniform()


@pytest.mark.full
def test_one_generator_under_two_names() -> None:
    rng = generator()
    with pytest.raises(AdcError, match="under two names"):
        adc.jit(lambda a, b: a.rand() + b.rand())(rng, rng)
    with pytest.raises(AdcError, match="under two names"):
        adc.jit(lambda a: a.rand() + np.random.rand())(np.random.mtrand._rand)


def test_signatures_and_classes() -> None:
    f = adc.jit(lambda r: r.rand() if isinstance(r, RandomState) else r.random())
    assert f(generator()) == generator().rand()
    assert f(np.random.default_rng(2)) == np.random.default_rng(2).random()
    assert sorted(str(each).count("RandomState") for each in f.signatures()) == [0, 1]


def test_a_random_state_is_not_differentiated() -> None:
    with pytest.raises(AdcError, match=r"argument 'r' of .* is a random generator"):
        adc.grad(lambda r, x: x * r.rand())(generator(), 2.0)


@pytest.mark.full
def test_derivatives_within_code_advance_generators() -> None:
    def trained(w: Any, x: Any, rng: Any) -> Any:
        for _ in range(3):
            w = w - 0.1 * adc.grad(loss)(w, x, rng)
            w = w + 0.01 * adc.jvp(lambda u: u * np.sum(u * np.random.randn()), (w,), (x,))[1]
        return w

    np.random.seed(3)
    ours, numpys = generator(), generator()
    compiled = adc.jit(trained)(W, X, ours)
    after = state(np.random)
    np.random.seed(3)
    np.testing.assert_allclose(compiled, trained(W, X, numpys), rtol=1e-12)
    assert state(ours) == state(numpys)
    assert state(np.random) == after


@pytest.mark.full
def test_target_python() -> None:
    ours, numpys = generator(), generator()
    found = adc.value_and_grad(loss, target="python")(W, X, ours)[0]
    assert found == pytest.approx(loss(W, X, numpys))
    assert state(ours) == state(numpys)
