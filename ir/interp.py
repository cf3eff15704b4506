"""The reference interpreter: runs both forms, at every stage, with NumPy and without Numba.

Value form never changes an array in place here: `Store` copies. Reverse code with Recalls runs
too: the forward code records one frame of values per iteration and call, `Reverse` walks the
frames back. It is the oracle of the tests, written to be obviously right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    walk,
)
from adc.ir.errors import AdcError, IRError, exception_named
from adc.ir.opdef import numpy_value
from adc.ir.sums import Chain, Lanes, Sums, summed
from adc.ir.types import Array

# Stops runaway loops of programs under test.
MAX_STEPS = 50_000_000


class ProgramError(Exception):
    """An exception that the user's program raises: `error` is it, `span` its line."""

    def __init__(self, error: Exception, check: Check) -> None:
        super().__init__(str(error))
        self.error = error
        self.check = check


@dataclass
class Frame:
    """The values of one iteration or call, and the frames of the loops and calls in it."""

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


class Interpreter:
    """Runs one function and its callees."""

    def __init__(self, fn: Function, derive: Derive | None = None) -> None:
        self.derive = derive
        self.derived = {each.name: each for each in fn.derived}
        self.made: dict[str, Function] = {}
        self.functions = {callee.name: callee for callee in fn.callees} | {fn.name: fn}
        self.main = fn
        self.tape: list[tuple[Any, ...]] = []
        self.printed: list[str] = []
        self.steps = 0
        self.sums: dict[int, dict[int, Chain]] = {}

    def run(self, args: Sequence[Any]) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            return self.call(self.main, args, Frame(), None)

    def call(
        self, fn: Function, args: Sequence[Any], frame: Frame, mirror: Frame | None
    ) -> tuple[Any, ...]:
        if len(args) != len(fn.params):
            raise IRError(f"{fn.name} takes {len(fn.params)} arguments, not {len(args)}")
        env: dict[Value, Any] = {}
        for param, arg in zip(fn.params, args, strict=True):
            env[param] = arg if isinstance(param.type, Array) else numpy_value(arg, param.type)
        frame.values.update(env)
        self.stmts(fn.body, env, frame, mirror or frame)
        return tuple(self.read(operand, env) for operand in fn.results)

    def read(self, operand: Operand, env: dict[Value, Any]) -> Any:
        if isinstance(operand, Literal):
            return numpy_value(operand.value, operand.type)
        return env[operand]

    def block(
        self, block: Block, args: Sequence[Any], env: dict[Value, Any], frame: Frame, mirror: Frame
    ) -> tuple[Any, ...]:
        for param, arg in zip(block.params, args, strict=True):
            env[param] = frame.values[param] = arg
        self.stmts(block.stmts, env, frame, mirror)
        return tuple(self.read(operand, env) for operand in block.yields)

    def stmts(
        self, stmts: Sequence[Stmt], env: dict[Value, Any], frame: Frame, mirror: Frame
    ) -> None:
        for stmt in stmts:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise IRError("the interpreter ran too long")
            results = self.stmt(stmt, env, frame, mirror)
            for value, result in zip(stmt.results, results, strict=True):
                env[value] = frame.values[value] = result

    def stmt(self, stmt: Stmt, env: dict[Value, Any], frame: Frame, mirror: Frame) -> Sequence[Any]:
        def many(operands: Sequence[Operand]) -> list[Any]:
            return [self.read(operand, env) for operand in operands]

        match stmt:
            case Apply(results=results, op=op, args=args, params=params):
                given = many(args)
                if op.name == "sum" and isinstance(given[0], Lanes):
                    return (given[0].add(given[1]),)
                value = op.evaluate(*params, *given)
                if len(results) > 1:
                    return tuple(value)
                ty = results[0].type
                return (value if isinstance(ty, Array) else numpy_value(value, ty),)
            case Load(array=array, index=index):
                return (self.element(env[array], many(index), stmt),)
            case Store(array=array, index=index, value=value, accumulate=accumulate):
                copy = env[array].copy()
                self.write(copy, many(index), self.read(value, env), accumulate, stmt)
                return (copy,)
            case Write(array=array, index=index, value=value, accumulate=accumulate):
                self.write(env[array], many(index), self.read(value, env), accumulate, stmt)
                return ()
            case Gemm(array=array):
                found = self.product(stmt, env)
                if stmt.result is not None:
                    return (found,)
                env[array][...] = found
                return ()
            case If(cond=cond, then=then, orelse=orelse):
                arm = then if self.read(cond, env) else orelse
                return self.block(arm, (), env, frame, mirror)
            case For(label=label, index=index, trips=trips, init=init, body=body, down=down):
                carried: Sequence[Any] = many(init)
                frames = frame.inner[label] = []
                count = range(int(self.read(trips, env)))
                sums = Sums(self.summed(stmt), carried, down)
                carried = sums.carried
                for k in reversed(count) if down else count:
                    inner = Frame(frame)
                    frames.append(inner)
                    env[index] = inner.values[index] = np.int64(k)
                    sums.enter(k)
                    # Forward code may recall what its own iteration computed.
                    own = inner if mirror is frame else mirror
                    carried = self.block(body, carried, env, inner, own)
                return sums.leave(carried)
            case While(label=label, init=init, body=body):
                carried = many(init)
                frames = frame.inner[label] = []
                again = True
                while again:
                    inner = Frame(frame)
                    frames.append(inner)
                    again, *carried = self.block(body, carried, env, inner, mirror)
                return carried
            case Reverse(loop=loop, index=index, init=init, body=body):
                frames = mirror.loop(loop)
                sums = Sums(self.summed(stmt), many(init), True)
                carried = sums.carried
                for k in reversed(range(len(frames))):
                    env[index] = np.int64(k)
                    sums.enter(k)
                    carried = self.block(body, carried, env, Frame(frame), frames[k])
                return sums.leave(carried)
            case Call(callee=callee, args=args) if callee in self.derived:
                if self.derive is None:
                    raise IRError(f"{callee} has no statements yet: {stmt}")
                if callee not in self.made:
                    self.made[callee] = self.derive(self.derived[callee])
                made = Interpreter(self.made[callee], self.derive)
                found = made.run(many(args))
                self.printed += made.printed
                return found
            case Call(label=label, callee=callee, args=args, mirror=mirrored):
                inner = Frame()
                frame.inner[label] = [inner]
                forward = mirror.loop(mirrored)[0] if mirrored else None
                return self.call(self.functions[callee], many(args), inner, forward)
            case Check(cond=cond, error=error, message=message, args=args):
                if not self.read(cond, env):
                    text = message.format(*many(args))
                    kind = exception_named(error)
                    raise ProgramError(kind(*([text] if text else [])), stmt)
                return ()
            case Print(message=message, args=args):
                self.printed.append(message.format(*many(args)))
                return ()
            case Recall(value=value):
                return (mirror.find(value),)
            case Push(values=values):
                # In buffer form arrays change in place: a frame has their contents.
                self.tape.append(
                    tuple(np.copy(v) if isinstance(v, np.ndarray) else v for v in many(values))
                )
                return ()
            case Pop(results=results):
                if not self.tape:
                    raise IRError("pop from an empty tape")
                popped = self.tape.pop()
                if [_kind(v) for v in popped] != [
                    (v.type.numpy, v.type.rank if isinstance(v.type, Array) else 0) for v in results
                ]:
                    raise IRError(f"popped {popped} for {', '.join(map(str, results))}")
                return popped
        raise AssertionError(stmt)

    def summed(self, loop: For | Reverse) -> dict[int, Chain]:
        if id(loop) not in self.sums:
            self.sums[id(loop)] = summed(loop)
        return self.sums[id(loop)]

    def product(self, stmt: Gemm, env: dict[Value, Any]) -> Any:
        """Return the new contents: terms are added in order, as compiled code does small ones."""
        a, b = (
            env[operand].T if transposed else env[operand]
            for operand, transposed in zip((stmt.a, stmt.b), stmt.transposed, strict=True)
        )
        old = env[stmt.array]
        if a.shape[1] != b.shape[0] or old.shape != (a.shape[0], b.shape[1]):
            raise IRError(f"a product of {a.shape} and {b.shape} into {old.shape}: {stmt}")
        if stmt.result is None and (np.shares_memory(old, a) or np.shares_memory(old, b)):
            raise IRError(f"an operand is overwritten: {stmt}")
        found = old.copy() if stmt.accumulate else np.zeros_like(old)
        for k in range(a.shape[1]):
            found += a[:, k, None] * b[None, k, :]
        return found

    def element(self, array: Any, index: Sequence[Any], stmt: Stmt) -> Any:
        where = tuple(int(i) for i in index)
        if not all(0 <= i < n for i, n in zip(where, array.shape, strict=True)):
            raise IRError(f"index {where} outside {array.shape}: {stmt}")
        return array[where]

    def write(
        self, array: Any, index: Sequence[Any], value: Any, accumulate: bool, stmt: Stmt
    ) -> None:
        old = self.element(array, index, stmt)
        where = tuple(int(i) for i in index)
        array[where] = old + value if accumulate else value


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
