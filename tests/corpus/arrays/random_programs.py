# ruff: noqa: B007
# Loops with unused counters, as users write them.
"""Programs that draw random numbers: from an argument, from a seed, or by `np.random`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import default_rng

import adc
from tests.corpus.arrays.array_programs import M23, M33
from tests.corpus.program import X6, Program, recorder

RANDOM_PROGRAMS: list[Program] = []
program = recorder(RANDOM_PROGRAMS)


def _rng(seed: int = 3) -> np.random.Generator:
    made = np.random.default_rng(seed)
    made.integers(9, dtype=np.int32)  # half a word is left
    return made


@program(X6, _rng())
def dropout(w: Any, rng: Any) -> Any:
    keep = rng.random(w.shape) < 0.7
    h = np.where(keep, np.sin(w) * w, 0.0) / 0.7
    return np.sum(h * h)


class _Environment:
    """One that is reset with a seed, as those of gymnasium are."""

    def __init__(self, noise: float = 0.1) -> None:
        self.noise, self.generator = noise, np.random.default_rng()

    def reset(self, seed: int) -> Any:
        self.generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self.state = self.generator.uniform(-0.5, 0.5, size=2)
        return self.state

    def step(self, action: Any) -> tuple[Any, Any]:
        angle, speed = self.state
        speed = speed + 0.1 * (np.sin(angle) + action) + self.noise * self.generator.normal()
        self.state = np.array([angle + 0.1 * speed, speed])
        return self.state, -(angle**2) - 0.1 * action**2


@program(np.array([-0.4, 0.3]), 5)
def environment_with_a_seed(w: Any, seed: Any) -> Any:
    environment, total = _Environment(), 0.0
    state = environment.reset(seed)
    for _ in range(6):
        state, reward = environment.step(np.tanh(w @ state))
        total += reward
    return total


@program(X6, _rng())
def reparametrised(w: Any, rng: Any) -> Any:
    z = rng.normal(w, np.exp(0.1 * w))
    return np.mean(z * z) + np.sum(rng.normal(w[0], 0.3, size=5) ** 2)


@program(0.7, _rng())
def draws_of_python_floats(w: Any, rng: Any) -> Any:
    s = 0.0
    for k in range(4):
        s += np.sin(w * rng.normal()) * rng.exponential(w * w) + rng.uniform(w, 3.0 * w) ** 2
    return s


@program(M23, _rng())
def parameters_are_broadcast(w: Any, rng: Any) -> Any:
    z = rng.normal(w[0], np.array([[0.5], [2.0]]))
    e = rng.exponential(w[1] * w[1], size=(4, 3))
    u = rng.uniform(w, w + 2.0)
    return np.sum(np.tanh(z)) + np.sum(e * e) * 0.1 + np.sum(u * z)


@program(0.8, _rng())
def stochastic_differential_equation(w: Any, rng: Any) -> Any:
    x = 1.0
    for k in range(12):
        x = x - 0.1 * np.sin(x * w) + 0.1 * w * rng.normal() * x
    return x * x


@program(0.6, _rng())
def branches_on_draws(w: Any, rng: Any) -> Any:
    x = w
    for k in range(12):
        u = rng.random()
        if u < 0.3:
            x = x * np.cos(x) + rng.normal(x, 0.1)
        elif u < 0.6:
            x = x + 0.1 * np.sum(np.sin(rng.normal(x, 0.1, size=3)))
        else:
            x = x * 0.9
    return x * x


@program(0.6, _rng(), tags="while")
def while_a_draw_says_so(w: Any, rng: Any) -> Any:
    x = w
    while rng.random() < 0.8:
        x = np.sin(x) + w * rng.exponential()
    return x * x


@program(0.3, _rng(11), tags="exit")
def exits_after_draws(w: Any, rng: Any) -> Any:
    for k in range(50):
        z = rng.normal(w, 1.0)
        if z > 1.5:
            continue
        if z < -1.2:
            return z * z
        w = w * 1.01 + 0.01 * z
    return w


@program(0.8, _rng())
def unused_draws(w: Any, rng: Any) -> Any:
    rng.random(3)
    _ = rng.normal(w)
    return w * w * rng.random()


@program(0.8, _rng(1), _rng(2))
def two_generators(w: Any, a: Any, b: Any) -> Any:
    return w * a.normal() * b.normal() + np.sum(w * a.random(3) * w * b.random(3))


@program(0.8, _rng())
def another_name(w: Any, rng: Any) -> Any:
    same = rng
    return same.normal() * w + rng.normal() * w * w


@program(X6, _rng())
def choices_and_permutations(w: Any, rng: Any) -> Any:
    t = 0.0
    for k in range(3):
        z = rng.standard_normal(w.shape)
        i = rng.choice(len(w), size=2, replace=False)
        j = rng.integers(0, len(w), size=3)
        p = rng.permutation(w)
        q = rng.choice(w, p=np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.1]))
        t += np.sum(np.sin(w * z)) * np.sum(w[i]) * q + np.sum(p * p[j[0]])
    return t


@program(X6, _rng())
def shuffled_in_place(w: Any, rng: Any) -> Any:
    y = w * 2.0
    for k in range(3):
        rng.shuffle(y)
        y *= np.arange(1, len(y) + 1) * 0.3
    return np.sum(y * np.arange(len(y)))


@program(0.7, _rng())
def draws_in_called_functions(w: Any, rng: Any) -> Any:
    def draw(s: Any) -> Any:
        return rng.normal() * s

    zs = [draw(w) for _ in range(3)]
    return sum([z * z for z in zs]) * _scaled(w, rng)


def _scaled(w: Any, rng: Any) -> Any:
    return np.exp(0.1 * w * rng.uniform())


@program(0.7, _rng(), 4, tags="recursive")
def draws_in_recursion(w: Any, rng: Any, n: Any) -> Any:
    return w if n == 0 else np.sin(draws_in_recursion(w, rng, n - 1) * rng.normal()) + w


@program(X6)
def generator_of_a_function_that_was_imported(w: Any) -> Any:
    rng = default_rng(5)
    return np.sum(w * rng.normal(size=w.shape) * w)


@program(X6)
def generator_of_its_own(w: Any) -> Any:
    rng = np.random.default_rng(5)
    return np.sum(w * rng.normal(size=w.shape) * np.sin(w * rng.random(w.shape)))


@program(X6, 1234567890123)
def generator_with_a_seed_that_is_passed(w: Any, seed: Any) -> Any:
    s = 0.0
    for k in range(3):
        rng = np.random.default_rng(seed + k)
        s += np.sum(w * rng.normal(size=w.shape)) ** 2
    return s


@program(X6, _rng(), tags="float32")
def single_precision_draws(w: Any, rng: Any) -> Any:
    z = rng.standard_normal(w.shape, dtype="float32")
    e = rng.standard_exponential(size=3, dtype="float32")
    u = rng.random(dtype="float32")
    return np.sum(np.sin(w * z)) * np.sum(e) + u * w[0] * w[1]


@program(0.7, {"a": _rng(1), "b": [_rng(2)]})
def generators_in_containers(w: Any, rngs: Any) -> Any:
    return w * rngs["a"].normal() * rngs["b"][0].normal(w)


@program(0.8, 4)
def two_generators_that_change_places(w: Any, n: Any) -> Any:
    a, b = np.random.default_rng(1), np.random.default_rng(2)
    for k in range(n):
        a, b = b, a
        w = w * a.uniform(0.5, 1.5)
        if w > 0.6:
            a = np.random.default_rng(k)
    return w * a.random() * b.random()


@program(M33, _rng())
def mask_kept_over_iterations(w: Any, rng: Any) -> Any:
    mask = rng.random((3, 3)) < 0.6
    x = np.ones(3)
    for k in range(4):
        x = np.tanh((w * mask) @ x) + 0.1 * rng.normal(size=3)
        if rng.integers(3) == 0:
            mask = rng.random((3, 3)) < 0.6
    return np.sum(x * x)


@program(0.7, _rng(), 3, tags="recursive")
def derivatives_of_draws_in_recursion(w: Any, rng: Any, n: Any) -> Any:
    if n == 0:
        return w
    slope = adc.grad(lambda u: np.sin(u * rng.normal()))(w)
    return derivatives_of_draws_in_recursion(w, rng, n - 1) * slope + w * rng.random()


@program(X6, _rng())
def locations_and_scales(w: Any, rng: Any) -> Any:
    z = rng.laplace(w, np.exp(w)) + rng.logistic(w[0], w[0] ** 2, 6) * rng.gumbel(0.1, w * w)
    return np.sum(np.tanh(z)) + np.sum(rng.rayleigh(w * w)) + w[1] * rng.standard_cauchy()


@program(X6, _rng())
def inverse_distribution_functions(w: Any, rng: Any) -> Any:
    a = 1.0 + w * w
    total = np.sum(np.tanh(rng.lognormal(w, 0.3 * a))) + np.sum(np.sin(rng.weibull(a)))
    total += np.sum(np.tanh(rng.pareto(a))) + np.sum(rng.power(a)) ** 2
    return total + np.sum(rng.triangular(-a, 0.2 * w, a, (2, 6)) ** 2)


@program(X6, _rng())
def draws_by_rejection(w: Any, rng: Any) -> Any:
    z = rng.gamma([0.5, 2.0, 1.0, 3.0, 7.0, 0.2], w * w) * rng.beta(2.0, 0.5, 6)
    counts = rng.poisson(3.0, 6) + rng.binomial(9, 0.4, 6) * rng.geometric(0.3)
    return np.sum(np.sin(z)) + np.sum(w * counts) + np.sum(rng.chisquare(3.0, 6) * w)


@program(X6, M33, _rng(), argnums=(0, 1))
def draws_of_vectors(w: Any, m: Any, rng: Any) -> Any:
    z = rng.multivariate_normal(w[:3], m @ m.T + np.eye(3), 5, method="cholesky")
    return np.sum(np.sin(z)) + np.sum(w[3:] * rng.dirichlet([1.0, 2.0, 0.5]))


# -- the older class, and the functions of `np.random` ---------------------------------------------


def _old(seed: int = 3) -> np.random.RandomState:
    made = np.random.RandomState(seed)
    made.randn()  # the second of a pair is left
    return made


class _Dropout:
    """A layer whose weights and masks are drawn by a generator of its own."""

    def __init__(self, n: int, seed: int) -> None:
        self.rng = np.random.RandomState(seed)
        self.weights = 0.1 * self.rng.randn(n, n)

    def __call__(self, h: Any, p: float) -> Any:
        h = np.tanh(h @ self.weights)
        mask = self.rng.rand(*h.shape) < p
        return h * mask / p


@program(M23)
def layers_with_dropout(x: Any) -> Any:
    np.random.seed(0)
    first = np.random.uniform(-0.5, 0.5, (3, 4))
    layer = _Dropout(4, np.random.randint(1000))
    h = layer(layer(x @ first, 0.8) + x[0, 0], 0.5)
    return np.sum(h * h) + np.mean(h)


@program(X6, M33, _old())
def minibatches_of_stochastic_descent(w: Any, data: Any, rng: Any) -> Any:
    w = w[:3].copy()
    for epoch in range(2):
        order = rng.permutation(len(data))
        for k in order[: rng.randint(1, 3)]:
            error = data[k] @ w - 0.3
            w -= 0.1 * error * data[k]
        batch = rng.choice(len(data), 2, replace=False)
        w -= 0.05 * data[batch].T @ (data[batch] @ w)
    return np.sum(w * w)


@program(0.7, 1.3, _old(5))
def walk_of_metropolis(mean: Any, scale: Any, rng: Any) -> Any:
    x, total = mean, 0.0
    for k in range(12):
        proposed = x + scale * rng.randn()
        if np.log(rng.rand()) < 0.5 * (x * x - proposed * proposed):
            x = proposed
        total += x * x
    return total / 12 + x


@program(0.8)
def functions_of_numpy_draw_in_order(w: Any) -> Any:
    np.random.seed(11)
    t = w
    for k in range(5):
        z = np.random.normal(t, 0.5, size=3)
        t = 0.5 * t + 0.1 * np.sum(z * np.random.exponential(w + 0.5, 3))
        if np.random.random() < 0.4:
            np.random.seed(k)
            t = t * np.sin(np.random.laplace(w, 0.3))
    return t + np.random.gamma(2.0, w) + np.random.poisson(3.0) * w


_REFUSED: list[Program] = []
_refused = recorder(_REFUSED)


@_refused(0.7)
def another_distribution_of_numpy(w: Any) -> Any:
    return w * np.random.multinomial(3, [0.5, 0.5])[0]


@_refused(0.7, _rng())
def another_distribution(w: Any, rng: Any) -> Any:
    return w * rng.vonmises(0.0, 2.0)


@_refused(0.7)
def generator_without_a_seed(w: Any) -> Any:
    return w * np.random.default_rng().normal()


@_refused(0.7, _rng(1), _rng(2))
def one_of_two_generators(w: Any, a: Any, b: Any) -> Any:
    rng = a if w > 0.5 else b
    return w * rng.normal()


def _draws_from_one(w: Any, a: Any, b: Any, n: Any) -> Any:
    if n > 0:
        w = _draws_from_one(w, np.random.default_rng(n), np.random.default_rng(n + 1), n - 1)
    rng = a if w > 0.0 else b
    return w * rng.normal()


@_refused(0.7, _rng(1), _rng(2))
def one_of_two_generators_in_recursion(w: Any, a: Any, b: Any) -> Any:
    return _draws_from_one(w, a, b, 2)


@_refused(0.7, 3)
def generators_in_a_list_that_grows(w: Any, n: Any) -> Any:
    rngs = [np.random.default_rng(k) for k in range(n)]
    return w * rngs[1].normal() * rngs[1].normal()


@_refused(0.7, _rng())
def bounds_in_an_array(w: Any, rng: Any) -> Any:
    return w * np.sum(rng.integers(0, np.array([3, 4])))


@_refused(0.7, _rng())
def state_of_a_generator(w: Any, rng: Any) -> Any:
    return w * rng.bit_generator.state["has_uint32"]


REFUSED: list[tuple[Program, str]] = list(
    zip(
        _REFUSED,
        (
            "`.multinomial` of a `RandomState`",
            "`.vonmises` of a random generator",
            "a random generator without a seed",
            *["whether a draw is from 'a' depends on the path"] * 2,
            "in a list whose length is known only at run time",
            "an array of bounds of random integers",
            "`.bit_generator` of a random generator",
        ),
        strict=True,
    )
)
