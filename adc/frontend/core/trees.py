"""Arguments: their type trees, the parts that select the code, and their leaves.

A type tree has the structure of the argument. Numbers and arrays are replaced by their types, and
containers by a tuple or `Node`. Everything else stays as it is and is a constant of the program.
"""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.ir.foreign import is_plain
from adc.ir.types import DTYPES, FLOAT, INT, NAMES, Array, Scalar

# Longer lists of numbers are passed as arrays; the elements of others are numbers of their own.
LONGEST_LIST = 32
_DICTS = (dict, collections.OrderedDict)


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
class Generator:
    """A random generator: code takes its state, an array of `words`, and returns the next one."""

    @property
    def array(self) -> Array:
        return Array("u64", 1)


@dataclass(frozen=True, eq=False, slots=True)
class Instance:
    """An object whose attributes are bound where the program reads them, as captured ones are.

    So attributes that it does not read may be anything, and change from call to call.
    """

    cls: type
    value: Any


# -- classes ---------------------------------------------------------------------------------------


def is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_frozen(cls: type) -> bool:
    params = getattr(cls, "__dataclass_params__", None)
    return params is not None and bool(params.frozen) and is_plain(cls)


def is_lazy(value: Any) -> bool:
    """Whether the attributes of an object are bound where they are read."""
    cls: Any = type(value)
    return _is_lazy(cls)


