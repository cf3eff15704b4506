# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7]),)


@adc.custom_jvp
def square(x):
    return x * x


@square.defjvp
def rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return square(x), 2.0 * x * dx * dx  # ADC024: the rule of square() is not linear


def program(x):
    return np.sum(square(x))
