"""Restore overwritten elements in reverse code (undo logs), so that loads can be repeated.

A load of an element that is overwritten later would be stored for reverse code, one value for each
load. If the array is changed by stores of elements, the overwritten elements suffice: the reversed
loops carry the array, too, and begin every iteration by undoing its stores. Before::

    %u.4 = for L %i in 0 to %n carrying (%u.1 = %u) {
      %i.1 = add %i 1
      %a = load %u.1[%i]
      %b = load %u.1[%i.1]
      …
      %u.2 = store %u.1[%i.1] %t
      yield %u.2
    }
    %u.ct.3 = reverse L %i.r carrying (%u.ct = %u.ct.0) {
      %a.r = recall %a
      …

After (%b is the element that the store overwrites; otherwise it would be loaded)::

    …
    %u.4.r = recall %u.4
    %u.ct.3, %u.back.2 = reverse L %i.r carrying (%u.ct = %u.ct.0, %u.back = %u.4.r) {
      %i.1.r = recall %i.1
      %b.r = recall %b
      %u.back.1 = store %u.back[%i.1.r] %b.r
      %a.r = recall %a
      …
      yield … %u.back.1
    }

The recall of ``%a`` stays: `remat` decides about it, and `Restored` tells it that ``%u.back.1`` has
the element. In such an iteration ``%u.back`` is the array as the forward iteration left it,
``%u.back.1`` the array as it was when the iteration began. Inner loops are undone where their
reverse code runs.

An array is restored if its loop-carried versions are one chain of stores of elements, and of
branches and loops of such stores. This is done if it makes the plan better: faster, or smaller if
memory is short.

Integers have a log in the program itself: ``at += width[i]`` is undone by ``at -= width[i]``,
exactly, as both wrap around. So reversed loops carry numbers, too, starting with their final
values, and an element that a store of ``a[i] + step`` overwrites is not kept but computed from the
stored one. That needs the step alone, which is kept if it depends on a value that is undone later.

Floats that the user marks (`adc.invertible`) are restored in the same way, inexactly, and at any
cost: iterations hold nothing that can be recomputed. Values that an iteration computes from whole
arrays, such as a layer of a network, are recomputed where they are needed, between the loops that
undo.

`slots` lists the loop-carried values that may be restored, `wanted` those of them that a plan may
gain from, `history` the steps to invert, and `restore` adds the code that inverts them. Here is the
choice of what pays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.inexact import discontinuous_use, passed_to_calls
from adc.ir.core import Function, Value
from adc.ir.errors import RecomputeError
from adc.passes.remat.choose import Chooser
from adc.passes.remat.facts import NOTHING_RESTORED, Restored
from adc.passes.remat.plan import KEPT
from adc.passes.remat.undo.restore import WAY_OUT, Positions, Undoing, line_of
from adc.passes.remat.undo.slots import Carried, marked_slots, similar_slots
from adc.passes.remat.undo.wanted import Wanted

Planner = Callable[[Function, Restored, Forwarding | None], Chooser]
# Of similar loops, none is tried any more once so many gained nothing.
_TRIES = 2


def undone(fn: Function, plan: Planner, *, changed: bool = False) -> tuple[Function, Chooser]:
    """Return a function with the undo logs that pay, and the plan for it.

    It has Recalls, and its own reverse code. `plan` decides about it, given what this restores and,
    if an earlier plan has found it, the analysis of the forward code.
    `changed`: checkpointing has added loops that the user did not write; then the user's requests
    are met where possible.

    Raises
    ------
    RecomputeError
        Where the user requests inversion and it is impossible.
    """
    best = plan(fn, NOTHING_RESTORED, None)
    if best.policy == "store":
        return fn, best
    restored, code = NOTHING_RESTORED, Positions(fn)
    if marked := [each for each in marked_slots(fn) if _holds(best, each.label)]:
        undoing = Undoing(code, restored, best.d.forwarding, best.names)
        found = undoing.run(marked, rounding=True)
        refusal = undoing.refusal()
        made = plan(*found, None) if found and refusal is None else None
        if found and made is not None:
            refusal = _discontinuous(found[0], made)
        if refusal is not None and not changed:
            raise refusal
        if found and made is not None and refusal is None:
            (fn, restored), best = found, made
            code = Positions(fn)

    gains = Wanted(best)

    def helps(attempt: Sequence[Carried]) -> bool:
        nonlocal fn, code, restored, best, gains
        names, before = best.names, best.names.save()
        undoing = Undoing(code, restored, best.d.forwarding, names)
        found = undoing.run(attempt)
        # The forward code is the same, but for the loads.
        chooser = plan(*found, best.d.forwarding.with_loads(undoing.loads)) if found else None
        if found and chooser and _better(chooser, best, attempt[0].result):
            (fn, restored), best = found, chooser
            code, gains = Positions(fn), Wanted(best)
            return True
        names.load(before)
        return False

    for groups in similar_slots(fn):
        outcomes: list[bool] = []
        while groups and (any(outcomes) or len(outcomes) < _TRIES):
            wanted = [each for each in groups.pop(0) if gains.has(each)]
            if not wanted:
                continue
            # Numbers of one loop may depend on each other: they are tried together, then each by
            # itself.
            if helps(wanted):
                outcomes.append(True)
            elif len(wanted) > 1:
                outcomes.append(any([helps([each]) for each in wanted]))
            else:
                outcomes.append(False)
            # What helped in one loop helps in all similar ones: they are tried at once.
            if outcomes[-1] and outcomes.count(True) == 1:
                rest = [each for group in groups for each in group if gains.has(each)]
                if rest and helps(rest):
                    break
    return fn, best


def _discontinuous(fn: Function, chooser: Chooser) -> RecomputeError | None:
    """Return the error where control flow in reverse code depends on inexact values."""
    inexact = chooser.d.restored.inexact

    def is_inexact(value: Value) -> bool:
        return value in inexact or (chooser.legal(value) and chooser.is_inexact(value))

    stmt = discontinuous_use(fn.body, is_inexact)
    passed = any(value in inexact for value in passed_to_calls(fn.body))
    if stmt is None and not passed:
        return None
    marks = [each.param.mark for each in marked_slots(fn)]
    return RecomputeError(
        "this value is restored inexactly, and reverse code "
        + ("passes it to a function" if stmt is None else "depends on it discontinuously")
        + ("" if stmt is None else line_of(stmt)),
        marks[0].loc if marks and marks[0] else None, WAY_OUT,
    )  # fmt: skip


def _holds(plan: Chooser, label: str) -> bool:
    """Whether iterations of a loop hold something for reverse code."""
    return any(
        decision.kind == KEPT and plan.d.is_within(value, label)
        for value, decision in plan.d.made.items()
    )


def _better(chooser: Chooser, other: Chooser, array: Value) -> bool:
    if chooser.seed is not None:
        return bool(hashlib.sha256(f"{chooser.seed}:{array.name}.back".encode()).digest()[0] & 1)
    return chooser.total() < other.total()


__all__ = ["undone"]
