# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.jvp(lambda p: p[0] * p[1], ((x, x),), (x,))[1]  # ADC014: the tangent is a number
