"""NumPy's functions that choose elements, find their places or write to chosen ones."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adc.frontend import (
    arguments,
    arrays,
    elementwise,
    indexing,
    joining,
    numbers,
    operators,
    reductions,
    shaping,
    views,
)
from adc.frontend.arguments import Given, Handler
from adc.frontend.bindings import ArrayRef, Binding, Lazy, Num, Static, TupleOf
from adc.frontend.elementwise import lazy, lift
from adc.frontend.lower import Lowerer
from adc.frontend.ufuncs import common_type, strong
from adc.frontend.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, F64, I64

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


@numpy_function("a")
def _nonzero(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = reductions.truths(lo, lazy(lo, arrays.as_array(lo, given["a"], node), node), node)
    return TupleOf(tuple(indexing.nonzero(lo, source, node)))


@numpy_function("a")
def _flatnonzero(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
    flat = views.reshaped(lo, x, [views.size_of(lo, x.dims)]) if len(x.dims) != 1 else x
    assert isinstance(flat, Lazy)
    return indexing.nonzero(lo, reductions.truths(lo, flat, node), node)[0]


@numpy_function("a")
def _argwhere(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    source = reductions.truths(lo, lazy(lo, arrays.as_array(lo, given["a"], node), node), node)
    found = indexing.nonzero(lo, source, node)
    columns = [views.with_new_axes(lo, part, [1]) for part in found]
    return joining.concatenated(lo, columns, 1, node)


def _ix(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `np.ix_`: indices that broadcast to a grid."""
    found: list[Binding] = []
    for k, arg in enumerate(args):
        x = arrays.as_array(lo, arg, node)
        if len(dims_of(lo, x)) != 1 or kwargs:
            raise TypeMismatchError("Cross index must be 1 dimensional", lo.span(node))
        if arrays.element_type(x).kind == "b":
            x = indexing.nonzero(lo, lazy(lo, x, node), node)[0]
        others = [j for j in range(len(args)) if j != k]
        found.append(elementwise.base_of(lo, views.with_new_axes(lo, x, others), node))
    return TupleOf(tuple(found))


HANDLERS["ix_"] = _ix


