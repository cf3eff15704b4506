# ruff: noqa: B023
# The corpus is what users write, not what a linter would have them write: lambdas bound to names,
# `zip` without `strict`, unused results. All of these must work.
"""Programs on which random programs found faults, reduced.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import X6, Program, recorder

FOUND_PROGRAMS: list[Program] = []
program = recorder(FOUND_PROGRAMS)


@program(0.8, np.array([0.7, -0.3, 0.2, 0.9]), argnums=(0, 1), tags="exit mutates", smooth=False)
def store_after_a_loop_that_may_return(x: Any, a: Any) -> Any:
    # The last version of `a` exists only where the loop did not return.
    for i in range(4):
        if x < 0.6057:
            return a[i]
    a[len(a) % a.shape[0]] = x
    return math.tanh(a[len(a) % 4])


@program(X6, 0.45, argnums=(0, 1), tags="exit", smooth=False)
def bound_wherever_no_exit_is_pending(x: Any, y: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] < y:
            if x[i] < -1.0:
                if y > 0.3:
                    continue
                break
            v = math.log(1.4 + y * y) * x[i]
        else:
            v = y / (1.2 + x[i] * x[i])
        s += v * v
    return s


@program(2.7, tags="exit numeric")
def name_bound_by_every_iteration_of_a_loop_with_an_exit(x: Any) -> Any:
    y = x
    for _ in range(50):
        z = 0.5 * (y + x / y)
        if abs(z - y) < 1e-12:
            break
        y = z
    else:
        return -1.0
    return z


def _apply(f: Any, v: Any) -> Any:
    return f(v) + 0.5 * v


@program(0.6, tags="closure")
def function_applied_within_itself(x: Any) -> Any:
    return _apply(lambda u: _apply(math.sin, u) * x, x * x)


@program(0.7, X6, argnums=(0, 1))
def loop_that_never_runs_around_loops(x: Any, a: Any) -> Any:
    for i in range(1, 1):
        for j in range(3):
            a[j] = math.hypot(a[j], x) * i
    s = x
    for v in a:
        s += 0.25 * v * x
    return s


@program(X6, 0.5, argnums=(0, 1), tags="closure exit")
def function_defined_in_a_loop_with_an_exit(x: Any, y: Any) -> Any:
    s = y
    for i, v in enumerate(x):

        def shifted(u: Any, c: Any = 0.3317) -> Any:
            return u * c + v

        s = s * 0.5 + shifted(s)
        if i > 3:
            break
    return s


@program(X6, 0.5, argnums=(0, 1), tags="numeric")
def earlier_elements_of_a_local_array(x: Any, y: Any) -> Any:
    a = np.full(6, 0.4337)
    s = 0.0
    for i in range(6):
        s += a[i - 1] * a[min(i + 1, 5)]
        a[i] = math.sin(x[i] + y * s)
    return s * y


@program(0.7, 4, tags="numeric")
def two_names_for_what_a_loop_hands_on(x: Any, n: Any) -> Any:
    # The merging of numbers that a loop carries twice went round in circles.
    a = 0.0
    b = 0.0
    for i in range(n):
        t = np.sin(x * i)
        x = x * 0.9 + a * b
        a = t
        b = t
    return a * x + b


@program(0.7, 4, tags="numeric")
def two_equal_remainders(x: Any, n: Any) -> Any:
    a = 0
    b = 0
    for i in range(n):
        x = x * 0.5 + a - b * 0.5
        a = (n - i) % 2
        b = (n - i) % 2
    return x * (a + b)


@program(np.array([1.25, -0.5, 0.75, 1.5]), tags="numeric")
def equal_numbers_read_in_between(x: Any) -> Any:
    # Of the products of an iteration, the first are read before the others are computed.
    p = 0.5
    q = 0.5
    r = 0.5
    w = 0.5
    s = 0.0
    for i in range(len(x)):
        w = w * x[0]
        s += w
        q = q * x[0]
        s += q * x[i]
        p = p * x[0]
        s -= p * x[i - 1]
        r = r * x[0]
    return s * r + 2.0 * p + q - 3.0 * w


@program(0.7, tags="numeric")
def written_again_behind_a_read(x: Any) -> Any:
    # What is read is overwritten in a later iteration, by a loop in front of the read.
    y = np.zeros(3)
    y[1] = x * x
    y[2] = x
    s = x
    for k in range(4):
        for j in range(2):
            y[(j + k) % 3] = np.sin(s + j)
        s = s * y[0] * y[0] + 0.3 * y[1] * y[2] * s
    return s


@program(0.7, tags="numeric")
def written_only_in_front_of_a_read(x: Any) -> Any:
    y = np.zeros(3)
    s = x
    for k in range(4):
        for j in range(2):
            y[(j + k) % 3] = np.sin(s + j)
        s = s * y[0] * y[0] + 0.3 * y[1] * y[2] * s
    return s


@program(np.array([0.6, -0.3, 0.8]), tags="numeric")
def sum_of_pairs_of_elements_of_a_list(x: Any) -> Any:
    # The cotangents of an element are summed by the outer loop, and by the inner one.
    v = [0.0] * 3
    total = 0.0
    for i in range(3):
        v[i] = x[i] * x[i]
        total += v[i] * v[i]
    for i in range(3):
        before = 0.0
        for j in range(i):
            before += v[j]
        total += v[i] * before
    return total
