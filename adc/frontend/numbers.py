"""Arithmetic on scalars: promotion, and what Python's numbers raise where NumPy's do not."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from adc.frontend.bindings import ArrayRef, Binding, Num, Static, TupleOf, kind_of
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Apply, Call, For, If, Literal, Load, Operand, Recall, Stmt, Value, While
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OPS, OpDef, numpy_value
from adc.ir.types import BOOL, F64, FLOAT, INT, Scalar, promote

_ROWS: dict[type[ast.AST], str] = {
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
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "bitand": "&", "bitor": "|", "bitxor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
# A product of 64-bit integers beyond this would need Python's unbounded integers.
_LIMIT = 2.0**62


def scalar_type(operand: Operand) -> Scalar:
    assert isinstance(operand.type, Scalar)
    return operand.type


def with_result(stmt: Stmt, result: Value) -> Stmt:
    """Return a one-result statement with its result renamed."""
    match stmt:
        case Load() | Recall():
            return replace(stmt, result=result)
        case Apply() | If() | For() | While() | Call():
            return replace(stmt, results=(result,))
    raise AssertionError(stmt)


def number(lo: Lowerer, binding: Binding, node: ast.AST, what: str = "this operation") -> Operand:
    """Return the operand of a scalar binding, or raise."""
    if isinstance(binding, Num):
        return binding.operand
    if isinstance(binding, ArrayRef):
        raise lo.unsupported(f"{what} on a whole array", node, "write a loop over the elements")
    raise TypeMismatchError(f"{what} on {kind_of(binding)}", lo.span(node))


def plus(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    """Return the sum of two Python integers of the compiler's own making (indices)."""
    return _index_arithmetic(lo, "add", a, b)


