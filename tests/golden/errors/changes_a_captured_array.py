# mypy: ignore-errors
# ruff: noqa
import numpy as np

ARGS = (1.5,)
CALLS = np.zeros(2)


def count(calls):
    calls[0] += 1.0  # ADC034: an array outside the function, `CALLS`, would be changed


def program(x):
    count(CALLS)
    return x * CALLS[0]
