"""Loops that threads share: which they are, what they compute, and how they fail."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
import adc.ir.analysis.memory.iterations as independent
from adc.backend.runtime import threads as thread_pool
from adc.compiler.driver import transform
from adc.ir.core import For, walk
from adc.ir.errors import IRError
from adc.ir.text.parser import parse
from adc.passes.target.parallel import parallel
from tests.bench.kernels import KERNELS
from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS
from tests.forks import fork, forks, status
from tests.oracle import threads
from tests.oracle.chain import Chain, fresh, run
from tests.system.test_array_programs import ALL

EVERY = [p for p in (*PROGRAMS, *ALL) if p.argnums]


def _chain(program: Program) -> Chain:
    return Chain.of(program.fn, program.make_args(), program.argnums)


@pytest.mark.full
@pytest.mark.parametrize("program", EVERY, ids=str)
def test_corpus(program: Program) -> None:
    """Under every plan, and compiled under the usual one."""
    assert not threads.check(_chain(program), compiled=True)


@pytest.mark.full
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    kernel = KERNELS[name]
    chain = Chain.of(kernel.loss, kernel.arguments(kernel.tiny), kernel.wrt)
    assert not threads.check(chain, ("auto", "recompute"), compiled=True)


# Losses, and how many of the loops of value and gradient are shared.
def elementwise(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x * w))


def rows(x: Any, w: Any) -> Any:
    shifted = x - np.max(x, axis=1, keepdims=True)
    return np.sum(shifted / np.sum(np.exp(shifted), axis=1, keepdims=True) * w)


def scratch(x: Any, w: Any) -> Any:
    total = 0.0
    row = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            row[j] = np.sin(x[i, j])
        part = 0.0
        for j in range(x.shape[1]):
            part += row[j] * row[x.shape[1] - 1 - j] * w[i, j]
        total += part
    return total


def scatter(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(w.shape[0]):
        part = 0.0
        for j in range(w.shape[1]):
            part += w[i, j] * np.sin(x[(3 * i + j) % x.shape[0], 0])
        total += part * part
    return total


def sweep(x: Any, w: Any) -> Any:
    y = x.copy()
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.sin(y[i - 1, j]) * w[i, j]
    return np.sum(y)


SHARED = {elementwise: 1, rows: 1, scratch: 1, scatter: 1}


def _loops(loss: Any) -> int:
    x, w = np.random.default_rng(0).random((2, 40, 30))
    chain = Chain.of(loss, (x, w), (0,))
    fn = transform(chain.lowered, (("adjoint", (0,)),), target=threads.PARALLEL).fn
    return threads.shared(fn)


@pytest.mark.full
@pytest.mark.parametrize("loss", SHARED, ids=lambda loss: loss.__name__)
def test_what_is_shared(loss: Any) -> None:
    assert _loops(loss) >= SHARED[loss]
    x, w = np.random.default_rng(0).random((2, 40, 30))
    assert not threads.check(Chain.of(loss, (x, w), (0, 1)), compiled=True)


def test_a_sweep_is_not_shared() -> None:
    x, w = np.random.default_rng(0).random((2, 40, 30))
    chain = Chain.of(sweep, (x, w), (0,))
    fn = transform(chain.lowered, (), target=threads.PARALLEL).fn
    steps = [stmt for stmt in walk(fn.body) if isinstance(stmt, For) and stmt.parallel and stmt.loc]
    source = chain.lowered.fn
    line = next(s.loc.line for s in walk(source.body) if isinstance(s, For) and s.loc)
    assert all(stmt.loc is not None and stmt.loc.line != line for stmt in steps)


TEXT = """
fn f(%n: int, %x: f64[:, :]) -> f64[:, :] {
  %y = empty[f64] %n %n
  for L0 %i in 0 to %n {
    for L1 %j in 0 to %n {
      %t = load %x[%i, %j]
      write %y[%PLACE, %j] %t
    }
  }
  return %y
}
"""


@pytest.mark.parametrize(("place", "found"), [("i", True), ("j", False), ("n", False)])
def test_places_of_their_own(place: str, found: bool) -> None:
    fn = parallel(parse(TEXT.replace("%PLACE", f"%{place}")))
    (loop,) = (stmt for stmt in fn.body if isinstance(stmt, For))
    assert loop.parallel == found
    assert parse(str(fn)) == fn


def test_an_array_that_is_one_of_two() -> None:
    text = TEXT.replace("%x: f64[:, :]", "%x: f64[:, :], %first: bool").replace("%PLACE", "%n")
    made = "%a = empty[f64] %n %n\n  %b = empty[f64] %n %n\n  "
    joined = "%y = if %first {\n    yield %a\n  } else {\n    yield %b\n  }\n"
    fn = parse(text.replace("%y = empty[f64] %n %n\n", made + joined))
    assert not any(isinstance(s, For) and s.parallel for s in parallel(fn).body)


def test_memory_that_threads_take_can_be_ruled_out() -> None:
    text = TEXT.replace("    for L1", "    %a = full[f64] 0.0:f64 %n\n    for L1")
    fn = parse(text.replace("%PLACE", "%i"))
    assert any(isinstance(s, For) and s.parallel for s in parallel(fn).body)
    assert not any(isinstance(s, For) and s.parallel for s in parallel(fn, private=False).body)


CALLS = """
fn only_reads(%a: f64[:], %b: f64[:]) -> f64 {
  %t = load %a[0]
  %u = load %b[0]
  %v = add %t %u
  return %v
}

