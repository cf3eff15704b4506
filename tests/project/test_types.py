"""The annotations of the public API hold for a typed program of a user, which runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import adc
from tests.corpus import typed_program

ROOT = Path(__file__).parents[2]


def test_the_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path / "cache"))
    lines = typed_program.main(tmp_path)
    assert lines[0] == "12.0 slope"
    assert lines[-1] == adc.__version__
    assert (tmp_path / "both.dot").exists()


@pytest.mark.full
def test_mypy_takes_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    wrong = "number: int = slope.source()\nslope.nosuch\nadc.grad(energy, argnum=1)\nadc.vjp()\n"
    program.write_text(Path(typed_program.__file__).read_text() + wrong)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent",
         "--no-error-summary", "--cache-dir", str(tmp_path / "types"), "program.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    first = len(Path(typed_program.__file__).read_text().splitlines()) + 1
    found = {line.split(":")[1] for line in run.stdout.splitlines() if ": error: " in line}
    assert found == {str(first + k) for k in range(4)}, run.stdout
