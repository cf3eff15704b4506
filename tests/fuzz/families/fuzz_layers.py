"""Random programs of layers: functions that loops over lists of dicts, tuples or objects call.

    python -m tests.fuzz.families.fuzz_layers --n 200 --seed 0 --target python

Each is compiled three times: with the elements of its lists one by one, with these lists passed as
stacks, and with its functions shared by their calls. The results must agree with each other, with
what Python computes, and along a random direction with differences of that.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import adc
from adc.frontend.control import program as calls_of_program
from adc.frontend.inputs import stacks
from adc.frontend.language import unrolling
from adc.ir.errors import AdcError
from tests.fuzz.program import Generated, forget, load

ROWS, WIDTH = 3, 4
WAYS = ("one by one", "stacks", "shared")
_HEAD = """
import numpy as np


class Layer:
    def __init__(self, w, b, s, more):
        self.w = w
        self.b = b
        self.s = s
        self.more = more

    def apply(self, x):
        return np.tanh(x @ self.w + self.b)
"""


@dataclass
class Layers:
    """How a program is given its layers: what an element is, and how many there are."""

    form: str
    count: int

    def element(self, name: str, part: str) -> str:
        """Return the text of a part of an element."""
        if self.form == "dict":
            return f'{name}["{part}"]'
        if self.form == "tuple":
            return f"{name}[{('w', 'b', 's', 'more').index(part)}]"
        return f"{name}.{part}"


class _Writer:
    def __init__(self, rng: random.Random, layers: Layers) -> None:
        self.rng = rng
        self.layers = layers
        self.lines: list[str] = []
        self.depth = 1
        self.kept = False

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def constant(self) -> str:
        return f"{self.rng.uniform(0.2, 0.7):.3f}"

    def part(self, part: str) -> str:
        return self.layers.element("layer", part)

    # -- the body of a layer ---------------------------------------------------------------------

    def whole(self) -> str:
        """Return an array like `x`."""
        w, b, s, more = (self.part(part) for part in ("w", "b", "s", "more"))
        forms = [
            f"np.tanh(x @ {w} + {b})", f"x * {s}", f"np.sin(x) * {b}", f"x @ {w}.T * 0.4",
            "x - np.mean(x, axis=-1, keepdims=True)", "np.where(x > 0.1, x, 0.3 * x)",
            f"x + {more}[0][1] * {self.constant()}", f"np.tanh(x @ {more}[1])",
            f"sum(np.tanh(x @ m) for m in {more})", f"np.exp(-x * x) + {w}[1] * {b}[::-1]",
            "np.hstack([p * np.sum(p) for p in np.split(x, 2, axis=-1)]) * 0.1",
            f"softmax(x) @ {w}", "x[::-1] * 0.5", f"np.tanh(x + {b}[1:3].sum())",
            f"dense(x, {w}, {b})",
        ]  # fmt: skip
        if self.layers.form == "object":
            forms.append("layer.apply(x)")
        return self.rng.choice(forms)

    def condition(self) -> str:
        s, b = self.part("s"), self.part("b")
        forms = [f"np.sum(x) > {self.constant()}", f"{s} < 0.5", f"{b}[0] > 0.0", "len(layers) > 2"]
        return self.rng.choice(forms)

    def body(self, count: int, loop: bool) -> None:
        for _ in range(count):
            self.statement(loop)

    def statement(self, loop: bool) -> None:
        kinds = ["assign", "assign", "residual", "total", "branch", "inner", "local"]
        if loop:
            kinds += ["keep", "recall", "exit"]
        getattr(self, f"_{self.rng.choice(kinds)}")(loop)

    def _assign(self, loop: bool) -> None:
        self.emit(f"x = {self.whole()}")

    def _residual(self, loop: bool) -> None:
        self.emit(f"x = x + {self.constant()} * ({self.whole()})")

    def _total(self, loop: bool) -> None:
        w = self.part("w")
        term = self.rng.choice([f"np.sum({w} * {w})", "np.sum(x)", f"{self.part('s')} ** 2"])
        self.emit(f"total = total + 0.1 * {term}")

    def _branch(self, loop: bool) -> None:
        self.emit(f"if {self.condition()}:")
        self.depth += 1
        self.emit(f"x = {self.whole()}")
        self.depth -= 1
        if self.rng.random() < 0.5:
            self.emit("else:")
            self.emit(f"    x = x * {self.constant()}")

    def _inner(self, loop: bool) -> None:
        self.emit("for j in range(2):")
        self.emit(f"    x = x * {self.constant()} + {self.part('w')}[j]")

    def _local(self, loop: bool) -> None:
        self.emit(f"y = {self.whole()}")
        self.emit(f"y[0] = y[0] * {self.constant()}")
        self.emit("x = x + y")

    def _keep(self, loop: bool) -> None:
        self.kept = True
        self.emit("kept.append(x)")

    def _recall(self, loop: bool) -> None:
        self.emit("if len(kept) > 0:")
        self.emit(f"    x = x + kept[-1] * {self.constant()}")

    def _exit(self, loop: bool) -> None:
        self.emit(f"if np.sum(np.abs(x)) > {self.rng.choice(['1e6', '20.0'])}:")
        self.emit(f"    {self.rng.choice(['break', 'continue'])}")

    # -- the program ----------------------------------------------------------------------------

    def loop(self) -> None:
        form = self.rng.choice(
            ["each", "numbered", "index", "backwards", "pairs", "while", "twice"]
        )
        heads = {
            "each": ["for layer in layers:"],
            "numbered": ["for k, layer in enumerate(layers):", "    x = x * (1.0 + 0.1 * k)"],
            "index": ["for k in range(len(layers)):", "    layer = layers[k]"],
            "backwards": ["for layer in reversed(layers):"],
            "pairs": ["for layer, c in zip(layers, [0.9, 0.8, 0.7, 0.6, 0.5]):", "    x = x * c"],
            "while": ["k = 0", "while k < len(layers):", "    layer = layers[k]", "    k += 1"],
            "twice": ["for layer in layers:"],
        }
        form = self.rng.choice(list(heads))
        for _ in range(2 if form == "twice" else 1):
            for line in heads[form]:
                self.emit(line)
            self.depth += 1
            if self.rng.random() < 0.5:
                self.emit("x = block(x, layer)")
            self.body(self.rng.choice([1, 2, 3]), loop=True)
            self.depth -= 1

    def text(self) -> str:
        self.emit("total = 0.0")
        self.body(self.rng.choice([2, 3, 4]), loop=False)
        self.emit("return x + total * 0.01")
        block, self.lines = self.lines, []
        self.emit("total = 0.0")
        self.emit("kept = []")
        for _ in range(self.rng.choice([1, 1, 2])):
            self.loop()
        last = self.layers.element("layers[-1]", "b")
        tail = " + np.sum(kept[0])" if self.kept and self.rng.random() < 0.3 else ""
        self.emit(f"return np.sum(np.tanh(x)) + total + np.sum({last} * x[0]){tail}")
        lines = [
            _HEAD,
            "def dense(x, w, b):",
            "    return np.tanh(x @ w) + b",
            "",
            "def softmax(x):",
            "    e = np.exp(x - np.max(x, axis=-1, keepdims=True))",
            "    return e / np.sum(e, axis=-1, keepdims=True)",
            "",
            "def block(x, layer):",
            *[line.replace("layers", "[1, 2]") for line in block],
            "",
            "def program(x, layers):",
            *self.lines,
        ]
        return "\n".join(lines) + "\n"


def generate(seed: int) -> tuple[Generated, tuple[Any, ...]]:
    """Return the random program of this seed, and its arguments."""
    for attempt in range(100):
        rng = random.Random(f"layers {seed} {attempt}")
        layers = Layers(rng.choice(["dict", "tuple", "object"]), rng.choice([2, 3, 4, 5]))
        source = _Writer(rng, layers).text()
        fn = load(source, seed)
        args = _arguments(fn, layers, seed)
        generated = Generated(source, fn, args, (0, 1), seed, "layers")
        try:
            with np.errstate(all="ignore"):
                value = float(fn(*args))
        except IndexError:  # nothing was kept
            value = np.inf
        if abs(value) < 1e4:
            return generated, args
        forget(generated)
    raise AssertionError(seed)


def _arguments(fn: Any, layers: Layers, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for _ in range(layers.count):
        w, b = rng.uniform(-0.6, 0.6, (WIDTH, WIDTH)), rng.uniform(-0.6, 0.6, WIDTH)
        s, more = (
            float(rng.uniform(0.2, 0.8)),
            [rng.uniform(-0.6, 0.6, (WIDTH, WIDTH)) for _ in "ab"],
        )
        if layers.form == "dict":
            made.append({"w": w, "b": b, "s": s, "more": more})
        elif layers.form == "tuple":
            made.append((w, b, s, more))
        else:
            made.append(fn.__globals__["Layer"](w, b, s, more))
    return rng.uniform(-1.0, 1.0, (ROWS, WIDTH)), made


@contextmanager
def compiled(way: str) -> Iterator[None]:
    """Compile in one of the ways, however short a program is."""
    settings: list[Any] = [
        mock.patch.object(unrolling, "REPEATED", 0 if way == "stacks" else 10**9)
    ]
    if way != "stacks":
        settings.append(mock.patch.object(stacks, "places", return_value=()))
    if way == "shared":
        settings += [mock.patch.object(calls_of_program, name, 0) for name in ("LEAST", "SAVED")]
    for setting in settings:
        setting.start()
    try:
        yield
    finally:
        for setting in settings:
            setting.stop()


def numbers(tree: Any) -> list[np.ndarray[Any, Any]]:
    """Return the numbers and arrays in arguments, or in gradients."""
    if isinstance(tree, float | np.ndarray | np.generic):
        return [np.asarray(tree)]
    if hasattr(tree, "__dict__"):
        tree = vars(tree)
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for item in tree or () for leaf in numbers(item)] if tree is not None else []


def moved(args: Any, direction: list[Any], step: float) -> Any:
    """Return arguments moved along a direction."""
    rest = iter(direction)

    def of(tree: Any) -> Any:
        if isinstance(tree, float | np.ndarray):
            return tree + step * next(rest)
        if isinstance(tree, dict):
            return {key: of(item) for key, item in tree.items()}
        if isinstance(tree, list | tuple):
            return type(tree)([of(item) for item in tree])
        made = object.__new__(type(tree))
        for key, item in vars(tree).items():
            setattr(made, key, of(item))
        return made

    return of(args)


def check(seed: int, target: str = "python", ways: Sequence[str] = WAYS) -> tuple[str, set[str]]:
    """Return what is wrong with the program of a seed, "" if nothing is; and the ways taken.

    `ways` are those in which it is compiled.
    """
    generated, args = generate(seed)
    fn = generated.fn
    taken: set[str] = set()
    try:
        want = float(fn(*args))
        rng = np.random.default_rng(seed)
        direction = [rng.standard_normal(leaf.shape) for leaf in numbers(args)]
        slopes = []
        for step in (1e-4, 5e-5):
            ends = [fn(*moved(args, direction, sign * step)) for sign in (1.0, -1.0)]
            slopes.append((ends[0] - ends[1]) / (2 * step))
        slope = slopes[1] + (slopes[1] - slopes[0]) / 3
        smooth = abs(slopes[1] - slopes[0]) < 1e-3 * (1 + abs(slope))  # no kink in between
        first: list[Any] | None = None
        for way in ways:
            with compiled(way):
                derivative = adc.value_and_grad(fn, (0, 1), cache=False, target=target)
                try:
                    value, gradient = derivative(*args)
                except AdcError as error:
                    if way != "stacks" and "indexing" in error.message:
                        continue  # in a `while`
                    return f"{way}: {error}", taken
                if derivative._code._family.stacks:
                    taken.add("stacks")
            derivative._code._family.entries.clear()
            derivative._code._family.stacks = frozenset()
            found = numbers(gradient)
            if abs(value - want) > 1e-10 * (1 + abs(want)):
                return f"{way}: {value} instead of {want}", taken
            if first is not None and not all(
                np.allclose(a, b, rtol=1e-8, atol=1e-11) for a, b in zip(first, found, strict=True)
            ):
                return f"{way}: another gradient", taken
            first = found
            along = sum(float(np.sum(a * b)) for a, b in zip(found, direction, strict=True))
            if smooth and abs(along - slope) > 1e-5 * (1 + abs(slope)):
                return f"{way}: slope {along} instead of {slope}", taken
        return "", taken
    finally:
        forget(generated)


def main() -> int:
    """Check programs of consecutive seeds, and print those that fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="python", choices=["python", "cpu"])
    options = parser.parse_args()
    start, failed, stacked = time.perf_counter(), 0, 0
    for seed in range(options.seed, options.seed + options.n):
        wrong, taken = check(seed, options.target)
        stacked += "stacks" in taken
        if wrong:
            failed += 1
            print(f"--- {seed}: {wrong}\n{generate(seed)[0].source}", flush=True)
    seconds = time.perf_counter() - start
    print(f"{options.n} programs, {stacked} with stacks, {failed} failed, {seconds:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
