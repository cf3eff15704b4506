"""Halo exchange by ranks of MPI: the heat equation and shallow water in two dimensions.

`python -m tests.bench.halo` starts the programs with 1 and 2 ranks (``mpirun`` must be there), on a
domain of the same size, and prints the seconds of a gradient, how many times faster it is with 2
ranks, the overhead of messages in forward and in reverse code, and how far the gradient is from
that of one rank. The overhead is the share of messages in the time of their pass: the forward pass
is the function alone, the reverse pass what the gradient takes longer. *Messages* is how much
longer they take in reverse. What a message takes is what it takes the rank that comes last, for
which the others wait; the share of waiting stands apart. Machine code exchanges messages
(`library.mpi.native`), and it reads the clock here before and after; with ``--python`` all goes
through Python, whose time is that of the function that is called, without the way there from
compiled code. With ``--cold`` each exchange begins with caches that have been swept, forward and in
reverse; ``--rows=64`` and ``--columns=256`` make another domain, of other messages.

*Apart* is the gradient of ranks that compute their halves at the same time, without messages: cores
share memory and heat, so that two take longer than one. The efficiency is that time divided by what
ranks with messages take.
"""

import ctypes
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
from numba import cfunc, types
from numba.extending import intrinsic
from rich.console import Console
from rich.table import Table

import adc
from adc.library.mpi import native

RANKS = (1, 2)
ROWS, COLUMNS, STEPS, REPEATS = 512, 512, 20, 25
MOST = 100 * STEPS * REPEATS  # exchanges that are timed
COLD = 2 << 20  # bytes that are written before each, with `--cold`
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


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    """Return an address as that of integers."""

    def write(context: Any, builder: Any, made: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(made.return_type))

    made: Any = types.CPointer  # (Numba has no types)
    return made(types.int64)(types.int64), write


pointer: Any = _pointer


class Timed(native.Native):
    """An exchange that notes when it begins and ends: of each way how many, and two times each."""

    def __init__(self, fn: Any) -> None:
        super().__init__(fn)
        self.notes = np.zeros((2, 1 + 4 * MOST), np.int64)
        self.swept = np.zeros(COLD // 8 if "--cold" in sys.argv else 0, np.int64)
        self.code = None if "--python" in sys.argv else native.machine_code()
        if self.code is not None:
            self.timed = [self._around(self.code.address, log) for log in self.notes]

    def _around(self, code: int, log: Any) -> Any:
        word = ctypes.c_int64
        kind = ctypes.CFUNCTYPE(word, word, word)
        exchange, clock = kind(code), kind(_address(ctypes.CDLL(None).clock_gettime))
        first, monotonic = log.ctypes.data, time.CLOCK_MONOTONIC
        swept, count = self.swept.ctypes.data, len(self.swept)

        def timed(told: Any, words: Any) -> Any:
            log, sweep = pointer(first), pointer(swept)
            for k in range(0, count, 8):  # one of each cache line
                sweep[k] += 1
            at = first + 8 + 32 * log[0]
            clock(monotonic, at)
            done = exchange(told, words)
            clock(monotonic, at + 16)
            log[0] += 1
            return done

        return cfunc(types.int64(types.int64, types.int64))(timed)

    def __adc_native__(self, call: Any) -> Any:
        if self.code is None:
            return None
        told = self.code.told(call)
        told[0] = self.timed[call.args[1].value].address
        return told

    def __call__(self, number: int, way: int, *args: Any) -> Any:
        """Exchange by Python; what machine code has begun ends here."""
        log = self.notes[way]
        at = 1 + 4 * log[0]
        if self.code is None:
            log[at : at + 2] = divmod(time.monotonic_ns(), 10**9)
            log[0] += 1
        else:
            at -= 4
        found = self.fn(number, way, *args)
        log[at + 2 : at + 4] = divmod(time.monotonic_ns(), 10**9)
        return found

    def clear(self) -> None:
        self.notes[:, 0] = 0

    def seconds(self, way: int) -> Any:
        """Return the seconds of each exchange."""
        log = self.notes[way]
        times = log[1 : 1 + 4 * log[0]].reshape(-1, 2, 2) @ np.array([1.0, 1e-9])
        return times[:, 1] - times[:, 0]


def _given(option: str, usual: int) -> int:
    """Return the number that an option of the command line gives."""
    start = f"--{option}="
    return next((int(each[len(start) :]) for each in sys.argv if each.startswith(start)), usual)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def measure(folder: Path) -> None:
    """Measure on the ranks of this program."""
    from mpi4py import MPI

    from adc.library.mpi import operations, ranks

    comm = MPI.COMM_WORLD
    timed = Timed(ranks.exchange)
    operations.plain_exchange.fn = timed
    whole = np.random.default_rng(0).random((_given("rows", ROWS), _given("columns", COLUMNS)))
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
        value = adc.jit(loss)
        own(mine)
        value(mine)
        _, slope = both(mine)
        apart, primal = seconds_of(own), seconds_of(value)
        timed.clear()
        seconds = seconds_of(both)
        slopes = comm.gather(slope)
        gathered = comm.gather(tuple(timed.seconds(way) for way in (ranks.FORWARD, ranks.BACK)))
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
                "passes": [primal, seconds - primal],
                "forward": forward,
                "back": back,
                "waiting": both_ways - forward - back,
                "messages": [way.shape[-1] for way in spent],
            }
            print(json.dumps(found), flush=True)


def main(*options: str) -> None:
    mpirun = shutil.which("mpirun", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert mpirun is not None, "there is no mpirun"
    table = Table(
        "program", "ranks", "gradient", "speed-up", "apart", "efficiency", "forward overhead",
        "in reverse", "messages", "waiting", "largest difference",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first: dict[str, float] = {}
        for ranks in RANKS:
            done = subprocess.run(
                [mpirun, "-n", str(ranks), sys.executable, "-m", "tests.bench.halo", name,
                 *options],
                env={**os.environ, **SETTINGS}, check=True, capture_output=True, text=True,
            )  # fmt: skip
            for line in done.stdout.splitlines():
                found = json.loads(line)
                seconds = found["seconds"]
                first.setdefault(found["name"], seconds)
                one, mine = (
                    np.load(folder / f"{found['name']}-{count}.npy") for count in (RANKS[0], ranks)
                )
                table.add_row(
                    found["name"], str(ranks), f"{1e3 * seconds:.1f} ms",
                    f"{first[found['name']] / seconds:.2f}",
                    f"{1e3 * found['apart']:.1f} ms", f"{found['apart'] / seconds:.2f}",
                    *(
                        f"{100 * found[way] / own:.1f} % ({1e6 * found[way] / count:.2f} us)"
                        for way, own, count in zip(
                            ("forward", "back"), found["passes"], found["messages"], strict=True
                        )
                    ),
                    f"{found['back'] / found['forward']:.2f}",
                    f"{100 * found['waiting'] / seconds:.1f} %",
                    f"{np.abs(one - mine).max() / np.abs(one).max():.1e}",
                )  # fmt: skip
    Console(width=140).print(table)


if __name__ == "__main__":
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        measure(Path(sys.argv[1]))
    else:
        main(*sys.argv[1:])
