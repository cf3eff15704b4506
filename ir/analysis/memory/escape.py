"""Escape analysis: which arrays outlive the iteration or call that makes them, and when they die.

Those have memory of their own, which variables of emitted code hold: until they are assigned again,
the function ends, or emitted code releases them after their last use.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence

from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    If,
    Literal,
    Operand,
    Pop,
    Stmt,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.functions import reachable
from adc.ir.types import ELEMENTS, Array
from adc.ir.walk import block_reads, carried_yields, stmt_reads

# The most bytes of an array on the stack, and of all arrays of a function there.
SMALL = 512
STACK = 16_384


class _Escape:
    def __init__(self) -> None:
        # The arrays allocated in the function that a value may be.
        self.origins: dict[Value, frozenset[Value]] = {}
        self.changed = True
        self.escaping: set[Value] = set()

    def _of(self, operand: Operand) -> frozenset[Value]:
        return self.origins.get(operand, frozenset()) if isinstance(operand, Value) else frozenset()

    def _add(self, value: Value, *sources: Operand) -> None:
        before = self.origins.get(value, frozenset())
        after = before.union(*(self._of(source) for source in sources))
        if after != before:
            self.origins[value] = after
            self.changed = True

    def stmts(self, stmts: Sequence[Stmt]) -> set[Value]:
        """Return the arrays allocated in `stmts`."""
        made: set[Value] = set()
        for stmt in stmts:
            for block in blocks(stmt):
                inner = self.stmts(block.stmts)
                if isinstance(stmt, For | While):
                    for operand in block.yields:
                        self.escaping |= self._of(operand) & inner
                made |= inner
            match stmt:
                case Apply(op=op, args=args, results=(value,)) if op.aliases == "part":
                    self._add(value, args[0])
                case Apply(results=results) | Pop(results=results):
                    for value in results:
                        if isinstance(value.type, Array):
                            self.origins[value] = frozenset((value,))
                            made.add(value)
                case If(results=results, then=then, orelse=orelse):
                    for k, value in enumerate(results):
                        self._add(value, then.yields[k], orelse.yields[k])
                case For(init=init, body=body) | While(init=init, body=body):
                    for k, end in enumerate(carried_yields(stmt)):
                        for target in (stmt.results[k], body.params[k]):
                            self._add(target, init[k], end)
                case Call(results=results, args=args):
                    for value in results:
                        self._add(value, *args)
        return made


def flow(
    fn: Function, given: Iterable[Value] = ()
) -> tuple[dict[Value, frozenset[Value]], frozenset[Value]]:
    """Return which arrays allocated in `fn`, or `given`, each value may be, and which escape.

    Those that escape may be carried to another iteration or returned.
    """
    found = _Escape()
    found.origins.update((each, frozenset((each,))) for each in given)
    while found.changed:
        found.changed = False
        found.stmts(fn.body)
    for result in fn.results:
        if isinstance(result, Value):
            found.escaping |= found.origins.get(result, frozenset())
    return found.origins, frozenset(found.escaping)


def escaping(fn: Function) -> frozenset[Value]:
    """Return the arrays allocated in `fn` that may be carried to another iteration or returned."""
    return flow(fn)[1]


def stacked(fn: Function, functions: Iterable[Function] = ()) -> frozenset[Value]:
    """Return the arrays of a function in buffer form that are allocated on the stack.

    Those are small arrays of known size that do not outlive the function and that no branch or loop
    yields: every mention is that array. The compiler then keeps their elements in registers where
    it can. A recursive function, directly or by way of `functions`, has none: it may be called
    thousands of times.
    """
    found = {
        stmt.result: size
        for stmt in walk(fn.body)
        if isinstance(stmt, Apply) and (size := _static_bytes(stmt)) and size <= SMALL
    }
    if not found or _calls_itself(fn, functions):
        return frozenset()
    origins, escaping = flow(fn)
    leaving = set(escaping)
    for value in _yielded(fn.body):
        leaving |= origins.get(value, frozenset())
    chosen: list[Value] = []
    total = 0
    for value, size in found.items():
        if value not in leaving and total + size <= STACK:
            chosen.append(value)
            total += size
    return frozenset(chosen)


def _static_bytes(stmt: Apply) -> int:
    """Return the bytes of an array that is allocated with constant sizes; else 0."""
    if stmt.op.sizes is None or not isinstance(stmt.result.type, Array):
        return 0
    sizes = stmt.args[stmt.op.sizes :]
    # An array in the memory of another one has that array as a further operand.
    known = [int(size.value) for size in sizes if isinstance(size, Literal)]
    if len(known) < len(sizes) or min(known, default=1) < 0:
        return 0
    return math.prod(known) * ELEMENTS[stmt.result.type.dtype].itemsize


def _yielded(stmts: Iterable[Stmt]) -> Iterator[Value]:
    """Yield the arrays that branches and loops yield, and those whose memory others take over."""
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, If | For | While):
            yield from (v for v in stmt.results if isinstance(v.type, Array))
            for block in blocks(stmt):
                yield from (v for v in block.params if isinstance(v.type, Array))
        elif isinstance(stmt, Apply) and stmt.op.sizes is not None:
            yield from (v for v in stmt.args if isinstance(v, Value) and isinstance(v.type, Array))


def _calls_itself(fn: Function, functions: Iterable[Function]) -> bool:
    return fn.name in reachable({each.name: each for each in (*functions, fn)}, fn.name)


def holding(fn: Function) -> frozenset[Value]:
    """Return the values whose variables may hold arrays with memory of their own."""
    origins, escaping = flow(fn)
    found = {
        value
        for value, of in origins.items()
        if isinstance(value.type, Array) and not of.isdisjoint(escaping)
    }
    for stmt in walk(fn.body):
        if isinstance(stmt, Call | For | While | If):
            found.update(v for v in stmt.results if isinstance(v.type, Array))
    return frozenset(found)


def dead_values(
    stmts: Sequence[Stmt], later: Iterable[Operand], held: Collection[Value]
) -> list[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """Return for each statement of a block the values that are dead.

    First those that a loop need not hold once it has started, then those that are dead after the
    statement. `later` is read after the block, of arrays `held`.
    """
    kept = {v for v in later if isinstance(v, Value)}
    found: list[tuple[tuple[Value, ...], tuple[Value, ...]]] = []
    made = {v for stmt in stmts for v in stmt.results if v in held}
    for stmt in reversed(stmts):
        reads = stmt_reads(stmt)
        last = [v for v in (*stmt.results, *_ordered(reads)) if v in made and v not in kept]
        inner = set[Value]().union(*map(block_reads, blocks(stmt)))
        early = isinstance(stmt, For | While)
        entry = [v for v in last if early and v in reads and v not in inner]
        found.append((tuple(entry), tuple(v for v in last if v not in entry)))
        kept |= reads
    return found[::-1]


def _ordered(values: Iterable[Value]) -> list[Value]:
    return sorted(values, key=lambda value: value.name)


def dead_after_yield(
    stmts: Sequence[Stmt], yields: Sequence[Operand], held: Collection[Value]
) -> tuple[Value, ...]:
    """Return the values of a block that need not be held once it has yielded them."""
    made = {v for stmt in stmts for v in stmt.results if v in held}
    return tuple(dict.fromkeys(v for v in yields if isinstance(v, Value) and v in made))
