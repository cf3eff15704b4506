"""Programs that call functions which adc calls as they are (`adc.external`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import adc
from tests.corpus.program import Program, recorder

EXTERNAL_PROGRAMS: list[Program] = []
program = recorder(EXTERNAL_PROGRAMS)

X = np.array([0.3, -0.7, 1.1])

# A rule for each mode.
sine = adc.external(
    lambda x, s: np.sin(x) * s,
    result=lambda x, s: x,
    vjp=lambda ct, y, x, s: (ct * np.cos(x) * s, np.sum(ct * np.sin(x))),
    jvp=lambda dots, y, x, s: np.cos(x) * s * dots[0] + np.sin(x) * dots[1],
)
# One for reverse mode; the tangent of a number follows from it.
norm = adc.external(
    lambda x: np.sum(x * x), result=np.float64, vjp=lambda ct, y, x: 2.0 * ct * x, pure=True
)
# One for forward mode, which is transposed.
parts = adc.external(
    lambda x, k: (np.cos(x) * k, x[0] * x[1], k + 1),
    result=lambda x, k: (x, x[0], k),
    jvp=lambda dots, y, x, k: (
        -np.sin(x) * k * dots[0], dots[0][0] * x[1] + x[0] * dots[0][1], None
    ),
)  # fmt: skip


@program(X, 0.7)
def external_in_a_loop(x: Any, s: Any) -> Any:
    total = 0.0
    for k in range(4):
        x = sine(x * (k + 1.0), s) + x[::-1]
        total += norm(x) * x[1]
    return total


@program(X, 0.7, argnums=(0, 1))
def external_on_a_path(x: Any, s: Any) -> Any:
    rounds = 0
    while norm(x) < 40.0 and rounds < 6:
        x = sine(x, s) + 1.5 * x if rounds % 2 else x * 1.3
        rounds += 1
    return np.sum(x * x) + rounds


@program(X)
def external_with_several_results(x: Any) -> Any:
    k = 1
    total = 0.0
    for _ in range(3):
        y, z, k = parts(x, k)
        total += np.sum(y * x) * z
        x = y[1:].sum() + 0.1 * x
    return total


def _helper(x: Any, s: Any) -> Any:
    return norm(sine(x, s)) * s


@program(X, 0.7, argnums=(0, 1))
def external_in_a_helper(x: Any, s: Any) -> Any:
    return _helper(x, s) + _helper(x * x, s + _helper(x, 0.5))


@program(X)
def external_without_a_rule(x: Any) -> Any:
    """What does not depend on what is differentiated needs none."""
    total = 0.0
    for k in range(4):
        total += np.sum(x**2) * norm_of_count(k)
    return total


norm_of_count = adc.external(lambda k: 1.0 + 0.5 * k, result=float)
