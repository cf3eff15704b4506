"""Fit a Poisson regression with a random effect to seizures of 59 patients in a trial of a drug.

The model of N. E. Breslow and D. G. Clayton (Approximate inference in generalized linear mixed
models, J. Am. Stat. Assoc. 88, 1993, section 6.2): patients differ in ways that were not measured,
by a normal effect on the logarithm of the rate. Its likelihood is an integral for each patient, in
Laplace's approximation at the effect that is most likely, which `brentq` finds. The derivatives go
through that search by the implicit function theorem.
"""

from pathlib import Path

import numpy as np
from numpy import ndarray
from scipy.optimize import approx_fprime, brentq, minimize
from scipy.special import logsumexp
from scipy.stats import norm, poisson

import adc

DATA = Path(__file__).parent / "data" / "epilepsy.csv"


def loss(theta: ndarray, x: ndarray, fourth: ndarray, counts: ndarray) -> float:
    """Return minus the logarithm of the likelihood, for coefficients and the effects' spread."""
    spread = np.exp(theta[-1])
    total = 0.0
    for k in range(len(counts)):
        fixed = x[k] @ theta[:-2] + theta[-2] * fourth
        rate, count = np.sum(np.exp(fixed)), np.sum(counts[k])
        effect = brentq(
            lambda u, rate=rate, count=count: count - rate * np.exp(u) - u / spread**2, -9.0, 9.0
        )
        joint = np.sum(poisson.logpmf(counts[k], np.exp(fixed + effect)))
        joint += norm.logpdf(effect, 0.0, spread)
        curvature = rate * np.exp(effect) + 1.0 / spread**2
        total -= joint + 0.5 * np.log(2.0 * np.pi / curvature)
    return float(total)


def exact(theta: ndarray, x: ndarray, fourth: ndarray, counts: ndarray) -> float:
    """Return the same without approximation, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    fixed = (x @ theta[:-2])[:, None] + theta[-2] * fourth
    logs = poisson.logpmf(
        counts[..., None], np.exp(fixed[..., None] + np.exp(theta[-1]) * nodes)
    ).sum(axis=1)
    return float(-logsumexp(logs, axis=1, b=weights / np.sqrt(2.0 * np.pi)).sum())


before, age, treated, *four = np.loadtxt(DATA, delimiter=",", skiprows=3, unpack=True)
counts = np.stack(four, axis=1)
fourth = np.array([0.0, 0.0, 0.0, 1.0])
severity = np.log(before / 4.0)
columns = np.ones(len(age)), severity, treated, severity * treated, np.log(age)
x = np.stack(columns, axis=1)

slope = adc.value_and_grad(loss)
start = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 0.0, -1.0])
differences = approx_fprime(start, loss, 1e-6, x, fourth, counts)
assert np.allclose(slope(start, x, fourth, counts)[1], differences, rtol=1e-4, atol=1e-2)

fit = minimize(slope, start, args=(x, fourth, counts), jac=True, method="BFGS")
errors = np.sqrt(np.diag(np.linalg.inv(adc.hessian(loss)(fit.x, x, fourth, counts))))
print(f"minus log-likelihood {fit.fun:.2f} ({exact(fit.x, x, fourth, counts):.2f} by quadrature)")
print("                  here           Breslow and Clayton")
published = [0.87, -0.91, 0.33, 0.47, -0.16]
names = ["seizures before", "drug", "before and drug", "age", "fourth visit"]
for name, value, error, theirs in zip(names, fit.x[1:], errors[1:], published, strict=False):
    print(f"{name:16} {value:6.2f} +- {error:.2f}   {theirs:6.2f}")
spread = np.exp(fit.x[-1])
print(f"{'spread':16} {spread:6.2f} +- {spread * errors[-1]:.2f}     0.53")

assert abs(fit.fun - exact(fit.x, x, fourth, counts)) < 0.5
assert np.abs(fit.x[1:-1] - published).max() < 0.1
