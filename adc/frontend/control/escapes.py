"""Exceptions that a `try` of the function catches: checks become conditional jumps.

In the body of a `try`, each simple statement is lowered as usual. Then its checks that may be
caught are replaced: what follows a check is in a branch, and a number says which check has failed.
After ``a = f(x)`` it is 0, and `a` is bound, or the exit `RAISE` is pending, and the state is that
before the statement. So a statement that changes something before one of its checks is refused, but
for calls of functions of the program, which are lowered statement by statement (`blocks`)::

    check %ok ValueError "math domain error"      %raised, %t = if %ok:
    %t = log %x                              ->      %t.1 = log %x
                                                     yield 0, %t.1
                                                   else:
                                                     yield 1, 0.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from adc.frontend.control.branches import merge, run_arm
from adc.frontend.control.exits import EXIT, FALLS, RAISE, exits_of
from adc.frontend.control.joins import Arm, unread
from adc.frontend.core.bindings import Binding, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import Dead, Frame, Region, State
from adc.frontend.core.structure import is_slot, leaves
from adc.frontend.values import optional
from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    If,
    Literal,
    Operand,
    Stmt,
    Store,
    Value,
    While,
    walk,
)
from adc.ir.errors import (
    AssumptionError,
    ExceptionHandlingError,
    LimitError,
    Span,
    exception_named,
)
from adc.ir.text.outside import is_external
from adc.ir.types import FLOAT, INT, Scalar
from adc.ir.walk import stmt_reads, substitute_stmt, with_results

# In a frame's names: which check has failed.
RAISED = "$raised"
# How many numbers of a message are kept for a handler with a name, or where it is raised again:
# integers, and then floats.
SLOTS = 6
_KEPT = (INT, FLOAT)
_SITES = "raised exceptions"
# Exceptions that the program knows nothing of: NumPy would go on there.
_OF_ADC = (AssumptionError.__name__, LimitError.__name__)

# The number of the check that failed, or 0, and numbers in its message.
Failed = tuple[Operand, ...]
# The number of a check that is caught; None for others, and for other statements.
Numbering = Callable[[Stmt], int | None]


def code_of(lo: Lowerer, check: Check) -> int:
    """Return the number of a check: those that raise the same have the same."""
    sites: dict[object, int] = lo.memo.setdefault(_SITES, {})
    key = (check.error, check.message, tuple(arg.type for arg in check.args))
    code = sites.setdefault(key, len(sites) + 1)
    lo.memo.setdefault((_SITES, code), check)
    return code


def raised(*failed: Operand) -> TupleOf:
    """Return what `RAISED` is bound to: the number of a check, and the numbers in its message."""
    found = (*failed, *_nothing(SLOTS)[len(failed) :])
    return TupleOf(tuple([Num(operand) for operand in found]))


def _nothing(slots: int) -> Failed:
    """Return the number of no check, with so many slots for each kind of numbers."""
    return (
        integer(0),
        *(Literal(0, ty) if ty is INT else Literal(0.0, ty) for ty in _KEPT for _ in range(slots)),
    )


def site_of(lo: Lowerer, code: int) -> Check:
    """Return a check with this number."""
    found: Check = lo.memo[_SITES, code]
    return found


def _slots(check: Check) -> list[int] | None:
    """Return where the numbers in a message are kept; None if they cannot be."""
    free = {kind: iter(range(1 + k * SLOTS, 1 + (k + 1) * SLOTS)) for k, kind in enumerate("if")}
    found: list[int] = []
    for arg in check.args:
        ty = arg.type
        kind = "i" if ty.kind == "b" else ty.kind
        if not isinstance(ty, Scalar) or kind not in free or ty.dtype == "u64":
            return None
        at = next(free[kind], None)
        if at is None:
            return None
        found.append(at)
    return found


def is_kept(check: Check) -> bool:
    """Whether all numbers in a message can be kept."""
    return _slots(check) is not None


def numbers_of(lo: Lowerer, check: Check, failed: Failed) -> list[Operand]:
    """Return the numbers in the message of a check that has failed, which are kept."""
    slots = _slots(check)
    assert slots is not None
    found: list[Operand] = []
    for at, arg in zip(slots, check.args, strict=True):
        assert isinstance(arg.type, Scalar)
        found.append(lo.exact(failed[at], arg.type))
    return found


def catches(region: Region, check: Check) -> bool:
    """Whether a `try` may catch what a check raises."""
    if check.error in _OF_ADC:
        return False
    return region.classes is None or issubclass(exception_named(check.error), region.classes)


def run(lo: Lowerer, body: Callable[[], None]) -> None:
    """Lower a simple statement of the body of a `try`."""
    frame, regions = lo.frame, lo.frame.catching
    before = lo.snapshot()
    outer = lo.builder.watch
    watch = _Watch(lo, frame, before, outer)
    lo.builder.watch = watch.check
    frame.catching = ()  # what a comprehension in it consists of is a part of this statement
    try:
        arm = run_arm(lo, body, sure=True)
    finally:
        lo.builder.watch = outer
        frame.catching = regions

    def number(stmt: Stmt) -> int | None:
        return _number(lo, regions, stmt)

    if all(number(stmt) is None for stmt in walk(tuple(arm.stmts))):
        lo.builder.stmts.extend(arm.stmts)
        if arm.dead:
            raise Dead
        return
    if watch.changed is not None:
        raise _changes("a variable, list, dict or object", watch.changed)
    kept = _kept_arrays(arm, before, number)
    names = set() if arm.dead else _names(lo, arm.state)
    slots = SLOTS if any(region.keeps for region in regions) else 0
    stmts, failed = _Escapes(lo, number, kept, slots).block(arm.stmts, names)
    code = failed[0]
    lo.builder.stmts.extend(stmts)
    lo.restore(before)
    bad = lo.snapshot()
    for obj in kept.objects:
        bad.versions[obj] = arm.state.versions[obj]
    bad.env[EXIT], bad.env[RAISED] = Num(integer(RAISE)), raised(*failed)
    if arm.dead:
        lo.restore(bad)
        return
    falls = lo.builder.apply("eq", code, integer(0), hint="falls")
    for obj in kept.objects:
        before.versions[obj] = arm.state.versions[obj]
    merge(lo, falls, before, replace(arm, stmts=[]), Arm([], bad, False, True))


def _number(lo: Lowerer, regions: Sequence[Region], stmt: Stmt) -> int | None:
    """Return the number of a check that a `try` may catch: the innermost one notes it."""
    if isinstance(stmt, Check):
        for region in reversed(regions):
            if catches(region, stmt):
                code = code_of(lo, stmt)
                region.codes.add(code)
                return code
    return None


class ChangeError(ExceptionHandlingError):
    """A statement changes something and may then raise what is caught."""


def _changes(what: str, where: Span | None) -> ChangeError:
    return ChangeError(
        f"a statement that changes {what} and may then raise an exception that is caught is "
        "not supported",
        where,
        "compute first, then change; or call the function in a statement of its own",
    )


class _Watch:
    """Notes whether names and containers have changed where a check is built."""

    def __init__(
        self, lo: Lowerer, frame: Frame, before: State, outer: Callable[[Check], None] | None
    ) -> None:
        self.lo = lo
        self.outer = outer
        self.frame = frame
        self.regions = frame.catching
        self.before = before
        self.changed: Span | None = None

    def check(self, check: Check) -> None:
        if self.outer is not None:
            self.outer(check)
        if self.changed is not None or not any(catches(r, check) for r in self.regions):
            return
        own = self.frame.env is not self.lo.frame.env
        for env, slots in ((self.frame.env, False), (self.lo.frame.env, True)):
            for name, old in self.before.env.items():
                if (name[0] == "$" and not is_slot(name)) or (own and slots and not is_slot(name)):
                    continue
                new = env.get(name, old)
                if new is not old and new != old and not optional.is_part(new, old):
                    self.changed = check.loc
                    return


class _Kept:
    """Arrays that a statement changes, after its last check: their versions before."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.before: dict[Value, Value] = {}


