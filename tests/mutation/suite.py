"""The tests that run a line, and what they say of a mutant of it.

`measure` makes the short run with `coverage`, with a context for each test: which lines it runs.
`asked` collects the tests once. Then every mutant is planted in a fork, which runs the
fastest tests of its line, of as many test functions as there is time for.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

from tests.mutation.mutants import Mutant
from tests.mutation.planting import plant
from tests.mutation.programs import ROOT, apart

# Seconds of tests without a mutant, and how many, that have to say something about one.
SECONDS, MOST = 40.0, 200
_OPTIONS = """[run]
parallel = true
source_dirs = adc, ir, passes
patch = subprocess, _exit
"""
_SECONDS = "seconds-"
# Where the plugin writes: set by `measure` for pytest and its workers.
_PLACE = "ADC_TESTS_MUTATION"


# --- which tests run a line -----------------------------------------------------------------------


def measure(folder: Path, args: Sequence[str] = ()) -> int:
    """Note in a folder which lines each test runs, and how long it takes; return pytest's code."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    (folder / "options").write_text(_OPTIONS, encoding="utf-8")
    command = ("run", "-m", "pytest", "-q", "-p", "tests.coverage", "-p", __name__, *args)
    code = _coverage(folder, *command)
    _coverage(folder, "combine", "-q")
    return code


def _coverage(folder: Path, *command: str) -> int:
    variables = os.environ | {
        "COVERAGE_FILE": str(folder / ".coverage"), "COVERAGE_RCFILE": str(folder / "options"),
        _PLACE: str(folder),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        variables["ADC_CACHE_DIR"] = cache  # what is in a cache is not compiled
        done = subprocess.run([sys.executable, "-m", "coverage", *command], cwd=ROOT, env=variables)
    return done.returncode


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure a test by itself."""
    place, measured = os.environ.get(_PLACE), Coverage.current()
    if place is None or measured is None:
        return (yield)
    measured.switch_context(item.nodeid)
    start = time.process_time()
    try:
        return (yield)
    finally:
        line = json.dumps([item.nodeid, time.process_time() - start])
        measured.switch_context("")
        with open(Path(place) / f"{_SECONDS}{os.getpid()}", "a", encoding="utf-8") as file:
            print(line, file=file)


class Reached:
    """What `measure` has noted in a folder."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / ".coverage"))
        self._data.read()
        self.seconds: dict[str, float] = {}
        for path in folder.glob(f"{_SECONDS}*"):
            self.seconds.update(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
        self._lines = functools.lru_cache(64)(self._of_file)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant's line, or if none does by itself, its function."""
        lines = self._lines(mutant.path)
        found = lines.get(mutant.line, set())
        if not found:
            within = [line for line in lines if mutant.start < line <= mutant.end]
            found = set().union(*(lines[line] for line in within))
        return sorted(found)

    def _of_file(self, path: str) -> Mapping[int, set[str]]:
        found: dict[int, set[str]] = {}
        for file in self._data.measured_files():
            if Path(file).resolve() == ROOT / path:
                for line, names in self._data.contexts_by_lineno(file).items():
                    found.setdefault(line, set()).update(set(names) & self.seconds.keys())
        return found

    def chosen(self, mutant: Mutant) -> list[str]:
        """Return the fastest of the tests of a mutant: the fastest of each function first."""
        groups: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.tests(mutant), key=lambda each: (self.seconds[each], each)):
            groups[name.partition("[")[0]].append(name)
        ranks = [
            (k, self.seconds[name], name)
            for names in groups.values()
            for k, name in enumerate(names)
        ]
        chosen: list[str] = []
        total = 0.0
        for _, seconds, name in sorted(ranks):
            if len(chosen) < MOST and total + seconds <= SECONDS:
                chosen.append(name)
                total += seconds
        return chosen


# --- what they say --------------------------------------------------------------------------------


# Seconds after which a mutant has stopped the tests: it is noticed.
_PATIENCE = 150.0


class Asker:
    """A plugin of pytest that asks the collected tests about mutants, instead of running them.

    Parameters
    ----------
    ask : callable
        Is called with the asker when the tests are collected.
    """

    def __init__(self, ask: Callable[[Asker], None]) -> None:
        self._ask = ask
        self._items: dict[str, pytest.Item] = {}
        self._failed: list[str] = []
        # Whether a test passes here without a mutant, of those that have failed with one.
        self._sound: dict[str, bool] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        self._ask(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def verdict_on(self, mutant: Mutant, names: Sequence[str]) -> tuple[str, str]:
        """Return whether tests notice a mutant, and which one does.

        ``killed``, ``alive``, or ``not planted``.
        """
        while True:
            sound = [name for name in names if self._sound.get(name, True)]
            found = apart(functools.partial(self._failing, sound, mutant), _PATIENCE)
            word, _, how = found.partition("\t")
            if how not in sound or self._is_sound(how):
                return word, how

    def _is_sound(self, name: str) -> bool:
        if name not in self._sound:
            self._sound[name] = apart(lambda: self._failing([name]), _PATIENCE) == "alive"
        return self._sound[name]

    def _failing(self, names: Iterable[str], mutant: Mutant | None = None) -> str:
        """Run tests in this process until one fails."""
        if mutant is not None:
            try:
                if not plant(ROOT, mutant):
                    return "not planted"
            except Exception as error:
                return f"not planted\t{error}"
        items = [self._items[name] for name in names if name in self._items]
        with tempfile.TemporaryDirectory() as cache:
            os.environ["ADC_CACHE_DIR"] = cache
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    return f"killed\t{self._failed[0]}"
        return "alive"


def asked(ask: Callable[[Asker], None]) -> None:
    """Collect the tests, and let `ask` ask them about mutants."""
    arguments = ["-q", "-s", "-n", "0", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0"]
    if pytest.main([*arguments, str(ROOT / "tests")], plugins=[Asker(ask)]):
        raise RuntimeError("the tests cannot be collected")


__all__ = ["Asker", "Reached", "asked", "measure"]
