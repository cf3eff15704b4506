# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros(())  # ADC010: an array of rank 0
    return x
