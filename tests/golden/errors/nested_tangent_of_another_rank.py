# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    _, dot = adc.jvp(lambda y: y * y, (x,), (np.outer(x, x),))  # ADC014: the tangent has rank 2
    return np.sum(dot)
