# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (2.0,)
sine = adc.external(np.sin, result=float)


def program(x):
    try:
        y = sine(adc.stop_gradient(x)) * x  # ADC030: an `adc.external` function
    except ValueError:
        y = x
    return y
