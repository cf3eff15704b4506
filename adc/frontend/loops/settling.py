"""A `for` as one loop: the types of its variables, and what only iterations bind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from adc.frontend.control import blocks
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import FALLS, NATURAL, set_exit
from adc.frontend.control.iterations.leaving import same_numbers
from adc.frontend.control.iterations.loops import lower_loop
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Late,
    Maybe,
    Num,
    TupleOf,
    Unbound,
    Unstable,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.names import is_name_bound
from adc.frontend.language import assignment, breaks
from adc.frontend.loops import exits, over
from adc.frontend.syntax import scope
from adc.frontend.values import (
    arrays,
)
from adc.ir.builder import integer, zero
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import (
    AliasError,
    TypeUnstableError,
    UnboundError,
)
from adc.ir.types import BOOL


def settled(
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
    jumping = exits.jumps_of(lo, stmt)
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body) or bool(jumping)
    names = exits.assigned(lo, [stmt.target, *stmt.body])
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
    before = lo.point()
    start_env = before.state.env
    for attempt in range(12):
        known = dict(kinds)
        if early:
            # What every iteration binds, whatever exit it takes, may have any value before the
            # first one. Reading it after no iteration is checked.
            for name in targets:
                if name in known:
                    start = start_env.get(name)
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
                    lo.frame.env[name] = _late(lo, start_env.get(name), binding, ran, known[name])

        try:
            _loop(
                lo, stmt, iterable, trips, element, names, early, definite, unrolls, peels,
                targets, kinds, bind, read,
            )  # fmt: skip
        except exits.JumpsError:
            if early:
                raise
            lo.undo(before)
            settled(lo, stmt, iterable, trips, element, unrolls)
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
        lo.undo(before)


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

    bound = exits.bound(lo, names)

    def step(index: Operand) -> None:
        before = over.lengths(lo, iterable)
        assignment.assign(lo, stmt.target, element(index))
        blocks.lower_stmts(lo, stmt.body)
        over.require_lengths(lo, iterable, before, stmt.iter)
        exits.skip(lo, stmt, bound)
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
            exits.require_no_jump(lo, stmt)
            set_exit(lo, FALLS)
            lo.frame.partial.clear()

        lower_loop(
            lo, stmt, names, body, trips=trips, definite=definite, unrolls=unrolls,
            peels=peels and not stmt.orelse,
        )  # fmt: skip
        exits.lower_else(lo, stmt, None)
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
        return exits.to_next_iteration(lo, stmt)

    exits.early_loop(
        lo, stmt, [*names, "$index"], guarded, definite=definite, unrolls=unrolls, bind=bind
    )


@dataclass(frozen=True)
class _Empty:
    """An array without elements."""

    dtype: str
    rank: int


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
