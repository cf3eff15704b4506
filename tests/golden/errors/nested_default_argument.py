# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.grad(lambda y, z=2.0: y * z, argnums=1)(x)  # ADC020: 'z' is differentiated, but the
