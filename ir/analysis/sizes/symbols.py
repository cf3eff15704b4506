"""What integers and sizes of arrays are, as formulas: the one walker that other analyses evaluate.

In ::

    fn f(%x: f64[:], %n: int) -> f64 {
      %m = dim[0] %x
      %k = mul %m 2
      %a = full[f64] 0.0:f64 %k
      for L %i in 0 to %n {
        …

`%a` has the size ``2*x.dim0``, and the loop runs ``n`` times. What is not known has the name of the
value. `integer` and `shape` say it of one statement, for those who walk in an order of their own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from adc.ir import ops
from adc.ir.analysis.sizes.affine import WRAPPING, is_whole, keeps_value
from adc.ir.analysis.sizes.formulas import ONE, ZERO, Known, Sum, dims, either
from adc.ir.analysis.sizes.shapes import Dim, Own, Returned
from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Operand,
    Pop,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
)
from adc.ir.ops import arith
from adc.ir.tape import frames, matched
from adc.ir.types import Array

_FUNCTIONS = {
    arith.maximum: "max", arith.minimum: "min", arith.floordiv: "//",
    ops.integer.trips: "range",
}  # fmt: skip
# Integers that plans show by their names, as the formulas are long.
_NAMED = (ops.integer.wrap, ops.integer.sweeps, ops.integer.rest)


class Symbols:
    """Of the values of one function, in value form or buffer form.

    Of a `while` loop ``W`` the iterations are ``W.n``. A loop does not change the sizes of arrays
    that it carries, and neither does a branch.
    """

    def __init__(self, fn: Function) -> None:
        self._fn = fn
        # What defines values; of counters, the loop.
        self.stmts: dict[Value, Stmt] = {}
        self.loops: dict[str, For | While] = {}
        # The values that names in formulas stand for, or are sizes of.
        self.named: dict[str, Value] = {}
        # Of loop parameters and results: where they begin.
        self._starts: dict[Value, Operand] = {}
        self._numbers: dict[Value, Sum] = {}
        self._shapes: dict[Value, tuple[Sum, ...]] = {}
        self._returned = Returned(fn.callees)
        self._scan(fn.body)

    def _scan(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            for result in stmt.results:
                self.stmts[result] = stmt
            if isinstance(stmt, For | While):
                self.loops[stmt.label] = stmt
            if isinstance(stmt, For | Reverse):
                self.stmts[stmt.index] = stmt
            if isinstance(stmt, For | While | Reverse):
                self._starts.update(zip(stmt.body.params, stmt.init, strict=True))
                self._starts.update(zip(stmt.results, stmt.init, strict=True))
            for block in blocks(stmt):
                self._scan(block.stmts)

    def trips(self, label: str) -> Sum:
        """Return how often the body of a loop runs."""
        loop = self.loops.get(label)
        if isinstance(loop, For):
            return self.number(loop.trips).count()
        return Sum.atom(f"{label}.n")  # a `while`, or of another function

    def bytes(self, value: Operand) -> Sum:
        """Return the bytes of a number or an array."""
        return bytes_of(value, self.shape)

    def number(self, operand: Operand) -> Sum:
        """Return an integer."""
        if isinstance(operand, Literal):
            return Sum.number(int(operand.value))
        if operand not in self._numbers:
            self._find(operand)
        return self._numbers[operand]

    def shape(self, array: Operand) -> tuple[Sum, ...]:
        """Return the sizes of an array, axis by axis."""
        assert isinstance(array, Value)
        if array not in self._shapes:
            self._find(array)
        return self._shapes[array]

    def _find(self, value: Value) -> None:
        """Find what a value is made of first: programs are longer than Python's stack is deep."""
        todo = [(value, False)]
        while todo:
            value, ready = todo.pop()
            is_array = isinstance(value.type, Array)
            if ready and is_array:
                found = self._shape(value)
                if len(found) == len(self._shapes[value]):
                    self._shapes[value] = found
            elif ready:
                self._numbers[value] = self._number(value)
            elif value not in (self._shapes if is_array else self._numbers):
                self._name(value)
                todo.append((value, True))
                todo += ((part, False) for part in self._parts(value) if isinstance(part, Value))

    def _name(self, value: Value) -> None:
        """Let a value be a name, until more is known of it."""
        if isinstance(value.type, Array):
            names = dims(value.name, value.type)
            self.named.update(dict.fromkeys(names, value))
            self._shapes[value] = tuple(map(Sum.atom, names))
        else:
            # A value that asks for a size may have the name of that size.
            self.named.setdefault(value.name, value)
            self._numbers[value] = Sum.atom(value.name)

    # -- what a value is made of ---------------------------------------------------------------

    def _same(self, value: Value) -> Operand | None:
        """Return an integer that is the same, or an array that has the same sizes."""
        match self.stmts.get(value):
            case Recall(value=other):
                return other
            case Pop():
                return self._pushed.get(value)
            case Store(array=other) | Gemm(array=other):
                return other
            case If(results=results, then=then) if isinstance(value.type, Array):
                return then.yields[results.index(value)]
        return self._starts.get(value) if isinstance(value.type, Array) else None

    @cached_property
    def _pushed(self) -> Mapping[Value, Operand]:
        """What was pushed, by what pops it."""
        found: dict[Value, Operand] = {}
        matched(self._fn.body, lambda pushed, popped: found.update(frames(pushed, popped)))
        return found

    def _parts(self, value: Value) -> Sequence[Operand]:
        """Return what the sizes of an array or an integer are computed from."""
        same, stmt = self._same(value), self.stmts.get(value)
        if same is not None:
            return [same]
        args = list(stmt.args) if isinstance(stmt, Apply | Call) else []
        if isinstance(stmt, Apply) and stmt.op is arith.select:
            compared = self.stmts.get(args[0]) if isinstance(args[0], Value) else None
            args += compared.args if isinstance(compared, Apply) else ()
        return [arg for arg in args if arg.type.kind in "iu" or isinstance(arg.type, Array)]

    def _number(self, value: Value) -> Sum:
        same, stmt = self._same(value), self.stmts.get(value)
        if same is not None:
            return self.number(same)
        if not isinstance(stmt, Apply) or stmt.op in _NAMED:
            return self._numbers[value]
        if stmt.op is arith.maximum and Literal(0, value.type) in stmt.args:
            a, b = map(self.number, stmt.args)
            return (b if a == ZERO else a).count()
        if stmt.op is arith.select:
            return self._choice(value, *stmt.args)
        found = integer(stmt, self.number, self.shape)
        return self._numbers[value] if found is None else found

    def _choice(self, value: Value, cond: Operand, one: Operand, other: Operand) -> Sum:
        """Return a number that a comparison of integers chooses."""
        stmt = self.stmts.get(cond) if isinstance(cond, Value) else None
        holds = condition(stmt, self.number) if isinstance(stmt, Apply) else None
        if holds is None:
            return self._numbers[value]
        found = either(holds, self.number(one), self.number(other))
        return found if found.is_short() else self._numbers[value]

    def _shape(self, array: Value) -> tuple[Sum, ...]:
        same, stmt = self._same(array), self.stmts.get(array)
        if same is not None:
            return self.shape(same)
        if isinstance(stmt, Call):
            return self._of_call(stmt, array)
        if not isinstance(stmt, Apply) or stmt.op.undefined:
            return self._shapes[array]
        return shape(stmt, self.number, self.shape)

    def _of_call(self, call: Call, array: Value) -> tuple[Sum, ...]:
        """Return the sizes of what a call returns, where the callee makes it of its arguments."""
        callee, found = self._returned.function(call.callee), self._returned.by_name(call.callee)
        if callee is None or not found:
            return self._shapes[array]
        given = dict(zip(callee.params, call.args, strict=True))

        def size(dim: Dim | None, own: Sum) -> Sum:
            if isinstance(dim, Own):
                return self.shape(given[dim.array])[dim.axis]
            if dim is None:
                return own
            return self.number(dim if isinstance(dim, Literal) else given[dim])

        return tuple(map(size, found[call.results.index(array)], self._shapes[array]))


