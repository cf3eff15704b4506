"""Iterators in variables: evaluated where they are consumed, once; or refused."""

from __future__ import annotations

import collections
import itertools
import linecache
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError

X = np.array([0.3, 0.5, 0.7])


def squares(x: Any) -> Iterator[Any]:
    print("start")
    for v in x:
        yield v * v


def generator(x: Any) -> Any:
    made = squares(x)
    print("made")
    total = 0.0
    for v in made:
        total += v * v
    return total


def late_names(x: Any) -> Any:
    k = 2.0
    y = x.copy()
    scaled = (v * k for v in y if v > 0.4)
    k, x = 3.0, x * 0.0
    y[1] *= 5.0
    return sum(scaled) + np.sum(x)


def pairs(x: Any) -> Any:
    found = zip(x, 2.0 * x, strict=True)
    chained = itertools.chain(x, x * 2.0)
    numbered = enumerate(x, 1)
    total = sum(a * b for a, b in found) + sum(k * v * v for k, v in numbered)
    for v in chained:
        total += v**3
    return total


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        terms = map(np.sin, x)
        if k > 0:
            total += sum(terms) * x[k]
    return total


def renamed(x: Any) -> Any:
    it = iter(x)
    again = it
    if x[0] > 0.0:
        return max(again)
    return x[0]


def twice(x: Any) -> Any:
    made = (v * v for v in x if v > 0.0)
    return sum(made) + sum(made)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fn", [twice, generator, late_names, pairs, in_a_loop, renamed])
