"""Pushes and pops: rows of a block in a loop that reserves one, else the end of the tapes."""

from __future__ import annotations

from adc.backend.expressions import Expr, numpy_name
from adc.backend.straight import StraightLine
from adc.backend.tapes import Tapes
from adc.backend.writer import Shared
from adc.ir.core import For, Function, Pop, Push, Value
from adc.ir.types import Array


class Traffic(StraightLine):
    """Writes what uses the tapes. ``tape_f64`` is the tape's memory, ``top_f64`` its end."""

    def __init__(self, fn: Function, shared: Shared, *, main: bool) -> None:
        super().__init__(fn, shared, main=main)
        own = Tapes.own(fn.body)
        self._own = sorted(shared.tapes.used(fn.name)) if own else []
        # In blocks: dtype and row of each value of a frame, where the rows begin, the loop index.
        self._rows: dict[int, dict[int, tuple[str, int]]] = {}
        self._bases: dict[tuple[str, int], str] = {}
        self._block_index: dict[int, str] = {}

    def open_tape(self, dtype: str) -> None:
        place = dtype.upper()
        self.line(f"tape_{dtype} = tape(state, {place}, {numpy_name(dtype)})")
        self.line(f"top_{dtype} = state[{place} + 2]")

    def room(self, dtype: str) -> None:
        self.line(f"if top_{dtype} > tape_{dtype}.size:")
        grow = f"grow(state, {dtype.upper()}, top_{dtype}, {numpy_name(dtype)})"
        self.line(f"    tape_{dtype} = {grow}")

    def reserve(self, stmt: For, count: str) -> None:
        """Take the block of a loop: one row of `count` elements for each value of its frames."""
        rows = self._shared.tapes.rows(stmt)
        self._rows = self._rows | rows
        self._block_index.update(dict.fromkeys(rows, self.name(stmt.index)))
        self._bases = dict(self._bases)
        sizes: dict[str, int] = {}
        for row in rows.values():
            for dtype, k in row.values():
                sizes[dtype] = max(sizes.get(dtype, 0), k + 1)
        pops = any(isinstance(s, Pop) for s in stmt.body.stmts)
        for dtype, size in sizes.items():
            sign = "-" if pops else "+"
            if pops:
                self.line(f"top_{dtype} {sign}= {f'{size} * ' if size > 1 else ''}{count}")
            for k in range(size):
                base = self._bases[dtype, k] = self.helper(f"{dtype}_row{k}")
                offset = "" if k == 0 else f" + {f'{k} * ' if k > 1 else ''}{count}"
                self.line(f"{base} = top_{dtype}{offset}")
            if not pops:
                self.line(f"top_{dtype} {sign}= {f'{size} * ' if size > 1 else ''}{count}")
                self.room(dtype)

    def place(self, stmt: Push | Pop, k: int, index: str) -> str:
        dtype, row = self._rows[id(stmt)][k]
        return f"tape_{dtype}[u({self._bases[dtype, row]} + {index})]"

    def push(self, stmt: Push) -> None:
        texts = [self.text(value) for value in stmt.values]
        self.flush(loads=True)
        self.comment(stmt.loc)
        if id(stmt) in self._rows:
            index = self._block_index[id(stmt)]
            for k, text in enumerate(texts):
                self.line(f"{self.place(stmt, k, index)} = {text}")
            return
        scalars: dict[str, list[str]] = {}
        for value, text in zip(stmt.values, texts, strict=True):
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(text)
        for dtype, found in scalars.items():
            self.line(f"top_{dtype} += {len(found)}")
            self.room(dtype)
            for k, text in enumerate(found):
                self.line(f"tape_{dtype}[u(top_{dtype} - {len(found) - k})] = {text}")
        for value, text in zip(stmt.values, texts, strict=True):
            if isinstance(value.type, Array):
                self.push_array(text, value.type)

    def push_array(self, source: str, ty: Array) -> None:
        """Append the elements, then the sizes."""
        start = self.helper("start")
        self.line(f"{start} = top_{ty.dtype}")
        self.line(f"top_{ty.dtype} += {source}.size")
        self.room(ty.dtype)
        index = ", ".join(self.nest(source, ty.rank))
        self.line(f"tape_{ty.dtype}[u({start})] = {source}[{index}]")
        self.line(f"{start} += 1")
        self._indent -= ty.rank
        self.line(f"top_i64 += {ty.rank}")
        self.room("i64")
        for axis in range(ty.rank):
            self.line(f"tape_i64[u(top_i64 - {ty.rank - axis})] = {source}.shape[{axis}]")

    def pop(self, stmt: Pop) -> None:
        self.comment(stmt.loc)
        if id(stmt) in self._rows:
            index = self._block_index[id(stmt)]
            for k, value in enumerate(stmt.results):
                self.assign(value, Expr(self.place(stmt, k, index), frozenset(), True), stmt.loc)
            return
        for value in reversed(stmt.results):
            if isinstance(value.type, Array):
                self.pop_array(value, value.type)
        scalars: dict[str, list[Value]] = {}
        for value in stmt.results:
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(value)
        for dtype, found in scalars.items():
            self.line(f"top_{dtype} -= {len(found)}")
            for k, value in enumerate(found):
                if self._counts.get(value):
                    offset = f" + {k}" if k else ""
                    self.line(f"{self.name(value)} = tape_{dtype}[u(top_{dtype}{offset})]")

    def pop_array(self, value: Value, ty: Array) -> None:
        self.line(f"top_i64 -= {ty.rank}")
        sizes = "".join(f"tape_i64[u(top_i64{f' + {k}' if k else ''})], " for k in range(ty.rank))
        name = self.new_array(value, f"({sizes})")
        self.line(f"top_{ty.dtype} -= {name}.size")
        start = self.helper("start")
        self.line(f"{start} = top_{ty.dtype}")
        index = ", ".join(self.nest(name, ty.rank))
        self.line(f"{name}[{index}] = tape_{ty.dtype}[u({start})]")
        self.line(f"{start} += 1")
        self._indent -= ty.rank
