"""`for` and `while`: the iterable of a loop, and its exits.

`loops` finds what an iteration changes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adc.frontend.control import blocks, choices, evaluation
from adc.frontend.control.control import (
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
    jumps,
    keep_exit,
    set_exit,
)
from adc.frontend.control.escapes import RAISED
from adc.frontend.control.findings import FirstError, PathsError, RestructuredError, becomes_array
from adc.frontend.control.loops import lower_loop, same_numbers
from adc.frontend.core import classes, dispatch, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    DictView,
    Enumerate,
    Growing,
    Late,
    ListRef,
    Maybe,
    Num,
    Range,
    Reversed,
    SetRef,
    Static,
    TupleOf,
    Unbound,
    Unstable,
    Zip,
    kind_of,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import is_name_bound
from adc.frontend.core.sizes import INDEX_BITS
from adc.frontend.core.state import CONTENTS, Dead, PickedError, TableError
from adc.frontend.core.structure import is_slot, refs
from adc.frontend.language import assignment, breaks, containers, generators, iterators, unrolling
from adc.frontend.syntax import scope
from adc.frontend.values import (
    arrays,
    elementwise,
    keyed,
    list_buffers,
    operators,
    sequences,
    views,
)
from adc.ir.builder import integer, zero
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import (
    AdcError,
    AliasError,
    LimitError,
    TypeMismatchError,
    TypeUnstableError,
    UnboundError,
)
from adc.ir.types import BOOL, Scalar


@handles(ast.For)
def lower_for(lo: Lowerer, stmt: ast.For) -> None:
    generator = generators.called(lo, stmt.iter, begins=True)
    if generator is not None:
        _over_generator(lo, stmt, generator)
        return
    if iterators.is_drawn(lo, stmt.iter):
        stmt = iterators.loop(lo, stmt)
    if (made := iterators.inlined(lo, stmt)) is not None:
        lower_for(lo, made)
        return
    watch = iterators.Watch(lo, stmt.iter)
    _lower_for(lo, stmt)
    watch.end()


def _lower_for(lo: Lowerer, stmt: ast.For) -> None:
    if lo.frame.catching and len(parts := blocks.headless(lo, stmt)) > 1:
        blocks.lower_stmts(lo, parts)
        return
    given = evaluation.lower_expr(lo, stmt.iter)
    iterable = containers.as_tables(lo, given, stmt.iter)
    if iterable is not given and (taken := [(r, lo.held(r)) for r in refs(given)]):
        # What the values are now is in a list.
        _over(lo, stmt, iterable)
        if any(isinstance(r, DictRef) and lo.held(r) != held for r, held in taken):
            raise lo.unsupported(
                "a dict that changes while a loop iterates over it, with keys that only some "
                "paths set,", stmt.iter, "loop over a copy, such as `list(...)`",
            )  # fmt: skip
        return
    _over(lo, stmt, iterable)


def _over(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Lower a loop over what its head denotes."""
    iterators.require_fresh(lo, stmt.iter, iterable)
    if generators.of_object(lo, iterable) is not None:
        _over_object(lo, stmt, iterable)
        return
    if _most(lo, iterable) is not None:
        if not _over_numbers(lo, stmt, iterable):
            _unrolled(lo, stmt, iterable)
        return
    trips, element = iteration(lo, iterable, stmt.iter)
    if isinstance(trips, Literal) and trips.value <= 0:
        _else(lo, stmt, None)
        return
    before, saved = lo.snapshot(), lo.save_names()
    mark = len(lo.builder.stmts)
    held = _hold(lo, iterable)
    items = sequences.static_range(iterable)
    count = len(items) if items is not None else _constant_length(iterable, trips)
    unrolls = count is not None and count <= sequences.MAX_UNROLLED
    try:
        _settled(lo, stmt, iterable, trips, element, unrolls, peels=True)
    except (RestructuredError, PickedError) as error:
        # A list that grows by arrays, a dict with new keys, keys such as f"w{k}": a copy of the
        # body for each iteration.
        if isinstance(error, TableError) and not unrolls:
            raise
        if isinstance(error, PathsError) and not unrolls and CONTENTS not in lo.shared.varied:
            raise  # the program is lowered again with what may be one of several values
        if isinstance(error, PickedError) and not error.places:
            unrolls = count is not None and count <= MAX_COPIES
            sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)
        first = isinstance(error, FirstError) and not (
            stmt.orelse or scope.has_break(stmt.body) or scope.has_return(stmt.body)
        )
        if not first and not unrolls:
            if isinstance(error, RestructuredError):
                sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)
            raise
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
        if unrolls:
            _unrolled(lo, stmt, iterable if items is None else TupleOf(tuple(items)))
        else:
            _first_apart(lo, stmt, iterable, trips, element)
    lo.frame.env.pop(held, None)


