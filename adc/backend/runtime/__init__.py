"""What compiled code needs while it runs: memory, tapes, the print log, interruption.

Every compiled function gets one array of integers, its *state* (see `State`), and reads and writes
it in place. The memory behind the workspace and the tapes comes from `PyMem_RawRealloc`, which
needs no lock of the interpreter; `memory` owns it. Where tapes are in files, they grow
by a Python function whose address is in the state (`adc.backend.runtime.offload`).

* `empty` takes an array from the workspace by moving a pointer up; what does not fit gets memory
  of its own, and the state notes how much would have been needed. `release` moves the pointer down
  again and frees what did not fit. `reuse` takes the memory of an array that is dead.
* `stacked` is a small array of known size on the stack, whose elements LLVM keeps in registers
  where it can.
* `fresh` makes an array that may outlive the call, `returned` one that does, in memory that was
  prepared for it if that has the right size.
* `lanes` are the partial sums of a loop on the stack, `total` combines them.
* `grow` makes a tape larger by half or more, `fit` as large as is needed; `tape` is its memory as
  an array.
* `note` appends a word to the log of effects, and `say` has Python carry out what is in it.
* `external` calls a Python function outside of the program (`outside`).
* `poll` counts work down and looks for signals about every 50 ms.

`adc.backend.cpu.instructions` writes most of them where they are called. Other files have products
of matrices (`gemm`), routines of LAPACK (`routines`; `machine` writes them, `lapack` finds them),
Fourier transforms (`fourier`; `ducc` finds them), the functions of `scipy.special` (`special`),
loops that threads share (`threads`), and the test of a call's arrays (`layouts`).
"""

from __future__ import annotations

import ctypes
import functools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from adc.backend.numba_api import (
    cgutils,
    intrinsic,
    signature,
    types,
)
from adc.ir.sums import SHORT
from adc.ir.types import ELEMENTS


class State:
    """The places in a state array."""

    STATUS = 0  # 0: all is well; a site that failed, from 1; or one of the four below
    INTERRUPTED = -1
    ELSEWHERE = -2  # in a thread that shared a loop: see its state
    NO_MEMORY = -3
    STOPPED = -4  # as another thread failed
    TICKS = 1  # units of work until the next look at the clock
    CLOCK = 2  # when signals were last looked for, in milliseconds
    ERROR = 3  # type, value and traceback of an exception that Python code raised meanwhile
    BASE = 6  # of the workspace: address, bytes, bytes in use, most bytes in use until a release
    SIZE = 7
    TOP = 8
    PEAK = 9
    SPILLED = 10  # the newest array that did not fit, see `_spill_helper`
    RESULTS = 11  # of a table: address and bytes of the memory for each array that is returned
    MISSED = 12  # 1: the memory of a large result was of another size
    GROW = 13  # of the function that makes tapes in files larger; 0: tapes are in memory
    WANTED = 14  # what it is asked for: the place of a tape, and elements; what an effect found
    SAY = 16  # of the function that carries out the effects in the log; 0: nothing does
    EXTERNAL = 17  # of a table: the addresses of what calls functions outside
    TAPES = 18  # of each tape: address, capacity in elements, elements in use, most in use
    LOG = TAPES + 4 * len(ELEMENTS)  # a tape as well: what `print` statements have to say
    WORKERS = LOG + 4  # of a table: the addresses of the states of the threads that share loops
    THREADS = WORKERS + 1  # how many there are; less than two: none
    CHUNK = WORKERS + 2  # of a thread: which part of a loop it runs, or failed in
    SHARED = WORKERS + 3  # of a thread: the address of the first part of the loop that failed
    DEPTH = WORKERS + 4  # how many calls led to the check that failed, as far as they were noted
    CALLERS = DEPTH + 1  # these calls, the innermost first: their sites
    MOST_CALLERS = 32  # those in between are left out, where there are more
    OPERANDS = CALLERS + MOST_CALLERS  # of the check that failed, as bits

    @staticmethod
    def callers(words: Sequence[int]) -> list[int]:
        """Return the sites of the calls that led to the check that failed, the innermost first."""
        count = min(words[State.DEPTH], State.MOST_CALLERS)
        return [int(each) for each in words[State.CALLERS : State.CALLERS + count]]

    @staticmethod
    def tape(dtype: str) -> int:
        return State.TAPES + 4 * list(ELEMENTS).index(dtype)


