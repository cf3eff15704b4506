"""What attempts to lower a loop find, from which later attempts start, and what is loop-carried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adc.frontend.control import forms
from adc.frontend.core.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Growing,
    Maybe,
    Num,
    OneOf,
    Static,
    Unbound,
    Unstable,
)
from adc.frontend.core.state import State, VariesError
from adc.frontend.core.structure import (
    is_cell,
    is_slot,
    leaves,
    side_by_side,
)
from adc.ir.core import Operand, Value
from adc.ir.types import Array, Scalar


@dataclass
class LoopMemo:
    """The findings of earlier attempts at a loop, from which later attempts start."""

    types: dict[tuple[str, int], Scalar | Array] = field(default_factory=dict)
    fresh: set[tuple[str, int]] = field(default_factory=set)
    sizes: set[tuple[str, int, int]] = field(default_factory=set)
    alias: set[frozenset[tuple[str, int] | ArrayObject]] = field(default_factory=set)
    stale: dict[tuple[str, int] | ArrayObject | str, str] = field(default_factory=dict)
    # Names that have another kind where the loop is left early: they cannot be read after it.
    dropped: set[str] = field(default_factory=set)
    # Names of which the kind depends on the iteration, and why: they cannot be read before an
    # iteration has bound them.
    unstable: dict[str, str] = field(default_factory=dict)
    # Names that an iteration leaves in another form, and in which; what those hold that are lists
    # or None, by slot, with what is in it; those it binds to new lists.
    forms: dict[str, Binding] = field(default_factory=dict)
    contents: dict[str, dict[str, Binding]] = field(default_factory=dict)
    relisted: set[str] = field(default_factory=set)
    # In the order in which they were found, slots and keys of those which it replaces there.
    replaced: dict[tuple[str, Any], None] = field(default_factory=dict)
    # Lists, dicts and objects that iterations change; lists that they append to, and what.
    slots: set[str] = field(default_factory=set)
    growing: dict[str, Binding] = field(default_factory=dict)
    # The arrays made for these before the loop: attempts must agree on what `alias` is about.
    made: dict[tuple[str, int], ArrayObject] = field(default_factory=dict)
    # Rebound names that may denote elements of a list (`ArrayObject.kept`).
    kept: dict[tuple[str, int], frozenset[object]] = field(default_factory=dict)
    # Whether a copy of the body for each iteration is another way to lower it; whether it may be
    # left by `break`.
    unrolls: bool = False
    breaks: bool = False
    # Whether there is a way to lower it in which what is None at first needs no flag.
    avoids_none: bool = False
    # Whether that is so of what is a number or an array after an iteration: of a `while`, an
    # iteration that finds the test false leaves what it found.
    avoids_numbers: bool = False
    # Attributes from outside that they change.
    opened: set[tuple[str, Any]] = field(default_factory=set)

    # By name: whether it is a list of any length, and which of its parts are arrays.
    parts: dict[str, tuple[bool, ...]] = field(default_factory=dict)

    def see(self, name: str, start: Binding) -> None:
        """Forget what is known of the parts of a name if it has others in this attempt.

        An attempt at a loop around this one may have made a list of any length of it.
        """
        parts = (
            isinstance(start, Growing),
            *(isinstance(leaf, ArrayRef) for leaf in leaves(start)),
        )
        if self.parts.setdefault(name, parts) == parts:
            return
        self.parts[name] = parts
        for key in [key for key in self.types if key[0] == name]:
            del self.types[key]
        self.fresh -= {key for key in self.fresh if key[0] == name}
        self.sizes -= {key for key in self.sizes if key[0] == name}


class RestructuredError(VariesError):
    """Iterations change the structure of a container."""


class PathsError(RestructuredError):
    """What a container holds after an iteration depends on the path that it takes."""


class FirstError(RestructuredError):
    """What is None or a number before the loop is something else, or an array, afterwards."""


def becomes_array(start: Binding, end: Binding) -> bool:
    """Whether something in `start` is a number, and an array in `end`.

    So is ``total = 0.0`` after ``total = total + row``.
    """
    return any(
        isinstance(old, Num) and isinstance(new, ArrayRef) for old, new in _pairs(start, end)
    )


def may_become_array(start: Binding, end: Binding) -> bool:
    """Whether something is a number in `start`, and in `end` a number or an array."""
    return isinstance(start, Num) and isinstance(end, OneOf) and any(
        isinstance(item, ArrayRef) for item in end.items
    )  # fmt: skip


def is_filled(start: Binding, end: Binding) -> bool:
    """Whether something in `start` is absent and something else in `end`, or becomes an array.

    An array of objects, such as of many None, is none that the loop could carry, either.
    """
    filled = any(_is_filled(old, new) for old, new in _pairs(start, end))
    return filled or becomes_array(start, end)


def _is_filled(old: Binding, new: Binding) -> bool:
    if isinstance(old, Static) and isinstance(old.value, np.ndarray):
        return old.value.dtype == object and not isinstance(new, Static)
    return forms.is_absent(old) and new != old


def _pairs(start: Binding, end: Binding) -> Iterator[tuple[Binding, Binding]]:
    """Yield what two bindings hold at the same places."""
    parts = side_by_side(start, end)
    if parts is not None:
        for old, new in parts:
            yield from _pairs(old, new)
    elif not isinstance(end, Unbound | Unstable | Maybe):
        yield start, end


class Retry(Exception):
    """The loop's assumptions were too narrow; its memo has wider ones."""


@dataclass
class Carried:
    """One loop-carried value: its initial value, its parameter, and its next value."""

    init: Operand
    param: Value
    key: tuple[str, int] | ArrayObject
    next: Operand | None = None
    result: Value | None = None


@dataclass
class Attempt:
    """What an attempt to lower a loop begins with.

    Attributes
    ----------
    before : State
        The state before the loop.
    memo : LoopMemo
        What earlier attempts found.
    names, bound : sequence of str
        Names that the body may bind, and those of them that are bound before the loop.
    carried : list of Carried
        What the loop carries.
    by_key : dict
        The same, by what it is of.
    fresh : dict
        The arrays that are objects of their own in the body, by the name or place that has them.
    """

    before: State
    memo: LoopMemo
    names: Sequence[str]
    bound: Sequence[str]
    carried: list[Carried] = field(default_factory=list)
    by_key: dict[tuple[str, int] | ArrayObject, Carried] = field(default_factory=dict)
    fresh: dict[tuple[str, int], ArrayRef] = field(default_factory=dict)


def array_of(env: dict[str, Binding], key: tuple[str, int]) -> ArrayObject | None:
    """Return the array of a name's k-th leaf; None if the name is not bound any more."""
    found = list(leaves(env[key[0]]))
    if not found:
        return None
    leaf = found[key[1]]
    assert isinstance(leaf, ArrayRef)
    return leaf.object


def hint_of(name: str) -> str:
    if is_slot(name) and not is_cell(name):
        return "h"
    return name[1:] if name.startswith("$") else name
