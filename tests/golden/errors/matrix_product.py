# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    y = x @ 2.0  # ADC014: `@` needs arrays
    return x
