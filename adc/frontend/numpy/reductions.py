"""Sums, extrema and other reductions: one loop nest over the reduced axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from adc.frontend.core import numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num
from adc.frontend.core.lower import Lowerer
from adc.frontend.values import arguments, arrays, constants, elementwise, operators, views
from adc.frontend.values.arguments import Handler
from adc.frontend.values.elementwise import lazy, lift, nest
from adc.frontend.values.views import dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import B1, F32, F64, HALF, I64, INT, Scalar


def _source(lo: Lowerer, binding: Binding, node: ast.AST) -> Lazy:
    return lazy(lo, arrays.as_array(lo, binding, node), node)


def _axes(lo: Lowerer, given: dict[str, Binding], source: Lazy, node: ast.AST) -> list[int]:
    """Return the axes to reduce, in order: elements are combined as they lie in memory."""
    return sorted(arguments.axes(lo, given.get("axis"), len(source.dims), node))


def _reused(lo: Lowerer, source: Lazy, node: ast.AST) -> Lazy:
    """Return an expression that is cheap enough to be computed twice."""
    if source.cost <= elementwise.CHEAP:
        return source
    return lazy(lo, elementwise.base_of(lo, source, node), node)


def _split(
    index: Sequence[Operand], axes: Sequence[int], inner: Sequence[Operand]
) -> list[Operand]:
    """Return a full index from those of the kept axes and those of the reduced ones."""
    kept, reduced = iter(index), iter(inner)
    rank = len(index) + len(inner)
    return [next(reduced) if k in axes else next(kept) for k in range(rank)]


def fold(
    lo: Lowerer,
    source: Lazy,
    axes: Sequence[int],
    keepdims: bool,
    start: Operand,
    step: Callable[[Operand, Operand], Operand],
    node: ast.AST,
    ty: Scalar,
    finish: Callable[[Operand], Operand] = lambda x: x,
) -> Binding:
    """Combine elements along axes, first to last; `ty` is the type of the result's elements."""

    def inner(index: Sequence[Operand]) -> Operand:
        def body(at: list[Operand], carried: list[Value]) -> list[Operand]:
            return [step(carried[0], source.element(_split(index, axes, at)))]

        sizes = [source.dims[k] for k in axes]
        (total,) = nest(lo, sizes, [start], ["s"], body)
        return finish(total)

    return collected(lo, source, axes, keepdims, inner, ty, node)


def collected(
    lo: Lowerer,
    source: Lazy,
    axes: Sequence[int],
    keepdims: bool,
    element: Callable[[Sequence[Operand]], Operand],
    ty: Scalar,
    node: ast.AST,
) -> Binding:
    """Return the array of `element` at every index of the kept axes."""
    kept = [k for k in range(len(source.dims)) if k not in axes]
    with lo.at(node):
        if not kept:
            result = Num(element([]))
            if not keepdims or not axes:
                return result
            number = result.operand
            alone = Lazy((), ty, lambda index: number)
            return elementwise.base_of(lo, views.with_new_axes(lo, alone, list(axes)), node)
        dims = tuple(source.dims[k] for k in kept)
        made = elementwise.stored_new(
            lo, Lazy(dims, ty, element, source.reads), ty.dtype, node, "s"
        )
        return views.with_new_axes(lo, made, sorted(axes)) if keepdims else made


def _sum_type(ty: Scalar) -> Scalar:
    """Return the type that NumPy sums in: small integers are widened."""
    if ty.kind == "b" or ty.dtype in ("i8", "i16", "i32"):
        return I64
    return Scalar("u64") if ty.dtype in ("u8", "u16", "u32") else Scalar(ty.dtype)


_SPEC = "a axis? dtype? out? keepdims? initial? where?"


