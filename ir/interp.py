"""The reference interpreter: runs both forms, at every stage, with NumPy and without Numba.

Value form never changes an array in place here: `Store` copies. Reverse code with Recalls runs
too: the forward code records one frame of values per iteration and call, `Reverse` visits the
frames in reverse order. It is the oracle of the tests, written to be obviously right.

Every statement is turned into a closure once per function: a loop does not dispatch on its
statements in every iteration.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from adc.ir.analysis import routines
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    found_by,
    operands,
    walk,
)
from adc.ir.errors import AdcError, IRError
from adc.ir.opdef import numpy_value
from adc.ir.sums import Lanes, Sums, summed
from adc.ir.tape import uses
from adc.ir.text import raising
from adc.ir.text.effects import Effects, carry_out, raised, raises, text_of
from adc.ir.text.outside import TO
from adc.ir.types import Array

# Stops runaway loops of programs under test.
MAX_STEPS = 50_000_000


class ProgramError(Exception):
    """An exception that the user's program raises: `error`, with its line `span`."""

    def __init__(self, error: Exception, check: Check | Print) -> None:
        super().__init__(str(error))
        self.error = error
        self.check = check


@dataclass(slots=True)
class Frame:
    """The recalled values of one iteration or call, and the frames of its loops and calls."""

    outer: Frame | None = None
    values: dict[Value, Any] = field(default_factory=dict)
    inner: dict[str, list[Frame]] = field(default_factory=dict)

    def find(self, value: Value) -> Any:
        frame: Frame | None = self
        while frame is not None:
            if value in frame.values:
                return frame.values[value]
            frame = frame.outer
        raise IRError(f"recall of {value}, which the forward code did not compute here")

    def loop(self, label: str) -> list[Frame]:
        frame: Frame | None = self
        while frame is not None:
            if label in frame.inner:
                return frame.inner[label]
            frame = frame.outer
        return []


Derive = Callable[[Derived], Function]
Loops = Sequence[tuple[Stmt, int]]
# The values of one call, and its constants, by their slots.
Env = list[Any]
# The effect of a statement: the frame of the iteration or call, and the mirror to recall from.
Step = Callable[[Env, Frame, Frame], None]
# A loop; returns its results.
Run = Callable[[Env, Frame, Frame], Sequence[Any]]
# A block as a function of its arguments; returns its yields.
Body = Callable[[Sequence[Any], Env, Frame, Frame], list[Any]]


