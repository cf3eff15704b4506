"""Random programs of complex numbers, between real arguments and a real result.

    python -m tests.fuzz --kind complex --n 200

Scalars and arrays, views of their parts, writes in place and through those views, branches and
loops: what `split_complex` takes apart, and the derivatives of its formulas. So the oracles of real
functions can check them.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.lines import ARRAYS, Lines
from tests.fuzz.program import Generated, forget, load

_SCALARS = "uv"


class _Writer(Lines):
    def constant(self) -> str:
        real, imag = (f"{self.rng.uniform(0.2, 0.9):.3f}" for _ in range(2))
        return self.rng.choice(
            [real, f"{imag}j", f"({real} + {imag}j)", f"complex({real}, {imag})"]
        )

    def index(self) -> str:
        return self.rng.choice(["0", "1", "-1", "2", "n % 3"])

    def scalar(self) -> str:
        """Return a complex number."""
        forms = [
            self.rng.choice(_SCALARS), self.rng.choice(_SCALARS), f"{self.array()}[{self.index()}]",
            self.constant(), f"{self.array()}.sum()", "x[0, 1]", f"np.vdot({self.array()}, a)",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def number(self) -> str:
        a, b = self.scalar(), self.scalar()
        forms = [
            f"{a} * {b}", f"{a} + {b}", f"{a} - {self.constant()} * {b}", f"{a} / ({b} + 3.0)",
            f"np.exp(1j * np.real({a}))", f"np.conj({a}) * {b}", f"np.sin({a}) * 0.3",
            f"np.sqrt({a} * {a} + 4.0)", f"np.abs({a}) * {b}", f"{a} ** 2", f"np.tanh({a})",
            f"np.log({a} * {a} + 5.0)", f"np.arctan({a} * 0.3)", f"({a}) ** 1.5",
            f"complex(np.real({a}), np.imag({b}))",
        ]  # fmt: skip
        return f"{self.constant()} * ({self.rng.choice(forms)})"

    def whole(self) -> str:
        """Return an array of four complex numbers."""
        a, b = self.array(), self.array()
        forms = [
            f"{a} * {b}", f"{a} + {self.scalar()} * {b}[::-1]", f"{a} * x[0]", f"np.conj({a})",
            f"{a} / (np.abs({b}) + 2.0)", f"np.exp({a} * 0.3j)", f"{a}.copy()", f"m @ {a} * 0.4",
            f"np.where({b}.real > {self.rng.uniform(-0.4, 0.4):.3f}, {a}, {b} * 1j)",
            f"np.roll({a}, 1) - {b}", f"x[0] + 1j * {a}.imag", f"np.cumsum({a}) * 0.3",
            f"{a}.real * {b} * 0.5", f"np.sin({a}) * 0.5", f"np.abs({a}) * 1j + {b}",
            f"np.concatenate([{a}[2:], {b}[:2]])", f"{a}[[3, 0, 0, 1]]", f"{a} ** 2 * 0.5",
        ]  # fmt: skip
        return self.rng.choice(forms)

    def condition(self) -> str:
        part = self.rng.choice(["np.real({})", "np.imag({})", "abs({})"]).format(self.scalar())
        return f"{part} {self.rng.choice('<>')} {self.rng.uniform(-0.4, 0.9):.3f}"

    def statement(self) -> None:
        kinds = ["number", "whole", "whole", "element", "part", "slice", "swap"]
        if self.depth < 4:
            kinds += ["loop", "branch"]
        getattr(self, f"_{self.rng.choice(kinds)}")()

    def _number(self) -> None:
        self.emit(f"{self.rng.choice(_SCALARS)} = {self.number()}")

    def _element(self) -> None:
        op = self.rng.choice(["=", "+=", "*="])
        self.emit(f"{self.array()}[{self.index()}] {op} {self.number()}")

    def _part(self) -> None:
        part = self.rng.choice(["real", "imag"])
        a, b = self.array(), self.array()
        forms = [
            f"{a}.{part}[{self.index()}] += np.imag({self.number()})",
            f"{a}.{part} = {b}.imag * 0.5", f"{a}.{part}[1:] *= 0.7",
            f"{a}.{part}[:2] = {b}.real[2:]",
        ]  # fmt: skip
        self.emit(self.rng.choice(forms))

    def _slice(self) -> None:
        a, b = self.array(), self.array()
        forms = [f"{a}[1:] = {b}[:-1] * 0.5", f"{a}[::2] += {self.scalar()}", f"{a} *= {b} * 0.5"]
        self.emit(self.rng.choice(forms))

    def _swap(self) -> None:
        first, second = self.rng.sample(ARRAYS, 2)
        self.emit(f"{first}, {second} = {second}, {first}")

    def _loop(self) -> None:
        self.emit(f"for {self.fresh('k')} in range({self.rng.choice(['2', '3', 'n', '1'])}):")
        self.block(self.rng.choice([1, 2, 3]))


def generate(seed: int, size: int = 6) -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, attempt)
        try:
            with np.errstate(all="raise"):
                x, y, n = generated.make_args()
                value = float(generated.fn(x, y, n))
                # On a branch cut rounding errors decide: of numbers that should be real, too.
                near = [float(generated.fn(*_moved(x, y, seed), n)) for seed in range(8)]
        except (ArithmeticError, ValueError):
            value, near = np.inf, []
        if abs(value) < 1e4 and all(abs(other - value) < 1e-6 for other in near):
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _moved(x: Any, y: Any, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return tuple(each * (1.0 + 1e-12 * rng.uniform(-1.0, 1.0, each.shape)) for each in (x, y))


def _generate(seed: int, size: int, attempt: int) -> Generated:
    rng = random.Random(f"complex/{seed}/{size}/{attempt}")
    numbers = np.random.default_rng(rng.randrange(2**32))
    x = np.round(numbers.uniform(-1.2, 1.2, (2, 4)), 4)
    y = np.round(numbers.uniform(-1.2, 1.2, (2, 4)), 4)
    w = _Writer(rng)
    w.emit("m = np.outer(x[0] + 1j * y[1], y[0] - 1j * x[1])")
    w.emit("a, b, c = x[0] + 1j * x[1], y[0] * np.exp(1j * y[1]), np.zeros(4, complex)")
    w.emit("u, v = a[0] * 0.5, 0.3 + 0j")
    for _ in range(size):
        w.statement()
    w.emit("r = np.abs(a + b * 0.5) ** 2 + c.real * 0.3")
    w.emit("return np.sum(r) + abs(u * v) + np.real(u) - np.imag(v)")
    text = ["import numpy as np", "", "", "def program(x, y, n):", *w.lines, ""]
    source = "\n".join(text)
    fn: Any = load(source, seed)
    return Generated(source, fn, (x, y, rng.choice([1, 2, 4])), (0, 1), seed, "complex")
