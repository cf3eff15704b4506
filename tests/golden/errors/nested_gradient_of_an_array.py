# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    return np.sum(adc.grad(lambda y: y * 2.0)(x))  # ADC023: lambda() returns an array (f64[:]); only
