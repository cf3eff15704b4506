# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.jvp(lambda y: y * y, x, (1.0,))[1]  # ADC014: primals must be a tuple