def _kept_arrays(arm: Arm, before: State, number: Numbering) -> _Kept:
    """Return the arrays that a statement changes; refuse changes before a check."""
    kept = _Kept()
    if arm.dead:
        return kept
    last = max(
        k
        for k, stmt in enumerate(arm.stmts)
        if any(number(inner) is not None for inner in walk((stmt,)))
    )
    made = {value: k for k, stmt in enumerate(arm.stmts) for value in stmt.results}
    for obj, old in before.versions.items():
        new = arm.state.versions[obj]
        if new is old:
            continue
        first = new
        while isinstance(stmt := arm.stmts[made[first]], Store) and stmt.array in made:
            first = stmt.array
        stmt = arm.stmts[made[first]]
        if made[first] <= last or old not in stmt_reads(stmt):
            raise _changes(f"{obj.users_name!r}", getattr(stmt, "loc", None))
        kept.objects.append(obj)
        kept.before[new] = old
    return kept


def _names(lo: Lowerer, state: State) -> set[Value]:
    """Return the values that a state refers to."""
    found: set[Operand] = set()
    for binding in state.env.values():
        found |= set(_operands(binding))
    for obj, version in state.versions.items():
        found.add(version)
        found.update(lo.dims[obj])
        if version in lo.boxed:
            found.add(lo.boxed[version])
    return {operand for operand in found if isinstance(operand, Value)}


