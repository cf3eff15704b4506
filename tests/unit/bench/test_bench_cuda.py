"""The benchmark of code for GPUs: what it compares with is right, and it runs in the simulator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.cuda import api
from tests.bench.cuda import __main__ as cuda
from tests.bench.cuda import registers
from tests.bench.cuda import report as cuda_report
from tests.bench.cuda.hand import HAND
from tests.bench.cuda.programs import COPY, PEERS, PROGRAMS
from tests.bench.cuda.programs import HAND as BESIDE_HAND


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a module, without the simulator unless that is asked for."""
    own = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    full = [sys.executable, "-m", *arguments]
    return subprocess.run(full, env={**own, **environment}, capture_output=True, text=True)


@pytest.mark.full
@pytest.mark.parametrize("name", HAND)
@pytest.mark.parametrize("size", ["tiny", "steps", "none", "no inner ones"])
def test_stencils_by_hand(name: str, size: str) -> None:
    kernel = PROGRAMS[name].kernel
    shape = {"tiny": kernel.tiny, "steps": (3, 7), "none": (0, 4), "no inner ones": (2, 2)}[size]
    args = kernel.arguments(shape)
    on_device = [api.cuda.to_device(x) if isinstance(x, np.ndarray) else x for x in args]
    value, gradients = HAND[name](*on_device)
    wanted, others = adc.value_and_grad(kernel.loss, kernel.wrt)(*args)
    assert value == pytest.approx(wanted, rel=1e-13)
    for own, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(own.copy_to_host(), other, rtol=1e-12, atol=1e-15)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["light", "dot", "logsumexp", "batched_ode"])
def test_programs(name: str) -> None:
    kernel = PROGRAMS[name].kernel
    args = kernel.arguments(kernel.tiny)
    wanted, others = adc.value_and_grad(kernel.loss, kernel.wrt)(*args)
    assert wanted == pytest.approx(kernel.loss(*args), rel=1e-13)
    direction = np.random.default_rng(1).standard_normal(args[kernel.wrt[-1]].shape)
    step, at = 1e-6, list(args)
    ends = []
    for sign in (1.0, -1.0):
        at[kernel.wrt[-1]] = args[kernel.wrt[-1]] + sign * step * direction
        ends.append(kernel.loss(*at))
    gradient = others[-1] if isinstance(others, tuple) else others
    slope = (ends[0] - ends[1]) / (2.0 * step)
    assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.full
def test_it_runs_in_the_simulator() -> None:
    only = ["--only=light", "--only=jacobi"]
    done = command("tests.bench.cuda", "--small", "--rounds=1", *only, NUMBA_ENABLE_CUDASIM="1")
    assert done.returncode == 0, done.stdout + done.stderr
    said = [("light", "adc"), ("jacobi", "adc"), ("jacobi", "hand")]
    for name, tool in said:
        assert re.search(rf"^{name}, {tool}: off by \d", done.stdout, re.MULTILINE)
    assert "WRONG" not in done.stdout


@pytest.mark.full
def test_without_a_gpu() -> None:
    done = command("tests.bench.cuda", CUDA_VISIBLE_DEVICES="-1")
    assert done.returncode == 1
    assert re.fullmatch(r"Nothing is measured: \[ADC028\] there is no GPU.*\n", done.stderr)
    done = command("tests.bench.cuda", NUMBA_ENABLE_CUDASIM="1")
    assert "the simulator can do --small only" in done.stderr


# --- what is said of results ----------------------------------------------------------------------


def of_adc(**more: Any) -> dict[str, Any]:
    timed = {"median": 2e-3, "gradient median": 1e-3, "kernels": 5e-4, "launches": 2}
    return {"off": 1e-14, "bytes": 2 * 10**9, "first": 1.0, "versions": "adc 1", **timed, **more}


RESULTS: cuda.Results = {
    "light": {"adc": of_adc()},
    "chain": {"adc": {"error": "DeviceError: [ADC028] | no"}},
    "jacobi": {"adc": of_adc(off=1e-11), "hand": {"median": 1e-3, "off": 1e-16}},
    "heat": {"adc": of_adc(off=2e-11, rounding=1e-11, each={"L0": [3e-4, 2]}),
             "hand": {"median": 1.9e-3, "off": 1e-16}},
    "nbody": {"adc": of_adc(note="with transfers"), "jax": {"median": 4e-3, "off": 1e-15},
              "torch": {"error": "took longer than 120 s"}},
}  # fmt: skip


