"""One function per statement node."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Sequence

import numpy as np

from adc.frontend import (
    arrays,
    calls,
    chains,
    containers,
    elementwise,
    expressions,
    iteration,
    iterators,
    numbers,
    objects,
    operators,
    scope,
)
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Lazy,
    ListRef,
    Num,
    Static,
    TupleOf,
    Unbound,
    kind_of,
)
from adc.frontend.control import (
    BREAK,
    CONTINUE,
    FALLS,
    RESULT,
    RETURN,
    branch,
    exit_of,
    exits_of,
    is_exit,
    keep_exit,
    set_exit,
)
from adc.frontend.lower import Dead, Lowerer, static
from adc.frontend.refusals import refusal
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL


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
        rest = stmts[k + 1 :]
        if isinstance(stmt, ast.If) and rest and _one_arm_exits(stmt) and not _is_long(stmt):
            # `if c: return …` followed by more: the rest is the other arm, no flag is needed.
            body, orelse = list(stmt.body), list(stmt.orelse)
            if scope.always_exits(body):
                orelse += rest
            else:
                body += rest
            _if(lo, stmt, body, orelse)
            return
        with lo.at(stmt):
            lower_stmt(lo, stmt)
        if not is_exit(exit_of(lo), FALLS):
            if rest:
                with lo.at(stmt):
                    _go_on(lo, rest)
            return


def _one_arm_exits(stmt: ast.If) -> bool:
    return scope.always_exits(stmt.body) != scope.always_exits(stmt.orelse)


def lower_stmt(lo: Lowerer, stmt: ast.stmt) -> None:
    handler = _STATEMENTS.get(type(stmt))
    if handler is None:
        raise refusal(lo, stmt)
    handler(lo, stmt)


def _expr(lo: Lowerer, stmt: ast.Expr) -> None:
    if isinstance(stmt.value, ast.Constant):
        return  # a docstring
    expressions.lower_expr(lo, stmt.value)


def _assign(lo: Lowerer, stmt: ast.Assign) -> None:
    if not isinstance(stmt.targets[0], ast.Tuple | ast.List):
        iterators.require_lasting(lo, stmt.value)
    if len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Subscript):
        # What is stored into an array needs no array of its own.
        assign(lo, stmt.targets[0], expressions.evaluate(lo, stmt.value))
        return
    value = named(lo, stmt)
    for target in stmt.targets:
        assign(lo, target, value)


def named(lo: Lowerer, stmt: ast.Assign) -> Binding:
    """Return the value of an assignment, called by the user's name in dumps."""
    if len(stmt.targets) != 1 or not isinstance(stmt.targets[0], ast.Name):
        return expressions.lower_expr(lo, stmt.value)
    name = stmt.targets[0].id
    if iterators.is_drawn(lo, stmt.value):
        raise lo.unsupported(
            f"a name for what `{ast.unparse(stmt.value.func)}` draws from", stmt.value,  # type: ignore[attr-defined]
            "make a list of it: `list(…)`",
        )  # fmt: skip
    value = expressions.evaluate(lo, stmt.value)
    if isinstance(value, Lazy):
        return elementwise.materialised(lo, value, stmt.value, name)
    return renamed(lo, value, name)


def _ann_assign(lo: Lowerer, stmt: ast.AnnAssign) -> None:
    if stmt.value is not None:
        iterators.require_lasting(lo, stmt.value)
        assign(lo, stmt.target, expressions.lower_expr(lo, stmt.value))


def assign(lo: Lowerer, target: ast.expr, value: Binding) -> None:
    """Bind `value` to a name, an element or a pattern of them."""
    if not isinstance(target, ast.Tuple | ast.List):
        iterators.require_lasting(lo, target, value)
    match target:
        case ast.Name(id=name):
            if isinstance(value, ArrayRef) and not value.view and lo.frame.site is None:
                obj = value.object
                if obj not in lo.origin:  # which has a name
                    obj.variable = obj.variable or name
            lo.frame.env[name] = value
            lo.frame.partial.discard(name)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack_into(lo, elts, value, target)
        case ast.Subscript():
            arrays.store_element(lo, target, value)
        case ast.Attribute():
            owner = expressions.lower_expr(lo, target.value)
            objects.set_attribute(lo, owner, target.attr, value, target)
        case _:
            raise lo.unsupported("this assignment target", target)


