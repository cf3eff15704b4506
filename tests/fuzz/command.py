"""A command line that checks random programs.

    python -m tests.fuzz --n 1000 --seed 0 --compiled 0.05
    python -m tests.fuzz --quick --n 100000 --compiled 0
    python -m tests.fuzz --kind arrays --n 200
    python -m tests.fuzz --kind draws --n 200
    python -m tests.fuzz --kind nests --n 200
    python -m tests.fuzz --kind complex --n 200
    python -m tests.fuzz --budgets --kind stencils --size 6 --n 200
    python -m tests.fuzz --parallel --kind arrays --n 200
    python -m tests.fuzz --target cuda --batch --kind mixed --n 200
    python -m tests.fuzz --target cuda --kind threads --n 200
    python -m tests.fuzz --show 17

`fuzz_scalars` writes programs that work on elements (``--kind scalars``, with ``draws`` random
numbers as well); `fuzz_arrays` writes those of array expressions, views and containers,
`fuzz_nests` nested loops over elements, `fuzz_threads` loops of which an iteration does a lot,
`fuzz_complex` those of complex numbers. `fuzz_budgets` runs any of them in loops, within budgets;
`on_device` runs them in Numba's simulator, as they are or for each row of a batch.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
import time
from collections.abc import Callable

from adc.passes import stages
from tests.fuzz.families import (
    fuzz_arrays,
    fuzz_budgets,
    fuzz_complex,
    fuzz_nests,
    fuzz_scalars,
    fuzz_threads,
)
from tests.fuzz.program import Generated, Unreliable, forget
from tests.fuzz.shrink import shrink
from tests.oracle import on_device, threads


def main(argv: list[str] | None = None) -> int:
    """Check programs, print what is wrong; return 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Check programs.")
    parser.add_argument("--n", type=int, default=1000, help="number of programs")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--size", type=int, default=18, help="statements per program")
    parser.add_argument("--compiled", type=float, default=0.05, help="share that is compiled")
    parser.add_argument(
        "--quick", action="store_true", help="one plan per program, and what is emitted only"
    )
    parser.add_argument("--shrink", action="store_true", help="reduce programs that fail")
    parser.add_argument("--budgets", action="store_true", help="check plans for random budgets")
    parser.add_argument("--parallel", action="store_true", help="check what threads share")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu", help="where code runs")
    parser.add_argument("--batch", action="store_true", help="with --target cuda: for many rows")
    parser.add_argument("--show", type=int, help="print the program of this seed and stop")
    parser.add_argument(
        "--kind", default="scalars", help="what programs are made of",
        choices=(
            "scalars", "draws", "arrays", "stencils", "containers", "mixed", "nests", "threads",
            "complex",
        ),
    )  # fmt: skip
    options = parser.parse_args(argv)
    stages.VERIFY_EACH = not options.quick
    if options.target == "cuda":
        from tests.oracle import on_device

        on_device.use_simulator()
    elif options.batch:
        parser.error("--batch is for --target cuda")
    if options.show is not None:
        generated = _generate(options.show, options)
        print(generated.source)
        print("# args:", generated.args)
        return 0

    started = time.monotonic()
    unreliable = failed = 0
    for count, seed in enumerate(range(options.seed, options.seed + options.n), 1):
        generated = _generate(seed, options)
        compiled = random.Random(f"compiled {seed}").random() < options.compiled
        problems, known = _problems(generated, compiled, options)
        unreliable += not known
        if problems:
            failed += 1
            print(f"seed {seed}:", *problems, sep="\n  ", flush=True)
            if options.shrink:
                wanted = _category(problems)

                def same(g: Generated, compiled: bool = compiled, wanted: str = wanted) -> bool:
                    return _category(_problems(g, compiled, options)[0]) == wanted

                generated = shrink(generated, same)
                print(generated.source, f"# args: {generated.args}", sep="\n", flush=True)
        forget(generated)
        if count % 100 == 0:
            seconds = time.monotonic() - started
            print(
                f"{count} programs, {failed} failed, {seconds:.0f} s", file=sys.stderr, flush=True
            )
    seconds = time.monotonic() - started
    share = 1.0 - unreliable / max(options.n, 1)
    print(
        f"{options.n} programs in {seconds:.1f} s ({options.n / seconds:.0f} per second), "
        f"{failed} failed, oracle reliable for {share:.1%}"
    )
    return 1 if failed else 0


def _generate(seed: int, options: argparse.Namespace) -> Generated:
    if options.kind in ("scalars", "draws"):
        generated = fuzz_scalars.generate(seed, options.size, options.kind == "draws")
    elif options.kind == "nests":
        generated = fuzz_nests.generate(seed, max(options.size // 6, 1))
    elif options.kind == "complex":
        generated = fuzz_complex.generate(seed, max(options.size // 3, 1))
    elif options.kind == "threads":
        generated = fuzz_threads.generate(seed, max(options.size // 4, 1))
    else:
        generated = fuzz_arrays.generate(seed, options.size, options.kind)
    return fuzz_budgets.repeated(generated) if options.budgets else generated


def _problems(
    generated: Generated, compiled: bool, options: argparse.Namespace
) -> tuple[list[str], bool]:
    """Return what is wrong with a program, and whether that could be found out."""
    checker: Callable[..., list[str]] = functools.partial(fuzz_arrays.check, quick=options.quick)
    if options.target == "cuda":
        checker = functools.partial(on_device.check_random, batch=options.batch)
    elif options.parallel:
        checker = threads.check_random
    elif generated.kind == "budgets":
        checker = fuzz_budgets.check
    elif generated.kind in ("scalars", "draws"):
        checker = functools.partial(fuzz_scalars.check, quick=options.quick)
    try:
        return checker(generated, compiled=compiled), True
    except Unreliable:
        return [], False
    except Exception as e:
        return [f"crash: {type(e).__name__}: {e}"], True


def _category(problems: list[str]) -> str:
    """Return what kind of problem the first one is: what shrinking must keep."""
    if not problems:
        return ""
    word, _, rest = problems[0].partition(":")
    if word in ("refused", "crash", "raised"):
        return f"{word}:{rest.splitlines()[0][:50]}"
    return word
