"""Calls of Python functions outside, from compiled code (`adc.ir.text.outside`).

Compiled code leaves words on its stack, and calls one Python function with a view of them::

    the number of the call
    each number that is passed, as bits
    of each array that is passed, and then of each that is to be filled:
        the address, sizes, strides in bytes

The arrays that a function is passed are copies, in immutable memory: it may keep them, and whoever
has a traceback may look at them, while the memory of compiled code changes.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir.text.outside import Outside
from adc.ir.types import Array, Type

_copy = ctypes.string_at
# How a number lies in a word.
_CODES = {"f64": "d", "f32": "f4x", "b1": "?7x", "u64": "Q"}
Reader = Callable[[tuple[Any, ...]], Any]


def caller(
    table: Mapping[int, Outside], raising: Callable[[Outside, BaseException], None]
) -> Callable[[memoryview], None]:
    """Return what compiled code calls; `raising` raises an exception at the line of a call."""
    known: dict[int, Callable[[memoryview], None]] = {}

    def call(words: memoryview) -> None:
        number = int.from_bytes(words[:8], "little")
        function = known.get(number)
        if function is None:
            function = known[number] = _function(table[number], raising)
        function(words)

    return call


def _function(
    outside: Outside, raising: Callable[[Outside, BaseException], None]
) -> Callable[[memoryview], None]:
    codes, at = ["<8x"], 0
    readers: list[Reader] = []
    for ty in outside.params:
        readers.append(_reader(ty, at))
        codes.append(_code(ty))
        at += 1 + 2 * ty.rank if isinstance(ty, Array) else 1
    places: list[tuple[int, int, np.dtype[Any]]] = []
    for ty in outside.made:
        rank = ty.rank if isinstance(ty, Array) else 1
        places.append((at, ty.rank if isinstance(ty, Array) else 0, ty.numpy))
        codes.append(f"{1 + 2 * rank}q")
        at += 1 + 2 * rank
    unpack = struct.Struct("".join(codes)).unpack_from
    run = outside.run

    def call(words: memoryview) -> None:
        found = unpack(words)
        leaves = [read(found) for read in readers]
        shapes = [found[at + 1 : at + 1 + rank] for at, rank, _ in places]
        try:
            values = run(leaves, shapes)
        except BaseException as error:
            raising(outside, error)
            raise
        for value, (at, _, dtype), shape in zip(values, places, shapes, strict=True):
            _fill(found[at], value, dtype, shape)

    return call


def _code(ty: Type) -> str:
    if isinstance(ty, Array):
        return f"{1 + 2 * ty.rank}q"
    return _CODES.get(ty.dtype, "q")


def _reader(ty: Type, at: int) -> Reader:
    """Return what takes a number or an array from the words."""
    make = ty.numpy.type
    if not isinstance(ty, Array):
        if ty.weak:
            return lambda found: found[at]
        return lambda found: make(found[at])
    dtype, rank = ty.numpy, ty.rank
    item = dtype.itemsize

    def read(found: tuple[Any, ...]) -> Any:
        address, shape = found[at], found[at + 1 : at + 1 + rank]
        strides = found[at + 1 + rank : at + 1 + 2 * rank]
        if _by_rows(shape, strides, item):
            return np.ndarray(shape, dtype, _copy(address, math.prod(shape) * item))
        memory = np.asarray(_Memory(address, shape, strides, dtype))
        return np.ndarray(shape, dtype, memory.tobytes())

    return read


def _by_rows(shape: Sequence[int], strides: Sequence[int], step: int) -> bool:
    """Whether elements lie in C order, without gaps."""
    if 0 in shape:
        return True
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


class _Memory:
    """Memory of compiled code, as NumPy reads it."""

    def __init__(
        self, address: int, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[Any]
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "data": (address, False),
        }


def _fill(address: int, value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Write what was returned to an array in C order; a number has no shape."""
    if type(value) is float:
        ctypes.c_double.from_address(address).value = value
        return
    size = math.prod(shape)
    if size:
        memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
        np.ndarray(shape, dtype, memory)[...] = value


__all__ = ["caller"]
