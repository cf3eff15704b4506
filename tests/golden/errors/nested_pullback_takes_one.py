# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    _, pull = adc.vjp(lambda y: y * y, x)
    return pull(1.0, 2.0)[0]  # ADC014: a pullback takes one cotangent
