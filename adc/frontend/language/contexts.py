"""`with`: context managers that are Python classes or made by `contextlib`, and some of libraries.

``with m as v: BODY`` calls `__enter__` before and `__exit__` after the body, as a `try` with
`finally` would. The managers of NumPy and `warnings` that only decide which warnings are shown do
nothing: compiled code shows none.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import blocks, escapes, evaluation
from adc.frontend.control.branches import branch
from adc.frontend.control.suspended import Generator
from adc.frontend.core import bindings, classes, dispatch, outside
from adc.frontend.core.bindings import NONE, Binding, Bound, Num, Static
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import usable
from adc.frontend.core.state import Handling, Region
from adc.frontend.language import assignment, exceptions, generators
from adc.frontend.syntax.source import source_of
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError, WithError, exception_named
from adc.ir.types import BOOL

_MANAGED = contextlib.contextmanager(lambda: iter(())).__code__

# Those that decide which warnings are shown, or how arrays are printed.
_SILENT = (np.errstate, np.printoptions, warnings.catch_warnings)
MANAGERS = (*_SILENT, contextlib.nullcontext, contextlib.suppress, contextlib.contextmanager)
# Where the classes of locks are from, which are not written in Python.
_COMPILED = ("_thread", "builtins", "_io")


@handles(ast.With)
def lower_with(lo: Lowerer, stmt: ast.With) -> None:
    _items(lo, stmt, 0)


def _items(lo: Lowerer, stmt: ast.With, k: int) -> None:
    """Lower the k-th context manager of a `with`, with the others inside."""
    if k == len(stmt.items):
        blocks.lower_stmts(lo, stmt.body)
        return
    item = stmt.items[k]
    rest = _rest(lo, stmt, k)
    with lo.at(item.context_expr):
        known = _known(lo, item, rest)
    if known:
        return
    if isinstance(item.context_expr, ast.Call):
        made = _generator_of(lo, item.context_expr)
        if made is not None:
            generators.context(lo, stmt, item.context_expr, made, rest, item.optional_vars)
            return
    if lo.frame.catching and not isinstance(item.context_expr, ast.Name):
        blocks.lower_stmts(lo, _named(lo, stmt, k, rest))
        return
    manager = evaluation.lower_expr(lo, item.context_expr)
    what = kind_of(manager)
    cls = classes.instance_class(manager) if classes.is_instance(manager) else None
    if cls is None or cls.__module__ in _COMPILED:
        raise WithError(
            f"`with` of {what} is not supported",
            lo.span(item.context_expr),
            "enter the context outside the differentiated function",
        )
    enter, leave = (classes.find(lo, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        raise TypeMismatchError(
            f"{what} does not support the context manager protocol", lo.span(item.context_expr)
        )
    node = item.context_expr

    def run() -> None:
        entered = dispatch.apply(lo, Static(enter), [manager], {}, classes.call_at(node))
        if item.optional_vars is not None:
            assignment.assign(lo, item.optional_vars, usable(lo, entered, "this", node))

    _at_once(lo, run)
    blocks.if_falls(lo, node, lambda: _guarded(lo, stmt, rest, manager, leave, node))


def _at_once(lo: Lowerer, body: Callable[[], None]) -> None:
    """Lower what is like a statement, whose exceptions may be caught."""
    if lo.frame.catching:
        escapes.run(lo, body)
    else:
        body()


def _named(lo: Lowerer, stmt: ast.With, k: int, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a `with` whose context manager has a name."""
    key = ("named", id(stmt), k)
    if key not in lo.memo:
        item = stmt.items[k]
        name = f"$manager{item.context_expr.lineno}_{item.context_expr.col_offset}"
        made = [
            ast.Assign([ast.Name(name, ast.Store())], item.context_expr),
            ast.With([ast.withitem(ast.Name(name, ast.Load()), item.optional_vars)], list(rest)),
        ]
        for part in made:
            for inner in ast.walk(part):
                if isinstance(inner, ast.stmt | ast.expr) and not hasattr(inner, "lineno"):
                    ast.copy_location(inner, item.context_expr)
        lo.memo[key] = (stmt, made)
    found: list[ast.stmt] = lo.memo[key][1]
    return found


def _rest(lo: Lowerer, stmt: ast.With, k: int) -> list[ast.stmt]:
    """Return what a context manager is entered for, as statements."""
    if k == len(stmt.items) - 1:
        return stmt.body
    key = ("with", id(stmt), k)
    if key not in lo.memo:
        inner = ast.copy_location(ast.With(stmt.items[k + 1 :], stmt.body), stmt)
        lo.memo[key] = (stmt, [inner])
    found: list[ast.stmt] = lo.memo[key][1]
    return found


# -- managers that do nothing, or little -----------------------------------------------------------


def _known(lo: Lowerer, item: ast.withitem, rest: Sequence[ast.stmt]) -> bool:
    """Lower a context manager of a library; return whether it is one."""
    node = item.context_expr
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return False
    callee = evaluation.lower_expr(lo, node.func)
    value = callee.value if isinstance(callee, Static) else None
    entered: Binding = NONE
    if value is contextlib.suppress:
        handler = ast.ExceptHandler(ast.Tuple(node.args, ast.Load()), None, [ast.Pass()])
        _run_made(lo, node, lambda: ast.Try(list(rest), [handler], [], []))
        return True
    if value is contextlib.nullcontext:
        if node.args or node.keywords:
            given = node.args[0] if node.args else node.keywords[0].value
            entered = evaluation.lower_expr(lo, given)
    elif value in _SILENT:
        _require_quiet(lo, value, node)
    else:
        return False
    if item.optional_vars is not None:
        assignment.assign(lo, item.optional_vars, entered)
    lo.quiet += value is warnings.catch_warnings
    lo.printing += value is np.printoptions
    try:
        blocks.lower_stmts(lo, rest)
    finally:
        lo.quiet -= value is warnings.catch_warnings
        lo.printing -= value is np.printoptions
    return True


