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

If they are cheap, as in ``s += (x[i] - y[i]) * (x[i] - y[i])``, and the loop is the only one in
a loop around it, a block is one vector, which LLVM keeps in a register::

    for block in range(0, n // 8 * 8, 8):
        for k in range(8):
            terms[k] = (x[block + k] - y[block + k]) * (x[block + k] - y[block + k])
        s = s + terms[0] + terms[1] + … + terms[7]
    for i in range(n // 8 * 8, n):
        s = s + (x[i] - y[i]) * (x[i] - y[i])

The additions of a sum take as long as before, but there are fewer instructions until the next sum,
which the processor starts before it is done with this one. Where other loops stand between two
sums, it does not.

No bit changes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from adc.ir.analysis.memory.iterations import IterationAnalysis
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.sums import LANES
from adc.ir.types import INT, Array
from adc.ir.walk import clone, map_functions, map_stmts, substitute

# Terms must cost at least this many times more than the additions: storing and reloading them is a
# small part of that.
_EXPENSIVE = 8.0
# A loop of fewer iterations is not transformed.
_FEW = 16
# The terms in a block of cheap ones: a vector of numbers of 64 bits.
_VECTOR = 8
# The updates that LLVM does not vectorise, as it keeps their order.
_ORDERED = {arith.add, arith.sub}


def strip_mine(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with expensive terms of ordered sums computed first."""
    return map_functions(fn, lambda each: _StripMiner(each).run())


class _StripMiner(IterationAnalysis):
    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt], alone: bool = False) -> list[Stmt]:
        """Return statements; `alone` says that no two loops are in the loop that they are in."""
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and self.adds_up(stmt) and self.independent(stmt):
                if self.cost(stmt) >= _EXPENSIVE:
                    done += self.in_blocks(stmt)
                    continue
                if alone and self.is_plain(stmt):
                    done += self.in_vectors(stmt)
                    continue
            inside = _loops(stmt.body) == 1 if isinstance(stmt, For | While) else alone
            done.append(map_stmts(stmt, functools.partial(self.stmts, alone=inside)))
        return done

    def adds_up(self, loop: For) -> bool:
        """Whether an innermost loop updates numbers in order."""
        # LLVM does not vectorise loops with an early exit.
        if not loop.body.params or any(
            isinstance(s, For | While | Check) for s in walk(loop.body.stmts)
        ):
            return False
        if isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW:
            return False
        # The lanes of a `sum` belong to its loop.
        return bool(steps := self.steps(loop)) and not any(step.op.reorders for step in steps)

    def steps(self, loop: For) -> list[Apply]:
        """Return the operations that update the numbers that a loop carries."""
        return [step for steps in self.sums(loop) or () for step in steps]

    def terms(self, loop: For) -> list[Apply]:
        """Return the operations that compute the terms."""
        chain = {step.result for step in self.steps(loop)}
        inside = walk(loop.body.stmts)
        return [s for s in inside if isinstance(s, Apply) and not chain.intersection(s.results)]

    def cost(self, loop: For) -> float:
        return sum(
            stmt.op.cost
            for stmt in self.terms(loop)
            if stmt.op.kinds == "f" or stmt.op.cost < 8 or stmt.result.type.kind == "f"
        )

    def is_plain(self, loop: For) -> bool:
        """Whether terms are computed, in floating point, from neighbouring elements of arrays."""
        if any(s.op not in _ORDERED or s.result.type.kind != "f" for s in self.steps(loop)):
            return False
        # Integers among them may be indices.
        if not self.terms(loop) or not all(
            isinstance(stmt, Apply | Load) and all(v.type.kind == "f" for v in stmt.results)
            for stmt in loop.body.stmts
        ):
            return False
        return all(self.is_near(s, loop) for s in loop.body.stmts if isinstance(s, Load))

    def is_near(self, load: Load, loop: For) -> bool:
        """Whether iterations read the elements of a row one after the other, or the same one."""
        steps = [self.facts.form(index).coefficient(loop.index) for index in load.index]
        ty = load.array.type
        is_row = isinstance(ty, Array) and ty.layout == "C"
        return is_row and not any(steps[:-1]) and steps[-1:] in ([0], [1])

    def in_blocks(self, loop: For) -> list[Stmt]:
        done: list[Stmt] = []
        loc, size = loop.loc, integer(LANES)

        apply = partial(self.applied, loc)
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

    def in_vectors(self, loop: For) -> list[Stmt]:
        """Return a loop over whole blocks, and one over the iterations that are left."""
        done: list[Stmt] = []
        loc, size = loop.loc, integer(_VECTOR)

        apply = partial(self.applied, loc)
        trips = self.integer(loop.trips, done)
        # A negative number of iterations is none, and none are left.
        some = apply("maximum", trips, integer(0), done)
        blocks = apply("floordiv", some, size, done)
        covered = apply("mul", blocks, size, done)
        left = apply("mod", some, size, done)
        between = tuple(self.names.value(result) for result in loop.results)
        number, at = (Value(self.names.fresh(loop.index.name), INT) for _ in range(2))
        body, arrays = self.vector(loop, number)
        whole = replace(loop, index=number, trips=blocks, body=body)
        done += [Apply((a,), OPS["empty"], (size,), (a.type.dtype,), loc) for a in arrays]
        # The loop as it was, from the end of the last block.
        env: dict[Value, Operand] = {}
        params = tuple(self.names.value(param) for param in loop.body.params)
        env.update(zip(loop.body.params, params, strict=True))
        stmts: list[Stmt] = []
        env[loop.index] = apply("add", covered, at, stmts)
        stmts += clone(loop.body.stmts, env, self.names)
        rest_body = Block(params, tuple(stmts), _substituted(loop.body.yields, env))
        label = self.names.fresh(f"{loop.label}.rest")
        rest = replace(loop, label=label, index=at, trips=left, body=rest_body)
        first, last = (rest, whole) if loop.down else (whole, rest)
        return [*done, replace(first, results=between), replace(last, init=between)]

    def vector(self, loop: For, number: Value) -> tuple[Block, list[Value]]:
        """Return an iteration over a block, given its number, and the arrays of its terms."""
        place = Value(self.names.fresh(loop.index.name), INT)
        start = Value(self.names.fresh("n"), INT)
        split = self.split(loop, place)
        own = Apply((loop.index,), OPS["add"], (start, place), (), loop.loc)
        label, body = self.names.fresh(f"{loop.label}.terms"), Block((), (own, *split.body), ())
        stmts: list[Stmt] = [
            Apply((start,), OPS["mul"], (number, integer(_VECTOR)), (), loop.loc),
            For((), label, place, integer(_VECTOR), (), body, loop.down, loop.loc),
        ]
        params = tuple(self.names.value(param) for param in loop.body.params)
        now: tuple[Operand, ...] = params
        order = range(_VECTOR)
        for k in reversed(order) if loop.down else order:
            env: dict[Value, Operand] = {split.index: integer(k)}
            env.update(zip(split.rest.params, now, strict=True))
            stmts += clone(split.rest.stmts, env, self.names)
            now = _substituted(split.rest.yields, env)
        return Block(params, tuple(stmts), now), split.terms


def _loops(block: Block) -> int:
    """Return how many loops, calls and products run in a block."""
    busy = [s for s in walk(block.stmts) if isinstance(s, For | While | Call | Gemm)]
    return sum(not _only_checks(stmt) for stmt in busy)


def _only_checks(stmt: Stmt) -> bool:
    """Whether a statement is a loop of checks, which runs if one of them fails (`hoist_checks`)."""
    if not isinstance(stmt, For) or stmt.results:
        return False
    return all(isinstance(s, Apply | Load | Check | If | For) for s in walk(stmt.body.stmts))


def _substituted(yields: Sequence[Operand], env: dict[Value, Operand]) -> tuple[Operand, ...]:
    return tuple(substitute(each, env) for each in yields)


__all__ = ["strip_mine"]
