"""How many programs it takes until a campaign, or the kinds one by one, notice a planted defect.

    python -m tests.fuzz.campaign.planted
    python -m tests.fuzz.campaign.planted --quick mixed

The second form checks each program of a kind as `python -m tests.fuzz --quick` does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

from adc.frontend.core import numbers
from adc.ir.analysis.dependence.accesses import Visit
from adc.ir.analysis.dependence.forwarding import Forwarding
from adc.ir.analysis.memory.liveness import Mentions
from adc.ir.analysis.sizes.affine import Facts
from adc.ir.core import If, Stmt, Store
from adc.ir.opdef import OPS
from adc.ir.rules import vjp_rule
from adc.passes import stages
from adc.passes.ad.adjoint import adjoint
from adc.passes.loops.gather.find import Finder
from adc.passes.loops.overwrite import Overwriting
from adc.passes.scalar import cse
from tests.fuzz import command
from tests.fuzz.campaign import checks, judge
from tests.fuzz.program import forget
from tests.oracle import chain as chains

Planted = Callable[[], AbstractContextManager[Any]]


@contextmanager
def rule(name: str, vjp: Callable[..., Any]) -> Iterator[None]:
    """Give an operation another derivative rule."""
    original = OPS[name].vjp
    object.__setattr__(OPS[name], "vjp", vjp)
    vjp_rule.cache_clear()
    try:
        yield
    finally:
        object.__setattr__(OPS[name], "vjp", original)
        vjp_rule.cache_clear()


@contextmanager
def in_adjoint(rewrite: Callable[[Stmt], Stmt]) -> Iterator[None]:
    """Rewrite the statements of what `adjoint` returns."""
    from tests.system.test_planted import rewritten

    def planted(*args: Any, **kwargs: Any) -> Any:
        return rewritten(adjoint(*args, **kwargs), rewrite)

    with (
        mock.patch.object(chains, "adjoint", planted),
        mock.patch.object(checks, "adjoint", planted),
    ):
        yield


def _overwriting(stmt: Stmt) -> Stmt:
    from dataclasses import replace

    return replace(stmt, accumulate=False) if isinstance(stmt, Store) else stmt


def _swapped(stmt: Stmt) -> Stmt:
    from dataclasses import replace

    reverse = isinstance(stmt, If) and any(".ct" in v.name for v in stmt.results)
    if isinstance(stmt, If) and reverse:
        return replace(stmt, then=stmt.orelse, orelse=stmt.then)
    return stmt


def _any_load(original: Callable[..., Any]) -> Callable[..., Any]:
    def key(self: Any, stmt: Stmt) -> Any:
        found = original(self, stmt)
        if isinstance(found, tuple) and found[0] == "load":
            return ("load", found[1].type, found[2])
        return found

    return key


def _believed(owner: Any, name: str, value: Any) -> Planted:
    return lambda: mock.patch.object(owner, name, return_value=value)


DEFECTS: dict[str, Planted] = {
    "rule of cos: the other sign": lambda: rule("cos", lambda ct, y, x: (ct * OPS["sin"](x),)),
    "rule of mul: operands swapped": lambda: rule("mul", lambda ct, y, a, b: (ct * a, ct * b)),
    "rule of tanh: off by 0.0005": lambda: rule(
        "tanh", lambda ct, y, x: (1.0005 * ct * (1.0 - y * y),)
    ),
    "rule of exp: off by 1e-5": lambda: rule("exp", lambda ct, y, x: (1.00001 * ct * y,)),
    "adjoint: contributions overwrite": lambda: in_adjoint(_overwriting),
    "adjoint: arms of branches swapped": lambda: in_adjoint(_swapped),
    "front end: no check is built": lambda: mock.patch.object(numbers, "check", return_value=None),
    "remat: a stale version is read": _believed(Forwarding, "independent", True),
    "dead stores: every store is dead": _believed(Visit, "is_of", True),
    "overwrite: all elements are": _believed(Overwriting, "covers", True),
    "gather: changed elements are read": _believed(Finder, "own", True),
    "bounds: every index is in range": _believed(Facts, "proves", True),
    "storage: arrays are dead": _believed(Mentions, "by", frozenset()),
    "cse: loads of two versions merged": lambda: mock.patch.object(
        cse._Cse, "key", _any_load(cse._Cse.key)
    ),
}


def programs_until(planted: Planted, most: int, check: Callable[[int], bool]) -> tuple[int, float]:
    """Return how many programs it took until one failed, and the seconds; 0 if none did."""
    start = time.process_time()
    with planted():
        for count in range(most):
            if check(count):
                return count + 1, time.process_time() - start
    return 0, time.process_time() - start


def by_campaign(seed: int) -> bool:
    """Whether the campaign's check of a seed fails."""
    return judge.verdict_on(seed).verdict == "failed"


def by_kind(kind: str) -> Callable[[int], bool]:
    """Return whether the quick check of a program of a kind fails, by seed."""
    options = argparse.Namespace(
        kind=kind, size=18, quick=True, budgets=False, parallel=False, target="cpu", batch=False
    )

    def check(seed: int) -> bool:
        generated = command._generate(seed, options)
        try:
            return bool(command._problems(generated, False, options)[0])
        finally:
            forget(generated)

    return check


def main() -> None:
    """Print a line for each defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", default="", help="check programs of this kind, one by one")
    parser.add_argument("--most", type=int, default=300, help="number of programs to try")
    options = parser.parse_args()
    stages.VERIFY_EACH = False
    check = by_kind(options.quick) if options.quick else by_campaign
    for name, planted in DEFECTS.items():
        count, seconds = programs_until(planted, options.most, check)
        found = f"after {count:4} programs" if count else "not found"
        print(f"{name:36} {found:20} {seconds:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
