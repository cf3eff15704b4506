"""Continuous distributions whose shapes enter gamma, beta and Bessel functions.

The truncated normal distribution is here, too.

The derivatives of most distribution functions by their shapes have no closed form: the rows of
`scipy.special` refuse them.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from adc.library.scipy.stats.continuous import LOG_ROOT_TAU, norm
from adc.library.scipy.stats.univariate import Continuous, Positive, Real

special: Any = importlib.import_module("scipy.special")
_ufuncs: Any = importlib.import_module("scipy.special._ufuncs")

# Of double precision, as in SciPy: a product with a shape of single precision is of double, too.
_LOG_2 = np.log(2.0)
_LOG_PI = np.log(np.pi)
_LOG_TAU = np.log(2.0 * np.pi)


class t(Real):
    @classmethod
    def logpdf(cls, x: Any, df: Any) -> Any:
        # The factor depends on df alone, and is computed once in a loop.
        factor = np.log(special.poch(0.5 * df, 0.5)) - 0.5 * (np.log(df) + _LOG_PI)
        found = factor - (df + 1) / 2 * np.log1p(x * x / df)
        return np.where(df == np.inf, norm.logpdf(x), found)

    @classmethod
    def cdf(cls, x: Any, df: Any) -> Any:
        return special.stdtr(df, x)

    @classmethod
    def sf(cls, x: Any, df: Any) -> Any:
        return special.stdtr(df, -x)

    @classmethod
    def ppf(cls, q: Any, df: Any) -> Any:
        return special.stdtrit(df, q)

    @classmethod
    def isf(cls, q: Any, df: Any) -> Any:
        return -special.stdtrit(df, q)

    @classmethod
    def mean(cls, df: Any) -> Any:
        return np.where(df > 1, 0.0, np.inf)

    @classmethod
    def var(cls, df: Any) -> Any:
        found = np.where(np.isfinite(df), df / (df - 2.0), 1.0)
        return np.where(df > 2, found, np.where(df > 1, np.inf, np.nan))

    @classmethod
    def entropy(cls, df: Any) -> Any:
        half, above = df / 2, (df + 1) / 2
        found = above * (special.digamma(above) - special.digamma(half)) + np.log(
            np.sqrt(df) * special.beta(half, 0.5)
        )
        far = norm.entropy() + 1 / df + df**-2.0 / 4 - df**-3.0 / 6
        far = far - df**-4.0 / 8 + 3 / 10 * df**-5.0 + df**-6.0 / 4
        return np.where(df >= 100, far, found)


class gamma(Positive):
    @classmethod
    def logpdf(cls, x: Any, a: Any) -> Any:
        return special.xlogy(a - 1.0, x) - x - special.gammaln(a)

    @classmethod
    def cdf(cls, x: Any, a: Any) -> Any:
        return special.gammainc(a, x)

    @classmethod
    def sf(cls, x: Any, a: Any) -> Any:
        return special.gammaincc(a, x)

    @classmethod
    def ppf(cls, q: Any, a: Any) -> Any:
        return special.gammaincinv(a, q)

    @classmethod
    def isf(cls, q: Any, a: Any) -> Any:
        return special.gammainccinv(a, q)

    @classmethod
    def mean(cls, a: Any) -> Any:
        return a

    @classmethod
    def var(cls, a: Any) -> Any:
        return a

    @classmethod
    def entropy(cls, a: Any) -> Any:
        found = special.psi(a) * (1 - a) + a + special.gammaln(a)
        far = 0.5 * (1.0 + _LOG_TAU + np.log(a)) - 1 / (3 * a)
        far = far - a**-2.0 / 12 - a**-3.0 / 90 + a**-4.0 / 120
        return np.where(a < 250, found, far)


class invgamma(Positive):
    is_open = True

    @classmethod
    def logpdf(cls, x: Any, a: Any) -> Any:
        return -(a + 1) * np.log(x) - special.gammaln(a) - 1.0 / x

    @classmethod
    def cdf(cls, x: Any, a: Any) -> Any:
        return special.gammaincc(a, 1.0 / x)

    @classmethod
    def sf(cls, x: Any, a: Any) -> Any:
        return special.gammainc(a, 1.0 / x)

    @classmethod
    def ppf(cls, q: Any, a: Any) -> Any:
        return 1.0 / special.gammainccinv(a, q)

    @classmethod
    def isf(cls, q: Any, a: Any) -> Any:
        return 1.0 / special.gammaincinv(a, q)

    @classmethod
    def mean(cls, a: Any) -> Any:
        return np.where(a > 1, 1.0 / (a - 1.0), np.inf)

    @classmethod
    def var(cls, a: Any) -> Any:
        return np.where(a > 2, 1.0 / (a - 1.0) ** 2 / (a - 2.0), np.inf)

    @classmethod
    def entropy(cls, a: Any) -> Any:
        found = a - (a + 1.0) * special.psi(a) + special.gammaln(a)
        far = (1 - 3 * np.log(a) + _LOG_2 + _LOG_PI) / 2
        far = far + 2 / 3 * a**-1.0 + a**-2.0 / 12 - a**-3.0 / 90 - a**-4.0 / 120
        return np.where(a >= 200, far, found)


def _half_entropy(a: Any, b: Any) -> Any:
    """Return the entropy of the beta distribution where b is much larger than a."""
    both = a + b
    near = special.gammaln(a) - (a - 1) * special.psi(a)
    rest = -1 / (2 * b) + 1 / (12 * b) - b**-2.0 / 12 - b**-3.0 / 120 + b**-4.0 / 120
    rest = rest + b**-5.0 / 252 - b**-6.0 / 252 + 1 / both - 1 / (12 * both)
    rest = rest + both**-2.0 / 6 + both**-3.0 / 120 - both**-4.0 / 60
    rest = rest - both**-5.0 / 252 + both**-6.0 / 126
    return near + rest + (both * np.log1p(a / b) + np.log(b) - 2 * np.log(both))


def _large(v: Any) -> Any:
    """Return from where on the other shape counts as large."""
    j = np.floor(np.log10(v))
    d = np.floor(v / 10.0**j) + 2
    return np.where(v != 1.0, d * 10.0 ** (7.0 + j), 1000.0)


class beta(Continuous):
    @classmethod
    def support(cls, a: Any, b: Any) -> Any:
        return 0.0, 1.0

    @classmethod
    def pdf(cls, x: Any, a: Any, b: Any) -> Any:
        return _ufuncs._beta_pdf(x, a, b)

    @classmethod
    def logpdf(cls, x: Any, a: Any, b: Any) -> Any:
        found = special.xlog1py(b - 1.0, -x) + special.xlogy(a - 1.0, x)
        return found - special.betaln(a, b)

    @classmethod
    def cdf(cls, x: Any, a: Any, b: Any) -> Any:
        return special.betainc(a, b, x)

    @classmethod
    def sf(cls, x: Any, a: Any, b: Any) -> Any:
        return special.betaincc(a, b, x)

    @classmethod
    def ppf(cls, q: Any, a: Any, b: Any) -> Any:
        return _ufuncs._beta_ppf(q, a, b)

    @classmethod
    def isf(cls, q: Any, a: Any, b: Any) -> Any:
        return special.betainccinv(a, b, q)

    @classmethod
    def mean(cls, a: Any, b: Any) -> Any:
        return a / (a + b)

    @classmethod
    def var(cls, a: Any, b: Any) -> Any:
        both = a + b
        return a * b / (both**2 * (both + 1))

    @classmethod
    def entropy(cls, a: Any, b: Any) -> Any:
        a, b = np.float64(a), np.float64(b)
        both = a + b
        found = special.betaln(a, b) - (a - 1) * special.psi(a)
        found = found - (b - 1) * special.psi(b) + (both - 2) * special.psi(both)
        far = 0.5 * (_LOG_TAU + np.log(a) + np.log(b) - 3 * np.log(both) + 1)
        rest = 110 / both + 20 * both**-2.0 + both**-3.0 - 2 * both**-4.0
        rest = rest - 50 / a - 10 * a**-2.0 - a**-3.0 + a**-4.0
        rest = rest - 50 / b - 10 * b**-2.0 - b**-3.0 + b**-4.0
        b_is_large = (a <= 4.9e6) & (b - a >= 1e6) & (b >= _large(a))
        a_is_large = (b <= 4.9e6) & (a - b >= 1e6) & (a >= _large(b))
        found = np.where(a_is_large, _half_entropy(b, a), found)
        found = np.where(b_is_large, _half_entropy(a, b), found)
        # SciPy has no formula in between.
        known = (a < 4.9e6) & (b < 4.9e6) | a_is_large | b_is_large
        found = np.where(known, found, 0.0)
        return np.where((a >= 4.96e6) & (b >= 4.96e6), far + rest / 120, found)


class chi2(Positive):
    @classmethod
    def logpdf(cls, x: Any, df: Any) -> Any:
        half = df / 2.0
        return special.xlogy(half - 1, x) - x / 2.0 - special.gammaln(half) - (_LOG_2 * df) / 2.0

    @classmethod
    def cdf(cls, x: Any, df: Any) -> Any:
        return special.chdtr(df, x)

    @classmethod
    def sf(cls, x: Any, df: Any) -> Any:
        return special.chdtrc(df, x)

    @classmethod
    def ppf(cls, q: Any, df: Any) -> Any:
        return 2.0 * special.gammaincinv(df / 2, q)

    @classmethod
    def isf(cls, q: Any, df: Any) -> Any:
        return special.chdtri(df, q)

    @classmethod
    def mean(cls, df: Any) -> Any:
        return df

    @classmethod
    def var(cls, df: Any) -> Any:
        return 2 * df

    @classmethod
    def entropy(cls, df: Any) -> Any:
        half = 0.5 * df
        found = half + _LOG_2 + special.gammaln(half) + (1 - half) * special.psi(half)
        h = 0.5 / half
        far = h * (-2 / 3 + h * (-1 / 3 + h * (-4 / 45 + h / 7.5)))
        far = far + 0.5 * np.log(half) + (_LOG_2 + 0.5 * (1 + _LOG_TAU))
        return np.where(half < 125, found, far)


class f(Positive):
    @classmethod
    def logpdf(cls, x: Any, dfn: Any, dfd: Any) -> Any:
        n, m = 1.0 * dfn, 1.0 * dfd
        found = m / 2 * np.log(m) + n / 2 * np.log(n) + special.xlogy(n / 2 - 1, x)
        return found - ((n + m) / 2 * np.log(m + n * x) + special.betaln(n / 2, m / 2))

    @classmethod
    def cdf(cls, x: Any, dfn: Any, dfd: Any) -> Any:
        return special.fdtr(dfn, dfd, x)

    @classmethod
    def sf(cls, x: Any, dfn: Any, dfd: Any) -> Any:
        return special.fdtrc(dfn, dfd, x)

    @classmethod
    def ppf(cls, q: Any, dfn: Any, dfd: Any) -> Any:
        return special.fdtri(dfn, dfd, q)

    @classmethod
    def mean(cls, dfn: Any, dfd: Any) -> Any:
        return np.where(dfd > 2, dfd / (dfd - 2.0), np.inf)

    @classmethod
    def var(cls, dfn: Any, dfd: Any) -> Any:
        n, m = 1.0 * dfn, 1.0 * dfd
        rest = m - 2.0
        return np.where(m > 4, 2 * m * m * (n + rest) / (n * rest**2 * (m - 4.0)), np.inf)

    @classmethod
    def entropy(cls, dfn: Any, dfd: Any) -> Any:
        n, m, both = 0.5 * dfn, 0.5 * dfd, 0.5 * (dfn + dfd)
        found = np.log(dfd) - np.log(dfn) + special.betaln(n, m) + (1 - n) * special.psi(n)
        return found - (1 + m) * special.psi(m) + both * special.psi(both)


def _log_difference(p: Any, q: Any) -> Any:
    """Return the logarithm of ``exp(p) - exp(q)``."""
    return p + np.log(-np.expm1(q - p))


def _log_mass(a: Any, b: Any) -> Any:
    """Return the logarithm of the probability of a normal variable between a and b.

    It is computed in the left tail, or in the centre from both.
    """
    left = _log_difference(special.log_ndtr(b), special.log_ndtr(a))
    right = _log_difference(special.log_ndtr(-a), special.log_ndtr(-b))
    centre = np.log1p(-special.ndtr(a) - special.ndtr(-b))
    return np.where(b <= 0, left, np.where(a > 0, right, centre))


class truncnorm(Continuous):
    @classmethod
    def valid(cls, a: Any, b: Any) -> Any:
        return a < b

    @classmethod
    def support(cls, a: Any, b: Any) -> Any:
        return a, b

    @classmethod
    def logpdf(cls, x: Any, a: Any, b: Any) -> Any:
        return -(x**2) / 2.0 - LOG_ROOT_TAU - _log_mass(a, b)

    @classmethod
    def cdf(cls, x: Any, a: Any, b: Any) -> Any:
        return np.exp(cls.logcdf(x, a, b))

    @classmethod
    def logcdf(cls, x: Any, a: Any, b: Any) -> Any:
        whole = _log_mass(a, b)
        found = _log_mass(a, x) - whole
        return np.where(found > -0.1, np.log1p(-np.exp(_log_mass(x, b) - whole)), found)

    @classmethod
    def sf(cls, x: Any, a: Any, b: Any) -> Any:
        return np.exp(cls.logsf(x, a, b))

    @classmethod
    def logsf(cls, x: Any, a: Any, b: Any) -> Any:
        whole = _log_mass(a, b)
        found = _log_mass(x, b) - whole
        return np.where(found > -0.1, np.log1p(-np.exp(_log_mass(a, x) - whole)), found)

    @classmethod
    def ppf(cls, q: Any, a: Any, b: Any) -> Any:
        whole = _log_mass(a, b)
        left = np.logaddexp(special.log_ndtr(a), np.log(q) + whole)
        right = np.logaddexp(special.log_ndtr(-b), np.log1p(-q) + whole)
        return np.where(a < 0, special.ndtri_exp(left), -special.ndtri_exp(right))

    @classmethod
    def isf(cls, q: Any, a: Any, b: Any) -> Any:
        whole = _log_mass(a, b)
        left = _log_difference(special.log_ndtr(b), np.log(q) + whole)
        right = _log_difference(special.log_ndtr(-a), np.log1p(-q) + whole)
        return np.where(b < 0, special.ndtri_exp(left), -special.ndtri_exp(right))

    @classmethod
    def mean(cls, a: Any, b: Any) -> Any:
        a, b = np.float64(a), np.float64(b)
        return cls.pdf(a, a, b) - cls.pdf(b, a, b)

    @classmethod
    def var(cls, a: Any, b: Any) -> Any:
        a, b = np.float64(a), np.float64(b)
        low, high = cls.pdf(a, a, b), cls.pdf(b, a, b)
        mu = low - high
        # An end may be infinite, where the density is 0.
        first = np.where(low != 0.0, low * (a - mu), 0.0)
        return 1.0 + (first + np.where(high != 0.0, -high * (b - mu), 0.0))

    @classmethod
    def entropy(cls, a: Any, b: Any) -> Any:
        mass = special.ndtr(b) - special.ndtr(a)
        change = (a * norm.pdf(a) - b * norm.pdf(b)) / (2.0 * mass)
        return np.log(math.sqrt(2.0 * math.pi * math.e) * mass) + change


class vonmises(Real):
    @classmethod
    def valid(cls, kappa: Any) -> Any:
        return kappa >= 0

    @classmethod
    def pdf(cls, x: Any, kappa: Any) -> Any:
        return np.exp(kappa * special.cosm1(x)) / (2.0 * np.pi * special.i0e(kappa))

    @classmethod
    def logpdf(cls, x: Any, kappa: Any) -> Any:
        return kappa * special.cosm1(x) - _LOG_TAU - np.log(special.i0e(kappa))

    @classmethod
    def cdf(cls, x: Any, kappa: Any) -> Any:
        """Return the distribution function, which grows by 1 with each turn.

        The series is that of Hill, "Algorithm 518: Incomplete Bessel function I0. The von Mises
        distribution", ACM Transactions on Mathematical Software 3(3), 1977.
        """
        kappa = np.float64(kappa)
        turns = np.round(x / (2.0 * np.pi))
        x = x - turns * (2.0 * np.pi)
        if kappa < 50.0:
            count = int(1 + 28.0 + 0.5 * kappa - 100.0 / (kappa + 5.0))
            s, c = np.sin(x), np.cos(x)
            sn, cn = np.sin(count * x), np.cos(count * x)
            r, v = 0.0 * x, 0.0 * x
            for n in range(count - 1, 0, -1):
                sn, cn = sn * c - cn * s, cn * c + sn * s
                r = kappa / (2.0 * n + kappa * r)
                v = r * (sn / n + v)
            found = np.clip(0.5 + x / (2.0 * np.pi) + v / np.pi, 0.0, 1.0)
        else:
            scale = math.sqrt(2.0 / math.pi) / special.i0e(kappa)
            found = special.ndtr(scale * np.sin(x / 2.0))
        return found + turns

    @classmethod
    def mean(cls, kappa: Any) -> Any:
        return 0.0

    @classmethod
    def entropy(cls, kappa: Any) -> Any:
        scaled = special.i0e(kappa)
        return -kappa * special.i1e(kappa) / scaled + np.log(2.0 * np.pi * scaled) + kappa
