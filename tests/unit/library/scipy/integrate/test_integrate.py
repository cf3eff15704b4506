"""`scipy.integrate`: values, derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import (
    cumulative_simpson,
    cumulative_trapezoid,
    romb,
    simpson,
    trapezoid,
)

import adc
from adc.ir.errors import AdcError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(3)
Y = RNG.standard_normal((2, 6, 3))
X = np.sort(RNG.standard_normal(6))
LINE = RNG.standard_normal(6)
GRID = np.sort(RNG.standard_normal((2, 6, 3)), axis=1)
SINGLE = LINE.astype(np.float32)

SMOOTH: list[calls.Row] = [
    (lambda y, x: trapezoid(y, x, axis=1), (Y, X)),
    (lambda y, x: trapezoid(y, x, axis=1), (Y, GRID)),
    (lambda y, h: trapezoid(y, dx=h), (LINE, 0.3)),
    (lambda y, x: cumulative_trapezoid(y, x, axis=1, initial=0), (Y, X)),
    (lambda y, h: cumulative_trapezoid(y, None, h), (LINE, 0.3)),
    (lambda y, x: simpson(y, x, axis=1), (Y, X)),
    (lambda y, x: simpson(y, x=x, axis=-2), (Y[:, :5], GRID[:, :5])),
    (lambda y, h: simpson(y, dx=h), (LINE, 0.3)),
    (lambda y, h: simpson(y, dx=h), (LINE[:5], 0.3)),
    (lambda y, x: simpson(y, x), (LINE[:2], X[:2])),
    (lambda y, x: cumulative_simpson(y, x=x, axis=1, initial=0.5), (Y, X)),
    (lambda y, h: cumulative_simpson(y, dx=h), (LINE, 0.3)),
    (lambda y, x: cumulative_simpson(y, x=x), (LINE[:2], X[:2])),
    (lambda y, h: romb(y, h, axis=1), (Y[:, :5], 0.3)),
    (lambda y, h: romb(y, h), (LINE[:5], 0.3)),
]
OTHERS: list[calls.Row] = [
    (lambda y: trapezoid(y), (np.arange(5, dtype=np.int8),)),
    (lambda y: trapezoid(y, [1, 2, 4, 5, 6]), (SINGLE[:5],)),
    (lambda y: simpson(y), (np.arange(6),)),
    (lambda y: simpson(y, dx=0.5), (SINGLE[:5],)),
    (lambda y, x: simpson(y, x), (SINGLE, np.sort(SINGLE))),
    (lambda y: simpson(y, axis=0), (Y.astype(np.float32),)),
    (lambda y, x: simpson(y, x), (LINE[:5], np.array([0.0, 0.0, 1.0, 1.0, 2.0]))),
    (lambda y, k: cumulative_trapezoid(y, axis=k), (Y.astype(np.float32), 0)),
    (lambda y: cumulative_simpson(y, dx=2), (SINGLE,)),
]


test_values, test_derivatives, test_second_derivatives = calls.compared(SMOOTH, OTHERS)


def _simpson(y: Any, x: Any) -> Any:
    return simpson(y, x)


def _romb(y: Any, x: Any) -> Any:
    return romb(y) + x[0]


def _decreasing(y: Any, x: Any) -> Any:
    return np.sum(cumulative_simpson(y, x=-x))


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args"), [(_simpson, (LINE, X[1:])), (_romb, (LINE, X)), (_decreasing, (LINE, X))]
)
def test_errors_are_those_of_scipy(fn: calls.Call, args: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w") as expected:
        fn(*args)
    with pytest.raises((ValueError, AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(*args)
    assert str(expected.value).split(".")[0] in str(found.value)
