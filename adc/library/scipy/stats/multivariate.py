"""Distributions of vectors and matrices.

Matrices are factored by Cholesky's method, where SciPy takes eigenvalues, whose derivatives do not
exist where two are equal.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient

special: Any = importlib.import_module("scipy.special")

_LOG_2 = math.log(2.0)
_LOG_PI = math.log(math.pi)
# SciPy takes eigenvalues for zero that are smaller than this times the largest.
_EPSILON = 1e6 * float(np.finfo(np.float64).eps)
_LOG_TAU = math.log(2.0 * math.pi)


def _double(a: Any) -> Any:
    """Return numbers in double precision."""
    if np.ndim(a) == 0:
        return np.float64(a)
    x = np.asarray(a)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _log_det(factor: Any) -> Any:
    """Return the logarithm of the determinant of a matrix with a Cholesky factor."""
    return 2.0 * np.sum(np.log(np.diag(factor)))


# -- normal and Student's t ------------------------------------------------------------------------


def _filled(mean: Any, cov: Any) -> Any:
    """Return a mean and a covariance of which either may be None."""
    if cov is None:
        cov = 1.0
    cov = _double(cov)
    if mean is None:
        if np.ndim(cov) == 1:
            raise Unsupported(
                "a multivariate distribution with a vector of variances and no centre",
                "pass the centre, such as `np.zeros(n)`",
            )
        mean = np.zeros(cov.shape[0]) if np.ndim(cov) == 2 else 0.0
    return _double(mean), cov


def _spread(cov: Any, n: Any) -> Any:
    """Return the logarithm of the determinant of a covariance of n variables."""
    if np.ndim(cov) == 2:
        return _log_det(np.linalg.cholesky(cov))
    if np.ndim(cov) == 1:
        return np.sum(np.log(cov))
    return n * np.log(cov)


def _require(is_right: Any) -> None:
    if not is_right:
        raise ValueError("the input matrix must be symmetric positive definite")


def regular(cov: Any) -> Any:
    """Return a covariance for which `allow_singular` makes no difference, or raise."""
    if cov is None:
        return None
    if np.ndim(cov) == 2:
        values = np.linalg.eigvalsh(stop_gradient(_double(cov)))
    else:
        values = np.reshape(stop_gradient(_double(cov)), -1)
    if np.min(values) <= _EPSILON * np.max(np.abs(values)):
        raise ValueError("a singular covariance has no density here: project on its support")
    return cov


def _distance(x: Any, mean: Any, cov: Any) -> Any:
    """Return the squared distance in units of a covariance, its spread, and how many variables.

    A number as the mean stands for one variable.
    """
    mean, cov = _filled(mean, cov)
    x = _double(x)
    if np.ndim(mean) == 0:
        variance = cov if np.ndim(cov) == 0 else cov.reshape(1)[0]
        _require(variance > 0.0)
        found = (x - mean) ** 2 / variance
        if np.ndim(x) >= 2:
            if x.shape[-1] != 1:
                raise ValueError("the last axis of x is that of the variables, here one")
            found = np.sum(found, axis=-1)
        return found, np.log(variance), 1
    n = mean.shape[0]
    if np.ndim(x) > 0:
        if x.shape[-1] != n:
            raise ValueError("the last axis of x is that of the variables, as many as in the mean")
    dev = x - mean
    if np.ndim(cov) == 0:
        _require(cov > 0.0)
        return np.sum(dev * dev, axis=-1) / cov, n * np.log(cov), n
    if cov.shape[0] != n:
        raise ValueError("the covariance and the mean have different sizes")
    if np.ndim(cov) == 1:
        _require(np.min(cov) > 0.0)
        return np.sum(dev * dev / cov, axis=-1), np.sum(np.log(cov)), n
    factor = np.linalg.cholesky(cov)
    if np.ndim(dev) == 1:
        z = np.linalg.solve(factor, dev)
        return np.sum(z * z), _log_det(factor), n
    z = np.linalg.solve(factor, dev.reshape(-1, n).T)
    return np.sum(z * z, axis=0).reshape(dev.shape[:-1]), _log_det(factor), n


def _count(mean: Any) -> Any:
    return 1 if np.ndim(mean) == 0 else mean.shape[0]


def _squeezed(found: Any) -> Any:
    return found if np.ndim(found) == 0 else np.squeeze(found)


def multivariate_normal_logpdf(x: Any, mean: Any = None, cov: Any = None) -> Any:
    """`scipy.stats.multivariate_normal.logpdf`."""
    distance, spread, n = _distance(x, mean, cov)
    return _squeezed(-0.5 * (n * _LOG_TAU + spread + distance))


def multivariate_normal_pdf(x: Any, mean: Any = None, cov: Any = None) -> Any:
    """`scipy.stats.multivariate_normal.pdf`."""
    return np.exp(multivariate_normal_logpdf(x, mean, cov))


def multivariate_normal_entropy(mean: Any = None, cov: Any = None) -> Any:
    """`scipy.stats.multivariate_normal.entropy`."""
    mean, cov = _filled(mean, cov)
    n = _count(mean)
    if np.ndim(mean) == 0 and np.ndim(cov) > 0:
        return 0.5 * (_LOG_TAU + 1.0 + np.log(cov.reshape(1)[0]))
    return 0.5 * (n * (_LOG_TAU + 1.0) + _spread(cov, n))


def multivariate_t_logpdf(x: Any, loc: Any = None, shape: Any = None, df: Any = None) -> Any:
    """`scipy.stats.multivariate_t.logpdf`."""
    df = _freedom(df)
    distance, spread, n = _distance(x, loc, shape)
    half = 0.5 * (df + n)
    factor = special.gammaln(half) - special.gammaln(0.5 * df) - n / 2.0 * np.log(df * np.pi)
    found = factor - 0.5 * spread - half * np.log(1.0 + (1.0 / df) * distance)
    normal = -0.5 * (n * _LOG_TAU + spread + distance)
    return _squeezed(np.where(df == np.inf, normal, found))


def _freedom(df: Any) -> Any:
    found = np.float64(1.0 if df is None else df)
    if not found > 0.0:
        raise ValueError("'df' must be greater than zero.")
    return found


def multivariate_t_pdf(x: Any, loc: Any = None, shape: Any = None, df: Any = None) -> Any:
    """`scipy.stats.multivariate_t.pdf`."""
    return np.exp(multivariate_t_logpdf(x, loc, shape, df))


def multivariate_t_entropy(loc: Any = None, shape: Any = None, df: Any = None) -> Any:
    """`scipy.stats.multivariate_t.entropy`."""
    df = _freedom(df)
    spread = multivariate_normal_entropy(loc, shape)
    n = _count(_filled(loc, shape)[0])
    normal = 0.5 * n * (_LOG_TAU + 1.0)
    half, above = 0.5 * df, 0.5 * (n + df)
    near = special.gammaln(half) - special.gammaln(above) + 0.5 * n * np.log(df * np.pi)
    near = near + above * (special.psi(above) - special.psi(half))
    far = normal + n / df - n * (n - 2) * df**-2.0 / 4.0 + n**2 * (n - 2) * df**-3.0 / 6.0
    far = far + n * (-3 * n**3 + 8 * n**2 - 8) * df**-4.0 / 24.0
    far = far + n**2 * (3 * n**3 - 10 * n**2 + 16) * df**-5.0 / 30.0
    found = np.where(df >= n * 400.0 / (np.log(n) + 1.0), far, near)
    return np.where(df == np.inf, normal, found) + (spread - normal)


# -- Dirichlet -------------------------------------------------------------------------------------


def _alpha(alpha: Any) -> Any:
    found = _double(alpha)
    if np.ndim(found) != 1:
        raise ValueError("Parameter vector 'a' must be one dimensional")
    if np.min(found) <= 0.0:
        raise ValueError("All parameters must be greater than 0")
    return found


def _log_beta(alpha: Any) -> Any:
    return np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))


def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """`scipy.stats.dirichlet.logpdf`; the last component of `x` may be left out."""
    alpha, x = _alpha(alpha), _double(x)
    count, size = x.shape[0], alpha.shape[0]
    if count != size and count + 1 != size:
        raise ValueError("Vector 'x' must have as many entries as 'alpha', or one fewer")
    last = 1.0 - np.sum(x, axis=0)
    if np.min(x) < 0.0 or (count < size and np.min(last) < 0.0):
        raise ValueError("Each entry in 'x' must be greater than or equal to zero.")
    if np.max(x) > 1.0:
        raise ValueError("Each entry in 'x' must be smaller or equal one.")
    own = alpha[:count] if np.ndim(x) == 1 else alpha[:count].reshape(-1, 1)
    if np.any((x == 0.0) & (own < 1.0)):
        raise ValueError(
            "Each entry in 'x' must be greater than zero if its alpha is less than one."
        )
    if count == size and np.max(np.abs(last)) > 10e-10:
        raise ValueError("The input vector 'x' must lie within the normal simplex.")
    found = np.sum(special.xlogy(own - 1.0, x), axis=0)
    rest = np.where(count < size, special.xlogy(alpha[-1] - 1.0, last), 0.0)
    return _squeezed(-_log_beta(alpha) + (found + rest))


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    """`scipy.stats.dirichlet.pdf`."""
    return np.exp(dirichlet_logpdf(x, alpha))


def dirichlet_mean(alpha: Any) -> Any:
    """`scipy.stats.dirichlet.mean`."""
    alpha = _alpha(alpha)
    return _squeezed(alpha / np.sum(alpha))


def dirichlet_var(alpha: Any) -> Any:
    """`scipy.stats.dirichlet.var`."""
    alpha = _alpha(alpha)
    whole = np.sum(alpha)
    return _squeezed(alpha * (whole - alpha) / (whole * whole * (whole + 1.0)))


def dirichlet_entropy(alpha: Any) -> Any:
    """`scipy.stats.dirichlet.entropy`."""
    alpha = _alpha(alpha)
    whole = np.sum(alpha)
    found = _log_beta(alpha) + (whole - alpha.shape[0]) * special.psi(whole)
    return found - np.sum((alpha - 1.0) * special.psi(alpha))


# -- multinomial -----------------------------------------------------------------------------------


def _probabilities(p: Any) -> Any:
    """Return probabilities whose sum is 1: SciPy computes the last one from the others.

    It leaves the last one as it is where that changes nothing; the derivative is always so.
    """
    p = _double(p)
    others = 1.0 - np.sum(p[..., :-1], axis=-1)
    given = p[..., -1]
    off = np.abs(1.0 - np.sum(p, axis=-1)) > 10.0 * np.finfo(np.float64).eps
    kept = stop_gradient(given) + (others - stop_gradient(others))
    last = np.where(off, others, kept)
    return np.concatenate((p[..., :-1], np.expand_dims(last, -1)), axis=-1)


def _masses(x: Any, n: Any, p: Any, outside: Any, is_log: Any) -> Any:
    p, x, n = _probabilities(p), _double(x), np.float64(n) if np.ndim(n) == 0 else _double(n)
    if x.shape[-1] != p.shape[-1]:
        raise ValueError("Size of each quantile should be size of p")
    wrong = np.any((p < 0.0) | (p > 1.0), axis=-1) | (n < 0)
    found = special.gammaln(n + 1.0) + np.sum(
        special.xlogy(x, p) - special.gammaln(x + 1.0), axis=-1
    )
    if not is_log:
        found = np.exp(found)
    no_count = np.any((np.floor(x) != x) | (x < 0), axis=-1) | (np.sum(x, axis=-1) != n)
    return np.where(wrong, np.nan, np.where(no_count, outside, found))


def multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    """`scipy.stats.multinomial.logpmf`."""
    return _masses(x, n, p, -np.inf, True)


def multinomial_pmf(x: Any, n: Any, p: Any) -> Any:
    """`scipy.stats.multinomial.pmf`."""
    return _masses(x, n, p, 0.0, False)


# -- Wishart ---------------------------------------------------------------------------------------


def _wishart(df: Any, scale: Any) -> Any:
    """Return degrees of freedom, and a matrix."""
    found = _double(1.0 if scale is None else scale)
    if np.ndim(found) == 0:
        found = np.reshape(found, (1, 1))
    elif np.ndim(found) == 1:
        found = np.diag(found)
    n = found.shape[0]
    freedom = np.float64(n if df is None else df)
    if freedom <= n - 1:
        raise ValueError(
            "Degrees of freedom must be greater than the dimension of scale matrix minus 1."
        )
    return freedom, found, n


def _log_gamma(a: Any, n: Any) -> Any:
    """Return the logarithm of the multivariate gamma function."""
    return n * (n - 1) / 4.0 * _LOG_PI + np.sum(special.gammaln(a - 0.5 * np.arange(n)))


def _matrix_density(x: Any, freedom: Any, scale: Any, n: Any) -> Any:
    """Return the part of the density that depends on the matrix."""
    spread = _log_det(np.linalg.cholesky(x))
    return 0.5 * (freedom - n - 1) * spread - 0.5 * np.trace(np.linalg.solve(scale, x))


def wishart_logpdf(x: Any, df: Any = None, scale: Any = None) -> Any:
    """`scipy.stats.wishart.logpdf` of a matrix, or of several along the last axis."""
    freedom, scale, n = _wishart(df, scale)
    spread = _log_det(np.linalg.cholesky(scale))
    constant = 0.5 * freedom * n * _LOG_2 + 0.5 * freedom * spread + _log_gamma(0.5 * freedom, n)
    x = _double(x)
    if np.ndim(x) == 0:
        if n != 1:
            raise ValueError("Quantiles have incompatible dimensions")
        return 0.5 * (freedom - 2) * np.log(x) - 0.5 * (x / scale[0, 0]) - constant
    if np.ndim(x) == 1:
        raise Unsupported(
            "`scipy.stats.wishart` of a vector", "pass a matrix, such as `np.diag(x)`"
        )
    if x.shape[0] != n or x.shape[1] != n:
        raise ValueError("Quantiles have incompatible dimensions")
    if np.ndim(x) == 2:
        return _matrix_density(x, freedom, scale, n) - constant
    found = np.empty(x.shape[2])
    for k in range(x.shape[2]):
        found[k] = _matrix_density(x[:, :, k], freedom, scale, n) - constant
    return _squeezed(found)


def wishart_pdf(x: Any, df: Any = None, scale: Any = None) -> Any:
    """`scipy.stats.wishart.pdf`."""
    return np.exp(wishart_logpdf(x, df, scale))


def wishart_mean(df: Any = None, scale: Any = None) -> Any:
    """`scipy.stats.wishart.mean`."""
    freedom, scale, _ = _wishart(df, scale)
    return _squeezed(freedom * scale)


def wishart_var(df: Any = None, scale: Any = None) -> Any:
    """`scipy.stats.wishart.var`."""
    freedom, scale, _ = _wishart(df, scale)
    diagonal = np.diag(scale)
    return _squeezed(freedom * (scale**2 + np.outer(diagonal, diagonal)))


def wishart_entropy(df: Any = None, scale: Any = None) -> Any:
    """`scipy.stats.wishart.entropy`."""
    freedom, scale, n = _wishart(df, scale)
    found = 0.5 * (n + 1) * _log_det(np.linalg.cholesky(scale)) + 0.5 * n * (n + 1) * _LOG_2
    steps = np.sum(special.psi(0.5 * (freedom - np.arange(n))))
    found = found + _log_gamma(0.5 * freedom, n) - 0.5 * (freedom - n - 1) * steps
    return found + 0.5 * freedom * n
