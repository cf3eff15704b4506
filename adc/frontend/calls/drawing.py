"""`iter` and `next`; the beginning of a loop that is left and goes on."""

from __future__ import annotations

import ast
from typing import Any

from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Enumerate,
    Lazy,
    ListRef,
    ObjectRef,
    Range,
    TupleOf,
    Zip,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import (
    arguments,
    elementwise,
    objects,
    views,
)
from adc.library.standard import iteration


def iterator(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `iter` of an object, or of what can be indexed; elsewhere it is part of a loop."""
    arguments.arity(lo, args, kwargs, node, 1, 1)
    if classes.find(lo, args[0], "__iter__") is not None:
        return dispatch.apply(lo, Bound(args[0], "__iter__"), [], {}, node)
    source = elementwise.materialised(lo, args[0], node)
    classes.require_iterable(lo, source, node)
    if isinstance(source, ArrayRef) and not views.dims_of(lo, source):
        text = "iteration over a 0-d array"
        numbers.refuse(lo, text, node, "TypeError", text)
    if not isinstance(source, ArrayRef | ListRef | TupleOf | Range):
        raise lo.unsupported(f"`iter` of {kind_of(source)}", node, "use a `for` loop")
    return objects.construct(lo, iteration.Items, [source], {}, node)


def beginning(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower the beginning of a loop that is left and goes on (`syntax.steps`)."""
    own, iterable = args
    if isinstance(iterable, ListRef) and isinstance(node.args[1], ast.List):
        iterable = lo.held(iterable)  # it has no other name
    return _begun(lo, own, iterable, node)


def _begun(lo: Lowerer, own: Binding, iterable: Binding, node: ast.Call) -> Binding:
    """Return an iterator over something; if it can be, the one that there is."""
    cls = own.cls if isinstance(own, ObjectRef) else None
    if isinstance(iterable, ArrayRef | Lazy | ListRef | TupleOf | Range) and cls is iteration.Items:
        given = [elementwise.materialised(lo, iterable, node)]
    elif isinstance(iterable, Zip) and cls is iteration.Zipped:
        assert isinstance(own, ObjectRef)
        parts = lo.entries(own).get("parts")
        assert isinstance(parts, TupleOf)
        several = zip(parts.items, iterable.inners, strict=True)
        given = [TupleOf(tuple(_begun(lo, part, inner, node) for part, inner in several))]
    elif isinstance(iterable, Enumerate) and cls is iteration.Numbered:
        assert isinstance(own, ObjectRef)
        part = lo.entries(own).get("part")
        assert part is not None
        given = [_begun(lo, part, iterable.inner, node), iterable.start]
    else:
        made = iterator(lo, [iterable], {}, node)
        if isinstance(made, ObjectRef) and made.cls in iteration.ITERATORS:
            return made
        return objects.construct(lo, iteration.Drawn, [made], {}, node)
    dispatch.apply(lo, Bound(own, "__init__"), given, {}, node)
    return own


def step(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `next` of an object; that of an iterator that is made in the call is a loop."""
    arguments.arity(lo, args, kwargs, node, 1, 2)
    if classes.find(lo, args[0], "__next__") is None:
        raise lo.unsupported(
            f"`next` of {kind_of(args[0])}", node,
            "use a `for` loop, or make the iterator with `iter`",
        )  # fmt: skip
    if len(args) == 1:
        return dispatch.apply(lo, Bound(args[0], "__next__"), [], {}, node)
    return dispatch.apply(lo, static(iteration.following), args, {}, node)
