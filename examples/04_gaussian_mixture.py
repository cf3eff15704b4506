"""Fit a mixture of three Gaussians to scikit-learn's iris data by its likelihood.

A minimiser needs parameters without constraints: weights are a softmax, and a covariance is given
by the Cholesky factor of its inverse, whose diagonal is an exponential. No derivation of the steps
of expectation maximisation: the likelihood is written down, and that is all.
"""

from itertools import permutations

import numpy as np
from numpy import ndarray
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

import adc


@adc.value_and_grad
def loss(theta: ndarray, x: ndarray, k: int) -> float:
    """Return minus the mean log-likelihood of the points `x` under `k` Gaussians."""
    n, d = x.shape
    logits = theta[:k]
    means = theta[k : k + k * d].reshape(k, d)
    factors = theta[k + k * d :].reshape(k, d, d)
    logweights = logits - np.log(np.sum(np.exp(logits)))
    logp = np.zeros((n, k))
    for j in range(k):
        root = np.tril(factors[j], -1) + np.diag(np.exp(np.diag(factors[j])))
        z = (x - means[j]) @ root
        logp[:, j] = logweights[j] + np.trace(factors[j]) - 0.5 * np.sum(z * z, axis=1)
    top = logp.max(axis=1)
    likelihood = top + np.log(np.sum(np.exp(logp - top[:, np.newaxis]), axis=1))
    return float(d / 2 * np.log(2 * np.pi) - likelihood.mean())


x, species = load_iris(return_X_y=True)
n, d = x.shape
k = 3

rng = np.random.default_rng(0)
theirs = GaussianMixture(k, n_init=5, random_state=0, tol=1e-8, max_iter=1000).fit(x)
means = theirs.means_ + 0.3 * rng.normal(size=(k, d))  # near its fit: there are many local maxima
factors = np.tile(np.diag(-np.log(x.std(axis=0))), (k, 1, 1))
start = np.concatenate([np.zeros(k), means.ravel(), factors.ravel()])

value, gradient = loss(start, x, k)
differences = approx_fprime(start, lambda theta: loss(theta, x, k)[0], 1e-7)
assert np.allclose(gradient, differences, rtol=1e-4, atol=1e-5)

fit = minimize(loss, start, args=(x, k), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
print(f"minus log-likelihood {value:.4f} at the start, {fit.fun:.6f} after {fit.nit} steps")
print(f"that of scikit-learn's expectation maximisation {-theirs.score(x):.6f}")
print("means of the components, and of the same in scikit-learn:")
means = fit.x[k : k + k * d].reshape(k, d)
order = min(permutations(range(k)), key=lambda p: np.sum((means - theirs.means_[list(p)]) ** 2))
for mine, other in zip(means, theirs.means_[list(order)], strict=True):
    print(" ", np.round(mine, 3), np.round(other, 3))

assert fit.fun < -theirs.score(x) + 1e-3
assert np.allclose(means, theirs.means_[list(order)], atol=0.05)
