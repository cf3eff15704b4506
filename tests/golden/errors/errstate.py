# mypy: ignore-errors
# ruff: noqa
import numpy as np

ARGS = (1.5,)


def program(x):
    with np.errstate(divide="raise"):  # ADC031: `np.errstate` with str 'raise'
        return x
