"""The numbers and arrays in arguments, and in tangents of them, as code takes them."""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.frontend.inputs import bases, complexes
from adc.frontend.inputs.instances import is_lazy, is_legacy_class
from adc.frontend.inputs.trees import (
    DICTS,
    Communicator,
    Complex,
    Generator,
    Instance,
    Members,
    Node,
    Numbers,
    Stack,
    class_in_tree,
    contents,
    is_container,
    parts_of,
)
from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.ir.types import Array, Scalar
from adc.library.mpi import channels

_WORD = 2**64 - 1


def leaves(value: Any, tree: Any, *, boxed: bool = False) -> list[Any]:
    """Return the numbers and arrays in an argument, as code takes them.

    `boxed`: but for 0-d arrays, which are not the numbers in them.
    """
    found: list[Any] = []
    _add_leaves(value, tree, found, boxed)
    return found


def _add_leaves(value: Any, tree: Any, found: list[Any], boxed: bool) -> None:
    cls = type(tree)
    if cls is Array or (boxed and cls is Scalar):
        of_subclass = isinstance(value, np.ndarray) and type(value) is not np.ndarray
        found.append(value.view(np.ndarray) if of_subclass else value)
    elif cls is Scalar:
        # A 0-d array is the number that it holds.
        if isinstance(value, (float, int, np.generic)):  # half the time of a union
            found.append(value)
        else:
            found.append(
                np.asarray(value)[()] if isinstance(value, np.ndarray) else foreign.number(value)
            )
    elif cls is tuple or cls is Node:
        held = value.values() if type(value) is dict else _held(value)
        for item, inner in zip(held, contents(tree), strict=True):
            _add_leaves(item, inner, found, boxed)
    elif cls is Numbers:
        found.append(np.array(value, tree.type.numpy))
    elif cls is Stack:
        rows = [leaves(item, tree.item) for item in value]
        for ty, column in zip(tree.arrays, zip(*rows, strict=True), strict=True):
            found.append(stacked(ty, column))
    elif cls is Complex:
        found += complexes.parts(value, tree.type, copied=not boxed)
    elif cls is Generator:
        found.append(words(value))
    elif cls is Communicator:
        found += channels.known_as(value)


def stacked(ty: Array, parts: Sequence[Any]) -> Parts | np.ndarray[Any, Any]:
    """Return numbers or arrays, one for each element of a list, as an array."""
    return np.array(parts, ty.numpy) if ty.rank == 1 else Parts(parts)


class Parts:
    """An array whose parts along the first axis are arrays of their own, of one shape and dtype.

    Attributes
    ----------
    arrays : sequence of ndarray
        The parts.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self.arrays = arrays

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.arrays), *self.arrays[0].shape

    @property
    def size(self) -> int:
        return len(self.arrays) * self.arrays[0].size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.arrays, dtype)


def words(generator: Any) -> np.ndarray[Any, Any]:
    """Return the state of a generator.

    Examples
    --------
    >>> words(np.random.default_rng(0))[4:]
    array([0, 0], dtype=uint64)
    >>> words(np.random.RandomState(0))[624:]
    array([624,   0,   0], dtype=uint64)
    """
    if is_legacy_class(type(generator)):
        held = generator.get_state(legacy=False)
        gauss = np.float64(held["gauss"]).view(np.uint64)
        last = held["state"]["pos"], held["has_gauss"], gauss
        return np.concatenate([held["state"]["key"], np.array(last, np.uint64)])
    held = generator.bit_generator.state
    state, step = held["state"]["state"], held["state"]["inc"]
    return np.array(
        [state >> 64, state & _WORD, step >> 64, step & _WORD, held["has_uint32"],
         held["uinteger"]],
        np.uint64,
    )  # fmt: skip


def advance(generator: Any, state: np.ndarray[Any, Any]) -> None:
    """Give a generator the state that code returned."""
    if is_legacy_class(type(generator)):
        pos, has_gauss, gauss = state[624:]
        generator.set_state(
            {
                "bit_generator": "MT19937",
                "state": {"key": state[:624].astype(np.uint32), "pos": int(pos)},
                "has_gauss": int(has_gauss),
                "gauss": float(gauss.view(np.float64)),
            }
        )
        return
    high, low, step_high, step_low, full, half = state.tolist()
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": step_high << 64 | step_low},
        "has_uint32": full,
        "uinteger": half,
    }


def held(value: Any, tree: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in an argument, as they are there."""
    if isinstance(tree, Array | Scalar | Complex):
        yield value
    elif is_container(tree):
        for item, inner in zip(_held(value), contents(tree), strict=True):
            yield from held(item, inner)
    elif isinstance(tree, Stack):
        for item in value:
            yield from held(item, tree.item)


