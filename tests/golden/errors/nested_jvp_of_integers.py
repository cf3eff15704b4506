# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return x * adc.jvp(lambda y: 3, (x,), (1.0,))[0]  # ADC023: lambda() returns a number (int); there
