"""Fit how a drug is absorbed and eliminated to measured concentrations in blood.

Four of the twelve persons who took theophylline in a study by R. A. Upton (A. J. Boeckmann,
L. B. Sheiner, S. L. Beal, NONMEM Users Guide, 1994): the dose in mg/kg, and mg/l at eleven times.
In the model with one compartment the drug leaves the gut at one rate and the blood at another one.
`solve_ivp` chooses its steps; the derivatives by the parameters go through all of them.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from numpy import ndarray
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import adc

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of what draws

DATA = Path(__file__).parent / "data" / "theophylline.csv"


def flow(t: float, state: ndarray, absorption: float, elimination: float) -> list[float]:
    """Return the changes of the amounts in gut and blood, in mg/kg per hour."""
    gut, blood = state
    return [-absorption * gut, absorption * gut - elimination * blood]


def concentrations(theta: ndarray, dose: float, hours: ndarray) -> ndarray:
    """Return the concentrations in blood, for logarithms of two rates and of the volume."""
    absorption, elimination, volume = np.exp(theta)
    found = solve_ivp(
        flow, (0.0, 25.0), [dose, 0.0], t_eval=hours, args=(absorption, elimination),
        rtol=1e-8, atol=1e-8,
    )  # fmt: skip
    concentration: ndarray = found.y[1] / volume
    return concentration


def residuals(theta: ndarray, dose: float, hours: ndarray, measured: ndarray) -> ndarray:
    """Return by how much the model differs from the measurements."""
    difference: ndarray = concentrations(theta, dose, hours) - measured
    return difference


def main(small: bool) -> None:
    """Fit each person's rates, compare the Jacobian with differences, and draw the curves."""
    subject, dose, hours, measured = np.loadtxt(DATA, delimiter=",", skiprows=3, unpack=True)
    jacobian = adc.jacfwd(residuals)
    fine = np.linspace(0.0, 25.0, 200)
    figure, axes = plt.subplots(figsize=(6.0, 4.0))
    for who in (1,) if small else range(1, 5):
        own = subject == who
        data = (dose[own][0], hours[own], measured[own])
        fit = least_squares(residuals, np.log([1.5, 0.1, 0.5]), jac=jacobian, args=data)
        absorption, elimination, volume = np.exp(fit.x)
        print(
            f"person {who}: absorbed in {60.0 * np.log(2.0) / absorption:3.0f} minutes (half), "
            f"eliminated in {np.log(2.0) / elimination:4.1f} hours (half), {volume:.2f} l/kg, "
            f"off by {np.sqrt(np.mean(fit.fun**2)):.2f} mg/l after {fit.nfev} evaluations"
        )
        if who == 1:
            step = 1e-6
            ahead, behind = (residuals(fit.x + s * np.eye(3)[0], *data) for s in (step, -step))
            difference = (ahead - behind) / (2.0 * step)
            off = np.abs(jacobian(fit.x, *data)[:, 0] - difference).max()
            print(f"the Jacobian agrees with differences to {off:.0e}")
            assert off < 1e-5
        (line,) = axes.plot(fine, concentrations(fit.x, data[0], fine))
        axes.plot(data[1], data[2], "o", color=line.get_color(), label=f"person {who}")
    axes.set(xlabel="hours", ylabel="theophylline in blood, mg/l")
    axes.legend()
    figure.savefig("pharmacokinetics.png", dpi=120)


if __name__ == "__main__":
    main("--small" in sys.argv)
