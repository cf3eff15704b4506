"""Which tangent rules are transposed: those that are linear, however they are written.

Each is a rule of `x * x`, so the gradient of a function of it is known: the analysis
`linearity` tells rules that reverse code may use from others, which are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError

X = np.array([0.5, -0.3, 0.8])
Rule = Callable[[Any, Any], Any]


def _gradient(rule: Rule, x: Any) -> Any:
    @adc.custom_jvp
    def square(x: Any) -> Any:
        return x * x

    square.defjvp(
        lambda primals, tangents: (primals[0] * primals[0], rule(primals[0], tangents[0]))
    )
    return adc.grad(lambda x: np.sum(np.sin(square(x))), target="python", cache=False)(x)


def _by_a_product(x: Any, d: Any) -> Any:
    return np.diag(x) @ d + d @ np.diag(x)


def _by_a_while_loop(x: Any, d: Any) -> Any:
    total, k = 0.0 * d, 0
    while k < 2:
        total, k = total + x * d, k + 1
    return total


def _by_elements(x: Any, d: Any) -> Any:
    out = np.ones(3)
    for k in range(3):
        if x[k] > 0.0:
            out[k] = 2.0 * x[k] * d[k]
        else:
            out[k] = (x[k] + x[k]) * d[k]
    return out


def _by_elements_in_place(x: Any, d: Any) -> Any:
    out, others = x.copy(), np.ones(len(x))
    for k in range(len(x)):
        others[k] = 2.0 * d[k]
        out[k] = out[k] * others[k]
    return out


def _by_some_elements(x: Any, d: Any) -> Any:
    out = np.zeros(3)
    for k in range(2):
        out[k] = 2.0 * x[k] * d[k]
    out[2] = 2.0 * x[2] * d[2]
    return out


def _by_a_function(x: Any, d: Any) -> Any:
    assert x[0] > 0.0
    return adc.checkpoint(lambda x, d: 2.0 * x * d)(x, d)


def _doubled(d: Any, n: Any) -> Any:
    return d if n == 0 else _doubled(2.0 * d, n - 1)


def _squared(d: Any, n: Any) -> Any:
    return d if n == 0 else _squared(d * d, n - 1)


def _by_products_of_elements(x: Any, d: Any) -> Any:
    y = np.ones(len(d))
    for i in range(1, len(d)):
        y[i] = y[i - 1] * d[i]
    return 2.0 * x * y


LINEAR: list[Rule] = [
    _by_a_product, _by_a_while_loop, _by_elements, _by_elements_in_place, _by_some_elements,
    _by_a_function,
    lambda x, d: np.where(x > 0.0, 2.0 * x * d, d * x * 2.0),
    lambda x, d: ((1.0 + 2.0j) * (2.0 * x * d) / (1.0 + 2.0j)).real,
    lambda x, d: np.fft.ifft(np.fft.fft(2.0 * x * d)).real,
    lambda x, d: adc.jvp(lambda y: y * y, (x,), (d,))[1],
    lambda x, d: adc.jvp(lambda y: x * y * 2.0, (0.0 * x,), (d,))[1],
    lambda x, d: adc.grad(lambda y: np.sum(y * y))(x) * d,
    lambda x, d: adc.vjp(lambda y: y * y, x)[1](d)[0],
    lambda x, d: adc.linearize(lambda y: y * y, x)[1](d),
]  # fmt: skip
OTHERS: list[Rule] = [
    _by_products_of_elements,
    lambda x, d: 2.0 * x * d + d * d,
    lambda x, d: 2.0 * x * d + 1.0,
    lambda x, d: 2.0 * x * d * (d > 0.0),
    lambda x, d: np.where(d > 0.0, 2.0 * x * d, 3.0 * x * d),
    lambda x, d: 2.0 * x * np.abs(d),
    lambda x, d: np.floor(2.0 * x * d),
    lambda x, d: adc.stop_gradient(2.0 * x * d),
    lambda x, d: 2.0 * x * d / (1.0 + d),
    lambda x, d: 2.0 * x * np.sort(d),
    lambda x, d: ((1j * d) ** 2).real,
    lambda x, d: np.outer(d, d) @ d,
    lambda x, d: adc.grad(lambda y: np.sum(y * y * y))(d),
    lambda x, d: adc.jvp(lambda y: y * y, (d,), (d,))[1],
]


@pytest.mark.parametrize("rule", LINEAR)
def test_linear_rules_are_transposed(rule: Rule) -> None:
    np.testing.assert_allclose(_gradient(rule, X), 2.0 * X * np.cos(X * X), rtol=1e-13)


@pytest.mark.parametrize("rule", OTHERS)
def test_others_are_refused(rule: Rule) -> None:
    with pytest.raises(AdcError, match="rule of square") as caught:
        _gradient(rule, X)
    assert type(caught.value).code == "ADC024"


def test_recursive_rules() -> None:
    found = _gradient(lambda x, d: _doubled(x * d, 1), 0.7)
    np.testing.assert_allclose(found, 1.4 * np.cos(0.49), rtol=1e-13)
    with pytest.raises(AdcError, match="not linear"):
        _gradient(lambda x, d: _squared(x * d, 1), 0.7)


def test_loops_that_end_by_the_tangent() -> None:
    def decided(x: Any, d: Any) -> Any:
        while d > 0.1:
            d = 0.5 * d
        return 2.0 * x * d

    with pytest.raises(AdcError, match="not linear"):
        _gradient(decided, 0.7)
