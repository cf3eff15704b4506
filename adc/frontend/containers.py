"""Lists, dicts and tuples, and what they have in common with objects (`objects`).

Their structure (length, keys, attributes) is known at compile time; what they hold are bindings
like any. Lists, dicts and objects are mutable and have names that alias, so a name is bound to a
*slot* of the lowering state and the slot holds the present contents (`Lowerer.held`).
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Sequence
from typing import Any

from adc.frontend import (
    arguments,
    arrays,
    control,
    draws,
    expressions,
    grids,
    growing,
    numbers,
    objects,
    operators,
    special,
)
from adc.frontend.bindings import (
    NONE,
    Binding,
    Bound,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Range,
    RecordOf,
    Reversed,
    Static,
    TupleOf,
    Zip,
    kind_of,
)
from adc.frontend.lower import Lowerer, static
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.types import BOOL, INT, join

LIST_METHODS = ("append", "extend", "insert", "pop", "index", "count", "reverse", "copy", "clear")
DICT_METHODS = ("keys", "values", "items", "get", "pop", "update", "copy", "setdefault", "clear")


# -- what they hold --------------------------------------------------------------------------------


def as_tuple(lo: Lowerer, binding: Binding) -> Binding:
    """Return a tuple of the elements of a list, dict view or named tuple; else it unchanged."""
    if isinstance(binding, DictView):
        return TupleOf(tuple(static_items(lo, binding) or ()))
    if isinstance(binding, ListRef) and not isinstance(lo.held(binding), Growing):
        return TupleOf(lo.contents(binding))
    if isinstance(binding, NamedTuple) and issubclass(binding.cls, tuple):
        return TupleOf(binding.record.items)
    return binding


def length(lo: Lowerer, binding: Binding) -> int:
    match binding:
        case ListRef():
            return len(lo.contents(binding))
        case DictRef():
            return len(lo.record(binding).keys)
        case NamedTuple(record=record):
            return len(record.keys)
    raise AssertionError(binding)


def combined(lo: Lowerer, name: str, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower ``list + list`` and ``list * n``."""
    if name == "add" and isinstance(left, ListRef) and isinstance(right, ListRef):
        if any(isinstance(lo.held(x), Growing) for x in (left, right)):
            return growing.added(lo, left, right, node)
        return lo.new_ref(ListRef, TupleOf(lo.contents(left) + lo.contents(right)))
    if name == "mul":
        if isinstance(right, ListRef):
            left, right = right, left
        if isinstance(left, ListRef) and isinstance(right, Num):
            count = arguments.constant_int(lo, right, node, "the length of a list")
            if len(lo.contents(left)) * count > numbers.MAX_TUPLE:
                raise lo.unsupported(
                    f"a list of more than {numbers.MAX_TUPLE}", node, "use an array"
                )
            return lo.new_ref(ListRef, TupleOf(lo.contents(left) * count))
    raise TypeMismatchError(f"this operator on {kind_of(left)} and {kind_of(right)}", lo.span(node))


def key_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    """Return a key of a dict: a constant of the program."""
    match binding:
        case Num(operand=Literal(value=value)):
            return value
        case Static(value=value):
            lo.pin(binding)
            try:
                hash(value)
            except TypeError:
                raise TypeMismatchError(
                    f"{kind_of(binding)} cannot be a key", lo.span(node)
                ) from None
            return value
        case TupleOf(items=items):
            return tuple(key_of(lo, item, node) for item in items)
    raise lo.unsupported("a key known only at run time", node, "use an array indexed by the number")


def item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    """Lower ``owner[key]`` for anything but arrays, lists and tuples."""
    match owner:
        case Num():
            key = expressions.lower_expr(lo, node.slice)
            whole = key == TupleOf(()) or (isinstance(key, Static) and key.value is Ellipsis)
            if whole and not numbers.scalar_type(owner.operand).weak:
                return owner  # a NumPy scalar is an array without axes
        case NamedTuple(cls=cls, record=record) if issubclass(cls, tuple):
            return arrays.item_of(lo, TupleOf(record.items), node)
        case DictRef():
            key = key_of(lo, expressions.lower_expr(lo, node.slice), node.slice)
            found = lo.record(owner).get(key)
            if found is None:
                numbers.check(lo, Literal(False, BOOL), "KeyError", expressions.escaped(repr(key)))
            assert found is not None
            return found
        case Static(value=value) if grids.is_grid(value):
            return grids.grid(lo, value, node)
        case Static(value=value) if isinstance(value, str):
            part = expressions.lower_expr(lo, node.slice)
            return Static(value[arguments.constant_int(lo, part, node, "an index of a string")])
        case Static(value=value) if objects.is_opaque(value):
            raise objects.refused(lo, value, node)
        case Static(value=value) if isinstance(value, types.MappingProxyType):
            key = key_of(lo, expressions.lower_expr(lo, node.slice), node.slice)
            try:
                return static(value[key])
            except (KeyError, IndexError, TypeError) as error:
                raise TypeMismatchError(f"{type(error).__name__}: {error}", lo.span(node)) from None
        case Static(value=value) if isinstance(value, type) and issubclass(value, enum.Enum):
            return Static(value[key_of(lo, expressions.lower_expr(lo, node.slice), node.slice)])
    raise TypeMismatchError(f"indexing {kind_of(owner)}", lo.span(node))


