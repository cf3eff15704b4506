"""Sharpen a photograph: deconvolution by Fourier transforms, with total variation.

The photograph was blurred by a camera that shook, and has noise. What is sought is the image whose
blurred form fits it and whose slopes are small (L. I. Rudin, S. Osher and E. Fatemi, Nonlinear
total variation based noise removal algorithms, 1992). The filter of N. Wiener (1949) is there to
compare.
"""

import sys

import matplotlib
import numpy as np
from numpy import ndarray
from scipy.optimize import minimize
from sklearn.datasets import load_sample_image

import adc

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of what draws

small = "--small" in sys.argv
size = 64 if small else 256
photo = load_sample_image("china.jpg")[60:316, 150:406].mean(axis=2) / 255.0
truth = photo.reshape(size, 256 // size, size, 256 // size).mean(axis=(1, 3))
rng = np.random.default_rng(8)
noise = 0.01

# The path of the shaking camera: an arc, with the time that was spent at each point.
t = np.linspace(0.0, 1.0, 400)
rows, columns = 3.0 * np.sin(2.5 * t), 7.0 * t
path, _, _ = np.histogram2d(rows, columns, bins=size, range=[[0, size], [0, size]])
response = np.fft.rfft2(path / path.sum())


def blurred(image: ndarray) -> ndarray:
    """Return what the camera sees of an image, which continues on the other side of its edges."""
    found: ndarray = np.fft.irfft2(response * np.fft.rfft2(image), s=image.shape)
    return found


def cost(image: ndarray, data: ndarray, weight: float) -> float:
    """Return the misfit and the total variation, smoothed where the image is flat."""
    down = image - np.roll(image, 1, axis=0)
    across = image - np.roll(image, 1, axis=1)
    variation = np.sum(np.sqrt(down * down + across * across + 1e-5))
    return float(0.5 * np.sum((blurred(image) - data) ** 2) / noise**2 + weight * variation)


def decibels(image: ndarray) -> float:
    """Return the ratio of the signal's peak to the error."""
    return float(-10.0 * np.log10(np.mean((image - truth) ** 2)))


data = blurred(truth) + noise * rng.normal(size=truth.shape)
gradient = adc.value_and_grad(cost)
along = rng.normal(size=data.shape)
slope = np.sum(gradient(data, data, 20.0)[1] * along)
step = 1e-6
by_differences = cost(data + step * along, data, 20.0) - cost(data - step * along, data, 20.0)
assert np.isclose(slope, by_differences / (2.0 * step), rtol=1e-5)


def flat(x: ndarray) -> tuple[float, ndarray]:
    """Return value and gradient for SciPy."""
    value, slope = gradient(x.reshape(size, size), data, 20.0)
    return value, slope.ravel()


fit = minimize(flat, data.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
sharp = fit.x.reshape(size, size)
power = np.abs(np.fft.rfft2(truth - truth.mean())) ** 2
wiener = np.conj(response) / (np.abs(response) ** 2 + size**2 * noise**2 / np.mean(power))
filtered = np.fft.irfft2(wiener * np.fft.rfft2(data), s=data.shape)
for name, image in (("blurred", data), ("Wiener filter", filtered), ("total variation", sharp)):
    print(f"{name:15}  {decibels(image):5.1f} dB")
print(f"{fit.nfev} gradients of {size} x {size} numbers")
assert decibels(sharp) > decibels(filtered) > decibels(data)

if not small:
    fig, axes = plt.subplots(1, 4, figsize=(12, 3.2))
    for ax, image, title in zip(
        axes, (truth, data, filtered, sharp), ("truth", "blurred", "Wiener", "adc"), strict=True
    ):
        ax.imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
        ax.set(title=title, xticks=[], yticks=[])
    fig.savefig("deblurring.png", dpi=120, bbox_inches="tight")
