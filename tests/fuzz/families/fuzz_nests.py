"""Random programs made of nested loops over elements of arrays, as in stencils and factorizations.

    python -m tests.fuzz --kind nests --n 200

Loops run up, down, in steps, over triangles; bodies store to elements next to those that they read,
add up numbers, and put them away after an inner loop. Most nests have iterations that need what
others did, in some loops and not in others: what `scalar_replacement`, `vectorizable`,
`interchange`, `distribute` and `hoist_checks` have to tell apart.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.program import Generated, forget, load

# Sizes of arrays by their names.
_SHAPES = {
    "a": "mn", "b": "mn", "c": "nn", "d": "m", "e": "n", "f": "mnp", "g": "p", "h": "mn", "o": "n",
}  # fmt: skip
_PARAMETERS = "acdef"


@dataclass(frozen=True)
class _Counter:
    """A counter of a loop: a place along a size, so far from its ends at least."""

    name: str
    size: str
    first: int
    last: int


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.numbers: list[str] = []
        self.counters: list[_Counter] = []
        self.count = 0

    def emit(self, text: str) -> None:
        self.lines.append("    " * (len(self.counters) + 1) + text)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    # -- elements --------------------------------------------------------------------------

    def place(self, size: str) -> str:
        """Return an index along a size, near a counter if there is one."""
        near = [c for c in self.counters if c.size == size]
        if not near or self.rng.random() < 0.08:
            return self.rng.choice(["0", "-1", f"{size} - 1"])
        counter = self.rng.choice(near)
        offsets = [0, 0, 0, *range(-counter.first, counter.last + 1)]
        offset = self.rng.choice(offsets)
        return counter.name + (f" {'+' if offset > 0 else '-'} {abs(offset)}" if offset else "")

    def element(self, names: str) -> str:
        known = {c.size for c in self.counters}
        fitting = [x for x in names if set(_SHAPES[x]) <= known] or list(names)
        array = self.rng.choice(fitting)
        return f"{array}[{', '.join(map(self.place, _SHAPES[array]))}]"

    def term(self) -> str:
        kind = self.rng.randrange(8)
        if kind == 0 and self.numbers:
            return self.rng.choice(self.numbers)
        if kind == 1:
            return f"np.sin({self.element('abcdefgho')})"
        if kind == 2:
            return f"{self.element('abcdefgho')} / (1.5 + {self.element('abcdef')} ** 2)"
        return self.element("abcdefgho")

    def value(self) -> str:
        terms = [f"{self.rng.uniform(-0.5, 0.5):.3f} * {self.term()}"]
        while self.rng.random() < 0.5 and len(terms) < 3:
            terms.append(f"{self.rng.uniform(-0.4, 0.4):.3f} * {self.term()}")
            if self.rng.random() < 0.3:
                terms[-1] += f" * {self.term()}"
        return " + ".join(terms)

    # -- statements ------------------------------------------------------------------------

    def statement(self) -> None:
        kind = self.rng.randrange(10)
        if kind < 4:
            self.emit(f"{self.element('abcfho')} = {self.value()}")
        elif kind < 7:
            self.emit(f"{self.element('abcdefho')} += {self.value()}")
        elif kind < 8:
            target = self.element("abcfho")
            self.emit(f"{target} = 0.7 * {target} + {self.value()}")
        elif kind < 9 and self.numbers:
            self.emit(f"{self.rng.choice(self.numbers)} += 0.3 * {self.value()}")
        elif self.counters:
            counter = self.rng.choice(self.counters)
            self.emit(f"if {counter.name} % 2 == {self.rng.randrange(2)}:")
            self.emit(f"    {self.element('abho')} += {self.value()}")

    def head(self, size: str) -> tuple[str, _Counter]:
        name = self.fresh("i")
        outer = [c for c in self.counters if c.size == size]
        if outer and self.rng.random() < 0.6:
            other = self.rng.choice(outer)
            text, first, last = self.rng.choice(
                [(f"{other.name}", 0, 1), (f"{other.name}, {size}", 0, 0),
                 (f"{other.name} + 1, {size}", 1, 0), (f"1, {other.name}", 1, 1)]
            )  # fmt: skip
        else:
            text, first, last = self.rng.choice(
                [(size, 0, 0), (size, 0, 0), (f"1, {size}", 1, 0), (f"{size} - 1", 0, 1),
                 (f"1, {size} - 1", 1, 1), (f"{size} - 1, -1, -1", 0, 0),
                 (f"{size} - 2, 0, -1", 1, 1), (f"{size} - 2, -1, -1", 0, 1),
                 (f"0, {size}, 2", 0, 0), (f"2, {size}, 2", 2, 0)]
            )  # fmt: skip
        return f"for {name} in range({text}):", _Counter(name, size, first, last)

    def nest(self, sizes: list[str]) -> None:
        head, counter = self.head(sizes[0])
        self.emit(head)
        self.counters.append(counter)
        known = len(self.numbers)
        if len(sizes) > 1:
            if self.rng.random() < 0.4:
                self.number()
            if self.rng.random() < 0.3:
                self.statement()
            for _ in range(self.rng.choice([1, 1, 2])):
                self.nest(sizes[1:])
            if self.numbers and self.rng.random() < 0.7:
                self.emit(f"{self.element('abho')} = 0.5 * {self.numbers[-1]}")
            if self.rng.random() < 0.3:
                self.statement()
        else:
            for _ in range(self.rng.choice([1, 1, 2, 3])):
                self.statement()
            if self.numbers and self.rng.random() < 0.6:
                self.emit(f"{self.numbers[-1]} += 0.3 * {self.value()}")
        del self.numbers[known:]
        self.counters.pop()

    def number(self) -> None:
        name = self.fresh("s")
        self.emit(f"{name} = {self.rng.choice(['0.0', '0.4', self.value()])}")
        self.numbers.append(name)


def generate(seed: int, size: int = 3) -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, attempt)
        try:
            with np.errstate(all="ignore"):
                value = float(generated.fn(*generated.make_args()))
        except (ArithmeticError, IndexError):
            value = math.inf
        if abs(value) < 1e4:
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _generate(seed: int, size: int, attempt: int) -> Generated:
    rng = random.Random(f"nests/{seed}/{size}/{attempt}")
    numbers = np.random.default_rng(rng.randrange(2**32))
    sizes = {name: rng.choice([1, 2, 3, 3, 4, 5]) for name in "mnp"}
    args = [
        np.round(numbers.uniform(-1.2, 1.2, [sizes[k] for k in _SHAPES[name]]), 4)
        for name in _PARAMETERS
    ]
    w = _Writer(rng)
    w.emit("m, n, p = f.shape")
    w.emit("b = 0.5 * a")
    w.emit("g = np.full(p, 0.3)")
    w.emit("h = np.zeros((m, n))")
    w.emit("o = np.empty(n)")
    w.emit("o[:] = 0.1")
    for _ in range(size):
        if rng.random() < 0.3:
            w.number()
        order = rng.choice(["m", "n", "mn", "nm", "mn", "nm", "nn", "mnp", "pmn", "nmn", "npm"])
        w.nest(list(order))
    terms = []
    for name in "abcdefho":
        weight = f"(np.arange({_SHAPES[name][-1]}) + 0.5)"
        terms.append(f"{rng.uniform(0.1, 0.4):.2f} * np.sum({name} * {weight})")
    w.emit("return " + " + ".join([*terms, *w.numbers]))
    text = [
        "import math",
        "",
        "import numpy as np",
        "",
        "",
        f"def program({', '.join(_PARAMETERS)}):",
        *w.lines,
        "",
    ]
    source = "\n".join(text)
    fn: Any = load(source, seed)
    return Generated(source, fn, tuple(args), tuple(range(len(args))), seed, "nests")
