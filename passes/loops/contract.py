"""Shrink arrays whose elements are read only where they were written (array contraction).

A number that is stored and loaded in the same iteration needs no array. An array of which every
iteration uses its own part, and which is dead afterwards, need be no larger than that part.

Before::

    %a.5 = for L %i in 0 to %n carrying (%a.1 = %a) {
      %a.3 = for M %k in 0 to %m carrying (%a.2 = %a.1) {
        %b = store %a.2[%i, %k] %t
        yield %b
      }
      … load %a.3[%i, %j] …
    }

After (``%a.5`` is dead; ``%a`` was empty)::

    for L %i in 0 to %n {
      %a.1 = empty[f64] %m
      %a.3 = for M %k in 0 to %m carrying (%a.2 = %a.1) {
        %b = store %a.2[%k] %t
        yield %b
      }
      … load %a.3[%j] …
    }

No bit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, accesses, own_axis
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Load,
    Operand,
    Stmt,
    Store,
    Value,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import (
    map_blocks,
    map_functions,
    map_operands,
    map_stmts,
    substitute,
    use_counts,
    with_stmts,
)


def contract(fn: Function) -> Function:
    """Return `fn` with scalars and smaller arrays in place of arrays."""
    return map_functions(fn, lambda each: _Contractor(each).run())


class _Contractor:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.facts = Facts()
        self.defs: dict[Value, Stmt] = {}
        for stmt in walk(fn.body):
            self.facts.define(stmt)
            for result in stmt.results:
                self.defs[result] = stmt
        self.env: dict[Value, Operand] = {}

    def run(self) -> Function:
        body = self.forwarded(self.fn.body)
        results = tuple(substitute(r, self.env) for r in self.fn.results)
        fn = replace(self.fn, body=body, results=results)
        self.uses = use_counts(fn)
        self.made: dict[Value, Apply] = {
            s.result: s for s in walk(fn.body) if isinstance(s, Apply) and s.op.sizes is not None
        }
        return replace(fn, body=self.shrunk(fn.body))

    # -- numbers ---------------------------------------------------------------------------

    def forwarded(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            if isinstance(stmt, Load):
                value = self.stored(stmt)
                if value is not None:
                    self.env[stmt.result] = value
                    continue
            kept.append(map_blocks(stmt, self.block))
        return tuple(kept)

    def block(self, block: Block) -> Block:
        stmts = self.forwarded(block.stmts)
        return with_stmts(block, stmts, [substitute(y, self.env) for y in block.yields])

    def stored(self, load: Load) -> Operand | None:
        """Return the value stored in the loaded element, if it is known."""
        array: Operand = load.array
        index = [self.facts.form(operand) for operand in load.index]
        while isinstance(array, Value):
            stmt = self.defs.get(array)
            if not isinstance(stmt, Store):
                return None
            at = [self.facts.form(operand) for operand in stmt.index]
            if at == index:
                value = substitute(stmt.value, self.env)
                if stmt.accumulate or value.type != load.result.type:
                    return None
                return value
            distances = [a - b for a, b in zip(at, index, strict=True)]
            if not any(not d.terms and d.const for d in distances):
                return None
            array = substitute(stmt.array, self.env)
        return None

    # -- parts -----------------------------------------------------------------------------

    def shrunk(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For):
                stmt = self.loop(stmt)
            kept.append(map_stmts(stmt, self.shrunk))
        return tuple(kept)

    def loop(self, loop: For) -> For:
        for k in reversed(range(len(loop.init))):
            init, param = loop.init[k], loop.body.params[k]
            if not isinstance(init, Value) or not isinstance(init.type, Array):
                continue
            made = self.made.get(init)
            if made is None or self.uses.get(init, 0) != 1 or self.uses.get(loop.results[k], 0):
                continue
            found: list[Access] = []
            if init.type.rank < 2 or not accesses(loop.body, param, k, found) or not found:
                continue
            own = own_axis(found, loop.index, self.facts)
            if own is not None:
                loop = self.inside(loop, k, made, own[0])
        return loop

    def inside(self, loop: For, k: int, made: Apply, axis: int) -> For:
        """Allocate an array in the loop, without one of its axes."""
        param = loop.body.params[k]
        versions = _versions(loop.body, param)
        ty = param.type
        assert isinstance(ty, Array)
        smaller = Array(ty.dtype, ty.rank - 1)
        small = {v: replace(v, type=smaller) for v in versions}

        def read(operand: Operand) -> Operand:
            return small.get(operand, operand) if isinstance(operand, Value) else operand

        def values(found: Sequence[Value]) -> tuple[Value, ...]:
            return tuple(small.get(v, v) for v in found)

        def block(b: Block) -> Block:
            return Block(values(b.params), tuple(map(stmt, b.stmts)), tuple(map(read, b.yields)))

        def stmt(s: Stmt) -> Stmt:
            touches = isinstance(s, Load | Store) and s.array in small
            s = map_blocks(map_operands(s, read), block)
            if isinstance(s, Load | Store) and touches:
                s = replace(s, index=tuple(x for a, x in enumerate(s.index) if a != axis))
            if isinstance(s, Store):
                return replace(s, result=small.get(s.result, s.result))
            if isinstance(s, For):
                return replace(s, results=values(s.results))
            return s

        skip = made.op.sizes or 0
        args = tuple(a for j, a in enumerate(made.args) if j != axis + skip)
        inner = block(loop.body)
        start = replace(made, results=(small[param],), args=args)

        def without(items: Sequence[Operand]) -> tuple[Operand, ...]:
            return tuple(x for j, x in enumerate(items) if j != k)

        body = Block(
            tuple(p for j, p in enumerate(inner.params) if j != k),
            (start, *inner.stmts),
            without(inner.yields),
        )
        results = tuple(r for j, r in enumerate(loop.results) if j != k)
        return replace(loop, results=results, init=without(loop.init), body=body)


def _versions(block: Block, array: Value) -> list[Value]:
    """Return the versions of an array that a block carries, those in inner loops included."""
    found = [array]
    now = array
    for stmt in block.stmts:
        if isinstance(stmt, Store) and stmt.array == now:
            now = stmt.result
            found.append(now)
        elif isinstance(stmt, For) and now in stmt.init:
            at = stmt.init.index(now)
            found += _versions(stmt.body, stmt.body.params[at])
            now = stmt.results[at]
            found.append(now)
    return found
