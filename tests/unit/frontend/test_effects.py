"""Effects outside of a program: what it prints, logs and warns of, as Python does; and clocks."""

from __future__ import annotations

import dataclasses
import functools
import logging
import re
import sys
import time
import types
import warnings
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError
from adc.ir.text import effects

X, M = np.linspace(0.0, 1.0, 4), np.arange(6.0).reshape(2, 3) / 3


@dataclasses.dataclass
class Pair:
    x: Any
    n: int = 3
    hidden: int = dataclasses.field(default=0, repr=False)


class Shown:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __repr__(self) -> str:
        return f"<{self.a}>"


Named = namedtuple("Named", "u v")


def of_arrays(x: Any, m: Any, z: Any, k: int) -> Any:
    print(x, m.T, x > 0.5, x.astype(int), x.astype(np.float32), sep="|")
    print(f"{x} {x!r} {m[0]!s}", np.zeros((0, 2)), x[::-1], np.ones((1, 2, 2)) * k)
    print(np.arange(2000.0) * k, np.sum(x), [np.sum(x)], x[1].astype(np.float32))
    print(z, 2j * z, f"{z:.3f} {z!r:>20}", [z], np.array([z, 1.0]))
    return np.sum(x)


def of_containers(x: Any, m: Any, z: Any, k: int) -> Any:
    grown = []
    for i in range(k):
        grown.append(x[i] * 2.0)
    print([x, 1.5, "a{b}", None], (x[0],), {"a": m, 2: [z]}, {}, [], ())
    print(Pair(x, k), Shown(x[1]), Named(x, True), [Shown(k)], grown, range(k))
    print(f"{Pair(x[0])} {[x[0]]} {'s':>4} {k:5d} {x[1]:+10.3e}", x.dtype)
    return np.sum(x)


def of_strings(x: Any, m: Any, z: Any, k: int) -> Any:
    y = x.copy()
    before = f"{y}"
    width = 8
    y[0] = 100.0
    s = f"total {np.sum(x):{width}.3f}"
    print(s, before, y, "=" * 3 + s + str(k), end="!\n")
    print("%s and %s" % (x, k), "%.2f%%" % x[0], "{} {y!r}".format(m, y=x))  # noqa: UP031, UP032 - the forms are tested
    print(repr(x), str(m), format(x[1], ".2f"), "{}", end="")
    print()
    print(f"{np.float32(0.1)} {np.array(x[1])!r} {np.array(x[1]):.2f}", np.float32(0.1))
    return np.sum(y)


def of_joins(x: Any, m: Any, z: Any, k: int) -> Any:
    found = {"a{": x[0], "b": 2.0 * x[1]}
    print("x:", " ".join(f"{v:.2f}" for v in x), "{}, ".join(map(str, [x[1], k])))
    s = "loss " + ", ".join([f"{name}={v:.4f}" for name, v in found.items()]) + "."
    x = x + 1.0
    print(s, "; ".join([str(x[0]), "b", f"{k}"]), "-".join(str(i) for i in range(40)))
    print("sums:", *(f"{name}={v:.2f}" for name, v in found.items()), *map(str, x), sep="; ")
    print(*[f"{v:.2f}" for v in x], *[str(x[0]), x[1], None, x], *["a", str(2), *(1, 2)])
    print("|".join(f"{i}{c}" + repr(m[i]) for i in range(2) for c in "ab"), "".join((str(k),)))
    return np.sum(x)


def of_any_number(x: Any, m: Any, z: Any, k: int) -> Any:
    some = [v for v in x if v > 0.5]
    none = [v for v in x if v > 50.0]
    log = ["big" if v > 0.5 else f"{v:.1f}" for v in x]
    print("some", *some, 1, *none, "{", *some, sep="{")
    print(*none)
    print(*none, "none", *log, file=sys.stderr)
    print(*x, end="!")
    print("x:", *x.astype(np.float32))
    print(*["up" for v in x if v > 0.0], sep="-")
    count = sys.stdout.write("text\n")
    sys.stdout.write(f"{x[0]:.2f}\n")
    sys.stderr.write("\n".join(log))
    sys.stdout.flush()
    try:
        if x[0] > -10.0:
            raise ValueError(f"bad {x[0]:.2f}")
    except (ValueError, KeyError) as err:
        print("caught", err, f"{err!s:>12}", repr(err))
    return np.sum(x) * count


