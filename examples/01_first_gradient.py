"""Fit a simulation to data: hares and lynxes, Hudson's Bay Company, 1900 to 1920.

The model is a loop over years with a loop over small time steps inside. One decorator makes it
return its gradient as well, and SciPy's minimiser takes it from there.
"""

import math
from pathlib import Path

import numpy as np
from scipy.optimize import approx_fprime, minimize

import adc


@adc.value_and_grad
def misfit(theta: np.ndarray, hare: np.ndarray, lynx: np.ndarray) -> float:
    """Return half the sum of squared differences of the logarithms, model against counts.

    `theta` holds the logarithms of four rates (birth, kill, death, feed) and of the first counts.
    """
    birth = math.exp(theta[0])
    kill = math.exp(theta[1])
    death = math.exp(theta[2])
    feed = math.exp(theta[3])
    u, v = theta[4], theta[5]  # logarithms: the populations stay positive
    dt = 0.02
    total = 0.0
    for year in range(len(hare)):
        total += 0.5 * ((u - math.log(hare[year])) ** 2 + (v - math.log(lynx[year])) ** 2)
        for _ in range(50):
            u += dt * (birth - kill * math.exp(v))
            v += dt * (feed * math.exp(u) - death)
    return total


table = np.loadtxt(Path(__file__).parent / "data" / "lynx_hare.csv", delimiter=",", skiprows=3)
hare, lynx = table[:, 1].copy(), table[:, 2].copy()

start = np.log([0.5, 0.02, 0.9, 0.03, 30.0, 5.0])
value, gradient = misfit(start, hare, lynx)
differences = approx_fprime(start, lambda theta: misfit(theta, hare, lynx)[0], 1e-7)
print("misfit at the start       ", value)
print("its gradient              ", np.round(gradient, 4))
print("differences of the misfit ", np.round(differences, 4))

fit = minimize(misfit, start, args=(hare, lynx), jac=True)
names = ["birth", "kill", "death", "feed", "hares in 1900", "lynxes in 1900"]
print(f"misfit after {fit.nit} steps     {fit.fun:.6f}")
for name, number in zip(names, np.exp(fit.x), strict=True):
    print(f"  {name:15} {number:.4f}")

assert np.allclose(gradient, differences, rtol=1e-4, atol=1e-4)
assert fit.fun < value
assert np.max(np.abs(fit.jac)) < 1e-3
