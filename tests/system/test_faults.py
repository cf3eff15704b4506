"""What a machine may do to a process: no crash, no argument changed, a clear error, all as before.

The faults of the cache are in `tests/unit/api/identity/test_cache.py`, a full disk under tapes in
`tests/unit/backend/test_offload.py`.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import adc
from adc.testing import programs, rows
from tests.forks import fork, forks, status
from tests.unit.backend.cpu.alarms import alarms, interrupted

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def bits(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(bits(part) for part in value)
    return np.asarray(value).tobytes()


def run(tmp_path: Path, program: str, *args: str) -> str:
    """Run a program, which must not crash, in a process of its own."""
    file = tmp_path / "program.py"
    file.write_text("import numpy as np, adc\n" + textwrap.dedent(program))
    ran = subprocess.run(
        [sys.executable, str(file), *args],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def relaxed(x: Any, s: Any) -> Any:
    y = x.copy()
    total = 0.0
    for _ in range(40):
        for i in range(1, len(y)):
            y[i] = np.tanh(y[i] + y[i - 1] * s)
        n = 0
        while n < 2 and y[1] < 9.0:
            y[n] += 0.1 * np.sin(y[n])
            n += 1
        total += np.sum(y * y)
    return total * s


# --- memory ---------------------------------------------------------------------------------------

NO_MEMORY = """
import _testcapi, collections, sys

def f(x, s):
    y = x.copy()
    for k in range(3):
        y = np.tanh(y * s) + x
        n = 0
        while n < 3 and y[0] < 9.0:
            y[n % 2] += 0.1 * np.sin(y[n])
            n += 1
    return np.sum(y * y) * s

def bits(found):
    return found[0].tobytes(), found[1][0].tobytes(), found[1][1]

options = {"plain": {}, "disk": {"offload": "disk"}, "threads": {"parallel": 2}}[sys.argv[1]]
gradient = adc.value_and_grad(f, (0, 1), **options)
x = np.linspace(0.0, 1.0, 50)
before, want = x.tobytes(), bits(gradient(x, 0.7))
outcomes = collections.Counter()
for n in range(int(sys.argv[2])):
    if n % 7 == 0:
        gradient._code.last.entry.kernel.release_memory()  # what calls keep is allocated again
    _testcapi.set_nomemory(n, n + 1)  # the n-th allocation from now on fails
    try:
        found = gradient(x, 0.7)
    except BaseException as error:
        _testcapi.remove_mem_hooks()
        outcomes[type(error).__name__] += 1
    else:
        _testcapi.remove_mem_hooks()
        outcomes["none"] += 1
        assert bits(found) == want, n
    assert x.tobytes() == before
    assert bits(gradient(x, 0.7)) == want, n
# (CPython and Numba replace a MemoryError by another error in a few places of theirs.)
assert set(outcomes) <= {"none", "MemoryError", "SystemError", "TypeError"}, outcomes
assert outcomes["MemoryError"] > 10 * (outcomes["SystemError"] + outcomes["TypeError"])
"""


@pytest.mark.full
@linux
@pytest.mark.parametrize("how", ["plain", pytest.param("disk", marks=pytest.mark.full), "threads"])
def test_every_allocation_may_fail(how: str, tmp_path: Path) -> None:
    pytest.importorskip("_testcapi")
    run(tmp_path, NO_MEMORY, how, "150")


# --- the stack ------------------------------------------------------------------------------------

DEEP = """
import threading

def deep(n, x):
    if n == 0:
        return x
    m = np.zeros((4, 4))
    for i in range(4):
        m[i, 3 - i] = np.sin(x * (1.0 + 0.1 * i))
    w = np.linalg.solve(m + 2.0 * np.eye(4), m @ np.array([x, 1.0, x * x, 0.5]))
    return deep(n - 1, x * 0.999 + 0.001 * w[0]) * np.tanh(w[1]) + w[2] * m[0, 3]

