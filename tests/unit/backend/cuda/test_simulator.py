"""What adc mends of Numba's simulator, without which its tests would fail now and then."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import pytest

from adc.backend.cuda import api


def test_threads_that_come_together_have_one_shared_array(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = importlib.import_module("numba.cuda.simulator.kernelapi")
    shared, empty, together = module.FakeCUDAShared(0), np.empty, threading.Barrier(2)

    def made(*args: Any, **options: Any) -> Any:
        together.wait(10.0)
        return empty(*args, **options)

    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(np, "empty", made)
        first, second = pool.map(lambda _: shared.array(4, np.float64), range(2))
    assert first is second


def test_arrays_made_at_two_lines_are_two() -> None:
    module: Any = importlib.import_module("numba.cuda.simulator.kernelapi")
    shared = module.FakeCUDAShared(0)
    first = shared.array(4, np.float64)
    second = shared.array(4, np.float64)
    assert first is not second


def test_all_atomic_additions_share_a_lock() -> None:
    module: Any = importlib.import_module("numba.cuda.simulator.kernelapi")
    from adc.backend.cuda import prelude

    array = np.zeros(1)
    with ThreadPoolExecutor(2) as pool, api.adding:
        work = [
            pool.submit(prelude.add_together, array, 0, 0, 1.0),
            pool.submit(module.FakeCUDAAtomic().add, array, 0, 1.0),
        ]
        done, _ = wait(work, timeout=0.1)
        assert not done
        assert array[0] == 0.0
    assert array[0] == 2.0
