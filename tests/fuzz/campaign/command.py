"""The command line of a campaign.

    python -m tests.fuzz campaign --n 1000
    python -m tests.fuzz campaign --n 1000000 --file verdicts.db --resume --workers 2
    python -m tests.fuzz campaign --n 30000 --file verdicts.db --resume --compiled 1
    python -m tests.fuzz campaign --file verdicts.db --again
    python -m tests.fuzz campaign --file verdicts.db --counts
    python -m tests.fuzz campaign --n 3000 --coverage
    python -m tests.fuzz campaign --seed 17 --show

What fails is shrunk and printed as a program of the corpus.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable

from adc.passes import stages
from tests.fuzz.campaign import checks, coverage, judge, kinds
from tests.fuzz.campaign.verdicts import Verdicts, version


def parsed(argv: list[str] | None = None) -> argparse.Namespace:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz campaign", description="Check very many programs a little each."
    )
    parser.add_argument("--n", type=int, default=1000, help="number of seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--kind", default="", choices=["", *kinds.KINDS], help="of one kind only")
    parser.add_argument("--compiled", type=float, default=0.0, help="share that is compiled")
    parser.add_argument("--file", default=":memory:", help="the file of verdicts")
    parser.add_argument("--resume", action="store_true", help="leave out seeds with a verdict")
    parser.add_argument("--again", action="store_true", help="only seeds that failed before")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the seeds")
    parser.add_argument("--no-shrink", action="store_true", help="do not shrink what fails")
    parser.add_argument("--coverage", action="store_true", help="print what was never reached")
    parser.add_argument("--counts", action="store_true", help="print the counts of the file")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    options = parser.parse_args(argv)
    if options.workers > 1 and options.coverage:
        parser.error("several processes count no coverage")
    return options


def main(argv: list[str] | None = None) -> int:
    """Run a campaign; return 1 if anything is wrong."""
    options = parsed(argv)
    if options.show:
        generated = kinds.generate(options.seed, options.kind)
        print(generated.source, f"# args: {generated.args}", sep="\n")
        print("# checks:", *checks.draw(generated, options.compiled))
        return 0
    if options.counts:
        with Verdicts(options.file, version()) as verdicts:
            _print_counts(verdicts)
        return 0
    if options.workers == 1:
        return int(work(options, 0))
    processes = [
        multiprocessing.get_context("spawn").Process(target=_worker, args=(options, k))
        for k in range(options.workers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    with Verdicts(options.file, version()) as verdicts:
        _print_counts(verdicts)
    return int(any(process.exitcode for process in processes))


def _worker(options: argparse.Namespace, number: int) -> None:
    sys.exit(int(work(options, number)))


def seeds(options: argparse.Namespace, number: int, verdicts: Verdicts) -> list[int]:
    """Return the seeds that a process of the campaign checks."""
    wanted: Iterable[int] = range(options.seed, options.seed + options.n)
    if options.again:
        wanted = verdicts.failed()
    done = verdicts.judged(range(options.seed, options.seed + options.n)) if options.resume else ()
    return [seed for seed in wanted if seed % options.workers == number and seed not in done]


def work(options: argparse.Namespace, number: int = 0) -> bool:
    """Check this process's share of the seeds; return whether anything is wrong."""
    stages.VERIFY_EACH = False
    counts = Counter[str]()
    seen = coverage.Coverage() if options.coverage else None
    start = time.monotonic()
    with Verdicts(options.file, version()) as verdicts:
        for count, seed in enumerate(seeds(options, number, verdicts), 1):
            verdict = judge.verdict_on(seed, options.compiled, options.kind)
            counts[verdict.verdict] += 1
            verdicts.add(verdict)
            if verdict.verdict in ("failed", "slow"):
                print(f"seed {seed} ({verdict.kind}): {verdict.problem}", flush=True)
                if not options.no_shrink:
                    print(judge.shrunk(seed, options.compiled, options.kind), flush=True)
            if count % 1000 == 0:
                _print_progress(count, counts, start)
        verdicts.write()
        _print_progress(sum(counts.values()), counts, start)
        if options.workers == 1:
            _print_counts(verdicts)
    if seen is not None:
        print(seen.report())
    return counts["failed"] + counts["slow"] > 0


def _print_progress(count: int, counts: Counter[str], start: float) -> None:
    seconds = time.monotonic() - start
    speed = count / max(seconds, 1e-9)
    print(f"{count} programs, {dict(counts)}, {seconds:.0f} s, {speed:.1f} per second", flush=True)


def _print_counts(verdicts: Verdicts) -> None:
    for kind, verdict, count, seconds in verdicts.counts():
        print(f"{kind:12} {verdict:12} {count:8} {1000 * seconds / count:8.0f} ms each")


__all__ = ["main", "parsed", "seeds", "work"]
