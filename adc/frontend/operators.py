"""Python's operators on anything that a name may be bound to: numbers, arrays, containers."""

from __future__ import annotations

import ast

import numpy as np

from adc.frontend import arrays, containers, elementwise, numbers, objects, products, special
from adc.frontend.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    DictView,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    Range,
    Ref,
    Static,
    TupleOf,
    kind_of,
)
from adc.frontend.lower import Lowerer, static
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL


def binary(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower ``left op right``."""
    found = special.binary(lo, kind, left, right, node)
    if found is not None:
        return found
    if kind is ast.MatMult:
        return products.matmul(lo, left, right, node)
    name = numbers.ROWS[kind]
    if elementwise.is_array(left) or elementwise.is_array(right):
        operands = [arrays.as_operand(lo, side, node) for side in (left, right)]

        def compute(items: list[Binding]) -> Binding:
            return binary(lo, kind, items[0], items[1], node)

        return elementwise.lift(lo, operands, compute, node)
    if isinstance(left, ListRef) or isinstance(right, ListRef):
        return containers.combined(lo, name, left, right, node)
    if isinstance(left, TupleOf) and isinstance(right, TupleOf) and name == "add":
        return TupleOf(left.items + right.items)
    if isinstance(left, TupleOf) and name == "mul" and isinstance(right, Num):
        if isinstance(right.operand, Literal) and right.operand.type.kind in "ib":
            if len(left.items) * int(right.operand.value) > numbers.MAX_TUPLE:
                raise lo.unsupported(
                    f"a tuple of more than {numbers.MAX_TUPLE}", node, "use an array"
                )
            return TupleOf(left.items * int(right.operand.value))
        raise lo.unsupported("repeating a tuple by a number known only at run time", node)
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(left.value, str) and isinstance(right.value, str) and name == "add":
            return Static(left.value + right.value)
        raise TypeMismatchError(
            f"`{numbers.SIGNS[name]}` on {kind_of(left)} and {kind_of(right)}", lo.span(node)
        )
    what = f"`{numbers.SIGNS[name]}`"
    a, b = numbers.number(lo, left, node, what), numbers.number(lo, right, node, what)
    with lo.at(node):
        return Num(numbers.arithmetic(lo, name, a, b, node))


def check_cast(lo: Lowerer, result: Binding, target: Binding, node: ast.AST) -> None:
    """Raise unless NumPy stores results of this type in arrays of the target's."""
    if not isinstance(target, ArrayRef):
        return
    if isinstance(result, ArrayRef | Lazy):
        ty = arrays.element_type(result)
    else:
        ty = numbers.scalar_type(numbers.number(lo, result, node))
    wanted = target.object.type.element
    if not np.can_cast(ty.numpy, wanted.numpy, "same_kind"):
        raise TypeMismatchError(
            f"cannot store a result of {ty.numpy} in an array of {wanted.numpy}", lo.span(node),
            "convert it with `.astype`",
        )  # fmt: skip


def comparison(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower one comparison: of arrays, element by element."""
    found = special.comparison(lo, op, left, right, node)
    if found is not None:
        return found
    kind = type(op)
    if kind in numbers.COMPARE and (elementwise.is_array(left) or elementwise.is_array(right)):
        if any(isinstance(side, Static) for side in (left, right)):
            raise TypeMismatchError(
                "an array is compared with None or another object",
                lo.span(node), "use `is None`",
            )  # fmt: skip
        else:
            operands = [arrays.as_operand(lo, side, node) for side in (left, right)]

            def compute(items: list[Binding]) -> Binding:
                return Num(compare(lo, op, items[0], items[1], node))

            return elementwise.lift(lo, operands, compute, node)
    return Num(compare(lo, op, left, right, node))


def compare(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Lower one comparison of anything but arrays."""
    asked = special.comparison(lo, op, left, right, node)
    if asked is not None:
        return truth(lo, asked, node)
    if isinstance(op, ast.Is | ast.IsNot):
        same = _identical(lo, left, right, node)
        return Literal(same == isinstance(op, ast.Is), BOOL)
    if isinstance(op, ast.In | ast.NotIn):
        return _member(lo, op, left, right, node)
    left, right = (elementwise.value_of(lo, side, node) for side in (left, right))
    if isinstance(left, Num) and isinstance(right, Num):
        with lo.at(node):
            return numbers.compare_numbers(
                lo, numbers.COMPARE[type(op)], left.operand, right.operand, node
            )
    left, right = (containers.as_tuple(lo, side) for side in (left, right))
    if isinstance(left, TupleOf) and isinstance(right, TupleOf):
        if isinstance(op, ast.Eq | ast.NotEq):
            return _equal_tuples(lo, op, left, right, node)
        raise lo.unsupported("ordering of tuples", node)
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(op, ast.Eq | ast.NotEq):
            lo.pin(left)
            lo.pin(right)
            return Literal((left.value == right.value) == isinstance(op, ast.Eq), BOOL)
    elif isinstance(left, Static) != isinstance(right, Static) and isinstance(
        op, ast.Eq | ast.NotEq
    ):
        return Literal(isinstance(op, ast.NotEq), BOOL)
    raise TypeMismatchError(f"comparison of {kind_of(left)} with {kind_of(right)}", lo.span(node))


def _identical(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool:
    if isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        if left.object in right.object.alias:
            raise lo.unsupported("`is` on arrays that may be one", node)
        return left.object is right.object
    if isinstance(left, Static) and isinstance(right, Static):
        lo.pin(left)
        lo.pin(right)
        return left.value is right.value
    if isinstance(left, Static) or isinstance(right, Static):
        return False
    if isinstance(left, Num) or isinstance(right, Num):
        raise lo.unsupported("`is` on numbers", node, "use `==`")
    return special.is_same(lo, left, right, node)


def _member(
    lo: Lowerer, op: ast.In | ast.NotIn, left: Binding, right: Binding, node: ast.AST
) -> Operand:
    if isinstance(right, DictRef):
        right = TupleOf(tuple(static(key) for key in lo.record(right).keys))
    right = containers.as_tuple(lo, right)
    if not isinstance(right, TupleOf):
        raise lo.unsupported(f"`in` {kind_of(right)}", node)
    found: Operand = Literal(False, BOOL)
    for item in right.items:
        equal = same_or_equal(lo, left, item, node)
        found = numbers.apply(lo, "or", found, equal)
    return numbers.apply(lo, "not", found) if isinstance(op, ast.NotIn) else found


def same_or_equal(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Compare as containers do: a NaN equals itself."""
    if isinstance(left, Num) and isinstance(right, Num):
        if isinstance(left.operand, Value) and left.operand is right.operand:
            return Literal(True, BOOL)
    elif isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        if left.object is right.object:
            return Literal(True, BOOL)
    elif isinstance(left, Ref) and isinstance(right, Ref) and left.slot == right.slot:
        return Literal(True, BOOL)
    return compare(lo, ast.Eq(), left, right, node)


def _equal_tuples(
    lo: Lowerer, op: ast.cmpop, left: TupleOf, right: TupleOf, node: ast.AST
) -> Operand:
    if len(left.items) != len(right.items):
        return Literal(isinstance(op, ast.NotEq), BOOL)
    equal: Operand = Literal(True, BOOL)
    for a, b in zip(left.items, right.items, strict=True):
        equal = numbers.apply(lo, "and", equal, same_or_equal(lo, a, b, node))
    return equal if isinstance(op, ast.Eq) else numbers.apply(lo, "not", equal)


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return the truth of a binding as a bool operand."""
    asked = special.truth(lo, binding, node)
    if asked is not None:
        return asked
    match binding:
        case Num(operand=operand):
            return numbers.truth_of(lo, operand)
        case TupleOf(items=items):
            return Literal(bool(items), BOOL)
        case Static(value=value) if objects.is_opaque(value):
            raise objects.refused(lo, value, node)
        case Static(value=value):
            return Literal(bool(value), BOOL)
        case Range(start=start, stop=stop, step=step):
            trips = lo.builder.apply("trips", start.operand, stop.operand, step.operand)
            return numbers.truth_of(lo, trips)
        case DictView(ref=ref):
            return Literal(bool(containers.length(lo, ref)), BOOL)
        case ArrayRef() | Lazy():
            value = elementwise.value_of(lo, binding, node)
            if isinstance(value, Num):
                return truth(lo, value, node)
            raise TypeMismatchError(
                "The truth value of an array with more than one element is ambiguous",
                lo.span(node), "use `.any()` or `.all()`",
            )  # fmt: skip
        case ListRef() if isinstance(held := lo.held(binding), Growing):
            return numbers.truth_of(lo, held.length.operand)
        case NamedTuple(cls=cls) if not issubclass(cls, tuple):
            return Literal(True, BOOL)  # a frozen dataclass
        case ListRef() | DictRef() | NamedTuple():
            return Literal(bool(containers.length(lo, binding)), BOOL)
    return Literal(True, BOOL)