def _operands(binding: Binding) -> Iterable[Operand]:
    flag = getattr(binding, "flag", None)
    if flag is not None:  # a `Late`
        yield flag
        binding = binding.inner  # type: ignore[union-attr]
    for leaf in leaves(binding):
        if isinstance(leaf, Num):
            yield leaf.operand


class _Escapes:
    """Replaces the checks in statements."""

    def __init__(self, lo: Lowerer, number: Numbering, kept: _Kept, slots: int) -> None:
        self.lo = lo
        self.slots = slots
        self.number = number
        self.before = dict(kept.before)

    def block(self, stmts: Sequence[Stmt], live: set[Value]) -> tuple[list[Stmt], Failed]:
        """Return statements without caught checks, and which has failed.

        `live` are the values that are read behind them.
        """
        at = next((k for k, stmt in enumerate(stmts) if self._escapes(stmt)), None)
        if at is None:
            return list(stmts), self._none()
        out, stmt, rest = list(stmts[:at]), stmts[at], stmts[at + 1 :]
        lo = self.lo
        with lo.builder.block() as more:
            failed: Failed
            if isinstance(stmt, Check):
                falls, failed = stmt.cond, self._site(stmt)
            else:
                stmt, failed = self._nested(stmt)
                lo.builder.stmts.append(stmt)
                falls = lo.builder.apply("eq", failed[0], integer(0), hint="falls")
            names = [value for s in rest for value in s.results if value in live]
            if isinstance(falls, Literal) and all(isinstance(s, Apply) for s in rest):
                lo.builder.stmts.extend(rest)  # it always fails: what follows is not read
            elif not rest:
                if isinstance(stmt, Check):
                    failed = tuple(
                        lo.builder.apply("select", falls, none, operand, hint="raised")
                        for none, operand in zip(self._none(), failed, strict=True)
                    )
            else:
                failed = self._rest(falls, failed, rest, names)
        return [*out, *more], failed

    def _none(self) -> Failed:
        return _nothing(self.slots)

    def _fresh(self) -> tuple[Value, ...]:
        return tuple(self.lo.builder.value("raised", none.type) for none in self._none())

    def _site(self, check: Check) -> Failed:
        """Return the number of a check, and the numbers in its message if they are kept."""
        found = [integer(self.number(check) or 0), *self._none()[1:]]
        slots = _slots(check) if self.slots else None
        for at, arg in zip(slots or (), check.args, strict=slots is not None):
            ty = found[at].type
            assert isinstance(ty, Scalar)
            found[at] = self.lo.exact(arg, ty)
        return tuple(found)

    def _rest(
        self, falls: Operand, failed: Failed, rest: Sequence[Stmt], names: Sequence[Value]
    ) -> Failed:
        """Build what follows a check, in a branch."""
        lo = self.lo
        inner = {value: lo.builder.value(value.name, value.type) for value in names}
        for value, new in inner.items():
            if value in self.before:
                self.before[new] = self.before[value]
        renamed = [
            with_results(
                substitute_stmt(s, inner), tuple(inner.get(value, value) for value in s.results)
            )
            if inner
            else s
            for s in rest
        ]
        then, later = self.block(renamed, set(inner.values()))
        with lo.builder.block() as other:
            values = [self._missing(value) for value in names]
        results = self._fresh()
        lo.builder.emit(
            If(
                (*results, *names),
                falls,
                Block((), tuple(then), (*later, *inner.values())),
                Block((), tuple(other), (*failed, *values)),
                lo.builder.loc,
            )
        )
        return results

    def _missing(self, value: Value) -> Operand:
        """Return what is behind the branch instead of a value that was not computed."""
        return self.before[value] if value in self.before else unread(self.lo, value)

    def _escapes(self, stmt: Stmt) -> bool:
        return any(self.number(inner) is not None for inner in walk((stmt,)))

    def _nested(self, stmt: Stmt) -> tuple[Stmt, Failed]:
        """Return a branch or loop whose first results say which check has failed."""
        code = self._fresh()
        match stmt:
            case If():
                then, orelse = (self._arm(block) for block in (stmt.then, stmt.orelse))
                results = (*code, *stmt.results)
                return replace(stmt, results=results, then=then, orelse=orelse), code
            case For():
                return self._for(stmt, code), code
            case While(body=body):
                again, *nexts = body.yields
                stmts, failed = self.block(body.stmts, _values(body.yields))
                with self.lo.builder.block() as more:
                    falls = self.lo.builder.apply("eq", failed[0], integer(0), hint="falls")
                    again = self.lo.builder.apply("and", again, falls, hint="again")
                params = (*self._fresh(), *body.params)
                block = Block(params, (*stmts, *more), (again, *failed, *nexts))
                init = (*self._none(), *stmt.init)
                return replace(stmt, results=(*code, *stmt.results), init=init, body=block), code
        raise AssertionError(stmt)

    def _arm(self, block: Block) -> Block:
        stmts, failed = self.block(block.stmts, _values(block.yields))
        return Block((), tuple(stmts), (*failed, *block.yields))

    def _for(self, stmt: For, code: tuple[Value, ...]) -> For:
        """Return a loop whose remaining iterations do nothing once a check has failed."""
        lo, body = self.lo, stmt.body
        params = (*self._fresh(), *body.params)
        stmts, failed = self.block(body.stmts, _values(body.yields))
        with lo.builder.block() as outer:
            falls = lo.builder.apply("eq", params[0], integer(0), hint="falls")
            results = tuple(lo.builder.value(p.name, p.type) for p in params)
            lo.builder.emit(
                If(
                    results,
                    falls,
                    Block((), tuple(stmts), (*failed, *body.yields)),
                    Block((), (), params),
                    stmt.loc,
                )
            )
        block = Block(params, tuple(outer), results)
        init = (*self._none(), *stmt.init)
        return replace(stmt, results=(*code, *stmt.results), init=init, body=block)


