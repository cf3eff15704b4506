"""Writes statements about arrays: views, stores, stencils, loops over rows."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from tests.fuzz.writers.expressions import ExpressionWriter, Shape
from tests.fuzz.writers.scalars import MAX_TRIPS, Array, Int, factor

# Part of an array, and an index of it that has a step.
_SLICE = re.compile(r"[\w.]+\[[^()]*\]")
_STEP = re.compile(r":[^,\]]*:")


class StatementWriter(ExpressionWriter):
    """Writes statements about whole arrays and views."""

    def damped(self, old: str, shape: Shape, depth: int) -> str:
        """Return a value to store over `old`, which must not grow if this is a loop."""
        text, _ = self.arr(shape, depth)
        if not self.loops:
            return text
        return f"0.6 * {old} + 0.3 * np.tanh({text})"

    def declare(
        self, shape: Shape, dtype: str = "f8", *, thing: int | None = None, **more: Any
    ) -> Array:
        a = Array(self.name("t"), shape, dtype, **more)
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
            Array(name, shape, base.dtype, base.local, thing=base.thing, whole=whole)
        )

    def target(self, base: Array | None = None) -> tuple[str, Shape] | None:
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
                self.emit_store(text, value)
                return
        if kind < 0.5:
            self.emit_store(text, self.update_value(1))
        elif kind < 0.6 and shape:
            source, _ = self.operand(shape, 1)
            self.emit_store(text, f"np.tanh({source})")
        else:
            self.emit_store(text, self.damped(text, shape, 2))

    def emit_store(self, text: str, value: str) -> None:
        # NumPy copies between overlapping slices of different steps element by element.
        if _SLICE.fullmatch(value) and _STEP.search(text + value):
            value = f"+{value}"
        self.emit(f"{text} = {value}")

    # -- stencils: neighbours of one array, or of arrays of one shape --

    def margins(self, shape: Shape) -> list[tuple[int, int]] | None:
        """Return how many elements are left out at both ends of every axis, or None."""
        found = [
            self.rng.choice([(0, 0), (1, 1), (1, 1), (1, 0), (0, 1)]) if n > 2 else (0, 0)
            for n in shape
        ]
        return found if any(map(any, found)) else None

    def neighbour(self, a: Array, margins: list[tuple[int, int]], centre: bool = False) -> str:
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
        if self.trips * n > MAX_TRIPS:
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
                    f"{a.name}[{m}] += 0.2 * {factor(self.update_value(0))}",
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
                Array(name, a.shape[1:], "f8", a.local, thing=a.thing, whole=False)
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
        view = Array(y, (m, *a.shape[1:]), a.dtype, a.local, thing=a.thing, whole=False)
        view.pinned = True
        with self.block(f"for {i} in range({trips}):", trips):
            self.scope.ints.append(Int(i, 0, trips - 1))
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
        row = Array(r, a.shape[1:], a.dtype, a.local, pinned=True, thing=a.thing, whole=False)
        n = a.shape[0]
        rows = [row]
        over = a.name
        kind = self.rng.randrange(8)
        count: Int | None = None
        if kind == 0:
            count = Int(i, 0, n - 1)
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
            count = Int(i, 1, n)
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
