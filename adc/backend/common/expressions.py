"""Expressions of emitted code: operands, operations, and what may still be moved into others."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adc.backend.common.prelude import CASTS
from adc.ir import ops
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.types import Type


@dataclass(frozen=True, slots=True)
class Expr:
    """Python text; the variables in it that are assigned more than once; whether it loads."""

    text: str
    reads: frozenset[str] = frozenset()
    loads: bool = False

    @property
    def atomic(self) -> bool:
        return self.text.isidentifier() or not any(c in self.text for c in " (")

    @property
    def bare(self) -> str:
        """The text without parentheses around all of it."""
        return strip(self.text)


def strip(text: str) -> str:
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for k, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if k == len(text) - 1 else text
    return text


def numpy_name(dtype: str) -> str:
    """Return how emitted code names a dtype where it makes arrays."""
    return f"np.{CASTS[dtype]}"


def literal(value: bool | int | float, ty: Type) -> str:
    """Return a constant of exactly the dtype of `ty`."""
    dtype = ty.dtype
    if dtype == "b1":
        return str(bool(value))
    if dtype[0] == "f":
        number = float(value)
        text = repr(number)
        if math.isnan(number):
            text = "nan"
        elif math.isinf(number):
            text = "inf" if number > 0 else "(-inf)"
        elif text.startswith("-"):
            text = f"({text})"
        return text if dtype == "f64" else f"float32({strip(text)})"
    text = str(int(value))
    if dtype != "i64":
        return f"{CASTS[dtype]}({text})"
    return f"({text})" if text.startswith("-") else text


# Python's operators on these give another type in Numba than in NumPy, or a branch.
_TEMPLATES = {
    ops.integer.logical_and: "({0} & {1})",
    ops.integer.logical_or: "({0} | {1})",
    arith.select: "select({0}, {1}, {2})",
    arith.reciprocal: "({one} / {0})",
}
_WIDENED = frozenset(
    (
        arith.add, arith.sub, arith.mul, arith.neg, arith.square, ops.integer.bitand,
        ops.integer.bitor, ops.integer.bitxor,
    )
)  # fmt: skip


def apply(op: OpDef, params: tuple[int | str, ...], args: list[Expr], ty: Type, of: Type) -> Expr:
    """Return the expression of an operation on operands of type `of` with a result of type `ty`."""
    reads: frozenset[str] = frozenset().union(*(arg.reads for arg in args))
    loads = any(arg.loads for arg in args)
    if op.converts:
        text = f"{CASTS[ty.dtype]}({args[0].bare})"
    elif op.asks_shape:
        text, loads = f"{args[0].text}.shape[{params[0]}]", False
    else:
        template = _TEMPLATES.get(op, op.code)
        texts = [arg.text for arg in args]
        if not template.startswith("("):  # a call: its arguments need no parentheses
            texts = [strip(text) for text in texts]
        if op.algorithm is not None and ty.dtype == "f32":  # they are in double precision
            texts, template = [f"float64({text})" for text in texts], f"float32({template})"
        order = params[0] if params else 0
        text = template.format(*texts, one=literal(1.0, of), order=order)
        if op in _WIDENED and ty.dtype[0] in "iu" and ty.dtype not in ("i64", "u64"):
            text = f"{CASTS[ty.dtype]}({strip(text)})"
        elif op is arith.neg and ty.dtype == "u64":
            text = f"uint64({strip(text)})"
    return Expr(text, reads, loads)


def uses_twice(op: OpDef) -> bool:
    """Whether an operand stands more than once in the text of an operation."""
    return _TEMPLATES.get(op, op.code).count("{0}") > 1
