"""Functions on the way to workers: by name where workers import their module, else by value.

adc reads the source of a function, so what goes by value takes its source along. All take a digest
of their code: a worker with another version of the program must not go on silently.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import pickle
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from adc.functions import name_of, plain, span_of
from adc.ir.errors import ArgumentError, WorkerError
from adc.version import __version__


@dataclass(frozen=True)
class Packed:
    """A function as bytes, with what makes it the same function elsewhere.

    Attributes
    ----------
    data : bytes
        The pickled function.
    sources : tuple of (str, str)
        The text of files that workers may not have, by name.
    files : tuple of ((str, int), str)
        In which of them functions are, by their names and lines: `cloudpickle` leaves that out.
    digest : str
        Of the source of the function.
    made_by : tuple of (str, str)
        The versions that results depend on.
    name : str
        What the function is called, for errors.
    here : callable or None
        The function itself, for threads of this process.
    """

    data: bytes
    sources: tuple[tuple[str, str], ...]
    files: tuple[tuple[tuple[str, int], str], ...]
    digest: str
    made_by: tuple[tuple[str, str], ...]
    name: str
    here: Callable[..., Any] | None = None


@functools.cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return the versions that results depend on, by name."""
    python = ".".join(map(str, sys.version_info[:2]))
    return (
        ("adc", __version__), ("Numba", version("numba")), ("NumPy", version("numpy")),
        ("Python", python),
    )  # fmt: skip


def pack(fn: Callable[..., Any], *, here: bool = False) -> Packed:
    """Return a function for workers; for threads of this process if they are `here`.

    Raises
    ------
    ArgumentError
        If it can be sent neither by name nor by value.
    """
    sources: tuple[tuple[str, str], ...] = ()
    files: dict[tuple[str, int], str] = {}
    if here:
        return Packed(b"", (), (), "", (), name_of(fn), fn)
    if _by_name(fn):
        data = pickle.dumps(fn)
    else:
        try:
            import cloudpickle
        except ImportError:
            raise ArgumentError(
                f"{name_of(fn)}() is not defined in a module that workers can import",
                span_of(plain(fn)),
                "move it to a module, or install `cloudpickle`, which sends functions by value",
            ) from None
        data = cloudpickle.dumps(fn)
        files = {_place(each.__code__): each.__code__.co_filename for each in functions(fn)}
        texts = ((name, "".join(linecache.getlines(name))) for name in sorted({*files.values()}))
        sources = tuple((name, text) for name, text in texts if text)
    return Packed(data, sources, tuple(sorted(files.items())), _digest(fn), versions(), name_of(fn))


def _by_name(fn: Callable[..., Any]) -> bool:
    if getattr(fn, "__module__", "__main__") == "__main__":
        return False
    try:
        return pickle.loads(pickle.dumps(fn)) is fn
    except Exception:  # whatever objects in it raise
        return False


def functions(fn: Callable[..., Any]) -> Iterator[types.FunctionType]:
    """Yield the Python functions that a callable is made of and refers to."""
    waiting: list[Any] = [fn]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, functools.partial):
            waiting += [each.func, *each.args, *each.keywords.values()]
        if isinstance(each, types.MethodType):
            waiting += [each.__func__, type(each.__self__)]
        if isinstance(each, type) and each.__module__ == "__main__":
            waiting += vars(each).values()
        inner = getattr(each, "py_func", each)
        if isinstance(inner, types.FunctionType):
            yield inner
            names = inner.__code__.co_names
            waiting += [inner.__globals__[name] for name in names if name in inner.__globals__]
            waiting += [cell.cell_contents for cell in inner.__closure__ or () if _has(cell)]


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _in_file(code: types.CodeType, name: str) -> types.CodeType:
    """Return code, and the code in it, as that of a file."""
    consts = tuple([
        _in_file(each, name) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    ])  # fmt: skip
    return code.replace(co_filename=name, co_consts=consts)


def _has(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # it raises where there is nothing yet
    except ValueError:
        return False
    return True


def _digest(fn: Callable[..., Any]) -> str:
    """Return a digest of the code of a function, those that it refers to, and constants."""
    digest = hashlib.sha256()
    for each in functions(fn):
        digest.update(repr(_parts(each.__code__)).encode())
        constants = [*captured(each), ("", each.__defaults__), ("", each.__kwdefaults__)]
        for name, value in constants:
            digest.update(f"{name}={text_of(value)}".encode())
    return digest.hexdigest()[:16]


def captured(fn: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global variables and those of enclosing functions that a function refers to."""
    for name in fn.__code__.co_names:
        # `__file__` and the like are others on each machine.
        if name in fn.__globals__ and not name.startswith("__"):
            yield name, fn.__globals__[name]
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        if _has(cell):
            yield name, cell.cell_contents


def text_of(value: Any, depth: int = 8) -> str:
    """Return constants as a text that is the same in all processes; of other objects, the type."""
    if isinstance(value, types.CodeType):
        return repr(_parts(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{value.dtype}{value.shape}{data}"
    if isinstance(value, tuple | list | set | frozenset | dict) and depth:
        pairs = value.items() if isinstance(value, dict) else value
        parts = [text_of(each, depth - 1) for each in pairs]
        if isinstance(value, set | frozenset):  # their order is that of hashes, another each time
            parts.sort()
        return f"{type(value).__name__}({','.join(parts)})"
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic):
        return repr(value)
    return type(value).__name__


def _parts(code: types.CodeType) -> tuple[Any, ...]:
    consts = [text_of(each) for each in code.co_consts]
    return code.co_name, code.co_code, code.co_names, code.co_varnames, consts


@functools.lru_cache(maxsize=64)
def unpack(packed: Packed) -> Callable[..., Any]:
    """Return the function, on a worker.

    Raises
    ------
    WorkerError
        If the worker has another version of what results depend on, or another source.
    """
    if packed.here is not None:
        return packed.here
    here = dict(versions())
    for name, wanted in packed.made_by:
        if here[name] != wanted:
            raise WorkerError(
                f"a worker has {name} {here[name]}, and {packed.name}() was sent with {wanted}",
                None,
                "install the same versions on all workers",
            )
    for name, text in packed.sources:
        if not linecache.getlines(name):
            lines = text.splitlines(keepends=True)
            linecache.cache[name] = (len(text), None, lines, name)
    try:
        fn: Callable[..., Any] = pickle.loads(packed.data)
    except (ImportError, AttributeError) as error:
        raise WorkerError(
            f"a worker cannot import {packed.name}(): {error}", None,
            "install its module on all workers",
        ) from None  # fmt: skip
    files = dict(packed.files)
    for each in list(functions(fn)):
        name = files.get(_place(each.__code__), "")
        if name and each.__code__.co_filename != name:
            each.__code__ = _in_file(each.__code__, name)
    if packed.digest != _digest(fn):
        raise WorkerError(
            f"a worker has another source of {packed.name}(), or other values of the variables "
            "that it uses", span_of(plain(fn)),
            "update its module on all workers, and start them again; pass what changes as an "
            "argument",
        )  # fmt: skip
    return fn


__all__ = ["Packed", "captured", "functions", "pack", "text_of", "unpack", "versions"]
