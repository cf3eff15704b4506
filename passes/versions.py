"""Prove which forward version of an array an array of reverse code has the elements of.

For `availability`, and independent of `undo`: it looks at the finished program alone. A loop that
mirrors a forward loop, with as many trips, is entered with what that loop left, and its body takes
the version that a forward iteration handed on back to the one that the iteration began with: by
induction, after the loop there is the version that the forward loop began with. A store takes a
version back to the one before if it puts what a forward load read there, from the version before
and at the index of the forward store, to the same index. A branch on a forward condition takes back
the version that the forward branch gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from adc.ir.core import (
    Block,
    For,
    If,
    Literal,
    Load,
    Operand,
    Stmt,
    Store,
    Value,
    While,
    blocks,
)
from adc.passes.activity import carried_yields

Has = Callable[[Operand, Value], bool]
Known = Mapping[Value, Value]


@dataclass
class Versions:
    """The versions that arrays of one function's reverse code are equal to.

    Attributes
    ----------
    has : callable
        Whether an operand has a forward value.
    counts : callable
        Whether an operand is the number of trips of a forward loop.
    version : callable
        Which version a forward array is, where loops and branches do not change it.
    found : dict
        By array of reverse code: the forward version, in the mirrored iterations.
    """

    has: Has
    counts: Callable[[Operand, For | While], bool]
    version: Callable[[Operand], Value]
    found: dict[Value, Value] = field(default_factory=dict)
    loops: dict[str, For | While] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    defs: dict[Value, Stmt] = field(default_factory=dict)
    loads: dict[Value, list[Load]] = field(default_factory=dict)

    def read(self, forward: Sequence[Stmt], region: str = "") -> None:
        """Learn about forward code."""
        for stmt in forward:
            self.defs.update(dict.fromkeys(stmt.results, stmt))
            if isinstance(stmt, Load):
                self.loads.setdefault(stmt.array, []).append(stmt)
            inner = region
            if isinstance(stmt, For | While):
                inner = stmt.label
                self.loops[inner], self.parents[inner] = stmt, region
            for block in blocks(stmt):
                self.read(block.stmts, inner)

    def follow(self, stmts: Sequence[Stmt], known: Known, region: str = "") -> Known:
        """Follow reverse code that mirrors an iteration of a region; return what is known then."""
        now = {array: self.version(version) for array, version in known.items()}
        for stmt in stmts:
            match stmt:
                case Store(result=result, array=array):
                    before = self.undone(stmt, now.get(array))
                    if before is not None:
                        now[result] = self.version(before)
                case If():
                    now.update(self.branch(stmt, now, region))
                case For() | While():
                    now.update(self.loop(stmt, now, region))
        self.found.update(now)
        return now

    def undone(self, stmt: Store, version: Value | None) -> Value | None:
        """Return the version before the store that made one, if `stmt` takes it back."""
        made = None if version is None else self.defs.get(version)
        if not isinstance(made, Store) or stmt.accumulate or len(stmt.index) != len(made.index):
            return None
        for mine, theirs in zip(stmt.index, made.index, strict=True):
            if not (mine == theirs if isinstance(theirs, Literal) else self.has(mine, theirs)):
                return None
        for load in self.loads.get(made.array, ()):
            if load.index == made.index and self.has(stmt.value, load.result):
                return made.array
        return None

    def branch(self, stmt: If, known: Known, region: str) -> Known:
        arms: list[Known] = []
        for which, arm in enumerate(blocks(stmt)):
            inner = dict(known)
            for array, version in known.items():
                made = self.defs.get(version)
                if isinstance(made, If) and self.same_condition(stmt, made):
                    theirs = blocks(made)[which].yields[made.results.index(version)]
                    inner[array] = self.version(theirs)
            after = self.follow(arm.stmts, inner, region)
            # In front of the branch they are what they were.
            self.found.update(known)
            arms.append(after)
        found: dict[Value, Value] = {}
        for k, result in enumerate(stmt.results):
            one, other = (
                self.at_end(after, arm, k) for after, arm in zip(arms, blocks(stmt), strict=True)
            )
            if one is not None and one == other:
                found[result] = one
        return found

    def same_condition(self, stmt: If, made: If) -> bool:
        if isinstance(made.cond, Literal):
            return stmt.cond == made.cond
        return self.has(stmt.cond, made.cond)

    def at_end(self, after: Known, block: Block, k: int) -> Value | None:
        operand = block.yields[k]
        return after.get(operand) if isinstance(operand, Value) else None

    def loop(self, stmt: For | While, known: Known, region: str) -> Known:
        label = stmt.label.rpartition(".rev")[0]
        forward = self.loops.get(label)
        if (
            not isinstance(stmt, For)
            or not stmt.down
            or forward is None
            or self.parents[label] != region
            or not self.counts(stmt.trips, forward)
        ):
            self.follow(stmt.body.stmts, known, region)
            return {}
        # By place in the reverse loop: the place in the forward loop.
        places: dict[int, int] = {}
        for k, start in enumerate(stmt.init):
            version = known.get(start) if isinstance(start, Value) else None
            if version in forward.results:
                places[k] = forward.results.index(version)
        while True:
            inner = dict(known)
            for k, m in places.items():
                inner[stmt.body.params[k]] = self.version(carried_yields(forward)[m])
            after = self.follow(stmt.body.stmts, inner, label)
            wrong = [
                k
                for k, m in places.items()
                if self.at_end(after, stmt.body, k) != forward.body.params[m]
            ]
            if not wrong:
                break
            # All that was found in the body rests on what is wrong.
            self.forget(stmt)
            for k in wrong:
                del places[k]
        return {stmt.results[k]: self.version(forward.init[m]) for k, m in places.items()}

    def forget(self, stmt: For) -> None:
        for param in stmt.body.params:
            self.found.pop(param, None)
        waiting = list(stmt.body.stmts)
        while waiting:
            each = waiting.pop()
            for value in each.results:
                self.found.pop(value, None)
            for block in blocks(each):
                for param in block.params:
                    self.found.pop(param, None)
                waiting += block.stmts


__all__ = ["Versions"]
