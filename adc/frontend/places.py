"""Where the objects are that a function reads from outside: read, or checked, at every call."""

from __future__ import annotations

import builtins
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adc.frontend import trees
from adc.ir.core import Value


@dataclass(frozen=True, slots=True)
class Item:
    """A step to an element of a list, tuple or dict."""

    key: Any


Step = str | Item


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object is found.

    `root` is a function, whose globals or closure hold the first name of `path` (an item is the
    default of a parameter); a class, which has it as an attribute; or the position of a parameter.
    Further names are attributes.
    """

    root: types.FunctionType | type | int
    path: tuple[Step, ...] = ()

    def __str__(self) -> str:
        names = [self.root.__name__] if isinstance(self.root, type) else []
        for step in self.path:
            if isinstance(step, Item):
                names[-1:] = [f"{names[-1] if names else ''}[{step.key!r}]"]
            else:
                names.append(step)
        return ".".join(names)

    def to(self, step: Step) -> Place:
        """Return the place of something that the object here holds."""
        return Place(self.root, (*self.path, step))

    def read(self, arguments: Sequence[Any] = ()) -> Any:
        """Return what is there now; raise LookupError or AttributeError if nothing is."""
        if isinstance(self.root, int):
            return _follow(arguments[self.root], self.path)
        first = self.path[0]
        if isinstance(first, Item):
            assert isinstance(self.root, types.FunctionType)
            return _follow(defaults_of(self.root), self.path)
        return _follow(lookup(self.root, first), self.path[1:])


def defaults_of(fn: types.FunctionType) -> dict[str, Any]:
    """Return the default values of a function's parameters."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    found = dict(zip(reversed(names), reversed(fn.__defaults__ or ()), strict=False))
    return {**found, **(fn.__kwdefaults__ or {})}


def _follow(value: Any, path: Sequence[Step]) -> Any:
    for step in path:
        value = value[step.key] if isinstance(step, Item) else getattr(value, step)
    return value


def lookup(root: types.FunctionType | type, name: str) -> Any:
    """Return what `name` means as a free variable of a function, or as an attribute of a class.

    Raise KeyError if it means nothing.
    """
    if isinstance(root, type):
        for cls in root.__mro__:
            if name in vars(cls):
                return vars(cls)[name]
        raise KeyError(name)
    if name in root.__code__.co_freevars:
        cell = (root.__closure__ or ())[root.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            raise KeyError(name) from None
    if name in root.__globals__:
        return root.__globals__[name]
    return vars(builtins)[name]


@dataclass(frozen=True)
class Capture:
    """Something outside whose numbers and arrays are hidden arguments, read anew at every call."""

    place: Place
    tree: Any
    key: object
    params: tuple[Value, ...]

    def leaves(self, arguments: Sequence[Any] = ()) -> list[Any] | None:
        """Return the present numbers and arrays, or None if other code is needed for them."""
        try:
            value = self.place.read(arguments)
        except (LookupError, AttributeError):
            return None
        if trees.key_of(value) != self.key:
            return None
        return list(trees.leaves(value, self.tree))


@dataclass(frozen=True)
class Guard:
    """Something outside that was built into the code: if it changes, the code is stale.

    Attributes
    ----------
    value : object
        What was there; None for an object of which only the attributes read are built in.
    key : object
        What must not change of it, if it may change.
    """

    place: Place
    value: Any
    key: object = None

    @classmethod
    def of(cls, place: Place, value: Any) -> Guard:
        fixed = isinstance(value, str | bool | tuple | None) or trees.is_unchanging(value)
        fixed = fixed or trees.is_class_method(value)
        if not fixed and trees.is_lazy(value):
            return cls(place, None, trees.key_of(value))
        return cls(place, value, None if fixed else trees.key_of(value))

    def holds(self, arguments: Sequence[Any] = ()) -> bool:
        """Whether what the code was built with is still there."""
        try:
            value = self.place.read(arguments)
        except (LookupError, AttributeError):
            return False
        if self.key is not None:
            return trees.key_of(value) == self.key
        # Bound methods are made anew each time that they are read.
        compared = str | int | None | types.BuiltinMethodType | types.MethodType
        return value is self.value or (
            isinstance(value, compared) and type(value) is type(self.value) and value == self.value
        )
