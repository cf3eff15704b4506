"""`collections.deque`: a list that drops elements at one end where it is full at the other.

The methods that a list has as well are those of lists (`containers`, `dynamic_lists`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from adc.frontend.control.control import branch
from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    Binding,
    DequeRef,
    Growing,
    ListRef,
    Num,
    TupleOf,
    kind_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.language import dynamic_lists
from adc.frontend.values import arguments, elementwise, sequences
from adc.ir.builder import integer


def made(
    lo: Lowerer, args: Sequence[Binding], kwargs: Mapping[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``deque(iterable, maxlen)``."""
    given = arguments.match(lo, "iterable? maxlen?", list(args), dict(kwargs), node)
    size = given.get("maxlen")
    maxlen = None
    if size is not None and not arguments.is_none(size):
        maxlen = arguments.constant_int(lo, size, node, "the length of a deque")
    source = given.get("iterable")
    items: Sequence[Binding] | None = ()
    if source is not None:
        source = elementwise.materialised(lo, source, node)
        items = sequences.known_elements(lo, source, node)
    if items is not None:
        held: Binding = TupleOf(_kept(items, maxlen, True))
    elif maxlen is None and source is not None:
        listed = dynamic_lists.listed(lo, source, node)
        assert isinstance(listed, ListRef)
        held = lo.held(listed)
    else:
        raise lo.unsupported(
            f"a deque of `maxlen` of {kind_of(source) if source else 'nothing'} of a length known "
            "only at run time", node, "append the elements in a loop",
        )  # fmt: skip
    return lo.new_ref(lambda slot: DequeRef(slot, maxlen), held)


def _kept(items: Sequence[Binding], maxlen: int | None, at_end: bool) -> tuple[Binding, ...]:
    """Return the elements that a deque keeps where one was added, at the end or at the start."""
    if maxlen is None or len(items) <= maxlen:
        return tuple(items)
    return tuple(items[len(items) - maxlen :] if at_end else items[:maxlen])


def add(lo: Lowerer, ref: DequeRef, value: Binding, at_end: bool, node: ast.AST) -> None:
    """Lower ``deque.append(value)`` and ``deque.appendleft(value)``."""
    value = elementwise.materialised(lo, value, node)
    held = lo.held(ref)
    if at_end:
        dynamic_lists.append(lo, ref, value, node)
    elif isinstance(held, Growing):
        dynamic_lists.insert_first(lo, ref, held, value, node)
    else:
        assert isinstance(held, TupleOf)
        dynamic_lists.note(lo, ref, value)
        lo.hold(ref, TupleOf((value, *held.items)))
    held = lo.held(ref)
    if isinstance(held, TupleOf):
        lo.hold(ref, TupleOf(_kept(held.items, ref.maxlen, at_end)))
    elif ref.maxlen is not None:
        assert isinstance(held, Growing)
        full = numbers.apply(lo, "gt", held.length.operand, integer(ref.maxlen))

        def drop() -> None:
            now = lo.held(ref)
            assert isinstance(now, Growing)
            key = Num(integer(0 if at_end else -1))
            dynamic_lists.remove_at(lo, ref, now, key, node, "pop")

        branch(lo, full, drop, lambda: None)