gradient = adc.value_and_grad(deep, 1)
want = gradient(50, 0.5)

def call(size):
    for _ in range(2):
        try:
            gradient(2900, 0.5)
        except RecursionError as error:
            assert "maximum recursion depth" in str(error)
            seen.append(size)
        assert gradient(50, 0.5) == want

seen = []
for size in (256 << 10, 512 << 10, 1 << 20):
    threading.stack_size(size)
    thread = threading.Thread(target=call, args=(size,))
    thread.start()
    thread.join()
assert seen[:2] == [256 << 10] * 2, seen
call(0)
"""


@pytest.mark.full
@linux
def test_recursion_ends_before_the_stack(tmp_path: Path) -> None:
    run(tmp_path, DEEP)


# --- files ----------------------------------------------------------------------------------------

DESCRIPTORS = """
import os, resource

def f(x):
    s = 0.0
    for i in range(len(x)):
        y = x[i]
        while y < 3.0:
            y = y + 0.5 + np.sin(y) ** 2
        s += y * y
    return s

gradient = adc.value_and_grad(f, offload="disk", remat="store")
x = np.linspace(0.0, 1.0, 2000)
want = gradient(x)[1].tobytes()
open_files = len(os.listdir("/proc/self/fd"))
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (open_files + 2, limits[1]))
held, failed = [], 0
for _ in range(4):
    try:
        assert gradient(x)[1].tobytes() == want
    except adc.AdcError as error:
        assert error.code == "ADC004" and "Too many open files" in str(error)
        failed += 1
    try:
        held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
assert failed >= 2
for each in held:
    os.close(each)
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
assert gradient(x)[1].tobytes() == want
assert len(os.listdir("/proc/self/fd")) <= open_files
"""


@pytest.mark.full
@linux
def test_no_descriptors_for_tapes(tmp_path: Path) -> None:
    run(tmp_path, DESCRIPTORS)


# --- signals and processes ------------------------------------------------------------------------


@pytest.mark.full
@alarms
@pytest.mark.parametrize(
    "options", [{}, {"offload": "disk"}, {"parallel": 2}], ids=["plain", "disk", "threads"]
)
def test_an_interrupt_at_any_moment_of_a_call(options: Any) -> None:
    """It arrives as what it is, also in the last instant: while results are made."""
    gradient = adc.value_and_grad(relaxed, (0, 1), **options)
    x = np.linspace(0.0, 1.0, 4000)
    want, before = bits(gradient(x, 0.5)), x.tobytes()
    start = time.monotonic()
    gradient(x, 0.5)
    seconds = time.monotonic() - start
    stopped = 0
    for k in range(24):
        found = interrupted(seconds * (k + 0.5) / 20, gradient, x, 0.5)
        if isinstance(found, KeyboardInterrupt):
            stopped += 1
        else:
            assert bits(found) == want
        assert x.tobytes() == before
    assert stopped >= 5
    assert bits(gradient(x, 0.5)) == want


@pytest.mark.full
@forks
@pytest.mark.parametrize("count", [8, pytest.param(80, marks=pytest.mark.full)])
def test_an_interrupt_at_any_call_of_a_compilation(count: int) -> None:
    """Nothing half made is left: the next call compiles, and is right.

    Numba and LLVM may be left in another state than they were, as by any Ctrl-C: in a child.
    """
    assert status(fork(lambda: _compiles_after_interrupts(count))) == 0


def _compiles_after_interrupts(count: int) -> bool:
    source = (
        "import numpy as np\ndef program(x, s):\n    y = x.copy()\n    for i in range(1, len(x)):\n"
    )
    source += "        y[i] = np.tanh(y[i - 1] * s) + x[i] * {}\n    return np.sum(y * y) * s\n"
    x = np.linspace(0.0, 1.0, 20)
    left, total = 0, 0

    def trace(frame: Any, event: str, arg: Any) -> None:
        nonlocal left, total
        if event == "call":
            total += 1
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def call(fn: Any) -> Any:
        sys.setprofile(trace)
        try:
            return adc.value_and_grad(fn, (0, 1))(x, 0.7)
        finally:
            sys.setprofile(None)

    call(programs.load(source.format(0.3)))
    total = 0
    call(programs.load(source.format(0.4)))
    every, rng = total, random.Random(count)
    stopped = 0
    for k in range(count):
        fn = programs.load(source.format(0.5 + k / 1024))
        left = rng.randrange(1, every)
        try:
            call(fn)
        except KeyboardInterrupt:
            stopped += 1
        left = 0
        want = adc.value_and_grad(fn, (0, 1), target="python")(x, 0.7)
        assert bits(adc.value_and_grad(fn, (0, 1))(x, 0.7)) == bits(want)
    return stopped >= count // 2


@pytest.mark.full
def test_an_interrupt_in_a_callback_of_llvm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would be lost there, and the machine code with it: none is made or loaded through one."""
    program = """
        import sys
        from adc.testing import programs

        def trace(frame, event, arg):
            hooks = ("_object_compiled_hook", "_object_getbuffer_hook")
            if event == "call" and frame.f_code.co_name in hooks:
                made = getattr(frame.f_locals["ll_module"], "_CPUCodeLibrary__library", None)
                if made is not None and "program" in made.name:  # not what Numba has of its own
                    raise KeyboardInterrupt

        source = "import numpy as np\\ndef program(x):\\n    return np.sum(np.tanh(x))\\n"
        fn = programs.load(source)
        sys.setprofile(trace)
        print(adc.grad(fn)(np.zeros(3)))
        """
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path / "cache"))
    for _ in ("compiled", "loaded from the disk"):
        assert run(tmp_path, program) == "[1. 1. 1.]\n"
        assert any((tmp_path / "cache").iterdir())


