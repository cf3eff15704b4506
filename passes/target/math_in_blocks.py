"""Vectorise transcendental functions between inner loops: a block of iterations at a time.

A row of a matrix times a vector, then `tanh` of that: the outer loop has an inner one, so that LLVM
vectorises the inner one alone, and `tanh` is called for each number. If the iterations are
independent, the loop is strip-mined, and each block is distributed over its parts. Before::

    for L %i in 0 to %n {
      %s.1 = for M %j in 0 to %m carrying (%s = 0.0:f64) { … }
      %t = tanh %s.1
      write %h[%i] %t
    }

After, in short::

    sums = empty(128)
    for block in range(0, n, 128):
        for k in range(min(128, n - block)):
            sums[k] = …                             (the inner loop)
        for k in range(min(128, n - block)):
            h[block + k] = tanh(sums[k])

What a later part needs of an earlier one is stored for each iteration, or computed again if that
is cheap. No bit changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adc.ir.analysis.memory.iterations import IterationAnalysis
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Stmt,
    Value,
    Write,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.sums import LANES
from adc.ir.types import INT, Array
from adc.ir.walk import (
    clone,
    map_functions,
    map_stmts,
    stmt_reads,
    stmts_reads,
    substitute_stmt,
)

# A loop of fewer iterations is not transformed.
_FEW = 16
# The most that computing a number again may cost.
_CHEAP = 6.0
# The most numbers that an iteration stores.
_MOST = 8


def math_in_blocks(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with functions between inner loops in loops alone."""
    return map_functions(fn, lambda each: _Distributor(each).run())


class _Distributor(IterationAnalysis):
    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            found = self.distributed(stmt) if isinstance(stmt, For) else None
            done += [map_stmts(stmt, self.stmts)] if found is None else found
        return done

    def distributed(self, loop: For) -> list[Stmt] | None:
        """Return a loop over blocks, with a loop for each part; None if it does not pay."""
        parts = _parts(loop.body.stmts)
        if len(parts) < 2 or not any(map(_has_math, parts)) or not self.is_simple(loop):
            return None
        if not self.independent(loop):
            return None
        return _Parts(self, loop, parts).made()

    def is_simple(self, loop: For) -> bool:
        """Whether a loop carries nothing, stops nowhere, and makes no array."""
        if loop.body.params or loop.down or loop.parallel:
            return False
        if isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW:
            return False
        inside = list(walk(loop.body.stmts))
        if any(isinstance(stmt, Check | Print | Push | Pop) for stmt in inside):
            return False
        return not any(isinstance(v.type, Array) for stmt in inside for v in stmt.results)


