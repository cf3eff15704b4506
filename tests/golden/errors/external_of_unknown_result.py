# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (2.0,)
sine = adc.external(lambda x: np.sin(x))


def program(x):
    return sine(x)  # ADC010: whose result is not known
