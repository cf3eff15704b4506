"""Generators as functions of one step: from where they are to the next `yield`.

``def f(n): yield 0.0; for k in range(n): yield k * n; print(k)`` becomes a function of the
generator object, which has the variables of `f` as attributes, and the number of the `yield` where
it is. It returns whether there is another value::

    def f($self, $sent):
        $at = $self.$at
        $self.$at = -1
        if $at == 0:
            $self._value_ = 0.0; $self.$at = 1; return True
        if $at == 1:
            $self.$over = $begin($self.$over, range($self.n))
            if $self.$over.advance():
                $self.k = $self.$over.current()
                $self._value_ = $self.k * $self.n; $self.$at = 2; return True
            return False
        if $at == 2:
            print($self.k)
            if $self.$over.advance():
                …

From a `yield` in a loop, the rest of the body comes first, and then the loop. A loop of which each
iteration gets to a `yield` is no loop: it is left there.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from adc.frontend.syntax import scope
from adc.frontend.syntax.jumps import Labelled, leaving

_Node = TypeVar("_Node", bound=ast.AST)

# The parameters of a step: the generator, what is sent to it, and what begins a loop.
SELF, SENT, BEGIN = "$self", "$sent", "$begin"
# The attributes that say at which `yield` a generator is, if it has not ended, and what it yields.
AT, VALUE = "$at", "_value_"
DONE = -1

# What a loop goes over: for `zip` and `enumerate`, their names and what these go over.
Kind = tuple[Any, ...]

# What a step refuses: what it is, where it is, and what to do about it.
Refuse = Callable[[str, ast.AST, str], Exception]


def yields(node: ast.AST) -> bool:
    """Whether a statement or expression has a `yield` of its own."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in scope.inside([node]))


def step_of(
    node: ast.FunctionDef, own: frozenset[str], refuse: Refuse
) -> tuple[ast.FunctionDef, Sequence[str], dict[str, Kind]]:
    """Return the function of one step of a generator that has the variables `own`.

    And the attributes of the generator: its variables, and the iterators of its loops.
    """
    body = copy.deepcopy(node.body)
    steps = _Steps(own, refuse)
    body = steps.prepared(body)
    arms: list[tuple[int, list[ast.stmt]]] = [(0, steps.begun(body))]
    arms += [(k, steps.resumed(body, k)) for k in range(1, steps.count + 1)]
    made: list[ast.stmt] = [
        ast.Assign([_store(AT)], _attribute(AT)),
        _put(AT, ast.Constant(DONE)),  # where an exception ends it
    ]
    for number, arm in arms:
        test = ast.Compare(_load(AT), [ast.Eq()], [ast.Constant(number)])
        made.append(ast.If(test, _reached([*arm, _returns(False)]), []))
    made.append(_returns(False))
    names = [ast.arg(name) for name in (SELF, SENT, BEGIN)]
    spec = ast.arguments([], names, None, [], [], None, [])
    return placed(ast.FunctionDef(node.name, spec, made, []), node), sorted(steps.own), steps.loops


