"""How a loop ends: its exits, its `else`, and exceptions that leave it.

A loop with early exits is a `While` that records its exit.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence

from adc.frontend.control import blocks
from adc.frontend.control.branches import branch
from adc.frontend.control.escapes import RAISED
from adc.frontend.control.exits import (
    CONTINUE,
    EXIT,
    FALLS,
    NATURAL,
    RESULT,
    RETURN,
    TORN,
    exit_of,
    exits_of,
    is_exit,
    is_of_exit,
    jumps,
    set_exit,
)
from adc.frontend.control.iterations.loops import lower_loop
from adc.frontend.core.bindings import (
    Num,
    Unbound,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import is_name_bound
from adc.frontend.core.structure import is_slot
from adc.frontend.language import breaks
from adc.frontend.syntax import scope
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.types import BOOL


class JumpsError(Exception):
    """A loop is left by an exception or a jump: it is lowered as one with early exits."""


def jumps_of(lo: Lowerer, stmt: ast.For | ast.While) -> set[int]:
    """Return the exceptions and jumps that are known to leave a loop."""
    found: set[int] = lo.memo.setdefault((lo.frame.path, id(stmt), "jumps"), set())
    return found


def _note_jumps(lo: Lowerer, stmt: ast.For | ast.While) -> bool:
    """Note which exceptions and jumps leave a loop at the end of an iteration."""
    found = jumps(exits_of(lo, exit_of(lo)))
    jumps_of(lo, stmt).update(found)
    return bool(found)


def require_no_jump(lo: Lowerer, stmt: ast.For | ast.While) -> None:
    if _note_jumps(lo, stmt):
        raise JumpsError


def assigned(lo: Lowerer, nodes: Sequence[ast.AST]) -> list[str]:
    """Return the names that a loop may bind."""
    return [*scope.assigned_in(nodes), *([RAISED] if RAISED in lo.frame.env else [])]


def bound(lo: Lowerer, names: Sequence[str]) -> list[str]:
    return [name for name in names if is_name_bound(lo, name)]


def to_next_iteration(lo: Lowerer, stmt: ast.For | ast.While) -> Operand:
    """Turn the pending exit at the end of an iteration into "run again"; keep the exit."""
    _note_jumps(lo, stmt)
    pending = exit_of(lo)
    lo.frame.env["$reason"] = Num(pending)
    if isinstance(pending, Literal):
        again: Operand = Literal(pending.value in (FALLS, CONTINUE), BOOL)
    else:
        falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")
        skips = lo.builder.apply("eq", pending, integer(CONTINUE), hint="skips")
        again = lo.builder.apply("or", falls, skips, hint="again")
    set_exit(lo, FALLS)
    return again


def again_flag(lo: Lowerer, pending: Operand) -> Operand:
    falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")
    skips = lo.builder.apply("eq", pending, integer(CONTINUE), hint="skips")
    return lo.builder.apply("or", falls, skips, hint="again")


def early_loop(
    lo: Lowerer,
    stmt: ast.For | ast.While,
    names: Sequence[str],
    body: Callable[[Value | None], Operand],
    *,
    definite: bool,
    unrolls: bool = False,
    endless: bool = False,
    bind: Callable[[], None] = lambda: None,
) -> None:
    """Lower a loop with early exits: a `While` that records its exit."""
    outer = {name: lo.frame.env.pop(name) for name in ("$reason",) if name in lo.frame.env}
    lo.frame.env["$reason"] = Num(integer(FALLS))
    returns = scope.has_return(stmt.body)
    kept = breaks.Kept(lo, stmt, names)
    extra = ["$reason", *([RESULT] if returns else []), *kept.extra]
    sure = {
        RESULT,
        *kept.extra,
        *(scope.surely_assigned(stmt.test) if isinstance(stmt, ast.While) else ()),
    }
    with kept:
        lower_loop(
            lo, stmt, [*names, *extra], body, trips=None, definite=definite, unrolls=unrolls,
            sure=sure,
        )  # fmt: skip
    lo.frame.env.pop("$index", None)
    reason = lo.frame.env.pop("$reason")
    lo.frame.env.update(outer)
    bind()
    assert isinstance(reason, Num)
    kept.bind(reason.operand, endless)
    left = {*([RETURN] if returns else []), *jumps_of(lo, stmt)}
    if endless and len(left) == 1 and not scope.has_break(stmt.body):
        set_exit(lo, *left)
        return
    if left:
        set_left(lo, reason.operand, left)
    lower_else(lo, stmt, reason.operand, left, kept=kept)


def set_left(lo: Lowerer, reason: Operand, left: Collection[int], *, falls: bool = True) -> None:
    """Set the exit that is pending after a loop that was left by `reason`.

    With `falls` there may be other reasons than those in `left`; after these no exit is pending.
    """
    codes = sorted(left)
    if isinstance(reason, Literal):
        set_exit(lo, int(reason.value) if reason.value in left else FALLS)
        return
    code: Operand = integer(FALLS if falls else codes.pop())
    for exit_ in codes:
        gone = lo.builder.apply("eq", reason, integer(exit_), hint="returns")
        code = lo.builder.apply("select", gone, integer(exit_), code, hint="exit")
    if isinstance(code, Value):
        lo.exit_values[code] = frozenset([*left, *([FALLS] if falls else [])])
    lo.frame.env[EXIT] = Num(code)


def lower_else(
    lo: Lowerer, stmt: ast.For | ast.While, reason: Operand | None, left: Collection[int] = (),
    end: int = NATURAL, kept: breaks.Kept | None = None,
) -> None:  # fmt: skip
    """Lower the `else` of a loop, which runs where the loop was left by the exit `end`.

    `left` has the other exits, but for `break`.
    """
    if not stmt.orelse:
        return
    if reason is None or is_exit(reason, end):
        blocks.lower_stmts(lo, stmt.orelse)
        return
    natural = lo.builder.apply("eq", reason, integer(end), hint="natural")
    exits = bool(left) and not scope.has_break(stmt.body)

    def run() -> None:
        set_exit(lo, FALLS)
        blocks.lower_stmts(lo, stmt.orelse)

    def settle() -> None:
        if exits:
            set_left(lo, reason, left, falls=False)
        if kept is not None:
            kept.settle()

    branch(lo, natural, run, settle, else_exited=exits)


def skip(lo: Lowerer, stmt: ast.For | ast.While, bound: Sequence[str]) -> None:
    """Record the names that may have one of two kinds of value, or none, after the iteration.

    Where a path is left, the others do not see what it binds; after `continue` the next iteration
    does, and what follows the loop.
    """
    if not scope.has_continue(stmt.body):
        return
    partial = lo.frame.partial
    for name in bound:
        if name in partial:
            partial.discard(name)
            lo.frame.env[name] = Unstable(
                f"may be bound to another kind of value by a `continue` (line {stmt.lineno})"
            )
    if CONTINUE in exits_of(lo, exit_of(lo)):
        for name in sorted(partial):
            if not (is_slot(name) or name.startswith(TORN) or is_of_exit(name)):
                partial.discard(name)
                lo.frame.env[name] = Unbound(
                    f"a `continue` may skip what assigns it (line {stmt.lineno})"
                )
