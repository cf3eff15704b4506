"""Move loop-invariant code out of loops.

Before::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %e = exp %w
      …

After::

    %e = exp %w
    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      …

Operations on numbers move, and Recalls of values that the mirrored loop does not compute. They are
pure, so moving them is safe even if the loop runs zero times. Loads of arrays that the loop does
not change move if the element exists even for zero iterations. Branches of such statements move as
a whole, unless reverse code mirrors them; others stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.sizes.affine import Facts
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Load,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names, inner_values, map_blocks, map_functions


def hoist(fn: Function) -> Function:
    """Return `fn` with loop-invariant operations and Recalls in front of their loops."""
    every = {each.name: each for each in (*fn.callees, fn)}

    def done(each: Function) -> Function:
        loops: dict[Value, frozenset[str]] = {}
        _find_loops(every.get(each.mirror, each).body, frozenset(), loops)
        return replace(each, body=tuple(_Hoist(each, loops).stmts(each.body)))

    return map_functions(fn, done)


def _find_loops(
    stmts: Sequence[Stmt], path: frozenset[str], found: dict[Value, frozenset[str]]
) -> None:
    """Map every value of forward code to the loops that it is computed in."""
    for stmt in stmts:
        found.update(dict.fromkeys(stmt.results, path))
        if isinstance(stmt, Reverse):
            continue
        inner = path | {stmt.label} if isinstance(stmt, For | While) else path
        found.update(dict.fromkeys(inner_values(stmt), inner))
        for block in blocks(stmt):
            _find_loops(block.stmts, inner, found)


class _Hoist:
    def __init__(self, fn: Function, loops: dict[Value, frozenset[str]]) -> None:
        self.loops = loops
        self.facts = Facts()
        reverse = any(isinstance(s, Reverse | Recall) for s in walk(fn.body))
        self.shapes = None if reverse or fn.mirror else Shapes(fn, Names.of(fn))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            match stmt:
                case For() | While() | Reverse():
                    mark = self.facts.mark()
                    if isinstance(stmt, For):
                        self.facts.enter_loop(stmt)
                    inside = self.stmts(stmt.body.stmts)
                    self.facts.release(mark)
                    label = stmt.loop if isinstance(stmt, Reverse) else stmt.label
                    varying = set(stmt.body.params) | set(inner_values(stmt))
                    kept: list[Stmt] = []
                    for inner in inside:
                        if self.moves(inner, varying, label):
                            done.append(inner)
                        else:
                            kept.append(inner)
                            varying.update(inner.results)
                    stmt = replace(stmt, body=replace(stmt.body, stmts=tuple(kept)))
                case If():
                    stmt = map_blocks(stmt, self.arm)
                case Apply():
                    self.facts.define(stmt)
                case Check():
                    self.facts.assume_check(stmt)
            done.append(stmt)
        return done

    def arm(self, block: Block) -> Block:
        mark = self.facts.mark()
        stmts = tuple(self.stmts(block.stmts))
        self.facts.release(mark)
        return replace(block, stmts=stmts)

    def moves(self, stmt: Stmt, varying: set[Value], label: str) -> bool:
        match stmt:
            case Apply(results=results, op=op):
                if (op.reorders or op.undefined) or any(isinstance(v.type, Array) for v in results):
                    return False
                return not any(operand in varying for operand in operands(stmt))
            case Recall(value=value):
                return label not in self.loops.get(value, frozenset((label,)))
            case Load():
                if any(operand in varying for operand in operands(stmt)):
                    return False
                sizes = None if self.shapes is None else self.shapes.known(stmt.array)
                return self.facts.exists(stmt.index, sizes)  # by facts that hold outside the loop
            case If() if self.shapes is not None:
                own = set(inner_values(stmt))
                return stmt.cond not in varying and all(
                    self.moves_arm(arm, varying - own, label) for arm in blocks(stmt)
                )
        return False

    def moves_arm(self, arm: Block, varying: set[Value], label: str) -> bool:
        """Whether all of an arm may be executed speculatively before the loop."""
        return all(
            isinstance(stmt, Apply | Load | If) and self.moves(stmt, varying, label)
            for stmt in arm.stmts
        ) and varying.isdisjoint(arm.yields)
