"""The command line of mutation testing.

    python -m tests.mutation baseline --n 600 --file mutants.db [--workers 2]
    python -m tests.mutation measure --file mutants.db
    python -m tests.mutation run --n 2000 --file mutants.db [--workers 2] [--suite]
    python -m tests.mutation run --n 200 --file mutants.db --only passes/ad
    python -m tests.mutation survivors --file mutants.db
    python -m tests.mutation counts --file mutants.db

`baseline` notes which functions the programs of a campaign call, `measure` which lines each test of
the short run runs. `run` draws mutants of the core by a seed, and tries those that have no verdict
yet: with ``--suite`` by the tests first, which takes about five seconds for each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.mutation import programs, suite
from tests.mutation.kept import Kept
from tests.mutation.mutants import Mutant, mutants

# What decides about right and wrong: rules, analyses, passes, lowering, what is emitted.
CORE = ("ir/analysis", "ir/ops", "ir/rules.py", "ir/tape.py", "passes", "adc/frontend",
        "adc/backend/common")  # fmt: skip
# What programs in the interpreter do not run, by a text in the path.
_LEFT_OUT = ("__init__", "/advice", "cuda")


def parsed(argv: list[str] | None = None) -> argparse.Namespace:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("command", choices=("baseline", "measure", "run", "survivors", "counts"))
    parser.add_argument("--n", type=int, default=200, help="number of programs, or of mutants")
    parser.add_argument("--seed", type=int, default=0, help="the first program; or draws mutants")
    parser.add_argument("--file", required=True, help="the file that everything is kept in")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the work")
    parser.add_argument("--only", default="", help="mutants of paths that begin with this")
    parser.add_argument("--suite", action="store_true", help="ask the tests, and then programs")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    options = parsed(argv)
    if options.command in ("survivors", "counts"):
        with Kept(options.file) as kept:
            (_print_survivors if options.command == "survivors" else _print_counts)(kept)
        return 0
    if options.command == "measure":
        return suite.measure(_tests(options))
    run = baseline if options.command == "baseline" else tried
    if options.workers == 1:
        run(options, 0)
        return 0
    workers = [
        multiprocessing.get_context("spawn").Process(target=run, args=(options, k))
        for k in range(options.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 0


def baseline(options: argparse.Namespace, number: int) -> None:
    """Note which functions this process's share of the programs calls."""
    with Kept(options.file) as kept:
        known = kept.programs()
        for seed in range(options.seed, options.seed + options.n):
            if seed % options.workers == number and seed not in known:
                verdict, seconds, keys = programs.reached(seed)
                kept.add_program(seed, verdict, seconds, keys if verdict == "ok" else ())


def all_mutants(only: str = "") -> list[Mutant]:
    """Return the mutants of the core, of paths that begin with a text."""
    return [each for path in _files() for each in mutants(programs.ROOT, path)
            if each.path.startswith(only)]  # fmt: skip


def _files() -> Iterator[Path]:
    for name in CORE:
        place = programs.ROOT / name
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            if not any(text in path.relative_to(programs.ROOT).as_posix() for text in _LEFT_OUT):
                yield path


def tried(options: argparse.Namespace, number: int) -> None:
    """Try this process's share of the mutants that have no verdict yet."""
    found = all_mutants(options.only)
    drawn = random.Random(options.seed).sample(found, min(options.n, len(found)))
    mine = drawn[number :: options.workers]
    if not options.suite:
        _try(options, mine, by_programs)
        return
    reached = suite.Reached(_tests(options))

    def ask(asker: suite.Asker) -> None:
        def verdict_on(mutant: Mutant, kept: Kept) -> tuple[str, str]:
            names = reached.chosen(mutant)
            verdict, how = asker.verdict_on(mutant, names) if names else ("not reached", "")
            if verdict not in ("alive", "not reached"):
                return verdict, how
            other = by_programs(mutant, kept)
            return (verdict, "") if other[0] == "not reached" else other

        _try(options, mine, verdict_on)

    suite.asked(ask)


def _tests(options: argparse.Namespace) -> Path:
    """Return the folder of what is known of tests."""
    return Path(f"{options.file}.tests")


def _try(
    options: argparse.Namespace,
    drawn: Iterable[Mutant],
    verdict_on: Callable[[Mutant, Kept], tuple[str, str]],
) -> None:
    with Kept(options.file) as kept:
        for mutant in drawn:
            if kept.verdict(mutant) is None:
                verdict, how = verdict_on(mutant, kept)
                kept.add(mutant, verdict, how)
                text = f"{mutant.path}:{mutant.line} {mutant.what}: {verdict} {how}"
                print(text[:160], flush=True)


def by_programs(mutant: Mutant, kept: Kept) -> tuple[str, str]:
    """Return the verdict of programs on a mutant."""
    seeds = programs.chosen(kept.calling(mutant))
    return programs.verdict_on(mutant, seeds) if seeds else ("not reached", "")


def _print_counts(kept: Kept) -> None:
    table: dict[str, Counter[str]] = {}
    for path, verdict, count in kept.counts():
        folder = "/".join(path.split("/")[: 3 if path.startswith("adc") else 2])
        table.setdefault(folder, Counter())[verdict] += count
    for folder, counts in [*table.items(), ("all", sum(table.values(), Counter[str]()))]:
        asked = counts["killed"] + counts["alive"]
        share = 100.0 * counts["killed"] / asked if asked else 0.0
        print(f"{folder:28} {dict(counts)}, {share:.0f} % of those that programs reach are noticed")


def _print_survivors(kept: Kept) -> None:
    for path, line, function, what in kept.of("alive"):
        print(f"{path}:{line} in {function}: {what}")
    for path, line, function, what in kept.of("not reached"):
        print(f"{path}:{line} in {function}: {what} (no program calls it)")


if __name__ == "__main__":
    sys.exit(main())