# -- one statement ---------------------------------------------------------------------------------

Number = Callable[[Operand], Sum]
Shape = Callable[[Operand], tuple[Sum, ...]]


def bytes_of(value: Operand, shape: Shape) -> Sum:
    """Return the bytes of a number or an array."""
    sizes = shape(value) if isinstance(value.type, Array) else ()
    return _product(sizes, Sum.number(value.type.numpy.itemsize))


def shape(stmt: Apply, number: Number, shape: Shape) -> tuple[Sum, ...]:
    """Return the sizes of the array that an operation returns."""
    op, args = stmt.op, stmt.args
    assert isinstance(stmt.result.type, Array)
    if op is ops.array.slot:
        each, step = [number(arg) for arg in args], int(stmt.params[1])
        rooms = [_product(each[k : k + step], ONE) for k in range(0, len(each), step)]
        return (ZERO.max(*rooms),)
    if op is ops.array.part:
        return tuple(number(size).count() for size in args[1 + int(stmt.params[0]) :])
    if op.aliases == "part":
        return shape(args[0])[len(args) - 1 :]
    if op.sizes is not None:
        return tuple(number(size).count() for size in stmt.sizes)
    like = next((arg for arg in args if isinstance(arg.type, Array)), None)
    return (ZERO,) * stmt.result.type.rank if like is None else shape(like)  # `undef`


