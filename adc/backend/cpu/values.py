"""The values of an emitted function in LLVM's language, and the variables that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from adc.backend.common import syntax
from adc.backend.common.syntax import Assign, Call
from adc.backend.numba_api import cgutils, types
from adc.backend.runtime import writing

_I64 = ir.IntType(64)


@dataclass(frozen=True)
class Scalar:
    """A number or truth value."""

    type: Any
    value: Any


@dataclass(frozen=True)
class Array:
    """An array.

    Attributes
    ----------
    owner
        The reference that keeps the memory alive, or None if the memory belongs to somebody else.
    strides
        In bytes; empty for arrays in C order, whose sizes tell them.
    home
        Where its memory is, one of `HOMES`; empty if that is not known.
    """

    type: Any
    data: Any
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    owner: Any
    home: str = ""


# Memory of different homes is disjoint: LLVM is told, and need not test for it in front of loops.
HOMES = ("argument", "workspace", "fresh", "tape")


def flat_types(kinds: Iterable[Any]) -> tuple[Any, ...]:
    """Return the types of what flat functions are passed, and return, for values of some types.

    Of an array that is its address, its sizes, its strides if they are not known, and its owner.
    """
    found: list[Any] = []
    for ty in kinds:
        if isinstance(ty, types.Array):
            count = ty.ndim if ty.layout == "C" else 2 * ty.ndim
            found += [types.CPointer(ty.dtype), *[types.int64] * count, types.voidptr]
        else:
            found.append(ty)
    return tuple(found)


def flat_result(result: Any) -> Any:
    """Return the type of what flat functions return for a result of some type."""
    return types.BaseTuple.from_types(flat_types(result))


Value = Any  # `Scalar`, `Array`, or a list of them for a tuple


def constant_type(value: object) -> Any:
    if isinstance(value, bool):
        return types.boolean
    return types.int64 if isinstance(value, int) else types.float64


def _assigned(function: syntax.Function) -> Counter[str]:
    """Count the assignments of every variable; the passing of an argument is one."""
    found = Counter(function.params)
    for stmt in syntax.walk(function.body):
        found.update(syntax.targets(stmt))
    return found


def _tapes(function: syntax.Function) -> set[str]:
    """Return the variables that hold nothing but tapes, whose memory may move."""
    tapes: set[str] = set()
    others = set(function.params)
    for stmt in syntax.walk(function.body):
        match stmt:
            case Assign(name, Call("tape" | "grow" | "fit")):
                tapes.add(name)
            case _:
                others.update(syntax.targets(stmt))
    return tapes - others


class Variables:
    """The variables of one function, and the references that they hold to arrays."""

    def __init__(self, context: Any, tree: syntax.Function, kinds: Any, function: Any) -> None:
        self.context = context
        self.tree = tree
        self.types = kinds
        self.function = function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.counts = _assigned(tree)
        self.tapes = _tapes(tree)
        self.values: dict[str, Value] = {}
        # Of variables that are assigned more than once: where their values lie.
        self.slots: dict[str, Value] = {}
        self.owners: dict[str, Any] = {}
        # Where calls leave what they return, by type: it is read at once.
        self._rooms: dict[str, Any] = {}

    # -- arrays ----------------------------------------------------------------------------

    def unpacked(self, ty: Any, value: Any) -> Value:
        """Return a value of Numba's as one of ours."""
        if not isinstance(ty, types.Array):
            return Scalar(ty, value)
        b, model = self.builder, self.context.data_model_manager[ty]

        def field(name: str, *axis: int) -> Any:
            return b.extract_value(value, [model.get_field_position(name), *axis])

        axes = range(ty.ndim)
        strides = () if ty.layout == "C" else tuple(field("strides", k) for k in axes)
        shape = tuple(field("shape", k) for k in axes)
        return Array(ty, field("data"), shape, strides, field("meminfo"))

    def assembled(self, ty: Any, values: Iterator[Any]) -> Value:
        """Return a value of ours that was passed as `flat_types` says."""
        if not isinstance(ty, types.Array):
            return Scalar(ty, next(values))
        data = next(values)
        shape = tuple(next(values) for _ in range(ty.ndim))
        strides = () if ty.layout == "C" else tuple(next(values) for _ in range(ty.ndim))
        return Array(ty, data, shape, strides, next(values))

    def flattened(self, value: Value, ty: Any) -> list[Any]:
        """Return a value of ours in the parts that `flat_types` has for type `ty`."""
        if isinstance(value, Scalar):
            return [self.packed(value, ty)]
        owner = value.owner
        if owner is None:
            owner = ir.Constant(cgutils.voidptr_t, None)
        strides = () if ty.layout == "C" else self.strides(value)
        return [value.data, *value.shape, *strides, owner]

    def table(self, ty: Any, words: Array) -> Array:
        """Return the table that is passed as an array of its sizes and of addresses."""
        b = self.builder
        shape = tuple(
            b.load(b.gep(words.data, [ir.Constant(_I64, axis)])) for axis in range(ty.ndim)
        )
        first = b.gep(words.data, [ir.Constant(_I64, ty.ndim)])
        data = b.bitcast(first, self.context.get_data_type(ty.dtype).as_pointer())
        return Array(ty, data, shape, (), None, words.home)

    def part(self, table: Array, number: Any) -> Array:
        """Return a part of a table."""
        b = self.builder
        place = b.gep(b.bitcast(table.data, _I64.as_pointer()), [number], inbounds=True)
        address = b.load(place)
        # Nothing writes addresses while the code runs: loops need not read them again.
        address.set_metadata("invariant.load", b.module.add_metadata([]))
        ty = types.Array(table.type.dtype, table.type.ndim - 1, "C")
        return self.array_at(ty, address, table.shape[1:], table.home)

    def packed(self, value: Value, ty: Any) -> Any:
        """Return a value of ours as Numba's of type `ty`."""
        if isinstance(value, Scalar):
            return self.context.cast(self.builder, value.value, value.type, ty)
        b = self.builder
        model = self.context.data_model_manager[ty]
        found: Any = ir.Constant(model.get_value_type(), None)

        def put(name: str, content: Any, *axis: int) -> None:
            nonlocal found
            found = b.insert_value(found, content, [model.get_field_position(name), *axis])

        size = self.itemsize(value.type)
        strides = self.strides(value)
        items: Any = ir.Constant(_I64, 1)
        for k, (extent, stride) in enumerate(zip(value.shape, strides, strict=True)):
            put("shape", extent, k)
            put("strides", stride, k)
            items = b.mul(items, extent)
        put("nitems", items)
        put("itemsize", size)
        put("data", value.data)
        if value.owner is not None:
            put("meminfo", value.owner)
        return found

    def itemsize(self, ty: Any) -> Any:
        return ir.Constant(_I64, writing.itemsize(ty.dtype))

    def strides(self, array: Array) -> tuple[Any, ...]:
        if array.strides:
            return array.strides
        found: list[Any] = []
        stride: Any = self.itemsize(array.type)
        for extent in reversed(array.shape):
            found.insert(0, stride)
            stride = self.builder.mul(stride, extent)
        return tuple(found)

    def array_at(self, ty: Any, address: Any, shape: Sequence[Any], home: str = "") -> Array:
        pointer = self.context.get_data_type(ty.dtype).as_pointer()
        return Array(ty, self.builder.inttoptr(address, pointer), tuple(shape), (), None, home)

    # -- variables -------------------------------------------------------------------------

    def slot(self, ty: Any, zero: bool = False) -> Any:
        """Return a place for a value of an LLVM type, in the first block."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(ty)
            if zero:
                self.builder.store(ir.Constant(ty, None), place)
        return place

    def room(self, ty: Any) -> Any:
        """Return the place where calls leave what they return, if it is of some LLVM type."""
        if (key := str(ty)) not in self._rooms:
            self._rooms[key] = self.slot(ty)
        return self._rooms[key]

    def reference(self, name: str, owner: Any) -> None:
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        self.builder.call(function, [owner])

    def bind(self, name: str, value: Value, *, counted: bool = False) -> None:
        """Assign to a variable; `counted` if the value brings a reference of its own."""
        if isinstance(value, list):
            self.values[name] = value
            return
        if isinstance(value, Array):
            if name in self.types.owning:
                self.own(name, value, counted)
            elif counted and value.owner is not None:
                self.reference("NRT_decref", value.owner)
        if name == "_":
            return
        declared = self.types.type_of(name)
        if isinstance(value, Scalar) and value.type != declared:
            raise TypeError(f"{name} is declared {declared}, and gets a value of type {value.type}")
        if self.counts[name] == 1:
            self.values[name] = value
            return
        if name not in self.slots:
            self.slots[name] = self.new_slots(declared)
        slots = self.slots[name]
        if isinstance(value, Scalar):
            self.builder.store(self.packed(value, slots.type), slots.value)
            return
        self.builder.store(value.data, slots.data)
        strides = self.strides(value) if slots.strides else ()
        for content, place in zip(
            (*value.shape, *strides), (*slots.shape, *slots.strides), strict=True
        ):
            self.builder.store(content, place)

    def own(self, name: str, value: Array, counted: bool) -> None:
        if name not in self.owners:
            self.owners[name] = self.slot(cgutils.voidptr_t, zero=True)
        slot, owner = self.owners[name], value.owner
        if owner is None:
            owner = ir.Constant(cgutils.voidptr_t, None)
        elif not counted:
            self.reference("NRT_incref", owner)
        old = self.builder.load(slot)
        self.builder.store(owner, slot)
        self.reference("NRT_decref", old)

    def release(self, name: str) -> None:
        """Let a variable no longer hold its array."""
        if name in self.owners:
            slot = self.owners[name]
            old = self.builder.load(slot)
            self.builder.store(ir.Constant(cgutils.voidptr_t, None), slot)
            self.reference("NRT_decref", old)

    def new_slots(self, ty: Any, zero: bool = False) -> Value:
        if not isinstance(ty, types.Array):
            return Scalar(ty, self.slot(self.context.get_value_type(ty), zero=zero))
        data = self.slot(self.context.get_data_type(ty.dtype).as_pointer())
        shape = tuple(self.slot(_I64) for _ in range(ty.ndim))
        strides = () if ty.layout == "C" else tuple(self.slot(_I64) for _ in range(ty.ndim))
        return Array(ty, data, shape, strides, None)

    def read(self, name: str) -> Value:
        if name in self.values:
            return self.values[name]
        if name not in self.slots:
            # A loop that stands for several takes what it assigns itself, if others read it.
            self.slots[name] = self.new_slots(self.types.type_of(name), zero=True)
        slots, load = self.slots[name], self.builder.load
        if isinstance(slots, Scalar):
            return Scalar(slots.type, load(slots.value))
        # The memory of a tape may move, but not to another home.
        home = "tape" if name in self.tapes else ""
        owner = load(self.owners[name]) if name in self.owners else None
        shape, strides = (tuple(map(load, each)) for each in (slots.shape, slots.strides))
        return Array(slots.type, load(slots.data), shape, strides, owner, home)

    def constant(self, value: Any) -> Scalar:
        ty = constant_type(value)
        return Scalar(ty, ir.Constant(self.context.get_value_type(ty), value))
