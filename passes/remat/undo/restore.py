"""Add code that restores loop-carried values to reverse code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.builder import Builder
from adc.ir.core import (
    Apply,
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
from adc.ir.errors import RecomputeError, Span
from adc.ir.types import INT, Array
from adc.ir.walk import Names, carried_yields, label_of, map_stmts
from adc.passes.remat.facts import Restored
from adc.passes.remat.inversion_check import compare, largest
from adc.passes.remat.undo.history import (
    Branch,
    History,
    Nest,
    Step,
    Stuck,
    Update,
    reaches,
    result_of,
    stores,
)
from adc.passes.remat.undo.slots import Carried

# The state that is reset when an attempt is given up.
_GROWS = (
    "sources", "values", "early", "first", "logged", "begun", "ends", "turn", "old", "loads",
    "updates", "inexact",
)  # fmt: skip


class Positions:
    """The positions of everything in a function, whatever is undone there."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.loops: dict[str, For | While] = {}
        self.reversed: dict[str, int] = {}
        self.defs: dict[Value, Stmt] = {}
        # The positions of loops and calls in the forward code.
        self.counted = set(fn.params)
        self.outer = {value for stmt in fn.body for value in stmt.results}
        self.order: dict[str, int] = {}
        self.places: dict[Value, int] = {}
        for k, stmt in enumerate(walk(fn.body)):
            if label := label_of(stmt):
                self.order[label] = k
            for value in stmt.results:
                self.places[value] = k
                self.defs[value] = stmt
            if isinstance(stmt, For | While):
                self.loops[stmt.label] = stmt
                if isinstance(stmt, For):
                    self.counted.add(stmt.index)
            elif isinstance(stmt, Reverse):
                self.reversed[stmt.loop] = self.reversed.get(stmt.loop, 0) + 1


