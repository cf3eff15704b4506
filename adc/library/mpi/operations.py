"""Linear operations of ranks on vectors: the transpose of each is another one of these.

================  ================  ============================================================
operation         transpose         the vector of this rank after it
================  ================  ============================================================
`allreduce`       itself            the sum over ranks
`reduce`          `bcast`           the sum on rank `a`, zeros elsewhere
`gather`          `scatter`         the vectors of all ranks on rank `a`, zeros elsewhere
`allgather`       `parts`           the vectors of all ranks
`alltoall`        itself            the parts of all ranks' vectors that are for this one
`begin_send`      `end_receive`     a handle of what is sent to rank `a` with the tag `b`
`end_send`        `begin_receive`   (it waits)
`exchange`        itself            what rank `c` sends, while this rank sends to rank `a`
================  ================  ============================================================

All take ``number, way, site, a, b``: the communicator, forward or back, the line of the program,
two integers. Then the vector, and the order of operations, which they return after the result.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from adc.library.external import External
from adc.library.mpi import ranks
from adc.library.mpi.native import Native
from adc.library.mpi.ranks import BACK, DOT, FORWARD
from adc.library.rules import Exact, exact

T = TypeVar("T")
# The arguments that have no derivatives.
_FIXED = (0, 1, 2, 3, 4)


def _like(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
    return np.empty(len(x), x.dtype), 0.0


def _times(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
    return np.empty(b * len(x), x.dtype), 0.0


def _part(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
    return np.empty(len(x) // b, x.dtype), 0.0


def _operation(outside: External) -> Exact[Any, Any]:
    """Return an operation without rules yet."""

    def operation(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
        return outside(number, way, site, a, b, x, order)

    operation.__name__ = outside.__name__
    return Exact(operation, "", None, _FIXED, always=True)


def _transposed(operation: Any, other: Any) -> None:
    """Let the rules of an operation say that its transpose is another one."""

    def forward(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
        return operation(number, way, site, a, b, x, order), ()

    def reverse(number: Any, way: Any, site: Any, a: Any, b: Any, kept: Any, cts: Any) -> Any:
        return other(number, way ^ BACK, site, a, b, cts[0], cts[1])

    def tangent(number: Any, way: Any, site: Any, a: Any, b: Any, at: Any, along: Any) -> Any:
        return (
            operation(number, way, site, a, b, at[0], at[1]),
            operation(number, way | DOT, site, a, b, along[0], along[1]),
        )

    operation.define(forward, reverse, tangent)


allreduce = _operation(External(ranks.allreduce, _like))
reduce = _operation(External(ranks.reduce, _like))
bcast = _operation(External(ranks.bcast, _like))
gather = _operation(External(ranks.gather, _times))
scatter = _operation(External(ranks.scatter, _part))
allgather = _operation(External(ranks.allgather, _times))
parts = _operation(External(ranks.parts, _part))
alltoall = _operation(External(ranks.alltoall, _like))
for _operation_, _other in (
    (allreduce, allreduce), (reduce, bcast), (bcast, reduce), (gather, scatter), (scatter, gather),
    (allgather, parts), (parts, allgather), (alltoall, alltoall),
):  # fmt: skip
    _transposed(_operation_, _other)


# -- what all ranks have ---------------------------------------------------------------------------


def shared(tree: T, comm: Any) -> T:
    """Return what all ranks of a communicator have alike, so that its gradient is of all of them.

    In ordinary code this returns `tree`. In differentiated code the cotangents of all ranks are
    added: each rank gets the gradient with respect to the one value that all of them have. Without
    it, the gradient of an argument is with respect to what this rank has.

    Parameters
    ----------
    tree : number, array, list, tuple or dict
        Parameters, the same on all ranks.
    comm : mpi4py.MPI.Intracomm
        The ranks. All of them call this.

    Returns
    -------
    tree
        The same.

    Raises
    ------
    RankError
        In differentiated code, if ranks have different values (ADC038).

    Examples
    --------
    >>> shared(2.0, None)
    2.0
    """
    return tree


_one = External(ranks.one, type(None))


@exact(fixed=_FIXED, always=True)
def same_vector(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
    """Return a vector that all ranks have."""
    _one(number, site, x)
    return x + 0.0, order


def _same_forward(number: Any, way: Any, site: Any, a: Any, b: Any, x: Any, order: Any) -> Any:
    return same_vector(number, way, site, a, b, x, order), ()


def _same_reverse(number: Any, way: Any, site: Any, a: Any, b: Any, kept: Any, cts: Any) -> Any:
    return allreduce(number, way ^ BACK, site, a, b, cts[0], cts[1])


def _same_tangent(number: Any, way: Any, site: Any, a: Any, b: Any, at: Any, along: Any) -> Any:
    return same_vector(number, way, site, a, b, at[0], at[1]), (along[0] + 0.0, along[1])


same_vector.define(_same_forward, _same_reverse, _same_tangent)


# -- messages --------------------------------------------------------------------------------------
#
# A handle is a float: its cotangent is the handle of the message that goes the other way. What is
# `plain` serves integers, which have no cotangents.


def _begun(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, *more: Any
) -> Any:
    return 0.0, 0.0


def _ended(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, *more: Any
) -> Any:
    return 0.0


def _received(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, *more: Any
) -> Any:
    return np.empty(count, dtype), 0, 0, 0.0


plain_begin_send = External(ranks.begin_send, _begun)
plain_end_send = External(ranks.end_send, _ended)
plain_begin_receive = External(ranks.begin_receive, _begun)
plain_end_receive = External(ranks.end_receive, _received)
# Those and the number and type of what is sent.
_message = exact(fixed=(*_FIXED, 5, 6), always=True)


@_message
def begin_send(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, x: Any, order: Any
) -> Any:
    """Begin to send a vector; return a handle."""
    return plain_begin_send(number, way, site, a, b, count, dtype, x, order)


@_message
def end_send(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, handle: Any,
    order: Any,
) -> Any:  # fmt: skip
    """Wait until a vector is sent."""
    return plain_end_send(number, way, site, a, b, count, dtype, handle, order)


@_message
def begin_receive(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, order: Any
) -> Any:
    """Begin to receive a vector; return a handle."""
    return plain_begin_receive(number, way, site, a, b, count, dtype, order)


@_message
def end_receive(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, handle: Any,
    order: Any,
) -> Any:  # fmt: skip
    """Wait for a vector; return it, who sent it, and the tag."""
    return plain_end_receive(number, way, site, a, b, count, dtype, handle, order)


def _send_forward(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, x: Any, order: Any
) -> Any:
    return begin_send(number, way, site, a, b, count, dtype, x, order), ()


def _send_reverse(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, kept: Any, cts: Any
) -> Any:
    ct, _, _, order = end_receive(number, way ^ BACK, site, a, b, count, dtype, cts[0], cts[1])
    return ct, order


def _send_tangent(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, at: Any, along: Any
) -> Any:
    return (
        begin_send(number, way, site, a, b, count, dtype, at[0], at[1]),
        begin_send(number, way | DOT, site, a, b, count, dtype, along[0], along[1]),
    )


def _sent_forward(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, handle: Any,
    order: Any,
) -> Any:  # fmt: skip
    return end_send(number, way, site, a, b, count, dtype, handle, order), ()


def _sent_reverse(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, kept: Any, ct: Any
) -> Any:
    return begin_receive(number, way ^ BACK, site, a, b, count, dtype, ct)


def _sent_tangent(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, at: Any, along: Any
) -> Any:
    return (
        end_send(number, way, site, a, b, count, dtype, at[0], at[1]),
        end_send(number, way | DOT, site, a, b, count, dtype, along[0], along[1]),
    )


def _receive_forward(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, order: Any
) -> Any:
    return begin_receive(number, way, site, a, b, count, dtype, order), ()


def _receive_reverse(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, kept: Any, cts: Any
) -> Any:
    return (end_send(number, way ^ BACK, site, a, b, count, dtype, cts[0], cts[1]),)


def _receive_tangent(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, at: Any, along: Any
) -> Any:
    return (
        begin_receive(number, way, site, a, b, count, dtype, at[0]),
        begin_receive(number, way | DOT, site, a, b, count, dtype, along[0]),
    )


def _received_forward(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, handle: Any,
    order: Any,
) -> Any:  # fmt: skip
    found = end_receive(number, way, site, a, b, count, dtype, handle, order)
    return found, (found[1], found[2])


def _received_reverse(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, kept: Any, cts: Any
) -> Any:
    source, tag = kept
    return begin_send(number, way ^ BACK, site, source, tag, count, dtype, cts[0], cts[3])


def _received_tangent(
    number: Any, way: Any, site: Any, a: Any, b: Any, count: Any, dtype: Any, at: Any, along: Any
) -> Any:
    found = end_receive(number, way, site, a, b, count, dtype, at[0], at[1])
    dot = end_receive(number, way | DOT, site, found[1], found[2], count, dtype, along[0], along[1])
    return found, dot


begin_send.define(_send_forward, _send_reverse, _send_tangent)
end_send.define(_sent_forward, _sent_reverse, _sent_tangent)
begin_receive.define(_receive_forward, _receive_reverse, _receive_tangent)
end_receive.define(_received_forward, _received_reverse, _received_tangent)


def _exchanged(
    number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
    dtype: Any, x: Any, order: Any,
) -> Any:  # fmt: skip
    return np.empty(count, dtype), 0, 0, 0.0


plain_exchange = External(Native(ranks.exchange), _exchanged)


@exact(fixed=(*_FIXED, 5, 6, 7, 8, 9), always=True)
def exchange(
    number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
    dtype: Any, x: Any, order: Any,
) -> Any:  # fmt: skip
    """Send a vector of the type `sent`; return another one, who sent it, and the tag."""
    return plain_exchange(number, way, site, a, b, c, d, sent, count, dtype, x, order)


def _exchange_forward(
    number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
    dtype: Any, x: Any, order: Any,
) -> Any:  # fmt: skip
    found = exchange(number, way, site, a, b, c, d, sent, count, dtype, x, order)
    return found, (len(x), found[1], found[2])


def _exchange_reverse(
    number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
    dtype: Any, kept: Any, cts: Any,
) -> Any:  # fmt: skip
    size, source, tag = kept
    ct, _, _, order = exchange(
        number, way ^ BACK, site, source, tag, a, b, dtype, size, sent, cts[0], cts[3]
    )
    return ct, order


def _exchange_tangent(
    number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
    dtype: Any, at: Any, along: Any,
) -> Any:  # fmt: skip
    found = exchange(number, way, site, a, b, c, d, sent, count, dtype, at[0], at[1])
    dot = exchange(
        number, way | DOT, site, a, b, found[1], found[2], sent, count, dtype, along[0], along[1]
    )
    return found, dot


exchange.define(_exchange_forward, _exchange_reverse, _exchange_tangent)


# -- what is not differentiated --------------------------------------------------------------------

winner = External(ranks.winner, lambda number, site, largest, x: np.empty(len(x), np.bool_))
integers = External(ranks.integers, lambda number, site, kind, a, b, x: np.empty(
    len(x) * (b if kind in ("gather", "allgather") else 1) // (b if kind == "scatter" else 1),
    x.dtype,
))  # fmt: skip
barrier = External(ranks.barrier, type(None))
widest = External(ranks.widest, (int, int))


# -- the beginning of a program, and its end -------------------------------------------------------


@exact(always=True)
def begin(order: Any) -> Any:
    """Return the order: from here on, derivatives flow through it."""
    return order


def _begin_forward(order: Any) -> Any:
    return begin(order), ()


def _begin_reverse(kept: Any, ct: Any) -> Any:
    return (ct,)


def _begin_tangent(at: Any, along: Any) -> Any:
    return begin(at[0]), along[0]


begin.define(_begin_forward, _begin_reverse, _begin_tangent)

_finished = External(ranks.finished, type(None))
_same = External(ranks.same, type(None))


@exact(fixed=(0, 1), always=True)
def finish(number: Any, site: Any, order: Any) -> Any:
    """End a program that communicates: reverse code begins here."""
    _finished(number, site)
    return 0


def _finish_forward(number: Any, site: Any, order: Any) -> Any:
    return finish(number, site, order), order


def _finish_reverse(number: Any, site: Any, kept: Any, ct: Any) -> Any:
    return (kept,)


def _finish_tangent(number: Any, site: Any, at: Any, along: Any) -> Any:
    return finish(number, site, at[0]), 0


finish.define(_finish_forward, _finish_reverse, _finish_tangent)


@exact(fixed=(0, 1, 2))
def one_loss(number: Any, site: Any, rank: Any, loss: Any) -> Any:
    """Return the loss, which is one number of all ranks: that of rank 0 is differentiated."""
    _same(number, site, loss)
    return loss


def _loss_forward(number: Any, site: Any, rank: Any, loss: Any) -> Any:
    return one_loss(number, site, rank, loss), ()


def _loss_reverse(number: Any, site: Any, rank: Any, kept: Any, ct: Any) -> Any:
    return (ct if rank == 0 else 0.0,)


def _loss_tangent(number: Any, site: Any, rank: Any, at: Any, along: Any) -> Any:
    return one_loss(number, site, rank, at[0]), along[0]


one_loss.define(_loss_forward, _loss_reverse, _loss_tangent)

__all__ = [
    "FORWARD", "allgather", "allreduce", "alltoall", "barrier", "bcast", "begin", "begin_receive",
    "begin_send", "end_receive", "end_send", "exchange", "finish", "gather", "integers", "one_loss",
    "parts", "plain_begin_receive", "plain_begin_send", "plain_end_receive", "plain_end_send",
    "plain_exchange", "reduce", "same_vector", "scatter", "shared", "widest", "winner",
]  # fmt: skip
