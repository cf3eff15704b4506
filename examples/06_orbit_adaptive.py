"""Fit the orbit of a comet to noisy positions, through a solver that chooses its own time steps.

The positions are simulated: a known orbit, noise from a seeded generator. The orbit is eccentric,
so the steps near the sun are much smaller than far away. How many there are is known only while the
program runs, and steps that turn out to be too long are tried again.
"""

import numpy as np
from numpy import ndarray
from scipy.optimize import approx_fprime, minimize

import adc


def acceleration(position: ndarray) -> ndarray:
    pull: ndarray = -position / np.sum(position**2) ** 1.5
    return pull


def advance(r: ndarray, v: ndarray, duration: float, tolerance: float) -> tuple[ndarray, ndarray]:
    """Move a planet by Bogacki and Shampine's method of orders 3 and 2, with adaptive steps."""
    t, h = 0.0, 0.01
    while t < duration:
        h = min(h, duration - t)
        v1, a1 = v, acceleration(r)
        v2, a2 = v + h / 2 * a1, acceleration(r + h / 2 * v1)
        v3, a3 = v + h * 3 / 4 * a2, acceleration(r + h * 3 / 4 * v2)
        r_new = r + h / 9 * (2 * v1 + 3 * v2 + 4 * v3)
        v_new = v + h / 9 * (2 * a1 + 3 * a2 + 4 * a3)
        a4 = acceleration(r_new)
        error_r = h * np.abs(-5 / 72 * v1 + v2 / 12 + v3 / 9 - v_new / 8).max()
        error_v = h * np.abs(-5 / 72 * a1 + a2 / 12 + a3 / 9 - a4 / 8).max()
        error = max(error_r, error_v, 1e-15)
        if error <= tolerance:  # else the step is tried again, shorter
            t += h
            r, v = r_new, v_new
        h *= min(4.0, max(0.2, 0.9 * (tolerance / error) ** (1 / 3)))
    return r, v


def track(start: ndarray, times: ndarray, tolerance: float) -> ndarray:
    """Return the positions at the given times."""
    r, v = start[:2], start[2:]
    places = np.zeros((len(times), 2))
    now = 0.0
    for i, time in enumerate(times):
        r, v = advance(r, v, time - now, tolerance)
        places[i] = r
        now = time
    return places


@adc.value_and_grad
def misfit(start: ndarray, times: ndarray, seen: ndarray, noise: float, tolerance: float) -> float:
    """Return half the squared misfit of the positions, in units of the noise."""
    return float(0.5 * np.sum(((track(start, times, tolerance) - seen) / noise) ** 2))


truth = np.array([1.0, 0.0, 0.0, 0.6])  # position and velocity; eccentricity 0.64
times = np.linspace(0.3, 6.0, 20)  # about two and a half revolutions
noise = 0.002
rng = np.random.default_rng(0)
seen = track(truth, times, 1e-10) + noise * rng.normal(size=(len(times), 2))
args = (times, seen, noise, 1e-8)

start = truth + np.array([0.02, -0.02, 0.02, 0.02])
value, gradient = misfit(start, *args)
differences = approx_fprime(start, lambda p: misfit(p, *args)[0], 1e-7)
print("gradient            ", np.round(gradient, 1))
print("by differences      ", np.round(differences, 1))
assert np.allclose(gradient, differences, rtol=1e-2)

fit = minimize(misfit, start, args=args, jac=True)
print(f"misfit {value:.1f} at the start, {fit.fun:.2f} after {fit.nit} steps, {seen.size} numbers")
print("position and velocity", np.round(fit.x, 4), "truth", truth)

assert 2.0 * fit.fun < 2.0 * seen.size
assert np.allclose(fit.x, truth, atol=0.01)