def _over_numbers(lo: Lowerer, stmt: ast.For, iterable: Binding) -> bool:
    """Lower a loop over many numbers in a list as one over an array; return whether that does.

    A copy of the body for each would be much code. It is needed where an iteration needs to know
    its number, changes the list, or appends arrays, which may have different shapes.
    """
    inner = iterable.inner if isinstance(iterable, Enumerate) else iterable
    items = sequences.static_items(lo, inner) if isinstance(inner, ListRef | TupleOf) else None
    if items is None or len(items) <= sequences.MAX_UNROLLED:
        return False
    kind, *others = {
        numbers.scalar_type(item.operand) if isinstance(item, Num) else None for item in items
    }
    if kind is None or others:
        return False
    before, saved, mark = lo.snapshot(), lo.save_names(), len(lo.builder.stmts)
    try:
        call = ast.copy_location(ast.Call(stmt.iter, [], []), stmt.iter)
        array = dispatch.apply(lo, Static(np.array), [TupleOf(tuple(items))], {}, call)
        whole = replace(iterable, inner=array) if isinstance(iterable, Enumerate) else array
        trips, element = iteration(lo, whole, stmt.iter)

        def number(k: Operand) -> Binding:
            return _like_number(lo, element(k), kind)

        held = _hold(lo, iterable)
        _settled(lo, stmt, whole, trips, number, unrolls=False)
        lo.frame.env.pop(held, None)
        changed = isinstance(inner, ListRef) and lo.held(inner) != TupleOf(tuple(items))
        if not (changed or _grows_by_arrays(before.env, lo.frame.env)):
            return True
    except AdcError:
        pass
    lo.restore(before)
    lo.reset_names(saved)
    del lo.builder.stmts[mark:]
    return False


def _grows_by_arrays(before: dict[str, Binding], after: dict[str, Binding]) -> bool:
    """Whether a list of arrays has a length known only at run time, and had none before."""
    return any(
        isinstance(held, Growing)
        and not isinstance(before.get(name), Growing)
        and list_buffers.has_arrays(held.element)
        for name, held in after.items()
    )


def _like_number(lo: Lowerer, element: Binding, kind: Scalar) -> Binding:
    """Return an element of an array as the number in a list that it was."""
    if isinstance(element, TupleOf):  # of `enumerate`
        return TupleOf((element.items[0], _like_number(lo, element.items[1], kind)))
    assert isinstance(element, Num)
    return Num(numbers.weak(lo, element.operand) if kind.weak else element.operand)


def _over_generator(lo: Lowerer, stmt: ast.For, generator: generators.Generator) -> None:
    """Lower a loop over a generator, or a copy of the body for each combination of constants."""
    before, saved, mark = lo.snapshot(), lo.save_names(), len(lo.builder.stmts)
    try:
        generators.loop(lo, stmt, generator)
        return
    except (RestructuredError, PickedError):
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
        known = generators.combined(lo, stmt.iter, MAX_COPIES)
        if known is None:
            raise
    _unrolled(lo, stmt, known)


