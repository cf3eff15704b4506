"""What objects of subclasses of `dict` hold; new objects, and copies of named tuples."""

from __future__ import annotations

import ast
import collections
from collections.abc import MappingView
from typing import Any

from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    Binding,
    DictRef,
    DictView,
    NamedTuple,
    ObjectRef,
    RecordOf,
    SetRef,
    Static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import PoolError
from adc.frontend.inputs import bases
from adc.frontend.values import arguments
from adc.ir.errors import TypeMismatchError
from adc.ir.foreign import is_plain, is_stand_in
from adc.library.standard.bases import items_of


def blank(lo: Lowerer, cls: type) -> ObjectRef:
    """Return an object of a class, as `object.__new__` makes it."""
    record = RecordOf((), ())
    if bases.has_contents(cls):
        record = RecordOf((bases.CONTENTS,), (lo.new_ref(DictRef, record),))
    return lo.new_ref(lambda slot: ObjectRef(slot, cls), record)


# In the memo: the classes whose `__new__` runs, as that may make the object.
MAKING = "classes that are made"


def new_object(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `object.__new__`: an object without attributes."""
    arguments.arity(lo, args, kwargs, node, 1)
    cls = args[0].value if isinstance(args[0], Static) else None
    if not (isinstance(cls, type) and is_plain(cls)) or is_stand_in(cls):
        raise lo.unsupported(f"`__new__` of {kind_of(args[0])}", node, "call the class")
    ref = blank(lo, cls)
    if cls in lo.shared.pools and cls not in lo.memo.get(MAKING, ()):
        raise PoolError(
            f"`__new__` of `{cls.__name__}`, of which the run decides how many objects there are, "
            "is not supported", lo.span(node), "call the class",
        )  # fmt: skip
    return ref


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


def replaces(cls: type) -> bool:
    """Whether the method `_replace` of a class is that of any named tuple."""
    code = getattr(classes.in_class(cls, "_replace"), "__code__", None)
    return code is not None and code.co_filename == collections.__file__


def replaced(
    lo: Lowerer, owner: NamedTuple, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> NamedTuple:
    """Lower ``owner._replace(name=value)`` of a named tuple."""
    if args:
        raise TypeMismatchError("_replace() takes names of fields", lo.span(node))
    record = owner.record
    for name, value in kwargs.items():
        if record.get(name) is None:
            raise TypeMismatchError(f"Got unexpected field names: [{name!r}]", lo.span(node))
        record = record.with_item(name, value)
    return NamedTuple(owner.cls, record)
