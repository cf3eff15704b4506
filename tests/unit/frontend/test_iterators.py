"""Iterators in variables: evaluated where they are consumed, once; or refused."""

from __future__ import annotations

import itertools
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fn", [generator, late_names, pairs, in_a_loop, renamed])
def test_consumed_once(fn: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]) -> None:
    value, gradient = adc.value_and_grad(fn, target="python")(X)
    said = capsys.readouterr().out
    np.testing.assert_allclose(value, fn(X), rtol=1e-12)
    assert capsys.readouterr().out == said
    steps = np.eye(3) * 1e-6
    expected = [(fn(X + step) - fn(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)


def twice(x: Any) -> Any:
    made = (v * v for v in x)
    return sum(made) + sum(made)


def repeatedly(x: Any) -> Any:
    made = zip(x, x, strict=True)
    total = 0.0
    for _ in range(2):
        total += sum(a * b for a, b in made)
    return total


def captured(x: Any) -> Any:
    made = (v * v for v in x)
    return (lambda: sum(made))()


def of_two_paths(x: Any) -> Any:
    if x[0] > 0.0:
        made = (v for v in x)
    else:
        made = (2.0 * v for v in x)
    return sum(made)


@pytest.mark.parametrize("fn", [twice, repeatedly, captured, of_two_paths])
def test_refused(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(AdcError, match="storing"):
        adc.grad(fn)(X)
