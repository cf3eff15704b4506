# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    def inner(t):
        t[0] = 1.0
        return np.sum(t * x)

    return np.sum(adc.grad(inner)(x))  # ADC010: a derivative of inner(), which changes 'x', is not