def as_reduced(
    lo: Lowerer, source: Lazy, given: dict[str, Binding], node: ast.AST
) -> tuple[Lazy, Scalar]:
    """Return the elements converted to the type of the reduction, and this type.

    ``dtype=`` says in which, or else the array given as ``out=``.
    """
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    if dtype is None and isinstance(given.get("out"), ArrayRef):
        source = _in_type_of_out(lo, source, given, node)
        return source, source.type
    ty = _sum_type(source.type) if dtype is None else Scalar(dtype)
    return converted(lo, source, ty, node), ty


def _in_type_of_out(
    lo: Lowerer, source: Lazy, given: dict[str, Binding], node: ast.AST, *, safely: bool = False
) -> Lazy:
    """Return the elements in the type of the array given as ``out=``, in which NumPy reduces.

    `safely`: integers must fit in it.
    """
    out = given.get("out")
    if not isinstance(out, ArrayRef):
        return source
    ty = Scalar(out.element.dtype)
    if not np.can_cast(source.type.numpy, ty.numpy, "same_kind"):
        raise TypeMismatchError(
            f"cannot reduce elements of {source.type.numpy} to {ty.numpy}", lo.span(node),
            "convert them with `.astype`",
        )  # fmt: skip
    if safely and ty.kind in "iu" and not np.can_cast(source.type.numpy, ty.numpy):
        raise lo.unsupported(
            f"reducing elements of {source.type.numpy} to {ty.numpy}", node,
            "convert them with `.astype`",
        )  # fmt: skip
    return converted(lo, source, ty, node)


def _divides_in_out(
    lo: Lowerer, source: Lazy, dtype: str | None, given: dict[str, Binding], node: ast.AST
) -> bool:
    """Whether NumPy adds and divides in the type of the array given as ``out=``."""
    out = given.get("out")
    if not isinstance(out, ArrayRef):
        return False
    if dtype is not None and dtype != out.element.dtype:
        raise lo.unsupported("`dtype=` with `out=` of another dtype", node, "leave out one of them")
    return dtype is None and source.type.kind in "fc"


def _row_of(name: str, ty: Scalar) -> str:
    """Return the row that adds or multiplies: sums of booleans are booleans."""
    return {"add": "bitor", "mul": "bitand"}[name] if ty.kind == "b" else name


def _neutral(name: str, ty: Scalar) -> Literal:
    one = name == "mul"
    return Literal({"f": float(one), "c": complex(one), "b": one}.get(ty.kind, int(one)), ty)


def _where(
    lo: Lowerer, source: Lazy, mask: Binding | None, neutral: Literal, node: ast.AST
) -> Lazy:
    """Return `source` with the elements that `where=` leaves out replaced."""
    if mask is None or is_true(mask):
        return source

    def compute(items: list[Binding]) -> Binding:
        x, cond = items
        assert isinstance(x, Num)
        truth = operators.truth(lo, cond, node)
        return Num(lo.builder.apply("select", truth, x.operand, neutral))

    found = lift(lo, [source, arrays.as_operand(lo, mask, node)], compute, node)
    assert isinstance(found, Lazy)
    if len(found.dims) != len(source.dims):
        raise lo.unsupported("`where=` of more axes than the array", node)
    return found


def is_true(mask: Binding) -> bool:
    return isinstance(mask, Num) and isinstance(mask.operand, Literal) and bool(mask.operand.value)


def converted(lo: Lowerer, source: Lazy, ty: Scalar, node: ast.AST) -> Lazy:
    """Return `source` with its elements converted, as `astype` does."""
    if source.type.dtype == ty.dtype:
        return source

    def element(index: Sequence[Operand]) -> Operand:
        return numbers.stored(lo, source.element(index), ty, node)

    return replace(source, type=ty, element=element, cost=source.cost + 1)


def finish_out(
    lo: Lowerer, result: Binding, out: Binding | None, node: ast.AST, *, broadcasts: bool = False
) -> Binding:
    """Store a result in the array given as ``out=``: of more axes only if it `broadcasts`."""
    if arguments.is_none(out):
        return result
    if not isinstance(out, ArrayRef):
        raise TypeMismatchError("return arrays must be of ArrayType", lo.span(node))
    rank = 0
    if elementwise.is_array(result):
        rank = len(dims_of(lo, result))  # type: ignore[arg-type]  # an array
    more = len(dims_of(lo, out)) - rank
    if more < 0 or (more and not broadcasts):
        raise TypeMismatchError("`out` has the wrong number of axes", lo.span(node))
    operators.check_cast(lo, result, out, node)
    elementwise.assign_to(lo, out, result, node, "output array")
    return out


