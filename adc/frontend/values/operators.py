"""Python's operators on bindings: numbers, arrays, containers; truth, and what `is` asks."""

from __future__ import annotations

import ast
import enum
import operator
import types
from typing import Any, TypeGuard

import numpy as np

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DefaultRef,
    DictRef,
    DictView,
    Growing,
    Itself,
    Knot,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    OrderedRef,
    Range,
    Ref,
    SetRef,
    Static,
    Transformed,
    TupleOf,
    Window,
    Words,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import StaleError
from adc.frontend.core.strings import may_be_empty
from adc.frontend.inputs.instances import is_lazy
from adc.frontend.inputs.keys import key_of
from adc.frontend.inputs.places import Guard
from adc.frontend.values import (
    arrays,
    constants,
    elementwise,
    keyed,
    optional,
    sequences,
    special,
    views,
)
from adc.frontend.values.growing import pools
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import AdcError, TypeMismatchError
from adc.ir.types import BOOL, F64, INT, Scalar

_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous"
_EMPTY = (
    "The truth value of an empty array is ambiguous. "
    "Use `array.size > 0` to check that an array is not empty."
)


def _are_types(*values: Any) -> bool:
    """Whether `|` makes a union of types of these: one of them may be None."""
    kinds = type | types.UnionType
    return any(isinstance(value, kinds) for value in values) and all(
        value is None or isinstance(value, kinds) for value in values
    )


def are_flags(*values: Any) -> bool:
    """Whether values are members of one enumeration of flags, whose operators are Python's."""
    cls = type(values[0])
    return (
        issubclass(cls, enum.Flag)
        and all(type(value) is cls for value in values)
        and all(getattr(cls, name) is getattr(enum.Flag, name) for name in _OF_FLAGS)
    )


def _is_flag(binding: Binding) -> bool:
    return isinstance(binding, Static) and isinstance(binding.value, enum.Flag)


_OF_FLAGS = ("__or__", "__and__", "__xor__", "__contains__")


