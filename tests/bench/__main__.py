"""Time value and gradient of the kernels: `python -m tests.bench [--only NAME] [--json FILE]`.

`--only compile` times the first gradient of long programs instead.

Every tool runs in a process of its own, all on the same core, in turns: what else the machine does
hits all of them alike. Gradients are compared before anything is timed: with the one written by
hand, or else with that of another tool. Peers that are not installed are skipped;
`--peer-python /other/bin/python` names an interpreter that has them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench import compile
from tests.bench.kernels import KERNELS

ROOT = Path(__file__).parents[2]
PEERS = (
    "jax loops", "jax arrays", "jax library", "torch arrays", "torch library", "autograd",
)  # fmt: skip
TOOLS = ["primal", "numpy", "as written", "hand", "adc", *PEERS]
REFERENCES = (
    "hand",
    "as written",
    "autograd",
    "torch arrays",
    "jax arrays",
    "adc",
)  # the first that there is
COMPARED = ("as written", "hand", "primal", "numpy", "jax arrays", "torch arrays")
ROUND_SECONDS = 0.05
TOOL_SECONDS = 10.0  # one that is slower gets fewer rounds
TOLERANCE = 1e-9


@dataclass
class Result:
    """What is known of a tool on a kernel; times in seconds."""

    kernel: str
    tool: str
    note: str = ""
    versions: str = ""
    median: float | None = None
    best: float | None = None
    calls: int = 0
    first_call: float | None = None
    warm_start: float | None = None
    difference: float | None = None


class Worker:
    """A process of `tests.bench.worker`; see there."""

    def __init__(
        self, python: str, tool: str, kernel: str, options: argparse.Namespace, folder: Path
    ) -> None:
        self.gradient = folder / f"{kernel} {tool}.npz"
        caches = str(folder / "cache")
        environment = {
            **os.environ,
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
            # Caches start empty and are the same for the second process.
            "NUMBA_CACHE_DIR": caches,
            "XDG_CACHE_HOME": caches,
            "ADC_CACHE_DIR": caches + "/adc",
            "JAX_COMPILATION_CACHE_DIR": caches,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PLATFORMS": "cpu",
        }
        what = [tool, kernel, options.size, str(options.core), str(self.gradient)]
        command = [python, "-m", "tests.bench.worker", *what]
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hello: dict[str, Any] = self.read()
        self.start_time = time.perf_counter() - started

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"missing": "the process died"}

    def round(self) -> list[float]:
        """Have the tool called for a while and return what each call took."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{ROUND_SECONDS}\n")
        self.process.stdin.flush()
        reply = self.read()
        if not isinstance(reply, list):
            raise RuntimeError(f"{self.gradient.stem}: {reply['missing']}")
        return reply

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


def measure(kernel: str, tools: list[str], options: argparse.Namespace) -> list[Result]:
    """Compare the tools on a kernel, then time them in turns."""
    results = {tool: Result(kernel, tool) for tool in tools}
    workers: dict[str, Worker] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for tool in tools:
                python = options.peer_python if tool in PEERS else sys.executable
                worker = Worker(python, tool, kernel, options, folder)
                if "missing" in worker.hello:
                    results[tool].note = worker.hello["missing"].splitlines()[0]
                    worker.close()
                    continue
                workers[tool] = worker
                results[tool].versions = worker.hello["versions"]
                results[tool].first_call = worker.hello["first_call"]
                again = Worker(python, tool, kernel, options, folder)
                again.close()
                results[tool].warm_start = again.start_time
            compare(workers, results)
            calls: dict[str, list[float]] = {tool: [] for tool in workers}
            for _ in range(options.rounds):
                for tool, worker in workers.items():
                    if sum(calls[tool]) < TOOL_SECONDS:
                        calls[tool] += worker.round()
            for tool, spent in calls.items():
                results[tool].median = statistics.median(spent)
                results[tool].best = min(spent)
                results[tool].calls = len(spent)
        finally:
            for worker in workers.values():
                worker.close()
    return list(results.values())


def compare(workers: dict[str, Worker], results: dict[str, Result]) -> None:
    """Note for each tool how far its gradient is from the reference; raise if it is wrong."""
    reference = next((tool for tool in REFERENCES if tool in workers), None)
    if reference is None:
        return
    right = gradients(workers[reference])
    value = workers[reference].hello["value"]
    for tool, worker in workers.items():
        if not worker.hello["intact"]:
            raise AssertionError(f"{tool} changed the caller's array")
        differences = [abs(worker.hello["value"] - value) / abs(value)]
        if worker.gradient.exists():
            for found, wanted in zip(gradients(worker), right, strict=True):
                assert found.shape == wanted.shape
                differences.append(float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))))
        if not max(differences) < TOLERANCE:
            raise AssertionError(f"{worker.gradient.stem}: off by {max(differences):.1e}")
        results[tool].difference = max(differences)


def gradients(worker: Worker) -> list[np.ndarray[Any, Any]]:
    """Return what a process has left in its file."""
    with np.load(worker.gradient) as stored:
        return list(stored.values())


def show(results: list[Result], size: str, console: Console) -> None:
    """Print a table of the results of one kernel, and below it what was skipped."""
    kernel = KERNELS[results[0].kernel]
    size = " x ".join(map(str, kernel.size(size)))
    table = Table(title=f"{kernel.name} {size}", title_justify="left")
    table.add_column("tool", no_wrap=True)
    medians = {result.tool: result.median for result in results if result.median is not None}
    compared = [tool for tool in COMPARED if tool in medians]
    titles = [f"x {tool}" for tool in compared]
    for title in ["median ms", "best ms", *titles, "first s", "warm s", "off by"]:
        table.add_column(title, justify="right")
    skipped = []
    for result in results:
        if result.median is None or result.best is None:
            skipped.append(f"{result.tool} skipped: {result.note}")
            continue
        table.add_row(
            result.tool,
            f"{1e3 * result.median:.2f}",
            f"{1e3 * result.best:.2f}",
            *(f"{result.median / medians[tool]:.2f}" for tool in compared),
            f"{result.first_call:.2f}",
            f"{result.warm_start:.2f}",
            "" if result.difference is None else f"{result.difference:.0e}",
        )
    console.print(table)
    for line in skipped:
        console.print(line, highlight=False, markup=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=[*KERNELS, "compile"], help="this kernel"
    )
    parser.add_argument("--skip", action="append", choices=TOOLS, default=[], help="not this tool")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--size", choices=["S", "M"], default="M", help="of the kernels' arguments")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the interpreter that has the peers"
    )
    options = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=110)
    results: list[Result] = []
    for kernel in options.only or KERNELS:
        if kernel == "compile":
            compile.main(console, min(options.rounds, 3))
            continue
        tools = [
            tool for tool in TOOLS if tool in KERNELS[kernel].tools and tool not in options.skip
        ]
        found = measure(kernel, tools, options)
        show(found, options.size, console)
        results += found
    for line in sorted({result.versions for result in results if result.versions}):
        console.print(line, highlight=False, markup=False)
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    main()
