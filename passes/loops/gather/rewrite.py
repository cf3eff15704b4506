"""The rewriting half of `gather`: emit the gathering loops, and the rest of the nest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, assert_never

from adc.ir.analysis.sizes.affine import Form, constant
from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Block,
    For,
    Function,
    Literal,
    Operand,
    Reverse,
    Stmt,
    Store,
    Value,
)
from adc.ir.ops import arith
from adc.ir.types import INT
from adc.ir.walk import (
    Names,
    map_blocks,
    map_operands,
    substitute,
    substitute_block,
)
from adc.passes.loops.gather.find import (
    Addition,
    Finder,
    Group,
    Kept,
    Operation,
    Plan,
    Read,
    Same,
    Term,
    distances,
    itself,
    parts,
)

_T = TypeVar("_T")


class Rewriter:
    """Rewrites one function as planned."""

    def __init__(self, found: Finder, names: Names) -> None:
        self.found = found
        self.builder = Builder(names)
        self.env: dict[Value, Operand] = {}

    def run(self) -> Function:
        fn = self.found.fn
        body = self.stmts(fn.body)
        return fn.with_body(body, tuple(self.read(operand) for operand in fn.results))

    def read(self, operand: Operand) -> Operand:
        return substitute(operand, self.env)

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        with self.builder.block() as made:
            for stmt in stmts:
                if isinstance(stmt, Store) and stmt.result in self.found.taken:
                    self.env[stmt.result] = stmt.array
                elif isinstance(stmt, Reverse) and id(stmt) in self.found.plans:
                    self.nest(stmt, self.found.plans[id(stmt)])
                elif isinstance(stmt, Reverse) and id(stmt) in self.found.passing:
                    made.append(self.loop(stmt))
                else:
                    stmt = map_operands(stmt, self.read)
                    made.append(map_blocks(stmt, self.block))
        return tuple(made)

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block.stmts)
        return Block(block.params, stmts, tuple(self.read(v) for v in block.yields))

    def nest(self, root: Reverse, plan: Plan) -> None:
        init: list[Operand] = [self.read(operand) for operand in root.init]
        for temporary in plan.temporaries.values():
            varying = self.found.varying(temporary.loops[0])
            sizes = [self.size(temporary.loops[level], varying) for level in temporary.levels]
            dtype = temporary.value.type.dtype
            hint = f"{temporary.value.name}.all"
            temporary.version = self.builder.apply("empty", *sizes, params=(dtype,), hint=hint)
        for group in plan.groups:
            if group.before:
                at = group.chain.positions[0]
                init[at] = Gathering(self, group, init, plan).run(init[at])
        loop = self.loop(replace(root, init=tuple(init)), root)
        self.builder.emit(loop)
        for group in plan.groups:
            if not group.before:
                at = group.chain.positions[0]
                result = root.results[at]
                self.env[result] = Gathering(self, group, init, plan).run(self.read(result))

    def loop(self, loop: Reverse, key: Reverse | None = None) -> Reverse:
        """Return a loop that carries the temporary arrays, and drops what it does not change."""
        passing = self.found.passing.get(id(key or loop), [])
        init = [self.read(operand) for operand in loop.init]
        params = list(loop.body.params)
        results = list(loop.results)
        for temporary in passing:
            assert temporary.version is not None
            init.append(temporary.version)
            temporary.version = self.builder.names.value(temporary.version)
            params.append(temporary.version)
        stmts = list(self.stmts(loop.body.stmts))
        yields = [self.read(operand) for operand in loop.body.yields]
        for temporary in passing:
            assert temporary.version is not None
            if temporary.loops[-1] is (key or loop):
                index = [temporary.loops[level].index for level in temporary.levels]
                with self.builder.block() as made:
                    temporary.version = self.builder.store(
                        temporary.version, index, self.read(temporary.value)
                    )
                stmts += made
            yields.append(temporary.version)
            temporary.version = self.builder.names.value(temporary.version)
            results.append(temporary.version)
        unchanged = [a == b for a, b in zip(params, yields, strict=True)]
        outside: dict[Value, Operand] = {}
        for k, same in enumerate(unchanged):
            if same:
                outside[params[k]] = init[k]
                self.env[results[k]] = init[k]
        block = Block(_left(params, unchanged), tuple(stmts), _left(yields, unchanged))
        return replace(
            loop,
            init=_left(init, unchanged),
            results=_left(results, unchanged),
            body=substitute_block(block, outside),
        )

    def size(self, loop: Reverse, varying: set[Value]) -> Operand:
        trips = self.found.loops[loop.loop].trips
        found = self.outside(trips, varying)
        if self.found.facts.proves(self.found.facts.form(trips)):
            return found
        return self.builder.apply("maximum", found, integer(0), hint="n")

    def outside(self, operand: Operand, varying: set[Value]) -> Operand:
        """Return a value from before the nest, recalled if it is one of the forward code."""
        if isinstance(operand, Value) and operand in varying:
            form = self.found.facts.form(operand)
            if form != itself(operand):
                return self.written(form, lambda value: self.outside(value, varying))
            stmt = self.found.facts.defs[operand]
            args = [self.outside(arg, varying) for arg in stmt.args]
            return self.builder.apply(stmt.op, *args, params=stmt.params, hint="n")
        if isinstance(operand, Value) and operand in self.found.forward:
            return self.builder.recall(operand)
        return self.read(operand)

    def written(self, form: Form, read: Callable[[Value], Operand]) -> Operand:
        """Emit a linear form."""
        apply = self.builder.apply
        total: Operand | None = None
        for value, factor in sorted(form.terms, key=lambda term: term[1] < 0):
            operand = read(value)
            if total is not None and factor == -1:
                total = apply("sub", total, operand, hint="i")
                continue
            if factor != 1:
                operand = apply("mul", integer(factor), operand, hint="i")
            total = operand if total is None else apply("add", total, operand, hint="i")
        if total is None:
            return integer(form.const)
        if form.const:
            name = "add" if form.const > 0 else "sub"
            return apply(name, total, integer(abs(form.const)), hint="i")
        return total


class Gathering:
    """Emits the loops that gather one group of additions."""

    def __init__(self, made: Rewriter, group: Group, init: Sequence[Operand], plan: Plan) -> None:
        self.made = made
        self.builder = made.builder
        self.group = group
        self.init = init
        self.temporaries = plan.temporaries
        self.spans = distances(group.additions)
        least = [min(along) for along in zip(*(a.offset for a in group.additions), strict=True)]
        self.base = list(group.base)
        for axis, first in zip(group.axes, least, strict=True):
            self.base[axis] += first
        # The offset of each addition from the first element added to, along every axis.
        self.shifts = [
            tuple(own - first for own, first in zip(each.offset, least, strict=True))
            for each in group.additions
        ]
        loops = [group.chain.loops[level] for level in group.levels]
        self.counters = [made.found.counter(loop) for loop in loops]
        self.known: dict[Operand, Operand] = {}
        self.varying = made.found.varying(group.chain.loops[0])
        self.trips = [self.outside(made.found.loops[loop.loop].trips) for loop in loops]
        for axis in range(len(self.base)):
            for value, _ in self.base[axis].terms:
                self.outside(value)
        for each in group.additions:
            for part in parts(each.term):
                if isinstance(part, Read):
                    if isinstance(part.array, Value) and part.array in made.found.params:
                        self.outside(part.array)
                    for form in part.index:
                        for value, _ in form.terms:
                            if value not in self.counters:
                                self.outside(value)
                elif isinstance(part, Same) and part.recalled:
                    self.outside(part.value)

    def apply(self, op: str, *args: Operand) -> Value:
        return self.builder.apply(op, *args, hint="n")

    def outside(self, operand: Operand) -> Operand:
        if operand not in self.known:
            self.known[operand] = self.made.outside(operand, self.varying)
        return self.known[operand]

    def run(self, array: Operand) -> Value:
        """Emit the loops over the elements of `array`; return its last version."""
        assert isinstance(array, Value)
        if len(self.spans) == 1:
            return self.row(array, [])
        whole = None
        if self.spans[-1]:
            # A row can be summed at once if it is long enough for its two ends not to overlap.
            whole = self.apply("ge", self.trips[-1], integer(self.spans[-1]))
        return self.rows(array, [], whole)

    def rows(self, array: Value, at: list[Value], whole: Operand | None) -> Value:
        """Emit the loops over the rows of the axes after those of `at`.

        Each contribution is added exactly once: interior rows, whose contributing iterations all
        exist, are summed at once if `whole`, the others are left to `lacking`.
        """
        axis = len(at)
        span, trips = self.spans[axis], self.trips[axis]
        rows = self.apply("add", trips, integer(span)) if span else trips
        if axis < len(self.spans) - 2:

            def along(version: Value, row: Value) -> Value:
                conditions = [] if whole is None else [whole]
                if span:
                    conditions.append(self.apply("ge", row, integer(span)))
                    conditions.append(self.apply("lt", row, trips))
                return self.rows(version, [*at, row], self.all(conditions))

            return self.over(rows, array, along)
        middle = trips
        if span:
            middle = self.apply("maximum", self.apply("sub", trips, integer(span)), integer(0))
        if whole is not None:
            middle = self.apply("select", whole, middle, integer(0))

        def within(version: Value, k: Value) -> Value:
            row = self.apply("add", k, integer(span)) if span else k
            return self.row(version, [*at, row])

        def around(version: Value, k: Value) -> Value:
            row: Operand = self.apply("add", k, middle)
            if span:
                row = self.apply("select", self.apply("lt", k, integer(span)), k, row)
            assert isinstance(row, Value)
            return self.lacking(version, [*at, row])

        array = self.over(middle, array, within)
        if not span and whole is None:
            return array
        return self.over(self.apply("sub", rows, middle), array, around)

    def all(self, conditions: Sequence[Operand]) -> Operand | None:
        found: Operand | None = None
        for each in conditions:
            found = each if found is None else self.apply("and", found, each)
        return found

    def over(self, trips: Operand, array: Value, body: Callable[[Value, Value], Value]) -> Value:
        """Emit a loop that carries `array` from one iteration to the next."""
        names = self.builder.names
        index = Value(names.fresh("p"), INT)
        param = names.value(array)
        with self.builder.block() as stmts:
            last = body(param, index)
        result = names.value(array)
        label = names.fresh(f"{self.group.chain.loops[0].loop}.gather")
        block = Block((param,), tuple(stmts), (last,))
        loc = self.group.chain.loops[0].loc
        self.builder.emit(For((result,), label, index, trips, (array,), block, loc=loc))
        return result

    def choose(
        self, cond: Operand, array: Value, then: Callable[[Value], Value],
        orelse: Callable[[Value], Value],
    ) -> Value:  # fmt: skip
        blocks = []
        for arm in (then, orelse):
            with self.builder.block() as stmts:
                last = arm(array)
            blocks.append(Block((), tuple(stmts), (last,)))
        return self.builder.if_(cond, blocks[0], blocks[1], [array.name])[0]

    def row(self, array: Value, at: list[Value]) -> Value:
        """Emit the sums of all contributions to each element of a row."""
        span, trips = self.spans[-1], self.trips[-1]
        rows = [itself(index) for index in at]
        additions = list(zip(self.group.additions, self.shifts, strict=True))
        middle = self.apply("sub", trips, integer(span)) if span else trips
        array = self.over(
            middle,
            array,
            lambda version, k: self.add(version, [*rows, Form(((k, 1),), span)], additions),
        )

        def ends(version: Value) -> Value:
            behind = constant(int(trips.value)) if isinstance(trips, Literal) else itself(trips)
            for k in range(span):
                first = [(each, shift) for each, shift in additions if shift[-1] <= k]
                last = [(each, shift) for each, shift in additions if shift[-1] > k]
                version = self.add(version, [*rows, constant(k)], first)
                version = self.add(version, [*rows, behind + k], last)
            return version

        if at or not span:
            return ends(array)
        fits = self.apply("ge", trips, integer(span))
        if span == 1:  # otherwise there are no iterations
            return self.choose(fits, array, ends, lambda version: version)
        return self.choose(fits, array, ends, lambda version: self.lacking(version, at))

    def size(self, trips: Operand) -> Operand:
        """Return a trip count as a size, zero if it is negative."""
        if isinstance(trips, Literal):
            return integer(max(int(trips.value), 0))
        return self.apply("maximum", trips, integer(0))

    def lacking(self, array: Value, at: list[Value]) -> Value:
        """Emit the additions of the iterations that exist for a row."""
        places = [itself(index) for index in at]
        groups: dict[tuple[int, ...], list[tuple[Addition, tuple[int, ...]]]] = {}
        for each, shift in zip(self.group.additions, self.shifts, strict=True):
            groups.setdefault(shift[:-1], []).append((each, shift))
        for shifts, additions in groups.items():

            def along(
                version: Value,
                k: Value,
                additions: list[tuple[Addition, tuple[int, ...]]] = additions,
            ) -> Value:
                for each, shift in additions:
                    place = Form(((k, 1),), shift[-1])
                    version = self.add(version, [*places, place], [(each, shift)])
                return version

            def row(version: Value, along: Callable[[Value, Value], Value] = along) -> Value:
                return self.over(self.trips[-1], version, along)

            there = self.all(
                [
                    self.apply("inside", self.emit(place + -shift), self.size(trips))
                    for place, shift, trips, span in zip(
                        places, shifts, self.trips, self.spans, strict=False
                    )
                    if span
                ]
            )
            if there is None:
                array = row(array)
            else:
                array = self.choose(there, array, row, lambda version: version)
        return array

    def add(
        self,
        array: Value,
        place: Sequence[Form],
        additions: Sequence[tuple[Addition, tuple[int, ...]]],
    ) -> Value:
        """Emit the addition to one element, indexed from the first one added to."""
        total: Operand | None = None
        for each, shift in additions:
            counters = {
                counter: at + -by
                for counter, at, by in zip(self.counters, place, shift, strict=True)
            }
            term = each.term
            if total is not None and isinstance(term, Operation) and term.stmt.op is arith.neg:
                total = self.builder.apply("sub", total, self.value(term.args[0], counters))
                continue
            value = self.value(term, counters)
            total = value if total is None else self.builder.apply("add", total, value)
        assert total is not None
        forms = list(self.base)
        for axis, at in zip(self.group.axes, place, strict=True):
            forms[axis] = forms[axis] + at
        index = [self.emit(form) for form in forms]
        return self.builder.store(array, index, total, accumulate=True)

    def value(self, term: Term, counters: Mapping[Value, Form]) -> Operand:
        """Emit an iteration's contribution."""
        match term:
            case Same(value=value, recalled=recalled):
                return self.known[value] if recalled else self.made.read(value)
            case Kept(value=value):
                levels = self.group.levels
                key = (id(self.group.chain.loops[-1]), levels, value)
                array = self.temporaries[key].version
                assert array is not None
                index = [self.emit(counters[counter]) for counter in self.counters]
                return self.builder.load(array, index)
            case Read(array=origin, index=forms):
                if isinstance(origin, int):
                    array_ = self.init[origin]
                else:
                    array_ = self.known[origin] if origin in self.known else self.made.read(origin)
                assert isinstance(array_, Value)
                moved: list[Form] = []
                for form in forms:
                    total = constant(form.const)
                    for value, factor in form.terms:
                        at = counters.get(value, itself(value))
                        total = total + at * factor
                    moved.append(total)
                return self.builder.load(array_, [self.emit(form) for form in moved])
            case Operation(stmt=stmt, args=args):
                operands = [self.value(arg, counters) for arg in args]
                hint = stmt.result.name
                return self.builder.apply(stmt.op, *operands, params=stmt.params, hint=hint)
        assert_never(term)

    def emit(self, form: Form) -> Operand:
        return self.made.written(form, lambda value: self.known.get(value, value))


def _left(items: Sequence[_T], gone: Sequence[bool]) -> tuple[_T, ...]:
    return tuple(item for item, each in zip(items, gone, strict=True) if not each)
