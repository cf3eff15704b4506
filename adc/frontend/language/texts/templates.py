"""Texts and what is done with them: a template for `str.format`, and the values that fill it in.

Compiled code passes on the numbers and the elements of the arrays, and Python formats them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import replace
from string import Formatter

from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Num,
    Static,
    Words,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.numbers import escaped
from adc.frontend.core.structure import cells_of
from adc.frontend.values import elementwise
from adc.frontend.values.growing.wordings import CASES, COLUMN, TEXTS, one_of
from adc.ir.builder import integer
from adc.ir.core import ELEMENT, SHAPE, Literal, Operand, Print
from adc.ir.types import Scalar

# The form of the last of the arrays with the numbers of many texts, before how many arrays there
# are, what is between two texts, and their template and forms.
ROWS = "rows "


def joined(parts: Sequence[Words], between: str = "") -> Words:
    """Return texts one after the other, with a template between them."""
    return Words(
        between.join(part.template for part in parts),
        tuple(item for part in parts for item in part.items),
        tuple(form for part in parts for form in part.forms),
    )


def as_one(text: Words, shown: str) -> Words:
    """Return the text of ``{text!r}``, ``{text:>8}`` and the like: `shown` is the field."""
    return replace(one_of(integer(0), [text]), template=shown)


def string(found: Words) -> Static | Words:
    """Return a text as a constant, if it is one."""
    constants: list[object] = []
    for item, form in zip(found.items, found.forms, strict=True):
        operand = item.operand if isinstance(item, Num) and not _is_passed_on(form) else None
        if not (isinstance(operand, Literal) and isinstance(operand.type, Scalar)):
            return found
        ty = operand.type
        constants.append(operand.value if ty.weak else ty.numpy.type(operand.value))
    return Static(found.template.format(*constants))


def rows(columns: Sequence[ArrayRef], element: Words, between: str) -> Words:
    """Return texts like `element` one after the other, whose numbers are in arrays."""
    plain = ("python" if cell.type.weak else "number" for cell in cells_of(element))
    forms = [form or own for form, own in zip(element.forms, plain, strict=True)]
    said = json.dumps([between, element.template, forms])
    passed = (*[COLUMN] * (len(columns) - 1), f"{ROWS}{len(columns)} {said}")
    return Words("{}", tuple(columns), passed)


def _is_texts(form: str) -> bool:
    return form.startswith(TEXTS)


def _is_passed_on(form: str) -> bool:
    """Whether Python makes something of an operand of this form before it is formatted."""
    return form in ("array", COLUMN) or form.startswith((TEXTS, CASES))


def operands(found: Words) -> tuple[Operand, ...] | None:
    """Return the numbers in a text; None if it has arrays, which `filled` passes on."""
    numbers: list[Operand] = []
    if COLUMN in found.forms:
        return None
    ends = [end for _, field, _, end in Formatter().parse(found.template) if field is not None]
    for item, form, end in zip(found.items, found.forms, ends, strict=True):
        if not isinstance(item, Num) or (form == "array" and end == "r") or _is_texts(form):
            return None
        numbers.append(item.operand)
    return tuple(numbers)


def emit(lo: Lowerer, found: Words, node: ast.AST, to: str = "") -> None:
    """Pass a text on to Python, with the arrays in it."""
    text, numbers = filled(lo, found, node)
    lo.builder.emit(Print(text, numbers, lo.builder.loc, to))


def filled(
    lo: Lowerer, found: Words, node: ast.AST, before: int = 0
) -> tuple[str, tuple[Operand, ...]]:
    """Pass on the arrays in a text, after so many others; return its template and the numbers."""
    text, numbers = "", list[Operand]()
    items = iter(zip(found.items, found.forms, strict=True))
    for literal, field, spec, conversion in Formatter().parse(found.template):
        text += escaped(literal)
        if field is None:
            continue
        item, form = next(items)
        while form == COLUMN:
            _pass(lo, item, form, node)
            before += 1
            item, form = next(items)
        end = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        if form == "":
            assert isinstance(item, Num)
            numbers.append(item.operand)
            text += f"{{{end}}}"
            continue
        _pass(lo, item, form, node)
        text += f"{{a[{before}]{end}}}"
        before += 1
    return text, tuple(numbers)


def _pass(lo: Lowerer, item: Binding, form: str, node: ast.AST) -> None:
    """Pass an array on: its shape, and then each element."""
    build, loc = lo.builder, lo.builder.loc
    assert isinstance(item, Num | ArrayRef)
    if isinstance(item, Num):
        ty = item.operand.type
        build.emit(Print(f"{form} {ty.dtype}", (), loc, SHAPE))
        build.emit(Print("", (item.operand,), loc, ELEMENT))
        return
    source = elementwise.lazy(lo, item, node)
    build.emit(Print(f"{form} {source.type.dtype}", tuple(source.dims), loc, SHAPE))

    def element(index: list[Operand], carried: object) -> Sequence[Operand]:
        lo.builder.emit(Print("", (source.element(index),), loc, ELEMENT))
        return []

    elementwise.nest(lo, source.dims, [], [], element)
