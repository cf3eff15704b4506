"""The places of captured objects, which are read or checked at every call.

Code is made for a *definition*: all function objects with the same `__code__` and globals share it.
So the place of a captured variable is relative to the function that is called.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adc.frontend.inputs import bases, flatten, instances
from adc.frontend.inputs.keys import key_of
from adc.ir.core import Value


class Arguments(tuple[Any, ...]):
    """The arguments of a call, one for each parameter, and the function that is called."""

    fn: Any  # a Python function

    @classmethod
    def of(cls, fn: types.FunctionType, values: Sequence[Any] = ()) -> Arguments:
        made = cls(values)
        made.fn = fn
        return made


# -- places ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """A step to an element of a list, tuple or dict."""

    key: Any


@dataclass(frozen=True, slots=True)
class Variable:
    """A step from a function to what a free variable of it means, in its closure or globals."""

    name: str


@dataclass(frozen=True, slots=True)
class Around:
    """A step from a function to a variable of a function around it, which others may share."""

    name: str


@dataclass(frozen=True, slots=True)
class Default:
    """A step from a function to the default value of a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """A step from a class to what it or a base has under a name, not bound to anything."""

    name: str


@dataclass(frozen=True, slots=True)
class Values:
    """A step from a table, or a column of one, to the array that NumPy makes of it."""

    name: str = "values"


@dataclass(frozen=True, slots=True)
class Has:
    """A step from an object to whether it has an attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Keys:
    """A step from a dict to its keys, in order."""

    name: str = "keys"


@dataclass(frozen=True, slots=True)
class Contents:
    """A step from an object of a subclass of `dict` to what it holds, a copy."""

    name: str = bases.CONTENTS


def to_attribute(name: str) -> Step:
    """Return the step to an attribute of an object, or to what it holds."""
    return Contents() if name == bases.CONTENTS else name


# A name is a step to an attribute.
Step = str | Item | Variable | Around | Default | Member | Values | Has | Keys | Contents
Root = types.FunctionType | type | types.ModuleType | int | None


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an object: `path` from the object `root`.

    A root is also the position of a parameter, or None for the function that is called.
    """

    root: Root
    path: tuple[Step, ...] = ()

    def __str__(self) -> str:
        names = [self.root.__name__] if isinstance(self.root, type | types.ModuleType) else []
        for step in self.path:
            if isinstance(step, Item):
                names[-1:] = [f"{names[-1] if names else ''}[{step.key!r}]"]
            else:
                names.append(step if isinstance(step, str) else step.name)
        return ".".join(names)

    @property
    def name(self) -> str:
        """The last name on the way to it, for what is made of it."""
        names = (step if isinstance(step, str) else step.name
                 for step in reversed(self.path) if not isinstance(step, Item))  # fmt: skip
        return next(names, "item")

    def holds(self, other: Place) -> bool:
        """Whether another place is part of what is here."""
        return self.root == other.root and other.path[: len(self.path)] == self.path

    def to(self, *steps: Step) -> Place:
        """Return the place of something that the object here holds."""
        return Place(self.root, (*self.path, *steps))

    def read(self, arguments: Sequence[Any] = ()) -> Any:
        """Return the current object; raise LookupError or AttributeError if there is none."""
        root = self.root
        if root is None:
            found: Any = arguments.fn  # type: ignore[attr-defined]  # they are `Arguments` then
        else:
            found = arguments[root] if isinstance(root, int) else root
        return follow(found, self.path)

    def owner(self, arguments: Sequence[Any] = ()) -> Any:
        """Return the current object that a change of what is here is made to."""
        return Place(self.root, self.path[:-1] if self.is_copy else self.path).read(arguments)

    @property
    def is_copy(self) -> bool:
        """Whether what is read here is a copy of what an object holds."""
        return bool(self.path) and isinstance(self.path[-1], Contents)

    @property
    def varies(self) -> bool:
        """Whether another object may be found for another call of the same code."""
        return self.root is None or isinstance(self.root, int)


def follow(value: Any, path: Sequence[Step]) -> Any:
    """Return the object at a path from an object."""
    for step in path:
        if isinstance(step, str):
            value = getattr(value, step)
        elif isinstance(step, Variable):
            value = variable_of(value, step.name)
        elif isinstance(step, Around):
            value = cell_of(value, step.name)
        elif isinstance(step, Item):
            value = _item(value, step.key)
        elif isinstance(step, Values):
            value = np.asarray(value)
        elif isinstance(step, Has):
            value = hasattr(value, step.name)
        elif isinstance(step, Contents):
            value = bases.contents_of(value)
        elif isinstance(step, Keys):
            value = tuple(value) if isinstance(value, dict) else None
        elif isinstance(step, Default):
            value = default_of(value, step.name)
        else:
            value = member_of(value, step.name)
    return value


def _item(value: Any, key: Any) -> Any:
    try:
        return value[key]
    except TypeError:  # another kind of object than the one that the path was found in
        raise LookupError(key) from None


def variable_of(fn: types.FunctionType, name: str) -> Any:
    """Return what `name` means as a free variable of a function; raise KeyError if nothing."""
    if fn.__closure__ is not None:
        free = fn.__code__.co_freevars
        if name in free:
            try:
                return fn.__closure__[free.index(name)].cell_contents
            except ValueError:
                raise KeyError(name) from None
    found = fn.__globals__.get(name, _NOTHING)
    return vars(builtins)[name] if found is _NOTHING else found


