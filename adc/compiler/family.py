"""What derivatives of functions with one definition share: the code that was compiled for them."""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from adc.compiler.signature import Parameters
from adc.frontend.inputs.places import Place
from adc.library.transforms import Level

if TYPE_CHECKING:
    from adc.compiler.compiled import Compiled
    from adc.options import Options

# Definitions of functions whose code is kept for derivatives that are recreated at every call.
_MOST_DEFINITIONS = 256


class Definition:
    """The part of a function that its code depends on: its code object and globals.

    A function with a custom derivative, or that is checkpointed, is more than its code.
    """

    __slots__ = ("_key", "_parts", "code")

    def __init__(self, fn: types.FunctionType, more: object, bound: bool) -> None:
        self.code = code = fn.__code__
        # They live as long as this does, so no others have their addresses.
        self._parts = (code, fn.__globals__, more)
        self._key = (id(code), id(fn.__globals__), id(more), bound)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Way(NamedTuple):
    """What is done with a function.

    Attributes
    ----------
    levels : tuple of Level
        What was applied to it, first to last.
    along : tuple of int or None
        Arguments of a directional derivative of that.
    pull : tuple of int or None
        Arguments whose cotangents are computed from those of the results.
    nested : bool
        Whether what was applied is lowered with the function, as calls of derivatives within code.
        It is where cotangents are pulled back; else as much of it as can be is transformations.
    wide : int
        How many of these directions, or cotangents, are to be taken at once, if there are so many.
    pattern : bool
        Whether directions have marks of what depends on them, in place of derivatives.
    """

    levels: tuple[Level, ...]
    options: Options
    along: tuple[int, ...] | None
    pull: tuple[int, ...] | None
    nested: bool
    wide: int
    pattern: bool


@dataclass
class Family:
    """The compiled code that all derivatives of one kind share, for functions with one definition.

    Attributes
    ----------
    entries : dict
        For every key code, the newest first: objects of one class may need code of their own, and
        functions that hold other objects.
    stacks, lists : frozenset of Place
        Lists among the arguments that are passed as stacks, and those that cannot be.
    users : set
        Derivatives that can call it (`dispatch.Code`).
    """

    parameters: Parameters
    entries: dict[object, list[Compiled]] = field(default_factory=dict)
    stacks: frozenset[Place] = frozenset()
    lists: frozenset[Place] = frozenset()
    users: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)

    def unstack(self) -> None:
        """Pass no list as a stack from now on that is passed as one now."""
        self.stacks, self.lists = frozenset(), self.stacks | self.lists


def new_family(definition: Definition, way: Way) -> Family:
    return Family(Parameters(definition.code))


# What was made before, or new.
kept_family = lru_cache(maxsize=_MOST_DEFINITIONS)(new_family)
