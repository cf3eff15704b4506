"""What Python objects are: plain, frozen, unchanging. No code of their classes runs."""

from __future__ import annotations

import enum
import functools
import logging
import re
import types
from typing import Any

import numpy as np

from adc.frontend.inputs import bases
from adc.ir import foreign
from adc.ir.foreign import is_plain, stand_in

UNCHANGING = (
    type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, np.dtype,
    enum.Enum, types.CodeType, types.WrapperDescriptorType,
    type(np.sum),  # what most functions of NumPy are
    logging.Logger,  # asked where a message is logged (`calls.effects`)
)  # fmt: skip


# What classes of arrays may define that are arrays like any other: nothing that computes.
_PLAIN = frozenset(
    "__module__ __doc__ __new__ __init__ __array_finalize__ __dict__ __weakref__ __slots__ "
    "__annotations__ __firstlineno__ __static_attributes__ __qualname__ __orig_bases__ "
    "__parameters__".split()
)


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy, of a class that computes like `np.ndarray`."""
    cls: Any = type(value)
    return cls is np.ndarray or (issubclass(cls, np.ndarray) and _is_array_class(cls))


@functools.lru_cache(maxsize=1024)
def _is_array_class(cls: Any) -> bool:
    above = cls.__mro__[: cls.__mro__.index(np.ndarray)]
    return all(each is np.memmap or _PLAIN.issuperset(vars(each)) for each in above)


# The classes of random generators.
_GENERATORS = frozenset(
    [("numpy.random._generator", "Generator"), ("numpy.random.mtrand", "RandomState")]
)
# The classes of what they are made from.
_SEEDS = frozenset(
    [("numpy.random._pcg64", "PCG64"), ("numpy.random.bit_generator", "SeedSequence")]
)
# Classes whose instances cannot change, and which code computes with while it is compiled.
VALUES = frozenset(
    [("datetime", name) for name in ("date", "datetime", "time", "timedelta", "tzinfo")]
    + [("decimal", "Decimal"), ("fractions", "Fraction")]
    + [("numpy", "datetime64"), ("numpy", "timedelta64")]
    + [("re", "Pattern"), ("re", "Match"), ("packaging.version", "Version")]
)


def is_value(value: Any) -> bool:
    """Whether an object is a date, a fraction or the like, with which Python computes."""
    cls: Any = type(value)
    return _is_value_class(cls)


def is_value_class(value: Any) -> bool:
    """Whether an object is the class of such values."""
    cls: Any = value
    return isinstance(value, type) and _is_value_class(cls)


def looks(value: Any) -> object:
    """Return what two such values have in common if they are one to any program."""
    if isinstance(value, re.Pattern):
        return value.pattern, value.flags
    if isinstance(value, re.Match):
        return looks(value.re), value.string, value.pos, value.endpos, value.regs
    return repr(value)  # equal ones may differ in time zones, or in digits


@functools.lru_cache(maxsize=1024)
def _is_value_class(cls: Any) -> bool:
    return any((each.__module__, each.__name__) in VALUES for each in cls.__mro__)


def is_table(value: Any) -> bool:
    """Whether an object belongs to a table library, such as pandas."""
    if is_value(value):  # as the times of pandas are
        return False
    return type(value).__module__.split(".")[0] in foreign.TABLES


def is_distribution(value: Any) -> bool:
    """Whether an object is one of SciPy's distributions, or a method of one."""
    owner = value.__self__ if isinstance(value, types.MethodType) else value
    return type(owner).__module__.startswith("scipy.stats.")


def number_of(value: Any) -> int | float | complex | None:
    """Return the number that an object is, such as a member of an `IntEnum`; None of others.

    Those of Python and NumPy themselves are others, too, and those that compute in another way.
    """
    cls: Any = type(value)
    base = _number_class(cls)
    return None if base is None else base(value)


@functools.lru_cache(maxsize=1024)
def _number_class(cls: Any) -> Any:
    base = next((each for each in (int, float, complex) if issubclass(cls, each)), None)
    if base is None or cls in (bool, base) or issubclass(cls, np.generic):
        return None
    own = {name for each in cls.__mro__[: cls.__mro__.index(base)] for name in vars(each)}
    computes = own.intersection(_COMPUTES)
    if issubclass(cls, enum.Flag):  # of which Python makes members by `|`, and no numbers
        flags = vars(enum.Flag)
        computes = {name for name in computes if getattr(cls, name) is not flags.get(name)}
    return None if computes else base


