"""Strings of numbers known only at run time, as values: `Words` that are more than printed.

A program that does more with them than to print them is lowered for them at last (`Shared.texts`):
before, they may turn out to be keys, for which loops are unrolled. They are stored, passed on,
returned and joined; what asks for their letters is refused.
"""

from __future__ import annotations

import ast
import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Cell,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    Num,
    OneOf,
    Static,
    Words,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.numbers import escaped
from adc.frontend.core.strings import texts_of
from adc.frontend.core.structure import cells_of
from adc.frontend.language.texts import formatting, templates, written
from adc.frontend.values import constants, elementwise, sequences, views
from adc.frontend.values.growing import list_buffers, wordings
from adc.frontend.values.growing.wordings import TEXTS
from adc.ir.builder import integer
from adc.ir.core import Literal
from adc.ir.types import INT


def _part(binding: Binding) -> Words | None:
    """Return a string as a text; None for other values."""
    if isinstance(binding, Static) and isinstance(binding.value, str):
        return Words(escaped(binding.value), (), ())
    return binding if isinstance(binding, Words) else None


@operates(Words)
def _operator(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    """Lower a sum of strings."""
    parts = [part for part in (_part(left), _part(right)) if part is not None]
    if kind is not ast.Add or len(parts) < 2:
        text = left if isinstance(left, Words) else right
        raise lo.unsupported(f"this operator on {kind_of(text)}", node, "use an f-string")
    return templates.string(templates.joined(parts))


def percent(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding | None:
    """Return what a string ``% right`` is; None for other values, and for constants."""
    if not (isinstance(left, Static) and isinstance(left.value, str)):
        return None
    if (known := constants.binary(lo, ast.Mod, left, right, node)) is not None:
        return known
    found = formatting.kept(lo, formatting.percent(lo, left.value, right, node), node)
    return formatting.admitted(lo, found, node)


def method(
    lo: Lowerer, callee: Any, args: Sequence[Binding], kwargs: Mapping[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower `str.format` and `str.join` of values known only at run time."""
    if not (isinstance(callee, types.BuiltinMethodType) and isinstance(callee.__self__, str)):
        return None
    text = callee.__self__
    found: Static | Words | None = None
    if callee.__name__ == "format":
        found = formatting.kept(lo, formatting.with_values(lo, text, args, kwargs, node), node)
    elif callee.__name__ == "join" and len(args) == 1 and not kwargs:
        found = _joined(lo, text, args[0], node)
    return None if found is None else formatting.admitted(lo, found, node)


@dataclass(frozen=True, slots=True)
class Spread(Words):
    """The texts that ``print(*values)`` is given by a list of any length: all are like `element`.

    The items are the arrays with their numbers.
    """

    element: Words


def spread(lo: Lowerer, given: Binding, node: ast.AST) -> Spread | None:
    """Return what ``print(*given)`` prints of a list or array of any length; None of others."""
    held = lo.held(given) if isinstance(given, ListRef) else given
    if isinstance(held, ArrayRef) and len(dims := views.dims_of(lo, held)) == 1:
        if isinstance(dims[0], Literal):
            return None
        held = Growing((held,), Num(dims[0]), Cell(held.element))
    if not isinstance(held, Growing):
        return None
    if isinstance(held.element, Cell) and held.element.sizes is None:
        held = replace(held, element=Words("{!s}", (held.element,), ("",)))
    found = _columns(lo, held, node)
    return None if found is None else Spread("", found[0], (), found[1])


def _columns(
    lo: Lowerer, held: Growing, node: ast.AST
) -> tuple[tuple[ArrayRef, ...], Words] | None:
    """Return arrays with the numbers of the strings in a list, and what each is made of them."""
    columns = tuple([list_buffers.view(lo, held, k) for k in range(len(held.buffers))])
    match held.element:
        case Words() as element if columns and not any(
            cell.type.kind == "c" for cell in cells_of(element)
        ):
            return columns, element
        case Among() as several if (known := texts_of(several)) is not None:
            return columns, Words("{}", (several.which,), (f"{TEXTS}{json.dumps(known)}",))
        case Static(value=str() as text):
            # As many numbers as it has elements, which are one and the same.
            zeros = Lazy((held.length.operand,), INT, lambda index: integer(0))
            made = elementwise.stored_new(lo, zeros, INT.dtype, node)
            return (made,), Words("{}", (Cell(INT),), (f"{TEXTS}{json.dumps([text])}",))
    return None


def line(lo: Lowerer, parts: Sequence[Words], between: str, node: ast.AST) -> Words:
    """Return what `print` writes of its arguments, of which some may be of any number."""
    fixed = [k for k, part in enumerate(parts) if not isinstance(part, Spread)]
    if len(parts) > 1 and not fixed:
        raise lo.unsupported(
            "`print` of several lists of lengths known only at run time, and nothing else,", node,
            "print each in a call of its own",
        )  # fmt: skip
    shown: list[Words] = []
    for k, part in enumerate(parts):
        before, after = between, ""
        if not fixed:
            before = ""
        elif k < fixed[0]:
            before, after = "", between
        elif k == fixed[0]:
            before = ""
        if not isinstance(part, Spread):
            shown += [wordings.known(before), part]
            continue
        columns = [each for each in part.items if isinstance(each, ArrayRef)]
        template = f"{escaped(before)}{part.element.template}{escaped(after)}"
        row = replace(part.element, template=template)
        found = formatting.kept(
            lo, templates.rows(columns, row, between if not fixed else ""), node
        )
        shown.append(wordings.known(found.value) if isinstance(found, Static) else found)
    return templates.joined(shown)


def _rows(lo: Lowerer, held: Growing, between: str, node: ast.AST) -> Static | Words | None:
    """Return the texts that a list holds, one after the other."""
    found = _columns(lo, held, node)
    return None if found is None else formatting.kept(lo, templates.rows(*found, between), node)


def _item(lo: Lowerer, k: int, item: Binding, node: ast.AST) -> Words | None:
    """Return a string that is joined, which is not None; None for other values."""
    if isinstance(item, Maybe):
        text = f"sequence item {k}: expected str instance, NoneType found"
        item = dispatch.required(lo, item, node, text)
    if isinstance(item, OneOf) and texts_of(item) is not None:
        return written.text_of(lo, item, node)
    return _part(item)


def _joined(lo: Lowerer, between: str, given: Binding, node: ast.AST) -> Static | Words | None:
    """Return what `str.join` makes of strings; None if they are known, or of other kinds."""
    held = lo.held(given) if isinstance(given, ListRef) else given
    if isinstance(held, Growing):
        return _rows(lo, held, between, node)
    items = sequences.static_items(lo, given) or ()
    parts = [_item(lo, k, item, node) for k, item in enumerate(items)]
    known = [part for part in parts if part is not None]
    checked = any(isinstance(item, Maybe) for item in items)
    if len(known) < len(parts) or not (checked or any(part.items for part in known)):
        return None
    return templates.string(templates.joined(known, escaped(between)))


__all__ = ["Spread", "line", "method", "percent", "spread"]
