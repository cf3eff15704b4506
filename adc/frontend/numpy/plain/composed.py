"""Functions that `adc.library.arrays` implements in Python, which is lowered like user code."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core.bindings import Binding, ListRef, Num, Static, TupleOf, Zip, static
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import concatenation
from adc.frontend.values import arguments, arrays, elementwise, objects, views
from adc.frontend.values.arguments import Handler
from adc.frontend.values.views import Arraylike
from adc.ir.errors import TypeMismatchError
from adc.ir.foreign import STAND_INS, StandIn
from adc.library.arrays import (
    checks,
    domains,
    editing,
    elements,
    mapping,
    matrices,
    nan,
    places,
    polynomial,
    polynomials,
    series,
    sets,
    signals,
    windows,
)

_MODULES = (editing, elements, mapping, nan, places, polynomial, sets, signals, windows)


# What has no axes these return as an array.
_ARRAYS: tuple[Any, ...] = (
    domains.real_if_close, editing.asarray_chkfinite, mapping.apply_along_axis, sets.isin,
)  # fmt: skip


def in_python(
    fn: Callable[..., Any], constants: tuple[str, ...] = (), arrays: bool = False
) -> Handler:
    """Return the handler of a function that `adc.library` implements in Python.

    Numbers that it takes as `constants` are part of the program. One whose results without axes
    may be `arrays` or numbers says so itself.
    """

    def call(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        assert isinstance(fn, types.FunctionType)
        found = program.call_function(lo, fn, args, kwargs, node)
        if arrays:
            return found
        found = elementwise.value_of(lo, found, node)
        # What has no axes NumPy's functions return as a number.
        return Num(found.operand, fn in _ARRAYS) if isinstance(found, Num) else found

    return _with_values(fn, constants, call)


def _checking(fn: types.FunctionType) -> Handler:
    """Return the handler of a function that returns None, or raises `AssertionError`."""
    return _with_values(
        fn, ("decimal",),
        lambda lo, args, kwargs, node: program.call_function(lo, fn, args, kwargs, node),
    )  # fmt: skip


def constructed(cls: type, constants: tuple[str, ...] = ()) -> Handler:
    """Return the handler of a class that one of `adc.library` is in place of."""
    return _with_values(
        cls, constants,
        lambda lo, args, kwargs, node: objects.construct(lo, cls, args, kwargs, node),
    )  # fmt: skip


def _with_values(called: Callable[..., Any], constants: tuple[str, ...], call: Handler) -> Handler:
    """Return a handler that computes the arguments, and calls another one with them."""
    names = tuple(inspect.signature(called).parameters)

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        require_constants(lo, constants, names, args, kwargs, node)
        args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
        return call(lo, args, kwargs, node)

    return handler


def require_constants(
    lo: Lowerer, constants: tuple[str, ...], names: Sequence[str], args: list[Binding],
    kwargs: dict[str, Binding], node: ast.Call,
) -> None:  # fmt: skip
    """Make numbers that are given as some arguments part of the program."""
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if name in constants and isinstance(value, Num):
            arguments.constant_int(lo, value, node, f"`{name}`")


def vectorized(
    lo: Lowerer, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of an object that `np.vectorize` made."""
    if value.signature is not None or value.excluded or kwargs:
        raise lo.unsupported(
            "`np.vectorize` with `signature` or `excluded`, or a call with keywords", node,
            "loop over the elements",
        )  # fmt: skip
    kinds = None if value.otypes is None else [np.dtype(kind) for kind in value.otypes]
    first = [Static(value.pyfunc), static(None if kinds is None else tuple(kinds))]
    return in_python(mapping.vectorized)(lo, [*first, *args], {}, node)


