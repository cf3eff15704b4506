"""Inline functions that are small or called in one place (procedure integration).

    %t = call C0 square(%x)               %t = mul %x %x

Inlining a function that is called in one place costs no code size, and `cse` and `hoist` then see
what its caller computes already, or what is loop-invariant. A function that calls itself is
unrolled by some levels: most calls of a recursion are the innermost ones, and the checks of its
arguments need not be repeated on each level. The pass works on value form without Recalls.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import Apply, Block, Call, Function, Operand, Pop, Stmt, Value, walk
from adc.ir.errors import Span
from adc.ir.functions import is_of_schedule, reachable, reached, recomputes_iterations
from adc.ir.types import Array
from adc.ir.walk import (
    Names,
    clone,
    map_stmts,
    size,
    substitute,
    substitute_block,
    substitute_stmt,
)

# The most statements of a function that is called in several places, and in one.
SMALL = 12
LARGE = 400
# How many levels a recursive function is unrolled, and its most statements then.
LEVELS = 3
RECURSIVE = 150


def calls(fn: Function) -> Function:
    """Return `fn` with small functions, and those called in one place, inlined."""
    table = {each.name: each for each in (*fn.callees, fn)}
    below = {name: reachable(table, name) for name in table}
    counts: dict[str, int] = {}
    for each in table.values():
        for stmt in walk(each.body):
            if isinstance(stmt, Call):
                counts[stmt.callee] = counts.get(stmt.callee, 0) + 1
    done: dict[str, Function] = {}
    # Callees first: a body that is copied has its own calls inlined already.
    for name in _in_order(table, fn.name):
        each = table[name]
        chosen = {
            other: done[other]
            for other in done
            if other not in below[other] and _fits(done[other], counts.get(other, 0))
        }
        made = _sized(_Caller(each, chosen).function())
        if name in below[name]:
            made = _levels(made)
        done[name] = made
    callees = tuple(done.get(each.name, each) for each in fn.callees)
    return reached(replace(done[fn.name], callees=callees))


def _sized(fn: Function) -> Function:
    """Return a function that computes no size which it knows from an allocation.

    A callee has to ask for the sizes of its array arguments.
    """
    asked = [stmt for stmt in walk(fn.body) if isinstance(stmt, Apply) and stmt.op.asks_shape]
    if fn.mirror or not asked:
        return fn
    first = itertools.takewhile(lambda s: isinstance(s, Apply) and s.op.asks_shape, fn.body)
    known = {result for stmt in first for result in stmt.results}
    shapes = Shapes(fn, Names.of(fn))
    env: dict[Value, Operand] = {}
    for stmt in asked:
        (array,), axis = stmt.args, int(stmt.params[0])
        assert isinstance(array, Value)
        size = shapes.size(array, axis, known)
        if size is not None and size.type == stmt.result.type and stmt.result not in known:
            env[stmt.result] = size
    if not env:
        return fn
    body = substitute_block(Block((), fn.body, fn.results), env)
    return replace(fn, body=body.stmts, results=body.yields)


def _fits(fn: Function, count: int) -> bool:
    if fn.rule is not None or fn.routine or fn.mirror or recomputes_iterations(fn):
        return False
    if is_of_schedule(fn):  # plans recognise such calls by name
        return False
    return size(fn.body) <= (LARGE if count == 1 else SMALL)


def _located(stmt: Stmt, caller: Span | None) -> Stmt:
    """Return a statement of an inlined callee with the location of the call, for tracebacks."""
    stmt = map_stmts(stmt, lambda stmts: (_located(s, caller) for s in stmts))
    return replace(stmt, loc=stmt.loc.called(caller)) if stmt.loc else stmt


def _called(fn: Function) -> list[str]:
    return [stmt.callee for stmt in walk(fn.body) if isinstance(stmt, Call)]


def _in_order(table: Mapping[str, Function], name: str) -> list[str]:
    """Return the reachable functions, callees before their callers except in cycles."""
    order: list[str] = []
    entered = {name}
    todo = [(name, iter(_called(table[name])))]
    while todo:
        current, rest = todo[-1]
        following = next((c for c in rest if c in table and c not in entered), None)
        if following is None:
            order.append(current)
            todo.pop()
        else:
            entered.add(following)
            todo.append((following, iter(_called(table[following]))))
    return order


def _levels(fn: Function) -> Function:
    """Return a recursive function unrolled by some levels.

    A function that allocates arrays stays as it is: the arrays of all levels would live as long as
    the outermost.
    """
    own = [stmt for stmt in walk(fn.body) if isinstance(stmt, Call) and stmt.callee == fn.name]
    if (
        recomputes_iterations(fn)
        or not own
        or any(
            isinstance(stmt, Apply | Pop) and any(isinstance(v.type, Array) for v in stmt.results)
            for stmt in walk(fn.body)
        )
    ):
        return fn
    one = size(fn.body)
    made = fn
    for _ in range(LEVELS - 1):
        if size(made.body) + len(own) * one > RECURSIVE:
            break
        # The calls in an inlined body belong to the next level.
        made = _Caller(fn, {fn.name: made}).function()
        if size(made.body) > RECURSIVE:
            break
    return made


class _Caller:
    """Rewrites the body of one function; `table` has the functions to inline."""

    def __init__(self, fn: Function, table: Mapping[str, Function]) -> None:
        self.fn = fn
        self.table = table
        self.names = Names.of(fn)
        self.env: dict[Value, Operand] = {}

    def function(self) -> Function:
        body = self.stmts(self.fn.body)
        results = tuple(substitute(operand, self.env) for operand in self.fn.results)
        return replace(self.fn, body=body, results=results)

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Call) and self.fits(stmt):
                done += self.spliced(stmt)
            else:
                new = map_stmts(stmt, self.stmts)
                done.append(substitute_stmt(new, self.env))
        return tuple(done)

    def fits(self, call: Call) -> bool:
        """Whether a call is of a function of the table, with exactly its types.

        Python (weak) numbers in place of NumPy's would change the types of results.
        """
        callee = self.table.get(call.callee)
        if callee is None:
            return False
        given = (*call.args, *call.results)
        wanted = (*callee.params, *callee.results)
        return all(a.type == b.type for a, b in zip(given, wanted, strict=True))

    def spliced(self, call: Call) -> list[Stmt]:
        callee = self.table[call.callee]
        args = [substitute(arg, self.env) for arg in call.args]
        own: dict[Value, Operand] = dict(zip(callee.params, args, strict=True))
        found = [_located(stmt, call.loc) for stmt in clone(callee.body, own, self.names)]
        for result, operand in zip(call.results, callee.results, strict=True):
            self.env[result] = own.get(operand, operand) if isinstance(operand, Value) else operand
        return found


__all__ = ["calls"]
