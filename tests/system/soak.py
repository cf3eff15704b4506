"""Random calls for hours: what a process holds stays bounded.

    python -m tests.system.soak --minutes 120
    python -m tests.system.soak --minutes 20 --programs 40 --seed 3

Each call takes one of a set of random programs and a way to differentiate it, new ones while the
set is not full, with random arguments: some in threads, some that raise, some in a child. Results
are compared with those of the first call. A line in every minute has what the process holds: it is
to be the same after the set is full. Ctrl-C ends it with the last line; the same seed makes the
same calls. It exits with 1 if a result differed or memory grew.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adc
from adc.testing import programs
from tests.forks import fork, status

_MADE: dict[str, Callable[[Any], Any]] = {
    "gradient": lambda fn: adc.value_and_grad(fn, (0, 1, 2)),
    "plan": lambda fn: adc.value_and_grad(fn, (0, 1, 2), remat="random:1"),
    "budget": lambda fn: adc.value_and_grad(fn, (0, 1, 2), memory="1 MB"),
    "disk": lambda fn: adc.value_and_grad(fn, (0, 1, 2), offload="disk"),
    "threads": lambda fn: adc.value_and_grad(fn, (0, 1, 2), parallel=2),
    "python": lambda fn: adc.value_and_grad(fn, (0, 1, 2), target="python"),
    "jit": adc.jit,
    "jvp": lambda fn: lambda *args: adc.jvp(fn, args, args),
    "vjp": lambda fn: lambda *args: adc.vjp(fn, *args)[1](1.0),
    "hvp": lambda fn: lambda *args: adc.hvp(fn, args, args),
}
# Growth of the memory after the set is full that is no leak: pools, fragments.
_SLACK = 64.0  # MB


def _bits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_bits(part) for part in value)
    return np.asarray(value).tobytes()


def _arguments(number: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(number)
    size = (5, 5, 5, 40)[number % 4]
    return (
        rng.uniform(-1.2, 1.2, size), rng.uniform(-1.0, 1.0, (size, size)) / size,
        float(rng.uniform(-1, 1)),
    )  # fmt: skip


class Soak:
    """The programs of a run, and what their first calls returned."""

    def __init__(self, seed: int, most: int, place: Path) -> None:
        self.rng = random.Random(seed)
        self.seed, self.most, self.place = seed, most, place
        self.made: list[tuple[str, Any]] = []
        self.first: dict[tuple[int, int], Any] = {}
        self.calls = self.wrong = 0

    def full(self) -> bool:
        return len(self.made) >= self.most

    def step(self) -> None:
        """Make one more derivative, or call one that is there."""
        if (not self.full() and self.rng.random() < 0.2) or not self.made:
            fn = programs.load(programs.program(self.seed + len(self.made)).source)
            name = self.rng.choice(list(_MADE))
            self.made.append((name, _MADE[name](fn)))
        which, number = self.rng.randrange(len(self.made)), self.rng.randrange(8)
        how = self.rng.random()
        if how < 0.02:
            self._in_threads(which, number)
        elif how < 0.04:
            self._raises(which)
        elif how < 0.045 and hasattr(os, "fork"):
            self._in_a_child(which, number)
        elif how < 0.05 and not self.full():
            adc.release_memory()  # drops code, too, which is compiled again: LLVM keeps the old one
        else:
            self._call(which, number)

    def _call(self, which: int, number: int) -> None:
        name, derivative = self.made[which]
        args = _arguments(number)
        before = _bits(args)
        found = _bits(derivative(*args))
        self.calls += 1
        if _bits(args) != before or self.first.setdefault((which, number), found) != found:
            self.wrong += 1
            print(f"program {which} ({name}), arguments {number}: other bits", flush=True)

    def _in_threads(self, which: int, number: int) -> None:
        threads = [
            threading.Thread(target=self._call, args=(which, (number + k) % 8)) for k in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _raises(self, which: int) -> None:
        x, m, s = _arguments(0)
        for args in ((x[:3], m, s), (x, m), (x, m.astype(object), s), (x[:0], m[:0, :0], s)):
            try:
                self.made[which][1](*args)
            except Exception:
                self.calls += 1

    def _in_a_child(self, which: int, number: int) -> None:
        wrong = self.wrong

        def right() -> bool:
            self._call(which, number)
            return self.wrong == wrong

        self.calls += 1
        self.wrong += status(fork(right)) != 0

    def held(self) -> tuple[float, str]:
        """Return the megabytes that the process has, and a line about all that it holds."""
        gc.collect()
        size = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        files = len(os.listdir("/proc/self/fd"))
        entries = [path for path in self.place.rglob("*") if path.is_file()]
        disk = sum(path.stat().st_size for path in entries)
        return size / 1e6, (
            f"{self.calls} calls, {len(self.made)} derivatives, {self.wrong} wrong; "
            f"{size / 1e6:.0f} MB, {files} open files, {threading.active_count()} threads, "
            f"{len(entries)} cache files with {disk / 1e6:.1f} MB, {len(sys.modules)} modules"
        )


def main(argv: list[str] | None = None) -> int:
    """Make calls; return 1 if a result was wrong or memory grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.system.soak")
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--programs", type=int, default=60, help="how many derivatives")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    start = spoken = time.monotonic()
    full: list[float] = []
    with tempfile.TemporaryDirectory(prefix="adc-soak-") as place:
        os.environ["ADC_CACHE_DIR"] = str(Path(place) / "cache")
        os.environ["ADC_CACHE_SIZE"] = "1000000"
        soak = Soak(options.seed, options.programs, Path(place))
        try:
            while time.monotonic() < start + 60.0 * options.minutes:
                soak.step()
                if time.monotonic() > spoken + 60.0:
                    spoken = time.monotonic()
                    size, line = soak.held()
                    if soak.full() and len(soak.first) > 7 * len(soak.made):
                        full.append(size)
                    print(f"{(spoken - start) / 60.0:5.0f} min: {line}", flush=True)
        except KeyboardInterrupt:
            pass
        print(f"end: {soak.held()[1]}")
    grown = full[-1] - full[0] if full else 0.0
    print(f"since all was compiled: {grown:+.1f} MB in {len(full)} minutes")
    return 1 if soak.wrong or grown > _SLACK else 0


if __name__ == "__main__":
    sys.exit(main())