def minus(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return _index_arithmetic(lo, "sub", a, b)


def _index_arithmetic(lo: Lowerer, op: str, a: Operand, b: Operand) -> Operand:
    if isinstance(a, Literal) and isinstance(b, Literal):
        sign = 1 if op == "add" else -1
        return integer(int(a.value) + sign * int(b.value))
    if isinstance(b, Literal) and b.value == 0:
        return a
    if op == "add" and isinstance(a, Literal) and a.value == 0:
        return b
    return lo.builder.apply(op, lo.convert(a, INT), lo.convert(b, INT), hint="i")


def apply(lo: Lowerer, op: OpDef | str, *args: Operand) -> Operand:
    """Apply a row; constants fold here, once, with the row's own meaning."""
    row = OPS[op] if isinstance(op, str) else op
    if args and all(isinstance(arg, Literal) for arg in args) and row.cost < 10:
        values = [numpy_value(a.value, a.type) for a in args if isinstance(a, Literal)]
        ty = row.types([arg.type for arg in args], ())[0]
        with np.errstate(all="ignore"):
            return Literal(numpy_value(row.evaluate(*values), ty).item(), ty)
    return lo.builder.apply(row, *args)


def _arithmetic_type(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of ``a op b``; Python's truth values count as integers."""
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
    if floating and ty.kind != "f":
        ty = FLOAT if ty.weak else F64
    return fit(lo, a, ty, node), fit(lo, b, ty, node), ty


def fit(lo: Lowerer, operand: Operand, ty: Scalar, node: ast.AST) -> Operand:
    """Convert for arithmetic; a Python integer that does not fit raises, as in NumPy 2."""
    source = scalar_type(operand)
    if source.weak and source.kind == "i" and ty.kind in "iu" and not isinstance(operand, Literal):
        bits = np.iinfo(ty.numpy)
        if bits.min > -(2**63) or bits.max < 2**63 - 1:
            with lo.at(node):
                low = lo.builder.apply("ge", operand, integer(max(int(bits.min), -(2**63))))
                high = lo.builder.apply("le", operand, integer(min(int(bits.max), 2**63 - 1)))
                ok = lo.builder.apply("and", low, high)
                lo.builder.check(
                    ok, "OverflowError",
                    f"Python integer {{}} out of bounds for {ty.numpy}", operand,
                )  # fmt: skip
    return lo.convert(operand, ty)


def binary(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower ``left op right``."""
    if kind not in _ROWS:
        raise lo.unsupported("the operator `@`", node, "write the product as loops")
    name = _ROWS[kind]
    if isinstance(left, TupleOf) and isinstance(right, TupleOf) and name == "add":
        return TupleOf(left.items + right.items)
    if isinstance(left, TupleOf) and name == "mul" and isinstance(right, Num):
        if isinstance(right.operand, Literal) and right.operand.type.kind in "ib":
            return TupleOf(left.items * int(right.operand.value))
        raise lo.unsupported("repeating a tuple by a number known only at run time", node)
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(left.value, str) and isinstance(right.value, str) and name == "add":
            return Static(left.value + right.value)
        raise TypeMismatchError(
            f"`{_SIGNS[name]}` on {kind_of(left)} and {kind_of(right)}", lo.span(node)
        )
    what = f"`{_SIGNS[name]}`"
    a, b = number(lo, left, node, what), number(lo, right, node, what)
    with lo.at(node):
        return Num(arithmetic(lo, name, a, b, node))


def arithmetic(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    """Lower an arithmetic operation on two scalars by NumPy 2's and Python's rules."""
    ta, tb = scalar_type(a), scalar_type(b)
    if name in ("bitand", "bitor", "bitxor") and ta.kind == "b" and tb.kind == "b":
        return apply(lo, name, a, b)
    if ta.kind == "b" and tb.kind == "b" and not (ta.weak and tb.weak):
        return _numpy_truth_values(lo, name, a, b, node)
    if name == "pow":
        return power(lo, a, b, node)
    if name == "truediv":
        a, b, ty = promoted(lo, a, b, node, floating=True)
        both_weak = ta.weak and tb.weak
        if both_weak:
            message = (
                "division by zero"
                if ta.kind != "f" and tb.kind != "f"
                else ("float division by zero")
            )
            nonzero(lo, b, "ZeroDivisionError", message)
        return apply(lo, "truediv", a, b)
    a, b, ty = promoted(lo, a, b, node)
    if name in ("bitand", "bitor", "bitxor", "lshift", "rshift"):
        if ty.kind not in "iu":
            raise TypeMismatchError(f"`{_SIGNS[name]}` on {ta} and {tb}", lo.span(node))
        if name in ("lshift", "rshift") and ty.weak:
            ok = apply(lo, "ge", b, integer(0))
            check(lo, ok, "ValueError", "negative shift count")
        if name == "lshift" and ty.weak:
            _no_overflow_shift(lo, a, b)
        return apply(lo, name, a, b)
    if name in ("floordiv", "mod") and ty.weak:
        message = {
            ("floordiv", "i"): "integer division or modulo by zero",
            ("mod", "i"): "integer modulo by zero",
            ("floordiv", "f"): "float floor division by zero",
            ("mod", "f"): "float modulo",
        }[name, ty.kind]
        nonzero(lo, b, "ZeroDivisionError", message)
    if name == "mul" and ty.weak and ty.kind == "i" and not _small(a, b):
        x, y = lo.convert(a, FLOAT), lo.convert(b, FLOAT)
        size = apply(lo, "abs", apply(lo, "mul", x, y))
        check(lo, apply(lo, "lt", size, Literal(_LIMIT, FLOAT)), "OverflowError",
              "adc computes Python integers in 64 bits; this product does not fit")  # fmt: skip
    return apply(lo, name, a, b)


def _small(a: Operand, b: Operand) -> bool:
    """Whether the product of two Python integers surely fits: an index times a small constant."""
    return any(isinstance(x, Literal) and abs(x.value) <= 2**31 for x in (a, b))


def _no_overflow_shift(lo: Lowerer, a: Operand, b: Operand) -> None:
    scale = apply(lo, "exp2", lo.convert(b, FLOAT))
    size = apply(lo, "abs", apply(lo, "mul", lo.convert(a, FLOAT), scale))
    check(lo, apply(lo, "lt", size, Literal(_LIMIT, FLOAT)), "OverflowError",
          "adc computes Python integers in 64 bits; this shift does not fit")  # fmt: skip


def check(lo: Lowerer, ok: Operand, error: str, message: str, *args: Operand) -> None:
    """Emit a check unless it surely holds."""
    if not (isinstance(ok, Literal) and ok.value):
        lo.builder.check(ok, error, message, *args)


def nonzero(lo: Lowerer, operand: Operand, error: str, message: str) -> None:
    zero = Literal(0.0 if operand.type.kind == "f" else 0, operand.type)
    check(lo, apply(lo, "ne", operand, zero), error, message)


def _numpy_truth_values(lo: Lowerer, name: str, a: Operand, b: Operand, node: ast.AST) -> Operand:
    if name == "add":
        return apply(lo, "bitor", a, b)
    if name == "mul":
        return apply(lo, "bitand", a, b)
    if name == "sub":
        raise TypeMismatchError(
            "NumPy does not subtract truth values", lo.span(node), "use `^` or convert with int()"
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
            nonzero(lo, a, "ZeroDivisionError", "0.0 cannot be raised to a negative power")
            return power(lo, lo.convert(a, FLOAT), lo.convert(b, FLOAT), node)
        a, b, ty = promoted(lo, a, b, node)
        if ty.kind == "i":
            ok = apply(lo, "ge", b, Literal(0, ty))
            message = (
                "adc needs an exponent that is not negative for integers (the result would be a "
                "float)" if weak else "Integers to negative integer powers are not allowed."
            )  # fmt: skip
            check(lo, ok, "ValueError", message)
        if weak:
            size = lo.builder.apply("pow", lo.convert(a, FLOAT), lo.convert(b, FLOAT))
            size = lo.builder.apply("abs", size)
            check(lo, apply(lo, "lt", size, Literal(_LIMIT, FLOAT)), "OverflowError",
                  "adc computes Python integers in 64 bits; this power does not fit")  # fmt: skip
        return apply(lo, "ipow", a, b)
    exponent = b.value if isinstance(b, Literal) else None
    a, b, ty = promoted(lo, a, b, node)
    if exponent == 2:
        return apply(lo, "square", a)
    if exponent == 3:
        return apply(lo, "mul", apply(lo, "square", a), a)
    if exponent == 1:
        return a
    if exponent == 0:
        return Literal(1.0, ty)
    if weak:
        if exponent is None or exponent < 0:
            zero, free = Literal(0.0, ty), apply(lo, "ge", b, Literal(0.0, ty))
            ok = apply(lo, "or", free, apply(lo, "ne", a, zero))
            check(lo, ok, "ZeroDivisionError", "0.0 cannot be raised to a negative power")
        if exponent is None or exponent != int(exponent):
            whole = apply(lo, "eq", apply(lo, "floor", b), b)
            ok = apply(lo, "or", whole, apply(lo, "ge", a, Literal(0.0, ty)))
            check(lo, ok, "ValueError",
                  "a negative number to a fractional power is complex, which adc does not "
                  "support")  # fmt: skip
    if exponent == -1:
        return apply(lo, "truediv", Literal(1.0, ty), a)
    return lo.builder.apply("pow", a, b)


def compare(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Lower one comparison."""
    if isinstance(op, ast.Is | ast.IsNot):
        same = _identical(lo, left, right, node)
        return Literal(same == isinstance(op, ast.Is), BOOL)
    if isinstance(op, ast.In | ast.NotIn):
        return _member(lo, op, left, right, node)
    if isinstance(left, Num) and isinstance(right, Num):
        with lo.at(node):
            a, b = left.operand, right.operand
            ta, tb = scalar_type(a), scalar_type(b)
            if ta.kind == tb.kind == "b" and isinstance(op, ast.Eq | ast.NotEq):
                return apply(lo, _COMPARE[type(op)], a, b)
            if {ta.dtype, tb.dtype} == {"i64", "u64"} and ta.weak == tb.weak:
                raise lo.unsupported("comparison of int64 with uint64", node, "convert one")
            a, b, _ = promoted(lo, a, b, node)
            return apply(lo, _COMPARE[type(op)], a, b)
    if isinstance(left, TupleOf) and isinstance(right, TupleOf):
        if isinstance(op, ast.Eq | ast.NotEq):
            return _equal_tuples(lo, op, left, right, node)
        raise lo.unsupported("ordering of tuples", node)
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(op, ast.Eq | ast.NotEq):
            return Literal((left.value == right.value) == isinstance(op, ast.Eq), BOOL)
    elif isinstance(left, Static) != isinstance(right, Static) and isinstance(
        op, ast.Eq | ast.NotEq
    ):
        return Literal(isinstance(op, ast.NotEq), BOOL)
    if isinstance(left, ArrayRef) or isinstance(right, ArrayRef):
        raise lo.unsupported("comparison of whole arrays", node, "compare elements")
    raise TypeMismatchError(f"comparison of {kind_of(left)} with {kind_of(right)}", lo.span(node))


def _identical(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool:
    if isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        if left.object in right.object.alias:
            raise lo.unsupported("`is` on arrays that may be one", node)
        return left.object is right.object
    if isinstance(left, Static) and isinstance(right, Static):
        return left.value is right.value
    if isinstance(left, Static) or isinstance(right, Static):
        return False
    raise lo.unsupported("`is` on numbers", node, "use `==`")


def _member(
    lo: Lowerer, op: ast.In | ast.NotIn, left: Binding, right: Binding, node: ast.AST
) -> Operand:
    if not isinstance(right, TupleOf):
        raise lo.unsupported(f"`in` {kind_of(right)}", node)
    found: Operand = Literal(False, BOOL)
    for item in right.items:
        equal = compare(lo, ast.Eq(), left, item, node)
        found = apply(lo, "or", found, equal)
    return apply(lo, "not", found) if isinstance(op, ast.NotIn) else found


def _equal_tuples(
    lo: Lowerer, op: ast.cmpop, left: TupleOf, right: TupleOf, node: ast.AST
) -> Operand:
    equal: Operand = Literal(len(left.items) == len(right.items), BOOL)
    for a, b in zip(left.items, right.items, strict=False):
        equal = apply(lo, "and", equal, compare(lo, ast.Eq(), a, b, node))
    return equal if isinstance(op, ast.Eq) else apply(lo, "not", equal)


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return the truth of a binding as a bool operand."""
    match binding:
        case Num(operand=operand):
            if operand.type.kind == "b":
                return operand
            zero = Literal(0.0 if operand.type.kind == "f" else 0, operand.type)
            return apply(lo, "ne", operand, zero)
        case TupleOf(items=items):
            return Literal(bool(items), BOOL)
        case Static(value=value):
            return Literal(bool(value), BOOL)
        case ArrayRef():
            raise lo.unsupported("the truth of an array", node, "compare its elements")
    return Literal(True, BOOL)