def _by_rows(
    lo: Lowerer, source: Lazy, axes: Sequence[int], keepdims: bool, start: Operand, node: ast.AST,
    ty: Scalar,
) -> Binding:  # fmt: skip
    """Sum along axes other than the last: the innermost loop runs along memory."""
    kept = [k for k in range(len(source.dims)) if k not in axes]
    dims = tuple(source.dims[k] for k in kept)
    with lo.at(node):
        inner = Scalar(start.type.dtype)
        full = lo.builder.apply("full", start, *dims, params=(inner.dtype,), hint="s")

        def body(index: list[Operand], carried: list[Value]) -> list[Operand]:
            at = [index[k] for k in kept]
            old = lo.builder.load(carried[0], at)
            x = lo.exact(source.element(index), inner)
            new = lo.builder.apply(_row_of("add", inner), old, x, hint="s")
            return [lo.builder.store(carried[0], at, new, hint="s")]

        (version,) = nest(lo, source.dims, [full], ["s"], body)
        assert isinstance(version, Value)
        made = lo.new_array(version, dims, "s")
        if inner.dtype != ty.dtype:
            single = converted(lo, lazy(lo, made, node), ty, node)
            made = elementwise.base_of(lo, single, node)
    return views.with_new_axes(lo, made, sorted(axes)) if keepdims else made


def total(
    lo: Lowerer, source: Lazy, axes: Sequence[int], keepdims: bool, node: ast.AST,
    initial: Operand | None = None, ty: Scalar | None = None,
) -> Binding:  # fmt: skip
    """Sum elements along axes, in the type `ty`; half and single precision are summed in double."""
    ty = ty or _sum_type(source.type)
    inner = {"f16": F64, "f32": F64, "c64": Scalar("c128")}.get(ty.dtype, ty)
    source = converted(lo, source, inner, node)
    start: Operand = _neutral("add", inner)
    if initial is not None:
        start = lo.exact(numbers.stored(lo, initial, inner, node), inner)
    row = "sum" if ty.kind in "fc" else _row_of("add", ty)
    if axes and axes[-1] != len(source.dims) - 1:
        return _by_rows(lo, source, axes, keepdims, start, node, ty)
    return fold(
        lo, source, axes, keepdims, start,
        lambda s, x: lo.builder.apply(row, s, x, hint="s"), node, ty,
        lambda s: lo.convert(s, ty),
    )  # fmt: skip


def _initial(lo: Lowerer, given: dict[str, Binding], node: ast.AST) -> Operand | None:
    initial = given.get("initial")
    return None if arguments.is_none(initial) else elementwise.number(lo, initial, node)  # type: ignore[arg-type]


def _sum(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, _SPEC, args, kwargs, node)
    source, ty = as_reduced(lo, _source(lo, given["a"], node), given, node)
    axes = _axes(lo, given, source, node)
    keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
    source = _where(lo, source, given.get("where"), _neutral("add", ty), node)
    result = total(lo, source, axes, keepdims, node, _initial(lo, given, node), ty)
    return finish_out(lo, result, given.get("out"), node)


def _of_sizes(lo: Lowerer, items: Sequence[Binding], node: ast.Call) -> Binding | None:
    """Return the product of a few integers, such as a shape: known as soon as they are."""
    found: Binding | None = None
    for item in items:
        if not isinstance(item, Num) or item.operand.type != INT:
            return None
        factor = Num(lo.exact(item.operand, I64))
        found = factor if found is None else operators.binary(lo, ast.Mult, found, factor, node)
    return found


