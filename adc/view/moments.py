"""What a run was: its steps, and what memory was used for.

`record` makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adc.passes.memory.peak.course import Inside
from adc.view.nodes import Line, Tree

TAPE, WORKSPACE, CARRIED, GRADIENTS = "tape", "workspace", "carried", "gradients"
KINDS = (TAPE, WORKSPACE, CARRIED, GRADIENTS)
Series = tuple[str, Line | None]
# Makes the picture of a value, which may be one that was only read.
Picture = Callable[[Any, bool], Any]


@dataclass
class Shown:
    """A picture of a value as it was after a step."""

    name: str
    picture: Any


@dataclass
class Moment:
    """A step that ran.

    Attributes
    ----------
    node : int
        What ran: a node of the tree; the loop, where iterations are folded.
    path : tuple of (node, iteration)
        The iterations of the loops around it.
    folded : tuple of (first, last) or None
        Iterations that are one step together.
    changes : dict
        By series, how many bytes more, or fewer, are held than after the step before.
    most : int
        The most bytes that were held during the step.
    values : list of Shown
        What the step has made or changed.
    at : int
        How many statements had run at its end.
    way : tuple of Inside
        What it was inside of: the loops with the iterations, branches and calls. Its last element
        is the loop whose iterations are folded.
    work, tapes, carried : int
        The most of each up to here.
    """

    node: int
    path: tuple[tuple[int, int], ...]
    folded: tuple[int, int] | None
    changes: dict[int, int]
    most: int
    values: list[Shown] = field(default_factory=list)
    at: int = 0
    way: tuple[Inside, ...] = ()
    work: int = 0
    tapes: int = 0
    carried: int = 0


@dataclass
class Record:
    """A run.

    Attributes
    ----------
    tree : Tree
        The nodes of the code.
    moments : list of Moment
        Its steps.
    series : list of (kind, line)
        What memory is used for, and by which line.
    most : int
        The most bytes that were held at once.
    workspace, tapes, carried : int
        The most of each. Their sum is what a call reserves: the peak of a plan.
    at_peak : dict
        The bytes by series when the most was held; `peak_step` is the step.
    tops : list
        By series, the most bytes that it had.
    visits : dict
        How often the statements of a block ran, by their identity.
    products : dict
        The multiply-adds of products of matrices, by the identity of the statement.
    results : int
        The bytes of arrays that loops have handed on and that are results: the caller's.
    counts : dict
        How many iterations each `while` loop had that ran once, by its name in formulas.
    schedules : list of (line, operands, first)
        The operands of the schedules of checkpointed loops, as they were met, and the iteration
        that each of them begins with: those of a `while` loop are for parts of it.
    states : list of (line, iteration, slot)
        Where a checkpointed `while` loop has kept the state before an iteration.
    stopped : str
        Why the run ended early, "" if it did not.
    """

    tree: Tree
    moments: list[Moment] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    most: int = 0
    workspace: int = 0
    tapes: int = 0
    carried: int = 0
    at_peak: dict[int, int] = field(default_factory=dict)
    peak_step: int = 0
    tops: list[int] = field(default_factory=list)
    visits: dict[int, int] = field(default_factory=dict)
    products: dict[int, int] = field(default_factory=dict)
    results: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    schedules: list[tuple[Line | None, tuple[int, ...], int]] = field(default_factory=list)
    states: list[tuple[Line | None, int, int]] = field(default_factory=list)
    stopped: str = ""
    statements: int = 0

    @property
    def peak(self) -> int:
        """What a call reserves: the most of the workspace, of each tape and of carried arrays."""
        return self.workspace + self.tapes + self.carried


__all__ = [
    "CARRIED", "GRADIENTS", "KINDS", "TAPE", "WORKSPACE",
    "Moment", "Picture", "Record", "Series", "Shown",
]  # fmt: skip