@pytest.mark.full
@forks
def test_a_fork_while_threads_share_a_loop() -> None:
    gradient = adc.value_and_grad(elements, parallel=2)
    x = np.linspace(0.0, 1.0, 4000)
    want = bits(gradient(x))
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            gradient(x)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert status(fork(lambda: bits(gradient(x)) == want)) == 0
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@forks
def test_a_fork_while_another_thread_frees_machine_code() -> None:
    """The child's garbage collector frees some, too: LLVM's lock is free there."""
    gradient = adc.value_and_grad(elements)
    x = np.linspace(0.0, 1.0, 40)
    want = bits(gradient(x))
    begun = threading.Event()

    def free() -> None:
        with llvm.ffi.lib._lock:
            begun.set()
            time.sleep(0.3)

    thread = threading.Thread(target=free)
    thread.start()
    begun.wait()
    # Nobody else would notice what waits for the lock.
    assert status(fork(lambda: bool(llvm.parse_assembly("")) and bits(gradient(x)) == want)) == 0
    thread.join()


def elements(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        t = x[i]
        for _ in range(40):
            t = np.sin(t) + x[i]
        y[i] = t
    return np.sum(y * y)


# --- numbers and arrays ---------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("wrong", "dtype"),
    [
        pytest.param(rows.wrong_values, "f64"),
        pytest.param(rows.wrong_values, "f32", marks=pytest.mark.full),
        pytest.param(rows.wrong_slopes, "f64", marks=pytest.mark.full),
        pytest.param(rows.wrong_slopes, "f32", marks=pytest.mark.full),
    ],
)
def test_every_row_of_nans_infinities_and_denormal_numbers(wrong: Any, dtype: str) -> None:
    """In vectors, and in their remainders; so are the largest numbers."""
    rng = np.random.default_rng(0)
    for batch in rows.batches(dtype, scipy=False):
        assert wrong(batch, dtype, rng, special=True) == []


def written(x: Any, w: Any) -> Any:
    y = x * w
    for i in range(1, len(y)):
        y[i] += y[i - 1] * 0.5
    y[1:] *= 2.0
    return np.sum(y * y) + np.sum(x)


