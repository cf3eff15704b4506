"""The functions of `dataclasses`."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from adc.frontend.calls import standard
from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    Binding,
    DictRef,
    ListRef,
    NamedTuple,
    Nested,
    ObjectRef,
    RecordOf,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.structure import children, with_children
from adc.frontend.numpy import library
from adc.frontend.values import objects
from adc.frontend.values.arguments import Handler, arity
from adc.ir.errors import TypeMismatchError


def _replace(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `dataclasses.replace`: a new object of the fields."""
    arity(lo, args, {}, node, 1)
    owner = args[0]
    cls = classes.instance_class(owner)
    if not (isinstance(owner, classes.Instance) and dataclasses.is_dataclass(cls)):
        raise TypeMismatchError("replace() should be called on dataclass instances", lo.span(node))
    given = dict(kwargs)
    for field in dataclasses.fields(cls):
        if not field.init and field.name in given:
            raise TypeMismatchError(
                f"field {field.name} is declared with init=False, it cannot be specified with "
                "replace()",
                lo.span(node),
            )
        if field.init and field.name not in given:
            held = objects.attribute(lo, owner, field.name, node)
            if held is None:
                raise TypeMismatchError(
                    f"{kind_of(owner)} has no attribute {field.name!r}", lo.span(node)
                )
            given[field.name] = held
    return dispatch.apply(lo, Static(cls), [], given, node)


def _fields_of(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call, what: str
) -> dict[str, Binding]:
    """Return the fields of a dataclass instance, copied, those of instances in it as well."""
    arity(lo, args, {}, node, 1)
    if kwargs:
        raise lo.unsupported(f"`{what}` with `{next(iter(kwargs))}`", node, "convert what it makes")
    cls = classes.instance_class(args[0])
    if not (isinstance(args[0], classes.Instance) and dataclasses.is_dataclass(cls)):
        raise TypeMismatchError(f"{what}() should be called on dataclass instances", lo.span(node))
    found: dict[str, Binding] = {}
    for field in dataclasses.fields(cls):
        held = objects.attribute(lo, args[0], field.name, node)
        if held is None:
            raise TypeMismatchError(
                f"{kind_of(args[0])} has no attribute {field.name!r}", lo.span(node)
            )
        found[field.name] = _without_instances(lo, held, node, what)
    return found


def _without_instances(lo: Lowerer, given: Binding, node: ast.Call, what: str) -> Binding:
    """Return a copy of what a field holds, with their fields instead of dataclass instances."""
    held = outside.opened(lo, given)

    def without(item: Binding) -> Binding:
        return _without_instances(lo, item, node, what)

    if dataclasses.is_dataclass(classes.instance_class(held)):
        return HANDLERS[getattr(dataclasses, what)](lo, [held], {}, node)
    if isinstance(held, TupleOf) or (isinstance(held, NamedTuple) and issubclass(held.cls, tuple)):
        return with_children(held, without)
    contents: Binding = NONE
    if isinstance(held, ListRef | DictRef) and type(held) in (ListRef, DictRef):  # no subclasses
        contents = lo.held(held)
    if isinstance(contents, TupleOf):
        return lo.new_ref(ListRef, with_children(contents, without))
    if isinstance(contents, RecordOf):
        return lo.new_ref(DictRef, with_children(contents, without))
    if _holds_instances(lo, held):
        raise lo.unsupported(
            f"`{what}` of {kind_of(held)} with dataclass instances", node, "convert each"
        )
    return standard.deepcopy(lo, [held], {}, node)


def _holds_instances(lo: Lowerer, held: Binding) -> bool:
    """Whether dataclass instances are in what is copied as a whole."""
    match held:
        case ObjectRef(cls=cls):
            return dataclasses.is_dataclass(cls)
        case NamedTuple(cls=cls) | Nested(cls=cls) if dataclasses.is_dataclass(cls):
            return True
        case ListRef() | DictRef():
            return _holds_instances(lo, lo.held(held))
    return any(_holds_instances(lo, part) for part in children(held))


def _astuple(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    return TupleOf(tuple(_fields_of(lo, args, kwargs, node, "astuple").values()))


def _asdict(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    found = _fields_of(lo, args, kwargs, node, "asdict")
    return lo.new_ref(DictRef, RecordOf(tuple(found), tuple(found.values())))


def _fields(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower `dataclasses.fields`, of a class or of an object."""
    arity(lo, args, kwargs, node, 1)
    owner = args[0]
    cls: Any = owner.value if isinstance(owner, Static) else classes.instance_class(owner)
    if not dataclasses.is_dataclass(cls):
        text = "must be called with a dataclass type or instance"
        numbers.refuse(lo, f"`fields` of {kind_of(owner)}", node, "TypeError", text)
    outside.pin(lo, owner)
    return TupleOf(tuple(Static(field) for field in dataclasses.fields(cls)))


HANDLERS: dict[Any, Handler] = {
    dataclasses.replace: _replace, dataclasses.astuple: _astuple, dataclasses.asdict: _asdict,
    dataclasses.fields: _fields,
}  # fmt: skip
library.enter(HANDLERS)
