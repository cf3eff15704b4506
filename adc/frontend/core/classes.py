"""Attribute lookup in classes, as in Python, and the classes that adc supports.

Nothing is lowered here: `objects` and `special` call the methods that are found.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import sys
import types
from typing import Any

import numpy as np

from adc.frontend.core import bindings, numbers, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Closure,
    DictRef,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    OrderedRef,
    SetRef,
    Static,
    TupleOf,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.inputs import bases, instances
from adc.frontend.inputs.places import Member, Place
from adc.ir.errors import TypeMismatchError, UnsupportedError
from adc.ir.foreign import is_plain, peculiarity

Instance = ObjectRef | NamedTuple


# What `in_class` returns for nothing.
MISSING: Any = object()


_FIELD: type = type(collections.namedtuple("_Example", "x").x)  # type: ignore[attr-defined]


# Descriptors of what instances hold themselves: slots, and the fields of named tuples.
HELD = (types.MemberDescriptorType, _FIELD)


# The flag of classes that were made while Python ran.
_HEAP_TYPE = 1 << 9


def is_instance(binding: Binding) -> bool:
    """Whether a binding is an instance of a class, which may have methods that Python calls."""
    if isinstance(binding, NamedTuple):
        return binding.cls is not slice and not bindings.is_stateful(binding)
    return isinstance(binding, ObjectRef)


def in_class(cls: type, name: str) -> Any:
    """Return what a class, or one that it inherits from, has under a name; else `MISSING`."""
    return inherited(cls, name, None)[1]


def inherited(cls: type, name: str, after: type | None) -> tuple[type, Any]:
    """Return what a class has under a name, or `MISSING`, and the class where it stands.

    With `after`, only the classes that come later are searched, as `super` does.
    """
    order = bases.order_of(cls)
    later = order if after is None else order[order.index(after) + 1 :]
    found = ((base, bases.meaning(vars(base)[name])) for base in later if name in vars(base))
    return next(found, (cls, MISSING))


def is_method(value: Any) -> bool:
    """Whether a class attribute is a function or a derivative, which is bound to instances."""
    made = type(value).__module__.startswith("adc.") and hasattr(type(value), "__get__")
    return made or isinstance(value, types.FunctionType)


def is_of_exceptions(value: Any) -> bool:
    """Whether a class attribute is the `__init__` of builtin exceptions."""
    init = isinstance(value, types.WrapperDescriptorType) and value.__name__ == "__init__"
    return init and issubclass(value.__objclass__, BaseException)


def find_method(lo: Lowerer, cls: type, name: str, after: type | None = None) -> Any:
    """Return the function or derivative behind a method of a class; see `inherited`."""
    base, value = inherited(cls, name, after)
    outside.guard(lo, Place(cls if after is None else base, (Member(name),)), value)
    return value


def call_at(node: ast.AST) -> ast.Call:
    """Return a synthetic call without arguments, for an implicit call of Python's."""
    func: Any = node
    return ast.copy_location(ast.Call(func=func, args=[], keywords=[]), node)


def is_opaque(value: Any) -> bool:
    """Whether an object is an instance of a user's class and a constant of the code.

    What it holds may change, without being noticed. Constants that it has as attributes are part
    of what decides which code runs (`keys.state_of`).
    """
    cls = type(value)
    holds = isinstance(value, list | dict | tuple | np.ndarray | types.SimpleNamespace)
    return (holds or is_written(cls)) and not instances.is_unchanging(value)


def is_written(cls: type) -> bool:
    """Whether a class belongs to the user's program, not to Python or a known library."""
    return bool(cls.__flags__ & _HEAP_TYPE) and not is_of_library(cls)


def is_of_library(value: type | types.FunctionType) -> bool:
    """Whether a class or a function belongs to Python or a known library."""
    package = advice.module_of(value).split(".")[0]
    return package in ("adc", "numpy", "numba") or package in sys.stdlib_module_names


