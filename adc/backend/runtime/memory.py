"""Memory that outlives calls: workspace and tapes of a thread, and pages for returned arrays.

A `Memory` belongs to one kernel and one thread. Its workspace becomes as large as the largest call
needed, its tapes grow while code runs. Where `_WINDOW` calls in a row use less than half of what is
held, all is given back and grows anew. Tapes in files (`offload`) live for one call.

An array that is returned is the user's. Where it is large, its memory comes from `POOL`, and goes
back there when the user drops the last view of it: new pages would cost as much as writing them
several times.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adc.backend.runtime.offload import Files
from adc.backend.runtime.state import LARGE, State
from adc.backend.runtime.threads import lowest_address, most
from adc.ir.types import ELEMENTS

_free: Any = ctypes.pythonapi.PyMem_RawFree
_free.restype, _free.argtypes = None, [ctypes.c_void_p]
_malloc: Any = ctypes.pythonapi.PyMem_RawMalloc
_malloc.restype, _malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

_PLACES = [State.tape(dtype) for dtype in ELEMENTS] + [State.LOG]
_ALIGN = 64
_HUGE = 2 << 20  # bytes of a huge page
# Memory below this many bytes is kept in any case.
_SMALL = 1 << 20
# Calls after which it is decided whether too much memory is held.
_WINDOW = 32
# The pool holds at most so many bytes, for so many takings.
_LIMIT = 256 << 20
_AGE = 256


# --- returned arrays ------------------------------------------------------------------------------


class Block:
    """Memory lent by a pool, which gets it back when nothing refers to this any more."""

    __slots__ = ("__array_interface__", "_memory", "_pool", "address", "size")

    def __init__(self, pool: Pool, size: int, memory: np.ndarray[Any, Any], address: int) -> None:
        self._pool = pool
        self.size = size
        self._memory = memory
        self.address = address

    def array(self, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the memory as an array of the shape and type of another one."""
        self.__array_interface__ = {
            "version": 3,
            "shape": like.shape,
            "typestr": like.dtype.str,
            "data": (self.address, False),
        }
        return np.asarray(self)

    def __del__(self) -> None:
        self._pool.give(self.size, self._memory, self.address)


def _alignment(size: int) -> int:
    """Return what the address of a block is a multiple of.

    NumPy asks for huge pages for large arrays (``NUMPY_MADVISE_HUGEPAGE``). On their boundaries
    several arrays are written up to 1.7 times faster than at odd addresses.
    """
    return _HUGE if size >= 2 * _HUGE else _ALIGN


class Pool:
    """Blocks of memory that are free, the one that came back last at the end.

    The lock is never waited for: an array may be dropped, or a signal handler may call compiled
    code, in the middle of what is done here.
    """

    def __init__(self, limit: int = _LIMIT, age: int = _AGE) -> None:
        self._limit = limit
        self._age = age
        self._lock = threading.Lock()
        # Bytes lent, memory, their address, takings before.
        self._blocks: list[tuple[int, np.ndarray[Any, Any], int, int]] = []
        self._takings = 0
        self.nbytes = 0

    def take(self, size: int) -> Block:
        """Return a block of so many bytes.

        Raises
        ------
        MemoryError
            If there is none.
        """
        if self._lock.acquire(blocking=False):
            try:
                self._takings += 1
                blocks = self._blocks
                if blocks and blocks[0][3] < self._takings - self._age:
                    self._trim(self._takings - self._age, self._limit)
                for k in range(len(blocks) - 1, -1, -1):
                    if blocks[k][0] == size:
                        self.nbytes -= size
                        _, memory, address, _ = blocks.pop(k)
                        return Block(self, size, memory, address)
            finally:
                self._lock.release()
        try:
            memory = np.empty(size + _alignment(size), np.uint8)
        except MemoryError:
            raise MemoryError(f"no memory for an array of {size} bytes") from None
        start = memory.ctypes.data
        return Block(self, size, memory, start + -start % _alignment(size))

    def give(self, size: int, memory: np.ndarray[Any, Any], address: int) -> None:
        """Take a block back: keep it, or let it be freed."""
        if size <= self._limit and self._lock.acquire(blocking=False):
            try:
                if self.nbytes > self._limit - size:
                    self._trim(0, self._limit - size)
                self._blocks.append((size, memory, address, self._takings))
                self.nbytes += size
            finally:
                self._lock.release()

    def clear(self) -> None:
        """Free every block that nobody has."""
        if self._lock.acquire(blocking=False):
            try:
                self._trim(0, 0)
            finally:
                self._lock.release()

    def _trim(self, since: int, most: int) -> None:
        """Free the oldest blocks: those that came back before `since`, then all beyond `most`."""
        while self._blocks and (self._blocks[0][3] < since or self.nbytes > most):
            self.nbytes -= self._blocks.pop(0)[0]


