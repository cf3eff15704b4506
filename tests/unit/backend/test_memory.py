"""Memory of calls: as much as is computed, nothing new when calls repeat, pages used again."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.api.derivative import Derivative
from adc.backend.runtime.memory import POOL, Block, Pool
from adc.inspect.plan import PlanReport

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
    adc.release_memory()


def kernel(derivative: Derivative) -> Any:
    last = derivative._code.last
    assert last is not None
    return last.entry.kernel


def memory(derivative: Derivative) -> Any:
    return kernel(derivative)._local.memory


def sample(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape)


# --- the computed peak ----------------------------------------------------------------------------


def statements(x: Any, w: Any) -> Any:
    a = np.sin(x)
    b = a * w
    c = np.exp(b - np.max(b))
    d = c / np.sum(c)
    e = np.cumsum(d) * a
    g = np.tanh(e[::-1] + b)
    h = np.cumsum(g * g)
    return np.sum(np.sqrt(1.0 + h * h) * e)


def network(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    y = np.tanh(x @ w1 + b1) @ w2 + b2
    return np.sum(y * y)


def softmax(x: Any, t: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return -np.sum(t * np.log(e / np.sum(e, axis=1, keepdims=True)))


def layer_norm(x: Any, g: Any, b: Any) -> Any:
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return np.sum(np.sin((x - m) / np.sqrt(v + 1e-5) * g + b))


def recurrent(x: Any, w: Any) -> Any:
    h, s = 0.0, 0.0
    for i in range(len(x)):
        h = np.tanh(h * w + x[i])
        s += h * h
    return s


def table(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        h = w
        for j in range(x.shape[1]):
            h = np.sin(h * x[i, j]) + 0.5 * h
        s += h
    return s


def rows(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        row = np.tanh(x[i] * w)
        s += np.sum(row * np.cos(row))
    return s


def scaled(x: Any, w: Any) -> Any:
    y = np.exp(x * w)
    return y * np.sum(y)


def through_a_call(x: Any, w: Any) -> Any:
    y = scaled(x, w)
    return np.sum(scaled(y * 1e-3, w))


def counted(x: Any, n: Any) -> Any:
    a = np.zeros(2 * n + 100)
    for i in range(n):
        a[i] = x[i] * x[i]
    return np.sum(np.sin(a))


PEAKS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (statements, (sample(20_000), sample(20_000))),
    (network, (sample(64, 96), sample(96, 128), sample(128), sample(128, 80), sample(80))),
    (softmax, (sample(100, 128), abs(sample(100, 128)))),
    (layer_norm, (sample(100, 128), sample(128), sample(128))),
    (recurrent, (sample(20_000), 0.3)),
    (table, (sample(100, 200), 0.3)),
    (rows, (sample(100, 200), sample(200))),
    (through_a_call, (0.1 * sample(20_000), 0.3)),
    (counted, (sample(5000), 5000)),
]


@pytest.mark.full
@pytest.mark.parametrize("remat", ["auto", "store"])
@pytest.mark.parametrize(("fn", "args"), PEAKS, ids=[fn.__name__ for fn, _ in PEAKS])
def test_a_call_uses_what_is_computed(fn: Any, args: tuple[Any, ...], remat: str) -> None:
    gradient: Derivative = adc.grad(fn, remat=remat)
    plan = gradient.plan(*args)
    assert plan.peak_bytes is not None
    for _ in range(3):
        gradient(*args)
        # Every array begins at a multiple of 64.
        assert plan.peak_bytes <= kernel(gradient).peak <= 1.02 * plan.peak_bytes + 64
    # What is held besides: room for the alignment of the workspace, and of small tapes.
    assert kernel(gradient).nbytes <= 1.02 * plan.peak_bytes + 3 * 4096
    assert gradient.plan().peak_bytes == kernel(gradient).peak
    assert PlanReport.from_json(plan.to_json()) == plan
    assert str(plan).splitlines()[-1] == plan.peak_text()
    assert plan.peak_text() in plan._repr_html_()


@pytest.mark.full
def test_the_formula() -> None:
    x = sample(50)
    plan = adc.grad(statements, (0, 1)).plan(x, x)
    assert plan.peak_text() == "peak: 48*x.dim0 = 2400 bytes"
    # Iterations are run with their reverse code: what one keeps, the next one overwrites.
    assert adc.grad(table).plan(sample(3, 4), 0.5).peak_text() == "peak: 8*x.dim1 = 32 bytes"


def until(x: Any) -> Any:
    while x < 100.0:
        x = x * x + np.sin(x)
    return x


def test_what_only_a_run_knows() -> None:
    gradient = adc.grad(until)
    plan = gradient.plan(2.0)
    assert plan.peak_bytes is None
    line = until.__code__.co_firstlineno + 1
    assert plan.peak_text() == f"peak: 8*W0.n bytes (W0.n of line {line})"
    gradient(2.0)
    assert gradient.plan().peak_text() == "peak: 8*W0.n = 32 bytes"


def branching(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            for _ in range(7):
                s = np.sin(s * w) + x[i]
    return s


def test_arms_of_branches_are_counted_as_if_they_always_ran() -> None:
    x = sample(20_000)
    gradient = adc.grad(branching)
    plan = gradient.plan(x, 0.3)
    assert plan.peak_text().startswith("peak: at most ")
    gradient(x, 0.3)
    assert plan.peak_bytes is not None
    assert kernel(gradient).peak <= plan.peak_bytes


def turns(x: Any, n: Any) -> Any:
    a, b = x * 1.0, x * 2.0
    for _ in range(n):
        a, b = b, a * 0.5 + np.sin(b)
    return np.sum(a * b)


@pytest.mark.full
def test_arrays_that_loops_hand_on_are_counted() -> None:
    plan = adc.grad(turns).plan(sample(10), 3)
    assert plan.peak_text() == "peak: at most 8*n*x.dim0 + 56*x.dim0 = 800 bytes"
    assert PlanReport.from_json(plan.to_json()) == plan


def test_counts_that_only_a_run_knows_can_be_given() -> None:
    plan = adc.grad(until).plan(2.0)
    assert plan.peak is not None
    assert plan.peak.at((2.0,), {"W0.n": 10}) == 80


PEAK_OF_PROCESS = """
import numpy as np
import adc
from tests.unit.backend.test_memory import statements

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

