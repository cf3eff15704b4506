"""Loops that several threads share.

A loop of which `passes.parallel` says that its iterations may run in any order is a function that
runs some of them. The iterations are divided into chunks of one size, and every thread takes the
next chunk until there is none. What a chunk computes does not depend on who computes it, nor on how
large it is, so no bit of a result depends on the number of threads.

Threads are those of Numba's threading layer (OpenMP, TBB or its own). Each has a state of its own
(`state`): workspace, look for signals, what went wrong. Where chunks fail, the first one
counts, as it would if the loop ran alone.

Compiled recursion may use the stack of its thread down to `lowest_address`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import config, launch_threads
from adc.backend.runtime.state import State

_I1, _I8P, _I64 = ir.IntType(1), ir.IntType(8).as_pointer(), ir.IntType(64)
# A loop that takes less, in additions, runs alone: to start threads takes some microseconds.
ENOUGH = 40_000
# A chunk takes at least so much, and there are at most so many for each thread.
_CHUNK = 10_000
_EACH = 8
_NEVER = 2**62


# --- code -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The function that runs some iterations of a loop.

    Attributes
    ----------
    name : str
        Of the LLVM function.
    call : callable
        Writes a call, given the builder, the state as Numba has it, first and last iteration and
        the rest; returns whether there was no memory.
    state : type
        Of the state as Numba has it.
    given : sequence of types
        Of what the iterations read.
    """

    name: str
    call: Callable[[Any, Any, Any, Any, Sequence[Any]], Any]
    state: Any
    given: Sequence[Any]


def _place(b: Any, words: Any, k: Any) -> Any:
    return b.gep(words, [ir.Constant(_I64, k) if isinstance(k, int) else k])


def _words(b: Any, address: Any) -> Any:
    return b.inttoptr(address, _I64.as_pointer())


def is_worth(b: Any, state: Any, work: Any) -> Any:
    """Write whether a loop that takes `work` is shared."""
    threads = b.load(_place(b, state, State.THREADS))
    several = b.icmp_signed(">", threads, ir.Constant(_I64, 1))
    return b.and_(several, b.icmp_signed(">=", work, ir.Constant(_I64, ENOUGH)))


def _least(b: Any, x: Any, y: Any) -> Any:
    return b.select(b.icmp_signed("<", x, y), x, y)


def _quotient(b: Any, x: Any, y: Any) -> Any:
    """Write a quotient of positive numbers, rounded up."""
    return b.sdiv(b.sub(b.add(x, y), ir.Constant(_I64, 1)), y)


# What threads know of a loop: its iterations, those of a chunk, the next chunk, the first one that
# failed, the table of their states, and what the iterations read.
_TRIPS, _SIZE, _NEXT, _FAILED, _TABLE, _GIVEN = range(6)


def share(b: Any, state: Any, parts: Parts, given: Any, trips: Any, work: Any) -> None:
    """Write a loop that threads share; `given` is where what its iterations read lies."""
    one, none = ir.Constant(_I64, 1), ir.Constant(_I64, 0)
    threads = b.load(_place(b, state, State.THREADS))
    table = b.load(_place(b, state, State.WORKERS))
    chunks = _least(b, b.mul(threads, ir.Constant(_I64, _EACH)), trips)
    chunks = _least(b, chunks, _quotient(b, work, ir.Constant(_I64, _CHUNK)))
    with b.goto_entry_block():
        loop = b.alloca(_I64, 6)
        base = b.alloca(_I8P)
        counts = b.alloca(_I64, 1)
        steps = b.alloca(_I64, 2)
    known = {
        _TRIPS: trips,
        _SIZE: _quotient(b, trips, chunks),
        _NEXT: none,
        _FAILED: ir.Constant(_I64, _NEVER),
        _TABLE: table,
        _GIVEN: b.ptrtoint(given, _I64),
    }
    for k, value in known.items():
        b.store(value, _place(b, loop, k))
    # The layer moves an address on by one byte for every thread: that is its number.
    b.store(ir.Constant(_I8P, None), base)
    b.store(threads, counts)
    b.store(one, steps)
    b.store(one, _place(b, steps, 1))
    kind = ir.FunctionType(ir.VoidType(), [_I8P] * 5 + [_I64] * 3)
    run = b.module.globals.get("numba_parallel_for") or ir.Function(
        b.module, kind, "numba_parallel_for"
    )
    pointers = (_thread(b.module, parts), base, counts, steps, loop)
    pool = b.load(_place(b, _words(b, table), threads))
    b.call(run, [*(b.bitcast(each, _I8P) for each in pointers), none, one, pool])
    failed = b.icmp_signed("<", b.load(_place(b, loop, _FAILED)), ir.Constant(_I64, _NEVER))
    with b.if_then(failed, likely=False):
        b.store(ir.Constant(_I64, State.ELSEWHERE), _place(b, state, State.STATUS))


