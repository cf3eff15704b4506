"""Let arrays with disjoint lifetimes share memory, as proven by `lifetimes`.

The memory of a dead array is the last operand of the next allocation; an array written over
another, element by element, is an alias of it::

    %b = empty[f64] %n                    %b = over %a
    %c = full[f64] 0.0:f64 %n             %c = full[f64] 0.0:f64 %n %b

In plans for known sizes, arrays of different sizes share a slot::

    %a = empty[f64] %n                    %a.slot = slot[f64, 1] %n %m
    …                                     %a = empty[f64] %n %a.slot
    %b = empty[f64] %m                    %b = empty[f64] %m %a.slot

First, allocations move down as far as possible: fusion has moved them up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from adc.ir.analysis.memory.escape import escaping
from adc.ir.analysis.memory.lifetimes import Lifetimes, lifetimes
from adc.ir.analysis.sizes.extents import Known
from adc.ir.core import Apply, Function, Operand, Stmt, Value
from adc.ir.opdef import OPS
from adc.ir.walk import map_stmts, stmt_reads


def reuse(fn: Function, known: Known | None = None) -> Function:
    """Return `fn`, which is in buffer form, with arrays that share memory.

    `known` are sizes of arguments, as `Extents` have them.
    """
    functions = (*fn.callees, fn)
    callees = tuple(_rewritten(each, None, functions) for each in fn.callees)
    return replace(_rewritten(fn, known, functions), callees=callees)


def _rewritten(fn: Function, known: Known | None, functions: Sequence[Function]) -> Function:
    fn = replace(fn, body=_late(fn.body, escaping(fn)))
    return replace(fn, body=_stmts(fn.body, lifetimes(fn, known, functions)))


def _late(stmts: Sequence[Stmt], others: Collection[Value]) -> tuple[Stmt, ...]:
    """Return statements with arrays, except `others`, allocated right before their first use."""
    done: list[Stmt] = []
    waiting: dict[Operand, Stmt] = {}
    for stmt in stmts:
        if isinstance(stmt, Apply) and stmt.op.sizes is not None:
            if stmt.result not in others:
                waiting[stmt.result] = stmt
                continue
        if waiting:
            done += _taken(waiting, stmt_reads(stmt))
        done.append(map_stmts(stmt, lambda stmts: _late(stmts, others)))
    # Unused arrays stay, too: removing them is the task of `dce`.
    return (*done, *waiting.values())


def _taken(waiting: dict[Operand, Stmt], found: Collection[Operand]) -> list[Stmt]:
    return [waiting.pop(array) for array in list(waiting) if array in found]


def _stmts(stmts: Sequence[Stmt], found: Lifetimes) -> tuple[Stmt, ...]:
    done: list[Stmt] = []
    for stmt in stmts:
        for result in stmt.results:
            if result in found.slots:
                done.append(found.slots[result])
        done.append(_stmt(stmt, found))
    return tuple(done)


def _stmt(stmt: Stmt, found: Lifetimes) -> Stmt:
    if isinstance(stmt, Apply) and stmt.result in found.over:
        return Apply(stmt.results, OPS["over"], (found.over[stmt.result],), (), stmt.loc)
    if isinstance(stmt, Apply) and stmt.result in found.after:
        return replace(stmt, args=(*stmt.args, found.after[stmt.result]))
    return map_stmts(stmt, lambda stmts: _stmts(stmts, found))
