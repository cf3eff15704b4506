"""Vectorise the terms of an ordered sum: strip-mine the loop and compute each block first.

``s += x`` in a loop is a dependence chain of additions, which cannot be reordered without changing
the result; LLVM then does not vectorise the terms either. If they are expensive, a block of them is
computed first, and added up afterwards. Before::

    %s.1 = for L %i in 0 to %n carrying (%s = 0.0:f64) {
      %t = load %x[%i]
      %t.1 = exp %t
      %s.2 = add %s %t.1
      yield %s.2
    }

After, in short::

    terms = empty(128)
    for block in range(0, n, 128):
        for k in range(min(128, n - block)):
            terms[k] = exp(x[block + k])
        for k in range(min(128, n - block)):
            s = s + terms[k]

No bit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.iterations import IterationAnalysis
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Literal,
    Operand,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.sums import LANES
from adc.ir.types import INT
from adc.ir.walk import map_blocks

# Terms must cost at least this many times more than the additions: storing and reloading them is a
# small part of that.
_EXPENSIVE = 8.0
# A loop of fewer iterations is not transformed.
_FEW = 16


def strip_mine(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with expensive terms of ordered sums computed first."""
    callees = tuple(_StripMiner(each).run() for each in fn.callees)
    return replace(_StripMiner(fn).run(), callees=callees)


class _StripMiner(IterationAnalysis):
    def __init__(self, fn: Function) -> None:
        super().__init__(fn, private=False)

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and self.pays(stmt) and self.independent(stmt):
                done += self.in_blocks(stmt)
            else:
                done.append(
                    map_blocks(
                        stmt, lambda b: Block(b.params, tuple(self.stmts(b.stmts)), b.yields)
                    )
                )
        return done

    def pays(self, loop: For) -> bool:
        """Whether an innermost loop adds up, in order, terms that are expensive to compute."""
        inside = list(walk(loop.body.stmts))
        # LLVM does not vectorise loops with an early exit.
        if not loop.body.params or any(isinstance(s, For | While | Check) for s in inside):
            return False
        if isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW:
            return False
        sums = self.sums(loop)
        # The lanes of a `sum` belong to its loop.
        if not sums or any(step.op.reorders for steps in sums for step in steps):
            return False
        chain = {step.result for steps in sums for step in steps}
        cost = sum(
            stmt.op.cost
            for stmt in inside
            if isinstance(stmt, Apply) and not chain.intersection(stmt.results)
            if stmt.op.kinds == "f" or stmt.op.cost < 8 or stmt.result.type.kind == "f"
        )
        return cost >= _EXPENSIVE

    def in_blocks(self, loop: For) -> list[Stmt]:
        done: list[Stmt] = []
        loc, size = loop.loc, integer(LANES)

        def apply(name: str, a: Operand, b: Operand, into: list[Stmt]) -> Value:
            made = Value(self.names.fresh("n"), INT)
            into.append(Apply((made,), OPS[name], (a, b), (), loc))
            return made

        trips = self.integer(loop.trips, done)
        blocks = apply("floordiv", apply("add", trips, integer(LANES - 1), done), size, done)
        place = Value(self.names.fresh(loop.index.name), INT)
        split = self.split(loop, place)
        for each in split.terms:
            done.append(Apply((each,), OPS["empty"], (size,), (each.type.dtype,), loc))
        number = Value(self.names.fresh(loop.index.name), INT)
        stmts: list[Stmt] = []
        start = apply("mul", number, size, stmts)
        count = apply("minimum", size, apply("sub", trips, start, stmts), stmts)
        at = Apply((loop.index,), OPS["add"], (start, place), (), loc)
        first = Block((), (at, *split.body), ())
        labels = [self.names.fresh(f"{loop.label}.{name}") for name in ("terms", "sum")]
        # The values carried from block to block.
        params = tuple(self.names.value(param) for param in loop.body.params)
        ends = tuple(self.names.value(result) for result in loop.results)
        terms = For((), labels[0], place, count, (), first, loop.down, loc)
        rest = For(ends, labels[1], split.index, count, params, split.rest, loop.down, loc)
        whole = Block(params, (*stmts, terms, rest), ends)
        return [*done, replace(loop, index=number, trips=blocks, body=whole)]


__all__ = ["strip_mine"]
