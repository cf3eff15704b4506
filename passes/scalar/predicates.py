"""Evaluate conditions of reverse code that depend on forward values in forward code.

A condition of reverse code (which operand was larger, whether a number was positive) takes one
byte to store, its operands take eight each. As a forward value it can be stored or recomputed:
`remat` decides. Before::

    %y = maximum %x 0.0:f64
    …
    %x.r = recall %x
    %c = gt %x.r 0.0:f64

After::

    %y = maximum %x 0.0:f64
    %c.1 = gt %x 0.0:f64
    …
    %c = recall %c.1

Where inverse operations may restore values inexactly (`adc.invertible`), every condition is moved
(`rounds`): steps, and predicates of what reverse code computes.

No bit changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.analysis.inexact import jumps
from adc.ir.core import (
    Apply,
    Block,
    Function,
    Mark,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    blocks,
    is_invertible,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names, inner_values, map_blocks, map_functions, map_stmts

# Where a value is defined: the path to its block (statement, block, statement, …), and the
# statement there, -1 for a parameter of the block.
Point = tuple[tuple[int, ...], int]


def predicates(fn: Function) -> Function:
    """Return `fn` with predicates of forward values in the forward code."""
    table = {each.name: each for each in (*fn.callees, fn)}
    mirrors = {each.mirror: each.name for each in table.values() if each.mirror}
    for name, each in list(table.items()):
        reverse = table[mirrors.get(name, name)]
        if each.mirror or not any(isinstance(s, Recall) for s in walk(reverse.body)):
            continue
        mover = _Mover(each)
        mover.names.add(Names.of(reverse))
        body = mover.reverse(reverse.body)
        if mover.added:
            table[reverse.name] = replace(reverse, body=body)
            table[name] = replace(each, body=mover.forward(body if reverse is each else each.body))
    return map_functions(fn, lambda each: table[each.name])


@dataclass
class _Mover:
    """Moves the predicates of one function, whose reverse code is in it or in its mirror."""

    fn: Function
    places: dict[Value, Point] = field(default_factory=dict)
    # The new statements, by program point, and the value of each predicate.
    added: dict[Point, list[Apply]] = field(default_factory=dict)
    known: dict[object, Value] = field(default_factory=dict)
    # The forward values that values of reverse code stand for.
    recalled: dict[Operand, Value] = field(default_factory=dict)

    # What reverse code computes, in functions in which values may be inexact.
    made: dict[Operand, Apply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rounds = any(
            is_invertible(each) for s in walk(self.fn.body) for each in inner_values(s)
        )
        self.names = Names.of(self.fn)
        for param in self.fn.params:
            self.places[param] = ((), -1)
        self.scan(self.fn.body, ())

    def scan(self, stmts: Sequence[Stmt], path: tuple[int, ...]) -> None:
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, Reverse | Recall):
                continue
            for result in stmt.results:
                self.places[result] = (path, k)
            for j, block in enumerate(blocks(stmt)):
                inner = (*path, k, j)
                for value in inner_values(stmt):
                    self.places[value] = (inner, -1)
                self.scan(block.stmts, inner)

    # -- reverse code ----------------------------------------------------------------------

    def reverse(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Recall):
                self.recalled[stmt.result] = stmt.value
            elif isinstance(stmt, Apply):
                value = self.moved(stmt) if self.is_predicate(stmt) else None
                if value is not None:
                    self.recalled[stmt.result] = value
                    stmt = Recall(stmt.result, value, stmt.loc)
                elif self.rounds and len(stmt.results) == 1:
                    self.made[stmt.result] = stmt
            done.append(map_stmts(stmt, self.reverse))
        return tuple(done)

    def is_predicate(self, stmt: Apply) -> bool:
        if self.rounds:
            return jumps(stmt)
        return len(stmt.results) == 1 and stmt.result.type.kind == "b"

    def moved(self, stmt: Apply) -> Value | None:
        """Return the forward value of a number; None unless it depends on forward numbers only."""
        values = [arg for arg in stmt.args if isinstance(arg, Value)]
        numbers = all(not isinstance(v.type, Array) and v.type.kind == "f" for v in values)
        if not values or not numbers or isinstance(stmt.result.type, Array):
            return None
        for arg in values:
            if arg in self.made and arg not in self.recalled:
                value = self.moved(self.made[arg])
                if value is not None:
                    self.recalled[arg] = value
        if not all(arg in self.recalled for arg in values):
            return None
        args = tuple(self.recalled.get(arg, arg) for arg in stmt.args)
        key = (stmt.op.name, args, stmt.params)
        if key not in self.known:
            found = [self.recalled[arg] for arg in values]
            if not all(value in self.places for value in found):
                return None
            # All are in scope in the innermost block that defines one of them.
            path, at = max((self.places[value] for value in found), key=lambda p: (len(p[0]), p[1]))
            if any(self.places[value][0] != path[: len(self.places[value][0])] for value in found):
                return None
            mark = next((mark for value in found if (mark := _mark(value))), None)
            new = Value(self.names.fresh(stmt.result.name), stmt.result.type, mark)
            self.added.setdefault((path, at), []).append(replace(stmt, results=(new,), args=args))
            self.known[key] = new
            self.places[new] = (path, at)
        return self.known[key]

    # -- forward code ----------------------------------------------------------------------

    def forward(self, stmts: Sequence[Stmt], path: tuple[int, ...] = ()) -> tuple[Stmt, ...]:
        """Return the forward code with the new statements inserted."""
        done: list[Stmt] = [*self.added.get((path, -1), ())]
        for k, stmt in enumerate(stmts):
            if blocks(stmt) and not isinstance(stmt, Reverse):
                inner = iter(range(len(blocks(stmt))))

                def block(found: Block, k: int = k, inner: Iterator[int] = inner) -> Block:
                    stmts = self.forward(found.stmts, (*path, k, next(inner)))
                    return Block(found.params, stmts, found.yields)

                stmt = map_blocks(stmt, block)
            done += (stmt, *self.added.get((path, k), ()))
        return tuple(done)


def _mark(value: Value) -> Mark | None:
    """Return the mark of the checkpointed call in which a value is computed."""
    mark = value.mark
    return mark.around if mark is not None and mark.kind != "checkpoint" else mark


__all__ = ["predicates"]
