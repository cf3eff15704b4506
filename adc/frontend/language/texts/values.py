"""Strings of numbers known only at run time, as values: `Words` that are more than printed.

A program that does more with them than to print them is lowered for them at last (`Shared.texts`):
before, they may turn out to be keys, for which loops are unrolled. They are stored, passed on,
returned and joined; what asks for their letters is refused.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.core.bindings import (
    Binding,
    Cell,
    Growing,
    ListRef,
    Static,
    Words,
    kind_of,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.numbers import escaped
from adc.frontend.language.texts import formatting, templates
from adc.frontend.values import constants, list_buffers, sequences


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


def spread(lo: Lowerer, given: Binding, node: ast.Call) -> Static | Words | None:
    """Return what ``print(*given, sep=…)`` prints of a list of any length; None of other things."""
    held = lo.held(given) if isinstance(given, ListRef) else given
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    between = named.get("sep", ast.Constant(" "))
    if not (
        isinstance(held, Growing) and isinstance(between, ast.Constant) and len(node.args) == 1
    ):
        return None
    if isinstance(held.element, Cell) and held.element.sizes is None:
        held = replace(held, element=Words("{!s}", (held.element,), ("",)))
    return _rows(lo, held, " " if between.value is None else str(between.value), node)


def _rows(lo: Lowerer, held: Growing, between: str, node: ast.AST) -> Static | Words | None:
    """Return the texts that a list holds, one after the other."""
    if not (isinstance(held.element, Words) and held.buffers):
        return None
    columns = [list_buffers.view(lo, held, k) for k in range(len(held.buffers))]
    return formatting.kept(lo, templates.rows(columns, held.element, between), node)


def _joined(lo: Lowerer, between: str, given: Binding, node: ast.AST) -> Static | Words | None:
    """Return what `str.join` makes of strings; None if they are known, or of other kinds."""
    held = lo.held(given) if isinstance(given, ListRef) else given
    if isinstance(held, Growing):
        return _rows(lo, held, between, node)
    items = sequences.static_items(lo, given)
    parts = [_part(item) for item in items or ()]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not any(part.items for part in known):
        return None
    return templates.joined(known, escaped(between))


__all__ = ["method", "percent", "spread"]
