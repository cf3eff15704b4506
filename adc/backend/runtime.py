"""What compiled code needs while it runs: memory, tapes, the print log, interruption.

Every compiled function gets one array of integers, its *state* (see `State`), and reads and writes
it in place. The memory behind the workspace and the tapes comes from `PyMem_RawRealloc`, which
needs no lock of the interpreter; `adc.backend.memory` owns it.

* `empty` takes an array from the workspace by moving a pointer up; what does not fit comes from
  NumPy's allocator, and the state notes how much would have been needed.
* `fresh` makes an array that may outlive the call.
* `grow` makes a tape larger, `tape` is its memory as an array.
* `poll` counts work down and looks for signals about every 50 ms.

All are code that Numba inserts where it is called: nothing is compiled for them on their own.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from adc.backend.numba_api import (
    cgutils,
    empty_array,
    intrinsic,
    make_array,
    populate_array,
    signature,
    types,
)
from adc.ir.types import DTYPES


class State:
    """The places in a state array."""

    STATUS = 0  # 0: all is well; a site that failed, from 1; or one of the two below
    INTERRUPTED = -1
    TICKS = 1  # units of work until the next look at the clock
    CLOCK = 2  # when signals were last looked for, in milliseconds
    ERROR = 3  # type, value and traceback of the exception that a signal handler raised
    BASE = 6  # of the workspace: address, bytes, bytes in use, most bytes that did not fit
    SIZE = 7
    TOP = 8
    NEED = 9
    TAPES = 16  # of each tape: address, capacity in elements, elements in use
    LOG = TAPES + 3 * len(DTYPES)  # a tape as well: what `print` statements have to say
    OPERANDS = LOG + 3  # of the check that failed, as bits

    @staticmethod
    def tape(dtype: str) -> int:
        return State.TAPES + 3 * list(DTYPES).index(dtype)


# A look at the clock takes about 20 ns, a unit of work is an iteration of a loop: about 1 ns.
_TICKS = 1 << 17
_PERIOD_MS = 50
_ALIGN = 64

_I8P = ir.IntType(8).as_pointer()
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def _add_symbols() -> None:
    """Make the functions of the interpreter known to LLVM under names of our own."""
    for name in (
        "PyMem_RawRealloc",
        "PyGILState_Ensure",
        "PyGILState_Release",
        "PyErr_CheckSignals",
        "PyErr_Fetch",
    ):
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        llvm.add_symbol(f"adc_{name}", address)
    llvm.add_symbol("adc_clock", ctypes.cast(_clock, ctypes.c_void_p).value)


def _find_clock() -> Any:
    """Return a C function ``int64 (*)(int64 *)`` whose result is unused, or the Windows clock."""
    if sys.platform == "win32":
        return ctypes.windll.kernel32.GetTickCount64
    return ctypes.CDLL(None).clock_gettime


_clock = _find_clock()
_CLOCK_MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 0)
_add_symbols()

SYMBOLS = tuple(
    f"adc_{name}"
    for name in (
        "PyMem_RawRealloc",
        "PyGILState_Ensure",
        "PyGILState_Release",
        "PyErr_CheckSignals",
        "PyErr_Fetch",
        "clock",
    )
)


# --- LLVM functions that are not inlined ----------------------------------------------------------


def _external(module: ir.Module, name: str, result: ir.Type, *args: ir.Type) -> ir.Function:
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, args), name)


def _slot(builder: ir.IRBuilder, state: ir.Value, place: int | ir.Value) -> ir.Value:
    index = ir.Constant(_I64, place) if isinstance(place, int) else place
    return builder.gep(state, [index])


def _helper(
    module: ir.Module,
    name: str,
    result: ir.Type,
    args: list[ir.Type],
    body: Callable[[ir.IRBuilder, Any], None],
) -> ir.Function:
    """Return the function `name` of `module`, whose code `body` writes if it is not there."""
    found = module.globals.get(name)
    if found is not None:
        return found
    function = ir.Function(module, ir.FunctionType(result, args), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    function.attributes.add("cold")
    body(ir.IRBuilder(function.append_basic_block()), function.args)
    return function


def _grow_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_grow(state, place, need, itemsize)``: false if there is no memory."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, place, need, size = args
        base = _slot(b, state, place)
        capacity = _slot(b, state, b.add(place, ir.Constant(_I64, 1)))
        double = b.shl(b.load(capacity), ir.Constant(_I64, 1))
        most = b.select(b.icmp_signed(">", need, double), need, double)
        least = ir.Constant(_I64, 512)
        most = b.select(b.icmp_signed(">", most, least), most, least)
        realloc = _external(module, "adc_PyMem_RawRealloc", _I8P, _I8P, _I64)
        old = b.inttoptr(b.load(base), _I8P)
        new = b.call(realloc, [old, b.mul(most, size)])
        failed = b.icmp_unsigned("==", new, ir.Constant(_I8P, None))
        with b.if_then(failed, likely=False):
            b.ret(ir.Constant(ir.IntType(1), 0))
        b.store(b.ptrtoint(new, _I64), base)
        b.store(most, capacity)
        b.ret(ir.Constant(ir.IntType(1), 1))

    args = [_I64.as_pointer(), _I64, _I64, _I64]
    return _helper(module, "adc_grow", ir.IntType(1), args, body)


def _poll_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_poll(state)``: true if a signal handler raised an exception."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        (state,) = args
        no, yes = (ir.Constant(ir.IntType(1), bit) for bit in (0, 1))
        b.store(ir.Constant(_I64, _TICKS), _slot(b, state, State.TICKS))
        if sys.platform == "win32":
            now = b.call(_external(module, "adc_clock", _I64), [])
        else:
            pair = b.alloca(_I64, 2)
            clock = _external(module, "adc_clock", _I32, _I32, _I64.as_pointer())
            b.call(clock, [ir.Constant(_I32, _CLOCK_MONOTONIC), pair])
            seconds = b.load(pair)
            nanos = b.load(b.gep(pair, [ir.Constant(_I64, 1)]))
            now = b.add(
                b.mul(seconds, ir.Constant(_I64, 1000)),
                b.sdiv(nanos, ir.Constant(_I64, 1_000_000)),
            )
        last = _slot(b, state, State.CLOCK)
        early = b.icmp_signed("<", b.sub(now, b.load(last)), ir.Constant(_I64, _PERIOD_MS))
        with b.if_then(early):
            b.ret(no)
        b.store(now, last)
        lock = b.call(_external(module, "adc_PyGILState_Ensure", _I32), [])
        raised = b.call(_external(module, "adc_PyErr_CheckSignals", _I32), [])
        with b.if_then(b.icmp_signed("!=", raised, ir.Constant(_I32, 0)), likely=False):
            # The exception waits in the state: compiled code returns as if nothing had happened.
            places = [_slot(b, state, State.ERROR + k) for k in range(3)]
            fetch = _external(module, "adc_PyErr_Fetch", ir.VoidType(), *[_I64.as_pointer()] * 3)
            b.call(fetch, places)
            b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])
            b.store(ir.Constant(_I64, State.INTERRUPTED), _slot(b, state, State.STATUS))
            b.ret(yes)
        b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])
        b.ret(no)

    return _helper(module, "adc_poll", ir.IntType(1), [_I64.as_pointer()], body)


# --- what emitted code calls ----------------------------------------------------------------------


def _data(context: Any, builder: ir.IRBuilder, ty: Any, value: ir.Value) -> ir.Value:
    return make_array(ty)(context, builder, value).data


def _array_type(dtype: Any, shape: Any) -> Any:
    rank = shape.count if isinstance(shape, types.BaseTuple) else 1
    return types.Array(dtype.instance_type, rank, "C")


def _borrowed(
    context: Any, builder: ir.IRBuilder, ty: Any, address: ir.Value, shape: list[ir.Value]
) -> ir.Value:
    """Return an array at `address` that owns nothing."""
    array = make_array(ty)(context, builder)
    itemsize = context.get_abi_sizeof(context.get_data_type(ty.dtype))
    strides: list[ir.Value] = []
    stride: ir.Value = context.get_constant(types.intp, itemsize)
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, size)
    data = builder.inttoptr(address, context.get_data_type(ty.dtype).as_pointer())
    item = context.get_constant(types.intp, itemsize)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
    return array._getvalue()


def _sizes(builder: ir.IRBuilder, shape: ir.Value, rank: int) -> list[ir.Value]:
    return [builder.extract_value(shape, k) for k in range(rank)]


@intrinsic
def view(typingctx: Any, address: Any, dtype: Any, shape: Any) -> Any:
    """Return the array at an address, which belongs to somebody else."""
    ty = _array_type(dtype, shape)
    ints = types.UniTuple(types.int64, ty.ndim)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _borrowed(context, builder, ty, args[0], _sizes(builder, args[2], ty.ndim))

    return signature(ty, types.int64, dtype, ints), codegen


@intrinsic
def fresh(typingctx: Any, dtype: Any, shape: Any) -> Any:
    """Return a new array that owns its memory."""
    ty = _array_type(dtype, shape)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return empty_array(context, builder, ty, _sizes(builder, args[1], ty.ndim))._getvalue()

    return signature(ty, dtype, types.UniTuple(types.int64, ty.ndim)), codegen


@intrinsic
def empty(typingctx: Any, state: Any, dtype: Any, shape: Any) -> Any:
    """Return an array in the workspace, or one that owns its memory if there is no room."""
    ty = _array_type(dtype, shape)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        b: ir.IRBuilder = builder
        data = _data(context, b, sig.args[0], args[0])
        shape = _sizes(b, args[2], ty.ndim)
        size: Any = ir.Constant(_I64, context.get_abi_sizeof(context.get_data_type(ty.dtype)))
        bad: Any = ir.Constant(ir.IntType(1), 0)  # a negative size, or one beyond all memory
        for one in shape:
            product = b.smul_with_overflow(size, one)
            size = b.extract_value(product, 0)
            negative = b.icmp_signed("<", one, ir.Constant(_I64, 0))
            bad = b.or_(bad, b.or_(negative, b.extract_value(product, 1)))
        size = b.and_(b.add(size, ir.Constant(_I64, _ALIGN - 1)), ir.Constant(_I64, -_ALIGN))
        size = b.select(bad, ir.Constant(_I64, 0), size)
        old = b.load(_slot(b, data, State.TOP))
        new = b.add(old, size)
        b.store(new, _slot(b, data, State.TOP))
        result = cgutils.alloca_once(b, context.get_value_type(ty))
        fits = b.icmp_unsigned("<=", new, b.load(_slot(b, data, State.SIZE)))
        fits = b.and_(fits, b.not_(bad))  # NumPy's allocator raises the error
        with b.if_else(fits, likely=True) as (then, otherwise):
            with then:
                address = b.add(b.load(_slot(b, data, State.BASE)), old)
                b.store(_borrowed(context, b, ty, address, shape), result)
            with otherwise:
                need = _slot(b, data, State.NEED)
                most = b.load(need)
                b.store(b.select(b.icmp_signed(">", new, most), new, most), need)
                b.store(empty_array(context, b, ty, shape)._getvalue(), result)
        return b.load(result)

    return signature(ty, state, dtype, types.UniTuple(types.int64, ty.ndim)), codegen


@intrinsic
def tape(typingctx: Any, state: Any, place: Any, dtype: Any) -> Any:
    """Return the memory of a tape as an array."""
    ty = _array_type(dtype, None)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _tape_array(context, builder, ty, _data(context, builder, state, args[0]), args[1])

    return signature(ty, state, types.int64, dtype), codegen


def _tape_array(
    context: Any, builder: ir.IRBuilder, ty: Any, state: ir.Value, place: ir.Value
) -> ir.Value:
    address = builder.load(_slot(builder, state, place))
    one = ir.Constant(_I64, 1)
    capacity = builder.load(_slot(builder, state, builder.add(place, one)))
    return _borrowed(context, builder, ty, address, [capacity])


def _reserve(
    context: Any, builder: ir.IRBuilder, state: Any, place: Any, need: Any, size: int
) -> None:
    grow = _grow_helper(builder.module)
    done = builder.call(grow, [state, place, need, ir.Constant(_I64, size)])
    with builder.if_then(builder.not_(done), likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, ("no memory for the tape",))


@intrinsic
def grow(typingctx: Any, state: Any, place: Any, need: Any, dtype: Any) -> Any:
    """Return the memory of a tape, enlarged to `need` elements or more."""
    ty = _array_type(dtype, None)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, state, args[0])
        size = context.get_abi_sizeof(context.get_data_type(ty.dtype))
        _reserve(context, builder, data, args[1], args[2], size)
        return _tape_array(context, builder, ty, data, args[1])

    return signature(ty, state, types.int64, types.int64, dtype), codegen


@intrinsic
def note(typingctx: Any, state: Any, word: Any) -> Any:
    """Append a word to the print log."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        b: ir.IRBuilder = builder
        data = _data(context, b, state, args[0])
        one = ir.Constant(_I64, 1)
        used = b.load(_slot(b, data, State.LOG + 2))
        more = b.add(used, one)
        full = b.icmp_signed(">", more, b.load(_slot(b, data, State.LOG + 1)))
        with b.if_then(full, likely=False):
            _reserve(context, b, data, ir.Constant(_I64, State.LOG), more, 8)
        base = b.inttoptr(b.load(_slot(b, data, State.LOG)), _I64.as_pointer())
        b.store(args[1], b.gep(base, [used]))
        b.store(more, _slot(b, data, State.LOG + 2))
        return context.get_dummy_value()

    return signature(types.void, state, types.int64), codegen


