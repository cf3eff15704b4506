"""Whether arrays are laid out as compiled code takes them, asked of all in one native call.

Asking each array from Python for its type, dtype, flags and shape takes 0.2 microseconds, which is
most of the time of a call with hundreds of parameters. The function here reads the same from the
array objects: NumPy's headers publish their structure, and every extension module relies on it.
Where objects of the interpreter begin otherwise (without the GIL), Python asks.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from adc.ir.types import Array

# In `PyArrayObject_fields` and `PyArray_DescrProto`, after 16 bytes of an object's head.
_IR = """
declare ptr @PyBool_FromLong(i64)

define internal i1 @adc_is(ptr %arg, ptr %row) {{
entry:
  %class.at = getelementptr i8, ptr %arg, i64 8
  %class = load i64, ptr %class.at
  %exact = icmp eq i64 %class, {ndarray}
  br i1 %exact, label %array, label %no
array:
  %rank.at = getelementptr i8, ptr %arg, i64 24
  %rank = load i32, ptr %rank.at
  %rank.64 = sext i32 %rank to i64
  %wanted.rank = load i64, ptr %row
  %same.rank = icmp eq i64 %rank.64, %wanted.rank
  br i1 %same.rank, label %flags, label %no
flags:
  %flags.at = getelementptr i8, ptr %arg, i64 64
  %flags.32 = load i32, ptr %flags.at
  %flags.64 = zext i32 %flags.32 to i64
  %masked = and i64 %flags.64, {mask}
  %wanted.flags.at = getelementptr i8, ptr %row, i64 8
  %wanted.flags = load i64, ptr %wanted.flags.at
  %same.flags = icmp eq i64 %masked, %wanted.flags
  br i1 %same.flags, label %type, label %no
type:
  %dtype.at = getelementptr i8, ptr %arg, i64 56
  %dtype = load ptr, ptr %dtype.at
  %order.at = getelementptr i8, ptr %dtype, i64 26
  %order = load i8, ptr %order.at
  %order.64 = zext i8 %order to i64
  %wanted.order.at = getelementptr i8, ptr %row, i64 16
  %wanted.order = load i64, ptr %wanted.order.at
  %same.order = icmp eq i64 %order.64, %wanted.order
  %number.at = getelementptr i8, ptr %dtype, i64 28
  %number = load i32, ptr %number.at
  %number.64 = sext i32 %number to i64
  %wanted.number.at = getelementptr i8, ptr %row, i64 24
  %wanted.number = load i64, ptr %wanted.number.at
  %same.number = icmp eq i64 %number.64, %wanted.number
  %same.type = and i1 %same.order, %same.number
  br i1 %same.type, label %shape, label %no
shape:
  %sizes.at = getelementptr i8, ptr %arg, i64 32
  %sizes = load ptr, ptr %sizes.at
  %ones.at = getelementptr i8, ptr %row, i64 32
  %ones = load i64, ptr %ones.at
  br label %axis
axis:
  %j = phi i64 [0, %shape], [%j.1, %size]
  %axes = icmp slt i64 %j, %rank.64
  br i1 %axes, label %size, label %yes
size:
  %j.1 = add i64 %j, 1
  %size.at = getelementptr i64, ptr %sizes, i64 %j
  %found = load i64, ptr %size.at
  %one = icmp eq i64 %found, 1
  %shifted = lshr i64 %ones, %j
  %wanted.one = trunc i64 %shifted to i1
  %same.size = icmp eq i1 %one, %wanted.one
  br i1 %same.size, label %axis, label %no
yes:
  ret i1 1
no:
  ret i1 0
}}

define ptr @adc_laid_out(ptr %self, ptr %args, i64 %count) {{
entry:
  %table.at = getelementptr i8, ptr %self, i64 16
  %table = load ptr, ptr %table.at
  br label %next
next:
  %k = phi i64 [0, %entry], [%k.1, %object]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %object, label %yes
object:
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %row.at = mul i64 %k, 40
  %row = getelementptr i8, ptr %table, i64 %row.at
  %good = call i1 @adc_is(ptr %arg, ptr %row)
  %k.1 = add i64 %k, 1
  br i1 %good, label %next, label %no
{answer}
}}

