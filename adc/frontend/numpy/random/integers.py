"""Draws of integers, permutations and choices."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend.core import bindings, numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, Static
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import selection
from adc.frontend.numpy.random import draws
from adc.frontend.numpy.random.draws import U64
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, is_none
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import INT, Scalar
from adc.library import random, twister

_INTEGERS = ("i64", "u64", "i32", "u32")
# What errors say: of a `Generator`, and of a `RandomState`.
_NEW = {
    "number": "a must be a positive integer unless no samples are taken",
    "array": "a cannot be empty unless no samples are taken",
    "larger": "Cannot take a larger sample than population when replace is False",
    "p": "Probabilities",
    "sum": ". See Notes section of docstring for more information.",
}
_OLD = {
    "number": "a must be greater than 0 unless no samples are taken",
    "array": "'a' cannot be empty unless no samples are taken",
    "larger": "Cannot take a larger sample than population when 'replace=False'",
    "p": "probabilities",
    "sum": "",
}


# -- integers --------------------------------------------------------------------------------------


@draws.method("generator low high? size? dtype? endpoint?", "integers")
@draws.legacy("generator low high? size? dtype?", "randint")
def _integers(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node) or "i64"
    if dtype not in _INTEGERS:
        raise lo.unsupported(
            f"random integers of dtype {Scalar(dtype).numpy}", node,
            f"use one of {', '.join(str(Scalar(name).numpy) for name in _INTEGERS)}",
        )  # fmt: skip
    dims = draws.size(lo, given, node)
    alone = is_none(given.get("high"))
    ends = [lo.num(0), given["low"]] if alone else [given["low"], given["high"]]
    for k, end in enumerate(ends):
        ends[k] = end = elementwise.value_of(lo, arrays.as_operand(lo, end, node), node)
        if isinstance(end, ArrayRef | Lazy):
            raise lo.unsupported(
                "an array of bounds of random integers", node,
                "draw one by one in a loop: the numbers are the same",
            )  # fmt: skip
    with lo.at(node):
        low, high = (arguments.integer(lo, end, node) for end in ends)
        closed = arguments.flag(lo, given.get("endpoint"), node, "`endpoint`")
        _check_range(lo, low, high, Scalar(dtype), dims, closed, alone)
        ends_ = [lo.convert(end, INT) for end in (low, high)]
        least, most = (draws.word(lo, end) for end in ends_)
        if not closed:
            most = numbers.apply(lo, "sub", most, Literal(1, U64))
        span = numbers.apply(lo, "sub", most, least)
    element = Scalar(dtype)
    found = _below(lo, given["generator"], span, dims, node, element, least)
    older = bindings.is_legacy(given["generator"])
    asked = given.get("dtype", Static(int) if older else None)
    if dims is None and isinstance(asked, Static) and asked.value is int:
        return Num(numbers.weak(lo, elementwise.number(lo, found, node)))
    return found


def _check_range(
    lo: Lowerer, low: Operand, high: Operand, ty: Scalar, dims: Sequence[Operand] | None,
    closed: bool, alone: bool,
) -> None:  # fmt: skip
    """Raise NumPy's errors of bounds, unless nothing is drawn."""
    nothing: Operand | None = None
    if dims is not None:
        nothing = numbers.apply(lo, "eq", views.size_of(lo, list(dims)), integer(0))

    def check(ok: Operand, message: str) -> None:
        ok = ok if nothing is None else numbers.apply(lo, "or", ok, nothing)
        numbers.check(lo, ok, "ValueError", message)

    info: Any = np.iinfo(str(ty.numpy))
    least, most = int(info.min), int(info.max) + (not closed)
    if least > -(2**63):
        text = f"low is out of bounds for {ty.numpy}"
        check(numbers.apply(lo, "ge", low, integer(least)), text)
    if most < 2**63:
        text = f"high is out of bounds for {ty.numpy}"
        check(numbers.apply(lo, "le", high, integer(most)), text)
    sign = (">" if closed else ">=") if not alone else ("<" if closed else "<=")
    message = f"high {sign} 0" if alone else f"low {sign} high"
    check(numbers.apply(lo, "le" if closed else "lt", low, high), message)