@numpy_function("cond x? y?", "where")
def _where(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if "x" not in given:
        return _nonzero(lo, {"a": given["cond"]}, node)  # type: ignore[no-any-return]
    parts = [arrays.as_operand(lo, given[n], node) for n in ("cond", "x", "y")]

    def compute(items: list[Binding]) -> Binding:
        return _choose(lo, items, node)

    return lift(lo, parts, compute, node)


def _choose(lo: Lowerer, args: Sequence[Binding], node: ast.AST) -> Binding:
    """Lower `np.where` of numbers."""
    cond = operators.truth(lo, args[0], node)
    a, b = (numbers.number(lo, arg, node, "`np.where`") for arg in args[1:])
    ty = common_type([a, b])
    a, b = (strong(lo, numbers.fit(lo, x, ty, node)) for x in (a, b))
    if isinstance(cond, Literal):
        return Num(a if cond.value else b)
    return Num(lo.builder.apply("select", cond, a, b))


@numpy_function("condlist choicelist default?", "select")
def _select(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    found = joining.parts_of(lo, given["condlist"], node)
    conditions = found if isinstance(found, list) else []
    choices = arguments.sequence(lo, given["choicelist"])
    if choices is None or len(choices) != len(conditions):
        raise TypeMismatchError(
            "list of cases must be same length as list of conditions", lo.span(node)
        )
    result: Binding = given.get("default", lo.num(0))
    for cond, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = _where(lo, {"cond": cond, "x": choice, "y": result}, node)
    return result


@numpy_function("a indices axis? * mode?", "take")
def _take(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    mode = arguments.text(lo, given.get("mode"), "raise", node, "`mode`")
    if mode not in ("raise", "wrap", "clip"):
        raise TypeMismatchError(f"mode {mode!r}", lo.span(node))
    if arguments.is_none(given.get("axis")):
        x = shaping.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)
        axis = 0
    else:
        axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    index = arrays.as_operand(lo, given["indices"], node)
    if mode != "raise":
        size = dims_of(lo, x)[axis]

        def inside(parts: list[Binding]) -> Binding:
            k = arguments.integer(lo, parts[0], node)
            if mode == "wrap":
                return Num(lo.exact(lo.counts(lo.builder.apply("mod", k, size, hint="i")), I64))
            last = numbers.plus(lo, size, integer(-1))
            k = lo.builder.apply("maximum", k, integer(0))
            return Num(lo.exact(lo.builder.apply("minimum", k, last), I64))

        index = lift(lo, [index], inside, node)
    return indexing.read(lo, x, [*items, indexing.Item(index, node)], node)


@numpy_function("condition a axis?", "compress")
def _compress(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    if arguments.is_none(given.get("axis")):
        x = shaping.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)
        axis = 0
    else:
        axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    cond = reductions.truths(
        lo, lazy(lo, arrays.as_array(lo, given["condition"], node), node), node
    )
    index = indexing.nonzero(lo, cond, node)[0]
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    return indexing.read(lo, x, [*items, indexing.Item(index, node)], node)


@numpy_function("condition a", "extract")
def _extract(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    condition = arrays.as_array(lo, given["condition"], node)
    flat = shaping.reshaped(lo, condition, [views.size_of(lo, dims_of(lo, condition))], node)
    return _compress(lo, {"condition": flat, "a": given["a"]}, node)  # type: ignore[no-any-return]


def _along(
    lo: Lowerer, x: Arraylike, index: Arraylike, axis: int, node: ast.AST
) -> list[indexing.Item]:
    """Return the index that `np.take_along_axis` and `np.put_along_axis` mean."""
    dims = dims_of(lo, index)
    items: list[indexing.Item] = []
    for k, size in enumerate(dims):
        if k == axis:
            items.append(indexing.Item(index, node))
            continue
        elementwise.require_same(
            lo, size, dims_of(lo, x)[k], "indices do not fit the array", [], node
        )
        shape: list[Operand] = [integer(1)] * len(dims)
        shape[k] = size
        grid = Lazy(tuple(shape), I64, lambda i, k=k: lo.exact(i[k], I64))  # type: ignore[misc]
        items.append(indexing.Item(grid, node, True))
    return items


@numpy_function("arr indices axis?", "take_along_axis")
def _take_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["arr"], node)
    index = elementwise.base_of(lo, arrays.as_array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given.get("axis", lo.num(-1)), len(dims_of(lo, x)), node)
    return indexing.read(lo, x, _along(lo, x, index, axis, node), node)


@numpy_function("arr indices values axis", "put_along_axis")
def _put_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["arr"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.put_along_axis` needs an array", lo.span(node))
    index = elementwise.base_of(lo, arrays.as_array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    value = arrays.as_operand(lo, given["values"], node)
    indexing.write(lo, x, _along(lo, x, index, axis, node), value, node)
    return Static(None)


@numpy_function("a ind v * mode?", "put")
def _put(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["a"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.put` needs an array", lo.span(node))
    if not views.is_contiguous(lo, x):
        raise lo.unsupported("`np.put` into a view", node, "index it")
    flat = views.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))])
    index = elementwise.base_of(lo, arrays.as_array(lo, given["ind"], node), node)
    if len(dims_of(lo, index)) == 0:
        index = views.with_new_axes(lo, index, [0])  # type: ignore[assignment]
    value = arrays.as_operand(lo, given["v"], node)
    assert isinstance(flat, ArrayRef)
    indexing.write(lo, flat, [indexing.Item(index, node)], value, node)
    return Static(None)