def _prod(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    if len(args) == 1 and not kwargs:
        items = arguments.sequence(lo, args[0])
        if items is not None and not items:  # the shape of a number
            return Num(Literal(1.0, F64))
        product = _of_sizes(lo, items or (), node)
        if product is not None:
            return product
    given = arguments.match(lo, _SPEC, args, kwargs, node)
    source, ty = as_reduced(lo, _source(lo, given["a"], node), given, node)
    axes = _axes(lo, given, source, node)
    keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
    inner = F32 if ty.dtype == HALF else ty  # a product of numbers of 16 bits is rounded once
    start: Operand = _neutral("mul", inner)
    source = _where(lo, source, given.get("where"), _neutral("mul", ty), node)
    source = converted(lo, source, inner, node)
    initial = _initial(lo, given, node)
    if initial is not None:
        start = lo.exact(numbers.stored(lo, initial, inner, node), inner)
    row = _row_of("mul", ty)
    result = fold(
        lo, source, axes, keepdims, start,
        lambda s, x: lo.builder.apply(row, s, x, hint="p"), node, ty,
        lambda s: lo.convert(s, ty),
    )  # fmt: skip
    return finish_out(lo, result, given.get("out"), node)


def count(lo: Lowerer, dims: Sequence[Operand], axes: Sequence[int]) -> Operand:
    """Return how many elements are reduced to one."""
    return views.size_of(lo, [dims[k] for k in axes])


def _floating(lo: Lowerer, source: Lazy, node: ast.AST) -> Lazy:
    return source if source.type.kind in "fc" else converted(lo, source, F64, node)


def mean(
    lo: Lowerer, source: Lazy, axes: Sequence[int], keepdims: bool, node: ast.AST,
    mask: Binding | None = None, ddof: Operand | None = None, ty: Scalar | None = None,
) -> Binding:  # fmt: skip
    """Return sums over counts (less `ddof`); of integers, rounded to zero, if `ty` is one.

    NumPy adds numbers of 16 bits in 32, unless it is given a type, and divides in 64.
    """
    result: Scalar | None = None
    if ty is None:
        source = _floating(lo, source, node)
        ty = source.type
        if ty.dtype == HALF:
            source, ty, result = converted(lo, source, F32, node), F32, ty
    else:
        source = converted(lo, source, ty, node)
    masked = _where(lo, source, mask, _neutral("add", ty), node)
    found = total(lo, masked, axes, keepdims, node, None, ty)
    size: Binding
    if mask is None or is_true(mask):
        size = Num(count(lo, source.dims, axes))
    else:
        weights = views.broadcast(lo, lazy(lo, arrays.as_array(lo, mask, node), node), source.dims)
        assert isinstance(weights, Lazy)
        size = total(lo, converted(lo, weights, I64, node), axes, keepdims, node)
    result = result or ty
    inner = ty if ty.kind in "fc" and result.dtype != HALF else F64
    rounded = ty if elementwise.is_array(found) else inner  # NumPy: into the array of the sums

    def divide(items: list[Binding]) -> Binding:
        s, n = (elementwise.number(lo, item, node) for item in items)
        s, n = lo.convert(s, inner), lo.convert(n, inner.part)
        if ddof is not None:
            n = numbers.apply(lo, "sub", n, lo.convert(ddof, numbers.scalar_type(n)))
            n = numbers.apply(lo, "maximum", n, Literal(0.0, numbers.scalar_type(n)))
        quotient = lo.convert(numbers.arithmetic(lo, "truediv", s, n, node), rounded)
        return Num(numbers.stored(lo, quotient, result, node))

    return lift(lo, [found, size], divide, node)


def _mean(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a axis? dtype? out? keepdims? where?", args, kwargs, node)
    source = _source(lo, given["a"], node)
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
    axes = _axes(lo, given, source, node)
    keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
    ty = None if dtype is None else Scalar(dtype)
    if _divides_in_out(lo, source, dtype, given, node):
        source, ty = as_reduced(lo, source, given, node)
    result = mean(lo, source, axes, keepdims, node, given.get("where"), ty=ty)
    return finish_out(lo, result, given.get("out"), node)


def _variance(root: bool) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        spec = "a axis? dtype? out? ddof? keepdims? * where? mean? correction?"
        given = arguments.match(lo, spec, args, kwargs, node)
        source = _reused(lo, _source(lo, given["a"], node), node)
        axes = _axes(lo, given, source, node)
        ty = source.type if source.type.kind in "fc" else F64
        dtype = arrays.dtype_argument(lo, given.get("dtype"), node)
        if dtype is not None:
            ty = Scalar(dtype)
        if ty.kind not in "fc":
            raise lo.unsupported(f"a variance in {ty.numpy}", node, "convert the result")
        keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
        mask = given.get("where")
        center = given.get("mean")
        if arguments.is_none(center):
            center = mean(lo, source, axes, True, node, mask, ty=ty)
        assert center is not None
        center = elementwise.materialised(lo, center, node)

        def deviation(items: list[Binding]) -> Binding:
            x, m = (elementwise.number(lo, item, node) for item in items)
            off = numbers.arithmetic(lo, "sub", x, m, node)
            if off.type.kind != "c":
                return Num(numbers.apply(lo, "square", off))
            re, im = (
                numbers.apply(lo, "square", numbers.apply(lo, name, off))
                for name in ("real", "imag")
            )
            return Num(numbers.apply(lo, "add", re, im))

        squares = lift(lo, [source, center], deviation, node)
        squares = lazy(lo, arrays.as_array(lo, squares, node), node)
        ddof = given.get("ddof", given.get("correction"))
        less = None if arguments.is_none(ddof) else elementwise.number(lo, ddof, node)  # type: ignore[arg-type]
        inner = ty.part
        if _divides_in_out(lo, source, dtype, given, node):
            squares, inner = as_reduced(lo, squares, given, node)
        result = mean(lo, squares, axes, keepdims, node, mask, less, inner)
        if root:
            result = lift(
                lo, [result],
                lambda items: Num(
                    numbers.apply(lo, "sqrt", elementwise.number(lo, items[0], node))
                ),
                node,
            )  # fmt: skip
        return finish_out(lo, result, given.get("out"), node)

    return handler


def extreme_index(
    lo: Lowerer,
    source: Lazy,
    axes: Sequence[int],
    index: Sequence[Operand],
    most: bool,
) -> list[Operand]:
    """Return where the largest (smallest) element is, the first of equals; NaN wins.

    First the element is found, then its place: both loops become vectors, while one that carries
    both takes one element after the other.
    """
    if not axes:
        return []
    sizes = [source.dims[k] for k in axes]
    is_bool = source.type.kind == "b"

    def value(at: Sequence[Operand]) -> Operand:
        x = source.element(_split(index, axes, at))
        return lo.convert(x, INT) if is_bool else x

    def better(at: list[Operand], carried: list[Value]) -> list[Operand]:
        name = "maximum" if most else "minimum"
        return [lo.builder.apply(name, carried[0], value(at), hint="best")]

    (best,) = nest(lo, sizes, [value([integer(0)] * len(axes))], ["best"], better)
    total = sizes[0]
    for size in sizes[1:]:
        total = lo.sizes.counts(numbers.apply(lo, "mul", total, size))

    def first(at: list[Operand], carried: list[Value]) -> list[Operand]:
        place: Operand = at[0]
        for size, inner in zip(sizes[1:], at[1:], strict=True):
            place = numbers.apply(lo, "add", numbers.apply(lo, "mul", place, size), inner)
        x = value(at)
        found = numbers.apply(lo, "eq", x, best)
        if source.type.kind in "fc":  # if one is NaN, `best` is
            found = numbers.apply(lo, "or", found, numbers.apply(lo, "ne", x, x))
        here = lo.builder.apply("select", found, place, total, hint="at")
        return [lo.builder.apply("minimum", carried[0], here, hint="at")]

    (at,) = nest(lo, sizes, [total], ["at"], first)
    places: list[Operand] = []
    for size in reversed(sizes[1:]):
        places.insert(0, lo.sizes.counts(numbers.apply(lo, "mod", at, size)))
        at = numbers.apply(lo, "floordiv", at, size)
    return [lo.sizes.counts(at), *places]


def _not_empty(lo: Lowerer, source: Lazy, axes: Sequence[int], text: str, node: ast.AST) -> None:
    with lo.at(node):
        for k in axes:
            size = source.dims[k]
            numbers.check(lo, numbers.apply(lo, "gt", size, integer(0)), "ValueError", text)


def _extreme(most: bool) -> Handler:
    name = "maximum" if most else "minimum"

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, "a axis? out? keepdims? initial? where?", args, kwargs, node)
        source = _in_type_of_out(lo, _source(lo, given["a"], node), given, node, safely=True)
        axes = _axes(lo, given, source, node)
        keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
        initial = given.get("initial")
        if not arguments.is_none(initial):
            return finish_out(
                lo, _with_initial(lo, name, source, axes, keepdims, given, node),
                given.get("out"), node,
            )  # fmt: skip
        if given.get("where") is not None and not is_true(given["where"]):
            raise TypeMismatchError(
                f"reduction operation '{name}' does not have an identity, so to use a where mask "
                "one has to specify 'initial'", lo.span(node),
            )  # fmt: skip
        source = _reused(lo, source, node)
        message = f"zero-size array to reduction operation {name} which has no identity"
        _not_empty(lo, source, axes, message, node)

        def element(index: Sequence[Operand]) -> Operand:
            places = extreme_index(lo, source, axes, index, most)
            return source.element(_split(index, axes, places))

        result = collected(lo, source, axes, keepdims, element, source.type, node)
        return finish_out(lo, result, given.get("out"), node)

    return handler


def _with_initial(
    lo: Lowerer, row: str, source: Lazy, axes: Sequence[int], keepdims: bool,
    given: dict[str, Binding], node: ast.AST,
) -> Binding:  # fmt: skip
    start = numbers.stored(lo, elementwise.number(lo, given["initial"], node), source.type, node)
    mask = given.get("where")
    if mask is not None and not is_true(mask):

        def compute(items: list[Binding]) -> Binding:
            truth = operators.truth(lo, items[1], node)
            return Num(
                lo.builder.apply("select", truth, elementwise.number(lo, items[0], node), start)
            )

        found = lift(lo, [source, arrays.as_operand(lo, mask, node)], compute, node)
        assert isinstance(found, Lazy)
        source = found
    return fold(
        lo, source, axes, keepdims, start, lambda s, x: lo.builder.apply(row, s, x, hint="s"),
        node, source.type,
    )  # fmt: skip


def _arg_extreme(most: bool) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, "a axis? out? * keepdims?", args, kwargs, node)
        source = _source(lo, given["a"], node)
        axes = _axes(lo, given, source, node)
        keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
        name = "argmax" if most else "argmin"
        out = given.get("out")
        if isinstance(out, ArrayRef) and not np.can_cast(out.element.numpy, np.int64):
            raise TypeMismatchError(
                f"cannot store places in an array of {out.element.numpy}", lo.span(node),
                "make the array with `dtype=int`",
            )  # fmt: skip
        _not_empty(lo, source, axes, f"attempt to get {name} of an empty sequence", node)

        def element(index: Sequence[Operand]) -> Operand:
            places = extreme_index(lo, source, axes, index, most)
            linear: Operand = integer(0)
            for k, place in zip(axes, places, strict=True):
                linear = numbers.plus(lo, views.times(lo, linear, source.dims[k]), place)
            return lo.exact(linear, I64)

        result = collected(lo, source, axes, keepdims, element, I64, node)
        return finish_out(lo, result, given.get("out"), node)

    return handler


