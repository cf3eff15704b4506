"""The accesses of a launch's threads to arrays that other threads may access as well."""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir.analysis.dependence.threads import Threads
from adc.ir.core import (
    Apply,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    walk,
)
from adc.ir.ops import arith

# The most elements that a thread accumulates in private variables.
_TOTALS = 16


class Access:
    """The accesses of the threads of a nest to arrays that they did not allocate."""

    def __init__(self, loops: Sequence[For], threads: Threads | None) -> None:
        self.loops = loops
        self.counters = [each.index for each in loops]
        self.threads = threads
        self.made: dict[Operand, Stmt] = {}
        self.found: dict[Value, list[Load | Write]] = {}
        self._own: dict[Value, bool] = {}
        for stmt in walk(loops[-1].body.stmts) if loops else ():
            self.made.update(dict.fromkeys(stmt.results, stmt))
            for block in blocks(stmt):
                self.made.update(dict.fromkeys(block.params, stmt))
            if isinstance(stmt, For):
                self.made[stmt.index] = stmt
            if isinstance(stmt, Load | Write):
                for root in self.outside(stmt.array):
                    self.found.setdefault(root, []).append(stmt)

    def outside(self, array: Value) -> list[Value]:
        """Return the arrays that `array` may be and that other threads may access."""
        if self.threads is None:
            return [array]
        roots = self.threads.roots(array)
        return [v for v in roots if isinstance(v, Value) and v not in self.threads.inside]

    def is_own(self, array: Value) -> bool:
        """Whether no two threads touch the same element of an array."""
        return not self.loops or all(map(self._is_own, self.outside(array)))

    def _is_own(self, array: Value) -> bool:
        if array not in self._own:
            found = self.found[array]
            axes: list[set[tuple[object, ...]]] = [
                {self.form(stmt.index[axis]) for stmt in found}
                for axis in range(len(found[0].index))
            ]
            same = [forms.pop() for forms in axes if len(forms) == 1]
            firsts = {form[0] for form in same}
            self._own[array] = firsts.issuperset(self.counters)
        return self._own[array]

    def form(self, operand: Operand) -> tuple[object, ...]:
        """Return a normal form of a number: different forms only if the numbers may differ."""
        match self.made.get(operand):
            case Apply(op=op, args=(a,), results=(made,)) if op.converts:
                if made.type.dtype == a.type.dtype:
                    return self.form(a)
            case Apply(op=op, args=(a, b)) if op in (arith.add, arith.sub, arith.mul):
                for one, other, side in ((a, b, "right"), (b, a, "left")):
                    fixed = self.is_shared(other)
                    if op is arith.mul:
                        fixed = isinstance(other, Literal) and other.value != 0
                    if fixed:
                        return (*self.form(one), op.name, side, other)
        return (operand,)

    def is_shared(self, operand: Operand) -> bool:
        """Whether a number is the same in all threads, as it was available before."""
        return operand not in self.made and operand not in self.counters

    def is_uniform(self, index: Sequence[Operand]) -> bool:
        """Whether neighbouring threads probably have the same index."""
        seen: set[Operand] = set()
        waiting = list(index)
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            stmt = self.made.get(each)
            if each in self.counters or isinstance(stmt, Load):
                return False
            if isinstance(stmt, Pop):
                pushed = self._pushed(stmt, each)
                if not pushed:
                    return False
                waiting += pushed
            if isinstance(stmt, Apply):
                waiting += stmt.args
            elif isinstance(stmt, If):
                waiting += [block.yields[stmt.results.index(each)] for block in blocks(stmt)]
            elif isinstance(stmt, For | While) and not (
                isinstance(stmt, For) and each == stmt.index
            ):
                values = stmt.body.params if each in stmt.body.params else stmt.results
                k = values.index(each)
                waiting += [stmt.init[k], stmt.body.yields[k + isinstance(stmt, While)]]
        return True

    def _pushed(self, pop: Pop, value: Operand) -> list[Operand]:
        """Return what may have been pushed where a value is popped; nothing if it is not known."""
        frames = [
            each.values
            for each in walk(self.loops[-1].body.stmts)
            if isinstance(each, Push)
            and [v.type for v in each.values] == [v.type for v in pop.results]
        ]
        return [values[pop.results.index(value)] for values in frames]

    def totals(self) -> dict[tuple[Value, tuple[Operand, ...]], Write]:
        """Return elements that are only added to, and that a thread accumulates privately.

        That is where all iterations of a loop in a thread add to one element, or all threads do.
        """
        found: dict[tuple[Value, tuple[Operand, ...]], Write] = {}
        stmts = self.loops[-1].body.stmts
        first = {v for stmt in stmts for v in stmt.results}
        for stmt in stmts:
            for write in walk((stmt,)):
                if not isinstance(write, Write) or write.array in self.made:
                    continue
                if write.value.type.kind != "f" or not self.only_grows(write.array):
                    continue
                shared = all(map(self.is_shared, write.index)) and not self.is_own(write.array)
                fixed = all(
                    v in self.counters or self.is_shared(v) or v in first for v in write.index
                )
                again = isinstance(stmt, For | While) and fixed
                if (shared or again) and len(found) < _TOTALS:
                    found.setdefault((write.array, write.index), write)
        return found

    def only_grows(self, array: Value) -> bool:
        """Whether threads only add to the elements of an array."""
        return all(isinstance(each, Write) and each.accumulate for each in self.found[array])


def nest_of(loop: For) -> list[For]:
    """Return the loops of which a launch has a thread for every combination of iterations."""
    loops = [loop]
    while True:
        stmts = loops[-1].body.stmts
        if len(stmts) != 1 or not isinstance(stmts[0], For) or not stmts[0].parallel:
            return loops
        loops.append(stmts[0])


def atomics(fn: Function) -> list[Write]:
    """Return the additions of threads to elements that others may add to at the same time."""
    found: list[Write] = []

    def look(stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            if isinstance(stmt, For) and stmt.parallel:
                loops = nest_of(stmt)
                access = Access(loops, Threads(loops[0]))
                totals = access.totals()
                found.extend(
                    each
                    for each in walk(loops[-1].body.stmts)
                    if isinstance(each, Write)
                    and each.accumulate
                    and not access.is_own(each.array)
                    and not (
                        (each.array, each.index) in totals
                        and all(map(access.is_shared, each.index))
                    )
                )
            else:
                for block in blocks(stmt):
                    look(block.stmts)

    look(fn.body)
    return found
