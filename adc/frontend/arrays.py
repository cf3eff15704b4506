"""Arrays: subscripts, attributes and methods, creation."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend import (
    arguments,
    elementwise,
    expressions,
    growing,
    indexing,
    numbers,
    objects,
    operators,
    special,
    views,
)
from adc.frontend.bindings import (
    ArrayRef,
    Axis,
    Binding,
    Bound,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Range,
    Static,
    TupleOf,
    Window,
    kind_of,
)
from adc.frontend.elementwise import is_array
from adc.frontend.lower import Lowerer
from adc.frontend.views import Arraylike, dims_of
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import DTYPES, FLOAT, I64, INT, NAMES, Scalar

MAX_RANK = 8


def index_of(lo: Lowerer, x: Arraylike, indices: Sequence[Binding], node: ast.AST) -> list[Operand]:
    """Return checked, non-negative indices of one element of the array behind `x`."""
    dims = dims_of(lo, x)
    if len(indices) != len(dims):
        raise TypeMismatchError(
            f"{len(indices)} indices of one element of an array with {len(dims)} axes",
            lo.span(node),
        )
    found: list[Operand] = []
    for axis, (binding, size) in enumerate(zip(indices, dims, strict=True)):
        operand = numbers.number(lo, binding, node, "an index")
        found.append(indexing.checked_index(lo, operand, size, axis, node))
    return found


def load(lo: Lowerer, x: Arraylike, index: Sequence[Operand], node: ast.AST) -> Binding:
    """Read an element, or a view of the remaining axes, at leading indices that are in range."""
    rank = len(dims_of(lo, x))
    if len(index) == rank:
        return Num(elementwise.lazy(lo, x, node).element(index))
    dims = dims_of(lo, x)
    axes = [Axis(k, ()) for k in index]
    axes += [Axis(integer(0), ((k, integer(1)),)) for k in range(rank - len(index))]
    return views.through(lo, x, Window(tuple(dims[len(index) :]), tuple(axes)))


def subscript(lo: Lowerer, node: ast.Subscript) -> Binding:
    """Lower ``value[index]``."""
    owner = expressions.evaluate(lo, node.value)
    match owner:
        case ArrayRef() | Lazy():
            items = indexing.items_of(lo, node.slice)
            with lo.at(node):
                return indexing.read(lo, owner, items, node)
        case ObjectRef() | NamedTuple() if (found := special.item(lo, owner, node)) is not None:
            return found
        case TupleOf() | ListRef() | Range() | NamedTuple():
            return _sequence_item(lo, owner, node)
    return expressions.item(lo, owner, node)


def item_of(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    """Lower ``owner[index]`` for a tuple, list or range."""
    return _sequence_item(lo, owner, node)


def _sequence_item(lo: Lowerer, owner: Binding, node: ast.Subscript) -> Binding:
    held = lo.held(owner) if isinstance(owner, ListRef) else None
    if isinstance(held, Growing):
        if isinstance(node.slice, ast.Slice):
            return growing.sliced(lo, held, node.slice, node)
        return growing.item(lo, held, expressions.lower_expr(lo, node.slice), node)
    items = expressions.static_sequence(lo, owner, node)
    if isinstance(node.slice, ast.Slice):
        chosen = items[_static_slice(lo, node.slice)]
        if isinstance(owner, ListRef):
            return lo.new_ref(ListRef, TupleOf(chosen))
        return TupleOf(chosen)
    key = expressions.lower_expr(lo, node.slice)
    return element_of(lo, items, key, node)


def _static_slice(lo: Lowerer, node: ast.expr) -> slice:
    assert isinstance(node, ast.Slice)
    ends: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            ends.append(None)
            continue
        binding = expressions.lower_expr(lo, part)
        if arguments.is_none(binding):
            ends.append(None)
            continue
        if not (isinstance(binding, Num) and isinstance(binding.operand, Literal)):
            raise lo.unsupported("a slice of a tuple with ends known only at run time", part)
        ends.append(int(binding.operand.value))
    return slice(*ends)


def element_of(
    lo: Lowerer, items: tuple[Binding, ...], key: Binding, node: ast.Subscript
) -> Binding:
    """Return an element of a tuple or list."""
    if isinstance(key, Num) and key.operand.type.kind in "iub":
        if isinstance(key.operand, Literal):
            try:
                return items[int(key.operand.value)]
            except IndexError:
                raise TypeMismatchError(
                    f"index {key.operand.value} is outside a tuple of {len(items)}", lo.span(node)
                ) from None
        return _choose(lo, items, key.operand, node)
    raise TypeMismatchError(f"indexing a tuple with {kind_of(key)}", lo.span(node))


def _choose(
    lo: Lowerer, items: tuple[Binding, ...], index: Operand, node: ast.Subscript
) -> Binding:
    """A tuple of numbers indexed at run time: a chain of selects."""
    if not items or not all(isinstance(item, Num) for item in items):
        raise lo.unsupported("indexing a tuple of arrays by a number known only at run time", node)
    with lo.at(node):
        wrapped = lo.builder.apply("wrap", lo.convert(index, INT), integer(len(items)), hint="i")
        inside = lo.builder.apply("inside", wrapped, integer(len(items)))
        lo.builder.check(inside, "IndexError", "tuple index out of range")
        result = items[-1]
        for k in reversed(range(len(items) - 1)):
            here = lo.builder.apply("eq", wrapped, integer(k))
            item = items[k]
            assert isinstance(item, Num)
            assert isinstance(result, Num)
            a, b = item.operand, result.operand
            if a.type != b.type:
                a, b, _ = numbers.promoted(lo, a, b, node)
            result = Num(numbers.select(lo, here, a, b))
    return result


# -- stores ----------------------------------------------------------------------------------------


def store_element(lo: Lowerer, node: ast.Subscript, value: Binding) -> None:
    """Lower ``owner[index] = value``."""
    owner = expressions.lower_expr(lo, node.value)
    if not isinstance(owner, ArrayRef):
        # A list keeps an array, not an expression that would be computed at every use.
        expressions.set_item(lo, owner, node, elementwise.materialised(lo, value, node))
        return
    items = indexing.items_of(lo, node.slice)
    with lo.at(node):
        indexing.write(lo, owner, items, expressions.as_operand(lo, value, node), node)


def augment_element(lo: Lowerer, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    """Lower ``owner[index] op= value``: the index is evaluated once, first."""
    owner = expressions.lower_expr(lo, node.value)
    if not isinstance(owner, ArrayRef):
        expressions.augment_item(lo, owner, stmt, node)
        return
    items = indexing.prepared(lo, owner, indexing.items_of(lo, node.slice), node)
    if indexing.is_advanced(lo, items):
        place = indexing.Advanced(lo, owner, items, node)
        with lo.at(stmt):
            old: Binding = elementwise.base_of(lo, place.read(), node)
        value = expressions.evaluate(lo, stmt.value)
        place.write(operators.binary(lo, type(stmt.op), old, value, stmt))
        return
    with lo.at(node):
        target = indexing.basic(lo, owner, items)
    assert isinstance(target, ArrayRef)
    if dims_of(lo, target):
        in_place(lo, target, stmt, expressions.evaluate(lo, stmt.value))
        return
    with lo.at(stmt):
        old = elementwise.value_of(lo, target, node)
    value = expressions.lower_expr(lo, stmt.value)
    new = operators.binary(lo, type(stmt.op), old, value, stmt)
    with lo.at(stmt):
        # The right-hand side may have changed the array: the store goes to its present version.
        elementwise.assign_to(lo, target, new, node)


def in_place(lo: Lowerer, target: ArrayRef, stmt: ast.AugAssign, value: Binding) -> None:
    """Lower ``array op= value`` for a whole array or view: every name of it sees the change."""
    value = expressions.as_operand(lo, value, stmt.value)
    if objects.is_instance(value):
        raise lo.unsupported(f"an array that is changed by {kind_of(value)}", stmt)
    with lo.at(stmt):
        result = operators.binary(lo, type(stmt.op), target, value, stmt)
        operators.check_cast(lo, result, target, stmt)
        if isinstance(result, ArrayRef | Lazy) and len(dims_of(lo, result)) > len(
            dims_of(lo, target)
        ):
            raise TypeMismatchError(
                "the result has more axes than the array that it is stored in", lo.span(stmt)
            )
        elementwise.assign_to(lo, target, result, stmt, "output array")


# -- attributes, creation --------------------------------------------------------------------------


def attribute(lo: Lowerer, owner: Arraylike, name: str, node: ast.AST) -> Binding:
    """Lower an attribute of an array."""
    from adc.frontend import library

    dims = dims_of(lo, owner)
    if name == "shape":
        return TupleOf(tuple(Num(size) for size in dims))
    if name == "ndim":
        return Num(integer(len(dims)))
    if name == "size":
        return Num(views.size_of(lo, dims))
    if name == "dtype":
        return Static(element_type(owner).numpy)
    if name == "T":
        return views.permuted(lo, owner, range(len(dims))[::-1])
    if name == "mT":
        from adc.frontend import shaping  # which is built on this module

        return shaping.transposed_matrices(lo, owner, node)
    if name == "real":
        return owner
    if name in ("itemsize", "nbytes"):
        bytes_ = integer(element_type(owner).numpy.itemsize)
        return Num(
            bytes_ if name == "itemsize" else views.times(lo, bytes_, views.size_of(lo, dims))
        )
    if name == "flat":
        return views.reshaped(lo, owner, [views.size_of(lo, dims)])
    if name in library.METHODS:
        return Bound(owner, name)
    raise lo.unsupported(f"`.{name}` of an array", node)


def element_type(x: Arraylike) -> Scalar:
    return x.type if isinstance(x, Lazy) else x.object.type.element


def fill(lo: Lowerer, target: ArrayRef, value: Binding, node: ast.AST) -> None:
    if target.view:
        elementwise.assign_to(lo, target, value, node)
        return
    if not elementwise.is_writable(lo, target, node):
        return
    obj = target.object
    operand = numbers.number(lo, value, node, "storing into an array")
    operand = numbers.stored(lo, operand, obj.type.element, node)
    lo.version(obj, node)
    lo.update(obj, created(lo, obj.type.dtype, list(lo.dims[obj]), operand, obj.name))


def copy(lo: Lowerer, x: Arraylike, node: ast.AST | None) -> ArrayRef:
    if isinstance(x, ArrayRef) and not x.view:
        obj = x.object
        version = lo.builder.apply("copy", lo.version(obj, node), hint=obj.name)
        return lo.new_array(version, lo.dims[obj], obj.name)
    source = elementwise.lazy(lo, x, node)
    name = x.object.name if isinstance(x, ArrayRef) else "a"
    return elementwise.stored_new(lo, source, source.type.dtype, node, name)


def as_array(lo: Lowerer, binding: Binding, node: ast.AST) -> Arraylike:
    """Return an array for what NumPy takes as one: numbers, tuples and lists of them."""
    if isinstance(binding, ArrayRef | Lazy):
        return binding
    if isinstance(binding, ListRef):
        held = lo.held(binding)
        if isinstance(held, Growing):
            return arrays_of(lo, held, node)
    items = arguments.sequence(lo, binding)
    if isinstance(binding, Range):
        start, stop, step = (end.operand for end in (binding.start, binding.stop, binding.step))
        return counted(lo, start, stop, step, node)
    if items is not None:
        return from_items(lo, items, node)
    operand = numbers.number(lo, binding, node, "an array")
    element = lo.exact(operand, Scalar(numbers.scalar_type(operand).dtype))
    return Lazy((), Scalar(element.type.dtype), lambda index: element)


def counted(lo: Lowerer, start: Operand, stop: Operand, step: Operand, node: ast.AST) -> Lazy:
    """Return the integers of a range, of which the step is not zero."""
    if all(isinstance(end, Literal) for end in (start, stop, step)):
        values = range(*(int(end.value) for end in (start, stop, step)))  # type: ignore[union-attr]
        size: Operand = integer(len(values))
    elif numbers.is_int(step, 1) and numbers.is_int(start, 0):
        size = lo.counts(lo.builder.apply("maximum", stop, integer(0), hint="n"))
    else:
        size = lo.counts(lo.builder.apply("trips", start, stop, step, hint="n"))

    def element(index: Sequence[Operand]) -> Operand:
        with lo.at(node):
            return lo.exact(numbers.plus(lo, start, views.times(lo, index[0], step)), I64)

    return Lazy((size,), I64, element, (), 1)


def arrays_of(lo: Lowerer, held: Growing, node: ast.AST) -> ArrayRef:
    """Return the array that `np.array` makes of a list of run-time length."""
    return copy(lo, growing.array_of(lo, held, node), node)


def as_operand(lo: Lowerer, binding: Binding, node: ast.AST) -> Binding:
    """Return an array for a tuple or list that meets an array; anything else unchanged."""
    if isinstance(binding, TupleOf | ListRef):
        return as_array(lo, binding, node)
    return binding


def from_items(lo: Lowerer, items: Sequence[Binding], node: ast.AST, dtype: str = "") -> ArrayRef:
    """Return the array of these elements, numbers or nested sequences and arrays."""
    with lo.at(node):
        parts = [as_array(lo, item, node) for item in items]
        types = [element_type(part) for part in parts]
        weak = [
            numbers.scalar_type(item.operand) if isinstance(item, Num) else ty
            for item, ty in zip(items, types, strict=True)
        ]
        found = dtype or (numbers.array_type(weak).dtype if parts else "f64")
        inner = dims_of(lo, parts[0]) if parts else ()
        for part in parts[1:]:
            own = dims_of(lo, part)
            text = "setting an array element with a sequence. The requested array has an "
            text += "inhomogeneous shape"
            if len(own) != len(inner):
                raise TypeMismatchError(text, lo.span(node))
            for a, b in zip(own, inner, strict=True):
                elementwise.require_same(lo, a, b, text, [], node)
        dims = (integer(len(parts)), *inner)
        check_rank(lo, len(dims), node)
        version = lo.builder.apply("empty", *dims, params=(found,), hint="a")
        ref = lo.new_array(version, dims, "a")
        for k, (item, part) in enumerate(zip(items, parts, strict=True)):
            row = load(lo, ref, [integer(k)], node) if inner else views.through(
                lo, ref, Window((), (Axis(integer(k), ()),))
            )  # fmt: skip
            assert isinstance(row, ArrayRef)
            # Python's numbers have to fit where those of NumPy are converted.
            elementwise.assign_to(lo, row, item if isinstance(item, Num) else part, node)
    return ref


def check_rank(lo: Lowerer, rank: int, node: ast.AST) -> None:
    if rank > MAX_RANK:
        raise lo.unsupported(f"an array of rank {rank}", node, f"use rank 1 to {MAX_RANK}")


def created(
    lo: Lowerer, dtype: str, dims: list[Operand], value: Operand | None, name: str = "a"
) -> Value:
    if value is None:
        return lo.builder.apply("empty", *dims, params=(dtype,), hint=name)
    return lo.builder.apply("full", value, *dims, params=(dtype,), hint=name)


def shape_argument(lo: Lowerer, binding: Binding, node: ast.AST) -> list[Operand]:
    """Return the sizes that a shape argument asks for, checked not to be negative."""
    found = arguments.sequence(lo, binding)
    items = found if found is not None else (binding,)
    dims: list[Operand] = []
    for item in items:
        item = elementwise.value_of(lo, item, node)
        if not isinstance(item, Num) or item.operand.type.kind not in "iu":
            raise TypeMismatchError(f"a size must be an integer, not {kind_of(item)}",
                                    lo.span(node))  # fmt: skip
        size = numbers.to_int(lo, item.operand)
        if not _is_size(lo, size):
            ok = numbers.apply(lo, "ge", size, integer(0))
            numbers.check(lo, ok, "ValueError", "negative dimensions are not allowed")
        dims.append(size)
    check_rank(lo, len(dims), node)
    return dims


def _is_size(lo: Lowerer, operand: Operand) -> bool:
    return any(operand in dims for dims in lo.dims.values())


def dtype_argument(lo: Lowerer, binding: Binding | None, node: ast.AST) -> str | None:
    """Return the dtype that an argument names, or None if there is none."""
    if binding is None or (isinstance(binding, Static) and binding.value is None):
        return None
    value: Any = binding.value if isinstance(binding, Static) else object()
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise TypeMismatchError(f"{kind_of(binding)} is not a dtype", lo.span(node)) from None
    if dtype not in NAMES:
        raise lo.unsupported(f"dtype {dtype}", node, f"use one of {', '.join(map(str, NAMES))}")
    return NAMES[dtype]


def create(
    lo: Lowerer, kind: str, args: Sequence[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.zeros`` and its relatives, ``…_like`` included."""
    like = kind.endswith("_like")
    names = {
        "zeros": ["shape", "dtype"], "ones": ["shape", "dtype"], "empty": ["shape", "dtype"],
        "full": ["shape", "fill_value", "dtype"],
        "zeros_like": ["a", "dtype", "order", "subok", "shape"],
        "ones_like": ["a", "dtype", "order", "subok", "shape"],
        "empty_like": ["prototype", "dtype", "order", "subok", "shape"],
        "full_like": ["a", "fill_value", "dtype", "order", "subok", "shape"],
    }[kind]  # fmt: skip
    given = dict(zip(names, args, strict=False)) | kwargs
    given.pop("order", None)
    given.pop("subok", None)
    if len(args) > len(names) or set(given) - set(names):
        raise lo.unsupported(f"`np.{kind}` with these arguments", node)
    optional = ("dtype", "order", "subok", *(("shape",) if like else ()))
    missing = [name for name in names if name not in given and name not in optional]
    if missing:
        raise TypeMismatchError(f"`np.{kind}` needs {missing[0]!r}", lo.span(node))
    dtype = dtype_argument(lo, given.get("dtype"), node)
    with lo.at(node):
        if like:
            source = as_array(lo, given[names[0]], node)
            dims = list(dims_of(lo, source))
            dtype = dtype or element_type(source).dtype
            if not arguments.is_none(given.get("shape")):
                dims = shape_argument(lo, given["shape"], node)
        else:
            dims = shape_argument(lo, given["shape"], node)
        value: Operand | None = None
        if kind.startswith("full"):
            filler = elementwise.value_of(lo, given["fill_value"], node)
            if is_array(filler):
                assert isinstance(filler, ArrayRef | Lazy)
                empty = created(lo, dtype or element_type(filler).dtype, dims, None)
                ref = lo.new_array(empty, tuple(dims), "a")
                elementwise.assign_to(lo, ref, filler, node)
                return ref
            value = numbers.number(lo, filler, node, f"`np.{kind}`")
            if dtype is None:
                ty = numbers.scalar_type(value)
                dtype = ty.dtype
        dtype = dtype or "f64"
        element = Scalar(dtype)
        if kind.startswith("full"):
            assert value is not None
            value = numbers.stored(lo, value, element, node)
        elif not kind.startswith("empty"):
            one = kind.startswith("ones")
            value = (
                lo.convert(Literal(1.0 if one else 0.0, FLOAT), element)
                if (element.kind == "f")
                else Literal(bool(one) if element.kind == "b" else int(one), element)
            )
        if not dims:
            first = value if value is not None else numbers.zero_of(element)
            return elementwise.boxed(lo, lo.exact(first, element), dtype)
        return lo.new_array(created(lo, dtype, dims, value), tuple(dims), "a")


__all__ = ["DTYPES", "attribute", "copy", "create", "store_element", "subscript"]
