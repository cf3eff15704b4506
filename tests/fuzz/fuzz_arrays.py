"""Random programs of array expressions, views and containers.

    python -m tests.fuzz --kind arrays --n 100
    python -m tests.fuzz --kind stencils --n 100

The writer knows the shape of every array, so that what it writes is valid NumPy: whole-array
expressions with broadcasting, slices with ends of every form, views of views that are written
through, assignments whose two sides overlap, masks, index arrays, reductions, products, rows as
loop variables. Places inside containers (``p["w"]``, ``o.state``, ``rows[1]``) are names like any
other to it, so everything that is done to variables is done to them as well. Programs of the kind
`stencils` are mostly neighbours: `a[1:-1] = 0.3 * (a[:-2] + a[2:])`, through views and transposes
too, differences along an axis with a limiter, and steps in time.

What cannot be excluded by construction (a value that grows, a division that fails) is excluded by
running the program: `generate` takes the first of the seed's own sequence that runs.

`check` compares the value with Python's, the gradient with finite differences along random
directions and with forward mode, all stages with each other, and the results before and after
every pass.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.fuzz.fuzz import (
    _LIBRARY,
    _MAX_TRIPS,
    Generated,
    Unreliable,
    _Array,
    _factor,
    _Function,
    _helper,
    _Int,
    _library_functions,
    _Writer,
    forget,
    load,
)
from tests.oracle import oracle

Shape = tuple[int, ...]

_LARGE = 2.5  # the magnitude that array expressions are kept below
_ROWS = 200  # elements of loops around a statement times those of its arrays

_ARRAY_LIBRARY = """
def head(a):
    return a[:-1]


def swapped(a):
    return a[::-1]


def scaled(a, factor=0.5):
    return a * factor + 0.1337


def smooth(a, rate=0.3):
    a[1:-1] += rate * (0.5 * (a[:-2] + a[2:]) - a[1:-1])
    return a


def norm(a):
    return np.sqrt(1.1 + np.sum(a * a))


def fold(a):
    a *= 0.7
    a += 0.2 * np.cos(a[::-1])


def ends(a):
    return a[0], a[-1]
"""

_CONTAINER_LIBRARY = """
class State(NamedTuple):
    pos: np.ndarray
    vel: np.ndarray
    t: float = 0.1337


@dataclass
class Body:
    mass: float
    x: np.ndarray

    def push(self, f, dt=0.1):
        self.mass = 0.6 * self.mass + 0.3 * math.tanh(f)
        self.x *= 0.9
        self.x += dt * f
        return self.mass

    def energy(self):
        return 0.5 * self.mass * float((self.x * self.x).sum())


@dataclass(frozen=True)
class Rate:
    k: float
    shift: float = 0.2337

    def __call__(self, v):
        return self.k * math.sin(v + self.shift)

    @property
    def twice(self):
        return self.k * 2.0


class Counter:
    scale = 0.4337

    def __init__(self, start, table):
        self.total = start
        self.table = table
        self.calls = 0

    def add(self, v):
        self.calls += 1
        self.total = 0.7 * self.total + self.scale * math.tanh(v)
        self.table[self.calls % len(self.table)] += 0.1 * v
        return self

    def value(self):
        return self.total + 0.1 * self.calls


def advance(state, dt):
    pos = state.pos + dt * state.vel
    return State(pos, state.vel * 0.9 - dt * np.sin(pos), state.t + dt)


def unpacked(first, *rest, scale=0.3):
    s = first
    for r in rest:
        s = 0.5 * s + scale * r
    return s


def relax(p, rate=0.3):
    p["u"] = 0.6 * p["u"] + rate * math.tanh(p["u"])
    p["w"][0] = 0.5 * p["w"][0] + 0.3 * p["u"]
"""

_IMPORTS = """\
from dataclasses import dataclass
from typing import NamedTuple

