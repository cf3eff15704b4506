"""Turn loops with independent iterations into launches, whatever their bodies do.

    for L %i in 0 to %n {                 %many = ge %n 512
      %y = empty[f64] 2                   if %many {
      while W … {                           parallel for L.1 %i.1 in 0 to %n.1 {
        push %h                               …
        …                                   }
      }                                   } else {
      push %k                               for L %i in 0 to %n { … }
    }                                     }
                                          push %many

An iteration becomes a thread with private arrays and a private tape (`threads`): one equation,
particle, pixel or example each. All that such a loop pushes on the tape is one frame, which the
loop that mirrors it pops: both become launches, or neither.

A loop with few iterations around loops with many would leave most of a GPU idle. If inner loops
could be launched as well, and have trip counts known only at run time, both versions are emitted.
Loops that only compute with numbers and elements are left to `expand_tape` and `kernels`, which
make a thread of every iteration of a nest. This is buffer form, before allocations are hoisted out
of loops.

Calls and matrix products are inlined into the threads (`inline_calls`). Few or large products and
factorizations are better left to libraries: a version for those is emitted, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adc.ir.analysis.dependence.accesses import same_axis
from adc.ir.analysis.dependence.threads import (
    Mirror,
    Size,
    Threads,
    is_measured,
    mirrored,
    stands_for_array,
)
from adc.ir.analysis.memory.access import Access
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Stmt,
    Value,
    Write,
    operands,
    walk,
)
from adc.ir.functions import reached
from adc.ir.opdef import OPS
from adc.ir.tape import TapeEntry, inside, is_mirror, matched
from adc.ir.types import BOOL, INT, Array
from adc.ir.walk import clone, loop_values, map_stmts
from adc.passes.target.inline_calls import Inlined
from adc.passes.target.kernels import Launches, Nest

# With fewer threads, a GPU that could run the inner loops in parallel had better do that.
_MANY = 512
# Loops known to have fewer iterations are left alone.
_FEW = 32
# The largest matrix, in elements, that a thread factorizes or multiplies.
_SMALL = 32 * 32


def outline_kernels(fn: Function, deterministic: bool = False) -> Function:
    """Return `fn`, which is in buffer form, with loops outlined that become launches as a whole.

    If it is to be `deterministic`, threads do not add to elements that they share.
    """
    callees = tuple(
        replace(_Outliner(replace(each, callees=fn.callees), deterministic).run(), callees=())
        for each in fn.callees
    )
    return reached(replace(_Outliner(fn, deterministic).run(), callees=callees))


@dataclass
class _Chosen:
    """A loop that becomes a launch: whether there is a version for few iterations too, and why."""

    least: Operand | None
    # Whether the run-time choice is pushed on the tape, or popped from it.
    leaves: bool = False
    takes: bool = False


class _Outliner(Launches):
    def __init__(self, fn: Function, deterministic: bool) -> None:
        self.original = fn
        self.unfolded = Inlined(fn)
        super().__init__(self.unfolded.fn, deterministic)
        self.names = self.unfolded.names
        self.able: dict[int, bool] = {}
        self.chosen: dict[int, _Chosen] = {}

    def run(self) -> Function:
        self.pairs = mirrored(self.fn)
        matched(self.fn.body, self.meet)
        self.alone(self.fn.body)
        return replace(self.original, body=tuple(self.stmts(self.original.body)))

    # -- which loops -----------------------------------------------------------------------

    def meet(self, pushed: TapeEntry, popped: TapeEntry) -> None:
        """Choose a loop that pushes and the one that mirrors it."""
        a, b = pushed.stmt, popped.stmt
        if isinstance(a, For) and isinstance(b, For) and is_mirror(pushed, popped):
            plain = self.is_plain(a) and self.is_plain(b)
            if not plain and self.can(a) and self.can(b) and self.has_room(a, b):
                least = self.least(a) or self.least(b)
                self.chosen[id(a)] = _Chosen(self.least(a) or least, leaves=least is not None)
                self.chosen[id(b)] = _Chosen(self.least(b) or least, takes=least is not None)
                if least is None:
                    return
        for one, other in inside(pushed, popped):
            self.meet(one, other)

    def alone(self, stmts: Sequence[Stmt]) -> None:
        """Choose loops that leave the tape balanced."""
        for stmt in walk(tuple(stmts)):
            if isinstance(stmt, For) and id(stmt) not in self.chosen:
                if not self.is_plain(stmt) and self.can(stmt):
                    threads = Threads(stmt)
                    if not threads.takes and not threads.leaves and is_measured(threads):
                        self.chosen[id(stmt)] = _Chosen(self.least(stmt))

    def is_plain(self, loop: For) -> bool:
        """Whether every iteration of a nest becomes a thread anyway."""
        if self.unfolded.changed(loop):
            return False
        nest = self.nest(loop, tape=True)
        if nest is None:
            return False
        if not any(isinstance(s, Push | Pop) for s in walk(loop.body.stmts)):
            return True
        return len(self.parallel_levels(nest)) == len(nest.loops) and not any(
            isinstance(s, For) and any(isinstance(t, Push | Pop) for t in walk(s.body.stmts))
            for s in nest.loops[-1].body.stmts
        )

    def can(self, loop: For) -> bool:
        if id(loop) not in self.able:
            self.able[id(loop)] = self._can(loop)
        return self.able[id(loop)]

    def _can(self, loop: For) -> bool:
        if isinstance(loop.trips, Literal) and int(loop.trips.value) < _FEW:
            return False
        if any(isinstance(param.type, Array) for param in loop.body.params):
            return False
        for stmt in walk(loop.body.stmts):
            if isinstance(stmt, Call | Print | Gemm):
                return False
            if isinstance(stmt, Apply) and not (stmt.op.asks_shape or stands_for_array(stmt.op)):
                if any(isinstance(v.type, Array) for v in (*stmt.args, *stmt.results)):
                    return False
        return self.sums(loop) is not None and self.is_independent(loop)

    def has_room(self, a: For, b: For) -> bool:
        """Whether the memory that a loop and its mirror need is known."""
        first = Threads(a)
        return is_measured(first) and is_measured(Threads(b, Mirror(first, *self.pairs[id(b)])))

    def is_independent(self, loop: For) -> bool:
        """Whether iterations access their own elements in all arrays that they change.

        Arrays that iterations allocate are private. Arrays that are only added to may be shared.
        """
        made = loop_values(loop)
        totals = Access((loop,), Threads(loop)).totals() if self.deterministic else {}
        found: dict[frozenset[Value], list[Load | Write]] = {}
        read_as_whole: set[Value] = set()
        for stmt in walk(loop.body.stmts):
            whole = [*operands(stmt)]
            if isinstance(stmt, Load | Write):
                outside = frozenset(self.aliases.of(stmt.array) - made)
                rank = stmt.array.type.rank
                if outside and all(each.type.rank == rank for each in outside):
                    if self.aliases.of(stmt.array) & made and isinstance(stmt, Write):
                        return False
                    found.setdefault(outside, []).append(stmt)
                    whole = []
            elif isinstance(stmt, Apply) and (stmt.op.asks_shape or stmt.op.aliases == "whole"):
                whole = []
            for operand in whole:
                if isinstance(operand, Value) and isinstance(operand.type, Array):
                    if isinstance(stmt, Write) and self.aliases.of(operand) - made:
                        return False
                    read_as_whole |= self.aliases.of(operand) - made
        for arrays, accesses in found.items():
            if not any(isinstance(each, Write) for each in accesses):
                continue
            if not read_as_whole.isdisjoint(arrays):
                return False
            if any(arrays & others for others in found if others != arrays):
                return False
            if len(arrays) > 1 and any(each.array in made for each in accesses):
                return False
            added = all(isinstance(each, Write) and each.accumulate for each in accesses)
            if added and self.deterministic:
                # Each thread sums additions to one common element in a variable of its own.
                added = all((each.array, each.index) in totals for each in accesses)
            if not added and same_axis(accesses, loop.index, made, self.facts) is None:
                return False
        return True

    def least(self, loop: For) -> Operand | None:
        """Return the trip count from which a launch beats launches of inner loops, if possible."""
        within = loop_values(loop)
        if self.unfolded.changed(loop) and self.sizes(loop):
            return integer(_FEW)  # each product would be a launch, and takes a thread as long
        for stmt in walk(loop.body.stmts):
            if isinstance(stmt, For) and not isinstance(stmt.trips, Literal):
                nest = self.nest(stmt, tape=True)
                if nest is not None and self.parallel_levels(nest):
                    return integer(_MANY) if stmt.trips in within else stmt.trips
        return None

    def sizes(self, loop: For) -> list[tuple[tuple[Operand | Size, ...], ...]]:
        """Return bounds for the sizes of the matrices that an iteration makes, if known."""
        spaces = Threads(loop).spaces.values()
        known = [tuple(d for d in space.dims if d is not None) for space in spaces]
        return list(dict.fromkeys(dims for dims in known if len(dims) == 2 and all(dims)))

    # -- rewriting -------------------------------------------------------------------------

    def stmts(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        done: list[Stmt] = []
        for stmt in stmts:
            chosen = self.chosen.get(id(self.unfolded.loops.get(id(stmt))))
            if chosen is not None:
                assert isinstance(stmt, For)
                done += self.both(stmt, chosen)
            else:
                done.append(map_stmts(stmt, self.stmts))
        return done

    def both(self, loop: For, chosen: _Chosen) -> list[Stmt]:
        """Return a launch, and the loop itself for fewer iterations or large matrices."""
        flat = self.unfolded.alone(loop)
        if chosen.least is None:
            return self.launched(flat)
        done: list[Stmt] = []
        if chosen.takes:
            many = Value(self.names.fresh("many"), BOOL)
            done.append(Pop((many,), loop.loc))
        else:
            least = chosen.least
            if least != integer(_MANY):
                least = self.apply("minimum", self.size(least, done), integer(_MANY), done)
            enough = self.apply("ge", self.size(loop.trips, done), least, done, BOOL)
            for dims in self.sizes(flat) if flat is not loop else ():
                rows, columns = (self.greatest(each, done) for each in dims)
                elements = self.apply("mul", rows, columns, done)
                small = self.apply("le", elements, integer(_SMALL), done, BOOL)
                enough = self.apply("and", enough, small, done, BOOL)
            many = enough
        copied = clone([flat], {}, self.names)[0]
        assert isinstance(copied, For)
        then = Block((), tuple(self.launched(copied)), copied.results)
        own = tuple(map(self.names.value, loop.results))
        within = map_stmts(loop, self.stmts)
        assert isinstance(within, For)
        rest = replace(within, results=own)
        done.append(If(loop.results, many, then, Block((), (rest,), own), loop.loc))
        if chosen.leaves:
            done.append(Push((many,), loop.loc))
        return done

    def launched(self, loop: For) -> list[Stmt]:
        ops = self.sums(loop)
        assert ops is not None
        return self.launch(Nest((loop,), (), ops), (0,))

    def greatest(self, bounds: Sequence[Operand | Size], into: list[Stmt]) -> Operand:
        found: Operand = integer(0)
        for each in bounds:
            if isinstance(each, Size):
                made = Value(self.names.fresh("n"), INT)
                into.append(Apply((made,), OPS["dim"], (each.array,), (each.axis,)))
                each = made
            found = each if found == integer(0) else self.apply("maximum", found, each, into)
        return found


__all__ = ["outline_kernels"]
