"""Comparisons of two bindings: numbers, arrays, tuples, instances with methods."""

from __future__ import annotations

import ast
import dataclasses
import enum
import operator
import types
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    DequeRef,
    DictRef,
    DictView,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Range,
    Ref,
    SetRef,
    Static,
    TupleOf,
    Words,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import PickedError
from adc.frontend.core.strings import texts_of
from adc.frontend.values import (
    arrays,
    constants,
    elementwise,
    keyed,
    objects,
    operators,
    optional,
    sequences,
    special,
)
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL
from adc.library.standard import lists


def _by_methods(
    lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST
) -> Binding | None:
    """Lower one comparison by the methods of instances."""
    kind = type(op)
    if isinstance(op, ast.In | ast.NotIn):
        found = special.method(lo, right, "__contains__", [left], node)
        if found is None:
            return None
        inside = numbers.weak(lo, operators.truth(lo, found, node))
        return Num(numbers.apply(lo, "not", inside) if isinstance(op, ast.NotIn) else inside)
    if kind not in special.COMPARISONS or not (
        classes.is_instance(left) or classes.is_instance(right)
    ):
        return None
    name, reflected = special.COMPARISONS[kind]
    if not (_has_own(lo, left, name) or _has_own(lo, right, reflected)):
        return None
    with lo.at(node):
        first, second = classes.instance_class(left), classes.instance_class(right)
        attempts = [(left, name, right), (right, reflected, left)]
        if first is not second and classes.inherits(second, first):
            attempts.reverse()
        for owner, asked, other in attempts:
            if classes.is_instance(owner):
                given = other if owner is left else special.met(lo, other, owner, kind, node)
                found = _rich(lo, owner, asked, elementwise.materialised(lo, given, node), node)
                if found is not None:
                    return found
    if kind not in (ast.Eq, ast.NotEq):
        raise TypeMismatchError(
            f"comparison of {kind_of(left)} with {kind_of(right)}", lo.span(node)
        )
    return Num(_as_flag(lo, operators.is_same(lo, left, right, node), kind is ast.Eq))


def _as_flag(lo: Lowerer, same: bool | Operand, wanted: bool) -> Operand:
    """Return whether two bindings are the same one, or are not, where that is not `wanted`."""
    if isinstance(same, bool):
        return Literal(same == wanted, BOOL)
    return same if wanted else numbers.apply(lo, "not", same)


def _has_own(lo: Lowerer, binding: Binding, name: str) -> bool:
    """Whether an instance overrides a comparison of its tuple base."""
    if not classes.is_instance(binding):
        return False
    assert isinstance(binding, classes.Instance)
    return not issubclass(binding.cls, tuple) or classes.find(lo, binding, name) is not None


def compared(lo: Lowerer, item: Binding) -> Binding:
    """Return the fields by which a dataclass with an order compares its instances; else the item.

    Each has to be of the class itself: Python compares no others.
    """
    if not classes.is_instance(item):
        return item
    assert isinstance(item, ObjectRef | NamedTuple)
    if not classes.is_generated(item.cls, classes.in_class(item.cls, "__lt__")):
        return item
    record = item.record if isinstance(item, NamedTuple) else lo.record(item)
    names = [each.name for each in dataclasses.fields(item.cls) if each.compare]
    held = [outside.opened(lo, record.items[record.keys.index(name)]) for name in names]
    return TupleOf(tuple(held))


