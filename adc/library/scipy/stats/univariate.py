"""What all distributions of one variable share: location, scale, support, wrong parameters.

`Continuous` and `Discrete` are the bases of the distributions, with SciPy's defaults. The functions
are the methods that a program calls: `row` is a distribution, and an argument that is left out is
None.
Outside of the support densities are zero, and wrong parameters give NaN.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

special: Any = importlib.import_module("scipy.special")


class Distribution:
    """What continuous and discrete distributions share."""

    @classmethod
    def valid(cls, *shapes: Any) -> Any:
        """Whether the shape parameters are valid: positive, unless a distribution differs."""
        found = True
        for shape in shapes:
            found = found & (shape > 0)
        return found

    @classmethod
    def sf(cls, x: Any, *shapes: Any) -> Any:
        """Return the probability of more than x."""
        return 1.0 - cls.cdf(x, *shapes)

    @classmethod
    def isf(cls, q: Any, *shapes: Any) -> Any:
        """Return where `sf` is q."""
        return cls.ppf(1.0 - q, *shapes)

    @classmethod
    def logcdf(cls, x: Any, *shapes: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return np.log(cls.cdf(x, *shapes))

    @classmethod
    def logsf(cls, x: Any, *shapes: Any) -> Any:
        """Return the logarithm of `sf`."""
        return np.log(cls.sf(x, *shapes))

    @classmethod
    def cdf(cls, x: Any, *shapes: Any) -> Any:
        """Return the probability of x or less."""
        raise NotImplementedError

    @classmethod
    def ppf(cls, q: Any, *shapes: Any) -> Any:
        """Return where `cdf` is q."""
        raise NotImplementedError


class Continuous(Distribution):
    """A continuous distribution, for location 0 and scale 1."""

    # Whether the support is all numbers, and whether its ends do not belong to it.
    is_everywhere = False
    is_open = False

    @classmethod
    def support(cls, *shapes: Any) -> Any:
        """Return the ends of the support."""
        return -np.inf, np.inf

    @classmethod
    def logpdf(cls, x: Any, *shapes: Any) -> Any:
        """Return the logarithm of the density."""
        return np.log(cls.pdf(x, *shapes))

    @classmethod
    def pdf(cls, x: Any, *shapes: Any) -> Any:
        """Return the density."""
        return np.exp(cls.logpdf(x, *shapes))

    # Above the median from the other tail: `cdf` is close to 1 there, and would be rounded.

    @classmethod
    def logcdf(cls, x: Any, *shapes: Any) -> Any:
        """Return the logarithm of `cdf`."""
        found = cls.cdf(x, *shapes)
        return np.where(found < 0.5, np.log(found), np.log1p(-cls.sf(x, *shapes)))

    @classmethod
    def logsf(cls, x: Any, *shapes: Any) -> Any:
        """Return the logarithm of `sf`."""
        found = cls.sf(x, *shapes)
        return np.where(found < 0.5, np.log(found), np.log1p(-cls.cdf(x, *shapes)))


class Real(Continuous):
    """A continuous distribution of all numbers."""

    is_everywhere = True


class Positive(Continuous):
    """A continuous distribution of positive numbers."""

    @classmethod
    def support(cls, *shapes: Any) -> Any:
        """Return the ends of the support."""
        return 0.0, np.inf


class Discrete(Distribution):
    """A distribution of integers, for location 0."""

    @classmethod
    def support(cls, *shapes: Any) -> Any:
        """Return the ends of the support."""
        return 0.0, np.inf


# -- continuous ------------------------------------------------------------------------------------


def _standard(x: Any, loc: Any, scale: Any) -> Any:
    """Return x for location 0 and scale 1, in double precision as in SciPy."""
    if loc is not None:
        x = x - loc
    if scale is not None:
        x = x / scale
    return np.float64(x)


def _valid(row: Any, scale: Any, shapes: Any) -> Any:
    found = row.valid(*shapes)
    if scale is not None:
        found = found & (scale > 0)
    return found


def _inside(row: Any, z: Any, is_open: Any, shapes: Any) -> Any:
    """Whether z is in the support."""
    a, b = row.support(*shapes)
    if is_open:
        return (a < z) & (z < b)
    return (a <= z) & (z <= b)


def _supported(row: Any, found: Any, z: Any, valid: Any, outside: Any, shapes: Any) -> Any:
    """Return a function of the density, with what it is outside of the support."""
    if row.is_everywhere:
        return np.where(valid, found, np.nan)
    found = np.where(_inside(row, z, row.is_open, shapes), found, outside)
    return np.where(valid & (z == z), found, np.nan)


def pdf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the density at x."""
    z = _standard(x, loc, scale)
    valid = _valid(row, scale, shapes)
    found = row.pdf(z, *shapes)
    if scale is not None:
        found = found / scale
    return _supported(row, found, z, valid, 0.0, shapes)


