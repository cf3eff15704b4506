"""The integer program of a function: what to keep, and which loops to checkpoint.

The forward values that reverse code needs are its items, the loops that can be checkpointed its
groups, with memory sizes as options (`budget.loops`); a solution becomes orders to `remat`.

Straight-line code that is recomputed just in time holds its results only from there on. The program
counts such arrays as if all were recomputed at once, so `Model.segments` adds plans of another
kind: an array is kept every so many bytes, as in T. Chen et al., "Training deep nets with sublinear
memory cost", 2016.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from adc.ir.analysis.costs import Costs
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.sizes.extents import Extents, Known
from adc.ir.core import Apply, For, Function, Operand, Recall, Reverse, Stmt, Value, While, walk
from adc.ir.types import Array
from adc.ir.walk import Names, block_reads, loop_values
from adc.passes.loops.state import needed, outside
from adc.passes.remat.budget.loops import Leaf, Loop, Run, can_run_in_parts
from adc.passes.remat.budget.program import Candidate, Group, Key, Option, Problem, Solution, Use
from adc.passes.remat.choose import Chooser
from adc.passes.remat.cut import Price
from adc.passes.remat.facts import Decisions, Orders, Restored, needed_values
from adc.passes.remat.plan import KEPT
from adc.passes.remat.record import acting, recordable, without
from adc.passes.remat.undo import undone

# Prices of a byte that leaves of checkpointed loops are planned for: the fastest plan, only
# expensive values stored, or as little as possible.
_WORTH = (0.0, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6)
# More than zero, so that values which a plan without a budget does not consider are decided, too.
_NEXT_TO_NOTHING = 1e-30
# Inner loops are worth checkpointing if they hold more than this share of what loops hold.
_NOTABLE = 0.1
# Each memory size offered to a checkpointed loop is smaller by this factor.
_SHRINK = 0.8
# How often plans in segments are improved for one value; less often for many, in proportion.
_TRIALS = 20_000


class Model:
    """The integer program of one function with Recalls, for sizes of its arguments."""

    def __init__(self, fn: Function, costs: Costs, known: Known, offload: bool = False) -> None:
        self.costs = costs
        self.offload = offload
        self.extents = Extents(fn, known)
        self.needed: list[Value] = []
        self.fn, self.chooser = undone(fn, self.undoing)
        self.forwarding = self.chooser.d.forwarding
        self.needed = needed_values(self.fn.body, self.chooser.d, self.chooser.names)
        self.positions = _positions(self.fn)
        self.loops = list(self._loops())
        self.items = dict(self._items())
        self.loops = [loop for loop in self.loops if self.members(loop)]

    def undoing(self, fn: Function, restored: Restored, known: Forwarding | None) -> Chooser:
        decisions = Decisions(fn, True, known or Forwarding(fn), restored=restored)
        return self.planned(decisions, {"": _NEXT_TO_NOTHING})

    def chosen(self, worth: Mapping[str, float]) -> Chooser:
        """Return the decisions if a byte that is not held is worth so many seconds."""
        restored = self.chooser.d.restored
        return self.planned(Decisions(self.fn, True, self.forwarding, restored=restored), worth)

    def planned(self, decisions: Decisions, worth: Mapping[str, float]) -> Chooser:
        fn = decisions.fn
        names = Names.of(fn)
        for callee in fn.callees:
            names.add(Names.of(callee))
        chooser = Chooser(
            decisions, "auto", names, self.costs, self.extents, worth, offload=self.offload
        )
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
        """Return the positions at which values are recalled, and trip counts needed."""
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

    def _items(self) -> Iterator[tuple[Value, Candidate]]:
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
        # From the first to the last position at which a value, or one computed from it, is needed.
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
                if self.chooser.d.is_within(value, loop.stmt.label):
                    before[value] = (*before.get(value, ()), *loop.given)
        for value in list(_sorted(prices, before)):
            price, (first, last) = prices[value], span[value]
            size = self.bytes(value, chooser)
            recompute = price.recompute
            extra = None
            # An array and the allocation that it is created in share memory.
            buffer = _is_buffer(chooser.stmt(value))
            if isinstance(value.type, Array) and not math.isinf(recompute) and not buffer:
                extra = Use(math.ceil(self.extents.bytes(value)), first, last)
            yield (
                value,
                Candidate(value, size, price.keep, recompute, price.inputs, (0, last), extra),
            )

    # -- loops -------------------------------------------------------------------------------

    @cached_property
    def acting(self) -> frozenset[str]:
        return acting(self.fn)

    def _loops(self) -> Iterator[Loop]:
        """Yield the loops that can be checkpointed, inner ones first."""
        if self.offload:
            return  # what their iterations store takes no memory
        decisions = self.chooser.d
        reverses = {s.loop: s for s in walk(self.fn.body) if isinstance(s, Reverse)}
        able = [
            label
            for label, stmt in decisions.loops.items()
            if label in reverses and can_run_in_parts(self.fn, stmt) and self.is_counted(label)
        ]

        @functools.cache
        def priced(worth: float) -> Chooser:
            return self.chosen(dict.fromkeys(able, worth or _NEXT_TO_NOTHING))

        found: dict[str, Loop] = {}
        if not able:
            return
        plan = priced(0.0)
        held = sum(
            self.bytes(value, plan)
            for value, decision in plan.d.made.items()
            if decision.kind == KEPT and plan.d.sites[value].region
        )
        # Inner loops come later there.
        for label in reversed(able):
            loop = self.loop(decisions.loops[label], reverses[label], found)
            if loop.trips < 2:
                continue
            self.add_leaves(loop, priced)
            size = loop.entries * loop.trips * loop.leaves[0].kept
            # A loop that carries nothing need not be recomputed as a whole: its values are, singly.
            inside = loop.entries > 1 and (size < _NOTABLE * held or not loop.carries)
            if loop.saves and not inside:
                found[label] = loop
        in_order = list(found.values())[::-1]
        yield from sorted(in_order, key=lambda loop: -self.depth(loop.stmt.label))

    def is_counted(self, label: str) -> bool:
        """Whether the trip count of an inner loop is known."""
        loop, (region, _) = self.chooser.d.loops[label], self.chooser.d.parents[label]
        return not region or (isinstance(loop, For) and self.extents.number(loop.trips) is not None)

    def depth(self, label: str) -> int:
        """Return the nesting depth of a loop."""
        region, _ = self.chooser.d.parents[label]
        return 1 + self.depth(region) if region else 0

    def loop(self, stmt: For | While, reverse: Reverse, known: Mapping[str, Loop]) -> Loop:
        """Return a loop, without leaves."""
        reduced, backward = needed(without(stmt, self.acting), reverse)
        at = [stmt.body.params.index(param) for param in reduced.body.params]
        # Including the sweep's counters: how far it is, and how far it goes.
        state = 16 + sum(self.state(stmt.init[k]) for k in at)
        recompute = sum(map(self.chooser.work, reduced.body.stmts)) + self.costs.loop
        # What the iterations find outside is recorded, not found again.
        found = loop_values(stmt) - loop_values(reduced)
        given = tuple(sorted(block_reads(reduced.body) - found, key=lambda value: value.name))
        results = (recordable(self.fn, self.fn.name, stmt) or {}) if found else {}
        record = sum(
            math.ceil(self.extents.bytes(value))
            for value in outside(reduced, backward)[0]
            if value in results
        )
        region, _ = self.chooser.d.parents[stmt.label]
        entries = max(int(self.chooser.often(region)), 1)
        inside = [each for label, each in known.items() if self.within(label, stmt.label)]
        inner = [
            each
            for each in inside
            if not any(self.within(each.stmt.label, other.stmt.label) for other in inside)
        ]
        trips = int(self.extents.trips(stmt))
        last = self.last(stmt.label)
        return Loop(
            stmt, trips, entries, bool(at), state, recompute, last, given, inner, trips * record
        )

    def add_leaves(self, loop: Loop, priced: Callable[[float], Chooser]) -> None:
        """Find what iterations of a loop may store."""
        for worth in _WORTH:
            leaf = self.leaf(loop, worth, priced(worth))
            if all(leaf.kept < other.kept for other in loop.leaves):
                loop.leaves.append(leaf)
            if loop.trips * leaf.kept <= loop.state and isinstance(loop.stmt, For):
                break
        leaves = [leaf for each in loop.leaves for leaf in self.composed(loop, each.worth, priced)]
        if leaves:
            leaves = sorted((*loop.leaves, *leaves), key=lambda leaf: (leaf.kept, leaf.seconds))
            # Only leaves faster than all that store less.
            least = itertools.accumulate((leaf.seconds for leaf in leaves), min, initial=math.inf)
            front = [leaf for leaf, best in zip(leaves, least, strict=False) if leaf.seconds < best]
            loop.leaves = front[::-1]

    def composed(
        self, loop: Loop, worth: float, priced: Callable[[float], Chooser]
    ) -> Iterator[Leaf]:
        """Yield leaves of iterations in which loops are checkpointed, with decreasing memory."""
        sizes = [each.trips * each.leaves[0].kept for each in loop.inner]
        runs: tuple[Run, ...] = ()
        while loop.inner:
            sizes = [int(size * _SHRINK**2) for size in sizes]
            before = runs
            runs = tuple(
                each.fastest(size, worth) for each, size in zip(loop.inner, sizes, strict=True)
            )
            if runs == before:
                return
            yield self.leaf(loop, worth, priced(worth), runs)

    def members(self, loop: Loop) -> list[Value]:
        """Return the values of the program that belong to iterations of a loop."""
        return [value for value in self.items if self.chooser.d.is_within(value, loop.stmt.label)]

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

    def within(self, label: str, other: str) -> bool:
        """Whether a loop is inside of another one."""
        region, _ = self.chooser.d.parents[label]
        return region == other or (region != "" and self.within(region, other))

    def leaf(self, loop: Loop, worth: float, chooser: Chooser, inner: tuple[Run, ...] = ()) -> Leaf:
        """Return what iterations store by a plan in which a byte is worth so many seconds.

        `inner`: the checkpointed loops inside.
        """
        label = loop.stmt.label
        times = loop.entries * loop.trips
        tape, seconds = 0, 0.0
        for value, decision in chooser.d.made.items():
            if not self.chooser.d.is_within(value, label):
                continue
            if any(self.chooser.d.is_within(value, run.loop.stmt.label) for run in inner):
                continue
            often = chooser.often(chooser.d.sites[value].region)
            if decision.kind == KEPT:
                tape += self.bytes(value, chooser)
                held = self.extents.bytes(value) * chooser.worth_of(chooser.d.sites[value].region)
                seconds += often * (chooser.keeping(value) - held)
            else:
                seconds += often * chooser.seconds(value)
        kept = math.ceil(tape / times) + sum(run.room for run in inner)
        return Leaf(worth, kept, seconds / times + sum(run.seconds for run in inner), inner)

    def options(self, loop: Loop) -> Iterator[Option]:
        if isinstance(loop.stmt, For):
            # How much a `while` loop stores that is not checkpointed is known only at run time.
            yield Option("plain")
        members, times = self.members(loop), loop.entries
        for number, leaf in enumerate(loop.leaves):
            least = loop.least(leaf)
            rooms = [least]
            while rooms[-1] < loop.often * leaf.tape:
                rooms.append(math.ceil(rooms[-1] / _SHRINK))
            rooms[-1] = max(least, min(rooms[-1], loop.often * leaf.tape))
            for room in rooms:
                run = Run(loop, leaf, room)
                held = (Use(times * (room + loop.record), 0, loop.last),)
                waiting = (Use(run.waiting, loop.last, loop.last),)
                seconds = times * run.seconds
                yield Option((number, room), held, waiting, seconds, members, loop.given)

    # -- plans -------------------------------------------------------------------------------

    @cached_property
    def problem(self) -> Problem:
        groups = [Group(loop.stmt.label, list(self.options(loop))) for loop in self.loops]
        wanted = [value for value in dict.fromkeys(self.needed) if value in self.items]
        positions = max(len(self.positions), 1)
        return Problem(list(self.items.values()), wanted, groups, (), positions)

    def runs(self, solution: Solution, rooms: Mapping[str, int] | None = None) -> list[Run]:
        """Return the loops that a solution checkpoints, with the memory of some; outermost ones.

        Loops inside of these run as their leaves say.
        """
        found: list[Run] = []
        for loop in reversed(self.loops):  # outer ones come first
            label = loop.stmt.label
            run = loop.chosen(solution)
            if run is not None and not any(
                self.within(label, other.loop.stmt.label) for other in found
            ):
                found.append(run._replace(room=(rooms or {}).get(label, run.room)))
        return found[::-1]

    def kept(self, solution: Solution) -> int:
        """Return the bytes that a solution keeps, except those of loops that it checkpoints."""
        runs = self.runs(solution)
        return sum(
            item.bytes
            for value, item in self.items.items()
            if value in solution.keep
            if not any(self.chooser.d.is_within(value, run.loop.stmt.label) for run in runs)
        )

    def orders(self, solution: Solution, rooms: Mapping[str, int]) -> Orders:
        """Return the orders of a solution to `remat`, with the memory of some loops."""
        name = self.fn.name
        loops, worth, covered = [], [], set[str]()
        for outermost in self.runs(solution, rooms):
            price = outermost.leaf.worth or _NEXT_TO_NOTHING
            for run in outermost.inside_out():
                label = run.loop.stmt.label
                loops.append((name, label, run.schedule))
                worth.append((name, label, price))
                covered.add(label)
        kept = tuple(
            (name, value.name, value in solution.keep)
            for value in self.items
            if value in solution.keep | solution.recompute
            if not any(self.chooser.d.is_within(value, label) for label in covered)
        )
        return Orders(tuple(loops), tuple(worth), kept)

    @property
    def all_counted(self) -> bool:
        """Whether only counted loops can be checkpointed."""
        return all(isinstance(loop.stmt, For) for loop in self.loops)

    # -- straight-line code ------------------------------------------------------------------

    @cached_property
    def straight(self) -> list[Value]:
        """The arrays outside of loops that are computed from other such arrays."""

        sites = self.chooser.d.sites
        found: set[Key] = {
            value
            for value, item in self.items.items()
            if not sites[value].region and item.extra is not None and item.recompute > 0.0
        }
        return [v for v in self.items if v in found and not found.isdisjoint(self.items[v].inputs)]

    def segments(self, like: Solution) -> Iterator[Solution]:
        """Yield plans that keep an array of straight-line code every so many bytes.

        Inside of loops they follow `like`; no loop is checkpointed.
        """
        if not self.all_counted:
            return
        own = set(self.straight)
        rest = {value for value in like.keep if value not in own}
        rest |= {value for value in self.items if math.isinf(self.items[value].recompute)}
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
        """Return a plan that keeps more arrays of straight-line code, where they fit."""
        items = self.items

        def worth(value: Value) -> float:
            return items[value].recompute / max(items[value].bytes, 1)

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
        """Return the plan that keeps some items, with its peak if values are recomputed in time."""
        first: dict[Key, int] = {}
        last: dict[Key, int] = {}
        items: Mapping[Key, Candidate] = self.items  # type: ignore[assignment]  # keys are values
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
            seconds += item.keep if kept else item.recompute
            extra = item.extra.bytes if item.extra else 0
            change[start] += item.bytes if kept else extra
            change[last[value] + 1] -= item.bytes if kept else extra
        kept_ones = frozenset(value for value in first if value in keep)
        recompute = frozenset(value for value in first if value not in keep)
        plain: dict[Key, Key] = {loop.stmt.label: "plain" for loop in self.loops}
        peak = max(itertools.accumulate(change))
        return Solution(kept_ones, recompute, plain, seconds, 0.0, 0.0, peak)


def _positions(fn: Function) -> list[Stmt]:
    """Return the top-level statements that hold reverse code, in execution order."""
    return [s for s in fn.body if any(isinstance(i, Recall | Reverse) for i in walk((s,)))]


def _is_buffer(stmt: Stmt | None) -> bool:
    return isinstance(stmt, Apply) and (stmt.op.reserves or stmt.op.fills or stmt.op.undefined)


def _sorted(prices: dict[Value, Price], before: Mapping[Value, Sequence[Value]]) -> Iterator[Value]:
    """Yield values after those that they are computed from, and those that come `before` them.

    A value on a cycle, by a load from a later version of an array, must be kept.
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
                    prices[value] = replace(prices[value], recompute=math.inf, inputs=())
                elif need in prices and need not in done:
                    stack += [(value, rest), (need, None)]
                    break
            else:
                open_.discard(value)
                done.add(value)
                yield value
