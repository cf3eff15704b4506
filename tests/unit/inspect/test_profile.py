"""Profiles: where time is found, that it adds up, what is refused, and how it is shown."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import cli
from adc.backend.cpu import profile as marking
from adc.backend.cpu.profile import Marked, Place, emit_marked
from adc.inspect.profile import Bytes, Line, Profile, Time, bar
from adc.ir.errors import ArgumentError

GOLDEN = Path(__file__).parents[2] / "golden" / "profile.txt"


def line_of(fn: Callable[..., Any], text: str) -> int:
    """Return the number of the line of a function that has some text."""
    import inspect

    lines, first = inspect.getsourcelines(fn)
    return first + next(k for k, each in enumerate(lines) if text in each)


def at(profile: Profile, fn: Callable[..., Any], text: str) -> Line:
    number = line_of(fn, text)
    return next(line for line in profile.lines if line.line == number)


def heavy(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    y = np.exp(np.sin(np.cos(np.tanh(x)))) ** 1.7
    return total + np.sum(y)


def recurrence(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s = s * 0.5 + x[i % 7]
        s = np.sin(np.cos(np.sin(np.cos(s))))
        s = s + 1.0
    return s


def works(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = np.tanh(s + x[i])
    return s


def idles(x: Any) -> Any:
    return np.sum(x)


def calling(x: Any) -> Any:
    a = works(x)
    b = idles(x)
    return a + b


def recursive(x: Any, depth: Any) -> Any:
    if depth == 0:
        return works(x)
    return recursive(x * 0.5, depth - 1) + recursive(x * 0.25, depth - 1)


def changing(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] += 0.5 * x[i - 1]
    return np.sum(x * x)


X = np.linspace(0.1, 1.0, 20_000)


def sums_up(profile: Profile) -> None:
    times = [line.time.total for line in profile.lines]
    assert sum(times) + profile.outside == pytest.approx(profile.seconds)
    assert profile.forward + profile.reverse == pytest.approx(sum(times))


def test_a_line_that_does_most_of_the_work() -> None:
    profile = adc.grad(heavy).profile(X, seconds=0.3)
    assert profile.share(at(profile, heavy, "np.tanh")) > 0.5
    assert profile.samples > 10
    sums_up(profile)


@pytest.mark.full
@pytest.mark.parametrize("coarse", [False, True])
def test_a_line_of_a_loop_that_is_no_vector(coarse: bool) -> None:
    from adc.compiler.watch.profile import _Run

    code = adc.jit(recurrence)._code
    values = code.match((X, 30_000), {})
    profile = _Run(*(code.find(values)[0], values, [])).sampled(0.2, coarse)
    assert profile.coarse == coarse
    assert profile.share(at(profile, recurrence, "np.cos")) > 0.5
    assert profile.reverse == 0.0
    sums_up(profile)


def test_forward_and_reverse_are_apart() -> None:
    both = adc.value_and_grad(works)
    for _ in range(5):  # on a busy machine there may be no sample in it
        profile = both.profile(X, seconds=0.3)
        line = at(profile, works, "np.tanh")
        if line.time.reverse > 0.0:
            break
    assert line.time.forward > line.time.reverse > 0.0  # which multiplies
    assert line.bytes.kept == 8 * len(X)
    assert profile.peak is not None
    assert profile.peak >= 8 * len(X)


@pytest.mark.full
def test_calls_count_for_both_lines() -> None:
    profile = adc.jit(calling).profile(X, seconds=0.3)
    inside, outside = at(profile, works, "np.tanh"), at(profile, calling, "works(x)")
    assert inside.time.total > 0.5 * profile.seconds
    assert outside.time.total < 0.1 * profile.seconds
    assert outside.with_calls >= inside.time.total
    sums_up(profile)


def test_calls_of_functions_that_are_not_inlined() -> None:
    profile = adc.jit(recursive).profile(X[:3000], 4, seconds=0.3)
    inside = at(profile, works, "np.tanh")
    outside = at(profile, recursive, "return recursive")
    assert inside.time.total > 0.5 * profile.seconds
    assert inside.with_calls + outside.time.total <= 1.0001 * outside.with_calls
    assert outside.with_calls <= 1.0001 * profile.seconds  # once, however deep
    sums_up(profile)


@pytest.mark.full
def test_a_called_function_of_reverse_code_is_reverse() -> None:
    profile = adc.grad(recursive).profile(X[:3000], 4, seconds=0.3)
    line = at(profile, works, "np.tanh")
    assert line.time.reverse > 0.0
    assert line.time.forward > 0.0
    sums_up(profile)


@pytest.mark.full
def test_rules_of_reverse_code_are_reverse() -> None:
    def spectrum(x: Any) -> Any:
        y = np.fft.rfft(x)
        return np.sum(np.abs(y) ** 2)

    profile = adc.grad(spectrum).profile(X[:4096], seconds=0.3)
    line = at(profile, spectrum, "np.fft")
    assert line.time.forward > 0.0
    assert line.time.reverse > 0.0


@pytest.mark.full
def test_routines_of_lapack_count_for_their_line() -> None:
    def solve(a: Any, b: Any) -> Any:
        c = b * 2.0
        return np.sum(np.linalg.solve(a, c))

    a = np.eye(60) + 0.01 * np.ones((60, 60))
    profile = adc.grad(solve).profile(a, np.ones(60), seconds=0.3)
    assert profile.share(at(profile, solve, "linalg")) > 0.5
    assert {line.file for line in profile.lines} == {__file__}


@pytest.mark.full
def test_loops_that_threads_share() -> None:
    def shared(a: Any) -> Any:
        b = np.zeros_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = np.exp(np.sin(np.tanh(a[i, j])))
        return np.sum(b)

    profile = adc.jit(shared, parallel=2).profile(np.ones((1000, 1000)), seconds=0.4)
    assert profile.threads == 2
    # In the loop, or waiting for the other thread.
    inside, loop = at(profile, shared, "np.tanh"), at(profile, shared, "for i")
    assert profile.share(inside) + profile.share(loop) > 0.5
    assert inside.time.total > 0.0
    sums_up(profile)
    assert "2 threads share loops" in str(profile)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [adc.jit, adc.grad])
def test_nothing_of_the_caller_is_changed(
    make: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def drawn(x: Any, rng: Any) -> Any:
        print("drawn")
        return np.sum(x * rng.standard_normal(len(x)))

    x = X.copy()
    make(changing).profile(x, seconds=0.05)
    np.testing.assert_array_equal(x, X)
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    make(drawn).profile(x, rng, seconds=0.05)
    assert rng.bit_generator.state == before
    assert capsys.readouterr().out == "drawn\n"


def test_the_handler_of_the_signal_is_put_back() -> None:
    def handler(*_: Any) -> None: ...

    before = signal.signal(signal.SIGPROF, handler)
    try:
        adc.jit(idles).profile(X, seconds=0.05)
        os.kill(os.getpid(), signal.SIGPROF)  # would end the process without a handler
        assert signal.getsignal(signal.SIGPROF) is handler
    finally:
        signal.signal(signal.SIGPROF, before)


@pytest.mark.full
def test_profiles_in_other_threads() -> None:
    found: list[Profile] = []

    def run() -> None:
        found.append(adc.jit(heavy).profile(X, seconds=0.2))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [profile.share(at(profile, heavy, "np.tanh")) > 0.5 for profile in found] == [True, True]


def test_a_thread_looks_on_where_there_is_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adc.backend.cpu.sampler._ON_LINUX", False)
    profile = adc.jit(heavy).profile(X, seconds=0.3)
    assert profile.share(at(profile, heavy, "np.tanh")) > 0.5


@pytest.mark.full
def test_budgets_and_checkpoints() -> None:
    def steps(u: Any, n: Any) -> Any:
        for _ in range(n):
            u = u - 0.1 * np.sin(u)
        return np.sum(u)

    given = (np.ones(100), 200)
    free = adc.grad(steps).profile(*given, seconds=0.1)
    least = adc.grad(steps, memory="20 kB").profile(*given, seconds=0.1)
    assert free.peak is not None
    assert least.peak is not None
    assert free.peak > 100_000
    assert least.peak <= 20_000
    kept = at(least, steps, "for _").bytes.kept
    assert kept is not None
    assert 0 < kept <= 20_000
    sums_up(least)


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match="code for the CPU"):
        adc.grad(heavy, target="python").profile(X)
    with pytest.raises(ArgumentError, match="group of directions"):
        adc.jacrev(lambda x: x * x).profile(X)
    with pytest.raises(TypeError):
        adc.grad(heavy).profile()
    with pytest.raises(ZeroDivisionError):
        adc.jit(lambda x, n: x[0] / n if n != 0 else 1 / n).profile(X, 0)


def test_a_default_that_would_be_changed_is_refused_as_by_a_call() -> None:
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        adc.jit(changing).profile(x)


# --- marks ----------------------------------------------------------------------------------------


def marked(fn: Callable[..., Any], *args: Any, coarse: bool = False) -> Marked:
    return emit_marked(adc.grad(fn).compiled_for(*args).compilation.fn, coarse=coarse)


def marked_source(derivative: Any, *args: Any) -> str:
    return emit_marked(derivative.compiled_for(*args).compilation.fn).emitted.source


def places(found: Marked) -> set[Place]:
    return {place for shares in found.marks for place, _ in shares}


@pytest.mark.full
@pytest.mark.parametrize("coarse", [False, True])
def test_code_with_marks_computes_the_same(coarse: bool) -> None:
    from adc.compiler.watch.profile import _Run

    programs: list[tuple[Any, tuple[Any, ...]]] = [
        (adc.value_and_grad(heavy), (X,)),
        (adc.value_and_grad(recurrence), (X, 500)),
        (adc.value_and_grad(recursive), (X[:300], 3)),
        (adc.value_and_grad(changing), (X,)),
    ]
    for made, given in programs:
        code = made._code
        values = code.match(given, {})
        run = _Run(code.find(values)[0], values, [])
        kernel = run.marked(coarse)[0]
        for a, b in zip(
            kernel.run(run.given(kernel)), run.plain.run(run.given(run.plain)), strict=True
        ):
            np.testing.assert_array_equal(a, b)


def test_shares_of_a_mark_add_up_to_one() -> None:
    for coarse in (False, True):
        for shares in marked(heavy, X, coarse=coarse).marks[1:]:
            assert sum(share for _, share in shares) == pytest.approx(1.0)


def test_no_marks_are_set_in_loops_of_vectors() -> None:
    source = marked(heavy, X).emitted.source
    for loop in re.findall(r"^( *)for \w+ in vectorizable.*\n((?:\1 +.*\n)*)", source, re.M):
        assert "at_line" not in loop[1]
    assert "# 0" not in source  # the numbers of places are no comments


@pytest.mark.full
def test_marks_are_set_in_other_innermost_loops_unless_coarse() -> None:
    fine, coarse = (marked(recurrence, X, 10, coarse=each) for each in (False, True))
    assert fine.emitted.source.count("at_line") > coarse.emitted.source.count("at_line")
    lines = {place.chain[-1][1] for place in places(fine)}
    assert {line_of(recurrence, text) for text in ("x[i % 7]", "np.cos", "s + 1.0")} <= lines
    assert any(place.reverse for place in places(fine))


def test_code_without_marks_is_what_it_was() -> None:
    from adc.backend.common.emit import emit

    fn = adc.grad(heavy).compiled_for(X).compilation.fn
    emit_marked(fn)
    assert "at_line" not in emit(fn).source


def test_recomputed_values_are_reverse_code() -> None:
    def loop(x: Any) -> Any:
        y = np.exp(x)
        s = 1.0
        for i in range(len(x)):
            s = s * y[i] + np.sin(s)
        return s

    def branch(x: Any) -> Any:
        z = x
        if x > 0.5:
            y = math.exp(x)
            z = math.sin(y)
        return z * z

    for fn, given in ((loop, X), (branch, 1.0)):
        found = emit_marked(adc.grad(fn, remat="recompute").compiled_for(given).compilation.fn)
        source = found.emitted.source
        # Of the last exponential, which is the recomputed one.
        assert source.count(" exp(") > 1
        mark = re.findall(r"at_line\(state, \d+, (\d+)\)", source[: source.rindex(" exp(")])[-1]
        assert all(place.reverse for place, _ in found.marks[int(mark)])


def test_parts_that_threads_run_end_with_no_mark() -> None:
    def shared(a: Any) -> Any:
        b = np.zeros_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = np.exp(a[i, j]) * j
        return b

    source = marked_source(adc.jit(shared, parallel=2), np.ones((3, 3)))
    parts = re.findall(r"^def \w+_part\(.*?return \(\)\n\n", source, re.M | re.S)
    assert parts
    for part in parts:
        assert re.search(r"at_line\(state, \d+, 0\)\n    return \(\)\n\n$", part)


# --- display --------------------------------------------------------------------------------------


def sample(**changes: Any) -> Profile:
    file = __file__
    first = line_of(heavy, "total += x[i]")
    lines = (
        Line(file, first, "heavy", Time(1e-3, 2e-3), 3e-3, Bytes(8000, 0)),
        Line(file, first + 1, "heavy", Time(6e-3, 0.5e-3), 6.5e-3, Bytes(0, None, 3)),
        Line(file, line_of(calling, "a = works"), "calling", Time(0.0, 0.0), 9.5e-3, Bytes()),
    )
    fields: dict[str, Any] = {
        "name": "heavy", "file": file, "lines": lines, "seconds": 0.01, "plain": 0.0098,
        "overhead": 0.02,
        "calls": 120, "samples": 1000, "outside": 0.5e-3, "threads": 1, "peak": 12345,
        "coarse": False,
    }  # fmt: skip
    return Profile(**{**fields, **changes})


def test_a_table_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = str(sample(coarse=True, threads=2))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "[calling" not in text
    rows = [line for line in text.splitlines() if "█" in line]
    assert [row.split()[1] for row in rows] == ["1", "6"]


def test_a_wide_terminal_has_more_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert "np.exp(np.sin(np.cos(np.tanh(x)))) ** 1.7" in str(sample())


def test_columns_without_anything_are_left_out() -> None:
    line = sample().lines[1]
    forward = replace(line, time=Time(0.01, 0.0), with_calls=0.01, bytes=Bytes())
    titles, rows = sample(lines=(forward,)).rows()
    assert titles == ("line", "forward", "share")
    assert len(rows) == 1


def test_no_samples() -> None:
    profile = sample(samples=0, lines=(), outside=0.0)
    assert "0 samples" in str(profile)
    assert "measure for longer (`seconds=`, `--seconds`)" in str(profile)
    assert "no line has a time" not in str(sample())


def masked(text: str) -> str:
    """Return a profile without what differs from run to run, and without spaces that depend on it.

    Of rows the line, the bytes and the source are left.
    """
    text = re.sub(r"-?\+?[\d.]+(e-\d+)? (ns|µs|ms|s)\b", "TIME", text)
    text = re.sub(r"[-+]?[\d.]+ %", "SHARE", text)
    text = re.sub(r"\d+ (calls|samples)", r"N \1", text)
    text = re.sub(r"[█▏▎▍▌▋▊▉]+", "", text)
    return re.sub(r" +", " ", re.sub(r"\n  (?! *\d)", " ", text))


@pytest.mark.full
def test_the_output_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    program = """
import numpy as np

