# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.grad(lambda y: y * 2.0, argnums=1)(x)  # ADC020: argnums=1 is out of range