def _over_object(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Lower a loop over an object that is made in its head."""
    name = f"$object{stmt.lineno}_{stmt.col_offset}"
    if ("over", id(stmt)) not in lo.memo:
        held = ast.copy_location(ast.Name(name, ast.Load()), stmt.iter)
        made = ast.For(stmt.target, held, stmt.body, stmt.orelse)
        lo.memo["over", id(stmt)] = (stmt, ast.copy_location(made, stmt))
    lo.frame.env[name] = iterable
    lower_for(lo, lo.memo["over", id(stmt)][1])
    lo.frame.env.pop(name, None)


def _first_apart(
    lo: Lowerer,
    stmt: ast.For,
    iterable: Binding,
    trips: Operand,
    element: Callable[[Operand], Binding],
) -> None:
    """Lower the first iteration, and the loop over the others.

    What is None becomes a number, and a number an array. After no iteration it would still be the
    number: reading it then is refused, when the program runs.
    """
    before = dict(lo.frame.env)
    became: list[str] = []

    def all_of_them() -> None:
        with lo.copy("first", id(stmt)):
            _unrolled(lo, stmt, TupleOf((element(integer(0)),)))
        with lo.copy("others", id(stmt)):
            others = numbers.apply(lo, "sub", trips, integer(1))
            if others != integer(0):
                _settled(lo, stmt, iterable, others, after_first, unrolls=False)
        env = lo.frame.env
        became.extend(
            name for name, old in before.items() if name in env and becomes_array(old, env[name])
        )

    def none_of_them() -> None:
        for name in became:
            if isinstance(before[name], Num):
                lo.frame.env[name] = Unbound()
            else:
                text = f"adc: {_NUMBER.format('something in a container')}"
                numbers.check(lo, Literal(False, BOOL), LimitError.__name__, text)

    def after_first(k: Operand) -> Binding:
        return element(lo.builder.apply("add", k, integer(1)))

    some = numbers.apply(lo, "gt", trips, integer(0))
    branch(lo, some, all_of_them, none_of_them, late=became)
    for name in became:
        if isinstance(late := lo.frame.env.get(name), Late):
            lo.frame.env[name] = replace(late, lost=_NUMBER.format(repr(name)))


_NUMBER = (
    "a loop without iterations is not supported: {} is a number then, and an array otherwise; "
    "begin with an array, such as `np.zeros(n)`"
)

# A loop that would be refused otherwise.
MAX_COPIES = 256


def _hold(lo: Lowerer, iterable: Binding) -> str:
    """Record that a loop holds its iterable, also if the name of the iterable is rebound."""
    held = f"$over{sum(name.startswith('$over') for name in lo.frame.env)}"
    lo.frame.env[held] = iterable
    return held


@dataclass(frozen=True)
class _Empty:
    """An array without elements."""

    dtype: str
    rank: int


def _settled(
    lo: Lowerer,
    stmt: ast.For,
    iterable: Binding,
    trips: Operand,
    element: Callable[[Operand], Binding],
    unrolls: bool,
    *,
    peels: bool = False,
) -> None:
    """Lower a `for` as a loop, repeatedly until the types of its variables converge."""
    jumping = _jumps_of(lo, stmt)
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body) or bool(jumping)
    names = _assigned(lo, [stmt.target, *stmt.body])
    definite = isinstance(trips, Literal) and trips.value > 0
    # What has one of several kinds before a loop keeps it if no iteration runs.
    targets = [
        name
        for name in names
        if not is_name_bound(lo, name)
        and (definite or not isinstance(lo.frame.env.get(name), Unstable))
    ]
    read = breaks.read_outside(lo.frame.source.node, stmt) if early else frozenset()
    kinds: dict[str, Binding | _Empty] = lo.memo.setdefault(
        (lo.frame.path, id(stmt), "targets"), {}
    )
    before, saved = lo.snapshot(), lo.save_names()
    mark = len(lo.builder.stmts)
    for attempt in range(12):
        known = dict(kinds)
        if early:
            # What every iteration binds, whatever exit it takes, may have any value before the
            # first one. Reading it after no iteration is checked.
            for name in targets:
                if name in known:
                    start = before.env.get(name)
                    if isinstance(start, Late) and _are_same(start.inner, known[name]):
                        lo.frame.env[name] = start.inner
                    else:
                        lo.frame.env[name] = _start(lo, name, known[name])

        def bind(known: dict[str, Binding | _Empty] = known) -> None:
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
                lo, stmt, iterable, trips, element, names, early, definite, unrolls, peels,
                targets, kinds, bind, read,
            )  # fmt: skip
        except _JumpsError:
            if early:
                raise
            lo.restore(before)
            lo.reset_names(saved)
            del lo.builder.stmts[mark:]
            _settled(lo, stmt, iterable, trips, element, unrolls)
            return
        except UnboundError:
            # The `else` may read what iterations bind, once it is known that they do.
            if not early or kinds == known:
                raise
        except (AliasError, TypeUnstableError):
            empty = [name for name, kind in known.items() if isinstance(kind, _Empty)]
            if not empty:
                raise
            # What else iterations bind does not go with arrays without elements before the first.
            read = frozenset()
            for name in empty:
                del kinds[name]
            known = {}
        if not early or kinds == known:
            break
        if attempt == 11:
            raise TypeUnstableError(
                "the types of this loop's variables do not converge", lo.span(stmt)
            )
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]


def _are_same(binding: Binding, known: Binding | _Empty) -> bool:
    return not isinstance(known, _Empty) and same_numbers(binding, known)


def _late(
    lo: Lowerer, old: Binding | None, binding: Binding, ran: Operand, known: Binding | _Empty
) -> Binding:
    """Return the binding of a loop's target after the loop, which may not have run."""
    if not isinstance(old, Late):
        return Late(binding, ran)
    if not _are_same(old.inner, known):
        return Unbound("two loops assign it, and possibly neither has run")
    return Late(binding, lo.builder.apply("or", old.flag, ran, hint="ran"), old.lost)


def _start(lo: Lowerer, name: str, unread: Binding | _Empty) -> Binding:
    """Return what a name is bound to before the first iteration, where nothing reads it."""
    if not isinstance(unread, _Empty):
        return unread
    dims = (integer(0),) * unread.rank
    return lo.new_array(arrays.created(lo, unread.dtype, list(dims), None, name), dims, name)


def _empty(binding: Binding) -> _Empty | None:
    """Return an array of the kind of an array; None for a view, and for anything else."""
    match binding:
        case ArrayRef(object=obj, view=(), readonly=False, part=""):
            return _Empty(obj.type.dtype, obj.type.rank)
    return None


def _unread(binding: Binding) -> Binding | None:
    """Return constants of the kinds of a number or a tuple of numbers; None for anything else."""
    match binding:
        case Num(operand=operand):
            return Num(zero(operand.type))
        case TupleOf(items=items):
            found = [_unread(item) for item in items]
            if all(item is not None for item in found):
                return TupleOf(tuple(item for item in found if item is not None))
        case Maybe(inner=inner) if (unread := _unread(inner)) is not None:
            return replace(binding, inner=unread, some=Literal(False, BOOL))
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
    peels: bool,
    targets: Sequence[str],
    kinds: dict[str, Binding | _Empty],
    bind: Callable[[], None],
    read: Collection[str],
) -> None:

    bound = _bound(lo, names)

    def step(index: Operand) -> None:
        before = _lengths(lo, iterable)
        assignment.assign(lo, stmt.target, element(index))
        blocks.lower_stmts(lo, stmt.body)
        if _lengths(lo, iterable) != before:
            raise lo.unsupported(
                "a list whose length changes while a loop iterates over it",
                stmt.iter,
                "loop over a copy of it",
            )
        _skip(lo, stmt, bound)
        for name in targets:
            binding = lo.frame.env.get(name, Unbound())
            if not isinstance(binding, Unbound | Unstable | Late) and (
                name not in lo.frame.partial
            ):
                unread = _unread(binding) or (_empty(binding) if name in read else None)
                if unread is not None:
                    kinds[name] = unread

    if not early:

        def body(index: Value | None) -> None:
            assert index is not None
            step(index)
            _require_no_jump(lo, stmt)
            set_exit(lo, FALLS)
            lo.frame.partial.clear()

        lower_loop(
            lo, stmt, names, body, trips=trips, definite=definite, unrolls=unrolls,
            peels=peels and not stmt.orelse,
        )  # fmt: skip
        _else(lo, stmt, None)
        return
    lo.frame.env["$index"] = Num(integer(0))

    def guarded(_: Value | None) -> Operand:
        counter = lo.frame.env["$index"]
        assert isinstance(counter, Num)
        index = lo.sizes.counts(counter.operand)
        inside = lo.builder.apply("lt", index, trips, hint="more")

        def run() -> None:
            lo.frame.env["$index"] = Num(lo.builder.apply("add", index, integer(1), hint="index"))
            inner = lo.frame.env.pop("$index")
            step(index)
            lo.frame.env["$index"] = inner

        branch(lo, inside, run, lambda: set_exit(lo, NATURAL))
        return _to_next_iteration(lo, stmt)

    _early_loop(
        lo, stmt, [*names, "$index"], guarded, definite=definite, unrolls=unrolls, bind=bind
    )


