"""Communicators at run time: their duplicates, waiting for others, sums in a fixed order.

A communicator has a number, the address of its table (`native`), and duplicates for the messages of
derivatives, so that these never meet those of the program, and for adc's own. They are made at the
first call of a derivative that communicates, by all ranks together.

No operation blocks in MPI: it is begun, and then asked whether it is done. So a rank that waits for
one that will never come ends with an error: another rank has failed, or has waited as long.

The environment says how long it waits, ``ADC_MPI_TIMEOUT`` in seconds (600; 0 is forever), and in
which order numbers of ranks are added, ``ADC_MPI_SUM``: ``tree``, the order of a binary tree over
ranks, in which the bits depend on the number of ranks alone; or ``mpi``, that of the MPI library.
"""

from __future__ import annotations

import contextlib
import os
import time
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adc.ir.errors import AdcError, RankError
from adc.library.mpi import native

Vector = Any  # an array of one axis
# The way of a communication: the program's, or that of its derivative in reverse; or the tangent's
# beside one of these.
FORWARD, BACK, DOT = 0, 1, 2
# Sums of fewer bytes from all ranks are gathered and added everywhere.
SMALL = 1 << 15
# A rank that waits lets others run after so many tries, and sleeps after so many seconds.
_TRIES, _PATIENCE, _NAP = 200, 0.05, 1e-4
# How long a rank that gives up waits for what others say.
_GRACE = 2.0


class Pending(NamedTuple):
    """A message on its way: the request of MPI, and the memory it uses."""

    request: Any
    data: Vector


# What is waited for, in words; where many short messages are, words are made if they are needed.
Words = str | Callable[[], str]