def _unpack_into(lo: Lowerer, elts: Sequence[ast.expr], value: Binding, target: ast.expr) -> None:
    starred = [k for k, element in enumerate(elts) if isinstance(element, ast.Starred)]
    if not starred:
        items = expressions.unpack(lo, value, target, len(elts))
        for element, item in zip(elts, items, strict=True):
            assign(lo, element, item)
        return
    found = list(expressions.static_sequence(lo, value, target))
    at, after = starred[0], len(elts) - starred[0] - 1
    if len(found) < len(elts) - 1:
        raise TypeMismatchError(
            f"{len(found)} values for at least {len(elts) - 1} names", lo.span(target)
        )
    end = len(found) - after
    rest = lo.new_ref(ListRef, TupleOf(tuple(found[at:end])))
    for element, item in zip(elts, [*found[:at], rest, *found[end:]], strict=True):
        assign(lo, element.value if isinstance(element, ast.Starred) else element, item)


def renamed(lo: Lowerer, value: Binding, name: str) -> Binding:
    """Call the value just computed by the user's name, so that dumps read like the source."""
    if isinstance(value, Num) and isinstance(value.operand, Value) and lo.builder.stmts:
        last = lo.builder.stmts[-1]
        old = value.operand
        fresh = last.results == (old,) and old.name.rstrip("0123456789.") == "t"
        if fresh and not lo.is_bound(old):
            mark = lo.builder.marks.pop(old.name, None)
            new = lo.builder.value(name, old.type)
            if mark is not None:
                lo.builder.marks[new.name] = mark
            lo.builder.stmts[-1] = numbers.with_result(last, new)
            return Num(new, value.array)
    return value


def _aug_assign(lo: Lowerer, stmt: ast.AugAssign) -> None:
    target = stmt.target
    if isinstance(target, ast.Subscript):
        arrays.augment_element(lo, stmt, target)
        return
    if isinstance(target, ast.Attribute):
        owner = expressions.lower_expr(lo, target.value)
        held = containers.attribute(lo, owner, target.attr, target)
        if isinstance(owner, Static):
            objects.set_attribute(lo, owner, target.attr, NONE, target)  # which refuses
        if held is None:
            raise TypeMismatchError(
                f"{kind_of(owner)} has no attribute {target.attr!r}", lo.span(target)
            )
        new = expressions.augmented(lo, held, stmt)
        objects.set_attribute(lo, owner, target.attr, new, target)
        return
    assert isinstance(target, ast.Name)
    assign(lo, target, expressions.augmented(lo, lo.read_name(target.id, target), stmt))


