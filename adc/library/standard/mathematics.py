"""Functions of `math`, and one of `cmath`, that are a few lines of Python.

References
----------
.. [1] J. R. Shewchuk. Adaptive precision floating-point arithmetic and fast robust geometric
   predicates. Discrete & Computational Geometry 18, 1997.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient

# Powers of ten that are exact, and the number from which all floats are whole.
_TENS = np.array([float(10**k) for k in range(23)])
_INTEGER_TENS = np.array([10**k for k in range(19)])
_WHOLE = 2.0**53


def prod(iterable: Any, *, start: Any = 1) -> Any:
    """`math.prod`."""
    result = start
    for item in iterable:
        result = result * item
    return result


def dist(p: Any, q: Any) -> Any:
    """`math.dist`, without protection against overflow of the squares."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    total = 0.0
    for a, b in zip(p, q, strict=False):
        total += float(a - b) ** 2
    return math.sqrt(total)


def comb(n: int, k: int) -> int:
    """`math.comb`."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    if k > n:
        result = 0
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result


def perm(n: int, k: int | None = None) -> int:
    """`math.perm`."""
    count = n if k is None else k
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if count < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for i in range(count):
        result = result * (n - i)
    return result


def factorial(n: int) -> int:
    """`math.factorial`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, n + 1):
        result = result * k
    return result


