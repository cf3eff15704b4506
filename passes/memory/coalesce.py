"""Give one buffer to a loop-carried array that every iteration allocates anew.

If the last use of the old array is the nest that writes the new one, element by element, reading
first (`liveness.in_step`), or precedes that nest, the new one is written over the old one, and the
loop no longer carries it::

    %b = for L %i in 0 to %n              for L %i in 0 to %n {
        carrying (%a = %x) {                for M %j in 0 to %m {
      %c = empty[f64] %m                      %t = load %x[%j]
      for M %j in 0 to %m {                   %t.1 = sin %t
        %t = load %a[%j]                      write %x[%j] %t.1
        %t.1 = sin %t                       }
        write %c[%j] %t.1                 }
      }                                   return %x
      yield %c
    }
    return %b

Allocating an array that outlives an iteration takes as long as a loop over a few dozen elements. If
``%x`` is owned by the caller, or is read later, the loop works on a copy of it. If the new array is
a copy of the old one, which is dead afterwards, it is replaced by the old one; so inner loops work
in the buffer of the outer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from adc.ir.analysis.memory.escape import flow
from adc.ir.analysis.memory.lifetimes import Size, Sizes
from adc.ir.analysis.memory.liveness import Mentions, in_step
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Gemm,
    Load,
    Operand,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import Array
from adc.ir.walk import (
    Names,
    block_reads,
    inner_values,
    map_blocks,
    map_functions,
    stmts_reads,
    substitute,
    substitute_block,
    substitute_stmt,
)


def coalesce(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with arrays written over their predecessors."""
    return map_functions(fn, lambda each: _Coalescer(each).run())


class _Coalescer:
    def __init__(self, fn: Function) -> None:
        self._fn = fn
        self._names = Names.of(fn)
        self._sizes = Sizes(fn)
        self._origins = flow(fn)[0]
        # The position of each definition.
        self._places: dict[Value, int] = {}
        for k, each in enumerate(walk(fn.body)):
            self._places.update(dict.fromkeys((*inner_values(each), *each.results), k))
        # Values that have been replaced by another one.
        self._gone: set[Value] = set()

    def run(self) -> Function:
        if not any(_carried(s) for s in walk(self._fn.body) if isinstance(s, For | While)):
            return self._fn
        block = self._block(Block((), self._fn.body, self._fn.results), top=True)
        return replace(self._fn, body=block.stmts, results=block.yields)

    def _block(self, block: Block, *, top: bool = False) -> Block:
        out: list[Stmt] = []
        env: dict[Value, Operand] = {}
        for k, stmt in enumerate(block.stmts):
            stmt = substitute_stmt(stmt, env)
            if top and isinstance(stmt, Check):
                self._sizes.check(stmt)
            if top:
                _learn_carried(stmt, self._sizes)
            stmt = map_blocks(stmt, self._block)
            if isinstance(stmt, For | While):
                rest = stmts_reads(block.stmts[k + 1 :], block.yields)
                later = {substitute(value, env) for value in rest}
                for slot in reversed(_carried(stmt)):
                    stmt = self._coalesced(stmt, slot, out, later, env)
            out.append(stmt)
        return Block(block.params, tuple(out), tuple(substitute(v, env) for v in block.yields))

    def _coalesced(
        self,
        loop: For | While,
        slot: int,
        out: list[Stmt],
        later: AbstractSet[Operand],
        env: dict[Value, Operand],
    ) -> For | While:
        """Return a loop that carries one array less, if possible; `out` precedes it."""
        body = loop.body
        old, new, result = body.params[slot], _yielded(loop, slot), loop.results[slot]
        given = loop.init[slot]
        assert isinstance(given, Value)
        made = _made(body.stmts, new)
        if (
            not isinstance(new, Value)
            or made is None
            or not old.type == new.type == result.type
            or not self._is_alike(given, old, made)
            or not _follows(body, old, new, made)
        ):
            return loop
        buffer = given
        if not self._is_temporary(given, loop, out, later):
            buffer = Value(self._names.fresh(given.name), new.type)
            copy = Apply((buffer,), OPS["copy"], (given,), (), loop.loc)
            self._sizes.learn(copy)
            out.append(copy)
        self._gone |= {old, new, result}
        env[result] = buffer
        stmts = tuple(stmt for stmt in body.stmts if stmt is not made)
        params, results, init = list(body.params), list(loop.results), list(loop.init)
        yields = list(body.yields)
        del params[slot], results[slot], init[slot], yields[slot - len(loop.init)]
        inner = Block(tuple(params), stmts, tuple(yields))
        inner = substitute_block(inner, {old: buffer, new: buffer})
        return replace(loop, results=tuple(results), init=tuple(init), body=inner)

    def _is_alike(self, given: Value, old: Value, made: Stmt) -> bool:
        """Whether the new array has the sizes of the one that the loop starts with."""
        if operands(made)[:1] == (old,):
            return True
        return self._sizes.alike(self._sizes.shape(given), self._sizes.shape(made.results[0]))

    def _is_temporary(
        self, array: Value, loop: For | While, out: Sequence[Stmt], later: AbstractSet[Operand]
    ) -> bool:
        """Whether an array was allocated in the block of a loop and is dead after the loop."""
        place = min((self._places[v] for v in loop.results), default=0)
        others = {v for v, of in self._origins.items() if array in of} - {array} - self._gone
        return (
            any(isinstance(s, Apply) and array in s.results and s.op.aliases != "part" for s in out)
            and array not in later
            and array not in block_reads(loop.body)
            and loop.init.count(array) == 1
            and all(self._places[other] >= place for other in others)
        )


