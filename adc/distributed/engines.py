"""Who runs the tasks: the processes of this machine, an executor, Dask or Ray.

Whatever the engine, what a shard contributes is computed by one task, and contributions are added
in the order of `tree`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol

from adc.distributed.tasks import Partial, Task, joined, run
from adc.distributed.tree import Reduction
from adc.ir.errors import AdcError, ArgumentError, WorkerError

# Tasks in flight for each worker: while one runs, the next is on its way.
_AHEAD = 2
# How often a call goes on after workers died: with new processes, or parameters sent again.
_TRIES = 3


@dataclass(frozen=True)
class Work:
    """What one call of a derivative asks for: a task, and its arguments."""

    task: Task
    shared: tuple[Any, ...]
    shards: Sequence[Sequence[Any]]
    weights: Sequence[float | str]

    @property
    def count(self) -> int:
        return len(self.shards)

    def arguments(self, shard: int) -> tuple[Any, ...]:
        return self.shards[shard], shard, self.weights[shard]


class Engine(Protocol):
    """Runs the tasks of a call."""

    def total(self, work: Work) -> Partial:
        """Return the sum over all shards."""


def engine_of(client: Any) -> Engine:
    """Return the engine behind what users pass as `client`.

    Raises
    ------
    ArgumentError
        If it is none that is known.
    """
    if client is None:
        return Local()
    if isinstance(client, futures.Executor):
        return Executor(client)
    if all(hasattr(client, name) for name in ("scatter", "compute", "gather")):
        if getattr(client, "asynchronous", False):
            raise ArgumentError(
                "client is an asynchronous one", None, "make it with `Client(asynchronous=False)`"
            )
        return Dask(client)
    if all(hasattr(client, name) for name in ("remote", "put", "wait")):
        return Ray(client)
    raise ArgumentError(
        f"client is a {type(client).__name__}", None,
        "pass a `dask.distributed.Client`, an executor of `concurrent.futures`, the module `ray`, "
        "or nothing for the processes of this machine",
    )  # fmt: skip


def _gathered(
    work: Work, ahead: int, submit: Callable[[int], Any], wait: Callable[[set[Any]], Any],
    result: Callable[[Any], Partial], reduction: _Reduction,
) -> None:  # fmt: skip
    """Run the tasks that a reduction lacks, so many at once, and take their results."""
    waiting = iter([shard for shard in range(work.count) if shard not in reduction.taken])
    running = {submit(shard): shard for shard in itertools.islice(waiting, ahead)}
    while running:
        for future in wait(set(running)):
            reduction.put(running.pop(future), result(future))
            for shard in itertools.islice(waiting, 1):
                running[submit(shard)] = shard


class _Reduction(Reduction[Partial]):
    """A reduction of partial results, which knows what it has."""

    def __init__(self, count: int) -> None:
        super().__init__(count, joined)
        self.taken: set[int] = set()

    def put(self, shard: int, value: Partial) -> None:
        super().put(shard, value)
        self.taken.add(shard)


class Executor:
    """Any executor of `concurrent.futures`."""

    def __init__(self, pool: futures.Executor) -> None:
        self.pool = pool

    def total(self, work: Work) -> Partial:
        reduction = _Reduction(work.count)
        try:
            self.gather(work, reduction)
        except BrokenProcessPool as error:
            raise WorkerError(
                f"a worker process died: {error}", None,
                "make a new executor; without `client`, adc starts processes again by itself",
            ) from None  # fmt: skip
        return reduction.result()

    def gather(self, work: Work, reduction: _Reduction) -> None:
        """Run what the reduction lacks; what runs is given up if one raises."""
        with self.sent(work.shared) as shared:
            made: list[futures.Future[Partial]] = []

            def submit(shard: int) -> futures.Future[Partial]:
                made.append(self.pool.submit(_run, work.task, shared, *work.arguments(shard)))
                return made[-1]

            def wait(running: set[Any]) -> Any:
                return futures.wait(running, return_when=futures.FIRST_COMPLETED).done

            workers = getattr(self.pool, "_max_workers", None) or os.cpu_count() or 1
            try:
                _gathered(work, _AHEAD * workers, submit, wait, _result, reduction)
            except BaseException:
                for future in made:
                    future.cancel()
                futures.wait([future for future in made if not future.cancelled()])
                raise

    @contextlib.contextmanager
    def sent(self, shared: tuple[Any, ...]) -> Iterator[Any]:
        """Yield what stands for the shared arguments: processes of this machine read a file."""
        if not isinstance(self.pool, futures.ProcessPoolExecutor):
            yield shared
            return
        with tempfile.TemporaryDirectory(prefix="adc-shared-") as folder:
            path = os.path.join(folder, "arguments")
            with open(path, "wb") as file:
                pickle.dump(shared, file, pickle.HIGHEST_PROTOCOL)
            yield path


def _result(future: Any) -> Partial:
    try:
        found: Partial = future.result()
    except AdcError as error:
        raise error from None  # its text has the user's line: no frames of a worker
    return found


def _run(task: Task, shared: Any, *arguments: Any) -> Partial:
    return run(task, _read(shared) if isinstance(shared, str) else shared, *arguments)


@functools.lru_cache(maxsize=1)
def _read(path: str) -> tuple[Any, ...]:
    """Return the shared arguments of a call: a process reads them once."""
    with open(path, "rb") as file:
        found: tuple[Any, ...] = pickle.load(file)
    return found


class Local:
    """A process for each core of this machine; they stay for later calls."""

    def total(self, work: Work) -> Partial:
        reduction = _Reduction(work.count)
        for _ in range(_TRIES):
            try:
                Executor(_pool()).gather(work, reduction)
            except BrokenProcessPool:
                _pool.cache_clear()
            else:
                return reduction.result()
        raise WorkerError(
            f"worker processes died {_TRIES} times", None,
            "they may need more memory than there is. A script that starts processes has its "
            'statements under `if __name__ == "__main__":`, as `multiprocessing` explains',
        )  # fmt: skip


@functools.lru_cache(maxsize=1)
def _pool() -> futures.ProcessPoolExecutor:
    cores = getattr(os, "sched_getaffinity", None)
    count = len(cores(0)) if cores else os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")  # a fork would take locks of threads along
    return futures.ProcessPoolExecutor(count, context, _alone)


def _alone() -> None:
    """Let BLAS use one thread in a process that shares the machine with others."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def next_level(level: list[Any], both: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the sums of pairs, as `Reduction` has them; what has no partner moves up."""
    pairs = [both(level[k], level[k + 1]) for k in range(0, len(level) - 1, 2)]
    return pairs + level[len(level) - len(level) % 2 :]


