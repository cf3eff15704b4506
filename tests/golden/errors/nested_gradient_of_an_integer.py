# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return x * adc.grad(lambda k: k * 2.0)(3)  # ADC021: a derivative with respect to a number (int)
