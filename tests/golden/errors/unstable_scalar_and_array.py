# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    y = 1.0
    if x[0] > 0.0:
        y = x
    return y  # ADC012: a number (float) on another
