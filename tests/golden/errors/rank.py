# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros((1,) * 9)  # ADC010: an array of rank 9
    return x