def _run_made(lo: Lowerer, node: ast.AST, make: Any) -> None:
    key = ("made", id(node))
    if key not in lo.memo:
        made = make()
        for inner in ast.walk(made):
            if isinstance(inner, ast.stmt | ast.expr | ast.excepthandler) and not hasattr(
                inner, "lineno"
            ):
                ast.copy_location(inner, node)
        lo.memo[key] = (node, [made])
    blocks.lower_stmts(lo, lo.memo[key][1])


def _require_quiet(lo: Lowerer, value: Any, node: ast.Call) -> None:
    """Refuse options with which a context manager raises, or records what happens."""
    for part in [*node.args, *(keyword.value for keyword in node.keywords)]:
        found = evaluation.lower_expr(lo, part)
        allowed = (None, "ignore", "warn", Warning)
        option = found.value if isinstance(found, Static) else None
        known = option in allowed or (isinstance(option, type) and issubclass(option, Warning))
        on = isinstance(found, Num) and found.operand != Literal(False, BOOL)
        if value is not np.printoptions and (on or not known):
            raise WithError(
                f"`{ast.unparse(node.func)}` with {kind_of(found)} is not supported",
                lo.span(part),
                "compiled code neither raises nor records warnings: test the values instead",
            )


# -- managers in Python ----------------------------------------------------------------------------


def _generator_of(lo: Lowerer, node: ast.Call) -> Generator | None:
    """Return the generator behind a function that `contextlib.contextmanager` made."""
    if not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    callee = evaluation.lower_expr(lo, node.func)
    fn: Any = None
    first: tuple[Binding, ...] = ()
    match callee:
        case Static(value=types.MethodType() as method):
            fn, first = method.__func__, (bindings.static(method.__self__),)
        case Static(value=fn):
            outside.pin(lo, callee)
        case Bound(owner=owner, name=name, after=None) if classes.is_instance(owner):
            fn, first = classes.find(lo, owner, name), (owner,)
    if isinstance(fn, types.FunctionType) and fn.__code__ is _MANAGED:
        return generators.found_in(lo, Static(fn.__wrapped__), first)  # type: ignore[attr-defined]  # of a wrapper
    return None


def _guarded(
    lo: Lowerer, stmt: ast.With, body: Sequence[ast.stmt], manager: Binding, leave: Any,
    node: ast.expr,
) -> None:  # fmt: skip
    """Lower the body of `with` and the call of `__exit__` after it."""

    def call(*what: Binding) -> Binding:
        return dispatch.apply(
            lo, Static(leave), [manager, *(what or (NONE,) * 3)], {}, classes.call_at(node)
        )

    def left() -> None:
        call()

    if not _asks(leave):
        exceptions.finally_(
            lo, stmt, functools.partial(blocks.lower_stmts, lo, body), lambda: _at_once(lo, left)
        )
        return
    region = Region(None, keeps=True)
    exceptions.catching(lo, region, lambda: blocks.lower_stmts(lo, body))

    def failed(found: escapes.Failed) -> None:
        kinds: dict[type[Exception], list[int]] = {}
        for code in sorted(region.codes):
            kinds.setdefault(exception_named(escapes.site_of(lo, code).error), []).append(code)
        each_kind(found, list(kinds.items()))

    def each_kind(
        found: escapes.Failed, kinds: Sequence[tuple[type[Exception], list[int]]]
    ) -> None:
        (kind, codes), *others = kinds
        cond: Operand = Literal(True, BOOL)
        if others:
            cond = exceptions.is_one_of(lo, found[0], codes)
        branch(
            lo, cond, lambda: of_kind(found, kind, codes), lambda: each_kind(found, others)
        )  # fmt: skip

    def of_kind(found: escapes.Failed, kind: type[Exception], codes: Sequence[int]) -> None:
        handling = Handling(found, frozenset(codes))
        swallowed = call(
            Static(kind), exceptions.exception_of(lo, found, handling.codes, node), NONE
        )
        again = functools.partial(exceptions.reraise, lo, stmt, handling)

        def on() -> None:
            if lo.frame.catching:
                escapes.run(lo, again)
            else:
                again()

        cond = evaluation.truth(lo, usable(lo, swallowed, "the result of __exit__", node), node)
        branch(lo, cond, lambda: None, on)

    exceptions.handled(
        lo, region, failed, otherwise=lambda: exceptions.kept_exit(lo, lambda: _at_once(lo, left))
    )


def _asks(leave: Any) -> bool:
    """Whether `__exit__` looks at the exception, or may swallow it."""
    fn = getattr(leave, "__func__", leave)
    if not isinstance(fn, types.FunctionType):
        return True
    node = source_of(fn).node
    body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    args = node.args
    names = {arg.arg for arg in [*args.posonlyargs, *args.args][1:]}
    names |= {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}
    for inner in ast.walk(ast.Module(body, [])):
        if isinstance(inner, ast.Name) and inner.id in names:
            return True
        if isinstance(inner, ast.Return) and not (
            inner.value is None or (isinstance(inner.value, ast.Constant) and not inner.value.value)
        ):
            return True
    return False


__all__ = ["lower_with"]
