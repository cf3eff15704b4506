"""Distributions of times until something is reached: inverse Gaussian, its reciprocal, fatigue.

The distribution function of the inverse Gaussian is computed by its logarithm: G. Giner, G. K.
Smyth. statmod: probability calculations for the inverse Gaussian distribution. The R Journal 8(1),
2016.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.scipy.stats.univariate import Positive

special: Any = importlib.import_module("scipy.special")
_ufuncs: Any = importlib.import_module("scipy.special._ufuncs")

_LOG_TAU = float(np.log(2.0 * np.pi))


class invgauss(Positive):
    is_open = True

    @classmethod
    def pdf(cls, x: Any, mu: Any) -> Any:
        return 1.0 / np.sqrt(2.0 * np.pi * x**3.0) * np.exp(-1.0 / (2.0 * x) * (x / mu - 1.0) ** 2)

    @classmethod
    def logpdf(cls, x: Any, mu: Any) -> Any:
        return -0.5 * _LOG_TAU - 1.5 * np.log(x) - (x / mu - 1.0) ** 2 / (2.0 * x)

    @classmethod
    def _parts(cls, x: Any, mu: Any) -> Any:
        """Return an argument of the normal distribution, and the logarithm of the second term."""
        factor = 1.0 / np.sqrt(x)
        at = factor * (x / mu - 1.0)
        return at, 2.0 / mu + special.log_ndtr(-factor * (x / mu + 1.0))

    @classmethod
    def cdf(cls, x: Any, mu: Any) -> Any:
        return np.exp(cls.logcdf(x, mu))

    @classmethod
    def logcdf(cls, x: Any, mu: Any) -> Any:
        at, b = cls._parts(x, mu)
        a = special.log_ndtr(at)
        return a + np.log1p(np.exp(b - a))

    @classmethod
    def sf(cls, x: Any, mu: Any) -> Any:
        return np.exp(cls.logsf(x, mu))

    @classmethod
    def logsf(cls, x: Any, mu: Any) -> Any:
        at, b = cls._parts(x, mu)
        a = special.log_ndtr(-at)
        return a + np.log1p(-np.exp(b - a))

    @classmethod
    def _solved(cls, q: Any, mu: Any, upper: bool) -> Any:
        """Return where `cdf` is q, or `sf` if from the `upper` end, by bisection.

        Derivatives up to the seventh are those of the three steps of Newton's method that follow.
        """
        if q > 0.5:
            q, upper = 1.0 - q, not upper
        aim, shape = stop_gradient(np.log(q)), stop_gradient(mu)
        low, high = -700.0, 700.0
        for _ in range(64):
            middle = 0.5 * (low + high)
            x = np.exp(middle)
            found = cls.logsf(x, shape) if upper else cls.logcdf(x, shape)
            if (found > aim) == upper:
                low = middle
            else:
                high = middle
        x = stop_gradient(np.exp(0.5 * (low + high)))
        for _ in range(3):
            found = cls.logsf(x, mu) if upper else cls.logcdf(x, mu)
            step = (found - np.log(q)) * np.exp(found - cls.logpdf(x, mu))
            x = x + step if upper else x - step
        return x

    @classmethod
    def _quantile(cls, q: Any, mu: Any, near: Any, far: Any, upper: bool) -> Any:
        """Return where `cdf`, or `sf`, is q, by Boost's quantiles from this end and the other."""
        # In the other half those from this end lose digits.
        first = near(np.where(q > 0.5, 0.5, q), mu, 1.0)
        second = far(np.where(q > 0.5, 1.0 - q, 0.5), mu, 1.0)
        found = np.where(q > 0.5, second, first)
        if np.isnan(found):  # Boost has none for some shapes
            found = cls._solved(q, mu, upper)
        return found

    @classmethod
    def ppf(cls, q: Any, mu: Any) -> Any:
        return cls._quantile(q, mu, _ufuncs._invgauss_ppf, _ufuncs._invgauss_isf, False)

    @classmethod
    def isf(cls, q: Any, mu: Any) -> Any:
        return cls._quantile(q, mu, _ufuncs._invgauss_isf, _ufuncs._invgauss_ppf, True)

    @classmethod
    def mean(cls, mu: Any) -> Any:
        return mu

    @classmethod
    def var(cls, mu: Any) -> Any:
        return mu**3.0

    @classmethod
    def entropy(cls, mu: Any) -> Any:
        rate = 2.0 / mu
        return 0.5 * (1.0 + _LOG_TAU + 3.0 * np.log(mu)) - 1.5 * (_ufuncs._scaled_exp1(rate) / rate)


class recipinvgauss(Positive):
    @classmethod
    def logpdf(cls, x: Any, mu: Any) -> Any:
        found = -((1.0 - mu * x) ** 2.0) / (2.0 * x * mu**2.0) - 0.5 * np.log(2.0 * np.pi * x)
        return np.where(x > 0.0, found, -np.inf)

    @classmethod
    def _parts(cls, x: Any, mu: Any) -> Any:
        factor = 1.0 / np.sqrt(x)
        # SciPy's product overflows where the shape is small.
        second = np.exp(2.0 / mu + special.log_ndtr(-factor * (1.0 / mu + x)))
        return factor * (1.0 / mu - x), second

    @classmethod
    def cdf(cls, x: Any, mu: Any) -> Any:
        at, second = cls._parts(x, mu)
        return special.ndtr(-at) - second

    @classmethod
    def sf(cls, x: Any, mu: Any) -> Any:
        at, second = cls._parts(x, mu)
        return special.ndtr(at) + second

    @classmethod
    def ppf(cls, q: Any, mu: Any) -> Any:
        return 1.0 / invgauss._solved(q, mu, True)

    @classmethod
    def isf(cls, q: Any, mu: Any) -> Any:
        return 1.0 / invgauss._solved(q, mu, False)

    @classmethod
    def mean(cls, mu: Any) -> Any:
        return 1.0 / mu + 1.0

    @classmethod
    def var(cls, mu: Any) -> Any:
        return 1.0 / mu + 2.0


class fatiguelife(Positive):
    is_open = True

    @classmethod
    def logpdf(cls, x: Any, c: Any) -> Any:
        found = np.log(x + 1.0) - (x - 1.0) ** 2 / (2.0 * x * c**2) - np.log(2.0 * c)
        return found - 0.5 * (_LOG_TAU + 3.0 * np.log(x))

    @classmethod
    def _argument(cls, x: Any, c: Any) -> Any:
        return 1.0 / c * (np.sqrt(x) - 1.0 / np.sqrt(x))

    @classmethod
    def cdf(cls, x: Any, c: Any) -> Any:
        return special.ndtr(cls._argument(x, c))

    @classmethod
    def sf(cls, x: Any, c: Any) -> Any:
        return special.ndtr(-cls._argument(x, c))

    @classmethod
    def ppf(cls, q: Any, c: Any) -> Any:
        shifted = c * special.ndtri(q)
        return 0.25 * (shifted + np.sqrt(shifted**2 + 4.0)) ** 2

    @classmethod
    def isf(cls, q: Any, c: Any) -> Any:
        shifted = -c * special.ndtri(q)
        return 0.25 * (shifted + np.sqrt(shifted**2 + 4.0)) ** 2

    @classmethod
    def mean(cls, c: Any) -> Any:
        return c * c / 2.0 + 1.0

    @classmethod
    def var(cls, c: Any) -> Any:
        return c * c * (5.0 * (c * c) + 4.0) / 4.0