def assign(fn: types.FunctionType, name: str, value: Any) -> None:
    """Give a free variable of a function another value."""
    if name in fn.__code__.co_freevars:
        cell_of(fn, name).cell_contents = value
    else:
        fn.__globals__[name] = value


def cell_of(fn: types.FunctionType, name: str) -> types.CellType:
    """Return the variable of a function around it that a function reads; raise LookupError."""
    names = fn.__code__.co_freevars
    if fn.__closure__ is None or name not in names:
        raise LookupError(name)
    return fn.__closure__[names.index(name)]


_NOTHING = object()


def default_of(fn: types.FunctionType, name: str) -> Any:
    """Return the default value of a parameter; raise KeyError if it has none."""
    keywords = fn.__kwdefaults__
    if keywords is not None and name in keywords:
        return keywords[name]
    code = fn.__code__
    names, values = code.co_varnames[: code.co_argcount], fn.__defaults__ or ()
    if name not in names[len(names) - len(values) :]:
        raise KeyError(name)
    return values[names.index(name) - len(names)]


def defaults_of(fn: types.FunctionType) -> dict[str, Any]:
    """Return the default values of a function's parameters."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    found = dict(zip(reversed(names), reversed(fn.__defaults__ or ()), strict=False))
    return {**found, **(fn.__kwdefaults__ or {})}


def member_of(cls: type, name: str) -> Any:
    """Return what a class or a base of it has under a name; raise KeyError if nothing."""
    for each in bases.order_of(cls):
        if name in vars(each):
            return bases.meaning(vars(each)[name])
    raise KeyError(name)


def reader(place: Place) -> Callable[[Sequence[Any]], Any]:
    """Return a function like `place.read` that is faster for globals."""
    fn, (first, *rest) = place.root, place.path or (None,)
    if (
        not isinstance(fn, types.FunctionType)
        or not isinstance(first, Variable)
        or fn.__closure__ is not None
        or len(rest) > 1
        or not all(isinstance(step, str) for step in rest)
    ):
        return place.read
    # Neither of these can be replaced.
    found, name, built_in = fn.__globals__, first.name, vars(builtins)

    def variable(arguments: Sequence[Any]) -> Any:
        return found[name] if name in found else built_in[name]

    def attribute(arguments: Sequence[Any]) -> Any:
        return getattr(found[name] if name in found else built_in[name], step)

    step = str(rest[0]) if rest else ""
    return attribute if rest else variable


# -- what is done with what is there ---------------------------------------------------------------


@dataclass(frozen=True)
class Capture:
    """A captured value whose numbers and arrays are hidden arguments, read at every call."""

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
        if key_of(value) != self.key:
            return None
        return flatten.leaves(value, self.tree)


@dataclass(frozen=True)
class Guard:
    """A captured value that is a constant of the code: if it changes, the code is stale.

    Attributes
    ----------
    value : object
        What was there, if it must be that; a place if it must be what is there.
    key : object
        What must not change of it, if it may change.
    shared : bool
        Whether it is an object of which only the attributes read are built in.
    same : bool
        Whether it must be that object, with that key.
    """

    place: Place
    value: Any = None
    key: object = None
    shared: bool = False
    same: bool = False

    @cached_property
    def _read(self) -> Callable[[Sequence[Any]], Any]:
        """The function that reads the place at every call."""
        return reader(self.place)

    @classmethod
    def of(cls, place: Place, value: Any) -> Guard:
        if isinstance(value, _CONSTANTS) or instances.is_unchanging(value):
            return cls(place, value)
        if instances.is_table(value):
            return cls(place, value)  # what is read of it is read at every call
        # The key of an object may be its address; then it is kept.
        shared = instances.is_lazy(value)
        return cls(place, None if shared else value, key_of(value), shared)

    def holds(self, arguments: Sequence[Any] = ()) -> bool:
        """Whether the guarded value is unchanged."""
        try:
            value = self._read(arguments)
            if self.key is not None:
                return key_of(value) == self.key and (value is self.value or not self.same)
            if value is self.value:
                return True
            if isinstance(self.value, Place):
                return value is self.value.read(arguments)
        except (LookupError, AttributeError):
            return False
        return is_equal(value, self.value)


# Bound methods are new objects at each access, constants by each call of what is around
# a function.
_CONSTANTS = (
    str, bytes, int, float, np.generic, tuple, type(None), types.BuiltinMethodType,
    types.MethodType,
)  # fmt: skip


def is_equal(value: Any, other: Any) -> bool:
    """Whether two constants are the same to any program."""
    if instances.is_value(value):
        return type(value) is type(other) and instances.looks(value) == instances.looks(other)
    if type(value) is not type(other) or not isinstance(value, _CONSTANTS):
        return False
    if isinstance(value, tuple):
        return len(value) == len(other) and all(
            a is b or is_equal(a, b) for a, b in zip(value, other, strict=True)
        )
    if isinstance(value, float | np.inexact):
        return repr(value) == repr(other)  # a zero's sign counts, and NaN is NaN
    return bool(value == other)
