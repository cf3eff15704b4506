# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (2.0,)


def program(x):
    sine = adc.external(np.sin, result=float)  # ADC010: `adc.external` inside a function
    return sine(x)
