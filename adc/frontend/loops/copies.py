"""A loop over elements of several kinds: one copy of the body for each."""

from __future__ import annotations

import ast
from collections.abc import Callable

from adc.frontend.control import blocks
from adc.frontend.control.control import (
    CONTINUE,
    FALLS,
    RETURN,
    branch,
    exit_of,
    exits_of,
    jumps,
    keep_exit,
    set_exit,
)
from adc.frontend.core.bindings import (
    Binding,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import is_slot
from adc.frontend.language import assignment, breaks, unrolling
from adc.frontend.loops import exits, over
from adc.frontend.syntax import scope
from adc.frontend.values import (
    sequences,
)
from adc.ir.core import Literal


def unrolled(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Loop over a tuple or the like: one copy of the body for each element."""
    before = _unstable_slots(lo)
    with unrolling.unrolling(lo, over.most(lo, iterable) or 0) as first:
        unrolling.take(lo, iterable)
        _copies(lo, stmt, iterable, first)
    if _unstable_slots(lo) - before:
        # The list that is made of a list and an array has a length once that of the array is known.
        sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)


def _unstable_slots(lo: Lowerer) -> set[str]:
    """Return the lists, dicts and objects that hold one of several kinds of contents."""
    return {n for n, held in lo.frame.env.items() if is_slot(n) and isinstance(held, Unstable)}


def _copies(lo: Lowerer, stmt: ast.For, iterable: Binding, first: Callable[[], None]) -> None:
    counts = over.counts(lo, iterable)
    held = over.hold(lo, iterable)
    names = exits.assigned(lo, [stmt.target, *stmt.body])

    def run(k: int) -> None:
        found = over.item(lo, iterable, k, counts, stmt.iter)
        if found is not None:
            inside, item = found
            branch(lo, inside, lambda: iterate(k, item()), lambda: None)

    def iterate(k: int, item: Binding) -> None:
        bound = exits.bound(lo, names)
        assignment.assign(lo, stmt.target, item)
        with lo.copy("item", id(stmt), k):
            blocks.lower_stmts(lo, stmt.body)
        if k == 0:
            first()
        pending = exit_of(lo)
        if not isinstance(pending, Literal):
            exits.skip(lo, stmt, bound)
        if isinstance(pending, Literal):
            if pending.value in (FALLS, CONTINUE):
                set_exit(lo, FALLS)
                lo.frame.partial.clear()
                run(k + 1)
            return
        again = exits.again_flag(lo, pending)

        def go_on() -> None:
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
            run(k + 1)

        branch(lo, again, go_on, lambda: keep_exit(lo), else_exited=True)

    set_exit(lo, FALLS)
    with breaks.Kept(lo, stmt, names) as kept:
        run(0)
    lo.frame.env.pop(held, None)
    if scope.has_break(stmt.body):
        for name in sorted(filter(is_slot, lo.frame.partial)):
            lo.frame.partial.discard(name)
            lo.frame.env[name] = Unstable(
                f"is of a kind that depends on how the loop at line {stmt.lineno} ends"
            )
    reason = exit_of(lo)
    kept.bind(reason, False)
    left = {*([RETURN] if scope.has_return(stmt.body) else []), *jumps(exits_of(lo, reason))}
    if left or isinstance(reason, Literal):
        exits.set_left(lo, reason, left)
    else:
        set_exit(lo, FALLS)
    exits.lower_else(lo, stmt, reason, left, FALLS, kept)
