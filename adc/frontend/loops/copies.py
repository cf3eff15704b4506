"""A loop of which every iteration differs: one copy of the body for each.

Its elements are of several kinds, or it has to be known which iteration it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from adc.frontend.control import blocks, choices
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import (
    CONTINUE,
    FALLS,
    RETURN,
    TORN,
    exit_of,
    exits_of,
    jumps,
    keep_exit,
    set_exit,
)
from adc.frontend.core.bindings import Binding, Unbound, Unstable
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import is_slot
from adc.frontend.language import assignment, breaks, unrolling
from adc.frontend.loops import exits, over
from adc.frontend.syntax import scope
from adc.frontend.values import sequences
from adc.ir.core import Literal, Operand
from adc.ir.errors import AdcError


def unrolled(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Loop over a tuple or the like: one copy of the body for each element."""
    before = _unstable_slots(lo)
    with unrolling.unrolling(lo, over.most(lo, iterable) or 0) as first:
        unrolling.take(lo, iterable)
        counts = over.counts(lo, iterable)
        held = over.hold(lo, iterable)

        def step(k: int) -> tuple[Operand, Callable[[], None]] | None:
            found = over.item(lo, iterable, k, counts, stmt.iter)
            if found is None:
                return None
            inside, item = found
            return inside, lambda: assignment.assign(lo, stmt.target, item())

        _copies(lo, stmt, step, first, held)
    if _unstable_slots(lo) - before:
        # The list that is made of a list and an array has a length once that of the array is known.
        sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)


def _unstable_slots(lo: Lowerer) -> set[str]:
    """Return the lists, dicts and objects that hold one of several kinds of contents."""
    return {n for n, held in lo.frame.env.items() if is_slot(n) and isinstance(held, Unstable)}


def of_while(lo: Lowerer, stmt: ast.While, error: AdcError) -> None:
    """Lower a `while` whose test is a constant in each iteration, or raise the error."""

    def step(k: int) -> tuple[Operand, Callable[[], None]]:
        with lo.copy("test", id(stmt), k):
            cond = choices.condition(lo, stmt.test)
        if not isinstance(cond, Literal) or k >= sequences.MAX_COPIES:
            raise error
        return cond, lambda: None

    _copies(lo, stmt, step, lambda: None)


def _copies(
    lo: Lowerer,
    stmt: ast.For | ast.While,
    step: Callable[[int], tuple[Operand, Callable[[], None]] | None],
    first: Callable[[], None],
    held: str = "",
) -> None:
    """Lower one copy after the other.

    `step` returns whether there is a k-th iteration and what binds its target, or None after the
    last; `first` is called after the first copy; `held` is the name of what the loop is over.
    """
    targets = [stmt.target] if isinstance(stmt, ast.For) else [stmt.test]
    names = exits.assigned(lo, [*targets, *stmt.body])

    def run(k: int) -> None:
        found = step(k)
        if found is not None:
            inside, bind = found
            branch(lo, inside, lambda: iterate(k, bind), lambda: None)

    def iterate(k: int, bind: Callable[[], None]) -> None:
        bound = exits.bound(lo, names)
        bind()
        with lo.copy("item", id(stmt), k):
            blocks.lower_stmts(lo, stmt.body)
        if k == 0:
            first()
        pending = exit_of(lo)
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
        partial = lo.frame.partial
        torn = {name for name in partial if is_slot(name) or TORN + name in partial}
        for name in sorted(torn - set(kept.names)):
            partial -= {name, TORN + name}
            lo.frame.env[name] = Unstable(
                f"is of a kind that depends on how the loop at line {stmt.lineno} ends"
            )
    reason = exit_of(lo)
    kept.bind(reason, False)
    for name in sorted(lo.frame.partial.intersection(kept.names)):
        lo.frame.partial.discard(name)
        lo.frame.env[name] = Unbound(
            f"it is not assigned before every `break` of the loop at line {stmt.lineno}"
        )
    left = {*([RETURN] if scope.has_return(stmt.body) else []), *jumps(exits_of(lo, reason))}
    if left or isinstance(reason, Literal):
        exits.set_left(lo, reason, left)
    else:
        set_exit(lo, FALLS)
    exits.lower_else(lo, stmt, reason, left, FALLS, kept)
