# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    _, pull = adc.vjp(lambda y: (y, y * y), x)
    return pull(1.0)[0]  # ADC014: the cotangent is a number (float), but a tuple of 2 is needed
