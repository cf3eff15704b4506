"""Programs of several ranks, which `test_mpi` starts: ``python -m …mpi_programs GROUP NAME …``.

Without names it runs all of a group, with ``--full`` in all modes.

Each rank prints a line for each program, which says that it is right, or what is wrong. The first
rank says it for all.
"""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

import adc
import adc.distributed
from adc.library.mpi import channels, native, operations, ranks
from adc.testing import check_grads

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
up = rank + 1 if rank + 1 < size else MPI.PROC_NULL
down = rank - 1 if rank > 0 else MPI.PROC_NULL
X = np.linspace(0.3, 0.9, 4) + 0.1 * rank


class Pair(NamedTuple):
    first: Any
    second: float


Check = Callable[[], None]
GROUPS: dict[str, dict[str, Check]] = {}
FULL = "--full" in sys.argv


def checked(group: str) -> Callable[[Any], Any]:
    """Enter a loss whose derivatives are compared with differences."""

    def enter(fn: Any) -> Any:
        def check() -> None:
            modes = ("fwd", "rev") if FULL else ("rev",)
            check_grads(fn, (X,), order=1 + FULL, modes=modes, comm=comm)

        GROUPS.setdefault(group, {})[fn.__name__] = check
        return fn

    return enter


def entered(group: str, *, full: bool = False) -> Callable[[Check], Check]:
    """Enter a check; one that is `full` takes long."""

    def enter(fn: Check) -> Check:
        if FULL or not full:
            GROUPS.setdefault(group, {})[fn.__name__] = fn
        return fn

    return enter


# -- collective operations -------------------------------------------------------------------------


@checked("collective")
def sum_of_objects(x: Any) -> Any:
    return comm.allreduce(np.sum(np.sin(x))) ** 2 + comm.allreduce(x)[0] ** 3


@checked("collective")
def sum_of_buffers(x: Any) -> Any:
    out = np.empty_like(x)
    comm.Allreduce(np.sin(x), [out, MPI.DOUBLE], op=MPI.SUM)
    y = np.cos(x)
    comm.Allreduce(MPI.IN_PLACE, y)
    return comm.allreduce(np.sum(out**2 * x * y))


@checked("collective")
def extremes(x: Any) -> Any:
    most = comm.allreduce(np.max(x * x), op=MPI.MAX)
    least = np.empty_like(x)
    comm.Allreduce(np.sin(x), least, op=MPI.MIN)
    return most**2 + np.sum(least**3) + comm.allreduce(x[0], op=MPI.PROD)


@checked("collective")
def broadcasts(x: Any) -> Any:
    y = comm.bcast({"a": x * x, "b": [2.0, x[0]], "c": Pair(x[1], 3.0)}, root=size - 1)
    z = np.sin(x)
    comm.Bcast(z, root=0)
    return comm.allreduce(np.sum(x * y["a"] * z) * y["b"][1] + y["c"].first * y["c"].second)


@checked("collective")
def reduced_to_one(x: Any) -> Any:
    out = np.zeros_like(x)
    comm.Reduce(x**2, out, op=MPI.SUM, root=size - 1)
    total = comm.bcast(np.sum(np.sin(out)), root=size - 1)
    return comm.reduce(np.sum(x) * total, root=0)


@checked("collective")
def gathered(x: Any) -> Any:
    rows = np.zeros((size, len(x)))
    comm.Gather(x * x, rows, root=0)
    one = comm.bcast(np.sum(np.sin(rows) * np.arange(1.0, rows.size + 1).reshape(rows.shape)))
    all_ = np.empty((size, len(x)))
    comm.Allgather(np.exp(x), all_)
    objects = np.array(comm.allgather(np.sum(x)))
    return one * comm.allreduce(np.sum(all_ * x) * (rank + 1.0) + np.sum(objects**2))


@checked("collective")
def scattered(x: Any) -> Any:
    rows = np.outer(np.arange(1.0, size + 1), x)
    mine = np.empty_like(x)
    comm.Scatter(rows, mine, root=0)
    other = np.empty_like(rows)
    comm.Alltoall(np.outer(np.arange(1.0, size + 1) + rank, x), other)
    return comm.allreduce(np.sum(np.sin(mine) * x) + np.sum(np.sin(other) * x))


