"""NumPy's functions that select elements, find their positions or write to selected ones."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import concatenation, indexing, reductions, shaping
from adc.frontend.numpy.plain.composed import in_python
from adc.frontend.numpy.ufuncs import common_type, strong
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.frontend.values.arguments import Given, Handler
from adc.frontend.values.elementwise import lazy, lift
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import BOOL, F64, I64, Scalar, promote
from adc.library import sorting

HANDLERS: dict[str, Handler] = {}
numpy_function = arguments.entering(HANDLERS)


@numpy_function("a")
def _nonzero(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if not dims_of(lo, arrays.as_array(lo, given["a"], node)):
        raise TypeMismatchError(
            "Calling nonzero on 0d arrays is not allowed.", lo.span(node), "use `np.atleast_1d`"
        )
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
    if not source.dims:
        raise lo.unsupported("`np.argwhere` of a number", node, "use `np.atleast_1d`")
    found = indexing.nonzero(lo, source, node)
    columns = [views.with_new_axes(lo, part, [1]) for part in found]
    return concatenation.concatenated(lo, columns, 1, node)


def _ix(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower `np.ix_`: indices that broadcast to a grid."""
    found: list[Binding] = []
    for k, arg in enumerate(args):
        x = arrays.as_array(lo, arg, node)
        if len(dims_of(lo, x)) != 1 or kwargs:
            raise TypeMismatchError("Cross index must be 1 dimensional", lo.span(node))
        if elementwise.element_type(x).kind == "b":
            x = indexing.nonzero(lo, lazy(lo, x, node), node)[0]
        others = [j for j in range(len(args)) if j != k]
        found.append(elementwise.base_of(lo, views.with_new_axes(lo, x, others), node))
    return TupleOf(tuple(found))


HANDLERS["ix_"] = _ix


@numpy_function("cond x? y?", "where")
def _where(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if "x" not in given:
        return _nonzero(lo, {"a": given["cond"]}, node)  # type: ignore[no-any-return]
    if "y" not in given:
        raise TypeMismatchError("either both or neither of x and y should be given", lo.span(node))
    parts = [arrays.as_operand(lo, given[n], node) for n in ("cond", "x", "y")]

    def compute(items: list[Binding]) -> Binding:
        return _choose(lo, items, node)

    return elementwise.array_of(lo, lift(lo, parts, compute, node))


def _choose(lo: Lowerer, args: Sequence[Binding], node: ast.AST) -> Binding:
    """Lower `np.where` of numbers."""
    cond = operators.truth(lo, args[0], node)
    a, b = (elementwise.number(lo, arg, node, "`np.where`") for arg in args[1:])
    ty = common_type([a, b])
    a, b = (strong(lo, numbers.fit(lo, x, ty, node)) for x in (a, b))
    if isinstance(cond, Literal):
        return Num(a if cond.value else b)
    return Num(lo.builder.apply("select", cond, a, b))


@numpy_function("condlist choicelist default?", "select")
def _select(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    found = concatenation.parts_of(lo, given["condlist"], node)
    conditions = found if isinstance(found, list) else []
    choices = arguments.sequence(lo, given["choicelist"])
    if choices is None or len(choices) != len(conditions):
        raise TypeMismatchError(
            "list of cases must be same length as list of conditions", lo.span(node)
        )
    parts = [arrays.as_operand(lo, x, node) for x in (*choices, given.get("default", lo.num(0)))]
    parts = [elementwise.value_of(lo, part, node) for part in parts]
    *chosen, result = _in_one_type(lo, parts, node)
    for cond, choice in reversed(list(zip(conditions, chosen, strict=True))):
        result = _where(lo, {"cond": cond, "x": choice, "y": result}, node)
    return result


def _in_one_type(lo: Lowerer, parts: Sequence[Binding], node: ast.AST) -> list[Binding]:
    """Return numbers and arrays in the type that all of them have together."""
    samples: list[Operand] = []
    for part in parts:
        if isinstance(part, ArrayRef | Lazy):
            samples.append(numbers.zero_of(elementwise.element_type(part)))
        else:
            samples.append(elementwise.number(lo, part, node, "`np.select`"))
    ty = Scalar(common_type(samples).dtype)
    return [
        reductions.converted(lo, lazy(lo, part, node), ty, node)
        if isinstance(part, ArrayRef | Lazy)
        else Num(strong(lo, numbers.fit(lo, sample, ty, node)))
        for part, sample in zip(parts, samples, strict=True)
    ]


def _mode(lo: Lowerer, given: Given, node: ast.AST) -> str:
    mode = arguments.text(lo, given.get("mode"), "raise", node, "`mode`")
    if mode not in ("raise", "wrap", "clip"):
        raise TypeMismatchError(f"mode {mode!r}", lo.span(node))
    return mode


def _within(lo: Lowerer, index: Binding, size: Operand, mode: str, node: ast.AST) -> Binding:
    """Return indices as `mode` makes them: for "raise" they are checked where they are used."""
    if mode == "raise":
        return index

    def inside(parts: list[Binding]) -> Binding:
        k = arguments.integer(lo, parts[0], node)
        if mode == "wrap":
            return Num(lo.exact(lo.sizes.counts(lo.builder.apply("mod", k, size, hint="i")), I64))
        last = numbers.plus(lo, size, integer(-1))
        k = lo.builder.apply("maximum", k, integer(0))
        return Num(lo.exact(lo.builder.apply("minimum", k, last), I64))

    return lift(lo, [index], inside, node)


def _target(lo: Lowerer, x: Binding, name: str, node: ast.Call) -> ArrayRef:
    """Return the array that a function of NumPy changes."""
    if not isinstance(x, ArrayRef):
        raise TypeMismatchError(f"`np.{name}` needs an array", lo.span(node))
    return x


def _along_axis(lo: Lowerer, given: Given, node: ast.Call) -> tuple[Arraylike, int]:
    """Return an array and an axis; the flat one without any."""
    x = arrays.as_array(lo, given["a"], node)
    if arguments.is_none(given.get("axis")):
        return shaping.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node), 0
    return x, arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)


