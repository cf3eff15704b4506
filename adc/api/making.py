"""How the public functions make what they return, of functions and of derivatives."""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adc.api.derivative import Checkpoint, Derivative
from adc.functions import chosen, plain, span_of
from adc.ir.errors import ArgumentError
from adc.library.transforms import Level
from adc.options import Options

if TYPE_CHECKING:
    from adc.compiler.dispatch import Code


def check_argnums(argnums: int | Sequence[int]) -> int | tuple[int, ...]:
    try:
        if isinstance(argnums, Sequence) and not isinstance(argnums, str):
            return tuple([operator.index(number) for number in argnums])
        return operator.index(argnums)
    except TypeError:
        raise ArgumentError(
            f"argnums={argnums!r} is neither an integer nor a sequence of integers"
        ) from None


def level_of(
    kind: str,
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Level:
    """Return a derivative with respect to the arguments that `argnums` or `argnames` select."""
    if argnames is None:
        return Level(kind, check_argnums(0 if argnums is None else argnums), has_aux, holomorphic)
    if argnums is not None:
        raise ArgumentError("argnums and argnames are both given", None, "give one of them")
    names = argnames if isinstance(argnames, str) else tuple(argnames)
    return Level(kind, chosen(fn, names), has_aux, holomorphic, names)


def split(
    fn: Callable[..., Any], options: Options
) -> tuple[Callable[..., Any], tuple[Level, ...], Options]:
    """Return the innermost function, the levels applied to it, and how to apply more."""
    if isinstance(fn, Derivative):
        return fn.__wrapped__, fn.__adc_applied__, options.over(fn._options)
    if isinstance(fn, Checkpoint) and isinstance(fn.py_func, Derivative):
        function, levels, how = split(fn.py_func, options)
        return function, (*levels, *fn.__adc_applied__), how
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, Derivative):
        derivative = fn.__func__
        method = types.MethodType(derivative.__wrapped__, fn.__self__)
        levels = tuple([_bound(method, level) for level in derivative._applied])
        return method, levels, options.over(derivative._options)
    if not callable(fn):
        raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
    return plain(fn), (), options


def _bound(method: types.MethodType, level: Level) -> Level:
    """Return a level for a bound method: positions no longer count `self`."""
    if level.names is not None:
        return dataclasses.replace(level, argnums=chosen(method, level.names))
    if 0 in level.chosen:
        raise ArgumentError(
            f"{method.__name__}() is differentiated with respect to the object that it is bound to",
            span_of(method), "take it from the class, and pass the object as the first argument",
        )  # fmt: skip
    shifted = tuple([number - 1 if number > 0 else number for number in level.chosen])
    whole = isinstance(level.argnums, int)
    return dataclasses.replace(level, argnums=shifted[0] if whole else shifted)


def make(
    kind: str,
    fn: Callable[..., Any] | None,
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    has_aux: bool,
    holomorphic: bool,
    options: Options,
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    def make(fn: Callable[..., Any]) -> Derivative:
        function, levels, how = split(fn, options)
        level = level_of(kind, function, argnums, argnames, has_aux, holomorphic)
        return Derivative(function, (*levels, level), how)

    if argnames is None:
        check_argnums(0 if argnums is None else argnums)  # errors where they are made
    return make if fn is None else make(fn)


def code_for(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None = None,
    nested: bool = False,
    entire: bool = False,
) -> Code:
    # What a closure, a default or a method holds may be large, and is not kept for a next time.
    held = isinstance(fn, types.MethodType) or getattr(fn, "__closure__", None) or (
        getattr(fn, "__defaults__", None)
    )  # fmt: skip
    return (_made if held else kept)(fn, levels, options, along, pull, nested, entire)


def _made(
    fn: Callable[..., Any],
    levels: tuple[Level, ...],
    options: Options,
    along: tuple[int, ...] | None,
    pull: tuple[int, ...] | None,
    nested: bool,
    entire: bool,
) -> Code:
    from adc.compiler.dispatch import Code

    return Code(fn, levels, options, along, pull, nested, entire=entire)


kept = functools.lru_cache(maxsize=256)(_made)


__all__ = ["check_argnums", "code_for", "kept", "level_of", "make", "split"]
