"""Forward mode, statement by statement: the tangent code that `tangent` adds.

::

    %b = mul %a %w            %b.dot = mul %a.dot %w
    %v = load %x[%i]          %v.dot = load %x.dot[%i]
    %x1 = store %x0[%i] %v    %x1.dot = store %x0.dot[%i] %v.dot
    %t.r = recall %t          %t.r.dot = recall %t.dot

Loops also carry the tangents of their carried values, both arms of an `if` yield tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import assert_never

from adc.ir import ops
from adc.ir.analysis.activity import Marks, flows, is_zero, no_derivative
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import Builder, zero
from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Load,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    derivative_type,
)
from adc.ir.errors import IRError, NotDifferentiableError
from adc.ir.opdef import OpDef
from adc.ir.ops import arith
from adc.ir.rules import TracedRule, vjp_rule
from adc.ir.types import Array
from adc.ir.walk import Names
from adc.passes.ad.opaque import Derivatives, no_rule, not_covered


@dataclass(frozen=True)
class Program:
    """The context shared by the statements of one function.

    `renamed` has the new names of the callees that get tangents.
    """

    functions: Mapping[str, Function]
    varied: Marks
    renamed: Mapping[str, str]
    suffix: str
    derivatives: Derivatives


class Tangents:
    """Writes the statements of one function with their tangents."""

    def __init__(self, where: str, program: Program, names: Names) -> None:
        self.builder = Builder(names)
        # The tangents that are not zero. Names are unique, so that no scopes are needed.
        self.dots: dict[Value, Operand] = {}
        # Tangents that recalls refer to: of the function that is mirrored, or of this one.
        self.recalled = self.dots
        self._where = where
        self._program = program

    @cached_property
    def _shapes(self) -> Shapes:
        return Shapes(self._program.functions[self._where], self.builder.names)

    # -- tangents --------------------------------------------------------------------------

    def dot(self, operand: Operand) -> Operand | None:
        """Return the tangent of `operand`, None if it is zero."""
        return self.dots.get(operand) if isinstance(operand, Value) else None

    def full_dot(self, operand: Operand) -> Operand:
        """Return the tangent of `operand`, materialising zeros if need be."""
        found = self.dot(operand)
        if found is not None:
            return found
        ty = derivative_type(operand.type)
        if not isinstance(ty, Array):
            return zero(ty)
        assert isinstance(operand, Value)
        return self.like(operand, "full", zero(ty.element))

    def like(self, array: Value, op: str, *value: Operand) -> Value:
        """Return a new array shaped like `array`."""
        assert isinstance(array.type, Array)
        known = self._shapes.literals(array)
        sizes = [
            size or self.builder.apply("dim", array, params=(k,), hint=f"{array.name}.dim{k}")
            for k, size in enumerate(known)
        ]
        params = (derivative_type(array.type).dtype,)
        return self.builder.apply(op, *value, *sizes, params=params, hint=self.hint(array))

    def hint(self, operand: Operand) -> str:
        return f"{operand.name}{self._program.suffix}" if isinstance(operand, Value) else "d"

    def fresh(self, value: Value) -> Value:
        """Return a new value as the tangent of `value`."""
        dot = self.builder.value(self.hint(value), derivative_type(value.type))
        self.dots[value] = dot
        return dot

    def varied(self, value: Operand) -> bool:
        return value in self._program.varied[self._where]

    def _moving(self, values: Sequence[Value]) -> list[int]:
        return [k for k, value in enumerate(values) if self.varied(value)]

    def with_dots(self, operands: Sequence[Operand], which: Iterable[int]) -> tuple[Operand, ...]:
        return (*operands, *(self.full_dot(operands[k]) for k in which))

    # -- statements ------------------------------------------------------------------------

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.builder.loc = stmt.loc
            self._stmt(stmt)

    def _stmt(self, stmt: Stmt) -> None:
        emit = self.builder.emit
        match stmt:
            case Apply(result=result):
                emit(stmt)
                if self.varied(result):
                    self.set(result, self.apply(stmt))
            case Load(result=result, array=array, index=index):
                emit(stmt)
                dot = self.dot(array)
                if isinstance(dot, Value):
                    self.dots[result] = self.builder.load(dot, index, self.hint(result))
            case Store():
                emit(stmt)
                if self.varied(stmt.result):
                    self.store(stmt)
            case Gemm():
                emit(stmt)
                if stmt.result is not None and self.varied(stmt.result):
                    self.set(stmt.result, self.gemm(stmt))
            case If(results=results, then=then, orelse=orelse):
                which = self._moving(results)
                arms = [self._block(arm, (), which) for arm in (then, orelse)]
                dots = tuple(self.fresh(results[k]) for k in which)
                emit(replace(stmt, results=(*results, *dots), then=arms[0], orelse=arms[1]))
            case For() | While() | Reverse():
                self._loop(stmt)
            case Call():
                self._call(stmt)
            case Recall(result=result, value=value):
                emit(stmt)
                found = self.recalled.get(value)
                if isinstance(found, Value):
                    emit(Recall(self.fresh(result), found, stmt.loc))
                elif found is not None:
                    self.dots[result] = found
            case Check() | Print():
                emit(stmt)
            case Push() | Pop() | Write():
                raise IRError("tangents are defined on value form")
            case _:
                assert_never(stmt)

    def set(self, value: Value, dot: Operand | None) -> None:
        """Let a value have a tangent, unless it is zero."""
        if dot is not None and not is_zero(dot):
            self.dots[value] = dot

    def apply(self, stmt: Apply) -> Operand | None:
        """Return the tangent of what an operation makes."""
        own = ARRAYS.get(stmt.op)
        if own is not None:
            return own(self, stmt)
        dots = [self.dot(arg) for arg in stmt.args]
        flow = flows(stmt)
        active = [each and dot is not None for each, dot in zip(flow, dots, strict=True)]
        if why := no_derivative(stmt, active):
            raise NotDifferentiableError(why[0], stmt.loc, why[1])
        rule = vjp_rule(stmt.op, tuple(arg.type for arg in stmt.args), stmt.params)
        total: Operand | None = None
        for k, (dot, flows_on) in enumerate(zip(dots, flow, strict=True)):
            if dot is None or not flows_on:
                continue
            part = self.part(stmt, rule, k, dot)
            if part is None or total is None:
                total = part if total is None else total
            else:
                total = self.both(total, part, self.hint(stmt.result))
        return total

    def part(self, stmt: Apply, rule: TracedRule, k: int, dot: Operand) -> Operand | None:
        """Return what the tangent of an operand contributes to that of the result."""
        alone = rule.only([j == k for j in range(len(stmt.args))])
        hints = [self.hint(stmt.result)] * len(stmt.args)
        return self.builder.inline(alone, [dot, stmt.result, *stmt.args], hints)[k]

    def both(self, a: Operand, b: Operand, hint: str) -> Operand:
        """Return the tangent to which two contribute."""
        return self.builder.apply("add", a, b, hint=hint)

    def store(self, stmt: Store) -> None:
        """Write the store of a tangent."""
        value = self.dot(stmt.value)
        if stmt.accumulate and value is None:
            self.set(stmt.result, self.dot(stmt.array))
            return
        dot = self.full_dot(stmt.array)
        assert isinstance(dot, Value)
        self.dots[stmt.result] = self.builder.store(
            dot,
            stmt.index,
            self.full_dot(stmt.value),
            accumulate=stmt.accumulate,
            hint=self.hint(stmt.result),
        )

    def gemm(self, stmt: Gemm) -> Operand | None:
        """Return the tangent of a product of matrices."""
        total = self.dot(stmt.array) if stmt.accumulate else None
        terms = [(self.dot(stmt.a), stmt.b), (stmt.a, self.dot(stmt.b))]
        for a, b in terms:
            if not isinstance(a, Value) or not isinstance(b, Value):
                continue
            first = total is None
            if total is None:
                total = self.like(stmt.array, "empty")
            assert isinstance(total, Value)
            total = self.builder.gemm(
                total, a, b, stmt.transposed, accumulate=not first, rowwise=stmt.rowwise,
                hint=self.hint(stmt.array),
            )  # fmt: skip
        return total

    def _block(
        self, block: Block, params: tuple[Value, ...], which: Sequence[int], skip: int = 0
    ) -> Block:
        """Return `block` with tangents of the yields `which` (after the first `skip`)."""
        with self.builder.block() as stmts:
            self.stmts(block.stmts)
            yields = self.with_dots(block.yields, [k + skip for k in which])
        return Block((*block.params, *params), tuple(stmts), yields)

    def _loop(self, stmt: For | While | Reverse) -> None:
        which = self._moving(stmt.body.params)
        init = self.with_dots(stmt.init, which)
        params = tuple(self.fresh(stmt.body.params[k]) for k in which)
        body = self._block(stmt.body, params, which, skip=int(isinstance(stmt, While)))
        results = (*stmt.results, *(self.fresh(stmt.results[k]) for k in which))
        self.builder.emit(replace(stmt, results=results, init=init, body=body))

    def opaque_call(self, stmt: Call, callee: Function | Derived) -> None:
        """Write the call of what has a declared derivative, and of the derivative."""
        always = isinstance(callee, Function) and callee.rule is not None and callee.rule.always
        if all(self.dot(arg) is None for arg in stmt.args) and not always:
            self.builder.emit(stmt)
        elif isinstance(callee, Derived):
            self.builder.emit(stmt)
            self._derived_call(stmt, callee)
        elif callee.rule is not None and callee.rule.kind == "stopped":
            self.builder.emit(stmt)
        elif callee.rule is not None and callee.rule.kind == "refused":
            raise no_rule(callee, stmt.loc)
        elif callee.rule is not None and callee.rule.tangent:
            for k, arg in enumerate(stmt.args):
                if k not in callee.rule.positions and self.dot(arg) is not None:
                    raise not_covered(callee, k, stmt.loc)
            args = self.with_dots(stmt.args, callee.rule.positions)
            dots = [self.fresh(result) for result in stmt.results if result.type.kind == "f"]
            self.builder.emit(
                replace(
                    stmt,
                    callee=callee.rule.tangent,
                    args=args,
                    results=(*stmt.results, *dots),
                )
            )
        else:
            raise self._program.derivatives.no_forward(callee, stmt.loc)

    def _derived_call(self, stmt: Call, callee: Derived) -> None:
        count = len(callee.of.params)
        own = stmt.args[:count]
        moved = tuple(k for k, arg in enumerate(own) if self.dot(arg) is not None)
        terms: list[tuple[Derived, tuple[Operand, ...]]] = []
        if moved:
            along = (*callee.along, moved)
            derived = self._program.derivatives.get(callee.of, callee.wrt, along)
            terms.append((derived, (*stmt.args, *(self.full_dot(own[k]) for k in moved))))
        at = count
        for j, group in enumerate(callee.along):
            # Linear in every direction.
            directions = stmt.args[at : at + len(group)]
            some = [k for k, arg in enumerate(directions) if self.dot(arg) is not None]
            if some:
                part = tuple(group[k] for k in some)
                along = (*callee.along[:j], part, *callee.along[j + 1 :])
                derived = self._program.derivatives.get(callee.of, callee.wrt, along)
                dots = tuple(self.full_dot(directions[k]) for k in some)
                args = (*stmt.args[:at], *dots, *stmt.args[at + len(group) :])
                terms.append((derived, args))
            at += len(group)
        total: list[Operand] = []
        for derived, args in terms:
            results = tuple(
                self.builder.value(self.hint(result), derivative_type(result.type))
                for result in stmt.results
            )
            label = self.builder.names.fresh(f"{stmt.label}{self._program.suffix}")
            self.builder.emit(Call(results, label, derived.name, args, loc=stmt.loc))
            total = (
                [
                    self.builder.apply("add", a, b, hint=self.hint(result))
                    for a, b, result in zip(total, results, stmt.results, strict=True)
                ]
                if total
                else list(results)
            )
        self.dots.update(zip(stmt.results, total, strict=True))

    def _call(self, stmt: Call) -> None:
        opaque = self._program.derivatives.opaque(stmt.callee)
        if opaque is not None:
            self.opaque_call(stmt, opaque)
            return
        name = self._program.renamed.get(stmt.callee)
        if name is None:
            self.builder.emit(stmt)
            return
        called = self._program.functions[stmt.callee]
        inner = self._program.varied[stmt.callee]
        args = self.with_dots(
            stmt.args, [k for k, param in enumerate(called.params) if param in inner]
        )
        dots = [k for k, result in enumerate(called.results) if result in inner]
        results = (*stmt.results, *(self.fresh(stmt.results[k]) for k in dots))
        self.builder.emit(replace(stmt, results=results, callee=name, args=args))


def _of_first(t: Tangents, stmt: Apply) -> Operand | None:
    """The row is linear in its first operand and depends on no other."""
    dot = t.dot(stmt.args[0])
    if dot is None:
        return None
    # An array that is made has the dtype of derivatives.
    params = (derivative_type(stmt.result.type).dtype,) if stmt.params else ()
    return t.builder.apply(stmt.op, dot, *stmt.args[1:], params=params, hint=t.hint(stmt.result))


def _cast(t: Tangents, stmt: Apply) -> Operand | None:
    dot = t.dot(stmt.args[0])
    if dot is None or dot.type.dtype == stmt.result.type.dtype:
        return dot
    target = (stmt.result.type.dtype,)
    return t.builder.apply("cast", dot, params=target, hint=t.hint(stmt.result))


def _select(t: Tangents, stmt: Apply) -> Operand | None:
    # One select between the two tangents; the sum of two contributions would take three.
    cond, a, b = stmt.args
    return t.builder.apply("select", cond, t.full_dot(a), t.full_dot(b), hint=t.hint(stmt.result))


# The operations whose tangent is not the `vjp` applied to the tangents of the operands.
ARRAYS: dict[OpDef, Callable[[Tangents, Apply], Operand | None]] = {
    arith.cast: _cast,
    ops.array.copy: _of_first,
    ops.array.full: _of_first,
    arith.select: _select,
    ops.array.total: _of_first,
}


__all__ = ["ARRAYS", "Program", "Tangents"]
