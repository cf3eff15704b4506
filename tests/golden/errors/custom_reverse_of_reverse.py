# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


@adc.custom_jvp
def total(x):
    return np.sum(x)


total.defjvp(lambda primals, tangents: (np.sum(primals[0]), np.sum(tangents[0])))


def program(x):
    return np.sum(adc.grad(lambda y: total(y) ** 2)(x))  # ADC024: a gradient is differentiated in
