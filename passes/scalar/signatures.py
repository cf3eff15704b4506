"""Drop the parameters and results of functions that nobody needs (dead argument elimination).

Before::

    fn record(%w, %n) {                      %kept, %m = call C0 record(%a, 3)
      %s = sin %w                            …
      return %w %s                           %kept.r = recall %kept
    }                                        %ct = call C1 reverse(%kept.r, %m, %y)

After, if `reverse` does not read its second parameter::

    fn record(%w) {                          %m = call C0 record(%a)
      %s = sin %w                            …
      return %s                              %a.r = recall %a
    }                                        %ct = call C1 reverse(%a.r, %y)

A result that is an argument, another result, or a number, is known to the caller. Rules return what
they were given as residuals; plans would keep it a second time. A function that reverse code
mirrors keeps its parameters and results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from adc.ir.core import Call, Function, Operand, Recall, Stmt, Value, blocks, operands, walk
from adc.ir.functions import is_of_schedule
from adc.ir.walk import map_stmts, rebuilt, recalling, substitute, substitute_stmt
from adc.passes.scalar.dce import dce


def signatures(fn: Function) -> Function:
    """Return `fn` with functions that take what they read and return what their callers read."""
    if not fn.callees or fn.derived or any(each.rule for each in fn.callees):
        return fn
    table = {each.name: each for each in fn.callees}
    # After each step `dce` removes the recalls of what is not passed any more.
    fn = dce(rebuilt(fn, lambda recalled: _Known(table, recalled or {})))
    return _narrowed(dce(_narrowed(fn, params=True)), params=False)


class _Known:
    """Replaces results of calls that are arguments of the call, other results, or numbers."""

    def __init__(self, table: Mapping[str, Function], recalled: Mapping[Value, Operand]) -> None:
        self.table = table
        self.recalled = recalled
        self.env: dict[Value, Operand] = {}

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        # The whole function first: reverse code recalls the values of calls after it.
        for stmt in stmts:
            self.note(stmt)
        return tuple(substitute_stmt(recalling(stmt, self.recalled), self.env) for stmt in stmts)

    def note(self, stmt: Stmt) -> None:
        if isinstance(stmt, Call) and stmt.callee in self.table:
            callee = self.table[stmt.callee]
            given = dict[Operand, Operand](zip(callee.params, stmt.args, strict=True))
            for result, operand in zip(stmt.results, callee.results, strict=True):
                known = given.get(operand) if isinstance(operand, Value) else operand
                if known is not None and known.type == operand.type == result.type:
                    self.env[result] = substitute(known, self.env)
                given.setdefault(operand, result)
        for block in blocks(stmt):
            for inner in block.stmts:
                self.note(inner)


def _narrowed(fn: Function, *, params: bool) -> Function:
    """Return `fn` with functions that have only the parameters, or the results, that are read."""
    everything = (*fn.callees, fn)
    fixed = {each.mirror for each in everything if each.mirror}
    chosen = {
        each.name: each
        for each in fn.callees
        if each.name not in fixed and not (each.mirror or each.routine or is_of_schedule(each))
    }
    if params:
        kept = {name: _read_params(each) for name, each in chosen.items()}
    else:
        kept = _read_results(everything, chosen)
    done: list[Function] = []
    for each in everything:
        made = replace(each, body=_calling(each.body, kept, params))
        if params and each.name in kept:
            made = replace(made, params=tuple(each.params[k] for k in kept[each.name]))
        elif each.name in kept:
            made = replace(made, results=tuple(each.results[k] for k in kept[each.name]))
        done.append(made)
    return replace(done[-1], callees=tuple(done[:-1]))


def _reads(fn: Function) -> Iterator[Operand]:
    yield from fn.results
    for stmt in walk(fn.body):
        yield from operands(stmt)
        if isinstance(stmt, Recall):
            yield stmt.value
        for block in blocks(stmt):
            yield from block.yields


def _read_params(fn: Function) -> list[int]:
    read = set(_reads(fn))
    return [k for k, param in enumerate(fn.params) if param in read]


def _read_results(
    everything: Sequence[Function], chosen: Mapping[str, Function]
) -> dict[str, list[int]]:
    """Return the positions of the results that a caller, or what mirrors it, reads."""
    reads = {each.name: set(_reads(each)) for each in everything}
    for each in everything:
        if each.mirror:
            reads[each.mirror] |= reads[each.name]
    found: dict[str, set[int]] = {name: set() for name in chosen}
    for each in everything:
        for stmt in walk(each.body):
            if isinstance(stmt, Call) and stmt.callee in found:
                read = reads[each.name]
                found[stmt.callee] |= {k for k, r in enumerate(stmt.results) if r in read}
    return {name: sorted(positions) for name, positions in found.items()}


def _calling(
    stmts: Sequence[Stmt], kept: Mapping[str, Sequence[int]], params: bool
) -> tuple[Stmt, ...]:
    """Return statements whose calls pass, or get, only what is at the positions in `kept`."""

    done: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, Call) and stmt.callee in kept:
            positions = kept[stmt.callee]
            if params:
                stmt = replace(stmt, args=tuple(stmt.args[k] for k in positions))
            else:
                stmt = replace(stmt, results=tuple(stmt.results[k] for k in positions))
        done.append(map_stmts(stmt, lambda stmts: _calling(stmts, kept, params)))
    return tuple(done)


__all__ = ["signatures"]
