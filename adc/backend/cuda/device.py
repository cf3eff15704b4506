"""What the function on the host works with: arrays and numbers on the device, and launches."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.backend.cuda import libraries
from adc.backend.cuda.api import (
    configured,
    cuda,
    current_device,
    function,
    kernel,
    simulated,
    viewed,
    wait,
)
from adc.backend.cuda.memory import PINNED, Lender
from adc.backend.cuda.prelude import COMBINED, maximum, minimum
from adc.ir.opdef import OPS

# Threads of a block. The simulator starts one of Python's for each.
BLOCK = 4 if simulated else 256
# From so many threads on, blocks are large.
_SPREAD = 1 << 16
# Blocks that combine elements: as many as there are elements for, up to this. The order depends on
# how many elements there are, and on nothing else.
_MOST_BLOCKS = 4 if simulated else 1024
# Numbers that are made at once; fewer where memory counts.
_CHUNK, _FEW = 1024, 32
# What is pushed and has fewer bytes stays on the device.
_SMALL = 256


class _Operations:
    """The rows of the op table, for numbers on the host."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return OPS[name].evaluate


ops = _Operations()


class Number:
    """A number on the device: an array, and the place in it, which others may have afterwards."""

    __slots__ = ("_free", "array", "place")

    def __init__(self, array: Any, place: int, free: list[tuple[Any, int]]) -> None:
        self.array = array
        self.place = place
        self._free = free

    def __del__(self) -> None:
        self._free.append((self.array, self.place))


class Failed(Exception):
    """A check of the program does not hold: its number, and what it tells."""

    def __init__(self, site: int, told: tuple[Any, ...] | None) -> None:
        self.site = site
        self.told = told


class Away:
    """An array on the tape that waits on the host."""

    __slots__ = ("dtype", "memory", "shape")

    def __init__(self, memory: Any, dtype: Any, shape: tuple[int, ...]) -> None:
        self.memory = memory
        self.dtype = dtype
        self.shape = shape

    @property
    def array(self) -> Any:
        return self.memory.view(self.dtype).reshape(self.shape)


# What the flag of a failed check begins with; it may be read after the transfer was queued.
_NONE = np.zeros(1, np.int64)


@functools.cache
def _never(place: int) -> Any:
    """Return a flag on a GPU that no kernel sets."""
    made = cuda.to_device(_NONE)
    wait(0)
    return made