@numpy_function("a indices axis? * mode?", "take")
def _take(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    mode = _mode(lo, given, node)
    x, axis = _along_axis(lo, given, node)
    full = indexing.Slice(None, None, None, node)
    items = [indexing.Item(full, node)] * axis
    index = arrays.as_operand(lo, given["indices"], node)
    index = _within(lo, index, dims_of(lo, x)[axis], mode, node)
    found = indexing.read(lo, x, [*items, indexing.Item(index, node)], node)
    # A number as an index gives a view, and this function never does.
    if isinstance(found, ArrayRef) and found.view:
        return elementwise.copy(lo, found, node)
    return found


@numpy_function("condition a axis?", "compress")
def _compress(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x, axis = _along_axis(lo, given, node)
    condition = arrays.as_array(lo, given["condition"], node)
    if len(dims_of(lo, condition)) != 1:
        raise TypeMismatchError("the condition must be a vector", lo.span(node))
    cond = reductions.truths(lo, lazy(lo, condition, node), node)
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
    dims = dims_of(lo, x)
    if len(dims_of(lo, index)) != len(dims):
        raise TypeMismatchError(
            "`indices` and `arr` must have the same number of dimensions", lo.span(node)
        )
    items: list[indexing.Item] = []
    for k, size in enumerate(dims):
        if k == axis:
            items.append(indexing.Item(index, node))
            continue
        items.append(indexing.Item(_numbers_along(lo, k, size, len(dims)), node, True))
    return items


def _numbers_along(lo: Lowerer, axis: int, size: Operand, rank: int) -> Lazy:
    """Return the indices of an axis, in an array whose other axes have one element."""
    shape: list[Operand] = [integer(1)] * rank
    shape[axis] = size
    return Lazy(tuple(shape), I64, lambda i: lo.exact(i[axis], I64))


@numpy_function("arr indices axis?", "take_along_axis")
def _take_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = arrays.as_array(lo, given["arr"], node)
    index = elementwise.base_of(lo, arrays.as_array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given.get("axis", lo.num(-1)), len(dims_of(lo, x)), node)
    return indexing.read(lo, x, _along(lo, x, index, axis, node), node)


@numpy_function("arr indices values axis", "put_along_axis")
def _put_along_axis(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _target(lo, given["arr"], "put_along_axis", node)
    index = elementwise.base_of(lo, arrays.as_array(lo, given["indices"], node), node)
    axis = arguments.axis(lo, given["axis"], len(dims_of(lo, x)), node)
    value = arrays.as_operand(lo, given["values"], node)
    indexing.write(lo, x, _along(lo, x, index, axis, node), value, node)
    return Static(None)


@numpy_function("a ind v mode?", "put")
def _put(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _target(lo, given["a"], "put", node)
    if not views.is_contiguous(lo, x):
        raise lo.unsupported("`np.put` into a view", node, "index it")
    flat = _flat(lo, x, node)
    assert isinstance(flat, ArrayRef)
    (size,) = dims_of(lo, flat)
    given_index = arrays.as_operand(lo, given["ind"], node)
    index = arrays.as_array(lo, _within(lo, given_index, size, _mode(lo, given, node), node), node)
    index = elementwise.base_of(lo, _flat(lo, lazy(lo, index, node), node), node)
    (count,) = dims_of(lo, index)
    value = _values(lo, given["v"], x, node)
    if isinstance(value, ArrayRef | Lazy):
        repeated = _repeated(lo, _flat(lo, value, node), [count], node)
        if repeated is None:
            some = numbers.apply(lo, "gt", size, integer(0))
            with lo.at(node):
                text = "cannot replace elements of an empty array"
                numbers.check(lo, some, "IndexError", text)
            return Static(None)
        value = repeated
    indexing.write(lo, flat, [indexing.Item(index, node)], value, node)
    return Static(None)


def _flat(lo: Lowerer, x: Arraylike, node: ast.AST) -> Arraylike:
    """Return a view of all elements along one axis."""
    if len(dims_of(lo, x)) == 1:
        return x
    return shaping.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))], node)


