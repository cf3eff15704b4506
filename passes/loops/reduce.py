"""Let reverse loops accumulate in scalars with several lanes rather than in memory.

Cotangents of values that every iteration reads are sums over the iterations. adc may choose their
order (`adc.ir.sums`).

Before::

    %w.ct.2, %x.ct.2 = reverse L %i.r carrying (%w.ct = 0.0:f64, %x.ct = %x.ct.0) {
      %c = …
      %w.ct.1 = add %w.ct %c
      %x.ct.1 = accumulate %x.ct[%k] %c
      yield %w.ct.1 %x.ct.1
    }

After (``%k`` is loop-invariant, and ``%x.ct`` has such an element even for zero iterations; else
the last statement is guarded by a test of the trip count)::

    %w.ct.2, %t = reverse L %i.r carrying (%w.ct = 0.0:f64, %s = 0.0:f64) {
      %c = …
      %w.ct.1 = sum %w.ct %c
      %s.1 = sum %s %c
      yield %w.ct.1 %s.1
    }
    %x.ct.2 = accumulate %x.ct.0[%k] %t

The pass runs before `remat`, so that all plans add in the same order.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.ir.analysis.sizes.affine import Facts
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import zero
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    If,
    Literal,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.sums import summed
from adc.ir.types import B1, BOOL, INT, Array, Scalar
from adc.ir.walk import (
    Names,
    loop_values,
    map_blocks,
    map_functions,
    map_stmts,
    stmts_reads,
    substitute_stmt,
    with_stmts,
)
from adc.passes.loops.state import is_sequential


def reduce(fn: Function) -> Function:
    """Return `fn` with sums in lanes in its reverse loops."""
    names = Names.of(fn)
    for callee in fn.callees:
        names.add(Names.of(callee))

    every = {each.name: each for each in (*fn.callees, fn)}

    def done(each: Function) -> Function:
        mirrored = every.get(each.mirror, each)
        return replace(each, body=tuple(_Reducer(names, each, mirrored).stmts(each.body)))

    return map_functions(fn, done)


@dataclass
class _Group:
    """Additions to one element of a carried array: the scalar that replaces it."""

    index: tuple[Operand, ...]
    param: Value
    now: Value


class _Reducer:
    def __init__(self, names: Names, fn: Function, mirrored: Function) -> None:
        self.names = names
        self.facts = Facts()
        self.shapes = Shapes(fn, names) if fn is mirrored else None
        self.loops = {s.label: s for s in walk(mirrored.body) if isinstance(s, For | While)}
        for stmt in walk((*mirrored.body, *fn.body)):
            self.facts.mirror(stmt, self.loops)
            self.facts.define(stmt)

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            mark = self.facts.mark()
            if isinstance(stmt, Reverse) and isinstance(loop := self.loops[stmt.loop], For):
                self.facts.enter_loop(loop)
            stmt = map_stmts(stmt, self.stmts)
            self.facts.release(mark)
            if isinstance(stmt, Reverse):
                stmt, after = self.memory(stmt)
                if is_sequential(self.loops[stmt.loop], stmt, self.facts):
                    stmt = self.with_closed_sums(stmt)
                else:
                    stmt = self.numbers(stmt)
                done.append(stmt)
                done += after
            else:
                done.append(stmt)
        return done

    # -- numbers ---------------------------------------------------------------------------

    def numbers(self, loop: Reverse) -> Reverse:
        """Turn additions to carried numbers into sums if no partial sum is read."""
        for k, param in enumerate(loop.body.params):
            if isinstance(param.type, Scalar) and param.type.kind == "f":
                found = _with_sums(loop.body, param)
                if found is not None:
                    tried = replace(loop, body=found[0])
                    if k in summed(tried):
                        loop = tried
        return loop

    def with_closed_sums(self, loop: Reverse) -> Reverse:
        """Close the sums of every iteration, and add them one after the other."""
        body = loop.body
        for k in summed(loop):
            body = _close_sums(body, body.params[k], self.names)
        return replace(loop, body=body)

    # -- memory ----------------------------------------------------------------------------

    def memory(self, loop: Reverse) -> tuple[Reverse, list[Stmt]]:
        """Replace elements that every iteration adds to by scalars."""
        after: list[Stmt] = []
        inside = loop_values(loop)
        for k, param in enumerate(loop.body.params):
            if not isinstance(param.type, Array) or param.type.kind != "f":
                continue
            found = _additions(loop.body, param, k)
            moved = [s for s in found or [] if not any(operand in inside for operand in s.index)]
            if not moved:
                continue
            sizes = self.sizes(loop.init[k])
            if all(self.facts.exists(stmt.index, sizes) for stmt in moved):
                loop, more = self.moved(loop, k, moved)
            elif isinstance(self.loops[loop.loop], For):
                loop, more = self.moved(loop, k, moved)
                more = self.tested(loop, more)
            else:
                continue
            after += more
        return loop, after

    def sizes(self, array: Operand) -> tuple[Operand, ...] | None:
        if self.shapes is None or not isinstance(array, Value):
            return None
        return self.shapes.known(array)

    def tested(self, loop: Reverse, stores: Sequence[Stmt]) -> list[Stmt]:
        """Return stores guarded by a test of whether the loop has iterations."""
        mirrored = self.loops[loop.loop]
        assert isinstance(mirrored, For)
        trips, found = mirrored.trips, list[Stmt]()
        if isinstance(trips, Value):
            recalled = self.names.value(trips)
            found.append(Recall(recalled, trips))
            trips = recalled
        ran = Value(self.names.fresh("ran"), BOOL if trips.type == INT else B1)
        zero_trips = Literal(0, trips.type)
        found.append(Apply((ran,), OPS["gt"], (trips, zero_trips)))
        first, last = stores[0], stores[-1]
        assert isinstance(first, Store)
        assert isinstance(last, Store)
        inner = self.names.value(last.result)
        then = Block((), (*stores[:-1], replace(last, result=inner)), (inner,))
        found.append(If((last.result,), ran, then, Block((), (), (first.array,)), loop.loc))
        return found

    def moved(self, loop: Reverse, k: int, stores: list[Store]) -> tuple[Reverse, list[Stmt]]:
        after: list[Stmt] = []
        body, array = loop.body, loop.body.params[k]
        assert isinstance(array.type, Array)
        element = array.type.element
        groups: dict[tuple[Operand, ...], _Group] = {}
        env: dict[Value, Operand] = {}
        stmts: list[Stmt] = []
        for stmt in body.stmts:
            stmt = substitute_stmt(stmt, env)
            if not (isinstance(stmt, Store) and any(s.result == stmt.result for s in stores)):
                stmts.append(stmt)
                continue
            group = groups.get(stmt.index)
            if group is None:
                param = Value(self.names.fresh(array.name), element)
                group = groups[stmt.index] = _Group(stmt.index, param, param)
            total = Value(self.names.fresh(array.name), element)
            stmts.append(Apply((total,), OPS["add"], (group.now, stmt.value), (), stmt.loc))
            group.now = total
            env[stmt.result] = stmt.array
        ends = [env.get(y, y) if isinstance(y, Value) else y for y in body.yields]
        for at, end in enumerate(ends):
            while isinstance(end, Value) and end in env:
                end = env[end]
            ends[at] = end
        sums = [Value(self.names.fresh(array.name), element) for _ in groups]
        body = Block(
            (*body.params, *(g.param for g in groups.values())),
            tuple(stmts),
            (*ends, *(g.now for g in groups.values())),
        )
        init = (*loop.init, *(zero(element) for _ in groups))
        results = list(loop.results)
        last = results[k]
        # The loop carries the array unchanged, or with its other additions.
        results[k] = Value(self.names.fresh(last.name), last.type)
        chain: Value = results[k]
        for j, (group, total) in enumerate(zip(groups.values(), sums, strict=True)):
            fresh = self.names.fresh(last.name)
            new = last if j == len(sums) - 1 else Value(fresh, last.type)
            after.append(Store(new, chain, group.index, total, True, loop.loc))
            chain = new
        made = replace(loop, results=(*results, *sums), init=init, body=body)
        return made, after


def _with_sums(block: Block, value: Value) -> tuple[Block, Value] | None:
    """Return a block with the additions to a carried number as sums, and what it is at the end.

    Return None where it is read.
    """
    stmts: list[Stmt] = []
    now: Value = value
    for stmt in block.stmts:
        match stmt:
            case Apply(op=op, args=(a, b)) if op is arith.add and (a == now) != (b == now):
                stmts.append(replace(stmt, op=OPS["sum"], args=(now, b if a == now else a)))
                now = stmt.result
                continue
            case If(then=then, orelse=orelse) if now in stmts_reads((stmt,)) and now != stmt.cond:
                arms = [found for arm in (then, orelse) if (found := _with_sums(arm, now))]
                places = [
                    j
                    for j in range(len(stmt.results))
                    if all(arm.yields[j] == end for arm, end in arms)
                ]
                if len(arms) < 2 or len(places) != 1:
                    return None
                stmts.append(replace(stmt, then=arms[0][0], orelse=arms[1][0]))
                now = stmt.results[places[0]]
                continue
            case Reverse(init=init) if now in init:
                now = stmt.results[init.index(now)]
        stmts.append(stmt)
    return with_stmts(block, stmts, block.yields), now


def _close_sums(block: Block, value: Value, names: Names) -> Block:
    """Return a block whose inner loops do not add to a number from outside of it."""
    stmts: list[Stmt] = []
    env: dict[Value, Operand] = {}
    now = value
    for stmt in block.stmts:
        stmt = substitute_stmt(stmt, env)
        if isinstance(stmt, If) and now in stmts_reads((stmt,)):
            stmt = map_blocks(stmt, functools.partial(_close_sums, value=now, names=names))
        elif isinstance(stmt, Reverse | For) and now in stmt.init:
            at = stmt.init.index(now)
            result, total = stmt.results[at], names.value(stmt.results[at])
            init = tuple(zero(now.type) if j == at else x for j, x in enumerate(stmt.init))
            stmts += [
                replace(stmt, init=init),
                Apply((total,), OPS["add"], (now, result), (), stmt.loc),
            ]
            env[result] = now = total
            continue
        stmts.append(stmt)
    return with_stmts(
        block, stmts, [env.get(y, y) if isinstance(y, Value) else y for y in block.yields]
    )


def _additions(block: Block, param: Value, k: int) -> list[Store] | None:
    """Return the additions to a carried array directly in the block; None if it is read."""
    found: list[Store] = []
    now: Operand = param
    before: set[Operand] = set()  # versions that have been added to since
    for stmt in block.stmts:
        if before and not before.isdisjoint(stmts_reads((stmt,))):
            return None
        if isinstance(stmt, Store) and stmt.array == now:
            if not stmt.accumulate or now == stmt.value or now in stmt.index:
                return None
            found.append(stmt)
            before.add(now)
            now = stmt.result
        elif isinstance(stmt, Reverse) and now in stmt.init:
            at = stmt.init.index(now)
            if stmt.init.count(now) > 1 or now in stmts_reads(stmt.body.stmts):
                return None
            if _additions(stmt.body, stmt.body.params[at], at) is None:
                return None
            before.add(now)
            now = stmt.results[at]
        elif isinstance(now, Value) and now in stmts_reads((stmt,)):
            return None
    alone = block.yields.count(now) == 1 and before.isdisjoint(block.yields)
    return found if block.yields[k] == now and alone else None


__all__ = ["reduce"]
