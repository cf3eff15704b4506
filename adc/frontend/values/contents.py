"""What objects of subclasses of `dict` hold, and new objects."""

from __future__ import annotations

import ast
from collections.abc import MappingView

from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    Binding,
    DictRef,
    DictView,
    ObjectRef,
    RecordOf,
    SetRef,
    Static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.inputs import bases
from adc.library.standard.bases import items_of


def blank(lo: Lowerer, cls: type) -> ObjectRef:
    """Return an object of a class, as `object.__new__` makes it."""
    record = RecordOf((), ())
    if bases.has_contents(cls):
        record = RecordOf((bases.CONTENTS,), (lo.new_ref(DictRef, record),))
    return lo.new_ref(lambda slot: ObjectRef(slot, cls), record)


def contents_of(lo: Lowerer, owner: Binding) -> DictRef:
    """Return what an object of a subclass of `dict` holds."""
    assert isinstance(owner, ObjectRef)
    held = lo.entries(owner).get(bases.CONTENTS)
    assert held is not None
    found = outside.opened(lo, held)
    assert isinstance(found, DictRef)
    return found


def as_plain_dict(lo: Lowerer, given: Binding, node: ast.AST) -> Binding:
    """Return an object as the dict that `dict(...)` and `**` make of it; others as they are.

    They take what an object of a subclass of `dict` holds, unless it has its own `__iter__`. Of
    others they ask `keys`.
    """
    cls = classes.instance_class(given)
    if cls is None or classes.in_class(cls, "keys") is classes.MISSING:
        return given
    if bases.has_contents(cls) and classes.in_class(cls, "__iter__") is bases.method("__iter__"):
        return contents_of(lo, given)
    return dispatch.apply(lo, Static(items_of), [given], {}, classes.call_at(node))


def is_finite(binding: Binding) -> bool:
    """Whether all of a loop over an object is known to end, and to do nothing else."""
    cls = classes.instance_class(binding)
    return cls is not None and issubclass(cls, dict | MappingView)


def indexed(lo: Lowerer, found: Binding, node: ast.AST) -> Binding:
    """Return what is iterated as what can be indexed: of a dict, a list of its keys."""
    if isinstance(found, DictRef | DictView) and not isinstance(found, SetRef):
        return dispatch.apply(lo, Static(list), [found], {}, classes.call_at(node))
    return found