def test_consumed_once(fn: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]) -> None:
    value, gradient = adc.value_and_grad(fn, target="python")(X)
    said = capsys.readouterr().out
    np.testing.assert_allclose(value, fn(X), rtol=1e-12)
    assert capsys.readouterr().out == said
    steps = np.eye(3) * 1e-6
    expected = [(fn(X + step) - fn(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


def repeatedly(x: Any) -> Any:
    made = zip(x, x, strict=True)
    total = 0.0
    for _ in range(2):
        total += sum(a * b for a, b in made)
    return total


@pytest.mark.parametrize("fn", [repeatedly])
def test_refused(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(AdcError, match="storing"):
        adc.grad(fn)(X)


# --- every iterator of Python's -------------------------------------------------------------------

V = np.array([1.5, -0.5, 2.0, 3.0, 7.0])
M = np.arange(6.0).reshape(2, 3)
ITERATORS = r"""
itertools.accumulate(x)
itertools.accumulate(x, max)
itertools.accumulate(x, operator.mul)
itertools.accumulate(x, initial=3.0)
itertools.accumulate(x, lambda a, b: a - b, initial=1.0)
itertools.accumulate(x, None)
itertools.accumulate(x, None, initial=2.0)
itertools.accumulate(x, initial=None)
itertools.chain()
itertools.chain(x)
itertools.chain(x, x[::-1], (1.0,))
itertools.chain.from_iterable([x, x])
itertools.chain.from_iterable((x,))
itertools.chain.from_iterable(M)
itertools.compress(x, [1, 0, 1])
itertools.compress(x, x > 0)
itertools.compress(x, (True,))
itertools.compress(x, [0.0, 1.0, 2.0, 0, 5, 6, 7])
itertools.dropwhile(lambda v: v > 1, x)
itertools.takewhile(lambda v: v > 1, x)
itertools.filterfalse(lambda v: v > 1, x)
filter(lambda v: v > 1, x)
filter(None, x)
filter(bool, x)
itertools.islice(x, 3)
itertools.islice(x, 1, 3)
itertools.islice(x, 0, 5, 2)
itertools.islice(itertools.count(2), 3)
itertools.islice(itertools.count(2.5, 0.5), 3)
itertools.islice(itertools.count(step=3), 3)
itertools.islice(itertools.count(5, -1), 4)
itertools.islice(itertools.cycle(x), 7)
itertools.islice(itertools.cycle([1.0, 2.0]), 5)
itertools.pairwise(x)
itertools.pairwise(x[:1])
itertools.pairwise([1.0, 2.0, 3.0])
itertools.pairwise(E0)
itertools.repeat(x[0], 3)
itertools.repeat(2.0, 0)
itertools.repeat(2.0, -1)
itertools.starmap(pow, [(2.0, 3), (3.0, 2)])
itertools.starmap(lambda a, b: a * b, zip(x, x))
itertools.starmap(operator.sub, itertools.pairwise(x))
itertools.zip_longest(x[:2], x, fillvalue=9.0)
itertools.product(x[:2], x[:3])
itertools.product([1, 2], repeat=2)
itertools.product(x[:2], repeat=3)
itertools.product(x[:2], [])
itertools.product(x[:2], [1.0], repeat=2)
itertools.product(range(2), range(3))
itertools.permutations(x[:3])
itertools.permutations(x[:3], 2)
itertools.permutations([1.0, 2.0], 3)
itertools.permutations(range(4), 1)
itertools.permutations(x[:2], None)
itertools.permutations(x[:2], -1)
itertools.combinations(x, 2)
itertools.combinations(x[:3], 3)
itertools.combinations(x[:2], 3)
itertools.combinations([1.0, 2.0, 3.0], 2)
itertools.combinations(x, -1)
itertools.combinations(range(4), r=2)
itertools.combinations_with_replacement(x[:3], 2)
itertools.combinations_with_replacement([1.0], 3)
itertools.combinations_with_replacement(x[:0], 2)
itertools.combinations_with_replacement(x[:2], -1)
enumerate(x)
enumerate(x, 5)
enumerate(x, -2)
enumerate(x, start=3)
zip(x, x[1:])
zip(x, x[1:], range(2))
zip()
zip(x)
zip(x, E0)
reversed(x)
reversed([1.0, 2.0])
reversed(range(5))
reversed(range(5, 0, -2))
reversed((1.0, x[0]))
map(math.exp, x)
map(lambda a, b: a * b, x, x[:2])
map(max, x, x[::-1])
range(3)
range(5, 1, -1)
range(0)
sorted(x)
sorted([3.0, 1.0, 2.0])
sorted([3.0, 1.0, 2.0], reverse=True)
sorted(x, reverse=True)
sorted([-3.0, 1.0, 2.0], key=abs)
sorted([(2, 1.0), (1, 5.0)])
sorted(["b", "a"])
sorted([3, 1, 2], key=lambda v: v % 2)
(v * v for v in x if v > 0)
(v for v in [x[0], 2.0])
x
M
x[::-2]
M.ravel()
M.T
x.flat
M.flat
np.ndindex(2, 3)
np.ndenumerate(M)
{"a": x[0], "b": 2.0}.values()
{"a": x[0]}.items()
collections.deque([x[0], 2.0])
collections.Counter("aab").values()
"abc"
""".strip().splitlines()


def numbered(v: Any) -> Any:
    """Return a number that depends on all of an element, and on their order."""
    if isinstance(v, int | float):
        return v
    if isinstance(v, str):
        return 1.0 * len(v)
    if isinstance(v, np.ndarray):
        return np.sum(v)
    s = 0.0
    for k, w in enumerate(v):
        s = s + (k + 1) * numbered(w)
    return s


@pytest.mark.parametrize("iterator", ITERATORS)
def test_elements_are_those_of_python(iterator: str) -> None:
    text = (
        f"def program(x):\n    s = 0.0\n    k = 0\n    for v in {iterator}:\n        k += 1\n"
        "        s += k * numbered(v)\n    return s\n"
    )
    file = f"<iterator {iterator}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {
        "numbered": numbered, "M": M, "E0": np.zeros(0), "np": np, "math": math,
        "collections": collections, "itertools": itertools, "operator": operator,
    }  # fmt: skip
    exec(compile(text, file, "exec"), namespace)
    program = namespace["program"]
    compiled = adc.value_and_grad(program, target="python", cache=False)
    try:
        wanted = program(V)
    except Exception as error:  # whatever Python raises, adc has to
        with pytest.raises(type(error), match=re.escape(str(error))):
            compiled(V)
        return
    found, slope = compiled(V)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    along, step = np.array([0.3, -0.7, 0.2, 0.5, 0.9]), 2.0**-20
    ends = program(V + step * along) - program(V - step * along)
    np.testing.assert_allclose(slope @ along, ends / (2.0 * step), rtol=1e-6, atol=1e-8)
