"""Strings as bindings: which differ in their numbers only, and which may be empty."""

from __future__ import annotations

from string import Formatter

from adc.frontend.core.bindings import Among, ArrayRef, Num, OneOf, Static, Words
from adc.ir.types import Scalar


def are_alike(a: Words, b: Words) -> bool:
    """Whether two texts differ in their numbers only, which are written the same way."""
    if (a.template, a.forms) != (b.template, b.forms):
        return False
    types = [
        (item.operand.type, item.array) if isinstance(item, Num) else (item.object.type, item.part)
        for item in (*a.items, *b.items)
        if isinstance(item, Num | ArrayRef)
    ]
    half = len(types) // 2
    if types[:half] == types[half:]:
        return True
    shown = any(conversion == "r" for *_, conversion in Formatter().parse(a.template))
    return not shown and all(
        isinstance(one, Scalar) and isinstance(other, Scalar) and one.dtype == other.dtype
        for (one, p), (other, q) in zip(types[:half], types[half:], strict=True)
        if (one, p) != (other, q)
    )


# The forms of what stands for texts, and of what they are made of.
_MAY_BE_EMPTY = ("texts ", "rows ", "column", "cases ")


def may_be_empty(text: Words) -> bool:
    """Whether a string may have no letters: numbers always have some."""
    literal = any(part for part, *_ in Formatter().parse(text.template))
    return not literal and all(form.startswith(_MAY_BE_EMPTY) for form in text.forms)


def texts_of(binding: OneOf | Among) -> list[str] | None:
    """Return the texts that something is one of; None if it may be anything else."""
    texts = [item.value for item in binding.items if isinstance(item, Static)]
    known = [text for text in texts if type(text) is str]
    return known if len(known) == len(binding.items) else None
