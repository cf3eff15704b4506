"""Tools that are asked in turns, each in a process of its own, on one core if nothing else is said.

A module with benchmarks is the process of a tool when it is run with the tool's name: it serves.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SECONDS = 0.3
MOST = 20  # calls that are timed at once
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def serve(make: Callable[..., Callable[[], Any]], seconds: float = SECONDS) -> None:
    """Answer lines with a program by the median seconds of a call, and what it returns.

    `make` returns the call for a program. Of arrays, the sums of magnitudes are what is compared.
    """
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for line in sys.stdin:
        if line not in calls:
            call = make(*json.loads(line))
            call()
            start = time.perf_counter()
            call()
            calls[line] = call, max(1, min(MOST, int(0.01 / (time.perf_counter() - start))))
        call, count = calls[line]
        taken: list[float] = []
        found = None
        for _ in range(3):  # the other tool has had the caches, and pages of memory
            call()
        end = time.perf_counter() + seconds
        while not taken or time.perf_counter() < end:
            start = time.perf_counter()
            for _ in range(count):
                found = call()
            taken.append((time.perf_counter() - start) / count)
        print(json.dumps([statistics.median(taken), _summary(found)]), flush=True)


def _summary(found: Any) -> list[float]:
    if isinstance(found, tuple | list):
        return [number for part in found for number in _summary(part)]
    return [] if found is None else [float(abs(found).sum())]


class Tool:
    """A process that serves, on so many cores."""

    def __init__(self, python: str, module: str, name: str, cores: int = 1) -> None:
        flags = {"JAX_PLATFORMS": "cpu", **dict.fromkeys(THREADS, str(cores))}
        if cores == 1:
            flags["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        self.process = subprocess.Popen(
            [python, "-m", module, name], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **flags, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        pin = getattr(os, "sched_setaffinity", None)
        if pin is not None:
            pin(self.process.pid, sorted(os.sched_getaffinity(0))[-cores:])

    def ask(self, program: Sequence[Any]) -> tuple[float, list[float]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        seconds, found = json.loads(self.process.stdout.readline())
        return seconds, found

    def close(self) -> None:
        self.process.communicate("")


def ask(
    tools: Mapping[str, Tool], program: Sequence[Any], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the seconds of each tool in each round, and what each has found."""
    seconds: dict[str, list[float]] = {name: [] for name in tools}
    found = {}
    for _ in range(rounds):
        for name, tool in tools.items():
            taken, found[name] = tool.ask(program)
            seconds[name].append(taken)
    return seconds, found


def ratio(seconds: Mapping[str, list[float]], first: str, second: str) -> float:
    """Return the median over the rounds of how much longer one tool takes than another."""
    return statistics.median(
        a / b for a, b in zip(seconds[first], seconds[second], strict=True)
    )  # fmt: skip


def beside(
    tools: Mapping[str, Tool], program: Sequence[Any], rounds: int, rtol: float = 1e-9
) -> list[str]:
    """Return the milliseconds of each tool, and the first one's time divided by the second one's.

    Raises
    ------
    AssertionError
        If they have found something else.
    """
    seconds, found = ask(tools, program, rounds)
    row = [f"{statistics.median(each) * 1e3:.3g}" for each in seconds.values()]
    first, *others = tools
    for other in others:
        if not all(
            math.isclose(a, b, rel_tol=rtol)
            for a, b in zip(found[first], found[other], strict=True)
        ):
            raise AssertionError(f"{program}: {first} and {other} differ: {found}")
        row.append(f"{ratio(seconds, first, other):.2f}")
    return row


def installed(python: str, module: str) -> bool:
    """Whether an interpreter has a module."""
    asked = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return asked.returncode == 0