class Undoing:
    """Adds an undo log to a function that may have others."""

    def __init__(
        self, code: Positions, restored: Restored, forwarding: Forwarding, names: Names
    ) -> None:
        self.code = code
        self.fn = code.fn
        self.forwarding = forwarding
        self.builder = Builder(names)
        self.sources = dict(restored.sources)
        self.values = dict(restored.values)
        self.early = dict(restored.early)
        self.first = dict(restored.first)
        self.logged = set(restored.logged)
        self.begun = restored.begun
        self.ends = dict(restored.ends)
        self.turn = set(restored.in_turn)
        self.short = set(restored.short)
        self.inexact = set(restored.inexact)
        # By store: the value it overwrites, the loads to be inserted before it, and its update.
        self.old: dict[int, Value] = {}
        self.loads: dict[int, Load] = {}
        self.updates: dict[int, list[Update]] = {}
        self.history = History(self.code.defs)
        # By mark: whether something is restored, or the statement that cannot be undone.
        self.outcome: dict[Span | None, Stmt | None] = {}
        # Values that undoing needs.
        self.taken: set[Value] = set()
        # Values that inexact inverses need.
        self.steps: dict[Value, Stmt] = {}

    def run(
        self, wanted: Sequence[Carried], *, rounding: bool = False
    ) -> tuple[Function, Restored] | None:
        """Return the function that restores loop-carried values, as far as possible.

        `rounding`: floats, too, inexactly.
        """
        self.history = History(self.code.defs, rounding=rounding)
        body = self.fn.body
        for each in wanted:
            body = self.restoring(body, each) or body
        if body is self.fn.body:
            return None
        facts = self.facts(body)
        if not rounding and any(value.mark is not None for value in facts.logged):
            return None
        return replace(self.fn, body=self.with_loads(body)), facts

    def restoring(self, body: tuple[Stmt, ...], carried: Carried) -> tuple[Stmt, ...] | None:
        """Return code that restores the value that a loop carries in a slot, if possible."""
        before = {name: copy(getattr(self, name)) for name in _GROWS}
        loop = self.code.loops[carried.label]
        if carried_yields(loop)[carried.slot] in self.values:
            return None  # with the loop around it
        stuck: Stmt | None = loop
        try:
            nest = self.history.nest(loop, carried.slot)
            self.log(nest)
            body = self.begin(body, nest)
            found = (self.sources, self.values) != (before["sources"], before["values"])
            if nest.steps and found:
                if self.history.rounding:
                    self.note(carried, None)
                    self.short.add(carried.label)
                return body
            stuck = None
        except Stuck as error:
            stuck = error.stmt or loop
        vars(self).update(before)
        self.note(carried, stuck)
        return None

    def note(self, carried: Carried, stuck: Stmt | None) -> None:
        """Record the fate of a mark: it suffices that one of its variables is restored."""
        mark = carried.param.mark
        if mark is not None and self.history.rounding:
            self.outcome[mark.loc] = stuck and self.outcome.get(mark.loc, stuck)

    def refusal(self) -> RecomputeError | None:
        """Return the error for a request of the user that cannot be met."""
        for loc, stmt in self.outcome.items():
            if stmt is not None:
                return RecomputeError(
                    "this value cannot be restored by inverse operations: "
                    f"{_why(stmt)}{line_of(stmt)}", loc, WAY_OUT,
                )  # fmt: skip
        for value, stmt in self.steps.items():
            if value in self.logged and not is_truth(value):
                return RecomputeError(
                    "this update cannot be inverted: the added value depends on values that are "
                    "restored later", stmt.loc, WAY_OUT,
                )  # fmt: skip
        return None

    def begin(self, stmts: Sequence[Stmt], nest: Nest) -> tuple[Stmt, ...]:
        """Return code in which a loop is undone where it is reversed, and the code that follows."""
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, Reverse) and stmt.loop == nest.loop.label:
                last = nest.loop.results[nest.slot]
                with self.builder.block() as first:
                    # Undoing a later loop may have come here.
                    back = self.ends.get(last) or self.builder.recall(last)
                    if first and isinstance(last.type, Array) and stmts is self.fn.body:
                        self.begun = (*self.begun, last)
                    rounding = nest.loop.results[nest.slot].type.kind == "f"
                    rounding = rounding and self.history.rounding
                    size = largest(self.builder, back) if rounding else None
                rest, _ = self.reverse_code(stmts[k:], [nest], back, last, None)
                with self.builder.block() as check:
                    if size is not None:
                        mark = nest.loop.body.params[nest.slot].mark
                        loc = nest.loop.loc if mark is None else mark.loc
                        start = nest.loop.init[nest.slot]
                        compare(self.builder, rest[0].results[-1], start, size, loc)
                return (*stmts[:k], *first, rest[0], *check, *rest[1:])
        return tuple(map_stmts(stmt, lambda stmts: self.begin(stmts, nest)) for stmt in stmts)

    def log(self, nest: Nest) -> None:
        """Find the values that stores overwrite: loads of the program, or inserted loads."""
        undone = stores([nest])
        if any(store.result.mark is not None for store in undone) and not self.history.rounding:
            raise Stuck  # the user's marks of values inside of a call take precedence
        wanted = {id(store) for store in undone}

        def look(stmts: Sequence[Stmt]) -> None:
            read: dict[tuple[Value, tuple[Operand, ...]], Value] = {}
            stored: dict[tuple[Value, tuple[Operand, ...]], Operand] = {}
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
                    updates = self.history.updates(stmt.value, old)
                    if updates is None and (value := stored.get((stmt.array, stmt.index))):
                        if isinstance(value, Value):
                            updates = self.history.updates(stmt.value, value)
                    if updates is None or stmt.accumulate:
                        if self.history.rounding:
                            raise Stuck(stmt)
                        self.logged.add(old)
                    else:
                        self.updates[id(stmt)] = updates
                if isinstance(stmt, Store) and not stmt.accumulate:
                    stored[stmt.result, stmt.index] = stmt.value
                for block in blocks(stmt):
                    look(block.stmts)

        look([nest.loop])

    def with_loads(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        if not self.loads:
            return stmts
        done: list[Stmt] = []
        for stmt in stmts:
            if id(stmt) in self.loads:
                done.append(self.loads[id(stmt)])
            done.append(map_stmts(stmt, self.with_loads))
        return tuple(done)

    # -- reverse code ----------------------------------------------------------------------

    def reverse_code(
        self,
        stmts: Sequence[Stmt],
        steps: Sequence[Step],
        back: Value,
        version: Operand,
        around: str | None,
    ) -> tuple[list[Stmt], Value]:
        """Return reverse code that undoes `steps`, too, and the array after it.

        `back` is the array in front of it, which equals the forward `version`; `around` is the loop
        that is undone.
        """
        left = list(steps)
        done: list[Stmt] = []

        def undo(stmt: Reverse | None) -> None:
            """Undo a loop, and the stores between it and the loop before it."""
            nonlocal back, version
            nest = left.pop(0)
            assert isinstance(nest, Nest)
            with self.builder.block() as more:
                back, version = self.loop(stmt or self.own(nest), nest, back)
                if around is None and isinstance(back.type, Array):
                    assert isinstance(version, Value)
                    self.ends[version] = back
                self.provide_late(version, back, around)
                while left and not isinstance(left[0], Nest):
                    back, version = self.step(left.pop(0), back)
                    self.provide_late(version, back, around)
            done.extend(more)

        for stmt in stmts:
            # Frames are popped in the opposite order.
            places = self.mirrored(stmt) if left else []
            while left and places and self.code.order[_label(left[0])] > max(places):
                undo(None)
            if isinstance(stmt, Reverse):
                if left and _label(left[0]) == stmt.loop:
                    undo(stmt)
                    continue
                if isinstance(back.type, Array):
                    self.serve([self.code.loops[stmt.loop]], back, version)
            done.append(stmt)
        while left:
            undo(None)
        return done, back

    def mirrored(self, stmt: Stmt) -> list[int]:
        """Return the positions, in the forward code, of the loops and calls that are reversed."""
        found: list[int] = []
        for each in walk((stmt,)):
            if isinstance(each, Reverse):
                found.append(self.code.order[each.loop])
            elif isinstance(each, Call) and each.mirror:
                found.append(self.code.order[each.mirror])
        return found

    def own(self, nest: Nest) -> Reverse:
        """Return reverse code for a loop that has none."""
        loop = nest.loop
        if self.code.reversed.get(loop.label) or any(
            isinstance(s, Recall | Reverse | Push | Pop) for s in walk(loop.body.stmts)
        ):
            raise Stuck
        index = Value(self.builder.names.fresh(f"{loop.label}.r"), INT)
        return Reverse((), loop.label, index, (), Block((), (), ()), loop.loc)

    def loop(self, stmt: Reverse, nest: Nest, back: Value) -> tuple[Value, Operand]:
        """Emit reverse code of a loop that undoes it; return the array after it, and its version.

        Likewise for numbers.
        """
        names, loop, body = self.builder.names, nest.loop, stmt.body
        if self.code.reversed.get(loop.label, 0) > 1:
            raise Stuck
        like = loop.body.params[nest.slot]
        param = Value(names.fresh(f"{like.name}.back"), like.type)
        end = carried_yields(loop)[nest.slot]
        assert isinstance(end, Value)
        inner, version = param, end
        steps = list(nest.steps)
        first: list[Stmt] = []
        self.provide(end, param)
        if steps and isinstance(final := steps[0], Store) and id(final) in self.updates:
            value = final.value
            stored = self.forwarding.stored.get(value) if isinstance(value, Value) else None
            if stored and stored.array == final.result and all(map(self.is_counted, final.index)):
                # The stored value is loaded before anything else is undone.
                with self.builder.block() as more:
                    self.provide(final.value, self.new(final, param))
                self.first.update((result, param) for s in more for result in s.results)
                first += more
        while steps and not isinstance(steps[0], Nest):
            with self.builder.block() as more:
                made = result_of(steps[0])
                inner, version = self.step(steps.pop(0), inner)
            self.provide(version, inner)
            self.first.update((result, made) for s in more for result in s.results)
            first += more
        if isinstance(param.type, Array):
            deep = not any(isinstance(step, Nest) for step in steps)
            self.serve(loop.body.stmts, inner, version, deep=deep)
            self.serve_early(loop, param, end)
        rest, last = self.reverse_code(body.stmts, steps, inner, version, loop.label)
        result = names.value(param)
        block = Block((*body.params, param), self.in_turn(first, rest), (*body.yields, last))
        init = (*stmt.init, back)
        self.builder.emit(replace(stmt, results=(*stmt.results, result), init=init, body=block))
        return result, loop.init[nest.slot]

    def in_turn(self, first: Sequence[Stmt], rest: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """Return an iteration that undoes first what ran last, whatever it changes."""

        def place(stmt: Stmt) -> int:
            return self.code.places.get(self.first[stmt.results[0]], len(self.code.places))

        older = [s for s in rest if not self.first.keys().isdisjoint(s.results)]
        later = [s for s in rest if self.first.keys().isdisjoint(s.results)]
        return (*sorted((*first, *older), key=place, reverse=True), *later)

    def provide(self, version: Operand, back: Value) -> None:
        """Record that reverse code has a value from the beginning of an iteration on."""
        if isinstance(version, Value):
            if not isinstance(version.type, Array) or self.history.rounding:
                self.values.setdefault(version, back)
                self.mark_inexact(version)

    def mark_inexact(self, value: Value) -> None:
        """Record that a value restored here is inexact, if it is a float."""
        if self.history.rounding and value.type.kind == "f":
            self.inexact.add(value)

    def provide_late(self, version: Operand, back: Value, around: str | None) -> None:
        """Record that reverse code has a value once a loop inside of `around` is undone."""
        if around is not None:
            before = len(self.values)
            self.provide(version, back)
            if len(self.values) > before:
                self.turn.add(around)

    def provide_arms(self, branch: Branch, back: Value) -> None:
        """Record that, where an arm ran, its yield equals the result of the branch."""
        k = branch.stmt.results.index(branch.result)
        for arm, steps in zip(blocks(branch.stmt), branch.arms, strict=True):
            if steps:
                self.provide(arm.yields[k], back)
                if isinstance(steps[0], Branch):
                    self.provide_arms(steps[0], back)

    def step(self, step: Step, back: Value, *, inside: bool = False) -> tuple[Value, Value]:
        """Emit the inverse of stores; return the array after it, and the version it equals.

        `inside`: in an arm that is undone. What is restored there is not known where the rest of
        the arm is reversed.
        """
        builder = self.builder
        if isinstance(step, Update):
            return self.inverted(step, back), step.before
        if isinstance(step, Store):
            builder.loc = step.loc
            if id(step) in self.updates:
                new = self.new(step, back)
                old: Operand = new
                for update in self.updates[id(step)]:
                    old = self.inverted(update, new)
                    new = old
            else:
                old = self.recall(self.old[id(step)])
            index = tuple(map(self.recall, step.index))
            return builder.store(back, index, old, hint=back.name), step.array
        assert isinstance(step, Branch)
        if not inside:
            self.provide_arms(step, back)
        builder.loc = step.stmt.loc
        cond = self.recall(step.stmt.cond)
        arms: list[Block] = []
        for arm in step.arms:
            inner = back
            with builder.block() as stmts:
                for each in arm:
                    inner, _ = self.step(each, inner, inside=True)
            arms.append(Block((), tuple(stmts), (inner,)))
        builder.loc = step.stmt.loc
        (result,) = builder.if_(cond, arms[0], arms[1], [back.name])
        return result, step.before

    def new(self, store: Store, back: Value) -> Value:
        """Emit a load of the value that a store stored."""
        index = tuple(map(self.recall, store.index))
        return self.builder.load(back, index, hint=f"{back.name}.new")

    def is_counted(self, operand: Operand) -> bool:
        """Whether an index depends on loop counters alone."""

        def found(each: Value, stmt: Stmt | None) -> bool:
            return each not in self.code.counted if stmt is None else not isinstance(stmt, Apply)

        return not isinstance(operand, Value) or not reaches(operand, self.code.defs, found)

    def inverted(self, update: Update, new: Value) -> Value:
        """Emit the inverse of an update."""
        builder = self.builder
        builder.loc = update.stmt.loc
        name, operands = update.inverse
        args = tuple(new if arg is None else self.recall(arg) for arg in operands)
        params = (str(update.before.type),) if name == "cast" else ()
        old = builder.apply(name, *args, params=params, hint=new.name)
        if old.type != update.before.type:
            raise Stuck(update.stmt)
        if self.history.rounding:
            self.steps.update((v, update.stmt) for v in operands if isinstance(v, Value))
        return old

    def recall(self, operand: Operand) -> Operand:
        if not isinstance(operand, Value):
            return operand
        self.taken.add(operand)
        return self.builder.recall(operand)

    # -- loads -----------------------------------------------------------------------------

    def serve(
        self, stmts: Sequence[Stmt], back: Value, version: Operand, *, deep: bool = True
    ) -> None:
        """Record the loads whose elements `back` has, in place of a forward version."""
        for stmt in stmts:
            if isinstance(stmt, Load):
                if isinstance(version, Value) and self.agrees(stmt, version):
                    self.sources.setdefault((stmt.result, stmt.array), back)
                    self.mark_inexact(back)
            elif deep or isinstance(stmt, If):
                for block in blocks(stmt):
                    self.serve(block.stmts, back, version, deep=deep)

    def serve_early(self, loop: For | While, back: Value, version: Value) -> None:
        """Record the values, outside of branches, that the array has before an iteration's undoing.

        Above all those are values that the iteration stored.
        """
        here = {result for stmt in loop.body.stmts for result in stmt.results}
        loads = [stmt for stmt in loop.body.stmts if isinstance(stmt, Load)]
        loads += [load for load in self.forwarding.stored.values() if load.array in here]
        for load in loads:
            key = load.result, load.array
            if key not in self.sources and self.agrees(load, version):
                self.sources[key] = back
                self.mark_inexact(back)
                self.early[key] = load.index

    def agrees(self, load: Load, version: Value) -> bool:
        return load.result not in self.logged and self.forwarding.agrees(load, version)

    def facts(self, body: Sequence[Stmt]) -> Restored:
        # Values computed before the undoing, or for it, are not read from arrays that are undone
        # later.
        place: dict[Value, tuple[str, int]] = {}
        entered: dict[str, Mapping[str, int]] = {}
        recalled: list[tuple[Mapping[str, int], Value]] = []

        def look(stmts: Sequence[Stmt], region: str, around: Mapping[str, int]) -> None:
            first = [not self.first.keys().isdisjoint(stmt.results) for stmt in stmts]
            start, in_turn = sum(first), not region or region in self.turn
            for k, stmt in enumerate(stmts):
                at = {**around, region: k if first[k] or in_turn else start}
                visit(stmt, region, k, at, check=first[k] or not self.turn.isdisjoint(at))

        def visit(stmt: Stmt, region: str, k: int, at: Mapping[str, int], check: bool) -> None:
            place.update(dict.fromkeys(stmt.results, (region, k)))
            match stmt:
                case Recall(value=value) if check or value in self.taken:
                    recalled.append((at, value))
                case Reverse(loop=loop, body=inner):
                    place.update(dict.fromkeys(inner.params, (loop, -1)))
                    entered[loop] = at
                    look(inner.stmts, loop, at)
                case If():
                    for block in blocks(stmt):
                        for each in block.stmts:
                            visit(each, region, k, at, check)

        look(body, "", {})
        for key, index in list(self.early.items()):
            loop = place[self.sources[key]][0]
            start = {**entered[loop], loop: 0}
            if any(isinstance(each, Value) and self.late(each, start, place) for each in index):
                del self.early[key], self.sources[key]
        for at, value in recalled:
            if value not in self.logged and self.late(value, at, place):
                self.logged.add(value)
                self.values.pop(value, None)
        return Restored(
            self.sources,
            self.values,
            self.early,
            {result: made for result, made in self.first.items() if result in place},
            frozenset(self.logged),
            self.begun,
            self.ends,
            frozenset(self.turn),
            frozenset(self.short),
            frozenset(self.inexact),
        )

    def late(
        self, value: Value, at: Mapping[str, int], place: Mapping[Value, tuple[str, int]]
    ) -> bool:
        """Whether recomputing a value may need a value that is restored at a position, or later."""

        def is_late(source: Value) -> bool:
            region, k = place.get(source, ("", -1))
            return k >= at.get(region, -1)

        def found(each: Value, stmt: Stmt | None) -> bool | Sequence[Operand]:
            if each in self.logged or each in self.code.outer:
                return ()
            if each in self.values:
                return is_late(self.values[each]) or ()
            if not isinstance(stmt, Load):
                return False
            source = self.sources.get((each, stmt.array))
            if source is not None:
                return is_late(source) or stmt.index
            return each in self.forwarding.by_result and (
                self.forwarding.source(stmt) is not None and stmt.index
            )

        return reaches(value, self.code.defs, found)


WAY_OUT = (
    "change it by `+=` or `-=` of a value that does not depend on it, arrays in place, or use "
    "`adc.checkpoint`"
)


def is_truth(value: Value) -> bool:
    return value.type.kind == "b"


def _why(stmt: Stmt) -> str:
    match stmt:
        case If():
            return "branches change it in different ways"
        case Apply(op=op) if op.reserves:
            return "it is a new array in every iteration"
        case Apply() | Store():
            return "it is changed by an operation without an inverse"
    return "it is not computed from its previous value"


def line_of(stmt: Stmt) -> str:
    return f" (line {stmt.loc.line})" if stmt.loc is not None else ""


def _label(step: Step) -> str:
    return step.loop.label if isinstance(step, Nest) else ""
