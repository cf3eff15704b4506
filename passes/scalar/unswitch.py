"""Move loop-invariant branches out of loops that do nothing else (loop unswitching).

    for L %i in 0 to %n {                 if %c {
      if %c {                               for L %i in 0 to %n {
        …                                     …
      }                                     }
    }                                     }

One arm does nothing. All else that an iteration computes serves the other arm, and moves into it;
the tape is pushed and popped nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.core import Apply, Block, For, Function, If, Load, Stmt
from adc.ir.walk import Names, map_functions, map_stmts


def unswitch(fn: Function) -> Function:
    """Return `fn`, which has no Recalls, with loops inside of branches."""
    return map_functions(fn, _unswitched)


def _unswitched(fn: Function) -> Function:
    names = Names.of(fn)

    def stmts(found: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(
            _switched(stmt, names) if isinstance(stmt, For) else stmt
            for stmt in (map_stmts(stmt, stmts) for stmt in found)
        )

    return replace(fn, body=stmts(fn.body))


def _switched(loop: For, names: Names) -> Stmt:
    """Return a branch with a loop, or the loop if its body is no such branch."""
    *before, branch = loop.body.stmts or (None,)
    if not isinstance(branch, If) or not all(isinstance(s, Apply | Load) for s in before):
        return loop
    inside = {loop.index, *loop.body.params, *(v for s in before if s for v in s.results)}
    if branch.cond in inside or loop.body.yields != branch.results:
        return loop
    arms = (branch.then, branch.orelse)
    idle = [not arm.stmts and arm.yields == loop.body.params for arm in arms]
    if idle[0] == idle[1]:
        return loop
    busy = arms[idle[0]]
    stmts = (*(stmt for stmt in before if stmt is not None), *busy.stmts)
    results = tuple(replace(v, name=names.fresh(v.name)) for v in loop.results)
    inner = replace(loop, results=results, body=Block(loop.body.params, stmts, busy.yields))
    blocks = [Block((), (inner,), tuple(results)), Block((), (), loop.init)]
    then, orelse = blocks[::-1] if idle[0] else blocks
    return If(loop.results, branch.cond, then, orelse, loc=loop.loc)


__all__ = ["unswitch"]
