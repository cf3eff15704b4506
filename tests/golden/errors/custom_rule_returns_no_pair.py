# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


@adc.custom_jvp
def square(x):
    return x * x


square.defjvp(lambda primals, tangents: 2.0 * primals[0] * tangents[0])


def program(x):
    return 2.0 * square(x)  # ADC014: the rule of square() returns a number (f64)
