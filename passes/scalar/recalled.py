"""Recall in reverse code what forward code has computed of the same values.

The derivative of `cos` needs the sine, which programs often compute as well. Before::

    %c = cos %x
    %s = sin %x
    …
    %x.r = recall %x
    %d = sin %x.r

After, the last two are ``%d = recall %s``. `remat` then decides once what is stored and what is
recomputed. Only expensive operations are replaced: for others it does not pay.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from adc.ir.core import (
    Apply,
    Function,
    Literal,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    blocks,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import inner_values, map_functions, map_stmts

# An addition costs 1.
_DEAR = 8


def recalled(fn: Function) -> Function:
    """Return `fn` with Recalls in place of expensive operations of the same operands."""

    def done(each: Function) -> Function:
        if each.mirror or not any(isinstance(stmt, Recall) for stmt in walk(each.body)):
            return each
        return replace(each, body=tuple(_Recalled(each).stmts(each.body)))

    return map_functions(fn, done)


class _Recalled:
    def __init__(self, fn: Function) -> None:
        # The block that computes each forward value, by its id.
        self.home: dict[Value, int] = {}
        self.computed: dict[Hashable, Value] = {}
        self.recalls: dict[Value, Value] = {}
        self.note(fn.body)

    def note(self, stmts: Sequence[Stmt]) -> None:
        home = id(stmts)
        for stmt in stmts:
            self.home.update(dict.fromkeys(stmt.results, home))
            if isinstance(stmt, Apply) and self.is_expensive(stmt):
                self.computed.setdefault(_key(stmt, stmt.args), stmt.result)
            if isinstance(stmt, Reverse):
                continue
            for block in blocks(stmt):
                self.home.update(dict.fromkeys(inner_values(stmt), id(block.stmts)))
                self.note(block.stmts)

    def is_expensive(self, stmt: Apply) -> bool:
        return (
            stmt.op.cost >= _DEAR
            and len(stmt.results) == 1
            and not any(isinstance(each.type, Array) for each in (*stmt.args, stmt.result))
        )

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Recall):
                self.recalls[stmt.result] = stmt.value
            if isinstance(stmt, Apply) and self.is_expensive(stmt):
                found = self.found(stmt)
                if found is not None:
                    stmt = Recall(stmt.result, found, loc=stmt.loc)
            done.append(map_stmts(stmt, self.stmts))
        return done

    def found(self, stmt: Apply) -> Value | None:
        """Return the forward value that an operation on recalled values recomputes."""
        args: list[Operand] = []
        for arg in stmt.args:
            if not isinstance(arg, Literal) and arg not in self.recalls:
                return None
            args.append(arg if isinstance(arg, Literal) else self.recalls[arg])
        value = self.computed.get(_key(stmt, args))
        if value is None or value == stmt.result or value.type != stmt.result.type:
            return None
        # Where an operand can be recalled, so can every value of the same block.
        homes = {self.home.get(arg) for arg in args if isinstance(arg, Value)}
        return value if self.home[value] in homes else None


def _key(stmt: Apply, args: Sequence[Operand]) -> Hashable:
    return (stmt.op.name, tuple(args), stmt.params)


__all__ = ["recalled"]
