"""Statements that Python does not have: a block with a label, and a jump to its end.

A generator that a loop consumes becomes such a block: the body of the loop takes the place of each
`yield`, and ``break`` leaves the block (`language.generators`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any


class Labelled(ast.stmt):
    """Statements that a `Leave` in them may leave."""

    _fields = ("body",)
    body: list[ast.stmt]

    def __init__(self, body: Sequence[ast.stmt] = (), like: ast.AST | None = None) -> None:
        super().__init__()
        self.body = list(body)
        if like is not None:  # else it is copied
            ast.copy_location(self, like)


class Leave(ast.stmt):
    """A jump to the end of the block `label`; `breaks`: the program says `break`."""

    _fields = ()
    label: Labelled

    def __init__(self, label: Labelled, like: ast.AST, *, breaks: bool = False) -> None:
        super().__init__()
        self.label = label
        self.breaks = breaks
        ast.copy_location(self, like)

    def __deepcopy__(self, memo: dict[int, Any]) -> Leave:
        # Of a block that is copied with it, it leaves the copy.
        return Leave(memo.get(id(self.label), self.label), self, breaks=self.breaks)


def leaving(stmts: Sequence[ast.stmt], end: Labelled, again: Labelled) -> list[ast.stmt]:
    """Return the body of a loop with jumps for `break` and `continue`; inner loops keep theirs."""
    inside = (each for stmt in stmts for each in ast.walk(stmt))
    if not any(isinstance(each, ast.Break | ast.Continue) for each in inside):
        return list(stmts)
    jumps = _Jumps(end, again)
    return [jumps.visit(_shallow(stmt)) for stmt in stmts]


class _Jumps(ast.NodeTransformer):
    """Replaces the `break` and `continue` of a loop by jumps; those of inner loops stay."""

    def __init__(self, end: Labelled, again: Labelled) -> None:
        self.end = end
        self.again = again

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        return Leave(self.end, node, breaks=True)

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return Leave(self.again, node)

    def visit_For(self, node: Any) -> Any:
        node.orelse = [self.visit(part) for part in node.orelse]
        return node

    visit_While = visit_For

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_Lambda = visit_ClassDef = visit_Expr = visit_Leave = visit_FunctionDef


def _shallow(node: Any) -> Any:
    """Return a copy of a statement that shares its expressions."""
    if isinstance(node, list):
        return [_shallow(item) for item in node]
    if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case | ast.withitem):
        return node
    if isinstance(node, Labelled | Leave):
        return node  # they are known by identity
    made = copy.copy(node)
    for name in node._fields:
        setattr(made, name, _shallow(getattr(node, name, None)))
    return made
