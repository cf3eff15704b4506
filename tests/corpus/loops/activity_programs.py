# ruff: noqa: B007
# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""What has a derivative and what has none, and kinks away from ties.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import X3, X6, Program, recorder

ACTIVITY_PROGRAMS: list[Program] = []
program = recorder(ACTIVITY_PROGRAMS)


# --- activity -------------------------------------------------------------------------------------


@program(0.7, tags="constant")
def constant_result(x: Any) -> Any:
    return 3.5


@program(X3, tags="constant integer")
def result_depends_on_shape_only(x: Any) -> Any:
    return len(x) * 1.5


@program(2.3, tags="constant", smooth=False)
def result_through_floor_only(x: Any) -> Any:
    return math.floor(x) * 2.0 + int(x) + round(x) + x // 1.0


@program(X3, 0.5, tags="constant")
def requested_argument_is_unused(x: Any, y: Any) -> Any:
    return y * y


@program(0.7, X6, 3, argnums=(0,))
def inactive_arguments(x: Any, w: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s += x * w[i] * math.exp(w[i + 1])
    return s


@program(X3)
def unused_results(x: Any) -> Any:
    dead = math.exp(x[0])
    also = np.zeros(3)
    for i in range(3):
        also[i] = x[i] * dead
    dead = dead * 2.0
    return x[0] * x[1]


@program(0.7)
def dead_store_before_overwrite(x: Any) -> Any:
    a = np.zeros(2)
    a[0] = math.exp(x)
    a[0] = x * 2.0
    a[1] = a[0] * x
    return a[1]


@program(X3, np.array([0.3, 0.9, -0.2]), 1.4, argnums=(0, 1, 2))
def gradient_of_arrays_and_a_scalar(x: Any, w: Any, b: Any) -> Any:
    s = b
    for i in range(3):
        s += w[i] * x[i]
    return math.tanh(s) * b


@program(X3, np.zeros(3), tags="mutates")
def scratch_argument_carries_active_values(x: Any, work: Any) -> Any:
    for i in range(3):
        work[i] = x[i] * x[i]
    s = 0.0
    for i in range(3):
        s += work[i] * work[0]
    return s


@program(X3)
def value_cut_by_constant_overwrite(x: Any) -> Any:
    a = x.copy()
    s = 0.0
    for i in range(3):
        s += a[i] * a[i]
        a[i] = 1.5
        s += a[i] * x[0]
    return s


@program(0.7, tags="closure")
def variable_reused_for_another_purpose(x: Any) -> Any:
    t = x * x
    y = t + 1.0
    t = 3
    for i in range(t):
        y = y * x
    t = y > 0.0
    return y if t else x


# --- kinks away from ties -------------------------------------------------------------------------


@program(X6, smooth=False)
def running_maximum_and_minimum(x: Any) -> Any:
    high = x[0]
    low = x[0]
    s = 0.0
    for i in range(1, 6):
        high = max(high, x[i])
        low = np.minimum(low, x[i])
        s += high * low
    return s


@program(X6, smooth=False)
def argmax_then_use(x: Any) -> Any:
    k = 0
    for i in range(1, len(x)):
        if x[i] > x[k]:
            k = i
    return x[k] * x[k] + k * x[0]


@program(X6, smooth=False)
def sum_of_absolute_values(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += abs(v) * abs(v - 0.5)
    return s


@program(X6, smooth=False)
def clipping(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += min(max(v, -1.0), 1.5) * v
    return s


@program(X6, smooth=False)
def huber_loss(x: Any) -> Any:
    s = 0.0
    for v in x:
        r = abs(v)
        s += 0.5 * r * r if r <= 1.0 else r - 0.5
    return s