@checked("collective")
def integers(x: Any) -> Any:
    count = comm.allreduce(len(x)) + comm.allreduce(rank, op=MPI.MAX)
    flags = np.array([rank == 0, True])
    both = np.empty_like(flags)
    comm.Allreduce(flags, both, op=MPI.LAND)
    comm.Barrier()
    which = np.arange(3) + rank
    comm.Bcast(which)
    return comm.allreduce(np.sum(x**2)) / count * (1.0 if both[1] else 2.0) + which[2]


def same_parameters(p: Any) -> Any:
    p = adc.distributed.shared(p, comm)
    data = np.arange(6.0).reshape(3, 2) + rank
    return comm.allreduce(np.sum(np.sin(data @ p["w"] + p["b"])))


@entered("collective")
def shared_parameters() -> None:
    # All ranks move alike, which directions of `check_grads` do not.
    p: dict[str, Any] = {"w": np.array([0.5, -0.2]), "b": 0.3}
    slope = adc.grad(same_parameters)(p)
    expected: dict[str, Any] = {"w": np.zeros(2), "b": 0.0}
    for k in range(size):
        data = np.arange(6.0).reshape(3, 2) + k
        inner = np.cos(data @ p["w"] + p["b"])
        expected["w"] += data.T @ inner
        expected["b"] += inner.sum()
    assert np.allclose(slope["w"], expected["w"], rtol=1e-13)
    assert np.isclose(slope["b"], expected["b"], rtol=1e-13)


# -- messages --------------------------------------------------------------------------------------


@checked("messages")
def ring(x: Any) -> Any:
    y = np.empty_like(x)
    if rank % 2 == 0:
        comm.Send(np.sin(x), dest=right, tag=3)
        comm.Recv(y, source=left, tag=3)
    else:
        comm.Recv(y, source=left, tag=3)
        comm.Send(np.sin(x), dest=right, tag=3)
    return comm.allreduce(np.sum(y * x))


@checked("messages")
def chain(x: Any) -> Any:
    y = np.copy(x)
    if rank > 0:
        comm.Recv(y, source=rank - 1)
    if rank + 1 < size:
        comm.Send(np.sin(y) * x, rank + 1)
    return comm.allreduce(np.sum(y * x))


@checked("messages")
def not_blocking(x: Any) -> Any:
    y, z = np.empty_like(x), np.zeros_like(x)
    requests = [
        comm.Irecv(y, source=left, tag=1), comm.Irecv(z, source=right, tag=2),
        comm.Isend(np.sin(x), dest=right, tag=1), comm.Isend(x[::-1] ** 2, dest=left, tag=2),
    ]  # fmt: skip
    t = np.sum(np.cos(x))
    requests[0].Wait()
    MPI.Request.Waitall(requests[1:])
    return comm.allreduce(t * np.sum(y * x) + np.sum(z**2))


@checked("messages")
def from_anybody(x: Any) -> Any:
    y, t = np.empty_like(x), np.zeros_like(x)
    if rank == 0:
        for _ in range(size - 1):
            comm.Recv(y, source=MPI.ANY_SOURCE, tag=7)
            t += np.sin(y)
    else:
        comm.Send(x * x, 0, tag=7)
    comm.Bcast(t)
    return comm.allreduce(np.sum(t * x))


def exchange(v: Any) -> None:
    """Exchange the outermost cells with neighbours, at the ends with nobody."""
    comm.Sendrecv(v[1:2], dest=down, recvbuf=v[-1:], source=up)
    comm.Sendrecv(v[-2:-1], dest=up, recvbuf=v[:1], source=down)


@checked("messages")
def heat(u: Any) -> Any:
    v = np.full(len(u) + 2, 0.5)
    v[1:-1] = u
    k = 0
    while k < 4:
        exchange(v)
        v[1:-1] += 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2]) * v[1:-1]
        k += 1
    return comm.allreduce(np.sum(v[1:-1] ** 2))


@checked("messages")
def complex_numbers(x: Any) -> Any:
    z = comm.allreduce(np.exp(1j * x))
    w = np.empty_like(z)
    comm.Sendrecv(z * (1j * x), dest=right, recvbuf=w, source=left)
    return comm.allreduce(np.sum(np.abs(w) ** 2 + (w * x).real))