def _learn_carried(nest: Stmt, sizes: Sizes) -> None:
    """Learn the sizes of loop-carried arrays: those of the initial one, if all are equal.

    Equality is assumed, until it is refuted for some array.
    """
    loops = [stmt for stmt in walk((nest,)) if isinstance(stmt, For | While)]
    slots = [(loop, k) for loop in loops for k in _carried(loop)]
    taken: dict[Size, Size] = {}

    def shape(array: Operand) -> list[Size]:
        assert isinstance(array, Value)
        return [taken.get(size, size) for size in sizes.shape(array)]

    wrong: set[tuple[int, int]] | None = None
    while wrong is None or wrong:
        slots = [(loop, k) for loop, k in slots if not wrong or (id(loop), k) not in wrong]
        taken.clear()
        for loop, k in slots:
            for axis, size in enumerate(shape(loop.init[k])):
                taken[loop.body.params[k], axis] = taken[loop.results[k], axis] = size
        wrong = {
            (id(loop), k)
            for loop, k in slots
            if not sizes.alike(shape(_yielded(loop, k)), shape(loop.init[k]))
        }
    for one, other in taken.items():
        sizes.join(one, other)


def _yielded(loop: For | While, slot: int) -> Operand:
    """Return the value that an iteration yields for a carried one."""
    return loop.body.yields[slot + isinstance(loop, While)]


def _carried(loop: For | While) -> list[int]:
    """Return which carried values of a loop are arrays."""
    return [k for k, param in enumerate(loop.body.params) if isinstance(param.type, Array)]


def _made(stmts: Sequence[Stmt], array: Operand) -> Stmt | None:
    """Return the statement that allocates an array, uninitialised or as a copy."""
    for stmt in stmts:
        if (
            isinstance(stmt, Apply)
            and array in stmt.results
            and (stmt.op.reserves or stmt.op.copies)
        ):
            return stmt
    return None


def _follows(body: Block, old: Value, new: Value, made: Stmt) -> bool:
    """Whether the old array is dead once the new one is written, except in the same step.

    Or the new one is a copy of the old one, which is dead afterwards.
    """
    if body.yields.count(new) != 1 or old in body.yields:
        return False
    if not (_is_plain(body.stmts, old) and _is_plain(body.stmts, new)):
        return False
    mentions = Mentions({old: frozenset((old,)), new: frozenset((new,))})
    found = [mentions.by(stmt) for stmt in body.stmts]
    if operands(made)[:1] == (old,):
        return not any(old in each for each in found[body.stmts.index(made) + 1 :])
    if isinstance(made, Apply) and made.op.copies:
        return False
    start = next((k for k, each in enumerate(found) if new in each), None)
    if start is None or any(old in each for each in found[start + 1 :]):
        return False
    nest = body.stmts[start]
    return old not in found[start] or (isinstance(nest, For) and in_step(mentions, nest, old, new))


def _is_plain(stmts: tuple[Stmt, ...], array: Value) -> bool:
    """Whether an array is only read and written, and has no alias in the statements."""
    return all(
        array not in operands(stmt)
        or isinstance(stmt, Load | Write | Gemm | Push)
        or (isinstance(stmt, Apply) and (stmt.op.asks_shape or stmt.op.copies or stmt.op.reduces))
        for stmt in walk(stmts)
    ) and not any(array in block.yields for stmt in walk(stmts) for block in blocks(stmt))
