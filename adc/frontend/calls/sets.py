"""Sets: construction, methods and operators.

Of two sets whose members are known when the program is compiled, the result has for each member a
flag, which is a constant unless the path decides. With members known only at run time, the code
that runs is `adc.library.standard.tables`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    DictView,
    Growing,
    ListRef,
    Num,
    ObjectRef,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.language import dicts
from adc.frontend.values import arguments, elementwise, keyed, sequences
from adc.frontend.values.growing import list_buffers
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.types import BOOL
from adc.library.standard import tables

Flags = Callable[[Lowerer, Operand, Operand], Operand]


def _flag(name: str) -> Flags:
    return lambda lo, a, b: numbers.apply(lo, name, a, b)


def _without(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return numbers.apply(lo, "and", a, numbers.apply(lo, "not", b))


# For each operator: whether an element is in the result, by whether it is in each of the two.
_OPERATORS: dict[type[ast.AST], Flags] = {
    ast.BitAnd: _flag("and"), ast.BitOr: _flag("or"), ast.BitXor: _flag("ne"), ast.Sub: _without,
}  # fmt: skip
# The methods that do so, and those that change the set.
_METHODS: dict[str, type[ast.AST]] = {
    "intersection": ast.BitAnd, "union": ast.BitOr, "symmetric_difference": ast.BitXor,
    "difference": ast.Sub,
}  # fmt: skip
_CHANGING: dict[str, type[ast.AST]] = {
    "intersection_update": ast.BitAnd, "update": ast.BitOr,
    "symmetric_difference_update": ast.BitXor, "difference_update": ast.Sub,
}  # fmt: skip


@operates(SetRef, DictView)
def combined(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower an operator on two sets."""
    left, right = (keyed.as_set(lo, side) for side in (left, right))
    are_sets = all(
        isinstance(side, SetRef) or keyed.of_set(lo, side) is not None for side in (left, right)
    )
    if not are_sets or kind not in _OPERATORS:
        raise TypeMismatchError(
            f"`{numbers.SIGNS[numbers.ROWS[kind]]}` is not defined for {kind_of(left)} and "
            f"{kind_of(right)}", lo.span(node),
        )  # fmt: skip
    made = _combined(lo, kind, left, right, node)
    return made if isinstance(left, SetRef) else _frozen(lo, made, node)


def _frozen(lo: Lowerer, made: SetRef, node: ast.AST) -> Binding:
    """Return a frozenset of the elements of a set, which are constants."""
    known = keyed.frozen(lo, made)
    if known is None:
        what = "a frozenset whose elements are known only at run time"
        raise lo.unsupported(what, node, "make it a set: `set(...)`")
    return known


