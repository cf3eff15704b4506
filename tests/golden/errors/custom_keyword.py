# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


@adc.custom_vjp
def scaled(x, *, factor=2.0):
    return x * factor


scaled.defvjp(lambda x: (2.0 * x, None), lambda kept, ct: (2.0 * ct,))


def program(x):
    return scaled(x, factor=3.0)  # ADC010: a keyword argument of scaled(), which has a
