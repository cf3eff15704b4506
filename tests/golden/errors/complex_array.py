# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros(3, dtype=complex)  # ADC010: dtype complex128
    return x
