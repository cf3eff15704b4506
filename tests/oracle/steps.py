"""Numbers with an infinitesimal imaginary part, and what functions of NumPy do to them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-40


def real_part(x: Any) -> Any:
    return x.z.real if isinstance(x, Step) else x


def _complex(x: Any) -> complex:
    return x.z if isinstance(x, Step) else complex(float(x))


def _floor_div(a: Any, b: Any) -> float:
    return float(np.floor_divide(float(real_part(a)), float(real_part(b))))


class Step:
    """A complex number that compares, rounds and branches like its real part."""

    __slots__ = ("z",)
    # NumPy's scalars must leave arithmetic with a `Step` to the `Step`.
    __array_ufunc__ = None

    def __init__(self, z: complex) -> None:
        self.z = z

    def __add__(self, other: Any) -> Step:
        return Step(self.z + _complex(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Step:
        return Step(self.z - _complex(other))

    def __rsub__(self, other: Any) -> Step:
        return Step(_complex(other) - self.z)

    def __mul__(self, other: Any) -> Step:
        return Step(self.z * _complex(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Step:
        return Step(self.z / _complex(other))

    def __rtruediv__(self, other: Any) -> Step:
        return Step(_complex(other) / self.z)

    def __floordiv__(self, other: Any) -> float:
        return _floor_div(self, other)

    def __rfloordiv__(self, other: Any) -> float:
        return _floor_div(other, self)

    def __mod__(self, other: Any) -> Step:
        return self - _lift(other) * _floor_div(self, other)

    def __rmod__(self, other: Any) -> Step:
        return _lift(other).__mod__(self)

    def __divmod__(self, other: Any) -> tuple[float, Step]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[float, Step]:
        return _lift(other).__divmod__(self)

    def __pow__(self, other: Any) -> Step:
        if not isinstance(other, Step) and float(other).is_integer():
            n = int(other)
            if n == 0:
                return Step(1.0 + 0.0j)
            # `complex ** int` goes through logarithms for large exponents.
            x = self.z.real
            return Step(complex(x**n, n * x ** (n - 1) * self.z.imag))
        return Step(cmath.exp(_complex(other) * cmath.log(self.z)))

    def __rpow__(self, other: Any) -> Step:
        return _lift(other).__pow__(self)

    def __neg__(self) -> Step:
        return Step(-self.z)

    def __pos__(self) -> Step:
        return self

    def __abs__(self) -> Step:
        return -self if self.z.real < 0.0 else self

    def __eq__(self, other: object) -> bool:
        return bool(self.z.real == real_part(other))

    def __ne__(self, other: object) -> bool:
        return bool(self.z.real != real_part(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.z.real < real_part(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.z.real <= real_part(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.z.real > real_part(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.z.real >= real_part(other))

    __hash__ = None  # type: ignore[assignment]  # what `__eq__` sets

    def __bool__(self) -> bool:
        return self.z.real != 0.0

    def __int__(self) -> int:
        return int(self.z.real)

    def __trunc__(self) -> int:
        return math.trunc(self.z.real)

    def __floor__(self) -> int:
        return math.floor(self.z.real)

    def __ceil__(self) -> int:
        return math.ceil(self.z.real)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.z.real, digits)

    def __repr__(self) -> str:
        return f"Step({self.z!r})"

    # There is deliberately no __float__: a derivative must not vanish unnoticed.


def _lift(x: Any) -> Step:
    return x if isinstance(x, Step) else Step(_complex(x))


def _expand(value: float, slope: float, z: complex) -> complex:
    return complex(value, slope * z.imag)


def _hypot(*xs: Any) -> Step:
    return Step(cmath.sqrt(sum(_complex(x) ** 2 for x in xs)))


def _atan2(y: Any, x: Any) -> Step:
    a, b = _complex(y), _complex(x)
    r2 = a.real * a.real + b.real * b.real
    return Step(complex(math.atan2(a.real, b.real), (a.imag * b.real - a.real * b.imag) / r2))


def _copysign(x: Any, y: Any) -> Step:
    step = _lift(x)
    same = math.copysign(1.0, step.z.real) == math.copysign(1.0, real_part(y))
    return step if same else -step


def _fmod(x: Any, y: Any) -> Step:
    quotient: int = math.trunc(real_part(x) / real_part(y))
    return _lift(x) - _lift(y) * quotient


def _remainder_of_ieee(x: Any, y: Any) -> Step:
    quotient: int = round(real_part(x) / real_part(y))
    return _lift(x) - _lift(y) * quotient


def _logaddexp(x: Any, y: Any) -> Step:
    top = max(real_part(x), real_part(y))
    return Step(cmath.log(cmath.exp(_complex(x) - top) + cmath.exp(_complex(y) - top)) + top)


def _minimum(x: Any, y: Any) -> Any:
    return x if real_part(x) <= real_part(y) else y


def _maximum(x: Any, y: Any) -> Any:
    return x if real_part(x) >= real_part(y) else y


def _analytic(fn: Callable[[complex], complex]) -> Callable[[Any], Step]:
    return lambda x: Step(fn(_complex(x)))


def _piecewise_constant(fn: Callable[[float], float]) -> Callable[[Any], float]:
    return lambda x: fn(real_part(x))


def _cbrt(z: complex) -> complex:
    y = math.cbrt(z.real)
    return _expand(y, 1.0 / (3.0 * y * y), z)


def _erf(z: complex) -> complex:
    return _expand(math.erf(z.real), 2.0 / math.sqrt(math.pi) * math.exp(-(z.real**2)), z)


def _erfc(z: complex) -> complex:
    return _expand(math.erfc(z.real), -2.0 / math.sqrt(math.pi) * math.exp(-(z.real**2)), z)


def _expm1(z: complex) -> complex:
    return _expand(math.expm1(z.real), math.exp(z.real), z)


def _log1p(z: complex) -> complex:
    return _expand(math.log1p(z.real), 1.0 / (1.0 + z.real), z)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _analytic(getattr(cmath, name)) for name in
       ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "exp", "sqrt", "log10")},
    "log2": _analytic(lambda z: cmath.log(z) / math.log(2.0)),
    "exp2": _analytic(lambda z: cmath.exp(z * math.log(2.0))),
    "expm1": _analytic(_expm1),
    "log1p": _analytic(_log1p),
    "cbrt": _analytic(_cbrt),
    "erf": _analytic(_erf),
    "erfc": _analytic(_erfc),
    "radians": lambda x: _lift(x) * (math.pi / 180.0),
    "degrees": lambda x: _lift(x) * (180.0 / math.pi),
    "fabs": abs,
    "hypot": _hypot,
    "atan2": _atan2,
    "pow": lambda x, y: _lift(x) ** y,
    "copysign": _copysign,
    "fmod": _fmod,
}  # fmt: skip

MATH: dict[str, Callable[..., Any]] = {
    **_FUNCTIONS,
    "log": lambda x, base=None: (
        Step(cmath.log(_complex(x)) / (1.0 if base is None else cmath.log(_complex(base))))
    ),
    "remainder": _remainder_of_ieee,
    **{name: _piecewise_constant(getattr(math, name)) for name in
       ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
}  # fmt: skip

NUMPY: dict[str, Callable[..., Any]] = {
    **_FUNCTIONS,
    **{f"arc{name[1:]}": _FUNCTIONS[name] for name in
       ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    "log": _analytic(cmath.log),
    "power": lambda x, y: _lift(x) ** y,
    "float_power": lambda x, y: _lift(x) ** y,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "deg2rad": _FUNCTIONS["radians"],
    "rad2deg": _FUNCTIONS["degrees"],
    "abs": abs,
    "absolute": abs,
    "minimum": _minimum,
    "maximum": _maximum,
    "fmin": _minimum,
    "fmax": _maximum,
    "logaddexp": _logaddexp,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "true_divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "remainder": lambda x, y: x % y,
    **{name: _piecewise_constant(getattr(np, name)) for name in
       ("floor", "ceil", "trunc", "rint", "sign", "isnan", "isinf", "isfinite", "signbit")},
}  # fmt: skip
