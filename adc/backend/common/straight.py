"""Statements without control flow: operations, elements, whole arrays, checks and prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adc.backend.common import expressions, printer
from adc.backend.common.expressions import dtype_of, state, zero
from adc.backend.common.syntax import (
    STATE,
    Assign,
    Attribute,
    Binary,
    Call,
    Constant,
    Element,
    Expr,
    For,
    Increase,
    Name,
    Size,
    Store,
    Tuple,
    Unary,
)
from adc.backend.common.writer import INLINE, Writer
from adc.ir import core, ops
from adc.ir.core import ELEMENT, SHAPE, Apply, Check, Gemm, Load, Operand, Print, Value, Write
from adc.ir.text.outside import TO
from adc.ir.types import F64, Array


def shape_of(array: Expr) -> Attribute:
    return Attribute(array, "shape")


class StraightLine(Writer):
    """Writes the statements that neither branch nor loop, except over the elements of an array."""

    def apply(self, stmt: Apply) -> None:
        op, result = stmt.op, stmt.result
        if isinstance(result.type, Array):
            self.make_array(stmt, result.type)
            return
        if op.undefined:
            self.assign(result, zero(result.type), stmt.loc)
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
                arg if operand.type.dtype == "i64" else Call("int64", (arg,))
                for arg, operand in zip(args, stmt.args, strict=True)
            ]
        if sum(len(printer.operand(arg)) for arg in args) > INLINE:
            args = [self.short(arg, operand) for arg, operand in zip(args, stmt.args, strict=True)]
        of = stmt.args[-1].type if stmt.args else result.type
        self.assign(result, expressions.apply(op, stmt.params, args, result.type, of), stmt.loc)

    def short(self, arg: Expr, operand: Operand) -> Expr:
        """Return a long operand as a variable."""
        if not isinstance(operand, Value) or operand in self._names:
            return arg
        if len(printer.operand(arg)) < 20:
            return arg
        self.set(self.name(operand), arg)
        return self.variable(operand)

    def load(self, stmt: Load) -> None:
        found = self.element(self.name(stmt.array), stmt.index)
        self.assign(stmt.result, expressions.loaded(found, stmt.array.type), stmt.loc)

    def write(self, stmt: Write) -> None:
        target, found = self.element(self.name(stmt.array), stmt.index), self.expr(stmt.value)
        self.flush(loads=True)
        self.comment(stmt.loc)
        if stmt.accumulate and not expressions.is_stored_half(stmt.array.type):
            self.add(Increase(target, "+", found))
            return
        if stmt.accumulate:
            found = Binary("+", expressions.loaded(target, stmt.array.type), found)
        self.add(Store(target, expressions.stored(found, stmt.array.type)))

    def add_to_lane(self, stmt: Apply) -> None:
        found = self.expr(stmt.args[1])
        self.comment(stmt.loc)
        lanes = Name(self._lanes[stmt.result])
        self.add(Increase(Element(lanes, (Call("unsigned", (self._lane,)),)), "+", found))

    def gemm(self, stmt: Gemm) -> None:
        given = [self.expr(stmt.a), self.expr(stmt.b)]
        a, b = (
            Attribute(array, "T") if transposed else array
            for array, transposed in zip(given, stmt.transposed, strict=True)
        )
        self.flush(loads=True)
        self.comment(stmt.loc)
        self.do("gemm_add" if stmt.accumulate else "gemm", STATE, self.variable(stmt.array), a, b)

    def check(self, stmt: Check) -> None:
        cond = self.expr(stmt.cond)
        self.flush()
        self.comment(stmt.loc)
        with self.branch(Unary("not", cond)):
            for k, arg in enumerate(stmt.args):
                self.add(Store(state("OPERANDS", k), self.word(arg)))
            place = f"{stmt.loc.file}:{stmt.loc.line}" if stmt.loc else ""
            site = Constant(self._shared.site(stmt, self._fn.name))
            remark = f"{stmt.error} {place}".rstrip()
            self.add(Store(state("STATUS"), site, remark=remark))
            self.leave()

    def note_call(self, stmt: core.Call) -> None:
        """Note that a call led to an error, for its traceback."""
        self.do("note_caller", STATE, Constant(self._shared.site(stmt, self._fn.name)))

    def print_(self, stmt: Print) -> None:
        if stmt.to == TO:
            return  # `routine` writes the call
        self.flush()
        self.comment(stmt.loc)
        self.do("note", STATE, Constant(self._shared.site(stmt, self._fn.name)))
        for arg in stmt.args:
            self.do("note", STATE, self.word(arg))
        if stmt.to not in (SHAPE, ELEMENT):
            self.stop_if(Call("say", (STATE,)))
        if stmt.result is not None:
            heard = "heard" if stmt.result.type.kind == "f" else "heard_integer"
            self.set(self.name(stmt.result), Call(heard, (STATE,)))

    # -- whole arrays ----------------------------------------------------------------------

    def new_array(self, value: Value, shape: Expr, memory: Expr | None = None) -> Name:
        """Write the making of an array of undefined elements, or in the memory of a dead one."""
        dtype = dtype_of(value.type)
        if value in self._returned:
            made = Call("returned", (STATE, Constant(self._returned[value]), dtype, shape))
        elif value in self._stacked:
            made = Call("stacked", (dtype, shape))
        elif memory is not None:
            made = Call("reuse", (memory, dtype, shape))
        elif value in self._escaping:
            made = Call("fresh", (dtype, shape))
        else:
            made = Call("empty", (STATE, dtype, shape))
        self.set(self.name(value), made)
        return self.variable(value)

    def make_array(self, stmt: Apply, ty: Array) -> None:
        op, result, args = stmt.op, stmt.result, stmt.args
        if self._counts.get(result, 0) == 0:
            return
        if op.sizes is not None:
            self.make_of_sizes(stmt, op.sizes)
        elif op.copies:
            self.flush(loads=True)
            self.comment(stmt.loc)
            source = self.expr(args[0])
            self.do("copy_into", self.new_array(result, shape_of(source)), source)
        elif op.aliases == "whole":
            self.flush(loads=True)
            self.comment(stmt.loc)
            self.add(Assign(self.name(result), self.expr(args[0]), remark="in place"))
        elif op is ops.array.part:
            count = int(stmt.params[0])
            index = Tuple(tuple(self.expr(arg) for arg in args[1 : 1 + count]))
            extents = Tuple(tuple(self.int64(arg) for arg in args[1 + count :]))
            stack = self.expr(args[0])
            self.flush(loads=True)
            self.comment(stmt.loc)
            self.set(self.name(result), Call("part_of", (STATE, stack, index, extents)))
        elif op.aliases == "part":
            found = tuple(self.expr(arg) for arg in args)
            self.flush(loads=True)
            self.comment(stmt.loc)
            self.set(self.name(result), Call("row_at", found))
        elif op is ops.array.slot:
            rank = int(stmt.params[1])
            each = [self.int64(dim) for dim in args]
            self.flush(loads=True)
            sizes = [Tuple(tuple(each[k : k + rank])) for k in range(0, len(each), rank)]
            self.set(self.name(result), Call("slot", (STATE, dtype_of(ty), *sizes)))
        elif op.undefined:
            self.new_array(result, Tuple((Constant(0),) * ty.rank, loose=True))
        else:
            self.elementwise(stmt, ty)

    def make_of_sizes(self, stmt: Apply, first: int) -> None:
        """Write the making of an array whose sizes are operands, from the `first` on."""
        dims = stmt.args[first:]
        memory = None
        if dims and isinstance(dims[-1].type, Array):
            memory, dims = self.expr(dims[-1]), dims[:-1]
        shape = Tuple(tuple(self.int64(dim) for dim in dims))
        value = None
        if stmt.op.fills:
            value = expressions.stored(self.expr(stmt.args[0]), stmt.result.type)
        self.flush(loads=True)
        self.comment(stmt.loc)
        made = self.new_array(stmt.result, shape, memory)
        if value is not None:
            self.do("fill", made, value)

    @contextmanager
    def nest(self, array: Expr, rank: int) -> Iterator[tuple[Expr, ...]]:
        """Write loops over the elements of an array, and what is done inside."""
        index = [self.helper(f"i{axis}") for axis in range(rank)]
        with self.inside():
            for axis, name in enumerate(index):
                self.enter(For(name, (Size(array, axis),)))
            yield tuple(map(Name, index))

    def elementwise(self, stmt: Apply, ty: Array) -> None:
        found = {
            arg: self.expr(arg) if isinstance(arg.type, Array) else self.atom(arg)
            for arg in stmt.args
        }
        self.flush(loads=True)
        self.comment(stmt.loc)
        like = next(found[arg] for arg in stmt.args if isinstance(arg.type, Array))
        made = self.new_array(stmt.result, shape_of(like))
        with self.nest(like, ty.rank) as index:
            args = [
                Element(found[arg], index) if isinstance(arg.type, Array) else found[arg]
                for arg in stmt.args
            ]
            of = stmt.args[-1].type
            value = expressions.apply(stmt.op, stmt.params, args, ty.element, of)
            self.add(Store(Element(made, index), value))

    def total(self, stmt: Apply) -> None:
        array = stmt.args[0]
        assert isinstance(array.type, Array)
        self.flush(loads=True)
        self.comment(stmt.loc)
        source, name = self.expr(array), self.name(stmt.result)
        # In double precision, from the first element to the last.
        part = name if array.type.dtype == "f64" else self.helper(f"{name}_sum", F64)
        self.set(part, Constant(0.0))
        with self.nest(source, array.type.rank) as index:
            self.add(Increase(Name(part), "+", Element(source, index)))
        if part != name:
            self.set(name, Call("float32", (Name(part),)))
