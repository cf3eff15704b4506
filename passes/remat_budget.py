"""The plan for a number of bytes: what `remat` is told to keep, to recompute and to checkpoint.

For sizes of arguments that are known, the forward values that reverse code needs, and the loops
that could be checkpointed, make an integer program (`budget`). It is solved for a fixed series of
smaller and smaller rooms, whatever the budget. Solutions are carried out, and the peak of what
became of them is computed exactly (`peak`): with what the program does not know of, cotangents and
temporary arrays. A budget gets the first that fits, so that more memory never makes a slower plan;
what room is left over goes to checkpointed loops.

Straight-line code that is computed again just in time holds what it computes only from there on.
The program counts such arrays as if all of them were computed at once, so `Model.segments` makes
plans for it of another kind: every so many bytes an array is kept, as in T. Chen et al., "Training
deep nets with sublinear memory cost", 2016.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from adc.ir.core import Apply, For, Function, Operand, Recall, Reverse, Stmt, Value, While, walk
from adc.ir.schedule import (
    Reversal,
    expected,
    levels,
    online_steps,
    reversal,
)
from adc.ir.types import Array
from adc.ir.walk import Names, block_reads
from adc.passes.budget import (
    Group,
    Infeasible,
    Item,
    Key,
    Option,
    Problem,
    Solution,
    Use,
    bound,
    solve,
)
from adc.passes.checkpoint import Schedule, can_checkpoint
from adc.passes.costs import Costs
from adc.passes.extents import Extents, Known
from adc.passes.forwarding import Forwarding
from adc.passes.online import can_checkpoint_online
from adc.passes.plan import CHECKPOINTED, KEPT, LoopPlan, PlanEntry
from adc.passes.remat_choose import Chooser
from adc.passes.remat_cut import Price
from adc.passes.remat_facts import NO_ORDERS, Decisions, Orders, Restored, needed_values
from adc.passes.state import needed
from adc.passes.undo import undone

# Prices of a byte that leaves of checkpointed loops are planned for: of all that they keep what is
# fastest, only what is dear, or as little as possible.
_WORTH = (0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6)
# The most states that a `while` loop keeps while it runs: placing them takes time, too.
_SLOTS = 48
# How often loops run at most of which all schedules are gone through.
_EXACT = 256
# Room for `while` loops should be of use where they run so many times as long as is guessed.
_LONG = 16
# More than nothing: what is not decided about without a budget is decided about.
_NEXT_TO_NOTHING = 1e-30
# Checkpointed loops are offered room that is smaller by this factor each time.
_SHRINK = 0.8
# A plan need not be faster by this share: costs are not known better.
_GAP = 0.01
# Plans are made for rooms that are smaller by this factor each time.
_STEP = 0.93
# After so many plans for larger rooms without a lower peak, the least one is found.
_LIGHTEST = 3
# So many plans that fit are given what is left over.
_FITTING = 2
# How often what is left over is given to a loop.
_REFINEMENTS = 8
# Into how many parts that is divided.
_PARTS = 6
# Plans in segments are improved so often, for one value; for many, so much less often.
_TRIALS = 20_000
# A plan fits, or does not, if this factor lies between the budget and what is expected of it.
_FAR = 1.25
# The most values for which the plans for all rooms are carried out.
_SMALL = 32


@dataclass(frozen=True)
class Budgeted:
    """A plan for a budget.

    Attributes
    ----------
    orders : Orders
        What to tell `remat`.
    peak : int
        Bytes that it holds.
    seconds, bound : float
        What the plan takes beyond what every plan takes, and the least that one could.
    loops : tuple of LoopPlan
        The loops that it checkpoints.
    """

    orders: Orders
    peak: int
    seconds: float
    bound: float
    loops: tuple[LoopPlan, ...] = ()


@dataclass
class _Leaf:
    """What iterations of a loop keep, and what that costs, under one price of bytes."""

    worth: float
    kept: int
    seconds: float

    @property
    def tape(self) -> int:
        """Bytes of an iteration on the tape; schedules want some."""
        return max(self.kept, 1)


@dataclass
class _Loop:
    """A loop that can be checkpointed."""

    stmt: For | While
    trips: int
    state: int
    again: float  # seconds of an iteration that keeps nothing
    last: int  # position of its reverse code
    given: tuple[Value, ...]
    leaves: list[_Leaf] = field(default_factory=list)

    def schedule(self, leaf: _Leaf, room: int) -> Schedule:
        """Return how the loop runs that may hold so many bytes."""
        if isinstance(self.stmt, For):
            return Schedule(room, leaf.tape, 0, self.state)
        slots = max(min(room // 3 // (self.state + 16), _SLOTS), 1)
        rest = room - slots * (self.state + 16)
        unit = max(1, (rest - self.state) // leaf.tape // 2)
        return Schedule(rest, leaf.tape, 0, max(self.state, 2), slots, unit)

    def least(self, leaf: _Leaf) -> int:
        """Return the fewest bytes that the loop can do with."""
        least = self.state + leaf.tape
        return least if isinstance(self.stmt, For) else least + self.state + 16

    @property
    def often(self) -> int:
        """How many iterations to be prepared for."""
        return self.trips if isinstance(self.stmt, For) else self.trips * _LONG

    def steps(self, leaf: _Leaf, room: int) -> int:
        """Return how many iterations run again, plain."""
        own = self.schedule(leaf, room)
        if own.slots:
            return own.unit * online_steps(-(-self.often // own.unit), own.slots)
        return self.reversal(leaf, room).plain

    def seconds(self, leaf: _Leaf, room: int) -> float:
        """Return what checkpoints in so much room cost."""
        return self.steps(leaf, room) * self.again + self.often * leaf.seconds

    def waiting(self, leaf: _Leaf, room: int) -> int:
        """Return about what runs that wait for other ones hold: a state and its cotangent each."""
        own = self.schedule(leaf, room)
        # How long a `while` loop runs, nobody knows.
        how = own.room, self.state, leaf.tape, 0
        depth = levels(*how) if own.slots else self.reversal(leaf, room).depth
        return 2 * self.state * max(depth - 1, 0)

    def reversal(self, leaf: _Leaf, room: int) -> Reversal:
        """Return what a loop of known length takes; about that, if it is long."""
        found = reversal if self.trips <= _EXACT else expected
        return found(self.trips, room, self.state, leaf.tape, 0)

    def chosen(self, solution: Solution) -> tuple[_Leaf | None, int]:
        """Return the leaf and the room that a solution says, None if it checkpoints nothing."""
        option = solution.options[self.stmt.label]
        if option == "plain":
            return None, 0
        assert isinstance(option, tuple)
        worth, room = option
        (leaf,) = (each for each in self.leaves if each.worth == worth)
        return leaf, room


class Model:
    """The integer program of one function with Recalls, for sizes of its arguments."""

    def __init__(self, fn: Function, costs: Costs, known: Known) -> None:
        self.costs = costs
        self.extents = Extents(fn, known)
        self.needed: list[Value] = []
        self.fn, self.chooser = undone(fn, self.undoing)
        self.forwarding = self.chooser.d.forwarding
        self.needed = needed_values(self.fn.body, self.chooser.d, self.chooser.names)
        self.positions = _positions(self.fn)
        self.loops = list(self._loops())
        self.items = dict(self._items())
        self.loops = [loop for loop in self.loops if self.members(loop)]

    def undoing(self, fn: Function, restored: Restored) -> Chooser:
        decisions = Decisions(fn, True, Forwarding(fn), restored=restored)
        return self.planned(decisions, {"": _NEXT_TO_NOTHING})

    def chosen(self, worth: Mapping[str, float]) -> Chooser:
        """Return what is decided where a byte that is not held is worth so much."""
        restored = self.chooser.d.restored
        return self.planned(Decisions(self.fn, True, self.forwarding, restored=restored), worth)

    def planned(self, decisions: Decisions, worth: Mapping[str, float]) -> Chooser:
        fn = decisions.fn
        names = Names.of(fn)
        for callee in fn.callees:
            names.add(Names.of(callee))
        chooser = Chooser(decisions, "auto", names, self.costs, self.extents, worth)
        self.needed = needed_values(fn.body, decisions, names)
        chooser.run(self.needed)
        return chooser

    # -- values ------------------------------------------------------------------------------

    def bytes(self, value: Value, chooser: Chooser) -> int:
        if chooser.is_on_disk(value):
            return 0
        size = self.extents.bytes(value)
        if isinstance(value.type, Array) and not chooser.d.in_scope(value):
            size += 8 * value.type.rank
        return math.ceil(size * chooser.often(chooser.d.sites[value].region))

    @cached_property
    def uses(self) -> dict[Value, list[int]]:
        """Return at which positions values are recalled; trip counts where a loop is reversed."""
        decisions, found = self.chooser.d, dict[Value, list[int]]()
        for k, stmt in enumerate(self.positions):
            for each in walk((stmt,)):
                if isinstance(each, Recall):
                    found.setdefault(each.value, []).append(k)
                elif isinstance(each, Reverse):
                    trips = decisions.trips(each.loop, self.chooser.names)
                    if isinstance(trips, Value):
                        found.setdefault(trips, []).append(k)
        return found

    def _items(self) -> Iterator[tuple[Value, Item]]:
        chooser = self.chooser
        prices: dict[Value, Price] = {}
        waiting = list(dict.fromkeys(self.needed))
        seen = set(waiting)
        for value in waiting:
            price = chooser.price(value)
            if price is not None:
                prices[value] = price
                more = [need for need in price.inputs if need not in seen]
                seen.update(more)
                waiting += more
        # From the first to the last position at which a value is needed, or what needs it.
        span: dict[Value, tuple[int, int]] = {}
        reached = [(value, min(at), max(at)) for value, at in self.uses.items()]
        while reached:
            value, first, last = reached.pop()
            old = span.get(value, (first, last))
            new = min(first, old[0]), max(last, old[1])
            if value in prices and (value not in span or new != old):
                span[value] = new
                reached += [(need, *new) for need in prices[value].inputs]
        sites = chooser.d.sites
        prices = dict(sorted(prices.items(), key=lambda entry: sites[entry[0]].order))
        before: dict[Value, Sequence[Value]] = {}
        for loop in self.loops:
            loop.given = tuple(value for value in loop.given if value in prices)
            for value in prices:
                if self.inside(value, loop.stmt.label):
                    before[value] = (*before.get(value, ()), *loop.given)
        for value in list(_sorted(prices, before)):
            price, (first, last) = prices[value], span[value]
            size = self.bytes(value, chooser)
            again = price.again
            extra = None
            # Memory that an array is made in is that of the array.
            buffer = _is_buffer(chooser.stmt(value))
            if isinstance(value.type, Array) and not math.isinf(again) and not buffer:
                extra = Use(math.ceil(self.extents.bytes(value)), first, last)
            yield value, Item(value, size, price.keep, again, price.inputs, (0, last), extra)

    # -- loops -------------------------------------------------------------------------------

    def _loops(self) -> Iterator[_Loop]:
        if self.costs.offload:
            return  # what their iterations keep takes no memory
        decisions = self.chooser.d
        reverses = {s.loop: s for s in walk(self.fn.body) if isinstance(s, Reverse)}
        outer = {
            label: stmt
            for label, stmt in decisions.loops.items()
            if label in reverses and not decisions.parents[label][0] and _can(self.fn, stmt)
        }

        @functools.cache
        def priced(worth: float) -> Chooser:
            return self.chosen(dict.fromkeys(outer, worth or _NEXT_TO_NOTHING))

        for label, stmt in outer.items():
            trips = int(self.extents.trips(stmt))
            if trips < 2:
                continue
            reduced, _ = needed(stmt, reverses[label])
            at = [stmt.body.params.index(param) for param in reduced.body.params]
            # With how far the sweep has got, and how far it goes.
            state = 16 + sum(self.state(stmt.init[k]) for k in at)
            again = sum(map(self.chooser.work, reduced.body.stmts)) + self.costs.loop
            given = tuple(sorted(block_reads(reduced.body), key=lambda value: value.name))
            loop = _Loop(stmt, trips, state, again, self.last(label), given)
            for worth in _WORTH:
                leaf = self.leaf(loop, worth, priced(worth))
                if all(leaf.kept < other.kept for other in loop.leaves):
                    loop.leaves.append(leaf)
                if trips * leaf.kept <= state and isinstance(stmt, For):
                    break
            # Checkpoints must save more than they take, of what iterations cannot do without.
            kept, least = loop.leaves[0].kept, loop.leaves[-1].kept
            saves = least > 0 and trips * kept - least > state
            if saves or (kept and isinstance(stmt, While)):
                yield loop

    def members(self, loop: _Loop) -> list[Value]:
        """Return the values of the program that belong to iterations of a loop."""
        return [value for value in self.items if self.inside(value, loop.stmt.label)]

    def state(self, start: Operand) -> int:
        if isinstance(start, Value) and isinstance(start.type, Array):
            return math.ceil(self.extents.bytes(start)) + 8 * start.type.rank
        return 8

    def last(self, label: str) -> int:
        return max(
            position
            for position, stmt in enumerate(self.positions)
            if any(isinstance(s, Reverse) and s.loop == label for s in walk((stmt,)))
        )

    def inside(self, value: Value, label: str) -> bool:
        """Whether a value belongs to iterations of a loop."""
        region = self.chooser.d.sites[value].region
        while region and region != label:
            region = self.chooser.d.parents[region][0]
        return region == label

    def leaf(self, loop: _Loop, worth: float, chooser: Chooser) -> _Leaf:
        """Return what iterations keep by a plan in which a byte is worth so much."""
        label = loop.stmt.label
        tape, seconds = 0, 0.0
        for value, decision in chooser.d.made.items():
            if not self.inside(value, label):
                continue
            often = chooser.often(chooser.d.sites[value].region)
            if decision.kind == KEPT:
                tape += self.bytes(value, chooser)
                held = self.extents.bytes(value) * chooser.worth_of(chooser.d.sites[value].region)
                seconds += often * (chooser.keeping(value) - held)
            else:
                seconds += often * chooser.seconds(value)
        return _Leaf(worth, math.ceil(tape / loop.trips), seconds / loop.trips)

    def options(self, loop: _Loop) -> Iterator[Option]:
        if isinstance(loop.stmt, For):
            # How much a `while` loop keeps that is not checkpointed, only a run can tell.
            yield Option("plain")
        inner = self.members(loop)
        for leaf in loop.leaves:
            least = loop.least(leaf)
            rooms = [least]
            while rooms[-1] < loop.often * leaf.tape:
                rooms.append(math.ceil(rooms[-1] / _SHRINK))
            rooms[-1] = max(least, min(rooms[-1], loop.often * leaf.tape))
            for room in rooms:
                held = (Use(room, 0, loop.last),)
                seconds = loop.seconds(leaf, room)
                waiting = (Use(loop.waiting(leaf, room), loop.last, loop.last),)
                yield Option((leaf.worth, room), held, waiting, seconds, inner, loop.given)

    # -- plans -------------------------------------------------------------------------------

    @cached_property
    def problem(self) -> Problem:
        groups = [Group(loop.stmt.label, list(self.options(loop))) for loop in self.loops]
        wanted = [value for value in dict.fromkeys(self.needed) if value in self.items]
        positions = max(len(self.positions), 1)
        return Problem(list(self.items.values()), wanted, groups, (), positions)

    def orders(self, solution: Solution, rooms: Mapping[str, int]) -> Orders:
        """Return what a solution tells `remat`, with the rooms of some loops."""
        name = self.fn.name
        loops, worth, covered = [], [], set[str]()
        for loop in self.loops:
            label = loop.stmt.label
            leaf, room = loop.chosen(solution)
            if leaf is None:
                continue
            room = rooms.get(label, room)
            loops.append((name, label, loop.schedule(leaf, room)))
            worth.append((name, label, leaf.worth or _NEXT_TO_NOTHING))
            covered.add(label)
        kept = tuple(
            (name, value.name, value in solution.keep)
            for value in self.items
            if value in solution.keep | solution.again
            if not any(self.inside(value, label) for label in covered)
        )
        return Orders(tuple(loops), tuple(worth), kept)

    def loop_plans(self, orders: Orders) -> Iterator[LoopPlan]:
        """Yield what a plan says of the loops that are checkpointed."""
        schedules = {label: schedule for _, label, schedule in orders.loops}
        for loop in self.loops:
            label = loop.stmt.label
            if label not in schedules:
                continue
            own = schedules[label]
            if own.slots:
                yield _online(loop.stmt, own)
                continue
            how = loop.trips, own.room, own.state, own.tape, own.most
            whole = reversal(*how)
            snapshots = reversal(*how, 1, 0).peak
            leaf = reversal(*how, 0, 1).peak
            reason = (
                f"{loop.trips} iterations, {whole.plain} run again; {snapshots} snapshots, leaves "
                f"of up to {leaf}"
            )
            entry = PlanEntry.at(loop.stmt.loc, label, CHECKPOINTED, str(whole.peak), reason)
            yield LoopPlan(entry, loop.trips, whole.plain, snapshots, leaf, whole.peak)

    @property
    def all_counted(self) -> bool:
        """Whether only counted loops can be checkpointed."""
        return all(isinstance(loop.stmt, For) for loop in self.loops)

    # -- straight-line code ------------------------------------------------------------------

    @cached_property
    def straight(self) -> list[Value]:
        """The arrays outside of loops that are computed from other arrays of their kind."""

        sites = self.chooser.d.sites
        found: set[Key] = {
            value
            for value, item in self.items.items()
            if not sites[value].region and item.extra is not None and item.again > 0.0
        }
        return [v for v in self.items if v in found and not found.isdisjoint(self.items[v].inputs)]

    def segments(self, like: Solution) -> Iterator[Solution]:
        """Yield plans that keep an array of straight-line code every so many bytes.

        Inside of loops they do what `like` does; loops run as they are.
        """
        if not self.all_counted:
            return
        own = set(self.straight)
        rest = {value for value in like.keep if value not in own}
        rest |= {value for value in self.items if math.isinf(self.items[value].again)}
        sizes = [self.items[value].bytes for value in self.straight]
        length = sum(sizes)
        while length > max(sizes, default=0) > 0:
            kept, since = set(rest), 0
            for value, size in zip(self.straight, sizes, strict=True):
                since += size
                if since > length:
                    kept.add(value)
                    since = 0
            yield self.simulated(kept)
            length = int(length * _SHRINK)
        if len(own) > 1:
            yield self.simulated(rest | own)

    def improved(self, plan: Solution, room: int) -> Solution:
        """Return a plan that keeps more arrays of straight-line code, where that fits."""
        items = self.items

        def worth(value: Value) -> float:
            return items[value].again / max(items[value].bytes, 1)

        order = sorted(self.straight, key=worth, reverse=True)
        trials = iter(range(_TRIALS // max(len(items), 1)))
        better = True
        while better:
            better = False
            for value, _ in zip(order, trials, strict=False):
                more = self.simulated({*plan.keep, value})
                if more.peak <= room and more.seconds < plan.seconds:
                    plan, better = more, True
        return plan

    def simulated(self, keep: Collection[Key]) -> Solution:
        """Return the plan that keeps some items, with its peak as values are computed in time."""
        first: dict[Key, int] = {}
        last: dict[Key, int] = {}
        items: Mapping[Key, Item] = self.items  # type: ignore[assignment]  # keys are values
        order: list[tuple[int, Value]] = [(k, v) for v, at in self.uses.items() for k in at]
        seen: set[tuple[int, Key]] = set()
        for position, recalled in sorted(order, key=lambda use: use[0]):
            stack: list[tuple[Key, bool]] = [(recalled, False)]
            while stack:
                value, ready = stack.pop()
                item = items.get(value)
                if item is None or (not ready and (position, value) in seen):
                    continue
                seen.add((position, value))
                last[value] = position
                if value in first and item.extra is not None:
                    continue
                if ready or value in keep:
                    first.setdefault(value, 0 if value in keep else position)
                elif not ready:
                    stack.append((value, True))
                    stack += [(need, False) for need in item.inputs]
        change = [0] * (len(self.positions) + 2)
        seconds = 0.0
        for value, start in first.items():
            item = items[value]
            kept = value in keep
            seconds += item.keep if kept else item.again
            extra = item.extra.bytes if item.extra else 0
            change[start] += item.bytes if kept else extra
            change[last[value] + 1] -= item.bytes if kept else extra
        kept_ones = frozenset(value for value in first if value in keep)
        again = frozenset(value for value in first if value not in keep)
        plain: dict[Key, Key] = {loop.stmt.label: "plain" for loop in self.loops}
        peak = max(itertools.accumulate(change))
        return Solution(kept_ones, again, plain, seconds, 0.0, 0.0, peak)


def _positions(fn: Function) -> list[Stmt]:
    """Return the statements outside of loops that hold reverse code, in the order they run."""
    return [s for s in fn.body if any(isinstance(i, Recall | Reverse) for i in walk((s,)))]


def _is_buffer(stmt: Stmt | None) -> bool:
    return isinstance(stmt, Apply) and stmt.op.name in ("empty", "full", "undef")


def _can(fn: Function, loop: For | While) -> bool:
    if isinstance(loop, For):
        return can_checkpoint(fn, fn.name, loop)
    return can_checkpoint_online(fn, fn.name, loop)


def _online(loop: For | While, own: Schedule) -> LoopPlan:
    """Return what a plan says of a loop whose number of iterations only a run can tell."""
    reason = f"up to {own.slots} snapshots while it runs, one every {own.unit} iterations or more"
    size = own.room + own.slots * (own.state + 16)
    entry = PlanEntry.at(loop.loc, loop.label, CHECKPOINTED, str(size), reason)
    return LoopPlan(entry, None, None, own.slots, None, size)


def _sorted(prices: dict[Value, Price], before: Mapping[Value, Sequence[Value]]) -> Iterator[Value]:
    """Yield values after those that they are computed from, and those that come `before` them.

    What would be computed from itself, by a load from a later version of an array, is to be kept.
    """
    done: set[Value] = set()
    open_: set[Value] = set()
    for root in list(prices):
        stack: list[tuple[Value, Iterator[Value] | None]] = [(root, None)]
        while stack:
            value, rest = stack.pop()
            if rest is None:
                if value in done or value not in prices:
                    continue
                open_.add(value)
                rest = iter((*before.get(value, ()), *prices[value].inputs))
            for need in rest:
                if need in open_:
                    prices[value] = replace(prices[value], again=math.inf, inputs=())
                elif need in prices and need not in done:
                    stack += [(value, rest), (need, None)]
                    break
            else:
                open_.discard(value)
                done.add(value)
                yield value


def _solved(problem: Problem, room: int) -> Solution:
    """Return the fastest plan for a room, or the lightest one if none fits."""
    try:
        return solve(problem, room, _GAP)
    except Infeasible as error:
        found = error.solution
    assert isinstance(found, Solution)
    return found


class Planner:
    """Plans of one function, with Recalls, for any budget.

    `attempt` carries orders out and returns the peak, `inf` if only a run can tell. A plan depends
    on the budget alone, not on what was asked for before.
    """

    def __init__(
        self, fn: Function, costs: Costs, known: Known, attempt: Callable[[Orders], float]
    ) -> None:
        self.attempt = functools.cache(attempt)
        self.inputs = fn, costs, known
        self.candidates: dict[int, Solution] = {}

    @cached_property
    def model(self) -> Model:
        return Model(*self.inputs)

    @property
    def fastest(self) -> float:
        """The peak of the plan that is made without a budget."""
        return self.attempt(NO_ORDERS)

    @cached_property
    def free(self) -> Solution:
        """The plan that is made where there is room for all that plans may hold."""
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
        """The plan with the least peak, as far as the integer program can tell."""
        return _solved(self.model.problem, 0)

    @cached_property
    def segments(self) -> list[Solution]:
        return list(self.model.segments(self.lightest))

    @cached_property
    def rooms(self) -> list[int]:
        """What plans are made for, the largest first."""
        least = min(plan.peak for plan in (self.lightest, *self.segments))
        found = [self.free.peak]
        while found[-1] > max(least, 1):
            found.append(max(int(found[-1] * _STEP), least))
        return found

    @cached_property
    def fixed(self) -> int:
        """The bytes that any plan holds beyond what the program knows of."""
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
        """Return the least that any plan costs within a room."""
        problem = self.model.problem
        if self.segments:
            # As if what is computed again in time took no memory.
            items = [replace(item, extra=None) for item in problem.items]
            problem = replace(problem, items=items)
        # The relaxation takes parts of options of loops, and is far off.
        return _solved(problem, room).bound if problem.groups else bound(problem, room)

    @cached_property
    def smallest(self) -> list[int]:
        """The smallest rooms, up to where larger ones no longer have plans with a lower peak."""
        found: list[int] = []
        lowest, since = math.inf, 0
        for room in reversed(self.rooms):
            found.insert(0, room)
            peak = self.peak(room)
            since = 0 if peak < lowest else since + 1
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
        """A budget that is enough for the fastest plan that is known to have a peak."""
        known = (self.peak(room) for room in self.rooms)
        if math.isinf(self.fastest):
            return next((peak for peak in known if not math.isinf(peak)), math.inf)
        return self.fastest

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
        found: list[Budgeted] = []
        for room in self.fitting(budget):
            plan = self.candidate(room)
            found.append(self.refined(plan, budget))
            # A plan whose loops keep less of each iteration may be the faster one.
            for other in self.siblings(plan):
                best = min(each.seconds for each in found)
                if self.hoped(other, budget) < best and self.fits(other, budget):
                    found.append(self.refined(other, budget))
        if found:
            return min(found, key=lambda each: each.seconds)
        raise OverBudget(budget, None if math.isinf(self.least) else int(self.least))

    def fitting(self, budget: int) -> Iterator[int]:
        """Yield rooms whose plans fit in a budget, the fastest plan first."""
        first = self.first(budget)
        if first is None:
            yield from [room for room in self.smallest if self.peak(room) <= budget][:1]
            return
        yield self.rooms[first]
        # With what is left over for loops, a plan for less room may be the faster one.
        most, count = self.candidate(self.rooms[first]).peak, 1
        for room in self.rooms[first + 1 :] if self.model.loops else ():
            if count == _FITTING:
                break
            if room < most and self.peak(room) <= budget:
                count += 1
                yield room

    def first(self, budget: int) -> int | None:
        """Return the number of the largest room whose plan fits, as far as is looked at.

        A plan for a smaller room may need more. Where not all are looked at, they are by bisection:
        of two budgets the larger one comes at least as far up at every step. So it never gets a
        slower plan.
        """

        def fits(k: int) -> bool:
            return self.peak(self.rooms[k]) <= budget

        def should_fit(k: int) -> bool:
            expected = self.candidate(self.rooms[k]).peak + self.fixed
            return fits(k) if 1.0 / _FAR < expected / budget < _FAR else expected < budget

        # To carry a plan out takes much longer than to make it.
        found = self.search(should_fit)
        return found if found is not None and fits(found) else self.search(fits)

    def search(self, fits: Callable[[int], bool]) -> int | None:
        if len(self.model.items) <= _SMALL and self.model.all_counted:
            return next(filter(fits, range(len(self.rooms))), None)
        low, high = 0, len(self.rooms)
        while low < high:
            middle = (low + high) // 2
            if fits(middle):
                high = middle
            else:
                low = middle + 1
        return None if high == len(self.rooms) else high

    def refined(self, solution: Solution, budget: int) -> Budgeted:
        """Return a plan whose checkpointed loops have what is left over of a budget."""
        rooms: dict[str, int] = {}
        seconds = solution.seconds
        for _ in range(_REFINEMENTS):
            spare = budget - int(self.attempt(self.model.orders(solution, rooms)))
            tried = self.gains(solution, rooms, spare)
            fits = (
                (gain, more)
                for gain, more in sorted(tried, key=lambda each: -each[0])
                if self.attempt(self.model.orders(solution, more)) <= budget
            )
            gain, more = next(fits, (0.0, rooms))
            if gain <= 0.0:
                break
            rooms, seconds = more, seconds - gain
        orders = self.model.orders(solution, rooms)
        extra = max(seconds - self.free.seconds, 0.0)
        least = self.bound(max(budget - self.fixed, 0)) - self.free.seconds
        loops = tuple(self.model.loop_plans(orders))
        peak = int(self.attempt(orders))
        return Budgeted(orders, peak, extra, min(max(least, 0.0), extra), loops)

    def fits(self, solution: Solution, budget: int) -> bool:
        return self.attempt(self.model.orders(solution, {})) <= budget

    def siblings(self, solution: Solution) -> Iterator[Solution]:
        """Yield plans one of whose checkpointed loops keeps other values, in the same room."""
        for loop in self.model.loops:
            leaf, room = loop.chosen(solution)
            for other in loop.leaves if leaf is not None else ():
                if other is leaf or loop.least(other) > room:
                    continue
                assert leaf is not None
                more = loop.seconds(other, room) - loop.seconds(leaf, room)
                options = {**solution.options, loop.stmt.label: (other.worth, room)}
                yield replace(solution, options=options, seconds=solution.seconds + more)

    def hoped(self, solution: Solution, budget: int) -> float:
        """Return what a plan would cost beyond the fastest if its loops had all of a budget."""
        seconds = solution.seconds - self.free.seconds
        for loop in self.model.loops:
            leaf, room = loop.chosen(solution)
            if leaf is not None:
                most = max(budget - self.fixed, room)
                seconds += loop.seconds(leaf, most) - loop.seconds(leaf, room)
        return seconds

    def gains(
        self, solution: Solution, rooms: Mapping[str, int], spare: int
    ) -> Iterator[tuple[float, dict[str, int]]]:
        """Yield what is won if a checkpointed loop has more room, and the rooms then."""
        for loop in self.model.loops:
            leaf, room = loop.chosen(solution)
            if leaf is None:
                continue
            label = loop.stmt.label
            room = rooms.get(label, room)
            now = loop.seconds(leaf, room)
            for part in range(_PARTS, 0, -1):
                larger = room + spare * part // _PARTS
                gain = now - loop.seconds(leaf, larger)
                if gain > 0.0:
                    yield gain, {**rooms, label: larger}


class OverBudget(Exception):
    """No plan fits; `least` is the least peak that was found, None if only a run can tell."""

    def __init__(self, budget: int, least: int | None) -> None:
        super().__init__(budget, least)
        self.budget = budget
        self.least = least
