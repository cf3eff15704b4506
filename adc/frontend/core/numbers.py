"""Arithmetic on scalars: promotion, and the exceptions of Python's numbers."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from adc.frontend.core.lower import Lowerer
from adc.frontend.core.lowering.scalars import integer_range
from adc.frontend.core.sizes import INDEX_BITS
from adc.frontend.core.state import Dead
from adc.ir.builder import integer
from adc.ir.core import Apply, Call, For, If, Literal, Load, Operand, Recall, Stmt, Value, While
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.opdef import OPS, OpDef, numpy_value
from adc.ir.types import B1, BOOL, COMPLEX, F64, FLOAT, INT, Scalar, promote

ROWS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "bitand",
    ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "bitand": "&", "bitor": "|", "bitxor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
# A sum or product of 64-bit integers beyond this would need Python's unbounded integers. What is
# compared is rounded; and adding an index to the result is not checked.
_LIMIT = 2.0**63 - 2.0**52
MAX_BITS = 62
# Tuples are taken apart while lowering: each element costs code.
MAX_TUPLE = 10_000
_PYTHON: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}


def said(compute: Callable[[], object]) -> str:
    """Return the message of the exception that `compute` raises in this version of Python."""
    try:
        compute()
    except (ArithmeticError, ValueError) as error:
        return str(error)
    raise AssertionError("no exception")


def _unpack_two(values: Iterable[object]) -> None:
    _a, _b = values


def too_many(count: int) -> str:
    """Return Python's message for an array with more than `count` elements to unpack."""
    return _TOO_MANY.replace("2", str(count))


