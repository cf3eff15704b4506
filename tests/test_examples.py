"""The examples and the README's program run as they stand."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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


def test_readme(tmp_path: Path) -> None:
    first = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    path = tmp_path / "readme.py"
    path.write_text(first + "\ngradient = roughness(np.linspace(0.0, 1.0, 5), 2.0)\n")
    assert runpy.run_path(str(path))["gradient"].shape == (5,)
