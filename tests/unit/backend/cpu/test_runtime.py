"""Running code: interruption, threads, memory, and work in proportion to the program's."""

from __future__ import annotations

import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.api.derivative import Derivative
from adc.ir.core import Apply, For, While, walk
from tests.unit.backend.cpu.alarms import alarms, interrupted

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def kernel(derivative: Derivative) -> Any:
    """Return the kernel of the last call."""
    last = derivative._code.last
    assert last is not None
    return last.entry.kernel


# --- interruption ---------------------------------------------------------------------------------

# Each runs for ten seconds or more unless it is interrupted. A gradient alone has no forward loop
# here, as nothing in it is needed.
LONG = """
import signal, sys, time
import numpy as np
import adc

def loop(n, x):
    s = 0.0
    for i in range(n):
        s += x * x * i
    return s

def nested(n, x):
    s = 0.0
    for i in range(n):
        for j in range(1000):
            s += x * x * j * i
    return s

def short_inside(n, x):
    s = 0.0
    for i in range(n):
        for j in range(3):
            s += x * x * j * i
    return s

def innermost(n, x):
    # Signals are looked for before each run of an inner loop, not in it.
    s = 0.0
    for i in range(100):
        for j in range(n):
            s += x * x * j * i
    return s

def while_loop(n, x):
    s = 0.0
    i = 0
    while i < n:
        s += x * x * i
        i += 1
    return s

def branches(n, x):
    s = 0.0
    for i in range(n):
        if i % 3 == 0:
            s += x * x
        else:
            s -= x * x * x
    return s

def recursion(n, x):
    if n < 2:
        return x * x * n
    return recursion(n - 1, x) + recursion(n - 2, x)

CASES = [
    (adc.value_and_grad, loop, 30_000_000_000),
    (adc.grad, loop, 30_000_000_000),
    (adc.grad, nested, 30_000_000),
    (adc.grad, short_inside, 10_000_000_000),
    (adc.grad, innermost, 100_000_000),
    (adc.value_and_grad, while_loop, 30_000_000_000),
    (adc.grad, while_loop, 30_000_000_000),
    (adc.grad, branches, 10_000_000_000),
    (adc.grad, recursion, 60),
]

# A process that was started in the background ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
for make, fn, n in CASES[:: int(sys.argv[1])]:
    derivative = make(fn, 1)
    before = derivative(4, 2.0)
    try:
        print(f"{make.__name__}-{fn.__name__}", flush=True)
        derivative(n, 2.0)
        print("not interrupted", flush=True)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    assert derivative(4, 2.0) == before
print("done", flush=True)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process")
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.full)])
def test_keyboard_interrupt(
    every: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "long.py"
    path.write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, str(path), str(every)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    latencies: dict[str, float] = {}
    assert process.stdout is not None
    try:
        while (name := process.stdout.readline().strip()) != "done":
            time.sleep(0.2)  # by now it is in compiled code
            assert process.poll() is None
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            latencies[name] = float(process.stdout.readline()) - sent
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    for name, latency in latencies.items():
        record_property(name, latency)
        print(f"{name}: {1000 * latency:.0f} ms")
    # It is meant to be 0.2 s; the machine may be busy.
    assert len(latencies) == 9 // every
    assert max(latencies.values()) < 1.0, latencies


class Stop(Exception):
    pass


def call_for_ever(slope: Any) -> None:
    while True:
        slope(3_000_000, 0.3)


def taped(n: Any, x: Any) -> Any:
    s = x
    for i in range(n):
        s = 0.5 * s * (1.0 - s) + 0.001 * i
    return s


@pytest.mark.full
@alarms
def test_any_exception_of_a_handler_arrives() -> None:
    """And memory of the call that was given up is used again."""
    slope = adc.grad(taped, 1, remat="store")
    expected = slope(1000, 0.3)
    for _ in range(3):
        assert isinstance(interrupted(0.1, call_for_ever, slope, error=Stop), Stop)
    assert slope(1000, 0.3) == expected
    gc.collect()
    assert len(kernel(slope)._alive()) == 1


@pytest.mark.full
@alarms
def test_any_exception_of_a_handler_arrives_while_results_are_made() -> None:
    """Which is where the interpreter calls the handler if the code is done before it looks."""

    def call_for_ever() -> None:
        while True:
            slope(u, 10_000)

    slope, u = adc.grad(carried), 1e-3 * sample(100)
    expected = slope(u, 10)
    for k in range(30):
        found = interrupted(0.01 + 0.0005 * k, call_for_ever, error=Stop)
        assert isinstance(found, Stop)
    np.testing.assert_array_equal(slope(u, 10), expected)


# --- threads --------------------------------------------------------------------------------------


def workspace(a: Any, n: Any) -> Any:
    """Need workspace, and a tape."""
    b = np.zeros(n)
    s = 0.5
    for i in range(n):
        b[i] = a[i] * s
        s = 0.5 * s * (1.0 - s) + 0.01 * b[i] * b[i]
    t = 0.0
    for i in range(n):
        t += b[i] * b[n - 1 - i]
    return t + s


def sample(n: int) -> np.ndarray[Any, Any]:
    return np.linspace(0.1, 0.2, n)


@pytest.mark.full
def test_threads_do_not_share_memory() -> None:
    slope = adc.grad(workspace)
    sizes = [1000, 3000, 20_000, 100_000]
    expected = {n: adc.grad(workspace)(sample(n), n) for n in sizes}
    wrong: queue.SimpleQueue[int] = queue.SimpleQueue()

    def work(k: int) -> None:
        for j in range(40):
            n = sizes[(j + k) % len(sizes)]
            if not np.array_equal(slope(sample(n), n), expected[n]):
                wrong.put(n)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong.empty()
    # What the threads had is gone with them.
    gc.collect()
    assert kernel(slope).nbytes == 0


@pytest.mark.full
def test_other_threads_go_on() -> None:
    slope = adc.grad(taped, 1, remat="recompute")
    slope(10, 0.3)
    thread = threading.Thread(target=slope, args=(20_000_000, 0.3))
    thread.start()
    steps = 0
    while thread.is_alive():
        time.sleep(0.001)
        steps += 1
    thread.join()
    assert steps > 10


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.full
def test_memory_is_used_again() -> None:
    slope, n = adc.grad(workspace), 10_000
    x = sample(n)
    for _ in range(3):
        slope(x, n)
    held = kernel(slope).nbytes
    assert 0 < held < 100 * x.nbytes
    tracemalloc.start()
    try:
        slope(x, n)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            slope(x, n)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kernel(slope).nbytes == held
    assert grown < x.nbytes // 2


@pytest.mark.full
def test_calls_of_different_sizes() -> None:
    slope = adc.grad(workspace)
    sizes = [10, 5000, 0, 300, 5000, 20_000, 7, 20_000, 1000]
    expected = {n: adc.grad(workspace, cache=False)(sample(n), n) for n in set(sizes)}
    most = 0
    for k, n in enumerate(sizes * 3):
        np.testing.assert_array_equal(slope(sample(n), n), expected[n])
        if k == len(sizes):
            most = kernel(slope).nbytes
    assert kernel(slope).nbytes == most


def carried(x: np.ndarray, n: int) -> float:
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a * 0.5 + b * 0.3  # both outlive the iteration, and change places
        t = np.exp(a) * b  # this one does not, and has no room in the first call
        b = b + 1e-6 * t
    return np.sum(a * b)


@pytest.mark.full
def test_first_call_frees_what_has_no_room() -> None:
    x, forward, slope = 1e-3 * sample(20_000), adc.jit(carried), adc.grad(carried)
    forward(x[:1], 1)
    tracemalloc.start()
    forward(x, 400)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20 * x.nbytes
    first = slope(x, 40)
    for _ in range(3):
        np.testing.assert_array_equal(slope(x, 40), first)
    step = 1e-4 * np.cos(np.arange(len(x)))
    rise = carried(x + step, 40) - carried(x - step, 40)
    assert 2 * np.sum(first * step) == pytest.approx(rise, rel=1e-5)


def test_release_memory() -> None:
    slope, n = adc.grad(workspace), 10_000
    other = adc.grad(taped, 1, remat="store")
    expected = slope(sample(n), n)
    slope(sample(n), n)
    other(1000, 0.3)
    assert kernel(slope).nbytes > 0
    assert kernel(other).nbytes > 0
    adc.release_memory()
    assert kernel(slope).nbytes == kernel(other).nbytes == 0
    np.testing.assert_array_equal(slope(sample(n), n), expected)


@pytest.mark.full
def test_release_memory_while_others_run() -> None:
    slope, n = adc.grad(workspace), 2000
    expected = slope(sample(n), n)
    stop, wrong = threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            if not np.array_equal(slope(sample(n), n), expected):
                wrong.append(n)

    threads = [threading.Thread(target=work) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            adc.release_memory()
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


@pytest.mark.full
def test_derivatives_that_are_gone_hold_no_memory() -> None:
    from adc.compiler import dispatch

    slope = adc.grad(workspace)
    slope(sample(100), 100)
    slope = adc.grad(taped, 1)
    gc.collect()
    present = len(dispatch._kernels)
    for _ in range(3):
        adc.grad(workspace)(sample(100), 100)
    gc.collect()
    assert len(dispatch._kernels) == present


def make_arrays(n: Any, x: Any) -> Any:
    a = np.zeros(n)
    for i in range(n):
        a[i] = x * i
    return x * x, a


def test_results_belong_to_the_caller() -> None:
    slope = adc.grad(make_arrays, 1, has_aux=True)
    _, first = slope(1000, 2.0)
    _, second = slope(1000, 3.0)
    assert first.flags.writeable
    np.testing.assert_array_equal(first, 2.0 * np.arange(1000))
    first[:] = 0.0
    adc.release_memory()
    np.testing.assert_array_equal(second, 3.0 * np.arange(1000))


# --- work -----------------------------------------------------------------------------------------


def stores(a: Any) -> Any:
    n = len(a)
    b = np.zeros(n)
    b[0] = a[0]
    for i in range(1, n):
        b[i] = b[i - 1] * a[i] + a[i]
        a[i] = b[i] * a[i - 1]
    s = 0.0
    for i in range(n):
        s += b[i] * a[i]
    return s


def swaps(a: Any) -> Any:
    b = a.copy()
    for k in range(5):
        for i in range(1, len(a)):
            b[i] = a[i - 1] * 0.5 + a[i] * k
        a, b = b, a
    s = 0.0
    for v in a:
        s += v * v
    return s


@pytest.mark.full
@pytest.mark.parametrize("fn", [stores, swaps])
@pytest.mark.parametrize("remat", ["auto", "store"])
def test_a_store_of_an_element_is_no_copy_of_an_array(fn: Any, remat: str) -> None:
    slope = adc.grad(fn, remat=remat)
    slope(sample(10))
    last = slope._code.last
    assert last is not None
    form = last.compilation.trace.after("storage")
    copies = [
        inner
        for stmt in walk(form.body)
        if isinstance(stmt, For | While)
        for inner in walk((stmt,))
        if isinstance(inner, Apply) and inner.op.name in ("copy", "store")
    ]
    if fn is stores:
        assert not copies

    def seconds(n: int) -> float:
        x, times = sample(n), []
        for _ in range(5):
            start = time.perf_counter()
            slope(x)
            times.append(time.perf_counter() - start)
        return min(times)

    # A copy for every store would be a hundred times.
    assert seconds(100_000) < 30 * seconds(10_000)


# --- recursion ------------------------------------------------------------------------------------


def countdown(n: Any, x: Any) -> Any:
    if n == 0:
        return x
    return countdown(n - 1, x) * 0.5 + x


def endless(n: Any, x: Any) -> Any:
    if n < 0:
        return x
    return endless(n + 1, x) * x


def test_deep_recursion() -> None:
    slope = adc.grad(countdown, 1)
    assert slope(2000, 1.0) == 2.0
    assert slope(3, 1.0) == 1.875


def test_endless_recursion() -> None:
    slope = adc.grad(endless, 1)
    for _ in range(3):
        with pytest.raises(RecursionError):
            slope(0, 0.5)
    assert slope(-1, 2.0) == 1.0