"""


class _ArrayWriter(_Writer):
    """Writes statements about whole arrays, views and containers, and those about elements."""

    def __init__(
        self,
        rng: random.Random,
        names: Iterator[int],
        single: bool,
        *,
        scalars: float,
        arrays: float,
        containers: float,
        stencils: float = 0.0,
    ) -> None:
        super().__init__(rng, names, single)
        self.shares = (scalars, arrays, containers)
        self.stencils = stencils

    # -- shapes and indices --

    def new_shape(self) -> Shape:
        if self.stencils:
            return self.rng.choice([(4,), (5,), (6,), (3, 4), (4, 4), (5, 3), (1, 5), (3, 4, 3)])
        return self.rng.choice(
            [(3,), (4,), (5,), (4,), (3, 4), (4, 3), (3, 3), (2, 4), (5, 2), (2, 3, 2), (1, 3)]
        )

    def floats(self, shape: Shape | None = None, ndim: int = 0) -> list[_Array]:
        return [
            a
            for a in self.scope.arrays
            if a.dtype in ("f8", "f4")
            and (shape is None or a.shape == shape)
            and ndim in (0, len(a.shape))
        ]

    def fits(self, shape: Shape, factor: int = 1) -> bool:
        """Whether an operation on this many elements may stand here."""
        return self.trips * math.prod(shape) * factor <= _ROWS

    def slice_of(self, n: int, m: int) -> str:
        """Return a slice that takes `m` of `n` elements."""
        rng = self.rng
        if m == n:
            return rng.choice(
                [
                    ":",
                    ":",
                    ":",
                    "::-1",
                    f"-{n}:",
                    f"0:{n}",
                    f":{n + 2}",
                    f"-{n + 3}:",
                    f"{n - 1}::-1",
                ]
            )
        if m == 0:
            return rng.choice([f"{n}:", ":0", f"{n - 1}:1", "2:2", f"1:{n}:-1"])
        options: list[str] = []
        for i in self.scope.ints:
            if 0 <= i.low and i.high + m <= n:
                options += [f"{i.name}:{i.name} + {m}", f"{i.name}:{m} + {i.name}"]
            if m == 1 and i.low >= 1 and i.high <= n:
                options += [f"{i.name} - 1:{i.name}"]
            if i.low >= m - 1 and i.high <= n - 1 and i.low - m >= 0:
                options += [f"{i.name}:{i.name} - {m}:-1"]
        if options and self.chance(0.5):
            return rng.choice(options)
        steps = [s for s in (1, 1, 1, 2, 3, -1, -2) if (m - 1) * abs(s) < n]
        step = rng.choice(steps)
        first = rng.randint(0, n - 1 - (m - 1) * abs(step))
        last = first + (m - 1) * abs(step)
        if step < 0:
            first, last = last, first
        stop = last + (1 if step > 0 else -1)
        start_text = rng.choice([str(first), str(first - n)])
        if step > 0:
            if first == 0 and self.chance(0.6):
                start_text = ""
            stop_text = rng.choice([str(stop), str(stop - n) if stop < n else str(stop)])
            if stop + step > n and self.chance(0.6):
                stop_text = "" if stop >= n or step > 1 else stop_text
                if stop < n and stop_text == "" and len(range(first, n, step)) != m:
                    stop_text = str(stop)
        else:
            if first == n - 1 and self.chance(0.6):
                start_text = ""
            stop_text = str(stop) if stop >= 0 else ""
            if stop >= 0 and self.chance(0.3):
                stop_text = str(stop - n)
        return f"{start_text}:{stop_text}" + (f":{step}" if step != 1 else "")

    def place(self, n: int) -> str:
        """Return an index of one element of an axis."""
        return self.index(_Array("", (n,)), 0) if n > 0 else "0"

    def index(self, a: _Array, axis: int) -> str:
        if a.name:
            return super().index(a, axis)
        n = a.shape[axis]
        options = [i.name for i in self.scope.ints if -n <= i.low and i.high < n]
        if options and self.chance(0.6):
            return self.rng.choice(options)
        return str(self.rng.randint(-n, n - 1))

    def cut(self, a: _Array, shape: Shape) -> str | None:
        """Return a basic index of `a` that has this shape, or None."""
        rank, wanted = len(a.shape), [n for n in shape]
        new_axes: list[int] = []
        # Axes of size one may come from `None`.
        while len(wanted) - len(new_axes) > rank or (
            1 in shape and self.chance(0.5) and len(new_axes) < shape.count(1)
        ):
            options = [k for k, n in enumerate(shape) if n == 1 and k not in new_axes]
            if not options:
                return None
            new_axes.append(self.rng.choice(options))
        kept = [k for k in range(len(shape)) if k not in new_axes]
        if len(kept) > rank:
            return None
        choices = [
            axes
            for axes in itertools.combinations(range(rank), len(kept))
            if all(a.shape[i] >= shape[k] for i, k in zip(axes, kept, strict=True))
        ]
        if not choices:
            return None
        axes = self.rng.choice(choices)
        parts: list[str] = []
        at = 0
        for i, n in enumerate(a.shape):
            if i in axes:
                while at in new_axes:
                    parts.append(self.rng.choice(["None", "np.newaxis"]))
                    at += 1
                parts.append(self.slice_of(n, shape[at]))
                at += 1
            else:
                parts.append(self.place(n))
        while at < len(shape):
            parts.append(self.rng.choice(["None", "np.newaxis"]))
            at += 1
        if self.chance(0.5):
            while len(parts) > 1 and parts[-1] == ":":
                parts.pop()
        if len(parts) > 1 and parts[0] == ":" and self.chance(0.4):
            spare = list(itertools.takewhile(lambda p: p == ":", parts))
            parts[: len(spare)] = ["..."]
        elif len(parts) == rank and self.chance(0.05):
            parts.append("...")
        if all(p == ":" for p in parts) and self.chance(0.7):
            parts = ["..."] if self.chance(0.3) else parts
        return f"{a.name}[{', '.join(parts)}]"

    def window(self, shape: Shape, of: list[_Array] | None = None) -> tuple[str, _Array] | None:
        """Return a view of some array with this shape, and the array."""
        pool = list(self.floats() if of is None else of)
        self.rng.shuffle(pool)
        for a in pool:
            if a.shape == shape and self.chance(0.45):
                return a.name, a
            if len(shape) == 2 and self.chance(0.35):
                text = self.cut(a, shape[::-1])
                if text is not None:
                    return f"{text}.T", a
            if len(shape) == 1 and len(a.shape) == 2 and self.chance(0.2):
                offset = self.rng.choice([0, 0, 1, -1])
                n, m = a.shape
                size = min(n + min(offset, 0), m - max(offset, 0))
                if size == shape[0]:
                    given = "" if offset == 0 else str(offset)
                    return f"{a.name}.diagonal({given})", replace(a, local=False, dtype="ro")
            text = self.cut(a, shape)
            if text is not None:
                return text, a
        return None

    # -- expressions of arrays --

    def scalar(self, depth: int) -> str:
        text, bound = self.bounded(depth)
        return text if bound <= _LARGE else f"math.tanh({text})"

    def fresh(self, shape: Shape) -> tuple[str, float]:
        dims = str(shape[0]) if len(shape) == 1 and self.chance(0.5) else str(shape)
        options = [
            (f"np.full({dims}, {self.scalar(0)})", _LARGE),
            (f"np.ones({dims})", 1.0),
            (f"{self.const(0.1, 0.4)} * np.arange({math.prod(shape)}.0).reshape({shape})", _LARGE),
            (f"(np.zeros({dims}) + {self.scalar(1)})", _LARGE),
        ]
        if len(shape) == 1:
            items = ", ".join(self.scalar(0) for _ in range(shape[0]))
            options += [
                (f"np.linspace({self.scalar(0)}, {self.const()}, {shape[0]})", _LARGE),
                (f"np.array([{items}])", _LARGE),
                (f"np.array([{items}])", _LARGE),
                (f"np.arange({shape[0]}) * {self.const(0.1, 0.4)}", _LARGE),
            ]
        if len(shape) == 2:
            rows = [
                f"[{', '.join(self.scalar(0) for _ in range(shape[1]))}]" for _ in range(shape[0])
            ]
            options += [
                (f"np.array([{', '.join(rows)}])", _LARGE),
                (f"{self.scalar(0)} * np.eye({shape[0]}, {shape[1]})", _LARGE),
            ]
            if shape[0] == shape[1]:
                options.append((f"np.diag({self.arr(shape[:1], 0)[0]})", _LARGE))
        return self.rng.choice(options)

    def leaf_array(self, shape: Shape) -> tuple[str, float]:
        found = self.window(shape) if self.chance(0.88) else None
        if found is None:
            return self.fresh(shape)
        text, a = found
        if a.dtype == "f4":
            text = self.rng.choice([f"{text}.astype(np.float64)", f"({text} + np.zeros({shape}))"])
        return text, 1.5

    def operand(self, shape: Shape, depth: int) -> tuple[str, float]:
        """Return something that broadcasts to this shape."""
        kind = self.rng.random()
        if kind < 0.5 or not shape:
            return self.arr(shape, depth)
        if kind < 0.7:
            return self.scalar(min(depth, 1)), _LARGE
        if kind < 0.85 and len(shape) > 1:
            return self.arr(shape[1:], depth)
        axis = self.rng.randrange(len(shape))
        if self.chance(0.25):
            # A slice that surely has one element.
            n, part = self.rng.choice([(3, ":1"), (3, "-1:"), (4, "2:3"), (2, "-2:-1")])
            text, bound = self.arr((*shape[:axis], n, *shape[axis + 1 :]), depth - 1)
            return f"({text})[{', '.join([*[':'] * axis, part])}]", bound
        if self.chance(0.5):
            inner = shape[:axis] + shape[axis + 1 :]
            if inner:
                text, bound = self.arr(inner, depth)
                at = [":"] * len(inner)
                at.insert(axis, self.rng.choice(["None", "np.newaxis"]))
                return f"({text})[{', '.join(at)}]", bound
        n = self.rng.randint(2, 3)
        text, bound = self.arr((*shape[:axis], n, *shape[axis + 1 :]), depth - 1)
        how, factor = self.rng.choice([("sum", n), ("mean", 1), ("max", 1), ("min", 1)])
        return f"({text}).{how}(axis={axis}, keepdims=True)", bound * factor

    def arr(self, shape: Shape, depth: int) -> tuple[str, float]:
        """Return an expression of float64 with exactly this shape, and a bound of its elements."""
        if not shape:
            return self.scalar(min(depth, 1)), _LARGE
        text, bound = self._arr(shape, depth)
        if bound > _LARGE:
            wave = self.rng.choice(["np.sin({})", "np.tanh({})", "np.arctan({})"])
            return wave.format(text), 1.6
        return text, bound

    def _arr(self, shape: Shape, depth: int) -> tuple[str, float]:
        rng = self.rng
        if depth <= 0 or self.chance(0.12) or not self.fits(shape, 3) or 0 in shape:
            return self.leaf_array(shape)
        kind = rng.random()
        a, p = self.arr(shape, depth - 1)
        if kind < 0.4:
            b, q = self.operand(shape, depth - 1)
            left, right = (a, b) if self.chance(0.7) else (b, a)
            return rng.choice(
                [
                    (f"({left} + {right})", p + q),
                    (f"({left} - {right})", p + q),
                    (f"{_factor(left)} * {_factor(right)}", p * q),
                    (f"{_factor(left)} * {_factor(right)}", p * q),
                    (f"({a}) / (1.3 + {_factor(b)} * {_factor(b)})", p),
                    (f"np.multiply({left}, {right})", p * q),
                    (f"np.where({self.mask(shape, depth - 1)}, {left}, {right})", max(p, q)),
                    (f"np.hypot({a}, 0.7 + {_factor(b)} ** 2)", p + 0.7 + q * q),
                    (f"np.arctan2({a}, 1.2 + {_factor(b)} ** 2)", 1.6),
                    (f"np.maximum({left}, {right} + 0.0371)", max(p, q) + 0.1),
                    (f"np.minimum({left}, {right} - 0.0713)", max(p, q) + 0.1),
                ]
            )
        if kind < 0.62:
            c = self.const()
            return rng.choice(
                [
                    (f"np.sin({a})", 1.0),
                    (f"np.cos({a})", 1.0),
                    (f"np.tanh({a})", 1.0),
                    (f"np.exp(0.4 * np.tanh({a}))", 1.5),
                    (f"np.sqrt(1.1 + np.square({a}))", 1.1 + p),
                    (f"np.log1p(({a}) ** 2)", p * p),
                    (f"({a}) ** 2", p * p),
                    (f"(-{_factor(a)})", p),
                    (f"np.abs({a} - {c})", p + 1.6),
                    (f"np.clip({a}, -{c}, {self.const()})", 1.6),
                    (f"({a}).clip(-{c}, None)", max(p, 1.6)),
                    (f"np.sign({a} - {c}) * {_factor(self.scalar(0))}", _LARGE),
                    (f"np.maximum({a}, -{c})", max(p, 1.6)),
                    (f"({a} > {c}) * {_factor(self.scalar(0))}", _LARGE),
                    (f"({a}).copy()", p),
                ]
            )
        if kind < 0.74:
            return self.reduced(shape, depth)
        if kind < 0.92:
            return self.arranged(shape, depth)
        return self.product(shape, depth)

    def reduced(self, shape: Shape, depth: int) -> tuple[str, float]:
        rng = self.rng
        n = rng.randint(2, 4)
        axis = rng.randint(0, len(shape))
        if len(shape) == 3:
            return self.leaf_array(shape)
        wide = (*shape[:axis], n, *shape[axis:])
        a, p = self.arr(wide, depth - 1)
        axis_text = rng.choice([str(axis), str(axis - len(wide))])
        at, given = f"axis={axis_text}", rng.choice([f"axis={axis_text}", axis_text])
        return rng.choice(
            [
                (f"({a}).sum({at})", n * p),
                (f"np.sum({a}, {given})", n * p),
                (f"({a}).mean({given})", p),
                (f"np.mean({a}, {at})", p),
                (f"({a}).max({at})", p),
                (f"np.min({a}, {at})", p),
                (f"np.prod(np.cos({a}), {at})", 1.0),
                (f"np.var({a}, {at})", p * p),
                (f"np.cumsum({a}, {at})" + self.taken(wide, axis), n * p),
                (f"np.add.reduce({a}, {at})", n * p),
                (f"np.any({a} > {self.const()}, {at}) * {_factor(self.scalar(0))}", _LARGE),
                (f"np.take({a}, {rng.randrange(n)}, {at})", p),
            ]
        )

    def taken(self, shape: Shape, axis: int) -> str:
        parts = [":"] * len(shape)
        parts[axis] = str(self.rng.randint(-shape[axis], shape[axis] - 1))
        return f"[{', '.join(parts)}]"

    def arranged(self, shape: Shape, depth: int) -> tuple[str, float]:
        """Return an expression that moves elements."""
        rng = self.rng
        axis = rng.randrange(len(shape))
        n = shape[axis]
        options: list[Callable[[], tuple[str, float]]] = []

        def other(k: int, size: int) -> Shape:
            return (*shape[:k], size, *shape[k + 1 :])

        def rolled() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            return f"np.roll({a}, {rng.randint(-2, 3)}, axis={axis})", p

        def flipped() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            return rng.choice(
                [(f"np.flip({a}, {axis})", p), (f"({a})[::-1]", p), (f"np.flip({a})", p)]
            )

        def transposed() -> tuple[str, float]:
            order = list(range(len(shape)))
            rng.shuffle(order)
            inner = tuple(shape[order.index(k)] for k in range(len(shape)))
            a, p = self.arr(inner, depth - 1)
            if order == list(range(len(shape)))[::-1] and self.chance(0.7):
                return f"({a}).T", p
            return f"np.transpose({a}, {tuple(order)})", p

        def joined() -> tuple[str, float]:
            if n < 2:
                return self.leaf_array(shape)
            cut = rng.randint(1, n - 1)
            a, p = self.arr(other(axis, cut), depth - 1)
            b, q = self.arr(other(axis, n - cut), depth - 1)
            if len(shape) == 1 and self.chance(0.4):
                return f"np.hstack(({a}, {b}))", max(p, q)
            return f"np.concatenate([{a}, {b}], axis={axis})", max(p, q)

        def stacked() -> tuple[str, float]:
            if len(shape) == 1:
                return self.fresh(shape)
            parts = [self.arr(shape[:axis] + shape[axis + 1 :], depth - 1) for _ in range(n)]
            inner = ", ".join(text for text, _ in parts)
            return f"np.stack([{inner}], axis={axis})", max(p for _, p in parts)

        def padded() -> tuple[str, float]:
            before = rng.randint(0, min(n - 1, 2))
            after = rng.randint(0, n - 1 - before)
            a, p = self.arr(other(axis, n - before - after), depth - 1)
            width = [(0, 0)] * len(shape)
            width[axis] = (before, after)
            text = str(width[0] if len(shape) == 1 else tuple(width))
            mode = rng.choice(["", "", ', mode="edge"', f", constant_values={self.scalar(0)}"])
            return f"np.pad({a}, {text}{mode})", max(p, _LARGE)

        def differences() -> tuple[str, float]:
            a, p = self.arr(other(axis, n + 1), depth - 1)
            if len(shape) == 1 and self.chance(0.4):
                b = self.name("w")
                return f"(({b} := {a})[1:] - {b}[:-1])", 2 * p
            return f"np.diff({a}, axis={axis})", 2 * p

        def cumulative() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            return f"np.cumsum({a}, axis={axis})", n * p

        def reshaped() -> tuple[str, float]:
            size = math.prod(shape)
            inner = rng.choice([(size,), shape[::-1], (1, size), (size, 1)])
            a, p = self.arr(inner, depth - 1)
            text = rng.choice([f"{shape}", f"{(*shape[:-1], -1)}"])
            return f"({a}).reshape({text})", p

        def gathered() -> tuple[str, float]:
            size = rng.randint(2, 5)
            a, p = self.arr(other(axis, size), depth - 1)
            chosen = [rng.randint(-size, size - 1) for _ in range(n)]
            tables = [t for t in self.scope.arrays if t.dtype == "i8" and t.shape == (n,)]
            text = str(chosen) if self.chance(0.5) else f"np.array({chosen})"
            if tables and size >= 3 and self.chance(0.6):
                text = rng.choice(tables).name
            parts = [":"] * axis + [text] + [":"] * (len(shape) - axis - 1)
            return f"({a})[{', '.join(parts)}]", p

        def chosen_by_mask() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            b, q = self.operand(shape, depth - 1)
            m = self.mask(shape, depth - 1)
            return f"np.where({m}, {a}, {b})", max(p, q)

        def repeated() -> tuple[str, float]:
            if n % 2:
                return self.leaf_array(shape)
            a, p = self.arr(other(axis, n // 2), depth - 1)
            if len(shape) == 1 and self.chance(0.4):
                return f"np.tile({a}, 2)", p
            return f"np.repeat({a}, 2, axis={axis})", p

        def spread() -> tuple[str, float]:
            inner = shape[:axis] + shape[axis + 1 :]
            a, p = self.arr(inner, depth - 1)
            if not inner:
                return f"np.broadcast_to({a}, {shape})", p
            at = [":"] * len(inner)
            at.insert(axis, "None")
            return f"np.broadcast_to(({a})[{', '.join(at)}], {shape})", p

        def comprehended() -> tuple[str, float]:
            if len(shape) != 1:
                return self.leaf_array(shape)
            v = self.name("v")
            a, _ = self.arr(shape, depth - 1)
            self.scope.fixed.append(v)
            text = self.scalar(1)
            self.scope.fixed.remove(v)
            return f"np.array([{text} + 0.1 * {v} for {v} in {nameless(a)}])", _LARGE

        def called() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            return rng.choice(
                [
                    (f"scaled({a})", p + 0.2),
                    (f"scaled({a}, factor={self.scalar(0)})", p * _LARGE + 0.2),
                    (f"swapped({a})", p),
                    (f"smooth(({a}).copy())", 2 * p),
                ]
            )

        options = [
            rolled, flipped, transposed, joined, stacked, padded, differences, cumulative,
            reshaped, gathered, gathered, chosen_by_mask, repeated, spread, comprehended, called,
        ]  # fmt: skip
        if len(shape) == 2:

            def triangle() -> tuple[str, float]:
                a, p = self.arr(shape, depth - 1)
                return f"np.tri{rng.choice('lu')}({a}, {rng.randint(-1, 1)})", p

            options.append(triangle)
        return rng.choice(options)()

    def product(self, shape: Shape, depth: int) -> tuple[str, float]:
        rng = self.rng
        k = rng.randint(2, 4)
        if len(shape) == 1:
            n = shape[0]
            a, p = self.arr((n, k), depth - 1)
            v, q = self.arr((k,), depth - 1)
            b, r = self.arr((k, n), depth - 1)
            return rng.choice(
                [
                    (f"({a}) @ ({v})", k * p * q),
                    (f"({v}) @ ({b})", k * r * q),
                    (f"np.dot({a}, {v})", k * p * q),
                    (f"np.einsum('ij,j->i', {a}, {v})", k * p * q),
                    (f"np.einsum('ij,ji->i', {a}, {b})", k * p * r),
                ]
            )
        if len(shape) == 2:
            n, m = shape
            a, p = self.arr((n, k), depth - 1)
            b, q = self.arr((k, m), depth - 1)
            u, r = self.arr((n,), depth - 1)
            v, s = self.arr((m,), depth - 1)
            return rng.choice(
                [
                    (f"({a}) @ ({b})", k * p * q),
                    (f"np.outer({u}, {v})", r * s),
                    (f"np.matmul({a}, {b})", k * p * q),
                    (f"np.einsum('ik,kj->ij', {a}, {b})", k * p * q),
                    (f"np.einsum('i,j', {u}, {v})", r * s),
                    (f"np.add.outer({u}, {v})", r + s),
                    (f"np.tensordot({a}, {b}, axes=1)", k * p * q),
                ]
            )
        return self.leaf_array(shape)

    def mask(self, shape: Shape, depth: int) -> str:
        """Return an expression of booleans of this shape, none of them close to a change."""
        kind = self.rng.random()
        if depth > 0 and kind < 0.25:
            a, b = self.mask(shape, depth - 1), self.mask(shape, 0)
            return self.rng.choice(
                [f"({a} & {b})", f"({a} | {b})", f"(~{a})", f"np.logical_or({a}, {b})",
                 f"np.logical_not({a})", f"({a} ^ {b})"]
            )  # fmt: skip
        kept = [m for m in self.scope.arrays if m.dtype == "b1" and m.shape == shape]
        if kept and kind < 0.5:
            return self.rng.choice(kept).name
        text, _ = self.arr(shape, min(depth, 1))
        sign = self.rng.choice(["", "-"])
        return f"({text} {self.rng.choice(['>', '<', '>=', '<='])} {sign}{self.const(0.05, 0.8)})"

    # -- numbers --

    def pick_array(self, dtypes: str = "f8 f4", ndim: int = 0) -> _Array | None:
        return super().pick_array(dtypes, ndim)

    def bounded(self, depth: int) -> tuple[str, float]:
        if depth > 0 and self.chance(0.3):
            return self.of_arrays(depth - 1)
        return super().bounded(depth)

    def of_arrays(self, depth: int) -> tuple[str, float]:
        """Return a number computed from arrays."""
        rng = self.rng
        shape = rng.choice([a.shape for a in self.floats()] or [(3,)])
        if not self.fits(shape, 2):
            return self.leaf(), 1.5
        n = math.prod(shape)
        a, p = self.arr(shape, depth)
        kind = rng.randrange(6)
        if kind == 0:
            b, q = self.arr(shape, depth)
            options = [
                (f"np.sum({_factor(a)} * {_factor(b)})", n * p * q),
                (f"np.vdot({a}, {b})", n * p * q),
            ]
            if len(shape) == 1:
                options += [
                    (f"np.dot({a}, {b})", n * p * q),
                    (f"({a}) @ ({b})", n * p * q),
                    (f"np.einsum('i,i->', {a}, {b})", n * p * q),
                    (f"np.inner({a}, {b})", n * p * q),
                ]
            if len(shape) == 2:
                options += [(f"np.einsum('ij,ij->', {a}, {b})", n * p * q)]
            return rng.choice(options)
        if kind == 1:
            m = self.mask(shape, depth)
            return rng.choice(
                [
                    (f"({a})[{m}].sum()", n * p),
                    (f"np.sum(np.where({m}, {a}, {self.scalar(0)}))", n * max(p, _LARGE)),
                    (f"np.count_nonzero({m}) * {_factor(self.scalar(0))}", n * _LARGE),
                    (f"np.mean({a} * {m})", p),
                ]
            )
        if kind == 2 and len(shape) == 1:
            v, a = self.name("v"), nameless(a)
            self.scope.fixed.append(v)
            text = self.scalar(1)
            self.scope.fixed.remove(v)
            return rng.choice(
                [
                    (f"sum({text} * {v} for {v} in {a})", n * _LARGE * p),
                    (f"sum([{text} for {v} in {a}])", n * _LARGE),
                    (f"sum({a})", n * p),
                    (f"max({a})", p),
                    (f"min({v} * {v} for {v} in {a})", p * p),
                    (
                        f"float(any({v} > {self.const()} for {v} in {a})) * {_factor(self.leaf())}",
                        1.5,
                    ),
                ]
            )
        if kind == 3 and len(shape) == 2:
            return rng.choice(
                [(f"np.trace({a})", 3 * p), (f"({a}).trace(offset=1)", 3 * p),
                 (f"({a}).sum(axis=0).max()", n * p)]
            )  # fmt: skip
        return rng.choice(
            [
                (f"({a}).sum()", n * p),
                (f"np.sum({a})", n * p),
                (f"({a}).mean()", p),
                (f"np.max({a})", p),
                (f"({a}).min()", p),
                (f"np.prod(np.cos({a}))", 1.0),
                (f"norm({a})", n * p),
                (f"np.var({a})", p * p),
                (f"np.linalg.norm(1.1 + np.abs({a}))", n * p),
                (f"({a}).ravel()[{rng.randint(-n, n - 1)}]", p),
                (f"({a}).reshape(-1)[::2].sum()", n * p),
                (f"float(({a}).sum())", n * p),
            ]
        )

    # -- statements --

    def options(self) -> list[tuple[float, Callable[[], None]]]:
        scalars, arrays, containers = self.shares
        weighted: list[tuple[float, Callable[[], None]]] = [
            (0.6, self.assign_float), (0.5, self.augment_float), (0.6, self.assign_int),
            (0.5, self.store), (0.4, self.augment_element),
        ]  # fmt: skip
        deep = self.nesting >= 3
        if scalars:
            more: list[tuple[float, Callable[[], None]]] = [
                (0.2, self.assign_bool), (0.3, self.swap_elements), (0.3, self.alias),
                (0.4, self.swap_arrays), (0.3, self.rebind_array), (0.3, self.unpack),
                (0.3, self.call_statement), (0.3, self.local_function), (0.1, self.assertion),
            ]  # fmt: skip
            weighted += [(w * scalars, f) for w, f in more]
        more = [
            (2.0, self.new_from_expression), (1.6, self.bind_view), (3.0, self.store_slice),
            (2.4, self.augment_slice), (1.2, self.fancy_store), (0.9, self.masked_store),
            (0.8, self.in_place_call), (0.5, self.keep_mask), (0.4, self.keep_table),
            (0.8, self.rebind_expression), (0.6, self.ragged), (0.4, self.call_helper),
            (0.4, self.unpack_array), (0.3, self.swap_rows), (0.2, self.match_statement),
            (0.3, self.walrus), (0.2, self.delete), (0.25, self.moving_view),
        ]  # fmt: skip
        weighted += [(w * arrays, f) for w, f in more]
        if not deep:
            weighted += [(0.9, self.branch), (0.9, self.for_loop), (0.35, self.while_loop)]
            weighted += [(1.2 * arrays, self.row_loop), (0.3 * scalars, self.ping_pong)]
        if containers:
            more = [
                (0.8, self.new_list), (0.8, self.new_dict), (0.7, self.new_named_tuple),
                (0.8, self.new_object), (0.6, self.grow_list), (0.6, self.list_of_arrays),
                (0.6, self.grow_arrays),
                (0.6, self.container_step), (0.4, self.star), (0.3, self.new_rate),
            ]  # fmt: skip
            weighted += [(w * containers, f) for w, f in more]
        if self.stencils:
            more = [
                (5.0, self.stencil), (2.0, self.fluxes), (1.0, self.bind_view),
                (1.0, self.store_slice), (1.0, self.augment_slice),
            ]  # fmt: skip
            weighted += [(w * self.stencils, f) for w, f in more]
            if not deep:
                weighted += [(2.0 * self.stencils, self.sweeps)]
        if self.loops:
            weighted += [(0.5, self.leave_loop)]
        if self.returns and self.nesting:
            weighted += [(0.1, self.early_return)]
        if self.single:
            weighted += [(0.3, self.assign_single), (0.5, self.new_single)]
        return weighted

    def statement(self) -> None:
        self.budget -= 1
        options = self.options()
        self.rng.choices([f for _, f in options], [w for w, _ in options])[0]()

    def damped(self, old: str, shape: Shape, depth: int) -> str:
        """Return a value to store over `old`, which must not grow if this is a loop."""
        text, _ = self.arr(shape, depth)
        if not self.loops:
            return text
        return f"0.6 * {old} + 0.3 * np.tanh({text})"

    def declare(
        self, shape: Shape, dtype: str = "f8", *, thing: int | None = None, **more: Any
    ) -> _Array:
        a = _Array(self.name("t"), shape, dtype, **more)
        a.thing = next(self.names) if thing is None else thing
        self.scope.arrays.append(a)
        return a

    def some_shape(self) -> Shape:
        known = [a.shape for a in self.floats()]
        shape = self.rng.choice(known) if known and self.chance(0.6) else self.new_shape()
        return shape if self.fits(shape, 2) else (3,)

    def new_from_expression(self) -> None:
        shape = self.some_shape()
        text, _ = self._arr_new(shape)
        a = self.declare(shape)
        self.emit(f"{a.name} = {text}")

    def _arr_new(self, shape: Shape) -> tuple[str, float]:
        """Return an expression that surely makes an array: views would be aliases."""
        text, bound = self.arr(shape, 2)
        plain = text.startswith(("np.sin(", "np.tanh(", "np.arctan(", "np.cos(", "np.stack("))
        if plain and text.endswith(")"):
            return text, bound
        return self.rng.choice([f"({text}) * 1.0", f"({text}) + 0.0", f"({text}).copy()"]), bound

    def new_single(self) -> None:
        shape = self.rng.choice([(3,), (4,), (3, 2)])
        text, _ = self.arr(shape, 1)
        kind = self.rng.choice(
            [f"({text}).astype(np.float32)", f"np.array({text}, dtype=np.float32)",
             f"np.float32({self.const()}) * ({text}).astype(np.float32)"]
        )  # fmt: skip
        a = self.declare(shape, "f4")
        self.emit(f"{a.name} = {kind}")

    def bind_view(self) -> None:
        base = self.pick_array()
        if base is None:
            return
        name = self.name("y")
        kind = self.rng.random()
        text: str | None = None
        whole = False
        shape = base.shape
        if kind < 0.12 and len(shape) > 1:
            shape, text = shape[::-1], f"{base.name}.T"
        elif kind < 0.2 and base.whole:
            shape = (math.prod(shape),)
            text = f"{base.name}.{self.rng.choice(['ravel()', 'reshape(-1)'])}"
            whole = True
        elif kind < 0.27 and base.whole:
            size = math.prod(shape)
            shape = self.rng.choice(
                [s for k in (1, 2, 3) if size % k == 0 for s in [(k, size // k)]]
            )
            text = f"{base.name}.reshape({shape})"
            whole = True
        elif kind < 0.34:
            axis = self.rng.randrange(len(shape))
            text = f"np.flip({base.name}, {axis})"
        elif kind < 0.4 and len(shape) > 1:
            text = f"np.swapaxes({base.name}, 0, 1)"
            shape = (shape[1], shape[0], *shape[2:])
        elif kind < 0.45 and len(shape) == 1 and shape[0] > 2:
            text, shape = f"head({base.name})", (shape[0] - 1,)
        elif kind < 0.5:
            text = f"swapped({base.name})"
        else:
            rank = self.rng.choice([len(shape), len(shape), max(1, len(shape) - 1), len(shape) + 1])
            if rank > 3:
                rank = 3
            sizes = [self.rng.randint(1, n) for n in shape]
            wanted = list(shape)
            for k in range(len(shape)):
                if self.chance(0.5):
                    wanted[k] = max(sizes[k], 1)
            while len(wanted) > rank:
                del wanted[self.rng.randrange(len(wanted))]
            if len(wanted) < rank:
                wanted.insert(self.rng.randint(0, len(wanted)), 1)
            shape = tuple(wanted)
            text = self.cut(base, shape)
        if text is None:
            return
        self.emit(f"{name} = {text}")
        self.scope.arrays.append(
            _Array(name, shape, base.dtype, base.local, thing=base.thing, whole=whole)
        )

    def target(self, base: _Array | None = None) -> tuple[str, Shape] | None:
        """Return a part of an array to assign to, and its shape."""
        base = self.pick_array() if base is None else base
        if base is None:
            return None
        shape = list(base.shape)
        for k, n in enumerate(shape):
            if self.chance(0.5):
                shape[k] = self.rng.randint(0 if self.chance(0.1) else 1, n)
        if len(shape) > 1 and self.chance(0.35):
            del shape[self.rng.randrange(len(shape))]
        wanted = tuple(shape)
        text = self.cut(base, wanted)
        if text is None or not self.fits(wanted, 2):
            return None
        if len(wanted) > 1 and self.chance(0.15):
            text, wanted = f"{text}.T[...]", wanted[::-1]
        return text, wanted

    def store_slice(self) -> None:
        base = self.pick_array()
        found = self.target(base)
        if found is None or base is None:
            return
        text, shape = found
        kind = self.rng.random()
        if kind < 0.35:
            # Both sides from the same memory, most often overlapping.
            same = [a for a in self.floats() if a.thing == base.thing]
            first, second = self.window(shape, same), self.window(shape, same)
            if first is not None and second is not None:
                a, b = first[0], second[0]
                value = self.rng.choice(
                    [a, f"{a} * {b}", f"0.5 * ({a} + {b})", f"np.sin({a}) + 0.1 * {b}",
                     f"{a} * {self.scalar(0)}", f"np.where({b} > {self.const()}, {a}, {b})"]
                )  # fmt: skip
                if self.loops:
                    value = f"0.8 * np.tanh({value})"
                self.emit(f"{text} = {value}")
                return
        if kind < 0.5:
            self.emit(f"{text} = {self.update_value(1)}")
        elif kind < 0.6 and shape:
            source, _ = self.operand(shape, 1)
            self.emit(f"{text} = np.tanh({source})")
        else:
            self.emit(f"{text} = {self.damped(text, shape, 2)}")

    # -- stencils: neighbours of one array, or of arrays of one shape --

    def margins(self, shape: Shape) -> list[tuple[int, int]] | None:
        """Return how many elements are left out at both ends of every axis, or None."""
        found = [
            self.rng.choice([(0, 0), (1, 1), (1, 1), (1, 0), (0, 1)]) if n > 2 else (0, 0)
            for n in shape
        ]
        return found if any(map(any, found)) else None

    def neighbour(self, a: _Array, margins: list[tuple[int, int]], centre: bool = False) -> str:
        """Return what stands within the margins of an array, moved by at most as much."""
        parts: list[str] = []
        for n, (low, high) in zip(a.shape, margins, strict=True):
            shift = 0 if centre else self.rng.randint(-low, high)
            start, stop = low + shift, high - shift
            parts.append(f"{start or ''}:{n - stop if stop and self.chance(0.2) else -stop or ''}")
        while len(parts) > 1 and parts[-1] == ":" and self.chance(0.5):
            parts.pop()
        return f"{a.name}[{', '.join(parts)}]"

    def stencil(self) -> None:
        """Write a part of an array from neighbours: `a[1:-1] = 0.3 * (a[:-2] + a[2:])`."""
        a = self.pick_array()
        margins = None if a is None else self.margins(a.shape)
        if a is None or margins is None or not self.fits(a.shape, 4):
            return
        here = self.neighbour(a, margins, centre=True)
        alike = [b for b in self.floats(a.shape) if b.dtype == a.dtype]
        memory = [b for b in alike if b.thing == a.thing]

        def near() -> str:
            return self.neighbour(self.rng.choice(memory if self.chance(0.6) else alike), margins)

        p, q, r = near(), near(), near()
        c = self.const(0.1, 0.4)
        self.emit(
            self.rng.choice(
                [
                    f"{here} = {c} * ({p} + {q})",
                    f"{here} = {c} * ({p} + {q}) + 0.2 * {r}",
                    f"{here} = {p}",
                    f"{here} = np.tanh({p} * {q}) + 0.5 * {r}",
                    f"{here} = np.where({p} * {q} > {self.const()}, 0.5 * {p}, {r})",
                    f"{here} = np.maximum({p}, 0.7 * {q}) * {self.const(0.5, 0.9)}",
                    f"{here} += {c} * ({p} - {here})",
                    f"{here} += {c} * ({p} - 2.0 * {here} + {q})",
                    f"{here} -= {c} * np.sin({p} * {q})",
                    f"{here} *= np.cos({p})",
                ]
            )
        )

    def fluxes(self) -> None:
        """Write differences along an axis, limited or not, and what flows in and out of cells."""
        a = self.pick_array()
        if a is None or not self.fits(a.shape, 5):
            return
        axes = [k for k, n in enumerate(a.shape) if n > 2]
        if not axes:
            return
        axis = self.rng.choice(axes)

        def along(name: str, part: str) -> str:
            return f"{name}[{', '.join([':'] * axis + [part])}]"

        shape = tuple(n - (k == axis) for k, n in enumerate(a.shape))
        flux = self.declare(shape, a.dtype)
        text = f"{along(a.name, '1:')} - {along(a.name, ':-1')}"
        if self.chance(0.5):
            text = f"({text}) * {along(self.rng.choice(self.floats(a.shape)).name, '1:')}"
        self.emit(f"{flux.name} = {text}")
        if self.chance(0.4):
            cell = along(a.name, "1:")
            self.emit(
                f"{flux.name} = np.where({flux.name} * {cell} > {self.const()}, 0.0, {flux.name})"
            )
        inflow = f"{along(flux.name, '1:')} - {along(flux.name, ':-1')}"
        self.emit(f"{along(a.name, '1:-1')} += {self.const(0.1, 0.3)} * ({inflow})")

    def sweeps(self) -> None:
        """Write a loop of steps in time."""
        n = self.rng.choice([1, 2, 3, 4])
        if self.trips * n > _MAX_TRIPS:
            return
        with self.block(f"for _ in range({n}):", n):
            for _ in range(self.rng.choice([1, 2, 2, 3])):
                self.stencil()
            self.body()
        self.loop_else()

    def update_array(self, shape: Shape) -> str:
        text, _ = self.operand(shape, 1)
        return self.rng.choice(
            [
                f"+= {self.const(0.1, 0.4)} * np.sin({text})",
                f"-= {self.const(0.1, 0.4)} * np.tanh({text})",
                f"*= np.cos({text})",
                f"/= 1.1 + np.square({text})",
                f"*= {self.const(0.3, 0.9)}",
                f"+= {self.const(0.1, 0.3)}",
                "**= 2" if not self.loops else f"*= {self.const(0.3, 0.9)}",
            ]
        )

    def augment_slice(self) -> None:
        base = self.pick_array()
        if base is None:
            return
        plain = base.name.isidentifier() or base.name[-1] in "]" or "." in base.name
        if plain and not base.captured and not base.pinned and self.chance(0.3):
            if self.fits(base.shape, 2):
                self.emit(f"{base.name} {self.update_array(base.shape)}")
            return
        found = self.target(base)
        if found is None:
            return
        text, shape = found
        if text.endswith(".T[...]") and self.chance(0.5):
            text = text.removesuffix("[...]") + "[:]"
        if self.chance(0.35):
            same = [a for a in self.floats() if a.thing == base.thing]
            other = self.window(shape, same)
            if other is not None:
                op = self.rng.choice(["+= 0.3 *", "-= 0.2 *", "*= 0.2 + 0.5 *"])
                value = f"np.tanh({other[0]})" if self.loops else other[0]
                self.emit(f"{text} {op} {value}")
                return
        self.emit(f"{text} {self.update_array(shape)}")

    def index_list(self, n: int, *, distinct: bool) -> tuple[str, int]:
        """Return an index array for an axis of `n`, and its length."""
        size = self.rng.randint(1, n if distinct else n + 1)
        if distinct:
            chosen = self.rng.sample(range(n), size)
            chosen = [k - n if self.chance(0.3) else k for k in chosen]
        else:
            chosen = [self.rng.randint(-n, n - 1) for _ in range(size)]
            tables = [t for t in self.scope.arrays if t.dtype == "i8" and len(t.shape) == 1]
            if tables and n >= 3 and self.chance(0.6):
                t = self.rng.choice(tables)
                return t.name, t.shape[0]
        return (str(chosen) if self.chance(0.5) else f"np.array({chosen})"), size

    def fancy_store(self) -> None:
        a = self.pick_array()
        if a is None or not self.fits(a.shape, 2):
            return
        kind = self.rng.randrange(5)
        axis = self.rng.randrange(len(a.shape))
        n = a.shape[axis]
        rest = [":"] * axis
        if kind == 0:
            # Every occurrence counts.
            idx, size = self.index_list(a.shape[0], distinct=False)
            value, _ = self.operand((size, *a.shape[1:]), 1)
            op = self.rng.choice(["add", "subtract"])
            self.emit(f"np.{op}.at({a.name}, {idx}, 0.2 * np.tanh({value}))")
            return
        idx, size = self.index_list(n, distinct=kind != 1)
        shape = (*a.shape[:axis], size, *a.shape[axis + 1 :])
        place = f"{a.name}[{', '.join([*rest, idx])}]"
        if kind == 1 or kind == 2:
            # Repeated indices: the last one wins.
            self.emit(f"{place} = {self.damped(place, shape, 1)}")
        elif kind == 3:
            self.emit(f"{place} {self.update_array(shape)}")
        elif len(a.shape) >= 2:
            count = self.rng.randint(1, 3)
            pairs = [[self.rng.randint(-m, m - 1) for _ in range(count)] for m in a.shape[:2]]
            place = f"{a.name}[{pairs[0]}, {pairs[1]}]"
            self.emit(f"{place} = {self.damped(place, (count, *a.shape[2:]), 1)}")
        else:
            self.emit(f"{place} = {place}[::-1] * {self.const(0.3, 0.9)}")

    def masked_store(self) -> None:
        a = self.pick_array()
        if a is None or not self.fits(a.shape, 2):
            return
        m = self.mask(a.shape, 1)
        b, _ = self.arr(a.shape, 1)
        self.emit(
            self.rng.choice(
                [
                    f"{a.name}[{m}] = {self.update_value(1)}",
                    f"{a.name}[{m}] *= {self.const(0.3, 0.9)}",
                    f"{a.name}[{m}] += 0.2 * {_factor(self.update_value(0))}",
                    f"{a.name}[{m}] = np.tanh({b})[{m}]",
                    f"np.copyto({a.name}, np.sin({b}), where={m})",
                    f"np.putmask({a.name}, {m}, np.sin({b}).astype({a.name}.dtype))",
                ]
            )
        )

    def in_place_call(self) -> None:
        a = self.pick_array("f8")
        if a is None or not self.fits(a.shape, 3):
            return
        b, _ = self.operand(a.shape, 1)
        c, _ = self.arr(a.shape, 1)
        options = [
            f"{a.name}[:] = {self.damped(a.name, a.shape, 1)}",
            f"{a.name}[...] = np.tanh({b})",
            f"{a.name}.fill({self.update_value(1)})",
            f"np.multiply({a.name}, np.cos({b}), out={a.name})",
            f"np.add({a.name}, 0.2 * np.sin({c}), {a.name})",
            f"np.sin({c}, out={a.name})",
            f"np.copyto({a.name}, np.tanh({b}))",
            f"np.clip({a.name}, -{self.const()}, {self.const()}, out={a.name})",
        ]
        if len(a.shape) == 1:
            options += [f"fold({a.name})", f"smooth({a.name}, 0.2)", f"{a.name}.sort()"]
        self.emit(self.rng.choice(options))

    def keep_mask(self) -> None:
        shape = self.some_shape()
        text = self.mask(shape, 1)
        a = self.declare(shape, "b1")
        self.emit(f"{a.name} = {text} | False" if text.isidentifier() else f"{a.name} = {text}")

    def keep_table(self) -> None:
        n = self.rng.randint(2, 5)
        values = [self.rng.randint(-2, 2) for _ in range(n)]
        text = self.rng.choice(
            [f"np.array({values})", f"np.arange({n}) % 3", f"np.array({values}) // 2"]
        )
        a = self.declare((n,), "i8")
        self.emit(f"{a.name} = {text}")

    def rebind_expression(self) -> None:
        options = [a for a in self.movable() if a.name.isidentifier() and self.fits(a.shape, 2)]
        if not options:
            return
        a = self.rng.choice(options)
        text, _ = self._arr_new(a.shape)
        if self.loops:
            text = f"0.7 * {a.name} + 0.3 * np.tanh({text})"
        self.emit(f"{a.name} = {text}")
        a.thing = next(self.names)
        a.whole = True

    def ragged(self) -> None:
        """Write operations on parts whose sizes are known only at run time."""
        ints = [i for i in self.scope.ints if i.low >= 0]
        a = self.pick_array("f8")
        if not ints or a is None or not self.fits(a.shape, 2):
            return
        others = [b for b in self.floats(ndim=len(a.shape)) if b.shape[0] == a.shape[0]]
        others = [b for b in others if b.shape == a.shape]
        b = self.rng.choice(others)
        k = self.rng.choice(ints).name
        part = self.rng.choice(
            [f":{k}", f"{k}:", f"{k}::2", f":{k}:-1", f"{k}::-1", f"-{k}:", f"1:{k} + 1", f"{k}:-1",
             f":-{k}", f"{k} - 1:{k} + 2"]
        )  # fmt: skip
        left, right = f"{a.name}[{part}]", f"{b.name}[{part}]"
        self.emit(
            self.rng.choice(
                [
                    f"{left} *= {self.const(0.3, 0.9)}",
                    f"{left} += 0.3 * np.sin({right})",
                    f"{left} = 0.5 * {left} + 0.4 * np.tanh({right} * {self.scalar(0)})",
                    f"{left} = {self.update_value(1)}",
                    f"{left} = 0.9 * {right}[::-1]",
                    f"{left} += 0.1 * {right}.sum()",
                ]
            )
        )
        if self.chance(0.4):
            v = self.name("v")
            self.emit(f"{v} = math.tanh({right}.sum())")
            self.scope.floats.append(v)

    def call_helper(self) -> None:
        self.call_statement()

    def unpack_array(self) -> None:
        options = [a for a in self.floats() if a.shape[0] <= 3 and a.dtype == "f8"]
        if not options:
            return
        a = self.rng.choice(options)
        count = a.shape[0]
        if len(a.shape) == 1:
            new = [self.name("v") for _ in range(count)]
            if self.chance(0.3):
                new = [self.name("v") for _ in range(2)]
                self.emit(f"{new[0]}, {new[1]} = ends({a.name})")
            else:
                self.emit(f"{', '.join(new)}{',' if count == 1 else ''} = {a.name}")
            self.scope.floats += new
            return
        rows = [self.name("y") for _ in range(count)]
        self.emit(f"{', '.join(rows)}{',' if count == 1 else ''} = {a.name}")
        for name in rows:
            self.scope.arrays.append(
                _Array(name, a.shape[1:], "f8", a.local, thing=a.thing, whole=False)
            )

    def swap_rows(self) -> None:
        a = self.pick_array("f8")
        if a is None or a.shape[0] < 2 or not self.fits(a.shape, 2):
            return
        i, j = self.rng.sample(range(a.shape[0]), 2)
        texts = [f"{a.name}[[{i}, {j}]] = {a.name}[[{j}, {i}]]"]
        if len(a.shape) > 1:
            # Without copies the second assignment reads what the first one wrote.
            texts += [
                f"{a.name}[{i}], {a.name}[{j}] = {a.name}[{j}].copy(), {a.name}[{i}].copy()",
                f"{a.name}[{i}], {a.name}[{j}] = {a.name}[{j}], {a.name}[{i}]",
            ]
        self.emit(self.rng.choice(texts))

    def match_statement(self) -> None:
        if not self.scope.ints or self.nesting >= 3:
            return
        i = self.rng.choice(self.scope.ints)
        with self.block(f"match {i.name}:"):
            with self.block(f"case {i.low} | {i.low + 2}:"):
                self.body()
            with self.block(f"case {i.low + 1} if {self.condition(0)}:"):
                self.body()
            with self.block("case _:"):
                self.body()

    def walrus(self) -> None:
        v = self.name("v")
        text = self.number(1)
        with self.block(f"if ({v} := {text}) > {self.const(0.1, 0.8)}:"):
            self.scope.floats.append(v)
            self.body()
        self.scope.floats.append(v)

    def delete(self) -> None:
        v = self.name("v")
        self.emit(f"{v} = {self.number(1)}")
        if self.floats():
            a = self.rng.choice(self.floats())
            self.emit(f"{a.name}[0] = 0.5 * {a.name}[{', '.join(['0'] * len(a.shape))}] + 0.3 * {v}"
                      if len(a.shape) == 1 else f"{a.name}[0] *= math.cos({v})")  # fmt: skip
        self.emit(f"del {v}")

    def moving_view(self) -> None:
        """Write a loop in which a name shows one part of an array after the other."""
        a = self.pick_array("f8")
        if a is None or a.shape[0] < 3 or not self.fits(a.shape, 4):
            return
        y, i = self.name("y"), self.name("i")
        m = self.rng.randint(1, a.shape[0] - 1)
        self.emit(f"{y} = {a.name}[:{m}]")
        trips = a.shape[0] - m + 1
        view = _Array(y, (m, *a.shape[1:]), a.dtype, a.local, thing=a.thing, whole=False)
        view.pinned = True
        with self.block(f"for {i} in range({trips}):", trips):
            self.scope.ints.append(_Int(i, 0, trips - 1))
            self.scope.arrays.append(view)
            if self.chance(0.5):
                self.body()
            self.emit(f"{y} = {a.name}[{i}:{i} + {m}]")
            self.emit(f"{y} *= 0.9")
            self.body()
        if trips > 0:
            self.scope.arrays.append(view)
            view.pinned = False
            view.captured = True

    def row_loop(self) -> None:
        """Write a loop over the rows of an array, which are views."""
        options = [a for a in self.floats() if len(a.shape) > 1 and a.dtype == "f8"]
        if not options:
            return self.for_loop()
        a = self.rng.choice(options)
        if not self.fits(a.shape, 2):
            return
        r, i = self.name("r"), self.name("i")
        row = _Array(r, a.shape[1:], a.dtype, a.local, pinned=True, thing=a.thing, whole=False)
        n = a.shape[0]
        rows = [row]
        over = a.name
        kind = self.rng.randrange(8)
        count: _Int | None = None
        if kind == 0:
            count = _Int(i, 0, n - 1)
            head = f"for {i}, {r} in enumerate({over}):"
        elif kind == 1:
            b = self.rng.choice(options)
            s = self.name("r")
            rows.append(replace(row, name=s, shape=b.shape[1:], thing=b.thing, local=b.local))
            n = min(n, b.shape[0])
            head = f"for {r}, {s} in zip({over}, {b.name}):"
        elif kind == 2:
            head = f"for {r} in {over}[::-1]:"
        elif kind == 3 and len(a.shape) == 2:
            row.shape, n = (a.shape[0],), a.shape[1]
            head = f"for {r} in {over}.T:"
        elif kind == 4:
            head = f"for {r} in reversed({over}):"
        elif kind == 5:
            text, _ = self._arr_new(a.shape)
            row.thing, row.local = next(self.names), True
            head = f"for {i}, {r} in enumerate({text}, 1):"
            count = _Int(i, 1, n)
        else:
            head = f"for {r} in {over}:"
        with self.block(head, n):
            if count is not None:
                self.scope.ints.append(count)
            self.scope.arrays += rows
            self.budget += 1
            if self.chance(0.6):
                self.emit(f"{r} {self.update_array(row.shape)}" if self.chance(0.5)
                          else f"{r}[:] = {self.damped(r, row.shape, 1)}")  # fmt: skip
            self.body()
        self.loop_else()

    # -- containers --

    def new_list(self) -> None:
        name = self.name("l")
        n = self.rng.randint(1, 4)
        self.emit(f"{name} = [{', '.join(self.number(1) for _ in range(n))}]")
        if self.nesting == 0 and self.chance(0.4):
            self.emit(f"{name}.append({self.number(1)})")
            n += 1
        if self.nesting == 0 and self.chance(0.2):
            self.emit(f"{name}.insert(1, {self.number(0)})")
            n += 1
        if self.chance(0.2):
            self.emit(f"{name}.reverse()")
        if self.chance(0.2):
            other = self.name("l")
            self.emit(f"{other} = {name}")
            self.emit(f"{other}[0] = 0.5 * {name}[-1] + 0.1337")
        v = self.name("v")
        if self.chance(0.5):
            u = self.name("u")
            self.emit(
                self.rng.choice(
                    [
                        f"{v} = 0.2 * sum({name})",
                        f"{v} = 0.2 * sum({u} * {u} for {u} in {name})",
                        f"{v} = max({name})",
                        f"{v} = sum([0.1 * {u} for {u} in {name} if {u} > 0.1337])",
                        f"{v} = {name}[{self.integer()} % {n}]",
                        f"{v} = 0.2 * sum({name}[1:])",
                        f"{v} = 0.1 * len({name}) * {name}[0]",
                        f"{v} = np.array({name}).mean()",
                    ]
                )
            )
            self.scope.floats.append(v)
        self.scope.floats += [f"{name}[{k}]" for k in self.rng.sample(range(n), min(2, n))]

    def grow_list(self) -> None:
        """Write a list whose length is known only at run time."""
        if self.nesting >= 3 or not self.fits((5,), 3):
            return
        name, u = self.name("l"), self.name("u")
        a = self.pick_array("f8", 1)
        if a is None:
            return
        v = self.name("v")
        if self.chance(0.4):
            self.scope.fixed.append(u)
            test = f" if {u} > {self.const(0.1, 0.4)}" if self.chance(0.4) else ""
            text = self.scalar(1)
            self.scope.fixed.remove(u)
            self.emit(f"{name} = [{text} * {u} for {u} in {a.name}{test}]")
        else:
            self.emit(f"{name} = [{self.scalar(0) if self.chance(0.4) else ''}]")
            pinned, a.pinned = a.pinned, True
            with self.block(f"for {u} in {a.name}:", a.shape[0]):
                self.scope.fixed.append(u)
                if self.chance(0.4):
                    with self.block(f"if {self.condition(1)}:"):
                        self.emit(f"{name}.append({self.scalar(1)})")
                else:
                    self.emit(f"{name}.append({self.scalar(1)})")
                if self.chance(0.4):
                    self.body()
                    self.emit(f"{name}.append(0.5 * {u})")
            a.pinned = pinned
        w = self.name("u")
        self.emit(
            self.rng.choice(
                [
                    f"{v} = 0.2 * sum({name})",
                    f"{v} = 0.2 * float(np.sum(np.array({name})))",
                    f"{v} = 0.2 * sum({w} * {w} for {w} in {name})",
                    f"{v} = {name}[-1] if len({name}) > 0 else 0.3",
                    f"{v} = {name}[len({name}) // 2] * 0.5 if {name} else 0.3",
                    f"{v} = 0.1 * len({name}) * {self.leaf()}",
                ]
            )
        )
        self.scope.floats.append(v)
        if self.chance(0.3):
            with self.block(f"for {w} in {name}:", 8):
                self.emit(f"{v} = 0.8 * {v} + 0.1 * math.sin({w})")
        if self.chance(0.3):
            with self.block(f"for {w} in range(len({name})):", 8):
                self.emit(f"{name}[{w}] *= 0.5")
            self.emit(f"{v} += 0.1 * sum({name})")

    def grow_arrays(self) -> None:
        """Write a list of arrays whose length is known only at run time.

        Elements are only read; an array that is changed later comes into it as a copy.
        """
        over, like = self.pick_array("f8", 1), self.pick_array("f8")
        if over is None or like is None or self.nesting >= 3 or not self.fits(like.shape, 15):
            return
        rng, shape = self.rng, like.shape
        name, u, h, v = self.name("l"), self.name("u"), self.name("h"), self.name("v")
        w, r = self.name("w"), self.name("r")
        pairs = self.chance(0.3)

        def kept(text: str) -> str:
            return f"({text}, {self.number(0)})" if pairs else text

        def taken(text: str) -> str:
            return f"{text}[0]" if pairs else text

        first = f"{like.name} + 0.0"
        start = kept(rng.choice([f"{like.name}.copy()", first])) if self.chance(0.5) else ""
        self.emit(f"{h} = {first}")
        if not pairs and not start and self.chance(0.3):
            test = f" if {u} > {self.const(0.1, 0.4)}" if self.chance(0.3) else ""
            self.emit(
                f"{name} = [{u} * np.tanh({self.arr(shape, 1)[0]}) for {u} in {over.name}{test}]"
            )
        else:
            self.emit(f"{name} = [{start}]")
            pinned, over.pinned = over.pinned, True
            with self.block(f"for {u} in {over.name}:", over.shape[0]):
                self.scope.fixed.append(u)
                changed = self.chance(0.3)
                if changed:
                    # The iteration before appended it: that must be a copy.
                    self.emit(f"{h} *= 0.9" if self.chance(0.5) else f"{h}[-1] = 0.3 * {u}")
                self.emit(f"{h} = 0.5 * {h} + 0.3 * np.tanh({self.arr(shape, 1)[0]} * {u})")
                if self.chance(0.3):
                    self.emit(f"{h} += 0.1 * {u}")
                more = [f"{name}.append({kept(h + '.copy()' if changed else h)})"]
                if changed and self.chance(0.5):
                    more.append(f"{h} *= 0.8")
                elif self.chance(0.3):
                    more.append(f"{name}.append({name}[-1])")
                elif self.chance(0.2):
                    more.append(f"{name}[-1] = {kept('0.7 * ' + taken(name + '[0]'))}")
                elif self.chance(0.2):
                    more += [f"{r} = {name}.pop()", f"{name}.append({kept(f'{taken(r)} * 0.9')})"]
                leaves = rng.choice(["", "", "", "continue", "break"])
                if leaves:
                    with self.block(f"if {self.condition(1)}:"):
                        self.emit(leaves)
                if self.chance(0.3):
                    with self.block(f"if {self.condition(1)}:"):
                        for line in more:
                            self.emit(line)
                else:
                    for line in more:
                        self.emit(line)
                if self.chance(0.2):
                    self.body()
            over.pinned = pinned
        self.emit(f"{v} = 0.1 * len({name})")
        self.scope.floats.append(v)
        with self.block(f"if len({name}) > 0:"):
            element = taken(f"{name}[{rng.choice(['-1', '0', f'len({name}) // 2'])}]")
            reads = [
                f"0.2 * np.sum({element})",
                f"sum(0.1 * np.sum({taken(w)}) for {w} in {name})",
                f"0.1 * np.sum(sum({taken(w)} for {w} in {name}[1:] + {name}[:1]))",
            ]
            if not pairs:
                axis = rng.randrange(len(shape))
                reads += [
                    f"0.2 * np.mean(np.stack({name}))",
                    f"0.2 * np.mean(np.concatenate({name}, axis={axis}))",
                    f"0.1 * np.sum(sum({name}))",
                ]
            self.emit(f"{v} += {rng.choice(reads)}")
            if self.chance(0.3):
                self.emit(f"{r} = {name}[0]")
                self.emit(f"{name}[0] = {kept(f'{h} * 0.5')}")
                self.emit(f"{v} += 0.2 * np.sum({taken(r)} * {taken(name + '[0]')})")
        if self.chance(0.4):
            order = rng.choice(["{}", "reversed({})", "{}[::-1]"]).format(name)
            with self.block(f"for {w} in {order}:", 10):
                self.emit(f"{v} = 0.8 * {v} + 0.05 * np.sum({taken(w)})")

    def new_dict(self) -> None:
        name = self.name("p")
        shape = self.rng.choice([(3,), (4,)])
        text, _ = self._arr_new(shape)
        self.emit(
            self.rng.choice(
                [
                    f'{name} = {{"w": {text}, "u": {self.number(1)}}}',
                    f"{name} = dict(w={text}, u={self.number(1)})",
                ]
            )
        )
        if self.nesting == 0 and self.chance(0.4):
            self.emit(f'{name}["b"] = {self.number(1)}')
            self.scope.floats.append(f'{name}["b"]')
        self.scope.floats.append(f'{name}["u"]')
        self.scope.arrays.append(
            _Array(f'{name}["w"]', shape, captured=True, thing=next(self.names))
        )
        if self.chance(0.3):
            other = self.name("p")
            self.emit(f"{other} = {name}")
            name = other
        if self.chance(0.3):
            self.emit(f"relax({name}{self.rng.choice(['', ', rate=0.2'])})")
        if self.chance(0.25):
            k, v = self.name("k"), self.name("v")
            self.emit(f"{v} = 0.0")
            head = self.rng.choice(
                [
                    f"for {k} in {name}:",
                    f"for {k} in {name}.keys():",
                    f"for {k}, _ in {name}.items():",
                ]
            )
            with self.block(head, 3):
                self.emit(f"{v} += 0.3 * np.sum({name}[{k}])")
            self.scope.floats.append(v)

    def new_named_tuple(self) -> None:
        name = self.name("s")
        shape = self.rng.choice([(3,), (4,), (2, 3)])
        pos, _ = self._arr_new(shape)
        vel, _ = self._arr_new(shape)
        self.emit(f"{name} = State({pos}, vel={vel})")
        if self.chance(0.6) and self.trips * 6 < _MAX_TRIPS:
            with self.block(f"for {self.name('i')} in range({self.rng.randint(1, 3)}):", 3):
                self.emit(f"{name} = advance({name}, {self.const(0.05, 0.2)})")
                if self.chance(0.3):
                    self.leave_loop()
        if self.chance(0.3):
            self.emit(f"{name} = {name}._replace(t={self.number(1)})")
        if self.chance(0.3):
            p, v, t = self.name("t"), self.name("t"), self.name("v")
            self.emit(f"{p}, {v}, {t} = {name}")
            self.scope.fixed.append(t)
        self.scope.fixed.append(f"{name}.t")
        for part in ("pos", "vel"):
            self.scope.arrays.append(
                _Array(f"{name}.{part}", shape, pinned=True, captured=True, thing=next(self.names))
            )

    def new_object(self) -> None:
        name = self.name("o")
        shape: Shape = self.rng.choice([(3,), (4,)])
        base = self.pick_array("f8", 1)
        thing = next(self.names)
        if base is not None and self.chance(0.4):
            text, shape, thing = base.name, base.shape, base.thing
        else:
            text = self._arr_new(shape)[0]
        if self.chance(0.5):
            self.emit(f"{name} = Body({self.number(1)}, {text})")
            if self.chance(0.6):
                self.emit(f"{name}.push({self.number(1)}{self.rng.choice(['', ', dt=0.2'])})")
            if self.chance(0.4):
                v = self.name("v")
                self.emit(f"{v} = math.tanh({name}.energy())")
                self.scope.floats.append(v)
            number, array = "mass", "x"
        else:
            self.emit(f"{name} = Counter({self.number(1)}, {text})")
            if self.chance(0.6):
                self.emit(f"{name}.add({self.number(1)})" + ".add(0.3337)" * self.rng.randint(0, 1))
            if self.chance(0.5) and self.nesting < 2 and self.trips * 4 < _MAX_TRIPS:
                with self.block(f"for {self.name('i')} in range(3):", 3):
                    self.emit(f"{name}.add({self.number(1)})")
            if self.chance(0.4):
                v = self.name("v")
                self.emit(f"{v} = {name}.value()")
                self.scope.floats.append(v)
            number, array = "total", "table"
        if self.chance(0.3):
            other = self.name("o")
            self.emit(f"{other} = {name}")
            self.scope.floats.append(f"{other}.{number}")
        self.scope.floats.append(f"{name}.{number}")
        self.scope.arrays.append(
            _Array(f"{name}.{array}", shape, captured=True, thing=thing, whole=False)
        )

    def new_rate(self) -> None:
        name = self.name("g")
        self.emit(f"{name} = Rate({self.number(1)}{self.rng.choice(['', ', shift=0.1337'])})")
        self.scope.fixed += [f"{name}.k", f"{name}.twice"]
        self.scope.functions.append(
            _Function(name, lambda w, depth: f"{name}({w.number(min(depth, 1))})")
        )

    def list_of_arrays(self) -> None:
        pool = [a for a in self.floats() if a.dtype == "f8"]
        if not pool:
            return
        shape = self.rng.choice(pool).shape
        if not self.fits(shape, 3):
            return
        name = self.name("l")
        items: list[str] = []
        made: list[_Array] = []
        for k in range(self.rng.randint(2, 3)):
            found = self.window(shape)
            if found is not None and found[1].dtype == "f8" and self.chance(0.5):
                items.append(found[0])
                made.append(
                    _Array(f"{name}[{k}]", shape, local=found[1].local, thing=found[1].thing)
                )
            else:
                items.append(self._arr_new(shape)[0])
                made.append(_Array(f"{name}[{k}]", shape, thing=next(self.names)))
        self.emit(f"{name} = [{', '.join(items)}]")
        if self.chance(0.4):
            # Elements that are expressions: each is an array of its own from then on.
            k = self.rng.randrange(len(items))
            self.emit(f"{name}[{k}] = {self._arr_new(shape)[0]}")
            made[k].thing, made[k].local = next(self.names), True
        if self.nesting == 0 and self.chance(0.3):
            how = self.rng.choice([f"append({self._arr_new(shape)[0]})",
                                   f"extend([{self._arr_new(shape)[0]}])",
                                   f"insert({len(items)}, {self._arr_new(shape)[0]})"])  # fmt: skip
            self.emit(f"{name}.{how}")
            made.append(_Array(f"{name}[{len(items)}]", shape, thing=next(self.names)))
            items.append("")
        for a in made:
            a.whole, a.captured = False, True
        self.scope.arrays += made
        r = self.name("r")
        kind = self.rng.randrange(4)
        if kind == 0:
            with self.block(f"for {r} in {name}:", len(items)):
                self.emit(f"{r} {self.update_array(shape)}")
        elif kind == 1:
            t = self.declare((len(items), *shape))
            self.emit(f"{t.name} = np.stack({name})")
        elif kind == 2:
            t = self.declare(shape)
            self.emit(f"{t.name} = sum({name}) * 0.3 + 0.0")
        elif self.nesting == 0:
            t = self.declare((len(items) * shape[0], *shape[1:]))
            self.emit(f"{t.name} = np.concatenate({name})")

    def container_step(self) -> None:
        floats = [v for v in self.scope.floats if not v.isidentifier()]
        if not floats:
            return self.new_list()
        v = self.rng.choice(floats)
        self.emit(f"{v} {self.update(1)}")

    def star(self) -> None:
        v, rest = self.name("v"), self.name("l")
        items = [self.number(0) for _ in range(self.rng.randint(2, 4))]
        if self.chance(0.5):
            self.emit(f"{v}, *{rest} = [{', '.join(items)}]")
            self.emit(f"{v} = 0.5 * {v} + 0.1 * sum({rest})")
        else:
            self.emit(f"{rest} = ({', '.join(items)})")
            scale = self.rng.choice(["", ", scale=0.2", ", **{'scale': 0.4}"])
            self.emit(f"{v} = unpacked(*{rest}{scale})")
        self.scope.floats.append(v)


def nameless(text: str) -> str:
    """Return an expression with its `(w := value)` written out: what a comprehension iterates over.

    Python refuses an assignment there, however deep.
    """
    if ":=" not in text:
        return text
    return ast.unparse(_Nameless().visit(ast.parse(text, mode="eval")))


class _Nameless(ast.NodeTransformer):
    def __init__(self) -> None:
        self.values: dict[str, ast.expr] = {}

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        self.values[node.target.id] = value
        return value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


_SHARES = {
    "stencils": {"scalars": 0.1, "arrays": 0.5, "containers": 0.0, "stencils": 1.0},
    "arrays": {"scalars": 0.5, "arrays": 1.0, "containers": 0.0},
    "containers": {"scalars": 0.5, "arrays": 0.4, "containers": 1.6},
    "mixed": {"scalars": 1.0, "arrays": 0.8, "containers": 0.5},
}
_REFUSED = 0.02  # the share of programs that adc must refuse


def generate(seed: int, size: int = 12, kind: str = "arrays") -> Generated:
    """Return the random program of this seed: the first of its sequence that runs."""
    for attempt in range(200):
        generated = _generate(seed, size, kind, attempt)
        if _usable(generated):
            return generated
        forget(generated)
    raise AssertionError(f"no program for seed {seed}")


def _usable(generated: Generated) -> bool:
    try:
        with np.errstate(all="ignore"):
            value = float(generated.fn(*generated.make_args()))
    except (ArithmeticError, ValueError, IndexError, TypeError):
        return False
    return math.isfinite(value) and abs(value) < 1e4


def _generate(seed: int, size: int, kind: str, attempt: int) -> Generated:
    rng = random.Random(f"{kind}/{seed}/{size}/{attempt}")
    names = itertools.count()
    single = rng.random() < 0.12
    numbers = np.random.default_rng(rng.randrange(2**32))
    w = _ArrayWriter(rng, names, single, **_SHARES[kind])
    w.scope.functions += _library_functions()
    lines = [*_IMPORTS.splitlines(), *_LIBRARY.splitlines(), "", *_ARRAY_LIBRARY.splitlines(), ""]
    if kind in ("containers", "mixed"):
        lines += _CONTAINER_LIBRARY.splitlines()
    if kind == "mixed" and rng.random() < 0.5:
        text, function = _helper(rng, names, "helper0")
        lines += ["", "", *text]
        w.scope.functions.append(function)
    args: list[Any] = []
    parameters: list[str] = []
    argnums: list[int] = []

    def parameter(name: str, value: Any, differentiable: bool) -> None:
        if differentiable:
            argnums.append(len(args))
        parameters.append(name)
        args.append(value)

    def sample(*shape: int) -> Any:
        return np.round(numbers.uniform(-1.2, 1.2, shape), 4)

    name = w.name("x")
    parameter(name, float(sample(1)[0]), True)
    w.scope.floats.append(name)
    for k in range(rng.choice([1, 2, 2, 3])):
        name = w.name("a")
        shape = rng.choice([(3,), (4,), (5,)]) if k == 0 else w.new_shape()
        dtype = "f4" if single and rng.random() < 0.5 else "f8"
        parameter(name, sample(*shape).astype(dtype), True)
        w.scope.arrays.append(_Array(name, shape, dtype, local=False, thing=next(names)))
    if rng.random() < 0.3:
        name, n = w.name("d"), rng.randint(2, 5)
        table = numbers.integers(-2, 3, n).astype(rng.choice(["i8", "i4"]))
        parameter(name, table, False)
        w.scope.arrays.append(_Array(name, (n,), "i8", local=False, thing=next(names)))
    if rng.random() < 0.2:
        shape = rng.choice([a.shape for a in w.floats()])
        name = w.name("m")
        parameter(name, numbers.random(shape) < 0.5, False)
        w.scope.arrays.append(_Array(name, shape, "b1", local=False, thing=next(names)))
    if rng.random() < 0.4:
        name, n = w.name("n"), rng.randint(0, 4)
        parameter(name, n, False)
        w.scope.ints.append(_Int(name, n, n))

    w.budget = size
    refused = "ADC013" if rng.random() < _REFUSED else ""
    while w.budget > 0:
        w.statement()
        if refused and w.budget < size // 2:
            refused = _ambiguous(w)
            break
    terms = [f"({w.number(1)})", *rng.sample(w.scope.floats, min(len(w.scope.floats), 4))]
    for a in w.floats():
        total = f"np.sum({a.name} * {a.name})" if rng.random() < 0.5 else f"{a.name}.sum()"
        weights = f"np.arange({a.shape[-1]}.0) + 0.5"
        total = rng.choice([total, f"np.sum({a.name} * ({weights}))"])
        terms.append(f"{w.const(0.1, 0.4)} * " + (f"float({total})" if a.dtype == "f4" else total))
    w.emit("return " + " + ".join(terms))
    lines += ["", "", f"def program({', '.join(parameters)}):", *w.lines, ""]
    source = "\n".join(lines)
    return Generated(source, load(source, seed), tuple(args), tuple(argnums), seed, kind, refused)


def _ambiguous(w: _ArrayWriter) -> str:
    """Write a store to a name that may be one of two arrays; return the code of the refusal."""
    floats = [a for a in w.floats() if a.dtype == "f8" and a.name.isidentifier()]
    pairs = [(a, b) for a in floats for b in floats if a.shape == b.shape and a.thing != b.thing]
    if not pairs or not w.scope.floats:
        return ""
    a, b = w.rng.choice(pairs)
    y = w.name("y")
    w.emit(f"{y} = {a.name} if {w.scope.floats[0]} > {w.const()} else {b.name}")
    w.emit(f"{y}[0] = 0.1337")
    w.emit(f"{y} = {a.name}[0] + {b.name}[0]")
    return "ADC013"


# --- the properties -------------------------------------------------------------------------------


def check(
    generated: Generated, *, compiled: bool, directions: int = 3, quick: bool = False
) -> list[str]:
    """Return what is wrong with adc's treatment of a program; the first word says of what kind.

    `quick`: the gradient as it is emitted under one of the plans, and no stage before it.

    Raises
    ------
    Unreliable
        If there is nothing to compare with.
    """
    from adc.ir.errors import AdcError, IRError
    from adc.ir.interp import ProgramError
    from tests.oracle import chain as chains

    double = _in_double(generated)
    want = float(oracle.value(double.fn, double.args))
    single = double is not generated
    args = generated.make_args()
    try:
        chain = chains.Chain.of(generated.fn, args, generated.argnums)
        primal = chain.primal
    except IRError as error:
        return [f"crash: {error.message}"]
    except AdcError as error:
        if generated.refused:
            return [] if error.code == generated.refused else [f"wrong refusal: {error}"]
        return [f"refused: {error}"]
    if generated.refused:
        return [f"accepted: must be refused with {generated.refused}"]
    try:
        value = float(chain.run(primal)[0])
    except ProgramError as error:
        return [f"raised: {error.error!r} at line {error.check.loc}"]
    tolerance = 1e-4 if single else 1e-9
    if not abs(value - want) <= tolerance * (1.0 + abs(want)):
        return [f"value: {value} instead of {want}"]

    rng = np.random.default_rng(generated.seed)
    results = chain.run(chain.adjoint)
    gradient = chain.gradient(results)
    problems = _check_slopes(double, gradient, rng, directions, single)
    policies = ("store", "recompute", f"random:{generated.seed}")
    own = tuple(np.asarray(g) for g in gradient)
    policy = policies[generated.seed % len(policies)]
    if quick:
        policy = ("auto", *policies)[generated.seed % (1 + len(policies))]
        problems += chains.check_last(chain, own, policy)
    else:
        problems += chains.check_stages(chain, own, policies=("auto", policy))
        problems += chains.check_passes(chain, policy)
    problems += chains.check_tangent(chain, rng)
    way = list(chains.WAYS)[generated.seed % len(chains.WAYS)]
    problems += chains.check_directions(chain, rng, way) or []
    if compiled:
        problems += _check_call(generated, own)
    return problems


def _check_call(generated: Generated, want: tuple[Any, ...]) -> list[str]:
    """Compile as a user does, and call twice: right, the same bits, the arguments untouched."""
    import adc
    from tests.oracle.chain import bits

    slope = adc.grad(generated.fn, generated.argnums, cache=False)
    args = generated.make_args()
    found = [slope(*args) for _ in range(2)]
    problems = []
    if bits(args) != bits(generated.args):
        problems.append("compiled: the arguments were changed")
    if bits(found[0]) != bits(found[1]):
        problems.append("compiled: other bits at the second call")
    if slope.cache_info()["compiled"] != 1:
        problems.append("compiled: compiled again for the second call")
    problem = oracle.gradient_mismatch(found[0], want, magnification=1e3)
    if problem:
        problems.append(f"compiled: {problem}")
    return problems


def _in_double(generated: Generated) -> Generated:
    """Return the program without single precision, whose differences are noise."""
    if "float32" not in generated.source and not any(
        isinstance(x, np.ndarray) and x.dtype == np.float32 for x in generated.args
    ):
        return generated
    args = tuple(
        x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x
        for x in generated.args
    )
    source = generated.source.replace("float32", "float64")
    return replace(generated, source=source, fn=load(source, generated.seed), args=args)


def _check_slopes(
    generated: Generated,
    gradient: tuple[Any, ...],
    rng: np.random.Generator,
    directions: int,
    single: bool,
) -> list[str]:
    """Compare with differences along random directions."""
    found: list[str] = []
    sure = 0
    for k in range(directions):
        direction = tuple(_direction(generated.args[n], rng) for n in generated.argnums)
        slope, error = oracle.directional_difference(
            generated.fn, generated.args, generated.argnums, direction
        )
        parts = [
            np.asarray(g, dtype=np.float64) * d for g, d in zip(gradient, direction, strict=True)
        ]
        got = float(sum(part.sum() for part in parts))
        size = float(sum(np.abs(part).sum() for part in parts)) + abs(slope) + 1e-3
        if not error <= 1e-5 * size or size > 1e3:
            continue  # what grows amplifies rounding as well
        sure += 1
        if not abs(got - slope) <= (2e-3 if single else 1e-6) * size + 10.0 * error:
            found.append(
                f"gradient: slope {got} along direction {k} instead of {slope} (error {error:.1g})"
            )
    if not sure:
        raise Unreliable("finite differences do not converge")
    # A wrong gradient is wrong along every direction; a kink between the points is not.
    return found if len(found) == sure else []


def _direction(x: Any, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.asarray(rng.standard_normal(np.shape(x)))