class _JumpsError(Exception):
    """A loop is left by an exception or a jump: it is lowered as one with early exits."""


def _jumps_of(lo: Lowerer, stmt: ast.For | ast.While) -> set[int]:
    """Return the exceptions and jumps that are known to leave a loop."""
    found: set[int] = lo.memo.setdefault((lo.frame.path, id(stmt), "jumps"), set())
    return found


def _note_jumps(lo: Lowerer, stmt: ast.For | ast.While) -> bool:
    """Note which exceptions and jumps leave a loop at the end of an iteration."""
    found = jumps(exits_of(lo, exit_of(lo)))
    _jumps_of(lo, stmt).update(found)
    return bool(found)


def _require_no_jump(lo: Lowerer, stmt: ast.For | ast.While) -> None:
    if _note_jumps(lo, stmt):
        raise _JumpsError


def _assigned(lo: Lowerer, nodes: Sequence[ast.AST]) -> list[str]:
    """Return the names that a loop may bind."""
    return [*scope.assigned_in(nodes), *([RAISED] if RAISED in lo.frame.env else [])]


def _to_next_iteration(lo: Lowerer, stmt: ast.For | ast.While) -> Operand:
    """Turn the pending exit at the end of an iteration into "run again"; keep the exit."""
    _note_jumps(lo, stmt)
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
    """Lower a loop with early exits: a `While` that records its exit."""
    outer = {name: lo.frame.env.pop(name) for name in ("$reason",) if name in lo.frame.env}
    lo.frame.env["$reason"] = Num(integer(FALLS))
    returns = scope.has_return(stmt.body)
    kept = breaks.Kept(lo, stmt, names)
    extra = ["$reason", *([RESULT] if returns else []), *kept.extra]
    sure = {
        RESULT,
        *kept.extra,
        *(scope.surely_assigned(stmt.test) if isinstance(stmt, ast.While) else ()),
    }
    with kept:
        lower_loop(
            lo, stmt, [*names, *extra], body, trips=None, definite=definite, unrolls=unrolls,
            sure=sure,
        )  # fmt: skip
    lo.frame.env.pop("$index", None)
    reason = lo.frame.env.pop("$reason")
    lo.frame.env.update(outer)
    bind()
    assert isinstance(reason, Num)
    kept.bind(reason.operand, endless)
    left = {*([RETURN] if returns else []), *_jumps_of(lo, stmt)}
    if endless and len(left) == 1 and not scope.has_break(stmt.body):
        set_exit(lo, *left)
        return
    if left:
        _set_left(lo, reason.operand, left)
    _else(lo, stmt, reason.operand, left, kept=kept)


