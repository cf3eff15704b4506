"""Random programs in the text form of the IR, the same for the same seed.

They nest loops, branches and calls, carry and swap arrays, store, accumulate and read older
versions. Values stay of order one and no decision depends on a float, so that differences work.
"""

from __future__ import annotations

import random

import numpy as np

from tests.corpus.ir_cases import Case

SIZE = 4


class _Generator:
    def __init__(self, seed: int, callees: list[tuple[str, list[str], list[str]]]) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.depth = 0
        self.callees = callees
        self.scalars: list[str] = []
        self.arrays: list[str] = []
        self.ints: list[str] = []

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def scalar(self) -> str:
        if self.random.random() < 0.1:
            return f"{self.random.uniform(-1, 1):.2f}:f64"
        return self.random.choice(self.scalars[-6:] if self.random.random() < 0.7 else self.scalars)

    def array(self) -> str:
        return self.random.choice(self.arrays[-3:] if self.random.random() < 0.7 else self.arrays)

    def recent(self, kind: str) -> str:
        """Return a value that is likely to depend on what was computed last."""
        known = self.scalars if kind == "s" else self.arrays
        return known[-1] if self.random.random() < 0.6 else self.random.choice(known)

    def index(self) -> str:
        if self.ints and self.random.random() < 0.6:
            return self.random.choice(self.ints)
        return str(self.random.randrange(SIZE))

    # -- statements ------------------------------------------------------------------------

    def bounded(self, text: str) -> str:
        """Emit a scalar and keep it of order one."""
        raw, out = self.name("t"), self.name("s")
        self.emit(f"{raw} = {text}")
        self.emit(f"{out} = {self.random.choice(['sin', 'tanh', 'cos'])} {raw}")
        self.scalars.append(out)
        return out

    def statement(self, room: int) -> None:
        kinds = [self.arith, self.arith, self.load, self.load, self.store, self.store, self.make]
        if room > 0:
            kinds += [lambda: self.loop(room), lambda: self.branch(room)] * 2
            kinds += [lambda: self.repeat(room)]
        if self.callees:
            kinds += [self.call]
        self.random.choice(kinds)()

    def arith(self) -> None:
        op = self.random.choice(["add", "sub", "mul", "mul"])
        self.bounded(f"{op} {self.scalar()} {self.scalar()}")

    def load(self) -> None:
        name = self.name("v")
        self.emit(f"{name} = load {self.array()}[{self.index()}]")
        self.bounded(f"mul {name} {self.scalar()}")

    def store(self) -> None:
        name = self.name("a")
        verb = self.random.choice(["store", "store", "accumulate"])
        self.emit(f"{name} = {verb} {self.array()}[{self.index()}] {self.recent('s')}")
        self.arrays.append(name)

    def make(self) -> None:
        name = self.name("a")
        made = [f"full[f64] {self.scalar()} {SIZE}", f"copy {self.array()}"]
        self.emit(f"{name} = {self.random.choice(made)}")
        self.arrays.append(name)

    def call(self) -> None:
        name, params, results = self.random.choice(self.callees)
        args = ["2" if kind == "k" else self.recent(kind) for kind in params]
        found = [self.name(kind) for kind in results]
        self.emit(f"{', '.join(found)} = call C{self.count} {name}({', '.join(args)})")
        for kind, value in zip(results, found, strict=True):
            (self.scalars if kind == "s" else self.arrays).append(value)

    # -- nested ----------------------------------------------------------------------------

    def block(self, room: int, yields: list[str], verb: str = "yield", first: str = "") -> None:
        """Emit the inside of a block; `yields` are the kinds of its values."""
        kept = list(self.scalars), list(self.arrays), list(self.ints)
        self.depth += 1
        for _ in range(self.random.randrange(1, 5)):
            self.statement(room - 1)
        values = [self.recent(kind) for kind in yields]
        arrays = [k for k, kind in enumerate(yields) if kind == "a"]
        if len(arrays) > 1 and self.random.random() < 0.3:
            i, j = arrays[:2]
            values[i], values[j] = values[j], values[i]
        self.emit(f"{verb} {first} {' '.join(values)}")
        self.depth -= 1
        self.scalars, self.arrays, self.ints = kept

    def results(self, kinds: list[str]) -> list[str]:
        return [self.name(kind) for kind in kinds]

    def bind(self, kinds: list[str], values: list[str]) -> None:
        for kind, value in zip(kinds, values, strict=True):
            (self.scalars if kind == "s" else self.arrays).append(value)

    def kinds(self) -> list[str]:
        return [self.random.choice("sa") for _ in range(self.random.randrange(1, 4))]

    def carried(self, kinds: list[str]) -> tuple[list[str], str]:
        params = self.results(kinds)
        init = [self.recent(kind) for kind in kinds]
        return params, ", ".join(f"{p} = {v}" for p, v in zip(params, init, strict=True))

    def loop(self, room: int) -> None:
        kinds = self.kinds()
        results, index = self.results(kinds), self.name("i")
        params, carrying = self.carried(kinds)
        trips = self.random.choice([*self.ints, "0", "2", "3", str(SIZE)])
        head = f"for L{self.count} {index} in 0 to {trips} carrying ({carrying})"
        self.emit(f"{', '.join(results)} = {head} {{")
        kept = list(self.scalars), list(self.arrays), list(self.ints)
        self.bind(kinds, params)
        self.ints.append(index)
        self.block(room, kinds)
        self.scalars, self.arrays, self.ints = kept
        self.emit("}")
        self.bind(kinds, results)

    def repeat(self, room: int) -> None:
        kinds = self.kinds()
        results, count, more, after = (
            self.results(kinds), self.name("n"), self.name("c"), self.name("n"),
        )  # fmt: skip
        params, carrying = self.carried(kinds)
        head = f"while W{self.count} carrying ({count} = 0, {carrying})"
        self.emit(f"{self.name('n')}, {', '.join(results)} = {head} {{")
        kept = list(self.scalars), list(self.arrays), list(self.ints)
        self.bind(kinds, params)
        self.ints.append(count)
        self.depth += 1
        self.emit(f"{after} = add {count} 1")
        self.emit(f"{more} = lt {after} {self.random.randrange(1, 4)}")
        self.depth -= 1
        self.block(room, kinds, "again", f"{more} {after}")
        self.scalars, self.arrays, self.ints = kept
        self.emit("}")
        self.bind(kinds, results)

    def branch(self, room: int) -> None:
        kinds = self.kinds()
        results, cond = self.results(kinds), self.name("c")
        self.emit(f"{cond} = lt {self.index()} {self.random.randrange(1, SIZE)}")
        self.emit(f"{', '.join(results)} = if {cond} {{")
        self.block(room, kinds)
        self.emit("} else {")
        self.block(room, kinds)
        self.emit("}")
        self.bind(kinds, results)

    # -- functions -------------------------------------------------------------------------

    def helper(self, name: str) -> tuple[str, tuple[str, list[str], list[str]]]:
        """Return a recursive function of a scalar, two arrays and a depth."""
        params, results = ["s", "a", "a", "k"], ["a", "s"]
        self.scalars, self.arrays, self.ints = ["%p"], ["%q", "%o"], []
        kept = self.callees
        self.emit("%go = gt %k 0")
        self.emit("%qr, %pr = if %go {")
        self.depth += 1
        for _ in range(3):
            self.statement(1)
        self.emit("%m = sub %k 1")
        self.emit(f"%qc, %pc = call R {name}({self.scalar()}, {self.array()}, {self.array()}, %m)")
        self.scalars.append("%pc")
        self.arrays.append("%qc")
        for _ in range(3):
            self.statement(1)
        self.emit(f"yield {self.recent('a')} {self.recent('s')}")
        self.depth -= 1
        self.emit("} else {\n    yield %q %p\n  }")
        self.callees = kept
        head = f"fn {name}(%p: f64, %q: f64[:], %o: f64[:], %k: int) -> f64[:], f64 {{"
        body = "\n".join(self.lines)
        return f"{head}\n{body}\n  return %qr %pr\n}}\n", (name, params, results)


