# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


@adc.custom_vjp
def square(x):
    return x * x


def program(x):
    return 2.0 * square(x)  # ADC020: `custom_vjp` but has no rule