class Device:
    """One call.

    Parameters
    ----------
    notes : callable
        Takes the number of a place that prints, and what it prints.
    stream
        The stream that everything is queued on, as Numba takes it.
    checks : bool
        Whether kernels check anything.
    limit : int, optional
        The most bytes that the call may hold, copies of arguments aside.
    offload : bool
        Whether arrays on the tape wait on the host.
    call : callable, optional
        Calls a function outside: takes its number, what it is given, and arrays to fill.

    Attributes
    ----------
    host : int
        The most bytes that were on the host.
    returned : int
        Bytes of memory of the call that it returns.
    """

    def __init__(
        self,
        notes: Callable[[int, tuple[Any, ...]], None],
        stream: Any = 0,
        checks: bool = True,
        limit: int | None = None,
        offload: bool = False,
        call: Callable[[int, Sequence[Any], Sequence[Any]], None] | None = None,
    ) -> None:
        self._call = call
        self.stream = stream
        self.memory = self._lender(limit)
        self._chunk = _CHUNK if limit is None else _FEW
        self._offload = offload
        self.host = self._on_host = self.returned = 0
        # Memory of the host for arrays on the tape: all, and by size what nobody uses.
        self._pinned: list[Any] = []
        self._idle: dict[int, list[Any]] = {}
        self._checks = checks
        self._failed = self._flag()
        self._tape: list[tuple[Any, ...]] = []
        # By type the places of numbers that nobody has.
        self._free: dict[Any, list[tuple[Any, int]]] = {}
        self.note = notes

    def _lender(self, limit: int | None) -> Lender:
        return Lender(int(self.stream.handle) if self.stream else 0, limit)

    def _flag(self) -> Any:
        return self.send(_NONE) if self._checks else _never(current_device())

    # -- numbers ---------------------------------------------------------------------------

    def number(self, dtype: Any, *values: Any) -> Number:
        """Return a number on the device, which nobody else has."""
        free = self._free.setdefault(dtype, [])
        if not free:
            chunk = self.empty(dtype, (self._chunk,))
            free += [(chunk, place) for place in reversed(range(self._chunk))]
        # The kernels that others of its place were for were queued before.
        made = Number(*free.pop(), free)
        for value in values:
            if isinstance(value, Number):
                self.launch(_moved, (), value, made)
            else:
                self.launch(_set, (), dtype(value), made)
        return made

    def get(self, number: Any, checked: bool = False) -> Any:
        """Return a number on the host: what came before is waited for, and checked if it is not."""
        if not isinstance(number, Number):
            return number
        if not checked:
            self.check()
        return self._read(number.array, number.place)

    def _read(self, array: Any, place: int) -> Any:
        found = array[place : place + 1].copy_to_host(stream=self.stream)
        wait(self.stream)
        return found[0]

    def check(self) -> None:
        """Raise Failed if a check does not hold; what came before is waited for."""
        site = int(self._read(self._failed, 0)) if self._checks else 0
        if site:
            raise Failed(site, None)

    def fail(self, site: int, *told: Any) -> None:
        self.check()  # what came before
        raise Failed(site, told)

    # -- arrays ----------------------------------------------------------------------------

    def empty(self, dtype: Any, shape: Sequence[Any], order: str = "C") -> Any:
        sizes = tuple(map(int, shape))
        if math.prod(sizes) == 0:
            return cuda.device_array(sizes, dtype, stream=self.stream)
        return self._laid_out(np.dtype(dtype), sizes, order, True)

    def _laid_out(self, item: np.dtype[Any], sizes: tuple[int, ...], order: str, own: bool) -> Any:
        """Return an array; those that are not the call's own do not count."""
        block = self.memory.take(math.prod(sizes) * item.itemsize, own)
        steps = sizes if order == "F" else sizes[::-1]
        strides = tuple(itertools.accumulate(steps[:-1], operator.mul, initial=item.itemsize))
        interface = {
            "version": 3,
            "shape": sizes,
            "strides": strides if order == "F" else strides[::-1],
            "typestr": item.str,
            "data": (block.address, False),
        }
        return viewed(interface, block, self.stream)

    def send(self, array: Any, own: bool = True) -> Any:
        """Return a copy of an array on the host, which must stay as it is until it is there.

        Those of the caller's arrays are not the call's own.
        """
        if not array.size:
            return self.empty(array.dtype, array.shape)
        order = "C" if array.flags.c_contiguous else "F"
        made = self._laid_out(array.dtype, array.shape, order, own)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = np.asfortranarray(array)  # one transfer
        made.copy_to_device(array, stream=self.stream)
        return made

    def note_returned(self, arrays: Sequence[Any]) -> None:
        """Note what a call returns: each of the arrays has memory of its own."""
        for array in {id(array): array for array in arrays if array.size}.values():
            self.returned += self.memory.size(array.size * array.dtype.itemsize)

    def close(self) -> None:
        """End the call: what it still holds is what it returns."""
        self._tape.clear()
        self._free.clear()
        self._failed = None
        for memory in self._pinned:
            PINNED.give(self.memory.place, memory.nbytes, memory, self.memory.call)
        self._pinned.clear()
        self._idle.clear()
        self.memory.close()

    def blocks(self, dtype: Any, count: Any) -> Any:
        """Return an array with a place for each block of so many threads."""
        total = max(int(count), 0)
        return self.empty(dtype, (-(-total // _threads(total)),))

    def full(self, dtype: Any, shape: Sequence[Any], value: Any) -> Any:
        made = self.empty(dtype, shape)
        given = value if isinstance(value, Number) else self.number(dtype, value)
        self.launch(_fill, (made.size,), given, made.reshape(made.size))
        return made

    def copy(self, array: Any) -> Any:
        """Return a copy by rows."""
        made = self.empty(array.dtype.type, array.shape)
        self.launch(_copying(len(array.shape)), array.shape, array, made)
        return made

    def to_host(self, array: Any) -> Any:
        """Return a copy on the host, of an array with any strides; it is not waited for."""
        if not (array.is_c_contiguous() or array.is_f_contiguous()):
            array = self.copy(array)
        return array.copy_to_host(stream=self.stream)

    def combine(self, name: str, array: Any, given: Any) -> Number:
        """Return what the elements of an array are together, in a fixed tree, and a number."""
        dtype = array.dtype.type
        start = given if isinstance(given, Number) else self.number(dtype, given)
        made = self.number(dtype)
        count = array.size
        blocks = min(-(-count // BLOCK), _MOST_BLOCKS)
        if not count:
            self.launch(_moved, (), start, made)
            return made
        if not array.is_c_contiguous():
            array = self.copy(array)  # an argument's elements lie anywhere
        parts, whole = _combining(name, dtype)
        partial = self.empty(dtype, (1, blocks))
        self._queue(parts, blocks, BLOCK, count, array.reshape(1, count), partial)
        flat = partial.reshape(blocks)
        self._queue(whole, 1, BLOCK, blocks, flat, start.array, start.place, made.array, made.place)
        return made

    def rows(self, parts: Any) -> Any:
        """Return the sums of the rows of an array, each in a fixed tree."""
        dtype = parts.dtype.type
        count, size = parts.shape
        if not size:
            return self.full(dtype, (count,), dtype(0))
        adding, _ = _combining("sum", dtype)
        blocks = min(-(-size // BLOCK), _MOST_BLOCKS)
        partial, made = self.empty(dtype, (count, blocks)), self.empty(dtype, (count, 1))
        self._queue(adding, (blocks, count), BLOCK, size, parts, partial)
        self._queue(adding, (1, count), BLOCK, blocks, partial, made)
        return made.reshape(count)

    def most(self, needs: Any, k: int) -> int:
        """Return the most that threads noted in a row."""
        return int(self.get(self.combine("maximum", needs[k], 0)))

    # -- libraries -------------------------------------------------------------------------

    def gemm(
        self, site: int, c: Any, a: Any, b: Any, transposed: tuple[bool, bool], add: bool
    ) -> None:
        """Make ``c`` the product of two matrices, or add it."""
        libraries.gemm(self.stream, self.memory, site, (c, a, b), transposed, add)

    def routine(self, site: int, name: str, *given: Any) -> tuple[Any, ...]:
        """Return what a routine of linear algebra does: arrays, and whether it has failed."""
        given = tuple(self.get(each) for each in given)
        wanted, says = libraries.results(name, given)
        made = [self.empty(dtype, shape) for dtype, shape in wanted]
        failed = libraries.routine(name, self.stream, self.memory, site, given, made)
        return (*made, failed) if says else tuple(made)

    def external(
        self, number: int, given: Sequence[Any], wanted: Sequence[tuple[Any, tuple[int, ...]]]
    ) -> tuple[Any, ...]:
        """Return arrays that a function outside fills on the host; what came before is checked."""
        assert self._call is not None
        self.check()
        there = [
            self.to_host(each) if getattr(each, "shape", ()) else self.get(each, checked=True)
            for each in given
        ]
        wait(self.stream)
        made = [np.empty(tuple(map(int, shape)), dtype) for dtype, shape in wanted]
        self._call(number, there, made)
        found = tuple(self.send(array) for array in made)
        wait(self.stream)  # `made` must stay until it is there
        return found

    # -- the tape --------------------------------------------------------------------------

    def push(self, *values: Any) -> None:
        self._tape.append(
            tuple(
                v
                if isinstance(v, Number) or not hasattr(v, "shape") or not v.shape
                else self._kept(v, False)
                for v in values
            )
        )

    def hand_over(self, *arrays: Any) -> None:
        """Push arrays that nobody changes afterwards."""
        self._tape.append(tuple(self._kept(array, True) for array in arrays))

    def pop(self) -> tuple[Any, ...]:
        frame = self._tape.pop()
        return tuple(self._fetched(v) if isinstance(v, Away) else v for v in frame)

    def _kept(self, array: Any, same: bool) -> Any:
        """Return what lies on the tape for an array, which nobody changes if it may be the same."""
        if not self._offload or array.size * array.dtype.itemsize < _SMALL:
            return array if same else self.copy(array)
        if not array.is_c_contiguous():
            array = self.copy(array)
        size = array.size * array.dtype.itemsize
        idle = self._idle.setdefault(size, [])
        # What is queued next on the stream writes there, after all that reads it.
        memory = idle.pop() if idle else self._pin(size)
        self._on_host += size
        self.host = max(self.host, self._on_host)
        away = Away(memory, array.dtype, array.shape)
        self._leave(array, away)
        return away

    def _fetched(self, away: Away) -> Any:
        made = self.empty(away.dtype, away.shape)
        self._return(away, made)
        size = away.memory.nbytes
        self._on_host -= size
        self._idle[size].append(away.memory)
        return made

    def _pin(self, size: int) -> Any:
        memory = PINNED.take(self.memory.place, size)
        if memory is None:
            memory = cuda.pinned_array(size, np.uint8)
        self._pinned.append(memory)
        return memory

    def _leave(self, array: Any, away: Away) -> None:
        array.copy_to_host(away.array, stream=self.stream)

    def _return(self, away: Away, array: Any) -> None:
        array.copy_to_device(away.array, stream=self.stream)

    # -- launches --------------------------------------------------------------------------

    def launch(self, launched: Any, sizes: Sequence[Any], *given: Any) -> None:
        """Run a kernel with one thread for every combination of counters below some sizes."""
        counts = [max(int(size), 0) for size in sizes]
        total = math.prod(counts)
        if not total:
            return
        threads = _threads(total)
        args: list[Any] = []
        for value in given:
            if isinstance(value, Number):
                args += [value.array, value.place]
            else:
                args.append(np.float64(value) if isinstance(value, float) else value)
        self._queue(launched, -(-total // threads), threads, *counts, *args)

    def _queue(self, launched: Any, blocks: Any, threads: int, *args: Any) -> None:
        configured(launched, blocks, threads, self.stream)(self._failed, *args)


def _threads(total: int) -> int:
    """Return how many threads a block has where there are so many: a device has many places."""
    large = simulated or total >= _SPREAD
    return max(min(BLOCK if large else BLOCK // 4, total), 1)


# --- kernels that every program may need ----------------------------------------------------------


@kernel
def _set(failed: Any, value: Any, out: Any, at: Any) -> None:
    out[at] = value


@kernel
def _moved(failed: Any, value: Any, place: Any, out: Any, at: Any) -> None:
    out[at] = value[place]


@kernel
def _fill(failed: Any, n: Any, value: Any, place: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = value[place]


@functools.cache
def _copying(rank: int) -> Any:
    """Return a kernel that copies arrays of so many axes."""
    sizes = [f"n{axis}" for axis in range(rank)]
    lines = [f"def copy_{rank}({', '.join(['failed', *sizes, 'array', 'out'])}):"]
    lines += [
        "    at = cuda.grid(1)",
        f"    if at >= {' * '.join(sizes) or '1'}:",
        "        return",
    ]
    index: list[str] = []
    for axis in reversed(range(rank)):
        lines.append(f"    i{axis} = at % n{axis}")
        lines.append(f"    at = at // n{axis}")
        index.insert(0, f"i{axis}")
    place = ", ".join(index) or "()"
    lines.append(f"    out[{place}] = array[{place}]")
    space: dict[str, Any] = {"cuda": cuda}
    exec("\n".join(lines), space)
    return kernel(space[f"copy_{rank}"])


@functools.cache
def _combining(name: str, dtype: Any) -> tuple[Any, Any]:
    """Return the kernels that combine elements of rows in blocks, and blocks with a number."""
    text = COMBINED[name].format("a", "b")
    source = f"""
def tree(part, own, used):
    i = cuda.threadIdx.x
    part[i] = own
    step = {BLOCK} // 2
    while step > 0:
        cuda.syncthreads()
        if i < step and i + step < used:
            a = part[i]
            b = part[i + step]
            part[i] = {text}
        step //= 2
    cuda.syncthreads()


def parts(failed, n, array, out):
    part = cuda.shared.array({BLOCK}, dtype)
    i = cuda.grid(1)
    row = cuda.blockIdx.y
    used = min({BLOCK}, n - cuda.blockIdx.x * {BLOCK})
    own = array[row, min(i, n - 1)]
    i += cuda.gridsize(1)
    while i < n:
        a = own
        b = array[row, i]
        own = {text}
        i += cuda.gridsize(1)
    tree(part, own, used)
    if cuda.threadIdx.x == 0:
        out[row, cuda.blockIdx.x] = part[0]


def whole(failed, n, array, start, place, out, at):
    part = cuda.shared.array({BLOCK}, dtype)
    i = cuda.threadIdx.x
    used = min({BLOCK}, n)
    own = array[min(i, n - 1)]
    i += {BLOCK}
    while i < n:
        a = own
        b = array[i]
        own = {text}
        i += {BLOCK}
    tree(part, own, used)
    if cuda.threadIdx.x == 0:
        a = start[place]
        b = part[0]
        out[at] = {text}
"""
    space: dict[str, Any] = {"cuda": cuda, "dtype": dtype, "minimum": minimum, "maximum": maximum}
    exec(source, space)
    space["tree"] = function(space["tree"])
    return kernel(space["parts"]), kernel(space["whole"])
