# mypy: ignore-errors
# ruff: noqa
import math

import adc

ARGS = (0.5,)


def program(x):
    for _ in range(3):
        x = math.sin(adc.recompute(x))  # ADC027: cannot be recomputed
    return x
