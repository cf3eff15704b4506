"""Dicts and sets: what belongs to a key, keys that are added and removed, methods of dicts.

Keys that are constants, and which of them only some paths set, are in the record of a dict. One
whose keys are known only at run time is a table (`values.keyed`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from adc.frontend.control import evaluation
from adc.frontend.control.branches import branch
from adc.frontend.core import classes, dispatch, names, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    Bound,
    DefaultRef,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    LeftOut,
    ListRef,
    Num,
    ObjectRef,
    OneOf,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    VarsRef,
    Zip,
    counter,
    static,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import ConstantNeededError, Frame, PickedError
from adc.frontend.core.structure import holders, leaves
from adc.frontend.inputs import instances
from adc.frontend.language import containers, dynamic_lists
from adc.frontend.values import comparisons, elementwise, keyed
from adc.frontend.values.growing import list_buffers, list_elements, pools
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.text import raising
from adc.ir.types import BOOL
from adc.library.standard import tables

_NO_TABLE = "use an array indexed by the number"


def item_of_dict(lo: Lowerer, owner: DictRef, key: Binding, node: ast.Subscript) -> Binding:
    """Return the value of a key, or what a `defaultdict` has for one that it does not have."""
    value = value_of(lo, owner, key, None, node, node.slice)
    if value is not None:
        return value
    there, read = looked_up(lo, owner, key, node.slice)

    def missing() -> Binding:
        if not isinstance(owner, DefaultRef) or owner.factory == NONE:
            require_key(lo, Literal(False, BOOL), key)
        assert isinstance(owner, DefaultRef)
        call = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), node)
        made = dispatch.apply(lo, owner.factory, [], {}, call)
        made = elementwise.materialised(lo, made, node)
        pools.enter(lo, made, node)
        if owner.keeps:
            put(lo, owner, key, made, node.slice)
        return made

    if isinstance(owner, DefaultRef) and owner.factory != NONE:
        return evaluation.either(lo, there, read, missing, node)
    with lo.at(node):
        require_key(lo, there, key)
    found = read()
    return names.usable(lo, found, ast.unparse(node), node) if isinstance(found, LeftOut) else found


def looked_up(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST
) -> tuple[Operand, Callable[[], Binding]]:
    """Return whether a dict has a key, and what gives its value there."""
    held = lo.held(owner)
    if isinstance(held, RecordOf):
        held = tabled(lo, owner, key, node, None) or held
    if isinstance(held, Growing):
        with lo.at(node):
            at = keyed.position(lo, held, key, node)
            there = numbers.apply(lo, "ge", at, integer(0))

        def read() -> Binding:
            now = lo.held(owner)
            assert isinstance(now, Growing)
            return dynamic_lists.element(lo, owner, keyed.column(now, 1), at, node)

        return there, read
    record = lo.entries(owner)
    rows = None if keyed.is_known(key) else containers.rows_of(lo, record.items)
    may_be = rows is not None and keyed.is_key(key) and not isinstance(owner, DefaultRef)
    if may_be and lo.shared.admits_table(lo.span(node), "a key", _NO_TABLE):
        assert rows is not None
        return _row_of_dict(lo, record, rows, key, node)
    if not record.keys and keyed.is_key(key):
        found, there = None, Literal(False, BOOL)
    else:
        found, there = keyed.entry(record, key_of(lo, key, node))

    def value() -> Binding:
        assert found is not None
        return found

    return there, value


def _row_of_dict(
    lo: Lowerer, record: RecordOf, rows: Growing, key: Binding, node: ast.AST
) -> tuple[Operand, Callable[[], Binding]]:
    """Return whether a dict of lists has a key known only at run time, and what gives the list."""
    here = [comparisons.same_or_equal(lo, key, static(each), node) for each in record.keys]
    there = functools.reduce(functools.partial(numbers.apply, lo, "or"), here)
    at = containers.selected(lo, [Num(integer(k)) for k in range(len(here))], here, node)
    assert isinstance(at, Num)
    return there, lambda: containers.row_at(lo, record.items, rows, at.operand, node)


def tabled(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST, value: Binding | None
) -> Growing | None:
    """Return the contents of a dict as a table, if a key is known only at run time; else None.

    `value` is what belongs to the key from now on; None where it is only looked up.
    """
    if keyed.is_known(key):
        return None
    if not keyed.is_key(key):
        if isinstance(owner, SetRef):
            raise lo.unsupported(
                f"a set that holds {kind_of(key)}", node,
                "members known only at run time are integers, or tuples of integers; use a list",
            )  # fmt: skip
        return None
    what = "a member of a set" if isinstance(owner, SetRef) else "a key"
    for number in leaves(key):
        error = lo.constant_needed(number, what, node)
        if isinstance(error, ConstantNeededError):
            raise error
    span = lo.span(node)
    record = lo.entries(owner)
    element = None if value is None else list_elements.element_of(lo, keyed.pair(owner, key, value))
    if value is not None and element is None:
        raise PickedError(
            f"{what} known only at run time is not supported for a dict that holds "
            f"{kind_of(value)}", span, "store numbers, arrays, or tuples of them",
        )  # fmt: skip
    whole = list_buffers.common(lo, [record], element)
    if value is not None and whole is None and any(map(_is_none, record.items)):
        raise PickedError(
            f"{what} known only at run time is not supported for a dict of None and "
            f"{kind_of(value)}", span, "store values of one kind, such as -1 for None",
        )  # fmt: skip
    if record.keys and (whole is None or (value is None and owner.slot in lo.places)):
        return None
    if not lo.shared.admits_table(span, what, _NO_TABLE) or whole is None:
        return None  # or nothing is there yet
    made = list_buffers.grown(lo, record, whole, node)
    assert isinstance(made, Growing)
    list_buffers.note_appended(lo, owner.slot, made.element)
    lo.hold(owner, made)
    return made


def _is_none(item: Binding) -> bool:
    """Whether None is what belongs to a key."""
    found = keyed.present(item)[0]
    return isinstance(found, Static) and found.value is None


def put(lo: Lowerer, owner: DictRef, key: Binding, value: Binding, node: ast.AST) -> None:
    """Lower ``owner[key] = value``, and ``owner.add(key)`` of a set."""
    if isinstance(owner, SetRef) and (members := _members(lo, owner, key)) is not None:
        there = comparisons.compare(lo, ast.In(), key, members, node)

        def add() -> None:
            dispatch.apply(lo, Bound(members, "append"), [key], {}, classes.call_at(node))

        branch(lo, there, lambda: None, add)
        return
    held = lo.held(owner)
    if isinstance(held, RecordOf):
        held = tabled(lo, owner, key, node, value) or held
    if isinstance(held, Growing):
        _put_in_table(lo, owner, key, value, node)
        return
    name = key_of(lo, key, node)
    if pools.set_item(lo, owner, name, value, node):
        return
    record = lo.entries(owner)
    if isinstance(owner, SetRef):
        known = dict(zip(record.keys, keyed.flags(record), strict=True))
        if known.get(name) != Literal(True, BOOL):
            lo.hold(owner, keyed.members({**known, name: Literal(True, BOOL)}))
        return
    there = keyed.entry(record, name)[1]
    if isinstance(there, Literal) or record.keys[-1] == name:
        lo.hold(owner, record.with_item(name, value))
        return
    # Where it is not there yet, it comes after the others from now on.
    branch(
        lo, there,
        lambda: lo.hold(owner, lo.entries(owner).with_item(name, value)),
        lambda: lo.hold(owner, lo.entries(owner).without(name).with_item(name, value)),
    )  # fmt: skip


def _members(lo: Lowerer, owner: SetRef, key: Binding) -> ListRef | None:
    """Return the list of the members of a set to which an object is added; None for others."""
    items = key.items if isinstance(key, OneOf) else (key,)
    if not all(isinstance(item, ObjectRef) and _by_identity(item.cls) for item in items):
        return None
    if lo.held(owner) == RecordOf((), ()):
        lo.hold(owner, TupleOf(()))
    return keyed.members_of(lo, owner)


def _by_identity(cls: type) -> bool:
    """Whether the objects of a class are equal if they are one, as they are by default."""
    return all(classes.in_class(cls, name) is getattr(object, name) for name in _EQUALITY)


_EQUALITY = ("__eq__", "__hash__")


def _put_in_table(lo: Lowerer, owner: DictRef, key: Binding, value: Binding, node: ast.AST) -> None:
    rows, pair = ListRef(owner.slot), keyed.pair(owner, key, value)
    if list_elements.element_of(lo, pair) is None:
        raise lo.unsupported(
            f"{kind_of(value)} in a dict with keys known only at run time", node,
            "store numbers, arrays, or tuples of them",
        )  # fmt: skip
    held = lo.held(owner)
    assert isinstance(held, Growing)
    with lo.at(node):
        at = keyed.position(lo, held, key, node)
        lo.hold(owner, list_buffers.accepting(lo, rows, pair, node))
        there = numbers.apply(lo, "ge", at, integer(0))

        def replace_value() -> None:
            if not isinstance(owner, SetRef):
                dynamic_lists.set_item(lo, rows, Num(at), pair, node)

        def add() -> None:
            if is_looped_over(lo, owner):
                text = (
                    "adc: a key is added to a dict while a loop iterates over it; loop over a copy"
                )
                numbers.check(lo, Literal(False, BOOL), LimitError.__name__, text)
            dynamic_lists.append(lo, rows, pair, node)

        branch(lo, there, replace_value, add)


def remove(
    lo: Lowerer, owner: DictRef, key: Binding, node: ast.AST, default: Binding | None = None
) -> Binding:
    """Lower ``del owner[key]``, and what is like it; return what belonged to the key.

    Without a `default`, the key must be there.
    """
    _require_not_looped_over(lo, owner, node)
    if (members := keyed.members_of(lo, owner)) is not None:
        return _removed(lo, members, key, node, default)
    there, read = looked_up(lo, owner, key, node)
    held = lo.held(owner)

    def taken() -> Binding:
        found = NONE if isinstance(owner, SetRef) else read()
        if isinstance(held, Growing):
            now = lo.held(owner)
            assert isinstance(now, Growing)
            at = keyed.position(lo, now, key, node)
            # The element is a copy: its row is another one's from now on.
            found = dynamic_lists.remove_at(lo, ListRef(owner.slot), now, Num(at), node, "del")
            assert isinstance(found, TupleOf)
            found = found.items[1]
        else:
            lo.hold(owner, lo.entries(owner).without(key_of(lo, key, node)))
        return found

    if isinstance(owner, SetRef):
        lo.note_removal(owner.slot)
    if default is None:
        with lo.at(node):
            require_key(lo, there, key)
        return taken()
    return evaluation.either(lo, there, taken, lambda: default, node)


def _removed(
    lo: Lowerer, members: ListRef, key: Binding, node: ast.AST, default: Binding | None
) -> Binding:
    """Take an object out of a set of objects, in which it must be without a `default`."""
    there = comparisons.compare(lo, ast.In(), key, members, node)
    if default is None:
        with lo.at(node):
            text = "adc: an object is removed from a set that does not have it"
            numbers.check(lo, there, LimitError.__name__, text)

    def taken() -> Binding:
        call = classes.call_at(node)
        return dispatch.apply(lo, Bound(members, "remove"), [key], {}, call)

    return evaluation.either(lo, there, taken, lambda: NONE, node)


def as_tables(lo: Lowerer, iterable: Binding, node: ast.AST) -> Binding:
    """Return an iterable with dicts as tables, where the path decides which keys there are."""
    match iterable:
        case Enumerate(inner=inner):
            made = as_tables(lo, inner, node)
            return iterable if made is inner else replace(iterable, inner=made)
        case Zip(inners=inners):
            found = [as_tables(lo, inner, node) for inner in inners]
            same = all(a is b for a, b in zip(found, inners, strict=True))
            return iterable if same else Zip(tuple(found))
        case (DictRef() as ref) | DictView(ref=ref) if not isinstance(ref, SetRef):
            held = lo.held(ref)
            if isinstance(held, RecordOf) and not keyed.is_static(lo, ref):
                record = lo.entries(ref)
                whole = list_buffers.common(lo, [record])
                if whole is None:
                    return keyed.listed(lo, iterable, node)  # if it may be one
                list_buffers.note_appended(lo, ref.slot, whole)
                lo.hold(ref, list_buffers.grown(lo, record, whole, node))
    return iterable


def is_looped_over(lo: Lowerer, ref: DictRef) -> bool:
    """Whether a loop iterates over a dict or a set now, here or in a function that calls this."""
    frame: Frame | None = lo.frame
    while frame is not None:
        if any(name.startswith("$over") for name in holders(frame.env, ref.slot)):
            return True
        frame = frame.caller
    return False


def _require_not_looped_over(lo: Lowerer, ref: DictRef, node: ast.AST) -> None:
    """Refuse to take keys out of a dict that a loop is over: Python would mostly raise."""
    if is_looped_over(lo, ref):
        raise lo.unsupported(
            f"removing an element of {kind_of(ref)} while a loop iterates over it", node,
            "loop over a copy, such as `list(...)`",
        )  # fmt: skip


def require_key(lo: Lowerer, known: Operand, key: Binding) -> None:
    """Check that a dict has a key: a constant, or a number known only at run time."""
    operands: tuple[Operand, ...] = ()
    match key:
        case Num(operand=operand):
            argument, operands = raising.Argument("{}", number=True), (operand,)
        case TupleOf() if not keyed.is_known(key):
            operands = tuple(number.operand for number in leaves(key) if isinstance(number, Num))
            argument = raising.Argument(_template(key), number=True)
        case _:
            constant = key_of(lo, key, lo.frame.source.node)
            text = constant if isinstance(constant, str) else repr(constant)
            plain = False if isinstance(constant, str) else instances.is_literal(constant) or None
            argument = raising.Argument(numbers.escaped(text), number=plain)
    numbers.check(lo, known, "KeyError", raising.message_of([argument]), *operands)


def _template(key: Binding) -> str:
    """Return the text of a tuple of numbers."""
    if not isinstance(key, TupleOf):
        return "{}"
    return f"({', '.join(map(_template, key.items))}{',' * (len(key.items) == 1)})"


def value_of(
    lo: Lowerer, owner: DictRef, key: Binding, default: Binding | None, node: ast.AST, at: ast.AST
) -> Binding | None:
    """Return the value of a key, which stands `at`; None where it is to be a constant.

    Of a key that is known only at run time if all keys and values are numbers.
    """
    held = lo.held(owner)
    if not isinstance(held, RecordOf):
        return None
    record = lo.entries(owner)
    found = [keyed.present(item)[0] for item in record.items]
    values = [value for value in (*found, default) if value is not None]
    if not isinstance(key, Num) or isinstance(key.operand, Literal) or key.operand.type.kind == "c":
        return None
    if isinstance(owner, DefaultRef) or not all(isinstance(value, Num) for value in values):
        return None
    if not record.keys or not all(isinstance(each, int | float) for each in record.keys):
        return None
    if isinstance(lo.constant_needed(key, "a key", at), ConstantNeededError):
        return None
    with lo.at(node):
        here = [
            numbers.apply(
                lo,
                "and",
                there,
                numbers.compare_numbers(lo, "eq", key.operand, lo.num(each).operand, at),
            )
            for each, there in zip(record.keys, keyed.flags(record), strict=True)
        ]
        if default is None:
            known = functools.reduce(functools.partial(numbers.apply, lo, "or"), here)
            require_key(lo, known, key)
        return containers.selected(lo, values, here, node)


def key_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Any:
    """Return a key of a dict: a constant of the program."""
    dispatch.require_one([binding], node)
    match binding:
        case Num(operand=Literal(value=value)):
            return value
        case Static(value=value):
            outside.pin(lo, binding)
            try:
                hash(value)
            except TypeError:
                raise TypeMismatchError(
                    f"{kind_of(binding)} cannot be a key", lo.span(node)
                ) from None
            return value
        case TupleOf(items=items):
            return tuple(key_of(lo, item, node) for item in items)
        case Num():
            error = lo.constant_needed(binding, "a key", node)
            if isinstance(error, ConstantNeededError):
                raise error
        case ObjectRef():
            raise lo.unsupported(
                f"{kind_of(binding)} as a key", node,
                "use a list of objects, or give them numbers and use these",
            )  # fmt: skip
    raise PickedError("a key known only at run time is not supported", lo.span(node), _NO_TABLE)


def method(
    lo: Lowerer, owner: DictRef, name: str, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    match name, args:
        case "keys" | "values" | "items", []:
            return DictView(owner, name)
        case "get" | "pop" | "setdefault", [key, *default] if len(default) <= 1:
            if name == "get" and default:
                value = value_of(lo, owner, key, default[0], node, node)
                if value is not None:
                    return value
            if is_counter(owner) and name == "setdefault":
                raise lo.unsupported(f"`.{name}` of {kind_of(owner)}", node)
            if name == "pop":
                return remove(lo, owner, key, node, default[0] if default else None)
            other = default[0] if default else NONE

            def added() -> Binding:
                if name == "setdefault":
                    put(lo, owner, key, other, node)
                return other

            there, read = looked_up(lo, owner, key, node)
            return evaluation.either(lo, there, read, added, node)
        case "update" | "subtract", [] | [_] if is_counter(owner):
            by = lo.num(1 if name == "update" else -1)
            named = [lo.new_ref(DictRef, RecordOf(tuple(kwargs), tuple(kwargs.values())))]
            for other in (*args, *(named if kwargs else ())):
                is_dict = isinstance(other, DictRef) and not isinstance(other, SetRef)
                fn = tables.add if is_dict else tables.count
                dispatch.apply(lo, Static(fn), [owner, other, by], {}, node)
            return NONE
        case "total" | "most_common", _ if is_counter(owner):
            return dispatch.apply(
                lo, Static(getattr(tables, name)), [owner, *args], kwargs, node
            )  # fmt: skip
        case "update", [] | [_]:
            for other in args:
                if not isinstance(other, DictRef):
                    other = dispatch.apply(lo, Static(dict), [other], {}, node)
                update(lo, owner, other, node)
            for name_, given in kwargs.items():
                put(lo, owner, Static(name_), given, node)
            return NONE
        case "copy", []:
            return copied(lo, owner, node)
        case "clear", []:
            cleared(lo, owner, node)
            return NONE
    raise lo.unsupported(f"`.{name}` of {kind_of(owner)} with these arguments", node)


def cleared(lo: Lowerer, owner: DictRef, node: ast.AST) -> None:
    """Lower ``owner.clear()`` of a dict or a set."""
    _require_not_looped_over(lo, owner, node)
    held = lo.held(owner)
    if isinstance(held, Growing):
        dynamic_lists.method(lo, ListRef(owner.slot), held, "clear", [], node)
    else:
        lo.hold(owner, RecordOf((), ()))


def copied(lo: Lowerer, owner: DictRef, node: ast.AST) -> DictRef:
    """Return a new dict or set with the same items."""
    held = lo.held(owner)
    if isinstance(held, Growing):
        held = lo.held(dynamic_lists.copied(lo, held, node))
    like = DictRef(owner.slot) if isinstance(owner, VarsRef) else owner
    made = lo.new_ref(lambda slot: replace(like, slot=slot), held)
    list_buffers.inherit_appended(lo, made.slot, owner.slot)
    return made


# -- counters --------------------------------------------------------------------------------------

_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: tables.plus, ast.Sub: tables.minus, ast.BitOr: tables.union,
    ast.BitAnd: tables.intersection,
}  # fmt: skip


def is_counter(binding: Binding) -> bool:
    return isinstance(binding, DefaultRef) and not binding.keeps


@operates(DefaultRef)
def counted(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> DictRef:
    """Lower an operator on two counters."""
    if kind not in _OPERATORS or not (is_counter(left) and is_counter(right)):
        raise TypeMismatchError(
            f"`{numbers.SIGNS[numbers.ROWS[kind]]}` is not defined for {kind_of(left)} and "
            f"{kind_of(right)}", lo.span(node),
        )  # fmt: skip
    made = lo.new_ref(counter, RecordOf((), ()))
    call = classes.call_at(node)
    dispatch.apply(lo, Static(_OPERATORS[kind]), [made, left, right], {}, call)
    return made


def count_in_place(
    lo: Lowerer, kind: type[ast.AST], old: DefaultRef, value: Binding, node: ast.AST
) -> None:
    """Lower ``old op= value`` of two counters: other names of the first see it, too."""
    _require_not_looped_over(lo, old, node)
    lo.hold(old, lo.held(counted(lo, kind, old, value, node)))


def update(lo: Lowerer, owner: DictRef, other: Binding, node: ast.AST) -> None:
    """Lower ``owner.update(other)`` of dicts."""
    if isinstance(other, SetRef):
        raise TypeMismatchError("cannot convert a set to the items of a dict", lo.span(node))
    assert isinstance(other, DictRef)
    if isinstance(lo.held(other), Growing):
        call = classes.call_at(node)
        dispatch.apply(lo, Static(tables.update), [owner, other], {}, call)
        return
    more = lo.entries(other)
    for key, item in zip(more.keys, more.items, strict=True):
        value, there = keyed.present(item)
        assert value is not None  # or it would be no item
        add = functools.partial(put, lo, owner, static(key), value, node)
        branch(lo, there, add, lambda: None)
