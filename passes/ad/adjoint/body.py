"""Reverse code for the statements of one function, which `adjoint` puts after the forward code.

Each statement, from the last to the first, turns the cotangents of its results into contributions
to the cotangents of its operands::

    %b = mul %a %w            %w.r = recall %w                 (what the rule of `mul` needs)
                              %a.ct = mul %b.ct %w.r
    %v = load %x[%i]          %x.ct.1 = accumulate %x.ct[%i] %v.ct
    %x1 = store %x0[%i] %v    %v.ct = load %x1.ct[%i]
                              %x0.ct = store %x1.ct[%i] 0.0
    %c1 = gemm[nn] %c0 %a %b  %a.ct.1 = gemm[nt, add] %a.ct %c1.ct %b.r
                              %b.ct.1 = gemm[tn, add] %b.ct %a.r %c1.ct

A cotangent that is zero has no entry in `cts` and no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from adc.ir.analysis.activity import flows, is_zero, no_derivative
from adc.ir.analysis.sizes.shapes import Shapes
from adc.ir.builder import Builder, zero
from adc.ir.core import (
    Apply,
    Block,
    For,
    Function,
    Gemm,
    Literal,
    Operand,
    Stmt,
    Store,
    Value,
    derivative_type,
)
from adc.ir.errors import NotDifferentiableError
from adc.ir.rules import vjp_rule
from adc.ir.types import BOOL, INT, Array, Scalar, Type
from adc.ir.walk import Names


def _dtype(array: Value) -> tuple[str]:
    """Return the dtype of the cotangent of an array, as a static parameter."""
    return (derivative_type(array.type).dtype,)


@dataclass
class Region:
    """A block of reverse code under construction, and the values it has recalled so far."""

    stmts: list[Stmt] = field(default_factory=list)
    recalled: dict[Value, Value] = field(default_factory=dict)


class StraightLine:
    """Reverse code of simple statements; `cts` holds the cotangents that are not zero so far."""

    def __init__(self, fn: Function, active: frozenset[Value], names: Names) -> None:
        self.active = active
        self.shapes = Shapes(fn, names)
        self.cts: dict[Value, Operand] = {}
        self._builder = Builder(names)
        self._region = Region(self._builder.stmts)
        # The index of a forward loop is the counter of the loop that mirrors it.
        self._indices: dict[Value, Value] = {}

    @property
    def code(self) -> list[Stmt]:
        return self._builder.stmts

    # -- cotangents ------------------------------------------------------------------------

    def add(self, value: Operand, contribution: Operand | None) -> None:
        """Add to the cotangent of `value`."""
        if value not in self.active or contribution is None or is_zero(contribution):
            return
        assert isinstance(value, Value)
        old = self.cts.get(value)
        if old is not None:
            contribution = self._builder.apply("add", old, contribution, hint=f"{value.name}.ct")
        self.cts[value] = contribution

    def ct(self, value: Value) -> Operand:
        """Return the cotangent of `value`, zeros if it has none."""
        found = self.cts.get(value)
        return self._zeros(value) if found is None else found

    def _take(self, value: Value) -> Operand | None:
        """Return and remove the cotangent of a value whose definition has been reached."""
        return self.cts.pop(value, None)

    def _zeros(self, value: Value) -> Operand:
        ty = derivative_type(value.type)
        return self._full(value, zero(ty.element)) if isinstance(ty, Array) else zero(ty)

    def _full(self, like: Value, element: Operand) -> Value:
        sizes = self._many(self.shapes.dims(like))
        return self._builder.apply(
            "full", element, *sizes, params=_dtype(like), hint=f"{like.name}.ct"
        )

    def _value(self, hint: str, ty: Type) -> Value:
        return self._builder.value(hint, ty)

    def _ct_value(self, value: Value) -> Value:
        return self._value(f"{value.name}.ct", derivative_type(value.type))

    # -- forward values --------------------------------------------------------------------

    def _recall(self, operand: Operand) -> Operand:
        if isinstance(operand, Literal):
            return operand
        if operand in self._indices:
            return self._indices[operand]
        recalled = self._region.recalled
        if operand not in recalled:
            recalled[operand] = self._builder.recall(operand)
        return recalled[operand]

    def _many(self, operands: Iterable[Operand]) -> tuple[Operand, ...]:
        return tuple(self._recall(operand) for operand in operands)

    @contextmanager
    def _inside(self, region: Region) -> Iterator[None]:
        """Write into `region`; a region may be entered again to write more."""
        outer, self._region = self._region, region
        self._builder.stmts = region.stmts
        try:
            yield
        finally:
            self._region = outer
            self._builder.stmts = outer.stmts

    # -- statements ------------------------------------------------------------------------

    def _apply(self, stmt: Apply) -> None:
        ct = self._take(stmt.result)
        wanted = [
            flow and arg in self.active for flow, arg in zip(flows(stmt), stmt.args, strict=True)
        ]
        if ct is None or not any(wanted):
            return
        if why := no_derivative(stmt, wanted):
            raise NotDifferentiableError(why[0], stmt.loc, why[1])
        if stmt.op.reduces:
            # The rule would read the array for its shape.
            array = stmt.args[0]
            assert isinstance(array, Value)
            self.add(array, self._full(array, ct))
            return
        rule = vjp_rule(stmt.op, tuple(arg.type for arg in stmt.args), stmt.params).only(wanted)
        needs = rule.needs()
        forward = [
            self._recall(operand) if k in needs else None
            for k, operand in enumerate((stmt.result, *stmt.args), start=1)
        ]
        hints = [f"{arg.name}.ct" if isinstance(arg, Value) else "d" for arg in stmt.args]
        outputs = self._builder.inline(rule, [ct, *forward], hints)
        for arg, out in zip(stmt.args, outputs, strict=True):
            self.add(arg, out)

    def _load(self, array: Value, index: tuple[Operand, ...], ct: Operand | None) -> None:
        if ct is None or array not in self.active:
            return
        grown = self.ct(array)
        assert isinstance(grown, Value)
        self.cts[array] = self._builder.store(
            grown, self._many(index), ct, accumulate=True, hint=f"{array.name}.ct"
        )

    def _store(self, stmt: Store) -> None:
        ct = self._take(stmt.result)
        if ct is None:
            return
        assert isinstance(ct, Value)
        if stmt.value in self.active:
            assert isinstance(stmt.value, Value)
            hint = f"{stmt.value.name}.ct"
            self.add(stmt.value, self._builder.load(ct, self._many(stmt.index), hint))
        if stmt.array in self.active:
            if not stmt.accumulate:
                # The element was overwritten: its old value has no influence any more.
                cleared = zero(Scalar(*_dtype(stmt.array)))
                index = self._many(stmt.index)
                ct = self._builder.store(ct, index, cleared, hint=f"{stmt.array.name}.ct")
            self.add(stmt.array, ct)

    def _gemm(self, stmt: Gemm) -> None:
        assert stmt.result is not None
        ct = self._take(stmt.result)
        if ct is None:
            return
        assert isinstance(ct, Value)
        a, b = stmt.transposed
        if stmt.a in self.active:
            other = self._recall_array(stmt.b)
            if a:
                self._add_product(stmt.a, other, ct, (b, True))
            else:
                self._add_product(stmt.a, ct, other, (False, not b))
        if stmt.b in self.active:
            other = self._recall_array(stmt.a)
            if stmt.rowwise:
                other = self._rows_that_count(stmt, other, ct)
            if b:
                self._add_product(stmt.b, ct, other, (True, a))
            else:
                self._add_product(stmt.b, other, ct, (not a, False))
        if stmt.accumulate:
            self.add(stmt.array, ct)

    def _rows_that_count(self, stmt: Gemm, rows: Value, ct: Value) -> Value:
        """Return `rows`, with zeros in place of those for which the rows of `ct` are zero."""
        assert stmt.result is not None
        build = self._builder
        dims = self._many(self.shapes.dims(stmt.a))
        columns = self._many(self.shapes.dims(stmt.result))[1]
        nothing = zero(Scalar(rows.type.dtype))

        def one(at: list[Value], array: Value) -> Value:
            (row,) = at
            column, before = build.value("i", INT), build.value("counts", BOOL)
            with build.block() as stmts:
                differs = build.apply("ne", build.load(ct, (row, column)), nothing)
                after = build.apply("or", before, differs, hint="counts")
            counts = build.value("counts", BOOL)
            label = build.names.fresh("L")
            body = Block((before,), tuple(stmts), (after,))
            start = Literal(False, BOOL)
            build.emit(For((counts,), label, column, columns, (start,), body, loc=stmt.loc))

            def element(at: list[Value], array: Value) -> Value:
                found = build.load(rows, (row, at[0]))
                chosen = build.apply("select", counts, found, nothing)
                return build.store(array, (row, at[0]), chosen)

            return build.nest(dims[1:], array, element)

        made = build.apply("empty", *dims, params=(rows.type.dtype,), hint=rows.name)
        return build.nest(dims[:1], made, one)

    def _recall_array(self, array: Value) -> Value:
        found = self._recall(array)
        assert isinstance(found, Value)
        return found

    def _add_product(
        self, target: Value, a: Value, b: Value, transposed: tuple[bool, bool]
    ) -> None:
        """Add a product of matrices to the cotangent of `target`."""
        old, hint = self.cts.get(target), f"{target.name}.ct"
        first = old is None
        if old is None:
            sizes = self._many(self.shapes.dims(target))
            old = self._builder.apply("empty", *sizes, params=_dtype(target), hint=hint)
        assert isinstance(old, Value)
        self.cts[target] = self._builder.gemm(
            old, a, b, transposed, accumulate=not first, hint=hint
        )


__all__ = ["Region", "StraightLine"]
