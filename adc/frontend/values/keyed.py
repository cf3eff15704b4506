"""What dicts and sets hold: their keys, which of them are there, and what belongs to a key.

In the record of a dict, a key that only some paths have set has a value that may be absent
(`bindings.Maybe`), so that a question for it is one for a flag. A dict whose keys are known only at
run time is a *table*: a list of pairs whose length is known only at run time (`list_buffers`), in
which a key is found by comparing it with one after the other. Its keys are integers or tuples of
integers. A set is a dict whose values say nothing (`bindings.MEMBER`). One of objects, which are
told apart by identity, holds what a list of them would: `members_of` is that list.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    MEMBER,
    UNSET,
    Binding,
    Cell,
    DictRef,
    DictView,
    Growing,
    ListRef,
    Maybe,
    Num,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    is_unset,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import cells_of, side_by_side
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import UnsupportedError
from adc.ir.types import BOOL
from adc.library.standard import tables

# -- records ---------------------------------------------------------------------------------------


def entry(record: RecordOf, key: object) -> tuple[Binding | None, Operand]:
    """Return what belongs to a key, None if there is nothing, and whether the key is there."""
    return present(record.get(key))


def present(item: Binding | None) -> tuple[Binding | None, Operand]:
    """Return the value in an item of a record, and whether it is there."""
    if item is None or is_unset(item):
        return None, Literal(False, BOOL)
    if isinstance(item, Maybe) and is_unset(item.absent):
        return item.inner, item.some
    return item, Literal(True, BOOL)


def flags(record: RecordOf) -> list[Operand]:
    """Return for each key of a record whether it is there."""
    return [present(item)[1] for item in record.items]


def perhaps(value: Binding, there: Operand) -> Binding:
    """Return the item of a key that is there if a flag says so."""
    if isinstance(there, Literal):
        return value if there.value else UNSET
    return Maybe(value, there, UNSET)


def _rank(key: object) -> tuple[str, str]:
    return type(key).__name__, repr(key)


def members(items: dict[object, Operand]) -> RecordOf:
    """Return the contents of a set, by whether each member is there; in an order of their own.

    Python's order is not part of the program. Here it is one on which all paths agree.
    """
    known = {key: perhaps(MEMBER, items[key]) for key in sorted(items, key=_rank)}
    kept = {key: item for key, item in known.items() if not is_unset(item)}
    return RecordOf(tuple(kept), tuple(kept.values()))


def is_of_set(record: RecordOf) -> bool:
    """Whether a record is that of a set (an empty one may be)."""
    return all(is_unset(item) or present(item)[0] == MEMBER for item in record.items)


def merged(p: RecordOf, q: RecordOf) -> tuple[object, ...] | None:
    """Return the keys of two paths in an order that is that of both; None if there is none."""
    first = {key: type(key) for key in p.keys}
    second = {key: type(key) for key in q.keys}
    shared = [key for key in p.keys if key in second]
    if any(first[key] is not second[key] for key in shared):
        return None
    if is_of_set(p) and is_of_set(q):
        return tuple(sorted({**first, **second}, key=_rank))
    if shared != [key for key in q.keys if key in first]:
        return None
    found: list[object] = []
    rest = list(q.keys)
    for key in p.keys:
        if key in second:
            while rest[0] != key:
                found.append(rest.pop(0))
            rest.pop(0)
        found.append(key)
    return (*found, *rest)


def frozen(lo: Lowerer, ref: SetRef) -> Static | None:
    """Return a set of constants whose members are the same on every path; None for another one."""
    held = lo.held(ref)
    if not isinstance(held, RecordOf):
        return None
    known = flags(held)
    if not all(isinstance(flag, Literal) for flag in known):
        return None
    return Static(frozenset(lo.record(ref).keys))


def is_static(lo: Lowerer, ref: DictRef) -> bool:
    """Whether a dict has the same keys on every path, known when the program is compiled."""
    held = lo.held(ref)
    if not isinstance(held, RecordOf):
        return False
    return all(isinstance(flag, Literal) for flag in flags(lo.entries(ref)))


def members_of(lo: Lowerer, binding: Binding) -> ListRef | None:
    """Return a list that shares the members of a set of objects; None for anything else."""
    if not isinstance(binding, SetRef):
        return None
    held = lo.held(binding)
    in_table = isinstance(held, Growing) and isinstance(held.element, TupleOf)
    return None if isinstance(held, RecordOf) or in_table else ListRef(binding.slot)


# -- tables ----------------------------------------------------------------------------------------


def is_key(key: Binding) -> bool:
    """Whether tables can have a key: an integer, or a tuple of integers."""
    match key:
        case Num(operand=operand, array=False):
            return operand.type.kind in "iu"
        case TupleOf(items=items):
            return bool(items) and all(map(is_key, items))
    return False


def is_known(key: Binding) -> bool:
    """Whether an integer, or a tuple of integers, is known when the program is compiled."""
    match key:
        case Num(operand=operand):
            return isinstance(operand, Literal)
        case TupleOf(items=items):
            return all(map(is_known, items))
    return True


def pair(ref: DictRef, key: Binding, value: Binding) -> TupleOf:
    return TupleOf((key, MEMBER if isinstance(ref, SetRef) else value))


def keys_of(lo: Lowerer, held: Growing) -> ListRef:
    """Return a list of the keys of a table, which is not changed and shares their buffers."""
    return lo.new_ref(ListRef, column(held, 0))


def column(held: Growing, k: int) -> Growing:
    """Return the contents of a list of the keys (0) or the values (1) of a table."""
    assert isinstance(held.element, TupleOf)
    first, second = held.element.items
    count = len(list(cells_of(first)))
    own = held.buffers[:count] if k == 0 else held.buffers[count:]
    return Growing(own, held.length, (first, second)[k])


def position(lo: Lowerer, held: Growing, key: Binding, node: ast.AST) -> Operand:
    """Return where a key is in a table, or -1."""
    assert isinstance(held.element, TupleOf)
    mine = list_elements.element_of(lo, key) if is_key(key) else None
    if mine is None or not _are_alike(held.element.items[0], mine):
        if isinstance(key, Static) or is_key(key):
            return integer(-1)  # of another kind than all keys
        raise UnsupportedError(
            f"{kind_of(key)} as a key, where others are known only at run time, is not supported",
            lo.span(node), "use keys of one kind: integers, or tuples of integers",
        )  # fmt: skip
    keys = keys_of(lo, held)
    search = tables.place if isinstance(mine, Cell) else tables.position
    found = dispatch.apply(lo, Static(search), [keys, key], {}, classes.call_at(node))
    lo.frame.env.pop(keys.slot)
    assert isinstance(found, Num)
    return found.operand


def _are_alike(a: Binding, b: Binding) -> bool:
    if isinstance(a, Cell) and isinstance(b, Cell):
        return True
    parts = side_by_side(a, b)
    return parts is not None and all(_are_alike(x, y) for x, y in parts)


def contains(lo: Lowerer, ref: DictRef, key: Binding, node: ast.AST) -> Operand | None:
    """Return whether a table has a key; None for a dict that is none."""
    held = lo.held(ref)
    if not isinstance(held, Growing):
        return None
    return numbers.apply(lo, "ge", position(lo, held, key, node), integer(0))


# -- how many --------------------------------------------------------------------------------------


def length(lo: Lowerer, ref: DictRef) -> Operand:
    """Return how many keys a dict has."""
    held = lo.held(ref)
    if isinstance(held, Growing):
        return held.length.operand
    if isinstance(held, TupleOf):
        return integer(len(held.items))
    return total(lo, flags(lo.entries(ref)))


def total(lo: Lowerer, known: Sequence[Operand]) -> Operand:
    """Return how many flags hold."""
    count = integer(sum(isinstance(flag, Literal) and bool(flag.value) for flag in known))
    result: Operand = count
    for flag in known:
        if not isinstance(flag, Literal):
            result = numbers.plus(lo, result, numbers.to_int(lo, flag))
    return lo.sizes.counts(result) if not isinstance(result, Literal) else result


def truth(lo: Lowerer, ref: DictRef) -> Operand:
    """Return whether a dict has any key."""
    held = lo.held(ref)
    if not isinstance(held, RecordOf):
        return numbers.truth_of(lo, length(lo, ref))
    result: Operand = Literal(False, BOOL)
    for flag in flags(lo.entries(ref)):
        result = numbers.apply(lo, "or", result, flag)
    return result


# -- all of them -----------------------------------------------------------------------------------


def listed(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return a list of what a dict, a view of one or a set has, where their number is not known.

    Anything else is returned as it is. The elements of a set are in no order that Python's has:
    whoever asks does not mind it.
    """
    ref = binding.ref if isinstance(binding, DictView) else binding
    if not isinstance(ref, DictRef):
        return binding
    if members_of(lo, ref) is not None:
        return lo.new_ref(ListRef, lo.held(ref))
    held = lo.held(ref)
    which = binding.name if isinstance(binding, DictView) else "keys"
    if isinstance(held, RecordOf):
        if all(isinstance(flag, Literal) for flag in flags(lo.entries(ref))):
            return binding
        held = _chosen(lo, ref, lo.entries(ref), which, node)
    else:
        assert isinstance(held, Growing)
        held = held if which == "items" else column(held, 0 if which == "keys" else 1)
    return lo.new_ref(ListRef, held)


