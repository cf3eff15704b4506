"""Continuous distributions that are elementary, or made of the normal one."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from adc.library.scipy.stats.univariate import Continuous, Positive, Real

special: Any = importlib.import_module("scipy.special")
_ufuncs: Any = importlib.import_module("scipy.special._ufuncs")

_ROOT_TAU = float(np.sqrt(2.0 * np.pi))
LOG_ROOT_TAU = float(np.log(np.sqrt(2.0 * np.pi)))
_LOG_PI = float(np.log(np.pi))
_LOG_2 = float(np.log(2.0))
_EULER = 0.577215664901532860606512090082402431


class norm(Real):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return np.exp(-(x**2) / 2.0) / _ROOT_TAU

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return -(x**2) / 2.0 - LOG_ROOT_TAU

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return special.ndtr(x)

    @classmethod
    def logcdf(cls, x: Any) -> Any:
        return special.log_ndtr(x)

    @classmethod
    def sf(cls, x: Any) -> Any:
        return special.ndtr(-x)

    @classmethod
    def logsf(cls, x: Any) -> Any:
        return special.log_ndtr(-x)

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return special.ndtri(q)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -special.ndtri(q)

    @classmethod
    def mean(cls) -> Any:
        return 0.0

    @classmethod
    def var(cls) -> Any:
        return 1.0

    @classmethod
    def entropy(cls) -> Any:
        return 0.5 * (math.log(2.0 * math.pi) + 1.0)


class cauchy(Real):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return 1.0 / np.pi / (1.0 + x * x)

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        # So x * x does not overflow.
        size = np.abs(x)
        far = 2.0 * np.log(size) + np.log1p((1.0 / size) ** 2)
        return np.where(size < 1.0, -_LOG_PI - np.log1p(x * x), -_LOG_PI - far)

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return np.arctan2(1.0, -x) / np.pi

    @classmethod
    def sf(cls, x: Any) -> Any:
        return np.arctan2(1.0, x) / np.pi

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return -_ufuncs._cospi(q) / _ufuncs._sinpi(q)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -cls.ppf(q)

    @classmethod
    def mean(cls) -> Any:
        return np.nan

    @classmethod
    def var(cls) -> Any:
        return np.nan

    @classmethod
    def entropy(cls) -> Any:
        return math.log(4.0 * math.pi)


class halfcauchy(Positive):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return 2.0 / np.pi / (1.0 + x * x)

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return math.log(2.0 / math.pi) - np.log1p(x * x)

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return 2.0 / np.pi * np.arctan(x)

    @classmethod
    def sf(cls, x: Any) -> Any:
        return 2.0 / np.pi * np.arctan2(1.0, x)

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return np.tan(np.pi / 2 * q)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return 1.0 / np.tan(np.pi * q / 2)

    @classmethod
    def mean(cls) -> Any:
        return np.inf

    @classmethod
    def var(cls) -> Any:
        return np.inf

    @classmethod
    def entropy(cls) -> Any:
        return math.log(2.0 * math.pi)


class laplace(Real):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return 0.5 * np.exp(-np.abs(x))

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return np.where(x > 0, 1.0 - 0.5 * np.exp(-x), 0.5 * np.exp(x))

    @classmethod
    def sf(cls, x: Any) -> Any:
        return cls.cdf(-x)

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q))

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -cls.ppf(q)

    @classmethod
    def mean(cls) -> Any:
        return 0.0

    @classmethod
    def var(cls) -> Any:
        return 2.0

    @classmethod
    def entropy(cls) -> Any:
        return _LOG_2 + 1.0


class logistic(Real):
    @classmethod
    def logpdf(cls, x: Any) -> Any:
        y = -np.abs(x)
        return y - 2.0 * np.log1p(np.exp(y))

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return special.expit(x)

    @classmethod
    def logcdf(cls, x: Any) -> Any:
        return special.log_expit(x)

    @classmethod
    def sf(cls, x: Any) -> Any:
        return special.expit(-x)

    @classmethod
    def logsf(cls, x: Any) -> Any:
        return special.log_expit(-x)

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return special.logit(q)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -special.logit(q)

    @classmethod
    def mean(cls) -> Any:
        return 0.0

    @classmethod
    def var(cls) -> Any:
        return math.pi * math.pi / 3.0

    @classmethod
    def entropy(cls) -> Any:
        return 2.0


class expon(Positive):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return np.exp(-x)

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return -x

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return -np.expm1(-x)

    @classmethod
    def sf(cls, x: Any) -> Any:
        return np.exp(-x)

    @classmethod
    def logsf(cls, x: Any) -> Any:
        return -x

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return -np.log1p(-q)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -np.log(q)

    @classmethod
    def mean(cls) -> Any:
        return 1.0

    @classmethod
    def var(cls) -> Any:
        return 1.0

    @classmethod
    def entropy(cls) -> Any:
        return 1.0


class lognorm(Positive):
    is_open = True

    @classmethod
    def logpdf(cls, x: Any, s: Any) -> Any:
        return -(np.log(x) ** 2) / (2.0 * s**2) - np.log(s * x * _ROOT_TAU)

    @classmethod
    def cdf(cls, x: Any, s: Any) -> Any:
        return special.ndtr(np.log(x) / s)

    @classmethod
    def logcdf(cls, x: Any, s: Any) -> Any:
        return special.log_ndtr(np.log(x) / s)

    @classmethod
    def sf(cls, x: Any, s: Any) -> Any:
        return special.ndtr(-np.log(x) / s)

    @classmethod
    def logsf(cls, x: Any, s: Any) -> Any:
        return special.log_ndtr(-np.log(x) / s)

    @classmethod
    def ppf(cls, q: Any, s: Any) -> Any:
        return np.exp(s * special.ndtri(q))

    @classmethod
    def isf(cls, q: Any, s: Any) -> Any:
        return np.exp(s * -special.ndtri(q))

    @classmethod
    def mean(cls, s: Any) -> Any:
        return np.sqrt(np.exp(s * s))

    @classmethod
    def var(cls, s: Any) -> Any:
        p = np.exp(s * s)
        return p * (p - 1.0)

    @classmethod
    def entropy(cls, s: Any) -> Any:
        return 0.5 * (1.0 + math.log(2.0 * math.pi) + 2.0 * np.log(s))


class uniform(Continuous):
    @classmethod
    def support(cls) -> Any:
        return 0.0, 1.0

    @classmethod
    def pdf(cls, x: Any) -> Any:
        return 1.0

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return 0.0

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return x

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return q

    @classmethod
    def mean(cls) -> Any:
        return 0.5

    @classmethod
    def var(cls) -> Any:
        return 1.0 / 12.0

    @classmethod
    def entropy(cls) -> Any:
        return 0.0


class weibull_min(Positive):
    @classmethod
    def pdf(cls, x: Any, c: Any) -> Any:
        return c * x ** (c - 1) * np.exp(-(x**c))

    @classmethod
    def logpdf(cls, x: Any, c: Any) -> Any:
        return np.log(c) + special.xlogy(c - 1, x) - x**c

    @classmethod
    def cdf(cls, x: Any, c: Any) -> Any:
        return -np.expm1(-(x**c))

    @classmethod
    def sf(cls, x: Any, c: Any) -> Any:
        return np.exp(-(x**c))

    @classmethod
    def logsf(cls, x: Any, c: Any) -> Any:
        return -(x**c)

    @classmethod
    def ppf(cls, q: Any, c: Any) -> Any:
        return (-np.log1p(-q)) ** (1.0 / c)

    @classmethod
    def isf(cls, q: Any, c: Any) -> Any:
        return (-np.log(q)) ** (1.0 / c)

    @classmethod
    def mean(cls, c: Any) -> Any:
        return special.gamma(1.0 + 1.0 / c)

    @classmethod
    def var(cls, c: Any) -> Any:
        mu = special.gamma(1.0 + 1.0 / c)
        return np.where(np.isinf(mu), np.inf, special.gamma(1.0 + 2.0 / c) - mu**2)

    @classmethod
    def entropy(cls, c: Any) -> Any:
        return -_EULER / c - np.log(c) + _EULER + 1.0


class gumbel_r(Real):
    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return -x - np.exp(-x)

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return np.exp(-np.exp(-x))

    @classmethod
    def logcdf(cls, x: Any) -> Any:
        return -np.exp(-x)

    @classmethod
    def sf(cls, x: Any) -> Any:
        return -np.expm1(-np.exp(-x))

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return -np.log(-np.log(q))

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -np.log(-np.log1p(-q))

    @classmethod
    def mean(cls) -> Any:
        return _EULER

    @classmethod
    def var(cls) -> Any:
        return math.pi * math.pi / 6.0

    @classmethod
    def entropy(cls) -> Any:
        return _EULER + 1.0


class pareto(Continuous):
    @classmethod
    def support(cls, b: Any) -> Any:
        return 1.0, np.inf

    @classmethod
    def pdf(cls, x: Any, b: Any) -> Any:
        return b * x ** (-b - 1)

    @classmethod
    def cdf(cls, x: Any, b: Any) -> Any:
        return 1.0 - x ** (-b)

    @classmethod
    def sf(cls, x: Any, b: Any) -> Any:
        return x ** (-b)

    @classmethod
    def ppf(cls, q: Any, b: Any) -> Any:
        return (1.0 - q) ** (-1.0 / b)

    @classmethod
    def isf(cls, q: Any, b: Any) -> Any:
        return q ** (-1.0 / b)

    @classmethod
    def mean(cls, b: Any) -> Any:
        return np.where(b > 1, b / (b - 1.0), np.inf)

    @classmethod
    def var(cls, b: Any) -> Any:
        return np.where(b > 2, b / (b - 2.0) / (b - 1.0) ** 2, np.inf)

    @classmethod
    def entropy(cls, b: Any) -> Any:
        return 1.0 + 1.0 / b - np.log(b)


class halfnorm(Positive):
    @classmethod
    def pdf(cls, x: Any) -> Any:
        return math.sqrt(2.0 / math.pi) * np.exp(-x * x / 2.0)

    @classmethod
    def logpdf(cls, x: Any) -> Any:
        return 0.5 * math.log(2.0 / math.pi) - x * x / 2.0

    @classmethod
    def cdf(cls, x: Any) -> Any:
        return special.erf(x / math.sqrt(2.0))

    @classmethod
    def sf(cls, x: Any) -> Any:
        return 2.0 * special.ndtr(-x)

    @classmethod
    def ppf(cls, q: Any) -> Any:
        return special.ndtri((1.0 + q) / 2.0)

    @classmethod
    def isf(cls, q: Any) -> Any:
        return -special.ndtri(q / 2.0)

    @classmethod
    def mean(cls) -> Any:
        return math.sqrt(2.0 / math.pi)

    @classmethod
    def var(cls) -> Any:
        return 1.0 - 2.0 / math.pi

    @classmethod
    def entropy(cls) -> Any:
        return 0.5 * math.log(math.pi / 2.0) + 0.5