# ruff: disable[UP031]
def of_formats(x: Any, m: Any, z: Any, k: int) -> Any:
    pair, named = [x[0], x[1]], {"a": x[0], "k": k}
    print("{:.3f} + {:.3f} of {}".format(*pair, k), "{a:.2f} {k:>4}".format(**named))
    print("{} {} {} {b!r}".format(*x, b=x[1]), "{}{}".format(*"ab"), "{a}{b}".format(b=2, **named))
    print("|%8s|%-8s|%.2s|%-5.1s|%3s|" % (k, "ab", "abc", "xyz", "wide"), "%10s" % x[0])
    print("|%8.3f|%-8.3f|%-+8.2e|%-5d|%05d|%-05d|%+d|" % (x[0], x[1], x[0], k, k, k, k))
    return np.sum(x)


# ruff: enable[UP031]
@pytest.mark.parametrize(
    "fn", [of_arrays, of_containers, of_strings, of_joins, of_any_number, of_formats]
)
def test_text(fn: Any, capsys: pytest.CaptureFixture[str]) -> None:
    args = (X, M, 1.25 - 2.5j, 3)
    fn(*args)
    expected = capsys.readouterr()
    adc.grad(fn, target="python")(*args)
    assert capsys.readouterr() == expected
    if fn is of_containers:
        adc.grad(fn)(*args)
        assert capsys.readouterr() == expected


def stepped(x: Any) -> Any:
    for k in range(5):
        x = np.sin(x) + x * x
        if k % 2 == 0:
            print(k, x)
    return np.sum(x)


@pytest.mark.full
def test_once_where_values_are_computed_again(capsys: pytest.CaptureFixture[str]) -> None:
    stepped(X)
    expected = capsys.readouterr().out
    for make in (adc.grad(stepped, memory="1 kB"), adc.hessian(stepped, target="python")):
        make(X)
        assert capsys.readouterr().out == expected


def raised_in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if x[k] < 0.0:
            raise ValueError(f"element {k} of {x}")
        total += np.sin(x[k]) * x[k]
    return total


def test_what_is_raised_costs_reverse_code_nothing() -> None:
    """It has no branch of its own: the path that raises does not come back."""
    compiled = adc.grad(raised_in_a_loop)
    assert compiled.source(abs(X)).count("if not") == 1
    assert "else" not in compiled.source(abs(X))


@pytest.mark.full
@pytest.mark.parametrize(
    "make",
    [
        adc.jit, adc.hessian, functools.partial(adc.grad, memory="1 kB"),
        functools.partial(adc.grad, parallel=True), functools.partial(adc.grad, target="python"),
        lambda fn: lambda x: adc.jvp(fn, (x,), (x,)),
    ],
)  # fmt: skip
def test_exceptions_with_arrays(make: Any) -> None:
    x = np.array([1.0, 0.5, -2.0])
    with pytest.raises(ValueError, match=re.escape("element 2 of [ 1.   0.5 -2. ]")) as caught:
        make(raised_in_a_loop)(x)
    assert caught.traceback[-1].path == Path(__file__)


def test_refused() -> None:
    def options(x: Any) -> Any:
        with np.printoptions(precision=2):
            print(x)
        return np.sum(x)

    def formatted(x: Any) -> Any:
        print(f"{x:.2f}")
        return np.sum(x)

    for fn, what in ((options, "printoptions"), (formatted, "unsupported format string")):
        with pytest.raises(AdcError, match=what):
            adc.grad(fn)(X)


log = logging.getLogger("adc.tests.effects")