def _chosen(lo: Lowerer, ref: DictRef, record: RecordOf, which: str, node: ast.AST) -> Growing:
    """Return the contents of a list of those keys, values or items that are there."""
    found = [present(item) for item in record.items]
    values = [value for value, _ in found if value is not None]
    rows: list[Binding]
    if which == "values":
        rows = values
    else:
        keys = [static(key) for key in record.keys]
        rows = (
            [TupleOf(row) for row in zip(keys, values, strict=True)] if which == "items" else keys
        )
    element = list_buffers.common(lo, [TupleOf(tuple(rows))])
    if element is None or list_elements.has_arrays(element) or not list(cells_of(element)):
        lo.record(ref)  # which refuses
        raise AssertionError
    return list_buffers.converted(lo, rows, element, node, [there for _, there in found])


# -- sets ------------------------------------------------------------------------------------------


def of_set(lo: Lowerer, binding: Binding) -> Binding | None:
    """Return what a set holds, one of constants included; None for anything else."""
    match binding:
        case SetRef():
            held = lo.held(binding)
            in_table = isinstance(held, Growing) and members_of(lo, binding) is None
            return held if in_table else lo.entries(binding)
        case Static(value=frozenset() as value):
            outside.pin(lo, binding)
            return members(dict.fromkeys(value, Literal(True, BOOL)))
    return None


