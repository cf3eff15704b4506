"""Calls of Python functions outside, from compiled code (`adc.ir.text.outside`).

Compiled code calls a Python function for each call in the program, with memory:

* words: each number that is passed, as bits; of each array its sizes, address and strides; the
  sizes of what is to be filled;
* a copy of each array that is passed, if its elements lie in C order;
* what is to be filled, where it lies.

The arrays that the user's function takes are copies in immutable memory: it may keep them, and
whoever has a traceback may look at them, while compiled code uses its own memory again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir.text.outside import Outside, Result
from adc.ir.types import Array

Raising = Callable[[Outside, BaseException], None]
# How a number lies in a word.
_CODES = {"f64": "d", "f32": "f4x", "b1": "?7x", "u64": "Q"}
# Bytes that are copied twice faster than an array is made.
_SMALL = 4096
_double = struct.Struct("<d").pack_into


class Table:
    """The Python functions that compiled code calls, and their addresses.

    Parameters
    ----------
    calls : mapping
        The calls in the program, by number.
    raising : callable
        Raises an exception at the line of a call.
    """

    def __init__(self, calls: Mapping[int, Outside], raising: Raising) -> None:
        self._functions = {number: _caller(call, raising) for number, call in calls.items()}
        self.addresses = np.zeros(max(calls) + 1, np.int64)
        for number, function in self._functions.items():
            self.addresses[number] = id(function)


def _caller(outside: Outside, raising: Raising) -> Callable[..., None]:
    """Return what compiled code calls: a few lines that are written for the types of a call.

    For a function of a number and a vector that returns a vector::

        def call(words, m0, m1):
            w0, w1, w2, w3, w4 = unpack(words)
            try:
                x = array((w1,), d1, m0) if m0 else elsewhere((w1,), d1, w2, (w3,))
                found = invoke((w0, x))
                if type(found) is array and found.dtype is t0 and found.shape == (w4,):
                    fill(m1, found, t0, (w4,))
                    return
                values = checked(found, [(w4,)])
            except BaseException as error:
                raising(outside, error)
                raise
            fill(m1, values[0], t0, (w4,))
    """
    space: dict[str, Any] = {
        "array": np.ndarray, "elsewhere": _elsewhere, "fill": _fill, "double": _double,
        "invoke": outside.invoke, "checked": outside.checked, "outside": outside,
        "raising": raising,
    }  # fmt: skip
    codes = ["<"]
    words = arrays = 0

    def take(count: int, code: str) -> list[str]:
        nonlocal words
        codes.append(code)
        words += count
        return [f"w{k}" for k in range(words - count, words)]

    given: list[str] = []
    for k, ty in enumerate(outside.params):
        space[f"d{k}"] = ty.numpy if isinstance(ty, Array) else ty.numpy.type
        if isinstance(ty, Array):
            rank = ty.rank
            found = take(2 * rank + 1, f"{2 * rank + 1}q")
            shape, strides = _tuple(found[:rank]), _tuple(found[rank + 1 :])
            there = f"elsewhere({shape}, d{k}, {found[rank]}, {strides})"
            given.append(f"array({shape}, d{k}, m{arrays}) if m{arrays} else {there}")
            arrays += 1
        else:
            (word,) = take(1, _CODES.get(ty.dtype, "q"))
            given.append(word if ty.weak else f"d{k}({word})")
    made = outside.made
    shapes: list[str] = []
    for k, ty in enumerate(made):
        space[f"t{k}"] = ty.numpy
        rank = ty.rank if isinstance(ty, Array) else 0
        shapes.append(_tuple(take(rank or 1, f"{rank or 1}q")[:rank]))
    memory = [f"m{arrays + k}" for k in range(len(made))]
    names = ["words", *(f"m{k}" for k in range(arrays)), *memory]
    lines = [f"def call({', '.join(names)}):"]
    if words:
        lines.append(f" {_tuple([f'w{k}' for k in range(words)])} = unpack(words)")
    lines += [" try:", f"  found = invoke({_tuple(given)})"]
    if isinstance(outside.results, Result) and len(made) == 1:  # the usual cases
        if isinstance(made[0], Array):
            lines += [
                f"  if type(found) is array and found.dtype is t0 and found.shape == {shapes[0]}:",
                f"   fill({memory[0]}, found, t0, {shapes[0]})",
                "   return",
            ]
        elif made[0].dtype == "f64":
            lines += [
                "  if type(found) is float:",
                f"   double({memory[0]}, 0, found)",
                "   return",
            ]
    lines += [
        f"  values = checked(found, [{', '.join(shapes)}])",
        " except BaseException as error:",
        "  raising(outside, error)",
        "  raise",
    ]
    for k, (place, shape) in enumerate(zip(memory, shapes, strict=True)):
        lines.append(f" fill({place}, values[{k}], t{k}, {shape})")
    space["unpack"] = struct.Struct("".join(codes)).unpack_from
    exec(compile("\n".join(lines), f"<adc external {outside.name}>", "exec"), space)
    made_: Callable[..., None] = space["call"]
    return made_


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)},)" if items else "()"


def _elsewhere(
    shape: tuple[int, ...], dtype: np.dtype[Any], address: int, strides: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Return a copy of an array of any strides; or of one without elements."""
    if 0 in shape:
        return np.ndarray(shape, dtype, b"")
    there = np.asarray(_Memory(address, shape, strides, dtype))
    return np.ndarray(shape, dtype, there.tobytes())


def _fill(out: memoryview, value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Write a number or an array to what compiled code has made for it."""
    if type(value) is float:
        _double(out, 0, value)
    elif value.dtype is dtype and value.nbytes < _SMALL:
        out[:] = value.tobytes()
    else:
        np.ndarray(shape, dtype, out)[...] = value


class _Memory:
    """Memory of compiled code, as NumPy reads it."""

    def __init__(
        self, address: int, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[Any]
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(shape),
            "strides": tuple(strides),
            "typestr": dtype.str,
            "data": (address, False),
        }


__all__ = ["Table"]