# Arrays of this many bytes are returned in memory that was prepared for them: new pages are dear.
LARGE = 1 << 16


# A look at the clock takes about 20 ns, a unit of work is an iteration of a loop: about 1 ns.
_TICKS = 1 << 17
_PERIOD_MS = 50
_ALIGN = 64
_VECTOR = 8  # lanes that are combined in registers

# Of `PyMemoryView_FromMemory`: memory that can be written to.
_WRITE = 0x200

_I8P = ir.IntType(8).as_pointer()
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def _add_symbols() -> None:
    """Make the functions of the interpreter known to LLVM under names of our own."""
    for name in (
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
    places = [_slot(b, state, State.ERROR + k) for k in range(3)]
    fetch = _external(module, "adc_PyErr_Fetch", ir.VoidType(), *[_I64.as_pointer()] * 3)
    b.call(fetch, places)
    b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])
    b.store(ir.Constant(_I64, State.INTERRUPTED), _slot(b, state, State.STATUS))


def _call_python(
    b: ir.IRBuilder, module: ir.Module, state: ir.Value, function: ir.Value, *, failed: bool
) -> None:
    """Call a Python function without arguments; return `failed` if it raises an exception."""
    lock = b.call(_external(module, "adc_PyGILState_Ensure", _I32), [])
    call = _external(module, "adc_PyObject_CallObject", _I8P, _I8P, _I8P)
    done = b.call(call, [b.inttoptr(function, _I8P), ir.Constant(_I8P, None)])
    with b.if_then(b.icmp_unsigned("==", done, ir.Constant(_I8P, None)), likely=False):
        _keep_error(b, module, state, lock)
        b.ret(ir.Constant(ir.IntType(1), failed))
    b.call(_external(module, "adc_Py_DecRef", ir.VoidType(), _I8P), [done])
    b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])


def _grow_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_grow(state, place, need, itemsize, exact)``: false if there is no memory."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, place, need, size, exact = args
        base = _slot(b, state, place)
        capacity = _slot(b, state, b.add(place, ir.Constant(_I64, 1)))
        most = b.add(b.load(capacity), b.ashr(b.load(capacity), ir.Constant(_I64, 1)))
        least = ir.Constant(_I64, 512)
        most = b.select(b.icmp_signed(">", most, least), most, least)
        most = b.select(b.or_(exact, b.icmp_signed(">", need, most)), need, most)
        files = b.load(_slot(b, state, State.GROW))
        in_file = b.icmp_unsigned("!=", files, ir.Constant(_I64, 0))
        in_file = b.and_(in_file, b.icmp_signed("!=", place, ir.Constant(_I64, State.LOG)))
        with b.if_then(in_file):
            b.store(place, _slot(b, state, State.WANTED))
            b.store(most, _slot(b, state, State.WANTED + 1))
            _call_python(b, module, state, files, failed=False)
            b.ret(ir.Constant(ir.IntType(1), 1))
        realloc = _external(module, "adc_PyMem_RawRealloc", _I8P, _I8P, _I64)
        old = b.inttoptr(b.load(base), _I8P)
        new = b.call(realloc, [old, b.mul(most, size)])
        failed = b.icmp_unsigned("==", new, ir.Constant(_I8P, None))
        with b.if_then(failed, likely=False):
            b.ret(ir.Constant(ir.IntType(1), 0))
        b.store(b.ptrtoint(new, _I64), base)
        b.store(most, capacity)
        b.ret(ir.Constant(ir.IntType(1), 1))

    args = [_I64.as_pointer(), _I64, _I64, _I64, ir.IntType(1)]
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
        address = b.load(_slot(b, state, State.SHARED))
        with b.if_then(b.icmp_unsigned("!=", address, ir.Constant(_I64, 0))):
            failed = b.load_atomic(b.inttoptr(address, _I64.as_pointer()), "monotonic", 8)
            own = b.load(_slot(b, state, State.CHUNK))
            with b.if_then(b.icmp_signed("<", failed, own), likely=False):
                b.store(ir.Constant(_I64, State.STOPPED), _slot(b, state, State.STATUS))
                b.ret(yes)
        lock = b.call(_external(module, "adc_PyGILState_Ensure", _I32), [])
        raised = b.call(_external(module, "adc_PyErr_CheckSignals", _I32), [])
        with b.if_then(b.icmp_signed("!=", raised, ir.Constant(_I32, 0)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(yes)
        b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])
        b.ret(no)

    return _helper(module, "adc_poll", ir.IntType(1), [_I64.as_pointer()], body)


