"""The Python function behind a callable that a user passes; its parameters."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import re
import types
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adc.ir.errors import ArgumentError, Span, UnsupportedError
from adc.library.transforms import KEYWORDS, Level, has_rule


def name_of(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", repr(fn))


def span_of(fn: Callable[..., Any]) -> Span | None:
    code = getattr(fn, "__code__", None)
    if code is None:
        return None
    return Span(code.co_filename, _line_of(code), function=name_of(fn))


def _line_of(code: types.CodeType) -> int:
    """Return the line of ``def``: Python's first line is that of the first decorator."""
    first = code.co_firstlineno
    text = linecache.getline(code.co_filename, first)
    if text.lstrip().startswith("@"):
        begins = re.compile(rf"\s*(async\s+)?def\s+{re.escape(code.co_name)}\b")
        for line, text in enumerate(linecache.getlines(code.co_filename)[first:], first + 1):
            if begins.match(text):
                return line
    return first


def function_of(fn: Callable[..., Any]) -> types.FunctionType:
    """Return the Python function behind a callable: a method's, or one that Numba wraps."""
    method = getattr(fn, "__func__", fn)
    for inner in (fn, method, getattr(method, "py_func", None)):
        if isinstance(inner, types.FunctionType):
            return inner
    raise UnsupportedError(
        f"{name_of(fn)!r} is not a Python function",
        None,
        "adc reads Python source; builtins have none: wrap it in a function",
    )


def plain(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function or method that a callable object stands for.

    That is the function behind `functools.lru_cache`, the method `__call__` of an instance, and for
    `functools.partial` a function of the remaining arguments.

    Examples
    --------
    >>> import functools
    >>> def power(x, n, scale=1.0):
    ...     return scale * x**n
    >>> plain(functools.partial(power, n=2))(3.0), plain(functools.cache(power)) is power
    (9.0, True)
    """
    method = getattr(fn, "__func__", fn)
    if any(isinstance(f, types.FunctionType) for f in (method, getattr(method, "py_func", None))):
        return fn
    if isinstance(fn, functools.partial):
        return _of_partial(fn)
    if isinstance(fn, _CACHED):
        return plain(fn.__wrapped__)
    called = getattr(type(fn), "__call__", None)  # noqa: B004  # not whether: which
    if isinstance(called, types.FunctionType) and not isinstance(fn, type) and not has_rule(fn):
        return types.MethodType(called, fn)
    return fn


_CACHED = type(functools.lru_cache(lambda: None))


def _of_partial(fn: functools.partial[Any]) -> Callable[..., Any]:
    """Return a function that calls what `functools.partial` was applied to."""
    try:
        spec = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return fn
    values: dict[str, Any] = {"_function": plain(fn.func)}
    values |= {f"_argument{k}": value for k, value in enumerate(fn.args)}
    values |= {f"_keyword_{name}": value for name, value in fn.keywords.items()}
    params: list[str] = []
    given = [f"_argument{k}" for k in range(len(fn.args))]
    starred = False
    for param in spec:
        if param.name in fn.keywords:
            given.append(f"{param.name}=_keyword_{param.name}")
            continue
        text = param.name
        if param.default is not param.empty:
            values[f"_default_{param.name}"] = param.default
            text = f"{param.name}=_default_{param.name}"
        if param.kind is param.VAR_POSITIONAL:
            text, starred = f"*{param.name}", True
            given.append(text)
        elif param.kind is param.VAR_KEYWORD:
            text = f"**{param.name}"
            given.append(text)
        elif param.kind is param.KEYWORD_ONLY:
            if not starred:
                params.append("*")
                starred = True
            given.append(f"{param.name}={param.name}")
        else:
            given.append(param.name)
        params.append(text)
    name = name_of(fn.func)
    name = name if name.isidentifier() else "partial"
    order = sorted(given, key=lambda text: ("=" in text, text.startswith("**")))
    made = _factory(name, tuple(values), ", ".join(params), ", ".join(order))(**values)
    made.__module__ = getattr(fn.func, "__module__", made.__module__)
    return made  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1024)
def _factory(name: str, names: tuple[str, ...], params: str, given: str) -> Callable[..., Any]:
    """Return a function that makes a function of these parameters, with a source to read."""
    text = (
        f"def make({', '.join(names)}):\n"
        f"    def {name}({params}):\n"
        f"        return _function({given})\n"
        f"    return {name}\n"
    )
    file = f"<functools.partial {zlib.crc32(text.encode()):08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    made: Callable[..., Any] = space["make"]
    return made


def numbers_of(fn: Callable[..., Any], names: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of parameters, as `argnums` counts them; `KEYWORDS` for the others."""
    code = function_of(fn).__code__
    skip = 1 if isinstance(fn, types.MethodType) else 0
    plain, keywords = code.co_argcount, code.co_kwonlyargcount
    numbers = dict(zip(code.co_varnames[skip:plain], itertools.count(), strict=False))
    others = code.co_varnames[plain : plain + keywords]
    numbers |= dict(zip(others, itertools.count(KEYWORDS), strict=False))
    for name in names:
        if name not in numbers:
            raise ArgumentError(
                f"{name_of(fn)}() has no parameter {name!r} that can be differentiated",
                span_of(fn),
                f"it has {', '.join(numbers) or 'none'}",
            )
    return tuple([numbers[name] for name in names])


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