@functools.lru_cache(maxsize=1024)
def _is_lazy(cls: Any) -> bool:
    return is_plain(cls) and not is_frozen(cls)


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an instance, without those of its class."""
    found = dict(getattr(value, "__dict__", ()))
    for cls in type(value).__mro__[:-1]:
        for name, item in vars(cls).items():
            if type(item) is types.MemberDescriptorType and hasattr(value, name):
                found.setdefault(name, getattr(value, name))
    return found


# -- random generators -----------------------------------------------------------------------------


def is_generator_class(cls: type) -> bool:
    """Whether a class is `np.random.Generator`, which need not be loaded."""
    return cls.__module__ == "numpy.random._generator" and cls.__name__ == "Generator"


def is_generator(value: Any) -> bool:
    """Whether a value is a random generator that code can draw from: one with PCG64."""
    return is_generator_class(type(value)) and type(value.bit_generator) is np.random.PCG64


_WORD = 2**64 - 1


def words(generator: Any) -> np.ndarray[Any, Any]:
    """Return the state of a generator.

    Examples
    --------
    >>> words(np.random.default_rng(0))[4:]
    array([0, 0], dtype=uint64)
    """
    held = generator.bit_generator.state
    state, step = held["state"]["state"], held["state"]["inc"]
    return np.array(
        [state >> 64, state & _WORD, step >> 64, step & _WORD, held["has_uint32"],
         held["uinteger"]],
        np.uint64,
    )  # fmt: skip


def advance(generator: Any, state: np.ndarray[Any, Any]) -> None:
    """Give a generator the state that code returned."""
    high, low, step_high, step_low, full, half = state.tolist()
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high << 64 | low, "inc": step_high << 64 | step_low},
        "has_uint32": full,
        "uinteger": half,
    }


# -- types -----------------------------------------------------------------------------------------


def type_of(value: Any) -> Scalar | Array | None:
    """Return the IR type of an argument value, or None if it is neither number nor array."""
    cls = type(value)
    if cls is float:
        return FLOAT
    if cls is int:
        return INT
    if cls is bool:
        return Scalar("b1", weak=True)
    if cls is np.ndarray and value.dtype in NAMES:
        if value.ndim == 0:
            return Scalar(NAMES[value.dtype], boxed=True)
        contiguous = value.flags.c_contiguous and value.flags.aligned
        return Array(NAMES[value.dtype], value.ndim, "C" if contiguous else "A", ones_of(value))
    if isinstance(value, np.generic) and value.dtype in NAMES:
        return Scalar(NAMES[value.dtype])
    if foreign.is_foreign(value):
        found = foreign.described(value)
        if found.dtype in NAMES:
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
        return ty
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
                f"a random generator with the bit generator {type(value.bit_generator).__name__}",
                None, "adc supports only PCG64: use `np.random.default_rng`",
            )  # fmt: skip
        return Generator()
    if not whole and is_lazy(value):
        return Instance(cls, value)
    parts = parts_of(value)
    if parts is None:
        return value
    ty = _common_type(value)
    if ty is not None:
        return Numbers(ty)
    if id(value) in within:
        raise ArgumentError(
            f"a {cls.__name__} contains itself", None, "pass a container without cycles"
        )
    inside = (*within, id(value))
    items = tuple([tree_of(item, whole, inside) for item in parts[1]])
    return items if cls is tuple else Node(cls, parts[0], items)


def _common_type(value: Any) -> Scalar | None:
    """Return the type of the numbers in a long list of numbers; None for anything else."""
    if type(value) is not list or len(value) <= LONGEST_LIST:
        return None
    kinds = set(map(type, value))
    if kinds == {float}:
        return FLOAT
    return INT if kinds == {int} and -(2**63) <= min(value) <= max(value) < 2**63 else None


def parts_of(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """Return the keys and the contents of a container; None for anything else."""
    cls = type(value)
    if cls is tuple or cls is list:
        return (), value
    if cls in _DICTS:
        return tuple(value), list(value.values())
    if is_named_tuple(cls):
        return cls._fields, value
    if cls is types.MethodType and is_plain(type(value.__self__)):
        name = value.__func__.__name__
        if getattr(type(value.__self__), name, None) is value.__func__:
            return (name,), [value.__self__]
    if is_plain(cls):
        found = attributes(value)
        return tuple(found), list(found.values())
    return None


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
        or is_generator_class(type(value))
        or foreign.is_foreign(value)
    )


# -- keys ------------------------------------------------------------------------------------------
_NUMBERS = frozenset({float, *(dtype.type for dtype in DTYPES.values())})
UNCHANGING = (
    type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, np.dtype,
    enum.Enum, types.CodeType, types.WrapperDescriptorType,
    type(np.sum),  # what most functions of NumPy are
)  # fmt: skip


def is_unchanging(value: Any) -> bool:
    """Whether an object cannot change: functions, classes, modules, and compiled functions.

    What adc and Numba make of functions holds the code of calls so far, which does not matter.
    """
    return (
        isinstance(value, UNCHANGING)
        or type(value).__name__ == "cython_function_or_method"  # NumPy's `default_rng` is one
        or hasattr(type(value), "__adc_applied__")
        or isinstance(_compiled(value), types.FunctionType)
    )


def is_class_method(value: Any) -> bool:
    """Whether a value is a method of a class, which is a new object at each access."""
    return type(value) is types.MethodType and isinstance(value.__self__, type)


def _compiled(value: Any) -> Any:
    """Return the function that an object was compiled from; no code of its class runs."""
    return None if hasattr(type(value), "__getattr__") else getattr(value, "py_func", None)


def key_of(value: Any, whole: bool = False, within: tuple[int, ...] = ()) -> object:
    """Return the key of an argument: equal keys run the same code."""
    cls = type(value)
    if cls in _NUMBERS:
        return cls
    if cls is np.ndarray:
        flags, shape = value.flags, value.shape
        contiguous = flags.c_contiguous and flags.aligned
        if 1 in shape:
            return value.dtype, ones_of(value), len(shape), contiguous
        return value.dtype, len(shape), contiguous
    if cls is int:
        return int if -(2**63) <= value < 2**63 else ("int", value)
    if cls is tuple:
        return tuple([key_of(item, whole, within) for item in value])
    if value is None or cls is str or cls is bool:
        return cls, value
    if cls is list or cls is dict:
        return _container_key(value, whole, within)
    if isinstance(value, np.generic):
        return value.dtype
    if cls is types.FunctionType:
        return cls, id(value.__code__)  # what it holds is read, or guarded, where it is used
    if is_unchanging(value):
        return "object", id(value)
    if is_class_method(value):
        return "method", id(value.__func__), id(value.__self__)
    if foreign.is_foreign(value):
        found = foreign.described(value)
        rank = len(found.shape)
        return "foreign", found.dtype, found.ones, rank, found.by_rows, found.problem
    return _container_key(value, whole, within)


def _container_key(value: Any, whole: bool, within: tuple[int, ...]) -> object:
    cls = type(value)
    if not whole and is_lazy(value):
        return cls, tuple(attributes(value))
    if is_generator_class(cls):
        return cls, type(value.bit_generator)
    found = parts_of(value)
    if found is None:
        return "object", id(value), state_of(value)
    if id(value) in within:
        return cls, "itself"
    ty = _common_type(value)
    if ty is not None:
        return list, ty
    keys, items = found
    inside = (*within, id(value))
    kinds = tuple([type(key) for key in keys]) if cls in _DICTS else ()
    return cls, keys, kinds, tuple([key_of(item, whole, inside) for item in items])


def state_of(value: Any, seen: tuple[int, ...] = ()) -> object:
    """Return the attributes of an object: those that the function reads are built into the code."""
    if is_unchanging(value) or id(value) in seen:
        return None
    found = attributes(value)
    for cls in type(value).__mro__[:-1]:
        for name, item in vars(cls).items():
            if type(item) in _NUMBERS or type(item) in (int, bool):
                found.setdefault(name, getattr(value, name, None))
    return tuple([(name, _constant(item, (*seen, id(value)))) for name, item in found.items()])


def _constant(value: Any, seen: tuple[int, ...]) -> object:
    if value is None or type(value) in (str, int, float, bool) or isinstance(value, np.generic):
        return type(value), value
    if type(value) is tuple:
        return tuple([_constant(item, seen) for item in value])
    return id(value), state_of(value, seen)


# -- leaves ----------------------------------------------------------------------------------------


def is_container(tree: Any) -> bool:
    return type(tree) is tuple or isinstance(tree, Node)


def contents(tree: Any) -> tuple[Any, ...]:
    """Return what a tree holds directly."""
    found = tree.items if isinstance(tree, Node) else tree
    assert isinstance(found, tuple)
    return found


def _held(value: Any) -> Sequence[Any]:
    """Return what a container holds directly."""
    found = parts_of(value)
    assert found is not None
    return found[1]


def leaf_types(tree: Any) -> list[Scalar | Array]:
    if isinstance(tree, Scalar | Array):
        return [tree]
    if isinstance(tree, Numbers | Generator):
        return [tree.array]
    if isinstance(tree, Stack):
        return list(tree.arrays)
    if is_container(tree):
        return [leaf for item in contents(tree) for leaf in leaf_types(item)]
    return []


def leaves(value: Any, tree: Any, *, boxed: bool = False) -> list[Any]:
    """Return the numbers and arrays in an argument, as code takes them.

    `boxed`: but for 0-d arrays, which are not the numbers in them.
    """
    found: list[Any] = []
    _add_leaves(value, tree, found, boxed)
    return found


def _add_leaves(value: Any, tree: Any, found: list[Any], boxed: bool) -> None:
    cls = type(tree)
    if cls is Array or (boxed and cls is Scalar):
        found.append(value)
    elif cls is Scalar:
        # A 0-d array is the number that it holds.
        if isinstance(value, (float, int, np.generic)):  # half the time of a union
            found.append(value)
        else:
            found.append(value[()] if type(value) is np.ndarray else foreign.number(value))
    elif cls is tuple or cls is Node:
        held = value.values() if type(value) is dict else _held(value)
        for item, inner in zip(held, contents(tree), strict=True):
            _add_leaves(item, inner, found, boxed)
    elif cls is Numbers:
        found.append(np.array(value, tree.type.numpy))
    elif cls is Stack:
        rows = [leaves(item, tree.item) for item in value]
        for ty, column in zip(tree.arrays, zip(*rows, strict=True), strict=True):
            found.append(stacked(ty, column))
    elif cls is Generator:
        found.append(words(value))


def stacked(ty: Array, parts: Sequence[Any]) -> Parts | np.ndarray[Any, Any]:
    """Return numbers or arrays, one for each element of a list, as an array."""
    return np.array(parts, ty.numpy) if ty.rank == 1 else Parts(parts)


class Parts:
    """An array whose parts along the first axis are arrays of their own, of one shape and dtype.

    Attributes
    ----------
    arrays : sequence of ndarray
        The parts.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self.arrays = arrays

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.arrays), *self.arrays[0].shape

    @property
    def size(self) -> int:
        return len(self.arrays) * self.arrays[0].size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.arrays, dtype)


