"""Subscripts: ``owner[key]``, read and deleted. Arrays are handled by `indexing`."""

from __future__ import annotations

import ast
import enum
import re
import types
from typing import Any

import numpy as np

from adc.frontend.control import evaluation
from adc.frontend.core import classes, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DequeRef,
    DictRef,
    FlatRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Range,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.inputs import instances
from adc.frontend.inputs.places import Item
from adc.frontend.language import containers, dicts, dynamic_lists
from adc.frontend.numpy import grids, indexing
from adc.frontend.values import arguments, constants, elementwise, sequences, special
from adc.ir.errors import TypeMismatchError


def item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    """Lower ``owner[key]`` for anything but arrays, lists and tuples."""
    match owner:
        case Num():
            key = evaluation.lower_expr(lo, node.slice)
            parts = key.items if isinstance(key, TupleOf) else (key,)
            ty = numbers.scalar_type(owner.operand)
            items = [indexing.Item(part, node) for part in parts]
            if not ty.weak and all(indexing.takes_no_axis(lo, item) for item in items):
                # A NumPy scalar is a 0-d array.
                if not parts:
                    return owner
                whole = elementwise.boxed(lo, owner.operand, ty.dtype)
                return indexing.read(lo, whole, items, node)
            error = ("TypeError", f"'{classes.name_of(owner)}' object is not subscriptable")
            if not ty.weak:
                error = ("IndexError", "invalid index to scalar variable.")
            numbers.refuse(lo, f"indexing {kind_of(owner)}", node, *error)
        case NamedTuple(cls=cls, record=record) if issubclass(cls, tuple):
            return sequence_item(lo, TupleOf(record.items), node)
        case DictRef() if not isinstance(owner, SetRef):
            key = evaluation.lower_filled(lo, node.slice)
            return dicts.item_of_dict(lo, owner, key, node)
        case Static(value=value) if instances.is_table(value):
            key = evaluation.lower_expr(lo, node.slice)
            if not (isinstance(key, Static) and isinstance(key.value, str)):
                raise lo.unsupported(f"indexing {kind_of(owner)} by {kind_of(key)}", node)
            return outside.column(lo, owner, Item(key.value), node)
        case Static(value=re.Match()):
            return constants.item(lo, owner, evaluation.lower_expr(lo, node.slice), node)
        case Static(value=value) if grids.is_grid(value):
            return grids.grid(lo, value, node)
        case Static(value=value) if grids.is_joined(value):
            return grids.joined(lo, value, node)
        case Static(value=value) if value is np.s_ or value is np.index_exp:
            key = method_key(lo, node.slice)
            return key if value is np.s_ or isinstance(key, TupleOf) else TupleOf((key,))
        case Static(value=value) if isinstance(value, str):
            if isinstance(node.slice, ast.Slice):
                return Static(value[containers.static_slice(lo, node.slice)])
            part = evaluation.lower_expr(lo, node.slice)
            if isinstance(part, NamedTuple) and part.cls is slice:
                return item(lo, owner, _spelled_out(lo, part, node))
            index = arguments.constant_int(lo, part, node, "an index of a string")
            try:
                return Static(value[index])
            except IndexError as error:
                return constants.failing(lo, error)
        case Static() if constants.is_of_nones(owner):
            return constants.item(lo, owner, method_key(lo, node.slice), node)
        case Static(value=value) if classes.is_opaque(value):
            raise classes.refused(lo, value, node)
        case Static(value=value) if isinstance(value, types.MappingProxyType):
            key = dicts.key_of(lo, evaluation.lower_filled(lo, node.slice), node.slice)
            try:
                return static(value[key])
            except (KeyError, IndexError, TypeError) as error:
                raise TypeMismatchError(f"{type(error).__name__}: {error}", lo.span(node)) from None
        case Static(value=value) if isinstance(value, type) and issubclass(value, enum.Enum):
            return Static(
                value[dicts.key_of(lo, evaluation.lower_filled(lo, node.slice), node.slice)]
            )
        case Static(value=value) if isinstance(value, type) and hasattr(value, "__class_getitem__"):
            return owner  # `list[float]()` makes what `list()` makes
        case Static(value=value) if type(value).__module__ == "typing":
            return _of_typing(lo, value, node)
    if classes.has_attribute(owner, "__getitem__") is False:
        text = f"'{classes.name_of(owner)}' object is not subscriptable"
        numbers.refuse(lo, f"indexing {kind_of(owner)}", node, "TypeError", text)
    raise TypeMismatchError(f"indexing {kind_of(owner)}", lo.span(node))


