"""Writes expressions of arrays: shapes, indices, views, reductions, products, masks."""

from __future__ import annotations

import ast
import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.writers.scalars import Array, ScalarWriter, factor

Shape = tuple[int, ...]

LARGE = 2.5  # the magnitude that array expressions are kept below

ROWS = 200  # elements of loops around a statement times those of its arrays


class ExpressionWriter(ScalarWriter):
    """Writes expressions of whole arrays and of their parts."""

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

    def floats(self, shape: Shape | None = None, ndim: int = 0) -> list[Array]:
        return [
            a
            for a in self.scope.arrays
            if a.dtype in ("f8", "f4")
            and (shape is None or a.shape == shape)
            and ndim in (0, len(a.shape))
        ]

    def fits(self, shape: Shape, factor: int = 1) -> bool:
        """Whether an operation on this many elements may stand here."""
        return self.trips * math.prod(shape) * factor <= ROWS

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
        return self.index(Array("", (n,)), 0) if n > 0 else "0"

    def index(self, a: Array, axis: int) -> str:
        if a.name:
            return super().index(a, axis)
        n = a.shape[axis]
        options = [i.name for i in self.scope.ints if -n <= i.low and i.high < n]
        if options and self.chance(0.6):
            return self.rng.choice(options)
        return str(self.rng.randint(-n, n - 1))

    def cut(self, a: Array, shape: Shape) -> str | None:
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

    def window(self, shape: Shape, of: list[Array] | None = None) -> tuple[str, Array] | None:
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
        return text if bound <= LARGE else f"math.tanh({text})"

    def fresh(self, shape: Shape) -> tuple[str, float]:
        dims = str(shape[0]) if len(shape) == 1 and self.chance(0.5) else str(shape)
        options = [
            (f"np.full({dims}, {self.scalar(0)})", LARGE),
            (f"np.ones({dims})", 1.0),
            (f"{self.const(0.1, 0.4)} * np.arange({math.prod(shape)}.0).reshape({shape})", LARGE),
            (f"(np.zeros({dims}) + {self.scalar(1)})", LARGE),
        ]
        if len(shape) == 1:
            items = ", ".join(self.scalar(0) for _ in range(shape[0]))
            options += [
                (f"np.linspace({self.scalar(0)}, {self.const()}, {shape[0]})", LARGE),
                (f"np.array([{items}])", LARGE),
                (f"np.array([{items}])", LARGE),
                (f"np.arange({shape[0]}) * {self.const(0.1, 0.4)}", LARGE),
            ]
        if len(shape) == 2:
            rows = [
                f"[{', '.join(self.scalar(0) for _ in range(shape[1]))}]" for _ in range(shape[0])
            ]
            options += [
                (f"np.array([{', '.join(rows)}])", LARGE),
                (f"{self.scalar(0)} * np.eye({shape[0]}, {shape[1]})", LARGE),
            ]
            if shape[0] == shape[1]:
                options.append((f"np.diag({self.arr(shape[:1], 0)[0]})", LARGE))
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
            return self.scalar(min(depth, 1)), LARGE
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
            return self.scalar(min(depth, 1)), LARGE
        text, bound = self._arr(shape, depth)
        if bound > LARGE:
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
                    (f"{factor(left)} * {factor(right)}", p * q),
                    (f"{factor(left)} * {factor(right)}", p * q),
                    (f"({a}) / (1.3 + {factor(b)} * {factor(b)})", p),
                    (f"np.multiply({left}, {right})", p * q),
                    (f"np.where({self.mask(shape, depth - 1)}, {left}, {right})", max(p, q)),
                    (f"np.hypot({a}, 0.7 + {factor(b)} ** 2)", p + 0.7 + q * q),
                    (f"np.arctan2({a}, 1.2 + {factor(b)} ** 2)", 1.6),
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
                    (f"(-{factor(a)})", p),
                    (f"np.abs({a} - {c})", p + 1.6),
                    (f"np.clip({a}, -{c}, {self.const()})", 1.6),
                    (f"({a}).clip(-{c}, None)", max(p, 1.6)),
                    (f"np.sign({a} - {c}) * {factor(self.scalar(0))}", LARGE),
                    (f"np.maximum({a}, -{c})", max(p, 1.6)),
                    (f"({a} > {c}) * {factor(self.scalar(0))}", LARGE),
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
                (f"np.any({a} > {self.const()}, {at}) * {factor(self.scalar(0))}", LARGE),
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
            return f"np.pad({a}, {text}{mode})", max(p, LARGE)

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
            return f"np.array([{text} + 0.1 * {v} for {v} in {nameless(a)}])", LARGE

        def called() -> tuple[str, float]:
            a, p = self.arr(shape, depth - 1)
            return rng.choice(
                [
                    (f"scaled({a})", p + 0.2),
                    (f"scaled({a}, factor={self.scalar(0)})", p * LARGE + 0.2),
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

    def pick_array(self, dtypes: str = "f8 f4", ndim: int = 0) -> Array | None:
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
                (f"np.sum({factor(a)} * {factor(b)})", n * p * q),
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
                    (f"np.sum(np.where({m}, {a}, {self.scalar(0)}))", n * max(p, LARGE)),
                    (f"np.count_nonzero({m}) * {factor(self.scalar(0))}", n * LARGE),
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
                    (f"sum({text} * {v} for {v} in {a})", n * LARGE * p),
                    (f"sum([{text} for {v} in {a}])", n * LARGE),
                    (f"sum({a})", n * p),
                    (f"max({a})", p),
                    (f"min({v} * {v} for {v} in {a})", p * p),
                    (
                        f"float(any({v} > {self.const()} for {v} in {a})) * {factor(self.leaf())}",
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
