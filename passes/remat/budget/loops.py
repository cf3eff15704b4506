"""Options of checkpointed loops in a plan for a budget: memory sizes and their costs.

A leaf is a run of iterations that are reversed without recomputation (`checkpoint`), and what each
of them stores under one price of a byte. A leaf and a number of bytes determine the schedule of a
loop, and so how many iterations are recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from adc.ir.core import For, Function, Value, While
from adc.ir.schedule import Reversal, advances, expected, levels, reversal
from adc.passes.remat.budget.program import Solution
from adc.passes.remat.checkpoint import Schedule, can_checkpoint
from adc.passes.remat.online import can_checkpoint_online
from adc.passes.remat.plan import CHECKPOINTED, LoopPlan, PlanEntry

# The most states that a `while` loop stores while it runs: storing them takes time, too.
_SLOTS = 48
# The largest trip count for which all schedules are enumerated.
_EXACT = 256
# Memory for `while` loops should pay off if they run this many times as long as is guessed.
_LONG = 16


class Run(NamedTuple):
    """A checkpointed loop: what its iterations store, and its bytes each time it runs."""

    loop: Loop
    leaf: Leaf
    room: int

    @property
    def seconds(self) -> float:
        return self.loop.seconds(self.leaf, self.room)

    @property
    def held(self) -> int:
        """The bytes of its memory that it uses, with what is recorded."""
        if self.schedule.slots:
            return self.room
        return min(self.room, self.loop.reversal(self.leaf, self.room).peak) + self.loop.record

    @property
    def waiting(self) -> int:
        return self.loop.waiting(self.leaf, self.room)

    @property
    def schedule(self) -> Schedule:
        return self.loop.schedule(self.leaf, self.room)

    def described(self) -> LoopPlan:
        """Return the description of the loop in a plan."""
        stmt, own = self.loop.stmt, self.schedule

        def entry(size: int, reason: str) -> PlanEntry:
            return PlanEntry.at(stmt.loc, stmt.label, CHECKPOINTED, str(size), reason)

        if own.slots:
            every = f"one every {own.unit} iterations or more"
            size = own.room + own.slots * (own.state + 16)
            described = entry(size, f"up to {_snapshots(own.slots)} while it runs, {every}")
            return LoopPlan(described, None, None, own.slots, None, size)
        trips = self.loop.trips
        how = trips, own.room, own.state, own.tape, own.most
        whole = reversal(*how)
        snapshots = reversal(*how, 1, 0).peak
        leaf = reversal(*how, 0, 1).peak
        what = f"{trips} iterations, {whole.plain} recomputed; {_snapshots(snapshots)}, "
        what += f"leaves of up to {leaf}"
        if self.loop.record:
            what += f"; {self.loop.record} bytes record results of calls outside"
        return LoopPlan(entry(whole.peak, what), trips, whole.plain, snapshots, leaf, whole.peak)

    def inside_out(self) -> Iterator[Run]:
        """Yield the checkpointed loops inside, inner ones first, and this one."""
        for run in self.leaf.inner:
            yield from run.inside_out()
        yield self


@dataclass(frozen=True)
class Leaf:
    """What an iteration of a loop stores, and what that costs, under one price of a byte.

    Loops inside may be checkpointed, too (`inner`): it then includes their memory.
    """

    worth: float
    kept: int
    seconds: float
    inner: tuple[Run, ...] = ()

    @property
    def tape(self) -> int:
        """Bytes of an iteration on the tape, at least one: schedules require it."""
        return max(self.kept, 1)


@dataclass(eq=False)
class Loop:
    """A loop that can be checkpointed.

    Attributes
    ----------
    stmt : For or While
        The loop.
    trips, entries : int
        Its trip count each time that it is entered, and how often it is entered.
    carries : bool
        Whether its iterations depend on earlier ones.
    state : int
        Bytes of a snapshot.
    recompute : float
        Seconds of an iteration that stores nothing.
    last : int
        The position of its reverse code.
    given : tuple of Value
        The values from outside that its iterations read.
    inner : list of Loop
        The checkpointable loops directly inside it.
    record : int
        Bytes that record what its iterations find outside (`record`).
    leaves : list of Leaf
        The one that stores most comes first.
    """

    stmt: For | While
    trips: int
    entries: int
    carries: bool
    state: int
    recompute: float
    last: int
    given: tuple[Value, ...]
    inner: list[Loop]
    record: int = 0
    leaves: list[Leaf] = field(default_factory=list)

    @property
    def saves(self) -> bool:
        """Whether checkpoints save more memory than they take, of what iterations must store."""
        kept, least = self.leaves[0].kept, self.leaves[-1].kept
        saves = least > 0 and self.trips * kept - least > self.state + self.record
        return saves or (kept > 0 and isinstance(self.stmt, While))

    @property
    def kind(self) -> tuple[object, ...]:
        """Return a key that is equal for loops of equal cost in equal memory."""
        counted = isinstance(self.stmt, For)
        own = self.state, self.recompute, self.record, len(self.leaves)
        return counted, self.trips, self.entries, *own

    def schedule(self, leaf: Leaf, room: int) -> Schedule:
        """Return the schedule of the loop in so many bytes."""
        if isinstance(self.stmt, For):
            return Schedule(room, leaf.tape, 0, self.state)
        slots = max(min(room // 3 // (self.state + 16), _SLOTS), 1)
        rest = room - slots * (self.state + 16)
        unit = max(1, (rest - self.state) // leaf.tape // 2)
        return Schedule(rest, leaf.tape, 0, max(self.state, 2), slots, unit)

    def least(self, leaf: Leaf) -> int:
        """Return the fewest bytes that the loop needs."""
        least = self.state + leaf.tape
        return least if isinstance(self.stmt, For) else least + self.state + 16

    @property
    def often(self) -> int:
        """The trip count to plan for."""
        return self.trips if isinstance(self.stmt, For) else self.trips * _LONG

    def steps(self, leaf: Leaf, room: int) -> int:
        """Return how many iterations are recomputed without storing."""
        own = self.schedule(leaf, room)
        if own.slots:
            # About the cost of storing states while the loop runs.
            blocks = -(-self.often // own.unit)
            return own.unit * max(advances(blocks, own.slots) - blocks + 2, 0)
        return self.reversal(leaf, room).plain

    def seconds(self, leaf: Leaf, room: int) -> float:
        """Return the cost of checkpoints in so many bytes."""
        return self.steps(leaf, room) * self.recompute + self.often * leaf.seconds

    def waiting(self, leaf: Leaf, room: int) -> int:
        """Return about what suspended recursive runs hold: a state and its cotangent each."""
        own = self.schedule(leaf, room)
        # The trip count of a `while` loop is unknown.
        how = own.room, self.state, leaf.tape, 0
        depth = levels(*how) if own.slots else self.reversal(leaf, room).depth
        return 2 * self.state * max(depth - 1, 0) + sum(run.waiting for run in leaf.inner)

    def reversal(self, leaf: Leaf, room: int) -> Reversal:
        """Return the cost of reversing a loop of known trip count; an estimate if it is long."""
        found = reversal if self.trips <= _EXACT else expected
        return found(self.trips, room, self.state, leaf.tape, 0)

    def fastest(self, size: int, worth: float) -> Run:
        """Return the fastest run in so many bytes for a price of a byte, or the smallest."""
        price = max((each.worth for each in self.leaves if each.worth <= worth), default=0.0)
        leaves = [each for each in self.leaves if each.worth == price] or self.leaves[:1]
        runs = [Run(self, leaf, max(size, self.least(leaf))) for leaf in leaves]
        return min(runs, key=lambda run: (max(run.room, size), run.seconds))

    def chosen(self, solution: Solution) -> Run | None:
        """Return how a solution runs the loop, None if it is not checkpointed."""
        option = solution.options[self.stmt.label]
        if option == "plain":
            return None
        assert isinstance(option, tuple)
        number, room = option
        return Run(self, self.leaves[number], room)


def can_run_in_parts(fn: Function, loop: For | While) -> bool:
    if isinstance(loop, For):
        return can_checkpoint(fn, fn.name, loop)
    return can_checkpoint_online(fn, fn.name, loop)


def _snapshots(count: int) -> str:
    return f"{count} snapshot{'' if count == 1 else 's'}"
