"""Communication at run time, by mpi4py: what compiled code calls.

Each operation takes the number of a communicator, the way, where it is called, two integers, a
vector, and the order; it returns a vector, and the order, of which the value does not matter (code
does not know). What they are is in `operations`.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from adc.ir.errors import RankError
from adc.library.mpi.channels import (
    BACK,
    CHANNELS,
    DOT,
    FORWARD,
    Channel,
    Vector,
    tree_sum,
    way_words,
)
from adc.library.mpi.native import STAGE


def allreduce(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks."""
    channel = CHANNELS[number]
    return channel.total(x, way, _collective(channel, "allreduce", way, x), site), 0.0


def reduce(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks on rank `a`, zeros elsewhere."""
    channel = CHANNELS[number]
    found = channel.total(x, way, _collective(channel, "reduce", way, x), site)
    return (found if channel.rank == a else np.zeros_like(x)), 0.0


def bcast(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what rank `a` has."""
    channel = CHANNELS[number]
    found = x.copy()
    request = channel.duplicate(way).Ibcast(found, a)
    channel.done(request, _collective(channel, "bcast", way, x), site)
    return found, 0.0


def gather(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what the `b` ranks have, one after another, on rank `a`, zeros elsewhere."""
    channel = CHANNELS[number]
    found = np.zeros(b * len(x), x.dtype)
    into = found if channel.rank == a else None
    channel.done(
        channel.duplicate(way).Igather(x, into, a), _collective(channel, "gather", way, x), site
    )
    return found, 0.0


def scatter(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return this rank's part of `b` equal ones that rank `a` has."""
    channel = CHANNELS[number]
    found = np.empty(len(x) // b, x.dtype)
    given = x if channel.rank == a else None
    what = _collective(channel, "scatter", way, found)
    channel.done(channel.duplicate(way).Iscatter(given, found, a), what, site)
    return found, 0.0


def allgather(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return what the `b` ranks have, one after another."""
    channel = CHANNELS[number]
    found = np.empty(b * len(x), x.dtype)
    channel.done(
        channel.duplicate(way).Iallgather(x, found), _collective(channel, "allgather", way, x), site
    )
    return found, 0.0


def parts(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the sum over ranks of this rank's part of `b` equal ones."""
    channel = CHANNELS[number]
    found = np.empty_like(x)
    channel.done(
        channel.duplicate(way).Ialltoall(x, found), _collective(channel, "allgather", way, x), site
    )
    return tree_sum(found.reshape(b, -1)), 0.0


def alltoall(number: int, way: int, site: str, a: int, b: int, x: Vector, order: float) -> Any:
    """Return the parts that the `b` ranks have for this one, one after another."""
    channel = CHANNELS[number]
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

    That is `count` numbers, the rank and the tag. Machine code may have begun (`native`).
    """
    channel = CHANNELS[number]
    if channel.table[STAGE]:
        return *channel.taken_over(way, site, a, b, c, d, count, dtype), 0.0
    comm, proc_null = channel.messages(way), channel.mpi.PROC_NULL
    into = np.zeros(count, dtype)
    receiving = None if c == proc_null else comm.Irecv(into, c, d)
    sending = None if a == proc_null else comm.Isend(x, a, b)
    if receiving is not None:
        c, d = channel.received(receiving, into, way, c, d, site)
    if sending is not None:
        channel.done(sending, lambda: f"{way_words('send', way)} to rank {a} (tag {b})", site)
    return into, c, d, 0.0


def begin_send(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, x: Vector,
    order: float,
) -> Any:  # fmt: skip
    """Begin to send to rank `a` with the tag `b`; return a handle."""
    channel = CHANNELS[number]
    if a == channel.mpi.PROC_NULL:
        b = 0  # of what was received from nobody, it is any
    return channel.begin(channel.messages(way).Isend(x, a, b), x), 0.0


def end_send(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, handle: float,
    order: float,
) -> Any:  # fmt: skip
    """Wait until what was sent may be changed; return the order."""
    channel = CHANNELS[number]
    found = channel.take(handle, _UNWAITED if way & BACK else "a wait for what is sent")
    channel.done(found.request, lambda: f"{way_words('send', way)} to rank {a} (tag {b})", site)
    return 0.0


def begin_receive(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, order: float
) -> Any:
    """Begin to receive `count` numbers from rank `a` with the tag `b`; return a handle.

    A tangent comes from where the value came from: until that is known, nothing is begun.
    """
    channel = CHANNELS[number]
    into = np.zeros(count, dtype)
    later = way & DOT and (a == channel.mpi.ANY_SOURCE or b == channel.mpi.ANY_TAG)
    request = None if later else channel.messages(way).Irecv(into, a, b)
    return channel.begin(request, into), 0.0


def end_receive(
    number: int, way: int, site: str, a: int, b: int, count: int, dtype: str, handle: float,
    order: float,
) -> Any:  # fmt: skip
    """Return what was received, from whom, with which tag, and the order."""
    channel = CHANNELS[number]
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
    channel = CHANNELS[number]
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
    channel = CHANNELS[number]
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
    channel = CHANNELS[number]
    channel.done(channel.own.Ibarrier(), "Barrier", site)


def widest(site: str, numbers: tuple[int, ...]) -> tuple[int, int]:
    """Return the communicator to which all ranks of the others belong, and this rank there.

    Raises
    ------
    RankError
        If there is none among them.
    """
    mpi = CHANNELS[numbers[0]].mpi
    groups = {number: CHANNELS[number].comm.Get_group() for number in numbers}
    best = max(numbers, key=lambda number: CHANNELS[number].size)
    for group in groups.values():
        if mpi.Group.Intersection(group, groups[best]).Get_size() < group.Get_size():
            raise RankError(
                "a loss is one number of all ranks, and no communicator of the program has all",
                None, "reduce it over a communicator to which the others belong",
            )  # fmt: skip
    return best, CHANNELS[best].rank


def same(number: int, site: str, loss: float) -> None:
    """Raise unless all ranks have the same loss: one that is NaN elsewhere is that of rank 0."""
    channel = CHANNELS[number]
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
    channel = CHANNELS[number]
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
    channel = CHANNELS[number]
    if channel.pending:
        count = len(channel.pending)
        channel.pending.clear()
        raise RankError(
            f"{count} request{'s' if count > 1 else ''} without a wait", None,
            "call `Wait()`, or `MPI.Request.Waitall(requests)`, in the function itself",
        )  # fmt: skip


def _collective(channel: Channel, name: str, way: int, x: Vector) -> str:
    return way_words(channel.noted(name, len(x)), way)


__all__ = ["BACK", "DOT", "FORWARD"]
