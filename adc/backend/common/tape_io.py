"""Pushes and pops: rows of a block in a loop that reserves one, else the end of the tapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from adc.backend.common.expressions import dtype_of, plus, product, state, times, total
from adc.backend.common.straight import StraightLine
from adc.backend.common.syntax import (
    STATE,
    Attribute,
    Binary,
    Call,
    Constant,
    Element,
    Expr,
    Global,
    Increase,
    Name,
    Size,
    Store,
    Tuple,
)
from adc.backend.common.tapes import Tapes
from adc.backend.common.writer import Shared
from adc.ir import core
from adc.ir.core import For, Function, Operand, Pop, Push, Stmt, Value, walk
from adc.ir.types import INT, Array
from adc.ir.walk import inner_values


class Traffic(StraightLine):
    """Writes what uses the tapes. ``tape_f64`` is the tape's memory, ``top_f64`` its end.

    These variables are read from the state where they are needed, and written back in front of a
    call that uses the tape. A run of calls needs neither.
    """

    def __init__(self, fn: Function, shared: Shared, *, main: bool) -> None:
        super().__init__(fn, shared, main=main)
        own = Tapes.own(fn.body)
        self._own = sorted(shared.tapes.used(fn.name)) if own else []
        # Those that other code has, or had last.
        self._given = set(self._own)
        # In blocks: dtype and row of each value of a frame, where the rows begin, the loop index.
        self._rows: dict[int, dict[int, tuple[str, int]]] = {}
        self._bases: dict[tuple[str, int], str] = {}
        self._block_index: dict[int, str] = {}

    def take_tapes(self, but: Collection[str] = ()) -> None:
        """Take back the tapes that other code has, but for those that it is to keep."""
        for dtype in sorted(self._given.difference(but)):
            self.open_tape(dtype)

    def open_tape(self, dtype: str) -> None:
        self._given.discard(dtype)
        place = dtype.upper()
        self.variables |= {f"tape_{dtype}": Array(dtype, 1), f"top_{dtype}": INT}
        self.set(f"tape_{dtype}", Call("tape", (STATE, Global(place), dtype_of(dtype))))
        self.set(f"top_{dtype}", state(place, 2))

    def close_tapes(self, dtypes: Sequence[str]) -> None:
        """Let other code use tapes."""
        for dtype in dtypes:
            if dtype not in self._given:
                self.add(Store(state(dtype.upper(), 2), Name(f"top_{dtype}")))
        self._given.update(dtypes)

    def move_top(self, dtype: str, sign: str, by: Expr) -> None:
        self.add(Increase(Name(f"top_{dtype}"), sign, by))

    def on_tape(self, dtype: str, place: Expr) -> Element:
        return Element(Name(f"tape_{dtype}"), (Call("unsigned", (place,)),))

    def room(self, dtype: str, need: str = "") -> None:
        """Make room for what is pushed; for `need` elements that is all there is for a while."""
        top, tape = Name(need or f"top_{dtype}"), Name(f"tape_{dtype}")
        with self.branch(Binary(">", top, Attribute(tape, "size"))):
            given = (STATE, Global(dtype.upper()), top, dtype_of(dtype))
            self.set(tape.id, Call("fit" if need else "grow", given))

    def moves(self, stmt: Stmt) -> tuple[bool, bool]:
        """Return whether a statement may push and pop."""
        pushes = pops = False
        for each in walk((stmt,)) if self._own else ():
            calls = isinstance(each, core.Call) and bool(self._shared.tapes.used(each.callee))
            pushes |= calls or isinstance(each, Push)
            pops |= calls or isinstance(each, Pop)
        return pushes, pops

    def note_most(self) -> None:
        """Note how full the tapes are, where they begin to be emptied.

        Of a tape that other code had last, that code has noted it.
        """
        for dtype in self._own:
            if dtype in self._given:
                continue
            most = state(dtype.upper(), 3)
            self.add(Store(most, Call("max", (most, Name(f"top_{dtype}")))))

    def expect(self, loop: For) -> None:
        """Make room at once for all that a loop in the main function pushes, if that is known."""
        if not self._main or id(loop) in self._shared.tapes.blocks:
            return
        found = self._pushed(loop)
        for dtype in sorted({dtype for dtype, _ in found}):
            terms: list[Expr] = [Name(f"top_{dtype}")]
            for (other, trips), count in found.items():
                if other == dtype:
                    factors: list[Expr] = [Constant(count)] if count > 1 or not trips else []
                    factors += [self.atom(each) for each in trips]
                    terms.append(product(*factors))
            need = self.helper(f"need_{dtype}")
            self.set(need, total(*terms))
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

    def reserve(self, stmt: For, count: Expr) -> None:
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
            whole = times(size, count)
            if pops:
                self.move_top(dtype, "-", whole)
            for k in range(size):
                base = self._bases[dtype, k] = self.helper(f"{dtype}_row{k}")
                top: Expr = Name(f"top_{dtype}")
                self.set(base, total(top, times(k, count)) if k else top)
            if not pops:
                self.move_top(dtype, "+", whole)
                once = self._main and not self.is_inside
                self.room(dtype, f"top_{dtype}" if once else "")

    def place(self, stmt: Push | Pop, k: int, index: str) -> Element:
        dtype, row = self._rows[id(stmt)][k]
        return self.on_tape(dtype, Binary("+", Name(self._bases[dtype, row]), Name(index)))

    def push(self, stmt: Push) -> None:
        given = [self.expr(value) for value in stmt.values]
        self.flush(loads=True)
        self.comment(stmt.loc)
        if id(stmt) in self._rows:
            index = self._block_index[id(stmt)]
            for k, each in enumerate(given):
                self.add(Store(self.place(stmt, k, index), each))
            return
        scalars: dict[str, list[Expr]] = {}
        for value, each in zip(stmt.values, given, strict=True):
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(each)
        for dtype, found in scalars.items():
            self.move_top(dtype, "+", Constant(len(found)))
            self.room(dtype)
            for k, each in enumerate(found):
                self.add(Store(self.below_top(dtype, len(found) - k), each))
        for value, each in zip(stmt.values, given, strict=True):
            if isinstance(value.type, Array):
                self.push_array(each, value.type)

    def below_top(self, dtype: str, offset: int) -> Element:
        return self.on_tape(dtype, Binary("-", Name(f"top_{dtype}"), Constant(offset)))

    def above_top(self, dtype: str, offset: int) -> Element:
        return self.on_tape(dtype, plus(Name(f"top_{dtype}"), offset))

    def push_array(self, source: Expr, ty: Array) -> None:
        """Append the elements, then the sizes."""
        start = self.helper("start")
        self.set(start, Name(f"top_{ty.dtype}"))
        self.move_top(ty.dtype, "+", Attribute(source, "size"))
        self.room(ty.dtype)
        with self.nest(source, ty.rank) as index:
            self.add(Store(self.on_tape(ty.dtype, Name(start)), Element(source, index)))
            self.add(Increase(Name(start), "+", Constant(1)))
        self.move_top("i64", "+", Constant(ty.rank))
        self.room("i64")
        for axis in range(ty.rank):
            self.add(Store(self.below_top("i64", ty.rank - axis), Size(source, axis)))

    def pop(self, stmt: Pop) -> None:
        self.comment(stmt.loc)
        if id(stmt) in self._rows:
            index = self._block_index[id(stmt)]
            for k, value in enumerate(stmt.results):
                self.assign(value, self.place(stmt, k, index), stmt.loc)
            return
        for value in reversed(stmt.results):
            if isinstance(value.type, Array):
                self.pop_array(value, value.type)
        scalars: dict[str, list[Value]] = {}
        for value in stmt.results:
            if not isinstance(value.type, Array):
                scalars.setdefault(value.type.dtype, []).append(value)
        for dtype, found in scalars.items():
            self.move_top(dtype, "-", Constant(len(found)))
            for k, value in enumerate(found):
                if self._counts.get(value):
                    self.set(self.name(value), self.above_top(dtype, k))

    def pop_array(self, value: Value, ty: Array) -> None:
        self.move_top("i64", "-", Constant(ty.rank))
        sizes = tuple(self.above_top("i64", k) for k in range(ty.rank))
        made = self.new_array(value, Tuple(sizes, loose=True))
        self.move_top(ty.dtype, "-", Attribute(made, "size"))
        start = self.helper("start")
        self.set(start, Name(f"top_{ty.dtype}"))
        with self.nest(made, ty.rank) as index:
            self.add(Store(Element(made, index), self.on_tape(ty.dtype, Name(start))))
            self.add(Increase(Name(start), "+", Constant(1)))
