"""Matrix products: `@`, `dot`, `inner`, `outer`, `vdot`, `tensordot`, `einsum`, `trace`.

All of them are sums of products over labelled axes, so there is one builder, `contract`. A product
of two matrices of floats is one statement, which calls BLAS (`backend.runtime.gemm`). Others are
loop nests that accumulate row by row, so that the innermost loop has unit stride.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.frontend.core import classes, numbers
from adc.frontend.core.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Lazy,
    ListRef,
    Num,
    Static,
    TupleOf,
    Window,
)
from adc.frontend.core.dispatch import operates
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import complexes, reductions
from adc.frontend.numpy.ufuncs import strong
from adc.frontend.values import arguments, arrays, elementwise, operators, views
from adc.frontend.values.arguments import Handler
from adc.frontend.values.elementwise import is_array, lazy, nest
from adc.frontend.values.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import F16, F32, HALF, Scalar, promote


def _operand(lo: Lowerer, binding: Binding, node: ast.AST) -> Arraylike:
    """Return an operand whose elements are cheap to read many times."""
    source = arrays.as_array(lo, binding, node)
    if isinstance(source, Lazy) and source.cost > 1:
        return elementwise.base_of(lo, source, node)
    return source


def contract(
    lo: Lowerer, operands: Sequence[Arraylike], labels: Sequence[str], out: str, node: ast.AST
) -> Binding:
    """Sum products over the labels not in `out`; a label twice in a part is its diagonal."""
    sizes: dict[str, Operand] = {}
    for operand, names in zip(operands, labels, strict=True):
        for name, size in zip(names, dims_of(lo, operand), strict=True):
            text = "matmul: operands have a mismatch in a core dimension: {} and {}"
            old = sizes.get(name, size)
            sizes[name] = elementwise.common_size(lo, old, size, text, [old, size], node)
    ty = elementwise.element_type(operands[0])
    for operand in operands[1:]:
        ty = promote(ty, elementwise.element_type(operand))
    ty = Scalar(ty.dtype)
    if ty.dtype == HALF:
        return _of_half(lo, operands, labels, out, node)
    alike = all(
        lo.sizes.same_size(size, sizes[name])
        for operand, names in zip(operands, labels, strict=True)
        for name, size in zip(names, dims_of(lo, operand), strict=True)
    )
    if ty.kind in "fc" and alike and _is_product(lo, labels, out, sizes):
        if list(map(_is_complex, operands)).count(True) == 1:
            return _of_parts(lo, operands, labels, out, node)
        return _product(lo, operands, labels, out, sizes, ty, node)
    return _in_loops(lo, operands, labels, out, sizes, ty, node)


def _of_half(
    lo: Lowerer, operands: Sequence[Arraylike], labels: Sequence[str], out: str, node: ast.AST
) -> Binding:
    """As NumPy: products and sums have 32 bits, and a result is rounded once."""
    wide = [reductions.converted(lo, lazy(lo, each, node), F32, node) for each in operands]
    found = contract(lo, wide, labels, out, node)
    if isinstance(found, Num):
        return Num(lo.convert(found.operand, F16))
    assert isinstance(found, ArrayRef | Lazy)
    rounded = reductions.converted(lo, lazy(lo, found, node), F16, node)
    return elementwise.stored_new(lo, rounded, HALF, node, "a")


def _in_loops(
    lo: Lowerer, operands: Sequence[Arraylike], labels: Sequence[str], out: str,
    sizes: dict[str, Operand], ty: Scalar, node: ast.AST,
) -> Binding:  # fmt: skip
    """Compute a contraction in one nest of loops."""
    parts = [lazy(lo, operand, node) for operand in operands]
    strides = [
        [
            views.repetition(lo, size, sizes[name])
            for name, size in zip(names, part.dims, strict=True)
        ]
        for part, names in zip(parts, labels, strict=True)
    ]
    summed = [name for name in sizes if name not in out]

    def product(places: dict[str, Operand]) -> Operand:
        value: Operand | None = None
        for part, names, steps in zip(parts, labels, strides, strict=True):
            index = [
                views.times(lo, places[name], step) for name, step in zip(names, steps, strict=True)
            ]
            factor = lo.convert(part.element(index), ty)
            if value is None:
                value = factor
            elif ty.kind == "b":
                value = lo.builder.apply("bitand", value, factor)
            else:
                value = lo.builder.apply("mul", value, factor)
        assert value is not None
        return value

    def add(a: Operand, b: Operand, row: str) -> Operand:
        return lo.builder.apply("bitor" if ty.kind == "b" else row, a, b, hint="s")

    dims = [sizes[name] for name in out]
    zero = numbers.zero_of(ty)
    with lo.at(node):
        # The innermost loop: over the last label of the result if that is the last of a part.
        along = bool(out) and any(names and names[-1] == out[-1] for names in labels)
        if not along or not summed:

            def element(index: Sequence[Operand]) -> Operand:
                places = dict(zip(out, index, strict=True))
                if not summed:
                    return product(places)

                def body(at: list[Operand], carried: list[Value]) -> list[Operand]:
                    here = places | dict(zip(summed, at, strict=True))
                    row = "sum" if ty.kind in "fc" else "add"
                    return [add(carried[0], product(here), row)]

                return nest(lo, [sizes[name] for name in summed], [zero], ["s"], body)[0]

            if not out:
                return Num(element([]))
            source = Lazy(tuple(dims), ty, element)
            return elementwise.stored_new(lo, source, ty.dtype, node, "a")
        empty = lo.builder.apply("full", zero, *dims, params=(ty.dtype,), hint="a")
        order = [*out[:-1], *summed, out[-1]]

        def step(index: list[Operand], carried: list[Value]) -> list[Operand]:
            places = dict(zip(order, index, strict=True))
            at = [places[name] for name in out]
            old = lo.builder.load(carried[0], at)
            row = "sum" if ty.kind == "f" else "add"
            return [lo.builder.store(carried[0], at, add(old, product(places), row), hint="a")]

        (version,) = nest(lo, [sizes[name] for name in order], [empty], ["a"], step)
    assert isinstance(version, Value)
    return lo.new_array(version, tuple(dims), "a")


def _of_parts(
    lo: Lowerer, operands: Sequence[Arraylike], labels: Sequence[str], out: str, node: ast.AST
) -> Binding:
    """Multiply a real matrix and a complex one: two real products."""
    made: list[ArrayRef] = []
    for name in ("real", "imag"):
        parts: list[Arraylike] = []
        for x in operands:
            part = elementwise.part(lo, x, name, node) if _is_complex(x) else x
            assert isinstance(part, ArrayRef | Lazy)
            parts.append(part)
        found = contract(lo, parts, labels, out, node)
        assert isinstance(found, ArrayRef)
        made.append(found)
    re, im = (lo.version(each.object, node) for each in made)
    return lo.new_array(lo.builder.apply("complex", re, im), lo.dims[made[0].object], "a")


def _is_complex(x: Arraylike) -> bool:
    return elementwise.element_type(x).kind == "c"


def _is_product(lo: Lowerer, labels: Sequence[str], out: str, sizes: Mapping[str, Operand]) -> bool:
    """Whether it is a product of two matrices, none of which is known to be a vector."""
    if len(labels) != 2 or len(sizes) != 3 or any(lo.sizes.is_one(size) for size in sizes.values()):
        return False
    first, second = (set(names) for names in labels)
    ranks = [len(names) for names in (*labels, first, second, out)]
    return ranks == [2] * 5 and first ^ second == set(out)


def _product(
    lo: Lowerer,
    operands: Sequence[Arraylike],
    labels: Sequence[str],
    out: str,
    sizes: Mapping[str, Operand],
    ty: Scalar,
    node: ast.AST,
) -> ArrayRef:
    """Multiply two matrices."""
    pairs = list(zip(operands, labels, strict=True))
    if out[0] in labels[1]:
        pairs.reverse()
    with lo.at(node):
        (a, a_flipped), (b, b_flipped) = (_matrix(lo, x, ty, node) for x, _ in pairs)
        transposed = (
            (pairs[0][1][0] != out[0]) != a_flipped,
            (pairs[1][1][1] != out[1]) != b_flipped,
        )
        dims = tuple(sizes[name] for name in out)
        empty = lo.builder.apply("empty", *dims, params=(ty.dtype,), hint="a")
        version = lo.builder.gemm(empty, a, b, transposed, hint="a")
    return lo.new_array(version, dims, "a")


def _matrix(lo: Lowerer, x: Arraylike, ty: Scalar, node: ast.AST) -> tuple[Value, bool]:
    """Return an array with the elements of `x`, and whether it has them transposed.

    It is contiguous: a copy, unless `x` is a contiguous array or the transpose of one.
    """
    if isinstance(x, ArrayRef) and x.object.type.dtype == ty.dtype and not x.part:
        obj = x.object
        flipped = _is_transpose(lo, x)
        if flipped or not x.view:
            version = lo.version(obj, node)
            if obj.type.layout != "C":
                version = lo.builder.apply("copy", version, hint=obj.name)
            return version, flipped
    copied = elementwise.stored_new(lo, lazy(lo, x, node), ty.dtype, node, "a")
    return lo.version(copied.object, node), False


def _is_transpose(lo: Lowerer, x: ArrayRef) -> bool:
    """Whether a view is the transpose of a whole matrix."""
    window = x.view[0] if len(x.view) == 1 else None
    if not isinstance(window, Window) or x.object.type.rank != 2:
        return False
    zero, one = integer(0), integer(1)
    axes = (Axis(zero, ((1, one),)), Axis(zero, ((0, one),)))
    rows, columns = lo.dims[x.object]
    return window.axes == axes and window.dims == (columns, rows)


# What NumPy makes arrays of, but Python has no `@` for.
_CONTAINERS = (ListRef, TupleOf)


@operates(ast.MatMult)
def _operator(
    lo: Lowerer, kind: type[ast.AST], left: Binding, right: Binding, node: ast.AST
) -> Binding:
    if isinstance(left, _CONTAINERS) and isinstance(right, _CONTAINERS):
        raise TypeMismatchError(
            f"`@` is not defined for {kind_of(left)} and {kind_of(right)}", lo.span(node),
            "make arrays of them with `np.array`",
        )  # fmt: skip
    return matmul(lo, left, right, node)


def matmul(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower ``left @ right`` for operands of any rank from 1 on."""
    for which, side in enumerate((left, right)):
        if isinstance(side, Static) and side.value is None and is_array((right, left)[which]):
            text = (
                f"matmul: Input operand {which} does not have enough dimensions "
                "(has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
            )
            numbers.refuse(lo, "`@` is not defined for None", node, "ValueError", text)
        if isinstance(side, Static):
            raise lo.unsupported(f"`@` with {kind_of(side)}", node, advice.of_object(side.value))
    if not is_array(arrays.as_operand(lo, left, node)) or not is_array(
        arrays.as_operand(lo, right, node)
    ):
        raise TypeMismatchError("`@` needs arrays with at least one axis", lo.span(node))
    a, b = _operand(lo, left, node), _operand(lo, right, node)
    p, q = views.rank_of(lo, a), views.rank_of(lo, b)
    if not p or not q:
        raise TypeMismatchError("`@` needs arrays with at least one axis", lo.span(node))
    batch = max(p, q, 2) - 2
    names = "ABCDEFGH"[:batch]
    first = names[batch - (p - 2) :] + "ik" if p > 1 else "k"
    second = names[batch - (q - 2) :] + "kj" if q > 1 else "k"
    out = names + ("i" if p > 1 else "") + ("j" if q > 1 else "")
    inner = dims_of(lo, b)[-2 if q > 1 else 0]
    _check_inner(lo, dims_of(lo, a)[-1], inner, node)
    return contract(lo, [a, b], [first, second], out, node)


