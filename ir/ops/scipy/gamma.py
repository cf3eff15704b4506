"""The gamma function, its logarithm and derivatives; beta functions; incomplete integrals of both.

The derivatives of incomplete integrals by their shapes are generalised hypergeometric functions
(`DLMF <https://dlmf.nist.gov/8.8>`_), which SciPy does not have: they are refused.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OPS, OpDef
from adc.ir.ops.arith import eq, gt, lt, maximum, minimum, select
from adc.ir.ops.integer import logical_and
from adc.ir.ops.math import exp, log, log1p, pow_
from adc.ir.ops.scipy import kernels
from adc.ir.ops.ufuncs import ufunc

SHAPE = "the derivative by it is a generalised hypergeometric function, which SciPy does not have"
_A, _B = f"its shape `a`: {SHAPE}", f"its shape `b`: {SHAPE}"

sinpi: OpDef = ufunc("_sinpi", lambda y, x: math.pi * cospi(x), device="sinpi", cost=20)
cospi: OpDef = ufunc("_cospi", lambda y, x: -math.pi * sinpi(x), device="cospi", cost=20)

# --- the gamma function ---------------------------------------------------------------------------

# Of Hurwitz: the sum of (q + k) ** -s. Derivatives of the digamma function are multiples of it.
zeta: OpDef = ufunc(
    "_zeta",
    "its exponent: the derivative has no closed form",
    lambda y, s, q: -s * zeta(s + 1.0, q),
    device=kernels.zeta,
    cost=150,
)
ufunc("_riemann_zeta", "its argument: the derivative has no closed form", cost=150)
ufunc("zetac", "its argument: the derivative has no closed form", cost=150)


def _trigamma(x: Any) -> Any:
    """Return the derivative of the digamma function, by its reflection below 0.

    There SciPy's zeta function would add term by term until 0 is reached.
    """
    below = lt(x, 0.0)
    found = zeta(2.0, select(below, 1.0 - x, x))
    ratio = math.pi / sinpi(x)
    return select(below, ratio * ratio - found, found)


digamma: OpDef = ufunc("psi", lambda y, x: _trigamma(x), device=kernels.psi, cost=40)
gammaln: OpDef = ufunc("gammaln", lambda y, x: digamma(x), cost=50, device="lgamma")
gamma: OpDef = ufunc("gamma", lambda y, x: y * digamma(x), cost=50, device="tgamma")
loggamma: OpDef = ufunc("loggamma", lambda y, x: digamma(x), cost=60)
gammasgn: OpDef = ufunc("gammasgn", None, jumps=True, cost=10)


def _reciprocal_slope(y: Any, x: Any) -> Any:
    """Return the derivative of 1 / gamma, by its reflection where gamma has poles."""
    below = gamma(1.0 - x) * (cospi(x) - digamma(1.0 - x) * sinpi(x) * (1.0 / math.pi))
    return select(lt(x, 0.5), below, -y * digamma(x))


rgamma: OpDef = ufunc("rgamma", _reciprocal_slope, cost=50)
poch: OpDef = ufunc(
    "poch",
    lambda y, z, m: y * (digamma(z + m) - digamma(z)),
    lambda y, z, m: y * digamma(z + m),
    cost=100,
)
binom: OpDef = ufunc(
    "binom",
    lambda y, n, k: y * (digamma(n + 1.0) - digamma(n - k + 1.0)),
    lambda y, n, k: y * (digamma(n - k + 1.0) - digamma(k + 1.0)),
    cost=100,
)
# As `scipy.special.factorial` computes it.
ufunc("_factorial", lambda y, n: y * digamma(n + 1.0), cost=50)

# --- beta functions -------------------------------------------------------------------------------

beta: OpDef = ufunc(
    "beta",
    lambda y, a, b: y * (digamma(a) - digamma(a + b)),
    lambda y, a, b: y * (digamma(b) - digamma(a + b)),
    cost=100,
)
betaln: OpDef = ufunc(
    "betaln",
    lambda y, a, b: digamma(a) - digamma(a + b),
    lambda y, a, b: digamma(b) - digamma(a + b),
    cost=100,
)

# --- incomplete integrals -------------------------------------------------------------------------

# x ** a * exp(-x) / gamma(a)
power_over_gamma: OpDef = ufunc(
    "_igam_fac",
    lambda y, a, x: y * (log(x) - digamma(a)),
    lambda y, a, x: y * (a / x - 1.0),
    cost=100,
)


def gamma_density(a: Any, x: Any) -> Any:
    """Return the density of the gamma distribution."""
    at_zero = pow_(x, a - 1.0) * exp(-x) * rgamma(a)
    return select(eq(x, 0.0), at_zero, power_over_gamma(a, x) / x)


gammainc: OpDef = ufunc("gammainc", _A, lambda y, a, x: gamma_density(a, x), cost=300)
gammaincc: OpDef = ufunc("gammaincc", _A, lambda y, a, x: -gamma_density(a, x), cost=300)
gammaincinv: OpDef = ufunc("gammaincinv", _A, lambda x, a, p: 1.0 / gamma_density(a, x), cost=1000)
gammainccinv: OpDef = ufunc(
    "gammainccinv", _A, lambda x, a, p: -1.0 / gamma_density(a, x), cost=1000
)

_boost_density: OpDef = ufunc(
    "_beta_pdf",
    lambda y, x, a, b: y * ((a - 1.0) / x - (b - 1.0) / (1.0 - x)),
    lambda y, x, a, b: y * (log(x) - digamma(a) + digamma(a + b)),
    lambda y, x, a, b: y * (log1p(-x) - digamma(b) + digamma(a + b)),
    cost=150,
)


def beta_density(x: Any, a: Any, b: Any) -> Any:
    """Return the density of the beta distribution.

    SciPy's is accurate for large shapes; but it raises exceptions where it overflows.
    """
    usual = logical_and(gt(x, 1e-30), lt(x, 1.0))
    shapes = logical_and(gt(minimum(a, b), 1e-10), lt(maximum(a, b), 1e10))
    usual = logical_and(usual, shapes)
    inside = _boost_density(select(usual, x, 0.5), select(usual, a, 1.0), select(usual, b, 1.0))
    logarithm = OPS["scipy_xlogy"](a - 1.0, x) + OPS["scipy_xlog1py"](b - 1.0, -x) - betaln(a, b)
    return select(usual, inside, exp(logarithm))


betainc: OpDef = ufunc("betainc", _A, _B, lambda y, a, b, x: beta_density(x, a, b), cost=400)
betaincc: OpDef = ufunc("betaincc", _A, _B, lambda y, a, b, x: -beta_density(x, a, b), cost=400)
betaincinv: OpDef = ufunc(
    "betaincinv", _A, _B, lambda x, a, b, p: 1.0 / beta_density(x, a, b), cost=1000
)
betainccinv: OpDef = ufunc(
    "betainccinv", _A, _B, lambda x, a, b, p: -1.0 / beta_density(x, a, b), cost=1000
)

__all__ = [
    "SHAPE", "beta", "beta_density", "betaln", "binom", "cospi", "digamma", "gamma",
    "gamma_density", "gammaln", "loggamma", "poch", "sinpi", "zeta",
]  # fmt: skip
