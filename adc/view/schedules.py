"""The schedule of a checkpointed loop, as what happens one after the other.

It is `adc.ir.schedule`'s machine, written out: a snapshot is stored, iterations are run ahead, the
last ones are taped and reversed, then the snapshot before is taken up again. A `while` loop stores
states while it runs, and what lies between two of them is such a schedule (`online`). Calls in a
row, such as the layers of a network, are drawn in the same way (`calls`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adc.ir import schedule
from adc.ir.core import Call, For, Function, While
from adc.view.nodes import Line, line_of

# So many events are drawn; a longer schedule ends there.
MOST_EVENTS = 4_000

STORE, RESTORE, AHEAD, TAPE, REVERSE = "store", "restore", "ahead", "tape", "reverse"
DROP = "drop"


@dataclass
class Events:
    """What happens: (what, first iteration, iterations, snapshots in use), and what was left out.

    `ahead` and `tape` run iterations forward, without a tape and with one; `reverse` runs them
    backwards. `restore` takes up a snapshot, the last time that it is needed; `drop` forgets one.
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


def online(states: Sequence[tuple[int, int]], parts: Sequence[tuple[int, Sequence[int]]]) -> Events:
    """Return what a `while` loop and its reverse code do.

    Parameters
    ----------
    states : sequence of (iteration, slot)
        Where states were stored while the loop ran, in order.
    parts : sequence of (first, operands)
        The schedules of what lies between the states that were left, as they were met: the last
        one first.

    Examples
    --------
    >>> found = online([(0, 0), (2, 1)], [(2, (1, 1, 1, 0, 1)), (0, (2, 2, 1, 0, 1))])
    >>> found.iterations, [event[:3] for event in found.events if event[0] == "reverse"]
    (3, [('reverse', 2, 1), ('reverse', 1, 1), ('reverse', 0, 1)])
    """
    found = Events(parts[0][0] + parts[0][1][0])
    held: dict[int, int] = {}
    at = 0
    for iteration, slot in states:
        if iteration > at:
            found.add(AHEAD, at, iteration - at, len(held))
            at = iteration
        if slot in held:
            found.add(DROP, held.pop(slot), 0, len(held))
        held[slot] = iteration
        found.add(STORE, iteration, 0, len(held))
    if found.iterations > at:
        found.add(AHEAD, at, found.iterations - at, len(held))
    for k, (first, operands) in enumerate(parts):
        used = max(len(held) - 1 - k, 0)
        inner = events(operands)
        for what, begin, count, snapshots in inner.events:
            found.add(what, first + begin, count, used + max(snapshots, 1))
        found.left_out |= inner.left_out
        found.add(DROP, first, 0, used)
    return found


def calls(fn: Function) -> tuple[Events, list[Line | None]] | None:
    """Return what happens to calls in a row, and to loops that run again as a whole; their lines.

    `fn` is in its last form. None if there are no two such calls, or none runs again.
    """
    labels = {stmt.label for stmt in fn.body if isinstance(stmt, Call | For | While)}
    forward: dict[str, int] = {}
    lines: list[Line | None] = []
    for stmt in fn.body:
        if isinstance(stmt, Call | For | While):
            ends = {f"{stmt.label}.rev", f"{stmt.label}.again"} & labels
            if ends if isinstance(stmt, Call) else f"{stmt.label}.again" in ends:
                forward[stmt.label] = len(forward)
                lines.append(line_of(stmt.loc))
    if len(forward) < 2 or not any(f"{label}.again" in labels for label in forward):
        return None
    found = Events(len(forward))
    held: set[int] = set()
    for stmt in fn.body:
        if not isinstance(stmt, Call | For | While):
            continue
        label, _, end = stmt.label.rpartition(".")
        if stmt.label in forward:
            k = forward[stmt.label]
            if f"{stmt.label}.again" in labels:
                held.add(k)
                found.add(STORE, k, 0, len(held))
                found.add(AHEAD, k, 1, len(held))
            else:
                found.add(TAPE, k, 1, len(held))
        elif label in forward and end in ("again", "rev"):
            k = forward[label]
            if end == "again":
                found.add(RESTORE, k, 0, len(held))
                held.discard(k)
                found.add(TAPE, k, 1, len(held))
            found.add(REVERSE, k, 1, len(held))
    return found, lines


__all__ = [
    "AHEAD", "DROP", "MOST_EVENTS", "RESTORE", "REVERSE", "STORE", "TAPE",
    "Events", "calls", "events", "online",
]  # fmt: skip
