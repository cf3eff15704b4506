"""Random programs of which an iteration does a lot and needs nothing of the others.

    python -m tests.fuzz --kind threads --target cuda --n 200

An iteration has arrays of its own: of a few elements, of a size that data say, recreated in inner
loops, carried, swapped, selected by branches. What `outline_kernels` and `threads` have to find
out.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.lines import ARRAYS, Lines
from tests.fuzz.program import Generated, forget, load


class _Writer(Lines):
    # -- values ----------------------------------------------------------------------------

    def constant(self) -> str:
        return f"{self.rng.uniform(0.2, 0.7):.3f}"

    def element(self) -> str:
        return f"{self.array()}[{self.rng.choice(['0', '1', '2', '-1', 'i % 3'])}]"

    def term(self) -> str:
        return self.rng.choice(["s", "u", self.element(), "w[1]", "x[i, 2]", "x[i % 2, 0]"])

    def number(self) -> str:
        fn = self.rng.choice(["np.sin", "np.cos", "np.tanh", ""])
        return f"{self.constant()} * {fn}({self.term()} * {self.term()} + {self.constant()})"

    def whole(self) -> str:
        """Return an array of three elements."""
        a, b = self.array(), self.array()
        forms = [
            f"np.sin({a}) * {b}", f"{a} + {self.constant()} * {b}[::-1]", f"{a} * w",
            f"{a} - {self.constant()} * x[i]", f"{self.constant()} * {a}", f"{a}.copy()",
            f"np.array([{self.element()}, s, {self.element()}])",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def condition(self) -> str:
        return f"{self.term()} {self.rng.choice('<>')} {self.rng.uniform(-0.4, 0.4):.3f}"

    # -- statements ------------------------------------------------------------------------

    def statement(self) -> None:
        kinds = ["number", "whole", "whole", "element", "swap", "sizes"]
        if self.depth < 5:
            kinds += ["loop", "loop", "while", "branch", "branch"]
        getattr(self, f"_{self.rng.choice(kinds)}")()

    def _number(self) -> None:
        self.emit(f"{self.rng.choice('su')} = {self.number()}")

    def _element(self) -> None:
        self.emit(f"{self.element()} = {self.number()}")

    def _swap(self) -> None:
        names = self.rng.sample(ARRAYS, self.rng.choice([2, 3]))
        values = [names[-1], *names[:-1]]
        if self.rng.random() < 0.5:
            values[0] = self.whole()
        self.emit(f"{', '.join(names)} = {', '.join(values)}")

    def _sizes(self) -> None:
        """Make an array of a size that data say."""
        d, j = self.fresh("d"), self.fresh("j")
        self.emit(f"{d} = np.zeros(k[i] + 1)")
        self.emit(f"{d}[0] = {self.number()}")
        self.emit(f"for {j} in range(k[i]):")
        self.emit(f"    {d}[{j} + 1] = np.sin({d}[{j}]) * {self.term()} + {self.constant()}")
        self.emit(f"s = s * 0.5 + {d}[-1]")

    def _loop(self) -> None:
        trips = self.rng.choice(["2", "3", "n", "k[i]", "i", "1"])
        self.emit(f"for {self.fresh('j')} in range({trips}):")
        self.block(self.rng.choice([1, 2, 3]))
        if self.rng.random() < 0.25:
            self.emit(f"    if {self.condition()}:")
            self.emit(f"        {self.rng.choice(['break', 'continue'])}")
            self.emit(f"    u = {self.number()}")

    def _while(self) -> None:
        t = self.fresh("t")
        self.emit(f"{t} = 0")
        self.emit(f"while {t} < 3 and {self.condition()}:")
        self.emit(f"    {t} += 1")
        self.block(self.rng.choice([1, 2]))


def generate(seed: int, size: int = 6) -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, attempt)
        with np.errstate(all="ignore"):
            value = float(generated.fn(*generated.make_args()))
        if abs(value) < 1e4:
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _generate(seed: int, size: int, attempt: int) -> Generated:
    rng = random.Random(f"threads/{seed}/{size}/{attempt}")
    numbers = np.random.default_rng(rng.randrange(2**32))
    count = rng.choice([2, 3, 5])
    x = np.round(numbers.uniform(-1.2, 1.2, (count, 3)), 4)
    w = np.round(numbers.uniform(-1.2, 1.2, 3), 4)
    k = numbers.integers(0, 4, count)
    w_ = _Writer(rng)
    apart = rng.random() < 0.6
    w_.emit("total = 0.0")
    w_.emit("out = np.empty((x.shape[0], 2))")
    w_.emit("for i in range(x.shape[0]):")
    w_.depth = 2
    w_.emit("a, b, c = x[i].copy(), w * x[i], np.zeros(3)")
    w_.emit("s, u = x[i, 0], w[0]")
    for _ in range(size):
        w_.statement()
    w_.emit(
        "out[i, 0] = s + np.sum(a * w) + b[0]" if apart else "total += s * np.sum(a * b) + c[1]"
    )
    w_.emit("out[i, 1] = u * c[2]")
    w_.depth = 1
    w_.emit("return total + np.sum(np.sin(out) * out)" if apart else "return total + out[1, 1]")
    text = ["import numpy as np", "", "", "def program(x, w, k, n):", *w_.lines, ""]
    source = "\n".join(text)
    fn: Any = load(source, seed)
    return Generated(source, fn, (x, w, k, rng.choice([1, 2, 4])), (0, 1), seed, "threads")