def _spill_helper(module: ir.Module) -> ir.Function:
    """``i64 adc_spill(state, size)``: the address of an array beyond the workspace; 0 if none.

    Such arrays are a list, the newest first: the address of the one before and the place that the
    array would have in the workspace lie before the array.
    """

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, size = args
        nothing = ir.Constant(_I64, 0)
        with b.if_then(b.icmp_signed("<", size, nothing), likely=False):
            b.ret(nothing)
        top = _slot(b, state, State.TOP)
        head = _slot(b, state, State.SPILLED)
        realloc = _external(module, "adc_PyMem_RawRealloc", _I8P, _I8P, _I64)
        whole = b.add(size, ir.Constant(_I64, _ALIGN))
        block = b.call(realloc, [ir.Constant(_I8P, None), whole])
        address = b.ptrtoint(block, _I64)
        with b.if_then(b.icmp_unsigned("==", address, nothing), likely=False):
            b.ret(nothing)
        words = b.bitcast(block, _I64.as_pointer())
        old = b.load(top)
        b.store(b.load(head), _slot(b, words, 0))
        b.store(old, _slot(b, words, 1))
        b.store(address, head)
        b.store(b.add(old, size), top)
        b.ret(b.add(address, ir.Constant(_I64, _ALIGN)))

    return _helper(module, "adc_spill", _I64, [_I64.as_pointer(), _I64], body)


