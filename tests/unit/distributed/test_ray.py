"""`adc.distributed` on Ray, where it is installed: the tests do not install it, for it is large."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc import distributed
from tests.unit.distributed import losses
from tests.unit.distributed.test_shards import XS, YS, P, bits

pytestmark = [
    pytest.mark.full,
    # Ray's own, in its threads and processes.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )  # fmt: skip
    yield ray
    ray.shutdown()


def test_the_bits_are_those_of_threads(client: Any) -> None:
    with futures.ThreadPoolExecutor(3) as pool:
        here = distributed.value_and_grad(losses.logistic, client=pool)(P, XS, YS)
        along = distributed.hvp(losses.logistic, client=pool)(P, P, XS, YS)
    assert bits(distributed.value_and_grad(losses.logistic, client=client)(P, XS, YS)) == bits(here)
    found = distributed.hvp(losses.logistic, client=client)(P, P, XS, YS)
    assert all(np.array_equal(found[name], along[name]) for name in along)


def test_errors(client: Any) -> None:
    both = distributed.value_and_grad(losses.too_large, client=client)
    with pytest.raises(ValueError, match=r"5.0 is too large") as caught:
        both(1.0, [np.ones(2), np.full(2, 5.0), np.ones(1)])
    assert caught.value.__notes__ == ["in shard 1 of too_large()"]


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
