"""Bessel, Struve, Kelvin and Airy functions; spherical Bessel functions; integrals of them.

The derivatives are recurrences in the order (`DLMF <https://dlmf.nist.gov/10.6>`_ and 10.29), which
hold at zero as well. Those of scaled functions are differences of almost equal numbers far out,
where asymptotic series take their place. By the order itself there is no closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import absolute, gt, lt, maximum, select, sign
from adc.ir.ops.math import exp, pow_, sqrt
from adc.ir.ops.scipy.gamma import gamma
from adc.ir.ops.ufuncs import ORDER, ufunc


def _between(row: Callable[[], OpDef], plus: float) -> Callable[..., Any]:
    """Return the rule that the derivative of a row is from its orders before and after."""
    return lambda y, v, x: 0.5 * (row()(v - 1.0, x) + plus * row()(v + 1.0, x))


def _with_before(row: Callable[[], OpDef]) -> Callable[..., Any]:
    """Return the rule that the derivative of a K is from itself and the order before.

    They have the same sign: nothing cancels, and one evaluation less is needed.
    """

    def rule(y: Any, v: Any, x: Any) -> Any:
        order, inside = absolute(v), gt(x, 0.0)
        return -(row()(order - 1.0, x) + select(inside, order * y / select(inside, x, 1.0), y))

    return rule


def _over_x(flip: float, y: Any, x: Any) -> Any:
    """Return J1(x) / x, or I1(x) / x with `flip` 1, given J1(x); near 0 by a series."""
    t = (0.25 * flip) * (x * x)
    series: Any = 1.0
    for k in range(8, 0, -1):
        series = 1.0 + t * series / (k * (k + 1.0))
    near = lt(absolute(x), 0.5)
    return select(near, 0.5 * series, y / select(near, 1.0, x))


# --- of real numbers ------------------------------------------------------------------------------

j0: OpDef = ufunc("j0", lambda y, x: -j1(x), cost=40, device="j0")
j1: OpDef = ufunc("j1", lambda y, x: j0(x) - _over_x(-1.0, y, x), cost=40, device="j1")
y0: OpDef = ufunc("y0", lambda y, x: -y1(x), cost=50, device="y0")
y1: OpDef = ufunc("y1", lambda y, x: y0(x) - y / x, cost=50, device="y1")
jv: OpDef = ufunc("jv", ORDER, _between(lambda: jv, -1.0), cost=300)
jve: OpDef = ufunc("jve", ORDER, _between(lambda: jve, -1.0), cost=300)
yn: OpDef = ufunc("yn", ORDER, _between(lambda: yn, -1.0), loop="ld->d", cost=100)
yv: OpDef = ufunc("yv", ORDER, _between(lambda: yv, -1.0), cost=300)
yve: OpDef = ufunc("yve", ORDER, _between(lambda: yve, -1.0), cost=300)
i0: OpDef = ufunc("i0", lambda y, x: i1(x), cost=40)
i1: OpDef = ufunc("i1", lambda y, x: i0(x) - _over_x(1.0, y, x), cost=40)
iv: OpDef = ufunc("iv", ORDER, _between(lambda: iv, 1.0), cost=300)
k0: OpDef = ufunc("k0", lambda y, x: -k1(x), cost=40)
k1: OpDef = ufunc("k1", lambda y, x: -k0(x) - y / x, cost=40)
kn: OpDef = ufunc("kn", ORDER, _with_before(lambda: kn), loop="ld->d", cost=100)
kv: OpDef = ufunc("kv", ORDER, _with_before(lambda: kv), cost=300)


def _far(v: Any, x: Any) -> Any:
    """Return whether the terms of asymptotic series decrease fast."""
    return gt(absolute(x), 50.0 + 50.0 * (v * v))


def _slope_far_out(times: float, flip: float, v: Any, x: Any) -> Any:
    """Return the derivative of ``times / sqrt(x) * sum(flip ** k * a(k) / x ** k)``.

    `a` are those of Hankel's expansions: products of ``4 v v - (2 k - 1) ** 2``, over ``8 k``.
    """
    size = absolute(x)
    mu = 4.0 * (v * v)
    term: Any = 1.0
    total: Any = 0.5
    for k in range(1, 13):
        odd = 2.0 * k - 1.0
        term = term * ((flip / (8.0 * k)) * (mu - odd * odd)) / size
        total = total + (k + 0.5) * term
    return (-times) * total / (size * sqrt(size))


_I_FAR, _K_FAR = 1.0 / math.sqrt(2.0 * math.pi), math.sqrt(0.5 * math.pi)


def _of_ive(v: Any, x: Any, y: Any, slope: Any) -> Any:
    """Return the derivative of a scaled I; the functions are even or odd, if of negative x."""
    # The sign of the function itself, for odd ones.
    far = sign(x) * sign(y) * _slope_far_out(_I_FAR, -1.0, v, x)
    return select(_far(v, x), far, slope - sign(x) * y)


def _of_kve(v: Any, x: Any, y: Any, slope: Any) -> Any:
    return select(_far(v, x), _slope_far_out(_K_FAR, 1.0, v, x), y + slope)


i0e: OpDef = ufunc("i0e", lambda y, x: _of_ive(0.0, x, y, i1e(x)), cost=40)
i1e: OpDef = ufunc("i1e", lambda y, x: _of_ive(1.0, x, y, i0e(x) - _i1e_over_x(y, x)), cost=40)


def _i1e_over_x(y: Any, x: Any) -> Any:
    scale = exp(-absolute(x))
    near = lt(absolute(x), 0.5)
    return select(near, scale * _over_x(1.0, y, select(near, x, 0.0)), y / select(near, 1.0, x))


ive: OpDef = ufunc(
    "ive", ORDER, lambda y, v, x: _of_ive(v, x, y, _between(lambda: ive, 1.0)(y, v, x)), cost=300
)
k0e: OpDef = ufunc("k0e", lambda y, x: _of_kve(0.0, x, y, -k1e(x)), cost=40)
k1e: OpDef = ufunc("k1e", lambda y, x: _of_kve(1.0, x, y, -k0e(x) - y / x), cost=40)
kve: OpDef = ufunc(
    "kve", ORDER, lambda y, v, x: _of_kve(v, x, y, _with_before(lambda: kve)(y, v, x)),
    cost=300,
)  # fmt: skip
# I of an order over I of the one before.
iv_ratio: OpDef = ufunc(
    "_iv_ratio", ORDER, lambda y, v, x: 1.0 - y * y - (2.0 * v - 1.0) * y / x, cost=100
)

# --- spherical ones -------------------------------------------------------------------------------


def _spherical(name: str, times: float, plus: float) -> tuple[OpDef, OpDef]:
    """Enter a spherical Bessel function and its derivative."""

    def slope(y: Any, n: Any, x: Any) -> Any:
        before, after = derivative(absolute(n - 1.0), x), derivative(n + 1.0, x)
        return times * (n * before + plus * (n + 1.0) * after) / (2.0 * n + 1.0)

    derivative = ufunc(f"_spherical_{name}_d", ORDER, slope, loop="ld->d", cost=200)
    value = ufunc(
        f"_spherical_{name}", ORDER, lambda y, n, x: derivative(n, x), loop="ld->d", cost=100
    )
    return value, derivative


spherical_jn, _ = _spherical("jn", 1.0, -1.0)
spherical_yn, _ = _spherical("yn", 1.0, -1.0)
spherical_in, _ = _spherical("in", 1.0, 1.0)
spherical_kn, _ = _spherical("kn", -1.0, 1.0)

# --- Airy functions -------------------------------------------------------------------------------

_AIRY = "d->dddd"


def _airy(name: str, output: int, *partials: Any) -> OpDef:
    return ufunc(name, *partials, loop=_AIRY, output=output, suffix=f"_{output}", cost=200)


ai: OpDef = _airy("airy", 0, lambda y, x: aip(x))
aip: OpDef = _airy("airy", 1, lambda y, x: x * ai(x))
bi: OpDef = _airy("airy", 2, lambda y, x: bip(x))
bip: OpDef = _airy("airy", 3, lambda y, x: x * bi(x))


def _coefficients() -> tuple[list[float], list[float]]:
    """Return those of the asymptotic series of Airy functions, and of their derivatives."""
    u = [1.0]
    for k in range(1, 9):
        u.append(u[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216.0 * k * (2 * k - 1)))
    return u, [u[k] * (6.0 * k + 1.0) / (1.0 - 6.0 * k) for k in range(9)]


def _scaled(derivative: bool, times: float, flip: float, near: Callable[..., Any]) -> Any:
    """Return the derivative of a scaled Airy function by x, which is `near` but far out."""
    u, v = _coefficients()
    power = 0.25 if derivative else -0.25

    def rule(y: Any, x: Any) -> Any:
        size = maximum(x, 1.0)
        zeta = (2.0 / 3.0) * (size * sqrt(size))
        total: Any = 0.0
        for k in range(8, -1, -1):
            total = (v if derivative else u)[k] * (power - 1.5 * k) + (flip / zeta) * total
        far = times * pow_(size, power - 1.0) * total
        return select(gt(x, 30.0), far, near(y, x, sqrt(maximum(x, 0.0))))

    return rule


_HALF = 0.5 / math.sqrt(math.pi)
aie: OpDef = _airy("airye", 0, _scaled(False, _HALF, -1.0, lambda y, x, root: aipe(x) + root * y))
aipe: OpDef = _airy(
    "airye", 1, _scaled(True, -_HALF, -1.0, lambda y, x, root: x * aie(x) + root * y)
)
bie: OpDef = _airy(
    "airye", 2, _scaled(False, 2.0 * _HALF, 1.0, lambda y, x, root: bipe(x) - root * y)
)
bipe: OpDef = _airy(
    "airye", 3, _scaled(True, 2.0 * _HALF, 1.0, lambda y, x, root: x * bie(x) - root * y)
)

# --- Struve and Kelvin functions ------------------------------------------------------------------


def _struve_term(v: Any, x: Any) -> Any:
    return pow_(0.5 * x, v) / (math.sqrt(math.pi) * gamma(v + 1.5))


struve: OpDef = ufunc(
    "struve", ORDER,
    lambda y, v, x: 0.5 * (struve(v - 1.0, x) - struve(v + 1.0, x) + _struve_term(v, x)),
    cost=300,
)  # fmt: skip
modstruve: OpDef = ufunc(
    "modstruve", ORDER,
    lambda y, v, x: 0.5 * (modstruve(v - 1.0, x) + modstruve(v + 1.0, x) + _struve_term(v, x)),
    cost=300,
)  # fmt: skip
ber: OpDef = ufunc("ber", lambda y, x: berp(x), cost=100)
bei: OpDef = ufunc("bei", lambda y, x: beip(x), cost=100)
ker: OpDef = ufunc("ker", lambda y, x: kerp(x), cost=100)
kei: OpDef = ufunc("kei", lambda y, x: keip(x), cost=100)
berp: OpDef = ufunc("berp", lambda y, x: -bei(x) - y / x, cost=100)
beip: OpDef = ufunc("beip", lambda y, x: ber(x) - y / x, cost=100)
kerp: OpDef = ufunc("kerp", lambda y, x: -kei(x) - y / x, cost=100)
keip: OpDef = ufunc("keip", lambda y, x: ker(x) - y / x, cost=100)

# --- integrals ------------------------------------------------------------------------------------


def _integrals(name: str, *rules: Callable[..., Any]) -> None:
    loop = f"d->{'d' * len(rules)}"
    for k, rule in enumerate(rules):
        ufunc(name, rule, loop=loop, output=k, suffix=f"_{k}", cost=200)


_integrals("itj0y0", lambda y, x: j0(x), lambda y, x: y0(x))
_integrals("iti0k0", lambda y, x: i0(x), lambda y, x: k0(x))
_integrals("it2j0y0", lambda y, x: (1.0 - j0(x)) / x, lambda y, x: -y0(x) / x)
_integrals("it2i0k0", lambda y, x: (i0(x) - 1.0) / x, lambda y, x: -k0(x) / x)
_integrals(
    "itairy",
    lambda y, x: ai(x), lambda y, x: bi(x), lambda y, x: ai(-x), lambda y, x: bi(-x),
)  # fmt: skip
ufunc("itstruve0", lambda y, x: struve(0.0, x), cost=200)
ufunc("itmodstruve0", lambda y, x: modstruve(0.0, x), cost=200)
ufunc("it2struve0", lambda y, x: -struve(0.0, x) / x, cost=200)

# --- Wright's function ----------------------------------------------------------------------------

_PARAMETER = "its parameter: the derivative has no closed form; use finite differences for it"
wright_bessel: OpDef = ufunc(
    "wright_bessel", _PARAMETER, _PARAMETER, lambda y, a, b, x: wright_bessel(a, a + b, x), cost=500
)
log_wright_bessel: OpDef = ufunc(
    "log_wright_bessel", _PARAMETER, _PARAMETER,
    lambda y, a, b, x: exp(log_wright_bessel(a, a + b, x) - y), cost=500,
)  # fmt: skip

__all__ = ["ai", "i0", "j0", "k0", "spherical_in", "spherical_jn"]
