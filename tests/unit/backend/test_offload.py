"""Tapes in files: the same bits, nothing left of the files, and room for what memory has not."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import cli
from adc.api.derivative import Derivative
from adc.backend import cpu
from adc.backend.runtime.memory import Memory
from adc.backend.runtime.offload import Files, folder
from adc.compiler import planning
from adc.inspect.plan import PlanReport
from adc.ir.analysis.costs import SHIPPED
from adc.ir.errors import ArgumentError, DiskError, MemoryBudgetError
from tests.corpus.program import Program
from tests.corpus.programs import differentiable
from tests.forks import fork, forks, status
from tests.unit.backend.cpu.alarms import alarms, interrupted

ROOT = Path(__file__).resolve().parents[3]
POLICIES = ("auto", "store", "revolve:2:1:all", "random:1")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
    adc.release_memory()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of the files; nothing may be left of them, in it or open."""
    found = tmp_path / "tapes"
    found.mkdir()
    monkeypatch.setenv("ADC_OFFLOAD_DIR", str(found))
    yield found
    assert list(found.iterdir()) == []
    assert _open_in(found) == []


def _open_in(place: Path) -> list[str]:
    """Return the files in a folder that this process has open, or mapped."""
    if sys.platform != "linux":
        return []
    found = [
        line for line in Path("/proc/self/maps").read_text().splitlines() if str(place) in line
    ]
    for each in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(each)
        except FileNotFoundError:  # that of the folder itself
            continue
        if str(place) in target:
            found.append(target)
    return found


def kernel(derivative: Derivative) -> Any:
    last = derivative._code.last
    assert last is not None
    return last.entry.kernel


