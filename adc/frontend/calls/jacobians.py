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

from adc.frontend.calls import derivatives
from adc.frontend.control import program
from adc.frontend.core import numbers
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Directional,
    ListRef,
    Num,
    Static,
    Transformed,
    TupleOf,
)
from adc.frontend.core.dispatch import called
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.parameters import leaf_operand
from adc.frontend.values import elementwise, results, structures
from adc.ir.core import Function, Literal, Operand
from adc.ir.functions import contracted, without_prints
from adc.ir.types import Array, Scalar
from adc.library import jacobians
from adc.library.transforms import Level

Leaf = Num | ArrayRef


def call(
    lo: Lowerer, target: Transformed, args: list[Binding], kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Lower a call of `jacfwd`, `jacrev` or `hessian` of a function."""
    outlined = derivatives.outline_call(lo, target.fn, args, kwargs, target.level.chosen, node)
    derivatives.check_floats(lo, outlined, node)
    derivatives.check_any_float(lo, outlined, node)
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
        parts = make[self.level.kind]()
        leaves = results.leaves_of(self.result, heap)
        flat: list[Binding] = [next(parts) if _is_float(leaf) else NONE for leaf in leaves]
        found = structures.returned(lo, self.result, heap, iter(flat))
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

    def like_arguments(self, parts: Sequence[Binding]) -> Binding:
        found = iter(parts)
        made = tuple(
            structures.arranged(self.lo, each, self.lo.held, found) for each in self.outlined.chosen
        )
        return made[0] if isinstance(self.level.argnums, int) else TupleOf(made)

    # -- derivatives -----------------------------------------------------------------------

    def forward(self) -> Iterator[Binding]:
        """Yield the derivatives of each float in the result, like the arguments."""
        ys, xs = self.ys, self.xs
        push = self.directional("forward", self.fn, first=len(self.fn.results))
        columns = [self.loop(jacobians.columns, push, ys, xs, k) for k in range(len(xs))]
        for row in zip(*columns, strict=True):
            yield self.like_arguments(row)

    def reverse(self) -> Iterator[Binding]:
        """Yield the derivatives of each float in the result, like the arguments."""
        ys, xs = self.ys, self.xs
        if self.is_number:
            found = self.directional("reverse", self.number)
            parts = along(self.lo, found, (), self.node).items
            yield self.like_arguments(self.numbers_like(parts, xs))
            return
        pull = self.directional("reverse", self.weighted)
        for k in range(len(ys)):
            yield self.like_arguments(self.loop(jacobians.rows, pull, xs, ys, k))

    def second(self) -> Iterator[Binding]:
        """Yield the second derivatives of each float in the result, like the arguments twice."""
        ys, xs = self.ys, self.xs
        of = self.number if self.is_number else self.weighted
        push = self.directional("reverse", of, (self.outlined.moved,))
        for k in range(len(ys)):
            columns = [self.column(push, k, j) for j in range(len(xs))]
            rows = [self.like_arguments(row) for row in zip(*columns, strict=True)]
            yield self.like_arguments(rows)

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
        """Return derivatives, with Python numbers where the primal values are Python numbers."""
        return tuple(
            Num(structures.like_number(self.lo, part.operand, leaf.operand))
            if isinstance(part, Num) and isinstance(leaf, Num)
            else part
            for part, leaf in zip(found, like, strict=True)
        )


def _is_float(leaf: Leaf) -> bool:
    return (leaf.operand if isinstance(leaf, Num) else leaf.object).type.kind == "f"


__all__ = ["along", "call"]
