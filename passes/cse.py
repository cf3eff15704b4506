"""Compute equal things once: operations, loads of one version, recalls of one value.

Before::

    %a = sin %x
    %b = sin %x
    %c = add %a %b

After::

    %a = sin %x
    %c = add %a %a

An operation replaces a later one only where it dominates it. New arrays are never merged: each
is somebody's storage.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from adc.ir.core import Apply, Block, Check, Function, Load, Operand, Recall, Stmt, Value
from adc.ir.types import Array
from adc.ir.walk import map_blocks, map_operands, substitute


def cse(fn: Function) -> Function:
    """Return `fn` with common subexpressions merged."""
    callees = tuple(cse(callee) for callee in fn.callees)
    pass_ = _Cse()
    body = pass_.stmts(fn.body, {})
    results = tuple(substitute(operand, pass_.env) for operand in fn.results)
    return replace(fn, body=body, results=results, callees=callees)


_Seen = dict[Hashable, Value]


class _Cse:
    def __init__(self) -> None:
        self.env: dict[Value, Operand] = {}

    def stmts(self, stmts: Sequence[Stmt], seen: _Seen) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            key = self.key(stmt)
            if key is not None:
                if key in seen:
                    if not isinstance(stmt, Check):
                        self.env[stmt.results[0]] = seen[key]
                    continue
                seen[key] = stmt.results[0] if stmt.results else _CHECKED
                kept.append(stmt)
                continue
            kept.append(map_blocks(stmt, lambda block: self.block(block, seen)))
        return tuple(kept)

    def block(self, block: Block, seen: _Seen) -> Block:
        stmts = self.stmts(block.stmts, dict(seen))
        yields = tuple(substitute(operand, self.env) for operand in block.yields)
        return Block(block.params, stmts, yields)

    def key(self, stmt: Stmt) -> Hashable | None:
        """Return what a statement computes, if it may be shared."""
        match stmt:
            case Apply(results=results, op=op, args=args, params=params):
                if len(results) == 1 and not isinstance(results[0].type, Array):
                    return (op.name, args, params, results[0].type)
            case Load(array=array, index=index):
                return ("load", array, index)
            case Recall(value=value):
                return ("recall", value)
            case Check(cond=cond):
                return ("check", cond)
        return None


_CHECKED = Value("checked", Array("b1", 0))