class _Parts:
    """The parts of one loop."""

    def __init__(self, owner: _Distributor, loop: For, parts: Sequence[Sequence[Stmt]]) -> None:
        self.owner, self.names, self.loop = owner, owner.names, loop
        self.parts = [list(part) for part in parts]
        self.of = {
            value: (k, stmt)
            for k, part in enumerate(parts)
            for stmt in part
            for value in stmt.results
        }
        self.written = {stmt.array for stmt in walk(loop.body.stmts) if isinstance(stmt, Write)}
        self.arrays: dict[Value, Value] = {}

    def made(self) -> list[Stmt] | None:
        loop, loc = self.loop, self.loop.loc
        wanted = self.gathered()
        if len(self.arrays) > _MOST:
            return None
        done: list[Stmt] = []
        apply, size = self.owner.applied, integer(LANES)
        trips = self.owner.integer(loop.trips, done)
        rounded = apply(loc, "add", trips, integer(LANES - 1), done)
        blocks = apply(loc, "floordiv", rounded, size, done)
        for array in self.arrays.values():
            assert isinstance(array.type, Array)
            done.append(Apply((array,), OPS["empty"], (size,), (array.type.dtype,), loc))
        number = Value(self.names.fresh(loop.index.name), INT)
        stmts: list[Stmt] = []
        start = apply(loc, "mul", number, size, stmts)
        left = apply(loc, "sub", trips, start, stmts)
        count = apply(loc, "minimum", size, left, stmts)
        for k, part in enumerate(self.parts):
            stmts.append(self.part(k, part, wanted[k], start, count))
        return [*done, replace(loop, index=number, trips=blocks, body=Block((), tuple(stmts), ()))]

    def gathered(self) -> list[set[Value]]:
        """Find what each part needs of earlier ones: numbers to compute again, and to store."""
        wanted: list[set[Value]] = []
        for k, part in enumerate(self.parts):
            todo = [v for v in _read(part) if self.of.get(v, (k,))[0] < k]
            again: set[Value] = set()
            while todo:
                value = todo.pop()
                if value in again or value in self.arrays:
                    continue
                if self.again(value) <= _CHEAP:
                    again.add(value)
                    todo += [v for v in stmt_reads(self.of[value][1]) if v in self.of]
                else:
                    self.arrays[value] = Value(
                        self.names.fresh(f"{value.name}.lane"), Array(value.type.dtype, 1)
                    )
            wanted.append(again)
        return wanted

    def again(self, value: Value) -> float:
        """Return what it costs to compute a number again, infinity if that cannot be done."""
        if value not in self.of:
            return 0.0
        stmt = self.of[value][1]
        if isinstance(stmt, Load):
            own = float("inf") if stmt.array in self.written else 1.0
        elif isinstance(stmt, Apply):
            own = stmt.op.cost
        else:
            return float("inf")
        if own > _CHEAP:
            return own
        return own + sum(self.again(v) for v in stmt_reads(stmt))

    def part(
        self, k: int, part: Sequence[Stmt], again: set[Value], start: Value, count: Value
    ) -> For:
        """Return the loop of one part over a block."""
        loop, names = self.loop, self.names
        place = Value(names.fresh(loop.index.name), INT)
        index = Value(names.fresh(loop.index.name), INT)
        env: dict[Value, Operand] = {loop.index: index}
        own: list[Stmt] = [Apply((index,), OPS["add"], (start, place), (), loop.loc)]
        needed = {v for v in (*_read(part), *self.reads(again)) if self.of.get(v, (k,))[0] < k}
        for value in sorted(needed - again, key=lambda v: v.name):
            now = names.value(value)
            own += self.owner.loaded(now, self.arrays[value], place, loop.loc)
            env[value] = now
        earlier = [s for each in self.parts[:k] for s in each if again.intersection(s.results)]
        own += clone(earlier, env, names)
        own += [substitute_stmt(stmt, env) for stmt in self.owner.stmts(self.kept(k, part))]
        for value, array in self.arrays.items():
            if self.of[value][0] == k:
                own.append(Write(array, (place,), value, loc=loop.loc))
        label = names.fresh(f"{loop.label}.part")
        return For((), label, place, count, (), Block((), tuple(own), ()), loc=loop.loc)

    def reads(self, values: Iterable[Value]) -> set[Value]:
        return {v for value in values for v in stmt_reads(self.of[value][1])}

    def kept(self, k: int, part: Sequence[Stmt]) -> list[Stmt]:
        """Return a part without numbers that only later ones read, which compute them again."""
        alive = {value for value in self.arrays if self.of[value][0] == k}
        kept: list[Stmt] = []
        for stmt in reversed(part):
            if not isinstance(stmt, Apply | Load) or alive.intersection(stmt.results):
                kept.append(stmt)
                alive |= stmts_reads((stmt,))
        return kept[::-1]


def _parts(stmts: Sequence[Stmt]) -> list[list[Stmt]]:
    """Return the statements in parts: those between math alone, and those around it."""
    runs: list[list[Stmt]] = []
    before: bool | None = None
    for stmt in stmts:
        simple = isinstance(stmt, Apply | Load | Write)
        if simple != before:
            runs.append([])
        runs[-1].append(stmt)
        before = simple
    parts: list[list[Stmt]] = []
    for run in runs:
        alone = isinstance(run[0], Apply | Load | Write) and _has_math(run)
        if alone or not parts or _has_math(parts[-1]):
            parts.append([])
        parts[-1] += run
    return parts


def _has_math(stmts: Sequence[Stmt]) -> bool:
    """Whether statements outside of inner loops call functions that can be vectorised."""
    return any(
        isinstance(stmt, Apply) and stmt.op.libm is not None and not stmt.op.libm.exact
        for stmt in stmts
    )


def _read(stmts: Sequence[Stmt]) -> list[Value]:
    """Return what statements read, in a fixed order."""
    return sorted(stmts_reads(stmts), key=lambda value: value.name)


__all__ = ["math_in_blocks"]
