"""Builtin classes that classes of programs inherit from: what code has in their place.

An object of a subclass of `dict` has its items in an attribute, `CONTENTS`, whose name no program
has. The methods of `dict` are Python functions that the library has (`bases.Dict`).
"""

from __future__ import annotations

import collections.abc
import functools
import types
from collections.abc import Sequence
from typing import Any

from adc.ir.foreign import BASES, is_variant
from adc.library.standard import bases

CONTENTS = "__contents__"
# An attribute of objects of which the items are the attributes, after `self.__dict__ = self`.
SHARED = "__dict__"
_IN_PLACE: dict[type, type] = {dict: bases.Dict}
_EACH = collections.abc.Sequence.__iter__  # which loops until an item is missing
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)


def has_contents(cls: type) -> bool:
    """Whether objects of a class hold what its builtin base holds."""
    return issubclass(cls, BASES) and not is_variant(cls)


@functools.lru_cache(maxsize=1024)
def _replaced(order: tuple[type, ...]) -> tuple[type, ...]:
    return tuple(_IN_PLACE.get(each, each) for each in order)


def order_of(cls: type) -> Sequence[type]:
    """Return the method resolution order of a class, with what code has for builtin bases."""
    return _replaced(cls.__mro__) if issubclass(cls, BASES) else cls.__mro__


def meaning(value: Any) -> Any:
    """Return the function that code has for a method of a builtin base; of others, the same.

    A class may have it under another name: ``__getattr__ = dict.get``.
    """
    if value is _EACH:
        return bases.each
    if type(value) not in _DESCRIPTORS:
        return value
    found = _IN_PLACE.get(value.__objclass__)
    return value if found is None else vars(found).get(value.__name__, value)


def method(name: str) -> Any:
    """Return the function that code has for a method of `dict`."""
    return vars(bases.Dict)[name]


def contents_of(value: Any) -> dict[Any, Any]:
    """Return a copy of what an object holds; no code of its class runs."""
    return dict(dict.items(value))


def put(owner: Any, key: Any, value: Any) -> None:
    """Give an object an item; no code of its class runs."""
    dict.__setitem__(owner, key, value)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of such an object, and what it holds as one."""
    own = value.__dict__ if type(value).__dictoffset__ else {}
    held = {CONTENTS: contents_of(value)}
    return {**held, SHARED: True} if own is value else {**held, **own}


def build(cls: type, held: dict[str, Any]) -> Any:
    """Return an object of such a class; no code of the class runs."""
    made: Any = dict.__new__(cls)
    for name, item in held.items():
        if name == CONTENTS:
            dict.update(made, item)
        else:
            object.__setattr__(made, name, made if name == SHARED else item)
    return made
