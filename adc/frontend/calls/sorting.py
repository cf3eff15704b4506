"""`sorted`: in an order that is known, or that the run decides."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.frontend.control.branches import branch
from adc.frontend.control.exits import VALUE
from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Cell,
    Enumerate,
    Growing,
    Handle,
    ListRef,
    NamedTuple,
    Num,
    Reversed,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    Zip,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import indexing, linear
from adc.frontend.values import (
    arguments,
    arrays,
    comparisons,
    elementwise,
    sequences,
    views,
)
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.library import functions as library_functions


def sort(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `sorted`."""
    given = arguments.match(lo, "iterable * key? reverse?", args, kwargs, node)
    backwards = arguments.flag(lo, given.get("reverse"), node, "`reverse`")
    source = elementwise.materialised(lo, given["iterable"], node)
    keyed = not arguments.is_none(given.get("key"))
    items = sequences.static_items(lo, source)
    items = sequences.static_range(source) if items is None else items
    if items is None:
        if keyed:
            args = [source, given["key"], lo.num(backwards)]
            return dispatch.apply(lo, static(library_functions.sorted_by), args, {}, node)
        if isinstance(source, Zip | Enumerate | Reversed):
            source = dispatch.apply(lo, Static(list), [source], {}, node)
        if isinstance(list_buffers.kept_in(lo, source), TupleOf):
            args = [source, source, lo.num(backwards)]
            return dispatch.apply(lo, static(library_functions.in_order), args, {}, node)
        if isinstance(list_buffers.kept_in(lo, source), Handle | Among):
            args = [source, source, lo.num(backwards)]
            return dispatch.apply(lo, static(library_functions.by_comparison), args, {}, node)
        held = lo.held(source) if isinstance(source, ListRef) else None
        if isinstance(held, Growing) and not isinstance(held.element, Cell):
            raise lo.unsupported(
                f"`sorted` of a list that is {kind_of(held)} known only at run time", node,
                "sort by a number: `key=lambda each: ...`",
            )  # fmt: skip
        return _sorted_numbers(lo, source, backwards, node)
    step = classes.call_at(node)
    keys = (
        [dispatch.apply(lo, given["key"], [item], {}, step) for item in items]
        if keyed
        else [comparisons.compared(lo, item) for item in items]
    )
    try:
        order = _order(lo, [_Key(*_known_part(lo, key)) for key in keys], backwards, node)
    except _UndecidedError:
        pass
    else:
        return lo.new_ref(ListRef, TupleOf(tuple(items[k] for k in order)))
    keys = [*_ranked(lo, keys)]
    kinds = {item.operand.type if isinstance(item, Num) else None for item in items}
    if not keyed and len(kinds) == 1 and None not in kinds:
        made = lo.new_ref(ListRef, TupleOf(tuple(items)))
        return _sorted_numbers(lo, made, backwards, node)
    whole = list_buffers.common(lo, [TupleOf(tuple(items))])
    if whole is None or list_elements.has_choices(whole):
        return _picked_in_order(lo, items, keys, backwards, node)
    made = lo.new_ref(ListRef, list_buffers.converted(lo, items, whole, node))
    args = [made, TupleOf(tuple(keys)), lo.num(backwards)]
    return dispatch.apply(lo, static(library_functions.in_order), args, {}, node)


def _ranked(lo: Lowerer, keys: Sequence[Binding]) -> Sequence[Binding]:
    """Return keys with numbers that are in the same order in place of the texts in them."""
    if not all(isinstance(key, TupleOf) for key in keys):
        return keys
    rows = [key.items for key in keys if isinstance(key, TupleOf)]
    if len({len(row) for row in rows}) != 1:
        return keys
    columns: list[Sequence[Binding]] = []
    for column in zip(*rows, strict=True):
        texts = [_constant(lo, each) for each in column]
        known = [text[0] for text in texts if text is not None and type(text[0]) is str]
        if len(known) < len(column):
            columns.append(column)
        else:
            order = sorted(set(known))
            columns.append([lo.num(order.index(text)) for text in known])
    return [TupleOf(row) for row in zip(*columns, strict=True)]


# Of so many elements that are no numbers or arrays, each place in order is one of all.
_PICKED = 12


