"""Alias analysis of arrays in buffer form."""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir.analysis.memory.escape import flow
from adc.ir.core import Apply, For, Function, Pop, Stmt, Value, While, blocks


class Aliases:
    """The aliases of the arrays of a function."""

    def __init__(self, fn: Function) -> None:
        # The arrays that each value may be, parameters of the function included.
        self.given = frozenset(fn.params)
        self._origins = flow(fn, fn.params)[0]
        # By array: the one that it is written over, and the arrays that loops around it carry.
        self._over: dict[Value, Value] = {}
        self._older: dict[Value, frozenset[Value]] = {each: frozenset() for each in fn.params}
        self._note(fn.body, frozenset(fn.params))

    def _note(self, stmts: Sequence[Stmt], params: frozenset[Value]) -> None:
        for stmt in stmts:
            if isinstance(stmt, Apply | Pop):
                self._older.update((made, params) for made in stmt.results)
            if isinstance(stmt, Apply) and stmt.op.aliases == "whole":
                assert isinstance(stmt.args[0], Value)
                self._over[stmt.result] = stmt.args[0]
            for block in blocks(stmt):
                carried = block.params if isinstance(stmt, For | While) else ()
                self._note(block.stmts, params.union(carried))

    def written_over(self, array: Value) -> Value:
        """Return the array that owns these elements: itself, or the one that it is written over."""
        while array in self._over:
            array = self._over[array]
        return array

    def is_part(self, array: Value) -> bool:
        """Whether an array may begin elsewhere in memory than another one that it overlaps.

        That is a view of a row of one, or a parameter.
        """
        of = self.of(array)
        rank = array.type.rank
        return not self.given.isdisjoint(of) or any(each.type.rank != rank for each in of)

    def of(self, array: Value) -> set[Value]:
        """Return the arrays that one may be, by their allocations."""
        found: set[Value] = set()
        waiting = [array]
        while waiting:
            for each in self._origins.get(waiting.pop(), ()):
                if each in self._over:
                    waiting.append(self._over[each])
                else:
                    found.add(each)
        return found

    def may_be_one(self, a: Value, b: Value) -> bool:
        """Whether two arrays may overlap in memory."""
        mine, other = self.of(a), self.of(b)
        if a == b or not (self.given.isdisjoint(mine) or self.given.isdisjoint(other)):
            return True
        # The arrays that enclosing loops carry were allocated before it.
        if (mine == {a} and b in self._older[a]) or (other == {b} and a in self._older[b]):
            return False
        return not mine.isdisjoint(other)
