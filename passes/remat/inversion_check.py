"""Check at run time that inverse operations restored the initial values of a loop (`undo`).

Inverse operations round, and where forward iterations contract differences, backward ones amplify
them: a gradient could be silently wrong. The initial value of the loop is stored, once, and
compared with the restored one: an error is raised unless half of the digits agree, relative to the
largest element at the start and at the end. A value that overflows, or becomes NaN, cannot be
restored; elements that were NaN initially are ignored.
"""

from __future__ import annotations

from adc.ir.builder import Builder
from adc.ir.core import Block, For, Literal, Operand, Value
from adc.ir.errors import Span
from adc.ir.types import INT, Array, Scalar

# The square roots of the machine epsilons.
_HALF = {"f64": 2.0**-26, "f32": 2.0**-11.5}
_MISSED = (
    "adc.invertible: inverse operations lose more than half of the digits here; use "
    "adc.checkpoint, or fewer iterations"
)


def largest(builder: Builder, found: Value, other: Operand | None = None) -> Operand:
    """Emit the largest magnitude of a number or of elements, or of the difference of two.

    The difference is NaN if it is undefined, except for elements where `other` is NaN.
    """
    dtype = found.type.dtype

    def size(index: tuple[Value, ...], before: Operand) -> Operand:
        def element(operand: Operand) -> Operand:
            if isinstance(operand, Value) and isinstance(operand.type, Array):
                return builder.load(operand, index)
            return operand

        one = element(found)
        if other is None:
            return builder.apply("fmax", before, builder.apply("abs", one))
        start = element(other)
        missed = builder.apply("abs", builder.apply("sub", one, start))
        zero = Literal(0.0, Scalar(dtype))
        missed = builder.apply("select", builder.apply("isnan", start), zero, missed)
        return builder.apply("maximum", before, missed)

    def level(index: tuple[Value, ...], before: Operand) -> Operand:
        if not isinstance(found.type, Array) or len(index) == found.type.rank:
            return size(index, before)
        trips = builder.apply("dim", found, params=(len(index),))
        label = builder.names.fresh("L0")
        counter = Value(builder.names.fresh("i"), INT)
        param = Value(builder.names.fresh("size"), Scalar(dtype))
        with builder.block() as stmts:
            last = level((*index, counter), param)
        result = builder.names.value(param)
        block = Block((param,), tuple(stmts), (last,))
        builder.emit(For((result,), label, counter, trips, (before,), block, loc=builder.loc))
        return result

    return level((), Literal(0.0, Scalar(dtype)))


def compare(
    builder: Builder, found: Value, start: Operand, size: Operand, loc: Span | None
) -> None:
    """Emit the check that `found` equals the forward value `start`.

    `size` is its largest magnitude at the end.
    """
    builder.loc = loc
    first = builder.recall(start) if isinstance(start, Value) else start
    size = builder.apply("fmax", size, largest(builder, found))
    limit = builder.apply("mul", size, Literal(_HALF[found.type.dtype], Scalar(found.type.dtype)))
    right = builder.apply("le", largest(builder, found, first), limit)
    right = builder.apply("and", right, builder.apply("isfinite", limit))
    builder.check(right, "FloatingPointError", _MISSED)


__all__ = ["compare", "largest"]