class Channel:
    """A communicator, its duplicates, and the messages on their way.

    Attributes
    ----------
    comm : mpi4py.MPI.Intracomm
        The program's.
    back, dot, own : mpi4py.MPI.Intracomm
        For messages of derivatives in reverse, of tangents, and for adc's own operations.
    table : ndarray
        What machine code reads and writes.
    pending : dict
        Messages on their way, by handle.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self.mpi = MPI
        self.comm, self.own = comm, comm.Dup()
        self.back, self.dot = comm.Dup(), comm.Dup()
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        top: Any = MPI.COMM_WORLD.Get_attr(MPI.TAG_UB)
        self.tree, self.note = top, top - 1
        self.table = np.zeros(native.WORDS, np.int64)
        self.table[: native.STAGE] = [
            native.handle_of(self.messages(way)) for way in (FORWARD, BACK, DOT, BACK | DOT)
        ]
        self.pending: dict[int, Pending] = {}
        self.count = self.trail = 0
        self.failed = False
        # Where other ranks have said that they wait.
        self.said: dict[int, str] = {}
        timeout = _setting("ADC_MPI_TIMEOUT", "600")
        try:
            self.timeout = float(timeout)
        except ValueError:
            raise RankError(
                f"ADC_MPI_TIMEOUT is {timeout!r}", None, "give a number of seconds; 0 is forever"
            ) from None
        self.sums = _setting("ADC_MPI_SUM", "tree")
        if self.sums not in ("tree", "mpi"):
            raise RankError(f"ADC_MPI_SUM is {self.sums!r}", None, 'use "tree" or "mpi"')

    def duplicate(self, way: int) -> Any:
        """Return the communicator of collective operations."""
        return self.back if way & BACK else self.own

    def noted(self, word: str, count: int) -> str:
        """Note a collective operation on so many numbers: all ranks must have the same."""
        self.trail = zlib.crc32(f"{word} {count}".encode(), self.trail)
        return word

    def messages(self, way: int) -> Any:
        """Return the communicator of messages."""
        return self.back if way & BACK else self.dot if way & DOT else self.comm

    # -- waiting -------------------------------------------------------------------------------

    def done(self, request: Any, what: Words, site: str) -> Any:
        """Wait for a request; return its status. `what` names it in errors.

        Raises
        ------
        RankError
            If another rank has failed, or nothing has happened for too long, or MPI finds an error,
            as for a message that is too long.
        """
        try:
            return self._done(request, what, site)
        except self.mpi.Exception as error:
            raise self.found(error, what) from None

    def found(self, error: Any, what: Words) -> RankError:
        """Return an error that MPI has found as one of a rank."""
        text = str(error).partition("\n")[0]
        return RankError(
            f"rank {self.rank} waits in {_text(what)}, and MPI finds an error: {text}", None,
            "let all ranks communicate in the same order, with arrays of the same size and dtype",
        )  # fmt: skip

    def _done(self, request: Any, what: Words, site: str) -> Any:
        status = self.mpi.Status()
        tries, began = 0, 0.0
        while not request.Test(status):
            tries += 1
            if tries % _TRIES:
                continue
            now = time.monotonic()
            began = began or now
            self._listen(what)
            if 0 < self.timeout < now - began:
                self._give_up(request, _text(what), site, now - began)
            if now - began > _PATIENCE:
                time.sleep(_NAP)
            else:
                os.sched_yield()
        return status

    def _listen(self, what: Words) -> None:
        """Raise if another rank has said that it failed."""
        status = self.mpi.Status()
        while self.own.Iprobe(self.mpi.ANY_SOURCE, self.note, status):
            said = self._note_of(status.Get_source())
            if not said.startswith("waits"):
                self.failed = True
                raise RankError(
                    f"rank {status.Get_source()} {said}, and rank {self.rank} waits in "
                    f"{_text(what)}",
                    None, "all ranks end with the first error",
                )  # fmt: skip
            self.said[status.Get_source()] = said

    def _note_of(self, source: int) -> str:
        said: str = self.own.recv(source=source, tag=self.note)
        return said

    def tell(self, text: str) -> None:
        """Tell all other ranks why this one ends."""
        notes = [
            self.own.isend(text, rank, self.note) for rank in range(self.size) if rank != self.rank
        ]
        end = time.monotonic() + _GRACE
        while notes and time.monotonic() < end:
            notes = [note for note in notes if not note.Test()]

    def _give_up(self, request: Any, what: str, site: str, seconds: float) -> None:
        """Raise an error that says where each rank waits."""
        self.tell(f"waits in {what} ({site})")
        end = time.monotonic() + _GRACE
        while time.monotonic() < end and not request.Test():
            self._listen(what)
            time.sleep(_NAP)
        said = {self.rank: f"waits in {what} ({site})", **self.said}
        self.failed = True
        lines = [
            f"rank {rank} {said.get(rank, 'says nothing: it computes, or has ended')}"
            for rank in range(self.size)
        ]
        raise RankError(
            f"no answer from other ranks for {seconds:.0f} seconds:\n  " + "\n  ".join(lines),
            None,
            "all ranks must communicate in the same order; give those that compute longer more "
            "time with ADC_MPI_TIMEOUT=seconds",
        )

    # -- messages ------------------------------------------------------------------------------

    def begin(self, request: Any, data: Vector) -> float:
        """Remember a message on its way; return its handle, which is never 0."""
        self.count += 1
        self.pending[self.count] = Pending(request, data)
        return float(self.count)

    def take(self, handle: float, what: str) -> Pending:
        """Return a message on its way, and forget it."""
        found = self.pending.pop(int(handle), None)
        if found is None:
            raise RankError(
                f"{what}, which is not on its way", None,
                "wait for each request exactly once, in code that runs whenever it was made",
            )  # fmt: skip
        return found

    def received(
        self, request: Any, into: Vector, way: int, source: int, tag: int, site: str
    ) -> tuple[int, int]:
        """Wait for a message; return who sent it, and the tag."""
        status = self.done(
            request, lambda: way_words("receive", way) + source_words(self, source, tag), site
        )
        _check_size(status.Get_count(self.mpi.BYTE), into)
        return status.Get_source(), status.Get_tag()

    def taken_over(
        self, way: int, site: str, dest: int, sendtag: int, source: int, recvtag: int, count: int,
        dtype: str,
    ) -> tuple[Vector, int, int]:  # fmt: skip
        """Go on with an exchange where machine code has given up."""
        table, nobody = self.table, self.mpi.PROC_NULL
        stage, table[native.STAGE] = int(table[native.STAGE]), 0
        into = native.memory(int(table[native.INTO]), count, dtype)
        receiving = native.request_of(table, native.RECEIVING)
        sending = native.request_of(table, native.SENDING)
        sent = f"{way_words('send', way)} to rank {dest} (tag {sendtag})"
        got = way_words("receive", way) + source_words(self, source, recvtag)
        try:
            if stage == native.FAILED:
                both = [sent] * (dest != nobody) + [got] * (source != nobody)
                error = self.mpi.Exception(int(table[native.ERROR]))
                raise self.found(error, " and ".join(both))
            if source != nobody and stage == native.BEGUN:
                source, recvtag = self.received(receiving, into, way, source, recvtag, site)
            elif source != nobody:
                _check_size(int(table[native.SIZE]), into)
                source, recvtag = int(table[native.SOURCE]), int(table[native.TAG])
            if dest != nobody:
                self.done(sending, sent, site)
        except BaseException:
            # Compiled code frees the memory where the message would come.
            with contextlib.suppress(self.mpi.Exception):
                if receiving != self.mpi.REQUEST_NULL:
                    receiving.Cancel()
                    receiving.Free()
            raise
        return into, source, recvtag

    # -- sums ----------------------------------------------------------------------------------

    def total(self, x: Vector, way: int, what: str, site: str) -> Vector:
        """Return the sum over ranks, in the order that is set."""
        comm = self.duplicate(way)
        if self.size == 1:
            return x.copy()
        if self.sums == "mpi":
            out = np.empty_like(x)
            self.done(comm.Iallreduce(x, out, self.mpi.SUM), what, site)
            return out
        if x.nbytes <= SMALL:
            rows = np.empty((self.size, len(x)), x.dtype)
            self.done(comm.Iallgather(x, rows), what, site)
            return tree_sum(rows)
        return self._reduced(x.copy(), comm, what, site)

    def _reduced(self, total: Vector, comm: Any, what: str, site: str) -> Vector:
        """Return the sum over ranks as `tree_sum` adds it, by messages along the tree."""
        step = 1
        while step < self.size:
            if self.rank % (2 * step):
                self.done(comm.Isend(total, self.rank - step, self.tree), what, site)
                break
            if self.rank + step < self.size:
                other = np.empty_like(total)
                self.done(comm.Irecv(other, self.rank + step, self.tree), what, site)
                total += other
            step *= 2
        self.done(comm.Ibcast(total, 0), what, site)
        return total


def tree_sum(rows: Any) -> Vector:
    """Return the sum of rows: 2k and 2k + 1 are added, then pairs of these, and so on.

    Examples
    --------
    >>> tree_sum(np.array([[1.0], [2.0], [3.0]]))
    array([6.])
    """
    while len(rows) > 1:
        both = rows[0:-1:2] + rows[1::2]
        rows = np.concatenate([both, rows[-1:]]) if len(rows) % 2 else both
    found: Vector = rows[0].copy()
    return found


def _setting(name: str, default: str) -> str:
    return os.environ.get(name, default).strip() or default


def _check_size(size: int, into: Vector) -> None:
    if size != into.nbytes:
        raise RankError(
            f"a message of {size} bytes, received in an array of {into.nbytes}", None,
            "let both ranks pass arrays of the same size and dtype",
        )  # fmt: skip


def _text(words: Words) -> str:
    return words if isinstance(words, str) else words()


def way_words(name: str, way: int) -> str:
    return name if way == FORWARD else f"the derivative of `{name}`"


def source_words(channel: Channel, source: int, tag: int) -> str:
    who = "any rank" if source == channel.mpi.ANY_SOURCE else f"rank {source}"
    return f" from {who}" + ("" if tag == channel.mpi.ANY_TAG else f" (tag {tag})")


# -- communicators ---------------------------------------------------------------------------------

# By number; the number of one is its attribute under a key of MPI's. Handles of MPI may be reused.
# A number is the address of the table, so that no two communicators have the same.
CHANNELS: dict[int, Channel] = {}
_KEYS: list[int] = []


def channel_of(comm: Any) -> tuple[int, Channel]:
    """Return the number of a communicator, and what is known of it.

    The first time, it is duplicated: all its ranks must call this.
    """
    from mpi4py import MPI

    if not _KEYS:
        _KEYS.append(MPI.Comm.Create_keyval(delete_fn=_forget))
    number = comm.Get_attr(_KEYS[0])
    if number is None:
        channel = Channel(comm)
        number = channel.table.ctypes.data
        CHANNELS[number] = channel
        comm.Set_attr(_KEYS[0], number)
    return number, CHANNELS[number]


def _forget(comm: Any, key: int, number: Any) -> None:
    """Free the duplicates of a communicator that is freed."""
    channel = CHANNELS.pop(number, None)
    if channel is not None and not channel.mpi.Is_finalized():
        for each in (channel.back, channel.dot, channel.own):
            each.Free()


def known_as(comm: Any) -> list[Any]:
    """Return what code takes for a communicator (`frontend.inputs.trees.Communicator`)."""
    number, channel = channel_of(comm)
    if channel.failed:
        raise RankError(
            "an earlier communication of these ranks has failed", None,
            "end the program, or make a new communicator with `comm.Dup()` on all ranks",
        )  # fmt: skip
    channel.pending.clear()
    channel.trail = channel.table[native.STAGE] = 0
    return [np.zeros(1), number, channel.rank, channel.size]


def are_several(comm: Any) -> bool:
    """Whether a communicator has more ranks than this one."""
    return bool(channel_of(comm)[1].size > 1)


def failed(comm: Any, error: BaseException) -> None:
    """Tell the other ranks of a communicator that this one has raised an error."""
    _, channel = channel_of(comm)
    if channel.failed or channel.size == 1:
        return
    channel.failed = True
    first = (error.message if isinstance(error, AdcError) else str(error)).partition("\n")[0]
    kind = f" [{error.code}]" if isinstance(error, AdcError) else f" {type(error).__name__}:"
    channel.tell(f"raised{kind} {first}")


__all__ = [
    "BACK", "CHANNELS", "DOT", "FORWARD", "Channel", "Vector", "are_several", "channel_of",
    "failed", "known_as", "source_words", "tree_sum", "way_words",
]  # fmt: skip
