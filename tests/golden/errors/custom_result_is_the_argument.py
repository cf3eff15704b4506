# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


@adc.custom_vjp
def marked(x):
    return x[1:]


marked.defvjp(lambda x: (x[1:], len(x)), lambda n, ct: (np.concatenate([np.zeros(1), ct]),))


def program(x):
    y = x * 1.0
    z = marked(y)
    z[0] = 3.0
    return np.sum(y)  # ADC013: 'y' and 'z' may or may not be the same array here, and 'z' was
