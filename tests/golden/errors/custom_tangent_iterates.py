# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (np.array([0.3, 0.7]),)


@adc.custom_jvp
def root(x):
    return np.sqrt(x)


@root.defjvp
def rule(primals, tangents):  # solves 2 sqrt(x) dy = dx by steepest descent
    (x,), (dx,) = primals, tangents
    a = 2.0 * np.sqrt(x)
    y = np.zeros_like(x)
    rest = dx.copy()
    for _ in range(20):
        step = np.sum(rest * rest) / np.sum(rest * a * rest)  # ADC024: the rule of root() is not linear
        y += step * rest
        rest = dx - a * y
    return root(x), y


def program(x):
    return np.sum(root(x))