x, w = np.linspace(0.1, 1.0, 1_000_000), np.linspace(0.2, 0.9, 1_000_000)
gradient = adc.grad(statements, (0, 1))
gradient(x[:10], w[:10])
expected = gradient.plan(x, w).peak_bytes + 2 * x.nbytes
for _ in range(3):
    adc.release_memory()
    gradient(x[:10], w[:10])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    gradient(x, w)
    print((status("VmHWM") - before) / expected)
"""


@pytest.mark.full
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs Linux")
def test_a_process_grows_by_what_is_computed() -> None:
    env = {**os.environ, "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", PEAK_OF_PROCESS], env=env, cwd=ROOT, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for ratio in map(float, done.stdout.split()):
        assert ratio == pytest.approx(1.0, abs=0.02)


# --- calls that repeat ----------------------------------------------------------------------------


def sized(x: Any, n: Any) -> Any:
    s = 0.0
    for k in range(1, n):
        a = np.sin(x[:k])
        b = a * np.cos(a)
        if s < 1e9:
            s += np.sum(b) * np.sum(a)
    return s


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args"),
    [*[(fn, args) for fn, args in PEAKS[:8]], (sized, (sample(60), 60)), (until, (2.0,))],
)
def test_calls_that_repeat_allocate_nothing(fn: Any, args: tuple[Any, ...]) -> None:
    gradient: Derivative = adc.grad(fn)
    for _ in range(3):
        gradient(*args)
    held, state = kernel(gradient).nbytes, memory(gradient).state.copy()
    made = memory(gradient).allocations
    tracemalloc.start()
    gradient(*args)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for _ in range(400):
        gradient(*args)
    gc.collect()
    now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now - before < 24_000  # of the test's own: 40 bytes a call
    # Gradients aside, which are there one after the other.
    assert most - before < 200_000 + (0 if isinstance(args[0], float) else 2 * args[0].nbytes)
    assert kernel(gradient).nbytes == held
    assert memory(gradient).allocations == made
    np.testing.assert_array_equal(memory(gradient).state[6:8], state[6:8])
    np.testing.assert_array_equal(memory(gradient).state[16:], state[16:])


@pytest.mark.full
def test_small_calls_after_a_large_one() -> None:
    gradient = adc.grad(statements)
    large, small = sample(200_000), sample(100)
    expected = gradient(small, small)
    for _ in range(2):
        gradient(large, large)
    held = kernel(gradient).nbytes
    assert held > 48 * 200_000
    for _ in range(70):
        np.testing.assert_array_equal(gradient(small, small), expected)
    assert kernel(gradient).nbytes < 48 * 200
    for _ in range(100):  # now and then is often enough
        for _ in range(10):
            gradient(small, small)
        gradient(large, large)
    assert kernel(gradient).nbytes == held


# --- returned arrays ------------------------------------------------------------------------------


def doubled(x: Any) -> Any:
    return np.sum(x * x)


def test_pages_of_dropped_results_are_used_again() -> None:
    gradient, x = adc.grad(doubled), sample(50_000)
    for _ in range(2):
        found = gradient(x)
    at = found.ctypes.data
    assert at % 64 == 0
    del found
    assert gradient(x).ctypes.data == at


def test_memory_is_not_used_again_while_a_view_lives() -> None:
    gradient, x = adc.grad(doubled), sample(50_000)
    gradient(x)
    views: list[Any] = []
    for k in range(20):
        found = gradient(x * k)
        views += [found[::7].reshape(-1, 1).T, memoryview(found[100:]), found.view(np.int64)]
        del found
    for k in range(20):
        some, rest, words = views[3 * k : 3 * k + 3]
        np.testing.assert_array_equal(some[0], (2.0 * x * k)[::7])
        np.testing.assert_array_equal(np.asarray(rest), (2.0 * x * k)[100:])
        np.testing.assert_array_equal(words.view(float), 2.0 * x * k)
        assert not any(np.shares_memory(some, views[3 * j]) for j in range(k))


def test_results_are_ordinary_arrays() -> None:
    gradient, x = adc.grad(doubled), sample(300, 300)
    gradient(x)
    found = gradient(x)
    assert type(found) is np.ndarray
    assert found.flags.writeable
    assert found.flags.c_contiguous
    assert found.flags.aligned
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), found.copy()):
        np.testing.assert_array_equal(other, 2.0 * x)
        assert not np.may_share_memory(other, found)
    found[0, 0] = 7.0
    assert gradient(x)[0, 0] == 2.0 * x[0, 0]
    assert found[0, 0] == 7.0
    adc.release_memory()
    assert found[0, 0] == 7.0
    with pytest.raises(ValueError, match="own its data"):
        found.resize(10)


def test_results_of_other_sizes() -> None:
    gradient = adc.grad(doubled)
    for n in [100, 50_000, 50_001, 50_000, 3, 0, 60_000, 60_000, 8192, 8191]:
        x = sample(n)
        np.testing.assert_array_equal(gradient(x), 2.0 * x)
    assert memory(gradient)._large == {}


def checked(x: Any) -> Any:
    s = np.sum(x * x)
    if s > 1e6:
        raise ValueError("too large")
    return s


def test_a_call_that_fails_gives_its_memory_back() -> None:
    gradient, x = adc.grad(checked), sample(50_000)
    for _ in range(3):
        gradient(x)
    held = POOL.nbytes
    for _ in range(5):
        with pytest.raises(ValueError, match="too large"):
            gradient(1e3 * x)
        assert POOL.nbytes == held
    np.testing.assert_array_equal(gradient(x), 2.0 * x)


def test_results_in_many_threads() -> None:
    gradient = adc.grad(doubled)
    wrong: list[int] = []
    gradient(sample(50_000))

    def work(k: int) -> None:
        kept: list[tuple[float, np.ndarray]] = []
        for j in range(100):
            x = np.full(20_000 + 10_000 * (j % 3), float(k * 100 + j))
            kept.append((2.0 * x[0], gradient(x)))
            if j % 4 == 0:
                wrong.extend(1 for value, found in kept if np.any(found != value))
                kept = kept[-3:]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            adc.release_memory()
            thread.join(0.01)
    assert not wrong


def test_the_pool_is_bounded() -> None:
    pool = Pool(limit=1000, age=10)

    def lend(size: int) -> Block:
        return pool.take(size)

    blocks = [lend(100 + k) for k in range(50)]
    del blocks
    assert 0 < pool.nbytes <= 1000
    large = lend(2000)
    del large
    assert pool.nbytes <= 1000
    for _ in range(30):  # unused memory is released
        lend(200)
    assert pool.nbytes == 200
    pool.clear()
    assert pool.nbytes == 0


def test_a_block_that_comes_back_while_the_pool_is_busy() -> None:
    pool = Pool()
    block = pool.take(100)
    with pool._lock:
        del block  # the collector may do this anywhere
        other = pool.take(100)
    assert pool.nbytes == 0
    del other
    assert pool.nbytes == 100


def test_release_memory_empties_everything() -> None:
    gradient, x = adc.grad(statements), sample(50_000)
    for _ in range(3):
        gradient(x, x)
    assert POOL.nbytes > 0
    held: list[int] = []

    def work() -> None:
        for _ in range(3):
            gradient(x, x)
        held.append(kernel(gradient).nbytes)
        done.set()
        stop.wait(30)

    done, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    done.wait(30)
    adc.release_memory()
    assert POOL.nbytes == 0
    assert kernel(gradient).nbytes == 0
    assert held[0] > 56 * 50_000
    stop.set()
    thread.join()
    np.testing.assert_array_equal(gradient(x, x), gradient(x, x))


def product_and_factor(stack: Any, h: Any) -> Any:
    """The copy of a row is a factor, and a result."""
    a = stack[1].copy()
    return h @ a, {"factor": a}


@pytest.mark.full
def test_results_are_not_parts_of_arguments() -> None:
    stack, h = np.arange(18.0).reshape(2, 3, 3), np.ones((3, 3))
    found = [adc.jit(product_and_factor)(stack, h), adc.vjp(product_and_factor, stack, h)[0]]
    aux = adc.value_and_grad(lambda w, h: (np.sum(h @ w[1].copy()), w[1].copy()), has_aux=True)
    found.append(aux(stack, h)[0])
    for _, result in found:
        factor = result["factor"] if isinstance(result, dict) else result
        np.testing.assert_array_equal(factor, stack[1])
        assert not np.shares_memory(factor, stack)
