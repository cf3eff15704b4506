"""Long functions are compiled in parts, and repeated loops once: with the same bits."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend import cpu
from adc.backend.common import outline, repeated
from adc.compiler.driver import transform
from adc.ir.core import walk
from tests.bench.compile import program
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain as chains


@pytest.fixture
def _tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST", 6)
    monkeypatch.setattr(outline, "PART", 4)


@pytest.mark.sampled(150)
@pytest.mark.usefixtures("_tiny_parts")
@pytest.mark.parametrize("program", PROGRAMS[::16], ids=lambda program: program.name)
def test_tiny_parts_of_the_corpus(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    for policy in ("auto", "store"):
        made = transform(chain.lowered, (("adjoint", chain.positions),), policy)
        results = chains.run(made.fn, chains.fresh(chain.inputs))
        kernel = cpu.compile(made.fn)
        if len(list(walk(made.fn.body))) > 60:
            assert "PART" in kernel.emitted.source
        found = kernel(*chains.fresh(chain.inputs))
        # Vector and scalar functions of libraries may differ from NumPy's in the last bits.
        for a, b in zip(found, results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
        with monkeypatch.context() as every:  # loop becomes a function
            every.setattr(repeated, "LONG", 0)
            every.setattr(repeated, "OFTEN", 1)
            again = cpu.compile(made.fn)(*chains.fresh(chain.inputs))
        assert chains.bits(found) == chains.bits(again)


def _long(lines: int) -> Any:
    text = ["import numpy as np", "def program(x, w):", "    a = x * 1.0"]
    text += [f"    a = np.tanh(a * w + {k % 7}.0) * 0.5 + a" for k in range(lines)]
    source = "\n".join([*text, "    return np.sum(a)", ""])
    file = f"<outline-{lines}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


@pytest.mark.full
def test_a_long_function() -> None:
    fn = _long(100)
    x, w = np.linspace(-1.0, 1.0, 5), np.linspace(0.1, 0.9, 5)
    kernel = adc.value_and_grad(fn)
    value, gradient = kernel(x, w)
    assert "part2" in kernel.source(x, w)
    assert value == pytest.approx(fn(x, w), rel=1e-13)
    h = 1e-6
    for k in range(5):
        step = h * (np.arange(5) == k)
        slope = (fn(x + step, w) - fn(x - step, w)) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-7)


def sums_of_sums(x: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        a = np.cumsum(x)
        b = np.cumsum(a * x)
        c = np.cumsum(b[::-1])
        total += c[3]
    return total


def test_iterations_give_back_the_memory_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST", 6)
    monkeypatch.setattr(outline, "PART", 20)
    chain = chains.Chain.of(sums_of_sums, (np.linspace(0.0, 1.0, 100), 20), (0,))
    kernel = cpu.compile(transform(chain.lowered, (), "store").fn)
    assert " = sums_of_sums_part1(" in kernel.emitted.source
    kernel(*chains.fresh(chain.inputs))
    assert kernel.peak is not None
    assert kernel.peak < 5 * 800


@pytest.mark.full
def test_repeated_loops() -> None:
    fn = program("slices", 90)
    x, w = np.random.default_rng(0).standard_normal((2, 7)) * 0.1
    kernel = adc.value_and_grad(fn)
    value, gradient = kernel(x, w)
    assert 5 < kernel.source(x, w).count('"""A loop: ') < 20
    assert kernel.source(x, w).count("for ") < 40
    assert value == pytest.approx(fn(x, w), rel=1e-13)
    h = 1e-7
    for k in range(7):
        step = h * (np.arange(7) == k)
        slope = (fn(x + step, w) - fn(x - step, w)) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-5)


_SCRIPT = """
import sys, numpy as np, adc
sys.path.insert(0, {folder!r})
from long_module import program
x = np.linspace(-1.0, 1.0, 4)
kernel = adc.grad(program)
print(kernel(x, x).tobytes().hex(), kernel.cache_info()["loaded"])
"""


@pytest.mark.full
def test_parts_are_loaded_by_another_process(tmp_path: Path) -> None:
    text = ["import numpy as np", "def program(x, w):", "    a = x * 1.0"]
    text += [f"    a = np.tanh(a * w + {k % 7}.0) * 0.5 + a" for k in range(14)]
    (tmp_path / "long_module.py").write_text("\n".join([*text, "    return np.sum(a)", ""]))
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT.format(folder=str(tmp_path))],
            env={**os.environ, "ADC_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.append(done.stdout.split())
    (bits, compiled), (again, loaded) = found
    assert bits == again
    assert (compiled, loaded) == ("0", "1")
