"""Halo exchange by ranks of MPI: the heat equation and shallow water in two dimensions.

`python -m tests.bench.halo` starts the programs with 1 and 2 ranks (``mpirun`` must be there), on a
domain of the same size, and prints the seconds of a gradient, how many times faster it is with 2
ranks, the share of messages in forward and in reverse code, and how far the gradient is from that
of one rank. What a message takes is what it takes the rank that comes last, for which the others
wait; the share of waiting stands apart.

*Apart* is the gradient of ranks that compute their halves at the same time, without messages: cores
share memory and heat, so that two take longer than one. The efficiency is that time divided by what
ranks with messages take.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import adc

RANKS = (1, 2)
ROWS, COLUMNS, STEPS, REPEATS = 512, 512, 20, 25
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}  # fmt: skip


def programs(comm: Any, nobody: int) -> dict[str, Any]:
    """Return the losses of the rows of this rank."""
    rank, size = comm.rank, comm.size
    up = rank + 1 if rank + 1 < size else nobody
    down = rank - 1 if rank > 0 else nobody

    def exchange(field: Any) -> None:
        comm.Sendrecv(field[1], dest=down, recvbuf=field[-1], source=up)
        comm.Sendrecv(field[-2], dest=up, recvbuf=field[0], source=down)

    def heat(start: Any) -> Any:
        u = np.zeros((start.shape[0] + 2, start.shape[1]))
        u[1:-1] = start
        for _ in range(STEPS):
            exchange(u)
            w = u.copy()
            u[1:-1, 1:-1] = w[1:-1, 1:-1] + 0.1 * (1.0 + w[1:-1, 1:-1] ** 2) * (
                w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4.0 * w[1:-1, 1:-1]
            )
        return comm.allreduce(np.sum(u[1:-1] ** 2))

    def water(start: Any) -> Any:
        h = np.zeros((start.shape[0] + 2, start.shape[1]))
        u, v = np.zeros_like(h), np.zeros_like(h)
        h[1:-1] = 1.0 + 0.1 * start
        for _ in range(STEPS):
            exchange(h)
            u[1:-1, 1:] = u[1:-1, 1:] - 0.01 * (h[1:-1, 1:] - h[1:-1, :-1]) * (1.0 + u[1:-1, 1:])
            v[1:-1] = v[1:-1] - 0.01 * (h[1:-1] - h[:-2]) * (1.0 + v[1:-1])
            exchange(v)
            h[1:-1, :-1] = h[1:-1, :-1] - 0.01 * h[1:-1, :-1] * (
                u[1:-1, 1:] - u[1:-1, :-1] + v[2:, :-1] - v[1:-1, :-1]
            )
        return comm.allreduce(np.sum(h[1:-1] ** 2))

    return {"heat": heat, "shallow water": water}


def measure(folder: Path) -> None:
    """Measure on the ranks of this program."""
    from mpi4py import MPI

    from adc.library.mpi import operations, ranks

    comm = MPI.COMM_WORLD
    # The seconds of each exchange.
    inside: dict[int, list[float]] = {ranks.FORWARD: [], ranks.BACK: []}
    sent = operations.plain_exchange.fn

    def timed(number: int, way: int, *args: Any) -> Any:
        began = time.perf_counter()
        found = sent(number, way, *args)
        inside[way].append(time.perf_counter() - began)
        return found

    operations.plain_exchange.fn = timed
    whole = np.random.default_rng(0).random((ROWS, COLUMNS))
    mine = np.array_split(whole, comm.size)[comm.rank]
    alone = programs(MPI.COMM_SELF, MPI.PROC_NULL)

    def seconds_of(function: Any) -> float:
        found = []
        for _ in range(REPEATS):
            comm.Barrier()
            began = time.perf_counter()
            function(mine)
            comm.Barrier()
            found.append(time.perf_counter() - began)
        return statistics.median(found)

    for name, loss in programs(comm, MPI.PROC_NULL).items():
        both, own = adc.value_and_grad(loss), adc.value_and_grad(alone[name])
        own(mine)
        _, slope = both(mine)
        apart = seconds_of(own)
        for each in inside.values():
            each.clear()
        seconds = seconds_of(both)
        slopes = comm.gather(slope)
        gathered = comm.gather(tuple(inside.values()))
        if slopes is not None and gathered is not None:
            np.save(folder / f"{name}-{comm.size}.npy", np.concatenate(slopes))
            # By way, rank, call and exchange.
            ways = ([each[k] for each in gathered] for k in range(2))
            spent = [np.array(way).reshape(comm.size, REPEATS, -1) for way in ways]
            forward, back = (np.median(each.min(axis=0).sum(axis=-1)) for each in spent)
            both_ways = sum(np.median(each.mean(axis=0).sum(axis=-1)) for each in spent)
            found = {
                "name": name,
                "seconds": seconds,
                "apart": apart,
                "forward": forward,
                "back": back,
                "waiting": both_ways - forward - back,
            }
            print(json.dumps(found), flush=True)


def main() -> None:
    mpirun = shutil.which("mpirun", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert mpirun is not None, "there is no mpirun"
    table = Table("program", "ranks", "gradient", "speed-up", "apart", "efficiency",
                  "messages forward", "in reverse", "waiting", "largest difference")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first: dict[str, float] = {}
        for ranks in RANKS:
            done = subprocess.run(
                [mpirun, "-n", str(ranks), sys.executable, "-m", "tests.bench.halo", name],
                env={**os.environ, **SETTINGS}, check=True, capture_output=True, text=True,
            )  # fmt: skip
            for line in done.stdout.splitlines():
                found = json.loads(line)
                seconds = found["seconds"]
                first.setdefault(found["name"], seconds)
                one, own = (
                    np.load(folder / f"{found['name']}-{count}.npy") for count in (RANKS[0], ranks)
                )
                table.add_row(
                    found["name"], str(ranks), f"{1e3 * seconds:.1f} ms",
                    f"{first[found['name']] / seconds:.2f}",
                    f"{1e3 * found['apart']:.1f} ms", f"{found['apart'] / seconds:.2f}",
                    f"{100 * found['forward'] / seconds:.1f} %",
                    f"{100 * found['back'] / seconds:.1f} %",
                    f"{100 * found['waiting'] / seconds:.1f} %",
                    f"{np.abs(one - own).max() / np.abs(one).max():.1e}",
                )  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        main()