def _check_inner(lo: Lowerer, x: Operand, y: Operand, node: ast.AST) -> None:
    text = (
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
        "(n?,k),(k,m?)->(n?,m?) (size {} is different from {})"
    )
    elementwise.require_same(lo, x, y, text, [y, x], node)


def dot(lo: Lowerer, left: Binding, right: Binding, node: ast.AST) -> Binding:
    """Lower `np.dot`."""
    for side in (left, right):
        if classes.is_instance(side):  # of which NumPy makes an array of objects
            raise lo.unsupported(f"`np.dot` of {kind_of(side)}", node, "write the product: `A @ x`")
    left, right = (arrays.as_operand(lo, side, node) for side in (left, right))
    left, right = (elementwise.value_of(lo, side, node) for side in (left, right))
    if not is_array(left) or not is_array(right):
        # Python's numbers count as arrays: of float64, say.
        left, right = (
            Num(strong(lo, side.operand)) if isinstance(side, Num) else side
            for side in (left, right)
        )
        return operators.binary(lo, ast.Mult, left, right, node)
    a, b = _operand(lo, left, node), _operand(lo, right, node)
    p, q = views.rank_of(lo, a), views.rank_of(lo, b)
    first = "ABCDEFGH"[: p - 1] + "k"
    second = "k" if q == 1 else "MNOPQRST"[: q - 2] + "k" + "Z"
    text = "shapes are not aligned: {} (dim of the first) != {} (dim of the second)"
    x, y = dims_of(lo, a)[-1], dims_of(lo, b)[0 if q == 1 else -2]
    elementwise.require_same(lo, x, y, text, [x, y], node)
    out = first[:-1] + second.replace("k", "")
    return contract(lo, [a, b], [first, second], out, node)


