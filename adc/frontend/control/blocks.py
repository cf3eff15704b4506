"""Sequences of statements, and `if`: statements after a possible exit are in a branch.

``if c: return x`` followed by more is an `if` with two branches, of which the second is the rest.
Otherwise, the rest is guarded by the pending exit (`control`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

from adc.frontend.control import chains, choices, escapes
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import FALLS, TORN, exit_of, exits_of, is_exit, keep_exit, set_exit
from adc.frontend.core import dispatch
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Opening
from adc.frontend.syntax import jumps, scope
from adc.ir.builder import integer
from adc.ir.core import Operand

_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match, jumps.Labelled)


def lower_stmts(lo: Lowerer, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements in order; what follows a possible exit runs only if none is pending."""
    if lo.frame.catching:
        stmts = [
            part
            for stmt in stmts
            for part in ([stmt] if isinstance(stmt, ast.For) else headless(lo, stmt))
        ]
    for section in chains.sections(stmts):
        if not go_on(lo, section):
            return


def go_on(lo: Lowerer, stmts: Sequence[ast.stmt]) -> bool:
    """Lower statements that run only if no exit is pending; return whether they may run."""
    if is_exit(exit_of(lo), FALLS):  # at once: functions that are inlined nest deeply
        _lower_section(lo, stmts)
        return True
    return not stmts or if_falls(lo, stmts[0], lambda: _lower_section(lo, stmts))


def if_falls(lo: Lowerer, node: ast.AST, body: Callable[[], None]) -> bool:
    """Lower what runs only if no exit is pending; return whether it may run."""
    pending = exit_of(lo)
    if is_exit(pending, FALLS):
        body()
        return True
    if FALLS not in exits_of(lo, pending):
        return False
    with lo.at(node):
        falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")

        def run() -> None:
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
            body()

        branch(lo, falls, run, lambda: keep_exit(lo), else_exited=True)
    return True


def _lower_section(lo: Lowerer, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements in order: what follows a possible exit lies in a branch."""
    for k, stmt in enumerate(stmts):
        is_last = k == len(stmts) - 1
        if isinstance(stmt, ast.Assign) and not lo.frame.catching:
            after = dispatch.rewritten(lo, stmt, stmts[k + 1 :])
            if after is not None:
                _lower_section(lo, after)
                return
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
            if lo.frame.catching and not isinstance(stmt, _COMPOUND):
                _guarded(lo, stmt)
            else:
                choices.execute(lo, stmt)
        if not isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            here = lo.span(stmt)
            lo.shared.passed.add((here.file, here.line, here.end_line))
        if not is_exit(exit_of(lo), FALLS):
            if not is_last:
                with lo.at(stmt):
                    go_on(lo, stmts[k + 1 :])
            return


def _guarded(lo: Lowerer, stmt: ast.stmt) -> None:
    """Lower a simple statement of the body of a `try`.

    If it changes something and may then raise what is caught, its parts are statements of their
    own, and so are those of the function that it calls.
    """
    execute = functools.partial(choices.execute, lo)
    before = lo.point()
    try:
        escapes.run(lo, functools.partial(execute, stmt))
        return
    except escapes.ChangeError:
        found = choices.in_parts(lo, stmt)
        if found is None:
            raise
    lo.undo(before)
    parts, rest = found
    *operands, call = parts.values()
    for part in operands:
        if_falls(lo, part, functools.partial(escapes.run, lo, functools.partial(execute, part)))
    if_falls(lo, call, functools.partial(_opened, lo, call))
    if_falls(lo, rest, functools.partial(_guarded, lo, rest))
    for name in parts:
        lo.frame.env.pop(name, None)
        lo.frame.partial -= {name, TORN + name}


def _opened(lo: Lowerer, stmt: ast.Assign) -> None:
    """Lower ``name = f(…)`` in the body of a `try` as if the body of `f` stood there."""
    before = lo.point()
    outer, lo.opening = lo.opening, Opening(stmt.value, lo.frame)
    try:
        choices.execute(lo, stmt)
        if lo.opening.done:
            return
    finally:
        lo.opening = outer
    lo.undo(before)  # it is no function of the program
    escapes.run(lo, functools.partial(choices.execute, lo, stmt))


def headless(lo: Lowerer, stmt: ast.stmt) -> list[ast.stmt]:
    """Return a statement in a `try` with what may raise in its head in a statement of its own."""
    key = ("headless", id(stmt))
    if key not in lo.memo:
        lo.memo[key] = (stmt, _split(stmt))
    found: list[ast.stmt] = lo.memo[key][1]
    return found


def _split(stmt: ast.stmt) -> list[ast.stmt]:
    name = f"$head{stmt.lineno}_{stmt.col_offset}"
    read, bound = ast.Name(name, ast.Load()), ast.Name(name, ast.Store())
    made: list[ast.stmt]
    match stmt:
        case ast.If(test=test) if _may_raise(test):
            made = [ast.Assign([bound], _truth(test)), ast.If(read, stmt.body, stmt.orelse)]
        case ast.While(test=test, orelse=[]) if _may_raise(test):
            over = ast.If(ast.UnaryOp(ast.Not(), read), [ast.Break()], [])
            body = [ast.Assign([bound], _truth(test)), over, *stmt.body]
            made = [ast.While(ast.Constant(True), body, [])]
        case ast.For(iter=over_) if _may_raise(over_) and not _is_lazy(over_):
            made = [
                ast.Assign([bound], over_),
                ast.For(stmt.target, read, stmt.body, stmt.orelse),
            ]
        case _:
            return [stmt]
    for part in made:
        for inner in ast.walk(part):
            if isinstance(inner, ast.stmt | ast.expr) and not hasattr(inner, "lineno"):
                ast.copy_location(inner, stmt)
    return made


def _truth(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), test))


def _may_raise(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Call | ast.Subscript | ast.BinOp) for inner in ast.walk(node))


def _is_lazy(node: ast.expr) -> bool:
    """Whether an expression may be an iterator, which cannot be assigned, or a range."""
    names = ("range", "enumerate", "zip", "reversed", "map", "filter", "prange")
    if isinstance(node, ast.GeneratorExp):
        return True
    func = node.func if isinstance(node, ast.Call) else None
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name in names


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
        cond = choices.condition(lo, stmt.test)
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
        cond = choices.condition(lo, tests[0])
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
            return choices.condition(lo, link.test)

    with lo.at(stmt):
        chains.pick(
            lo,
            [functools.partial(test, link) for link in found],
            [
                functools.partial(lower_stmts, lo, part)
                for part in [*(x.body for x in found), orelse]
            ],
        )