def _set_left(lo: Lowerer, reason: Operand, left: Collection[int], *, falls: bool = True) -> None:
    """Set the exit that is pending after a loop that was left by `reason`.

    `falls`: other reasons than those in `left`, after which none is pending, are possible.
    """
    codes = sorted(left)
    if isinstance(reason, Literal):
        set_exit(lo, int(reason.value) if reason.value in left else FALLS)
        return
    code: Operand = integer(FALLS if falls else codes.pop())
    for exit_ in codes:
        gone = lo.builder.apply("eq", reason, integer(exit_), hint="returns")
        code = lo.builder.apply("select", gone, integer(exit_), code, hint="exit")
    if isinstance(code, Value):
        lo.exit_values[code] = frozenset([*left, *([FALLS] if falls else [])])
    lo.frame.env[EXIT] = Num(code)


def _else(
    lo: Lowerer, stmt: ast.For | ast.While, reason: Operand | None, left: Collection[int] = (),
    end: int = NATURAL, kept: breaks.Kept | None = None,
) -> None:  # fmt: skip
    """Lower the `else` of a loop, which runs where the loop was left by the exit `end`.

    `left` has the other exits, but for `break`.
    """
    if not stmt.orelse:
        return
    if reason is None or is_exit(reason, end):
        blocks.lower_stmts(lo, stmt.orelse)
        return
    natural = lo.builder.apply("eq", reason, integer(end), hint="natural")
    exits = bool(left) and not scope.has_break(stmt.body)

    def run() -> None:
        set_exit(lo, FALLS)
        blocks.lower_stmts(lo, stmt.orelse)

    def settle() -> None:
        if exits:
            _set_left(lo, reason, left, falls=False)
        if kept is not None:
            kept.settle()

    branch(lo, natural, run, settle, else_exited=exits)