fn writes(%a: f64[:], %b: f64[:]) -> f64 {
  write %b[0] 1.0:f64
  %t = call C9 only_reads(%a, %b)
  return %t
}

fn counts(%a: f64[:], %b: f64[:]) -> f64 {
  %t = load %b[0]
  %u = add %t 1.0:f64
  write %b[0] %u
  return %u
}

fn prints(%a: f64[:], %b: f64[:]) -> f64 {
  print "here"
  return 1.0:f64
}

fn leaves(%a: f64[:], %b: f64[:]) -> f64 {
  %t = load %a[0]
  push %t
  return %t
}

fn again(%a: f64[:], %b: f64[:]) -> f64 {
  %t = call C9 again(%a, %b)
  return %t
}

fn f(%n: int, %x: f64[:, :], %z: f64[:]) -> f64[:] {
  %y = empty[f64] %n
  for L0 %i in 0 to %n {
    %a = copy %z
    %r = row %x %i
    %t = BODY
    write %y[%i] %t
  }
  return %y
}
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("call C0 only_reads(%r, %z)", True),
        ("call C0 only_reads(%z, %y)", False),
        ("call C0 writes(%z, %a)", True),
        ("call C0 writes(%a, %z)", False),
        ("call C0 writes(%a, %r)", False),
        ("call C0 counts(%a, %z)", False),
        ("call C0 prints(%a, %z)", False),
        ("call C0 leaves(%a, %z)", False),
        ("call C0 again(%a, %z)", False),
    ],
)
def test_calls(body: str, found: bool) -> None:
    fn = parallel(parse(CALLS.replace("BODY", body)))
    (loop,) = (stmt for stmt in fn.body if isinstance(stmt, For))
    assert loop.parallel == found


def cell(w: Any, h: Any, x: Any) -> Any:
    for _ in range(3):
        h = np.tanh(w @ h + x)
        w[0] *= 0.9
    return h


def scaled(t: Any, limit: Any) -> Any:
    while t < limit:
        t = t * 1.5 + 0.1
    return t


def network(w: Any, xs: Any) -> Any:
    total = 0.0
    for i in range(xs.shape[0]):
        h = np.zeros(w.shape[0])
        own = w.copy()
        for t in range(xs.shape[1]):
            h = cell(own, h, xs[i, t]) if t % 2 else cell(own, xs[i, t], h)
        total += scaled(np.sum(h**2), 3.0)
    return total


def weights() -> tuple[Any, Any]:
    w = np.random.default_rng(0).random((4, 4)) * 0.4
    return w, np.random.default_rng(1).random((9, 5, 4))


@pytest.mark.full
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.full)])
def test_iterations_that_call_functions_and_carry_arrays(compiled: bool) -> None:
    assert not threads.check(Chain.of(network, weights(), (0, 1)), ("auto",), compiled=compiled)


