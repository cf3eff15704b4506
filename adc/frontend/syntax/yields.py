"""The statements of a generator, with others in the place of each `yield`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.syntax.jumps import Labelled, Leave
from adc.frontend.syntax.steps import Refuse, guarded, may_stop, placed, yields


class Inlined(ast.NodeTransformer):
    """The statements of a generator, renamed, with others at each `yield`."""

    def __init__(
        self,
        node: ast.FunctionDef,
        renamed: Callable[[str], str],
        given: dict[str, ast.expr],
        done: Labelled,
        visit: Callable[[ast.expr, ast.AST], list[ast.stmt]],
        refuse: Refuse,
        *,
        held: bool,
        manager: bool,
    ) -> None:
        self.node = node
        self.renamed = renamed
        self.given = given
        self.done = done
        self.at_yield = visit
        self._refuse = refuse
        self.held, self.manager = held, manager
        self.trying = 0
        self.guarding = 0

    def statements(self, mark: Callable[[ast.AST], None]) -> list[ast.stmt]:
        """Return the statements, of which each node is marked."""
        node = copy.deepcopy(self.node)
        for inner in ast.walk(node):
            mark(inner)
        return self._visited(node.body)

    def visit(self, node: Any) -> Any:
        """Visit a node; no `StopIteration` comes out of a statement without `yield`."""
        if not isinstance(node, ast.stmt) or isinstance(node, Labelled | Leave | ast.FunctionDef):
            return super().visit(node)
        guards = not self.guarding and may_stop(node) and not yields(node)
        self.guarding += guards
        made = super().visit(node)
        self.guarding -= guards
        if not guards:
            return made
        return guarded(made) if isinstance(made, ast.stmt) else [guarded(each) for each in made]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.given:
            return self.given[node.id]
        node.id = self.renamed(node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self.renamed(node.name)
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.renamed(node.arg)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.name = None if node.name is None else self.renamed(node.name)
        self.generic_visit(node)
        return node

    def visit_MatchAs(self, node: Any) -> Any:
        node.name = None if node.name is None else self.renamed(node.name)
        self.generic_visit(node)
        return node

    visit_MatchStar = visit_MatchAs

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        if node.value is not None and not isinstance(node.value, ast.Constant):
            found.append(ast.copy_location(ast.Expr(self.visit(node.value)), node))
        return [*found, Leave(self.done, node)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        if isinstance(value, ast.Yield):
            self._require_no_handler(node)
            given = value.value or ast.copy_location(ast.Constant(None), value)
            stops, given = may_stop(given), self.visit(given)
            if not stops:
                return self.at_yield(given, node)
            name = self.renamed(f"$given{node.lineno}_{node.col_offset}")
            taken = placed(ast.Assign([ast.Name(name, ast.Store())], given), node)
            read = ast.copy_location(ast.Name(name, ast.Load()), node)
            return [guarded(taken), *self.at_yield(read, node)]
        if isinstance(value, ast.YieldFrom):
            self._require_no_handler(node)
            name = self.renamed(f"$from{node.lineno}_{node.col_offset}")
            target = ast.copy_location(ast.Name(name, ast.Store()), node)
            read = ast.copy_location(ast.Name(name, ast.Load()), node)
            body = self.at_yield(read, node)
            # What it yields runs in the loop over the other iterable: its jumps stay jumps.
            made = ast.For(target, self.visit(value.value), body, [])
            return ast.copy_location(made, node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not isinstance(node.value, ast.Yield):
            return self.generic_visit(node)
        # A loop sends nothing.
        sent = ast.Assign([self.visit(each) for each in node.targets], ast.Constant(None))
        drawn = ast.copy_location(ast.Expr(node.value), node)
        return [*self.visit_Expr(drawn), placed(sent, node)]

    def visit_Yield(self, node: ast.AST) -> Any:
        hint = "pass what it sends as an argument"
        raise self._refuse("the value of `yield` (`send`)", node, hint)

    visit_YieldFrom = visit_Yield

    def visit_Nonlocal(self, node: ast.AST) -> Any:
        raise self._refuse("`nonlocal` or `global` in a generator", node, "")

    visit_Global = visit_Nonlocal

    def visit_Try(self, node: ast.Try) -> ast.Try:
        """Visit a `try`.

        A loop that ends closes the generator that it consumes, so that `finally` runs then. What
        the body of the loop raises is not caught there.
        """
        caught = bool(node.handlers) or self.held
        self.trying += caught
        node.body = self._visited(node.body)
        self.trying += not caught
        for handler in node.handlers:
            self.visit(handler)
        node.orelse, node.finalbody = self._visited(node.orelse), self._visited(node.finalbody)
        self.trying -= 1
        return node

    def _visited(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for stmt in stmts:
            made = self.visit(stmt)
            found += made if isinstance(made, list) else [made]
        return found

    def visit_With(self, node: ast.With) -> ast.With:
        self.trying += 1
        self.generic_visit(node)
        self.trying -= 1
        return node

    def _require_no_handler(self, node: ast.AST) -> None:
        if self.trying and not self.manager:
            hint = "what it guards is the loop that consumes the generator: guard that"
            raise self._refuse("`yield` in `try` or `with`", node, hint)
