"""Programs of a campaign that call a function, and what they say of a mutant of it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from adc.passes import stages
from tests.fuzz.campaign import judge
from tests.mutation.mutants import Mutant
from tests.mutation.planting import Key, key_of, plant

ROOT = Path(__file__).resolve().parents[2]
# Seconds of programs without a mutant, and how many, that have to say something about one.
SECONDS, MOST = 12.0, 40
# Seconds after which a mutant has stopped a program: it is noticed.
_PATIENCE = 90.0
# Bytes of addresses that a process with a mutant may have, besides what it begins with.
_MEMORY = 8 << 30


def reached(seed: int) -> tuple[str, float, set[Key]]:
    """Return the verdict on a program, the seconds, and the functions that this calls."""
    found: set[Any] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        verdict = judge.verdict_on(seed).verdict
    finally:
        sys.setprofile(None)
    start = time.process_time()
    judge.verdict_on(seed)
    keys = {key_of(code) for code in found if code.co_filename.startswith(str(ROOT))}
    seconds = time.process_time() - start
    return verdict, seconds, {(_relative(file), name, line) for file, name, line in keys}


def _relative(file: str) -> str:
    """Return a file of the repository, not by way of the links in `adc`."""
    return Path(file).resolve().relative_to(ROOT).as_posix()


def is_of(key: Key, mutant: Mutant) -> bool:
    """Whether a function is the one that a mutant changes, or in it."""
    file, name, line = key
    if file != mutant.path:
        return False
    if mutant.function == "<lambda>":
        return name == "<lambda>" and line == mutant.start
    return name == mutant.function or name.startswith(f"{mutant.function}.<locals>")


def chosen(seeds: Iterable[tuple[int, float]]) -> list[int]:
    """Return the fastest of some programs: about as many as take `SECONDS`."""
    found: list[int] = []
    total = 0.0
    for seed, seconds in sorted(seeds, key=lambda each: each[1]):
        if len(found) == MOST or total > SECONDS:
            break
        found.append(seed)
        total += seconds
    return found


def verdict_on(mutant: Mutant, seeds: Sequence[int]) -> tuple[str, str]:
    """Return whether programs notice a mutant, in a process of its own, and which one how.

    ``killed``, ``alive``, or ``not planted``.
    """

    def check() -> str:
        try:
            planted = plant(ROOT, mutant)
        except Exception as error:
            return f"not planted\t{error}"
        if not planted:
            return "not planted"
        for seed in seeds:
            found = judge.verdict_on(seed)
            if found.verdict != "ok":
                return f"killed\t{seed}: {found.verdict}: {found.problem}"
        return "alive"

    word, _, how = apart(check).partition("\t")
    return word, how[:200]


def _addresses() -> int:
    """Return how many bytes of addresses this process has."""
    sizes = Path("/proc/self/statm")
    pages = int(sizes.read_text().split()[0]) if sizes.exists() else 0
    return pages * resource.getpagesize()


def apart(check: Callable[[], str], patience: float = _PATIENCE) -> str:
    """Return what a function returns in a process of its own; that it is killed if it fails."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover, as coverage is not measured there
        try:
            stages.VERIFY_EACH = False
            most = _addresses() + _MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            try:
                text = check()
            except BaseException as error:
                text = f"killed\t{type(error).__name__}: {error}"
            os.write(write, text.encode()[:4000])
        finally:
            os._exit(0)
    os.close(write)
    end = time.monotonic() + patience
    data = b""
    with open(read, "rb", buffering=0) as pipe:
        os.set_blocking(read, False)
        while time.monotonic() < end:
            part = pipe.read(4096)
            if part is not None:
                data += part
                break
            time.sleep(0.02)
        else:
            data = b"killed\ttoo slow"
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return data.decode(errors="replace") or "killed\tthe process died"


__all__ = ["ROOT", "apart", "chosen", "is_of", "reached", "verdict_on"]
