"""Sorting and linear algebra: calls of `adc.library`, plain Python that is lowered like any."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend import arrays, calls, elementwise, marks
from adc.frontend.bindings import Binding, ListRef, Num, TupleOf
from adc.frontend.elementwise import is_array
from adc.frontend.lower import Lowerer
from adc.ir.errors import TypeMismatchError
from adc.library import (
    functions,
    invertible,
    linalg,
    recompute,
    routines,
    save,
    sorting,
    stop_gradient,
)

Handler = Callable[[Lowerer, list[Binding], dict[str, Binding], ast.Call], Binding]


def run(
    lo: Lowerer,
    fn: Callable[..., Any],
    args: list[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:
    """Lower a call of a library function; its first arguments may be what NumPy takes as arrays."""

    def prepared(arg: Binding) -> Binding:
        if isinstance(arg, TupleOf | ListRef) or is_array(arg):
            return elementwise.base_of(lo, arrays.as_array(lo, arg, node), node)
        return arg

    if fn in _ALL_ARRAYS:
        given = [prepared(arg) for arg in args]
        kwargs = {name: prepared(arg) for name, arg in kwargs.items()}
    else:
        given = [prepared(args[0]), *args[1:]] if args else []
    given = [elementwise.materialised(lo, arg, node) for arg in given]
    kwargs = {name: elementwise.materialised(lo, arg, node) for name, arg in kwargs.items()}
    assert isinstance(fn, types.FunctionType)
    return calls.call_function(lo, fn, given, kwargs, node)


def _library(fn: Callable[..., Any], ignored: tuple[str, ...] = ()) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        kept = {name: value for name, value in kwargs.items() if name not in ignored}
        return run(lo, fn, args, kept, node)

    return handler


def _stop(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    """Lower ``stop_gradient(x)``: a new array, or a number."""

    def compute(items: list[Binding]) -> Binding:
        (item,) = items
        assert isinstance(item, Num)
        if item.operand.type.kind != "f":
            return item
        return Num(lo.builder.apply("stop", item.operand))

    found = elementwise.lift(lo, args, compute, node)
    return elementwise.materialised(lo, found, node)


def _said(kind: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if len(args) != 1 or kwargs:
            raise TypeMismatchError(f"adc.{kind}() takes one argument", lo.span(node))
        return marks.said(lo, kind, args[0], node)

    return handler


def _linalg(name: str) -> Handler:
    own, others = _library(getattr(linalg, name)), _library(getattr(routines, name))
    return lambda lo, args, kwargs, node: (others if lo.shared.routines else own)(
        lo, args, kwargs, node
    )


HANDLERS: dict[Any, Handler] = {
    getattr(np.linalg, name): _linalg(name)
    for name in (
        "solve", "inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "qr",
    )
}  # fmt: skip
HANDLERS |= {
    np.sort: _library(sorting.sort, ("kind", "stable")),
    np.argsort: _library(sorting.argsort, ("kind", "stable")),
    np.median: _library(sorting.median),
    np.linalg.norm: _library(linalg.norm),
    np.linalg.matrix_power: _library(functions.matrix_power),
    np.linalg.pinv: _library(functions.pinv),
    stop_gradient: _stop,
    save: _said("save"),
    recompute: _said("recompute"),
    invertible: _said("invertible"),
}
HANDLERS |= {
    getattr(np, name): _library(getattr(functions, name))
    for name in (
        "average", "append", "cross", "kron", "gradient", "trapezoid", "interp", "isclose",
        "allclose", "convolve", "fill_diagonal", "logspace", "array_equal", "quantile",
        "percentile",
    )
    if hasattr(np, name)
}  # fmt: skip
# Functions of which all array-like arguments count, not only the first.
_ALL_ARRAYS = (
    linalg.solve, routines.solve, functions.average, functions.append, functions.cross,
    functions.kron, functions.trapezoid, functions.interp, functions.isclose, functions.allclose,
    functions.convolve, functions.array_equal, functions.fill_diagonal,
)  # fmt: skip
METHODS: dict[str, Handler] = {
    "sort": _library(sorting.sort_in_place, ("kind", "stable")),
    "argsort": _library(sorting.argsort, ("kind", "stable")),
}
