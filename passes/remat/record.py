"""Record what calls outside of the program return, so that iterations can be recomputed.

What a loop does outside (`adc.external`, MPI, the time, prints) it does once. A checkpointed loop
computes iterations again; they read what the first run has found from arrays with one element, or
one part, for each iteration. The forward code of a checkpointed loop, before it is split::

    %u.9 = for L %k in 0 to %n carrying (%u = %u.0) {
      %r = call C f(%u)
      …
    }

becomes ::

    %r.all = empty[f64] %n %u.dim0
    %u.9, %r.all.9 = for L %k in 0 to %n carrying (%u = %u.0, %r.all.1 = %r.all) {
      %r = call C f(%u)
      %r.all.2 = for L.copy %i in 0 to %u.dim0 carrying … { … store %r.all.3[%k, %i] … }
      …
    }

and iterations that are recomputed are those of ::

    %u.9 = for L %k in 0 to %n carrying (%u = %u.0) {
      %e = empty[f64] %size
      %r = for L.copy %i in 0 to %size carrying … { … load %r.all.9[%k, %i] … }
      …
    }

What is not needed to recompute iterations, or in their reverse code, is not recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from adc.ir.analysis.sizes.shapes import Dim, Own, Returned, Shapes
from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    For,
    Function,
    If,
    Literal,
    Operand,
    Print,
    Reverse,
    Stmt,
    Value,
    While,
    blocks,
    walk,
)
from adc.ir.functions import called
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array
from adc.ir.walk import Names, bound, filtered, inner_values, map_blocks, with_results

Sizes = Mapping[Value, tuple[Dim, ...]]
_Loop = TypeVar("_Loop", For, While, For | While)


# --- what acts outside ----------------------------------------------------------------------------


def acting(fn: Function) -> frozenset[str]:
    """Return the names of functions that do something outside, or call one that does."""
    table = {each.name: each for each in (*fn.callees, fn)}
    names = {name for name, each in table.items() if _prints(each)}
    names |= {
        each.name
        for each in fn.derived
        if any(map(_prints, (each.of, *each.of.callees))) or acting(each.of)
    }
    before = -1
    while before != (before := len(names)):
        names |= {name for name, each in table.items() if not names.isdisjoint(called(each))}
    return frozenset(names)


def _prints(fn: Function) -> bool:
    return any(isinstance(stmt, Print) for stmt in walk(fn.body))


def recordable(fn: Function, owner: str, loop: For | While) -> Sizes | None:
    """Return the results of what a loop does outside, with their sizes, if they can be recorded.

    None if not: where a loop inside of it finds something, a function that reverse code mirrors
    does, or where the size of a result is not known before the loop.
    """
    names = acting(fn)
    if not any(_acts(stmt, names) for stmt in walk(loop.body.stmts)):
        return {}
    functions = (*fn.callees, fn)
    mirrored = {
        stmt.mirror
        for each in functions
        if owner == (each.mirror or each.name)
        for stmt in walk(each.body)
        if isinstance(stmt, Call)
    }
    acts: list[Stmt] = []
    if not _found(loop.body.stmts, names, mirrored, acts):
        return None
    table = {each.name: each for each in functions}
    found = [v for stmt in acts for v in stmt.results if _computed(stmt, v, table) is None]
    if not found:
        return {}
    (home,) = (each for each in functions if each.name == owner)
    shapes = Shapes(home, Names.of(home), Returned(functions))
    before = _before(home.body, loop.label, frozenset(home.params))
    assert before is not None
    sizes: dict[Value, tuple[Dim, ...]] = {}
    for value in found:
        sizes[value] = shapes.of(value)
        for dim in sizes[value]:
            source = dim.array if isinstance(dim, Own) else dim
            if isinstance(source, Value) and source not in before:
                return None
            if not isinstance(dim, Own) and dim.type != INT:
                return None
    return sizes


def _acts(stmt: Stmt, names: Collection[str]) -> bool:
    return isinstance(stmt, Print) or (isinstance(stmt, Call) and stmt.callee in names)


def _found(
    stmts: Sequence[Stmt], names: Collection[str], mirrored: Collection[str], found: list[Stmt]
) -> bool:
    """Collect the statements that act outside; return whether all of them can be recorded."""
    for stmt in stmts:
        if _acts(stmt, names):
            if isinstance(stmt, Call) and stmt.label in mirrored:
                return False
            found.append(stmt)
        elif isinstance(stmt, For | While | Reverse):
            if any(
                _acts(each, names) and not (isinstance(each, Print) and each.result is None)
                for each in walk((stmt,))
            ):
                return False
        elif not all(_found(each.stmts, names, mirrored, found) for each in blocks(stmt)):
            return False
    return True


def _before(stmts: Sequence[Stmt], label: str, known: frozenset[Value]) -> frozenset[Value] | None:
    """Return the values that are in scope where a loop begins."""
    for stmt in stmts:
        if isinstance(stmt, For | While) and stmt.label == label:
            return known
        for block in blocks(stmt):
            found = _before(block.stmts, label, known.union(inner_values(stmt)))
            if found is not None:
                return found
        known = known.union(stmt.results)
    return None


def _computed(stmt: Stmt, value: Value, functions: Mapping[str, Function]) -> Apply | None:
    """Return what computes a result of a call if that is an integer that the caller knows.

    Sizes of what is found outside must not come from a record: the peak would not be known.
    """
    callee = functions.get(stmt.callee) if isinstance(stmt, Call) else None
    if callee is None or value.type.kind not in "iu" or isinstance(value.type, Array):
        return None
    if callee.rule is not None and not callee.rule.exact:
        return None  # the rule may return another one
    assert isinstance(stmt, Call)
    args: dict[Operand, Operand] = dict(zip(callee.params, stmt.args, strict=True))
    result = callee.results[stmt.results.index(value)]
    operand = result if isinstance(result, Literal) else args.get(result)
    if operand is not None:
        same = operand.type == value.type
        zero = Literal(0, value.type)
        return Apply((value,), OPS["add"], (operand, zero), (), stmt.loc) if same else None
    for made in callee.body:
        if isinstance(made, Apply) and made.op.asks_shape and made.result == result:
            if made.args[0] in args:
                return replace(made, results=(value,), args=(args[made.args[0]],), loc=stmt.loc)
    return None


def without(loop: _Loop, names: Collection[str]) -> _Loop:
    """Return a loop without what acts outside: the results of that are values from outside."""
    stmts = filtered(loop.body.stmts, lambda stmt: not _acts(stmt, names))
    return replace(loop, body=replace(loop.body, stmts=stmts))


# --- recording ------------------------------------------------------------------------------------


@dataclass
class Recording:
    """Rewrites one loop. `results` are those of what it does outside, with their sizes."""

    fn: Function
    names: Names
    loop: For | While
    results: Sizes

    def __post_init__(self) -> None:
        self.acting = acting(self.fn)
        self.functions = {each.name: each for each in (*self.fn.callees, self.fn)}
        #: The arrays with what all iterations have found, after the loop.
        self.records = {
            value: Value(
                self.names.fresh(f"{value.name}.all"),
                Array(value.type.dtype, 1 + len(sizes)),
            )
            for value, sizes in self.results.items()
        }

    def repeated(self, loop: For) -> For:
        """Return the loop of iterations that are recomputed: they read the records."""

        def block(found: Block) -> Block:
            builder = Builder(self.names)
            for stmt in found.stmts:
                builder.loc = getattr(stmt, "loc", None)
                if not _acts(stmt, self.acting):
                    builder.emit(map_blocks(stmt, block))
                    continue
                for value in stmt.results:
                    computed = _computed(stmt, value, self.functions)
                    if computed is not None:
                        builder.emit(computed)
                    elif value in self.records:
                        self.read(builder, value, loop)
            return replace(found, stmts=tuple(builder.stmts))

        if not any(_acts(stmt, self.acting) for stmt in walk(loop.body.stmts)):
            return loop
        return replace(loop, body=block(loop.body))

    def read(self, builder: Builder, value: Value, loop: For) -> None:
        """Compute `value` as what its record has for the iteration."""
        found = loaded(builder, self.records[value], loop.index, self.copies)
        if found.type != value.type:
            builder.apply("cast", found, params=(str(value.type),))
        builder.emit(with_results(builder.stmts.pop(), (value,)))

    @property
    def copies(self) -> str:
        return f"{self.loop.label}.copy"

    def recorded(self, used: Iterable[Value]) -> tuple[list[Stmt], For]:
        """Return statements that reserve the arrays in `used`, and the loop that fills them."""
        assert isinstance(self.loop, For)
        wanted = set(used)
        kept = {value: record for value, record in self.records.items() if record in wanted}
        if not kept:
            return [], self.loop
        builder = Builder(self.names)
        builder.loc = self.loop.loc
        count = self.loop.trips
        if count.type != INT:
            count = builder.apply("cast", count, params=("int",), hint="trips")
        if not isinstance(count, Literal):
            count = builder.apply("maximum", count, integer(0), hint="trips")
        init: list[Value] = []
        for value, record in kept.items():
            dims = [
                builder.apply("dim", dim.array, params=(dim.axis,), hint="size")
                if isinstance(dim, Own)
                else dim
                for dim in self.results[value]
            ]
            dtype = (record.type.dtype,)
            init.append(builder.apply("empty", count, *dims, params=dtype, hint=record.name))
        params = {value: self.names.value(record) for value, record in kept.items()}
        stmts, last = self.writing(self.loop.body.stmts, params)
        body = self.loop.body
        body = Block(
            (*body.params, *params.values()),
            tuple(stmts),
            (*body.yields, *(last[value] for value in kept)),
        )
        results = (*self.loop.results, *kept.values())
        init_all = (*self.loop.init, *init)
        return builder.stmts, replace(self.loop, results=results, init=init_all, body=body)

    def writing(
        self, stmts: Sequence[Stmt], versions: Mapping[Value, Value]
    ) -> tuple[list[Stmt], dict[Value, Value]]:
        """Return statements that also write what they find, and the arrays after them."""
        assert isinstance(self.loop, For)
        now = dict(versions)
        builder = Builder(self.names)
        for stmt in stmts:
            builder.loc = getattr(stmt, "loc", None)
            inside = [value for value in bound((stmt,)) if value in now]
            if isinstance(stmt, If) and inside:
                then, after = self.writing(stmt.then.stmts, now)
                orelse, other = self.writing(stmt.orelse.stmts, now)
                results = {value: self.names.value(now[value]) for value in inside}
                yields = [
                    (*block.yields, *(last[value] for value in inside))
                    for block, last in ((stmt.then, after), (stmt.orelse, other))
                ]
                stmt = replace(
                    stmt,
                    results=(*stmt.results, *results.values()),
                    then=replace(stmt.then, stmts=tuple(then), yields=yields[0]),
                    orelse=replace(stmt.orelse, stmts=tuple(orelse), yields=yields[1]),
                )
                builder.emit(stmt)
                now |= results
                continue
            builder.emit(stmt)
            for value in inside:
                to = (self.loop.index,)
                now[value] = copied(builder, value, now[value], (), to, self.copies)
        return builder.stmts, now


# --- arrays in slots ------------------------------------------------------------------------------


def copied(
    builder: Builder,
    source: Operand,
    target: Value,
    at: tuple[Operand, ...],
    to: tuple[Operand, ...],
    label: str,
) -> Value:
    """Return a version of `target` with the elements of `source` at the indices of both."""
    if not isinstance(source.type, Array):
        return builder.store(target, to, source)
    assert isinstance(source, Value)
    names = builder.names

    def nest(axis: int, version: Value, index: tuple[Value, ...]) -> Value:
        assert isinstance(target.type, Array)
        if len(to) + axis == target.type.rank:
            return builder.store(version, (*to, *index), builder.load(source, (*at, *index)))
        size = builder.apply("dim", source, params=(len(at) + axis,), hint="size")
        param, i = names.value(version), Value(names.fresh("i"), INT)
        with builder.block() as stmts:
            inner = nest(axis + 1, param, (*index, i))
        result = names.value(version)
        body = Block((param,), tuple(stmts), (inner,))
        own = names.fresh(label)
        builder.emit(For((result,), own, i, size, (version,), body, False, builder.loc))
        return result

    return nest(0, target, ())


def loaded(builder: Builder, place: Value, slot: Operand, label: str) -> Value:
    """Return the contents of a slot: the last statement makes them."""
    assert isinstance(place.type, Array)
    rank = place.type.rank - 1
    if not rank:
        return builder.load(place, (slot,))
    dims = [builder.apply("dim", place, params=(axis,), hint="size") for axis in range(1, rank + 1)]
    target = builder.apply("empty", *dims, params=(place.type.dtype,), hint="state")
    return copied(builder, place, target, (slot,), (), label)


__all__ = ["Recording", "Sizes", "acting", "copied", "loaded", "recordable", "without"]