def random_case(seed: int) -> Case:
    """Return a random program of an array, an array and a number."""
    text = ""
    callees: list[tuple[str, list[str], list[str]]] = []
    if seed % 3:
        text, signature = _Generator(seed + 1, []).helper("g")
        callees.append(signature)
    generator = _Generator(seed, callees)
    generator.scalars, generator.arrays = ["%w", "%w"], ["%x", "%y"]
    for _ in range(8):
        generator.statement(3)
    t, u, r = generator.name("t"), generator.name("t"), generator.name("r")
    generator.emit(f"{t} = total {generator.arrays[-1]}")
    generator.emit(f"{u} = mul {t} {generator.scalars[-1]}")
    generator.emit(f"{r} = sin {u}")
    body = "\n".join(generator.lines)
    outputs = f"{r} {generator.arrays[-2]} {generator.scalars[-2]}"
    text += (
        f"\nfn f(%x: f64[:], %y: f64[:], %w: f64) -> f64, f64[:], f64 {{\n{body}\n"
        f"  return {outputs}\n}}\n"
    )
    rng = np.random.default_rng(seed)
    args = (rng.uniform(-1, 1, SIZE), rng.uniform(-1, 1, SIZE), float(rng.uniform(-1, 1)))
    return Case(f"random{seed}", text, args, (0, 1, 2))