class Dask:
    """A client of `dask.distributed`: partial results are added by the workers, too.

    Tasks of workers that die run elsewhere. Futures and collections among the arguments stay where
    they are.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def total(self, work: Work) -> Partial:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError

        for _ in range(_TRIES):
            try:
                return self.once(work)
            except (FutureCancelledError, CommClosedError) as error:
                # What was sent is lost with the workers that had it: Dask cannot compute it again.
                lost: Exception = error
            except KilledWorker as error:
                raise WorkerError(
                    f"workers died again and again: {error}", None,
                    "they may need more memory than they have: make more, smaller shards",
                ) from None  # fmt: skip
        raise WorkerError(
            f"what workers were sent was lost {_TRIES} times: {lost}", None,
            "look into the logs of the workers: `client.get_worker_logs()`",
        )  # fmt: skip

    def once(self, work: Work) -> Partial:
        """Return the sum, if no worker dies that alone has what was sent."""
        from dask import delayed

        (shared,) = self.client.scatter([work.shared], hash=False)
        (task,) = self.client.scatter([work.task], hash=False)
        leaf, both = delayed(run, pure=False), delayed(joined, pure=False)
        level = [leaf(task, shared, *work.arguments(shard)) for shard in range(work.count)]
        while len(level) > 1:
            level = next_level(level, both)
        future = self.client.compute(level[0])
        try:
            return _result(future)
        except BaseException:
            future.cancel()
            raise


class Ray:
    """The module `ray`, connected to a cluster. Tasks of workers that die run elsewhere."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def total(self, work: Work) -> Partial:
        remote = self.ray.remote(run)
        task, shared = self.ray.put(work.task), self.ray.put(work.shared)
        reduction = _Reduction(work.count)
        ahead = _AHEAD * int(self.ray.cluster_resources().get("CPU", 1))

        def result(reference: Any) -> Partial:
            try:
                found: Partial = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                raise error.cause from None
            return found

        _gathered(
            work, ahead, lambda shard: remote.remote(task, shared, *work.arguments(shard)),
            lambda running: self.ray.wait(list(running))[0], result, reduction,
        )  # fmt: skip
        return reduction.result()


__all__ = ["Engine", "Work", "engine_of", "next_level"]
