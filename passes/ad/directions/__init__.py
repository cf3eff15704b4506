"""Compute several directions at once: tangents or cotangents get a further last axis.

A Jacobian needs the same derivative along many directions. All values that depend on `positions`,
the parameters that hold a direction, get a last axis of length `count`; everything else is computed
once for all directions. Neighbouring statements become one loop over the directions, placed after
the values that it reads::

    %a.dot = load %x.dot[%i]              %c = cos %a
    %c = cos %a                           %y.dots = for L %d in 0 to 8 carrying (…) {
    %b.dot = mul %a.dot %c                  %a.dot = load %x.dots[%i, %d]
    %y.dot = store %o.dot[%i] %b.dot        %b.dot = mul %a.dot %c
                                            %y.dots.1 = store %o.dots[%i, %d] %b.dot
                                            yield %y.dots.1
                                          }

A number that is read outside of such a loop is an array of `count` elements there. Branches, trip
counts and indices must be the same along all directions (else `DirectionsError`), so no code is
masked and no work wasted; this is the vector mode of Griewank and Walther ("Evaluating
Derivatives", ch. 3), for reverse code as well as for tangents. Each direction is computed by the
same operations as alone, except for sums, which are added term by term, and products of matrices.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.activity import ENTRY, Marks, dependent, functions
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Print,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    operands,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names, carried_yields, inner_values
from adc.passes.ad.directions.arrays import Arrays, DirectionsError
from adc.passes.ad.directions.loop import Loop


def directions(fn: Function, positions: Sequence[int], count: int) -> Function:
    """Return `fn` with an axis of `count` directions on the parameters `positions`.

    Results that depend on no direction are unchanged.

    Raises
    ------
    DirectionsError
        Where control flow, an index or a message depends on a direction, or so does a derivative
        that is a program of its own.
    """
    table = functions(fn)
    marks = dependent(fn, positions)
    opaque = {each.name for each in fn.derived}
    # Routines of libraries take arrays without such an axis.
    opaque |= {each.name for each in fn.callees if each.rule is not None or each.routine}
    if len(table) > len(fn.callees) + 1:
        raise DirectionsError("a function that calls itself under its own name")
    done: dict[str, _Widened] = {}
    for name in sorted(table, key=lambda each: bool(table[each].mirror)):
        each = table[name]
        recalled = done[each.mirror] if each.mirror in done else None
        done[name] = _Widened(name, table, marks, opaque, count, recalled)
    made = {name: each.function() for name, each in done.items()}
    callees = tuple(made[callee.name] for callee in fn.callees)
    return replace(made[ENTRY], callees=callees, derived=fn.derived)


def _is_no_product(stmt: Stmt) -> bool:
    return not isinstance(stmt, Gemm)


class _Widened(Arrays):
    """One function: its statements with directions."""

    def __init__(
        self,
        name: str,
        table: Mapping[str, Function],
        marks: Marks,
        opaque: set[str],
        count: int,
        recalled: _Widened | None,
    ) -> None:
        self.fn = fn = table[name]
        self._table, self._marks, self._opaque = table, marks, opaque
        recalling = [each for each in table.values() if each.mirror == name]
        names = Names() if recalled is None else recalled.names
        for each in (fn, *recalling):
            names.add(Names.of(each))  # recalled values must not share names with new ones
        super().__init__(fn, names, marks[name], count, recalling)
        # Directions of the mirrored function, or of this one.
        self._recalled = self.arrays if recalled is None else recalled.arrays
        # Pending statements, to be emitted in one loop over the directions.
        self._pending: list[Stmt] = []
        # The arrays that these store to first where the program's are the same in all directions.
        self._based: dict[Value, Value] = {}

    def function(self) -> Function:
        fn = self.fn
        params = tuple(self.bind(param) if self.wide(param) else param for param in fn.params)
        self._stmts(fn.body, None)
        results = tuple(self.array(r) if self.wide(r) else r for r in fn.results)
        body = tuple(self.builder.stmts)
        return replace(fn, params=params, body=body, results=results, callees=(), derived=())

    # -- pending statements ----------------------------------------------------------------

    def _waits(self, value: Operand) -> bool:
        return self.wide(value) and value not in self.arrays

    def _flush(self) -> None:
        """Emit the loops over the directions for the pending statements."""
        if not self._pending:
            return
        stmts, based = self._pending, self._based
        self._pending, self._based = [], {}
        loc = self.builder.loc
        for product, group in itertools.groupby(stmts, lambda each: isinstance(each, Gemm)):
            some = list(group)
            if product:
                for stmt in some:
                    assert isinstance(stmt, Gemm)
                    self.builder.loc = stmt.loc
                    self.multiplied(stmt)
            else:
                self.builder.loc = some[0].loc
                Loop(self, some, based).emit()
        self.builder.loc = loc

    def _wait(self, stmt: Apply | Load | Store) -> None:
        if isinstance(stmt, Store):
            array = stmt.array
            # The pending statements that share a loop with it.
            with_it = [*itertools.takewhile(_is_no_product, reversed(self._pending))]
            stored = any(isinstance(each, Store) and each.array == array for each in with_it)
            inside = {id(stmt), *map(id, with_it)}
            between = self._waits(array) and not self.users[array] <= inside
            if stored or between:
                self._flush()
            if not self.wide(array):
                self._based[array] = self.array(array)
        self._pending.append(stmt)

    def _settle(self) -> None:
        """Emit the pending products: later statements may change their operands."""
        if any(isinstance(stmt, Gemm) for stmt in self._pending):
            self._flush()

    # -- statements ------------------------------------------------------------------------

    def _stmts(self, stmts: Sequence[Stmt], block: Block | None) -> None:
        outer, self.within = self.within, block
        for stmt in stmts:
            self.builder.loc = stmt.loc
            self._stmt(stmt)
        self._flush()
        self.within = outer

    def _same(self, *found: Operand) -> None:
        if any(map(self.wide, found)):
            raise DirectionsError("control flow, an index or a message depends on a direction")

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply(args=args):
                if stmt.op.asks_shape:
                    self._size(stmt)
                elif not any(map(self.wide, args)):
                    self.builder.emit(stmt)
                elif any(isinstance(x.type, Array) for x in (*args, *stmt.results)):
                    self._same(*args[1:] if stmt.op.fills else ())
                    self._flush()
                    self.applied(stmt)
                else:
                    self._wait(stmt)
            case Load(array=array, index=index):
                self._same(*index)
                if self.wide(array):
                    self._wait(stmt)
                else:
                    self.builder.emit(stmt)
            case Store(result=result, index=index):
                self._same(*index)
                if self.wide(result):
                    self._wait(stmt)
                else:
                    self._settle()
                    self.builder.emit(stmt)
            case Check() | Print():
                self._same(*operands(stmt))
                self.builder.emit(stmt)
            case Recall(result=result, value=value):
                if not self.wide(result):
                    self.builder.emit(stmt)
                    return
                if value not in self._recalled:
                    self._flush()
                self.builder.emit(Recall(self.bind(result), self._recalled[value], stmt.loc))
            case Gemm():
                if any(map(self.wide, (stmt.a, stmt.b, *stmt.results))):
                    self._pending.append(stmt)
                else:
                    self._settle()
                    self.builder.emit(stmt)
            case If() | For() | While() | Reverse() | Call():
                if self._is_same(stmt):
                    self._settle()
                    self.builder.emit(stmt)
                    return
                self._flush()
                self._control(stmt)
            case _:
                raise DirectionsError("directions are added to value form")

    def _is_same(self, stmt: Stmt) -> bool:
        """Whether nothing in a statement depends on a direction."""
        return all(map(self._is_same_alone, walk((stmt,))))

    def _is_same_alone(self, stmt: Stmt) -> bool:
        found = (*operands(stmt), *stmt.results, *inner_values(stmt))
        if isinstance(stmt, Call) and stmt.callee in self._table:
            # One that recalls values with directions, or makes some for another one.
            if self._marks[stmt.callee]:
                return False
        return not any(map(self.wide, found))

    def _size(self, stmt: Apply) -> None:
        (array,) = stmt.args
        assert isinstance(array, Value)
        if self._waits(array):
            self._flush()
        self.builder.emit(replace(stmt, args=(self.arrays.get(array, array),)))

    # -- control flow ----------------------------------------------------------------------

    def _results(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(self.bind(value) if self.wide(value) else value for value in values)

    def _yields(self, operands: Sequence[Operand], like: Sequence[Value]) -> tuple[Operand, ...]:
        return tuple(
            self.array(operand) if self.wide(value) else operand
            for operand, value in zip(operands, like, strict=True)
        )

    def _control(self, stmt: If | For | While | Reverse | Call) -> None:
        match stmt:
            case If(cond=cond, then=then, orelse=orelse):
                self._same(cond)
                arms = [self._block(arm, arm.yields, stmt.results) for arm in (then, orelse)]
                results = self._results(stmt.results)
                self.builder.emit(replace(stmt, results=results, then=arms[0], orelse=arms[1]))
            case Call():
                self._call(stmt)
            case _:
                if isinstance(stmt, For):
                    self._same(stmt.trips)
                params = stmt.body.params
                init = self._yields(stmt.init, params)
                own = self._results(params)
                first = stmt.body.yields[: int(isinstance(stmt, While))]
                self._same(*first)
                body = self._block(stmt.body, carried_yields(stmt), params)
                body = Block(own, body.stmts, (*first, *body.yields))
                results = self._results(stmt.results)
                self.builder.emit(replace(stmt, results=results, init=init, body=body))

    def _block(self, block: Block, found: Sequence[Operand], like: Sequence[Value]) -> Block:
        loc = self.builder.loc
        with self.builder.block() as stmts:
            self._stmts(block.stmts, block)
            self.builder.loc = loc
            yields = self._yields(found, like)
        return Block(block.params, tuple(stmts), yields)

    def _call(self, stmt: Call) -> None:
        if stmt.callee not in self._table or stmt.callee in self._opaque:
            raise DirectionsError("a derivative that is a program of its own")
        callee = self._table[stmt.callee]
        inner = self._marks[stmt.callee]
        args = tuple(
            self.array(arg) if param in inner else arg
            for param, arg in zip(callee.params, stmt.args, strict=True)
        )
        results = self._results(stmt.results)
        self.builder.emit(replace(stmt, args=args, results=results))


__all__ = ["DirectionsError", "directions"]