def _of_typing(lo: Lowerer, value: Any, node: ast.Subscript) -> Binding:
    """Lower ``Sequence[float]`` where it is run, as in ``cast(Sequence[float], x)``."""
    key = evaluation.lower_expr(lo, node.slice)
    parts = key.items if isinstance(key, TupleOf) else (key,)
    known = [part.value for part in parts if isinstance(part, Static)]
    if len(known) < len(parts):
        return Static(value)  # such as `Callable[[float], float]`
    try:
        return Static(value[tuple(known) if isinstance(key, TupleOf) else known[0]])
    except TypeError as error:
        numbers.refuse(lo, str(error), node, "TypeError", str(error))


def delete_item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> None:
    """Lower ``del owner[key]``."""
    if _deleted_by_method(lo, owner, node):
        return
    if isinstance(owner, ListRef) and isinstance(node.slice, ast.Slice):
        if isinstance(lo.held(owner), Growing):
            dynamic_lists.set_slice(lo, owner, node.slice, TupleOf(()), node)
            return
        part = containers.static_slice(lo, node.slice)
        items = list(lo.contents(owner))
        del items[part]
        lo.hold(owner, TupleOf(tuple(items)))
        return
    is_list = isinstance(owner, ListRef)
    key = (evaluation.lower_expr if is_list else evaluation.lower_filled)(lo, node.slice)
    match owner:
        case ListRef() if isinstance(held := lo.held(owner), Growing):
            dynamic_lists.remove_at(lo, owner, held, key, node, "del")
        case ListRef():
            items = list(lo.contents(owner))
            text = dynamic_lists.out_of_range(owner, assigned=True)
            at = containers.position(lo, items, key, text, node)
            lo.hold(owner, TupleOf(tuple(containers.without(lo, items, at, node))))
        case DictRef() if not isinstance(owner, SetRef):
            dicts.remove(lo, owner, key, node.slice)
        case _:
            raise lo.unsupported(f"`del` of an element of {kind_of(owner)}", node)


def _of_range(lo: Lowerer, owner: Range, node: ast.Subscript) -> Binding:
    """Return a number of a range whose length is known only at run time."""
    index = arguments.integer(lo, evaluation.lower_expr(lo, node.slice), node)
    ends = (owner.start.operand, owner.stop.operand, owner.step.operand)
    count = lo.sizes.counts(lo.builder.apply("trips", *ends, hint="n"))
    at = lo.builder.apply("wrap", index, count, hint="i")
    inside = numbers.apply(lo, "inside", at, count)
    numbers.check(lo, inside, "IndexError", "range object index out of range")
    scaled = lo.builder.apply("mul", at, owner.step.operand)
    return Num(numbers.plus(lo, owner.start.operand, scaled))


