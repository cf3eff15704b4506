"""Random programs with loops, branches and writes, for `adc selftest`; the same for the same seed.

They are a fraction of what `python -m tests.fuzz` writes in a checkout: there is no package of it.
Values stay of order one, and comparisons are with constants that no sample meets.
"""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc import api
from adc.testing.differences import Outcome, compare

_serial = itertools.count()


def load(source: str, label: object = "program", module: str = __name__) -> Callable[..., Any]:
    """Execute `source` as a module of which `inspect` knows the text; return its ``program``.

    Classes in it are those of `module`, which must exist: dataclasses look there.
    """
    filename = f"<{label}-{next(_serial)}>"
    # No modification time: `linecache.checkcache` then leaves the entry alone.
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": module}
    try:
        exec(compile(source, filename, "exec"), namespace)
        fn: Callable[..., Any] = namespace["program"]
    except Exception:
        del linecache.cache[filename]
        raise
    return fn


def forget(fn: Callable[..., Any]) -> None:
    """Drop the text of a program from `linecache`, which would otherwise keep it for ever."""
    linecache.cache.pop(fn.__code__.co_filename, None)


@dataclass(frozen=True)
class Program:
    """A random program of two vectors, a matrix and a number, and a sample of them."""

    seed: int
    source: str
    args: tuple[Any, ...]


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.vectors = ["y", "z"]  # which may be written: x and m are arguments
        self.indices: list[str] = []

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def constant(self) -> str:
        return f"{self.rng.uniform(0.2, 1.3):.4f}"

    def number(self, depth: int = 1) -> str:
        """Return an expression of order one."""
        leaves = [
            "s",
            "t",
            self.constant(),
            f"x[{self.index()}]",
            f"{self.vector()}[{self.index()}]",
        ]
        if not depth or self.rng.random() < 0.25:
            return self.rng.choice(leaves)
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = (
            "np.tanh({a})", "np.sin({a} + {b})", "({a} * {b})", "(0.5 * {a} - {b})",
            "({a} / (1.5 + {b} * {b}))", "np.exp(-abs({a}))", "np.sqrt(1.0 + {a} * {a})",
            "max({a}, {k})", "min({a}, {k})", "helper({a}, {b})", "np.log(1.2 + {a} * {a})",
            "({a} if {b} > {k} else {b})",
        )  # fmt: skip
        return self.rng.choice(forms).format(a=a, b=b, k=self.constant())

    def whole(self) -> str:
        """Return an expression for a vector."""
        a, b = self.vector(), self.rng.choice([self.vector(), "x", "(m @ x)", "m[1]", "m[:, 2]"])
        forms = (
            "np.tanh({a} + {b})", "{a} * np.cos({b})", "0.5 * ({a} - {b})", "{a}[::-1] * {b}",
            "np.where({b} > {k}, {a}, {b})", "np.maximum({a}, {k} * {b})", "np.cumsum({a}) / 4.0",
            "np.roll({a}, 1) - {b}", "m @ np.sin({a})", "{a} / (1.0 + np.sum({b} * {b}))",
            "np.sort({a}) + 0.1 * {b}",
        )  # fmt: skip
        return self.rng.choice(forms).format(a=a, b=b, k=self.constant())

    def vector(self) -> str:
        return self.rng.choice(self.vectors)

    def index(self) -> str:
        return self.rng.choice([*self.indices, "0", "1", "-1"])

    def statement(self, left: int) -> None:
        kinds = [self._number, self._element, self._whole, self._part]
        if left:
            kinds += [self._loop, self._loop, self._branch, self._while]
        self.rng.choice(kinds)(left)

    def block(self, left: int, most: int = 2) -> None:
        self.depth += 1
        for _ in range(self.rng.randint(1, most)):
            self.statement(left)
        self.depth -= 1

    def _number(self, left: int) -> None:
        self.emit(f"{self.rng.choice('st')} = np.tanh({self.number()})")

    def _element(self, left: int) -> None:
        operator = self.rng.choice(["=", "+=", "*="])
        self.emit(f"{self.vector()}[{self.index()}] {operator} np.sin({self.number()})")

    def _whole(self, left: int) -> None:
        self.emit(f"{self.vector()} = np.tanh({self.whole()})")

    def _part(self, left: int) -> None:
        a, b = self.vector(), self.vector()
        self.emit(f"{a}[1:] = np.tanh({a}[1:] + {self.constant()} * {b}[:-1])")

    def _loop(self, left: int) -> None:
        index = self.name("i")
        self.emit(f"for {index} in range({self.rng.choice(['len(x)', '3', '1, len(x)'])}):")
        self.indices.append(index)
        self.block(left - 1)
        self.indices.pop()

    def _while(self, left: int) -> None:
        count = self.name("n")
        self.emit(f"{count} = 0")
        self.emit(f"while {count} < 4 and t < {self.constant()}:")
        self.block(left - 1, 2)
        self.emit(f"    {count} += 1")

    def _branch(self, left: int) -> None:
        self.emit(f"if {self.number(0)} > {self.constant()}:")
        self.block(left - 1)
        if self.rng.random() < 0.5:
            self.emit("else:")
            self.block(left - 1)


def program(seed: int) -> Program:
    """Return the random program of a seed."""
    rng = random.Random(f"adc selftest {seed}")
    writer = _Writer(rng)
    for _ in range(rng.randint(1, 3)):
        writer.statement(rng.randint(1, 2))
    lines = [
        "import numpy as np", "", "", "def helper(a, b):", "    if a > 0.7351:",
        "        return np.sin(a) * b", "    return a + 0.25 * b", "", "",
        "def program(x, m, s):", "    y = x.copy()", "    z = 0.5 * x", "    t = s * s",
        *writer.lines, "    return s + t + np.sum(y * z) + np.sum(z)",
    ]  # fmt: skip
    numbers = np.random.default_rng(seed)
    args = numbers.uniform(-1.2, 1.2, 5), numbers.uniform(-0.6, 0.6, (5, 5)), numbers.uniform(-1, 1)
    return Program(seed, "\n".join(lines) + "\n", args)


def wrong(given: Program, remat: str = "auto") -> tuple[str, bool]:
    """Return what is wrong with the derivative of a program, and whether that could be decided.

    Value and gradient are compared with the function, run by CPython, and with its differences.
    """
    fn = load(given.source)
    try:
        x, m, s = given.args
        before = [np.asarray(arg).tobytes() for arg in given.args]
        value, slopes = api.value_and_grad(fn, (0, 1, 2), remat=remat, cache=False)(*given.args)
        if [np.asarray(arg).tobytes() for arg in given.args] != before:
            return "an argument was changed", True
        want = fn(*given.args)
        if not np.isclose(value, want, rtol=1e-11, atol=1e-12):
            return f"the value is {want!r}, compiled {value!r}", True
        rng = np.random.default_rng(given.seed)
        along = [rng.integers(3, 9, np.shape(arg)) / 8.0 for arg in given.args]
        slope = sum(np.sum(a * b) for a, b in zip(slopes, along, strict=True))

        def line(t: Any) -> Any:
            return np.array([fn(x + t * along[0], m + t * along[1], s + t * along[2])])

        (found,) = compare(line, np.array([slope]), start=2.0**-6, tolerance=1e-6, epsilon=2.0**-52)
    finally:
        forget(fn)
    if found.outcome is Outcome.DIFFERS:
        return (
            f"the derivative is {found.expected!r} by differences, compiled {found.found!r}", True
        )  # fmt: skip
    return "", found.outcome is Outcome.AGREES


__all__ = ["Program", "forget", "load", "program", "wrong"]