@pytest.mark.full
def test_arrays_that_lie_in_any_way() -> None:
    x, w = np.linspace(1.0, 2.0, 7), np.linspace(0.5, 1.5, 7)
    gradient = adc.value_and_grad(written, (0, 1))
    want = gradient(x, w)
    buffer = np.zeros(8 * 7 + 1, np.uint8)
    misaligned = np.ndarray((7,), "f8", buffer, 1)
    every_other = np.zeros(14)[::2]
    locked, backwards = x.copy(), x[::-1].copy()[::-1]
    locked.flags.writeable = False
    for each in (misaligned, every_other):
        each[:] = x
    assert not misaligned.flags.aligned
    for each in (misaligned, every_other, locked, backwards):
        before = each.tobytes()
        assert bits(gradient(each, w)) == bits(want)
        assert each.tobytes() == before
    for other in (x.astype(">f8"), x.astype(">i4"), x.astype(">c16")):
        with pytest.raises(adc.AdcError, match=r"byte order|astype") as caught:
            gradient(other, w)
        assert caught.value.code == "ADC020"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "shape", [s for s in itertools.product((0, 2), repeat=3) if 0 in s], ids=str
)
def test_sizes_of_zero(shape: tuple[int, int, int]) -> None:
    def loss(a: Any, b: Any) -> Any:
        c = np.tanh(a @ b)
        total = np.sum(c) + np.sum(np.cumsum(c, axis=0)) + np.prod(c + 1.0)
        for i in range(a.shape[0]):
            total += np.sum(a[i] * 2.0)
        return total

    n, k, m = shape
    args = np.ones((n, k)), np.ones((k, m))
    value, slopes = adc.value_and_grad(loss, (0, 1))(*args)
    assert value == loss(*args)
    assert [each.shape for each in slopes] == [(n, k), (k, m)]
    want = adc.value_and_grad(loss, (0, 1), target="python")(*args)
    assert bits((value, slopes)) == bits(want)


@pytest.mark.full
@linux
def test_more_elements_than_32_bits_count(tmp_path: Path) -> None:
    """In a sparse file, which takes no room on the disk."""
    size = 2**31 + 1000
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(size)
    x = np.memmap(path, np.int8, "r+", shape=(size,))
    x[[3, 2**31 - 1, 2**31, -3]] = 1, 7, 2, 5

    def ends(x: Any, s: Any) -> Any:
        t = 0.0
        for i in range(len(x) - 1, len(x) - 2000, -1):
            t += x[i] * s
        return t + x[2147483648] * s * s + x[-3] * s + np.sum(x[:: 1 << 20] * s)

    def whole(x: Any, s: Any) -> Any:
        t = 0
        for i in range(len(x)):
            t += x[i]
        return t * s

    def matrix(m: Any, s: Any) -> Any:
        return m[65535, 32767] * s * s + np.sum(m[::4096, ::8192] * s)

    assert adc.value_and_grad(ends, 1)(x, 2.0) == (ends(x, 2.0), 7 + 5 + 2 + 2 * 2 * 2 + 5 + 2)
    for parallel in (False, 2):
        assert adc.value_and_grad(whole, 1, parallel=parallel)(x, 2.0) == (30.0, 15.0)
    m = x[: 2**31].reshape(65536, 32768)
    assert adc.value_and_grad(matrix, 1)(m, 3.0) == (63.0, 42.0)


def test_sizes_that_no_memory_has() -> None:
    def loss(n: int, s: Any) -> Any:
        return np.sum(np.zeros(n) * s)

    gradient = adc.value_and_grad(loss, 1)
    for n in (2**40, 2**62):
        with pytest.raises(MemoryError):
            gradient(n, 1.0)
    with pytest.raises(ValueError, match="negative dimensions"):
        gradient(-1, 1.0)
    assert gradient(3, 1.0) == (0.0, 0.0)
