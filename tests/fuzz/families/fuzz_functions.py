"""Random programs in which functions are values: closures, methods, partial functions.

    python -m tests.fuzz.families.fuzz_functions --n 1000 --seed 0

They are rebound in branches and loops, kept in lists, dicts and objects, and read variables that
change afterwards. Checked as the programs of `fuzz_jumps` are.
"""

from __future__ import annotations

import random
import sys

from tests.fuzz.families import fuzz_jumps
from tests.fuzz.lines import Nested

_HEAD = """
import functools
import math
from dataclasses import dataclass

import numpy as np


def scaled(w, v):
    return math.tanh(w * v)


def by_lambda(w):
    return lambda v: math.sin(w * v)


def by_default(w):
    def made(v, s=w, *, t=0.5 * w):
        return s * v - t

    return made


def by_counter(w):
    n = w

    def made(v):
        nonlocal n
        n = 0.5 * n + 0.1
        return n * v

    return made


def composed(f, g):
    def made(v):
        return math.tanh(f(g(v)))

    return made


def nested(w):
    u = w * w

    def outer(z):
        def inner(v):
            return math.cos(u * v) * z + w

        return inner

    return outer(0.5 * w)


@dataclass(frozen=True)
class Line:
    w: float
    b: float = 0.25

    def at(self, v):
        return self.w * v + self.b


class Base:
    def __init__(self, w):
        self.w = w
        self.f = by_lambda(w)

    def at(self, v):
        return math.tanh(self.w * v)


class Shift(Base):
    def __init__(self, w, b):
        super().__init__(w)
        self.b = b

    def at(self, v):
        return super().at(v) + self.b


def program(x):
    a, b, c, i = x[0], x[1], x[2], 0
    f, g = by_lambda(a), by_lambda(0.7)
    h = by_default(b)
    m = Line(c).at
    o = Shift(a, 0.3)
    p = Shift(c, a)
    fs = [by_lambda(b), by_lambda(1.1)]
    d = {"f": by_lambda(c), "g": by_default(a)}

"""


class _Writer(Nested):
    def text(self) -> str:
        for _ in range(self.rng.randrange(4, 9)):
            self.statement(1, 2)
        calls = ["f(0.3)", "g(a)", "h(b)", "m(c)", "o.at(0.2)", "p.at(a)", "fs[0](b)", "fs[1](0.4)"]
        calls += ["d['f'](c)", "d['g'](0.1)", "o.f(0.9)", "p.w", "o.b"]
        used = self.rng.sample(calls, 6)
        self.add(1, f"return a + 2 * b + 3 * c + {' + '.join(used)}")
        return _HEAD + "\n".join(self.lines) + "\n"

    def number(self) -> str:
        pick = self.rng.choice
        return pick(
            [
                "a", "b", "c", "x[0]", "x[1]", "0.6", "1.3", "a * b", "c - 0.5", "0.1 * i",
                f"{self.function()}({pick('abc')})", "o.w", "p.b",
            ]
        )  # fmt: skip

    def function(self) -> str:
        return self.rng.choice(
            ["f", "g", "h", "m", "o.at", "p.at", "o.f", "p.f", "fs[0]", "fs[1]", "d['f']", "d['g']"]
        )

    def bind(self) -> str:
        """Return a statement that binds a variable to a function, mostly of the code it has."""
        pick, number = self.rng.choice, self.number()
        simple = pick(["f", "g", "fs[0]", "fs[1]", "d['f']", "o.f", "p.f"])
        kind = self.rng.random()
        if kind < 0.4:
            return f"{simple} = by_lambda({number})"
        if kind < 0.5:
            return f"{simple} = {pick(['f', 'g', 'fs[0]', 'fs[1]', 'o.f'])}"
        if kind < 0.65:
            return f"{pick(['h', 'd[' + repr('g') + ']'])} = by_default({number})"
        if kind < 0.75:
            return f"m = Line({number}, {self.number()}).at"
        if kind < 0.85:
            return f"{pick(['h', 'd[' + repr('g') + ']'])} = {pick(['h', 'd[' + repr('g') + ']'])}"
        # Functions of other code have no names that paths share: those are refused.
        self.count += 1
        made = pick(
            [
                f"nested({number})", f"by_counter({number})",
                f"functools.partial(scaled, {number})",
                f"composed({self.function()}, {self.function()})",
                f"by_lambda(nested({number})(b))",
                f"(lambda v: v * a + {number})", f"(lambda v, k={number}: v * k + b)",
            ]
        )  # fmt: skip
        name = f"e{self.count}"
        return f"{name} = {made}; {pick('abc')} = 0.5 * {name}({name}({pick('abc')}))"

    def statement(self, depth: int, left: int) -> None:
        pick, kind = self.rng.choice, self.rng.random()
        if left <= 0 or kind < 0.5:
            self.simple(depth)
        elif kind < 0.7:
            self.add(depth, f"if {pick('abc')} {pick('<>')} {pick(['0.2', '-0.3', 'b', 'c'])}:")
            self.block(depth + 1, left - 1)
            if self.rng.random() < 0.6:
                self.add(depth, "else:")
                self.block(depth + 1, left - 1)
        elif kind < 0.85:
            self.add(depth, f"for i in range({pick('123')}):")
            self.block(depth + 1, left - 1)
            if self.rng.random() < 0.3:
                self.add(depth + 1, f"if {pick('abc')} > 0.4: {pick(['break', 'continue'])}")
                self.block(depth + 1, left - 2)
        elif kind < 0.9:
            self.count += 1
            self.add(depth, f"n{self.count} = 0")
            self.add(depth, f"while n{self.count} < 3 and {pick('abc')} < 0.8:")
            self.add(depth + 1, f"n{self.count} += 1")
            self.block(depth + 1, left - 1)
        else:
            name = pick(["fs", "[f, g]", "d.values()"])
            self.add(depth, f"for q in {name}:")
            self.add(depth + 1, f"{pick('abc')} = 0.5 * q({pick('abc')}) + 0.1")

    def simple(self, depth: int) -> None:
        pick, kind = self.rng.choice, self.rng.random()
        if kind < 0.45:
            self.add(depth, self.bind())
        elif kind < 0.8:
            self.add(depth, f"{pick('abc')} = math.tanh({self.function()}({self.number()}))")
        elif kind < 0.9:
            self.add(depth, f"{pick(['o.w', 'p.b', 'p.w', 'o.b'])} = 0.5 * {self.number()}")
        elif kind < 0.95:
            self.add(depth, f"{pick('op')} = Shift({self.number()}, {self.number()})")
        else:
            self.count += 1
            self.add(depth, f"def k{self.count}(v):")
            self.add(depth + 1, f"return {pick('fgh')}(v) * {pick('abc')}")
            self.add(depth, f"{pick('abc')} *= k{self.count}({self.number()})")


def generate(seed: int) -> str:
    """Return the source of a program."""
    return _Writer(random.Random(seed)).text()


if __name__ == "__main__":
    sys.exit(fuzz_jumps.main(generate, __doc__))
