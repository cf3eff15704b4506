"""Sequences of statements, and `if`: statements after a possible exit are in a branch.

``if c: return x`` followed by more is an `if` with two branches, of which the second is the rest.
Otherwise, the rest is guarded by the pending exit (`control`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence

from adc.frontend.control import chains, evaluation
from adc.frontend.control.control import (
    FALLS,
    branch,
    exit_of,
    exits_of,
    is_exit,
    keep_exit,
    set_exit,
)
from adc.frontend.core import dispatch
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.syntax import scope
from adc.ir.builder import integer
from adc.ir.core import Operand


def lower_stmts(lo: Lowerer, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements in order; what follows a possible exit runs only if none is pending."""
    for section in chains.sections(stmts):
        if not _go_on(lo, section):
            return


def _go_on(lo: Lowerer, stmts: Sequence[ast.stmt]) -> bool:
    """Lower statements that run only if no exit is pending; return whether they may run."""
    pending = exit_of(lo)
    if is_exit(pending, FALLS):
        _lower_section(lo, stmts)
        return True
    if FALLS not in exits_of(lo, pending):
        return False
    with lo.at(stmts[0]):
        falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")

        def go_on() -> None:
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
            _lower_section(lo, stmts)

        branch(lo, falls, go_on, lambda: keep_exit(lo), else_exited=True)
    return True


def _lower_section(lo: Lowerer, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements in order: what follows a possible exit lies in a branch."""
    for k, stmt in enumerate(stmts):
        is_last = k == len(stmts) - 1
        if isinstance(stmt, ast.If) and not is_last and _one_arm_exits(stmt) and not _is_long(stmt):
            # `if c: return …` followed by more: the rest is the other arm, no flag is needed.
            body, orelse, rest = list(stmt.body), list(stmt.orelse), stmts[k + 1 :]
            if scope.always_exits(body):
                orelse += rest
            else:
                body += rest
            _if(lo, stmt, body, orelse)
            return
        with lo.at(stmt):
            dispatch.execute(lo, stmt)
        if not is_exit(exit_of(lo), FALLS):
            if not is_last:
                with lo.at(stmt):
                    _go_on(lo, stmts[k + 1 :])
            return


def _one_arm_exits(stmt: ast.If) -> bool:
    return scope.always_exits(stmt.body) != scope.always_exits(stmt.orelse)


def _is_long(stmt: ast.If) -> bool:
    return chains.is_long([link.test for link in chains.links(stmt)[0]])


def _if(lo: Lowerer, stmt: ast.If, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
    if isinstance(stmt.test, ast.BoolOp) and isinstance(stmt.test.op, ast.And) and not orelse:
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(stmt.test)):
            _nested_if(lo, stmt, stmt.test.values, body)
            return
    with lo.at(stmt):
        cond = evaluation.condition(lo, stmt.test)
    with lo.at(stmt):
        branch(lo, cond, lambda: lower_stmts(lo, body), lambda: lower_stmts(lo, orelse))


def _nested_if(
    lo: Lowerer, stmt: ast.If, tests: Sequence[ast.expr], body: Sequence[ast.stmt]
) -> None:
    """Lower ``if a and b: …`` as ``if a: if b: …``: in the body, what `b` binds is bound."""
    if not tests:
        lower_stmts(lo, body)
        return
    with lo.at(stmt):
        cond = evaluation.condition(lo, tests[0])
        branch(lo, cond, lambda: _nested_if(lo, stmt, tests[1:], body), lambda: None)


@handles(ast.If)
def _if_statement(lo: Lowerer, stmt: ast.If) -> None:
    if _is_long(stmt):
        _long_if(lo, stmt)
    else:
        _if(lo, stmt, stmt.body, stmt.orelse)


def _long_if(lo: Lowerer, stmt: ast.If) -> None:
    found, orelse = chains.links(stmt)

    def test(link: ast.If) -> Operand:
        with lo.at(link):
            return evaluation.condition(lo, link.test)

    with lo.at(stmt):
        chains.pick(
            lo,
            [functools.partial(test, link) for link in found],
            [
                functools.partial(lower_stmts, lo, part)
                for part in [*(x.body for x in found), orelse]
            ],
        )
