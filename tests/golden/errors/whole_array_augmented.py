# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    x += 1.0  # ADC010: augmented assignment to a whole array
    return x[0]
