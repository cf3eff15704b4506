# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    @adc.custom_vjp
    def square(y):
        return y * y

    return square(x)  # ADC020: square() is decorated with `custom_vjp` but has no rule
