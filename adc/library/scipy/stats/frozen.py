"""Distributions with fixed parameters, such as ``scipy.stats.norm(0.0, s)``."""

from __future__ import annotations

from typing import Any


class Frozen:
    """A distribution of one variable, or of many, with its parameters.

    Parameters
    ----------
    dist : object
        SciPy's distribution.
    parameters : tuple
        What its methods take last.
    """

    def __init__(self, dist: Any, parameters: Any) -> None:
        self._dist = dist
        self._parameters = parameters

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        return self._dist.pdf(x, *self._parameters)

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density at x."""
        return self._dist.logpdf(x, *self._parameters)

    def pmf(self, k: Any) -> Any:
        """Return the probability of k."""
        return self._dist.pmf(k, *self._parameters)

    def logpmf(self, k: Any) -> Any:
        """Return the logarithm of the probability of k."""
        return self._dist.logpmf(k, *self._parameters)

    def cdf(self, x: Any) -> Any:
        """Return the probability of x or less."""
        return self._dist.cdf(x, *self._parameters)

    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return self._dist.logcdf(x, *self._parameters)

    def sf(self, x: Any) -> Any:
        """Return the probability of more than x."""
        return self._dist.sf(x, *self._parameters)

    def logsf(self, x: Any) -> Any:
        """Return the logarithm of `sf`."""
        return self._dist.logsf(x, *self._parameters)

    def ppf(self, q: Any) -> Any:
        """Return where `cdf` is q."""
        return self._dist.ppf(q, *self._parameters)

    def isf(self, q: Any) -> Any:
        """Return where `sf` is q."""
        return self._dist.isf(q, *self._parameters)

    def median(self) -> Any:
        """Return the median."""
        return self._dist.median(*self._parameters)

    def mean(self) -> Any:
        """Return the mean."""
        return self._dist.mean(*self._parameters)

    def var(self) -> Any:
        """Return the variance."""
        return self._dist.var(*self._parameters)

    def std(self) -> Any:
        """Return the standard deviation."""
        return self._dist.std(*self._parameters)

    def entropy(self) -> Any:
        """Return the entropy."""
        return self._dist.entropy(*self._parameters)

    # What the front end refuses.

    def rvs(self, *args: Any, **kwds: Any) -> Any:
        """Draw numbers."""
        return self._dist.rvs(*self._parameters, *args, **kwds)

    def stats(self, *args: Any, **kwds: Any) -> Any:
        """Return moments."""
        return self._dist.stats(*self._parameters, *args, **kwds)

    def moment(self, *args: Any, **kwds: Any) -> Any:
        """Return a moment."""
        return self._dist.moment(*self._parameters, *args, **kwds)

    def support(self, *args: Any, **kwds: Any) -> Any:
        """Return the ends of the support."""
        return self._dist.support(*self._parameters, *args, **kwds)

    def interval(self, *args: Any, **kwds: Any) -> Any:
        """Return an interval around the median."""
        return self._dist.interval(*self._parameters, *args, **kwds)

    def expect(self, *args: Any, **kwds: Any) -> Any:
        """Return the mean of a function."""
        return self._dist.expect(*self._parameters, *args, **kwds)
