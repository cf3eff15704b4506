"""The schedule of a checkpointed loop, as what happens one after the other.

It is `adc.ir.schedule`'s machine, written out: a snapshot is stored, iterations are run ahead, the
last ones are taped and reversed, then the snapshot before is taken up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adc.ir import schedule

# So many events are drawn; a longer schedule ends there.
MOST_EVENTS = 4_000

STORE, RESTORE, AHEAD, TAPE, REVERSE = "store", "restore", "ahead", "tape", "reverse"


@dataclass
class Events:
    """What happens: (what, first iteration, iterations, snapshots in use), and what was left out.

    `ahead` and `tape` run iterations forward, without a tape and with one; `reverse` runs them
    backwards.
    """

    iterations: int
    events: list[tuple[str, int, int, int]] = field(default_factory=list)
    plain: int = 0
    snapshots: int = 0
    left_out: bool = False

    def add(self, what: str, first: int, count: int, used: int) -> None:
        if what == AHEAD:
            self.plain += count
        self.snapshots = max(self.snapshots, used)
        if len(self.events) < MOST_EVENTS:
            self.events.append((what, first, count, used))
        else:
            self.left_out = True


def events(operands: Sequence[int]) -> Events:
    """Return what a schedule does: of n iterations, within m bytes, and so on (`split`).

    Examples
    --------
    >>> found = events((4, 2, 1, 0, 1))
    >>> [event[:3] for event in found.events[:4]], found.snapshots
    ([('store', 0, 0), ('ahead', 0, 2), ('store', 2, 0), ('ahead', 2, 1)], 2)
    >>> found.plain == schedule.plain_steps(4, 2, 1, 0, 1)
    True
    """
    n, m, sigma, tau, most = operands
    found = Events(n)
    # What is still to do: (first, n, m, snapshots in use, whether a snapshot is taken up).
    todo = [(0, n, m, 0, False)]
    while todo:
        first, left, room, used, again = todo.pop()
        if again:
            found.add(RESTORE, first, 0, used + 1)
        # The head of a split is reversed after its tail, with the room that was there before.
        done = 0
        while schedule.taped(left - done, room, tau, most) < left - done:
            steps = schedule.split(left - done, room, sigma, tau, most)
            found.add(STORE, first + done, 0, used + 1)
            found.add(AHEAD, first + done, steps, used + 1)
            todo.append((first + done, steps, room, used, True))
            done += steps
            room -= sigma
            used += 1
        if left > done:
            found.add(TAPE, first + done, left - done, used)
            found.add(REVERSE, first + done, left - done, used)
    return found


__all__ = ["AHEAD", "MOST_EVENTS", "RESTORE", "REVERSE", "STORE", "TAPE", "Events", "events"]
