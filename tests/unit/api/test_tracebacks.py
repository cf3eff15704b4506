"""Errors that a compiled program raises: the traceback has the calls that Python's would have."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import Span

X = np.array([0.3, 1.0, 3.0])


def _inner(v: Any) -> Any:
    if v > 2.0:
        raise ValueError(f"too large: {v}")
    return v * v


def _middle(x: Any) -> Any:
    s = 0.0
    for v in x:
        s += _inner(v)
    return s


def inlined(x: Any) -> Any:
    return _middle(x) + 1.0


def called_twice(x: Any) -> Any:
    first = inlined(x[:2])
    return first + inlined(x)


_reciprocal: Any = lambda y: 1 / int(y)  # noqa: E731


def of_a_lambda(x: Any) -> Any:
    return x[0] / _reciprocal(x[0])


@adc.checkpoint
def _checkpointed(x: Any) -> Any:
    return inlined(x)


def in_a_checkpoint(x: Any) -> Any:
    return _checkpointed(x) * 2.0


def _inverse(a: Any) -> Any:
    return np.linalg.inv(a)


def of_the_library(x: Any) -> Any:
    return np.sum(_inverse(np.outer(x, x) * 0.0))


def of_a_closure(x: Any) -> Any:
    def check(y: Any) -> Any:
        if np.sum(y) > 3.0:
            raise ArithmeticError("sum")
        return y

    return np.sum(check(x * x))


def _positive(x: Any) -> Any:
    if x[2] > 1.0:
        raise ValueError
    return x[2]


def in_a_branch_in_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(3):
        if k == 2:
            s += _positive(x)
    return s


def in_a_comprehension(x: Any) -> Any:
    return sum([_inner(v) for v in (x[0], x[2])])


PROGRAMS = [
    inlined, called_twice, of_a_lambda, in_a_checkpoint, of_the_library, of_a_closure,
    in_a_branch_in_a_loop, in_a_comprehension,
]  # fmt: skip


def _frames(fn: Callable[..., Any], *args: Any) -> tuple[list[tuple[str, int | None]], str]:
    """Return the frames of this file below the test, and the message, of what a call raises."""
    try:
        fn(*args)
    except (ArithmeticError, AssertionError, ValueError) as error:
        caught: Exception = error
    frames = traceback.extract_tb(caught.__traceback__)
    own = [(frame.name, frame.lineno) for frame in frames if frame.filename == __file__][1:]
    # Comprehensions have a frame of their own before Python 3.12.
    return [each for each in own if each[0] != "<listcomp>"], repr(caught)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("derive", [adc.grad, adc.jit], ids=["grad", "jit"])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_the_calls_are_those_of_python(derive: Any, fn: Callable[[Any], Any]) -> None:
    wanted, message = _frames(fn, X)
    found, own = _frames(derive(fn, cache=False), X)
    assert found == wanted
    assert own == message
    assert len(found) > 1


def _power(x: Any, n: Any) -> Any:
    if n == 0:
        assert x < 2.0, "too large"
        return x
    return x * _power(x, n - 1)


def recursive(x: Any) -> Any:
    return _power(x[2], 2) + x[0]


def nested(x: Any) -> Any:
    return np.sum(adc.grad(inlined)(x))


def test_real_calls() -> None:
    # Of a recursion, the first call and the last, and some between: it has levels of itself in it.
    found, _ = _frames(adc.grad(recursive), X)
    first, *others = [name for name, _ in found]
    assert first == "recursive"
    assert set(others) == {"_power"}
    found, _ = _frames(adc.grad(nested), X)
    assert [name for name, _ in found] == ["nested", "inlined", "_middle", "_inner"]


def test_in_reverse_code() -> None:
    # A loop'"'"'s value is recovered with too few digits, which only reverse code detects.
    def descent(w: Any, data: Any, n: Any) -> Any:
        w, v = adc.invertible(w), adc.invertible(0.0)
        for _ in range(n):
            v *= 0.9
            v -= 0.1 * (w - data) * np.tanh(w)
            w += v
        return w * w

    def fn(data: Any) -> Any:
        return descent(0.3, data, 2000) + data

    with pytest.raises(FloatingPointError, match="half of the digits") as caught:
        adc.grad(fn, cache=False)(0.7)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["fn", "descent"]


SCRIPT = """
import traceback, numpy as np, adc

def inner(v):
    assert v < 2.0
    return v

def outer(x):
    return inner(x[2]) + x[0]

try:
    adc.grad(outer)(np.array([0.3, 1.0, 3.0]))
except AssertionError as error:
    print([f.name for f in traceback.extract_tb(error.__traceback__)][-2:], adc.grad(outer))
"""


@pytest.mark.full
def test_code_from_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path))
    file = tmp_path / "program.py"
    file.write_text(SCRIPT)
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, check=True
        )
        assert run.stdout.startswith("['outer', 'inner']")


def test_spans() -> None:
    outer, inner = Span("a.py", 1, function="f"), Span("a.py", 2, function="g")
    called = inner.called(outer)
    assert called == inner  # the same lines
    assert [each.line for each in called.chain()] == [1, 2]
    assert [each.line for each in called.called(Span("b.py", 7)).chain()] == [7, 1, 2]
