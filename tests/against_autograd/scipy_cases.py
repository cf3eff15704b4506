"""Calls of all functions of `autograd.scipy` that have a gradient there.

Written with `special`, `stats`, `linalg`, `signal`: adc differentiates SciPy's functions, autograd
its own, in modules of these names. `autograd.scipy.integrate.odeint` is compared where `odeint` is
tested (`tests.unit.library.scipy.integrate.test_odes`).
"""
# One call a line, as a table: some are long.

from __future__ import annotations

import numpy as np
from scipy import linalg, signal, special, stats

from tests.against_autograd.cases import RNG, A, Case, P, S, U, V

CASES: list[Case] = []

Q = RNG.uniform(0.4, 2.5, size=5)
R = RNG.uniform(0.1, 0.9, size=5)  # within (0, 1)
W = RNG.uniform(0.5, 2.0, size=(2, 5))
K = np.array([0.0, 1.0, 3.0, 2.0, 7.0])
M = 0.5 * RNG.normal(size=3)
C = S @ S.T
BANDS = np.array([[0.0, 0.3, -0.2, 0.5], [3.0, 4.0, 3.5, 2.5], [0.4, -0.1, 0.7, 0.0]])
F = RNG.normal(size=4)


def case(name: str, *calls: tuple[object, tuple[object, ...]]) -> None:
    """Enter calls of a function."""
    for k, (fn, args) in enumerate(calls):
        CASES.append((f"{name}-{k}", fn, args))  # type: ignore[arg-type]  # lambdas of arrays


# --- special --------------------------------------------------------------------------------------

case(
    "beta",
    (lambda a, b: special.beta(a, b), (P, Q)),
    (lambda a, b: special.beta(a, b), (W, Q)),
    (lambda a, b: special.betaln(a, b), (P, Q)),
    (lambda x: special.betainc(1.3, 2.1, x), (R,)),
)
case(
    "gamma",
    (lambda x: special.gamma(x), (P,)),
    (lambda x: special.gammaln(x), (P,)),
    (lambda x: special.rgamma(x), (P,)),
    (lambda x: special.psi(x), (P,)),
    (lambda x: special.digamma(x), (W,)),
    (lambda x: special.polygamma(1, x), (P,)),
    (lambda x: special.polygamma(2, x), (P,)),
    (lambda x: special.gammasgn(x) * x, (V,)),
    (lambda x: special.multigammaln(x[0] + 3.0, 3), (P,)),
    (lambda x: special.gammainc(1.7, x), (P,)),
    (lambda x: special.gammaincc(1.7, x), (P,)),
)
case(
    "bessel",
    (lambda x: special.j0(x), (V,)),
    (lambda x: special.j1(x), (V,)),
    (lambda x: special.jn(2, x), (V,)),
    (lambda x: special.y0(x), (P,)),
    (lambda x: special.y1(x), (P,)),
    (lambda x: special.yn(2, x), (P,)),
    (lambda x: special.i0(x), (V,)),
    (lambda x: special.i1(x), (V,)),
    (lambda x: special.iv(2, x), (P,)),
    (lambda x: special.ive(2, x), (P,)),
)
case(
    "erf",
    (lambda x: special.erf(x), (V,)),
    (lambda x: special.erfc(x), (V,)),
    (lambda x: special.erfinv(x), (U,)),
    (lambda x: special.erfcinv(x), (R,)),
)
case(
    "logistic", (lambda x: special.logit(x), (R,)), (lambda x: special.expit(x), (V,)),
)  # fmt: skip
case(
    "logsumexp",
    (lambda x: special.logsumexp(x), (V,)),
    (lambda x: special.logsumexp(x, axis=0), (A,)),
    (lambda x: special.logsumexp(x, axis=1, keepdims=True), (A,)),
    (lambda x: special.logsumexp(x, b=np.array([1.0, 2.0, 0.5, 1.5, 0.2])), (V,)),
)

