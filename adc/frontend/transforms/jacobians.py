"""Jacobians and Hessians inside code: loops that call a derivative along unit directions.

The function is lowered separately, as for `grad`. Its derivative is declared once, and called in
loops over the elements of arguments (`jacfwd`, `hessian`) or of results (`jacrev`). These loops are
plain Python (`adc.library.jacobians`). So a Jacobian is ordinary code, which can be differentiated
to any order::

    adc.hessian(f)(x)    for k in range(x.size):
                             H[:, k] = D[unit k] grad f (x)
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from adc.frontend.control import program
from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Directional,
    ListRef,
    Num,
    RecordOf,
    Static,
    Transformed,
    TupleOf,
)
from adc.frontend.core.dispatch import called
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.transforms import derivatives, results
from adc.frontend.values import elementwise, structures
from adc.ir.core import Function, Literal, Operand
from adc.ir.functions import contracted, without_prints
from adc.ir.types import Array, Scalar
from adc.library import jacobians
from adc.library.transforms import Level

Leaf = Num | ArrayRef
# A derivative of a number or array by another one; or a row of them, of a gradient.
Block = Any


def call(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of `jacfwd`, `jacrev` or `hessian` of a function."""
    outlined = derivatives.outline_call(lo, target.fn, args, kwargs, target.level.chosen, node)
    derivatives.check_floats(lo, outlined, node)
    if target.level.holomorphic:
        derivatives.check_complex(lo, outlined, node)
    derivatives.check_any_float(lo, outlined, node)
    derivatives.may_repeat(lo, outlined.fn)
    return _Maker(lo, outlined, target.level, node).made()