define ptr @adc_addresses(ptr %self, ptr %args, i64 %count) {{
entry:
  %table.at = getelementptr i8, ptr %self, i64 16
  %row = load ptr, ptr %table.at
  %rank = load i64, ptr %row
  %out = load ptr, ptr %args
  %words.at = getelementptr i8, ptr %out, i64 16
  %words = load ptr, ptr %words.at
  %first.at = getelementptr ptr, ptr %args, i64 1
  %first = load ptr, ptr %first.at
  %parts = sub i64 %count, 1
  store i64 %parts, ptr %words
  br label %next
next:
  %k = phi i64 [1, %entry], [%k.1, %equal]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %object, label %yes
object:
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %good = call i1 @adc_is(ptr %arg, ptr %row)
  br i1 %good, label %array, label %no
array:
  %sizes.at = getelementptr i8, ptr %arg, i64 32
  %sizes = load ptr, ptr %sizes.at
  %common.at = getelementptr i8, ptr %first, i64 32
  %common = load ptr, ptr %common.at
  br label %axis
axis:
  %j = phi i64 [0, %array], [%j.1, %same]
  %axes = icmp slt i64 %j, %rank
  br i1 %axes, label %size, label %equal
size:
  %j.1 = add i64 %j, 1
  %size.at = getelementptr i64, ptr %sizes, i64 %j
  %found = load i64, ptr %size.at
  %wanted.at = getelementptr i64, ptr %common, i64 %j
  %wanted = load i64, ptr %wanted.at
  %is.same = icmp eq i64 %found, %wanted
  br i1 %is.same, label %same, label %no
same:
  %word.at = getelementptr i64, ptr %words, i64 %j.1
  store i64 %found, ptr %word.at
  br label %axis
equal:
  %data.at = getelementptr i8, ptr %arg, i64 16
  %data = load i64, ptr %data.at
  %place = add i64 %rank, %k
  %address.at = getelementptr i64, ptr %words, i64 %place
  store i64 %data, ptr %address.at
  %k.1 = add i64 %k, 1
  br label %next
{answer}
}}
"""
# How a function ends that answers Python.
_ANSWER = """\
yes:
  %true = call ptr @PyBool_FromLong(i64 1)
  ret ptr %true
no:
  %false = call ptr @PyBool_FromLong(i64 0)
  ret ptr %false"""
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_MASK = _CONTIGUOUS | _ALIGNED | _WRITEABLE
_FASTCALL = 0x80
_HEAD = 16  # bytes of the head of an object: its references and its class


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _flags(ty: Array) -> int:
    """Return the flags of an array that code takes as it is."""
    return _MASK if ty.layout == "C" else _ALIGNED | _WRITEABLE


def _asked(types: Sequence[Array]) -> Callable[..., bool]:
    """Return the same as `laid_out`, in Python."""
    wanted = [(ty.numpy, ty.rank, ty.layout == "C", ty.ones) for ty in types]

    def check(*arrays: Any) -> bool:
        for array, (dtype, rank, contiguous, ones) in zip(arrays, wanted, strict=True):
            if type(array) is not np.ndarray or array.dtype != dtype or array.ndim != rank:
                return False
            flags, shape = array.flags, array.shape
            if not flags.behaved or flags.c_contiguous != contiguous:
                return False
            if tuple([k for k, size in enumerate(shape) if size == 1]) != ones:
                return False
        return True

    return check


class _Native:
    """The compiled function, and what keeps it in memory."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        text = _IR.format(ndarray=id(np.ndarray), mask=_MASK, answer=_ANSWER)
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self._methods = {
            name: _Method(
                name.encode(), self._engine.get_function_address(f"adc_{name}"), _FASTCALL, None
            )
            for name in ("laid_out", "addresses")
        }
        self._make: Any = ctypes.pythonapi.PyCFunction_NewEx
        self._make.restype = ctypes.py_object
        self._make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]

    def bound(self, types: Sequence[Array], name: str = "laid_out") -> Callable[..., bool]:
        table = np.zeros((len(types), 5), np.int64)
        for row, ty in zip(table, types, strict=True):
            ones = sum(1 << k for k in ty.ones)
            row[:] = ty.rank, _flags(ty), ord(ty.numpy.byteorder), ty.numpy.num, ones
        # The function keeps the table alive, from which it reads.
        method = ctypes.addressof(self._methods[name])
        made: Callable[..., bool] = self._make(method, table, None)
        return made


