# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


@adc.custom_vjp
def halved(x):
    x *= 0.5
    return np.sum(x)


halved.defvjp(lambda x: (np.sum(x) * 0.5, len(x)), lambda n, ct: (np.full(n, ct * 0.5),))


def program(x):
    y = x * 1.0
    return halved(y) + np.sum(y)  # ADC010: which changes 'y', is not supported
