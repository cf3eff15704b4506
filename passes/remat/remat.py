"""Rematerialize: decide, for every value that reverse code recalls, where it comes from.

The input has `recall` and `reverse`; the output has ordinary loops, a tape (`push` at the end of a
forward iteration, `pop` at the start of the mirrored one), recomputation, and a `Plan`. ::

    %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
      %v = load %x[%i]
      %t = sin %v
      …
    }
    %x.ct.2 = reverse L %i.r carrying (%x.ct = …) {
      %v.r = recall %v
      %d = cos %v.r
      …

becomes, if `%v` is reloaded, ::

    %x.ct.2 = for L.rev %i.r down from %n carrying (%x.ct = …) {
      %v.r = load %x[%i.r]
      %d = cos %v.r
      …

The decision is one per value: kept, recomputed, or reloaded from an array that still has it
(`forwarding`) or that reverse code restores (`undo`). `remat.rewrite` carries decisions out.
Policies: ``"store"`` keeps everything except arithmetic of loop counters; ``"recompute"``
recomputes whatever can be; ``"auto"`` keeps expensive values and recomputes cheap ones (`costs`);
``"random:SEED"`` draws any legal plan.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from adc.ir import ops
from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.sizes.extents import Extents, Known
from adc.ir.analysis.sizes.formulas import Sum
from adc.ir.analysis.sizes.loops import total
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Load,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.functions import callees_first
from adc.ir.types import Array
from adc.ir.walk import Names, block_reads, defined
from adc.passes.ad.reverse_arguments import pass_arguments
from adc.passes.remat.checkpoint import Loops, Schedule, can_checkpoint
from adc.passes.remat.choose import Chooser
from adc.passes.remat.facts import (
    NO_ORDERS,
    Decision,
    Decisions,
    Orders,
    Restored,
    needed_values,
    reverses,
)
from adc.passes.remat.online import can_checkpoint_online, checkpoint
from adc.passes.remat.plan import HELD, KEPT, RECOMPUTED, Plan, PlanEntry
from adc.passes.remat.proof.availability import check_availability
from adc.passes.remat.proof.tape import check_tape
from adc.passes.remat.rerun import recomputed
from adc.passes.remat.rewrite import Rewriter
from adc.passes.remat.undo import undone
from adc.passes.scalar.dce import dce


@dataclass(frozen=True)
class Rematerialized:
    """The result of `remat`: a function without Recalls, and the plan that made it.

    `held` are the bytes of memory that are kept from forward to reverse code, except those of
    checkpointed loops.
    """

    fn: Function
    plan: Plan
    held: Sum


def rematerialize(
    fn: Function,
    policy: str = "auto",
    costs: Costs = SHIPPED,
    orders: Orders = NO_ORDERS,
    known: Known | None = None,
    *,
    offload: bool = False,
    checked: bool = True,
) -> Rematerialized:
    """Decide every Recall of `fn` by `policy` and carry the decisions out.

    Costs are given by `costs`, by default those that are shipped, and by `known` sizes of
    arguments (`extents`). `orders` are those of a budget. With `offload`, tapes take no memory. The
    result is proven if `checked`: not that of a plan that is only tried.

    Raises
    ------
    IRError
        If the result fails the independent checks of the tape and of recalled values.
    ValueError
        If there is no such policy.
    """
    if policy not in ("auto", "store", "recompute") and not policy.startswith(
        ("random:", "revolve:")
    ):
        raise ValueError(f"remat={policy!r}: use 'auto', 'store', 'recompute' or 'random:SEED'")
    loops: Loops = {(owner, label): each for owner, label, each in orders.loops}
    if policy.startswith("revolve:"):
        loops, policy = _everywhere(fn, policy), "auto"
    names = {each.name: _names_of(each) for each in (*fn.callees, fn)}
    fn = checkpoint(fn, loops)
    return _Remat(fn, policy, costs, orders, known, names, bool(loops), offload, checked).run()


class _Remat:
    def __init__(
        self,
        fn: Function,
        policy: str,
        costs: Costs,
        orders: Orders,
        known: Known | None,
        own: Mapping[str, Collection[str]],
        changed: bool,
        offload: bool,
        checked: bool,
    ) -> None:
        self.fn = fn
        # The names of values by function: others belong to checkpointed loops.
        self.own = own
        # Whether there are checkpointed loops.
        self.changed = changed
        self.offload = offload
        self.checked = checked
        self.policy = policy
        self.costs = costs
        self.orders = orders
        self.known = known
        self.names = Names.of(fn)
        for callee in fn.callees:
            self.names.add(Names.of(callee))
        self.entries: list[PlanEntry] = []
        self.extents: dict[str, Extents] = {}
        self.calls: Mapping[str, float] = {}

    def run(self) -> Rematerialized:
        fn = self.fn
        self.extents[fn.name] = Extents(fn, self.known)
        # Functions that recompute iterations are called by later ones, first by `fn`.
        for each in reversed(fn.callees):
            self.extents[each.name] = Extents(each, self.known_in(each))
        self.calls = self.counted(fn)
        fn = pass_arguments(fn, self.read)
        callees = tuple(self.iterations(each) if reverses(each) else each for each in fn.callees)
        fn = self.iterations(replace(fn, callees=callees))
        reverse_of = {callee.mirror: callee for callee in fn.callees if callee.mirror}
        found: dict[str, Chooser] = {}
        functions: list[Function] = []
        for each in (*fn.callees, fn):
            functions.append(each)
            if each.mirror:
                continue
            extents = self.extents[each.name]
            if each is fn or reverses(each):
                functions[-1], found[each.name] = self.planned(each, extents)
            elif each.name in reverse_of:
                reverse = reverse_of[each.name]
                given = frozenset(each.params).intersection(reverse.params)
                decisions = Decisions(each, False, Forwarding(each), given=given)
                found[each.name] = self.chooser(decisions, reverse.body, extents)
        fn = replace(functions[-1], callees=tuple(functions[:-1]))
        rewriter = Rewriter(fn, found, self.names)
        result = rewriter.run()
        self.check(fn, result, rewriter)
        planned = {f"{owner}.{label}" for owner, label in self.orders.calls}
        for name, stmt in recomputed(self.fn):
            reason = "the budget: a call as a whole" if name in planned else "adc.checkpoint"
            self.entries.append(PlanEntry.at(stmt.loc, stmt.label, RECOMPUTED, "0", reason))
        entries, held = list(self.entries), Sum()
        for name, chooser in found.items():
            if name in self.own:
                sizes = _Sizes(chooser)
                entries += sizes.entries(self.own[name])
                held += sizes.held()
        return Rematerialized(dce(result), Plan(self.policy, tuple(entries)), held)

    def check(self, before: Function, after: Function, rewriter: Rewriter) -> None:
        """Prove the tape and the recalled values right; IRError if that fails."""
        if self.checked:
            # The checks do not look at the decisions, only at the resulting program.
            check_availability(before, after, rewriter.recalled)
            mirrors = {each.name: each.mirror for each in before.callees if each.mirror}
            check_tape(after, mirrors)

    def planned(
        self, fn: Function, extents: Extents, carried: frozenset[Value] = frozenset()
    ) -> tuple[Function, Chooser]:
        """Decide about a function with its own reverse code, undo logs included."""

        def plan(attempt: Function, restored: Restored, known: Forwarding | None) -> Chooser:
            decisions = Decisions(attempt, True, known or Forwarding(attempt), carried, restored)
            return self.chooser(decisions, attempt.body, extents)

        return undone(fn, plan, changed=self.changed)

    def chooser(self, decisions: Decisions, reverse: Sequence[Stmt], extents: Extents) -> Chooser:
        name, orders = decisions.fn.name, self.orders
        worth = {label: seconds for owner, label, seconds in orders.worth if owner == name}
        # A function that recomputes iterations of a loop is named after it.
        for owner, label, seconds in orders.worth:
            if name == f"{owner}.{label}":
                worth[""] = seconds
        forced = {value: keep for owner, value, keep in orders.kept if owner == name}
        made = (decisions, self.policy, self.names, self.costs, extents, worth, forced)
        calls = self.calls.get(name, 1.0)
        chooser = Chooser(*made, offload=self.offload, calls=calls)
        chooser.run(needed_values(reverse, decisions, self.names))
        return chooser

    def counted(self, fn: Function) -> Mapping[str, float]:
        """Return how often functions are called before these calls are reversed: a guess."""
        table = {each.name: each for each in (*fn.callees, fn)}
        found = {fn.name: 1.0}

        def count(extents: Extents, stmts: Sequence[Stmt], often: float) -> None:
            for stmt in stmts:
                if isinstance(stmt, Call) and not stmt.mirror:
                    found[stmt.callee] = found.get(stmt.callee, 0.0) + often
                if isinstance(stmt, Reverse):
                    continue
                times = extents.trips(stmt) if isinstance(stmt, For | While) else 1.0
                for block in blocks(stmt):
                    count(extents, block.stmts, often * times)

        for name in reversed(callees_first(table)):
            if name in found:
                count(self.extents[name], table[name].body, found[name])
        return found

    def read(self, fn: Function, reverse: Function) -> set[Value]:
        """Return the arrays among the parameters of a function that its reverse code reads.

        The function only reads them. A plan that has them decides.
        """
        forwarding = Forwarding(fn)
        families = forwarding.families
        arrays = frozenset(
            param
            for param in fn.params
            if isinstance(param.type, Array)
            and forwarding.final.get(families.find(param)) == param
            and not families.is_mixed(param)
        )
        if not arrays:
            return set()
        given = arrays.union(set(fn.params).intersection(reverse.params))
        decisions = Decisions(fn, False, forwarding, given=given)
        return self.chooser(decisions, reverse.body, self.extents[fn.name]).read_from(arrays)

    def known_in(self, callee: Function) -> Known:
        """Return what is known of the parameters of a function, at the first call of it."""
        for caller in (self.fn, *reversed(self.fn.callees)):
            if caller.name not in self.extents:
                continue
            extents = self.extents[caller.name]
            recalled = {s.result: s.value for s in walk(caller.body) if isinstance(s, Recall)}
            for stmt in walk(caller.body):
                if isinstance(stmt, Call) and stmt.callee == callee.name:
                    args = [recalled.get(arg, arg) for arg in stmt.args]  # type: ignore[arg-type]
                    return extents.known(zip(callee.params, args, strict=True))
        return {}

    def iterations(self, fn: Function) -> Function:
        """Decide the Recalls in iterations that hold their own reverse code (`fuse_reverse`).

        Such an iteration is treated as a function: values from outside are its parameters, and what
        it keeps is released when it ends.
        """
        extents = self.extents[fn.name]

        def done(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
            return tuple(iteration(stmt) for stmt in stmts)

        def iteration(stmt: Stmt) -> Stmt:
            if not isinstance(stmt, For):
                return stmt
            body = replace(stmt.body, stmts=done(stmt.body.stmts))
            if not any(isinstance(s, Recall | Reverse) for s in walk(body.stmts)):
                return replace(stmt, body=body)
            own = {stmt.index, *body.params}
            outside = sorted(block_reads(body) - own, key=lambda value: value.name)
            params = (*outside, stmt.index, *body.params)
            alone = Function(f"{fn.name}.{stmt.label}", params, body.stmts, body.yields)
            inner = Extents(alone, extents.known((value, value) for value in params))
            alone, chooser = self.planned(alone, inner, frozenset(body.params))
            rewriter = Rewriter(alone, {alone.name: chooser}, self.names)
            result = rewriter.run()
            self.check(alone, result, rewriter)
            self.entries.extend(_Sizes(chooser).entries(_names_of(alone)))
            return replace(stmt, body=Block(body.params, result.body, result.results))

        return replace(fn, body=done(fn.body))


def _everywhere(fn: Function, policy: str) -> Loops:
    """Return schedules of ``revolve:SLOTS:MOST[:all]``: for outermost loops, or for all."""
    _, slots, most, *rest = policy.split(":")
    schedule = Schedule(int(slots), 0, int(most), 1)
    online = replace(schedule, slots=schedule.room)
    found: dict[tuple[str, str], Schedule] = {}

    def look(owner: str, stmts: Sequence[Stmt], depth: int) -> None:
        for stmt in stmts:
            if isinstance(stmt, Reverse):
                continue
            for block in blocks(stmt):
                look(owner, block.stmts, depth + isinstance(stmt, For | While))
            if isinstance(stmt, For) and (rest or depth == 0) and can_checkpoint(fn, owner, stmt):
                found[owner, stmt.label] = schedule
            if isinstance(stmt, While) and (rest or depth == 0):
                if can_checkpoint_online(fn, owner, stmt):
                    found[owner, stmt.label] = online

    for each in (*fn.callees, fn):
        if not each.mirror:
            look(each.name, each.body, 0)
    return found


def remat(fn: Function, policy: str = "auto") -> Function:
    """Return `fn` without Recalls; see `rematerialize` for the plan."""
    return rematerialize(fn, policy).fn


def _names_of(fn: Function) -> frozenset[str]:
    return frozenset(value.name for value in defined(fn))


class _Sizes:
    """The sizes that a plan reports for the values of one function."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser, self.d = chooser, chooser.d
        self.symbols = Symbols(chooser.d.fn)
        # Arrays that reverse code reads as a whole, or elements of.
        sources = {decision.source for decision in self.d.made.values() if decision.source}
        held = [
            value
            for value in chooser.direct | (sources & self.d.sites.keys())
            if isinstance(value.type, Array) and value not in self.d.made
            if self.d.in_scope(value) and value not in self.d.fn.params
        ]
        self.made = {**dict.fromkeys(held, _STAYS), **self.d.made}

    def entries(self, own: Collection[str]) -> list[PlanEntry]:
        found: list[PlanEntry] = []
        for value, decision in sorted(self.made.items(), key=lambda e: self.d.sites[e[0]].order):
            site = self.d.sites[value]
            if not self.is_own(value, own):
                continue  # of a checkpointed loop, which has an entry
            loc = getattr(site.stmt, "loc", None)
            if loc is None and site.region:
                loc = self.d.loops[site.region].loc
            size = str(self.bytes(value)) if decision.kind in (KEPT, HELD) else "0"
            what = (value.name, decision.kind, size, decision.reason)
            found.append(PlanEntry.at(loc, *what, getattr(site, "stmt", None)))
        return found

    def is_own(self, value: Value, own: Collection[str]) -> bool:
        """Whether a value is one of the program's, including the trip count or log of its loops."""
        stmt = self.d.sites[value].stmt
        if value in self.d.restored.logged and isinstance(stmt, Load):
            return stmt.array.name in own
        return value.name in own or value in self.d.counters.values()

    def held(self) -> Sum:
        """Return the bytes of memory that are kept outside of checkpointed loops."""
        total = Sum()
        for value, decision in self.made.items():
            if decision.kind in (KEPT, HELD) and not self.chooser.is_on_disk(value):
                size = self.bytes(value)
                if _LEAF not in size.names and _SWEEP not in self.d.sites[value].region:
                    total += size
        return total

    def bytes(self, value: Value) -> Sum:
        """Return the bytes that keeping a value takes: its size times the trips around it."""
        size, region = self.symbols.bytes(value), self.d.sites[value].region
        while region:
            loop = self.d.loops[region]
            trips = Sum.atom(_LEAF) if self.is_leaf(loop) else self.symbols.trips(loop.label)
            # The trip count of an inner loop may depend on this counter.
            index = loop.index.name if isinstance(loop, For) else ""
            size = total(loop.label, index, trips, size)
            region = self.d.parents[region][0]
        return size if self.d.whole else size * Sum.atom("calls")

    def is_leaf(self, loop: For | While) -> bool:
        """Whether a loop runs the leaf of a checkpointed one, whose iterations store everything."""
        trips = loop.trips if isinstance(loop, For) else None
        site = self.d.sites.get(trips) if isinstance(trips, Value) else None
        return (
            site is not None and isinstance(site.stmt, Apply) and site.stmt.op is ops.integer.rest
        )


# Parts of labels of checkpointed loops: the loop over the leaf, and the loop that stores states.
_LEAF, _SWEEP = "leaf", ".sweep"
_STAYS = Decision(HELD, "nothing overwrites it")
