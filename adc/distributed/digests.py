"""Digests of functions: what must be the same on workers for their results to be those of here.

That is the code of a function and of what it refers to by name: functions, methods and members of
modules, as far as they belong to the program; the values of variables; and the attributes of
objects that this code names. What the standard library and installed packages are made of is not
looked into: their functions count, but not what these call.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import itertools
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adc.functions import plain

# Packages whose versions are compared, or that results do not depend on.
_KNOWN = frozenset({"adc", "llvmlite", "numba", "numpy", "scipy"}) | sys.stdlib_module_names
# Methods that name all attributes, as they make them.
_MAKING = frozenset({"__init__", "__post_init__", "__setstate__"})
# Functions of `np.random` that are no methods of the generator from which they draw.
_DRAWING = ("ranf", "sample")
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


def _is_known(name: str | None) -> bool:
    return (name or "builtins").split(".")[0] in _KNOWN


def _is_program(name: str | None, own: str) -> bool:
    """Whether a module belongs to the program: to the package `own`, or is not installed."""
    root = (name or "builtins").split(".")[0]
    if root == own or _is_known(root):
        return root == own
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return not file.startswith(_INSTALLED)


def functions(fn: Callable[..., Any]) -> Iterator[types.FunctionType]:
    """Yield the Python functions that a callable is made of and refers to."""
    own = (getattr(plain(fn), "__module__", None) or "").split(".")[0]
    waiting: list[Any] = [fn]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        inner = getattr(each, "py_func", each)
        match inner:
            case types.FunctionType() if not _is_known(inner.__module__):
                yield inner
                if _is_program(inner.__module__, own):
                    waiting += [value for _, value in captured(inner)]
            case functools.partial():
                waiting += [each.func, *each.args, *each.keywords.values()]
            case types.MethodType():
                waiting += [each.__func__, type(each.__self__)]
            case staticmethod() | classmethod():
                waiting.append(each.__func__)
            case property():
                waiting += [each.fget, each.fset]
            case type() if _is_program(each.__module__, own):
                for base in each.__mro__[:-1]:
                    waiting += [base, *vars(base).values()]
            case _ if _is_program(type(each).__module__, own):
                waiting.append(type(each))


def captured(fn: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function refers to: global variables, members of modules, those around it."""
    names = dict.fromkeys(fn.__code__.co_names)
    for name in names:
        # `__file__` and the like are others on each machine.
        if name in fn.__globals__ and not name.startswith("__"):
            yield from _members(name, fn.__globals__[name], names)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if _has(cell):
            yield from _members(name, cell.cell_contents, names)


def draws_globally(fn: types.FunctionType) -> bool:
    """Whether a function calls one of `np.random` that draws from the generator kept there."""
    values = (getattr(value, "__self__", None) for _, value in captured(fn))
    if any(isinstance(value, np.random.RandomState) for value in values):
        return True
    names = [str(each.argval) for each in dis.get_instructions(fn) if "LOAD" in each.opname]
    return any(
        first == "random" and (hasattr(np.random.RandomState, second) or second in _DRAWING)
        for first, second in itertools.pairwise(names)
    )


def _members(name: str, value: Any, names: dict[str, None]) -> Iterator[tuple[str, Any]]:
    """Yield a value; of a module, its members that have one of these names."""
    if not isinstance(value, types.ModuleType):
        yield name, value
    elif not _is_known(value.__name__):
        for each in names:
            found = vars(value).get(each)
            if found is not None and not each.startswith("__") and found is not value:
                yield from _members(f"{name}.{each}", found, names)


def _has(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # it raises where there is nothing yet
    except ValueError:
        return False
    return True


def digest(fn: Callable[..., Any]) -> str:
    """Return a digest of the code of a function, those that it refers to, and constants."""
    made = hashlib.sha256()
    found = list(functions(fn))
    reading = (each.__code__ for each in found if each.__name__ not in _MAKING)
    names = frozenset(name for code in reading for name in code.co_names)
    for each in found:
        made.update(repr(_parts(each.__code__)).encode())
        constants = [*captured(each), ("", each.__defaults__), ("", each.__kwdefaults__)]
        for name, value in constants:
            made.update(f"{name}={text_of(value, names)}".encode())
    return made.hexdigest()[:16]


def text_of(value: Any, names: frozenset[str] = frozenset(), depth: int = 8) -> str:
    """Return constants as a text that is the same in all processes.

    Of an object of the program it has the attributes of these names, of others the type.
    """
    inner = functools.partial(text_of, names=names, depth=depth - 1)
    if isinstance(value, types.CodeType):
        return repr(_parts(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{value.shape}{data}"
    if isinstance(value, tuple | list | set | frozenset | dict) and depth:
        pairs = value.items() if isinstance(value, dict) else value
        parts = [inner(each) for each in pairs]
        if isinstance(value, set | frozenset):  # their order is that of hashes, another each time
            parts.sort()
        return f"{type(value).__name__}({','.join(parts)})"
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic):
        return repr(value)
    kind = type(value)
    if (
        depth
        and not isinstance(value, type | types.FunctionType)
        and not _is_known(kind.__module__)
    ):
        held = getattr(value, "__dict__", {})
        parts = [f"{name}={inner(held[name])}" for name in sorted(held) if name in names]
        return f"{kind.__name__}({','.join(parts)})"
    return kind.__name__


def _parts(code: types.CodeType) -> tuple[Any, ...]:
    consts = [text_of(each) for each in code.co_consts]
    return code.co_name, code.co_code, code.co_names, code.co_varnames, consts


__all__ = ["captured", "digest", "functions", "text_of"]
