"""Type trees: what code has to know of an argument.

A type tree has the structure of the argument. Numbers and arrays are replaced by their types, and
containers by a tuple or `Node`. Everything else stays as it is and is a constant of the program.
"""

from __future__ import annotations

import collections
import enum
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.frontend.inputs.instances import (
    attributes,
    bit_generator,
    class_of,
    is_array,
    is_communicator_class,
    is_generator,
    is_generator_class,
    is_lazy,
    is_legacy_class,
    is_literal,
    is_named_tuple,
    is_unchanging,
    is_value,
)
from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.ir.foreign import is_plain
from adc.ir.types import COMPLEX, FLOAT, INT, NAMES, Array, Scalar

# Longer lists of numbers are passed as arrays; the elements of others are numbers of their own.
LONGEST_LIST = 32
# What a `collections.defaultdict` is in a tree, by what it makes for a key that it does not have.
DEFAULTS: dict[Any, type] = {
    factory: type(
        f"defaultdict[{factory and factory.__name__}]",
        (dict,),
        {"factory": factory, "__module__": "collections"},
    )
    for factory in (None, int, float, complex, bool, str, list, dict, set, tuple)
}
DICTS = (dict, collections.OrderedDict, collections.Counter, *DEFAULTS.values())


@dataclass(frozen=True, slots=True)
class Node:
    """A list, dict, named tuple, object or method: its class, and what it holds under which keys.

    The elements of a list have no keys. A method holds its object under its own name.
    """

    cls: type
    keys: tuple[Any, ...]
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A list of Python numbers of one type that is passed as an array: its length is free."""

    type: Scalar

    @property
    def array(self) -> Array:
        return Array(self.type.dtype, 1)


@dataclass(frozen=True, slots=True)
class Stack:
    """A list of elements that are alike, passed as one array for each number and array in them.

    Its first axis is that of the elements, so their number is free (`stacks`).
    """

    item: Any

    @property
    def arrays(self) -> list[Array]:
        """The types of what is passed."""
        return [
            Array(ty.dtype, 1) if isinstance(ty, Scalar)
            else Array(ty.dtype, ty.rank + 1, "C", tuple([k + 1 for k in ty.ones]))
            for ty in leaf_types(self.item)
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number or array: code takes its real and its imaginary part, arrays in C order."""

    type: Scalar | Array

    @property
    def parts(self) -> list[Scalar | Array]:
        """The types of what is passed."""
        part = self.type.part
        if isinstance(part, Array):
            part = Array(part.dtype, part.rank, "C", part.ones)
        return [part, part]


@dataclass(frozen=True, slots=True)
class Members:
    """A set of constants: part of the program, in an order of their own."""

    members: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """A random generator: code takes its state, an array of `words`, and returns the next one."""

    cls: type

    @property
    def array(self) -> Array:
        return Array("u64", 1)

    @property
    def words(self) -> int:
        """How many words the state has (`adc.library.random`, `twister`)."""
        return 627 if is_legacy_class(self.cls) else 6


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator of MPI: an array through which its operations are in order, and integers.

    These are its number (`library.mpi.channels`), the rank of this process, and how many there are.
    """

    cls: type

    @property
    def parts(self) -> list[Scalar | Array]:
        """The types of what is passed."""
        return [Array("f64", 1), INT, INT, INT]


@dataclass(frozen=True, eq=False, slots=True)
class Instance:
    """An object whose attributes are bound where the program reads them, as captured ones are.

    So attributes that it does not read may be anything, and change from call to call.
    """

    cls: type
    value: Any


def type_of(value: Any) -> Scalar | Array | None:
    """Return the IR type of an argument value, or None if it is neither number nor array."""
    cls = type(value)
    if cls is float:
        return FLOAT
    if cls is int:
        return INT
    if cls is bool:
        return Scalar("b1", weak=True)
    if cls is complex:
        return COMPLEX
    if (cls is np.ndarray or is_array(value)) and value.dtype in NAMES:
        if value.ndim == 0:
            return Scalar(NAMES[value.dtype], boxed=True)
        contiguous = value.flags.c_contiguous and value.flags.aligned
        return Array(NAMES[value.dtype], value.ndim, "C" if contiguous else "A", ones_of(value))
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return Scalar(NAMES[value.dtype])
    if foreign.is_foreign(value):
        found = foreign.described(value)
        # Neither complex numbers nor those of 16 bits are computed with on a GPU.
        if found.dtype in NAMES and found.dtype.kind != "c" and found.dtype != np.float16:
            name, rank = NAMES[found.dtype], len(found.shape)
            return Array(name, rank, "C" if found.by_rows else "A", found.ones) if rank else (
                Scalar(name)
            )  # fmt: skip
    return None


def ones_of(value: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the axes of size 1: how an array is broadcast is part of the program."""
    shape = value.shape
    return tuple([k for k, size in enumerate(shape) if size == 1]) if 1 in shape else ()


