"""Sorting and linear algebra: calls of `adc.library`, which is lowered like user code."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.control import marks, program
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, ListRef, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.values import arrays, elementwise, structures, views
from adc.frontend.values.arguments import Handler
from adc.frontend.values.elementwise import is_array
from adc.ir.errors import TypeMismatchError
from adc.library import (
    functions,
    invertible,
    recompute,
    save,
    sorting,
    statistics,
    stop_gradient,
)
from adc.library.linear import linalg


def run(
    lo: Lowerer,
    fn: Callable[..., Any],
    args: list[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:
    """Lower a call of a library function; its first arguments may be array-like."""

    def prepared(arg: Binding) -> Binding:
        if isinstance(arg, TupleOf | ListRef) or is_array(arg):
            return elementwise.base_of(lo, arrays.as_array(lo, arg, node), node)
        return arg

    if fn in _ALL_ARRAYS:
        given = [prepared(arg) for arg in args]
        kwargs = {name: prepared(arg) for name, arg in kwargs.items()}
    elif fn in _OF_LISTS:
        given = args
    else:
        given = [prepared(args[0]), *args[1:]] if args else []
    given = [elementwise.materialised(lo, arg, node) for arg in given]
    if fn in _OF_MATRICES and given:
        name = fn.__name__.removeprefix("regular_")
        _require_matrix(lo, name, given[0], fn in _OF_ONE_MATRIX, node)
    kwargs = {name: elementwise.materialised(lo, arg, node) for name, arg in kwargs.items()}
    assert isinstance(fn, types.FunctionType)
    found = elementwise.value_of(lo, program.call_function(lo, fn, given, kwargs, node), node)
    # What has no axes NumPy's functions return as a number.
    return Num(found.operand) if isinstance(found, Num) else found


def _require_matrix(lo: Lowerer, name: str, matrix: Binding, alone: bool, node: ast.Call) -> None:
    rank = views.rank_of(lo, matrix) if isinstance(matrix, ArrayRef) else 0
    if rank > 2 and alone:
        raise lo.unsupported(
            f"`np.linalg.{name}` of a stack of matrices ({rank} axes)", node,
            f"loop over the stack: `for k in range(len(a)): ... np.linalg.{name}(a[k])`",
        )  # fmt: skip
    if rank < 2:
        raise TypeMismatchError(
            f"`np.linalg.{name}` of {kind_of(matrix)}", lo.span(node), "pass a matrix"
        )


def _library(fn: Callable[..., Any], ignored: tuple[str, ...] = ()) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        kept = {name: value for name, value in kwargs.items() if name not in ignored}
        return run(lo, fn, args, kept, node)

    return handler


def _stop(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower ``stop_gradient(x)``: a deep copy of `x`, with new arrays and numbers."""
    if len(args) != 1 or kwargs:
        raise TypeMismatchError("adc.stop_gradient() takes one argument", lo.span(node))

    def leaf(item: Num | ArrayRef | Lazy) -> Binding:
        found = elementwise.lift(lo, [item], lambda items: _number(lo, items[0]), node)
        return elementwise.materialised(lo, found, node)

    return structures.deep_copy(lo, args[0], node, "stop_gradient", leaf)


def _number(lo: Lowerer, item: Binding) -> Binding:
    assert isinstance(item, Num)
    if item.operand.type.kind not in "fc":
        return item
    return Num(lo.builder.apply("stop", item.operand))


def _said(kind: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        if len(args) != 1 or kwargs:
            raise TypeMismatchError(f"adc.{kind}() takes one argument", lo.span(node))
        return marks.said(lo, kind, args[0], node)

    return handler


def _linalg(name: str) -> Handler:
    own = _library(getattr(linalg, name))
    other = linalg.missing_eig if name in ("eig", "eigvals") else getattr(linalg, name)
    on_device = _library(getattr(linalg, f"regular_{name}", other))
    return lambda lo, args, kwargs, node: (on_device if lo.shared.on_device else own)(
        lo, args, kwargs, node
    )


_LINALG = (
    "solve", "inv", "det", "slogdet", "cholesky", "eig", "eigvals", "eigh", "eigvalsh", "qr",
    "svd", "svdvals", "pinv", "lstsq", "matrix_rank", "cond", "tensorsolve", "tensorinv",
    "multi_dot", "norm", "vector_norm", "matrix_norm",
)  # fmt: skip
HANDLERS: dict[Any, Handler] = {
    getattr(np.linalg, name): _linalg(name) for name in _LINALG if hasattr(np.linalg, name)
}
HANDLERS |= {
    np.sort: _library(sorting.sort, ("kind", "stable")),
    np.argsort: _library(sorting.argsort, ("kind", "stable")),
    np.median: _library(sorting.median),
    np.linalg.matrix_power: _library(functions.matrix_power),
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
        "percentile", "vander",
    )
    if hasattr(np, name)
}  # fmt: skip
HANDLERS |= {
    getattr(np, name): _library(getattr(statistics, name))
    for name in ("corrcoef", "cov", "digitize", "histogram")
}


def _covariance(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    found = _library(statistics.cov)(lo, args, kwargs, node)
    # Of one variable it is a 0-d array.
    return elementwise.array_of(lo, found)


HANDLERS[np.cov] = _covariance
# Functions of which all array-like arguments count, not only the first.
_ALL_ARRAYS = (
    linalg.solve, linalg.lstsq, linalg.tensorsolve, functions.average, functions.append,
    functions.cross, functions.kron, functions.trapezoid, functions.interp, functions.isclose,
    functions.allclose, functions.convolve, functions.array_equal, functions.fill_diagonal,
    statistics.corrcoef, statistics.cov, statistics.digitize, statistics.histogram,
)  # fmt: skip
# Functions of a list of arrays.
_OF_LISTS = (linalg.multi_dot,)
# Functions of a matrix, and which of them take stacks.
_OF_MATRICES = (
    linalg.solve, linalg.inv, linalg.det, linalg.slogdet, linalg.cholesky, linalg.eig,
    linalg.eigvals, linalg.eigh, linalg.eigvalsh, linalg.qr, linalg.svd, linalg.svdvals,
    linalg.pinv, linalg.lstsq, linalg.cond,
    linalg.matrix_norm, linalg.regular_det, linalg.regular_slogdet, functions.matrix_power,
)  # fmt: skip
_OF_ONE_MATRIX = (
    functions.matrix_power, linalg.lstsq, linalg.regular_det, linalg.regular_slogdet,
)  # fmt: skip
METHODS: dict[str, Handler] = {
    "sort": _library(sorting.sort_in_place, ("kind", "stable")),
    "argsort": _library(sorting.argsort, ("kind", "stable")),
}
