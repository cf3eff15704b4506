"""Memory on the device: what a call gives back is used again, in this call and in later ones.

All work of a call is queued on one stream, in the order of the program. So a block may become
another array as soon as nobody refers to the first: what reads that was queued before. Blocks are
kept for their stream. The user may have used blocks that a call has returned on any stream. They
are used again when the device has done all that was queued. To free them would wait for that as
well, and to allocate a large block takes as long as a simple kernel that fills it.
"""

from __future__ import annotations

import threading
from typing import Any

from adc.backend.cuda import api

# A block has at least so many bytes; sizes are multiples of that, or of a sixteenth or more.
_LEAST = 512
# Calls on a stream after which a block that was not used is freed.
_AGE = 32
# The GPU, and the address of the stream.
Place = tuple[int, int]


class NoRoom(Exception):
    """There is no memory on the device: the bytes that were asked for, and those that are held."""

    def __init__(self, asked: int, held: int) -> None:
        self.asked = asked
        self.held = held


class OverLimit(Exception):
    """A call would hold more than it may: the bytes that it asked for, and those that it holds."""

    def __init__(self, asked: int, held: int) -> None:
        self.asked = asked
        self.held = held


def block_size(size: int) -> int:
    """Return how large a block for so many bytes is. There are few sizes, so that blocks fit again.

    Examples
    --------
    >>> block_size(1), block_size(513), block_size(100_000), block_size(1_000_000)
    (512, 1024, 106496, 1048576)
    """
    step = max(_LEAST, 1 << max(size.bit_length() - 4, 0))
    return -(-size // step) * step


class Pool:
    """Blocks that nobody uses.

    The lock is never waited for: a block may be dropped in the middle of what is done here.

    Attributes
    ----------
    nbytes : int
        What they hold.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # For every size the memory, the call that it comes from, the last one at the end, and
        # whether all that may use it was queued on the stream.
        self._free: dict[Place, dict[int, list[tuple[Any, int, bool]]]] = {}
        self._calls: dict[Place, int] = {}
        self.nbytes = 0

    def begin(self, place: Place) -> int:
        """Return the number of a call, and free what the last ones did not use."""
        if not self._lock.acquire(blocking=False):
            return self._calls.get(place, 0)
        try:
            number = self._calls[place] = self._calls.get(place, 0) + 1
            for size, blocks in self._free.get(place, {}).items():
                while blocks and blocks[0][1] < number - _AGE:
                    del blocks[0]
                    self.nbytes -= size
            return number
        finally:
            self._lock.release()

    def take(self, place: Place, size: int) -> Any:
        """Return memory of just this size, or None."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            blocks = self._free.get(place, {}).get(size)
            if not blocks:
                return None
            memory, _, settled = blocks.pop()
            self.nbytes -= size
            if not settled:
                api.synchronize()
                for each in self._free[place].values():
                    each[:] = [(*block[:2], True) for block in each]
            return memory
        finally:
            self._lock.release()

    def give(self, place: Place, size: int, memory: Any, call: int, settled: bool = True) -> None:
        """Take memory back; it is not settled if other streams than its own may use it still."""
        if self._lock.acquire(blocking=False):
            try:
                self._free.setdefault(place, {}).setdefault(size, []).append(
                    (memory, call, settled)
                )
                self.nbytes += size
            finally:
                self._lock.release()

    def clear(self) -> None:
        """Free everything."""
        if self._lock.acquire(blocking=False):
            try:
                self._free.clear()
                self.nbytes = 0
            finally:
                self._lock.release()


POOL = Pool()
# Memory of the host that devices read and write, for what waits there; calls wait for its use.
PINNED = Pool()


class Block:
    """Memory of a call, which gets it back when nothing refers to this any more."""

    def __init__(self, lender: Lender, size: int, memory: Any, own: bool) -> None:
        self._lender = lender
        self._memory = memory
        self._own = own
        self.size = size
        self.address = api.address_of(memory)

    def __del__(self) -> None:
        self._lender.give(self.size, self._memory, self._own)


class Lender:
    """The memory of one call.

    Parameters
    ----------
    stream : int
        The address of the stream.
    limit : int, optional
        The most bytes that the call may hold, copies of arguments aside. Blocks are then no larger
        than what is asked for, and what is kept of other sizes makes room.

    Attributes
    ----------
    held, own, peak : int
        Bytes that it holds, those of them that are no copies of arguments, and the most of these.
    """

    def __init__(self, stream: int, limit: int | None = None) -> None:
        self._pool = POOL
        self.place = (api.current_device(), stream)
        self.call = self._pool.begin(self.place)
        self._open = True
        self._limit = limit
        self.held = self.own = self.peak = 0

    def size(self, size: int) -> int:
        """Return the bytes of a block for so many."""
        return block_size(size) if self._limit is None else size

    def take(self, size: int, own: bool = True) -> Block:
        """Return a block of at least so many bytes.

        Raises
        ------
        NoRoom
            If there is none.
        OverLimit
            If the call may not hold so much.
        """
        size = self.size(size)
        if self._limit is not None and own and self.own + size > self._limit:
            raise OverLimit(size, self.own)
        memory = self._pool.take(self.place, size)
        if memory is None:
            if self._limit is not None and self.own + size + self._pool.nbytes > self._limit:
                self._pool.clear()
            memory = api.allocate(size)
        if memory is None:
            self._pool.clear()  # what is kept of other sizes and streams
            memory = api.allocate(size)
        if memory is None:
            raise NoRoom(size, self.held)
        self.held += size
        if own:
            self.own += size
            self.peak = max(self.peak, self.own)
        return Block(self, size, memory, own)

    def give(self, size: int, memory: Any, own: bool) -> None:
        """Take memory back, also what the call has returned, after its end."""
        self.held -= size
        self.own -= size if own else 0
        self._pool.give(self.place, size, memory, self.call, self._open)

    def close(self) -> None:
        """End the call."""
        self._open = False