def refused(lo: Lowerer, value: Any, node: ast.AST | None = None) -> UnsupportedError:
    """Return the error for a use of an object that is opaque."""
    span = lo.span(node) if node is not None else lo.builder.loc
    if isinstance(value, np.ndarray):
        what = f"this use of {kind_of(bindings.Static(value))} is not supported"
        return UnsupportedError(what, span, advice.of_object(value))
    cls = type(value)
    why = peculiarity(cls)
    return UnsupportedError(
        f"this use of an object of class `{cls.__name__}`{', ' if why else ''}{why}, is not "
        "supported",
        span,
        "pass the numbers and arrays that it holds",
    )


def is_record_class(value: Any) -> bool:
    return isinstance(value, type) and (instances.is_named_tuple(value) or is_plain(value))


def is_generated(cls: type, fn: Any) -> bool:
    """Whether a method was made by `dataclass`, which compiles it from a string.

    The code of what was typed in has a name such as "<stdin>".
    """
    code = getattr(getattr(fn, "__wrapped__", fn), "__code__", None)
    return dataclasses.is_dataclass(cls) and getattr(code, "co_filename", "") == "<string>"


def find(lo: Lowerer, binding: Binding, name: str) -> Any:
    """Return a special method that an instance has from a program, or None.

    What Python and `dataclass` make (`object.__eq__`, the methods of tuples) does not count.
    """
    if not is_instance(binding):
        return None
    assert isinstance(binding, Instance)
    cls = binding.cls
    value = in_class(cls, name)
    if value is MISSING or is_generated(cls, value) or _is_builtin(cls, name):
        return None
    if not is_method(value):
        raise TypeMismatchError(
            f"`{name}` of {kind_of(binding)} is {'None' if value is None else 'no function'}",
            lo.builder.loc, "make it a method",
        )  # fmt: skip
    return find_method(lo, cls, name)


def _is_builtin(cls: type, name: str) -> bool:
    """Whether a method is inherited from a builtin class, as `object.__eq__` is."""
    owner = next(base for base in bases.order_of(cls) if name in vars(base))
    return owner.__module__ == "builtins" or owner is types.SimpleNamespace


def instance_class(binding: Binding) -> type | None:
    return binding.cls if isinstance(binding, Instance) else None


def inherits(cls: type | None, base: type | None) -> bool:
    return cls is not None and base is not None and issubclass(cls, base)


def class_of(binding: Binding) -> type | None:
    """Return the class of a binding's value."""
    match binding:
        case Num(array=True):
            return np.ndarray
        case Num(operand=operand):
            ty = numbers.scalar_type(operand)
            if ty.weak:
                return {"b": bool, "i": int, "f": float, "c": complex}[ty.kind]
            return ty.numpy.type
        case ArrayRef() | Lazy():
            return np.ndarray
        case TupleOf():
            return tuple
        case ListRef():
            return list
        case SetRef():
            return set
        case OrderedRef():
            return collections.OrderedDict
        case DictRef():
            return dict
        case NamedTuple(cls=cls) | ObjectRef(cls=cls):
            return cls
        case Static(value=frozenset()):
            return None  # a set of the program, or a frozen one
        case Static(value=value):
            return type(value)
        case Closure():
            return types.FunctionType
    return None


# Classes of constants that have no attributes of their own.
_CONSTANTS = (str, bytes, types.NoneType, int, float, complex, bool)


def has_attribute(binding: Binding, name: str) -> bool | None:
    """Whether a value has an attribute; None for instances, and where nothing is known."""
    if isinstance(binding, Closure) and name in binding.attributes:
        return True
    if is_instance(binding) or (
        isinstance(binding, Static) and type(binding.value) not in _CONSTANTS
    ):
        return None
    cls = class_of(binding)
    return None if cls is None else in_class(cls, name) is not MISSING


def require_iterable(lo: Lowerer, binding: Binding, node: ast.AST) -> None:
    """Refuse to loop over what has no elements; in a `try` the program raises `TypeError`."""
    if has_attribute(binding, "__iter__") is False:
        message = f"cannot loop over {kind_of(binding)}"
        own = f"'{name_of(binding)}' object is not iterable"
        numbers.refuse(lo, message, node, "TypeError", own, _ITERABLE)


_ITERABLE = "loop over a range, an array, a tuple, enumerate, zip or reversed"


def name_of(binding: Binding) -> str:
    """Return the name of a value's class in Python's errors."""
    cls = class_of(binding)
    assert cls is not None
    return f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__
