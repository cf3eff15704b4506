"""Random programs of `try`, `finally`, `with`, generators, `nonlocal` and early exits.

    python -m tests.fuzz.families.fuzz_jumps --n 1000 --seed 0

What the lowered program computes, prints and raises is compared with Python, and its gradient along
each axis with differences of that.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.ir.errors import AdcError
from adc.ir.interp import Interpreter, ProgramError
from tests.fuzz.lines import Nested
from tests.fuzz.program import Generated, forget, load
from tests.oracle import chain as chains

X = np.array([0.7, -1.3, 0.45, 0.0])
_HEAD = """
import math

import numpy as np


def helper(u, v):
    if u < 0:
        raise ValueError("negative")
    return math.sqrt(u) * v


def gen(s, k):
    for j in range(len(s)):
        if j == k:
            return
        yield j


class Context:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log[0] += 1
        return 2

    def __exit__(self, *exception):
        self.log[0] *= 2


def program(x):
    a, b, c, i = 0.3, 1.2, -0.4, 0
    arr = x * 2.0
    items = [1.0, 2.0]
    log = [0]
    n = 0.0

    def bump(v):
        nonlocal n
        n += v

"""
_HANDLERS = ("ValueError", "IndexError", "(ZeroDivisionError, KeyError)", "Exception")


class _Writer(Nested):
    """Writes the statements of one program, nested in at most so many levels."""

    levels = 3

    def text(self) -> str:
        pick = self.rng.choice
        for _ in range(self.rng.randrange(2, 5) if self.levels > 2 else self.rng.randrange(1, 3)):
            guarded = self.rng.random() < 0.8
            if guarded:
                self.add(1, "try:")
            self.statement(1 + guarded, self.levels, False, False)
            if guarded:
                self.add(1, "except Exception:")
                self.add(2, f"a += {pick(['x[0]', '0.25', 'n'])}")
        self.add(1, "return a + 2 * b + 3 * c + np.sum(arr) + n + log[0] * 0.1 + i")
        return _HEAD + "\n".join(self.lines) + "\n"

    def name(self) -> str:
        return self.rng.choice("abc")

    def number(self) -> int:
        self.count += 1
        return self.count

    def expression(self) -> str:
        pick, v = self.rng.choice, self.name()
        return pick(
            [
                f"{v} * 0.5 + x[{pick('0123')}]",
                f"math.sqrt({v} + {pick(['-0.5', '0.0', '0.7'])})",
                f"math.log({v})",
                f"1.0 / float({pick(['x[3]', v, 'i'])})",
                f"x[i + {pick('012')}]",
                f"helper({v}, {pick(['x[0]', 'b', 'i'])})",
                "items[i]",
                f"arr[{pick(['0', '1', 'i', 'i + 1'])}] * {v}",
                f"{v} - {self.name()} * 0.3",
                f"{v} * 0.7 + {self.name()}",
            ]
        )

    def condition(self) -> str:
        pick = self.rng.choice
        compared = f"{self.name()} < {self.name()}"
        return pick(
            [f"{self.name()} > 0.2", "i == 1", "i > 1", f"x[{pick('0123')}] < 0.1", compared]
        )

    def statement(self, depth: int, left: int, loop: bool, final: bool) -> None:
        """Write a statement; `final`: in a `finally`, which is not left by a jump."""
        kind = self.rng.random()
        if left <= 0 or kind < 0.4:
            self.simple(depth, loop, final)
        elif kind < 0.5:
            self.add(depth, f"if {self.condition()}:")
            self.block(depth + 1, left - 1, loop, final)
            if self.rng.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, left - 1, loop, final)
        elif kind < 0.65:
            self.loop(depth, left, loop, final)
        elif kind < 0.95:
            self.guarded(depth, left, loop, final)
        else:
            self.add(depth, "with Context(log) as k:")
            self.block(depth + 1, left - 1, loop, final)

    def simple(self, depth: int, loop: bool, final: bool) -> None:
        pick, kind = self.rng.choice, self.rng.random()
        if kind < 0.55:
            self.add(depth, f"{self.name()} {pick(['=', '=', '+='])} {self.expression()}")
        elif kind < 0.7:
            self.add(depth, f"arr[{pick('02i')}] {pick(['=', '*='])} {self.expression()}")
        elif kind < 0.8:
            self.add(depth, f"print({self.number()}, {pick('1i')})")
        elif kind < 0.9 and loop and not final:
            self.add(depth, f"if {self.condition()}: {pick(['break', 'continue'])}")
        elif kind < 0.95:
            error = pick(["ValueError", "KeyError", "IndexError"])
            self.add(depth, f"if {self.condition()}: raise {error}('m{self.number()}')")
        elif not final and self.rng.random() < 0.5:
            self.add(depth, f"if {self.condition()}: return {self.name()} + i")
        else:
            self.add(depth, f"bump({self.name()})")

    def loop(self, depth: int, left: int, loop: bool, final: bool) -> None:
        pick, kind = self.rng.choice, self.rng.random()
        if kind < 0.4:
            self.add(depth, f"for i in range({pick('1234')}):")
        elif kind < 0.7:
            self.add(depth, f"for i in gen({pick(['x', 'arr'])}, {pick('0123')}):")
        else:
            counter = f"w{self.number()}"
            self.add(depth, f"{counter} = 0")
            self.add(depth, f"while {counter} < {pick('123')}:")
            self.add(depth + 1, f"{counter} += 1")
        self.block(depth + 1, left - 1, True, final)
        if self.rng.random() < 0.2:
            self.add(depth, "else:")
            self.block(depth + 1, left - 1, loop, final)

    def guarded(self, depth: int, left: int, loop: bool, final: bool) -> None:
        self.add(depth, "try:")
        self.block(depth + 1, left - 1, loop, final)
        handlers = sorted(
            self.rng.sample(_HANDLERS, self.rng.randrange(0, 3)), key="Exception".__eq__
        )
        for handler in handlers:
            self.add(depth, f"except {handler}:")
            self.block(depth + 1, left - 1, loop, final)
            if self.rng.random() < 0.15:
                self.add(depth + 1, "raise")
        if handlers and self.rng.random() < 0.3:
            self.add(depth, "else:")
            self.block(depth + 1, left - 1, loop, final)
        if not handlers or self.rng.random() < 0.4:
            self.add(depth, "finally:")
            self.block(depth + 1, left - 2, False, True)


def generate(seed: int, levels: int = 3) -> str:
    """Return the source of a program, whose statements nest in so many levels."""
    writer = _Writer(random.Random(seed))
    writer.levels = levels
    return writer.text()


def _python(fn: Any) -> tuple[Any, str]:
    """Return what Python computes or raises, and what it prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            found: Any = fn(X.copy())
        except Exception as error:
            found = error
    return found, shown.getvalue()


