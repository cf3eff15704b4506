"""Arrays: element access, creation, shape."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend import expressions, numbers
from adc.frontend.bindings import (
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Num,
    Static,
    TupleOf,
    kind_of,
)
from adc.frontend.lower import Lowerer
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import DTYPES, FLOAT, INT, NAMES, Array, Scalar


def index_of(
    lo: Lowerer, obj: ArrayObject, indices: Sequence[Binding], node: ast.AST
) -> list[Operand]:
    """Return checked, non-negative indices of one element."""
    if len(indices) > obj.type.rank:
        raise TypeMismatchError(
            f"too many indices: {obj.name!r} has {obj.type.rank} axes, {len(indices)} were indexed",
            lo.span(node),
        )
    if len(indices) < obj.type.rank:
        raise lo.unsupported(
            f"indexing {obj.name!r} of rank {obj.type.rank} with {len(indices)} "
            f"{'index' if len(indices) == 1 else 'indices'} (a view)",
            node,
            "index every axis",
        )
    checked: list[Operand] = []
    for axis, binding in enumerate(indices):
        if not isinstance(binding, Num) or binding.operand.type.kind not in "iu":
            raise TypeMismatchError(f"an index must be an integer, not {kind_of(binding)}",
                                    lo.span(node))  # fmt: skip
        checked.append(_checked(lo, obj, axis, binding.operand, node))
    return checked


def _checked(lo: Lowerer, obj: ArrayObject, axis: int, index: Operand, node: ast.AST) -> Operand:
    size = lo.dims[obj][axis]
    with lo.at(node):
        index = numbers.to_int(lo, index, "IndexError", "an index is out of bounds")
        if isinstance(index, Literal):
            wrapped: Operand = index if index.value >= 0 else numbers.plus(lo, size, index)
        else:
            wrapped = lo.builder.apply("wrap", index, size, hint="i")
        inside = numbers.apply(lo, "inside", wrapped, size)
        numbers.check(
            lo,
            inside,
            "IndexError",
            f"index {{}} is out of bounds for axis {axis} with size {{}}",
            index,
            size,
        )
    return wrapped


def load(lo: Lowerer, obj: ArrayObject, index: Sequence[Operand], node: ast.AST) -> Num:
    """Read an element at an index that is in range."""
    return Num(lo.builder.load(lo.version(obj, node), index))


def subscript(lo: Lowerer, node: ast.Subscript) -> Binding:
    """Lower ``value[index]``."""
    owner = expressions.lower_expr(lo, node.value)
    match owner:
        case ArrayRef(object=obj):
            index = index_of(lo, obj, indices(lo, node.slice), node)
            with lo.at(node):
                return load(lo, obj, index, node)
        case TupleOf(items=items):
            key = (
                expressions.lower_expr(lo, node.slice)
                if not isinstance(node.slice, ast.Slice)
                else None
            )
            if key is None:
                return TupleOf(items[_static_slice(lo, node.slice)])
            return _element_of(lo, items, key, node)
        case Static(value=value) if isinstance(value, str):
            raise lo.unsupported("indexing a string", node)
    raise TypeMismatchError(f"indexing {kind_of(owner)}", lo.span(node))


def _static_slice(lo: Lowerer, node: ast.expr) -> slice:
    assert isinstance(node, ast.Slice)
    ends: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        if part is None:
            ends.append(None)
            continue
        binding = expressions.lower_expr(lo, part)
        if not (isinstance(binding, Num) and isinstance(binding.operand, Literal)):
            raise lo.unsupported("a slice of a tuple with ends known only at run time", part)
        ends.append(int(binding.operand.value))
    return slice(*ends)


def _element_of(
    lo: Lowerer, items: tuple[Binding, ...], key: Binding, node: ast.Subscript
) -> Binding:
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


def indices(lo: Lowerer, node: ast.expr) -> list[Binding]:
    """Lower what stands between the brackets."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    found: list[Binding] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            raise lo.unsupported("a slice of an array", part, "write a loop over the elements")
        binding = expressions.lower_expr(lo, part)
        if isinstance(binding, TupleOf):
            found.extend(binding.items)
        elif isinstance(binding, ArrayRef):
            raise lo.unsupported("indexing with an array", part, "write a loop over the indices")
        else:
            found.append(binding)
    return found


def element_value(lo: Lowerer, obj: ArrayObject, value: Binding, node: ast.AST) -> Operand:
    """Return `value` in the dtype of an array that it is stored in."""
    operand = numbers.number(lo, value, node, "storing into an element")
    element = obj.type.element
    return numbers.stored(lo, operand, element, node)


def _target(lo: Lowerer, node: ast.Subscript) -> ArrayObject:
    owner = expressions.lower_expr(lo, node.value)
    if isinstance(owner, TupleOf):
        raise TypeMismatchError("a tuple cannot be changed", lo.span(node))
    if not isinstance(owner, ArrayRef):
        raise TypeMismatchError(f"storing into {kind_of(owner)}", lo.span(node))
    return owner.object


def store_element(lo: Lowerer, node: ast.Subscript, value: Binding) -> None:
    """Lower ``array[index] = value``."""
    obj = _target(lo, node)
    index = index_of(lo, obj, indices(lo, node.slice), node)
    with lo.at(node):
        operand = element_value(lo, obj, value, node)
        old = lo.version(obj, node)
        lo.update(obj, lo.builder.store(old, index, operand, hint=obj.name))


