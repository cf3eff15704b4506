"""The Python function behind a callable that a user passes; its parameters."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adc.ir.errors import ArgumentError, Span, UnsupportedError
from adc.library.transforms import Level


def name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", repr(fn))


def span_of(fn: Callable[..., Any]) -> Span | None:
    code = getattr(fn, "__code__", None)
    if code is None:
        return None
    return Span(code.co_filename, code.co_firstlineno, function=name_of(fn))


def function_of(fn: Callable[..., Any]) -> types.FunctionType:
    """Return the Python function behind a callable: a method's, or one that Numba wraps."""
    method = getattr(fn, "__func__", fn)
    for inner in (fn, method, getattr(method, "py_func", None)):
        if isinstance(inner, types.FunctionType):
            return inner
    raise UnsupportedError(
        f"{name_of(fn)!r} is not a Python function",
        None,
        "adc reads Python source; builtins and callable objects have none: wrap it in a function",
    )


def numbers_of(fn: Callable[..., Any], names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of parameters, as `argnums` counts them."""
    code = function_of(fn).__code__
    skip = 1 if isinstance(fn, types.MethodType) else 0
    positional = code.co_varnames[skip : code.co_argcount]
    for name in names:
        if name not in positional:
            raise ArgumentError(
                f"{name_of(fn)}() has no positional parameter {name!r}",
                span_of(fn),
                f"it has {', '.join(positional) or 'none'}",
            )
    return tuple([positional.index(name) for name in names])


def chosen(fn: Callable[..., Any], names: str | Sequence[str]) -> int | tuple[int, ...]:
    """Return the positions that parameters have now: one for one name, else a tuple."""
    if isinstance(names, str):
        return numbers_of(fn, (names,))[0]
    return numbers_of(fn, names)


def settled(fn: Callable[..., Any], levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """Return levels with the positions that their arguments have now."""
    if all(level.names is None for level in levels):
        return levels
    return tuple(
        [
            level if level.names is None else replace(level, argnums=chosen(fn, level.names))
            for level in levels
        ]
    )
