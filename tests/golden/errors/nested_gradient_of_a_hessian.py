# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    second = adc.hessian(lambda y: np.sum(y**3))
    return np.sum(adc.grad(second)(x))  # ADC023: `hessian` of lambda() returns an array (f64[:, :])
