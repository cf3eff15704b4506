"""The README and the guides are true: their code runs, and what they show is what adc makes.

Python blocks of a page run in order, in one namespace; a call of `print` prints the comment behind
it; ``adc`` commands succeed, in a folder with the files that blocks begin with the name of. A block
after ``<!-- source: f: for k -->`` or ``<!-- ir: f: for L0 -->`` is the first statement of what is
generated that begins like that; `pytest --update-golden` rewrites it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc import cli, explain
from tests.bench.peers import __main__ as peers
from tests.bench.peers import battery

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
GUIDES = {topic: explain.page(topic) for topic in explain.GUIDES}
PAGES = {"README": TEXT, **GUIDES}
PROGRAMS = GUIDES["benchmarks"]
MADE = ("passes/FOLDER/NAME.py",)  # stands for any
ROWS = ("log1p = OpDef(", "def _expit(")  # of the table of operations, where they stand already
BLOCK = re.compile(r"(?:<!-- (\w+): (\w+): ([^>]+) -->\n)?```(\w*)\n(.*?)```\n", re.DOTALL)


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


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run the Python blocks of a page; return what they define."""
    scope: dict[str, Any] = {"__name__": "page"}
    for number, (shown, _, _, language, text) in enumerate(BLOCK.findall(PAGES[name])):
        if shown or language != "python" or text.lstrip().startswith(ROWS):
            continue
        named = re.match(r"# (\w+\.py)\n", text)
        path = folder / (named[1] if named else f"{name}_{number}.py")
        path.write_text(text)
        linecache.checkcache(str(path))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, str(path), "exec"), {} if named else scope)
        assert printed.getvalue().splitlines() == re.findall(r"^print\(.*\)  # (.*)$", text, re.M)
    return scope


@pytest.fixture(scope="module")
def namespace(folder: Path) -> dict[str, Any]:
    return run("README", folder)


# Of this one are the examples of `adc.torch` and `adc.jax` in every run; JAX takes long to compile.
LONG_GUIDES = ("frameworks",)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.full] if n in LONG_GUIDES else []) for n in GUIDES]
)
def test_guide(name: str, folder: Path) -> None:
    run(name, folder)
    assert f"[`{name}`](adc/explain/{name}.md)" in TEXT


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_names_are_there(name: str) -> None:
    for path in re.findall(r"`((?:adc|ir|passes|tests)/[\w/.]+)`", PAGES[name]):
        assert (README.parent / path).exists() or path in MADE, path


def test_the_readme_is_short() -> None:
    assert len(TEXT.splitlines()) <= 300


def generated(kind: str, fn: Any, start: str) -> str:
    """Return what stands in a block that is generated: a statement and what it holds."""
    lines = str(fn.ir() if kind == "ir" else fn.source()).splitlines()
    first = next(k for k, line in enumerate(lines) if line.strip().startswith(start))
    indent = lines[first][: -len(lines[first].lstrip())]
    last = next(k for k in range(first + 1, len(lines)) if not lines[k].startswith(f"{indent} "))
    last += lines[last] == f"{indent}}}"
    return textwrap.dedent("\n".join(lines[first:last])) + "\n"


def test_blocks_that_are_generated(
    namespace: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    text = TEXT
    shown = [match for match in BLOCK.finditer(TEXT) if match[1]]
    assert [match[1] for match in shown] == ["source", "ir"]
    for match in reversed(shown):
        made = generated(match[1], namespace[match[2]], match[3])
        text = f"{text[: match.start(5)]}{made}{text[match.end(5) :]}"
    if request.config.getoption("--update-golden"):
        README.write_text(text, encoding="utf-8")
    assert text == README.read_text(encoding="utf-8")


COMMANDS = [
    line
    for _, _, _, language, text in BLOCK.findall(TEXT)
    if not language
    for line in text.splitlines()
    if line.startswith("adc ")
]


@pytest.mark.parametrize("command", COMMANDS)
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
    assert namespace["fit"].success
    np.testing.assert_allclose(namespace["fit"].x, 1.0, rtol=1e-3)


def test_the_table_of_programs() -> None:
    table = PROGRAMS[PROGRAMS.index("| program | adc |") :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    verdicts = {row[0]: row[1].strip("*") for row in rows[2:-1]}
    assert list(verdicts) == [fn.__name__.replace("_", " ") for fn in battery.PROGRAMS]
    assert rows[-1][1] == f"{list(verdicts.values()).count(peers.RIGHT)} of {len(verdicts)}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", battery.PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_programs_of_the_table(fn: Any) -> None:
    import adc

    (shown,) = re.findall(
        rf"^\| {fn.__name__.replace('_', ' ')} \| (\S+) \|", PROGRAMS, re.MULTILINE
    )
    try:
        found = peers.verdict(list(adc.grad(fn)(np.array(battery.X))), peers.differences(fn))
    except adc.AdcError:
        found = peers.REFUSED
    assert found == shown.strip("*")


def test_the_rows_are_those_of_the_table() -> None:
    blocks = (
        textwrap.dedent(text)
        for page in (TEXT, GUIDES["internals"])
        for *_, text in BLOCK.findall(page)
    )
    found = [text for text in blocks if text.startswith(ROWS)]
    assert len(found) == len(ROWS)
    table: set[str] = set()
    for name in ("math.py", "special.py"):
        tree = ast.parse((README.parent / "ir" / "ops" / name).read_text(encoding="utf-8"))
        table.update(map(ast.dump, tree.body))
    for block in found:
        assert table.issuperset(map(ast.dump, ast.parse(block).body))


def test_commands_that_install() -> None:
    for command in (
        "python3 -m venv .venv && .venv/bin/pip install -q '.[examples]' && "
        ".venv/bin/python examples/02_convolutional_network.py",
        "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && "
        ".venv/bin/python -m pytest",
    ):
        assert TEXT.count(f"```\n{command}\n```") == 1
