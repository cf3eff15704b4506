"""Make a product for all iterations of a loop in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adc.ir.builder import Builder
from adc.ir.core import Apply, Block, For, Gemm, Load, Operand, Stmt, Value, operands, walk
from adc.ir.types import INT, Array
from adc.ir.walk import clone, map_blocks, map_operands, substitute, with_stmts
from adc.passes.loops.products.find import Finder, Product, kept, rest


class Split:
    """Makes one product of a loop in front of it."""

    def __init__(
        self, of: Finder, loop: For, found: Product, build: Builder, before: list[Stmt]
    ) -> None:
        self.of, self.loop, self.found, self.build, self.before = of, loop, found, build, before
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
        env: dict[Value, Operand] = {loop.index: index}
        params = tuple(map(self.names.value, arrays))
        with build.block() as stmts:
            for stmt in clone([loop.body.stmts[k] for k in sorted(found.before)], env, self.names):
                build.emit(stmt)

            def row(at: list[Value], array: Value) -> Value:
                inner = env | {found.sum.index: at[0]}
                for stmt in clone(found.vector, inner, self.names):
                    build.emit(stmt)
                return build.store(array, (index, at[0]), inner[found.entry])

            yields = [build.nest([found.sum.terms], params[0], row)]
            for value, param in zip(values, params[1:], strict=True):
                yields.append(self.keep(env[value], self.dims[value], param, index))
        results = tuple(map(self.names.value, arrays))
        label = self.names.fresh(loop.label)
        body = Block(params, tuple(stmts), tuple(yields))
        build.emit(For(results, label, index, self.trips, tuple(arrays), body, loc=loop.loc))
        self.rows.update(zip(values, results[1:], strict=True))
        if vector is not None:
            self.rows[vector] = results[0]
        return results[0]

    def is_whole(self) -> Value | None:
        """Return the array whose elements are those of the vector, one for one, if it is kept."""
        match self.found.vector:
            case (Load(array=array, index=index),) if index == (
                self.found.sum.index,
            ) and self.dims.get(array) == (self.found.sum.terms,):
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
        found, of = self.found, self.found.sum
        match found.matrix:
            case (Load(array=array, index=index),) if (
                isinstance(array.type, Array)
                and (array.type.rank, array.type.layout) == (2, "C")
                and index in ((of.row, of.index), (of.index, of.row))
            ):
                flipped = index[0] == of.index
                sizes = (of.rows, of.terms)
                if self.of.have_sizes(array, sizes[::-1] if flipped else sizes):
                    return array, flipped
        build = Builder(self.names)
        build.loc = of.load.loc
        empty = build.apply(
            "empty", of.rows, of.terms, params=(found.element.type.dtype,), hint="matrix"
        )

        def element(at: list[Value], array: Value) -> Value:
            env: dict[Value, Operand] = {of.row: at[0], of.index: at[1]}
            for stmt in clone(found.matrix, env, self.names):
                build.emit(stmt)
            return build.store(array, at, env[found.element])

        copied = build.nest([of.rows, of.terms], empty, element)
        self.before += build.stmts
        return copied, False

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