@called(Directional)
def _along(
    lo: Lowerer, target: Directional, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> TupleOf:  # fmt: skip
    """Lower a call of a derivative with directions, by a function of the library."""
    assert not kwargs
    args, _ = elementwise.all_materialised(lo, args, kwargs, node)
    return along(lo, target, args, node)


def along(lo: Lowerer, target: Directional, args: Sequence[Binding], node: ast.AST) -> TupleOf:
    """Lower a call of a derivative with directions."""
    operands = list(_operands(lo, target.args, node))
    for ty, given in zip(target.of.param_types()[len(operands) :], args, strict=True):
        assert isinstance(ty, Scalar | Array)
        operands.append(structures.fitted(lo, ty, None, given, "a direction", node))
    hints = ["d"] * len(target.of.result_types())
    found = derivatives.emit(lo, target.of, operands, hints, node)
    return TupleOf(tuple(derivatives.leaf_of(lo, value) for value in found[target.first :]))


def _operands(lo: Lowerer, args: TupleOf, node: ast.AST) -> Iterator[Operand]:
    for leaf in args.items:
        assert isinstance(leaf, Num | ArrayRef)
        yield leaf_operand(lo, leaf, node)


@dataclass
class _Maker:
    """Makes one Jacobian, or one array of second derivatives."""

    lo: Lowerer
    outlined: derivatives.Outlined
    level: Level
    node: ast.Call

    def made(self) -> Binding:
        lo, heap = self.lo, self.outlined.heap
        make = {"jacfwd": self.forward, "jacrev": self.reverse, "hessian": self.second}
        leaves = list(results.leaves_of(self.result, heap))
        floats = [k for k, leaf in enumerate(leaves) if _is_float(leaf)]
        found_ = dict(zip(floats, make[self.level.kind](), strict=True))
        for k in results.pairs(self.result, heap):
            # Of a complex result, the next one is its imaginary part.
            pairs = zip(found_[k], found_.pop(k + 1), strict=True)
            found_[k] = [self.each(jacobians.joined, re, im) for re, im in pairs]
        arrange = self.like_gradients if self.level.kind == "hessian" else self.like_arguments
        flat = [arrange(found_[k]) if k in found_ else NONE for k in range(len(leaves))]
        found = structures.returned(lo, self.result, heap, iter(flat))
        if self.level.value:
            return TupleOf((self.value[0], found))
        if not self.level.has_aux:
            return found
        value = self.value[0]
        assert isinstance(value, TupleOf)
        return TupleOf((found, value.items[1]))

    # -- what is differentiated, and with respect to what ----------------------------------

    @cached_property
    def result(self) -> Binding:
        """The result that is differentiated, as the function has it."""
        if self.level.has_aux:
            return derivatives.first_of_pair(self.lo, self.outlined, self.node)
        return self.outlined.result

    @cached_property
    def value(self) -> tuple[Binding, list[Leaf]]:
        """The result of the function, and the numbers and arrays in it, from one call."""
        return derivatives.value_and_leaves(self.lo, self.outlined, self.node)

    @cached_property
    def fn(self) -> Function:
        """The differentiated function, without its prints, which were done already."""
        count = len(list(results.leaves_of(self.result, self.outlined.heap)))
        fn = without_prints(self.outlined.fn)
        return replace(fn, results=fn.results[:count])

    @cached_property
    def ys(self) -> list[Leaf]:
        """The floats in the result. Of numbers nothing but the type counts."""
        own = [result for result in self.fn.results if result.type.kind == "f"]
        printed = without_prints(self.outlined.fn) != self.outlined.fn
        if not printed and not any(isinstance(result.type, Array) for result in own):
            return [Num(numbers.zero_of(numbers.scalar_type(result))) for result in own]
        leaves = self.value[1][: len(self.fn.results)]
        return [leaf for leaf in leaves if _is_float(leaf)]

    @cached_property
    def xs(self) -> list[Leaf]:
        """The floats in the arguments that are differentiated."""
        chosen, held = self.outlined.chosen, self.lo.held
        return [leaf for each in chosen for leaf in structures.floats(each, held)]

    def like_arguments(self, row: Sequence[Block]) -> Binding:
        """Arrange derivatives by the floats in the arguments like the arguments."""
        return self.arranged(self.of_numbers(row))

    def like_gradients(self, rows: Sequence[Block]) -> Binding:
        """Arrange second derivatives, a row for each float, like the arguments twice."""
        return self.arranged([self.like_arguments(row) for row in self.of_numbers(rows)])

    def arranged(self, parts: Sequence[Binding]) -> Binding:
        """Arrange what belongs to the numbers and arrays in the arguments like the arguments."""
        every: list[Binding] = []
        for part, each in zip(parts, self.numbers, strict=True):
            every += [part, *each[1:]]  # the first of two parts stands for both
        found = iter(every)

        def first(lo: Lowerer, parts: RecordOf) -> Binding:
            return parts.items[0]

        made = tuple(
            structures.arranged(self.lo, each, self.lo.held, found, first)
            for each in self.outlined.chosen
        )
        return made[0] if isinstance(self.level.argnums, int) else TupleOf(made)

    @cached_property
    def numbers(self) -> list[tuple[Leaf, ...]]:
        """The floats in the arguments that are differentiated, parts of a number together."""
        chosen, held = self.outlined.chosen, self.lo.held
        return [parts for each in chosen for parts in structures.numbers_in(each, held)]

    def of_numbers(self, row: Sequence[Block]) -> list[Block]:
        """Return derivatives by numbers and arrays, complex ones for those by two parts."""
        found = iter(row)
        made: list[Block] = []
        for parts in self.numbers:
            first, *rest = (next(found) for _ in parts)
            made.append(self.each(jacobians.conjugated, first, *rest) if rest else first)
        return made

    def each(self, code: Callable[..., Any], re: Block, im: Block) -> Block:
        """Apply a function of two derivatives, numbers or arrays, to those in two rows."""
        if isinstance(re, list):
            return [self.each(code, a, b) for a, b in zip(re, im, strict=True)]
        assert isinstance(code, types.FunctionType)
        found = program.call_function(self.lo, code, (re, im), {}, self.node)
        return elementwise.materialised(self.lo, found, self.node)

    # -- derivatives -----------------------------------------------------------------------

    def forward(self) -> Iterator[list[Block]]:
        """Yield the derivatives of each float in the result by the floats in the arguments."""
        ys, xs = self.ys, self.xs
        push = self.directional("forward", self.fn, first=len(self.fn.results))
        columns = [self.loop(jacobians.columns, push, ys, xs, k) for k in range(len(xs))]
        for row in zip(*columns, strict=True):
            yield list(row)

    def reverse(self) -> Iterator[list[Block]]:
        """Yield the derivatives of each float in the result by the floats in the arguments."""
        ys, xs = self.ys, self.xs
        if self.is_number:
            found = self.directional("reverse", self.number)
            parts = along(self.lo, found, (), self.node).items
            yield list(self.numbers_like(parts, xs))
            return
        pull = self.directional("reverse", self.weighted)
        for k in range(len(ys)):
            yield list(self.loop(jacobians.rows, pull, xs, ys, k))

    def second(self) -> Iterator[list[Block]]:
        """Yield the second derivatives of each float in the result, a row for each gradient."""
        ys, xs = self.ys, self.xs
        of = self.number if self.is_number else self.weighted
        push = self.directional("reverse", of, (self.outlined.moved,))
        for k in range(len(ys)):
            columns = [self.column(push, k, j) for j in range(len(xs))]
            yield [list(row) for row in zip(*columns, strict=True)]

    def column(self, push: Directional, k: int, j: int) -> tuple[Binding, ...]:
        """Return second derivatives of a float in the result along one in the arguments."""
        ys, xs = self.ys, self.xs
        if self.is_number:
            return self.loop(jacobians.columns, push, xs, xs, j)
        zeros = self.zeros(ys)
        if isinstance(y := ys[k], Num):
            one = Num(Literal(1.0, Scalar(numbers.scalar_type(y.operand).dtype)))
            weights = (*zeros[:k], one, *zeros[k + 1 :])
            push = replace(push, args=TupleOf((*push.args.items, *weights)))
            return self.loop(jacobians.columns, push, xs, xs, j)
        inner = jacobians.columns if isinstance(xs[j], ArrayRef) else jacobians.alone
        more = (TupleOf(zeros[:k]), y, TupleOf(zeros[k + 1 :]))
        return self.run(jacobians.layers, Static(inner), push, *self.around(xs, xs, j), *more)

    @property
    def is_number(self) -> bool:
        """Whether there is one float in the result, and it is a number."""
        return len(self.ys) == 1 and isinstance(self.ys[0], Num)

    @cached_property
    def number(self) -> Function:
        """The function of the one number in the result."""
        return replace(self.fn, results=tuple(r for r in self.fn.results if r.type.kind == "f"))

    @cached_property
    def weighted(self) -> Function:
        """The function of the floats in the result, each times a weight."""
        floats = [k for k, result in enumerate(self.fn.results) if result.type.kind == "f"]
        return contracted(self.fn, floats)

    def directional(
        self, mode: str, of: Function, along: tuple[tuple[int, ...], ...] = (), first: int = 0
    ) -> Directional:
        derived = derivatives.declared(self.lo, mode, of, self.outlined.moved, along)
        return Directional(derived, derivatives.as_now(self.lo, self.outlined), first)

    # -- loops -----------------------------------------------------------------------------

    def loop(
        self, code: Callable[..., Any], derivative: Directional, like: Sequence[Leaf],
        leaves: Sequence[Leaf], k: int,
    ) -> tuple[Binding, ...]:  # fmt: skip
        """Return derivatives along all elements of ``leaves[k]``."""
        x = leaves[k]
        if isinstance(x, ArrayRef):
            return self.run(code, derivative, *self.around(like, leaves, k))
        found = self.run(jacobians.alone, derivative, *self.around(like, leaves, k))
        return self.numbers_like(found, like)

    def run(self, code: Callable[..., Any], *args: Binding) -> tuple[Binding, ...]:
        """Lower a call of a function of the library that returns a sequence."""
        assert isinstance(code, types.FunctionType)
        found = program.call_function(self.lo, code, args, {}, self.node)
        if isinstance(found, ListRef):
            return self.lo.contents(found)
        assert isinstance(found, TupleOf)
        return found.items

    def around(
        self, like: Sequence[Leaf], leaves: Sequence[Leaf], k: int
    ) -> tuple[TupleOf, TupleOf, Leaf, TupleOf]:
        """Return the structure of the derivatives along ``leaves[k]``, and the same among zeros."""
        zeros = self.zeros(leaves)
        return TupleOf(tuple(like)), TupleOf(zeros[:k]), leaves[k], TupleOf(zeros[k + 1 :])

    def zeros(self, leaves: Sequence[Leaf]) -> tuple[Leaf, ...]:
        """Return zero directions, with the types of directions."""
        lo, node = self.lo, self.node
        return tuple(
            derivatives.leaf_of(lo, structures.fitted_to(lo, leaf, NONE, "a direction", node))
            for leaf in leaves
        )

    def numbers_like(self, found: Sequence[Binding], like: Sequence[Leaf]) -> tuple[Binding, ...]:
        """Return derivatives, with numbers of the types that the primal values have."""
        return tuple(
            Num(structures.like_number(self.lo, part.operand, leaf.operand))
            if isinstance(part, Num) and isinstance(leaf, Num)
            else structures.like_array(self.lo, part, leaf.object.type)
            if isinstance(part, ArrayRef) and isinstance(leaf, ArrayRef)
            else part
            for part, leaf in zip(found, like, strict=True)
        )


def _is_float(leaf: Leaf) -> bool:
    return (leaf.operand if isinstance(leaf, Num) else leaf.object).type.kind == "f"


__all__ = ["along", "call"]
