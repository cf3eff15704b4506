"""Programs that say what reverse code keeps of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adc
from tests.corpus.arrays.array_programs import M33
from tests.corpus.program import X3, X6, Program, recorder

KEPT_PROGRAMS: list[Program] = []
program = recorder(KEPT_PROGRAMS)

# --- what reverse code keeps ----------------------------------------------------------------------


@adc.checkpoint
def _layer(h: Any, w: Any) -> Any:
    z = np.tanh(w @ h)
    return z * np.exp(-z) + h


@program(X3, M33, argnums=(0, 1), tags="keep")
def checkpointed_layers_in_a_loop(x: Any, w: Any) -> Any:
    for k in range(4):
        x = _layer(x, w * (0.3 + k))
    return np.sum(x * x)


@program(X3, M33, argnums=(0, 1), tags="keep")
def checkpointed_modules_of_checkpointed_layers(x: Any, w: Any) -> Any:
    @adc.checkpoint
    def module(u: Any) -> Any:
        for _ in range(2):
            u = _layer(_layer(u, w), w * 0.5)
        return u

    return np.sum(module(module(x)) * x)


@program(X3, tags="keep")
def checkpointed_elements_made_of_others(x: Any) -> Any:
    @adc.checkpoint
    def mixed(u: Any) -> Any:
        t = np.cos(u)
        s = np.sin(t[0])
        t[1] = s * t[2] + 0.1
        return np.sum(t * t) * s

    return mixed(x) + x[0]


def _scaled_while_large(x: Any) -> Any:
    a = x * 2.0
    s = x[0]
    for _ in range(3):
        if s > -0.5:
            a *= 0.7
            s = s + 0.3 * np.sin(s)
        else:
            s = 0.5 * s
    return s + 0.1 * a.sum()


@program(X3)
def scaled_in_a_branch_of_a_checkpointed_loop(x: Any) -> Any:
    """Reverse code repeats the loop that scales, of which forward code needs nothing again."""
    return adc.checkpoint(_scaled_while_large)(x)


@program(0.7, 5, tags="keep while")
def checkpointed_loops_of_both_kinds(x: Any, n: Any) -> Any:
    @adc.checkpoint
    def settled(u: Any) -> Any:
        for k in range(n):
            u = u * math.sin(u) + 0.1 * k + 1.0
        while u > 1.0:
            u = u * 0.7
        return u

    y = settled(x)
    return y * y * settled(y * x)


@adc.checkpoint
def _deeper(x: Any, n: Any) -> Any:
    if n == 0:
        return x
    return math.sin(x) * _deeper(x * 1.1, n - 1) + x


@program(0.7, tags="keep recursion")
def checkpointed_recursion(x: Any) -> Any:
    return _deeper(x, 4) * x + math.exp(_deeper(x, 2))


def _plainly_deeper(x: Any, n: Any) -> Any:
    if n == 0:
        return x
    return math.sin(x) * _plainly_deeper(x * 1.1, n - 1) + x


@program(0.7, tags="keep recursion")
def recursion_inside_of_a_checkpointed_call(x: Any) -> Any:
    inside = adc.checkpoint(lambda u: _plainly_deeper(u, 3) * u)
    return inside(inside(x)) * x


@program(X6, tags="keep mutates")
def checkpointed_steps_in_place(x: Any) -> Any:
    @adc.checkpoint
    def sweep(u: Any) -> Any:
        for i in range(1, len(u) - 1):
            u[i] = math.sin(u[i - 1]) * u[i + 1] + u[i]

    v = x.copy()
    for _ in range(3):
        sweep(v)
    return np.sum(v * v)


@program(X6, tags="keep mutates")
def checkpointed_elimination(x: Any) -> Any:
    @adc.checkpoint
    def eliminated(a: Any) -> Any:
        for k in range(3):
            for i in range(k + 1, 3):
                a[i] = a[i] - a[k] * (a[i, k] / a[k, k])
        return a[0, 0] * a[1, 1] * a[2, 2]

    m = np.outer(x[:3], x[3:]) + 3.0 * np.eye(3)
    return eliminated(m) * x[0] + np.sum(m * m)


@program(0.4, X6, argnums=(0, 1), tags="keep exit")
def checkpointed_branches_and_exits(x: Any, a: Any) -> Any:
    @adc.checkpoint
    def chosen(u: Any, v: Any) -> Any:
        if v > 0.0:
            return math.sin(u) * v
        for _k in range(4):
            u = u * math.cos(u) + 0.1
            if u < 0.3:
                break
        return u + v

    s = x
    for v in a:
        s = chosen(s, v) + s * v
    return s


class _Cell:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.steps = 0

    @adc.checkpoint
    def step(self, h: Any) -> Any:
        self.steps += 1
        return np.tanh(self.w * h) * self.steps


@program(X3, tags="keep class")
def checkpointed_method(x: Any) -> Any:
    cell = _Cell(x * 0.5)
    h = x
    for _ in range(3):
        h = cell.step(h)
    return np.sum(h * h) * cell.steps


@program(X6, tags="keep")
def checkpointed_expression(x: Any) -> Any:
    squash = adc.checkpoint(lambda u: np.tanh(u) * np.exp(u))
    return np.sum(squash(squash(x) * x) ** 2)


@program(X6, tags="keep")
def saved_and_recomputed_numbers(x: Any) -> Any:
    s = 0.3
    for v in x:
        t = adc.save(v * v + 1.0)
        s = s * t * adc.recompute(math.tanh(s))
        s = adc.save(s) + adc.recompute(math.exp(-s))
    return s * adc.save(s)


@program(X6, 3, tags="keep")
def saved_and_recomputed_arrays(x: Any, n: Any) -> Any:
    for _ in range(n):
        h = adc.recompute(np.tanh(x))
        g = adc.save(np.exp(-h))
        x = h * g + x * adc.recompute(np.where(h > 0.2, g, h))
    return np.sum(x)


@program(X6, tags="keep mutates")
def saved_array_that_changes(x: Any) -> Any:
    a = x * 2.0
    b = adc.save(a)
    s = np.sum(np.sin(a))
    b[1] = s
    c = adc.recompute(a * a)
    a[2:] = c[1:-1]
    return np.sum(b * c) * s


@program(X6, tags="keep")
def saved_inside_of_a_checkpointed_call(x: Any) -> Any:
    @adc.checkpoint
    def inside(u: Any) -> Any:
        s = 0.1
        for v in u:
            s = math.sin(s * adc.save(math.exp(v))) + v
        return s

    return inside(x) * inside(x * x)


@program(X6, tags="keep exit")
def raised_in_one_arm(x: Any) -> Any:
    a = np.zeros(6)
    a[0] = x[0]
    for k in range(1, 6):
        s = x[k]
        for j in range(k):
            s += a[j] * x[j]
        if s > 1e9:
            raise ValueError(f"too large: {s}")
        a[k] = math.sin(s)
    return np.sum(a * a)