def _position(lo: Lowerer, items: Sequence[Binding], key: Binding, node: ast.AST) -> int:
    k = arguments.constant_int(lo, key, node, "an index of a list that is changed")
    if not -len(items) <= k < len(items):
        numbers.check(lo, Literal(False, BOOL), "IndexError", "list assignment index out of range")
    return k % len(items)


def _put(
    lo: Lowerer, items: list[Binding], key: Binding, value: Binding, node: ast.AST
) -> None:  # fmt: skip
    """Store into a list: numbers at any index, other things at constant ones."""
    index = key.operand if isinstance(key, Num) else None
    if index is None or isinstance(index, Literal) or index.type.kind not in "iu":
        items[_position(lo, items, key, node)] = value
        return
    everything = [*items, value]
    if not all(isinstance(x, Num) and control.joinable(x, value) for x in everything):
        items[_position(lo, items, key, node)] = value  # which refuses
        return
    size = integer(len(items))
    wrapped = lo.builder.apply("wrap", lo.convert(index, INT), size, hint="i")
    inside = numbers.apply(lo, "inside", wrapped, size)
    numbers.check(lo, inside, "IndexError", "list assignment index out of range")
    for k, item in enumerate(items):
        assert isinstance(item, Num)
        assert isinstance(value, Num)
        ty = join(item.operand.type, value.operand.type)  # type: ignore[arg-type]  # numbers
        here = lo.builder.apply("eq", wrapped, integer(k))
        chosen = (lo.exact(x.operand, ty) for x in (value, item))
        items[k] = Num(numbers.select(lo, here, *chosen))


def set_item(lo: Lowerer, owner: Binding, node: ast.Subscript, value: Binding) -> None:
    """Lower ``owner[key] = value`` for a list, a dict or an instance."""
    if special.set_item(lo, owner, node, value):
        return
    match owner:
        case ListRef() if isinstance(lo.held(owner), Growing):
            key = expressions.lower_expr(lo, node.slice)
            growing.set_item(lo, owner, key, value, node)
        case ListRef():
            items = list(lo.contents(owner))
            if isinstance(node.slice, ast.Slice):
                new = arguments.sequence(lo, value)
                if new is None:
                    raise TypeMismatchError("can only assign an iterable", lo.span(node))
                items[expressions.static_slice(lo, node.slice)] = new
            else:
                key = expressions.lower_expr(lo, node.slice)
                _put(lo, items, key, value, node)
            lo.hold(owner, TupleOf(tuple(items)))
        case DictRef():
            key = key_of(lo, expressions.lower_expr(lo, node.slice), node.slice)
            lo.hold(owner, lo.record(owner).with_item(key, value))
        case TupleOf() | NamedTuple():
            raise TypeMismatchError("a tuple cannot be changed", lo.span(node))
        case _:
            raise TypeMismatchError(f"storing into {kind_of(owner)}", lo.span(node))


