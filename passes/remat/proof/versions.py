"""Prove which forward version an array, or a number, of reverse code is equal to.

For `availability`, and independent of `undo`: it looks at the finished program alone. A loop that
mirrors a forward loop, with as many trips, is entered with the result of that loop, and its body
maps the version that a forward iteration yields to the one that the iteration began with: by
induction, after the loop there is the version that the forward loop began with. A store inverts a
forward store if it stores, at the same index, the value of a forward load from the version before
it at that index. An update of an integer is inverted by its exact inverse. A branch on a forward
condition inverts the forward branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from adc.ir import ops
from adc.ir.core import (
    Apply,
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
    is_invertible,
)
from adc.ir.ops import arith
from adc.ir.walk import carried_yields

Has = Callable[[Operand, Value], bool]
VersionMap = Mapping[Value, Value]


@dataclass
class Versions:
    """The versions that arrays and numbers of one function's reverse code are equal to.

    Attributes
    ----------
    has : callable
        Whether an operand has a forward value.
    counts : callable
        Whether an operand is the trip count of a forward loop.
    version : callable
        Which version a forward array is, where loops and branches do not change it.
    changed : callable
        Called when a fact was found or refuted.
    found : dict
        By value of reverse code: the forward version, in the mirrored iterations.
    """

    has: Has
    counts: Callable[[Operand, For | While], bool]
    version: Callable[[Operand], Value]
    changed: Callable[[], None]
    found: dict[Value, Value] = field(default_factory=dict)
    loops: dict[str, For | While] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    defs: dict[Value, Stmt] = field(default_factory=dict)
    loads: dict[Value, list[Load]] = field(default_factory=dict)
    # The definitions of the values of reverse code.
    made: dict[Operand, Stmt] = field(default_factory=dict)
    # Those that reverse code may restore inexactly, as the user allowed.
    inexact: set[Operand] = field(default_factory=set)

    def read(self, forward: Sequence[Stmt], region: str = "") -> None:
        """Collect facts about forward code."""
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

    def follow(self, stmts: Sequence[Stmt], known: VersionMap, region: str = "") -> VersionMap:
        """Follow reverse code that mirrors an iteration of a region; return what is known then."""
        now = dict(known)
        for stmt in stmts:
            self.made.update(dict.fromkeys(stmt.results, stmt))
            match stmt:
                case Store(result=result, array=array):
                    before = self.undone(stmt, now.get(array))
                    if before is not None:
                        self.allow(result, array in self.inexact)
                        now.update(self.learned({result: self.version(before)}))
                case Apply(results=(result,), args=args):
                    for each in args:
                        version = now.get(each)  # type: ignore[arg-type]  # no literal is in it
                        before = self.inverted(stmt, each, version, each in self.inexact)
                        if before is not None:
                            self.allow(result, each in self.inexact)
                            now.update(self.learned({result: before}))
                case If():
                    now.update(self.learned(self.branch(stmt, now, region)))
                case For() | While():
                    now.update(self.learned(self.loop(stmt, now, region)))
        return now

    def allow(self, value: Value, allowed: bool) -> None:
        if allowed:
            self.inexact.add(value)

    def learned(self, found: VersionMap) -> VersionMap:
        if found:
            self.found.update(found)
            self.changed()
        return found

    def undone(self, stmt: Store, version: Value | None) -> Value | None:
        """Return the version before the store that made one, if `stmt` inverts it."""
        made = None if version is None else self.defs.get(version)
        if not isinstance(made, Store) or stmt.accumulate or len(stmt.index) != len(made.index):
            return None
        for mine, theirs in zip(stmt.index, made.index, strict=True):
            if not (mine == theirs if isinstance(theirs, Literal) else self.has(mine, theirs)):
                return None
        old = self.before(stmt.value, stmt, made)
        for load in self.loads.get(made.array, ()):
            if load.index == made.index:
                if old == load.result or self.has(stmt.value, load.result):
                    return made.array
        first = self.defs.get(made.array)
        if isinstance(first, Store) and not first.accumulate and first.index == made.index:
            return made.array if old is not None and old == first.value else None
        return None

    def before(self, operand: Operand, stmt: Store, made: Store) -> Operand | None:
        """Return the number whose update a forward store stores, if an operand inverts the update.

        `stmt` is the store of reverse code, in front of which the element is read.
        """
        match self.made.get(operand):
            case Load(array=array, index=index) if array == stmt.array and index == stmt.index:
                return None if made.accumulate else made.value
            case Apply(args=args) as apply:
                for each in args:
                    version = self.before(each, stmt, made)
                    if isinstance(version, Value):
                        allowed = stmt.array in self.inexact
                        return self.inverted(apply, each, version, allowed)
        return None

    def inverted(
        self, stmt: Apply, mine: Operand, version: Value | None, inexact: bool
    ) -> Value | None:
        """Return the operand of the update that made a version, if `stmt` inverts it.

        Integers of one width wrap around: adding, subtracting and exclusive or have exact inverses.
        With `inexact`, floats may differ by the rounding of the inverse.
        """
        made = None if version is None else self.defs.get(version)
        if not isinstance(made, Apply) or len(made.args) != len(stmt.args):
            return None
        kinds = {each.type.dtype for each in (*made.args, *made.results, *stmt.results)}
        if len(kinds) != 1 or made.result.type.kind not in ("iuf" if inexact else "iu"):
            return None
        rows = made.op, stmt.op
        if len(made.args) == 1:
            exact = rows in (
                (arith.neg, arith.neg),
                (ops.integer.invert, ops.integer.invert),
                (arith.cast, arith.cast),
            )
            return made.args[0] if exact and isinstance(made.args[0], Value) else None
        a, b = made.args

        def agree(other: Operand, theirs: Operand) -> bool:
            return other == theirs if isinstance(theirs, Literal) else self.has(other, theirs)

        left, right = stmt.args
        found: Operand | None = None
        if made.result.type.kind == "f" and rows in (
            (arith.mul, arith.truediv),
            (arith.truediv, arith.mul),
        ):
            # Only by a literal: another factor may be zero.
            factors = [each for each in (a, b) if isinstance(each, Literal) and each.value]
            if len(factors) == 1 and (left, right) == (mine, factors[0]):
                found = a if isinstance(a, Value) else b if made.op is arith.mul else None
            return found if isinstance(found, Value) else None
        match rows:
            case (arith.add, arith.sub) if left == mine:
                found = a if agree(right, b) else b if agree(right, a) else None
            case (arith.sub, arith.add):
                found = a if agree(right if left == mine else left, b) else None
            case (arith.sub, arith.sub) if right == mine:
                found = b if agree(left, a) else None
            case (ops.integer.bitxor, ops.integer.bitxor):
                other = right if left == mine else left
                found = a if agree(other, b) else b if agree(other, a) else None
        return found if isinstance(found, Value) else None

    def branch(self, stmt: If, known: VersionMap, region: str) -> VersionMap:
        arms: list[VersionMap] = []
        for which, arm in enumerate(blocks(stmt)):
            inner = dict(known)
            for array, version in known.items():
                made = self.defs.get(version)
                if isinstance(made, If) and self.same_condition(stmt, made):
                    theirs = blocks(made)[which].yields[made.results.index(version)]
                    if isinstance(theirs, Value):
                        inner[array] = self.version(theirs)
            arms.append(self.follow(arm.stmts, inner, region))
        found: dict[Value, Value] = {}
        for k, result in enumerate(stmt.results):
            one, other = (
                self.at_end(after, arm, k) for after, arm in zip(arms, blocks(stmt), strict=True)
            )
            if one is not None and one == other:
                found[result] = one
                self.allow(result, any(arm.yields[k] in self.inexact for arm in blocks(stmt)))
        return found

    def same_condition(self, stmt: If, made: If) -> bool:
        if isinstance(made.cond, Literal):
            return stmt.cond == made.cond
        return self.has(stmt.cond, made.cond)

    def at_end(self, after: VersionMap, block: Block, k: int) -> Value | None:
        operand = block.yields[k]
        return after.get(operand) if isinstance(operand, Value) else None

    def loop(self, stmt: For | While, known: VersionMap, region: str) -> VersionMap:
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
        # By position in the reverse loop: the position in the forward loop.
        places: dict[int, int] = {}
        for k, start in enumerate(stmt.init):
            for m, last in enumerate(forward.results):
                if last.type == start.type and isinstance(carried_yields(forward)[m], Value):
                    if self.is_version(start, last, known):
                        places[k] = m
        while True:
            begun = {
                stmt.body.params[k]: self.version(carried_yields(forward)[m])
                for k, m in places.items()
            }
            for k, m in places.items():
                inexact = is_invertible(forward.body.params[m])
                self.allow(stmt.body.params[k], inexact)
                self.allow(stmt.results[k], inexact)
            inner = {**known, **self.learned(begun)}
            after = self.follow(stmt.body.stmts, inner, label)
            wrong = [
                k
                for k, m in places.items()
                if self.at_end(after, stmt.body, k) != forward.body.params[m]
            ]
            if not wrong:
                break
            # Facts found in the body may depend on a refuted one.
            self.forget(stmt)
            for k in wrong:
                del places[k]
        return {
            stmt.results[k]: self.version(forward.init[m])
            for k, m in places.items()
            if isinstance(forward.init[m], Value)
        }

    def is_version(self, operand: Operand, value: Value, known: VersionMap) -> bool:
        found = known.get(operand) if isinstance(operand, Value) else None
        return found == self.version(value) or self.has(operand, value)

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
        self.changed()


__all__ = ["Versions"]
