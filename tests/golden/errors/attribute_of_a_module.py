# mypy: ignore-errors
# ruff: noqa
import math


ARGS = (1.5,)


def program(x):
    return math.nosuch(x)  # ADC014: has no attribute 'nosuch'
