"""Make a product for all iterations of a loop in front of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from adc.ir.builder import Builder
from adc.ir.core import (
    Apply,
    Block,
    Check,
    For,
    Gemm,
    Load,
    Operand,
    Stmt,
    Value,
    operands,
    walk,
)
from adc.ir.types import INT, Array
from adc.ir.walk import clone, map_blocks, map_operands, substitute, with_stmts
from adc.passes.loops.products.find import Finder, Product, kept, rest


class Split:
    """Makes one product of a loop in front of it."""

    def __init__(self, of: Finder, loop: For, found: Product, build: Builder) -> None:
        self.loop, self.found, self.build = loop, found, build
        self.names, self.shapes = build.names, of.shapes
        self.trips = loop.trips
        self.dims: dict[Value, tuple[Operand, ...]] = {}
        # By value: the array that has it for each iteration.
        self.rows: dict[Value, Value] = {}

    def run(self) -> For:
        """Emit what comes in front of the loop, and return the loop without the product."""
        build, found = self.build, self.found
        build.loc = found.sum.load.loc
        total = found.sum.total
        products = build.value("a", Array(total.type.dtype, 2))
        left = rest(self.loop, found, products)
        vectors = self.vectors(kept(self.loop, found, left))
        matrix, flipped = self.matrix()
        empty = self.empty(total, (found.sum.rows,), "a")
        build.emit(
            Gemm(products, empty, vectors, matrix, (False, not flipped), False, True, build.loc)
        )
        return self.reading(left)

    def empty(self, like: Value, dims: Sequence[Operand], hint: str = "") -> Value:
        """Emit an array with an element or array like `like` for each iteration."""
        return self.build.apply(
            "empty", self.trips, *dims, params=(like.type.dtype,), hint=hint or like.name
        )

    def vectors(self, values: list[Value]) -> Value:
        """Emit the loop that computes the vectors, and what is kept of it; return the vectors."""
        build, loop, found = self.build, self.loop, self.found
        for value in values:
            dims = self.shapes.known(value) if isinstance(value.type, Array) else ()
            assert dims is not None
            self.dims[value] = dims
        vector = self.is_whole()
        values = [value for value in values if value != vector]
        arrays = [self.empty(found.entry, (found.sum.terms,), "rows")]
        arrays += [self.empty(value, self.dims[value]) for value in values]
        index = build.value(loop.index.name, INT)
        params = tuple(map(self.names.value, arrays))
        with build.block() as stmts:
            now = dict(zip((found.entry, *values), params, strict=True))
            steps = deque(loop.body.stmts[k] for k in sorted(found.before | found.guards))
            self.steps(steps, {loop.index: index}, index, now)
        results = tuple(map(self.names.value, arrays))
        label = self.names.fresh(loop.label)
        body = Block(params, tuple(stmts), tuple(now.values()))
        build.emit(For(results, label, index, self.trips, tuple(arrays), body, loc=loop.loc))
        self.rows.update(zip(values, results[1:], strict=True))
        if vector is not None:
            self.rows[vector] = results[0]
        return results[0]

    def steps(
        self, stmts: deque[Stmt], env: dict[Value, Operand], index: Value, now: dict[Value, Value]
    ) -> None:
        """Emit what makes the vector of an iteration, and keep it in the arrays `now`.

        Each number is kept before the next check: it may be what the check depends on.
        """
        build, found = self.build, self.found
        while stmts:
            stmt = stmts.popleft()
            if isinstance(stmt, Check):
                self.guarded(substitute(stmt.cond, env), stmts, env, index, now)
                return
            for each in clone([stmt], env, self.names):
                build.emit(each)
            for value in stmt.results:
                if value in now and value != found.entry:
                    now[value] = self.keep(env[value], self.dims[value], now[value], index)

        def row(at: list[Value], array: Value) -> Value:
            inner = env | {found.sum.index: at[0]}
            for each in clone(found.vector, inner, self.names):
                build.emit(each)
            return build.store(array, (index, at[0]), inner[found.entry])

        now[found.entry] = build.nest([found.sum.terms], now[found.entry], row)

    def guarded(
        self,
        cond: Operand,
        stmts: deque[Stmt],
        env: dict[Value, Operand],
        index: Value,
        now: dict[Value, Value],
    ) -> None:
        """Emit the rest of the steps where a check holds: otherwise the iteration will raise."""
        before = tuple(now.values())
        with self.build.block() as inside:
            self.steps(stmts, env, index, now)
        then, orelse = Block((), tuple(inside), tuple(now.values())), Block((), (), before)
        hints = [value.name for value in before]
        now.update(zip(now, self.build.if_(cond, then, orelse, hints), strict=True))

    def is_whole(self) -> Value | None:
        """Return the array whose elements are those of the vector, one for one, if it is kept."""
        found = self.found
        match found.vector:
            case (Load(array=array, index=index),) if index == (found.sum.index,):
                if not found.guards and self.dims.get(array) == (found.sum.terms,):
                    return array
        return None

    def keep(self, value: Operand, dims: Sequence[Operand], array: Value, index: Value) -> Value:
        """Emit stores of a number or array at the place of an iteration."""
        build = self.build
        if not dims:
            return build.store(array, (index,), value)

        def copy(at: list[Value], version: Value) -> Value:
            assert isinstance(value, Value)
            return build.store(version, (index, *at), build.load(value, at))

        return build.nest(dims, array, copy)

    def matrix(self) -> tuple[Value, bool]:
        """Return the matrix, and whether rows and columns are swapped: itself, or a copy."""
        found, build = self.found, self.build
        of = found.sum
        fixed: dict[Value, Operand] = {}
        made = [self.loop.body.stmts[k] for k in sorted(found.fixed)]
        for stmt in clone(made, fixed, self.names):
            build.emit(stmt)
        if found.whole is not None:
            array = fixed.get(found.whole[0], found.whole[0])
            assert isinstance(array, Value)
            return array, found.whole[1]
        empty = build.apply(
            "empty", of.rows, of.terms, params=(found.element.type.dtype,), hint="matrix"
        )

        def element(at: list[Value], array: Value) -> Value:
            env = fixed | {of.row: at[0], of.index: at[1]}
            for stmt in clone(found.matrix, env, self.names):
                build.emit(stmt)
            return build.store(array, at, env[found.element])

        return build.nest([of.rows, of.terms], empty, element), False

    # -- the rest of the iteration -----------------------------------------------------------------

    def reading(self, left: Sequence[Stmt]) -> For:
        """Return the loop with the rest of each iteration, which reads what is kept for it."""
        loop, build = self.loop, self.build
        env: dict[Value, Operand] = {}
        with build.block() as fetched:
            for value in self.rows:
                if not isinstance(value.type, Array):
                    env[value] = self.number(value)
            for value in self.whole(left):
                env[value] = self.copied(value)
        stmts = (*fetched, *self.stmts(left, env))
        yields = tuple(substitute(each, env) for each in loop.body.yields)
        return replace(loop, body=replace(loop.body, stmts=stmts, yields=yields))

    def number(self, value: Value) -> Value:
        """Load a number, where Python's have become NumPy's."""
        found = self.build.load(self.rows[value], (self.loop.index,), value.name)
        if found.type != value.type:
            found = self.build.apply("cast", found, params=(str(value.type),), hint=value.name)
        return found

    def whole(self, stmts: Sequence[Stmt]) -> list[Value]:
        """Return the arrays that are read by more than loads and questions of their size."""
        others = {each for each in self.rows if each in self.loop.body.yields}
        for stmt in walk(tuple(stmts)):
            if isinstance(stmt, Load) or (isinstance(stmt, Apply) and stmt.op.asks_shape):
                continue
            reads = {each for each in operands(stmt) if isinstance(each, Value)}
            others |= reads & self.rows.keys()
        return [value for value in self.rows if value in others and isinstance(value.type, Array)]

    def copied(self, value: Value) -> Value:
        """Emit an array of an iteration's own."""
        dims = self.dims[value]
        empty = self.build.apply("empty", *dims, params=(value.type.dtype,), hint=value.name)

        def copy(at: list[Value], array: Value) -> Value:
            found = self.build.load(self.rows[value], (self.loop.index, *at))
            return self.build.store(array, at, found)

        return self.build.nest(dims, empty, copy)

    def stmts(self, stmts: Iterable[Stmt], env: dict[Value, Operand]) -> list[Stmt]:
        """Return statements that read elements of kept arrays from those of the block."""
        done: list[Stmt] = []
        for old in stmts:
            match old:
                case Load(array=array, index=index) if array in self.rows and array not in env:
                    stmt: Stmt = replace(
                        old, array=self.rows[array], index=(self.loop.index, *index)
                    )
                case Apply(args=(Value() as array,), op=op) if (
                    op.asks_shape and array in self.rows and array not in env
                ):
                    env[old.result] = self.dims[array][int(old.params[0])]
                    continue
                case _:
                    stmt = map_blocks(old, lambda b: self.block(b, env))
            done.append(map_operands(stmt, lambda operand: substitute(operand, env)))
        return done

    def block(self, block: Block, env: dict[Value, Operand]) -> Block:
        return with_stmts(
            block, self.stmts(block.stmts, env), [substitute(x, env) for x in block.yields]
        )


__all__ = ["Split"]
