# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1.0, 2.0, 3.0]),)


def program(x):
    if x > 0.0:  # ADC014: ambiguous
        return 1.0
    return 2.0
