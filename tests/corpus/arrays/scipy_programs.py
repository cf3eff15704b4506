"""Programs that call SciPy's functions on real arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
from scipy import optimize, special, stats
from scipy.spatial.distance import cdist

from tests.corpus.program import Program, recorder, uniform

SCIPY_PROGRAMS: list[Program] = []
program = recorder(SCIPY_PROGRAMS)

# --- filters, interpolants and integrals ----------------------------------------------------------

SIGNAL = uniform(451, 20)
KNOTS = uniform(452, 6)
IMAGE = uniform(453, 5, 6)
KERNEL = uniform(454, 3, 3)
B, A = np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.4, 0.2])


@program(SIGNAL)
def energy_of_a_filtered_signal(x: Any) -> Any:
    y = scipy.signal.lfilter(B, A, x)
    return np.sum(y**2) + scipy.integrate.simpson(y, dx=0.1)


@program(KNOTS, SIGNAL, argnums=(0, 1))
def length_of_a_spline(y: Any, t: Any) -> Any:
    spline = scipy.interpolate.CubicSpline(np.arange(6.0), y)
    total = spline.integrate(0.5, 3.5)
    for k in range(len(t)):
        total += np.sqrt(1.0 + spline(2.5 + t[k], 1) ** 2)
    return 1.0 * total


@program(IMAGE, KERNEL, argnums=(0, 1))
def edges_of_an_image(x: Any, k: Any) -> Any:
    smooth = scipy.ndimage.gaussian_filter(x, 0.6, mode="nearest")
    return np.sum(scipy.ndimage.correlate(smooth, k, mode="wrap") ** 2)


@program(IMAGE, SIGNAL, argnums=(0, 1))
def image_along_a_line(x: Any, t: Any) -> Any:
    places = np.stack((1.5 + t, 2.5 - 0.5 * t))
    return np.sum(scipy.ndimage.map_coordinates(x, places, order=1, mode="nearest") ** 2)


# --- `special` and `stats` ------------------------------------------------------------------------

X = uniform(501, 9)
M = uniform(502, 4, 5)
POSITIVE = np.abs(uniform(503, 7)) + 0.3


@program(POSITIVE, 2.5, argnums=(0, 1))
def gamma_log_likelihood(x: Any, shape: Any) -> Any:
    return np.sum(special.xlogy(shape - 1.0, x) - x - special.gammaln(shape))


@program(X)
def probit_regression_in_a_loop(w: Any) -> Any:
    total = 0.0
    for k in range(len(w)):
        z = w[k] * (k - 4.0)
        if k % 2:
            total -= special.log_ndtr(z)
        else:
            total += special.erfcx(z) * special.ndtr(w[0])
    return total


@program(M)
def mixture_by_logsumexp(x: Any) -> Any:
    weights = special.softmax(x[0])
    return np.sum(special.logsumexp(x, axis=1, b=weights)) + np.sum(special.log_softmax(x, axis=0))


@program(POSITIVE)
def bessel_functions_of_a_state(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(y)):
        y[k] = special.jv(1.5, y[k] + special.i0e(y[k - 1])) + special.kn(k, 1.0 + y[k])
    ai, slope, _, _ = special.airy(y)
    return np.sum(ai * slope) + np.sum(special.sici(x)[0])


@program(POSITIVE, smooth=False)
def an_inverse_distribution(x: Any) -> Any:
    p = special.stdtr(3.0, x) * 0.9
    q = special.gammaincinv(2.0, p) + special.betaincinv(2.0, 1.5, p)
    return np.sum(special.huber(0.8, q) + special.ndtri(p))


@program(X)
def functions_of_complex_numbers(x: Any) -> Any:
    z = special.wofz(x + 0.7j) * special.hankel1(1, 2.0 + x)
    return np.sum(np.abs(special.erf(z)) ** 2)


GROUPS = np.array([0, 1, 1, 2, 0, 3])
COUNTS = np.array([1.0, 0.0, 4.0, 2.0, 7.0, 3.0])
LEVEL = stats.norm(np.array([0.0, 0.5]), scale=2.0)


@program(uniform(504, 6))
def hierarchical_log_posterior(p: Any) -> Any:
    tau, effects = np.exp(p[1]), p[2:]
    rate = np.exp(p[0] + effects[GROUPS])
    found = np.sum(stats.poisson.logpmf(COUNTS, rate)) + np.sum(LEVEL.logpdf(p[:2]))
    found += np.sum(stats.t.logpdf(effects, 4.0, scale=tau)) + stats.halfnorm.logpdf(tau)
    return found + np.sum(stats.nbinom.logpmf(COUNTS, rate, 1.0 / (1.0 + tau)))


@program(POSITIVE, 0.7, argnums=(0, 1))
def likelihood_of_a_filter(x: Any, s: Any) -> Any:
    state = stats.norm(0.0, s)
    total = 0.0
    for k in range(len(x)):
        if x[k] > 0.8:
            total += state.logpdf(x[k]) + stats.gamma.logsf(x[k], 2.0, scale=s)
        else:
            total += stats.truncnorm.logpdf(x[k], -1.0, 3.0, state.mean(), state.std())
        state = stats.norm(0.9 * state.mean() + 0.1 * x[k], scale=np.sqrt(state.var() + 0.1))
    return total + state.entropy()


@program(M)
def distributions_of_vectors(x: Any) -> Any:
    cov = x @ x.T + np.eye(4)
    found = np.sum(stats.multivariate_normal(x[:, 0], cov).logpdf(x.T))
    p = special.softmax(x[0])
    return found + stats.dirichlet.logpdf(p, x[1] ** 2 + 0.5) + stats.wishart.logpdf(cov, 6.0, cov)


@program(uniform(505, 6, 3), uniform(506, 6, 3), argnums=(0, 1))
def summary_statistics(x: Any, y: Any) -> Any:
    p, q = np.exp(x), np.exp(y)
    found = np.sum(stats.entropy(p, q, axis=1)) + stats.entropy(p[:, 0], base=2)
    found += np.sum(stats.zscore(x) * y) + np.sum(stats.skew(x)) - stats.kurtosis(y, axis=None)
    line = stats.linregress(x[:, 0], y[:, 0])
    found += line.slope * line.stderr + stats.pearsonr(x[:, 1], y[:, 2]).statistic
    return found + np.sum(stats.gmean(p)) + np.sum(stats.sem(q, axis=1))


@program(POSITIVE, 0.7, argnums=(0, 1))
def newton_of_arrays(x: Any, s: Any) -> Any:
    def diode(v: Any, i: Any, *rest: Any) -> Any:
        return i - rest[0] * v - 0.1 * (np.exp(v) - 1.0)

    def slope(v: Any, i: Any, r: Any) -> Any:
        return -r - 0.1 * np.exp(v)

    start = np.broadcast_to(0.5, x.shape)
    v = optimize.newton(diode, start, fprime=slope, args=[x, s], tol=1e-12)
    w = optimize.newton(diode, 0.5 * x, args=(x, s), tol=1e-12)
    halley = optimize.newton(
        diode, start, fprime=slope, args=(x, s), fprime2=lambda v, i, r: -0.1 * np.exp(v)
    )
    return np.sum(v * w) + np.sum(halley)


# --- `linalg` and `spatial.distance` --------------------------------------------------------------

POINTS, VALUES = uniform(501, 5, 2), uniform(502, 5)
STATES = uniform(503, 4, 2)
MOVE = np.array([[1.0, 0.1], [-0.2, 0.9]])
RATES = 0.5 + np.abs(uniform(504, 6))
TIPS = 0.1 + np.abs(uniform(505, 2, 4, 3))
GAIN = np.array([[5.0, 3.0]])


@program(np.array([0.1, 0.2, -1.0]), POINTS, VALUES, argnums=(0, 1, 2))
def gaussian_process(theta: Any, x: Any, y: Any) -> Any:
    length, size, noise = np.exp(theta)
    k = size * np.exp(-0.5 * cdist(x / length, x / length, "sqeuclidean"))
    factor, lower = scipy.linalg.cho_factor(k + noise * np.eye(len(y)), lower=True)
    weights = scipy.linalg.cho_solve((factor, lower), y)
    return 0.5 * y @ weights + np.sum(np.log(np.diag(factor)))


@program(MOVE, STATES, argnums=(0, 1))
def kalman_filter(f: Any, seen: Any) -> Any:
    x, p = np.zeros(2), np.eye(2)
    total = 0.0
    for z in seen:
        x, p = f @ x, f @ p @ f.T + 0.1 * np.eye(2)
        s = p + 0.5 * np.eye(2)
        rest = z - x
        gain = scipy.linalg.solve(s, p, assume_a="pos").T
        total += 0.5 * rest @ scipy.linalg.solve(s, rest) + 0.5 * np.log(scipy.linalg.det(s))
        x, p = x + gain @ rest, p - gain @ p
    return total


@program(RATES, TIPS, argnums=(0, 1))
def phylogeny(rates: Any, tips: Any) -> Any:
    q = np.zeros((3, 3))
    q[~np.eye(3, dtype=bool)] = rates
    q = q - np.diag(np.sum(q, axis=1))
    left, right = scipy.linalg.expm(0.3 * q), scipy.linalg.expm(0.7 * q)
    return -np.sum(np.log(np.sum((tips[0] @ left.T) * (tips[1] @ right.T), axis=1)))


@program(GAIN)
def cost_of_control(gain: Any) -> Any:
    a = np.array([[0.0, 1.0], [2.0, -1.0]]) - np.array([[0.0], [1.0]]) @ gain
    x = scipy.linalg.solve_continuous_lyapunov(a.T, -(np.eye(2) + gain.T @ gain))
    return np.sum(x * np.array([[1.0, 0.5], [0.5, 0.25]]))
