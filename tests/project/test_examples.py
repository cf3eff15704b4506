"""The examples run as they stand."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem
)
def test_example(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [str(path), "--small"])
    monkeypatch.chdir(tmp_path)  # some leave a picture
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