def changeable(value: Any, tree: Any) -> Iterator[int]:
    """Yield the identities of the lists, dicts and objects in an argument."""
    if isinstance(tree, Instance | Numbers | Members):
        yield id(value)
    elif is_container(tree):
        if isinstance(tree, Node) and (tree.cls is list or tree.cls in DICTS):
            yield id(value)
        elif is_lazy(value):
            yield id(value)
        copied = isinstance(tree, Node) and bases.has_contents(tree.cls)
        for k, (item, inner) in enumerate(zip(_held(value), contents(tree), strict=True)):
            # The first is a copy of what the object holds.
            yield from itertools.islice(changeable(item, inner), int(copied and k == 0), None)
    elif isinstance(tree, Stack):
        yield id(value)
        for item in value:
            yield from changeable(item, tree.item)


def _held(value: Any) -> Sequence[Any]:
    """Return what a container holds directly."""
    found = parts_of(value)
    assert found is not None
    return found[1]


@dataclass(frozen=True, slots=True)
class Same:
    """A number or an array of a direction that must be what is there: part of a pattern."""

    value: Any

    def check(self, there: Any, what: str) -> None:
        """Raise unless it is."""
        if not np.array_equal(self.value, there):
            raise ArgumentError(
                f"{what} has another pattern", None, "copy the sparse array, and replace its `data`"
            )


def tangents(tree: Any, tangent: Any, name: str) -> Iterator[tuple[Scalar | Array, Any]]:
    """Yield the types of all leaves and the tangents of them, checked to be like the argument."""
    if isinstance(tree, Scalar | Array):
        yield tree, tangent
    if isinstance(tree, Complex):
        number = np.asarray(tangent)
        yield from zip(tree.parts, (number.real, number.imag), strict=True)
    if isinstance(tree, Numbers):
        if not isinstance(tangent, list):
            raise ArgumentError(f"the tangent of {name!r} must be a list")
        yield tree.array, tangent
    if isinstance(tree, Stack):
        yield from _stacked_tangents(tree, tangent, name)
    if isinstance(tree, Generator):
        yield tree.array, None
    if isinstance(tree, Communicator):
        yield from ((ty, None) for ty in tree.parts)
    if not is_container(tree):
        return
    cls = tuple if isinstance(tree, tuple) else tree.cls
    if cls is types.MethodType:
        yield from tangents(tree.items[0], tangent, name)
        return
    found = parts_of(tangent) if issubclass(class_in_tree(tangent), cls) else None
    keys = tree.keys if isinstance(tree, Node) else ()
    if found is None or len(found[1]) != len(contents(tree)) or set(found[0]) != set(keys):
        what = f"a {cls.__name__} with {', '.join(map(repr, keys))}" if keys else (
            f"a {cls.__name__} of {len(contents(tree))}"
        )  # fmt: skip
        raise ArgumentError(f"the tangent of {name!r} must be {what}")
    by_key = dict(zip(found[0], found[1], strict=True)) if keys else {}
    kept = foreign.kept_of(cls)
    for key, inner, item in itertools.zip_longest(keys, contents(tree), found[1]):
        each = tangents(inner, by_key[key] if keys else item, name)
        yield from ((ty, Same(leaf)) for ty, leaf in each) if key in kept else each


def _stacked_tangents(tree: Stack, tangent: Any, name: str) -> Iterator[tuple[Array, Any]]:
    if not isinstance(tangent, list):
        raise ArgumentError(f"the tangent of {name!r} must have a list where the argument has one")
    rows = [[leaf for _, leaf in tangents(tree.item, item, name)] for item in tangent]
    for k, ty in enumerate(tree.arrays):
        column = [row[k] for row in rows]
        if ty.kind != "f":
            yield ty, None
        elif len({np.shape(leaf) for leaf in column}) > 1:
            raise ArgumentError(f"the tangents in the list of {name!r} have several shapes")
        else:
            yield ty, np.array(column)
