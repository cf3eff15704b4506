"""`adc.distributed` on a cluster of Dask's on this machine: threads; with --full, processes."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import distributed
from tests.unit.distributed import losses
from tests.unit.distributed.test_shards import XS, YS, P, X, Y, bits, same

pytest.importorskip("distributed")
pytestmark = [
    # Dask's own, in its threads.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


# A process of Dask's takes seconds to import what it runs; so does the first call there.
PROCESSES = pytest.param(True, marks=pytest.mark.full)
in_processes = pytest.mark.parametrize("client", [True], ids=["processes"], indirect=True)


@pytest.fixture(scope="module", params=[False, PROCESSES], ids=["threads", "processes"])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None,
            silence_logs=logging.CRITICAL, processes=request.param,
        ) as cluster,
        Client(cluster) as found,
    ):  # fmt: skip
        yield found


def test_the_bits_are_those_of_threads(client: Any) -> None:
    found = distributed.value_and_grad(losses.logistic, client=client)(P, XS, YS)
    same(found, adc.value_and_grad(losses.logistic)(P, X, Y))
    with futures.ThreadPoolExecutor(3) as pool:
        here = distributed.value_and_grad(losses.logistic, client=pool)(P, XS, YS)
    assert bits(found) == bits(here)


@pytest.mark.full
def test_collections(client: Any) -> None:
    import dask.array
    import dask.bag
    import dask.dataframe
    import pandas as pd

    x = dask.array.from_array(X, chunks=(40, 4))
    y = dask.array.from_array(Y, chunks=40)
    want = adc.value_and_grad(losses.logistic)(P, X, Y)
    same(distributed.value_and_grad(losses.logistic, client=client)(P, x, y), want)
    # Futures stay where they are.
    xs, ys = (client.scatter(each) for each in (XS, YS))
    same(distributed.value_and_grad(losses.logistic, client=client)(P, xs, ys), want)
    square = adc.value_and_grad(losses.squares)
    bag = dask.bag.from_sequence(range(10), npartitions=3)
    both = distributed.value_and_grad(losses.squares, client=client, loader=losses.numbers)
    assert both(0.5, bag) == pytest.approx(square(0.5, np.arange(10.0)))
    frame = dask.dataframe.from_pandas(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}), npartitions=3)
    both = distributed.value_and_grad(losses.squares, client=client)
    assert both(0.5, frame) == pytest.approx(square(0.5, X[:, :2]))
    with pytest.raises(adc.AdcError, match="in chunks along 2 axes"):
        both(0.5, dask.array.from_array(X, chunks=(40, 2)))


def test_errors(client: Any) -> None:
    both = distributed.value_and_grad(losses.too_large, client=client)
    with pytest.raises(ValueError, match=r"5.0 is too large") as caught:
        both(1.0, [np.ones(2), np.full(2, 5.0), np.ones(1)])
    assert caught.value.__notes__ == ["in shard 1 of too_large()"]


@pytest.mark.full
@in_processes
def test_a_worker_that_dies(client: Any, tmp_path: Path) -> None:
    names = []
    for k, part in enumerate(XS):
        names.append(str(tmp_path / f"{k}.npy"))
        np.save(names[-1], part)
        if k != 2:
            (tmp_path / f"{k}.died").touch()
    with futures.ThreadPoolExecutor(2) as pool:
        want = distributed.value_and_grad(losses.squares, client=pool, loader=np.load)(0.5, names)
    both = distributed.value_and_grad(losses.squares, client=client, loader=losses.dies_once)
    assert both(0.5, names) == want
    assert (tmp_path / "2.died").exists()


class Loses:
    """A client of which the workers die, so many times, with what they were sent."""

    def __init__(self, client: Any, times: int) -> None:
        self.client, self.times, self.sent = client, times, 0

    def scatter(self, *args: Any, **words: Any) -> Any:
        from distributed.client import FutureCancelledError

        self.sent += 1
        if self.sent <= self.times:
            raise FutureCancelledError("tuple-1", "scheduler")
        return self.client.scatter(*args, **words)

    def compute(self, *args: Any) -> Any:
        return self.client.compute(*args)

    def gather(self, *args: Any) -> Any:
        return self.client.gather(*args)


def test_parameters_that_are_lost_are_sent_again(client: Any) -> None:
    want = distributed.value_and_grad(losses.squares, client=client)(0.5, XS)
    lossy = Loses(client, 2)
    assert distributed.value_and_grad(losses.squares, client=lossy)(0.5, XS) == want
    assert lossy.sent == 4
    with pytest.raises(adc.AdcError, match=r"ADC037.*was lost 3 times"):
        distributed.value_and_grad(losses.squares, client=Loses(client, 9))(0.5, XS)


@pytest.mark.full
@in_processes
def test_a_worker_that_is_killed_and_one_that_joins(client: Any) -> None:
    both = distributed.value_and_grad(losses.slow, client=client)
    shards = [np.arange(float(n)) for n in range(2, 18)]
    want = both(0.5, shards)
    pids = list(client.run(os.getpid).values())
    with futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(both, 0.5, shards)
        time.sleep(0.2)
        os.kill(pids[0], signal.SIGKILL)  # the nanny starts another one
        assert running.result(timeout=120) == want
