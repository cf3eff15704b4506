"""Time value and gradient of the kernels: `python -m tests.bench [--only NAME] [--json FILE]`.

`--only compile` times the first gradient of long programs instead, `--only latency` calls that
compute next to nothing, `--only layers` a model of many layers, `--only linalg` functions of
`np.linalg`.

Every tool runs in a process of its own, all on the same cores, in turns: what else the machine does
hits all of them alike. Gradients are compared before anything is timed: with the one written by
hand, or else with that of another tool. Peers that are not installed are skipped;
`--peer-python /other/bin/python` names an interpreter that has them.
"""

import argparse
import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench import compile, latency, layers, report
from tests.bench.kernels import KERNELS
from tests.bench.libraries import linalg
from tests.bench.report import Result

ROOT = Path(__file__).parents[2]
PEERS = (
    "enzyme", "jax loops", "jax arrays", "jax library", "torch arrays", "torch library", "autograd",
)  # fmt: skip
TOOLS = ["primal", "numpy", "adc forward", "as written", "hand", "adc", *PEERS]
REFERENCES = (
    "hand",
    "as written",
    "autograd",
    "torch arrays",
    "jax arrays",
    "adc",
)  # the first that there is
COMPARED = ("as written", "hand", "primal", "numpy", "jax arrays", "torch arrays")
# Threads that have had work wait for more for so long, on a core that the next tool needs.
SPIN_SECONDS = 0.3
ROUND_SECONDS = 0.05
TOOL_SECONDS = 10.0  # one that is slower gets fewer rounds
TOLERANCE = 1e-9


