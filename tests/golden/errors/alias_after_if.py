# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros(2)
    b = np.ones(2)
    c = a if x > 0.0 else b
    c[0] = x
    return c[0] + a[0]  # ADC013: may or may not be the same array
