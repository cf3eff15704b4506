"""Syntactic questions about statements, answered in linear time and cached by node."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from adc.frontend.syntax.jumps import Leave

FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While)
_EXITS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes, not descending into functions and comprehensions' own scopes."""
    todo = list(nodes)
    while todo:  # a chain of `elif` is as deep as it is long
        node = todo.pop()
        yield node
        if isinstance(node, COMPREHENSIONS):
            # Its targets are its own; a walrus in it binds outside.
            todo += (n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, _SCOPES):
            todo += ast.iter_child_nodes(node)


@cache
def assigned(node: ast.AST) -> frozenset[str]:
    """Return the names that `node` binds in its own scope."""
    names: set[str] = set()
    for inner in inside([node]):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
            names.add(inner.id)
        elif isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
            names.add(inner.name)
        elif isinstance(inner, ast.FunctionDef | ast.ClassDef):
            names.add(inner.name)
        elif isinstance(inner, ast.alias):
            names.add(inner.asname or inner.name.partition(".")[0])
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            names.add(inner.name)
    return frozenset(names)


def assigned_in(stmts: Sequence[ast.AST]) -> list[str]:
    """Return the names bound by `stmts`, sorted."""
    return sorted(set().union(*(assigned(stmt) for stmt in stmts)))


@cache
def _contains(node: ast.AST, kind: str, through_loops: bool) -> bool:
    todo = [node]
    while todo:
        node = todo.pop()
        if type(node).__name__ == kind:
            return True
        if isinstance(node, _LOOPS) and not through_loops:
            # A `break` in a loop belongs to that loop, one in its `else` to the loop outside.
            todo += node.orelse
        elif not isinstance(node, _SCOPES):
            # There are no statements in an expression.
            todo += (n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr))
    return False


def may_exit(stmt: ast.stmt) -> bool:
    """Whether the statements after `stmt` may be skipped."""
    return any(_contains(stmt, kind, True) for kind in ("Return", "Break", "Continue", "Raise"))


def has_return(stmts: Sequence[ast.AST]) -> bool:
    return any(_contains(stmt, "Return", True) for stmt in stmts)


def has_break(stmts: Sequence[ast.AST]) -> bool:
    """Whether `stmts`, the body of a loop, break out of this loop."""
    return any(_contains(stmt, "Break", False) for stmt in stmts)


def has_continue(stmts: Sequence[ast.AST]) -> bool:
    """Whether `stmts`, the body of a loop, skip to the next iteration of this loop."""
    return any(_contains(stmt, "Continue", False) for stmt in stmts)


@cache
def nonlocals(function: ast.AST) -> frozenset[str]:
    """Return the names that a function declares `nonlocal`."""
    found: set[str] = set()
    for stmt in (
        inside(getattr(function, "body", [])) if isinstance(function, ast.FunctionDef) else ()
    ):
        if isinstance(stmt, ast.Nonlocal):
            found.update(stmt.names)
    return frozenset(found)


@cache
def written_inside(function: ast.AST) -> frozenset[str]:
    """Return the names that functions inside a function declare `nonlocal`, and may write."""
    found: set[str] = set()
    for inner in ast.walk(function):
        if isinstance(inner, ast.FunctionDef) and inner is not function:
            found |= nonlocals(inner)
    return frozenset(found)


def surely_assigned(node: ast.expr) -> frozenset[str]:
    """Return the names that an expression always binds."""
    found: set[str] = set()
    todo: list[ast.AST] = [node]
    while todo:
        match todo.pop():
            case ast.NamedExpr(target=target, value=value):
                found.add(target.id)
                todo.append(value)
            case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
                todo.append(first)
            case ast.Compare(left=left, comparators=[first, *_]):
                todo += [left, first]
            case inner if isinstance(inner, COMPREHENSIONS):
                todo.append(inner.generators[0].iter)
            case inner if not isinstance(inner, _SCOPES):
                todo += ast.iter_child_nodes(inner)
    return frozenset(found)


@cache
def exits(node: ast.AST) -> bool:
    """Whether `node` never falls through to the statement after it."""
    while isinstance(node, ast.If) and always_exits(node.body):
        if len(node.orelse) != 1:
            return always_exits(node.orelse)
        (node,) = node.orelse  # the next link of a chain of `elif`
    return isinstance(node, _EXITS)


def always_exits(stmts: Sequence[ast.AST]) -> bool:
    return any(exits(stmt) for stmt in stmts)


@cache
def _leaves(node: ast.AST) -> bool:
    """Whether the statement `node`, in the body of a loop, always leaves the loop."""
    if isinstance(node, Leave):
        return node.breaks
    return exits(node) and not _skips(node)


@cache
def _skips(node: ast.AST) -> bool:
    """Whether the statement `node`, in the body of a loop, may skip to its next iteration."""
    return _contains(node, "Continue", False) or any(
        isinstance(inner, Leave) and not inner.breaks for inner in inside([node])
    )


@cache
def bound_by_others(loop: ast.For | ast.While) -> frozenset[str]:
    """Return the names that an iteration that does not leave the loop may bind, by its text."""
    found: set[str] = set()
    todo: list[list[ast.stmt]] = [loop.body]
    while todo:
        stmts = todo.pop()
        leaves = False
        for stmt in reversed(stmts):
            leaves = _leaves(stmt) or (leaves and not _skips(stmt))
            if leaves:
                continue
            if isinstance(stmt, ast.If):
                found |= assigned(stmt.test)
                todo += [stmt.body, stmt.orelse]
            else:
                found |= assigned(stmt)
        if stmts is loop.body and not leaves:
            found |= assigned(loop.target if isinstance(loop, ast.For) else loop.test)
    return frozenset(found)