def steps(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = np.sin(u) + 0.1 * u * u
    return np.sum(u)


def sample(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape)


# --- no bit changes -------------------------------------------------------------------------------


def _cases() -> Iterator[Any]:
    for program in differentiable():
        chosen = POLICIES[program.number(len(POLICIES))]
        often = bool(program.tags & {"recursive", "while", "exit"})
        sampled = pytest.mark.sampled(100 if often else 400)
        yield pytest.param(program, chosen, marks=sampled, id=f"{program}-{chosen}")


@pytest.mark.parametrize(("program", "policy"), list(_cases()))
def test_corpus(program: Program, policy: str) -> None:
    gradient = adc.value_and_grad(program.fn, program.argnums, remat=policy, offload="disk")
    code = gradient._code
    values = code.match(program.make_args(), {})
    compiled, hidden = code.find(values)
    assert compiled.entry.kernel.offload
    assert compiled.plan is not None
    assert [part.name for part in compiled.plan.parts][-1] == "disk"
    args = [*compiled.signature.leaves(values), *hidden, *compiled.ones]
    own = compiled.entry.kernel
    # The same code, its tapes in memory.
    other = cpu.Kernel(own.emitted, own.code)
    found, expected = own(*args), other(*args)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.array_equal(np.signbit(a), np.signbit(b))
    assert (own.peak or 0) + (own.disk or 0) == other.peak
    assert other.disk == 0
    if not own.emitted.tapes:
        assert own.disk == 0


@pytest.mark.full
@pytest.mark.parametrize("policy", ["auto", "recompute", "store", "revolve:3:2"])
def test_the_gradient_is_the_ordinary_one(policy: str) -> None:
    u = sample(7, 5)
    expected = adc.grad(steps)(u, 60)
    np.testing.assert_array_equal(adc.grad(steps, remat=policy, offload="disk")(u, 60), expected)


def field(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = np.sin(u) + 0.1 * u * u
    return u


@pytest.mark.full
def test_other_derivatives() -> None:
    u, v = sample(6), np.ones(6)
    value, pull = adc.vjp(steps, u, 20, offload="disk")
    assert value == steps(u, 20)
    np.testing.assert_array_equal(pull(1.0)[0], adc.grad(steps)(u, 20))
    np.testing.assert_array_equal(
        adc.hvp(steps, (u, 20), (v, None), offload="disk")[0],
        adc.hvp(steps, (u, 20), (v, None))[0],
    )
    jacobian = adc.jacrev(field, offload="disk")(u, 20)
    np.testing.assert_array_equal(jacobian, adc.jacrev(field)(u, 20))
    hessian = adc.hessian(steps, offload="disk")(u, 20)
    np.testing.assert_array_equal(hessian, adc.hessian(steps)(u, 20))


def descend(x: Any, n: Any) -> Any:
    if n == 0:
        return np.sum(x * x)
    return descend(np.sin(x) * n, n - 1) + x[0]


@pytest.mark.full
def test_recursion() -> None:
    x = sample(40)
    gradient = adc.grad(descend, remat="store", offload="disk")
    for n in (3, 200, 3):
        np.testing.assert_array_equal(gradient(x, n), adc.grad(descend, remat="store")(x, n))
    assert kernel(gradient).disk > 0


@pytest.mark.full
def test_threads() -> None:
    gradient = adc.grad(steps, remat="store", offload="disk")
    sizes = [(k, 30 * k) for k in (1, 5, 9)]
    expected = [gradient(sample(k), n) for k, n in sizes]
    wrong: list[object] = []

    def work(start: int) -> None:
        for k in range(start, start + 40):
            at = k % len(sizes)
            found = gradient(sample(sizes[at][0]), sizes[at][1])
            if not np.array_equal(found, expected[at]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.full
def test_tapes_grow_and_are_given_back() -> None:
    gradient = adc.grad(steps, offload="disk")
    plain = adc.grad(steps)
    for size, n in ((3, 1), (3, 50), (400, 300), (3, 50)):
        u = sample(size)
        np.testing.assert_array_equal(gradient(u, n), plain(u, n))
        own = kernel(gradient)
        assert own.disk == 8 * n * (size + 1)
        assert own.nbytes < 100_000
    adc.release_memory()
    np.testing.assert_array_equal(gradient(u, n), plain(u, n))


@forks
def test_a_process_that_was_forked() -> None:
    gradient, u = adc.grad(steps, offload="disk"), sample(50)
    expected = gradient(u, 100)
    child = fork(lambda: np.array_equal(gradient(u, 100), expected))
    for _ in range(20):
        np.testing.assert_array_equal(gradient(u, 100), expected)
    assert status(child) == 0


def test_code_from_the_cache() -> None:
    u = sample(5)
    expected = adc.grad(steps, offload="disk")(u, 9)
    again = adc.grad(steps, offload="disk")
    np.testing.assert_array_equal(again(u, 9), expected)
    assert again._code.last is not None
    assert again._code.last.from_disk
    assert kernel(again).offload
    assert kernel(again).disk > 0


# --- nothing is left ------------------------------------------------------------------------------


def refused(u: Any, n: Any) -> Any:
    for k in range(n):
        u = np.sin(u) + 0.1 * u * u
        if k == 999:
            raise ValueError("too many")
    return np.sum(u)


@pytest.mark.full
def test_an_exception_of_the_program(place: Path) -> None:
    gradient, u = adc.grad(refused, offload="disk"), sample(20)
    with pytest.raises(ValueError, match="too many"):
        gradient(u, 2000)
    assert _open_in(place) == []
    np.testing.assert_array_equal(gradient(u, 20), adc.grad(refused)(u, 20))


class Stop(Exception):
    pass


def call_for_ever(gradient: Any, *args: Any) -> None:
    while True:
        gradient(*args)


@alarms
def test_an_exception_of_a_signal_handler(place: Path) -> None:
    gradient, u = adc.grad(steps, offload="disk"), sample(100)
    expected = gradient(u, 10)
    for k in range(5):
        found = interrupted(0.02 + 0.03 * k, call_for_ever, gradient, u, 30_000, error=Stop)
        assert isinstance(found, Stop)
        assert _open_in(place) == []
    np.testing.assert_array_equal(gradient(u, 10), expected)


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_an_exception_of_a_signal_handler_while_files_are_closed(
    place: Path, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradient, u = adc.grad(steps, offload="disk"), sample(100)
    expected = gradient(u, 10)
    end = Memory.end
    ends: list[Memory] = []

    def interrupted_end(memory: Memory) -> None:
        ends.append(memory)
        if len(ends) == 1 and calls < 2:
            if calls:
                end(memory)
            raise Stop
        end(memory)

    monkeypatch.setattr(Memory, "end", interrupted_end)
    if calls < 2:
        with pytest.raises(Stop):
            gradient(u, 10)
        assert len(ends) == 2
    assert _open_in(place) == []
    np.testing.assert_array_equal(gradient(u, 10), expected)


@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_while_a_tape_grows(late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient, u = adc.grad(steps, offload="disk"), sample(20)
    expected = gradient(u, 200)
    enlarge: Callable[..., None] = Files.enlarge

    def interrupted(self: Files, place: int, elements: int) -> None:
        if late:
            enlarge(self, place, elements)
        if elements > 1000:
            raise KeyboardInterrupt
        if not late:
            enlarge(self, place, elements)

    with monkeypatch.context() as patch:
        patch.setattr(Files, "enlarge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gradient(u, 200)
    np.testing.assert_array_equal(gradient(u, 200), expected)


KILLED = """
import sys
import numpy as np
import adc
from tests.unit.backend.test_offload import steps

gradient = adc.grad(steps, offload="disk")
gradient(np.ones(10), 5)
print("now", flush=True)
while True:
    gradient(np.ones(1000), 2000)
"""


def _child(text: str, place: Path, *args: str, **how: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *args],
        env={**os.environ, "PYTHONPATH": str(ROOT), "ADC_OFFLOAD_DIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


@pytest.mark.full
@linux
def test_a_process_that_is_killed(place: Path) -> None:
    process = _child(KILLED, place)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        seen = 0
        while seen < 5:
            for each in Path(f"/proc/{process.pid}/fd").iterdir():
                try:
                    seen += str(place) in os.readlink(each)
                except FileNotFoundError:
                    continue
            assert list(place.iterdir()) == []
            assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    assert list(place.iterdir()) == []


# --- no room --------------------------------------------------------------------------------------


def test_a_full_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient, u = adc.grad(steps, offload="disk"), sample(100)
    expected = gradient(u, 50)

    def full(file: int, start: int, size: int) -> None:
        if start + size > 100_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(file, start + size)

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full, raising=False)
        with pytest.raises(
            DiskError, match=r"no file for a tape of [0-9,]+ bytes in .*: No space"
        ) as caught:
            gradient(u, 2000)
        assert "ADC_OFFLOAD_DIR" in caught.value.hint
        assert _open_in(place) == []
    np.testing.assert_array_equal(gradient(u, 50), expected)
    # What a call needs of each tape is known where there is a budget.
    within = adc.grad(steps, memory="10 kB", offload="disk")
    np.testing.assert_array_equal(within(u, 50), expected)
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full, raising=False)
        with pytest.raises(DiskError, match=r"a tape of 1,600,[0-9]+ bytes"):
            within(u, 2000)
    np.testing.assert_array_equal(within(u, 50), expected)


def test_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADC_OFFLOAD_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(DiskError, match=r"nowhere: No such file"):
        adc.grad(steps, offload="disk")(sample(3), 5)


@pytest.mark.parametrize("found", [None, errno.EINVAL, errno.EOPNOTSUPP])
def test_systems_that_cannot_allocate(found: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS, Windows and some file systems: zeros are written."""

    def unknown(*_: int) -> None:
        raise OSError(found, "no such operation")

    if found is None:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    else:
        monkeypatch.setattr(os, "posix_fallocate", unknown, raising=False)
    gradient, u = adc.grad(steps, offload="disk"), sample(1000)
    np.testing.assert_array_equal(gradient(u, 400), adc.grad(steps)(u, 400))


LIMITED = """
import resource, sys
import numpy as np
import adc
from tests.unit.backend.test_offload import steps

gradient = adc.grad(steps, offload=sys.argv[2] or None)
gradient(np.ones(10), 5)
with open("/proc/self/status") as lines:
    used = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))
extra = 32 << 20
limits = {"RLIMIT_DATA": used + extra, "RLIMIT_FSIZE": extra}
resource.setrlimit(getattr(resource, sys.argv[1]), (limits[sys.argv[1]],) * 2)
try:
    print(np.sum(gradient(np.ones(10_000), 1000)))  # 80 MB
except MemoryError:
    print("MemoryError")
except adc.AdcError as error:
    print(error.code, error.message.rpartition(": ")[2])
print(np.sum(gradient(np.ones(10), 5)))
"""


@pytest.mark.full
@linux
def test_what_memory_has_no_room_for(place: Path) -> None:
    def first(*args: str) -> str:
        out, error = _child(LIMITED, place, *args).communicate(timeout=300)
        assert error == ""
        lines = out.splitlines()
        assert len(lines) == 2
        return lines[0]

    assert first("RLIMIT_DATA", "") == "MemoryError"
    expected = float(np.sum(adc.grad(steps)(np.ones(10_000), 1000)))
    assert float(first("RLIMIT_DATA", "disk")) == expected
    assert first("RLIMIT_FSIZE", "disk") == "ADC004 File too large"


def test_the_folder(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    assert folder() == str(place)
    monkeypatch.delenv("ADC_OFFLOAD_DIR")
    monkeypatch.setenv("TMPDIR", "/somewhere")
    assert folder() == "/somewhere"
    monkeypatch.delenv("TMPDIR")
    assert Path(folder()).is_dir()


# --- plans ----------------------------------------------------------------------------------------


def squeezed(x: Any, w: Any) -> Any:
    """Arrays outside of loops, and a loop."""
    a = np.tanh(x @ w)
    b = np.tanh(a @ w)
    c = np.tanh(b @ w)
    d = np.tanh(c @ w)
    e = np.tanh(d @ w)
    for _ in range(200):
        e = np.sin(e) + 0.1 * e * d
    return np.sum(e)


def until(x: Any) -> Any:
    s = x
    while np.sum(s * s) > 0.01:
        s = 0.9 * np.sin(s)
    return np.sum(s)


@pytest.mark.full
def test_a_budget_is_about_memory() -> None:
    u = sample(50)
    plain = adc.grad(steps, memory="20 kB")
    within = adc.grad(steps, memory="20 kB", offload="disk")
    np.testing.assert_array_equal(plain(u, 1000), within(u, 1000))
    assert plain.plan(u, 1000).loops
    plan = within.plan(u, 1000)
    assert not plan.loops
    assert plan.extra == 0.0
    assert plan.peak_bytes == 2 * u.nbytes
    assert plan.parts[-1].name == "disk"
    assert plan.parts[-1].bytes == kernel(within).disk == 8 * 1000 * 51
    assert "disk: 8*n*u.dim0 + 8*n = 408000 bytes (not in the peak)" in plan.lines()
    assert PlanReport.from_json(plan.to_json()) == plan
    assert "408000 bytes" in plan._repr_html_()
    assert within.plan().parts[-1].bytes == 408_000


@pytest.mark.full
def test_arrays_that_stay_in_memory_are_computed_again() -> None:
    x, w = sample(60, 30), 0.2 * sample(30, 30)
    free = adc.grad(squeezed, offload="disk")
    expected = free(x, w)
    np.testing.assert_array_equal(expected, adc.grad(squeezed)(x, w))
    code = free._code
    least, most = planning.plans(code, code.match((x, w), {})).range
    assert kernel(free).peak <= 1.1 * most  # sizes are multiples of 64 bytes
    assert least < most
    before = 0.0
    for budget in (most, (least + most) // 2, least):
        within = adc.grad(squeezed, memory=budget, offload="disk")
        np.testing.assert_array_equal(within(x, w), expected)
        plan = within.plan(x, w, alternatives=False)
        assert plan.peak_bytes is not None
        assert plan.peak_bytes <= budget
        assert kernel(within).peak <= 1.05 * plan.peak_bytes
        assert kernel(within).disk == plan.parts[-1].bytes
        assert plan.extra >= before
        before = plan.extra
    assert before > 0.0
    with pytest.raises(MemoryBudgetError, match="needs at least"):
        adc.grad(squeezed, memory=least // 2, offload="disk")(x, w)


@pytest.mark.full
def test_a_loop_of_unknown_length_fits_in_a_budget() -> None:
    x = sample(100)
    within = adc.grad(until, memory="5 kB", offload="disk")
    np.testing.assert_array_equal(within(x), adc.grad(until)(x))
    plan = within.plan(x)
    assert plan.peak_bytes is not None
    assert kernel(within).peak <= plan.peak_bytes <= 5000
    assert plan.parts[-1].bytes is None  # known only at run time
    assert within.plan().parts[-1].bytes == kernel(within).disk > 0


@pytest.mark.full
def test_what_is_on_a_disk_costs_more() -> None:
    """So that more is computed again, and calls are predicted to take longer."""

    def expensive(x: Any, n: Any) -> Any:
        s = 0.0
        for k in range(n):
            x = x + np.exp(np.sin(x * k) * np.cos(x))
            s = s + np.sum(np.tanh(x) * np.sin(x))
        return s

    u = sample(50)
    plain, offloaded = adc.grad(expensive), adc.grad(expensive, offload="disk")
    np.testing.assert_array_equal(plain(u, 100), offloaded(u, 100))
    held = plain.plan(u, 100).peak_bytes
    assert held is not None
    assert kernel(offloaded).disk < held
    first, second = (adc.grad(steps, offload=where) for where in (None, "disk"))
    seconds = [each.plan(u, 100).seconds or 0.0 for each in (first, second)]
    assert seconds[1] > seconds[0] + 100 * u.nbytes * SHIPPED.disk / 2


def test_arguments() -> None:
    for wrong in ("memory", "", True, 1):
        with pytest.raises(ArgumentError, match="is not supported") as caught:
            adc.grad(steps, offload=wrong)  # type: ignore[arg-type]  # which is the point
        assert '"disk"' in caught.value.hint


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "offloaded.py"
    path.write_text(
        "import numpy as np\n\n\ndef steps(u, n):\n    for _ in range(n):\n"
        "        u = np.sin(u)\n    return np.sum(u)\n"
    )
    plan = ["plan", f"{path}:steps", "--args", "f64[100], 50", "--offload", "disk"]
    assert cli.main(plan) == 0
    assert "disk: 8*n*u.dim0 + 8*n bytes (not in the peak)" in capsys.readouterr().out
    assert cli.main([*plan, "--memory", "2 kB"]) == 0
    assert "disk: 8*n*u.dim0 + 8*n = 40400 bytes" in capsys.readouterr().out
