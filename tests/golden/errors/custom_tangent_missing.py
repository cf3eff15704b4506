# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (0.3,)


@adc.custom_jvp
def sine(x):
    return np.sin(x)


@sine.defjvp
def rule(primals, tangents):
    return sine(primals[0]), np.cos(primals[0])


def program(x):
    return sine(x) * x  # ADC024: the tangent that the rule of sine() returns has a part