def augment_item(lo: Lowerer, owner: Binding, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    """Lower ``owner[key] op= value`` for a list, a dict or an instance."""
    if special.augment_item(lo, owner, stmt, node):
        return
    if not isinstance(owner, ListRef | DictRef):
        set_item(lo, owner, node, NONE)
        return
    key = expressions.lower_expr(lo, node.slice)
    old: Binding | None
    held = lo.held(owner)
    if isinstance(owner, ListRef) and isinstance(held, Growing):
        at = Num(growing.place(lo, held, key, node))
        old = growing.read(lo, held, at.operand, node)
        growing.set_item(lo, owner, at, expressions.augmented(lo, old, stmt), node)
        return
    if isinstance(owner, ListRef):
        old = arrays.element_of(lo, lo.contents(owner), key, node)
    else:
        name = key_of(lo, key, node.slice)
        old = lo.record(owner).get(name)
        if old is None:
            numbers.check(lo, Literal(False, BOOL), "KeyError", expressions.escaped(repr(name)))
    assert old is not None
    new = expressions.augmented(lo, old, stmt)
    if isinstance(owner, ListRef):
        items = list(lo.contents(owner))
        _put(lo, items, key, new, node)
        lo.hold(owner, TupleOf(tuple(items)))
    else:
        lo.hold(owner, lo.record(owner).with_item(name, new))


def delete_item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> None:
    """Lower ``del owner[key]``."""
    if special.delete_item(lo, owner, node):
        return
    key = expressions.lower_expr(lo, node.slice)
    match owner:
        case ListRef():
            items = list(lo.contents(owner))
            del items[_position(lo, items, key, node)]
            lo.hold(owner, TupleOf(tuple(items)))
        case DictRef():
            name = key_of(lo, key, node.slice)
            record = lo.record(owner)
            if record.get(name) is None:
                numbers.check(lo, Literal(False, BOOL), "KeyError", expressions.escaped(repr(name)))
            lo.hold(owner, record.without(name))
        case _:
            raise lo.unsupported(f"`del` of an element of {kind_of(owner)}", node)


# -- methods ---------------------------------------------------------------------------------------


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of a list, tuple or dict."""
    owner = bound.owner
    if isinstance(owner, ListRef) and bound.name == "append" and len(args) == 1 and not kwargs:
        growing.append(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and bound.name == "extend" and len(args) == 1 and not kwargs:
        growing.extend(lo, owner, args[0], node)
        return NONE
    if isinstance(owner, ListRef) and isinstance(held := lo.held(owner), Growing) and not kwargs:
        return growing.method(lo, owner, held, bound.name, args, node)
    if isinstance(owner, ListRef | TupleOf):
        return _sequence_method(lo, owner, bound.name, args, kwargs, node)
    assert isinstance(owner, DictRef)
    return _dict_method(lo, owner, bound.name, args, kwargs, node)


def _sequence_method(
    lo: Lowerer, owner: ListRef | TupleOf, name: str, args: list[Binding],
    kwargs: dict[str, Binding], node: ast.Call,
) -> Binding:  # fmt: skip
    items = list(owner.items if isinstance(owner, TupleOf) else lo.contents(owner))
    given = [*args]
    if kwargs:
        raise lo.unsupported(f"`.{name}` with keywords", node)
    match name, given:
        case "index", [value]:
            result: Operand = integer(len(items))
            for k in reversed(range(len(items))):
                equal = operators.same_or_equal(lo, items[k], value, node)
                if isinstance(equal, Literal):
                    result = integer(k) if equal.value else result
                else:
                    result = numbers.select(lo, equal, integer(k), result)
            found = numbers.apply(lo, "lt", result, integer(len(items)))
            numbers.check(lo, found, "ValueError", "the value is not in the list")
            return Num(result)
        case "count", [value]:
            total: Binding = Num(integer(0))
            for element in items:
                equal = operators.same_or_equal(lo, element, value, node)
                total = operators.binary(lo, ast.Add, total, Num(equal), node)
            return total
        case "copy", []:
            return lo.new_ref(ListRef, TupleOf(tuple(items)))
    if isinstance(owner, TupleOf):
        raise lo.unsupported(f"`.{name}` of a tuple", node)
    outcome: Binding = NONE
    match name, given:
        case "append", [value]:
            items.append(value)
        case "insert", [at, value]:
            items.insert(arguments.constant_int(lo, at, node, "a position"), value)
        case "pop", [] | [_]:
            at = given[0] if given else Num(integer(-1))
            if not items:
                numbers.check(lo, Literal(False, BOOL), "IndexError", "pop from empty list")
            outcome = items.pop(_position(lo, items, at, node))
        case "reverse", []:
            items.reverse()
        case "clear", []:
            items.clear()
        case _:
            raise lo.unsupported(f"`.{name}` of a list with these arguments", node)
    lo.hold(owner, TupleOf(tuple(items)))
    return outcome


def _dict_method(
    lo: Lowerer, owner: DictRef, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    record = lo.record(owner)
    match name, args:
        case "keys", []:
            return TupleOf(tuple(static(key) for key in record.keys))
        case "values" | "items", []:
            return DictView(owner, name)
        case "get" | "pop" | "setdefault", [key, *default] if len(default) <= 1:
            wanted = key_of(lo, key, node)
            found = record.get(wanted)
            if name == "pop" and found is not None:
                lo.hold(owner, record.without(wanted))
            if found is None and name == "setdefault":
                found = default[0] if default else NONE
                lo.hold(owner, record.with_item(wanted, found))
            if found is None and name == "pop" and not default:
                text = expressions.escaped(repr(wanted))
                numbers.check(lo, Literal(False, BOOL), "KeyError", text)
            return found if found is not None else default[0] if default else NONE
        case "update", [] | [DictRef()]:
            for other in args:
                assert isinstance(other, DictRef)
                more = lo.record(other)
                for key, value in zip(more.keys, more.items, strict=True):
                    record = record.with_item(key, value)
            for name_, given in kwargs.items():
                record = record.with_item(name_, given)
            lo.hold(owner, record)
            return NONE
        case "copy", []:
            return lo.new_ref(DictRef, record)
        case "clear", []:
            lo.hold(owner, RecordOf((), ()))
            return NONE
    raise lo.unsupported(f"`.{name}` of a dict with these arguments", node)


def attribute(lo: Lowerer, owner: Binding, name: str, node: ast.expr) -> Binding | None:
    """Lower an attribute of a container or an instance; None if it has none of that name."""
    match owner:
        case ListRef() if name in LIST_METHODS:
            return Bound(owner, name)
        case TupleOf() if name in ("index", "count"):
            return Bound(owner, name)
        case DictRef() if name in DICT_METHODS:
            return Bound(owner, name)
        case NamedTuple() if draws.is_generator(owner):
            return draws.attribute(lo, owner, name, node)
        case NamedTuple() | ObjectRef():
            return objects.attribute(lo, owner, name, node)
    return None


# -- iteration -------------------------------------------------------------------------------------


def static_items(lo: Lowerer, iterable: Binding) -> list[Binding] | None:
    """Return the elements of an iterable whose length is part of the program, or None."""
    match iterable:
        case TupleOf(items=items):
            return list(items)
        case ListRef():
            return None if isinstance(lo.held(iterable), Growing) else list(lo.contents(iterable))
        case DictRef():
            return [static(key) for key in lo.record(iterable).keys]
        case DictView(ref=ref, name=name):
            record = lo.record(ref)
            if name == "values":
                return list(record.items)
            pairs = zip(record.keys, record.items, strict=True)
            return [TupleOf((static(key), value)) for key, value in pairs]
        case NamedTuple(cls=cls, record=record) if issubclass(cls, tuple):
            if special.find(lo, iterable, "__iter__") is not None:
                raise UnsupportedError(
                    f"`__iter__` of {kind_of(iterable)} is not supported", lo.builder.loc
                )
            return list(record.items)
        case Static(value=value) if isinstance(value, str):
            return [Static(letter) for letter in value]
        case Static(value=value) if isinstance(value, type) and issubclass(value, enum.Enum):
            return [Static(member) for member in value]
        case Static(value=value) if objects.is_opaque(value):
            raise objects.refused(lo, value)
        case Enumerate(inner=inner, start=Num(operand=Literal(value=start))):
            found = static_items(lo, inner)
            if found is None:
                return None
            return [TupleOf((Num(integer(int(start) + k)), x)) for k, x in enumerate(found)]
        case Reversed(inner=inner):
            found = static_items(lo, inner)
            return None if found is None else found[::-1]
        case Zip(inners=inners):
            parts = [static_items(lo, inner) for inner in inners]
            if all(part is not None for part in parts):
                rows = zip(*(part or [] for part in parts), strict=False)
                return [TupleOf(row) for row in rows]
    return None


def next_item(lo: Lowerer, iterable: Binding, k: int, count: int, node: ast.AST) -> Binding | None:
    """Return the k-th element of an iterable, or None after the last.

    Lists and dicts are read when a loop comes to the element; `count` is how many elements there
    were when it began.
    """
    items = static_items(lo, iterable)
    if items is None or (len(items) != count and _keeps_length(iterable)):
        raise lo.unsupported(
            "a container that changes its length while a loop is over it",
            node,
            "loop over a copy, such as `list(...)`",
        )
    if k > numbers.MAX_TUPLE:
        raise lo.unsupported("a loop over a list that grows in it without end", node)
    return items[k] if k < len(items) else None


def _keeps_length(iterable: Binding) -> bool:
    """Whether a loop over it goes wrong in Python, too, if the length changes."""
    match iterable:
        case DictRef() | DictView() | Reversed():
            return True
        case Enumerate(inner=inner):
            return _keeps_length(inner)
        case Zip(inners=inners):
            return any(map(_keeps_length, inners))
    return False


def static_range(iterable: Binding) -> list[Binding] | None:
    """Return the numbers of a range of constants, for where a loop would not do."""
    if isinstance(iterable, Range):
        ends = (iterable.start.operand, iterable.stop.operand, iterable.step.operand)
        if all(isinstance(end, Literal) for end in ends):
            values = range(*(int(end.value) for end in ends))  # type: ignore[union-attr]
            if len(values) <= numbers.MAX_TUPLE:
                return [Num(integer(k)) for k in values]
    return None
