"""The values that reversed loops carry, which undo logs may restore."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adc.ir.core import For, Function, Reverse, Stmt, Value, While, blocks, is_invertible, walk
from adc.ir.text.printer import print_stmt
from adc.ir.types import Array


@dataclass(frozen=True)
class Carried:
    """A value that a loop carries in a slot."""

    label: str
    slot: int
    result: Value
    param: Value


def marked_slots(fn: Function) -> list[Carried]:
    """Return the floats, numbers and arrays, that may be restored inexactly."""
    found = [each for group in carried_slots(fn, deep=True) for each in group]
    return [each for each in found if is_invertible(each.param) and each.param.type.kind == "f"]


def carried_slots(fn: Function, *, deep: bool = False) -> list[list[Carried]]:
    """Return the values that reversed loops carry, from the last loop to the first.

    First the numbers of every loop, outer loops first, then each array of outermost loops, or of
    every loop if `deep`.
    """
    reversed_ = {stmt.loop for stmt in walk(fn.body) if isinstance(stmt, Reverse)}
    numbers: list[list[Carried]] = []
    arrays: list[list[Carried]] = []

    def look(stmts: Sequence[Stmt], depth: int) -> None:
        for stmt in reversed(stmts):
            if isinstance(stmt, Reverse):
                continue
            if isinstance(stmt, For | While) and stmt.label in reversed_:
                slots = enumerate(zip(stmt.results, stmt.body.params, strict=True))
                found = [Carried(stmt.label, k, *pair) for k, pair in slots]
                numbers.append([c for c in found if not isinstance(c.result.type, Array)])
                if depth == 0 or deep:
                    arrays.extend([c] for c in found if isinstance(c.result.type, Array))
            for block in blocks(stmt):
                look(block.stmts, depth + 1)

    look(fn.body, 0)
    return numbers + arrays


def similar_slots(fn: Function) -> list[list[list[Carried]]]:
    """Return the values that loops carry, grouped by loops that are equal except for names.

    Long programs have many of them: a plan for each would take quadratic time.
    """
    found: dict[tuple[object, ...], list[list[Carried]]] = {}
    loops = {stmt.label: stmt for stmt in walk(fn.body) if isinstance(stmt, For | While)}
    texts: dict[str, str] = {}
    for group in filter(None, carried_slots(fn)):
        label = group[0].label
        if label not in texts:
            texts[label] = _nameless(print_stmt(loops[label]))
        found.setdefault((texts[label], *[each.slot for each in group]), []).append(group)
    return list(found.values())


def _nameless(text: str) -> str:
    """Return the text of code with numbers in place of names, in the order of their appearance."""
    numbers: dict[str, str] = {}

    def number(name: re.Match[str]) -> str:
        return numbers.setdefault(name[0], f"%{len(numbers)}")

    return re.sub(r"%[\w.]+|\bL\d[\w.]*", number, text)
