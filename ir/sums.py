"""Sums in lanes: the meaning of `sum` in the loops that carry it.

A strict sum from the first element to the last cannot be vectorised. So sums whose order the source
does not define (those of `np.sum`, and of cotangents) are computed with the row `sum`, whose
meaning depends on the loop: iteration k adds to lane ``k % LANES``, and after the loop the lanes
are combined by halving. Up to `SHORT` terms are added one after the other, as they come. ::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %v = load %x[%i]
      %acc.1 = sum %acc %v
      yield %acc.1
    }

Nested loops carry the lanes: the innermost loop around a `sum` determines the lane, and the
outermost one combines. No partial sum may be read by anything else (`verifier`), so the order is
the same in every loop that the statements end up in. Outside of loops `sum` is `add`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    If,
    Operand,
    Reverse,
    Stmt,
    Value,
    blocks,
    operands,
    remembered,
    walk,
)
from adc.ir.walk import block_reads, stmt_reads

LANES = 128
SHORT = 64


def combine(lanes: Any, used: int, down: bool) -> Any:
    """Return the sum of the lanes in use; a loop that runs `down` filled them in reverse."""
    width = len(lanes)
    if used <= SHORT:
        terms = lanes[:used]
        return sum(terms[::-1] if down else terms, start=lanes.dtype.type(-0.0))
    while width > 1:
        width //= 2
        lanes = lanes[:width] + lanes[width : 2 * width]
    return lanes[0]


class Lanes:
    """Partial sums in the interpreter. The neutral element of addition is -0.0."""

    def __init__(self, like: Any) -> None:
        self.values = np.full(LANES, -0.0, np.asarray(like).dtype)
        self.lane = 0
        self.before: Any = None  # what the lane had before the last addition

    def add(self, value: Any) -> Lanes:
        self.before = self.values[self.lane]
        self.values[self.lane] = self.before + value
        return self


class Sums:
    """The carried values of a running loop: sums as lanes, its own or those of an outer loop."""

    def __init__(self, chains: dict[int, Chain], carried: Sequence[Any], down: bool) -> None:
        positions = tuple(chains)
        self.chains = chains
        self.down = down
        self.iterations = 0
        self.starts = {k: carried[k] for k in positions if not isinstance(carried[k], Lanes)}
        self.carried: Sequence[Any] = [
            Lanes(x) if k in self.starts else x for k, x in enumerate(carried)
        ]
        self.lanes = [self.carried[k] for k in positions]
        self.outer = [lanes.lane for lanes in self.lanes]

    def enter(self, iteration: int) -> None:
        self.iterations += 1
        for lanes in self.lanes:
            lanes.lane = iteration % LANES

    def leave(self, carried: Sequence[Any]) -> list[Any]:
        """Return the results of the loop: its own lanes are combined."""
        for lanes, lane in zip(self.lanes, self.outer, strict=True):
            lanes.lane = lane
        found = list(carried)
        for k, start in self.starts.items():
            found[k] = start + combine(found[k].values, self.used(k), self.down)
        return found

    def used(self, k: int) -> int:
        """Return how many lanes of the sum at this position are in use."""
        return LANES if self.chains[k].nested else min(self.iterations, LANES)


def has_sums(stmts: Sequence[Stmt]) -> bool:
    """Whether there is a `sum` among statements, at any depth."""
    for stmt in stmts:
        if isinstance(stmt, Apply):
            if stmt.op.reorders:
                return True
        elif any(map(_block_has_sums, blocks(stmt))):
            return True
    return False


@remembered
def _block_has_sums(block: Block) -> bool:
    return has_sums(block.stmts)


@dataclass(frozen=True)
class Chain:
    """A sum in lanes: the values that are lanes within the loop that carries it.

    `nested` if inner loops add to it, too.
    """

    members: frozenset[Value]
    nested: bool


def summed(loop: For | Reverse) -> dict[int, Chain]:
    """Return the sums in lanes among the carried values, by their positions."""
    return _summed(loop.body)


@remembered
def _summed(body: Block) -> dict[int, Chain]:
    found: dict[int, Chain] = {}
    for k, param in enumerate(body.params):
        members: set[Value] = set()
        if _block_has_sums(body) and _chain(body, param, k, members):
            nested = any(
                isinstance(s, For | Reverse) and not members.isdisjoint(s.init)
                for s in walk(body.stmts)
            )
            found[k] = Chain(frozenset(members), nested)
    return found


def _chain(block: Block, value: Value, k: int, members: set[Value]) -> bool:
    """Follow a partial sum through a block to yield `k`; whether there is a sum on the way."""
    if not _block_has_sums(block):
        return False
    end, summing = _followed(block, value, members) or (None, False)
    return summing and end == block.yields[k] and block.yields.count(end) == 1


def _followed(block: Block, value: Value, members: set[Value]) -> tuple[Value, bool] | None:
    """Return what a partial sum is at the end of a block, and whether there is a sum on the way.

    Return None if it is read otherwise.
    """
    summing = False
    before: set[Operand] = set()  # partial sums that have been added to since
    for stmt in block.stmts:
        reads = stmt_reads(stmt) if blocks(stmt) else operands(stmt)
        if not before.isdisjoint(reads):
            return None
        if value not in reads:
            continue
        before.add(value)
        inner: set[Value] = set()
        match stmt:
            case Apply(op=op, args=(first, other)) if op.reorders and first == value != other:
                result = stmt.result
            case For(init=init, body=body) | Reverse(init=init, body=body) if value in init:
                at = init.index(value)
                if init.count(value) > 1 or value in block_reads(body):
                    return None
                if not _chain(body, body.params[at], at, inner):
                    return None
                result = stmt.results[at]
            case If(then=then, orelse=orelse) if value != stmt.cond:
                ends = [(arm.yields, _followed(arm, value, inner)) for arm in (then, orelse)]
                if not any(found and found[1] for _, found in ends):
                    return None
                at = next((j for j in range(len(stmt.results)) if _ends_as(ends, j)), -1)
                if at < 0:
                    return None
                result = stmt.results[at]
            case _:
                return None
        members |= inner | {value}
        value, summing = result, True
    members.add(value)
    return None if before.intersection(block.yields) else (value, summing)


def _ends_as(ends: Sequence[tuple[Sequence[Operand], tuple[Value, bool] | None]], j: int) -> bool:
    """Whether a partial sum is the `j`-th result of both arms, and no other one."""
    return all(
        found is not None and yields[j] == found[0] and yields.count(found[0]) == 1
        for yields, found in ends
    )


def lane_values(fn: Function) -> frozenset[Value]:
    """Return all values of a function that are lanes rather than a number."""
    found: set[Value] = set()

    def visit(stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            if isinstance(stmt, For | Reverse):
                for chain in summed(stmt).values():
                    found.update(chain.members)
            for block in blocks(stmt):
                visit(block.stmts)

    if has_sums(fn.body):
        visit(fn.body)
    return frozenset(found)
