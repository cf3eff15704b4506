"""Functions of `scipy.special` in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient


def _floats(a: Any) -> Any:
    """Return an array of floats or complex numbers with one axis or more."""
    x = np.asarray(a)
    y = x if x.dtype.kind == "f" or x.dtype.kind == "c" else x.astype(np.float64)
    return y.reshape(1) if y.ndim == 0 else y


def _finite(x: Any) -> Any:
    """Return numbers without their derivatives, and 0 for those that are infinite or NaN."""
    return stop_gradient(np.where(np.isfinite(x), x, x.dtype.type(0.0)))


def _number(x: Any) -> Any:
    """Return what has no axes as a number."""
    return x[()] if x.ndim == 0 else x


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False
) -> Any:
    """`scipy.special.logsumexp`.

    The largest terms are summed apart from the others, so that what is small beside them counts.
    The derivatives are those of the sum of all, the quotients of `softmax`.
    """
    x = _floats(a)
    if x.dtype.kind == "c" or (b is not None and np.asarray(b).dtype.kind == "c"):
        return _complex_logsumexp(x, axis, b, keepdims, return_sign)
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
        found = _number(np.squeeze(found, axis=axis))
        sign = _number(np.squeeze(sign, axis=axis))
    if return_sign:
        return found, sign
    return found


def _complex_logsumexp(x: Any, axis: Any, b: Any, keepdims: Any, return_sign: Any) -> Any:
    """`scipy.special.logsumexp` of complex numbers, or of complex weights."""
    size = np.real(x)
    if b is not None:
        given = _floats(b)
        weights = np.broadcast_to(given, np.broadcast_shapes(given.shape, x.shape))
        size = np.where(weights == 0, size.dtype.type(-np.inf), size)
    largest = np.max(size, axis=axis, keepdims=True, initial=-np.inf)
    shift = _finite(largest)
    e = np.exp(x - shift)
    if b is not None:
        e = weights * e
    is_largest = size == largest
    most = np.sum(np.where(is_largest, e, 0), axis=axis, keepdims=True)
    rest = np.sum(np.where(is_largest, 0, e), axis=axis, keepdims=True)
    total = most + rest
    found = np.log(total) + shift
    part = stop_gradient(rest) / stop_gradient(most)
    exact = np.log1p(part) + np.log(stop_gradient(most)) + shift
    # Both have the same logarithm but for whole turns: these are as in that of the sum.
    turns = np.rint((np.imag(exact) - np.imag(stop_gradient(found))) / (2.0 * np.pi))
    exact = exact - total.dtype.type(6.283185307179586j) * turns
    found = np.where(np.isfinite(found), exact + (found - stop_gradient(found)), found)
    phase = np.where(total == 0, 0, total / np.abs(total))
    if return_sign:
        length = np.real(found)
        if keepdims:
            return length, phase
        return _number(np.squeeze(length, axis=axis)), _number(np.squeeze(phase, axis=axis))
    return found if keepdims else np.squeeze(found, axis=axis)


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


def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:
    """`scipy.special.comb` of floats."""
    from scipy.special import binom

    if exact:
        raise Unsupported("`scipy.special.comb` with `exact=True`", "leave out `exact`")
    n, j = np.asarray(N), np.asarray(k)
    if repetition:
        return np.where((j == 0) & (n >= 0), 1.0, binom(n + j - 1, j))
    return np.where((j <= n) & (n >= 0) & (j >= 0), binom(n, j), 0.0)


def perm(N: Any, k: Any, exact: Any = False) -> Any:
    """`scipy.special.perm` of floats."""
    from scipy.special import poch

    if exact:
        raise Unsupported("`scipy.special.perm` with `exact=True`", "leave out `exact`")
    n, j = np.asarray(N), np.asarray(k)
    return np.where((j <= n) & (n >= 0) & (j >= 0), poch(n - j + 1, j), 0.0)


def factorial(n: Any, exact: Any = False, extend: Any = "zero") -> Any:
    """`scipy.special.factorial` of floats."""
    from scipy.special._ufuncs import _factorial

    if exact:
        raise Unsupported("`scipy.special.factorial` with `exact=True`", "leave out `exact`")
    if extend != "zero":
        raise Unsupported(
            "`scipy.special.factorial` with `extend='complex'`",
            "write `scipy.special.gamma(n + 1)`",
        )
    x = np.asarray(n)
    found = np.where(x < 0, 0.0, _factorial(x))
    return found if x.ndim == 0 else found.astype(np.float64)


def factorial2(n: Any, exact: Any = False, extend: Any = "zero") -> Any:
    """`scipy.special.factorial2`."""
    from scipy.special import gamma

    if extend != "zero":
        raise Unsupported(
            "`scipy.special.factorial2` with `extend='complex'`", "write it with `gamma`"
        )
    x = np.asarray(n)
    if x.dtype.kind not in "iu":
        raise Unsupported(
            "`scipy.special.factorial2` of numbers that are no integers", "write it with `gamma`"
        )
    if exact:
        if x.ndim > 0:
            raise Unsupported(
                "`scipy.special.factorial2` of an array with `exact=True`", "leave out `exact`"
            )
        product = 1
        for k in range(n, 1, -2):
            product *= k
        return product if n >= 0 else 0
    odd = x % 2
    if x.ndim == 0:
        found = np.power(2.0, (x - odd) / 2) * gamma(x / 2 + 1) / gamma(odd / 2 + 1)
    else:  # in the order in which SciPy rounds
        found = np.power(2.0, x / 2) * gamma(x / 2 + 1)
        found = np.where(odd == 1, found * (np.power(2.0, -0.5) / gamma(1.5)), found)
    return np.where(x < 0, 0.0, found)


def multigammaln(a: Any, d: Any) -> Any:
    """`scipy.special.multigammaln`."""
    from scipy.special import gammaln

    x = np.asarray(a)
    if np.any(x <= 0.5 * (d - 1)):
        raise ValueError("condition a > 0.5 * (d-1) not met")
    found = gammaln(x)
    for j in range(2, d + 1):
        found = found + gammaln(x - (j - 1.0) / 2)
    return (d * (d - 1) * 0.25) * np.log(np.pi) + found


def polygamma(n: Any, x: Any) -> Any:
    """`scipy.special.polygamma`."""
    from scipy.special import gamma, psi
    from scipy.special._ufuncs import _zeta

    order, y = np.asarray(n), np.asarray(x)
    found = (-1.0) ** (order + 1) * gamma(order + 1.0) * _zeta(order + 1, y)
    return np.where(order == 0, psi(y), found)


def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """`scipy.special.zeta`."""
    from scipy.special._ufuncs import _riemann_zeta, _zeta

    if out is not None:
        raise Unsupported(
            "the argument 'out' of `scipy.special.zeta`", "assign to it: `out[:] = ...`"
        )
    if q is None:
        return _riemann_zeta(x)
    return _zeta(x, q)


def lambertw(z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    """`scipy.special.lambertw`."""
    from scipy.special._ufuncs import _lambertw

    return _lambertw(z, k, tol)


def spherical_jn(n: Any, z: Any, derivative: Any = False) -> Any:
    """`scipy.special.spherical_jn`."""
    from scipy.special._ufuncs import _spherical_jn, _spherical_jn_d

    return _spherical_jn_d(n, z) if derivative else _spherical_jn(n, z)


def spherical_yn(n: Any, z: Any, derivative: Any = False) -> Any:
    """`scipy.special.spherical_yn`."""
    from scipy.special._ufuncs import _spherical_yn, _spherical_yn_d

    return _spherical_yn_d(n, z) if derivative else _spherical_yn(n, z)


def spherical_in(n: Any, z: Any, derivative: Any = False) -> Any:
    """`scipy.special.spherical_in`."""
    from scipy.special._ufuncs import _spherical_in, _spherical_in_d

    return _spherical_in_d(n, z) if derivative else _spherical_in(n, z)


def spherical_kn(n: Any, z: Any, derivative: Any = False) -> Any:
    """`scipy.special.spherical_kn`."""
    from scipy.special._ufuncs import _spherical_kn, _spherical_kn_d

    return _spherical_kn_d(n, z) if derivative else _spherical_kn(n, z)


def _differentiated(f: Any, sign: Any, v: Any, z: Any, n: Any) -> Any:
    """Return a derivative of a Bessel function, from its orders around `v`, as SciPy does."""
    factor = 1.0
    total = f(v - n, z)
    for k in range(1, n + 1):
        factor = sign * (factor * (n - k + 1)) / k
        total = total + factor * f(v - n + k * 2, z)
    return total / 2.0**n


def jvp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.jvp`."""
    from scipy.special import jv

    return jv(v, z) if n == 0 else _differentiated(jv, -1, v, z, n)


def yvp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.yvp`."""
    from scipy.special import yv

    return yv(v, z) if n == 0 else _differentiated(yv, -1, v, z, n)


def ivp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.ivp`."""
    from scipy.special import iv

    return iv(v, z) if n == 0 else _differentiated(iv, 1, v, z, n)


def kvp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.kvp`."""
    from scipy.special import kv

    return kv(v, z) if n == 0 else (-1) ** n * _differentiated(kv, 1, v, z, n)


def h1vp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.h1vp`."""
    from scipy.special import hankel1

    return hankel1(v, z) if n == 0 else _differentiated(hankel1, -1, v, z, n)


def h2vp(v: Any, z: Any, n: Any = 1) -> Any:
    """`scipy.special.h2vp`."""
    from scipy.special import hankel2

    return hankel2(v, z) if n == 0 else _differentiated(hankel2, -1, v, z, n)


def softplus(x: Any) -> Any:
    """`scipy.special.softplus`."""
    return np.logaddexp(0, x)
