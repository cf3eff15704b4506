# mypy: ignore-errors
# ruff: noqa
import math


ARGS = (1.5,)


def program(x):
    return math.gamma(x)  # ADC024: gamma has no derivative
