"""The skew normal distribution."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from adc.library import stop_gradient
from adc.library.scipy.stats.continuous import norm
from adc.library.scipy.stats.univariate import Real

special: Any = importlib.import_module("scipy.special")
_ufuncs: Any = importlib.import_module("scipy.special._ufuncs")


def _nodes() -> Any:
    """Return nodes and weights of Gauss and Legendre's formula on the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return 0.5 * (nodes + 1.0), 0.5 * weights


_NODES, _WEIGHTS = _nodes()


class skewnorm(Real):
    @classmethod
    def valid(cls, a: Any) -> Any:
        return np.isfinite(a)

    @classmethod
    def pdf(cls, x: Any, a: Any) -> Any:
        return 2.0 * norm.pdf(x) * special.ndtr(cls._product(x, a))

    @classmethod
    def logpdf(cls, x: Any, a: Any) -> Any:
        return math.log(2.0) + norm.logpdf(x) + special.log_ndtr(cls._product(x, a))

    @classmethod
    def _product(cls, x: Any, a: Any) -> Any:
        return np.where(np.isinf(x) & (a == 0), 0.0, a * x)

    @classmethod
    def cdf(cls, x: Any, a: Any) -> Any:
        found = _ufuncs._skewnorm_cdf(x, 0.0, 1.0, a)
        value, u, v = stop_gradient(found), stop_gradient(x), stop_gradient(a)
        # Boost subtracts in the left tail. The integral of exp(-x² (1 + t²) / 2) / (1 + t²) / π
        # from a to infinity does not: substitute t = a + s.
        if v > 0.0 and u < 0.0 and value < 1e-6:
            width = np.sqrt(v * v + 80.0 / (u * u)) - v
            value = 0.0 * value
            for k in range(64):
                s = width * _NODES[k]
                value += _WEIGHTS[k] * np.exp(-u * u * s * (v + 0.5 * s)) / (1.0 + (v + s) ** 2)
            value *= width / math.pi * np.exp(-0.5 * u * u * (1.0 + v * v))
        return np.clip(value + (found - stop_gradient(found)), 0.0, 1.0)

    @classmethod
    def sf(cls, x: Any, a: Any) -> Any:
        return cls.cdf(-x, -a)

    @classmethod
    def ppf(cls, q: Any, a: Any) -> Any:
        return _ufuncs._skewnorm_ppf(q, 0.0, 1.0, a)

    @classmethod
    def isf(cls, q: Any, a: Any) -> Any:
        return _ufuncs._skewnorm_isf(q, 0.0, 1.0, a)

    @classmethod
    def mean(cls, a: Any) -> Any:
        return math.sqrt(2.0 / math.pi) * a / np.sqrt(1.0 + a**2)

    @classmethod
    def var(cls, a: Any) -> Any:
        return 1.0 - cls.mean(a) ** 2
