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
from adc.passes.extents import Known
from adc.passes.peak import Peak, peak
from adc.passes.plan import COPIED, Plan, PlanEntry
from adc.passes.remat import rematerialize
from adc.passes.remat_facts import NO_ORDERS, Orders
from adc.passes.rerun import rerun
from adc.passes.schedules import schedules
from adc.passes.tangent import tangent

_MODES: dict[str, Callable[..., Function]] = {
    "adjoint": adjoint,
    "pullback": functools.partial(adjoint, seed=False),
    "tangent": tangent,
}
# A transformation of value form with respect to parameter positions: reverse mode (of the first
# result, or with cotangents of all results as parameters) or forward mode.
Step = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Budget:
    """The most bytes that a call may hold, and the sizes of its arguments, by parameter."""

    bytes: int
    sizes: tuple[tuple[str, int | tuple[int, ...]], ...]


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
    lowered: Lowered,
    steps: Sequence[Step],
    policy: str = "auto",
    costs: Costs = SHIPPED,
    budget: Budget | None = None,
) -> Compilation:
    """Run every pass on a lowered function: primal, transformations, remat, storage.

    Plans are made for a machine of these costs: by default those that are shipped.

    Raises
    ------
    OverBudget
        If no plan fits in the budget.
    """
    trace = pipeline.Trace()
    trace.stages.append(("frontend", lowered.fn))
    fn = pipeline.run(expand(lowered.fn), pipeline.PRIMAL, trace)
    for name, positions in steps:
        mode: Callable[..., Function] = _MODES[name]
        apply = functools.partial(mode, wrt=positions)
        fn = pipeline.run(fn, ((name, apply), *pipeline.DERIVATIVE), trace)
    fn = pipeline.run(fn, pipeline.JOINED, trace)
    reverses = bool(fn.derived) or any(name != "tangent" for name, _ in steps)
    if reverses:
        fn = rerun(fn, costs)
    rest = _Rest(fn, reverses, policy, costs, dict(budget.sizes) if budget else None)
    if budget is None or not reverses:
        made, plan = rest(NO_ORDERS, trace)
    else:
        from adc.passes.remat_budget import OverBudget, fitted

        try:
            found = fitted(fn, budget.bytes, costs, rest.known or {}, rest.peak)
        except OverBudget as error:
            if error.least is None and rest.last is not None:
                raise UnknownPeak(rest.last) from None
            raise
        made, plan = rest.tried(found.orders, trace)
        plan = replace(plan, budget=budget.bytes, extra=found.seconds, bound=found.bound)
    return Compilation(lowered, schedules(made), plan, trace)


@dataclass
class _Rest:
    """The passes from `remat` on, for one function and any plan."""

    fn: Function
    reverses: bool
    policy: str
    costs: Costs
    known: Known | None
    last: Peak | None = None  # of the plan that was tried last
    _tried: tuple[Orders, Function, Plan, pipeline.Trace] | None = None

    def __call__(
        self, orders: Orders, trace: pipeline.Trace | None = None
    ) -> tuple[Function, Plan | None]:
        plan: Plan | None = None
        fn = self.fn
        if self.reverses:
            entries: list[PlanEntry] = []

            def finished(before: Function) -> Function:
                main = before is self.fn
                own, known = (orders, self.known) if main else (NO_ORDERS, None)
                done = rematerialize(before, self.policy, self.costs, own, known)
                # The values of a derivative that the code calls have names of their own.
                inner = "" if main else f"{before.name}: "
                entries.extend(replace(e, value=f"{inner}{e.value}") for e in done.plan.entries)
                return done.fn

            def remat(before: Function) -> Function:
                return link(finished(before), finished)

            fn = pipeline.run(fn, (("remat", remat),), trace)
            plan = Plan(self.policy, tuple(entries))
        fn = pipeline.run(fn, pipeline.cleanup(self.costs), trace)
        copies: list[PlanEntry] = []

        def store(before: Function) -> Function:
            done = storage.plan(before)
            copies.extend(_copied(copy) for copy in done.copies)
            return done.function

        fn = pipeline.run(fn, (("storage", store), *pipeline.BUFFERS), trace)
        if plan is not None:
            plan = replace(plan, copies=tuple(copies), peak=peak(fn))
        return fn, plan

    def peak(self, orders: Orders) -> int | None:
        """Return the most bytes that a call holds under a plan; None if only a run can tell."""
        trace = pipeline.Trace()
        fn, plan = self(orders, trace)
        assert plan is not None
        assert plan.peak is not None
        self.last, self._tried = plan.peak, (orders, fn, plan, trace)
        return plan.peak.at_sizes(self.known or {}, [param.name for param in fn.params])

    def tried(self, orders: Orders, trace: pipeline.Trace) -> tuple[Function, Plan]:
        """Return what became of the function under the plan that was tried last."""
        assert self._tried is not None
        last, fn, plan, more = self._tried
        assert last == orders
        trace.stages += more.stages
        trace.seconds += more.seconds
        return fn, plan


def _copied(copy: storage.Copy) -> PlanEntry:
    return PlanEntry.at(copy.loc, copy.value, COPIED, "the array", copy.reason)


class UnknownPeak(Exception):
    """Only a run can tell how much memory a plan takes."""

    def __init__(self, peak: Peak) -> None:
        super().__init__(str(peak))
        self.peak = peak


def compile_ir(
    fn: Callable[..., Any], arguments: dict[str, Any], steps: Sequence[Step], policy: str = "auto"
) -> Compilation:
    """Lower `fn` for argument types and run every pass."""
    return transform(lower(fn, arguments), steps, policy)
