"""Lists of elements that are alike: a loop over such a list can be a loop in the code.

The layers of a model are often a list of dicts or objects with arrays of the same shapes. As an
argument such a list is passed as a `trees.Stack`: one array for each array in an element, with the
elements along its first axis. So the size of the code does not depend on their number, nor does the
code itself. A list is passed so where copies of a loop's body would be long, and where the program
does nothing with it that needs its elements one by one (`language.unrolling` finds it out;
`adc.compiler.prepare` then has the program lowered again).

``[{"w": f64[2, 2], "n": 4}, {"w": f64[2, 2], "n": 4}]`` is ``Stack({"w": f64[:, :], "n": 4})``,
passed as one ``f64[:, :, :]``. What is not a float or an array is part of the program.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc.frontend.inputs import flatten, instances, keys, trees
from adc.frontend.inputs.places import Item, Place, Step
from adc.frontend.inputs.trees import Node, Stack
from adc.ir import foreign
from adc.ir.types import ELEMENTS, Array

_REAL = frozenset(ELEMENTS.values())

Path = tuple[Step, ...]
_FLOATS = frozenset({float, np.float64, np.float32, np.float16})


class _UnlikeError(Exception):
    """An element of a list cannot be part of a stack."""


def _kind(value: Any, whole: bool, sizes: bool) -> object:
    """Return what elements that are alike have in common: the sizes of arrays as well, or not."""
    cls = type(value)
    if cls is np.ndarray:
        flags = value.flags
        if value.dtype not in _REAL or not value.ndim or not flags.carray or not value.size:
            raise _UnlikeError
        return value.dtype, value.ndim, value.shape if sizes else trees.ones_of(value)
    if cls in _FLOATS:
        return cls
    if value is None or cls in (bool, int, str):
        return cls, value
    if cls is types.FunctionType or instances.is_unchanging(value):
        return "object", id(value)
    found = trees.parts_of(value)
    if foreign.kept_of(instances.class_of(cls)):
        raise _UnlikeError
    if found is None or cls is types.MethodType or (not whole and instances.is_lazy(value)):
        raise _UnlikeError
    if cls is list and len(value) > trees.LONGEST_LIST:
        raise _UnlikeError
    keys, items = found
    kinds = tuple([type(key) for key in keys])
    return cls, keys, kinds, tuple([_kind(item, whole, sizes) for item in items])


def _has_array(value: Any) -> bool:
    if type(value) is np.ndarray:
        return bool(value.dtype.kind == "f")
    parts = trees.parts_of(value)
    return parts is not None and any(map(_has_array, parts[1]))


def are_alike(value: Any, whole: bool) -> bool:
    """Whether a value is a list of several elements that are alike, with arrays of floats."""
    if type(value) is not list or len(value) < 2 or type(value[0]) in _FLOATS:
        return False
    try:
        kind = _kind(value[0], whole, True)
        return all(_kind(item, whole, True) == kind for item in value[1:]) and _has_array(value[0])
    except (_UnlikeError, RecursionError):
        return False


def places(value: Any, whole: bool, place: Place) -> Iterator[Place]:
    """Yield the places of the lists in an argument that can be passed as stacks."""
    if are_alike(value, whole):
        yield place
        return
    if _is_open(value, whole):
        for step, item in _inside(value):
            yield from places(item, whole, place.to(step))


def _is_open(value: Any, whole: bool) -> bool:
    """Whether what a value holds is passed by its parts."""
    if trees.type_of(value) is not None or type(value) is types.MethodType:
        return False
    return trees.parts_of(value) is not None and (whole or not instances.is_lazy(value))


def _inside(value: Any) -> list[tuple[Step, Any]]:
    """Return the steps to what a container holds."""
    parts = trees.parts_of(value)
    assert parts is not None
    keys, items = parts
    if not isinstance(value, dict) and keys:
        return [(str(key), item) for key, item in zip(keys, items, strict=True)]
    return [(Item(key), item) for key, item in zip(keys or range(len(items)), items, strict=True)]


def _beyond(paths: Sequence[Path], step: Step) -> list[Path]:
    return [path[1:] for path in paths if path[0] == step]


def key_of(value: Any, whole: bool, paths: Sequence[Path]) -> object:
    """Return the same as `keys.key_of`, where the lists at some paths are passed as stacks."""
    if () in paths and are_alike(value, whole):
        return "stack", _kind(value[0], whole, False)
    if not paths or () in paths or not _is_open(value, whole):
        return keys.key_of(value, whole)
    own = _keys(value)
    items = tuple([key_of(item, whole, _beyond(paths, step)) for step, item in _inside(value)])
    return type(value), own, tuple([type(key) for key in own]), items


def tree_of(value: Any, whole: bool, paths: Sequence[Path]) -> Any:
    """Return the same as `trees.tree_of`, where the lists at some paths are passed as stacks."""
    if () in paths and are_alike(value, whole):
        return Stack(_item(value[0], whole))
    if not paths or () in paths or not _is_open(value, whole):
        return trees.tree_of(value, whole)
    items = tuple([tree_of(item, whole, _beyond(paths, step)) for step, item in _inside(value)])
    return items if type(value) is tuple else Node(type(value), _keys(value), items)


def _item(value: Any, whole: bool) -> Any:
    """Return the type tree of an element: integers are part of the program."""
    if type(value) is int:
        return value
    tree = trees.tree_of(value, whole)
    if not trees.is_container(tree):
        return tree
    items = tuple([_item(item, whole) for _, item in _inside(value)])
    return items if isinstance(tree, tuple) else Node(tree.cls, tree.keys, items)


def packer(ty: Array) -> Callable[[list[Any]], Any]:
    """Return what makes an array of numbers, or of arrays; it raises if these are not alike."""

    def pack(parts: list[Any]) -> Any:
        if ty.rank > 1:
            first = parts[0]
            for part in parts:
                if (
                    type(part) is not np.ndarray
                    or part.dtype != ty.numpy
                    or part.shape != first.shape
                    or not part.flags.carray
                ):
                    raise ValueError
            if first.ndim + 1 != ty.rank or trees.ones_of(first) != tuple([k - 1 for k in ty.ones]):
                raise ValueError
        return flatten.stacked(ty, parts)

    return pack


def _keys(value: Any) -> tuple[Any, ...]:
    parts = trees.parts_of(value)
    return () if parts is None else parts[0]


__all__ = ["are_alike", "key_of", "packer", "places", "tree_of"]
