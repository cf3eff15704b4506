# mypy: ignore-errors
# ruff: noqa
import numpy as np

ARGS = (1.5,)
CALLS = np.zeros(2)


def count(x):
    calls = CALLS if x > 1.0 else np.zeros(2)
    calls[0] += 1.0  # ADC034: an array outside the function, `CALLS`, would be changed
    return calls[0]


def program(x):
    return x * count(x)