class Observer:
    """Is told of the statements that compute something, and may change what they compute."""

    def given(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Return what a library computes with, in place of the operands."""
        return operands

    def found(
        self, stmt: Stmt, operands: Sequence[Any], results: Sequence[Any], loops: Loops
    ) -> Sequence[Any] | None:
        """Return other results of a statement that ran; None for its own.

        `loops` are those around it with the numbers of their iterations, the outermost first. A
        loop that carries sums in lanes is told with the start and the lanes of each.
        """
        return None


class Interpreter:
    """Runs one function and its callees."""

    # Whether it checks that iterations of loops that are marked as independent are so.
    checks_loops = True

    def __init__(
        self, fn: Function, derive: Derive | None = None, observe: Observer | None = None
    ) -> None:
        self.derive = derive
        self.observe = observe
        self.derived = {each.name: each for each in fn.derived}
        self.made: dict[str, Interpreter] = {}
        self.functions = {callee.name: callee for callee in fn.callees} | {fn.name: fn}
        self.routines: dict[str, _Routine] = {}
        self.main = fn
        self.tape: list[Any] = []
        self.printed: list[str] = []
        self.effects = Effects(self._print)
        self.steps = 0
        reverse = [stmt for each in self.functions.values() for stmt in walk(each.body)
                   if isinstance(stmt, Recall | Reverse)]  # fmt: skip
        # Whether frames are needed, and which values in them.
        self.mirrored = bool(reverse)
        self.recalled = {stmt.value for stmt in reverse if isinstance(stmt, Recall)}

    def _print(
        self, to: str, message: str, values: Sequence[Any], arrays: list[Any], loc: object
    ) -> Any:
        if to == TO:
            return 0  # `routines.fill` calls the function
        if raises(to):
            raise raised(to, message, values, arrays)
        if found_by(to) is not None:
            return carry_out(to, message, values, arrays, lambda action: action())
        self.printed.append(text_of(message, values, arrays))
        return None

    def run(self, args: Sequence[Any]) -> tuple[Any, ...]:
        frame = Frame()
        with np.errstate(all="ignore"):
            return self.routine(self.main.name).call(args, frame, frame)

    def routine(self, name: str) -> _Routine:
        if name not in self.routines:
            self.routines[name] = _Routine(self.functions[name], self)
        return self.routines[name]

    def derivative(self, name: str, args: Sequence[Any], stmt: Call) -> tuple[Any, ...]:
        """Call a derivative of a function, which is a program of its own."""
        if self.derive is None:
            raise IRError(f"{name} has no statements yet: {stmt}")
        if name not in self.made:
            made = Interpreter(self.derive(self.derived[name]), self.derive, self.observe)
            self.made[name] = made
        made = self.made[name]
        if len(args) < len(made.main.params):  # which has two for each complex number
            pairs = [(x.real, x.imag) if np.iscomplexobj(x) else (x,) for x in args]
            args = [part for pair in pairs for part in pair]
        found = made.run(args)
        self.printed += made.printed
        made.printed.clear()
        return found

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise IRError("the interpreter ran too long")


class _Watch:
    """Checks that the iterations of a loop marked as independent are.

    Threads may `add` to the same elements, where the device does that at once.
    """

    def __init__(self, add: bool) -> None:
        self.add = add
        self.iteration = 0
        # By address of an element: the last iteration that touched it, how, and in which array:
        # those that an iteration makes may have the memory of others.
        self.touched: dict[int, tuple[int, str, Any]] = {}

    def see(self, array: Any, where: tuple[int, ...], stmt: Load | Store | Write) -> None:
        kind = "read"
        if not isinstance(stmt, Load):
            adds = self.add and isinstance(stmt, Write) and stmt.accumulate
            kind = "add" if adds else "write"
        self.note(array, where, kind, stmt)

    def note(self, array: Any, where: tuple[int, ...], kind: str, stmt: Stmt) -> None:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        address = array.__array_interface__["data"][0]
        address += sum(k * stride for k, stride in zip(where, array.strides, strict=True))
        last, before, ref = self.touched.get(address, (0, "", None))
        if ref is None or ref() is not owner:
            last, before = self.iteration, kind
        if last != self.iteration and (before != kind or kind == "write"):
            raise IRError(f"iterations {last} and {self.iteration} are not independent: {stmt}")
        kind = kind if before == kind else "write"
        self.touched[address] = self.iteration, kind, weakref.ref(owner)


def _changed(array: Any, before: Any) -> list[tuple[int, ...]]:
    """Return the elements of an array that are not what they were before."""
    same = (array == before) | ((array != array) & (before != before))
    return [tuple(map(int, where)) for where in np.argwhere(~same)]


class _Routine:
    """One function as closures."""

    def __init__(self, fn: Function, machine: Interpreter) -> None:
        self.fn = fn
        self.machine = machine
        self.slots: dict[str, int] = {}
        self.blank: Env = []  # the initial `Env` of a call: the constants
        self.watches: tuple[_Watch, ...] = ()  # of the loops that steps are made for
        self.loops: list[tuple[Stmt, int]] = []  # those around, and the slots of their indices
        self.body = self.block(Block(fn.params, fn.body, fn.results))

    def call(self, args: Sequence[Any], frame: Frame, mirror: Frame) -> tuple[Any, ...]:
        params = self.fn.params
        if len(args) != len(params):
            raise IRError(f"{self.fn.name} takes {len(params)} arguments, not {len(args)}")
        given = [
            arg if isinstance(param.type, Array) else numpy_value(arg, param.type)
            for param, arg in zip(params, args, strict=True)
        ]
        return tuple(self.body(given, self.blank.copy(), frame, mirror))

    def slot(self, operand: Operand) -> int:
        if isinstance(operand, Literal):
            self.blank.append(numpy_value(operand.value, operand.type))
            return len(self.blank) - 1
        found = self.slots.setdefault(operand.name, len(self.blank))
        if found == len(self.blank):
            self.blank.append(None)
        return found

    def many(self, operands: Sequence[Operand]) -> tuple[int, ...]:
        return tuple([self.slot(operand) for operand in operands])

    def block(self, block: Block) -> Body:
        count = self.machine.count
        params, yields = self.many(block.params), self.many(block.yields)
        steps = self.recorded(block.params)
        for stmt in block.stmts:
            steps += [self.step(stmt), *self.recorded(stmt.results)]
        length = max(1, len(block.stmts))

        def run(args: Sequence[Any], env: Env, frame: Frame, mirror: Frame) -> list[Any]:
            count(length)
            for slot, arg in zip(params, args, strict=True):
                env[slot] = arg
            for step in steps:
                step(env, frame, mirror)
            return [env[k] for k in yields]

        return run

    def recorded(self, values: Sequence[Value]) -> list[Step]:
        """Store the values that reverse code recalls in the frame."""
        kept = [(value, self.slot(value)) for value in values if value in self.machine.recalled]
        if not kept:
            return []

        def record(env: Env, frame: Frame, mirror: Frame) -> None:
            for value, slot in kept:
                frame.values[value] = env[slot]

        return [record]

    def step(self, stmt: Stmt) -> Step:
        made, observe = self._step(stmt), self.machine.observe
        if observe is None or not isinstance(stmt, Apply | Gemm | Call):
            return made
        args, results = self.many(list(operands(stmt))), self.many(stmt.results)
        place = self.place()

        def observed(env: Env, frame: Frame, mirror: Frame) -> None:
            made(env, frame, mirror)
            given, found = [env[k] for k in args], [env[k] for k in results]
            others = observe.found(stmt, given, found, place(env))
            if others is not None:
                for slot, value in zip(results, others, strict=True):
                    env[slot] = value

        return observed

    def place(self) -> Callable[[Env], Loops]:
        """Return what finds the iterations of the loops around the present statement."""
        loops = tuple(self.loops)
        return lambda env: [(loop, int(env[k])) for loop, k in loops]

    def _step(self, stmt: Stmt) -> Step:
        match stmt:
            case Apply():
                return self.apply(stmt)
            case Load() | Store() | Write() | Gemm():
                return self.access(stmt)
            case If() | For() | While() | Reverse():
                return self.control(stmt)
            case Call():
                return self.calling(stmt)
        return self.effect(stmt)

    def apply(self, stmt: Apply) -> Step:
        args, results = self.many(stmt.args), self.many(stmt.results)
        evaluate = partial(stmt.op.evaluate, *stmt.params) if stmt.params else stmt.op.evaluate
        result, ty = results[0], stmt.results[0].type
        if len(results) > 1:

            def several(env: Env, frame: Frame, mirror: Frame) -> None:
                found = evaluate(*[env[k] for k in args])
                for slot, value in zip(results, found, strict=True):
                    env[slot] = value

            return several
        if isinstance(ty, Array):

            def array(env: Env, frame: Frame, mirror: Frame) -> None:
                env[result] = evaluate(*[env[k] for k in args])

            return array

        kind = ty.numpy.type

        def scalar(env: Env, frame: Frame, mirror: Frame) -> None:
            value = evaluate(*[env[k] for k in args])
            env[result] = value if type(value) is kind else numpy_value(value, ty)

        if not stmt.op.reorders:
            return scalar

        def add(env: Env, frame: Frame, mirror: Frame) -> None:
            if isinstance(env[args[0]], Lanes):
                env[result] = env[args[0]].add(env[args[1]])
            else:
                scalar(env, frame, mirror)

        return add

    def access(self, stmt: Load | Store | Write | Gemm) -> Step:
        array = self.slot(stmt.array)
        results = self.many(stmt.results)
        if isinstance(stmt, Gemm):
            operands = self.many((stmt.array, stmt.a, stmt.b))

            def multiply(env: Env, frame: Frame, mirror: Frame) -> None:
                found = _product(stmt, *[env[k] for k in operands])
                if results:
                    env[results[0]] = found
                else:
                    env[array][...] = found

            return multiply
        index, watches = self.many(stmt.index), self.watches
        if isinstance(stmt, Load):
            (result,), ty = results, stmt.result.type
            kind = ty.numpy.type

            def load(env: Env, frame: Frame, mirror: Frame) -> None:
                source = env[array]
                where = _where(source, [env[k] for k in index], stmt)
                for watch in watches:
                    watch.see(source, where, stmt)
                value = source[where]
                env[result] = value if type(value) is kind else numpy_value(value, ty)

            return load
        value, observe, place = self.slot(stmt.value), self.machine.observe, self.place()

        def write(env: Env, frame: Frame, mirror: Frame) -> None:
            target = env[array]
            if results:
                target = env[results[0]] = target.copy()
            where = _where(target, [env[k] for k in index], stmt)
            for watch in watches:
                watch.see(target, where, stmt)
            if not stmt.accumulate:
                target[where] = env[value]
                return
            old = target[where]
            target[where] = old + env[value]
            if observe is not None:
                others = observe.found(stmt, [old, env[value]], [target[where]], place(env))
                if others is not None:
                    (target[where],) = others

        return write

    def control(self, stmt: If | For | While | Reverse) -> Step:
        results = self.many(stmt.results)
        run = self.branch(stmt) if isinstance(stmt, If) else self.loop(stmt)

        def control(env: Env, frame: Frame, mirror: Frame) -> None:
            for slot, value in zip(results, run(env, frame, mirror), strict=True):
                env[slot] = value

        return control

    def branch(self, stmt: If) -> Callable[[Env, Frame, Frame], Sequence[Any]]:
        cond = self.slot(stmt.cond)
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        return lambda env, frame, mirror: (then if env[cond] else orelse)((), env, frame, mirror)

    def loop(self, stmt: For | While | Reverse) -> Run:
        watch, outer = None, self.watches
        marked = isinstance(stmt, For) and (stmt.vectorizable or stmt.parallel)
        if marked and self.machine.checks_loops:
            assert isinstance(stmt, For)
            watch = _Watch(add=not stmt.vectorizable)
            self.watches = (*outer, watch)
        if not isinstance(stmt, While):
            self.loops.append((stmt, self.slot(stmt.index)))
        init, body = self.many(stmt.init), self.block(stmt.body)
        if not isinstance(stmt, While):
            self.loops.pop()
        self.watches = outer
        match stmt:
            case While():
                return self.repeating(stmt, init, body)
            case Reverse():
                return self.reversing(stmt, init, body)
            case For(parallel=True):
                return self.out_of_order(stmt, body, watch)
        return self.counting(stmt, init, body, watch)

    def begin(self, label: str, frame: Frame) -> Callable[[], Frame]:
        """Return a function that makes the frame of each iteration."""
        if not self.machine.mirrored:
            return lambda: frame
        frames: list[Frame] = []
        frame.inner[label] = frames

        def iteration() -> Frame:
            frames.append(Frame(frame))
            return frames[-1]

        return iteration

    def leaving(self, stmt: For | Reverse) -> Callable[[Sums, Sequence[Any], Env], Sequence[Any]]:
        """Return a function that gives the results of a loop from what the last iteration left."""
        observe, place = self.machine.observe, self.place()

        def leave(sums: Sums, carried: Sequence[Any], env: Env) -> Sequence[Any]:
            found = sums.leave(carried)
            if observe is not None:
                for k, start in sums.starts.items():
                    given = [start, carried[k].values[: sums.used(k)]]
                    others = observe.found(stmt, given, [found[k]], place(env))
                    if others is not None:
                        (found[k],) = others
            return found

        return leave

    def repeating(self, stmt: While, init: Sequence[int], body: Body) -> Run:
        label = stmt.label

        def repeat(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            carried = [env[k] for k in init]
            iteration = self.begin(label, frame)
            again = True
            while again:
                again, *carried = body(carried, env, iteration(), mirror)
            return carried

        return repeat

    def reversing(self, stmt: Reverse, init: Sequence[int], body: Body) -> Run:
        loop, index, chains, leave = (
            stmt.loop,
            self.slot(stmt.index),
            summed(stmt),
            self.leaving(stmt),
        )

        def reverse(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            frames = mirror.loop(loop)
            sums = Sums(chains, [env[k] for k in init], True)
            carried = sums.carried
            for k in reversed(range(len(frames))):
                env[index] = np.int64(k)
                sums.enter(k)
                carried = body(carried, env, Frame(frame), frames[k])
            return leave(sums, carried, env)

        return reverse

    def counting(self, stmt: For, init: Sequence[int], body: Body, watch: _Watch | None) -> Run:
        index, trips, down, known = (
            self.slot(stmt.index),
            self.slot(stmt.trips),
            stmt.down,
            stmt.index,
        )
        name, chains, leave = stmt.label, summed(stmt), self.leaving(stmt)
        recorded = known in self.machine.recalled

        def count(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            times = range(int(env[trips]))
            sums = Sums(chains, [env[k] for k in init], down)
            iteration = self.begin(name, frame)
            carried = sums.carried
            if watch is not None:
                watch.touched.clear()
            for k in reversed(times) if down else times:
                inner = iteration()
                if watch is not None:
                    watch.iteration = k
                env[index] = np.int64(k)
                if recorded:
                    inner.values[known] = env[index]
                sums.enter(k)
                # Forward code may recall what its own iteration computed.
                carried = body(carried, env, inner, inner if mirror is frame else mirror)
            return leave(sums, carried, env)

        return count

    def out_of_order(self, stmt: For, body: Body, watch: _Watch | None) -> Run:
        """Run the iterations of a parallel loop in an order that no program has."""
        index, trips, machine = self.slot(stmt.index), self.slot(stmt.trips), self.machine
        takes, leaves = uses(stmt.body.stmts)

        def run(env: Env, frame: Frame, mirror: Frame) -> Sequence[Any]:
            # Every third one, backwards; if several raise, the first in program order counts.
            failed: tuple[int, ProgramError] | None = None
            given = machine.tape.pop() if takes else {}
            outer, kept = machine.tape, _Threads()
            self.begin(stmt.label, frame)
            if watch is not None:
                watch.touched.clear()
            for k in sorted(range(int(env[trips])), key=lambda k: (k % 3, -k)):
                at = -k if stmt.down else k
                if watch is not None:
                    watch.iteration = k
                if failed is None or at < failed[0]:
                    env[index] = np.int64(k)
                    kept[k] = machine.tape = list(given.get(k, ()))
                    try:
                        body((), env, frame, mirror)
                    except ProgramError as error:
                        failed = at, error
            machine.tape = outer
            if failed is not None:
                raise failed[1]
            if leaves:
                outer.append(kept)
            elif any(kept.values()):
                raise IRError(f"frames are left on the tape of an iteration: {stmt.label}")
            return ()

        return run

    def calling(self, stmt: Call) -> Step:
        machine = self.machine
        args, results = self.many(stmt.args), self.many(stmt.results)
        derived = stmt.callee in machine.derived
        callee = machine.functions.get(stmt.callee)
        filled = callee is not None and routines.is_filled(callee)
        watches = self.watches

        def call(env: Env, frame: Frame, mirror: Frame) -> None:
            given = [env[k] for k in args]
            arrays = [each for each in given if watches and isinstance(each, np.ndarray)]
            before = [each.copy() for each in arrays]
            if derived:
                found = machine.derivative(stmt.callee, given, stmt)
            else:
                inner = Frame()
                frame.inner[stmt.label] = [inner]
                forward = mirror.loop(stmt.mirror)[0] if stmt.mirror else inner
                found = machine.routine(stmt.callee).call(given, inner, forward)
                if callee is not None and filled:
                    if machine.observe is not None:
                        given = list(machine.observe.given(given))
                    found = routines.fill(callee, given, found)
            for array, old in zip(arrays, before, strict=True):
                for where in _changed(array, old):
                    for watch in watches:
                        watch.note(array, where, "write", stmt)
            for slot, value in zip(results, found, strict=True):
                env[slot] = value

        return call

    def effect(self, stmt: Stmt) -> Step:
        machine = self.machine
        results = self.many(stmt.results)
        match stmt:
            case Check(cond=cond, error=error, message=message, args=args):
                holds, quoted = self.slot(cond), self.many(args)

                def check(env: Env, frame: Frame, mirror: Frame) -> None:
                    if not env[holds]:
                        values = [env[k] for k in quoted]
                        raise ProgramError(raising.made(error, message, values), stmt)

                return check
            case Print(message=message, args=args, to=to):
                shown = self.many(args)

                def show(env: Env, frame: Frame, mirror: Frame) -> None:
                    found = machine.effects.tell(to, message, [env[k] for k in shown], stmt.loc)
                    if results:
                        env[results[0]] = found

                def fail(env: Env, frame: Frame, mirror: Frame) -> None:
                    try:
                        show(env, frame, mirror)
                    except Exception as error:
                        raise ProgramError(error, stmt) from None

                return fail if raises(to) else show
            case Recall(value=value):

                def recall(env: Env, frame: Frame, mirror: Frame) -> None:
                    env[results[0]] = mirror.find(value)

                return recall
            case Push(values=values):
                pushed = self.many(values)

                def push(env: Env, frame: Frame, mirror: Frame) -> None:
                    # In buffer form arrays change in place: a frame has a copy of their contents.
                    kept = [env[k] for k in pushed]
                    machine.tape.append(
                        tuple(np.copy(v) if isinstance(v, np.ndarray) else v for v in kept)
                    )

                return push
            case Pop(results=popped):
                kinds = [(v.type.numpy, v.type.rank) for v in popped]

                def pop(env: Env, frame: Frame, mirror: Frame) -> None:
                    if not machine.tape:
                        raise IRError("pop from an empty tape")
                    found = machine.tape.pop()
                    if [_kind(v) for v in found] != kinds:
                        raise IRError(f"popped {found} for {', '.join(map(str, popped))}")
                    for slot, value in zip(results, found, strict=True):
                        env[slot] = value

                return pop
        raise AssertionError(stmt)


class _Threads(dict[int, list[Any]]):
    """The frame that the iterations of a parallel loop left, each on a private tape."""


def _where(array: Any, index: Sequence[Any], stmt: Stmt) -> tuple[int, ...]:
    where = tuple(map(int, index))
    for i, n in zip(where, array.shape, strict=True):
        if not 0 <= i < n:
            raise IRError(f"index {where} outside {array.shape}: {stmt}")
    return where


def _product(stmt: Gemm, old: Any, a: Any, b: Any) -> Any:
    """Return the new contents: terms are added in order, as compiled code does small ones."""
    a, b = (x.T if flip else x for x, flip in zip((a, b), stmt.transposed, strict=True))
    if a.shape[1] != b.shape[0] or old.shape != (a.shape[0], b.shape[1]):
        raise IRError(f"a product of {a.shape} and {b.shape} into {old.shape}: {stmt}")
    if stmt.result is None and (np.shares_memory(old, a) or np.shares_memory(old, b)):
        raise IRError(f"an operand is overwritten: {stmt}")
    found = old.copy() if stmt.accumulate else np.zeros_like(old)
    for k in range(a.shape[1]):
        found += a[:, k, None] * b[None, k, :]
    return found


def _kind(value: Any) -> tuple[np.dtype[Any], int]:
    return np.asarray(value).dtype, np.ndim(value)


def run(fn: Function, args: Sequence[Any], derive: Derive | None = None) -> tuple[Any, ...]:
    """Run `fn` on NumPy scalars and arrays and return its results.

    `derive` makes the derivatives of functions that it calls.

    Raises
    ------
    ProgramError
        Around the exception that the program raises.
    IRError
        Where the program is not what the verifier promises, e.g. an index out of range.
    """
    interpreter = Interpreter(fn, derive)
    results = interpreter.run(args)
    if interpreter.tape:
        raise IRError(f"{len(interpreter.tape)} frames are left on the tape")
    return results


__all__ = ["AdcError", "Interpreter", "ProgramError", "run", "walk"]
