"""Discrete distributions of one variable."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.scipy.stats.univariate import Discrete

special: Any = importlib.import_module("scipy.special")
_ufuncs: Any = importlib.import_module("scipy.special._ufuncs")


def _times_log(k: Any, p: Any) -> Any:
    """Return ``k * log(p)``, and 0 for a count of 0: what loops do to several numbers at once."""
    return np.where(k == 0, 0.0, k * np.log(p))


def _times_log1p(k: Any, p: Any) -> Any:
    """Return ``k * log(1 + p)``, and 0 for a count of 0."""
    return np.where(k == 0, 0.0, k * np.log1p(p))


def _summed(row: Any, mean: Any, *shapes: Any) -> Any:
    """Return the entropy of a distribution whose support has no end.

    Beyond the mean the terms become smaller. They are summed until they no longer change the sum.
    """
    found, k, term = 0.0 * mean, 0.0, 1.0 + 0.0 * mean
    while k <= mean or term > 1e-18 * found:
        term = special.entr(row.pmf(k, *shapes))
        found = found + term
        k = k + 1.0
    return found


class binom(Discrete):
    @classmethod
    def valid(cls, n: Any, p: Any) -> Any:
        return (n >= 0) & (np.floor(n) == n) & (p >= 0) & (p <= 1)

    @classmethod
    def support(cls, n: Any, p: Any) -> Any:
        return 0, n

    @classmethod
    def pmf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._binom_pmf(k, n, p)

    @classmethod
    def logpmf(cls, k: Any, n: Any, p: Any) -> Any:
        ways = special.gammaln(n + 1) - (special.gammaln(k + 1) + special.gammaln(n - k + 1))
        return ways + _times_log(k, p) + _times_log1p(n - k, -p)

    @classmethod
    def cdf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._binom_cdf(k, n, p)

    @classmethod
    def sf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._binom_sf(k, n, p)

    @classmethod
    def ppf(cls, q: Any, n: Any, p: Any) -> Any:
        return _ufuncs._binom_ppf(q, n, p)

    @classmethod
    def isf(cls, q: Any, n: Any, p: Any) -> Any:
        return _ufuncs._binom_isf(q, n, p)

    @classmethod
    def mean(cls, n: Any, p: Any) -> Any:
        return n * p

    @classmethod
    def var(cls, n: Any, p: Any) -> Any:
        return n * p - n * (p * p)

    @classmethod
    def entropy(cls, n: Any, p: Any) -> Any:
        found = 0.0 * p
        for k in range(int(n) + 1):
            found = found + special.entr(_ufuncs._binom_pmf(k, n, p))
        return found


class bernoulli(Discrete):
    @classmethod
    def valid(cls, p: Any) -> Any:
        return (p >= 0) & (p <= 1)

    @classmethod
    def support(cls, p: Any) -> Any:
        return 0, 1

    @classmethod
    def pmf(cls, k: Any, p: Any) -> Any:
        return binom.pmf(k, 1, p)

    @classmethod
    def logpmf(cls, k: Any, p: Any) -> Any:
        return _times_log(k, p) + _times_log1p(1 - k, -p)

    @classmethod
    def cdf(cls, k: Any, p: Any) -> Any:
        return binom.cdf(k, 1, p)

    @classmethod
    def sf(cls, k: Any, p: Any) -> Any:
        return binom.sf(k, 1, p)

    @classmethod
    def ppf(cls, q: Any, p: Any) -> Any:
        return binom.ppf(q, 1, p)

    @classmethod
    def isf(cls, q: Any, p: Any) -> Any:
        return binom.isf(q, 1, p)

    @classmethod
    def mean(cls, p: Any) -> Any:
        return p

    @classmethod
    def var(cls, p: Any) -> Any:
        return p - p * p

    @classmethod
    def entropy(cls, p: Any) -> Any:
        return special.entr(p) + special.entr(1 - p)


class nbinom(Discrete):
    @classmethod
    def valid(cls, n: Any, p: Any) -> Any:
        return (n > 0) & (p > 0) & (p <= 1)

    @classmethod
    def pmf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._nbinom_pmf(k, n, p)

    @classmethod
    def logpmf(cls, k: Any, n: Any, p: Any) -> Any:
        ways = special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(n)
        return ways + n * np.log(p) + _times_log1p(k, -p)

    @classmethod
    def cdf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._nbinom_cdf(k, n, p)

    @classmethod
    def logcdf(cls, k: Any, n: Any, p: Any) -> Any:
        found = cls.cdf(k, n, p)
        above = np.log1p(-special.betainc(k + 1, n, 1 - p))
        return np.where(found > 0.5, above, np.log(found))

    @classmethod
    def sf(cls, k: Any, n: Any, p: Any) -> Any:
        return _ufuncs._nbinom_sf(k, n, p)

    @classmethod
    def ppf(cls, q: Any, n: Any, p: Any) -> Any:
        # Boost raises for the one that is always 0.
        return np.where(p < 1, _ufuncs._nbinom_ppf(q, n, np.where(p < 1, p, 0.5)), 0.0)

    @classmethod
    def isf(cls, q: Any, n: Any, p: Any) -> Any:
        return np.where(p < 1, _ufuncs._nbinom_isf(q, n, np.where(p < 1, p, 0.5)), 0.0)

    @classmethod
    def mean(cls, n: Any, p: Any) -> Any:
        return n * (1 - p) / p

    @classmethod
    def var(cls, n: Any, p: Any) -> Any:
        return n * (1 - p) / (p * p)

    @classmethod
    def entropy(cls, n: Any, p: Any) -> Any:
        return _summed(cls, n * (1 - p) / p, n, p)


class poisson(Discrete):
    @classmethod
    def valid(cls, mu: Any) -> Any:
        return mu >= 0

    @classmethod
    def logpmf(cls, k: Any, mu: Any) -> Any:
        return _times_log(k, mu) - special.gammaln(k + 1) - mu

    @classmethod
    def pmf(cls, k: Any, mu: Any) -> Any:
        return np.exp(cls.logpmf(k, mu))

    @classmethod
    def cdf(cls, k: Any, mu: Any) -> Any:
        return special.pdtr(k, mu)

    @classmethod
    def sf(cls, k: Any, mu: Any) -> Any:
        return special.pdtrc(k, mu)

    @classmethod
    def ppf(cls, q: Any, mu: Any) -> Any:
        above = np.ceil(special.pdtrik(stop_gradient(q), stop_gradient(mu)))
        below = np.maximum(above - 1.0, 0.0)
        return np.where(special.pdtr(below, mu) >= q, below, above)

    @classmethod
    def mean(cls, mu: Any) -> Any:
        return mu

    @classmethod
    def var(cls, mu: Any) -> Any:
        return mu

    @classmethod
    def entropy(cls, mu: Any) -> Any:
        return _summed(cls, mu, mu)


class geom(Discrete):
    @classmethod
    def valid(cls, p: Any) -> Any:
        return (p <= 1) & (p > 0)

    @classmethod
    def support(cls, p: Any) -> Any:
        return 1, np.inf

    @classmethod
    def pmf(cls, k: Any, p: Any) -> Any:
        return (1 - p) ** (k - 1) * p

    @classmethod
    def logpmf(cls, k: Any, p: Any) -> Any:
        return _times_log1p(k - 1, -p) + np.log(p)

    @classmethod
    def cdf(cls, k: Any, p: Any) -> Any:
        return -np.expm1(np.log1p(-p) * k)

    @classmethod
    def sf(cls, k: Any, p: Any) -> Any:
        return np.exp(cls.logsf(k, p))

    @classmethod
    def logsf(cls, k: Any, p: Any) -> Any:
        return k * np.log1p(-p)

    @classmethod
    def ppf(cls, q: Any, p: Any) -> Any:
        found = np.ceil(np.log1p(-q) / np.log1p(-p))
        enough = (cls.cdf(found - 1.0, p) >= q) & (found > 0)
        return np.where(enough, found - 1.0, found)

    @classmethod
    def mean(cls, p: Any) -> Any:
        return 1.0 / p

    @classmethod
    def var(cls, p: Any) -> Any:
        return (1.0 - p) / p / p

    @classmethod
    def entropy(cls, p: Any) -> Any:
        return -np.log(p) - np.log1p(-p) * (1.0 - p) / p
