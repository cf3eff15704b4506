"""Communication at run time: what compiled code calls, by mpi4py.

A communicator has a number, and duplicates for the messages of derivatives, so that these never
meet those of the program, and for adc's own. They are made at the first call of a
derivative that communicates, by all ranks together.

No operation blocks in MPI: it is begun, and then asked whether it is done. So a rank that waits for
one that will never come ends with an error: another rank has failed, or has waited as long.

The environment says how long it waits, ``ADC_MPI_TIMEOUT`` in seconds (600; 0 is forever), and in
which order numbers of ranks are added, ``ADC_MPI_SUM``: ``tree``, the order of a binary tree over
ranks, in which the bits depend on the number of ranks alone; or ``mpi``, that of the MPI library.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adc.ir.errors import AdcError, RankError

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


class Channel:
    """A communicator, its duplicates, and the messages on their way.

    Attributes
    ----------
    comm : mpi4py.MPI.Intracomm
        The program's.
    back, dot, own : mpi4py.MPI.Intracomm
        For messages of derivatives in reverse, of tangents, and for adc's own operations.
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
        self.pending: dict[int, Pending] = {}
        self.count = self.trail = 0
        self.failed = False
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

    def done(self, request: Any, what: str, site: str) -> Any:
        """Wait for a request; return its status.

        Raises
        ------
        RankError
            If another rank has failed, or nothing has happened for too long, or MPI finds an error,
            as for a message that is too long.
        """
        try:
            return self._done(request, what, site)
        except self.mpi.Exception as error:
            text = str(error).partition("\n")[0]
            raise RankError(
                f"rank {self.rank} waits in {what}, and MPI finds an error: {text}", None,
                "let all ranks communicate in the same order, with arrays of the same size and "
                "dtype",
            ) from None  # fmt: skip

    def _done(self, request: Any, what: str, site: str) -> Any:
        status = self.mpi.Status()
        tries, began = 0, 0.0
        while not request.Test(status):
            tries += 1
            if tries % _TRIES:
                continue
            now = time.monotonic()
            began = began or now
            self._listen(what, site)
            if 0 < self.timeout < now - began:
                self._give_up(request, what, site, now - began)
            if now - began > _PATIENCE:
                time.sleep(_NAP)
            else:
                os.sched_yield()
        return status

    def _listen(self, what: str, site: str) -> None:
        """Raise if another rank has said that it failed."""
        status = self.mpi.Status()
        while self.own.Iprobe(self.mpi.ANY_SOURCE, self.note, status):
            said = self._note_of(status.Get_source())
            if not said.startswith("waits"):
                self.failed = True
                raise RankError(
                    f"rank {status.Get_source()} {said}, and rank {self.rank} waits in {what}",
                    None, "all ranks end with the first error",
                )  # fmt: skip
            self.said = {**getattr(self, "said", {}), status.Get_source(): said}

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
            self._listen(what, site)
            time.sleep(0.01)
        said: dict[int, str] = {self.rank: f"waits in {what} ({site})", **getattr(self, "said", {})}
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
        status = self.done(request, _words("receive", way) + _from(self, source, tag), site)
        size = status.Get_count(self.mpi.BYTE)
        if size != into.nbytes:
            raise RankError(
                f"a message of {size} bytes, received in an array of {into.nbytes}", None,
                "let both ranks pass arrays of the same size and dtype",
            )  # fmt: skip
        return status.Get_source(), status.Get_tag()

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
            return _tree(rows)
        return self._reduced(x.copy(), comm, what, site)

    def _reduced(self, total: Vector, comm: Any, what: str, site: str) -> Vector:
        """Return the sum over ranks as `_tree` adds it, by messages along the tree."""
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


def _tree(rows: Any) -> Vector:
    """Return the sum of rows: 2k and 2k + 1 are added, then pairs of these, and so on.

    Examples
    --------
    >>> _tree(np.array([[1.0], [2.0], [3.0]]))
    array([6.])
    """
    while len(rows) > 1:
        both = rows[0:-1:2] + rows[1::2]
        rows = np.concatenate([both, rows[-1:]]) if len(rows) % 2 else both
    found: Vector = rows[0].copy()
    return found


def _setting(name: str, default: str) -> str:
    return os.environ.get(name, default).strip() or default


