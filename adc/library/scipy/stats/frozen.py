"""Distributions with fixed parameters, such as ``scipy.stats.norm(0.0, s)``."""

from __future__ import annotations

from typing import Any


class Frozen:
    """A distribution of one variable, or of many, with its parameters.

    Parameters
    ----------
    dist : object
        SciPy's distribution.
    args : tuple
        What its methods take last; None stands for what was left out.
    """

    def __init__(self, dist: Any, args: Any) -> None:
        self.dist = dist
        self.args = args

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        return self.dist.pdf(x, *self.args)

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density at x."""
        return self.dist.logpdf(x, *self.args)

    def pmf(self, k: Any) -> Any:
        """Return the probability of k."""
        return self.dist.pmf(k, *self.args)

    def logpmf(self, k: Any) -> Any:
        """Return the logarithm of the probability of k."""
        return self.dist.logpmf(k, *self.args)

    def cdf(self, x: Any) -> Any:
        """Return the probability of x or less."""
        return self.dist.cdf(x, *self.args)

    def logcdf(self, x: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return self.dist.logcdf(x, *self.args)

    def sf(self, x: Any) -> Any:
        """Return the probability of more than x."""
        return self.dist.sf(x, *self.args)

    def logsf(self, x: Any) -> Any:
        """Return the logarithm of `sf`."""
        return self.dist.logsf(x, *self.args)

    def ppf(self, q: Any) -> Any:
        """Return where `cdf` is q."""
        return self.dist.ppf(q, *self.args)

    def isf(self, q: Any) -> Any:
        """Return where `sf` is q."""
        return self.dist.isf(q, *self.args)

    def median(self) -> Any:
        """Return the median."""
        return self.dist.median(*self.args)

    def mean(self) -> Any:
        """Return the mean."""
        return self.dist.mean(*self.args)

    def var(self) -> Any:
        """Return the variance."""
        return self.dist.var(*self.args)

    def std(self) -> Any:
        """Return the standard deviation."""
        return self.dist.std(*self.args)

    def entropy(self) -> Any:
        """Return the entropy."""
        return self.dist.entropy(*self.args)

    # What the front end refuses.

    def rvs(self, *args: Any, **kwds: Any) -> Any:
        """Draw numbers."""
        return self.dist.rvs(*self.args, *args, **kwds)

    def stats(self, *args: Any, **kwds: Any) -> Any:
        """Return moments."""
        return self.dist.stats(*self.args, *args, **kwds)

    def moment(self, *args: Any, **kwds: Any) -> Any:
        """Return a moment."""
        return self.dist.moment(*self.args, *args, **kwds)

    def support(self, *args: Any, **kwds: Any) -> Any:
        """Return the ends of the support."""
        return self.dist.support(*self.args, *args, **kwds)

    def interval(self, *args: Any, **kwds: Any) -> Any:
        """Return an interval around the median."""
        return self.dist.interval(*self.args, *args, **kwds)

    def expect(self, *args: Any, **kwds: Any) -> Any:
        """Return the mean of a function."""
        return self.dist.expect(*self.args, *args, **kwds)