@numpy_function("a mask values", "putmask")
def _putmask(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["a"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.putmask` needs an array", lo.span(node))
    values = elementwise.value_of(lo, arrays.as_operand(lo, given["values"], node), node)
    if isinstance(values, ArrayRef | Lazy):
        # Values of the same shape stand at their own places; NumPy would repeat fewer.
        own, dims = dims_of(lo, values), dims_of(lo, x)
        if len(own) != len(dims):
            raise lo.unsupported(
                "`np.putmask` with values of another shape", node, "use `np.where`"
            )
        text = "adc: `np.putmask` needs values of the shape of the array"
        for a, b in zip(own, dims, strict=True):
            elementwise.require_same(lo, a, b, text, [], node)
        chosen = _where(lo, {"cond": given["mask"], "x": values, "y": x}, node)
        elementwise.assign_to(lo, x, chosen, node)
        return Static(None)
    index = indexing.Item(arrays.as_array(lo, given["mask"], node), node)
    indexing.write(lo, x, [index], values, node)
    return Static(None)


@numpy_function("dst src * where?", "copyto")
def _copyto(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = given["dst"]
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError("`np.copyto` needs an array", lo.span(node))
    source = arrays.as_operand(lo, given["src"], node)
    if "where" in given:
        source = _where(lo, {"cond": given["where"], "x": source, "y": x}, node)
    elementwise.assign_to(lo, x, source, node)
    return Static(None)


@numpy_function("x weights? minlength?", "bincount")
def _bincount(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    index = elementwise.base_of(lo, arrays.as_array(lo, given["x"], node), node)
    if arrays.element_type(index).kind not in "iu" or len(dims_of(lo, index)) != 1:
        raise TypeMismatchError("`np.bincount` needs a vector of integers", lo.span(node))
    least = arguments.integer(lo, given.get("minlength", lo.num(0)), node)
    source = lazy(lo, index, node)
    with lo.at(node):
        (size, low) = elementwise.nest(
            lo, source.dims, [least, integer(0)], ["n", "low"],
            lambda i, carried: _extent(lo, source.element(i), carried),
        )  # fmt: skip
        numbers.check(
            lo, numbers.apply(lo, "ge", low, integer(0)), "ValueError",
            "'list' argument must have no negative elements",
        )  # fmt: skip
        lo.counts(size)
        weights = given.get("weights")
        if arguments.is_none(weights):
            amount: Lazy | None = None
            ty = I64
        else:
            assert weights is not None
            amount = lazy(lo, arrays.as_array(lo, weights, node), node)
            text = "The weights and list don't have the same length."
            elementwise.require_same(lo, amount.dims[0], source.dims[0], text, [], node)
            ty = F64
        version = arrays.created(lo, ty.dtype, [size], numbers.zero_of(ty))

        def step(i: list[Operand], carried: list[Any]) -> list[Operand]:
            k = numbers.to_int(lo, source.element(i))
            old = lo.builder.load(carried[0], [k])
            more: Operand = Literal(1, I64) if amount is None else lo.convert(
                amount.element(i), F64
            )  # fmt: skip
            new = lo.builder.apply("add", old, lo.exact(more, ty))
            return [lo.builder.store(carried[0], [k], new, hint="a")]

        (filled,) = elementwise.nest(lo, source.dims, [version], ["a"], step)
    return lo.new_array(filled, (size,), "a")  # type: ignore[arg-type]


def _extent(lo: Lowerer, k: Operand, carried: Sequence[Operand]) -> list[Operand]:
    k = numbers.to_int(lo, k)
    beyond = lo.builder.apply("add", k, integer(1), hint="n")
    size = lo.builder.apply("maximum", carried[0], beyond, hint="n")
    return [size, lo.builder.apply("minimum", carried[1], k, hint="low")]


@numpy_function("a v side?", "searchsorted")
def _searchsorted(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    side = arguments.text(lo, given.get("side"), "left", node, "`side`")
    held = elementwise.base_of(lo, arrays.as_array(lo, given["a"], node), node)
    row = "searchsorted_left" if side == "left" else "searchsorted_right"
    source = lazy(lo, held, node)
    value = arrays.as_operand(lo, given["v"], node)

    def compute(items: list[Binding]) -> Binding:
        v = numbers.number(lo, items[0], node)
        return Num(_bisect(lo, source, v, row.endswith("left"), node))

    if not elementwise.is_array(value):
        return compute([value])
    inner = lazy(lo, value, node)  # type: ignore[arg-type]

    def element(index: Sequence[Operand]) -> Operand:
        return _bisect(lo, source, inner.element(index), side == "left", node)

    return Lazy(inner.dims, I64, element, inner.reads + source.reads, 20)


def _bisect(lo: Lowerer, source: Lazy, v: Operand, left: bool, node: ast.AST) -> Operand:
    """Return the position of `v` by halving; 42 halvings are enough for any array."""

    def body(_: list[Operand], carried: list[Any]) -> list[Operand]:
        low, high = carried
        both = lo.builder.apply("add", low, high)
        middle = lo.counts(lo.builder.apply("floordiv", both, integer(2), hint="i"))
        open_ = lo.builder.apply("lt", low, high)
        last = lo.builder.apply("sub", source.dims[0], integer(1))
        safe = lo.builder.apply("minimum", middle, lo.builder.apply("maximum", last, integer(0)))
        x = source.element([lo.counts(safe)])
        less = numbers.compare_numbers(lo, "lt" if left else "le", x, v, node)
        right = lo.builder.apply("and", open_, lo.exact(less, BOOL))
        keep = lo.builder.apply("and", open_, lo.builder.apply("not", lo.exact(less, BOOL)))
        after = lo.builder.apply("add", middle, integer(1))
        return [
            lo.builder.apply("select", right, after, low, hint="low"),
            lo.builder.apply("select", keep, middle, high, hint="high"),
        ]

    empty = numbers.apply(lo, "eq", source.dims[0], integer(0))
    trips: Operand = integer(42)
    if not isinstance(empty, Literal):
        trips = lo.builder.apply("select", empty, integer(0), trips)
    low, _ = elementwise.nest(lo, [trips], [integer(0), source.dims[0]], ["low", "high"], body)
    return lo.exact(low, I64)
