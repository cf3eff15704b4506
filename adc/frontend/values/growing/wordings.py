"""Strings of run-time numbers that are one of several texts, each with a template of its own.

Such a string has the numbers of all texts, and the number of the one that is meant. So the strings
in a list of any length may differ in more than their numbers::

    log.append(f"step {k}: {loss:.3f}")
    log.append("done")
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adc.frontend.core import numbers
from adc.frontend.core.bindings import Among, Binding, Cell, Num, OneOf, Static, Words
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.numbers import escaped
from adc.frontend.values import optional
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.types import INT, Scalar

# The form of the number of one of several known texts, before these.
TEXTS = "texts "
# That of the operands of several texts; and that of the number of the one that is meant, before how
# many operands there are, and the template and the forms of each text.
COLUMN, CASES = "column", "cases "
# How many texts there may be.
_MOST = 24


@dataclass(frozen=True)
class _Text:
    """One of the texts; its operands are numbers, or their cells in a list of any length."""

    template: str
    forms: tuple[str, ...]
    items: tuple[Binding, ...]

    @property
    def key(self) -> object:
        """What texts have in common that differ in their numbers only."""
        return self.template, self.forms, tuple(map(_type_of, self.items))


def _type_of(item: Binding) -> Scalar | None:
    """Return the type of a number; None for arrays and complex numbers."""
    match item:
        case Num(operand=operand):
            ty = operand.type
        case Cell(type=ty, sizes=None):
            pass
        case _:
            return None
    return ty if isinstance(ty, Scalar) and ty.kind != "c" else None


def known(text: str) -> Words:
    return Words(escaped(text), (), ())


def one_of(which: Operand, texts: Sequence[Words]) -> Words:
    """Return the text with this number among several."""
    if not any(text.items for text in texts):
        said = json.dumps([text.template.format() for text in texts])
        return Words("{}", (Num(which),), (f"{TEXTS}{said}",))
    return _cases([_alone(text) for text in texts], Num(which))


def _cases(texts: Sequence[_Text], which: Binding) -> Words:
    items = [item for text in texts for item in text.items]
    said = json.dumps([[text.template, text.forms] for text in texts])
    return Words("{}", (*items, which), (*[COLUMN] * len(items), f"{CASES}{len(items)} {said}"))


def _alone(text: Words) -> _Text:
    forms: list[str] = []
    for item, form in zip(text.items, text.forms, strict=True):
        ty = _type_of(item)
        forms.append(form or ("python" if ty is not None and ty.weak else "number"))
    return _Text(text.template, tuple(forms), text.items)


def are_several(binding: Binding) -> bool:
    """Whether a string, or the strings in a list, are what `one_of` returns."""
    return isinstance(binding, Words) and binding.template == "{}" and (
        binding.forms[-1].startswith(CASES)
    )  # fmt: skip


def _texts(binding: Binding) -> list[_Text]:
    """Return what a string, or the strings in a list, may be; nothing for other values."""
    if are_several(binding):
        assert isinstance(binding, Words)
        _, said = binding.forms[-1].removeprefix(CASES).split(" ", 1)
        left = iter(binding.items)
        return [
            _Text(template, tuple(forms), tuple(next(left) for _ in forms))
            for template, forms in json.loads(said)
        ]
    match binding:
        case Words():
            return [_alone(binding)]
        case Static(value=str() as text):
            return [_alone(known(text))]
        case Among(items=items) | OneOf(items=items):
            found = [_texts(item) for item in items]
            return [text for each in found for text in each] if all(found) else []
    return []


def element_of(value: Binding) -> Binding | None:
    """Return the structure of strings like one of several, in a list; None for other values."""
    return joined(value, value) if isinstance(value, OneOf) or are_several(value) else None


def joined(a: Binding, b: Binding) -> Binding | None:
    """Return the common structure of strings in one list, if any has numbers; else None."""
    p, q = _texts(a), _texts(b)
    if not (p and q and any(text.items for text in (*p, *q))):
        return None
    texts = list({text.key: text for text in (*p, *q)}.values())
    types = [[_type_of(item) for item in text.items] for text in texts]
    if len(texts) > _MOST or any(ty is None for each in types for ty in each):
        return None
    cells = [
        _Text(text.template, text.forms, tuple(Cell(ty) for ty in each if ty is not None))
        for text, each in zip(texts, types, strict=True)
    ]
    return _cases(cells, Cell(INT))


def parts(lo: Lowerer, element: Binding, value: Binding) -> Iterator[Num]:
    """Yield the numbers of a string with the structure of `element`."""
    texts, own = _texts(element), _texts(value)
    places = [[text.key for text in texts].index(each.key) for each in own]
    which = _which(lo, value)
    for place, text in enumerate(texts):
        meant = [k for k in range(len(own)) if places[k] == place]
        for at, item in enumerate(text.items):
            ty = _type_of(item)
            assert ty is not None
            found: Operand = Literal({"b": False, "f": 0.0}.get(ty.kind, 0), ty)
            for k in meant:
                part = own[k].items[at]
                assert isinstance(part, Num)
                is_it: Operand = numbers.apply(lo, "eq", which, integer(k))
                found = part.operand if k == meant[0] else (
                    numbers.select(lo, is_it, part.operand, found)
                )  # fmt: skip
            yield Num(found)
    yield Num(optional.renumbered(lo, which, places))


def _which(lo: Lowerer, value: Binding) -> Operand:
    """Return the number of the text that a string is, among those that it may be."""
    if isinstance(value, OneOf):
        found: Operand = integer(0)
        first = 0
        for k, item in enumerate(value.items):
            own = numbers.plus(lo, _which(lo, item), integer(first))
            is_it = numbers.apply(lo, "eq", value.which, integer(k))
            found = own if k == 0 else numbers.select(lo, is_it, own, found)
            first += len(_texts(item))
        return found
    if are_several(value):
        assert isinstance(value, Words)
        last = value.items[-1]
        assert isinstance(last, Num)
        return last.operand
    return integer(0)


__all__ = [
    "CASES",
    "COLUMN",
    "TEXTS",
    "are_several",
    "element_of",
    "joined",
    "known",
    "one_of",
    "parts",
]
