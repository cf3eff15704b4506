# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    return adc.grad(lambda y: np.sum(y), has_aux=True)(x)[1]  # ADC023: `has_aux` needs a pair
