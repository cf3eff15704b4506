"""NumPy's functions that repeat, move and pad elements: expressions at computed indices."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Axis, Binding, Lazy, Num, Window
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import concatenation, indexing, reductions
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import lazy
from adc.frontend.values.views import Arraylike, dims_of, is_one
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import LimitError, TypeMismatchError
from adc.ir.types import I64, INT

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


def _reindexed(
    lo: Lowerer, x: Lazy, dims: Sequence[Operand],
    where: Callable[[Sequence[Operand]], list[Operand]], node: ast.AST,
) -> Lazy:  # fmt: skip
    """Return the expression whose elements are those of `x` at computed indices."""
    if x.cost > elementwise.CHEAP:
        x = lazy(lo, elementwise.base_of(lo, x, node), node)

    def element(index: Sequence[Operand]) -> Operand:
        return x.element(where(index))

    reads = tuple((obj, (*view, Window((), ())), version) for obj, view, version in x.reads)
    return replace(x, dims=tuple(dims), element=element, reads=reads, cost=x.cost + 2)


def _mod(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return lo.sizes.counts(lo.builder.apply("mod", a, b, hint="i"))


def _div(lo: Lowerer, a: Operand, b: Operand) -> Operand:
    return lo.sizes.counts(lo.builder.apply("floordiv", a, b, hint="i"))


def _times(lo: Lowerer, size: Operand, count: Operand, node: ast.AST) -> Operand:
    """Return how long an axis is that is repeated."""
    with lo.at(node):
        found = views.times(lo, size, count)
        return found if is_one(count) else arrays.checked_size(lo, found)


@numpy_function("a reps")
def _tile(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
    items = arguments.sequence(lo, given["reps"])
    reps = [
        arguments.integer(lo, r, node) for r in (items if items is not None else [given["reps"]])
    ]
    rank = max(len(reps), len(x.dims))
    reps = [*([integer(1)] * (rank - len(reps))), *reps]
    full = views.with_new_axes(lo, x, range(rank - len(x.dims)))
    assert isinstance(full, Lazy)
    dims = [_times(lo, size, r, node) for size, r in zip(full.dims, reps, strict=True)]

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [
            integer(0) if is_one(size) else k if is_one(r) else _mod(lo, k, size)
            for k, size, r in zip(index, full.dims, reps, strict=True)
        ]

    return _reindexed(lo, full, dims, where, node)


@numpy_function("a repeats axis?")
def _repeat(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
    if arguments.is_none(given.get("axis")):
        flat = views.reshaped(lo, x, [views.size_of(lo, x.dims)])
        assert isinstance(flat, Lazy)
        x, axis = (flat if len(x.dims) != 1 else x), 0
    else:
        axis = arguments.axis(lo, given["axis"], len(x.dims), node)
    repeats = given["repeats"]
    if elementwise.is_array(repeats) or arguments.sequence(lo, repeats) is not None:
        index = _repeated(
            lo, lazy(lo, arrays.as_array(lo, repeats, node), node), x.dims[axis], node
        )
        full = indexing.Item(indexing.Slice(None, None, None, node), node)
        return indexing.read(lo, x, [full] * axis + [indexing.Item(index, node)], node)
    count = arguments.integer(lo, repeats, node)
    dims = [_times(lo, d, count, node) if k == axis else d for k, d in enumerate(x.dims)]

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [_div(lo, i, count) if k == axis else i for k, i in enumerate(index)]

    return _reindexed(lo, x, dims, where, node)


def _repeated(lo: Lowerer, counts: Lazy, size: Operand, node: ast.AST) -> ArrayRef:
    """Return every index as often as `counts` says."""
    if len(counts.dims) != 1 or counts.type.kind not in "iub":
        raise TypeMismatchError("the counts must be integers, one for each element", lo.span(node))
    counts = lazy(lo, elementwise.base_of(lo, counts, node), node)
    elementwise.require_same(
        lo, counts.dims[0], size, "operands could not be broadcast together", [], node
    )
    with lo.at(node):
        total = reductions.total(lo, counts, [0], False, node)
        assert isinstance(total, Num)
        length = lo.sizes.counts(lo.convert(total.operand, INT))
        empty = lo.builder.apply("empty", length, params=("i64",), hint="where")

        def each(index: list[Operand], carried: list[Value]) -> list[Operand]:
            count = lo.sizes.counts(lo.convert(counts.element(index), INT))
            numbers.check(
                lo, numbers.apply(lo, "ge", count, integer(0)), "ValueError",
                "repeats may not contain negative values.",
            )  # fmt: skip

            def one(_: list[Operand], now: list[Value]) -> list[Operand]:
                stored = lo.builder.store(now[0], [now[1]], lo.exact(index[0], I64), hint="where")
                return [
                    stored,
                    lo.sizes.counts(lo.builder.apply("add", now[1], integer(1), hint="n")),
                ]

            return elementwise.nest(lo, [count], carried, ["where", "n"], one)

        found = elementwise.nest(lo, counts.dims, [empty, integer(0)], ["where", "n"], each)
    assert isinstance(found[0], Value)
    return lo.new_array(found[0], (length,), "where")


@numpy_function("a shift axis?")
def _roll(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
    if arguments.is_none(given.get("axis")):
        shape = x.dims
        flat = views.reshaped(lo, x, [views.size_of(lo, shape)])
        assert isinstance(flat, Lazy)
        rolled = _rolled(
            lo,
            flat if len(shape) != 1 else x,
            {0: arguments.integer(lo, given["shift"], node)},
            node,
        )
        if not shape:
            return elementwise.array_of(lo, Num(rolled.element([integer(0)])))
        back = views.reshaped(lo, rolled, shape)
        return rolled if len(shape) == 1 else back
    axes = arguments.axes(lo, given["axis"], len(x.dims), node)
    items = arguments.sequence(lo, given["shift"])
    shifts = [
        arguments.integer(lo, i, node) for i in (items if items is not None else [given["shift"]])
    ]
    if len(shifts) == 1:
        shifts *= len(axes)
    return _rolled(lo, x, dict(zip(axes, shifts, strict=True)), node)


def _rolled(lo: Lowerer, x: Lazy, shifts: dict[int, Operand], node: ast.AST) -> Lazy:
    starts: dict[int, Operand] = {}
    with lo.at(node):
        for k, shift in shifts.items():
            # Where the first element of the result comes from, within the axis.
            size = lo.builder.apply("maximum", x.dims[k], integer(1), hint="n")
            back = lo.builder.apply("neg", shift) if not isinstance(shift, Literal) else integer(
                -int(shift.value)
            )  # fmt: skip
            starts[k] = lo.sizes.counts(lo.builder.apply("mod", back, size, hint="i"))

    def where(index: Sequence[Operand]) -> list[Operand]:
        found: list[Operand] = []
        for k, i in enumerate(index):
            if k in starts:
                moved = lo.builder.apply("add", i, starts[k], hint="i")
                beyond = lo.builder.apply("ge", moved, x.dims[k])
                less = lo.builder.apply("sub", moved, x.dims[k], hint="i")
                i = lo.sizes.counts(lo.builder.apply("select", beyond, less, moved, hint="i"))
            found.append(i)
        return found

    return _reindexed(lo, x, x.dims, where, node)


@numpy_function("a n? axis? prepend? append?")
def _diff(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["a"], node)
    times = arguments.constant_int(lo, given.get("n", lo.num(1)), node, "`n`")
    axis = arguments.axis(lo, given.get("axis", lo.num(-1)), len(dims_of(lo, x)), node)
    dims = dims_of(lo, x)

    def end(name: str) -> list[Arraylike]:
        if name not in given or times == 0:
            return []
        found = arrays.as_array(lo, given[name], node)
        if not dims_of(lo, found):
            one = integer(1)
            size = [one if k == axis else dim for k, dim in enumerate(dims)]
            found = views.broadcast(lo, found, size)
        return [found]

    if given.keys() & {"prepend", "append"}:
        ends = (end("prepend"), end("append"))
        x = concatenation.concatenated(lo, [*ends[0], x, *ends[1]], axis, node)
    for _ in range(times):
        x = elementwise.base_of(lo, x, node)
        after = concatenation.piece(lo, x, axis, integer(1), None, node)
        before = concatenation.piece(lo, x, axis, None, integer(-1), node)
        op = ast.BitXor if elementwise.element_type(x).kind == "b" else ast.Sub
        result = operators.binary(lo, op, after, before, node)
        assert isinstance(result, ArrayRef | Lazy)
        x = result
    return x


@numpy_function("a pad_width mode? * constant_values?")
def _pad(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = lazy(lo, arrays.as_array(lo, given["a"], node), node)
    mode = arguments.text(lo, given.get("mode"), "constant", node, "`mode`")
    widths = _pairs(lo, given["pad_width"], len(x.dims), node)
    known = ("constant", "edge", "reflect", "symmetric", "wrap")
    if mode not in known:
        raise lo.unsupported(f"`np.pad` with mode={mode!r}", node, f"use one of {known}")
    dims = [
        numbers.plus(lo, numbers.plus(lo, size, before), after)
        for size, (before, after) in zip(x.dims, widths, strict=True)
    ]
    if x.cost > elementwise.CHEAP:
        x = lazy(lo, elementwise.base_of(lo, x, node), node)
    if mode == "constant":
        return _padded(lo, x, dims, widths, given, node)

    def where(index: Sequence[Operand]) -> list[Operand]:
        return [
            i if numbers.is_int(before, 0) and numbers.is_int(after, 0)
            else _reflected(lo, mode, numbers.minus(lo, i, before), size)
            for i, size, (before, after) in zip(index, x.dims, widths, strict=True)
        ]  # fmt: skip

    with lo.at(node):
        for axis, (size, pair) in enumerate(zip(x.dims, widths, strict=True)):
            most = numbers.plus(lo, size, integer(-1)) if mode == "reflect" else size
            for width in pair:
                if numbers.is_int(width, 0):
                    continue
                none = numbers.apply(lo, "eq", width, integer(0))
                some = numbers.apply(lo, "gt", size, integer(0))
                numbers.check(
                    lo, numbers.apply(lo, "or", some, none), "ValueError",
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'",
                )  # fmt: skip
                if mode != "edge":
                    fits = numbers.apply(lo, "le", width, most)
                    numbers.check(
                        lo, numbers.apply(lo, "or", fits, none), LimitError.__name__,
                        f"adc: `np.pad` with mode={mode!r} wider than the array",
                    )  # fmt: skip
    return _reindexed(lo, x, dims, where, node)


def _reflected(lo: Lowerer, mode: str, i: Operand, size: Operand) -> Operand:
    """Return the index in the array that an index outside it stands for."""
    last = numbers.minus(lo, size, integer(1))
    if mode == "edge":
        low = lo.builder.apply("maximum", i, integer(0), hint="i")
        return lo.sizes.counts(lo.builder.apply("minimum", low, last, hint="i"))
    if mode == "wrap":
        return lo.sizes.counts(lo.builder.apply("mod", i, size, hint="i"))
    extra = integer(0 if mode == "reflect" else 1)
    below = lo.builder.apply("lt", i, integer(0))
    mirrored = numbers.minus(lo, lo.builder.apply("neg", i, hint="i"), extra)
    i = lo.builder.apply("select", below, mirrored, i, hint="i")
    above = lo.builder.apply("gt", i, last)
    twice = numbers.plus(lo, lo.builder.apply("mul", last, integer(2), hint="i"), extra)
    folded = lo.builder.apply("sub", twice, i, hint="i")
    return lo.sizes.counts(lo.builder.apply("select", above, folded, i, hint="i"))


def _pairs(
    lo: Lowerer, binding: Binding, rank: int, node: ast.AST
) -> list[tuple[Operand, Operand]]:
    """Return the widths before and after each axis, as `np.pad` reads them."""
    items = arguments.sequence(lo, binding)
    if items is None:
        width = arguments.integer(lo, binding, node)
        return [(width, width)] * rank
    nested = [arguments.sequence(lo, item) for item in items]
    found: list[tuple[Operand, Operand]] = []
    if all(inner is None for inner in nested):
        flat = [arguments.integer(lo, item, node) for item in items]
        pair = (flat[0], flat[-1])
        found = [pair] * rank
    else:
        for inner in nested:
            values = [arguments.integer(lo, item, node) for item in inner or ()]
            found.append((values[0], values[-1]))
        if len(found) == 1:
            found *= rank
    if len(found) != rank:
        raise TypeMismatchError("`pad_width` does not fit the array", lo.span(node))
    return found


def _padded(
    lo: Lowerer, x: Lazy, dims: Sequence[Operand],
    widths: Sequence[tuple[Operand, Operand]], given: Given, node: ast.AST,
) -> Binding:  # fmt: skip
    filler = given.get("constant_values", lo.num(0))
    value = elementwise.number(lo, filler, node, "`constant_values`")
    with lo.at(node):
        value = numbers.stored(lo, value, x.type, node)
        version = arrays.created(lo, x.type.dtype, list(dims), value)
        ref = lo.new_array(version, tuple(dims), "a")
        axes = tuple(Axis(before, ((k, integer(1)),)) for k, (before, _) in enumerate(widths))
        target = views.through(lo, ref, Window(x.dims, axes))
        assert isinstance(target, ArrayRef)
        elementwise.assign_to(lo, target, x, node)
    return ref
