"""The compiler's driver: Python function → value form → passes → kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from adc.frontend.core.state import Lowered
from adc.ir.analysis.costs import SHIPPED, Costs, estimate
from adc.ir.analysis.memory.access import atomics
from adc.ir.analysis.sizes.extents import Known
from adc.ir.analysis.sizes.formulas import Remembered, Sum, names_of
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.analysis.target import CPU, Target
from adc.ir.core import Function, Write
from adc.ir.functions import primal_names
from adc.ir.types import Array
from adc.passes import pipeline
from adc.passes.memory.peak import peak
from adc.passes.memory.peak.formula import Peak, formula
from adc.passes.remat.checkpoint import Schedule
from adc.passes.remat.facts import NO_ORDERS, Orders
from adc.passes.remat.plan import ATOMIC, Alternative, Part, Plan, PlanEntry
from adc.passes.stages import Context, Ran, Remarks, Step, Trace, run

if TYPE_CHECKING:
    from adc.backend.cuda.dry_run import Held
    from adc.passes.remat.budget.orders import Budgeted, Planner

# How often plans for a device are repeated, for less or more on the CPU; how near to each other
# what fits and what does not need not be, as a share of a budget.
_ATTEMPTS, _NEAR = 6, 0.05
# Of which factors of the least that the CPU can hold there are plans for the least on a device.
_LIGHT = (1.0, 1.1, 1.25, 1.5)
# The seconds that a byte is worth in functions that calls share: the first plans are as without a
# budget, the next ones recompute what is large, the last ones all that they can.
_WORTHS = (0.0, 3e-11, 1e-10, 1e-9, 1e-7, 1.0)


@dataclass(frozen=True)
class Budget:
    """The most bytes that a call may hold, and the sizes of its arguments, by parameter."""

    bytes: int
    sizes: tuple[tuple[str, int | tuple[int, ...]], ...]


@dataclass
class Compilation:
    """The record of a compilation, from a function to buffer form.

    Attributes
    ----------
    lowered : Lowered
        What the front end made.
    fn : Function
        Buffer form, ready for a back end.
    plan : Plan or None
        What the reverse code remembers; None for code without reverse part.
    trace : Trace
        Every row of the pipeline's table: the function after it, and the seconds it took.
    plans : Plans or None
        The plans for any budget, of the same function for the same sizes.
    """

    lowered: Lowered
    fn: Function
    plan: Plan | None
    trace: Trace = field(default_factory=Trace)
    plans: Plans | None = field(default=None, repr=False, compare=False)


def transform(
    lowered: Lowered,
    steps: Sequence[Step],
    policy: str = "auto",
    costs: Costs = SHIPPED,
    budget: Budget | None = None,
    plans: Plans | None = None,
    *,
    target: Target = CPU,
) -> Compilation:
    """Run every pass on a lowered function: primal, transformations, remat, storage.

    Code is made for a target, plans for a machine of these costs: by default those that are
    shipped. For a budget, `plans` made before are asked, if they are of the same function for the
    same sizes: most of what a plan takes is the same for all budgets.

    Raises
    ------
    OverBudget
        If no plan fits in the budget.
    """
    asked = (lowered, steps, policy, costs, target, budget.sizes if budget else ())
    if plans is None or not plans.are_for(*asked):
        plans = Plans(*asked)
    trace = plans.trace.copy()
    if budget is None:
        made, plan = plans.rest(NO_ORDERS, trace)
    else:
        made, plan = plans.made(budget.bytes, trace)
    return Compilation(lowered, plans.finished(made, trace), plan, trace, plans)


class Plans:
    """The plans of a derivative for sizes of its arguments, whatever the budget."""

    def __init__(
        self,
        lowered: Lowered,
        steps: Sequence[Step],
        policy: str,
        costs: Costs,
        target: Target,
        sizes: Sequence[tuple[str, int | tuple[int, ...]]],
    ) -> None:
        self._asked = lowered.fn, tuple(steps), policy, costs, target, tuple(sizes)
        self.trace = trace = Trace([Ran(pipeline.FRONTEND, lowered.fn, lowered.seconds)])
        self.table = pipeline.table(target)
        counts = [count for name, (count, *_) in steps[-1:] if name == "directions"]
        steps = tuple(steps[: len(steps) - len(counts)])
        context = Context(
            target, policy, costs, steps=steps, directions=sum(counts), plain=not steps
        )
        fn = run(lowered.fn, self.table.primal, trace, context)
        for done in range(len(steps)):
            context = replace(context, done=done, own=len(fn.params))
            fn = run(fn, self.table.derivative, trace, context)
        fn = run(fn, self.table.joined, trace, context)
        known = dict(sizes)
        known.update(
            (name, known[base]) for name, base in primal_names(fn).items() if base in known
        )
        self.rest = _Rest(fn, replace(context, known=known))
        # Plans for a device are those for the CPU, with what they hold on the device.
        self.host = _Rest(fn, replace(context, known=known, target=target.host))
        self._held: dict[Orders, Held] = {}
        # The calls that can be recomputed as a whole, and plans that do so with the first ones, by
        # their number: those are reversed last, and would hold memory for longest.
        self.calls = () if target.cuda else pipeline.calls_to_recompute(fn)
        # How much less functions that calls share may hold: the seconds that a byte is worth.
        shares = not target.cuda and any(each.mirror for each in fn.callees)
        self.worths = _WORTHS if shares else _WORTHS[:1]
        # Whether states of loops are recalled apart: never, or where no other plan fits.
        self.apart = (False, True) if pipeline.shares_states(fn) and not target.cuda else (False,)
        self._planners: dict[tuple[int, bool, float, bool], Planner] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The transformations of the function, first to last."""
        return self._asked[1]

    def are_for(
        self,
        lowered: Lowered,
        steps: Sequence[Step],
        policy: str,
        costs: Costs,
        target: Target,
        sizes: Sequence[tuple[str, int | tuple[int, ...]]],
    ) -> bool:
        """Whether these are the plans of a function for some sizes."""
        return self._asked[1:] == (tuple(steps), policy, costs, target, tuple(sizes)) and (
            self._asked[0] == lowered.fn
        )

    @property
    def planner(self) -> Planner:
        return self.planner_of(0)

    def planner_of(
        self, count: int, free: bool = False, worth: float = 0.0, apart: bool = False
    ) -> Planner:
        """Return the plans that recompute so many calls as a whole.

        The code is `free` or other, and recalls states `apart` or not; a byte in functions that
        calls share is `worth` some seconds.
        """
        from adc.passes.remat.budget.orders import Planner

        if (count, free, worth, apart) not in self._planners:
            context = self.host.context

            def attempt(orders: Orders) -> float:
                return self.host.peak(self._completed(orders, count, free, worth, apart))

            told = replace(context, orders=Orders(calls=self.calls[:count], apart=apart))
            fn = run(self.host.fn, pipeline.BEFORE_REMAT, None, told)
            offload = context.target.offload
            made = Planner(fn, context.costs, context.known, attempt, offload=offload)
            self._planners[count, free, worth, apart] = made
        return self._planners[count, free, worth, apart]

    def _completed(
        self, orders: Orders, count: int, free: bool, worth: float, apart: bool = False
    ) -> Orders:
        """Return orders about the function itself with those about calls."""
        shared = (each.mirror for each in self.host.fn.callees if each.mirror and worth)
        more = tuple((name, "", worth) for name in shared)
        return replace(
            orders, calls=self.calls[:count], free=free, worth=(*orders.worth, *more), apart=apart
        )

    def within(self, budget: int) -> Budgeted:
        """Return the plan for a budget on the CPU.

        As few calls as possible are recomputed as a whole. Where that is not enough, single values
        and iterations are, as well. The code is that without a budget where it holds no more, or
        where none else holds as little. Functions that calls share hold less where that is faster
        than to run calls again, or where nothing else is enough.

        Raises
        ------
        OverBudget
            If no plan fits.
        """
        from adc.passes.remat.budget.orders import Budgeted, OverBudget

        free = self.host.peak(Orders(free=True))
        if free <= budget:
            return Budgeted(Orders(free=True), int(free), 0.0, 0.0)
        plain, *others = self.worths
        found = self._planned(budget, plain)
        if found is not None and not found.orders.calls:
            return found
        for worth in others:
            orders = self._completed(NO_ORDERS, 0, False, worth)
            peak = self.host.peak(orders)
            if peak <= budget:
                # No more than what they hold less is worth.
                extra = worth * max(self.host.peak(NO_ORDERS) - peak, 0.0)
                light = Budgeted(orders, int(peak), extra, 0.0)
                return light if found is None else min(found, light, key=_seconds)
        if found is None:
            plans = (self._planned(budget, worth) for worth in others)
            found = next((plan for plan in plans if plan is not None), None)
        if found is None:
            least = self._least
            raise OverBudget(budget, None if math.isinf(least) else int(least))
        return found

    def _planned(self, budget: int, worth: float) -> Budgeted | None:
        """Return the plan for a budget, None if none fits."""
        from adc.passes.remat.budget.orders import OverBudget

        for apart in self.apart:
            with suppress(OverBudget):
                return self._searched(budget, False, worth, apart)
            if self.planner_of(len(self.calls), True, worth, apart).least <= budget:
                return self._searched(budget, True, worth, apart)
        return None

    @property
    def _least(self) -> float:
        """The smallest sufficient budget that was found."""
        ways = [(True, 0.0), *((False, worth) for worth in self.worths)]
        return min(
            self.planner_of(len(self.calls), *way, apart).least
            for apart in self.apart
            for way in ways
        )

    def _searched(self, budget: int, free: bool, worth: float, apart: bool) -> Budgeted:
        from adc.passes.remat.budget.orders import OverBudget

        low, high = 0, len(self.calls) + 1
        while low < high:
            middle = (low + high) // 2
            if self.planner_of(middle, free, worth, apart).fastest > budget:
                low = middle + 1
            else:
                high = middle
        for count in (low,) if low <= len(self.calls) else (0, len(self.calls)):
            try:
                found = self.planner_of(count, free, worth, apart).plan(budget)
            except OverBudget:
                if count == len(self.calls):
                    raise
            else:
                orders = self._completed(found.orders, count, free, worth, apart)
                return replace(found, orders=orders)
        raise AssertionError

    def finished(self, fn: Function, trace: Trace | None = None) -> Function:
        """Return the function as it is emitted, with a known peak."""
        return run(fn, self.table.library, trace, self.rest.context)

    def made(self, budget: int, trace: Trace | None = None) -> tuple[Function, Plan | None]:
        """Return the function in its last form, and the plan; `trace` gets the stages."""
        from adc.passes.remat.budget.orders import OverBudget

        if self.rest.context.target.cuda:
            return self.made_on_device(budget, trace)
        if not self.rest.reverses:  # then there is nothing to plan
            least = self.rest.peak(NO_ORDERS)
            if math.isinf(least):
                raise self.unknown
            if least > budget:
                raise OverBudget(budget, int(least))
            return self.rest(NO_ORDERS, trace)
        try:
            found = self.within(budget)
        except OverBudget as error:
            if error.least is not None:
                raise
            raise self.unknown from None
        fn, plan = self.rest(found.orders, trace)
        assert plan is not None
        fastest, known = self.seconds, self.rest.context.known
        plan = replace(
            plan,
            # Of this very code: `found` has the number from a formula for any room.
            peak_bytes=self.rest.measured(fn, known).at_sizes(
                known, [param.name for param in fn.params]
            ),
            budget=budget,
            extra=found.seconds,
            bound=found.bound,
            seconds=None if fastest is None else fastest + found.seconds,
            loops=found.loops,
        )
        return fn, plan

    def made_on_device(
        self, budget: int, trace: Trace | None = None
    ) -> tuple[Function, Plan | None]:
        """Return a function with launches that holds so much on the device, and the plan."""
        found = self.on_device(budget)
        fn, plan = self.rest(found.orders, trace)
        if plan is not None:
            plan = replace(
                plan,
                peak_bytes=found.peak if self.held(found.orders).exact else None,
                budget=budget,
                extra=found.seconds,
                bound=found.bound,
                seconds=None if self.seconds is None else self.seconds + found.seconds,
                loops=found.loops,
            )
        return fn, plan

    def on_device(self, budget: int) -> Budgeted:
        """Return a plan that holds at most so many bytes on the device, as far as is known before.

        What is planned for is what the CPU would hold: less where the device holds more. What is
        known only at run time is not counted.

        Raises
        ------
        OverBudget
            Naming the least that was found, if no plan fits.
        """
        from adc.passes.remat.budget.orders import Budgeted, OverBudget

        free = self.held(NO_ORDERS)
        if not self.rest.reverses:  # then there is nothing to plan
            if free.peak is not None and free.peak > budget:
                raise OverBudget(budget, free.peak)
            return Budgeted(NO_ORDERS, free.peak or 0, 0.0, 0.0)
        if free.peak is not None and free.peak <= budget:
            if free.exact or self.planner.fastest < math.inf:
                return Budgeted(NO_ORDERS, free.peak, 0.0, 0.0)
        if math.isinf(self.planner.least):
            # The plan is the lightest one, and a call tells whether that is enough.
            orders = self.planner.model.orders(self.planner.lightest, {})
            peak = self.held(orders).peak or 0
            if peak > budget:
                raise OverBudget(budget, peak)
            return Budgeted(orders, peak, 0.0, 0.0)
        best, low, high = None, 0, budget
        room = budget
        for _ in range(_ATTEMPTS):
            plan = self.plan_within(room)
            if plan is None or plan.peak > budget:
                high = room
                over = 0 if plan is None else plan.peak - budget
                room = room - over if best is None and 0 < over < room else (low + high) // 2
            else:
                best, low = plan, room
                room = (low + high) // 2
            if high - low <= _NEAR * budget or room <= low:
                break
        if best is not None:
            return best
        lightest = list(self.lightest())
        fits = (plan for plan in reversed(lightest) if plan.peak <= budget)
        best = next(fits, None)
        if best is None:
            raise OverBudget(budget, min(plan.peak for plan in lightest))
        return best

    def plan_within(self, room: int) -> Budgeted | None:
        """Return a plan for a budget on the CPU, with the bytes it holds on the device if known.

        Where it is not, a call that would hold more than it may is an error.
        """
        from adc.passes.remat.budget.orders import OverBudget

        try:
            plan = self.planner.plan(room)
        except OverBudget:
            return None
        held = self.held(plan.orders).peak
        return plan if held is None else replace(plan, peak=held)

    def lightest(self) -> Iterator[Budgeted]:
        """Yield plans for small budgets on the CPU, the smallest first."""
        for factor in _LIGHT:
            plan = self.plan_within(math.ceil(factor * self.planner.least))
            assert plan is not None
            yield plan

    def held(self, orders: Orders) -> Held:
        """Return what a call under a plan holds on the device."""
        if orders not in self._held:
            context = self.rest.context
            fn, _ = self.rest.made(orders)
            self._held[orders] = held_on_device(
                self.finished(fn), context.known, context.target, limited=True
            )
        return self._held[orders]

    @cached_property
    def seconds(self) -> float | None:
        """The predicted time of the fastest plan."""
        fn, _ = self.host.made(NO_ORDERS)
        found = self.rest.context
        return estimate(fn, found.known, found.costs, offload=found.target.offload).seconds

    def alternative(self, budget: int) -> Alternative:
        """Return the plan for a budget."""
        from adc.passes.remat.budget.orders import OverBudget

        try:
            on_device = self.rest.context.target.cuda
            found = self.on_device(budget) if on_device else self.within(budget)
        except OverBudget as error:
            return Alternative(budget, error.least, None)
        return Alternative(budget, found.peak, found.seconds, found.bound)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest sufficient budget that was found, and one without effect.

        Raises
        ------
        UnknownPeak
            If the memory of the plans is known only at run time.
        """
        least = self._least
        if math.isinf(least):
            raise self.unknown
        if self.rest.context.target.cuda:
            peaks = [plan.peak for plan in self.lightest()]
            return min(peaks), max(self.held(NO_ORDERS).peak or 0, *peaks)
        most = min(self.planner.most, self.host.peak(Orders(free=True)))
        if math.isinf(most):
            raise self.unknown
        return int(least), int(most)

    @property
    def unknown(self) -> UnknownPeak:
        return UnknownPeak(self.host.measured(self.host.made(NO_ORDERS)[0]))


def _seconds(plan: Budgeted) -> float:
    return plan.seconds


def held_on_device(fn: Function, sizes: Known, target: Target, limited: bool) -> Held:
    """Return what a call of a function with launches holds on the device, for sizes by parameter.

    Blocks of memory are of any size if the call is `limited`.
    """
    from adc.backend.cuda.dry_run import DryRuns
    from adc.backend.cuda.emit import emit

    dry_runs = DryRuns(emit(fn), limited, target.offload)
    return dry_runs.held([_tuple(sizes.get(param.name)) for param in fn.params])


def _tuple(size: int | Sequence[int] | None) -> int | tuple[int, ...] | None:
    return size if size is None or isinstance(size, int) else tuple(size)


@dataclass
class _Rest:
    """The passes from `remat` on, for one function and any plan."""

    fn: Function
    context: Context
    # By what the code was made from.
    formulas: dict[Orders, Sum] = field(default_factory=dict)

    @property
    def reverses(self) -> bool:
        return self.context.reverses(self.fn)

    def __call__(self, orders: Orders, trace: Trace | None = None) -> tuple[Function, Plan | None]:
        fn, plan = self.made(orders, trace)
        if plan is not None and self.context.target.cuda:
            # What is held there is found otherwise (`held_on_device`): there is no formula.
            host = (Part("host", None),) if self.context.target.offload else ()
            parts = (*self.parts(), *plan.parts, *host)
            plan = replace(plan, peak=Peak(Sum(), Sum(), ()), parts=parts, device=True)
        elif plan is not None:
            found = self.measured(fn)
            disk = (Part("disk", formula(fn, found.disk)),) if self.context.target.offload else ()
            plan = replace(plan, peak=found, parts=(*self.parts(), *plan.parts, *disk))
        return fn, plan

    def measured(
        self, fn: Function, sizes: Known | None = None, numbers: Mapping[int, str] | None = None
    ) -> Peak:
        """Return the peak of code in its last form."""
        return peak(fn, sizes=sizes, numbers=numbers, offload=self.context.target.offload)

    def parts(self) -> Iterator[Part]:
        """Yield what is the caller's."""
        symbols = Symbols(self.fn)
        results = [each for each in self.fn.results if isinstance(each.type, Array)]
        params = [each for each in self.fn.params if isinstance(each.type, Array)]
        for name, arrays in (("arguments", params), ("gradients", results)):
            size = sum(map(symbols.bytes, dict.fromkeys(arrays)), start=Sum())
            yield Part(name, formula(self.fn, size))

    def made(
        self, orders: Orders, trace: Trace | None = None, *, checked: bool = True
    ) -> tuple[Function, Plan | None]:
        """Return the function in its last form, and a plan that knows nothing of the peak.

        Code that is only measured need not be `checked`: what is chosen is made again.
        """
        table, remarks = pipeline.table(self.context.target), Remarks()
        context = replace(self.context, orders=orders, checked=checked, remarks=remarks)
        fn = self.fn
        for stages in (table.planned, table.cleanup, table.buffers):
            fn = run(fn, stages, trace, context, verify=checked)
        if not self.reverses:
            return fn, None
        return fn, Plan(
            context.policy,
            tuple(remarks.entries),
            tuple(remarks.copies),
            parts=(Part("held", remarks.held), Part("temporaries", None)),
            atomics=tuple(map(_atomic, atomics(fn))) if context.target.cuda else (),
        )

    def peak(self, orders: Orders) -> float:
        """Return the peak bytes of a call under a plan, or inf if known only at run time."""
        # The code is the same whatever room checkpointed loops have, but for some numbers.
        values: dict[str, int] = {}
        numbers: dict[int, str] = {}
        needed: set[str] = set()
        loops: list[tuple[str, str, Schedule]] = []
        for owner, label, each in orders.loops:
            # How often a `while` loop keeps its state makes no difference.
            for what in ("room", "slots", "unit") if each.slots else ("room", "tape"):
                name, number = f"{owner} {label} {what}", _ROOM + len(numbers)
                values[name], numbers[number] = getattr(each, what), name
                needed.update((name,) if what != "unit" else ())
                each = replace(each, **{what: number})
            loops.append((owner, label, each))
        formula = self.formula(replace(orders, loops=tuple(loops)), numbers)
        if not formula.names.issuperset(needed):
            formula = self.formula(orders, {})  # it was computed with
        found = formula.value(Remembered({**values, **names_of(self.context.known)}))
        return math.inf if found is None else found

    def formula(self, orders: Orders, numbers: Mapping[int, str]) -> Sum:
        """Return the peak for the sizes that are known; some numbers in the code have names."""
        if orders not in self.formulas:
            fn, _ = self.made(orders, checked=False)
            found = self.measured(fn, self.context.known, numbers)
            self.formulas[orders] = found.size + found.own
        return self.formulas[orders]


# Numbers that no program has.
_ROOM = 2**61 + 2**31 + 1


def _atomic(write: Write) -> PlanEntry:
    reason = "threads add to the same elements"
    return PlanEntry.at(write.loc, write.array.name, ATOMIC, "0", reason)


class UnknownPeak(Exception):
    """The memory of a plan is known only at run time."""

    def __init__(self, peak: Peak) -> None:
        super().__init__(str(peak))
        self.peak = peak
