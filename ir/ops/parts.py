"""What operations do to complex numbers: arithmetic on their real and imaginary parts.

A complex number is a pair of traced operands (`adc.ir.rules`). The formulas are NumPy's where it
has its own, else those of W. Kahan, Branch cuts for complex elementary functions, or: much ado
about nothing's sign bit, 1987. So branch cuts are NumPy's, signs of zeros included. Derivatives
follow from the formulas: nothing here has a rule.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OPS, OpDef

Pair = tuple[Any, Any]


class _Rows:
    """The rows by their names: those that formulas apply are defined after this module."""

    def __getattr__(self, name: str) -> OpDef:
        return OPS[name]


row = _Rows()


def _either(cond: Any, a: Pair, b: Pair) -> Pair:
    return row.select(cond, a[0], b[0]), row.select(cond, a[1], b[1])


def _sized(x: Any) -> tuple[Any, Any]:
    """Return whether a number is not negative, and its modulus, differentiable at 0 from above.

    (The derivative of `abs` is 0 there, for that of a real number is not unique.)
    """
    right = row.ge(x, 0.0)
    return right, row.select(right, x, -x)


def _times_i(z: Pair) -> Pair:
    return -z[1], z[0]


def _over_i(z: Pair) -> Pair:
    return z[1], -z[0]


# --- arithmetic -----------------------------------------------------------------------------------


def add(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def sums(a: Pair, b: Pair) -> Pair:
    return row.sum(a[0], b[0]), row.sum(a[1], b[1])


def sub(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def mul(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def neg(z: Pair) -> Pair:
    return -z[0], -z[1]


def conj(z: Pair) -> Pair:
    return z[0], -z[1]


def square(z: Pair) -> Pair:
    return z[0] * z[0] - z[1] * z[1], z[0] * z[1] + z[1] * z[0]


def _inverse(b: Pair) -> tuple[Any, Any, Any]:
    """Return whether the real part is the larger one, smaller over larger, and a common factor."""
    wide = row.ge(row.abs(b[0]), row.abs(b[1]))
    large, small = row.select(wide, b[0], b[1]), row.select(wide, b[1], b[0])
    zero = row.eq(large, 0.0)
    ratio = row.select(zero, 0.0, small / row.select(zero, 1.0, large))
    return wide, ratio, 1.0 / (large + small * ratio)


def divide(a: Pair, b: Pair) -> Pair:
    """Divide without overflow on the way (R. L. Smith, Algorithm 116, 1962), as NumPy does.

    Operands change places instead of a branch, so that loops of it are vectorised. Of a divisor
    that is 0 the quotients of the parts are infinite or NaN, as NumPy's are.
    """
    wide, ratio, inverse = _inverse(b)
    # (x + iy) / (large + i small), and the conjugate of this where the parts changed places.
    x, y = row.select(wide, a[0], a[1]), row.select(wide, a[1], a[0])
    imag = (y - x * ratio) * inverse
    return (x + y * ratio) * inverse, row.select(wide, imag, -imag)


def reciprocal(z: Pair) -> Pair:
    wide, ratio, inverse = _inverse(z)
    return row.select(wide, 1.0, ratio) * inverse, -(row.select(wide, ratio, 1.0) * inverse)


# --- parts, comparison, selection -----------------------------------------------------------------


def whole(re: Any, im: Any) -> Pair:
    return re, im


def real(z: Pair) -> Any:
    return z[0]


def imag(z: Pair) -> Any:
    return z[1]


def modulus(z: Pair) -> Any:
    return row.hypot(z[0], z[1])


def eq(a: Pair, b: Pair) -> Any:
    return row.bitand(row.eq(a[0], b[0]), row.eq(a[1], b[1]))


def ne(a: Pair, b: Pair) -> Any:
    return row.bitor(row.ne(a[0], b[0]), row.ne(a[1], b[1]))


def _ordered(strict: str, either: str) -> Any:
    def compare(a: Pair, b: Pair) -> Any:
        """Compare real parts, and imaginary parts where these are equal.

        As in NumPy's functions, an imaginary part that is NaN makes it False.
        """
        known = row.bitor(row.le(a[1], b[1]), row.gt(a[1], b[1]))
        first = row.bitand(OPS[strict](a[0], b[0]), known)
        return row.bitor(first, row.bitand(row.eq(a[0], b[0]), OPS[either](a[1], b[1])))

    return compare


lt, le = _ordered("lt", "lt"), _ordered("lt", "le")
gt, ge = _ordered("gt", "gt"), _ordered("gt", "ge")


def isnan(z: Pair) -> Any:
    return row.bitor(row.isnan(z[0]), row.isnan(z[1]))


def isinf(z: Pair) -> Any:
    return row.bitor(row.isinf(z[0]), row.isinf(z[1]))


def isfinite(z: Pair) -> Any:
    return row.bitand(row.isfinite(z[0]), row.isfinite(z[1]))


def select(cond: Any, a: Pair, b: Pair) -> Pair:
    return _either(cond, a, b)


def maximum(a: Pair, b: Pair) -> Pair:
    return _either(row.bitor(isnan(a), ge(a, b)), a, b)


def minimum(a: Pair, b: Pair) -> Pair:
    return _either(row.bitor(isnan(a), le(a, b)), a, b)


def fmax(a: Pair, b: Pair) -> Pair:
    return _either(isnan(b), a, _either(isnan(a), b, _either(ge(a, b), a, b)))


def fmin(a: Pair, b: Pair) -> Pair:
    return _either(isnan(b), a, _either(isnan(a), b, _either(le(a, b), a, b)))


def each(name: str) -> Any:
    """Return the function that applies a row to both parts."""
    return lambda z: (OPS[name](z[0]), OPS[name](z[1]))


def sign(z: Pair) -> Pair:
    """Divide by the modulus; 0 stays 0."""
    size = row.hypot(z[0], z[1])
    zero = row.eq(size, 0.0)
    by = row.select(zero, 1.0, size)
    return row.select(zero, 0.0, z[0] / by), row.select(zero, 0.0, z[1] / by)


# --- powers, exponentials, logarithms -------------------------------------------------------------


def sqrt(z: Pair) -> Pair:
    x, y = z
    right, along = _sized(x)
    # Of halves, for the modulus may overflow.
    size = row.sqrt(0.5 * along + 0.5 * row.hypot(x, y))
    zero = row.eq(size, 0.0)
    other = row.select(zero, y, 0.5 * y / row.select(zero, 1.0, size))
    return (
        row.select(right, size, row.abs(other)),
        row.select(right, other, row.copysign(size, y)),
    )


def _scaled(size: Any, y: Any) -> Pair:
    """Return the point at angle `y`; infinity on the real axis is real."""
    on_axis = row.bitand(row.eq(y, 0.0), row.isinf(size))
    return size * row.cos(y), row.select(on_axis, y, size * row.sin(y))


def exp(z: Pair) -> Pair:
    return _scaled(row.exp(z[0]), z[1])


def exp2(z: Pair) -> Pair:
    return exp((z[0] * math.log(2.0), z[1] * math.log(2.0)))


def expm1(z: Pair) -> Pair:
    half = row.sin(0.5 * z[1])
    size = row.exp(z[0])
    return row.expm1(z[0]) * row.cos(z[1]) - 2.0 * (half * half), size * row.sin(z[1])


def log(z: Pair) -> Pair:
    return row.log(row.hypot(z[0], z[1])), row.atan2(z[1], z[0])


def log2(z: Pair) -> Pair:
    size, angle = log(z)
    return size * (1.0 / math.log(2.0)), angle * (1.0 / math.log(2.0))


def log10(z: Pair) -> Pair:
    size, angle = log(z)
    return size * (1.0 / math.log(10.0)), angle * (1.0 / math.log(10.0))


def log1p(z: Pair) -> Pair:
    x, y = z
    return 0.5 * row.log1p(x * (2.0 + x) + y * y), row.atan2(y, 1.0 + x)


def power(a: Pair, b: Pair) -> Pair:
    """Return ``exp(b * log(a))``; 0 to a positive power is 0."""
    zero = row.bitand(row.eq(a[0], 0.0), row.eq(a[1], 0.0))
    base = row.select(zero, 1.0, a[0]), a[1]
    found = exp(mul(b, log(base)))
    defined = row.bitand(row.gt(b[0], 0.0), row.eq(b[1], 0.0))
    nothing = row.select(defined, 0.0, math.nan * b[0])
    none = row.bitand(row.eq(b[0], 0.0), row.eq(b[1], 0.0))
    found = row.select(zero, nothing, found[0]), row.select(zero, nothing, found[1])
    return row.select(none, 1.0, found[0]), row.select(none, 0.0, found[1])


# --- trigonometric and hyperbolic functions -------------------------------------------------------


def sinh(z: Pair) -> Pair:
    return row.sinh(z[0]) * row.cos(z[1]), row.cosh(z[0]) * row.sin(z[1])


def cosh(z: Pair) -> Pair:
    return row.cosh(z[0]) * row.cos(z[1]), row.sinh(z[0]) * row.sin(z[1])


def tanh(z: Pair) -> Pair:
    """Kahan's formula; far from the imaginary axis the limit, whose squares do not overflow."""
    x, y = z
    right, along = _sized(x)
    far = row.gt(along, 20.0)
    t = row.tan(y)
    s = row.sinh(row.select(far, 0.0, x))
    beta = 1.0 + t * t
    by = 1.0 + beta * (s * s)
    decay = 2.0 * row.exp(-2.0 * along)
    limit = 1.0 - decay * row.cos(2.0 * y)
    return (
        row.select(far, row.select(right, limit, -limit), (beta * row.sqrt(1.0 + s * s)) * s / by),
        row.select(far, decay * row.sin(2.0 * y), t / by),
    )


