"""``adc selftest``: whether adc computes on this machine what it computes where it is tested.

Each check is a number of tasks, which run in processes of their own: one that crashes is reported
like one that is wrong. Nothing of it is installed beside the package.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adc import api
from adc.compiler import cache
from adc.testing import programs, rows

Task = tuple[Callable[..., "Found"], tuple[Any, ...]]
#: Plans whose bits are compared with those of the default one.
_POLICIES = ("store", "recompute", "revolve:2:1:all", "random:1")


@dataclass(frozen=True)
class Found:
    """What a task has found: how much it has checked, could not decide, and what is wrong."""

    count: int
    wrong: tuple[str, ...] = ()
    undecided: int = 0


@dataclass
class Check:
    """A check: its name, its tasks, and what a line about it says after its name."""

    name: str
    about: str
    tasks: list[Task]
    count: int = 0
    undecided: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, found: Found) -> None:
        self.count += found.count
        self.undecided += found.undecided
        self.wrong += found.wrong

    def line(self, seconds: float) -> str:
        """Return the line about the check."""
        about = self.about.format(count=self.count)
        if self.undecided:
            about += f" ({self.undecided} undecided)"
        state = f"FAILED ({len(self.wrong)})" if self.wrong else "ok"
        return f"{self.name:10} {state:11} {about}, {seconds:.0f} s"


# --- tasks ----------------------------------------------------------------------------------------


def values(k: int, dtype: str, seed: int) -> Found:
    """Compare a batch of rows with NumPy and SciPy."""
    batch = list(rows.batches(dtype))[k]
    rng = np.random.default_rng([seed, k])
    wrong = rows.wrong_values(batch, dtype, rng)
    if all(op.ufunc is None for op in batch):
        wrong += rows.wrong_values(batch, dtype, rng, special=True)
    return Found(len(batch), tuple(wrong))


def slopes(k: int, dtype: str, seed: int) -> Found:
    """Compare the derivatives of a batch of rows with those that the interpreter computes."""
    batch = list(rows.batches(dtype, scipy=False))[k]
    wrong = rows.wrong_slopes(batch, dtype, np.random.default_rng([seed, k]))
    return Found(len(batch), tuple(wrong))


def random_programs(seeds: Sequence[int]) -> Found:
    """Compare random programs with CPython, and their derivatives with differences."""
    wrong, undecided = [], 0
    for seed in seeds:
        made = programs.program(seed)
        problem, decided = programs.wrong(made)
        undecided += not decided
        if problem:
            wrong.append(f"program {seed}: {problem}\n{made.source}# arguments: {made.args}")
    return Found(len(seeds), tuple(wrong), undecided)


def _bits(value: Any) -> list[bytes]:
    if isinstance(value, tuple):
        return [bits for part in value for bits in _bits(part)]
    return [np.asarray(value).tobytes()]


def recurrence(x: Any, m: Any, s: float) -> Any:
    y = x.copy()
    for _ in range(12):
        y = np.tanh(m @ y) + s * np.sin(x)
        for i in range(1, len(y)):
            y[i] = y[i] + 0.5 * y[i - 1] * np.exp(-y[i] * y[i])
            if y[i] > 0.6173:
                s = s + 0.01 * y[i]
    return s + np.sum(y * y)


def relaxation(x: Any, m: Any, s: float) -> Any:
    z = np.outer(x, x) + m
    for _ in range(9):
        z[1:-1, 1:-1] += 0.1 * (z[:-2, 1:-1] + z[2:, 1:-1] - 2.0 * z[1:-1, 1:-1])
        z = np.tanh(z) + s * np.cos(m)
    return np.mean(z**2) + np.log1p(np.max(np.abs(z)))


def elements(x: Any, m: Any, s: float) -> Any:
    total = 0.0
    for i in range(len(x)):
        t = np.sin(x[i] * s) + x[i]
        for j in range(m.shape[0]):
            t = np.tanh(t + 0.3 * m[j, 1]) * np.exp(-t * t)
        total += t * x[i]
    return total


def _sample(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(7)
    return rng.uniform(-1.0, 1.0, size), rng.uniform(-0.5, 0.5, (6, 6)), 0.37


_PLANNED: dict[str, tuple[Callable[..., Any], int]] = {
    "recurrence": (recurrence, 6), "relaxation": (relaxation, 6), "elements": (elements, 40),
}  # fmt: skip


def plans(name: str) -> Found:
    """Compare the bits of a gradient under several plans, and within a budget."""
    fn, size = _PLANNED[name]
    args = _sample(size)
    where = (0, 1, 2)
    want = _bits(api.value_and_grad(fn, where, cache=False)(*args))
    wrong = [
        f"{name}: other bits with the plan {policy}"
        for policy in _POLICIES
        if _bits(api.value_and_grad(fn, where, remat=policy, cache=False)(*args)) != want
    ]
    offloaded = api.value_and_grad(fn, where, remat="store", offload="disk", cache=False)
    if _bits(offloaded(*args)) != want:
        wrong.append(f"{name}: other bits with tapes in files")
    return Found(len(_POLICIES) + 1, tuple(wrong))


def shared_loops() -> Found:
    """Compare the bits of a gradient whose loops one thread runs, and several."""
    args = _sample(20_000)
    found = {
        threads: _bits(
            api.value_and_grad(elements, (0, 1, 2), parallel=threads, cache=False)(*args)
        )
        for threads in (1, 2, os.cpu_count() or 1)
    }
    wrong = [f"other bits with {n} threads" for n, bits in found.items() if bits != found[1]]
    return Found(len(found), tuple(wrong))


def calling_threads(count: int = 64) -> Found:
    """Call one gradient in many threads at once; the first call of each compiles."""
    gradient = api.value_and_grad(recurrence, (0, 1, 2), cache=False)
    cases = [(_sample(6)[0] * (1.0 - k / 256.0), *_sample(6)[1:]) for k in range(count)]
    results: list[Any] = [None] * count

    def work(k: int) -> None:
        try:
            results[k] = [_bits(gradient(*cases[k])) for _ in range(5)]
        except BaseException as error:
            results[k] = repr(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = []
    for k, args in enumerate(cases):
        want = _bits(gradient(*args))
        if results[k] != [want] * 5:
            wrong.append(f"thread {k} of {count}: {results[k]} instead of {want}")
    return Found(count, tuple(wrong))


_CACHED = """
import json, numpy as np, adc
from adc.testing.selftest import _sample, recurrence
gradient = adc.grad(recurrence)
value = gradient(*_sample(6)).tobytes().hex()
print(json.dumps([value, gradient.cache_info()["loaded"]]))
"""


def on_disk() -> Found:
    """Compile in one process, load in another, damage the entry, and compile again."""
    import json

    wrong = []
    want = api.grad(recurrence, cache=False)(*_sample(6)).tobytes().hex()
    with tempfile.TemporaryDirectory(prefix="adc-selftest-") as place:
        expected = ("compiled", 0), ("loaded", 1), ("damaged, compiled again", 0)
        for what, loaded in expected:
            ran = subprocess.run(
                [sys.executable, "-c", _CACHED],
                env={**os.environ, "ADC_CACHE_DIR": str(Path(place) / "cache")},
                capture_output=True, text=True,
            )  # fmt: skip
            if ran.returncode:
                wrong.append(f"{what}: {ran.stderr}")
                break
            if json.loads(ran.stdout) != [want, loaded]:
                wrong.append(f"{what}: {ran.stdout} instead of {[want, loaded]}")
            for entry in Path(place).glob("cache/??/*") if loaded else ():
                entry.write_bytes(entry.read_bytes()[:-100])
    return Found(len(expected), tuple(wrong))


# --- all of them ----------------------------------------------------------------------------------


def checks(seed: int, count: int) -> list[Check]:
    """Return the checks, with so many random programs from a seed on."""
    found = []
    for dtype in ("f64", "f32"):
        batches = range(len(list(rows.batches(dtype))))
        about = f"{{count}} operations on {dtype}, vectors of {rows.lanes()}"
        found.append(Check(f"ops {dtype}", about, [(values, (k, dtype, seed)) for k in batches]))
        batches = range(len(list(rows.batches(dtype, scipy=False))))
        about = f"derivatives of {{count}} operations on {dtype}"
        found.append(Check(f"rules {dtype}", about, [(slopes, (k, dtype, seed)) for k in batches]))
    found.append(
        Check("plans", "{count} plans, bit for bit", [(plans, (name,)) for name in _PLANNED])
    )
    tasks: list[Task] = [(shared_loops, ()), (calling_threads, ())]
    found.append(Check("threads", "{count} runs by threads, bit for bit", tasks))
    where = f"entries written, read, damaged; {cache.folder()}: {cache.about()}"
    found.append(Check("cache", where, [(on_disk, ())]))
    seeds = [range(k, min(k + 5, seed + count)) for k in range(seed, seed + count, 5)]
    about = f"{{count}} random programs from seed {seed}"
    found.append(Check("programs", about, [(random_programs, (part,)) for part in seeds]))
    return found


def run(found: Sequence[Check], workers: int | None = None) -> Iterator[Check]:
    """Run checks, and yield each when it is done, in their order."""
    count = workers or min(os.cpu_count() or 1, 8)
    # Processes that are not forked: there are threads, and a crash is to be one of a task alone.
    context = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(count, context)
    try:
        started = [(each, [pool.submit(fn, *args) for fn, args in each.tasks]) for each in found]
        for each, futures in started:
            for (fn, args), future in zip(each.tasks, futures, strict=True):
                try:
                    each.add(future.result())
                except BrokenProcessPool:
                    each.add(_alone(fn, args, context))
                except Exception as error:
                    each.add(_raised(fn, args, error))
            yield each
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(fn: Callable[..., Found], args: tuple[Any, ...], context: Any) -> Found:
    """Run a task in a process of its own, after one has died: was it this one?"""
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        try:
            return pool.submit(fn, *args).result()
        except BrokenProcessPool:
            return Found(0, (f"{fn.__name__}{args}: the process died",))
        except Exception as error:
            return _raised(fn, args, error)


def _raised(fn: Callable[..., Found], args: tuple[Any, ...], error: Exception) -> Found:
    text = str(error.__cause__ or error)  # the traceback of the other process
    return Found(0, (f"{fn.__name__}{args} raised\n{text}",))


def selftest(
    seed: int = 0,
    count: int = 100,
    workers: int | None = None,
    say: Callable[[str], object] = print,
) -> list[str]:
    """Run all checks, with a line for each; return what is wrong.

    Parameters
    ----------
    seed, count : int
        The first random program, and how many.
    workers : int, optional
        How many processes; by default one for each core, at most 8.
    say : callable
        Takes the lines.
    """
    wrong = []
    start = time.monotonic()
    for each in run(checks(seed, count), workers):
        now = time.monotonic()
        say(each.line(now - start))
        start = now
        wrong += [f"{each.name}: {problem}" for problem in each.wrong]
    return wrong


__all__ = ["Check", "Found", "checks", "run", "selftest"]
