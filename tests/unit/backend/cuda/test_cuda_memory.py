"""Memory of `target="cuda"`: what a call holds, what is used again, and where there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adc
from adc.api.derivative import Derivative
from adc.backend.cuda import api, memory
from adc.backend.cuda.memory import POOL, Lender, NoRoom, block_size
from adc.ir.errors import DeviceMemoryError


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    adc.release_memory()
    yield
    adc.release_memory()


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes that the driver was asked for."""
    sizes: list[int] = []
    allocate = api.allocate

    def counted(size: int) -> Any:
        sizes.append(size)
        return allocate(size)

    monkeypatch.setattr(api, "allocate", counted)
    return sizes


def peak(derivative: Derivative) -> int:
    found = derivative.compiled_for().entry.kernel.peak
    assert isinstance(found, int)
    return found


def steps(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = np.sin(x) / (1.0 + np.sum(x * x))
        x = x[::-1] * 0.5
    return x


def total(x: Any, n: Any) -> Any:
    return np.sum(steps(x, n))


@pytest.mark.full
def test_arrays_of_a_loop_take_the_same_memory(allocations: list[int]) -> None:
    x = np.linspace(0.1, 0.9, 20)
    f = adc.jit(steps, target="cuda")
    f(x, 3)
    for n in (3, 10):
        first = len(allocations)
        want = adc.jit(steps)(x, n)
        np.testing.assert_allclose(f(x, n), want, rtol=1e-12)
        assert len(allocations) == first
    few = peak(f)
    f(x, 12)
    assert peak(f) == few
    assert POOL.nbytes == sum(allocations)
    adc.release_memory()
    assert POOL.nbytes == 0
    f(x, 3)
    assert len(allocations) == 2 * first


@pytest.mark.full
def test_what_a_call_held() -> None:
    def doubled(x: Any) -> Any:
        return x * 2.0

    for size in (50, 64):
        x = np.ones(size)
        own = block_size(x.nbytes)
        f = adc.jit(doubled, target="cuda")
        f(x)
        assert peak(f) == 0  # a copy of `x` and the result are the caller's
        f(api.cuda.to_device(x))
        assert peak(f) == 0
    # Reverse code needs what each iteration leaves.
    g = adc.grad(total, target="cuda", remat="store")
    held = []
    for n in (1, 2, 3):
        g(x, n)
        held.append(peak(g))
    assert held[2] - held[1] >= own
    assert held[1] - held[0] >= own
    plan = g.plan()
    assert plan.peak_bytes == held[2]


@pytest.mark.full
def test_every_thread_has_its_own_peak() -> None:
    f = adc.jit(steps, target="cuda")
    f(np.ones(200), 2)
    here = peak(f)
    there: list[int] = []

    def run() -> None:
        f(np.ones(10), 2)
        there.append(peak(f))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert there[0] < here == peak(f)


@pytest.mark.full
def test_what_is_returned_is_used_again_when_it_is_dropped() -> None:
    f = adc.jit(steps, target="cuda")
    x = api.cuda.to_device(np.linspace(0.1, 0.9, 100))
    one = f(x, 1)
    before = one.copy_to_host()
    other = f(x, 2)
    np.testing.assert_array_equal(one.copy_to_host(), before)
    kept = POOL.nbytes
    del one, other
    assert POOL.nbytes == kept + 2 * block_size(800)


# --- no room --------------------------------------------------------------------------------------


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A device with little memory: ``limited(bytes)``."""
    room = [1 << 40]
    allocate = api.allocate

    class Freed(np.ndarray):
        def __del__(self) -> None:
            if self.base is None:
                room[0] += self.nbytes

    def allocated(size: int) -> Any:
        if size > room[0]:
            return None
        room[0] -= size
        return Freed(allocate(size).shape, np.uint8)

    monkeypatch.setattr(api, "allocate", allocated)

    def limit(size: int) -> None:
        room[0] = size

    return limit


@pytest.mark.full
def test_no_room(limited: Any) -> None:
    x = np.ones(64)
    f = adc.grad(total, target="cuda", remat="store")
    limited(20_000)
    f(x, 2)
    with pytest.raises(DeviceMemoryError) as caught:
        f(x, 30)
    error = caught.value
    assert isinstance(error, MemoryError)
    assert error.code == "ADC029"
    assert error.__context__ is None
    assert "the GPU has no room for an array of 512 bytes: the call holds 20 kB" in str(error)
    assert " there; its plan takes up to" in str(error)
    assert "Hint: memory= makes a plan that fits" in str(error)
    # Nothing is left of the call that failed.
    np.testing.assert_allclose(f(x, 2), adc.grad(total)(x, 2), rtol=1e-12)


def test_what_is_kept_makes_room(limited: Any) -> None:
    limited(4096)
    lender = Lender(77)
    block = lender.take(3000)
    del block
    assert POOL.nbytes == 3072
    lender.take(2000)
    assert POOL.nbytes == 2048


def test_the_driver_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def memalloc(self: Any, size: int) -> Any:
        raise MemoryError

    monkeypatch.setattr(type(api.cuda.current_context()), "memalloc", memalloc)
    with pytest.raises(DeviceMemoryError, match="the call holds 0 bytes"):
        adc.jit(steps, target="cuda")(np.ones(100), 1)


# --- the pool -------------------------------------------------------------------------------------


def test_sizes_of_blocks() -> None:
    sizes = [block_size(size) for size in range(1, 100_000, 7)]
    for size, block in zip(range(1, 100_000, 7), sizes, strict=True):
        assert size <= block <= max(512, 1.125 * size + 512)
        assert block_size(block) == block
    assert len({*sizes}) < 100


def test_streams_have_blocks_of_their_own(allocations: list[int]) -> None:
    one, other = Lender(77), Lender(88)
    block = one.take(1000)
    address = block.address
    del block
    for lender in (one, Lender(77)):
        assert lender.take(1024).address == address
    assert other.take(1000).address != address
    assert len(allocations) == 2
    assert (one.held, one.peak) == (0, 1024)


def test_blocks_that_are_not_used_are_freed() -> None:
    lender = Lender(77)
    blocks = [lender.take(1000), lender.take(100_000)]
    del blocks[:]
    lender.close()
    assert POOL.nbytes == 1024 + block_size(100_000)
    for _ in range(memory._AGE + 1):
        lender = Lender(77)
        lender.take(1000)
        lender.close()
    assert POOL.nbytes == 1024


def test_blocks_of_a_call_that_has_ended_wait_for_the_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = []
    monkeypatch.setattr(api, "synchronize", lambda: waits.append(POOL.nbytes))
    lender = Lender(77)
    blocks = [lender.take(1000), lender.take(1000)]
    addresses = {each.address for each in blocks}
    lender.close()
    blocks.clear()
    again = Lender(77)
    found = [again.take(1000), again.take(1000)]
    assert {each.address for each in found} == addresses
    assert waits == [1024]  # once, for both
    POOL.clear()


def test_a_pool_that_is_busy_is_not_waited_for(allocations: list[int]) -> None:
    lender = Lender(77)
    block = lender.take(1000)
    with POOL._lock:
        del block  # as a collection of garbage may
        lender.take(1000)
        Lender(77)
        POOL.clear()
    assert POOL.nbytes == 0
    assert len(allocations) == 2


def test_no_room_says_what_is_held(limited: Any) -> None:
    limited(2048)
    lender = Lender(77)
    block = lender.take(1000)
    with pytest.raises(NoRoom) as caught:
        lender.take(1025)
    assert (caught.value.asked, caught.value.held) == (1536, block.size)
