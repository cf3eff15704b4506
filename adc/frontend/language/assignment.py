"""Assignment to names, elements, attributes and patterns of these; in place with ``op=``.

``a[i] = x`` is a store into an array, or rebinds a slot of a list, a dict or an instance.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from adc.frontend.control import choices, evaluation, forms
from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    DefaultRef,
    DequeRef,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    SetRef,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import refusals
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.language import (
    attributes,
    containers,
    dicts,
    dynamic_lists,
    generators,
    subscripts,
)
from adc.frontend.numpy import indexing
from adc.frontend.values import (
    arguments,
    arrays,
    elementwise,
    keyed,
    objects,
    operators,
    sequences,
    special,
    views,
)
from adc.frontend.values.growing import pools
from adc.frontend.values.views import dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import AliasError, TypeMismatchError
from adc.ir.foreign import is_stand_in
from adc.ir.types import BOOL, INT, Scalar, join


def _put(lo: Lowerer, owner: ListRef, key: Binding, value: Binding, node: ast.AST) -> None:
    """Store into a list: at any index if they are numbers, or what is picked at run time."""
    items = list(lo.contents(owner))
    text = dynamic_lists.out_of_range(owner, assigned=True)
    numbers_only = all(isinstance(x, Num) and forms.joinable(x, value) for x in [*items, value])
    if not (numbers_only and items and containers.is_varying(key)):
        at = containers.position(lo, items, key, text, node)
        if isinstance(at, Literal):
            if pools.set_item(lo, owner, int(at.value), value, node):
                return
            items[int(at.value)] = value
        else:
            for k, item in enumerate(items):
                here = lo.builder.apply("eq", at, integer(k))
                items[k] = evaluation.one_of_two(lo, here, value, item, node)
    else:
        at = containers.place(lo, items, key, text, node)
        for k, item in enumerate(items):
            assert isinstance(item, Num)
            assert isinstance(value, Num)
            ty = join(item.operand.type, value.operand.type)  # type: ignore[arg-type]  # numbers
            here = lo.builder.apply("eq", at, integer(k))
            chosen = (lo.exact(x.operand, ty) for x in (value, item))
            items[k] = Num(numbers.select(lo, here, *chosen))
    lo.hold(owner, TupleOf(tuple(items)))


def _is_whole(part: ast.Slice) -> bool:
    """Whether a slice is `[:]`."""
    return part.lower is None and part.upper is None and part.step is None


def _listed(lo: Lowerer, value: Binding, node: ast.Subscript) -> TupleOf | Growing:
    """Return the elements of a value that a part of a list becomes, as those of a new list."""
    if classes.has_attribute(value, "__iter__") is False:
        raise TypeMismatchError("can only assign an iterable", lo.span(node))
    made = dispatch.apply(lo, Static(list), [value], {}, classes.call_at(node))
    assert isinstance(made, ListRef)
    held = lo.held(made)
    assert isinstance(held, TupleOf | Growing)
    return held


def set_item(lo: Lowerer, owner: Binding, node: ast.Subscript, value: Binding) -> None:
    """Lower ``owner[key] = value`` for a list, a dict or an instance."""
    if _set_by_method(lo, owner, node, value):
        return
    match owner:
        case DequeRef() if isinstance(node.slice, ast.Slice):
            raise TypeMismatchError("sequence index must be integer, not 'slice'", lo.span(node))
        case ListRef() if isinstance(lo.held(owner), Growing) and isinstance(node.slice, ast.Slice):
            dynamic_lists.set_slice(lo, owner, node.slice, value, node)
        case ListRef() if isinstance(lo.held(owner), Growing):
            if isinstance(node.slice, ast.Slice) and _is_whole(node.slice):
                call = classes.call_at(node)
                made = dispatch.apply(lo, Static(list), [value], {}, call)
                dispatch.apply(lo, Bound(owner, "clear"), [], {}, call)
                dispatch.apply(lo, Bound(owner, "extend"), [made], {}, call)
                return
            key = evaluation.lower_expr(lo, node.slice)
            dynamic_lists.set_item(lo, owner, key, value, node)
        case ListRef() if isinstance(node.slice, ast.Slice):
            new = _listed(lo, value, node)
            part = containers.static_slice(lo, node.slice)
            items = list(lo.contents(owner))
            if isinstance(new, Growing):
                if len(items[part]) < len(items) or part.step not in (None, 1):
                    raise lo.unsupported(
                        "a part of a list that becomes a list of a length known only at run time",
                        node, "join the parts: `a[:1] + b`",
                    )  # fmt: skip
                lo.hold(owner, new)
                return
            items[part] = new.items
            lo.hold(owner, TupleOf(tuple(items)))
        case ListRef():
            key = evaluation.lower_expr(lo, node.slice)
            if containers.is_varying(key) and dynamic_lists.as_buffers(lo, owner, node):
                dynamic_lists.set_item(lo, owner, key, value, node)
            else:
                _put(lo, owner, key, value, node)
        case DictRef() if not isinstance(owner, SetRef):
            dicts.put(lo, owner, evaluation.lower_filled(lo, node.slice), value, node.slice)
        case TupleOf() | NamedTuple():
            raise TypeMismatchError("a tuple cannot be changed", lo.span(node), "use a list")
        case Num():
            message = f"cannot assign to an element of {kind_of(owner)}"
            text = f"'{classes.name_of(owner)}' object does not support item assignment"
            numbers.refuse(lo, message, node, "TypeError", text)
        case _:
            raise TypeMismatchError(
                f"cannot assign to an element of {kind_of(owner)}", lo.span(node)
            )


def augment_item(lo: Lowerer, owner: Binding, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    """Lower ``owner[key] op= value`` for a list, a dict or an instance."""
    if _augmented_by_methods(lo, owner, stmt, node):
        return
    if not isinstance(owner, ListRef | DictRef) or isinstance(owner, SetRef):
        set_item(lo, owner, node, NONE)
        return
    is_list = isinstance(owner, ListRef)
    if is_list and isinstance(node.slice, ast.Slice):
        part = subscripts.sequence_item(lo, owner, node)
        set_item(lo, owner, node, augmented(lo, part, stmt))
        return
    key = (evaluation.lower_expr if is_list else evaluation.lower_filled)(lo, node.slice)
    old: Binding
    held = lo.held(owner)
    if isinstance(owner, ListRef) and isinstance(held, Growing):
        at = Num(dynamic_lists.place(lo, held, key, dynamic_lists.out_of_range(owner), node))
        old = lo.element(held, at.operand, node)
        dynamic_lists.set_item(lo, owner, at, augmented(lo, old, stmt), node)
        return
    if isinstance(owner, ListRef):
        old = containers.element_of(lo, owner, lo.contents(owner), key, node)
    else:
        old = dicts.item_of_dict(lo, owner, key, node)
    new = augmented(lo, old, stmt)
    if isinstance(owner, ListRef):
        _put(lo, owner, key, new, node)
    else:
        dicts.put(lo, owner, key, new, node.slice)


def assign(lo: Lowerer, target: ast.expr, value: Binding) -> None:
    """Bind `value` to a name, an element or a pattern of them."""
    if not isinstance(target, ast.Tuple | ast.List):
        refusals.require_lasting(lo, target, value)
    match target:
        case ast.Name(id=name):
            if isinstance(value, ArrayRef) and not value.view and lo.frame.site is None:
                obj = value.object
                if obj not in lo.origin:  # which has a name
                    obj.variable = obj.variable or name
            name = lo.frame.cells.get(name, name)
            lo.frame.env[name] = value
            lo.bindings += 1
            lo.frame.partial.discard(name)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack_into(lo, elts, value, target)
        case ast.Subscript():
            store_element(lo, target, value)
        case ast.Attribute(attr="writeable", value=ast.Attribute(attr="flags") as flags):
            owner = evaluation.lower_owner(lo, flags)
            if isinstance(owner, ArrayRef | Lazy):
                elementwise.freeze(lo, owner, arguments.flag(lo, value, target, "it"), target)
            else:
                owner = attributes.attribute_of(lo, owner, flags)
                objects.set_attribute(lo, owner, target.attr, value, target)
        case ast.Attribute():
            owner = evaluation.lower_owner(lo, target)
            objects.set_attribute(lo, owner, target.attr, value, target)
        case _:
            raise lo.unsupported("this assignment target", target)


def _present(lo: Lowerer, value: Binding, node: ast.AST) -> Binding:
    """Return what is stored in an array, or unpacked: it is not None."""
    text = f"`{ast.unparse(node)}` is assigned None"
    return dispatch.required(lo, value, node, text) if isinstance(value, Maybe) else value


def _unpack_into(lo: Lowerer, elts: Sequence[ast.expr], value: Binding, target: ast.expr) -> None:
    value = _present(lo, value, target)
    if isinstance(value, OneOf):  # the names are what they are in each case
        choices.cases(lo, value, target, lambda item: _unpack_into(lo, elts, item, target))
        return
    value = generators.elements(lo, value, target)
    starred = [k for k, element in enumerate(elts) if isinstance(element, ast.Starred)]
    if not starred:
        items = unpack(lo, value, target, len(elts))
        for element, item in zip(elts, items, strict=True):
            assign(lo, element, item)
        return
    at, after = starred[0], len(elts) - starred[0] - 1
    known = sequences.known_elements(lo, value, target)
    parts = dynamic_lists.taken_apart(lo, value, at, after, target) if known is None else None
    if parts is not None:
        for element, item in zip(elts, parts, strict=True):
            assign(lo, element.value if isinstance(element, ast.Starred) else element, item)
        return
    found = list(known if known is not None else sequences.static_sequence(lo, value, target))
    if len(found) < len(elts) - 1:
        raise TypeMismatchError(
            f"cannot unpack {len(found)} values into at least {len(elts) - 1} names",
            lo.span(target),
        )
    end = len(found) - after
    rest = lo.new_ref(ListRef, TupleOf(tuple(found[at:end])))
    for element, item in zip(elts, [*found[:at], rest, *found[end:]], strict=True):
        assign(lo, element.value if isinstance(element, ast.Starred) else element, item)


def store_element(lo: Lowerer, node: ast.Subscript, value: Binding) -> None:
    """Lower ``owner[index] = value``."""
    owner = evaluation.lower_expr(lo, node.value)
    if not isinstance(owner, ArrayRef):
        # A list keeps an array, not an expression that would be computed at every use.
        set_item(lo, owner, node, elementwise.materialised(lo, value, node))
        return
    value = _present(lo, value, node)
    dispatch.require_one([value], node)
    items = indexing.items_of(lo, node.slice)
    with lo.at(node):
        indexing.write(lo, owner, items, arrays.as_operand(lo, value, node), node)


def augment_element(lo: Lowerer, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    """Lower ``owner[index] op= value``: the index is evaluated once, first."""
    owner = evaluation.lower_expr(lo, node.value)
    if not isinstance(owner, ArrayRef):
        augment_item(lo, owner, stmt, node)
        return
    whole, items = indexing.masked(lo, owner, indexing.items_of(lo, node.slice), node)
    assert isinstance(whole, ArrayRef)
    owner, items = whole, indexing.prepared(lo, whole, items, node)
    if indexing.is_advanced(lo, items):
        place = indexing.Advanced(lo, owner, items, node)
        with lo.at(stmt):
            old: Binding = elementwise.base_of(lo, place.read(), node)
        value = dispatch.evaluate(lo, stmt.value)
        place.write(operators.binary(lo, type(stmt.op), old, value, stmt))
        return
    with lo.at(node):
        target = indexing.basic(lo, owner, items)
    assert isinstance(target, ArrayRef)
    if dims_of(lo, target):
        in_place(lo, target, stmt, dispatch.evaluate(lo, stmt.value))
        return
    with lo.at(stmt):
        old = elementwise.value_of(lo, target, node)
    value = evaluation.lower_expr(lo, stmt.value)
    new = operators.binary(lo, type(stmt.op), old, value, stmt)
    with lo.at(stmt):
        # The right-hand side may have changed the array: the store goes to its present version.
        elementwise.assign_to(lo, target, new, node)


_NO_MATRIX = (
    "inplace matrix multiplication requires the first operand to have at least one and the second "
    "at least two dimensions."
)


def in_place(lo: Lowerer, target: ArrayRef, stmt: ast.AugAssign, value: Binding) -> None:
    """Lower ``array op= value`` for a whole array or view: every name of it sees the change."""
    value = arrays.as_operand(lo, value, stmt.value)
    if classes.is_instance(value):
        raise lo.unsupported(f"an array that is changed by {kind_of(value)}", stmt)
    with lo.at(stmt):
        if isinstance(stmt.op, ast.MatMult) and isinstance(value, ArrayRef | Lazy):
            ranks = [len(dims_of(lo, side)) for side in (target, value)]
            if ranks[0] < 1 or ranks[1] < 2:
                numbers.check(lo, Literal(False, BOOL), "ValueError", _NO_MATRIX)
        result = operators.binary(lo, type(stmt.op), target, value, stmt)
        operators.check_cast(lo, result, target, stmt)
        if isinstance(result, ArrayRef | Lazy) and len(dims_of(lo, result)) > len(
            dims_of(lo, target)
        ):
            raise TypeMismatchError(
                "the result has more axes than the array that it is stored in", lo.span(stmt)
            )
        elementwise.assign_to(lo, target, result, stmt, "output array")


def _set_by_method(lo: Lowerer, owner: Binding, node: ast.Subscript, value: Binding) -> bool:
    """Lower ``owner[key] = value`` by `__setitem__`; return whether there is one."""
    if classes.find(lo, owner, "__setitem__") is None:
        return False
    special.method(lo, owner, "__setitem__", [subscripts.method_key(lo, node.slice), value], node)
    return True


def _augmented_by_methods(
    lo: Lowerer, owner: Binding, stmt: ast.AugAssign, node: ast.Subscript
) -> bool:
    """Lower ``owner[key] op= value`` by both methods; return whether there are such."""
    if (
        classes.find(lo, owner, "__getitem__") is None
        or classes.find(lo, owner, "__setitem__") is None
    ):
        return False
    key = subscripts.method_key(lo, node.slice)
    adds = isinstance(stmt.op, ast.Add | ast.Sub)
    if adds and isinstance(owner, ObjectRef) and is_stand_in(owner.cls):
        old = special.method(lo, owner, "_read", [key], node)
        if old is not None:  # a class whose parts are costly objects
            value = elementwise.materialised(lo, evaluation.lower_expr(lo, stmt.value), stmt)
            subtracts = lo.num(isinstance(stmt.op, ast.Sub))
            special.method(lo, owner, "_increase", [key, old, value, subtracts], node)
            return True
    old = special.method(lo, owner, "__getitem__", [key], node)
    assert old is not None
    new = augmented(lo, old, stmt)
    special.method(lo, owner, "__setitem__", [key, new], node)
    return True


def augmented(lo: Lowerer, old: Binding, stmt: ast.AugAssign) -> Binding:
    """Return what ``old op= value`` leaves: arrays and lists are changed in place."""
    if isinstance(old, Maybe):
        old = dispatch.required(lo, old, stmt.target)
    dispatch.require_one([old], stmt.target)
    if isinstance(old, ArrayRef):
        in_place(lo, old, stmt, dispatch.evaluate(lo, stmt.value))
        return old
    value = evaluation.lower_expr(lo, stmt.value)
    if classes.is_instance(old):
        found = special.in_place(lo, old, stmt, value)
        if found is not None:
            return found
    if isinstance(old, ListRef) and isinstance(stmt.op, ast.Add):
        if arrays.is_element_wise(old, value):
            # NumPy adds them, to a new array; the list stays as it is.
            return elementwise.materialised(
                lo, operators.binary(lo, ast.Add, old, value, stmt), stmt
            )
        dynamic_lists.extend(lo, old, value, stmt.value)
        return old
    if isinstance(old, ListRef) and isinstance(stmt.op, ast.Mult):
        repeated = operators.binary(lo, ast.Mult, old, value, stmt)
        if isinstance(repeated, ListRef):
            lo.hold(old, lo.held(repeated))  # other names of the list see it, too
            return old
        return elementwise.materialised(lo, repeated, stmt)
    if isinstance(old, SetRef) and type(stmt.op) in _OF_SETS and keyed.of_set(lo, value):
        change = Bound(old, _OF_SETS[type(stmt.op)])
        dispatch.apply(lo, change, [value], {}, classes.call_at(stmt))
        return old
    if isinstance(old, DefaultRef) and dicts.is_counter(old):
        dicts.count_in_place(lo, type(stmt.op), old, value, stmt)
        return old
    union = isinstance(stmt.op, ast.BitOr)
    if union and operators.is_plain_dict(old) and operators.is_plain_dict(value):
        dicts.update(lo, old, value, stmt)
        return old
    new = operators.binary(lo, type(stmt.op), old, value, stmt)
    if isinstance(old, Num) and old.array and isinstance(new, Num):
        return _changed(lo, old, new, stmt)
    return elementwise.materialised(lo, new, stmt)


# The methods of sets that do what is written as ``op=``.
_OF_SETS: dict[type[ast.operator], str] = {
    ast.BitAnd: "intersection_update", ast.BitOr: "update", ast.Sub: "difference_update",
    ast.BitXor: "symmetric_difference_update",
}  # fmt: skip


def _changed(lo: Lowerer, old: Num, new: Num, stmt: ast.AugAssign) -> Num:
    """Return a 0-d array that was changed in place: it keeps its dtype.

    Two names of one would both see that, which is refused: here it is a number.
    """
    if sum(binding == old for binding in lo.frame.env.values()) > 1:
        raise AliasError(
            "a 0-d array with two names is changed in place", lo.span(stmt),
            "write `x = x + ...` instead of `x += ...`",
        )  # fmt: skip
    kept = Scalar(numbers.scalar_type(old.operand).dtype)
    ty = numbers.scalar_type(new.operand)
    if not np.can_cast(ty.numpy, kept.numpy, "same_kind"):
        raise TypeMismatchError(
            f"cannot store a result of {ty.numpy} in an array of {kept.numpy}", lo.span(stmt),
            "convert it with `.astype`",
        )  # fmt: skip
    return Num(lo.exact(numbers.stored(lo, new.operand, kept, stmt), kept), array=True)


def unpack(lo: Lowerer, value: Binding, node: ast.AST, count: int) -> list[Binding]:
    """Return the `count` elements of something that is unpacked."""
    items = sequences.static_items(lo, value)
    if items is not None:
        if len(items) != count:
            message = f"cannot unpack {len(items)} values into {count} names"
            text = numbers.too_many(count)
            if len(items) < count:
                text = f"not enough values to unpack (expected {count}, got {len(items)})"
            numbers.refuse(lo, message, node, "ValueError", text)
        return items
    held = lo.held(value) if isinstance(value, ListRef) else None
    if isinstance(held, Growing):
        _require_count(lo, held.length.operand, count)
        return [lo.element(held, Literal(k, INT), node) for k in range(count)]
    if isinstance(value, ArrayRef) and views.dims_of(lo, value):
        _require_count(lo, views.dims_of(lo, value)[0], count)
        return [elementwise.load(lo, value, [Literal(k, INT)], node) for k in range(count)]
    message = f"cannot unpack {kind_of(value)}"
    if classes.has_attribute(value, "__iter__") is False:
        text = f"cannot unpack non-iterable {classes.name_of(value)} object"
        numbers.refuse(lo, message, node, "TypeError", text)
    raise TypeMismatchError(message, lo.span(node))


def _require_count(lo: Lowerer, size: Operand, count: int) -> None:
    """Check that there are as many elements as names to unpack them to."""
    enough = numbers.apply(lo, "ge", size, Literal(count, INT))
    text = f"not enough values to unpack (expected {count}, got {{}})"
    numbers.check(lo, enough, "ValueError", text, size)
    few = numbers.apply(lo, "le", size, Literal(count, INT))
    numbers.check(lo, few, "ValueError", numbers.too_many(count))
