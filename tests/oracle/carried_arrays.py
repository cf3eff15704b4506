"""Programs with loop-carried arrays, and the memory of these, computed and measured.

Run as a program, because what it measures with is decided for the whole process: arrays that own
their memory are made by Python's allocator, which `tracemalloc` watches. It prints, for every
program and plan, the bytes that are computed and those that are measured.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import numba.core.runtime._nrt_python as nrt
import numpy as np

import adc
from adc.backend.runtime.memory import POOL
from adc.passes.memory.peak import peak
from tests.oracle.meter import Meter, Recorded

N = 20_000


def rebound(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x - 0.1 * np.sin(x) * x
    return np.sum(x * x)


def swapped(x: Any, n: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a * 0.5 + np.sin(b)
    return np.sum(a * b)


def three_in_turn(x: Any, n: Any) -> Any:
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for _ in range(n):
        a, b, c = b, c, np.sin(a) + b * c
    return np.sum(a * b + c)


def two_loops(x: Any, n: Any) -> Any:
    y = x
    for _ in range(n):
        y = np.tanh(y) + x
    z = y
    for _ in range(n):
        z = np.sin(z) * y
    return np.sum(z)


def nested(x: Any, n: Any) -> Any:
    y = x
    for _ in range(n):
        z = y
        for _ in range(9):  # more than LLVM unrolls
            z = np.sin(z) + x
        y = y + 0.1 * z
    return np.sum(y * y)


def until(x: Any, n: Any) -> Any:
    k = 0
    while np.max(np.abs(x)) > 0.5 and k < n:
        x = x * np.cos(x)
        k += 1
    return np.sum(x)


def kept_if_better(x: Any, n: Any) -> Any:
    best, y = x, x
    for _ in range(n):
        y = np.sin(y) + 0.1 * x
        if np.sum(y) > 0.4 * np.sum(best):
            best = y
    return np.sum(best * y)


def matrix_powers(x: Any, n: Any) -> Any:
    w = np.reshape(x[:16900], (130, 130))
    a = w.copy()
    for _ in range(n):
        a = a @ w * 0.1
    return np.sum(a * a)


def states(x: Any, n: Any) -> Any:
    h, kept = x, []
    for _ in range(n):
        h = np.tanh(h + x)
        kept.append(h)
    return np.sum(np.stack(kept))


def grows(x: Any, n: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > 0.3:
            found.append(x[i] * x[i])
    return np.sum(np.array(found))


def shrinks(x: Any, n: Any) -> Any:
    while len(x) > 100:
        x = x[::2] * 1.5
    return np.sum(x * x)


def step(y: Any, x: Any) -> Any:
    for _ in range(2):
        y = np.sin(y) + x
    return y


def in_a_function(x: Any, n: Any) -> Any:
    y = x
    for _ in range(n):
        y = step(y, x)
    return np.sum(y * y)


PROGRAMS: list[Callable[..., Any]] = [
    rebound, swapped, three_in_turn, two_loops, nested, until, kept_if_better, matrix_powers,
    states, grows, shrinks, in_a_function,
]  # fmt: skip


def measured(gradient: Any, x: Any, trips: int) -> int:
    """Return the bytes that a call uses beyond its arguments and its result."""
    for _ in range(2):
        gradient(x, trips)
    kernel = gradient.compiled_for(x, trips).entry.kernel
    gc.collect()
    POOL.clear()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = gradient(x, trips)
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return int(kernel.peak + most - result.nbytes)


def main() -> None:
    nrt.memsys_use_cpython_allocator()
    rng = np.random.default_rng(0)
    for fn in PROGRAMS:
        seen: set[str] = set()
        for remat in ("auto", "recompute"):
            gradient: Any = adc.grad(fn, remat=remat)
            code = gradient.ir(rng.uniform(0.0, 1.0, N), 7)
            if code in seen:
                continue
            seen.add(code)
            for trips in (1, 7):
                x = rng.uniform(0.0, 1.0, N)
                computed = gradient.plan(x, trips).peak_bytes
                if computed is None and remat == "auto":  # what decides is in the data
                    x = x[: N // 4].copy()  # to interpret takes long
                    stored = gradient.compiled_for(x, trips).compilation.fn
                    formula = peak(stored)
                    meter = Meter(stored)
                    meter.run((x, trips))
                    computed = (formula.size + formula.own).value(Recorded.of(formula, meter))
                if computed is not None:
                    found = measured(gradient, x, trips)
                    print(json.dumps([fn.__name__, remat, trips, computed, found]))


if __name__ == "__main__":
    main()