def _reached(stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements up to the first after which none is reached."""
    for k, stmt in enumerate(stmts):
        if scope.exits(stmt):
            return list(stmts[: k + 1])
    return list(stmts)


def placed(made: _Node, at: ast.AST) -> _Node:
    """Give the nodes of a tree that have no place that of the one around them."""
    todo: list[tuple[ast.AST, ast.AST]] = [(made, at)]
    while todo:
        node, around = todo.pop()
        if not hasattr(node, "lineno"):
            ast.copy_location(node, around)
        todo += [
            (each, node if hasattr(node, "lineno") else around)
            for each in ast.iter_child_nodes(node)
        ]
    return made


# -- `StopIteration` -------------------------------------------------------------------------------


def may_stop(node: ast.AST) -> bool:
    """Whether a statement or expression may end with `StopIteration`, by its text."""
    for each in scope.inside([node]):
        match each:
            case ast.Call(func=ast.Name(id="next"), args=[_], keywords=[]):
                return True
            case ast.Call(func=ast.Attribute(attr="__next__" | "send")):
                return True
            case ast.Raise(exc=ast.Name(id="StopIteration")):
                return True
            case ast.Raise(exc=ast.Call(func=ast.Name(id="StopIteration"))):
                return True
    return False


def _guarded(stmt: ast.stmt) -> ast.stmt:
    return guarded(stmt) if may_stop(stmt) else stmt


def guarded(stmt: ast.stmt) -> ast.stmt:
    """Return a statement of a generator such that no `StopIteration` comes out of it."""
    error = ast.Call(ast.Name("RuntimeError", ast.Load()), [_TEXT], [])
    handler = ast.ExceptHandler(ast.Name("StopIteration", ast.Load()), None, [ast.Raise(error)])
    return placed(ast.Try([stmt], [handler], [], []), stmt)


_TEXT = ast.Constant("generator raised StopIteration")


# -- small pieces of code --------------------------------------------------------------------------


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _store(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def _attribute(name: str, ctx: ast.expr_context | None = None) -> ast.expr:
    return ast.Attribute(_load(SELF), name, ctx or ast.Load())


def _put(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([_attribute(name, ast.Store())], value)


def _returns(more: bool) -> ast.stmt:
    return ast.Return(ast.Constant(more))


# -- statements ------------------------------------------------------------------------------------


class _Steps:
    """Writes the statements of a generator as those of its steps."""

    def __init__(self, own: frozenset[str], refuse: Refuse) -> None:
        self.own, self._refuse = own, refuse
        self.loops: dict[str, Kind] = {}
        self.count = 0  # of the `yield`s
        self._numbers: dict[ast.stmt, range] = {}  # of those in a statement
        self._over: dict[ast.stmt, str] = {}  # the iterators of loops

    def prepared(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements with loops for `yield from`; number the `yield`s in them."""
        found = []
        for each in stmts:
            stmt = each
            first = self.count + 1
            match stmt:
                case _ if not yields(stmt):
                    pass
                case ast.Expr(value=ast.YieldFrom(value=over)):
                    self._require_none(over)
                    name = f"$from{len(self.loops)}"
                    self.own |= {name}
                    one = ast.Expr(ast.Yield(_load(name)))
                    stmt = placed(ast.For(_store(name), over, [one], []), stmt)
                    self._prepare_loop(stmt)
                case ast.If(test=head) | ast.While(test=head):
                    self._require_none(head)
                    self._prepare_loop(stmt)
                case ast.For():
                    self._require_none(stmt.iter)
                    self._prepare_loop(stmt)
                case ast.Try() | ast.With():
                    raise self._refuse(
                        "`yield` in `try` or `with`, in a generator that several places draw from,",
                        stmt, "draw from it in one loop, where it is called",
                    )  # fmt: skip
                case ast.Match():
                    what = "`yield` in `match`, in a generator that several places draw from,"
                    raise self._refuse(what, stmt, "use `if`")
                case _:
                    self._require_none(_yielded(stmt), stmt)
                    self.count += 1
            self._numbers[stmt] = range(first, self.count + 1)
            found.append(stmt)
        return found

    def _prepare_loop(self, stmt: ast.If | ast.While | ast.For) -> None:
        if isinstance(stmt, ast.For):
            self._over[stmt] = f"$over{len(self.loops)}"
            self.loops[self._over[stmt]] = _kind(stmt.iter)
        stmt.body = self.prepared(stmt.body)
        stmt.orelse = self.prepared(stmt.orelse)

    def _require_none(self, node: ast.expr | None, at: ast.AST | None = None) -> None:
        """Refuse a `yield` inside an expression."""
        if node is None or yields(node):
            raise self._refuse(
                "`yield` inside an expression", node or at or ast.Pass(),
                "assign it to a variable: `v = yield …`",
            )  # fmt: skip

    def _plain(self, node: _Node) -> list[_Node]:
        """Return a statement or expression in terms of the attributes."""
        found = _Renamed(self.own, self._refuse).visit(copy.deepcopy(node))
        return found if isinstance(found, list) else [found]

    def _expr(self, node: ast.expr) -> ast.expr:
        (found,) = self._plain(node)
        return found

    def begun(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements that run from the first on."""
        found: list[ast.stmt] = []
        for stmt in stmts:
            if not self._numbers[stmt]:
                made = [_guarded(each) for each in self._plain(stmt)]
            else:
                made = [placed(each, stmt) for each in self._begun(stmt)]
            found += made
            if scope.always_exits(made):
                break
        return found

    def _begun(self, stmt: ast.stmt) -> list[ast.stmt]:
        match stmt:
            case ast.If():
                return [ast.If(
                    self._expr(stmt.test), self.begun(stmt.body), self.begun(stmt.orelse)
                )]  # fmt: skip
            case ast.While():
                return self._loop(stmt)
            case ast.For():
                name = self._over[stmt]
                begin = ast.Call(_load(BEGIN), [_attribute(name), self._expr(stmt.iter)], [])
                return [_guarded(placed(_put(name, begin), stmt.iter)), *self._loop(stmt)]
        value = _yielded(stmt)
        assert value is not None
        put = _put(AT, ast.Constant(self._numbers[stmt][0]))
        return [_guarded(placed(_put(VALUE, self._expr(value)), value)), put, _returns(True)]

    def _loop(self, stmt: ast.While | ast.For) -> list[ast.stmt]:
        body = self.begun(stmt.body)
        if isinstance(stmt, ast.While):
            test = self._expr(stmt.test)
        else:
            over = _attribute(self._over[stmt])
            test = ast.Call(ast.Attribute(over, "advance", ast.Load()), [], [])
            current = ast.Call(ast.Attribute(over, "current", ast.Load()), [], [])
            (target,) = self._plain(stmt.target)
            body.insert(0, placed(ast.Assign([target], current), stmt.target))
        orelse = self.begun(stmt.orelse)
        if scope.has_break(body) or scope.has_continue(body) or not scope.always_exits(body):
            return [ast.While(test, body, orelse)]
        if isinstance(test, ast.Constant) and test.value:
            return body
        return [ast.If(test, body, orelse)]

    def resumed(self, stmts: Sequence[ast.stmt], number: int) -> list[ast.stmt]:
        """Return statements that run from a `yield` in them on."""
        at = next(k for k, stmt in enumerate(stmts) if number in self._numbers[stmt])
        made = [placed(each, stmts[at]) for each in self._resumed(stmts[at], number)]
        return made if scope.always_exits(made) else [*made, *self.begun(stmts[at + 1 :])]

    def _resumed(self, stmt: ast.stmt, number: int) -> list[ast.stmt]:
        if isinstance(stmt, ast.If | ast.For | ast.While):
            in_body = any(number in self._numbers[each] for each in stmt.body)
            rest = self.resumed(stmt.body if in_body else stmt.orelse, number)
            if isinstance(stmt, ast.If) or not in_body:
                return rest
            end, again = Labelled([], stmt), Labelled([], stmt)
            ends = scope.always_exits(rest) and not scope.has_continue(rest)
            again.body = leaving(rest, end, again)
            end.body = [again, *([] if ends else self._loop(stmt))]
            return [end]
        sent = _load(SENT)
        match stmt:
            case ast.Assign(targets=targets):
                after: ast.stmt = ast.Assign(targets, sent)
            case ast.AnnAssign(target=target):
                after = ast.Assign([target], sent)
            case ast.AugAssign(target=target, op=op):
                after = ast.AugAssign(target, op, sent)
            case ast.Return():
                return [_returns(False)]
            case _:
                return []
        return self._plain(placed(after, stmt))


def _kind(node: ast.expr) -> Kind:
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as given):
            return ("zip", *map(_kind, given))
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
            return ("enumerate", _kind(first))
    return ()


def _yielded(stmt: ast.stmt) -> ast.expr | None:
    """Return what a statement yields; None if it has a `yield` inside an expression."""
    match stmt:
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript()):
            return None  # the target is evaluated before
        case (
            ast.Expr(value=ast.Yield(value=value))
            | ast.Assign(value=ast.Yield(value=value))
            | ast.AnnAssign(value=ast.Yield(value=value))
            | ast.AugAssign(value=ast.Yield(value=value))
            | ast.Return(value=ast.Yield(value=value))
        ):
            return value or ast.copy_location(ast.Constant(None), stmt)
    return None


# -- variables -------------------------------------------------------------------------------------


class _Renamed(ast.NodeTransformer):
    """Makes attributes of the variables of a generator."""

    def __init__(self, own: frozenset[str], refuse: Refuse) -> None:
        self.own, self._refuse = own, refuse

    def statement(self, stmt: ast.stmt) -> list[ast.stmt]:
        found = self.visit(stmt)
        return found if isinstance(found, list) else [found]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.own:
            return node
        if isinstance(node.ctx, ast.Del):
            raise self._refuse(f"`del {node.id}` in this generator", node, "leave it out")
        return ast.copy_location(_attribute(node.id, node.ctx), node)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        made: list[ast.stmt] = [_returns(False)]
        if node.value is not None and not isinstance(node.value, ast.Constant):
            made.insert(0, ast.Expr(self.visit(node.value)))
        return [placed(each, node) for each in made]

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        raise self._refuse("`:=` in this generator", node, "assign in a statement of its own")

    def visit_Import(self, node: ast.Import) -> Any:
        raise self._refuse("`import` in this generator", node, "import it at the top")

    visit_ImportFrom = visit_Import  # type: ignore[assignment]  # of the same kind

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        raise self._refuse("a class in this generator", node, "define it outside")

    def visit_Match(self, node: ast.Match) -> Any:
        for each in ast.walk(node):
            if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name is not None:
                raise self._refuse("a pattern with names in this generator", each, "use `if`")
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        """The exception has its name in the handler, which no step leaves."""
        with_name = node.name
        inner = self if with_name is None else _Renamed(self.own - {with_name}, self._refuse)
        node.type = None if node.type is None else self.visit(node.type)
        node.body = [part for stmt in node.body for part in inner.statement(stmt)]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        self._defaults(node.args)
        inner = self._inside(node)
        node.body = [part for stmt in node.body for part in inner.function_body(stmt)]
        if node.name not in self.own:
            return [node]
        kept = ast.Assign([_attribute(node.name, ast.Store())], _load(node.name))
        return [node, placed(kept, node)]

    def function_body(self, stmt: ast.stmt) -> list[ast.stmt]:
        """Return a statement of a function inside: what it returns is its own."""
        found = _Inner(self.own, self._refuse).visit(stmt)
        return found if isinstance(found, list) else [found]

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._defaults(node.args)
        node.body = self._inside(node).visit(node.body)
        return node

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(each) for each in args.defaults]
        args.kw_defaults = [each and self.visit(each) for each in args.kw_defaults]

    def _inside(self, node: ast.FunctionDef | ast.Lambda) -> _Renamed:
        """Return what renames the variables that a function inside reads."""
        args = node.args
        bound = {each.arg for each in ast.walk(args) if isinstance(each, ast.arg)}
        if isinstance(node, ast.FunctionDef):
            written = scope.nonlocals(node) & self.own
            if written:
                raise self._refuse(
                    f"`nonlocal {min(written)}`, a variable of this generator,", node,
                    "write a class with `__next__`",
                )  # fmt: skip
            bound |= set(scope.assigned_in(node.body)) - scope.nonlocals(node)
        return _Renamed(self.own - bound, self._refuse)

    def _comprehension(self, node: Any) -> Any:
        first, *others = node.generators
        first.iter = self.visit(first.iter)
        bound = scope.assigned_in([part.target for part in node.generators])
        inner = _Renamed(self.own - set(bound), self._refuse)
        first.ifs = [inner.visit(test) for test in first.ifs]
        for part in others:
            part.iter = inner.visit(part.iter)
            part.ifs = [inner.visit(test) for test in part.ifs]
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, inner.visit(getattr(node, name)))
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


class _Inner(_Renamed):
    """The same in a function inside, which has its own `return`."""

    def visit_Return(self, node: ast.Return) -> Any:
        return self.generic_visit(node)
