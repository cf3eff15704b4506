# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.ones(3),)


def program(x):
    x = adc.invertible(x.copy())
    for _ in range(3):
        x += np.sin(x)  # ADC027: depends on values
    return np.sum(x * x)
