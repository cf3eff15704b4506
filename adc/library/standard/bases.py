"""What classes of programs inherit from builtin ones: the methods of `dict`, in plain Python.

An object of such a class has what it holds as an attribute of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Dict:
    """`dict`, as the base of a class; the items are a dict in an attribute."""

    __contents__: dict[Any, Any]
    __missing__: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__contents__.update(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        if hasattr(type(self), "__missing__") and key not in self.__contents__:
            return self.__missing__(key)
        return self.__contents__[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__contents__[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.__contents__[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.__contents__

    def __len__(self) -> int:
        return len(self.__contents__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__contents__)

    def __eq__(self, other: object) -> bool:
        return self.__contents__ == other

    def __ne__(self, other: object) -> bool:
        return self.__contents__ != other

    def __or__(self, other: Any) -> dict[Any, Any]:
        return self.__contents__ | dict(other)

    def __ror__(self, other: Any) -> dict[Any, Any]:
        return dict(other) | self.__contents__

    def __ior__(self, other: Any) -> Any:
        self.__contents__.update(other)
        return self

    def keys(self) -> Any:
        return self.__contents__.keys()

    def values(self) -> Any:
        return self.__contents__.values()

    def items(self) -> Any:
        return self.__contents__.items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.__contents__.get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.__contents__.pop(key, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.__contents__.setdefault(key, default)

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.__contents__.update(*args, **kwargs)

    def copy(self) -> dict[Any, Any]:
        return self.__contents__.copy()

    def clear(self) -> None:
        self.__contents__.clear()

    def popitem(self) -> Any:
        return self.__contents__.popitem()


def each(owner: Any) -> Iterator[Any]:
    """`Sequence.__iter__`."""
    for k in range(len(owner)):
        yield owner[k]


def put(contents: Any, key: Any, value: Any) -> None:
    """Put an item into what an object holds."""
    contents[key] = value


def copier(owner: Any) -> Any:
    """Return what `copy.deepcopy` asks an object for, which its `__getattr__` may answer."""
    return getattr(owner, "__deepcopy__", None)


def items_of(owner: Any) -> dict[Any, Any]:
    """Return what `dict` makes of an object with `keys`."""
    return {key: owner[key] for key in owner.keys()}


def has(owner: Any, name: str) -> bool:
    """`hasattr` of an object with `__getattr__`."""
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True


def get(owner: Any, name: str, default: Any) -> Any:
    """`getattr` with a default, of an object with `__getattr__`."""
    try:
        return getattr(owner, name)
    except AttributeError:
        return default