def _unrolled(lo: Lowerer, stmt: ast.For, iterable: Binding) -> None:
    """Loop over a tuple or the like: one copy of the body for each element."""
    before = _unstable_slots(lo)
    with unrolling.unrolling(lo, _most(lo, iterable) or 0) as first:
        unrolling.take(lo, iterable)
        _copies(lo, stmt, iterable, first)
    if _unstable_slots(lo) - before:
        # The list that is made of a list and an array has a length once that of the array is known.
        sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)


def _unstable_slots(lo: Lowerer) -> set[str]:
    """Return the lists, dicts and objects that hold one of several kinds of contents."""
    return {n for n, held in lo.frame.env.items() if is_slot(n) and isinstance(held, Unstable)}


def _copies(lo: Lowerer, stmt: ast.For, iterable: Binding, first: Callable[[], None]) -> None:
    counts = _counts(lo, iterable)
    held = _hold(lo, iterable)
    names = _assigned(lo, [stmt.target, *stmt.body])

    def run(k: int) -> None:
        found = _item(lo, iterable, k, counts, stmt.iter)
        if found is not None:
            inside, item = found
            branch(lo, inside, lambda: iterate(k, item()), lambda: None)

    def iterate(k: int, item: Binding) -> None:
        bound = _bound(lo, names)
        assignment.assign(lo, stmt.target, item)
        with lo.copy("item", id(stmt), k):
            blocks.lower_stmts(lo, stmt.body)
        if k == 0:
            first()
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

    set_exit(lo, FALLS)
    with breaks.Kept(lo, stmt, names) as kept:
        run(0)
    lo.frame.env.pop(held, None)
    if scope.has_break(stmt.body):
        for name in sorted(filter(is_slot, lo.frame.partial)):
            lo.frame.partial.discard(name)
            lo.frame.env[name] = Unstable(
                f"is of a kind that depends on how the loop at line {stmt.lineno} ends"
            )
    reason = exit_of(lo)
    kept.bind(reason, False)
    left = {*([RETURN] if scope.has_return(stmt.body) else []), *jumps(exits_of(lo, reason))}
    if left or isinstance(reason, Literal):
        _set_left(lo, reason, left)
    else:
        set_exit(lo, FALLS)
    _else(lo, stmt, reason, left, FALLS, kept)


