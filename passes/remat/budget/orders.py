"""The plan for a memory budget: what `remat` is told to keep, to recompute and to checkpoint.

For known sizes of arguments, the forward values that reverse code needs, and the loops that can be
checkpointed, make an integer program (`budget.model`, `budget`). It is solved for a fixed series of
decreasing memory sizes ("rooms"), whatever the budget. Solutions are carried out, and the peak of
the result is computed exactly (`peak`): it includes cotangents and temporary arrays, which the
program does not model. A budget gets the first plan that fits, so that more memory never makes a
plan slower; memory that is left over goes to checkpointed loops.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from adc.ir.analysis.costs import Costs
from adc.ir.analysis.sizes.extents import Known
from adc.ir.core import For, Function
from adc.passes.remat.budget.loops import Run
from adc.passes.remat.budget.model import Model
from adc.passes.remat.budget.program import Infeasible, Problem, Solution, bound, solve
from adc.passes.remat.facts import NO_ORDERS, Orders
from adc.passes.remat.plan import LoopPlan

# A plan need not be faster by this share: costs are not known more exactly.
_GAP = 0.01
# Each room that plans are made for is smaller by this factor.
_STEP = 0.93
# After so many plans for larger rooms without a lower peak, the minimum is assumed to be found.
_LIGHTEST = 3
# Of many values, only every so many-th room is considered for less than the memory there is.
_EVERY = 4
# How many plans for different rooms get the memory left over, and how many siblings of each.
_FITTING = 3
_SIBLINGS = 3
# How often the memory left over is given to a loop.
_REFINEMENTS = 8
# The factors between the rooms of `for` loops, and of `while` loops, in that step.
_FINER, _FINE = 1.02, 1.08
# How many plans that are not expected to be the fastest get the memory left over.
_UNLIKELY = 3
# The most rooms of a loop that are considered to estimate what a plan may gain.
_STEPS = 40
# A plan surely fits, or does not, if the budget and its estimate differ by this factor.
_FAR = 1.25
# The most values for which the plans for all rooms are carried out.
_SMALL = 32


@dataclass(frozen=True)
class Budgeted:
    """A plan for a budget.

    Attributes
    ----------
    orders : Orders
        The orders to `remat`.
    peak : int
        Its peak in bytes.
    seconds, bound : float
        The seconds that the plan takes beyond what every plan takes, and a lower bound of them.
    loops : tuple of LoopPlan
        The loops that it checkpoints.
    """

    orders: Orders
    peak: int
    seconds: float
    bound: float
    loops: tuple[LoopPlan, ...] = ()


class _Step(NamedTuple):
    """More room for a checkpointed loop: the bytes that it takes and the seconds that it saves."""

    label: str
    room: int
    bytes: int
    seconds: float


def _wide(k: int, factor: float) -> int:
    """Return a room of a geometric series."""
    return math.ceil(factor**k)


def _first(runs: Sequence[Run]) -> Run | None:
    """Return the loop that is reversed first, while all others hold their checkpoints."""
    return min(runs, key=lambda run: run.loop.last, default=None)


def _needed(run: Run, first: bool) -> int:
    """Return the bytes that a loop holds, with those of its own reversal if it comes first."""
    return run.loop.entries * (run.held + (run.waiting if first else 0))


def _solved(problem: Problem, room: int) -> Solution:
    """Return the fastest plan for a room, or the one with the least peak if none fits."""
    try:
        return solve(problem, room, _GAP)
    except Infeasible as error:
        found = error.solution
    assert isinstance(found, Solution)
    return found


class Planner:
    """Plans of one function, with Recalls, for any budget.

    `attempt` carries orders out and returns the peak, `inf` if it is known only at run time. A plan
    depends on the budget alone, not on earlier requests. With `offload`, tapes take no memory.
    """

    def __init__(
        self,
        fn: Function,
        costs: Costs,
        known: Known,
        attempt: Callable[[Orders], float],
        *,
        offload: bool = False,
    ) -> None:
        self.attempt = functools.cache(attempt)
        self.upwards = functools.cache(self._upwards)
        self.inputs = fn, costs, known, offload
        self.candidates: dict[int, Solution] = {}
        self.bounds: dict[int, float] = {}

    @cached_property
    def model(self) -> Model:
        return Model(*self.inputs)

    @property
    def fastest(self) -> float:
        """The peak of the plan that is made without a budget."""
        return self.attempt(NO_ORDERS)

    @cached_property
    def free(self) -> Solution:
        """The plan for a room that is large enough for every plan."""
        problem = self.model.problem
        most = sum(item.bytes + (item.extra.bytes if item.extra else 0) for item in problem.items)
        for group in problem.groups:
            most += max(
                sum(use.bytes for use in (*option.held, *option.transient))
                for option in group.options
            )
        return solve(problem, most, _GAP)

    @cached_property
    def lightest(self) -> Solution:
        """The plan with the least peak, according to the integer program."""
        return _solved(self.model.problem, 0)

    @cached_property
    def segments(self) -> list[Solution]:
        return list(self.model.segments(self.lightest))

    @cached_property
    def rooms(self) -> list[int]:
        """The rooms that plans are made for, the largest first."""
        least = min(plan.peak for plan in (self.lightest, *self.segments))
        found = [self.free.peak]
        while found[-1] > max(least, 1):
            found.append(max(int(found[-1] * _STEP), least))
        return found

    @cached_property
    def fixed(self) -> int:
        """The bytes that any plan holds beyond those that the program models."""
        lightest = self.candidate(self.rooms[-1])
        least = min(
            self.fastest - self.free.peak,
            self.attempt(self.model.orders(lightest, {})) - lightest.peak,
        )
        return 0 if math.isinf(least) else max(int(least), 0)

    def candidate(self, room: int) -> Solution:
        """Return the fastest plan for a room."""
        if room not in self.candidates:
            found: list[Solution] = []
            with suppress(Infeasible):
                found.append(solve(self.model.problem, room, _GAP))
            within = [plan for plan in self.segments if plan.peak <= room]
            if within:
                fastest = min(within, key=lambda plan: plan.seconds)
                found.append(self.model.improved(fastest, room))
            self.candidates[room] = min(found, key=lambda plan: plan.seconds)
        return self.candidates[room]

    def bound(self, room: int) -> float:
        """Return a lower bound of the cost of all plans within a room."""
        if room not in self.bounds:
            self.bounds[room] = self._bound(room)
        return self.bounds[room]

    def _bound(self, room: int) -> float:
        problem = self.model.problem
        if self.segments:
            # As if just-in-time recomputation took no memory.
            items = [replace(item, extra=None) for item in problem.items]
            problem = replace(problem, items=items)
        # The relaxation mixes options of loops, and is a poor bound.
        return _solved(problem, room).bound if problem.groups else bound(problem, room)

    @cached_property
    def smallest(self) -> list[int]:
        """The smallest rooms, up to where larger ones no longer have plans with a lower peak.

        All rooms where a plan takes no long time: what the program does not model may be most of a
        peak, which then does not fall with the room.
        """
        if self.is_small:
            return self.rooms
        found: list[int] = []
        lowest, since = math.inf, 0
        seen = set[Orders]()
        for room in reversed(self.rooms):
            found.insert(0, room)
            peak, orders = self.peak(room), self.model.orders(self.candidate(room), {})
            if peak < lowest:
                since = 0
            elif orders not in seen:  # several rooms may have one plan
                since += 1
            seen.add(orders)
            lowest = min(lowest, peak)
            if since == _LIGHTEST and not math.isinf(lowest):
                break
        return found

    @cached_property
    def least(self) -> float:
        """The least peak that was found."""
        return min(self.fastest, *map(self.peak, self.smallest))

    @cached_property
    def most(self) -> float:
        """A budget that suffices for the fastest plan of known peak."""
        known = (self.peak(room) for room in self.rooms)
        if math.isinf(self.fastest):
            return next((peak for peak in known if not math.isinf(peak)), math.inf)
        return self.fastest

    @property
    def is_small(self) -> bool:
        """Whether a plan for each room takes no long time."""
        return len(self.model.items) <= _SMALL and self.model.all_counted

    def peak(self, room: int) -> float:
        return self.attempt(self.model.orders(self.candidate(room), {}))

    def plan(self, budget: int) -> Budgeted:
        """Return the fastest plan found that holds at most `budget` bytes.

        Raises
        ------
        OverBudget
            Naming the least peak, if no plan fits.
        """
        if self.fastest <= budget:
            return Budgeted(NO_ORDERS, int(self.fastest), 0.0, 0.0)
        search = _Search(self, budget)
        for _ in itertools.islice(filter(search.consider, self.fitting(budget)), _FITTING):
            pass
        if not search.found:
            raise OverBudget(budget, None if math.isinf(self.least) else int(self.least))
        # A plan whose loops store less of each iteration may be the faster one.
        for _, plan, rooms in tuple(search.found):
            last = search.tried + _SIBLINGS
            for other in self.siblings(plan, rooms):
                if search.tried < last:
                    search.consider(other)
        return min((made for made, _, _ in search.found), key=lambda made: made.seconds)

    def fitting(self, budget: int) -> Iterator[Solution]:
        """Yield plans, the fastest first, if any fits; those after the first one may not."""
        first = self.first(budget)
        if first is None:
            fits = (room for room in self.smallest if self.peak(room) <= budget)
            yield from map(self.candidate, itertools.islice(fits, 1))
            return
        yield self.candidate(self.rooms[first])
        # With the memory left over for loops, a plan for less room may be the faster one.
        # Those that any budget considers: with more memory, they are considered as well.
        step = 1 if self.is_small else _EVERY
        for k in range(first + 1, len(self.rooms)) if self.model.loops else ():
            if k % step == 0 and self.model.runs(plan := self.candidate(self.rooms[k])):
                yield plan

    def first(self, budget: int) -> int | None:
        """Return the index of the largest room whose plan fits, of those that are considered.

        A plan for a smaller room may need more. Bisection limits how many are considered: of two
        budgets, the larger one finds at least as large a room at every step. So it never gets a
        slower plan.
        """

        def fits(k: int) -> bool:
            return self.peak(self.rooms[k]) <= budget

        def expected(k: int) -> int:
            return self.candidate(self.rooms[k]).peak + self.fixed

        def should_fit(k: int) -> bool:
            near = budget < _FAR * expected(k) and expected(k) < _FAR * budget
            return fits(k) if near else expected(k) < budget

        # To carry a plan out takes much longer than to make it.
        found = self.search(should_fit)
        if found is not None and fits(found):
            if expected(found) < _FAR * self.peak(self.rooms[found]):
                return found
            # Estimates are far too high: larger rooms may fit as well.
        return self.search(fits)

    def search(self, fits: Callable[[int], bool]) -> int | None:
        if self.is_small:
            return next(filter(fits, range(len(self.rooms))), None)
        low, high = 0, len(self.rooms)
        while low < high:
            middle = (low + high) // 2
            if fits(middle):
                high = middle
            else:
                low = middle + 1
        return None if high == len(self.rooms) else high

    def refined(
        self, solution: Solution, budget: int
    ) -> tuple[Budgeted, Solution, Mapping[str, int]]:
        """Return a plan whose checkpointed loops use the memory left over of a budget.

        Returns the solution it was made of, and the rooms of its loops, too.
        """
        rooms = self.shared(solution, budget)
        seconds = solution.seconds
        for one, other in zip(
            self.model.runs(solution), self.model.runs(solution, rooms), strict=True
        ):
            seconds -= one.loop.entries * (one.seconds - other.seconds)
        for _ in range(_REFINEMENTS):
            wider = [
                self.wider(solution, rooms, run, budget) for run in self.model.runs(solution, rooms)
            ]
            gain, more = max(wider, key=lambda each: each[0], default=(0.0, rooms))
            if gain <= 0.0:
                break
            rooms, seconds = more, seconds - gain
        orders = self.model.orders(solution, rooms)
        extra = max(seconds - self.free.seconds, 0.0)
        least = self.bound(max(budget - self.fixed, 0)) - self.free.seconds
        runs = self.model.runs(solution, rooms)
        loops = tuple(run.described() for outermost in runs for run in outermost.inside_out())
        peak = int(self.attempt(orders))
        made = Budgeted(orders, peak, extra, min(max(least, 0.0), extra), loops)
        return made, solution, rooms

    def siblings(self, solution: Solution, rooms: Mapping[str, int]) -> Iterator[Solution]:
        """Yield plans whose checkpointed loops store other values, in the same room.

        First all loops change that are faster in their final rooms then, afterwards each by itself;
        of equal loops, one.
        """
        best: dict[str, tuple[float, Run]] = {}
        alike: dict[tuple[object, ...], tuple[float, Run]] = {}
        for run in self.model.runs(solution):
            loop, label = run.loop, run.loop.stmt.label
            last = run._replace(room=rooms.get(label, run.room))
            for leaf in loop.leaves:
                if leaf is run.leaf or loop.least(leaf) > run.room:
                    continue
                other = run._replace(leaf=leaf)
                gain = loop.entries * (last.seconds - last._replace(leaf=leaf).seconds)
                if gain > best.get(label, (0.0, run))[0]:
                    best[label] = gain, other
                alike.setdefault((*loop.kind, run.leaf, leaf, run.room), (gain, other))
        if len(best) > 1:
            yield self.changed(solution, [run for _, run in best.values()])
        for _, run in sorted(alike.values(), key=lambda each: -each[0]):
            yield self.changed(solution, [run])

    def changed(self, solution: Solution, runs: Sequence[Run]) -> Solution:
        """Return a plan some of whose checkpointed loops run in another way."""
        before = {run.loop.stmt.label: run for run in self.model.runs(solution)}
        options, seconds = dict(solution.options), solution.seconds
        for run in runs:
            label = run.loop.stmt.label
            options[label] = run.loop.leaves.index(run.leaf), run.room
            seconds += run.loop.entries * (run.seconds - before[label].seconds)
        return replace(solution, options=options, seconds=seconds)

    def held(self, solution: Solution, *, waiting: bool = True) -> int:
        """Return the estimated bytes that a plan holds when reverse code begins.

        All checkpointed loops hold their states when the first one is reversed. That one also holds
        those of suspended runs: with `waiting`.
        """
        runs = self.model.runs(solution)
        first = _first(runs) if waiting else None
        return self.model.kept(solution) + sum(_needed(run, run is first) for run in runs)

    def hoped(self, solution: Solution, room: float, *, waiting: bool = True) -> float:
        """Return a lower bound of a plan's extra cost if its loops shared a room optimally.

        This is a relaxation: fractions of steps from one room to the next one count.
        """
        left = room - self.held(solution, waiting=waiting)
        seconds = solution.seconds - self.free.seconds
        for step in self.steps(solution, waiting=waiting):
            if left <= 0:
                break
            seconds -= step.seconds * min(1.0, left / step.bytes)
            left -= step.bytes
        return seconds

    def steps(self, solution: Solution, *, waiting: bool = True) -> list[_Step]:
        """Return the steps from room to room of all loops of a plan, those that gain most first."""
        runs = self.model.runs(solution)
        first = _first(runs) if waiting else None
        found = [step for run in runs for step in self.upwards(run, run is first)]
        return sorted(found, key=lambda step: -step.seconds / step.bytes)

    def _upwards(self, run: Run, first: bool) -> list[_Step]:
        """Return the steps of a loop, on the lower convex hull of its rooms, or of some if many."""
        label, entries = run.loop.stmt.label, run.loop.entries
        most = max(run.room, run.loop.often * run.leaf.tape)
        if isinstance(run.loop.stmt, For):
            numbers = range(
                math.ceil(math.log(run.room, _FINER)), math.ceil(math.log(most, _FINER)) + 1
            )
            larger = [_wide(k, _FINER) for k in numbers[:: -(-len(numbers) // _STEPS)]]
        else:
            larger = [_wide(k, _FINE) for k in self.sizes(run, _FINE, most)]
        hull = [run]

        def step(one: Run, other: Run) -> _Step:
            more = max(_needed(other, first) - _needed(one, first), 1)
            return _Step(label, other.room, more, entries * (one.seconds - other.seconds))

        for each in (run._replace(room=room) for room in larger if room > run.room):
            if each.seconds >= hull[-1].seconds:
                continue
            while len(hull) > 1:
                before, after = step(hull[-2], hull[-1]), step(hull[-1], each)
                if before.seconds * after.bytes > after.seconds * before.bytes:
                    break
                hull.pop()
            hull.append(each)
        return [step(*pair) for pair in itertools.pairwise(hull)]

    def shared(self, solution: Solution, budget: int) -> dict[str, int]:
        """Return the rooms of loops after greedily taking the steps that gain most.

        The steps do not depend on the budget, so that a larger one takes at least as many.
        """
        steps = self.steps(solution)

        def rooms(count: int) -> dict[str, int]:
            return {step.label: step.room for step in steps[:count]}

        low, high = 0, len(steps)
        while low < high:
            middle = (low + high + 1) // 2
            if self.attempt(self.model.orders(solution, rooms(middle))) <= budget:
                low = middle
            else:
                high = middle - 1
        return rooms(low)

    @staticmethod
    def sizes(run: Run, factor: float, most: int) -> range:
        """Return the indices of the rooms that a `while` loop may have."""
        first = math.ceil(math.log(run.loop.least(run.leaf), factor))
        return range(first, math.ceil(math.log(max(most, 1), factor)) + 1)

    def wider(
        self, solution: Solution, rooms: Mapping[str, int], run: Run, budget: int
    ) -> tuple[float, dict[str, int]]:
        """Return the gain if a checkpointed loop gets all the room that fits, and the rooms then.

        Rooms are those of one series, for all plans: so more memory is never worse.
        """
        loop = run.loop

        counted = isinstance(loop.stmt, For)
        factor = _FINER if counted else _FINE
        first = math.ceil(math.log(run.room if counted else loop.least(run.leaf), factor))

        def wide(k: int) -> Run:
            return run._replace(room=_wide(k, factor)) if k >= first else run

        def rooms_with(k: int) -> dict[str, int]:
            return {**rooms, loop.stmt.label: wide(k).room}

        def fits(k: int) -> bool:
            if wide(k).room > budget:
                return False
            return self.attempt(self.model.orders(solution, rooms_with(k))) <= budget

        # The rooms considered do not depend on the budget: a larger one gets at least as far.
        if counted:
            low, step = first - 1, 1
            while fits(low + step):
                low += step
                step *= 2
            high = low + step - 1
            while low < high:
                middle = (low + high + 1) // 2
                if fits(middle):
                    low = middle
                else:
                    high = middle - 1
        else:
            # Where states are stored while a loop runs, less room can be better.
            rest = self.sizes(run, factor, budget)
            fastest = sorted(rest, key=lambda k: (wide(k).seconds, k))
            low = next(filter(fits, fastest), first - 1)
        return loop.entries * (run.seconds - wide(low).seconds), rooms_with(low)


class OverBudget(Exception):
    """No plan fits; `least` is the least peak that was found, None if known only at run time."""

    def __init__(self, budget: int, least: int | None) -> None:
        super().__init__(budget, least)
        self.budget = budget
        self.least = least


class _Search:
    """Plans that were carried out for a budget, and whether others are worth it."""

    def __init__(self, planner: Planner, budget: int) -> None:
        self.planner = planner
        self.budget = budget
        # The fitting plan, its solution, and the rooms of its loops.
        self.found: list[tuple[Budgeted, Solution, Mapping[str, int]]] = []
        self.tried = 0
        # Estimates may be far too high: some plans are tried all the same.
        self.unlikely = _UNLIKELY
        # By how much plans exceed their estimates, at least.
        room = planner.rooms[-1]
        self.beyond = planner.peak(room) - planner.held(planner.candidate(room))

    def consider(self, plan: Solution) -> bool:
        """Carry out a plan that may be the fastest; whether it fits, with memory left over used."""
        planner = self.planner
        if self.found and not self.may_win(plan):
            return False
        self.tried += 1
        peak = planner.attempt(planner.model.orders(plan, {}))
        if peak > self.budget:
            return False
        self.beyond = min(self.beyond, peak - planner.held(plan))
        self.found.append(planner.refined(plan, self.budget))
        return True

    def may_win(self, plan: Solution) -> bool:
        best = min(made.seconds for made, _, _ in self.found)
        room = self.budget - self.beyond
        if self.planner.hoped(plan, room) < best:
            return True
        if self.unlikely and self.planner.hoped(plan, room, waiting=False) < best:
            self.unlikely -= 1
            return True
        return False
