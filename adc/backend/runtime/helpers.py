"""LLVM functions that compiled code calls: they are in every module that needs them, not inlined.

They ask the interpreter for memory, look for signals and carry out effects; names of the
interpreter's functions are `adc_…`.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from adc.backend.numba_api import cgutils
from adc.backend.runtime.state import State

# A look at the clock takes about 20 ns, a unit of work is an iteration of a loop: about 1 ns.
_TICKS = 1 << 17
_PERIOD_MS = 50
ALIGN = 64
VECTOR = 8  # lanes that are combined in registers

# Of `PyMemoryView_FromMemory`: memory that can be written to.
WRITE = 0x200

I8P = ir.IntType(8).as_pointer()
I32 = ir.IntType(32)
I64 = ir.IntType(64)


# Functions of the interpreter.
_PYTHON = (
    "PyMem_RawFree",
    "PyMem_RawRealloc",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyErr_CheckSignals",
    "PyErr_Fetch",
    "PyObject_CallObject",
    "PyBytes_FromStringAndSize",
    "PyMemoryView_FromMemory",
    "Py_BuildValue",
    "Py_DecRef",
)


def _add_symbols() -> None:
    """Make the functions of the interpreter known to LLVM under names of our own."""
    for name in _PYTHON:
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


def declared(module: ir.Module, name: str, result: ir.Type, *args: ir.Type) -> ir.Function:
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, args), name)


def slot_of(builder: ir.IRBuilder, state: ir.Value, place: int | ir.Value) -> ir.Value:
    index = ir.Constant(I64, place) if isinstance(place, int) else place
    return builder.gep(state, [index])


def helper(
    module: ir.Module,
    name: str,
    result: ir.Type,
    args: list[ir.Type],
    body: Callable[[ir.IRBuilder, Any], None],
    cold: bool = True,
) -> ir.Function:
    """Return the function `name` of `module`, whose code `body` writes if it is not there."""
    found = module.globals.get(name)
    if found is not None:
        return found
    function = ir.Function(module, ir.FunctionType(result, args), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    if cold:
        function.attributes.add("cold")
    body(ir.IRBuilder(function.append_basic_block()), function.args)
    return function


def _keep_error(b: ir.IRBuilder, module: ir.Module, state: ir.Value, lock: ir.Value) -> None:
    """Let an exception wait in the state: compiled code returns as if nothing had happened."""
    places = [slot_of(b, state, State.ERROR + k) for k in range(3)]
    fetch = declared(module, "adc_PyErr_Fetch", ir.VoidType(), *[I64.as_pointer()] * 3)
    b.call(fetch, places)
    b.call(declared(module, "adc_PyGILState_Release", ir.VoidType(), I32), [lock])
    b.store(ir.Constant(I64, State.INTERRUPTED), slot_of(b, state, State.STATUS))


def _call_python(
    b: ir.IRBuilder, module: ir.Module, state: ir.Value, function: ir.Value, *, failed: bool
) -> None:
    """Call a Python function without arguments; return `failed` if it raises an exception."""
    lock = b.call(declared(module, "adc_PyGILState_Ensure", I32), [])
    call = declared(module, "adc_PyObject_CallObject", I8P, I8P, I8P)
    done = b.call(call, [b.inttoptr(function, I8P), ir.Constant(I8P, None)])
    with b.if_then(b.icmp_unsigned("==", done, ir.Constant(I8P, None)), likely=False):
        _keep_error(b, module, state, lock)
        b.ret(ir.Constant(ir.IntType(1), failed))
    b.call(declared(module, "adc_Py_DecRef", ir.VoidType(), I8P), [done])
    b.call(declared(module, "adc_PyGILState_Release", ir.VoidType(), I32), [lock])


def grow_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_grow(state, place, need, itemsize, exact)``: false if there is no memory."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, place, need, size, exact = args
        base = slot_of(b, state, place)
        capacity = slot_of(b, state, b.add(place, ir.Constant(I64, 1)))
        most = b.add(b.load(capacity), b.ashr(b.load(capacity), ir.Constant(I64, 1)))
        least = ir.Constant(I64, 512)
        most = b.select(b.icmp_signed(">", most, least), most, least)
        most = b.select(b.or_(exact, b.icmp_signed(">", need, most)), need, most)
        files = b.load(slot_of(b, state, State.GROW))
        in_file = b.icmp_unsigned("!=", files, ir.Constant(I64, 0))
        in_file = b.and_(in_file, b.icmp_signed("!=", place, ir.Constant(I64, State.LOG)))
        with b.if_then(in_file):
            b.store(place, slot_of(b, state, State.WANTED))
            b.store(most, slot_of(b, state, State.WANTED + 1))
            _call_python(b, module, state, files, failed=False)
            b.ret(ir.Constant(ir.IntType(1), 1))
        realloc = declared(module, "adc_PyMem_RawRealloc", I8P, I8P, I64)
        old = b.inttoptr(b.load(base), I8P)
        new = b.call(realloc, [old, b.mul(most, size)])
        failed = b.icmp_unsigned("==", new, ir.Constant(I8P, None))
        with b.if_then(failed, likely=False):
            b.ret(ir.Constant(ir.IntType(1), 0))
        b.store(b.ptrtoint(new, I64), base)
        b.store(most, capacity)
        b.ret(ir.Constant(ir.IntType(1), 1))

    args = [I64.as_pointer(), I64, I64, I64, ir.IntType(1)]
    return helper(module, "adc_grow", ir.IntType(1), args, body)


def caller_helper(module: ir.Module) -> ir.Function:
    """``void adc_caller(state, site)``: notes one more of the calls that led to a failed check."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, site = args
        depth = slot_of(b, state, State.DEPTH)
        count, last = b.load(depth), ir.Constant(I64, State.MOST_CALLERS - 1)
        place = b.select(b.icmp_signed("<", count, last), count, last)
        b.store(site, slot_of(b, state, b.add(ir.Constant(I64, State.CALLERS), place)))
        b.store(b.add(count, ir.Constant(I64, 1)), depth)
        b.ret_void()

    return helper(module, "adc_caller", ir.VoidType(), [I64.as_pointer(), I64], body)


