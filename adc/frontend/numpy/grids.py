"""``np.mgrid[…]``, ``np.ogrid[…]``, ``np.r_[…]`` and ``np.c_[…]``."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.frontend.control import evaluation
from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import concatenation, creation
from adc.frontend.values import arrays, comparisons, elementwise, operators, views
from adc.frontend.values.views import Arraylike
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import FLOAT, I64, INT, Scalar


@dataclass(frozen=True)
class _Part:
    """One slice: its start, step and number of points."""

    start: Num
    step: Binding
    size: Operand
    # What decides the type of the grid.
    types: tuple[Scalar, ...]


def is_grid(value: Any) -> bool:
    return value is np.mgrid or value is np.ogrid


def grid(lo: Lowerer, value: Any, node: ast.Subscript) -> Binding:
    """Lower ``np.mgrid[slices]``, points for all indices, or ``np.ogrid[…]``, a vector each."""
    if isinstance(node.slice, ast.Slice):
        return _vector(lo, node.slice, node)
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    slices = [part for part in given if isinstance(part, ast.Slice)]
    if not given or len(slices) != len(given):
        raise lo.unsupported("a grid of anything but slices", node, "write `start:stop:step`")
    parts = [_part(lo, part, node) for part in slices]
    ty = numbers.array_type([INT, *(each for part in parts for each in part.types)])
    points = [_points(lo, part, ty, node) for part in parts]
    sizes = [part.size for part in parts]
    if value is np.ogrid:
        made: list[Binding] = []
        for k, point in enumerate(points):
            dims = tuple(size if j == k else integer(1) for j, size in enumerate(sizes))
            element = functools.partial(_of_one, point, k)
            made.append(elementwise.materialised(lo, Lazy(dims, ty, element, (), 3), node))
        return TupleOf(tuple(made))

    def whole(index: Sequence[Operand]) -> Operand:
        found = points[-1](index[len(points)])
        for k in reversed(range(len(points) - 1)):
            here = numbers.apply(lo, "eq", index[0], integer(k))
            point = points[k](index[k + 1])
            if isinstance(here, Literal):
                found = point if here.value else found
            else:
                found = lo.builder.apply("select", here, point, found)
        return found

    return Lazy((integer(len(points)), *sizes), ty, whole, (), 3 * len(points))


def _of_one(point: Callable[[Operand], Operand], k: int, index: Sequence[Operand]) -> Operand:
    return point(index[k])


def _vector(lo: Lowerer, part: ast.Slice, node: ast.Subscript) -> Binding:
    if _count(part) is None:
        ends = [part.lower or ast.Constant(0), part.upper, part.step or ast.Constant(1)]
        return _arange(lo, [_end(lo, end, node) for end in ends], node)
    made = _part(lo, part, node)
    ty = numbers.array_type(list(made.types))
    point = _points(lo, made, ty, node)
    return Lazy((made.size,), ty, lambda index: point(index[0]), (), 3)


def _arange(lo: Lowerer, ends: Sequence[Num], node: ast.Subscript) -> Lazy:
    call = ast.copy_location(ast.Call(node.value, [], []), node)
    found = creation.HANDLERS["arange"](lo, list(ends), {}, call)
    assert isinstance(found, Lazy)
    return found


def _count(part: ast.Slice) -> int | None:
    """Return the number of points that an imaginary step asks for."""
    step = part.step
    if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
        step = step.operand
    if isinstance(step, ast.Constant) and isinstance(step.value, complex):
        return int(abs(step.value))
    return None


def _end(lo: Lowerer, node: ast.expr | None, where: ast.AST) -> Num:
    if node is None:
        raise TypeMismatchError("a slice of a grid needs an end", lo.span(where))
    found = elementwise.value_of(lo, evaluation.lower_expr(lo, node), node)
    return Num(elementwise.number(lo, found, node, "an end of a grid"))


def _part(lo: Lowerer, part: ast.Slice, node: ast.Subscript) -> _Part:
    start = lo.num(0) if part.lower is None else _end(lo, part.lower, node)
    stop = _end(lo, part.upper, node)
    types = [numbers.scalar_type(end.operand) for end in (start, stop)]
    with lo.at(node):
        span = operators.binary(lo, ast.Sub, stop, start, node)
        count = _count(part)
        if count is not None:
            step: Binding = lo.num(1)
            if count != 1:
                step = operators.binary(lo, ast.Div, span, lo.num(float(count - 1)), node)
            return _Part(start, step, integer(count), (*types, FLOAT))
        by = lo.num(1) if part.step is None else _end(lo, part.step, node)
        nonzero = comparisons.compare(lo, ast.NotEq(), by, lo.num(0), node)
        numbers.check(lo, nonzero, "ZeroDivisionError", "division by zero")
        parts = operators.binary(lo, ast.Div, span, by, node)
        enough = comparisons.compare(lo, ast.Gt(), parts, lo.num(-1.0), node)
        numbers.check(lo, enough, "ValueError", "negative dimensions are not allowed")
        size = _arange(lo, [start, stop, by], node).dims[0]
    return _Part(start, by, size, (*types, numbers.scalar_type(by.operand)))


def _points(lo: Lowerer, part: _Part, ty: Scalar, node: ast.AST) -> Callable[[Operand], Operand]:
    """Return the function that computes a point: ``k * step + start``."""

    def point(k: Operand) -> Operand:
        with lo.at(node):
            whole = Num(lo.convert(lo.exact(k, I64), ty))
            scaled = operators.binary(lo, ast.Mult, whole, part.step, node)
            found = operators.binary(lo, ast.Add, scaled, part.start, node)
            return lo.exact(numbers.stored(lo, elementwise.number(lo, found, node), ty, node), ty)

    return point


def is_joined(value: Any) -> bool:
    return value is np.r_ or value is np.c_


def joined(lo: Lowerer, value: Any, node: ast.Subscript) -> Binding:
    """Lower ``np.r_[parts]``, parts along the first axis, or ``np.c_[parts]``, columns."""
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts: list[Arraylike] = []
    for part in given:
        if isinstance(part, ast.Slice):
            found: Binding = _vector(lo, part, node)
        else:
            found = evaluation.lower_expr(lo, part)
            if isinstance(found, Static) and isinstance(found.value, str):
                raise lo.unsupported(
                    "a directive in `np.r_` or `np.c_`", node, "use `np.concatenate`"
                )
            found = arrays.as_operand(lo, found, node)
        if not elementwise.is_array(found):
            found = arrays.from_items(lo, [found], node)
        assert isinstance(found, ArrayRef | Lazy)
        rank = len(views.dims_of(lo, found))
        if value is np.c_ and rank < 2:
            found = views.with_new_axes(lo, found, [1] if rank else [0, 1])
        elif rank == 0:
            found = views.with_new_axes(lo, found, [0])
        parts.append(found)
    axis = 0
    if value is np.c_:
        axis = len(views.dims_of(lo, parts[0])) - 1
    return concatenation.concatenated(lo, parts, axis, node)
