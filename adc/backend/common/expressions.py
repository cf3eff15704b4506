"""Expressions of emitted code for constants and for the rows of the op table."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from adc.backend.common import reader
from adc.backend.common.prelude import CASTS
from adc.backend.common.syntax import (
    Attribute,
    Binary,
    Call,
    Chain,
    Constant,
    Dtype,
    Element,
    Expr,
    Global,
    Name,
    Size,
    Unary,
    parts,
)
from adc.ir import ops
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.types import STORED_HALF, Type


def dtype_of(ty: Type | str) -> Dtype:
    """Return the dtype of numbers of a type, as emitted code names it where it makes arrays."""
    return Dtype(CASTS[ty if isinstance(ty, str) else ty.dtype])


def is_stored_half(ty: Type) -> bool:
    """Whether the elements of an array have 16 bits in memory."""
    return ty.dtype == STORED_HALF


def loaded(element: Expr, ty: Type) -> Expr:
    """Return the number that an element of an array of type `ty` stands for."""
    return Call("widened", (element,)) if is_stored_half(ty) else element


def stored(number: Expr, ty: Type) -> Expr:
    """Return what an array of type `ty` holds for a number."""
    if not is_stored_half(ty):
        return number
    match number:
        case Call("half", (exact,)):  # what narrows it rounds it as well
            number = exact
    return Call("narrowed", (number,))


def literal(value: bool | int | float, ty: Type) -> Expr:
    """Return a constant of exactly the dtype of `ty`."""
    dtype = ty.dtype
    if dtype == "b1":
        return Constant(bool(value))
    if dtype[0] == "f":
        found = _float(float(value))
        return found if dtype == "f64" else Call("float32", (found,))
    return Constant(int(value)) if dtype == "i64" else Call(CASTS[dtype], (Constant(int(value)),))


def _float(number: float) -> Expr:
    if math.isnan(number):
        return Global("nan")
    if math.isinf(number):
        return Global("inf") if number > 0 else Unary("-", Global("inf"))
    return Constant(number)


def zero(ty: Type) -> Expr:
    """Return a constant for a value that nobody reads."""
    return literal({"b": False, "f": 0.0}.get(ty.kind, 0), ty)


def plus(expr: Expr, offset: int) -> Expr:
    """Return an expression with a number added, if that is not 0."""
    return Binary("+", expr, Constant(offset)) if offset else expr


def total(*terms: Expr) -> Expr:
    return Chain("+", terms) if len(terms) > 1 else terms[0]


def product(*factors: Expr) -> Expr:
    return Chain("*", factors) if len(factors) > 1 else factors[0]


def times(count: int, expr: Expr) -> Expr:
    """Return so many times an expression."""
    return product(Constant(count), expr) if count > 1 else expr


def state(place: str, offset: int = 0) -> Element:
    """Return a word of the state: at one of its places, or so many words behind it."""
    return Element(Name("state"), (plus(Global(place), offset),))


def is_atomic(expr: Expr) -> bool:
    """Whether an expression is so short and cheap that it can stand twice."""
    match expr:
        case Name() | Global():
            return True
        case Constant(value):
            return not repr(value).startswith("-")
        case Size(array) | Attribute(array):
            return is_atomic(array)
        case Element(array, (index,)):
            return is_atomic(array) and is_atomic(index)
    return False


# Python's operators on these give another type in Numba than in NumPy, or a branch.
_OPERATORS = {ops.integer.logical_and: "&", ops.integer.logical_or: "|"}
_WIDENED = frozenset(
    (
        arith.add, arith.sub, arith.mul, arith.neg, arith.square, ops.integer.bitand,
        ops.integer.bitor, ops.integer.bitxor,
    )
)  # fmt: skip


def apply(op: OpDef, params: Sequence[int | str], args: Sequence[Expr], ty: Type, of: Type) -> Expr:
    """Return the expression of an operation on operands of type `of` with a result of type `ty`."""
    if op.converts:
        return Call(CASTS[ty.dtype], (args[0],))
    if op.asks_shape:
        return Size(args[0], int(params[0]))
    if op in _OPERATORS:
        return Binary(_OPERATORS[op], *args)
    if op is arith.select:
        return Call("select", tuple(args))
    if op is arith.reciprocal:
        return Binary("/", literal(1.0, of), args[0])
    if op.algorithm is not None and ty.dtype == "f32":  # they are in double precision
        return Call("float32", (_spelled(op, params, [Call("float64", (a,)) for a in args]),))
    found = _spelled(op, params, args)
    if op in _WIDENED and ty.dtype[0] in "iu" and ty.dtype not in ("i64", "u64"):
        return Call(CASTS[ty.dtype], (found,))
    if op is arith.neg and ty.dtype == "u64":
        return Call("uint64", (found,))
    return found


def _spelled(op: OpDef, params: Sequence[int | str], args: Sequence[Expr]) -> Expr:
    given = dict(zip(reader.operands(op), args, strict=True))
    if op.algorithm is not None:
        given["order"] = Constant(int(params[0]) if params else 0)
    return reader.filled(reader.spelling(op), given)


@functools.cache
def uses_twice(op: OpDef) -> bool:
    """Whether an operand stands more than once in the expression of an operation."""
    if op.converts or op.asks_shape or op in _OPERATORS or op is arith.select:
        return False
    first = reader.operands(op)[:1]
    return sum(isinstance(e, Name) and e.id in first for e in parts(reader.spelling(op))) > 1
