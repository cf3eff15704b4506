"""Parameters: the bindings of arguments and of captured values."""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from adc.frontend.core import bindings
from adc.frontend.core.bindings import (
    BY_LIST,
    MEMBER,
    ArrayObject,
    ArrayRef,
    Binding,
    Bound,
    Cell,
    DefaultRef,
    DictRef,
    Given,
    Growing,
    ListRef,
    NamedTuple,
    Nested,
    Num,
    ObjectRef,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    counter,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.structure import only_element
from adc.frontend.inputs import instances, trees
from adc.frontend.inputs.places import Guard, Item, Place, Step, to_attribute
from adc.frontend.inputs.trees import Instance
from adc.ir.builder import integer
from adc.ir.core import Apply, Operand, Value
from adc.ir.opdef import OPS
from adc.ir.types import INT, Array, Scalar


def bind_value(
    lo: Lowerer, name: str, tree: Any, place: Place, made: list[Num | ArrayRef]
) -> Binding:
    """Return the binding of an object from outside: types become parameters, added to `made`."""
    if isinstance(tree, Scalar | Array):
        param = Value(lo.builder.names.fresh(name), tree)
        leaf = array_param(lo, param, name, place) if isinstance(tree, Array) else Num(param)
        made.append(leaf)
        if isinstance(leaf, ArrayRef):
            lo.sizes.plural.update(d for d in lo.dims[leaf.object] if isinstance(d, Value))
        if isinstance(tree, Scalar) and tree.boxed and isinstance(place.root, int):
            return boxed_param(lo, param, name)
        if isinstance(tree, Scalar) and tree.kind in "biu":
            if place in lo.shared.constants:
                value = lo.shared.constants[place]
                lo.shared.guards[place] = Guard(place, value)
                return static(value)
            lo.shared.numbers[param] = place
        return leaf
    if isinstance(tree, trees.Complex):
        return _bound_complex(lo, name, tree, place, made)
    if isinstance(tree, trees.Numbers):
        param = Value(lo.builder.names.fresh(name), tree.array)
        buffer = array_param(lo, param, name)
        made.append(buffer)
        length = Num(lo.dims[buffer.object][0])
        return lo.borrow(ListRef, Growing((buffer,), length, Cell(tree.type)), place)
    if isinstance(tree, trees.Stack):
        return _bound_stack(lo, name, tree, place, made)
    if isinstance(tree, trees.Generator):
        words = generator_param(lo, tree, name, place)
        made.append(words)
        return bindings.generator_of(words, tree.cls)
    if isinstance(tree, trees.Communicator):
        return communicator_param(lo, tree, name, place, made)
    if isinstance(tree, Instance):
        lo.shared.values.setdefault(place, tree.value)
        held = instances.attributes(tree.value)
        given = tuple(Given(place.to(to_attribute(key)), value) for key, value in held.items())
        cls = instances.class_of(tree.cls)
        return lo.borrow(lambda slot: ObjectRef(slot, cls), RecordOf(tuple(held), given), place)
    if isinstance(tree, trees.Members):
        members = RecordOf(tree.members, (MEMBER,) * len(tree.members))
        return lo.borrow(SetRef, members, place)
    if not trees.is_container(tree):
        # Any function with this code will do.
        return Static(tree, place) if isinstance(tree, types.FunctionType) else static(tree)
    if isinstance(tree, tuple):
        return TupleOf(_bound_items(lo, name, range(len(tree)), tree, place, Item, made))
    cls = tree.cls
    if cls is list:
        items = _bound_items(lo, name, range(len(tree.items)), tree.items, place, Item, made)
        return lo.borrow(ListRef, TupleOf(items), place)
    if cls is types.MethodType:
        owner = bind_value(lo, name, tree.items[0], place.to("__self__"), made)
        return Bound(owner, tree.keys[0])
    is_dict = cls in trees.DICTS
    step: Callable[[Any], Step] = Item if is_dict else to_attribute
    record = RecordOf(tree.keys, _bound_items(lo, name, tree.keys, tree.items, place, step, made))
    if is_dict:
        return lo.borrow(dict_of(cls), record, place)
    if instances.is_named_tuple(cls) or instances.is_frozen(cls):
        return NamedTuple(cls, record)
    return lo.borrow(lambda slot: ObjectRef(slot, cls), record, place)


def dict_of(cls: type) -> Callable[[str], DictRef]:
    """Return how dicts of a class in a tree are made."""
    if cls is collections.Counter:
        return counter
    if cls in trees.DEFAULTS.values():
        factory = static(trees.factory_of(cls))
        return lambda slot: DefaultRef(slot, factory)
    return DictRef


def _bound_complex(
    lo: Lowerer, name: str, tree: trees.Complex, place: Place, made: list[Num | ArrayRef]
) -> Num | ArrayRef:
    """Return the binding of a complex number or array, whose parts are parameters."""
    re, im = (
        Value(lo.builder.names.fresh(f"{name}.{part}"), ty)
        for part, ty in zip(("re", "im"), tree.parts, strict=True)
    )
    (ty,) = OPS["complex"].types([re.type, im.type], ())
    whole = Value(lo.builder.names.fresh(name), ty)
    lo.prologue.append(Apply((whole,), OPS["complex"], (re, im)))
    if isinstance(ty, Scalar):
        made += [Num(re), Num(im)]
        if not (isinstance(tree.type, Scalar) and tree.type.boxed and isinstance(place.root, int)):
            return Num(whole)
        ref = boxed_param(lo, whole, name)
        lo.boxes[lo.origin[ref.object]] = re
    else:
        first = array_param(lo, re, f"{name}.re", place)
        dims = lo.dims[first.object]
        lo.sizes.plural.update(d for d in dims if isinstance(d, Value))
        second = lo.new_array(im, dims, f"{name}.im")
        lo.origin[second.object] = im
        made += [first, second]
        ref = lo.new_array(whole, dims, name)
        lo.origin[ref.object] = whole
        lo.boxes[whole] = re
        lo.homes[ref.object] = place
    if lo.is_outside(place):
        lo.outside[ref.object] = place
    return ref


def _bound_items(
    lo: Lowerer, name: str, keys: Iterable[Any], trees: Sequence[Any], place: Place,
    step: Callable[[Any], Step], made: list[Num | ArrayRef],
) -> tuple[Binding, ...]:  # fmt: skip
    return tuple(
        bind_value(lo, _item_name(name, key, k), tree, place.to(step(key)), made)
        for k, (key, tree) in enumerate(zip(keys, trees, strict=True))
    )


def _item_name(name: str, key: Any, k: int) -> str:
    """Return a name for what is kept under `key`, the k-th: with the key, if names may have it."""
    last = f"_{key}"
    return f"{name}{last}" if last.isidentifier() else f"{name}_{k}"


def _bound_stack(
    lo: Lowerer, name: str, tree: trees.Stack, place: Place, made: list[Num | ArrayRef]
) -> ListRef:
    """Return the binding of a list of elements that are alike; only the list owns its arrays."""
    buffers: list[ArrayRef] = []
    for ty, leaf in zip(tree.arrays, _leaf_names(tree.item, name), strict=True):
        buffer = array_param(lo, Value(lo.builder.names.fresh(leaf), ty), leaf)
        obj = buffer.object
        obj.kept = BY_LIST
        # All have one length.
        lo.dims[obj] = (lo.dims[buffers[0].object if buffers else obj][0], *lo.dims[obj][1:])
        lo.sizes.plural.update(d for d in lo.dims[obj] if isinstance(d, Value))
        buffers.append(buffer)
    made += buffers
    length = Num(lo.dims[buffers[0].object][0])
    return lo.borrow(ListRef, Growing(tuple(buffers), length, _cells(tree.item)), place)


def _leaf_names(tree: Any, name: str) -> Iterator[str]:
    """Yield names for the numbers and arrays in an element of a stack."""
    if not trees.is_container(tree):
        yield from [name] * len(trees.leaf_types(tree))
        return
    items = trees.contents(tree)
    keys = tree.keys if isinstance(tree, trees.Node) and tree.keys else range(len(items))
    for k, (key, item) in enumerate(zip(keys, items, strict=True)):
        yield from _leaf_names(item, _item_name(name, key, k))


def _cells(tree: Any) -> Binding:
    """Return the structure of the elements of a stack."""
    if isinstance(tree, Scalar):
        return Cell(tree)
    if isinstance(tree, Array):
        sizes = tuple([1 if k in tree.ones else None for k in range(tree.rank)])
        return Cell(Scalar(tree.dtype), sizes)
    if not trees.is_container(tree):
        return static(tree)
    items = tuple([_cells(item) for item in trees.contents(tree)])
    if isinstance(tree, tuple):
        return TupleOf(items)
    if instances.is_named_tuple(tree.cls) or instances.is_frozen(tree.cls):
        return NamedTuple(tree.cls, RecordOf(tree.keys, items))
    return Nested(tree.cls, TupleOf(items) if tree.cls is list else RecordOf(tree.keys, items))


def array_param(lo: Lowerer, value: Value, name: str, place: Place | None = None) -> ArrayRef:
    """Make the object of an array parameter, with its sizes read in the prologue.

    Where the program needs a constant, a size of what is at `place` is one.
    """
    assert isinstance(value.type, Array)
    dims: list[Operand] = []
    for axis in range(value.type.rank):
        if axis in value.type.ones:
            dims.append(integer(1))
            continue
        of = None if place is None else place.to("shape", Item(axis))
        if of is not None and of in lo.shared.constants:
            known = int(lo.shared.constants[of])
            lo.shared.guards[of] = Guard(of, known)
            dims.append(integer(known))
            continue
        size = Value(lo.builder.names.fresh(f"{name}.dim{axis}"), INT)
        lo.prologue.append(Apply((size,), OPS["dim"], (value,), (axis,)))
        dims.append(lo.sizes.counts(size))
        lo.sizes.exists(size)
        if of is not None:
            lo.shared.numbers[size] = of
    ref = lo.new_array(value, tuple(dims), name)
    lo.origin[ref.object] = value
    if place is not None:
        lo.homes[ref.object] = place
    return ref


def boxed_param(lo: Lowerer, value: Value, name: str) -> ArrayRef:
    """Make the object of a parameter that is a 0-d array: code takes its number."""
    one = integer(1)
    held = Value(lo.builder.names.fresh(f"{name}.box"), Array(value.type.dtype, 1))
    lo.prologue.append(Apply((held,), OPS["full"], (value, one), (value.type.dtype,)))
    ref = lo.new_array(held, (one,), name)
    lo.origin[ref.object] = held
    lo.boxes[held] = lo.boxed[held] = value
    return only_element(ref)


def generator_param(lo: Lowerer, tree: trees.Generator, name: str, place: Place) -> ArrayRef:
    """Make the object of the state of a random generator that is a parameter."""
    value = Value(lo.builder.names.fresh(name), tree.array)
    ref = lo.new_array(value, (integer(tree.words),), name)
    lo.origin[ref.object] = value
    lo.generators[ref.object] = place
    return ref


def communicator_param(
    lo: Lowerer, tree: trees.Communicator, name: str, place: Place, made: list[Num | ArrayRef]
) -> NamedTuple:
    """Make the parameters that a communicator is."""
    order, *numbers = (Value(lo.builder.names.fresh(name), ty) for ty in tree.parts)
    ref = lo.new_array(order, (integer(1),), name)
    ref.object.words = True
    lo.origin[ref.object] = order
    items: tuple[Num | ArrayRef, ...] = (ref, *map(Num, numbers))
    made += items
    found = NamedTuple(tree.cls, RecordOf(("order", "number", "rank", "size"), items))
    lo.communicators[ref.object] = found, place
    return found


def is_stack(leaf: Num | ArrayRef) -> bool:
    """Whether a leaf of an argument is made of an array in each element of a list."""
    return isinstance(leaf, ArrayRef) and bool(leaf.object.kept) and leaf.object.type.rank > 1


def arrays_of(made: Iterable[Num | ArrayRef], place: Place) -> dict[ArrayObject, Place]:
    """Return the arrays among leaves, but for the states of random generators: draws are seen."""
    arrays = [leaf.object for leaf in made if isinstance(leaf, ArrayRef)]
    return {obj: place for obj in arrays if not obj.words}


def param_of(lo: Lowerer, leaf: Num | ArrayRef) -> Value:
    """Return the parameter that a leaf from outside is."""
    if isinstance(leaf, ArrayRef):
        return lo.origin[leaf.object]
    assert isinstance(leaf.operand, Value)
    return leaf.operand


def leaf_operand(lo: Lowerer, leaf: Num | ArrayRef, node: ast.AST | None = None) -> Operand:
    return leaf.operand if isinstance(leaf, Num) else lo.version(leaf.object, node)
