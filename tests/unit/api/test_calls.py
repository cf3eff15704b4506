"""Where derivatives are called from: threads, forks, signals; and what is seen of them."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import adc
import adc.api
import adc.testing
from adc.api.derivative import Derivative
from adc.backend.numba_api import compiler_lock
from adc.ir.errors import AdcError, ArgumentError
from tests.forks import fork, forks, status
from tests.unit.api.test_api import cube, product, squares, weighted
from tests.unit.backend.cpu.alarms import alarms

pytestmark = pytest.mark.usefixtures("own_cache")


# --- where it is called from ----------------------------------------------------------------------


def test_scipy_optimize() -> None:
    def rosen(x: Any) -> Any:
        s = 0.0
        for i in range(len(x) - 1):
            s += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
        return s

    found = scipy.optimize.minimize(adc.value_and_grad(rosen), np.zeros(4), jac=True)
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-4)


def test_threads_on_one_object() -> None:
    slope, x = adc.grad(weighted, 1), np.arange(1.0, 50.0)
    barrier, wrong = threading.Barrier(4), []

    def work(k: int) -> None:
        barrier.wait()
        for _ in range(50):
            got = slope(float(k), x[: 10 * k])
            if not np.array_equal(got, 2.0 * float(k) ** 3 * x[: 10 * k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert slope.cache_info()["compiled"] + slope.cache_info()["loaded"] == 1


def _in_child(slope: Any, queue: Any) -> None:
    queue.put((slope(3.0), adc.grad(product, 1)(2.0, 5.0)))


@pytest.mark.full
@forks
def test_forked_children() -> None:
    slope = adc.grad(cube)
    assert slope(2.0) == 12.0
    assert status(fork(lambda: slope(3.0) == 27.0 and adc.grad(product)(1.0, 4.0) == 8.0)) == 0
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_in_child, args=(slope, queue))
    process.start()
    assert queue.get(timeout=60) == (27.0, 4.0)
    process.join(60)
    assert slope(2.0) == 12.0


@forks
def test_a_fork_while_a_derivative_is_called_first(monkeypatch: pytest.MonkeyPatch) -> None:
    # The lock of `functools.cached_property` was held in the child: it hung, in Python 3.11.
    begun, forked = threading.Event(), threading.Event()
    made = Derivative._made

    def slow(self: Any, name: str, **way: Any) -> Any:
        if threading.current_thread() is thread:
            begun.set()
            forked.wait()
        return made(self, name, **way)

    monkeypatch.setattr(Derivative, "_made", slow)
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(adc.grad(cube)(1.0)))
    thread.start()
    begun.wait()
    ended = status(fork(lambda: adc.grad(cube)(2.0) == 12.0))
    forked.set()
    thread.join()
    assert (ended, found) == (0, [3.0])


@forks
def test_a_fork_waits_for_a_compilation() -> None:
    def work() -> None:
        for k in range(3):
            adc.grad(lambda x: x * x + x, cache=False)(float(k))

    thread = threading.Thread(target=work)
    thread.start()
    children = []
    while thread.is_alive():
        child = fork(lambda: adc.grad(cube)(2.0) == 12.0)
        children.append(child)
        assert status(child) == 0
    thread.join()
    assert children


def long(n: Any, x: Any) -> Any:
    s = 0.0
    for i in range(n):
        s += x * i * x
    return s


@pytest.mark.full
@alarms
def test_calls_inside_a_signal_handler() -> None:
    inside: list[Any] = []
    slope = adc.grad(long, 1)
    expected = slope(1000, 2.0)

    def handler(*_: object) -> None:
        if not inside:  # the next alarm may interrupt the compilation here
            inside.append(slope(1000, 2.0))  # the kernel that is interrupted
            inside.append(adc.grad(cube)(2.0))

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.05)
        while not inside:
            whole = slope(300_000_000, 2.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert inside[:2] == [expected, 12.0]
    assert whole == slope(300_000_000, 2.0)


def test_an_interrupt_as_numba_releases_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other threads would have waited for ever.
    release = type(compiler_lock).release

    def interrupted(self: Any) -> None:
        monkeypatch.setattr(type(compiler_lock), "release", release)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(compiler_lock), "release", interrupted)
    with pytest.raises(KeyboardInterrupt):
        adc.grad(cube, cache=False)(2.0)
    found: list[float] = []
    thread = threading.Thread(
        target=lambda: found.append(adc.grad(cube, cache=False)(2.0)), daemon=True
    )
    thread.start()
    thread.join(60)
    assert found == [12.0]


def test_compiling_inside_a_signal_handler_that_interrupts_a_compilation() -> None:
    found: list[Any] = []

    def handler(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            found.append(adc.grad(cube, cache=False)(2.0))
        except AdcError as error:
            found.append(error)

    adc.grad(squares, cache=False)(np.ones(3))  # imports what compiles, which nothing may interrupt
    old = signal.signal(signal.SIGALRM, handler)
    try:
        # One of these comes while LLVM compiles, however fast the machine is.
        delays = itertools.cycle([0.02 * k for k in range(1, 16)])
        while not any(isinstance(each, AdcError) for each in found):
            adc.release_memory()  # code of before, too: everything is compiled anew
            signal.setitimer(signal.ITIMER_REAL, next(delays))
            assert adc.grad(squares, cache=False)(np.ones(3))[0] == 2.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert "signal handler that interrupts a compilation" in str(found[-1])
    assert adc.grad(cube, cache=False)(2.0) == 12.0


# --- inspection -----------------------------------------------------------------------------------


def test_inspection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path / "cache"))
    built = adc.grad(squares)
    with pytest.raises(ArgumentError, match="nothing has been compiled yet"):
        built.ir()
    x = np.ones(3)
    built(x)
    adc.release_memory()  # as in another process: code is found on disk
    loaded = adc.grad(squares)
    loaded(x)
    assert built.cache_info() == {"hits": 0, "compiled": 1, "loaded": 0}
    assert loaded.cache_info() == {"hits": 0, "compiled": 0, "loaded": 1}
    for stage in ("frontend", "simplify", "adjoint", "remat", "storage"):
        assert loaded.ir(after=stage) == built.ir(after=stage)
        assert "squares" in built.ir(x, after=stage)
    assert loaded.source() == built.source(x)
    assert "def squares" in built.source()
    assert loaded.plan(x) == built.plan(x)
    assert str(built.plan()).startswith("plan (auto)")
    assert built.signatures() == ["squares(a: f64[:])"]
    with pytest.raises(ArgumentError, match=r"no stage named 'fusion'.*\n.*simplify"):
        built.ir(after="fusion")
    # Without a call before.
    assert adc.grad(squares).ir(x) == built.ir()


def test_inspection_shows_the_last_call() -> None:
    slope = adc.grad(cube)
    slope(1.0)
    slope(np.float32(1.0))
    slope(1.0)
    assert slope.ir() == slope.ir(1.0) != slope.ir(np.float32(1.0))
    assert slope.signatures() == ["cube(x: float)", "cube(x: f32)"]


def test_a_plan_for_every_policy() -> None:
    for remat in ("auto", "store", "recompute"):
        slope = adc.grad(weighted, 1, remat=remat)
        np.testing.assert_allclose(slope(2.0, np.ones(2)), [16.0, 16.0])
        assert slope.plan().policy == remat
