# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    k = 0
    while k < x:
        k += 1
    return adc.grad(lambda y, z: y * z, argnums=k)(x, x)  # ADC010: an option that is not a constant
