"""The yardstick is straight: adjoints written by hand, and adc's, agree with differences."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
import adc.testing
from tests.bench import compile, report
from tests.bench.__main__ import ROOT, TOOLS, tools_of
from tests.bench.kernels import KERNELS, Kernel, ValueAndGrad
from tests.bench.kernels.as_written import AS_WRITTEN
from tests.bench.kernels.hand import HAND
from tests.bench.report import Result


def check(kernel: Kernel, call: ValueAndGrad) -> None:
    args = kernel.arguments(kernel.tiny)
    value, gradients = call(*args)
    for arg, given in zip(args, kernel.arguments(kernel.tiny), strict=True):
        np.testing.assert_array_equal(arg, given)
    np.testing.assert_allclose(value, kernel.loss(*kernel.arguments(kernel.tiny)), rtol=1e-13)

    if not isinstance(gradients, tuple):
        gradients = (gradients,)
    step = 1e-5
    for seed in range(4):
        rng = np.random.default_rng(seed)
        directions = [rng.standard_normal(args[k].shape) for k in kernel.wrt]

        def at(shift: float, directions: Any = directions) -> Any:
            moved = list(kernel.arguments(kernel.tiny))
            for k, direction in zip(kernel.wrt, directions, strict=True):
                moved[k] = moved[k] + shift * direction
            return kernel.loss(*moved)

        slope = sum(np.sum(g * v) for g, v in zip(gradients, directions, strict=True))
        wanted = (at(step) - at(-step)) / (2 * step)
        np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.full
@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", AS_WRITTEN)
def test_adjoint_as_written(name: str) -> None:
    check(KERNELS[name], AS_WRITTEN[name])


@pytest.mark.full
@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", HAND)
def test_adjoint_by_hand(name: str) -> None:
    check(KERNELS[name], HAND[name])


@pytest.mark.full
@pytest.mark.parametrize("name", KERNELS)
def test_gradient(name: str) -> None:
    kernel = KERNELS[name]
    check(kernel, adc.value_and_grad(kernel.loss, kernel.wrt))


@pytest.mark.full
@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", compile.KINDS)
def test_long_program(kind: str) -> None:
    x, w = np.random.default_rng(0).standard_normal((2, 6))
    adc.testing.check_grads(compile.program(kind, 30), (0.1 * x, 0.1 * w))


def test_growth() -> None:
    assert compile.growth((10, 100, 1000), (1.0, 2.0, 20.0)) == pytest.approx(1.0)
    assert compile.growth((100, 400), (1.0, 16.0)) == pytest.approx(2.0)
    assert math.isnan(compile.growth((10, 100), (1.0, 2.0)))


# --- what is said of results ----------------------------------------------------------------------


RESULTS = [
    Result("cholesky", "primal", median=1e-3),
    Result("cholesky", "adc forward", median=1.25e-3),
    Result("cholesky", "hand", median=4e-3),
    Result("cholesky", "adc", median=2e-3, gradient=1e-3),
    Result("cholesky", "jax loops", median=4.0),
    Result("seidel", "hand", median=1e-3),
    Result("seidel", "adc", median=8e-3),
    Result("seidel", "jax arrays", note="not there"),
    Result("chain", "numpy", median=0.123456),
    Result("chain", "hand", median=1.0),
    Result("chain", "adc", median=0.25),
    Result("hdiff", "numpy", median=0.1),  # adc has not been run
]


def test_geometric_mean() -> None:
    assert report.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert report.geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0)


def test_means() -> None:
    found = {(each.tool, each.group): each for each in report.means(RESULTS)}
    assert list(found) == [("hand", "loops"), ("hand", "arrays"), ("jax loops", "loops")]
    loops = found["hand", "loops"]
    assert (loops.kernels, loops.least, loops.most) == (2, 0.5, 8.0)
    assert loops.mean == pytest.approx(2.0)
    assert found["hand", "arrays"].mean == 0.25


def test_to_forward() -> None:
    kernels = report.by_kernel(RESULTS)
    assert report.to_forward(kernels["cholesky"]) == {"adc forward": 1.6, "primal": 2.0}
    assert report.to_forward(kernels["seidel"]) == {}
    assert report.to_forward(kernels["hdiff"]) == {}
    _, forward = report.summary(RESULTS)
    assert forward[1:3] == [["cholesky", "1.60", "2.00", "", "0.80"], ["seidel", "", "", "", ""]]
    assert forward[-1] == ["geometric mean", "1.60", "2.00", "2.03", "0.80"]


def test_markdown() -> None:
    lines = report.markdown(RESULTS).splitlines()
    assert lines[:6] == [
        "| kernel, ms | numpy | primal | adc forward | hand | adc | jax loops |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| cholesky |  | 1.00 | 1.25 | 4.00 | **2.00** | 4000 |",
        "| seidel |  |  |  | 1.00 | **8.00** |  |",
        "| chain | 123 |  |  | 1000 | **250** |  |",
        "| hdiff | 100 |  |  |  |  |  |",
    ]
    assert "| hand | loops | 2 | 2.00 | 0.50 | 8.00 |" in lines
    assert "| jax loops | loops | 1 | 0.0005 | 0.0005 | 0.0005 |" in lines


@pytest.mark.full
def test_chart(tmp_path: Path) -> None:
    report.chart(RESULTS, tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")
    report.chart(RESULTS, tmp_path / "ratios.svg")
    text = (tmp_path / "ratios.svg").read_text()
    assert "<!-- cholesky -->" in text
    assert "<!-- jax loops -->" in text
    assert "<!-- hdiff -->" not in text


def test_tools_of() -> None:
    assert "adc forward" in tools_of("cholesky", [])
    assert "adc forward" not in tools_of("cholesky", ["adc forward"])
    assert all(set(tools_of(name, [])) <= set(TOOLS) for name in KERNELS)


@pytest.mark.full
def test_the_command(tmp_path: Path) -> None:
    skipped = [tool for tool in TOOLS if tool not in ("primal", "adc", "adc forward")]
    options = [option for tool in skipped for option in ("--skip", tool)]
    found = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--only", "cholesky", "--size", "S", "--rounds", "1",
         "--json", str(tmp_path / "found.json"), "--markdown", *options],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "| kernel, ms | primal | adc forward | adc |" in found.stdout
    made = json.loads((tmp_path / "found.json").read_text())
    assert made["machine"]["threads"] == 1
    (own,) = [each for each in made["results"] if each["tool"] == "adc"]
    assert own["gradient"] > 0.0
    assert own["first_memory"] is None or own["first_memory"] > own["memory"]
    assert own["warm_start"] > 0.0
    assert own["difference"] < 1e-9
