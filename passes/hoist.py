"""Move out of loops what every iteration computes alike.

Before::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %e = exp %w
      …

After::

    %e = exp %w
    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      …

Operations on numbers move, and Recalls of what the mirrored loop does not compute. They are pure,
so it does no harm if the loop has no iteration. Statements in branches stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    If,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    operands,
)
from adc.ir.types import Array
from adc.ir.walk import inner_values, map_blocks


def hoist(fn: Function) -> Function:
    """Return `fn` with invariant operations and Recalls in front of the loops they were in."""
    every = {each.name: each for each in (*fn.callees, fn)}

    def done(each: Function) -> Function:
        loops: dict[Value, frozenset[str]] = {}
        _find_loops(every.get(each.mirror, each).body, frozenset(), loops)
        return replace(each, body=tuple(_stmts(each.body, loops)))

    callees = tuple(done(callee) for callee in fn.callees)
    return replace(done(fn), callees=callees)


def _find_loops(
    stmts: Sequence[Stmt], path: frozenset[str], found: dict[Value, frozenset[str]]
) -> None:
    """Note for every value of forward code the loops that it is computed in."""
    for stmt in stmts:
        found.update(dict.fromkeys(stmt.results, path))
        if isinstance(stmt, Reverse):
            continue
        inner = path | {stmt.label} if isinstance(stmt, For | While) else path
        found.update(dict.fromkeys(inner_values(stmt), inner))
        for block in blocks(stmt):
            _find_loops(block.stmts, inner, found)


def _stmts(stmts: Sequence[Stmt], loops: dict[Value, frozenset[str]]) -> list[Stmt]:
    done: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, For | While | Reverse):
            label = stmt.loop if isinstance(stmt, Reverse) else stmt.label
            inside = _stmts(stmt.body.stmts, loops)
            varying = set(stmt.body.params) | set(inner_values(stmt))
            kept: list[Stmt] = []
            for inner in inside:
                if _moves(inner, varying, label, loops):
                    done.append(inner)
                else:
                    kept.append(inner)
                    varying.update(inner.results)
            stmt = replace(stmt, body=replace(stmt.body, stmts=tuple(kept)))
        elif isinstance(stmt, If):
            stmt = map_blocks(
                stmt, lambda b: Block(b.params, tuple(_stmts(b.stmts, loops)), b.yields)
            )
        done.append(stmt)
    return done


def _moves(stmt: Stmt, varying: set[Value], label: str, loops: dict[Value, frozenset[str]]) -> bool:
    match stmt:
        case Apply(results=results, op=op):
            if op.name in ("sum", "undef") or any(isinstance(v.type, Array) for v in results):
                return False
            return not any(operand in varying for operand in operands(stmt))
        case Recall(value=value):
            return label not in loops.get(value, frozenset((label,)))
    return False
