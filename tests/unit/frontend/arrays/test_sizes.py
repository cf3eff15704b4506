"""Sizes of arguments that become constants, where a program needs them: lists of objects, keys.

Code is made for each size then, and a call finds that of its arguments.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adc
from adc.testing import check_grads


@dataclass
class Particle:
    place: Any
    speed: Any
    mass: float = 1.0


def springs(k: Any, start: Any) -> Any:
    """A list of as many objects as there are rows."""
    particles = [Particle(start[i].copy(), np.zeros(2)) for i in range(len(start))]
    for _ in range(6):
        forces = [np.array([0.0, -1.0]) * p.mass for p in particles]
        for i in range(len(particles) - 1):
            between = particles[i + 1].place - particles[i].place
            pull = k * between * (1.0 - 0.5 / np.sqrt(np.sum(between * between)))
            forces[i] = forces[i] + pull
            forces[i + 1] = forces[i + 1] - pull
        for p, force in zip(particles, forces, strict=True):
            p.speed = 0.9 * (p.speed + 0.1 * force / p.mass)
            p.place = p.place + 0.1 * p.speed
    return sum(np.dot(p.speed, p.speed) for p in particles)


def warping(x: Any, y: Any) -> Any:
    """A table as a list of lists."""
    table = [[9.0] * (len(y) + 1) for _ in range(len(x) + 1)]
    table[0][0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            ways = [table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]]
            least = math.log(sum(math.exp(-way) for way in ways))
            table[i][j] = (x[i - 1] - y[j - 1]) ** 2 - least
    return table[-1][-1]


def forward(rates: Any, seen: Any) -> Any:
    """Dicts with numbers of rows as keys."""
    states = range(rates.shape[0])
    now = {s: rates[s, seen[0]] for s in states}
    for one in seen[1:]:
        now = {s: sum(now[r] * rates[r, s] for r in states) * rates[s, one] for s in states}
    return sum(now.values())


def named(x: Any) -> Any:
    kept = {}
    for i in range(x.shape[0] - 1):
        kept[f"k{i}"] = x[i] * x[i + 1]
    return sum(kept.values())


def of_elements(x: Any, y: Any) -> Any:
    """Objects for the elements of arrays."""
    found = [Particle(v, speed=w) for v, w in zip(x, y, strict=True)]
    for k, v in enumerate(x):
        if k == 2:
            continue
        x = x + 0.1 * v
        found.append(Particle(x[-1], v))
    for a, b in itertools.pairwise(found):
        a.mass = a.mass + 0.1 * b.place
    names = {}
    for k, v in enumerate(reversed(y)):
        names[f"p{k}"] = Particle(v, 1.0)
    return sum(p.place * p.speed * p.mass for p in found) + names["p1"].place * x[0]


def of_two_kinds(x: Any) -> Any:
    """A list of arrays of two ranks, and one of lists."""
    ys: list[Any] = [x]
    zs = []
    for v in x:
        ys.append(x[None, :] * v)
        zs.append([v, x])
    return np.sum(ys[-1]) * np.sum(ys[0]) + np.sum(zs[-1][1] * zs[0][0])


SHIFTS = np.array([[1, 0], [0, 1], [2, -1]])


def of_rows(w: Any) -> Any:
    """Tuples of the rows of a captured table."""
    total = 0.0
    for k in range(3):
        i, j = tuple(SHIFTS[k])
        total += np.sum(np.roll(w, tuple(SHIFTS[k]), axis=(0, 1))[0] * w[1]) + w[i, j] ** 2
    return total


def case(fn: Any, *shapes: Any) -> Any:
    rng = np.random.default_rng(0)
    return pytest.param(fn, [tuple(rng.uniform(0.3, 1.0, s) for s in each) for each in shapes])


@pytest.mark.parametrize(
    ("fn", "calls"),
    [
        case(springs, [(), (4, 2)], [(), (6, 2)]),
        case(warping, [(3,), (4,)], [(4,), (3,)]),
        case(named, [(3,)], [(5,)]),
        case(of_elements, [(4,), (4,)], [(3,), (3,)]),
        case(of_two_kinds, [(3,)], [(2,)]),
    ],
)
def test_code_for_each_size(fn: Any, calls: list[tuple[Any, ...]]) -> None:
    df = adc.value_and_grad(fn, argnums=tuple(range(len(calls[0]))))
    for _ in range(2):
        for args in calls:
            value, _ = df(*args)
            assert value == pytest.approx(fn(*args))
    info = df.cache_info()
    assert info["compiled"] + info["loaded"] == len(calls)
    for args in calls:
        check_grads(fn, args)


def test_keys_that_are_numbers_of_rows() -> None:
    rates = np.random.default_rng(1).uniform(0.1, 1.0, (3, 3))
    check_grads(lambda rates: forward(rates, [0, 2, 1, 1]), (rates,))


WEIGHTS = np.array([1.0, 2.0, 3.0])


@dataclass
class Bond:
    first: int
    second: int
    stiffness: float = 2.0


BONDS = [Bond(0, 1), Bond(1, 2, 3.0), Bond(0, 2)]


def test_keys_that_are_integers_of_arguments() -> None:
    def neighbours(x: Any, edges: Any) -> Any:
        near = defaultdict(list)
        for a, b in edges:
            near[a].append(b)
            near[b].append(a)
        return sum(x[i] * np.sin(x[j]) for i in near for j in near[i])

    def chosen(x: Any, k: int) -> Any:
        return {0: np.sin, 1: np.cos}[k](x)

    x, graph, choice = np.linspace(0.1, 0.7, 4), adc.grad(neighbours), adc.grad(chosen)
    for edges in ([(0, 1), (1, 2), (2, 3)], [(0, 3), (1, 3), (0, 2)], [(0, 1), (1, 2), (2, 3)]):
        check_grads(lambda x, edges=edges: neighbours(x, edges), (x,))
        want = adc.grad(lambda x, edges=edges: neighbours(x, edges))(x)
        np.testing.assert_array_equal(graph(x, edges), want)
    assert [choice(0.0, k) for k in (0, 1, 0)] == [1.0, 0.0, 1.0]
    with pytest.raises(KeyError, match="2"):
        choice(0.0, 2)


def test_keys_that_are_integers_of_captured_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    def energy(x: Any) -> Any:
        degree: Counter[int] = Counter()
        for bond in BONDS:
            degree[bond.first] += 1
            degree[bond.second] += 1
        return sum(b.stiffness * (x[b.first] - x[b.second]) ** 2 / degree[b.first] for b in BONDS)

    x, gradient = np.linspace(0.1, 0.9, 3) ** 2, adc.grad(energy)
    check_grads(energy, (x,))
    first = gradient(x)
    monkeypatch.setattr(BONDS[1], "first", 0)
    assert not np.array_equal(gradient(x), first)
    np.testing.assert_array_equal(gradient(x), adc.grad(energy)(x))
    check_grads(energy, (x,))


def test_sizes_of_what_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        parts = [{"w": WEIGHTS[i] * x} for i in range(len(WEIGHTS))]
        return sum(part["w"] for part in parts)

    df = adc.grad(f)
    assert df(2.0) == 6.0
    monkeypatch.setattr(f"{__name__}.WEIGHTS", np.array([1.0, 2.0, 3.0, 4.0]))
    assert df(2.0) == 10.0


def test_sizes_are_constants_only_where_they_must() -> None:
    df = adc.grad(lambda x: sum(x[i] * x[i] for i in range(len(x))))
    for size in (3, 4, 5):
        np.testing.assert_array_equal(df(np.ones(size)), 2.0)
    info = df.cache_info()
    assert info["compiled"] + info["loaded"] == 1


def test_rows_of_batches() -> None:
    """Each row of a batch is what the function gets."""
    x = np.random.default_rng(2).uniform(0.1, 1.0, (2, 4))
    np.testing.assert_allclose(adc.vmap(named)(x), [named(row) for row in x])
    np.testing.assert_allclose(adc.vmap(named, in_axes=1)(x), [named(row) for row in x.T])


def test_tuples_of_rows() -> None:
    check_grads(of_rows, (np.random.default_rng(3).uniform(0.1, 1.0, (3, 4)),))


def test_lists_of_many_objects_have_code_for_all_sizes() -> None:
    df = adc.value_and_grad(springs)
    for size in (12, 40):
        start = np.random.default_rng(size).uniform(0.1, 1.0, (size, 2))
        assert df(0.5, start)[0] == pytest.approx(springs(0.5, start))
    assert df.cache_info()["compiled"] + df.cache_info()["loaded"] == 1
