"""What checkpointed loops offer the plan for a budget: rooms, and what they cost.

A leaf is what iterations keep that are reversed without running again (`checkpoint`), under one
price of bytes. With a leaf and a number of bytes the schedule of a loop is fixed, and with it how
many iterations run again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from adc.ir.core import For, Function, Value, While
from adc.ir.schedule import Reversal, expected, levels, online_steps, reversal
from adc.passes.budget import Solution
from adc.passes.checkpoint import Schedule, can_checkpoint
from adc.passes.online import can_checkpoint_online
from adc.passes.plan import CHECKPOINTED, LoopPlan, PlanEntry

# The most states that a `while` loop keeps while it runs: placing them takes time, too.
_SLOTS = 48
# How often loops run at most of which all schedules are gone through.
_EXACT = 256
# Room for `while` loops should be of use where they run so many times as long as is guessed.
_LONG = 16


@dataclass
class Leaf:
    """What iterations of a loop keep, and what that costs, under one price of bytes."""

    worth: float
    kept: int
    seconds: float

    @property
    def tape(self) -> int:
        """Bytes of an iteration on the tape; schedules want some."""
        return max(self.kept, 1)


@dataclass
class Loop:
    """A loop that can be checkpointed."""

    stmt: For | While
    trips: int
    state: int
    again: float  # seconds of an iteration that keeps nothing
    last: int  # position of its reverse code
    given: tuple[Value, ...]
    leaves: list[Leaf] = field(default_factory=list)

    def schedule(self, leaf: Leaf, room: int) -> Schedule:
        """Return how the loop runs that may hold so many bytes."""
        if isinstance(self.stmt, For):
            return Schedule(room, leaf.tape, 0, self.state)
        slots = max(min(room // 3 // (self.state + 16), _SLOTS), 1)
        rest = room - slots * (self.state + 16)
        unit = max(1, (rest - self.state) // leaf.tape // 2)
        return Schedule(rest, leaf.tape, 0, max(self.state, 2), slots, unit)

    def least(self, leaf: Leaf) -> int:
        """Return the fewest bytes that the loop can do with."""
        least = self.state + leaf.tape
        return least if isinstance(self.stmt, For) else least + self.state + 16

    @property
    def often(self) -> int:
        """How many iterations to be prepared for."""
        return self.trips if isinstance(self.stmt, For) else self.trips * _LONG

    def steps(self, leaf: Leaf, room: int) -> int:
        """Return how many iterations run again, plain."""
        own = self.schedule(leaf, room)
        if own.slots:
            return own.unit * online_steps(-(-self.often // own.unit), own.slots)
        return self.reversal(leaf, room).plain

    def seconds(self, leaf: Leaf, room: int) -> float:
        """Return what checkpoints in so much room cost."""
        return self.steps(leaf, room) * self.again + self.often * leaf.seconds

    def waiting(self, leaf: Leaf, room: int) -> int:
        """Return about what runs that wait for other ones hold: a state and its cotangent each."""
        own = self.schedule(leaf, room)
        # How long a `while` loop runs, nobody knows.
        how = own.room, self.state, leaf.tape, 0
        depth = levels(*how) if own.slots else self.reversal(leaf, room).depth
        return 2 * self.state * max(depth - 1, 0)

    def reversal(self, leaf: Leaf, room: int) -> Reversal:
        """Return what a loop of known length takes; about that, if it is long."""
        found = reversal if self.trips <= _EXACT else expected
        return found(self.trips, room, self.state, leaf.tape, 0)

    def chosen(self, solution: Solution) -> tuple[Leaf | None, int]:
        """Return the leaf and the room that a solution says, None if it checkpoints nothing."""
        option = solution.options[self.stmt.label]
        if option == "plain":
            return None, 0
        assert isinstance(option, tuple)
        worth, room = option
        (leaf,) = (each for each in self.leaves if each.worth == worth)
        return leaf, room


def can_run_in_parts(fn: Function, loop: For | While) -> bool:
    if isinstance(loop, For):
        return can_checkpoint(fn, fn.name, loop)
    return can_checkpoint_online(fn, fn.name, loop)


def of_unknown_length(loop: For | While, own: Schedule) -> LoopPlan:
    """Return what a plan says of a loop whose number of iterations only a run can tell."""
    reason = f"up to {own.slots} snapshots while it runs, one every {own.unit} iterations or more"
    size = own.room + own.slots * (own.state + 16)
    entry = PlanEntry.at(loop.loc, loop.label, CHECKPOINTED, str(size), reason)
    return LoopPlan(entry, None, None, own.slots, None, size)