def _release_helper(module: ir.Module) -> ir.Function:
    """``void adc_release(state, mark)``: free the arrays beyond the workspace made since `mark`."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, mark = args
        head = _slot(b, state, State.SPILLED)
        test, older, release, done = (b.function.append_basic_block() for _ in range(4))
        b.branch(test)
        b.position_at_end(test)
        address = b.load(head)
        b.cbranch(b.icmp_unsigned("==", address, ir.Constant(_I64, 0)), done, older)
        b.position_at_end(older)
        words = b.inttoptr(address, _I64.as_pointer())
        place = b.load(_slot(b, words, 1))
        b.cbranch(b.icmp_signed("<", place, mark), done, release)
        b.position_at_end(release)
        b.store(b.load(_slot(b, words, 0)), head)
        free = _external(module, "adc_PyMem_RawFree", ir.VoidType(), _I8P)
        b.call(free, [b.inttoptr(address, _I8P)])
        b.branch(test)
        b.position_at_end(done)
        b.ret_void()

    return _helper(module, "adc_release", ir.VoidType(), [_I64.as_pointer(), _I64], body)


def _vector(b: ir.IRBuilder, lanes: ir.Value, at: ir.Value) -> ir.Value:
    """Write the address of eight lanes."""
    kind = ir.VectorType(lanes.type.pointee, _VECTOR).as_pointer()
    return b.bitcast(b.gep(lanes, [at]), kind)


def _on_lanes(
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

    args = [lanes.type, _I64]
    name = f"adc_{name}_{lanes.type.pointee}"
    made = _helper(b.module, name, result or ir.VoidType(), args, body, cold=False)
    made.linkage = "internal"  # so that LLVM sees that nobody keeps the address of the lanes
    return b.call(made, [lanes, count])


def _halve(b: ir.IRBuilder, lanes: ir.Value, width: ir.Value) -> None:
    """Write `adc.ir.sums.combine` down to eight lanes."""
    test, halve, done = (b.function.append_basic_block() for _ in range(3))
    entry = b.block
    b.branch(test)
    b.position_at_end(test)
    wide = b.phi(_I64)
    wide.add_incoming(width, entry)
    b.cbranch(b.icmp_signed(">", wide, ir.Constant(_I64, _VECTOR)), halve, done)
    b.position_at_end(halve)
    half = b.lshr(wide, ir.Constant(_I64, 1))
    with cgutils.for_range(b, b.lshr(half, ir.Constant(_I64, 3)), intp=_I64) as loop:
        at = b.shl(loop.index, ir.Constant(_I64, 3))
        low, high = _vector(b, lanes, at), _vector(b, lanes, b.add(at, half))
        b.store(b.fadd(b.load(low, align=8), b.load(high, align=8)), low, align=8)
    wide.add_incoming(half, b.block)
    b.branch(test)
    b.position_at_end(done)


def _note_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_note(state, word)``: false if there is no memory."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, word = args
        used = b.load(_slot(b, state, State.LOG + 2))
        more = b.add(used, ir.Constant(_I64, 1))
        full = b.icmp_signed(">", more, b.load(_slot(b, state, State.LOG + 1)))
        with b.if_then(full, likely=False):
            log, size = ir.Constant(_I64, State.LOG), ir.Constant(_I64, 8)
            no = ir.Constant(ir.IntType(1), 0)
            done = b.call(_grow_helper(module), [state, log, more, size, no])
            with b.if_then(b.not_(done), likely=False):
                b.ret(ir.Constant(ir.IntType(1), 0))
        base = b.inttoptr(b.load(_slot(b, state, State.LOG)), _I64.as_pointer())
        b.store(word, b.gep(base, [used]))
        b.store(more, _slot(b, state, State.LOG + 2))
        b.ret(ir.Constant(ir.IntType(1), 1))

    return _helper(module, "adc_note", ir.IntType(1), [_I64.as_pointer(), _I64], body)


def _say_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_say(state)``: true if what carries out the effects raised an exception."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        (state,) = args
        say = b.load(_slot(b, state, State.SAY))
        with b.if_then(b.icmp_unsigned("!=", say, ir.Constant(_I64, 0))):
            _call_python(b, module, state, say, failed=True)
        b.ret(ir.Constant(ir.IntType(1), 0))

    return _helper(module, "adc_say", ir.IntType(1), [_I64.as_pointer()], body)


def _external_helper(module: ir.Module) -> ir.Function:
    """``i1 adc_external(state, number, given, lock)``: true if the function raised an exception.

    `given` is a tuple of what it is called with, which is released; the lock is held.
    """

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, number, given, lock = args
        with b.if_then(b.icmp_unsigned("==", given, ir.Constant(_I8P, None)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(ir.Constant(ir.IntType(1), 1))
        table = b.inttoptr(b.load(_slot(b, state, State.EXTERNAL)), _I64.as_pointer())
        function = b.inttoptr(b.load(_slot(b, table, number)), _I8P)
        call = _external(module, "adc_PyObject_CallObject", _I8P, _I8P, _I8P)
        release = _external(module, "adc_Py_DecRef", ir.VoidType(), _I8P)
        done = b.call(call, [function, given])
        b.call(release, [given])
        with b.if_then(b.icmp_unsigned("==", done, ir.Constant(_I8P, None)), likely=False):
            _keep_error(b, module, state, lock)
            b.ret(ir.Constant(ir.IntType(1), 1))
        b.call(release, [done])
        b.call(_external(module, "adc_PyGILState_Release", ir.VoidType(), _I32), [lock])
        b.ret(ir.Constant(ir.IntType(1), 0))

    args = [_I64.as_pointer(), _I64, _I8P, _I32]
    return _helper(module, "adc_external", ir.IntType(1), args, body, cold=False)


# --- what the lowering of emitted code writes -----------------------------------------------------


def width(b: ir.IRBuilder, used: ir.Value) -> ir.Value:
    """Write the number of lanes to combine: a power of two, not less than `used`, at least 8."""
    least = ir.Constant(_I64, _VECTOR)
    below = b.sub(b.select(b.icmp_signed(">", used, least), used, least), ir.Constant(_I64, 1))
    zeros = b.ctlz(below, ir.Constant(ir.IntType(1), 0))
    return b.shl(ir.Constant(_I64, 1), b.sub(ir.Constant(_I64, 64), zeros))


def fill_lanes(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value) -> None:
    """Write the neutral element of addition into the lanes that will be combined."""
    _on_lanes(b, "fill", _fill, lanes, used)


def _fill(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value) -> None:
    kind = ir.VectorType(lanes.type.pointee, _VECTOR)
    neutral = ir.Constant(kind, [ir.Constant(lanes.type.pointee, -0.0)] * _VECTOR)
    with cgutils.for_range(b, b.lshr(width(b, used), ir.Constant(_I64, 3)), intp=_I64) as loop:
        b.store(neutral, _vector(b, lanes, b.shl(loop.index, ir.Constant(_I64, 3))), align=8)


def total_of(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value, down: bool) -> ir.Value:
    """Write the sum of the first `used` lanes, see `adc.ir.sums.combine`."""
    write = functools.partial(_total, down=down)
    name = "total_down" if down else "total"
    return _on_lanes(b, name, write, lanes, used, lanes.type.pointee)


def _total(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value, down: bool) -> ir.Value:
    short, long, done = (b.function.append_basic_block() for _ in range(3))
    item = lanes.type.pointee
    b.cbranch(b.icmp_signed("<=", used, ir.Constant(_I64, SHORT)), short, long)

    b.position_at_end(short)
    test, step = (b.function.append_basic_block() for _ in range(2))
    entry = b.block
    b.branch(test)
    b.position_at_end(test)
    k, few = b.phi(_I64), b.phi(item)
    k.add_incoming(ir.Constant(_I64, 0), entry)
    few.add_incoming(ir.Constant(item, -0.0), entry)
    b.cbranch(b.icmp_signed("<", k, used), step, done)
    b.position_at_end(step)
    following = b.add(k, ir.Constant(_I64, 1))
    place = b.sub(used, following) if down else k
    few.add_incoming(b.fadd(few, b.load(b.gep(lanes, [place]))), b.block)
    k.add_incoming(following, b.block)
    b.branch(test)

    b.position_at_end(long)
    _on_lanes(b, "halve", _halve, lanes, width(b, used))
    # One by one: a vector would wait for the lanes to be written to the cache.
    found = [b.load(b.gep(lanes, [ir.Constant(_I64, k)])) for k in range(_VECTOR)]
    while len(found) > 1:
        half = len(found) // 2
        found = [b.fadd(x, y) for x, y in zip(found[:half], found[half:], strict=True)]
    last = b.block
    b.branch(done)

    b.position_at_end(done)
    result = b.phi(item)
    result.add_incoming(few, test)
    result.add_incoming(found[0], last)
    return result


def itemsize(dtype: Any) -> int:
    """Return the bytes of an element of one of Numba's types."""
    return 1 if dtype == types.boolean else dtype.bitwidth // 8