def check(
    seed: int, gradients: bool = True, generate: Callable[[int], str] = generate
) -> str:  # fmt: skip
    """Return what is wrong with a program: nothing, if it starts with "ok" or "refused"."""
    source = generate(seed)
    fn = load(source, seed)
    made = Generated(source, fn, (X,), (0,), seed)
    try:
        with np.errstate(all="ignore"):
            return _checked(fn, gradients)
    finally:
        forget(made)


def _checked(fn: Any, gradients: bool) -> str:
    want, shown = _python(fn)
    try:
        chain = chains.Chain.of(fn, (X.copy(),), (0,))
    except AdcError as error:
        return f"refused: {error}"
    machine = Interpreter(chain.lowered.fn)
    found: Any
    try:
        results = machine.run(chains.fresh(chain.inputs))
        found = chains.rebuild(chain.lowered.result, iter(results))
    except ProgramError as error:
        found = error.error
    if isinstance(want, Exception) or isinstance(found, Exception):
        if type(want) is not type(found) or str(want) != str(found):
            return f"{found!r} instead of {want!r}"
    elif not np.allclose(found, want, rtol=1e-10, equal_nan=True):
        return f"{found} instead of {want}"
    if "".join(f"{line}\n" for line in machine.printed) != shown:
        return f"it prints {machine.printed}"
    if isinstance(want, Exception) or not gradients:
        return "ok"
    slopes = chain.gradient(chains.run(chain.adjoint, chains.fresh(chain.inputs)))[0]
    for k, slope in enumerate(np.asarray(slopes)[:3]):
        ends = [fn_of(fn, X + sign * 1e-6 * np.eye(4)[k]) for sign in (1.0, -1.0)]
        number = (ends[0] - ends[1]) / 2e-6
        if np.isfinite(number) and abs(number - slope) > 1e-3 * (1.0 + abs(number)):
            return f"slope {slope} instead of {number}"
    return "ok"


def fn_of(fn: Any, x: Any) -> float:
    """Return the value of a program; NaN if it raises an exception."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return float(fn(x))
        except Exception:
            return float("nan")


def main(generate: Callable[[int], str] = generate, description: str | None = __doc__) -> int:
    """Check programs of consecutive seeds, and print those that fail."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start, counts = time.perf_counter(), Counter[str]()
    for seed in range(options.seed, options.seed + options.n):
        found = check(seed, generate=generate)
        kind = found.partition(":")[0] if found.startswith(("ok", "refused")) else "failed"
        counts[kind] += 1
        if kind == "failed":
            print(f"--- {seed}: {found}\n{generate(seed)}", flush=True)
    print(f"{dict(counts)}, {time.perf_counter() - start:.0f} s")
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
