"""`python -m tests.coverage`: lines of the library that are lowered, and the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import adc
from adc.library import statistics
from tests.coverage import ROOT, File, Lowered, read_lowered, report


def counted(x: np.ndarray) -> float:
    return np.sum(np.histogram(x, 3, (0.0, 1.0))[0] * 1.0)


def test_lines_that_are_lowered_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = Lowered()
    with monkeypatch.context() as patch:
        lowered.watch(patch)
        adc.jit(counted)(np.array([0.1, 0.2, 0.9]))
    lowered.write(tmp_path)
    found = read_lowered(tmp_path)
    assert set(found) <= {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")}
    text = Path(statistics.__file__).read_text(encoding="utf-8").splitlines()
    lines = [text[line - 1].strip() for line in sorted(found["adc/library/statistics.py"])]
    assert "found = np.zeros(len(edges) - 1, np.int64)" in lines
    # There are no weights: whether there are is known when it is compiled.
    assert "weights = np.ravel(weights)" not in lines


def test_the_table_and_the_gaps() -> None:
    summary = {"num_statements": 4, "num_branches": 4, "covered_branches": 2}
    found = {"missing_lines": [3, 4], "missing_branches": [[2, 3], [1, -1]], "summary": summary}
    files = [File("passes/ad/x.py", found, set()), File("adc/library/y.py", found, {4})]
    lines = report(files, "").splitlines()
    assert lines[:5] == [
        "adc/library/y.py:3 never runs",
        "passes/ad/x.py:3 never runs",
        "passes/ad/x.py:4 never runs",
        "passes/ad/x.py:2 never goes on at 3",
        "passes/ad/x.py:1 never ends here",
    ]
    assert [line.split() for line in lines[6:]] == [
        ["adc/library", "4", "75.0", "%", "0", "-"],
        ["adc", "(all)", "4", "75.0", "%", "0", "-"],
        ["passes/ad", "4", "50.0", "%", "4", "50.0", "%"],
        ["passes", "(all)", "4", "50.0", "%", "4", "50.0", "%"],
        ["all", "8", "62.5", "%", "4", "50.0", "%"],
    ]
    assert report(files, "passes/loops") == report(files, None)