def _values(lo: Lowerer, given: Binding, target: ArrayRef, node: ast.AST) -> Binding:
    """Return what is put into an array: a list in its type, arrays if nothing can be lost."""
    wanted = target.element
    items = arguments.sequence(lo, given)
    if items is not None:
        return arrays.from_items(lo, items, node, wanted.dtype)
    found = elementwise.value_of(lo, arrays.as_operand(lo, given, node), node)
    if not isinstance(found, ArrayRef | Lazy):
        return found
    ty = elementwise.element_type(found)
    if not np.can_cast(ty.numpy, wanted.numpy, "safe"):
        raise TypeMismatchError(
            f"cannot put values of {ty.numpy} into an array of {wanted.numpy}", lo.span(node),
            "convert them with `.astype`",
        )  # fmt: skip
    return found


def _repeated(
    lo: Lowerer, values: Arraylike, dims: Sequence[Operand], node: ast.AST
) -> Lazy | None:
    """Return a vector as an array of these sizes, filled again and again; None if it is empty."""
    (size,) = dims_of(lo, values)
    source = lazy(lo, values, node)
    if len(dims) == 1 and lo.sizes.same_size(size, dims[0]):
        return source
    if numbers.is_int(size, 0):
        return None
    with lo.at(node):
        some = numbers.apply(lo, "gt", size, integer(0))
        numbers.check(lo, some, "ValueError", "adc: no values are given")

    def element(index: Sequence[Operand]) -> Operand:
        place = index[0]
        for extent, k in zip(dims[1:], index[1:], strict=True):
            place = numbers.plus(lo, views.times(lo, place, extent), k)
        return source.element([lo.sizes.counts(numbers.apply(lo, "mod", place, size))])

    return Lazy(tuple(dims), source.type, element, source.reads, source.cost + 3)


