"""Writes an emitted function as LLVM's instructions: its statements, and a frame for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, assert_never

from llvmlite import ir

from adc.backend.common import syntax
from adc.backend.common.syntax import (
    Assign,
    Break,
    Call,
    Comment,
    Constant,
    Delete,
    Do,
    Element,
    Expr,
    For,
    Forever,
    Global,
    If,
    Increase,
    Name,
    Pass,
    Return,
    Stmt,
    Store,
    Unary,
    Unpack,
)
from adc.backend.cpu.expressions import OPERATORS, Expressions, Translation
from adc.backend.cpu.inference import table_type
from adc.backend.cpu.streaming import Rows
from adc.backend.cpu.values import (
    Array,
    Scalar,
    flat_result,
    flat_types,
)
from adc.backend.numba_api import RETCODE_OK, cgutils, types

_I64 = ir.IntType(64)


def _counted(value: Expr) -> bool:
    """Whether an expression brings a reference of its own to an array; a part has none."""
    return isinstance(value, Call) and value.function not in ("part_of", "row_at")


class Function(Expressions):
    """Writes one function."""

    def __init__(
        self,
        module: Translation,
        name: str,
        args: tuple[Any, ...],
        function: Any,
        homes: Sequence[str] = (),
    ) -> None:
        super().__init__(module, name, args, function)
        self.homes = homes or [""] * len(args)
        self.exits: list[Any] = []
        self.failures: dict[str, Any] = {}
        self.exit = function.append_basic_block("exit")
        self.rows = Rows(self)
        # Then its place on the stack has to be small.
        self.recurs = "enter" in syntax.used(self.tree.body)

    def run(self) -> None:
        context, builder = self.context, self.builder
        kinds = flat_types(self.args) if self.tree.is_flat else self.args
        given = iter(context.call_conv.decode_arguments(builder, kinds, self.function))
        start = self.function.append_basic_block("start")
        for name, ty, home in zip(self.tree.params, self.args, self.homes, strict=True):
            if self.tree.is_flat:
                found = self.assembled(ty, given)
            else:
                found = self.unpacked(ty, next(given))
            if isinstance(found, Array):
                found = replace(found, home=home)
            if name in self.tree.tables:
                found = self.table(table_type(self.tree.variables[name]), found)
            if self.counts[name] == 1:
                self.values[name] = found
            else:
                self.bind(name, found)
        builder.branch(start)
        builder.position_at_end(start)
        self.block(self.tree.body)
        builder.position_at_end(self.exit)
        for slot in self.owners.values():
            self.reference("NRT_decref", builder.load(slot))
        context.call_conv._return_errcode_raw(builder, RETCODE_OK)

    def block(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(name, value):
                self.bind(name, self.expr(value), counted=_counted(value))
            case Unpack(targets, value):
                counted = _counted(value)
                values = self.expr(value)
                for found in values:  # before a variable that holds one of them gets another
                    if isinstance(found, Array) and found.owner is not None and not counted:
                        self.reference("NRT_incref", found.owner)
                for name, found in zip(targets, values, strict=True):
                    self.bind(name, found, counted=True)
            case Store(Element(array, index), value):
                place = self.rows.place(stmt) or self.place(self.expr(array), index)
                self.store(place, self.expr(value))
            case Increase():
                self.increase(stmt)
            case Do(call):
                self.expr(call)
            case For():
                self.loop(stmt)
            case Forever(body):
                self.endless(body)
            case If():
                self.branch(stmt)
            case Return(value):
                self.leave(value)
            case Delete(names):
                for name in names:
                    self.release(name)
            case Break():
                self.builder.branch(self.exits[-1])
            case Pass() | Comment():
                pass
            case _:
                assert_never(stmt)

    def increase(self, stmt: Increase) -> None:
        match stmt.target:
            case Name(name):
                args = [self.read(name), self.expr(stmt.value)]
                self.bind(name, self.apply(OPERATORS[stmt.op], args))
            case Element(array, index):
                place = self.place(self.expr(array), index)
                args = [self.element(*place), self.expr(stmt.value)]
                self.store(place, self.apply(OPERATORS[stmt.op], args))

    def store(self, place: tuple[Any, Any, str], value: Scalar) -> None:
        ty, address, home = place
        content = self.context.cast(self.builder, value.value, value.type, ty.dtype)
        align = None if ty.aligned else 1
        self.context.pack_value(self.builder, ty.dtype, content, address, align=align)
        self.mark(self.builder.block.instructions[-1], home)

    def branch(self, stmt: If) -> None:
        b = self.builder
        condition = self.expr(stmt.test).value
        then, after = (self.function.append_basic_block() for _ in range(2))
        orelse = self.function.append_basic_block() if stmt.orelse else after
        jump = b.cbranch(condition, then, orelse)
        if isinstance(stmt.then[-1], Return):
            jump.set_weights([1, 1000])
        for block, stmts in ((then, stmt.then), (orelse, stmt.orelse)):
            if stmts:
                b.position_at_end(block)
                self.block(stmts)
                if not b.block.is_terminated:
                    b.branch(after)
        b.position_at_end(after)

    @contextmanager
    def inside(self, after: Any) -> Iterator[None]:
        self.exits.append(after)
        yield
        self.exits.pop()
        self.builder.position_at_end(after)

    def loop(self, stmt: For) -> None:
        b = self.builder
        args = [self.expr(each).value for each in stmt.limits]
        start, stop = (ir.Constant(_I64, 0), args[0]) if len(args) == 1 else args[:2]
        step = self.step(stmt.limits[2]) if len(args) == 3 else 1
        self.group = self.module.access_group() if stmt.vectorizable else None
        if stmt.vectorizable and step == 1 and len(self.exits) > 1 and not self.recurs:
            self.rows.enter(stmt, start, stop)
        before = b.block
        test, body, after = (self.function.append_basic_block() for _ in range(3))
        b.branch(test)
        b.position_at_end(test)
        counter = b.phi(_I64)
        counter.add_incoming(start, before)
        b.cbranch(b.icmp_signed("<" if step > 0 else ">", counter, stop), body, after)
        b.position_at_end(body)
        with self.inside(after):
            self.bind(stmt.index, Scalar(types.int64, counter))
            self.block(stmt.body)
            if not b.block.is_terminated:
                # The next one cannot overflow if it is next to this one, which is not the last.
                flags = ("nsw",) if abs(step) == 1 else ()
                counter.add_incoming(b.add(counter, ir.Constant(_I64, step), flags=flags), b.block)
                again = b.branch(test)
                if self.group is not None:
                    vectors = isinstance(stop, ir.Constant) and stop.constant % 8 == 0 and step == 1
                    again.set_metadata("llvm.loop", self.module.loop_hints(self.group, vectors))
        self.group = None
        self.rows.leave()
        if not self.exits:
            self.rows.settle()

    def step(self, expr: Expr) -> int:
        match expr:
            case Constant(int(value)):
                return value
            case Global(name):
                return int(self.module.globals[name])
            case Unary("-", operand):
                return -self.step(operand)
        raise NotImplementedError(expr)

    def endless(self, stmts: Sequence[Stmt]) -> None:
        b = self.builder
        body, after = (self.function.append_basic_block() for _ in range(2))
        b.branch(body)
        b.position_at_end(body)
        with self.inside(after):
            self.block(stmts)
            if not b.block.is_terminated:
                b.branch(body)

    def leave(self, value: Expr) -> None:
        """Write the result where the caller wants it; early exits share the code for theirs."""
        b = self.builder
        name = value.id if isinstance(value, Name) else ""
        if name in self.failures:
            b.branch(self.failures[name])
            return
        if name:
            self.failures[name] = self.function.append_basic_block(name)
            b.branch(self.failures[name])
            b.position_at_end(self.failures[name])
        result = self.types.result
        found = self.expr(value)
        if isinstance(found, Scalar):
            b.store(self.context.get_return_value(b, result, found.value), self.function.args[0])
            b.branch(self.exit)
            return
        for k, each in enumerate(found):
            if isinstance(each, Array) and each.owner is not None:
                if k in self.types.owned:
                    self.reference("NRT_incref", each.owner)
                else:
                    found[k] = replace(each, owner=None)
        # One by one: LLVM's time for a value with hundreds of parts is quadratic in their number.
        place = self.function.args[0]
        if self.tree.is_flat:
            values = [
                v for each, ty in zip(found, result, strict=True) for v in self.flattened(each, ty)
            ]
            result = flat_result(result)
        else:
            values = [self.packed(each, ty) for each, ty in zip(found, result, strict=True)]
        for k, (content, ty) in enumerate(zip(values, result, strict=True)):
            at = cgutils.gep_inbounds(b, place, 0, k)
            if content.type != at.type.pointee:  # a truth value, in a tuple of several types
                content = self.context.get_return_value(b, ty, content)
            b.store(content, at)
        b.branch(self.exit)