def held(value: Any, tree: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in an argument, as they are there."""
    if isinstance(tree, Array | Scalar):
        yield value
    elif is_container(tree):
        for item, inner in zip(_held(value), contents(tree), strict=True):
            yield from held(item, inner)
    elif isinstance(tree, Stack):
        for item in value:
            yield from held(item, tree.item)


def changeable(value: Any, tree: Any) -> Iterator[int]:
    """Yield the identities of the lists, dicts and objects in an argument."""
    if isinstance(tree, Instance | Numbers):
        yield id(value)
    elif is_container(tree):
        if isinstance(tree, Node) and (tree.cls is list or tree.cls in _DICTS):
            yield id(value)
        elif is_lazy(value):
            yield id(value)
        for item, inner in zip(_held(value), contents(tree), strict=True):
            yield from changeable(item, inner)
    elif isinstance(tree, Stack):
        yield id(value)
        for item in value:
            yield from changeable(item, tree.item)


# -- results like arguments ------------------------------------------------------------------------


def number(ty: Scalar) -> Callable[[Any], Any]:
    """Return a function that converts numbers to type `ty`: Python's if it is weak."""
    if ty.weak:
        return {"b": bool, "i": int, "f": float}[ty.kind]
    return ty.numpy.type


def arranged(
    tree: Any, at: Iterator[int], converted: bool = True
) -> Callable[[Sequence[Any]], Any]:
    """Return a function that arranges flat gradients, one for each float, like the argument.

    `converted`: and makes numbers, and lists of numbers, where the argument has them.
    """
    writer = _Arrangement(at, converted)
    result = writer.of(tree)
    lines = "".join(f"    {line}\n" for line in writer.lines)
    exec(f"def arrange(flat):\n{lines}    return {result}\n", writer.names)
    made: Callable[[Sequence[Any]], Any] = writer.names.pop("arrange")
    return made


class _Arrangement:
    """Code that makes a container like an argument, a statement for each container in it.

    For ``{"w": array, "layers": [float, 3]}`` that is::

        def arrange(flat):
            v0 = [c0(flat[1]), None]
            v1 = {'w': flat[0], 'layers': v0}
            return v1
    """

    def __init__(
        self, at: Iterator[int], converted: bool, flat: str = "flat", prefix: str = "v"
    ) -> None:
        self.at = at
        self.converted = converted
        self.flat = flat
        self.prefix = prefix
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "build": build, "new": object.__new__, "new_tuple": tuple.__new__,
            "put": object.__setattr__,
        }  # fmt: skip
        self._constants: dict[int, str] = {}

    def constant(self, value: Any) -> str:
        """Return the name of an object, which is kept."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"c{len(self._constants)}"
            self.names[name] = value
        return name

    def bind(self, expression: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def of(self, tree: Any) -> str:
        """Return an expression for what is where `tree` is."""
        if is_container(tree):
            items = [self.of(item) for item in contents(tree)]
            if isinstance(tree, tuple):
                return self.bind(_tuple(items))
            return self.node(tree, items)
        if isinstance(tree, Stack):
            return self.stack(tree)
        if not isinstance(tree, Scalar | Array | Numbers):
            return "None"
        kind = tree.type.kind if isinstance(tree, Numbers) else tree.kind
        if kind != "f":
            return "None"
        leaf = f"{self.flat}[{next(self.at)}]"
        if isinstance(tree, Array) or not self.converted:
            return leaf
        if isinstance(tree, Numbers):
            return f"{leaf}.tolist()"
        return f"{self.constant(number(tree))}({leaf})"

    def stack(self, tree: Stack) -> str:
        """Return an expression for a list with the elements of arrays."""
        rows = self.bind("[]")
        inner = _Arrangement(itertools.count(), False, f"{rows}_flat", f"{rows}_")
        inner.names, inner._constants = self.names, self._constants
        made = inner.of(tree.item)
        columns = []
        for ty, own in zip(leaf_types(tree.item), tree.arrays, strict=True):
            if own.kind == "f":
                whole = f"{self.flat}[{next(self.at)}]"
                weak = self.converted and isinstance(ty, Scalar) and ty.weak
                columns.append(f"{whole}.tolist()" if weak else whole)
        self.lines.append(f"for {inner.flat} in zip({', '.join(columns)}):")
        self.lines += [f"    {line}" for line in [*inner.lines, f"{rows}.append({made})"]]
        return rows

    def node(self, tree: Node, items: list[str]) -> str:
        cls = tree.cls
        keys = [repr(key) if type(key) is str else self.constant(key) for key in tree.keys]
        if cls is list:
            return self.bind(f"[{', '.join(items)}]")
        if cls is dict:
            pairs = (f"{key}: {item}" for key, item in zip(keys, items, strict=True))
            return self.bind(f"{{{', '.join(pairs)}}}")
        made = self.constant(cls)
        if is_named_tuple(cls):
            return self.bind(f"new_tuple({made}, {_tuple(items)})")
        if cls in _DICTS or cls is types.MethodType:
            return self.bind(f"build({made}, {self.constant(tree.keys)}, {_tuple(items)})")
        name = self.bind(f"new({made})")
        for key, item in zip(keys, items, strict=True):
            self.lines.append(f"put({name}, {key}, {item})")
        return name


def _tuple(items: Sequence[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def build(cls: type, keys: Sequence[Any], items: Sequence[Any]) -> Any:
    """Return a container of a class with new contents; no code of the class runs."""
    if cls is list:
        return list(items)
    if cls in _DICTS:
        return cls(zip(keys, items, strict=True))
    if is_named_tuple(cls):
        return tuple.__new__(cls, items)
    if cls is types.MethodType:
        return items[0]
    made: object = object.__new__(cls)
    for name, item in zip(keys, items, strict=True):
        object.__setattr__(made, name, item)
    return made


def tangents(tree: Any, tangent: Any, name: str) -> Iterator[tuple[Scalar | Array, Any]]:
    """Yield the types of all leaves and the tangents of them, checked to be like the argument."""
    if isinstance(tree, Scalar | Array):
        yield tree, tangent
    if isinstance(tree, Numbers):
        if not isinstance(tangent, list):
            raise ArgumentError(f"the tangent of {name!r} must be a list")
        yield tree.array, tangent
    if isinstance(tree, Stack):
        yield from _stacked_tangents(tree, tangent, name)
    if isinstance(tree, Generator):
        yield tree.array, None
    if not is_container(tree):
        return
    cls = tuple if isinstance(tree, tuple) else tree.cls
    if cls is types.MethodType:
        yield from tangents(tree.items[0], tangent, name)
        return
    found = parts_of(tangent) if isinstance(tangent, cls) else None
    keys = tree.keys if isinstance(tree, Node) else ()
    if found is None or len(found[1]) != len(contents(tree)) or set(found[0]) != set(keys):
        what = f"a {cls.__name__} with {', '.join(map(repr, keys))}" if keys else (
            f"a {cls.__name__} of {len(contents(tree))}"
        )  # fmt: skip
        raise ArgumentError(f"the tangent of {name!r} must be {what}")
    by_key = dict(zip(found[0], found[1], strict=True)) if keys else {}
    for key, inner, item in itertools.zip_longest(keys, contents(tree), found[1]):
        yield from tangents(inner, by_key[key] if keys else item, name)


def _stacked_tangents(tree: Stack, tangent: Any, name: str) -> Iterator[tuple[Array, Any]]:
    if not isinstance(tangent, list):
        raise ArgumentError(f"the tangent of {name!r} must have a list where the argument has one")
    rows = [[leaf for _, leaf in tangents(tree.item, item, name)] for item in tangent]
    for k, ty in enumerate(tree.arrays):
        column = [row[k] for row in rows]
        if ty.kind != "f":
            yield ty, None
        elif len({np.shape(leaf) for leaf in column}) > 1:
            raise ArgumentError(f"the tangents in the list of {name!r} have several shapes")
        else:
            yield ty, np.array(column)


# -- descriptions ----------------------------------------------------------------------------------


def describe(tree: Any) -> str:
    """Return a text for a type tree; a size that is part of the program is shown."""
    if isinstance(tree, Array) and tree.ones:
        sizes = ", ".join("1" if k in tree.ones else ":" for k in range(tree.rank))
        return str(tree).replace(f"[{', '.join(':' * tree.rank)}]", f"[{sizes}]")
    if isinstance(tree, Scalar | Array):
        return str(tree)
    if isinstance(tree, Instance):
        return tree.cls.__name__
    if isinstance(tree, Numbers):
        return f"list[{tree.type}]"
    if isinstance(tree, Stack):
        return f"[{describe(tree.item)}, ...]"
    if isinstance(tree, Generator):
        return "Generator"
    if isinstance(tree, tuple):
        return f"({', '.join(map(describe, tree))}{',' if len(tree) == 1 else ''})"
    if not isinstance(tree, Node):
        text = repr(tree)
        return text if len(text) <= 80 and "\n" not in text else f"a {type(tree).__name__}"
    if tree.cls is list:
        return f"[{', '.join(map(describe, tree.items))}]"
    pairs = list(zip(tree.keys, map(describe, tree.items), strict=True))
    if tree.cls in _DICTS:
        return f"{{{', '.join(f'{key!r}: {text}' for key, text in pairs)}}}"
    if tree.cls is types.MethodType:
        return f"{pairs[0][1]}.{tree.keys[0]}"
    return f"{tree.cls.__name__}({', '.join(f'{key}={text}' for key, text in pairs)})"