def bytes_of(b: ir.IRBuilder, dtype: Any, shape: Sequence[ir.Value]) -> tuple[Any, Any]:
    """Write the size of an array; return it, and whether it is negative or beyond all memory."""
    size: Any = ir.Constant(_I64, itemsize(dtype))
    bad: Any = ir.Constant(ir.IntType(1), 0)
    for one in shape:
        product = b.smul_with_overflow(size, one)
        size = b.extract_value(product, 0)
        negative = b.icmp_signed("<", one, ir.Constant(_I64, 0))
        bad = b.or_(bad, b.or_(negative, b.extract_value(product, 1)))
    return size, bad


def most_bytes(
    b: ir.IRBuilder, dtype: Any, shapes: Sequence[Sequence[ir.Value]]
) -> tuple[Any, Any]:
    """Write the size of the largest of some arrays, and whether one of them is impossible."""
    size: Any = ir.Constant(_I64, 0)
    bad: Any = ir.Constant(ir.IntType(1), 0)
    for shape in shapes:
        one, wrong = bytes_of(b, dtype, shape)
        size = b.select(b.icmp_signed(">", one, size), one, size)
        bad = b.or_(bad, wrong)
    return size, bad


def take_prepared(
    b: ir.IRBuilder, state: ir.Value, place: ir.Value, dtype: Any, shape: list[ir.Value]
) -> tuple[ir.Value, ir.Value]:
    """Write the taking of the memory prepared for a result; return its address, and if it fits.

    Where it does not, the size that is needed is left in its place.
    """
    size, bad = bytes_of(b, dtype, shape)
    table = b.inttoptr(b.load(_slot(b, state, State.RESULTS)), _I64.as_pointer())
    at = b.mul(place, ir.Constant(_I64, 2))
    where, prepared = _slot(b, table, at), _slot(b, table, b.add(at, ir.Constant(_I64, 1)))
    address = b.load(where)
    nothing = ir.Constant(_I64, 0)
    given = b.icmp_unsigned("!=", address, nothing)
    fits = b.and_(b.icmp_unsigned("==", size, b.load(prepared)), given)
    fits = b.and_(fits, b.not_(bad))
    large = b.icmp_unsigned(">=", size, ir.Constant(_I64, LARGE))
    with b.if_then(b.and_(b.not_(fits), b.or_(large, given)), likely=False):
        b.store(nothing, where)
        b.store(size, prepared)
        b.store(ir.Constant(_I64, 1), _slot(b, state, State.MISSED))
    return address, fits


