"""Values with the structure of an argument or result: gradients, tangents, cotangents.

A structure is a binding: numbers and arrays in tuples, lists, dicts and objects. Each float in it
has one associated value, in the order of `floats`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from adc.frontend.core import numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayObject,
    ArrayRef,
    Binding,
    Cell,
    DictRef,
    Growing,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    RecordOf,
    Ref,
    TupleOf,
    kind_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import cells_of, with_cells
from adc.frontend.inputs import instances
from adc.frontend.values import arrays, elementwise, views
from adc.ir.core import Operand, Value, derivative_type
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.types import Array, Scalar

Held = Callable[[Ref], Binding]


def new_ref(lo: Lowerer, like: Ref, held: Binding) -> Ref:
    """Make a list, dict or object of the kind of another one."""
    match like:
        case ListRef():
            return lo.new_ref(ListRef, held)
        case DictRef():
            return lo.new_ref(DictRef, held)
        case ObjectRef(cls=cls):
            return lo.new_ref(lambda slot: ObjectRef(slot, cls), held)


def new_array(lo: Lowerer, value: Value, name: str) -> ArrayRef:
    """Make an object of an array whose sizes are not known yet."""
    assert isinstance(value.type, Array)
    dims = tuple(
        lo.builder.apply("dim", value, params=(axis,), hint="dim")
        for axis in range(value.type.rank)
    )
    return lo.new_array(value, dims, name)


def detached(
    lo: Lowerer, binding: Binding, node: ast.AST, sources: dict[ArrayObject, ArrayObject]
) -> Binding:
    """Return a snapshot of an argument, which shares nothing.

    In value form, a version of an array stays what it is: nothing is copied but views. `sources`
    notes which array each was. Random generators stay what they are: draws from them are seen.
    """

    def copied(item: Binding) -> Binding:
        return detached(lo, outside.opened(lo, item), node, sources)

    match binding:
        case Num(operand=operand, array=array):
            return Num(operand, array)
        case ArrayRef() if not views.dims_of(lo, binding):
            found = elementwise.value_of(lo, binding, node)
            assert isinstance(found, Num)
            return Num(found.operand, array=True)
        case ArrayRef(object=obj, view=view):
            if view:
                made = elementwise.copy(lo, binding, node)
            else:
                made = lo.new_array(lo.version(obj, node), lo.dims[obj], obj.name)
            sources[made.object] = obj
            return made
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
            if isinstance(held, Growing):
                raise lo.unsupported(
                    "a derivative with respect to a list whose length is known only at run time",
                    node, "make an array of it with `np.array`",
                )  # fmt: skip
            return new_ref(lo, binding, copied(held))
    return binding


def floats(binding: Binding, held: Held) -> Iterator[Num | ArrayRef]:
    """Yield the floats in a structure, numbers and arrays; of a growing list, its columns."""
    match binding:
        case Num(operand=operand):
            if operand.type.kind == "f":
                yield binding
        case ArrayRef(object=obj):
            if obj.type.kind == "f":
                yield binding
        case Growing(buffers=buffers):
            for buffer in buffers:
                yield from floats(buffer, held)
        case TupleOf(items=items) | RecordOf(items=items):
            for item in items:
                yield from floats(item, held)
        case NamedTuple(record=record):
            yield from floats(record, held)
        case ListRef() | DictRef() | ObjectRef():
            yield from floats(held(binding), held)


def arranged(lo: Lowerer, like: Binding, held: Held, found: Iterator[Binding]) -> Binding:
    """Arrange values, one for each float, like a structure; None in place of other leaves."""

    def recursed(item: Binding) -> Binding:
        return arranged(lo, item, held, found)

    match like:
        case Num(operand=operand) if operand.type.kind == "f":
            return next(found)
        case ArrayRef(object=obj) if obj.type.kind == "f":
            return next(found)
        case TupleOf(items=items):
            return TupleOf(tuple(recursed(item) for item in items))
        case RecordOf(keys=keys, items=items):
            return RecordOf(keys, tuple(recursed(item) for item in items))
        case NamedTuple(cls=cls, record=record):
            inner = recursed(record)
            assert isinstance(inner, RecordOf)
            return NamedTuple(cls, inner)
        case Growing(buffers=buffers):
            (column,) = _only(lo, buffers, "a cotangent", lo.frame.source.node)
            return recursed(column)
        case ListRef() if isinstance(held(like), Growing):
            return recursed(held(like))
        case ListRef() | DictRef() | ObjectRef():
            return new_ref(lo, like, recursed(held(like)))
    return NONE


def gradients(lo: Lowerer, like: Binding, found: Iterator[Value]) -> Binding:
    """Arrange derivatives like the argument that they belong to."""
    made: list[Binding] = []
    for leaf in floats(like, lo.held):
        if isinstance(leaf, Num):
            made.append(Num(like_number(lo, next(found), leaf.operand)))
        else:
            assert isinstance(leaf, ArrayRef)
            made.append(lo.new_array(next(found), lo.dims[leaf.object], leaf.object.name))
    return arranged(lo, like, lo.held, iter(made))


def like_number(lo: Lowerer, operand: Operand, like: Operand) -> Operand:
    """Return a Python number if `like` is one."""
    ty = numbers.scalar_type(like)
    if not ty.weak or operand.type == ty:
        return operand
    return lo.builder.apply("cast", operand, params=(str(ty),))


def returned(
    lo: Lowerer, result: Binding, heap: dict[str, Binding], values: Iterator[Binding]
) -> Binding:
    """Return a finished result (`results.finished`) of other code, with values of this code."""
    made: dict[str, Binding] = {}

    def visit(binding: Binding) -> Binding:
        match binding:
            case Num() | ArrayRef():
                return next(values)
            case TupleOf(items=items):
                return TupleOf(tuple(visit(item) for item in items))
            case RecordOf(keys=keys, items=items):
                return RecordOf(keys, tuple(visit(item) for item in items))
            case NamedTuple(cls=cls, record=record):
                inner = visit(record)
                assert isinstance(inner, RecordOf)
                return NamedTuple(cls, inner)
            case Growing():
                return _grown(lo, binding, values)
            case ListRef() | DictRef() | ObjectRef():
                if binding.slot not in made:
                    made[binding.slot] = new_ref(lo, binding, visit(heap[binding.slot]))
                return made[binding.slot]
        return binding

    return visit(result)


def _grown(lo: Lowerer, like: Growing, values: Iterator[Binding]) -> Growing:
    """Return a growing list of columns, which may have more axes than those of `like`."""
    columns: list[ArrayRef] = []
    cells: list[Binding] = []
    for cell in cells_of(like.element):
        column = next(values)
        if column == NONE:
            cells.append(NONE)
            continue
        if not isinstance(column, ArrayRef):
            raise UnsupportedError(
                "a list of structures whose length is known only at run time is not supported",
                lo.builder.loc, "return an array",
            )  # fmt: skip
        column = elementwise.copy(lo, column, lo.frame.source.node) if column.view else column
        more = column.object.type.rank - 1 - len(cell.sizes or ())
        if more:
            scalar = Scalar(column.object.type.dtype)
            cell = Cell(scalar, (*(cell.sizes or ()), *(None,) * more))
        column.object.kept = cell.sizes is not None
        columns.append(column)
        cells.append(cell)
    element = with_cells(like.element, iter(cells))
    return Growing(tuple(columns), Num(lo.dims[columns[0].object][0]), element)


def belonging(
    lo: Lowerer, like: Binding, held: Held, given: Binding, what: str, node: ast.AST
) -> Iterator[tuple[Num | ArrayRef, Binding]]:
    """Yield each float of a structure with its counterpart in another one.

    None instead of a part stands for None for all floats in that.
    """
    if isinstance(like, Num | ArrayRef):
        for leaf in floats(like, held):
            yield leaf, given
        return
    if isinstance(like, ListRef) and isinstance(grown := held(like), Growing):
        # An array of what belongs to all elements.
        (column,) = _only(lo, grown.buffers, what, node)
        yield from belonging(lo, column, held, given, what, node)
        return
    parts = _parts(like, held)
    if parts is None:
        return
    if given == NONE:
        for leaf in floats(like, held):
            yield leaf, NONE
        return
    others = _parts(given, lo.held)
    if others is None or len(others) != len(parts):
        raise TypeMismatchError(
            f"{what} is {kind_of(given)}, but {kind_of(like)} is needed", lo.span(node)
        )
    for part, other in zip(parts, others, strict=True):
        yield from belonging(lo, part, held, other, what, node)


def _only(lo: Lowerer, buffers: tuple[ArrayRef, ...], what: str, node: ast.AST) -> tuple[ArrayRef]:
    if len(buffers) != 1:
        raise lo.unsupported(
            f"{what} of a list of tuples whose length is known only at run time", node,
            "return arrays",
        )  # fmt: skip
    return (buffers[0],)


def _parts(binding: Binding, held: Held) -> tuple[Binding, ...] | None:
    match binding:
        case TupleOf(items=items) | RecordOf(items=items):
            return items
        case NamedTuple(record=record):
            return record.items
        case ListRef() | DictRef() | ObjectRef():
            return _parts(held(binding), held)
    return None


def fitted(
    lo: Lowerer, ty: Scalar | Array, dims: Sequence[Operand] | None, given: Binding, what: str,
    node: ast.AST,
) -> Operand:  # fmt: skip
    """Return a tangent or cotangent of something of type `ty`, of sizes `dims` if they are known.

    Of None it is zero.
    """
    ty = _derivative(ty)
    if isinstance(ty, Scalar):
        if given == NONE:
            return numbers.zero_of(ty)
        number = elementwise.number(lo, elementwise.value_of(lo, given, node), node, what)
        return lo.exact(lo.convert(number, ty), ty)
    if given == NONE:
        assert dims is not None
        zero = numbers.zero_of(ty.element)
        return lo.builder.apply("full", zero, *dims, params=(ty.dtype,), hint="v")
    source = elementwise.lazy(lo, arrays.as_array(lo, given, node), node)
    own = views.dims_of(lo, source)
    if len(own) != ty.rank:
        raise TypeMismatchError(
            f"{what} has rank {len(own)}, but its primal value has rank {ty.rank}", lo.span(node)
        )
    message = f"{what} does not have the shape of its primal value"
    for a, b in zip(own, dims or (), strict=bool(dims)):
        elementwise.require_same(lo, a, b, message, [], node)
    made = elementwise.stored_new(lo, source, ty.dtype, node, "v")
    return lo.version(made.object, node)


def _derivative(ty: Scalar | Array) -> Scalar | Array:
    found = derivative_type(ty)
    assert isinstance(found, Scalar | Array)
    return found


def fitted_to(
    lo: Lowerer, leaf: Num | ArrayRef, given: Binding, what: str, node: ast.AST
) -> Operand:
    """Return a tangent or cotangent of a number or array that `lo` knows."""
    if isinstance(leaf, Num):
        return fitted(lo, numbers.scalar_type(leaf.operand), None, given, what, node)
    return fitted(lo, leaf.object.type, lo.dims[leaf.object], given, what, node)


__all__ = [
    "arranged",
    "belonging",
    "detached",
    "fitted",
    "fitted_to",
    "floats",
    "gradients",
    "like_number",
    "new_array",
    "new_ref",
    "returned",
]