# -- communicators ---------------------------------------------------------------------------------

# By number; the number of one is its attribute under a key of MPI's. Handles of MPI may be reused.
_CHANNELS: dict[int, Channel] = {}
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
        number = len(_CHANNELS) + 1
        _CHANNELS[number] = Channel(comm)
        comm.Set_attr(_KEYS[0], number)
    return number, _CHANNELS[number]


def _forget(comm: Any, key: int, number: Any) -> None:
    """Free the duplicates of a communicator that is freed."""
    channel = _CHANNELS.pop(number, None)
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
    channel.trail = 0
    return [np.zeros(1), number, channel.rank, channel.size]


def failed(comm: Any, error: BaseException) -> None:
    """Tell the other ranks of a communicator that this one has raised an error."""
    _, channel = channel_of(comm)
    if channel.failed or channel.size == 1:
        return
    channel.failed = True
    first = (error.message if isinstance(error, AdcError) else str(error)).partition("\n")[0]
    kind = f" [{error.code}]" if isinstance(error, AdcError) else f" {type(error).__name__}:"
    channel.tell(f"raised{kind} {first}")


# -- operations ------------------------------------------------------------------------------------
#
# Each takes the number of a communicator, the way, where it is called, two integers, a vector, and
# the order; it returns a vector, and the order, of which the value does not matter (code does not
# know). What they are is in `operations`.

Operation = Callable[..., Any]


