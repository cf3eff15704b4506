# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.grad(np.sin, argnums=-1)(x)  # ADC010: a derivative of ufunc 'sin'