def _combined(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> SetRef:
    if kind is ast.BitOr and any(keyed.members_of(lo, side) is not None for side in (left, right)):
        united = _made(lo, left, node)
        method(lo, united, "update", [right], {}, classes.call_at(node))
        return united
    mine, others = keyed.of_set(lo, left), keyed.of_set(lo, right)
    if isinstance(mine, RecordOf) and isinstance(others, RecordOf):
        flag = _OPERATORS[kind]
        every = dict.fromkeys([*mine.keys, *others.keys])
        found = {
            key: flag(lo, keyed.entry(mine, key)[1], keyed.entry(others, key)[1]) for key in every
        }
        return lo.new_ref(SetRef, keyed.members(found))
    table = mine if isinstance(mine, Growing) else others
    assert isinstance(table, Growing)
    made = lo.new_ref(SetRef, list_buffers.converted(lo, [], table.element, node))
    list_buffers.note_appended(lo, made.slot, table.element)
    first, second = (keyed.elements(lo, side, node) for side in (left, right))
    if kind is ast.BitOr:
        _run(lo, tables.add_all, [made, first], node)
        _run(lo, tables.add_all, [made, second], node)
        return made
    inside = Num(Literal(kind is ast.BitAnd, BOOL))
    _run(lo, tables.keep, [made, first, right, inside], node)
    if kind is ast.BitXor:
        _run(lo, tables.keep, [made, second, left, inside], node)
    return made


def _run(lo: Lowerer, fn: Any, args: list[Binding], node: ast.AST) -> None:
    dispatch.apply(lo, Static(fn), args, {}, classes.call_at(node))


def _as_set(lo: Lowerer, given: Binding, node: ast.AST) -> Binding:
    """Return a set of the elements of an iterable, which a method takes in place of a set."""
    return given if keyed.of_set(lo, given) is not None else _made(lo, given, node)


def made(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower ``set(iterable)``."""
    arguments.arity(lo, args, kwargs, node, 0, 1)
    return _made(lo, args[0], node) if args else lo.new_ref(SetRef, RecordOf((), ()))


def _made(lo: Lowerer, given: Binding, node: ast.AST) -> SetRef:
    if isinstance(given, SetRef):
        found = dicts.copied(lo, given, node)
        assert isinstance(found, SetRef)
        return found
    held = keyed.of_set(lo, given)
    if isinstance(held, RecordOf):
        return lo.new_ref(SetRef, held)
    source = keyed.listed(lo, elementwise.materialised(lo, given, node), node)
    ref = lo.new_ref(SetRef, RecordOf((), ()))
    items = sequences.known_elements(lo, source, node)
    if items is None:
        _run(lo, tables.add_all, [ref, source], node)
    for item in items or ():
        dicts.put(lo, ref, item, NONE, node)
    return ref


def frozen(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower ``frozenset(iterable)``: its elements are constants."""
    found = made(lo, args, kwargs, node)
    assert isinstance(found, SetRef)
    return _frozen(lo, found, node)


def method(
    lo: Lowerer, owner: SetRef, name: str, args: Sequence[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of a method of a set."""
    if kwargs:
        raise TypeMismatchError(f"set.{name}() takes no keyword arguments", lo.span(node))
    match name, args:
        case "add", [value]:
            dicts.put(lo, owner, value, NONE, node)
            return NONE
        case "discard" | "remove", [value]:
            default = NONE if name == "discard" else None
            dicts.remove(lo, owner, value, node, default)
            return NONE
        case "pop", []:
            return _popped(lo, owner, node)
        case "copy", []:
            return dicts.copied(lo, owner, node)
        case "clear", []:
            dicts.cleared(lo, owner, node)
            return NONE
        case "isdisjoint" | "issubset" | "issuperset", [other]:
            mine, others = owner, _as_set(lo, other, node)
            if name == "issuperset":
                return Num(keyed.all_in(lo, others, mine, True, node))
            return Num(keyed.all_in(lo, mine, others, name != "isdisjoint", node))
    if name in _METHODS:
        found = owner
        for other in args:
            found = _combined(lo, _METHODS[name], found, _as_set(lo, other, node), node)
        return found if args else dicts.copied(lo, owner, node)
    if name == "update" and all(isinstance(other, ListRef | TupleOf | SetRef) for other in args):
        parts = [sequences.known_elements(lo, other, node) for other in args]
        items = [item for part in parts for item in part or ()]
        if None not in parts and any(isinstance(item, ObjectRef) for item in items):
            for item in items:
                dicts.put(lo, owner, item, NONE, node)
            return NONE
    if name in _CHANGING:
        for other in args:
            _change(lo, owner, _CHANGING[name], _as_set(lo, other, node), node)
        return NONE
    raise TypeMismatchError(
        f"set.{name}() with {len(args)} argument{'s' * (len(args) != 1)}", lo.span(node)
    )


def _change(lo: Lowerer, owner: SetRef, kind: type[ast.AST], other: Binding, node: ast.AST) -> None:
    """Lower ``owner |= other`` and the like."""
    if kind in (ast.Sub, ast.BitXor):
        lo.note_removal(owner.slot)
    found = _combined(lo, kind, owner, other, node)
    list_buffers.inherit_appended(lo, owner.slot, found.slot)
    lo.hold(owner, lo.held(found))


def _popped(lo: Lowerer, owner: SetRef, node: ast.AST) -> Binding:
    """Lower ``set.pop()`` of a set with one element: which of several it is, no program knows."""
    count = keyed.length(lo, owner)
    with lo.at(node):
        some = numbers.apply(lo, "gt", count, integer(0))
        numbers.check(lo, some, "KeyError", "pop from an empty set")
        if isinstance(count, Literal) and int(count.value) > 1:
            raise lo.unsupported(
                "`pop` of a set with several elements", node,
                "which one Python returns is not part of the program: use a list, or `min(...)` "
                "and `remove`",
            )  # fmt: skip
        few = numbers.apply(lo, "le", count, integer(1))
        text = "adc: `pop` of a set with several elements is not supported"
        numbers.check(lo, few, LimitError.__name__, text)
    lo.note_removal(owner.slot)
    found = keyed.elements(lo, owner, node)
    items = sequences.static_items(lo, found)
    if items is None:
        held = lo.held(found)  # type: ignore[arg-type]  # a list
        assert isinstance(held, Growing)
        value = lo.element(held, integer(0), node)
    else:
        (value,) = items
    dicts.cleared(lo, owner, node)
    return value
