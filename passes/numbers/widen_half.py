"""Compute with numbers of 16 bits in 32 bits, as NumPy does; in memory they keep 16 bits.

Before, where ``f16`` is `np.float16`::

    fn f(%x: f16[:], %w: f16) -> f16[:] {
      …
      %a = load %x[%i]
      %b = mul %a %w
      %x.1 = store %x[%i] %b

After::

    fn f(%x: h16[:], %w: f32) -> h16[:] {
      …
      %a = load %x[%i]
      %t = mul %a %w
      %b = half %t
      %x.1 = store %x[%i] %b

The elements of an array of ``h16`` are loaded and stored as ``f32``: a load is exact, and so is a
store, as `half` has rounded what is stored. A value is therefore the same whether it is computed,
loaded or computed again. What a row computes from numbers of 16 bits without rounding (`exact`) is
not rounded here either. Later passes, rules and back ends know no arithmetic of 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adc.ir.builder import Builder
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
    Print,
    Stmt,
    Store,
    Value,
    While,
    operands,
)
from adc.ir.errors import IRError, UnsupportedError
from adc.ir.opdef import OPS
from adc.ir.types import F32, HALF, STORED_HALF, Array, Scalar, Type, parse_type
from adc.ir.walk import Names, defined, map_blocks, map_operands, with_results


def widen_half(fn: Function) -> Function:
    """Return `fn` without arithmetic on numbers of 16 bits."""
    derived = tuple(map(widened, fn.derived))
    callees = tuple(map(_widen, fn.callees))
    done = _widen(fn)
    pairs = zip((done, *callees, *derived), (fn, *fn.callees, *fn.derived), strict=True)
    if all(new is old for new, old in pairs):
        return fn
    return replace(done, callees=callees, derived=derived)


def widened(derived: Derived) -> Derived:
    """Return a derivative of what a function becomes."""
    of = widen_half(derived.of)
    return derived if of is derived.of else replace(derived, of=of)


def _is_half(operand: Operand) -> bool:
    return operand.type.dtype == HALF


def _widen(fn: Function) -> Function:
    """Return one function without numbers of 16 bits: itself if it has none."""
    if not any(map(_is_half, defined(fn))):
        return fn
    widening = _Widening(fn)
    params = widening.define_all(fn.params)
    with widening.builder.block() as stmts:
        widening.run(fn.body)
    results = tuple(map(widening.read, fn.results))
    return replace(fn, params=params, body=tuple(stmts), results=results)


def _type(ty: Type) -> Type:
    """Return the type in place of one of 16 bits."""
    if ty.dtype != HALF:
        return ty
    return replace(ty, dtype=STORED_HALF) if isinstance(ty, Array) else F32


class _Widening:
    """The rewriting of one function; `values` has what values of 16 bits have become."""

    def __init__(self, fn: Function) -> None:
        self.builder = Builder(Names.of(fn))
        self.values: dict[Value, Value] = {}

    def define(self, value: Value) -> Value:
        """Return the value in place of `value`."""
        if not _is_half(value):
            return value
        self.values[value] = made = replace(value, type=_type(value.type))
        return made

    def define_all(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(map(self.define, values))

    def read(self, operand: Operand) -> Operand:
        if isinstance(operand, Value):
            return self.values.get(operand, operand)
        if not _is_half(operand):
            return operand
        with np.errstate(all="ignore"):
            return Literal(float(np.float16(operand.value)), F32)

    # -- statements ----------------------------------------------------------------------------

    def run(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.builder.loc = stmt.loc
            self.stmt(stmt)

    def block(self, block: Block) -> Block:
        params = self.define_all(block.params)
        with self.builder.block() as stmts:
            self.run(block.stmts)
        return Block(params, tuple(stmts), tuple(map(self.read, block.yields)))

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case If() | For() | While():
                inside = map_blocks(map_operands(stmt, self.read), self.block)
                self.emit(inside, stmt.results)
            case _ if not any(map(_is_half, (*operands(stmt), *stmt.results))):
                self.builder.emit(map_operands(stmt, self.read))
            case Call() | Load():
                self.emit(map_operands(stmt, self.read), stmt.results)
            case Store():
                self.store(stmt)
            case Apply():
                self.apply(stmt)
            case Check() | Print():
                raise UnsupportedError(
                    "a float16 in a text, where it would show as a float32, is not supported",
                    stmt.loc, "convert it with `float`",
                )  # fmt: skip
            case Gemm():
                raise IRError("a product of matrices of 16 bits")
            case _:
                raise AssertionError(stmt)

    def emit(self, stmt: Stmt, results: Sequence[Value]) -> None:
        self.builder.emit(with_results(stmt, self.define_all(results)))

    def store(self, stmt: Store) -> None:
        array, index = self.read(stmt.array), tuple(map(self.read, stmt.index))
        value = self.read(stmt.value)
        assert isinstance(array, Value)
        if stmt.accumulate:
            total = self.builder.apply("add", self.builder.load(array, index), value)
            value = self.builder.apply("half", total)
        self.builder.emit(Store(self.define(stmt.result), array, index, value, False, stmt.loc))

    # -- operations ----------------------------------------------------------------------------

    def apply(self, stmt: Apply) -> None:
        op, args = stmt.op, tuple(map(self.read, stmt.args))
        if op.converts:
            self.convert(stmt, args[0])
            return
        if op.reorders:
            raise IRError("a sum of numbers of 16 bits")
        params = tuple([_param(each) for each in stmt.params])
        made: list[Value] = []
        rounded: list[tuple[Value, Value]] = []
        for result in stmt.results:
            found = self.define(result)
            if _is_half(result) and isinstance(found.type, Scalar) and not (
                op.exact or op.undefined
            ):  # fmt: skip
                exact = self.builder.value(found.name, F32)
                rounded.append((found, exact))
                found = exact
            made.append(found)
        self.builder.emit(Apply(tuple(made), op, args, params, stmt.loc))
        for found, exact in rounded:
            self.builder.emit(Apply((found,), OPS["half"], (exact,), (), stmt.loc))

    def convert(self, stmt: Apply, value: Operand) -> None:
        """Convert to or from 16 bits; what is not a float is converted to one before."""
        if isinstance(stmt.result.type, Array):
            raise IRError("a conversion of an array of 16 bits")
        result = self.define(stmt.result)
        source = stmt.args[0].type
        if _is_half(stmt.result) and source.dtype != HALF:
            cast = (str(F32),)
            if source.kind != "f":
                value = self.builder.apply("cast", value, params=cast)
            value = self.builder.apply("half", value)
        self.builder.emit(Apply((result,), stmt.op, (value,), (str(result.type),), stmt.loc))


def _param(param: int | str) -> int | str:
    """Return a static parameter that may be the dtype of an array, or a type."""
    if not (isinstance(param, str) and param.startswith(HALF)):
        return param
    ty = parse_type(param)
    # A dtype alone is that of the array that is made.
    return str(_type(ty)) if isinstance(ty, Array) else STORED_HALF


__all__ = ["widen_half", "widened"]
