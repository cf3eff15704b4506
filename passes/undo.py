"""Undo logs: reverse code puts overwritten elements back and reads arrays as they were.

A load of an element that is overwritten later would be kept for reverse code, one value for each
load. Where the array is changed by stores of elements, what each store overwrites is enough: the
reversed loops carry the array, too, and begin every iteration by undoing its stores. Before::

    %u.4 = for L %i in 0 to %n carrying (%u.1 = %u) {
      %i.1 = add %i 1
      %a = load %u.1[%i]
      %b = load %u.1[%i.1]
      …
      %u.2 = store %u.1[%i.1] %t
      yield %u.2
    }
    %u.ct.3 = reverse L %i.r carrying (%u.ct = %u.ct.0) {
      %a.r = recall %a
      …

After (%b is what the store overwrites; otherwise it would be loaded)::

    …
    %u.4.r = recall %u.4
    %u.ct.3, %u.back.2 = reverse L %i.r carrying (%u.ct = %u.ct.0, %u.back = %u.4.r) {
      %i.1.r = recall %i.1
      %b.r = recall %b
      %u.back.1 = store %u.back[%i.1.r] %b.r
      %a.r = recall %a
      …
      yield … %u.back.1
    }

The recall of ``%a`` stays: `remat` decides about it, and `Restored` tells it that ``%u.back.1`` has
the element. In such an iteration ``%u.back`` is the array as the forward iteration left it,
``%u.back.1`` the array as it was when the iteration began. Loops inside are undone where their
reverse code runs.

An array is restored if the versions that a loop hands on are one chain of stores of elements,
branches of such, and loops of such. This is done where the plan is better for it: faster, or
smaller if memory is short.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adc.ir.builder import Builder
from adc.ir.core import (
    Block,
    Call,
    For,
    Function,
    If,
    Load,
    Operand,
    Pop,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.types import INT, Array
from adc.ir.walk import Names, label_of, map_blocks, stmt_reads
from adc.passes.activity import carried_yields
from adc.passes.forwarding import Forwarding
from adc.passes.remat_choose import Chooser
from adc.passes.remat_facts import NOTHING_RESTORED, Restored

Planner = Callable[[Function, Restored], Chooser]


def undone(fn: Function, plan: Planner) -> tuple[Function, Chooser]:
    """Return a function with the undo logs that pay, and the plan for it.

    It has Recalls, and its own reverse code. `plan` decides about it, given what this restores.
    """
    best = plan(fn, NOTHING_RESTORED)
    if best.policy == "store":
        return fn, best
    restored = NOTHING_RESTORED
    for label, slot, array in _arrays(fn):
        if not _overwritten(best.d.forwarding, array):
            continue
        names, before = best.names, best.names.save()
        found = _Undoing(fn, restored, best.d.forwarding, names).run(label, slot)
        chooser = found and plan(*found)
        if found and chooser and _better(chooser, best, array):
            (fn, restored), best = found, chooser
        else:
            names.load(before)
    return fn, best


def _arrays(fn: Function) -> list[tuple[str, int, Value]]:
    """Return the arrays that loops outside of others hand on, from the last loop to the first."""
    reversed_ = {stmt.loop for stmt in fn.body if isinstance(stmt, Reverse)}
    return [
        (loop.label, slot, result)
        for loop in reversed(fn.body)
        if isinstance(loop, For | While) and loop.label in reversed_
        for slot, result in enumerate(loop.results)
        if isinstance(result.type, Array)
    ]


def _overwritten(forwarding: Forwarding, array: Value) -> bool:
    """Whether loops load elements of versions of an array that may be overwritten later."""
    family = forwarding.families.find(array)
    return any(
        isinstance(access.stmt, Load)
        and access.loops
        and forwarding.families.find(access.stmt.array) == family
        and forwarding.source(access.stmt) is None
        for access in forwarding.accesses
    )


def _better(chooser: Chooser, other: Chooser, array: Value) -> bool:
    if chooser.seed is not None:
        return bool(hashlib.sha256(f"{chooser.seed}:{array.name}.back".encode()).digest()[0] & 1)
    return chooser.total() < other.total()


# --- what happened to an array --------------------------------------------------------------------


class _Stuck(Exception):
    """An array that is not changed by stores of elements alone, or not reversed as a whole."""


@dataclass(frozen=True)
class _Branch:
    """Stores under a branch, of which `before` is the version in front of it."""

    stmt: If
    arms: tuple[list[_Step], list[_Step]]
    before: Value


@dataclass(frozen=True)
class _Nest:
    """A loop that hands on an array in a slot, and what its body does to it, the last first."""

    loop: For | While
    slot: int
    steps: list[_Step]


_Step = Store | _Branch | _Nest


def _nest(loop: For | While, slot: int) -> _Nest:
    steps, first = _history(carried_yields(loop)[slot], loop.body.stmts)
    if first != loop.body.params[slot]:
        raise _Stuck
    return _Nest(loop, slot, steps)


def _history(value: Operand, stmts: Sequence[Stmt]) -> tuple[list[_Step], Value]:
    """Return what made a version in a block, the last first, from which version around it."""
    made = {result: stmt for stmt in stmts for result in stmt.results}
    steps: list[_Step] = []
    while isinstance(value, Value) and value in made:
        match stmt := made[value]:
            case Store(array=value):
                steps.append(stmt)
            case If(results=results, then=then, orelse=orelse):
                k = results.index(value)
                (one, a), (other, b) = (
                    _history(arm.yields[k], arm.stmts) for arm in (then, orelse)
                )
                if a != b or any(isinstance(step, _Nest) for step in (*one, *other)):
                    raise _Stuck
                if one or other:
                    steps.append(_Branch(stmt, (one, other), a))
                value = a
            case For(results=results) | While(results=results):
                nest = _nest(stmt, results.index(value))
                if nest.steps:
                    steps.append(nest)
                value = stmt.init[nest.slot]
            case _:
                raise _Stuck
    assert isinstance(value, Value)
    return steps, value


def _stores(steps: Sequence[_Step]) -> list[Store]:
    found: list[Store] = []
    for step in steps:
        match step:
            case Store():
                found.append(step)
            case _Branch(arms=arms):
                found += [store for arm in arms for store in _stores(arm)]
            case _Nest(steps=inner):
                found += _stores(inner)
    return found


# --- putting it back ------------------------------------------------------------------------------


class _Undoing:
    """Adds an undo log to a function that may have others."""

    def __init__(
        self, fn: Function, restored: Restored, forwarding: Forwarding, names: Names
    ) -> None:
        self.fn = fn
        self.forwarding = forwarding
        self.builder = Builder(names)
        self.sources = dict(restored.sources)
        self.early = dict(restored.early)
        self.first = set(restored.first)
        self.logged = set(restored.logged)
        self.begun = restored.begun
        self.ends = dict(restored.ends)
        self.loops: dict[str, For | While] = {}
        self.reversed: dict[str, int] = {}
        self.defs: dict[Value, Stmt] = {}
        # Where loops and calls are in the forward code.
        self.order: dict[str, int] = {}
        for k, stmt in enumerate(walk(fn.body)):
            if label := label_of(stmt):
                self.order[label] = k
            self.defs.update(dict.fromkeys(stmt.results, stmt))
            if isinstance(stmt, For | While):
                self.loops[stmt.label] = stmt
            elif isinstance(stmt, Reverse):
                self.reversed[stmt.loop] = self.reversed.get(stmt.loop, 0) + 1
        # By store: what it overwrites, and the loads to be put in front of it.
        self.old: dict[int, Value] = {}
        self.loads: dict[int, Load] = {}
        # Values that undoing stores takes.
        self.taken: set[Value] = set()

    def run(self, label: str, slot: int) -> tuple[Function, Restored] | None:
        """Return the function with the log of an array that a loop hands on, if that can be."""
        loop = self.loops[label]
        array = loop.results[slot]
        before = dict(self.sources)
        body = list(self.fn.body)
        at = next(
            k
            for k, stmt in enumerate(body)
            if isinstance(stmt, Reverse) and stmt.loop == loop.label
        )
        with self.builder.block() as stmts:
            # Undoing a later loop may have come here.
            back = self.ends.get(array) or self.builder.recall(array)
            if stmts:
                self.begun = (*self.begun, array)
        try:
            nest = _nest(loop, slot)
            self.log(_stores([nest]))
            rest, _ = self.reverse_code(body[at:], [nest], back, array)
        except _Stuck:
            return None
        if not nest.steps or self.sources == before:
            return None
        body[at:] = [*stmts, *rest]
        facts = self.facts()
        if any(value.mark is not None for value in facts.logged):
            return None
        return replace(self.fn, body=self.with_loads(body)), facts

    def log(self, stores: Sequence[Store]) -> None:
        """Find the values that stores overwrite: loads of the program, or loads of their own."""
        if any(store.result.mark is not None for store in stores):
            raise _Stuck  # what the user says about values inside of a call goes first
        wanted = {id(store) for store in stores}

        def look(stmts: Sequence[Stmt]) -> None:
            read: dict[tuple[Value, tuple[Operand, ...]], Value] = {}
            for stmt in stmts:
                if isinstance(stmt, Load):
                    read.setdefault((stmt.array, stmt.index), stmt.result)
                elif isinstance(stmt, Store) and id(stmt) in wanted:
                    old = read.get((stmt.array, stmt.index))
                    if old is None:
                        assert isinstance(stmt.array.type, Array)
                        name = self.builder.names.fresh(f"{stmt.result.name}.old")
                        old = Value(name, stmt.array.type.element)
                        self.loads[id(stmt)] = Load(old, stmt.array, stmt.index, stmt.loc)
                    self.old[id(stmt)] = old
                for block in blocks(stmt):
                    look(block.stmts)

        look(self.fn.body)
        self.logged.update(self.old.values())

    def with_loads(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        done: list[Stmt] = []
        for stmt in stmts:
            if id(stmt) in self.loads:
                done.append(self.loads[id(stmt)])
            done.append(
                map_blocks(stmt, lambda b: Block(b.params, self.with_loads(b.stmts), b.yields))
            )
        return tuple(done)

    # -- reverse code ----------------------------------------------------------------------

    def reverse_code(
        self, stmts: Sequence[Stmt], steps: Sequence[_Step], back: Value, version: Value
    ) -> tuple[list[Stmt], Value]:
        """Return reverse code that undoes `steps`, too, and the array after it.

        `back` is the array in front of it, which is what the forward `version` was.
        """
        left = list(steps)
        done: list[Stmt] = []

        def undo(stmt: Reverse | None) -> None:
            """Undo a loop, and the stores between it and the loop before it."""
            nonlocal back, version
            nest = left.pop(0)
            assert isinstance(nest, _Nest)
            with self.builder.block() as more:
                back, version = self.loop(stmt or self.own(nest), nest, back)
                self.ends[version] = back
                while left and not isinstance(left[0], _Nest):
                    back, version = self.step(left.pop(0), back)
            done.extend(more)

        for stmt in stmts:
            # Frames come off the tape in the opposite order.
            places = self.mirrored(stmt)
            while left and places and self.order[_label(left[0])] > max(places):
                undo(None)
            if isinstance(stmt, Reverse):
                if left and _label(left[0]) == stmt.loop:
                    undo(stmt)
                    continue
                self.serve([self.loops[stmt.loop]], back, version)
            done.append(stmt)
        while left:
            undo(None)
        return done, back

    def mirrored(self, stmt: Stmt) -> list[int]:
        """Return the places, in the forward code, of the loops and calls that are reversed."""
        found: list[int] = []
        for each in walk((stmt,)):
            if isinstance(each, Reverse):
                found.append(self.order[each.loop])
            elif isinstance(each, Call) and each.mirror:
                found.append(self.order[each.mirror])
        return found

    def own(self, nest: _Nest) -> Reverse:
        """Return reverse code for a loop that has none."""
        loop = nest.loop
        if self.reversed.get(loop.label) or any(
            isinstance(s, Recall | Reverse | Push | Pop) for s in walk(loop.body.stmts)
        ):
            raise _Stuck
        index = Value(self.builder.names.fresh(f"{loop.label}.r"), INT)
        return Reverse((), loop.label, index, (), Block((), (), ()), loop.loc)

    def loop(self, stmt: Reverse, nest: _Nest, back: Value) -> tuple[Value, Value]:
        """Emit reverse code of a loop that undoes it; return the array after it."""
        names, loop, body = self.builder.names, nest.loop, stmt.body
        if self.reversed.get(loop.label, 0) > 1:
            raise _Stuck
        like = loop.body.params[nest.slot]
        param = Value(names.fresh(f"{like.name}.back"), like.type)
        end = carried_yields(loop)[nest.slot]
        assert isinstance(end, Value)
        inner, version = param, end
        steps = list(nest.steps)
        with self.builder.block() as first:
            while steps and not isinstance(steps[0], _Nest):
                inner, version = self.step(steps.pop(0), inner)
        self.first.update(
            result for s in first for result in s.results if not isinstance(s, Recall)
        )
        deep = not any(isinstance(step, _Nest) for step in steps)
        self.serve(loop.body.stmts, inner, version, deep=deep)
        self.serve_early(loop, param, end)
        rest, last = self.reverse_code(body.stmts, steps, inner, version)
        result = names.value(param)
        block = Block((*body.params, param), (*first, *rest), (*body.yields, last))
        made = replace(stmt, results=(*stmt.results, result), init=(*stmt.init, back), body=block)
        self.builder.emit(made)
        start = loop.init[nest.slot]
        assert isinstance(start, Value)
        return result, start

    def step(self, step: _Step, back: Value) -> tuple[Value, Value]:
        """Emit what undoes stores; return the array after it, and which version that is."""
        builder = self.builder
        if isinstance(step, Store):
            builder.loc = step.loc
            index = tuple(map(self.recall, step.index))
            old = self.recall(self.old[id(step)])
            return builder.store(back, index, old, hint=back.name), step.array
        assert isinstance(step, _Branch)
        builder.loc = step.stmt.loc
        cond = self.recall(step.stmt.cond)
        arms: list[Block] = []
        for arm in step.arms:
            inner = back
            with builder.block() as stmts:
                for each in arm:
                    inner, _ = self.step(each, inner)
            arms.append(Block((), tuple(stmts), (inner,)))
        builder.loc = step.stmt.loc
        (result,) = builder.if_(cond, arms[0], arms[1], [back.name])
        return result, step.before

    def recall(self, operand: Operand) -> Operand:
        if not isinstance(operand, Value):
            return operand
        self.taken.add(operand)
        return self.builder.recall(operand)

    # -- loads -----------------------------------------------------------------------------

    def serve(
        self, stmts: Sequence[Stmt], back: Value, version: Value, *, deep: bool = True
    ) -> None:
        """Note the loads whose elements `back` has, in the place of a forward version."""
        for stmt in stmts:
            if isinstance(stmt, Load):
                if self.agrees(stmt, version):
                    self.sources.setdefault((stmt.result, stmt.array), back)
            elif deep or isinstance(stmt, If):
                for block in blocks(stmt):
                    self.serve(block.stmts, back, version, deep=deep)

    def serve_early(self, loop: For | While, back: Value, version: Value) -> None:
        """Note the values, outside of branches, that the array has before an iteration's undoing.

        Above all those are values that the iteration stored.
        """
        here = {result for stmt in loop.body.stmts for result in stmt.results}
        loads = [stmt for stmt in loop.body.stmts if isinstance(stmt, Load)]
        loads += [load for load in self.forwarding.stored.values() if load.array in here]
        for load in loads:
            key = load.result, load.array
            if key not in self.sources and self.agrees(load, version):
                self.sources[key] = back
                self.early[key] = load.index

    def agrees(self, load: Load, version: Value) -> bool:
        return load.result not in self.logged and self.forwarding.agrees(load, version)

    def facts(self) -> Restored:
        # What comes in front of the undoing, or takes part in it, is not read from what is undone.
        late = {result for result, _ in self.sources}
        for key, index in list(self.early.items()):
            if any(isinstance(each, Value) and self.reaches(each, late) for each in index):
                del self.early[key], self.sources[key]
        kept = {value for value in self.taken if self.reaches(value, late)}
        logged = frozenset(self.logged | kept)
        first = frozenset(self.first)
        return Restored(self.sources, self.early, first, logged, self.begun, self.ends)

    def reaches(self, value: Value, goals: set[Value]) -> bool:
        """Whether computing a value again may take one of some others."""
        waiting, seen = [value], {value}
        while waiting:
            stmt = self.defs.get(waiting.pop())
            if stmt is None:
                continue
            if any(result in goals for s in walk((stmt,)) for result in s.results):
                return True
            for read in stmt_reads(stmt):
                if read not in seen:
                    seen.add(read)
                    waiting.append(read)
        return False


def _label(step: _Step) -> str:
    return step.loop.label if isinstance(step, _Nest) else ""


__all__ = ["undone"]