def as_set(lo: Lowerer, binding: Binding) -> Binding:
    """Return a set of the keys where a view of them is given; anything else as it is."""
    if not (isinstance(binding, DictView) and binding.name == "keys"):
        return binding
    held = lo.held(binding.ref)
    if isinstance(held, RecordOf):
        record = lo.entries(binding.ref)
        return lo.new_ref(SetRef, members(dict(zip(record.keys, flags(record), strict=True))))
    assert isinstance(held, Growing)
    keys = column(held, 0)
    return lo.new_ref(SetRef, replace(keys, element=TupleOf((keys.element, MEMBER))))


def all_in(lo: Lowerer, left: Binding, right: Binding, inside: bool, node: ast.AST) -> Operand:
    """Return whether all elements of one set are in another one, or none is (not `inside`)."""
    mine, others = of_set(lo, left), of_set(lo, right)
    if isinstance(mine, RecordOf) and isinstance(others, RecordOf):
        result: Operand = Literal(True, BOOL)
        for key, there in zip(mine.keys, flags(mine), strict=True):
            found = entry(others, key)[1]
            found = found if inside else numbers.apply(lo, "not", found)
            holds = numbers.apply(lo, "or", numbers.apply(lo, "not", there), found)
            result = numbers.apply(lo, "and", result, holds)
        return result
    given = [elements(lo, left, node), right, Num(Literal(inside, BOOL))]
    answer = dispatch.apply(lo, Static(tables.all_in), given, {}, classes.call_at(node))
    assert isinstance(answer, Num)
    return answer.operand


def elements(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return a list or tuple of the elements of a set, in any order."""
    if isinstance(binding, SetRef) and (known := frozen(lo, binding)) is not None:
        binding = known
    if isinstance(binding, Static) and isinstance(binding.value, frozenset):
        outside.pin(lo, binding)
        return TupleOf(tuple(static(key) for key in sorted(binding.value, key=_rank)))
    return listed(lo, binding, node)
