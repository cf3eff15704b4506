"""The functions of `math`, and conversions of floats to Python's integers.

They return Python floats and raise where NumPy's functions return NaN or infinity. The necessary
checks are part of the lowered code.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from adc.frontend.control import program
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import Binding, Num, Static
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy.plain import composed
from adc.frontend.numpy.ufuncs import floating_type, strong
from adc.frontend.values import arguments, elementwise, operators
from adc.frontend.values.arguments import Handler
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.opdef import OPS
from adc.ir.types import B1, BOOL, F16, F32, F64, FLOAT, INT
from adc.library.standard import mathematics


def _domain(lo: Lowerer, kind: str, x: Operand) -> None:
    """Check the argument of a function of `math` (`OpDef.raises`); NaN passes."""

    def const(value: float) -> Literal:
        return Literal(value, FLOAT)

    bad: Operand
    if kind == "negative":
        bad = numbers.apply(lo, "lt", x, const(0.0))
    elif kind == "not positive":
        bad = numbers.apply(lo, "le", x, const(0.0))
    elif kind == "below -1":
        bad = numbers.apply(lo, "le", x, const(-1.0))
    elif kind == "below 1":
        bad = numbers.apply(lo, "lt", x, const(1.0))
    elif kind == "infinite":
        bad = numbers.apply(lo, "isinf", x)
    elif kind == "beyond 1":
        bad = numbers.apply(lo, "gt", numbers.apply(lo, "abs", x), const(1.0))
    elif kind in ("pole", "poles"):
        whole = numbers.apply(lo, "eq", numbers.apply(lo, "floor", x), x)
        bad = numbers.apply(lo, "and", whole, numbers.apply(lo, "le", x, const(0.0)))
        if kind == "poles":  # the logarithm of gamma is infinite at minus infinity
            finite = numbers.apply(lo, "not", numbers.apply(lo, "isinf", x))
            bad = numbers.apply(lo, "and", bad, finite)
    elif kind == "not inside 1":
        bad = numbers.apply(lo, "ge", numbers.apply(lo, "abs", x), const(1.0))
    else:
        return
    numbers.check(lo, numbers.apply(lo, "not", bad), "ValueError", "math domain error")


def _math_row(name: str) -> Handler:
    kind = OPS[name].raises or ""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        x = elementwise.as_float(lo, args[0], node)
        _domain(lo, kind, x)
        result = lo.builder.apply(name, x)
        if kind in ("overflow", "pole", "poles"):
            numbers.finite_result(lo, result, x)
        return Num(numbers.weak(lo, result))

    return handler


def _math_binary(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 2)
        a, b = elementwise.as_float(lo, args[0], node), elementwise.as_float(lo, args[1], node)
        if name == "fmod":
            zero = numbers.apply(lo, "eq", b, Literal(0.0, FLOAT))
            number = [numbers.apply(lo, "not", numbers.apply(lo, "isnan", v)) for v in (a, b)]
            zero = numbers.apply(lo, "and", zero, number[0])
            infinite = numbers.apply(lo, "and", numbers.apply(lo, "isinf", a), number[1])
            bad = numbers.apply(lo, "or", zero, infinite)
            numbers.check(lo, numbers.apply(lo, "not", bad), "ValueError", "math domain error")
        return Num(numbers.weak(lo, lo.builder.apply(name, a, b)))

    return handler


def _math_pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    a, b = elementwise.as_float(lo, args[0], node), elementwise.as_float(lo, args[1], node)
    return Num(numbers.weak(lo, numbers.math_power(lo, numbers.weak(lo, a), numbers.weak(lo, b))))


def _math_log(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1, 2)
    first = _math_row("log")(lo, [args[0]], {}, node)
    if len(args) == 1:
        return first
    base = _math_row("log")(lo, [args[1]], {}, node)
    return operators.binary(lo, ast.Div, first, base, node)


def _math_hypot(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs or not args:
        raise lo.unsupported("this call of `math.hypot`", node)
    result = elementwise.as_float(lo, args[0], node)
    if len(args) == 1:
        return Num(numbers.weak(lo, numbers.apply(lo, "abs", result)))
    for arg in args[1:]:
        result = lo.builder.apply("hypot", result, elementwise.as_float(lo, arg, node))
    return Num(numbers.weak(lo, result))


def scaled(factor: float, weak: bool) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        x = elementwise.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if ty.kind == "b" and not weak:
            raise lo.unsupported(f"`{ast.unparse(node.func)}` on {ty.numpy}", node, "convert it")
        if ty.kind != "f":
            ty = FLOAT if weak else floating_type([x])
        x = lo.convert(x, ty)
        x = numbers.weak(lo, lo.convert(x, FLOAT)) if weak else strong(lo, x)
        if x.type == F16:  # the factor has 32 bits
            x = lo.convert(x, F32)
        found = numbers.apply(lo, "mul", x, Literal(factor, numbers.scalar_type(x)))
        return Num(found if weak else lo.convert(found, ty))

    return handler


def _predicate(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        arguments.arity(lo, args, kwargs, node, 1)
        return Num(
            numbers.weak(lo, numbers.apply(lo, name, elementwise.as_float(lo, args[0], node)))
        )

    return handler


def _fabs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 1)
    return Num(numbers.weak(lo, numbers.apply(lo, "abs", elementwise.as_float(lo, args[0], node))))


def to_integer(row: str, name: str = "") -> Handler:
    """`int`, `round`, `math.floor` and similar: a Python integer, or Python's exception."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if row == "trunc" and not args and not kwargs:
            return Num(integer(0))
        arguments.arity(lo, args, kwargs, node, 1)
        x = elementwise.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if name == "trunc" and not ty.weak and ty != F64:
            raise TypeMismatchError(
                f"type {ty.numpy} doesn't define __trunc__ method", lo.span(node), "use `int`"
            )
        if row == "rint" and ty == B1:
            raise TypeMismatchError("NumPy does not round booleans", lo.span(node))
        if row in ("floor", "ceil") and ty.dtype in ("i64", "u64") and not ty.weak:
            x, ty = lo.convert(x, F64), F64  # `math` goes through float for NumPy's integers
        if ty.kind != "f":
            return Num(numbers.weak(lo, numbers.to_int(lo, x)))
        whole = x if row == "trunc" else numbers.apply(lo, row, x)
        number = numbers.apply(lo, "not", numbers.apply(lo, "isnan", x))
        numbers.check(lo, number, "ValueError", "cannot convert float NaN to integer")
        finite = numbers.apply(lo, "isfinite", x)
        numbers.check(lo, finite, "OverflowError", "cannot convert float infinity to integer")
        size = numbers.apply(lo, "lt", numbers.apply(lo, "abs", x), Literal(2.0**63, ty))
        numbers.check(lo, size, LimitError.__name__, numbers.TOO_LARGE)
        return Num(numbers.weak(lo, lo.convert(whole, INT)))

    return handler


