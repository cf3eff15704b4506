"""Calls of compiled derivatives from code that a user compiles with Numba.

Such a call goes through the interpreter: it holds the global lock and costs some microseconds. What
it returns must be known when the caller is compiled; numbers, arrays and tuples of them can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba.core.errors import TypingError
from numba.extending import overload, typeof_impl

from adc.backend.numba_api import cpu_target, types


def register(cls: type, result_of: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Make the objects of a class callable from code that Numba compiles.

    Parameters
    ----------
    cls : type
        Of functions; an object of it stands for itself.
    result_of : callable
        Takes such a function and sample arguments; returns a sample of the result.
    """
    stubs: dict[int, tuple[Any, Any]] = {}

    @typeof_impl.register(cls)
    def typeof_function(function: Any, context: Any) -> Any:
        key = id(function)
        if key not in stubs:
            stubs[key] = (function, _stub(function, result_of))
            cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(stubs[key][1])


def _stub(function: Any, result_of: Callable[[Any, tuple[Any, ...]], Any]) -> Callable[..., Any]:
    """Return a function that Numba knows how to call, in place of `function`."""

    def stub(*args: Any) -> Any:
        return function(*args)

    @overload(stub, strict=False)
    def implementation(*args: Any) -> Callable[..., Any]:
        found = result_of(function, tuple(_sample(arg) for arg in args))
        try:
            out_type = numba.typeof(found)  # type: ignore[no-untyped-call]  # Numba has no types
        except ValueError as error:
            raise TypingError(f"adc: the result of {function!r}: {error}") from None

        def call(*args: Any) -> Any:
            with numba.objmode(out=out_type):
                out = function(*args)
            return out

        return call

    return stub


def _sample(ty: Any) -> Any:
    """Return an argument of a type; its values do not matter."""
    if isinstance(ty, types.Array):
        return np.zeros((2,) * ty.ndim, str(ty.dtype))
    if isinstance(ty, types.Tuple | types.UniTuple):
        return tuple(_sample(item) for item in ty.types)
    if isinstance(ty, types.Boolean):
        return False
    if isinstance(ty, types.Integer):
        return 1
    if isinstance(ty, types.Float):
        return 1.0 if ty.bitwidth == 64 else np.float32(1.0)
    raise TypingError(f"adc: an argument of type {ty} cannot be passed from compiled code")


def zeros_like_types(found: Sequence[Any]) -> list[Any]:
    """Return a number or array for every type of the IR."""
    return [
        np.zeros((1,) * getattr(ty, "rank", 0), ty.numpy)[() if not hasattr(ty, "rank") else ...]
        for ty in found
    ]


__all__ = ["register", "zeros_like_types"]
