"""Looks at random moments where compiled code is (`adc.backend.cpu.profile`).

On Linux a timer interrupts the thread itself, wherever it is, by the signal SIGPROF, whose handler
is compiled here. Another thread would have to wait for a processor. It would get one most readily
while the code waits, for threads of BLAS for example, and would find it there too often. On other
systems there is no such timer, and it is another thread.
"""

from __future__ import annotations

import ctypes
import functools
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from adc.backend.cpu.profile import WORDS
from adc.backend.numba_api import cgutils
from adc.backend.runtime.helpers import I32, I64

# Nanoseconds between two samples: so many, and at random up to so many more. At regular times a
# loop might always be in the same place.
_LEAST, _MORE = 500_000, 1_000_000
# The most samples; no more are needed.
_MOST = 20_000
# What a handler is told: where samples go, how many there are, the seed of random numbers, how many
# states there are, the timer, and what it is set to (seconds and nanoseconds of the interval, and
# until the next time). The addresses of the states follow.
_LOG, _COUNT, _SEED, _STATES, _TIMER, _NEXT, _ADDRESSES = 0, 1, 2, 3, 4, 5, 9
_MOST_STATES = 1024
_SIGEV_THREAD_ID = 4
_ON_LINUX = sys.platform.startswith("linux")


def _build(told: int, set_timer: int) -> str:
    """Return ``void adc_sample(i32 signal)`` in LLVM's language.

    `told` and `set_timer` are addresses: of the words above, and of `timer_settime` or 0.
    """
    module = ir.Module("adc_sampler")
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [I32]), "adc_sample")
    b = ir.IRBuilder(made.append_basic_block())

    def number(value: int) -> Any:
        return ir.Constant(I64, value)

    words = b.inttoptr(number(told), I64.as_pointer())

    def place(k: int) -> Any:
        return b.gep(words, [number(k)])

    # Random numbers as of Marsaglia's xorshift.
    seed = b.load(place(_SEED))
    for shift, write in ((13, b.shl), (7, b.lshr), (17, b.shl)):
        seed = b.xor(seed, write(seed, number(shift)))
    b.store(seed, place(_SEED))
    count = b.load(place(_COUNT))
    with b.if_then(b.icmp_signed("<", count, number(_MOST))):
        row = b.inttoptr(b.load(place(_LOG)), I64.as_pointer())
        row = b.gep(row, [b.mul(count, number(2 * WORDS))])

        def copy(state: Any, to: int) -> None:
            source = b.inttoptr(b.load(b.gep(words, [state])), I64.as_pointer())
            for k in range(WORDS):
                found = b.load(b.gep(source, [number(k)]))
                b.store(found, b.gep(row, [number(to + k)]))

        copy(number(_ADDRESSES), 0)
        # One of the other threads that is in a loop that they share: also where this thread waits
        # for it.
        others = b.sub(b.load(place(_STATES)), number(1))
        start = b.lshr(seed, number(20))
        with cgutils.for_range(b, others, intp=I64) as loop:
            one = b.urem(b.add(start, loop.index), others)
            state = b.add(one, number(_ADDRESSES + 1))
            words_of = b.inttoptr(b.load(b.gep(words, [state])), I64.as_pointer())
            with b.if_then(b.icmp_signed("!=", b.load(words_of), number(0))):
                copy(state, WORDS)
                loop.do_break()
        b.store(b.add(count, number(1)), place(_COUNT))
    if set_timer:
        wait = b.add(number(_LEAST), b.urem(b.lshr(seed, number(8)), number(_MORE)))
        b.store(wait, place(_NEXT + 3))
        kind = ir.FunctionType(I32, [I64, I32, I64.as_pointer(), I64])
        call = b.inttoptr(number(set_timer), kind.as_pointer())
        b.call(call, [b.load(place(_TIMER)), ir.Constant(I32, 0), place(_NEXT), number(0)])
    b.ret_void()
    return str(module)


class _Native:
    """The compiled handler, and the words that it is told, which live as long as the process."""

    def __init__(self) -> None:
        self.told = np.zeros(_ADDRESSES + _MOST_STATES, np.int64)
        set_timer = 0
        if _ON_LINUX:
            found: Any = ctypes.cast(ctypes.CDLL(None).timer_settime, ctypes.c_void_p)
            set_timer = found.value
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module: Any = llvm.parse_assembly(_build(self.told.ctypes.data, set_timer))
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine: Any = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address("adc_sample")
        self.sample: Any = ctypes.CFUNCTYPE(None, ctypes.c_int)(self.address)
        # One at a time uses them.
        self.lock = threading.Lock()


_native = functools.cache(_Native)


class Sampler:
    """Reads the marks of calls of this thread, and of the threads that share its loops.

    Parameters
    ----------
    states : sequence of ndarray
        Those of the thread, and of the others.
    base : int
        The place in them where marks are noted.
    """

    def __init__(self, states: Sequence[np.ndarray[Any, Any]], base: int) -> None:
        self._states = states[:_MOST_STATES]
        self._base = base
        self._log = np.zeros((_MOST, 2 * WORDS), np.int64)
        self._count = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Take samples while the body runs."""
        native = _native()
        with native.lock:
            told = native.told
            told[_LOG], told[_COUNT] = self._log.ctypes.data, self._count
            told[_SEED] = random.getrandbits(62) | 1
            told[_STATES] = len(self._states)
            addresses = [each.ctypes.data + 8 * self._base for each in self._states]
            told[_ADDRESSES : _ADDRESSES + len(addresses)] = addresses
            try:
                with _by_timer(native) if _ON_LINUX else _by_thread(native):
                    yield
            finally:
                self._count = int(told[_COUNT])

    def samples(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the mark that ran, and those of the calls around it, for every sample."""
        for row in self._log[: self._count].tolist():
            mark, calls = _decoded(row[:WORDS])
            if inner := row[WORDS]:
                more = _decoded(row[WORDS:])
                mark, calls = inner, [*calls, *more[1]]
            yield mark, calls


@contextmanager
def _by_timer(native: _Native) -> Iterator[None]:
    """Let a timer interrupt this thread."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    event = (ctypes.c_int * 16)()  # `struct sigevent`: two words of a value, then these
    event[2], event[3], event[4] = signal.SIGPROF, _SIGEV_THREAD_ID, threading.get_native_id()
    timer = ctypes.c_void_p()
    if libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "there is no timer for a profile")
    before = libc.signal(signal.SIGPROF, native.address)
    try:
        native.told[_TIMER] = timer.value or 0
        native.told[_NEXT : _NEXT + 4] = 0, 0, 0, _LEAST
        first = ctypes.c_void_p(native.told.ctypes.data + 8 * _NEXT)
        libc.timer_settime(timer, 0, first, None)
        yield
    finally:
        # Signals that are on their way arrive here, before the handler is gone.
        libc.timer_delete(timer)
        time.sleep(0)
        libc.signal(signal.SIGPROF, before)


@contextmanager
def _by_thread(native: _Native) -> Iterator[None]:
    """Let another thread look on."""
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            time.sleep(1e-9 * random.uniform(_LEAST, _LEAST + _MORE))
            native.sample(0)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _decoded(row: Sequence[int]) -> tuple[int, list[int]]:
    depth = min(max(row[1], 0), len(row) - 2)
    return row[0], list(row[2 : 2 + depth])


__all__ = ["Sampler"]
