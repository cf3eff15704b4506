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
    containers,
    elementwise,
    expressions,
    growing,
    numbers,
    operators,
    scope,
    views,
)
from adc.frontend.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Closure,
    Enumerate,
    Growing,
    Late,
    Lazy,
    ListRef,
    Num,
    Range,
    Reversed,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    Zip,
    is_slot,
    kind_of,
    refs,
)
from adc.frontend.control import (
    BREAK,
    CONTINUE,
    EXIT,
    FALLS,
    NATURAL,
    RESULT,
    RETURN,
    branch,
    exit_of,
    exits_of,
    is_exit,
    keep_exit,
    set_exit,
)
from adc.frontend.loops import RestructuredError, lower_loop, same_numbers
from adc.frontend.lower import INDEX_BITS, Dead, Lowerer, static
from adc.frontend.refusals import refusal
from adc.ir.builder import integer, zero
from adc.ir.core import Literal, Operand, Print, Value
from adc.ir.errors import TypeMismatchError, TypeUnstableError, UnboundError
from adc.ir.types import BOOL, INT


def lower_stmts(lo: Lowerer, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements in order; what follows a possible exit runs only if none is pending."""
    for k, stmt in enumerate(stmts):
        rest = stmts[k + 1 :]
        if isinstance(stmt, ast.If) and rest and _one_arm_exits(stmt):
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
        pending = exit_of(lo)
        if is_exit(pending, FALLS):
            continue
        if FALLS not in exits_of(lo, pending) or not rest:
            return
        with lo.at(stmt):
            falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")

        def go_on(rest: Sequence[ast.stmt] = rest) -> None:
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
            lower_stmts(lo, rest)

        branch(lo, falls, go_on, lambda: keep_exit(lo), else_exited=True)
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
    value = expressions.evaluate(lo, stmt.value)
    if isinstance(value, Lazy):
        return elementwise.materialised(lo, value, stmt.value, name)
    return renamed(lo, value, name)


def _ann_assign(lo: Lowerer, stmt: ast.AnnAssign) -> None:
    if stmt.value is not None:
        assign(lo, stmt.target, expressions.lower_expr(lo, stmt.value))


def assign(lo: Lowerer, target: ast.expr, value: Binding) -> None:
    """Bind `value` to a name, an element or a pattern of them."""
    match target:
        case ast.Name(id=name):
            lo.frame.env[name] = value
            lo.frame.partial.discard(name)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack_into(lo, elts, value, target)
        case ast.Subscript():
            arrays.store_element(lo, target, value)
        case ast.Attribute():
            owner = expressions.lower_expr(lo, target.value)
            containers.set_attribute(lo, owner, target.attr, value, target)
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
            new = lo.builder.value(name, old.type)
            lo.builder.stmts[-1] = numbers.with_result(last, new)
            return Num(new)
    return value


def _aug_assign(lo: Lowerer, stmt: ast.AugAssign) -> None:
    target = stmt.target
    if isinstance(target, ast.Subscript):
        arrays.augment_element(lo, stmt, target)
        return
    if isinstance(target, ast.Attribute):
        owner = expressions.lower_expr(lo, target.value)
        held = containers.attribute(lo, owner, target.attr, target)
        if held is None:
            raise TypeMismatchError(
                f"{kind_of(owner)} has no attribute {target.attr!r}", lo.span(target)
            )
        new = expressions.augmented(lo, held, stmt)
        containers.set_attribute(lo, owner, target.attr, new, target)
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
            case _:
                raise lo.unsupported("`del` of this", target)


# -- match -----------------------------------------------------------------------------------------


def _match(lo: Lowerer, stmt: ast.Match) -> None:
    subject = expressions.lower_expr(lo, stmt.subject)
    _cases(lo, stmt, subject, stmt.cases)


def _cases(lo: Lowerer, stmt: ast.Match, subject: Binding, cases: Sequence[ast.match_case]) -> None:
    if not cases:
        return
    case, rest = cases[0], cases[1:]
    before = dict(lo.frame.env)
    cond = _matches(lo, case.pattern, subject)
    if case.guard is not None and not (isinstance(cond, Literal) and not cond.value):
        guard = functools.partial(expressions.condition, lo, case.guard)
        cond = expressions.all_of(lo, [lambda: cond, guard])
    captured = {k: v for k, v in lo.frame.env.items() if before.get(k) is not v}

    def taken() -> None:
        lo.frame.env.update(captured)
        lower_stmts(lo, case.body)

    lo.frame.env = before
    branch(lo, cond, taken, lambda: _cases(lo, stmt, subject, rest))


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


def _for(lo: Lowerer, stmt: ast.For) -> None:
    iterable = expressions.lower_expr(lo, stmt.iter)
    if containers.static_items(lo, iterable) is not None:
        _unrolled(lo, stmt, iterable)
        return
    trips, element = iteration(lo, iterable, stmt.iter)
    if isinstance(trips, Literal) and trips.value <= 0:
        _else(lo, stmt.orelse, None)
        return
    before, saved = lo.snapshot(), lo.builder.names.save()
    mark = len(lo.builder.stmts)
    held = _hold(lo, iterable)
    items = containers.static_range(iterable)
    unrolls = items is not None and len(items) <= MAX_UNROLLED
    try:
        _settled(lo, stmt, iterable, trips, element, unrolls)
    except RestructuredError:
        # A list that grows by arrays, a dict with new keys: a copy of the body for each iteration.
        if items is None or not unrolls:
            raise
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
        _unrolled(lo, stmt, TupleOf(tuple(items)))
    lo.frame.env.pop(held, None)


MAX_UNROLLED = 32


def _hold(lo: Lowerer, iterable: Binding) -> str:
    """Note that a loop holds what it is over, also when the name of that is bound anew."""
    held = f"$over{sum(name.startswith('$over') for name in lo.frame.env)}"
    lo.frame.env[held] = iterable
    return held


def _settled(
    lo: Lowerer,
    stmt: ast.For,
    iterable: Binding,
    trips: Operand,
    element: Callable[[Operand], Binding],
    unrolls: bool,
) -> None:
    """Lower a `for` as a loop, again and again until the types of its variables settle."""
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body)
    names = scope.assigned_in([stmt.target, *stmt.body])
    definite = isinstance(trips, Literal) and trips.value > 0
    targets = [name for name in names if not lo.is_name_bound(name)]
    kinds = lo.memo.setdefault((lo.frame.path, id(stmt), "targets"), {})
    before, saved = lo.snapshot(), lo.builder.names.save()
    mark = len(lo.builder.stmts)
    for attempt in range(12):
        known = dict(kinds)
        if early:
            # What every iteration binds, whatever exit it takes, may have any value before the
            # first one. Reading it after no iteration is checked.
            for name in targets:
                if name in known:
                    start = before.env.get(name)
                    if isinstance(start, Late) and same_numbers(start.inner, known[name]):
                        lo.frame.env[name] = start.inner
                    else:
                        lo.frame.env[name] = known[name]

        def bind(known: dict[str, Binding] = known) -> None:
            """After the loop, reading what only iterations bind is checked."""
            if definite:
                return
            ran = None
            for name in targets:
                binding = lo.frame.env.get(name, Unbound())
                if name in known and not isinstance(binding, Unbound | Unstable):
                    if ran is None:
                        ran = lo.builder.apply("gt", trips, integer(0), hint="ran")
                    lo.frame.env[name] = _late(lo, before.env.get(name), binding, ran, known[name])

        try:
            _loop(
                lo, stmt, iterable, trips, element, names, early, definite, unrolls, targets,
                kinds, bind,
            )  # fmt: skip
        except UnboundError:
            # The `else` may read what iterations bind, once it is known that they do.
            if not early or kinds == known:
                raise
        if not early or kinds == known:
            break
        if attempt == 11:
            raise TypeUnstableError(
                "the types of this loop's variables do not settle", lo.span(stmt)
            )
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]


def _late(
    lo: Lowerer, old: Binding | None, binding: Binding, ran: Operand, known: Binding
) -> Binding:
    """Return the binding of a loop's target after the loop, which may not have run."""
    if not isinstance(old, Late):
        return Late(binding, ran)
    if not same_numbers(old.inner, known):
        return Unbound("two loops bind it, and neither may have run")
    return Late(binding, lo.builder.apply("or", old.flag, ran, hint="ran"))


def _unread(binding: Binding) -> Binding | None:
    """Return constants of the kinds of a number or a tuple of numbers; None for anything else."""
    match binding:
        case Num(operand=operand):
            return Num(zero(operand.type))
        case TupleOf(items=items):
            found = [_unread(item) for item in items]
            if all(item is not None for item in found):
                return TupleOf(tuple(item for item in found if item is not None))
    return None


def _loop(
    lo: Lowerer,
    stmt: ast.For,
    iterable: Binding,
    trips: Operand,
    element: Callable[[Operand], Binding],
    names: Sequence[str],
    early: bool,
    definite: bool,
    unrolls: bool,
    targets: Sequence[str],
    kinds: dict[str, Binding],
    bind: Callable[[], None],
) -> None:

    bound = _bound(lo, names)

    def step(index: Operand) -> None:
        before = _lengths(lo, iterable)
        assign(lo, stmt.target, element(index))
        lower_stmts(lo, stmt.body)
        if _lengths(lo, iterable) != before:
            raise lo.unsupported(
                "a list that changes its length while a loop is over it",
                stmt.iter,
                "loop over a copy of it",
            )
        _skip(lo, stmt, bound)
        for name in targets:
            binding = lo.frame.env.get(name, Unbound())
            if not isinstance(binding, Unbound | Unstable | Late) and (
                name not in lo.frame.partial
            ):
                unread = _unread(binding)
                if unread is not None:
                    kinds[name] = unread

    if not early:

        def body(index: Value | None) -> None:
            assert index is not None
            step(index)
            set_exit(lo, FALLS)
            lo.frame.partial.clear()

        lower_loop(lo, stmt, names, body, trips=trips, definite=definite, unrolls=unrolls)
        _else(lo, stmt.orelse, None)
        return
    lo.frame.env["$index"] = Num(integer(0))

    def guarded(_: Value | None) -> Operand:
        counter = lo.frame.env["$index"]
        assert isinstance(counter, Num)
        index = lo.counts(counter.operand)
        inside = lo.builder.apply("lt", index, trips, hint="more")

        def run() -> None:
            lo.frame.env["$index"] = Num(lo.builder.apply("add", index, integer(1), hint="index"))
            inner = lo.frame.env.pop("$index")
            step(index)
            lo.frame.env["$index"] = inner

        branch(lo, inside, run, lambda: set_exit(lo, NATURAL))
        return _again(lo)

    _early_loop(
        lo, stmt, [*names, "$index"], guarded, definite=definite, unrolls=unrolls, bind=bind
    )


def _again(lo: Lowerer) -> Operand:
    """Turn the pending exit at the end of an iteration into "run again"; keep the reason."""
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


def _early_loop(
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
    """Lower a loop that may be left early: a `While` that remembers why it ended."""
    outer = {name: lo.frame.env.pop(name) for name in ("$reason",) if name in lo.frame.env}
    lo.frame.env["$reason"] = Num(integer(FALLS))
    returns = scope.has_return(stmt.body)
    extra = ["$reason", *([RESULT] if returns else [])]
    lower_loop(lo, stmt, [*names, *extra], body, trips=None, definite=definite, unrolls=unrolls)
    lo.frame.env.pop("$index", None)
    reason = lo.frame.env.pop("$reason")
    lo.frame.env.update(outer)
    bind()
    assert isinstance(reason, Num)
    if returns:
        if endless and not scope.has_break(stmt.body):
            set_exit(lo, RETURN)
            return
        if isinstance(reason.operand, Literal):
            set_exit(lo, RETURN if reason.operand.value == RETURN else FALLS)
        else:
            gone = lo.builder.apply("eq", reason.operand, integer(RETURN), hint="returns")
            code = lo.builder.apply("select", gone, integer(RETURN), integer(FALLS), hint="exit")
            lo.exit_values[code] = frozenset([RETURN, FALLS])
            lo.frame.env[EXIT] = Num(code)
    _else(lo, stmt.orelse, reason.operand)


def _else(lo: Lowerer, orelse: Sequence[ast.stmt], reason: Operand | None) -> None:
    if not orelse:
        return
    if reason is None or is_exit(reason, NATURAL):
        lower_stmts(lo, orelse)
        return
    natural = lo.builder.apply("eq", reason, integer(NATURAL), hint="natural")

    def run() -> None:
        set_exit(lo, FALLS)
        lower_stmts(lo, orelse)

    pending = exit_of(lo)
    branch(lo, natural, run, lambda: None, else_exited=not is_exit(pending, FALLS))


def _unrolled(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Loop over a tuple or the like: one copy of the body for each element."""
    count = len(containers.static_items(lo, iterable) or ())
    held = _hold(lo, iterable)
    names = scope.assigned_in([stmt.target, *stmt.body])

    def run(k: int) -> None:
        item = containers.next_item(lo, iterable, k, count, stmt.iter)
        if item is None:
            set_exit(lo, NATURAL)
            return
        bound = _bound(lo, names)
        assign(lo, stmt.target, item)
        path = lo.frame.path
        lo.frame.path = (*path, ("item", id(stmt), k))
        lower_stmts(lo, stmt.body)
        lo.frame.path = path
        pending = exit_of(lo)
        if not isinstance(pending, Literal):
            _skip(lo, stmt, bound)
        if isinstance(pending, Literal):
            if pending.value in (FALLS, CONTINUE):
                set_exit(lo, FALLS)
                lo.frame.partial.clear()
                run(k + 1)
            return
        again = _again_flag(lo, pending)

        def go_on() -> None:
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
            run(k + 1)

        branch(lo, again, go_on, lambda: keep_exit(lo), else_exited=True)

    run(0)
    lo.frame.env.pop(held, None)
    if scope.has_break(stmt.body):
        for name in sorted(filter(is_slot, lo.frame.partial)):
            lo.frame.partial.discard(name)
            lo.frame.env[name] = Unstable(
                f"is of a kind that depends on how the loop at line {stmt.lineno} ends"
            )
    reason = exit_of(lo)
    if isinstance(reason, Literal):
        set_exit(lo, RETURN if reason.value == RETURN else FALLS)
    else:
        gone = lo.builder.apply("eq", reason, integer(RETURN), hint="returns")
        code = lo.builder.apply("select", gone, integer(RETURN), integer(FALLS), hint="exit")
        lo.exit_values[code] = frozenset([RETURN, FALLS])
        lo.frame.env[EXIT] = Num(code if scope.has_return(stmt.body) else integer(FALLS))
    _else(lo, stmt.orelse, reason)


def _skip(lo: Lowerer, stmt: ast.For | ast.While, bound: Sequence[str]) -> None:
    """Note which names the next iteration may find bound to one of two kinds of value.

    Where a path is left, the others do not see what it binds; after `continue` the next iteration
    does.
    """
    if scope.has_continue(stmt.body):
        for name in bound:
            if name in lo.frame.partial:
                lo.frame.partial.discard(name)
                lo.frame.env[name] = Unstable(
                    f"may be bound to another kind of value by a `continue` (line {stmt.lineno})"
                )


def _bound(lo: Lowerer, names: Sequence[str]) -> list[str]:
    return [name for name in names if lo.is_name_bound(name)]


def _again_flag(lo: Lowerer, pending: Operand) -> Operand:
    falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")
    skips = lo.builder.apply("eq", pending, integer(CONTINUE), hint="skips")
    return lo.builder.apply("or", falls, skips, hint="again")


Element = Callable[[Operand], Binding]


def iteration(lo: Lowerer, iterable: Binding, node: ast.expr) -> tuple[Operand, Element]:
    """Return the trip count of an iterable and how to get its k-th element."""
    match iterable:
        case Range(start=start, stop=stop, step=step):
            return _range_iteration(lo, start.operand, stop.operand, step.operand)
        case ArrayRef():
            dims = views.dims_of(lo, iterable)
            if not dims:
                raise TypeMismatchError("iteration over an array without axes", lo.span(node))
            return dims[0], lambda k: arrays.load(lo, iterable, [k], node)
        case ListRef():
            held = lo.held(iterable)
            assert isinstance(held, Growing)
            return held.length.operand, lambda k: growing.read(lo, _grown(lo, iterable), k, node)
        case Enumerate(inner=inner, start=start):
            trips, element = iteration(lo, inner, node)
            first = start.operand

            def numbered(k: Operand) -> Binding:
                return TupleOf((Num(numbers.plus(lo, first, k)), element(k)))

            return trips, numbered
        case Zip(inners=inners) if inners:
            parts = [iteration(lo, inner, node) for inner in inners]
            trips = parts[0][0]
            for other, _ in parts[1:]:
                if other != trips:
                    trips = lo.counts(lo.builder.apply("minimum", trips, other, hint="n"))
            return trips, lambda k: TupleOf(tuple(element(k) for _, element in parts))
        case Reversed(inner=inner):
            trips, element = iteration(lo, inner, node)
            last = numbers.plus(lo, trips, integer(-1))

            def backwards(k: Operand) -> Binding:
                return element(numbers.minus(lo, last, k))

            return trips, backwards
    raise TypeMismatchError(
        f"cannot loop over {kind_of(iterable)}",
        lo.span(node),
        "loop over a range, an array, a tuple, enumerate, zip or reversed",
    )


def _grown(lo: Lowerer, ref: ListRef) -> Growing:
    held = lo.held(ref)
    assert isinstance(held, Growing)
    return held


def _lengths(lo: Lowerer, iterable: Binding) -> list[Operand]:
    """Return the lengths of the lists that a loop is over, as they are now."""
    found = [lo.held(ref) for ref in refs(iterable) if isinstance(ref, ListRef)]
    return [held.length.operand for held in found if isinstance(held, Growing)]


def _range_iteration(
    lo: Lowerer, start: Operand, stop: Operand, step: Operand
) -> tuple[Operand, Element]:
    trips: Operand
    if isinstance(step, Literal) and step.value == 1:
        zero_based = isinstance(start, Literal) and start.value == 0
        trips = stop if zero_based else numbers.minus(lo, stop, start)
        return trips, lambda k: Num(k if zero_based else numbers.plus(lo, start, k))
    ends = [end.value for end in (start, stop, step) if isinstance(end, Literal)]
    if len(ends) == 3:
        trips = integer(len(range(*(int(end) for end in ends))))
    else:
        trips = lo.counts(lo.builder.apply("trips", start, stop, step, hint="n"))
    bounded = max(lo.bits_of(start), lo.bits_of(stop)) <= INDEX_BITS

    def at(k: Operand) -> Binding:
        scaled = lo.builder.apply("mul", k, step)
        at_k = numbers.plus(lo, start, scaled)
        return Num(lo.counts(at_k) if bounded else at_k)

    return trips, at


def _while(lo: Lowerer, stmt: ast.While) -> None:
    names = scope.assigned_in([stmt.test, *stmt.body])
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body)
    endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
    bound = _bound(lo, names)

    def iterate() -> None:
        lower_stmts(lo, stmt.body)
        _skip(lo, stmt, bound)

    def body(_: Value | None) -> Operand:
        cond = expressions.condition(lo, stmt.test)
        branch(lo, cond, iterate, lambda: set_exit(lo, NATURAL))
        if early:
            return _again(lo)
        set_exit(lo, FALLS)
        lo.frame.partial.clear()
        return cond

    if early:
        _early_loop(lo, stmt, names, body, definite=endless, endless=endless)
        return
    lower_loop(lo, stmt, names, body, trips=None, definite=endless)
    if endless:
        raise Dead
    _else(lo, stmt.orelse, None)


def _return(lo: Lowerer, stmt: ast.Return) -> None:
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
    ast.If: lambda lo, stmt: _if(lo, stmt, stmt.body, stmt.orelse),
    ast.For: _for,
    ast.While: _while,
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


__all__ = [
    "INT",
    "Closure",
    "Print",
    "Static",
    "Unbound",
    "assign",
    "lower_stmt",
    "lower_stmts",
]
