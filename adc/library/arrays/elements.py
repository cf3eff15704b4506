"""Functions of single elements: parts of numbers, steps between them, bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import stop_gradient


def _floating(x: Any) -> Any:
    """Return floats as they are, integers in the type that NumPy computes their parts in."""
    a = np.asarray(x)
    return a if a.dtype.kind == "f" else np.copysign(a, a)


def _ordered(x: Any) -> Any:
    a = np.asarray(x)
    if a.dtype.kind == "c":
        raise TypeError("This operation is not supported for complex values")
    return a


def isneginf(x: Any, out: Any = None) -> Any:
    """`np.isneginf`."""
    return _stored(_ordered(x) == -np.inf, out)


def isposinf(x: Any, out: Any = None) -> Any:
    """`np.isposinf`."""
    return _stored(_ordered(x) == np.inf, out)


def _stored(found: Any, out: Any) -> Any:
    if out is None:
        return found
    np.copyto(out, found)
    return out


def modf(x: Any) -> Any:
    """`np.modf`: fraction and whole number."""
    a = _floating(x)
    whole = np.trunc(a)
    rest = np.where(np.isinf(a), a.dtype.type(0), a - whole)
    return np.copysign(rest, a), whole


def frexp(x: Any) -> Any:
    """`np.frexp`: a number from 1/2 to 1, and the power of 2 that it is multiplied by."""
    a = _floating(x)
    if a.ndim == 0:
        return _split(a[()])
    flat = a.reshape(-1)
    part, power = np.empty(flat.shape, flat.dtype), np.empty(flat.shape, np.int32)
    for k in range(len(flat)):
        part[k], power[k] = _split(flat[k])
    return part.reshape(a.shape), power.reshape(a.shape)


def _split(x: Any) -> Any:
    size = np.float64(abs(stop_gradient(x)))
    power = 0
    if size > 0 and np.isfinite(size):
        power = int(np.floor(np.log2(size))) + 1
        # The logarithm is rounded.
        low, high = _power(power - 1), _power(power)
        if size < low:
            power -= 1
        elif size >= high and high > 0 and np.isfinite(high):
            power += 1
    half = -power // 2
    scaled = np.float64(x) * _power(half) * _power(-power - half)
    return x.dtype.type(scaled), np.int32(power)


def _power(k: Any) -> Any:
    return np.exp2(np.float64(k))


def ldexp(x1: Any, x2: Any) -> Any:
    """`np.ldexp`: in two steps, for the power alone may overflow."""
    x = _floating(x1)
    k = np.asarray(x2)
    if k.dtype.kind == "f":
        raise TypeError("ufunc 'ldexp' not supported for the input types")
    low = np.floor_divide(k, 2).astype(x.dtype)
    return x * np.exp2(low) * np.exp2(k.astype(x.dtype) - low)


def spacing(x: Any, *, dtype: Any = None) -> Any:
    """`np.spacing`: the distance to the next number away from zero."""
    a = stop_gradient(_floating(x if dtype is None else np.asarray(x).astype(dtype)))
    size = np.abs(a)
    kind = a.dtype.type
    step = np.nextafter(size, kind(np.inf)) - size
    return np.where(np.isinf(a), kind(np.nan), np.where(a < 0, -step, step))


def bitwise_count(x: Any) -> Any:
    """`np.bitwise_count`: how many bits the absolute value has."""
    a = np.asarray(x)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        raise TypeError("ufunc 'bitwise_count' not supported for the input types")
    bits = np.abs(a.astype(np.int64)) if a.dtype.kind == "i" else a
    rest = bits.astype(np.uint64)
    found = np.zeros(a.shape, np.uint8)
    for k in range(64):
        found = found + ((rest >> np.uint64(k)) & np.uint64(1)).astype(np.uint8)
    return found


__all__ = [
    "bitwise_count", "frexp", "isneginf", "isposinf", "ldexp", "modf", "spacing",
]  # fmt: skip
