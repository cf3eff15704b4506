# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.grad(lambda y: y * 2.0, argnames="z")(x)  # ADC020: there is no parameter 'z'