def binary(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower ``left op right``."""
    dispatch.require_one([left, right], node)
    left, right = constants.operands(lo, kind, left, right) or (left, right)
    found = constants.binary(lo, kind, left, right, node)
    if found is None:
        found = special.binary(lo, kind, left, right, node)
    if found is not None:
        return found
    if not (kind in _OF_SETS and any(map(_is_flag, (left, right)))):
        left, right = outside.number_in(lo, left), outside.number_in(lo, right)
    of_kind = dispatch.operator(kind)
    if of_kind is not None:
        return of_kind(lo, kind, left, right, node)
    name = numbers.ROWS[kind]
    repeats = name == "mul" and not _is_any_array(left, right)  # a sequence, or fails to
    require_no_none(lo, kind, left, right, node)
    if arrays.is_element_wise(left, right) and not repeats:
        operands = [arrays.as_operand(lo, side, node) for side in (left, right)]

        squared = name == "pow" and elementwise.is_array(left) and isinstance(right, Num)

        def compute(items: list[Binding]) -> Binding:
            base = _small(lo, items[0], items[1]) if squared else items[0]
            return binary(lo, kind, base, items[1], node)

        return elementwise.lift(lo, operands, compute, node)
    of_operand = dispatch.operator(type(left)) or dispatch.operator(type(right))
    if of_operand is not None:
        return of_operand(lo, kind, left, right, node)
    if isinstance(left, TupleOf) and isinstance(right, TupleOf) and name == "add":
        return TupleOf(left.items + right.items)
    if isinstance(left, TupleOf) and name == "mul" and isinstance(right, Num):
        return _repeated_tuple(lo, left, right, node)
    if kind is ast.BitOr and is_plain_dict(left) and is_plain_dict(right):
        return lo.new_ref(DictRef, lo.record(left).updated(lo.record(right)))
    if name == "mul":
        repeated = _repeated(lo, left, right, node) or _repeated(lo, right, left, node)
        if repeated is not None:
            return repeated
    if isinstance(left, Static) and isinstance(right, Static):
        return _of_constants(lo, kind, left, right, node)
    what = f"`{numbers.SIGNS[name]}`"
    a, b = elementwise.number(lo, left, node, what), elementwise.number(lo, right, node, what)
    if _is_complex_of_float(left, right):
        b = numbers.weak(lo, b)
    with lo.at(node):
        return Num(numbers.arithmetic(lo, name, a, b, node))


def _repeated_tuple(lo: Lowerer, left: TupleOf, right: Num, node: ast.AST) -> Binding:
    if not (isinstance(right.operand, Literal) and right.operand.type.kind in "ib"):
        raise _by_number(lo, right, "repeating a tuple", node)
    count = int(right.operand.value)
    if len(left.items) * count > numbers.MAX_TUPLE:
        raise lo.unsupported(f"a tuple of more than {numbers.MAX_TUPLE}", node, "use an array")
    return TupleOf(left.items * count)


def _of_constants(
    lo: Lowerer, kind: type[ast.AST], left: Static, right: Static, node: ast.AST
) -> Binding:
    """Compute with texts, classes, flags and sets."""
    name = numbers.ROWS[kind]
    if isinstance(left.value, str) and isinstance(right.value, str) and name == "add":
        return Static(left.value + right.value)
    if kind is ast.BitOr and _are_types(left.value, right.value):
        return Static(left.value | right.value)  # for `isinstance`
    flags = kind is not ast.Sub and are_flags(left.value, right.value)
    if kind in _OF_SETS and (flags or (is_set(left) and is_set(right))):
        outside.pin(lo, left)
        outside.pin(lo, right)
        return Static(_OF_SETS[kind](left.value, right.value))
    if kind in _OF_SETS and any(isinstance(side.value, set) for side in (left, right)):
        raise lo.unsupported("this use of a set from outside", node, "make it a `frozenset`")
    raise TypeMismatchError(
        f"`{numbers.SIGNS[name]}` is not defined for {kind_of(left)} and {kind_of(right)}",
        lo.span(node),
    )


def _is_any_array(*sides: Binding) -> bool:
    return any(
        elementwise.is_array(side) or (isinstance(side, Num) and side.array) for side in sides
    )


def _is_complex_of_float(left: Binding, right: Binding) -> bool:
    """Whether Python's complex numbers operate: on a `np.float64`, which is a float to them."""
    if not (isinstance(left, Num) and isinstance(right, Num)) or right.array:
        return False
    a, b = numbers.scalar_type(left.operand), numbers.scalar_type(right.operand)
    return a.weak and a.kind == "c" and b == F64


ORDERS: dict[type[ast.AST], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
# The classes of numbers in Python's errors.
_NAMES = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def _class_name(side: Binding) -> str | None:
    """Return the name of the class of a number, element or None in errors; of others, None."""
    if isinstance(side, Static) and side.value is None:
        return "NoneType"
    if isinstance(side, ArrayRef | Lazy):
        return _NAMES[elementwise.element_type(side).kind]
    return _NAMES[numbers.scalar_type(side.operand).kind] if isinstance(side, Num) else None


def require_no_none(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> None:  # fmt: skip
    """Refuse operators of None and numbers; on one path of several the program raises."""
    names = _class_name(left), _class_name(right)
    if None in names or "NoneType" not in names or kind in (ast.Eq, ast.NotEq):
        return
    if kind in ORDERS:
        text = f"'{ORDERS[kind]}' not supported between instances of '{names[0]}' and '{names[1]}'"
        message = f"comparison of {kind_of(left)} with {kind_of(right)}"
    else:
        sign = numbers.SIGNS[numbers.ROWS[kind]]
        what = "** or pow()" if sign == "**" else sign
        in_place = isinstance(node, ast.AugAssign) and not _is_any_array(left, right)
        what = f"{sign}=" if in_place else what
        text = f"unsupported operand type(s) for {what}: '{names[0]}' and '{names[1]}'"
        message = f"`{sign}` is not defined for None"
    numbers.refuse(lo, message, node, "TypeError", text)


# What operators make of two sets of constants.
_OF_SETS: dict[type[ast.AST], Any] = {
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Sub: operator.sub,
}  # fmt: skip


def is_set(binding: Binding) -> TypeGuard[Static]:
    """Whether a binding is a set: its elements are constants."""
    return isinstance(binding, Static) and isinstance(binding.value, frozenset)


def is_plain_dict(binding: Binding) -> TypeGuard[DictRef]:
    """Whether a binding is a dict, and no subclass with another meaning."""
    return isinstance(binding, DictRef) and not isinstance(
        binding, DefaultRef | OrderedRef | SetRef
    )


def _repeated(lo: Lowerer, text: Binding, count: Binding, node: ast.AST) -> Static | None:
    """Return a constant string that is repeated, if these are a string and a number."""
    if not (isinstance(text, Static) and isinstance(text.value, str) and isinstance(count, Num)):
        return None
    if not isinstance(count.operand, Literal) or count.operand.type.kind not in "ib":
        raise _by_number(lo, count, "repeating a string", node)
    return Static(text.value * int(count.operand.value))


def _by_number(lo: Lowerer, count: Num, what: str, node: ast.AST) -> AdcError:
    """Return the error for something that is repeated, but not by a constant integer."""
    if count.operand.type.kind not in "iub":
        return TypeMismatchError(f"{what} by {kind_of(count)}", lo.span(node), "use an integer")
    return lo.constant_needed(count, f"{what} by a number", node)


def _small(lo: Lowerer, base: Binding, exponent: Binding) -> Binding:
    """Return a truth value as an 8-bit integer where NumPy squares it: ``mask ** 2``, no other."""
    if not (isinstance(base, Num) and isinstance(exponent, Num)):
        return base
    if base.operand.type.kind == "b" and exponent.operand == Literal(2, INT):
        return Num(lo.convert(base.operand, Scalar("i8")))
    return base


def check_cast(lo: Lowerer, result: Binding, target: Binding, node: ast.AST) -> None:
    """Raise unless NumPy stores results of this type in arrays of the target's."""
    if not isinstance(target, ArrayRef):
        return
    if isinstance(result, ArrayRef | Lazy):
        ty = elementwise.element_type(result)
    else:
        ty = numbers.scalar_type(elementwise.number(lo, result, node))
    wanted = target.element
    if not np.can_cast(ty.numpy, wanted.numpy, "same_kind"):
        raise TypeMismatchError(
            f"cannot store a result of {ty.numpy} in an array of {wanted.numpy}", lo.span(node),
            "convert it with `.astype`",
        )  # fmt: skip


def truth(lo: Lowerer, binding: Binding, node: ast.AST) -> Operand:
    """Return the truth of a binding as a bool operand."""
    if isinstance(binding, OneOf):
        if not all(isinstance(item, Static) for item in binding.items):
            raise dispatch.SplitError(binding, node)
        return optional.by_item(lo, binding, [truth(lo, item, node) for item in binding.items])
    asked = special.truth(lo, binding, node)
    if asked is not None:
        return asked
    match binding:
        case Maybe(inner=ArrayRef() | Lazy()):
            # Only a branch may check that it has one element (`control.evaluation`).
            raise lo.unsupported("the truth of an array that may be None", node, "use `is None`")
        case Maybe(inner=inner, some=some):
            return numbers.apply(lo, "and", some, truth(lo, inner, node))
        case Num(operand=operand):
            return numbers.truth_of(lo, operand)
        case TupleOf(items=items):
            return Literal(bool(items), BOOL)
        case Static(value=value) if classes.is_opaque(value):
            raise classes.refused(lo, value, node)
        case Static(value=value):
            return Literal(bool(value), BOOL)
        case Range(start=start, stop=stop, step=step):
            trips = lo.builder.apply("trips", start.operand, stop.operand, step.operand)
            return numbers.truth_of(lo, trips)
        case DictRef() | DictView():
            return keyed.truth(lo, binding.ref if isinstance(binding, DictView) else binding)
        case ArrayRef() | Lazy():
            value = elementwise.value_of(lo, binding, node)
            only = value.operand if isinstance(value, Num) else _only(lo, binding, node)
            return numbers.truth_of(lo, only)
        case ListRef() if isinstance(held := lo.held(binding), Growing):
            return numbers.truth_of(lo, held.length.operand)
        case NamedTuple(cls=cls) if not issubclass(cls, tuple):
            return Literal(True, BOOL)  # a frozen dataclass
        case ListRef() | NamedTuple():
            return Literal(bool(sequences.length(lo, binding)), BOOL)
        case Words() if may_be_empty(binding):
            raise lo.unsupported(f"the truth of {kind_of(binding)}", node, "compare the numbers")
    return Literal(True, BOOL)


def _only(lo: Lowerer, x: ArrayRef | Lazy, node: ast.AST) -> Operand:
    """Return the element of an array that is checked to have one."""
    one = integer(1)
    dims = views.dims_of(lo, x)
    if any(map(lo.sizes.is_plural, dims)):
        raise TypeMismatchError(_AMBIGUOUS, lo.span(node), "use `.any()` or `.all()`")
    for size in dims:
        with lo.at(node):
            few = numbers.apply(lo, "le", size, one)
            numbers.check(lo, few, "ValueError", f"{_AMBIGUOUS}. Use a.any() or a.all()")
        elementwise.require_same(lo, size, one, _EMPTY, [], node)
    return elementwise.lazy(lo, x, node).element([integer(0)] * len(dims))


# -- `is` ------------------------------------------------------------------------------------------


def is_same(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool | Operand:
    """Whether two bindings denote one list, dict or object."""
    mutable = ListRef | DictRef | ObjectRef
    if isinstance(left, mutable) and isinstance(right, mutable):
        if left.slot == right.slot:
            return True
        if (same := pools.same(lo, left, right)) is not None:
            return same
        if right.slot in lo.kin.get(left.slot, ()):
            raise StaleError(
                "`is` on lists, dicts or objects that may be one is not supported",
                lo.span(node),
                "compare what they hold",
            )
        given = lo.places.keys() | lo.anew
        if left.slot in given and right.slot in given and _may_be_one(left, right):
            known = [_object_of(lo, side) for side in (left, right)]
            if known[0] and known[1]:
                return known[0][0] is known[1][0]
            raise lo.unsupported(
                "`is`, or `==` that compares identity, of two objects from outside", node,
                "compare what they hold",
            )  # fmt: skip
        return False
    if isinstance(left, NamedTuple) or isinstance(right, NamedTuple):
        if classes.instance_class(left) is classes.instance_class(right):
            raise lo.unsupported(f"`is` on {kind_of(left)}", node, "compare what they hold")
        return False
    return False


def _may_be_one(left: Binding, right: Binding) -> bool:
    """Whether two lists, dicts or objects have one class."""
    return type(left) is type(right) and (
        not (isinstance(left, ObjectRef) and isinstance(right, ObjectRef)) or left.cls is right.cls
    )


def _object_of(lo: Lowerer, ref: Binding) -> tuple[Any] | None:
    """Return the object outside that a binding is, which it has to be at every call; or None."""
    places = lo.places.get(ref.slot, ()) if isinstance(ref, ObjectRef) else ()
    if len(places) != 1:
        return None
    (place,) = places
    if place not in lo.shared.values:
        return None
    value = lo.shared.values[place]
    lo.shared.guards[place] = Guard(place, value, key_of(value), is_lazy(value), same=True)
    return (value,)


def _is_known_object(lo: Lowerer, known: Static, other: ObjectRef, node: ast.AST) -> bool:
    """Whether an object is one that is a constant, such as `dataclasses.MISSING`."""
    if other.slot not in lo.places or not issubclass(type(known.value), other.cls):
        return False
    found = _object_of(lo, other)
    if found is None:
        raise lo.unsupported("`is` of an object from outside", node, "compare what they hold")
    outside.pin(lo, known)
    return found[0] is known.value


def same_flags(lo: Lowerer, left: Binding, right: Binding) -> Operand | None:
    """Return whether something is True, or False, which there is one of; None for other numbers."""
    if isinstance(right, Num) and _is_truth(right) and isinstance(right.operand, Literal):
        left, right = right, left
    if not (isinstance(left, Num) and _is_truth(left) and isinstance(left.operand, Literal)):
        return None
    if isinstance(right, Num) and _is_truth(right):
        return numbers.apply(lo, "eq", left.operand, right.operand)
    return Literal(False, BOOL)


def _is_truth(number: Num) -> bool:
    return number.operand.type == BOOL and not number.array


def identical(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool | Operand:
    if isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        if left is right:
            return True
        if left.object is right.object:
            # Every view is an array of its own, also one of all elements; but of two paths, one may
            # have a view, and the other the array.
            if _begin_apart(lo, left, right):
                return False
            raise lo.unsupported("`is` on views of one array", node, "compare what they hold")
        outside_both = left.object in lo.origin and right.object in lo.origin
        if left.object in right.object.alias or (outside_both and lo.compared is None):
            raise lo.unsupported("`is` on arrays that may be one", node, "compare what they hold")
        if outside_both and lo.compared is not None:
            origins = (lo.origin[left.object], lo.origin[right.object])
            lo.compared.add(frozenset(lo.boxes.get(each, each) for each in origins))
        return False
    if isinstance(left, Static) and isinstance(right, Static):
        outside.pin(lo, left)
        outside.pin(lo, right)
        return left.value is right.value
    if isinstance(left, Static) or isinstance(right, Static):
        if isinstance(right, Static):
            left, right = right, left
        assert isinstance(left, Static)
        return isinstance(right, ObjectRef) and _is_known_object(lo, left, right, node)
    if isinstance(left, Num) or isinstance(right, Num):
        if isinstance(left, Ref | NamedTuple) or isinstance(right, Ref | NamedTuple):
            return False
        raise lo.unsupported("`is` on numbers", node, "use `==`")
    known = ArrayRef | Lazy | Ref | NamedTuple
    if isinstance(left, known) or isinstance(right, known):
        return is_same(lo, left, right, node)
    return _is_one_value(lo, left, right, node)


_FUNCTIONS = (Closure, Knot, Itself, Transformed, Bound)


def _is_one_value(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> bool:
    """Whether two functions, tuples or iterators are one, where that is certain.

    Where paths join, or a function returns them, others stand for them.
    """
    if left is right:
        return True
    if not (isinstance(left, _FUNCTIONS) and isinstance(right, _FUNCTIONS)):
        if type(left) is not type(right):
            return False
    if isinstance(left, Closure | Knot) and isinstance(right, Closure | Knot):
        if left.node is not right.node:
            return False
    raise lo.unsupported(
        f"`is` on {kind_of(left)} and {kind_of(right)}, which may be one,", node,
        "compare what they hold, or names",
    )  # fmt: skip


def _begin_apart(lo: Lowerer, left: ArrayRef, right: ArrayRef) -> bool:
    """Whether two views of one array surely show other elements, or these in another order."""
    one, other = (_offsets_and_strides(lo, ref) for ref in (left, right))
    return any(
        isinstance(a, Literal) and isinstance(b, Literal) and a != b
        for a, b in zip(one, other, strict=False)
    )


def _offsets_and_strides(lo: Lowerer, ref: ArrayRef) -> list[Operand]:
    view = (ref if ref.view else views.as_window(lo, ref)).view
    if len(view) > 1 or not isinstance(view[0], Window):
        return []
    return [
        number
        for axis in view[0].axes
        for number in (axis.offset, *(stride for _, stride in axis.terms))
    ]