def integer(stmt: Apply, number: Number, shape: Shape) -> Sum | None:
    """Return the integer that an operation returns, None if that is no formula of a page."""
    found = _integer(stmt, number, shape)
    return None if found is None or not found.is_short() else found


def _integer(stmt: Apply, number: Number, shape: Shape) -> Sum | None:
    op = stmt.op
    if op.asks_shape:
        return shape(stmt.args[0])[int(stmt.params[0])]
    if not all(map(_is_integer, stmt.args)):
        return None
    ty = stmt.result.type
    if op in WRAPPING and not is_whole(ty):
        return None
    if op.converts and not keeps_value(stmt.args[0].type, ty):
        return None
    match op, [number(arg) for arg in stmt.args]:
        case arith.add, [a, b]:
            return a + b
        case arith.sub, [a, b]:
            return a - b
        case arith.mul, [a, b]:
            return a * b
        case arith.neg, [a]:
            return ZERO - a
        case arith.cast, [a]:
            return a
        case arith.mod, [a, b]:
            return a - Sum.function("//", a, b) * b
        case ops.integer.wrap, [index, size]:
            return either(ZERO - index, index + size, index)
        case ops.integer.room, [a]:
            return (a + a).max(Sum.number(16))
        case arith.maximum, [a, b] if a.is_size() and b.is_size():
            return a.max(b)
        case ((ops.integer.sweeps | ops.integer.rest), args):
            return Sum.function(op.name, *args)
        case _, args if op in _FUNCTIONS:
            found = Sum.function(_FUNCTIONS[op], *args)
            constant = all(arg.constant is not None for arg in args)
            value = found.value(Known({})) if constant else None
            return found if value is None else Sum.number(value)
    return None


def condition(stmt: Apply, number: Number) -> Sum | None:
    """Return what is positive where a comparison of integers holds; None for other operations."""
    if stmt.op.orders is None or any(not _is_integer(arg) for arg in stmt.args):
        return None
    a, b = map(number, stmt.args)
    less, equal = stmt.op.orders
    more = b - a if less else a - b
    return more + ONE if equal else more


def _is_integer(operand: Operand) -> bool:
    return operand.type.kind in "iu" and not isinstance(operand.type, Array)


def _product(sizes: Sequence[Sum], start: Sum) -> Sum:
    return functools.reduce(operator.mul, sizes, start)


__all__ = ["Symbols", "bytes_of", "condition", "integer", "shape"]
