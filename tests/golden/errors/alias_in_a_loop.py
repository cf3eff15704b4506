# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    a = np.zeros(2)
    b = np.ones(2)
    c = a
    for i in range(3):
        c[0] = x
        x = x + a[0]  # ADC013: may or may not be the same array
        c = b
    return x
