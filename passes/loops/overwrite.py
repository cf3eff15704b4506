"""Remove dead stores, and the initialisation of arrays that a nest of loops overwrites.

The adjoint of a nest that writes an array clears its cotangent, and adds to cotangents that were
just allocated. Where the nest visits every element once, neither is needed.

Before (``%a.ct.3`` is not read)::

    %b.ct = full[f64] 0.0:f64 %n
    %a.ct.3, %b.ct.3 = reverse L0 %i.r carrying (%a.ct.1 = %a.ct, %b.ct.1 = %b.ct) {
      %c = load %a.ct.1[%i.r]
      %a.ct.2 = store %a.ct.1[%i.r] 0.0:f64
      %b.ct.2 = accumulate %b.ct.1[%i.r] %c
      yield %a.ct.2 %b.ct.2
    }

After::

    %b.ct = empty[f64] %n
    %a.ct.3, %b.ct.3 = reverse L0 %i.r carrying (%a.ct.1 = %a.ct, %b.ct.1 = %b.ct) {
      %c = load %a.ct.1[%i.r]
      %b.ct.2 = store %b.ct.1[%i.r] %c
      yield %a.ct.1 %b.ct.2
    }

The only bits that change are signs of zeros, identically under every plan, because the pass runs
before `remat`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.dependence.accesses import Access, Visit, accesses, visits
from adc.ir.analysis.sizes.affine import Facts, Form, Same, equated
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Function,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.ops import array
from adc.ir.types import Array
from adc.ir.walk import (
    all_use_counts,
    loop_values,
    map_blocks,
    map_operands,
    rebuilt,
    stmts_reads,
    substitute,
    with_stmts,
)


def overwrite(fn: Function) -> Function:
    """Return `fn` without dead stores and without unneeded initialisation of arrays."""
    uses = all_use_counts(fn)

    def make(recalled: Mapping[Value, Operand] | None) -> Overwriting:
        return Overwriting(uses, mirrors=recalled is not None)

    return rebuilt(fn, make)


class Overwriting:
    """The rewriting, and the facts it collects about loops."""

    def __init__(self, uses: Mapping[Value, int], mirrors: bool) -> None:
        self.uses = uses
        # Whether recalled values and reversed loops belong to another function.
        self.mirrors = mirrors
        self.env: dict[Value, Operand] = {}
        self.facts = Facts()
        self.loops: dict[str, For | While] = {}
        self.trips: dict[Value, Form] = {}
        self.same: Same[Form] = Same()
        # Stores that add to nothing.
        self.first: set[Value] = set()
        self.learned = False

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        if not self.learned:
            self.learned = True
            for stmt in walk(tuple(stmts)):
                self.learn(stmt)
            for stmt in stmts:
                if isinstance(stmt, Check):
                    self.unify(stmt)
        fills = {s.result: s for s in stmts if isinstance(s, Apply) and s.op.fills}
        unfilled: set[Value] = set()
        for stmt in stmts:
            if not isinstance(stmt, For | Reverse):
                continue
            for init, param, result in zip(stmt.init, stmt.body.params, stmt.results, strict=True):
                if not isinstance(init, Value) or not isinstance(init.type, Array):
                    continue
                if not self.uses.get(result, 0):
                    self.drop(stmt, param)
                elif init in fills and self.uses[init] == 1:
                    if self.covers(stmt, param, fills[init].args[1:]):
                        unfilled.add(init)
        kept: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Store):
                if stmt.result in self.env:
                    continue
                if stmt.result in self.first:
                    stmt = replace(stmt, accumulate=False)
            elif isinstance(stmt, Apply) and stmt.results[0] in unfilled:
                stmt = replace(stmt, op=array.empty, args=stmt.args[1:])
            stmt = map_operands(stmt, lambda operand: substitute(operand, self.env))
            kept.append(map_blocks(stmt, self.block))
        return tuple(kept)

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block.stmts)
        return with_stmts(block, stmts, [substitute(v, self.env) for v in block.yields])

    def learn(self, stmt: Stmt) -> None:
        """Record facts about integers; those of a mirrored iteration are the forward ones."""
        facts = self.facts
        match stmt:
            case Apply():
                facts.define(stmt)
            case For(label=label, index=index, trips=trips):
                self.loops[label] = stmt
                self.trips[index] = facts.form(trips)
            case While(label=label):
                self.loops[label] = stmt
            case Recall() | Reverse() if not self.mirrors:
                facts.mirror(stmt, self.loops)

    def unify(self, check: Check) -> None:
        """Record that two sizes are equal, or the function raises and its arrays are unused."""
        equal = equated(check, self.facts.defs)
        if equal is not None:
            self.same.join(*map(self.facts.form, equal))

    # -- dead stores and full coverage -----------------------------------------------------

    def drop(self, loop: For | Reverse, param: Value) -> None:
        """Drop a store to an array that the loop carries and that is dead after it.

        Every iteration must touch its own element, and read it before the store.
        """
        found = visits(loop, param, self.uses, self.facts)
        last = found[-1] if found else None
        if last is None or not isinstance(last.stmt, Store) or last.stmt.accumulate:
            return
        if self.axes(loop, last) and all(visit.is_of(last) for visit in found):
            self.env[last.stmt.result] = last.stmt.array

    def covers(self, loop: For | Reverse, param: Value, sizes: Sequence[Operand]) -> bool:
        """Whether the loop writes every element of a carried array before it reads the element."""
        forms = [self.same.find(self.facts.form(size)) for size in sizes]
        left = [axis for axis, form in enumerate(forms) if form != Form((), 1)]
        first = self.first_store(loop, param, forms, left)
        if first is None or first.value == param:
            return False
        self.first.add(first.result)
        return True

    def first_store(
        self, loop: For | Reverse, param: Value, sizes: Sequence[Form], left: Sequence[int]
    ) -> Store | None:
        """Return the store that is the first access of a loop nest to every element.

        Along one of the axes that are `left`, each iteration has its own index; its first access is
        the store, or a loop that does this along the other axes.
        """
        k = loop.body.params.index(param)
        found: list[Access] = []
        if not accesses(loop.body, param, k, found):
            return None
        counter = self.facts.form(loop.index)
        index = counter.terms[0][0]
        for axis in left:
            own = {self.facts.form(stmt.index[axis]) for stmt in found}
            trips = self.trips.get(index)
            if own == {counter} and trips is not None and self.same.find(trips) == sizes[axis]:
                break
        else:
            return None
        left = [each for each in left if each != axis]
        for stmt in loop.body.stmts:
            if isinstance(stmt, Store) and stmt.array == param:
                return None if left else stmt
            if isinstance(stmt, For | Reverse) and param in stmt.init:
                inner = stmt.body.params[stmt.init.index(param)]
                return self.first_store(stmt, inner, sizes, left)
            if param in stmts_reads((stmt,)):
                return None
        return None

    def axes(self, loop: For | Reverse, access: Visit) -> list[Value | None]:
        """Return for every axis the counter that its index follows, or an empty list.

        The list is empty if some counter of the loops does not determine the element.
        """
        varying = self.varying(loop)
        axes: list[Value | None] = []
        for form in access.index:
            moving = [value for value, _ in form.terms if value in varying]
            single = moving[0] if len(moving) == 1 and moving[0] in access.path else None
            axes.append(None if single in axes else single)
        return axes if set(access.path) <= set(axes) else []

    def varying(self, loop: For | Reverse) -> set[Value]:
        """Return the values that may differ between the iterations of a loop and of its mirror."""
        if isinstance(loop, Reverse) and not self.mirrors:
            return loop_values(loop) | loop_values(self.loops[loop.loop])
        return loop_values(loop)
