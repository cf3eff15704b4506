"""The methods of mpi4py's communicators and requests, as adc lowers them.

`comm` is ``(order, number, rank, size)``: an array of one element, and integers. `site` is the line
of the program. What was passed as ``MPI.IN_PLACE`` is None here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.mpi import operations
from adc.library.mpi.operations import FORWARD


def _collective(comm: Any, site: Any, operation: Any, x: Any, a: Any) -> Any:
    """Return what an operation makes of a vector of floats."""
    order, number, _, size = comm
    found, after = operation(number, FORWARD, site, a, size, x, order[0])
    order[0] = after
    return found


def _vector(x: Any) -> Any:
    return np.ravel(np.asarray(x))


def _is_float(x: Any) -> bool:
    return bool(x.dtype == np.float64 or x.dtype == np.float32)


def _applied(comm: Any, site: Any, word: Any, x: Any, a: Any) -> Any:
    """Return what a collective operation makes of a vector."""
    if np.iscomplexobj(x):
        both = _applied(comm, site, word, np.stack((x.real, x.imag), axis=1).ravel(), a)
        pairs = both.reshape(-1, 2)
        return pairs[:, 0] + 1j * pairs[:, 1]
    if not _is_float(x):
        return operations.integers(comm[1], site, word, a, comm[3], x)
    if word == "bcast":
        return _collective(comm, site, operations.bcast, x, a)
    if word == "gather":
        return _collective(comm, site, operations.gather, x, a)
    if word == "scatter":
        return _collective(comm, site, operations.scatter, x, a)
    if word == "allgather":
        return _collective(comm, site, operations.allgather, x, a)
    return _collective(comm, site, operations.alltoall, x, a)


def _reduced(comm: Any, site: Any, x: Any, op: Any, root: Any) -> Any:
    """Return a vector reduced over ranks; everywhere if `root` is None."""
    if op == "sum" and np.iscomplexobj(x):
        re = _reduced(comm, site, x.real, op, root)
        return re + 1j * _reduced(comm, site, x.imag, op, root)
    if np.iscomplexobj(x):
        raise Unsupported("this operation of complex numbers", "reduce their parts")
    if not _is_float(x):
        return operations.integers(comm[1], site, "allreduce " + op, 0, comm[3], x)
    if op == "prod":
        rows = _collective(comm, site, operations.allgather, x, 0)
        return np.prod(rows.reshape(comm[3], len(x)), axis=0)
    if op == "max" or op == "min":
        # The sum of what the winner has, and of zeros.
        mine = operations.winner(comm[1], site, op == "max", stop_gradient(x))
        x = np.where(mine, x, 0.0 * np.ones(1, x.dtype)[0])
    elif op != "sum":
        raise Unsupported("a logical operation of floats", "use MPI.SUM, MAX, MIN or PROD")
    if root is None:
        return _collective(comm, site, operations.allreduce, x, 0)
    return _collective(comm, site, operations.reduce, x, root)


def _like(vector: Any, x: Any) -> Any:
    """Return a vector in the shape of an object, a number or an array."""
    if np.ndim(x) == 0:
        return vector[0]
    return vector.reshape(np.shape(x))


def _fill(buffer: Any, found: Any, what: str) -> None:
    if buffer.size != found.size:
        raise ValueError(f"{what} has {buffer.size} elements where {found.size} are received")
    buffer[...] = found.reshape(buffer.shape)


# -- of objects ------------------------------------------------------------------------------------


def allreduce(comm: Any, site: Any, sendobj: Any, op: Any = "sum") -> Any:
    return _like(_reduced(comm, site, _vector(sendobj), op, None), sendobj)


def reduce(comm: Any, site: Any, sendobj: Any, op: Any = "sum", root: Any = 0) -> Any:
    found = _reduced(comm, site, _vector(sendobj), op, root)
    if _is_float(found) and comm[2] != root:
        found = np.full(len(found), np.nan, found.dtype)
    return _like(found, sendobj)


def bcast(comm: Any, site: Any, obj: Any, root: Any = 0) -> Any:
    return _like(_applied(comm, site, "bcast", _vector(obj), root), obj)


def _rows(comm: Any, found: Any, obj: Any) -> Any:
    if np.ndim(obj) == 0:
        return list(found)
    return list(found.reshape((comm[3], *np.shape(obj))))


def gather(comm: Any, site: Any, sendobj: Any, root: Any = 0) -> Any:
    return _rows(comm, _applied(comm, site, "gather", _vector(sendobj), root), sendobj)


def allgather(comm: Any, site: Any, sendobj: Any) -> Any:
    return _rows(comm, _applied(comm, site, "allgather", _vector(sendobj), 0), sendobj)


def scatter(comm: Any, site: Any, sendobj: Any, root: Any = 0) -> Any:
    rows = np.asarray(sendobj)
    if len(rows) != comm[3]:
        raise ValueError(f"scatter of {len(rows)} objects to {comm[3]} ranks")
    found = _applied(comm, site, "scatter", _vector(rows), root)
    return _like(found, rows[0])


def alltoall(comm: Any, site: Any, sendobj: Any) -> Any:
    rows = np.asarray(sendobj)
    if len(rows) != comm[3]:
        raise ValueError(f"alltoall of {len(rows)} objects to {comm[3]} ranks")
    return list(_applied(comm, site, "alltoall", _vector(rows), 0).reshape(rows.shape))


def barrier(comm: Any, site: Any) -> None:
    operations.barrier(comm[1], site)


def shared(comm: Any, site: Any, tree: Any) -> Any:
    x = _vector(tree)
    if np.iscomplexobj(x):
        both = _collective(comm, site, operations.same_vector, _parts(x), 0)
        pairs = both.reshape(-1, 2)
        return _like(pairs[:, 0] + 1j * pairs[:, 1], tree)
    if not _is_float(x):
        return tree
    return _like(_collective(comm, site, operations.same_vector, x, 0), tree)


# -- of arrays -------------------------------------------------------------------------------------


def Allreduce(comm: Any, site: Any, sendbuf: Any, recvbuf: Any, op: Any = "sum") -> None:
    given = recvbuf if sendbuf is None else sendbuf
    _fill(recvbuf, _reduced(comm, site, _vector(given), op, None), "recvbuf")


def Reduce(
    comm: Any, site: Any, sendbuf: Any, recvbuf: Any, op: Any = "sum", root: Any = 0
) -> None:
    given = recvbuf if sendbuf is None else sendbuf
    found = _reduced(comm, site, _vector(given), op, root)
    if recvbuf is not None and comm[2] == root:
        _fill(recvbuf, found, "recvbuf")


def Bcast(comm: Any, site: Any, buf: Any, root: Any = 0) -> None:
    _fill(buf, _applied(comm, site, "bcast", _vector(buf), root), "buf")


def Gather(comm: Any, site: Any, sendbuf: Any, recvbuf: Any, root: Any = 0) -> None:
    found = _applied(comm, site, "gather", _vector(sendbuf), root)
    if recvbuf is not None and comm[2] == root:
        _fill(recvbuf, found, "recvbuf")


def Allgather(comm: Any, site: Any, sendbuf: Any, recvbuf: Any) -> None:
    _fill(recvbuf, _applied(comm, site, "allgather", _vector(sendbuf), 0), "recvbuf")


def Scatter(comm: Any, site: Any, sendbuf: Any, recvbuf: Any, root: Any = 0) -> None:
    if sendbuf is None:
        given = np.zeros(comm[3] * recvbuf.size, recvbuf.dtype)
    else:
        given = _vector(sendbuf)
    if comm[2] != root:
        given = np.zeros(comm[3] * recvbuf.size, recvbuf.dtype)
    _fill(recvbuf, _applied(comm, site, "scatter", given, root), "recvbuf")


def Alltoall(comm: Any, site: Any, sendbuf: Any, recvbuf: Any) -> None:
    given = recvbuf if sendbuf is None else sendbuf
    _fill(recvbuf, _applied(comm, site, "alltoall", _vector(given), 0), "recvbuf")


# -- messages --------------------------------------------------------------------------------------


def _parts(x: Any) -> Any:
    """Return an array of floats as a vector: complex numbers as pairs."""
    if np.iscomplexobj(x):
        return np.stack((x.real.ravel(), x.imag.ravel()), axis=1).ravel()
    return x.ravel()


def _count(buffer: Any) -> Any:
    """Return how many real numbers a buffer has."""
    return (2 if np.iscomplexobj(buffer) else 1) * buffer.size


class Request:
    """A message on its way, as `MPI.Request`."""

    def __init__(
        self, comm: Any, site: Any, handle: Any, buffer: Any, receives: Any, partner: Any, tag: Any
    ) -> None:
        self.comm = comm
        self.site = site
        self.handle = handle
        self.buffer = buffer
        self.receives = receives
        self.partner = partner
        self.tag = tag

    def Wait(self, status: Any = None) -> bool:
        order, number, _, _ = self.comm
        count = _count(self.buffer)
        kind = np.real(self.buffer).dtype.name
        moves = kind == "float64" or kind == "float32"
        args = number, FORWARD, self.site, self.partner, self.tag, count, kind, self.handle
        if self.receives and moves:
            found, source, _, after = operations.end_receive(*args, order[0])
            order[0] = after
            _received(self.buffer, found, source)
        elif self.receives:
            found, source, _, _ = operations.plain_end_receive(*args, 0.0)
            _received(self.buffer, found, source)
        elif moves:
            order[0] = operations.end_send(*args, order[0])
        else:
            operations.plain_end_send(*args, 0.0)
        return True

    def wait(self, status: Any = None) -> None:
        self.Wait()


def Isend(comm: Any, site: Any, buf: Any, dest: Any, tag: Any = 0) -> Any:
    order, number, _, _ = comm
    x = _parts(buf)
    args = number, FORWARD, site, dest, tag, x.size, x.dtype.name
    if _is_float(x):
        handle, after = operations.begin_send(*args, x, order[0])
        order[0] = after
    else:
        handle, _ = operations.plain_begin_send(*args, x, 0.0)
    return Request(comm, site, handle, buf, False, dest, tag)


def Irecv(comm: Any, site: Any, buf: Any, source: Any, tag: Any) -> Any:
    order, number, _, _ = comm
    args = number, FORWARD, site, source, tag, _count(buf), np.real(buf).dtype.name
    if _is_float(np.real(buf)):
        handle, after = operations.begin_receive(*args, order[0])
        order[0] = after
    else:
        handle, _ = operations.plain_begin_receive(*args, 0.0)
    return Request(comm, site, handle, buf, True, source, tag)


def _received(buffer: Any, found: Any, source: Any) -> None:
    """Fill a buffer; from nobody, nothing comes."""
    if source >= 0:
        if np.iscomplexobj(buffer):
            pairs = found.reshape(-1, 2)
            buffer[...] = (pairs[:, 0] + 1j * pairs[:, 1]).reshape(buffer.shape)
        else:
            buffer[...] = found.reshape(buffer.shape)


def _exchanged(
    comm: Any, site: Any, x: Any, dest: Any, sendtag: Any, recvbuf: Any, source: Any, recvtag: Any
) -> None:
    order, number, _, _ = comm
    kind, count = np.real(recvbuf).dtype.name, _count(recvbuf)
    if _is_float(x):
        found, sender, _, after = operations.exchange(
            number, FORWARD, site, dest, sendtag, source, recvtag, x.dtype.name, count, kind, x,
            order[0],
        )  # fmt: skip
        order[0] = after
    else:
        found, sender, _, _ = operations.plain_exchange(
            number, FORWARD, site, dest, sendtag, source, recvtag, x.dtype.name, count, kind, x,
            0.0,
        )  # fmt: skip
    _received(recvbuf, found, sender)


def Sendrecv(
    comm: Any, site: Any, sendbuf: Any, dest: Any, sendtag: Any, recvbuf: Any, source: Any,
    recvtag: Any,
) -> None:  # fmt: skip
    _exchanged(comm, site, _parts(sendbuf), dest, sendtag, recvbuf, source, recvtag)


def Send(comm: Any, site: Any, buf: Any, dest: Any, nobody: Any, tag: Any = 0) -> None:
    x = _parts(buf)
    _exchanged(comm, site, x, dest, tag, np.zeros(0, x.dtype), nobody, 0)


def Recv(comm: Any, site: Any, buf: Any, source: Any, nobody: Any, tag: Any) -> None:
    nothing = np.zeros(0, np.real(buf).dtype)
    _exchanged(comm, site, nothing, nobody, 0, buf, source, tag)


def Waitall(requests: Sequence[Any]) -> bool:
    for request in requests:
        request.Wait()
    return True
