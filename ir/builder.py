"""Build IR: append statements, choose names, infer types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Gemm,
    If,
    Literal,
    Load,
    Mark,
    Operand,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
)
from adc.ir.errors import Span
from adc.ir.opdef import OPS, OpDef, Static
from adc.ir.rules import TracedRule
from adc.ir.types import INT, Array, Scalar, Type
from adc.ir.walk import Names


def zero(ty: Type) -> Literal:
    """Return the zero of a scalar type."""
    assert isinstance(ty, Scalar)
    return Literal({"b": False, "f": 0.0, "c": 0j}.get(ty.kind, 0), ty)


def integer(value: int) -> Literal:
    return Literal(value, INT)


class Builder:
    """Appends statements to the innermost open block."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.stmts: list[Stmt] = []
        self.loc: Span | None = None
        self.emitted = 0  # statements built so far, including most that were discarded
        # The user's marks of values, by name, and of all values that are made now.
        self.marks: dict[str, Mark] = {}
        self.mark: Mark | None = None
        # Called with every check that is built.
        self.watch: Callable[[Check], None] | None = None

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Collect the statements built inside the `with` into a list of their own."""
        outer, self.stmts = self.stmts, []
        try:
            yield self.stmts
        finally:
            self.stmts = outer

    def emit(self, stmt: Stmt) -> None:
        self.emitted += 1
        self.stmts.append(stmt)

    def value(self, hint: str, ty: Type) -> Value:
        value = Value(self.names.fresh(hint), ty)
        if self.mark is not None:
            self.marks[value.name] = self.mark
        elif self.marks:
            self.marks.pop(value.name, None)  # of a discarded value
        return value

    @contextmanager
    def marking(self, mark: Mark | None) -> Iterator[None]:
        """Mark the values that are made inside the `with`."""
        outer, self.mark = self.mark, mark
        try:
            yield
        finally:
            self.mark = outer

    def apply(
        self,
        op: OpDef | str,
        *args: Operand,
        params: tuple[Static, ...] = (),
        hint: str = "t",
    ) -> Value:
        row = OPS[op] if isinstance(op, str) else op
        types = row.types([arg.type for arg in args], params)
        results = tuple(self.value(hint, ty) for ty in types)
        self.emit(Apply(results, row, args, params, self.loc))
        return results[0]

    def load(self, array: Value, index: Sequence[Operand], hint: str = "t") -> Value:
        assert isinstance(array.type, Array)
        result = self.value(hint, array.type.element)
        self.emit(Load(result, array, tuple(index), self.loc))
        return result

    def store(
        self,
        array: Value,
        index: Sequence[Operand],
        value: Operand,
        *,
        accumulate: bool = False,
        hint: str = "",
    ) -> Value:
        result = self.value(hint or array.name, array.type)
        self.emit(Store(result, array, tuple(index), value, accumulate, self.loc))
        return result

    def gemm(
        self,
        array: Value,
        a: Value,
        b: Value,
        transposed: tuple[bool, bool],
        *,
        accumulate: bool = False,
        rowwise: bool = False,
        hint: str = "",
    ) -> Value:
        result = self.value(hint or array.name, array.type)
        self.emit(Gemm(result, array, a, b, transposed, accumulate, rowwise, self.loc))
        return result

    def recall(self, value: Value) -> Value:
        result = self.value(f"{value.name}.r", value.type)
        self.emit(Recall(result, value, self.loc))
        return result

    def check(self, cond: Operand, error: str, message: str, *args: Operand) -> None:
        stmt = Check(cond, error, message, args, self.loc)
        if self.watch is not None:
            self.watch(stmt)
        self.emit(stmt)

    def if_(
        self,
        cond: Operand,
        then: Block,
        orelse: Block,
        hints: Sequence[str],
    ) -> tuple[Value, ...]:
        results = tuple(
            self.value(hint, operand.type) for hint, operand in zip(hints, then.yields, strict=True)
        )
        self.emit(If(results, cond, then, orelse, self.loc))
        return results

    def nest(
        self,
        sizes: Sequence[Operand],
        array: Value,
        body: Callable[[list[Value], Value], Value],
        at: tuple[Value, ...] = (),
    ) -> Value:
        """Emit loops that carry an array, the last one innermost; return the array.

        `body` gets the indices and the array, and returns the array.
        """
        if not sizes:
            return body(list(at), array)
        index = self.value("i" if len(sizes) > 1 else "d", INT)
        param = self.names.value(array)
        with self.block() as stmts:
            found = self.nest(sizes[1:], param, body, (*at, index))
        result = self.names.value(array)
        label = self.names.fresh("L")
        block = Block((param,), tuple(stmts), (found,))
        self.emit(For((result,), label, index, sizes[0], (array,), block, loc=self.loc))
        return result

    def inline(
        self, rule: TracedRule, args: Sequence[Operand | None], hints: Sequence[str] = ()
    ) -> list[Operand | None]:
        """Emit a traced rule with its parameters bound to `args`; return its outputs.

        `args` may hold None for unread ones (see `TracedRule.needs` and `TracedRule.only`); `hints`
        name the outputs.
        """
        env: dict[Value, Operand] = {
            param: arg for param, arg in zip(rule.params, args, strict=True) if arg is not None
        }
        named = {out: hint for out, hint in zip(rule.outputs, hints, strict=False)}
        for stmt in rule.stmts:
            operands = tuple(env[a] if isinstance(a, Value) else a for a in stmt.args)
            hint = named.get(stmt.result, "d")
            op = stmt.op
            if "truediv" in (op.name, op.plain) and (inverse := _inverse(operands[1])) is not None:
                op, operands = OPS["mul"], (operands[0], inverse)
            env[stmt.result] = self.apply(op, *operands, params=stmt.params, hint=hint)
        return [env[out] if isinstance(out, Value) else out for out in rule.outputs]


def _inverse(divisor: Operand) -> Literal | None:
    """Return the reciprocal of a literal, if a factor may replace a divisor.

    A product takes a quarter of the time, and reverse code is often a chain of them. Rules may
    round once more; the program's own divisions may not.
    """
    if not isinstance(divisor, Literal) or divisor.type.kind != "f":
        return None
    dtype = divisor.type.numpy
    with np.errstate(all="ignore"):
        found = float(np.reciprocal(np.asarray(divisor.value, dtype)))
    normal = float(np.finfo(dtype.name).tiny) <= abs(found) < math.inf
    return Literal(found, divisor.type) if normal else None


__all__ = ["Builder", "For", "Reverse", "While", "integer", "zero"]
