"""Functions of complex numbers: rows for the real and the imaginary part, and one derivative.

A function with a derivative f'(z) has the derivatives Re f', -Im f' of the real part by both parts
of z, and Im f', Re f' of the imaginary part (the equations of Cauchy and Riemann). What is not
analytic, as functions that are scaled by a modulus, has no row here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from adc.ir.opdef import OPS
from adc.ir.ops import parts
from adc.ir.ops.arith import gt, lt, select
from adc.ir.ops.scipy.error import PEAK, ROOT_HALF, ROOT_PI, SLOPE
from adc.ir.ops.ufuncs import ORDER, operands, ufunc

Function: TypeAlias = "Callable[..., Z]"


@dataclass(frozen=True)
class Z:
    """A complex number in a rule."""

    re: Any
    im: Any

    def __add__(self, other: Any) -> Z:
        return _z(parts.add(self.pair, _pair(other)))

    def __sub__(self, other: Any) -> Z:
        return _z(parts.sub(self.pair, _pair(other)))

    def __rsub__(self, other: Any) -> Z:
        return _z(parts.sub(_pair(other), self.pair))

    def __mul__(self, other: Any) -> Z:
        if isinstance(other, Z):
            return _z(parts.mul(self.pair, other.pair))
        return Z(other * self.re, other * self.im)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Z:
        if isinstance(other, Z):
            return _z(parts.divide(self.pair, other.pair))
        return Z(self.re / other, self.im / other)

    def __rtruediv__(self, other: Any) -> Z:
        inverse: Z = _z(parts.reciprocal(self.pair)) * other
        return inverse

    def __neg__(self) -> Z:
        return Z(-self.re, -self.im)

    @property
    def pair(self) -> tuple[Any, Any]:
        return self.re, self.im

    @property
    def times_i(self) -> Z:
        return Z(-self.im, self.re)

    @property
    def size2(self) -> Any:
        """The square of the modulus."""
        return self.re * self.re + self.im * self.im


def _z(pair: tuple[Any, Any]) -> Z:
    return Z(*pair)


def _pair(x: Any) -> tuple[Any, Any]:
    return x.pair if isinstance(x, Z) else (x, 0.0)


def _of(function: Callable[..., Any]) -> Callable[[Z], Z]:
    return lambda z: _z(function(z.pair))


exp, log, sin, cos = map(_of, (parts.exp, parts.log, parts.sin, parts.cos))
sinh, cosh = map(_of, (parts.sinh, parts.cosh))


def choose(cond: Any, a: Z, b: Z) -> Z:
    """Return one of two numbers."""
    return Z(select(cond, a.re, b.re), select(cond, a.im, b.im))


def analytic(
    name: str, *slopes: Callable[..., Z] | str | None, loop: str = "D->D", output: int = 0,
    suffix: str = "", cost: float = 150,
) -> Callable[..., Z]:  # fmt: skip
    """Enter the rows of a complex result of a ufunc; return it as a function of operands.

    `slopes` are the derivatives by the arguments, as functions of the result and the arguments.
    """
    places = operands(loop)
    names = [f"scipy_{name.lstrip('_')}{suffix}_{part}" for part in ("re", "im")]

    def value(*args: Any) -> Z:
        flat = [x for arg in args for x in (arg.pair if isinstance(arg, Z) else (arg,))]
        return Z(*[OPS[each](*flat) for each in names])

    def partial(slope: Callable[..., Z], part: int, of_imaginary: int) -> Callable[..., Any]:
        def rule(y: Any, *flat: Any) -> Any:
            args = [Z(*flat[at]) if at.stop - at.start == 2 else flat[at.start] for at in places]
            other = OPS[names[1 - part]](*flat)
            d = slope(Z(*((y, other) if part == 0 else (other, y))), *args)
            if part == 0:
                return -d.im if of_imaginary else d.re
            return d.re if of_imaginary else d.im

        return rule

    for part in (0, 1):
        partials: list[Any] = []
        for at, slope in zip(places, slopes, strict=True):
            for k in range(at.stop - at.start):
                partials.append(partial(slope, part, k) if callable(slope) else slope)
        ufunc(
            name, *partials, loop=loop, output=2 * output + part,
            suffix=f"{suffix}_{('re', 'im')[part]}", cost=cost,
        )  # fmt: skip
    return value


# --- error functions ------------------------------------------------------------------------------


def _series(sign: float, z: Z) -> Z:
    """Return the sum of ``sign ** k * (2 k + 1)!! / (2 z z) ** k``, over z z."""
    inverse = 1.0 / (z * z)
    t = (0.5 * sign) * inverse
    found: Any = 1.0
    for k in range(9, 0, -1):
        found = 1.0 + (2.0 * k + 1.0) * (t * found)
    result: Z = inverse * found
    return result


def _is_far(z: Z) -> Any:
    return gt(z.size2, 400.0)


def _slope_of_erfcx(w: Z, z: Z) -> Z:
    square = z * z
    beyond = 4.0 * (z * exp(square))
    zero = 0.0 * z.re
    far = (-1.0 / ROOT_PI) * _series(-1.0, z) + choose(lt(z.re, 0.0), beyond, Z(zero, zero))
    return choose(_is_far(z), far, 2.0 * (z * w) - SLOPE)


def _slope_of_wofz(w: Z, z: Z) -> Z:
    beyond = -4.0 * (z * exp(-(z * z)))
    zero = 0.0 * z.re
    far = (-1.0 / ROOT_PI) * _series(1.0, z).times_i
    far = far + choose(lt(z.im, 0.0), beyond, Z(zero, zero))
    return choose(_is_far(z), far, Z(0.0, SLOPE) - 2.0 * (z * w))


def _slope_of_dawsn(w: Z, z: Z) -> Z:
    beyond = (ROOT_PI * (z * exp(-(z * z)))).times_i
    far = -0.5 * _series(1.0, z) + choose(lt(z.im, 0.0), beyond, -beyond)
    return choose(_is_far(z), far, 1.0 - 2.0 * (z * w))


def _hazard(w: Z, z: Z) -> Z:
    below = math.sqrt(2.0 / math.pi) / erfcx(-ROOT_HALF * z)
    return choose(gt(z.re, 0.0), PEAK * exp(-0.5 * (z * z) - w), below)


analytic("erf", lambda w, z: SLOPE * exp(-(z * z)))
analytic("erfc", lambda w, z: -SLOPE * exp(-(z * z)))
erfcx: Function = analytic("erfcx", _slope_of_erfcx)
analytic("erfi", lambda w, z: SLOPE * exp(z * z))
analytic("dawsn", _slope_of_dawsn)
wofz: Function = analytic("wofz", _slope_of_wofz)
analytic("ndtr", lambda w, z: PEAK * exp(-0.5 * (z * z)))
analytic("log_ndtr", _hazard)

# --- gamma functions ------------------------------------------------------------------------------

psi: Function = analytic(
    "psi", "a complex argument: SciPy has no derivative of its digamma function there"
)
analytic("gamma", lambda w, z: w * psi(z))
analytic("loggamma", lambda w, z: psi(z))
analytic("rgamma", lambda w, z: -(w * psi(z)))

# --- elementary functions -------------------------------------------------------------------------

analytic("xlogy", lambda w, x, y: log(y), lambda w, x, y: x / y, loop="DD->D", cost=60)
analytic("xlog1py", lambda w, x, y: _log1p(y), lambda w, x, y: x / (1.0 + y), loop="DD->D", cost=60)
_log1p: Function = analytic("log1p", lambda w, z: 1.0 / (1.0 + z), cost=40)
analytic("expm1", lambda w, z: exp(z), cost=40)
analytic("wrightomega", lambda w, z: w / (1.0 + w))
analytic(
    "_lambertw",
    lambda w, z, k, tol: exp(-w) / (1.0 + w),
    "its branch",
    "its tolerance",
    loop="Dld->D",
)

# --- integrals ------------------------------------------------------------------------------------


def _over(f: Callable[[Z], Z], sign: float, z: Z) -> Z:
    """Return sin(z) / z or sinh(z) / z; near 0 they are series."""
    square = z * z
    series: Any = 1.0
    for k in range(9, 0, -1):
        series = 1.0 + (sign / (2.0 * k * (2.0 * k + 1.0))) * (square * series)
    return choose(lt(z.size2, 1.0), series, f(z) / z)


def _slope_of_spence(w: Z, z: Z) -> Z:
    u = z - 1.0
    series: Any = Z(0.0 * u.re, 0.0 * u.im)
    for k in range(15, -1, -1):
        series = (-1.0) ** (k + 1) / (k + 1.0) + u * series
    return choose(lt(u.size2, 0.01), series, -(log(z) / u))


analytic("exp1", lambda w, z: -(exp(-z) / z))
analytic("expi", lambda w, z: exp(z) / z)
analytic("spence", _slope_of_spence)
_QUARTER = 0.5 * math.pi
for _name, _slopes in (
    ("sici", (lambda w, z: _over(sin, -1.0, z), lambda w, z: cos(z) / z)),
    ("shichi", (lambda w, z: _over(sinh, 1.0, z), lambda w, z: cosh(z) / z)),
    ("fresnel", (lambda w, z: sin(_QUARTER * (z * z)), lambda w, z: cos(_QUARTER * (z * z)))),
):
    for _k, _slope in enumerate(_slopes):
        analytic(_name, _slope, loop="D->DD", output=_k, suffix=f"_{_k}")

# --- Bessel and Airy functions --------------------------------------------------------------------


def _recurrence(name: str, times: float, plus: float, turn: float = 0.0) -> None:
    """Enter a Bessel function of complex argument; `turn` is of a factor ``exp(i turn z)``."""

    def slope(w: Z, v: Any, z: Z) -> Z:
        found = times * (value(v - 1.0, z) + plus * value(v + 1.0, z))
        return found + turn * w.times_i if turn else found

    value = analytic(name, ORDER, slope, loop="dD->D", cost=300)


_recurrence("jv", 0.5, -1.0)
_recurrence("yv", 0.5, -1.0)
_recurrence("iv", 0.5, 1.0)
_recurrence("kv", -0.5, 1.0)
_recurrence("hankel1", 0.5, -1.0)
_recurrence("hankel2", 0.5, -1.0)
_recurrence("hankel1e", 0.5, -1.0, -1.0)
_recurrence("hankel2e", 0.5, -1.0, 1.0)

ai: Function = analytic("airy", lambda w, z: aip(z), loop="D->DDDD", suffix="_0")
aip: Function = analytic("airy", lambda w, z: z * ai(z), loop="D->DDDD", output=1, suffix="_1")
bi: Function = analytic("airy", lambda w, z: bip(z), loop="D->DDDD", output=2, suffix="_2")
bip: Function = analytic("airy", lambda w, z: z * bi(z), loop="D->DDDD", output=3, suffix="_3")

# --- hypergeometric functions ---------------------------------------------------------------------

_PARAMETER = "its parameter: the derivative has no closed form; use finite differences for it"
hyp0f1: Function = analytic(
    "hyp0f1", _PARAMETER, lambda w, v, z: hyp0f1(v + 1.0, z) / v, loop="dD->D", cost=500
)
hyp1f1: Function = analytic(
    "hyp1f1", _PARAMETER, _PARAMETER, lambda w, a, b, z: hyp1f1(a + 1.0, b + 1.0, z) * (a / b),
    loop="ddD->D", cost=500,
)  # fmt: skip
hyp2f1: Function = analytic(
    "hyp2f1", _PARAMETER, _PARAMETER, _PARAMETER,
    lambda w, a, b, c, z: hyp2f1(a + 1.0, b + 1.0, c + 1.0, z) * (a * b / c),
    loop="dddD->D", cost=500,
)  # fmt: skip

# --- the Voigt profile ----------------------------------------------------------------------------


def _voigt(wanted: int) -> Callable[..., Any]:
    """Return the derivative of the Voigt profile by x, sigma or gamma.

    It is the real part of ``wofz(z) / (sigma * sqrt(2 * pi))`` at
    ``z = (x + i gamma) / (sigma * sqrt(2))``.
    """

    def rule(y: Any, x: Any, sigma: Any, gamma: Any) -> Any:
        narrow = ROOT_HALF / sigma
        z = Z(narrow * x, narrow * gamma)
        slope = _slope_of_wofz(wofz(z), z)
        factor = narrow / ROOT_PI
        if wanted == 0:
            return factor * narrow * slope.re
        if wanted == 2:
            return -factor * narrow * slope.im
        return -(y + factor * (z * slope).re) / sigma

    return rule


ufunc("voigt_profile", _voigt(0), _voigt(1), _voigt(2), cost=100)

__all__ = ["Z", "analytic"]
