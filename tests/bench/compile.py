"""Long programs, line after line of array expressions: how the time to compile them grows.

`python -m tests.bench.compile KIND LINES` prints the seconds of each part of one first gradient;
with `calls` as the kind, of so many calls of 40 functions.
"""

from __future__ import annotations

import json
import linecache
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import adc

LENGTHS = (10, 30, 100, 150, 500, 1000)
# Longer ones are compiled once: they take long enough to be measured well.
SHORT = 150
# Of each kind of program: what comes first, and the lines that follow in turn.
KINDS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "elementwise": ("a = x * 1.0", ("a = np.tanh(a * w + {k}.0) * 0.5 + a",), "np.sum(a)"),
    "slices": (
        "a = x * 1.0",
        (
            "a[1:] = a[:-1] * w[1:] + a[1:]",
            "b = a[1:] - a[:-1]",
            "a[:-1] += b * 0.1",
            "a[a > 3.0] = 0.5",
        ),
        "np.sum(a)",
    ),
    "mixed": (
        "a = x * 1.0; M = np.outer(a, w)",
        (
            "M = M * 0.5 + a[:, None]",
            "s = M.sum(axis=0)",
            "a = np.exp(-s) + a",
            "a = M @ a * 0.1",
            "t = a.max() - a.mean()",
            "M[{k} % 3] *= t",
        ),
        "np.sum(a)",
    ),
}
# How many functions are called once, and how often in the other program.
FUNCTIONS, OFTEN = 40, 400


def program(kind: str, lines: int) -> Any:
    """Return a function of two vectors with so many statements."""
    text = ["import numpy as np"]
    if kind == "calls":
        for k in range(FUNCTIONS):
            text += _function(f"f{k}", f"a = x * 1.0{k}; M = np.outer(a, w)", "mixed", 6, "a")
        calls = [f"    a = f{k % FUNCTIONS}(a, w)" for k in range(lines)]
        text += ["def program(a, w):", *calls, "    return np.sum(a)"]
    else:
        first, _, result = KINDS[kind]
        text += _function("program", first, kind, lines, result)
    file = f"<{kind}-{lines}>"
    linecache.cache[file] = (0, None, [f"{line}\n" for line in text], file)
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(text), file, "exec"), namespace)
    return namespace["program"]


def _function(name: str, first: str, kind: str, lines: int, result: str) -> list[str]:
    turns = KINDS[kind][1]
    body = [first, *(turns[k % len(turns)].format(k=k % 7) for k in range(lines))]
    return [f"def {name}(x, w):", *(f"    {line}" for line in (*body, f"return {result}"))]


def first_call(kind: str, lines: int) -> dict[str, float]:
    """Return the seconds of processor time that the first gradient takes, and its parts.

    `elapsed` are the seconds that pass: parts of the back end run on several cores.
    """
    from adc.compiler import cache, driver, prepare

    spent: dict[str, float] = {}

    def timed(name: str, part: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return part(*args, **kwargs)
            finally:
                spent[name] = spent.get(name, 0.0) + time.process_time() - start

        return call

    parts: tuple[tuple[str, Any, str], ...] = (
        ("front end", prepare, "lower"),
        ("passes", driver, "transform"),
        ("back end", cache, "_build"),
    )
    for name, module, function in parts:
        setattr(module, function, timed(name, getattr(module, function)))
    x, w = np.random.default_rng(0).standard_normal((2, 6))
    gradient = adc.grad(program(kind, lines), cache=False)
    start, begun = time.process_time(), time.perf_counter()
    gradient(x, w)
    elapsed = time.perf_counter() - begun
    return {"elapsed": elapsed, "all": time.process_time() - start, **spent}


def growth(lengths: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent of the power of the length that times grow by, from 100 lines on.

    Shorter programs take as long as it takes to load the compiler.
    """
    long = [(length, time) for length, time in zip(lengths, seconds, strict=True) if length >= 100]
    if len(long) < 2:
        return math.nan
    (first, least), (last, most) = long[0], long[-1]
    return math.log(most / least) / math.log(last / first)


def main(console: Console, rounds: int, lengths: Sequence[int] = LENGTHS) -> None:
    """Print a table of medians; every first call has a process of its own."""
    table = Table(title="first gradient, s of processor time", title_justify="left")
    for title in ("program", "part"):
        table.add_column(title)
    for lines in lengths:
        table.add_column(f"{lines} lines", justify="right")
    table.add_column("growth", justify="right")
    for kind in KINDS:
        columns = [_medians(kind, lines, rounds if lines <= SHORT else 1) for lines in lengths]
        for part in columns[0]:
            found = [column[part] for column in columns]
            cells = [f"{seconds:.2f}" for seconds in found]
            power = growth(lengths, found)
            table.add_row(kind, part, *cells, "" if math.isnan(power) else f"n^{power:.1f}")
    console.print(table)
    once, often = (_medians("calls", count, 1) for count in (FUNCTIONS, OFTEN))
    for part in ("all", "elapsed"):
        console.print(
            f"{part}: {FUNCTIONS} functions {once[part]:.1f} s, called {OFTEN} times "
            f"{often[part]:.1f} s ({often[part] / once[part]:.1f} times)"
        )


def _medians(kind: str, lines: int, rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.compile", kind, str(lines)]
    found = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(rounds)
    ]
    return {part: statistics.median(each[part] for each in found) for part in found[0]}


if __name__ == "__main__":
    print(json.dumps(first_call(sys.argv[1], int(sys.argv[2]))))