class Worker:
    """A process of `tests.bench.worker`; see there."""

    def __init__(
        self, python: str, tool: str, kernel: str, options: argparse.Namespace, folder: Path
    ) -> None:
        self.gradient = folder / f"{kernel} {tool}.npz"
        caches = str(folder / "cache")
        threads = ("OMP", "OPENBLAS", "MKL", "NUMBA")
        many = str(options.threads > 1).lower()
        environment = {
            **os.environ,
            **{f"{name}_NUM_THREADS": str(options.threads) for name in threads},
            "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={many}",
            # Caches start empty and are the same for the second process.
            "NUMBA_CACHE_DIR": caches,
            "XDG_CACHE_HOME": caches,
            "ADC_CACHE_DIR": caches + "/adc",
            "JAX_COMPILATION_CACHE_DIR": caches,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PLATFORMS": "cpu",
        }
        # Bytecode is found where it is: that is how packages are installed.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cores = ",".join(map(str, options.cores))
        what = [tool, kernel, options.size, cores, str(self.gradient)]
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

    def ask(self, what: str, seconds: float = 0.0) -> Any:
        """Have the tool called for a while; return what each call took, or its memory."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what} {seconds}\n")
        self.process.stdin.flush()
        reply = self.read()
        if isinstance(reply, dict):
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
                again = worker
                if "missing" not in worker.hello:
                    again = Worker(python, tool, kernel, options, folder)
                    again.close()
                if "missing" in again.hello:
                    results[tool].note = again.hello["missing"].splitlines()[0]
                    worker.close()
                    continue
                workers[tool] = worker
                results[tool].versions = worker.hello["versions"]
                results[tool].first_call = worker.hello["first_call"]
                results[tool].first_memory = worker.hello["first_memory"]
                results[tool].warm_start = again.start_time
                results[tool].first_cpu = worker.hello["cpu"]
                results[tool].warm_cpu = again.hello["cpu"]
            compare(workers, results)
            timed = [(tool, "call") for tool in workers]
            for tool, worker in workers.items():
                results[tool].memory = worker.ask("memory")
                if worker.hello["alone"]:
                    worker.ask("gradient")  # compiles
                    timed.append((tool, "gradient"))
            calls: dict[tuple[str, str], list[float]] = {key: [] for key in timed}
            for _ in range(options.rounds):
                for tool, what in timed:
                    spent = calls[tool, what]
                    if sum(spent) < TOOL_SECONDS:
                        if options.threads > 1:
                            time.sleep(SPIN_SECONDS)
                        spent += workers[tool].ask(what, ROUND_SECONDS)
            for (tool, what), spent in calls.items():
                if what == "gradient":
                    results[tool].gradient = statistics.median(spent)
                else:
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
    sizes = " x ".join(map(str, kernel.size(size)))
    table = Table(title=f"{kernel.name} {sizes}", title_justify="left")
    table.add_column("tool", no_wrap=True)
    medians = {result.tool: result.median for result in results if result.median is not None}
    compared = [tool for tool in COMPARED if tool in medians]
    titles = [f"x {tool}" for tool in compared]
    ends = ["first s", "warm s", "first MB", "MB", "off by"]
    for title in ["median ms", "best ms", "gradient ms", *titles, *ends]:
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
            "" if result.gradient is None else f"{1e3 * result.gradient:.2f}",
            *(f"{result.median / medians[tool]:.2f}" for tool in compared),
            f"{result.first_call:.2f}",
            f"{result.warm_start:.2f}",
            *(
                "" if size is None else f"{size / 1e6:.0f}"
                for size in (result.first_memory, result.memory)
            ),
            "" if result.difference is None else f"{result.difference:.0e}",
        )
    console.print(table)
    for line in skipped:
        console.print(line, highlight=False, markup=False)


def machine(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the results depend on besides the tools."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": models[0] if models else platform.processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": options.cores,
        "threads": options.threads,
        "load": os.getloadavg()[0],
    }


def tools_of(kernel: str, skipped: list[str]) -> list[str]:
    """Return the tools that have a kernel, in order; adc's own forward code goes with adc."""
    names = set(KERNELS[kernel].tools)
    names |= {"adc forward"} if "adc" in names else set()
    return [tool for tool in TOOLS if tool in names and tool not in skipped]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=[*KERNELS, "compile", "latency", "layers", "linalg"],
        help="this kernel",
    )
    parser.add_argument("--skip", action="append", choices=TOOLS, default=[], help="not this tool")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--chart", type=Path, help="draw the ratios, in the format of the name")
    parser.add_argument("--markdown", action="store_true", help="print tables for a README")
    parser.add_argument("--size", choices=["S", "M"], default="M", help="of the kernels' arguments")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--lines", type=int, nargs="+", default=compile.LENGTHS, help="of the programs of `compile`"
    )
    cores = sorted(os.sched_getaffinity(0))
    parser.add_argument(
        "--threads", type=int, choices=range(1, len(cores) + 1), default=1, metavar="N",
        help="of every tool, which has as many cores",
    )  # fmt: skip
    parser.add_argument("--core", type=int, default=cores[-1], help="the last one that is used")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the interpreter that has the peers"
    )
    options = parser.parse_args()
    before = [core for core in cores if core <= options.core]
    options.cores = before[-options.threads :]
    if len(options.cores) < options.threads:
        parser.error(f"there are no {options.threads} cores up to {options.core}")
    if options.chart:
        try:
            report.check_chart()
        except ImportError:
            parser.error("charts need matplotlib: pip install 'adc-autodiff[plot]'")
    for folder in ("adc", "ir", "passes", "tests/bench"):
        compileall.compile_dir(ROOT / folder, quiet=1)  # as for a package that is installed
    console = Console() if sys.stdout.isatty() else Console(width=140)
    where = machine(options)
    results: list[Result] = []
    for kernel in options.only or KERNELS:
        if kernel == "compile":
            compile.main(console, min(options.rounds, 3), options.lines)
            continue
        if kernel == "layers":
            layers.main(console, options.peer_python)
            continue
        if kernel == "linalg":
            linalg.main(console, min(options.rounds, 3), options.peer_python)
            continue
        if kernel == "latency":
            latency.main(console, min(options.rounds, 5), options.peer_python)
            continue
        found = measure(kernel, tools_of(kernel, options.skip), options)
        show(found, options.size, console)
        results += found
        if options.json:  # what there is, in case the next kernel takes too long
            made = {"machine": where, "results": [asdict(result) for result in results]}
            options.json.write_text(json.dumps(made, indent=1))
    if not results:
        return
    against, forward = report.summary(results)
    console.print(report.rich_table(against, "adc's time divided by that of others"))
    console.print(report.rich_table(forward, "the gradient's time divided by that of the forward"))
    for line in sorted({result.versions for result in results if result.versions}):
        console.print(line, highlight=False, markup=False)
    console.print(", ".join(f"{name} {value}" for name, value in where.items()), highlight=False)
    if options.markdown:
        print(report.markdown(results))
    if options.chart:
        report.chart(results, options.chart)


if __name__ == "__main__":
    main()
