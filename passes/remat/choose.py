"""The analysis half of `remat`: where every value that reverse code needs comes from, and why.

Users see the reasons (`Decision.reason`) in the plan.

The fastest plan is a minimum cut (`remat.cut`): `costs` prices keeping and recomputing, in every
iteration of the loops around a value. Trip counts are guessed where the program does not give them;
they decide whether the tape stays in cache, which favours keeping.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from adc.ir.analysis.costs import Costs
from adc.ir.analysis.inexact import is_discontinuous, passed_to_calls
from adc.ir.analysis.sizes.extents import Extents
from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Gemm,
    If,
    Literal,
    Load,
    Mark,
    Operand,
    Print,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.errors import IRError, RecomputeError
from adc.ir.types import Array
from adc.ir.walk import Names, bound, inner_values
from adc.passes.remat.cut import Price, cheapest
from adc.passes.remat.facts import Decision, Decisions, mark_of
from adc.passes.remat.plan import KEPT, RECOMPUTED, RELOADED
from adc.passes.scalar.dce import only

# A number is kept only where this is faster by such a factor: of plans of similar speed, which a
# throughput model cannot tell apart, the one that needs less memory is better.
CLEARLY = 1.5
# A mask counts as less than a number, so that two of them, of an eighth of the memory each, are
# better than the number that they compare.
MASK = 0.6
# The seconds of an operation that is free, but not preferred.
_NEVER = 1e6
# The seconds that a byte is worth which inversion is meant to save.
_DEAR = 1.0


class Chooser:
    """Applies a policy to the values that are needed.

    `worth` is the value in seconds, by loop, of a byte that its iterations do not hold from the
    forward to the reverse code; "" stands for the whole function. `forced` says of some values, by
    name, whether to keep them. `offload`: tapes are elsewhere, and take no memory. `calls` is how
    often the function is called before these calls are reversed.
    """

    def __init__(
        self,
        decisions: Decisions,
        policy: str,
        names: Names,
        costs: Costs,
        extents: Extents | None = None,
        worth: Mapping[str, float] | None = None,
        forced: Mapping[str, bool] | None = None,
        *,
        offload: bool = False,
        calls: float = 1.0,
    ) -> None:
        self.calls = calls
        self.d = decisions
        self.policy = policy
        self.names = names
        self.costs = costs
        self.offload = offload
        self.extents = extents or Extents(decisions.fn)
        self.worth = {**dict.fromkeys(decisions.restored.short, _DEAR), **(worth or {})}
        self.forced = forced or {}
        # Whether memory is short: then arrays that reverse code could simply name, and loops that
        # could be recomputed, are decided about, too.
        self.scarce = bool(self.worth or self.forced or self.d.marks)
        self.seed = policy.partition(":")[2] if policy.startswith("random:") else None
        self.closed: dict[Value, bool] = {}
        # By value, whether the fastest plan keeps it.
        self.kept: Mapping[Value, bool] = {}
        self.statements: dict[Value, Stmt | None] = {}
        self.sources: dict[tuple[Value, Value], Value | None] = {}
        # The values that reverse code itself recalls.
        self.direct: frozenset[Value] = frozenset()
        # The arrays that reverse code itself allocates.
        self.there = frozenset(decisions.restored.sources.values())

    def run(self, needed: Sequence[Value]) -> None:
        self.direct = frozenset(needed)
        if self.policy == "auto":
            self.kept = cheapest(needed, self.price)
        for value in needed:
            self.decide(value)

    def price(self, value: Value) -> Price | None:
        """Return the price of having a value in reverse code; None if it is available anyway."""
        if value not in self.d.sites and value not in self.there:
            raise IRError(f"{value} is recalled but is not a value of the forward code")
        if self.is_there(value):
            return None
        often = self.often(self.d.sites[value].region)
        keep = often * self.keeping(value)
        if not self.legal(value):
            return Price(keep, math.inf, ())
        forced = self.prescribed(value)
        if forced and not self.is_elsewhere(value):
            return Price(0.0, math.inf, ())
        if forced is not None:
            return Price(_NEVER, 0.0, self.inputs(value))
        return Price(keep, often * self.seconds(value), self.inputs(value))

    def total(self) -> float:
        """Return the seconds that the plan takes, or its bytes if memory is the objective."""
        bytes_count = self.counts_bytes
        total = sum(map(self.cost, self.d.made))
        if not bytes_count:
            total += sum(self.often(region) * seconds for region, seconds in self.restoring())
        sources = {decision.source for decision in self.d.made.values()}
        for array in self.d.restored.begun:
            # A restored array is a copy if the array itself is needed, too.
            if array in sources or array in self.d.fn.results or not self.stays(array):
                size = self.extents.bytes(array)
                total += size * (1.0 if bytes_count else self.reading(size, 1) + self.writing(size))
        return total

    @cached_property
    def counts_bytes(self) -> bool:
        """Whether memory is the objective. Values on a disk cost only time."""
        return (self.scarce and not self.offload) or self.policy == "recompute"

    def cost(self, value: Value) -> float:
        """Return what a value takes that was decided about: seconds, or bytes."""
        often = self.often(self.d.sites[value].region)
        is_kept = self.d.made[value].kind == KEPT
        if self.counts_bytes:
            return often * (self.extents.bytes(value) if is_kept else 0.0)
        return often * (self.keeping(value) if is_kept else self.seconds(value))

    def restoring(self) -> Iterator[tuple[str, float]]:
        """Yield the loops in which elements of arrays are restored, and the cost."""
        for value in sorted(self.d.restored.logged, key=lambda value: value.name):
            site = self.d.sites[value]
            if isinstance(site.stmt, Load):
                array = site.stmt.array
                size = array.type.numpy.itemsize
                yield site.region, size * self.writing(self.extents.bytes(array))

    def prescribed(self, value: Value) -> bool | None:
        """Return whether to keep a value, if the user or a plan prescribes it."""
        mark = self.d.marks.get(value)
        if mark is None or (mark.kind == "checkpoint" and self.is_input(value)):
            return self.forced.get(value.name)
        return mark.kind == "save"

    def is_input(self, value: Value) -> bool:
        """Whether a value is an element of an array from outside of the checkpointed call.

        That array, or the element, is kept or recomputed like anything else.
        """
        own = self.d.sites[value].stmt
        if self.policy != "auto" or not isinstance(own, Load):
            return False
        source = self.array_source(own)
        return source is not None and source not in self.d.marks and not self.is_there(source)

    def worth_of(self, region: str) -> float:
        """Return the value in seconds of a byte that is not held for a region."""
        while region and region not in self.worth:
            region = self.d.parents[region][0]
        return self.worth.get(region, 0.0)

    def keeping(self, value: Value) -> float:
        """Return the seconds for having a value on the tape, or as an array that stays."""
        size = self.extents.bytes(value)
        if self.is_on_disk(value):
            if isinstance(value.type, Array):
                return size * (2 * (self.costs.load + self.costs.store) + self.costs.disk)
            return CLEARLY * (self.costs.tape + size * self.costs.disk)
        held = size * self.worth_of(self.d.sites[value].region)
        everything = self.calls * size * self.often(self.d.sites[value].region)
        in_cache = everything <= self.costs.cache
        memory = 0.0 if in_cache else self.costs.load_memory + self.costs.store_memory
        if not isinstance(value.type, Array):
            tape = self.costs.tape * (MASK if value.type.kind == "b" else 1.0)
            return CLEARLY * (tape + size * memory) + held
        if self.d.in_scope(value):
            # Another version takes its place, unless this is the last one.
            copied = 0.0 if self.stays(value) else self.costs.load + self.costs.store + memory
            return size * copied + held
        return 2 * size * (self.costs.load + self.costs.store + memory) + held

    def is_on_disk(self, value: Value) -> bool:
        """Whether a kept value takes no memory: it is on a tape in a file."""
        return self.offload and not self.d.in_scope(value)

    def often(self, region: str) -> float:
        """Return how often a region runs: a guess if it is known only at run time."""
        times = 1.0
        while region:
            times *= max(self.extents.trips_of(region), 1.0)
            region = self.d.parents[region][0]
        return times

    def is_there(self, value: Value) -> bool:
        """Whether a value is available in reverse code at no cost."""
        if value in self.there or value in self.d.restored.values or value in self.d.given:
            return True
        if self.d.sites[value].is_index:
            return True
        if not self.d.in_scope(value):
            return False
        if value in self.d.marks:
            return value in self.d.fn.params and value not in self.d.carried
        if not isinstance(value.type, Array) or self.policy != "auto":
            return True
        if value in self.d.fn.params and value not in self.d.carried:
            return True
        if value.name in self.forced or self.worth_of(""):
            return False
        return value in self.direct or self.stays(value)

    def stays(self, array: Value) -> bool:
        """Whether an array outside of loops is not overwritten."""
        if array in self.d.fn.params:
            return array not in self.d.carried
        families = self.d.forwarding.families
        final = self.d.forwarding.final.get(families.find(array))
        return final == array and not families.is_mixed(array)

    def decide(self, operand: Operand) -> None:
        """Decide about a needed value, then about what its recomputation needs."""
        if not isinstance(operand, Value) or operand in self.d.made:
            return
        if operand not in self.d.sites and operand not in self.there:
            raise IRError(f"{operand} is recalled but is not a value of the forward code")
        if self.is_there(operand):
            return
        decision = self.choose(operand)
        self.d.made[operand] = decision
        if decision.kind != KEPT:
            for needed in self.inputs(operand):
                self.decide(needed)

    def choose(self, value: Value) -> Decision:
        mark = self.d.marks.get(value)
        if not self.legal(value):
            return Decision(KEPT, self.kept_against(mark, self.why_not(value)))
        source = self.source(value)
        decision = Decision(
            RELOADED if isinstance(self.stmt(value), Load) else RECOMPUTED, "", source
        )
        if mark is not None and not (mark.kind == "checkpoint" and self.is_input(value)):
            stays = mark.kind == "save" and not self.is_elsewhere(value)
            return replace(
                decision, kind=KEPT if stays else decision.kind, reason=f"adc.{mark.kind}"
            )
        if self.policy == "store":
            if self.is_closed(value):
                return replace(decision, reason="arithmetic of loop counters")
            return Decision(KEPT, "policy: store")
        if self.policy == "recompute":
            return replace(decision, reason="policy: recompute")
        if self.seed is not None:
            coin = hashlib.sha256(f"{self.seed}:{value.name}".encode()).digest()[0] & 1
            return Decision(KEPT, "drawn") if coin else replace(decision, reason="drawn")
        if not self.kept[value]:
            if decision.kind == RELOADED:
                here = source in self.there
                return replace(
                    decision, reason=f"the array {'is restored' if here else 'still has it'}"
                )
            region = self.d.sites[value].region
            kept = [v for v in self.inputs(value) if self.kept.get(v)]
            if any(self.d.sites[v].region != region for v in kept):
                return replace(
                    decision, reason="cheap, and what it needs is kept for an outer loop"
                )
            return replace(decision, reason="cheap, and its operands are available")
        if math.isinf(self.seconds(value)):
            return Decision(KEPT, "recomputing repeats a branch or a loop")
        # In units of an addition, which a reader knows.
        times = self.seconds(value), self.keeping(value)
        cost, tape = map(self.costs.additions, times)
        if cost <= tape:
            return Decision(KEPT, "its operands are not available")
        return Decision(KEPT, f"recomputing costs {cost:g}, a store and load {tape:g}")

    def kept_against(self, mark: Mark | None, why: str) -> str:
        """Return why a value is kept that cannot be recomputed."""
        if mark is None:
            return why
        if mark.kind == "recompute":
            raise RecomputeError(
                f"this value cannot be recomputed in reverse code: {why}", mark.loc,
                "leave it to the plan, or use `adc.checkpoint` on a function of several iterations",
            )  # fmt: skip
        return "adc.save" if mark.kind == "save" else f"{why} (in spite of adc.checkpoint)"

    # -- what may be recomputed ------------------------------------------------------------

    def stmt(self, value: Value) -> Stmt | None:
        """Return the statement that would recompute the value: its own, or a load of it."""
        if value not in self.statements:
            self.statements[value] = self._stmt(value)
        return self.statements[value]

    def _stmt(self, value: Value) -> Stmt | None:
        own = self.d.sites[value].stmt
        mark = self.d.marks.get(value)
        if mark is not None and isinstance(own, Apply) and not isinstance(value.type, Array):
            load = self.d.forwarding.stored.get(value)
            if load is not None and self.is_held(load, mark):
                return load
        elif self.policy == "auto" and isinstance(own, Apply):
            if not isinstance(value.type, Array) and self.costs.seconds(own) > self.costs.tape:
                load = self.d.forwarding.stored.get(value)
                if load is not None and self.array_source(load) is not None:
                    return load
        return only(own, value) if isinstance(own, For | If) else own

    def is_held(self, load: Load, mark: Mark) -> bool:
        """Whether an array holds a marked value anyway."""
        source = self.array_source(load)
        if source is None:
            return False
        if mark.kind == "save":
            return self.prescribed(source) is True
        return (
            mark.kind == "checkpoint"
            and source in self.direct
            and self.prescribed(source) is not False
        )

    def is_elsewhere(self, value: Value) -> bool:
        """Whether a value that is to be kept is in an array that is kept."""
        source = self.source(value)
        return source is not None and (self.is_there(source) or self.prescribed(source) is True)

    def source(self, value: Value) -> Value | None:
        stmt = self.stmt(value)
        return self.array_source(stmt) if isinstance(stmt, Load) else None

    def array_source(self, load: Load) -> Value | None:
        """Return the array version that a load can be repeated from."""
        key = load.result, load.array
        if key in self.d.restored.sources:
            return self.d.restored.sources[key]
        return self.lasting_source(load)

    def lasting_source(self, load: Load) -> Value | None:
        """Return the forward version that a load can be repeated from, wherever it is repeated."""
        key = load.result, load.array
        if key not in self.sources:
            self.sources[key] = None  # during this search: nothing comes from itself
            self.sources[key] = self._source(load)
        return self.sources[key]

    def _source(self, load: Load) -> Value | None:
        forwarding = self.d.forwarding
        if self.d.whole:
            source = forwarding.source(load) if load.result in forwarding.by_result else None
            if source is not None and not self.comes_from(source, load.result):
                return source
            if self.d.in_scope(load.array) and (
                self.policy != "auto"  # storage keeps a copy of this version
                or (load.array in self.d.fn.params and load.array not in self.d.carried)
            ):
                return load.array
        elif self.d.given:
            source = forwarding.source(load) if load.result in forwarding.by_result else None
            for each in (load.array, source):
                if each in self.d.given:
                    return each
        # The arrays that reverse code has anyway: whole ones, of this iteration of a loop.
        for each in (load.array, forwarding.within(load)):
            if each in self.direct and self.policy in ("auto", "recompute"):
                if not self.depends(each, load.result):
                    return each
        for each in (load.array, forwarding.within(load)):
            if each is None:
                continue
            if self.policy == "recompute" or self.scarce or self.is_shared(load, each):
                source = self.whole(each)
                if source is not None and not self.depends(source, load.result):
                    return source
        return None

    def comes_from(self, source: Value, loaded: Value) -> bool:
        """Whether an array that marks have recomputed would be recomputed from a value in it."""
        mark = self.d.marks.get(source)
        return mark is not None and mark.kind != "save" and self.depends(source, loaded)

    def is_shared(self, load: Load, array: Value) -> bool:
        """Whether iterations of inner loops load from an array that an outer one makes or carries.

        Keeping it once may be better than keeping every element that is loaded: each is loaded for
        every row of a product.
        """
        outer, region = self.d.sites.get(array), self.d.sites.get(load.result)
        if self.policy != "auto" or outer is None or region is None:
            return False
        inside = outer.region != "" or not self.d.whole
        return inside and outer.region != region.region

    def whole(self, array: Value) -> Value | None:
        """Return an array if all of it may be kept, or recomputed, for the sake of elements."""
        site = self.d.sites.get(array)
        if site is None or not site.is_param or array in self.direct:
            return None if site is None else array
        # Values carried by a checkpointed call's own loops are not kept: the loops are recomputed.
        inside = site.region and mark_of(self.d.loops[site.region]) is not None
        return array if self.policy == "auto" and not inside else None

    def read_from(self, params: Collection[Value]) -> set[Value]:
        """Return those parameters that reverse code reads, given the decisions."""
        read = {value for value in self.direct if value in params}
        for value, decision in self.d.made.items():
            if decision.kind != KEPT:
                read.update(need for need in self.inputs(value) if need in params)
        return read

    def loaded_from(self, load: Load) -> Value | None:
        """Return the array from which a load in a recomputed statement is repeated."""
        source = self.lasting_source(load)
        if source is None and (self.scarce or self.policy in ("auto", "recompute")):
            return self.whole(load.array)
        return source

    def depends(self, value: Value, other: Value) -> bool:
        """Whether recomputing `value` may need `other`."""
        waiting, seen = [value], {value}
        while waiting:
            each = waiting.pop()
            if each == other:
                return True
            if self.is_there(each):
                continue
            stmt = self.stmt(each)
            # A branch or loop that is recomputed repeats the loads in it. (During this search, it
            # does not seem to be legal.) What is computed in it, it computes for itself.
            if isinstance(stmt, If | For | While) and other in bound((stmt,)):
                if any(isinstance(s, Load) and s.result == other for s in walk((stmt,))):
                    return True
            if not self.legal(each):
                continue
            for need in self.inputs(each):
                if need not in seen:
                    seen.add(need)
                    waiting.append(need)
        return False

    def legal(self, value: Value) -> bool:
        if not self.can_repeat(value):
            return False
        stmt = self.stmt(value)
        assert stmt is not None
        exact = self.d.restored.inexact and (value in self.passed or is_discontinuous(stmt))
        return not (exact and self.is_inexact(value))

    @cached_property
    def passed(self) -> frozenset[Value]:
        """The values that reverse code passes to functions."""
        return frozenset(passed_to_calls(self.d.fn.body))

    def is_inexact(self, value: Value) -> bool:
        """Whether a recomputed value may be inexact because of inverse operations."""
        inexact = self.d.restored.inexact
        waiting, seen = [value] if inexact else [], {value}
        while waiting:
            each = waiting.pop()
            if each in inexact:
                return True
            if self.is_there(each) or not self.can_repeat(each):
                continue
            more = set(self.inputs(each)) - seen
            seen |= more
            waiting += more
        return False

    def can_repeat(self, value: Value) -> bool:
        """Whether the statement of a value may be repeated in reverse code."""
        if value in self.d.restored.logged:
            return False
        stmt = self.stmt(value)
        if isinstance(stmt, While | Call):
            # Only at the user's request: its cost is unknown.
            return self.prescribed(value) is False and self.repeatable(stmt)
        return stmt is not None and self.repeatable(stmt)

    def repeatable(self, stmt: Stmt, inside: frozenset[Value] | None = None) -> bool:
        """Whether a statement may be repeated in reverse code; `inside` are values around it."""
        match stmt:
            case Apply(op=op) if op.draw:
                return False
            case Apply(op=op, results=(result,), args=args):
                if isinstance(result.type, Array):
                    return self.d.whole or not stmt.op.undefined
                # A size is that of an array that reverse code has anyway.
                return all(
                    arg in (inside or ())
                    or self.d.in_scope(arg)
                    or (op.asks_shape and self.policy == "auto" and arg in self.direct)
                    for arg in args
                    if isinstance(arg, Value) and isinstance(arg.type, Array)
                )
            case Load():
                if inside is None:
                    return self.array_source(stmt) is not None
                return stmt.array in inside or self.loaded_from(stmt) is not None
            case Gemm() | Store():
                return True
            case Call():
                return inside is None
            case If() | For() | While():
                own = (inside or frozenset()) | set(inner_values(stmt))
                for block in blocks(stmt):
                    known = own
                    for inner in block.stmts:
                        if not isinstance(inner, Check) and not self.repeatable(inner, known):
                            return False
                        known |= set(inner.results)
                return True
        return False

    def why_not(self, value: Value) -> str:
        site = self.d.sites[value]
        if value in self.d.restored.logged:
            return "restores an overwritten element"
        if self.can_repeat(value):
            return "control flow depends on it, and it would be inexact"
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
            case Print():
                return "found outside"
        return "it depends on an array that is overwritten later"

    def inputs(self, value: Value) -> list[Value]:
        """Return the values that recomputing `value` reads, arrays among them."""
        stmt = self.stmt(value)
        assert stmt is not None
        found: dict[Value, None] = {}
        inner = set(bound((stmt,)))
        for each in walk((stmt,)):
            if isinstance(each, Check):
                continue
            reads = [*operands(each), *(y for block in blocks(each) for y in block.yields)]
            if isinstance(each, Load) and each.array not in inner:
                source = self.array_source(each) if each is stmt else self.loaded_from(each)
                assert source is not None
                reads[0] = source
            for operand in reads:
                if isinstance(operand, Value) and operand not in inner:
                    found[operand] = None
        return list(found)

    def seconds(self, value: Value) -> float:
        """Return the seconds of one recomputation of a value."""
        stmt = self.stmt(value)
        if (
            isinstance(stmt, For | If | While)
            and not isinstance(value.type, Array)
            and not self.scarce
        ):
            return math.inf
        return math.inf if stmt is None else self.work(stmt)

    def work(self, stmt: Stmt) -> float:
        """Return the seconds that a statement takes."""
        costs = self.costs
        match stmt:
            case Apply(results=(result,), op=op):
                if not isinstance(result.type, Array):
                    return costs.seconds(stmt)
                size = self.extents.bytes(result)
                if not (op.fills or op.copies):
                    return 0.0
                return size * (self.reading(size, float(op.copies)) + self.writing(size))
            case Load(array=array):
                size = stmt.result.type.numpy.itemsize
                return size * self.reading(self.extents.bytes(array), 1.0)
            case Store(array=array):
                return array.type.numpy.itemsize * self.writing(self.extents.bytes(array))
            case Gemm(array=array, a=a, transposed=(flipped, _)):
                inner = self.extents.shape(a)[0 if flipped else 1]
                return costs.product * self.extents.elements(array) * inner
            case If():
                return sum(map(self.work, (*stmt.then.stmts, *stmt.orelse.stmts))) / 2
            case For(body=body):
                return costs.loop + self.extents.trips(stmt) * sum(map(self.work, body.stmts))
        return 0.0

    def reading(self, size: float, read: float) -> float:
        costs = self.costs
        return read * (costs.load + (costs.load_memory if size > costs.cache else 0.0))

    def writing(self, size: float) -> float:
        costs = self.costs
        return costs.store + (costs.store_memory if size > costs.cache else 0.0)

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
