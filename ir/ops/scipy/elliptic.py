"""Elliptic integrals and functions, hypergeometric functions.

Derivatives of complete integrals by a small parameter are series, and those of incomplete ones
Carlson's integrals (B. C. Carlson, Numerical computation of real or complex elliptic integrals,
1995): neither is a difference of almost equal numbers.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import absolute, eq, lt, rint, select, sign
from adc.ir.ops.math import cos, sin, sqrt
from adc.ir.ops.ufuncs import ufunc

_PARAMETER = "its parameter: the derivative has no closed form; use finite differences for it"

# --- hypergeometric functions ---------------------------------------------------------------------

hyp0f1: OpDef = ufunc("hyp0f1", _PARAMETER, lambda y, v, z: hyp0f1(v + 1.0, z) / v, cost=300)
hyp1f1: OpDef = ufunc(
    "hyp1f1", _PARAMETER, _PARAMETER, lambda y, a, b, x: a / b * hyp1f1(a + 1.0, b + 1.0, x),
    cost=500,
)  # fmt: skip
hyp2f1: OpDef = ufunc(
    "hyp2f1", _PARAMETER, _PARAMETER, _PARAMETER,
    lambda y, a, b, c, x: a * b / c * hyp2f1(a + 1.0, b + 1.0, c + 1.0, x), cost=500,
)  # fmt: skip
hyperu: OpDef = ufunc(
    "hyperu", _PARAMETER, _PARAMETER, lambda y, a, b, x: -a * hyperu(a + 1.0, b + 1.0, x), cost=500
)

# --- Carlson's integrals --------------------------------------------------------------------------


def _by_pole(x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of ``elliprd(x, y, z)`` by x."""
    return -0.5 * (elliprd(x, y, z) - elliprd(y, z, x)) / (x - z)


def _by_last(f: Any, x: Any, y: Any, z: Any) -> Any:
    """Return that by z; the function is homogeneous."""
    return -(1.5 * f + _times_slope(x, y, z) + _times_slope(y, x, z)) / z


def _times_slope(x: Any, y: Any, z: Any) -> Any:
    return select(eq(x, 0.0), 0.0, x * _by_pole(x, y, z))


elliprc: OpDef = ufunc(
    "elliprc",
    lambda f, x, y: elliprd(y, y, x) / -6.0,
    lambda f, x, y: (x * elliprd(y, y, x) / 6.0 - 0.5 * f) / y,
    cost=100,
)  # fmt: skip
elliprd: OpDef = ufunc(
    "elliprd",
    lambda f, x, y, z: _by_pole(x, y, z), lambda f, x, y, z: _by_pole(y, x, z), _by_last,
    cost=150,
)  # fmt: skip
elliprf: OpDef = ufunc(
    "elliprf",
    lambda f, x, y, z: elliprd(y, z, x) / -6.0, lambda f, x, y, z: elliprd(x, z, y) / -6.0,
    lambda f, x, y, z: elliprd(x, y, z) / -6.0, cost=150,
)  # fmt: skip
elliprg: OpDef = ufunc(
    "elliprg",
    lambda f, x, y, z: 0.25 * elliprf(x, y, z) - x * elliprd(y, z, x) / 12.0,
    lambda f, x, y, z: 0.25 * elliprf(x, y, z) - y * elliprd(x, z, y) / 12.0,
    lambda f, x, y, z: 0.25 * elliprf(x, y, z) - z * elliprd(x, y, z) / 12.0, cost=200,
)  # fmt: skip

# --- Legendre's integrals -------------------------------------------------------------------------

_EIGHTH = math.pi / 8.0


def _near_zero(a: float, m: Any) -> Any:
    """Return the hypergeometric function of a, 1.5, 2 and a small m, by its series."""
    found: Any = 1.0
    for k in range(17, -1, -1):
        found = 1.0 + ((a + k) * (1.5 + k) / ((2.0 + k) * (1.0 + k))) * (m * found)
    return found


