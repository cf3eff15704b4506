"""Complex numbers and arrays, taken apart for code and put together from its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.ir.errors import ArgumentError
from adc.ir.types import Array, Scalar

# What real numbers of a class are the parts of.
_WHOLES: dict[type, type] = {float: complex, np.float64: np.complex128, np.float32: np.complex64}


class Whole:
    """Stands for a complex number or array among the results of code, which has its parts."""


def parts(value: Any, ty: Scalar | Array, *, copied: bool = True) -> tuple[Any, Any]:
    """Return real and imaginary part: of an array as arrays in C order, if they are `copied`."""
    if not copied:
        return value.real, value.imag
    if isinstance(ty, Array):
        return np.ascontiguousarray(value.real), np.ascontiguousarray(value.imag)
    number = np.asarray(value)[()] if isinstance(value, np.ndarray) else value
    return number.real, number.imag


# How far parts of a derivative may be from those of a holomorphic function, relative to its size.
_TOLERANCE = 1e-4


def joined(re: Any, im: Any) -> Any:
    """Return the complex number, or array, with these parts; without the second what is joined.

    Examples
    --------
    >>> joined(1.0, 2.0), joined(np.zeros(2, np.float32), np.ones(2, np.float32))
    ((1+2j), array([0.+1.j, 0.+1.j], dtype=complex64))
    """
    if im is None:
        return re
    whole = _WHOLES.get(type(re))
    if whole is not None:
        return whole(complex(re, im))
    made = np.empty(np.shape(re), _WHOLES[re.dtype.type])
    made.real, made.imag = re, im
    return made


def conjugate(re: Any, im: Any) -> Any:
    """Return the gradient with respect to a complex number, from those to its parts.

    That is ∂f/∂x - i ∂f/∂y; without the second it is the first. Of a complex f, half of that is its
    derivative, if it has one: then ∂f/∂x + i ∂f/∂y is 0, the equations of Cauchy and Riemann.
    """
    if im is None:
        return re
    if np.asarray(re).dtype.kind != "c":
        return joined(re, -im)
    found, other = 0.5 * (re - 1j * im), 0.5 * (re + 1j * im)
    if np.any(np.abs(other) > _TOLERANCE * np.max(np.abs(found), initial=1e-30)):
        raise ArgumentError(
            "the function is not holomorphic: it has no complex derivative here", None,
            "differentiate its real and imaginary part, each a real function, or along a direction "
            "(`adc.jvp`; second derivatives: `adc.hvp`)",
        )  # fmt: skip
    return found
