"""Linear algebra: gradients of functions of `np.linalg`, beside JAX and NumPy's forward calls.

`python -m tests.bench --only linalg` (or `python -m tests.bench.linalg`) prints a table of medians:
value and gradient of a sum over the results, for matrices of several sizes, and for stacks of 1,000
small ones. JAX is asked where it is installed (`--peer-python`), compiled and in double precision,
with arrays of its own. Both are asked in turns, in processes of their own on one core.

`python -m tests.bench.linalg TOOL` is the process of one tool.
"""

import json
import math
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

ROOT = Path(__file__).parents[2]
SIZES = (10, 100, 300, 1000)
STACK = (1000, 4)
SECONDS = 0.2
MOST = 20  # calls that are timed at once


def solve(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.solve(a, b) ** 2)


def inv(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.inv(a) ** 2)


def cholesky(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.cholesky(a) ** 3)


def eigh(a: Any, b: Any) -> Any:
    values, vectors = np.linalg.eigh(a)
    return np.sum(values**2) + np.sum(vectors**3)


def qr(a: Any, b: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(q**3) + np.sum(r**2)


def svd(a: Any, b: Any) -> Any:
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(u**3) + np.sum(s**2) + np.sum(vt**3)


def slogdet(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.slogdet(a)[1])


def lstsq(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.lstsq(a, b)[0] ** 2)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (solve, inv, cholesky, eigh, qr, svd, slogdet, lstsq)
}
STACKED = ("solve", "inv", "cholesky", "eigh", "slogdet")


def arguments(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return a well-conditioned matrix, or a stack of them, and a right-hand side."""
    drawn = numpy.random.default_rng(0)
    n = shape[-1]
    a = drawn.standard_normal((*shape[:-1], n, n)) / math.sqrt(n)
    if name in ("cholesky", "eigh"):
        a = a @ numpy.swapaxes(a, -1, -2) + numpy.eye(n)
    else:
        a = a + 2.0 * numpy.eye(n)
    if name == "lstsq":
        a = numpy.concatenate((a, drawn.standard_normal((n // 2, n)) / math.sqrt(n)))
        return a, drawn.standard_normal(n + n // 2)
    columns = 1 if len(shape) > 1 else 4
    return a, drawn.standard_normal((*shape[:-1], n, columns))


def programs(sizes: tuple[int, ...] = SIZES) -> list[tuple[str, tuple[int, ...]]]:
    found = [(name, (n,)) for name in FUNCTIONS for n in sizes]
    return found + [(name, STACK) for name in STACKED]


# -- processes of tools ----------------------------------------------------------------------------


def _adc(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    import adc

    found = adc.value_and_grad(fn, (0, 1) if fn.__name__ in ("solve", "lstsq") else 0)
    return lambda: found(*args)


def _jax(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    globals()["np"] = jax.numpy  # the functions are traced in here, others say `numpy`
    made = jax.jit(jax.value_and_grad(fn, (0, 1) if fn.__name__ in ("solve", "lstsq") else 0))
    given = jax.device_put(args)
    return lambda: jax.block_until_ready(made(*given))


def _numpy(fn: Any, args: tuple[Any, Any]) -> Callable[[], Any]:
    return lambda: fn(*args)


def _serve(tool: str) -> None:
    """Answer lines with a program by the median seconds of a call, and what it returns."""
    make = {"adc": _adc, "jax": _jax, "numpy": _numpy}[tool]
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for line in sys.stdin:
        name, shape = json.loads(line)
        if line not in calls:
            call = make(FUNCTIONS[name], arguments(name, tuple(shape)))
            call()
            start = time.perf_counter()
            call()
            calls[line] = call, max(1, min(MOST, int(0.01 / (time.perf_counter() - start))))
        call, count = calls[line]
        taken: list[float] = []
        end = time.perf_counter() + SECONDS
        while not taken or time.perf_counter() < end:
            start = time.perf_counter()
            for _ in range(count):
                found = call()
            taken.append((time.perf_counter() - start) / count)
        gradient = [] if tool == "numpy" else _summary(found[1])
        print(json.dumps([statistics.median(taken), gradient]), flush=True)


def _summary(gradient: Any) -> list[float]:
    parts = gradient if isinstance(gradient, tuple | list) else [gradient]
    return [float(abs(part).sum()) for part in parts]


class _Tool:
    def __init__(self, python: str, name: str) -> None:
        threads = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        flags = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_PLATFORMS": "cpu"}
        self.process = subprocess.Popen(
            [python, "-m", "tests.bench.linalg", name], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **flags, **dict.fromkeys(threads, "1"), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        cores = getattr(os, "sched_setaffinity", None)
        if cores is not None:
            cores(self.process.pid, {max(os.sched_getaffinity(0))})

    def ask(self, program: Any) -> tuple[float, list[float]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        seconds, gradient = json.loads(self.process.stdout.readline())
        return seconds, gradient

    def close(self) -> None:
        self.process.communicate("")


def _has_jax(python: str) -> bool:
    asked = subprocess.run([python, "-c", "import jax"], capture_output=True, check=False)
    return asked.returncode == 0


def main(
    console: Console, rounds: int = 3, peer: str = sys.executable, sizes: tuple[int, ...] = SIZES
) -> None:
    """Print the table."""
    tools = {"numpy": _Tool(sys.executable, "numpy"), "adc": _Tool(sys.executable, "adc")}
    if _has_jax(peer):
        tools["jax"] = _Tool(peer, "jax")
    table = Table(title="Value and gradient, in milliseconds; NumPy: the value alone")
    for column in ("function", "shape", "NumPy", "adc", "JAX", "adc / NumPy", "adc / JAX"):
        table.add_column(column, justify="left" if column == "function" else "right")
    ratios: dict[str, list[float]] = {"matrices": [], "stacks": []}
    for name, shape in programs(sizes):
        found: dict[str, list[float]] = {tool: [] for tool in tools}
        gradients = {}
        for _ in range(rounds):
            for tool, process in tools.items():
                seconds, gradients[tool] = process.ask((name, shape))
                found[tool].append(seconds)
        times = {tool: statistics.median(each) for tool, each in found.items()}
        row = [f"{times['numpy'] * 1e3:.3g}", f"{times['adc'] * 1e3:.3g}"]
        more = ["", f"{times['adc'] / times['numpy']:.2f}", ""]
        if "jax" in times:
            if not numpy.allclose(gradients["adc"], gradients["jax"], rtol=1e-6):
                raise AssertionError(f"{name} {shape}: gradients differ: {gradients}")
            pairs = [a / b for a, b in zip(found["adc"], found["jax"], strict=True)]
            ratio = statistics.median(pairs)
            ratios["stacks" if len(shape) > 1 else "matrices"].append(ratio)
            more = [f"{times['jax'] * 1e3:.3g}", more[1], f"{ratio:.2f}"]
        full = " x ".join(map(str, (*shape, shape[-1])))
        table.add_row(name, full, *row, *more)
    for process in tools.values():
        process.close()
    console.print(table)
    for kind, each in ratios.items():
        if each:
            mean = statistics.geometric_mean(each)
            console.print(f"{kind}: geometric mean of adc / JAX {mean:.2f}, most {max(each):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in ("adc", "jax", "numpy"):
        _serve(sys.argv[1])
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