def _picked_in_order(
    lo: Lowerer, items: Sequence[Binding], keys: Sequence[Binding], backwards: bool, node: ast.Call
) -> Binding:
    """Sort elements with texts or objects in them: what is at each place is chosen by branches."""
    refused = lo.unsupported(
        "`sorted` by keys known only at run time", node, "use `np.argsort` of an array of the keys"
    )
    if len(items) > _PICKED or not all(map(_are_numbers, keys)):
        raise refused
    numbers_ = TupleOf(tuple(lo.num(k) for k in range(len(items))))
    args: list[Binding] = [numbers_, TupleOf(tuple(keys)), lo.num(backwards)]
    order = dispatch.apply(lo, static(library_functions.in_order), args, {}, node)
    places = sequences.known_elements(lo, order, node)
    if places is None:
        assert isinstance(order, ListRef)
        held = lo.held(order)
        assert isinstance(held, Growing)
        places = tuple(lo.element(held, integer(k), node) for k in range(len(items)))

    def pick(place: Operand, first: int, end: int) -> None:
        if end - first == 1:
            lo.frame.env[VALUE] = items[first]
            return
        middle = (first + end) // 2
        before = numbers.apply(lo, "lt", place, integer(middle))
        branch(lo, before, lambda: pick(place, first, middle), lambda: pick(place, middle, end))

    outer = lo.frame.env.pop(VALUE, None)
    found: list[Binding] = []
    for place in places:
        assert isinstance(place, Num)
        pick(place.operand, 0, len(items))
        found.append(lo.frame.env.pop(VALUE))
        if isinstance(found[-1], Unstable | Unbound):
            raise refused
    if outer is not None:
        lo.frame.env[VALUE] = outer
    return lo.new_ref(ListRef, TupleOf(tuple(found)))


def _are_numbers(key: Binding) -> bool:
    """Whether a key is a number, or a tuple of some."""
    return isinstance(key, Num) or (isinstance(key, TupleOf) and all(map(_are_numbers, key.items)))


def _constant(lo: Lowerer, key: Binding) -> tuple[Any] | None:
    """Return a constant key, in a tuple, or None if it is known only at run time."""
    match key:
        case Num(operand=Literal(value=value)) | Static(value=value):
            return (value,)
        case TupleOf() | NamedTuple() | ListRef():
            items = sequences.static_items(lo, key)
            found = [_constant(lo, item) for item in items] if items is not None else [None]
            known = tuple(item[0] for item in found if item is not None)
            return (known,) if len(known) == len(found) else None
    return None


class _UndecidedError(Exception):
    """The order of two keys is known only at run time."""


@dataclass(frozen=True)
class _Key:
    """What is known of a key: all of it, or the first elements of a tuple, which may decide."""

    known: Any
    whole: bool

    def __lt__(self, other: _Key) -> bool:
        if self.whole and other.whole:
            return bool(self.known < other.known)
        if isinstance(self.known, tuple) and isinstance(other.known, tuple):
            for a, b in zip(self.known, other.known, strict=False):
                if a is not b and a != b:
                    return bool(a < b)
        raise _UndecidedError


def _known_part(lo: Lowerer, key: Binding) -> tuple[Any, bool]:
    found = _constant(lo, key)
    if found is not None:
        return found[0], True
    items = sequences.static_items(lo, key) if isinstance(key, TupleOf) else None
    parts = itertools.takewhile(bool, (_constant(lo, item) for item in items or ()))
    return tuple([part[0] for part in parts if part]), False


def _order(lo: Lowerer, keys: list[Any], backwards: bool, node: ast.AST) -> list[int]:
    try:
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=backwards)
    except TypeError as error:
        raise TypeMismatchError(str(error), lo.span(node)) from None


def _sorted_numbers(lo: Lowerer, source: Binding, backwards: bool, node: ast.Call) -> Binding:
    """Return a list of the numbers of an array or a list in order."""
    array = arrays.as_array(lo, source, node)
    if len(views.dims_of(lo, array)) != 1:
        raise TypeMismatchError(
            "The truth value of an array with more than one element is ambiguous", lo.span(node),
            "sort a vector",
        )  # fmt: skip
    dispatch.apply(lo, static(library_functions.require_order), [array], {}, node)
    found = linear.HANDLERS[np.sort](lo, [array], {}, node)
    assert isinstance(found, ArrayRef)
    if backwards:
        part = indexing.Slice(None, None, integer(-1), node)
        found = elementwise.copy(
            lo, indexing.window(lo, found, [indexing.Item(part, node)], node), node
        )
    ty = found.element
    if isinstance(source, ListRef):
        element = list_buffers.common(lo, [lo.held(source)])
        assert isinstance(element, Cell)
        ty = element.type
    (size,) = views.dims_of(lo, found)
    held = Growing((found,), Num(size), Cell(ty))
    if isinstance(size, Literal):
        items = (lo.element(held, integer(k), node) for k in range(int(size.value)))
        return lo.new_ref(ListRef, TupleOf(tuple(items)))
    return lo.new_ref(ListRef, held)