def test_tables() -> None:
    tables = cuda.tables(RESULTS, {"bandwidth": 2e12}, small=False)
    assert [len(rows) - 1 for rows in tables.values()] == [5, 4, 2, 1, 1]
    first, copies, stencils, others, slowest = tables.values()
    assert first[3][:3] == ["jacobi", "20 x 4096", "1.0e-11 (WRONG), rounding 0.0e+00"]
    assert first[4][2] == "2.0e-11, rounding 1.0e-11"
    assert first[2][-1] == "adc: DeviceError: [ADC028] / no"
    assert copies[1][:-1] == ["light, with its value", "2", "0.5", "2", "2", "50%", "200%"]
    assert copies[2][1:-1] == ["1", "", "", "2", "100%", ""]
    assert stencils[1] == ["jacobi", "2", "0.5", "2", "1", "2.00", "1e-16", ""]
    assert others[1][4:8] == ["4", "", "0.50", ""]
    assert others[1][-1] == "torch: took longer than 120 s; with transfers"
    assert slowest[1] == ["heat", "L0", "2", "0.3", "60%"]
    page = cuda.markdown("a GPU", RESULTS, {"bandwidth": 2e12})
    assert page.count("\n### ") == 5
    assert "a GPU" in page


def test_verdicts() -> None:
    said = cuda.verdicts(RESULTS, {"bandwidth": 2e12})
    assert said[0] == "equal to the CPU to 1e-12, or rounding: 3 of 5 programs"
    assert said[1:] == [
        "light, gradient at 0.8 of a copy's bandwidth or more: 1.00, yes",
        "chain, gradient at 0.8 of a copy's bandwidth or more: not measured, no",
        "jacobi, 1.3 times the kernels by hand or less: 2.00, no",
        "heat, 1.3 times the kernels by hand or less: 1.05, yes",
        "nbody, less than jax takes: 0.50, yes",
        "nbody, less than torch takes: not measured, no",
    ]


def test_every_comparison_has_programs() -> None:
    beside = [program.beside for program in PROGRAMS.values()]
    assert [beside.count(each) for each in (COPY, BESIDE_HAND, PEERS)] == [2, 2, 3]


def test_sections_of_the_page() -> None:
    page = "# Page\n\nText.\n\n## A\n\nold\n\n### More\n\nold\n\n## B\n\nkept\n"
    assert (
        cuda_report.replaced(page, "A", "new\n")
        == "# Page\n\nText.\n\n## A\n\nnew\n\n## B\n\nkept\n"
    )
    assert cuda_report.replaced(page, "C", "new").endswith("kept\n\n## C\n\nnew\n")
    assert "\n## Measured\n" in cuda_report.RECORD.read_text()


# --- registers ------------------------------------------------------------------------------------


@pytest.mark.full
def test_no_spills() -> None:
    kinds = [f"--kind={kind}" for kind in registers.STRICT]
    done = command("tests.bench.cuda.registers", "--capability=80", *kinds)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in registers.STRICT:
        assert re.search(rf"^- {kind}: \d+ kernels, .*; no spills;", done.stdout, re.MULTILINE)


REPORT = """
ptxas info    : Function properties for kernel
    {0} bytes stack frame, {1} bytes spill stores, {2} bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 48 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Function properties for function
    0 bytes stack frame, 0 bytes spill stores, 8 bytes spill loads
"""


def test_spills_are_read() -> None:
    found = registers.read(REPORT.format(40, 16, 24))
    assert found == registers.Usage(24, 48, 16, 32, 2048)
    assert "spilled: k;" in registers.summary({"stencil": [("k", [found])]})
    none = replace(found, stores=0, loads=0)
    assert "no spills; local memory: k" in registers.summary({"stencil": [("k", [none])]})
    table = registers.rows([("k", [found, none])])
    assert table[1] == ["k", "24", "48", "16, 0", "32, 0", "2048"]
    assert registers.worst([("p a", [none]), ("p b", [found])]) == [("p, the most of 2", [found])]
