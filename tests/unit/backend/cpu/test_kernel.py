"""Calls of compiled code: errors, prints, interruption, threads, memory, arguments."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.backend.cpu import Kernel, compile
from adc.backend.numba_api import config
from adc.ir.errors import Span
from adc.ir.text.parser import parse
from adc.ir.verifier import verify
from adc.passes.memory.storage import storage
from tests.forks import fork, forks, status


def kernel_of(text: str) -> Kernel:
    return compile(storage(verify(parse(text))))


FAILS = """
fn g(%x: f64[:], %i: int) -> f64 {
  %n = dim[0] %x
  %c = inside %i %n
  check %c IndexError "index {} is out of range for {} and {}" %i %n 2.5:f32
  %v = load %x[%i]
  print "v is {} and {}" %v true
  return %v
}
fn f(%x: f64[:], %n: int) -> f64, f64[:, :] {
  %s = for L %i in 0 to %n carrying (%a = 0.0:f64) {
    %v = call C g(%x, %i)
    %a.1 = add %a %v
    yield %a.1
  }
  %y = full[f64] %s 2 2
  return %s %y
}"""


def test_the_level_of_optimisation(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%a = 0.0:f64) {
    %v = load %x[%i]
    %w = sin %v
    %a.1 = add %a %w
    yield %a.1
  }
  return %s
}"""
    x = np.linspace(0.0, 3.0, 50)
    found = []
    for level in (3, 0):
        monkeypatch.setattr(config, "OPT", type(config.OPT)(level))
        kernel = kernel_of(text)
        (made,) = kernel.code.inspect_llvm().values()
        assert ("optnone" in made) == (level == 0)
        found.append(kernel(x))
    assert found[0] == found[1]


def test_checks_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = kernel_of(FAILS)
    for _ in range(2):
        total, _array = kernel(np.arange(3.0), 3)
        assert total == 3.0
        printed = capsys.readouterr().out
        assert printed == "".join(f"v is {v} and True\n" for v in (0.0, 1.0, 2.0))
        with pytest.raises(IndexError, match=r"^index 3 is out of range for 3 and 2\.5$"):
            kernel(np.arange(3.0), 4)
        assert capsys.readouterr().out == printed  # what came before the error