def _rich(lo: Lowerer, owner: Binding, name: str, other: Binding, node: ast.AST) -> Binding | None:
    """Call the method of one side; None if it declines."""
    assert isinstance(owner, classes.Instance)
    cls, value = owner.cls, classes.in_class(owner.cls, name)
    if classes.is_generated(cls, value):
        if name != "__eq__":
            if classes.instance_class(other) is not cls:
                return None
            op = next(kind for kind, names in special.COMPARISONS.items() if names[0] == name)
            fields = compared(lo, owner), compared(lo, other)
            return Num(compare(lo, op(), *fields, node))
        return (
            _equal_fields(lo, owner, other, node) if classes.instance_class(other) is cls else None
        )
    if cls is types.SimpleNamespace and name == "__eq__":
        return _equal_namespaces(lo, owner, other, node)
    if classes.find(lo, owner, name) is not None:
        return special.tried(lo, owner, name, other, node)
    if name == "__ne__" and not issubclass(cls, tuple):
        equal = _rich(lo, owner, "__eq__", other, node)
        return None if equal is None else Num(
            numbers.apply(lo, "not", numbers.weak(lo, operators.truth(lo, equal, node)))
        )  # fmt: skip
    if issubclass(cls, tuple) and isinstance(other, TupleOf | NamedTuple):
        # A tuple compares as one, whatever else its class does.
        mine = TupleOf(owner.record.items) if isinstance(owner, NamedTuple) else owner
        theirs = TupleOf(other.record.items) if isinstance(other, NamedTuple) else other
        op = next(op for op, (asked, _) in special.COMPARISONS.items() if asked == name)
        return Num(compare(lo, op(), mine, theirs, node))
    return None


