"""Memory over a run, as the analysis of the peak predicts it.

The analysis (`adc.passes.memory.peak.course`) is told the sizes of the arguments and which steps
ran, in which iterations. It knows nothing of what the interpreter has counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.types import Array
from adc.passes.memory.peak.course import Course
from adc.view.moments import Record


@dataclass
class Predicted:
    """What a step is said to leave.

    Attributes
    ----------
    alive : int or None
        The bytes that are held after it; None where only the run knows that.
    reserved : int
        What the call has reserved by then: the most so far of the workspace, of each tape and of
        arrays that loops hand on. At the end that is the peak of the plan.
    """

    alive: int | None
    reserved: int


def predicted(
    fn: Function, record: Record, args: Sequence[Any], *, offload: bool = False
) -> list[Predicted]:
    """Return what is predicted of each step of a run; with `offload`, tapes take no memory."""
    places = {
        group.node.number: (block, group.stop - 1)
        for block, groups in record.tree.groups.items()
        for group in groups
        if group.is_step
    }
    sizes: dict[str, int | Sequence[int]] = {}
    for param, value in zip(fn.params, args, strict=True):
        if isinstance(param.type, Array):
            sizes[param.name] = np.shape(value)
        elif param.type.kind in "iu":
            sizes[param.name] = int(value)
    course = Course(fn, sizes, frozenset(places.values()), record.counts)
    found: list[Predicted] = []
    work = own = 0
    tapes: dict[str, int] = {}
    for moment in record.moments:
        held = None
        if moment.folded or moment.node in places:
            held = course.at(moment.way, places.get(moment.node, (0, 0)), moment.folded)
        if held is not None:
            work, own = max(work, held.work), max(own, held.own)
            for dtype, size in held.tapes.items():
                tapes[dtype] = max(tapes.get(dtype, 0), size)
        alive = None if held is None else held.alive
        if held is None and moment.node == 0:
            alive = 0  # the call is over
        reserved = work + max(own - course.results, 0)
        if not offload:
            reserved += sum(tapes.values())
        found.append(Predicted(alive, reserved))
    return found


__all__ = ["Predicted", "predicted"]
