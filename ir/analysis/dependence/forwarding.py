"""Find loads whose element is unchanged when the reverse code runs.

A load in a loop reads one version of an array; when the reverse code runs, only the last version
exists. If no store that runs after the load can write to the loaded element, the last version still
has it: the value needs neither tape nor recomputation. In-place Cholesky reads factors that are
final, so its reverse code stores nothing beyond the result.

The proof goes over pairs of a load and a store: for every loop that both are in, and for a later
iteration of it (and for a later statement of the same iteration), the indices must differ in some
axis, by the affine facts that hold at both places.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

from adc.ir.analysis.sizes.affine import Facts, Form, Same
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
)
from adc.ir.types import Array


@dataclass
class _Access:
    """A load or store: its index, the facts that hold there, its loops, and its position.

    A product of matrices is a store to every element. `late`: of a version that has been stored to.
    """

    stmt: Load | Store | Gemm
    forms: tuple[Form, ...]
    facts: tuple[Form, ...]
    loops: tuple[Value, ...]
    place: int
    block: int
    late: bool


class _Families(Same[Value]):
    """Array values connected by stores and loop carrying: the versions of one array."""

    def __init__(self) -> None:
        super().__init__()
        # Families whose versions are not one chain: swapped buffers, unknown writes. By their root.
        self.mixed: set[Value] = set()

    def union(self, a: Operand, b: Operand) -> None:
        if isinstance(a, Value) and isinstance(b, Value) and isinstance(a.type, Array):
            x, y = self.find(a), self.find(b)
            self.join(x, y)
            if y in self.mixed:
                self.mixed.add(x)

    def taint(self, value: Operand) -> None:
        if isinstance(value, Value):
            self.mixed.add(self.find(value))

    def is_mixed(self, value: Value) -> bool:
        return self.find(value) in self.mixed


class Forwarding:
    """The analysis of one function's forward code."""

    def __init__(self, fn: Function) -> None:
        # Answers of `source`: proofs take time, and the same question is asked repeatedly.
        self._sources: dict[tuple[Value, Value], Value | None] = {}
        self.facts = Facts()
        self.families = _Families()
        self.accesses: list[_Access] = []
        self.counter = 0
        self.block = 0
        self.blocks: dict[Value, int] = {}
        # Versions outside loops and branches, in order: the last one of a family is final.
        self.outer: list[Value] = []
        self.levels: dict[Value, int] = {}
        self.places: dict[Value, int] = {}
        # Results of branches: the versions of the arms.
        self.joins: dict[Value, tuple[Value, Value]] = {}
        # Versions that loops carry unchanged, or that both arms yield: the original version.
        self.aliases: dict[Value, Value] = {}
        self.final: dict[Value, Value] = {}
        # The loops around the allocation of an array, outside of branches, and the last version in
        # that iteration.
        self.homes: dict[Value, tuple[Value, ...]] = {}
        self.last: dict[Value, Value] = {}
        # Versions that have been stored to, and loads of them: they do not see the array as it is
        # at their place.
        self.old: set[Value] = set()
        self.stale: set[Value] = set()
        for param in fn.params:
            self.note(param, (), straight=True)
        self.walk(fn.body, (), straight=True)
        for value in self.outer:
            if isinstance(value.type, Array):
                self.final[self.families.find(value)] = value
        # A version that is not the last leaves stores in branches whose result is not read.
        for access in self.accesses:
            family = self.families.find(access.stmt.array)
            final = self.final.get(family)
            if isinstance(access.stmt, Store | Gemm) and final is not None:
                if access.place > self.places[final]:
                    del self.final[family]
            last = self.last.get(family)
            if isinstance(access.stmt, Store | Gemm) and last is not None:
                if access.place > self.places[last]:
                    del self.last[family]
        self.by_result = {a.stmt.result: a for a in self.accesses if isinstance(a.stmt, Load)}
        self.stores = {a.stmt.result: a for a in self.accesses if isinstance(a.stmt, Store)}
        self.stored = self._stored()

    def note(self, value: Value, loops: tuple[Value, ...], *, straight: bool) -> None:
        self.levels[value] = len(loops)
        self.blocks[value] = self.block
        if not straight:
            return
        if not loops:
            self.outer.append(value)
        self.places[value] = self.counter
        if isinstance(value.type, Array):
            family = self.families.find(value)
            if self.homes.setdefault(family, loops) == loops:
                self.last[family] = value

    def walk(
        self, stmts: Sequence[Stmt], loops: tuple[Value, ...], *, straight: bool = False
    ) -> None:
        outside, self.block = self.block, self.counter
        block = self.block
        for stmt in stmts:
            if isinstance(stmt, Reverse | Recall):
                continue  # reverse code changes cotangents only
            self.counter += 1
            self.step(stmt, loops)
            for value in stmt.results:
                self.note(value, loops, straight=straight)
        assert self.block == block
        self.block = outside

    def step(self, stmt: Stmt, loops: tuple[Value, ...]) -> None:
        facts, families = self.facts, self.families
        match stmt:
            case Load() | Store() | Gemm():
                late = stmt.array in self.old
                if isinstance(stmt, Load):
                    if late:
                        self.stale.add(stmt.result)
                else:
                    self.old.add(stmt.array)
                    if stmt.result is not None:
                        families.union(stmt.array, stmt.result)
                index = () if isinstance(stmt, Gemm) else stmt.index
                self.accesses.append(
                    _Access(
                        stmt,
                        tuple(facts.form(operand) for operand in index),
                        tuple(facts._log),
                        loops,
                        self.counter,
                        self.block,
                        late,
                    )
                )
            case Apply():
                facts.define(stmt)
            case Check():
                facts.assume_check(stmt)
            case If(results=results, cond=cond, then=then, orelse=orelse):
                for block, holds in ((then, True), (orelse, False)):
                    mark = facts.mark()
                    facts.assume_condition(cond, holds)
                    self.walk(block.stmts, loops)
                    facts.release(mark)
                for result, a, b in zip(results, then.yields, orelse.yields, strict=True):
                    if isinstance(result.type, Array):
                        self.joins[result] = _value(a), _value(b)
                        if self.version(a) == self.version(b):
                            self.aliases[result] = self.version(a)
                        if families.find(_value(a)) != families.find(_value(b)):
                            families.taint(a)
                            families.taint(b)
                        families.union(a, b)
                        families.union(a, result)
            case For(results=results, index=index, init=init, body=body):
                mark = facts.mark()
                facts.enter_loop(stmt)
                self.loop(body, body.yields, index, results, init, loops)
                facts.release(mark)
            case While(label=label, results=results, init=init, body=body):
                counter = Value(f"{label}.count", stmt.body.yields[0].type)
                mark = facts.mark()
                self.loop(body, body.yields[1:], counter, results, init, loops)
                facts.release(mark)
            case Call(args=args, results=results):
                for operand in (*args, *results):
                    if isinstance(operand, Value) and isinstance(operand.type, Array):
                        families.taint(operand)

    def loop(
        self,
        body: Block,
        nexts: tuple[Operand, ...],
        index: Value,
        results: tuple[Value, ...],
        init: tuple[Operand, ...],
        loops: tuple[Value, ...],
    ) -> None:
        families = self.families
        self.levels[index] = len(loops) + 1
        for param, start in zip(body.params, init, strict=True):
            self.levels[param] = len(loops) + 1
            if isinstance(param.type, Array) and isinstance(start, Value):
                families.union(start, param)
        for param, following, start in zip(body.params, nexts, init, strict=True):
            if isinstance(param.type, Array) and following != param:
                self.old.add(_value(start))
        self.walk(body.stmts, (*loops, index), straight=True)
        for k, (param, following, result) in enumerate(
            zip(body.params, nexts, results, strict=True)
        ):
            if isinstance(param.type, Array):
                if self.version(following) == param:
                    self.aliases[param] = self.aliases[result] = self.version(init[k])
                if families.find(_value(following)) != families.find(param):
                    families.taint(following)
                    families.taint(param)
                families.union(param, following)
                families.union(param, result)
        heads = [families.find(p) for p in body.params if isinstance(p.type, Array)]
        for head in heads:
            if heads.count(head) > 1:
                families.taint(head)

    @cached_property
    def overwritten(self) -> frozenset[Value]:
        """The families of arrays of which elements loaded in loops may be overwritten later."""
        return frozenset(
            self.families.find(access.stmt.array)
            for access in self.accesses
            if isinstance(access.stmt, Load) and access.loops and self.source(access.stmt) is None
        )

    def with_loads(self, loads: Mapping[int, Load]) -> Forwarding:
        """Return the analysis of the same code with loads in front of stores, given by their ids.

        Each loads the element that its store overwrites.
        """
        made = copy(self)
        vars(made).pop("overwritten", None)
        made._sources = dict(self._sources)
        made.levels, made.blocks = dict(self.levels), dict(self.blocks)
        made.by_result, made.stale = dict(self.by_result), set(self.stale)
        made.accesses = []
        for store in self.accesses:
            load = loads.get(id(store.stmt))
            if load is not None:
                # Where the statement in front of the store is: all that follows comes later.
                access = replace(store, stmt=load, place=store.place - 1)
                made.accesses.append(access)
                made.by_result[load.result] = access
                made.levels[load.result] = len(store.loops)
                made.blocks[load.result] = store.block
                if store.late:
                    made.stale.add(load.result)
            made.accesses.append(store)
        return made

    def _stored(self) -> dict[Value, Load]:
        """Return, for values that a store of their own block puts into an array, a load of them."""
        found: dict[Value, Load] = {}
        for access in list(self.accesses):
            stmt = access.stmt
            if not isinstance(stmt, Store) or stmt.accumulate:
                continue
            value = stmt.value
            while isinstance(value, Value) and self.blocks.get(value) == access.block:
                load = Load(value, stmt.result, stmt.index, stmt.loc)
                # A load gives NumPy's type; a Python number of the same bits is not the same value.
                fits = isinstance(stmt.array.type, Array) and value.type == stmt.array.type.element
                if fits and value not in found and value not in self.by_result:
                    found[value] = load
                    self.by_result[value] = replace(access, stmt=load)
                cast = self.facts.defs.get(value)
                if cast is None or not cast.op.converts:
                    break
                (value,) = cast.args
                if value.type.dtype != cast.result.type.dtype:
                    break
        return found

    # -- queries ---------------------------------------------------------------------------

    def source(self, load: Load) -> Value | None:
        """Return an array version that has the loaded element when the reverse code runs."""
        key = load.result, load.array
        if key not in self._sources:
            self._sources[key] = self._source(load)
        return self._sources[key]

    def _source(self, load: Load) -> Value | None:
        array = load.array
        if self.families.is_mixed(array):
            # A parameter that is never written is unchanged.
            return None
        final = self.final.get(self.families.find(array))
        if final is None:
            return None
        if final == array:
            return array
        if load.result in self.stale:
            return None
        access = self.by_result[load.result]
        return final if self.unchanged(access, 0) else None

    def within(self, load: Load) -> Value | None:
        """Return a version that has the loaded element at the end of its iteration.

        That is the iteration of a loop around the load that allocates the array; else None.
        """
        family = self.families.find(load.array)
        home, last = self.homes.get(family), self.last.get(family)
        access = self.by_result.get(load.result)
        if not home or last is None or access is None or load.result in self.stale:
            return None
        if self.families.is_mixed(load.array) or access.loops[: len(home)] != home:
            return None
        return last if self.unchanged(access, len(home)) else None

    def version(self, array: Operand) -> Value:
        """Return the version that an array equals, where loops and branches do not change it."""
        found = _value(array)
        while found in self.aliases:
            found = self.aliases[found]
        return found

    def agrees(self, load: Load, version: Value) -> bool:
        """Whether a version of the same iteration, or one in front of it, has the loaded element.

        Only stores, and branches of them, lie between that version and the loaded one.
        """
        access = self.by_result.get(load.result)
        if access is None:
            return False
        return self._survives(access, version, load.array) or self._survives(
            access, load.array, version
        )

    def _survives(self, load: _Access, earlier: Value, later: Value) -> bool:
        """Whether no store writes to a loaded element between one version and another."""
        later, earlier = self.version(later), self.version(earlier)
        if later == earlier:
            return True
        if later in self.joins:
            return all(self._survives(load, earlier, arm) for arm in self.joins[later])
        store = self.stores.get(later)
        if store is None:
            return False
        level = len(store.loops)
        if load.loops[:level] != store.loops:
            return False
        return self._survives(load, earlier, _value(store.stmt.array)) and self.differs(
            load, store, level, later=False
        )

    def unchanged(self, load: _Access, depth: int) -> bool:
        """Whether no store writes to a loaded element later, in an iteration of `depth` loops."""
        stores = self._writes.get(self.families.find(load.stmt.array), [])
        first = bisect_right(stores, load.place, key=lambda each: each.place)
        # Of the stores in front of the load, only those in a loop around it run again after it.
        around = load.loops[: depth + 1]
        if len(around) > depth:
            while first and stores[first - 1].loops[: depth + 1] == around:
                first -= 1
        return all(self.independent(load, each, depth) for each in stores[first:])

    @cached_property
    def _writes(self) -> dict[Value, list[_Access]]:
        """The stores to each family of arrays, in the order of their places."""
        found: dict[Value, list[_Access]] = {}
        for access in self.accesses:
            if isinstance(access.stmt, Store | Gemm):
                found.setdefault(self.families.find(access.stmt.array), []).append(access)
        return found

    def independent(self, load: _Access, store: _Access, depth: int) -> bool:
        """Whether `store`, where it runs after `load`, always writes to another element."""
        common = 0
        while (
            common < min(len(load.loops), len(store.loops))
            and load.loops[common] == store.loops[common]
        ):
            common += 1
        cases = list(range(depth, common))
        if store.place > load.place:
            cases.append(common)
        return all(self.differs(load, store, level, level < common) for level in cases)

    def differs(self, load: _Access, store: _Access, level: int, later: bool) -> bool:
        """Whether the indices differ if the iterations agree in the first `level` loops.

        `later`: and the store's iteration of the next common loop comes after the load's.
        """
        if isinstance(store.stmt, Gemm):
            return False
        rename = _Renamer(self.levels, level)
        facts = Facts()
        for form in load.facts:
            facts.assume(form)
        for form in store.facts:
            facts.assume(rename(form))
        if later:
            index = load.loops[level]
            mine, theirs = Form(((index, 1),), 0), rename(Form(((index, 1),), 0))
            facts.assume(theirs - mine + -1)
        pairs = [(a, rename(b)) for a, b in zip(load.forms, store.forms, strict=True)]
        for k, (a, b) in enumerate(pairs):
            mark = facts.mark()
            for j, (c, d) in enumerate(pairs):
                if j != k:
                    facts.assume(c - d)
                    facts.assume(d - c)
            different = facts.proves_different(a, b)
            facts.release(mark)
            if different:
                return True
        return False


class _Renamer:
    """Renames the values computed inside a loop: their values in another iteration."""

    def __init__(self, levels: dict[Value, int], level: int) -> None:
        self.levels = levels
        self.level = level
        self.made: dict[Value, Value] = {}

    def __call__(self, form: Form) -> Form:
        terms: dict[Value, int] = {}
        for value, coefficient in form.terms:
            terms[self.name(value)] = coefficient
        return Form.of(terms, form.const)

    def name(self, value: Value) -> Value:
        if self.levels.get(value, 0) <= self.level:
            return value
        if value not in self.made:
            self.made[value] = Value(f"{value.name}'", value.type)
        return self.made[value]


def _value(operand: Operand) -> Value:
    assert isinstance(operand, Value)
    return operand
