# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.ones(3),)


def program(x):
    x, y = adc.invertible(x), adc.invertible(2.0 * x)  # ADC027: a new array in every iteration
    for _ in range(3):
        x = x + np.tanh(y)
        y = y + np.tanh(x)
    return np.sum(x * y)
