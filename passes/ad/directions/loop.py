"""One loop over the directions, for neighbouring statements on numbers, loads and stores.

In the loop, numbers are scalars. Those that are read after it are stored in an array, and the
arrays that are stored to are loop-carried: no iteration touches another direction's elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    For,
    Load,
    Operand,
    Stmt,
    Store,
    Value,
)
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array
from adc.passes.ad.directions.arrays import Arrays


class Loop:
    """A loop over the directions: of statements on numbers, and of loads and stores."""

    def __init__(self, body: Arrays, stmts: Sequence[Stmt], based: Mapping[Value, Value]) -> None:
        self.based = based
        self.body, self.names, self.builder = body, body.names, body.builder
        self.inside = set(map(id, stmts))
        self.stmts = self._in_order(stmts)
        self.d = self.builder.value("d", INT)
        # By the value before the loop: its version at the start and at the end of an iteration.
        self.params: dict[Value, Value] = {}
        self.now: dict[Value, Value] = {}
        self.numbers: dict[Operand, Operand] = {}
        self.versions: dict[Value, Value] = {}

    def _in_order(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        """Move reads of an old version of an array before the store that follows it."""
        stored: dict[Value, int] = {}
        found: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Load) and stmt.array in stored:
                found.insert(stored[stmt.array], stmt)
                stored = {array: at + (at >= stored[stmt.array]) for array, at in stored.items()}
                continue
            if isinstance(stmt, Store):
                stored[stmt.array] = len(found)
            found.append(stmt)
        return found

    def emit(self) -> None:
        body, build = self.body, self.builder
        defined = [stmt.results[0] for stmt in self.stmts]
        outside = [v for v in defined if not body.users.get(v, set()) <= self.inside]
        numbers = [v for v in outside if not isinstance(v.type, Array)]
        targets = {v: self._target(v) for v in numbers}
        for stmt in self.stmts:
            array = self._before(stmt.array) if isinstance(stmt, Store) else None
            if array is not None:
                self._carry(array)
        with build.block() as stmts:
            for stmt in self.stmts:
                build.loc = stmt.loc
                self._stmt(stmt)
            for v in numbers:
                array = targets[v]
                stored = build.store(self.now[array], [self.d], self._number(v))
                self.now[array] = stored
        block = Block(tuple(self.params.values()), tuple(stmts), tuple(self.now.values()))
        results = tuple(self.names.value(array) for array in self.params)
        init = tuple(self.params)
        after = dict(zip(self.now.values(), results, strict=True))
        label = self.names.fresh("L")
        trips = integer(body.count)
        build.emit(For(results, label, self.d, trips, init, block, loc=build.loc))
        for v in numbers:
            body.arrays[v] = after[self.now[targets[v]]]
        for stmt in self.stmts:
            if isinstance(stmt, Store) and self.versions[stmt.result] in after:
                body.arrays[stmt.result] = after[self.versions[stmt.result]]

    def _carry(self, array: Value) -> None:
        if array not in self.params:
            self.params[array] = self.now[array] = self.names.value(array)

    def _target(self, value: Value) -> Value:
        """Return the array for a number that is read after the loop.

        A number that a loop of the program carries reuses the array of its previous version.
        """
        body = self.body
        block = body.within
        if block is not None and block.params:
            first = len(block.yields) - len(block.params)
            for param, found in zip(block.params, block.yields[first:], strict=True):
                array = body.arrays.get(param)
                if (
                    found == value
                    and array is not None
                    and array not in self.params
                    and body.users.get(param, set()) <= self.inside
                ):
                    self._carry(array)
                    return array
        dtype = (value.type.dtype,)
        empty = self.builder.apply(
            "empty", integer(body.count), params=dtype, hint=f"{value.name}s"
        )
        self._carry(empty)
        return empty

    def _number(self, operand: Operand) -> Operand:
        """Return a number along the direction of an iteration."""
        if not self.body.wide(operand):
            return self.body.strong(operand)
        assert isinstance(operand, Value)
        if operand not in self.numbers:
            array = self.body.arrays[operand]
            found: Value = self.builder.load(self.params.get(array, array), [self.d], operand.name)
            if found.type != operand.type:
                found = self.builder.apply("cast", found, params=(str(operand.type),))
            self.numbers[operand] = found
        return self.numbers[operand]

    def _stmt(self, stmt: Stmt) -> None:
        body, build = self.body, self.builder
        match stmt:
            case Apply(op=op, args=args):
                read = tuple(self._number(x) if body.wide(x) else x for x in args)
                if op.reorders:
                    op = OPS["add"]
                build.emit(replace(stmt, op=op, args=read))
                self.numbers.update((each, each) for each in stmt.results)
            case Load(result=result, array=array, index=index):
                build.emit(Load(result, self._version(array), (*index, self.d), stmt.loc))
                self.numbers[result] = result
            case Store(result=result, array=array, value=value):
                old = self._version(array)
                self.versions[result] = new = build.store(
                    old, [*stmt.index, self.d], self._number(value), accumulate=stmt.accumulate
                )
                for root, now in self.now.items():
                    if now == old:
                        self.now[root] = new

    def _before(self, array: Value) -> Value | None:
        """Return an array as it was before the loop; None for one that is stored in it."""
        return self.based.get(array) or self.body.arrays.get(array)

    def _version(self, array: Value) -> Value:
        """Return the current version of an array in an iteration."""
        if array in self.versions:
            return self.versions[array]
        found = self._before(array)
        assert found is not None
        return self.params.get(found, found)


__all__ = ["Loop"]
