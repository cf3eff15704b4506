# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    y = x * 1.0

    def inner(t):
        y[0] = t
        return np.sum(y)

    return adc.grad(inner)(2.0)  # ADC010: a derivative of inner(), which changes 'y', is not