def test_the_traceback_ends_at_the_users_line(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text("def f(y):\n    assert y > 0, 'neg'\n    return y\n")
    fn = parse('fn f(%y: f64) -> f64 {\n  %c = gt %y 0.0:f64\n'
               '  check %c AssertionError "neg"\n  return %y\n}')  # fmt: skip
    span = Span(str(file), 2, 11, 2, 16, "f")
    check = dataclasses.replace(fn.body[1], loc=span)
    kernel = compile(dataclasses.replace(fn, body=(fn.body[0], check)))
    assert kernel(1.0) == (1.0,)
    with pytest.raises(AssertionError, match="neg") as caught:
        kernel(-1.0)
    text = "".join(traceback.format_exception(caught.value))
    assert f"File \"{file}\", line 2, in f\n    assert y > 0, 'neg'\n           ^^^^^\n" in text


LOOPS = {
    "flat": """
fn f(%n: int) -> f64 {
  %s = for L %i in 0 to %n carrying (%a = 0.0:f64) {
    %b = sin %a
    %c = add %b 1.0:f64
    yield %c
  }
  return %s
}""",
    "down": """
fn f(%n: int) -> f64 {
  %s = for L %i down from %n carrying (%a = 0.0:f64) {
    %b = sin %a
    %c = add %b 1.0:f64
    yield %c
  }
  return %s
}""",
    "short inner loop": """
fn f(%n: int) -> f64 {
  %s = for L %i in 0 to %n carrying (%a = 0.0:f64) {
    %d = for M %j in 0 to 3 carrying (%e = %a) {
      %b = sin %e
      yield %b
    }
    yield %d
  }
  return %s
}""",
    "while": """
fn f(%n: int) -> f64 {
  %s = while L carrying (%a = 0.0:f64) {
    %b = sin %a
    %c = add %b 1.0:f64
    %d = lt %c 10.0:f64
    again %d %c
  }
  return %s
}""",
    "recursion": """
fn g(%n: int, %x: f64) -> f64 {
  %c = gt %n 0
  %r = if %c {
    %m = sub %n 1
    %a = call A g(%m, %x)
    %b = call B g(%m, %a)
    yield %b
  } else {
    %d = sin %x
    yield %d
  }
  return %r
}
fn f(%n: int) -> f64 {
  %m = minimum %n 70
  %a = call A g(%m, 0.5:f64)
  return %a
}""",
}


class Alarm(Exception):
    pass


@pytest.fixture
def alarm() -> Iterator[Any]:
    """Return a function that makes a handler run after a tenth of a second."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers here")
    before = signal.getsignal(signal.SIGALRM)

    def start(handler: Any) -> None:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LOOPS)
def test_signals_interrupt_long_loops(name: str, alarm: Any) -> None:
    kernel = kernel_of(LOOPS[name])

    def handler(number: int, frame: object) -> None:
        assert kernel(0) is not None or name == "while"  # the handler may call it, too
        raise Alarm("ring")

    if name == "while":  # which never ends

        def handler(number: int, frame: object) -> None:
            raise Alarm("ring")

    alarm(handler)
    start = time.monotonic()
    with pytest.raises(Alarm, match="ring"):
        kernel(10**12)
    assert time.monotonic() - start < 5


def _after_start(ring: threading.Timer, kernel: Any) -> None:
    ring.start()
    kernel(10**12)


def test_ctrl_c() -> None:
    kernel = kernel_of(LOOPS["flat"])
    # A process that was started in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ring = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            _after_start(ring, kernel)
    finally:
        signal.signal(signal.SIGINT, before)
    assert kernel(1) == (1.0,)


TAPED = """
fn f(%x: f64[:], %m: int) -> f64 {
  %n = dim[0] %x
  %r = for T %t in 0 to %m carrying (%q = 0.0:f64) {
    %y = copy %x
    for L %i in 0 to %n {
      %v = load %y[%i]
      push %v
    }
    %s = for R %k down from %n carrying (%a = %q) {
      %w: f64 = pop
      %b = add %a %w
      yield %b
    }
    yield %s
  }
  return %r
}"""


def test_threads_have_their_own_memory() -> None:
    kernel = kernel_of(TAPED)
    wrong: list[object] = []

    def work(seed: int) -> None:
        x = np.arange(500.0) + seed
        for _ in range(20):
            (total,) = kernel(x, 40)
            if total != 40 * x.sum():
                wrong.append(total)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@forks
def test_children_of_a_fork() -> None:
    kernel = kernel_of(TAPED)
    kernel(np.arange(100.0), 2)
    assert status(fork(lambda: kernel(np.arange(10.0), 2) == (90.0,))) == 0


def test_memory_is_kept_and_released() -> None:
    kernel = kernel_of(TAPED)
    assert kernel.nbytes == 0
    for _ in range(3):
        assert kernel(np.arange(1000.0), 2) == (2 * 499500.0,)
    held = kernel.nbytes
    assert held >= 2 * 8000  # the tape, and the copy in the workspace: one, though made twice
    assert held < 4 * 8000
    assert kernel(np.arange(1000.0), 200) == (200 * 499500.0,)
    assert kernel.nbytes == held
    kernel.release_memory()
    assert kernel.nbytes == 0
    assert kernel(np.arange(10.0), 2) == (90.0,)


def test_arguments() -> None:
    kernel = kernel_of(TAPED)
    frozen = np.arange(10.0)
    frozen.flags.writeable = False
    assert kernel(frozen, 2) == (90.0,)
    assert kernel(np.arange(20.0)[::2], 1) == (90.0,)  # made contiguous
    assert kernel(np.arange(10), np.int8(2)) == (90.0,)
    unaligned = np.zeros(81, np.uint8)[1:].view(np.float64)
    assert kernel(unaligned, 2) == (0.0,)
    for args in ((np.arange(10.0), 2.5), (np.ones((2, 2)), 1), (np.ones(3, complex), 1), (1,)):
        with pytest.raises(TypeError):
            kernel(*args)


def test_results_are_numpys_or_pythons() -> None:
    text = """
fn f(%a: f32, %b: float, %c: int, %d: u8, %e: bool) -> f32, float, int, u8, bool {
  return %a %b %c %d %e
}"""
    found = kernel_of(text)(1.5, 2.5, 3, 4, True)
    assert [type(value) for value in found] == [np.float32, float, int, np.uint8, bool]
    assert found == (1.5, 2.5, 3, 4, True)


@pytest.mark.full
@pytest.mark.parametrize("name", ["triangular_loops", "calls_that_write", "recursive_sum"])
def test_machine_code_is_found_by_another_process(name: str, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from adc.backend.cpu import Kept, compile; from adc.passes.memory.storage import storage\n"
        "from tests.corpus.ir_cases import CASES\n"
        f"case = next(case for case in CASES if case.name == {name!r})\n"
        "path = Path(sys.argv[1]) / 'code'\n"
        "kept = Kept(machine=path.read_bytes() if path.exists() else b'')\n"
        "kernel = compile(storage(case.function()), kept)\n"
        "path.write_bytes(kept.machine)\n"
        "print(kernel(*case.args), sum(kernel.code.stats.cache_hits.values()))\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            cwd=Path(__file__).parents[4],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert found[0][:-1] == found[1][:-1]
    assert [hits[-1] for hits in found] == ["0", "1"]