def _skip(lo: Lowerer, stmt: ast.For | ast.While, bound: Sequence[str]) -> None:
    """Record the names that may have one of two kinds of value in the next iteration.

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
    return [name for name in names if is_name_bound(lo, name)]


def _again_flag(lo: Lowerer, pending: Operand) -> Operand:
    falls = lo.builder.apply("eq", pending, integer(FALLS), hint="falls")
    skips = lo.builder.apply("eq", pending, integer(CONTINUE), hint="skips")
    return lo.builder.apply("or", falls, skips, hint="again")


# -- what a loop is over ---------------------------------------------------------------------------
Element = Callable[[Operand], Binding]


def _most(lo: Lowerer, iterable: Binding) -> int | None:
    """Return how many elements an iterable has at most, if its kind of elements says so.

    ``zip(array, [a, b])`` has two or fewer, each of a kind of its own.
    """
    items = sequences.static_items(lo, iterable)
    if items is not None:
        return len(items)
    match iterable:
        case Enumerate(inner=inner):
            return _most(lo, inner)
        case Zip(inners=inners):
            counts = [_most(lo, inner) for inner in inners]
            return min((count for count in counts if count is not None), default=None)
    return None


def _constant_length(iterable: Binding, trips: Operand) -> int | None:
    """Return how many elements arrays have, and what is made of them, if that is a constant."""
    match iterable:
        case ArrayRef():
            return int(trips.value) if isinstance(trips, Literal) else None
        case Enumerate(inner=inner) | Reversed(inner=inner):
            return _constant_length(inner, trips)
        case Zip(inners=inners):
            known = all(_constant_length(inner, trips) is not None for inner in inners)
            return int(trips.value) if known and isinstance(trips, Literal) else None
    return None


def _counts(lo: Lowerer, iterable: Binding) -> dict[int, int]:
    """Return how many elements the parts of an iterable have before a loop, by identity."""
    items = sequences.static_items(lo, iterable)
    if items is not None:
        return {id(iterable): len(items)}
    parts = iterable.inners if isinstance(iterable, Zip) else ()
    parts = (iterable.inner,) if isinstance(iterable, Enumerate) else parts
    return {key: count for part in parts for key, count in _counts(lo, part).items()}


def _item(
    lo: Lowerer, iterable: Binding, k: int, counts: dict[int, int], node: ast.expr
) -> tuple[Operand, Callable[[], Binding]] | None:
    """Return whether an iterable has a k-th element, and what gives it; None after the last."""
    if id(iterable) in counts:
        constant = sequences.next_item(lo, iterable, k, counts[id(iterable)], node)
        return None if constant is None else (Literal(True, BOOL), lambda: constant)
    if _most(lo, iterable) is None:
        trips, element = iteration(lo, iterable, node)
        inside = numbers.apply(lo, "lt", integer(k), trips)
        if isinstance(inside, Literal) and not inside.value:
            return None
        return inside, lambda: element(integer(k))
    if isinstance(iterable, Enumerate):
        found = _item(lo, iterable.inner, k, counts, node)
        if found is None:
            return None
        number = Num(numbers.plus(lo, iterable.start.operand, integer(k)))
        return found[0], lambda: TupleOf((number, found[1]()))
    assert isinstance(iterable, Zip)
    both: Operand = Literal(True, BOOL)
    items: list[Callable[[], Binding]] = []
    for inner in iterable.inners:
        found = _item(lo, inner, k, counts, node)
        if found is None:
            return None
        both = numbers.apply(lo, "and", both, found[0])
        items.append(found[1])
    return both, lambda: TupleOf(tuple([item() for item in items]))


def iteration(lo: Lowerer, iterable: Binding, node: ast.expr) -> tuple[Operand, Element]:
    """Return the trip count of an iterable and how to get its k-th element."""
    match iterable:
        case Range(start=start, stop=stop, step=step):
            return _range_iteration(lo, start.operand, stop.operand, step.operand)
        case ArrayRef():
            dims = views.dims_of(lo, iterable)
            if not dims:
                text = "iteration over a 0-d array"
                numbers.refuse(lo, text, node, "TypeError", text)
            return dims[0], lambda k: elementwise.load(lo, iterable, [k], node)
        case ListRef() if isinstance(held := lo.held(iterable), Growing):
            return held.length.operand, lambda k: list_buffers.read(
                lo, _grown(lo, iterable), k, node
            )
        case (DictRef() as ref) | DictView(ref=ref) if _is_table(lo, ref):
            return keyed.length(lo, ref), _of_table(lo, iterable, ref, node)
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
                    trips = lo.sizes.counts(lo.builder.apply("minimum", trips, other, hint="n"))
            return trips, lambda k: TupleOf(tuple(element(k) for _, element in parts))
        case Reversed(inner=inner):
            if classes.is_instance(inner):
                hint = "loop over that of the list or array that it holds"
                raise lo.unsupported(f"`reversed` of {kind_of(inner)}", node, hint)
            trips, element = iteration(lo, inner, node)
            last = numbers.plus(lo, trips, integer(-1))

            def backwards(k: Operand) -> Binding:
                return element(numbers.minus(lo, last, k))

            return trips, backwards
    if generators.of_object(lo, iterable) is not None:
        raise lo.unsupported(
            f"looping over {kind_of(iterable)} here", node, "give the object a name before"
        )
    if classes.is_instance(iterable):
        raise TypeMismatchError(
            f"cannot loop over {kind_of(iterable)}", lo.span(node),
            "give its class an `__iter__`, or loop over the list or array that it holds",
        )  # fmt: skip
    classes.require_iterable(lo, iterable, node)
    raise TypeMismatchError(
        f"cannot loop over {kind_of(iterable)}",
        lo.span(node),
        "loop over `sorted(...)` of it: the order of a set is not part of the program"
        if isinstance(iterable, SetRef) or operators.is_set(iterable)
        else "loop over a range, an array, a tuple, enumerate, zip or reversed",
    )


def _is_table(lo: Lowerer, ref: DictRef) -> bool:
    """Whether a dict has keys known only at run time; those of a set are in no certain order."""
    return not isinstance(ref, SetRef) and isinstance(lo.held(ref), Growing)


def _of_table(lo: Lowerer, iterable: Binding, ref: DictRef, node: ast.expr) -> Element:
    """Return how to get the k-th key, value or item of a table, as it is when a loop gets there."""
    which = iterable.name if isinstance(iterable, DictView) else "keys"
    trips = keyed.length(lo, ref)

    def element(k: Operand) -> Binding:
        held = lo.held(ref)
        assert isinstance(held, Growing)
        if held.length.operand != trips:
            raise lo.unsupported(
                "a dict whose length changes while a loop iterates over it", node,
                "loop over a copy, such as `list(...)`",
            )  # fmt: skip
        if which == "items":
            return list_buffers.read(lo, held, k, node)
        return list_buffers.read(lo, keyed.column(held, 0 if which == "keys" else 1), k, node)

    return element


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
        trips = lo.sizes.counts(lo.builder.apply("trips", start, stop, step, hint="n"))
    bounded = max(lo.sizes.bits_of(start), lo.sizes.bits_of(stop)) <= INDEX_BITS

    def at(k: Operand) -> Binding:
        scaled = lo.builder.apply("mul", k, step)
        at_k = numbers.plus(lo, start, scaled)
        return Num(lo.sizes.counts(at_k) if bounded else at_k)

    return trips, at


@handles(ast.While)
def lower_while(lo: Lowerer, stmt: ast.While) -> None:
    names = _assigned(lo, [stmt.test, *stmt.body])
    jumping = _jumps_of(lo, stmt)
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body) or bool(jumping)
    endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
    bound = _bound(lo, names)

    def iterate() -> None:
        blocks.lower_stmts(lo, stmt.body)
        _skip(lo, stmt, bound)

    def body(_: Value | None) -> Operand:
        cond = choices.condition(lo, stmt.test)
        branch(lo, cond, iterate, lambda: set_exit(lo, NATURAL))
        if early:
            return _to_next_iteration(lo, stmt)
        _require_no_jump(lo, stmt)
        set_exit(lo, FALLS)
        lo.frame.partial.clear()
        return cond

    if early:
        _early_loop(lo, stmt, names, body, definite=endless, endless=endless)
        return
    sure = scope.surely_assigned(stmt.test)
    # What was a number and is an array after the first iteration is only an array in the others.
    peels = bool(lo.shared.varied) and not (endless or stmt.orelse)
    before, saved, mark = lo.snapshot(), lo.save_names(), len(lo.builder.stmts)

    def loop(*, peels: bool = False) -> None:
        lower_loop(lo, stmt, names, body, trips=None, definite=endless, sure=sure, peels=peels)

    def first_apart() -> None:
        with lo.copy("first", id(stmt)):
            iterate()
            _require_no_jump(lo, stmt)
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
        with lo.copy("others", id(stmt)):
            loop()

    try:
        loop(peels=peels)
    except (_JumpsError, FirstError) as error:
        if isinstance(error, FirstError) and not peels:
            raise
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
        if isinstance(error, _JumpsError):
            lower_while(lo, stmt)
        else:
            branch(lo, choices.condition(lo, stmt.test), first_apart, lambda: None)
        return
    if endless:
        raise Dead
    _else(lo, stmt, None)
