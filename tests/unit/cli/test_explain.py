"""The pages of the error codes tell the truth: their programs are run."""

from __future__ import annotations

import ast
import doctest
import linecache
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adc import cli, explain
from adc.api.derivative import Derivative
from adc.cli.check import compare
from adc.ir.errors import CODES, AdcError
from adc.testing.differences import Outcome

# What a user cannot provoke, or not in one process.
WITHOUT_PROGRAM = {
    "ADC000",
    "ADC002",
    "ADC003",
    "ADC004",
    "ADC005",
    "ADC006",
    "ADC028",
    "ADC029",
    "ADC038",
    "ADC900",
}
# What no other program avoids.
WITHOUT_WAY_OUT = {"ADC037"}
_PAGE = re.compile(
    r"# (?P<code>ADC\d{3}): .+?"
    r"## A program\n\n```python\n(?P<bad>.+?)```\n\n```text\n(?P<message>.+?)\n```\n\n"
    r"## What to do\n\n[^#`].+?(?:```python\n(?P<good>.+?)```\n)?",
    re.DOTALL,
)


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    return path


@pytest.mark.sampled(4)
@pytest.mark.parametrize("code", sorted(set(CODES) - WITHOUT_PROGRAM))
def test_page(code: str, tmp_path: Path) -> None:
    found = _PAGE.fullmatch(explain.page(code))
    assert found is not None
    assert found["code"] == code
    path = _file(tmp_path, found["bad"])
    with pytest.raises(AdcError) as caught:
        runpy.run_path(str(path))
    assert caught.value.code == code
    assert str(caught.value).replace(str(path), path.name) == found["message"]
    if code in WITHOUT_WAY_OUT:
        assert found["good"] is None
    else:
        _check_gradient(_file(tmp_path, found["good"]), found["good"])


def _check_gradient(path: Path, text: str) -> None:
    """Compare the call in the last line with differences."""
    module: dict[str, Any] = runpy.run_path(str(path))
    last = ast.parse(text).body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    derivative = eval(ast.unparse(last.value.func), module)
    assert isinstance(derivative, Derivative)
    args = [eval(ast.unparse(arg), module) for arg in last.value.args]
    rows, _ = compare(derivative, args)
    assert rows
    assert all(row.outcome is Outcome.AGREES for row in rows)


@pytest.mark.parametrize("code", sorted(WITHOUT_PROGRAM))
def test_page_without_program(code: str) -> None:
    assert explain.page(code).startswith(f"# {code}: ")


def test_every_page_has_a_code() -> None:
    pages = Path(explain.__file__).parent.glob("*.md")
    assert {path.stem for path in pages} == {*CODES, *explain.GUIDES}
    assert set(explain.titles()) == {*CODES, *explain.GUIDES}
    assert doctest.testmod(explain).failed == 0


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "adc12"]) == 0
    assert capsys.readouterr().out == explain.page("ADC012")
    assert cli.main(["explain", "threads"]) == 0
    assert capsys.readouterr().out == explain.page("threads")
    assert cli.main(["explain"]) == 0
    assert re.search(r"^ADC030 +`try`$", capsys.readouterr().out, re.MULTILINE)
    with pytest.raises(SystemExit) as caught:
        cli.main(["explain", "ADC999"])
    assert caught.value.code == 2