def sin(z: Pair) -> Pair:
    return row.sin(z[0]) * row.cosh(z[1]), row.cos(z[0]) * row.sinh(z[1])


def cos(z: Pair) -> Pair:
    return row.cos(z[0]) * row.cosh(z[1]), -(row.sin(z[0]) * row.sinh(z[1]))


def tan(z: Pair) -> Pair:
    return _over_i(tanh(_times_i(z)))


def _roots(z: Pair) -> tuple[Pair, Pair]:
    """Return the roots of 1 - z and 1 + z."""
    return sqrt((1.0 - z[0], -z[1])), sqrt((1.0 + z[0], z[1]))


def arcsin(z: Pair) -> Pair:
    below, above = _roots(z)
    product = mul(below, above)
    return row.atan2(z[0], product[0]), row.asinh(below[0] * above[1] - below[1] * above[0])


def arccos(z: Pair) -> Pair:
    below, above = _roots(z)
    angle = 2.0 * row.atan2(below[0], above[0])
    return angle, row.asinh(above[0] * below[1] - above[1] * below[0])


def arctan(z: Pair) -> Pair:
    return _over_i(arctanh(_times_i(z)))


def arcsinh(z: Pair) -> Pair:
    return _over_i(arcsin(_times_i(z)))


def arccosh(z: Pair) -> Pair:
    below, above = sqrt((z[0] - 1.0, z[1])), sqrt((z[0] + 1.0, z[1]))
    product = below[0] * above[0] + below[1] * above[1]
    return row.asinh(product), 2.0 * row.atan2(below[1], above[0])


def arctanh(z: Pair) -> Pair:
    x, y = z
    right, along = _sized(x)
    half = 0.25 * row.log1p(4.0 * along / ((1.0 - along) * (1.0 - along) + y * y))
    # On the cuts the angle has the sign of `y`, as its zero has.
    return (
        row.select(right, half, -half),
        0.5 * row.atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y),
    )