@checked("messages")
def constants(x: Any) -> Any:
    y, c = np.empty_like(x), np.ones(len(x))
    comm.Sendrecv(c, dest=right, recvbuf=y, source=left)
    comm.Sendrecv(np.sin(x), dest=right, recvbuf=c, source=left)  # nothing uses it
    n = np.zeros(2, int)
    comm.Sendrecv(np.array([rank, 1]), dest=right, recvbuf=n, source=left)
    return comm.allreduce(np.sum(y * x) * (1 + n[1]))


@checked("messages")
def of_one_rank(x: Any) -> Any:
    y = np.zeros_like(x)
    if rank % 2 == 0 and rank + 1 < size:
        comm.Send(x**2, rank + 1)
    elif rank % 2:
        comm.Recv(y, rank - 1)
    return comm.allreduce(np.sum(y * x))


class Model:
    """A model with a communicator of its own, and a method that communicates often."""

    def __init__(self) -> None:
        self.comm = comm.Create_cart((size,), periods=(True,))
        self.before, self.after = self.comm.Shift(0, 1)

    def neighbour(self, u: Any) -> Any:
        found = np.empty_like(u)
        self.comm.Sendrecv(u, self.after, recvbuf=found, source=self.before)
        return found

    def loss(self, u: Any) -> Any:
        a = self.neighbour(u)
        b = self.neighbour(a * u)
        return self.comm.allreduce(np.sum(self.neighbour(b + a) * u))


checked("messages")(Model().loss)


@entered("messages")
def parts_of_ranks() -> None:
    row = comm.Split(rank % 2, rank)

    def loss(x: Any) -> Any:
        return comm.allreduce(row.allreduce(np.sum(x)) ** 2)

    check_grads(loss, (X,), modes="rev", comm=comm)

    def own(x: Any) -> Any:
        return row.allreduce(np.sum(x**2))

    assert np.allclose(adc.grad(own)(X), 2 * X)


@entered("messages")
def one_domain() -> None:
    """The gradient of a domain in parts is that of the whole domain."""
    cells, steps = 24, 7
    whole = np.random.default_rng(0).random(cells)
    whole[0] = 0.25

    def parts(u: Any) -> Any:
        v = np.zeros(len(u) + 2)
        v[1:-1] = u
        for _ in range(steps):
            exchange(v)
            v[1:-1] = v[1:-1] + 0.2 * np.tanh(v[2:] - 2 * v[1:-1] + v[:-2])
        return comm.allreduce(np.sum(v[1:-1] ** 2))

    def alone(u: Any) -> Any:
        v = np.zeros(len(u) + 2)
        v[1:-1] = u
        for _ in range(steps):
            v[1:-1] = v[1:-1] + 0.2 * np.tanh(v[2:] - 2 * v[1:-1] + v[:-2])
        return np.sum(v[1:-1] ** 2)

    mine = np.array_split(whole, size)[rank]
    slope = np.concatenate(comm.allgather(adc.grad(parts)(mine)))
    assert np.allclose(slope, adc.grad(alone)(whole), rtol=1e-14, atol=1e-15)
    again = np.concatenate(comm.allgather(adc.grad(parts, memory="1 MB")(mine)))
    assert np.array_equal(slope, again)


@entered("messages", full=True)
def budgets() -> None:
    """Iterations that are computed again communicate with nobody: each rank has its own plan."""

    def parts(u: Any, steps: Any) -> Any:
        v = np.zeros((len(u) + 2, u.shape[1]))
        v[1:-1] = u
        for t in range(steps):
            exchange(v)
            v[1:-1] = v[1:-1] + 0.2 * np.tanh(v[2:] - 2 * v[1:-1] + v[:-2])
            if t % 3 == 1:
                v[1] = v[1] * (1.0 + 1e-3 * comm.allreduce(np.sum(v[1:-1])))
        return comm.allreduce(np.sum(v[1:-1] ** 2))

    mine = np.random.default_rng(rank).random((12, 20))
    wanted = adc.grad(parts)(mine, 40)
    most = adc.grad(parts, memory="1 GB").plan(mine, 40).peak_bytes or 0
    for share in (0.75, 0.5):
        within = adc.grad(parts, memory=int(share * most) + 1000 * rank)
        assert np.array_equal(within(mine, 40), wanted)
        if rank == 0:
            (loop,) = within.plan(mine, 40).loops
            assert loop.again