@intrinsic
def poll(typingctx: Any, state: Any, work: Any) -> Any:
    """Count `work` down; True if the call is to be given up because of a signal."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        b: ir.IRBuilder = builder
        data = _data(context, b, state, args[0])
        ticks = _slot(b, data, State.TICKS)
        left = b.sub(b.load(ticks), args[1])
        b.store(left, ticks)
        stop = cgutils.alloca_once_value(b, ir.Constant(ir.IntType(1), 0))
        with b.if_then(b.icmp_signed("<", left, ir.Constant(_I64, 0)), likely=False):
            b.store(b.call(_poll_helper(b.module), [data]), stop)
        return b.load(stop)

    return signature(types.boolean, state, types.int64), codegen


@intrinsic
def bits(typingctx: Any, value: Any) -> Any:
    """Return a scalar as a word of the state or the log: the bits of a float, any other's value."""
    value = types.unliteral(value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if value == types.float64:
            return builder.bitcast(args[0], _I64)
        if value == types.float32:
            return builder.zext(builder.bitcast(args[0], _I32), _I64)
        return context.cast(builder, args[0], value, types.int64)

    return signature(types.int64, value), codegen


def word_value(word: int, dtype: str) -> Any:
    """Return the NumPy scalar that `bits` made a word of."""
    numpy = DTYPES[dtype]
    raw = np.array([word], np.int64)
    return (
        raw.view(numpy)[0]
        if numpy.itemsize == 8
        else (raw.astype(np.uint32).view(numpy)[0] if numpy.kind == "f" else raw.astype(numpy)[0])
    )


@intrinsic
def copy_into(typingctx: Any, target: Any, source: Any) -> Any:
    """Copy the elements of an array into a contiguous one of the same shape."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to, of = (
            make_array(ty)(context, builder, arg) for ty, arg in zip(sig.args, args, strict=True)
        )
        if source.layout == "C":
            size = builder.mul(to.nitems, to.itemsize)
            cgutils.raw_memcpy(builder, to.data, of.data, size, 1)
            return context.get_dummy_value()
        shape = cgutils.unpack_tuple(builder, of.shape, source.ndim)
        strides = cgutils.unpack_tuple(builder, of.strides, source.ndim)
        out = cgutils.unpack_tuple(builder, to.strides, source.ndim)
        with cgutils.loop_nest(builder, shape, _I64) as index:
            old = cgutils.get_item_pointer2(
                context, builder, of.data, shape, strides, source.layout, index
            )
            new = cgutils.get_item_pointer2(context, builder, to.data, shape, out, "C", index)
            builder.store(builder.load(old), new)
        return context.get_dummy_value()

    return signature(types.void, target, source), codegen


@intrinsic
def fill(typingctx: Any, target: Any, value: Any) -> Any:
    """Set every element of a contiguous array."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = make_array(target)(context, builder, args[0])
        item = context.get_value_as_data(builder, target.dtype, args[1])
        with cgutils.for_range(builder, array.nitems, intp=_I64) as loop:
            builder.store(item, builder.gep(array.data, [loop.index]))
        return context.get_dummy_value()

    return signature(types.void, target, target.dtype), codegen