def allreduce(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks."""
    channel = _CHANNELS[number]
    return channel.total(x, way, _collective(channel, "allreduce", way, x), site), 0.0


def reduce(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks on rank `a`, zeros elsewhere."""
    channel = _CHANNELS[number]
    found = channel.total(x, way, _collective(channel, "reduce", way, x), site)
    return (found if channel.rank == a else np.zeros_like(x)), 0.0


def bcast(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what rank `a` has."""
    channel = _CHANNELS[number]
    found = x.copy()
    request = channel.duplicate(way).Ibcast(found, a)
    channel.done(request, _collective(channel, "bcast", way, x), site)
    return found, 0.0


def gather(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what the `b` ranks have, one after another, on rank `a`, zeros elsewhere."""
    channel = _CHANNELS[number]
    found = np.zeros(b * len(x), x.dtype)
    into = found if channel.rank == a else None
    channel.done(
        channel.duplicate(way).Igather(x, into, a), _collective(channel, "gather", way, x), site
    )
    return found, 0.0


def scatter(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return this rank's part of `b` equal ones that rank `a` has."""
    channel = _CHANNELS[number]
    found = np.empty(len(x) // b, x.dtype)
    given = x if channel.rank == a else None
    what = _collective(channel, "scatter", way, found)
    channel.done(channel.duplicate(way).Iscatter(given, found, a), what, site)
    return found, 0.0


def allgather(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what the `b` ranks have, one after another."""
    channel = _CHANNELS[number]
    found = np.empty(b * len(x), x.dtype)
    channel.done(
        channel.duplicate(way).Iallgather(x, found), _collective(channel, "allgather", way, x), site
    )
    return found, 0.0


def parts(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks of this rank's part of `b` equal ones."""
    channel = _CHANNELS[number]
    found = np.empty_like(x)
    channel.done(
        channel.duplicate(way).Ialltoall(x, found), _collective(channel, "allgather", way, x), site
    )
    return _tree(found.reshape(b, -1)), 0.0


def alltoall(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the parts that the `b` ranks have for this one, one after another."""
    channel = _CHANNELS[number]
    found = np.empty_like(x)
    channel.done(
        channel.duplicate(way).Ialltoall(x, found), _collective(channel, "alltoall", way, x), site
    )
    return found, 0.0


def exchange(
    number: int, way: int, site: str, a: int, b: int, c: int, d: int, sent: str, count: int,
    dtype: str, x: Vector, order: float,
) -> Any:  # fmt: skip
    """Send to rank `a` with the tag `b`; return what rank `c` sends with the tag `d`.

    That is `count` numbers, the rank and the tag.
    """
    channel = _CHANNELS[number]
    comm, proc_null = channel.messages(way), channel.mpi.PROC_NULL
    into = np.zeros(count, dtype)
    receiving = None if c == proc_null else comm.Irecv(into, c, d)
    sending = None if a == proc_null else comm.Isend(x, a, b)
    if receiving is not None:
        c, d = channel.received(receiving, into, way, c, d, site)
    if sending is not None:
        channel.done(sending, f"{_words('send', way)} to rank {a} (tag {b})", site)
    return into, c, d, 0.0


def begin_send(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, x: Vector,
    order: float,
) -> Any:  # fmt: skip
    """Begin to send to rank `a` with the tag `b`; return a handle."""
    channel = _CHANNELS[number]
    if a == channel.mpi.PROC_NULL:
        b = 0  # of what was received from nobody, it is any
    return channel.begin(channel.messages(way).Isend(x, a, b), x), 0.0


def end_send(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, handle: float,
    order: float,
) -> Any:  # fmt: skip
    """Wait until what was sent may be changed; return the order."""
    channel = _CHANNELS[number]
    found = channel.take(handle, _UNWAITED if way & BACK else "a wait for what is sent")
    channel.done(found.request, f"{_words('send', way)} to rank {a} (tag {b})", site)
    return 0.0


def begin_receive(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, order: float
) -> Any:
    """Begin to receive `count` numbers from rank `a` with the tag `b`; return a handle.

    A tangent comes from where the value came from: until that is known, nothing is begun.
    """
    channel = _CHANNELS[number]
    into = np.zeros(count, dtype)
    later = way & DOT and (a == channel.mpi.ANY_SOURCE or b == channel.mpi.ANY_TAG)
    request = None if later else channel.messages(way).Irecv(into, a, b)
    return channel.begin(request, into), 0.0


def end_receive(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, handle: float,
    order: float,
) -> Any:  # fmt: skip
    """Return what was received, from whom, with which tag, and the order."""
    channel = _CHANNELS[number]
    found = channel.take(handle, _UNWAITED if way & BACK else "a wait for what is received")
    if a != channel.mpi.PROC_NULL:
        request = found.request or channel.messages(way).Irecv(found.data, a, b)
        a, b = channel.received(request, found.data, way, a, b, site)
    return found.data, a, b, 0.0


_UNWAITED = "a derivative of a request that was never waited for, or in another branch"


def winner(number: int, site: str, largest: bool, x: Vector) -> Vector:
    """Return where this rank has the largest (or smallest) of all numbers, the first one of equals.

    A rank with NaN wins, as in `np.max`.
    """
    channel = _CHANNELS[number]
    comm, mpi, what = channel.own, channel.mpi, "allreduce"
    lost = np.isnan(x)
    key = np.where(lost, np.inf, x if largest else -x)
    best = np.empty((2, len(x)))
    both = np.stack([key, lost]).astype(float)
    channel.done(comm.Iallreduce(both, best, mpi.MAX), what, site)
    candidate = np.where(best[1] > 0, lost, key == best[0])
    ranks = np.where(candidate, channel.rank, channel.size).astype(np.int64)
    first = np.empty_like(ranks)
    channel.done(comm.Iallreduce(ranks, first, mpi.MIN), what, site)
    return first == channel.rank


def integers(number: int, site: str, kind: str, a: int, b: int, x: Vector) -> Vector:
    """Return what a collective operation makes of integers or booleans."""
    channel = _CHANNELS[number]
    comm, mpi = channel.own, channel.mpi
    word, _, op = kind.partition(" ")
    channel.noted(kind, 0 if word == "scatter" else len(x))
    ops = {
        "sum": mpi.SUM, "prod": mpi.PROD, "max": mpi.MAX, "min": mpi.MIN, "land": mpi.LAND,
        "lor": mpi.LOR,
    }  # fmt: skip
    if word == "bcast":
        found = x.copy()
        channel.done(comm.Ibcast(found, a), word, site)
        return found
    if word in ("reduce", "allreduce"):
        found = np.empty_like(x)
        channel.done(comm.Iallreduce(x, found, ops[op]), word, site)
        return found
    if word in ("gather", "allgather"):
        found = np.empty(b * len(x), x.dtype)
        channel.done(comm.Iallgather(x, found), word, site)
        return found
    if word == "scatter":
        found = np.empty(len(x) // b, x.dtype)
        channel.done(comm.Iscatter(x if channel.rank == a else None, found, a), word, site)
        return found
    found = np.empty_like(x)
    channel.done(comm.Ialltoall(x, found), word, site)
    return found


def barrier(number: int, site: str) -> None:
    """Wait until all ranks are here."""
    channel = _CHANNELS[number]
    channel.done(channel.own.Ibarrier(), "Barrier", site)


def widest(site: str, numbers: tuple[int, ...]) -> tuple[int, int]:
    """Return the communicator to which all ranks of the others belong, and this rank there.

    Raises
    ------
    RankError
        If there is none among them.
    """
    mpi = _CHANNELS[numbers[0]].mpi
    groups = {number: _CHANNELS[number].comm.Get_group() for number in numbers}
    best = max(numbers, key=lambda number: _CHANNELS[number].size)
    for group in groups.values():
        if mpi.Group.Intersection(group, groups[best]).Get_size() < group.Get_size():
            raise RankError(
                "a loss is one number of all ranks, and no communicator of the program has all",
                None, "reduce it over a communicator to which the others belong",
            )  # fmt: skip
    return best, _CHANNELS[best].rank


def same(number: int, site: str, loss: float) -> None:
    """Raise unless all ranks have the same loss: one that is NaN elsewhere is that of rank 0."""
    channel = _CHANNELS[number]
    if channel.size == 1:
        return
    found = np.empty((channel.size, 2))
    mine = np.array([loss, channel.trail])
    channel.done(channel.own.Iallgather(mine, found), "the result", site)
    all_, trails = found.T
    first = all_[0]
    if np.any(trails != trails[0]):
        raise RankError(
            "the ranks have called different collective operations, or with arrays of other sizes",
            None, "let all ranks call the same ones in the same order",
        )  # fmt: skip
    others = all_[~np.isnan(all_)]
    if np.isnan(first) and len(others):
        raise RankError(
            "rank 0 returns NaN as the loss, and others a number", None,
            "reduce the loss to rank 0, or to all ranks: `comm.allreduce(loss)`",
        )  # fmt: skip
    if len(others) and not np.all(np.abs(others - first) <= 1e-6 * np.abs(first) + 1e-300):
        shown = ", ".join(f"{value:.6g}" for value in all_[:4])
        more = ", …" if channel.size > 4 else ""
        raise RankError(
            f"the ranks return {shown}{more}: a loss is one number", None,
            "add the parts of all ranks with `comm.allreduce(loss)`",
        )  # fmt: skip


def one(number: int, site: str, x: Vector) -> None:
    """Raise unless all ranks have the same vector."""
    channel = _CHANNELS[number]
    if channel.size == 1:
        return
    digest = np.array([len(x), zlib.crc32(x.tobytes())], np.int64)
    all_ = np.empty((channel.size, 2), np.int64)
    channel.done(channel.own.Iallgather(digest, all_), "shared", site)
    if np.any(all_ != all_[0]):
        rank = int(np.argmax(np.any(all_ != all_[0], axis=1)))
        raise RankError(
            f"ranks 0 and {rank} have different values of what is shared", None,
            "give all ranks the same parameters: `comm.Bcast(parameters)`, before the call",
        )  # fmt: skip


def finished(number: int, site: str) -> None:
    """Raise if there are messages on their way that the program does not wait for."""
    channel = _CHANNELS[number]
    if channel.pending:
        count = len(channel.pending)
        channel.pending.clear()
        raise RankError(
            f"{count} request{'s' if count > 1 else ''} without a wait", None,
            "call `Wait()`, or `MPI.Request.Waitall(requests)`, in the function itself",
        )  # fmt: skip


def _collective(channel: Channel, name: str, way: int, x: Vector) -> str:
    return _words(channel.noted(name, len(x)), way)


def _words(name: str, way: int) -> str:
    return name if way == FORWARD else f"the derivative of `{name}`"


def _from(channel: Channel, source: int, tag: int) -> str:
    who = "any rank" if source == channel.mpi.ANY_SOURCE else f"rank {source}"
    return f" from {who}" + ("" if tag == channel.mpi.ANY_TAG else f" (tag {tag})")


__all__ = ["BACK", "DOT", "FORWARD", "Channel", "channel_of", "failed", "known_as"]
