"""Python's and NumPy's functions on scalars: what each becomes.

`math`'s functions return Python floats and raise where NumPy's return NaN or infinity; the checks
that make this true are part of the lowered code.
"""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend import arrays, expressions, numbers
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Enumerate,
    Num,
    Range,
    Reversed,
    Static,
    TupleOf,
    Zip,
    kind_of,
)
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Print
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OpDef, find
from adc.ir.types import B1, BOOL, F32, F64, FLOAT, INT, NAMES, Scalar, promote

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]

# How a function of `math` raises: which arguments are outside its domain, and on overflow.
_DOMAIN: dict[str, str] = {
    "sqrt": "negative", "log": "not positive", "log2": "not positive", "log10": "not positive",
    "log1p": "below -1", "sin": "infinite", "cos": "infinite", "tan": "infinite",
    "asin": "beyond 1", "acos": "beyond 1", "acosh": "below 1", "atanh": "not inside 1",
    "exp": "overflow", "expm1": "overflow", "exp2": "overflow", "sinh": "overflow",
    "cosh": "overflow", "tanh": "", "atan": "", "asinh": "", "cbrt": "", "erf": "", "erfc": "",
    "gamma": "pole", "lgamma": "poles",
}  # fmt: skip


def _float(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    return lo.convert(numbers.number(lo, binding, node), FLOAT)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _weak(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number as Python's own: what `float`, `int` and `math` give."""
    ty = numbers.scalar_type(operand)
    target = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT}[ty.kind]
    if ty == target:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, target)
    return lo.builder.apply("cast", operand, params=(str(target),))


def _strong(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number as NumPy's: what its functions give."""
    ty = numbers.scalar_type(operand)
    if not ty.weak:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, Scalar(ty.dtype))
    return lo.builder.apply("cast", operand, params=(ty.dtype,))


def _domain(lo: Lowerer, kind: str, x: Operand) -> None:
    """Check the argument of a function of `math`; NaN passes."""

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
    kind = _DOMAIN[name]

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        x = _float(lo, args[0], node)
        _domain(lo, kind, x)
        result = lo.builder.apply(name, x)
        if kind in ("overflow", "pole", "poles"):
            numbers.finite_result(lo, result, x, "math range error")
        return Num(_weak(lo, result))

    return handler


