# mypy: ignore-errors
# ruff: noqa
import numpy as np
ARGS = (1.5,)


def program(x):
    y = np.int32(0)
    for i in range(3):
        y = np.int16(y)  # ADC012: before the loop
    return x * y