def tree_of(value: Any, whole: bool = False, within: tuple[int, ...] = ()) -> Any:
    """Return the type tree of an argument.

    Parameters
    ----------
    whole : bool
        Whether all attributes of objects are part of it, read or not: of a differentiated one.
    within : tuple of int
        The containers around it.
    """
    ty = type_of(value)
    if ty is not None:
        if type(value) is bool or (type(value) is int and not -(2**63) <= value < 2**63):
            return value
        return Complex(ty) if ty.kind == "c" else ty
    cls = type(value)
    if foreign.is_foreign(value):
        found = foreign.described(value)
        raise ArgumentError(
            found.problem or f"a {foreign.kind_of(value)} of dtype {found.dtype}", None,
            found.hint or "pass arrays of bool, integers, float32 or float64",
        )  # fmt: skip
    if is_generator_class(cls):
        if not is_generator(value):
            raise ArgumentError(
                f"a random generator with the bit generator {type(bit_generator(value)).__name__}",
                None, "adc supports PCG64, and MT19937 of a `RandomState`: use "
                "`np.random.default_rng`",
            )  # fmt: skip
        return Generator(cls)
    if is_communicator_class(cls):
        return Communicator(cls)
    if not whole and is_lazy(value):
        return Instance(cls, value)
    if is_set(value):
        return Members(members_of(value))
    parts = parts_of(value)
    if parts is None:
        return value
    ty = common_type(value)
    if ty is not None:
        return Numbers(ty)
    if id(value) in within:
        raise ArgumentError(
            f"a {cls.__name__} contains itself", None, "pass a container without cycles"
        )
    inside = (*within, id(value))
    items = tuple([tree_of(item, whole, inside) for item in parts[1]])
    return items if cls is tuple else Node(class_in_tree(value), parts[0], items)


def factory_of(cls: type) -> Any:
    """Return what a `collections.defaultdict` of a class in a tree makes for new keys."""
    return vars(cls)["factory"]


def class_in_tree(value: Any) -> type:
    """Return the class that a container has in a tree."""
    if type(value) is collections.defaultdict:
        made = (each for factory, each in DEFAULTS.items() if factory is value.default_factory)
        return next(made, collections.defaultdict)
    return class_of(type(value))


def common_type(value: Any) -> Scalar | None:
    """Return the type of the numbers in a long list of numbers; None for anything else."""
    if type(value) is not list or len(value) <= LONGEST_LIST:
        return None
    kinds = set(map(type, value))
    if kinds == {float}:
        return FLOAT
    return INT if kinds == {int} and -(2**63) <= min(value) <= max(value) < 2**63 else None


def _has_methods(cls: type) -> bool:
    """Whether a method of an object of a class is known by its name and the object."""
    return is_plain(cls) or is_generator_class(cls)


