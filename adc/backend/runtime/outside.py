"""Calls of Python functions outside, from compiled code (`adc.ir.text.outside`).

Compiled code calls a Python function for each call in the program, with memory:

* words: each number that is passed, as bits; of each array its sizes, address and strides; the
  sizes of what is to be filled;
* a copy of each array that is passed, if its elements lie in C order;
* what is to be filled, where it lies.

Of a function of adc's own there may be machine code as well (`library.mpi.native`). It is called
first, with what is known of the call, and with the words, after which are the addresses of what is
to be filled. Python is called if it does not return 1.

The arrays that the user's function takes are copies in immutable memory: it may keep them, and
whoever has a traceback may look at them, while compiled code uses its own memory again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.ir.text.outside import Constant, Leaf, Outside, Result
from adc.ir.types import HALF, Array

Raising = Callable[[Outside, BaseException], None]
# How a number lies in a word.
_CODES = {"f64": "d", "f32": "f4x", "b1": "?7x", "u64": "Q"}
# Bytes that are copied twice faster than an array is made.
_SMALL = 4096
_double, _integer = struct.Struct("<d").pack_into, struct.Struct("<q").pack_into


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
        self._natives: dict[int, np.ndarray[Any, Any]] = {}
        # Of each call, the address of the Python function, and of what its machine code is told,
        # of which the first word is the address of the code; 0: there is none.
        self.addresses = np.zeros((max(calls) + 1, 2), np.int64)
        for number, function in self._functions.items():
            self.addresses[number, 0] = id(function)
            native = _native(calls[number])
            if native is not None:
                self._natives[number] = native
                self.addresses[number, 1] = native.ctypes.data


def _native(call: Outside) -> np.ndarray[Any, Any] | None:
    """Return what the machine code for a call is told, if there is any."""
    if not hasattr(type(call.fn), "__adc_native__"):
        return None
    of: Any = call.fn
    found: np.ndarray[Any, Any] | None = of.__adc_native__(call)
    return found


def _caller(outside: Outside, raising: Raising) -> Callable[..., None]:
    """Return what compiled code calls: a few lines that are written for the types of a call.

    For a function of a number and a vector that returns a vector::

        def call(words, m0, m1):
            w0, w1, w2, w3, w4 = unpack(words)
            try:
                x = array((w1,), d1, m0) if m0 else elsewhere((w1,), d1, w2, (w3,))
                found = function(w0, x)
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
        "integer": _integer, "invoke": outside.invoke, "checked": outside.checked,
        "outside": outside, "raising": raising,
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
        rank = ty.rank
        shapes.append(_tuple(take(rank or 1, f"{rank or 1}q")[:rank]))
    memory = [f"m{arrays + k}" for k in range(len(made))]
    names = ["words", *(f"m{k}" for k in range(arrays)), *memory]
    lines = [f"def call({', '.join(names)}):"]
    if words:
        lines.append(f" {_tuple([f'w{k}' for k in range(words)])} = unpack(words)")
    lines += [" try:", f"  found = {_call(outside, given, space)}"]
    lines += _usual(outside, shapes, memory)
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


def _call(outside: Outside, given: Sequence[str], space: dict[str, Any]) -> str:
    """Return the text of a call of the function with what is passed, and constants."""
    args: list[str] = []
    for k, part in enumerate(outside.args):
        match part:
            case Leaf(at, ty) if ty.dtype != HALF and ty.kind != "c":
                args.append(given[at])
            case Constant(value):
                space[f"c{k}"] = value
                args.append(f"c{k}")
            case _:
                return f"invoke({_tuple(given)})"
    if outside.kwargs:
        return f"invoke({_tuple(given)})"
    space["function"] = outside.fn
    return f"function({', '.join(args)})"


# How numbers of Python's types are written.
_WRITTEN = {"f64": ("float", "double"), "i64": ("int", "integer")}


def _usual(outside: Outside, shapes: Sequence[str], memory: Sequence[str]) -> list[str]:
    """Return statements for a result that is as it should be: a number or an array, or some."""
    results = outside.results
    several = isinstance(results, tuple)
    items = results if isinstance(results, tuple) else (results,)
    names = [f"r{k}" for k in range(len(items))] if several else ["found"]
    tests = [f"type(found) is tuple and len(found) == {len(items)}"] if several else []
    checks: list[str] = []
    writes: list[str] = []
    for k, (each, name) in enumerate(zip(items, names, strict=True)):
        if not isinstance(each, Result) or each.type.kind == "c" or each.type.dtype == HALF:
            return []
        if isinstance(each.type, Array):
            checks.append(f"type({name}) is array and {name}.dtype is t{k}")
            checks.append(f"{name}.shape == {shapes[k]}")
            writes.append(f"fill({memory[k]}, {name}, t{k}, {shapes[k]})")
        elif each.type.dtype in _WRITTEN:
            kind, write = _WRITTEN[each.type.dtype]
            checks.append(f"type({name}) is {kind}")
            if kind == "int":
                checks.append(f"{-(2**63)} <= {name} < {2**63}")
            writes.append(f"{write}({memory[k]}, 0, {name})")
        else:
            return []
    if not items:
        return []
    lines = [f"  if {' and '.join(tests or checks)}:"]
    if several:
        lines += [f"   {_tuple(names)} = found", f"   if {' and '.join(checks)}:"]
    indent = " " * (4 if several else 3)
    return [*lines, *(indent + write for write in writes), indent + "return"]


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