def _matmul(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "a b out?", args, kwargs, node)
    result = matmul(lo, given["a"], given["b"], node)
    return reductions.finish_out(lo, result, given.get("out"), node)


def _dot(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a b out?", args, kwargs, node)
    result = dot(lo, given["a"], given["b"], node)
    out = given.get("out")
    if isinstance(out, ArrayRef) and isinstance(result, ArrayRef | Lazy):
        ty = elementwise.element_type(result)
        if ty.dtype != out.element.dtype:
            raise TypeMismatchError(
                f"cannot store a product of {ty.numpy} in an array of {out.element.numpy}",
                lo.span(node), "give it an array of the same dtype",
            )  # fmt: skip
    return reductions.finish_out(lo, result, given.get("out"), node)


def _vdot(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a b", args, kwargs, node)
    parts = []
    for name in ("a", "b"):
        x = arrays.as_array(lo, given[name], node)
        flat = views.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))])
        parts.append(flat if len(dims_of(lo, x)) != 1 else x)
    if _is_complex(parts[0]):
        parts[0] = arrays.as_array(lo, complexes.conjugated(lo, parts[0], node), node)
    return dot(lo, parts[0], parts[1], node)


def _inner(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a b", args, kwargs, node)
    a, b = (_operand(lo, given[name], node) for name in ("a", "b"))
    p, q = dims_of(lo, a), dims_of(lo, b)
    if not p or not q:
        return operators.binary(lo, ast.Mult, a, b, node)
    first = "ABCDEFGH"[: len(p) - 1] + "k"
    second = "MNOPQRST"[: len(q) - 1] + "k"
    text = "shapes are not aligned: {} (dim of the first) != {} (dim of the second)"
    elementwise.require_same(lo, p[-1], q[-1], text, [p[-1], q[-1]], node)
    return contract(lo, [a, b], [first, second], first[:-1] + second[:-1], node)


def _outer(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a b out?", args, kwargs, node)
    parts = []
    for name in ("a", "b"):
        x = arrays.as_array(lo, given[name], node)
        if len(dims_of(lo, x)) != 1:
            x = views.reshaped(lo, x, [views.size_of(lo, dims_of(lo, x))])
        parts.append(x)
    a = views.with_new_axes(lo, parts[0], [1])
    b = views.with_new_axes(lo, parts[1], [0])
    result = operators.binary(lo, ast.Mult, a, b, node)
    return reductions.finish_out(lo, result, given.get("out"), node)


def _trace(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    given = arguments.match(lo, "a offset? axis1? axis2? dtype? out?", args, kwargs, node)
    x = arrays.as_array(lo, given["a"], node)
    source, ty = reductions.as_reduced(
        lo, lazy(lo, diagonal(lo, x, given, node), node), given, node
    )
    found = reductions.total(lo, source, [len(source.dims) - 1], False, node, ty=ty)
    return reductions.finish_out(lo, found, given.get("out"), node)


def last_trace(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.linalg.trace`: of the matrices in the last two axes."""
    given = arguments.match(lo, "a * offset?", args, kwargs, node)
    return _trace(lo, [], given | {"axis1": lo.num(-2), "axis2": lo.num(-1)}, node)


def diagonal(
    lo: Lowerer, x: views.Arraylike, given: dict[str, Binding], node: ast.AST
) -> views.Arraylike:
    """Return the view that `np.diagonal` gives."""
    dims = dims_of(lo, x)
    rank = len(dims)
    first = arguments.axis(lo, given.get("axis1", Num(integer(0))), rank, node)
    second = arguments.axis(lo, given.get("axis2", Num(integer(1))), rank, node)
    if first == second:
        raise TypeMismatchError("axis1 and axis2 cannot be the same", lo.span(node))
    offset = arguments.constant_int(lo, given.get("offset", Num(integer(0))), node, "the offset")
    kept = [k for k in range(rank) if k not in (first, second)]
    down, right = max(-offset, 0), max(offset, 0)
    rows = numbers.plus(lo, dims[first], integer(-down))
    columns = numbers.plus(lo, dims[second], integer(-right))
    size: Operand
    if isinstance(rows, Literal) and isinstance(columns, Literal):
        size = integer(max(min(int(rows.value), int(columns.value)), 0))
    elif lo.sizes.same_size(rows, columns):
        size = rows
    else:
        size = lo.sizes.counts(lo.builder.apply("minimum", rows, columns, hint="n"))
        size = lo.sizes.counts(lo.builder.apply("maximum", size, integer(0), hint="n"))
    last = len(kept)
    axes: list[Axis] = []
    for k in range(rank):
        if k == first:
            axes.append(Axis(integer(down), ((last, integer(1)),)))
        elif k == second:
            axes.append(Axis(integer(right), ((last, integer(1)),)))
        else:
            axes.append(Axis(integer(0), ((kept.index(k), integer(1)),)))
    found = views.through(lo, x, Window((*(dims[k] for k in kept), size), tuple(axes)))
    return replace(found, readonly=True)


def _tensordot(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "a b axes?", args, kwargs, node)
    a, b = (_operand(lo, given[name], node) for name in ("a", "b"))
    p, q = views.rank_of(lo, a), views.rank_of(lo, b)
    axes = given.get("axes", Num(integer(2)))
    pair = arguments.sequence(lo, axes)
    if pair is None:
        count = arguments.constant_int(lo, axes, node, "`axes`")
        if not 0 <= count <= min(p, q):
            raise TypeMismatchError("shape-mismatch for sum", lo.span(node))
        left, right = list(range(p - count, p)), list(range(count))
    else:
        left = arguments.axes(lo, pair[0], p, node)
        right = arguments.axes(lo, pair[1], q, node)
    if len(left) != len(right):
        raise TypeMismatchError("`axes` of different lengths", lo.span(node))
    first = list("ABCDEFGH"[:p])
    second = list("MNOPQRST"[:q])
    for i, j in zip(left, right, strict=True):
        second[j] = first[i]
        elementwise.require_same(
            lo, x := dims_of(lo, a)[i], y := dims_of(lo, b)[j],
            "shape-mismatch for sum: {} and {}", [x, y], node,
        )  # fmt: skip
    out = [n for k, n in enumerate(first) if k not in left]
    out += [n for k, n in enumerate(second) if k not in right]
    found = contract(lo, [a, b], ["".join(first), "".join(second)], "".join(out), node)
    return elementwise.array_of(lo, found)


def _linalg_outer(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower `np.linalg.outer`, which takes vectors only."""
    given = arguments.match(lo, "x1 x2 *", args, kwargs, node)
    parts = [arrays.as_array(lo, given[name], node) for name in ("x1", "x2")]
    if any(len(dims_of(lo, x)) != 1 for x in parts):
        raise TypeMismatchError("Input arrays must be one-dimensional", lo.span(node))
    return _outer(lo, list(parts), {}, node)


# The subscripts 0, 1, … of `np.einsum`, in its order.
_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _with_text(lo: Lowerer, args: list[Binding], node: ast.Call) -> list[Binding]:
    """Return the arguments of `np.einsum` with the subscripts as one text.

    ``a, [0, 1], b, [1]`` stands for ``"AB,B", a, b``; a list at the end has the axes of the result.
    """

    def letters(given: Binding) -> str:
        found = ""
        for item in arguments.sequence(lo, given) or ():
            if isinstance(item, Static) and item.value is Ellipsis:
                found += "..."
                continue
            number = arguments.constant_int(lo, item, node, "a subscript")
            if not 0 <= number < len(_LETTERS):
                raise TypeMismatchError(
                    "subscript is not within the valid range [0, 52)", lo.span(node)
                )
            found += _LETTERS[number]
        return found

    count = len(args) // 2
    text = ",".join(letters(given) for given in args[1 : 2 * count : 2])
    if len(args) % 2:
        text += "->" + letters(args[-1])
    return [Static(text), *args[0 : 2 * count : 2]]


def _einsum(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    kwargs = {k: v for k, v in kwargs.items() if k != "optimize"}
    if "out" in kwargs:
        rest = {k: v for k, v in kwargs.items() if k != "out"}
        return _einsum_into(lo, args, rest, kwargs["out"], node)
    if kwargs or not args:
        raise lo.unsupported("this call of `np.einsum`", node, "give subscripts and operands")
    if not (isinstance(args[0], Static) and isinstance(args[0].value, str)):
        args = _with_text(lo, args, node)
    assert isinstance(args[0], Static)
    text = args[0].value.replace(" ", "")
    parts = [_operand(lo, arg, node) for arg in args[1:]]
    inputs, arrow, out = text.partition("->")
    labels = inputs.split(",")
    if len(labels) != len(parts):
        raise TypeMismatchError(
            f"{len(labels)} groups of subscripts for {len(parts)} operands", lo.span(node)
        )
    for names in (*labels, out):
        if not set(names.replace("...", "", 1)) <= set(_LETTERS):
            raise TypeMismatchError(f"the subscripts {names!r} are not valid", lo.span(node))
    spare = [c for c in _LETTERS if c not in text]
    widest = 0
    for names, part in zip(labels, parts, strict=True):
        if "..." in names:
            widest = max(widest, views.rank_of(lo, part) - len(names.replace("...", "")))
    dots = "".join(spare[:widest])
    for k, (names, part) in enumerate(zip(labels, parts, strict=True)):
        count = views.rank_of(lo, part) - len(names.replace("...", ""))
        labels[k] = names.replace("...", dots[widest - count :] if count > 0 else "")
        if len(labels[k]) != views.rank_of(lo, part):
            rank = views.rank_of(lo, part)
            raise TypeMismatchError(
                f"the subscripts {names!r} do not fit an operand with {rank} axes",
                lo.span(node),
            )
    if arrow:
        if widest and "..." not in out:
            raise TypeMismatchError(
                f"the output subscripts {out!r} lack the '...' of the operands", lo.span(node)
            )
        out = out.replace("...", dots)
    else:
        joined = "".join(labels)
        out = dots + "".join(
            sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots)
        )
    unknown = set(out) - set("".join(labels))
    if unknown or len(set(out)) != len(out):
        raise TypeMismatchError(f"the output subscripts {out!r} are not valid", lo.span(node))
    if len(parts) == 1 and set(labels[0]) == set(out):
        return _relabelled(lo, parts[0], labels[0], out, node)
    return _pairwise(lo, parts, labels, out, node)


def _einsum_into(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], out: Binding, node: ast.Call
) -> Binding:
    """Lower `np.einsum` with ``out=``, in whose type it computes."""
    if not isinstance(out, ArrayRef):
        return reductions.finish_out(lo, _einsum(lo, args, kwargs, node), out, node)
    if not (args and isinstance(args[0], Static) and isinstance(args[0].value, str)):
        args = _with_text(lo, args, node)
    parts: list[Binding] = []
    for arg in args[1:]:
        part = lazy(lo, arrays.as_array(lo, arg, node), node)
        if promote(part.type, out.element).dtype != out.element.dtype:
            raise TypeMismatchError(
                f"`np.einsum` cannot put {part.type.numpy} into an array of {out.element.numpy}",
                lo.span(node), "convert the operand with `.astype`",
            )  # fmt: skip
        parts.append(reductions.converted(lo, part, out.element, node))
    return reductions.finish_out(lo, _einsum(lo, [args[0], *parts], kwargs, node), out, node)


def _relabelled(lo: Lowerer, x: Arraylike, names: str, out: str, node: ast.AST) -> Arraylike:
    """Return the view that `np.einsum` gives of one operand where nothing is summed."""
    sizes: dict[str, Operand] = {}
    for name, size in zip(names, dims_of(lo, x), strict=True):
        text = (
            f"dimensions in single operand for collapsing index {name!r} don't match ({{}} != {{}})"
        )
        old = sizes.setdefault(name, size)
        elementwise.require_same(lo, old, size, text, [old, size], node)
    axes = tuple(Axis(integer(0), ((out.index(name), integer(1)),)) for name in names)
    return views.through(lo, x, Window(tuple(sizes[name] for name in out), axes))


def _pairwise(
    lo: Lowerer, parts: list[Arraylike], labels: list[str], out: str, node: ast.AST
) -> Binding:
    """Contract two operands at a time, so that no loop nest is deeper than needed."""
    while len(parts) > 2:
        rest = "".join(labels[2:]) + out
        both = dict.fromkeys(labels[0] + labels[1])
        kept = "".join(c for c in both if c in rest)
        found = contract(lo, parts[:2], labels[:2], kept, node)
        parts = [arrays.as_array(lo, found, node), *parts[2:]]
        labels = [kept, *labels[2:]]
    return contract(lo, parts, labels, out, node)


HANDLERS: dict[str, Handler] = {
    "matmul": _matmul, "dot": _dot, "vdot": _vdot, "inner": _inner, "outer": _outer,
    "linalg_outer": _linalg_outer, "trace": _trace, "tensordot": _tensordot, "einsum": _einsum,
}  # fmt: skip
__all__ = ["HANDLERS", "contract", "diagonal", "dot", "matmul"]
