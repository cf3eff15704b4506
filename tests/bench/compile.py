"""Long programs, line after line of array expressions: how the time to compile them grows."""

from __future__ import annotations

import linecache
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import adc

LENGTHS = (50, 100, 150, 200, 400)
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


def program(kind: str, lines: int) -> Any:
    """Return a function of two vectors with so many statements."""
    first, turns, result = KINDS[kind]
    body = [first, *(turns[k % len(turns)].format(k=k % 7) for k in range(lines))]
    text = ["import numpy as np", "def program(x, w):", *body, f"return {result}"]
    text[2:] = [f"    {line}" for line in text[2:]]
    file = f"<{kind}-{lines}>"
    linecache.cache[file] = (0, None, [f"{line}\n" for line in text], file)
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(text), file, "exec"), namespace)
    return namespace["program"]


def first_call(kind: str, lines: int) -> float:
    """Return the seconds of processor time that the first gradient takes."""
    x, w = np.random.default_rng(0).standard_normal((2, 6))
    gradient = adc.grad(program(kind, lines), cache=False)
    start = time.process_time()
    gradient(x, w)
    return time.process_time() - start


def main(console: Console, rounds: int) -> None:
    """Print a table of medians; every first call has a process of its own."""
    table = Table(title="first gradient, s of processor time", title_justify="left")
    table.add_column("program")
    for lines in LENGTHS:
        table.add_column(f"{lines} lines", justify="right")
    for kind in KINDS:
        row = []
        for lines in LENGTHS:
            command = [sys.executable, "-m", "tests.bench.compile", kind, str(lines)]
            found = [
                float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                for _ in range(rounds)
            ]
            row.append(f"{statistics.median(found):.1f}")
        table.add_row(kind, *row)
    console.print(table)


if __name__ == "__main__":
    print(first_call(sys.argv[1], int(sys.argv[2])))