POOL = Pool()


# --- workspace and tapes --------------------------------------------------------------------------


def _free_spilled(state: np.ndarray[Any, Any]) -> None:
    """Free the arrays that did not fit into the workspace."""
    address = int(state[State.SPILLED])
    state[State.SPILLED] = 0
    while address:
        before = ctypes.c_int64.from_address(address).value
        _free(address)
        address = before


def _release(state: np.ndarray[Any, Any]) -> None:
    """Free everything that `state` points to."""
    _free_spilled(state)
    for place in (State.LOG,) if state[State.GROW] else _PLACES:
        if state[place]:
            _free(int(state[place]))
    state[: State.RESULTS] = 0
    state[State.TAPES : State.OPERANDS] = 0


def _say(state: np.ndarray[Any, Any], say: Callable[[np.ndarray[Any, Any]], Any]) -> None:
    """Pass on the words of the log, and empty it; write what the last effect has found."""
    address, _, used = (int(word) for word in state[State.LOG : State.LOG + 3])
    words = np.ctypeslib.as_array((ctypes.c_int64 * used).from_address(address)).copy()
    state[State.LOG + 2] = 0
    found = say(words)
    if found is not None:
        state[State.WANTED] = bits_of(found)


def bits_of(number: float) -> int:
    """Return the bits of a float, or an integer."""
    return number if isinstance(number, int) else int(np.float64(number).view(np.int64))


