"""The plan for a number of bytes: what `remat` is told to keep, to recompute and to checkpoint.

For sizes of arguments that are known, the forward values that reverse code needs, and the loops
that could be checkpointed, make an integer program (`budget`). Its solution is carried out, and the
peak of what became of it is computed exactly (`peak`); what the program did not know of, cotangents
and temporary arrays, is then taken off the budget, until the plan fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.core import For, Function, Operand, Recall, Reverse, Stmt, Value, While, walk
from adc.ir.schedule import online_steps, plain_steps
from adc.ir.types import Array
from adc.ir.walk import Names, block_reads
from adc.passes.budget import Group, Infeasible, Item, Option, Problem, Solution, Use, solve
from adc.passes.checkpoint import Schedule, can_checkpoint
from adc.passes.costs import Costs
from adc.passes.extents import Extents, Known
from adc.passes.forwarding import Forwarding
from adc.passes.online import can_checkpoint_online
from adc.passes.plan import KEPT
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
# More than nothing: what is not decided about without a budget is decided about.
_NEXT_TO_NOTHING = 1e-30
# Checkpointed loops are offered room that is smaller by this factor each time, so many times.
_SHRINK, _ROOMS = 0.75, 12
# What does not fit is tried again with so much less at least: bytes come in chunks.
_TIGHTEN = 0.96
# Plans that are carried out before the search ends.
_TRIES = 8


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
    """

    orders: Orders
    peak: int
    seconds: float
    bound: float


