"""Descriptions of objects of other libraries, none of which is imported here.

Classes of SciPy have others in their place, which adc reads (`StandIn`).

Numba's arrays describe themselves. Others do by ``__cuda_array_interface__`` (CuPy, PyTorch), or by
DLPack (JAX).
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import sys
import types
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from adc.ir.errors import ArgumentError
from adc.ir.types import NAMES

# Kinds of devices of DLPack: GPU memory, and memory that host and GPU share.
_ON_GPU = (2, 13)
_CPU = 1
_INTERFACE = "__cuda_array_interface__"
# Packages whose classes are not user programs.
_LIBRARIES = frozenset(["builtins", "math", "numpy", "numba", "scipy", "adc", "re"])
# Those of tables, which are read as a whole.
TABLES = frozenset(["pandas", "polars", "xarray", "dask", "pyarrow", "modin"])
# Builtin classes that classes of programs may inherit from.
BASES = (dict,)
# Where other libraries are installed.
_INSTALLED = ("site-packages", "dist-packages")
# Modules that have classes with others in their place. Those are written like a user's.
_REPLACED = ("scipy.", "numpy")
_READ = ("adc.library.scipy", "adc.library.mpi", "adc.library.arrays.polynomials")


@dataclass(frozen=True, slots=True)
class StandIn:
    """A class in Python that code uses in place of a class of another library.

    Attributes
    ----------
    cls : type
        It has the methods of the other class.
    attributes : tuple of str
        The attributes that instances of both have. Without any, instances of the other class
        are made in the program only.
    kept : tuple of str
        Those that derivatives have from what they are derivatives of: the pattern of a sparse
        array.
    made : callable or None
        Makes an instance of the other class of its attributes, where a program returns one. By
        default it is one of `cls`.
    """

    cls: type
    attributes: tuple[str, ...]
    kept: tuple[str, ...] = ()
    made: Callable[[dict[str, Any]], Any] | None = None


# By the public name of the other class, whose library need not be imported.
STAND_INS: dict[str, StandIn] = {}


@dataclass(frozen=True, slots=True)
class Foreign:
    """The description of an array of another library.

    Attributes
    ----------
    dtype : dtype or None
        Of its elements; None if there is a `problem`.
    shape : tuple of int
        Its sizes.
    strides : tuple of int or None
        In bytes; None if elements lie by rows.
    address : int or None
        Of the first element; None if only the library knows it.
    problem, hint : str
        Why it cannot be an argument, and what to do about it.
    """

    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    address: int | None = None
    problem: str = ""
    hint: str = ""

    @property
    def ones(self) -> tuple[int, ...]:
        """The axes of size 1."""
        return tuple([k for k, size in enumerate(self.shape) if size == 1])

    @property
    def by_rows(self) -> bool:
        """Whether elements lie by rows, without gaps."""
        if self.strides is None or 0 in self.shape:
            return True
        assert self.dtype is not None
        step = self.dtype.itemsize
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True


def library_of(value: Any) -> str:
    """Return the package that the class of an object is from."""
    name = (type(value).__module__ or "").split(".")[0]
    return {"jaxlib": "jax", "numba_cuda": "numba"}.get(name, name)


def is_sparse(value: Any) -> bool:
    """Whether an object is a sparse array of SciPy's, of any format."""
    return library_of(value) == "scipy" and hasattr(value, "tocsr")