@entered("messages")
def arrays_as_results() -> None:
    def moved(x: Any) -> Any:
        y = np.empty_like(x)
        comm.Sendrecv(np.sin(x), right, recvbuf=y, source=left)
        return y * x

    check_grads(moved, (X,), comm=comm)
    value, push = adc.linearize(moved, X)
    step = 1e-6
    slope = (moved(X + step) - moved(X - step)) / (2 * step)
    assert np.allclose(value, moved(X))
    assert np.allclose(push(np.ones_like(X)), slope)
    assert np.allclose(adc.jacfwd(moved)(X).sum(axis=1), slope)


@entered("messages")
def without_python() -> None:
    """Machine code exchanges messages; Python goes on where another rank is late."""
    assert native.machine_code() is not None
    exchange, calls, late = operations.plain_exchange.fn, [], False

    def counted(*args: Any) -> Any:
        calls.append(bool(channels.CHANNELS[args[0]].table[native.STAGE]))
        if rank == 1 and late and len(calls) == 1:
            comm.send(None, 0, tag=9)
        return ranks.exchange(*args)

    def loss(x: Any) -> Any:
        y = np.zeros_like(x)
        comm.Sendrecv(np.sin(x), dest=right, recvbuf=y, source=left, sendtag=2, recvtag=2)
        return comm.allreduce(np.sum(y**2 * x))

    operations.plain_exchange.fn = native.Native(counted)
    slope = adc.grad(loss)
    for count in (3, 50_000):  # which MPI libraries send otherwise
        x = np.linspace(0.0, 1.0, count) + rank
        slope(x)
        calls.clear()
        before, after = np.sin(x - rank + left), x - rank + right
        wanted = before**2 + 2.0 * np.sin(x) * np.cos(x) * after
        assert np.allclose(slope(x), wanted, rtol=1e-13)
        assert size > 1 or not calls
        calls.clear()
        late = size > 1
        if rank == 0 and late:
            comm.recv(source=1, tag=9)  # Python waits there
        assert np.allclose(slope(x), wanted, rtol=1e-13)
        assert all(calls)
        late = False
    operations.plain_exchange.fn = exchange


@entered("messages")
def kinds_of_numbers() -> None:
    def loss(x: Any) -> Any:
        flags, few = x > 0.7, np.arange(3, dtype=np.int32) + np.int32(rank)
        others, some = np.zeros_like(flags), np.zeros(3, np.int32)
        comm.Sendrecv(flags, dest=right, recvbuf=others, source=left)
        comm.Sendrecv(few, dest=right, recvbuf=some, source=left)
        y = np.zeros((2, len(x)), np.float32)
        comm.Sendrecv(x[::2].astype(np.float32), dest=right, recvbuf=y[:, 0], source=left)
        comm.Sendrecv(x[:0], dest=right, recvbuf=np.zeros(0), source=left)
        return comm.allreduce(np.sum(y[:, 0] * some[1]) + np.sum(np.where(others, x, 0.0)))

    x = 0.5 + 0.125 * np.arange(4) + 0.01 * rank
    weight = 1.0 + rank
    found = adc.grad(loss)(x)
    wanted = np.where(0.5 + 0.125 * np.arange(4) + 0.01 * left > 0.7, 1.0, 0.0)
    wanted[::2] += weight
    assert np.allclose(found, wanted), (found, wanted)


@entered("messages")
def communicators_that_are_freed() -> None:
    """One that is freed leaves its number to no other one that is in use."""

    def squared(comm: Any) -> Any:
        return lambda x: comm.allreduce(np.sum(x)) ** 2

    first, second = comm.Dup(), comm.Dup()
    total = comm.allreduce(X.sum())
    slopes = [adc.grad(squared(each)) for each in (first, second)]
    assert all(np.allclose(slope(X), 2 * total) for slope in slopes)
    first.Free()
    own = adc.grad(squared(comm.Split(rank, 0)))
    assert np.allclose(own(X), 2 * X.sum())
    assert np.allclose(slopes[1](X), 2 * total)