def _logical(row: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, "a axis? out? keepdims? * where?", args, kwargs, node)
        source = _source(lo, given["a"], node)
        axes = _axes(lo, given, source, node)
        keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
        source = truths(lo, source, node)
        neutral = Literal(row == "and", B1)
        source = _where(lo, source, given.get("where"), neutral, node)
        result = fold(
            lo, source, axes, keepdims, neutral,
            lambda s, x: lo.exact(numbers.apply(lo, row, s, x), B1), node, B1,
        )  # fmt: skip
        return finish_out(lo, result, given.get("out"), node)

    return handler


def truths(lo: Lowerer, source: Lazy, node: ast.AST) -> Lazy:
    if source.type.kind == "b":
        return source

    def element(index: Sequence[Operand]) -> Operand:
        return lo.exact(operators.truth(lo, Num(source.element(index)), node), B1)

    return replace(source, type=B1, element=element, cost=source.cost + 1)


def _count_nonzero(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "a axis? * keepdims?", args, kwargs, node)
    source = truths(lo, _source(lo, given["a"], node), node)
    axes = _axes(lo, given, source, node)
    keepdims = arguments.flag(lo, given.get("keepdims"), node, "`keepdims`")
    return total(lo, converted(lo, source, I64, node), axes, keepdims, node)


