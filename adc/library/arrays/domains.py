"""`np.emath`: functions that are complex where no real number is the result."""

from __future__ import annotations

from typing import Any

import numpy as np


def _complex(a: Any) -> Any:
    single = a.dtype.kind in "iuf" and a.dtype.itemsize < 4 and a.dtype != np.float16
    return a.astype(np.complex64 if single or a.dtype == np.float32 else np.complex128)


def _not_negative(x: Any) -> Any:
    """Return an array that is complex if a real number in it is negative."""
    a = np.asarray(x)
    if a.dtype.kind == "c":
        return a
    return _complex(a) if np.any(a < 0) else a


def _up_to_one(x: Any) -> Any:
    """Return an array that is complex if the absolute value of a real number in it is above 1."""
    a = np.asarray(x)
    if a.dtype.kind == "c":
        return a
    return _complex(a) if np.any(np.abs(a) > 1) else a


def sqrt(x: Any) -> Any:
    """`np.emath.sqrt`."""
    return np.sqrt(_not_negative(x))


def log(x: Any) -> Any:
    """`np.emath.log`."""
    return np.log(_not_negative(x))


def log2(x: Any) -> Any:
    """`np.emath.log2`."""
    return np.log2(_not_negative(x))


def log10(x: Any) -> Any:
    """`np.emath.log10`."""
    return np.log10(_not_negative(x))


def logn(n: Any, x: Any) -> Any:
    """`np.emath.logn`: the logarithm to a base."""
    return np.log(_not_negative(x)) / np.log(_not_negative(n))


def power(x: Any, p: Any) -> Any:
    """`np.emath.power`."""
    exponent = np.asarray(p)
    if exponent.dtype.kind in "iu":
        exponent = exponent * 1.0 if np.any(exponent < 0) else exponent
    return np.power(_not_negative(x), exponent)


def arccos(x: Any) -> Any:
    """`np.emath.arccos`."""
    return np.arccos(_up_to_one(x))


def arcsin(x: Any) -> Any:
    """`np.emath.arcsin`."""
    return np.arcsin(_up_to_one(x))


def arctanh(x: Any) -> Any:
    """`np.emath.arctanh`."""
    return np.arctanh(_up_to_one(x))


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """`np.real_if_close`."""
    x = np.asarray(a)
    if x.dtype.kind != "c":
        return x
    limit = np.finfo(x.dtype).eps * tol if tol > 1 else tol
    return x.real if np.all(np.abs(x.imag) < limit) else x


__all__ = [
    "arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt",
]  # fmt: skip
