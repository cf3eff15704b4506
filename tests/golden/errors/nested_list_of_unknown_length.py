# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, -0.7, 1.1]),)


def program(x):
    items = []
    for v in x:
        items.append(v)
    return sum(adc.grad(lambda p: sum(p))(items))  # ADC010: a derivative with respect to a list whose
