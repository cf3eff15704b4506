"""Sums over shards: steps per second on more workers than there are here.

`python -m tests.bench.scale` measures the parts of a step of `adc.distributed` on this machine: the
gradient of one shard, what a task costs without it, and the bytes that a step moves. A model of a
step predicts from these how many steps a second 1 to 1,024 workers do. What it predicts for 1, 2
and 4 processes here is compared with runs.

`python -m tests.bench.scale resident` runs 10^7 observations in 100 shards of files within
``memory="64 MB"``, and prints how much memory the processes take.

A step with W workers and S shards takes

    send + ceil(S / W) * (task + compute) + add * ceil(log2(S)) + gather,

or, if that is longer, S times what the one process takes that hands tasks out: ``S * dispatch``.
"""

import math
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from adc import distributed


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.sum(np.log1p(np.exp(-y * (x @ p))))


def nothing(p: Any, x: Any) -> Any:
    return p[0] * x[0]


@dataclass(frozen=True)
class Machine:
    """What a step is made of, in seconds, and bytes a second.

    Attributes
    ----------
    row : float
        Reading one observation, and its gradient, by one worker.
    task : float
        A task on a worker, without its gradient.
    dispatch : float
        A task for the process that hands tasks out.
    bandwidth : float
        From that process to a worker.
    latency : float
        Of a message.
    """

    row: float
    task: float
    dispatch: float
    bandwidth: float = 1.25e9  # 10 Gbit/s
    latency: float = 1e-4

    def step(self, workers: int, shards: int, rows: float, parameters: int) -> float:
        """Return the seconds of a step: of so many observations and parameters (of 8 bytes)."""
        moved = 8.0 * parameters / self.bandwidth
        rounds = math.ceil(shards / workers)
        levels = math.ceil(math.log2(max(shards, 2)))
        own = rounds * (self.task + rows / shards * self.row) + 2 * (self.latency + moved)
        add = levels * (self.latency + moved + parameters * 1e-9)
        return max(own + add, shards * self.dispatch)


def _median(call: Callable[[], Any], count: int = 7) -> float:
    call()
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _data(rows: int, shards: int) -> tuple[Any, list[Any], list[Any]]:
    drawn = np.random.default_rng(0)
    x = drawn.standard_normal((rows, 20))
    y = np.sign(x[:, 0] + drawn.standard_normal(rows))
    return np.zeros(20), np.array_split(x, shards), np.array_split(y, shards)


def measured(console: Console) -> Machine:
    """Measure this machine, and compare what follows with runs."""
    import adc

    rows, shards = 400_000, 16
    p, xs, ys = _data(rows, shards)
    one = adc.value_and_grad(_of_file)
    with tempfile.TemporaryDirectory() as folder:
        names = [_saved(Path(folder), k, x, y) for k, (x, y) in enumerate(zip(xs, ys, strict=True))]
        row = _median(lambda: one(p, _loaded(names[0]))) / len(xs[0])
        pools = {n: ProcessPoolExecutor(n, get_context("spawn")) for n in (1, 2, 4)}
        empty = distributed.value_and_grad(nothing, client=pools[1])
        task = _median(lambda: empty(p, [np.zeros(1)] * 64)) / 64
        machine = Machine(row, task, task / 2, bandwidth=2e9, latency=2e-5)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        table = Table(title=f"Steps per second here, on {cores} cores")
        for column in ("processes", "predicted", "measured", "ratio"):
            table.add_column(column, justify="right")
        for count, pool in pools.items():
            both = distributed.value_and_grad(_of_file, client=pool, loader=_loaded)
            seconds = _median(lambda both=both: both(p, names))  # type: ignore[misc]
            guess = machine.step(min(count, cores or 1), shards, rows, p.size)
            table.add_row(
                str(count), f"{1 / guess:.1f}", f"{1 / seconds:.1f}", f"{guess / seconds:.2f}"
            )
        for pool in pools.values():
            pool.shutdown()
    console.print(table)
    return machine


def _of_file(p: Any, data: Any) -> Any:
    return loss(p, data[:, :-1], data[:, -1])


def _saved(folder: Path, k: int, x: Any, y: Any) -> str:
    path = folder / f"{k}.npy"
    np.save(path, np.column_stack([x, y]))
    return str(path)


def _loaded(name: str) -> Any:
    return np.load(name)


def predicted(console: Console, machine: Machine) -> None:
    """Print the steps per second of clusters."""
    machine = Machine(machine.row, machine.task, machine.dispatch)
    table = Table(title="Predicted steps per second, 10 Gbit/s, shards of 10^6 observations")
    table.add_column("workers", justify="right")
    cases = [(1e9, 1_000), (1e12, 1_000), (1e12, 10**8)]
    for rows, parameters in cases:
        table.add_column(f"{rows:.0e} rows, {parameters:.0e} parameters", justify="right")
    for workers in (1, 4, 16, 64, 256, 1024):
        cells = []
        for rows, parameters in cases:
            shards = max(workers, int(rows / 1e6))
            cells.append(f"{1 / machine.step(workers, shards, rows, parameters):.3g}")
        table.add_row(str(workers), *cells)
    console.print(table)


def resident(console: Console, shards: int = 100, rows: int = 100_000) -> None:
    """Print the memory of processes that compute a gradient of shards of files."""
    value, seconds, before, after = of_files(shards, rows)
    console.print(f"{shards * rows:.0e} observations in {shards} shards: {seconds:.1f} s")
    console.print(f"loss {value:.6f}; expected {shards * rows * np.log(2.0):.6f}")
    console.print(
        f"resident memory of a worker: {after / 1e6:.0f} MB at most, {before / 1e6:.0f} MB "
        f"after two shards of {rows * 11 * 8 / 1e6:.0f} MB"
    )


def of_files(shards: int, rows: int) -> tuple[float, float, int, int]:
    """Compute a gradient of shards of files on two processes, with a budget of 64 MB for each.

    Return the loss, the seconds it takes, and the most bytes that a process has had, after two
    shards and after all.
    """
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        drawn = np.random.default_rng(0)
        names = []
        for k in range(shards):
            x = drawn.standard_normal((rows, 10))
            names.append(_saved(Path(folder), k, x, np.sign(x[:, 0])))
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            both = distributed.value_and_grad(
                _of_file, client=pool, loader=_loaded, memory="64 MB", has_aux=False
            )
            p = np.zeros(10)
            both(p, names[:2])
            before = max(pool.map(_most, range(8)))
            start = time.perf_counter()
            value, _ = both(p, names)
            seconds = time.perf_counter() - start
            after = max(pool.map(_most, range(8)))
    return float(value), seconds, before, after


def _most(_: int) -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    screen = Console(width=100)
    if sys.argv[1:] == ["resident"]:
        resident(screen)
    else:
        predicted(screen, measured(screen))