def _small(m: Any) -> tuple[Any, Any]:
    """Return whether m is small, and another number in its place if it is."""
    small = lt(absolute(m), 0.1)
    return small, select(small, 0.5, m)


def _slope_of_k(m: Any) -> Any:
    small, other = _small(m)
    far = (ellipe(other) / (1.0 - other) - ellipk(other)) / (2.0 * other)
    return select(small, _EIGHTH * _near_zero(1.5, m), far)


def _slope_of_e(m: Any) -> Any:
    small, other = _small(m)
    far = (ellipe(other) - ellipk(other)) / (2.0 * other)
    return select(small, -_EIGHTH * _near_zero(0.5, m), far)


ellipk: OpDef = ufunc("ellipk", lambda y, m: _slope_of_k(m), cost=40)
ellipkm1: OpDef = ufunc("ellipkm1", lambda y, p: elliprd(0.0, 1.0, p) / -6.0, cost=40)
ellipe: OpDef = ufunc("ellipe", lambda y, m: _slope_of_e(m), cost=40)


def _root(phi: Any, m: Any) -> Any:
    return sqrt(1.0 - m * (sin(phi) * sin(phi)))


def _pieces(phi: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Return whole periods of `phi`, the sine of the rest, the squares of its cosine and root."""
    c, s = cos(phi), sin(phi)
    return rint(phi / math.pi), s * sign(c), c * c, 1.0 - m * (s * s)


def _k_by_m(phi: Any, m: Any) -> Any:
    periods, s, c2, root2 = _pieces(phi, m)
    return s * s * s * elliprd(c2, 1.0, root2) / 6.0 + 2.0 * periods * _slope_of_k(m)


def _e_by_m(phi: Any, m: Any) -> Any:
    periods, s, c2, root2 = _pieces(phi, m)
    return s * s * s * elliprd(c2, root2, 1.0) / -6.0 + 2.0 * periods * _slope_of_e(m)


ellipkinc: OpDef = ufunc(
    "ellipkinc", lambda y, phi, m: 1.0 / _root(phi, m), lambda y, phi, m: _k_by_m(phi, m), cost=150
)
ellipeinc: OpDef = ufunc(
    "ellipeinc", lambda y, phi, m: _root(phi, m), lambda y, phi, m: _e_by_m(phi, m), cost=150
)
# The arithmetic-geometric mean is elliptic as well.
_MEAN = 2.0 / (3.0 * math.pi)
agm: OpDef = ufunc(
    "agm",
    lambda y, a, b: _MEAN * (y * y) * absolute(a) * elliprd(0.0, b * b, a * a),
    lambda y, a, b: _MEAN * (y * y) * absolute(b) * elliprd(0.0, a * a, b * b),
    cost=60,
)

# --- Jacobi's functions ---------------------------------------------------------------------------


def _jacobi(output: int, by_phase: Any) -> OpDef:
    """Enter a function; `by_phase` is its derivative by the phase, which is what varies."""

    def by_u(y: Any, u: Any, m: Any) -> Any:
        return by_phase(u, m) * dn(u, m)

    def by_m(y: Any, u: Any, m: Any) -> Any:
        return -by_phase(u, m) * dn(u, m) * _k_by_m(phase(u, m), m) + direct[output](u, m)

    return ufunc(
        "ellipj", by_u, by_m, loop="dd->dddd", output=output, suffix=f"_{output}", cost=150
    )


sn: OpDef = _jacobi(0, lambda u, m: cn(u, m))
cn: OpDef = _jacobi(1, lambda u, m: -sn(u, m))
dn: OpDef = _jacobi(2, lambda u, m: -m * sn(u, m) * cn(u, m) / dn(u, m))
phase: OpDef = _jacobi(3, lambda u, m: 1.0)
# What m changes while the phase is kept.
direct: dict[int, Any] = {
    0: lambda u, m: 0.0,
    1: lambda u, m: 0.0,
    2: lambda u, m: -0.5 * sn(u, m) * sn(u, m) / dn(u, m),
    3: lambda u, m: 0.0,
}

__all__ = ["hyp2f1"]
