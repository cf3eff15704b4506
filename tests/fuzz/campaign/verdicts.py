"""The file of verdicts of a campaign: an SQLite database, which several processes may write."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import adc

_TABLE = """
create table if not exists verdicts (
    seed integer, version text, kind text, checks text, verdict text, problem text, seconds real,
    primary key (seed, version)
) without rowid
"""
# Verdicts that are kept until they are written together.
_TOGETHER = 20


@dataclass(frozen=True)
class Verdict:
    """What was found out about the program of a seed.

    Attributes
    ----------
    seed : int
    kind : str
        What the program is made of.
    checks : str
        What was checked, separated by spaces.
    verdict : str
        ``ok``, ``failed``, ``refused`` (by an error of adc's), ``raised`` (the program raises, and
        so does adc), ``unreliable`` (there is nothing to compare with) or ``slow``.
    problem : str
        What is wrong, or why it was refused.
    seconds : float
        What generating and checking it took of a core.
    """

    seed: int
    kind: str
    checks: str
    verdict: str
    problem: str
    seconds: float


class Verdicts:
    """The verdicts of a campaign, in a file (``:memory:``: in none)."""

    def __init__(self, path: str, version: str) -> None:
        self.version = version
        self._connection = sqlite3.connect(path, timeout=60.0)
        self._connection.execute(_TABLE)
        self._waiting: list[Verdict] = []

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.write()
        self._connection.close()

    def add(self, verdict: Verdict) -> None:
        """Keep a verdict; one that says something is wrong is written at once."""
        self._waiting.append(verdict)
        if verdict.verdict == "failed" or len(self._waiting) >= _TOGETHER:
            self.write()

    def write(self) -> None:
        """Write the verdicts that were kept."""
        rows = [
            (v.seed, self.version, v.kind, v.checks, v.verdict, v.problem, v.seconds)
            for v in self._waiting
        ]
        with self._connection:
            self._connection.executemany(
                "insert or replace into verdicts values (?, ?, ?, ?, ?, ?, ?)", rows
            )
        self._waiting = []

    def judged(self, seeds: range) -> set[int]:
        """Return which of the seeds have a verdict, of any version."""
        found = self._connection.execute(
            "select distinct seed from verdicts where seed between ? and ?", (seeds[0], seeds[-1])
        )
        return {seed for (seed,) in found}

    def failed(self) -> list[int]:
        """Return the seeds of which a verdict of any version is that something is wrong."""
        found = self._connection.execute(
            "select distinct seed from verdicts where verdict in ('failed', 'slow') order by seed"
        )
        return [seed for (seed,) in found]

    def counts(self) -> list[tuple[str, str, int, float]]:
        """Return kind, verdict, number of programs, and seconds in all."""
        return list(
            self._connection.execute(
                "select kind, verdict, count(*), sum(seconds) from verdicts "
                "group by kind, verdict order by kind, verdict"
            )
        )


def version() -> str:
    """Return a name of the code that is checked: a hash of its sources."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    return f"{adc.__version__}-{digest.hexdigest()[:10]}"


def _sources() -> Iterable[Path]:
    assert adc.__file__
    package = Path(adc.__file__).parent
    for folder in (package, package / "ir", package / "passes"):
        yield from sorted(folder.resolve().rglob("*.py"))


__all__ = ["Verdict", "Verdicts", "version"]
