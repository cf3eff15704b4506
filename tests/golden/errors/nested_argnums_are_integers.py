# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.grad(lambda y: y * 2.0, argnums="y")(x)  # ADC020: argnums='y' is neither an integer
