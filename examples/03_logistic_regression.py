"""Logistic regression on scikit-learn's breast-cancer data, compared with its own fit."""

import numpy as np
from numpy import ndarray
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import adc


@adc.value_and_grad
def objective(theta: ndarray, x: ndarray, y: ndarray, penalty: float) -> float:
    """Return minus the log-likelihood, with a quadratic penalty on all but the intercept."""
    weights, intercept = theta[:-1], theta[-1]
    logits = x @ weights + intercept
    return float(np.sum(np.logaddexp(0.0, logits) - y * logits) + penalty / 2 * weights @ weights)


x, y = load_breast_cancer(return_X_y=True)
x = (x - x.mean(axis=0)) / x.std(axis=0)
y = y.astype(float)

start = np.zeros(x.shape[1] + 1)
value, gradient = objective(start, x, y, 1.0)
differences = approx_fprime(start, lambda theta: objective(theta, x, y, 1.0)[0], 1e-6)
assert np.allclose(gradient, differences, rtol=1e-3, atol=1e-3)

fit = minimize(objective, start, args=(x, y, 1.0), jac=True, options={"gtol": 1e-6})
theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(x, y)
print(f"objective {value:.4f} at the start, {fit.fun:.8f} after {fit.nit} steps")
theta = np.append(theirs.coef_, theirs.intercept_)
print(f"objective of scikit-learn's fit  {objective(theta, x, y, 1.0)[0]:.8f}")
print(f"largest difference of a coefficient {np.max(np.abs(fit.x - theta)):.1e}")
right = np.mean((x @ fit.x[:-1] + fit.x[-1] > 0.0) == y)
print(f"{100 * right:.1f} % of the patients are classified rightly")

assert np.allclose(fit.x, theta, atol=1e-4)
assert right > 0.98
