"""`for`: one loop, a copy of the body for each element, or the first iteration apart."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adc.frontend.control import blocks, evaluation
from adc.frontend.control.branches import branch
from adc.frontend.control.iterations.findings import (
    FirstError,
    PathsError,
    RestructuredError,
    becomes_array,
)
from adc.frontend.control.suspended import Generator
from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import (
    Binding,
    DictRef,
    Enumerate,
    Growing,
    Late,
    ListRef,
    Num,
    Reversed,
    Static,
    TupleOf,
    Unbound,
    Zip,
)
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import CONTENTS, PickedError, TableError, VariesError
from adc.frontend.core.structure import refs
from adc.frontend.language import dicts, dynamic_lists, generators, iterators
from adc.frontend.loops import copies, exits, over, settling
from adc.frontend.syntax import scope
from adc.frontend.values import (
    sequences,
)
from adc.frontend.values.growing import list_buffers, list_elements
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import (
    AdcError,
    LimitError,
)
from adc.ir.types import BOOL, Scalar

# A loop over so few elements may be copies of its body even in a long program.
_FEW = 2


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
    iterable = dicts.as_tables(lo, given, stmt.iter)
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
    if over.most(lo, iterable) is not None:
        if not (_over_numbers(lo, stmt, iterable) or _over_buffers(lo, stmt, iterable)):
            copies.unrolled(lo, stmt, iterable)
        return
    trips, element = over.iteration(lo, iterable, stmt.iter)
    if isinstance(trips, Literal) and trips.value <= 0:
        exits.lower_else(lo, stmt, None)
        return
    before = lo.point()
    held = over.hold(lo, iterable)
    items = sequences.static_range(iterable)
    count = len(items) if items is not None else over.constant_length(iterable, trips)
    unrolls = count is not None and count <= sequences.MAX_UNROLLED
    rolls = bool(lo.shared.rolls)
    try:
        settling.settled(lo, stmt, iterable, trips, element, unrolls and not rolls, peels=True)
    except (VariesError, PickedError) as error:
        many = count is None or count > sequences.MAX_COPIES
        if isinstance(error, PickedError) and not error.places and many:
            lo.undo(before)
            if dynamic_lists.loops_again(lo, stmt.body, lambda: _over(lo, stmt, iterable)):
                return
        # A list that grows by arrays, a dict with new keys, keys such as f"w{k}": a copy of the
        # body for each iteration.
        if count is None and isinstance(error, RestructuredError | PickedError):
            lo.undo(before)
            known = generators.combined(lo, stmt.iter, sequences.MAX_COPIES)
            if known is not None:
                copies.unrolled(lo, stmt, known)
                return
        if isinstance(error, VariesError) and not isinstance(error, RestructuredError):
            # What the body uses, not what it leaves. The number of the iteration may decide it:
            # ``if row > 0: parts.append(Part(row))`` in a loop inside.
            if not (unrolls and error.variable in lo.shared.varied):
                raise
        if isinstance(error, TableError) and not unrolls:
            raise
        varies = isinstance(error, PathsError) or (
            isinstance(error, RestructuredError) and lo.shared.picks
        )
        if varies and not unrolls and CONTENTS not in lo.shared.varied:
            raise  # the program is lowered again with what may be one of several values
        if isinstance(error, PickedError) and not error.places:
            unrolls = count is not None and count <= sequences.MAX_COPIES
            sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)
        first = isinstance(error, FirstError) and not (
            stmt.orelse or scope.has_break(stmt.body) or scope.has_return(stmt.body)
        )
        if not first and not unrolls:
            if isinstance(error, RestructuredError):
                sequences.require_constants(lo, iterable, "the length of this loop", stmt.iter)
            raise
        lo.undo(before)
        if unrolls:
            copies.unrolled(lo, stmt, iterable if items is None else TupleOf(tuple(items)))
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
    least = _FEW if lo.shared.rolls else sequences.MAX_UNROLLED
    if items is None or len(items) <= least:
        return False
    kind, *others = {
        numbers.scalar_type(item.operand) if isinstance(item, Num) else None for item in items
    }
    if kind is None or others:
        return False
    before = lo.point()
    try:
        call = ast.copy_location(ast.Call(stmt.iter, [], []), stmt.iter)
        array = dispatch.apply(lo, Static(np.array), [TupleOf(tuple(items))], {}, call)
        whole = replace(iterable, inner=array) if isinstance(iterable, Enumerate) else array
        trips, element = over.iteration(lo, whole, stmt.iter)

        def number(k: Operand) -> Binding:
            return _like_number(lo, element(k), kind)

        held = over.hold(lo, iterable)
        settling.settled(lo, stmt, whole, trips, number, unrolls=False)
        lo.frame.env.pop(held, None)
        changed = isinstance(inner, ListRef) and lo.held(inner) != TupleOf(tuple(items))
        if not (changed or _grows_by_arrays(before.state.env, lo.frame.env)):
            return True
    except AdcError:
        pass
    lo.undo(before)
    return False


def _over_buffers(lo: Lowerer, stmt: ast.For, iterable: Binding) -> bool:
    """Lower a loop over lists as one over buffers, in a long program; return whether that does."""
    if not lo.shared.rolls or (over.most(lo, iterable) or 0) <= _FEW:
        return False
    before = lo.point()
    held = {ref: lo.held(ref) for ref in refs(iterable)}
    try:
        whole = _in_buffers(lo, iterable, stmt.iter)
        if whole is not None:
            trips, element = over.iteration(lo, whole, stmt.iter)
            name = over.hold(lo, whole)
            settling.settled(lo, stmt, whole, trips, element, unrolls=False)
            lo.frame.env.pop(name, None)
            if all(lo.held(ref) is old for ref, old in held.items()):
                return True
    except AdcError:
        pass
    lo.undo(before)
    return False


def _in_buffers(lo: Lowerer, iterable: Binding, node: ast.AST) -> Binding | None:
    """Return an iterable with copies of its lists and tuples as lists of any length, or None."""
    items = sequences.static_items(lo, iterable)
    if items is not None:
        element = list_buffers.common(lo, [TupleOf(tuple(items))])
        if element is None:
            return None
        return lo.new_ref(ListRef, list_buffers.converted(lo, items, element, node))
    match iterable:
        case Enumerate(inner=inner) | Reversed(inner=inner):
            found = _in_buffers(lo, inner, node)
            return None if found is None else replace(iterable, inner=found)
        case Zip(inners=inners):
            parts = [part for part in (_in_buffers(lo, x, node) for x in inners) if part]
            return replace(iterable, inners=tuple(parts)) if len(parts) == len(inners) else None
    return iterable


def _grows_by_arrays(before: dict[str, Binding], after: dict[str, Binding]) -> bool:
    """Whether a list of arrays has a length known only at run time, and had none before."""
    return any(
        isinstance(held, Growing)
        and not isinstance(before.get(name), Growing)
        and list_elements.has_arrays(held.element)
        for name, held in after.items()
    )


def _like_number(lo: Lowerer, element: Binding, kind: Scalar) -> Binding:
    """Return an element of an array as the number in a list that it was."""
    if isinstance(element, TupleOf):  # of `enumerate`
        return TupleOf((element.items[0], _like_number(lo, element.items[1], kind)))
    assert isinstance(element, Num)
    return Num(numbers.weak(lo, element.operand) if kind.weak else element.operand)


def _over_generator(lo: Lowerer, stmt: ast.For, generator: Generator) -> None:
    """Lower a loop over a generator, or a copy of the body for each combination of constants."""
    before = lo.point()
    try:
        generators.loop(lo, stmt, generator)
        return
    except (RestructuredError, PickedError):
        lo.undo(before)
        known = generators.combined(lo, stmt.iter, sequences.MAX_COPIES)
        if known is None:
            raise
    copies.unrolled(lo, stmt, known)


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
            copies.unrolled(lo, stmt, TupleOf((element(integer(0)),)))
        with lo.copy("others", id(stmt)):
            others = numbers.apply(lo, "sub", trips, integer(1))
            if others != integer(0):
                settling.settled(lo, stmt, iterable, others, after_first, unrolls=False)
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