class Memory:
    """Memory that calls of one kernel in one thread use in turn.

    Parameters
    ----------
    operands : int
        The most operands of a check.
    tapes : sequence of str
        The dtypes of the tapes that the kernel uses.
    returned : int
        How many arrays it returns in memory that may be prepared.
    offload : bool
        Whether tapes are in files.
    say : callable, optional
        Carries out the effects that the words of the log stand for.
    external : ndarray, optional
        The addresses of what calls functions outside (`outside.Table`), which the caller keeps.

    Attributes
    ----------
    prepared : dict
        By place in the table of results, a block for each that was large in the last call.
    peak : int
        Bytes of the workspace and the tapes in memory that the last call used.
    disk : int
        Bytes of the tapes in files that it used.
    allocations : int
        How often a workspace was made.
    workers : list of Memory
        Those of the threads that share loops.
    """

    def __init__(
        self,
        operands: int,
        tapes: Sequence[str] = (),
        returned: int = 0,
        offload: bool = False,
        say: Callable[[np.ndarray[Any, Any]], Any] | None = None,
        external: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.state = np.zeros(State.OPERANDS + operands, np.int64)
        self._stack = lowest_address()  # a memory belongs to one thread
        self.state[State.STACK] = self._stack
        # Numbers are read from and written to this several times faster than with an array.
        self._words = memoryview(self.state)  # type: ignore[arg-type]  # stub is wrong
        # Held during a call, so that no other thread frees what compiled code uses.
        self.lock = threading.Lock()
        self._workspace = np.zeros(0, np.uint8)
        self._tapes = [(State.tape(dtype), ELEMENTS[dtype].itemsize) for dtype in tapes]
        self._table = np.zeros(2 * returned, np.int64)
        self._places = memoryview(self._table)  # type: ignore[arg-type]  # as above
        self.state[State.RESULTS] = self._table.ctypes.data
        # Bytes to prepare for each result, by place in the table.
        self._large: dict[int, int] = {}
        self.prepared: dict[int, Block] = {}
        self._operands, self._dtypes = operands, tapes
        self.workers: list[Memory] = []
        self._team = np.zeros(0, np.int64)
        self.peak = 0
        self.disk = 0
        self.allocations = 0
        self._files: Files | None = None
        if offload:
            self._files = Files(self.state)
            self._grow = self._files.grow  # compiled code has its address alone
            self.state[State.GROW] = id(self._grow)
        if say is not None:
            self._say = functools.partial(_say, self.state, say)
            self.state[State.SAY] = id(self._say)
        if external is not None:
            self.state[State.EXTERNAL] = external.ctypes.data
        self._need = 0  # bytes of the workspace
        self._most = 0  # the largest peak of this window
        self._calls = 0
        # Compiled code moves the tapes, so their addresses are in the state alone.
        self._finalizer = weakref.finalize(self, _release, self.state)
        self._finalizer.atexit = False

    def reserve(self, tapes: Mapping[str, int]) -> None:
        """Make tapes as large as a call is known to need them, in bytes.

        A tape that grows takes twice what it needs, and more while it is moved.
        """
        for dtype, size in tapes.items():
            place, itemsize = State.tape(dtype), ELEMENTS[dtype].itemsize
            held = self._words[place + 1] * itemsize
            if self._files is not None:
                if size > held:
                    self._files.enlarge(place, size // itemsize)
                continue
            if size <= held <= 2 * size + _SMALL:
                continue
            if held:
                _free(self._words[place])
            self._words[place] = self._words[place + 1] = 0
            address = _malloc(max(size, 1))
            if not address:
                raise MemoryError(f"no memory for a tape of {size} bytes")
            self._words[place], self._words[place + 1] = address, size // itemsize

    def begin(self, reserved: Mapping[str, int] | None = None, threads: int = 1) -> None:
        """Prepare the state for a call, with tapes of so many bytes, and so many threads."""
        if reserved:
            self.reserve(reserved)
        if self._need > self._words[State.SIZE]:
            self._enlarge()
        if self._large:
            for k, size in self._large.items():
                block = self.prepared[k] = POOL.take(size)
                self._places[2 * k], self._places[2 * k + 1] = block.address, size
        if threads > 1:
            self._hire(threads)
        else:
            self._words[State.THREADS] = 1

    def _hire(self, threads: int) -> None:
        """Have memory for each of the threads that share loops."""
        if len(self.workers) != threads:
            self.workers = [Memory(self._operands, self._dtypes) for _ in range(threads)]
            addresses = [worker.state.ctypes.data for worker in self.workers]
            self._team = np.array([*addresses, min(threads, most())], np.int64)
        for worker in self.workers:
            worker.begin()
        self._words[State.WORKERS], self._words[State.THREADS] = self._team.ctypes.data, threads

    def _enlarge(self) -> None:
        words = self._words
        words[State.SIZE] = 0
        self._workspace = np.empty(self._need + _ALIGN, np.uint8)
        start = self._workspace.ctypes.data
        words[State.BASE] = start + -start % _ALIGN
        words[State.SIZE] = self._need
        self.allocations += 1

    def end(self) -> None:
        """Note what the call has used, and free what it has left behind."""
        words = self._words
        top, peak = words[State.TOP], words[State.PEAK]
        peak = max(top, peak)
        if peak:
            words[State.TOP] = words[State.PEAK] = 0
            self._need = max(self._need, peak)
        taped = 0
        for place, size in self._tapes:
            taped += size * max(words[place + 2], words[place + 3])
            words[place + 2] = words[place + 3] = 0
        if self._files is None:
            peak += taped
        else:
            self.disk = taped
            self._files.close()
        if words[State.THREADS] > 1:
            for worker in self.workers:
                worker.end()
                peak += worker.peak
        self.peak = peak
        if words[State.SPILLED]:
            _free_spilled(self.state)
        if words[State.STATUS]:
            words[State.STATUS] = words[State.DEPTH] = 0
        if words[State.LOG + 2]:
            words[State.LOG + 2] = 0
        if words[State.MISSED]:
            words[State.MISSED] = 0
            sizes = self._table[1::2].tolist()
            self._large = {k: size for k, size in enumerate(sizes) if size >= LARGE}
        if self.prepared:
            for k in self.prepared:
                self._places[2 * k] = 0
            self.prepared.clear()
        self._most = max(self._most, peak)
        self._calls += 1
        if self._calls >= _WINDOW:
            self._shrink()

    def _shrink(self) -> None:
        """Give back what is held if the last calls used little of it."""
        if self.nbytes > max(_SMALL, 2 * self._most):
            self.release()
        self._calls = self._most = 0

    @property
    def failed(self) -> Memory:
        """The memory of the thread in which something went wrong first, in the program's order."""
        if self.status != State.ELSEWHERE:
            return self
        bad = [worker for worker in self.workers if worker.status]
        return min(bad, key=lambda worker: worker._words[State.CHUNK])

    @property
    def status(self) -> int:
        """What went wrong in the call, 0 if nothing did."""
        return self._words[State.STATUS]

    @property
    def callers(self) -> list[int]:
        """The sites of the calls that led to what went wrong, the innermost first."""
        return State.callers(self._words)

    def taken(self, k: int) -> Block | None:
        """Return the block that result `k` lies in, if it lies in one."""
        block = self.prepared.get(k)
        return block if block is not None and self._places[2 * k] else None

    @property
    def nbytes(self) -> int:
        """Bytes held between calls."""
        sizes = [dtype.itemsize for dtype in ELEMENTS.values()] + [8]
        tapes = sum(int(self.state[p + 1]) * size for p, size in zip(_PLACES, sizes, strict=True))
        return self._workspace.nbytes + tapes + sum(worker.nbytes for worker in self.workers)

    def release(self) -> None:
        """Give back everything."""
        self.workers.clear()
        self._need = 0
        self._workspace = np.zeros(0, np.uint8)
        _release(self.state)
        self.state[State.STACK] = self._stack
