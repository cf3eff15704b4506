"""Pushes and pops: rows of a block in a loop that reserves one, else the end of the tapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adc.backend.common.expressions import Expr, numpy_name
from adc.backend.common.straight import StraightLine
from adc.backend.common.tapes import Tapes
from adc.backend.common.writer import Shared
from adc.ir.core import Call, For, Function, Operand, Pop, Push, Stmt, Value, walk
from adc.ir.types import Array
from adc.ir.walk import inner_values


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

    def close_tapes(self, dtypes: Sequence[str]) -> None:
        """Let other code use tapes."""
        for dtype in dtypes:
            self.line(f"state[{dtype.upper()} + 2] = top_{dtype}")

    def room(self, dtype: str, need: str = "") -> None:
        """Make room for what is pushed; for `need` elements that is all there is for a while."""
        top = need or f"top_{dtype}"
        self.line(f"if {top} > tape_{dtype}.size:")
        grow = f"{'fit' if need else 'grow'}(state, {dtype.upper()}, {top}, {numpy_name(dtype)})"
        self.line(f"    tape_{dtype} = {grow}")

    def moves(self, stmt: Stmt) -> tuple[bool, bool]:
        """Return whether a statement may push and pop."""
        pushes = pops = False
        for each in walk((stmt,)) if self._own else ():
            calls = isinstance(each, Call) and bool(self._shared.tapes.used(each.callee))
            pushes |= calls or isinstance(each, Push)
            pops |= calls or isinstance(each, Pop)
        return pushes, pops

    def note_most(self) -> None:
        """Note how full the tapes are, where they begin to be emptied."""
        for dtype in self._own:
            most = f"state[{dtype.upper()} + 3]"
            self.line(f"{most} = max({most}, top_{dtype})")

    def expect(self, loop: For) -> None:
        """Make room at once for all that a loop in the main function pushes, if that is known."""
        if not self._main or id(loop) in self._shared.tapes.blocks:
            return
        found = self._pushed(loop)
        for dtype in sorted({dtype for dtype, _ in found}):
            terms = []
            for (other, trips), count in found.items():
                if other == dtype:
                    factors = [str(count)] if count > 1 or not trips else []
                    factors += [self.atom(each).text for each in trips]
                    terms.append(" * ".join(factors))
            need = self.helper(f"need_{dtype}")
            self.line(f"{need} = top_{dtype} + {' + '.join(terms)}")
            self.room(dtype, need)

    def _pushed(self, loop: For) -> Counter[tuple[str, tuple[Operand, ...]]]:
        """Return what a loop pushes, by dtype and numbers of iterations; nothing if not known."""
        inside = {v for s in walk((loop,)) for v in (*s.results, *inner_values(s))}
        found: Counter[tuple[str, tuple[Operand, ...]]] = Counter()

        def known(stmts: Sequence[Stmt], trips: tuple[Operand, ...]) -> bool:
            for stmt in stmts:
                match stmt:
                    case For(body=body) if any(self.moves(stmt)):
                        if stmt.trips in inside or not known(body.stmts, (*trips, stmt.trips)):
                            return False
                    case Push(values=values):
                        if any(isinstance(value.type, Array) for value in values):
                            return False
                        found.update((value.type.dtype, trips) for value in values)
                    case _ if any(self.moves(stmt)):
                        return False
            return True

        if not known((loop,), ()) or not all(
            trips.type.dtype == "i64" and self.never_negative(trips)
            for _, each in found
            for trips in each
        ):
            found.clear()
        return found

    def never_negative(self, trips: Operand) -> bool:
        """Whether a number of iterations is known not to be negative."""
        raise NotImplementedError

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
                once = self._main and self._indent == 1
                self.room(dtype, f"top_{dtype}" if once else "")

    def place(self, stmt: Push | Pop, k: int, index: str) -> str:
        dtype, row = self._rows[id(stmt)][k]
        return f"tape_{dtype}[unsigned({self._bases[dtype, row]} + {index})]"

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
                self.line(f"tape_{dtype}[unsigned(top_{dtype} - {len(found) - k})] = {text}")
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
        self.line(f"tape_{ty.dtype}[unsigned({start})] = {source}[{index}]")
        self.line(f"{start} += 1")
        self._indent -= ty.rank
        self.line(f"top_i64 += {ty.rank}")
        self.room("i64")
        for axis in range(ty.rank):
            self.line(f"tape_i64[unsigned(top_i64 - {ty.rank - axis})] = {source}.shape[{axis}]")

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
                    self.line(f"{self.name(value)} = tape_{dtype}[unsigned(top_{dtype}{offset})]")

    def pop_array(self, value: Value, ty: Array) -> None:
        self.line(f"top_i64 -= {ty.rank}")
        tops = ["top_i64" + (f" + {k}" if k else "") for k in range(ty.rank)]
        sizes = "".join(f"tape_i64[unsigned({top})], " for top in tops)
        name = self.new_array(value, f"({sizes})")
        self.line(f"top_{ty.dtype} -= {name}.size")
        start = self.helper("start")
        self.line(f"{start} = top_{ty.dtype}")
        index = ", ".join(self.nest(name, ty.rank))
        self.line(f"{name}[{index}] = tape_{ty.dtype}[unsigned({start})]")
        self.line(f"{start} += 1")
        self._indent -= ty.rank
