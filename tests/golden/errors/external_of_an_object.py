# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (2.0,)


class Model:
    def __init__(self, k):
        self.k = k


inside = adc.external(lambda model, x: model.k * x, result=float)


def program(x):
    model = Model(x)
    return inside(model, 2.0)  # ADC010: a Model as an argument of lambda