# The methods by which numbers compute and compare.
_COMPUTES = {
    name for name in {*dir(int), *dir(float), *dir(complex)}
    if name.startswith("__") and name not in vars(object)
}.union(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])  # fmt: skip


def is_literal(value: Any) -> bool:
    """Whether the text that `repr` makes of a value is Python's for it."""
    if type(value) is tuple:
        return all(map(is_literal, value))
    return value is None or type(value) in (bool, int, str)


def is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_record(cls: type) -> bool:
    """Whether a class is a tuple with names written in C, such as that of `sys.version_info`."""
    return issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields")


def is_frozen(cls: type) -> bool:
    params = getattr(cls, "__dataclass_params__", None)
    return params is not None and bool(params.frozen)


def is_lazy(value: Any) -> bool:
    """Whether the attributes of an object are bound where they are read."""
    cls: Any = type(value)
    return _is_lazy(cls)


@functools.lru_cache(maxsize=1024)
def _is_lazy(cls: Any) -> bool:
    return is_plain(cls) and not is_frozen(cls)


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an instance, without those of its class."""
    other = stand_in(type(value))
    if other is not None:
        return {name: getattr(value, name) for name in other.attributes if hasattr(value, name)}
    if bases.has_contents(type(value)):
        found = bases.attributes_of(value)
    else:
        found = dict(getattr(value, "__dict__", ()))
    for cls in type(value).__mro__[:-1]:
        for name, item in vars(cls).items():
            # `SimpleNamespace` has `__dict__` as one.
            held = type(item) is types.MemberDescriptorType and name != "__dict__"
            if held and hasattr(value, name):
                found.setdefault(name, getattr(value, name))
    return found


def class_of(cls: type) -> type:
    """Return the class that code has in place of a class."""
    other = stand_in(cls)
    return cls if other is None else other.cls


def is_unchanging(value: Any) -> bool:
    """Whether an object cannot change: functions, classes, modules, and compiled functions.

    What adc and Numba make of functions holds the code of calls so far, which does not matter.
    """
    return (
        isinstance(value, UNCHANGING)
        or is_value(value)
        or type(value).__name__
        in ("cython_function_or_method", "fused_cython_function")  # NumPy's `default_rng` is one
        or type(value).__module__ == "typing"  # such as `typing.Sequence`
        or hasattr(type(value), "__adc_applied__")
        or hasattr(type(value), "__adc_external__")
        or isinstance(_compiled(value), types.FunctionType)
    )


def is_class_method(value: Any) -> bool:
    """Whether a value is a method of a class, which is a new object at each access."""
    return type(value) is types.MethodType and isinstance(value.__self__, type)


def _compiled(value: Any) -> Any:
    """Return the function that an object was compiled from; no code of its class runs."""
    return None if hasattr(type(value), "__getattr__") else getattr(value, "py_func", None)


def is_generator_class(cls: type) -> bool:
    """Whether a class is `np.random.Generator` or `RandomState`, which need not be loaded."""
    return (cls.__module__, cls.__name__) in _GENERATORS


def is_legacy_class(cls: type) -> bool:
    """Whether a class is `np.random.RandomState`, which need not be loaded."""
    return cls.__module__ == "numpy.random.mtrand" and cls.__name__ == "RandomState"


def is_seed_class(cls: type) -> bool:
    """Whether a class is `np.random.SeedSequence` or `PCG64`, which need not be loaded."""
    return (cls.__module__, cls.__name__) in _SEEDS


def bit_generator(generator: Any) -> Any:
    """Return what a random generator takes its bits from."""
    legacy = is_legacy_class(type(generator))
    return generator._bit_generator if legacy else generator.bit_generator


def is_generator(value: Any) -> bool:
    """Whether a value is a random generator that code can draw from.

    That is a `Generator` with PCG64, or a `RandomState` with MT19937.
    """
    if not is_generator_class(type(value)):
        return False
    known = np.random.MT19937 if is_legacy_class(type(value)) else np.random.PCG64
    return type(bit_generator(value)) is known


@functools.lru_cache(maxsize=1024)
def _is_communicator_class(cls: Any) -> bool:
    return any(
        each.__module__ == "mpi4py.MPI" and each.__name__ == "Intracomm" for each in cls.__mro__
    )


def is_communicator_class(cls: type) -> bool:
    """Whether a class is one of mpi4py's communicators, which need not be loaded."""
    return _is_communicator_class(cls)


def is_stateful_class(cls: type) -> bool:
    """Whether objects of a class have a state of their own, which is no attribute of them."""
    return is_generator_class(cls) or is_seed_class(cls) or is_communicator_class(cls)