# -- awkward programs ------------------------------------------------------------------------------


@checked("awkward")
def views_of_one_array(x: Any) -> Any:
    a = np.stack([x, x])
    b = a[0]
    comm.Sendrecv(b, right, recvbuf=a[1], source=left)
    b *= 2.0
    return comm.allreduce(np.sum(a * a * x))


@checked("awkward")
def loops_without_iterations(x: Any) -> Any:
    y = np.stack([x, x])
    for _ in range(len(x) - 4):
        comm.Sendrecv(y[0], right, recvbuf=y[1], source=left)
    for _ in range(rank * 0):
        comm.Barrier()
    return comm.allreduce(np.sum(y**2))


@checked("awkward")
def overwritten_buffers(x: Any) -> Any:
    y, t = np.empty_like(x), np.zeros_like(x)
    for k in range(3):
        s = x * (k + 1.0)
        request = comm.Isend(s, right, tag=k)
        comm.Recv(y, left, tag=k)
        request.Wait()
        s[:] = 0.0
        t = t * y + y
    return comm.allreduce(np.sum(t * x))


@checked("awkward")
def to_itself(x: Any) -> Any:
    y = np.empty_like(x)
    request = comm.Irecv(y, rank, tag=1)
    comm.Isend(np.exp(x), rank, tag=1).Wait()
    request.Wait()
    return comm.allreduce(np.sum(y * x))


@checked("awkward")
def uneven_trips(x: Any) -> Any:
    t = 0.0
    for k in range(rank + 1):
        t = t + np.sum(x) ** (k + 1)
    return comm.allreduce(t)


def product(p: Any, k: Any) -> Any:
    """Return a matrix times `p`: neighbouring cells are coupled, across ranks too."""
    padded = np.zeros(len(p) + 2)
    padded[1:-1] = p
    exchange(padded)
    return (2.0 + k**2) * padded[1:-1] - padded[2:] - padded[:-2]


def dot(a: Any, b: Any) -> Any:
    return comm.allreduce(np.dot(a, b))


@checked("awkward")
def conjugate_gradients(k: Any) -> Any:
    b, u = np.ones(len(k)), np.zeros(len(k))
    r, p = b.copy(), b.copy()
    rest = dot(r, r)
    count = 0
    while count < 8 and rest > 1e-12:
        ap = product(p, k)
        step = rest / dot(p, ap)
        u, r = u + step * p, r - step * ap
        new = dot(r, r)
        p, rest = r + (new / rest) * p, new
        count += 1
    return dot(u, b)


@entered("awkward")
def single_precision() -> None:
    def loss(x: Any) -> Any:
        y = np.empty_like(x)
        comm.Sendrecv(np.sin(x), right, recvbuf=y, source=left)
        return comm.allreduce(float(np.sum(y * x)))

    slope = adc.grad(loss)(X.astype(np.float32))
    assert slope.dtype == np.float32
    assert np.allclose(slope, adc.grad(loss)(X), rtol=1e-5)


# -- sums ------------------------------------------------------------------------------------------


@entered("sums")
def orders() -> None:
    """Sums along messages and those of what is gathered have the same bits, in a tree of ranks."""
    _, channel = channels.channel_of(comm)
    parts = [np.random.default_rng(k).standard_normal(5000) for k in range(size)]
    while len(parts) > 1:
        both = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = both + ([parts[-1]] if len(parts) % 2 else [])
    mine = np.random.default_rng(rank).standard_normal(5000)
    for small in (1, 1 << 20):
        channels.SMALL = small
        for way in (channels.FORWARD, channels.BACK):
            assert np.array_equal(channel.total(mine, way, "sum", "here"), parts[0])
    channel.sums = "mpi"
    assert np.allclose(channel.total(mine, channels.FORWARD, "sum", "here"), parts[0])


# -- what is refused -------------------------------------------------------------------------------


