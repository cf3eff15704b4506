"""What calls of derivatives cost in code that a user compiles with Numba.

``python -m tests.bench.callers`` prints a table: the time of the caller's first call, which
compiles it, and the time of a derivative within a later call. Beside them are those of the same
caller with a derivative written by hand, as a function that Numba compiles. Every cell is a process
of its own, in which the derivative and Numba's threads are ready; a time within calls is the least
of five.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import adc

COUNT = 200_000
WIDTH = 4


def of_number(x: Any) -> Any:
    return np.sin(x) * x * x


def of_vector(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def logarithm(x: Any) -> Any:
    return np.log(x) if x > 0.5 else 1.0 / x  # which may raise


def by_hand_number(x: Any) -> Any:
    return np.cos(x) * x * x + 2.0 * np.sin(x) * x


def by_hand_vector(x: Any) -> Any:
    return np.sin(x) + np.cos(x) * x


def by_hand_logarithm(x: Any) -> Any:
    return 1.0 / x if x > 0.5 else -1.0 / (x * x)


ROWS = {
    "number": (of_number, by_hand_number, ()),
    "number, may raise": (logarithm, by_hand_logarithm, ()),
    "4 numbers": (of_vector, by_hand_vector, (WIDTH,)),
}


def caller(slope: Any, parallel: bool) -> Callable[[Any], Any]:
    """Return what fills an array with derivatives."""

    def fill(xs: Any) -> Any:
        out = np.zeros_like(xs)
        for k in numba.prange(len(xs)):
            out[k] = slope(xs[k])
        return out

    return numba.njit(fill, parallel=parallel)  # type: ignore[no-any-return]  # it has no types


def warm() -> None:
    """Let Numba load what it needs, and start its threads."""

    @numba.njit(parallel=True)
    def ones(xs: Any) -> Any:
        out = np.zeros_like(xs)
        for k in numba.prange(len(xs)):
            out[k] = xs[k] * 2.0
        return out

    ones(np.ones((2, WIDTH)))
    ones(np.ones(2))


def row(name: str, by_hand: bool, parallel: bool) -> str:
    fn, hand, shape = ROWS[name]
    slope = numba.njit(hand) if by_hand else adc.grad(fn)
    slope(np.ones(shape) if shape else 1.0)
    warm()
    fill = caller(slope, parallel)
    xs = np.linspace(0.1, 3.0, COUNT * (WIDTH if shape else 1)).reshape(COUNT, *shape)
    start = time.perf_counter()
    fill(xs[:2])
    first = time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        fill(xs)
        times.append(time.perf_counter() - start)
    return f"{first:.2f} s | {min(times) / COUNT * 1e9:.1f} ns"


def main() -> None:
    print("| derivative by | loop | adc: first call | adc | by hand: first call | by hand |")
    print("|---|---|---|---|---|---|")
    for name in ROWS:
        for loop in ("range", "prange"):
            cells = [
                subprocess.run(
                    [sys.executable, "-m", "tests.bench.callers", name, by, loop],
                    check=True, capture_output=True, text=True,
                ).stdout.strip()
                for by in ("adc", "hand")
            ]  # fmt: skip
            print(f"| {name} | `{loop}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(row(sys.argv[1], sys.argv[2] == "hand", sys.argv[3] == "prange"))
    else:
        main()
