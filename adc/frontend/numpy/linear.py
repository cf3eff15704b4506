"""Sorting and linear algebra: calls of `adc.library`, which is lowered like user code."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.control import marks, program
from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Closure,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Static,
    TupleOf,
    kind_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.inputs import instances
from adc.frontend.values import arrays, elementwise, structures, views
from adc.frontend.values.elementwise import is_array
from adc.ir.errors import TypeMismatchError
from adc.library import (
    functions,
    invertible,
    linalg,
    recompute,
    routines,
    save,
    sorting,
    statistics,
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
    """Lower a call of a library function; its first arguments may be array-like."""

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
    if fn in _OF_ONE_MATRIX and given:
        _require_one_matrix(lo, fn.__name__, given[0], node)
    kwargs = {name: elementwise.materialised(lo, arg, node) for name, arg in kwargs.items()}
    assert isinstance(fn, types.FunctionType)
    found = elementwise.value_of(lo, program.call_function(lo, fn, given, kwargs, node), node)
    # What has no axes NumPy's functions return as a number.
    return Num(found.operand) if isinstance(found, Num) else found


def _require_one_matrix(lo: Lowerer, name: str, matrix: Binding, node: ast.Call) -> None:
    rank = views.rank_of(lo, matrix) if isinstance(matrix, ArrayRef) else 0
    if rank > 2:
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
    return _stopped(lo, args[0], node, set())


def _stopped(lo: Lowerer, binding: Binding, node: ast.Call, seen: set[object]) -> Binding:
    def copied(item: Binding) -> Binding:
        return _stopped(lo, outside.opened(lo, item), node, seen)

    match binding:
        case Num() | ArrayRef() | Lazy():
            if isinstance(binding, ArrayRef):
                _only_once(lo, (binding.object, binding.view), node, seen)
            found = elementwise.lift(lo, [binding], lambda items: _number(lo, items[0]), node)
            return elementwise.materialised(lo, found, node)
        case TupleOf(items=items):
            return TupleOf(tuple(copied(item) for item in items))
        case RecordOf(keys=keys, items=items):
            return RecordOf(keys, tuple(copied(item) for item in items))
        case NamedTuple(cls=cls, record=record) if not instances.is_generator_class(cls):
            inner = copied(record)
            assert isinstance(inner, RecordOf)
            return NamedTuple(cls, inner)
        case ListRef() | DictRef() | ObjectRef():
            held = lo.held(binding)
            if not isinstance(held, Growing):
                _only_once(lo, binding.slot, node, seen)
                return structures.new_ref(lo, binding, copied(held))
        case Static() | Closure():
            return binding
    raise lo.unsupported(
        f"`stop_gradient` of {kind_of(binding)}", node, "apply it to the numbers and arrays in it"
    )


def _only_once(lo: Lowerer, key: object, node: ast.Call, seen: set[object]) -> None:
    """Refuse a container that refers to one object twice: its copy would have two objects."""
    if key in seen:
        raise lo.unsupported(
            "`stop_gradient` of a container that holds one object twice", node,
            "apply it to the numbers and arrays in it",
        )  # fmt: skip
    seen.add(key)


def _number(lo: Lowerer, item: Binding) -> Binding:
    assert isinstance(item, Num)
    if item.operand.type.kind != "f":
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
    own, others = _library(getattr(linalg, name)), _library(getattr(routines, name))
    return lambda lo, args, kwargs, node: (others if lo.shared.routines else own)(
        lo, args, kwargs, node
    )


_FACTORIZED = ("solve", "inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "qr")
HANDLERS: dict[Any, Handler] = {getattr(np.linalg, name): _linalg(name) for name in _FACTORIZED}
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
HANDLERS |= {
    getattr(np, name): _library(getattr(statistics, name))
    for name in ("corrcoef", "cov", "digitize", "histogram")
}


def _covariance(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    found = _library(statistics.cov)(lo, args, kwargs, node)
    # Of one variable it is a 0-d array.
    return Num(found.operand, array=True) if isinstance(found, Num) else found


HANDLERS[np.cov] = _covariance
# Functions of which all array-like arguments count, not only the first.
_ALL_ARRAYS = (
    linalg.solve, routines.solve, functions.average, functions.append, functions.cross,
    functions.kron, functions.trapezoid, functions.interp, functions.isclose, functions.allclose,
    functions.convolve, functions.array_equal, functions.fill_diagonal, statistics.corrcoef,
    statistics.cov, statistics.digitize, statistics.histogram,
)  # fmt: skip
# Functions of a matrix that NumPy takes stacks of, too.
_OF_ONE_MATRIX = (
    *(getattr(module, name) for module in (linalg, routines) for name in _FACTORIZED),
    functions.matrix_power, functions.pinv,
)  # fmt: skip
METHODS: dict[str, Handler] = {
    "sort": _library(sorting.sort_in_place, ("kind", "stable")),
    "argsort": _library(sorting.argsort, ("kind", "stable")),
}