_ZERO, _ZERO_FLOAT = 0, 0.0
BY_ZERO = {
    ("truediv", "i"): said(lambda: 1 / _ZERO),
    ("truediv", "f"): said(lambda: 1.0 / _ZERO_FLOAT),
    ("floordiv", "i"): said(lambda: 1 // _ZERO),
    ("floordiv", "f"): said(lambda: 1.0 // _ZERO_FLOAT),
    ("mod", "i"): said(lambda: 1 % _ZERO),
    ("mod", "f"): said(lambda: 1.0 % _ZERO_FLOAT),
    ("divmod", "i"): said(lambda: divmod(1, _ZERO)),
    ("divmod", "f"): said(lambda: divmod(1.0, _ZERO_FLOAT)),
    ("pow", "i"): said(lambda: _ZERO**-1),
    ("pow", "f"): said(lambda: _ZERO_FLOAT**-1.0),
}
_COMPLEX_BY_ZERO = said(lambda: 1j / _ZERO_FLOAT)
_COMPLEX_POLE = said(lambda: (0j) ** (-1 + 1j))
_TOO_MANY = said(lambda: _unpack_two(np.zeros(3)))
_POWER_OVERFLOW = said(lambda: 1e200**2.0)
_NEGATIVE_SHIFT = said(lambda: 1 << (_ZERO - 1))


def divmod_(lo: Lowerer, a: Operand, b: Operand, node: ast.AST) -> tuple[Operand, Operand]:
    """Lower ``divmod(a, b)``."""
    ty = _arithmetic_type(scalar_type(a), scalar_type(b))
    if ty.weak:
        nonzero(lo, lo.convert(b, ty), "ZeroDivisionError", BY_ZERO["divmod", ty.kind])
    return arithmetic(lo, "floordiv", a, b, node), arithmetic(lo, "mod", a, b, node)


def zero_of(ty: Scalar) -> Literal:
    return Literal({"b": False, "f": 0.0, "c": 0j}.get(ty.kind, 0), ty)


def array_type(types: Sequence[Scalar]) -> Scalar:
    """Return the dtype of an array made of numbers of these types."""
    return functools.reduce(promote, [Scalar(ty.dtype) for ty in types])


def scalar_type(operand: Operand) -> Scalar:
    assert isinstance(operand.type, Scalar)
    return operand.type


def is_int(operand: Operand, value: int) -> bool:
    return isinstance(operand, Literal) and operand.value == value


def with_result(stmt: Stmt, result: Value) -> Stmt:
    """Return a one-result statement with its result renamed."""
    match stmt:
        case Load() | Recall():
            return replace(stmt, result=result)
        case Apply() | If() | For() | While() | Call():
            return replace(stmt, results=(result,))
    raise AssertionError(stmt)


def weak(lo: Lowerer, operand: Operand) -> Operand:
    """Return a number with a Python type, as `float`, `int` and `math` return it."""
    ty = scalar_type(operand)
    target = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}[ty.kind]
    if ty == target:
        return operand
    if isinstance(operand, Literal):
        return Literal(operand.value, target)
    if ty.dtype == "u64":
        return lo.exact(to_int(lo, operand), target)
    return lo.builder.apply("cast", operand, params=(str(target),))


def plus(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    """Return the sum of two integers that the compiler created (indices)."""
    return _index_arithmetic(lo, "add", a, b)


def minus(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return _index_arithmetic(lo, "sub", a, b)


def _index_arithmetic(lo: Lowerer, op: str, a: Operand, b: Operand) -> Operand:
    if isinstance(a, Literal) and isinstance(b, Literal):
        sign = 1 if op == "add" else -1
        return integer(int(a.value) + sign * int(b.value))
    if isinstance(b, Literal) and b.value == 0:
        return a
    bits = max(lo.sizes.bits_of(a), lo.sizes.bits_of(b))
    if op == "add" and isinstance(a, Literal) and a.value == 0:
        return b
    result = lo.builder.apply(op, lo.convert(a, INT), lo.convert(b, INT), hint="i")
    lo.derived(result, (a, b))
    if bits <= INDEX_BITS:
        lo.sizes.bits[result] = bits
    return result


def apply(lo: Lowerer, op: OpDef | str, *args: Operand) -> Operand:
    """Apply a row; constants fold here, once, with the row's own meaning."""
    row = OPS[op] if isinstance(op, str) else op
    if args and all(isinstance(arg, Literal) for arg in args) and row.cost < 10:
        values = [numpy_value(a.value, a.type) for a in args if isinstance(a, Literal)]
        ty = row.types([arg.type for arg in args], ())[0]
        with np.errstate(all="ignore"):
            return Literal(numpy_value(row.evaluate(*values), ty).item(), ty)
    return lo.derived(lo.builder.apply(row, *args), args)


def _arithmetic_type(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of ``a op b``; Python's booleans count as integers."""
    if a.kind == "b" and a.weak:
        a = INT
    if b.kind == "b" and b.weak:
        b = INT
    return promote(a, b)


def promoted(
    lo: Lowerer, a: Operand, b: Operand, node: ast.AST, floating: bool = False
) -> tuple[Operand, Operand, Scalar]:
    """Return both operands in the type that ``a op b`` is computed in."""
    ty = _arithmetic_type(scalar_type(a), scalar_type(b))
    if floating and ty.kind not in "fc":
        ty = FLOAT if ty.weak else F64
    return fit(lo, a, ty, node), fit(lo, b, ty, node), ty


def fit(lo: Lowerer, operand: Operand, ty: Scalar, node: ast.AST) -> Operand:
    """Convert for arithmetic; a Python integer that does not fit raises, as in NumPy 2."""
    source = scalar_type(operand)
    if source.weak and source.kind == "i" and ty.kind in "iu" and not isinstance(operand, Literal):
        least, most = integer_range(ty)
        if least > -(2**63) or most < 2**63 - 1:
            with lo.at(node):
                low = lo.builder.apply("ge", operand, integer(max(least, -(2**63))))
                high = lo.builder.apply("le", operand, integer(min(most, 2**63 - 1)))
                ok = lo.builder.apply("and", low, high)
                lo.builder.check(
                    ok, "OverflowError",
                    f"Python integer {{}} out of bounds for {ty.numpy}", operand,
                )  # fmt: skip
    return lo.convert(operand, ty)


def arithmetic(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Lower an arithmetic operation on two scalars by NumPy 2's and Python's rules."""
    ta, tb = scalar_type(a), scalar_type(b)
    if "c" in (ta.kind, tb.kind):
        return _complex_arithmetic(lo, name, a, b, node)
    if name in ("bitand", "bitor", "bitxor") and ta.kind == "b" and tb.kind == "b":
        return apply(lo, name, a, b)
    if ta.kind == "b" and tb.kind == "b" and not (ta.weak and tb.weak):
        return _numpy_truth_values(lo, name, a, b, node)
    if name == "pow":
        return power(lo, a, b, node)
    if name == "truediv":
        a, b, ty = promoted(lo, a, b, node, floating=True)
        if ta.weak and tb.weak:
            kind = "f" if "f" in (ta.kind, tb.kind) else "i"
            nonzero(lo, b, "ZeroDivisionError", BY_ZERO["truediv", kind])
        return apply(lo, "truediv", a, b)
    a, b, ty = promoted(lo, a, b, node)
    if name in ("bitand", "bitor", "bitxor", "lshift", "rshift"):
        if ty.kind not in "iu":
            raise TypeMismatchError(f"`{SIGNS[name]}` on {ta} and {tb}", lo.span(node))
        if name in ("lshift", "rshift") and ty.weak:
            ok = apply(lo, "ge", b, integer(0))
            check(lo, ok, "ValueError", _NEGATIVE_SHIFT)
        if name == "lshift" and ty.weak:
            _no_overflow_shift(lo, a, b)
        return apply(lo, name, a, b)
    if name in ("floordiv", "mod") and ty.weak:
        nonzero(lo, b, "ZeroDivisionError", BY_ZERO[name, ty.kind])
    if not (ty.weak and ty.kind == "i"):
        return apply(lo, name, a, b)
    if isinstance(a, Literal) and isinstance(b, Literal):
        return _folded(lo, name, a, b, node)
    bits = _result_bits(lo, name, a, b)
    if bits is None and name in ("add", "sub", "mul"):
        size = apply(lo, name, lo.convert(a, FLOAT), lo.convert(b, FLOAT))
        _fits(lo, size, {"add": "sum", "sub": "difference", "mul": "product"}[name])
    result = apply(lo, name, a, b)
    if bits is not None and isinstance(result, Value):
        lo.sizes.bits[result] = bits
    return result


def _complex_arithmetic(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Lower an operation of which an operand is complex.

    A real operand of a sum or product stays real, as in Python 3.14 and in C: NumPy's products have
    another imaginary part where a factor is infinite or NaN.
    """
    ta, tb = scalar_type(a), scalar_type(b)
    if name == "pow":
        return _complex_power(lo, a, b, node)
    if name not in ("add", "sub", "mul", "truediv"):
        raise TypeMismatchError(
            f"`{SIGNS[name]}` is not defined for complex numbers", lo.span(node),
            "use it on the real and imaginary part",
        )  # fmt: skip
    if name == "truediv" and ta.weak and tb.weak:
        nonzero(lo, b, "ZeroDivisionError", _COMPLEX_BY_ZERO)
    ty = _arithmetic_type(ta, tb)
    if tb.kind != "c":
        b = lo.convert(b, ty.part)
        re, im = apply(lo, "real", a), apply(lo, "imag", a)
        re, im = lo.convert(re, ty.part), lo.convert(im, ty.part)
        return joined(lo, apply(lo, name, re, b), im if name in ("add", "sub") else (
            apply(lo, name, im, b)))  # fmt: skip
    if ta.kind != "c" and name in ("add", "sub", "mul"):
        a = lo.convert(a, ty.part)
        re, im = apply(lo, "real", b), apply(lo, "imag", b)
        re, im = lo.convert(re, ty.part), lo.convert(im, ty.part)
        other = {"add": im, "mul": apply(lo, "mul", a, im)}.get(name)
        return joined(lo, apply(lo, name, a, re), apply(lo, "neg", im) if other is None else other)
    return apply(lo, name, fit(lo, a, ty, node), fit(lo, b, ty, node))


def joined(lo: Lowerer, re: Operand, im: Operand) -> Operand:
    """Return the complex number with these parts, which have one type."""
    return apply(lo, "complex", re, im)


# The largest exponent of a complex number that NumPy's power multiplies for.
_MOST_FACTORS = 100


def _complex_power(lo: Lowerer, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Lower a power of complex numbers: by products for small integers, as NumPy does."""
    ta, tb = scalar_type(a), scalar_type(b)
    ty = _arithmetic_type(ta, tb)
    exponent = complex(b.value) if isinstance(b, Literal) else None
    a, b = fit(lo, a, ty, node), fit(lo, b, ty, node)
    if ta.weak and tb.weak and (exponent is None or exponent.imag or exponent.real < 0):
        positive = apply(lo, "gt", apply(lo, "real", b), Literal(0.0, ty.part))
        real = apply(lo, "eq", apply(lo, "imag", b), Literal(0.0, ty.part))
        ok = apply(lo, "or", apply(lo, "and", positive, real), truth_of(lo, a))
        ok = apply(lo, "or", ok, apply(lo, "not", truth_of(lo, b)))
        check(lo, ok, "ZeroDivisionError", _COMPLEX_POLE)
    if exponent is None or exponent.imag or exponent.real not in range(
        -_MOST_FACTORS + 1, _MOST_FACTORS
    ):  # fmt: skip
        if exponent == 0.5 and not ta.weak:
            return apply(lo, "sqrt", a)
        return apply(lo, "pow", a, b)
    count = abs(int(exponent.real))
    if count == 0:
        return Literal(1 + 0j, ty)
    found: Operand | None = None
    while True:
        if count & 1:
            found = a if found is None else apply(lo, "mul", found, a)
        count >>= 1
        if not count:
            break
        a = apply(lo, "square", a)
    assert found is not None
    return found if exponent.real > 0 else apply(lo, "reciprocal", found)


def _result_bits(lo: Lowerer, name: str, a: Operand, b: Operand) -> int | None:
    """Return a bound of an integer result; None where it may not fit, so must be checked.

    Adding small constants and indices again and again would take years to overflow.
    """
    x, y = lo.sizes.bits_of(a), lo.sizes.bits_of(b)
    match name:
        case "add" | "sub":
            bits = max(x, y) + 1
            return min(bits, 63) if bits <= MAX_BITS or min(x, y) <= INDEX_BITS else None
        case "mul":
            return x + y if x + y <= MAX_BITS else None
        case "mod":
            return y
    return x


def _folded(lo: Lowerer, name: str, a: Literal, b: Literal, node: ast.AST) -> Operand:
    """Compute with Python's own integers: no wrap-around."""
    value = _PYTHON[name](int(a.value), int(b.value))
    if not -(2**63) <= value < 2**63:
        raise lo.unsupported(
            f"the integer {value}", node, "use a float, or an integer that fits in 64 bits"
        )
    return integer(value)


def negated(lo: Lowerer, operand: Operand, node: ast.AST) -> Operand:
    if isinstance(operand, Literal) and operand.type == INT:
        return _folded(lo, "sub", integer(0), operand, node)
    result = apply(lo, "neg", operand)
    if operand.type == INT and isinstance(result, Value):
        lo.sizes.bits[result] = lo.sizes.bits_of(operand)
    return result


def _fits(lo: Lowerer, size: Operand, what: str) -> None:
    ok = apply(lo, "lt", apply(lo, "abs", size), Literal(_LIMIT, FLOAT))
    check(lo, ok, LimitError.__name__, TOO_LARGE.replace("number", what))


def _no_overflow_shift(lo: Lowerer, a: Operand, b: Operand) -> None:
    scale = apply(lo, "exp2", lo.convert(b, FLOAT))
    _fits(lo, apply(lo, "mul", lo.convert(a, FLOAT), scale), "shift")


def check(lo: Lowerer, ok: Operand, error: str, message: str, *args: Operand) -> None:
    """Emit a check unless it always holds; if it always fails, the rest is unreachable.

    For each of the elements of an array, what follows is lowered: there may be no element.
    """
    if isinstance(ok, Literal) and ok.value:
        return
    lo.builder.check(ok, error, message, *args)
    if isinstance(ok, Literal) and not lo.for_each:
        raise Dead


def nonzero(lo: Lowerer, operand: Operand, error: str, message: str) -> None:
    if operand.type.kind == "b":
        check(lo, operand, error, message)
        return
    check(lo, apply(lo, "ne", operand, zero_of(scalar_type(operand))), error, message)


def _numpy_truth_values(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    if name == "add":
        return apply(lo, "bitor", a, b)
    if name == "mul":
        return apply(lo, "bitand", a, b)
    if name == "sub":
        raise TypeMismatchError(
            "NumPy does not subtract booleans", lo.span(node), "use `^` or convert with int()"
        )
    if name == "truediv":
        return apply(lo, "truediv", lo.convert(a, F64), lo.convert(b, F64))
    i8 = Scalar("i8")
    return arithmetic(lo, name, lo.convert(a, i8), lo.convert(b, i8), node)


def power(lo: Lowerer, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Lower ``a ** b``."""
    ta, tb = scalar_type(a), scalar_type(b)
    weak = ta.weak and tb.weak
    if ta.kind != "f" and tb.kind != "f":
        if isinstance(b, Literal) and b.value < 0 and weak:
            nonzero(lo, a, "ZeroDivisionError", BY_ZERO["pow", "i"])
            return power(lo, lo.convert(a, FLOAT), lo.convert(b, FLOAT), node)
        return _integer_power(lo, a, b, node)
    exponent = b.value if isinstance(b, Literal) else None
    a, b, ty = promoted(lo, a, b, node)
    if exponent == 1:
        return a
    if exponent == 0:
        return Literal(1.0, ty)
    if weak:
        _power_domain(lo, a, b, exponent, ("ZeroDivisionError", BY_ZERO["pow", "f"]))
    if exponent == 2:
        result = apply(lo, "square", a)
    elif exponent == 3:
        result = apply(lo, "mul", apply(lo, "square", a), a)
    elif exponent == -1:
        result = apply(lo, "truediv", Literal(1.0, ty), a)
    else:
        result = lo.builder.apply("pow", a, b)
    if weak:
        finite_power(lo, result, a, b, _POWER_OVERFLOW)
    return result


def _integer_power(lo: Lowerer, a: Operand, b: Operand, node: ast.AST) -> Operand:
    if scalar_type(a).kind == "b" and scalar_type(b).kind == "b":
        a, b = lo.convert(a, INT), lo.convert(b, INT)  # both Python's: NumPy's were handled before
    a, b, ty = promoted(lo, a, b, node)
    if ty.kind == "i":
        ok = apply(lo, "ge", b, Literal(0, ty))
        if ty.weak:
            text = "an exponent that is not negative for integers (the result would be a float)"
            check(lo, ok, LimitError.__name__, f"adc needs {text}")
        else:
            check(lo, ok, "ValueError", "Integers to negative integer powers are not allowed.")
    fits = isinstance(b, Literal) and lo.sizes.bits_of(a) * b.value <= MAX_BITS
    if ty.weak and not fits:
        size = lo.builder.apply("pow", lo.convert(a, FLOAT), lo.convert(b, FLOAT))
        _fits(lo, size, "power")
    return apply(lo, "ipow", a, b)


def _power_domain(
    lo: Lowerer, a: Operand, b: Operand, exponent: float | None, pole: tuple[str, str]
) -> None:
    """Check what Python's power does not accept; NaN and infinity pass."""
    zero = Literal(0.0, a.type)
    if exponent is None or exponent < 0:
        bad = apply(lo, "and", apply(lo, "eq", a, zero), apply(lo, "lt", b, zero))
        check(lo, apply(lo, "not", bad), *pole)
    if exponent is None or (math.isfinite(exponent) and exponent != int(exponent)):
        broken = apply(lo, "ne", apply(lo, "floor", b), b)
        if exponent is None:
            broken = apply(lo, "and", broken, apply(lo, "not", apply(lo, "isnan", b)))
        negative = apply(lo, "lt", a, zero)
        below = apply(lo, "and", negative, apply(lo, "not", apply(lo, "isinf", a)))
        bad = apply(lo, "and", broken, below)
        if pole[0] == "ValueError":
            check(lo, apply(lo, "not", bad), "ValueError", "math domain error")
        else:
            check(lo, apply(lo, "not", bad), LimitError.__name__, _COMPLEX)


def finite_power(lo: Lowerer, result: Operand, a: Operand, b: Operand, message: str) -> None:
    """Check that a power of finite numbers is finite."""
    ok = apply(lo, "not", apply(lo, "isinf", result))
    ok = apply(lo, "or", ok, apply(lo, "isinf", a))
    if not isinstance(b, Literal):
        ok = apply(lo, "or", ok, apply(lo, "isinf", b))
    check(lo, ok, "OverflowError", message)


def finite_result(lo: Lowerer, result: Operand, x: Operand) -> None:
    """Check that a function is finite where its argument is."""
    ok = apply(lo, "not", apply(lo, "isinf", result))
    check(lo, apply(lo, "or", ok, apply(lo, "isinf", x)), "OverflowError", "math range error")


def to_int(
    lo: Lowerer, operand: Operand, error: str = LimitError.__name__, message: str = ""
) -> Operand:
    """Convert an integer to Python's; adc's have 64 bits."""
    if scalar_type(operand).dtype == "u64":
        ok = apply(lo, "le", operand, Literal(2**63 - 1, Scalar("u64")))
        check(lo, ok, error, message or TOO_LARGE)
    return lo.convert(operand, INT)


# What Python computes and adc does not: no `try` of the program takes these for Python's errors.
TOO_LARGE = "adc computes Python integers in 64 bits; this number does not fit: compute with floats"
_COMPLEX = (
    "a negative number to a fractional power is complex, which adc does not support: convert it "
    "with `complex`, or use `np.power`, which is NaN there"
)


def stored(lo: Lowerer, operand: Operand, ty: Scalar, node: ast.AST) -> Operand:
    """Convert as a store into an array, or a call of a NumPy type, does."""
    source = scalar_type(operand)
    if source.kind == "c" and ty.kind in "iuf":
        raise TypeMismatchError(
            f"a complex number cannot be stored as {ty.numpy}", lo.span(node),
            "use `.real`, or a complex array",
        )  # fmt: skip
    if source.kind == "f" and ty.kind in "iu":
        if not source.weak:
            finite = apply(lo, "isfinite", operand)
            check(lo, finite, "ValueError", "cannot convert float NaN to integer")
            return lo.convert(operand, ty)
        # NumPy converts a Python float to a Python int first, which has to fit.
        ok = apply(lo, "not", apply(lo, "isnan", operand))
        check(lo, ok, "ValueError", "cannot convert float NaN to integer")
        ok = apply(lo, "isfinite", operand)
        check(lo, ok, "OverflowError", "cannot convert float infinity to integer")
        size = apply(lo, "lt", apply(lo, "abs", operand), Literal(2.0**63, FLOAT))
        check(lo, size, "OverflowError", TOO_LARGE)
        return fit(lo, lo.convert(operand, INT), ty, node)
    if source.weak and source.kind == "i":
        return fit(lo, operand, ty, node)
    if source.kind != "b" and ty.kind == "b":
        return truth_of(lo, operand)
    return lo.convert(operand, ty)


def truth_of(lo: Lowerer, operand: Operand) -> Operand:
    """Return the truth of a number as a bool operand."""
    if operand.type.kind == "b":
        return operand
    return apply(lo, "ne", operand, zero_of(scalar_type(operand)))


def select(lo: Lowerer, cond: Operand, a: Operand, b: Operand) -> Operand:
    """Choose between two numbers of one type."""
    result = lo.builder.apply("select", cond, a, b)
    if result.type == INT:
        lo.sizes.bits[result] = max(lo.sizes.bits_of(a), lo.sizes.bits_of(b))
    return result


def math_power(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    """Lower ``math.pow(a, b)``, which has its own exceptions."""
    exponent = b.value if isinstance(b, Literal) else None
    _power_domain(lo, a, b, exponent, ("ValueError", "math domain error"))
    result = lo.builder.apply("pow", a, b)
    finite_power(lo, result, a, b, "math range error")
    return result


def compare_numbers(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Compare two numbers; integers exactly, whatever their types, as Python and NumPy do."""
    ta, tb = scalar_type(a), scalar_type(b)
    if ta.kind == tb.kind == "b" and name in ("eq", "ne"):
        return apply(lo, name, a, b)
    if "c" in (ta.kind, tb.kind) and ta.weak and tb.weak and name not in ("eq", "ne"):
        raise TypeMismatchError("complex numbers have no order", lo.span(node), "compare parts")
    if {ta.kind, tb.kind} & {"f", "c"}:
        a, b, _ = promoted(lo, a, b, node)
        return apply(lo, name, a, b)
    strong = not (ta.weak and tb.weak)
    if ta.dtype == "u64" and tb.dtype == "u64":
        return apply(lo, name, a, b)
    if ta.dtype == "u64":
        name, a, b = _MIRRORED[name], b, a
    if scalar_type(b).dtype == "u64":
        found = _compare_with_u64(lo, name, a, b)
    else:
        found = apply(lo, name, lo.convert(a, INT), lo.convert(b, INT))
    return _of_numpy(lo, found) if strong else _of_python(lo, found)


def compare_by_operator(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Compare two numbers as an operator does.

    NumPy's operators order complex numbers whose imaginary part is NaN by the real part, which its
    functions, and comparisons of arrays, do not.
    """
    found = compare_numbers(lo, name, a, b, node)
    if "c" not in (a.type.kind, b.type.kind) or name in ("eq", "ne"):
        return found
    a, b, _ = promoted(lo, a, b, node)
    (ar, ai), (br, bi) = ([apply(lo, part, z) for part in ("real", "imag")] for z in (a, b))
    strictly = apply(lo, "lt" if name in ("lt", "le") else "gt", ar, br)
    ties = apply(lo, "and", apply(lo, "eq", ar, br), apply(lo, name, ai, bi))
    return lo.exact(apply(lo, "or", strictly, ties), scalar_type(found))


def _compare_with_u64(lo: Lowerer, name: str, a: Operand, b: Operand) -> Operand:
    """Compare a signed integer with an unsigned one that may not fit the signed type."""
    u64 = Scalar("u64")
    a = lo.convert(a, INT)
    negative = apply(lo, "lt", a, integer(0))
    if isinstance(a, Literal):
        if a.value < 0:
            return Literal(name in ("lt", "le", "ne"), BOOL)
        return apply(lo, name, Literal(a.value, u64), b)
    found = apply(lo, name, lo.convert(a, u64), b)
    if name in ("lt", "le", "ne"):
        return apply(lo, "or", negative, found)
    return apply(lo, "and", apply(lo, "not", negative), found)


def _of_numpy(lo: Lowerer, truth: Operand) -> Operand:
    """Return a boolean as NumPy's."""
    return lo.exact(truth, B1)


def _of_python(lo: Lowerer, truth: Operand) -> Operand:
    return lo.exact(truth, BOOL)


def refuse(
    lo: Lowerer, message: str, node: ast.AST, error: str, text: str = "", hint: str = ""
) -> NoReturn:
    """Refuse what Python raises an exception for; on one path of several, let the program raise it.

    That path may never be taken: ``if NOISE > 0.0: x += rng.normal()`` without a generator. `text`
    is what Python says. Without it, the message will do where no `try` can read it.
    """
    if not is_one_path(lo) or (lo.caught and not text):
        raise TypeMismatchError(message, lo.span(node), hint)
    with lo.at(node):
        check(lo, Literal(False, BOOL), error, escaped(text or message))
    raise Dead


def leave(lo: Lowerer, what: str, node: ast.AST, hint: str) -> NoReturn:
    """Refuse what adc cannot do; on one path of several, let the run do so if it gets there."""
    if not is_one_path(lo):
        raise lo.unsupported(what, node, hint)
    with lo.at(node):
        text = escaped(f"{what} is not supported: {hint}")
        check(lo, Literal(False, BOOL), LimitError.__name__, text)
    raise Dead


def is_one_path(lo: Lowerer) -> bool:
    """Whether the code here is on one path of several, or what it raises is caught."""
    return bool(lo.caught or (lo.arms and lo.entered_at is None))


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
