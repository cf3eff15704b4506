"""How often loops run and how many elements arrays have: numbers if sizes are known, or guesses.

Plans without sizes are made for `GUESS` iterations and elements per axis. A loop whose length
depends on the one around it counts with its length in the middle of that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from adc.ir import ops
from adc.ir.core import (
    Apply,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Operand,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
)
from adc.ir.ops import arith
from adc.ir.types import Array

GUESS = 256.0
Known = Mapping[str, "int | Sequence[int]"]


class Extents:
    """Of the values of one function's forward code.

    `known` are integers, and shapes of arrays, by the name of the parameter; of a `while` loop
    ``W`` the iterations ``W.n``.
    """

    def __init__(self, fn: Function, known: Known | None = None) -> None:
        self._known = known or {}
        self._stmts: dict[Value, Stmt] = {}
        # Of loop parameters and results: where they begin.
        self._starts: dict[Value, Operand] = {}
        self._counters: dict[Value, For] = {}
        self._loops: dict[str, For | While] = {}
        self._numbers: dict[Value, float | None] = {}
        self._shapes: dict[Value, tuple[float, ...]] = {}
        self._scan(fn.body)

    def _scan(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            for result in stmt.results:
                self._stmts[result] = stmt
            match stmt:
                case Reverse():
                    continue
                case For() | While():
                    self._loops[stmt.label] = stmt
                    self._starts.update(zip(stmt.body.params, stmt.init, strict=True))
                    self._starts.update(zip(stmt.results, stmt.init, strict=True))
                    if isinstance(stmt, For):
                        self._counters[stmt.index] = stmt
            for block in blocks(stmt):
                self._scan(block.stmts)

    def known(self, pairs: Iterable[tuple[Value, Operand]]) -> Known:
        """Return what is known of operands, by the names of other values."""
        found: dict[str, int | Sequence[int]] = {}
        for value, operand in pairs:
            if isinstance(value.type, Array):
                assert isinstance(operand, Value)
                found[value.name] = tuple(map(int, self.shape(operand)))
            elif value.type.kind in "iu" and (number := self.number(operand)) is not None:
                found[value.name] = int(number)
        return found

    def trips(self, loop: For | While) -> float:
        """Return how often the body of a loop runs each time that the loop is entered."""
        if isinstance(loop, While):
            known = self._known.get(f"{loop.label}.n", GUESS)
            assert not isinstance(known, Sequence)
            return max(float(known), 1.0)
        found = self.number(loop.trips)
        return GUESS if found is None else max(found, 0.0)

    def trips_of(self, label: str) -> float:
        return self.trips(self._loops[label])

    def elements(self, array: Value) -> float:
        return math.prod(self.shape(array))

    def bytes(self, value: Value) -> float:
        size = float(value.type.numpy.itemsize)
        return size * self.elements(value) if isinstance(value.type, Array) else size

    def number(self, operand: Operand) -> float | None:
        """Return an integer; None if nothing is known of it."""
        if isinstance(operand, Literal):
            return float(operand.value)
        if operand not in self._numbers:
            self._numbers[operand] = None
            self._numbers[operand] = self._number(operand)
        return self._numbers[operand]

    def _number(self, value: Value) -> float | None:
        if value.name in self._known:
            known = self._known[value.name]
            return None if isinstance(known, Sequence) else float(known)
        if value in self._counters:
            return (self.trips(self._counters[value]) - 1) // 2
        stmt = self._stmts.get(value)
        if not isinstance(stmt, Apply):
            return None
        if stmt.op.asks_shape:
            (array,) = stmt.args
            axis = stmt.params[0]
            assert isinstance(array, Value)
            assert isinstance(axis, int)
            return self.shape(array)[axis]
        if stmt.op in (ops.integer.sweeps, ops.integer.split, ops.integer.rest):
            return self._steps(stmt.args[0])
        args = [self.number(arg) for arg in stmt.args if not isinstance(arg.type, Array)]
        numbers = [arg for arg in args if arg is not None]
        if len(numbers) < len(stmt.args):
            return None
        match stmt.op, numbers:
            case arith.add, (a, b):
                return a + b
            case arith.sub, (a, b):
                return a - b
            case arith.mul, (a, b):
                return a * b
            case arith.floordiv, (a, b):
                return a // b if b else None
            case arith.maximum, (a, b):
                return max(a, b)
            case arith.minimum, (a, b):
                return min(a, b)
            case ((arith.cast | ops.integer.wrap), (a, *_)):
                return a
            case ops.integer.trips, (a, b, c):
                return max(math.ceil((b - a) / c), 0.0) if c else None
        return None

    def _steps(self, left: Operand) -> float | None:
        """Return how many iterations a checkpointed loop may run at once: all that there are.

        What iterations keep is then decided as for the whole loop, whatever room it has.
        """
        stmt = self._stmts.get(left) if isinstance(left, Value) else None
        if isinstance(stmt, Apply) and stmt.op is arith.sub:  # without those that are done
            left = stmt.args[0]
        return self.number(left)

    def shape(self, array: Value) -> tuple[float, ...]:
        # Not by recursion: a long program may change an array more often than Python can recurse.
        chain: list[Value] = []
        last = array
        like: Value | None = array
        while like is not None and like not in self._shapes:
            assert isinstance(like.type, Array)
            self._shapes[like] = (GUESS,) * like.type.rank  # for cycles
            chain.append(like)
            last, like = like, self._like(like)
        found = self._shape(last) if like is None else self._shapes[like]
        for each in reversed(chain):
            if found is not None and len(found) == len(self._shapes[each]):
                self._shapes[each] = found
            found = self._shapes[each]
        return self._shapes[array]

    def _like(self, array: Value) -> Value | None:
        """Return an array that has the same shape, if that is where the shape is from."""
        if isinstance(self._known.get(array.name), Sequence):
            return None
        start = self._starts.get(array)
        found: Operand | None = start if isinstance(start, Value) else None
        if found is None:
            match self._stmts.get(array):
                case Store(array=before) | Gemm(array=before):
                    found = before
                case If(results=results, then=then):
                    found = then.yields[results.index(array)]
                case Apply(args=args):
                    found = next((arg for arg in args if isinstance(arg.type, Array)), None)
        return found if isinstance(found, Value) else None

    def _shape(self, array: Value) -> tuple[float, ...] | None:
        """Return the shape of an array that is not like another one."""
        known = self._known.get(array.name)
        if isinstance(known, Sequence):
            return tuple(float(size) for size in known)
        stmt = self._stmts.get(array)
        if not isinstance(stmt, Apply) or any(isinstance(arg.type, Array) for arg in stmt.args):
            return None
        assert isinstance(array.type, Array)
        sizes = [arg for arg in stmt.args if arg.type.kind in "iu"]
        numbers = [self.number(size) for size in sizes[len(sizes) - array.type.rank :]]
        return tuple(GUESS if n is None else max(n, 0.0) for n in numbers)


__all__ = ["GUESS", "Extents"]
