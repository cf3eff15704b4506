"""Functions that are compiled apart from the module that calls them, on threads."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

import adc
from adc.backend.cpu import library, lowering
from adc.backend.numba_api import config
from adc.backend.runtime import threads

_KEPT = """
import atexit
import numpy as np
import adc
from adc.backend.cpu import library

library._GROUP, library._SMALL = 1, 0
made, compiled = library._object, []
library._object = lambda *args: compiled.append(args) or made(*args)

def bend(x, depth):
    if depth == 0 or x[0] > 9.0:
        return x
    return 0.5 * x + bend(np.sin(x) - 0.1, depth - 1)

def f(x, depth):
    return np.sum(bend(x, depth))

g = adc.grad(f)
atexit.register(lambda: print(adc.grad(lambda x: f(x, 2))(np.ones(2)).shape))
print(g(np.linspace(0.5, 1.5, 4), 3).tolist())
print(len(compiled))
"""


def layer(p: Any, x: Any) -> Any:
    return np.tanh(p["w"] @ x) * p["scale"] + x


def bend(x: Any, depth: int) -> Any:
    if depth == 0 or x[0] > 9.0:
        return x
    return 0.5 * x + bend(np.sin(x) - 0.1, depth - 1)


def loss(layers: Any, x: Any, depth: int) -> Any:
    for p in layers:
        x = layer(p, x)
    total = np.exp(-x[1]) + np.log(1.0 + x[2] * x[2])
    for k in range(len(x)):
        if x[k] > 0.1:
            total += x[k] ** 3 / (1.0 + x[k])
    return total + np.sum(bend(x, depth)) + np.sum(np.sort(x)[::2])


def given() -> tuple[Any, ...]:
    drawn = np.random.default_rng(0)
    layers = [{"w": drawn.normal(size=(6, 6)), "scale": 0.5} for _ in range(3)]
    return layers, drawn.normal(size=6), 4


def middle(x: Any, k: int, depth: int) -> Any:
    if depth == 0:
        return x[k]
    return np.sqrt(1.0 + middle(0.5 * x, k, depth - 1))


def of_parts(x: Any, k: int) -> Any:
    return middle(x, k, 3) * np.sum(x)


def _objects(function: Any) -> tuple[bytes, ...]:
    (made,) = function._code.last.entry.kernel.code.overloads.values()
    assert made.library.groups is None  # the translation is not kept
    found: tuple[bytes, ...] = made.library.objects
    return found[:-1]  # the last one is of the module itself


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function is a group, and nothing is compiled yet."""
    monkeypatch.setattr(library, "_GROUP", 1)
    monkeypatch.setattr(library, "_SMALL", 0)
    adc.release_memory()


@pytest.mark.parametrize("settings", [{}, pytest.param({"OPT": 0}, marks=pytest.mark.full)])
def test_the_bits_are_those_of_one_module(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, int], request: pytest.FixtureRequest
) -> None:
    for name, value in settings.items():
        monkeypatch.setattr(config, name, value)
    adc.release_memory()
    whole = adc.value_and_grad(loss, cache=False)
    expected = whole(*given())
    assert _objects(whole) == ()
    request.getfixturevalue("apart")
    parts = adc.value_and_grad(loss, cache=False)
    found = parts(*given())
    assert len(_objects(parts)) > 3
    assert found[0] == expected[0]
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(one["w"], other["w"])
        assert one["scale"] == other["scale"]
    np.testing.assert_allclose(found[0], loss(*given()), rtol=1e-12)


@pytest.mark.usefixtures("apart")
def test_loops_on_threads() -> None:
    def f(x: Any) -> Any:
        out = np.empty(len(x))
        for i in range(len(x)):
            s = 0.0
            for j in range(x.shape[1]):
                s += np.sin(x[i, j]) * x[i, j - 1]
            out[i] = s * s
        return np.sum(out)

    x = np.random.default_rng(0).normal(size=(500, 30))
    alone, shared = adc.grad(f, cache=False), adc.grad(f, cache=False, parallel=2)
    np.testing.assert_array_equal(alone(x), shared(x))
    assert _objects(shared)