def _arity(
    lo: Lowerer,
    args: Sequence[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
    low: int,
    high: int | None = None,
) -> None:
    if kwargs or not low <= len(args) <= (low if high is None else high):
        raise lo.unsupported(f"`{ast.unparse(node.func)}` with these arguments", node)


def _math_binary(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 2)
        a, b = _float(lo, args[0], node), _float(lo, args[1], node)
        if name == "fmod":
            zero = numbers.apply(lo, "eq", b, Literal(0.0, FLOAT))
            number = [numbers.apply(lo, "not", numbers.apply(lo, "isnan", v)) for v in (a, b)]
            zero = numbers.apply(lo, "and", zero, number[0])
            infinite = numbers.apply(lo, "and", numbers.apply(lo, "isinf", a), number[1])
            bad = numbers.apply(lo, "or", zero, infinite)
            numbers.check(lo, numbers.apply(lo, "not", bad), "ValueError", "math domain error")
        return Num(_weak(lo, lo.builder.apply(name, a, b)))

    return handler


def _math_pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = _float(lo, args[0], node), _float(lo, args[1], node)
    return Num(_weak(lo, numbers.math_power(lo, _weak(lo, a), _weak(lo, b))))


def _math_log(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1, 2)
    first = _math_row("log")(lo, [args[0]], {}, node)
    if len(args) == 1:
        return first
    base = _math_row("log")(lo, [args[1]], {}, node)
    return numbers.binary(lo, ast.Div, first, base, node)


def _math_hypot(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs or not args:
        raise lo.unsupported("this call of `math.hypot`", node)
    result = _float(lo, args[0], node)
    if len(args) == 1:
        return Num(_weak(lo, numbers.apply(lo, "abs", result)))
    for arg in args[1:]:
        result = lo.builder.apply("hypot", result, _float(lo, arg, node))
    return Num(_weak(lo, result))


def _scaled(factor: float, weak: bool) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        x = numbers.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if not weak and (ty.kind == "b" or ty.dtype in ("i8", "u8", "i16", "u16")):
            raise lo.unsupported(f"`{ast.unparse(node.func)}` on {ty.numpy}", node, "convert it")
        x = lo.convert(x, ty if ty.kind == "f" else FLOAT)
        x = _weak(lo, lo.convert(x, FLOAT)) if weak else _strong(lo, x)
        return Num(numbers.apply(lo, "mul", x, Literal(factor, numbers.scalar_type(x))))

    return handler


def _predicate(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        return Num(_weak(lo, numbers.apply(lo, name, _float(lo, args[0], node))))

    return handler


def _fabs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    return Num(_weak(lo, numbers.apply(lo, "abs", _float(lo, args[0], node))))


def _to_integer(row: str) -> Handler:
    """`int`, `round`, `math.floor` and relatives: a Python integer, or what Python raises."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if row == "rint" and (len(args) == 2 or kwargs):
            raise lo.unsupported("`round` with a number of digits", node)
        if row == "trunc" and not args and not kwargs:
            return Num(integer(0))
        _arity(lo, args, kwargs, node, 1)
        x = numbers.number(lo, args[0], node)
        ty = numbers.scalar_type(x)
        if row == "rint" and ty == B1:
            raise TypeMismatchError("NumPy does not round truth values", lo.span(node))
        if row in ("floor", "ceil") and ty.dtype in ("i64", "u64") and not ty.weak:
            x, ty = lo.convert(x, F64), F64  # `math` goes through float for NumPy's integers
        if ty.kind != "f":
            return Num(_weak(lo, numbers.to_int(lo, x)))
        whole = x if row == "trunc" else numbers.apply(lo, row, x)
        number = numbers.apply(lo, "not", numbers.apply(lo, "isnan", x))
        numbers.check(lo, number, "ValueError", "cannot convert float NaN to integer")
        finite = numbers.apply(lo, "isfinite", x)
        numbers.check(lo, finite, "OverflowError", "cannot convert float infinity to integer")
        size = numbers.apply(lo, "lt", numbers.apply(lo, "abs", x), Literal(2.0**63, ty))
        numbers.check(lo, size, "OverflowError", "adc computes Python integers in 64 bits")
        return Num(_weak(lo, lo.convert(whole, INT)))

    return handler


def _to_float(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 0, 1)
    if not args:
        return lo.num(0.0)
    if isinstance(args[0], Static) and isinstance(args[0].value, str):
        try:
            return lo.num(float(args[0].value))
        except ValueError as error:
            numbers.check(lo, Literal(False, BOOL), "ValueError", _escaped(str(error)))
    return Num(_weak(lo, _float(lo, args[0], node)))


def _to_bool(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 0, 1)
    return Num(_weak(lo, numbers.truth(lo, args[0], node))) if args else lo.num(False)


def _abs(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node)
    if x.type.kind == "b":
        x = lo.convert(x, INT) if numbers.scalar_type(x).weak else x
        if x.type.kind == "b":
            return Num(x)
    if isinstance(x, Literal) and x.type == INT:
        return Num(x if x.value >= 0 else numbers.negated(lo, x, node))
    return Num(x) if x.type.kind == "u" else Num(numbers.apply(lo, "abs", x))


def _extreme(op: type[ast.cmpop]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if kwargs:
            raise lo.unsupported("`min` or `max` with keywords", node)
        items = args
        if len(args) == 1:
            if not isinstance(args[0], TupleOf):
                raise lo.unsupported(f"`min` or `max` of {kind_of(args[0])}", node, "write a loop")
            items = list(args[0].items)
        if not items:
            raise TypeMismatchError("`min` or `max` of nothing", lo.span(node))
        best = items[0]
        for item in items[1:]:
            # Python keeps the first of equals, and compares as `item < best`.
            better = numbers.compare(lo, op(), item, best, node)
            a, b = numbers.number(lo, item, node), numbers.number(lo, best, node)
            if a.type != b.type:
                a, b, _ = numbers.promoted(lo, a, b, node)
            if isinstance(better, Literal):
                best = Num(a if better.value else b)
            else:
                best = Num(numbers.select(lo, better, a, b))
        return best

    return handler


def _len(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    match args[0]:
        case ArrayRef(object=obj):
            return Num(lo.dims[obj][0])
        case TupleOf(items=items):
            return Num(integer(len(items)))
        case Static(value=value) if isinstance(value, str):
            return Num(integer(len(value)))
        case Range(start=start, stop=stop, step=step):
            row = lo.builder.apply("trips", start.operand, stop.operand, step.operand)
            return Num(lo.counts(row))
    raise TypeMismatchError(f"len() of {kind_of(args[0])}", lo.span(node))


def _range(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1, 3)
    numbers_: list[Num] = []
    for arg in args:
        operand = numbers.number(lo, arg, node)
        if operand.type.kind == "f" or operand.type == B1:
            raise TypeMismatchError(f"range() needs integers, not {kind_of(arg)}", lo.span(node))
        numbers_.append(Num(_weak(lo, numbers.to_int(lo, operand))))
    if len(numbers_) == 1:
        return Range(Num(integer(0)), numbers_[0], Num(integer(1)))
    step = numbers_[2] if len(numbers_) == 3 else Num(integer(1))
    nonzero = numbers.apply(lo, "ne", step.operand, integer(0))
    numbers.check(lo, nonzero, "ValueError", "range() arg 3 must not be zero")
    return Range(numbers_[0], numbers_[1], step)


def _enumerate(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else lo.num(0))
    if not args or not isinstance(start, Num) or set(kwargs) - {"start"}:
        raise lo.unsupported("this call of `enumerate`", node)
    return Enumerate(args[0], Num(lo.convert(start.operand, INT)))


def _zip(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if kwargs:
        raise lo.unsupported("`zip` with keywords", node)
    return Zip(tuple(args))


def _reversed(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    return Reversed(args[0])


def _divmod(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`divmod`") for arg in args)
    quotient, remainder = numbers.divmod_(lo, a, b, node)
    return TupleOf((Num(quotient), Num(remainder)))


def _pow(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    return numbers.binary(lo, ast.Pow, args[0], args[1], node)


def _sum(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1, 2)
    if not isinstance(args[0], TupleOf):
        raise lo.unsupported(f"`sum` of {kind_of(args[0])}", node, "write a loop")
    result = args[1] if len(args) > 1 else lo.num(0)
    for item in args[0].items:
        result = numbers.binary(lo, ast.Add, result, item, node)
    return result


def _tuple(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    if not args:
        return TupleOf(())
    if isinstance(args[0], TupleOf):
        return args[0]
    raise lo.unsupported(f"a tuple of {kind_of(args[0])}", node)


def _print(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    if kwargs or any(isinstance(arg, ast.Starred) for arg in node.args):
        raise lo.unsupported("`print` with keywords", node)
    texts: list[str] = []
    operands: list[Operand] = []
    for binding, arg in zip(args, node.args, strict=True):
        text, values = (
            expressions.message(lo, arg)
            if isinstance(arg, ast.JoinedStr)
            else expressions.text_of(lo, binding, arg)
        )
        texts.append(text)
        operands += values
    lo.builder.emit(Print(" ".join(texts), tuple(operands), lo.builder.loc))
    return NONE


def _where(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 3)
    cond = numbers.truth(lo, args[0], node)
    a, b = (numbers.number(lo, arg, node, "`np.where`") for arg in args[1:])
    ty = _common_type([a, b])
    a, b = (_strong(lo, numbers.fit(lo, x, ty, node)) for x in (a, b))
    if isinstance(cond, Literal):
        return Num(a if cond.value else b)
    return Num(lo.builder.apply("select", cond, a, b))


def _clip(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 3)
    given = [arg for arg in args if not (isinstance(arg, Static) and arg.value is None)]
    operands = [numbers.number(lo, arg, node, "`np.clip`") for arg in given]
    ty = _common_type(operands)
    if ty.kind == "b":
        raise lo.unsupported("`np.clip` of truth values", node)
    result = _strong(lo, numbers.fit(lo, numbers.number(lo, args[0], node), ty, node))
    for bound, row in ((args[1], "maximum"), (args[2], "minimum")):
        if isinstance(bound, Num):
            limit = _strong(lo, numbers.fit(lo, bound.operand, ty, node))
            result = numbers.apply(lo, row, result, limit)
    return Num(result)


def _numpy_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`np.power`") for arg in args)
    ty = _common_type([a, b])
    if ty.kind == "b":
        raise lo.unsupported("`np.power` of truth values", node)
    a, b = (lo.convert(x, ty) if x.type == BOOL else x for x in (a, b))
    return Num(_strong(lo, numbers.power(lo, _strong(lo, a), b, node)))


def _float_power(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    a, b = (numbers.number(lo, arg, node, "`np.float_power`") for arg in args)
    a, b = (_strong(lo, lo.convert(x, F64)) for x in (a, b))
    return Num(numbers.power(lo, a, b, node))


def _rounded(row: str) -> Handler:
    """`np.round` and `np.fix`, which are no ufuncs."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1)
        x = _strong(lo, numbers.number(lo, args[0], node, f"`{ast.unparse(node.func)}`"))
        if x.type.kind == "b":
            raise lo.unsupported("rounding a truth value", node)
        return Num(numbers.apply(lo, row, x) if x.type.kind == "f" else x)

    return handler


def _reciprocal(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node)
    if x.type.kind != "f":
        raise lo.unsupported("`np.reciprocal` of an integer", node)
    return Num(numbers.apply(lo, "reciprocal", _strong(lo, x)))


def _positive(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    x = numbers.number(lo, args[0], node, "`np.positive`")
    if x.type.kind == "b":
        raise TypeMismatchError("NumPy has no sign of a truth value", lo.span(node))
    return Num(_strong(lo, x))


def _numpy_copy(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    if isinstance(args[0], ArrayRef):
        return arrays.copy(lo, args[0], node)
    raise lo.unsupported(f"a copy of {kind_of(args[0])}", node)


def _logical(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        _arity(lo, args, kwargs, node, 1 if name == "not" else 2)
        values = [numbers.truth(lo, arg, node) for arg in args]
        return Num(_strong(lo, numbers.apply(lo, name, *values)))

    return handler


def _ldexp(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    x, k = _float(lo, args[0], node), numbers.number(lo, args[1], node)
    if k.type not in (INT, BOOL):
        raise TypeMismatchError("`math.ldexp` needs a Python int as exponent", lo.span(node))
    k = lo.convert(k, FLOAT)
    # In two steps: 2 ** k alone may overflow.
    half = numbers.apply(lo, "floor", numbers.apply(lo, "mul", k, Literal(0.5, FLOAT)))
    result: Operand = x
    for part in (half, numbers.apply(lo, "sub", k, half)):
        result = numbers.apply(lo, "mul", result, lo.builder.apply("exp2", part))
    numbers.finite_result(lo, result, x, "math range error")
    return Num(_weak(lo, result))


def _gcd(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 2)
    found = [numbers.number(lo, arg, node) for arg in args]
    if any(x.type.kind == "f" or x.type == B1 for x in found):
        raise TypeMismatchError("`math.gcd` needs integers", lo.span(node))
    a, b = (numbers.to_int(lo, x) for x in found)
    return Num(_weak(lo, lo.builder.apply("gcd", a, b)))


def _creation(kind: str) -> Handler:
    return lambda lo, args, kwargs, node: arrays.create(lo, kind, args, kwargs, node)


def _dtype_call(
    lo: Lowerer, dtype: np.dtype[Any], args: list[Binding], kwargs: Any, node: ast.Call
) -> Binding:
    """Lower ``np.float32(x)`` and its relatives."""
    _arity(lo, args, kwargs, node, 0, 1)
    if dtype not in NAMES:
        raise lo.unsupported(f"dtype {dtype}", node)
    ty = Scalar(NAMES[dtype])
    if not args:
        return Num(lo.convert(Literal(0, INT), ty))
    x = numbers.number(lo, args[0], node)
    if ty.kind == "b":
        return Num(_strong(lo, numbers.truth(lo, args[0], node)))
    x = numbers.stored(lo, x, ty, node)
    return Num(_strong(lo, x))


def _ufunc(
    lo: Lowerer, row: OpDef, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a NumPy ufunc on scalars: operands promoted, the result NumPy's."""
    _arity(lo, args, kwargs, node, row.arity)
    what = f"`{ast.unparse(node.func)}`"
    operands = [numbers.number(lo, arg, node, what) for arg in args]
    ty = _common_type(operands)
    if row.name in _COMPARISONS and ty.kind != "f":
        a, b = operands
        if ty.kind == "b" and row.name not in ("eq", "ne"):
            a, b = lo.convert(a, INT), lo.convert(b, INT)
        return Num(_strong(lo, numbers.compare_numbers(lo, row.name, a, b, node)))
    if ty.kind == "b" and "b" not in row.kinds and row.name not in _ALWAYS_DOUBLE:
        raise lo.unsupported(f"{what} on truth values", node, "convert them with `int()` first")
    if ty.kind not in row.kinds:
        if row.name in ("floor", "ceil", "trunc", "rint") and ty.kind in "iu":
            if row.name != "rint":
                return Num(_strong(lo, operands[0]))
        if "f" not in row.kinds:
            raise TypeMismatchError(f"{what} on {ty}", lo.span(node))
        ty = F64 if row.name in _ALWAYS_DOUBLE else _floating(lo, operands, what, node)
    converted = [_strong(lo, numbers.fit(lo, operand, ty, node)) for operand in operands]
    return Num(_strong(lo, numbers.apply(lo, row, *converted)))


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
# `np.divide` has loops of its own for integers; what the others compute in makes no difference.
_ALWAYS_DOUBLE = ("truediv", "isnan", "isinf", "isfinite")


def _floating(lo: Lowerer, operands: Sequence[Operand], what: str, node: ast.AST) -> Scalar:
    """Return the smallest floating-point type that holds all integer operands, as NumPy picks."""
    types = [numbers.scalar_type(operand) for operand in operands]
    strong = {ty.dtype for ty in types if not ty.weak or ty.kind == "b"}
    if not strong:
        return F64
    if strong <= {"b1", "i8", "u8"}:
        raise lo.unsupported(
            f"{what} on small integers, which is float16 in NumPy,", node, "convert them first"
        )
    return F32 if strong <= {"b1", "i8", "u8", "i16", "u16"} else F64


def _common_type(operands: Sequence[Operand]) -> Scalar:
    """Return the type that NumPy computes in: Python's truth values count as NumPy's."""
    types = [numbers.scalar_type(operand) for operand in operands]
    types = [Scalar(ty.dtype) if ty.kind == "b" else ty for ty in types]
    types.sort(key=lambda ty: ty.weak)
    return functools.reduce(promote, types)


_HANDLERS: dict[Any, Handler] = {
    abs: _abs, min: _extreme(ast.Lt), max: _extreme(ast.Gt), len: _len, range: _range,
    enumerate: _enumerate, zip: _zip, reversed: _reversed, divmod: _divmod, pow: _pow,
    sum: _sum, tuple: _tuple, print: _print, int: _to_integer("trunc"), round: _to_integer("rint"),
    float: _to_float, bool: _to_bool,
    math.floor: _to_integer("floor"), math.ceil: _to_integer("ceil"),
    math.trunc: _to_integer("trunc"), math.pow: _math_pow, math.log: _math_log,
    math.hypot: _math_hypot, math.fabs: _fabs, math.degrees: _scaled(180.0 / math.pi, True),
    math.radians: _scaled(math.pi / 180.0, True), math.isnan: _predicate("isnan"),
    math.isinf: _predicate("isinf"), math.isfinite: _predicate("isfinite"),
    math.copysign: _math_binary("copysign"), math.atan2: _math_binary("atan2"),
    math.fmod: _math_binary("fmod"), math.nextafter: _math_binary("nextafter"),
    math.ldexp: _ldexp, math.gcd: _gcd, math.prod: lambda lo, a, k, n: _prod(lo, a, k, n),
    np.reciprocal: _reciprocal, np.positive: _positive, np.power: _numpy_power, np.where: _where,
    np.clip: _clip, np.copy: _numpy_copy, np.float_power: _float_power, np.round: _rounded("rint"),
    np.fix: _rounded("trunc"), np.logical_xor: _logical("ne"),
    np.deg2rad: _scaled(math.pi / 180.0, False), np.radians: _scaled(math.pi / 180.0, False),
    np.rad2deg: _scaled(180.0 / math.pi, False), np.degrees: _scaled(180.0 / math.pi, False),
    np.logical_and: _logical("and"), np.logical_or: _logical("or"), np.logical_not: _logical("not"),
}  # fmt: skip
_HANDLERS.update({getattr(math, name): _math_row(name) for name in _DOMAIN if name != "log"})
_HANDLERS.update(
    {
        getattr(np, kind): _creation(kind)
        for base in ("zeros", "ones", "empty", "full")
        for kind in (base, f"{base}_like")
    }
)


def _prod(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    _arity(lo, args, kwargs, node, 1)
    if not isinstance(args[0], TupleOf):
        raise lo.unsupported(f"`math.prod` of {kind_of(args[0])}", node, "write a loop")
    result: Binding = lo.num(1)
    for item in args[0].items:
        result = numbers.binary(lo, ast.Mult, result, item, node)
    return result


def call(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a builtin or library function, or return None if it is not in the tables."""
    try:
        handler = _HANDLERS.get(callee)
    except TypeError:  # unhashable
        return None
    if handler is not None:
        return handler(lo, args, kwargs, node)
    if isinstance(callee, type) and issubclass(callee, np.generic):
        return _dtype_call(lo, np.dtype(callee), args, kwargs, node)
    if isinstance(callee, np.ufunc):
        row = find(callee)
        if row is not None:
            return _ufunc(lo, row, args, kwargs, node)
    return None


def hint(callee: Any) -> str:
    """Return advice for a function that adc does not know."""
    module = getattr(callee, "__module__", "") or ""
    if module.startswith("numpy") or isinstance(callee, np.ufunc):
        return "write it with scalar operations in a loop"
    if callee in vars(builtins).values():
        return "compute it outside the differentiated function"
    return "define it in Python, so that adc can read its source"