def _enumerated(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.ndenumerate`: an index and an element at a time."""
    given = arguments.match(lo, "arr", args, kwargs, node)
    x = elementwise.base_of(lo, arrays.as_array(lo, given["arr"], node), node)
    dims = views.dims_of(lo, x)
    shape = [Num(size) for size in dims]
    index = in_python(places.ndindex)(lo, [TupleOf(tuple(shape))], {}, node)
    flat = x if len(dims) == 1 else views.reshaped(lo, x, [views.size_of(lo, dims)])
    return Zip((index, flat))


def _block(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `np.block`: lists of lists of arrays, put together from the innermost axis outwards."""
    given = arguments.match(lo, "arrays", args, kwargs, node)["arrays"]
    depth = _depth(lo, given, node)
    parts = list(_leaves(lo, given, node))
    rank = max([depth, *(len(views.dims_of(lo, part)) for part in parts)])
    if depth == 0:
        return elementwise.copy(lo, parts[0], node)
    return _joined(lo, given, depth, rank, node)


def _items(lo: Lowerer, given: Binding, node: ast.Call) -> tuple[Binding, ...] | None:
    if isinstance(given, TupleOf):
        raise TypeMismatchError("only lists can be arranged, not tuples", lo.span(node))
    items = arguments.sequence(lo, given)
    if items is None and isinstance(given, ListRef):
        raise lo.unsupported(
            "`np.block` of a list whose length is known only at run time", node,
            "use `np.concatenate`, or `np.stack`",
        )  # fmt: skip
    return items


def _depth(lo: Lowerer, given: Binding, node: ast.Call) -> int:
    items = _items(lo, given, node)
    if items is None:
        return 0
    depths = {_depth(lo, item, node) for item in items}
    if len(depths) != 1:
        raise TypeMismatchError(
            "List depths are mismatched." if items else "Lists cannot be empty", lo.span(node)
        )
    return 1 + depths.pop()


def _leaves(lo: Lowerer, given: Binding, node: ast.Call) -> Iterator[Arraylike]:
    items = _items(lo, given, node)
    if items is None:
        yield arrays.as_array(lo, given, node)
    for item in items or ():
        yield from _leaves(lo, item, node)


def _joined(lo: Lowerer, given: Binding, depth: int, rank: int, node: ast.Call) -> Arraylike:
    items = _items(lo, given, node)
    if items is None:
        part = arrays.as_array(lo, given, node)
        missing = rank - len(views.dims_of(lo, part))
        return views.with_new_axes(lo, part, range(missing)) if missing else part
    parts = [_joined(lo, item, depth - 1, rank, node) for item in items]
    return concatenation.concatenated(lo, parts, rank - depth, node)


HANDLERS: dict[Any, Handler] = {
    getattr(np, name): in_python(getattr(module, name))
    for module in _MODULES
    for name in module.__all__
    if hasattr(np, name) and isinstance(getattr(module, name), types.FunctionType)
}
HANDLERS |= {
    getattr(np.linalg, name): in_python(getattr(matrices, name))
    for name in matrices.__all__
    if hasattr(np.linalg, name)
}
#: What is in a module of `np.polynomial`.
SERIES: dict[str, Callable[..., Any]] = {
    f"np.polynomial.{module}.{name}": found
    for module in ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
    for name in series.__all__
    if (found := getattr(getattr(np.polynomial, module), name, None)) is not None
}
HANDLERS |= {found: in_python(getattr(series, found.__name__)) for found in SERIES.values()}
#: What is in `np.emath`.
COMPLEX: dict[str, Callable[..., Any]] = {
    f"np.emath.{name}": getattr(np.emath, name) for name in domains.__all__
}
HANDLERS |= {found: in_python(getattr(domains, found.__name__)) for found in COMPLEX.values()}
HANDLERS[np.real_if_close] = in_python(domains.real_if_close)
#: What is in `np.testing`.
TESTING: dict[str, Callable[..., Any]] = {
    f"np.testing.{name}": getattr(np.testing, name) for name in checks.__all__
}
HANDLERS |= {found: _checking(getattr(checks, found.__name__)) for found in TESTING.values()}
HANDLERS |= {np.ndenumerate: _enumerated, np.block: _block}
HANDLERS |= {
    np.broadcast: constructed(mapping.broadcast),
    np.poly1d: constructed(polynomials.poly1d),
    np.polynomial.Polynomial: constructed(polynomials.Polynomial),
    np.polynomial.Polynomial.fit: in_python(polynomials.fit),
    np.polynomial.Polynomial.fromroots: in_python(polynomials.fromroots),
}
STAND_INS["numpy.poly1d"] = StandIn(
    polynomials.poly1d, ("coeffs",), made=lambda items: np.poly1d(items["coeffs"])
)
STAND_INS["numpy.polynomial.Polynomial"] = StandIn(
    polynomials.Polynomial, ("coef", "domain", "window"),
    made=lambda items: np.polynomial.Polynomial(**items),
)  # fmt: skip
# Methods of arrays that are not the function of that name.
METHODS: dict[str, Handler] = {"partition": in_python(editing.partition_in_place)}
__all__ = [
    "COMPLEX", "HANDLERS", "METHODS", "SERIES", "TESTING", "constructed", "in_python",
    "require_constants", "vectorized",
]  # fmt: skip
