# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


@adc.custom_jvp
def square(x):
    return x * x


def program(x):
    return 2.0 * square(x)  # ADC020: `custom_jvp` but has no rule