def parts_of(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """Return the keys and the contents of a container; None for anything else."""
    cls = type(value)
    if cls is tuple or cls is list:
        return (), value
    if cls in DICTS or (cls is collections.defaultdict and class_in_tree(value) in DICTS):
        return tuple(value), list(value.values())
    if is_named_tuple(cls):
        return cls._fields, value
    if cls is types.MethodType and _has_methods(type(value.__self__)):
        name = value.__func__.__name__
        if getattr(type(value.__self__), name, None) is value.__func__:
            return (name,), [value.__self__]
    if is_plain(cls) and not is_value(value):
        found = attributes(value)
        return tuple(found), list(found.values())
    return None


def is_set(value: Any) -> bool:
    """Whether an object is a set of numbers, texts and classes, or of members of an enum."""
    return type(value) is set and all(
        type(each) is float or isinstance(each, enum.Enum | type) or is_literal(each)
        for each in value
    )


def members_of(value: set[Any]) -> tuple[Any, ...]:
    """Return the members of a set, sorted by what they look like."""
    return tuple(sorted(value, key=lambda each: (type(each).__name__, repr(each))))


def is_constant(value: Any) -> bool:
    """Whether a captured object is built into the code: what holds no array and cannot change."""
    if is_unchanging(value):
        return True
    if type(value) is tuple or is_named_tuple(type(value)):
        return all(isinstance(type_of(item), Scalar) or is_constant(item) for item in value)
    return type(value) is bool or not has_structure(value)


def emptied(tree: Any) -> Any:
    """Return a type tree without the objects and functions that code does not depend on.

    So code that others may use does not keep them alive.
    """
    if isinstance(tree, Instance):
        return Instance(tree.cls, None)
    if isinstance(tree, types.FunctionType):
        return emptied_function(tree)
    if isinstance(tree, Stack):
        return Stack(emptied(tree.item))
    if isinstance(tree, Node):
        return Node(tree.cls, tree.keys, tuple([emptied(item) for item in tree.items]))
    return tuple([emptied(item) for item in tree]) if isinstance(tree, tuple) else tree


def emptied_function(fn: types.FunctionType) -> types.FunctionType:
    """Return a function of the same name and code that holds nothing."""
    cells = tuple([types.CellType() for _ in fn.__code__.co_freevars])
    return types.FunctionType(fn.__code__, {}, fn.__name__, None, cells)


def has_structure(value: Any) -> bool:
    """Whether a captured object is a number, an array, a generator or a container of such."""
    return (
        type_of(value) is not None
        or parts_of(value) is not None
        or is_set(value)
        or is_generator_class(type(value))
        or is_communicator_class(type(value))
        or foreign.is_foreign(value)
    )


def is_container(tree: Any) -> bool:
    return type(tree) is tuple or isinstance(tree, Node)


def is_complex(tree: Any) -> bool:
    """Whether all numbers in an argument that are not integers are complex."""
    if is_container(tree):
        return all(map(is_complex, contents(tree)))
    found = tree.type if isinstance(tree, Numbers) else tree
    if isinstance(tree, Stack):
        return is_complex(tree.item)
    return not (isinstance(found, Scalar | Array) and found.kind == "f")


def has_complex(tree: Any) -> bool:
    """Whether there is a complex number in an argument."""
    return isinstance(tree, Complex) or (
        is_container(tree) and any(map(has_complex, contents(tree)))
    )


def imaginary(tree: Any) -> list[bool]:
    """Return for each leaf of an argument whether it is the imaginary part of a complex number."""
    if isinstance(tree, Complex):
        return [False, True]
    if is_container(tree):
        return [each for item in contents(tree) for each in imaginary(item)]
    return [False] * len(leaf_types(tree))


def contents(tree: Any) -> tuple[Any, ...]:
    """Return what a tree holds directly."""
    found = tree.items if isinstance(tree, Node) else tree
    assert isinstance(found, tuple)
    return found


def leaf_types(tree: Any) -> list[Scalar | Array]:
    if isinstance(tree, Scalar | Array):
        return [tree]
    if isinstance(tree, Numbers | Generator):
        return [tree.array]
    if isinstance(tree, Complex | Communicator):
        return tree.parts
    if isinstance(tree, Stack):
        return list(tree.arrays)
    if is_container(tree):
        return [leaf for item in contents(tree) for leaf in leaf_types(item)]
    return []


def describe(tree: Any) -> str:
    """Return a text for a type tree; a size that is part of the program is shown."""
    if isinstance(tree, Array) and tree.ones:
        sizes = ", ".join("1" if k in tree.ones else ":" for k in range(tree.rank))
        return str(tree).replace(f"[{', '.join(':' * tree.rank)}]", f"[{sizes}]")
    if isinstance(tree, Scalar | Array):
        return str(tree)
    if isinstance(tree, Complex):
        return describe(tree.type)
    if isinstance(tree, Instance):
        return tree.cls.__name__
    if isinstance(tree, Numbers):
        return f"list[{tree.type}]"
    if isinstance(tree, Stack):
        return f"[{describe(tree.item)}, ...]"
    if isinstance(tree, Generator):
        return tree.cls.__name__
    if isinstance(tree, Communicator):
        return tree.cls.__name__
    if isinstance(tree, Members):
        return f"{{{', '.join(map(repr, tree.members))}}}" if tree.members else "set()"
    if isinstance(tree, tuple):
        return f"({', '.join(map(describe, tree))}{',' if len(tree) == 1 else ''})"
    if not isinstance(tree, Node):
        text = repr(tree)
        return text if len(text) <= 80 and "\n" not in text else f"a {type(tree).__name__}"
    if tree.cls is list:
        return f"[{', '.join(map(describe, tree.items))}]"
    pairs = list(zip(tree.keys, map(describe, tree.items), strict=True))
    if tree.cls in DICTS:
        return f"{{{', '.join(f'{key!r}: {text}' for key, text in pairs)}}}"
    if tree.cls is types.MethodType:
        return f"{pairs[0][1]}.{tree.keys[0]}"
    return f"{tree.cls.__name__}({', '.join(f'{key}={text}' for key, text in pairs)})"
