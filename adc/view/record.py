"""The run that a view shows: planned code in the reference interpreter, watched step by step.

Memory is counted by the rules of compiled code (`adc.passes.memory.peak` has the same as a
formula): what lies in the workspace is given back when an iteration or a call ends; the tapes are
stacks; arrays that loops hand on own their memory, as long as a variable holds them. Alignment is
left out.

Of a loop a few iterations are watched, the first, the last and some between them. The others run
all the same; they are one step together, which has what was held at its end and at most. Once there
are `MOST_STEPS` steps, no more iterations are watched.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir.analysis.memory.escape import dead_after_yield, dead_values, escaping, holding, stacked
from adc.ir.analysis.routines import library_form
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Operand,
    Pop,
    Push,
    Reverse,
    Stmt,
    Value,
    While,
    Write,
    walk,
)
from adc.ir.interp import Body, Env, Frame, Interpreter, ProgramError, Step, _Routine
from adc.ir.sums import Lanes
from adc.ir.text.user import variable
from adc.ir.types import INT, Array
from adc.ir.walk import use_counts
from adc.passes.memory.peak.course import Inside
from adc.passes.remat.online import PLACED
from adc.view.moments import (
    CARRIED,
    GRADIENTS,
    TAPE,
    WORKSPACE,
    Moment,
    Picture,
    Record,
    Series,
    Shown,
)
from adc.view.nodes import Line, Node, line_of, tree_of

MOST_STEPS = 6_000
# Statements that are run; at about a million a second.
MOST_STATEMENTS = 40_000_000
# So many schedules and states of loops are noted.
MOST_SCHEDULES, MOST_STATES = 1_000, 10_000
# Of the iterations of a loop these are watched, by how many watched loops are around it: so many
# of the first, and so many of the last.
WATCHED = ((4, 3), (2, 1), (1, 1), (1, 0))


class _Stopped(Exception):
    """The run takes too long."""


class _Kept(tuple[Any, ...]):
    """A frame on a tape that knows who has pushed it."""

    sizes: tuple[tuple[int, str, int], ...]  # by series and tape


@dataclass
class _Loop:
    """A loop that is being run and watched."""

    node: Node
    stmt: For | While
    trips: int | None
    count: int = 0
    folded: int = -1  # the first iteration of those that are folded

    def is_watched(self, k: int, depth: int) -> bool:
        first, last = WATCHED[min(depth, len(WATCHED) - 1)]
        if k < first:
            return True
        if self.trips is None:
            return depth == 0 and k in (10, 100, 1000, 10_000, 100_000)
        return k >= self.trips - last or (depth == 0 and self.trips > 16 and k == self.trips // 2)


class Recorder(Interpreter):
    """Runs a function in its last form, and keeps a `Record`."""

    checks_loops = False

    def __init__(
        self, fn: Function, picture: Picture | None = None, *, steps: int = MOST_STEPS,
        statements: int = MOST_STATEMENTS,
        iterations: Collection[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(library_form(fn))
        self.record = Record(tree_of(fn))
        self.picture = picture
        self.iterations = frozenset(iterations)  # that are watched, of every loop
        self.most_steps, self.most_statements = steps, statements
        self.params = frozenset(p.name for each in self.functions.values() for p in each.params)
        # Whether what runs now is watched, the loops that are, and the iterations around.
        self.watching = True
        self.ahead = 0  # statements of the blocks around that are counted, but have not run yet
        self.loops: list[_Loop] = []
        self.path: list[tuple[int, int]] = []
        self.way: list[Inside] = []
        self.known: dict[Series, int] = {}
        self.bytes: list[int] = []
        self.tops = self.record.tops
        self.total = self.high = 0
        self.work = self.most_work = self.own = self.most_own = 0
        self.stack: list[tuple[int, int]] = []  # what was taken from the workspace
        self.tape_bytes: dict[str, int] = {}
        self.tape_most: dict[str, int] = {}
        self.told: list[int] = []  # the bytes after the last step, by series
        self.touched: set[int] = set()
        self.results: set[int] = set()
        self.owned: dict[int, tuple[Any, int, int]] = {}  # by address: how it is known to be gone

    # -- memory ----------------------------------------------------------------------------

    def series(self, kind: str, line: Line | None) -> int:
        key = kind, line
        if key not in self.known:
            self.known[key] = len(self.bytes)
            self.bytes.append(0)
            self.told.append(0)
            self.record.series.append(key)
            self.tops.append(0)
        return self.known[key]

    def gradients(self, line: Line | None) -> int:
        found = self.series(GRADIENTS, line)
        self.results.add(found)
        return found

    def more(self, series: int, size: int) -> None:
        self.bytes[series] += size
        if series not in self.results:  # these are the caller's
            self.total += size
        self.touched.add(series)
        if self.bytes[series] > self.tops[series]:
            self.tops[series] = self.bytes[series]

    def fewer(self, series: int, size: int) -> None:
        self.note_most()
        self.bytes[series] -= size
        self.total -= size
        self.touched.add(series)

    def note_most(self) -> None:
        """Note what is held before it becomes less."""
        if self.total > self.high:
            self.high = self.total
            if self.total > self.record.most:
                record = self.record
                record.most, record.peak_step = self.total, len(record.moments)
                record.at_peak = {k: size for k, size in enumerate(self.bytes) if size}

    def take(self, series: int, size: int) -> None:
        self.stack.append((series, size))
        self.work += size
        if self.work > self.most_work:
            self.most_work = self.work
        self.more(series, size)

    def release(self, mark: int) -> None:
        while len(self.stack) > mark:
            series, size = self.stack.pop()
            self.work -= size
            self.fewer(series, size)

    def push(self, series: Sequence[int], values: Sequence[Any]) -> None:
        sizes: list[tuple[int, str, int]] = []
        for each, value in zip(series, values, strict=True):
            sizes.append((each, value.dtype.str, value.nbytes))
            if value.ndim:
                sizes.append((each, "<i8", 8 * value.ndim))
        found = _Kept(self.tape[-1])
        found.sizes = tuple(sizes)
        self.tape[-1] = found
        for each, dtype, size in sizes:
            now = self.tape_bytes[dtype] = self.tape_bytes.get(dtype, 0) + size
            if now > self.tape_most.get(dtype, 0):
                self.tape_most[dtype] = now
            self.more(each, size)

    def pop(self, frame: Any) -> None:
        for each, dtype, size in frame.sizes:
            self.tape_bytes[dtype] -= size
            self.fewer(each, size)

    def hold(self, array: Any, series: int) -> None:
        """Count an array that owns its memory, until nobody has it any more."""
        size, key = array.nbytes, id(array)

        def gone(_: object) -> None:
            if self.owned.pop(key, None) is not None:
                self.own -= size
                self.fewer(series, size)

        self.owned[key] = weakref.ref(array, gone), series, size
        self.own += size
        self.most_own = max(self.most_own, self.own)
        self.more(series, size)

    # -- steps -----------------------------------------------------------------------------

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.most_statements:
            raise _Stopped

    def moment(self, node: int, values: list[Shown], folded: tuple[int, int] | None = None) -> None:
        self.note_most()
        changes = {}
        for k in self.touched:
            if self.bytes[k] != self.told[k]:
                changes[k] = self.bytes[k] - self.told[k]
                self.told[k] = self.bytes[k]
        self.touched.clear()
        most = max(self.high, self.total)
        self.record.moments.append(
            Moment(
                node, tuple(self.path), folded, changes, most, values, self.steps - self.ahead,
                tuple(self.way), self.most_work, sum(self.tape_most.values()), self.most_own,
            )
        )  # fmt: skip
        self.high = self.total

    def fold(self, loop: _Loop, last: int) -> None:
        if loop.folded >= 0:
            self.way.append(Inside(loop.stmt, 0, loop.trips or 0))
            self.moment(loop.node.number, [], (loop.folded, last))
            self.way.pop()
            loop.folded = -1

    def run_watched(self, args: Sequence[Any]) -> Record:
        """Run, and return what was seen; a program that raises is shown up to there."""
        record = self.record
        found: tuple[Any, ...] = ()
        frame = Frame()
        try:
            with np.errstate(all="ignore"):
                found = self.routine(self.main.name).call(args, frame, frame)
        except _Stopped:
            record.stopped = f"the run was stopped after {self.most_statements:,} statements"
        except ProgramError as error:
            record.stopped = f"the program raised {type(error.error).__name__}"
        self.note_most()
        record.workspace, record.tapes = self.most_work, sum(self.tape_most.values())
        record.carried = self.most_own
        # What is returned is the caller's, also where loops have handed it on.
        own = {id(value) for value in found if isinstance(value, np.ndarray)}
        for key, (_, series, size) in list(self.owned.items()):
            if key in own:
                record.results += size
                self.fewer(series, size)
                self.more(self.gradients(record.series[series][1]), size)
        if found and self.touched:
            self.moment(0, [])
        record.carried = max(record.carried - record.results, 0)
        record.statements = self.steps
        self.owned.clear()
        return record

    def routine(self, name: str) -> _Routine:
        if name not in self.routines:
            self.routines[name] = _Watched(self.functions[name], self)
        return self.routines[name]


class _Watched(_Routine):
    """One function whose steps are watched."""

    machine: Recorder

    def __init__(self, fn: Function, machine: Recorder) -> None:
        self.groups = machine.record.tree.groups
        leaving = escaping(fn)
        on_stack = stacked(fn, machine.functions.values())
        self.elsewhere = leaving | on_stack
        self.results = frozenset[Value]()
        if fn is machine.main:
            made = {v for stmt in fn.body if isinstance(stmt, Apply) for v in stmt.results}
            self.results = frozenset(made.intersection(fn.results))
        self.own = leaving - on_stack - self.results
        self.counts = use_counts(fn)
        self.held = holding(fn) if self.own or any(v for v in holding(fn)) else frozenset()
        self.role = "function"
        self.loop_of: For | While | None = None
        self.entered: tuple[int, ...] = ()
        self.whole = fn
        self.around: Line | None = None  # the line of the loop that steps are made for
        self.lines = _lines(fn)
        super().__init__(fn, machine)

    # -- blocks ----------------------------------------------------------------------------

    def block(self, block: Block) -> Body:
        role, self.role = self.role, "arm"
        loop, self.loop_of = self.loop_of, None
        entered, self.entered = self.entered, ()
        machine, fn = self.machine, self.whole
        params, yields = self.many(block.params), self.many(block.yields)
        steps: list[Step] = []
        # What variables of compiled code do not hold any more.
        gone = dead_values(block.stmts, block.yields, self.held) if self.held else None
        for k, stmt in enumerate(block.stmts):
            early, late = gone[k] if gone is not None else ((), ())
            if role == "function" and k == len(block.stmts) - 1:
                late = ()
            self.entered = self.many(early)
            steps.append(self.cleared(self.step(stmt), stmt, late))
        self.entered = ()
        after: tuple[int, ...] = ()
        if self.held and role != "function":
            after = self.many(dead_after_yield(block.stmts, block.yields, self.held))
        if role == "loop":  # their variables get the values of the next iteration
            after = (*after, *params)
        length, key = max(1, len(block.stmts)), id(block.stmts)
        count, visits = machine.count, machine.record.visits
        visits.setdefault(key, 0)
        groups = [
            (each.node.number, steps[each.start : each.stop], each.is_step,
             self.targets(block.stmts[each.start : each.stop]) if each.is_step else ())
            for each in self.groups.get(key, ())
        ]  # fmt: skip
        takes = role != "arm" and any(self.taken(stmt) for stmt in walk(block.stmts))

        def begin(args: Sequence[Any], env: Env) -> None:
            count(length)
            visits[key] += 1
            for slot, arg in zip(params, args, strict=True):
                env[slot] = arg
            if entered:
                for slot in entered:
                    env[slot] = None
                if isinstance(args, list):
                    args.clear()  # the interpreter would hold the first ones

        def end(env: Env) -> list[Any]:
            found = [env[k] for k in yields]
            for slot in after:
                env[slot] = None
            return found

        def plain(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            begin(args, env)
            for step in steps:
                step(env, frame, mirror)
            return end(env)

        def watched(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            begin(args, env)
            machine.ahead += len(steps)
            for node, part, is_step, targets in groups:
                machine.watching = not is_step
                for step in part:
                    step(env, frame, mirror)
                machine.watching = True
                machine.ahead -= len(part)
                if is_step:
                    machine.moment(node, self.shown(targets, env))
            return end(env)

        def either(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            is_watched = machine.watching and len(machine.record.moments) < machine.most_steps
            return (watched if is_watched and groups else plain)(args, env, frame, mirror)

        def scoped(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            mark = len(machine.stack)
            found = run(args, env, frame, mirror)
            machine.release(mark)
            return found

        def iteration(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            here = machine.loops[-1]
            k, here.count = here.count, here.count + 1
            depth = len(machine.loops) - 1
            full = len(machine.record.moments) >= machine.most_steps
            if not full and (k in machine.iterations or here.is_watched(k, depth)):
                machine.fold(here, k - 1)
                machine.path.append((here.node.number, k))
                machine.way.append(Inside(here.stmt, k, here.trips or 0))
                found = watched(args, env, frame, mirror)
                machine.way.pop()
                machine.path.pop()
                return found
            if here.folded < 0:
                here.folded = k
            machine.watching = False
            found = plain(args, env, frame, mirror)
            machine.watching = True
            return found

        def looped(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            return (iteration if machine.watching else plain)(args, env, frame, mirror)

        run = either if groups else plain
        if loop is not None and groups and (fn.name, loop.label) in machine.record.tree.loops:
            run = looped
        return scoped if takes else run

    def cleared(self, step: Step, stmt: Stmt, late: Sequence[Value]) -> Step:
        """Return a step after which some variables hold nothing."""
        slots = list(self.many(late))
        if isinstance(stmt, For | While):
            # Their results have the variables of what they carry.
            slots += [
                self.slot(p) for p, r in zip(stmt.body.params, stmt.results, strict=True)
                if p in self.held or r in self.held
            ]  # fmt: skip
        if not slots:
            return step

        def run(env: Env, frame: Frame, mirror: Frame) -> None:
            step(env, frame, mirror)
            for slot in slots:
                env[slot] = None

        return run

    def loop(self, stmt: For | While | Reverse) -> Callable[[Env, Frame, Frame], Sequence[Any]]:
        machine = self.machine
        assert not isinstance(stmt, Reverse)
        self.role, self.loop_of = "loop", stmt
        node = machine.record.tree.loops.get((self.whole.name, stmt.label))
        before, self.around = self.around, line_of(stmt.loc) or self.around
        inner = super().loop(stmt)
        self.around = before
        trips = self.slot(stmt.trips) if isinstance(stmt, For) else -1
        if node is None:
            return inner
        counted = isinstance(stmt, While) and machine.main is self.whole

        def run(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            if not machine.watching:
                return inner(env, frame, mirror)
            here = _Loop(node, stmt, int(env[trips]) if trips >= 0 else None)
            machine.loops.append(here)
            found = inner(env, frame, mirror)
            machine.fold(here, here.count - 1)
            machine.loops.pop()
            if counted and not machine.way:
                machine.record.counts[f"{stmt.label}.n"] = here.count
            return found

        return run

    def branch(self, stmt: If) -> Callable[[Env, Frame, Frame], Sequence[Any]]:
        inner = super().branch(stmt)
        arms = stmt.then, stmt.orelse
        if not any(id(arm.stmts) in self.groups for arm in arms):
            return inner
        way, here = self.machine.way, Inside(stmt)

        def run(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            way.append(here)
            found = inner(env, frame, mirror)
            way.pop()
            return found

        return run

    def called(self, step: Step, stmt: Call) -> Step:
        """Note while a function runs that it is inside of a call, with which integers."""
        callee, way = self.machine.functions.get(stmt.callee), self.machine.way
        if callee is None or id(callee.body) not in self.groups:
            return step
        integers = [
            (param.name, self.slot(arg))
            for param, arg in zip(callee.params, stmt.args, strict=True)
            if not isinstance(param.type, Array) and param.type.kind in "iu"
        ]

        def run(env: Env, frame: Frame, mirror: Frame) -> None:
            way.append(Inside(stmt, 0, 0, tuple((name, int(env[k])) for name, k in integers)))
            step(env, frame, mirror)
            way.pop()

        return run

    # -- memory ----------------------------------------------------------------------------

    def step(self, stmt: Stmt) -> Step:
        step, machine = super().step(stmt), self.machine
        if isinstance(stmt, Apply | Pop):
            step = self.counted(step, stmt)
        if isinstance(stmt, Push):
            values = self.many(stmt.values)
            series = [machine.series(TAPE, self.line(stmt, each)) for each in stmt.values]

            def push(env: Env, frame: Frame, mirror: Frame) -> None:
                step(env, frame, mirror)
                machine.push(series, [env[k] for k in values])

            return push
        if isinstance(stmt, Gemm):
            return self.multiplied(step, stmt)
        if isinstance(stmt, Call):
            if stmt.callee == PLACED:
                step = self.placed(step, stmt)
            return self.called(step, stmt)
        if isinstance(stmt, Apply) and stmt.op.name == "sweeps":
            return self.scheduled(step, stmt)
        return step

    def scheduled(self, step: Step, stmt: Apply) -> Step:
        """Note the schedule of a loop, and of a part of one that was cut while it ran."""
        machine, name = self.machine, self.whole.name
        args, line = self.many(stmt.args), self.line(stmt, stmt.result)
        again = any(isinstance(s, Call) and s.callee == name for s in walk(self.whole.body))
        own = [p for p in self.whole.params if again and variable(p.name) == "first"]
        first = self.slot(own[0]) if own and own[0].type == INT else -1

        def noted(env: Env, frame: Frame, mirror: Frame) -> None:
            step(env, frame, mirror)
            inside = [each.stmt for each in machine.way]
            calls = sum(isinstance(stmt, Call) and stmt.callee == name for stmt in inside)
            cut = any(isinstance(stmt, For) and "segments" in stmt.label for stmt in inside)
            # What a schedule calls again is a part of it.
            if calls == (machine.main is not self.whole) and (cut or not again):
                operands = tuple(int(env[k]) for k in args)
                begin = int(env[first]) if first >= 0 else 0
                if len(machine.record.schedules) < MOST_SCHEDULES:
                    machine.record.schedules.append((line, operands, begin))

        return noted

    def placed(self, step: Step, stmt: Call) -> Step:
        """Note in which slots a `while` loop keeps which of its states."""
        states, line = self.machine.record.states, self.around
        number, slot = self.slot(stmt.args[0]), self.slot(stmt.results[0])
        # States that it looks at are so many iterations apart.
        unit = next(
            (
                int(each.args[1].value) for each in walk(self.whole.body)
                if isinstance(each, Apply) and each.results[0] == stmt.args[0]
                and each.op.name == "floordiv" and isinstance(each.args[1], Literal)
            ), 1,
        )  # fmt: skip

        def noted(env: Env, frame: Frame, mirror: Frame) -> None:
            step(env, frame, mirror)
            if env[slot] >= 0 and len(states) < MOST_STATES:
                states.append((line, unit * int(env[number]), int(env[slot])))

        return noted

    def multiplied(self, step: Step, stmt: Gemm) -> Step:
        products, key = self.machine.record.products, id(stmt)
        array, a = self.slot(stmt.array), self.slot(stmt.a)
        products.setdefault(key, 0)
        inner = 0 if stmt.transposed[0] else 1

        def run(env: Env, frame: Frame, mirror: Frame) -> None:
            step(env, frame, mirror)
            products[key] += env[array].size * env[a].shape[inner]

        return run

    def counted(self, step: Step, stmt: Apply | Pop) -> Step:
        machine = self.machine
        taken = [self.slot(v) for v in self.taken(stmt)]
        own = [self.slot(v) for v in stmt.results if v in self.own and self.is_new(stmt)]
        mine = [self.slot(v) for v in stmt.results if v in self.results and self.is_new(stmt)]
        line = self.line(stmt, stmt.results[0])
        work = machine.series(WORKSPACE, line) if taken else -1
        carried = machine.series(CARRIED, line) if own else -1
        gradient = machine.gradients(line) if mine else -1
        pops = isinstance(stmt, Pop)
        if not (taken or own or mine or pops):
            return step

        def run(env: Env, frame: Frame, mirror: Frame) -> None:
            popped = machine.tape[-1] if pops and machine.tape else None
            before = [env[slot] for slot in own]
            step(env, frame, mirror)
            for slot in taken:
                machine.take(work, env[slot].nbytes)
            for slot in own:
                machine.hold(env[slot], carried)
            del before  # a variable holds what it held until the new one is there
            for slot in mine:
                machine.more(gradient, env[slot].nbytes)
            if pops:
                machine.pop(popped)

        return run

    def line(self, stmt: Stmt, operand: Operand) -> Line | None:
        """Return the line that a statement comes from, else that of a value, or of the loop."""
        found = line_of(stmt.loc)
        if found is None and isinstance(operand, Value):
            found = self.lines.get(operand.name)
        return found or self.around

    def is_new(self, stmt: Apply | Pop) -> bool:
        """Whether a statement makes arrays, with memory that no other has."""
        if isinstance(stmt, Pop):
            return True
        if stmt.op.aliases:
            return False
        given = stmt.op.sizes is not None and any(isinstance(a.type, Array) for a in stmt.args)
        if not isinstance(stmt.result.type, Array) or given:
            return False
        return bool(self.counts.get(stmt.result)) or stmt.op.name == "slot"

    def taken(self, stmt: Stmt) -> list[Value]:
        """Return the arrays that a statement takes from the workspace."""
        if not isinstance(stmt, Apply | Pop) or not self.is_new(stmt):
            return []
        return [v for v in stmt.results if isinstance(v.type, Array) and v not in self.elsewhere]

    # -- values ----------------------------------------------------------------------------

    def targets(self, stmts: Sequence[Stmt]) -> tuple[tuple[int, str, bool], ...]:
        """Return what a step makes or changes: slots, names, and whether it was only read."""
        if self.machine.picture is None:
            return ()
        found: dict[int, tuple[int, str, bool]] = {}
        inside = {v for stmt in stmts for each in walk((stmt,)) if each is not stmt
                  for v in each.results}  # fmt: skip
        for stmt in stmts:
            for value in stmt.results:
                if isinstance(value.type, Array) or value.type.kind in "fc":
                    read = not isinstance(stmt, Apply | Gemm | For | While | If)
                    found[self.slot(value)] = self.slot(value), value.name, read
            for each in walk((stmt,)):
                if isinstance(each, Write) or (isinstance(each, Gemm) and each.result is None):
                    array = each.array
                    if array not in inside:
                        found[self.slot(array)] = self.slot(array), array.name, False
        return tuple(found.values())[:24]

    def shown(self, targets: Sequence[tuple[int, str, bool]], env: Env) -> list[Shown]:
        found: list[Shown] = []
        picture = self.machine.picture
        for slot, name, read in targets:
            value = env[slot]
            if picture is not None and value is not None and not isinstance(value, Lanes):
                found.append(Shown(name, picture(value, read)))
        return found


def _lines(fn: Function) -> dict[str, Line]:
    """Return the lines where values are computed; those that loops carry, that of the loop.

    Parameters have the line where the function begins.
    """
    found: dict[str, Line] = {}
    begin = next((line for stmt in walk(fn.body) if (line := line_of(stmt.loc))), None)
    if begin is not None:
        found.update((param.name, begin) for param in fn.params)
    for stmt in walk(fn.body):
        line = line_of(stmt.loc)
        if line is not None:
            params = stmt.body.params if isinstance(stmt, For | While) else ()
            found.update((value.name, line) for value in (*stmt.results, *params))
    return found


def recorded(
    fn: Function,
    args: Sequence[Any],
    picture: Picture | None = None,
    *,
    iterations: Collection[int] = (),
    **limits: int,
) -> Record:
    """Run code in its last form, before `schedules`, and return what was seen.

    Without `picture`, nothing is seen of values. `iterations` are watched of every loop, besides
    the first and the last ones; `limits` are the most `steps` and `statements`.
    """
    return Recorder(fn, picture, iterations=iterations, **limits).run_watched(args)


__all__ = ["Recorder", "recorded"]