def _delete(lo: Lowerer, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        match target:
            case ast.Name(id=name):
                lo.read_name(name, target)
                lo.frame.env[name] = Unbound(f"it was deleted at line {stmt.lineno}")
            case ast.Subscript():
                owner = expressions.lower_expr(lo, target.value)
                containers.delete_item(lo, owner, target)
            case ast.Attribute():
                owner = expressions.lower_expr(lo, target.value)
                objects.delete_attribute(lo, owner, target.attr, target)
            case _:
                raise lo.unsupported("`del` of this", target)


# -- match -----------------------------------------------------------------------------------------


def _match(lo: Lowerer, stmt: ast.Match) -> None:
    subject = expressions.lower_expr(lo, stmt.subject)
    tests: list[Callable[[], Operand]] = []
    arms: list[Callable[[], None]] = []
    for case in stmt.cases:
        captured: dict[str, Binding] = {}
        tests.append(functools.partial(_case_holds, lo, case, subject, captured))
        arms.append(functools.partial(_taken, lo, case, captured))
    chains.pick(lo, tests, [*arms, lambda: None])


def _case_holds(
    lo: Lowerer, case: ast.match_case, subject: Binding, captured: dict[str, Binding]
) -> Operand:
    """Return whether a case is the one, and what its names are bound to then."""
    before = dict(lo.frame.env)
    cond = _matches(lo, case.pattern, subject)
    if case.guard is not None and not (isinstance(cond, Literal) and not cond.value):
        guard = functools.partial(expressions.condition, lo, case.guard)
        cond = expressions.all_of(lo, [lambda: cond, guard])
    captured |= {k: v for k, v in lo.frame.env.items() if before.get(k) is not v}
    lo.frame.env = before
    return cond


def _taken(lo: Lowerer, case: ast.match_case, captured: dict[str, Binding]) -> None:
    lo.frame.env.update(captured)
    lower_stmts(lo, case.body)


def _matches(lo: Lowerer, pattern: ast.pattern, subject: Binding) -> Operand:
    """Return whether a value matches a pattern, and bind the names in it."""
    match pattern:
        case ast.MatchValue(value=value):
            wanted = expressions.lower_expr(lo, value)
            return operators.compare(lo, ast.Eq(), subject, wanted, pattern)
        case ast.MatchSingleton(value=value):
            return operators.compare(lo, ast.Is(), subject, static(value), pattern)
        case ast.MatchAs(pattern=inner, name=name):
            cond: Operand = Literal(True, BOOL) if inner is None else _matches(lo, inner, subject)
            if name is not None:
                lo.frame.env[name] = subject
                lo.frame.partial.discard(name)
            return cond
        case ast.MatchOr(patterns=patterns):
            found = [_matches(lo, each, subject) for each in patterns]
            return functools.reduce(lambda a, b: numbers.apply(lo, "or", a, b), found)
        case ast.MatchSequence(patterns=patterns):
            return _matches_sequence(lo, patterns, subject)
    raise lo.unsupported("this pattern", pattern, "use `if` and `elif`")


def _matches_sequence(lo: Lowerer, patterns: Sequence[ast.pattern], subject: Binding) -> Operand:
    if isinstance(subject, Num | Static) or isinstance(subject, ArrayRef):
        return Literal(False, BOOL)
    items = containers.static_items(lo, subject)
    if items is None:
        return Literal(False, BOOL)
    stars = [k for k, each in enumerate(patterns) if isinstance(each, ast.MatchStar)]
    if len(items) < len(patterns) - len(stars) or (not stars and len(items) != len(patterns)):
        return Literal(False, BOOL)
    result: Operand = Literal(True, BOOL)
    if stars:
        at, after = stars[0], len(patterns) - stars[0] - 1
        star = patterns[at]
        assert isinstance(star, ast.MatchStar)
        end = len(items) - after
        if star.name is not None:
            lo.frame.env[star.name] = lo.new_ref(ListRef, TupleOf(tuple(items[at:end])))
        patterns = [*patterns[:at], *patterns[at + 1 :]]
        items = [*items[:at], *items[end:]]
    for each, item in zip(patterns, items, strict=True):
        result = numbers.apply(lo, "and", result, _matches(lo, each, item))
    return result


def _is_long(stmt: ast.If) -> bool:
    return chains.is_long([link.test for link in chains.links(stmt)[0]])


def _long_if(lo: Lowerer, stmt: ast.If) -> None:
    found, orelse = chains.links(stmt)

    def test(link: ast.If) -> Operand:
        with lo.at(link):
            return expressions.condition(lo, link.test)

    with lo.at(stmt):
        chains.pick(
            lo,
            [functools.partial(test, link) for link in found],
            [
                functools.partial(lower_stmts, lo, part)
                for part in [*(x.body for x in found), orelse]
            ],
        )


def _if(lo: Lowerer, stmt: ast.If, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
    if isinstance(stmt.test, ast.BoolOp) and isinstance(stmt.test.op, ast.And) and not orelse:
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(stmt.test)):
            _nested_if(lo, stmt, stmt.test.values, body)
            return
    with lo.at(stmt):
        cond = expressions.condition(lo, stmt.test)
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
        cond = expressions.condition(lo, tests[0])
        branch(lo, cond, lambda: _nested_if(lo, stmt, tests[1:], body), lambda: None)


def _return(lo: Lowerer, stmt: ast.Return) -> None:
    if stmt.value is not None:
        iterators.require_lasting(lo, stmt.value)
    value = NONE if stmt.value is None else expressions.lower_expr(lo, stmt.value)
    lo.frame.env[RESULT] = value
    set_exit(lo, RETURN)


def _assert(lo: Lowerer, stmt: ast.Assert) -> None:
    cond = expressions.condition(lo, stmt.test)
    if isinstance(cond, Literal) and cond.value:
        return
    message, args = ("", ()) if stmt.msg is None else expressions.message(lo, stmt.msg)
    lo.builder.check(cond, "AssertionError", message, *args)
    if isinstance(cond, Literal):
        raise Dead


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _raise(lo: Lowerer, stmt: ast.Raise) -> None:
    node = stmt.exc
    args: list[ast.expr] = []
    if isinstance(node, ast.Call):
        args = node.args
        node = node.func
    name = node.id if isinstance(node, ast.Name) else ""
    kind = getattr(builtins, name, None)
    if isinstance(node, ast.Attribute):
        found = expressions.lower_expr(lo, node)
        if found == Static(np.linalg.LinAlgError):
            name, kind = "LinAlgError", np.linalg.LinAlgError
    if not (isinstance(kind, type) and issubclass(kind, Exception)) or len(args) > 1:
        raise lo.unsupported(
            "this `raise`", stmt, "raise a builtin exception with one message, e.g. ValueError(…)"
        )
    message, operands = expressions.message(lo, args[0]) if args else ("", ())
    if name == "KeyError" and args and not _is_text(args[0]):
        # It shows the `repr` of its argument, which is not known for a number.
        raise lo.unsupported("`KeyError` of anything but a text", stmt, "use an f-string")
    lo.builder.check(Literal(False, BOOL), name, message, *operands)
    raise Dead


def _function(lo: Lowerer, stmt: ast.FunctionDef) -> None:
    found: Binding = calls.closure(lo, stmt)
    for decorator in reversed(stmt.decorator_list):
        with lo.at(decorator):
            made = expressions.lower_expr(lo, decorator)
            call = ast.copy_location(ast.Call(decorator, [], []), decorator)
            found = calls.apply(lo, made, [found], {}, call)
    lo.frame.env[stmt.name] = found
    lo.frame.partial.discard(stmt.name)


def _pass(lo: Lowerer, stmt: ast.stmt) -> None:
    return


def _break(lo: Lowerer, stmt: ast.stmt) -> None:
    set_exit(lo, BREAK)


def _continue(lo: Lowerer, stmt: ast.stmt) -> None:
    set_exit(lo, CONTINUE)


_STATEMENTS: dict[type[ast.AST], Callable[..., None]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Delete: _delete,
    ast.Match: _match,
    ast.If: lambda lo, stmt: (
        _long_if(lo, stmt) if _is_long(stmt) else _if(lo, stmt, stmt.body, stmt.orelse)
    ),
    ast.For: iteration.lower_for,
    ast.While: iteration.lower_while,
    ast.Return: _return,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.FunctionDef: _function,
    ast.Pass: _pass,
    ast.Break: _break,
    ast.Continue: _continue,
}


def table() -> tuple[type[ast.AST], ...]:
    """Return the statements that are lowered."""
    return tuple(_STATEMENTS)


__all__ = ["assign", "lower_stmt", "lower_stmts", "table"]
