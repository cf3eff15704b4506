# ruff: noqa: B905, PERF
"""Programs with generators that loops consume, and the iterators of `itertools`."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from tests.corpus.program import X3, Program, recorder

GENERATOR_PROGRAMS: list[Program] = []
program = recorder(GENERATOR_PROGRAMS)


def _squares(x: Any, start: int = 0) -> Iterator[Any]:
    for k in range(start, len(x)):
        yield k, x[k] ** 2


def _windows(a: Any, n: int) -> Iterator[Any]:
    if n > len(a):
        return
    for i in range(len(a) - n + 1):
        yield a[i : i + n]


def _sums(x: Any) -> Iterator[Any]:
    for window in _windows(x, 2):
        yield np.sum(window)


def _several(x: Any) -> Iterator[Any]:
    yield x[0]
    yield from x
    yield from _sums(x)
    yield 3.0 * x[2]


def _newton(start: Any, a: Any) -> Iterator[Any]:
    x = start
    while True:
        x = 0.5 * (x + a / x)
        yield x


@program(X3)
def loops_over_generators(x: Any) -> Any:
    s = 0.0
    for k, v in _squares(x, start=1):
        s += k * v
    for w in _windows(x, 2):
        s += w[0] * w[1]
    n = 1
    for v in _several(x):
        s += n * v
        n += 1
    return s


@program(X3)
def break_and_continue_in_a_consumer(x: Any) -> Any:
    s = 0.0
    for k, v in _squares(x):
        if k == 0:
            continue
        if v < 0.3:
            break
        s += v * k
    else:
        s += 100.0
    for _, v in _squares(x):
        s += v
    else:
        s *= x[0]
    return s


@program(X3)
def generator_without_end(x: Any) -> Any:
    steps = 0
    for root in _newton(1.0, x[0] + 2.0):
        steps += 1
        if abs(root * root - x[0] - 2.0) < 1e-12:
            break
    return root * steps


@program(X3)
def return_from_a_consumer(x: Any) -> Any:
    for root in _newton(1.0, x[0] + 2.0):
        if abs(root * root - x[0] - 2.0) < 1e-12:
            return root * x[1]
    return x[2]


@program(X3)
def one_generator_within_itself(x: Any) -> Any:
    s = 0.0
    for i, a in _squares(x):
        for j, b in _squares(x):
            if j > i:
                break
            s += a * b * (i + 1)
        if s > 3.0:
            break
    return s


@program(X3)
def generator_in_a_branch_of_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(3):
        if x[k] > 0:
            for j, v in _squares(x):
                if j == 1:
                    continue
                try:
                    s += math.log(v - 0.3) * x[k]
                except ValueError:
                    s += v * x[k]
        else:
            s -= x[k]
    return s


class _Grid:
    def __init__(self, x: Any) -> None:
        self.x = x

    def cells(self, h: float) -> Iterator[Any]:
        for i in range(len(self.x) - 1):
            yield h * (self.x[i] + self.x[i + 1])


@program(X3)
def generator_that_is_a_method(x: Any) -> Any:
    s = 0.0
    for cell in _Grid(x).cells(0.5):
        s += cell * cell
    return s


@program(X3)
def generator_that_is_an_inner_function(x: Any) -> Any:
    def pairs() -> Iterator[Any]:
        for i in range(len(x)):
            for j in range(i):
                yield x[i], x[j]

    s = 0.0
    for a, b in pairs():
        s += a * b
    return s


@program(X3)
def builtins_consume_generators(x: Any) -> Any:
    sums = list(_sums(x))
    s = sums[0] * len(sums) + np.sum(np.array(sums) ** 2)
    s += sum(v * k for k, v in _squares(x)) + sum(_several(x)) + max(_several(x))
    for k, (_, v) in enumerate(_squares(x), start=2):
        s += k * v
    for a, b in zip(_sums(x), x):
        s += a * b
    return s + sum(map(math.exp, _sums(x)))


@program(X3)
def products_of_iterables(x: Any) -> Any:
    s = 0.0
    for i, j in product(range(len(x)), range(2)):
        s += x[i] * (j + 1)
    for a, b in product(x, repeat=2):
        s += a * b
    return s


@program(X3)
def combinations_and_permutations(x: Any) -> Any:
    s = 0.0
    for i, j, k in combinations(range(3), 3):
        s += x[i] * x[j] * x[k]
    for i, j in itertools.permutations(range(len(x)), 2):
        if i > j:
            continue
        s += x[i] * j
    return s


@program(X3)
def combinations_of_two(x: Any) -> Any:
    return sum((a - b) ** 2 * a for a, b in itertools.combinations(x, 2))


@program(X3)
def energy_of_pairs_by_name(x: Any) -> Any:
    names, bonds = ["H", "C", "H"], {0: {1}, 1: {0, 2}, 2: {1}}
    strength = {("C", "H"): 2.0, ("H", "C"): 1.5, ("H", "H"): 0.5}
    angles = [(i, j, k) for j in range(3) for i, k in itertools.combinations(sorted(bonds[j]), 2)]
    s = sum(x[j] * (x[i] - x[k]) ** 2 for i, j, k in angles)
    for i, j in itertools.combinations(range(3), 2):
        s += strength[names[i], names[j]] * np.sin(x[i] * x[j])
    return s


@program(X3)
def pairs_chains_and_running_totals(x: Any) -> Any:
    s = 0.0
    for k, (a, b) in enumerate(itertools.pairwise(x)):
        s += (k + 1) * (b - a) ** 2
    for a in itertools.chain(x, [x[0], 2.0], range(2)):
        s += a
    for t in itertools.accumulate(x):
        s += t**2
    for t in itertools.accumulate(x, operator.mul, initial=1.0):
        s += t
    return s + sum(itertools.accumulate(x, lambda a, b: a * 0.5 + b))


@program(X3)
def counts_slices_and_repetitions(x: Any) -> Any:
    s = 0.0
    for k in itertools.count(1):
        s += x[0] / k**2
        if k > 20:
            break
    for k, v in zip(itertools.count(), x):
        s += k * v
    for v, k in zip(x, itertools.count(10, 5)):
        s += k * v
    for k in itertools.islice(itertools.count(), 5):
        s += x[k % 3]
    for v in itertools.islice(x, 1, 3):
        s += v**2
    for v in map(lambda a, b: a * b, x, x[::-1]):
        s += v
    for v, c in zip(x, itertools.repeat(2.0)):
        s += v * c
    for v in itertools.takewhile(lambda u: u > 0, x):
        s += v
    for a, b in itertools.zip_longest(x, x[1:], fillvalue=0.0):
        s += a * b
    return s


@program(X3)
def generators_in_variables(x: Any) -> Any:
    squares = _squares(x)
    large = (v for v in x if v > 0.1)
    total = sum(v for _, v in squares)
    return total + sum(large)


# --- elements that change before the loop comes to them -------------------------------------------


def _three(x: Any) -> Any:
    return np.array([x[0], x[1] + 1.0, 3.0])


def _raised(a: Any, t: Any) -> Any:
    a[2] += 10.0 * t
    return t


@program(X3)
def comprehensions_that_change_what_follows(x: Any) -> Any:
    a, b = _three(x), [x[0], x[1], 2.0]
    c = [v * v + _raised(a, x[0]) for v in a] + [v * w + _raised(b, w) for v, w in zip(b, x)]
    d = {k: v + _raised(a, x[1]) for k, v in zip("abc", a)}
    e = dict((k, v * _raised(b, x[2])) for k, v in enumerate(b))
    return c[0] + 2 * c[1] + 3 * c[2] + c[5] * d["c"] + e[2] * sum(v + _raised(a, v) for v in a)


@program(X3)
def generators_that_see_what_a_loop_changes(x: Any) -> Any:
    a, b, s = _three(x), [x[0], x[1], 2.0], 0.0
    for w in (v * v for v in a if v > -9.0):
        a[2] += w
        s = 2.0 * s + w
    for w in (v * x[0] for v in b):
        b[2] += w
        s = 2.0 * s + w
    later = (v + s for v in a)
    a[0] *= 2.0
    for w in later:
        s += w * a[2]
    return s


@program(X3)
def numbered_and_zipped_generators(x: Any) -> Any:
    a, s = _three(x), 0.0
    for k, w in enumerate(v * v for v in a):
        a[2] += w
        s = 2.0 * s + k * w
    for u, w in zip((v * x[1] for v in a), x):
        a[2] += w
        s += u * w
    for k, w in enumerate(map(lambda v: v * v, a), 1):
        a[2] -= k * w
        s = 0.5 * s + w
    return s


@program(X3)
def numbered_and_filtered(x: Any) -> Any:
    s = 0.0
    for k, v in enumerate(filter(lambda v: v > -9.0, x)):
        s += k * v
    for k, (v, w) in enumerate((v, v * v) for v in x if v > -9.0):
        s += (k + 1) * v * w
    return s


@program(X3)
def nested_generator_that_a_loop_leaves(x: Any) -> Any:
    a, s = _three(x), 0.0
    for k, w in ((n, v * u) for n, v in enumerate(a) for u in x[n:] if u != 7.0):
        a[2] += w
        if k == 1:
            break
        if w < 0.1:
            continue
        s = 2.0 * s + w
    else:
        s += 1.0
    return s * a[2]


@program(X3)
def keys_that_change_what_follows(x: Any) -> Any:
    a, b = _three(x), [x[0], x[1], 2.0]

    def key(v: Any) -> Any:
        a[2] += x[1]
        return v

    def added(total: Any, v: Any) -> Any:
        b[2] += x[0]
        return 2.0 * total + v

    return max(a, key=key) * a[1] + functools.reduce(added, b) * min(a, key=key)


# --- the first of many ----------------------------------------------------------------------------


@program(X3)
def first_element_of_an_iterator(x: Any) -> Any:
    large = next((v for v in x if v > 0.1), 0.0) + next((2.0 for v in x if v > 9.0), 3.0)
    k, v = next((k, v) for k, v in enumerate(x) if v < 0.5)
    named = {"a": x[1], "b": x[2]}
    missing = next((v for v in x if v > 9.0), None)
    first = next(iter(named.values())) * next(reversed(x)) + len(next(iter(named)))
    large += x[0] if missing is None else missing
    return large * (k + v) + first * next(filter(lambda v: v < 0.9, x))


@program(X3)
def first_of_pairs_and_of_objects(x: Any) -> Any:
    layers = [{"w": x[0], "name": "in"}, {"w": x[1], "name": "out"}]
    total = next(p["w"] for p in layers if p["name"] == "out")
    for t in (-0.3, 0.05):
        total += next((a * b for a in x for b in x if a * b > t), 0.5)
    try:
        total += next(v for v in x if v > 9.0)
    except StopIteration:
        total *= 2.0
    return total


@program(X3)
def assigned_before_break_or_in_else(x: Any) -> Any:
    for v in x:
        if v > 0.1:
            best = v * x[1]
            break
    else:
        best = 0.5
    k = 0
    while k < 3:
        if x[k] > 9.0:
            worst = x[k]
            break
        k += 1
    else:
        worst = x[2] - best
    for w in (1.0, 2.0):
        if w * best > 9.0:
            some = w
            break
    else:
        some = best * best
    return best * worst + k * some


@program(X3, 4)
def arrays_that_loops_with_exits_bind(x: Any, n: Any) -> Any:
    for _ in range(n):
        y = np.sin(x) * 0.9
        if y[0] > 5.0:
            break
        x = x + y * y
    for k in range(n):
        v = x * k
        if v[1] > 9.0:
            return v[0]
    v[1] = x[1]
    return np.sum(x * v * y)


# --- what is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[Program, str]] = []


def _running(decay: Any) -> Iterator[Any]:
    total = mean = 0.0
    while True:
        value = yield mean
        total = decay * total + value
        mean = total / (1.0 + decay)


def _leaving(x: Any, n: int) -> Iterator[Any]:
    for a in x:
        for k in range(n):
            if k * a > 1.0:
                break
            yield a * k
        else:
            yield 10.0 * a
            continue
        yield a - 1.0


@program(X3, 3)
def generators_that_several_places_draw_from(x: Any, n: Any) -> Any:
    filtered = _running(x[1])
    next(filtered)
    s = 0.0
    for v in x:
        s += filtered.send(v) ** 2  # type: ignore[attr-defined]
    left = _leaving(x, n)
    s += next(left)
    for v in left:
        s = 0.9 * s + v
        if v > 1.0:
            break
    for k, v in enumerate(left):
        s += k * v * v
    return s + next(left, x[2])


def _refused(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(fn: Callable[..., Any]) -> Callable[..., Any]:
        REFUSED.append((Program(fn.__name__, fn, (X3,)), text))
        return fn

    return enter


def _guarded(x: Any) -> Iterator[Any]:
    try:
        yield x[0]
    except ValueError:
        yield x[1]


@_refused("`yield` in `try` or `with`")
def generator_with_a_handler(x: Any) -> Any:
    s = 0.0
    for v in _guarded(x):
        s += v
    return s


def _halves(x: Any, n: int) -> Iterator[Any]:
    yield x[0] / n
    if n < 20:
        yield from _halves(x, n + 1)


@_refused("a recursive generator")
def generator_that_calls_itself(x: Any) -> Any:
    return sum(_halves(x, 1))


@_refused("`zip` of these generators")
def zip_of_two_generators(x: Any) -> Any:
    s = 0.0
    for (_, a), b in zip(_squares(x), _sums(x)):
        s += a * b
    return s


@_refused("a loop that changes what a generator reads")
def generator_of_functions_over_what_changes(x: Any) -> Any:
    a, s = _three(x), 0.0
    for f in ((lambda u, v=v: u * v) for v in a):
        a[2] += 1.0
        s += f(x[0])  # type: ignore[no-untyped-call]
    return s


@_refused("`next` of this iterator")
def next_of_an_endless_generator(x: Any) -> Any:
    return next(x[k] for k in itertools.count() if x[k] > 0.0)


@_refused("a loop that changes what a generator reads")
def numbered_generator_with_a_condition_that_changes(x: Any) -> Any:
    s, least = 0.0, -9.0
    for k, v in enumerate(u for u in x if u > least):
        least = 0.5 * v
        s += k * v
    return s