def augment_element(lo: Lowerer, stmt: ast.AugAssign, node: ast.Subscript) -> None:
    """Lower ``array[index] op= value``: one index evaluation, load, operation, store."""
    obj = _target(lo, node)
    index = index_of(lo, obj, indices(lo, node.slice), node)
    with lo.at(stmt):
        old = load(lo, obj, index, node)
    value = expressions.lower_expr(lo, stmt.value)
    new = numbers.binary(lo, type(stmt.op), old, value, stmt)
    with lo.at(stmt):
        # The right-hand side may have changed the array: the store goes to its present version.
        operand = element_value(lo, obj, new, node)
        lo.update(obj, lo.builder.store(lo.version(obj, node), index, operand, hint=obj.name))


# -- attributes, creation ----------------------------------------------------------------------


def attribute(lo: Lowerer, owner: ArrayRef, name: str, node: ast.AST) -> Binding:
    """Lower an attribute of an array."""
    obj = owner.object
    if name == "shape":
        return TupleOf(tuple(Num(size) for size in lo.dims[obj]))
    if name == "ndim":
        return Num(integer(obj.type.rank))
    if name == "size":
        size: Operand = integer(1)
        for dim in lo.dims[obj]:
            size = numbers.apply(lo, "mul", size, dim) if size != integer(1) else dim
        return Num(size)
    if name == "dtype":
        return Static(obj.type.numpy)
    if name in ("copy", "item", "fill", "__len__"):
        return Bound(owner, name)
    raise lo.unsupported(f"`.{name}` of an array", node)


def method(lo: Lowerer, bound: Bound, args: Sequence[Binding], node: ast.Call) -> Binding:
    """Lower a call of a method of an array."""
    assert isinstance(bound.owner, ArrayRef)
    obj = bound.owner.object
    if bound.name == "copy" and not args:
        return copy(lo, bound.owner, node)
    if bound.name == "item":
        return Num(load(lo, obj, index_of(lo, obj, args, node), node).operand)
    if bound.name == "fill" and len(args) == 1:
        operand = element_value(lo, obj, args[0], node)
        lo.update(obj, created(lo, obj.type.dtype, list(lo.dims[obj]), operand, obj.name))
        return Static(None)
    raise lo.unsupported(f"`.{bound.name}` with these arguments", node)


def copy(lo: Lowerer, ref: ArrayRef, node: ast.AST) -> ArrayRef:
    obj = ref.object
    version = lo.builder.apply("copy", lo.version(obj, node), hint=obj.name)
    return lo.new_array(version, lo.dims[obj], obj.name)


def created(
    lo: Lowerer, dtype: str, dims: list[Operand], value: Operand | None, name: str = "a"
) -> Value:
    if value is None:
        return lo.builder.apply("empty", *dims, params=(dtype,), hint=name)
    return lo.builder.apply("full", value, *dims, params=(dtype,), hint=name)


def shape_argument(lo: Lowerer, binding: Binding, node: ast.AST) -> list[Operand]:
    """Return the sizes that a shape argument asks for, checked not to be negative."""
    items = binding.items if isinstance(binding, TupleOf) else (binding,)
    dims: list[Operand] = []
    for item in items:
        if not isinstance(item, Num) or item.operand.type.kind not in "iu":
            raise TypeMismatchError(f"a size must be an integer, not {kind_of(item)}",
                                    lo.span(node))  # fmt: skip
        size = numbers.to_int(lo, item.operand)
        if not _is_size(lo, size):
            ok = numbers.apply(lo, "ge", size, integer(0))
            numbers.check(lo, ok, "ValueError", "negative dimensions are not allowed")
        dims.append(size)
    if not 1 <= len(dims) <= 4:
        raise lo.unsupported(f"an array of rank {len(dims)}", node, "use rank 1 to 4")
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
        "full": ["shape", "fill_value", "dtype"], "zeros_like": ["a", "dtype"],
        "ones_like": ["a", "dtype"], "empty_like": ["prototype", "dtype"],
        "full_like": ["a", "fill_value", "dtype"],
    }[kind]  # fmt: skip
    given = dict(zip(names, args, strict=False)) | kwargs
    if len(args) > len(names) or set(given) - set(names):
        raise lo.unsupported(f"`np.{kind}` with these arguments", node)
    missing = [name for name in names if name not in given and name != "dtype"]
    if missing:
        raise TypeMismatchError(f"`np.{kind}` needs {missing[0]!r}", lo.span(node))
    dtype = dtype_argument(lo, given.get("dtype"), node)
    with lo.at(node):
        if like:
            source = given[names[0]]
            if not isinstance(source, ArrayRef):
                raise TypeMismatchError(f"`np.{kind}` of {kind_of(source)}", lo.span(node))
            dims = list(lo.dims[source.object])
            dtype = dtype or source.object.type.dtype
        else:
            dims = shape_argument(lo, given["shape"], node)
        value: Operand | None = None
        if kind.startswith("full"):
            value = numbers.number(lo, given["fill_value"], node, f"`np.{kind}`")
            if dtype is None:
                ty = numbers.scalar_type(value)
                dtype = ty.dtype
        dtype = dtype or "f64"
        element = Scalar(dtype)
        if kind.startswith("full"):
            assert value is not None
            stand_in = ArrayObject(Array(dtype, 1), kind)
            value = element_value(lo, stand_in, Num(value), node)
        elif not kind.startswith("empty"):
            one = kind.startswith("ones")
            value = (
                lo.convert(Literal(1.0 if one else 0.0, FLOAT), element)
                if (element.kind == "f")
                else Literal(bool(one) if element.kind == "b" else int(one), element)
            )
        return lo.new_array(created(lo, dtype, dims, value), tuple(dims), "a")


__all__ = ["DTYPES", "attribute", "copy", "create", "method", "store_element", "subscript"]