def error_of(kind: type[BaseException], fn: Any, *args: Any) -> str:
    """Return the text of the error that a call raises."""
    try:
        fn(*args)
    except kind as error:
        return str(error)
    raise AssertionError("no error was raised")


def refused(text: str, fn: Any, *args: Any, kind: type[Exception] = adc.AdcError) -> None:
    """Check that a gradient raises an error with a text."""
    found = error_of(kind, adc.grad(fn), *args)
    assert text in found, found


@entered("refused")
def methods() -> None:
    def types(x: Any) -> Any:
        return np.sum(comm.recv(source=0) * x)

    def probes(x: Any) -> Any:
        comm.Probe()
        return np.sum(x)

    def status(x: Any) -> Any:
        found = MPI.Status()
        comm.Recv(x, status=found)
        return np.sum(x)

    def strange(x: Any) -> Any:
        return comm.allreduce(np.sum(x), op=MPI.BXOR)

    def buffers(x: Any) -> Any:
        comm.Allreduce((x, 3, MPI.DOUBLE), x)
        return np.sum(x)

    def tags(x: Any) -> Any:
        comm.Sendrecv(x, rank, sendtag=2**32, recvbuf=x, source=rank)
        return np.sum(x)

    def nowhere(x: Any) -> Any:
        comm.Send(x, dest=size)
        return np.sum(x)

    def inner(x: Any) -> Any:
        return comm.allreduce(np.sum(x**2))

    def inside(x: Any) -> Any:
        return np.sum(adc.grad(inner)(x) ** 2)

    refused("use `Recv`, with an array", types, X)
    refused("`Probe` of a communicator", probes, X)
    refused("MPI.Status", status, X)
    refused("this operation of `allreduce`", strange, X)
    refused("as a buffer of Allreduce()", buffers, X)
    refused("value too large", tags, X, kind=OverflowError)
    refused("in send to rank 1 (tag 0), and MPI finds an error: MPI_ERR_RANK", nowhere, X)
    refused("inner(), which communicates, inside of code", inside, X)
    text = error_of(adc.AdcError, adc.vmap(adc.grad(inner)), np.stack([X, X]))
    assert "inner(), which communicates, inside of code" in text


@entered("failures")
def tools_that_repeat_calls() -> None:
    def loss(x: Any) -> Any:
        return comm.allreduce(np.sum(x**2))

    slope = adc.grad(loss)
    for what, run in (("a profile", slope.profile), ("a view", slope.view)):
        text = f"{what} of code whose ranks communicate"
        assert text in error_of(adc.AdcError, run, X)
    text = "the digits of code whose ranks communicate"
    assert text in error_of(adc.AdcError, adc.check_nans(slope, digits=10), X)
    comm.Barrier()


# -- failures: of two ranks ------------------------------------------------------------------------


@entered("failures")
def one_rank_raises() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        if rank == 1 and x[0] > 0.0:
            raise ValueError("a bad cell")
        return other.allreduce(np.sum(x * x))

    if rank == 1:
        refused("a bad cell", loss, X, kind=ValueError)
    else:
        refused("[ADC038] rank 1 raised ValueError: a bad cell, and rank 0 waits", loss, X)
        refused("an earlier communication of these ranks has failed", loss, X)


@entered("failures")
def no_plan_on_one_rank() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        for _ in range(20):
            x = x * np.sin(x) + other.allreduce(x)[0]
        return other.allreduce(np.sum(x))

    text = error_of(adc.AdcError, adc.grad(loss, memory=300 if rank else "1 GB"), np.ones(100))
    assert "[ADC026]" in text, text


@entered("failures")
def another_operation() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        if rank == 0:
            other.Barrier()
            other.Barrier()
        total = other.allreduce(np.sum(x))
        if rank == 1:
            total = total * other.allreduce(1.0)
        return total

    text = error_of(adc.AdcError, adc.grad(loss), X)
    assert text.startswith("[ADC038]")
    texts = ("no answer from other ranks", "different collective operations", "MPI finds an error")
    assert any(each in text for each in texts) or "rank 1 raised" in text or "rank 0 raised" in text
    if "no answer" in text:
        assert "rank 0 waits in" in text
        assert "rank 1 waits in" in text
        assert "mpi_programs.py, line " in text