def test_what_a_callee_writes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fn = parse(CALLS.replace("BODY", "call C0 counts(%r, %z)"))
    args = [np.int64(5), np.ones((5, 2)), np.zeros(2)]
    assert run(parallel(fn), fresh(args))[0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    monkeypatch.setattr(independent._Callees, "written", lambda self, name: frozenset())
    with pytest.raises(IRError, match="are not independent: Call"):
        run(parallel(fn), fresh(args))


def test_memory_that_iterations_share_is_noticed() -> None:
    text = TEXT.replace("%y[%PLACE, %j] %t", "%a[%j] %t").replace("for L0", "parallel for L0")
    text = text.replace("  %y = ", "  %a = empty[f64] %n\n  %y = ")
    with pytest.raises(IRError, match="are not independent: Write"):
        run(parse(text), [np.int64(3), np.ones((3, 3))])
    # Each iteration may have memory of its own, wherever that lies.
    own = text.replace("  %a = empty[f64] %n\n", "").replace(
        "    for L1", "    %a = empty[f64] %n\n    for L1"
    )
    run(parse(own), [np.int64(3), np.ones((3, 3))])


@pytest.mark.full
def test_batches_of_functions_that_call_others(monkeypatch: pytest.MonkeyPatch) -> None:
    _small_chunks(monkeypatch)
    w, xs = weights()
    batch = adc.vmap(adc.grad(network), (None, 0), parallel=2, cache=False)
    rows = np.stack([xs[:3], xs[3:6], xs[6:9]])
    assert "parallel_for" in batch.source(w, rows)
    assert np.array_equal(batch(w, rows), np.stack([adc.grad(network)(w, row) for row in rows]))


# --- errors and signals ---------------------------------------------------------------------------


def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share every loop, however short."""
    monkeypatch.setattr(thread_pool, "ENOUGH", 1)
    monkeypatch.setattr(thread_pool, "_CHUNK", 1)


def test_the_first_error_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    _small_chunks(monkeypatch)

    def picked(x: Any, at: Any) -> Any:
        y = np.zeros(at.shape)
        for i in range(at.shape[0]):
            for j in range(at.shape[1]):
                y[i, j] = np.sin(x[at[i, j]])
        return np.sum(y)

    x, at = np.ones(5), np.zeros((64, 4), int)
    at[17, 2], at[30, 1], at[60, 0] = 7, 8, 9
    gradient = adc.grad(picked, parallel=4, cache=False)
    assert "parallel_for" in gradient.source(x, at)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        gradient(x, at)
    at[17, 2] = at[30, 1] = at[60, 0] = 1
    assert gradient(x, at)[1] == pytest.approx(3 * np.cos(1.0))


def test_no_memory_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    _small_chunks(monkeypatch)

    def large(x: Any, n: int) -> Any:
        y = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            row = np.zeros(n)
            row[0] = x[i]
            for j in range(1, 3):
                row[j] = np.sin(row[j - 1])
            y[i] = row[2]
        return np.sum(y)

    gradient = adc.grad(large, parallel=2, cache=False)
    assert gradient(np.ones(40), 10) == pytest.approx(np.cos(np.sin(1.0)) * np.cos(1.0))
    with pytest.raises(MemoryError):
        gradient(np.ones(40), 2**55)


INTERRUPT = """
import signal, threading, time, os
import numpy as np
import adc

def long(x, n):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        t = x[i]
        for _ in range(n):
            t = np.sin(t)
        y[i] = t
    return np.sum(y)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
run = adc.jit(long, parallel=2)
run(np.ones(64), 10)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    run(np.ones(64), 10**9)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 20.0)
print(run(np.ones(64), 10) > 0.0)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process")
def test_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(INTERRUPT)
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout.split() == ["interrupted", "True", "True"], found.stderr


# --- threads and processes ------------------------------------------------------------------------


def _case() -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x, w = np.random.default_rng(1).random((2, 300, 200))
    return adc.value_and_grad(rows, (0, 1), parallel=2), x, w


@pytest.mark.full
def test_callers_in_several_threads() -> None:
    function, x, w = _case()
    want = function(x, w)
    found: list[Any] = []
    callers = [
        threading.Thread(target=lambda: found.extend(function(x, w) for _ in range(20)))
        for _ in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 80
    for value, gradients in found:
        assert value == want[0]
        assert all(map(np.array_equal, gradients, want[1]))


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_work_alone() -> None:
    function, x, w = _case()
    want = function(x, w)

    def same() -> bool:
        value, gradients = function(x, w)
        return bool(value == want[0]) and all(map(np.array_equal, gradients, want[1]))

    assert status(fork(same)) == 0


@pytest.mark.parametrize("bad", [0, -1, 1.5, "all", None])
def test_numbers_of_threads(bad: Any) -> None:
    with pytest.raises(adc.AdcError, match="is not a number of threads"):
        adc.grad(rows, parallel=bad)


@pytest.mark.full
def test_a_budget_leaves_threads_without_memory_of_their_own() -> None:
    _, x, w = _case()
    want = adc.value_and_grad(rows, (0, 1), parallel=1)(x, w)
    found = adc.value_and_grad(rows, (0, 1), parallel=2, memory="4 MB")(x, w)
    assert found[0] == want[0]
    assert all(map(np.array_equal, found[1], want[1]))


# --- tests of the tests ---------------------------------------------------------------------------


@pytest.mark.full
def test_places_taken_for_own_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = np.random.default_rng(0).random((2, 40, 30))
    chain = Chain.of(sweep, (x, w), ())
    assert not threads.check(chain, ("auto",), compiled=False)
    monkeypatch.setattr(independent, "own_axis", lambda *args: (0, None))
    with pytest.raises(IRError, match="are not independent"):
        threads.check(chain, ("auto",), compiled=False)


@pytest.mark.full
def test_frames_that_others_need_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def product(x: Any, w: Any, counts: Any) -> Any:
        total = 0.0
        for i in range(x.shape[0]):
            part = 1.0
            for j in range(counts[i]):
                part = part * np.sin(x[i, j] + part) + w[i, j]
            total += part
        return total * total

    x, w = np.random.default_rng(0).random((2, 40, 30))
    chain = Chain.of(product, (x, w, np.arange(40) % 7), (0, 1))
    assert not threads.check(chain, ("store",), compiled=False)
    monkeypatch.setattr(independent, "is_balanced", lambda stmts: True)
    try:
        found = threads.check(chain, ("store",), compiled=False)
    except Exception:  # the interpreter finds another frame than it needs
        return
    assert found
