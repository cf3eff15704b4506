"""Several directions at once: tangents or cotangents with a last axis more.

A Jacobian needs the same derivative along many directions. Whatever depends on `positions`, the
parameters that hold a direction, gets an axis of `count` directions behind its own; all else is
computed once for all of them. Neighbouring statements become one loop over the directions, which
is behind what it reads::

    %a.dot = load %x.dot[%i]              %c = cos %a
    %c = cos %a                           %y.dots = for L %d in 0 to 8 carrying (…) {
    %b.dot = mul %a.dot %c                  %a.dot = load %x.dots[%i, %d]
    %y.dot = store %o.dot[%i] %b.dot        %b.dot = mul %a.dot %c
                                            %y.dots.1 = store %o.dots[%i, %d] %b.dot
                                            yield %y.dots.1
                                          }

A number that is read elsewhere, too, is an array of `count` elements there. Branches, trips and
indices are the same along all directions (else `DirectionsError`), so code is neither masked nor
run for nothing; this is the vector mode of Griewank and Walther ("Evaluating Derivatives", ch. 3),
for reverse code as well as for tangents. Each direction is computed by the same operations as
alone, but for sums, which are made one term after the other, and products of matrices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adc.ir.builder import Builder, integer
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Print,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    blocks,
    operands,
    walk,
)
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array
from adc.ir.walk import Names, inner_values
from adc.passes.activity import ENTRY, Marks, carried_yields, dependent, functions
from adc.passes.shapes import Shapes

# BLAS multiplies matrices for each direction if sums have so many terms.
_LONG = 32
# Others are made of so many terms at once.
_AT_ONCE = 4


class DirectionsError(Exception):
    """Something that depends on a direction must be the same along all of them."""


def directions(fn: Function, positions: Sequence[int], count: int) -> Function:
    """Return `fn` for `count` directions: in the parameters `positions`, and all that follows.

    Results that depend on no direction are as they were.

    Raises
    ------
    DirectionsError
        Where control flow, an index or a message depends on a direction, or a derivative does that
        is a program of its own.
    """
    table = functions(fn)
    marks = dependent(fn, positions)
    opaque = {each.name for each in fn.derived}
    opaque |= {each.name for each in fn.callees if each.rule is not None}
    if len(table) > len(fn.callees) + 1:
        raise DirectionsError("a function that calls itself under its own name")
    done: dict[str, _Widened] = {}
    for name in sorted(table, key=lambda each: bool(table[each].mirror)):
        each = table[name]
        recalled = done[each.mirror] if each.mirror in done else None
        done[name] = _Widened(name, table, marks, opaque, count, recalled)
    made = {name: each.function() for name, each in done.items()}
    callees = tuple(made[callee.name] for callee in fn.callees)
    return replace(made[ENTRY], callees=callees, derived=fn.derived)


def _is_no_product(stmt: Stmt) -> bool:
    return not isinstance(stmt, Gemm)


def _wide(value: Value, names: Names) -> Value:
    """Return the array of a value along all directions."""
    rank = value.type.rank if isinstance(value.type, Array) else 0
    return Value(names.fresh(f"{value.name}s"), Array(value.type.dtype, rank + 1))


class _Widened:
    """One function: its statements with the directions."""

    def __init__(
        self,
        name: str,
        table: Mapping[str, Function],
        marks: Marks,
        opaque: set[str],
        count: int,
        recalled: _Widened | None,
    ) -> None:
        self.fn = fn = table[name]
        self.table, self.marks, self.opaque, self.count = table, marks, opaque, count
        self.wide_values = marks[name]
        self.names = recalled.names if recalled is not None else Names()
        self.names.add(Names.of(fn))
        for each in table.values():
            if each.mirror == name:
                self.names.add(Names.of(each))  # what it recalls must not take its names
        self.builder = Builder(self.names)
        # The arrays of the values that depend on a direction, those of a mirrored function before.
        self.arrays: dict[Value, Value] = {}
        self.recalled = recalled.arrays if recalled is not None else self.arrays
        self.shapes = Shapes(fn, Names.of(fn))
        self.made_by = {s.result: s for s in walk(fn.body) if isinstance(s, Apply)}
        self.users: dict[Value, set[int]] = {}
        self._find_users(fn.body)
        for each in table.values():
            if each.mirror == name:
                self._find_users(each.body)
        for result in fn.results:
            self._used(result, id(fn))
        self.pending: list[Stmt] = []
        # The arrays that these store to first where the program's are the same in all directions.
        self.based: dict[Value, Value] = {}
        self.block_now: Block | None = None

    def _used(self, operand: Operand, by: int) -> None:
        if isinstance(operand, Value):
            self.users.setdefault(operand, set()).add(by)

    def _find_users(self, stmts: Sequence[Stmt]) -> None:
        for stmt in walk(tuple(stmts)):
            for operand in operands(stmt):
                self._used(operand, id(stmt))
            if isinstance(stmt, Recall):
                self._used(stmt.value, id(stmt))
            for block in blocks(stmt):
                for operand in block.yields:
                    self._used(operand, id(block))

    def function(self) -> Function:
        fn = self.fn
        params = tuple(self._bind(param) if self.wide(param) else param for param in fn.params)
        self._stmts(fn.body, None)
        results = tuple(self._array(r) if self.wide(r) else r for r in fn.results)
        body = tuple(self.builder.stmts)
        return replace(fn, params=params, body=body, results=results, callees=(), derived=())

    # -- values ----------------------------------------------------------------------------

    def wide(self, operand: Operand) -> bool:
        return operand in self.wide_values

    def _bind(self, value: Value) -> Value:
        self.arrays[value] = found = _wide(value, self.names)
        return found

    def _array(self, operand: Operand) -> Value:
        """Return the array of an operand along all directions: copies if it depends on none."""
        if isinstance(operand, Value) and operand in self.arrays:
            return self.arrays[operand]
        assert not self.wide(operand), operand
        every, dtype = integer(self.count), (operand.type.dtype,)
        if not isinstance(operand.type, Array):
            return self.builder.apply("full", self._strong(operand), every, params=dtype)
        assert isinstance(operand, Value)
        made = self.made_by.get(operand)
        if made is not None and made.op.name in ("full", "empty"):
            op, args = made.op, made.args
            return self.builder.apply(op, *args, every, params=dtype, hint=operand.name)
        sizes = self._sizes(operand)
        array = self.builder.apply("empty", *sizes, every, params=dtype, hint=operand.name)

        def body(at: list[Value], carried: Value) -> Value:
            return self.builder.store(carried, at, self.builder.load(operand, at[:-1]))

        return self._nest([*sizes, every], array, body)

    def _strong(self, operand: Operand) -> Operand:
        """Return a number of the type that arrays hold."""
        strong = Array(operand.type.dtype, 1).element
        if operand.type == strong:
            return operand
        if isinstance(operand, Literal):
            return Literal(operand.value, strong)
        return self.builder.apply("cast", operand, params=(strong.dtype,))

    def _sizes(self, array: Value) -> list[Operand]:
        """Return the sizes of an array without directions."""
        assert isinstance(array.type, Array)
        made = self.made_by.get(array)
        if made is not None and made.op.name in ("full", "empty"):
            return list(made.args[int(made.op.name == "full") :])
        known = self.shapes.literals(array) or (None,) * array.type.rank
        source = self.arrays.get(array, array)
        return [
            size or self.builder.apply("dim", source, params=(axis,), hint="n")
            for axis, size in enumerate(known)
        ]

    def _nest(
        self,
        sizes: Sequence[Operand],
        array: Value,
        body: Callable[[list[Value], Value], Value],
        at: tuple[Value, ...] = (),
    ) -> Value:
        """Emit loops that hand on an array, the last one innermost; return the array."""
        if not sizes:
            return body(list(at), array)
        index = self.builder.value("i" if len(sizes) > 1 else "d", INT)
        param = self.names.value(array)
        with self.builder.block() as stmts:
            found = self._nest(sizes[1:], param, body, (*at, index))
        result = self.names.value(array)
        block = Block((param,), tuple(stmts), (found,))
        label = self.names.fresh("L")
        loc = self.builder.loc
        self.builder.emit(For((result,), label, index, sizes[0], (array,), block, loc=loc))
        return result

    # -- statements that wait for their loop -----------------------------------------------

    def _waits(self, value: Operand) -> bool:
        return self.wide(value) and value not in self.arrays

    def _flush(self) -> None:
        """Emit the loops over the directions for the statements that wait."""
        if not self.pending:
            return
        stmts, based = self.pending, self.based
        self.pending, self.based = [], {}
        loc = self.builder.loc
        for product, group in itertools.groupby(stmts, lambda each: isinstance(each, Gemm)):
            some = list(group)
            if product:
                for stmt in some:
                    assert isinstance(stmt, Gemm)
                    self.builder.loc = stmt.loc
                    self._gemm(stmt)
            else:
                self.builder.loc = some[0].loc
                _Loop(self, some, based).emit()
        self.builder.loc = loc

    def _wait(self, stmt: Apply | Load | Store) -> None:
        if isinstance(stmt, Store):
            array = stmt.array
            # Those that will be in one loop with it.
            with_it = [*itertools.takewhile(_is_no_product, reversed(self.pending))]
            stored = any(isinstance(each, Store) and each.array == array for each in with_it)
            inside = {id(stmt), *map(id, with_it)}
            between = self._waits(array) and not self.users[array] <= inside
            if stored or between:
                self._flush()
            if not self.wide(array):
                self.based[array] = self._array(array)
        self.pending.append(stmt)

    def _settle(self) -> None:
        """Emit the products that wait: what follows may change what they read."""
        if any(isinstance(stmt, Gemm) for stmt in self.pending):
            self._flush()

    # -- statements ------------------------------------------------------------------------

    def _stmts(self, stmts: Sequence[Stmt], block: Block | None) -> None:
        outer, self.block_now = self.block_now, block
        for stmt in stmts:
            self.builder.loc = stmt.loc
            self._stmt(stmt)
        self._flush()
        self.block_now = outer

    def _same(self, *found: Operand) -> None:
        if any(map(self.wide, found)):
            raise DirectionsError("control flow, an index or a message depends on a direction")

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Apply(args=args):
                if any(isinstance(x.type, Array) for x in (*args, *stmt.results)):
                    self._arrays_apply(stmt)
                elif any(map(self.wide, args)):
                    self._wait(stmt)
                else:
                    self.builder.emit(stmt)
            case Load(array=array, index=index):
                self._same(*index)
                if self.wide(array):
                    self._wait(stmt)
                else:
                    self.builder.emit(stmt)
            case Store(result=result, index=index):
                self._same(*index)
                if self.wide(result):
                    self._wait(stmt)
                else:
                    self._settle()
                    self.builder.emit(stmt)
            case Check() | Print():
                self._same(*operands(stmt))
                self.builder.emit(stmt)
            case Recall(result=result, value=value):
                if not self.wide(result):
                    self.builder.emit(stmt)
                    return
                if value not in self.recalled:
                    self._flush()
                self.builder.emit(Recall(self._bind(result), self.recalled[value], stmt.loc))
            case Gemm():
                if any(map(self.wide, (stmt.a, stmt.b, *stmt.results))):
                    self.pending.append(stmt)
                else:
                    self._settle()
                    self.builder.emit(stmt)
            case If() | For() | While() | Reverse() | Call():
                if self._is_same(stmt):
                    self._settle()
                    self.builder.emit(stmt)
                    return
                self._flush()
                self._control(stmt)
            case _:
                raise DirectionsError("directions are added to value form")

    def _is_same(self, stmt: Stmt) -> bool:
        """Whether nothing in a statement depends on a direction."""
        return all(map(self._is_same_alone, walk((stmt,))))

    def _is_same_alone(self, stmt: Stmt) -> bool:
        found = (*operands(stmt), *stmt.results, *inner_values(stmt))
        if isinstance(stmt, Call) and stmt.callee in self.table:
            # One that recalls values with directions, or makes some for another one.
            if self.marks[stmt.callee]:
                return False
        return not any(map(self.wide, found))

    def _arrays_apply(self, stmt: Apply) -> None:
        name, result = stmt.op.name, stmt.results[0]
        if name == "dim":
            array = stmt.args[0]
            assert isinstance(array, Value)
            if self._waits(array):
                self._flush()
            self.builder.emit(replace(stmt, args=(self.arrays.get(array, array),)))
            return
        if not any(map(self.wide, stmt.args)):
            self.builder.emit(stmt)
            return
        self._flush()
        every = integer(self.count)
        first = stmt.args[0]
        if name == "copy":
            self.builder.emit(
                Apply((self._bind(result),), stmt.op, (self._array(first),), (), stmt.loc)
            )
        elif name == "full":
            self._same(*stmt.args[1:])
            sizes, source = [*stmt.args[1:], every], self._array(first)
            empty = self.builder.apply("empty", *sizes, params=stmt.params, hint=f"{result.name}s")
            self.arrays[result] = self._nest(
                sizes,
                empty,
                lambda at, array: self.builder.store(array, at, self.builder.load(source, at[-1:])),
            )
        elif name == "total":
            assert isinstance(first, Value)
            zero = Literal(0.0, result.type)
            sums = self.builder.apply("full", zero, every, params=(result.type.dtype,))
            source = self.arrays[first]
            self.arrays[result] = self._nest(
                [*self._sizes(first), every],
                sums,
                lambda at, array: self.builder.store(
                    array, at[-1:], self.builder.load(source, at), accumulate=True
                ),
            )
        else:
            self.arrays[result] = self._elementwise(stmt)

    def _elementwise(self, stmt: Apply) -> Value:
        """Apply a row to every element along every direction; return the array."""
        build, result = self.builder, stmt.result
        arrays = [x for x in stmt.args if isinstance(x.type, Array)]
        if not isinstance(result.type, Array) or not arrays:
            raise DirectionsError(f"{stmt.op.name} of an array that depends on a direction")
        first = arrays[0]
        assert isinstance(first, Value)
        sizes = [*self._sizes(first), integer(self.count)]
        empty = build.apply("empty", *sizes, params=(result.type.dtype,), hint=f"{result.name}s")

        def element(at: list[Value], array: Value) -> Value:
            args: list[Operand] = []
            for arg in stmt.args:
                index: Sequence[Operand] = at if isinstance(arg.type, Array) else at[-1:]
                source: Operand = arg
                if isinstance(arg, Value) and self.wide(arg):
                    source = build.load(self.arrays[arg], index)
                elif isinstance(arg, Value) and isinstance(arg.type, Array):
                    source = build.load(arg, at[:-1])
                args.append(source)
            found = build.apply(stmt.op, *args, params=stmt.params)
            return build.store(array, at, self._strong(found))

        return self._nest(sizes, empty, element)

    # -- control flow ----------------------------------------------------------------------

    def _results(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(self._bind(value) if self.wide(value) else value for value in values)

    def _yields(self, operands: Sequence[Operand], like: Sequence[Value]) -> tuple[Operand, ...]:
        return tuple(
            self._array(operand) if self.wide(value) else operand
            for operand, value in zip(operands, like, strict=True)
        )

    def _control(self, stmt: If | For | While | Reverse | Call) -> None:
        match stmt:
            case If(cond=cond, then=then, orelse=orelse):
                self._same(cond)
                arms = [self._block(arm, arm.yields, stmt.results) for arm in (then, orelse)]
                results = self._results(stmt.results)
                self.builder.emit(replace(stmt, results=results, then=arms[0], orelse=arms[1]))
            case Call():
                self._call(stmt)
            case _:
                if isinstance(stmt, For):
                    self._same(stmt.trips)
                params = stmt.body.params
                init = self._yields(stmt.init, params)
                own = self._results(params)
                first = stmt.body.yields[: int(isinstance(stmt, While))]
                self._same(*first)
                body = self._block(stmt.body, carried_yields(stmt), params)
                body = Block(own, body.stmts, (*first, *body.yields))
                results = self._results(stmt.results)
                self.builder.emit(replace(stmt, results=results, init=init, body=body))

    def _block(self, block: Block, found: Sequence[Operand], like: Sequence[Value]) -> Block:
        loc = self.builder.loc
        with self.builder.block() as stmts:
            self._stmts(block.stmts, block)
            self.builder.loc = loc
            yields = self._yields(found, like)
        return Block(block.params, tuple(stmts), yields)

    def _call(self, stmt: Call) -> None:
        if stmt.callee not in self.table or stmt.callee in self.opaque:
            raise DirectionsError("a derivative that is a program of its own")
        callee = self.table[stmt.callee]
        inner = self.marks[stmt.callee]
        args = tuple(
            self._array(arg) if param in inner else arg
            for param, arg in zip(callee.params, stmt.args, strict=True)
        )
        results = self._results(stmt.results)
        self.builder.emit(replace(stmt, args=args, results=results))

    # -- products of matrices --------------------------------------------------------------

    def _gemm(self, stmt: Gemm) -> None:
        assert stmt.result is not None
        build, c = self.builder, stmt.array
        a, b = (self.arrays.get(each, each) for each in (stmt.a, stmt.b))
        array = self._array(c)
        rows, columns = self._sizes(c)
        terms = self._sizes(stmt.a)[int(not stmt.transposed[0])]
        args = stmt, array, a, b, rows, columns, terms
        if not self.wide(stmt.b):
            # A number of the other matrix is multiplied by all directions: there is nothing to win.
            result = self._loops(*args)
        elif isinstance(terms, Literal):
            result = (self._loops if int(terms.value) < _LONG else self._products)(*args)
        else:
            arms: list[Block] = []
            small = build.apply("lt", terms, integer(_LONG))
            for make in (self._loops, self._products):
                with build.block() as stmts:
                    found = make(*args)
                arms.append(Block((), tuple(stmts), (found,)))
            (result,) = build.if_(small, arms[0], arms[1], [array.name])
        self.arrays[stmt.result] = result

    def _element(
        self, array: Value, source: Value, at: tuple[Operand, Operand], flipped: bool, d: Value
    ) -> Value:
        index: list[Operand] = list(reversed(at) if flipped else at)
        return self.builder.load(source, [*index, d] if self.wide(array) else index)

    def _loops(
        self, stmt: Gemm, array: Value, a: Value, b: Value,
        rows: Operand, columns: Operand, terms: Operand,
    ) -> Value:  # fmt: skip
        """Multiply element by element, all directions at once."""
        build, every = self.builder, integer(self.count)
        assert isinstance(array.type, Array)
        zero = Literal(0.0, array.type.element)
        known = int(terms.value) if isinstance(terms, Literal) else None

        def part(i: Value, c: Value, found: Sequence[Operand], start: bool) -> Value:
            """Add products to a row, or begin it with them."""

            def element(at: list[Value], x: Value) -> Value:
                j, d = at
                total: Operand | None = None if start else build.load(x, (i, j, d))
                for k in found:
                    left = self._element(stmt.a, a, (i, k), stmt.transposed[0], d)
                    right = self._element(stmt.b, b, (k, j), stmt.transposed[1], d)
                    product = build.apply("mul", left, right)
                    total = product if total is None else build.apply("add", total, product)
                return build.store(x, (i, j, d), zero if total is None else total)

            return self._nest([columns, every], c, element)

        def row(at: list[Value], c: Value) -> Value:
            (i,) = at
            if known is not None and known <= _AT_ONCE:
                return part(i, c, [integer(k) for k in range(known)], not stmt.accumulate)
            times = build.apply("floordiv", terms, integer(_AT_ONCE))
            done = build.apply("mul", times, integer(_AT_ONCE))
            more: Operand = times
            if not stmt.accumulate:
                some = build.apply("gt", times, integer(0))
                arms: list[Block] = []
                for count in (_AT_ONCE, 0):
                    with build.block() as stmts:
                        found = part(i, c, [integer(k) for k in range(count)], True)
                    arms.append(Block((), tuple(stmts), (found,)))
                (c,) = build.if_(some, arms[0], arms[1], [c.name])
                more = build.apply("maximum", build.apply("sub", times, integer(1)), integer(0))

            def block(here: list[Value], x: Value) -> Value:
                at = here[0] if stmt.accumulate else build.apply("add", here[0], integer(1))
                first = build.apply("mul", at, integer(_AT_ONCE))
                found = [build.apply("add", first, integer(k)) for k in range(_AT_ONCE)]
                return part(i, x, found, False)

            def one(here: list[Value], x: Value) -> Value:
                return part(i, x, [build.apply("add", done, here[0])], False)

            left = build.apply("sub", terms, done)
            return self._nest([left], self._nest([more], c, block), one)

        return self._nest([rows], array, row)

    def _products(
        self, stmt: Gemm, array: Value, a: Value, b: Value,
        rows: Operand, columns: Operand, terms: Operand,
    ) -> Value:  # fmt: skip
        """Multiply by BLAS, one direction after the other."""
        build, every = self.builder, integer(self.count)
        assert isinstance(array.type, Array)
        dtype = array.type.dtype

        def slice_(old: Value, source: Value, d: Value) -> Value:
            if not self.wide(old):
                return source
            sizes = self._sizes(old)
            empty = build.apply("empty", *sizes, params=(dtype,), hint=old.name)
            return self._nest(
                sizes, empty, lambda at, x: build.store(x, at, build.load(source, [*at, d]))
            )

        def one(at: list[Value], c: Value) -> Value:
            (d,) = at
            left, right = slice_(stmt.a, a, d), slice_(stmt.b, b, d)
            empty = build.apply("empty", rows, columns, params=(dtype,), hint=stmt.array.name)
            found = build.gemm(empty, left, right, stmt.transposed)
            return self._nest(
                [rows, columns],
                c,
                lambda here, x: build.store(
                    x, [*here, d], build.load(found, here), accumulate=stmt.accumulate
                ),
            )

        return self._nest([every], array, one)


class _Loop:
    """A loop over the directions: of statements on numbers, and of loads and stores."""

    def __init__(self, body: _Widened, stmts: Sequence[Stmt], based: Mapping[Value, Value]) -> None:
        self.based = based
        self.body, self.names, self.builder = body, body.names, body.builder
        self.inside = set(map(id, stmts))
        self.stmts = self._in_order(stmts)
        self.d = self.builder.value("d", INT)
        # By what was before the loop: what an iteration finds, what it leaves.
        self.params: dict[Value, Value] = {}
        self.now: dict[Value, Value] = {}
        self.numbers: dict[Operand, Operand] = {}
        self.versions: dict[Value, Value] = {}

    def _in_order(self, stmts: Sequence[Stmt]) -> list[Stmt]:
        """Put reads of an old version of an array in front of the store that follows it."""
        stored: dict[Value, int] = {}
        found: list[Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, Load) and stmt.array in stored:
                found.insert(stored[stmt.array], stmt)
                stored = {array: at + (at >= stored[stmt.array]) for array, at in stored.items()}
                continue
            if isinstance(stmt, Store):
                stored[stmt.array] = len(found)
            found.append(stmt)
        return found

    def emit(self) -> None:
        body, build = self.body, self.builder
        defined = [stmt.results[0] for stmt in self.stmts]
        outside = [v for v in defined if not body.users.get(v, set()) <= self.inside]
        numbers = [v for v in outside if not isinstance(v.type, Array)]
        targets = {v: self._target(v) for v in numbers}
        for stmt in self.stmts:
            array = self._before(stmt.array) if isinstance(stmt, Store) else None
            if array is not None:
                self._carry(array)
        with build.block() as stmts:
            for stmt in self.stmts:
                build.loc = stmt.loc
                self._stmt(stmt)
            for v in numbers:
                array = targets[v]
                stored = build.store(self.now[array], [self.d], self._number(v))
                self.now[array] = stored
        block = Block(tuple(self.params.values()), tuple(stmts), tuple(self.now.values()))
        results = tuple(self.names.value(array) for array in self.params)
        init = tuple(self.params)
        after = dict(zip(self.now.values(), results, strict=True))
        label = self.names.fresh("L")
        trips = integer(body.count)
        build.emit(For(results, label, self.d, trips, init, block, loc=build.loc))
        for v in numbers:
            body.arrays[v] = after[self.now[targets[v]]]
        for stmt in self.stmts:
            if isinstance(stmt, Store) and self.versions[stmt.result] in after:
                body.arrays[stmt.result] = after[self.versions[stmt.result]]

    def _carry(self, array: Value) -> None:
        if array not in self.params:
            self.params[array] = self.now[array] = self.names.value(array)

    def _target(self, value: Value) -> Value:
        """Return the array for a number that is read behind the loop.

        That of a number that a loop of the program hands on lies where the one before did.
        """
        body = self.body
        block = body.block_now
        if block is not None and block.params:
            first = len(block.yields) - len(block.params)
            for param, found in zip(block.params, block.yields[first:], strict=True):
                array = body.arrays.get(param)
                if (
                    found == value
                    and array is not None
                    and array not in self.params
                    and body.users.get(param, set()) <= self.inside
                ):
                    self._carry(array)
                    return array
        dtype = (value.type.dtype,)
        empty = self.builder.apply(
            "empty", integer(body.count), params=dtype, hint=f"{value.name}s"
        )
        self._carry(empty)
        return empty

    def _number(self, operand: Operand) -> Operand:
        """Return a number along the direction of an iteration."""
        if not self.body.wide(operand):
            return self.body._strong(operand)
        assert isinstance(operand, Value)
        if operand not in self.numbers:
            array = self.body.arrays[operand]
            found: Value = self.builder.load(self.params.get(array, array), [self.d], operand.name)
            if found.type != operand.type:
                found = self.builder.apply("cast", found, params=(str(operand.type),))
            self.numbers[operand] = found
        return self.numbers[operand]

    def _stmt(self, stmt: Stmt) -> None:
        body, build = self.body, self.builder
        match stmt:
            case Apply(op=op, args=args):
                read = tuple(self._number(x) if body.wide(x) else x for x in args)
                if op.name == "sum":
                    op = OPS["add"]
                build.emit(replace(stmt, op=op, args=read))
                self.numbers.update((each, each) for each in stmt.results)
            case Load(result=result, array=array, index=index):
                build.emit(Load(result, self._version(array), (*index, self.d), stmt.loc))
                self.numbers[result] = result
            case Store(result=result, array=array, value=value):
                old = self._version(array)
                self.versions[result] = new = build.store(
                    old, [*stmt.index, self.d], self._number(value), accumulate=stmt.accumulate
                )
                for root, now in self.now.items():
                    if now == old:
                        self.now[root] = new

    def _before(self, array: Value) -> Value | None:
        """Return an array as it was before the loop; None for one that is stored in it."""
        return self.based.get(array) or self.body.arrays.get(array)

    def _version(self, array: Value) -> Value:
        """Return an array as an iteration has it."""
        if array in self.versions:
            return self.versions[array]
        found = self._before(array)
        assert found is not None
        return self.params.get(found, found)


__all__ = ["DirectionsError", "directions"]
