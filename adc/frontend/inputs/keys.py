"""Keys of arguments: equal keys run the same code."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from adc.frontend.inputs.instances import (
    attributes,
    bit_generator,
    is_array,
    is_class_method,
    is_communicator_class,
    is_generator_class,
    is_lazy,
    is_unchanging,
    is_value,
    looks,
)
from adc.frontend.inputs.trees import (
    DICTS,
    class_in_tree,
    common_type,
    is_set,
    members_of,
    ones_of,
    parts_of,
)
from adc.ir import foreign
from adc.ir.types import NAMES

_NUMBERS = frozenset({float, complex, *(dtype.type for dtype in NAMES)})


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
    if is_value(value):
        return cls, looks(value)
    if isinstance(value, np.generic):
        return value.dtype
    if is_array(value):
        return cls, key_of(value.view(np.ndarray))
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
        return cls, type(bit_generator(value))
    if is_communicator_class(cls):
        return cls
    if is_set(value):
        members = members_of(value)
        return cls, repr(members), members  # `1`, `1.0` and `True` are equal
    found = parts_of(value)
    if found is None:
        return "object", id(value), state_of(value)
    if id(value) in within:
        return cls, "itself"
    ty = common_type(value)
    if ty is not None:
        return list, ty
    keys, items = found
    inside = (*within, id(value))
    cls = class_in_tree(value) if isinstance(value, dict) else cls
    kinds = tuple([type(key) for key in keys]) if cls in DICTS else ()
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
    if is_value(value):
        return type(value), looks(value)
    if value is None or type(value) in (str, int, float, bool) or isinstance(value, np.generic):
        return type(value), value
    if type(value) is tuple:
        return tuple([_constant(item, seen) for item in value])
    return id(value), state_of(value, seen)
