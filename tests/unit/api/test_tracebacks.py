"""Errors that a compiled program raises: the traceback has the calls that Python's would have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError, Span

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


def _long(x: Any, k: Any) -> Any:
    """So long that it is lowered once for all calls."""
    y = np.tanh(x) * 2.0
    for a in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        y = np.sin(y) * a + x * a
        y = y * np.cos(x) + np.exp(-y * y)
        y = y / (1.0 + y * y)
        if y[0] > 3.0:
            y = y * 0.5
    if x[0] + k > 2.0:
        raise ValueError(f"too large: {k}")
    return np.sum(y)


def _calls_it(x: Any, k: Any) -> Any:
    return _long(x, k) + 1.0


def in_the_second_call(x: Any) -> Any:
    return _long(x, x[0]) + _long(x * 0.5, x[2]) + _calls_it(x, x[1])


def in_a_function_that_calls_it(x: Any) -> Any:
    return _long(x, x[0]) + _long(x * 0.5, x[0]) + _calls_it(x, x[2])


def in_a_loop_that_calls_it(x: Any) -> Any:
    s = _long(x, x[0]) + _long(x, x[1])
    for k in range(3):
        s += _calls_it(x, x[k])
    return s


PROGRAMS = [
    inlined, called_twice, of_a_lambda, in_a_checkpoint, of_the_library, of_a_closure,
    in_a_branch_in_a_loop, in_a_comprehension, in_the_second_call, in_a_function_that_calls_it,
    in_a_loop_that_calls_it,
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


@pytest.mark.full
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
        if x > 2.0:
            raise ValueError("too large")
        return x
    return x * _power(x, n - 1)


def recursive(x: Any, n: Any) -> Any:
    return _power(x[2], n) + x[0]


def nested(x: Any) -> Any:
    return np.sum(adc.grad(inlined)(x))


@pytest.mark.full
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_calls_of_itself(target: Any) -> None:
    derived = adc.grad(recursive, target=target)
    for n in (0, 1, 5, 20):
        assert _frames(derived, X, n) == _frames(recursive, X, n)
    # Of very many calls, the innermost ones and the outermost one.
    found, message = _frames(derived, X, 100)
    wanted, own = _frames(recursive, X, 100)
    assert message == own
    assert 30 < len(found) < len(wanted)
    assert found[:2] == wanted[:2]
    assert found[-20:] == wanted[-20:]
    # Nothing is left of the calls before.
    assert _frames(derived, X, 1) == _frames(recursive, X, 1)


def test_calls_in_calls_of_derivatives() -> None:
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


# --- scripts that fail: the whole of what a user sees --------------------------------------------

INDEX = """\
import numpy as np

import adc


def element(x, k):
    return x[k]


def model(x, k):
    return np.sum(element(x, k))


adc.grad(model)(np.ones(3), 7)
"""
OF_INDEX = """\
Traceback (most recent call last):
  File "script.py", line 14, in <module>
    adc.grad(model)(np.ones(3), 7)
  File "adc/api/derivative.py", in __call__
  File "script.py", line 11, in model
    return np.sum(element(x, k))
  File "script.py", line 7, in element
    return x[k]
IndexError: index 7 is out of bounds for axis 0 with size 3
"""
UNBOUND = """\
import numpy as np

import adc

slopes, products = adc.vjp(lambda x: missing(x), np.ones(3))
"""
OF_UNBOUND = """\
Traceback (most recent call last):
  File "script.py", line 5, in <module>
    slopes, products = adc.vjp(lambda x: missing(x), np.ones(3))
  File "adc/api/products.py", in vjp
adc.ir.errors.UnboundError: [ADC011] name 'missing' is not defined
  File "script.py", line 5 in "<lambda>"
    slopes, products = adc.vjp(lambda x: missing(x), np.ones(3))
  Hint: check the spelling, or define it before the call
"""
OUTSIDE = """\
from concurrent.futures import ThreadPoolExecutor

import adc


@adc.external(result=float)
def root(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x**0.5


@adc.jit
def twice(x):
    return 2.0 * root(x)


with ThreadPoolExecutor() as pool:
    try:
        pool.submit(twice, -1.0).result()
    except ValueError as error:
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if "concurrent" not in code.co_filename:
                print(code.co_name, trace.tb_lineno)
            trace = trace.tb_next
        raise SystemExit(str(error)) from None
"""
OF_OUTSIDE = "-1.0 is negative\n"


def _shown(folder: Path, text: str, **environment: str) -> tuple[str, str]:
    """Return what a script prints, and its standard error without carets and lines of adc."""
    (folder / "script.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, text=True, capture_output=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert ran.returncode == 1
    own = str(Path(adc.__file__).parents[1])
    lines = [line for line in ran.stderr.splitlines() if not set(line) <= set(" ^~")]
    said = "\n".join(lines).replace(f"{folder}/", "").replace(f"{own}/", "") + "\n"
    return ran.stdout, re.sub(r'(File "adc/[^"]*"), line \d+(, in .*)\n    .*', r"\1\2", said)


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "said"), [(INDEX, OF_INDEX), (UNBOUND, OF_UNBOUND), (OUTSIDE, OF_OUTSIDE)],
    ids=["index", "unbound", "outside"],
)  # fmt: skip
def test_scripts_that_fail(tmp_path: Path, text: str, said: str) -> None:
    printed, found = _shown(tmp_path, text)
    assert found == said
    if text is OUTSIDE:
        assert printed.split() == ["<module>", "20", "__call__", *printed.split()[3:]]
        assert printed.split()[4:] == ["twice", "15", "root", "9"]
    whole = _shown(tmp_path, text, ADC_TRACEBACK="full")[1]
    assert len(whole) > len(found) or text is OUTSIDE


def test_tracebacks_are_short() -> None:
    def frames(call: Callable[[], Any]) -> list[str]:
        with pytest.raises((AdcError, IndexError)) as caught:
            call()
        files = [str(entry.path) for entry in caught.traceback[2:]]
        return ["user" if file == __file__ else Path(file).name for file in files]

    assert frames(lambda: adc.grad(lambda x: x[5])(X)) == ["derivative.py", "user"]
    assert frames(lambda: adc.hessian(lambda x: x.missing)(X)) == ["derivative.py"]
    assert frames(lambda: adc.jvp(lambda x: x.missing, (X,), (X,))) == ["products.py"]
    assert frames(lambda: adc.vjp(lambda x: x[5], X)) == ["products.py", "user"]
    assert frames(lambda: adc.grad(lambda x: x.missing).plan(X))[0] == "derivative.py"


def test_defects_are_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adc.compiler.dispatch.Code.find", None)
    with pytest.raises(TypeError) as caught:
        adc.grad(lambda x: x * x)(1.0)
    assert len(caught.traceback) == 3  # the test, `__call__` and what called it