def _thread(module: Any, parts: Parts) -> Any:
    """Return the function ``void (char **base, i64 *count, i64 *steps, void *loop)``.

    It runs chunks of a loop as the thread, or one after the other as the threads, of some numbers.
    """
    args = [_I8P.as_pointer(), _I64.as_pointer(), _I64.as_pointer(), _I8P]
    kind = ir.FunctionType(ir.VoidType(), args)
    made = ir.Function(module, kind, f"{parts.name}_thread")
    made.linkage = "internal"
    entry, next_thread, start, next_chunk, chunk, bad, done = (
        made.append_basic_block() for _ in range(7)
    )
    b = ir.IRBuilder(entry)
    base, counts, _, data = made.args
    one = ir.Constant(_I64, 1)
    loop = b.bitcast(data, _I64.as_pointer())
    trips, size, table, given = (
        b.load(_place(b, loop, k)) for k in (_TRIPS, _SIZE, _TABLE, _GIVEN)
    )
    struct = ir.LiteralStructType(parts.given)
    whole = b.load(b.inttoptr(given, struct.as_pointer()))
    rest = [b.extract_value(whole, k) for k in range(len(parts.given))]
    first_thread = b.ptrtoint(b.load(base), _I64)
    last_thread = b.add(first_thread, b.load(counts))
    b.branch(next_thread)

    b.position_at_end(next_thread)
    thread = b.phi(_I64)
    thread.add_incoming(first_thread, entry)
    b.cbranch(b.icmp_signed("<", thread, last_thread), start, done)

    b.position_at_end(start)
    address = b.load(_place(b, _words(b, table), thread))
    state = _words(b, address)
    own = _as_array(b, parts.state, state)
    b.store(b.ptrtoint(_place(b, loop, _FAILED), _I64), _place(b, state, State.SHARED))
    following = b.add(thread, one)
    b.branch(next_chunk)

    b.position_at_end(next_chunk)
    number = b.atomic_rmw("add", _place(b, loop, _NEXT), one, "monotonic")
    begin = b.mul(number, size)
    over = b.icmp_signed(">=", begin, trips)
    failed = b.load_atomic(_place(b, loop, _FAILED), "monotonic", 8)
    over = b.or_(over, b.icmp_signed(">", number, failed))
    thread.add_incoming(following, next_chunk)
    b.cbranch(over, next_thread, chunk)

    b.position_at_end(chunk)
    b.store(number, _place(b, state, State.CHUNK))
    no_memory = parts.call(b, own, begin, _least(b, b.add(begin, size), trips), rest)
    status = _place(b, state, State.STATUS)
    with b.if_then(no_memory, likely=False):
        b.store(ir.Constant(_I64, State.NO_MEMORY), status)
    is_bad = b.icmp_signed("!=", b.load(status), ir.Constant(_I64, 0))
    b.cbranch(is_bad, bad, next_chunk)

    b.position_at_end(bad)
    # A signal ends all chunks, those before as well.
    signal = b.icmp_signed("==", b.load(status), ir.Constant(_I64, State.INTERRUPTED))
    first = b.select(signal, ir.Constant(_I64, -1), number)
    b.store(first, _place(b, state, State.CHUNK))
    b.atomic_rmw("min", _place(b, loop, _FAILED), first, "monotonic")
    thread.add_incoming(following, bad)
    b.branch(next_thread)

    b.position_at_end(done)
    b.ret_void()
    return made