@entered("failures")
def other_sizes() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        y = np.empty(len(x) + rank)
        other.Sendrecv(x, 1 - rank, recvbuf=y, source=1 - rank)
        return other.allreduce(np.sum(y))

    refused("a message of 32 bytes, received in an array of 40", loss, X)


@entered("failures")
def longer_messages() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        y = np.empty(len(x) - rank)
        other.Sendrecv(x, 1 - rank, recvbuf=y, source=1 - rank)
        return other.allreduce(np.sum(y))

    # Its own message may have been sent by then, or not.
    if rank == 1:
        refused("receive from rank 0, and MPI finds an error", loss, X)
    else:
        refused("[ADC038] rank 1 raised [ADC038] rank 1 waits in", loss, X)


@entered("failures")
def nobody_sends() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        y = np.zeros_like(x)
        if rank == 0:
            other.Recv(y, 1, tag=5)
        return other.allreduce(np.sum(y * x))

    text = error_of(adc.AdcError, adc.grad(loss), X)
    assert "no answer from other ranks" in text
    assert "rank 0 waits in receive from rank 1 (tag 5) (" in text
    assert "rank 1 waits in allreduce (" in text
    assert "mpi_programs.py, line " in text


@entered("failures")
def interrupted() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        y = np.zeros_like(x)
        other.Sendrecv(x, 1 - rank, recvbuf=y, source=1 - rank)
        return other.allreduce(np.sum(y * x))

    slope = adc.grad(loss)
    slope(X)
    if rank == 1:
        comm.recv(source=0)
        assert "rank 0 raised KeyboardInterrupt" in error_of(adc.AdcError, slope, X)
        return

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    error_of(KeyboardInterrupt, slope, X)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    comm.send(None, 1)


@entered("failures")
def several_losses() -> None:
    other = comm.Dup()

    def parts(x: Any) -> Any:
        return np.sum(x) * rank + other.allreduce(0.0)

    refused("a loss is one number", parts, X)


@entered("failures")
def no_wait() -> None:
    other = comm.Dup()

    def loss(x: Any) -> Any:
        y = np.empty_like(x)
        request = other.Irecv(y, 1 - rank)
        other.Send(x, 1 - rank)
        assert request is not None
        return other.allreduce(np.sum(y))

    refused("1 request without a wait", loss, X)


@entered("failures")
def others_parameters() -> None:
    other = comm.Dup()

    def loss(p: Any) -> Any:
        return other.allreduce(np.sum(adc.distributed.shared(p, other)))

    refused("ranks 0 and 1 have different values of what is shared", loss, X)


# -- planted mistakes ------------------------------------------------------------------------------


@entered("planted")
def wrong_rules() -> None:
    """A wrong rule is noticed by `check_grads`."""
    forward, reverse, tangent = operations.exchange._rules

    def twice(
        number: Any, way: Any, site: Any, a: Any, b: Any, c: Any, d: Any, sent: Any, count: Any,
        dtype: Any, kept: Any, cts: Any,
    ) -> Any:  # fmt: skip
        size, source, tag = kept
        ct, _, _, order = operations.exchange(
            number, way ^ channels.BACK, site, source, tag, a, b, dtype, size, sent, cts[0], cts[3]
        )
        return 2.0 * ct, order

    def planted(x: Any) -> Any:
        y = np.empty_like(x)
        comm.Sendrecv(np.sin(x), dest=right, recvbuf=y, source=left)
        return comm.allreduce(np.sum(y * x))

    operations.exchange.define(forward, twice, tangent)
    text = error_of(AssertionError, lambda: check_grads(planted, (X,), modes="rev", comm=comm))
    assert "reverse mode" in text
    operations.exchange.define(forward, reverse, tangent)


def main() -> None:
    names = [each for each in sys.argv[2:] if not each.startswith("-")]
    for name, check in GROUPS[sys.argv[1]].items():
        if names and name not in names:
            continue
        try:
            check()
            text = "ok"
        except BaseException:
            text = f"failed on rank {rank}\n{traceback.format_exc()}"
            print(name, text, flush=True)
            comm.Abort(1)
        if rank == 0:
            print(name, text, flush=True)


if __name__ == "__main__":
    main()
