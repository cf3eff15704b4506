"""SciPy's filters, interpolants and integrals inside functions of real arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.signal

from tests.corpus.program import Program, recorder, uniform

FILTER_PROGRAMS: list[Program] = []
program = recorder(FILTER_PROGRAMS, "filter")

X = uniform(451, 20)
KNOTS = uniform(452, 6)
IMAGE = uniform(453, 5, 6)
KERNEL = uniform(454, 3, 3)
B, A = np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.4, 0.2])


@program(X)
def energy_of_a_filtered_signal(x: Any) -> Any:
    y = scipy.signal.lfilter(B, A, x)
    return np.sum(y**2) + scipy.integrate.simpson(y, dx=0.1)


@program(KNOTS, X, argnums=(0, 1))
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


@program(IMAGE, X, argnums=(0, 1))
def image_along_a_line(x: Any, t: Any) -> Any:
    places = np.stack((1.5 + t, 2.5 - 0.5 * t))
    return np.sum(scipy.ndimage.map_coordinates(x, places, order=1, mode="nearest") ** 2)
