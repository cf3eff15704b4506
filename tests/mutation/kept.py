"""The file of programs, and of verdicts on mutants."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from types import TracebackType

from tests.mutation.mutants import Mutant
from tests.mutation.planting import Key
from tests.mutation.programs import is_of

_TABLES = """
create table if not exists programs (seed integer primary key, verdict text, seconds real);
create table if not exists calls (seed integer, file text, name text, line integer);
create index if not exists by_file on calls (file);
create table if not exists mutants (
    id text primary key, path text, line integer, function text, what text, verdict text, how text
);
"""


class Kept:
    """A file, which several processes may write to."""

    def __init__(self, file: str) -> None:
        self._base = sqlite3.connect(file, timeout=60.0)
        self._base.executescript(_TABLES)

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self._base.close()

    def programs(self) -> set[int]:
        return {seed for (seed,) in self._base.execute("select seed from programs")}

    def add_program(self, seed: int, verdict: str, seconds: float, keys: Iterable[Key]) -> None:
        with self._base:
            self._base.execute(
                "insert or replace into programs values (?, ?, ?)", (seed, verdict, seconds)
            )
            self._base.executemany(
                "insert into calls values (?, ?, ?, ?)", [(seed, *key) for key in keys]
            )

    def calling(self, mutant: Mutant) -> list[tuple[int, float]]:
        """Return the programs that call the function of a mutant, and the seconds of each."""
        rows = self._base.execute(
            "select distinct calls.seed, seconds, name, line from calls "
            "join programs on programs.seed = calls.seed where file = ? and verdict = 'ok'",
            (mutant.path,),
        )
        return sorted({
            (seed, seconds) for seed, seconds, name, line in rows
            if is_of((mutant.path, name, line), mutant)
        })  # fmt: skip

    def verdict(self, mutant: Mutant) -> str | None:
        row = self._base.execute("select verdict from mutants where id = ?", (mutant.name,))
        found = row.fetchone()
        return None if found is None else str(found[0])

    def add(self, mutant: Mutant, verdict: str, how: str) -> None:
        with self._base:
            self._base.execute(
                "insert or replace into mutants values (?, ?, ?, ?, ?, ?, ?)",
                (mutant.name, mutant.path, mutant.line, mutant.function, mutant.what, verdict, how),
            )

    def counts(self) -> Iterator[tuple[str, str, int]]:
        """Yield folders, verdicts, and how many mutants have them."""
        yield from self._base.execute(
            "select path, verdict, count(*) from mutants group by path, verdict order by path"
        )

    def of(self, verdict: str) -> Iterator[tuple[str, int, str, str]]:
        """Yield file, line, function and change of the mutants with a verdict."""
        yield from self._base.execute(
            "select path, line, function, what from mutants where verdict = ? order by path, line",
            (verdict,),
        )


__all__ = ["Kept"]
