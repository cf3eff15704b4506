"""The first half of `remat`: decide where every value that reverse code needs comes from.

A number is computed again where that takes no longer than storing it on the tape and loading it
(`costs`). How long the tape gets is not known here: it is taken to stay in cache, which is in
favour of keeping.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    If,
    Literal,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import IRError
from adc.ir.types import INT, Array
from adc.ir.walk import Names
from adc.passes.costs import Costs
from adc.passes.dce import only
from adc.passes.forwarding import Forwarding
from adc.passes.plan import KEPT, RECOMPUTED, RELOADED


@dataclass
class Site:
    """Where a forward value is defined: its innermost loop ("" outside), and under how many ifs."""

    region: str
    arms: int
    stmt: Stmt | None
    order: int
    is_index: bool = False
    is_param: bool = False


@dataclass
class Decision:
    kind: str
    reason: str
    source: Value | None = None


@dataclass
class Decisions:
    """What was decided about the forward values of one function."""

    fn: Function
    # Whether reverse code follows in the same function, so that its outermost values are in scope.
    whole: bool
    forwarding: Forwarding
    # Parameters that a loop carries: arrays that are about to change.
    carried: frozenset[Value] = frozenset()
    sites: dict[Value, Site] = field(default_factory=dict)
    parents: dict[str, tuple[str, int]] = field(default_factory=dict)
    loops: dict[str, For | While] = field(default_factory=dict)
    counters: dict[str, Value] = field(default_factory=dict)
    made: dict[Value, Decision] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for param in self.fn.params:
            self.sites[param] = Site("", 0, None, len(self.sites), is_param=True)
        self._scan(self.fn.body, "", 0)

    def _scan(self, stmts: Sequence[Stmt], region: str, arms: int) -> None:
        for stmt in stmts:
            match stmt:
                case If(then=then, orelse=orelse):
                    self._scan(then.stmts, region, arms + 1)
                    self._scan(orelse.stmts, region, arms + 1)
                case For(label=label, body=body) | While(label=label, body=body):
                    assert isinstance(stmt, For | While)
                    self.loops[label] = stmt
                    self.parents[label] = (region, arms)
                    if isinstance(stmt, For):
                        self.sites[stmt.index] = Site(
                            label, 0, None, len(self.sites), is_index=not stmt.down
                        )
                    for param in body.params:
                        self.sites[param] = Site(label, 0, None, len(self.sites), is_param=True)
                    self._scan(body.stmts, label, 0)
                case Recall() | Reverse():
                    continue
            for result in stmt.results:
                self.sites[result] = Site(region, arms, stmt, len(self.sites))

    def count(self, label: str, names: Names) -> Value:
        """Return the value that holds the executed trips of a `while`."""
        if label not in self.counters:
            value = Value(names.fresh(f"{label}.n"), INT)
            region, arms = self.parents[label]
            self.counters[label] = value
            self.sites[value] = Site(region, arms, None, len(self.sites))
        return self.counters[label]

    def trips(self, label: str, names: Names) -> Operand:
        loop = self.loops[label]
        return loop.trips if isinstance(loop, For) else self.count(label, names)

    def in_scope(self, value: Value) -> bool:
        """Whether reverse code can simply name the value."""
        site = self.sites[value]
        return self.whole and site.region == "" and site.arms == 0


class Chooser:
    """Applies a policy to the values that are needed."""

    def __init__(self, decisions: Decisions, policy: str, names: Names, costs: Costs) -> None:
        self.d = decisions
        self.policy = policy
        self.names = names
        self.costs = costs
        self.seed = policy.partition(":")[2] if policy.startswith("random:") else None
        self.closed: dict[Value, bool] = {}
        self.free: dict[Value, bool] = {}
        self.reduced: dict[Value, Stmt] = {}

    def run(self, needed: Sequence[Value]) -> None:
        direct = dict.fromkeys(needed)
        if self.policy == "auto":
            # First what must be kept anyway: cheap values may then come for free.
            for value in direct:
                if self.must_keep(value):
                    self.decide(value)
        for value in direct:
            self.decide(value)

    def must_keep(self, value: Value) -> bool:
        if self.d.in_scope(value) or self.d.sites[value].is_index:
            return False
        return not self.legal(value) or self.is_dear(value)

    def decide(self, operand: Operand) -> None:
        """Decide about a needed value, then about what its recomputation needs."""
        if not isinstance(operand, Value) or operand in self.d.made:
            return
        if operand not in self.d.sites:
            raise IRError(f"{operand} is recalled but is not a value of the forward code")
        if self.d.in_scope(operand) or self.d.sites[operand].is_index:
            return
        decision = self.choose(operand)
        self.d.made[operand] = decision
        if decision.kind != KEPT:
            for needed in self.inputs(operand):
                self.decide(needed)

    def choose(self, value: Value) -> Decision:
        if isinstance(value.type, Array):
            return Decision(KEPT, "the reverse code takes the whole array")
        source = self.source(value)
        again = Decision(RELOADED if isinstance(self.stmt(value), Load) else RECOMPUTED, "", source)
        if not self.legal(value):
            return Decision(KEPT, self.why_not(value))
        if self.policy == "store":
            if self.is_closed(value):
                return replace(again, reason="arithmetic of loop counters")
            return Decision(KEPT, "policy: store")
        if self.policy == "recompute":
            return replace(again, reason="policy: recompute")
        if self.seed is not None:
            coin = hashlib.sha256(f"{self.seed}:{value.name}".encode()).digest()[0] & 1
            return Decision(KEPT, "drawn") if coin else replace(again, reason="drawn")
        if self.is_free(value):
            if again.kind == RELOADED:
                return replace(again, reason="the array still has it")
            return replace(again, reason="cheap, and its operands are at hand")
        if self.is_from_outside(value, self.d.sites[value].region):
            return replace(again, reason="cheap, and what it needs is kept for an outer loop")
        if not self.is_dear(value):
            return Decision(KEPT, "its operands are not at hand")
        if math.isinf(self.seconds(value)):
            return Decision(KEPT, "recomputing runs a branch or a loop again")
        # In additions: a reader knows what those are.
        cost, tape = map(self.costs.additions, (self.seconds(value), self.costs.tape))
        return Decision(KEPT, f"recomputing costs {cost:g}, a store and load {tape:g}")

    # -- what may be computed again --------------------------------------------------------

    def stmt(self, value: Value) -> Stmt | None:
        """Return what would compute the value again: its own statement, or a load of it."""
        own = self.d.sites[value].stmt
        if (
            self.policy == "auto"
            and self.d.whole
            and isinstance(own, Apply)
            and self.costs.seconds(own) > self.costs.tape
        ):
            load = self.d.forwarding.stored.get(value)
            if load is not None and self.array_source(load) is not None:
                return load
        if isinstance(own, For | If):
            if value not in self.reduced:
                self.reduced[value] = only(own, value)
            return self.reduced[value]
        return own

    def source(self, value: Value) -> Value | None:
        stmt = self.stmt(value)
        return self.array_source(stmt) if isinstance(stmt, Load) else None

    def array_source(self, load: Load) -> Value | None:
        """Return the array version that a load can be repeated from."""
        if not self.d.whole:
            return None
        source = (
            self.d.forwarding.source(load) if load.result in (self.d.forwarding.by_result) else None
        )
        if source is not None:
            return source
        if self.policy != "auto" and self.d.in_scope(load.array):
            return load.array  # storage keeps a copy of this version
        fixed = load.array in self.d.fn.params and load.array not in self.d.carried
        if fixed and self.d.in_scope(load.array):
            return load.array  # the caller's array stays as it is
        return None

    def legal(self, value: Value) -> bool:
        stmt = self.stmt(value)
        return stmt is not None and self.repeatable(stmt)

    def repeatable(self, stmt: Stmt) -> bool:
        """Whether a statement may run again in the reverse code."""
        match stmt:
            case Apply(op=op, results=results, args=args):
                if op.draw or any(isinstance(result.type, Array) for result in results):
                    return False
                return all(
                    self.d.in_scope(arg)
                    for arg in args
                    if isinstance(arg, Value) and isinstance(arg.type, Array)
                )
            case Load():
                return self.array_source(stmt) is not None
            case If(results=results) | For(results=results):
                if any(isinstance(result.type, Array) for result in results):
                    return False
                return all(
                    isinstance(inner, Check) or self.repeatable(inner)
                    for block in blocks(stmt)
                    for inner in block.stmts
                )
        return False

    def why_not(self, value: Value) -> str:
        site = self.d.sites[value]
        if site.is_param:
            return "carried from iteration to iteration" if site.region else "an argument"
        match site.stmt:
            case None:
                return "the number of iterations"
            case Load(array=array):
                return f"{array.name.split('.')[0]} is overwritten later"
            case Apply(op=op) if op.draw:
                return "a random draw"
            case While() | Call():
                return "the result of a loop or call"
        return "it depends on an array that is overwritten later"

    def inputs(self, value: Value) -> list[Value]:
        """Return the values that recomputing `value` reads (arrays are taken from `source`)."""
        stmt = self.stmt(value)
        assert stmt is not None
        found: dict[Value, None] = {}
        inner: set[Value] = set()
        for each in walk((stmt,)):
            if isinstance(each, Check):
                continue
            reads = [*operands(each), *(y for block in blocks(each) for y in block.yields)]
            for operand in reads:
                if isinstance(operand, Value) and not isinstance(operand.type, Array):
                    found[operand] = None
            inner.update(each.results)
            if isinstance(each, For):
                inner.add(each.index)
            for block in blocks(each):
                inner.update(block.params)
        return [operand for operand in found if operand not in inner]

    def seconds(self, value: Value) -> float:
        stmt = self.stmt(value)
        match stmt:
            case Apply():
                return self.costs.seconds(stmt)
            case Load():
                return stmt.result.type.numpy.itemsize * self.costs.load
        return math.inf

    def is_dear(self, value: Value) -> bool:
        """Whether computing the value takes longer than a store on the tape and a load."""
        return self.seconds(value) > self.costs.tape

    def is_closed(self, operand: Operand) -> bool:
        """Whether it is integer arithmetic of loop counters and values outside loops."""
        if isinstance(operand, Literal):
            return True
        site = self.d.sites[operand]
        if site.is_index or self.d.in_scope(operand):
            return True
        stmt = site.stmt
        if not isinstance(stmt, Apply) or operand.type.kind not in "iu":
            return False
        if operand not in self.closed:
            self.closed[operand] = all(self.is_closed(arg) for arg in stmt.args)
        return self.closed[operand]

    def is_from_outside(self, operand: Operand, region: str, depth: int = 6) -> bool:
        """Whether cheap operations give it from values that a loop around `region` computes.

        There are fewer of those to keep.
        """
        if self.is_free(operand):
            return True
        assert isinstance(operand, Value)
        if self.d.sites[operand].region != region:
            return True
        if depth == 0 or not self.legal(operand) or self.is_dear(operand):
            return False
        return all(self.is_from_outside(need, region, depth - 1) for need in self.inputs(operand))

    def is_free(self, operand: Operand, depth: int = 6) -> bool:
        """Whether it can be had without keeping anything more, at little cost."""
        if isinstance(operand, Literal) or self.is_closed(operand):
            return True
        made = self.d.made.get(operand)
        if made is not None:
            return True
        if depth == 0 or not self.legal(operand) or self.is_dear(operand):
            return False
        if operand in self.free:
            return self.free[operand]
        self.free[operand] = all(self.is_free(need, depth - 1) for need in self.inputs(operand))
        return self.free[operand]