# --- stats ----------------------------------------------------------------------------------------

case(
    "beta",
    (lambda x: stats.beta.cdf(x, 1.5, 2.5), (R,)),
    (lambda x, a, b: stats.beta.pdf(x, a, b), (R, P, Q)),
    (lambda x, a, b: stats.beta.logpdf(x, a, b), (R, W, Q)),
)
case(
    "chi2",
    (lambda x: stats.chi2.cdf(x, 2.5), (P,)),
    # autograd's are zero where the degrees of freedom are no integer.
    (lambda x: stats.chi2.pdf(x, 3.0), (P,)),
    (lambda x: stats.chi2.logpdf(x, 3.0), (P,)),
)
case(
    "gamma_distribution",
    (lambda x: stats.gamma.cdf(x, 2.5), (P,)),
    (lambda x, a: stats.gamma.pdf(x, a), (P, Q)),
    (lambda x, a: stats.gamma.logpdf(x, a), (W, Q)),
)
case(
    "norm",
    (lambda x, m, s: stats.norm.pdf(x, m, s), (V, U, P)),
    (lambda x, m, s: stats.norm.logpdf(x, m, s), (W, U, P)),
    (lambda x, m, s: stats.norm.cdf(x, m, s), (V, U, P)),
    (lambda x, m, s: stats.norm.logcdf(x, m, s), (V, U, P)),
    (lambda x, m, s: stats.norm.sf(x, m, s), (V, U, P)),
    (lambda x, m, s: stats.norm.logsf(x, m, s), (W, U, P)),
)
case(
    "poisson",
    (lambda m: stats.poisson.pmf(K, m), (P,)),
    (lambda m: stats.poisson.logpmf(K, m), (P,)),
    (lambda m: stats.poisson.cdf(K, m), (P,)),
)
case(
    "t",
    (lambda x, n, m, s: stats.t.pdf(x, n, m, s), (V, Q, U, P)),
    (lambda x, n, m, s: stats.t.logpdf(x, n, m, s), (W, Q, U, P)),
    (lambda x, m: stats.t.cdf(x, 2.5, m, 1.3), (V, U)),
    (lambda x, m: stats.t.logcdf(x, 2.5, m, 1.3), (V, U)),
)
case(
    "dirichlet",
    (lambda a: stats.dirichlet.pdf(np.array([0.2, 0.5, 0.3]), a), (Q[:3],)),
    (lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.5, 0.3]), a), (Q[:3],)),
)
case(
    "multivariate_normal",
    (lambda x, m: stats.multivariate_normal.pdf(x, m, C), (V[:3], M)),
    (lambda x, m, a: stats.multivariate_normal.logpdf(x, m, a @ a.T), (V[:3], M, S)),
    (lambda x, m: stats.multivariate_normal.logpdf(x, m, C), (A[:, :3], M)),
    (lambda a: stats.multivariate_normal.entropy(M, a @ a.T), (S,)),
)

# --- linalg, signal -------------------------------------------------------------------------------

case(
    "solve_triangular",
    (lambda a, b: linalg.solve_triangular(a, b), (S, M)),
    (lambda a, b: linalg.solve_triangular(a, b, lower=True), (S, M)),
    (lambda a, b: linalg.solve_triangular(a, b, trans="T"), (S, S.T)),
    (lambda a, b: linalg.solve_triangular(a, b, trans=1, lower=True), (S, M)),
)
case("solve_banded", (lambda a, b: linalg.solve_banded((1, 1), a, b), (BANDS, F)))
case("sqrtm", (lambda a: linalg.sqrtm(a @ a.T), (S,)))
case("solve_sylvester", (lambda a, q: linalg.solve_sylvester(a, a, q), (C, S)))
case(
    "convolve",
    (lambda x, y: signal.convolve(x, y), (V, F)),
    (lambda x, y: signal.convolve(x, y, mode="valid"), (V, M)),
    (lambda x, y: signal.convolve(x, y), (A, S)),
)
