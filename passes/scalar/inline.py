"""Recompute cheap elements of a temporary array where they are read.

Before::

    %d = for L %i in 0 to %n carrying (%a.1 = %a) {
      %u = load %x[%i]
      %t = mul %u 2.0:f64
      %b = store %a.1[%i] %t
      yield %b
    }
    … load %d[%j] … load %d[%k] …

After (``%a`` was empty, of length ``%n``, and ``%x`` is never written)::

    … %u.1 = load %x[%j]
      %t.1 = mul %u.1 2.0:f64 … %u.2 = load %x[%k]
                                %t.2 = mul %u.2 2.0:f64 …

One loop and the memory for ``%d`` are gone, the multiplications have doubled: the cost model
decides. Loops that read an array only at their own index have been fused with the one that
computes it (`fuse`), so what is left are stencils, or arrays that are also used between the loops.
An array is kept if it has uses other than loads of elements, if a loop reads an element more than
once, or if any of its inputs is overwritten anywhere. No bit changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.analysis.dependence.accesses import overwritten
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import (
    Apply,
    For,
    Function,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names, clone, map_functions, map_stmts, stmts_reads, use_counts

# The most statements that replace one load.
MOST = 16
_PURE = (Apply, Load, Store, For)


def inline(fn: Function, costs: Costs = SHIPPED) -> Function:
    """Return `fn`, which has no Recalls, with cheap elements recomputed rather than stored."""
    return map_functions(fn, lambda each: _Inliner(each, costs).run())


@dataclass(frozen=True)
class _Made:
    """How an element of an array is computed: `index` are the counters that give its index."""

    index: tuple[Value, ...]
    stmts: tuple[Apply | Load, ...]

    @property
    def value(self) -> Value:
        return self.stmts[-1].results[0]


@dataclass(frozen=True)
class _Reader:
    """The loads of an array in one nest of loops, and all other arrays that it loads from."""

    loads: int
    arrays: frozenset[Value]


class _Inliner:
    def __init__(self, fn: Function, costs: Costs) -> None:
        self.fn = fn
        self.costs = costs
        self.names = Names.of(fn)
        self.facts = Facts()
        self.defs: dict[Value, Stmt] = {}
        self.loads: Counter[Value] = Counter()  # by array
        for stmt in walk(fn.body):
            self.facts.define(stmt)
            for result in stmt.results:
                self.defs[result] = stmt
            if isinstance(stmt, Load):
                self.loads[stmt.array] += 1
        self.uses = use_counts(fn)
        self.overwritten = overwritten(fn.body)
        # The arrays to inline, and how their elements are computed.
        self.made: dict[Value, _Made] = {}

    def run(self) -> Function:
        if self.fn.mirror or any(isinstance(s, Reverse | Recall) for s in walk(self.fn.body)):
            return self.fn  # recalled values lie in loops of the forward code
        return replace(self.fn, body=self.block(self.fn.body, inside=False))

    def block(self, stmts: Sequence[Stmt], *, inside: bool) -> tuple[Stmt, ...]:
        """Rewrite statements; `inside` tells whether they lie in a loop."""
        done: list[Stmt] = []
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, Load) and stmt.array in self.made:
                done += self.recomputed(stmt)
                continue
            into = inside or isinstance(stmt, For | While)
            stmt = map_stmts(stmt, partial(self.block, inside=into))
            done.append(stmt)
            if isinstance(stmt, For):
                for place, array in enumerate(stmt.results):
                    made = self.making(stmt, place)
                    if made and self.pays(stmt, array, made, stmts[k + 1 :], inside):
                        self.made[array] = made
        return tuple(done)

    def recomputed(self, load: Load) -> list[Stmt]:
        """Return the statements that recompute the loaded element."""
        made = self.made[load.array]
        env: dict[Value, Operand] = dict(zip(made.index, load.index, strict=True))
        *copies, last = clone(made.stmts, env, self.names)
        if isinstance(last, Load):
            return [*copies, replace(last, result=load.result)]
        assert isinstance(last, Apply)
        return [*copies, replace(last, results=(load.result,))]

    # -- what can be recomputed ------------------------------------------------------------

    def making(self, loop: For, place: int) -> _Made | None:
        """Return how a nest computes every element of the array that is its result `place`."""
        start = loop.init[place]
        source = self.defs.get(start) if isinstance(start, Value) else None
        if not (isinstance(source, Apply) and source.op.reserves):
            return None
        if self.uses[source.result] != 1:
            return None
        path: list[For] = []
        while True:
            path.append(loop)
            array, result = loop.body.params[place], loop.body.yields[place]
            assert isinstance(result, Value)
            if self.uses.get(array) != 1 or self.uses.get(result) != 1:
                return None
            last = next((s for s in loop.body.stmts if result in s.results), None)
            if isinstance(last, For) and array in last.init:
                loop, place = last, last.init.index(array)
                if last.results[place] != result:
                    return None
                continue
            break
        if not isinstance(last, Store) or last.accumulate or last.array != array:
            return None
        trips = {each.index: self.facts.form(each.trips) for each in path}
        index = tuple(v for v in last.index if isinstance(v, Value) and v in trips)
        if len(last.index) != len(index) or len(set(index)) != len(path):
            return None
        if [trips[v] for v in index] != [self.facts.form(size) for size in source.args]:
            return None
        return self.slice(path, index, last.value)

    def slice(self, path: Sequence[For], index: tuple[Value, ...], value: Operand) -> _Made | None:
        """Return the statements of a nest that compute a value, if they are few and simple."""
        inside = {v for s in walk((path[0],)) for v in s.results}
        inside |= {v for each in path for v in each.body.params}
        needed: set[Operand] = {value}
        found: list[Apply | Load] = []
        for stmt in reversed([s for each in path for s in each.body.stmts]):
            if needed.isdisjoint(stmt.results):
                continue
            if not isinstance(stmt, Apply | Load) or len(stmt.results) != 1:
                return None
            if isinstance(stmt.results[0].type, Array):
                return None
            if isinstance(stmt, Load) and (stmt.array in inside or stmt.array in self.overwritten):
                return None
            needed |= stmts_reads((stmt,))
            found.append(stmt)
        made = {stmt.results[0] for stmt in found}
        if not found or len(found) > MOST or found[0].results[0] != value:
            return None
        if any(v in inside and v not in made for v in needed):
            return None
        return _Made(index, tuple(reversed(found)))

    # -- whether it pays -------------------------------------------------------------------

    def pays(
        self, nest: For, array: Value, made: _Made, rest: Sequence[Stmt], inside: bool
    ) -> bool:
        """Whether recomputing costs less than keeping the array, per element."""
        assert isinstance(array.type, Array)
        readers = self.readers(array, rest)
        # A weakly typed number is not what a load gives.
        if readers is None or made.value.type != array.type.element:
            return False
        costs = self.costs
        # A row made in a loop stays in cache; of other arrays nothing is known.
        stream, store = (
            (costs.load, costs.store) if inside else (costs.load_memory, costs.store_memory)
        )

        def loads(count: int, streams: int, size: int) -> float:
            return size * (count * costs.load + streams * (stream - costs.load))

        work = sum(costs.seconds(s) for s in made.stmts if isinstance(s, Apply))
        sources = [s.array for s in made.stmts if isinstance(s, Load)]
        each = max((a.type.numpy.itemsize for a in sources), default=0)
        size = array.type.numpy.itemsize
        keep = again = 0.0
        if len(nest.results) == 1 and all(isinstance(s, _PURE) for s in walk((nest,))):
            # The nest computes nothing else: it is removed.
            keep += work + loads(len(sources), len(set(sources)), each)
        keep += size * store
        for reader in readers:
            keep += loads(reader.loads, 1, size)
            again += reader.loads * work
            more = set(sources) - reader.arrays
            again += loads(reader.loads * len(sources), len(more), each)
        return again < keep

    def readers(self, array: Value, rest: Sequence[Stmt]) -> list[_Reader] | None:
        """Return the loads of elements of an array, after which it is dead.

        None if it has other uses, or if several iterations of a nest load the same element.
        """
        if self.uses.get(array, 0) != self.loads[array]:
            return None
        found: list[_Reader] = []
        seen = 0
        for stmt in rest:
            here: list[tuple[Load, int]] = []
            if not self.once((stmt,), array, (), here):
                return None
            seen += len(here)
            often = sum(1 for _, depth in here if depth)  # loads outside of loops are negligible
            if often:
                arrays = frozenset(s.array for s in walk((stmt,)) if isinstance(s, Load))
                found.append(_Reader(often, arrays - {array}))
        return found if seen == self.loads[array] > 0 else None

    def once(
        self,
        stmts: Sequence[Stmt],
        array: Value,
        counters: tuple[Value, ...],
        found: list[tuple[Load, int]],
    ) -> bool:
        """Collect loads of an array and the number of loops around each.

        False if several iterations of those loops load the same element.
        """
        for stmt in stmts:
            if isinstance(stmt, Load) and stmt.array == array:
                # Each counter must index an axis of its own.
                forms = [dict(self.facts.form(operand).terms) for operand in stmt.index]
                moving = [[v for v in form if v in counters] for form in forms]
                if not {each[0] for each in moving if len(each) == 1}.issuperset(counters):
                    return False
                found.append((stmt, len(counters)))
            around = (*counters, stmt.index) if isinstance(stmt, For) else counters
            for block in blocks(stmt):
                if isinstance(stmt, While) and any(
                    isinstance(s, Load) and s.array == array for s in walk(block.stmts)
                ):
                    return False
                if not self.once(block.stmts, array, around, found):
                    return False
        return True