def logpdf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of the density at x."""
    z = _standard(x, loc, scale)
    valid = _valid(row, scale, shapes)
    found = row.logpdf(z, *shapes)
    if scale is not None:
        found = found - np.log(scale)
    return _supported(row, found, z, valid, -np.inf, shapes)


def _cumulated(
    row: Any, fn: Any, x: Any, loc: Any, scale: Any, shapes: Any, below: Any, above: Any
) -> Any:
    """Return a function of a distribution, which is known on both sides of the support."""
    z = _standard(x, loc, scale)
    valid = _valid(row, scale, shapes)
    a, b = row.support(*shapes)
    found = np.where(z <= a, below, np.where(z >= b, above, fn(z, *shapes)))
    return np.where(valid & (z == z), found, np.nan)


def cdf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the probability of x or less."""
    return _cumulated(row, row.cdf, x, loc, scale, shapes, 0.0, 1.0)


def sf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the probability of more than x."""
    return _cumulated(row, row.sf, x, loc, scale, shapes, 1.0, 0.0)


def logcdf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of `cdf`."""
    return _cumulated(row, row.logcdf, x, loc, scale, shapes, -np.inf, 0.0)


def logsf(row: Any, x: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of `sf`."""
    return _cumulated(row, row.logsf, x, loc, scale, shapes, 0.0, -np.inf)


def _placed(x: Any, loc: Any, scale: Any) -> Any:
    if scale is not None:
        x = x * scale
    if loc is not None:
        x = x + loc
    return np.float64(x)


def _between(q: Any) -> Any:
    """Return q, or what is safe for the functions of Boost that raise for other numbers."""
    return np.where((0 < q) & (q < 1), q, 0.5)


def _quantile(
    row: Any, fn: Any, q: Any, loc: Any, scale: Any, shapes: Any, low: Any, high: Any
) -> Any:
    """Return an inverse, which has the ends of the support for q of `low` and `high`."""
    a, b = row.support(*shapes)
    valid = _valid(row, scale, shapes) & (0 <= q) & (q <= 1)
    found = _placed(fn(_between(q), *shapes), loc, scale)
    found = np.where(q == low, _placed(a, loc, scale), found)
    found = np.where(q == high, _placed(b, loc, scale), found)
    return np.where(valid, found, np.nan)


def ppf(row: Any, q: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return where `cdf` is q."""
    return _quantile(row, row.ppf, q, loc, scale, shapes, 0, 1)


def isf(row: Any, q: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return where `sf` is q."""
    return _quantile(row, row.isf, q, loc, scale, shapes, 1, 0)


def median(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the median."""
    return ppf(row, 0.5, loc, scale, shapes)


def _known(row: Any, found: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return a number that a distribution has, or NaN where parameters are wrong."""
    valid = _valid(row, scale, shapes)
    if loc is not None:
        valid = valid & (loc == loc)
    return np.where(valid, np.float64(found), np.nan)


def mean(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the mean."""
    return _known(row, _placed(row.mean(*shapes), loc, scale), loc, scale, shapes)


def var(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the variance."""
    found = row.var(*shapes)
    if scale is not None:
        found = found * scale * scale
    return _known(row, found, loc, scale, shapes)


def std(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the standard deviation."""
    return np.sqrt(var(row, loc, scale, shapes))


def entropy(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the differential entropy, or that of a discrete distribution."""
    found = row.entropy(*shapes)
    if scale is not None:
        found = found + np.log(scale)
    return _known(row, found, loc, scale, shapes)


# -- discrete --------------------------------------------------------------------------------------


def _shifted(k: Any, loc: Any) -> Any:
    return np.float64(k) if loc is None else k - loc


def _mass(row: Any, fn: Any, k: Any, outside: Any, shapes: Any) -> Any:
    """Return a function of a distribution at an integer, with the derivative 0 by it."""
    whole = np.floor(k)
    found = fn(whole, *shapes)
    inside = _inside(row, k, False, shapes) & (whole == k)
    found = np.where(inside, found, outside)
    return np.where(row.valid(*shapes) & (k == k), np.float64(found), np.nan)


def pmf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the probability of k."""
    k = _shifted(k, loc)
    return _mass(row, row.pmf, k, 0.0, shapes)


def logpmf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of the probability of k."""
    k = _shifted(k, loc)
    return _mass(row, row.logpmf, k, -np.inf, shapes)


def _counted(row: Any, found: Any, k: Any, shapes: Any, below: Any, above: Any) -> Any:
    """Return a function of a distribution, which is known on both sides of the support."""
    a, b = row.support(*shapes)
    found = np.where(k < a, below, np.where(k >= b, above, found))
    return np.where(row.valid(*shapes) & (k == k), np.float64(found), np.nan)


def discrete_cdf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the probability of k or less."""
    k = np.floor(np.float64(_shifted(k, loc)))
    return _counted(row, np.clip(row.cdf(k, *shapes), 0.0, 1.0), k, shapes, 0.0, 1.0)


def discrete_sf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the probability of more than k."""
    k = np.floor(np.float64(_shifted(k, loc)))
    return _counted(row, np.clip(row.sf(k, *shapes), 0.0, 1.0), k, shapes, 1.0, 0.0)


def discrete_logcdf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of the probability of k or less."""
    k = np.floor(np.float64(_shifted(k, loc)))
    found = _counted(row, row.logcdf(k, *shapes), k, shapes, -np.inf, 0.0)
    # In SciPy the upper end counts even where parameters are wrong.
    return np.where(k >= row.support(*shapes)[1], 0.0, found)


def discrete_logsf(row: Any, k: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the logarithm of the probability of more than k."""
    k = np.floor(np.float64(_shifted(k, loc)))
    return _counted(row, row.logsf(k, *shapes), k, shapes, 0.0, -np.inf)


def _integer(row: Any, fn: Any, q: Any, loc: Any, shapes: Any, low: Any, high: Any) -> Any:
    a, b = row.support(*shapes)
    valid = row.valid(*shapes) & (0 <= q) & (q <= 1)
    found = np.where(q == low, a - 1.0, np.where(q == high, b, fn(_between(q), *shapes)))
    return np.where(valid, np.float64(found) if loc is None else np.float64(found) + loc, np.nan)


def discrete_ppf(row: Any, q: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the least integer at which `cdf` is at least q."""
    return _integer(row, row.ppf, q, loc, shapes, 0, 1)


def discrete_isf(row: Any, q: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the least integer at which `sf` is at most q."""
    return _integer(row, row.isf, q, loc, shapes, 1, 0)


def discrete_median(row: Any, loc: Any, scale: Any, shapes: Any) -> Any:
    """Return the median."""
    return discrete_ppf(row, 0.5, loc, scale, shapes)
