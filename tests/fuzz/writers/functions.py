"""The functions that programs call: those of a small library, and helpers that are written."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fuzz.writers.scalars import MAX_TRIPS, Function, ScalarWriter

LIBRARY = """\
import math

import numpy as np



def dup(a):
    b = np.empty_like(a)
    if a.ndim == 1:
        for i in range(len(a)):
            b[i] = a[i]
        return b
    return a.copy()


def pair(p, q):
    return math.sin(p) * q, p - 0.5 * q


def put(a, value=0.3, *, shift=1):
    for i in range(len(a)):
        a[i] = 0.5 * a[i] + 0.3 * value * math.cos(a[(i + shift) % len(a)])


def blend(a, b, rate=0.4):
    for i in range(len(a)):
        if a[i] > 0.9337:
            continue
        a[i] = a[i] + math.tanh(rate) * (b[i] - a[i]) * 0.5


def apply(f, v):
    return 0.5 * f(v) + 0.5 * f(0.3337)


def total(a, scale=0.25):
    s = 0.0
    for v in a:
        s += scale * v
    return s


def dive(v, n):
    if n <= 0 or v > 2.1337:
        return v
    return 0.7 * dive(math.sin(v) + 0.2, n - 1) - 0.1 * v
"""


def library_functions() -> list[Function]:
    def total(w: ScalarWriter, depth: int) -> str:
        a = w.pick_array("f8", 1)
        if a is None or w.trips * a.shape[0] > MAX_TRIPS:
            return w.leaf()
        return w.rng.choice([f"total({a.name})", f"total({a.name}, scale={w.const(0.1, 0.4)})"])

    def apply(w: ScalarWriter, depth: int) -> str:
        u = w.name("u")
        w.scope.fixed.append(u)
        body = w.number(min(depth, 1))
        w.scope.fixed.remove(u)
        f = w.rng.choice([f"lambda {u}: {body}", "math.sin", "math.tanh"])
        return f"apply({f}, {w.number(0)})"

    def dive(w: ScalarWriter, depth: int) -> str:
        return f"dive({w.number(min(depth, 1))}, {w.rng.randint(0, 3)})"

    return [Function("total", total), Function("apply", apply), Function("dive", dive)]


def helper(rng: random.Random, names: Iterator[int], name: str) -> tuple[list[str], Function]:
    """Return a function of two floats with a body of its own, and how to call it."""
    w = ScalarWriter(rng, names, single=False)
    w.scope.floats += ["p", "q"]
    w.budget = rng.randint(1, 4)
    w.trips = 12  # it may be called in a loop
    w.statements(w.budget)
    w.emit(f"return {w.number(2)}")
    default = w.const()
    lines = [f"def {name}(p, q={default}):", *w.lines]

    def call(w: ScalarWriter, depth: int) -> str:
        a, b = w.number(min(depth, 1)), w.number(0)
        return w.rng.choice([f"{name}({a})", f"{name}({a}, {b})", f"{name}({a}, q={b})"])

    return lines, Function(name, call)
