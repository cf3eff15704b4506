"""The README is true: its code runs, and what it shows is what adc makes.

Python blocks run in order, in one namespace; the examples of ``pycon`` blocks give what stands
there; ``adc`` commands succeed, in a folder with the files that blocks begin with the name of.
Blocks after ``<!-- source: f -->`` and ``<!-- ir: f -->`` are compared with what is generated, and
rewritten by ``pytest --update-golden``.
"""

from __future__ import annotations

import ast
import doctest
import linecache
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc import cli
from tests.bench import battery, peers

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
ROW = "log1p = OpDef("  # of the table of operations, where it stands already
BLOCK = re.compile(r"(?:<!-- (\w+): (\w+) -->\n)?```(\w*)\n(.*?)```\n", re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Work in a folder of its own."""
    made = tmp_path_factory.mktemp("readme")
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.chdir(made)
        patch.syspath_prepend(str(made))
        yield made
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == made:
            del sys.modules[name]


@pytest.fixture(scope="module")
def namespace(folder: Path) -> dict[str, Any]:
    """Run the Python blocks; return what they define."""
    scope: dict[str, Any] = {"__name__": "readme"}
    for number, (shown, _, language, text) in enumerate(BLOCK.findall(TEXT)):
        if shown or language != "python" or text.startswith(ROW):
            continue
        named = re.match(r"# (\w+\.py)\n", text)
        path = folder / (named[1] if named else f"block_{number}.py")
        path.write_text(text)
        linecache.checkcache(str(path))
        exec(compile(text, str(path), "exec"), {} if named else scope)
    return scope


def generated(kind: str, fn: Any, example: str) -> str:
    """Return what stands in a block that is generated."""
    if not fn.signatures():
        eval(example, fn.__wrapped__.__globals__)
    if kind == "ir":
        return str(fn.ir())
    source = str(fn.source())
    return source[source.index("@njit") :]


def test_blocks_that_are_generated(
    namespace: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    example = re.search(r">>> (roughness\(.*\))\.round", TEXT)
    assert example is not None
    text = TEXT
    shown = [match for match in BLOCK.finditer(TEXT) if match[1]]
    assert [match[1] for match in shown] == ["source", "ir"]
    for match in reversed(shown):
        made = generated(match[1], namespace[match[2]], example[1]).strip() + "\n"
        text = f"{text[: match.start(4)]}{made}{text[match.end(4) :]}"
    if request.config.getoption("--update-golden"):
        README.write_text(text, encoding="utf-8")
    assert text == README.read_text(encoding="utf-8")


def test_examples(namespace: dict[str, Any]) -> None:
    (block,) = [text for _, _, language, text in BLOCK.findall(TEXT) if language == "pycon"]
    found = doctest.DocTestParser().get_doctest(block, namespace, "README", None, None)
    assert doctest.DocTestRunner().run(found, clear_globs=False).failed == 0


COMMANDS = [
    line
    for _, _, language, text in BLOCK.findall(TEXT)
    if not language
    for line in text.splitlines()
    if line.startswith("adc ")
]


@pytest.mark.parametrize(
    "command",
    # Measuring a curve takes long; `test_cli` does it for a smaller program.
    [pytest.param(c, marks=[pytest.mark.slow] if "--curve" in c else []) for c in COMMANDS],
)
def test_commands(
    command: str, namespace: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(command, comments=True)
    assert cli.main(words[1:]) == 0
    if "-o" in words:
        assert (folder / words[words.index("-o") + 1]).stat().st_size
    else:
        assert capsys.readouterr().out


def test_gradients_fit_scipy(namespace: dict[str, Any]) -> None:
    minimize = pytest.importorskip("scipy.optimize").minimize
    found = minimize(namespace["f"], np.array([0.5, -0.25]), jac=True)
    assert found.success


def test_the_table_of_programs() -> None:
    table = TEXT[TEXT.index("| program | adc |") :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    verdicts = {row[0]: row[1].strip("*") for row in rows[2:-1]}
    assert list(verdicts) == [fn.__name__.replace("_", " ") for fn in battery.PROGRAMS]
    assert rows[-1][1] == f"{list(verdicts.values()).count(peers.RIGHT)} of {len(verdicts)}"


@pytest.mark.parametrize("fn", battery.PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_programs_of_the_table(fn: Any) -> None:
    import adc

    (shown,) = re.findall(rf"^\| {fn.__name__.replace('_', ' ')} \| (\S+) \|", TEXT, re.MULTILINE)
    try:
        found = peers.verdict(list(adc.grad(fn)(np.array(battery.X))), peers.differences(fn))
    except adc.AdcError:
        found = peers.REFUSED
    assert found == shown.strip("*")


def test_the_row_is_one_of_the_table() -> None:
    (block,) = [text for _, _, _, text in BLOCK.findall(TEXT) if text.startswith(ROW)]
    table = ast.parse((README.parent / "ir" / "ops" / "math.py").read_text(encoding="utf-8"))
    assert ast.dump(ast.parse(block).body[0]) in [ast.dump(row) for row in table.body]


def test_commands_that_install() -> None:
    for command in (
        "python3 -m venv .venv && .venv/bin/pip install -q '.[examples]' && "
        ".venv/bin/python examples/02_convolutional_network.py",
        "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && "
        ".venv/bin/python -m pytest",
    ):
        assert TEXT.count(f"```\n{command}\n```") == 1
