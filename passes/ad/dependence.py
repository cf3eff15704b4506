"""Which results depend on which arguments: the pattern of a Jacobian, without its numbers.

Every number has, in place of a tangent, a mark: 1 if it depends on the direction, else 0. Marks
are tangents with other arithmetic: the larger one of two in place of their sum, and no factors::

    %t = mul %x %w                        %t = mul %x %w
    %y = sin %t                           %t.dot = maximum %x.dot %w.dot
                                          %y = sin %t
                                          %y.dot = %t.dot

So a derivative that happens to be zero, as that of ``x * x`` at 0, counts as one. A factor that
depends on no argument is a number of the call: where that is zero, nothing depends on the other
factor, as with a mask. What a function outside or a routine of a library returns depends on all
that it is given.

It is a pattern for the branches and the indices of one call, as every tangent is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adc.ir import ops
from adc.ir.builder import zero
from adc.ir.core import (
    Apply,
    Call,
    Derived,
    Function,
    Gemm,
    Literal,
    Operand,
    Store,
    Value,
    derivative_type,
)
from adc.ir.rules import TracedRule
from adc.ir.types import Array, Scalar
from adc.passes.ad.opaque import no_rule
from adc.passes.ad.tangent import tangent
from adc.passes.ad.tangent.body import Tangents

# The positions in a rule's parameters of its cotangent and its result; operands follow.
_RESULT, _FIRST = 1, 2


def _one(ty: Scalar) -> Literal:
    return Literal(1.0, ty)


class _Marks(Tangents):
    """Writes the statements of one function with their marks."""

    def apply(self, stmt: Apply) -> Operand | None:
        found = super().apply(stmt)
        if stmt.op is not ops.array.total or found is None:
            return found
        assert isinstance(found.type, Scalar)
        return self._least(found, _one(found.type))

    def part(self, stmt: Apply, rule: TracedRule, k: int, dot: Operand) -> Operand | None:
        alone = rule.only([j == k for j in range(len(stmt.args))])
        mark = self._typed(dot, stmt.result)
        reads = alone.needs() - {0}
        active = {_FIRST + j for j, arg in enumerate(stmt.args) if self.dot(arg) is not None}
        if not reads or _RESULT in reads or reads & active or isinstance(mark.type, Array):
            return mark
        # The derivative by this operand is a number of the call.
        one = _one(mark.type)
        factor = self.builder.inline(alone, [one, None, *stmt.args])[k]
        if factor is None or isinstance(factor, Literal):
            return mark
        assert isinstance(factor.type, Scalar)
        moves = self.builder.apply("ne", factor, zero(factor.type))
        return self.builder.apply("select", moves, mark, zero(mark.type))

    def _typed(self, dot: Operand, result: Value) -> Operand:
        """Return a mark of the type that one of the result has."""
        ty = derivative_type(result.type)
        if dot.type == ty or isinstance(ty, Array) != isinstance(dot.type, Array):
            return dot
        return self.builder.apply("cast", dot, params=(ty.dtype,), hint=self.hint(result))

    def both(self, a: Operand, b: Operand, hint: str) -> Operand:
        if not isinstance(a.type, Array):
            return self.builder.apply("maximum", a, b, hint=hint)
        assert isinstance(a, Value)
        assert isinstance(b, Value)
        return self._each(a, lambda at, x: self.both(x, self.builder.load(b, at), hint))

    def _least(self, a: Operand, one: Operand) -> Operand:
        return self.builder.apply("minimum", a, one)

    def _each(self, array: Value, made: Callable[[list[Value], Value], Operand]) -> Value:
        """Return an array of what is made of the elements of one."""
        build = self.builder
        assert isinstance(array.type, Array)
        sizes = [build.apply("dim", array, params=(k,)) for k in range(array.type.rank)]
        dtype = (array.type.dtype,)
        empty = build.apply("empty", *sizes, params=dtype, hint=array.name)
        return build.nest(
            sizes, empty, lambda at, out: build.store(out, at, made(at, build.load(array, at)))
        )

    def store(self, stmt: Store) -> None:
        value, dot = self.dot(stmt.value), self.dot(stmt.array)
        if not stmt.accumulate or value is None or dot is None:
            super().store(stmt)
            return
        assert isinstance(dot, Value)
        before = self.builder.load(dot, stmt.index)
        both = self.both(before, value, self.hint(stmt.result))
        self.dots[stmt.result] = self.builder.store(
            dot, stmt.index, both, hint=self.hint(stmt.result)
        )

    def gemm(self, stmt: Gemm) -> Operand | None:
        build, hint = self.builder, self.hint(stmt.array)
        total: Operand | None = self.dot(stmt.array) if stmt.accumulate else None
        for left in (True, False):
            dot = self.dot(stmt.a if left else stmt.b)
            if not isinstance(dot, Value):
                continue
            factor = self._moves(stmt.b if left else stmt.a)
            sides = (dot, factor) if left else (factor, dot)
            empty = self.like(stmt.array, "empty")
            counted = build.gemm(empty, *sides, stmt.transposed, hint=hint)
            found = self._capped(counted)
            total = found if total is None else self.both(total, found, hint)
        return total

    def _capped(self, counts: Value) -> Value:
        """Return marks for an array of sums of marks."""
        assert isinstance(counts.type, Array)
        one = _one(counts.type.element)
        return self._each(counts, lambda at, x: self._least(x, one))

    def _moves(self, factor: Value) -> Value:
        """Return ones where a matrix lets something through."""
        assert isinstance(factor.type, Array)
        dtype = derivative_type(factor.type).dtype
        if self.dot(factor) is not None:
            return self.like(factor, "full", Literal(1.0, Scalar(dtype, weak=False)))
        build = self.builder

        def passes(at: list[Value], x: Value) -> Operand:
            assert isinstance(x.type, Scalar)
            moves = build.apply("ne", x, zero(x.type))
            return build.apply("cast", moves, params=(dtype,))

        return self._each(factor, passes)

    def opaque_call(self, stmt: Call, callee: Function | Derived) -> None:
        self.builder.emit(stmt)
        rule = None if isinstance(callee, Derived) else callee.rule
        dots = [dot for arg in stmt.args if (dot := self.dot(arg)) is not None]
        if not dots or (rule is not None and rule.kind == "stopped"):
            return
        if rule is not None and rule.kind == "refused":
            assert isinstance(callee, Function)
            raise no_rule(callee, stmt.loc)
        marks = [self._any(dot) for dot in dots]
        for result in stmt.results:
            if result.type.kind != "f":
                continue
            ty = derivative_type(result.type)
            element = ty.element if isinstance(ty, Array) else ty
            total: Operand | None = None
            for mark in marks:
                if mark.type != element:
                    mark = self.builder.apply("cast", mark, params=(element.dtype,))
                total = mark if total is None else self.both(total, mark, self.hint(result))
            assert total is not None
            whole = isinstance(ty, Array)
            self.dots[result] = self.like(result, "full", total) if whole else total

    def _any(self, dot: Operand) -> Operand:
        """Return whether any of the elements is marked."""
        if not isinstance(dot.type, Array):
            return dot
        found = self.builder.apply("total", dot)
        assert isinstance(found.type, Scalar)
        return self._least(found, _one(found.type))


def dependence(fn: Function, wrt: Sequence[int]) -> Function:
    """Return `fn` with marks of the parameters `wrt` and of every float result.

    They have the types of tangents, and stand where these do.

    Raises
    ------
    IntegerArgumentError, NotDifferentiableError
        As `tangent` does.
    """
    return tangent(fn, wrt, writer=_Marks)


__all__ = ["dependence"]