@pytest.mark.usefixtures("apart")
def test_errors_in_a_function_that_is_compiled_apart() -> None:
    g = adc.grad(of_parts, cache=False)
    x = np.linspace(0.5, 1.5, 4)
    assert np.isfinite(g(x, 2)).all()
    assert _objects(g)
    with pytest.raises(IndexError, match="index 4 is out of") as caught:
        g(x, 4)
    assert [each.name for each in caught.traceback][-5:] == ["of_parts", *["middle"] * 4]


@pytest.mark.full
@pytest.mark.usefixtures("apart")
def test_the_same_groups_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[list[str]] = []
    compiled = library._compiled

    def note(text: str, *rest: Any) -> bytes:
        texts[-1].append(text)
        return compiled(text, *rest)

    monkeypatch.setattr(library, "_compiled", note)
    for count in (1, 3):
        monkeypatch.setattr(threads, "most", lambda count=count: count)
        texts.append([])
        adc.release_memory()
        adc.grad(loss, cache=False)(*given())
        names = {each.name for each in threading.enumerate()}
        assert not any(name.startswith("adc-llvm") for name in names)
    one, other = ([re_marked(text) for text in sorted(each)] for each in texts)
    assert one == other
    assert len(one) > 3


def re_marked(text: str) -> str:
    """Return LLVM's text without what tells one compilation of a program from another one."""
    found = text.split("define weak_odr", 1)[1].split('@"adc_', 1)[1].split("_", 1)[0]
    return text.replace(found, "")


@pytest.mark.full
def test_a_group_that_fails(monkeypatch: pytest.MonkeyPatch, apart: None) -> None:
    def fail(*_: Any) -> bytes:
        raise RuntimeError("LLVM makes no machine code")

    monkeypatch.setattr(library, "_compiled", fail)
    with pytest.raises(RuntimeError, match="LLVM makes no machine code"):
        adc.grad(loss, cache=False)(*given())
    monkeypatch.undo()
    assert np.isfinite(adc.grad(loss, cache=False)(*given())[0]["w"]).all()


def test_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch, apart: None) -> None:
    def refuse(*_: Any) -> Any:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    made = adc.grad(loss, cache=False)
    assert np.isfinite(made(*given())[0]["w"]).all()
    assert len(_objects(made)) > 3


def test_text_that_llvm_does_not_read() -> None:
    with pytest.raises(RuntimeError, match="LLVM does not read"):
        library._parsed("define i32 @f() { ret void }", llvm.create_context())


def test_which_arguments_a_function_needs() -> None:
    word = ir.IntType(64)
    module = ir.Module()
    made = ir.Function(module, ir.FunctionType(word, [word] * 5), "f")
    start, other, end = (made.append_basic_block() for _ in range(3))
    b = ir.IRBuilder(start)
    a, c, d, _, e = made.args
    b.cbranch(b.icmp_signed("<", a, word(0)), other, end)
    b.position_at_end(other)
    b.branch(end)
    b.position_at_end(end)
    joined = b.phi(word)
    joined.add_incoming(c, start)
    joined.add_incoming(word(1), other)
    b.ret(b.select(b.icmp_signed("<", joined, word(0)), d, joined))
    assert lowering._needed(made) == [True, True, True, False, False]
    assert e not in joined.operands


@pytest.mark.full
def test_machine_code_that_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "kept.py"
    file.write_text(_KEPT)
    env = {**os.environ, "ADC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(file)]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
        for _ in range(2)
    )
    gradient, count, at_the_end = first.splitlines()
    assert at_the_end == "(2,)"
    assert int(count) > 0
    assert len(ast.literal_eval(gradient)) == 4
    assert second.splitlines() == [gradient, "0", at_the_end]  # which compiles nothing


@pytest.mark.full
def test_machine_code_after_functions_of_numba(tmp_path: Path) -> None:
    """Numba compiles what counts references for the target that comes first: here, its own."""
    file = tmp_path / "after.py"
    file.write_text(f"import numba\nnumba.njit(lambda x: x + 1)(1)\n{_KEPT}")
    env = {**os.environ, "ADC_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # compiled, and loaded
        subprocess.run([sys.executable, str(file)], capture_output=True, check=True, env=env)
