"""The parts of Numba that adc generates code with, as `Any`: Numba's own types cover some of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.core.cgutils
import numba.core.runtime.nrt
import numba.core.types
import numba.core.typing.templates

from adc.ir.types import Array, Scalar, Type

cgutils: Any = numba.core.cgutils
types: Any = numba.core.types
templates: Any = numba.core.typing.templates
signature: Any = templates.signature
runtime_system: Any = numba.core.runtime.nrt.rtsys


class Intrinsic:
    """A function of emitted code that is written as LLVM's instructions where it is called.

    `define` takes and returns what Numba's intrinsics do. Numba itself knows nothing of ours: it
    would load all that it has before it asked for the first one.
    """

    def __init__(self, define: Callable[..., Any]) -> None:
        self.define = define
        self.__doc__ = define.__doc__

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError


intrinsic = Intrinsic


def _numba_scalar(dtype: str) -> Any:
    numpy = Scalar(dtype).numpy
    return types.boolean if dtype == "b1" else getattr(types, numpy.name)


def numba_type(ty: Type) -> Any:
    """Return Numba's type for a type of the IR."""
    if isinstance(ty, Array):
        return types.Array(_numba_scalar(ty.dtype), ty.rank, ty.layout)
    return _numba_scalar(ty.dtype)
