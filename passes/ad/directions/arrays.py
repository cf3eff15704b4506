"""Arrays with a last axis of directions: operations on whole arrays, and products of matrices.

A value that depends on a direction has an array; one that does not is broadcast into one where an
array is required. Operations on whole arrays become loops over their elements and, innermost, the
directions. So do products of matrices::

    %c.dot = gemm[nn] %o %a.dot %b        for %i, %j, %d: %c.dots[%i, %j, %d] =
                                            %a.dots[%i, 0, %d] * %b[0, %j] + ...

A matrix that all directions share is read once for all of them: BLAS, which would run once per
direction, gains nothing. Where the right operand has directions, BLAS is used if sums have many
terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import Builder, integer, zero
from adc.ir.core import (
    Apply,
    Block,
    Function,
    Gemm,
    Literal,
    Operand,
    Recall,
    Stmt,
    Value,
    blocks,
    operands,
    walk,
)
from adc.ir.types import Array
from adc.ir.walk import Names

# BLAS multiplies matrices per direction if sums have at least this many terms.
_LONG = 32
# Other sums are evaluated in blocks of this many terms.
_AT_ONCE = 4


class DirectionsError(Exception):
    """Something that depends on a direction must be the same along all of them."""


def _wide(value: Value, names: Names) -> Value:
    """Return the array of a value along all directions."""
    rank = value.type.rank
    return Value(names.fresh(f"{value.name}s"), Array(value.type.dtype, rank + 1))


class Arrays:
    """The arrays of the values of one function that depend on a direction.

    Attributes
    ----------
    arrays : dict
        By value of the program, as far as it has been rewritten.
    users : dict
        The statements and blocks that read a value, by identity.
    within : Block or None
        The block of the program that is being rewritten.
    """

    def __init__(
        self,
        fn: Function,
        names: Names,
        wide: frozenset[Value],
        count: int,
        recalling: Sequence[Function],
    ) -> None:
        self.names, self.count = names, count
        self.builder = Builder(names)
        self.arrays: dict[Value, Value] = {}
        self.users: dict[Value, set[int]] = {}
        self.within: Block | None = None
        self._wide = wide
        self._shapes = Shapes(fn, Names.of(fn))
        self._made_by = {s.result: s for s in walk(fn.body) if isinstance(s, Apply)}
        for each in (fn, *recalling):
            self._find_users(each.body)
        for result in fn.results:
            self._used(result, id(fn))

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

    def wide(self, operand: Operand) -> bool:
        return operand in self._wide

    def bind(self, value: Value) -> Value:
        self.arrays[value] = found = _wide(value, self.names)
        return found

    def array(self, operand: Operand) -> Value:
        """Return the array of an operand along all directions: copies if it depends on none."""
        if isinstance(operand, Value) and operand in self.arrays:
            return self.arrays[operand]
        assert not self.wide(operand), operand
        every, dtype = integer(self.count), (operand.type.dtype,)
        if not isinstance(operand.type, Array):
            return self.builder.apply("full", self.strong(operand), every, params=dtype)
        assert isinstance(operand, Value)
        made = self._made_by.get(operand)
        if made is not None and made.op.sizes is not None:
            op, args = made.op, made.args
            return self.builder.apply(op, *args, every, params=dtype, hint=operand.name)
        sizes = self.sizes(operand)
        array = self.builder.apply("empty", *sizes, every, params=dtype, hint=operand.name)

        def body(at: list[Value], carried: Value) -> Value:
            return self.builder.store(carried, at, self.builder.load(operand, at[:-1]))

        return self.builder.nest([*sizes, every], array, body)

    def strong(self, operand: Operand) -> Operand:
        """Return a number of the type that arrays hold."""
        strong = Array(operand.type.dtype, 1).element
        if operand.type == strong:
            return operand
        if isinstance(operand, Literal):
            return Literal(operand.value, strong)
        return self.builder.apply("cast", operand, params=(strong.dtype,))

    def sizes(self, array: Value) -> list[Operand]:
        """Return the sizes of an array without directions."""
        assert isinstance(array.type, Array)
        made = self._made_by.get(array)
        if made is not None and made.op.sizes is not None:
            return list(made.args[made.op.sizes :])
        known = self._shapes.literals(array)
        source = self.arrays.get(array, array)
        return [
            size or self.builder.apply("dim", source, params=(axis,), hint="n")
            for axis, size in enumerate(known)
        ]

    # -- operations on whole arrays --------------------------------------------------------

    def applied(self, stmt: Apply) -> None:
        """Emit an operation on arrays of which some depend on a direction; no size does."""
        build, result, first = self.builder, stmt.result, stmt.args[0]
        every = integer(self.count)
        if stmt.op.copies:
            source = self.array(first)
            build.emit(Apply((self.bind(result),), stmt.op, (source,), (), stmt.loc))
        elif stmt.op.fills:
            sizes, source = [*stmt.args[1:], every], self.array(first)
            empty = build.apply("empty", *sizes, params=stmt.params, hint=f"{result.name}s")
            self.arrays[result] = self.builder.nest(
                sizes,
                empty,
                lambda at, array: build.store(array, at, build.load(source, at[-1:])),
            )
        elif stmt.op.reduces:
            assert isinstance(first, Value)
            sums = build.apply(
                "full", zero(result.type), every, params=(result.type.dtype,), hint="sums"
            )
            source = self.arrays[first]
            self.arrays[result] = self.builder.nest(
                [*self.sizes(first), every],
                sums,
                lambda at, array: build.store(
                    array, at[-1:], build.load(source, at), accumulate=True
                ),
            )
        else:
            self.arrays[result] = self._elementwise(stmt)

    def _elementwise(self, stmt: Apply) -> Value:
        """Apply an operation to every element along every direction; return the array."""
        build, result = self.builder, stmt.result
        arrays = [x for x in stmt.args if isinstance(x.type, Array)]
        if not isinstance(result.type, Array) or not arrays:
            raise DirectionsError(f"{stmt.op.name} of an array that depends on a direction")
        first = arrays[0]
        assert isinstance(first, Value)
        sizes = [*self.sizes(first), integer(self.count)]
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
            return build.store(array, at, self.strong(found))

        return self.builder.nest(sizes, empty, element)

    # -- products of matrices --------------------------------------------------------------

    def multiplied(self, stmt: Gemm) -> None:
        assert stmt.result is not None
        build, c = self.builder, stmt.array
        a, b = (self.arrays.get(each, each) for each in (stmt.a, stmt.b))
        array = self.array(c)
        rows, columns = self.sizes(c)
        terms = self.sizes(stmt.a)[int(not stmt.transposed[0])]
        args = stmt, array, a, b, rows, columns, terms
        if not self.wide(stmt.b):
            # A number of the other matrix is multiplied by all directions: BLAS gains nothing.
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
            """Add products to a row, or initialise it with them."""

            def element(at: list[Value], x: Value) -> Value:
                j, d = at
                total: Operand | None = None if start else build.load(x, (i, j, d))
                for k in found:
                    left = self._element(stmt.a, a, (i, k), stmt.transposed[0], d)
                    right = self._element(stmt.b, b, (k, j), stmt.transposed[1], d)
                    product = build.apply("mul", left, right)
                    total = product if total is None else build.apply("add", total, product)
                return build.store(x, (i, j, d), zero if total is None else total)

            return self.builder.nest([columns, every], c, element)

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
            return self.builder.nest([left], self.builder.nest([more], c, block), one)

        return self.builder.nest([rows], array, row)

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
            sizes = self.sizes(old)
            empty = build.apply("empty", *sizes, params=(dtype,), hint=old.name)
            return self.builder.nest(
                sizes, empty, lambda at, x: build.store(x, at, build.load(source, [*at, d]))
            )

        def one(at: list[Value], c: Value) -> Value:
            (d,) = at
            left, right = slice_(stmt.a, a, d), slice_(stmt.b, b, d)
            empty = build.apply("empty", rows, columns, params=(dtype,), hint=stmt.array.name)
            found = build.gemm(empty, left, right, stmt.transposed)
            return self.builder.nest(
                [rows, columns],
                c,
                lambda here, x: build.store(
                    x, [*here, d], build.load(found, here), accumulate=stmt.accumulate
                ),
            )

        return self.builder.nest([every], array, one)


__all__ = ["Arrays", "DirectionsError"]