def _own_attributes(value: Any) -> Collection[str]:
    """Return the names of an object's own attributes, without a call of its class's code."""
    try:
        return cast("dict[str, Any]", object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return ()


def is_foreign(value: Any) -> bool:
    """Whether an object is an array of another library, on a GPU or not."""
    cls: Any = type(value)
    found = _is_foreign_class(cls)
    if found is None:
        # A class that adc can read is the user's program, unless its memory is on a GPU.
        return int(value.__dlpack_device__()[0]) in _ON_GPU
    return found or _INTERFACE in _own_attributes(value)


def stand_in(cls: type) -> StandIn | None:
    """Return what code uses in place of a class of another library; None for most classes."""
    return _stand_in(cls) if (cls.__module__ or "").startswith(_REPLACED) else None


@functools.lru_cache(maxsize=1024)
def _stand_in(cls: Any) -> StandIn | None:
    for name, found in STAND_INS.items():
        module, _, own = name.rpartition(".")
        if getattr(sys.modules.get(module), own, None) is cls:
            return found
    return None


def is_stand_in(cls: type) -> bool:
    """Whether a class is in place of one of another library."""
    return standing(cls) is not None


def standing(cls: type) -> StandIn | None:
    """Return what is known of a class that is in place of another one; None for other classes."""
    if not (cls.__module__ or "").startswith(_READ):
        return None
    return next((each for each in STAND_INS.values() if each.cls is cls), None)


def kept_of(cls: type) -> tuple[str, ...]:
    """Return the attributes of a class in place of another one that derivatives have as well."""
    found = standing(cls)
    return () if found is None else found.kept


def like(value: Any, items: dict[str, Any]) -> Any:
    """Return a derivative with respect to an object of a class that another one is in place of.

    `items` are the derivatives with respect to its attributes; what is kept is copied.
    """
    found = stand_in(type(value))
    assert found is not None
    assert found.made is not None
    kept = {name: copy.deepcopy(getattr(value, name)) for name in found.kept}
    return found.made({**items, **kept})


def is_plain(cls: type) -> bool:
    """Whether instances of a class are made and work by Python code that adc can read."""
    return _is_plain(cls)


@functools.lru_cache(maxsize=1024)
def _is_plain(cls: Any) -> bool:
    return not peculiarity(cls)


def is_variant(cls: type) -> bool:
    """Whether a class is Python's own variant of `dict`, such as `OrderedDict`."""
    return issubclass(cls, BASES) and cls.__module__ in ("builtins", "collections")


def peculiarity(cls: type) -> str:
    """Return which feature of a class adc cannot lower from its methods alone; "" if none."""
    other = stand_in(cls)
    read = other is not None and bool(other.attributes)
    if read or is_stand_in(cls) or cls is types.SimpleNamespace:
        return ""
    module = cls.__module__ or ""
    if is_variant(cls):
        return "which is not written in Python that adc reads"
    if module.split(".")[0] in _LIBRARIES | TABLES and not module.startswith(_READ):
        return "which is not written in Python that adc reads"
    for base in cls.__mro__[1:-1]:
        if base in BASES:
            continue
        if is_variant(base):
            return f"a subclass of `{base.__name__}`"
        if base.__module__ == "builtins" or base is np.ndarray or base is enum.Enum:
            return f"a subclass of `{base.__name__}`"
    if type(cls).__call__ is not type.__call__:
        return f"whose metaclass `{type(cls).__name__}` has `__call__`"
    made: Any = cls.__new__
    if made not in (object.__new__, dict.__new__) and not isinstance(made, types.FunctionType):
        return f"whose `__new__` is that of `{_owner(cls, '__new__').__name__}`"
    if _is_written(cls, "__getattribute__"):
        return "which has `__getattribute__`"
    for name in ("__getattr__", "__setattr__"):
        # Those of other libraries, such as PyTorch's modules, do more than a program can tell.
        code = getattr(getattr(cls, name, None), "__code__", None)
        if _is_written(cls, name) and (
            code is None or any(folder in code.co_filename for folder in _INSTALLED)
        ):
            return f"which has `{name}`"
    return ""


def _owner(cls: type, name: str) -> type:
    return next(base for base in cls.__mro__ if name in vars(base))


def _is_written(cls: type, name: str) -> bool:
    """Whether a special method was written, not inherited or made by `dataclass`."""
    found = getattr(cls, name, None)
    if found is None or found is getattr(object, name, None):
        return False
    if getattr(found, "__objclass__", None) in BASES:  # also `__getattr__ = dict.get`
        return False
    code = getattr(found, "__code__", None)
    if code is None:
        return True
    made_by = getattr(cls, "__dataclass_params__", None)
    return not (made_by is not None and code.co_filename in ("<string>", dataclasses.__file__))


@functools.lru_cache(maxsize=1024)
def _is_foreign_class(cls: Any) -> bool | None:
    """Whether instances are arrays of a library; None if that depends on the instance."""
    if issubclass(cls, np.ndarray | np.generic):
        return False
    if hasattr(cls, _INTERFACE) or getattr(cls, "__cuda_ndarray__", False) is True:
        return True
    if hasattr(cls, "__dlpack_device__"):
        return None if is_plain(cls) else True
    return False


def is_on_gpu(value: Any) -> bool:
    """Whether an object is an array on a GPU that can be an argument."""
    return is_foreign(value) and described(value).dtype in NAMES


def described(value: Any) -> Foreign:
    """Return the description of an array of another library (`is_foreign`)."""
    if getattr(value, "__cuda_ndarray__", False) is True:
        return _checked(value.dtype, value.shape, value.strides, _address_of(value))
    if library_of(value) != "jax":  # whose interface keeps nothing alive, and knows no streams
        try:
            interface = getattr(value, _INTERFACE, None)
        except Exception as error:
            # PyTorch refuses tensors that it differentiates.
            return _refused(value, f"cannot be read: {error}", "detach it: `x.detach()`")
        if isinstance(interface, dict):
            if interface.get("mask") is not None:
                return _refused(value, "has a mask", "pass the array and the mask as two arguments")
            address, shape = interface["data"][0], interface["shape"]
            return _checked(interface["typestr"], shape, interface.get("strides"), address)
        if hasattr(type(value), _INTERFACE):
            return _elsewhere(value)
    if int(value.__dlpack_device__()[0]) not in _ON_GPU:
        return _elsewhere(value)
    try:
        dtype = np.dtype(str(value.dtype).rpartition(".")[2])
    except TypeError:
        return Foreign(np.dtype("V2"), tuple(value.shape))
    # Those of JAX lie by rows. Of others only the library knows: they may have any strides.
    strides = None if library_of(value) == "jax" else (0,) * len(value.shape)
    return _checked(dtype, value.shape, strides, None)


def _checked(dtype: Any, shape: Any, strides: Any, address: int | None) -> Foreign:
    found = None if strides is None else tuple(map(int, strides))
    return Foreign(np.dtype(dtype), tuple(map(int, shape)), found, address)


def _refused(value: Any, why: str, hint: str) -> Foreign:
    return Foreign(None, problem=f"a {kind_of(value)} that {why}", hint=hint)


def _elsewhere(value: Any) -> Foreign:
    if _is_on_cpu(value) and not _is_sparse(value):
        made = "x.detach().numpy()" if library_of(value) == "torch" else "np.asarray(x)"
        return _refused(
            value, "is in the memory of the CPU", f"pass a NumPy array, which shares it: `{made}`"
        )
    return _refused(
        value, "is no dense array on a GPU", "pass a NumPy array, as `np.asarray` makes"
    )


def _is_on_cpu(value: Any) -> bool:
    ask = getattr(value, "__dlpack_device__", None)
    try:
        return ask is not None and int(ask()[0]) == _CPU
    except Exception:  # PyTorch refuses layouts that are not dense
        return False


def _is_sparse(value: Any) -> bool:
    return bool(getattr(value, "is_sparse", False)) or hasattr(value, "tocsr")


def kind_of(value: Any) -> str:
    """Return what users call an array of another library."""
    return f"{type(value).__name__} of {library_of(value)}"


def _address_of(value: Any) -> int:
    if hasattr(value, "device_ctypes_pointer"):
        return value.device_ctypes_pointer.value or 0
    return int(value.ctypes.data)  # in the simulator


def number(value: Any) -> Any:
    """Return the number that an array without axes holds, once it is computed."""
    found = described(value)
    assert found.dtype is not None
    read = getattr(value, "copy_to_host", None)
    return found.dtype.type(value.item() if read is None else read()[()])


def shape_of(value: Any) -> np.ndarray[Any, Any]:
    """Return an array of the shape and dtype of a number or an array, without its memory."""
    if not is_foreign(value):
        return np.asarray(value)
    found = described(value)
    return np.broadcast_to(np.zeros((), found.dtype), found.shape)


def sizes_of(value: Any) -> tuple[int, ...]:
    """Return the shape of a number or an array, wherever it is."""
    return described(value).shape if is_foreign(value) else np.shape(value)


def direction(value: Any, dtype: np.dtype[Any], what: str) -> Any:
    """Return an array on a GPU that is a tangent or a cotangent of this dtype, or raise."""
    found = described(value)
    if found.dtype != dtype:
        why = found.problem or f"a {kind_of(value)} of dtype {found.dtype}"
        raise ArgumentError(f"{what} is {why}", None, f"pass {dtype}")
    return value if found.shape else number(value)


class _Memory:
    """Describes the memory of an array to NumPy, which compares addresses and reads nothing."""

    def __init__(self, found: Foreign) -> None:
        assert found.dtype is not None
        self.__array_interface__ = {
            "version": 3,
            "shape": found.shape,
            "strides": found.strides,
            "typestr": found.dtype.str,
            "data": (found.address, True),
        }


def memory_of(value: Any) -> np.ndarray[Any, Any] | None:
    """Return an array at the addresses of another one, which must not be read; None if unknown."""
    if type(value) is np.ndarray:
        return value
    if not is_on_gpu(value):
        return None
    found = described(value)
    if not found.address or 0 in found.shape:
        return None
    return np.asarray(_Memory(found))


__all__ = [
    "STAND_INS",
    "Foreign",
    "StandIn",
    "described",
    "direction",
    "is_foreign",
    "is_on_gpu",
    "is_stand_in",
    "kept_of",
    "kind_of",
    "library_of",
    "like",
    "memory_of",
    "number",
    "peculiarity",
    "shape_of",
    "sizes_of",
    "stand_in",
    "standing",
]
