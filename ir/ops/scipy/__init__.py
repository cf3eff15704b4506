"""The functions of `scipy.special`, one row each, with their derivatives (`adc.ir.ops.ufuncs`).

In reading order:

===============  ===============================================================================
`gamma`          the gamma function, its logarithm and derivatives, beta functions
`error`          error functions and the normal distribution
`elementary`     what is elementary arithmetic: logistic functions, entropies, losses
`bessel`         Bessel functions and their relatives
`integrals`      exponential, sine and Fresnel integrals, and others
`elliptic`       elliptic integrals and functions, hypergeometric functions
`distributions`  distribution functions and their inverses
`polynomials`    orthogonal polynomials
`complexes`      functions of complex numbers
`kernels`        algorithms for a GPU
`stats`          what only `scipy.stats` calls
===============  ===============================================================================

A function of a complex number has two rows, for the real and the imaginary part of the result.
"""

from adc.ir.ops.scipy import bessel as bessel
from adc.ir.ops.scipy import complexes as complexes
from adc.ir.ops.scipy import distributions as distributions
from adc.ir.ops.scipy import elementary as elementary
from adc.ir.ops.scipy import elliptic as elliptic
from adc.ir.ops.scipy import error as error
from adc.ir.ops.scipy import gamma as gamma
from adc.ir.ops.scipy import integrals as integrals
from adc.ir.ops.scipy import polynomials as polynomials
from adc.ir.ops.scipy import stats as stats