def poll_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_poll(state)``: true if a signal handler raised an exception."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        (state,) = args
        no, yes = (ir.Constant(ir.IntType(1), bit) for bit in (0, 1))
        b.store(ir.Constant(I64, _TICKS), slot_of(b, state, State.TICKS))
        if sys.platform == "win32":
            now = b.call(declared(module, "adc_clock", I64), [])
        else:
            pair = b.alloca(I64, 2)
            clock = declared(module, "adc_clock", I32, I32, I64.as_pointer())
            b.call(clock, [ir.Constant(I32, _CLOCK_MONOTONIC), pair])
            seconds = b.load(pair)
            nanos = b.load(b.gep(pair, [ir.Constant(I64, 1)]))
            now = b.add(
                b.mul(seconds, ir.Constant(I64, 1000)),
                b.sdiv(nanos, ir.Constant(I64, 1_000_000)),
            )
        last = slot_of(b, state, State.CLOCK)
        early = b.icmp_signed("<", b.sub(now, b.load(last)), ir.Constant(I64, _PERIOD_MS))
        with b.if_then(early):
            b.ret(no)
        b.store(now, last)
        address = b.load(slot_of(b, state, State.SHARED))
        with b.if_then(b.icmp_unsigned("!=", address, ir.Constant(I64, 0))):
            failed = b.load_atomic(b.inttoptr(address, I64.as_pointer()), "monotonic", 8)
            own = b.load(slot_of(b, state, State.CHUNK))
            with b.if_then(b.icmp_signed("<", failed, own), likely=False):
                b.store(ir.Constant(I64, State.STOPPED), slot_of(b, state, State.STATUS))
                b.ret(yes)
        lock = b.call(declared(module, "adc_PyGILState_Ensure", I32), [])
        raised = b.call(declared(module, "adc_PyErr_CheckSignals", I32), [])
        with b.if_then(b.icmp_signed("!=", raised, ir.Constant(I32, 0)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(yes)
        b.call(declared(module, "adc_PyGILState_Release", ir.VoidType(), I32), [lock])
        b.ret(no)

    return helper(module, "adc_poll", ir.IntType(1), [I64.as_pointer()], body)


def spill_helper(module: ir.Module) -> ir.Function:
    """``i64 adc_spill(state, size)``: the address of an array beyond the workspace; 0 if none.

    Such arrays are a list, the newest first: the address of the one before and the place that the
    array would have in the workspace lie before the array.
    """

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, size = args
        nothing = ir.Constant(I64, 0)
        with b.if_then(b.icmp_signed("<", size, nothing), likely=False):
            b.ret(nothing)
        top = slot_of(b, state, State.TOP)
        head = slot_of(b, state, State.SPILLED)
        realloc = declared(module, "adc_PyMem_RawRealloc", I8P, I8P, I64)
        whole = b.add(size, ir.Constant(I64, ALIGN))
        block = b.call(realloc, [ir.Constant(I8P, None), whole])
        address = b.ptrtoint(block, I64)
        with b.if_then(b.icmp_unsigned("==", address, nothing), likely=False):
            b.ret(nothing)
        words = b.bitcast(block, I64.as_pointer())
        old = b.load(top)
        b.store(b.load(head), slot_of(b, words, 0))
        b.store(old, slot_of(b, words, 1))
        b.store(address, head)
        b.store(b.add(old, size), top)
        b.ret(b.add(address, ir.Constant(I64, ALIGN)))

    return helper(module, "adc_spill", I64, [I64.as_pointer(), I64], body)


def release_helper(module: ir.Module) -> ir.Function:
    """``void adc_release(state, mark)``: free the arrays beyond the workspace made since `mark`."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, mark = args
        head = slot_of(b, state, State.SPILLED)
        test, older, release, done = (b.function.append_basic_block() for _ in range(4))
        b.branch(test)
        b.position_at_end(test)
        address = b.load(head)
        b.cbranch(b.icmp_unsigned("==", address, ir.Constant(I64, 0)), done, older)
        b.position_at_end(older)
        words = b.inttoptr(address, I64.as_pointer())
        place = b.load(slot_of(b, words, 1))
        b.cbranch(b.icmp_signed("<", place, mark), done, release)
        b.position_at_end(release)
        b.store(b.load(slot_of(b, words, 0)), head)
        free = declared(module, "adc_PyMem_RawFree", ir.VoidType(), I8P)
        b.call(free, [b.inttoptr(address, I8P)])
        b.branch(test)
        b.position_at_end(done)
        b.ret_void()

    return helper(module, "adc_release", ir.VoidType(), [I64.as_pointer(), I64], body)


def vector_at(b: ir.IRBuilder, lanes: ir.Value, at: ir.Value) -> ir.Value:
    """Write the address of eight lanes."""
    kind = ir.VectorType(lanes.type.pointee, VECTOR).as_pointer()
    return b.bitcast(b.gep(lanes, [at]), kind)


def on_lanes(
    b: ir.IRBuilder,
    name: str,
    write: Callable[[ir.IRBuilder, Any, Any], Any],
    lanes: ir.Value,
    count: ir.Value,
    result: ir.Type | None = None,
) -> Any:
    """Write what is done with `count` lanes, or the call of a function where that is no constant.

    A call is quick beside the loop that it follows or precedes.
    """
    if isinstance(count, ir.Constant):
        return write(b, lanes, count)

    def body(inner: ir.IRBuilder, args: Any) -> None:
        found = write(inner, *args)
        inner.ret_void() if found is None else inner.ret(found)

    args = [lanes.type, I64]
    name = f"adc_{name}_{lanes.type.pointee}"
    made = helper(b.module, name, result or ir.VoidType(), args, body, cold=False)
    made.linkage = "internal"  # so that LLVM sees that nobody keeps the address of the lanes
    return b.call(made, [lanes, count])


def halve_lanes(b: ir.IRBuilder, lanes: ir.Value, width: ir.Value) -> None:
    """Write `adc.ir.sums.combine` down to eight lanes."""
    test, halve, done = (b.function.append_basic_block() for _ in range(3))
    entry = b.block
    b.branch(test)
    b.position_at_end(test)
    wide = b.phi(I64)
    wide.add_incoming(width, entry)
    b.cbranch(b.icmp_signed(">", wide, ir.Constant(I64, VECTOR)), halve, done)
    b.position_at_end(halve)
    half = b.lshr(wide, ir.Constant(I64, 1))
    with cgutils.for_range(b, b.lshr(half, ir.Constant(I64, 3)), intp=I64) as loop:
        at = b.shl(loop.index, ir.Constant(I64, 3))
        low, high = vector_at(b, lanes, at), vector_at(b, lanes, b.add(at, half))
        b.store(b.fadd(b.load(low, align=8), b.load(high, align=8)), low, align=8)
    wide.add_incoming(half, b.block)
    b.branch(test)
    b.position_at_end(done)


def note_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_note(state, word)``: false if there is no memory."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, word = args
        used = b.load(slot_of(b, state, State.LOG + 2))
        more = b.add(used, ir.Constant(I64, 1))
        full = b.icmp_signed(">", more, b.load(slot_of(b, state, State.LOG + 1)))
        with b.if_then(full, likely=False):
            log, size = ir.Constant(I64, State.LOG), ir.Constant(I64, 8)
            no = ir.Constant(ir.IntType(1), 0)
            done = b.call(grow_helper(module), [state, log, more, size, no])
            with b.if_then(b.not_(done), likely=False):
                b.ret(ir.Constant(ir.IntType(1), 0))
        base = b.inttoptr(b.load(slot_of(b, state, State.LOG)), I64.as_pointer())
        b.store(word, b.gep(base, [used]))
        b.store(more, slot_of(b, state, State.LOG + 2))
        b.ret(ir.Constant(ir.IntType(1), 1))

    return helper(module, "adc_note", ir.IntType(1), [I64.as_pointer(), I64], body)


def say_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_say(state)``: true if what carries out the effects raised an exception."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        (state,) = args
        say = b.load(slot_of(b, state, State.SAY))
        with b.if_then(b.icmp_unsigned("!=", say, ir.Constant(I64, 0))):
            _call_python(b, module, state, say, failed=True)
        b.ret(ir.Constant(ir.IntType(1), 0))

    return helper(module, "adc_say", ir.IntType(1), [I64.as_pointer()], body)


def external_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_external(state, number, given, lock)``: true if the function raised an exception.

    `given` is a tuple of what it is called with, which is released; the lock is held.
    """

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, number, given, lock = args
        with b.if_then(b.icmp_unsigned("==", given, ir.Constant(I8P, None)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(ir.Constant(ir.IntType(1), 1))
        table = b.inttoptr(b.load(slot_of(b, state, State.EXTERNAL)), I64.as_pointer())
        function = b.inttoptr(b.load(slot_of(b, table, b.shl(number, ir.Constant(I64, 1)))), I8P)
        call = declared(module, "adc_PyObject_CallObject", I8P, I8P, I8P)
        release = declared(module, "adc_Py_DecRef", ir.VoidType(), I8P)
        done = b.call(call, [function, given])
        b.call(release, [given])
        with b.if_then(b.icmp_unsigned("==", done, ir.Constant(I8P, None)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(ir.Constant(ir.IntType(1), 1))
        b.call(release, [done])
        b.call(declared(module, "adc_PyGILState_Release", ir.VoidType(), I32), [lock])
        b.ret(ir.Constant(ir.IntType(1), 0))

    args = [I64.as_pointer(), I64, I8P, I32]
    return helper(module, "adc_external", ir.IntType(1), args, body, cold=False)
