"""Statements without control flow: operations, elements, whole arrays, checks and prints."""

from __future__ import annotations

from adc.backend.common import expressions
from adc.backend.common.expressions import Expr, numpy_name
from adc.backend.common.writer import INLINE, Writer
from adc.ir import ops
from adc.ir.core import Apply, Check, Gemm, Load, Operand, Print, Value, Write
from adc.ir.types import Array


class StraightLine(Writer):
    """Writes the statements that neither branch nor loop, except over the elements of an array."""

    def apply(self, stmt: Apply) -> None:
        op, result = stmt.op, stmt.result
        if isinstance(result.type, Array):
            self.make_array(stmt, result.type)
            return
        if op.undefined:
            zero = {"b": False, "f": 0.0}.get(result.type.kind, 0)
            self.assign(result, Expr(expressions.literal(zero, result.type)), stmt.loc)
            return
        if op.reduces:
            self.total(stmt)
            return
        if op.reorders and stmt.args[0] in self._lanes:
            self.add_to_lane(stmt)
            return
        twice = expressions.uses_twice(op)
        args = [self.atom(arg) if twice else self.expr(arg) for arg in stmt.args]
        if op in (ops.integer.wrap, ops.integer.inside, ops.integer.trips):
            args = [
                arg if operand.type.dtype == "i64" else Expr(f"int64({arg.bare})", arg.reads)
                for arg, operand in zip(args, stmt.args, strict=True)
            ]
        if sum(len(arg.text) for arg in args) > INLINE:
            args = [self.short(arg, operand) for arg, operand in zip(args, stmt.args, strict=True)]
        of = stmt.args[-1].type if stmt.args else result.type
        self.assign(result, expressions.apply(op, stmt.params, args, result.type, of), stmt.loc)

    def short(self, arg: Expr, operand: Operand) -> Expr:
        """Return a long operand as a variable."""
        if len(arg.text) < 20 or not isinstance(operand, Value) or operand in self._names:
            return arg
        self.line(f"{self.name(operand)} = {arg.bare}")
        return Expr(self.name(operand))

    def load(self, stmt: Load) -> None:
        found = self.element(self.name(stmt.array), stmt.index)
        self.assign(stmt.result, found, stmt.loc)

    def write(self, stmt: Write) -> None:
        target, found = self.element(self.name(stmt.array), stmt.index), self.text(stmt.value)
        self.flush(loads=True)
        self.comment(stmt.loc)
        self.line(f"{target.text} {'+=' if stmt.accumulate else '='} {found}")

    def add_to_lane(self, stmt: Apply) -> None:
        found = self.text(stmt.args[1])
        self.comment(stmt.loc)
        self.line(f"{self._lanes[stmt.result]}[unsigned({self._lane})] += {found}")

    def gemm(self, stmt: Gemm) -> None:
        a, b = (
            self.text(operand) + ".T" * transposed
            for operand, transposed in zip((stmt.a, stmt.b), stmt.transposed, strict=True)
        )
        self.flush(loads=True)
        self.comment(stmt.loc)
        verb = "gemm_add" if stmt.accumulate else "gemm"
        self.line(f"{verb}(state, {self.name(stmt.array)}, {a}, {b})")

    def check(self, stmt: Check) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        self.line(f"if not {cond.text}:")
        self._indent += 1
        for k, arg in enumerate(stmt.args):
            self.line(f"state[OPERANDS{f' + {k}' * (k > 0)}] = {self.word(arg)}")
        place = f"{stmt.loc.file}:{stmt.loc.line}" if stmt.loc else ""
        site = self._shared.site(stmt, self._fn.name)
        self.line(f"state[STATUS] = {site}  # {stmt.error} {place}".rstrip())
        self.leave()
        self._indent -= 1

    def print_(self, stmt: Print) -> None:
        self.flush()
        self.comment(stmt.loc)
        self.line(f"note(state, {self._shared.site(stmt, self._fn.name)})")
        for arg in stmt.args:
            self.line(f"note(state, {self.word(arg)})")

    # -- whole arrays ----------------------------------------------------------------------

    def new_array(self, value: Value, shape: str, memory: str = "") -> str:
        """Write the making of an array of undefined elements, or in the memory of a dead one."""
        name, dtype = self.name(value), numpy_name(value.type.dtype)
        where = f"fresh({dtype}" if value in self._escaping else f"empty(state, {dtype}"
        if memory:
            where = f"reuse({memory}, {dtype}"
        if value in self._stacked:
            where = f"stacked({dtype}"
        if value in self._returned:
            where = f"returned(state, {self._returned[value]}, {dtype}"
        self.line(f"{name} = {where}, {shape})")
        return name

    def make_array(self, stmt: Apply, ty: Array) -> None:
        op, result, args = stmt.op, stmt.result, stmt.args
        if self._counts.get(result, 0) == 0:
            return
        if op.sizes is not None:
            dims = args[op.sizes :]
            memory = ""
            if dims and isinstance(dims[-1].type, Array):
                memory, dims = self.text(dims[-1]), dims[:-1]
            shape = "".join(f"{self.int64(dim).bare}, " for dim in dims)
            value = self.text(args[0]) if op.fills else ""
            self.flush(loads=True)
            self.comment(stmt.loc)
            shape = f"({shape.rstrip() if ty.rank == 1 else shape[:-2]})"
            name = self.new_array(result, shape, memory)
            if value:
                self.line(f"fill({name}, {value})")
        elif op.copies:
            self.flush(loads=True)
            self.comment(stmt.loc)
            source = self.text(args[0])
            name = self.new_array(result, f"{source}.shape")
            self.line(f"copy_into({name}, {source})")
        elif op.aliases == "whole":
            self.flush(loads=True)
            self.comment(stmt.loc)
            self.line(f"{self.name(result)} = {self.text(args[0])}  # in place")
        elif op.aliases == "part":
            source, *index = (self.text(arg) for arg in args)
            self.flush(loads=True)
            self.comment(stmt.loc)
            self.line(f"{self.name(result)} = row_at({', '.join([source, *index])})")
        elif op is ops.array.slot:
            rank = int(stmt.params[1])
            each = [self.int64(dim).bare for dim in args]
            self.flush(loads=True)
            sizes = ", ".join(
                f"({', '.join(each[k : k + rank])},)" for k in range(0, len(each), rank)
            )
            self.line(f"{self.name(result)} = slot(state, {numpy_name(ty.dtype)}, {sizes})")
        elif op.undefined:
            self.new_array(result, f"({'0, ' * ty.rank})")
        else:
            self.elementwise(stmt, ty)

    def nest(self, shape: str, rank: int) -> list[str]:
        """Open loops over the elements of an array."""
        index = [self.helper(f"i{axis}") for axis in range(rank)]
        for axis, name in enumerate(index):
            self.line(f"for {name} in range({shape}.shape[{axis}]):")
            self._indent += 1
        return index

    def elementwise(self, stmt: Apply, ty: Array) -> None:
        found = {
            arg: self.expr(arg) if isinstance(arg.type, Array) else self.atom(arg)
            for arg in stmt.args
        }
        self.flush(loads=True)
        self.comment(stmt.loc)
        like = next(found[arg].text for arg in stmt.args if isinstance(arg.type, Array))
        name = self.new_array(stmt.result, f"{like}.shape")
        index = ", ".join(self.nest(like, ty.rank))
        args = [
            Expr(f"{found[arg].text}[{index}]") if isinstance(arg.type, Array) else found[arg]
            for arg in stmt.args
        ]
        of = stmt.args[-1].type
        value = expressions.apply(stmt.op, stmt.params, args, ty.element, of)
        self.line(f"{name}[{index}] = {value.bare}")
        self._indent -= ty.rank

    def total(self, stmt: Apply) -> None:
        array = stmt.args[0]
        assert isinstance(array.type, Array)
        self.flush(loads=True)
        self.comment(stmt.loc)
        source, name = self.text(array), self.name(stmt.result)
        # In double precision, from the first element to the last.
        part = name if array.type.dtype == "f64" else self.helper(f"{name}_sum")
        self.line(f"{part} = 0.0")
        index = ", ".join(self.nest(source, array.type.rank))
        self.line(f"{part} += {source}[{index}]")
        self._indent -= array.type.rank
        if part != name:
            self.line(f"{name} = float32({part})")