def loss(x, steps=3):
    for _ in range(steps):
        x = x - 0.1 * np.sin(x) * x
    return np.sum(x * x)

def data():
    return (np.linspace(0.0, 1.0, 100_000),)

def both(x):
    return x * x
"""
    file = tmp_path / "model.py"
    file.write_text(program)
    command = ["profile", f"{file}:loss", "--example", "data", "--seconds", "0.2"]
    assert cli.main(command) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "120")  # so that no source is cut
    assert cli.main(command) == 0
    text = capsys.readouterr().out
    # Not what is seen only if a sample hits it: a row with bytes is always there.
    found = "".join(
        f"{line}\n"
        for line in masked(text).splitlines()
        if not line.startswith(("the lines of", "total:")) and "return" not in line
    )
    found = re.sub(r"(\d+ )(TIME )*(SHARE )?", r"\1", found)
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text()
    assert cli.main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {5, 6} <= {line["line"] for line in data["lines"]}
    with pytest.raises(SystemExit):
        cli.main(["profile", f"{file}:loss"])
    assert cli.main(["profile", f"{file}:both", "--args", "f64[3]", "--seconds", "0.05"]) == 1
    assert "adc.jit" in capsys.readouterr().err


def test_bars() -> None:
    assert bar(0.0) == ""
    assert bar(1.0) == "█" * 8
    assert [len(bar(k / 64)) for k in (1, 8, 9, 63)] == [1, 1, 2, 8]


def test_marks_of_a_stack_that_is_too_deep() -> None:
    from adc.backend.cpu.sampler import _decoded

    assert _decoded([3, 99, *range(marking.WORDS - 2)]) == (3, list(range(marking.WORDS - 2)))
    assert _decoded([3, -1, *range(marking.WORDS - 2)]) == (3, [])


def rows_of(profile: Profile) -> Sequence[int]:
    return [line.line for line in profile.lines]


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="recursion is limited there")
def test_deep_recursion() -> None:
    def down(x: Any, n: Any) -> Any:
        return np.sum(x) if n == 0 else down(x * 0.99, n - 1) + 1.0

    profile = adc.jit(down).profile(X[:50], 200, seconds=0.1)
    assert line_of(down, "np.sum") in rows_of(profile)
    sums_up(profile)
