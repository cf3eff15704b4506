# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    return np.packbits(x)  # ADC010: `numpy.packbits`
