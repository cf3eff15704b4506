"""Polynomials as objects: `np.poly1d`, the highest power first, and `Polynomial`, the lowest first.

The names, the order of operations and the errors are NumPy's; those of variables are not kept.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from adc.library import Unsupported
from adc.library.arrays import polynomial


def _is_array(value: Any) -> bool:
    """Whether NumPy computes ``value * p`` with the elements of `p`, as those of an array."""
    return isinstance(value, np.ndarray | np.generic)


class poly1d:
    """`numpy.poly1d`."""

    # Methods do what NumPy does with its coefficients where an array or its number is on the left.
    __array_ufunc__ = None

    def __init__(self, c_or_r: Any, r: Any = False, variable: Any = None) -> None:
        self.coeffs: Any
        if isinstance(c_or_r, poly1d):
            self.coeffs = c_or_r.coeffs
        elif r:
            self.coeffs = polynomial.trimmed(polynomial.poly(c_or_r))
        else:
            self.coeffs = polynomial.trimmed(c_or_r)

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def o(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def roots(self) -> Any:
        return polynomial.roots(self.coeffs)

    @property
    def r(self) -> Any:
        return polynomial.roots(self.coeffs)

    def __len__(self) -> Any:
        return len(self.coeffs) - 1

    def __call__(self, val: Any) -> Any:
        if isinstance(val, poly1d):
            found = poly1d([0.0])
            for each in self.coeffs:
                found = found * val + each
            return found
        return np.polyval(self.coeffs, val)

    def __iter__(self) -> Any:
        yield from self.coeffs

    def __neg__(self) -> Any:
        return poly1d(-self.coeffs)

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        if np.isscalar(other):
            return poly1d(self.coeffs * other)
        return poly1d(np.polymul(self.coeffs, poly1d(other).coeffs))

    def __rmul__(self, other: Any) -> Any:
        if _is_array(other):
            return other * self.coeffs
        if np.isscalar(other):
            return poly1d(other * self.coeffs)
        return poly1d(np.polymul(self.coeffs, poly1d(other).coeffs))

    def __add__(self, other: Any) -> Any:
        return poly1d(np.polyadd(self.coeffs, poly1d(other).coeffs))

    def __radd__(self, other: Any) -> Any:
        if _is_array(other):
            return other + self.coeffs
        return poly1d(np.polyadd(self.coeffs, poly1d(other).coeffs))

    def __sub__(self, other: Any) -> Any:
        return poly1d(np.polysub(self.coeffs, poly1d(other).coeffs))

    def __rsub__(self, other: Any) -> Any:
        if _is_array(other):
            return other - self.coeffs
        return poly1d(np.polysub(poly1d(other).coeffs, self.coeffs))

    def __pow__(self, val: Any) -> Any:
        if val < 0 or int(val) != val:
            raise ValueError("Power to non-negative integers only.")
        power: Any = np.ones(1, np.int64)
        for _ in range(val):
            power = np.polymul(self.coeffs, power)
        return poly1d(power)

    def __truediv__(self, other: Any) -> Any:
        if np.isscalar(other):
            return poly1d(self.coeffs / other)
        quotient, rest = np.polydiv(self.coeffs, poly1d(other).coeffs)
        return poly1d(quotient), poly1d(rest)

    def __rtruediv__(self, other: Any) -> Any:
        if _is_array(other) or np.isscalar(other):
            return other / self.coeffs if _is_array(other) else poly1d(other / self.coeffs)
        quotient, rest = np.polydiv(poly1d(other).coeffs, self.coeffs)
        return poly1d(quotient), poly1d(rest)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, poly1d):
            return False
        if self.coeffs.shape != other.coeffs.shape:
            return False
        return (self.coeffs == other.coeffs).all()

    def __getitem__(self, val: Any) -> Any:
        if val > self.order or val < 0:
            return self.coeffs.dtype.type(0)
        return self.coeffs[self.order - val]

    def __setitem__(self, key: Any, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            raise Unsupported(
                "a new coefficient above the highest of a `poly1d`", "make it with zeros, and add"
            )
        self.coeffs[self.order - key] = val

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        return poly1d(np.polyint(self.coeffs, m=m, k=k))

    def deriv(self, m: Any = 1) -> Any:
        return poly1d(np.polyder(self.coeffs, m=m))


def _coefficients(c: Any) -> Any:
    found = np.atleast_1d(np.asarray(c))
    if found.size == 0:
        raise ValueError("Coefficient array is empty")
    if found.ndim != 1:
        raise ValueError("Coefficient array is not 1-d")
    return found.copy() if found.dtype.kind in "fc" else found.astype(np.float64)


def _lean(c: Any) -> Any:
    """Return coefficients without those of the highest powers that are 0, at least one."""
    size = len(c)
    while size > 1 and c[size - 1] == 0:
        size -= 1
    return c[:size]


def _ends(given: Any, word: str) -> Any:
    found = np.asarray(given)
    if len(found) != 2:
        raise ValueError(f"{word} has wrong number of elements.")
    return found if found.dtype.kind in "fc" else found.astype(np.float64)


def _line(old: Any, new: Any) -> Any:
    """Return offset and scale of the line that maps one interval to another."""
    length = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / length, (new[1] - new[0]) / length


def _quotient(first: Any, second: Any) -> Any:
    """Return the quotient of two polynomials, and the rest."""
    a, b = _lean(_coefficients(first)), _lean(_coefficients(second))
    a = a.astype(np.result_type(a, b))
    if b[len(b) - 1] == 0:
        raise ZeroDivisionError
    if len(a) < len(b):
        return a[:1] * 0, a
    scale = b[len(b) - 1]
    if len(b) == 1:
        return a / scale, a[:1] * 0
    b = b[: len(b) - 1] / scale
    last = len(a) - 1
    for i in range(len(a) - len(b) - 1, -1, -1):
        a[i:last] -= b * a[last]
        last -= 1
    return a[last + 1 :] / scale, _lean(a[: last + 1])


class Polynomial:
    """`numpy.polynomial.Polynomial`."""

    __array_ufunc__ = None

    def __init__(
        self, coef: Any, domain: Any = None, window: Any = None, symbol: Any = "x"
    ) -> None:
        self.coef = _coefficients(coef)
        self.domain = np.array([-1.0, 1.0]) if domain is None else _ends(domain, "Domain")
        self.window = np.array([-1.0, 1.0]) if window is None else _ends(window, "Window")

    def _made(self, coef: Any) -> Any:
        return Polynomial(coef, self.domain, self.window)

    def _of(self, other: Any) -> Any:
        if not isinstance(other, Polynomial):
            return other
        if not np.all(self.domain == other.domain):
            raise TypeError("Domains differ")
        if not np.all(self.window == other.window):
            raise TypeError("Windows differ")
        return other.coef

    def __call__(self, arg: Any) -> Any:
        offset, scale = self.mapparms()
        if isinstance(arg, Polynomial):
            return self._composed(arg * scale + offset)
        at = arg if np.isscalar(arg) else np.asarray(arg)
        return np.polynomial.polynomial.polyval(offset + scale * at, self.coef)

    def _composed(self, inner: Any) -> Any:
        found = inner * 0.0 + self.coef[-1]
        for k in range(len(self.coef) - 2, -1, -1):
            found = found * inner + self.coef[k]
        return found

    def __iter__(self) -> Any:
        yield from self.coef

    def __len__(self) -> Any:
        return len(self.coef)

    def __neg__(self) -> Any:
        return self._made(-self.coef)

    def __pos__(self) -> Any:
        return self

    def _sum(self, first: Any, second: Any) -> Any:
        a, b = _lean(_coefficients(first)), _lean(_coefficients(second))
        found = np.zeros(max(len(a), len(b)), np.result_type(a, b))
        found[: len(a)] += a
        found[: len(b)] += b
        return self._made(_lean(found))

    def _product(self, first: Any, second: Any) -> Any:
        a, b = _lean(_coefficients(first)), _lean(_coefficients(second))
        return self._made(_lean(np.convolve(a, b)))

    def __add__(self, other: Any) -> Any:
        return self._sum(self.coef, self._of(other))

    def __radd__(self, other: Any) -> Any:
        return self._sum(other, self.coef)

    def __sub__(self, other: Any) -> Any:
        return self._sum(self.coef, -_coefficients(self._of(other)))

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, -self.coef)

    def __mul__(self, other: Any) -> Any:
        return self._product(self.coef, self._of(other))

    def __rmul__(self, other: Any) -> Any:
        return self._product(other, self.coef)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, numbers.Number) or isinstance(other, bool):
            raise TypeError("unsupported types for true division")
        return self._made(_quotient(self.coef, other)[0])

    def __floordiv__(self, other: Any) -> Any:
        return self._made(_quotient(self.coef, self._of(other))[0])

    def __mod__(self, other: Any) -> Any:
        return self._made(_quotient(self.coef, self._of(other))[1])

    def __divmod__(self, other: Any) -> Any:
        quotient, rest = _quotient(self.coef, self._of(other))
        return self._made(quotient), self._made(rest)

    def __pow__(self, other: Any) -> Any:
        if other < 0 or int(other) != other:
            raise ValueError("Power must be a non-negative integer.")
        if other > 100:
            raise ValueError("Power is too large")
        found = np.ones(1, self.coef.dtype)
        for _ in range(other):
            found = _lean(np.convolve(found, _lean(self.coef)))
        return self._made(found)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, Polynomial):
            return False
        if self.coef.shape != other.coef.shape:
            return False
        ends = np.all(self.domain == other.domain) and np.all(self.window == other.window)
        return ends and np.all(self.coef == other.coef)

    def copy(self) -> Any:
        return self._made(self.coef)

    def degree(self) -> Any:
        return len(self.coef) - 1

    def cutdeg(self, deg: Any) -> Any:
        return self.truncate(deg + 1)

    def truncate(self, size: Any) -> Any:
        if size < 1:
            raise ValueError("size must be a positive integer")
        return self._made(self.coef if size >= len(self.coef) else self.coef[:size])

    def trim(self, tol: Any = 0) -> Any:
        if tol < 0:
            raise ValueError("tol must be non-negative")
        size = len(self.coef)
        while size > 0 and not np.abs(self.coef[size - 1]) > tol:
            size -= 1
        return self._made(self.coef[:1] * 0 if size == 0 else self.coef[:size])

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
        if kind is not None and kind is not np.polynomial.Polynomial:
            raise Unsupported("polynomials in another basis", "leave out `kind`")
        plain = Polynomial([0.0], domain, window)
        offset, scale = _line(plain.window, plain.domain)
        return self(Polynomial([offset, scale], plain.domain, plain.window))

    def mapparms(self) -> Any:
        return _line(self.domain, self.window)

    def integ(self, m: Any = 1, k: Any = (), lbnd: Any = None) -> Any:
        if m < 0:
            raise ValueError("The order of integration must be non-negative")
        constants = np.atleast_1d(np.asarray(k))
        if len(constants) > m:
            raise ValueError("Too many integration constants")
        offset, scale = self.mapparms()
        start = 0.0 if lbnd is None else offset + scale * lbnd
        n = len(self.coef)
        found = np.zeros(n + m, self.coef.dtype)
        found[:n] = self.coef
        for step in range(m):
            size = n + step
            found[1 : size + 1] = found[:size] / scale / np.arange(1, size + 1)
            found[0] = 0.0
            constant = constants[step] if step < len(constants) else 0.0
            value = np.polynomial.polynomial.polyval(start, found[: size + 1])
            found[0] = constant - value
        return self._made(found)

    def deriv(self, m: Any = 1) -> Any:
        if m < 0:
            raise ValueError("The order of derivation must be non-negative")
        scale = self.mapparms()[1]
        n = len(self.coef)
        if m >= n:
            return self._made(self.coef[:1] * 0)
        found = self.coef
        for step in range(m):
            found = found[1:] * scale * np.arange(1, n - step)
        return self._made(found)

    def roots(self) -> Any:
        """Return the roots, sorted; complex ones if any of them is."""
        found = np.sort(polynomial.roots(_lean(self.coef)[::-1]))
        offset, scale = _line(self.window, self.domain)
        return offset + scale * found

    def linspace(self, n: Any = 100, domain: Any = None) -> Any:
        ends = self.domain if domain is None else np.asarray(domain)
        x = np.linspace(ends[0], ends[1], n)
        return x, self(x)


def fit(
    x: Any, y: Any, deg: Any, domain: Any = None, rcond: Any = None, full: Any = False,
    w: Any = None, window: Any = None, symbol: Any = "x",
) -> Any:  # fmt: skip
    """`numpy.polynomial.Polynomial.fit`."""
    if full:
        raise Unsupported("`Polynomial.fit` with `full`", "use `np.linalg.lstsq`")
    at = _coefficients(x)
    if domain is None:
        first, last = np.min(at), np.max(at)
        if first == last:
            first, last = first - 1.0, last + 1.0
        ends = np.array([first, last])
    elif len(domain) == 0:
        ends = np.array([-1.0, 1.0])
    else:
        ends = np.asarray(domain)
    offset, scale = Polynomial([0.0], ends, window).mapparms()
    coef = np.polyfit(offset + scale * at, y, deg, rcond, False, w)
    return Polynomial(coef[::-1], ends, window)


def fromroots(roots: Any, domain: Any = (), window: Any = None, symbol: Any = "x") -> Any:
    """`numpy.polynomial.Polynomial.fromroots`."""
    at = _coefficients(roots)
    if domain is None:
        ends = np.array([np.min(at), np.max(at)])
    elif len(domain) == 0:
        ends = np.array([-1.0, 1.0])
    else:
        ends = np.asarray(domain)
    offset, scale = Polynomial([0.0], ends, window).mapparms()
    coef = np.poly(offset + scale * at)[::-1]
    return Polynomial(coef / scale ** len(at), ends, window)


__all__ = ["Polynomial", "fit", "fromroots", "poly1d"]