def is_integer(lo: Lowerer, x: Operand) -> Binding:
    """`float.is_integer`, which integers of NumPy's have as well."""
    if x.type.kind != "f":
        return lo.num(True)
    whole = numbers.apply(lo, "eq", numbers.apply(lo, "floor", x), x)
    found = numbers.apply(lo, "and", whole, numbers.apply(lo, "isfinite", x))
    return Num(numbers.weak(lo, found))


def bit_length(lo: Lowerer, number: Num, node: ast.Call) -> Binding:
    """`int.bit_length`."""
    if isinstance(number.operand, Literal):
        return lo.num(int(number.operand.value).bit_length())
    return dispatch.apply(lo, Static(mathematics.bit_length), [number], {}, node)


def _ldexp(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    arguments.arity(lo, args, kwargs, node, 2)
    x, k = elementwise.as_float(lo, args[0], node), elementwise.number(lo, args[1], node)
    if k.type not in (INT, BOOL):
        raise TypeMismatchError("`math.ldexp` needs a Python int as exponent", lo.span(node))
    k = lo.convert(k, FLOAT)
    # In two steps: 2 ** k alone may overflow.
    half = numbers.apply(lo, "floor", numbers.apply(lo, "mul", k, Literal(0.5, FLOAT)))
    result: Operand = x
    for part in (half, numbers.apply(lo, "sub", k, half)):
        result = numbers.apply(lo, "mul", result, lo.builder.apply("exp2", part))
    numbers.finite_result(lo, result, x)
    return Num(numbers.weak(lo, result))


def _integers(name: str, fn: Handler) -> Handler:
    """Return the handler of a function of integers, of which there may be any number."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if kwargs:
            raise TypeMismatchError(f"math.{name}() takes no keyword arguments", lo.span(node))
        found = [elementwise.number(lo, arg, node) for arg in args]
        if any(x.type.kind in "fc" or x.type == B1 for x in found):
            raise TypeMismatchError(f"`math.{name}` needs integers", lo.span(node))
        given: list[Binding] = [Num(numbers.weak(lo, numbers.to_int(lo, x))) for x in found]
        return fn(lo, given, {}, node)

    return handler


def _gcd(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    divisor: Operand = integer(0)
    for arg in args:
        divisor = lo.builder.apply("gcd", divisor, elementwise.number(lo, arg, node))
    fits = numbers.apply(lo, "ge", divisor, integer(0))
    numbers.check(lo, fits, LimitError.__name__, numbers.TOO_LARGE)
    return Num(numbers.weak(lo, divisor))


def of_floats(fn: Any) -> Handler:
    """Return the handler of a function in Python whose arguments are converted to floats."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        def given(arg: Binding) -> Binding:
            return Num(numbers.weak(lo, elementwise.as_float(lo, arg, node)))

        named = {name: given(arg) for name, arg in kwargs.items()}
        return program.call_function(lo, fn, [given(arg) for arg in args], named, node)

    return handler


HANDLERS: dict[Any, Handler] = {
    math.floor: to_integer("floor"), math.ceil: to_integer("ceil"),
    math.trunc: to_integer("trunc", "trunc"),
    math.pow: _math_pow, math.log: _math_log, math.hypot: _math_hypot, math.fabs: _fabs,
    math.degrees: scaled(180.0 / math.pi, True), math.radians: scaled(math.pi / 180.0, True),
    math.isnan: _predicate("isnan"), math.isinf: _predicate("isinf"),
    math.isfinite: _predicate("isfinite"), math.copysign: _math_binary("copysign"),
    math.atan2: _math_binary("atan2"), math.fmod: _math_binary("fmod"),
    math.nextafter: _math_binary("nextafter"), math.ldexp: _ldexp, 
    math.gcd: _integers("gcd", _gcd),
    math.lcm: _integers("lcm", composed.in_python(mathematics.lcm)),
    math.fsum: composed.in_python(mathematics.fsum),
    **{
        getattr(math, name): of_floats(getattr(mathematics, name))
        for name in ("isclose", "modf", "frexp", "remainder", "ulp")
    },
}  # fmt: skip
HANDLERS.update(
    (getattr(math, name), _math_row(name))
    for name, row in OPS.items()
    if row.raises is not None and name != "log"  # which takes a base, too
)
