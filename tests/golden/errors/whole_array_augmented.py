# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    k = np.arange(3)
    k += 1.5  # ADC014: cannot store a result of float64
    return x[0]
