# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (2.0,)
sine = adc.external(np.sin, result=float)


def program(x):
    y = x * x
    return sine(y) + y  # ADC024: sin() is called as it is