@numpy_function("a mask values", "putmask")
def _putmask(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _target(lo, given["a"], "putmask", node)
    values = _values(lo, given["values"], x, node)
    if isinstance(values, ArrayRef | Lazy):
        own, dims = dims_of(lo, values), dims_of(lo, x)
        if len(own) != len(dims) or not all(map(lo.sizes.same_size, own, dims)):
            repeated = _repeated(lo, _flat(lo, values, node), dims, node)
            if repeated is None:
                return Static(None)
            values = repeated
        chosen = _where(lo, {"cond": given["mask"], "x": values, "y": x}, node)
        elementwise.assign_to(lo, x, chosen, node)
        return Static(None)
    index = indexing.Item(arrays.as_array(lo, given["mask"], node), node)
    indexing.write(lo, x, [index], values, node)
    return Static(None)


@numpy_function("dst src casting? where?", "copyto")
def _copyto(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    x = _target(lo, given["dst"], "copyto", node)
    source = elementwise.value_of(lo, arrays.as_operand(lo, given["src"], node), node)
    casting = arguments.text(lo, given.get("casting"), "same_kind", node, "`casting`")
    _check_castable(lo, source, x, casting, node)
    if "where" in given:
        source = _where(lo, {"cond": given["where"], "x": source, "y": x}, node)
    elementwise.assign_to(lo, x, source, node)
    return Static(None)


_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def _check_castable(
    lo: Lowerer, source: Binding, target: ArrayRef, casting: str, node: ast.AST
) -> None:
    """Raise where the rule does not allow to copy: of Python's numbers the kind counts."""
    if casting not in _CASTING:
        raise TypeMismatchError(f"casting {casting!r}", lo.span(node))
    wanted = target.element
    if isinstance(source, ArrayRef | Lazy):
        ty = elementwise.element_type(source)
    else:
        ty = numbers.scalar_type(elementwise.number(lo, source, node, "`np.copyto`"))
        if ty.weak and promote(ty, wanted) == wanted:
            return
    if not np.can_cast(ty.numpy, wanted.numpy, casting):  # type: ignore[arg-type]  # checked above
        raise TypeMismatchError(
            f"cannot copy {ty.numpy} to {wanted.numpy} according to the rule {casting!r}",
            lo.span(node), "convert it with `.astype`",
        )  # fmt: skip


@numpy_function("x weights? minlength?", "bincount")
def _bincount(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    index = arrays.as_array(lo, given["x"], node)
    if elementwise.element_type(index).kind not in "iu" or len(dims_of(lo, index)) != 1:
        raise TypeMismatchError("`np.bincount` needs a vector of integers", lo.span(node))
    index = elementwise.base_of(lo, index, node)
    least = arguments.integer(lo, given.get("minlength", lo.num(0)), node)
    source = lazy(lo, index, node)
    with lo.at(node):
        top, low = elementwise.nest(
            lo, source.dims, [lo.builder.apply("sub", least, integer(1)), integer(0)],
            ["top", "low"], lambda i, carried: _extent(lo, source.element(i), carried),
        )  # fmt: skip
        numbers.check(
            lo, numbers.apply(lo, "ge", low, integer(0)), "ValueError",
            "'list' argument must have no negative elements",
        )  # fmt: skip
        numbers.check(
            lo, numbers.apply(lo, "lt", top, integer(2**63 - 1)), "ValueError",
            "Maximum allowed dimension exceeded",
        )  # fmt: skip
        size = lo.builder.apply("add", top, integer(1), hint="n")
        lo.sizes.counts(size)
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
    """Return the largest and the smallest index so far."""
    k = numbers.weak(lo, numbers.to_int(lo, k))
    top = lo.builder.apply("maximum", carried[0], k, hint="top")
    return [top, lo.builder.apply("minimum", carried[1], k, hint="low")]


@numpy_function("a v side?", "searchsorted")
def _searchsorted(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    side = arguments.text(lo, given.get("side"), "left", node, "`side`")
    if side not in ("left", "right"):
        raise TypeMismatchError(
            f"search side must be 'left' or 'right' (got {side!r})", lo.span(node)
        )
    a = arrays.as_array(lo, given["a"], node)
    if len(dims_of(lo, a)) != 1:
        raise TypeMismatchError("only a vector can be searched", lo.span(node))
    held = elementwise.base_of(lo, a, node)
    row = "searchsorted_left" if side == "left" else "searchsorted_right"
    source = lazy(lo, held, node)
    value = arrays.as_operand(lo, given["v"], node)

    def compute(items: list[Binding]) -> Binding:
        v = elementwise.number(lo, items[0], node)
        return Num(_bisect(lo, source, v, row.endswith("left"), node))

    if not elementwise.is_array(value):
        return compute([value])
    inner = lazy(lo, value, node)  # type: ignore[arg-type]

    def element(index: Sequence[Operand]) -> Operand:
        return _bisect(lo, source, inner.element(index), side == "left", node)

    return Lazy(inner.dims, I64, element, inner.reads + source.reads, 20)


def _is_left_of(lo: Lowerer, x: Operand, v: Operand, left: bool, node: ast.Call) -> Operand:
    """Whether `v` is to be inserted after `x`, where neither is a real NaN."""
    if "c" not in (x.type.kind, v.type.kind):
        return lo.exact(numbers.compare_numbers(lo, "lt" if left else "le", x, v, node), BOOL)
    x, v, _ = numbers.promoted(lo, x, v, node)
    before = in_python(sorting.is_before)(
        lo, [Num(x), Num(v)] if left else [Num(v), Num(x)], {}, node
    )
    assert isinstance(before, Num)
    less = lo.exact(before.operand, BOOL)
    return less if left else lo.builder.apply("not", less)


def _bisect(lo: Lowerer, source: Lazy, v: Operand, left: bool, node: ast.Call) -> Operand:
    """Return the position of `v` by halving; 42 halvings are enough for any array."""
    nan = lo.exact(lo.builder.apply("ne", v, v), BOOL) if v.type.kind == "f" else None

    def body(_: list[Operand], carried: list[Any]) -> list[Operand]:
        low, high = carried
        both = lo.builder.apply("add", low, high)
        middle = lo.sizes.counts(lo.builder.apply("floordiv", both, integer(2), hint="i"))
        open_ = lo.builder.apply("lt", low, high)
        last = lo.builder.apply("sub", source.dims[0], integer(1))
        safe = lo.builder.apply("minimum", middle, lo.builder.apply("maximum", last, integer(0)))
        x = source.element([lo.sizes.counts(safe)])
        less = _is_left_of(lo, x, v, left, node)
        if nan is not None:  # it is more than any number
            x_is = lo.exact(lo.builder.apply("eq", x, x), BOOL) if left else Literal(True, BOOL)
            less = numbers.apply(lo, "or", less, numbers.apply(lo, "and", nan, x_is))
        right = lo.builder.apply("and", open_, less)
        keep = lo.builder.apply("and", open_, lo.builder.apply("not", less))
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