def take(
    b: ir.IRBuilder, state: ir.Value, dtype: Any, shape: list[ir.Value], no_memory: ir.Block
) -> ir.Value:
    """Write the taking of an array from the workspace, or a jump to `no_memory`.

    Return the array's address. That of an array without elements may be 0.
    """
    size, bad = bytes_of(b, dtype, shape)
    size = b.and_(b.add(size, ir.Constant(_I64, _ALIGN - 1)), ir.Constant(_I64, -_ALIGN))
    old = b.load(_slot(b, state, State.TOP))
    new = b.add(old, size)
    fits = b.icmp_unsigned("<=", new, b.load(_slot(b, state, State.SIZE)))
    fits = b.and_(fits, b.not_(bad))
    enough, spill, done = (b.function.append_basic_block() for _ in range(3))
    b.cbranch(fits, enough, spill).set_weights([1000, 1])
    b.position_at_end(enough)
    b.store(new, _slot(b, state, State.TOP))
    inside = b.add(b.load(_slot(b, state, State.BASE)), old)
    b.branch(done)
    b.position_at_end(spill)
    outside = b.call(_spill_helper(b.module), [state, b.select(bad, ir.Constant(_I64, -1), size)])
    none = b.icmp_unsigned("==", outside, ir.Constant(_I64, 0))
    b.cbranch(none, no_memory, done)
    b.position_at_end(done)
    address = b.phi(_I64)
    address.add_incoming(inside, enough)
    address.add_incoming(outside, spill)
    return address


def release_to(b: ir.IRBuilder, state: ir.Value, mark: ir.Value) -> None:
    """Write the release of all arrays that were taken from the workspace since `mark`."""
    top, peak = _slot(b, state, State.TOP), _slot(b, state, State.PEAK)
    used, most = b.load(top), b.load(peak)
    b.store(b.select(b.icmp_signed(">", used, most), used, most), peak)
    b.store(mark, top)
    spilled = b.load(_slot(b, state, State.SPILLED))
    with b.if_then(b.icmp_unsigned("!=", spilled, ir.Constant(_I64, 0)), likely=False):
        b.call(_release_helper(b.module), [state, mark])


def reserve(
    b: ir.IRBuilder, state: ir.Value, place: ir.Value, need: ir.Value, size: ir.Value, exact: bool
) -> ir.Value:
    """Write the growing of a tape; return whether there was memory for it."""
    only = ir.Constant(ir.IntType(1), exact)
    return b.call(_grow_helper(b.module), [state, place, need, size, only])


