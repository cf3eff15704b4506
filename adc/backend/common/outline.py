"""Long functions are written in parts: the time to compile one grows faster than its length.

A part is a run of statements of one block. What it reads is passed to it, what is read later is
returned. Its memory is that of the function that it is part of: arrays which outlive an iteration
or the call are made outside the parts, and the rest lives as long as if it stood there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.memory.escape import flow
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    If,
    Literal,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.sums import lane_values
from adc.ir.types import Array
from adc.ir.walk import size

# A block of more statements than `MOST` is divided into parts of about `PART`.
MOST = 160
PART = 80
# An innermost loop is divided only beyond this: its iterations are short, a call of a part in each
# of them takes a noticeable part of the time.
INNERMOST = 400
FEW = 4


@dataclass
class Outlined:
    """A function without its parts, and the parts, callees first.

    Attributes
    ----------
    moved : list of (old, new)
        Loops that were rebuilt because parts were taken out of them.
    """

    fn: Function
    parts: list[Function] = field(default_factory=list)
    moved: list[tuple[Stmt, Stmt]] = field(default_factory=list)


def outline(
    fn: Function, escaping: frozenset[Value], stacked: frozenset[Value], taken: set[str]
) -> Outlined:
    """Divide a function in buffer form; `taken` are the names of functions, which grow.

    Arrays that are `stacked` are gone when a part returns.
    """
    outliner = _Outliner(fn, escaping, stacked, taken)
    body = outliner.block(fn.body, fn.results)
    return Outlined(replace(fn, body=tuple(body)), outliner.parts, outliner.moved)


def _reads(stmts: Sequence[Stmt]) -> dict[Value, None]:
    """Return what statements read, in order, their own results included."""
    found: dict[Value, None] = {}
    for stmt in walk(tuple(stmts)):
        reads = [*operands(stmt), *(y for block in blocks(stmt) for y in block.yields)]
        found.update((operand, None) for operand in reads if isinstance(operand, Value))
    return found


def _defined(stmts: Sequence[Stmt]) -> set[Value]:
    """Return what statements define, inside their blocks as well."""
    found: set[Value] = set()
    for stmt in walk(tuple(stmts)):
        found.update(stmt.results)
        if isinstance(stmt, For):
            found.add(stmt.index)
        for block in blocks(stmt):
            found.update(block.params)
    return found


def _is_innermost(stmt: Stmt) -> bool:
    """Whether a statement is a loop without calls in it, and without loops but for a few times."""
    if not isinstance(stmt, For | While):
        return False
    inside = [each for each in walk(stmt.body.stmts) if isinstance(each, For | While | Call)]
    return all(
        isinstance(each, For) and isinstance(each.trips, Literal) and each.trips.value <= FEW
        for each in inside
    )


class _Outliner:
    def __init__(
        self,
        fn: Function,
        escaping: frozenset[Value],
        stacked: frozenset[Value],
        taken: set[str],
    ) -> None:
        self.fn = fn
        self.escaping = escaping
        self.stacked = stacked
        self.origins = flow(fn)[0] if stacked else {}
        self.taken = taken
        self.lanes = lane_values(fn)
        self.parts: list[Function] = []
        self.moved: list[tuple[Stmt, Stmt]] = []

    def block(self, stmts: Sequence[Stmt], yields: Sequence[Operand]) -> list[Stmt]:
        if size(stmts) <= MOST:
            return list(stmts)
        stmts = [self.inside(stmt) for stmt in stmts]
        if size(stmts) <= MOST:
            return stmts
        # The last statement that reads a value; what the block yields is read after all of them.
        last: dict[Value, int] = {}
        for k, stmt in enumerate(stmts):
            last.update((value, k) for value in _reads((stmt,)))
        last.update((y, len(stmts)) for y in yields if isinstance(y, Value))
        found: list[Stmt] = []
        run: list[Stmt] = []
        for k, stmt in enumerate(stmts):
            if self.stays(stmt):
                self.close(found, run, last, k)
                found.append(stmt)
                continue
            run.append(stmt)
            if size(run) >= PART:
                self.close(found, run, last, k + 1)
        self.close(found, run, last, len(stmts))
        return found

    def inside(self, stmt: Stmt) -> Stmt:
        """Return a statement with its own blocks divided."""
        if size((stmt,)) <= (INNERMOST if _is_innermost(stmt) else MOST):
            return stmt

        def divided(block: Block) -> Block:
            return replace(block, stmts=tuple(self.block(block.stmts, block.yields)))

        match stmt:
            case If():
                new: Stmt = replace(stmt, then=divided(stmt.then), orelse=divided(stmt.orelse))
            case For() | While():
                new = replace(stmt, body=divided(stmt.body))
            case _:
                return stmt
        self.moved.append((stmt, new))
        return new

    def stays(self, stmt: Stmt) -> bool:
        """Whether a statement must stand in the block itself.

        It does if it makes an array that outlives the block, or moves a frame, or adds to lanes:
        where the frames and lanes of a loop lie is arranged in the loop.
        """
        if isinstance(stmt, Push | Pop) or any(v in self.lanes for v in operands(stmt)):
            return True
        if isinstance(stmt, If) and self.lanes.intersection(_reads((stmt,))):
            return True
        return isinstance(stmt, Apply) and any(v in self.escaping for v in stmt.results)

    def close(self, found: list[Stmt], run: list[Stmt], last: dict[Value, int], after: int) -> None:
        """Turn the statements in `run`, which end in front of place `after`, into a part."""
        found += self.outside(run, last, after)
        if size(run) < PART // 2:
            found += run
        else:
            defined = _defined(run)
            params = tuple(value for value in _reads(run) if value not in defined)
            results = tuple(v for stmt in run for v in stmt.results if last.get(v, -1) >= after)
            name = self.name()
            part = Function(name, params, tuple(run), results)
            self.parts.append(part)
            found.append(Call(results, f"P{len(self.parts)}", name, params, loc=run[0].loc))
        run.clear()

    def outside(self, run: list[Stmt], last: dict[Value, int], after: int) -> list[Stmt]:
        """Take the arrays on the stack that are read after a part out of it; they are made before.

        Their sizes are numbers, and so is what they are filled with, or else they stay with what
        precedes them.
        """
        read = {v for stmt in run for v in stmt.results if last.get(v, -1) >= after}
        needed = self.stacked & frozenset[Value]().union(
            *(self.origins.get(v, frozenset()) for v in read)
        )
        moved: list[Stmt] = [s for s in run if isinstance(s, Apply) and s.result in needed]
        if any(isinstance(arg, Value) for stmt in moved for arg in operands(stmt)):
            moved = list(run)
        run[:] = [stmt for stmt in run if stmt not in moved]
        return moved

    def name(self) -> str:
        k = 1
        while f"{self.fn.name}.part{k}" in self.taken:
            k += 1
        self.taken.add(f"{self.fn.name}.part{k}")
        return f"{self.fn.name}.part{k}"


def makes_arrays(part: Function, known: set[str], stacked: frozenset[Value]) -> bool:
    """Whether a part takes memory of the workspace, itself or in one of the parts in `known`.

    Arrays that are `stacked` take none.
    """
    return any(
        (
            isinstance(stmt, Apply | Pop)
            and any(isinstance(v.type, Array) and v not in stacked for v in stmt.results)
        )
        or (isinstance(stmt, Call) and stmt.callee in known)
        for stmt in walk(part.body)
    )
