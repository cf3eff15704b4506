"""Recover the thicknesses of the layers of an optical filter from its spectrum.

Light of one wavelength passes through each layer as through a complex 2 x 2 matrix (F. Abelès,
1950; H. A. Macleod, Thin-Film Optical Filters). Refractive indices are measured ones: of fused
silica by I. H. Malitson (1965), of rutile by J. R. DeVore (1951), and of silver, which absorbs, by
P. B. Johnson and R. W. Christy (1972). The spectrum is simulated, with 0.5 % of noise from a seeded
generator.
"""

import sys

import matplotlib
import numpy as np
from numpy import ndarray
from scipy.optimize import least_squares

import adc

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of what draws

# Silver: photon energies in eV, and the complex refractive index.
ENERGY = np.array(
    [1.51, 1.64, 1.76, 1.88, 2.01, 2.14, 2.26, 2.38, 2.50, 2.63, 2.75, 2.88, 3.00, 3.12]
)
SILVER = np.array(
    [0.04, 0.03, 0.04, 0.05, 0.06, 0.05, 0.06, 0.05, 0.05, 0.05, 0.04, 0.04, 0.05, 0.05]
)
SILVER = SILVER + 1j * np.array(
    [
        5.727,
        5.242,
        4.838,
        4.483,
        4.152,
        3.858,
        3.586,
        3.324,
        3.093,
        2.869,
        2.657,
        2.462,
        2.275,
        2.070,
    ]
)


def indices(nanometres: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return the complex refractive indices of silica, rutile and silver."""
    m2 = (nanometres / 1000.0) ** 2
    silica = 1.0 + 0.6961663 * m2 / (m2 - 0.0684043**2) + 0.4079426 * m2 / (m2 - 0.1162414**2)
    silica += 0.8974794 * m2 / (m2 - 9.896161**2)
    rutile = 5.913 + 0.2441 / (m2 - 0.0803)
    energy = 1239.84 / nanometres
    silver = np.interp(energy, ENERGY, SILVER.real) + 1j * np.interp(energy, ENERGY, SILVER.imag)
    return np.sqrt(silica) + 0j, np.sqrt(rutile) + 0j, silver


def spectrum(thickness: ndarray, layers: list[ndarray], glass: ndarray, k: ndarray) -> ndarray:
    """Return reflectance and transmittance at normal incidence, for wave numbers `k` in vacuum."""
    b, c = np.ones(len(k), complex), glass.copy()  # electric and magnetic field at the glass
    for n, d in zip(reversed(layers), thickness[::-1], strict=True):
        phase = k * n * d
        cos, sin = np.cos(phase), -1j * np.sin(phase)
        b, c = cos * b + sin / n * c, n * sin * b + cos * c
    reflected = (b - c) / (b + c)
    return np.concatenate([np.abs(reflected) ** 2, 4.0 * glass.real / np.abs(b + c) ** 2])


small = "--small" in sys.argv
wavelength = np.linspace(400.0, 800.0, 60 if small else 200)
k = 2.0 * np.pi / wavelength
silica, rutile, silver = indices(wavelength)
names = ["rutile", "silica", "rutile", "silver", "rutile", "silica", "rutile"]
layers = [{"rutile": rutile, "silica": silica, "silver": silver}[name] for name in names]
truth = np.array([55.0, 92.0, 48.0, 14.0, 61.0, 88.0, 40.0])
rng = np.random.default_rng(4)
noise = 0.005
data = spectrum(truth, layers, silica, k)
data += noise * rng.normal(size=data.shape)


def residuals(thickness: ndarray) -> ndarray:
    """Return the differences from the measured spectrum, in units of the noise."""
    found: ndarray = (spectrum(thickness, layers, silica, k) - data) / noise
    return found


start = truth * rng.uniform(0.85, 1.15, len(truth))
jacobian = adc.jacfwd(residuals)
by_differences = [
    (residuals(start + step) - residuals(start - step)) / 2e-4 for step in 1e-4 * np.eye(len(truth))
]
assert np.allclose(jacobian(start), np.transpose(by_differences), rtol=1e-5, atol=1e-5)

lost = 1.0 - spectrum(truth, layers, silica, k).reshape(2, -1).sum(axis=0)
assert np.all(lost > 0.0)  # in the silver

fit = least_squares(adc.jit(residuals), start, jac=jacobian, bounds=(1.0, 200.0))
error = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
for name, guess, found, sigma, true in zip(names, start, fit.x, error, truth, strict=True):
    print(f"{name:7} guess {guess:6.1f} nm, found {found:6.2f} +- {sigma:.2f}, true {true:5.1f}")
print(f"misfit per measurement: {np.mean(fit.fun**2):.2f} of 1, after {fit.nfev} evaluations")
assert np.all(np.abs(fit.x - truth) < 5.0 * error)

if not small:
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
    for axes, part, what in ((left, 0, "reflected"), (right, 1, "transmitted")):
        rows = slice(part * len(k), (part + 1) * len(k))
        axes.plot(wavelength, data[rows], ".", ms=3, color="0.6", label="measured")
        for thickness, style, label in ((start, ":", "guess"), (fit.x, "-", "fit")):
            axes.plot(wavelength, spectrum(thickness, layers, silica, k)[rows], style, label=label)
        axes.set(xlabel="wavelength in nm", title=f"{what} light")
    left.legend()
    fig.savefig("optical_multilayer.png", dpi=120, bbox_inches="tight")
