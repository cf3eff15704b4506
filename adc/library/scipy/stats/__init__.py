"""`scipy.stats`: distributions, as plain Python of one number that the front end applies to arrays.

===============  ===============================================================================
`univariate`     what all distributions of one variable share: location, scale, support
`continuous`     continuous ones that are elementary, or made of the normal one
`shaped`         continuous ones whose shapes enter gamma and beta functions
`lifetimes`      inverse Gaussian and fatigue-life distributions
`skewed`         the skew normal distribution
`discrete`       discrete ones
`multivariate`   those of vectors and matrices
`frozen`         distributions with fixed parameters
`summaries`      means, moments, entropy and correlation of samples
===============  ===============================================================================

A distribution is a class that says what is its own, for location 0 and scale 1. Derivatives come
from the code and from the rows of `scipy.special`. The formulas are SciPy's.

The modules import SciPy. Nothing imports them before a program calls a distribution.
"""