def _ptp(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a axis? out? keepdims?", args, kwargs, node)
    given["a"] = elementwise.materialised(lo, arrays.as_array(lo, given["a"], node), node)
    rest = {k: v for k, v in given.items() if k in ("axis", "keepdims")}
    wide = _in_type_of_out(lo, _source(lo, given["a"], node), given, node, safely=True)
    high = _extreme(True)(lo, [wide], dict(rest), node)
    low = _extreme(False)(lo, [given["a"]], dict(rest), node)
    result = operators.binary(lo, ast.Sub, high, low, node)
    return finish_out(lo, result, given.get("out"), node)


def _cumulative(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, "a axis? dtype? out?", args, kwargs, node)
        source, ty = as_reduced(lo, _source(lo, given["a"], node), given, node)
        if arguments.is_none(given.get("axis")):
            flat = views.reshaped(lo, source, [views.size_of(lo, source.dims)])
            assert isinstance(flat, Lazy)
            source, along = (flat if len(source.dims) != 1 else source), 0
        else:
            along = arguments.axis(lo, given["axis"], len(source.dims), node)
        start = _neutral(name, ty)
        row = _row_of(name, ty)
        with lo.at(node):
            empty = lo.builder.apply("empty", *source.dims, params=(ty.dtype,), hint="a")
            others = [size for k, size in enumerate(source.dims) if k != along]

            def outer(index: list[Operand], carried: list[Value]) -> list[Operand]:
                def inner(at: list[Operand], now: list[Value]) -> list[Operand]:
                    full = [*index[:along], *at, *index[along:]]
                    s = lo.builder.apply(row, now[0], source.element(full), hint="s")
                    return [s, lo.builder.store(now[1], full, s, hint="a")]

                found = nest(lo, [source.dims[along]], [start, carried[0]], ["s", "a"], inner)
                return [found[1]]

            (version,) = nest(lo, others, [empty], ["a"], outer)
        assert isinstance(version, Value)
        result = lo.new_array(version, source.dims, "a")
        return finish_out(lo, result, given.get("out"), node)

    return handler


HANDLERS: dict[str, Handler] = {
    "sum": _sum, "prod": _prod, "mean": _mean, "var": _variance(False), "std": _variance(True),
    "max": _extreme(True), "amax": _extreme(True), "min": _extreme(False), "amin": _extreme(False),
    "argmax": _arg_extreme(True), "argmin": _arg_extreme(False), "any": _logical("or"),
    "all": _logical("and"), "count_nonzero": _count_nonzero, "ptp": _ptp,
    "cumsum": _cumulative("add"), "cumprod": _cumulative("mul"),
}  # fmt: skip
HANDLERS |= {
    name: constants.folding(getattr(np, name), HANDLERS[name])
    for name in ("argmax", "argmin", "max", "amax", "min", "amin")
}
__all__ = ["HANDLERS"]
