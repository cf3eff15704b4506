"""What Python writes for a value: the text that `format`, `str` and `repr` make of it.

What it writes for a list, a dict or a dataclass is part of the template.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import enum
import json
import types
from collections.abc import Sequence

import numpy as np

from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Cell,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Range,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    Words,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.numbers import scalar_type
from adc.frontend.core.strings import texts_of
from adc.frontend.inputs import instances
from adc.frontend.language.texts import templates
from adc.frontend.values import elementwise, sequences, views
from adc.frontend.values.growing import list_buffers, wordings
from adc.frontend.values.growing.wordings import TEXTS
from adc.ir.core import Literal
from adc.ir.types import Scalar


def text_of(lo: Lowerer, binding: Binding, node: ast.AST, as_repr: bool = False) -> Words:
    """Return the text that `format`, or `repr`, makes of a binding."""
    field = "{!r}" if as_repr else "{}"
    if isinstance(binding, OneOf) and lo.telling is lo.frame:
        known = texts_of(binding)
        if known is not None:  # Python takes the one with that number
            return Words(field, (Num(binding.which),), (f"{TEXTS}{json.dumps(known)}",))
        if all(map(_is_text, binding.items)):
            texts = [text_of(lo, item, node, as_repr) for item in binding.items]
            return wordings.one_of(binding.which, texts)
    dispatch.require_one([binding], node)
    match binding:
        case Words():
            if as_repr and binding.items:
                return templates.as_one(binding, "{!r}")
            return wordings.known(repr(binding.template.format())) if as_repr else binding
        case Num(operand=operand, array=array):
            weak = isinstance(operand.type, Scalar) and scalar_type(operand).weak
            form = "array" if array else ("python" if weak else "number")
            plain = not array and operand.type.kind != "c"
            return Words(field, (Num(operand),), ("" if plain else form,))
        case ArrayRef() | Lazy():
            if not views.dims_of(lo, binding):
                found = elementwise.value_of(lo, binding, node)
                assert isinstance(found, Num)
                is_array = isinstance(binding, ArrayRef)
                return text_of(lo, Num(found.operand, is_array), node, as_repr)
            if lo.printing:
                raise lo.unsupported(
                    "formatting an array inside `with np.printoptions`", node,
                    "use `np.printoptions` around the call of the differentiated function",
                )  # fmt: skip
            made = elementwise.materialised(lo, binding, node)
            assert isinstance(made, ArrayRef)
            return Words(field, (made,), ("array",))
        case Static(value=known) if isinstance(
            known, str | int | float | complex | bytes | None
        ) and not isinstance(known, enum.Enum):
            return wordings.known(repr(known) if as_repr else str(known))
        case Static(value=known) if isinstance(known, type | np.dtype) or instances.is_value(known):
            outside.pin(lo, binding)
            return wordings.known(repr(known) if as_repr else str(known))
        case Static(value=enum.Enum()):
            return _member(lo, binding, node, as_repr)
        case TupleOf(items=items):
            return _sequence(lo, "(", items, ",)" if len(items) == 1 else ")", node)
        case ListRef():
            return _list(lo, binding, node)
        case DictRef() if not isinstance(binding, SetRef):
            record = lo.record(binding)
            pairs = zip(record.keys, record.items, strict=True)
            return _entries(lo, "{", [(f"{key!r}: ", item) for key, item in pairs], "}", node)
        case Range(start=start, stop=stop, step=step) if isinstance(step.operand, Literal):
            last = (step,) if step.operand.value != 1 else ()
            return _sequence(lo, "range(", (start, stop, *last), ")", node)
        case NamedTuple() | ObjectRef() if classes.is_instance(binding):
            return _instance(lo, binding, node, as_repr)
    raise lo.unsupported(f"formatting {kind_of(binding)}", node, "format its elements")


def str_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Words:
    """Return the text that `str` makes of a binding; `text_of` returns what `format` makes of it.

    They differ for float32: the latter makes a Python float first.
    """
    found = text_of(lo, binding, node)
    if isinstance(binding, Words) or found.template != "{}":
        return found
    return dataclasses.replace(found, template="{!s}")


def _entries(
    lo: Lowerer, start: str, entries: Sequence[tuple[str, Binding]], end: str, node: ast.AST
) -> Words:
    """Return the text of items with what stands before each, separated by commas."""
    parts = [wordings.known(start)]
    for k, (before, item) in enumerate(entries):
        inside = text_of(lo, outside.opened(lo, item), node, as_repr=True)
        parts += [wordings.known(", " * bool(k) + before), inside]
    return templates.joined([*parts, wordings.known(end)])


def _sequence(
    lo: Lowerer, start: str, items: Sequence[Binding], end: str, node: ast.AST
) -> Words:  # fmt: skip
    return _entries(lo, start, [("", item) for item in items], end, node)


def _list(lo: Lowerer, binding: ListRef, node: ast.AST) -> Words:
    held = lo.held(binding)
    if isinstance(held, Growing):
        element = held.element
        known = texts_of(element) if isinstance(element, Among) else None
        if known is None and not isinstance(element, Cell):
            raise lo.unsupported(f"formatting {kind_of(held)}", node, "format its elements")
        array = (
            list_buffers.array_of(lo, held, node) if known is None else list_buffers.view(lo, held)
        )
        made = elementwise.materialised(lo, array, node)
        assert isinstance(made, ArrayRef)
        if known is not None:
            return Words("{}", (made,), (f"{TEXTS}{json.dumps(known)}",))
        assert isinstance(element, Cell)
        plain = element.sizes is None and element.type.weak
        return Words("{}", (made,), ("python" if plain else "list",))
    return _sequence(lo, "[", sequences.static_sequence(lo, binding, node), "]", node)


def _instance(lo: Lowerer, binding: NamedTuple | ObjectRef, node: ast.AST, as_repr: bool) -> Words:
    """Return the text of an instance: by its methods, or those that Python generates."""
    cls = binding.cls
    names = ("__repr__",) if as_repr else ("__str__", "__repr__")
    if _is_exception(binding):
        names = names[:1]
    for name in names:
        fn = classes.find(lo, binding, name)
        if fn is not None and not _is_of_named_tuples(fn):
            made = dispatch.apply(lo, Static(fn), [binding], {}, classes.call_at(node))
            return text_of(lo, made, node)
    if _is_exception(binding):
        return _exception(lo, binding, node, as_repr)
    record = binding.record if isinstance(binding, NamedTuple) else lo.record(binding)
    if instances.is_named_tuple(cls):
        return _fields(lo, cls.__name__, record, record.keys, node)
    if classes.is_generated(cls, classes.in_class(cls, "__repr__")):
        shown = [each.name for each in dataclasses.fields(cls) if each.repr]
        return _fields(lo, cls.__qualname__, record, shown, node)
    raise lo.unsupported(f"formatting {kind_of(binding)}", node, "give its class a `__repr__`")


def _is_exception(binding: NamedTuple | ObjectRef) -> bool:
    return issubclass(binding.cls, BaseException)


def _is_text(binding: Binding) -> bool:
    """Whether a value is a string, or an exception, which is shown as one."""
    if isinstance(binding, NamedTuple):
        return _is_exception(binding)
    return isinstance(binding, Words) or (
        isinstance(binding, Static) and isinstance(binding.value, str)
    )


def _exception(
    lo: Lowerer, binding: NamedTuple | ObjectRef, node: ast.AST, as_repr: bool
) -> Words:  # fmt: skip
    """Return the text of an exception that is caught: that of its argument, or of all of them."""
    record = binding.record if isinstance(binding, NamedTuple) else lo.record(binding)
    args = record.get("args")
    assert isinstance(args, TupleOf)
    if as_repr:
        name = binding.cls.__name__
        return _entries(lo, f"{name}(", [("", item) for item in args.items], ")", node)
    match args.items:
        case []:
            return wordings.known("")
        case [only]:  # a missing key is shown as code writes it
            if issubclass(binding.cls, KeyError):
                return text_of(lo, only, node, as_repr=True)
            return str_of(lo, only, node)
    return text_of(lo, args, node)


def _member(lo: Lowerer, binding: Static, node: ast.AST, as_repr: bool) -> Words:
    """Return the text of a member of an enumeration."""
    value = binding.value
    name = "__repr__" if as_repr else "__str__"
    fn = classes.in_class(type(value), name)
    if isinstance(fn, types.FunctionType) and fn.__module__ != enum.__name__:
        method = outside.attribute(lo, binding, name)
        made = dispatch.apply(lo, method, [], {}, classes.call_at(node))
        return text_of(lo, made, node)
    outside.pin(lo, binding)
    return wordings.known(repr(value) if as_repr else str(value))


def _is_of_named_tuples(fn: object) -> bool:
    """Whether a method is the one that `collections.namedtuple` makes."""
    code = getattr(fn, "__code__", None)
    return code is not None and code.co_filename == collections.__file__


def _fields(
    lo: Lowerer, name: str, record: RecordOf, keys: Sequence[str], node: ast.AST
) -> Words:  # fmt: skip
    entries: list[tuple[str, Binding]] = []
    for key in keys:
        item = record.get(key)
        if item is None:
            raise lo.unsupported(f"formatting an object without `{key}`", node)
        entries.append((f"{key}=", item))
    return _entries(lo, f"{name}(", entries, ")", node)