def _equal_fields(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower the `__eq__` that `dataclass` generates, for two objects of one class."""
    cls: Any = classes.instance_class(left)
    names = [f.name for f in dataclasses.fields(cls) if f.compare]

    def fields(side: Binding) -> TupleOf:
        return TupleOf(tuple(_read(lo, side, name, node) for name in names))

    return Num(compare(lo, ast.Eq(), fields(left), fields(right), node))


def _equal_namespaces(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding | None:
    """Lower the comparison of two namespaces: by their attributes."""
    if not (isinstance(left, ObjectRef) and isinstance(right, ObjectRef) and left.cls is right.cls):
        return None
    mine, others = lo.record(left), lo.record(right)
    if set(mine.keys) != set(others.keys):
        return Num(Literal(False, BOOL))
    result: Operand = Literal(True, BOOL)
    for key in mine.keys:
        one, two = (_read(lo, side, str(key), node) for side in (left, right))
        result = numbers.apply(lo, "and", result, same_or_equal(lo, one, two, node))
    return Num(result)


def _read(lo: Lowerer, owner: Binding, name: str, node: ast.AST) -> Binding:
    assert isinstance(owner, classes.Instance)
    found = objects.attribute(lo, owner, name, node)
    if found is None:
        raise TypeMismatchError(f"{kind_of(owner)} has no attribute {name!r}", lo.span(node))
    return found


def _require_no_object(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> None:
    """Refuse to compare an array with what is no number: NumPy does it element by element."""
    if any(isinstance(side, Static) for side in (left, right)):
        raise TypeMismatchError(
            "an array cannot be compared with None or another object",
            lo.span(node), "use `is None`",
        )  # fmt: skip


def _require_no_number(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> None:
    """Refuse to compare an object from outside that may be equal to something that is none."""
    for side in (left, right):
        if isinstance(side, Static) and not isinstance(side.value, type):
            own = classes.in_class(type(side.value), "__eq__")
            if isinstance(side.value, Number) or isinstance(own, types.FunctionType):
                raise lo.unsupported(
                    f"comparing {kind_of(side)}", node, "compare the numbers that it holds"
                )


def comparison(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower one comparison: of arrays, element by element."""
    if isinstance(left, Maybe | OneOf) or isinstance(right, Maybe | OneOf):
        return Num(compare(lo, op, left, right, node))
    found = _by_methods(lo, op, left, right, node)
    if found is not None:
        return found
    kind = type(op)
    if kind in numbers.COMPARE:
        left, right = outside.number_in(lo, left), outside.number_in(lo, right)
    if kind in numbers.COMPARE and arrays.is_element_wise(left, right):
        operators.require_no_none(lo, kind, left, right, node)
        _require_no_object(lo, left, right, node)
        operands = [arrays.as_operand(lo, side, node) for side in (left, right)]

        def compute(items: list[Binding]) -> Binding:
            a, b = (elementwise.number(lo, item, node) for item in items)
            with lo.at(node):
                return Num(numbers.compare_numbers(lo, numbers.COMPARE[kind], a, b, node))

        return elementwise.lift(lo, operands, compute, node)
    return Num(compare(lo, op, left, right, node))


_ORDER: dict[type[ast.cmpop], Any] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
# The same of lists of any length, and whether it is asked of the second one.
_OF_LISTS: dict[type[ast.cmpop], tuple[Any, bool]] = {
    ast.Lt: (lists.less, False), ast.LtE: (lists.at_most, False),
    ast.Gt: (lists.less, True), ast.GtE: (lists.at_most, True),
}  # fmt: skip


def compare(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Lower one comparison of anything but arrays."""
    if isinstance(left, Maybe) or isinstance(right, Maybe):
        return _with_none(lo, op, left, right, node)
    if isinstance(left, OneOf) or isinstance(right, OneOf):
        return _one_of(lo, op, left, right, node)
    if isinstance(left, Words) or isinstance(right, Words):
        return _of_texts(lo, op, left, right, node)
    asked = constants.binary(lo, type(op), left, right, node)
    if asked is None:
        asked = _by_methods(lo, op, left, right, node)
    if asked is not None:
        return operators.truth(lo, asked, node)
    if isinstance(left, DequeRef) != isinstance(right, DequeRef) and isinstance(
        op, ast.Eq | ast.NotEq
    ):
        return Literal(isinstance(op, ast.NotEq), BOOL)
    if isinstance(op, ast.Is | ast.IsNot):
        flag = operators.same_flags(lo, left, right)
        if flag is not None:
            return flag if isinstance(op, ast.Is) else numbers.apply(lo, "not", flag)
        return _as_flag(lo, operators.identical(lo, left, right, node), isinstance(op, ast.Is))
    if isinstance(op, ast.In | ast.NotIn):
        return _member(lo, op, left, right, node)
    left, right = (elementwise.value_of(lo, side, node) for side in (left, right))
    if isinstance(left, Num) and isinstance(right, Num):
        with lo.at(node):
            return numbers.compare_by_operator(
                lo, numbers.COMPARE[type(op)], left.operand, right.operand, node
            )
    left, right = (keyed.as_set(lo, side) for side in (left, right))
    if any(isinstance(side, DictView) for side in (left, right)):
        raise lo.unsupported("this comparison of what a dict has", node, "compare lists of it")
    if isinstance(left, SetRef) or isinstance(right, SetRef):
        return _of_sets(lo, op, left, right, node)
    found = _of_sequences(lo, op, left, right, node)
    if found is None:
        found = _of_constants(lo, op, left, right, node)
    if found is None:
        operators.require_no_none(lo, type(op), left, right, node)
        kinds = ["a list" if isinstance(x, ListRef) else kind_of(x) for x in (left, right)]
        raise TypeMismatchError(f"comparison of {kinds[0]} with {kinds[1]}", lo.span(node))
    return found


def _of_sequences(
    lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST
) -> Operand | None:
    """Compare lists, of any length too, and tuples; None: it is something else."""
    is_list = [isinstance(side, ListRef) for side in (left, right)]
    growing = [isinstance(x, ListRef) and isinstance(lo.held(x), Growing) for x in (left, right)]
    if any(growing) and isinstance(op, ast.Eq | ast.NotEq):
        if any(isinstance(side, TupleOf) for side in (left, right)):
            return Literal(isinstance(op, ast.NotEq), BOOL)
        if all(is_list):
            call = classes.call_at(node)
            found = dispatch.apply(lo, Static(lists.equal), [left, right], {}, call)
            equal = operators.truth(lo, found, node)
            return equal if isinstance(op, ast.Eq) else numbers.apply(lo, "not", equal)
    if any(growing) and all(is_list):
        by, backwards = _OF_LISTS[type(op)]
        sides = [right, left] if backwards else [left, right]
        found = dispatch.apply(lo, Static(by), sides, {}, classes.call_at(node))
        return operators.truth(lo, found, node)
    left, right = (sequences.as_tuple(lo, side) for side in (left, right))
    if isinstance(left, TupleOf) and isinstance(right, TupleOf):
        if isinstance(op, ast.Eq | ast.NotEq):
            if is_list[0] != is_list[1]:  # a list equals no tuple
                return Literal(isinstance(op, ast.NotEq), BOOL)
            return _equal_tuples(lo, op, left, right, node)
        if is_list[0] == is_list[1]:
            return _ordered_tuples(lo, op, left, right, node)
    if {TupleOf, Num} == {type(left), type(right)} and isinstance(op, ast.Eq | ast.NotEq):
        return Literal(isinstance(op, ast.NotEq), BOOL)  # NumPy's numbers are compared elsewhere
    return None


def _of_constants(
    lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST
) -> Operand | None:
    """Compare constants with each other, and with anything; None: they have no such order."""
    for side in (left, right):
        if isinstance(side, Static) and isinstance(side.value, np.ndarray):
            raise classes.refused(lo, side.value, node)  # NumPy compares element by element
    if isinstance(left, Static) and isinstance(right, Static):
        if isinstance(op, ast.Eq | ast.NotEq):
            outside.pin(lo, left)
            outside.pin(lo, right)
            return Literal((left.value == right.value) == isinstance(op, ast.Eq), BOOL)
        sets = operators.is_set(left) and operators.is_set(right)
        if sets or (_is_text(left) and _is_text(right)):
            outside.pin(lo, left)
            outside.pin(lo, right)
            return Literal(_ORDER[type(op)](left.value, right.value), BOOL)
        if isinstance(left.value, str) and isinstance(right.value, str):
            return Literal(_ORDER[type(op)](left.value, right.value), BOOL)
    elif isinstance(left, Static) != isinstance(right, Static) and isinstance(
        op, ast.Eq | ast.NotEq
    ):
        if elementwise.is_array(left) or elementwise.is_array(right):
            _require_no_object(lo, left, right, node)
        _require_no_number(lo, left, right, node)
        return Literal(isinstance(op, ast.NotEq), BOOL)
    return None


def _of_texts(
    lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST
) -> Operand:  # fmt: skip
    """Compare what is, or may be, a string of numbers known only at run time."""
    if isinstance(op, ast.In | ast.NotIn) and not isinstance(right, Words):
        return _member(lo, op, left, right, node)
    other = right if isinstance(left, Words) else left
    if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and (
        other == NONE or (isinstance(op, ast.Eq | ast.NotEq) and isinstance(other, Num | TupleOf))
    ):
        return Literal(isinstance(op, ast.IsNot | ast.NotEq), BOOL)
    raise PickedError(
        f"comparing {kind_of(left if isinstance(left, Words) else right)} is not supported",
        lo.span(node), "compare the numbers",
    )  # fmt: skip


# What a comparison of two sets asks of each element: whether it is in the first, and the second.
_SUBSETS: dict[type[ast.cmpop], tuple[bool, bool]] = {
    ast.LtE: (True, False), ast.GtE: (False, True), ast.Eq: (True, True),
}  # fmt: skip


def _of_sets(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Compare two sets, of which one is the program's own."""
    sides = [keyed.of_set(lo, side) for side in (left, right)]
    if isinstance(op, ast.NotEq):
        return numbers.apply(lo, "not", _of_sets(lo, ast.Eq(), left, right, node))
    if sides[0] is None or sides[1] is None:
        if isinstance(op, ast.Eq):
            return Literal(False, BOOL)
        raise TypeMismatchError(
            f"comparison of {kind_of(left)} with {kind_of(right)}", lo.span(node)
        )
    if isinstance(op, ast.Lt | ast.Gt):
        weak: ast.cmpop = ast.LtE() if isinstance(op, ast.Lt) else ast.GtE()
        differs = numbers.apply(lo, "not", _of_sets(lo, ast.Eq(), left, right, node))
        return numbers.apply(lo, "and", _of_sets(lo, weak, left, right, node), differs)
    less, more = _SUBSETS[type(op)]
    result: Operand = Literal(True, BOOL)
    for asked, (mine, others) in ((less, (left, right)), (more, (right, left))):
        if asked:
            result = numbers.apply(lo, "and", result, keyed.all_in(lo, mine, others, True, node))
    return result


def _with_none(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Compare what may be None."""
    if not isinstance(left, Maybe):
        left, right = right, left
    assert isinstance(left, Maybe)
    if isinstance(op, ast.IsNot | ast.NotEq):
        same = ast.Is() if isinstance(op, ast.IsNot) else ast.Eq()
        return optional.negated(lo, compare(lo, same, left, right, node))
    if isinstance(op, ast.Is | ast.Eq) and right == NONE:
        return optional.negated(lo, left.some)
    if isinstance(op, ast.NotIn):
        return optional.negated(lo, compare(lo, ast.In(), left, right, node))
    if isinstance(op, ast.In) and _are_constants(left.inner) and not isinstance(right, Maybe):
        found, none = (
            compare(lo, op, each, right, node) for each in (left.inner, Static(left.absent.value))
        )
        return numbers.select(lo, left.some, found, none) if found != none else found
    if isinstance(op, ast.Eq) and _are_constants(left.inner) and _are_constants(right):
        equal = compare(lo, op, left.inner, right, node)
        return optional.combined(
            lo, numbers.apply(lo, "and", left.some, equal), left.some, equal, True
        )
    value, some = (right.inner, right.some) if isinstance(right, Maybe) else (right, None)
    if all(_by_identity(op, each) for each in (left.inner, value)):
        equal = numbers.apply(lo, "and", left.some, compare(lo, op, left.inner, value, node))
        if some is None:
            return equal
        either = numbers.apply(lo, "or", left.some, some)
        equal = numbers.apply(lo, "and", equal, some)
        return numbers.apply(lo, "or", equal, numbers.apply(lo, "not", either))
    if isinstance(op, ast.Eq) and isinstance(left.inner, Num) and isinstance(value, Num):
        equal = compare(lo, op, left.inner, value, node)
        if some is None:
            return numbers.apply(lo, "and", left.some, equal)
        both = numbers.apply(lo, "eq", left.some, some)
        none = numbers.apply(lo, "not", some)
        return numbers.apply(lo, "and", both, numbers.apply(lo, "or", none, equal))
    raise lo.unsupported(
        f"this comparison of {kind_of(left)}", node, "ask whether it is None first, in an `if`"
    )


def _are_constants(binding: Binding) -> bool:
    """Whether something is a constant such as a text, or one of several."""
    items = binding.items if isinstance(binding, OneOf) else (binding,)
    return all(isinstance(item, Static) for item in items)


def _by_identity(op: ast.cmpop, binding: Binding) -> bool:
    """Whether something is an object, or one of several, of which identity is asked for."""
    items = binding.items if isinstance(binding, OneOf) else (binding,)
    compares = isinstance(op, ast.Eq | ast.NotEq)
    return isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) and all(
        isinstance(item, ObjectRef) and not (compares and _has_equality(item.cls)) for item in items
    )


def _has_equality(cls: type) -> bool:
    """Whether `==` asks for more than the identity of instances."""
    return any(getattr(cls, name) is not getattr(object, name) for name in ("__eq__", "__ne__"))


def _one_of(lo: Lowerer, op: ast.cmpop, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Compare what is one of several constants; with others, each case is lowered apart.

    So it is unless only the identity of objects is asked for.
    """
    for found in (left, right):
        if isinstance(found, OneOf) and not (_are_constants(found) or _by_identity(op, found)):
            raise dispatch.SplitError(found, node)
    if isinstance(left, OneOf):
        return optional.by_item(
            lo, left, [compare(lo, op, item, right, node) for item in left.items]
        )
    assert isinstance(right, OneOf)
    return optional.by_item(lo, right, [compare(lo, op, left, item, node) for item in right.items])


def _member(
    lo: Lowerer, op: ast.In | ast.NotIn, left: Binding, right: Binding, node: ast.AST
) -> Operand:
    if isinstance(right, DictView) and right.name == "keys":
        right = right.ref
    if isinstance(right, DictRef):
        there = _has_key(lo, right, left, node)
        return optional.negated(lo, there) if isinstance(op, ast.NotIn) else there
    if isinstance(right, Static) and isinstance(right.value, frozenset | types.MappingProxyType):
        right = TupleOf(tuple(static(item) for item in sorted(right.value, key=repr)))
    if isinstance(left, Static) and isinstance(right, Static):
        if operators.are_flags(left.value, right.value):
            outside.pin(lo, left)
            outside.pin(lo, right)
            return Literal((left.value in right.value) is isinstance(op, ast.In), BOOL)
    if isinstance(left, Static) and isinstance(right, Static) and isinstance(right.value, str):
        if isinstance(left.value, str):
            return Literal((left.value in right.value) is isinstance(op, ast.In), BOOL)
    right = sequences.as_tuple(lo, right)
    if not isinstance(right, TupleOf):
        if (inside := _is_inside(lo, left, right, node)) is not None:
            return optional.negated(lo, inside) if isinstance(op, ast.NotIn) else inside
        if classes.has_attribute(right, "__iter__") is False:
            text = f"argument of type '{classes.name_of(right)}' is not iterable"
            numbers.refuse(lo, f"`in` {kind_of(right)}", node, "TypeError", text)
        raise lo.unsupported(f"`in` {kind_of(right)}", node)
    found: Operand = Literal(False, BOOL)
    for item in right.items:
        equal = same_or_equal(lo, left, item, node)
        found = numbers.apply(lo, "or", found, equal)
    return numbers.apply(lo, "not", found) if isinstance(op, ast.NotIn) else found


def _is_inside(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Operand | None:
    """Return whether an element of something of any length is equal to a value, or None."""
    fn: Callable[..., Any]
    args: list[Binding]
    left = outside.number_in(lo, left)
    match right:
        case Range(start=start, stop=stop, step=step) if isinstance(left, Num):
            fn, args = lists.counts_to, [left, start, stop, step]
        case Range():
            return Literal(False, BOOL)
        case ListRef():
            fn, args = lists.has, [right, left]
        case ArrayRef() | Lazy() if isinstance(left, Num):
            equal = comparison(lo, ast.Eq(), right, left, node)
            found = dispatch.apply(lo, Static(np.any), [equal], {}, classes.call_at(node))
            return operators.truth(lo, found, node)
        case _:
            return None
    found = dispatch.apply(lo, Static(fn), args, {}, classes.call_at(node))
    return operators.truth(lo, found, node)


def _has_key(lo: Lowerer, ref: DictRef, key: Binding, node: ast.AST) -> Operand:
    """Return whether a dict has a key, or a set a member."""
    members = keyed.members_of(lo, ref)
    if members is not None:
        return _member(lo, ast.In(), key, members, node)
    found = keyed.contains(lo, ref, key, node)
    if found is not None:
        return found
    found, record = Literal(False, BOOL), lo.entries(ref)
    for known, there in zip(record.keys, keyed.flags(record), strict=True):
        equal = same_or_equal(lo, key, static(known), node)
        if equal == Literal(False, BOOL):
            continue
        # The flag itself, where it alone decides: a branch on it knows that the key is there.
        here = there if equal == Literal(True, BOOL) else numbers.apply(lo, "and", equal, there)
        found = here if found == Literal(False, BOOL) else numbers.apply(lo, "or", found, here)
    return found


def same_or_equal(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Operand:
    """Compare as containers do: a NaN equals itself."""
    if isinstance(left, Num) and isinstance(right, Num):
        if isinstance(left.operand, Value) and left.operand is right.operand:
            return Literal(True, BOOL)
        if _is_nan(left) and _is_nan(right):
            # `np.nan` is one object, and each `float("nan")` another.
            raise lo.unsupported(
                "looking for a NaN, which Python compares by identity,", node,
                "use `np.isnan` of the elements",
            )  # fmt: skip
    elif isinstance(left, ArrayRef) and isinstance(right, ArrayRef):
        if left is right:
            return Literal(True, BOOL)
    elif isinstance(left, Ref) and isinstance(right, Ref) and left.slot == right.slot:
        return Literal(True, BOOL)
    elif {type(left), type(right)} == {Num, TupleOf}:
        return Literal(False, BOOL)
    return compare(lo, ast.Eq(), left, right, node)


def _is_nan(number: Num) -> bool:
    """Whether a number is a constant NaN."""
    operand = number.operand
    return isinstance(operand, Literal) and bool(operand.value != operand.value)


def _is_text(binding: Binding) -> bool:
    """Whether something is a text, or one of several."""
    if isinstance(binding, OneOf):
        return texts_of(binding) is not None
    return isinstance(binding, Static) and isinstance(binding.value, str)


def _ordered_tuples(
    lo: Lowerer, op: ast.cmpop, left: TupleOf, right: TupleOf, node: ast.AST
) -> Operand:
    """Compare tuples: the first elements that differ decide, else the lengths."""
    result = compare(lo, op, lo.num(len(left.items)), lo.num(len(right.items)), node)
    undecided: list[tuple[Operand, Binding, Binding]] = []
    for each in zip(left.items, right.items, strict=False):
        a, b = (outside.number_in(lo, side) for side in each)
        without = _without_order(a, b)
        same = _is_one(lo, a, b, node) if without else same_or_equal(lo, a, b, node)
        if same == Literal(True, BOOL):
            continue
        ordered = isinstance(a, Num | TupleOf) and isinstance(b, Num | TupleOf)
        if not (ordered or without or (_is_text(a) and _is_text(b))):
            raise lo.unsupported(
                f"ordering of tuples that hold {kind_of(a)} and {kind_of(b)}", node,
                "compare what decides, such as their numbers",
            )  # fmt: skip
        if without:
            # Python compares them where nothing before them has decided.
            decided = same
            for before, _, _ in undecided:
                other = numbers.apply(lo, "not", before)
                decided = numbers.apply(lo, "or", decided, other)
            text = f"'{operators.ORDERS[type(op)]}' not supported between instances of "
            text += f"'{without}' and '{without}'"
            with lo.at(node):
                numbers.check(lo, decided, "TypeError", text)
            continue
        if isinstance(same, Literal):
            result = compare(lo, op, a, b, node)
            break
        undecided.append((same, a, b))
    for same, a, b in reversed(undecided):
        result = numbers.select(lo, same, result, compare(lo, op, a, b, node))
    return result


def _without_order(a: Binding, b: Binding) -> str:
    """Return the class of two values that have no order and are equal if they are one; else ""."""
    items = [
        item for side in (a, b) for item in (side.items if isinstance(side, OneOf) else (side,))
    ]
    found = {_class_without_order(item) for item in items}
    return found.pop() if len(found) == 1 else ""


def _is_one(lo: Lowerer, a: Binding, b: Binding, node: ast.AST) -> Operand:
    """Whether two values without an order are equal: methods are if their objects are one."""
    match a, b:
        case OneOf(items=items), _:
            return optional.by_item(lo, a, [_is_one(lo, item, b, node) for item in items])
        case _, OneOf(items=items):
            return optional.by_item(lo, b, [_is_one(lo, a, item, node) for item in items])
        case Bound(), Bound() if a.name == b.name:
            a, b = a.owner, b.owner
        case (Bound(), _) | (_, Bound()):
            return Literal(False, BOOL)
    return compare(lo, ast.Is(), a, b, node)


def _class_without_order(value: Binding) -> str:
    match value:
        case ObjectRef(cls=cls):
            pass
        case Static(value=enum.Enum() | types.FunctionType() as held):
            cls = type(held)
        case Bound():
            return "method"
        case _:
            return ""
    own = (
        classes.in_class(cls, name) for name in ("__eq__", "__lt__", "__gt__", "__le__", "__ge__")
    )
    return "" if any(isinstance(each, types.FunctionType) for each in own) else cls.__name__


def _equal_tuples(
    lo: Lowerer, op: ast.cmpop, left: TupleOf, right: TupleOf, node: ast.AST
) -> Operand:
    if len(left.items) != len(right.items):
        return Literal(isinstance(op, ast.NotEq), BOOL)
    equal: Operand = Literal(True, BOOL)
    for a, b in zip(left.items, right.items, strict=True):
        equal = numbers.apply(lo, "and", equal, same_or_equal(lo, a, b, node))
    return equal if isinstance(op, ast.Eq) else numbers.apply(lo, "not", equal)