def _below(
    lo: Lowerer, generator: Binding, span: Operand, dims: Sequence[Operand] | None,
    node: ast.Call, element: Scalar, least: Operand,
) -> Binding:  # fmt: skip
    """Draw integers from `least` to `span` more, both words."""

    def made(word: Operand) -> Operand:
        return lo.exact(lo.convert(numbers.apply(lo, "add", least, word), element), element)

    fn = twister.masked if bindings.is_legacy(generator) else random.bounded
    return draws.drawn(lo, generator, fn, node, dims, made, element, [Num(span)], halves=True)


# -- choices ---------------------------------------------------------------------------------------


def _range(lo: Lowerer, count: Operand, node: ast.Call) -> ArrayRef:
    """Return the integers below `count` in an array."""
    element = Scalar("i64")
    source = Lazy((count,), element, lambda index: lo.exact(lo.convert(index[0], element), element))
    return elementwise.stored_new(lo, source, "i64", node, "index")


def _shuffled(
    lo: Lowerer, generator: Binding, index: ArrayRef, node: ast.Call, first: Operand
) -> None:
    """Exchange elements, from the last one to the `first`, with some before them."""
    more: tuple[Binding, ...] = (index, Num(first), lo.num(True))
    draws.drawn(lo, generator, random.shuffle, node, more=more, halves=True)


def _taken(
    lo: Lowerer, x: Binding, index: Binding, axis: Binding, node: ast.Call
) -> Binding:  # fmt: skip
    found = selection.HANDLERS["take"](lo, [x, index], {"axis": axis}, node)
    return elementwise.materialised(lo, found, node)


def _population(
    lo: Lowerer, x: Binding, axis: Binding, node: ast.Call
) -> tuple[ArrayRef | None, Operand]:
    """Return an array to take from, or None for the integers below a number; and their number."""
    x = elementwise.value_of(lo, arrays.as_operand(lo, x, node), node)
    if isinstance(x, ArrayRef | Lazy):
        x = elementwise.base_of(lo, x, node)
        dims = views.dims_of(lo, x)
        return x, dims[arguments.axis(lo, axis, len(dims), node)]
    return None, arguments.integer(lo, x, node)