def helper(x: Any) -> Any:
    warnings.warn(f"careful {x[0]:.1f}", RuntimeWarning, stacklevel=2)
    log.info("in %s: %s %f %r", "helper", x, x[0], x[1])
    return x * 2.0


def chatty(x: Any, n: int) -> Any:
    log.debug("hidden %f", x[0])
    log.warning(f"n={n} {x}")
    log.log(25, "custom %d %s", n, [x[0], None])
    logging.getLogger("adc.tests.effects").error("as a local")
    for _ in range(n):
        x = helper(x)
    if log.isEnabledFor(logging.INFO):
        print("enabled")
    return np.sum(x * x)


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_logs_and_warnings(
    target: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(fn: Any) -> Any:
        caplog.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fn(X, 2)
        records = [
            (r.name, r.levelno, r.getMessage(), r.msg, len(r.args or ()), r.lineno, r.funcName)
            for r in caplog.records
        ]
        shown = [(str(w.message), w.category, w.lineno, w.filename) for w in caught]
        return records, shown, capsys.readouterr().out

    caplog.set_level(logging.INFO, log.name)
    gradient = adc.grad(chatty, target=target, memory="10 kB")
    assert said(gradient) == said(chatty)
    caplog.set_level(logging.ERROR, log.name)
    assert said(gradient) == said(chatty)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="careful"):
            gradient(X, 2)


def timed(x: Any, n: int) -> Any:
    start, total = time.perf_counter(), 0.0
    for _ in range(n):
        now = time.perf_counter_ns() % 1000 * 1e-3
        x = np.sin(x) * now + x * x * 0.1
        total = total + np.sum(x * now)
    while time.perf_counter_ns() % 17 != 0:
        total = total * 1.01
    print(f"took {time.perf_counter() - start:.1f} s")
    return total


@adc.checkpoint
def stamped(x: Any) -> Any:
    for _ in range(2):
        x = np.sin(x) * (time.perf_counter_ns() % 1000 * 1e-3)
    return x


def checkpointed(x: Any, n: int) -> Any:
    for _ in range(n):
        x = stamped(np.cos(x)) + x
    print("done")
    return np.sum(x)


def test_checkpointed_code_reads_a_clock_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _compare_with_differences(checkpointed, {"target": "python"}, monkeypatch, capsys)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target": "python"},
        {"offload": "disk"},
        {"remat": "recompute"},
        {"remat": "revolve:2:1"},
    ],
)
def test_clocks_are_read_once(
    options: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _compare_with_differences(timed, options, monkeypatch, capsys)


def _compare_with_differences(
    program: Any, options: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compare a gradient with differences, with a clock that shows the same in each call."""
    count = 0

    def clock() -> int:
        nonlocal count
        count += 1
        return count * 7919 % 1000 + count

    def run(fn: Any, *args: Any) -> Any:
        nonlocal count
        count = 0
        return fn(*args)

    fake = types.SimpleNamespace(perf_counter=lambda: clock() / 10.0, perf_counter_ns=clock)
    gradient = adc.grad(program, **options)
    with monkeypatch.context() as patch:
        patch.setattr(effects, "time", fake)
        found = run(gradient, X, 6)
    text = capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", fake.perf_counter)
        patch.setattr(time, "perf_counter_ns", clock)
        steps = np.eye(4) * 1e-6
        differences = [run(program, X + step, 6) - run(program, X - step, 6) for step in steps]
    np.testing.assert_allclose(found, np.array(differences) / 2e-6, rtol=1e-4)
    assert capsys.readouterr().out == text * 8


def test_time_in_a_derivative_that_runs_code_again() -> None:
    def shown(x: Any) -> Any:
        start = time.time()
        print(time.time() - start >= 0.0)
        return np.sum(x**3)

    def used(x: Any) -> Any:
        return np.sum(x) * time.time()

    np.testing.assert_allclose(adc.jit(adc.hessian(shown))(X), np.diag(6.0 * X), atol=1e-12)
    with pytest.raises(AdcError, match="depends on the time"):
        adc.jit(adc.hessian(used))(X)
