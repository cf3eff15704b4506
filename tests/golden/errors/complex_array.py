# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros(3)
    a[0] = x * 1j  # ADC014: cannot be stored as float64
    return a[0]