@draws.method("generator x axis?")
@draws.legacy("generator x")
def _permutation(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    axis = given.get("axis", lo.num(0))
    with lo.at(node):
        x, count = _population(lo, given["x"], axis, node)
        if x is None:
            count = numbers.select(lo, numbers.apply(lo, "gt", count, integer(0)), count,
                                   integer(0))  # fmt: skip
        index = _range(lo, count, node)
        _shuffled(lo, given["generator"], index, node, integer(1))
        return index if x is None else _taken(lo, x, index, axis, node)


@draws.method("generator x axis?")
@draws.legacy("generator x")
def _shuffle(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["x"]
    if not isinstance(x, ArrayRef):
        raise lo.unsupported(
            f"shuffling {kind_of(x)}", node, "shuffle an array, or use `permutation`"
        )
    axis = given.get("axis", lo.num(0))
    with lo.at(node):
        _, count = _population(lo, x, axis, node)
        index = _range(lo, count, node)
        # Nothing is drawn for an array without elements.
        dims = views.dims_of(lo, x)
        empty = numbers.apply(lo, "eq", views.size_of(lo, dims), integer(0))
        first = numbers.select(lo, empty, count, integer(1)) if len(dims) > 1 else integer(1)
        _shuffled(lo, given["generator"], index, node, first)
        elementwise.assign_to(lo, x, _taken(lo, x, index, axis, node), node)
    return Static(None)


@draws.method("generator a size? replace? p? axis? shuffle?")
@draws.legacy("generator a size? replace? p?")
def _choice(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    axis = given.get("axis", lo.num(0))
    generator = given["generator"]
    older = bindings.is_legacy(generator)
    texts = _OLD if older else _NEW
    replaced = arguments.flag(lo, given.get("replace", lo.num(True)), node, "`replace`")
    with lo.at(node):
        x, count = _population(lo, given["a"], axis, node)
        if older and x is not None and len(views.dims_of(lo, x)) != 1:
            raise TypeMismatchError(
                "a must be 1-dimensional", lo.span(node), "draw indices: `choice(len(a), ...)`"
            )
        dims = draws.size(lo, given, node)
        total = views.size_of(lo, dims) if dims else integer(1)
        some = numbers.apply(lo, "gt", count, integer(0))
        none = numbers.apply(lo, "eq", total, integer(0))
        text = texts["number" if x is None else "array"]
        numbers.check(lo, numbers.apply(lo, "or", some, none), "ValueError", text)
        p = None
        if not is_none(given.get("p")):
            p = _probabilities(lo, given["p"], count, texts, node)
        if not replaced:
            enough = numbers.apply(lo, "le", total, count)
            numbers.check(lo, enough, "ValueError", texts["larger"])
            index = _sample(lo, given, p, count, total, node)
        elif p is not None:
            uniform = draws.standard(lo, generator, "random", [total], node)
            table = draws.call(lo, random.accumulated, [p], node)
            index = draws.call(lo, random.positions, [table, uniform], node)
        else:
            span = numbers.apply(lo, "sub", draws.word(lo, count), Literal(1, U64))
            shape = None if dims is None else [total]
            index = _below(lo, generator, span, shape, node, Scalar("i64"), Literal(0, U64))
        if dims is None or not dims:
            if isinstance(index, ArrayRef):
                index = Num(elementwise.lazy(lo, index, node).element([integer(0)]))
            if x is None and dims is None:
                return Num(numbers.weak(lo, elementwise.number(lo, index, node)))
        elif len(dims) > 1:
            assert isinstance(index, ArrayRef)
            index = elementwise.copy(lo, views.reshaped(lo, index, dims), node)
        return index if x is None else _taken(lo, x, index, axis, node)


def _sample(
    lo: Lowerer, given: Given, p: Binding | None, count: Operand, total: Operand, node: ast.Call
) -> Binding:
    """Return different positions."""
    generator = given["generator"]
    shuffled = arguments.flag(lo, given.get("shuffle", lo.num(True)), node, "`shuffle`")
    index = lo.new_array(arrays.created(lo, "i64", [total], None, "index"), (total,), "index")
    if p is not None:
        draws.drawn(lo, generator, random.weighted_sample, node, more=[index, p])
    elif bindings.is_legacy(generator):
        draws.drawn(lo, generator, twister.permuted, node, more=[index, Num(count)])
    else:
        more: tuple[Binding, ...] = (index, Num(count), lo.num(shuffled))
        draws.drawn(lo, generator, random.sample, node, more=more, halves=True)
    return index


def _probabilities(
    lo: Lowerer, given: Binding, count: Operand, texts: dict[str, str], node: ast.Call
) -> Binding:
    """Return probabilities in double precision, checked."""
    p = elementwise.value_of(lo, arrays.as_array(lo, given, node), node)
    if not isinstance(p, ArrayRef | Lazy) or len(views.dims_of(lo, p)) != 1:
        raise TypeMismatchError("p must be 1-dimensional", lo.span(node))
    element = elementwise.element_type(p)
    size = views.dims_of(lo, p)[0]
    text = "a and p must have same size"
    if texts is _OLD:
        text = "'a' and 'p' must have same size"
    numbers.check(lo, numbers.apply(lo, "eq", size, count), "ValueError", text)
    dtypes: dict[str, Any] = {"f16": np.float16, "f32": np.float32}
    tolerance = lo.num(float(np.sqrt(np.finfo(dtypes.get(element.dtype, np.float64)).eps)))
    p = draws.as_floats(lo, p, node)
    more: tuple[Binding, ...] = (tolerance, Static(texts["p"]), Static(texts["sum"]))
    draws.call(lo, random.require_probabilities, [p, *more], node)
    return p
