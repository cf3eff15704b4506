"""How much of adc the tests run, lines and branches of every folder: `python -m tests.coverage`.

    python -m tests.coverage                            # the short run: ten minutes on two cores
    python -m tests.coverage --append tests/unit/api    # and a folder, added to it
    python -m tests.coverage --append --full tests/unit/ir
    python -m tests.coverage --report [passes/remat]    # the table again, and each gap

What is not an option here goes to pytest. Workers, commands that tests start and their forks are
measured, too (``[tool.coverage.run]`` in ``pyproject.toml``). Start with a cold cache, with
``ADC_CACHE_DIR``: what is in the cache is not compiled again. A line that no test can run has
``# pragma: no cover`` and the reason.

What a run prints is a lower bound: in a run of all tests, measuring ends in a worker at some test,
which is not known. `tests/unit/api` alone, say, covers more of `adc/api/sparse.py` than all tests
at once. So measure folders one by one, with ``--append``.

Functions in ``adc/library`` never run in CPython: the front end lowers them. A line of theirs
counts as run if it was lowered, which a plugin of pytest notes; their branches do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adc.frontend.core.lower import Lowerer

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".coverage_cache"
LIBRARY = "adc/library/"
_NOTED = "lowered-"
# Where the plugin writes: set by `main` for pytest and its workers.
_PLACE = "ADC_TESTS_COVERAGE"


# -- the plugin: what is lowered -------------------------------------------------------------------


class Lowered:
    """Lines of the library that the front end has lowered in this process."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = {}

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Note lines from now on, until the patch is undone."""
        at, folder = Lowerer.at, str(ROOT / LIBRARY)

        def noting(lo: Lowerer, node: Any) -> Any:
            if lo.frame.source.file.startswith(folder):
                here = lo.frame.source.span(node)
                if here.file.startswith(folder):
                    name = Path(here.file).relative_to(ROOT).as_posix()
                    self.lines.setdefault(name, set()).add(here.line)
            return at(lo, node)

        patch.setattr(Lowerer, "at", noting)

    def write(self, folder: Path) -> None:
        lines = {name: sorted(found) for name, found in self.lines.items()}
        (folder / f"{_NOTED}{os.getpid()}.json").write_text(json.dumps(lines), encoding="utf-8")


def read_lowered(folder: Path) -> dict[str, set[int]]:
    """Return the lines that any process has lowered."""
    found: dict[str, set[int]] = {}
    for path in folder.glob(f"{_NOTED}*.json"):
        for name, lines in json.loads(path.read_text(encoding="utf-8")).items():
            found.setdefault(name, set()).update(lines)
    return found


def pytest_configure(config: pytest.Config) -> None:
    place = os.environ.get(_PLACE)
    if place is not None:
        patch, lowered = pytest.MonkeyPatch(), Lowered()
        lowered.watch(patch)
        config.add_cleanup(lambda: lowered.write(Path(place)))
        config.add_cleanup(patch.undo)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Go on measuring after a test of a debugger, which removes the trace function."""
    before = sys.gettrace()
    try:
        return (yield)
    finally:
        sys.settrace(before)


# -- the report ------------------------------------------------------------------------------------


class Count:
    """Lines and branches, and how many of them ran."""

    def __init__(self) -> None:
        self.lines = self.ran = self.branches = self.taken = 0

    def add(self, other: Count) -> None:
        self.lines += other.lines
        self.ran += other.ran
        self.branches += other.branches
        self.taken += other.taken

    def row(self) -> str:
        return (
            f"{self.lines:7} {_percent(self.ran, self.lines):>7}"
            f" {self.branches:9} {_percent(self.taken, self.branches):>7}"
        )


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.1f} %" if whole else "-"


class File:
    """What is known of one file."""

    def __init__(self, name: str, found: dict[str, Any], lowered: set[int]) -> None:
        is_library = name.startswith(LIBRARY)
        self.name = name
        self.missing = sorted(set(found["missing_lines"]) - lowered)
        self.jumps = [] if is_library else [
            jump for jump in found["missing_branches"] if abs(jump[0]) not in self.missing
        ]  # fmt: skip
        self.count, summary = Count(), found["summary"]
        self.count.lines = summary["num_statements"]
        self.count.ran = self.count.lines - len(self.missing)
        if not is_library:
            self.count.branches = summary["num_branches"]
            self.count.taken = summary["covered_branches"]

    @property
    def folder(self) -> str:
        """Its folder in the table, which is at most two levels deep."""
        return "/".join(self.name.split("/")[:-1][:2])


def report(files: Iterable[File], gaps: str | None) -> str:
    """Return the table of folders, after the gaps in paths that begin with a text."""
    table: dict[str, Count] = {}
    lines: list[str] = []
    for file in sorted(files, key=lambda each: each.name):
        for key in (file.folder, file.name.split("/")[0] + " (all)", "all"):
            table.setdefault(key, Count()).add(file.count)
        if gaps is not None and file.name.startswith(gaps):
            lines += [f"{file.name}:{line} never runs" for line in file.missing]
            lines += [
                f"{file.name}:{here} never " + (f"goes on at {to}" if to > 0 else "ends here")
                for here, to in file.jumps
            ]
    lines.append(f"{'folder':28} {'lines':>7} {'run':>7} {'branches':>9} {'taken':>7}")
    lines += [f"{key:28} {table[key].row()}" for key in sorted(table, key=_order)]
    return "\n".join(lines)


def _order(key: str) -> tuple[bool, str, bool, str]:
    return key == "all", key.split("/")[0].removesuffix(" (all)"), key.endswith("(all)"), key


# -- the command line ------------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--append", action="store_true", help="keep what was measured before")
    parser.add_argument("--report", nargs="?", const="", metavar="PATH",
                        help="run nothing; list gaps in paths that begin with this")  # fmt: skip
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of what is measured")
    options, rest = parser.parse_known_args(argv)
    code = 0
    data = options.data.absolute()
    if options.report is None:
        code = _run(data, rest, options.append)
    print(report(_files(data), options.report))
    return code


def _run(data: Path, rest: list[str], append: bool) -> int:
    data.mkdir(parents=True, exist_ok=True)
    if not append:
        for path in (*data.glob(".coverage*"), *data.glob(f"{_NOTED}*")):
            path.unlink()
    code = _coverage(data, "run", "-m", "pytest", "-q", "-p", "tests.coverage", *rest)
    _coverage(data, "combine", "-q", "--append")
    return code


def _files(data: Path) -> list[File]:
    made = data / "report.json"
    if _coverage(data, "json", "-q", "-o", str(made)):
        raise SystemExit(1)
    lowered = read_lowered(data)
    found = json.loads(made.read_text(encoding="utf-8"))["files"]
    return [File(name, each, lowered.get(name, set())) for name, each in found.items()]


def _coverage(data: Path, *command: str) -> int:
    variables = os.environ | {"COVERAGE_FILE": str(data / ".coverage"), _PLACE: str(data)}
    return subprocess.run(
        [sys.executable, "-m", "coverage", *command], cwd=ROOT, env=variables
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
