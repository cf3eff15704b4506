"""Derivatives in notebooks, in pytest and in pools: what is shown, and tracebacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# -- notebooks -------------------------------------------------------------------------------------

CELLS = [
    "import os\nimport numpy as np\nimport adc",
    "@adc.grad\ndef slope(x):\n    return np.sin(x) * x\n\nround(slope(2.0), 6)",
    # The cell is edited, and what calls the function is not run again.
    "def twice(x):\n    return helper(x) * 2.0\n\ndef helper(x):\n    return x * x\n\n"
    "adc.grad(twice)(3.0)",
    "def helper(x):\n    return x * x * x\n\nadc.grad(twice)(3.0)",
    "@adc.grad\ndef slope(x):\n    return np.sin(x) * x * x\n\nround(slope(2.0), 6)",
    # As `%autoreload` does: the code of a function is replaced.
    "def other(x):\n    return 5.0 * x\n\nhelper.__code__ = other.__code__\nadc.grad(twice)(3.0)",
    "slope",
    "def helper(x):\n    return x * os\n",
    "a = 1\nb = adc.grad(twice)(\n    2.0)",
    "def big(x):\n    if x > 1.0:\n        raise ValueError(f'too big: {x}')\n    return x\n",
    "adc.grad(big)(2.0)",
]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    made = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(folder / "cache"))
        patch.setenv("IPYTHONDIR", str(folder))
        client = nbclient.NotebookClient(made, timeout=200, allow_errors=True)
        client.execute(cwd=str(folder))
    found: list[Any] = made.cells
    return found


def _output(cell: Any) -> Any:
    (found,) = cell.outputs
    return found


def _traceback(cell: Any) -> list[str]:
    text = "\n".join(_output(cell).traceback)
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


@pytest.mark.full
@pytest.mark.filterwarnings("default")  # those of the client and of the kernel
def test_cells_that_are_run_again(cells: list[Any]) -> None:
    shown = [_output(cells[k]).data["text/plain"] for k in (1, 2, 3, 4, 5)]
    assert shown == ["0.077004", "12.0", "54.0", "1.972602", "10.0"]


@pytest.mark.filterwarnings("default")
def test_a_derivative_is_shown(cells: list[Any]) -> None:
    html = _output(cells[6]).data["text/html"]
    assert "<li><code>slope(x: float)</code></li>" in html
    assert "<caption>plan (auto)</caption>" in html


@pytest.mark.filterwarnings("default")
def test_an_error_has_the_call_in_its_cell(cells: list[Any]) -> None:
    shown = _traceback(cells[8])
    own = [k for k, line in enumerate(shown) if "derivative.py" in line]
    assert len(own) == 1
    del shown[own[0] : own[0] + 2]  # its line, with the code
    shown = [line for line in shown if set(line) - set(" ^~")]
    assert shown == [
        "Traceback (most recent call last):",
        "  Cell In[9], line 2, in <module>",
        "    b = adc.grad(twice)(",
        "[ADC014] `*` is not defined for module 'os'",
        '  Cell In[8], line 2 in "helper"',
        "    return x * os",
    ]


@pytest.mark.filterwarnings("default")
def test_an_error_that_the_program_raises(cells: list[Any]) -> None:
    shown = _traceback(cells[10])
    assert sum("derivative.py" in line for line in shown) == 1
    assert "----> 1 adc.grad(big)(2.0)" in shown
    assert shown[-6:] == [
        "      1 def big(x):",
        "      2     if x > 1.0:",
        "----> 3         raise ValueError(f'too big: {x}')",
        "      4     return x",
        "",
        "ValueError: too big: 2.0",
    ]


# -- pytest and pools ------------------------------------------------------------------------------

PROGRAM = """\
import adc

def helper(x):
    return x * adc

def refused(x):
    return helper(x) + 1.0

def raises(x):
    if x > 1.0:
        raise ValueError("too big")
    return x
"""


def _run(tmp_path: Path, *options: str) -> str:
    (tmp_path / "of_user.py").write_text(PROGRAM)
    own = {"ADC_CACHE_DIR": str(tmp_path.parent / "cache"), "NO_COLOR": "1", "PYTEST_ADDOPTS": ""}
    made = subprocess.run(
        [sys.executable, *options], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, **own, "COLUMNS": "100"}, timeout=200,
    )  # fmt: skip
    return made.stdout + made.stderr


@pytest.mark.full
def test_a_failing_test(tmp_path: Path) -> None:
    (tmp_path / "test_of_user.py").write_text(
        "import adc\nimport of_user\n\n"
        "def test_refused():\n    adc.grad(of_user.refused)(2.0)\n\n"
        "def test_raises():\n    adc.grad(of_user.raises)(2.0)\n"
    )
    text = _run(
        tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "test_of_user.py"
    )
    refused, raises = re.split(r"_+ test_\w+ _+\n", text)[1:]
    assert re.findall(r"^(\S+):\d+: in (\w+)$", refused, re.M)[0] == (
        "test_of_user.py", "test_refused"
    )  # fmt: skip
    assert refused.count(": in ") == 2
    assert 'of_user.py", line 4 in "helper"' in refused
    assert [name for _, name in re.findall(r"^(\S+):\d+: in (\w+)$", raises, re.M)] == [
        "test_raises", "__call__", "raises"
    ]  # fmt: skip


POOLS = """\
import sys, traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import adc
import of_user

if __name__ == "__main__":
    for fn in (of_user.refused, of_user.raises):
        for pool in (ThreadPoolExecutor(1), ProcessPoolExecutor(1, get_context("spawn"))):
            with pool:
                try:
                    pool.submit(adc.grad(fn), 2.0).result()
                except (adc.AdcError, ValueError) as error:
                    print("".join(traceback.format_exception(error)) + "=====")
"""


@pytest.mark.full
def test_pools_of_threads_and_of_processes(tmp_path: Path) -> None:
    (tmp_path / "pools.py").write_text(POOLS)

    texts = _run(tmp_path, "pools.py").split("=====\n")
    assert texts.pop() == ""
    refused, raises = texts[:2], texts[2:]
    for text in texts:
        # In the pool's own frames there is one line of adc, and what lies below it.
        assert text.count("derivative.py") == 1
        assert text.count("pools.py") == 1, "the line that waits for the result"
    for text in refused:
        assert "[ADC014] `*` is not defined for module 'adc'\n" in text
        assert 'of_user.py", line 4 in "helper"\n    return x * adc\n' in text
    for text in raises:
        assert 'of_user.py", line 11, in raises\n    raise ValueError("too big")\n' in text
        assert text.rstrip().endswith("ValueError: too big")