def _as_array(b: Any, kind: Any, state: Any) -> Any:
    """Return a state as the array that Numba has of it, of which only the data is ever used."""
    found: Any = ir.Constant(kind, None)
    place = next(k for k, each in enumerate(kind.elements) if each == _I64.as_pointer())
    return b.insert_value(found, state, place)


# --- threads --------------------------------------------------------------------------------------


_busy = threading.Lock()
_started = 0  # the process in which the threads were started


def start() -> None:
    """Start the threads, and make the function that gives them work known to LLVM."""
    global _started
    launch_threads()
    _started = _started or os.getpid()


def most() -> int:
    """Return how many threads there are."""
    return int(config.NUMBA_NUM_THREADS)


def blas_threads() -> int:
    """Return how many threads BLAS has."""
    from threadpoolctl import threadpool_info

    found = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    return max(found, default=1)


@functools.cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextlib.contextmanager
def one_for_blas() -> Iterator[None]:
    """Let BLAS use one thread, as the threads that share a loop call it."""
    with _blas().limit(limits=1):
        yield


@contextlib.contextmanager
def team(threads: int) -> Iterator[int]:
    """Yield how many threads a call may share loops with: one if others have them now.

    That no bit depends on it makes this simple. Nor are there threads in a process that was forked
    from the one that started them.
    """
    if os.getpid() != _started or not _busy.acquire(blocking=False):
        yield 1
        return
    try:
        yield threads
    finally:
        _busy.release()


# --- stacks ---------------------------------------------------------------------------------------

# Bytes that are left for what the innermost call calls: LAPACK, BLAS, functions of Python.
_MARGIN = 256 << 10
_stacks = threading.local()


def lowest_address() -> int:
    """Return the lowest address of the stack that this thread may use; 0 if that is not known.

    Compiled recursion has nobody else to stop it.

    What is left is `_MARGIN`, or half of a small stack.
    """
    found: int | None = getattr(_stacks, "lowest", None)
    if found is None:
        try:
            start, size = _bounds()
        except (AttributeError, OSError):  # a system without these functions
            start, size = 0, 0
        found = _stacks.lowest = start + min(_MARGIN, size // 2)
    return found


def _bounds() -> tuple[int, int]:
    """Return where the stack of this thread ends, and its size in bytes."""
    if sys.platform == "win32":
        low, high = ctypes.c_size_t(), ctypes.c_size_t()
        ctypes.windll.kernel32.GetCurrentThreadStackLimits(ctypes.byref(low), ctypes.byref(high))
        return low.value, high.value - low.value
    libc = ctypes.CDLL(None)
    thread = ctypes.c_void_p(threading.get_ident())
    if sys.platform == "darwin":
        libc.pthread_get_stackaddr_np.restype = ctypes.c_void_p
        libc.pthread_get_stacksize_np.restype = ctypes.c_size_t
        size: int = libc.pthread_get_stacksize_np(thread)
        return (libc.pthread_get_stackaddr_np(thread) or size) - size, size
    about = ctypes.create_string_buffer(256)  # pthread_attr_t has 64 bytes or less
    start, bytes_ = ctypes.c_void_p(), ctypes.c_size_t()
    if libc.pthread_getattr_np(thread, about):
        return 0, 0
    libc.pthread_attr_getstack(about, ctypes.byref(start), ctypes.byref(bytes_))
    libc.pthread_attr_destroy(about)
    return start.value or 0, bytes_.value


__all__ = [
    "Parts", "blas_threads", "is_worth", "lowest_address", "most", "one_for_blas", "share", "start",
    "team",
]  # fmt: skip
