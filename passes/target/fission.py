"""Split a loop that does several things into several loops where that lets more threads run.

    for L %i in 0 to %n {                 for L %i in 0 to %n {
      for M %j in 0 to %m {                 for M %j in 0 to %m {
        …                                     …
        increase %a[%i, %j] %t                increase %a[%i, %j] %t
      }                                     }
      %u = …                              }
      increase %a[%i, 0] %u               for L.1 %i.1 in 0 to %n {
    }                                       %u = …
                                            increase %a[%i.1, 0] %u
                                          }

Iterations are independent, so each may be executed part by part, all iterations one part at a time:
the border and the interior of a stencil, for example. The perfect nests that result become launches
of many threads (`kernels`); a loop with other statements around it cannot.

An inner loop that also adds along its own counter, as in an n-body force, is run twice: once along
each counter, so that threads add to their own elements. Values that several parts need are
recomputed in each, but no other loop is duplicated. This is buffer form, before `kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir import ops
from adc.ir.analysis.dependence.accesses import same_axis
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.ops import arith
from adc.ir.types import INT, Array
from adc.ir.walk import (
    Env,
    clone,
    filtered,
    loop_values,
    map_blocks,
    map_functions,
    map_stmts,
    substitute,
    substitute_stmt,
)
from adc.passes.scalar.dce import dce
from adc.passes.target.expand_tape import is_simple
from adc.passes.target.kernels import Launches, guarded

# Loops known to have fewer iterations do not justify more launches.
_FEW = 32


def fission(fn: Function, deterministic: bool = False) -> Function:
    """Return `fn`, which is in buffer form, with loops split where that pays.

    If it is to be `deterministic`, threads do not add to elements that they share.
    """
    return map_functions(fn, lambda each: _Fission(each, deterministic).run())


@dataclass
class _Part:
    """Writes and checks that stay together, by `id`; the inner loop that they are in, if any."""

    inner: For | None
    kept: set[int] = field(default_factory=set)
    # Whether it is one of the two runs of an inner loop.
    doubled: bool = False


class _Fission(Launches):
    def __init__(self, fn: Function, deterministic: bool) -> None:
        super().__init__(fn)
        # Whether parts may share no element; the loops that they come from may.
        self.exactly = deterministic

    def run(self) -> Function:
        return replace(self.fn, body=tuple(self.stmts(self.fn.body)))

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, For) and stmt.parallel:
                done.append(stmt)
            elif isinstance(stmt, For) and is_simple(stmt):
                done += self.loops(stmt, done)
            else:
                done.append(map_stmts(stmt, self.stmts))
        return done

    def loops(self, loop: For, before: list[Stmt]) -> list[Stmt]:
        """Return the replacement of a loop; loop-invariant code is appended to `before`."""
        loop = self.hoisted(loop, before)
        ranges = self.ranges(loop, before)
        if ranges:
            return [each for part in ranges for each in self.loops(part, before)]
        within = map_stmts(loop, self.stmts)
        assert isinstance(within, For)
        within = self.fused(within)
        return self.copied(self.split(within)) or [within]

    def fused(self, loop: For) -> For:
        """Return a loop whose inner loops of equal trip count are fused.

        They only add to arrays, each perhaps under a condition.
        """
        head: list[Stmt] = []
        units: list[tuple[list[Stmt | Operand], For]] = []
        for stmt in loop.body.stmts:
            path: list[Stmt | Operand] = []
            while isinstance(stmt, If) and not stmt.results and not stmt.orelse.stmts:
                if not stmt.then.stmts or not all(map(_computes, stmt.then.stmts[:-1])):
                    return loop
                path += [stmt.cond, *stmt.then.stmts[:-1]]
                stmt = stmt.then.stmts[-1]
            if isinstance(stmt, For) and not stmt.results:
                units.append((path, stmt))
            elif _computes(stmt) and not path:
                head.append(stmt)
            else:
                return loop
        first = units[0][1] if units else loop
        inside = [s for _, each in units for s in walk(each.body.stmts)]
        if len(units) < 2 or any(each.trips != first.trips for _, each in units):
            return loop
        if loop.results or not all(_only_adds(s) for s in inside):
            return loop
        added = [s.array for s in inside if isinstance(s, Write)]
        every = [*head, *(s for path, _ in units for s in path), *inside]
        read = [s.array for s in every if isinstance(s, Load)]
        if any(self.may_alias(a, b) for a in added for b in read):
            return loop
        body: list[Stmt] = []
        for path, each in units:
            env: Env = {each.index: first.index} if each is not first else {}
            stmts = [substitute_stmt(s, env) for s in each.body.stmts]
            body += guarded(path, stmts)
        inner = replace(first, body=Block((), tuple(body), ()), down=False)
        return replace(loop, body=Block((), (*head, inner), ()))

    def copied(self, loops: Sequence[For]) -> list[Stmt]:
        done = [each for loop in loops for each in clone([loop], {}, self.names)]
        self.facts.learn(done)
        return done

    # -- trip counts -----------------------------------------------------------------------

    def hoisted(self, loop: For, before: list[Stmt]) -> For:
        """Return a loop without loop-invariant integers."""
        stmts: list[Stmt] = []
        for stmt in loop.body.stmts:
            stmts.append(self.hoisted(stmt, stmts) if isinstance(stmt, For) else stmt)
        within = loop_values(loop)
        rest: list[Stmt] = []
        for stmt in stmts:
            if (
                isinstance(stmt, Apply)
                and within.isdisjoint(stmt.args)
                and stmt.result.type.kind in "iub"
                and _is_of_numbers(stmt)
            ):
                before.append(stmt)
                within.difference_update(stmt.results)
            else:
                rest.append(stmt)
        return replace(loop, body=Block(loop.body.params, tuple(rest), loop.body.yields))

    def ranges(self, loop: For, before: list[Stmt]) -> list[For]:
        """Return a loop split in two, in each of which a comparison for inner loops is constant.

        This is index set splitting.
        """
        if loop.results or not self.is_launched(loop):
            return []
        within = loop_values(loop)
        needed = _needed_for_trips(loop)
        counted: dict[Operand, Operand] = {loop.index: integer(0)}
        for stmt in loop.body.stmts:
            if not isinstance(stmt, Apply) or len(stmt.args) != 2:
                continue
            a, b = stmt.args
            orders = stmt.op.orders
            if stmt.op is arith.add and a == loop.index and b not in within:
                counted[stmt.result] = b  # in a loop that was split before
            if stmt.result not in needed or orders is None:
                continue
            less, equal = orders
            if b in counted:
                a, b, less = b, a, not less
            if a in counted and b not in within and b.type.kind == "i":
                # It holds up to an iteration, or from there on.
                at = self.number("sub", b, counted[a], before)
                at = self.number("add", at, integer(int(less == equal)), before)
                return self.halves(loop, stmt.result, less, at, before)
        return []

    def halves(
        self, loop: For, value: Value, first: bool, at: Operand, before: list[Stmt]
    ) -> list[For]:
        """Return a loop up to the iteration where a comparison flips, and the loop from there."""
        trips = self.size(loop.trips, before)
        at = self.number("maximum", at, integer(0), before)
        at = self.number("minimum", at, trips, before)
        low = _settled(replace(loop, trips=at), value, first)
        index = Value(self.names.fresh(loop.index.name), INT)
        moved = Apply((loop.index,), OPS["add"], (index, at))
        body = Block((), (moved, *loop.body.stmts), ())
        rest = self.number("sub", trips, at, before)
        high = _settled(replace(loop, index=index, trips=rest, body=body), value, not first)
        found = self.copied([low, high])
        return [each for each in found if isinstance(each, For)]

    def number(self, name: str, a: Operand, b: Operand, into: list[Stmt]) -> Value:
        made = self.apply(name, a, b, into)
        self.facts.define(into[-1])
        return made

    def split(self, loop: For) -> list[For]:
        """Return the loops that a loop is split into, if it is."""
        if loop.results or not is_simple(loop) or not self.is_launched(loop):
            return []
        if any(isinstance(s, Push | Pop | While) for s in walk(loop.body.stmts)):
            return []
        parts = self.parts(loop)
        if len(parts) < 2 or not any(part.inner for part in parts):
            return []
        loops = [self.only(loop, part) for part in parts]
        found = [(part, each) for part, each in zip(parts, loops, strict=True) if each is not None]
        if not self.is_better(loop, found) or not self.keeps_order(loop, parts, loops):
            return []
        return [each for _, each in found]

    # -- what the parts are ----------------------------------------------------------------

    def parts(self, loop: For) -> list[_Part]:
        """Return the statements that stay together, in program order."""
        found: list[_Part] = []
        within = loop_values(loop)

        def part(inner: For | None) -> _Part:
            if not found or found[-1].inner is not inner or inner is not None:
                found.append(_Part(inner))
            return found[-1]

        def look(stmts: Sequence[Stmt]) -> None:
            for stmt in stmts:
                effects = [s for s in walk((stmt,)) if isinstance(s, Write | Check)]
                if not effects:
                    continue
                if isinstance(stmt, If):
                    for block in blocks(stmt):
                        look(block.stmts)
                elif isinstance(stmt, For) and not _is_short(stmt) and stmt.trips not in within:
                    self.inner(loop, stmt, effects, part)
                else:
                    part(None).kept |= set(map(id, effects))

        look(loop.body.stmts)
        return found

    def inner(self, loop: For, inner: For, effects: Sequence[Stmt], part: object) -> None:
        """Record the parts of an inner loop: additions along its own counter are another part."""
        assert callable(part)
        within = loop_values(loop)

        def is_own(stmt: Write, counter: Value) -> bool:
            return same_axis([stmt], counter, within, self.facts) is not None

        along = [
            stmt
            for stmt in effects
            if isinstance(stmt, Write)
            and stmt.accumulate
            and not is_own(stmt, loop.index)
            and is_own(stmt, inner.index)
        ]
        rest = [stmt for stmt in effects if stmt not in along]
        carries = bool(inner.results)
        for group in (rest, along):
            if group:
                made = part(inner)
                made.kept |= set(map(id, group))
                made.doubled = bool(along) and (bool(rest) or carries)

    def is_launched(self, loop: For) -> bool:
        """Whether iterations are independent, except for additions to shared elements."""
        nest = self.nest(loop)
        return nest is not None and any(0 in side for side in self.independent_levels(nest))

    def only(self, loop: For, part: _Part) -> For | None:
        """Return a loop with one part only, and the statements that it needs."""
        body = filtered(
            (loop,), lambda stmt: not isinstance(stmt, Write | Check) or id(stmt) in part.kept
        )
        left = dce(replace(self.fn, body=body, results=(), callees=(), derived=())).body
        assert all(isinstance(each, For) for each in left)
        return left[0] if left and isinstance(left[0], For) else None

    # -- whether it may and should be ------------------------------------------------------

    def is_better(self, loop: For, found: Sequence[tuple[_Part, For]]) -> bool:
        """Whether inner loops become launches, and no other loops run more than once."""
        loops = [s.label for s in walk(loop.body.stmts) if isinstance(s, For)]
        for part, each in found:
            if part.inner is not None:
                nest = self.nest(each)
                sides = self.independent_levels(nest) if nest is not None else ()
                if not any({*side} - {0} for side in (sides[:1] if self.exactly else sides)):
                    return False
        for label in loops:
            owners = [
                part
                for part, each in found
                if any(isinstance(s, For) and s.label == label for s in walk(each.body.stmts))
            ]
            if len(owners) > (2 if any(part.doubled for part in owners) else 1):
                return False
        return True

    def keeps_order(self, loop: For, parts: Sequence[_Part], loops: Sequence[For | None]) -> bool:
        """Whether every part reads what it did in the loop, and the last write stays last."""
        order = {id(stmt): k for k, stmt in enumerate(walk(loop.body.stmts))}
        # Loads keep their names where they are copied (`only`).
        position = {
            stmt.result: order[id(stmt)] for stmt in walk(loop.body.stmts) if isinstance(stmt, Load)
        }
        writes = [
            [s for s in walk(loop.body.stmts) if isinstance(s, Write) and id(s) in part.kept]
            for part in parts
        ]
        for k, each in enumerate(loops):
            if each is None:
                continue
            reads = [s for s in walk(each.body.stmts) if isinstance(s, Load)]
            for read in reads:
                for j, others in enumerate(writes):
                    for write in others:
                        if j == k or not self.may_alias(read.array, write.array):
                            continue
                        # It was read before a write that now comes first.
                        if (position[read.result] < order[id(write)]) == (j < k):
                            return False
        for k, mine in enumerate(writes):
            for others in writes[k + 1 :]:
                for a in mine:
                    for b in others:
                        if a.accumulate and b.accumulate:
                            continue
                        same = self.may_alias(a.array, b.array)
                        if same and (order[id(a)] > order[id(b)] or parts[k].doubled):
                            return False
        return True

    def may_alias(self, a: Value, b: Value) -> bool:
        return not self.aliases.of(a).isdisjoint(self.aliases.of(b)) or a == b


def _is_of_numbers(stmt: Apply) -> bool:
    return not any(isinstance(v.type, Array) for v in (*stmt.args, *stmt.results))


def _computes(stmt: Stmt) -> bool:
    return isinstance(stmt, Load) or (isinstance(stmt, Apply) and _is_of_numbers(stmt))


def _only_adds(stmt: Stmt) -> bool:
    """Whether a statement has no effect but to add to elements."""
    if isinstance(stmt, Write):
        return stmt.accumulate
    return _computes(stmt) or isinstance(stmt, If | For)


def _needed_for_trips(loop: For) -> set[Operand]:
    """Return the values that determine the trip counts of inner loops."""
    found: set[Operand] = {s.trips for s in walk(loop.body.stmts) if isinstance(s, For)}
    for stmt in reversed(loop.body.stmts):
        if isinstance(stmt, Apply) and stmt.result in found:
            found |= set(stmt.args)
    return found


def _settled(loop: For, value: Value, holds: bool) -> For:
    """Return a loop in which a comparison is known, with its consequences folded."""
    env: dict[Value, Operand] = {value: Literal(holds, value.type)}

    def block(old: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in old.stmts:
            stmt = substitute_stmt(stmt, env)
            if isinstance(stmt, Apply) and (found := _folded(stmt)) is not None:
                env[stmt.result] = found
            elif isinstance(stmt, If) and isinstance(stmt.cond, Literal) and not stmt.results:
                stmts += block(stmt.then if stmt.cond.value else stmt.orelse).stmts
            else:
                stmts.append(map_blocks(stmt, block))
        return Block(old.params, tuple(stmts), tuple(substitute(v, env) for v in old.yields))

    stmts = tuple(s for s in loop.body.stmts if value not in s.results)
    return replace(loop, body=block(Block(loop.body.params, stmts, loop.body.yields)))


def _folded(stmt: Apply) -> Operand | None:
    """Return the result of an operation that one operand determines."""
    args = stmt.args
    match stmt.op:
        case arith.select if isinstance(args[0], Literal):
            return args[1] if args[0].value else args[2]
        case ops.integer.logical_and | ops.integer.logical_or as row if (
            stmt.result.type.kind == "b"
        ):
            for one, other in (args, args[::-1]):
                if isinstance(one, Literal):
                    return other if bool(one.value) == (row is ops.integer.logical_and) else one
    return None


def _is_short(loop: For) -> bool:
    trips: Operand = loop.trips
    return isinstance(trips, Literal) and int(trips.value) < _FEW


__all__ = ["fission"]
