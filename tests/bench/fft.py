"""Fourier transforms: gradients of functions of `np.fft`, beside JAX and SciPy's forward calls.

`python -m tests.bench.fft [PYTHON]` prints a table of medians: the gradient of a weighted power
spectrum of 2**10 to 2**20 numbers, and of filters of an image. JAX is asked where it is installed
(PYTHON), compiled and in double precision, with arrays of its own. Both are asked in turns, in
processes of their own on one core. SciPy transforms what the function transforms, forward only.

`python -m tests.bench.fft TOOL` is the process of one tool.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.linalg import _has_jax

ROOT = Path(__file__).parents[2]
SECONDS = 0.3


def spectrum(x: Any, w: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * w)


def real_filter(x: Any, w: Any) -> Any:
    return np.sum(np.fft.irfft2(np.fft.rfft2(x) * w) ** 2)


def complex_filter(x: Any, w: Any) -> Any:
    return np.sum(np.fft.ifft2(np.fft.fft2(x) * w).real ** 2)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (spectrum, real_filter, complex_filter)
}
PROGRAMS = [
    *(("spectrum", (2**k,)) for k in range(10, 21, 2)),
    ("real_filter", (512, 512)),
    ("complex_filter", (512, 512)),
]


def arguments(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    drawn = numpy.random.default_rng(0)
    x = drawn.standard_normal(shape)
    if name == "real_filter":
        shape = (shape[0], shape[1] // 2 + 1)
    return x, drawn.random(shape)


def _adc(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import adc

    found = adc.grad(FUNCTIONS[name])
    return lambda: found(*args)


def _jax(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(jax.grad(FUNCTIONS[name]))
    given = jax.device_put(args)
    return lambda: jax.block_until_ready(made(*given))


def _scipy(name: str, args: tuple[Any, Any]) -> Callable[[], Any]:
    import scipy.fft

    x, w = args
    if name == "spectrum":
        return lambda: scipy.fft.fft(x)
    if name == "real_filter":
        return lambda: scipy.fft.irfft2(scipy.fft.rfft2(x) * w)
    return lambda: scipy.fft.ifft2(scipy.fft.fft2(x) * w)


def _serve(tool: str) -> None:
    """Answer lines with a program by the median seconds of a call, and what it returns."""
    make = {"adc": _adc, "jax": _jax, "scipy": _scipy}[tool]
    calls: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name, shape = json.loads(line)
        if line not in calls:
            calls[line] = make(name, arguments(name, tuple(shape)))
            calls[line]()
        call = calls[line]
        taken: list[float] = []
        end = time.perf_counter() + SECONDS
        while len(taken) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            found = call()
            taken.append(time.perf_counter() - start)
        total = 0.0 if tool == "scipy" else float(abs(found).sum())
        print(json.dumps([statistics.median(taken), total]), flush=True)


class _Tool:
    def __init__(self, python: str, name: str) -> None:
        flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_PLATFORMS": "cpu"}
        self.process = subprocess.Popen(
            [python, "-m", "tests.bench.fft", name], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **flags, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        cores = getattr(os, "sched_setaffinity", None)
        if cores is not None:
            cores(self.process.pid, {max(os.sched_getaffinity(0))})

    def ask(self, program: Any) -> tuple[float, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        seconds, total = json.loads(self.process.stdout.readline())
        return seconds, total

    def close(self) -> None:
        self.process.communicate("")


def main(console: Console, rounds: int = 5, peer: str = sys.executable) -> None:
    """Print the table."""
    tools = {"scipy": _Tool(sys.executable, "scipy"), "adc": _Tool(sys.executable, "adc")}
    if _has_jax(peer):
        tools["jax"] = _Tool(peer, "jax")
    table = Table(title="Gradient, in milliseconds; SciPy: the transforms alone, forward")
    for column in ("function", "shape", "SciPy", "adc", "JAX", "adc / JAX"):
        table.add_column(column, justify="left" if column == "function" else "right")
    ratios = []
    for name, shape in PROGRAMS:
        found: dict[str, list[float]] = {tool: [] for tool in tools}
        totals = {}
        for _ in range(rounds):
            for tool, process in tools.items():
                seconds, totals[tool] = process.ask((name, shape))
                found[tool].append(seconds)
        cells = [f"{statistics.median(each) * 1e3:.3g}" for each in found.values()]
        if "jax" in tools:
            if not numpy.isclose(totals["adc"], totals["jax"], rtol=1e-9):
                raise AssertionError(f"{name} {shape}: gradients differ: {totals}")
            pairs = [a / b for a, b in zip(found["adc"], found["jax"], strict=True)]
            ratios.append(statistics.median(pairs))
            cells.append(f"{ratios[-1]:.2f}")
        table.add_row(name, " x ".join(map(str, shape)), *cells)
    for process in tools.values():
        process.close()
    console.print(table)
    if ratios:
        mean = statistics.geometric_mean(ratios)
        console.print(f"geometric mean of adc / JAX {mean:.2f}, most {max(ratios):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in ("adc", "jax", "scipy"):
        _serve(sys.argv[1])
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
