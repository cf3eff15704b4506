"""Distribution functions and their inverses, such as `stdtr`; the normal one is in `error`.

The derivative by the variable is the density. By a shape there is a closed form in few cases.
"""

from __future__ import annotations

from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import floor, isinf, lt, select
from adc.ir.ops.math import exp, log1p, sqrt
from adc.ir.ops.scipy.error import density, ndtri
from adc.ir.ops.scipy.gamma import SHAPE, beta, beta_density, gamma_density
from adc.ir.ops.ufuncs import ufunc

_DISCRETE = "a count, which it rounds"
_SHAPE = f"a shape: {SHAPE}"

# --- binomial, negative binomial, Poisson ---------------------------------------------------------


def _binomial(k: Any, n: Any, p: Any) -> Any:
    """Return minus the derivative of the distribution function by p."""
    k = floor(k)
    below = lt(k, n)
    return select(below, beta_density(1.0 - p, select(below, n - k, 1.0), k + 1.0), 0.0)


_ONE_INTEGER: dict[str, Any] = {"loop": "dld->d", "cost": 400}
ufunc("bdtr", _DISCRETE, _DISCRETE, lambda y, k, n, p: -_binomial(k, n, p), **_ONE_INTEGER)
ufunc("bdtrc", _DISCRETE, _DISCRETE, lambda y, k, n, p: _binomial(k, n, p), **_ONE_INTEGER)
ufunc("bdtri", _DISCRETE, _DISCRETE, lambda p, k, n, y: -1.0 / _binomial(k, n, p), **_ONE_INTEGER)


def _negative_binomial(k: Any, n: Any, p: Any) -> Any:
    return beta_density(p, n, floor(k) + 1.0)


_INTEGERS: dict[str, Any] = {"loop": "lld->d", "cost": 400}
ufunc("nbdtr", _DISCRETE, _DISCRETE, lambda y, k, n, p: _negative_binomial(k, n, p), **_INTEGERS)
ufunc("nbdtrc", _DISCRETE, _DISCRETE, lambda y, k, n, p: -_negative_binomial(k, n, p), **_INTEGERS)
ufunc(
    "nbdtri", _DISCRETE, _DISCRETE, lambda p, k, n, y: 1.0 / _negative_binomial(k, n, p),
    **_INTEGERS,
)  # fmt: skip


def _poisson(k: Any, m: Any) -> Any:
    return gamma_density(floor(k) + 1.0, m)


ufunc("pdtr", _DISCRETE, lambda y, k, m: -_poisson(k, m), jumps=True, cost=300)
ufunc("pdtrc", _DISCRETE, lambda y, k, m: _poisson(k, m), jumps=True, cost=300)
ufunc("pdtri", _DISCRETE, lambda m, k, y: -1.0 / _poisson(k, m), loop="ld->d", cost=900)

# --- chi-square, F, gamma, Student's t ------------------------------------------------------------


def _chi_square(v: Any, x: Any) -> Any:
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


ufunc("chdtr", _SHAPE, lambda y, v, x: _chi_square(v, x), cost=300)
ufunc("chdtrc", _SHAPE, lambda y, v, x: -_chi_square(v, x), cost=300)
ufunc("chdtri", _SHAPE, lambda x, v, p: -1.0 / _chi_square(v, x), cost=900)


def _f(n: Any, m: Any, x: Any) -> Any:
    whole = m + n * x
    return beta_density(n * x / whole, 0.5 * n, 0.5 * m) * n * m / (whole * whole)


ufunc("fdtr", _SHAPE, _SHAPE, lambda y, n, m, x: _f(n, m, x), cost=400)
ufunc("fdtrc", _SHAPE, _SHAPE, lambda y, n, m, x: -_f(n, m, x), cost=400)
ufunc("fdtri", _SHAPE, _SHAPE, lambda x, n, m, p: 1.0 / _f(n, m, x), cost=900)
ufunc(
    "gdtr",
    lambda y, a, b, x: x * gamma_density(b, a * x), _SHAPE,
    lambda y, a, b, x: a * gamma_density(b, a * x), cost=300,
)  # fmt: skip
ufunc(
    "gdtrc",
    lambda y, a, b, x: -x * gamma_density(b, a * x), _SHAPE,
    lambda y, a, b, x: -a * gamma_density(b, a * x), cost=300,
)  # fmt: skip
ufunc(
    "gdtrix",
    lambda x, a, b, p: -x / a, _SHAPE,
    lambda x, a, b, p: 1.0 / (a * gamma_density(b, a * x)), cost=900,
)  # fmt: skip
ufunc(
    "gdtria",
    lambda a, p, b, x: 1.0 / (x * gamma_density(b, a * x)), _SHAPE, lambda a, p, b, x: -a / x,
    cost=900,
)  # fmt: skip


def _student(v: Any, t: Any) -> Any:
    finite = select(isinf(v), 1.0, v)
    power = exp(-0.5 * (finite + 1.0) * log1p(t * t / finite))
    return select(isinf(v), density(t), power / (sqrt(finite) * beta(0.5, 0.5 * finite)))


ufunc("stdtr", _SHAPE, lambda y, v, t: _student(v, t), cost=300)
ufunc("stdtrit", _SHAPE, lambda t, v, p: 1.0 / _student(v, t), cost=900)

# --- parameters of the normal distribution --------------------------------------------------------

ufunc(
    "nrdtrimn",
    lambda mean, p, std, x: -std / density((x - mean) / std),
    lambda mean, p, std, x: -ndtri(p),
    lambda mean, p, std, x: 1.0, cost=60,
)  # fmt: skip
ufunc(
    "nrdtrisd",
    lambda std, mean, p, x: -1.0 / ndtri(p),
    lambda std, mean, p, x: -std / (ndtri(p) * density(ndtri(p))),
    lambda std, mean, p, x: 1.0 / ndtri(p), cost=60,
)  # fmt: skip

# --- noncentral ones ------------------------------------------------------------------------------

chi_density: OpDef = ufunc(
    "_ncx2_pdf",
    lambda y, x, v, c: y * ((0.5 * v - 1.0) / x - 0.5) + 0.5 * c / x * chi_density(x, v + 2.0, c),
    _SHAPE,
    lambda y, x, v, c: 0.5 * (chi_density(x, v + 2.0, c) - y),
    cost=300,
)
ufunc(
    "chndtr",
    lambda y, x, v, c: chi_density(x, v, c), _SHAPE,
    lambda y, x, v, c: -chi_density(x, v + 2.0, c), cost=400,
)  # fmt: skip
ufunc(
    "chndtrix",
    lambda x, p, v, c: 1.0 / chi_density(x, v, c), _SHAPE,
    lambda x, p, v, c: chi_density(x, v + 2.0, c) / chi_density(x, v, c), cost=2000,
)  # fmt: skip
ufunc(
    "chndtrinc",
    lambda c, x, v, p: chi_density(x, v, c) / chi_density(x, v + 2.0, c), _SHAPE,
    lambda c, x, v, p: -1.0 / chi_density(x, v + 2.0, c), cost=2000,
)  # fmt: skip
__all__ = ["chi_density"]
