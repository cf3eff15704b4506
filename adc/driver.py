"""The one function that knows the chain: Python function → value form → passes → kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adc.frontend.lower import Lowered, lower
from adc.ir.core import Function
from adc.passes import pipeline, storage
from adc.passes.adjoint import adjoint
from adc.passes.costs import SHIPPED, Costs
from adc.passes.derive import expand, link
from adc.passes.peak import peak
from adc.passes.plan import COPIED, Plan, PlanEntry
from adc.passes.remat import rematerialize
from adc.passes.tangent import tangent
from adc.schedules import with_schedules

_MODES: dict[str, Callable[..., Function]] = {
    "adjoint": adjoint,
    "pullback": functools.partial(adjoint, seed=False),
    "tangent": tangent,
}
# A transformation of value form with respect to parameter positions: reverse mode (of the first
# result, or with cotangents of all results as parameters) or forward mode.
Step = tuple[str, tuple[int, ...]]


@dataclass
class Compilation:
    """Everything that happened on the way from a function to buffer form.

    Attributes
    ----------
    lowered : Lowered
        What the front end made.
    fn : Function
        Buffer form, ready for a back end.
    plan : Plan or None
        What the reverse code remembers; None for code without reverse part.
    trace : pipeline.Trace
        The function after every pass, and the seconds each took.
    """

    lowered: Lowered
    fn: Function
    plan: Plan | None
    trace: pipeline.Trace = field(default_factory=pipeline.Trace)


def transform(
    lowered: Lowered, steps: Sequence[Step], policy: str = "auto", costs: Costs = SHIPPED
) -> Compilation:
    """Run every pass on a lowered function: primal, transformations, remat, storage.

    Plans are made for a machine of these costs: by default those that are shipped.
    """
    trace = pipeline.Trace()
    trace.stages.append(("frontend", lowered.fn))
    fn = pipeline.run(expand(lowered.fn), pipeline.PRIMAL, trace)
    for name, positions in steps:
        mode: Callable[..., Function] = _MODES[name]
        apply = functools.partial(mode, wrt=positions)
        fn = pipeline.run(fn, ((name, apply), *pipeline.DERIVATIVE), trace)
    fn = pipeline.run(fn, pipeline.JOINED, trace)
    plan: Plan | None = None
    if fn.derived or any(name != "tangent" for name, _ in steps):
        entries: list[PlanEntry] = []

        def finished(before: Function) -> Function:
            done = rematerialize(before, policy, costs)
            # The values of a derivative that the code calls have names of their own.
            inner = f"{before.name}: " if before is not main else ""
            entries.extend(replace(e, value=f"{inner}{e.value}") for e in done.plan.entries)
            return done.fn

        main: Function | None = None

        def remat(before: Function) -> Function:
            nonlocal plan, main
            main = before
            done = link(finished(before), finished)
            plan = Plan(policy, tuple(entries))
            return done

        fn = pipeline.run(fn, (("remat", remat),), trace)

    fn = pipeline.run(fn, pipeline.cleanup(costs), trace)

    def store(before: Function) -> Function:
        nonlocal plan
        done = storage.plan(before)
        if plan is not None:
            plan = replace(plan, copies=tuple(_copied(copy) for copy in done.copies))
        return done.function

    fn = pipeline.run(fn, (("storage", store), *pipeline.BUFFERS), trace)
    if plan is not None:
        plan = replace(plan, peak=peak(fn))
    fn = with_schedules(fn)
    return Compilation(lowered, fn, plan, trace)


def _copied(copy: storage.Copy) -> PlanEntry:
    return PlanEntry.at(copy.loc, copy.value, COPIED, "the array", copy.reason)


def compile_ir(
    fn: Callable[..., Any], arguments: dict[str, Any], steps: Sequence[Step], policy: str = "auto"
) -> Compilation:
    """Lower `fn` for argument types and run every pass."""
    return transform(lower(fn, arguments), steps, policy)