def note_word(b: ir.IRBuilder, state: ir.Value, word: ir.Value) -> ir.Value:
    """Write the appending of a word to the print log; return whether there was memory for it."""
    return b.call(_note_helper(b.module), [state, word])


def say_words(b: ir.IRBuilder, state: ir.Value) -> ir.Value:
    """Write the carrying out of what is in the log; return whether the call is to be given up."""
    return b.call(_say_helper(b.module), [state])


def call_external(
    b: ir.IRBuilder, state: ir.Value, number: ir.Value, words: Sequence[ir.Value],
    given: Sequence[tuple[ir.Value, ir.Value]], made: Sequence[tuple[ir.Value, ir.Value]],
) -> ir.Value:  # fmt: skip
    """Write the call of a function outside; return whether the call is to be given up.

    It is told `words`, and memory by address and bytes: copies of what is `given`, and what is
    `made`.
    """
    module, bytes_type = b.module, ir.IntType(8)
    with b.goto_entry_block():
        place = b.alloca(_I64, ir.Constant(_I64, len(words) + 1))
    for k, word in enumerate(words):
        b.store(word, _slot(b, place, k))
    lock = b.call(_external(module, "adc_PyGILState_Ensure", _I32), [])
    view = _external(module, "adc_PyMemoryView_FromMemory", _I8P, _I8P, _I64, _I32)
    copy = _external(module, "adc_PyBytes_FromStringAndSize", _I8P, _I8P, _I64)

    def writable(address: Any, size: Any) -> Any:
        return b.call(view, [b.bitcast(address, _I8P), size, ir.Constant(_I32, _WRITE)])

    items = [writable(place, ir.Constant(_I64, 8 * len(words)))]
    for address, size in given:
        items.append(b.call(copy, [b.bitcast(address, _I8P), size]))
    items += [writable(*each) for each in made]
    # It takes the references, and returns nothing if one of them is nothing.
    text = bytearray(f"({'N' * len(items)})\0".encode())
    form = ir.Constant(ir.ArrayType(bytes_type, len(text)), text)
    name = f"adc_form_{len(items)}"
    known = module.globals.get(name) or cgutils.global_constant(module, name, form)
    build = module.globals.get("adc_Py_BuildValue") or ir.Function(
        module, ir.FunctionType(_I8P, [_I8P], var_arg=True), "adc_Py_BuildValue"
    )
    found = b.call(build, [b.bitcast(known, _I8P), *items])
    return b.call(_external_helper(module), [state, number, found, lock])


def heard_word(b: ir.IRBuilder, state: ir.Value) -> ir.Value:
    """Write the reading of what carrying out the last effect has found."""
    return b.load(_slot(b, state, State.WANTED))


def poll_state(b: ir.IRBuilder, state: ir.Value, work: ir.Value) -> ir.Value:
    """Write the counting down of `work`; return whether the call is to be given up."""
    ticks = _slot(b, state, State.TICKS)
    left = b.sub(b.load(ticks), work)
    b.store(left, ticks)
    before = b.block
    with b.if_then(b.icmp_signed("<", left, ir.Constant(_I64, 0)), likely=False):
        raised = b.call(_poll_helper(b.module), [state])
        polled = b.block
    stop = b.phi(ir.IntType(1))
    stop.add_incoming(ir.Constant(ir.IntType(1), 0), before)
    stop.add_incoming(raised, polled)
    return stop


# --- what emitted code calls ----------------------------------------------------------------------
#
# Names for readers and imports: `instructions` knows them and writes what they do, nothing runs
# their bodies.


def view(address: Any, dtype: Any, shape: Any) -> Any:
    """Return the array at an address, which belongs to somebody else."""
    raise NotImplementedError


def parallel_for(state: Any, part: Any, trips: Any, work: Any, *given: Any) -> None:
    """Run a loop: ``part(state, first, last, *given)`` runs some of its iterations."""
    raise NotImplementedError


def row_at(stack: Any, *index: Any) -> Any:
    """Return an array in an array, where it lies."""
    raise NotImplementedError


