"""What only `scipy.stats` calls: quantiles and discrete distributions, in Boost's version.

A quantile of a discrete distribution is an integer, whose derivatives are zero.
"""

from __future__ import annotations

import math
from typing import Any

from adc.ir.opdef import OpDef
from adc.ir.ops.arith import eq, ge, select
from adc.ir.ops.math import exp, log, sqrt
from adc.ir.ops.scipy.error import density, log_ndtr, ndtr
from adc.ir.ops.scipy.gamma import SHAPE, beta_density, digamma
from adc.ir.ops.ufuncs import ufunc

# Where a Poisson distribution reaches a probability, between integers.
_BETWEEN = "an argument: the derivative has no closed form"
ufunc("pdtrik", _BETWEEN, _BETWEEN, cost=1000)
_COUNT = "a count, an integer"
_SHAPE = f"a shape: {SHAPE}"

ufunc("_beta_ppf", lambda x, q, a, b: 1.0 / beta_density(x, a, b), _SHAPE, _SHAPE, cost=1000)
# The location and the scale are 0 and 1 there.
_FIXED = "its location or scale, which is fixed"

# -- skew normal -----------------------------------------------------------------------------------


def _skew_density(x: Any, a: Any) -> Any:
    return 2.0 * (density(x) * ndtr(a * x))


def _skew_by_shape(x: Any, a: Any) -> Any:
    """Return the derivative of the distribution function by its shape."""
    square = 1.0 + a * a
    return (-1.0 / math.pi) * exp(-0.5 * (x * x) * square) / square


ufunc(
    "_skewnorm_cdf",
    lambda y, x, loc, scale, a: _skew_density(x, a), _FIXED, _FIXED,
    lambda y, x, loc, scale, a: _skew_by_shape(x, a), cost=400,
)  # fmt: skip
for _name, _sign in (("_skewnorm_ppf", 1.0), ("_skewnorm_isf", -1.0)):
    ufunc(
        _name,
        lambda x, q, loc, scale, a, sign=_sign: sign / _skew_density(x, a), _FIXED, _FIXED,
        lambda x, q, loc, scale, a: -_skew_by_shape(x, a) / _skew_density(x, a), cost=2000,
    )  # fmt: skip

# -- inverse Gaussian ------------------------------------------------------------------------------


def _wald_density(x: Any, mu: Any) -> Any:
    return exp(-0.5 * ((x / mu - 1.0) * (x / mu - 1.0)) / x) / (
        math.sqrt(2.0 * math.pi) * x * sqrt(x)
    )


def _wald_by_mean(x: Any, mu: Any) -> Any:
    """Return the derivative of the distribution function by the mean."""
    return -2.0 * exp(2.0 / mu + log_ndtr(-(x / mu + 1.0) / sqrt(x))) / (mu * mu)


for _name, _sign in (("_invgauss_ppf", 1.0), ("_invgauss_isf", -1.0)):
    ufunc(
        _name, lambda x, q, mu, scale, sign=_sign: sign / _wald_density(x, mu),
        lambda x, q, mu, scale: -_wald_by_mean(x, mu) / _wald_density(x, mu), _FIXED, cost=2000,
    )  # fmt: skip
# x exp(x) times the exponential integral
ufunc("_scaled_exp1", lambda y, x: y + y / x - 1.0, cost=60)

# -- binomial --------------------------------------------------------------------------------------


def _binomial_by_p(y: Any, k: Any, n: Any, p: Any) -> Any:
    """Return the derivative of the probability of k, at 0 and 1 as well."""
    less = select(eq(k, 0.0), 0.0, n * binom_pmf(k - 1.0, n - 1.0, p))
    more = select(ge(k, n), 0.0, n * binom_pmf(k, n - 1.0, p))
    return less - more


binom_pmf: OpDef = ufunc("_binom_pmf", _COUNT, _COUNT, _binomial_by_p, cost=150)


def _binomial_function(k: Any, n: Any, p: Any) -> Any:
    return select(ge(k, n), 0.0, n * binom_pmf(k, n - 1.0, p))


ufunc("_binom_cdf", _COUNT, _COUNT, lambda y, k, n, p: -_binomial_function(k, n, p), cost=400)
ufunc("_binom_sf", _COUNT, _COUNT, lambda y, k, n, p: _binomial_function(k, n, p), cost=400)
ufunc("_binom_ppf", None, None, None, cost=1000)
ufunc("_binom_isf", None, None, None, cost=1000)

# -- negative binomial -----------------------------------------------------------------------------


def _negative_by_p(y: Any, k: Any, n: Any, p: Any) -> Any:
    less = select(eq(k, 0.0), 0.0, nbinom_pmf(k - 1.0, n + 1.0, p))
    return (n / p) * (y - less)


nbinom_pmf: OpDef = ufunc(
    "_nbinom_pmf",
    _COUNT,
    lambda y, k, n, p: y * (digamma(n + k) - digamma(n) + log(p)),
    _negative_by_p,
    cost=150,
)


def _negative_function(k: Any, n: Any, p: Any) -> Any:
    return beta_density(p, n, k + 1.0)


ufunc("_nbinom_cdf", _COUNT, _SHAPE, lambda y, k, n, p: _negative_function(k, n, p), cost=400)
ufunc("_nbinom_sf", _COUNT, _SHAPE, lambda y, k, n, p: -_negative_function(k, n, p), cost=400)
ufunc("_nbinom_ppf", None, None, None, cost=1000)
ufunc("_nbinom_isf", None, None, None, cost=1000)

__all__: list[str] = []
