# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.jvp(lambda y: y * y, (x,), (x, x))[1]  # ADC020: 1 primals but 2 tangents