@dataclass
class _Leaf:
    """What iterations of a loop keep, and what that costs, under one price of bytes."""

    worth: float
    tape: int
    seconds: float


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
        size = self.extents.bytes(value)
        if isinstance(value.type, Array) and not chooser.d.in_scope(value):
            size += 8 * value.type.rank
        return math.ceil(size * chooser.often(chooser.d.sites[value].region))

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
        reached = [(value, min(at), max(at)) for value, at in self.uses().items()]
        while reached:
            value, first, last = reached.pop()
            old = span.get(value, (first, last))
            new = min(first, old[0]), max(last, old[1])
            if value in prices and (value not in span or new != old):
                span[value] = new
                reached += [(need, *new) for need in prices[value].inputs]
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
            if isinstance(value.type, Array) and not math.isinf(again):
                extra = Use(math.ceil(self.extents.bytes(value)), first, last)
            yield value, Item(value, size, price.keep, again, price.inputs, (0, last), extra)

    # -- loops -------------------------------------------------------------------------------

    def _loops(self) -> Iterator[_Loop]:
        decisions = self.chooser.d
        reverses = {s.loop: s for s in walk(self.fn.body) if isinstance(s, Reverse)}
        for label, stmt in decisions.loops.items():
            reverse = reverses.get(label)
            if decisions.parents[label][0] or reverse is None:
                continue
            if not _can(self.fn, stmt):
                continue
            trips = int(self.extents.trips(stmt))
            if trips < 2:
                continue
            reduced, _ = needed(stmt, reverse)
            at = [stmt.body.params.index(param) for param in reduced.body.params]
            # With how far the sweep has got, and how far it goes.
            state = 16 + sum(self.state(stmt.init[k]) for k in at)
            again = sum(map(self.chooser.work, reduced.body.stmts)) + self.costs.loop
            given = tuple(sorted(block_reads(reduced.body), key=lambda value: value.name))
            loop = _Loop(stmt, trips, state, again, self.last(label), given)
            for worth in _WORTH:
                leaf = self.leaf(loop, worth)
                if all(leaf.tape < other.tape for other in loop.leaves):
                    loop.leaves.append(leaf)
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

    def leaf(self, loop: _Loop, worth: float) -> _Leaf:
        """Return what iterations keep if a byte is worth so much."""
        label = loop.stmt.label
        chooser = self.chosen({label: worth or _NEXT_TO_NOTHING})
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
        return _Leaf(worth, max(math.ceil(tape / loop.trips), 1), seconds / loop.trips)

    def options(self, loop: _Loop, budget: int) -> Iterator[Option]:
        if isinstance(loop.stmt, For):
            yield Option("plain")
        inner = self.members(loop)
        for leaf in loop.leaves:
            least = self.least(loop, leaf)
            room = max(min(budget, loop.trips * leaf.tape), least)
            for _ in range(_ROOMS):
                schedule = self.schedule(loop, leaf, room)
                if schedule.slots:
                    units = -(-loop.trips // schedule.unit)
                    steps = schedule.unit * online_steps(units, schedule.slots)
                else:
                    steps = plain_steps(loop.trips, room, loop.state, leaf.tape, 0)
                seconds = steps * loop.again + loop.trips * leaf.seconds
                held = (Use(room, 0, loop.last),)
                yield Option((leaf.worth, room), held, (), seconds, inner, loop.given)
                if room == least:
                    break
                room = max(int(room * _SHRINK), least)

    def least(self, loop: _Loop, leaf: _Leaf) -> int:
        """Return the fewest bytes that a checkpointed loop can do with."""
        least = loop.state + leaf.tape
        return least if isinstance(loop.stmt, For) else least + loop.state + 16

    def schedule(self, loop: _Loop, leaf: _Leaf, room: int) -> Schedule:
        """Return how a loop runs that may hold so many bytes."""
        if isinstance(loop.stmt, For):
            return Schedule(room, leaf.tape, 0, loop.state)
        slots = max(min(room // 3 // (loop.state + 16), _SLOTS), 1)
        rest = room - slots * (loop.state + 16)
        unit = max(1, (rest - loop.state) // leaf.tape // 2)
        return Schedule(rest, leaf.tape, 0, max(loop.state, 2), slots, unit)

    # -- plans -------------------------------------------------------------------------------

    def problem(self, budget: int) -> Problem:
        groups = [Group(loop.stmt.label, list(self.options(loop, budget))) for loop in self.loops]
        wanted = [value for value in dict.fromkeys(self.needed) if value in self.items]
        positions = max(len(self.positions), 1)
        return Problem(list(self.items.values()), wanted, groups, (), positions)

    def orders(self, solution: Solution) -> Orders:
        """Return what a solution tells `remat`."""
        name = self.fn.name
        loops, worth, covered = [], [], set[str]()
        for loop in self.loops:
            label = loop.stmt.label
            chosen = solution.options[label]
            if chosen == "plain":
                continue
            assert isinstance(chosen, tuple)
            price, room = chosen
            (leaf,) = (each for each in loop.leaves if each.worth == price)
            loops.append((name, label, self.schedule(loop, leaf, room)))
            worth.append((name, label, price or _NEXT_TO_NOTHING))
            covered.add(label)
        kept = tuple(
            (name, value.name, value in solution.keep)
            for value in self.items
            if value in solution.keep | solution.again
            if not any(self.inside(value, label) for label in covered)
        )
        return Orders(tuple(loops), tuple(worth), kept)


def _can(fn: Function, loop: For | While) -> bool:
    if isinstance(loop, For):
        return can_checkpoint(fn, fn.name, loop)
    return can_checkpoint_online(fn, fn.name, loop)


def _positions(fn: Function) -> list[Stmt]:
    """Return the statements outside of loops that hold reverse code, in the order they run."""
    return [s for s in fn.body if any(isinstance(i, Recall | Reverse) for i in walk((s,)))]


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


def fitted(
    fn: Function,
    budget: int,
    costs: Costs,
    known: Known,
    attempt: Callable[[Orders], int | None],
) -> Budgeted:
    """Return the fastest plan found for `fn`, with Recalls, that holds at most `budget` bytes.

    `attempt` carries orders out and returns the peak; None if only a run can tell.

    Raises
    ------
    Infeasible
        Naming the least peak, if no plan fits.
    """
    fastest = attempt(NO_ORDERS)
    if fastest is not None and fastest <= budget:
        return Budgeted(NO_ORDERS, fastest, 0.0, 0.0)
    model = Model(fn, costs, known)
    room, free = budget, None
    if fastest is not None:
        # What there is besides what the program decides about.
        free = solve(model.problem(fastest), 2 * fastest)
        room = budget - max(fastest - free.peak, 0)
    least = fastest
    for _ in range(_TRIES):
        problem = model.problem(max(room, 0))
        lightest = False
        try:
            solution = solve(problem, max(room, 0))
        except Infeasible as error:
            solution, lightest = error.solution, True  # type: ignore[assignment]  # of a Problem
        orders = model.orders(solution)
        peak = attempt(orders)
        if peak is None:
            break
        least = peak if least is None else min(least, peak)
        if peak <= budget:
            spent, bound = (0.0, 0.0) if free is None else (free.seconds, free.bound)
            extra = solution.seconds - spent
            return Budgeted(orders, peak, extra, max(solution.bound - bound, 0.0))
        if lightest:
            break
        # Less room may take more of what is not decided about.
        room = min(max(room - (peak - budget), room // 2), int(room * _TIGHTEN))
    raise OverBudget(least)


class OverBudget(Exception):
    """No plan fits; `least` is the least peak that was found, None if only runs can tell them."""

    def __init__(self, least: int | None) -> None:
        super().__init__(least)
        self.least = least
