"""Recover the conductivity along a rod from noisy temperatures at five places.

The measurements are simulated: a known conductivity, 1 % of noise from a seeded generator. The
simulation is a loop over time that changes the temperatures in place, slice by slice.
"""

import sys

import numpy as np
from numpy import ndarray
from scipy.optimize import approx_fprime, minimize

import adc


def simulate(conductivity: ndarray, steps: int, every: int, sensors: ndarray) -> ndarray:
    """Heat one end of a cold rod of length 1; return what the sensors read as time goes on."""
    n = len(conductivity) + 1
    dx = 1.0 / (n - 1)
    dt = 0.2 * dx * dx
    u = np.zeros(n)
    readings = np.zeros((steps // every, len(sensors)))
    for step in range(steps):
        u[0] = 1.0
        flux = conductivity * (u[1:] - u[:-1]) / dx  # through the cells between the nodes
        u[1:-1] += dt / dx * (flux[1:] - flux[:-1])
        u[-1] -= dt / dx * 2.0 * flux[-1]  # the far end is insulated
        if (step + 1) % every == 0:
            readings[step // every] = u[sensors]
    return readings


@adc.value_and_grad
def misfit(
    log_k: ndarray, data: ndarray, sensors: ndarray, every: int, noise: float, smooth: float
) -> float:
    """Return half the squared misfit in units of the noise, and a penalty on roughness."""
    model = simulate(np.exp(log_k), len(data) * every, every, sensors)
    rough = np.diff(log_k) / smooth
    return float(0.5 * np.sum(((model - data) / noise) ** 2) + 0.5 * np.sum(rough**2))


small = "--small" in sys.argv
cells = 20 if small else 50
x = (np.arange(cells) + 0.5) / cells
truth = 1.0 + 0.8 * np.exp(-(((x - 0.3) / 0.1) ** 2)) - 0.5 * np.exp(-(((x - 0.7) / 0.1) ** 2))
sensors = np.linspace(0.2, 1.0, 5) * cells
sensors = np.round(sensors).astype(int)
every = cells * cells // 20
noise = 0.01
rng = np.random.default_rng(1)
exact = simulate(truth, 60 * every, every, sensors)
data = exact + noise * rng.normal(size=exact.shape)
smooth = 2.0 / np.sqrt(cells)  # a random walk: log k wanders by about 2 over the rod

args = (data, sensors, every, noise, smooth)
start = np.zeros(cells)
value, gradient = misfit(start, *args)
differences = approx_fprime(start, lambda log_k: misfit(log_k, *args)[0], 1e-6)
assert np.allclose(gradient, differences, rtol=1e-3, atol=1e-2 * np.abs(gradient).max())

fit = minimize(misfit, start, args=args, jac=True, method="L-BFGS-B")
found = np.exp(fit.x)
print(f"misfit {value:.1f} at the start, {fit.fun:.1f} after {fit.nit} steps, {data.size} readings")
print("     x   truth   found")
for i in range(cells // 20, cells, cells // 10):
    print(f"  {x[i]:.2f}   {truth[i]:.3f}   {found[i]:.3f}  {'#' * round(20 * found[i])}")
error = np.sqrt(np.mean((found - truth) ** 2))
print(f"root mean square error {error:.3f}, before {np.sqrt(np.mean((1.0 - truth) ** 2)):.3f}")

assert 2.0 * fit.fun < 1.3 * data.size  # the data are fitted to about the noise
assert error < 0.5 * np.sqrt(np.mean((1.0 - truth) ** 2))
