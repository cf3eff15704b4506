"""Sizes of arrays and trips of loops as formulas in the sizes that the arguments have."""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir import ops
from adc.ir.analysis.sizes.formulas import ONE, ZERO, Sum, dims
from adc.ir.core import (
    Apply,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
)
from adc.ir.ops import arith
from adc.ir.types import Array


class Symbols:
    """Of the values of one function in value form.

    What is not known has the name of the value; of a `while` loop ``W`` the iterations ``W.n``.
    """

    def __init__(self, fn: Function) -> None:
        self._stmts: dict[Value, Stmt] = {}
        # Of loop parameters and results: where they begin.
        self._starts: dict[Value, Operand] = {}
        self._numbers: dict[Value, Sum] = {}
        self._shapes: dict[Value, tuple[Sum, ...]] = {}
        self._scan(fn.body)

    def _scan(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            for result in stmt.results:
                self._stmts[result] = stmt
            if isinstance(stmt, For | While | Reverse):
                self._starts.update(zip(stmt.body.params, stmt.init, strict=True))
                self._starts.update(zip(stmt.results, stmt.init, strict=True))
            for block in blocks(stmt):
                self._scan(block.stmts)

    def trips(self, loop: For | While) -> Sum:
        """Return how often the body of a loop runs."""
        if isinstance(loop, While):
            return Sum.atom(f"{loop.label}.n")
        return self.number(loop.trips).count()

    def bytes(self, value: Operand) -> Sum:
        """Return the bytes of a number or an array."""
        found = Sum.number(value.type.numpy.itemsize)
        if isinstance(value, Value) and isinstance(value.type, Array):
            for size in self.shape(value):
                found = found * size
        return found

    def number(self, operand: Operand) -> Sum:
        """Return an integer."""
        if isinstance(operand, Literal):
            return Sum.number(int(operand.value))
        if operand not in self._numbers:
            self._find(operand)
        return self._numbers[operand]

    def _find(self, value: Value) -> None:
        """Find what a value is made of first: programs are longer than Python's stack is deep."""
        todo = [(value, False)]
        while todo:
            value, ready = todo.pop()
            found = self._shapes if isinstance(value.type, Array) else self._numbers
            if not ready and value not in found:
                if isinstance(value.type, Array):  # for cycles
                    self._shapes[value] = tuple(map(Sum.atom, dims(value.name, value.type)))
                else:
                    self._numbers[value] = Sum.atom(value.name)
                todo.append((value, True))
                parts = (part for part in self._parts(value) if isinstance(part, Value))
                todo += ((part, False) for part in parts)
            elif ready and isinstance(value.type, Array):
                shape = self._shape(value)
                if shape is not None and len(shape) == value.type.rank:
                    self._shapes[value] = shape
            elif ready:
                self._numbers[value] = self._number(value)

    def _parts(self, value: Value) -> Sequence[Operand]:
        """Return what the sizes of an array or an integer are computed from."""
        stmt = self._stmts.get(value)
        if isinstance(stmt, Recall):
            return [stmt.value]
        if isinstance(value.type, Array):
            return self._sources(value, stmt)
        if not isinstance(stmt, Apply):
            return []
        if any(isinstance(arg.type, Array) for arg in stmt.args):
            return stmt.args[:1] if stmt.op.asks_shape else []
        return [arg for arg in stmt.args if arg.type.kind in "iu"]

    def _sources(self, array: Value, stmt: Stmt | None) -> Sequence[Operand]:
        if isinstance(self._starts.get(array), Value):
            return [self._starts[array]]
        match stmt:
            case Store(array=before) | Gemm(array=before):
                return [before]
            case If(results=results, then=then):
                return [then.yields[results.index(array)]]
            case Apply(args=args):
                arrays = [arg for arg in args if isinstance(arg.type, Array)]
                return arrays[:1] or [arg for arg in args if arg.type.kind in "iu"]
        return []

    def _number(self, value: Value) -> Sum:
        own = Sum.atom(value.name)
        stmt = self._stmts.get(value)
        if isinstance(stmt, Recall):
            return self.number(stmt.value)
        if not isinstance(stmt, Apply):
            return own
        if stmt.op.asks_shape:
            array, axis = stmt.args[0], stmt.params[0]
            assert isinstance(array, Value)
            assert isinstance(axis, int)
            return self.shape(array)[axis]
        if any(isinstance(arg.type, Array) for arg in stmt.args):
            return own
        match stmt.op, [self.number(a) for a in stmt.args if a.type.kind in "iu"]:
            case arith.add, [a, b]:
                return a + b
            case arith.sub, [a, b]:
                return a - b
            case arith.mul, [a, b]:
                return a * b
            case arith.maximum, [a, b]:
                return b.count() if a == ZERO else a.count() if b == ZERO else a.max(b)
            case arith.minimum, [a, b]:
                return a if a == b else Sum.function("min", a, b)
            case arith.floordiv, [a, b]:
                return Sum.function("//", a, b)
            case arith.cast, [a]:
                return a
            case ops.integer.trips, [a, b, c]:
                return b - a if c == ONE else Sum.function("range", a, b, c)
        return own

    def shape(self, array: Value) -> tuple[Sum, ...]:
        """Return the sizes of an array, axis by axis."""
        if array not in self._shapes:
            self._find(array)
        return self._shapes[array]

    def _shape(self, array: Value) -> tuple[Sum, ...] | None:
        start = self._starts.get(array)
        if isinstance(start, Value):
            return self.shape(start)
        match self._stmts.get(array):
            case Store(array=before) | Gemm(array=before) | Recall(value=before):
                return self.shape(before)
            case If(results=results, then=then):
                arm = then.yields[results.index(array)]
                return self.shape(arm) if isinstance(arm, Value) else None
            case Apply(args=args, op=op):
                arrays = [arg for arg in args if isinstance(arg.type, Array)]
                if arrays:
                    return self.shape(arrays[0]) if isinstance(arrays[0], Value) else None
                assert isinstance(array.type, Array)
                sizes = args[len(args) - array.type.rank :]
                return None if op.undefined else tuple(map(self.number, sizes))
        return None


__all__ = ["Symbols"]