@handles(ast.Subscript)
def _subscript(lo: Lowerer, node: ast.Subscript) -> Binding:
    """Lower ``value[index]``."""
    owner = dispatch.evaluate(lo, node.value)
    match owner:
        case ArrayRef() | Lazy():
            items = indexing.items_of(lo, node.slice)
            with lo.at(node):
                part = indexing.read(lo, owner, items, node)
                if isinstance(owner, FlatRef) and isinstance(part, ArrayRef):
                    return elementwise.copy(lo, part, node)
                return part
        case ObjectRef() | NamedTuple() if (found := _item_by_method(lo, owner, node)) is not None:
            return found
        case Range() if sequences.static_range(owner) is None and not isinstance(
            node.slice, ast.Slice
        ):
            return _of_range(lo, owner, node)
        case TupleOf() | ListRef() | Range() | NamedTuple():
            return sequence_item(lo, owner, node)
    return item(lo, owner, node)


def sequence_item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    if isinstance(owner, DequeRef) and isinstance(node.slice, ast.Slice):
        raise TypeMismatchError("sequence index must be integer, not 'slice'", lo.span(node))
    # What is between the brackets comes first: it may change the list.
    if isinstance(node.slice, ast.Slice):
        if isinstance(owner, ListRef) and isinstance(lo.held(owner), Growing):
            return dynamic_lists.sliced(lo, owner, node.slice, node)
        part = containers.static_slice(lo, node.slice)
        chosen = sequences.static_sequence(lo, owner, node)[part]
        if isinstance(owner, ListRef):
            return lo.new_ref(ListRef, TupleOf(chosen))
        return TupleOf(chosen)
    key = evaluation.lower_expr(lo, node.slice)
    if isinstance(key, NamedTuple) and key.cls is slice:
        return sequence_item(lo, owner, _spelled_out(lo, key, node))
    if isinstance(owner, ListRef) and isinstance(held := lo.held(owner), Growing):
        return dynamic_lists.item(lo, owner, held, key, node)
    items = sequences.static_sequence(lo, owner, node)
    return containers.element_of(lo, owner, items, key, node)


def _spelled_out(lo: Lowerer, key: NamedTuple, node: ast.Subscript) -> ast.Subscript:
    """Return ``owner[a:b:c]`` for ``owner[key]``, where `key` is an object of class `slice`."""
    names = [f"$slice{node.lineno}_{node.col_offset}.{name}" for name in key.record.keys]
    lo.frame.env.update(zip(names, key.record.items, strict=True))
    if ("spelled", id(node)) not in lo.memo:
        ends = [ast.copy_location(ast.Name(name, ast.Load()), node.slice) for name in names]
        part = ast.copy_location(ast.Slice(*ends), node.slice)
        made = ast.copy_location(ast.Subscript(node.value, part, node.ctx), node)
        lo.memo["spelled", id(node)] = node, made
    return lo.memo["spelled", id(node)][1]  # type: ignore[no-any-return]  # nodes


def _slice(lo: Lowerer, node: ast.Slice) -> Binding:
    parts = [NONE if x is None else evaluation.lower_optional(lo, x)
             for x in (node.lower, node.upper, node.step)]  # fmt: skip
    return NamedTuple(slice, RecordOf(("start", "stop", "step"), tuple(parts)))


def method_key(lo: Lowerer, node: ast.expr) -> Binding:
    """Return the key between the brackets, for a method."""
    if isinstance(node, ast.Slice):
        return _slice(lo, node)
    if isinstance(node, ast.Tuple) and any(isinstance(x, ast.Slice) for x in node.elts):
        return TupleOf(tuple(method_key(lo, x) for x in node.elts))
    return evaluation.lower_optional(lo, node)


def _item_by_method(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding | None:
    """Lower ``owner[key]`` by `__getitem__`."""
    if classes.find(lo, owner, "__getitem__") is None:
        return None
    return special.method(lo, owner, "__getitem__", [method_key(lo, node.slice)], node)


def _deleted_by_method(lo: Lowerer, owner: Binding, node: ast.Subscript) -> bool:
    """Lower ``del owner[key]`` by `__delitem__`; return whether there is one."""
    if classes.find(lo, owner, "__delitem__") is None:
        return False
    special.method(lo, owner, "__delitem__", [method_key(lo, node.slice)], node)
    return True
