"""Calls of compiled derivatives from code that a user compiles with Numba.

What a call returns must be known when the caller is compiled; numbers, arrays and tuples of them
can be. Code that keeps nothing between calls is called directly (`direct`). Any other call goes
through the interpreter: it holds the global lock and costs some microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core.errors import TypingError
from numba.extending import overload, typeof_impl

from adc.backend.cpu import direct
from adc.backend.numba_api import cpu_target, types
from adc.ir.types import Array

if TYPE_CHECKING:
    from adc.backend.cpu import Kernel


@dataclass(frozen=True)
class Known:
    """What is known of a function for sample arguments.

    Attributes
    ----------
    result : object
        A sample of the result.
    kernel : Kernel or None
        What may be called directly, with the arguments.
    structure : object
        Which of its results are where: numbers, or tuples of them.
    """

    result: Any
    kernel: Kernel | None = None
    structure: Any = None


def register(cls: type, known_of: Callable[[Any, tuple[Any, ...]], Known]) -> None:
    """Make the objects of a class callable from code that Numba compiles.

    Parameters
    ----------
    cls : type
        Of functions; an object of it stands for itself.
    known_of : callable
        Takes such a function and sample arguments; returns what is known.
    """
    stubs: dict[int, tuple[Any, Any]] = {}

    @typeof_impl.register(cls)
    def typeof_function(function: Any, context: Any) -> Any:
        key = id(function)
        if key not in stubs:
            stubs[key] = (function, _stub(function, known_of))
            cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(stubs[key][1])


# Numbers that no program has by chance.
_FIRST = 20011


def _stub(function: Any, known_of: Callable[[Any, tuple[Any, ...]], Known]) -> Callable[..., Any]:
    """Return a function that Numba knows how to call, in place of `function`."""

    def stub(*args: Any) -> Any:
        return function(*args)

    @overload(stub, strict=False)
    def implementation(*args: Any) -> Callable[..., Any]:
        known = known_of(function, tuple(_sample(arg) for arg in args))
        try:
            out_type = numba.typeof(known.result)  # type: ignore[no-untyped-call]  # no types
        except ValueError as error:
            raise TypingError(f"adc: the result of {function!r}: {error}") from None

        def call(*args: Any) -> Any:
            with numba.objmode(out=out_type):
                out = function(*args)
            return out

        return _direct(known, args, call) or call

    return stub


def _direct(
    known: Known, args: Sequence[Any], through: Callable[..., Any]
) -> Callable[..., Any] | None:
    """Return what calls code directly, if that can be; if a check fails, `through` is called."""
    kernel = known.kernel
    if kernel is None or not direct.keeps_nothing(kernel):
        return None
    given, call = direct.caller(kernel)
    if list(args) != list(given):
        return None  # they would be converted
    fails = "if failed: return through(*args)" if kernel.emitted.sites else ""
    text = f"def run(*args):\n failed, r = call(args)\n {fails}\n return {_text(known.structure)}"
    namespace: dict[str, Any] = {"call": call, "through": numba.njit(through)}
    exec(text, namespace)
    run: Callable[..., Any] = namespace["run"]
    return run


def _text(structure: Any) -> str:
    if isinstance(structure, tuple):
        return f"({''.join(_text(each) + ', ' for each in structure)})"
    return f"r[{structure}]"


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


def marks_like_types(found: Sequence[Any]) -> list[Any]:
    """Return a number or array for every type of the IR: each number is another one."""
    return [
        np.zeros((1,) * ty.rank, ty.numpy)
        if isinstance(ty, Array)
        else np.asarray(_FIRST + k).astype(ty.numpy)[()]
        for k, ty in enumerate(found)
    ]


def structure_of(result: Any, marks: Sequence[Any]) -> Any:
    """Return which of the marks are where in a result: numbers, or tuples of them.

    None if that is not all that the result has.
    """
    if type(result) is tuple:
        found = tuple(structure_of(each, marks) for each in result)
        return None if None in found else found
    for k, mark in enumerate(marks):
        if result is mark:
            return k
        if np.ndim(mark) == 0 and type(result) in (int, float, type(mark)) and result == mark:
            return k if not isinstance(mark, np.bool) else None
    return None


__all__ = ["Known", "marks_like_types", "register", "structure_of"]
