"""Eliminate common subexpressions: operations, loads of one version, recalls of one value.

Before::

    %a = sin %x
    %b = sin %x
    %c = add %a %b

After::

    %a = sin %x
    %c = add %a %a

An operation replaces a later one only where it dominates it. Allocations are never merged: each
array needs its own storage. Loop-carried numbers are merged if they start equal and change by the
same operation.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from adc.ir.core import (
    Apply,
    Block,
    Check,
    Function,
    Load,
    Loop,
    Mark,
    Operand,
    Recall,
    Stmt,
    Value,
    While,
)
from adc.ir.types import Array, Type
from adc.ir.walk import (
    map_blocks,
    map_operands,
    marked,
    rebuilt,
    substitute,
    substitute_block,
    with_stmts,
)


def cse(fn: Function) -> Function:
    """Return `fn` with common subexpressions merged."""
    return rebuilt(fn, _Cse)


_Seen = dict[Hashable, Value]


class _Cse:
    def __init__(self, recalled: Mapping[Value, Operand] | None) -> None:
        self.env: dict[Value, Operand] = {}
        self.recalled = self.env if recalled is None else recalled
        self.marks: dict[Value, Mark | None] = {}

    def stmts(self, stmts: Sequence[Stmt], seen: _Seen | None = None) -> tuple[Stmt, ...]:
        found = self.shared(stmts, {} if seen is None else seen)
        if seen is None and self.marks:
            return marked(found, lambda value: self.marks.get(value, value.mark))
        return found

    def shared(self, stmts: Sequence[Stmt], seen: _Seen) -> tuple[Stmt, ...]:
        kept: list[Stmt] = []
        for stmt in stmts:
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            if isinstance(stmt, Recall):
                target = substitute(stmt.value, self.recalled)
                assert isinstance(target, Value)
                stmt = replace(stmt, value=target)
            key = self.key(stmt)
            if key is not None:
                if key in seen:
                    if not isinstance(stmt, Check):
                        self.merge(seen[key], stmt.results[0].mark)
                        self.env[stmt.results[0]] = seen[key]
                    continue
                seen[key] = stmt.results[0] if stmt.results else _CHECKED
                kept.append(stmt)
                continue
            stmt = map_blocks(stmt, lambda block: self.block(block, seen))
            kept.append(self.carrying_less(stmt) if isinstance(stmt, Loop) else stmt)
        return tuple(kept)

    def carrying_less(self, loop: Loop) -> Loop:
        """Return a loop that carries equal numbers once: those that change by the same operation.

        Its body must have been processed, so that equal operands are identical.
        """
        body, first = loop.body, int(isinstance(loop, While))
        made: dict[Operand, Apply] = {
            stmt.results[0]: stmt for stmt in body.stmts if isinstance(stmt, Apply)
        }
        begins: dict[tuple[Operand, Type], int] = {}
        same: dict[int, int] = {}
        env: dict[Value, Operand] = {}
        equal: dict[int, list[Value]] = {}  # what an iteration computes for the same number
        for k, (param, init) in enumerate(zip(body.params, loop.init, strict=True)):
            if isinstance(param.type, Array):
                continue
            of = begins.setdefault((init, param.type), k)
            a, b = (made.get(body.yields[j + first]) for j in (k, of))
            if of == k or a is None or b is None or (a.op, a.params) != (b.op, b.params):
                continue
            if tuple(body.params[of] if arg == param else arg for arg in a.args) == b.args:
                same[k] = of
                env[param] = body.params[of]
                equal.setdefault(of, [b.result]).append(a.result)
                self.env[loop.results[k]] = loop.results[of]
        if not same:
            return loop
        order = list(made)
        for values in equal.values():  # the first of them is there for all that read them
            first_made = min(values, key=order.index)
            env |= {value: first_made for value in values if value != first_made}
        self.env.update(env)
        stay = [k for k in range(len(body.params)) if k not in same]
        body = substitute_block(body, env)
        stmts = tuple(s for s in body.stmts if not (s.results and s.results[0] in env))
        yields = (*body.yields[:first], *(body.yields[k + first] for k in stay))
        block = Block(tuple(body.params[k] for k in stay), stmts, yields)
        given = tuple(loop.init[k] for k in stay)
        return replace(loop, results=tuple(loop.results[k] for k in stay), init=given, body=block)

    def merge(self, first: Value, mark: Mark | None) -> None:
        """Give a value the marks of an equal one that it replaces, so that both are kept."""
        old = self.marks.get(first, first.mark)
        ranks = ("save", "recompute", "result", "", "checkpoint")
        if old != mark and ranks.index(mark.kind if mark else "") < ranks.index(
            old.kind if old else ""
        ):
            self.marks[first] = mark

    def block(self, block: Block, seen: _Seen) -> Block:
        stmts = self.stmts(block.stmts, dict(seen))
        yields = tuple(substitute(operand, self.env) for operand in block.yields)
        return with_stmts(block, stmts, yields)

    def key(self, stmt: Stmt) -> Hashable | None:
        """Return a key of what a statement computes, if it may be shared."""
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
