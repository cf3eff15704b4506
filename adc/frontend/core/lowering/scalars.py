"""Numbers as operands, and their conversion to the types that are needed."""

from __future__ import annotations

import numpy as np

from adc.frontend.core.bindings import Num
from adc.frontend.core.lowering.positions import Positions
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import numpy_value
from adc.ir.types import BOOL, COMPLEX, FLOAT, INT, Scalar


class Scalars(Positions):
    """Makes operands of numbers, and converts them."""

    def num(self, value: bool | int | float | complex) -> Num:
        ty = {bool: BOOL, int: INT, complex: COMPLEX}.get(type(value), FLOAT)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise TypeMismatchError(
                f"the integer {value} does not fit in 64 bits", self.builder.loc
            )
        return Num(Literal(value, ty))

    def convert(self, operand: Operand, ty: Scalar) -> Operand:
        """Return `operand` as a value of dtype `ty`; weak marks are free to differ."""
        if operand.type.kind == "c" and ty.kind not in "bc":
            raise TypeMismatchError(
                f"a complex number where a {ty.numpy} is needed", self.builder.loc,
                "use its `.real` or `.imag`, or `abs`",
            )  # fmt: skip
        if isinstance(operand, Literal):
            if operand.type.kind == "f" and ty.kind in "iu":
                return Literal(int(operand.value), ty)
            if operand.type.kind == "i" and ty.kind in "iu":
                low, high = integer_range(ty)
                if not low <= operand.value <= high:
                    raise TypeMismatchError(
                        f"the integer {operand.value} does not fit {ty}", self.builder.loc
                    )
            value = numpy_value(operand.value, ty).item()
            return Literal(value, ty)
        if operand.type.dtype == ty.dtype:
            return operand
        return self.builder.apply("cast", operand, params=(str(ty),), hint=operand.name)

    def exact(self, operand: Operand, ty: Scalar) -> Operand:
        """Return `operand` with exactly the type `ty`, weak mark included: for joins."""
        source = operand.type
        if isinstance(operand, Value) and source == INT and ty.kind in "iu" and ty.dtype != "i64":
            bounds = np.iinfo(ty.dtype.replace("i", "int").replace("u", "uint"))
            low = self.builder.apply("ge", operand, integer(int(bounds.min)))
            high = self.builder.apply("le", operand, integer(min(int(bounds.max), 2**63 - 1)))
            ok = self.builder.apply("and", low, high)
            self.builder.check(
                ok,
                "OverflowError",
                f"this variable is a {ty.numpy} on another path; {{}} does not fit in it",
                operand,
            )
        operand = self.convert(operand, ty)
        if operand.type == ty:
            return operand
        if isinstance(operand, Literal):
            return Literal(operand.value, ty)
        return self.builder.apply("cast", operand, params=(str(ty),), hint=operand.name)


def integer_range(ty: Scalar) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    info = np.iinfo(str(ty.numpy))
    return int(info.min), int(info.max)
