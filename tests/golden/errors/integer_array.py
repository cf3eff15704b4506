# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (np.array([1, 2]),)


def program(n):  # ADC021: an array of int64
    return 2.0 * n[0]