def part_of(state: Any, stack: Any, index: Any, sizes: Any) -> Any:
    """Return an array in an array, where it lies if it has these sizes; else a copy."""
    raise NotImplementedError


def fresh(dtype: Any, shape: Any) -> Any:
    """Return a new array that owns its memory."""
    raise NotImplementedError


def returned(state: Any, place: Any, dtype: Any, shape: Any) -> Any:
    """Return a new array in the memory prepared for a result, or one that owns its memory."""
    raise NotImplementedError


def empty(state: Any, dtype: Any, shape: Any) -> Any:
    """Return an array in the workspace, or where there is room for it until it is released."""
    raise NotImplementedError


def stacked(dtype: Any, shape: Any) -> Any:
    """Return an array on the stack, which is gone when the function returns."""
    raise NotImplementedError


def reuse(array: Any, dtype: Any, shape: Any) -> Any:
    """Return an array in the memory of another one of as many elements, which is dead."""
    raise NotImplementedError


def slot(state: Any, dtype: Any, *shapes: Any) -> Any:
    """Return memory in the workspace for an array of any of these shapes, for `reuse`."""
    raise NotImplementedError


def release(state: Any, mark: Any) -> None:
    """Release the arrays that `empty` made since the workspace was filled up to `mark`."""
    raise NotImplementedError


def lanes(dtype: Any, used: Any) -> Any:
    """Return partial sums on the stack, of which the first `used` will be combined."""
    raise NotImplementedError


def total(partial: Any, used: Any) -> Any:
    """Return the sum of the first `used` of `lanes`."""
    raise NotImplementedError


def total_down(partial: Any, used: Any) -> Any:
    """Return what `total` does; few lanes are added from the last to the first."""
    raise NotImplementedError


def tape(state: Any, place: Any, dtype: Any) -> Any:
    """Return the memory of a tape as an array."""
    raise NotImplementedError


def grow(state: Any, place: Any, need: Any, dtype: Any) -> Any:
    """Return the memory of a tape, enlarged to `need` elements or more."""
    raise NotImplementedError


def fit(state: Any, place: Any, need: Any, dtype: Any) -> Any:
    """Return the memory of a tape, enlarged to `need` elements."""
    raise NotImplementedError


def note(state: Any, word: Any) -> None:
    """Append a word to the print log."""
    raise NotImplementedError


def say(state: Any) -> bool:
    """Carry out the effects in the log; True if the call is to be given up for an exception."""
    raise NotImplementedError


def external(state: Any, number: Any, given: Any, made: Any) -> bool:
    """Let a Python function outside fill arrays; True if it has raised an exception."""
    raise NotImplementedError


def heard(state: Any) -> float:
    """Return what the effect carried out last has found."""
    raise NotImplementedError


def heard_integer(state: Any) -> int:
    """Return the integer that the effect carried out last has found."""
    raise NotImplementedError


def poll(state: Any, work: Any) -> bool:
    """Count `work` down; True if the call is to be given up because of a signal."""
    raise NotImplementedError


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
    return word_values(np.array([word], np.int64), dtype)[0]


def word_values(raw: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Return the numbers that `bits` made words of."""
    numpy = ELEMENTS[dtype]
    if numpy.itemsize == 8:
        return raw.view(numpy)
    return raw.astype(np.uint32).view(numpy) if numpy.kind == "f" else raw.astype(numpy)


@intrinsic
def copy_into(typingctx: Any, target: Any, source: Any) -> Any:
    """Copy the elements of an array into a contiguous one of the same shape."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to, of = (
            context.make_array(ty)(context, builder, arg)
            for ty, arg in zip(sig.args, args, strict=True)
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
        array = context.make_array(target)(context, builder, args[0])
        item = context.get_value_as_data(builder, target.dtype, args[1])
        with cgutils.for_range(builder, array.nitems, intp=_I64) as loop:
            builder.store(item, builder.gep(array.data, [loop.index]))
        return context.get_dummy_value()

    return signature(types.void, target, target.dtype), codegen
