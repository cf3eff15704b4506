"""Functions on the way to workers: by name where workers import their module, else by value.

adc reads the source of a function, so what goes by value takes its source along. All take a digest
of their code: a worker with another version of the program must not go on silently.
"""

from __future__ import annotations

import functools
import linecache
import pickle
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from adc.distributed.digests import digest, functions
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
        ("SciPy", version("scipy")), ("Python", python),
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
        files = {
            _place(each.__code__): each.__code__.co_filename
            for each in functions(fn)
            if not _is_importable(each)
        }
        texts = ((name, "".join(linecache.getlines(name))) for name in sorted({*files.values()}))
        sources = tuple((name, text) for name, text in texts if text)
    return Packed(data, sources, tuple(sorted(files.items())), digest(fn), versions(), name_of(fn))


def _by_name(fn: Callable[..., Any]) -> bool:
    if getattr(fn, "__module__", "__main__") == "__main__":
        return False
    try:
        return pickle.loads(pickle.dumps(fn)) is fn
    except Exception:  # whatever objects in it raise
        return False


def _is_importable(fn: types.FunctionType) -> bool:
    """Whether workers get a function from its module."""
    module = None if fn.__module__ == "__main__" else sys.modules.get(fn.__module__)
    found: Any = module
    for name in fn.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is fn


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _in_file(code: types.CodeType, name: str) -> types.CodeType:
    """Return code, and the code in it, as that of a file."""
    consts = tuple([
        _in_file(each, name) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    ])  # fmt: skip
    return code.replace(co_filename=name, co_consts=consts)


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
    if packed.digest != digest(fn):
        raise WorkerError(
            f"a worker has another source of {packed.name}(), or other values of the variables "
            "that it uses", span_of(plain(fn)),
            "update its module on all workers, and start them again; pass what changes as an "
            "argument",
        )  # fmt: skip
    return fn


__all__ = ["Packed", "pack", "unpack", "versions"]