def isqrt(n: int) -> int:
    """`math.isqrt`, by correcting the rounded square root."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root > n // max(root, 1):
        root = root - 1
    while root + 1 <= n // (root + 1):
        root = root + 1
    return root


def lcm(*integers: int) -> int:
    """`math.lcm`."""
    result = 1
    for n in integers:
        if n == 0 or result == 0:
            result = 0
        else:
            result = abs(result // math.gcd(result, n) * n)
    return result


def isclose(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    """`math.isclose`."""
    _require_tolerances(rel_tol, abs_tol)
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return _is_near(abs(b - a), abs(a), abs(b), rel_tol, abs_tol)


def complex_isclose(
    a: complex, b: complex, *, rel_tol: float = 1e-09, abs_tol: float = 0.0
) -> bool:  # fmt: skip
    """`cmath.isclose`."""
    _require_tolerances(rel_tol, abs_tol)
    if a == b:
        return True
    if math.isinf(a.real) or math.isinf(a.imag) or math.isinf(b.real) or math.isinf(b.imag):
        return False
    # What is too large is infinite, not an error.
    apart, first, second = (math.hypot(z.real, z.imag) for z in (a - b, a, b))
    return _is_near(apart, first, second, rel_tol, abs_tol)


def _require_tolerances(rel_tol: float, abs_tol: float) -> None:
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")


def _is_near(apart: float, a: float, b: float, rel_tol: float, abs_tol: float) -> bool:
    return apart <= rel_tol * b or apart <= rel_tol * a or apart <= abs_tol


def modf(x: float, /) -> tuple[float, float]:
    """`math.modf`."""
    if math.isinf(x):
        return math.copysign(0.0, x), x
    # A remainder has the sign of `x`, also where it is 0.
    return math.fmod(x, 1.0), float(np.trunc(x))


def frexp(x: float, /) -> tuple[float, int]:
    """`math.frexp`, by correcting the rounded logarithm."""
    if x == 0.0 or not math.isfinite(x):
        return x, 0
    e = math.floor(math.log2(abs(x))) + 1
    m = math.ldexp(x, -e)
    if abs(m) >= 1.0:
        m, e = 0.5 * m, e + 1
    if abs(m) < 0.5:
        m, e = 2.0 * m, e - 1
    return m, e


def remainder(x: float, y: float, /) -> float:
    """`math.remainder`: to the nearest multiple, of two that are as near to the even one."""
    if math.isnan(x) or math.isnan(y):
        return x + y
    if math.isinf(x) or y == 0.0:
        raise ValueError("math domain error")
    if math.isinf(y):
        return x
    # Signs are factors, which have derivatives at 0 as well.
    sign = math.copysign(1.0, x)
    size, step = x * sign, abs(y)
    m = math.fmod(size, step)
    other = step - m
    if m > other:
        m = -other
    elif m == other:
        m = m - 2.0 * math.fmod(0.5 * (size - m), step)
    return sign * m


def round_float(number: float, ndigits: int) -> float:
    """`round` of a float: to the nearest decimal number, of two that are as near to the even one.

    What is rounded is the binary number, exactly: ``round(2.675, 2)`` is 2.67.
    """
    x = stop_gradient(number)
    size = abs(x)
    if not size < math.inf:
        return x
    places = abs(ndigits)
    if places >= len(_TENS):
        if ndigits < 0 and size < 0.5e23:
            return math.copysign(0.0, x)
        if ndigits > 0 and (size == 0.0 or size >= 1e-6):
            return x
        raise Unsupported("`round` to more than 22 digits of such a number", "use fewer digits")
    step = float(_TENS[places])
    if ndigits >= 0:
        scaled = size * step
        error = _product_error(size, step)
        # A float whose last place is worth more than the digit is the nearest to its decimal.
        if scaled > _WHOLE or (scaled == _WHOLE and error > 0.0):
            return x
        count = _round_half_even(scaled, error)
        return math.copysign(count / step, x)
    if size / step >= 2.0 * _WHOLE:
        return x
    rest = math.fmod(size, step)
    count = float(np.rint((size - rest) / step))
    if count >= 0.25 * _WHOLE:
        raise Unsupported("`round` of 16 digits of a number beyond 2**53", "divide first")
    if rest > step - rest or (rest == step - rest and count % 2.0 == 1.0):
        count += 1.0
    return math.copysign(count * step, x)


def _product_error(a: float, b: float) -> float:
    """Return what rounding took from the product of two floats, whose halves are exact [1]_."""
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((a * b - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _high_half(x: float) -> float:
    shifted = 134217729.0 * x
    return shifted - (shifted - x)


def _round_half_even(x: float, error: float) -> float:
    """Round ``x + error`` to a whole number, where ``error`` is at most half the spacing at x."""
    below = float(np.floor(x))
    beyond = (x - below) - 0.5 + error
    if beyond > 0.0 or (beyond == 0.0 and below % 2.0 == 1.0):
        below += 1.0
    return below


def round_int(number: int, ndigits: int) -> int:
    """`round` of an int to tens, hundreds and so on."""
    if ndigits >= 0:
        return number
    if ndigits < -18:
        if abs(number) < 4 * 10**18:
            return 0
        raise Unsupported("`round` to more than 18 digits of such a number", "use fewer digits")
    step = int(_INTEGER_TENS[-ndigits])
    count, rest = divmod(number, step)
    if 2 * rest > step or (2 * rest == step and count % 2 == 1):
        count += 1
    return count * step


def ulp(x: float, /) -> float:
    """`math.ulp`."""
    size = abs(stop_gradient(x))
    if not math.isfinite(size):
        return size
    above = math.nextafter(size, math.inf)
    if math.isinf(above):
        return size - math.nextafter(size, 0.0)
    return above - size


# More than the numbers in a sum of doubles that do not overlap: they have 2098 binary places.
_PLACES = 2200


def fsum(seq: Any, /) -> float:
    """`math.fsum`: the sum of all that was rounded off, in numbers that do not overlap [1]_."""
    partials = np.zeros(_PLACES)
    n = 0
    infinite, special, carried = 0.0, 0.0, 0.0
    for item in seq:
        if isinstance(item, str):  # which `float` converts
            raise TypeError("must be real number, not str")
        given = float(item)
        x = stop_gradient(given)
        kept = 0
        for k in range(n):
            y = partials[k]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            x = high
        n = kept
        if math.isfinite(x):
            # The derivative: 0 in value.
            carried += given - stop_gradient(given)
            if x != 0.0:
                partials[n] = x
                n += 1
        else:
            if math.isfinite(given):
                raise OverflowError("intermediate overflow in fsum")
            if math.isinf(given):
                infinite += given
            special += given
            n = 0
    if special != 0.0:
        if math.isnan(infinite):
            raise ValueError("-inf + inf in fsum")
        return special
    high, low = 0.0, 0.0
    while n > 0 and low == 0.0:
        n -= 1
        x, y = high, partials[n]
        high = x + y
        low = y - (high - x)
    # Halfway between two numbers, what is left decides.
    if n > 0 and ((low < 0.0 and partials[n - 1] < 0.0) or (low > 0.0 and partials[n - 1] > 0.0)):
        y = 2.0 * low
        x = high + y
        if y == x - high:
            high = x
    return float(high) + carried


def bit_length(n: int) -> int:
    """`int.bit_length`."""
    n = abs(n)
    count = 0
    while n > 0:
        n >>= 1
        count += 1
    return count
