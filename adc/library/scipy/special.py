"""Functions of `scipy.special` in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient


def _floats(a: Any) -> Any:
    """Return an array of real numbers with one axis or more, which are floats."""
    x = np.asarray(a)
    if x.dtype.kind == "c":
        raise Unsupported(
            "`scipy.special.logsumexp` of complex numbers", "write `np.log(np.sum(np.exp(a)))`"
        )
    y = x if x.dtype.kind == "f" else x.astype(np.float64)
    return y.reshape(1) if y.ndim == 0 else y


def _finite(x: Any) -> Any:
    """Return numbers without their derivatives, and 0 for those that are infinite or NaN."""
    return stop_gradient(np.where(np.isfinite(x), x, x.dtype.type(0.0)))


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False
) -> Any:
    """`scipy.special.logsumexp`.

    The largest terms are summed apart from the others, so that what is small beside them counts.
    The derivatives are those of the sum of all, the quotients of `softmax`.
    """
    x = _floats(a)
    zero = x.dtype.type(0.0)
    terms = x
    if b is not None:
        given = _floats(b)
        weights = np.broadcast_to(given, np.broadcast_shapes(given.shape, x.shape))
        terms = np.where(weights == zero, x.dtype.type(-np.inf), x)
    largest = np.max(terms, axis=axis, keepdims=True, initial=-np.inf)
    shift = _finite(largest)
    e = np.exp(x - shift)
    if b is not None:
        # A term without weight is none, even if it is infinite or NaN.
        e = weights * np.where(weights == zero, np.fmin(e, x.dtype.type(1e38)), e)
    is_largest = terms == largest
    most = np.sum(np.where(is_largest, e, zero), axis=axis, keepdims=True)
    rest = np.sum(np.where(is_largest, zero, e), axis=axis, keepdims=True)
    total = most + rest
    sign = np.sign(total)
    if return_sign:
        total = np.abs(total)
    found = np.log(total) + shift
    part = stop_gradient(rest) / stop_gradient(most)
    part = np.where(part < -1.0, -part - 2.0, part)
    exact = np.log1p(part) + np.log(np.abs(stop_gradient(most))) + shift
    found = np.where(np.isfinite(found), exact + (found - stop_gradient(found)), found)
    if not keepdims:
        found = np.squeeze(found, axis=axis)
        sign = np.squeeze(sign, axis=axis)
    if return_sign:
        return found, sign
    return found


def softmax(x: Any, axis: Any = None) -> Any:
    """`scipy.special.softmax`."""
    y = np.asarray(x)
    e = np.exp(y - stop_gradient(np.max(y, axis=axis, keepdims=True)))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """`scipy.special.log_softmax`."""
    y = _floats(x)
    shifted = y - _finite(np.max(y, axis=axis, keepdims=True))
    found = shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    return found.reshape(()) if np.ndim(x) == 0 else found