def _values(operands: Iterable[Operand]) -> set[Value]:
    return {operand for operand in operands if isinstance(operand, Value)}


# -- what is not converted -------------------------------------------------------------------------


def refuse_left(lo: Lowerer, region: Region, stmts: Sequence[Stmt]) -> None:
    """Refuse checks in the body of a `try` that are in no simple statement of it."""
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, Check) and catches(region, stmt):
            raise ExceptionHandlingError(
                f"catching this `{stmt.error}` is not supported",
                stmt.loc,
                "compute what may raise it in a statement of its own: not in the head of a loop, "
                "`with` or `match`",
            )
    refuse_calls(lo, region, stmts)


def refuse_calls(lo: Lowerer, region: Region, stmts: Sequence[Stmt]) -> None:
    """Refuse calls that may raise what a `try` catches: they cannot be left in the middle."""
    for stmt in walk(tuple(stmts)):
        if isinstance(stmt, Call) and not _is_safe(lo, region, stmt.callee, set()):
            raise ExceptionHandlingError(
                "calling a recursive function, a derivative, or an `adc.external` function, that "
                "may raise what is caught is not supported",
                stmt.loc,
                "call it before the `try`, or let an `adc.external` function catch what it raises",
            )


def _is_safe(lo: Lowerer, region: Region, name: str, seen: set[str]) -> bool:
    """Whether a function of the code surely raises nothing that a `try` may catch."""
    if name in seen:
        return True
    seen.add(name)
    if name in lo.shared.derived:
        body = lo.shared.derived[name].of.body
    else:
        known = [callee.function for callee in lo.shared.callees.values()]
        known += [fn for made in lo.shared.rules.values() for fn in made.functions]
        found = [fn for fn in known if getattr(fn, "name", "") == name]
        if not found:
            return False
        if is_external(found[0]):
            return False
        body = found[0].body
    for stmt in walk(body):
        if isinstance(stmt, Check) and catches(region, stmt):
            return False
        if isinstance(stmt, Call) and not _is_safe(lo, region, stmt.callee, seen):
            return False
    return True


def pass_on(lo: Lowerer, frame: Frame, caller: Frame) -> None:
    """Let an exception that leaves a function of which the body is in a `try` be pending around."""
    pending = frame.env[EXIT]
    assert isinstance(pending, Num)
    codes = exits_of(lo, pending.operand)
    if RAISE not in codes:
        return
    caller.env[RAISED] = frame.env[RAISED]
    exit_: Operand = integer(RAISE)
    if codes != {RAISE}:
        raises = lo.builder.apply("eq", pending.operand, exit_, hint="raises")
        exit_ = lo.builder.apply("select", raises, exit_, integer(FALLS), hint="exit")
        assert isinstance(exit_, Value)
        lo.exit_values[exit_] = frozenset({FALLS, RAISE})
    caller.env[EXIT] = Num(exit_)
    caller.partial |= {name for name in frame.partial if is_slot(name)}


__all__ = [
    "RAISED",
    "ChangeError",
    "catches",
    "code_of",
    "pass_on",
    "refuse_calls",
    "refuse_left",
    "run",
    "site_of",
]