@functools.cache
def _native() -> _Native | None:
    """Return the compiled function, or None where it would not work."""
    if object.__basicsize__ != _HEAD or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    found = _Native()
    x, y = np.zeros((1, 3)), np.zeros((3, 2), np.int32).T
    types = Array("f64", 2, "C", (0,)), Array("i32", 2, "A")
    check = found.bound(types)
    tried = [(x, y), (y, x), (x.T, y), (x, y.T), (x.view(np.int64), y), (x[0], y), (x, 1.0)]
    expected = [_asked(types)(*arrays) for arrays in tried]
    if [check(*arrays) for arrays in tried] != expected:
        return None
    part = Array("f64", 2, "C", (0,))
    words, wanted = np.zeros((2, 5), np.int64)
    for others in ((x, x + 1.0), (x, np.zeros((1, 4))), (x, y)):
        same = found.bound([part], "addresses")(words, *others) == _written_by(part)(
            wanted, *others
        )
        if not same or (others[1].shape == x.shape and list(words) != list(wanted)):
            return None
    return found


def laid_out(types: Sequence[Array]) -> Callable[..., bool]:
    """Return a function that takes as many objects and tells whether they are arrays of `types`.

    That is, NumPy's own arrays of these dtypes and ranks, aligned, to be written, contiguous where
    the type is, not where it is not, and with axes of size 1 exactly where the type has them. Code
    takes them as they are. An array of another dtype that is as wide counts as of another type.

    Examples
    --------
    >>> fits = laid_out([Array("f64", 1), Array("f64", 2, "C", (0,))])
    >>> fits(np.zeros(3), np.zeros((1, 3))), fits(np.zeros(3), np.zeros((3, 1)))
    (True, False)
    """
    native = _native()
    return _asked(types) if native is None else native.bound(types)


def addresses(ty: Array) -> Callable[[Any], np.ndarray[Any, Any]]:
    """Return a function that takes the parts of an array of type `ty` and returns their table.

    That is the sizes of the array, and then the addresses of the parts. It raises a ValueError if
    these are not arrays of one shape, laid out as `laid_out` says.

    Examples
    --------
    >>> parts = [np.zeros((2, 3)), np.ones((2, 3))]
    >>> table = addresses(Array("f64", 3))(parts)
    >>> table[:3], table[4] == parts[1].ctypes.data
    (array([2, 2, 3]), np.True_)
    """
    part = Array(ty.dtype, ty.rank - 1, "C", tuple([k - 1 for k in ty.ones]))
    native = _native()
    write = _written_by(part) if native is None else native.bound([part], "addresses")

    def table(parts: Any) -> np.ndarray[Any, Any]:
        arrays = getattr(parts, "arrays", parts)
        words = np.empty(ty.rank + len(arrays), np.int64)
        if not write(words, *arrays):
            raise ValueError("the arrays in a list are not alike")
        return words

    return table


def _written_by(part: Array) -> Callable[..., bool]:
    """Return the same as the compiled function that writes addresses, in Python."""

    def write(words: np.ndarray[Any, Any], *arrays: Any) -> bool:
        if not _asked([part] * len(arrays))(*arrays) or len({a.shape for a in arrays}) > 1:
            return False
        words[:] = [len(arrays), *arrays[0].shape, *(a.ctypes.data for a in arrays)]
        return True

    return write


__all__ = ["addresses", "laid_out"]
